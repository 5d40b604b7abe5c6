//! Lanes that run lane-serially and of which it is known, when they begin, how often (see
//! [`crate::analysis::interchange::lane_serial::trip_count`]). Their fuel is taken at once, and one check of an address's first and last
//! place does for all iterations; the number of an element in an array is compared with the array's end. Of what
//! grows by the same in each iteration only the number of the iteration is held, which the host's addresses multiply.

use super::frame::Shared;
use super::{Lane, shape};
use crate::analysis::interchange::lane_serial::trip_count::{Count, Course};
use crate::ir::{Icmp, Val};
use crate::legalize::{Emitter, access};
use crate::vir::{self, IntCC, Value, types};

/// An array that stays.
#[derive(Clone, Copy)]
pub(super) struct Array {
    /// The host's address of its element 0.
    start: Value,
    /// The number of its last element.
    last: Value,
}

impl Emitter<'_> {
    /// The iterations that a lane makes behind the first one, I64.
    pub(super) fn iterations_ahead(
        &mut self,
        t: &mut Lane<'_>,
        count: Count,
        shared: &Shared,
    ) -> Value {
        let before = t.values.clone();
        let next = self.eval(t, count.next);
        let bound = self.eval(t, count.bound);
        // These are values of the first iteration only.
        t.values = before;
        let below = match count.below {
            Icmp::Slt => IntCC::SignedLessThan,
            _ => IntCC::UnsignedLessThan,
        };
        let below = self.b.icmp(below, next, bound);
        let distance = self.b.isub(bound, next);
        let none = self.b.iconst(types::I32, 0);
        let wanted = self.b.select(below, distance, none);
        let [tired, go] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(tired);
        let more = self.b.append_block_param(go, types::I32);
        let fuel = self.read_shared(shared.fuel, types::I32);
        let enough = self.b.icmp(IntCC::UnsignedLessThan, wanted, fuel);
        let args = [wanted];
        self.b.brif(enough, go, &args, tired, &[]);
        self.b.switch_to_block(tired);
        self.set_tired(t, shared);
        let most = self.b.iadd_imm(fuel, -1);
        self.b.jump(go, &[most]);
        self.b.switch_to_block(go);
        self.b.uextend(types::I64, more)
    }

    /// Checks where the loads' courses lead in so many iterations behind the first, if that is known, or finds out where
    /// they may. Leaves for the general loop if that is where nothing may be accessed.
    pub(super) fn begin_courses(&mut self, t: &mut Lane<'_>, more: Option<Value>) {
        let before = t.values.clone();
        for (&load, &course) in &t.plan.courses {
            self.begin_course(t, load, course, more);
            t.values.clone_from(&before);
        }
    }

    /// Checks where a load's course leads, or finds out where it may.
    fn begin_course(&mut self, t: &mut Lane<'_>, load: Val, course: Course, more: Option<Value>) {
        let node = &t.plan.block.nodes[load.index()];
        let (lds, data) = shape(node.op).expect("the plan has only loads");
        let last = t.memory.last[&(lds, access::bytes(data))];
        match course {
            Course::Steps(step) => {
                let first = self.eval(t, node.args[0]);
                let first = self.b.isub(first, t.memory.base);
                let more = more.expect("steps are counted");
                let way = match step.is_power_of_two() {
                    true => self.b.ishl_imm(more, i64::from(step.trailing_zeros())),
                    false => self.b.imul_imm(more, step as i64),
                };
                let end = self.b.iadd(first, way);
                for place in [first, end] {
                    let good = IntCC::UnsignedLessThanOrEqual;
                    let good = self.b.icmp(good, place, last);
                    self.require(t.fail, good);
                }
            }
            Course::Element(_, shift) => {
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

    /// The host's address of a load that has a course; it has been checked, or is.
    pub(super) fn on_course(&mut self, t: &mut Lane<'_>, load: Val) -> Option<Value> {
        let address = t.plan.block.nodes[load.index()].args[0];
        match *t.plan.courses.get(&load)? {
            Course::Steps(_) => Some(self.eval(t, address)),
            Course::Element(number, shift) => {
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

    /// Ends an iteration: goes to `head` for the next one, if `more` iterations behind the first are not made, else on.
    pub(super) fn end_counted(&mut self, t: &mut Lane<'_>, more: Value, head: vir::Block) {
        let iteration = t.iteration.expect("a counted turn has a number");
        let next = self.b.iadd_imm(iteration, 1);
        let last = self.b.create_block();
        let on = self.b.icmp(IntCC::UnsignedLessThanOrEqual, next, more);
        self.b.brif(on, head, &[next], last, &[]);
        self.b.switch_to_block(last);
        t.iteration = Some(next);
    }

    /// What a steady word or pair is now: so much more than in the first iteration as the number of the iteration says.
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
        let way = match scale {
            0 => iteration,
            _ => self.b.ishl_imm(iteration, i64::from(scale)),
        };
        Some(self.b.iadd(first, way))
    }
}
