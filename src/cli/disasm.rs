//! `wavelift disasm`: instructions as text, of a whole code object or line by line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use frontend::Gfx;
use runtime::files::read_whole;
use runtime::foreign::Foreign;
use runtime::object::{self, TargetId};
use wavelift::listing::{Comments, Listing};
use wavelift::source::{SourceMap, SourceText, demangle};

use super::Status;
use super::output::{Output, complain};

mod print;

/// Disassembles a code object, or single instructions, as LLVM spells them.
///
/// The text of a code object assembles again with llvm-mc: descriptors are `.amdhsa_kernel` blocks,
/// branch targets are labels. That holds with all comments that options add, too.
///
/// --cfg prints the control-flow graph instead: `wavelift disasm k.co --cfg | dot -Tsvg > k.svg`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift disasm examples/saxpy/saxpy.gfx900.co
  wavelift disasm examples/matmul/matmul.gfx900.co --kernel matmul_tiled --addresses --bytes
  wavelift disasm examples/saxpy/saxpy.bundle.hipfb --target gfx906 --json
  wavelift disasm tests/kernels/source/lines.gfx906.co --source --demangle
  wavelift disasm examples/matmul/matmul.gfx900.co --kernel matmul_tiled --cfg
  echo 0001027e | wavelift disasm --target gfx900 --hex -

With --hex each line of input is one instruction, its bytes as they lie in memory in hexadecimal;
one line of output for each: its text, or `error: ...`.")]
pub(super) struct Args {
    /// An HSA code object, an offload bundle, or a program with HIP kernels; `-` is standard input
    #[arg(required_unless_present = "hex", conflicts_with = "hex")]
    file: Option<PathBuf>,
    /// Only this kernel
    #[arg(long, conflicts_with = "hex")]
    kernel: Option<String>,
    /// The target: of the entry to choose from a bundle, or of the instructions of --hex
    #[arg(long)]
    target: Option<String>,
    /// Read instructions from this file, or from standard input: -
    #[arg(long, value_name = "FILE", requires = "target")]
    hex: Option<PathBuf>,
    /// Add each instruction's address
    #[arg(long, conflicts_with = "hex")]
    addresses: bool,
    /// Add each instruction's bytes
    #[arg(long, conflicts_with = "hex")]
    bytes: bool,
    /// Add the names of C++ functions as in source text
    #[arg(long, conflicts_with = "hex")]
    demangle: bool,
    /// Add the source lines, which code objects have that were compiled with -g
    #[arg(long, conflicts_with = "hex")]
    lines: bool,
    /// Add the source lines with their text
    #[arg(long, conflicts_with = "hex")]
    source: bool,
    /// Look for source files in this folder, too, if they are not where they were compiled
    #[arg(long, value_name = "DIR", requires = "source")]
    source_path: Vec<PathBuf>,
    /// Print the control-flow graph, in the language of Graphviz or, with --json, as `blocks`
    #[arg(long, conflicts_with_all = ["hex", "addresses", "bytes"])]
    cfg: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with = "hex")]
    json: bool,
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let target: Option<TargetId> = args.target.as_deref().map(str::parse).transpose()?;
    if let (Some(input), Some(target)) = (&args.hex, &target) {
        let gfx = target.gfx().with_context(|| {
            let known = Gfx::ALL.map(Gfx::name).join(", ");
            format!("unknown target `{target}`; known are {known} and their siblings")
        })?;
        if input == Path::new("-") {
            lines(gfx, io::stdin().lock(), out)?;
        } else {
            let name = input.display();
            let file = File::open(input).with_context(|| format!("cannot read {name}"))?;
            lines(gfx, file, out).with_context(|| format!("{name}"))?;
        }
        return Ok(Status::Success);
    }
    let Some(path) = &args.file else {
        bail!("give a file, or --hex");
    };
    let (name, bytes) = match path.as_os_str() == "-" {
        true => {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut bytes);
            read.context("cannot read standard input")?;
            ("standard input".to_owned(), bytes)
        }
        false => {
            let name = path.display().to_string();
            let bytes = read_whole(path).with_context(|| format!("cannot read {name}"))?;
            (name, bytes)
        }
    };
    let object = match &args.kernel {
        Some(kernel) => object::open_kernel(&bytes, target.as_ref(), kernel),
        None => object::open(&bytes, target.as_ref()),
    }
    .with_context(|| name.clone())?;
    let listing = Listing::new(&object, args.kernel.as_deref()).with_context(|| name.clone())?;
    let map = match args.lines || args.source {
        true => Some(SourceMap::read(&object).with_context(|| name.clone())?),
        false => None,
    };
    if let Some(map) = &map
        && !map.has_lines()
    {
        complain(format_args!(
            "note: {name} has no source lines; compile it with -g"
        ));
    }
    let mut text = map
        .as_ref()
        .filter(|_| args.source)
        .map(|map| SourceText::new(map, args.source_path.iter().cloned()));
    if args.json {
        let shown = print::Shown {
            demangle: args.demangle,
            blocks: args.cfg,
            map: map.as_ref(),
        };
        out.json(&print::json(&object, &listing, &shown, text.as_mut()))?;
    } else if args.cfg {
        let shown = |name: &str| match args.demangle {
            true => demangle(name).into_owned(),
            false => name.to_owned(),
        };
        let notes = notes(&listing, map.as_ref(), text.as_mut());
        write!(out, "{}", listing.graph().dot(shown).above(&notes))?;
    } else {
        let comments = Comments {
            addresses: args.addresses,
            bytes: args.bytes,
            names: args.demangle,
        };
        let notes = notes(&listing, map.as_ref(), text.as_mut());
        write!(out, "{}", listing.text(comments).above(&notes))?;
    }
    if let (Some(map), Some(text)) = (&map, &mut text) {
        for file in map.files().filter(|file| !text.has(file)) {
            let file = Foreign(file);
            complain(format_args!(
                "note: there is no source file {file}; name its folder with --source-path"
            ));
        }
    }
    Ok(Status::Success)
}

/// Comments above the lines of a listing.
fn notes(
    listing: &Listing<'_>,
    map: Option<&SourceMap>,
    mut text: Option<&mut SourceText>,
) -> BTreeMap<u64, Vec<String>> {
    let mut notes = BTreeMap::new();
    if let Some(map) = map {
        for part in &listing.parts {
            notes.append(&mut map.notes(part.range.clone(), text.as_deref_mut()));
        }
    }
    notes
}

/// One instruction a line.
fn lines(gfx: Gfx, input: impl Read, out: &mut Output) -> anyhow::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut line = Vec::new();
    let mut bytes = Vec::new();
    while !out.closed() {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        match decode_line(gfx, &line, &mut bytes) {
            Ok(text) => writeln!(out, "{text}")?,
            Err(error) => writeln!(out, "error: {error}")?,
        }
        // A program that waits for each answer gets it.
        if input.buffer().is_empty() {
            out.flush()?;
        }
    }
    Ok(())
}

/// The text of the instruction in a line of hexadecimal digits.
fn decode_line(gfx: Gfx, line: &[u8], bytes: &mut Vec<u8>) -> Result<String, String> {
    bytes.clear();
    let mut half = None;
    for &c in line {
        let digit = match c {
            b'0'..=b'9' => c - b'0',
            b'a'..=b'f' => c - b'a' + 10,
            b'A'..=b'F' => c - b'A' + 10,
            b' ' | b'\t' | b',' | b'\r' | b'\n' => continue,
            _ => {
                let shown = char::from(c).escape_default();
                return Err(format!("`{shown}` is no hexadecimal digit"));
            }
        };
        match half.take() {
            None => half = Some(digit),
            Some(high) => bytes.push(high << 4 | digit),
        }
    }
    if half.is_some() {
        return Err("an odd number of hexadecimal digits".to_owned());
    }
    let inst = frontend::decode(gfx, bytes).map_err(|error| error.to_string())?;
    let (have, len) = (bytes.len(), usize::from(inst.len));
    if have != len {
        let text = inst.text(gfx);
        return Err(format!(
            "{have} bytes, but the instruction `{text}` has {len}"
        ));
    }
    Ok(inst.text(gfx))
}
