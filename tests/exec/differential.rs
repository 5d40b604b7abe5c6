//! Random programs from the rows: the interpreter and the translator must agree on every register, on
//! memory and on faults. A failure prints its seed and a shrunk program. In the environment:
//!
//! * `ROUNDS=` programs for each target, `SEED=`, `LENGTH=` instructions of a program at most;
//! * `FAILURES=` after how many to stop, `ALL_ENGINES=1` each program on all engines, not on one in turn;
//! * `WORDS=` words of each row and form under GPR indexing;
//! * `SUMMARY=words` instead of programs single instructions, so many words of every row and form; `ROW=`
//!   only rows with this in their name, `STATES=` from so many states.

mod indexed;
mod program;

use std::cell::Cell;

use frontend::{Gfx, decode};
use harness::random::Random;
use harness::snippet::{Bench, State, differences};
use harness::words::{As, prepared};
use lower::jit::HostLevel;
use runtime::engine::Exit;
use runtime::interp::Interpreter;
use runtime::jit::{JitEngine, JitOptions};

use program::{Item, Rows};

/// Programs for each target when the environment does not say.
const ROUNDS: u64 = 4000;

/// Instructions of a program at most.
const LENGTH: u64 = 16;

fn env(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

struct Checker {
    bench: Bench,
    rows: Rows,
    gfx: Gfx,
    engines: Vec<(String, JitOptions)>,
    /// Programs that did not come to their end.
    faults: Cell<u64>,
}

/// What an engine got wrong.
struct Mismatch {
    engine: usize,
    lines: Vec<String>,
}

impl Checker {
    fn new(gfx: Gfx) -> Checker {
        let mut engines = Vec::new();
        let base = JitOptions {
            exact_nan: true,
            ..JitOptions::default()
        };
        engines.push(("native".to_owned(), base));
        engines.push((
            "avx2, groups of 16".to_owned(),
            JitOptions {
                host: HostLevel::Avx2,
                group: Some(16),
                ..base
            },
        ));
        engines.push((
            "sse4.1, always masked".to_owned(),
            JitOptions {
                host: HostLevel::Sse41,
                always_masked: true,
                ..base
            },
        ));
        Checker {
            bench: Bench::new(),
            rows: Rows::new(gfx),
            gfx,
            engines,
            faults: Cell::new(0),
        }
    }

    /// New engines; they keep all code that they ever made.
    fn jits(&self) -> Vec<JitEngine> {
        self.engines
            .iter()
            .map(|(_, options)| JitEngine::new(*options).expect("this host"))
            .collect()
    }

    /// A state to begin with.
    fn state(&self, r: &mut Random) -> State {
        let mut state = self.bench.random_state(r, self.gfx);
        if r.once_in(2) {
            state.fresh = true;
            let first = r.below(3) * 64;
            for (lane, v0) in state.vgpr[0].iter_mut().enumerate() {
                *v0 = first + lane as u32;
            }
            for register in [prepared::ADDRESS_V, prepared::ADDRESS_V + 1] {
                state.vgpr[register as usize] = [0; 64];
            }
        }
        state
    }

    /// Runs a program on the interpreter and on some of the engines.
    fn check(
        &self,
        jits: &[JitEngine],
        items: &[Item],
        before: &State,
        only: Option<usize>,
    ) -> Option<Mismatch> {
        let code = self.bench.load(self.gfx, &self.rows.bytes(items));
        let want = self.bench.run(&Interpreter, &code, before);
        if !matches!(want.exit, Exit::End) {
            self.faults.set(self.faults.get() + 1);
        }
        let mut found = None;
        for (engine, jit) in jits.iter().enumerate() {
            if only.is_some_and(|n| n != engine) {
                continue;
            }
            let got = self.bench.run(jit, &code, before);
            let lines = match (&want.exit, &got.exit) {
                (Exit::Fault(a), Exit::Fault(b)) if a == b => continue,
                (a, b) if a != b => vec![format!("exit: {a:?} / {b:?}")],
                _ => differences(&want.state, &got.state),
            };
            if !lines.is_empty() {
                found = Some(Mismatch { engine, lines });
                break;
            }
        }
        self.bench.unload(&code);
        found
    }

    /// A difference in words.
    fn report(&self, items: &[Item], before: &State, mismatch: &Mismatch, lines: usize) -> String {
        let mode = before.mode;
        let exec = u64::from(before.sgpr[126]) | u64::from(before.sgpr[127]) << 32;
        let descriptor = &before.sgpr[prepared::BUFFER_S as usize..][..4];
        let lines: String = mismatch
            .lines
            .iter()
            .take(lines)
            .map(|l| format!("      {l}\n"))
            .collect();
        let fresh = if before.fresh { ", fresh" } else { "" };
        format!(
            "on {}: mode {mode:08x} exec {exec:016x} m0 {:08x} s[32:35] {descriptor:08x?}{fresh}\n{}{lines}",
            self.engines[mismatch.engine].0,
            before.sgpr[124],
            texts(self.gfx, &self.rows.bytes(items)),
        )
    }
}

/// Disassembly.
fn texts(gfx: Gfx, bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let (text, len) = match decode(gfx, rest) {
            Ok(inst) => (inst.text(gfx), usize::from(inst.len)),
            Err(error) => (error.to_string(), 4),
        };
        let hex: String = rest[..len].iter().map(|b| format!("{b:02x}")).collect();
        out.push_str(&format!("    {text}    {hex}\n"));
        at += len;
    }
    out
}

fn differential(gfx: Gfx) {
    if let Some(words) = std::env::var("SUMMARY").ok().and_then(|t| t.parse().ok()) {
        return summary(gfx, words);
    }
    let rounds = env("ROUNDS", ROUNDS);
    let length = env("LENGTH", LENGTH) as u32;
    let seed = env("SEED", 1);
    let every = env("ALL_ENGINES", 0) != 0;
    let checker = Checker::new(gfx);
    let mut jits = checker.jits();
    let mut bad = Vec::new();
    let mut instructions = 0;
    for round in 0..rounds {
        if round % 2000 == 1999 {
            jits = checker.jits();
        }
        let mut r = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(round));
        let before = checker.state(&mut r);
        let mut items = checker.rows.program(&mut r, length);
        instructions += program::count(&items);
        let turn = (!every).then_some(round as usize % jits.len());
        let Some(Mismatch { engine, .. }) = checker.check(&jits, &items, &before, turn) else {
            continue;
        };
        items = program::shrink(items, &|items| {
            checker.check(&jits, items, &before, Some(engine)).is_some()
        });
        let mismatch = checker
            .check(&jits, &items, &before, Some(engine))
            .expect("the shrunk program still differs");
        bad.push(format!(
            "{gfx} seed {seed} round {round} {}",
            checker.report(&items, &before, &mismatch, 6)
        ));
        if bad.len() as u64 >= env("FAILURES", 8) {
            break;
        }
    }
    println!(
        "{gfx}: {instructions} instructions in {rounds} programs, {} of which ended in a fault",
        checker.faults.get()
    );
    assert!(
        bad.is_empty(),
        "interpreter / translator differ:\n{}",
        bad.join("\n")
    );
}

/// Forms that a row is tried in.
const FORMS: [As; 4] = [As::Native, As::Vop3, As::Sdwa, As::Dpp];

/// Lists every row and form whose single instructions differ, with an example each.
fn summary(gfx: Gfx, words: u64) {
    let only = std::env::var("ROW").unwrap_or_default();
    let states = env("STATES", 4);
    let checker = Checker::new(gfx);
    let mut jits = checker.jits();
    let (mut bad, mut run) = (Vec::new(), 0u64);
    for desc in checker.rows.all() {
        if !desc.name_on(gfx).contains(&only) {
            continue;
        }
        for form in FORMS {
            let mut r = Random::new(env("SEED", 1));
            let (mut failed, mut tried, mut example) = (0, 0, String::new());
            for _ in 0..words {
                let Some(bytes) = checker.rows.encode(&mut r, desc, form) else {
                    continue;
                };
                tried += 1;
                run += 1;
                if run % 2000 == 0 {
                    jits = checker.jits();
                }
                let items = [Item::Inst(bytes)];
                let mut wrong = false;
                for _ in 0..states {
                    let before = checker.state(&mut r);
                    if let Some(mismatch) = checker.check(&jits, &items, &before, None) {
                        wrong = true;
                        if example.is_empty() {
                            example = checker.report(&items, &before, &mismatch, 3);
                        }
                    }
                }
                failed += u64::from(wrong);
            }
            if failed != 0 {
                bad.push(format!(
                    "{} {form:?}: {failed} of {tried} words\n{example}",
                    desc.name_on(gfx)
                ));
            }
        }
    }
    let count = bad.len();
    assert!(
        bad.is_empty(),
        "{gfx}: {count} rows and forms differ:\n{}",
        bad.join("\n")
    );
}

#[test]
fn gfx600() {
    differential(Gfx::Gfx600);
}

#[test]
fn gfx700() {
    differential(Gfx::Gfx700);
}

#[test]
fn gfx803() {
    differential(Gfx::Gfx803);
}

#[test]
fn gfx900() {
    differential(Gfx::Gfx900);
}

#[test]
fn gfx906() {
    differential(Gfx::Gfx906);
}
