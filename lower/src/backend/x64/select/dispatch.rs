//! Which selector an operation goes to. All operations are named here: for a new one the back end says what it does with it.

use super::Select;
use crate::backend::x64::Refused;
use crate::vir::{Inst, Op, Value};

impl Select<'_> {
    /// Selects an instruction that is no terminator.
    pub(super) fn inst(&mut self, inst: Inst) -> Result<(), Refused> {
        self.merge_from_here();
        match self.func.op(inst) {
            Op::Load(_, part, offset) => self.load(inst, part, offset),
            Op::Store(_, part, offset) => self.store(inst, part, offset),
            Op::Call(_) => self.call(inst),
            Op::StackAddr(slot) => self.stack_addr(inst, slot),
            Op::Prefetch | Op::PrefetchSecond => self.prefetch(inst),
            Op::Gather => self.gather(inst),
            Op::Scatter => self.scatter(inst),
            Op::LoadSome => self.load_some(inst),
            Op::StoreSome => self.store_some(inst),
            Op::Shuffle(pattern) => self.shuffle(inst, pattern),
            Op::Iadd
            | Op::Isub
            | Op::Ineg
            | Op::Imul
            | Op::Umulhi
            | Op::Smulhi
            | Op::Band
            | Op::Bor
            | Op::Bxor
            | Op::Bnot
            | Op::Ishl
            | Op::Ushr
            | Op::Sshr
            | Op::Umin
            | Op::Umax
            | Op::Smin
            | Op::Smax
            | Op::UaddSat
            | Op::SaddSat
            | Op::UsubSat
            | Op::SsubSat
            | Op::Popcnt
            | Op::Clz
            | Op::Ctz
            | Op::Bitrev
            | Op::Ireduce
            | Op::Uextend
            | Op::Sextend
            | Op::Icmp(_)
            | Op::Fcmp(_)
            | Op::Select
            | Op::Bitselect
            | Op::Blendv
            | Op::VhighBits
            | Op::Splat
            | Op::ScalarToVector
            | Op::Insertlane(_)
            | Op::Extractlane(_)
            | Op::SwidenLow
            | Op::SwidenHigh
            | Op::UwidenLow
            | Op::UwidenHigh
            | Op::Bitcast
            | Op::Fadd
            | Op::Fsub
            | Op::Fmul
            | Op::Fdiv
            | Op::Fma
            | Op::Sqrt
            | Op::Fabs
            | Op::Ceil
            | Op::Floor
            | Op::Trunc
            | Op::Nearest
            | Op::Fpromote
            | Op::Fdemote
            | Op::FvpromoteLow
            | Op::Fvdemote
            | Op::FcvtFromSint
            | Op::FcvtFromUint
            | Op::FcvtToSintSat
            | Op::FcvtToUintSat => self.by_types(inst),
            Op::MulWideU
            | Op::MulWideS
            | Op::OddDwords
            | Op::PromoteLow
            | Op::PromoteHigh
            | Op::FromIntLow
            | Op::FromIntHigh
            | Op::Demote
            | Op::PromoteLowHalf
            | Op::PromoteHighHalf
            | Op::DemoteHalves
            | Op::Join
            | Op::LowHalf
            | Op::HighHalf
            | Op::LowHalves
            | Op::HighHalves
            | Op::EvenParts
            | Op::OddParts
            | Op::MixParts
            | Op::NarrowBytes
            | Op::NarrowShorts
            | Op::WidenBytesU
            | Op::WidenBytesS
            | Op::WidenShortsU
            | Op::WidenShortsS
            | Op::ShiftLeft
            | Op::ShiftRight
            | Op::ShiftArithmetic
            | Op::ShiftLeftQuads
            | Op::ShiftRightQuads
            | Op::ShiftArithmeticQuads
            | Op::PickBytes
            | Op::PickDwords
            | Op::ShortSigns
            | Op::WidenLow
            | Op::WidenHigh
            | Op::Narrow
            | Op::FromHalf
            | Op::ToHalf
            | Op::ToHalfTruncating
            | Op::MaskOfBits
            | Op::Rotate
            | Op::SumDown
            | Op::SumUp
            | Op::FusedUp
            | Op::ToOdd
            | Op::Least
            | Op::Scale
            | Op::Rest
            | Op::Mantissa
            | Op::Exponent
            | Op::PlainMantissa
            | Op::PlainExponent
            | Op::RootEstimate
            | Op::Fix
            | Op::ZeroOrInfinite
            | Op::Flush => self.host_vector(inst),
            // A mask is made a vector where it is used as one.
            Op::MaskToVector => Ok(()),
            Op::VectorToMask => {
                let mask = self.mask(self.func.args(inst)[0])?;
                self.set(inst, mask);
                Ok(())
            }
            // These are made where they are used, or end a block.
            Op::Iconst(_)
            | Op::F32const(_)
            | Op::F64const(_)
            | Op::Vconst(_)
            | Op::SymbolValue(..)
            | Op::Jump(_)
            | Op::Brif(_)
            | Op::Return => Err(self.refuse(inst)),
        }
    }

    /// Selects what there is for several types: for general registers, or for vectors and single floats.
    fn by_types(&mut self, inst: Inst) -> Result<(), Refused> {
        let vectors = |v: &Value| !self.ty(*v).is_int();
        let float = vectors(&self.result(inst)) || self.func.args(inst).iter().any(vectors);
        if float && self.is_avx512() && self.avx512(inst)? {
            Ok(())
        } else if float {
            self.vector(inst)
        } else {
            self.scalar(inst)
        }
    }
}
