//! Bits of a word: scalar instructions, and the vector ones that compute the same.

use frontend::Op;

use super::{Function, low};
use crate::sweep::Form;

/// An operation that both units have, on a word.
pub(super) fn word(op: Op) -> Option<fn(u32) -> u32> {
    Some(match op {
        Op::Mov => |x| x,
        Op::Not => |x| !x,
        Op::Brev => u32::reverse_bits,
        Op::Ff1 => |x| found(x.trailing_zeros()),
        Op::Flbit => |x| found(x.leading_zeros()),
        Op::FlbitI => sign_run,
        _ => return None,
    })
}

/// The position of a bit; all ones if there is none.
fn found(position: u32) -> u32 {
    if position == 32 { u32::MAX } else { position }
}

/// The results of a scalar instruction with one source: registers, then SCC.
pub(super) fn scalar(form: &Form) -> Option<Function> {
    let nonzero = |x: u32| [x, u32::from(x != 0)];
    Some(match form.desc.op {
        Op::Not => Box::new(move |x, _| nonzero(!x)),
        Op::Wqm => Box::new(move |x, _| {
            let mut all = 0;
            for quad in 0..8 {
                if x >> (4 * quad) & 15 != 0 {
                    all |= 15 << (4 * quad);
                }
            }
            nonzero(all)
        }),
        Op::QuadMask => Box::new(move |x, _| {
            let mut all = 0;
            for quad in 0..8 {
                all |= u32::from(x >> (4 * quad) & 15 != 0) << quad;
            }
            nonzero(all)
        }),
        Op::Bcnt0 => Box::new(move |x, _| nonzero(x.count_zeros())),
        Op::Bcnt1 => Box::new(move |x, _| nonzero(x.count_ones())),
        Op::Ff0 => Box::new(move |x, _| [found((!x).trailing_zeros()), 0]),
        Op::SextI8 => Box::new(|x, _| [x as u8 as i8 as u32, 0]),
        Op::SextI16 => Box::new(|x, _| [x as u16 as i16 as u32, 0]),
        Op::Abs => Box::new(move |x, _| nonzero((x as i32).wrapping_abs() as u32)),
        Op::BitReplicate => Box::new(|x, _| {
            let mut all = 0u64;
            for bit in 0..32 {
                all |= (u64::from(x >> bit & 1) * 3) << (2 * bit);
            }
            low(all)
        }),
        op => {
            let word = word(op)?;
            Box::new(move |x, _| [word(x), 0])
        }
    })
}

/// Position from the top of the first bit that differs from the sign.
fn sign_run(x: u32) -> u32 {
    let sign = x >> 31;
    let bit = (1..32).find(|n| x >> (31 - n) & 1 != sign);
    bit.unwrap_or(u32::MAX)
}
