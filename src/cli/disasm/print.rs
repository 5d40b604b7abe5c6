//! A listing as JSON.

use runtime::object::CodeObject;
use serde::Serialize;
use wavelift::listing::{Item, Listing, directives};

#[derive(Serialize)]
struct Json<'a> {
    target: String,
    version: u32,
    kernels: Vec<JsonKernel<'a>>,
    functions: Vec<JsonFunction<'a>>,
    code: Vec<JsonLine>,
}

#[derive(Serialize)]
struct JsonKernel<'a> {
    name: &'a str,
    address: u64,
    size: u64,
    descriptor: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    name: &'a str,
    address: u64,
    size: u64,
    exported: bool,
}

/// One item of the code. `text` is null where the bytes are no instruction.
#[derive(Serialize)]
struct JsonLine {
    address: u64,
    bytes: String,
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_target: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) fn json<'a>(object: &'a CodeObject, listing: &'a Listing<'_>) -> impl Serialize + 'a {
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
            })
            .collect(),
    }
}
