//! Comparisons and classes.

use std::cmp::Ordering;

use frontend::op::Cmp;
use harness::number::F16;

/// Does the comparison hold of numbers in this order? NaNs are in none.
pub(super) fn compare(cmp: Cmp, order: Option<Ordering>) -> bool {
    use Ordering::{Equal, Greater, Less};
    let is = |this| order == Some(this);
    match cmp {
        Cmp::F => false,
        Cmp::Lt => is(Less),
        Cmp::Eq => is(Equal),
        Cmp::Le => is(Less) || is(Equal),
        Cmp::Gt => is(Greater),
        Cmp::Lg => is(Less) || is(Greater),
        Cmp::Ge => is(Greater) || is(Equal),
        Cmp::O => order.is_some(),
        Cmp::U => order.is_none(),
        Cmp::Nge => !(is(Greater) || is(Equal)),
        Cmp::Nlg => !(is(Less) || is(Greater)),
        Cmp::Ngt => !is(Greater),
        Cmp::Nle => !(is(Less) || is(Equal)),
        Cmp::Neq => !is(Equal),
        Cmp::Nlt => !is(Less),
        Cmp::T => true,
    }
}

/// The bit of an f16's class.
pub(super) fn class(x: u32) -> u32 {
    let x = u64::from(x);
    let negative = x & F16.sign() != 0;
    let below = x & (F16.sign() - 1);
    let place = match () {
        _ if F16.is_nan(x) => return if x & F16.quiet() == 0 { 1 } else { 2 },
        _ if below == F16.infinity() => (2, 9),
        _ if below == 0 => (5, 6),
        _ if F16.is_denormal(x) => (4, 7),
        _ => (3, 8),
    };
    1 << if negative { place.0 } else { place.1 }
}
