//! The functions that generated code calls, as lists: pure functions of lanes and functions with
//! effects. `runtime::helpers` provides an address for each, by an exhaustive `match`.

use frontend::op::{Atomic, Data, ImageOp, Space};
use frontend::state::mode;

/// Lists the lane functions: name, numbers of argument and result words, and meaning.
macro_rules! lane_fns {
    ($($(#[$doc:meta])* $name:ident: $args:literal, $results:literal;)*) => {
        /// Pure functions of lanes. [`LaneFn::shape`] gives the numbers of 32-bit argument and
        /// result words of a lane; 64-bit values are (low, high) words, truth values are words 0 or
        /// 1, f16 values are low halves (the high half of an argument is ignored, that of a result
        /// is 0). All 64 lanes are computed. The `mode` argument is MODE's float bits, unless the
        /// function's own text names another immediate ("imm"). Functions that differ by target
        /// (minimum, maximum, median, sine, cosine) see bit 31 set on gfx9.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[repr(u16)]
        pub enum LaneFn {
            $($(#[$doc])* $name,)*
        }

        impl LaneFn {
            /// All of them, in the order of their numbers.
            pub const ALL: &[LaneFn] = &[$(LaneFn::$name,)*];

            /// Numbers of argument and result words.
            pub const fn shape(self) -> (usize, usize) {
                match self {
                    $(LaneFn::$name => ($args, $results),)*
                }
            }
        }
    };
}

lane_fns! {
    // ---- integer
    /// a << (b & 31), each lane its own amount
    ShlVar: 2, 1;
    /// Logical a >> (b & 31)
    LshrVar: 2, 1;
    /// Arithmetic a >> (b & 31)
    AshrVar: 2, 1;
    /// 64-bit (lo, hi) << (n & 63)
    Shl64Var: 3, 2;
    /// 64-bit logical right shift
    Lshr64Var: 3, 2;
    /// 64-bit arithmetic right shift
    Ashr64Var: 3, 2;
    /// {a, b} >> (c & 31), low word
    AlignBitVar: 3, 1;
    /// Bit field of a at b bits 4:0, c bits 4:0 bits wide, zero-extended
    BfeU: 3, 1;
    /// As [`LaneFn::BfeU`], sign-extended
    BfeI: 3, 1;
    /// Bytes of {a, b} by the selectors in c
    Perm: 3, 1;
    /// Rounding byte averages of a and b; bit 0 of each byte of c rounds up
    Lerp: 3, 1;
    /// Sum of the absolute differences of the bytes of a and b
    SadU8: 2, 1;
    /// As [`LaneFn::SadU8`] on 16-bit halves
    SadU16: 2, 1;
    /// As [`LaneFn::SadU8`] without the bytes where b's byte is 0
    MsadU8: 2, 1;
    /// Four sums of a 64-bit window (lo, hi) against b, added to four halves (lo, hi); imm 1: saturate
    QsadPk: 5, 2;
    /// As [`LaneFn::QsadPk`] with the rule of [`LaneFn::MsadU8`]
    MqsadPk: 5, 2;
    /// As [`LaneFn::MqsadPk`] with four dwords as accumulators; imm 1: saturate
    MqsadU32: 7, 4;
    /// The table of `v_screen_partition_4se_b32`
    ScreenPartition: 1, 1;
    /// Ones of a below the lane, lanes 0..32
    MbcntLo: 1, 1;
    /// Ones of a below the lane, lanes 32..64
    MbcntHi: 1, 1;
    /// Sum of the products of four signed bytes
    Dot4I: 2, 1;
    /// Sum of the products of four unsigned bytes
    Dot4U: 2, 1;
    /// Sum of the products of eight signed nibbles
    Dot8I: 2, 1;
    /// Sum of the products of eight unsigned nibbles
    Dot8U: 2, 1;
    // ---- f32 and f64 in MODE's rounding
    /// a + b
    AddF32: 2, 1;
    /// a - b
    SubF32: 2, 1;
    /// a * b
    MulF32: 2, 1;
    /// a * b + c, one rounding
    FmaF32: 3, 1;
    /// a + b
    AddF64: 4, 2;
    /// a - b
    SubF64: 4, 2;
    /// a * b
    MulF64: 4, 2;
    /// a * b + c, one rounding
    FmaF64: 6, 2;
    /// a * b, then + c, both rounded, denormals flushed throughout
    MadF32: 3, 1;
    /// Middle of three
    Med3F32: 3, 1;
    // ---- f32 and f64 functions
    /// 2^a
    ExpF32: 1, 1;
    /// log2(a)
    LogF32: 1, 1;
    /// sin(2 pi a)
    SinF32: 1, 1;
    /// cos(2 pi a)
    CosF32: 1, 1;
    /// 1 / sqrt(a)
    /// a * 2^b
    LdexpF32: 2, 1;
    /// (a, b) * 2^c
    LdexpF64: 3, 2;
    /// (S0, S1, S2, VCC bit)
    DivFmasF32: 4, 1;
    /// (S0, S1, S2, VCC bit)
    DivFmasF64: 7, 2;
    /// 2/pi words
    TrigPreop: 3, 2;
    /// (x, mask): is x in one of the classes?
    ClassF16: 2, 1;
    /// Cube map face of (x, y, z)
    CubeId: 3, 1;
    /// Cube map s
    CubeSc: 3, 1;
    /// Cube map t
    CubeTc: 3, 1;
    /// Cube map major axis, doubled
    CubeMa: 3, 1;
    /// `v_mullit_f32`
    MulLit: 3, 1;
    // ---- conversions in MODE's rounding
    /// i32 to f32
    CvtF32I32: 1, 1;
    /// u32 to f32
    CvtF32U32: 1, 1;
    /// f64 to f32
    CvtF32F64: 2, 1;
    /// f32 to f16
    CvtF16F32: 1, 1;
    /// f16 to f32, flushing as MODE says
    CvtF32F16: 1, 1;
    /// f16 to f32, never flushing
    WidenF16: 1, 1;
    /// f16 to f32, denormals to zero
    WidenF16Flush: 1, 1;
    /// f32 to f16 by MODE's f16 rounding, denormal results to zero
    NarrowF16Flush: 1, 1;
    /// u16 to f16
    CvtF16U16: 1, 1;
    /// i16 to f16
    CvtF16I16: 1, 1;
    /// f16 to u16
    CvtU16F16: 1, 1;
    /// f16 to i16, sign-extended in the word
    CvtI16F16: 1, 1;
    /// floor(a + 0.5) to i32
    CvtRpi: 1, 1;
    /// f32 to u8 in MODE's rounding, saturating
    CvtU8F32: 1, 1;
    /// f32 to i16 normalised
    NormI16F32: 1, 1;
    /// f32 to u16 normalised
    NormU16F32: 1, 1;
    /// f16 to i16 normalised
    NormI16F16: 1, 1;
    /// f16 to u16 normalised
    NormU16F16: 1, 1;
    /// Two f32 to two f16, toward zero
    PkRtzF16: 2, 1;
    /// A float of 8 bits to f32; imm bit 0: that with five bits of exponent
    WidenF8: 1, 1;
    /// f32 to a float of 8 bits, to nearest even; imm as for [`LaneFn::WidenF8`], bit 1: an overflow gives the largest
    /// number
    NarrowF8: 1, 1;
    /// As [`LaneFn::NarrowF8`] with the high bits of the second word added before the rest is cut off
    StochasticF8: 2, 1;
    // ---- f16
    /// a + b
    AddF16: 2, 1;
    /// a - b
    SubF16: 2, 1;
    /// a * b
    MulF16: 2, 1;
    /// a * b + c, one rounding
    FmaF16: 3, 1;
    /// a * b, then + c, both rounded, denormals flushed throughout
    MadF16: 3, 1;
    /// Smaller
    MinF16: 2, 1;
    /// Larger
    MaxF16: 2, 1;
    /// Middle of three
    Med3F16: 3, 1;
    /// 2^a
    ExpF16: 1, 1;
    /// log2(a)
    LogF16: 1, 1;
    /// 1 / a
    RcpF16: 1, 1;
    /// 1 / sqrt(a)
    RsqF16: 1, 1;
    /// sqrt(a)
    SqrtF16: 1, 1;
    /// sin(2 pi a)
    SinF16: 1, 1;
    /// cos(2 pi a)
    CosF16: 1, 1;
    /// a - floor(a)
    FractF16: 1, 1;
    /// Toward -inf
    FloorF16: 1, 1;
    /// Toward +inf
    CeilF16: 1, 1;
    /// Toward zero
    TruncF16: 1, 1;
    /// To nearest even
    RndneF16: 1, 1;
    /// a * 2^b (b an i16)
    LdexpF16: 2, 1;
    /// Exponent as i16
    FrexpExpF16: 1, 1;
    /// Mantissa
    FrexpMantF16: 1, 1;
    /// (S0, S1, S2)
    DivFixupF16: 3, 1;
    /// Output modifier, in imm bits 29:28 in addition to MODE's float bits
    OmodF16: 1, 1;
    /// Clamps to [0, 1]
    ClampF16: 1, 1;
    // ---- two f16 in a word
    /// a + b
    PkAddF16: 2, 1;
    /// a * b
    PkMulF16: 2, 1;
    /// a * b + c
    PkFmaF16: 3, 1;
    /// Smaller
    PkMinF16: 2, 1;
    /// Larger
    PkMaxF16: 2, 1;
    /// Clamps to [0, 1]
    PkClampF16: 1, 1;
    // ---- lanes
    /// DPP: (source, lane active) to (value or 0, does the source lane exist); imm is the control
    /// field
    Dpp: 2, 2;
    /// `ds_swizzle`: (source, lane active); imm is the offset, bit 31 set on gfx9
    Swizzle: 2, 1;
    /// `ds_permute`: (byte address, data, lane active)
    Permute: 3, 1;
    /// `ds_bpermute`: (byte address, data, lane active)
    Bpermute: 3, 1;
}

impl LaneFn {
    /// Is it computed inside segments, given this MODE, where the host has vectors of eight lanes
    /// or more? Otherwise it is a call for the whole wave. Functions of f16 are inline only with
    /// denormals kept, no clamp and rounding to nearest.
    pub fn is_inline(self, mode: u32) -> bool {
        let kept = mode & (mode::DENORM_F16_F64 | mode::FP16_OVFL) == mode::DENORM_F16_F64;
        let plain = kept && mode & mode::ROUND_F16_F64 == 0;
        matches!(
            self,
            LaneFn::ShlVar
                | LaneFn::LshrVar
                | LaneFn::AshrVar
                | LaneFn::Shl64Var
                | LaneFn::Lshr64Var
                | LaneFn::Ashr64Var
                | LaneFn::AlignBitVar
                | LaneFn::Perm
                | LaneFn::BfeU
                | LaneFn::BfeI
                | LaneFn::WidenF16
                | LaneFn::ExpF32
                | LaneFn::LogF32
        ) || kept && self == LaneFn::PkRtzF16
            || plain
                && matches!(
                    self,
                    LaneFn::CvtF16F32
                        | LaneFn::CvtF32F16
                        | LaneFn::AddF16
                        | LaneFn::SubF16
                        | LaneFn::MulF16
                        | LaneFn::FmaF16
                        | LaneFn::PkAddF16
                        | LaneFn::PkMulF16
                        | LaneFn::PkFmaF16
                        | LaneFn::ExpF16
                        | LaneFn::LogF16
                        | LaneFn::RsqF16
                )
    }
}

/// Kind of an operand of a function with effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// 32 bits that are the same for the whole wave.
    Wave32,
    /// 64 bits that are the same for the whole wave.
    Wave64,
    /// 32 bits, of the whole wave or of each lane.
    Either,
}

/// Operands and results of a function with effects that is called through `Op::Effect`.
///
/// Code passes one word for each operand, after one that describes the call ([`CallHeader`]): a
/// wave value zero-extended, a lane value as the address of its 64 words. The type at emission
/// decides which of both an operand is, since a pass may find a register to be uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    takes: &'static [Takes],
    /// Maximum number of trailing [`Takes::Either`] operands.
    more: u8,
    /// Maximum number of lane results.
    pub lanes: u8,
    /// Maximum number of 32-bit wave results; they are in `Context::ret`.
    pub words: u8,
}

impl Signature {
    const fn of(takes: &'static [Takes]) -> Signature {
        Signature {
            takes,
            more: 0,
            lanes: 0,
            words: 0,
        }
    }

    /// Adds optional trailing operands.
    const fn more(self, more: u8) -> Signature {
        Signature { more, ..self }
    }

    const fn lanes(self, lanes: u8) -> Signature {
        Signature { lanes, ..self }
    }

    const fn words(self, words: u8) -> Signature {
        Signature { words, ..self }
    }

    /// Kind of operand `i`, if the function can have one.
    pub fn takes(&self, i: usize) -> Option<Takes> {
        let more = i < self.takes.len() + usize::from(self.more);
        let other = more.then_some(Takes::Either);
        self.takes.get(i).copied().or(other)
    }

    /// Is this number of operands valid?
    pub fn accepts(&self, count: usize) -> bool {
        (self.takes.len()..=self.takes.len() + usize::from(self.more)).contains(&count)
    }
}

/// The first word of a call by [`Signature`]: which operands are addresses of lane values (bits
/// 31:0), number of operands (bits 39:32), number of lane results (bits 47:40).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallHeader(pub u64);

impl CallHeader {
    /// `slots` has bit i set when operand i is the address of a lane value.
    pub fn new(slots: u32, operands: usize, lanes: u8) -> CallHeader {
        CallHeader(u64::from(slots) | (operands as u64 & 0xff) << 32 | u64::from(lanes) << 40)
    }

    /// Is operand `i` the address of a lane value?
    pub fn is_slot(self, i: usize) -> bool {
        i < 32 && self.0 >> i & 1 != 0
    }

    /// Number of operands.
    pub fn operands(self) -> usize {
        (self.0 >> 32 & 0xff) as usize
    }

    /// Number of lane results.
    pub fn lanes(self) -> usize {
        (self.0 >> 40 & 0xff) as usize
    }
}

/// Lists the functions with effects: name, meaning, and signature; `None` for functions that only
/// legalization calls, whose text describes the call.
macro_rules! effect_fns {
    ($($(#[$doc:meta])* $name:ident: $signature:expr;)*) => {
        /// Functions with effects. Texts read `operands -> lane results; wave results`.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[repr(u16)]
        pub enum EffectFn {
            $($(#[$doc])* $name,)*
        }

        impl EffectFn {
            /// All of them, in the order of their numbers.
            pub const ALL: &[EffectFn] = &[$(EffectFn::$name,)*];

            /// Operands and results of a call through `Op::Effect`; `None` for a function that only
            /// legalization calls.
            pub const fn signature(self) -> Option<Signature> {
                use Takes::{Either, Wave32, Wave64};
                match self {
                    $(EffectFn::$name => $signature,)*
                }
            }
        }
    };
}

effect_fns! {
    // ---- called by legalization only
    /// Runs the site's instruction on the interpreter; all registers are in the wave.
    Interpret: None;
    /// (address, dwords) -> ; dwords in `ctx.ret`. The slow path of `Op::ScalarLoad`: the address is
    /// outside the arena.
    ScalarLoad: None;
    /// `Op::Load`: (address low slot, address high slot or 0, exec bits, space << 8 | element code;
    /// for FLAT: FLAT_SCRATCH and the LDS limit) -> one lane result per dword. `Space` and `Data`
    /// of the node are in the fourth argument, packed by [`mem_code`]. For scratch and buffers:
    /// (offset or its slot, 1 if it is the offset, exec bits, mem code, the node's trailing
    /// arguments)
    Load: None;
    /// `Op::Store`: (address low slot, address high slot or 0, exec bits, mem code, data slots…;
    /// for FLAT: FLAT_SCRATCH and the LDS limit) -> nothing. For scratch and buffers as for loads,
    /// data slots before the trailing arguments
    Store: None;
    /// `Op::Atomic`: (address low slot, address high slot or 0, exec bits, atomic code, data
    /// slots…; for FLAT: FLAT_SCRATCH and the LDS limit) -> old value by lane (one or two dwords)
    /// if used. Data: the operand; compare-and-swap: new value, then compare value; `Mskor` and
    /// `Wrap`: DATA0, then DATA1.
    Atomic: None;
    /// The site's `s_movrel`, all scalar registers being in the wave: (the value that `s_movreld`
    /// moves) -> nothing. A source beyond the wave's registers is s0, a destination is not written.
    ScalarRelative: None;
    /// `v_mfma`, all vector registers being in the wave: a number of instructions (8 bits), their
    /// [kinds](frontend::op::MatrixKinds) (24 bits) and the number of staging registers, which are in the
    /// frame; then the words of each [`MatrixCall`](crate::ir::MatrixCall) -> nothing
    Matrix: None;
    // ---- called by arms
    /// Float atomics that depend on MODE: address low, address high, EXEC, atomic code, MODE,
    /// FLAT_SCRATCH and the LDS limit (of FLAT, else 0), data… -> old value by lane (0, 1 or 2
    /// dwords)
    AtomicFloat: Some(
        Signature::of(&[Either, Either, Wave64, Wave32, Wave32, Wave64, Wave32]).more(2).lanes(2)
    );
    /// The site's MUBUF or MTBUF load, or load to LDS: descriptor words 1:0, words 3:2, SOFFSET, EXEC, index or 0,
    /// offset or 0, M0 -> VDATA registers by lane
    BufferLoad: Some(
        Signature::of(&[Wave64, Wave64, Wave32, Wave64, Either, Either, Wave32]).lanes(4)
    );
    /// The site's MUBUF or MTBUF store: descriptor, descriptor, SOFFSET, EXEC, index, offset, M0, up to four data
    /// words
    BufferStore: Some(
        Signature::of(&[Wave64, Wave64, Wave32, Wave64, Either, Either, Wave32]).more(4)
    );
    /// The site's MUBUF atomic: descriptor, descriptor, SOFFSET, EXEC, index, offset, MODE, up to four data words:
    /// operand; compare-and-swap: new, then compare -> old value (0, 1 or 2)
    BufferAtomic: Some(
        Signature::of(&[Wave64, Wave64, Wave32, Wave64, Either, Either, Wave32]).more(4).lanes(2)
    );
    /// The descriptors of the image instruction that follows, into `ctx.descriptors`: T# words 1:0, 3:2, 5:4, 7:6,
    /// S# words 1:0, 3:2
    ImageDescriptors: Some(Signature::of(&[Wave64, Wave64, Wave64, Wave64, Wave64, Wave64]));
    /// The site's image load, sample, gather or query: EXEC, addresses ([`image_addresses`])… -> VDATA registers by
    /// lane without the status
    ImageLoad: Some(Signature::of(&[Wave64]).more(9).lanes(4));
    /// The site's image store: EXEC, addresses…, data…
    ImageStore: Some(Signature::of(&[Wave64]).more(8));
    /// The site's image atomic: EXEC, addresses…, data…: operand; compare-and-swap: new, then compare -> old value (0,
    /// 1 or 2)
    ImageAtomic: Some(Signature::of(&[Wave64]).more(7).lanes(2));
    /// `s_buffer_load`: descriptor words 1:0, words 3:2, offset, dwords -> ; dwords
    ScalarBufferLoad: Some(Signature::of(&[Wave64, Wave64, Wave64, Wave32]).words(16));
    /// Scalar stores: address, dwords, data words 1:0, 3:2
    ScalarStore: Some(Signature::of(&[Wave64, Wave32, Wave64, Wave64]));
    /// `s_buffer_store`: descriptor words 1:0, words 3:2, offset, dwords, data words 1:0, 3:2
    ScalarBufferStore: Some(Signature::of(&[Wave64, Wave64, Wave64, Wave32, Wave64, Wave64]));
    /// Scalar atomics: address, atomic code, operand, compare value -> ; old value, 2 dwords
    ScalarAtomic: Some(Signature::of(&[Wave64, Wave32, Wave64, Wave64]).words(2));
    /// `s_buffer_atomic`: descriptor words 1:0, words 3:2, offset, atomic code, operand, compare value -> ; old value,
    /// 2 dwords
    ScalarBufferAtomic: Some(
        Signature::of(&[Wave64, Wave64, Wave64, Wave32, Wave64, Wave64]).words(2)
    );
    /// `s_memtime`, `s_memrealtime`: nothing -> ; 2 dwords
    Time: Some(Signature::of(&[]).words(2));
    /// `s_getreg` of a register other than MODE: SCC, EXEC, VCC, MODE -> ; the field
    GetReg: Some(Signature::of(&[Wave32, Wave64, Wave64, Wave32]).words(1));
    /// `s_setreg` of a register other than MODE: value
    SetReg: Some(Signature::of(&[Wave32]));
    /// `ds_append`, `ds_consume`: byte address, EXEC -> ; the old value
    AppendConsume: Some(Signature::of(&[Wave32, Wave64]).words(1));
    /// `ds_*_src2`: address, EXEC, LDS limit, MODE
    LdsSrc2: Some(Signature::of(&[Either, Wave64, Wave32, Wave32]));
    /// `ds_wrxchg2`, `ds_condxchg32`: address 0, address 1, EXEC, data… -> old values by lane
    LdsExchange: Some(Signature::of(&[Either, Either, Wave64]).more(4).lanes(4));
    /// All lanes of a VGPR of an operand with several: operand, index, VGPRs of the operand, number
    /// within it -> its value. An index beyond the wave's registers reads v0. All registers are in
    /// the wave.
    ReadRelative: Some(Signature::of(&[Wave32, Wave32, Wave32, Wave32]).lanes(1));
    /// operand, index, VGPRs of the operand, number within it, EXEC, value -> ; is the register one
    /// of the wave's? If not, nothing is written.
    WriteRelative: Some(
        Signature::of(&[Wave32, Wave32, Wave32, Wave32, Wave64, Either]).words(1)
    );
    /// The site's `exp`: EXEC, four components -> nothing; a disabled component is 0
    Export: Some(Signature::of(&[Wave64, Either, Either, Either, Either]));
    /// The site's fork or join: error of the fork stack (0 none, 1 empty, 2 full) -> nothing
    ForkStack: Some(Signature::of(&[Wave32]));
    /// Checked mode before gfx9: EXEC, base, offset, bytes, LDS limit of M0 -> nothing. Faults if
    /// the site's DS instruction is out of range.
    CheckLds: Some(Signature::of(&[Wave64, Either, Wave32, Wave32, Wave32]));
    /// The site invalidates or writes back caches: earlier stores are seen before later loads are
    /// made.
    Fence: Some(Signature::of(&[]));
    /// For a sanitizer, before the site's access: its code ([`Observed::code`]), the lanes to announce, address low, address
    /// high, or in LDS two words whose sum is the offset; for stores the data. Called if there is such a lane.
    Observe: Some(Signature::of(&[Wave32, Wave64, Either, Either]).more(4));
    /// For a sanitizer, on arrival at a barrier: EXEC
    ObserveBarrier: Some(Signature::of(&[Wave64]));
    /// For a sanitizer, at a wait for all accesses to vector memory: 0 if there are no stores to wait for. Called unless it
    /// is 0.
    ObserveWait: Some(Signature::of(&[Wave64]));
    /// For a sanitizer, before an access that is one to scratch if the descriptor matches: event, EXEC, descriptor words
    /// 1:0, words 3:2, SOFFSET, offset (with the instruction's)
    ObserveBuffer: Some(Signature::of(&[Wave32, Wave64, Wave64, Wave64, Wave32, Either]));
}

/// What an access that a sanitizer observes does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Observed {
    /// A load of lanes.
    Load,
    /// A store of lanes.
    Store,
    /// An atomic of lanes.
    Atomic,
    /// A load of the scalar unit.
    ScalarLoad,
}

impl Observed {
    /// All of them, in the order of their numbers.
    pub const ALL: [Observed; 4] = [
        Observed::Load,
        Observed::Store,
        Observed::Atomic,
        Observed::ScalarLoad,
    ];

    /// This as an operand, with the space, the bytes that a lane, or the wave, accesses, and of a load the number of the range
    /// from which it need not be announced ([`Context::settled`](crate::abi::Context::settled)).
    pub const fn code(self, space: Space, bytes: u32, settled: u8) -> u32 {
        self as u32 | (space as u32) << 8 | bytes << 16 | (settled as u32) << 24
    }

    /// The parts of such an operand: this, the number of the space, bytes, the range.
    pub const fn parts(code: u32) -> (Observed, u32, u32, u8) {
        let event = Observed::ALL[(code & 0xff) as usize % Observed::ALL.len()];
        (
            event,
            code >> 8 & 0xff,
            code >> 16 & 0xff,
            (code >> 24) as u8,
        )
    }
}

/// The number of address registers of an image instruction that are passed: the most that any image
/// needs, since only the descriptor has the dimensions.
pub const fn image_addresses(op: ImageOp) -> u8 {
    match op {
        ImageOp::Load { mip, .. } | ImageOp::Store { mip, .. } => 3 + mip as u8,
        ImageOp::Atomic(_) => 3,
        ImageOp::GetResinfo => 1,
        // These are refused.
        ImageOp::GetLod | ImageOp::Gather4h(_) => 0,
        ImageOp::Sample(mods) | ImageOp::Gather4(mods) if mods.compare => 0,
        ImageOp::Sample(mods) | ImageOp::Gather4(mods) => {
            // Two of the six slopes are not passed.
            let slopes = if mods.deriv || mods.coarse { 4 } else { 0 };
            let before = mods.offset as u8 + mods.bias as u8;
            let behind = (mods.lod || mods.clamp) as u8;
            before + slopes + 3 + behind
        }
    }
}

/// The address registers of an image instruction that are not passed, since they do not affect the
/// result: the first two slopes, counted from VADDR.
pub const fn image_slopes(op: ImageOp) -> Option<u8> {
    match op {
        // These are refused.
        ImageOp::Sample(mods) | ImageOp::Gather4(mods) if mods.compare => None,
        ImageOp::Sample(mods) | ImageOp::Gather4(mods) if mods.deriv || mods.coarse => {
            Some(mods.offset as u8 + mods.bias as u8 + mods.compare as u8)
        }
        ImageOp::Sample(_) | ImageOp::Gather4(_) | ImageOp::Gather4h(_) | ImageOp::GetLod => None,
        ImageOp::Load { .. } | ImageOp::Store { .. } => None,
        ImageOp::GetResinfo | ImageOp::Atomic(_) => None,
    }
}

/// Space and data of a memory node as one word for the helper: space in bits 15:8, data kind in
/// bits 7:0 (dword counts 1..=16 unchanged, sub-dword kinds from 32 on). See [`mem_code_more`] for
/// bits 63:32.
pub const fn mem_code(space: Space, data: Data) -> u64 {
    let kind = match data {
        Data::Dwords(n) => n as u64,
        Data::U8 => 32,
        Data::I8 => 33,
        Data::U16 => 34,
        Data::I16 => 35,
        Data::D16U8 => 36,
        Data::D16I8 => 37,
        Data::D16 => 38,
        Data::D16HiU8 => 39,
        Data::D16HiI8 => 40,
        Data::D16Hi => 41,
        Data::D16HiB8 => 42,
        Data::Format(n) => 48 + n as u64,
        Data::FormatD16(n) => 56 + n as u64,
        Data::FormatD16Hi => 63,
    };
    (space as u64) << 8 | kind
}

/// Bits 63:32 of that word for loads and stores of LDS or global memory: an offset added to each
/// lane's address; sign-extended for 64-bit addresses.
pub const fn mem_code_more(more: u32) -> u64 {
    (more as u64) << 32
}

/// The offset of [`mem_code_more`].
pub const fn more_of(mem_code: u64) -> u32 {
    (mem_code >> 32) as u32
}

/// Space, operation and width of an atomic node as one word for the helper: space in bits 15:8, the
/// operation in bits 7:0, dwords of the memory word in bits 23:16.
pub const fn atomic_code(space: Space, op: Atomic, dwords: u8) -> u64 {
    (dwords as u64) << 16 | (space as u64) << 8 | op as u64
}
