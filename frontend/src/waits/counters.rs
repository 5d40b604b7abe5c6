//! The counters and the fields of `s_waitcnt`.

use crate::Gfx;

/// A counter of outstanding operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitField {
    /// vmcnt: vector memory.
    Vm,
    /// expcnt: exports, GDS, on gfx6 stores.
    Exp,
    /// lgkmcnt: LDS, GDS, scalar memory, messages.
    Lgkm,
}

impl WaitField {
    /// All.
    pub const ALL: [WaitField; 3] = [WaitField::Vm, WaitField::Exp, WaitField::Lgkm];

    /// Its name in assembler source.
    pub fn name(self) -> &'static str {
        match self {
            WaitField::Vm => "vmcnt",
            WaitField::Exp => "expcnt",
            WaitField::Lgkm => "lgkmcnt",
        }
    }

    /// The largest number that the counter holds, which in `s_waitcnt` means no wait. (LLVM's
    /// `getVmcntBitMask` and its kin)
    pub fn most(self, gfx: Gfx) -> u8 {
        match self {
            WaitField::Vm if gfx.is_gfx9() => 63,
            WaitField::Vm | WaitField::Lgkm => 15,
            WaitField::Exp => 7,
        }
    }

    /// The field of an immediate; `None` if it does not wait.
    pub fn get(self, imm: u16, gfx: Gfx) -> Option<u8> {
        let n = match self {
            WaitField::Vm if gfx.is_gfx9() => imm & 15 | (imm >> 14 & 3) << 4,
            WaitField::Vm => imm & 15,
            WaitField::Exp => imm >> 4 & 7,
            WaitField::Lgkm => imm >> 8 & 15,
        } as u8;
        (n < self.most(gfx)).then_some(n)
    }

    /// The immediate with another number in the field.
    pub fn set(self, imm: u16, n: u8, gfx: Gfx) -> u16 {
        let n = u16::from(n.min(self.most(gfx)));
        match self {
            WaitField::Vm if gfx.is_gfx9() => imm & !0xc00f | n & 15 | (n >> 4) << 14,
            WaitField::Vm => imm & !15 | n,
            WaitField::Exp => imm & !0x70 | n << 4,
            WaitField::Lgkm => imm & !0xf00 | n << 8,
        }
    }
}
