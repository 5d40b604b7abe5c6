//! Places in code: instructions, functions, lines of a source, and locations as one writes them.

use runtime::LoadedCode;

use super::error::DebugError;
use crate::module::Module;

/// A line of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file's name, as the code object has it.
    pub file: String,
    /// The line, from 1 on.
    pub line: u32,
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

/// The line of the instruction at an address of the code object, if it has line numbers.
pub(super) fn line_at(module: &Module, address: u64) -> Option<SourceLine> {
    let location = module.source().ok()?.location(address)?;
    Some(SourceLine {
        file: location.file.to_owned(),
        line: location.line,
    })
}

/// Where the code of a line begins: addresses of the code object.
pub(super) fn addresses_of(module: &Module, file: &str, line: u32) -> Vec<u64> {
    let Ok(map) = module.source() else {
        return Vec::new();
    };
    let places = map.places(file, line);
    places.iter().map(|place| place.address).collect()
}

impl CodePlace {
    /// That of a guest address.
    pub(super) fn of(module: &Module, pc: u64) -> CodePlace {
        let code = module.code();
        let symbol = code.symbol_at(pc);
        CodePlace {
            address: code.local(pc),
            symbol: symbol.map(|(symbol, offset)| (symbol.name.clone(), offset)),
            line: line_at(module, code.local(pc)),
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
            Some(SourceLine { file, line }) => write!(f, " at {file}:{line}"),
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
    let Some((start, end)) = start_of(code, pc) else {
        return Err(DebugError::Location(format!(
            "there is no code at 0x{:x}",
            pc.wrapping_sub(code.guest(0))
        )));
    };
    let before = boundaries(code, start, end)
        .take_while(|at| *at <= pc)
        .last()
        .unwrap_or(start);
    if before == pc {
        return Ok(pc);
    }
    Err(DebugError::NoInstruction {
        address: code.local(pc),
        before: code.local(before),
        after: code.local(before + length(code, before)),
    })
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

/// Where a location is: guest addresses. It is an address of the code object (`0x1a00`, or `*0x1a00`), a
/// function (`saxpy`, `saxpy+0x10`) or a line (`saxpy.cl:12`). The first of the modules that has it
/// decides.
pub(super) fn locate(modules: &[Module], text: &str) -> Result<Vec<u64>, DebugError> {
    let text = text.trim();
    let unknown = |what: String| Err(DebugError::Location(what));
    let Some(first) = modules.first() else {
        return Err(DebugError::NoLaunch);
    };
    let address = text.strip_prefix('*').unwrap_or(text);
    if let Some(digits) = address.strip_prefix("0x") {
        let Ok(address) = u64::from_str_radix(digits, 16) else {
            return unknown(format!("`{text}` is no address"));
        };
        let has = |module: &&Module| {
            let code = module.code();
            start_of(code, code.guest(address)).is_some()
        };
        let module = modules.iter().find(has).unwrap_or(first);
        return Ok(vec![instruction(
            module.code(),
            module.code().guest(address),
        )?]);
    }
    if let Some((file, line)) = text.rsplit_once(':')
        && let Ok(line) = line.parse()
    {
        for module in modules {
            let found = addresses_of(module, file, line);
            if !found.is_empty() {
                let code = module.code();
                return Ok(found.into_iter().map(|at| code.guest(at)).collect());
            }
        }
        return unknown(format!(
            "there is no code of line {line} of `{file}`, or the code object has no line numbers (-g); \
             a function and an offset such as {} is a location, too",
            example(first)
        ));
    }
    let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
    let digits = offset.trim().strip_prefix("0x");
    let offset = match digits {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => offset.trim().parse().ok(),
    };
    let Some(offset) = offset else {
        return unknown(format!("`{text}`: the offset is no number"));
    };
    for module in modules {
        let symbols = module.code().symbols().iter();
        let symbol = symbols
            .filter(|symbol| start_of(module.code(), symbol.address).is_some())
            .find(|symbol| symbol.name == name.trim());
        if let Some(symbol) = symbol {
            if offset >= symbol.size.max(1) {
                return unknown(format!(
                    "{} has 0x{:x} bytes, so there is no {text}",
                    symbol.name, symbol.size
                ));
            }
            return Ok(vec![instruction(module.code(), symbol.address + offset)?]);
        }
    }
    unknown(format!(
        "there is no function `{name}`; a location is a function, a function and an offset such as {}, an \
         address of the code object such as 0x{:x}, or a line such as file.cl:12",
        example(first),
        first
            .code()
            .segments()
            .next()
            .map_or(0, |(start, _)| first.code().local(start)),
    ))
}

/// A location as an example.
fn example(module: &Module) -> String {
    let kernel = module.kernels().next().unwrap_or("kernel");
    format!("{kernel}+0x10")
}
