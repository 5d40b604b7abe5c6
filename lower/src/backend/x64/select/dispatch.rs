//! Dispatch of operations to selectors. Exhaustive: a new operation does not compile until it is
//! listed.

use super::Select;
use crate::backend::x64::Refused;
use crate::vir::{Inst, Op, Value, ops};

impl Select<'_> {
    /// Selects an instruction other than a terminator.
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
            ops!(general) | Op::Icmp(_) | Op::Fcmp(_) | Op::Insertlane(_) | Op::Extractlane(_) => {
                self.by_types(inst)
            }
            ops!(host_vectors) => self.host_vector(inst),
            // A mask is expanded where it is used as a vector.
            Op::MaskToVector => Ok(()),
            Op::VectorToMask => {
                let mask = self.mask(self.func.args(inst)[0])?;
                self.set(inst, mask);
                Ok(())
            }
            // These are rematerialized at each use, or end a block.
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

    /// Selects an operation that exists for several types: for general registers, or for vectors
    /// and scalar floats.
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
