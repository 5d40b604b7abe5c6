//! Products as gfx942 has them: sums of f16, bf16, xf32 and floats of 8 bits that are cut off (MMA-Sim, arXiv 2511.10909,
//! on MI300), sparse ones, and limited sums.
//!
//! Floats are computed as doubles, in which all of it is exact: products have at most 22 bits, sums at most 40.

use frontend::op::{F8, Factor, MatrixSums};
use lower::ir::MatrixCall;

use super::loops::widened;
use super::{Product, Rows, lanes_of, place};
use crate::choices;
use crate::helpers::eight_bits;

/// Most values of K.
const MOST: usize = 64;

/// Does a call need what is here? The others are as on earlier targets.
#[inline(always)]
pub(super) fn takes(call: &MatrixCall) -> bool {
    let other = match call.shape.factor {
        Factor::F32 | Factor::F64 | Factor::I8 => false,
        Factor::F16 | Factor::Bf16 => call.sums == MatrixSums::CutOff,
        Factor::Xf32 | Factor::F8(..) => true,
    };
    other || call.places.is_some() || call.saturates
}

/// An element of A or B: its value, and its exponent if it counts in the choice of where sums are cut off.
#[derive(Clone, Copy, Default)]
struct Element {
    value: f64,
    exponent: i32,
}

/// The exponent of zeros: below those of all products.
const ZERO: i32 = -4096;

impl Element {
    #[inline(always)]
    fn new(value: f32, least: i32) -> Element {
        let exponent = (value.to_bits() >> 23 & 0xff) as i32 - 127;
        Element {
            value: value.into(),
            exponent: if value == 0.0 {
                ZERO
            } else {
                exponent.max(least)
            },
        }
    }

    #[inline(always)]
    fn of(factor: Factor, is_b: bool, bits: u32) -> Element {
        match factor {
            Factor::F16 => Element::new(widened(bits as u16), -14),
            Factor::Bf16 => Element::new(f32::from_bits(bits << 16), -126),
            Factor::Xf32 => {
                // 13 bits of the mantissa are cut off, but a NaN stays one.
                let nan = bits & 0x7fff_ffff > 0x7f80_0000;
                Element::new(
                    f32::from_bits(if nan { bits } else { bits & !0x1fff }),
                    -126,
                )
            }
            Factor::F8(a, b) => match if is_b { b } else { a } {
                F8::Fp8 => Element::new(f32::from_bits(eight_bits::widen([bits], 0)[0]), -7),
                F8::Bf8 => Element::new(f32::from_bits(eight_bits::widen([bits], 1)[0]), -15),
            },
            // Values only.
            Factor::F32 => Element {
                value: f32::from_bits(bits).into(),
                exponent: 0,
            },
            Factor::I8 => Element {
                value: f64::from(bits as i8),
                exponent: 0,
            },
            Factor::F64 => unreachable!("bug: sums of f64 are neither cut off nor limited"),
        }
    }
}

/// The bits of an item of a lane.
#[inline(always)]
fn item_bits(rows: &Rows, bits: usize, lane: usize, item: usize) -> u32 {
    let in_register = 32 / bits;
    let word = rows[item / in_register][lane] >> (bits * (item % in_register));
    word & (u32::MAX >> (32 - bits))
}

/// Multiplies; D has the elements of C. All of it is inline, so that each variant has it with the features of its host.
#[inline(always)]
pub(super) fn multiply(product: Product<'_>, d: &mut Rows) {
    match product.call.shape.size {
        32 => columns::<32>(product, d),
        16 => columns::<16>(product, d),
        _ => columns::<4>(product, d),
    }
}

/// Matrices of `N` columns.
#[inline(always)]
fn columns<const N: usize>(product: Product<'_>, d: &mut Rows) {
    let Product {
        call,
        factors,
        places,
    } = product;
    let shape = call.shape;
    let bits = shape.factor.bits() as usize;
    let (k, blocks) = (usize::from(shape.k), usize::from(shape.blocks));
    let per_lane = shape.per_lane() as usize;
    // Of A, which may be sparse.
    let stored = per_lane * factors.a.len() / factors.b.len();

    // B by block and k: values and exponents of a row.
    let mut columns = vec![([0.0; N], [0; N]); blocks * k];
    for (n, (values, exponents)) in columns.iter_mut().enumerate() {
        let (block, k) = (n / k, n % k);
        let lane = lanes_of::<N>(blocks, block, k / per_lane);
        for j in 0..N {
            let bits = item_bits(factors.b, bits, lane + j, k % per_lane);
            let element = Element::of(shape.factor, true, bits);
            (values[j], exponents[j]) = (element.value, element.exponent);
        }
    }

    let first_place = product.first_place(stored);
    let terms = k * stored / per_lane;
    let arithmetic = Arithmetic::of(call, terms);
    // The terms of a row: an element of A, and the K of B's row.
    let mut row = [(Element::default(), 0); MOST];
    for block in 0..blocks {
        let from = factors.source.of(block);
        for i in 0..N {
            for (n, (element, at)) in row.iter_mut().enumerate().take(terms) {
                let (group, item) = (n / stored, n % stored);
                let lane = lanes_of::<N>(blocks, from, group) + i;
                let bits = item_bits(factors.a, bits, lane, item);
                *element = Element::of(shape.factor, false, bits);
                *at = match places {
                    None => n,
                    Some(places) => {
                        let index = places[lane] >> (first_place + 2 * item as u32) & 3;
                        per_lane * group + 4 * (item / 2) + index as usize
                    }
                };
            }
            let (item, lane) = place::<N, 4>(block, i);
            let sums = d[item][lane..].first_chunk_mut::<N>();
            let sums = sums.expect("a row of D lies within the lanes");
            arithmetic.add(&row[..terms], &columns[block * k..][..k], sums);
        }
    }
}

/// A row of B: values and exponents.
type Row<const N: usize> = ([f64; N], [i32; N]);

/// How products are added up.
#[derive(Clone, Copy)]
struct Arithmetic {
    kind: Kind,
    /// Products in a sum that is rounded.
    chunk: usize,
    saturates: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Fused,
    Integer,
    Cut,
    /// Even and odd products apart.
    CutEvenOdd,
}

impl Arithmetic {
    #[inline(always)]
    fn of(call: &MatrixCall, terms: usize) -> Arithmetic {
        let (kind, most) = match call.shape.factor {
            Factor::F32 | Factor::F64 => (Kind::Fused, terms),
            Factor::I8 => (Kind::Integer, terms),
            Factor::F16 | Factor::Bf16 => (Kind::Cut, 8),
            Factor::Xf32 => (Kind::Cut, 4),
            Factor::F8(..) => (Kind::CutEvenOdd, 16),
        };
        let chunk = choices::sparse_chunk(most, terms);
        Arithmetic {
            kind,
            chunk,
            saturates: call.saturates,
        }
    }

    #[inline(always)]
    fn add<const N: usize>(
        self,
        row: &[(Element, usize)],
        columns: &[Row<N>],
        sums: &mut [u32; N],
    ) {
        match self.kind {
            Kind::Integer => {
                for (j, sum) in sums.iter_mut().enumerate() {
                    // Exact.
                    let products = row.iter().map(|(a, k)| (a.value * columns[*k].0[j]) as i64);
                    let total = i64::from(*sum as i32) + products.sum::<i64>();
                    *sum = match self.saturates {
                        true => total.clamp(i32::MIN.into(), i32::MAX.into()) as u32,
                        false => total as u32,
                    };
                }
            }
            Kind::Fused => {
                for (a, k) in row {
                    let a = a.value as f32;
                    for (sum, &b) in sums.iter_mut().zip(&columns[*k].0) {
                        let (b, old) = (b as f32, f32::from_bits(*sum));
                        let new = a.mul_add(b, old);
                        let finite = a.is_finite() && b.is_finite() && old.is_finite();
                        *sum = self.settled(new, finite).to_bits();
                    }
                }
            }
            Kind::Cut | Kind::CutEvenOdd => {
                for chunk in row.chunks(self.chunk) {
                    self.add_chunk(chunk, columns, sums);
                }
            }
        }
    }

    /// An infinite result of finite numbers is the largest one, if so required.
    #[inline(always)]
    fn settled(self, x: f32, finite: bool) -> f32 {
        match self.saturates && finite && x.is_infinite() {
            true => f32::MAX.copysign(x),
            false => x,
        }
    }

    #[inline(always)]
    fn add_chunk<const N: usize>(
        self,
        row: &[(Element, usize)],
        columns: &[Row<N>],
        sums: &mut [u32; N],
    ) {
        // The highest exponents, and the sum as it would be without cuts, for what is not finite.
        let step = if matches!(self.kind, Kind::CutEvenOdd) {
            2
        } else {
            1
        };
        let mut highest = [[2 * ZERO; N]; 2];
        let mut plain: [f64; N] = sums.map(|sum| f32::from_bits(sum).into());
        let mut most = [0f64; N];
        let mut least = [0f64; N];
        for (n, (a, k)) in row.iter().enumerate() {
            let (values, exponents) = &columns[*k];
            let highest = &mut highest[n % step];
            for j in 0..N {
                let product = a.value * values[j];
                highest[j] = highest[j].max(a.exponent + exponents[j]);
                plain[j] += product;
                most[j] = most[j].max(product);
                least[j] = least[j].min(product);
            }
        }
        let highest = highest.map(|all| all.map(|highest| highest.max(LOWEST)));
        let up = highest.map(|all| all.map(|highest| power(24 - highest)));
        let mut totals = [[0f64; N]; 2];
        for (n, (a, k)) in row.iter().enumerate() {
            let values = &columns[*k].0;
            let (up, totals) = (&up[n % step], &mut totals[n % step]);
            for j in 0..N {
                totals[j] += (a.value * values[j] * up[j]).trunc();
            }
        }
        for (j, sum) in sums.iter_mut().enumerate() {
            let old = f64::from(f32::from_bits(*sum));
            let limit = 2f64.powi(128);
            let new = if !plain[j].is_finite() {
                plain[j] as f32
            } else if most[j] >= limit || least[j] <= -limit {
                let both = most[j] >= limit && least[j] <= -limit;
                let x = match (both, most[j] >= limit) {
                    (true, _) => f32::NAN,
                    (_, true) => f32::INFINITY,
                    (_, false) => f32::NEG_INFINITY,
                };
                self.settled(x, true)
            } else {
                let [e0, e1] = highest.map(|all| all[j]);
                let (total, exponent) = match step {
                    1 => (totals[0][j] * power(e0 - 24), e0),
                    _ => {
                        let top = e0.max(e1);
                        let down = |x: f64, e: i32| floor_to(x * power(e - 24), top - 24);
                        (down(totals[0][j], e0) + down(totals[1][j], e1), top)
                    }
                };
                self.settled(rounded(total, exponent, old, step == 2), true)
            };
            *sum = new.to_bits();
        }
    }
}

/// The least exponent that is used for sums without a product: below that of f32 numbers.
const LOWEST: i32 = -600;

/// 2^n, a normal number.
#[inline(always)]
fn power(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// Downwards to a multiple of 2^n.
#[inline(always)]
fn floor_to(x: f64, n: i32) -> f64 {
    (x * power(-n)).floor() * power(n)
}

/// The exponent of a number that is no denormal.
#[inline(always)]
fn exponent_of(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// The sum of products whose highest exponent is `exponent` and of the sum so far, rounded.
#[inline(always)]
fn rounded(total: f64, exponent: i32, old: f64, drops: bool) -> f32 {
    let own = if old == 0.0 {
        -126
    } else {
        exponent_of(old).max(-126)
    };
    let top = exponent.max(own);
    let old = if drops && own < top - 25 { 0.0 } else { old };
    let sum = floor_to(total, top - 32) + floor_to(old, top - 24);
    // A positive zero.
    let sum = floor_to(sum, exponent_of(sum).max(-126) - 31) + 0.0;
    sum as f32
}
