//! The functions and source lines of an address, as JSON.

use serde::Serialize;
use wavelift::source::{SourceMap, demangle};

/// A function that an address is part of, with the line in it.
#[derive(Serialize)]
pub(super) struct FrameReport<'a> {
    function: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    demangled: Option<String>,
    inlined: bool,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
}

/// The functions, the innermost first, with demangled names if requested.
pub(super) fn frames(map: &SourceMap, address: u64, demangled: bool) -> Vec<FrameReport<'_>> {
    let frames = map.frames(address).into_iter().map(|frame| {
        let at = frame.location;
        FrameReport {
            function: frame.function,
            demangled: demangled.then(|| demangle(frame.function).into_owned()),
            inlined: frame.inlined,
            file: at.map(|at| at.file),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column).filter(|column| *column != 0),
        }
    });
    frames.collect()
}

/// Where an instruction was compiled from; all are `None` where the code object has no line for it.
#[derive(Default, Serialize)]
pub(super) struct LineReport<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<Vec<FrameReport<'a>>>,
}

impl<'a> LineReport<'a> {
    /// That of an address in the code object.
    pub(super) fn new(map: Option<&'a SourceMap>, address: u64) -> LineReport<'a> {
        let found = map.and_then(|map| Some((map, map.location(address)?)));
        let Some((map, at)) = found else {
            return LineReport::default();
        };
        LineReport {
            file: Some(at.file),
            line: Some(at.line),
            frames: Some(frames(map, address, true)),
        }
    }
}
