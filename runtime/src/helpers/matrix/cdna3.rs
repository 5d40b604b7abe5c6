//! Products as gfx942 has them: sums of f16, bf16, xf32 and floats of 8 bits that are cut off (MMA-Sim, arXiv 2511.10909,
//! on MI300), sparse ones, i8 in two registers, negated f64, and limited sums.
//!
//! Floats are computed as doubles, in which all of it is exact: products have at most 22 bits, sums at most 40.

use std::array;

use frontend::op::{F8, Factor};
use lower::abi::Lanes;
use lower::ir::MatrixCall;
use lower::ir::matrix::STAGED;

use super::{Rows, Source, finish, flushed_with_sign, lane_of_b, place, sum_so_far, widened};
use crate::choices;
use crate::helpers::eight_bits;

/// Most values of K.
const MOST: usize = 64;

/// Does a call need what is here? The others are as on earlier targets.
#[inline(always)]
pub(super) fn takes(call: &MatrixCall) -> bool {
    let other = match call.shape.factor {
        Factor::F32 | Factor::F64 => false,
        Factor::I8 => MatrixCall::factor_registers(call.shape) > 1,
        Factor::F16 | Factor::Bf16 => call.truncates,
        Factor::Xf32 | Factor::F8(..) => true,
    };
    other || call.places.is_some() || call.saturates || call.negate != 0
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
    fn of(factor: Factor, is_b: bool, bits: u64) -> Element {
        let low = bits as u32;
        match factor {
            Factor::F16 => Element::new(widened(bits as u16), -14),
            Factor::Bf16 => Element::new(f32::from_bits(low << 16), -126),
            Factor::Xf32 => {
                // 13 bits of the mantissa are cut off, but a NaN stays one.
                let nan = low & 0x7fff_ffff > 0x7f80_0000;
                Element::new(f32::from_bits(if nan { low } else { low & !0x1fff }), -126)
            }
            Factor::F8(a, b) => match if is_b { b } else { a } {
                F8::Fp8 => Element::new(f32::from_bits(eight_bits::widen([low], 0)[0]), -7),
                F8::Bf8 => Element::new(f32::from_bits(eight_bits::widen([low], 1)[0]), -15),
            },
            // Values only.
            Factor::F32 => Element {
                value: f32::from_bits(low).into(),
                exponent: 0,
            },
            Factor::F64 => Element {
                value: f64::from_bits(bits),
                exponent: 0,
            },
            Factor::I8 => Element {
                value: f64::from(low as i8),
                exponent: 0,
            },
        }
    }
}

/// The bits of an item of a lane.
#[inline(always)]
fn item_bits(rows: &Rows, bits: usize, lane: usize, item: usize) -> u64 {
    match bits {
        64 => u64::from(rows[0][lane]) | u64::from(rows[1][lane]) << 32,
        32 => rows[item][lane].into(),
        _ => {
            let in_register = 32 / bits;
            let word = rows[item / in_register][lane] >> (bits * (item % in_register));
            u64::from(word) & ((1 << bits) - 1)
        }
    }
}

/// Multiplies. All of it is inline, so that each variant has it with the features of its host.
#[inline(always)]
pub(super) fn run(call: &MatrixCall, rows: &mut Rows, staged: &Rows) {
    match call.shape.size {
        32 => columns::<32>(call, rows, staged),
        16 => columns::<16>(call, rows, staged),
        _ => columns::<4>(call, rows, staged),
    }
}

/// Matrices of `N` columns.
#[inline(always)]
fn columns<const N: usize>(call: &MatrixCall, rows: &mut Rows, staged: &Rows) {
    let shape = call.shape;
    let factor = shape.factor;
    let bits = factor.bits() as usize;
    let (k, blocks) = (usize::from(shape.k), usize::from(shape.blocks));
    let per_lane = MatrixCall::per_lane(shape) as usize;
    let stored = if call.places.is_some() {
        per_lane / 2
    } else {
        per_lane
    };
    let source = Source::of_call(call);
    // The sources are read before anything is written: D may be any of their registers.
    let copy = |first: u16, count: u16| -> Vec<Lanes> {
        let from = match first.checked_sub(STAGED) {
            None => &rows[usize::from(first)..],
            Some(n) => &staged[usize::from(n)..],
        };
        from[..usize::from(count)].to_vec()
    };
    let (mut a, mut b) = (
        copy(call.a, call.a_registers()),
        copy(call.b, MatrixCall::factor_registers(shape)),
    );
    let places = call.places.map(|places| rows[usize::from(places)]);
    if call.blgp != 0 {
        for row in &mut b {
            let from = *row;
            *row = array::from_fn(|lane| from[lane_of_b(call.blgp, lane)]);
        }
    }
    if call.flush {
        let words = a.as_flattened_mut().iter_mut().chain(b.as_flattened_mut());
        words.for_each(|word| *word = flushed_with_sign(*word));
    }
    let sign = |bit: u8| u64::from(call.negate >> bit & 1) << 63;
    let lane_of = |b: usize, group: usize| N * (b + blocks * group);

    // B by block and k: values and exponents of a row.
    let mut columns = vec![([0.0; N], [0; N]); blocks * k];
    for (n, (values, exponents)) in columns.iter_mut().enumerate() {
        let (block, k) = (n / k, n % k);
        let lane = lane_of(block, k / per_lane);
        for j in 0..N {
            let bits = item_bits(&b, bits, lane + j, k % per_lane) ^ sign(1);
            let element = Element::of(factor, true, bits);
            (values[j], exponents[j]) = (element.value, element.exponent);
        }
    }

    let d = sum_so_far(call, rows);
    let terms = k * stored / per_lane;
    let arithmetic = Arithmetic::of(call, terms);
    let double = matches!(factor, Factor::F64);
    for block in 0..blocks {
        for i in 0..N {
            let (item, lane) = match double {
                true => place::<N, 1>(block, i),
                false => place::<N, 4>(block, i),
            };
            // The terms of this row: an element of A, and the K of B's row.
            let from = source.of(block);
            let mut row = [(Element::default(), 0); MOST];
            for (n, (element, at)) in row.iter_mut().enumerate().take(terms) {
                let (group, item) = (n / stored, n % stored);
                let lane = match places {
                    Some(_) => i + N * group,
                    None => lane_of(from, group) + i,
                };
                let bits = item_bits(&a, bits, lane, item) ^ sign(0);
                *element = Element::of(factor, false, bits);
                *at = match &places {
                    None => n,
                    Some(places) => {
                        let set = if call.cbsz & 3 == 0 {
                            usize::from(call.abid)
                        } else {
                            0
                        };
                        let shift = (2 * stored * set) % 32 + 2 * item;
                        let index = places[lane] >> shift & 3;
                        per_lane * group + 4 * (item / 2) + index as usize
                    }
                };
            }
            let of_block = &columns[block * k..][..k];
            let row = &row[..terms];
            if double {
                double_row::<N>(row, of_block, sign(2), &mut d[2 * item..], lane);
                continue;
            }
            let sums = d[item][lane..].first_chunk_mut::<N>();
            let sums = sums.expect("a row of D lies within the lanes");
            arithmetic.add(row, of_block, sums);
        }
    }
    finish(call, d);
}

/// A row of B: values and exponents.
type Row<const N: usize> = ([f64; N], [i32; N]);

/// f64: fused.
#[inline(always)]
fn double_row<const N: usize>(
    row: &[(Element, usize)],
    columns: &[Row<N>],
    negated: u64,
    d: &mut Rows,
    lane: usize,
) {
    for j in 0..N {
        let at = lane + j;
        let bits = u64::from(d[0][at]) | u64::from(d[1][at]) << 32;
        let sum = row
            .iter()
            .fold(f64::from_bits(bits ^ negated), |sum, (a, k)| {
                a.value.mul_add(columns[*k].0[j], sum)
            });
        (d[0][at], d[1][at]) = (sum.to_bits() as u32, (sum.to_bits() >> 32) as u32);
    }
}

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
        let chunk = match call.places {
            Some(_) => choices::sparse_chunk(most, terms),
            None => most.min(terms),
        };
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
        let mut totals = [[0f64; N]; 2];
        for (n, (a, k)) in row.iter().enumerate() {
            let values = &columns[*k].0;
            let (highest, totals) = (&highest[n % step], &mut totals[n % step]);
            for j in 0..N {
                let up = power(24 - highest[j].max(LOWEST));
                totals[j] += (a.value * values[j] * up).trunc();
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
                let [e0, e1] = [highest[0][j], highest[1][j]].map(|e| e.max(LOWEST));
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
            *sum = if new.is_nan() {
                choices::MATRIX_NAN
            } else {
                new.to_bits()
            };
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
