//! Where what is printed while a run goes on goes to: text or lines of JSON.

use std::fmt::{self, Display};
use std::io::Write as _;
use std::path::Path;

use serde::Serialize;
use wavelift::Kernel;
use wavelift::source::SourceMap;
use wavelift::trace::{Format, RegisterChange, RegisterValue};

use crate::cli::new_file::{NewFile, Unwritten};
use crate::cli::output::{Output, complain};

/// Where it goes.
pub(super) enum Sink {
    Text,
    Json,
    JsonFile(NewFile),
}

impl Sink {
    /// JSON goes to standard output if the path is `-`. Without a path there is text.
    pub(super) fn new(json: Option<&Path>) -> anyhow::Result<Sink> {
        Ok(match json {
            None => Sink::Text,
            Some(path) if path == "-" => Sink::Json,
            Some(path) => Sink::JsonFile(NewFile::named(path)?),
        })
    }

    /// Writes a line, or lines of text.
    pub(super) fn write<J: Serialize>(
        &mut self,
        text: &impl Display,
        json: impl FnOnce() -> J,
        out: &mut Output,
    ) -> anyhow::Result<()> {
        match self {
            Sink::Text => Ok(writeln!(out, "{text}")?),
            Sink::Json => out.json(&json()),
            Sink::JsonFile(file) => {
                let line = serde_json::to_string(&json())?;
                let path = file.path().display().to_string();
                let written = writeln!(file, "{line}");
                Ok(written.map_err(|error| Unwritten::new(path, error))?)
            }
        }
    }

    /// Puts a complete file in its place.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self {
            Sink::Text | Sink::Json => Ok(()),
            Sink::JsonFile(file) => Ok(file.complete(|_| Ok(()))?),
        }
    }
}

/// The source lines of a kernel's code, if it has any.
pub(super) fn lines(kernel: &Kernel) -> Option<&SourceMap> {
    let map = kernel.module().source();
    let map = map
        .inspect_err(|error| complain(format_args!("warning: no source lines: {error}")))
        .ok()?;
    map.has_lines().then_some(map)
}

/// Text below the heading of its source line.
pub(super) struct Headed<'a, T>(pub(super) Option<&'a str>, pub(super) T);

impl<T: Display> Display for Headed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(heading) = self.0 {
            writeln!(f, "{heading}")?;
        }
        self.1.fmt(f)
    }
}

/// A register; 64-bit values are strings, since many readers of JSON have no such numbers.
#[derive(Serialize)]
pub(super) struct RegisterReport<'a> {
    register: &'a str,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lanes: Option<Vec<(u32, String)>>,
}

impl<'a> RegisterReport<'a> {
    pub(super) fn new(change: &'a RegisterChange) -> RegisterReport<'a> {
        let (format, digits) = match change.format {
            Format::Bits32 => ("b32", 8),
            Format::Bits64 => ("b64", 16),
            Format::F16 => ("f16", 8),
            Format::F32 => ("f32", 8),
            Format::F64 => ("f64", 16),
        };
        let text = |value: u64| format!("0x{value:0digits$x}");
        let (value, lanes) = match &change.value {
            RegisterValue::Wave(value) => (Some(text(*value)), None),
            RegisterValue::Lanes(lanes) => {
                let lanes = lanes.iter().map(|&(lane, value)| (lane, text(value)));
                (None, Some(lanes.collect()))
            }
        };
        RegisterReport {
            register: &change.register,
            format,
            value,
            lanes,
        }
    }
}
