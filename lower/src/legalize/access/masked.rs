//! Elements of those of 16 lanes that act, for AVX-512: what lies where the others would have theirs is neither read nor
//! written, and need not be there.

use frontend::op::Data;

use super::is_run;
use crate::legalize::Emitter;
use crate::vir::{Memory, Op as VirOp, Value, types};

const LANES: usize = 16;

impl Emitter<'_> {
    /// Are elements that are `stride` apart moved so?
    pub(in crate::legalize) fn moves_some(&self, data: Data, stride: i64) -> bool {
        self.per() == LANES && data == Data::Dwords(1) && is_run(data, stride)
    }

    /// Which of 16 lanes from `first` on act.
    fn some_of(&mut self, exec: Value, first: usize) -> Value {
        let bits = match first {
            0 => exec,
            _ => self.b.ushr_imm(exec, first as i64),
        };
        self.b.op(VirOp::MaskOfBits, &[bits], types::M32X16)
    }

    /// Moves dwords that follow one another, of 16 lanes from `first` on those in `exec`, between memory and their place; the
    /// first of the 16 is at `at`.
    pub(in crate::legalize) fn move_some(
        &mut self,
        load: bool,
        (exec, first): (Value, usize),
        at: Value,
        place: Value,
    ) {
        let on = self.some_of(exec, first);
        let words = self.load_places(types::I32X16, &[place])[0];
        if load {
            // All of the place is written, as what reads it next does not wait then.
            let new = self.b.op(VirOp::LoadSome, &[words, on, at], types::I32X16);
            self.b.store(Memory::Trusted, new, place, 0);
        } else {
            self.b.effect(VirOp::StoreSome, &[words, on, at]);
        }
    }
}
