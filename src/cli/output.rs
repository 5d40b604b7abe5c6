//! Standard output. A closed output (`| head`) is not an error: the rest is not printed, and the
//! exit status is the command's own.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

/// Buffered standard output.
pub(crate) struct Output {
    inner: BufWriter<StdoutLock<'static>>,
    closed: bool,
}

impl Output {
    /// Locks standard output.
    pub(crate) fn new() -> Output {
        Output {
            inner: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
            closed: false,
        }
    }

    /// Is the output closed?
    pub(crate) fn closed(&self) -> bool {
        self.closed
    }

    /// Writes text; used by `write!` and `writeln!`.
    pub(crate) fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.inner.write_fmt(text);
        self.check(result)
    }

    /// Writes what is still buffered.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.inner.flush();
        self.check(result)
    }

    /// Prints a value as JSON with a line end.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string(value)?;
        Ok(self.write_fmt(format_args!("{text}\n"))?)
    }

    fn check(&mut self, result: io::Result<()>) -> io::Result<()> {
        match result {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result,
        }
    }
}

/// Prints a line to standard error, ignoring errors.
pub(crate) fn complain(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
