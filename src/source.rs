//! Source lines and functions of a code object: an address to the function, inlined functions included,
//! the file and the line that it was compiled from, and a line to its addresses.
//!
//! Lines and inlined functions are in the debugging information (DWARF 2 to 5) that compilers write with
//! `-g`. Without it functions come from the symbol table.
//!
//! ```
//! use wavelift::object;
//! use wavelift::source::{SourceMap, SourceText};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let object = object::open(&std::fs::read("tests/kernels/source/lines.gfx906.co")?, None)?;
//! let map = SourceMap::read(&object)?;
//! let frames = map.frames(0x1788);
//! let names: Vec<_> = frames.iter().map(|frame| frame.name()).collect();
//! assert_eq!(names, ["float norm<float>(float, float)", "void norms<float>(float*, float const*, int)"]);
//! let location = frames[0].location.expect("it has a line");
//! assert_eq!((location.file, location.line, location.column), ("lines.hip", 16, 9));
//!
//! // A line without code of its own stands for the next one that has some.
//! let places = map.places("lines.hip", 39);
//! assert_eq!((places[0].location.line, places[0].address), (40, 0x1724));
//!
//! let mut text = SourceText::new(&map, ["tests/kernels/source".into()]);
//! assert_eq!(text.line(location.file, location.line), Some("    sum += square(y);"));
//! # Ok(())
//! # }
//! ```

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use runtime::foreign::Foreign;
use runtime::object::{CodeObject, LoadError};

mod budget;
mod names;
mod notes;
mod read;
mod scopes;
mod text;

pub use names::demangle;
#[cfg(feature = "jit")]
pub(crate) use names::short;
pub use notes::Headings;
pub use text::SourceText;

use scopes::Scopes;

/// Why debugging information cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// A section cannot be read.
    #[error(transparent)]
    Section(#[from] LoadError),
    /// The information contradicts itself.
    #[error("the debugging information is damaged: {detail}", detail = Foreign(.detail))]
    Damaged {
        /// The defect.
        detail: String,
    },
    /// The information refers to its own parts so often that reading all of it would take too long.
    #[error("the debugging information is damaged: it repeats itself far beyond its size")]
    Repeats,
}

/// A place in source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The file: the path that the compiler was given, with the folder where it ran.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
}

impl fmt::Display for Location<'_> {
    /// `file:line`, or `file:line:column`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Foreign(self.file), self.line)?;
        match self.column {
            0 => Ok(()),
            column => write!(f, ":{column}"),
        }
    }
}

/// A function that an address is part of, inlined or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The function's name as the linker knows it; empty if unknown.
    pub function: &'a str,
    /// Is it inlined into the next frame's function?
    pub inlined: bool,
    /// Where the address is in it: in the frames after the first, the call of the frame before.
    pub location: Option<Location<'a>>,
}

impl<'a> Frame<'a> {
    /// The function's name as in source text.
    pub fn name(&self) -> Cow<'a, str> {
        demangle(self.function)
    }
}

/// An address at which the code of a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The line.
    pub location: Location<'a>,
    /// Address in the code object.
    pub address: u64,
}

/// Consecutive code of one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines<'a> {
    /// Addresses in the code object.
    pub addresses: Range<u64>,
    /// Where it was compiled from; `None` where the compiler says that it has no line.
    pub location: Option<Location<'a>>,
    /// Does a statement begin here?
    pub statement: bool,
}

#[derive(Clone, Debug)]
struct File {
    path: Box<str>,
    /// Its text, if the compiler has put that into the code object.
    text: Option<Box<str>>,
}

/// A row of the line table.
#[derive(Clone, Copy, Debug)]
struct Row {
    start: u64,
    end: u64,
    position: Position,
    statement: bool,
}

/// A location by number of its file; line 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    file: u32,
    line: u32,
    column: u32,
}

/// A function of the symbol table.
#[derive(Clone, Debug)]
struct Symbol {
    address: u64,
    /// 0 if unknown.
    size: u64,
    name: Box<str>,
}

/// Functions and lines of a code object.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<File>,
    /// By address.
    rows: Vec<Row>,
    scopes: Scopes,
    /// By address.
    symbols: Vec<Symbol>,
}

impl SourceMap {
    /// Reads the debugging information of a code object. Without any, the map has functions only.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if the information is damaged.
    pub fn read(object: &CodeObject) -> Result<SourceMap, SourceError> {
        let mut map = SourceMap::of_symbols(object);
        read::read(object, &mut map)?;
        Ok(map)
    }

    /// The functions of the symbol table, without debugging information.
    pub fn of_symbols(object: &CodeObject) -> SourceMap {
        let functions = object.functions.iter().map(|symbol| Symbol {
            address: symbol.value,
            size: symbol.size,
            name: symbol.name.as_str().into(),
        });
        let kernels = object.kernels.iter().map(|kernel| Symbol {
            address: kernel.code.start,
            size: kernel.code.end - kernel.code.start,
            name: kernel.name.as_str().into(),
        });
        let mut symbols: Vec<Symbol> = functions.chain(kernels).collect();
        symbols.sort_by_key(|symbol| symbol.address);
        SourceMap {
            symbols,
            ..SourceMap::default()
        }
    }

    /// Does any address have a line?
    pub fn has_lines(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Files with code, in no particular order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| &*file.path)
    }

    /// Where the code at an address was compiled from.
    pub fn location(&self, address: u64) -> Option<Location<'_>> {
        self.position(self.row(address)?.position)
    }

    /// The functions that an address is part of, the innermost first; none outside functions.
    pub fn frames(&self, address: u64) -> Vec<Frame<'_>> {
        let mut location = self.location(address);
        let mut frames = Vec::new();
        for scope in self.scopes.at(address) {
            frames.push(Frame {
                function: self.scopes.name(scope),
                inlined: scope.call.is_some(),
                location,
            });
            location = scope.call.and_then(|call| self.position(call));
        }
        if frames.is_empty()
            && let Some((function, _)) = self.symbol(address)
        {
            frames.push(Frame {
                function,
                inlined: false,
                location,
            });
        }
        frames
    }

    /// The function of the symbol table that holds an address, as the linker knows it, and the address's
    /// distance from its beginning.
    pub fn symbol(&self, address: u64) -> Option<(&str, u64)> {
        let after = self.symbols.partition_point(|s| s.address <= address);
        let symbol = self.symbols.get(after.checked_sub(1)?)?;
        let distance = address - symbol.address;
        (symbol.size == 0 || distance < symbol.size).then_some((&*symbol.name, distance))
    }

    /// Where the code of a line begins, by address; of the next line with code if the line has none.
    /// `file` is a path or the end of one, such as `kernel.cl` or `src/kernel.cl`; if several files
    /// match, places of all of them are given.
    pub fn places(&self, file: &str, line: u32) -> Vec<Place<'_>> {
        let mut places = Vec::new();
        for (number, known) in self.files.iter().enumerate() {
            if !text::ends_with(&known.path, file) {
                continue;
            }
            let rows = self.rows.iter().enumerate();
            let here = rows.filter(|(_, row)| row.position.file as usize == number);
            let begins: Vec<_> = here.filter(|(_, row)| row.statement).collect();
            let lines = begins.iter().map(|(_, row)| row.position.line);
            let Some(found) = lines.filter(|&l| l >= line.max(1)).min() else {
                continue;
            };
            let begins = begins
                .into_iter()
                .filter(|(_, row)| row.position.line == found);
            // Of a run of rows with the same line only the first one is a beginning.
            let begins = begins.filter(|&(index, row)| {
                let before = index.checked_sub(1).map(|index| &self.rows[index]);
                before.is_none_or(|before| {
                    let (a, b) = (before.position, row.position);
                    before.end != row.start || (a.file, a.line) != (b.file, b.line)
                })
            });
            places.extend(begins.filter_map(|(_, row)| {
                Some(Place {
                    location: self.position(row.position)?,
                    address: row.start,
                })
            }));
        }
        places.sort_by_key(|place| place.address);
        places
    }

    /// All code with lines, by address.
    pub fn lines(&self) -> impl Iterator<Item = Lines<'_>> {
        self.rows.iter().map(|row| self.lines_of(row))
    }

    /// The code around an address that has its location.
    pub fn lines_at(&self, address: u64) -> Option<Lines<'_>> {
        self.row(address).map(|row| self.lines_of(row))
    }

    fn lines_of(&self, row: &Row) -> Lines<'_> {
        Lines {
            addresses: row.start..row.end,
            location: self.position(row.position),
            statement: row.statement,
        }
    }

    fn row(&self, address: u64) -> Option<&Row> {
        let after = self.rows.partition_point(|row| row.start <= address);
        let row = self.rows.get(after.checked_sub(1)?)?;
        (address < row.end).then_some(row)
    }

    fn position(&self, position: Position) -> Option<Location<'_>> {
        let Position { file, line, column } = position;
        let file = &*self.files.get(file as usize)?.path;
        (line != 0).then_some(Location { file, line, column })
    }
}
