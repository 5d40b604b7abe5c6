//! What goes in: values at which operations go wrong, and some that are just any.

use harness::random::Random;

use super::Slots;
use harness::number::{self, Format, Round};

/// Work-items of a launch; the last wave is not full.
const ITEMS: usize = 64 * 12 - 29;

/// Slots with one operand each: a value of some bits, noise above it.
pub(crate) fn slots(seed: u64, bits: u32, mut value: impl FnMut(&mut Random) -> u64) -> Slots {
    slots_of(seed, ITEMS, bits, &mut value)
}

/// Slots for so many work-items.
pub(crate) fn slots_of(
    seed: u64,
    items: usize,
    bits: u32,
    mut value: impl FnMut(&mut Random) -> u64,
) -> Slots {
    let mut random = Random::new(seed);
    let mut fill = || {
        (0..items)
            .map(|_| {
                let low = !0 >> (64 - bits);
                value(&mut random) & low | random.next() & !low
            })
            .collect()
    };
    Slots {
        a: fill(),
        b: fill(),
        c: fill(),
    }
}

/// An integer of some bits: near a power of two, small, or any.
pub(crate) fn integer(random: &mut Random, bits: u32) -> u64 {
    let power = 1u64 << random.below(bits);
    let near = u64::from(random.below(3)).wrapping_sub(1);
    match random.below(6) {
        0 => near,
        1 => power.wrapping_add(near),
        2 => power.wrapping_add(near).wrapping_neg(),
        3 => random.next() >> random.below(64),
        _ => random.next(),
    }
}

/// A float of a format, no signalling NaN.
pub(crate) fn float(random: &mut Random, format: Format) -> u64 {
    let sign = random.next() & format.sign();
    let one = format.infinity() >> 1 >> format.fraction << format.fraction;
    let unit = 1u64 << format.fraction;
    let below = match random.below(16) {
        0 => 0,
        1 => u64::from(random.below(3)) + 1,
        // Around the smallest normal and below infinity.
        2 => unit - 2 + u64::from(random.below(4)),
        3 => format.infinity() - u64::from(random.below(3)),
        4 => format.infinity() | unit >> 1 | random.next() & (unit - 1),
        // Denormals.
        5 => random.next() & (unit - 1),
        // Small integers, and halves of odd ones.
        6 => whole(format, u64::from(random.below(64))),
        7 => {
            let x = whole(format, 2 * u64::from(random.below(1 << 9)) + 1);
            x - unit
        }
        // Near one, near powers of two.
        8 => one.wrapping_add(u64::from(random.below(5))) - 2,
        9 => (random.next() % format.infinity()) >> format.fraction << format.fraction,
        // Integers as large as those that a conversion must fit into a type.
        10 => {
            let exponent =
                u64::from(random.below(70)).min((format.infinity() - 1 - one) >> format.fraction);
            let fraction = match random.below(3) {
                0 => 0,
                1 => unit - 1 - u64::from(random.below(2)),
                _ => random.next() & (unit - 1),
            };
            one + (exponent << format.fraction) + fraction
        }
        // Moderate exponents, so that sums and products do not drown.
        11..14 => {
            let exponent = one + (u64::from(random.below(9)) << format.fraction) - 4 * unit;
            exponent | random.next() & (unit - 1)
        }
        _ => random.next() % format.infinity(),
    };
    sign | below
}

/// A positive integer in a format that holds it exactly; 0 for 0.
fn whole(format: Format, value: u64) -> u64 {
    let number = number::integer(value.into());
    format.bits_of(number, Round::Even).expect("a number")
}
