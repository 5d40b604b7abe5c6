//! `v_div_scale` of all exponents, which decide what it does, against its definition.

use frontend::Gfx;
use frontend::state::LANES;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END, set64};
use runtime::engine::{Emitter, Exit};
use runtime::jit::{JitEngine, JitOptions};
use runtime::math;

use super::words::{EXEC, bytes, v, vop3};

/// Pairs of registers that one program scales.
const PAIRS: usize = 8;

/// A numerator and a denominator, what is scaled of them, and the value and the bit.
type Scaled = ([u64; 2], usize, (u64, bool));

/// Checks that a program with the instruction `op` gives these, in every lane.
fn check(op: u32, wide: bool, cases: &[Scaled]) {
    let bench = Bench::new();
    let gfx = Gfx::Gfx900;
    let width = 1 + u32::from(wide);
    // In v[0:..] numerators and denominators by turns; results in their places, bits from s40 on.
    let pairs = if wide { PAIRS / 2 } else { PAIRS };
    let program = |which: u32| {
        let mut code = Vec::new();
        for n in 0..pairs as u32 {
            let [top, bottom] = [2 * n * width, (2 * n + 1) * width];
            let first = if which == 0 { top } else { bottom };
            let sources = [first, bottom, top].map(v);
            code.extend(vop3(op, top | (40 + 2 * n) << 8, sources));
        }
        bytes(&[&code[..], &[BARRIER, END]].concat())
    };
    let options = JitOptions::exact();
    let cranelift = JitOptions {
        emitter: Emitter::Cranelift,
        ..options
    };
    let engines = [options, cranelift].map(|o| JitEngine::new(o).expect("this host"));
    let mut before = bench.random_state(&mut Random::new(0xd15c), gfx);
    (before.mode, before.fuel) = (0x3f0, 1000);
    set64(&mut before.sgpr, EXEC as usize, u64::MAX);
    for which in [0, 1] {
        let loaded = bench.load(gfx, &program(which));
        let cases: Vec<&Scaled> = cases.iter().filter(|c| c.1 == which as usize).collect();
        for some in cases.chunks(pairs * LANES) {
            for (at, (sources, _, _)) in some.iter().enumerate() {
                let (pair, lane) = (at / LANES, at % LANES);
                for (k, source) in sources.iter().enumerate() {
                    let register = (2 * pair + k) * width as usize;
                    before.vgpr[register][lane] = *source as u32;
                    if wide {
                        before.vgpr[register + 1][lane] = (source >> 32) as u32;
                    }
                }
            }
            for engine in &engines {
                let outcome = bench.run(engine, &loaded, &before);
                assert_eq!(outcome.exit, Exit::End);
                let state = outcome.state;
                for (at, (sources, _, expected)) in some.iter().enumerate() {
                    let (pair, lane) = (at / LANES, at % LANES);
                    let register = 2 * pair * width as usize;
                    let high = match wide {
                        true => u64::from(state.vgpr[register + 1][lane]) << 32,
                        false => 0,
                    };
                    let value = u64::from(state.vgpr[register][lane]) | high;
                    let mask = 40 + 2 * pair + lane / 32;
                    let bit = state.sgpr[mask] >> (lane % 32) & 1 != 0;
                    assert_eq!((value, bit), *expected, "{which} of {sources:x?}");
                }
            }
        }
        bench.unload(&loaded);
    }
}

#[test]
fn single_numbers_of_all_exponents() {
    let mut r = Random::new(0x51f3);
    let mut cases: Vec<Scaled> = Vec::new();
    for n in 0..=255 {
        for d in 0..=255 {
            let [n, d] = [n, d].map(|exponent: u32| exponent << 23 | r.word() & 0x807f_ffff);
            let which = r.below(2) as usize;
            let (value, bit) = math::div_scale_f32([n, d][which], d, n);
            cases.push(([n, d].map(u64::from), which, (value.into(), bit)));
        }
    }
    check(0x1e0, false, &cases);
}

#[test]
fn double_numbers_of_all_exponents() {
    let mut r = Random::new(0x51f7);
    let mut cases: Vec<Scaled> = Vec::new();
    for n in (0..2048).step_by(3) {
        for distance in -1030..=1030 {
            let d = n + distance;
            // Near the borders all, elsewhere some.
            let near = [-1022, -1021, -1020, -970, 0, 767, 768, 769, 770].contains(&distance);
            if !(0..2048).contains(&d) || !near && r.below(8) != 0 {
                continue;
            }
            let [n, d] = [n, d]
                .map(|exponent: i32| (exponent as u64) << 52 | r.next() & 0x800f_ffff_ffff_ffff);
            let which = r.below(2) as usize;
            let expected = math::div_scale_f64([n, d][which], d, n);
            cases.push(([n, d], which, expected));
        }
    }
    check(0x1e1, true, &cases);
}
