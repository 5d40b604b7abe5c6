//! The baseline tier: little code for the first translation of a region, since a wave waits for it.

use frontend::op::Space;

use super::fuse::parts;
use super::{Code, Emitter};
use crate::abi::ExitCode;
use crate::analysis::schedule::Segment;
use crate::ir::{Block, Op, Slot, Val, Vary};
use crate::options::{Forms, Options};
use crate::vir::{self, IntCC, Value, types};

/// Maximum number of a region's loops that run inside the lane groups or lane-serially. Each has a
/// second form, and kernels seldom have more loops; where they have, the second forms would
/// dominate the translation time.
const FEW_LOOPS: usize = 16;

/// Guest instructions of a region for each of them.
const BETWEEN_LOOPS: usize = 64;

/// Minimum number of loops for each second form: in a region with many loops the hot ones are
/// unknown, and all have one form.
const LOOPS_FOR_ONE: usize = 8;

/// Nodes of a segment below which the host overlaps several groups, whether or not they are
/// interleaved in the code.
const SHORT: usize = 48;

/// Nodes of a segment that are computed as fast as a test that no lane of the group is active.
const BRIEF: usize = 16;

/// The exits that all blocks of a region share in the baseline tier.
#[derive(Default)]
pub(super) struct SharedExits {
    /// The shared back edge.
    back: Option<Back>,
    /// The shared exit for faults.
    faulted: Option<vir::Block>,
}

/// Loop handling of a region in the baseline tier, with the entry's number and its address.
#[derive(Clone, Copy)]
struct Back {
    /// Jumps to an entry by its number (I32).
    to_entry: vir::Block,
    /// Burns fuel before that: all back edges pass through it, with the address (I64) and the
    /// number.
    back: vir::Block,
}

impl SharedExits {
    /// The shared exit for faults.
    pub(super) fn end_faulted(&mut self, code: &mut Code<'_>) {
        let Some(faulted) = self.faulted else {
            return;
        };
        code.b.switch_to_block(faulted);
        code.b.set_cold_block(faulted);
        let exit_code = code.integer(types::I64, i64::from(ExitCode::Fault as u32));
        code.b.return_(exit_code);
    }

    /// The shared block of back edges.
    pub(super) fn end_entries(&mut self, code: &mut Code<'_>) {
        let Some(Back { to_entry, back }) = self.back else {
            return;
        };
        code.b.switch_to_block(back);
        let &[pc, number] = code.b.block_params(back) else {
            unreachable!("it has two");
        };
        let left = code.take_fuel();
        let out_of_fuel = code.b.create_block();
        code.b.set_cold_block(out_of_fuel);
        let zero = code.integer(types::I32, 0);
        let some = code.b.icmp(IntCC::SignedGreaterThan, left, zero);
        let to = [number];
        code.b.brif(some, to_entry, &to, out_of_fuel, &[]);
        code.b.switch_to_block(out_of_fuel);
        code.set_resume(number);
        let exit_code = code.integer(types::I64, i64::from(ExitCode::Yield as u32));
        code.return_at(pc, exit_code);
    }
}

impl Emitter<'_> {
    /// Writes the scalar slots of a block to the wave in the baseline tier, both halves of a value
    /// at once.
    pub(super) fn write_resident(
        &mut self,
        block: &Block,
        writes: &[(Slot, Val)],
        value: impl Fn(&mut Self, Val) -> Value,
    ) {
        let half = |v: Val, of: Op| {
            let node = &block.nodes[v.index()];
            (node.op == of).then(|| node.args[0])
        };
        // Reads all values before the first write to the wave.
        let mut values = Vec::with_capacity(writes.len());
        let mut done = None;
        for &(slot, v) in writes {
            if done == Some(slot) {
                continue;
            }
            let above = match slot {
                Slot::Sgpr(n) => Some(Slot::Sgpr(n + 1)),
                _ => None,
            };
            let high = writes.iter().find(|&&(other, _)| Some(other) == above);
            let whole = half(v, Op::Lo)
                .filter(|&whole| high.is_some_and(|&(_, high)| half(high, Op::Hi) == Some(whole)));
            match whole {
                Some(whole) => {
                    done = above;
                    values.push((slot, value(self, whole), true));
                }
                None => values.push((slot, value(self, v), false)),
            }
        }
        for (slot, v, pair) in values {
            match pair {
                true => self.boundary.store_pair(&mut self.code, slot, v),
                false => self.boundary.write_slot(&mut self.code, slot, v),
            }
        }
    }

    /// Begins the dispatch to the entries in the baseline tier, by the number in `entry` (I32).
    pub(super) fn begin_entries(&mut self, entry: Value, targets: &[usize]) {
        let [to_entry, back] = [(); 2].map(|()| self.code.b.create_block());
        let number = self.code.b.append_block_param(to_entry, types::I32);
        self.code.b.append_block_param(back, types::I64);
        self.code.b.append_block_param(back, types::I32);
        self.code.b.jump(to_entry, &[entry]);
        self.code.b.switch_to_block(to_entry);
        let targets: Vec<vir::Block> = targets.iter().map(|&to| self.blocks.entry(to)).collect();
        self.code.dispatch_entry(number, 0, &targets);
        self.exits.back = Some(Back { to_entry, back });
    }

    /// The target and arguments of a back edge in the baseline tier; `None` where it is a direct
    /// jump.
    pub(super) fn back_edge(&mut self, block: usize, pc: u64) -> Option<(vir::Block, [Value; 2])> {
        let Back { back, .. } = self.exits.back?;
        let number = self.boundary.entry_number(block)?;
        if self.blocks.target(self.current, block) != self.blocks.entry(block) {
            return None;
        }
        let pc = self.code.address(pc);
        let number = self.code.integer(types::I32, number.into());
        Some((back, [pc, number]))
    }

    /// Leaves for a fault if an effect's status is not `Continue`. All such exits share one block:
    /// the fault has the address.
    pub(super) fn check_quickly(&mut self, status: Value, new_exec: Option<Value>) {
        let faulted = match self.exits.faulted {
            Some(faulted) => faulted,
            None => self.code.b.create_block(),
        };
        self.exits.faulted = Some(faulted);
        let good = self.code.b.create_block();
        match new_exec {
            None => {
                self.code.b.brif(status, faulted, &[], good, &[]);
            }
            Some(exec) => {
                let bad = self.code.b.create_block();
                self.code.b.set_cold_block(bad);
                self.code.b.brif(status, bad, &[], good, &[]);
                self.code.enter(bad);
                self.boundary.write_slot(&mut self.code, Slot::Exec, exec);
                self.code.b.jump(faulted, &[]);
            }
        }
        self.code.enter(good);
    }
}

/// The address of an access to global memory without its constant offset, if there is one and the
/// rest are two registers.
pub(super) fn moved(block: &Block, v: Val) -> Option<(Val, u32)> {
    let node = &block.nodes[v.index()];
    let (Op::Load(Space::Global, ..) | Op::Store(Space::Global, ..)) = node.op else {
        return None;
    };
    let (base, more) = parts(block, node.args[0]);
    let pair = &block.nodes[base.index()];
    let words = pair.op == Op::Pair && pair.ty.vary != Vary::Wave;
    (words && more != 0).then_some((base, more as u32))
}

impl Options {
    /// The options of the baseline tier: optimizations that save less time than they take to
    /// translate are disabled.
    pub(crate) fn of_baseline(&self) -> Options {
        Options {
            without: self.without | Forms::GATHERS | Forms::OFFSET_TABLES,
            baseline: true,
            ..*self
        }
    }

    /// Is a group of the segment's loops one host vector, regardless of free registers?
    pub(super) fn is_narrow(&self, segment: &Segment) -> bool {
        self.baseline && segment.nodes.len() <= SHORT
    }

    /// Does a segment's loop run without a test whether a lane of the group is active?
    pub(super) fn is_brief(&self, segment: &Segment) -> bool {
        self.has_own_form() && segment.nodes.len() <= BRIEF
    }

    /// Has a segment under EXEC only the masked loop? The wide back end's vectors merge in an
    /// instruction or two. A profile reports how often each form ran.
    pub(super) fn is_masked_alone(&self) -> bool {
        self.has_own_form() && !self.profile
    }

    /// Do loops have forms specific to the baseline tier? An explicit group size disables this.
    fn has_own_form(&self) -> bool {
        self.baseline && self.host.is_wide() && self.group.is_none()
    }

    /// Maximum number of loops with a second form in a region with this number of guest
    /// instructions and loops.
    pub(super) fn most_loops(&self, insts: usize, loops: usize) -> usize {
        let few = (insts / BETWEEN_LOOPS).clamp(1, FEW_LOOPS);
        match self.baseline {
            true if loops > LOOPS_FOR_ONE * few => 0,
            true => few,
            false => usize::MAX,
        }
    }
}
