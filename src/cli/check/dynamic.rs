//! `wavelift check --dynamic`: what kernels of launch manifests do when they run.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use runtime::fault::{Access, FaultKind};
use runtime::foreign;
use wavelift::check::{Certainty, Rule, Severity};
use wavelift::sanitizer::{self, AccessKind, Benign, Side};
use wavelift::source::SourceMap;
use wavelift::{Device, DeviceOptions, Error, Kernel, Settings};

use super::suppress::Suppressions;
use super::{Actor, Args, Found, Place, Reported, Results, is_manifest, report};
use crate::cli::Status;
use crate::cli::input;
use crate::cli::options::{EngineChoice, RunOptions, seconds};
use crate::cli::output::{Output, complain};
use crate::cli::session::Session;

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
    let status = report(args, &results, suppressions, out)?;
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
        timeout: args.running.timeout,
        ..options.device(&args.running.engine)
    });
    let other = match args.running.shuffle {
        None => None,
        Some(seed) => {
            let device = DeviceOptions {
                threads: 1,
                ..device.clone()
            };
            let session = input
                .clone()
                .session(Device::with_options(device)?, &options)?;
            Some(Shuffled::new(session, seed))
        }
    };
    let device = DeviceOptions {
        sanitize: true,
        ..device
    };
    let session = input.session(Device::with_options(device)?, &options)?;
    let settings = session.device.settings();
    let mut other = other;
    for (number, planned) in session.dispatches.iter().enumerate() {
        let wanted = args.kernel.as_deref();
        let counts = wanted.is_none_or(|kernel| kernel == planned.kernel.name());
        for _ in 0..planned.repeat {
            let ended = session.launch(planned, &settings);
            let findings = session.device.findings();
            if counts {
                about.add(&session, &planned.kernel, findings);
            }
            let ended = ended.and_then(|_| match &mut other {
                Some(other) => other.launch(number, &session),
                None => Ok(None),
            });
            match ended {
                Ok(None) => {}
                Ok(Some(element)) => {
                    if counts {
                        about.add_order(&planned.kernel, &element, args.running.shuffle);
                    }
                    // What follows differs as well.
                    other = None;
                }
                Err(error) => {
                    complain(format_args!("fault: {error}"));
                    return Ok(true);
                }
            }
        }
        about.results.routines += 1;
    }
    Ok(false)
}

/// The manifest with another order of workgroups and waves.
struct Shuffled {
    session: Session,
    seed: u64,
}

impl Shuffled {
    fn new(session: Session, seed: u64) -> Shuffled {
        Shuffled { session, seed }
    }

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
        let map = kernel.module().source().ok();
        for found in findings {
            let what = what(session, &found);
            let severity = severity(&found);
            self.report(Reported {
                file: self.file.clone(),
                target: kernel.module().object().target.to_string(),
                routine: kernel.name().to_owned(),
                rule: rule(found.rule),
                severity,
                why: why(&found, what.as_deref()),
                at: place(kernel, map, &found.at),
                other: found.other.map(|other| place(kernel, map, &other)),
                found: Some(Found {
                    address: what.is_some().then_some(found.address),
                    what,
                    at: actor(&found.at),
                    other: found.other.as_ref().map(actor),
                    count: found.count,
                }),
            });
        }
    }

    /// Adds that a result depends on the order of workgroups and waves.
    fn add_order(&mut self, kernel: &Kernel, element: &str, seed: Option<u64>) {
        static RULE: Rule = Rule {
            id: "order-dependent",
            title: "results do not depend on the order of workgroups and waves",
            certainty: Certainty::B,
            source: "a run in another order",
        };
        let seed = seed.unwrap_or_default();
        let code = kernel.module().code();
        let pc = kernel.code().entry;
        let map = kernel.module().source().ok();
        let line = map.and_then(|map| map.location(code.local(pc)));
        self.report(Reported {
            file: self.file.clone(),
            target: kernel.module().object().target.to_string(),
            routine: kernel.name().to_owned(),
            rule: &RULE,
            severity: Severity::Finding,
            why: format!("{element} has another value if workgroups and waves run in the order of seed {seed}"),
            at: Place {
                address: code.local(pc),
                text: code.text_at(pc),
                line: line.map(|at| (at.file.to_owned(), at.line)),
            },
            other: None,
            found: None,
        });
    }

    /// Adds a finding, unless it is suppressed or a note that is not wanted.
    fn report(&mut self, found: Reported) {
        let (rule, address) = (found.rule.id, found.at.address);
        if self
            .suppressions
            .has(&self.file, &found.routine, rule, address)
        {
            self.results.suppressed += usize::from(found.severity == Severity::Finding);
        } else if found.severity == Severity::Note && !self.args.notes {
            self.results.notes += 1;
        } else {
            self.results.reported.push(found);
        }
    }
}

fn place(kernel: &Kernel, map: Option<&SourceMap>, side: &Side) -> Place {
    let code = kernel.module().code();
    let address = code.local(side.pc);
    let line = map.and_then(|map| map.location(address));
    Place {
        address,
        text: code.text_at(side.pc),
        line: line.map(|at| (at.file.to_owned(), at.line)),
    }
}

fn actor(side: &Side) -> Actor {
    Actor {
        workgroup: side.workgroup,
        wave: side.wave,
        lane: side.lane,
    }
}

fn severity(found: &sanitizer::Finding) -> Severity {
    use sanitizer::Rule::{
        BarrierDivergence, BarrierLanes, LanesCollide, MixedAtomic, OutOfBounds, OutOfLds,
        RaceGlobal, RaceLds, UnwrittenLds,
    };
    match found.rule {
        _ if found.benign.is_some() => Severity::Note,
        // Hardware does not wait for waves that have ended.
        BarrierDivergence if found.other.is_none() => Severity::Note,
        RaceLds | RaceGlobal | OutOfBounds | OutOfLds | BarrierDivergence => Severity::Finding,
        UnwrittenLds | BarrierLanes | LanesCollide | MixedAtomic => Severity::Note,
    }
}

/// What was accessed.
fn what(session: &Session, found: &sanitizer::Finding) -> Option<String> {
    use sanitizer::Rule::{OutOfBounds, OutOfLds, RaceGlobal, RaceLds, UnwrittenLds};
    match found.rule {
        RaceGlobal => Some(session.element_at(found.address).0),
        OutOfBounds => Some(format!("0x{:x}", found.address)),
        RaceLds | UnwrittenLds | OutOfLds => Some(format!("LDS at 0x{:x}", found.address)),
        _ => None,
    }
}

/// One sentence.
fn why(found: &sanitizer::Finding, what: Option<&str>) -> String {
    use sanitizer::Rule::{
        BarrierDivergence, BarrierLanes, LanesCollide, MixedAtomic, OutOfBounds, OutOfLds,
        RaceGlobal, RaceLds, UnwrittenLds,
    };
    let what = what.unwrap_or("memory");
    let verb = |side: &Side, done: bool| match (side.kind, done) {
        (Some(AccessKind::Read | AccessKind::CoherentRead), false) => "reads",
        (Some(AccessKind::Read | AccessKind::CoherentRead), true) => "has read",
        (Some(AccessKind::Write), false) => "writes",
        (Some(AccessKind::Write), true) => "has written",
        (Some(AccessKind::Atomic), false) => "changes",
        (Some(AccessKind::Atomic), true) => "has changed by an atomic",
        (None, _) => "arrives at",
    };
    let at = who(&found.at);
    let other = found.other.as_ref();
    match found.rule {
        RaceLds | RaceGlobal => {
            let by = other.map_or_else(String::new, |other| {
                let same = other.workgroup == found.at.workgroup;
                let by = match same {
                    true => format!("wave {}", other.wave),
                    false => who(other),
                };
                format!(", which {by} {}", verb(other, true))
            });
            let order = match (found.rule, found.benign) {
                (_, Some(Benign::SameValue)) => "both write the same value",
                (RaceLds, _) => "there is no barrier between",
                _ => "nothing orders the two",
            };
            format!("{at} {} {what}{by}; {order}", verb(&found.at, false))
        }
        UnwrittenLds => format!("{at} reads {what}, which its workgroup has not written"),
        OutOfBounds => {
            let access = match found.at.kind {
                Some(AccessKind::Write) => Access::Write,
                Some(AccessKind::Atomic) => Access::Atomic,
                _ => Access::Read,
            };
            let kind = FaultKind::Memory {
                access,
                address: found.address,
                bytes: found.bytes,
                nearest: found.nearest,
            };
            format!("{at} {kind}")
        }
        OutOfLds => format!(
            "{at} {} {what}, behind the workgroup's LDS",
            verb(&found.at, false)
        ),
        BarrierDivergence => match other {
            Some(other) => format!("{at} is at another barrier than wave {}", other.wave),
            None => format!("{at} is at a barrier, and other waves of the workgroup have ended"),
        },
        BarrierLanes => format!("{at} is at a barrier, which not all of its lanes have reached"),
        LanesCollide => format!("{at} stores different values of several lanes to {what}"),
        MixedAtomic => format!("{at}: lanes of an atomic change global memory and LDS"),
    }
}

fn who(side: &Side) -> String {
    let lane = side.lane.map(|lane| format!("lane {lane} of "));
    let [x, y, z] = side.workgroup;
    format!(
        "{}wave {} of workgroup ({x}, {y}, {z})",
        lane.unwrap_or_default(),
        side.wave
    )
}

/// The rule as the others are described.
fn rule(rule: sanitizer::Rule) -> &'static Rule {
    const MODEL: &str = "LLVM, User Guide for AMDGPU Backend, memory model; ISA manuals, S_BARRIER";
    macro_rules! rules {
        ($($name:ident: $id:literal, $certainty:ident, $title:literal, $source:expr;)*) => {
            match rule {
                $(sanitizer::Rule::$name => {
                    static RULE: Rule = Rule {
                        id: $id,
                        title: $title,
                        certainty: Certainty::$certainty,
                        source: $source,
                    };
                    &RULE
                })*
            }
        };
    }
    rules! {
        RaceLds: "race-lds", A, "waves of a workgroup access LDS in one interval between barriers, and one writes", MODEL;
        RaceGlobal: "race-global", A, "waves access global memory without an order, and one writes", MODEL;
        UnwrittenLds: "unwritten-lds", B, "LDS is read that the workgroup has not written", "OpenCL C, local memory";
        OutOfBounds: "out-of-bounds", A, "an access is outside of all allocations", "the manifest's buffers";
        OutOfLds: "out-of-lds", A, "an access is behind the workgroup's LDS", "the kernel descriptor";
        BarrierDivergence: "barrier-divergence", B, "all waves of a workgroup arrive at the same barriers", "OpenCL C, barrier";
        BarrierLanes: "barrier-lanes", C, "all lanes of a wave arrive at a barrier", "OpenCL C, barrier";
        LanesCollide: "lanes-collide", C, "lanes of a store write to different places", "ISA manuals, order of lanes";
        MixedAtomic: "mixed-atomic", C, "lanes of a FLAT atomic are all in one memory", "ISA manuals, FLAT";
    }
}
