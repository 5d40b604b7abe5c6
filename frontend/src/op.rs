//! The semantics of instructions. One variant is one operation of the manual, shared by the scalar
//! and the vector unit and by all widths: the operand types of the row distinguish them. The
//! formula at the variant is the specification in short; `S0 S1 S2` are the sources after modifiers
//! (and after exchange for rows marked `rev`), `D` the destination.
//!
//! The variants of [`Op`] are declared in groups, the groups in units. A `match` on an `Op` in an
//! engine names the operations that it implements one by one and the others by group or unit, as in
//! `ops!(salu | mem) => return None`. It has no `_` arm. So a new variant does not compile until
//! each `match` over its group handles it.

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "formulas have bit ranges in brackets"
)]

pub(crate) mod matrix;
mod memory;

pub use matrix::{F8, Factor, Matrix, MatrixKind, MatrixKinds, MatrixSums};
pub use memory::{Atomic, Data, DsOp, ImageOp, SampleMods, Space};

/// Comparison of S0 with S1. For floats the `N*` forms are true when a source is a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Cmp {
    F,
    Lt,
    Eq,
    Le,
    Gt,
    /// Integer not-equal, float less-or-greater (false for NaN).
    Lg,
    Ge,
    /// Ordered: neither source is a NaN.
    O,
    /// Unordered.
    U,
    Nge,
    Nlg,
    Ngt,
    Nle,
    /// Not equal, true for NaN.
    Neq,
    Nlt,
    T,
}

/// Declares [`Op`] and the patterns of [`ops!`](crate::ops). The syntax does not allow a variant
/// outside of a group.
macro_rules! operations {
    ($($unit:ident { $($group:ident {
        $($(#[$doc:meta])* $variant:ident $(($($of:ty),+))? $({ $($field:tt)+ })?,)+
    })+ })+) => {
        /// Operations. See the module's head.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            $($($($(#[$doc])* $variant $(($($of),+))? $({ $($field)+ })?,)+)+)+
        }

        /// The pattern of one unit or group, for [`ops!`].
        #[doc(hidden)]
        #[macro_export]
        macro_rules! ops_of {
            $(
                ($unit) => { $($($crate::Op::$variant { .. })|+)|+ };
                $(($group) => { $($crate::Op::$variant { .. })|+ };)+
            )+
        }
    };
}

/// The pattern of all operations of the named units and groups, such as `ops!(mem | shifts)`. Their declaration is in
/// `frontend/src/op.rs`.
#[macro_export]
macro_rules! ops {
    ($($name:ident)|+) => { $($crate::ops_of!($name))|+ };
}

operations! {
    // Operations of both the scalar and the vector unit.
    alu {
        // Moves and selection.
        moves {
            /// No effect.
            Nop,
            /// D = S0
            Mov,
            /// Scalar: D = SCC ? S0 : S1. Vector (`v_cndmask`): D = S2[lane] ? S1 : S0
            Select,
            /// D = SGPR/VGPR[S0 + M0] (`s_movrels`, `v_movrels`)
            MovRelS,
            /// SGPR/VGPR[D + M0] = S0
            MovRelD,
            /// VGPR[D + M0] = VGPR[S0 + M0]
            MovRelSD,
            /// VGPR[D + M0[15:8]] = VGPR[S0 + M0[7:0]] (never on these targets with the two-index form; kept for the row)
            MovRelSD2,
        }
        // Arithmetic on integers and floats; the type decides.
        arithmetic {
            /// D = S0 + S1
            Add,
            /// D = S0 - S1
            Sub,
            /// D = low bits of S0 * S1; floats: product
            Mul,
            /// D = S0 * S1 + S2, not fused for floats (`v_mad_*`, `v_madmk`, `v_madak`; integers too)
            Mad,
            /// D = S0 * S1 + D, not fused (`v_mac_*`)
            Mac,
            /// D = fma(S0, S1, S2)
            Fma,
            /// D = fma(S0, S1, D) (`v_fmac_*`)
            Fmac,
            /// D = min(S0, S1) by the type
            Min,
            /// D = max(S0, S1) by the type
            Max,
            /// min(min(S0, S1), S2)
            Min3,
            /// max(max(S0, S1), S2)
            Max3,
            /// The middle one of three
            Med3,
        }
        // Integer operations of two sources.
        integer {
            /// D = S0 + S1 + carry. Scalar: carry is SCC. Vector: carry is S2's bit, D1 the carry out
            AddCarry,
            /// D = S0 - S1 - borrow; as [`Op::AddCarry`]
            SubBorrow,
            /// D = high 32 bits of the 64-bit product
            MulHi,
            /// ((1 << S0) - 1) << S1
            Bfm,
        }
        // Logic.
        logic {
            /// D = S0 & S1
            And,
            /// D = S0 | S1
            Or,
            /// D = S0 ^ S1
            Xor,
            /// D = S0 & ~S1
            AndN2,
            /// D = S0 | ~S1
            OrN2,
            /// D = ~(S0 & S1)
            Nand,
            /// D = ~(S0 | S1)
            Nor,
            /// D = ~(S0 ^ S1)
            Xnor,
            /// D = ~S0
            Not,
        }
        // Shifts.
        shifts {
            /// D = S0 << S1 (amount masked to the type's width); `lshlrev` rows are `rev`
            Shl,
            /// Logical right shift
            Lshr,
            /// Arithmetic right shift
            Ashr,
        }
        // Integer operations of one source.
        bits {
            /// Reverse the bits
            Brev,
            /// Position of the first one from the LSB, -1 if none (`s_ff1`, `v_ffbl`)
            Ff1,
            /// Position of the first one from the MSB, -1 if none (`s_flbit_i32_b32`, `v_ffbh_u32`)
            Flbit,
            /// Position of the first bit from the MSB that differs from the sign, -1 if none
            FlbitI,
        }
        // Comparison.
        compare {
            /// Scalar: SCC = cmp. Vector: D.mask[lane] = cmp
            Cmp(Cmp),
            /// As [`Op::Cmp`] and EXEC = the mask
            Cmpx(Cmp),
            /// gfx6/7 signalling forms, same result as [`Op::Cmp`]
            Cmps(Cmp),
            /// gfx6/7 signalling forms of [`Op::Cmpx`]
            Cmpsx(Cmp),
            /// Float class test of S0 by the mask S1
            CmpClass,
            /// As [`Op::CmpClass`] and EXEC = the mask
            CmpxClass,
        }
    }
    // Operations of the scalar unit only.
    salu {
        // Integer operations of two sources.
        scalar {
            /// D = {S1.lo16, S0.lo16} (s_pack_ll)
            PackLL,
            /// D = {S1.hi16, S0.lo16}
            PackLH,
            /// D = {S1.hi16, S0.hi16}
            PackHH,
            /// D = |S0 - S1| wrapping (`s_absdiff_i32`)
            AbsDiff,
            /// D = (S0 << n) + S1, SCC the carry of the 33+ bit sum (`s_lshl<n>_add_u32`)
            ShlNAdd(u8),
            /// Scalar bit-field extract: offset S1[4:0] (64-bit: [5:0]), width S1[22:16]
            SBfe,
        }
        // Operations of one source.
        scalar_bits {
            /// Scalar: D = SCC ? S0 : D (no write when SCC is 0)
            CMov,
            /// D = |S0| wrapping (`s_abs_i32`)
            Abs,
            /// Count zero bits
            Bcnt0,
            /// Count one bits (scalar)
            Bcnt1,
            /// Position of the first zero from the LSB, -1 if none
            Ff0,
            /// Sign-extend the low byte
            SextI8,
            /// Sign-extend the low half
            SextI16,
            /// D[S0] = 0
            Bitset0,
            /// D[S0] = 1
            Bitset1,
            /// Whole quad mode: every quad with a set bit becomes all ones
            Wqm,
            /// One bit a quad
            QuadMask,
        }
        // Operations whose result and source have different widths.
        scalar_other {
            /// SCC = S0[S1] == 0
            Bitcmp0,
            /// SCC = S0[S1] == 1
            Bitcmp1,
            /// Each bit doubled
            BitReplicate,
        }
        // Flow of control and the state of the wave.
        control {
            /// D = EXEC; EXEC = S0 op EXEC; SCC = EXEC != 0
            SaveExec(Logic),
            /// EXEC = S0 op EXEC; D = the result; SCC = EXEC != 0
            WrExec(Logic),
            /// D = address of the next instruction
            GetPc,
            /// PC = S0
            SetPc,
            /// D = next PC; PC = S0
            SwapPc,
            /// D = next PC; PC += 4 + simm16 * 4
            Call,
            /// Return from exception: an error for a user's kernel
            Rfe,
            /// See [`Op::Rfe`]
            RfeRestore,
            /// Fork on mask S0 to address S1
            CbranchGFork,
            /// Fork on mask S0 to PC + simm16
            CbranchIFork,
            /// Join at stack depth S0
            CbranchJoin,
            /// D = GPR index setup
            SetGprIdxOn,
            /// M0[7:0] = S0[7:0]
            SetGprIdxIdx,
            /// MODE.gpr_idx_en = 0
            SetGprIdxOff,
            /// M0[15:12] = simm16
            SetGprIdxMode,
            /// VSKIP = S0[S1]
            SetVskip,
            /// D = hardware register field
            GetReg,
            /// Hardware register field = S0
            SetReg,
            /// PC += 4 + simm16 * 4 under the condition
            Branch(BranchIf),
            /// End of the wave
            Endpgm,
            /// Wait for the waves of the group
            Barrier,
            /// Wait for counters: no effect here
            Waitcnt,
            /// Sleep, priority, performance level, caches, halting hints: no architectural effect
            Hint(Hint),
            /// Send a message
            Sendmsg,
            /// Enter the trap handler
            Trap,
        }
    }
    // Operations of the vector unit only.
    valu {
        // Operations other than one result per lane.
        special {
            /// Exchange D and S0 (`v_swap_b32`).
            Swap,
            /// D = SGPR of lane S1 of VGPR S0 (`v_readlane`)
            ReadLane,
            /// Lane S1 of VGPR D = S0 (`v_writelane`)
            WriteLane,
            /// D = S0 of the first active lane (lane 0 when EXEC is 0)
            ReadFirstLane,
            /// Clear exception state
            ClrExcp,
        }
        // Integer operations with results of up to 32 bits.
        vector {
            /// D = S0 + S1, D1 = carry out a lane (`v_add_co_u32`)
            AddCo,
            /// D = S0 - S1, D1 = borrow out a lane
            SubCo,
            /// `v_mul_{i32_i24,u32_u24}`: low 32 bits of the product of 24-bit sources, signed by the type
            Mul24,
            /// `v_mul_hi_*24`: bits 47:32 of the 48-bit product, extended by the type
            MulHi24,
            /// D = S0 * S1 + S2 on 24-bit factors
            Mad24,
            /// D.u32 = S0.u16 * S1.u16 + S2.u32 (signed by the type; `v_mad_u32_u16`, `v_mad_i32_i16`)
            Mad32x16,
            /// D = S0 + S1 + S2 (`v_add3_u32`)
            Add3,
            /// D = (S0 << S1) + S2 (`v_lshl_add_u32`)
            ShlAdd,
            /// D = (S0 + S1) << S2 (`v_add_lshl_u32`)
            AddShl,
            /// D = (S0 << S1) | S2
            ShlOr,
            /// D = (S0 & S1) | S2
            AndOr,
            /// D = S0 | S1 | S2
            Or3,
            /// D = (S0 ^ S1) + S2 (`v_xad_u32`)
            XorAdd,
            /// Vector bit-field extract: offset S1[4:0], width S2[4:0]
            Bfe,
            /// (S0 & S1) | (~S0 & S2)
            Bfi,
            /// D = popcount(S0) + S1 (`v_bcnt_u32_b32`)
            BcntAdd,
            /// ({S0,S1} >> S2[4:0])[31:0]
            AlignBit,
            /// ({S0,S1} >> 8*S2[1:0])[31:0]
            AlignByte,
            /// Byte permute of {S0,S1} by S2
            Perm,
            /// Unsigned byte average with the rounding bit from S2
            Lerp,
            /// Sum of absolute differences of four bytes + S2
            SadU8,
            /// (sad_u8 << 16) + S2
            SadHiU8,
            /// Two halves
            SadU16,
            /// |S0 - S1| + S2 unsigned
            SadU32,
            /// As [`Op::SadU8`] where S1's byte is not 0
            MsadU8,
            /// Lane position mask count, low 32 lanes
            MbcntLo,
            /// Lane position mask count, high 32 lanes
            MbcntHi,
            /// Saturate two i16 to u8 and pack (`v_sat_pk_u8_i16`)
            SatPkU8I16,
            /// `v_screen_partition_4se_b32`
            ScreenPartition4se,
        }
        // Integer operations with results of 64 bits or more.
        vector_wide {
            /// {D1, D} = S0 * S1 + S2 in 64 bits (`v_mad_u64_u32`, `v_mad_i64_i32`), D1 the carry mask
            Mad64,
            /// D = (S0 << S1[2:0]) + S2 in 64 bits, where shifts of more than 4 are none (`v_lshl_add_u64`)
            ShlAdd64,
            /// `v_qsad_pk_u16_u8`
            QsadPkU16U8,
            /// `v_mqsad_pk_u16_u8`
            MqsadPkU16U8,
            /// `v_mqsad_u32_u8`
            MqsadU32U8,
        }
        // Conversion; source and destination types of the row decide.
        convert {
            /// Number conversion by the types: int to float by MODE rounding, float to int truncating and saturating
            Cvt,
            /// floor(S0 + 0.5) to i32
            CvtRpi,
            /// floor(S0) to i32
            CvtFlr,
            /// Signed nibble / 16
            CvtOffI4,
            /// f32 of byte n
            CvtUbyte(u8),
            /// Byte S1[1:0] of D := sat_u8(S0), other bytes from S2
            CvtPkU8,
            /// `v_cvt_pkaccum_u8_f32`: as [`Op::CvtPkU8`] with the other bytes from D
            CvtPkAccumU8,
            /// Two floats to signed or unsigned normalised 16 bits (destination type decides)
            CvtPkNorm,
            /// Two f32 to f16 toward zero
            CvtPkRtz,
            /// Two 32-bit integers to 16 bits, saturating (signed by the type)
            CvtPkInt,
            /// One f16 to normalised 16 bits (destination type decides)
            CvtNorm,
            /// D = {f16 S1, f16 S0} (`v_pack_b32_f16`)
            PackF16,
            /// Exponent as integer
            FrexpExp,
        }
        // Conversion of floats of 8 bits (gfx942).
        eight_bits {
            /// f32 of the byte of S0 that SDWA selects, else of the lowest
            CvtFromF8(F8),
            /// Two f32 of the two bytes of S0's word that SDWA selects, else of the low one
            CvtPkFromF8(F8),
            /// Word `op_sel[3]` of D = S0 and S1 as bytes, rounded to nearest even; the other word is kept
            CvtPkToF8(F8),
            /// Byte `op_sel[3:2]` of D = S0 as a byte, with the high bits of S1 added to its mantissa before
            /// the rest is cut off; the other bytes are kept
            CvtSrToF8(F8),
        }
        // Floats to integral floats.
        rounding {
            /// x - floor(x), below 1
            Fract,
            /// Toward zero
            Trunc,
            /// Toward +inf
            Ceil,
            /// To nearest even
            Rndne,
            /// Toward -inf
            Floor,
        }
        // Float functions of all widths.
        float {
            /// 2^S0
            Exp,
            /// log2(S0)
            Log,
            /// 1 / S0
            Rcp,
            /// 1 / sqrt(S0)
            Rsq,
            /// sqrt(S0)
            Sqrt,
            /// sin(2 pi S0)
            Sin,
            /// cos(2 pi S0)
            Cos,
            /// Mantissa in [0.5, 1)
            FrexpMant,
            /// S0 * 2^S1
            Ldexp,
            /// S0 is the quotient S2 / S1 so far; D has its sign and its special cases
            DivFixup,
        }
        // Float functions without an f16 form.
        float_wide {
            /// 1 / S0 for integer division
            RcpIflag,
            /// gfx6/7: infinities clamp to the largest float
            LogClamp,
            /// See [`Op::LogClamp`]
            RcpClamp,
            /// See [`Op::LogClamp`]
            RsqClamp,
            /// gfx6/7: infinity and zero give 0
            RcpLegacy,
            /// See [`Op::RcpLegacy`]
            RsqLegacy,
            /// gfx7+: as [`Op::Exp`]
            ExpLegacy,
            /// gfx7+: as [`Op::Log`]
            LogLegacy,
            /// `v_mullit_f32` (gfx6/7)
            MulLit,
            /// S0 scaled so that S2 / S1 neither overflows nor loses bits; D1 is the mask of lanes whose quotient is
            /// to be scaled back (`runtime::math`, like the next three)
            DivScale,
            /// fma(S0, S1, S2), scaled back where VCC says so
            DivFmas,
            /// Segment S1 of the bits of 2/pi, scaled by the exponent of S0
            TrigPreop,
            /// Cube map face
            CubeId,
            /// Cube map s coordinate
            CubeSc,
            /// Cube map t coordinate
            CubeTc,
            /// Cube map major axis times 2
            CubeMa,
        }
        // Float arithmetic by the rules of Direct3D 9.
        legacy {
            /// 0 * x = 0 for every x
            MulLegacy,
            /// [`Op::MulLegacy`] + S2
            MadLegacy,
            /// [`Op::MulLegacy`] + D
            MacLegacy,
            /// D = S0 < S1 ? S0 : S1, NaN gives S1
            MinLegacy,
            /// D = S0 >= S1 ? S0 : S1, NaN gives S1
            MaxLegacy,
        }
        // Mixed precision and dot products.
        packed {
            /// D.f32 = S0 * S1 + S2 with sources f32 or halves; fused where the target has `v_fma_mix`
            Mix,
            /// As [`Op::Mix`], f16 result in the low half
            MixLo,
            /// As [`Op::Mix`], f16 result in the high half
            MixHi,
            /// S2 + S0.lo*S1.lo + S0.hi*S1.hi; the row's types decide (f16, i16, u16)
            Dot2,
            /// Four bytes, signed or unsigned by the destination type
            Dot4,
            /// Eight nibbles
            Dot8,
            /// As the dots with D as accumulator (`v_dot2c_*`, gfx908)
            Dot2c,
            /// See [`Op::Dot2c`]
            Dot4c,
            /// See [`Op::Dot2c`]
            Dot8c,
        }
        // Parameters of pixel shaders, which are refused.
        parameters {
            /// `v_interp_p1_f32` and the half forms
            InterpP1,
            /// `v_interp_p1ll_f16`
            InterpP1Ll,
            /// `v_interp_p1lv_f16`
            InterpP1Lv,
            /// `v_interp_p2_*`
            InterpP2,
            /// `v_interp_mov_f32`
            InterpMov,
        }
        // The matrix unit of CDNA.
        matrix {
            /// D = S0 * S1 + S2, matrices in the registers of the whole wave
            Mfma(Matrix),
            /// D = S0 * S1 + D, where S0 has two of each four values of K, at the places that S2 gives
            Smfmac(Matrix),
            /// D.vgpr = S0.agpr
            AccVgprRead,
            /// D.agpr = S0
            AccVgprWrite,
            /// D.agpr = S0.agpr
            AccVgprMov,
        }
    }
    // Memory.
    mem {
        // Memory, time and exports.
        memory {
            /// D = memory
            Load(Space, Data),
            /// memory = data
            Store(Space, Data),
            /// D (when returned) = old memory; memory = op
            Atomic(Space, Atomic),
            /// `buffer_store_lds_dword`: memory = LDS (address by M0 and lane)
            StoreLds,
            /// Images
            Image(ImageOp),
            /// `exp`
            Export,
            /// D = 64-bit time
            MemTime,
            /// D = 64-bit constant-rate time
            MemRealtime,
            /// Cache maintenance, probes and prefetches: no effect here
            CacheCtl,
        }
        // Operations of DS only.
        lds {
            /// `ds_read2*`: two values at offset0 and offset1 (times 64 when the flag is set)
            Read2 {
                /// Offsets count 64 elements.
                st64: bool,
            },
            /// `ds_write2*`
            Write2 {
                /// See [`Op::Read2`].
                st64: bool,
            },
            /// `ds_wrxchg2*`
            Wrxchg2 {
                /// See [`Op::Read2`].
                st64: bool,
            },
            /// `ds_*_src2`: memory[A] = memory[A] op memory[B]
            AtomicSrc2(Atomic),
            /// `ds_write_src2_*`: memory[A] = memory[B]
            WriteSrc2,
            /// `ds_read_addtid_b32`
            ReadAddTid,
            /// `ds_write_addtid_b32`
            WriteAddTid,
            /// Other DS operations
            Ds(DsOp),
        }
    }
}

/// Logic of the saveexec and wrexec families, on `S0` and `EXEC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// S0 & EXEC
    And,
    /// S0 | EXEC
    Or,
    /// S0 ^ EXEC
    Xor,
    /// S0 & ~EXEC
    AndN2,
    /// S0 | ~EXEC
    OrN2,
    /// ~(S0 & EXEC)
    Nand,
    /// ~(S0 | EXEC)
    Nor,
    /// ~(S0 ^ EXEC)
    Xnor,
    /// ~S0 & EXEC
    AndN1,
    /// ~S0 | EXEC
    OrN1,
}

/// Condition of a scalar branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum BranchIf {
    Always,
    Scc0,
    Scc1,
    Vccz,
    Vccnz,
    Execz,
    Execnz,
    /// Debugger conditions: never taken, since no debugger is attached.
    CdbgSys,
    CdbgUser,
    CdbgSysOrUser,
    CdbgSysAndUser,
}

/// Instructions that only advise the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Hint {
    Sleep,
    SetPrio,
    SetHalt,
    SetKill,
    IcacheInv,
    IncPerfLevel,
    DecPerfLevel,
    TtraceData,
    Wakeup,
}
