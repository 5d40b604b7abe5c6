//! Elements of those of 16 lanes that act, for AVX-512: what lies where the others would have theirs is neither read nor
//! written, and need not be there.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use frontend::op::Data;

use super::is_run;
use crate::clif::{Emitter, trusted};
use crate::wide::Intrinsic;

const LANES: usize = 16;

impl Emitter<'_> {
    /// Are elements that are `stride` apart moved so?
    pub(in crate::clif) fn moves_some(&self, data: Data, stride: i64) -> bool {
        self.per() == LANES && data == Data::Dwords(1) && is_run(data, stride)
    }

    /// Which of 16 lanes from `first` on act.
    fn some_of(&mut self, exec: Value, first: usize) -> Value {
        let bits = match first {
            0 => exec,
            _ => self.b.ins().ushr_imm_u(exec, first as i64),
        };
        let mut lanes = self.of_lanes(1, LANES);
        lanes.intrinsic(Intrinsic::MaskOfBits, &[bits], types::I32X16)
    }

    /// Loads dwords that follow one another, of 16 lanes from `first` on those in `exec`, to their places; the first of the
    /// 16 is `away` from `start`.
    pub(in crate::clif) fn load_some(
        &mut self,
        (exec, first): (Value, usize),
        (start, away): (Value, i64),
        places: &[Value],
    ) {
        let on = self.some_of(exec, first);
        let at = self.b.ins().iadd_imm_s(start, away);
        // All of a place is written, as what reads it next does not wait then.
        let old = self.load_places(types::I32X16, places)[0];
        let mut lanes = self.of_lanes(1, LANES);
        let new = lanes.intrinsic(Intrinsic::LoadSome, &[old, on, at], types::I32X16);
        self.b.ins().store(trusted(), new, places[0], 0);
    }

    /// Stores them.
    pub(in crate::clif) fn store_some(
        &mut self,
        (exec, first): (Value, usize),
        (start, away): (Value, i64),
        places: &[Value],
    ) {
        let on = self.some_of(exec, first);
        let at = self.b.ins().iadd_imm_s(start, away);
        let words = self.load_places(types::I32X16, places)[0];
        let mut lanes = self.of_lanes(1, LANES);
        lanes.effect(Intrinsic::StoreSome, &[words, on, at]);
    }
}
