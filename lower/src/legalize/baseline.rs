//! Code of the baseline tier: little rather than fast, for the first translation of a region, which a wave
//! waits for.

use frontend::op::Space;

use super::Emitter;
use super::fuse::parts;
use crate::abi::ExitCode;
use crate::analysis::schedule::Segment;
use crate::ir::{Block, Op, Slot, Val, Vary};
use crate::options::{Forms, Options};
use crate::vir::{self, IntCC, Type, Value, types};

/// Most loops of a region that run inside the lane groups or lane by lane. Each is there twice, and kernels seldom have
/// more; where they have, the second forms would take most of the time of translation.
const FEW_LOOPS: usize = 16;

/// Guest instructions of a region for each of them.
const BETWEEN_LOOPS: usize = 64;

/// Loops of a region for each that may be there twice, at most: where there are more, which of them run long is anyone's guess,
/// and all are there once.
const LOOPS_FOR_ONE: usize = 8;

/// Nodes of a segment of which the host has several groups under way at once, whether they are written side by side
/// or not.
const SHORT: usize = 48;

/// Nodes of a segment that are computed as fast as it is found that no lane of a group wants them.
const BRIEF: usize = 16;

/// Where little code goes back in a region, with the number of the entry and its address.
#[derive(Clone, Copy)]
pub(super) struct Back {
    /// Finds the way to an entry, by its number (I32).
    ways: vir::Block,
    /// Burns fuel before that: all ways back come by here, with the address (I64) and the number.
    back: vir::Block,
}

impl Emitter<'_> {
    /// An integer. In little code one that was asked for before is the same value: it is less to look it up than to
    /// emit it anew, and who selects instructions makes it where it is used.
    pub(super) fn integer(&mut self, ty: Type, n: i64) -> Value {
        if !self.o.baseline {
            return self.b.iconst(ty, n);
        }
        *self
            .numbers
            .entry((ty, n))
            .or_insert_with(|| self.b.iconst_at_entry(ty, n))
    }

    /// An address so many bytes behind another one.
    pub(super) fn offset_by(&mut self, base: Value, bytes: i32) -> Value {
        if self.o.baseline && bytes == 0 {
            return base;
        }
        let bytes = self.integer(types::I64, bytes.into());
        self.b.iadd(base, bytes)
    }

    /// A pair of scalar registers, which lie in the wave, as one value; nothing where the node is none.
    pub(super) fn resident_pair(&mut self, block: &Block, v: Val) -> Option<Value> {
        let node = &block.nodes[v.index()];
        if !self.o.baseline || node.op != Op::Pair {
            return None;
        }
        // In a loop's other form a register may be known that is not what the wave has.
        let register = |v: Val| match block.nodes[v.index()].op {
            Op::ReadS(Slot::Sgpr(n)) if !self.scalars.contains_key(&v) => Some(n),
            _ => None,
        };
        let [low, high] = [0, 1].map(|i| register(node.args[i]));
        let low = low.filter(|low| high == Some(low + 1))?;
        Some(self.load_pair(low))
    }

    /// Finds the accesses of a block that go to the runtime with two registers and a constant that it adds to both.
    pub(super) fn find_moved(&mut self, block: &Block) {
        for &v in &block.effects {
            if self.affine.contains_key(&v) {
                continue;
            }
            if let Some((base, _)) = moved(block, v) {
                let words = block.nodes[base.index()].args.iter();
                self.leaves.insert(v, words.copied().collect());
            }
        }
    }

    /// The address of an access that goes to the runtime, and the constant that it adds to that.
    pub(super) fn address_and_more(&self, block: &Block, v: Val) -> (Val, u32) {
        let moved = self.leaves.get(&v).and_then(|_| moved(block, v));
        moved.unwrap_or((block.nodes[v.index()].args[0], 0))
    }

    /// Writes the scalar slots of a block of little code to the wave, the halves of a value at once.
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
        // Who writes to the wave must have read all first.
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
                true => self.store_pair(slot, v),
                false => self.write_slot(slot, v),
            }
        }
    }

    /// Begins the ways to the entries of little code, by the number in `entry` (I32).
    pub(super) fn begin_entries(&mut self, entry: Value, targets: &[usize]) {
        let [ways, back] = [(); 2].map(|()| self.b.create_block());
        let number = self.b.append_block_param(ways, types::I32);
        self.b.append_block_param(back, types::I64);
        self.b.append_block_param(back, types::I32);
        self.b.jump(ways, &[entry]);
        self.b.switch_to_block(ways);
        let targets: Vec<vir::Block> = targets.iter().map(|&to| self.blocks[to]).collect();
        self.dispatch_entry(number, 0, &targets);
        self.back = Some(Back { ways, back });
    }

    /// Where a jump back to a block goes in little code, and with what; nothing where it goes straight there.
    pub(super) fn back_edge(&mut self, block: usize, pc: u64) -> Option<(vir::Block, [Value; 2])> {
        let Back { back, .. } = self.back?;
        let &number = self.entry_numbers.get(&block)?;
        if self.way_to(block) != self.blocks[block] {
            return None;
        }
        let pc = self.address(pc);
        let number = self.integer(types::I32, number.into());
        Some((back, [pc, number]))
    }

    /// Leaves for a fault when an effect's status is not `Continue`. All do that in one place: the fault has the address.
    pub(super) fn check_quickly(&mut self, status: Value, new_exec: Option<Value>) {
        let faulted = match self.faulted {
            Some(faulted) => faulted,
            None => self.b.create_block(),
        };
        self.faulted = Some(faulted);
        let good = self.b.create_block();
        match new_exec {
            None => {
                self.b.brif(status, faulted, &[], good, &[]);
            }
            Some(exec) => {
                let bad = self.b.create_block();
                self.b.set_cold_block(bad);
                self.b.brif(status, bad, &[], good, &[]);
                self.enter(bad);
                self.write_slot(Slot::Exec, exec);
                self.b.jump(faulted, &[]);
            }
        }
        self.enter(good);
    }

    /// Where the ways for a fault come together.
    pub(super) fn end_faulted(&mut self) {
        let Some(faulted) = self.faulted else {
            return;
        };
        self.b.switch_to_block(faulted);
        self.b.set_cold_block(faulted);
        let code = self.integer(types::I64, i64::from(ExitCode::Fault as u32));
        self.b.return_(code);
    }

    /// What all ways back come by.
    pub(super) fn end_entries(&mut self) {
        let Some(Back { ways, back }) = self.back else {
            return;
        };
        self.b.switch_to_block(back);
        let &[pc, number] = self.b.block_params(back) else {
            unreachable!("it has two");
        };
        let left = self.take_fuel();
        let tired = self.b.create_block();
        self.b.set_cold_block(tired);
        let zero = self.integer(types::I32, 0);
        let some = self.b.icmp(IntCC::SignedGreaterThan, left, zero);
        let to = [number];
        self.b.brif(some, ways, &to, tired, &[]);
        self.b.switch_to_block(tired);
        self.set_resume(number);
        let code = self.integer(types::I64, i64::from(ExitCode::Yield as u32));
        self.return_at(pc, code);
    }

    /// Goes on in a block to which all ways are there. Told of that, the builder finds variables in it where they were
    /// written; else it would give the block a parameter for each and take them back at the end. In code that is not
    /// little the parameters' order, and so the choice of registers, stays what it is.
    pub(super) fn enter(&mut self, block: vir::Block) {
        self.b.switch_to_block(block);
        self.seal(block);
    }

    /// Finds which blocks' code leads to which others. Of a loop in two forms the other form stands with its first
    /// block.
    pub(super) fn find_predecessors(&mut self) {
        let count = self.f.blocks.len();
        let mut stands: Vec<usize> = (0..count).collect();
        for &(head, block) in &self.inside {
            stands[block] = stands[block].max(head);
        }
        self.led_by = vec![None; count];
        for (from, block) in self.f.blocks.iter().enumerate() {
            for to in block.term.targets().filter_map(|t| t.block()) {
                self.led_by[to] = self.led_by[to].max(Some(stands[from]));
            }
        }
    }

    /// Are all ways to a block there when it begins?
    pub(super) fn is_led_to(&self, index: usize) -> bool {
        self.led_by[index] < Some(index) && !self.heads.contains_key(&index)
    }

    /// All ways to a block are there.
    pub(super) fn seal(&mut self, block: vir::Block) {
        if self.o.baseline {
            self.b.seal_block(block);
        }
    }
}

/// The address of an access of global memory without the constant in it, if there is one and the rest are two registers.
fn moved(block: &Block, v: Val) -> Option<(Val, u32)> {
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
    /// As these, but for little code: what saves less time than it takes to be translated is not made.
    pub(crate) fn of_baseline(&self) -> Options {
        Options {
            without: self.without | Forms::GATHERS | Forms::OFFSET_TABLES,
            baseline: true,
            ..*self
        }
    }

    /// Does one host vector make a group of the segment's loops, however many there is space for?
    pub(super) fn is_narrow(&self, segment: &Segment) -> bool {
        self.baseline && segment.nodes.len() <= SHORT
    }

    /// Is a segment's loop to be made without a look at whether some lane of the group is on?
    pub(super) fn is_brief(&self, segment: &Segment) -> bool {
        self.has_own_form() && segment.nodes.len() <= BRIEF
    }

    /// Has a segment whose lanes may be off one loop only, the masked one? Vectors of the wide back end merge in an
    /// instruction or two. A profile tells how often each form ran.
    pub(super) fn is_masked_alone(&self) -> bool {
        self.has_own_form() && !self.profile
    }

    /// Do loops of little code have forms that others have not? Who names a group wants loops of such groups.
    fn has_own_form(&self) -> bool {
        self.baseline && self.wide && self.group.is_none()
    }

    /// Most loops in two forms in a region of so many guest instructions and loops.
    pub(super) fn most_loops(&self, insts: usize, loops: usize) -> usize {
        let few = (insts / BETWEEN_LOOPS).clamp(1, FEW_LOOPS);
        match self.baseline {
            true if loops > LOOPS_FOR_ONE * few => 0,
            true => few,
            false => usize::MAX,
        }
    }
}
