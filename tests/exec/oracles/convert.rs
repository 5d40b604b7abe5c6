//! Conversions between all types: everything becomes an exact number first.

use wavelift::Gfx;

use super::input;
use super::integer::Int;
use super::{Slots, Want, check, floats};
use harness::number::{F16, F32, F64, Format, Number, ROUNDS, Round, integer, to_integer};

const INTS: [(&str, u32, bool); 8] = [
    ("u8", 8, false),
    ("s8", 8, true),
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];
const FLOATS: [(&str, Format); 3] = [("f16", F16), ("f32", F32), ("f64", F64)];

fn to_int(number: Number, int: Int, round: Round) -> Want {
    Want::Bits(int.cut(to_integer(number, round, int.least(), int.most())))
}

fn to_float(number: Number, format: Format, round: Round) -> Want {
    format
        .bits_of(number, round)
        .map_or(Want::Nan(format), Want::Bits)
}

/// Runs a kernel whose operands are `number` of a slot (for a target, to be rounded to an integer in
/// some way); integers need no rounding to become others.
fn run(
    kernel: &str,
    slots: &Slots,
    roundings: &[Round],
    number: impl Fn(Gfx, Round, u64) -> Number,
) {
    let mut names = Vec::new();
    for (name, _, _) in INTS {
        names.extend(roundings.iter().map(|round| format!("to {name} {round:?}")));
    }
    for (name, _) in FLOATS {
        names.extend(ROUNDS.iter().map(|round| format!("to {name} {round:?}")));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    check("convert", kernel, slots, &names, |target| {
        let mut want = Vec::new();
        for [a, _, _] in slots.items() {
            for (_, bits, signed) in INTS {
                let int = Int::new(bits, signed);
                want.extend(
                    roundings
                        .iter()
                        .map(|&round| to_int(number(target, round, a), int, round)),
                );
            }
            let number = number(target, Round::Even, a);
            for (_, format) in FLOATS {
                want.extend(ROUNDS.map(|round| to_float(number, format, round)));
            }
        }
        want
    });
}

#[test]
fn from_integers() {
    for (name, bits, signed) in INTS {
        let slots = input::slots(0x4000 + u64::from(bits), bits, |r| input::integer(r, bits));
        run(
            &format!("from_{name}"),
            &slots,
            &[Round::Zero],
            |_, _, slot| integer(Int::new(bits, signed).value(slot)),
        );
    }
}

#[test]
fn from_floats() {
    for (name, format) in FLOATS {
        let slots = input::slots(0x4100, format.bits, |r| input::float(r, format));
        run(
            &format!("from_{name}"),
            &slots,
            &ROUNDS,
            |target, round, slot| {
                let slot = match (target, round) {
                    (Gfx::Gfx600, Round::Down) if format == F64 => {
                        floats::expanded_floor(f64::from_bits(slot))
                            .trunc()
                            .to_bits()
                    }
                    _ => slot & (format.mask()),
                };
                format.number(slot)
            },
        );
    }
}
