//! Operations of the vector IR.

/// Comparisons of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum IntCC {
    Equal,
    NotEqual,
    SignedLessThan,
    SignedGreaterThanOrEqual,
    SignedGreaterThan,
    SignedLessThanOrEqual,
    UnsignedLessThan,
    UnsignedGreaterThanOrEqual,
    UnsignedGreaterThan,
    UnsignedLessThanOrEqual,
}

impl IntCC {
    /// All comparisons, with their names in text.
    pub const ALL: [(IntCC, &'static str); 10] = [
        (IntCC::Equal, "eq"),
        (IntCC::NotEqual, "ne"),
        (IntCC::SignedLessThan, "slt"),
        (IntCC::SignedGreaterThanOrEqual, "sge"),
        (IntCC::SignedGreaterThan, "sgt"),
        (IntCC::SignedLessThanOrEqual, "sle"),
        (IntCC::UnsignedLessThan, "ult"),
        (IntCC::UnsignedGreaterThanOrEqual, "uge"),
        (IntCC::UnsignedGreaterThan, "ugt"),
        (IntCC::UnsignedLessThanOrEqual, "ule"),
    ];

    /// The negated comparison.
    pub fn complement(self) -> IntCC {
        match self {
            IntCC::Equal => IntCC::NotEqual,
            IntCC::NotEqual => IntCC::Equal,
            IntCC::SignedLessThan => IntCC::SignedGreaterThanOrEqual,
            IntCC::SignedGreaterThanOrEqual => IntCC::SignedLessThan,
            IntCC::SignedGreaterThan => IntCC::SignedLessThanOrEqual,
            IntCC::SignedLessThanOrEqual => IntCC::SignedGreaterThan,
            IntCC::UnsignedLessThan => IntCC::UnsignedGreaterThanOrEqual,
            IntCC::UnsignedGreaterThanOrEqual => IntCC::UnsignedLessThan,
            IntCC::UnsignedGreaterThan => IntCC::UnsignedLessThanOrEqual,
            IntCC::UnsignedLessThanOrEqual => IntCC::UnsignedGreaterThan,
        }
    }
}

/// Comparisons of floats. Those without "unordered" in their name are false if a source is a NaN,
/// except [`FloatCC::NotEqual`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum FloatCC {
    Ordered,
    Unordered,
    Equal,
    NotEqual,
    OrderedNotEqual,
    UnorderedOrEqual,
    LessThan,
    LessThanOrEqual,
    GreaterThan,
    GreaterThanOrEqual,
    UnorderedOrLessThan,
    UnorderedOrLessThanOrEqual,
    UnorderedOrGreaterThan,
    UnorderedOrGreaterThanOrEqual,
}

impl FloatCC {
    /// All comparisons, with their names in text.
    pub const ALL: [(FloatCC, &'static str); 14] = [
        (FloatCC::Ordered, "ord"),
        (FloatCC::Unordered, "uno"),
        (FloatCC::Equal, "eq"),
        (FloatCC::NotEqual, "ne"),
        (FloatCC::OrderedNotEqual, "one"),
        (FloatCC::UnorderedOrEqual, "ueq"),
        (FloatCC::LessThan, "lt"),
        (FloatCC::LessThanOrEqual, "le"),
        (FloatCC::GreaterThan, "gt"),
        (FloatCC::GreaterThanOrEqual, "ge"),
        (FloatCC::UnorderedOrLessThan, "ult"),
        (FloatCC::UnorderedOrLessThanOrEqual, "ule"),
        (FloatCC::UnorderedOrGreaterThan, "ugt"),
        (FloatCC::UnorderedOrGreaterThanOrEqual, "uge"),
    ];

    /// The equivalent comparison with exchanged sources.
    pub fn swap_args(self) -> FloatCC {
        match self {
            FloatCC::LessThan => FloatCC::GreaterThan,
            FloatCC::LessThanOrEqual => FloatCC::GreaterThanOrEqual,
            FloatCC::GreaterThan => FloatCC::LessThan,
            FloatCC::GreaterThanOrEqual => FloatCC::LessThanOrEqual,
            FloatCC::UnorderedOrLessThan => FloatCC::UnorderedOrGreaterThan,
            FloatCC::UnorderedOrLessThanOrEqual => FloatCC::UnorderedOrGreaterThanOrEqual,
            FloatCC::UnorderedOrGreaterThan => FloatCC::UnorderedOrLessThan,
            FloatCC::UnorderedOrGreaterThanOrEqual => FloatCC::UnorderedOrLessThanOrEqual,
            FloatCC::Ordered
            | FloatCC::Unordered
            | FloatCC::Equal
            | FloatCC::NotEqual
            | FloatCC::OrderedNotEqual
            | FloatCC::UnorderedOrEqual => self,
        }
    }
}

/// Bytes of a constant, by their number in the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constant(pub(crate) u32);

/// The function's own memory on the host's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackSlot(pub(crate) u32);

/// Base of an address that depends on the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// The base that the region was compiled for: the image of its code object.
    Guest,
    /// The region's sites.
    Sites,
}

/// Properties of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Guest memory after a range check; the alignment is unknown.
    Guest,
    /// A structure of the runtime, aligned.
    Trusted,
    /// A field of the context that is constant while the region runs, aligned: it may be reloaded
    /// at each use.
    Fixed,
}

/// The bytes that are loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of the value's type.
    Whole,
    /// One byte; loads zero-extend to an `i32`.
    Byte,
    /// The same with its sign.
    SignedByte,
    /// Two bytes; loads zero-extend to an `i32`.
    Short,
    /// Two bytes; loads sign-extend.
    SignedShort,
}

/// The runtime's functions that code calls, by signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A lane function: address of results, address of operands, mode; no result.
    Lanes,
    /// A function with effects: context, site, address of operands, address of results; returns a
    /// status (`i64`).
    Effect,
}

macro_rules! operations {
    ($($group:ident { $($(#[$doc:meta])* $name:ident = $text:literal;)* })*) => {
        /// Operations. Sources are [`Func::args`](super::Func::args). Unless stated otherwise, all
        /// sources and the result have one type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            // ---- constants and addresses
            /// An integer.
            Iconst(i64),
            /// An f32, by its bits.
            F32const(u32),
            /// An f64, by its bits.
            F64const(u64),
            /// A vector of these bytes.
            Vconst(Constant),
            /// An address (`i64`): a symbol plus an offset.
            SymbolValue(Symbol, i64),
            /// Address (`i64`) of a stack slot.
            StackAddr(StackSlot),
            // ---- memory
            /// The value at an address (`i64`) plus an offset.
            Load(Memory, Part, i32),
            /// Stores the first source at the second, an address, plus an offset. No result.
            Store(Memory, Part, i32),
            /// Calls the function whose address is the first source.
            Call(Callee),
            // ---- operations with a parameter
            /// Comparison of integers; gives [`Type::truth`](super::Type::truth).
            Icmp(IntCC),
            /// Comparison of floats; gives [`Type::truth`](super::Type::truth).
            Fcmp(FloatCC),
            /// The first source, a vector, with lane n replaced by the second source.
            Insertlane(u8),
            /// Lane n.
            Extractlane(u8),
            /// Bytes of two vectors by 16 indices, within each 128 bits; indices from 0x80 on give
            /// zeros. The types of sources and result may differ.
            Shuffle(Constant),
            // ---- control flow, at the end of a block
            /// Jumps along the function's edge n.
            Jump(u32),
            /// Takes edge n if the source, a truth value, is not 0, else edge n + 1.
            Brif(u32),
            /// Leaves with a value.
            Return,
            // ---- without parameters
            $($($(#[$doc])* $name,)*)*
        }

        impl Op {
            /// Operations without parameters, with their names in text.
            pub const PLAIN: &'static [(Op, &'static str)] = &[$($((Op::$name, $text),)*)*];

            /// The name in text, without parameters.
            pub fn name(self) -> &'static str {
                match self {
                    Op::Iconst(_) => "iconst",
                    Op::F32const(_) => "f32const",
                    Op::F64const(_) => "f64const",
                    Op::Vconst(_) => "vconst",
                    Op::SymbolValue(..) => "symbol_value",
                    Op::StackAddr(_) => "stack_addr",
                    Op::Load(..) => "load",
                    Op::Store(..) => "store",
                    Op::Call(_) => "call",
                    Op::Icmp(_) => "icmp",
                    Op::Fcmp(_) => "fcmp",
                    Op::Insertlane(_) => "insertlane",
                    Op::Extractlane(_) => "extractlane",
                    Op::Shuffle(_) => "shuffle",
                    Op::Jump(_) => "jump",
                    Op::Brif(_) => "brif",
                    Op::Return => "return",
                    $($(Op::$name => $text,)*)*
                }
            }
        }

        /// The pattern of one group of operations without parameters, for [`ops!`].
        macro_rules! ops_of {
            $(($group) => { $($crate::vir::Op::$name)|* };)*
        }
        pub(crate) use ops_of;
    };
}
/// The pattern of the named groups of operations without parameters, such as `ops!(masks | host_vectors)`.
macro_rules! ops {
    ($($group:ident)|+) => { $($crate::vir::op::ops_of!($group))|+ };
}
pub(crate) use ops;

operations! {
    // On scalars, and on vectors of any length.
    general {
    /// a + b.
    Iadd = "iadd";
    /// a - b.
    Isub = "isub";
    /// -a.
    Ineg = "ineg";
    /// Low bits of a * b.
    Imul = "imul";
    /// High bits of the unsigned product; scalars.
    Umulhi = "umulhi";
    /// High bits of the signed product; scalars.
    Smulhi = "smulhi";
    /// a & b.
    Band = "band";
    /// a | b.
    Bor = "bor";
    /// a ^ b.
    Bxor = "bxor";
    /// ~a.
    Bnot = "bnot";
    /// a << n; n is an integer, taken modulo the width of a lane.
    Ishl = "ishl";
    /// a >> n, logical; n as for [`Op::Ishl`].
    Ushr = "ushr";
    /// a >> n, arithmetic; n as for [`Op::Ishl`].
    Sshr = "sshr";
    /// Unsigned minimum.
    Umin = "umin";
    /// Unsigned maximum.
    Umax = "umax";
    /// Signed minimum.
    Smin = "smin";
    /// Signed maximum.
    Smax = "smax";
    /// a + b of unsigned lanes, at most all ones.
    UaddSat = "uadd_sat";
    /// a + b of signed lanes, saturating.
    SaddSat = "sadd_sat";
    /// a - b of unsigned lanes, at least 0.
    UsubSat = "usub_sat";
    /// a - b of signed lanes, saturating.
    SsubSat = "ssub_sat";
    /// Ones of each lane.
    Popcnt = "popcnt";
    /// Leading zeros of a scalar, its width for 0.
    Clz = "clz";
    /// Trailing zeros of a scalar, its width for 0.
    Ctz = "ctz";
    /// Bits of a scalar in reverse.
    Bitrev = "bitrev";
    /// The low bits of a scalar.
    Ireduce = "ireduce";
    /// A scalar with zeros above.
    Uextend = "uextend";
    /// A scalar with its sign above.
    Sextend = "sextend";
    /// b where the truth value a is not 0, else c; a is a scalar.
    Select = "select";
    /// Bits of b where those of a are ones, else of c; a may be a mask.
    Bitselect = "bitselect";
    /// Lanes of b where those of a, a mask or all ones or zeros, are true, else of c.
    Blendv = "blendv";
    /// The highest bits of lanes as the low bits of an `i32`.
    VhighBits = "vhigh_bits";
    /// A scalar in all lanes.
    Splat = "splat";
    /// A scalar in the lowest lane, zeros in the others.
    ScalarToVector = "scalar_to_vector";
    /// The lower half of the lanes, sign-extended to twice their size.
    SwidenLow = "swiden_low";
    /// The upper half.
    SwidenHigh = "swiden_high";
    /// The lower half of the lanes with zeros above.
    UwidenLow = "uwiden_low";
    /// The upper half.
    UwidenHigh = "uwiden_high";
    /// The same bits as another type.
    Bitcast = "bitcast";
    /// a + b.
    Fadd = "fadd";
    /// a - b.
    Fsub = "fsub";
    /// a * b.
    Fmul = "fmul";
    /// a / b.
    Fdiv = "fdiv";
    /// a * b + c with one rounding.
    Fma = "fma";
    /// Square root.
    Sqrt = "sqrt";
    /// Magnitude.
    Fabs = "fabs";
    /// Toward +inf.
    Ceil = "ceil";
    /// Toward -inf.
    Floor = "floor";
    /// Toward zero.
    Trunc = "trunc";
    /// To the nearest integer, even in the middle.
    Nearest = "nearest";
    /// A scalar f32 as an f64.
    Fpromote = "fpromote";
    /// A scalar f64 as an f32.
    Fdemote = "fdemote";
    /// The lower two f32 of four as f64.
    FvpromoteLow = "fvpromote_low";
    /// Two f64 as f32, zeros above.
    Fvdemote = "fvdemote";
    /// A signed integer as a float.
    FcvtFromSint = "fcvt_from_sint";
    /// An unsigned integer as a float.
    FcvtFromUint = "fcvt_from_uint";
    /// A float as the nearest signed integer toward zero, 0 for a NaN.
    FcvtToSintSat = "fcvt_to_sint_sat";
    /// The same, unsigned.
    FcvtToUintSat = "fcvt_to_uint_sat";
    }
    masks {
    /// A mask as a vector of lanes that are all ones or zeros.
    MaskToVector = "mask_to_vector";
    /// A vector with lanes of all ones or zeros as a mask.
    VectorToMask = "vector_to_mask";
    }
    // Operations of hosts with AVX2.
    host_vectors {
    // 64-bit lanes are in two vectors, as unpacking dwords gives them: lanes 0, 1, 4, 5 and 2, 3,
    // 6, 7.
    /// Unsigned products of the low words of quads.
    MulWideU = "mul_wide_u";
    /// As [`Op::MulWideU`], signed.
    MulWideS = "mul_wide_s";
    /// The even dwords of the first source, the odd ones of the second.
    OddDwords = "odd_dwords";
    /// f32 to f64, lanes 0, 1, 4, 5.
    PromoteLow = "promote_low";
    /// As [`Op::PromoteLow`], of the other lanes.
    PromoteHigh = "promote_high";
    /// i32 to f64, lanes 0, 1, 4, 5.
    FromIntLow = "from_int_low";
    /// As [`Op::FromIntLow`], of the other lanes.
    FromIntHigh = "from_int_high";
    /// Both vectors of f64 to f32.
    Demote = "demote";
    /// f32 to f64, the lanes of the low half in their order.
    PromoteLowHalf = "promote_low_half";
    /// As [`Op::PromoteLowHalf`], of the high half.
    PromoteHighHalf = "promote_high_half";
    /// The reverse of both.
    DemoteHalves = "demote_halves";
    /// Two vectors of four lanes as one of eight.
    Join = "join";
    /// Lanes 0 to 3.
    LowHalf = "low_half";
    /// Lanes 4 to 7.
    HighHalf = "high_half";
    /// Lanes 0 to 3 of both vectors.
    LowHalves = "low_halves";
    /// Lanes 4 to 7 of both.
    HighHalves = "high_halves";
    /// Parts of 128 bits 0 and 2 of both vectors; for AVX-512 only.
    EvenParts = "even_parts";
    /// Parts 1 and 3 of both; for AVX-512 only.
    OddParts = "odd_parts";
    /// Parts 0, 2, 1 and 3 of a vector; for AVX-512 only.
    MixParts = "mix_parts";
    /// The low bytes of 16 dwords; for AVX-512 only.
    NarrowBytes = "narrow_bytes";
    /// The low shorts of 16 dwords; for AVX-512 only.
    NarrowShorts = "narrow_shorts";
    /// The low bytes, zero-extended to dwords.
    WidenBytesU = "widen_bytes_u";
    /// The same with signs.
    WidenBytesS = "widen_bytes_s";
    /// The low shorts, zero-extended to dwords.
    WidenShortsU = "widen_shorts_u";
    /// The same with signs.
    WidenShortsS = "widen_shorts_s";
    /// Dwords shifted left by those of the second vector, which are at most 32.
    ShiftLeft = "shift_left";
    /// The same, logically to the right.
    ShiftRight = "shift_right";
    /// The same, arithmetically to the right.
    ShiftArithmetic = "shift_arithmetic";
    /// Quads shifted left by those of the second vector, which are at most 64.
    ShiftLeftQuads = "shift_left_quads";
    /// The same, logically to the right.
    ShiftRightQuads = "shift_right_quads";
    /// The same, arithmetically to the right; for AVX-512 only.
    ShiftArithmeticQuads = "shift_arithmetic_quads";
    /// Bytes of the first vector, within each 128 bits, by the low four bits of those of the second; zero where the
    /// highest bit is set.
    PickBytes = "pick_bytes";
    /// Dwords of the first and the third vector, by their indices in the second: from 16 on the
    /// third's. 512 bits, for AVX-512 only.
    PickDwords = "pick_dwords";
    /// Dwords with halves of all ones or zeros, by the signs of the source's halves.
    ShortSigns = "short_signs";
    /// The halves of dwords 0 to 3, f16 to f32.
    WidenLow = "widen_low";
    /// The halves of dwords 4 to 7, f16 to f32.
    WidenHigh = "widen_high";
    /// The inverse of both, to nearest even.
    Narrow = "narrow";
    /// The low halves of all dwords, f16 to f32.
    FromHalf = "from_half";
    /// f32 to f16 in the low halves of dwords, to nearest even; zeros above.
    ToHalf = "to_half";
    /// The same toward zero.
    ToHalfTruncating = "to_half_truncating";
    /// A mask of the low bits of an integer; for AVX-512 only.
    MaskOfBits = "mask_of_bits";
    /// Dwords rotated to the right by a constant; for AVX-512 only.
    Rotate = "rotate";
    /// Sums of f32 rounded down; of 512 bits, for AVX-512 only.
    SumDown = "sum_down";
    /// Sums of f32 rounded up; of 512 bits, for AVX-512 only.
    SumUp = "sum_up";
    /// Products of the first two f32 plus the third, rounded up once; of 512 bits, for AVX-512 only.
    FusedUp = "fused_up";
    /// Rounds to odd, from the results rounded down and up; for AVX-512 only.
    ToOdd = "to_odd";
    /// The minimum of two f32; the second if one is a NaN.
    Least = "least";
    /// f32 times 2 to the power of the second source, rounded down to an integer; for AVX-512 only.
    Scale = "scale";
    /// The difference of f32 and the nearest integers; 0 for infinities. For AVX-512 only.
    Rest = "rest";
    /// The mantissas of f32, from 1/2 to 1, with their signs; zeros and infinities unchanged, NaNs
    /// quieted. For AVX-512 only.
    Mantissa = "mantissa";
    /// The exponents that go with [`Op::Mantissa`], as i32; 0 for zeros, infinities and NaNs. For
    /// AVX-512 only.
    Exponent = "exponent";
    /// The same mantissas, but 1 with the source's sign for zeros and infinities. For AVX-512 only.
    PlainMantissa = "plain_mantissa";
    /// The exponents that go with [`Op::PlainMantissa`] less 1, as f32: infinite for zeros and
    /// infinities, NaN for NaNs. For AVX-512 only.
    PlainExponent = "plain_exponent";
    /// Reciprocal square roots of f32 or f64 with a relative error below 2^-14; for AVX-512 only.
    RootEstimate = "root_estimate";
    /// f32 of the first vector, replaced by the class of the f32 in the second: the third has the
    /// [`Fixes`](super::Fixes) in each lane. For AVX-512 only.
    Fix = "fix";
    /// A mask of the f32 that are zeros, denormals or infinities. For AVX-512 only.
    ZeroOrInfinite = "zero_or_infinite";
    /// Signed zeros in place of denormal f32, as dwords; for AVX-512 only.
    Flush = "flush";
    }
    // Memory operations of hosts with AVX-512 or AVX2, and prefetches.
    host_memory {
    /// Gather: where the second vector is true, the dwords at the third argument, an address, plus
    /// the signed offsets in the fourth; elsewhere the first vector. For AVX-512 and AVX2.
    Gather = "gather";
    /// Scatter: stores the dwords of the first vector at such addresses, lower lanes first. No
    /// result. For AVX-512 only.
    Scatter = "scatter";
    /// Masked load: where the second vector is true, the contiguous dwords or quads from the third
    /// argument, an address, on; elsewhere the first vector, and nothing is read. For AVX-512 only.
    LoadSome = "load_some";
    /// Masked store: stores the dwords or quads of the first vector there, where the second is
    /// true. No result. For AVX-512 only.
    StoreSome = "store_some";
    /// Prefetches the cache line of an address. No result and no observable effect.
    Prefetch = "prefetch";
    /// The same into the second-level cache only.
    PrefetchSecond = "prefetch_second";
    }
}

impl Op {
    /// Does it require AVX2?
    pub fn needs_avx2(self) -> bool {
        matches!(self, ops!(host_vectors | host_memory))
    }

    /// Is it a terminator?
    pub fn is_terminator(self) -> bool {
        matches!(self, Op::Jump(_) | Op::Brif(_) | Op::Return)
    }

    /// May source n be a mask?
    pub fn takes_mask(self, source: usize) -> bool {
        match self {
            Op::Band | Op::Bor | Op::Bxor | Op::Bnot | Op::VhighBits | Op::MaskToVector => true,
            Op::Icmp(cond) => matches!(cond, IntCC::Equal | IntCC::NotEqual),
            Op::Bitselect | Op::Blendv => true,
            Op::Gather | Op::Scatter | Op::LoadSome | Op::StoreSome => source == 1,
            _ => false,
        }
    }

    /// Is it kept without uses of its result?
    pub fn has_effect(self) -> bool {
        matches!(
            self,
            Op::Store(..)
                | Op::Call(_)
                | Op::Scatter
                | Op::StoreSome
                | Op::Prefetch
                | Op::PrefetchSecond
        ) || self.is_terminator()
    }
}
