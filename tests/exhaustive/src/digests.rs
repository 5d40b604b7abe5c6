//! The file of what has been run: a line for each sweep, with a digest for each part of its inputs.

use std::collections::BTreeMap;
use std::fmt::Write;

use frontend::Gfx;

use crate::engines::Kind;
use crate::sweep::Sweep;

/// The committed file, from the project's folder on.
pub const FILE: &str = "tests/exhaustive/digests.txt";

const HEAD: &str = "\
# What tests/exhaustive/run has run; it makes this file. Columns, separated by tabs: instruction; form; MODE, in
# hexadecimal; number of MODEs that the form is to be run under; targets with the same translation, of which the first
# was run; live input bits; what agreed on all inputs (i interpreter, c Cranelift, 2 AVX2, 5 AVX-512, r reference in
# plain Rust); digests of the parts of the inputs in order, 32 bits each.
";

/// Inputs of a part, in bits.
pub const PART_BITS: u32 = 26;

/// A part that was not run.
const MISSING: &str = "--------";

/// Instruction, form, MODE and target.
pub type Key = (String, String, u32, Gfx);

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// All targets with the translation of the one that was run, which is the first.
    pub targets: Vec<Gfx>,
    /// Number of MODEs that the form is to be run under.
    pub modes: usize,
    /// Live input bits.
    pub bits: u32,
    /// What agreed on all inputs of the parts that were run.
    pub engines: Vec<Kind>,
    /// The digest of each part.
    pub parts: Vec<Option<u32>>,
}

impl Line {
    /// That of a sweep of which nothing was run.
    pub fn of(sweep: &Sweep) -> Line {
        let bits = sweep.form.bits;
        Line {
            targets: sweep.targets.clone(),
            modes: sweep.modes,
            bits,
            engines: Vec::new(),
            parts: vec![None; 1 << bits.saturating_sub(PART_BITS)],
        }
    }

    /// Were all inputs run?
    pub fn is_whole(&self) -> bool {
        self.parts.iter().all(Option::is_some)
    }

    /// Inputs of a part.
    pub fn part(&self) -> u64 {
        1 << self.bits.min(PART_BITS)
    }
}

/// A digest of 64 bits in 32.
pub fn short(digest: u64) -> u32 {
    (digest ^ digest >> 32) as u32
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the digests: {what}")]
pub struct Malformed {
    /// Its number.
    pub line: usize,
    /// What is wrong.
    pub what: &'static str,
}

/// Reads a file.
pub fn read(text: &str) -> Result<BTreeMap<Key, Line>, Malformed> {
    let mut all = BTreeMap::new();
    for (n, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let (key, line) = parse(line).map_err(|what| Malformed { line: n + 1, what })?;
        all.insert(key, line);
    }
    Ok(all)
}

fn parse(line: &str) -> Result<(Key, Line), &'static str> {
    let columns: Vec<&str> = line.split('\t').collect();
    let &[
        instruction,
        form,
        mode,
        modes,
        targets,
        bits,
        engines,
        parts,
    ] = &columns[..]
    else {
        return Err("it does not have eight columns");
    };
    let mode = u32::from_str_radix(mode, 16).map_err(|_| "MODE is no number")?;
    let modes = modes.parse().map_err(|_| "the number of MODEs is none")?;
    let targets: Result<Vec<Gfx>, _> = targets.split(',').map(str::parse).collect();
    let targets = targets.map_err(|_| "there is no such target")?;
    let bits: u32 = bits.parse().map_err(|_| "the number of bits is none")?;
    let kind = |letter| Kind::ALL.into_iter().find(|kind| kind.letter() == letter);
    let engines: Option<Vec<Kind>> = engines.chars().map(kind).collect();
    let engines = engines.ok_or("there is no such engine")?;
    if bits > 32 || !parts.is_ascii() || parts.len() != 8 << bits.saturating_sub(PART_BITS) {
        return Err("the number of parts is wrong");
    }
    let mut digests = Vec::new();
    for at in (0..parts.len()).step_by(8) {
        let part = &parts[at..at + 8];
        digests.push(match part {
            MISSING => None,
            _ => Some(u32::from_str_radix(part, 16).map_err(|_| "a digest is no number")?),
        });
    }
    let key = (instruction.to_owned(), form.to_owned(), mode, targets[0]);
    let line = Line {
        targets,
        modes,
        bits,
        engines,
        parts: digests,
    };
    Ok((key, line))
}

/// The text of a file.
pub fn write(all: &BTreeMap<Key, Line>) -> String {
    let mut out = HEAD.to_owned();
    for ((instruction, form, mode, _), line) in all {
        let targets: Vec<&str> = line.targets.iter().map(|gfx| gfx.name()).collect();
        let engines: String = line.engines.iter().map(|kind| kind.letter()).collect();
        let parts = line.parts.iter().map(|part| match part {
            Some(digest) => format!("{digest:08x}"),
            None => MISSING.to_owned(),
        });
        let parts: String = parts.collect();
        let _ = writeln!(
            out,
            "{instruction}\t{form}\t{mode:x}\t{}\t{}\t{}\t{engines}\t{parts}",
            line.modes,
            targets.join(","),
            line.bits
        );
    }
    out
}
