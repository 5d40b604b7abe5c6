//! Products of a sparse A.

use lower::abi::Lanes;

use super::{Format, Side, finished, power, read};
use crate::helpers::matrix::vectors::{Vector, load};
use crate::helpers::matrix::{Product, Rows, place};

/// Multiplies a sparse A with `P` values in each lane and a B with `Q`. Two lanes are a step. Even and odd products are cut off apart
/// if `PARTS` is 2.
///
/// # Safety
/// As [`multiply`].
#[inline(always)]
pub(super) unsafe fn multiply<V: Vector, const P: usize, const Q: usize, const PARTS: usize>(
    product: Product<'_>,
    formats: [Format; 2],
    places: &Lanes,
    d: &mut Rows,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let (mut a, mut b) = (Side::EMPTY, Side::EMPTY);
        if !read::<V, _, _, _, _>(formats, product.factors, &mut a, &mut b) {
            return false;
        }
        let steps = Sparse::<P, Q, PARTS> {
            a: &a,
            b: &b,
            places,
            shift: product.first_place(P),
            format: formats[0],
            saturates: product.call.saturates,
        };
        match product.call.shape.size {
            32 => steps.rows::<V, 32>(d),
            _ => steps.rows::<V, 16>(d),
        }
    }
    true
}

/// A sparse product.
struct Sparse<'a, const P: usize, const Q: usize, const PARTS: usize> {
    a: &'a Side<P, P>,
    b: &'a Side<Q, Q>,
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
                    let y = load::<V>(&self.b.exponents[of_b], lane + column);
                    let x = V::all(self.a.exponents[item][lane + i].cast_signed());
                    highest = highest.highest(x.plus(y));
                }
                let up = power(highest, 24);
                let mut total = V::all(0);
                for n in 0..2 * P / PARTS {
                    let (item, lane, of_b) = term(n);
                    let y = load::<V>(&self.b.values[of_b], lane + column);
                    let x = V::all(self.a.values[item][lane + i].cast_signed());
                    total = total.plus(x.times(y).times(up).truncated());
                }
                (exponents[part], totals[part]) = (highest, total);
            }
            finished(self.format, self.saturates, exponents, totals, c)
        }
    }
}
