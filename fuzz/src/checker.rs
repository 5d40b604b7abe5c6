//! Runs programs on the interpreter and on the translator, finds what differs, and makes programs that
//! differ smaller.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Range;

use frontend::{Gfx, Inst, Op, decode};
use harness::random::Random;
use harness::snippet::{Bench, Outcome, Setup, State, differences, memory_differences, set64};
use harness::words::prepared;
use lower::jit::LowerError;
use lower::lift::region::MAX_BLOCK;
use lower::lift::support::{Support, support_of};
use runtime::engine::Exit;
use runtime::interp::Interpreter;
use sha2::Sha256;

use crate::digest;
use crate::program::{self, Item, Rows};
use crate::shapes::{Jits, Shape};
use crate::{Error, Options};

/// Runs programs for one target on both engines. Used on one thread.
pub struct Checker {
    /// Where they run.
    pub bench: Bench,
    /// What they consist of.
    pub rows: Rows,
    /// The target.
    pub gfx: Gfx,
    /// The shapes of the translator.
    pub shapes: Vec<Shape>,
    options: Options,
    /// Programs that did not come to their end.
    pub faults: Cell<u64>,
    /// Those that wrote to read-only memory.
    pub refused: Cell<u64>,
    /// Runs of the interpreter.
    pub runs: Cell<u64>,
    /// Instructions that the interpreter executed.
    pub executed: Cell<u64>,
    /// Receives the interpreter's results.
    pub(crate) record: RefCell<Option<Sha256>>,
    /// The program whose run ended in a panic of the translator.
    pub(crate) panicked: RefCell<Option<Failure>>,
}

/// What an engine got wrong.
pub struct Mismatch {
    /// The number of the shape.
    pub shape: usize,
    /// The differences in words: interpreter / translator.
    pub lines: Vec<String>,
}

/// How a program is translated.
#[derive(Clone, Copy)]
pub struct How {
    /// The number of one shape, or all of them.
    pub shape: Option<usize>,
    /// Instructions of a block at most.
    pub max_block: usize,
}

impl How {
    /// In this shape, with blocks as the engine makes them.
    pub fn shaped(shape: Option<usize>) -> How {
        How {
            shape,
            max_block: MAX_BLOCK,
        }
    }

    /// With blocks as the engine makes them, or cut behind a few instructions, as often as `often` says.
    pub fn random(r: &mut Random, jits: &Jits, options: &Options, often: bool) -> How {
        // The numbers drawn do not depend on the options.
        let chosen = r.below(jits.len() as u32) as usize;
        let shape = (!options.all_shapes).then_some(chosen);
        let bits = r.below(8);
        let few = match (often, r.below(4)) {
            (_, 0) | (true, 1 | 2) => 1 + r.below(1 << bits) as usize,
            _ => MAX_BLOCK,
        };
        How {
            shape,
            max_block: options.max_block.unwrap_or(few),
        }
    }
}

impl Checker {
    /// As the options say. With an `address`, guest memory begins there, so that programs compute the
    /// same in every process.
    pub fn new(gfx: Gfx, options: &Options, address: Option<u64>) -> Result<Checker, Error> {
        let bench = Bench::create(Setup {
            checked: options.checked,
            read_only: options.read_only,
            address,
            ..Setup::default()
        })?;
        Checker::on(bench, gfx, options)
    }

    /// On this bench, whatever the options say about that.
    pub fn on(bench: Bench, gfx: Gfx, options: &Options) -> Result<Checker, Error> {
        options.check()?;
        let shapes = Shape::all(options.shapes.as_deref());
        if shapes.is_empty() {
            return Err(Error::NoShape(options.shapes.clone().unwrap_or_default()));
        }
        Ok(Checker {
            bench,
            rows: Rows::new(gfx, options)?,
            gfx,
            shapes,
            options: options.clone(),
            faults: Cell::new(0),
            refused: Cell::new(0),
            runs: Cell::new(0),
            executed: Cell::new(0),
            record: RefCell::default(),
            panicked: RefCell::default(),
        })
    }

    /// New engines.
    pub fn jits(&self) -> Jits {
        match &self.options.wrong {
            Some(name) => Jits::with_wrong(&self.shapes, name),
            None => Jits::new(&self.shapes),
        }
    }

    /// A state to begin with.
    pub fn state(&self, r: &mut Random) -> State {
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
    pub fn state_like(&self, r: &mut Random, first: &State) -> State {
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
    pub fn check(
        &self,
        jits: &Jits,
        items: &[Item],
        before: &State,
        how: How,
    ) -> Result<Option<Mismatch>, LowerError> {
        let found = self.check_from(jits, items, std::slice::from_ref(before), how)?;
        Ok(found.map(|(_, mismatch)| mismatch))
    }

    /// The same from several states; gives the number of the first that shows a difference.
    pub fn check_from(
        &self,
        jits: &Jits,
        items: &[Item],
        states: &[State],
        how: How,
    ) -> Result<Option<(usize, Mismatch)>, LowerError> {
        let bytes = self.rows.bytes(items);
        let handed = handed(self.gfx, &bytes);
        let code = self.bench.load(self.gfx, &bytes);
        let mut found = None;
        'states: for (number, before) in states.iter().enumerate() {
            let running = Running {
                checker: self,
                items,
                before,
                how,
            };
            let want = self.bench.run_counting(&Interpreter, &code, before, true);
            drop(running);
            self.runs.set(self.runs.get() + 1);
            self.executed.set(self.executed.get() + want.instructions);
            if let Some(hash) = self.record.borrow_mut().as_mut() {
                digest::absorb(hash, &want, code.base());
            }
            if !matches!(want.exit, Exit::End) {
                self.faults.set(self.faults.get() + 1);
                let refused =
                    matches!(&want.exit, Exit::Fault(fault) if fault.kind.name() == "read_only");
                self.refused.set(self.refused.get() + u64::from(refused));
                if let Some(observe) = self.options.on_fault {
                    observe(&want.exit, &texts(self.gfx, &bytes));
                }
            }
            for shape in 0..self.shapes.len() {
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
                let engine = jits.get(shape, how.max_block)?;
                let counting = jits.counts(shape);
                let mut got = self.bench.run_counting(&*engine, &code, before, counting);
                got.fallbacks.retain(|name| !handed.contains(name));
                let lines = unequal(&want, &got, counting);
                if !lines.is_empty() {
                    found = Some((number, Mismatch { shape, lines }));
                    break 'states;
                }
            }
        }
        self.bench.unload(&code);
        Ok(found)
    }

    /// Makes a program that differs from a state smaller.
    pub fn shrunk(
        &self,
        jits: &Jits,
        items: Vec<Item>,
        before: State,
        how: How,
    ) -> Result<Failure, LowerError> {
        // An error of the engine ends the search, and is found again at the end.
        let fails = |items: &[Item], before: &State, how: How| {
            matches!(self.check(jits, items, before, how), Ok(Some(_)))
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
        let how = found.unwrap_or(how);
        let mismatch = self.check(jits, &items, &before, how)?;
        let mismatch = mismatch.unwrap_or_else(|| Mismatch {
            shape: how.shape.unwrap_or(0),
            lines: vec!["the difference does not show again".to_owned()],
        });
        Ok(self.failure(&items, &before, mismatch, how.max_block))
    }

    /// A difference with all that repeats it.
    pub fn failure(
        &self,
        items: &[Item],
        before: &State,
        mismatch: Mismatch,
        max_block: usize,
    ) -> Failure {
        let code = self.rows.bytes(items);
        Failure {
            shape: self.shapes[mismatch.shape].name(),
            max_block,
            checked: self.bench.is_checked(),
            mode: before.mode,
            exec: u64::from(before.sgpr[126]) | u64::from(before.sgpr[127]) << 32,
            m0: before.sgpr[124],
            descriptor: std::array::from_fn(|n| before.sgpr[prepared::BUFFER_S as usize + n]),
            fresh: before.fresh,
            state: before.clone(),
            zone: (!self.options.read_only).then(|| self.bench.zone()),
            text: texts(self.gfx, &code),
            code,
            differences: mismatch.lines,
        }
    }
}

/// Two engines that differ, by a small program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The shape of the translator, in words.
    pub shape: String,
    /// Instructions of a block at most.
    pub max_block: usize,
    /// Guest memory was in checked mode.
    pub checked: bool,
    /// MODE before the program.
    pub mode: u32,
    /// EXEC before the program.
    pub exec: u64,
    /// M0 before the program.
    pub m0: u32,
    /// The buffer descriptor in s32 to s35 before the program.
    pub descriptor: [u32; 4],
    /// The translator knew that v0 to v2 are the numbers of the work-item.
    pub fresh: bool,
    /// All of the state before the program.
    pub state: State,
    /// Guest addresses of the memory that it accesses; none if there is read-only memory as well.
    pub zone: Option<Range<u64>>,
    /// The program's disassembly, an instruction a line with its bytes, with the barrier and the
    /// invalid word behind it.
    pub text: String,
    /// The program in bytes.
    pub code: Vec<u8>,
    /// The differences in words: interpreter / translator.
    pub differences: Vec<String>,
}

/// Differences that a failure is shown with.
const SHOWN: usize = 6;

impl Failure {
    /// Shape, state, program and at most so many differences.
    pub fn show(&self, differences: usize) -> String {
        let lines = self.differences.iter().take(differences);
        let lines: String = lines.map(|line| format!("      {line}\n")).collect();
        let fresh = if self.fresh { ", fresh" } else { "" };
        let checked = if self.checked { ", checked mode" } else { "" };
        format!(
            "on {}, blocks of {}: mode {:08x} exec {:016x} m0 {:08x} s[32:35] {:08x?}{fresh}{checked}\n{}{lines}",
            self.shape, self.max_block, self.mode, self.exec, self.m0, self.descriptor, self.text,
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(SHOWN))
    }
}

/// A program that is being run: where that panics, it is kept.
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
            let block = self.how.max_block;
            let failure = self
                .checker
                .failure(self.items, self.before, mismatch, block);
            eprintln!("panicked {failure}");
            self.checker.panicked.replace(Some(failure));
        }
    }
}

/// May the translator hand an instruction to the interpreter? By its own account, or since it exchanges registers,
/// which may not be translated under GPR indexing.
pub fn may_fall_back(gfx: Gfx, inst: &Inst) -> bool {
    let how = support_of(inst, gfx);
    matches!(how, Support::Interp | Support::Refused) || inst.op() == Op::Swap
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
pub fn unequal(want: &Outcome, got: &Outcome, counting: bool) -> Vec<String> {
    if want.exit != got.exit {
        return vec![format!("exit: {:?} / {:?}", want.exit, got.exit)];
    }
    if want.exports != got.exports {
        return vec!["exports differ".to_owned()];
    }
    let handed = got.fallbacks.iter();
    let mut handed: Vec<String> = handed.map(|name| format!("falls back: {name}")).collect();
    handed.sort_unstable();
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

/// Simplifications of a state.
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
pub fn texts(gfx: Gfx, bytes: &[u8]) -> String {
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
