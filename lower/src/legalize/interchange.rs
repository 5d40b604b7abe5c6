//! Emits loops inside the lane groups (see [`crate::analysis::interchange`]). EXEC must be all ones
//! where required, otherwise the general loop runs; each group loads its loop-carried values, runs
//! all iterations, and stores its results to the frame; after the last group the results go to
//! their homes, and the scalars of the last iteration of the group that ran most become the wave's.
//! A failed assumption (an address outside the arena, a word that wraps) leaves for the general
//! loop, which restarts from the unchanged registers.

use std::collections::BTreeMap;
use std::mem::offset_of;

use super::body::Body;
use super::boundary::slot_type;
use super::{Code, Emitter, Region};
use crate::abi::{Context, ExitCode};
use crate::analysis::interchange::lane_serial::LaneSerial;
use crate::analysis::interchange::{Form, LoopCondition, MaskPlace, Plan};
use crate::analysis::liveness::Live;
use crate::analysis::schedule::Schedule;
use crate::ir::{Block, Op, Slot, Target, Val};
use crate::maps::HashMap;
use crate::options::Forms;
use crate::vir::{self, Value, Variable, types};

mod groups;
mod hoist;
mod lane_serial;
mod memory;
mod peel;
mod prefetch;
mod results;
mod unmasked;
mod values;

/// A loop-carried VGPR.
#[derive(Clone)]
enum Carried {
    Scalar(Variable),
    Vectors(Vec<Variable>),
}

/// One iteration of one group while it is emitted.
struct Iteration<'p> {
    form: &'p Form,
    plan: &'p Plan,
    /// Classes of the nodes.
    schedule: &'p Schedule,
    body: Body,
    /// The scalars of values held as such.
    bases: HashMap<Val, Value>,
    carried: BTreeMap<u16, Carried>,
    pairs: BTreeMap<u16, Variable>,
    invariant: BTreeMap<u16, Variable>,
    /// Loop-carried masks.
    masks: BTreeMap<MaskPlace, Vec<Variable>>,
    /// Further results of loads: scalars or vectors.
    results: HashMap<(Val, u8), Loaded>,
    /// Invariant wave values.
    fixed: HashMap<Val, Value>,
    /// Distance to the next workgroup's address of each load (I64).
    prefetch_distance: HashMap<Val, Value>,
    /// Were the addresses of this form's loads checked before the first iteration, where possible?
    checked: bool,
    fail: vir::Block,
    /// Lanes in the group.
    group: i64,
}

impl<'p> Iteration<'p> {
    /// An iteration of `body`'s lanes, without cached values.
    fn new(plan: &'p Plan, schedule: &'p Schedule, body: Body, fail: vir::Block) -> Iteration<'p> {
        Iteration {
            form: &plan.form,
            plan,
            schedule,
            body,
            bases: HashMap::default(),
            carried: BTreeMap::new(),
            pairs: BTreeMap::new(),
            invariant: BTreeMap::new(),
            masks: BTreeMap::new(),
            results: HashMap::default(),
            fixed: HashMap::default(),
            prefetch_distance: HashMap::default(),
            checked: false,
            fail,
            group: plan.group as i64,
        }
    }
}

/// A scalar of the wave that iterations change: slot, variable, new value.
type Written = (Slot, Variable, Val);

#[derive(Clone, Debug)]
enum Loaded {
    Scalar(Value),
    Vectors(Vec<Value>),
}

/// A loop inside the lane groups, or a lane-serial loop.
pub(super) enum Inner {
    /// Group by group.
    Groups(Box<Plan>),
    /// Lane by lane.
    LaneSerial(Box<LaneSerial>),
}

impl Inner {
    /// The blocks of the loop.
    pub(super) fn blocks(&self) -> &[usize] {
        match self {
            Inner::Groups(plan) => &plan.blocks,
            Inner::LaneSerial(plan) => &plan.blocks,
        }
    }
}

impl Code<'_> {
    /// Variables for the scalars that iterations change.
    fn written(&mut self, slots: &[(Slot, Val)]) -> Vec<Written> {
        let slots = slots.iter();
        let slots = slots.map(|&(slot, v)| (slot, self.variable(slot_type(slot)), v));
        slots.collect()
    }

    /// Adds the instructions of `iterations` (I64) to the counters.
    fn count_iterations(&mut self, block: &Block, iterations: Value) {
        let vector: u32 = block.counts.iter().map(|&(_, n)| n).sum();
        let scalar = i64::from(block.guest_insts.saturating_sub(vector));
        let instructions = i64::from(block.guest_insts);
        let lanes = scalar + 64 * i64::from(vector);
        for (at, each) in [
            (offset_of!(Context, instructions), instructions),
            (offset_of!(Context, lane_instructions), lanes),
        ] {
            let n = self.b.imul_imm(iterations, each);
            let old = self.context(types::I64, at);
            let new = self.b.iadd(old, n);
            self.set_context(new, at);
        }
    }
}

impl Region<'_> {
    /// Can a profile count the executions and active lanes of this form's blocks? Not those of a
    /// nest's inner blocks, nor an EXEC or an outcome that an iteration computes.
    fn can_be_counted(&self, head: usize, plan: &Inner) -> bool {
        let Inner::Groups(plan) = plan else {
            return false;
        };
        let block = &self.func().blocks[head];
        let at_entry =
            |&(exec, _): &(Val, u32)| block.nodes[exec.index()].op == Op::ReadS(Slot::Exec);
        plan.peel.is_none()
            && plan.blocks.len() == 1
            && !matches!(
                plan.form.condition,
                LoopCondition::Exec(_) | LoopCondition::Unmasked
            )
            && block.counts.iter().all(at_entry)
            && block.outcomes.is_empty()
    }
}

impl Emitter<'_> {
    /// Begins the other form of the loop at block `index`, where control enters that. Gives the block of the general
    /// form, EXEC, and a block to leave for where things are not as planned; nothing where the region has nothing to
    /// do with EXEC.
    pub(in crate::legalize) fn begin_form(
        &mut self,
        index: usize,
    ) -> Option<(vir::Block, Value, vir::Block)> {
        let general = self.blocks.general(index);
        self.code.b.switch_to_block(self.blocks.entry(index));
        self.values.clear();
        if !self.boundary.has_exec(&self.code.region) {
            self.code.b.jump(general, &[]);
            return None;
        }
        let exec = self.boundary.read_slot(&mut self.code, Slot::Exec);
        let fail = self.code.b.create_block();
        self.code.b.set_cold_block(fail);
        Some((general, exec, fail))
    }

    /// Condition for another iteration of the group: a value, and its outcome for which the loop
    /// continues; `None` if it always does. Masks have their new values already.
    fn continues(&mut self, t: &mut Iteration<'_>) -> Option<(Value, bool)> {
        match t.form.condition {
            LoopCondition::While(cond, when) => {
                Some((self.scalar(&t.form.block, t.schedule, cond), when))
            }
            LoopCondition::Exec(exec) => {
                let mask = self.vectors_of(t, exec);
                Some((self.any_lane(mask), true))
            }
            LoopCondition::Unmasked | LoopCondition::Lane(_) => None,
        }
    }

    /// Makes the scalars of the wave that an iteration reads available.
    fn iteration_scalars(&mut self, t: &Iteration<'_>, slots: &[Written]) {
        let form = t.form;
        self.values.set_scalars(t.fixed.clone());
        for (i, node) in form.block.nodes.iter().enumerate() {
            if let Op::ReadS(slot) = node.op
                && form.kinds[i].is_some()
            {
                let own = slots.iter().find(|(s, ..)| *s == slot);
                let value = match own {
                    Some(&(_, var, _)) => self.code.b.use_var(var),
                    None => self.boundary.read_slot(&mut self.code, slot),
                };
                self.values.insert(Val(i as u32), value);
            }
        }
    }

    /// Leaves the loop that begins at block `index`: for its header if `taken` (no fuel left), else
    /// for its exit.
    fn leave_loop(&mut self, taken: Value, (index, pc): (usize, u64), exit: &Target) {
        let out_of_fuel = self.code.b.create_block();
        let leave = self.code.b.create_block();
        self.code.b.brif(taken, out_of_fuel, &[], leave, &[]);
        self.code.b.switch_to_block(out_of_fuel);
        self.boundary.note_resume(&mut self.code, Some(index));
        let pc = self.code.address(pc);
        let live = self.code.region.live_in(index);
        self.boundary
            .leave(&mut self.code, pc, ExitCode::Yield, live);
        self.code.b.switch_to_block(leave);
        self.values.clear_scalars();
        self.jump(exit);
    }

    /// Plans the interchanged forms of the region's loops. Their general loops are emitted at their
    /// header blocks.
    pub(super) fn interchange(
        &mut self,
        live: &[Live],
        facts: &crate::analysis::uniformity::Facts,
    ) -> HashMap<usize, Inner> {
        let mut plans = HashMap::default();
        if !self
            .code
            .region
            .options()
            .has(Forms::UNMASKED | Forms::GROUP_LOOPS)
        {
            return plans;
        }
        let insts: u32 = self
            .code
            .region
            .func()
            .blocks
            .iter()
            .map(|block| block.guest_insts)
            .sum();
        let loops = facts.loops();
        let most = self
            .code
            .region
            .options()
            .most_loops(insts as usize, loops.len());
        let mut left_out = 0;
        for head in loops {
            if plans.len() + left_out == most {
                break;
            }
            let Some(plan) = self.plan_loop(head, live, facts) else {
                continue;
            };
            if (self.code.region.options().count || self.code.region.options().profile)
                && !self.code.region.can_be_counted(head, &plan)
            {
                left_out += 1;
                continue;
            }
            self.blocks
                .keep_general(&mut self.code.b, head, plan.blocks());
            plans.insert(head, plan);
        }
        plans
    }

    /// Plans the loop that begins at block `head`.
    fn plan_loop(
        &self,
        head: usize,
        live: &[Live],
        facts: &crate::analysis::uniformity::Facts,
    ) -> Option<Inner> {
        let entry = facts.at_loop(head)?;
        let (row, group) = (facts.row(), self.code.region.options().group);
        let plan = crate::analysis::interchange::plan(
            self.code.region.func(),
            head,
            live,
            entry,
            row,
            self.code.per(),
            group,
        );
        let groups = plan.map(|plan| Inner::Groups(Box::new(plan)));
        groups.or_else(|| {
            let plan = self.plan_lane_serial(head, live, facts)?;
            Some(Inner::LaneSerial(Box::new(plan)))
        })
    }
}
