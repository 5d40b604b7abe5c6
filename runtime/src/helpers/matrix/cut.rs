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

use std::array;

use frontend::op::{F8, Factor, Matrix, MatrixSums};
use lower::abi::Lanes;
use lower::ir::MatrixCall;

use super::vectors::Vector;
use super::{Factors, Rows, Source, lanes_of, place};

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

/// A or B with `P` elements in a lane.
struct Side<const P: usize, const E: usize> {
    /// As f32.
    values: [Lanes; P],
    /// Exponents. Where they are in fewer words than elements, those of items `n`, `n + E` and so on are in word `n`.
    exponents: [Lanes; E],
    /// The highest and the lowest exponent but those of zeros.
    range: [i32; 2],
}

impl<const P: usize, const E: usize> Side<P, E> {
    /// `None` if an element is not finite.
    ///
    /// # Safety
    /// The host has the vector; the registers have so many elements.
    #[inline(always)]
    unsafe fn of<V: Vector>(format: Format, rows: &Rows) -> Option<Self> {
        let bits = format.bits();
        let in_register = 32 / bits;
        let mut side = Side {
            values: [[0; 64]; P],
            exponents: [[0; 64]; E],
            range: [0; 2],
        };
        // SAFETY: the caller's; the lanes are some.
        unsafe {
            let (mut most, mut least) = (V::all(-0x4000), V::all(-0x4000));
            let mut most_bits = V::all(0);
            for lane in (0..64).step_by(V::LANES) {
                for first in 0..E {
                    let mut together = V::all(0);
                    for item in (first..P).step_by(E) {
                        let words = V::load(rows[item / in_register].as_ptr().add(lane));
                        let by = bits * (item % in_register);
                        let words = words.sar_by(V::all(by as i32));
                        let values = format.values(words);
                        values.store(side.values[item].as_mut_ptr().add(lane));

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
                    together.store(side.exponents[first].as_mut_ptr().add(lane));
                }
            }
            side.range = [most.largest(), -least.largest()];
            (most_bits.largest() < 128).then_some(side)
        }
    }
}

/// Are all products of these exact and normal, and less than 2^128, and all sums normal?
fn in_range(a: [i32; 2], b: [i32; 2]) -> bool {
    a[0] + b[0] <= 125 && a[1] + b[1] >= -94
}

/// Multiplies; false if this is none of the products here.
///
/// # Safety
/// The host has these features. `d` are the sums of the call, whose A is sparse if there are places.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn avx2(
    call: &MatrixCall,
    factors: Factors<'_>,
    places: Option<&Lanes>,
    d: &mut Rows,
) -> bool {
    // SAFETY: the caller's.
    unsafe { multiply::<std::arch::x86_64::__m256i>(call, factors, places, d) }
}

/// As [`avx2`].
///
/// # Safety
/// As [`avx2`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
pub(super) unsafe fn avx512(
    call: &MatrixCall,
    factors: Factors<'_>,
    places: Option<&Lanes>,
    d: &mut Rows,
) -> bool {
    // SAFETY: the caller's.
    unsafe { multiply::<std::arch::x86_64::__m512i>(call, factors, places, d) }
}

/// # Safety
/// The host has the vector; otherwise as [`avx2`].
#[inline(always)]
unsafe fn multiply<V: Vector>(
    call: &MatrixCall,
    factors: Factors<'_>,
    places: Option<&Lanes>,
    d: &mut Rows,
) -> bool {
    let long = call.shape.k > 4;
    // SAFETY: the caller's.
    unsafe {
        match (call.shape.factor, call.sums) {
            (Factor::F16, MatrixSums::CutOff) => {
                let format = [Format::F16; 2];
                match (places, long) {
                    (Some(places), _) => sparse::<V, 4, 8, 1>(call, format, factors, places, d),
                    (None, true) => dense::<V, 4, 1, 2, 1>(call, format, factors, d),
                    (None, false) => dense::<V, 4, 1, 1, 1>(call, format, factors, d),
                }
            }
            (Factor::Bf16, MatrixSums::CutOff) if factors.a.len() == 2 => {
                let format = [Format::Bf16; 2];
                match (places, long) {
                    (Some(places), _) => sparse::<V, 4, 8, 1>(call, format, factors, places, d),
                    (None, true) => dense::<V, 4, 2, 2, 1>(call, format, factors, d),
                    (None, false) => dense::<V, 4, 2, 1, 1>(call, format, factors, d),
                }
            }
            (Factor::Xf32, _) => dense::<V, 2, 1, 2, 1>(call, [Format::Xf32; 2], factors, d),
            (Factor::F8(a, b), _) => {
                let format = [Format::F8(a), Format::F8(b)];
                match places {
                    Some(places) => sparse::<V, 8, 16, 2>(call, format, factors, places, d),
                    None => dense::<V, 8, 2, 2, 2>(call, format, factors, d),
                }
            }
            (Factor::F32 | Factor::F16 | Factor::Bf16 | Factor::I8 | Factor::F64, _) => false,
        }
    }
}

// ---- dense products

/// Multiplies matrices with `P` values of K in each lane, of which `G` lanes are a step. Exponents are in `E` words. Even and
/// odd products are cut off apart if `PARTS` is 2.
///
/// # Safety
/// As [`multiply`].
#[inline(always)]
unsafe fn dense<V: Vector, const P: usize, const E: usize, const G: usize, const PARTS: usize>(
    call: &MatrixCall,
    [of_a, of_b]: [Format; 2],
    factors: Factors<'_>,
    d: &mut Rows,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let Some(a) = Side::<P, E>::of::<V>(of_a, factors.a) else {
            return false;
        };
        let Some(b) = Side::<P, E>::of::<V>(of_b, factors.b) else {
            return false;
        };
        if !in_range(a.range, b.range) {
            return false;
        }
        let steps = Dense::<P, E, G, PARTS> {
            a,
            b,
            format: of_a,
            saturates: call.saturates,
        };
        match call.shape.size {
            32 => steps.rows::<V, 32>(call.shape, factors.source, d),
            16 => steps.rows::<V, 16>(call.shape, factors.source, d),
            _ => steps.fours::<V>(factors.source, d),
        }
    }
    true
}

/// A dense product.
struct Dense<const P: usize, const E: usize, const G: usize, const PARTS: usize> {
    a: Side<P, E>,
    b: Side<P, E>,
    format: Format,
    saturates: bool,
}

/// Values and exponents of a step of B, by lane and number.
type OfB<V, const P: usize, const E: usize, const G: usize> = ([[V; P]; G], [[V; E]; G]);

impl<const P: usize, const E: usize, const G: usize, const PARTS: usize> Dense<P, E, G, PARTS> {
    /// Matrices of `N` columns, 16 or 32.
    ///
    /// # Safety
    /// The host has the vector. The shape is that of `d` and of the values.
    #[inline(always)]
    unsafe fn rows<V: Vector, const N: usize>(&self, shape: Matrix, source: Source, d: &mut Rows) {
        let blocks = usize::from(shape.blocks);
        let groups = 64 / (N * blocks);
        for block in 0..blocks {
            let from = source.of(block);
            for column in (0..N).step_by(V::LANES) {
                for first in (0..groups).step_by(G) {
                    let b_lane = |g: usize| lanes_of::<N>(blocks, block, first + g) + column;
                    let a_lane = |g: usize| lanes_of::<N>(blocks, from, first + g);
                    // SAFETY: the caller's; the columns of B are within its lanes.
                    let b = unsafe { self.b_from::<V>(b_lane) };
                    for i in 0..N {
                        let (item, lane) = place::<N, 4>(block, i);
                        let x = |g: usize, item: usize| self.a.values[item][a_lane(g) + i];
                        let of_x = |g: usize, word: usize| self.a.exponents[word][a_lane(g) + i];
                        let sums = &mut d[item][lane + column..][..V::LANES];
                        // SAFETY: the caller's.
                        unsafe {
                            let sum = self.step(
                                |g, item| V::all(x(g, item).cast_signed()),
                                |g, word| V::all(of_x(g, word).cast_signed()),
                                &b,
                                V::load(sums.as_ptr()),
                            );
                            sum.store(sums.as_mut_ptr());
                        }
                    }
                }
            }
        }
    }

    /// Matrices of four columns, each in four lanes; D's rows are its registers.
    ///
    /// # Safety
    /// As [`Dense::rows`].
    #[inline(always)]
    unsafe fn fours<V: Vector>(&self, source: Source, d: &mut Rows) {
        debug_assert_eq!(G, 1);
        let lanes: Lanes = array::from_fn(|lane| (4 * source.of(lane / 4) + lane % 4) as u32);
        let spread = |row: &Lanes| lanes.map(|lane| row[lane as usize % 64]);
        let spread = (source.cbsz != 0).then(|| {
            (
                self.a.values.each_ref().map(spread),
                self.a.exponents.each_ref().map(spread),
            )
        });
        let (values, exponents) = match &spread {
            None => (&self.a.values, &self.a.exponents),
            Some((values, exponents)) => (values, exponents),
        };
        for lane in (0..64).step_by(V::LANES) {
            // SAFETY: the caller's; the lanes are some.
            unsafe {
                let b = self.b_from::<V>(|_| lane);
                let a = (loaded(values, lane), loaded(exponents, lane));
                self.row_of_four::<V, 0x00>(a, &b, &mut d[0][lane..]);
                self.row_of_four::<V, 0x55>(a, &b, &mut d[1][lane..]);
                self.row_of_four::<V, 0xaa>(a, &b, &mut d[2][lane..]);
                self.row_of_four::<V, 0xff>(a, &b, &mut d[3][lane..]);
            }
        }
    }

    /// The row of each block of four columns with the number that [`Vector::quads`] takes.
    ///
    /// # Safety
    /// As [`Dense::rows`].
    #[inline(always)]
    unsafe fn row_of_four<V: Vector, const I: i32>(
        &self,
        (mut x, mut of_x): ([V; P], [V; E]),
        b: &OfB<V, P, E, G>,
        sums: &mut [u32],
    ) {
        let sums = &mut sums[..V::LANES];
        // SAFETY: the caller's.
        unsafe {
            for all in x.iter_mut().chain(&mut of_x) {
                *all = all.quads::<I>();
            }
            let c = V::load(sums.as_ptr());
            let sum = self.step(|_, item| x[item], |_, word| of_x[word], b, c);
            sum.store(sums.as_mut_ptr());
        }
    }

    /// Values and exponents of B from the lane on that is given for each lane of a step.
    ///
    /// # Safety
    /// The host has the vector; there are so many lanes.
    #[inline(always)]
    unsafe fn b_from<V: Vector>(&self, lane: impl Fn(usize) -> usize) -> OfB<V, P, E, G> {
        // SAFETY: the caller's.
        unsafe {
            let mut values = [[V::all(0); P]; G];
            let mut exponents = [[V::all(0); E]; G];
            for g in 0..G {
                values[g] = loaded(&self.b.values, lane(g));
                exponents[g] = loaded(&self.b.exponents, lane(g));
            }
            (values, exponents)
        }
    }

    /// A step of a row. A's values and exponents are given by lane of the step and by number.
    ///
    /// # Safety
    /// The host has the vector.
    #[inline(always)]
    unsafe fn step<V: Vector>(
        &self,
        x: impl Fn(usize, usize) -> V,
        of_x: impl Fn(usize, usize) -> V,
        (y, of_y): &OfB<V, P, E, G>,
        c: V,
    ) -> V {
        // SAFETY: the caller's.
        unsafe {
            let mut exponents = [V::all(0); PARTS];
            let mut totals = [V::all(0); PARTS];
            for part in 0..PARTS {
                let word = |n: usize| part + PARTS * n;
                // Closures that are called at one place only: they must become part of this function.
                let mut highest = V::all(match self.format.exponent_bits() {
                    8 => 0x8080_8080u32.cast_signed(),
                    _ => 0x8000_8000u32.cast_signed(),
                });
                for g in 0..G {
                    for n in 0..E / PARTS {
                        let (of_x, of_y) = (of_x(g, word(n)), of_y[g][word(n)]);
                        highest = match self.format.exponent_bits() {
                            8 => highest.highest8(of_x.plus8(of_y)),
                            _ => highest.highest16(of_x.plus16(of_y)),
                        };
                    }
                }
                let exponent = match self.format.exponent_bits() {
                    8 => {
                        let pairs = highest.highest8(highest.shr::<16>());
                        let one = pairs.highest8(pairs.shr::<8>());
                        one.shl::<24>().sar::<24>()
                    }
                    _ => {
                        let low = highest.shl::<16>().sar::<16>();
                        highest.sar::<16>().highest(low)
                    }
                };
                let up = power(exponent, 24);
                let mut total = V::all(0);
                for (g, y) in y.iter().enumerate() {
                    for n in 0..P / PARTS {
                        let product = x(g, word(n)).times(y[word(n)]);
                        total = total.plus(product.times(up).truncated());
                    }
                }
                (exponents[part], totals[part]) = (exponent, total);
            }
            finished(self.format, self.saturates, exponents, totals, c)
        }
    }
}

/// Vectors of these rows from a lane on.
///
/// # Safety
/// The host has the vector; there are so many lanes.
#[inline(always)]
unsafe fn loaded<V: Vector, const R: usize>(rows: &[Lanes; R], lane: usize) -> [V; R] {
    debug_assert!(lane + V::LANES <= 64);
    // SAFETY: the caller's.
    unsafe {
        let mut all = [V::all(0); R];
        for (to, row) in all.iter_mut().zip(rows) {
            *to = V::load(row.as_ptr().add(lane));
        }
        all
    }
}

// ---- sparse products

/// Multiplies a sparse A with `P` values in each lane and a B with `Q`. Two lanes are a step. Even and odd products are cut off apart
/// if `PARTS` is 2.
///
/// # Safety
/// As [`multiply`].
#[inline(always)]
unsafe fn sparse<V: Vector, const P: usize, const Q: usize, const PARTS: usize>(
    call: &MatrixCall,
    [of_a, of_b]: [Format; 2],
    factors: Factors<'_>,
    places: &Lanes,
    d: &mut Rows,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let Some(a) = Side::<P, P>::of::<V>(of_a, factors.a) else {
            return false;
        };
        let Some(b) = Side::<Q, Q>::of::<V>(of_b, factors.b) else {
            return false;
        };
        if !in_range(a.range, b.range) {
            return false;
        }
        let set = match call.cbsz & 3 {
            0 => usize::from(call.abid),
            _ => 0,
        };
        let steps = Sparse::<P, Q, PARTS> {
            a,
            b,
            places,
            shift: (2 * P * set % 32) as u32,
            format: of_a,
            saturates: call.saturates,
        };
        match call.shape.size {
            32 => steps.rows::<V, 32>(d),
            _ => steps.rows::<V, 16>(d),
        }
    }
    true
}

/// A sparse product.
struct Sparse<'a, const P: usize, const Q: usize, const PARTS: usize> {
    a: Side<P, P>,
    b: Side<Q, Q>,
    /// Two bits for each value of A in a lane, from bit `shift` on.
    places: &'a Lanes,
    shift: u32,
    format: Format,
    saturates: bool,
}

impl<const P: usize, const Q: usize, const PARTS: usize> Sparse<'_, P, Q, PARTS> {
    /// Matrices of `N` columns.
    ///
    /// # Safety
    /// The host has the vector. `d` has them.
    #[inline(always)]
    unsafe fn rows<V: Vector, const N: usize>(&self, d: &mut Rows) {
        for column in (0..N).step_by(V::LANES) {
            for first in (0..64).step_by(2 * N) {
                for i in 0..N {
                    let (item, lane) = place::<N, 4>(0, i);
                    let sums = &mut d[item][lane + column..][..V::LANES];
                    // SAFETY: the caller's; the columns are within the lanes.
                    unsafe {
                        let sum =
                            self.step::<V>([first, first + N], i, column, V::load(sums.as_ptr()));
                        sum.store(sums.as_mut_ptr());
                    }
                }
            }
        }
    }

    /// A step of row `i`, for the columns from this one on: of lanes that begin at these.
    ///
    /// # Safety
    /// The host has the vector; there are such lanes.
    #[inline(always)]
    unsafe fn step<V: Vector>(&self, lanes: [usize; 2], i: usize, column: usize, c: V) -> V {
        // SAFETY: the caller's.
        unsafe {
            let mut exponents = [V::all(0); PARTS];
            let mut totals = [V::all(0); PARTS];
            let places = lanes.map(|lane| self.places[lane + i] >> self.shift);
            for part in 0..PARTS {
                // The value of A that has this number, its lane, and the value of B that belongs to it.
                let term = |n: usize| {
                    let (g, item) = (n % 2, part + n / 2 * PARTS);
                    let of_b = 4 * (item / 2) + (places[g] >> (2 * item) & 3) as usize;
                    (item, lanes[g], of_b)
                };
                let mut highest = V::all(i32::MIN);
                for n in 0..2 * P / PARTS {
                    let (item, lane, of_b) = term(n);
                    let y = V::load(self.b.exponents[of_b].as_ptr().add(lane + column));
                    let x = V::all(self.a.exponents[item][lane + i].cast_signed());
                    highest = highest.highest(x.plus(y));
                }
                let up = power(highest, 24);
                let mut total = V::all(0);
                for n in 0..2 * P / PARTS {
                    let (item, lane, of_b) = term(n);
                    let y = V::load(self.b.values[of_b].as_ptr().add(lane + column));
                    let x = V::all(self.a.values[item][lane + i].cast_signed());
                    total = total.plus(x.times(y).times(up).truncated());
                }
                (exponents[part], totals[part]) = (highest, total);
            }
            finished(self.format, self.saturates, exponents, totals, c)
        }
    }
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
