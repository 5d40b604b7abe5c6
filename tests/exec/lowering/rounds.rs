//! Random programs and states for them, run on the interpreter and in every shape of the translator.

use frontend::state::LANES;
use frontend::target::Gfx;
use harness::environment::number;
use harness::random::Random;
use harness::snippet::{Bench, State, set64};
use lower::analysis::uniformity::Facts;
use lower::ir::Func;
use lower::lift::region::{self, Request};
use lower::options::Forms;
use runtime::LoadedCode;
use runtime::engine::{Emitter, Exit};
use runtime::interp::Interpreter;
use runtime::jit::{JitEngine, JitOptions, Tier};

use super::words::{BASE, COUNT, ENDPGM, bytes};

/// Random programs, each from a random state.
pub(super) struct Rounds {
    /// How many, if `ROUNDS=` in the environment does not say.
    pub(super) count: u64,
    /// What makes the numbers of one test others than those of the next, with the same `SEED=`.
    pub(super) factor: u64,
    pub(super) shapes: Vec<(&'static str, JitOptions)>,
    pub(super) program: fn(&mut Random) -> Vec<u32>,
    /// What these programs need of the state.
    pub(super) prepare: fn(&mut Random, &mut State),
}

/// A program in memory, and the state it starts from.
pub(super) struct Round<'a> {
    pub(super) bench: &'a Bench,
    pub(super) loaded: &'a LoadedCode,
    pub(super) before: &'a State,
}

impl Rounds {
    /// Compares in all rounds, lets `look` at each, and says how many there were.
    pub(super) fn run(self, mut look: impl FnMut(&Round<'_>)) -> usize {
        let seed: u64 = number("SEED").unwrap_or(7);
        println!("SEED={seed}");
        let bench = Bench::new();
        let rounds: u64 = number("ROUNDS").unwrap_or(self.count);
        let mut told = false;
        for n in 0..rounds {
            let mut r = Random::new(seed.wrapping_mul(self.factor).wrapping_add(n));
            let code = (self.program)(&mut r);
            let mut before = state(&bench, &mut r, Gfx::Gfx900);
            (self.prepare)(&mut r, &mut before);
            let what = format!("SEED={seed} program {n}");
            with_code(&bench, &code, |loaded, bytes| {
                told |= compare_in(&self.shapes, &bench, loaded, &before, bytes, &what);
                look(&Round {
                    bench: &bench,
                    loaded,
                    before: &before,
                });
            });
        }
        assert!(told, "no program left anything to compare");
        rounds as usize
    }
}

impl Rounds {
    /// Compares in all rounds, of which at least one in eight ends without a fault, and one in eight does not.
    pub(super) fn run_with_faults(self) {
        let mut ended = 0;
        let all = self.run(|round| ended += usize::from(round.ends()));
        let least = ended.min(all - ended);
        assert!(least * 8 > all, "{ended} of {all} end");
    }
}

impl Round<'_> {
    /// Does the program end without a fault?
    pub(super) fn ends(&self) -> bool {
        let outcome = self.bench.run(&Interpreter, self.loaded, self.before);
        matches!(outcome.exit, Exit::End)
    }

    /// The region of a program, and its uniformity facts.
    pub(super) fn analysed(&self) -> (Func, Facts) {
        let request = Request {
            gfx: Gfx::Gfx900,
            entry: self.loaded.base(),
            mode: self.before.mode,
            max_insts: 4096,
            max_block: 512,
            exact_nan: true,
            observe: false,
            checked: false,
            sanitize: false,
            outcomes: false,
        };
        let func = region::build(&request, &|pc| self.loaded.bytes_at(pc));
        let start = match self.before.rows {
            0 => frontend::WaveState::V0_COUNTS,
            n => u64::from(n) << frontend::WaveState::ROWS.trailing_zeros(),
        };
        let facts = lower::analysis::uniformity::analyse(&func, start, true, false);
        (func, facts)
    }
}

/// Loads a program for as long as `run` takes.
pub(super) fn with_code(bench: &Bench, code: &[u32], run: impl FnOnce(&LoadedCode, &[u8])) {
    let bytes = bytes(code);
    let loaded = bench.load(Gfx::Gfx900, &bytes);
    run(&loaded, &bytes);
    bench.unload(&loaded);
}

/// A state for it: lanes as the dispatch leaves them, the scalars that the program names.
pub(super) fn state(bench: &Bench, r: &mut Random, gfx: Gfx) -> State {
    let mut s = bench.random_state(r, gfx);
    s.fresh = true;
    s.rows = *r.pick(&[0, 0, 2, 3, 4, 4, 5]);
    let row = if s.rows == 0 { 64 } else { 1 << s.rows };
    let first = if s.rows == 0 { r.below(3) * 64 } else { 0 };
    for lane in 0..LANES as u32 {
        s.vgpr[0][lane as usize] = first + lane % row;
        s.vgpr[1][lane as usize] = lane / row * 4;
    }
    let exec = match r.below(16) {
        0 | 1 => r.next(),
        // A run of lanes.
        2 | 3 => r.run_of_lanes(),
        _ => u64::MAX,
    };
    set64(&mut s.sgpr, 126, exec);
    let base = bench.buffer() + u64::from(r.below(64)) * 4;
    set64(&mut s.sgpr, BASE as usize, base);
    // Mostly small steps; sometimes out of memory.
    let step: u64 = match r.below(8) {
        0 => 0x1_0000_0000,
        1 => 0xffff_ffff_ffff_fff0,
        2 => 0x0100_0000,
        _ => u64::from(r.below(64)),
    };
    set64(&mut s.sgpr, 24, step);
    s.sgpr[COUNT as usize] = 1 + r.below(24);
    s.mode = 0xf0;
    s.fuel = *r.pick(&[1, 2, 5, 1000, 1000, 1000]);
    s
}

/// Makes the lanes one row, with the numbers that a dispatch gives them then.
pub(super) fn in_one_row(s: &mut State) {
    s.rows = 0;
    for (lane, number) in s.vgpr[0].iter_mut().enumerate() {
        *number = lane as u32;
    }
}

/// The shapes of the translator that matter here.
pub(super) fn shapes() -> Vec<(&'static str, JitOptions)> {
    let base = JitOptions::exact();
    let cranelift = JitOptions {
        emitter: Emitter::Cranelift,
        ..base
    };
    vec![
        ("as chosen", base),
        ("one width", base.in_groups_of(4)),
        ("one width", base.in_groups_of(8)),
        ("one width", base.in_groups_of(16)),
        ("nothing hoisted", base.without(Forms::HOISTED)),
        ("general loops", base.without(Forms::GROUP_LOOPS)),
        ("lanes together", base.without(Forms::LANE_SERIAL)),
        ("loads apart", base.without(Forms::FUSED_LOADS)),
        ("cranelift", cranelift),
        ("cranelift, one width", cranelift.in_groups_of(4)),
        ("stores apart", base.without(Forms::FUSED_STORES)),
    ]
}

/// The shapes of what a kernel begins with.
pub(super) fn first_shapes() -> Vec<(&'static str, JitOptions)> {
    let base = JitOptions::exact();
    let observe = true;
    vec![
        ("as chosen", base),
        ("observed", JitOptions { observe, ..base }),
        ("compares by lane", base.without(Forms::AFFINE_COMPARES)),
        ("writes in place", base.without(Forms::SUNK)),
        (
            "cranelift",
            JitOptions {
                emitter: Emitter::Cranelift,
                ..base
            },
        ),
    ]
}

/// Runs a program on the interpreter and in every shape.
pub(super) fn compare(
    bench: &Bench,
    loaded: &LoadedCode,
    before: &State,
    bytes: &[u8],
    what: &str,
) {
    compare_in(&shapes(), bench, loaded, before, bytes, what);
}

/// The same in some shapes. Returns whether the program left anything to compare: registers, or another memory or LDS.
pub(super) fn compare_in(
    shapes: &[(&'static str, JitOptions)],
    bench: &Bench,
    loaded: &LoadedCode,
    before: &State,
    bytes: &[u8],
    what: &str,
) -> bool {
    // After the end of a wave its registers are dead.
    let gone = bytes.chunks_exact(4).any(|w| w == ENDPGM.to_le_bytes());
    let outcome = |engine: &dyn runtime::engine::Engine| {
        let mut outcome = bench.run(engine, loaded, before);
        if gone && matches!(outcome.exit, Exit::End) {
            let (memory, lds) = (outcome.state.memory, outcome.state.lds);
            outcome.state = before.clone();
            (outcome.state.memory, outcome.state.lds) = (memory, lds);
        }
        outcome
    };
    let want = outcome(&Interpreter);
    // A program runs once, so the optimizing tier must be requested.
    let hot = |&(name, options): &(&'static str, JitOptions)| {
        let tier = Tier::Optimizing;
        (name, JitOptions { tier, ..options })
    };
    let (name, options) = shapes[0];
    let tier = Tier::Baseline;
    let little = (name, JitOptions { tier, ..options });
    for (name, options) in shapes.iter().map(hot).chain([little]) {
        let jit = JitEngine::new(options).expect("this host");
        let got = outcome(&jit);
        let unequal = fuzz::checker::unequal(&want, &got, false);
        assert!(
            unequal.is_empty(),
            "{what}, {name} {:?} {:?}, rows {}, fuel {}:\n{}\n{}",
            options.tier,
            options.code.group,
            before.rows,
            before.fuel,
            fuzz::checker::texts(Gfx::Gfx900, bytes),
            unequal.join("\n")
        );
    }
    if gone {
        return want.state.memory != before.memory || want.state.lds != before.lds;
    }
    let counted =
        |engine: &dyn runtime::engine::Engine| bench.run_counting(engine, loaded, before, true);
    let (_, options) = hot(&shapes[0]);
    let jit = JitEngine::new(options).expect("this host");
    let unequal = fuzz::checker::unequal(&counted(&Interpreter), &counted(&jit), true);
    let text = fuzz::checker::texts(Gfx::Gfx900, bytes);
    assert!(
        unequal.is_empty(),
        "{what}, counting:\n{text}\n{}",
        unequal.join("\n")
    );
    true
}
