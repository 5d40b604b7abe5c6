//! Masked moves of 16 lanes, for AVX-512: the elements of inactive lanes are neither read nor written and may be out of
//! bounds.

use frontend::op::Data;

use super::is_contiguous;
use crate::legalize::Code;
use crate::vir::{Memory, Op as VirOp, Value, types};

const LANES: usize = 16;

impl Code<'_> {
    /// Are elements with this stride moved under a mask?
    pub(in crate::legalize) fn is_masked_access(&self, data: Data, stride: i64) -> bool {
        self.per() == LANES && data == Data::Dwords(1) && is_contiguous(data, stride)
    }

    /// The mask of the active ones of 16 lanes from `first` on.
    fn mask_from(&mut self, exec: Value, first: usize) -> Value {
        let bits = match first {
            0 => exec,
            _ => self.b.ushr_imm(exec, first as i64),
        };
        self.b.op(VirOp::MaskOfBits, &[bits], types::M32X16)
    }

    /// Moves contiguous dwords of 16 lanes from `first` on, those of the lanes in `exec`, between memory and the slot
    /// at `storage`. Lane `first` has its dword at `at`.
    pub(in crate::legalize) fn masked_access(
        &mut self,
        load: bool,
        (exec, first): (Value, usize),
        at: Value,
        storage: Value,
    ) {
        let on = self.mask_from(exec, first);
        let words = self.load_storage(types::I32X16, &[storage])[0];
        if load {
            // The whole slot is stored: a masked store is not forwarded to the next load of the slot, which would wait.
            let new = self.b.op(VirOp::LoadSome, &[words, on, at], types::I32X16);
            self.b.store(Memory::Trusted, new, storage, 0);
        } else {
            self.b.effect(VirOp::StoreSome, &[words, on, at]);
        }
    }
}
