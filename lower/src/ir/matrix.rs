//! Matrix instructions (`v_mfma_*`, `v_smfmac_*`): D = A * B + C on vector registers of the whole wave.

use frontend::op::{F8, Factor, Matrix, MatrixSums};
use serde::{Deserialize, Serialize};

use super::{FIRST_AGPR, VECTOR_REGISTERS};

/// Most matrix instructions of one terminator.
pub const MAX_CALLS: usize = 16;

/// The first staging register. A block stages factors there that its registers no longer hold at its
/// end; nothing else reads them. They are the first slots of the frame.
pub const STAGED: u16 = VECTOR_REGISTERS as u16;

/// Staging registers: A and B of [`MAX_CALLS`] instructions have at most eight registers together.
pub const MAX_STAGED: u16 = 8 * MAX_CALLS as u16;

/// Vector registers of the guest and staging registers.
pub const LANE_REGISTERS: usize = VECTOR_REGISTERS + MAX_STAGED as usize;

/// C of a matrix instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Addend {
    /// Registers from this one on.
    Registers(u16),
    /// Each element has these bits.
    Constant(u64),
}

/// A matrix instruction. Registers are the first ones of their tuples; those of A and B may be staging
/// registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixCall {
    /// Shape and types.
    pub shape: Matrix,
    /// Registers of D.
    pub d: u16,
    /// Registers of A.
    pub a: u16,
    /// Registers of B.
    pub b: u16,
    /// C.
    pub c: Addend,
    /// CBSZ: blocks whose logarithm this is share one block of A.
    pub cbsz: u8,
    /// ABID: which of them.
    pub abid: u8,
    /// BLGP: how the lanes of B are permuted.
    pub blgp: u8,
    /// How products of f16 and bf16 are added up.
    pub sums: MatrixSums,
    /// Denormal f32 of A and B count as zeros of their sign.
    pub flush: bool,
    /// A NaN result is the default one.
    pub quiet: bool,
    /// i32 sums are limited, and f32 sums that overflow are the largest number (gfx942).
    pub saturates: bool,
    /// f64: bits 0 to 2 negate A, B and C.
    pub negate: u8,
    /// The register that has the places of the values of a sparse A. C is D then.
    pub places: Option<u16>,
}

/// The C field of a packed call where C is a constant.
const CONSTANT: u16 = u16::MAX;

impl MatrixCall {
    /// Registers of A and of B.
    pub const fn factor_registers(shape: Matrix) -> u16 {
        (shape.per_lane() * shape.factor.bits() / 32) as u16
    }

    /// Registers of C and of D.
    pub const fn sum_registers(shape: Matrix) -> u16 {
        let elements = shape.size as u16 * shape.size as u16 * shape.blocks as u16 / 64;
        match shape.factor {
            Factor::F64 => 2 * elements,
            Factor::F32
            | Factor::F16
            | Factor::Bf16
            | Factor::I8
            | Factor::Xf32
            | Factor::F8(..) => elements,
        }
    }

    /// Registers of this call's A.
    pub const fn a_registers(&self) -> u16 {
        match self.places {
            Some(_) => MatrixCall::factor_registers(self.shape) / 2,
            None => MatrixCall::factor_registers(self.shape),
        }
    }

    /// The registers that it writes, all lanes of them.
    pub fn writes(&self) -> std::ops::Range<u16> {
        self.d..self.d + MatrixCall::sum_registers(self.shape)
    }

    /// The registers that it reads, all lanes of them.
    pub fn reads(&self) -> impl Iterator<Item = u16> + use<> {
        let factor = MatrixCall::factor_registers(self.shape);
        let sum = MatrixCall::sum_registers(self.shape);
        let c = match self.c {
            Addend::Registers(c) => c..c + sum,
            Addend::Constant(_) => 0..0,
        };
        let (a, b) = (self.a..self.a + self.a_registers(), self.b..self.b + factor);
        let places = self.places.map_or(0..0, |places| places..places + 1);
        a.chain(b).chain(c).chain(places)
    }

    /// Do all tuples lie within the VGPRs or within the accumulation registers?
    pub fn is_valid(&self) -> bool {
        let factor = MatrixCall::factor_registers(self.shape);
        let sum = MatrixCall::sum_registers(self.shape);
        let fits = |first: u16, count: u16| {
            usize::from(first) < VECTOR_REGISTERS && first % FIRST_AGPR + count <= FIRST_AGPR
        };
        let addend = match self.c {
            Addend::Registers(c) => fits(c, sum),
            Addend::Constant(_) => true,
        };
        let in_place = self.c == Addend::Registers(self.d);
        let places = self.places.is_none_or(|places| fits(places, 1) && in_place);
        let staged =
            |first: u16, count: u16| first >= STAGED && first - STAGED + count <= MAX_STAGED;
        let factors = [(self.a, self.a_registers()), (self.b, factor)];
        let mut factors = factors.into_iter();
        let factors = factors.all(|(first, count)| fits(first, count) || staged(first, count));
        // Sums of f64 are not limited.
        let limits = !self.saturates || self.shape.factor != Factor::F64;
        addend && places && limits && factors && fits(self.d, sum)
    }

    /// Does it add to the sums of `previous`, whose products are of the same kind, so that both are one
    /// product of a longer K? Its factors are no results of the other.
    pub fn continues(&self, previous: &MatrixCall) -> bool {
        let sums = previous.writes();
        let factor = MatrixCall::factor_registers(self.shape);
        let apart = |n: u16| n + factor <= sums.start || sums.end <= n;
        self.places.is_none()
            && self.c == Addend::Registers(self.d)
            && apart(self.a)
            && apart(self.b)
            && MatrixCall {
                a: self.a,
                b: self.b,
                c: self.c,
                ..*previous
            } == *self
    }

    /// The call as words. `joined`: it [continues](MatrixCall::continues) the one before it.
    pub fn words(&self, joined: bool) -> [u64; 3] {
        let (c, constant) = match self.c {
            Addend::Registers(c) => (c, self.places.unwrap_or(0).into()),
            Addend::Constant(bits) => (CONSTANT, bits),
        };
        let registers = [self.d, self.a, self.b, c];
        let Matrix {
            size,
            k,
            blocks,
            factor,
            passes,
        } = self.shape;
        let fields = self.cbsz & 7 | (self.blgp & 7) << 3;
        let flags = self.abid & 15
            | (self.sums as u8) << 4
            | u8::from(self.flush) << 6
            | u8::from(self.quiet) << 7;
        let more = self.negate & 7
            | u8::from(self.saturates) << 3
            | u8::from(self.places.is_some()) << 4
            | u8::from(joined) << 6
            | u8::from(self.is_plain()) << 7;
        let shape = [size, k, blocks, number(factor), passes, fields, flags, more];
        [
            registers
                .into_iter()
                .rev()
                .fold(0, |word, n| word << 16 | u64::from(n)),
            u64::from_le_bytes(shape),
            constant,
        ]
    }

    /// First registers of A and of B of a call with this first word.
    #[inline]
    pub fn factors_of(registers: u64) -> [u16; 2] {
        [1, 2].map(|i: u32| (registers >> (16 * i)) as u16)
    }

    /// The shape, the first register of D, and whether a NaN result is the default one, if the words belong
    /// to a call of f32 of 16 or 32 columns without any field that adds its products to D; its factors are
    /// outside of D.
    #[inline]
    pub fn plain_of([registers, shape, _]: [u64; 3]) -> Option<(Matrix, u16, bool)> {
        if shape >> 63 == 0 {
            return None;
        }
        let [size, k, blocks, _, passes, _, flags, _] = shape.to_le_bytes();
        let shape = Matrix {
            size,
            k,
            blocks,
            factor: Factor::F32,
            passes,
        };
        Some((shape, registers as u16, flags >> 7 != 0))
    }

    /// See [`MatrixCall::plain_of`].
    fn is_plain(&self) -> bool {
        self.shape.factor == Factor::F32
            && self.shape.size >= 16
            && self.c == Addend::Registers(self.d)
            && !self.writes().contains(&self.a)
            && !self.writes().contains(&self.b)
            && [self.cbsz, self.abid, self.blgp, self.negate] == [0; 4]
            && self.places.is_none()
            && !(self.flush || self.saturates)
    }

    /// Do the words belong to a call that continues the one before it?
    #[inline]
    pub fn is_joined([_, shape, _]: [u64; 3]) -> bool {
        shape >> 62 & 1 != 0
    }

    /// The call that has these words, if there is one.
    #[inline]
    pub fn from_words([registers, shape, constant]: [u64; 3]) -> Option<MatrixCall> {
        let [size, k, blocks, factor, passes, fields, flags, more] = shape.to_le_bytes();
        let register = |i: u32| (registers >> (16 * i)) as u16;
        Some(MatrixCall {
            shape: Matrix {
                size,
                k,
                blocks,
                factor: *FACTORS.get(usize::from(factor))?,
                passes,
            },
            d: register(0),
            a: register(1),
            b: register(2),
            c: match register(3) {
                CONSTANT => Addend::Constant(constant),
                c => Addend::Registers(c),
            },
            cbsz: fields & 7,
            abid: flags & 15,
            blgp: fields >> 3 & 7,
            sums: *SUMS.get(usize::from(flags >> 4 & 3))?,
            flush: flags >> 6 & 1 != 0,
            quiet: flags >> 7 != 0,
            saturates: more >> 3 & 1 != 0,
            negate: more & 7,
            places: (more >> 4 & 1 != 0).then_some(constant as u16),
        })
    }
}

/// Ways to add by number.
const SUMS: [MatrixSums; 3] = [MatrixSums::Exact, MatrixSums::Pairs, MatrixSums::CutOff];

/// Types of factors by number.
const FACTORS: [Factor; 10] = [
    Factor::F32,
    Factor::F16,
    Factor::Bf16,
    Factor::I8,
    Factor::F64,
    Factor::Xf32,
    Factor::F8(F8::Fp8, F8::Fp8),
    Factor::F8(F8::Fp8, F8::Bf8),
    Factor::F8(F8::Bf8, F8::Fp8),
    Factor::F8(F8::Bf8, F8::Bf8),
];

/// The number of a type of factors.
const fn number(factor: Factor) -> u8 {
    match factor {
        Factor::F32 => 0,
        Factor::F16 => 1,
        Factor::Bf16 => 2,
        Factor::I8 => 3,
        Factor::F64 => 4,
        Factor::Xf32 => 5,
        Factor::F8(a, b) => 6 + 2 * a as u8 + b as u8,
    }
}

const _: () = {
    let mut i = 0;
    while i < FACTORS.len() {
        assert!(number(FACTORS[i]) as usize == i);
        i += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_everything() {
        let call = MatrixCall {
            shape: Matrix {
                size: 16,
                k: 4,
                blocks: 1,
                factor: Factor::F64,
                passes: 8,
            },
            d: 300,
            a: 7,
            b: 511,
            c: Addend::Constant(u64::MAX),
            cbsz: 3,
            abid: 15,
            blgp: 6,
            sums: MatrixSums::CutOff,
            flush: false,
            quiet: true,
            saturates: false,
            negate: 5,
            places: None,
        };
        assert_eq!(MatrixCall::from_words(call.words(false)), Some(call));
        let other = MatrixCall {
            c: Addend::Registers(256),
            sums: MatrixSums::Exact,
            flush: true,
            shape: Matrix {
                factor: Factor::F8(F8::Bf8, F8::Fp8),
                ..call.shape
            },
            saturates: true,
            places: Some(511),
            ..call
        };
        assert_eq!(MatrixCall::from_words(other.words(true)), Some(other));
        assert!(MatrixCall::is_joined(other.words(true)));
        assert!(!MatrixCall::is_joined(other.words(false)));
        assert!(!call.is_valid(), "b is a pair");
    }

    #[test]
    fn continued_sums() {
        let first = MatrixCall {
            shape: Matrix {
                size: 16,
                k: 16,
                blocks: 1,
                factor: Factor::F16,
                passes: 8,
            },
            d: 256,
            a: 8,
            b: 10,
            c: Addend::Constant(0),
            cbsz: 0,
            abid: 0,
            blgp: 0,
            sums: MatrixSums::Pairs,
            flush: false,
            quiet: false,
            saturates: false,
            negate: 0,
            places: None,
        };
        let next = MatrixCall {
            a: 2,
            b: STAGED,
            c: Addend::Registers(256),
            ..first
        };
        assert!(next.is_valid() && next.continues(&first) && next.continues(&next));
        assert!(!first.continues(&next), "it begins a new sum");
        for other in [
            MatrixCall { b: 259, ..next },
            MatrixCall { b: 255, ..next },
            MatrixCall { blgp: 1, ..next },
            MatrixCall { d: 260, ..next },
            MatrixCall {
                c: Addend::Registers(260),
                ..next
            },
        ] {
            assert!(!other.continues(&first), "{other:?}");
        }
        let sparse = MatrixCall {
            places: Some(0),
            ..next
        };
        assert!(!sparse.continues(&sparse), "its A is not so long");
        let last = STAGED + MAX_STAGED - 1;
        assert!(!MatrixCall { a: last, ..next }.is_valid());
    }
}
