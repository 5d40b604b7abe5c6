//! gfx942's sums of f16, bf16, xf32 and floats of 8 bits that are cut off, on host vectors. They are those of
//! [`super::cdna3`] bit by bit, to which numbers are left for which the steps here would not be exact.
//!
//! A step is what is rounded once, for a vector of columns of a row of D: C and the sum of some products, whose highest
//! exponent is `e`. Each product is exact in f32, and so is its multiple of 2^(24 - e); of that the integer part is what
//! is not cut off. The sum T of these integers is less than 2^30.
//!
//! Let f be e, or the exponent of C less 5 if that is larger. T and C in units of 2^(f - 24), downwards, are less than 2^30,
//! and their sum is to be rounded to 24 bits. Where f is e, T loses nothing, and C what is to be cut off. Otherwise C loses
//! nothing, and the sum is so large that the bits that T loses are below the one by which it is rounded: the last bit of the
//! sum is set if any of them is, but for those that are to be cut off. As 32 bits of the sum remain, so many of them count as
//! the sum has leading zeros, which are at most three, or T loses no more than three.

use frontend::op::{F8, Factor, MatrixSums};
use lower::abi::Lanes;

use super::vectors::{Vector, load};
use super::{Factors, Product, Rows};

mod dense;
mod sparse;

/// Multiplies; false if this is none of the products here.
///
/// # Safety
/// The host has these features. `d` are the sums of the call.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn avx2(product: Product<'_>, d: &mut Rows) -> bool {
    // SAFETY: the caller's.
    unsafe { multiply::<std::arch::x86_64::__m256i>(product, d) }
}

/// As [`avx2`].
///
/// # Safety
/// As [`avx2`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
pub(super) unsafe fn avx512(product: Product<'_>, d: &mut Rows) -> bool {
    // SAFETY: the caller's.
    unsafe { multiply::<std::arch::x86_64::__m512i>(product, d) }
}

/// # Safety
/// The host has the vector; otherwise as [`avx2`].
#[inline(always)]
unsafe fn multiply<V: Vector>(product: Product<'_>, d: &mut Rows) -> bool {
    let call = product.call;
    let long = call.shape.k > 4;
    // SAFETY: the caller's.
    unsafe {
        match (call.shape.factor, call.sums) {
            (Factor::F16, MatrixSums::CutOff) => {
                let formats = [Format::F16; 2];
                match (product.places, long) {
                    (Some(places), _) => {
                        sparse::multiply::<V, 4, 8, 1>(product, formats, places, d)
                    }
                    (None, true) => dense::multiply::<V, 4, 1, 2, 1>(product, formats, d),
                    (None, false) => dense::multiply::<V, 4, 1, 1, 1>(product, formats, d),
                }
            }
            (Factor::Bf16, MatrixSums::CutOff) if product.factors.a.len() == 2 => {
                let formats = [Format::Bf16; 2];
                match (product.places, long) {
                    (Some(places), _) => {
                        sparse::multiply::<V, 4, 8, 1>(product, formats, places, d)
                    }
                    (None, true) => dense::multiply::<V, 4, 2, 2, 1>(product, formats, d),
                    (None, false) => dense::multiply::<V, 4, 2, 1, 1>(product, formats, d),
                }
            }
            (Factor::Xf32, _) => dense::multiply::<V, 2, 1, 2, 1>(product, [Format::Xf32; 2], d),
            (Factor::F8(a, b), _) => {
                let formats = [Format::F8(a), Format::F8(b)];
                match product.places {
                    Some(places) => sparse::multiply::<V, 8, 16, 2>(product, formats, places, d),
                    None => dense::multiply::<V, 8, 2, 2, 2>(product, formats, d),
                }
            }
            (Factor::F32 | Factor::F16 | Factor::Bf16 | Factor::I8 | Factor::F64, _) => false,
        }
    }
}

// ---- A and B as f32 and exponents

/// The elements of A or of B.
#[derive(Clone, Copy)]
enum Format {
    F16,
    Bf16,
    Xf32,
    F8(F8),
}

impl Format {
    /// Bits of an element.
    const fn bits(self) -> usize {
        match self {
            Format::F16 | Format::Bf16 => 16,
            Format::Xf32 => 32,
            Format::F8(_) => 8,
        }
    }

    /// The exponent of denormals.
    const fn least(self) -> i32 {
        match self {
            Format::F16 => -14,
            Format::Bf16 | Format::Xf32 => -126,
            Format::F8(F8::Fp8) => -7,
            Format::F8(F8::Bf8) => -15,
        }
    }

    /// Bits in which the exponents of products are computed.
    const fn exponent_bits(self) -> u32 {
        match self {
            Format::F16 | Format::F8(_) => 8,
            Format::Bf16 | Format::Xf32 => 16,
        }
    }

    /// The exponent of 0: the sum with any other is less than that of any product.
    const fn of_zero(self) -> i32 {
        match self.exponent_bits() {
            8 => -64,
            _ => -0x2000,
        }
    }

    /// The exponents of products of 0 are below.
    const fn products_from(self) -> i32 {
        self.of_zero() / 2 - 1
    }

    /// The elements in the low bits of words as f32, those that are not finite as such a number. Denormal bf16 and xf32 stay
    /// what they are.
    ///
    /// # Safety
    /// The host has the vector.
    #[inline(always)]
    unsafe fn values<V: Vector>(self, words: V) -> V {
        // SAFETY: the caller's.
        unsafe {
            match self {
                Format::F16 => words.widened(),
                Format::Bf16 => words.shl::<16>(),
                Format::Xf32 => {
                    // 13 bits of the mantissa are cut off. A NaN may become infinite.
                    words.and(V::all(!0x1fff))
                }
                Format::F8(ty) => {
                    let (places, bias) = match ty {
                        F8::Fp8 => (20, 8),
                        F8::Bf8 => (21, 16),
                    };
                    // The exponent's bias by a multiplication, which normalises denormals.
                    let scale = V::all((127 + 127 - bias) << 23);
                    let size = words.and(V::all(0x7f)).shl_by(V::all(places));
                    let sign = words.and(V::all(0x80)).shl::<24>();
                    let nan = words.and(V::all(0xff)).equals(V::all(0x80));
                    V::select(nan, V::all(0x7fc0_0000), size.times(scale).or(sign))
                }
            }
        }
    }
}

/// A or B with `P` elements in a lane. Host vectors of it do not cross cache lines.
#[repr(align(64))]
struct Side<const P: usize, const E: usize> {
    /// As f32.
    values: [Lanes; P],
    /// Exponents. Where they are in fewer words than elements, those of items `n`, `n + E` and so on are in word `n`.
    exponents: [Lanes; E],
    /// The highest and the lowest exponent but those of zeros.
    range: [i32; 2],
}

impl<const P: usize, const E: usize> Side<P, E> {
    const EMPTY: Self = Side {
        values: [[0; 64]; P],
        exponents: [[0; 64]; E],
        range: [0; 2],
    };

    /// Reads the elements in registers; false if one is not finite.
    ///
    /// # Safety
    /// The host has the vector; the registers have so many elements.
    #[inline(always)]
    unsafe fn read<V: Vector>(&mut self, format: Format, rows: &Rows) -> bool {
        let bits = format.bits();
        let in_register = 32 / bits;
        // SAFETY: the caller's; the lanes are some.
        unsafe {
            let (mut most, mut least) = (V::all(-0x4000), V::all(-0x4000));
            let mut most_bits = V::all(0);
            for lane in (0..64).step_by(V::LANES) {
                for first in 0..E {
                    let mut together = V::all(0);
                    for item in (first..P).step_by(E) {
                        let words = load::<V>(&rows[item / in_register], lane);
                        let by = bits * (item % in_register);
                        let words = words.sar_by(V::all(by as i32));
                        let values = format.values(words);
                        values.store(self.values[item].as_mut_ptr().add(lane));

                        let twice = values.shl::<1>();
                        let exponents = twice.shr::<24>().plus(V::all(-127));
                        most_bits = most_bits.highest(exponents);
                        let exponents = exponents.highest(V::all(format.least()));
                        let zero = twice.equals(V::all(0));
                        let exponents = V::select(zero, V::all(format.of_zero()), exponents);
                        most = most.highest(exponents);
                        let below = V::all(0).minus(exponents);
                        least = least.highest(V::select(zero, V::all(-0x4000), below));
                        together = match (E == P, format.exponent_bits()) {
                            (true, _) => exponents,
                            (_, 8) => together.shl::<8>().or(exponents.and(V::all(0xff))),
                            (_, _) => together.shl::<16>().or(exponents.and(V::all(0xffff))),
                        };
                    }
                    together.store(self.exponents[first].as_mut_ptr().add(lane));
                }
            }
            self.range = [most.largest(), -least.largest()];
            most_bits.largest() < 128
        }
    }
}

/// Reads A and B; false if an element is not finite, or if products may be inexact, denormal or infinite, or sums denormal.
///
/// # Safety
/// The host has the vector; the registers have so many elements.
#[inline(always)]
unsafe fn read<V: Vector, const P: usize, const E: usize, const Q: usize, const F: usize>(
    [of_a, of_b]: [Format; 2],
    factors: Factors<'_>,
    a: &mut Side<P, E>,
    b: &mut Side<Q, F>,
) -> bool {
    // SAFETY: the caller's.
    let finite = unsafe { a.read::<V>(of_a, factors.a) && b.read::<V>(of_b, factors.b) };
    let [most, least] = [0, 1].map(|end| a.range[end] + b.range[end]);
    finite && most <= 125 && least >= -94
}

// ---- sums

/// 2^(places - exponent).
///
/// # Safety
/// The host has the vector.
#[inline(always)]
unsafe fn power<V: Vector>(exponent: V, places: i32) -> V {
    // SAFETY: the caller's.
    unsafe { V::all(127 + places).minus(exponent).shl::<23>() }
}

/// The rounded sum of C and of the sums of even and of odd products, or of all, which are integers in units of 2^(e - 24) for the
/// highest exponent e of the products of each.
///
/// # Safety
/// The host has the vector.
#[inline(always)]
unsafe fn finished<V: Vector, const PARTS: usize>(
    format: Format,
    saturates: bool,
    exponents: [V; PARTS],
    totals: [V; PARTS],
    c: V,
) -> V {
    // SAFETY: the caller's.
    unsafe {
        let (mut total, mut exponent) = (totals[0], exponents[0]);
        if PARTS == 2 {
            exponent = exponent.highest(exponents[PARTS - 1]);
            total = total.sar_by(exponent.minus(exponents[0]));
            let odd = totals[PARTS - 1].sar_by(exponent.minus(exponents[PARTS - 1]));
            total = total.plus(odd);
        }
        // With a bias of 127.
        let of_c = c.shl::<1>().shr::<24>();
        let unit = exponent.highest(of_c.plus(V::all(-127 - 5)));
        let mut old = c.floor_of_product(power(unit, 24));
        if PARTS == 2 {
            let dropped = of_c.less(exponent.plus(V::all(127 - 25)));
            old = V::select(dropped, V::all(0), old);
        }
        let lost = unit.minus(exponent);
        let sum = total.sar_by(lost).plus(old);
        // Three leading zeros, or fewer.
        let longer = sum.size().shr::<29>().lowest(V::all(2));
        let cut = lost.minus(V::all(3)).plus(longer).highest(V::all(0));
        let one = V::all(1);
        let counts = one.shl_by(lost).minus(one.shl_by(cut));
        let sum = V::select(total.meets(counts), sum.or(one), sum);
        let mut result = sum.to_f32().times(unit.plus(V::all(127 - 24)).shl::<23>());
        if saturates {
            result = result.limited(V::all(f32::MAX.to_bits().cast_signed()));
        }
        // C where there are no products, and where it is not finite. -0 becomes 0.
        let none = exponent.less(V::all(format.products_from()));
        let special = V::all(254).less(of_c);
        V::select(V::either(none, special), c.plus_f32(V::all(0)), result)
    }
}
