//! Arguments and results that are scaled by a choice between a number and one that changes nothing, as the guest's
//! libraries do it, against the interpreter.

use harness::random::Random;
use harness::snippet::{BARRIER, END};

use super::rounds::{Rounds, first_shapes};
use super::words::{v, vop1, vop2, vopc};

/// Products, differences, the other way round, sums.
const OPS: [u32; 6] = [5, 5, 5, 2, 3, 1];

/// Registers with any bits.
fn any(r: &mut Random) -> u32 {
    8 + r.below(8)
}

fn program(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    for _ in 0..1 + r.below(4) {
        // What is scaled: any bits, or the result of arithmetic.
        let x = any(r);
        match r.below(5) {
            0 => {}
            1 => code.push(vop1(*r.pick(&[0x20, 0x21, 0x24, 0x27]), x, v(any(r)))),
            _ => code.push(vop2(*r.pick(&OPS), x, v(any(r)), any(r))),
        }
        let [first, second, below, k, d] = [(); 5].map(|()| any(r));
        let below = *r.pick(&[x, below]);
        // With a register, or with what is the same for all lanes: mostly few of them differ from the others then.
        let bound = match r.once_in(2) {
            true => *r.pick(&[128, 240, 246, 247, 4]),
            false => v(first),
        };
        code.push(vopc(0x41 + r.below(6), bound, below));
        // 1, 0, -1 or any number, and the other.
        let neutral = *r.pick(&[242, 242, 128, 243, v(second)]);
        if r.once_in(3) {
            code.push(vop1(1, 3, neutral));
            code.push(vop2(0, 2, v(k), 3));
        } else {
            code.push(vop2(0, 2, neutral, k));
        }
        for _ in 0..1 + r.below(2) {
            let (a, b) = *r.pick(&[(x, 2), (2, x)]);
            code.push(vop2(*r.pick(&OPS), d, v(a), b));
        }
    }
    code.extend([BARRIER, END]);
    code
}

#[test]
fn scaled_arguments() {
    let rounds = Rounds {
        count: 200,
        factor: 5_000_011,
        shapes: first_shapes(),
        program,
        prepare: |r, before| {
            // Denormals of f32 kept or flushed, of sources and of results.
            before.mode = 0xc0 | r.below(4) << 4;
        },
    };
    rounds.run(|_| {});
}
