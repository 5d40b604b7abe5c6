//! Disassembly: instructions, data between them, functions and branch targets of a code object, and
//! all of it as assembler source.
//!
//! ```
//! use wavelift::listing::{Comments, Listing};
//! use wavelift::object;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let object = object::open(&std::fs::read("examples/saxpy/saxpy.gfx900.co")?, None)?;
//! let listing = Listing::new(&object, Some("saxpy"))?;
//! let source = listing.text(Comments::default()).to_string();
//! assert!(source.contains("s_endpgm"));
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeSet;
use std::ops::Range;

use frontend::{DecodeError, Forms, Gfx, Inst, Operand, Ty};
use runtime::object::{CodeObject, LoadError};

mod descriptor;
mod graph;
mod metadata;
mod text;

pub use descriptor::directives;
pub use graph::{BasicBlock, Call, Dot, Edge, EdgeKind, Graph};
pub use text::{Comments, Text};

/// Something in the code.
#[derive(Clone, Debug)]
pub enum Item {
    /// An instruction.
    Inst(Inst),
    /// A dword that is none.
    Data(DecodeError),
    /// Equal dwords in a row between functions.
    Fill {
        /// The dword.
        word: u32,
        /// How many.
        count: u64,
    },
}

/// An item with its address and bytes.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Address in the code object.
    pub address: u64,
    /// The bytes.
    pub bytes: &'a [u8],
    /// What they are.
    pub item: Item,
}

/// A function's beginning.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// Address in the code object.
    pub address: u64,
    /// Size in bytes; 0 if unknown.
    pub size: u64,
    /// Is it visible outside the code object?
    pub exported: bool,
}

/// Consecutive code.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// Its addresses.
    pub range: Range<u64>,
    /// What is in it, by address.
    pub lines: Vec<Line<'a>>,
}

/// The code of a code object, or of one kernel of it.
#[derive(Clone, Debug)]
pub struct Listing<'a> {
    pub(crate) object: &'a CodeObject,
    /// The target.
    pub gfx: Gfx,
    /// The code.
    pub parts: Vec<Part<'a>>,
    /// Functions, by address.
    pub functions: Vec<Function<'a>>,
    /// Addresses that branches lead to, where an item begins.
    pub labels: BTreeSet<u64>,
}

/// Dwords between functions that make a [`Item::Fill`].
const FILL_AT_LEAST: usize = 4;

impl<'a> Listing<'a> {
    /// The code of the object, or of one kernel.
    pub fn new(object: &'a CodeObject, kernel: Option<&str>) -> Result<Listing<'a>, LoadError> {
        let ranges: Vec<Range<u64>> = match kernel {
            Some(name) => vec![object.kernel(name)?.code.clone()],
            None => object
                .segments
                .iter()
                .filter(|segment| segment.execute)
                .map(|segment| segment.address..segment.address + segment.data.len() as u64)
                .collect(),
        };
        Ok(Listing::of(object, ranges))
    }

    /// The code at these addresses of the object.
    pub(crate) fn of(object: &'a CodeObject, ranges: Vec<Range<u64>>) -> Listing<'a> {
        let gfx = object.target.gfx;
        let mut functions: Vec<Function<'a>> = object
            .functions
            .iter()
            .map(|symbol| Function {
                name: &symbol.name,
                address: symbol.value,
                size: symbol.size,
                exported: symbol.exported,
            })
            .collect();
        for kernel in &object.kernels {
            if functions
                .iter()
                .all(|function| function.name != kernel.name)
            {
                functions.push(Function {
                    name: &kernel.name,
                    address: kernel.code.start,
                    size: 0,
                    exported: true,
                });
            }
        }
        functions.retain(|function| ranges.iter().any(|range| range.contains(&function.address)));
        functions.sort_by_key(|function| function.address);
        let mut listing = Listing {
            object,
            gfx,
            parts: Vec::new(),
            functions,
            labels: BTreeSet::new(),
        };
        for range in ranges {
            let bytes = object.file_bytes(range.start, range.end - range.start);
            let part = listing.part(range, bytes.unwrap_or_default());
            listing.parts.push(part);
        }
        listing.find_labels();
        listing
    }

    fn part(&self, range: Range<u64>, bytes: &'a [u8]) -> Part<'a> {
        let starts: BTreeSet<u64> = self.functions.iter().map(|f| f.address).collect();
        let mut lines = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let address = range.start + at as u64;
            let next_start = starts.range(address + 1..).next();
            // No instruction reaches into the next function.
            let end = next_start.map_or(bytes.len(), |&next| {
                bytes.len().min((next - range.start) as usize)
            });
            let rest = &bytes[at..end];
            let (item, len) = match self.fill(address, rest) {
                Some(fill) => fill,
                None => match frontend::decode(self.gfx, rest) {
                    Ok(inst) => (Item::Inst(inst), usize::from(inst.len)),
                    Err(error) => (Item::Data(error), rest.len().min(4)),
                },
            };
            lines.push(Line {
                address,
                bytes: &bytes[at..at + len],
                item,
            });
            at += len;
        }
        Part { range, lines }
    }

    /// Equal dwords from here on, when no function claims them.
    fn fill(&self, address: u64, rest: &[u8]) -> Option<(Item, usize)> {
        if self.function_at(address).is_some() {
            return None;
        }
        let first = rest.first_chunk::<4>()?;
        let count = rest
            .chunks_exact(4)
            .take_while(|dword| dword == first)
            .count();
        let word = u32::from_le_bytes(*first);
        (count >= FILL_AT_LEAST).then_some((
            Item::Fill {
                word,
                count: count as u64,
            },
            4 * count,
        ))
    }

    fn find_labels(&mut self) {
        let items: BTreeSet<u64> = self
            .parts
            .iter()
            .flat_map(|part| part.lines.iter().map(|line| line.address))
            .collect();
        self.labels = self
            .parts
            .iter()
            .flat_map(|part| &part.lines)
            .filter_map(Line::branch_target)
            .filter(|target| items.contains(target))
            .collect();
    }
}

impl Line<'_> {
    /// The target of a branch or call with an immediate distance.
    pub fn branch_target(&self) -> Option<u64> {
        let Item::Inst(inst) = &self.item else {
            return None;
        };
        frontend::flow::branch_target(inst, self.address)
    }

    /// The instruction's text would assemble to other bytes: assemblers encode a literal that fits
    /// the instruction itself without the literal.
    pub fn assembles_shorter(&self) -> bool {
        let Item::Inst(inst) = &self.item else {
            return false;
        };
        inst.src.iter().enumerate().any(|(i, source)| match source {
            Operand::Literal { word, .. } => {
                !inst.desc.forms.has(Forms::LITERAL_K) && is_inline(*word, inst.src_ty(i))
            }
            _ => false,
        })
    }
}

/// Would an assembler take the dword for an inline constant of an operand of that type?
fn is_inline(word: u32, ty: Ty) -> bool {
    if (-16..=64).contains(&(word as i32)) {
        return true;
    }
    const F32: [u32; 8] = [
        0x3f00_0000,
        0xbf00_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x4000_0000,
        0xc000_0000,
        0x4080_0000,
        0xc080_0000,
    ];
    const F16: [u32; 8] = [
        0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400,
    ];
    const INV_2PI: u32 = 0x3e22_f983;
    match ty {
        Ty::F16 | Ty::B16 | Ty::U16 | Ty::I16 | Ty::PkF16 | Ty::PkI16 | Ty::PkU16 => {
            F16.contains(&word) || word == 0x3118
        }
        Ty::F64 => false,
        _ => F32.contains(&word) || word == INV_2PI,
    }
}
