//! Lane-serial loops with trip counts (see
//! [`crate::analysis::interchange::lane_serial::trip_count`]). Their fuel is burned at once, and
//! one check of an address in the first and last iteration covers all; array indices are compared
//! with the array's end. Of linear induction variables only the iteration number is held; host
//! addressing modes scale it.

use super::frame::Shared;
use super::{Lane, shape};
use crate::analysis::interchange::lane_serial::trip_count::{Count, Recurrence};
use crate::ir::{Icmp, Val};
use crate::legalize::{Emitter, access};
use crate::vir::{self, IntCC, Value, types};

/// An invariant array.
#[derive(Clone, Copy)]
pub(super) struct Array {
    /// The host address of its element 0.
    start: Value,
    /// The number of its last element.
    last: Value,
}

impl Emitter<'_> {
    /// The number of iterations that a lane runs after the first one, I64.
    pub(super) fn iterations_ahead(
        &mut self,
        t: &mut Lane<'_>,
        count: Count,
        shared: &Shared,
    ) -> Value {
        let before = t.values.clone();
        let next = self.eval(t, count.next);
        let bound = self.eval(t, count.bound);
        // The cached values are valid in the first iteration only.
        t.values = before;
        let below = match count.below {
            Icmp::Slt => IntCC::SignedLessThan,
            _ => IntCC::UnsignedLessThan,
        };
        let below = self.b.icmp(below, next, bound);
        let distance = self.b.isub(bound, next);
        let none = self.b.iconst(types::I32, 0);
        let trips = self.b.select(below, distance, none);
        let [out_of_fuel, go] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(out_of_fuel);
        let more = self.b.append_block_param(go, types::I32);
        let fuel = self.read_shared(shared.fuel, types::I32);
        let enough = self.b.icmp(IntCC::UnsignedLessThan, trips, fuel);
        let args = [trips];
        self.b.brif(enough, go, &args, out_of_fuel, &[]);
        self.b.switch_to_block(out_of_fuel);
        self.set_tired(t, shared);
        let most = self.b.iadd_imm(fuel, -1);
        self.b.jump(go, &[most]);
        self.b.switch_to_block(go);
        self.b.uextend(types::I64, more)
    }

    /// Checks the addresses of the loads in all `more` iterations after the first, or computes
    /// their limits. Leaves for the general loop if they are out of bounds.
    pub(super) fn begin_recurrences(&mut self, t: &mut Lane<'_>, more: Option<Value>) {
        let before = t.values.clone();
        for (&load, &recurrence) in &t.plan.recurrences {
            self.begin_recurrence(t, load, recurrence, more);
            t.values.clone_from(&before);
        }
    }

    /// Checks the addresses of a load, or computes their limit.
    fn begin_recurrence(
        &mut self,
        t: &mut Lane<'_>,
        load: Val,
        recurrence: Recurrence,
        more: Option<Value>,
    ) {
        let node = &t.plan.block.nodes[load.index()];
        let (lds, data) = shape(node.op).expect("the plan has only loads");
        let last = t.memory.last[&(lds, access::bytes(data))];
        match recurrence {
            Recurrence::Steps(step) => {
                let first = self.eval(t, node.args[0]);
                let first = self.b.isub(first, t.memory.base);
                let more = more.expect("steps are counted");
                let distance = match step.is_power_of_two() {
                    true => self.b.ishl_imm(more, i64::from(step.trailing_zeros())),
                    false => self.b.imul_imm(more, step as i64),
                };
                let end = self.b.iadd(first, distance);
                for place in [first, end] {
                    let good = IntCC::UnsignedLessThanOrEqual;
                    let good = self.b.icmp(good, place, last);
                    self.require(t.fail, good);
                }
            }
            Recurrence::Element(_, shift) => {
                let address = t.plan.resolve(node.args[0]);
                let Some(&start) = t.starts.get(&address) else {
                    return;
                };
                let inside = IntCC::UnsignedLessThanOrEqual;
                let inside = self.b.icmp(inside, start, last);
                self.require(t.fail, inside);
                let room = self.b.isub(last, start);
                let last = self.b.ushr_imm(room, i64::from(shift));
                let start = self.b.iadd(t.memory.base, start);
                t.arrays.insert(load, Array { start, last });
            }
        }
    }

    /// The host address of a load with a recurrence, including the check if it is not done before.
    pub(super) fn on_recurrence(&mut self, t: &mut Lane<'_>, load: Val) -> Option<Value> {
        let address = t.plan.block.nodes[load.index()].args[0];
        match *t.plan.recurrences.get(&load)? {
            Recurrence::Steps(_) => Some(self.eval(t, address)),
            Recurrence::Element(number, shift) => {
                let array = *t.arrays.get(&load)?;
                let number = self.eval(t, number);
                let number = self.b.uextend(types::I64, number);
                let good = IntCC::UnsignedLessThanOrEqual;
                let good = self.b.icmp(good, number, array.last);
                self.require(t.fail, good);
                let offset = self.b.ishl_imm(number, i64::from(shift));
                Some(self.b.iadd(array.start, offset))
            }
        }
    }

    /// Ends an iteration: continues at `head` unless `more` iterations after the first are done.
    pub(super) fn end_counted(&mut self, t: &mut Lane<'_>, more: Value, head: vir::Block) {
        let iteration = t.iteration.expect("a counted iteration has a number");
        let next = self.b.iadd_imm(iteration, 1);
        let last = self.b.create_block();
        let on = self.b.icmp(IntCC::UnsignedLessThanOrEqual, next, more);
        self.b.brif(on, head, &[next], last, &[]);
        self.b.switch_to_block(last);
        t.iteration = Some(next);
    }

    /// The current value of a steady word or pair: its initial value plus the scaled iteration
    /// number.
    pub(super) fn steady(&mut self, t: &Lane<'_>, n: u8) -> Option<Value> {
        let scale = *t.plan.steady.get(&n)?;
        let first = t.origins[&n];
        let Some(iteration) = t.iteration else {
            return Some(first);
        };
        let iteration = match self.b.func.ty(first) {
            types::I64 => iteration,
            ty => self.b.ireduce(ty, iteration),
        };
        let distance = match scale {
            0 => iteration,
            _ => self.b.ishl_imm(iteration, i64::from(scale)),
        };
        Some(self.b.iadd(first, distance))
    }
}
