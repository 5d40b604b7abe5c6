//! The session: which request does what.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use wavelift::debug::{Reason, Stop};

use super::launch::{self, Launched};
use super::places::Places;
use super::points::Placed;
use super::request::Request;
use super::run::Motion;
use super::variables::Handles;
use super::wire::Wire;
use super::{Received, Status};
use crate::cli::debug::act::{Failure, Shell};
use crate::cli::new_file::Unwritten;
use crate::cli::output::complain;

/// What a request came to: the body of its response.
pub(super) type Answer = Result<Value, Failure>;

/// How long the program runs on before requests are looked at.
const PATIENCE: Duration = Duration::from_millis(5);

/// How a client counts.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Client {
    lines_start_at1: bool,
    columns_start_at1: bool,
}

impl Default for Client {
    fn default() -> Client {
        Client {
            lines_start_at1: true,
            columns_start_at1: true,
        }
    }
}

impl Client {
    /// A line as the client counts it.
    pub(super) fn line(self, line: u64) -> u64 {
        line.saturating_sub(u64::from(!self.lines_start_at1))
    }

    pub(super) fn column(self, column: u64) -> u64 {
        column.max(1) - u64::from(!self.columns_start_at1)
    }

    /// A line of the client, from 1 on.
    pub(super) fn own_line(self, line: u64) -> u64 {
        line.saturating_add(u64::from(!self.lines_start_at1))
    }
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsDataBreakpointBytes": true,
        "supportsEvaluateForHovers": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsDisassembleRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsWriteMemoryRequest": true,
        "supportsExceptionInfoRequest": true,
        "supportsValueFormattingOptions": true,
        "supportsDelayedStackTraceLoading": true,
        "exceptionBreakpointFilters": [{
            "filter": "faults",
            "label": "Faults",
            "description": "Stop at an instruction that faults, before the launch ends",
            "default": true,
        }],
    })
}

/// A session before its program is launched.
pub(super) struct Begin<'o> {
    wire: Wire<'o>,
    messages: Receiver<Received>,
    client: Option<Client>,
}

/// The next request; what else there may be ends the session.
enum Next {
    Request(Request),
    /// The client has left.
    Left,
    /// What it has sent is damaged.
    Damaged(String),
    /// Nothing yet.
    Nothing,
}

/// What was received as a request.
fn next(received: Option<Received>) -> Next {
    match received {
        None => Next::Left,
        Some(Err(error)) => Next::Damaged(error.to_string()),
        Some(Ok(message)) => match Request::of(message) {
            Ok(Some(request)) => Next::Request(request),
            Ok(None) => Next::Nothing,
            Err(error) => Next::Damaged(error),
        },
    }
}

/// Ends a session whose messages are damaged.
fn damaged(wire: &mut Wire<'_>, error: &str) -> Result<Status, Unwritten> {
    wire.print("stderr", &format!("{error}; the session ends\n"))?;
    wire.event("terminated", Value::Null)?;
    complain(format_args!("error: {error}"));
    Ok(Status::BadInput)
}

impl<'o> Begin<'o> {
    pub(super) fn new(wire: Wire<'o>, messages: Receiver<Received>) -> Begin<'o> {
        Begin {
            wire,
            messages,
            client: None,
        }
    }

    /// Serves the session to its end.
    pub(super) fn serve(mut self) -> anyhow::Result<Status> {
        loop {
            let request = match next(self.messages.recv().ok()) {
                Next::Request(request) => request,
                Next::Left => return Ok(Status::Success),
                Next::Damaged(error) => return Ok(damaged(&mut self.wire, &error)?),
                Next::Nothing => continue,
            };
            let to = (request.seq, &*request.command);
            if request.command == "launch" && self.client.is_some() {
                match launch::launch(&request) {
                    Ok(launched) => {
                        self.wire.answer(to, Ok(Value::Null))?;
                        return self.debug(launched);
                    }
                    Err(error) => self.wire.answer(to, Err(error))?,
                }
                continue;
            }
            let result = self.handle(&request);
            self.wire.answer(to, result)?;
            if request.command == "disconnect" || self.wire.closed() {
                return Ok(Status::Success);
            }
        }
    }

    fn handle(&mut self, request: &Request) -> Result<Value, String> {
        match (&*request.command, self.client) {
            ("initialize", None) => {
                self.client = Some(request.arguments()?);
                Ok(capabilities())
            }
            ("initialize", Some(_)) => Err("initialize was sent before".to_owned()),
            ("disconnect" | "terminate", _) => Ok(Value::Null),
            (name, _) if !KNOWN.contains(&name) => Err(unknown(name)),
            (name, None) => Err(format!("{name} before initialize")),
            ("attach", _) => Err(NO_ATTACH.to_owned()),
            (name, Some(_)) => Err(format!("{name} before launch")),
        }
    }

    fn debug(self, launched: Launched) -> anyhow::Result<Status> {
        let Launched {
            debugger,
            session,
            stop_on_entry,
            no_debug,
            limit,
        } = launched;
        let server = Server {
            shell: Shell::new(debugger, &session, limit),
            wire: self.wire,
            client: self.client.unwrap_or_default(),
            placed: Placed::default(),
            places: Places::default(),
            handles: Handles::default(),
            motion: Motion::Plain,
            since: Instant::now(),
            limit,
            faults: !no_debug,
            stop_on_entry,
            no_debug,
            configured: false,
            threads: Vec::new(),
            after: Vec::new(),
            over: false,
        };
        server.serve(&self.messages)
    }
}

const NO_ATTACH: &str = "there is nothing to attach to; launch a manifest or a kernel";

fn unknown(command: &str) -> String {
    let name: String = command.chars().take(80).collect();
    format!("there is no request `{name}` here")
}

/// The requests that are served.
const KNOWN: [&str; 33] = [
    "attach",
    "configurationDone",
    "continue",
    "dataBreakpointInfo",
    "disassemble",
    "disconnect",
    "evaluate",
    "exceptionInfo",
    "initialize",
    "launch",
    "loadedSources",
    "next",
    "pause",
    "readMemory",
    "restart",
    "reverseContinue",
    "scopes",
    "setBreakpoints",
    "setDataBreakpoints",
    "setExceptionBreakpoints",
    "setExpression",
    "setFunctionBreakpoints",
    "setInstructionBreakpoints",
    "setVariable",
    "source",
    "stackTrace",
    "stepBack",
    "stepIn",
    "stepOut",
    "terminate",
    "threads",
    "variables",
    "writeMemory",
];

/// A session with a program.
pub(super) struct Server<'s, 'o> {
    pub(super) shell: Shell<'s>,
    pub(super) wire: Wire<'o>,
    pub(super) client: Client,
    pub(super) placed: Placed,
    pub(super) places: Places,
    pub(super) handles: Handles,
    /// How the program was set going.
    pub(super) motion: Motion,
    /// When it was.
    pub(super) since: Instant,
    pub(super) limit: Option<Duration>,
    /// Do faults stop it?
    pub(super) faults: bool,
    pub(super) stop_on_entry: bool,
    pub(super) no_debug: bool,
    pub(super) configured: bool,
    /// Names of the waves at the last stop.
    pub(super) threads: Vec<String>,
    /// Events that follow the response.
    pub(super) after: Vec<(&'static str, Value)>,
    /// The client is done.
    over: bool,
}

impl Server<'_, '_> {
    fn serve(mut self, messages: &Receiver<Received>) -> anyhow::Result<Status> {
        self.wire.event("initialized", Value::Null)?;
        while !self.over && !self.wire.closed() {
            let received = match self.shell.debugger.is_running() {
                false => messages.recv().ok(),
                true => match messages.try_recv() {
                    Ok(received) => Some(received),
                    Err(TryRecvError::Disconnected) => None,
                    Err(TryRecvError::Empty) => {
                        self.poll(PATIENCE)?;
                        continue;
                    }
                },
            };
            match next(received) {
                Next::Request(request) => self.request(&request)?,
                Next::Left => break,
                Next::Damaged(error) => {
                    self.shell.debugger.end();
                    return Ok(damaged(&mut self.wire, &error)?);
                }
                Next::Nothing => {}
            }
        }
        self.shell.debugger.end();
        Ok(Status::Success)
    }

    fn request(&mut self, request: &Request) -> Result<(), Unwritten> {
        let result = match self.handle(request) {
            Ok(body) => Ok(body),
            Err(Failure::Command(error)) => Err(error),
            Err(Failure::Output(error)) => return Err(error),
        };
        self.wire.answer((request.seq, &request.command), result)?;
        for (event, body) in std::mem::take(&mut self.after) {
            self.wire.event(event, body)?;
        }
        Ok(())
    }

    fn handle(&mut self, request: &Request) -> Answer {
        match &*request.command {
            "initialize" | "launch" => Err(format!("{} was sent before", request.command).into()),
            "attach" => Err(NO_ATTACH.to_owned().into()),
            "configurationDone" => self.begin(),
            "restart" => self.restart(request),
            "terminate" => self.terminate(),
            "disconnect" => {
                self.over = true;
                self.shell.debugger.end();
                Ok(Value::Null)
            }
            "setBreakpoints" => self.set_breakpoints(request),
            "setFunctionBreakpoints" => self.set_function_breakpoints(request),
            "setInstructionBreakpoints" => self.set_instruction_breakpoints(request),
            "setDataBreakpoints" => self.set_data_breakpoints(request),
            "dataBreakpointInfo" => self.data_breakpoint_info(request),
            "setExceptionBreakpoints" => self.set_exception_breakpoints(request),
            "continue" => self.r#continue(request),
            "reverseContinue" => self.reverse_continue(request),
            "next" | "stepIn" | "stepOut" | "stepBack" => self.step(request),
            "pause" => self.pause(),
            "threads" => self.threads(),
            "stackTrace" => self.stack_trace(request),
            "scopes" => self.scopes(request),
            "variables" => self.variables(request),
            "setVariable" => self.set_variable(request),
            "setExpression" => self.set_expression(request),
            "evaluate" => self.evaluate(request),
            "source" => self.source(request),
            "loadedSources" => self.loaded_sources(),
            "disassemble" => self.disassemble(request),
            "readMemory" => self.read_memory(request),
            "writeMemory" => self.write_memory(request),
            "exceptionInfo" => self.exception_info(),
            other => Err(unknown(other).into()),
        }
    }

    /// The wave of a thread is selected.
    pub(super) fn select(&mut self, thread: u64) -> Result<u32, Failure> {
        let wave = thread.checked_sub(1).and_then(|it| u32::try_from(it).ok());
        let wave = wave.ok_or_else(|| format!("there is no thread {thread}"))?;
        self.shell.debugger.select(wave)?;
        Ok(wave)
    }

    fn exception_info(&self) -> Answer {
        let stop = self.shell.debugger.stop();
        let Some(Stop {
            reason: Reason::Fault { kind, lane },
            instruction,
            place,
            ..
        }) = stop
        else {
            return Err("no wave is stopped by a fault".to_owned().into());
        };
        let who = match lane {
            Some(lane) => format!("lane {lane}"),
            None => "the wave".to_owned(),
        };
        Ok(json!({
            "exceptionId": "fault",
            "description": format!("{who} {kind}"),
            "breakMode": if self.faults { "always" } else { "never" },
            "details": {
                "message": format!("{who} {kind}, at {place}: {instruction}"),
                "typeName": "fault",
            },
        }))
    }
}

/// By point: what stops are called.
pub(super) type Kinds = HashMap<u32, &'static str>;
