//! Numbers of 64 bits in lanes, compared and added where their words are edges: whether a word counts depends on another, and
//! so does a carry. Against the interpreter.

use frontend::state::LANES;
use harness::random::Random;
use harness::snippet::{BARRIER, END, State, set64};

use super::rounds::{Rounds, first_shapes};
use super::words::{ADD_CO, ADDC_CO, VCC, sop1, v, vop1, vop2, vop3, vopc};

/// Pairs of VGPRs that programs work on, from v0 on.
const PAIRS: u32 = 8;
/// A pair of SGPRs.
const SCALAR: u32 = 26;
/// Where masks go: pairs of SGPRs from this one on.
const MASKS: u32 = 34;

/// `v_lshlrev_b64`, `v_lshrrev_b64` and `v_ashrrev_i64`.
const SHIFTS: [u32; 3] = [0x28f, 0x290, 0x291];

/// The first VGPR of one of the pairs.
fn pair(r: &mut Random) -> u32 {
    2 * r.below(PAIRS)
}

fn program(r: &mut Random) -> Vec<u32> {
    let mut words = Vec::new();
    let mut masks = 0;
    for _ in 0..3 + r.below(8) {
        let (to, from, other) = (pair(r), pair(r), pair(r));
        match r.below(8) {
            // A sum of two pairs, or of a pair and a word.
            0 => words.extend([
                vop2(ADD_CO, to, v(from), other),
                vop2(ADDC_CO, to + 1, v(from + 1), other + 1),
            ]),
            1 => words.extend([
                vop2(ADD_CO, to, v(from), other),
                vop2(ADDC_CO, to + 1, 128, other + 1),
            ]),
            // A shift by a constant, across words or not.
            2 => {
                let n = *r.pick(&[0, 1, 2, 31, 32, 33, 63]);
                words.extend(vop3(*r.pick(&SHIFTS), to, [128 + n, v(from), 0]));
            }
            // A word that is a sum of floats: v_add_f32.
            3 => words.push(vop2(1, to + r.below(2), v(from), other)),
            // No high word, or that of a scalar.
            4 => words.push(vop1(1, to + 1, *r.pick(&[128, 193, SCALAR + 1]))),
            // v_cmp_.._i64 or _u64 with a pair, a scalar or a small constant
            _ => {
                let op = 0xe0 + 8 * r.below(2) + 1 + r.below(6);
                let with = *r.pick(&[v(from), v(from), SCALAR, 128, 129, 193]);
                words.extend([vopc(op, with, other), sop1(1, MASKS + 2 * masks, VCC)]);
                masks = (masks + 1) % 16;
            }
        }
    }
    words.extend([BARRIER, END]);
    words
}

/// A word that is an edge, mostly.
fn word(r: &mut Random) -> u32 {
    match r.below(8) {
        0 => r.word(),
        1 => r.below(3),
        _ => *r.pick(&[0, 0, 1, u32::MAX, 1 << 31, (1 << 31) - 1, (1 << 31) + 1]),
    }
}

fn prepare(r: &mut Random, before: &mut State) {
    before.fresh = false;
    before.fuel = 1000;
    for n in 0..2 * PAIRS as usize {
        before.vgpr[n] = [0; LANES].map(|_| word(r));
    }
    let scalar = u64::from(word(r)) | u64::from(word(r)) << 32;
    set64(&mut before.sgpr, SCALAR as usize, scalar);
}

#[test]
fn words_of_quads_that_are_edges() {
    let rounds = Rounds {
        count: 150,
        factor: 0x9e6c_63d0_876a_4b1d,
        shapes: first_shapes(),
        program,
        prepare,
    };
    rounds.run(|_| {});
}
