//! Standard output. A closed output (`| head`) is not an error: the rest is not printed, and the
//! exit status is the command's own.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use runtime::foreign;

use super::new_file::Unwritten;

/// Buffered standard output, or text in memory.
pub(crate) struct Output {
    inner: Sink,
    closed: bool,
}

enum Sink {
    Standard(BufWriter<StdoutLock<'static>>),
    Text(Vec<u8>),
}

impl Sink {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Sink::Standard(writer) => writer,
            Sink::Text(text) => text,
        }
    }
}

impl Output {
    /// Locks standard output.
    pub(crate) fn new() -> Output {
        Output {
            inner: Sink::Standard(BufWriter::with_capacity(1 << 16, io::stdout().lock())),
            closed: false,
        }
    }

    /// Keeps what is written.
    pub(crate) fn in_memory() -> Output {
        Output {
            inner: Sink::Text(Vec::new()),
            closed: false,
        }
    }

    /// What an output in memory has kept.
    pub(crate) fn kept(self) -> String {
        match self.inner {
            Sink::Standard(_) => String::new(),
            Sink::Text(text) => String::from_utf8_lossy(&text).into_owned(),
        }
    }

    /// Is the output closed?
    pub(crate) fn closed(&self) -> bool {
        self.closed
    }

    /// Writes text; used by `write!` and `writeln!`.
    pub(crate) fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> Result<(), Unwritten> {
        if self.closed {
            return Ok(());
        }
        let result = self.inner.writer().write_fmt(text);
        self.check(result)
    }

    /// Writes what is still buffered.
    pub(crate) fn flush(&mut self) -> Result<(), Unwritten> {
        if self.closed {
            return Ok(());
        }
        let result = self.inner.writer().flush();
        self.check(result)
    }

    /// Prints text; the status of a command that only does that.
    pub(crate) fn text(&mut self, text: &str) -> anyhow::Result<super::Status> {
        self.write_fmt(format_args!("{text}"))?;
        Ok(super::Status::Success)
    }

    /// Prints a value as JSON with a line end.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string(value)?;
        Ok(self.write_fmt(format_args!("{text}\n"))?)
    }

    fn check(&mut self, result: io::Result<()>) -> Result<(), Unwritten> {
        match result {
            Ok(()) => Ok(()),
            Err(error) => {
                // What is buffered cannot be written either.
                self.closed = true;
                match error.kind() {
                    ErrorKind::BrokenPipe => Ok(()),
                    _ => Err(Unwritten::new("standard output", error)),
                }
            }
        }
    }
}

/// Prints lines to standard error, ignoring errors. Characters that would change the terminal are escaped: messages contain
/// text of files.
pub(crate) fn complain(text: fmt::Arguments<'_>) {
    let shown = foreign::lines(&text.to_string());
    let _ = writeln!(io::stderr().lock(), "{shown}");
}
