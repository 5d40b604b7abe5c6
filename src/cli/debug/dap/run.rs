//! Running: start, continue, steps by lines and instructions, and what is told when the program stops.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use wavelift::debug::{Ended, Event, Reason, Resume, SourceLine, Stop};

use super::Status;
use super::request::Request;
use super::server::{Answer, Server};
use crate::cli::debug::act::Failure;
use crate::cli::debug::show;
use crate::cli::new_file::Unwritten;
use crate::cli::output::Output;

/// How the program was set going.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Motion {
    /// To the next stop of the debugger.
    Plain,
    /// To another line, by single steps.
    Line(Line),
}

/// A step by a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    way: Way,
    wave: u32,
    /// The line where it began.
    from: Option<(String, u32)>,
    /// Functions that the wave was in, inlined ones too.
    depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Over,
    Into,
    Out,
    Back,
}

/// The arguments of requests that let the program run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Go {
    thread_id: u64,
    granularity: Option<Granularity>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
enum Granularity {
    Statement,
    Line,
    Instruction,
}

fn line_of(line: &Option<SourceLine>) -> Option<(String, u32)> {
    line.as_ref().map(|line| (line.file.clone(), line.line))
}

impl Server<'_, '_> {
    /// The configuration is complete: the program begins.
    pub(super) fn begin(&mut self) -> Answer {
        if std::mem::replace(&mut self.configured, true) {
            return Err("configurationDone was sent before".to_owned().into());
        }
        self.again()
    }

    pub(super) fn restart(&mut self, request: &Request) -> Answer {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Arguments {
            arguments: Option<Again>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Again {
            stop_on_entry: Option<bool>,
        }
        let Arguments { arguments } = request.arguments()?;
        if !self.configured {
            return Err("restart before configurationDone".to_owned().into());
        }
        if let Some(stop) = arguments.and_then(|again| again.stop_on_entry) {
            self.stop_on_entry = stop && !self.no_debug;
        }
        self.again()
    }

    /// Starts or restarts the program.
    pub(super) fn again(&mut self) -> Answer {
        self.set_off(Motion::Plain);
        if !self.stop_on_entry {
            self.shell.debugger.run()?;
            return Ok(Value::Null);
        }
        match self.shell.debugger.start()? {
            Event::Stopped(stop) => {
                let body = self.stopped(&stop)?;
                self.after.push(("stopped", body));
            }
            Event::Ended(ended) => {
                let text = self.end_of(&ended)?;
                self.after
                    .push(("output", json!({ "category": "console", "output": text })));
                let code = self.code_of(&ended)?;
                self.after.push(("exited", json!({ "exitCode": code })));
                self.after.push(("terminated", Value::Null));
            }
        }
        Ok(Value::Null)
    }

    /// The program is about to run.
    fn set_off(&mut self, motion: Motion) {
        self.motion = motion;
        self.since = Instant::now();
        self.handles.clear();
    }

    /// Lets the program run.
    pub(super) fn go(&mut self, how: Resume) -> Answer {
        self.shell.debugger.go(how)?;
        self.set_off(Motion::Plain);
        Ok(Value::Null)
    }

    pub(super) fn r#continue(&mut self, request: &Request) -> Answer {
        let Go { thread_id, .. } = request.arguments()?;
        self.select(thread_id)?;
        self.go(Resume::Continue { pass: 0 })?;
        Ok(json!({ "allThreadsContinued": true }))
    }

    pub(super) fn reverse_continue(&mut self, request: &Request) -> Answer {
        let Go { thread_id, .. } = request.arguments()?;
        self.select(thread_id)?;
        self.go(Resume::BackToPoint)
    }

    pub(super) fn step(&mut self, request: &Request) -> Answer {
        let Go {
            thread_id,
            granularity,
        } = request.arguments()?;
        let way = match &*request.command {
            "next" => Way::Over,
            "stepIn" => Way::Into,
            "stepOut" => Way::Out,
            _ => Way::Back,
        };
        let wave = self.select(thread_id)?;
        let frames = self.shell.debugger.backtrace()?;
        let from = frames.first().and_then(|frame| line_of(&frame.place.line));
        let inlined = frames.first().is_some_and(|frame| frame.inlined);
        let called = self.calls(wave)? != 0;
        let by_line = granularity != Some(Granularity::Instruction) && from.is_some();
        let how = match way {
            Way::Over => Resume::Next,
            Way::Into => Resume::Step { steps: 1 },
            Way::Back => Resume::Back { steps: 1 },
            Way::Out if by_line && inlined => Resume::Next,
            Way::Out if called => Resume::Finish,
            // Out of the kernel.
            Way::Out => Resume::Until { places: Vec::new() },
        };
        let lines = by_line && (way != Way::Out || inlined);
        self.go(how)?;
        if lines {
            self.motion = Motion::Line(Line {
                way,
                wave,
                from,
                depth: frames.len(),
            });
        }
        Ok(Value::Null)
    }

    /// The number of calls that a wave is in.
    fn calls(&self, wave: u32) -> Result<usize, Failure> {
        let calls = self
            .shell
            .debugger
            .inspect(move |state| state.calls(wave).len());
        Ok(calls?)
    }

    /// How a step by a line goes on, unless it has arrived.
    fn farther(&self, line: &Line, stop: &Stop) -> Option<Resume> {
        if stop.reason != Reason::Step || stop.wave != line.wave {
            return None;
        }
        let debugger = &self.shell.debugger;
        let frames = debugger.backtrace().ok()?;
        let at = line_of(&frames.first()?.place.line);
        let depth = frames.len();
        let inside = at.is_none() || (at == line.from && depth == line.depth);
        let on = match line.way {
            Way::Over if depth > line.depth || inside => Resume::Next,
            Way::Into if inside => Resume::Step { steps: 1 },
            Way::Back if inside => Resume::Back { steps: 1 },
            Way::Out if depth >= line.depth => Resume::Next,
            _ => return None,
        };
        Some(on)
    }

    pub(super) fn pause(&mut self) -> Answer {
        if !self.shell.debugger.is_running() {
            return Err("the program does not run".to_owned().into());
        }
        self.shell.debugger.interrupter().interrupt();
        Ok(Value::Null)
    }

    pub(super) fn terminate(&mut self) -> Answer {
        self.shell.debugger.end();
        self.handles.clear();
        self.after.push(("exited", json!({ "exitCode": 0 })));
        self.after.push(("terminated", Value::Null));
        Ok(Value::Null)
    }

    /// Looks whether the program has stopped.
    pub(super) fn poll(&mut self, patience: std::time::Duration) -> Result<(), Unwritten> {
        let event = self.shell.debugger.poll(patience);
        let (messages, lost) = self.shell.debugger.take_messages();
        for message in messages {
            self.wire.print("console", &format!("{message}\n"))?;
        }
        if lost != 0 {
            let text = format!("({lost} messages were too many and are left out)\n");
            self.wire.print("important", &text)?;
        }
        let result = match event {
            Ok(None) => {
                if self
                    .limit
                    .is_some_and(|limit| self.since.elapsed() >= limit)
                {
                    self.shell.debugger.interrupter().interrupt();
                }
                return Ok(());
            }
            Ok(Some(Event::Stopped(stop))) => self.has_stopped(&stop),
            Ok(Some(Event::Ended(ended))) => self.has_ended(&ended),
            Err(error) => Err(error.into()),
        };
        match result {
            Ok(()) => Ok(()),
            Err(Failure::Output(error)) => Err(error),
            Err(Failure::Command(error)) => {
                self.wire.print("stderr", &format!("{error}\n"))?;
                self.wire.event("terminated", Value::Null)
            }
        }
    }

    fn has_stopped(&mut self, stop: &Stop) -> Result<(), Failure> {
        if matches!(stop.reason, Reason::Fault { .. }) && !self.faults {
            return Ok(self.shell.debugger.go(Resume::Continue { pass: 0 })?);
        }
        if let Motion::Line(line) = &self.motion
            && let Some(how) = self.farther(line, stop)
            && self.shell.debugger.go(how).is_ok()
        {
            return Ok(());
        }
        self.motion = Motion::Plain;
        let body = self.stopped(stop)?;
        Ok(self.wire.event("stopped", body)?)
    }

    fn has_ended(&mut self, ended: &Ended) -> Result<(), Failure> {
        let text = self.end_of(ended)?;
        let category = match ended {
            Ended::Completed => "console",
            Ended::Fault { .. } | Ended::Refused { .. } => "stderr",
        };
        self.handles.clear();
        self.wire.print(category, &text)?;
        let code = self.code_of(ended)?;
        self.wire.event("exited", json!({ "exitCode": code }))?;
        Ok(self.wire.event("terminated", Value::Null)?)
    }

    /// The exit status that `wavelift run` has for such an end.
    fn code_of(&self, ended: &Ended) -> Result<u8, Failure> {
        let status = match ended {
            Ended::Completed => {
                let results = self.shell.session.compare()?;
                match results.iter().all(|(_, result)| result.ok()) {
                    true => Status::Success,
                    false => Status::Mismatch,
                }
            }
            Ended::Fault { .. } => Status::Fault,
            Ended::Refused { .. } => Status::BadInput,
        };
        Ok(status.code())
    }

    fn end_of(&self, ended: &Ended) -> Result<String, Failure> {
        let mut out = Output::in_memory();
        self.shell.ended(ended, &mut out)?;
        Ok(out.kept())
    }

    /// The body of the event of a stop.
    fn stopped(&mut self, stop: &Stop) -> Result<Value, Failure> {
        self.handles.clear();
        self.name_threads()?;
        let over = self.limit.filter(|&limit| self.since.elapsed() >= limit);
        let (reason, point) = match &stop.reason {
            Reason::Entry => ("entry", None),
            Reason::Step | Reason::WaveEnded | Reason::HistoryBegins => ("step", None),
            Reason::Breakpoint { id, .. } => (self.placed.kind(*id, "breakpoint"), Some(*id)),
            Reason::Watchpoint { id, .. } => ("data breakpoint", Some(*id)),
            Reason::Fault { .. } => ("exception", None),
            Reason::Interrupted => ("pause", None),
        };
        let text = show::reason(stop, over, self.shell.session);
        let mut body = json!({
            "reason": reason,
            "threadId": u64::from(stop.wave) + 1,
            "allThreadsStopped": true,
        });
        if let Some(text) = text {
            body["description"] = text.clone().into();
            body["text"] = text.into();
        }
        if let Some(id) = point {
            body["hitBreakpointIds"] = json!([id]);
        }
        Ok(body)
    }
}
