//! The GPUs that wavelift runs, and what differs between them as plain questions.

use std::fmt;
use std::str::FromStr;

/// A guest processor. The order is the order of inheritance in the instruction tables: an opcode
/// given for one target holds for the later ones until it is overridden or dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Gfx {
    /// GCN 1.0 (Southern Islands).
    Gfx600 = 0,
    /// GCN 1.1 (Sea Islands).
    Gfx700 = 1,
    /// GCN 1.2 (Volcanic Islands).
    Gfx803 = 2,
    /// GCN 1.4 (Vega 10).
    Gfx900 = 3,
    /// GCN 1.4 with the dot products and fused mixes (Vega 20).
    Gfx906 = 4,
    /// CDNA 1; decoded whole, run as far as it shares instructions with gfx906.
    Gfx908 = 5,
    /// CDNA 2; decoded whole, run as far as it shares instructions with gfx906.
    Gfx90a = 6,
}

impl Gfx {
    /// Number of targets, the length of every per-target table.
    pub const COUNT: usize = 7;

    /// All targets, oldest first.
    pub const ALL: [Gfx; Gfx::COUNT] = [
        Gfx::Gfx600,
        Gfx::Gfx700,
        Gfx::Gfx803,
        Gfx::Gfx900,
        Gfx::Gfx906,
        Gfx::Gfx908,
        Gfx::Gfx90a,
    ];

    /// Position in per-target tables.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name that compilers use, such as `gfx900`.
    pub const fn name(self) -> &'static str {
        match self {
            Gfx::Gfx600 => "gfx600",
            Gfx::Gfx700 => "gfx700",
            Gfx::Gfx803 => "gfx803",
            Gfx::Gfx900 => "gfx900",
            Gfx::Gfx906 => "gfx906",
            Gfx::Gfx908 => "gfx908",
            Gfx::Gfx90a => "gfx90a",
        }
    }

    /// GCN 1.0 or 1.1: the encodings before Volcanic Islands.
    pub const fn is_gfx6_7(self) -> bool {
        matches!(self, Gfx::Gfx600 | Gfx::Gfx700)
    }

    /// GCN 1.2 or later: SDWA, DPP, SMEM, 16-bit instructions.
    pub const fn is_gfx8_up(self) -> bool {
        !self.is_gfx6_7()
    }

    /// GCN 1.4 or CDNA: VOP3P, GLOBAL and SCRATCH, aperture registers.
    pub const fn is_gfx9(self) -> bool {
        !matches!(self, Gfx::Gfx600 | Gfx::Gfx700 | Gfx::Gfx803)
    }

    /// The most LDS that a workgroup can have, in bytes.
    pub const fn lds_limit(self) -> u32 {
        match self {
            Gfx::Gfx600 => 32 * 1024,
            Gfx::Gfx700 | Gfx::Gfx803 | Gfx::Gfx900 | Gfx::Gfx906 | Gfx::Gfx908 | Gfx::Gfx90a => {
                64 * 1024
            }
        }
    }

    /// The unit in which LDS is allocated to a workgroup, in bytes.
    pub const fn lds_granule(self) -> u32 {
        match self {
            Gfx::Gfx600 => 256,
            Gfx::Gfx700 | Gfx::Gfx803 | Gfx::Gfx900 | Gfx::Gfx906 | Gfx::Gfx908 | Gfx::Gfx90a => {
                512
            }
        }
    }

    /// What a workgroup that asks for `bytes` bytes of LDS has: whole granules. The range checks of the hardware
    /// know no other size.
    pub const fn lds_allocated(self, bytes: u32) -> u32 {
        bytes.next_multiple_of(self.lds_granule())
    }
}

impl fmt::Display for Gfx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A target name that wavelift does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown target `{0}`; known are gfx600, gfx700, gfx803, gfx900, gfx906, gfx908 and gfx90a"
)]
pub struct UnknownTarget(pub String);

impl FromStr for Gfx {
    type Err = UnknownTarget;

    fn from_str(s: &str) -> Result<Gfx, UnknownTarget> {
        Gfx::ALL
            .into_iter()
            .find(|gfx| gfx.name() == s)
            .ok_or_else(|| UnknownTarget(s.to_owned()))
    }
}
