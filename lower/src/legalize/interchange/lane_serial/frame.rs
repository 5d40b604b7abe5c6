//! Frame of lane-serial loops (see [`super`]).

use super::{Lane, Reach};
use crate::legalize::{Emitter, frame_offset};
use crate::vir::{Memory, Type, Value, types};

/// Frame offsets of values that pass from lane to lane, or are shared by all. In host registers
/// they would be live across the iterations, which need all registers.
pub(super) struct Shared {
    /// The lanes still to run, I64.
    pub(super) rest: i32,
    /// Those that are out of fuel before their end, I64.
    pub(super) out_of_fuel: i32,
    /// Fuel for each lane, I32.
    pub(super) fuel: i32,
    /// The least remaining fuel of a lane so far, I32, if iterations are not counted.
    pub(super) fewest: i32,
    /// The most iterations after the first of a lane so far, I32, if they are counted; -1 before
    /// the first lane.
    pub(super) furthest: i32,
    /// The bounds of inline accesses: see [`Reach`].
    pub(super) base: i32,
    pub(super) lds: i32,
    /// The first of the highest offsets.
    pub(super) last: i32,
}

impl Shared {
    /// In a frame slot.
    pub(super) fn new(slot: u32) -> Shared {
        let at = frame_offset(slot);
        Shared {
            rest: at,
            out_of_fuel: at + 8,
            fuel: at + 16,
            fewest: at + 20,
            furthest: at + 24,
            base: at + 32,
            lds: at + 40,
            last: at + 48,
        }
    }
}

impl Emitter<'_> {
    /// Writes the shared values, and the initial values for the first lane.
    pub(super) fn begin_shared(
        &mut self,
        shared: &Shared,
        memory: &Reach,
        (exec, fuel): (Value, Value),
    ) {
        let none = self.code.b.iconst(types::I64, 0);
        // More than any lane leaves.
        let fewest = self.code.b.iadd_imm(fuel, 1);
        let least = self.code.b.iconst(types::I32, -1);
        let mut things = vec![
            (shared.out_of_fuel, none),
            (shared.rest, exec),
            (shared.fuel, fuel),
            (shared.fewest, fewest),
            (shared.furthest, least),
            (shared.base, memory.base),
            (shared.lds, memory.lds),
        ];
        let last = memory.last.values().copied();
        things.extend((shared.last..).step_by(8).zip(last));
        for (at, value) in things {
            self.write_shared(at, value);
        }
    }

    /// Reads the bounds of inline accesses; returns the lanes still to run.
    pub(super) fn reload_shared(&mut self, t: &mut Lane<'_>, shared: &Shared) -> Value {
        t.memory.base = self.read_shared(shared.base, types::I64);
        t.memory.lds = self.read_shared(shared.lds, types::I64);
        for (at, last) in (shared.last..).step_by(8).zip(t.memory.last.values_mut()) {
            *last = self.read_shared(at, types::I64);
        }
        self.read_shared(shared.rest, types::I64)
    }

    /// Reads one of the values.
    pub(super) fn read_shared(&mut self, at: i32, ty: Type) -> Value {
        self.code
            .b
            .load(ty, Memory::Trusted, self.code.region.frame(), at)
    }

    /// Writes one of the values.
    pub(super) fn write_shared(&mut self, at: i32, value: Value) {
        self.code
            .b
            .store(Memory::Trusted, value, self.code.region.frame(), at);
    }
}
