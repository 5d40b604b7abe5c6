//! The functions that generated code calls, as lists: pure functions of lanes and functions with
//! effects. `runtime::helpers` provides one address for each, by exhaustive `match`.

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

/// Functions with effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum EffectFn {
    /// Runs the site's instruction on the interpreter; the registers are in the wave.
    Interpret,
}

impl EffectFn {
    /// All of them, in the order of their numbers.
    pub const ALL: &[EffectFn] = &[EffectFn::Interpret];
}
