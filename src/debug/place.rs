//! Places in code: instructions, functions, lines of a source.

use runtime::LoadedCode;

use super::error::DebugError;
use crate::breaks::{self, PlaceError};
use crate::module::Module;

/// The functions that the code at a guest address is part of, the innermost first.
pub(super) fn functions(module: &Module, pc: u64) -> Vec<Function> {
    let Ok(map) = module.source() else {
        // A location that needs a line says that the debugging information is damaged.
        return Vec::new();
    };
    let frames = map.frames(module.code().local(pc));
    let functions = frames.iter().map(|frame| Function {
        name: frame.name().into_owned(),
        inlined: frame.inlined,
        line: frame.location.map(SourceLine::from),
    });
    functions.collect()
}

/// A line of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file: the path that the compiler was given, with the folder where it ran.
    pub file: String,
    /// The line, from 1 on.
    pub line: u32,
    /// The column, from 1 on; 0 if unknown.
    pub column: u32,
}

impl From<crate::source::Location<'_>> for SourceLine {
    fn from(location: crate::source::Location<'_>) -> SourceLine {
        SourceLine {
            file: location.file.to_owned(),
            line: location.line,
            column: location.column,
        }
    }
}

impl std::fmt::Display for SourceLine {
    /// The file's name without its folder, and the line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        write!(f, "{}:{}", runtime::foreign::Foreign(name), self.line)
    }
}

/// A function that code is part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// Its name as in source text.
    pub name: String,
    /// Is it inlined into the next one?
    pub inlined: bool,
    /// The line in it.
    pub line: Option<SourceLine>,
}

/// A place in code, for readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePlace {
    /// Address in the code object's numbering, as in a disassembly; the guest address outside of it.
    pub address: u64,
    /// Function and offset, if symbols are available.
    pub symbol: Option<(String, u64)>,
    /// The line, if the code object has line numbers.
    pub line: Option<SourceLine>,
}

impl CodePlace {
    /// That of a guest address.
    pub(super) fn of(module: &Module, pc: u64) -> CodePlace {
        let loaded = module.code();
        let symbol = loaded.symbol_at(pc);
        let map = module.source().ok();
        CodePlace {
            address: loaded.local(pc),
            symbol: symbol.map(|(symbol, offset)| (symbol.name.clone(), offset)),
            line: map.and_then(|map| map.location(loaded.local(pc)).map(SourceLine::from)),
        }
    }
}

impl std::fmt::Display for CodePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "0x{:04x}", self.address)?;
        if let Some((name, offset)) = &self.symbol {
            write!(f, " {name}+0x{offset:x}")?;
        }
        match &self.line {
            Some(line) => write!(f, " at {line}"),
            None => Ok(()),
        }
    }
}

/// An instruction of a disassembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembled {
    /// Where it is.
    pub place: CodePlace,
    /// Its guest address.
    pub pc: u64,
    /// As LLVM prints it.
    pub text: String,
}

/// Where a search for instructions before an address begins: its function, or the segment.
fn start_of(code: &LoadedCode, pc: u64) -> Option<(u64, u64)> {
    let (start, bytes) = code
        .segments()
        .find(|(start, bytes)| pc.wrapping_sub(*start) < bytes.len() as u64)?;
    let end = start + bytes.len() as u64;
    match code.symbol_at(pc) {
        Some((symbol, _)) if symbol.address >= start => Some((symbol.address, end)),
        _ => Some((start, end)),
    }
}

/// Length of the instruction at an address, or of what is none.
fn length(code: &LoadedCode, pc: u64) -> u64 {
    code.decode(pc).map_or(4, |inst| u64::from(inst.len))
}

/// The instructions of a function from its beginning on.
fn boundaries(code: &LoadedCode, start: u64, end: u64) -> impl Iterator<Item = u64> {
    let next = move |pc: &u64| Some(pc + length(code, *pc)).filter(|pc| *pc < end);
    std::iter::successors(Some(start), next)
}

/// The guest address, if an instruction begins there.
pub(super) fn instruction(code: &LoadedCode, pc: u64) -> Result<u64, DebugError> {
    match breaks::begins(code, pc) {
        true => Ok(pc),
        false => {
            let place = breaks::Place::Address(code.local(pc));
            Err(PlaceError::NoInstruction(place).into())
        }
    }
}

/// Instructions around a guest address: at most `before` ahead of it in its function, and it with those
/// behind it, `count` in all.
pub(super) fn around(module: &Module, pc: u64, before: usize, count: usize) -> Vec<Disassembled> {
    let code = module.code();
    let Some((start, end)) = start_of(code, pc) else {
        return Vec::new();
    };
    let ahead: Vec<u64> = boundaries(code, start, end)
        .take_while(|at| *at < pc)
        .collect();
    let first = ahead[ahead.len().saturating_sub(before)..].first().copied();
    let listed = boundaries(code, first.unwrap_or(pc), end).take(count);
    let listed = listed.map(|pc| Disassembled {
        place: CodePlace::of(module, pc),
        pc,
        text: code.text_at(pc),
    });
    listed.collect()
}

/// Where a location is: guest addresses. The first of the modules that has it decides.
pub(super) fn locate(
    modules: impl Iterator<Item = Module>,
    text: &str,
) -> Result<Vec<u64>, DebugError> {
    let text = text.trim();
    let place: breaks::Place = text.strip_prefix('*').unwrap_or(text).parse()?;
    let mut error = None;
    for module in modules {
        match place.addresses(&module) {
            Ok(found) => return Ok(found),
            Err(why) => error = error.or(Some(why)),
        }
    }
    Err(error.map_or(DebugError::NoLaunch, DebugError::from))
}
