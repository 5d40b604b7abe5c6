//! `wavelift check --dynamic`: what kernels of launch manifests do when they run.

use std::path::Path;
use std::time::Duration;

use runtime::foreign;
use wavelift::check::Severity;
use wavelift::sanitizer::{self, Described, ORDER_DEPENDENT};
use wavelift::{Device, DeviceOptions, Error, Kernel, Settings};

use super::{Found, Reported, Results, Scope};
use crate::cli::input::Input;
use crate::cli::options::{EngineChoice, RunOptions, seconds};
use crate::cli::output::complain;
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
    let mut shuffled = shuffle.map(shuffled).transpose()?;
    let session = session(true)?;
    let mut about = About {
        file: foreign::path(path).to_string(),
        scope,
        results,
    };
    let settings = session.device.settings();
    let mut suspicion = Suspicion::new(&session, running.undefined);
    let mut faulted = false;
    'launches: for (number, planned) in session.dispatches.iter().enumerate() {
        let kernel = &planned.kernel;
        let counts = about.scope.reporting.wants(kernel.name());
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
        about.results.routines += usize::from(counts);
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
