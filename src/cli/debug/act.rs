//! What commands do.

use std::time::{Duration, Instant};

use wavelift::Dtype;
use wavelift::debug::{
    DebugError, Debugger, Ended, Evaluated, Event, Radix, Reason, Resume, Stop, Value,
};
use wavelift::trace::Space;

use super::command::{Command, Info, Workgroup};
use super::{help, show};
use crate::cli::new_file::Unwritten;
use crate::cli::output::Output;
use crate::cli::report::ExpectReport;
use crate::cli::session::Session;

/// Why a command failed.
pub(super) enum Failure {
    /// It is wrong, or cannot be done.
    Command(String),
    /// Its output cannot be written.
    Output(Unwritten),
}

impl From<Unwritten> for Failure {
    fn from(error: Unwritten) -> Failure {
        Failure::Output(error)
    }
}

impl From<DebugError> for Failure {
    fn from(error: DebugError) -> Failure {
        Failure::Command(error.to_string())
    }
}

impl From<wavelift::Error> for Failure {
    fn from(error: wavelift::Error) -> Failure {
        Failure::Command(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Command(message)
    }
}

type Done = Result<(), Failure>;

/// A session with the debugger.
pub(super) struct Shell<'s> {
    pub(super) debugger: Debugger,
    pub(super) session: &'s Session,
    /// The time that a command may let the program run.
    limit: Option<Duration>,
    /// What an empty line repeats.
    last: String,
    /// Dispatch, workgroup and wave of the last stop.
    at: Option<(usize, [u32; 3], u32)>,
}

impl<'s> Shell<'s> {
    pub(super) fn new(
        debugger: Debugger,
        session: &'s Session,
        limit: Option<Duration>,
    ) -> Shell<'s> {
        Shell {
            debugger,
            session,
            limit,
            last: String::new(),
            at: None,
        }
    }

    /// Starts the program.
    pub(super) fn start(&mut self, out: &mut Output) -> anyhow::Result<()> {
        let begin = Instant::now();
        let event = self.debugger.start()?;
        match self.happened(event, begin, out) {
            Ok(()) => Ok(()),
            Err(Failure::Output(error)) => Err(error.into()),
            Err(Failure::Command(error)) => Err(anyhow::anyhow!("{error}")),
        }
    }

    /// Does a command; an empty line repeats the last one. `false` ends the session.
    pub(super) fn run(&mut self, text: &str, out: &mut Output) -> Result<bool, Failure> {
        if !text.is_empty() {
            text.clone_into(&mut self.last);
        }
        let text = self.last.clone();
        if text.is_empty() {
            return Ok(true);
        }
        let command = Command::parse(&text, &|workgroup| self.workgroup(workgroup))?;
        if matches!(command, Command::Quit) {
            return Ok(false);
        }
        self.act(command, out)?;
        Ok(true)
    }

    /// A workgroup of the launch that runs.
    pub(super) fn workgroup(&self, named: Workgroup) -> Result<[u32; 3], String> {
        let number = match named {
            Workgroup::Id(id) => return Ok(id),
            Workgroup::Number(number) => number,
        };
        let dispatch = self.debugger.stop().map_or(0, |stop| stop.dispatch);
        let planned = &self.session.dispatches[dispatch];
        let id = planned.launch.workgroup(number);
        id.map_err(|error| error.to_string())?.ok_or_else(|| {
            let (name, total) = (planned.kernel.name(), planned.workgroups);
            format!("kernel {name} has no workgroup {number}: its launch has {total}, from 0 on")
        })
    }

    pub(super) fn act(&mut self, command: Command, out: &mut Output) -> Done {
        match command {
            Command::Resume(how) => self.resume(how, out),
            Command::Next(count) => {
                out.flush()?;
                let begin = Instant::now();
                let mut event = self.debugger.resume(Resume::Next)?;
                for _ in 1..count {
                    match &event {
                        Event::Stopped(stop) if stop.reason == Reason::Step => {}
                        _ => break,
                    }
                    event = self.debugger.resume(Resume::Next)?;
                }
                self.happened(event, begin, out)
            }
            Command::Until(location) => {
                let all = self.debugger.locate(&location)?;
                self.resume(Resume::Until { places: all }, out)
            }
            Command::Rerun => {
                let begin = Instant::now();
                let event = self.debugger.start()?;
                self.happened(event, begin, out)
            }
            Command::Break { location, limits } => {
                let point = self.debugger.break_at(&location, limits)?;
                Ok(writeln!(out, "{}", self.point(&point))?)
            }
            Command::Watch {
                memory,
                kind,
                bytes,
                limits,
            } => {
                let point = self.debugger.watch_text(&memory, (kind, bytes), limits)?;
                Ok(writeln!(out, "{}", self.point(&point))?)
            }
            Command::Delete(ids) => {
                let ids = match ids.is_empty() {
                    true => self
                        .debugger
                        .points()
                        .iter()
                        .map(|point| point.id)
                        .collect(),
                    false => ids,
                };
                for id in ids {
                    self.debugger.delete(id)?;
                }
                Ok(())
            }
            Command::Enable(ids, enabled) => {
                for id in ids {
                    self.debugger.enable(id, enabled)?;
                }
                Ok(())
            }
            Command::Print(text, radix) => {
                let value = self.debugger.evaluate(&text)?;
                Ok(writeln!(out, "{text} = {}", value.show(radix)?)?)
            }
            Command::Examine(text, radix, count) => self.examine(&text, radix, count, out),
            Command::Lanes | Command::Info(Info::Lanes) => self.lanes(out),
            Command::Info(Info::Registers) => self.registers(out),
            Command::Info(Info::Waves) => self.waves(out),
            Command::Info(Info::Breakpoints) => {
                let points = self.debugger.points();
                if points.is_empty() {
                    writeln!(out, "no breakpoints or watchpoints")?;
                }
                for point in &points {
                    writeln!(out, "{}", self.point(point))?;
                }
                Ok(())
            }
            Command::Info(Info::Dispatch) => self.dispatch(out),
            Command::Info(Info::Buffers) => self.buffers(out),
            Command::Backtrace => {
                for (number, frame) in self.debugger.backtrace()?.iter().enumerate() {
                    writeln!(out, "#{number}  {}", show::frame(frame))?;
                }
                Ok(())
            }
            Command::List(location, count) => self.list(location.as_deref(), count, out),
            Command::Wave(None) => {
                let wave = self.debugger.selected();
                Ok(writeln!(out, "wave {wave} is selected")?)
            }
            Command::Wave(Some(wave)) => {
                self.debugger.select(wave)?;
                let all = self.debugger.waves()?;
                let info = all.iter().find(|info| info.wave == wave);
                if let Some(info) = info {
                    writeln!(out, "{}", show::wave(info, true))?;
                }
                Ok(())
            }
            Command::Set(place, value) => Ok(self.debugger.assign(&place, &value)?),
            Command::Help(name) => Ok(write!(out, "{}", help::text(name.as_deref())?)?),
            Command::Quit => Ok(()),
        }
    }

    // ---- running

    fn resume(&mut self, how: Resume, out: &mut Output) -> Done {
        // What was printed before is there while the program runs.
        out.flush()?;
        let begin = Instant::now();
        let event = self.debugger.resume(how)?;
        self.happened(event, begin, out)
    }

    fn happened(&mut self, event: Event, begin: Instant, out: &mut Output) -> Done {
        match event {
            Event::Stopped(stop) => self.stopped(&stop, begin, out),
            Event::Ended(ended) => {
                self.at = None;
                self.ended(&ended, out)
            }
        }
    }

    fn stopped(&mut self, stop: &Stop, begin: Instant, out: &mut Output) -> Done {
        let over = self.limit.is_some_and(|limit| begin.elapsed() >= limit);
        let reason = show::reason(stop, over.then_some(self.limit).flatten(), self.session);
        let at = (stop.dispatch, stop.workgroup, stop.wave);
        let elsewhere = self.at.replace(at) != Some(at);
        let wave = show::wave_of(stop, self.session);
        match reason {
            Some(reason) => writeln!(out, "{reason}: {wave}")?,
            None if elsewhere => writeln!(out, "{wave}")?,
            None => {}
        }
        if let Some(line) = show::next(stop) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    pub(super) fn ended(&self, ended: &Ended, out: &mut Output) -> Done {
        match ended {
            Ended::Completed => {
                writeln!(out, "the program has ended")?;
                for (name, result) in self.session.compare()? {
                    writeln!(out, "{}", ExpectReport::new(name, &result).line())?;
                }
            }
            Ended::Fault { fault, .. } => {
                writeln!(out, "the program has ended with a fault: {fault}")?
            }
            Ended::Refused { error, .. } => writeln!(out, "the program has ended: {error}")?,
        }
        Ok(())
    }

    // ---- printing

    fn point(&self, point: &wavelift::debug::Point) -> String {
        show::point(point, |pc| {
            let listed = self.debugger.disassemble(pc, 0, 1).ok()?;
            listed.first().map(|line| line.place.to_string())
        })
    }

    fn examine(&self, text: &str, radix: Option<Radix>, count: u64, out: &mut Output) -> Done {
        let dtype = match radix {
            Some(Radix::Float(dtype)) => Some(dtype),
            _ => None,
        };
        let found = self.debugger.examine(text, dtype, count)?;
        let Value::Many(all) = &found.value else {
            return Err(
                "only memory can be examined, such as x[3], lds[16] or an address"
                    .to_owned()
                    .into(),
            );
        };
        let size = all.first().map_or(Dtype::U32, |scalar| scalar.dtype).size();
        let row = 16 / size;
        for (number, elements) in all.chunks(row).enumerate() {
            let part = Evaluated {
                value: Value::Many(elements.to_vec()),
                ..found.clone()
            };
            let offset = (number * row * size) as u64;
            let (space, address) = found.place.unwrap_or((Space::Global, 0));
            let label = show::element(self.session, space, address.wrapping_add(offset));
            let shown = part.show(radix)?;
            writeln!(out, "{label}: {}", shown.trim_matches(['{', '}']))?;
        }
        Ok(())
    }

    fn lanes(&self, out: &mut Output) -> Done {
        let exec = self.debugger.registers()?.exec();
        let active = wavelift::debug::Lanes(exec);
        Ok(writeln!(
            out,
            "exec = 0x{exec:x}, {} of 64 lanes are active: {active}",
            exec.count_ones()
        )?)
    }

    fn registers(&self, out: &mut Output) -> Done {
        let wave = self.debugger.registers()?;
        for name in ["pc", "exec", "vcc", "scc", "m0", "mode"] {
            let value = self.debugger.evaluate(name)?.show(None)?;
            writeln!(out, "{name} = {value}")?;
        }
        let scalars = (wave.sgpr_count as usize).min(102);
        for first in (0..scalars).step_by(8) {
            let row = &wave.sgpr[first..(first + 8).min(scalars)];
            let row: Vec<_> = row.iter().map(|value| format!("0x{value:08x}")).collect();
            writeln!(
                out,
                "s[{first}:{}] = {}",
                first + row.len() - 1,
                row.join(" ")
            )?;
        }
        for number in 0..wave.vgpr_count {
            let value = self.debugger.evaluate(&format!("v{number}"))?.show(None)?;
            writeln!(out, "v{number} = {value}")?;
        }
        for number in 0..wave.agprs_touched {
            let value = self.debugger.evaluate(&format!("a{number}"))?.show(None)?;
            writeln!(out, "a{number} = {value}")?;
        }
        Ok(())
    }

    fn waves(&self, out: &mut Output) -> Done {
        let selected = self.debugger.selected();
        for info in self.debugger.waves()? {
            writeln!(out, "{}", show::wave(&info, info.wave == selected))?;
        }
        Ok(())
    }

    fn dispatch(&self, out: &mut Output) -> Done {
        let current = self
            .debugger
            .stop()
            .map(|stop| (stop.dispatch, stop.launch));
        for (number, planned) in self.session.dispatches.iter().enumerate() {
            let mark = match current {
                Some((dispatch, _)) if dispatch == number => "=>",
                _ => "  ",
            };
            let launch = match (planned.repeat, current) {
                (1, _) => String::new(),
                (n, Some((dispatch, launch))) if dispatch == number => {
                    format!(", launch {} of {n}", launch + 1)
                }
                (n, _) => format!(", {n} times"),
            };
            let (name, groups) = (planned.kernel.name(), planned.workgroups);
            let groups = crate::cli::report::counted(groups, "workgroup");
            writeln!(
                out,
                "{mark} dispatch {number}: kernel {name}, {groups}{launch}"
            )?;
        }
        if let Some(stop) = self.debugger.stop() {
            let (earliest, position) = (
                self.debugger.inspect(|state| state.earliest())?,
                stop.position,
            );
            let [x, y, z] = stop.workgroup;
            writeln!(
                out,
                "   workgroup ({x}, {y}, {z}) has executed {position} instructions; one can go back to {earliest}"
            )?;
        }
        Ok(())
    }

    fn buffers(&self, out: &mut Output) -> Done {
        let specs = &self.session.manifest.buffers;
        for (buffer, spec) in self.session.buffers.iter().zip(specs) {
            let (address, bytes) = (buffer.address(), buffer.len());
            let what = match spec.array.dtype {
                Some(dtype) => format!("{} elements of {dtype}", bytes / dtype.size() as u64),
                None => format!("{bytes} bytes"),
            };
            writeln!(out, "{}: {what} at 0x{address:x}", spec.name)?;
        }
        Ok(())
    }

    fn list(&self, location: Option<&str>, count: usize, out: &mut Output) -> Done {
        let here = self.debugger.registers().ok().map(|wave| wave.pc);
        let listed = match (location, here) {
            (Some(location), _) => {
                let all = self.debugger.locate(location)?;
                self.debugger.disassemble(all[0], 0, count)?
            }
            (None, Some(pc)) => self.debugger.disassemble(pc, count / 2, count)?,
            (None, None) => return Err(DebugError::NotStopped.into()),
        };
        if listed.is_empty() {
            return Err("there is no code at the wave's PC".to_owned().into());
        }
        for line in &listed {
            writeln!(out, "{}", show::listed(line, Some(line.pc) == here))?;
        }
        Ok(())
    }
}
