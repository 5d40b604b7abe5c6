//! Dense products.

use frontend::op::Matrix;

use super::{Format, Side, finished, power, read};
use crate::helpers::matrix::vectors::{Vector, load_all};
use crate::helpers::matrix::{Product, Rows, Source, lanes_of, place};

/// Multiplies matrices with `P` values of K in each lane, of which `G` lanes are a step. Exponents are in `E` words. Even and
/// odd products are cut off apart if `PARTS` is 2.
///
/// # Safety
/// As [`multiply`].
#[inline(always)]
pub(super) unsafe fn multiply<
    V: Vector,
    const P: usize,
    const E: usize,
    const G: usize,
    const PARTS: usize,
>(
    Product { call, factors, .. }: Product<'_>,
    formats: [Format; 2],
    d: &mut Rows,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let (mut a, mut b) = (Side::EMPTY, Side::EMPTY);
        if !read::<V, _, _, _, _>(formats, factors, &mut a, &mut b) {
            return false;
        }
        let steps = Dense::<P, E, G, PARTS> {
            a: &a,
            b: &b,
            format: formats[0],
            saturates: call.saturates,
        };
        match call.shape.size {
            32 => steps.rows::<V, 32>(call.shape, factors.source, d),
            16 => steps.rows::<V, 16>(call.shape, factors.source, d),
            _ => steps.fours::<V>(d),
        }
    }
    true
}

/// A dense product.
struct Dense<'a, const P: usize, const E: usize, const G: usize, const PARTS: usize> {
    a: &'a Side<P, E>,
    b: &'a Side<P, E>,
    format: Format,
    saturates: bool,
}

/// Values and exponents of a step of B, by lane and number.
type OfB<V, const P: usize, const E: usize, const G: usize> = ([[V; P]; G], [[V; E]; G]);

impl<const P: usize, const E: usize, const G: usize, const PARTS: usize> Dense<'_, P, E, G, PARTS> {
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
    unsafe fn fours<V: Vector>(&self, d: &mut Rows) {
        debug_assert_eq!(G, 1);
        for lane in (0..64).step_by(V::LANES) {
            // SAFETY: the caller's; the lanes are some.
            unsafe {
                let b = self.b_from::<V>(|_| lane);
                let a = (
                    load_all(&self.a.values, lane),
                    load_all(&self.a.exponents, lane),
                );
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
                values[g] = load_all(&self.b.values, lane(g));
                exponents[g] = load_all(&self.b.exponents, lane(g));
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
