//! Operands of matrix instructions: which registers and lanes they have, copies of them, and NaN results.

use std::array;
use std::ops::Range;

use frontend::op::{Factor, Matrix};
use lower::abi::Lanes;
use lower::ir::matrix::Addend;
use lower::ir::{MatrixCall, VECTOR_REGISTERS};

use super::Rows;
use super::loops::flushed_with_sign;
use crate::choices::{self, MATRIX_NAN, MATRIX_NAN_F64};

/// Most registers of A or B, unless A is sparse.
const FACTOR: usize = 2;

/// Most registers of B.
pub(super) const MOST_OF_B: usize = 4;

/// Copies of the registers of A or B.
type Copied = [Lanes; MOST_OF_B];

/// What an instruction multiplies.
#[derive(Clone, Copy)]
pub(super) struct Product<'a> {
    pub(super) call: &'a MatrixCall,
    pub(super) factors: Factors<'a>,
    /// The register with the places of the values of a sparse A.
    pub(super) places: Option<&'a Lanes>,
}

impl Product<'_> {
    /// The first bit of the places of a lane with `stored` values of a sparse A: two for each value. CBSZ and ABID choose one of
    /// the sets of places in a word.
    #[inline(always)]
    pub(super) fn first_place(self, stored: usize) -> u32 {
        let set = match self.call.cbsz & 3 {
            0 => usize::from(self.call.abid),
            _ => 0,
        };
        (2 * stored * set % 32) as u32
    }
}

/// A and B, in registers.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a> {
    pub(super) a: &'a Rows,
    pub(super) b: &'a Rows,
    /// The block of A that a block of D has.
    pub(super) source: Source,
}

impl<'a> Factors<'a> {
    /// With what [`spread`] returned for A.
    #[inline(always)]
    pub(super) fn with_spread<'b>(
        self,
        shape: Matrix,
        a: Option<&'b [Lanes; FACTOR]>,
    ) -> Factors<'b>
    where
        'a: 'b,
    {
        match a {
            None => self,
            Some(a) => Factors {
                a: &a[..self.a.len()],
                b: self.b,
                source: Source::own(shape),
            },
        }
    }
}

/// Which block of A takes part, by CBSZ and ABID.
#[derive(Clone, Copy)]
pub(super) struct Source {
    cbsz: u8,
    abid: u8,
    blocks: u8,
}

impl Source {
    /// Each block of D has its own.
    pub(super) fn own(shape: Matrix) -> Source {
        Source {
            cbsz: 0,
            abid: 0,
            blocks: shape.blocks,
        }
    }

    pub(super) fn of_call(call: &MatrixCall) -> Source {
        Source {
            cbsz: call.cbsz,
            abid: call.abid,
            blocks: call.shape.blocks,
        }
    }

    /// The block of A that block `b` of D has.
    #[inline(always)]
    pub(super) fn of(self, b: usize) -> usize {
        // A division otherwise.
        if self.cbsz == 0 {
            return b;
        }
        choices::matrix_block_of_a(b, self.blocks.into(), self.cbsz, self.abid)
    }
}

// ---- A and B

/// The factors of a chain of instructions where they are, and its D. Given are the registers of D, the
/// number of those of a factor, which is outside of D, and which block of A takes part.
#[inline(always)]
pub(super) fn in_place<'a, const N: usize>(
    chain: &[[u64; 3]],
    (d, count, source): (Range<usize>, usize, Source),
    rows: &'a mut [Lanes; VECTOR_REGISTERS],
    staged: &'a Rows,
) -> ([Factors<'a>; N], &'a mut Rows) {
    let (below, from) = rows.split_at_mut(d.start);
    let (sums, above) = from.split_at_mut(d.len());
    let (below, above) = (&*below, &*above);
    let tuple = |n: u16| {
        let n = usize::from(n);
        if n < d.start {
            &below[n..][..count]
        } else if n < VECTOR_REGISTERS {
            &above[n - d.end..][..count]
        } else {
            &staged[n - VECTOR_REGISTERS..][..count]
        }
    };
    let none = Factors {
        a: &[],
        b: &[],
        source,
    };
    let mut factors = [none; N];
    for (factors, &[registers, ..]) in factors.iter_mut().zip(chain) {
        let [a, b] = MatrixCall::factors_of(registers);
        *factors = Factors {
            a: tuple(a),
            b: tuple(b),
            source,
        };
    }
    (factors, sums)
}

/// Copies of the registers of A and B, the lanes of B as BLGP says, f32 flushed and f64 negated if required.
#[inline(always)]
pub(super) fn factors(call: &MatrixCall, rows: &Rows, staged: &Rows) -> (Copied, Copied) {
    let copy = |first: u16, count: u16| {
        let mut copied = [[0; 64]; MOST_OF_B];
        for (to, n) in copied
            .iter_mut()
            .zip(usize::from(first)..)
            .take(count.into())
        {
            *to = match n.checked_sub(VECTOR_REGISTERS) {
                None => rows[n],
                Some(n) => staged[n],
            };
        }
        copied
    };
    let mut a = copy(call.a, call.a_registers());
    let mut b = copy(call.b, MatrixCall::factor_registers(call.shape));
    if call.blgp != 0 {
        for row in &mut b {
            let from = *row;
            *row = array::from_fn(|lane| from[lane_of_b(call.blgp, lane)]);
        }
    }
    if call.flush {
        let words = a[0].iter_mut().chain(&mut b[0]);
        words.for_each(|word| *word = flushed_with_sign(*word));
    }
    for (bit, factor) in [&mut a, &mut b].into_iter().enumerate() {
        if call.negate >> bit & 1 != 0 {
            negate(&mut factor[1]);
        }
    }
    (a, b)
}

/// Negates the numbers with these high words.
#[inline(always)]
fn negate(high: &mut Lanes) {
    high.iter_mut().for_each(|word| *word ^= 1 << 31);
}

/// The lane that B is read at, by BLGP (CDNA3 ISA, table 29).
fn lane_of_b(blgp: u8, lane: usize) -> usize {
    match blgp {
        0 => lane,
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        group => lane % 16 + 16 * (usize::from(group) - 4),
    }
}

/// A of a shape of four columns with the blocks that CBSZ and ABID choose in the places of those that
/// they replace.
#[inline(always)]
pub(super) fn spread(shape: Matrix, factors: Factors<'_>) -> Option<[Lanes; FACTOR]> {
    (shape.size == 4 && factors.source.cbsz != 0).then(|| {
        let lane = |lane: usize| 4 * factors.source.of(lane / 4) + lane % 4;
        let spread = |row: &Lanes| array::from_fn(|n| row[lane(n)]);
        array::from_fn(|n| factors.a.get(n).map_or([0; 64], spread))
    })
}

/// A product of i8 as products of one register of each factor, whose sums are added: they wrap, so that their order is of no effect.
#[inline(always)]
pub(super) fn by_register<'a>(
    shape: Matrix,
    factors: Factors<'a>,
) -> impl Iterator<Item = (Matrix, Factors<'a>)> {
    let (a, b) = (factors.a.chunks(1), factors.b.chunks(1));
    let shape = Matrix {
        k: shape.k / factors.a.len() as u8,
        ..shape
    };
    a.zip(b)
        .map(move |(a, b)| (shape, Factors { a, b, ..factors }))
}

// ---- C and D

/// The registers of D, which get the elements of C.
#[inline(always)]
pub(super) fn sum_so_far<'a>(call: &MatrixCall, rows: &'a mut Rows) -> &'a mut Rows {
    let count = MatrixCall::sum_registers(call.shape) as usize;
    let d = call.d as usize;
    match call.c {
        Addend::Registers(c) if c == call.d => {}
        Addend::Registers(c) => rows.copy_within(c as usize..c as usize + count, d),
        Addend::Constant(bits) => {
            let wide = call.shape.factor == Factor::F64;
            for (i, row) in rows[d..d + count].iter_mut().enumerate() {
                let high = wide && i % 2 == 1;
                *row = [if high {
                    (bits >> 32) as u32
                } else {
                    bits as u32
                }; 64];
            }
        }
    }
    let d = &mut rows[d..d + count];
    if call.negate & 4 != 0 {
        d.iter_mut().skip(1).step_by(2).for_each(negate);
    }
    d
}

/// Makes the results of a call final.
#[inline(always)]
pub(super) fn finish(call: &MatrixCall, d: &mut Rows) {
    if call.quiet {
        quiet(call.shape.factor, d);
    }
}

/// Replaces NaNs by the default one.
#[inline(always)]
pub(super) fn quiet(factor: Factor, d: &mut Rows) {
    match factor {
        Factor::I8 => {}
        Factor::F64 => {
            for pair in d.chunks_exact_mut(2) {
                for lane in 0..64 {
                    if double(pair, lane).is_nan() {
                        (pair[0][lane], pair[1][lane]) =
                            (MATRIX_NAN_F64 as u32, (MATRIX_NAN_F64 >> 32) as u32);
                    }
                }
            }
        }
        Factor::F32 | Factor::F16 | Factor::Bf16 | Factor::Xf32 | Factor::F8(..) => {
            for word in d.as_flattened_mut() {
                if f32::from_bits(*word).is_nan() {
                    *word = MATRIX_NAN;
                }
            }
        }
    }
}

/// The f64 of a lane of a pair of registers.
#[inline(always)]
fn double(pair: &Rows, lane: usize) -> f64 {
    f64::from_bits(u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32)
}

// ---- places in registers

/// The item and the first lane of row `i` of block `b` of C or D; columns are in adjacent lanes.
/// `H` adjacent rows are in adjacent items.
#[inline(always)]
pub(super) fn place<const N: usize, const H: usize>(b: usize, i: usize) -> (usize, usize) {
    // Blocks side by side in the lanes, then rows above one another in them.
    let beside = const {
        if 64 * H / (N * N) > 1 {
            64 * H / (N * N)
        } else {
            1
        }
    };
    let above = 64 / (N * beside);
    let groups = N / (H * above);
    let item = i % H + H * (i / (H * above) + groups * (b / beside));
    let lane = N * (b % beside + beside * (i / H % above));
    (item, lane)
}

/// The first lane of the elements of A or B whose K is in group `k` of those that a lane has.
#[inline(always)]
pub(super) fn lanes_of<const N: usize>(blocks: usize, b: usize, k: usize) -> usize {
    N * (b + blocks * k)
}
