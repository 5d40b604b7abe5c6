//! What operands become: bits of constants in the operand's type, implied operands made explicit,
//! modifiers in their places, and errors that name what is wrong.

use frontend::inst::{Sel, Unused};
use frontend::{DecodeError, Form, Gfx, Inst, Op, Operand, Special, decode};

fn one(gfx: Gfx, words: &[u32]) -> Inst {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let inst = decode(gfx, &bytes).unwrap_or_else(|e| panic!("{words:08x?} on {gfx}: {e}"));
    assert_eq!(usize::from(inst.len), bytes.len(), "{}", inst.text(gfx));
    inst
}

fn error(gfx: Gfx, words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    match decode(gfx, &bytes) {
        Ok(inst) => panic!("{words:08x?} on {gfx} is {}", inst.text(gfx)),
        Err(e) => e.to_string(),
    }
}

fn bits(operand: Operand) -> u64 {
    match operand {
        Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => bits,
        other => panic!("{other:?} is no constant"),
    }
}

const VCC: Operand = Operand::Sgpr(106);

#[test]
fn constants_have_the_bits_of_the_type() {
    let gfx = Gfx::Gfx900;
    // Words, the source's position, its bits.
    let cases: &[(&str, &[u32], usize, u64)] = &[
        ("s_mov_b32 s0, 1.0", &[0xbe80_00f2], 0, 0x3f80_0000),
        ("s_mov_b32 s0, -1", &[0xbe80_00c1], 0, 0xffff_ffff),
        (
            "s_mov_b64 s[0:1], 1.0",
            &[0xbe80_01f2],
            0,
            0x3ff0_0000_0000_0000,
        ),
        (
            "s_mov_b64 s[0:1], -16",
            &[0xbe80_01d0],
            0,
            0xffff_ffff_ffff_fff0,
        ),
        (
            "s_mov_b64 s[0:1], 0x89abcdef",
            &[0xbe80_01ff, 0x89ab_cdef],
            0,
            0x89ab_cdef,
        ),
        (
            "s_ashr_i64 s[0:1], 0x89abcdef, s2",
            &[0x9080_02ff, 0x89ab_cdef],
            0,
            0xffff_ffff_89ab_cdef,
        ),
        ("v_add_f16_e32 v0, 0.5, v1", &[0x3e00_02f0], 0, 0x3800),
        (
            "v_add_f16_e32 v0, 0.15915494, v1",
            &[0x3e00_02f8],
            0,
            0x3118,
        ),
        ("v_add_u16_e32 v0, -2, v1", &[0x4c00_02c2], 0, 0xfffe),
        // The low half of the f32; LLVM prints the f16.
        ("v_add_u16_e32 v0, 0x3118, v1", &[0x4c00_02f8], 0, 0xf983),
        (
            "v_add_f32_e32 v0, 0.15915494, v1",
            &[0x0200_02f8],
            0,
            0x3e22_f983,
        ),
        (
            "v_add_f16_e32 v0, 0x1234, v1",
            &[0x3e00_02ff, 0xabcd_1234],
            0,
            0x1234,
        ),
        (
            "v_add_f64 v[0:1], 0.15915494309189532, v[2:3]",
            &[0xd280_0000, 0x0002_04f8],
            0,
            0x3fc4_5f30_6dc9_c882,
        ),
        (
            "v_ceil_f64_e32 v[0:1], 0x40091234",
            &[0x7e00_30ff, 0x4009_1234],
            0,
            0x4009_1234_0000_0000,
        ),
        (
            "v_lshlrev_b64 v[0:1], -1, v[2:3]",
            &[0xd28f_0000, 0x0002_04c1],
            0,
            0xffff_ffff,
        ),
        // Packed: integers and the f32 of integer operands fill the dword, f16 the low half.
        (
            "v_pk_add_f16 v0, 1.0, v1",
            &[0xd38f_4000, 0x1802_02f2],
            0,
            0x3c00,
        ),
        (
            "v_pk_add_u16 v0, 2.0, v1",
            &[0xd38a_4000, 0x1802_02f4],
            0,
            0x4000_0000,
        ),
        (
            "v_pk_add_u16 v0, -1, v1",
            &[0xd38a_4000, 0x1802_02c1],
            0,
            0xffff_ffff,
        ),
        // Mixed: f32 or f16 by op_sel_hi.
        (
            "v_mad_mix_f32 v0, 1.0, v1, v2",
            &[0xd3a0_0000, 0x040a_02f2],
            0,
            0x3f80_0000,
        ),
        (
            "v_mad_mix_f32 v0, 1.0, v1, v2 op_sel_hi:[1,0,0]",
            &[0xd3a0_0000, 0x0c0a_02f2],
            0,
            0x3c00,
        ),
        (
            "v_cmp_class_f16_e64 s[0:1], v0, 1.0",
            &[0xd014_0000, 0x0001_e500],
            1,
            0x3c00,
        ),
    ];
    for &(text, words, i, expected) in cases {
        let inst = one(gfx, words);
        assert_eq!(inst.text(gfx), text);
        assert_eq!(bits(inst.src[i]), expected, "{text}");
    }
}

#[test]
fn implied_operands_are_explicit() {
    let gfx = Gfx::Gfx900;
    let addc = one(gfx, &[0x3800_0501]);
    assert_eq!(addc.text(gfx), "v_addc_co_u32_e32 v0, vcc, v1, v2, vcc");
    assert_eq!((addc.dst[1], addc.src[2]), (VCC, VCC));
    let addc = one(gfx, &[0xd11c_0a00, 0x0032_0501]);
    assert_eq!(
        addc.text(gfx),
        "v_addc_co_u32_e64 v0, s[10:11], v1, v2, s[12:13]"
    );
    assert_eq!(
        (addc.dst[1], addc.src[2]),
        (Operand::Sgpr(10), Operand::Sgpr(12))
    );
    let select = one(gfx, &[0x0000_0501]);
    assert_eq!(select.text(gfx), "v_cndmask_b32_e32 v0, v1, v2, vcc");
    assert_eq!(select.src[2], VCC);
    let compare = one(gfx, &[0x7c82_0501]);
    assert_eq!(compare.text(gfx), "v_cmp_lt_f32_e32 vcc, v1, v2");
    assert_eq!(compare.dst[0], VCC);
    let scale = one(gfx, &[0xd1e0_6a00, 0x040e_0501]);
    assert_eq!(scale.text(gfx), "v_div_scale_f32 v0, vcc, v1, v2, v3");
    assert_eq!(scale.dst[1], VCC);
    // K is where it stands in the operation.
    let madmk = one(gfx, &[0x2e00_0501, 0x3f00_0000]);
    assert_eq!(madmk.text(gfx), "v_madmk_f32 v0, v1, 0x3f000000, v2");
    assert!(matches!(
        madmk.src[1],
        Operand::Literal {
            word: 0x3f00_0000,
            ..
        }
    ));
    let madak = one(gfx, &[0x3000_0501, 0x3f00_0000]);
    assert_eq!(madak.text(gfx), "v_madak_f32 v0, v1, v2, 0x3f000000");
    assert!(matches!(
        madak.src[2],
        Operand::Literal {
            word: 0x3f00_0000,
            ..
        }
    ));
    // The simm16 of SOPK is sign-extended, also where it is compared unsigned.
    let cmpk = one(gfx, &[0xb500_fffe]);
    assert_eq!(cmpk.text(gfx), "s_cmpk_gt_u32 s0, 0xfffe");
    assert_eq!(cmpk.src[..2], [Operand::Sgpr(0), Operand::Imm(-2)]);
    // Lane instructions name scalar registers.
    let first = one(gfx, &[0x7e0a_0501]);
    assert_eq!(first.text(gfx), "v_readfirstlane_b32 s5, v1");
    assert_eq!(first.dst[0], Operand::Sgpr(5));
    let lane = one(gfx, &[0xd289_0005, 0x0000_0501]);
    assert_eq!(lane.text(gfx), "v_readlane_b32 s5, v1, s2");
    assert_eq!(lane.dst[0], Operand::Sgpr(5));
    let lane = one(Gfx::Gfx700, &[0x020a_0501]);
    assert_eq!(lane.text(Gfx::Gfx700), "v_readlane_b32 s5, v1, s2");
    assert_eq!(lane.src[1], Operand::Sgpr(2));
}

#[test]
fn modifiers() {
    let gfx = Gfx::Gfx900;
    let sdwa = one(gfx, &[0x0200_04f9, 0x3506_3541]);
    assert_eq!(
        sdwa.text(gfx),
        "v_add_f32_sdwa v0, v65, -|v2| clamp dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE \
         src0_sel:DWORD src1_sel:WORD_1"
    );
    let fields = sdwa.mods.sdwa.expect("an SDWA form");
    assert_eq!(
        (fields.dst_sel, fields.dst_unused),
        (Sel::Word1, Unused::Preserve)
    );
    assert_eq!(fields.src_sel, [Sel::Dword, Sel::Word1]);
    assert!(sdwa.mods.clamp && sdwa.mods.abs == 2 && sdwa.mods.neg == 2);
    assert!(sdwa.reads_d(gfx), "the other half is preserved");
    let scalar = one(gfx, &[0x4c00_04f9, 0x0e86_0604]);
    assert_eq!(
        scalar.text(gfx),
        "v_add_u16_sdwa v0, s4, sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD \
         src1_sel:DWORD"
    );
    assert_eq!(scalar.src[0], Operand::Sgpr(4));
    let compare = one(gfx, &[0x7c82_04f9, 0x0606_8a01]);
    assert_eq!(
        compare.text(gfx),
        "v_cmp_lt_f32_sdwa s[10:11], v1, v2 src0_sel:DWORD src1_sel:DWORD"
    );
    assert_eq!(compare.dst[0], Operand::Sgpr(10));
    let dpp = one(gfx, &[0x0200_04fa, 0xaf19_3801]);
    assert_eq!(
        dpp.text(gfx),
        "v_add_f32_dpp v0, -v1, v2 wave_shr:1 row_mask:0xa bank_mask:0xf bound_ctrl:1"
    );
    let fields = dpp.mods.dpp.expect("a DPP form");
    assert_eq!(
        (fields.ctrl, fields.row_mask, fields.bank_mask),
        (0x138, 10, 15)
    );
    assert!(fields.bound_ctrl && dpp.form == Form::Dpp && dpp.mods.neg == 1);
    // A DPP compare, which LLVM does not know.
    let compare = one(gfx, &[0x7c82_04fa, 0xff00_e401]);
    assert_eq!(
        compare.text(gfx),
        "v_cmp_lt_f32_dpp vcc, v1, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf"
    );

    let fma = one(gfx, &[0xd1cb_8300, 0xd40e_0501]);
    assert_eq!(fma.text(gfx), "v_fma_f32 v0, |v1|, -|v2|, -v3 clamp mul:4");
    assert_eq!(
        (fma.mods.abs, fma.mods.neg, fma.mods.omod, fma.mods.clamp),
        (3, 6, 2, true)
    );
    // Bits that mean nothing for integers are not in the modifiers.
    let and_or = one(gfx, &[0xd201_8700, 0xfc0e_0501]);
    assert_eq!(and_or.text(gfx), "v_and_or_b32 v0, v1, v2, v3");
    assert_eq!(and_or.mods, Default::default());
    let mad = one(gfx, &[0xd203_6800, 0x040e_0501]);
    assert_eq!(mad.text(gfx), "v_mad_f16 v0, v1, v2, v3 op_sel:[1,0,1,1]");
    assert_eq!(mad.mods.op_sel, 0b1101);
    assert!(mad.reads_d(gfx));
    let packed = one(gfx, &[0xd38f_5102, 0x5002_0501]);
    assert_eq!(
        packed.text(gfx),
        "v_pk_add_f16 v2, v1, v2 op_sel:[0,1] op_sel_hi:[0,1] neg_lo:[0,1] neg_hi:[1,0]"
    );
    assert_eq!(
        (
            packed.mods.op_sel,
            packed.mods.op_sel_hi,
            packed.mods.neg,
            packed.mods.neg_hi
        ),
        (2, 2, 2, 1)
    );
    // CLAMP is bit 11 on gfx6 and gfx7.
    let old = one(Gfx::Gfx700, &[0xd206_0800, 0x0002_0501]);
    assert_eq!(old.text(Gfx::Gfx700), "v_add_f32_e64 v0, v1, v2 clamp");
}

#[test]
fn registers_by_target() {
    let name = |gfx, code: u32| {
        one(
            gfx,
            &[0xbe80_0000 | if gfx < Gfx::Gfx803 { 3 << 8 } else { 0 } | code],
        )
        .text(gfx)
    };
    assert_eq!(name(Gfx::Gfx600, 103), "s_mov_b32 s0, s103");
    assert_eq!(name(Gfx::Gfx700, 104), "s_mov_b32 s0, flat_scratch_lo");
    assert_eq!(name(Gfx::Gfx803, 103), "s_mov_b32 s0, flat_scratch_hi");
    assert_eq!(name(Gfx::Gfx803, 105), "s_mov_b32 s0, xnack_mask_hi");
    assert_eq!(name(Gfx::Gfx803, 108), "s_mov_b32 s0, tba_lo");
    assert_eq!(name(Gfx::Gfx900, 108), "s_mov_b32 s0, ttmp0");
    assert_eq!(name(Gfx::Gfx803, 112), "s_mov_b32 s0, ttmp0");
    assert_eq!(name(Gfx::Gfx900, 124), "s_mov_b32 s0, m0");
    assert_eq!(name(Gfx::Gfx900, 235), "s_mov_b32 s0, src_shared_base");
    let scc = one(Gfx::Gfx900, &[0xbe80_00fd]);
    assert_eq!(scc.src[0], Operand::Special(Special::Scc));
    // A pair of SGPRs that begins at an odd one is rounded down.
    let pair = one(Gfx::Gfx900, &[0xbe80_0105]);
    assert_eq!(pair.src[0], Operand::Sgpr(4));
    // v_swap takes registers only; its operation writes both.
    let swap = one(Gfx::Gfx900, &[0x7e0a_a301]);
    assert_eq!(
        (swap.op(), swap.dst[0], swap.src[0]),
        (Op::Swap, Operand::Vgpr(5), Operand::Vgpr(1))
    );
}

#[test]
fn errors_name_what_is_wrong() {
    let gfx = Gfx::Gfx900;
    let cases: &[(Gfx, &[u32], &str)] = &[
        (
            gfx,
            &[0xbe80_3d00],
            "unknown opcode 61 in SOP1 on gfx900 (word 0xbe803d00)",
        ),
        (gfx, &[0xd208_0000, 0], "unknown opcode 520 in VOP3"),
        (
            gfx,
            &[0xfc00_0000, 0],
            "unknown encoding 0xfc000000 on gfx900",
        ),
        (
            gfx,
            &[0xbe80_007d],
            "reserved operand 125 for SSRC0 of s_mov_b32 on gfx900",
        ),
        (
            Gfx::Gfx700,
            &[0xbe80_03f8],
            "reserved operand 248 for SSRC0 of s_mov_b32 on gfx700",
        ),
        (
            Gfx::Gfx600,
            &[0xbe80_0368],
            "reserved operand 104 for SSRC0 of s_mov_b32 on gfx600",
        ),
        (
            gfx,
            &[0xbefd_0000],
            "reserved operand 125 for SDST of s_mov_b32 on gfx900",
        ),
        (
            gfx,
            &[0xbe80_016b],
            "reserved operand 107 for SSRC0 of s_mov_b64 on gfx900",
        ),
        (
            gfx,
            &[0xd101_0000, 0x0002_04ff],
            "v_add_f32 takes no literal in this form on gfx900",
        ),
        (
            Gfx::Gfx942,
            &[0xd3e8_0000, 0x0002_0300],
            "reserved operand 0 for SRC2 of v_smfmac_f32_32x32x16_bf16 on gfx942",
        ),
        (
            gfx,
            &[0x7e0a_a302 & !0x1ff | 4],
            "reserved operand 4 for SRC0 of v_swap_b32 on gfx900",
        ),
        (
            gfx,
            &[0x7e00_31ff],
            "reserved operand 511 for SRC0 of v_ceil_f64 on gfx900",
        ),
        (
            gfx,
            &[0x2c00_04f9, 0x0606_0601],
            "v_mac_f32 has no SDWA form on gfx900",
        ),
        (
            gfx,
            &[0x7e00_30fa, 0xff00_e401],
            "v_ceil_f64 has no DPP form on gfx900",
        ),
        (
            gfx,
            &[0x0200_04f9, 0x0606_0701],
            "reserved value 7 of dst_sel in v_add_f32 on gfx900",
        ),
        (
            gfx,
            &[0x0200_04fa, 0xff01_0001],
            "reserved value 256 of dpp_ctrl in v_add_f32 on gfx900",
        ),
        (gfx, &[0xbe80_00ff], "truncated instruction: 4 of 8 bytes"),
        (gfx, &[0x0200_04f9], "truncated instruction: 4 of 8 bytes"),
        (gfx, &[0x2e00_0501], "truncated instruction: 4 of 8 bytes"),
    ];
    for &(gfx, words, expected) in cases {
        let text = error(gfx, words);
        assert!(text.starts_with(expected), "{words:08x?}: {text}");
    }
    assert_eq!(
        decode(gfx, &[1, 2, 3]),
        Err(DecodeError::Truncated { have: 3, need: 4 })
    );
}
