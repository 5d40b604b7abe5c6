//! What the vector IR has beyond CLIF.

/// Namespace of functions that shuffle: the number is that of an immediate with 16 numbers of bytes of two
/// vectors, which holds in each half of 128 bits; numbers from 0x80 on make zeros.
pub const SHUFFLE: u32 = 1;

/// Namespace of [`Intrinsic`]s.
pub const INTRINSIC: u32 = 2;

/// What CLIF has no instruction for. 64-bit lanes come in two vectors: what unpacking dwords gives, lanes 0,
/// 1, 4, 5 and 2, 3, 6, 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// Unsigned products of the low words of quads.
    MulWideU,
    /// Signed ones.
    MulWideS,
    /// The even dwords of the first source, the odd ones of the second.
    OddDwords,
    /// f32 to f64, lanes 0, 1, 4, 5.
    PromoteLow,
    /// The others.
    PromoteHigh,
    /// i32 to f64, lanes 0, 1, 4, 5.
    FromIntLow,
    /// The others.
    FromIntHigh,
    /// Both vectors of f64 to f32.
    Demote,
    /// f32 to f64, the lanes of the low half in their order.
    PromoteLowHalf,
    /// The others.
    PromoteHighHalf,
    /// The reverse of both.
    DemoteHalves,
    /// Two vectors of four lanes as one of eight.
    Join,
    /// Lanes 0 to 3.
    LowHalf,
    /// Lanes 4 to 7.
    HighHalf,
    /// Lanes 0 to 3 of both vectors.
    LowHalves,
    /// Lanes 4 to 7 of both.
    HighHalves,
    /// Parts of 128 bits 0 and 2 of both vectors; for AVX-512 only.
    EvenParts,
    /// Parts 1 and 3 of both; for AVX-512 only.
    OddParts,
    /// Parts 0, 2, 1 and 3 of a vector; for AVX-512 only.
    MixParts,
    /// The low bytes of 16 dwords; for AVX-512 only.
    NarrowBytes,
    /// The low shorts of 16 dwords; for AVX-512 only.
    NarrowShorts,
    /// The low bytes, one for each dword of the result, with zeros above each.
    WidenBytesU,
    /// The same with signs.
    WidenBytesS,
    /// The low shorts, with zeros above each.
    WidenShortsU,
    /// The same with signs.
    WidenShortsS,
    /// Dwords shifted left by those of the second vector, which are at most 32.
    ShiftLeft,
    /// The same to the right, with zeros.
    ShiftRight,
    /// The same to the right, with signs.
    ShiftArithmetic,
    /// Quads shifted left by those of the second vector, which are at most 64.
    ShiftLeftQuads,
    /// The same to the right, with zeros.
    ShiftRightQuads,
    /// The same to the right, with signs; for AVX-512 only.
    ShiftArithmeticQuads,
    /// Bytes of the first vector, within each 128 bits, by the low four bits of those of the second; zero where the
    /// highest bit is set.
    PickBytes,
    /// Dwords of the first and the third vector, by their numbers in the second: from 16 on the third's. Of 512 bits, for
    /// AVX-512 only.
    PickDwords,
    /// Words whose halves are all ones or zeros, as the signs of those of the source.
    ShortSigns,
    /// The halves of dwords 0 to 3, f16 to f32.
    WidenLow,
    /// Those of dwords 4 to 7.
    WidenHigh,
    /// The reverse of both, to nearest even.
    Narrow,
    /// The low halves of all dwords, f16 to f32.
    FromHalf,
    /// f32 to f16 in the low halves of dwords, to nearest even; zeros above.
    ToHalf,
    /// The same toward zero.
    ToHalfTruncating,
    /// Truth values of lanes of the low bits of an integer; for AVX-512 only.
    MaskOfBits,
    /// Dwords rotated to the right by a constant; for AVX-512 only.
    Rotate,
    /// Sums of f32 rounded down; of 512 bits, for AVX-512 only.
    SumDown,
    /// Sums of f32 rounded up; of 512 bits, for AVX-512 only.
    SumUp,
    /// Products of the first two f32 plus the third, rounded up once; of 512 bits, for AVX-512 only.
    FusedUp,
    /// What was rounded to odd, of what was rounded down and up; for AVX-512 only.
    ToOdd,
    /// The lesser of two f32; the second where one is a NaN.
    Least,
    /// f32 times 2 to the power of the second, which is rounded down to an integer; for AVX-512 only.
    Scale,
    /// What f32 are above the integers nearest to them; 0 for infinities. For AVX-512 only.
    Rest,
    /// The mantissas of f32, from 1/2 to 1, with their signs; zeros, infinities and quiet NaNs are it themselves. For
    /// AVX-512 only.
    Mantissa,
    /// The exponents that go with them, as i32; 0 where there is none. For AVX-512 only.
    Exponent,
    /// The same mantissas, but 1 with their signs for zeros and infinities. For AVX-512 only.
    PlainMantissa,
    /// The exponents that go with them less 1, as f32: infinite for zeros and infinities, NaNs for NaNs. For AVX-512 only.
    PlainExponent,
    /// Reciprocals of roots of f32 or f64, off by less than 2^-14 of them; for AVX-512 only.
    RootEstimate,
    /// f32 of the first vector, in place of some of them other numbers, by the kinds of the f32 of the second: the
    /// third has the [`Fixes`] in each lane. For AVX-512 only.
    Fix,
    /// Which f32 are zeros, denormal numbers among them, or infinite. For AVX-512 only.
    ZeroOrInfinite,
    /// Zeros with their signs in place of denormal f32, as dwords; for AVX-512 only.
    Flush,
    /// Of lanes that are true in the second vector, the dwords at the address that is the third argument plus the
    /// signed distances in the fourth; of others the first vector's. For AVX-512 only, as the next.
    Gather,
    /// Stores the dwords of the first vector at such places, those of lower lanes first. It has no result.
    Scatter,
    /// Of lanes that are true in the second vector, the dwords or quads that follow one another from the address on that is
    /// the third argument; of others the first vector's, and nothing is read. For AVX-512 only, as the next.
    LoadSome,
    /// Stores the dwords or quads of the first vector there, of lanes that are true in the second. It has no result.
    StoreSome,
    /// Brings the line of an address into the cache, if it can be had. It has no result, nor any effect to be seen.
    Prefetch,
    /// The same into the second cache only.
    PrefetchSecond,
}

impl Intrinsic {
    /// All of them, in the order of their numbers.
    pub const ALL: [Intrinsic; 63] = [
        Intrinsic::MulWideU,
        Intrinsic::MulWideS,
        Intrinsic::OddDwords,
        Intrinsic::PromoteLow,
        Intrinsic::PromoteHigh,
        Intrinsic::FromIntLow,
        Intrinsic::FromIntHigh,
        Intrinsic::Demote,
        Intrinsic::PromoteLowHalf,
        Intrinsic::PromoteHighHalf,
        Intrinsic::DemoteHalves,
        Intrinsic::Join,
        Intrinsic::LowHalf,
        Intrinsic::HighHalf,
        Intrinsic::LowHalves,
        Intrinsic::HighHalves,
        Intrinsic::EvenParts,
        Intrinsic::OddParts,
        Intrinsic::MixParts,
        Intrinsic::NarrowBytes,
        Intrinsic::NarrowShorts,
        Intrinsic::WidenBytesU,
        Intrinsic::WidenBytesS,
        Intrinsic::WidenShortsU,
        Intrinsic::WidenShortsS,
        Intrinsic::ShiftLeft,
        Intrinsic::ShiftRight,
        Intrinsic::ShiftArithmetic,
        Intrinsic::ShiftLeftQuads,
        Intrinsic::ShiftRightQuads,
        Intrinsic::ShiftArithmeticQuads,
        Intrinsic::PickBytes,
        Intrinsic::PickDwords,
        Intrinsic::ShortSigns,
        Intrinsic::WidenLow,
        Intrinsic::WidenHigh,
        Intrinsic::Narrow,
        Intrinsic::FromHalf,
        Intrinsic::ToHalf,
        Intrinsic::ToHalfTruncating,
        Intrinsic::MaskOfBits,
        Intrinsic::Rotate,
        Intrinsic::SumDown,
        Intrinsic::SumUp,
        Intrinsic::FusedUp,
        Intrinsic::ToOdd,
        Intrinsic::Least,
        Intrinsic::Scale,
        Intrinsic::Rest,
        Intrinsic::Mantissa,
        Intrinsic::Exponent,
        Intrinsic::PlainMantissa,
        Intrinsic::PlainExponent,
        Intrinsic::RootEstimate,
        Intrinsic::Fix,
        Intrinsic::ZeroOrInfinite,
        Intrinsic::Flush,
        Intrinsic::Gather,
        Intrinsic::Scatter,
        Intrinsic::LoadSome,
        Intrinsic::StoreSome,
        Intrinsic::Prefetch,
        Intrinsic::PrefetchSecond,
    ];
}

/// What stands in place of f32 of special kinds.
#[derive(Clone, Copy, Debug)]
pub struct Fixes(u32);

/// What [`Fixes`] are made of, with the numbers that `vfixupimmps` knows them by.
#[allow(missing_docs, reason = "the names say it")]
pub mod fix {
    /// Kinds of f32; denormal ones are values. (One has a kind of its own.)
    #[derive(Clone, Copy)]
    pub enum Of {
        QuietNan = 0,
        SignallingNan = 1,
        Zero = 2,
        NegativeInfinity = 4,
        Infinity = 5,
        NegativeValue = 6,
        PositiveValue = 7,
    }

    /// What stands for them.
    #[derive(Clone, Copy)]
    pub enum By {
        Itself = 1,
        Quieted = 2,
        /// With its sign set.
        DefaultNan = 3,
        NegativeInfinity = 4,
        Infinity = 5,
        /// Infinity with the sign of what it stands for.
        SignedInfinity = 6,
        Zero = 8,
        MinusOne = 9,
        Greatest = 14,
        Least = 15,
    }
}

impl Fixes {
    /// No others.
    pub const NONE: Fixes = Fixes(0);

    /// These, and of one kind another number.
    pub const fn with(self, of: fix::Of, by: fix::By) -> Fixes {
        Fixes(self.0 | (by as u32) << (4 * of as u32))
    }

    /// In place of NaNs of both kinds.
    pub const fn with_nans(self, by: fix::By) -> Fixes {
        self.with(fix::Of::QuietNan, by)
            .with(fix::Of::SignallingNan, by)
    }

    /// As a dword.
    pub const fn bits(self) -> u32 {
        self.0
    }
}
