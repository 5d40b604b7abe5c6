//! A listing as assembler source.

use std::collections::BTreeMap;
use std::fmt;

use frontend::inst::Inst;
use runtime::foreign::{self, Foreign};
use runtime::object::{CodeObject, Version};

use super::descriptor::directives;
use super::{Function, Item, Line, Listing, Part, metadata};
use crate::source::demangle;

/// Comments added to each line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Comments {
    /// Its address.
    pub addresses: bool,
    /// Its bytes.
    pub bytes: bool,
    /// At a function's beginning its name as in source text, if that differs.
    pub names: bool,
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

/// The directive that makes the bytes of an item.
fn directive(line: &Line<'_>) -> String {
    match (&line.item, line.bytes) {
        (Item::Fill { word, count }, _) => format!(".fill {count}, 4, 0x{word:08x}"),
        (_, [_, _, _, _]) => format!(".long {}", dwords(line.bytes)),
        (_, bytes) => {
            let bytes: Vec<_> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
            format!(".byte {}", bytes.join(", "))
        }
    }
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

/// A listing as assembler source, which assembles to the same code: see [`Listing::text`].
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    listing: &'a Listing<'a>,
    comments: Comments,
    above: Option<&'a BTreeMap<u64, Vec<String>>>,
}

impl<'a> Listing<'a> {
    /// The listing as assembler source in LLVM's syntax.
    pub fn text(&'a self, comments: Comments) -> Text<'a> {
        Text {
            listing: self,
            comments,
            above: None,
        }
    }

    /// The text of an item: an instruction in LLVM's syntax, with a label instead of a distance,
    /// or the directive for its bytes.
    pub fn line_text(&self, line: &Line<'_>) -> String {
        match &line.item {
            Item::Inst(inst) => inst_text(inst, line, self),
            _ => directive(line),
        }
    }
}

impl<'a> Text<'a> {
    /// With lines of comment above what is at an address, such as
    /// [`SourceMap::notes`](crate::source::SourceMap::notes).
    pub fn above(self, notes: &'a BTreeMap<u64, Vec<String>>) -> Text<'a> {
        Text {
            above: Some(notes),
            ..self
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text(self.listing.object, self, f)
    }
}

fn text(object: &CodeObject, text: &Text<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let listing = text.listing;
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
        print_part(part, text, out)?;
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

fn print_part(part: &Part<'_>, text: &Text<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Text {
        listing,
        comments,
        above,
    } = *text;
    // Kernels begin at multiples of 256, also when the part is reassembled.
    writeln!(out, "\t.p2align 8")?;
    for line in &part.lines {
        let starts = |function: &&Function<'_>| function.address == line.address;
        for function in listing.functions.iter().filter(starts) {
            let name = symbol(function.name);
            let binding = if function.exported {
                "\t.globl "
            } else {
                "\t.local "
            };
            write!(out, "\n{binding}{name}\n\t.type {name},@function\n{name}:")?;
            match demangle(function.name) {
                plain if comments.names && plain != function.name => {
                    writeln!(out, " // {}", Foreign(&plain))?;
                }
                _ => writeln!(out)?,
            }
        }
        if listing.labels.contains(&line.address) {
            writeln!(out, "{}:", label(line.address))?;
        }
        let notes = above.and_then(|above| above.get(&line.address));
        for note in notes.into_iter().flatten() {
            writeln!(out, "\t// {}", foreign::lines(note).replace('\n', " "))?;
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
    out: &mut fmt::Formatter<'_>,
) -> fmt::Result {
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
            directive(line)
        }
        Item::Fill { .. } => directive(line),
    };
    if notes.is_empty() {
        writeln!(out, "\t{text}")?;
    } else {
        writeln!(out, "\t{text:<58} // {}", notes.join(": "))?;
    }
    Ok(())
}
