//! Undefined values that reach an address, a branch or an output: the manifest runs once more, on the interpreter that
//! tracks them.

use std::collections::HashMap;
use std::sync::Arc;

use runtime::dispatch::KernelCode;
use runtime::undefined::{Finding, Origin, Rule as Reached, Source, Tracker};
use wavelift::check::{Severity, routines};
use wavelift::sanitizer::{self, Described};
use wavelift::{Device, DeviceOptions, EngineKind, Kernel};

use super::About;
use crate::cli::check::{Found, Unchecked};
use crate::cli::input::Input;
use crate::cli::options::RunOptions;
use crate::cli::session::Session;

/// Instructions of waves that are tracked after a run of the translator: a second or less.
const LIMIT: u64 = 100_000;

/// Should a manifest run on the tracking interpreter?
pub(super) enum Suspicion {
    /// Nothing says so.
    None,
    /// Something is suspicious, so for [`LIMIT`] instructions.
    Raised,
    /// By an option, without a limit.
    Requested,
}

impl Suspicion {
    /// Before the manifest runs: it is `requested` or the interpreter is, a buffer is declared undefined, or a kernel uses scratch
    /// or may read a register that nobody wrote.
    pub(super) fn new(session: &Session, requested: bool) -> Suspicion {
        if requested || session.device.options().engine == EngineKind::Interp {
            return Suspicion::Requested;
        }
        let declared = session.manifest.buffers.iter().any(|spec| spec.undefined);
        let kernels = session.dispatches.iter().map(|planned| &planned.kernel);
        // A kernel of many dispatches is examined once.
        let code = |kernel: &Kernel| (kernel.module().code().id(), kernel.name().to_owned());
        let kernels: HashMap<_, _> = kernels.map(|kernel| (code(kernel), kernel)).collect();
        match declared || kernels.into_values().any(may_read_unwritten) {
            true => Suspicion::Raised,
            false => Suspicion::None,
        }
    }

    /// A launch has ended with these findings.
    pub(super) fn add(&mut self, findings: &[sanitizer::Finding]) {
        let mut rules = findings.iter().map(|found| found.rule);
        if let Suspicion::None = self
            && rules.any(|rule| rule == sanitizer::Rule::UnwrittenLds)
        {
            *self = Suspicion::Raised;
        }
    }
}

fn may_read_unwritten(kernel: &Kernel) -> bool {
    let KernelCode { descriptor, .. } = kernel.code();
    let all = routines(kernel.module().object());
    let own = all.into_iter().find(|named| named.name == kernel.name());
    descriptor.private_segment_fixed_size != 0
        || descriptor.uses_dynamic_stack()
        || own.is_some_and(|named| named.may_read_unwritten())
}

/// Runs the manifest, if there is a suspicion, and adds what it finds.
pub(super) fn run(
    input: &Input,
    device: &DeviceOptions,
    suspicion: &Suspicion,
    about: &mut About<'_, '_>,
) -> anyhow::Result<()> {
    let tracker = Arc::new(match suspicion {
        Suspicion::None => return Ok(()),
        Suspicion::Raised => Tracker::with_limit(LIMIT),
        Suspicion::Requested => Tracker::default(),
    });
    let device = DeviceOptions {
        engine: EngineKind::Interp,
        ..device.clone()
    };
    let device = Device::with_engine(device, Box::new(tracker.clone()))?;
    let session = input.clone().session(device, &RunOptions::default())?;
    for (buffer, spec) in session.buffers.iter().zip(&session.manifest.buffers) {
        if spec.undefined {
            let start = buffer.address();
            tracker.declare(start..start + buffer.len());
        }
    }
    let settings = session.device.settings();
    for planned in &session.dispatches {
        for _ in 0..planned.repeat {
            let ended = session.launch(planned, &settings);
            let (findings, whole) = tracker.take();
            if about.scope.reporting.wants(planned.kernel.name()) {
                for found in &findings {
                    add(about, &session, &planned.kernel, found);
                }
            }
            if !whole {
                about.results.unchecked.push(Unchecked {
                    file: about.file.clone(),
                    routine: Some(planned.kernel.name().to_owned()),
                    why: format!(
                        "undefined values were tracked for {LIMIT} instructions only; --undefined has no limit"
                    ),
                });
                return Ok(());
            }
            // The ordinary run has reported a fault.
            if ended.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn add(about: &mut About<'_, '_>, session: &Session, kernel: &Kernel, found: &Finding) {
    let what = found.address.map(|address| session.element_at(address).0);
    let reaches = match (found.rule, &what) {
        (Reached::Address, _) => "uses an undefined address".to_owned(),
        (Reached::Branch, _) => "branches on an undefined condition".to_owned(),
        (Reached::Output, Some(what)) if found.certain => {
            format!("stores an undefined value to {what}")
        }
        (Reached::Output, Some(what)) => {
            format!("copies a value to {what} that is undefined in part")
        }
        (Reached::Output, None) => "exports an undefined value".to_owned(),
    };
    let origin = found.origin.map_or_else(String::new, |origin| {
        format!("; {}", origin_of(session, kernel, origin))
    });
    let why = format!("{} {reaches}{origin}", sanitizer::who(&found.at));
    let run = Found {
        address: found.address,
        allocation: None,
        at: found.at,
        other: None,
        count: found.count,
        what,
        launch: None,
    };
    let read = found.origin.and_then(|origin| origin.read);
    let described = Described {
        rule: sanitizer::undefined(found.rule),
        severity: match found.certain {
            true => Severity::Finding,
            false => Severity::Note,
        },
        what: None,
        why,
        at: sanitizer::place(kernel, found.at.pc),
        other: read.map(|pc| sanitizer::place(kernel, pc)),
    };
    about.report(kernel, described, Some(run));
}

/// Who should have written the value.
fn origin_of(session: &Session, kernel: &Kernel, origin: Origin) -> String {
    match origin.source {
        Source::Register(reg) => {
            let name = frontend::registers::name(reg, kernel.module().gfx());
            format!("the wave has not written {name}")
        }
        Source::Lds(offset) => format!("the workgroup has not written LDS at 0x{offset:x}"),
        Source::Scratch(offset) => format!("the lane has not written its scratch at 0x{offset:x}"),
        Source::Memory(address) => {
            format!("nobody has written {}", session.element_at(address).0)
        }
    }
}
