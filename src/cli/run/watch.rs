//! What is printed while a run goes on: a trace, or waves at breakpoints.

use wavelift::{Device, DeviceOptions, EngineKind, Error, Settings, Stats};

use super::Args;
use super::breaks::Breaks;
use super::trace::Trace;
use crate::cli::output::Output;
use crate::cli::session::{Planned, Session};

/// What is printed.
pub(super) enum Watch {
    Nothing(Device),
    Trace(Trace),
    Breaks(Breaks),
}

impl Watch {
    /// With a device for the run.
    pub(super) fn new(args: &Args, options: DeviceOptions) -> anyhow::Result<Watch> {
        if let Some(trace) = args.trace.on(options.clone())? {
            return Ok(Watch::Trace(trace));
        }
        if let Some(breaks) = args.breaks.on(options.clone())? {
            return Ok(Watch::Breaks(breaks));
        }
        Ok(Watch::Nothing(Device::with_options(options)?))
    }

    /// The device.
    pub(super) fn device(&self) -> &Device {
        match self {
            Watch::Nothing(device) => device,
            Watch::Trace(trace) => trace.tracer.device(),
            Watch::Breaks(breaks) => breaks.breaker.device(),
        }
    }

    /// The engine that runs most.
    pub(super) fn engine(&self) -> EngineKind {
        self.device().options().engine
    }

    /// Looks up what the options name, so that errors are reported before anything runs.
    pub(super) fn aim(&mut self, session: &Session) -> anyhow::Result<()> {
        match self {
            Watch::Nothing(_) => Ok(()),
            Watch::Trace(trace) => trace.aim(session),
            Watch::Breaks(breaks) => breaks.aim(session),
        }
    }

    /// Launches a dispatch, which has this number, once.
    pub(super) fn launch(
        &mut self,
        (number, planned): (usize, &Planned),
        session: &Session,
        settings: &Settings<'_>,
        out: &mut Output,
    ) -> anyhow::Result<Result<Stats, Error>> {
        match self {
            Watch::Nothing(_) => Ok(session.launch(planned, settings)),
            Watch::Trace(trace) => trace.launch(number, planned, settings, out),
            Watch::Breaks(breaks) => breaks.launch(planned, settings, out),
        }
    }

    /// Completes files.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self {
            Watch::Nothing(_) => Ok(()),
            Watch::Trace(trace) => trace.finish(),
            Watch::Breaks(breaks) => breaks.finish(),
        }
    }
}
