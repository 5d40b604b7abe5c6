//! Numbers as GCN's modes and types see them.

use frontend::Ty;
use frontend::state::mode;
use harness::number::{Env, F16, F32, Finite, Format, Number, Round, to_integer};

pub(super) fn env(bits: u32, format: Format) -> Env {
    let (round, denormals) = match format.bits {
        32 => (bits & 3, bits >> 4 & 3),
        _ => (bits >> 2 & 3, bits >> 6 & 3),
    };
    Env {
        round: [Round::Even, Round::Up, Round::Down, Round::Zero][round as usize],
        flush_sources: denormals & 1 == 0,
        flush_results: denormals & 2 == 0,
        saturate: format.bits == 16 && bits & mode::FP16_OVFL != 0,
    }
}

pub(super) fn first_nan(format: Format, sources: &[u64]) -> Option<u64> {
    let nan = sources.iter().find(|&&bits| format.is_nan(bits));
    nan.map(|&bits| bits | format.quiet())
}

pub(super) fn format_of(ty: Ty) -> Option<Format> {
    match ty {
        Ty::F16 | Ty::PkF16 => Some(F16),
        Ty::F32 => Some(F32),
        _ => None,
    }
}

/// A normalised integer of 16 bits.
pub(super) fn norm(format: Format, x: u32, scale: i64, flush: bool) -> u32 {
    let x = format.flushed(u64::from(x) & format.mask(), flush);
    let least = if scale == 32767 { -scale } else { 0 };
    let value = match format.number(x) {
        Number::Finite(x) => {
            let x = Finite {
                magnitude: x.magnitude * scale as u128,
                ..x
            };
            to_integer(Number::Finite(x), Round::Even, least, scale)
        }
        other => to_integer(other, Round::Even, least, scale),
    };
    value as u32 & 0xffff
}
