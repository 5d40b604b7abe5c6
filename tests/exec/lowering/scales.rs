//! `v_div_scale` of all exponents, which decide what it does, against its definition.

use frontend::Gfx;
use frontend::state::LANES;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END, State, set64};
use runtime::engine::{Emitter, Exit};
use runtime::jit::{JitEngine, JitOptions};
use runtime::math;

use super::rounds::with_code;
use super::words::{EXEC, v, vop3};

/// VGPRs of the sources of one program, from v0 on; results are in the place of numerators.
const SOURCES: usize = 16;
/// The first SGPR of the bits.
const BITS: usize = 40;

/// What one lane scales.
struct Case {
    /// A numerator and a denominator.
    sources: [u64; 2],
    /// Which of them is scaled.
    which: usize,
    /// The value and the bit.
    expected: (u64, bool),
}

/// Writes a number of some words from VGPR `first` on.
fn set(state: &mut State, first: usize, words: usize, lane: usize, number: u64) {
    for word in 0..words {
        state.vgpr[first + word][lane] = (number >> (32 * word)) as u32;
    }
}

/// Reads such a number.
fn get(state: &State, first: usize, words: usize, lane: usize) -> u64 {
    let word = |word: usize| u64::from(state.vgpr[first + word][lane]) << (32 * word);
    (0..words).map(word).sum()
}

/// Checks that programs with the instruction `op`, on numbers of some words, give what is expected.
fn check(op: u32, words: usize, cases: &[Case]) {
    let bench = Bench::new();
    let pairs = SOURCES / (2 * words);
    let options = JitOptions::exact();
    let cranelift = JitOptions {
        emitter: Emitter::Cranelift,
        ..options
    };
    let engines = [options, cranelift].map(|o| JitEngine::new(o).expect("this host"));
    let mut before = bench.random_state(&mut Random::new(0xd15c), Gfx::Gfx900);
    (before.mode, before.fuel) = (0x3f0, 1000);
    set64(&mut before.sgpr, EXEC as usize, u64::MAX);
    for which in [0, 1] {
        let mut code = Vec::new();
        for pair in 0..pairs {
            let sources = [0, 1].map(|k| ((2 * pair + k) * words) as u32);
            let [top, bottom] = sources;
            let bits = (BITS + 2 * pair) as u32;
            let operands = [sources[which], bottom, top].map(v);
            code.extend(vop3(op, top | bits << 8, operands));
        }
        code.extend([BARRIER, END]);
        let cases: Vec<&Case> = cases.iter().filter(|case| case.which == which).collect();
        with_code(&bench, &code, |loaded, _| {
            for some in cases.chunks(pairs * LANES) {
                let places = (0..pairs).flat_map(|pair| (0..LANES).map(move |lane| (pair, lane)));
                let placed = || places.clone().zip(some);
                for ((pair, lane), case) in placed() {
                    for (k, source) in case.sources.into_iter().enumerate() {
                        set(&mut before, (2 * pair + k) * words, words, lane, source);
                    }
                }
                for engine in &engines {
                    let outcome = bench.run(engine, loaded, &before);
                    assert_eq!(outcome.exit, Exit::End);
                    let state = outcome.state;
                    for ((pair, lane), case) in placed() {
                        let value = get(&state, 2 * pair * words, words, lane);
                        let bits = state.sgpr[BITS + 2 * pair + lane / 32];
                        let bit = bits >> (lane % 32) & 1 != 0;
                        let sources = case.sources;
                        assert_eq!((value, bit), case.expected, "{which} of {sources:x?}");
                    }
                }
            }
        });
    }
}

#[test]
fn single_numbers_of_all_exponents() {
    let mut r = Random::new(0x51f3);
    let mut cases = Vec::new();
    for n in 0..=255 {
        for d in 0..=255 {
            let [n, d] = [n, d].map(|exponent: u32| exponent << 23 | r.word() & 0x807f_ffff);
            let which = r.below(2) as usize;
            let (value, bit) = math::div_scale_f32([n, d][which], d, n);
            cases.push(Case {
                sources: [n, d].map(u64::from),
                which,
                expected: (value.into(), bit),
            });
        }
    }
    check(0x1e0, 1, &cases);
}

#[test]
fn double_numbers_of_all_exponents() {
    let mut r = Random::new(0x51f7);
    let mut cases = Vec::new();
    for n in (0..2048).step_by(3) {
        for distance in -1030..=1030 {
            let d = n + distance;
            // Near the borders all, elsewhere some.
            let near = [-1022, -1021, -1020, -970, 0, 767, 768, 769, 770].contains(&distance);
            if !(0..2048).contains(&d) || !near && r.below(8) != 0 {
                continue;
            }
            let sources = [n, d]
                .map(|exponent: i32| (exponent as u64) << 52 | r.next() & 0x800f_ffff_ffff_ffff);
            let which = r.below(2) as usize;
            let [n, d] = sources;
            cases.push(Case {
                sources,
                which,
                expected: math::div_scale_f64(sources[which], d, n),
            });
        }
    }
    check(0x1e1, 2, &cases);
}
