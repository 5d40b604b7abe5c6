//! Requests and events of a session.

use std::time::Instant;

use serde_json::{Value, json};
use wavelift::debug::{Ended, Event, Reason, Resume, Stop};

use super::Refused;
use super::arguments::Arguments;
use super::launch::{self, Program};
use super::pause::Pause;
use super::points::{Met, Points};
use super::variables::Handles;
use super::wire::{Send, Writer};
use crate::cli::Status;
use crate::cli::debug::show;
use crate::cli::report::ExpectReport;

/// Most instructions of a step to the next line: a loop on one line ends it sooner or later.
const MOST_STEPS: u64 = 10_000_000;

/// A session.
pub(super) struct Adapter<'o, 's> {
    writer: Writer<'o, 's>,
    pause: Pause,
    pub(super) program: Option<Program>,
    pub(super) points: Points,
    pub(super) handles: Handles,
    /// Lines and columns of the client begin at 1.
    pub(super) from_one: bool,
    /// Faults stop the program.
    break_on_faults: bool,
    /// The last stop was a fault.
    fault: Option<(String, String)>,
    configured: bool,
}

/// What runs after a response.
enum Then {
    /// Nothing.
    Stay,
    /// The program begins.
    Start,
    /// It goes on.
    Run(Motion),
    /// An event, for the response's client.
    Tell(&'static str, Value),
    /// The session ends.
    Leave,
}

/// How the program goes on.
#[derive(Clone)]
struct Motion {
    how: Resume,
    /// Until the line is another one.
    by_line: bool,
}

impl Motion {
    fn one(how: Resume) -> Then {
        Then::Run(Motion {
            how,
            by_line: false,
        })
    }
}

impl<'o, 's> Adapter<'o, 's> {
    pub(super) fn new(pause: Pause, send: &'o mut Send<'s>) -> Adapter<'o, 's> {
        Adapter {
            writer: Writer::new(send),
            pause,
            program: None,
            points: Points::default(),
            handles: Handles::default(),
            from_one: true,
            break_on_faults: true,
            fault: None,
            configured: false,
        }
    }

    /// Handles a message; `false` ends the session.
    pub(super) fn receive(&mut self, message: &Value) -> anyhow::Result<bool> {
        if message["type"] != "request" {
            // Nothing was asked of the client, so nothing else is expected.
            return Ok(true);
        }
        let nothing = Value::Null;
        let arguments = message.get("arguments").unwrap_or(&nothing);
        let command = message["command"].as_str().unwrap_or_default();
        let (result, then) = match self.handle(command, arguments) {
            Ok((body, then)) => (Ok(body), then),
            Err(Refused(why)) => (Err(why), Then::Stay),
        };
        self.writer.respond(message, result)?;
        match then {
            Then::Stay => {}
            Then::Start => self.start()?,
            Then::Run(motion) => self.run(&motion)?,
            Then::Tell(event, body) => self.writer.event(event, body)?,
            Then::Leave => return Ok(false),
        }
        if matches!(command, "pause" | "terminate" | "disconnect") {
            self.pause.done();
        }
        Ok(!self.writer.gone)
    }

    fn handle(&mut self, command: &str, arguments: &Value) -> Result<(Value, Then), Refused> {
        let given = Arguments::new(command, arguments);
        let stay = |body: Value| Ok((body, Then::Stay));
        match command {
            "initialize" => {
                let from_one = given.get_or("linesStartAt1", true)?;
                self.from_one = from_one;
                stay(capabilities())
            }
            "launch" => {
                if self.program.is_some() {
                    return Err("a program is being debugged already".into());
                }
                let program = launch::launch(given)?;
                self.pause.watch(program.debugger.interrupter());
                self.program = Some(program);
                Ok((json!({}), Then::Tell("initialized", json!({}))))
            }
            "attach" => Err("there is nothing to attach to: launch a manifest or a kernel".into()),
            "configurationDone" => {
                self.program()?;
                if std::mem::replace(&mut self.configured, true) {
                    return Err("the configuration was done before".into());
                }
                Ok((json!({}), Then::Start))
            }
            "restart" => {
                self.program()?;
                Ok((json!({}), Then::Start))
            }
            "setBreakpoints" => stay(self.set_breakpoints(given)?),
            "setFunctionBreakpoints" => stay(self.set_function_breakpoints(given)?),
            "setInstructionBreakpoints" => stay(self.set_instruction_breakpoints(given)?),
            "setDataBreakpoints" => stay(self.set_data_breakpoints(given)?),
            "dataBreakpointInfo" => stay(self.data_breakpoint_info(given)?),
            "setExceptionBreakpoints" => {
                self.break_on_faults = given.texts("filters")?.contains(&"fault");
                stay(json!({}))
            }
            "breakpointLocations" => stay(self.breakpoint_locations(given)?),
            "exceptionInfo" => {
                let Some((kind, text)) = &self.fault else {
                    return Err("the program has not stopped at a fault".into());
                };
                stay(json!({
                    "exceptionId": kind,
                    "description": text,
                    "breakMode": "always",
                }))
            }
            "threads" => stay(self.threads()?),
            "stackTrace" => stay(self.stack_trace(given)?),
            "scopes" => stay(self.scopes(given)?),
            "variables" => stay(self.variables(given)?),
            "setVariable" => stay(self.set_variable(given)?),
            "setExpression" => stay(self.set_expression(given)?),
            "evaluate" => stay(self.evaluate(given)?),
            "source" => stay(self.source(given)?),
            "loadedSources" => stay(self.loaded_sources()?),
            "disassemble" => stay(self.disassemble(given)?),
            "readMemory" => stay(self.read_memory(given)?),
            "writeMemory" => stay(self.write_memory(given)?),
            "continue" => {
                let then = self.motion(given, Resume::Continue { pass: 0 }, false)?;
                Ok((json!({"allThreadsContinued": true}), then))
            }
            "next" => Ok((json!({}), self.motion(given, Resume::Next, true)?)),
            "stepIn" => Ok((
                json!({}),
                self.motion(given, Resume::Step { steps: 1 }, true)?,
            )),
            "stepOut" => Ok((json!({}), self.motion(given, Resume::Finish, false)?)),
            "stepBack" => Ok((
                json!({}),
                self.motion(given, Resume::Back { steps: 1 }, true)?,
            )),
            "reverseContinue" => Ok((json!({}), self.motion(given, Resume::BackToPoint, false)?)),
            // The program has stopped before this is read.
            "pause" => stay(json!({})),
            "terminate" => {
                self.program()?.debugger.end();
                Ok((json!({}), Then::Tell("terminated", json!({}))))
            }
            "disconnect" => Ok((json!({}), Then::Leave)),
            _ => Err(format!("wavelift does not have the request `{command}`").into()),
        }
    }

    /// The program; an error before `launch`.
    pub(super) fn program(&mut self) -> Result<&mut Program, Refused> {
        let program = self.program.as_mut();
        program.ok_or_else(|| "nothing is being debugged: send `launch` first".into())
    }

    /// Selects the wave of a thread.
    pub(super) fn select(&mut self, thread: u32) -> Result<(), Refused> {
        let wave = thread.checked_sub(1);
        let wave =
            wave.ok_or_else(|| Refused::from("there is no thread 0; they are numbered from 1"))?;
        Ok(self.program()?.debugger.select(wave)?)
    }

    fn motion(&mut self, given: Arguments<'_>, how: Resume, steps: bool) -> Result<Then, Refused> {
        self.select(given.need_number("threadId")?)?;
        self.program()?.debugger.check(&how)?;
        match steps && given.text("granularity")? != Some("instruction") {
            true => Ok(Then::Run(Motion { how, by_line: true })),
            false => Ok(Motion::one(how)),
        }
    }

    // ---- running

    /// Starts the program, again or for the first time.
    fn start(&mut self) -> anyhow::Result<()> {
        let Some(program) = &mut self.program else {
            return Ok(());
        };
        self.points.forget_hits();
        let stop_on_entry = program.stop_on_entry;
        match program.debugger.start() {
            Ok(Event::Stopped(_)) if !stop_on_entry => self.run(&Motion {
                how: Resume::Continue { pass: 0 },
                by_line: false,
            }),
            Ok(event) => self.happened(event, None),
            Err(error) => self.failed(&error.to_string()),
        }
    }

    /// Lets the program run to the next stop that concerns the client.
    fn run(&mut self, motion: &Motion) -> anyhow::Result<()> {
        self.handles.clear();
        self.fault = None;
        let begin = Instant::now();
        let how = motion.how.clone();
        let line = self.line();
        let mut steps = 0;
        loop {
            let Some(program) = &mut self.program else {
                return Ok(());
            };
            let event = match program.debugger.resume(how.clone()) {
                Ok(event) => event,
                Err(error) => return self.failed(&error.to_string()),
            };
            let Event::Stopped(stop) = &event else {
                return self.happened(event, None);
            };
            let same_line = || line.is_some() && self.line().is_none_or(|now| Some(now) == line);
            match &stop.reason {
                Reason::Step if motion.by_line && steps < MOST_STEPS && same_line() => steps += 1,
                Reason::Breakpoint { id, .. } | Reason::Watchpoint { id, .. } => {
                    match self.met(*id)? {
                        Met::Stop => return self.happened(event, Some(begin)),
                        // A step has ended there, too.
                        Met::GoOn if is_step(&how) && !motion.by_line => {
                            return self.tell(&stop.clone(), "step", "stepped");
                        }
                        Met::GoOn => {}
                    }
                }
                Reason::Fault { .. } if !self.break_on_faults => {}
                _ => return self.happened(event, Some(begin)),
            }
        }
    }

    /// The line of the selected wave, if its code has one.
    fn line(&self) -> Option<(String, u32)> {
        let stop = self.program.as_ref()?.debugger.stop()?;
        let line = stop.place.line.as_ref()?;
        Some((line.file.clone(), line.line))
    }

    /// What a breakpoint's hit means: some count, some print.
    fn met(&mut self, id: u32) -> anyhow::Result<Met> {
        let Some(program) = &self.program else {
            return Ok(Met::Stop);
        };
        let (met, message) = self.points.met(id, &program.debugger);
        if let Some(message) = message {
            self.output("console", &format!("{message}\n"))?;
        }
        Ok(met)
    }

    /// Something that failed after the response was sent.
    fn failed(&mut self, why: &str) -> anyhow::Result<()> {
        self.output("stderr", &format!("{why}\n"))?;
        let Some(stop) = self
            .program
            .as_ref()
            .and_then(|it| it.debugger.stop())
            .cloned()
        else {
            return self.ended(Status::BadInput);
        };
        self.tell(&stop, "pause", why)
    }

    fn output(&mut self, category: &str, text: &str) -> anyhow::Result<()> {
        let body = json!({"category": category, "output": text});
        self.writer.event("output", body)
    }

    fn happened(&mut self, event: Event, begin: Option<Instant>) -> anyhow::Result<()> {
        let Some(program) = &self.program else {
            return Ok(());
        };
        match event {
            Event::Stopped(stop) => {
                let limit = program.limit.filter(|limit| {
                    begin.is_some_and(|begin| begin.elapsed() >= *limit) && !self.pause.is_asked()
                });
                let text = show::reason(&stop, limit, &program.session);
                let reason = match &stop.reason {
                    Reason::Entry => "entry",
                    Reason::Step | Reason::WaveEnded | Reason::HistoryBegins => "step",
                    Reason::Breakpoint { id, .. } => self.points.reason(*id),
                    Reason::Watchpoint { .. } => "data breakpoint",
                    Reason::Fault { .. } => "exception",
                    Reason::Interrupted => "pause",
                };
                if let Reason::Fault { kind, .. } = &stop.reason {
                    let text = text.clone().unwrap_or_default();
                    self.fault = Some((kind.name().to_owned(), text));
                }
                self.tell(&stop, reason, text.as_deref().unwrap_or("stepped"))
            }
            Event::Ended(ended) => {
                let (status, text) = match &ended {
                    Ended::Completed => {
                        let results = program.session.compare()?;
                        let reports = results.iter();
                        let lines = reports.map(|(name, result)| ExpectReport::new(name, result));
                        let lines: Vec<ExpectReport> = lines.collect();
                        let status = match lines.iter().all(|line| line.ok) {
                            true => Status::Success,
                            false => Status::Mismatch,
                        };
                        let mut text = "the program has ended\n".to_owned();
                        lines
                            .iter()
                            .for_each(|line| text += &format!("{}\n", line.line()));
                        (status, text)
                    }
                    Ended::Fault { fault, .. } => (
                        Status::Fault,
                        format!("the program has ended with a fault: {fault}\n"),
                    ),
                    Ended::Refused { error, .. } => (
                        Status::BadInput,
                        format!("the program has ended: {error}\n"),
                    ),
                };
                self.output("stdout", &text)?;
                self.ended(status)
            }
        }
    }

    fn ended(&mut self, status: Status) -> anyhow::Result<()> {
        self.writer
            .event("exited", json!({"exitCode": status.code()}))?;
        self.writer.event("terminated", json!({}))
    }

    fn tell(&mut self, stop: &Stop, reason: &str, text: &str) -> anyhow::Result<()> {
        let mut body = json!({
            "reason": reason,
            "description": text,
            "threadId": stop.wave + 1,
            "allThreadsStopped": true,
        });
        if let Reason::Breakpoint { id, .. } | Reason::Watchpoint { id, .. } = stop.reason {
            body["hitBreakpointIds"] = json!([id]);
        }
        if reason == "exception" {
            body["text"] = text.into();
        }
        self.writer.event("stopped", body)
    }

    /// The waves of the workgroup.
    fn threads(&mut self) -> Result<Value, Refused> {
        let debugger = &self.program()?.debugger;
        let Some(stop) = debugger.stop() else {
            return Ok(json!({"threads": []}));
        };
        let [x, y, z] = stop.workgroup;
        let waves = debugger.waves()?;
        let threads = waves.iter().map(|info| {
            let ended = match info.phase {
                wavelift::debug::Phase::Ended => ", ended",
                wavelift::debug::Phase::Barrier => ", at the barrier",
                wavelift::debug::Phase::Ready => "",
            };
            json!({
                "id": info.wave + 1,
                "name": format!("wave {} of workgroup ({x}, {y}, {z}){ended}", info.wave),
            })
        });
        Ok(json!({"threads": threads.collect::<Vec<_>>()}))
    }
}

impl Drop for Adapter<'_, '_> {
    fn drop(&mut self) {
        self.pause.end();
    }
}

/// Does the program go on for an instruction, or back for one?
fn is_step(how: &Resume) -> bool {
    matches!(
        how,
        Resume::Step { .. } | Resume::Next | Resume::Back { .. }
    )
}

/// What is supported.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "supportsExceptionInfoRequest": true,
        "supportsDisassembleRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsWriteMemoryRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsDelayedStackTraceLoading": true,
        "supportsValueFormattingOptions": true,
        "exceptionBreakpointFilters": [{
            "filter": "fault",
            "label": "Faults",
            "description": "Stop at the instruction that faults, before the launch ends.",
            "default": true,
        }],
    })
}
