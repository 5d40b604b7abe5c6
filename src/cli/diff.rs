//! `wavelift diff`: runs both engines from the same inputs and compares all memory. A difference is
//! narrowed to dispatch, workgroup, wave and instruction. With `--delayed` it compares the interpreter with
//! itself when results of loads arrive late.

use std::path::PathBuf;

use runtime::engine;
use wavelift::diff::{Comparison, Difference, Outcome, Search, SearchEnd, Verdict};
use wavelift::{DeviceOptions, EngineKind, Kernel, Settings};

use super::Status;
use super::input::{self, print_manifest};
use super::options::RunOptions;
use super::output::{Output, complain};
use super::progress::Progress;
use super::session::{Session, TimeLimit};

mod show;

use show::Show;

/// Runs both engines from the same inputs and compares all buffers bit for bit.
///
/// A difference is narrowed to the first dispatch, workgroup, wave and instruction that has it, and
/// the registers of both engines are printed. Where single instructions agree (the difference is in
/// how the translator combines them), the first stretch of code from one backward branch to the next
/// is named instead.
///
/// With --delayed the interpreter is compared with itself when results of loads arrive as late as the
/// kernel's waits allow: their registers hold poison until then. A difference is a missing wait, and
/// the load is named.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift diff examples/sha256/sha256.gfx803.toml
  wavelift diff examples/matmul/matmul.gfx900.toml --full-state
  wavelift diff examples/matmul/matmul.gfx900.toml --delayed

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
    /// Compare with the interpreter when results arrive as late as waits allow
    #[arg(long, conflicts_with_all = ["wrong"])]
    delayed: bool,
    /// Poison in registers whose results have not arrived follows from this number
    #[arg(long, value_name = "N", default_value_t = 0, requires = "delayed")]
    seed: u64,
    /// For tests: instead of the translator, an interpreter that computes this instruction wrong
    #[arg(long, hide = true, value_name = "NAME")]
    wrong: Option<String>,
    /// For tests: the wrong interpreter cannot run single instructions
    #[arg(long, hide = true, requires = "wrong")]
    wrong_in_stretches: bool,
}

impl Args {
    /// Names of the two engines in messages.
    fn names(&self) -> [&'static str; 2] {
        ["interp", if self.delayed { "delayed" } else { "jit" }]
    }
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    if args.options.kernel.emit_manifest {
        return print_manifest(&args.file, &args.options, out);
    }
    let input = input::load(&args.file, &args.options)?;
    let options = input.placed(DeviceOptions {
        engine_options: args.options.engine_options(true),
        threads: args.options.threads.unwrap_or(1),
        timeout: args.options.timeout,
        stack_bytes: args.options.stack,
        detect_deadlocks: true,
        ..DeviceOptions::default()
    });
    let comparison = match &args.wrong {
        Some(name) => {
            let reference = engine::create(EngineKind::Interp, &options.engine_options)?;
            let other = runtime::lockstep::wrong(name, !args.wrong_in_stretches);
            Comparison::with_engines(options, [reference, other])?
        }
        None if args.delayed => Comparison::delayed(options, args.seed)?,
        None => Comparison::new(options)?,
    };
    let mut session = input.session(comparison.device().clone(), &args.options)?;
    session.forget_inputs();
    Diff {
        session: &session,
        comparison: &comparison,
        args,
    }
    .run(out)
}

struct Diff<'a> {
    session: &'a Session,
    comparison: &'a Comparison,
    args: &'a Args,
}

impl Diff<'_> {
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
                let settings = planned.settings(&settings);
                let (kernel, launch, args) = (&planned.kernel, &planned.launch, &planned.args);
                match self.comparison.launch(kernel, launch, args, &settings)? {
                    Verdict::Same(Outcome::Ended) => {}
                    Verdict::Same(Outcome::Faulted(fault)) => {
                        drop(progress);
                        writeln!(out, "dispatch {number}: both engines end in the same fault")?;
                        out.flush()?;
                        complain(format_args!("fault: {fault}"));
                        return Ok(Status::Fault);
                    }
                    Verdict::Different(difference) => {
                        drop(progress);
                        let name = planned.kernel.name();
                        let launch = match planned.repeat {
                            1 => String::new(),
                            n => format!(", launch {} of {n}", round + 1),
                        };
                        writeln!(out, "DIFFERENT: dispatch {number}, kernel {name}{launch}")?;
                        self.narrow(&planned.kernel, &difference, out)?;
                        return Ok(Status::Mismatch);
                    }
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
        let agree = match self.args.delayed {
            true => "late results change nothing in",
            false => "the engines agree on",
        };
        writeln!(out, "{agree} {buffers} buffers and all other memory")?;
        Ok(Status::Success)
    }

    /// Finds and prints the point where the engines diverge.
    fn narrow(
        &self,
        kernel: &Kernel,
        difference: &Difference<'_>,
        out: &mut Output,
    ) -> anyhow::Result<()> {
        let show = Show {
            session: self.session,
            names: self.args.names(),
        };
        show.results(difference, out)?;
        let Some(workgroup) = difference.first_workgroup()? else {
            writeln!(
                out,
                "the difference does not show again: the result depends on time or on the order of threads"
            )?;
            return Ok(());
        };
        let [x, y, z] = workgroup.id;
        writeln!(out, "first different workgroup: ({x}, {y}, {z})")?;
        out.flush()?;
        let narrowed = difference.narrow(&workgroup, self.args.step_limit)?;
        self.explain(&narrowed.instructions, out)?;
        match (narrowed.divergence(), &narrowed.stretches) {
            (Some(divergence), _) => show.divergence(kernel, divergence, self.args.full_state, out),
            (None, Some(Search { steps, .. })) => {
                writeln!(
                    out,
                    "all {steps} stretches between backward branches agree as well: the difference \
                     needs longer ones"
                )?;
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    /// Prints why the search by instructions has found nothing, if so.
    fn explain(&self, search: &Search, out: &mut Output) -> anyhow::Result<()> {
        match &search.end {
            SearchEnd::Divergence(_) => {}
            SearchEnd::Limit => {
                let limit = self.args.step_limit;
                writeln!(
                    out,
                    "no difference in the first {limit} instructions; raise --step-limit"
                )?;
            }
            SearchEnd::CannotStep => writeln!(
                out,
                "one of the engines cannot run single instructions; comparing stretches"
            )?,
            SearchEnd::Same => {
                let count = search.steps;
                let why = match self.args.delayed {
                    true => "the result depends on time or on other workgroups",
                    false => "the difference is in how instructions are combined",
                };
                writeln!(
                    out,
                    "run one by one, all {count} instructions of the workgroup agree: {why}"
                )?;
            }
        }
        Ok(())
    }
}
