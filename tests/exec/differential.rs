//! Random programs from the rows: the interpreter and the translator must agree on every register, on
//! memory and on faults. A failure prints its seed and a shrunk program. In the environment:
//!
//! * `ROUNDS=` programs for each target, `SEED=`, `LENGTH=` instructions of a program and
//!   `LOOPS=` rounds of a loop at most, `STATES=` states that each starts from;
//! * `INSTRUCTIONS=` goes on until each target has executed so many on the interpreter, for long runs;
//! * `BLOCK=` instructions of a block at most; otherwise the engine's own limit, or for some programs a random one;
//! * `ONLY=` the number of one program, as a failure names it;
//! * `LINES=` straight lines for each target, of `LINE=` instructions at most (see `lines.rs`), `ONLY=` the number of one of
//!   them; a long campaign is `LINES=100000 LINE=5000 SEED=… cargo test --release --test exec -- differential::lines`;
//! * `SHOW_FAULTS=1` prints the programs that end in a fault;
//! * `FAILURES=` after how many to stop, `ALL_SHAPES=1` each program in all shapes of the translator, not
//!   in one that the program's number chooses; `SHAPE=` only shapes with this in their name;
//! * `WITHOUT=` no rows with this in their name;
//! * `WORDS=` words of each row and form under GPR indexing;
//! * `SUMMARY=words` instead of programs single instructions, so many words of every row and form; `ROW=`
//!   only rows with this in their name, `STATES=` from so many states;
//! * `CHECKED=1` runs in checked mode, `READ_ONLY=1` with a buffer that kernels may only read;
//! * `CODE=` instead of programs the instructions of these bytes (as reports show them), from `STATES=`
//!   states with `EXEC=` (hexadecimal), in all shapes.

mod dispatches;
mod indexed;
mod lines;
mod lockstep;
mod program;
mod read_only;
mod shapes;
mod strides;

use std::cell::Cell;

use frontend::{Gfx, decode};
use harness::random::Random;
use harness::snippet::{Bench, Outcome, State, differences, memory_differences, set64};
use harness::words::{As, prepared};
use lower::lift::region::MAX_BLOCK;
use runtime::engine::Exit;
use runtime::interp::Interpreter;

use super::status::may_fall_back;
use program::{Item, Rows};
use shapes::{Jits, Shape};

/// Programs for each target when the environment does not say.
const ROUNDS: u64 = 4200;

/// States that each program starts from.
const STATES: u64 = 2;

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
    shapes: Vec<Shape>,
    /// Programs that did not come to their end.
    faults: Cell<u64>,
    /// Those that wrote to read-only memory.
    refused: Cell<u64>,
    /// Instructions that the interpreter executed.
    executed: Cell<u64>,
}

/// What an engine got wrong.
struct Mismatch {
    shape: usize,
    lines: Vec<String>,
}

/// How a program is translated.
#[derive(Clone, Copy)]
struct How {
    /// The number of one shape, or all of them.
    shape: Option<usize>,
    /// Instructions of a block at most.
    max_block: usize,
}

impl How {
    /// In this shape, with blocks as the engine makes them.
    fn shaped(shape: Option<usize>) -> How {
        How {
            shape,
            max_block: MAX_BLOCK,
        }
    }

    /// With blocks as the engine makes them, or cut behind a few instructions, as often as `often` says.
    fn random(r: &mut Random, jits: &Jits, often: bool) -> How {
        let every = env("ALL_SHAPES", 0) != 0;
        let shape = (!every).then(|| r.below(jits.len() as u32) as usize);
        let bits = r.below(8);
        let few = match (often, r.below(4)) {
            (_, 0) | (true, 1 | 2) => 1 + r.below(1 << bits) as usize,
            _ => MAX_BLOCK,
        };
        How {
            shape,
            max_block: env("BLOCK", few as u64) as usize,
        }
    }
}

impl Checker {
    fn new(gfx: Gfx) -> Checker {
        let bench = match (env("CHECKED", 0) != 0, env("READ_ONLY", 0) != 0) {
            (checked, true) => Bench::read_only(checked),
            (true, false) => Bench::checked(),
            (false, false) => Bench::new(),
        };
        Checker::on(bench, gfx)
    }

    fn on(bench: Bench, gfx: Gfx) -> Checker {
        Checker {
            bench,
            rows: Rows::new(gfx),
            gfx,
            shapes: Shape::all(),
            faults: Cell::new(0),
            refused: Cell::new(0),
            executed: Cell::new(0),
        }
    }

    /// New engines.
    fn jits(&self) -> Jits {
        Jits::new(&self.shapes)
    }

    /// A state to begin with.
    fn state(&self, r: &mut Random) -> State {
        let mut state = self.bench.random_state(r, self.gfx);
        // Mostly v0 counts lanes; in half of these cases the translator gets this fact.
        if !r.once_in(8) {
            state.fresh = r.once_in(2);
            let first = r.below(3) * 64;
            let row = match state.fresh && r.once_in(3) {
                true => 3 + r.below(3),
                false => 0,
            };
            state.rows = row;
            for lane in 0..64u32 {
                let at = lane as usize;
                state.vgpr[0][at] = first + lane;
                if row != 0 {
                    state.vgpr[0][at] = lane % (1 << row);
                    state.vgpr[1][at] = first + (lane >> row);
                    state.vgpr[2][at] = first;
                }
            }
            for register in [prepared::ADDRESS_V, prepared::ADDRESS_V + 1] {
                state.vgpr[register as usize] = [0; 64];
            }
        }
        state
    }

    /// Another state for the same code: what code is specialised on stays.
    fn state_like(&self, r: &mut Random, first: &State) -> State {
        let mut state = self.state(r);
        state.mode = first.mode;
        state.fresh = first.fresh;
        state.rows = first.rows;
        if first.fresh {
            let ids: &[u32] = if first.rows == 0 { &[0] } else { &[0, 1, 2] };
            let address = [prepared::ADDRESS_V, prepared::ADDRESS_V + 1];
            for &register in ids.iter().chain(&address) {
                state.vgpr[register as usize] = first.vgpr[register as usize];
            }
        }
        state
    }

    /// Runs a program on the interpreter and on the translator in some shapes.
    fn check(&self, jits: &Jits, items: &[Item], before: &State, how: How) -> Option<Mismatch> {
        let (_, mismatch) = self.check_from(jits, items, std::slice::from_ref(before), how)?;
        Some(mismatch)
    }

    /// The same from several states; gives the number of the first that shows a difference.
    fn check_from(
        &self,
        jits: &Jits,
        items: &[Item],
        states: &[State],
        how: How,
    ) -> Option<(usize, Mismatch)> {
        let bytes = self.rows.bytes(items);
        let handed = handed(self.gfx, &bytes);
        let code = self.bench.load(self.gfx, &bytes);
        let mut found = None;
        'states: for (number, before) in states.iter().enumerate() {
            let want = self.bench.run_counting(&Interpreter, &code, before, true);
            self.executed.set(self.executed.get() + want.instructions);
            if !matches!(want.exit, Exit::End) {
                self.faults.set(self.faults.get() + 1);
                let refused =
                    matches!(&want.exit, Exit::Fault(fault) if fault.kind.name() == "read_only");
                self.refused.set(self.refused.get() + u64::from(refused));
                if std::env::var_os("SHOW_FAULTS").is_some() {
                    let text = texts(self.gfx, &self.rows.bytes(items));
                    println!("{:?}\n{text}", want.exit);
                }
            }
            for (shape, Shape { counting, .. }) in self.shapes.iter().enumerate() {
                if how.shape.is_some_and(|n| n != shape) {
                    continue;
                }
                let _running = Running {
                    checker: self,
                    items,
                    before,
                    how: How {
                        shape: Some(shape),
                        ..how
                    },
                };
                let engine = jits.get(shape, how.max_block);
                let mut got = self.bench.run_counting(&*engine, &code, before, *counting);
                got.fallbacks.retain(|name| !handed.contains(name));
                let lines = unequal(&want, &got, *counting);
                if !lines.is_empty() {
                    found = Some((number, Mismatch { shape, lines }));
                    break 'states;
                }
            }
        }
        self.bench.unload(&code);
        found
    }

    /// A program that differs, made smaller and told in words.
    fn smallest(&self, jits: &Jits, items: Vec<Item>, before: State, mut how: How) -> String {
        let fails = |items: &[Item], before: &State, how: How| {
            self.check(jits, items, before, how).is_some()
        };
        let items = program::shrink(items, &|items| fails(items, &before, how));
        let mut before = before;
        for simpler in SIMPLER {
            let mut state = before.clone();
            simpler(&mut state);
            if fails(&items, &state, how) {
                before = state;
            }
        }
        let of_shape = |shape| How {
            shape: Some(shape),
            ..how
        };
        let simpler = (0..how.shape.unwrap_or(0)).map(of_shape);
        let simpler = [How::shaped(how.shape)].into_iter().chain(simpler);
        let found = simpler.into_iter().find(|&how| fails(&items, &before, how));
        how = found.unwrap_or(how);
        match self.check(jits, &items, &before, how) {
            Some(mismatch) => self.report(&items, &before, (&mismatch, how.max_block), 6),
            None => "not again".to_owned(),
        }
    }

    /// A difference in words.
    fn report(
        &self,
        items: &[Item],
        before: &State,
        (mismatch, max_block): (&Mismatch, usize),
        lines: usize,
    ) -> String {
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
            "on {}, blocks of {max_block}: mode {mode:08x} exec {exec:016x} m0 {:08x} s[32:35] {descriptor:08x?}{fresh}\n{}{lines}",
            self.shapes[mismatch.shape].name(),
            before.sgpr[124],
            texts(self.gfx, &self.rows.bytes(items)),
        )
    }
}

/// A program that is being run: where that panics, it is printed.
struct Running<'a> {
    checker: &'a Checker,
    items: &'a [Item],
    before: &'a State,
    how: How,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mismatch = Mismatch {
                shape: self.how.shape.unwrap_or(0),
                lines: Vec::new(),
            };
            let mismatch = (&mismatch, self.how.max_block);
            let report = self.checker.report(self.items, self.before, mismatch, 0);
            eprintln!("panicked {report}");
        }
    }
}

/// Rows of the instructions that the translator may hand to the interpreter.
fn handed(gfx: Gfx, mut bytes: &[u8]) -> Vec<&'static str> {
    let mut names = Vec::new();
    while !bytes.is_empty() {
        let mut len = 4;
        if let Ok(inst) = decode(gfx, bytes) {
            len = usize::from(inst.len);
            names.extend(may_fall_back(gfx, &inst).then_some(inst.desc.name));
        }
        bytes = bytes.get(len..).unwrap_or_default();
    }
    names
}

/// What two runs show differently, or what the second did not run itself. After a fault dead registers may be old in the translator's wave.
pub(crate) fn unequal(want: &Outcome, got: &Outcome, counting: bool) -> Vec<String> {
    if want.exit != got.exit {
        return vec![format!("exit: {:?} / {:?}", want.exit, got.exit)];
    }
    if want.exports != got.exports {
        return vec!["exports differ".to_owned()];
    }
    let handed = got.fallbacks.iter();
    let handed: Vec<String> = handed.map(|name| format!("falls back: {name}")).collect();
    if !handed.is_empty() {
        return handed;
    }
    let ended = matches!(want.exit, Exit::End);
    let mut lines = match ended {
        true => differences(&want.state, &got.state),
        false => memory_differences(&want.state, &got.state),
    };
    let counts = |o: &Outcome| (o.instructions, o.lane_instructions);
    if counting && ended && counts(want) != counts(got) {
        lines.push(format!("counts: {:?} / {:?}", counts(want), counts(got)));
    }
    lines
}

/// Ways to make a state simpler.
const SIMPLER: [fn(&mut State); 6] = [
    |state| set64(&mut state.sgpr, 126, u64::MAX),
    |state| {
        let exec = u64::from(state.sgpr[126]) | u64::from(state.sgpr[127]) << 32;
        set64(&mut state.sgpr, 126, exec & exec.wrapping_neg());
    },
    |state| state.mode = 0xf0,
    |state| state.fuel = 10_000,
    |state| state.fresh = false,
    |state| state.sgpr[124] = u32::MAX,
];

/// Disassembly.
pub(crate) fn texts(gfx: Gfx, bytes: &[u8]) -> String {
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
        let only = std::env::var("ROW").unwrap_or_default();
        return summary(&Checker::new(gfx), &only, words, env("STATES", 4));
    }
    if let Ok(code) = std::env::var("CODE") {
        return given(gfx, &code);
    }
    let least = env("INSTRUCTIONS", 0);
    let rounds = match least {
        0 => env("ROUNDS", ROUNDS),
        _ => env("ROUNDS", u64::MAX),
    };
    let length = env("LENGTH", LENGTH) as u32;
    let seed = env("SEED", 1);
    let states = env("STATES", STATES);
    let checker = Checker::new(gfx);
    let mut jits = checker.jits();
    let mut bad = Vec::new();
    let mut programs = 0;
    let chosen = match env("ONLY", u64::MAX) {
        u64::MAX => 0..rounds,
        only => only..only + 1,
    };
    for round in chosen {
        if least != 0 && checker.executed.get() >= least {
            break;
        }
        if round % 1000 == 999 {
            jits = checker.jits();
        }
        programs += 1;
        let mut r = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(round));
        let first = checker.state(&mut r);
        let items = checker.rows.program(&mut r, length);
        let how = How::random(&mut r, &jits, false);
        let mut before = vec![first];
        for _ in 1..states {
            before.push(checker.state_like(&mut r, &before[0]));
        }
        let found = checker.check_from(&jits, &items, &before, how);
        let Some((number, Mismatch { shape, .. })) = found else {
            continue;
        };
        let before = before.swap_remove(number);
        let how = How {
            shape: Some(shape),
            ..how
        };
        let report = checker.smallest(&jits, items, before, how);
        bad.push(format!("{gfx} seed {seed} round {round} {report}"));
        if bad.len() as u64 >= env("FAILURES", 5) {
            break;
        }
    }
    println!(
        "{gfx}: seed {seed}, {programs} programs from {states} states each, {} runs ended in a fault, {} guest instructions executed",
        checker.faults.get(),
        checker.executed.get()
    );
    assert!(
        bad.is_empty(),
        "interpreter / translator differ:\n{}",
        bad.join("\n")
    );
}

/// Runs given instructions from many states in all shapes.
fn given(gfx: Gfx, code: &str) {
    let digits: Vec<char> = code.chars().filter(char::is_ascii_hexdigit).collect();
    let bytes: Vec<u8> = digits
        .chunks(2)
        .filter_map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).ok())
        .collect();
    let mut items = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let len = decode(gfx, rest).map_or(4, |inst| usize::from(inst.len));
        let (inst, behind) = rest.split_at(len.min(rest.len()));
        items.push(Item::Inst(inst.to_vec()));
        rest = behind;
    }
    let exec = std::env::var("EXEC").ok();
    let exec = exec.map(|text| u64::from_str_radix(&text, 16).expect("EXEC is hexadecimal"));
    let checker = Checker::new(gfx);
    let jits = checker.jits();
    let mut r = Random::new(env("SEED", 1));
    for _ in 0..env("STATES", 20) {
        let mut before = checker.state(&mut r);
        if let Some(exec) = exec {
            set64(&mut before.sgpr, 126, exec);
        }
        let max_block = env("BLOCK", MAX_BLOCK as u64) as usize;
        let how = |shape| How { shape, max_block };
        if let Some(Mismatch { shape, .. }) = checker.check(&jits, &items, &before, how(None)) {
            let how = how(Some(shape));
            panic!("{}", checker.smallest(&jits, items, before, how));
        }
    }
    let states = env("STATES", 20);
    println!(
        "{}equal from {states} states, {} of them with faults",
        texts(gfx, &bytes),
        checker.faults.get()
    );
}

/// Forms that a row is tried in.
const FORMS: [As; 4] = [As::Native, As::Vop3, As::Sdwa, As::Dpp];

/// Lists every row and form whose single instructions differ, with an example each.
fn summary(checker: &Checker, only: &str, words: u64, states: u64) {
    let gfx = checker.gfx;
    let mut jits = checker.jits();
    let (mut bad, mut run, mut turn) = (Vec::new(), 0u64, 0);
    for desc in checker.rows.all() {
        if !desc.name_on(gfx).contains(only) {
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
                    turn = (turn + 1) % jits.len();
                    let how = How::shaped(Some(turn));
                    if let Some(mismatch) = checker.check(&jits, &items, &before, how) {
                        wrong = true;
                        if example.is_empty() {
                            let mismatch = (&mismatch, how.max_block);
                            example = checker.report(&items, &before, mismatch, 3);
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

#[test]
fn lds_in_checked_mode() {
    for gfx in [
        Gfx::Gfx600,
        Gfx::Gfx700,
        Gfx::Gfx803,
        Gfx::Gfx900,
        Gfx::Gfx90a,
    ] {
        summary(&Checker::on(Bench::checked(), gfx), "ds_", 3, 3);
    }
}
