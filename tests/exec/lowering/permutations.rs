//! Random mixtures of what only moves bytes: the interpreter and the translator, which makes one permutation of many,
//! must agree.

use harness::random::Random;
use harness::snippet::{BARRIER, END};
use runtime::engine::Emitter;
use runtime::jit::JitOptions;

use super::rounds::Rounds;
use super::words::{ADD, LSHLREV, v, vop2, vop3};

/// A literal as a source of VOP2.
const LITERAL: u32 = 255;
/// Scalars with selectors.
const SELECTORS: u32 = 24;
const LSHRREV: u32 = 0x10;
const AND: u32 = 0x13;
const OR: u32 = 0x14;
const PERM: u32 = 0x1ed;
const BFE: u32 = 0x1c8;
/// VGPRs that are written.
const REGISTERS: u32 = 6;
/// `s_mov_b32` of a literal.
const S_MOV_LITERAL: u32 = 0xbe80_00ff;

fn selectors(r: &mut Random) -> u32 {
    let selectors = [(); 4].map(|()| {
        let choice = r.below(16);
        // Signs are rare, and zeros and ones less frequent than bytes.
        match choice {
            8..=11 if !r.once_in(6) => (choice - 8) as u8,
            _ => choice as u8,
        }
    });
    u32::from_le_bytes(selectors)
}

fn program(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    for n in 0..4 {
        code.extend([S_MOV_LITERAL | (SELECTORS + n) << 16, selectors(r)]);
    }
    for _ in 0..4 + r.below(16) {
        let register = |r: &mut Random| r.below(REGISTERS);
        let [d, a, b] = [register(r), register(r), register(r)];
        let by = 128
            + match r.once_in(8) {
                true => r.below(32),
                false => 8 * r.below(4),
            };
        match r.below(8) {
            0 => {
                let mask = *r.pick(&[0xff, 0xff00, 0xffff, 0x00ff_00ff, 0xff00_ff00, 0xff0f_f0ff]);
                code.extend([vop2(AND, d, LITERAL, a), mask]);
            }
            1 => code.push(vop2(LSHLREV, d, by, a)),
            2 => code.push(vop2(LSHRREV, d, by, a)),
            3 => code.push(vop2(OR, d, v(a), b)),
            4 if r.once_in(3) => code.push(vop2(ADD, d, v(a), b)),
            4 => code.extend(vop3(BFE, d, [v(a), by, 136])),
            _ => {
                let selector = SELECTORS + r.below(4);
                code.extend(vop3(PERM, d, [v(a), v(b), selector]));
            }
        }
    }
    code.extend([BARRIER, END]);
    code
}

#[test]
fn permutations_of_bytes() {
    let base = JitOptions::default();
    let emitter = Emitter::Cranelift;
    let rounds = Rounds {
        count: 150,
        factor: 0x9e37_79b9_7f4a_7c15,
        shapes: vec![
            ("as chosen", base),
            ("cranelift", JitOptions { emitter, ..base }),
        ],
        program,
        prepare: |_, before| before.fuel = 1000,
    };
    let mut ended = 0;
    let count = rounds.run(|round| ended += usize::from(round.ends()));
    assert_eq!(ended, count);
}
