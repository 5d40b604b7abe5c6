//! Accesses that are right or wrong by a hair, on the interpreter and in every shape of the translator; most in checked mode.

use frontend::Gfx;
use fuzz::assembler::M0;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END, LDS, Outcome, Setup, State, set64};
use runtime::engine::{Engine, Exit};
use runtime::interp::Interpreter;
use runtime::jit::{JitEngine, JitOptions, Tier};

use super::rounds::{first_shapes, shapes};
use super::words::{BASE, EXEC, bytes, lds, v, vop1};

/// Runs a program on all engines, in both tiers, from a state that is prepared.
fn on_all_engines(
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
    let on = |name: &str, engine: &dyn Engine| {
        look(name, &before, &bench.run(engine, &loaded, &before));
    };
    on("interpreter", &Interpreter);
    for (name, options) in [first_shapes(), shapes()].concat() {
        // A program runs once, so the optimizing tier must be requested.
        for tier in [Tier::Auto, Tier::Optimizing] {
            let jit = JitEngine::new(JitOptions { tier, ..options }).expect("this host");
            on(&format!("{name}, {tier:?}"), &jit);
        }
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

/// Checked mode, in which nothing of the LDS was written.
fn with_fresh_lds() -> Bench {
    let setup = Setup {
        checked: true,
        fresh_lds: true,
        ..Setup::default()
    };
    Bench::create(setup).expect("the host reserves address space")
}

/// The `N` words at the beginning of some bytes.
fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    std::array::from_fn(|n| {
        let word = bytes[4 * n..].first_chunk().expect("they are enough");
        u32::from_le_bytes(*word)
    })
}

/// What a state has in the buffer and behind it.
fn buffer<'a>(bench: &Bench, state: &'a State) -> &'a [u8] {
    &state.memory[(bench.buffer() - bench.zone().start) as usize..]
}

/// A load that is not aligned reads just its own bytes, of which all were written; what lies before them was not.
#[test]
fn loads_of_lds_next_to_what_nobody_wrote() {
    let (gfx, bench) = (Gfx::Gfx900, with_fresh_lds());
    let code = [lds(false, 1, 8, 7, 0), lds(true, 1, 9, 7, 0)].concat();
    let unaligned =
        |before: &mut State| before.vgpr[7] = std::array::from_fn(|lane| 8 * lane as u32 + 2);
    on_all_engines(gfx, &bench, &code, unaligned, |name, before, outcome| {
        ends(name, outcome);
        assert_eq!(outcome.state.vgpr[9], before.vgpr[8], "[{name}]");
    });
    let code = lds(true, 1, 9, 7, 0);
    let unwritten = |before: &mut State| before.vgpr[7] = [16; 64];
    on_all_engines(gfx, &bench, &code, unwritten, |name, _, outcome| {
        faults(name, outcome, "never written");
    });
}

/// Atomics ignore the low bits of their addresses.
#[test]
fn atomics_on_the_last_word_of_lds() {
    // `ds_add_u32`.
    let code = [0xd800_0000, 8 << 8 | 7];
    let (gfx, bench) = (Gfx::Gfx900, Bench::checked());
    for away in [0, 1, 2, 3] {
        let last = LDS - 4;
        let at_the_end = |before: &mut State| {
            before.vgpr[7] = [last as u32 + away; 64];
            before.vgpr[8] = std::array::from_fn(|lane| lane as u32);
            before.lds[last..].fill(0);
        };
        on_all_engines(gfx, &bench, &code, at_the_end, |name, _, outcome| {
            ends(name, outcome);
            let sum = words(&outcome.state.lds[last..]);
            assert_eq!(sum, [63 * 32], "[{name}] {away}");
        });
    }
    let beyond = |before: &mut State| before.vgpr[7] = [LDS as u32; 64];
    on_all_engines(gfx, &bench, &code, beyond, |name, _, outcome| {
        faults(name, outcome, "LDS");
    });
}

/// `LDS_DIRECT` reads a dword by M0.
#[test]
fn lds_direct_at_the_end_and_beyond() {
    let code = [vop1(1, 9, 254)];
    let (gfx, bench) = (Gfx::Gfx900, Bench::checked());
    let at = |m0: u32| move |before: &mut State| before.sgpr[M0 as usize] = 2 << 16 | m0;
    let last = LDS - 4;
    on_all_engines(
        gfx,
        &bench,
        &code,
        at(last as u32),
        |name, before, outcome| {
            ends(name, outcome);
            let [word] = words(&before.lds[last..]);
            assert_eq!(outcome.state.vgpr[9], [word; 64], "[{name}]");
        },
    );
    for beyond in [LDS as u32, 0xfffc] {
        on_all_engines(gfx, &bench, &code, at(beyond), |name, _, outcome| {
            faults(name, outcome, "LDS");
        });
    }
    on_all_engines(gfx, &with_fresh_lds(), &code, at(64), |name, _, outcome| {
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
    for bench in [Bench::checked(), Bench::new()] {
        let checked = bench.is_checked();
        for list in lists {
            let loads = list
                .iter()
                .map(|&(log2, dst, at)| scalar_load(log2, dst, at));
            let mut code: Vec<u32> = loads.flatten().collect();
            code.push(vop1(1, 9, v(8)));
            let prepare =
                |before: &mut State| set64(&mut before.sgpr, BASE as usize, bench.buffer());
            let look = |name: &str, before: &State, outcome: &Outcome| {
                ends(name, outcome);
                let mut expected = before.sgpr;
                for &(log2, dst, at) in list {
                    let loaded: [u32; 16] = words(&buffer(&bench, before)[at as usize..]);
                    let count = 1 << log2;
                    expected[dst as usize..][..count].copy_from_slice(&loaded[..count]);
                }
                assert_eq!(
                    outcome.state.sgpr[..104],
                    expected[..104],
                    "[{name}] {list:?}, checked: {checked}"
                );
                assert_eq!(outcome.state.vgpr[9], before.vgpr[8], "[{name}] {list:?}");
            };
            on_all_engines(Gfx::Gfx900, &bench, &code, prepare, look);
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
    let (gfx, bench) = (Gfx::Gfx700, Bench::new());
    for (code, w3) in [(&known[..], 0xffff), (&access, 0), (&access, 1 << 15)] {
        let prepare = |before: &mut State| {
            let at = bench.buffer();
            before.vgpr[4] = std::array::from_fn(|lane| at as u32 + 4 * lane as u32);
            before.vgpr[5] = [(at >> 32) as u32; 64];
            before.sgpr[20..24].copy_from_slice(&[0, 0, u32::MAX, w3]);
            before.sgpr[30] = 0;
        };
        on_all_engines(gfx, &bench, code, prepare, |name, before, outcome| {
            ends(name, outcome);
            let loaded = words(buffer(&bench, before));
            assert_eq!(outcome.state.vgpr[9], loaded, "[{name}] {w3:#x}");
        });
    }
}
