//! `wavelift run --trace`: each instruction of a wave as text or JSON.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context as _;
use runtime::foreign::Foreign;
use serde::Serialize;
use wavelift::source::{Headings, SourceMap};
use wavelift::trace::{Event, Names, Next, Selection, Tracer};
use wavelift::{Error, Settings, Stats};

use super::sink::{Headed, RegisterReport, Sink, lines};
use crate::cli::frames::LineReport;
use crate::cli::output::Output;
use crate::cli::session::{Planned, Session};

/// What to trace, and how.
#[derive(clap::Args)]
pub(super) struct TraceOptions {
    /// Run on the interpreter and print each instruction that a wave executes, with the registers that
    /// it changes and its accesses to memory. WG is a number in the order of dispatch or x,y,z.
    /// Default: the first wave of the first dispatch
    #[arg(
        long,
        value_name = "KERNEL:WG:WAVE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with = "engine"
    )]
    pub(super) trace: Option<Wave>,
    /// Trace this number of instructions at most; the wave's others run without a trace
    #[arg(
        long,
        value_name = "N",
        requires = "trace",
        allow_negative_numbers = true
    )]
    trace_limit: Option<u64>,
    /// Print the trace as lines of JSON, one for each instruction, or write them to a file
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-",
        requires = "trace"
    )]
    trace_json: Option<PathBuf>,
}

/// A wave as one names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wave {
    /// `None`: that of the first dispatch.
    kernel: Option<String>,
    workgroup: Workgroup,
    wave: u32,
}

/// A workgroup as one names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workgroup {
    /// In the order of dispatch.
    Number(u64),
    Id([u32; 3]),
}

impl FromStr for Wave {
    type Err = String;

    fn from_str(text: &str) -> Result<Wave, String> {
        let mut parts = text.splitn(3, ':');
        let kernel = parts.next().unwrap_or("");
        let workgroup = parts.next().unwrap_or("0");
        let wave = parts.next().unwrap_or("0");
        let number = |text: &str| {
            let wrong =
                |_| format!("`{text}` is no number; write KERNEL:WG:WAVE, such as saxpy:0:1");
            text.parse::<u32>().map_err(wrong)
        };
        let ids = workgroup.split(',').map(number);
        let ids = ids.collect::<Result<Vec<u32>, String>>()?;
        Ok(Wave {
            kernel: (!kernel.is_empty()).then(|| kernel.to_owned()),
            workgroup: match ids[..] {
                [number] => Workgroup::Number(number.into()),
                [x, y] => Workgroup::Id([x, y, 0]),
                [x, y, z] => Workgroup::Id([x, y, z]),
                _ => {
                    return Err(format!(
                        "a workgroup has one to three numbers, not `{workgroup}`"
                    ));
                }
            },
            wave: number(wave)?,
        })
    }
}

/// The trace of a run.
pub(super) struct Trace {
    /// The device of the run.
    pub(super) tracer: Tracer,
    wave: Wave,
    limit: Option<u64>,
    /// `None` before it is found, and behind its launch.
    target: Option<Target>,
    sink: Sink,
}

/// The wave to trace in a session.
struct Target {
    /// Number of the dispatch.
    dispatch: usize,
    selection: Selection,
    names: Names,
}

impl TraceOptions {
    /// Does the trace alone print to standard output?
    pub(super) fn prints_json(&self) -> bool {
        self.trace_json.as_deref() == Some(Path::new("-"))
    }

    /// Does the trace print to standard output?
    pub(super) fn prints(&self) -> bool {
        self.trace.is_some() && (self.trace_json.is_none() || self.prints_json())
    }

    /// The trace on a device.
    pub(super) fn on(&self, device: wavelift::DeviceOptions) -> anyhow::Result<Option<Trace>> {
        let Some(wave) = &self.trace else {
            return Ok(None);
        };
        let sink = Sink::new(self.trace_json.as_deref())?;
        Ok(Some(Trace {
            tracer: Tracer::new(device)?,
            wave: wave.clone(),
            limit: self.trace_limit,
            target: None,
            sink,
        }))
    }
}

impl Trace {
    /// Finds the wave.
    pub(super) fn aim(&mut self, session: &Session) -> anyhow::Result<()> {
        let wanted = self.wave.kernel.as_deref();
        let mut kernels = session
            .dispatches
            .iter()
            .map(|planned| planned.kernel.name());
        let dispatch = kernels.position(|name| wanted.is_none_or(|wanted| wanted == name));
        let Some(dispatch) = dispatch else {
            let kernels = session
                .dispatches
                .iter()
                .map(|planned| planned.kernel.name());
            let mut known: Vec<_> = kernels.collect();
            known.dedup();
            anyhow::bail!(
                "--trace: no dispatch runs a kernel `{}`; those of the manifest run {}",
                Foreign(wanted.unwrap_or_default()),
                Foreign(&known.join(", "))
            );
        };
        let planned = &session.dispatches[dispatch];
        let selection = Selection {
            workgroup: match self.wave.workgroup {
                Workgroup::Id(id) => id,
                Workgroup::Number(number) => group_of(planned, number)?,
            },
            wave: self.wave.wave,
            limit: self.limit,
        };
        self.tracer
            .check(&planned.kernel, &planned.launch, &selection)
            .context("--trace")?;
        let mut names = Names::default();
        for planned in &session.dispatches {
            let code = planned.kernel.module().code();
            names.add(code.base(), code.image_len(), "code");
        }
        for (buffer, spec) in session.buffers.iter().zip(&session.manifest.buffers) {
            names.add(buffer.address(), buffer.len(), &spec.name);
        }
        self.target = Some(Target {
            dispatch,
            selection,
            names,
        });
        Ok(())
    }

    /// Launches a dispatch, and prints the trace if the wave is in it.
    pub(super) fn launch(
        &mut self,
        number: usize,
        planned: &Planned,
        settings: &Settings<'_>,
        out: &mut Output,
    ) -> anyhow::Result<Result<Stats, Error>> {
        let (kernel, launch, args) = (&planned.kernel, &planned.launch, &planned.args);
        let settings = planned.settings(settings);
        let Some(target) = self.target.take_if(|target| target.dispatch == number) else {
            let device = self.tracer.device();
            return Ok(device.launch_with(kernel, launch, args, &settings));
        };
        let mut written = Ok(());
        let sink = &mut self.sink;
        let map = lines(kernel);
        let mut headings = map.map(Headings::new);
        let each = |event: &Event| {
            let names = &target.names;
            let heading = headings.as_mut().and_then(|lines| lines.enter(event.pc));
            let json = || EventReport::new(event, names, map);
            written = sink.write(&Headed(heading, names.show(event)), json, out);
            match written.is_err() || out.closed() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let selection = target.selection;
        let result = self
            .tracer
            .launch(kernel, launch, args, &settings, selection, each);
        written.map(|()| result)
    }

    /// Puts a complete file in its place.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.sink.finish()
    }
}

/// The workgroup of that number in the order of dispatch.
fn group_of(planned: &Planned, number: u64) -> anyhow::Result<[u32; 3]> {
    let workgroup = planned.launch.workgroup(number)?;
    workgroup.with_context(|| {
        let (name, total) = (planned.kernel.name(), planned.workgroups);
        format!(
            "--trace: kernel {name} has no workgroup {number}: its launch has {total}, from 0 on"
        )
    })
}

/// An event as JSON.
#[derive(Serialize)]
struct EventReport<'a> {
    number: u64,
    pc: u64,
    symbol: Option<String>,
    #[serde(flatten)]
    place: LineReport<'a>,
    instruction: &'a str,
    exec: String,
    memory: Vec<AccessReport<'a>>,
    registers: Vec<RegisterReport<'a>>,
    next: &'static str,
    /// Of a jump.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<u64>,
    /// Of a fault: its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'static str>,
}

/// An access of a lane or of the scalar unit.
#[derive(Serialize)]
struct AccessReport<'a> {
    access: &'static str,
    space: &'static str,
    lane: Option<u32>,
    address: u64,
    allocation: Option<&'a str>,
    offset: Option<u64>,
    bytes: usize,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<String>,
}

impl<'a> EventReport<'a> {
    fn new(event: &'a Event, names: &'a Names, map: Option<&'a SourceMap>) -> EventReport<'a> {
        let memory = event.accesses.iter().map(|access| {
            let found = names.find(access);
            AccessReport {
                access: access.access.name(),
                space: access.space.name(),
                lane: access.lane,
                address: access.address,
                allocation: found.map(|(name, _)| name),
                offset: found.map(|(_, offset)| offset),
                bytes: access.value.len(),
                value: hex(&access.value),
                new: access.new.as_deref().map(hex),
            }
        });
        let (target, fault) = match &event.next {
            Next::Jump(target) => (Some(*target), None),
            Next::Fault { kind, .. } => (None, Some(kind.name())),
            Next::Continue | Next::Barrier | Next::Wait | Next::End => (None, None),
        };
        let symbol = event.symbol.as_ref();
        EventReport {
            number: event.number,
            pc: event.pc,
            symbol: symbol.map(|(name, offset)| format!("{name}+0x{offset:x}")),
            place: LineReport::new(map, event.pc),
            instruction: &event.instruction,
            exec: format!("0x{:016x}", event.exec),
            memory: memory.collect(),
            registers: event.registers.iter().map(RegisterReport::new).collect(),
            next: event.next.name(),
            target,
            fault,
        }
    }
}

/// Bytes as one hexadecimal number.
fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().rev().map(|byte| format!("{byte:02x}"));
    format!("0x{}", digits.collect::<String>())
}
