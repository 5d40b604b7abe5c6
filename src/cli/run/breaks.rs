//! `wavelift run --break`: the registers of waves that arrive at a place, as text or JSON.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;
use wavelift::breaks::{Breaker, Hit, Place};
use wavelift::source::{Headings, SourceMap};
use wavelift::trace::{RegisterChange, Registers};
use wavelift::{DeviceOptions, Error, Settings, Stats};

use super::sink::{Headed, RegisterReport, Sink, lines};
use crate::cli::frames::LineReport;
use crate::cli::output::{Output, complain};
use crate::cli::session::{Planned, Session};

/// Breakpoints, and how their hits are printed.
#[derive(clap::Args)]
pub(super) struct BreakOptions {
    /// Print the registers of each wave that arrives at this place in the code: an address in the code
    /// object (0x1a88), a function (saxpy or saxpy+0x10), or a line where the code object has line
    /// numbers (saxpy.cl:12). The rest of the code runs translated
    #[arg(long = "break", value_name = "PLACE", conflicts_with = "trace")]
    places: Vec<Place>,
    /// Print this number of hits at most; the run goes on without printing
    #[arg(
        long,
        value_name = "N",
        default_value_t = 16,
        requires = "places",
        allow_negative_numbers = true
    )]
    break_limit: u64,
    /// Print hits as lines of JSON, or write them to a file
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-",
        requires = "places"
    )]
    break_json: Option<PathBuf>,
}

/// The breakpoints of a run.
pub(super) struct Breaks {
    /// The device of the run.
    pub(super) breaker: Breaker,
    places: Vec<Place>,
    /// Hits that are still printed.
    left: u64,
    sink: Sink,
}

impl BreakOptions {
    /// Are there breakpoints?
    pub(super) fn any(&self) -> bool {
        !self.places.is_empty()
    }

    /// Do hits alone print to standard output?
    pub(super) fn prints_json(&self) -> bool {
        self.break_json.as_deref() == Some(Path::new("-"))
    }

    /// Do hits print to standard output?
    pub(super) fn prints(&self) -> bool {
        self.any() && (self.break_json.is_none() || self.prints_json())
    }

    /// The breakpoints on a device.
    pub(super) fn on(&self, device: DeviceOptions) -> anyhow::Result<Option<Breaks>> {
        if !self.any() {
            return Ok(None);
        }
        if device.engine_options.cache.is_some() {
            complain(format_args!(
                "warning: with --break translated code is neither read from --cache nor kept there"
            ));
        }
        Ok(Some(Breaks {
            sink: Sink::new(self.break_json.as_deref())?,
            breaker: Breaker::new(device)?,
            places: self.places.clone(),
            left: self.break_limit,
        }))
    }
}

impl Breaks {
    /// Looks the places up in the code objects of the dispatches.
    pub(super) fn aim(&mut self, session: &Session) -> anyhow::Result<()> {
        for place in &self.places {
            let mut found = false;
            let mut error = None;
            for planned in &session.dispatches {
                match place.addresses(planned.kernel.module()) {
                    Ok(addresses) => {
                        found = true;
                        addresses
                            .into_iter()
                            .for_each(|address| self.breaker.add(address));
                    }
                    Err(why) => error = Some(why),
                }
            }
            if let (false, Some(error)) = (found, error) {
                return Err(error).context("--break");
            }
        }
        Ok(())
    }

    /// Launches a dispatch, and prints waves that arrive.
    pub(super) fn launch(
        &mut self,
        planned: &Planned,
        settings: &Settings<'_>,
        out: &mut Output,
    ) -> anyhow::Result<Result<Stats, Error>> {
        let (kernel, launch, args) = (&planned.kernel, &planned.launch, &planned.args);
        let settings = planned.settings(settings);
        if self.left == 0 {
            return Ok(self
                .breaker
                .device()
                .launch_with(kernel, launch, args, &settings));
        }
        let mut written = Ok(());
        let (sink, left) = (&mut self.sink, &mut self.left);
        let map = lines(kernel);
        let mut headings = map.map(Headings::new);
        let each = |hit: &Hit| {
            let descriptor = &kernel.code().descriptor;
            let sgprs = descriptor.sgpr_count(hit.gfx);
            let registers = hit.registers(sgprs, descriptor.vgpr_count(hit.gfx));
            let heading = headings.as_mut().and_then(|lines| lines.at(hit.pc));
            let text = Headed(heading, Shown(hit, &registers));
            written = sink.write(&text, || HitReport::new(hit, &registers, map), out);
            *left -= 1;
            match written.is_err() || out.closed() || *left == 0 {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let result = self.breaker.launch(kernel, launch, args, &settings, each);
        written.map(|()| result)
    }

    /// Puts a complete file in its place.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.sink.finish()
    }
}

/// A hit as text.
struct Shown<'a>(&'a Hit, &'a [RegisterChange]);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shown(hit, registers) = self;
        let [x, y, z] = hit.workgroup;
        let lanes = hit.state.exec().count_ones();
        write!(f, "0x{:04x}  {}", hit.pc, hit.instruction)?;
        if let Some((name, offset)) = &hit.symbol {
            write!(f, "  ({name}+0x{offset:x})")?;
        }
        write!(
            f,
            "\n          before it: workgroup ({x}, {y}, {z}), wave {}, {lanes} lane{} active{}",
            hit.wave,
            if lanes == 1 { "" } else { "s" },
            Registers(registers),
        )
    }
}

/// A hit as JSON.
#[derive(Serialize)]
struct HitReport<'a> {
    workgroup: [u32; 3],
    wave: u32,
    pc: u64,
    symbol: Option<String>,
    #[serde(flatten)]
    place: LineReport<'a>,
    instruction: &'a str,
    exec: String,
    registers: Vec<RegisterReport<'a>>,
}

impl<'a> HitReport<'a> {
    fn new(
        hit: &'a Hit,
        registers: &'a [RegisterChange],
        map: Option<&'a SourceMap>,
    ) -> HitReport<'a> {
        let symbol = hit.symbol.as_ref();
        HitReport {
            workgroup: hit.workgroup,
            wave: hit.wave,
            pc: hit.pc,
            symbol: symbol.map(|(name, offset)| format!("{name}+0x{offset:x}")),
            place: LineReport::new(map, hit.pc),
            instruction: &hit.instruction,
            exec: format!("0x{:016x}", hit.state.exec()),
            registers: registers.iter().map(RegisterReport::new).collect(),
        }
    }
}
