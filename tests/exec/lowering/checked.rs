//! Accesses in checked mode that are right or wrong by a hair, on the interpreter and in every shape of the translator.

use frontend::Gfx;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END, LDS, Outcome, Setup, State, set64};
use runtime::Engine;
use runtime::engine::Exit;
use runtime::interp::Interpreter;
use runtime::jit::JitEngine;

use super::rounds::{first_shapes, shapes};
use super::words::{EXEC, bytes, lds, v, vop1};

const M0: usize = 124;
/// An address in SGPRs.
const BASE: u32 = 20;

/// Runs a program on all engines, from a state that is prepared.
fn on_all_engines(
    bench: &Bench,
    code: &[u32],
    prepare: impl Fn(&mut State),
    look: impl Fn(&str, &State, &Outcome),
) {
    on_all_engines_of(Gfx::Gfx900, bench, code, prepare, look);
}

fn on_all_engines_of(
    gfx: Gfx,
    bench: &Bench,
    code: &[u32],
    prepare: impl Fn(&mut State),
    look: impl Fn(&str, &State, &Outcome),
) {
    let mut before = bench.random_state(&mut Random::new(0xc4ec), gfx);
    (before.mode, before.fuel) = (0x3f0, 1000);
    set64(&mut before.sgpr, EXEC as usize, u64::MAX);
    prepare(&mut before);
    let loaded = bench.load(gfx, &bytes(&[code, &[BARRIER, END]].concat()));
    let mut all = first_shapes();
    all.extend(shapes());
    let jit = |options| Box::new(JitEngine::new(options).expect("this host")) as Box<dyn Engine>;
    let jits = all.into_iter().map(|(name, options)| (name, jit(options)));
    let interpreter: (&str, Box<dyn Engine>) = ("interpreter", Box::new(Interpreter));
    for (name, engine) in std::iter::once(interpreter).chain(jits) {
        let outcome = bench.run(&*engine, &loaded, &before);
        look(name, &before, &outcome);
    }
    bench.unload(&loaded);
}

fn faults(name: &str, outcome: &Outcome, text: &str) {
    let Exit::Fault(fault) = &outcome.exit else {
        panic!("[{name}] {:?}", outcome.exit)
    };
    let said = fault.kind.to_string();
    assert!(said.contains(text), "[{name}] {said}");
}

fn ends(name: &str, outcome: &Outcome) {
    assert!(outcome.exit == Exit::End, "[{name}] {:?}", outcome.exit);
}

fn bench(fresh_lds: bool) -> Bench {
    let setup = Setup {
        checked: true,
        fresh_lds,
        ..Setup::default()
    };
    Bench::create(setup).expect("the host reserves address space")
}

/// A load that is not aligned reads just its own bytes, of which all were written; what lies before them was not.
#[test]
fn loads_of_lds_next_to_what_nobody_wrote() {
    let code = [lds(false, 1, 8, 7, 0), lds(true, 1, 9, 7, 0)].concat();
    on_all_engines(
        &bench(true),
        &code,
        |before| before.vgpr[7] = std::array::from_fn(|lane| 8 * lane as u32 + 2),
        |name, before, outcome| {
            ends(name, outcome);
            assert_eq!(outcome.state.vgpr[9], before.vgpr[8], "[{name}]");
        },
    );
    let code = lds(true, 1, 9, 7, 0);
    let unwritten = |before: &mut State| before.vgpr[7] = [16; 64];
    on_all_engines(&bench(true), &code, unwritten, |name, _, outcome| {
        faults(name, outcome, "never written");
    });
}

/// Atomics ignore the low bits of their addresses.
#[test]
fn atomics_on_the_last_word_of_lds() {
    // `ds_add_u32`.
    let code = [0xd800_0000, 8 << 8 | 7];
    for away in [0, 1, 2, 3] {
        let last = LDS - 4;
        let at_the_end = |before: &mut State| {
            before.vgpr[7] = [last as u32 + away; 64];
            before.vgpr[8] = std::array::from_fn(|lane| lane as u32);
            before.lds[last..].fill(0);
        };
        on_all_engines(&bench(false), &code, at_the_end, |name, _, outcome| {
            ends(name, outcome);
            let sum = u32::from_le_bytes(outcome.state.lds[last..].try_into().expect("a word"));
            assert_eq!(sum, 63 * 32, "[{name}] {away}");
        });
    }
    let beyond = |before: &mut State| before.vgpr[7] = [LDS as u32; 64];
    on_all_engines(&bench(false), &code, beyond, |name, _, outcome| {
        faults(name, outcome, "LDS");
    });
}

/// `LDS_DIRECT` reads a dword by M0.
#[test]
fn lds_direct_at_the_end_and_beyond() {
    let code = [vop1(1, 9, 254)];
    for (m0, good) in [(LDS as u32 - 4, true), (LDS as u32, false), (0xfffc, false)] {
        let prepare = |before: &mut State| before.sgpr[M0] = 2 << 16 | m0;
        on_all_engines(&bench(false), &code, prepare, |name, before, outcome| {
            if !good {
                return faults(name, outcome, "LDS");
            }
            ends(name, outcome);
            let word = &before.lds[LDS - 4..];
            let word = u32::from_le_bytes(word.try_into().expect("a word"));
            assert_eq!(outcome.state.vgpr[9], [word; 64], "[{name}]");
        });
    }
    let prepare = |before: &mut State| before.sgpr[M0] = 2 << 16 | 64;
    on_all_engines(&bench(true), &code, prepare, |name, _, outcome| {
        faults(name, outcome, "never written");
    });
}

/// `s_load_dword…` of 1 << `log2` dwords.
fn scalar_load(log2: u32, dst: u32, offset: u32) -> [u32; 2] {
    [0xc002_0000 | log2 << 18 | dst << 6 | (BASE >> 1), offset]
}

/// Scalar loads next to one another, of which none is at the base, each in its own order; in checked mode the runtime does
/// them. Behind them all registers are as they must be.
#[test]
fn neighboring_scalar_loads() {
    let lists: [&[(u32, u32, u32)]; 5] = [
        &[(0, 0, 16), (1, 2, 20)],
        &[(1, 2, 64), (0, 0, 40), (2, 4, 48)],
        &[(3, 40, 32), (3, 48, 64), (3, 56, 96), (3, 64, 128)],
        &[(4, 40, 96), (4, 56, 32)],
        &[(0, 0, 4), (0, 1, 128), (0, 2, 64), (3, 40, 96)],
    ];
    for checked in [true, false] {
        let bench = Bench::create(Setup {
            checked,
            ..Setup::default()
        });
        let bench = bench.expect("the host reserves address space");
        for list in lists {
            let mut code: Vec<u32> = Vec::new();
            for &(log2, dst, offset) in list {
                code.extend(scalar_load(log2, dst, offset));
            }
            code.push(vop1(1, 9, v(8)));
            let zone = bench.zone();
            let at = bench.buffer();
            let prepare = |before: &mut State| set64(&mut before.sgpr, BASE as usize, at);
            on_all_engines(&bench, &code, prepare, |name, before, outcome| {
                ends(name, outcome);
                let mut expected = before.sgpr;
                for &(log2, dst, offset) in list {
                    for n in 0..1 << log2 {
                        let from = (at - zone.start) as usize + (offset + 4 * n) as usize;
                        let word = before.memory[from..from + 4].try_into();
                        let word = u32::from_le_bytes(word.expect("a word"));
                        expected[(dst + n) as usize] = word;
                    }
                }
                let count = 104;
                assert_eq!(
                    outcome.state.sgpr[..count],
                    expected[..count],
                    "[{name}] {list:?}, checked: {checked}"
                );
                assert_eq!(outcome.state.vgpr[9], before.vgpr[8], "[{name}] {list:?}");
            });
        }
    }
}

/// An access by a 64-bit address has no range check, so a descriptor without a format does not matter, known or not.
#[test]
fn addresses_through_descriptors_without_a_format() {
    // buffer_load_dword v9, v[4:5], s[20:23], s30 addr64
    let access = [0xe030_8000, 30 << 24 | 5 << 16 | 9 << 8 | 4];
    // s_mov_b32 s23, 0
    let known = [&[0xbe97_0380][..], &access].concat();
    let (bench, gfx) = (Bench::new(), Gfx::Gfx700);
    for (code, w3) in [(&known[..], 0xffff), (&access, 0), (&access, 1 << 15)] {
        let prepare = |before: &mut State| {
            let at = bench.buffer();
            before.vgpr[4] = std::array::from_fn(|lane| at as u32 + 4 * lane as u32);
            before.vgpr[5] = [(at >> 32) as u32; 64];
            before.sgpr[20..24].copy_from_slice(&[0, 0, u32::MAX, w3]);
            before.sgpr[30] = 0;
        };
        let words = |state: &State| {
            let from = (bench.buffer() - bench.zone().start) as usize;
            let lanes = state.memory[from..].chunks(4).take(64);
            let word = |chunk: &[u8]| u32::from_le_bytes(chunk.try_into().expect("a word"));
            lanes.map(word).collect::<Vec<u32>>()
        };
        on_all_engines_of(gfx, &bench, code, prepare, |name, before, outcome| {
            ends(name, outcome);
            assert_eq!(outcome.state.vgpr[9][..], words(before), "[{name}] {w3:#x}");
        });
    }
}
