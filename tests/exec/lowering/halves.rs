//! Fused sums of f16 whose exact values lie close to the middle between two results: the interpreter and the translator,
//! which round a sum of f32 to odd first, must agree.

use frontend::state::LANES;
use harness::random::Random;
use harness::snippet::{BARRIER, END, State};
use runtime::engine::Emitter;
use runtime::jit::JitOptions;

use super::rounds::Rounds;
use super::words::v;

/// Registers with operands; results go to those behind them.
const OPERANDS: u32 = 6;
const RESULTS: u32 = 12;

fn pk_fma([a, b, c]: [u32; 3], d: u32, neg: u32) -> [u32; 2] {
    let sources = v(a) | v(b) << 9 | v(c) << 18;
    [0xd38e_4000 | d, sources | 3 << 27 | neg << 29]
}

fn program(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    for n in 0..RESULTS {
        let sources = [(); 3].map(|()| r.below(OPERANDS));
        code.extend(pk_fma(sources, OPERANDS + n, r.below(8)));
    }
    code.extend([BARRIER, END]);
    code
}

/// An f16 with few ones in its fraction, so that products and sums often end in ties or one place beside them.
fn half(r: &mut Random) -> u32 {
    let exponent = match r.below(4) {
        0 => r.below(32),
        1 => r.below(4),
        _ => 12 + r.below(8),
    };
    let fraction = match r.below(4) {
        0 => r.below(1 << 10),
        1 => 0,
        2 => 1 << r.below(10),
        _ => (1 << r.below(10)) ^ (1 << r.below(10)) ^ r.below(2),
    };
    r.below(2) << 15 | exponent << 10 | fraction
}

fn prepare(r: &mut Random, before: &mut State) {
    before.fresh = false;
    before.fuel = 1000;
    // To nearest even, with or without denormals.
    before.mode = *r.pick(&[0xf0, 0x3f0, 0x30]);
    for n in 0..OPERANDS {
        before.vgpr[n as usize] = [0; LANES].map(|_| half(r) | half(r) << 16);
    }
}

#[test]
fn fused_sums_of_halves() {
    let base = JitOptions::exact();
    let emitter = Emitter::Cranelift;
    let rounds = Rounds {
        count: 75,
        factor: 0xd134_2543_de82_ef95,
        shapes: vec![
            ("exact NaNs", base),
            ("cranelift", JitOptions { emitter, ..base }),
        ],
        program,
        prepare,
    };
    let mut ended = 0;
    let count = rounds.run(|round| ended += usize::from(round.ends()));
    assert_eq!(ended, count);
}
