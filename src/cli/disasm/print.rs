//! A listing as assembler source, and as JSON.

use frontend::inst::Inst;
use runtime::object::{CodeObject, Version};
use serde::Serialize;

use super::descriptor::directives;
use super::listing::{Function, Item, Line, Listing, Part};
use super::metadata;
use crate::cli::output::Output;

/// Comment added to each line.
#[derive(Clone, Copy)]
pub(super) struct Comments {
    pub(super) addresses: bool,
    pub(super) bytes: bool,
}

/// Name of the label at an address.
fn label(address: u64) -> String {
    format!(".L{address:x}")
}

/// The instruction's text, with a label instead of a distance.
fn inst_text(inst: &Inst, line: &Line<'_>, listing: &Listing<'_>) -> String {
    let mut text = inst.text(listing.gfx);
    if let Some(target) = line.branch_target()
        && listing.labels.contains(&target)
        && let Some(space) = text.rfind(' ')
    {
        text.truncate(space + 1);
        text.push_str(&label(target));
    }
    text
}

/// Bytes as `.long` takes them.
fn dwords(bytes: &[u8]) -> String {
    let words: Vec<String> = bytes
        .chunks(4)
        .map(|chunk| {
            let word = chunk
                .iter()
                .rev()
                .fold(0u32, |word, &byte| word << 8 | u32::from(byte));
            format!("0x{word:08x}")
        })
        .collect();
    words.join(", ")
}

/// A symbol name for assemblers, quoted if necessary.
fn symbol(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '@');
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.escape_default())
    }
}

pub(super) fn text(
    object: &CodeObject,
    listing: &Listing<'_>,
    comments: Comments,
    out: &mut Output,
) -> anyhow::Result<()> {
    writeln!(
        out,
        "\t.amdgcn_target \"amdgcn-amd-amdhsa--{}\"",
        object.target
    )?;
    // Current assemblers lack version 3; version 4 differs in the target's features only.
    let version = object.version.max(Version::V4).number();
    writeln!(out, "\t.amdhsa_code_object_version {version}")?;
    writeln!(out, "\t.text")?;
    for part in &listing.parts {
        print_part(part, listing, comments, out)?;
    }
    let shown = |kernel: &&runtime::object::Kernel| {
        listing
            .parts
            .iter()
            .any(|part| part.range.contains(&kernel.code.start))
    };
    let kernels: Vec<_> = object.kernels.iter().filter(shown).collect();
    if !kernels.is_empty() {
        writeln!(out, "\n\t.section .rodata,\"a\",@progbits\n\t.p2align 6")?;
    }
    for kernel in &kernels {
        writeln!(out, "\t.amdhsa_kernel {}", symbol(&kernel.name))?;
        for (name, value) in directives(&kernel.descriptor, &object.target) {
            writeln!(out, "\t\t.amdhsa_{name} {value}")?;
        }
        writeln!(out, "\t.end_amdhsa_kernel")?;
    }
    if kernels.len() == object.kernels.len()
        && let Some(yaml) = metadata::yaml(&object.metadata_note)
    {
        writeln!(
            out,
            "\n\t.amdgpu_metadata\n---\n{yaml}...\n\t.end_amdgpu_metadata"
        )?;
    }
    Ok(())
}

fn print_part(
    part: &Part<'_>,
    listing: &Listing<'_>,
    comments: Comments,
    out: &mut Output,
) -> anyhow::Result<()> {
    // Kernels begin at multiples of 256, also when the part is reassembled.
    writeln!(out, "\t.p2align 8")?;
    for line in &part.lines {
        if out.closed() {
            break;
        }
        let starts = |function: &&Function<'_>| function.address == line.address;
        for function in listing.functions.iter().filter(starts) {
            let name = symbol(function.name);
            let binding = if function.exported {
                "\t.globl "
            } else {
                "\t.local "
            };
            writeln!(out, "\n{binding}{name}\n\t.type {name},@function\n{name}:")?;
        }
        if listing.labels.contains(&line.address) {
            writeln!(out, "{}:", label(line.address))?;
        }
        print_line(line, listing, comments, out)?;
        let end = line.address + line.bytes.len() as u64;
        let ends = |function: &&Function<'_>| {
            function.size != 0 && function.address + function.size == end
        };
        for function in listing.functions.iter().filter(ends) {
            let name = symbol(function.name);
            writeln!(out, "\t.size {name}, {}", function.size)?;
        }
    }
    Ok(())
}

fn print_line(
    line: &Line<'_>,
    listing: &Listing<'_>,
    comments: Comments,
    out: &mut Output,
) -> anyhow::Result<()> {
    let mut notes = Vec::new();
    if comments.addresses {
        notes.push(format!("{:06x}", line.address));
    }
    if comments.bytes {
        notes.push(
            line.bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        );
    }
    let text = match &line.item {
        Item::Inst(inst) if line.assembles_shorter() => {
            notes.push(inst_text(inst, line, listing));
            format!(".long {}", dwords(line.bytes))
        }
        Item::Inst(inst) => inst_text(inst, line, listing),
        Item::Data(error) => {
            notes.push(error.to_string());
            match line.bytes {
                [_, _, _, _] => format!(".long {}", dwords(line.bytes)),
                bytes => {
                    let bytes: Vec<_> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
                    format!(".byte {}", bytes.join(", "))
                }
            }
        }
        Item::Fill { word, count } => format!(".fill {count}, 4, 0x{word:08x}"),
    };
    if notes.is_empty() {
        writeln!(out, "\t{text}")?;
    } else {
        writeln!(out, "\t{text:<58} // {}", notes.join(": "))?;
    }
    Ok(())
}

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
