//! A listing as JSON.

use runtime::object::CodeObject;
use serde::Serialize;
use wavelift::listing::{Item, Listing, directives};
use wavelift::source::{Location, SourceMap, SourceText, demangle};

use crate::cli::frames::{FrameReport, frames};

/// What is shown besides the code.
pub(super) struct Shown<'a> {
    /// Names as in source text.
    pub(super) demangle: bool,
    /// The control-flow graph.
    pub(super) blocks: bool,
    /// Source lines.
    pub(super) map: Option<&'a SourceMap>,
}

#[derive(Serialize)]
struct Json<'a> {
    target: String,
    version: u32,
    kernels: Vec<JsonKernel<'a>>,
    functions: Vec<JsonFunction<'a>>,
    code: Vec<JsonLine<'a>>,
    /// The control-flow graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<JsonBlock<'a>>>,
}

#[derive(Serialize)]
struct JsonKernel<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    demangled: Option<String>,
    address: u64,
    size: u64,
    descriptor: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    demangled: Option<String>,
    address: u64,
    size: u64,
    exported: bool,
}

/// One item of the code. `text` is null where the bytes are no instruction.
#[derive(Serialize)]
struct JsonLine<'a> {
    address: u64,
    bytes: String,
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_target: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Functions, the innermost first, with the line in each.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<Vec<FrameReport<'a>>>,
    /// The text of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// A basic block.
#[derive(Serialize)]
struct JsonBlock<'a> {
    function: Option<&'a str>,
    address: u64,
    /// The address after it.
    end: u64,
    edges: Vec<JsonEdge>,
    calls: Vec<JsonCall>,
}

/// `to` is null where only registers have the address.
#[derive(Serialize)]
struct JsonEdge {
    kind: &'static str,
    to: Option<u64>,
}

#[derive(Serialize)]
struct JsonCall {
    at: u64,
    to: Option<u64>,
}

impl Shown<'_> {
    fn name(&self, name: &str) -> Option<String> {
        self.demangle.then(|| demangle(name).into_owned())
    }

    fn frames(&self, address: u64) -> Option<Vec<FrameReport<'_>>> {
        Some(frames(self.map?, address, self.demangle))
    }
}

fn blocks<'a>(listing: &'a Listing<'_>) -> Vec<JsonBlock<'a>> {
    let graph = listing.graph();
    let blocks = graph.blocks.into_iter().map(|block| JsonBlock {
        function: block.function,
        address: block.range.start,
        end: block.range.end,
        edges: block
            .edges
            .iter()
            .map(|edge| JsonEdge {
                kind: edge.kind.name(),
                to: edge.to,
            })
            .collect(),
        calls: block
            .calls
            .iter()
            .map(|call| JsonCall {
                at: call.at,
                to: call.to,
            })
            .collect(),
    });
    blocks.collect()
}

pub(super) fn json<'a>(
    object: &'a CodeObject,
    listing: &'a Listing<'a>,
    shown: &'a Shown<'a>,
    mut text: Option<&mut SourceText>,
) -> impl Serialize + use<'a> {
    let mut source = |address: u64| {
        let Location { file, line, .. } = shown.map?.location(address)?;
        Some(text.as_deref_mut()?.line(file, line)?.to_owned())
    };
    let lines = listing.parts.iter().flat_map(|part| &part.lines);
    Json {
        target: object.target.to_string(),
        version: object.version.number(),
        kernels: object
            .kernels
            .iter()
            .filter(|kernel| {
                listing
                    .parts
                    .iter()
                    .any(|part| part.range.contains(&kernel.code.start))
            })
            .map(|kernel| JsonKernel {
                name: &kernel.name,
                demangled: shown.name(&kernel.name),
                address: kernel.code.start,
                size: kernel.code.end - kernel.code.start,
                descriptor: directives(&kernel.descriptor, &object.target)
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value.into()))
                    .collect(),
            })
            .collect(),
        functions: listing
            .functions
            .iter()
            .map(|function| JsonFunction {
                name: function.name,
                demangled: shown.name(function.name),
                address: function.address,
                size: function.size,
                exported: function.exported,
            })
            .collect(),
        code: lines
            .map(|line| JsonLine {
                address: line.address,
                bytes: line
                    .bytes
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect(),
                text: match &line.item {
                    Item::Inst(inst) => Some(inst.text(listing.gfx)),
                    _ => None,
                },
                branch_target: line.branch_target(),
                error: match &line.item {
                    Item::Data(error) => Some(error.to_string()),
                    _ => None,
                },
                frames: shown.frames(line.address),
                source: source(line.address),
            })
            .collect(),
        blocks: shown.blocks.then(|| blocks(listing)),
    }
}
