//! `wavelift diff`: runs both engines from the same inputs and compares all memory. A difference is
//! narrowed to dispatch, workgroup, wave and instruction.

use std::path::PathBuf;
use std::sync::Arc;

use runtime::engine;
use runtime::lockstep::{Change, Mode, Pair, Parting, Record, Snapshot};
use wavelift::{Device, DeviceOptions, EngineKind, Error, Fault, Settings};

use super::Status;
use super::input::{self, print_manifest};
use super::options::RunOptions;
use super::output::{Output, complain};
use super::progress::Progress;
use super::session::{Planned, Session, TimeLimit};

mod show;

/// Runs both engines from the same inputs and compares all buffers bit for bit.
///
/// A difference is narrowed to the first dispatch, workgroup, wave and instruction that has it, and
/// the registers of both engines are printed. Where single instructions agree (the difference is in
/// how the translator combines them), the first stretch of code from one backward branch to the next
/// is named instead.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift diff examples/sha256/sha256.gfx803.toml
  wavelift diff examples/matmul/matmul.gfx900.toml --full-state

The engines run on one thread unless --threads says otherwise, so that guests whose result depends
on the order of their atomics have only one.

Exit status: 0 the engines agree; 1 they do not; 2 bad usage or bad input, nothing ran; 3 the guest
faulted, on both engines alike.")]
pub(super) struct Args {
    /// A launch manifest; or a code object (.co), OpenCL C source (.cl) or HIP source (.hip), with --grid and --arg
    file: PathBuf,
    #[command(flatten)]
    options: RunOptions,
    /// Print all registers at a difference, not only those that differ or are involved
    #[arg(long)]
    full_state: bool,
    /// Most instructions to run side by side in the search for a difference
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000_000,
        allow_negative_numbers = true
    )]
    step_limit: u64,
    /// For tests: instead of the translator, an interpreter that computes this instruction wrong
    #[arg(long, hide = true, value_name = "NAME")]
    wrong: Option<String>,
    /// For tests: the wrong interpreter cannot run single instructions
    #[arg(long, hide = true, requires = "wrong")]
    wrong_in_stretches: bool,
}

/// Names of the two engines in messages.
const NAMES: [&str; 2] = ["interp", "jit"];

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    if args.options.kernel.emit_manifest {
        return print_manifest(&args.file, &args.options, out);
    }
    let input = input::load(&args.file, &args.options)?;
    let engine_options = args.options.engine_options(true);
    let reference = engine::create(EngineKind::Interp, &engine_options)?;
    let other = match &args.wrong {
        Some(name) => runtime::lockstep::wrong(name, !args.wrong_in_stretches),
        None => engine::create(EngineKind::Jit, &engine_options)?,
    };
    let pair = Pair::new(reference, other);
    let options = DeviceOptions {
        engine_options,
        threads: args.options.threads.unwrap_or(1),
        timeout: args.options.timeout,
        stack_bytes: args.options.stack,
        detect_deadlocks: true,
        ..DeviceOptions::default()
    };
    let device = Device::with_engine(options, Box::new(pair.clone()))?;
    let mut session = input.session(device, &args.options)?;
    session.forget_inputs();
    let comparison = Comparison {
        session: &session,
        pair,
        args,
    };
    comparison.run(out)
}

/// Result of a launch.
#[derive(Clone, PartialEq)]
enum Fate {
    Ended,
    Faulted(Box<Fault>),
}

/// One engine's result of a launch.
struct Run {
    fate: Fate,
    /// Memory that the launch changed.
    changes: Vec<Change>,
}

impl Run {
    /// Are the results the same? Memory left by a faulting launch is not compared.
    fn agrees(&self, other: &Run) -> bool {
        self.fate == other.fate
            && (matches!(self.fate, Fate::Faulted(_)) || self.changes == other.changes)
    }
}

struct Comparison<'a> {
    session: &'a Session,
    pair: Arc<Pair>,
    args: &'a Args,
}

impl Comparison<'_> {
    fn run(&self, out: &mut Output) -> anyhow::Result<Status> {
        let groups = self.session.dispatches.iter();
        let groups = groups.map(|planned| planned.workgroups.saturating_mul(planned.repeat));
        let total = groups.fold(0, u64::saturating_add).saturating_mul(2);
        let progress = Progress::new(total, "workgroups");
        let limit = TimeLimit::new(self.session.device.options().timeout);
        for (number, planned) in self.session.dispatches.iter().enumerate() {
            for round in 0..planned.repeat {
                let settings = Settings {
                    timeout: limit.left(planned)?,
                    progress: Some(progress.counter()),
                    ..self.session.device.settings()
                };
                let before = Snapshot::take(&self.session.device.memory())?;
                let (reference, other) = self.both(&before, planned, &settings)?;
                if !reference.agrees(&other) {
                    drop(progress);
                    self.narrow(&before, number, round, (&reference, &other), out)?;
                    return Ok(Status::Mismatch);
                }
                if let Fate::Faulted(fault) = &other.fate {
                    drop(progress);
                    writeln!(out, "dispatch {number}: both engines end in the same fault")?;
                    out.flush()?;
                    complain(format_args!("fault: {fault}"));
                    return Ok(Status::Fault);
                }
            }
            let (name, count) = (planned.kernel.name(), planned.workgroups);
            let rounds = match planned.repeat {
                1 => String::new(),
                n => format!(", {n} times"),
            };
            writeln!(
                out,
                "dispatch {number}: {name}, {count} workgroups{rounds}: the same"
            )?;
        }
        let buffers = self.session.buffers.len();
        writeln!(
            out,
            "the engines agree on {buffers} buffers and all other memory"
        )?;
        Ok(Status::Success)
    }

    fn launch(&self, planned: &Planned, settings: &Settings<'_>) -> Result<Fate, Error> {
        match self.session.launch(planned, settings) {
            Ok(_) => Ok(Fate::Ended),
            Err(Error::Fault(fault)) => Ok(Fate::Faulted(fault)),
            Err(error) => Err(error),
        }
    }

    /// Runs a launch on one engine, leaving its memory.
    fn one(
        &self,
        mode: Mode,
        before: &Snapshot,
        planned: &Planned,
        settings: &Settings<'_>,
    ) -> anyhow::Result<Run> {
        self.pair.set_mode(mode, u64::MAX);
        let fate = self.launch(planned, settings)?;
        let changes = before.changes(&self.session.device.memory())?;
        Ok(Run { fate, changes })
    }

    /// Runs a launch on both engines from the same memory, leaving that of the second.
    fn both(
        &self,
        before: &Snapshot,
        planned: &Planned,
        settings: &Settings<'_>,
    ) -> anyhow::Result<(Run, Run)> {
        let memory = self.session.device.memory();
        let reference = self.one(Mode::Reference, before, planned, settings)?;
        before.restore(&memory)?;
        let other = self.one(Mode::Other, before, planned, settings)?;
        Ok((reference, other))
    }

    /// Finds and prints the point where the engines diverge.
    fn narrow(
        &self,
        before: &Snapshot,
        number: usize,
        round: u64,
        results: (&Run, &Run),
        out: &mut Output,
    ) -> anyhow::Result<()> {
        let planned = &self.session.dispatches[number];
        let name = planned.kernel.name();
        let launch = match planned.repeat {
            1 => String::new(),
            n => format!(", launch {} of {n}", round + 1),
        };
        writeln!(out, "DIFFERENT: dispatch {number}, kernel {name}{launch}")?;
        show::results(self.session, results.0, results.1, out)?;
        let Some(group) = self.first_group(before, planned)? else {
            writeln!(
                out,
                "the difference does not show again: the result depends on time or on the order of threads"
            )?;
            return Ok(());
        };
        let id = group_id(planned, group);
        writeln!(
            out,
            "first different workgroup: ({}, {}, {})",
            id[0], id[1], id[2]
        )?;
        out.flush()?;
        let (steps, parting) = self.part(before, planned, group, Mode::Instructions)?;
        if let Some(parting) = parting {
            return show::parting(self.session, planned, &parting, self.args.full_state, out);
        }
        if steps.exhausted {
            let limit = self.args.step_limit;
            writeln!(
                out,
                "no difference in the first {limit} instructions; raise --step-limit"
            )?;
        } else if steps.cannot_step {
            writeln!(
                out,
                "one of the engines cannot run single instructions; comparing stretches"
            )?;
        } else {
            let count = steps.steps;
            writeln!(
                out,
                "run one by one, all {count} instructions of the workgroup agree: the difference is in \
                 how instructions are combined"
            )?;
        }
        let (stretches, parting) = self.part(before, planned, group, Mode::Stretches)?;
        match parting {
            Some(parting) => {
                show::parting(self.session, planned, &parting, self.args.full_state, out)
            }
            None => {
                let count = stretches.steps;
                writeln!(
                    out,
                    "all {count} stretches between backward branches agree as well: the difference \
                     needs longer ones"
                )?;
                Ok(())
            }
        }
    }

    /// Number of the first workgroup with a difference: the smallest `n` such that the first `n + 1`
    /// workgroups differ, found by halving.
    fn first_group(&self, before: &Snapshot, planned: &Planned) -> anyhow::Result<Option<u64>> {
        let (mut same, mut different) = (0, planned.workgroups);
        if !self.differ(before, planned, different)? {
            return Ok(None);
        }
        while different - same > 1 {
            let middle = same + (different - same) / 2;
            if self.differ(before, planned, middle)? {
                different = middle;
            } else {
                same = middle;
            }
        }
        Ok(Some(same))
    }

    /// Do the engines differ about the first `count` workgroups?
    fn differ(&self, before: &Snapshot, planned: &Planned, count: u64) -> anyhow::Result<bool> {
        let settings = Settings {
            only: Some(0..count),
            ..self.session.device.settings()
        };
        before.restore(&self.session.device.memory())?;
        let (reference, other) = self.both(before, planned, &settings)?;
        Ok(!reference.agrees(&other))
    }

    /// Runs one workgroup on both engines side by side, after the reference has run those before it.
    fn part(
        &self,
        before: &Snapshot,
        planned: &Planned,
        group: u64,
        mode: Mode,
    ) -> anyhow::Result<(Record, Option<Box<Parting>>)> {
        before.restore(&self.session.device.memory())?;
        let settings = Settings {
            only: Some(0..group),
            ..self.session.device.settings()
        };
        if group > 0 {
            self.one(Mode::Reference, before, planned, &settings)?;
        }
        self.pair.set_mode(mode, self.args.step_limit);
        let settings = Settings {
            threads: 1,
            only: Some(group..group + 1),
            ..settings
        };
        // Its fate is in the record.
        self.launch(planned, &settings)?;
        let mut record = self.pair.record();
        if let Some(error) = record.memory_error.take() {
            return Err(error.into());
        }
        let parting = record.parting.take();
        Ok((record, parting))
    }
}

/// The workgroup of that number in the order of dispatch.
fn group_id(planned: &Planned, number: u64) -> [u64; 3] {
    let [x, y, _] = planned.groups;
    [number % x, number / x % y, number / x / y]
}
