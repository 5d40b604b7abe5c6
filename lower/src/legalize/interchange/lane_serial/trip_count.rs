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
        let below = self.code.b.icmp(below, next, bound);
        let distance = self.code.b.isub(bound, next);
        let none = self.code.b.iconst(types::I32, 0);
        let trips = self.code.b.select(below, distance, none);
        let [out_of_fuel, go] = [(); 2].map(|()| self.code.b.create_block());
        self.code.b.set_cold_block(out_of_fuel);
        let more = self.code.b.append_block_param(go, types::I32);
        let fuel = self.read_shared(shared.fuel, types::I32);
        let enough = self.code.b.icmp(IntCC::UnsignedLessThan, trips, fuel);
        let args = [trips];
        self.code.b.brif(enough, go, &args, out_of_fuel, &[]);
        self.code.b.switch_to_block(out_of_fuel);
        self.set_tired(t, shared);
        let most = self.code.b.iadd_imm(fuel, -1);
        self.code.b.jump(go, &[most]);
        self.code.b.switch_to_block(go);
        self.code.b.uextend(types::I64, more)
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
                let first = self.code.b.isub(first, t.memory.base);
                let more = more.expect("steps are counted");
                let distance = match step.is_power_of_two() {
                    true => self.code.b.ishl_imm(more, i64::from(step.trailing_zeros())),
                    false => self.code.b.imul_imm(more, step as i64),
                };
                let end = self.code.b.iadd(first, distance);
                for place in [first, end] {
                    let good = IntCC::UnsignedLessThanOrEqual;
                    let good = self.code.b.icmp(good, place, last);
                    self.code.require(t.fail, good);
                }
            }
            Recurrence::Element(_, shift) => {
                let address = t.plan.resolve(node.args[0]);
                let Some(&start) = t.starts.get(&address) else {
                    return;
                };
                let inside = IntCC::UnsignedLessThanOrEqual;
                let inside = self.code.b.icmp(inside, start, last);
                self.code.require(t.fail, inside);
                let room = self.code.b.isub(last, start);
                let last = self.code.b.ushr_imm(room, i64::from(shift));
                let start = self.code.b.iadd(t.memory.base, start);
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
                let number = self.code.b.uextend(types::I64, number);
                let good = IntCC::UnsignedLessThanOrEqual;
                let good = self.code.b.icmp(good, number, array.last);
                self.code.require(t.fail, good);
                let offset = self.code.b.ishl_imm(number, i64::from(shift));
                Some(self.code.b.iadd(array.start, offset))
            }
        }
    }

    /// Ends an iteration: continues at `head` unless `more` iterations after the first are done.
    pub(super) fn end_counted(&mut self, t: &mut Lane<'_>, more: Value, head: vir::Block) {
        let iteration = t.iteration.expect("a counted iteration has a number");
        let next = self.code.b.iadd_imm(iteration, 1);
        let last = self.code.b.create_block();
        let on = self.code.b.icmp(IntCC::UnsignedLessThanOrEqual, next, more);
        self.code.b.brif(on, head, &[next], last, &[]);
        self.code.b.switch_to_block(last);
        t.iteration = Some(next);
    }

    /// The current value of a steady word or pair: its initial value plus the scaled iteration
    /// number.
    pub(super) fn steady(&mut self, t: &Lane<'_>, n: u16) -> Option<Value> {
        let scale = *t.plan.steady.get(&n)?;
        let first = t.origins[&n];
        let Some(iteration) = t.iteration else {
            return Some(first);
        };
        let iteration = match self.code.b.func.ty(first) {
            types::I64 => iteration,
            ty => self.code.b.ireduce(ty, iteration),
        };
        let distance = match scale {
            0 => iteration,
            _ => self.code.b.ishl_imm(iteration, i64::from(scale)),
        };
        Some(self.code.b.iadd(first, distance))
    }
}
