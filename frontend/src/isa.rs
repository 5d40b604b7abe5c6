//! The instruction rows, one file per encoding of the manual, and the index from opcode to row.

use crate::decode::DecodeError;
use crate::desc::InstDesc;
use crate::target::Gfx;

pub mod ds;
pub mod exp;
pub mod flat;
pub mod mimg;
pub mod mtbuf;
pub mod mubuf;
pub mod smem;
pub mod sop1;
pub mod sop2;
pub mod sopc;
pub mod sopk;
pub mod sopp;
pub mod vintrp;
pub mod vop1;
pub mod vop2;
pub mod vop3;
pub mod vop3p;
pub mod vopc;

/// Every row, by encoding; [`vopc::ROWS`] are apart.
static TABLES: &[&[InstDesc]] = &[
    sop2::ROWS,
    sopk::ROWS,
    sop1::ROWS,
    sopc::ROWS,
    sopp::ROWS,
    smem::ROWS,
    vop2::ROWS,
    vop1::ROWS,
    vop3::ROWS,
    vop3p::ROWS,
    vintrp::ROWS,
    ds::ROWS,
    flat::ROWS,
    flat::GLOBAL,
    flat::SCRATCH,
    mubuf::ROWS,
    mtbuf::ROWS,
    mimg::ROWS,
    exp::ROWS,
];

/// Every row of every encoding.
pub fn all() -> impl Iterator<Item = &'static InstDesc> {
    TABLES.iter().chain(vopc::ROWS).copied().flatten()
}

/// Map from opcode to row on every target, for an encoding with at most `N` opcodes. Built at
/// compile time: two rows with one opcode on one target do not compile.
pub struct Index<const N: usize> {
    encoding: &'static str,
    rows: [[Option<&'static InstDesc>; N]; Gfx::COUNT],
}

impl<const N: usize> Index<N> {
    /// An index without rows.
    pub const fn new(encoding: &'static str) -> Index<N> {
        Index {
            encoding,
            rows: [[None; N]; Gfx::COUNT],
        }
    }

    /// Adds the rows under their own opcodes.
    pub const fn with(self, rows: &'static [InstDesc]) -> Index<N> {
        self.with_offset(rows, [0; Gfx::COUNT], 0)
    }

    /// Adds the rows of several families under their own opcodes.
    pub const fn with_families(mut self, families: &'static [&'static [InstDesc]]) -> Index<N> {
        let mut i = 0;
        while i < families.len() {
            self = self.with(families[i]);
            i += 1;
        }
        self
    }

    /// Adds the rows under their opcode plus the target's offset, without those that carry one of
    /// the `except` form flags.
    pub const fn with_offset(
        mut self,
        rows: &'static [InstDesc],
        offset: [u16; Gfx::COUNT],
        except: u16,
    ) -> Index<N> {
        let mut i = 0;
        while i < rows.len() {
            let mut g = 0;
            while g < Gfx::COUNT {
                let opcode = rows[i].opcodes.0[g];
                if opcode != crate::desc::ABSENT && rows[i].forms.0 & except == 0 {
                    let at = (opcode + offset[g]) as usize;
                    assert!(at < N, "an opcode is too large for its encoding");
                    assert!(
                        self.rows[g][at].is_none(),
                        "two rows with one opcode on one target"
                    );
                    self.rows[g][at] = Some(&rows[i]);
                }
                g += 1;
            }
            i += 1;
        }
        self
    }

    /// The row of `opcode` on `gfx`; `word` is the first dword, for the error.
    pub fn get(&self, gfx: Gfx, opcode: u32, word: u32) -> Result<&'static InstDesc, DecodeError> {
        match self.rows[gfx.index()].get(opcode as usize) {
            Some(&Some(desc)) => Ok(desc),
            _ => Err(DecodeError::UnknownOpcode {
                opcode: opcode as u16,
                encoding: self.encoding,
                word,
                gfx,
            }),
        }
    }
}
