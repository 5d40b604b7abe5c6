//! The hard functions: those on which both engines must agree bit for bit.
//!
//! Everything here is a pure function on raw bits (`u16`, `u32`, `u64`), so that NaN payloads and
//! signs of zero are in our hands, and gives the same answer on every host: only integer
//! arithmetic and the IEEE operations `+ - * /`, `sqrt` and `mul_add` on `f32` and `f64`, which
//! are correctly rounded everywhere, never a function of the host's mathematical library.
//!
//! * **The floating-point environment.** As all Rust code, this module needs the host's default
//!   environment (round to nearest, no flushing), which the dispatcher sets. Translated code that runs under another MXCSR
//!   restores the default before it calls anything here.
//! * **NaN.** If a source is a NaN, the result is the first NaN source in order, quieted; else
//!   the positive default NaN. Instructions whose manual names another NaN (`0xffc00000` of
//!   `v_sqrt_f32(-1)`, say) say so at the function.
//! * **MODE.** Rounding and denormal handling are explicit parameters: [`Round`], [`Denorm`] and
//!   both together, [`Env`]. Functions without them do not depend on MODE.
//!
//! What is not here: minimum and maximum, classification, rounding to an integer and the other
//! operations that each engine writes for itself.

mod convert;
mod divide;
pub(crate) mod elementary;
mod format;
mod reciprocal;
mod scale;
mod soft;
#[cfg(test)]
pub(crate) mod testing;
mod trig_preop;

pub use convert::*;
pub use divide::*;
pub use elementary::*;
pub use reciprocal::*;
pub use scale::*;
pub use soft::*;
pub use trig_preop::*;

/// A rounding direction of MODE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Round {
    /// To the nearest number, ties to the one with an even significand.
    #[default]
    NearestEven = 0,
    /// Towards plus infinity.
    Up = 1,
    /// Towards minus infinity.
    Down = 2,
    /// Towards zero.
    Zero = 3,
}

impl Round {
    /// All four directions in the order of their encoding.
    pub const ALL: [Round; 4] = [Round::NearestEven, Round::Up, Round::Down, Round::Zero];

    /// The direction of a two-bit field of MODE (only bits 1:0 count).
    #[inline]
    pub const fn from_mode(field: u32) -> Self {
        match field & 3 {
            0 => Round::NearestEven,
            1 => Round::Up,
            2 => Round::Down,
            _ => Round::Zero,
        }
    }
}

/// Treatment of denormals. Flushing replaces one by the zero of its sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Denorm {
    /// Denormal sources are read as zero.
    pub flush_src: bool,
    /// Denormal results are written as zero. A result counts as denormal when, rounded to the
    /// type's precision with an unbounded exponent, it is below the smallest normal number: the
    /// rule of x86's flush-to-zero.
    pub flush_dst: bool,
}

impl Denorm {
    /// Denormal numbers are ordinary numbers.
    pub const KEEP: Denorm = Denorm {
        flush_src: false,
        flush_dst: false,
    };
    /// Sources and results are flushed.
    pub const FLUSH: Denorm = Denorm {
        flush_src: true,
        flush_dst: true,
    };

    /// The meaning of a two-bit field of MODE (only bits 1:0 count): 0 flushes both, 1 flushes
    /// results, 2 flushes sources, 3 keeps all.
    #[inline]
    pub const fn from_mode(field: u32) -> Self {
        Denorm {
            flush_src: field & 1 == 0,
            flush_dst: field & 2 == 0,
        }
    }

    /// Applies `flush_src` to an f16.
    #[inline]
    pub const fn src_f16(self, x: u16) -> u16 {
        if self.flush_src { flush_f16(x) } else { x }
    }

    /// Applies `flush_src` to an f32.
    #[inline]
    pub const fn src_f32(self, x: u32) -> u32 {
        if self.flush_src { flush_f32(x) } else { x }
    }

    /// Applies `flush_src` to an f64.
    #[inline]
    pub const fn src_f64(self, x: u64) -> u64 {
        if self.flush_src { flush_f64(x) } else { x }
    }

    /// Applies `flush_dst` to an f16 that is already rounded.
    #[inline]
    pub const fn dst_f16(self, x: u16) -> u16 {
        if self.flush_dst { flush_f16(x) } else { x }
    }

    /// Applies `flush_dst` to an f32 that is already rounded.
    #[inline]
    pub const fn dst_f32(self, x: u32) -> u32 {
        if self.flush_dst { flush_f32(x) } else { x }
    }

    /// Applies `flush_dst` to an f64 that is already rounded.
    #[inline]
    pub const fn dst_f64(self, x: u64) -> u64 {
        if self.flush_dst { flush_f64(x) } else { x }
    }
}

/// A denormal f16 becomes the zero of its sign; every other value is unchanged.
#[inline]
pub const fn flush_f16(x: u16) -> u16 {
    if x & 0x7c00 == 0 { x & 0x8000 } else { x }
}

/// A denormal f32 becomes the zero of its sign; every other value is unchanged.
#[inline]
pub const fn flush_f32(x: u32) -> u32 {
    if x & 0x7f80_0000 == 0 {
        x & 0x8000_0000
    } else {
        x
    }
}

/// A denormal f64 becomes the zero of its sign; every other value is unchanged.
#[inline]
pub const fn flush_f64(x: u64) -> u64 {
    if x & 0x7ff0_0000_0000_0000 == 0 {
        x & 0x8000_0000_0000_0000
    } else {
        x
    }
}

/// Rounding and denormal handling of one type: MODE has one for f32 and one for f16 and f64.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Env {
    /// The rounding direction.
    pub round: Round,
    /// Treatment of denormals.
    pub denorm: Denorm,
}

impl Env {
    /// The f32 part of MODE: rounding in bits 1:0, denormal handling in bits 5:4.
    #[inline]
    pub const fn f32_of_mode(mode: u32) -> Self {
        Env {
            round: Round::from_mode(mode),
            denorm: Denorm::from_mode(mode >> 4),
        }
    }

    /// The f16 and f64 part of MODE: rounding in bits 3:2, denormal handling in bits 7:6.
    #[inline]
    pub const fn f16_f64_of_mode(mode: u32) -> Self {
        Env {
            round: Round::from_mode(mode >> 2),
            denorm: Denorm::from_mode(mode >> 6),
        }
    }
}
