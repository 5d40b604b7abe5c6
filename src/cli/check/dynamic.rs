//! `wavelift check --dynamic`: what kernels of launch manifests do when they run.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use runtime::foreign;
use runtime::lockstep::Snapshot;
use wavelift::check::Severity;
use wavelift::sanitizer::{self, Described, ORDER_DEPENDENT, Sanitizer};
use wavelift::{Buffer, Device, DeviceOptions, EngineKind, Error, Kernel, Settings, Stats};

use super::{Found, Reported, Results, Scope};
use crate::cli::input::Input;
use crate::cli::options::{EngineChoice, RunOptions, seconds};
use crate::cli::output::complain;
use crate::cli::session::{Planned, Session};

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
    /// Repeat each launch with workgroups and waves in another order, which depends on this number, and compare the buffers
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Always look for uses of undefined values, and without a limit; with --engine interp this is on by itself
    #[arg(long)]
    undefined: bool,
}

/// Runs a manifest; was there a fault?
pub(super) fn run(
    path: &Path,
    input: Input,
    running: &Options,
    scope: &mut Scope<'_>,
    results: &mut Results,
) -> anyhow::Result<bool> {
    let options = RunOptions::default();
    let shuffle = running.shuffle.or(input.manifest.check.shuffle);
    let device = input.placed(DeviceOptions {
        threads: 1,
        timeout: running.timeout,
        ..options.device(&running.engine)
    });
    let sanitized = DeviceOptions {
        sanitize: true,
        ..device.clone()
    };
    let session = input
        .clone()
        .session(Device::with_options(sanitized)?, &options)?;
    if let Some(sanitizer) = session.device.memory().sanitizer() {
        sanitizer.examine_barriers(scope.notes);
    }
    let mut about = About {
        file: foreign::path(path).to_string(),
        scope,
        results,
    };
    let settings = session.device.settings();
    let mut suspicion = Suspicion::new(&session, running.undefined);
    let mut faulted = false;
    // Kernels whose results depend on the order.
    let mut dependent = HashSet::new();
    'launches: for planned in &session.dispatches {
        let kernel = &planned.kernel;
        let counts = about.scope.reporting.wants(kernel.name());
        for _ in 0..planned.repeat {
            let seed = shuffle.filter(|_| counts && !dependent.contains(kernel.name()));
            let translated = session.device.options().engine != EngineKind::Interp;
            let before = (translated || seed.is_some() || about.scope.notes)
                .then(|| Snapshot::take(&session.device.memory()))
                .transpose()?;
            let assumed_from = before.as_ref().filter(|_| translated);
            let (ended, mut findings) = checked(&session, planned, &settings, assumed_from)?;
            if let Some(before) = before.as_ref().filter(|_| counts && ended.is_ok()) {
                let repeat = || session.launch(planned, &settings);
                findings.extend(sanitizer::redundant_behind_flags(
                    &session.device,
                    before,
                    repeat,
                )?);
            }
            suspicion.add(&findings);
            if counts {
                about.add(&session, kernel, findings);
            }
            let compared = ended.and_then(|_| match seed.zip(before) {
                Some((seed, before)) => reordered(&session, planned, seed, &before),
                None => Ok(None),
            });
            match compared {
                Ok(None) => {}
                Ok(Some((element, seed))) => {
                    dependent.insert(kernel.name().to_owned());
                    about.add_order(kernel, &element, seed);
                }
                Err(error) => {
                    complain(format_args!("fault: {error}"));
                    faulted = true;
                    break 'launches;
                }
            }
        }
        about.results.routines += usize::from(counts);
    }
    // Its guest memory may have a place that the next one needs.
    drop(session);
    undefined::run(&input, &device, &suspicion, &mut about)?;
    Ok(faulted)
}

/// The attempt of a launch in which the sanitizer makes no assumptions, since those of the attempts before have failed.
const ATTEMPTS: usize = 4;

/// Runs a launch: how it ended, and what was found. With a snapshot of memory before it the sanitizer may assume that loads have no
/// conflicts, and the launch is repeated from there if an assumption fails.
fn checked(
    session: &Session,
    planned: &Planned,
    settings: &Settings,
    before: Option<&Snapshot>,
) -> Result<(Result<Stats, Error>, Vec<sanitizer::Finding>), Error> {
    let device = &session.device;
    let mut attempts = 1;
    loop {
        if let Some(sanitizer) = device.memory().sanitizer()
            && (attempts == 1 || attempts == ATTEMPTS)
        {
            sanitizer.assume(before.is_some() && attempts < ATTEMPTS);
        }
        let ended = session.launch(planned, settings);
        let findings = device.findings();
        let is_void = device
            .memory()
            .sanitizer()
            .is_some_and(Sanitizer::take_void);
        match before.filter(|_| is_void) {
            Some(before) => before.restore(&device.memory())?,
            None => return Ok((ended, findings)),
        }
        attempts += 1;
    }
}

/// Repeats a launch from the same memory with workgroups and waves in another order: the first element of a buffer that differs then, and
/// the seed. Memory is afterwards as the launch left it.
fn reordered(
    session: &Session,
    planned: &Planned,
    seed: u64,
    before: &Snapshot,
) -> Result<Option<(String, u64)>, Error> {
    let device = &session.device;
    let after = Snapshot::take(&device.memory())?;
    before.restore(&device.memory())?;
    let settings = Settings {
        shuffle: Some(seed),
        ..device.settings()
    };
    session.launch(planned, &settings)?;
    // Accesses were compared in the ordinary order, by what orders them and not by when they were made.
    let _ = device.findings();
    let changes = after.undo(&device.memory())?;
    let element = |buffer: &Buffer| {
        let range = buffer.address()..buffer.address() + buffer.len();
        let mut changed = changes.iter().map(|change| change.address);
        let at = changed.find(|at| range.contains(at))?;
        Some((session.element_at(at).0, seed))
    };
    Ok(session.buffers.iter().find_map(element))
}

/// Where findings of a manifest go.
struct About<'a, 'scope> {
    file: String,
    scope: &'a mut Scope<'scope>,
    results: &'a mut Results,
}

impl About<'_, '_> {
    /// Adds what a launch was found to do wrong.
    fn add(&mut self, session: &Session, kernel: &Kernel, findings: Vec<sanitizer::Finding>) {
        for found in findings {
            let name = |address| session.element_at(address).0;
            let described = Described::new(&found, kernel, name);
            let run = Found::new(&found, described.what.clone());
            self.report(kernel, described, Some(run));
        }
    }

    /// Adds that a result depends on the order of workgroups and waves.
    fn add_order(&mut self, kernel: &Kernel, element: &str, seed: u64) {
        let why = format!(
            "{element} has another value if workgroups and waves run in the order of seed {seed}"
        );
        let described = Described {
            rule: &ORDER_DEPENDENT,
            severity: Severity::Finding,
            what: None,
            why,
            at: sanitizer::place(kernel, kernel.code().entry),
            other: None,
        };
        self.report(kernel, described, None);
    }

    /// Adds something found in a launch of a kernel.
    fn report(&mut self, kernel: &Kernel, described: Described, found: Option<Found>) {
        let Described {
            rule,
            severity,
            why,
            at,
            other,
            ..
        } = described;
        let place_of = (self.file.as_str(), kernel.name(), at.address);
        let is_admitted = self.results.admits(self.scope, (rule, severity), place_of);
        if !is_admitted {
            return;
        }
        self.results.reported.push(Reported {
            file: self.file.clone(),
            target: kernel.module().object().target.to_string(),
            routine: kernel.name().to_owned(),
            rule,
            severity,
            why,
            at,
            other,
            found,
        });
    }
}
