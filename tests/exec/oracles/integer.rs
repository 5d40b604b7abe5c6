//! Integers: values as `i128`, operations as one writes them down, results cut to the width.

use super::input;
use super::{Want, check};

/// An integer type.
#[derive(Clone, Copy)]
pub(crate) struct Int {
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

impl Int {
    pub(crate) fn new(bits: u32, signed: bool) -> Int {
        Int { bits, signed }
    }

    /// The value in the low bits.
    pub(crate) fn value(self, slot: u64) -> i128 {
        let low = i128::from(self.cut(slot.into()));
        if self.signed && low >> (self.bits - 1) & 1 == 1 {
            low - (1 << self.bits)
        } else {
            low
        }
    }

    /// The low bits of a value.
    pub(crate) fn cut(self, value: i128) -> u64 {
        value as u64 & !0 >> (64 - self.bits)
    }

    pub(crate) fn least(self) -> i128 {
        if self.signed {
            -(1 << (self.bits - 1))
        } else {
            0
        }
    }

    pub(crate) fn most(self) -> i128 {
        (1 << (self.bits - u32::from(self.signed))) - 1
    }

    pub(crate) fn saturate(self, value: i128) -> i128 {
        value.clamp(self.least(), self.most())
    }

    /// The value of the same bits without a sign.
    fn plain(self, value: i128) -> i128 {
        self.cut(value).into()
    }

    /// The low bits of a product and those above them.
    fn product(self, x: i128, y: i128) -> (i128, i128) {
        if self.signed {
            (x * y, (x * y) >> self.bits)
        } else {
            let product = x as u128 * y as u128;
            (product as u64 as i128, (product >> self.bits) as i128)
        }
    }

    /// A divisor that the kernels accept.
    fn divisor(self, x: i128, y: i128) -> i128 {
        if y == 0 || self.signed && y == -1 && x == self.least() {
            1
        } else {
            y
        }
    }

    pub(crate) fn rotated(self, x: i128, y: i128) -> i128 {
        let (x, by) = (self.plain(x), self.shift(y));
        x << by | x >> (self.bits - by)
    }

    /// A shift amount.
    pub(crate) fn shift(self, y: i128) -> u32 {
        y as u32 & (self.bits - 1)
    }

    pub(crate) fn high(self, x: i128, y: i128) -> i128 {
        self.product(x, y).1
    }
}

type Operation = fn(Int, i128, i128, i128) -> i128;

/// The results of the kernels `int_*`.
#[rustfmt::skip]
const OPERATIONS: &[(&str, Operation)] = &[
    ("add", |_, x, y, _| x + y),
    ("sub", |_, x, y, _| x - y),
    ("mul", |t, x, y, _| t.product(x, y).0),
    ("div", |t, x, y, _| x / t.divisor(x, y)),
    ("rem", |t, x, y, _| x % t.divisor(x, y)),
    ("mul_hi", |t, x, y, _| t.high(x, y)),
    ("mad_hi", |t, x, y, z| t.high(x, y) + z),
    ("mad_sat", |t, x, y, z| t.saturate(x.checked_mul(y).map_or(i128::MAX, |p| p.saturating_add(z)))),
    ("mad", |t, x, y, z| t.product(x, y).0 + z),
    ("add_sat", |t, x, y, _| t.saturate(x + y)),
    ("sub_sat", |t, x, y, _| t.saturate(x - y)),
    ("hadd", |_, x, y, _| (x + y) >> 1),
    ("rhadd", |_, x, y, _| (x + y + 1) >> 1),
    ("abs", |_, x, _, _| x.abs()),
    ("abs_diff", |_, x, y, _| (x - y).abs()),
    ("min", |_, x, y, _| x.min(y)),
    ("max", |_, x, y, _| x.max(y)),
    ("med3", |_, x, y, z| { let mut all = [x, y, z]; all.sort(); all[1] }),
    ("min3", |_, x, y, z| x.min(y).min(z)),
    ("max3", |_, x, y, z| x.max(y).max(z)),
    ("and", |_, x, y, _| x & y),
    ("or", |_, x, y, _| x | y),
    ("xor", |_, x, y, _| x ^ y),
    ("not", |_, x, _, _| !x),
    ("bitselect", |_, x, y, z| (x & !z) | (y & z)),
    ("bfi", |_, x, y, z| (x & y) | (!x & z)),
    ("xnor", |_, x, y, _| !(x ^ y)),
    ("or_andn", |_, x, y, z| (x | y) & !z),
    ("and_or", |_, x, y, z| (x & y) | z),
    ("or3", |_, x, y, z| x | y | z),
    ("xor3", |_, x, y, z| x ^ y ^ z),
    ("shl", |t, x, y, _| x << t.shift(y)),
    ("shr", |t, x, y, _| x >> t.shift(y)),
    ("rotate", |t, x, y, _| t.rotated(x, y)),
    ("add_lshl3", |_, x, y, _| x + (y << 3)),
    ("add_shl5", |_, x, y, _| (x + y) << 5),
    ("shl2_or", |_, x, _, z| x << 2 | z),
    ("field", |t, x, _, _| t.plain(x) >> 3 & 15),
    ("signed_field", |t, x, _, _| {
        let low = x & 31;
        if t.signed && low > 15 { low - 32 } else { low }
    }),
    ("add3", |_, x, y, z| x + y + z),
    ("neg", |_, x, _, _| -x),
    ("div7", |_, x, _, _| x / 7),
    ("rem10", |t, x, _, _| t.plain(x) % 10),
    ("div641", |t, x, _, _| t.plain(x) / 641),
    ("mul100", |_, x, _, _| x * 100),
    ("clz", |t, x, _, _| i128::from(t.plain(x).leading_zeros()) - 128 + i128::from(t.bits)),
    ("ctz", |t, x, _, _| i128::from(t.plain(x).trailing_zeros().min(t.bits))),
    ("popcount", |t, x, _, _| t.plain(x).count_ones().into()),
    ("bitreverse", |t, x, _, _| (0..t.bits).filter(|i| x >> i & 1 == 1).map(|i| 1 << (t.bits - 1 - i)).sum()),
    ("bswap", |t, x, _, _| (t.plain(x) as u64).swap_bytes().checked_shr(64 - t.bits).map_or(0, i128::from)),
    ("eq", |_, x, y, _| (x == y).into()),
    ("ne", |_, x, y, _| (x != y).into()),
    ("lt", |_, x, y, _| (x < y).into()),
    ("le", |_, x, y, _| (x <= y).into()),
    ("gt", |_, x, y, _| (x > y).into()),
    ("ge", |_, x, y, _| (x >= y).into()),
    ("select", |_, x, y, z| if x < y { y } else { z }),
];

fn run(bits: u32, signed: bool) {
    let int = Int::new(bits, signed);
    let slots = input::slots(0x1000 + u64::from(bits), bits, |r| input::integer(r, bits));
    let want: Vec<Want> = slots
        .items()
        .flat_map(|slots| {
            let [x, y, z] = slots.map(|slot| int.value(slot));
            OPERATIONS
                .iter()
                .map(move |(_, operation)| Want::Bits(int.cut(operation(int, x, y, z))))
        })
        .collect();
    let names: Vec<&str> = OPERATIONS.iter().map(|&(name, _)| name).collect();
    let kernel = format!("int_{}{bits}", if signed { "s" } else { "u" });
    check("integer", &kernel, &slots, &names, |_| want.clone());
}

#[test]
fn integers_of_8_bits() {
    run(8, false);
    run(8, true);
}

#[test]
fn integers_of_16_bits() {
    run(16, false);
    run(16, true);
}

#[test]
fn integers_of_32_bits() {
    run(32, false);
    run(32, true);
}

#[test]
fn integers_of_64_bits() {
    run(64, false);
    run(64, true);
}

#[test]
fn wide_products() {
    let slots = input::slots(0x2000, 64, |r| input::integer(r, 64));
    let names = [
        "mul24",
        "mul24 signed",
        "mad24",
        "mad24 signed",
        "mul wide",
        "mul wide signed",
        "mad wide",
        "mad wide signed",
    ];
    let want: Vec<Want> = slots
        .items()
        .flat_map(|[a, b, c]| {
            let u24 = |x: u64| x & 0xff_ffff;
            let s24 = |x: u64| Int::new(24, true).value(x) as i64;
            let (u, s) = (u24(a) * u24(b), s24(a) * s24(b));
            let wide = u64::from(a as u32) * u64::from(b as u32);
            let wide_signed = i64::from(a as i32) * i64::from(b as i32);
            [
                u & 0xffff_ffff,
                s as u64 & 0xffff_ffff,
                u.wrapping_add(c) & 0xffff_ffff,
                (s as u64).wrapping_add(c) & 0xffff_ffff,
                u,
                s as u64,
                wide.wrapping_add(c),
                (wide_signed as u64).wrapping_add(c),
            ]
        })
        .map(Want::Bits)
        .collect();
    check("integer", "mul24s", &slots, &names, |_| want.clone());
}

#[test]
fn carry_chains() {
    let slots = input::slots(0x2100, 64, |r| input::integer(r, 64));
    let names = ["p0", "p1", "p2", "p3", "d0", "d1", "d2"];
    let want: Vec<Want> = slots
        .items()
        .flat_map(|[a, b, c]| {
            // A product of 256 bits from products of 32 bits, in columns.
            let digits =
                |low: u64, high: u64| [low, low >> 32, high, high >> 32].map(|d| d & 0xffff_ffff);
            let (x, y) = (digits(a, b), digits(c, a ^ c.rotate_left(17)));
            let mut columns = [0u128; 8];
            for (i, x) in x.iter().enumerate() {
                for (j, y) in y.iter().enumerate() {
                    columns[i + j] += u128::from(x * y);
                }
            }
            let mut carry = 0;
            let product = columns.map(|column| {
                let sum = column + carry;
                carry = sum >> 32;
                sum as u32 as u64
            });
            let (d0, borrow) = a.overflowing_sub(b);
            let (d1, borrow) = b.borrowing(c, borrow);
            let (d2, _) = c.borrowing(a, borrow);
            [
                product[0] | product[1] << 32,
                product[2] | product[3] << 32,
                product[4] | product[5] << 32,
                product[6] | product[7] << 32,
                d0,
                d1,
                d2,
            ]
        })
        .map(Want::Bits)
        .collect();
    check("integer", "wide", &slots, &names, |_| want.clone());
}

/// Subtraction with a borrow in and out.
trait Borrowing: Sized {
    fn borrowing(self, other: Self, borrow: bool) -> (Self, bool);
}

impl Borrowing for u64 {
    fn borrowing(self, other: u64, borrow: bool) -> (u64, bool) {
        let difference = i128::from(self) - i128::from(other) - i128::from(borrow);
        (difference as u64, difference < 0)
    }
}
