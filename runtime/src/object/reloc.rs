//! Relocations of a linked code object: read from the dynamic segment, checked against the segments, applied
//! to an image at its final address. Linkers leave `R_AMDGPU_RELATIVE64` and, for symbols that could be
//! replaced, `R_AMDGPU_ABS64`; the others are here because linker options can make them appear.

use std::collections::HashMap;

use object::elf::Rela64;
use object::read::elf::Rela;
use object::{LittleEndian, pod};

use super::elf::{Elf, Place, Symbol, segment_at};
use super::error::LoadError;

const LE: LittleEndian = LittleEndian;
const ENTRY: u64 = 24;

/// The relocation types of amdgcn that can be applied to a linked object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelocKind {
    /// Low half of S + A.
    Abs32Lo,
    /// High half of S + A.
    Abs32Hi,
    /// S + A.
    Abs64,
    /// S + A - P, 32 bits.
    Rel32,
    /// S + A - P.
    Rel64,
    /// S + A, 32 bits.
    Abs32,
    /// G + A - P, 32 bits, where G is the address of a slot that holds S.
    GotPcRel,
    /// Low half of G + A - P.
    GotPcRel32Lo,
    /// High half of G + A - P.
    GotPcRel32Hi,
    /// Low half of S + A - P.
    Rel32Lo,
    /// High half of S + A - P.
    Rel32Hi,
    /// B + A, where B is how far the image moved.
    Relative64,
}

impl RelocKind {
    fn from_number(number: u32) -> Result<Option<RelocKind>, String> {
        Ok(Some(match number {
            0 => return Ok(None),
            1 => RelocKind::Abs32Lo,
            2 => RelocKind::Abs32Hi,
            3 => RelocKind::Abs64,
            4 => RelocKind::Rel32,
            5 => RelocKind::Rel64,
            6 => RelocKind::Abs32,
            7 => RelocKind::GotPcRel,
            8 => RelocKind::GotPcRel32Lo,
            9 => RelocKind::GotPcRel32Hi,
            10 => RelocKind::Rel32Lo,
            11 => RelocKind::Rel32Hi,
            13 => RelocKind::Relative64,
            14 => return Err("R_AMDGPU_REL16".to_owned()),
            _ => return Err(format!("of type {number}")),
        }))
    }

    /// The name in the ABI.
    pub const fn name(self) -> &'static str {
        match self {
            RelocKind::Abs32Lo => "R_AMDGPU_ABS32_LO",
            RelocKind::Abs32Hi => "R_AMDGPU_ABS32_HI",
            RelocKind::Abs64 => "R_AMDGPU_ABS64",
            RelocKind::Rel32 => "R_AMDGPU_REL32",
            RelocKind::Rel64 => "R_AMDGPU_REL64",
            RelocKind::Abs32 => "R_AMDGPU_ABS32",
            RelocKind::GotPcRel => "R_AMDGPU_GOTPCREL",
            RelocKind::GotPcRel32Lo => "R_AMDGPU_GOTPCREL32_LO",
            RelocKind::GotPcRel32Hi => "R_AMDGPU_GOTPCREL32_HI",
            RelocKind::Rel32Lo => "R_AMDGPU_REL32_LO",
            RelocKind::Rel32Hi => "R_AMDGPU_REL32_HI",
            RelocKind::Relative64 => "R_AMDGPU_RELATIVE64",
        }
    }

    /// How many bytes it patches.
    pub const fn bytes(self) -> u64 {
        match self {
            RelocKind::Abs64 | RelocKind::Rel64 | RelocKind::Relative64 => 8,
            _ => 4,
        }
    }

    const fn needs_slot(self) -> bool {
        matches!(
            self,
            RelocKind::GotPcRel | RelocKind::GotPcRel32Lo | RelocKind::GotPcRel32Hi
        )
    }
}

/// One relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Virtual address of the relocated field (P before the image moves).
    pub offset: u64,
    /// What to compute.
    pub kind: RelocKind,
    /// Number of the symbol (S) in the dynamic symbol table; 0 is none.
    pub symbol: u32,
    /// The constant (A).
    pub addend: i64,
    /// Which slot of the offset table (G) it uses, when it uses one.
    slot: Option<u32>,
}

/// All relocations of a code object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relocations {
    pub(crate) list: Vec<Relocation>,
    /// The offset table: which symbol has which slot.
    slots: HashMap<u32, u32>,
}

impl Relocations {
    pub(crate) fn read(elf: &Elf<'_>) -> Result<Relocations, LoadError> {
        let dynamic = &elf.dynamic;
        if let Some(form) = dynamic.other_form {
            return Err(LoadError::RelocationType {
                name: format!("in a {form}"),
                offset: 0,
            });
        }
        if let Some(size) = dynamic.rela_entry
            && size != ENTRY
        {
            return Err(LoadError::Elf {
                what: "dynamic segment",
                detail: format!("DT_RELAENT is {size}, expected {ENTRY}"),
            });
        }
        let mut relocations = Relocations::default();
        for &(address, size) in &elf.relocations {
            relocations.read_table(elf, address, size)?;
        }
        Ok(relocations)
    }

    fn read_table(&mut self, elf: &Elf<'_>, address: u64, size: u64) -> Result<(), LoadError> {
        let outside = || LoadError::Elf {
            what: "relocations",
            detail: format!("{size} bytes at address {address:#x} are not in the file"),
        };
        if !size.is_multiple_of(ENTRY) {
            return Err(LoadError::Elf {
                what: "relocations",
                detail: format!("the table's {size} bytes are not a multiple of {ENTRY}"),
            });
        }
        let data = elf.file_bytes(address, size).ok_or_else(outside)?;
        let (entries, _): (&[Rela64<LittleEndian>], _) =
            pod::slice_from_bytes(data, (size / ENTRY) as usize).map_err(|()| outside())?;
        self.list.reserve(entries.len());
        for entry in entries {
            let offset = entry.r_offset.get(LE);
            let kind = RelocKind::from_number(Rela::r_type(entry, LE, false).0)
                .map_err(|name| LoadError::RelocationType { name, offset })?;
            let Some(kind) = kind else { continue };
            let symbol = Rela::r_sym(entry, LE, false);
            let name = kind.name();
            if segment_at(&elf.segments, offset, kind.bytes()).is_none() {
                return Err(LoadError::RelocationRange {
                    name,
                    offset,
                    bytes: kind.bytes(),
                });
            }
            if symbol != 0 && symbol as usize >= elf.dynamic_symbols.len() {
                return Err(LoadError::RelocationSymbol {
                    name,
                    offset,
                    symbol,
                });
            }
            let slot = kind.needs_slot().then(|| self.slot_of(symbol));
            let addend = entry.r_addend.get(LE);
            self.list.push(Relocation {
                offset,
                kind,
                symbol,
                addend,
                slot,
            });
        }
        Ok(())
    }

    fn slot_of(&mut self, symbol: u32) -> u32 {
        let next = self.slots.len() as u32;
        *self.slots.entry(symbol).or_insert(next)
    }

    /// Bytes of the offset table, which follows the segments in the image.
    pub(crate) fn table_size(&self) -> u64 {
        self.slots.len() as u64 * 8
    }

    /// Patches `image`, which begins with virtual address `start` and runs at `base`. The offset table begins
    /// `table` bytes into it.
    pub(crate) fn apply(
        &self,
        symbols: &[Symbol],
        resolve: &dyn Fn(&str) -> Option<u64>,
        start: u64,
        base: u64,
        table: u64,
        image: &mut [u8],
    ) -> Result<(), LoadError> {
        let moved = base.wrapping_sub(start);
        let value_of = |number: u32, name: &'static str, offset: u64| {
            let symbol = match symbols.get(number as usize) {
                _ if number == 0 => return Ok(0),
                Some(symbol) => symbol,
                None => {
                    return Err(LoadError::RelocationSymbol {
                        name,
                        offset,
                        symbol: number,
                    });
                }
            };
            match symbol.place {
                Place::Image => Ok(symbol.value.wrapping_add(moved)),
                Place::Absolute => Ok(symbol.value),
                Place::Undefined => match resolve(&symbol.name) {
                    Some(address) => Ok(address),
                    None if symbol.weak => Ok(0),
                    None => {
                        let symbol = symbol.name.clone();
                        Err(LoadError::UndefinedSymbol {
                            symbol,
                            name,
                            offset,
                        })
                    }
                },
            }
        };
        for relocation in &self.list {
            let Relocation {
                offset,
                kind,
                symbol,
                addend,
                slot,
            } = *relocation;
            let name = kind.name();
            let place = offset.wrapping_add(moved);
            let sum = |value: u64| value.wrapping_add_signed(addend);
            let value = match kind {
                RelocKind::Relative64 => sum(moved),
                RelocKind::Abs32Lo | RelocKind::Abs32Hi | RelocKind::Abs64 | RelocKind::Abs32 => {
                    sum(value_of(symbol, name, offset)?)
                }
                RelocKind::Rel32 | RelocKind::Rel64 | RelocKind::Rel32Lo | RelocKind::Rel32Hi => {
                    sum(value_of(symbol, name, offset)?).wrapping_sub(place)
                }
                RelocKind::GotPcRel | RelocKind::GotPcRel32Lo | RelocKind::GotPcRel32Hi => {
                    let slot = table + u64::from(slot.unwrap_or(0)) * 8;
                    let target = value_of(symbol, name, offset)?;
                    patch(image, slot, &target.to_le_bytes()).ok_or(
                        LoadError::RelocationRange {
                            name,
                            offset,
                            bytes: 8,
                        },
                    )?;
                    sum(base.wrapping_add(slot)).wrapping_sub(place)
                }
            };
            let overflow = LoadError::RelocationOverflow {
                name,
                offset,
                value,
            };
            let at = offset.wrapping_sub(start);
            let patched = match kind {
                RelocKind::Abs64 | RelocKind::Rel64 | RelocKind::Relative64 => {
                    patch(image, at, &value.to_le_bytes())
                }
                RelocKind::Abs32Hi | RelocKind::GotPcRel32Hi | RelocKind::Rel32Hi => {
                    patch(image, at, &((value >> 32) as u32).to_le_bytes())
                }
                RelocKind::Abs32Lo | RelocKind::GotPcRel32Lo | RelocKind::Rel32Lo => {
                    patch(image, at, &(value as u32).to_le_bytes())
                }
                RelocKind::Abs32 => {
                    let narrow = u32::try_from(value).map_err(|_| overflow)?;
                    patch(image, at, &narrow.to_le_bytes())
                }
                RelocKind::Rel32 | RelocKind::GotPcRel => {
                    let narrow = i32::try_from(value as i64).map_err(|_| overflow)?;
                    patch(image, at, &narrow.to_le_bytes())
                }
            };
            patched.ok_or(LoadError::RelocationRange {
                name,
                offset,
                bytes: kind.bytes(),
            })?;
        }
        Ok(())
    }
}

fn patch(image: &mut [u8], at: u64, bytes: &[u8]) -> Option<()> {
    let at = usize::try_from(at).ok()?;
    image
        .get_mut(at..at.checked_add(bytes.len())?)?
        .copy_from_slice(bytes);
    Some(())
}
