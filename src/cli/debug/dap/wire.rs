//! Messages on the wire: a header with the length, an empty line, JSON.

use std::io::{self, BufRead, BufWriter, Read, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::cli::new_file::Unwritten;
use crate::cli::output::Output;

/// Most bytes of a header's line.
const LINE: usize = 4 << 10;

/// Most lines of a header.
const LINES: usize = 16;

/// Most bytes of a message.
const MESSAGE: usize = 64 << 20;

/// Why a message cannot be read. Where the next one begins is unknown then.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    #[error("the input ends within a message")]
    Truncated,
    #[error("a line of the header is longer than {LINE} bytes, or there are more than {LINES}")]
    LongHeader,
    #[error("a header without `Content-Length: N`")]
    NoLength,
    #[error("`{0}` is no line of a header; `Content-Length: N` was expected")]
    Header(String),
    #[error("a message of {0} bytes; {MESSAGE} are the most")]
    TooLong(u64),
    #[error("a message that is no JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Reads a message; `None` at the end of the input.
pub(super) fn read(input: &mut impl BufRead) -> Result<Option<Value>, FrameError> {
    let mut length = None;
    for number in 0..=LINES {
        let mut line = Vec::new();
        input.take(LINE as u64).read_until(b'\n', &mut line)?;
        if line.is_empty() && number == 0 {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(match line.len() < LINE {
                true => FrameError::Truncated,
                false => FrameError::LongHeader,
            });
        };
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches('\r');
        if line.is_empty() {
            return body(input, length.ok_or(FrameError::NoLength)?).map(Some);
        }
        let wrong = || FrameError::Header(line.chars().take(80).collect());
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        if name.trim().eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse().map_err(|_| wrong())?);
        }
    }
    Err(FrameError::LongHeader)
}

fn body(input: &mut impl BufRead, length: u64) -> Result<Value, FrameError> {
    let bytes = usize::try_from(length).ok().filter(|&it| it <= MESSAGE);
    let bytes = bytes.ok_or(FrameError::TooLong(length))?;
    // It grows with what is there, whatever the header says.
    let mut text = Vec::new();
    input.take(length).read_to_end(&mut text)?;
    match text.len() == bytes {
        true => Ok(serde_json::from_slice(&text)?),
        false => Err(FrameError::Truncated),
    }
}

enum Sink<'o> {
    Standard(&'o mut Output),
    Socket(BufWriter<TcpStream>),
}

/// Where messages are written.
pub(super) struct Wire<'o> {
    sink: Sink<'o>,
    sequence: u64,
    /// The client has gone.
    closed: bool,
}

impl<'o> Wire<'o> {
    pub(super) fn standard(out: &'o mut Output) -> Wire<'o> {
        Wire::new(Sink::Standard(out))
    }

    pub(super) fn socket(socket: TcpStream) -> Wire<'o> {
        Wire::new(Sink::Socket(BufWriter::new(socket)))
    }

    fn new(sink: Sink<'o>) -> Wire<'o> {
        Wire {
            sink,
            sequence: 0,
            closed: false,
        }
    }

    /// Has the client gone?
    pub(super) fn closed(&self) -> bool {
        self.closed
    }

    fn send(&mut self, mut message: Value) -> Result<(), Unwritten> {
        self.sequence += 1;
        message["seq"] = self.sequence.into();
        let text = message.to_string();
        match &mut self.sink {
            Sink::Standard(out) => {
                write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())?;
                out.flush()?;
                self.closed = out.closed();
            }
            Sink::Socket(out) => {
                let sent = write!(out, "Content-Length: {}\r\n\r\n{text}", text.len());
                self.closed |= sent.and_then(|()| out.flush()).is_err();
            }
        }
        Ok(())
    }

    /// Sends an event.
    pub(super) fn event(&mut self, event: &str, body: Value) -> Result<(), Unwritten> {
        self.send(json!({ "type": "event", "event": event, "body": body }))
    }

    /// Prints text in the client's console.
    pub(super) fn print(&mut self, category: &str, text: &str) -> Result<(), Unwritten> {
        self.event("output", json!({ "category": category, "output": text }))
    }

    /// Answers a request.
    pub(super) fn answer(
        &mut self,
        (seq, command): (u64, &str),
        result: Result<Value, String>,
    ) -> Result<(), Unwritten> {
        let mut message = json!({
            "type": "response",
            "request_seq": seq,
            "command": command,
            "success": result.is_ok(),
        });
        match result {
            Ok(Value::Null) => {}
            Ok(body) => message["body"] = body,
            Err(error) => {
                message["message"] = error.clone().into();
                // Braces of a format are variables, so the text is one.
                message["body"] = json!({ "error": {
                    "id": 1,
                    "format": "{_text}",
                    "variables": { "_text": error },
                    "showUser": true,
                } });
            }
        }
        self.send(message)
    }
}
