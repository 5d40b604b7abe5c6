//! `wavelift check --dynamic`: what kernels of launch manifests do when they run.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use runtime::foreign;
use wavelift::check::{Certainty, Rule, Severity};
use wavelift::sanitizer;
use wavelift::{Device, DeviceOptions, Error, Kernel, Settings};

use super::suppress::Suppressions;
use super::{Args, Found, Place, Reported, Results, describe, is_manifest};
use crate::cli::Status;
use crate::cli::input;
use crate::cli::options::{EngineChoice, RunOptions, seconds};
use crate::cli::output::{Output, complain};
use crate::cli::session::Session;

mod undefined;

use undefined::Suspicion;

/// How manifests are run.
#[derive(clap::Args)]
#[command(next_help_heading = "Options of --dynamic")]
pub(super) struct Options {
    #[command(flatten)]
    engine: EngineChoice,
    /// Seconds after which a dispatch is stopped [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// Also run workgroups and waves in another order, which depends on this number, and compare the buffers
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Always look for uses of undefined values, and without a limit; with --engine interp this is on by itself
    #[arg(long)]
    undefined: bool,
}

/// Runs the manifests of the command.
pub(super) fn execute(
    args: &Args,
    suppressions: &mut Suppressions,
    out: &mut Output,
) -> anyhow::Result<Status> {
    let mut results = Results::default();
    let mut faulted = false;
    for path in &args.files {
        if !is_manifest(path) {
            bail!(
                "{} is no launch manifest (.toml), which --dynamic runs; `wavelift run FILE --emit-manifest` makes one",
                foreign::path(path)
            );
        }
        faulted |= run(path, args, suppressions, &mut results)?;
    }
    let status = args.reporting.print(&results, suppressions, out)?;
    Ok(if faulted { Status::Fault } else { status })
}

/// Runs a manifest; was there a fault?
fn run(
    path: &Path,
    args: &Args,
    suppressions: &mut Suppressions,
    results: &mut Results,
) -> anyhow::Result<bool> {
    let options = RunOptions::default();
    let input = input::load(path, &options)?;
    let mut about = About {
        file: foreign::path(path).to_string(),
        args,
        suppressions,
        results,
    };
    let device = input.placed(DeviceOptions {
        threads: 1,
        timeout: args.running.timeout,
        ..options.device(&args.running.engine)
    });
    let session = |sanitize| {
        let device = DeviceOptions {
            sanitize,
            ..device.clone()
        };
        input
            .clone()
            .session(Device::with_options(device)?, &options)
    };
    let shuffled = |seed| -> anyhow::Result<Shuffled> {
        let session = session(false)?;
        Ok(Shuffled { session, seed })
    };
    let mut shuffled = args.running.shuffle.map(shuffled).transpose()?;
    let session = session(true)?;
    let settings = session.device.settings();
    let mut suspicion = Suspicion::new(&session, args.running.undefined);
    let mut faulted = false;
    'launches: for (number, planned) in session.dispatches.iter().enumerate() {
        let kernel = &planned.kernel;
        let counts = args.reporting.wants(kernel.name());
        for _ in 0..planned.repeat {
            let ended = session.launch(planned, &settings);
            let findings = session.device.findings();
            suspicion.add(&findings);
            if counts {
                about.add(&session, kernel, findings);
            }
            let compared = ended.and_then(|_| match &shuffled {
                Some(shuffled) => shuffled.launch(number, &session),
                None => Ok(None),
            });
            let element = match compared {
                Ok(element) => element,
                Err(error) => {
                    complain(format_args!("fault: {error}"));
                    faulted = true;
                    break 'launches;
                }
            };
            // What follows a difference differs as well.
            if let Some(element) = element
                && let Some(Shuffled { seed, .. }) = shuffled.take()
                && counts
            {
                about.add_order(kernel, &element, seed);
            }
        }
        about.results.routines += 1;
    }
    undefined::run(&input, &device, &suspicion, &mut about)?;
    Ok(faulted)
}

/// The manifest with another order of workgroups and waves.
struct Shuffled {
    session: Session,
    seed: u64,
}

impl Shuffled {
    /// Launches a dispatch; the first element of a buffer that differs then from the other session's.
    fn launch(&self, number: usize, other: &Session) -> Result<Option<String>, Error> {
        let settings = Settings {
            shuffle: Some(self.seed),
            ..self.session.device.settings()
        };
        self.session
            .launch(&self.session.dispatches[number], &settings)?;
        for (index, buffer) in other.buffers.iter().enumerate() {
            let [mine, others] = [self.session.read(index)?, other.read(index)?];
            let mut bytes = mine.bytes.iter().zip(&others.bytes);
            if let Some(at) = bytes.position(|(mine, other)| mine != other) {
                let (element, ..) = other.element_at(buffer.address() + at as u64);
                return Ok(Some(element));
            }
        }
        Ok(None)
    }
}

/// Where findings of a manifest go.
struct About<'a> {
    file: String,
    args: &'a Args,
    suppressions: &'a mut Suppressions,
    results: &'a mut Results,
}

impl About<'_> {
    /// Adds what a launch was found to do wrong.
    fn add(&mut self, session: &Session, kernel: &Kernel, findings: Vec<sanitizer::Finding>) {
        for found in findings {
            let what = describe::what(&found, |address| session.element_at(address).0);
            let run = Found::new(&found, what);
            let why = describe::why(&found, run.what.as_deref());
            let sides = (found.at.pc, found.other.map(|other| other.pc));
            self.report(kernel, describe::rule(&found), why, sides, Some(run));
        }
    }

    /// Adds that a result depends on the order of workgroups and waves.
    fn add_order(&mut self, kernel: &Kernel, element: &str, seed: u64) {
        static RULE: Rule = Rule {
            id: "order-dependent",
            title: "results do not depend on the order of workgroups and waves",
            certainty: Certainty::B,
            source: "a run in another order",
        };
        let why = format!(
            "{element} has another value if workgroups and waves run in the order of seed {seed}"
        );
        let rule = (&RULE, Severity::Finding);
        self.report(kernel, rule, why, (kernel.code().entry, None), None);
    }

    /// Adds a finding at one instruction, or at two, by guest address.
    fn report(
        &mut self,
        kernel: &Kernel,
        (rule, severity): (&'static Rule, Severity),
        why: String,
        (at, other): (u64, Option<u64>),
        found: Option<Found>,
    ) {
        let address = kernel.module().code().local(at);
        let place_of = (self.file.as_str(), kernel.name(), address);
        if !self.results.admits(
            &self.args.reporting,
            self.suppressions,
            (rule, severity),
            place_of,
        ) {
            return;
        }
        self.results.reported.push(Reported {
            file: self.file.clone(),
            target: kernel.module().object().target.to_string(),
            routine: kernel.name().to_owned(),
            rule,
            severity,
            why,
            at: place(kernel, at),
            other: other.map(|other| place(kernel, other)),
            found,
        });
    }
}

fn place(kernel: &Kernel, pc: u64) -> Place {
    let code = kernel.module().code();
    let address = code.local(pc);
    let map = kernel.module().source().ok();
    let line = map.and_then(|map| map.location(address));
    Place {
        address,
        text: code.text_at(pc),
        line: line.map(|at| (at.file.to_owned(), at.line)),
    }
}
