//! Propagation of undefined bits, by instructions of gfx906 that a wave of one workgroup executes.

use frontend::Gfx;
use frontend::registers::{Reg, SCC, VGPR};

use super::*;
use crate::interp::testing::Machine;
use crate::undefined::registers::Cell;

/// Undefined bits of registers in lane 0 before a sequence, and what is undefined behind it: bits of registers in lane 0.
fn after(before: &[(Reg, u32)], words: &[u32], of: &[Reg]) -> (Vec<u32>, Vec<Finding>) {
    let before: Vec<_> = before.iter().map(|&(reg, bits)| (reg, 0, bits)).collect();
    after_on(Gfx::Gfx906, &before, words, of)
}

/// As [`after`], on a target and with the lanes of the registers before.
fn after_on(
    gfx: Gfx,
    before: &[(Reg, usize, u32)],
    words: &[u32],
    of: &[Reg],
) -> (Vec<u32>, Vec<Finding>) {
    let mut machine = Machine::new(gfx);
    machine.wave.set_exec(1);
    machine.wave.sgpr[1] = 0xff;
    machine.wave.vgpr[1] = [0xff; 64];
    let mut state = State::default();
    let mut registers = Registers::default();
    let tag = state.findings.tag(Origin {
        source: Source::Register(VGPR),
        read: None,
    });
    for &(reg, lane, bits) in before {
        registers.set(reg, lane, Cell { bits, tag });
    }
    machine.with(words, |wave, group| {
        for _ in words {
            let inst = *group.code.inst_at(wave.pc).unwrap();
            if inst.op() == frontend::Op::Endpgm {
                break;
            }
            state.step(&mut registers, wave, group, &inst).unwrap();
        }
    });
    let bits = of.iter().map(|&reg| registers.get(reg, 0).bits);
    (bits.collect(), state.findings.take())
}

fn bits(before: &[(Reg, u32)], words: &[u32], of: Reg) -> u32 {
    after(before, words, &[of]).0[0]
}

const V0: Reg = VGPR;
const V1: Reg = VGPR + 1;
const V2: Reg = VGPR + 2;

#[test]
fn logic_is_exact() {
    // v1 holds 0xff.
    assert_eq!(bits(&[(V0, u32::MAX)], &[0x2604_0300], V2), 0xff); // v_and_b32 v2, v0, v1
    assert_eq!(bits(&[(V0, u32::MAX)], &[0x2804_0300], V2), !0xff); // v_or_b32 v2, v0, v1
    assert_eq!(bits(&[(V0, 0xf0)], &[0x2a04_0300], V2), 0xf0); // v_xor_b32 v2, v0, v1
    assert_eq!(
        bits(&[(V0, 7)], &[0x2a04_0100], V2),
        0,
        "v_xor_b32 v2, v0, v0"
    );
    assert_eq!(bits(&[(V0, 7)], &[0x2404_0084], V2), 0x70); // v_lshlrev_b32 v2, 4, v0
    // v_lshlrev_b32 v2, v1, v1: 0xff << 31 and 0xfe << 30 are the same, 0xfd << 29 is not.
    assert_eq!(bits(&[(V1, 1)], &[0x2404_0301], V2), 0);
    assert_eq!(bits(&[(V1, 2)], &[0x2404_0301], V2), u32::MAX);
    assert_eq!(bits(&[(V0, 7), (V2, 8)], &[0x7e04_0300], V2), 7); // v_mov_b32 v2, v0
}

#[test]
fn sums_are_undefined_upwards() {
    assert_eq!(bits(&[(V0, 0x10)], &[0x6804_0300], V2), !0xf); // v_add_u32 v2, v0, v1
    assert_eq!(
        bits(&[(V0, 0x10)], &[0x6a04_0100], V2),
        0,
        "v_sub_u32 v2, v0, v0"
    );
    assert_eq!(bits(&[(V0, 0x10)], &[0x0204_0300], V2), u32::MAX); // v_add_f32 v2, v0, v1
    assert_eq!(bits(&[(0, 0x10)], &[0x8002_0100], 2), !0xf); // s_add_u32 s2, s0, s1
    assert_eq!(bits(&[(0, 0x10)], &[0x8002_0100], SCC), 1);
}

#[test]
fn scc_is_defined_by_a_defined_bit() {
    // s1 holds 0xff.
    assert_eq!(bits(&[(0, 1)], &[0x8602_0100], SCC), 1); // s_and_b32 s2, s0, s1
    assert_eq!(bits(&[(0, 1)], &[0x8702_0100], SCC), 0); // s_or_b32 s2, s0, s1
    assert_eq!(bits(&[(0, u32::MAX)], &[0x8602_0180], 2), 0); // s_and_b32 s2, 0, s1
}

#[test]
fn masks_are_undefined_by_lanes() {
    let (found, _) = after(&[(V0, 1)], &[0x7d94_0300], &[106, 107]); // v_cmp_eq_u32 vcc, v0, v1
    assert_eq!(found, [1, 0]);
    // v_cndmask_b32 v2, v1, v1, vcc is the same for both conditions.
    assert_eq!(bits(&[(106, 1)], &[0x0004_0301], V2), 0);
    // v_cndmask_b32 v2, 0, v1, vcc differs in the bits of v1.
    assert_eq!(bits(&[(106, 1)], &[0x0004_0280], V2), 0xff);
}

#[test]
fn branches_and_lanes_are_reported() {
    let rules = |before: &[(Reg, u32)], words: &[u32]| {
        let (_, found) = after(before, words, &[]);
        found.iter().map(|found| found.rule).collect::<Vec<_>>()
    };
    assert_eq!(rules(&[(SCC, 1)], &[0xbf84_0000]), [Rule::Branch]); // s_cbranch_scc0
    assert_eq!(rules(&[(106, 1)], &[0xbf86_0000]), [Rule::Branch]); // s_cbranch_vccz
    // s_and_saveexec_b64 s[2:3], vcc: lane 1 is not active, lane 0 is.
    assert_eq!(rules(&[(106, 2)], &[0xbe82_206a]), []);
    assert_eq!(rules(&[(106, 1)], &[0xbe82_206a]), [Rule::Branch]);
}

#[test]
fn floats_of_8_bits_are_parts_of_registers() {
    let bits = |before: &[(Reg, u32)], words: &[u32]| {
        let before: Vec<_> = before.iter().map(|&(reg, bits)| (reg, 0, bits)).collect();
        after_on(Gfx::Gfx942, &before, words, &[V2]).0[0]
    };
    // v_cvt_pk_fp8_f32 v2, v0, v1, then with op_sel:[0,0,1]: the other half stays.
    for (word, half) in [(0xd2a2_0002, 0xffff), (0xd2a2_4002, !0xffff)] {
        assert_eq!(bits(&[(V2, u32::MAX)], &[word, 0x0002_0300]), !half);
        assert_eq!(bits(&[(V0, 1)], &[word, 0x0002_0300]), half);
    }
    // v_cvt_sr_fp8_f32 v2, v0, v1
    assert_eq!(bits(&[(V2, 0xf0f)], &[0xd2a4_0002, 0x0002_0300]), 0xf00);
    assert_eq!(bits(&[(V0, 1)], &[0xd2a4_0002, 0x0002_0300]), 0xff);
    // v_cvt_f32_fp8 v2, v0; v_cvt_pk_f32_fp8 v[2:3], v0
    assert_eq!(bits(&[(V0, 0xff00)], &[0x7e04_a900]), 0);
    assert_eq!(bits(&[(V0, 1)], &[0x7e04_a900]), u32::MAX);
    assert_eq!(bits(&[(V0, 0xffff_0000)], &[0x7e04_ad00]), 0);
}

#[test]
fn sparse_products_reach_all_lanes() {
    // v_smfmac_f32_16x16x32_f16 v[8:11], v[0:1], v[4:7], v3: lane 1, which is not active, has row 1 of A.
    let words = [0xd3e2_0008, 0x040e_0900];
    let of = [VGPR + 8, VGPR + 9];
    let (found, _) = after_on(Gfx::Gfx942, &[(V0, 1, 0xffff)], &words, &of);
    assert_eq!(found[0], 0);
    // It is defined where the other factor is 0, as here, but for what is no number.
    assert_ne!(found[1], 0);
}

#[test]
fn lds_keeps_bytes() {
    // ds_write_b32 v1, v0; ds_read_b32 v2, v1 with v1 = 0: only the stored bits are undefined.
    let words = [
        0x7e02_0280,
        0xd81a_0000,
        0x0000_0001,
        0xd86c_0000,
        0x0200_0001,
    ];
    assert_eq!(bits(&[(V0, 0xf00)], &words, V2), 0xf00);
    let (_, found) = after(&[(V1, 4)], &words[3..], &[]);
    assert_eq!(found[0].rule, Rule::Address);
}
