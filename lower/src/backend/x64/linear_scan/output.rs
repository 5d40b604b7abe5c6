//! The result: the location of every operand, and the moves between.

use regalloc2::{
    Allocation, Block, Edit, Function, Inst, OperandConstraint, OperandKind, Output, PReg,
    ProgPoint, RegClass, SpillSlot, VReg,
};

use super::intervals::{POINTS, before};
use super::{Home, Scan, class_index, moves, preg};
use crate::backend::x64::inst::FREE;
use crate::backend::x64::inst::{MASK, vector_count, vector_words};

impl Scan<'_> {
    /// Stack layout in 8-byte words: vectors first, which span several, then one for moves in a
    /// cycle and one for a borrowed register, then those of general and mask registers.
    fn stack(&self, class: RegClass, n: u32) -> Allocation {
        let (vectors, words) = (self.slots[1].len(), vector_words(self.func.isa));
        let at = match class {
            RegClass::Int | MASK => words * (vectors + 2) + n as usize,
            RegClass::Float => words * n as usize,
        };
        Allocation::stack(SpillSlot::new(at))
    }

    /// The location of an interval.
    fn allocation(&self, n: u32) -> Allocation {
        match self.homes[n as usize] {
            Home::Reg(preg) => Allocation::reg(preg),
            Home::Slot(slot) => self.stack(self.intervals.classes[n as usize], slot),
            Home::Nowhere => unreachable!("bug: an interval without a place"),
        }
    }

    /// A general or vector register that is free at a point.
    fn idle(
        &self,
        class: RegClass,
        point: u32,
        moves: &[(Allocation, Allocation)],
    ) -> Option<PReg> {
        let pregs = (0..usize::from(vector_count(self.func.isa)))
            .filter(|&r| class == RegClass::Float || FREE.contains(&(r as u8)));
        let mut pregs = pregs.map(|r| preg(class, r));
        pregs.find(|preg| {
            let taken = &self.taken[class_index(class)][preg.hw_enc()];
            let here = Allocation::reg(*preg);
            taken.is_free((point, point + 1), |_| false)
                && moves.iter().all(|&(from, to)| from != here && to != here)
        })
    }

    /// The moves on an edge for the block's arguments.
    fn edge(&self, pairs: &[(VReg, VReg)], point: u32, edits: &mut Vec<(ProgPoint, Edit)>) {
        if pairs.is_empty() {
            return;
        }
        let at = ProgPoint::before(Inst::new((point / POINTS) as usize));
        // General and mask registers share stack slots, so a source may be another's destination.
        let is_vector = |v: VReg| v.class() == RegClass::Float;
        for vectors in [false, true] {
            let aside = self.stack(RegClass::Float, self.slots[1].len() as u32);
            let borrowed = self.stack(RegClass::Float, self.slots[1].len() as u32 + 1);
            let class = if vectors {
                RegClass::Float
            } else {
                RegClass::Int
            };
            let pairs = pairs.iter().filter(|(_, to)| is_vector(*to) == vectors);
            let places = |v: VReg| self.allocation(v.vreg() as u32);
            let moves = pairs.map(|&(arg, param)| (places(arg), places(param)));
            let moves: Vec<_> = moves.filter(|(from, to)| from != to).collect();
            if moves.is_empty() {
                continue;
            }
            let all = moves.clone();
            for (from, to) in moves::in_order(moves, |_| aside) {
                let mut push = |from, to| edits.push((at, Edit::Move { from, to }));
                if from.is_reg() || to.is_reg() {
                    push(from, to);
                    continue;
                }
                // From stack to stack through a register.
                match self.idle(class, point, &all) {
                    Some(preg) => {
                        push(from, Allocation::reg(preg));
                        push(Allocation::reg(preg), to);
                    }
                    None => {
                        let via = Allocation::reg(preg(class, usize::from(FREE[0])));
                        push(via, borrowed);
                        push(from, via);
                        push(via, to);
                        push(borrowed, via);
                    }
                }
            }
        }
    }

    /// The result in `regalloc2`'s form.
    pub(super) fn output(&self) -> Output {
        let func = self.func;
        let mut edits: Vec<(ProgPoint, Edit)> = Vec::with_capacity(func.num_insts() / 2);
        let mut allocs = Vec::with_capacity(3 * func.num_insts());
        let mut offsets = Vec::with_capacity(func.num_insts());
        for b in 0..func.num_blocks() {
            let block = Block::new(b);
            let range = func.range(b);
            if let [pred] = func.block_preds(block)
                && func.block_succs(*pred).len() > 1
            {
                // The moves of an edge from a block with several successors are at its target.
                let succs = func.block_succs(*pred);
                let k = succs.iter().position(|to| *to == block);
                let last = Inst::new(func.range(pred.index()).end - 1);
                let args = func.branch_blockparams(*pred, last, k.unwrap_or(0)).iter();
                let pairs = args.copied().zip(func.block_params(block).iter().copied());
                self.edge(&pairs.collect::<Vec<_>>(), before(range.start), &mut edits);
            }
            for inst in range.clone() {
                if inst + 1 == range.end
                    && let [to] = func.block_succs(block)
                {
                    let args = func.branch_blockparams(block, Inst::new(inst), 0).iter();
                    let pairs = args.copied().zip(func.block_params(*to).iter().copied());
                    self.edge(&pairs.collect::<Vec<_>>(), before(inst), &mut edits);
                }
                offsets.push(allocs.len() as u32);
                self.inst(inst, &mut allocs, &mut edits);
            }
        }
        let words = vector_words(func.isa) * (self.slots[1].len() + 2) + self.slots[0].len();
        let spilled = !self.short[0].is_empty() || !self.short[1].is_empty();
        let moved = |(_, Edit::Move { from, to }): &(_, Edit)| from.is_stack() || to.is_stack();
        Output {
            num_spillslots: if spilled || edits.iter().any(moved) {
                words
            } else {
                0
            },
            edits,
            allocs,
            inst_alloc_offsets: offsets,
            ..Output::default()
        }
    }

    /// Registers of an instruction's operands, and the moves around it.
    fn inst(&self, inst: usize, allocs: &mut Vec<Allocation>, edits: &mut Vec<(ProgPoint, Edit)>) {
        let operands = self.func.inst_operands(Inst::new(inst));
        let first = allocs.len();
        let (point_before, point_after) = (
            ProgPoint::before(Inst::new(inst)),
            ProgPoint::after(Inst::new(inst)),
        );
        let mut later: Vec<(ProgPoint, Edit)> = Vec::new();
        let push = |edits: &mut Vec<_>, at, from: Allocation, to: Allocation| {
            if from != to {
                edits.push((at, Edit::Move { from, to }));
            }
        };
        // Is an operand tied, or on the stack?
        let (mut tied, mut stacked) = (false, false);
        for operand in operands {
            let v = operand.vreg().vreg() as u32;
            let home = self.allocation(v);
            tied |= matches!(operand.constraint(), OperandConstraint::Reuse(_));
            stacked |= home.is_stack();
            // Only spilled registers have short intervals.
            let short = |kind: usize| match home.is_stack() {
                true => {
                    let n = self.short[kind].get(&(inst as u32, v));
                    n.map_or(home, |&n| self.allocation(n))
                }
                false => home,
            };
            allocs.push(match (operand.kind(), operand.constraint()) {
                (OperandKind::Use, OperandConstraint::FixedReg(preg)) => {
                    push(edits, point_before, home, Allocation::reg(preg));
                    Allocation::reg(preg)
                }
                (OperandKind::Def, OperandConstraint::FixedReg(preg)) => {
                    push(&mut later, point_after, Allocation::reg(preg), home);
                    Allocation::reg(preg)
                }
                // A spilled tied operand gets its location below.
                (OperandKind::Use, _) => short(0),
                (OperandKind::Def, _) => {
                    push(&mut later, point_after, short(1), home);
                    short(1)
                }
            });
        }
        for (k, operand) in operands.iter().enumerate().filter(|_| tied) {
            if let OperandConstraint::Reuse(n) = operand.constraint() {
                let to = allocs[first + k];
                let from = self.allocation(operands[n].vreg().vreg() as u32);
                push(edits, point_before, from, to);
                allocs[first + n] = to;
            }
        }
        // Reads from the stack, once each.
        let mut read = Vec::new();
        for operand in operands.iter().filter(|_| stacked) {
            let v = operand.vreg().vreg() as u32;
            if self.allocation(v).is_stack()
                && let Some(&n) = self.short[0].get(&(inst as u32, v))
                && !read.contains(&n)
            {
                push(edits, point_before, self.allocation(v), self.allocation(n));
                read.push(n);
            }
        }
        edits.append(&mut later);
    }
}
