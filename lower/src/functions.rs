//! The functions that generated code calls, as lists: pure functions of lanes and functions with
//! effects. `runtime::helpers` provides one address for each, by exhaustive `match`.

use frontend::op::{Atomic, Data, Space};

/// Pure functions of lanes. Each takes `args` 32-bit words a lane and gives `results` words a lane
/// ([`LaneFn::shape`]); 64-bit values are (low, high) words, masks are words 0 or 1. All 64 lanes are
/// computed. The `mode` argument is MODE's float bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum LaneFn {
    /// a << (b & 31), each lane its own amount
    ShlVar,
}

impl LaneFn {
    /// All of them, in the order of their numbers.
    pub const ALL: &[LaneFn] = &[LaneFn::ShlVar];

    /// Numbers of argument and result words.
    pub const fn shape(self) -> (usize, usize) {
        match self {
            LaneFn::ShlVar => (2, 1),
        }
    }
}

/// Functions with effects. The emitter calls the first five for the IR's own memory nodes; arms call
/// others through `Op::Effect`. Arguments as `name(args) -> lane results; wave results`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum EffectFn {
    /// Runs the site's instruction on the interpreter; all registers are in the wave.
    Interpret,
    /// (address, dwords) -> ; dwords in `ctx.ret`. The slow path of `Op::ScalarLoad`: the address is
    /// outside the arena.
    ScalarLoad,
    /// `Op::Load`: (address low slot, address high slot or 0, exec bits, space << 8 | element code) -> one lane result
    /// per dword. `Space` and `Data` of the node are in the fourth argument as [`mem_code`] packs them.
    Load,
    /// `Op::Store`: (address low slot, address high slot or 0, exec bits, mem code, data slots…) -> nothing
    Store,
    /// `Op::Atomic`: (address low slot, address high slot or 0, exec bits, atomic code, data slots…)
    /// -> old value by lane (one or two dwords) when wanted
    Atomic,
}

impl EffectFn {
    /// All of them, in the order of their numbers.
    pub const ALL: &[EffectFn] = &[
        EffectFn::Interpret,
        EffectFn::ScalarLoad,
        EffectFn::Load,
        EffectFn::Store,
        EffectFn::Atomic,
    ];
}

/// Space and data of a memory node as one word for the helper: space in bits 15:8, data kind in bits
/// 7:0 (dword counts 1..=16 as they are, sub-dword kinds from 32 on).
pub const fn mem_code(space: Space, data: Data) -> u64 {
    let kind = match data {
        Data::Dwords(n) => n as u64,
        Data::U8 => 32,
        Data::I8 => 33,
        Data::U16 => 34,
        Data::I16 => 35,
        Data::D16U8 => 36,
        Data::D16I8 => 37,
        Data::D16 => 38,
        Data::D16HiU8 => 39,
        Data::D16HiI8 => 40,
        Data::D16Hi => 41,
        Data::D16HiB8 => 42,
        Data::Format(n) => 48 + n as u64,
        Data::FormatD16(n) => 56 + n as u64,
        Data::FormatD16Hi => 63,
    };
    (space as u64) << 8 | kind
}

/// Space, operation and width of an atomic node as one word for the helper: space in bits 15:8, the
/// operation in bits 7:0, dwords of the memory word in bits 23:16.
pub const fn atomic_code(space: Space, op: Atomic, dwords: u8) -> u64 {
    (dwords as u64) << 16 | (space as u64) << 8 | op as u64
}
