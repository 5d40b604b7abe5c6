//! Live intervals of virtual registers, and the cost of spilling them.
//!
//! An instruction has four points: before it, where moves are inserted; its reads; its writes; and
//! after it, again for moves.

use regalloc2::{Block, Function, Inst, OperandConstraint, OperandKind, PReg, RegClass, VReg};

use super::super::inst::HostFunc;
use super::Lists;

/// Points of an instruction.
pub(super) const POINTS: u32 = 4;
/// Point of its reads.
pub(super) const READ: u32 = 1;
/// Point of its writes.
pub(super) const WRITE: u32 = 2;

/// From the first point to the one after the last.
pub(super) type Range = (u32, u32);

/// The point before an instruction.
pub(super) fn before(inst: usize) -> u32 {
    inst as u32 * POINTS
}

/// A unit of allocation: a virtual register, or one use or definition of a spilled one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interval {
    /// Its live ranges, as a part of [`Intervals::ranges`]. Empty for the results of removed
    /// instructions.
    pub(super) ranges: (u32, u32),
    /// Spill weight: uses and definitions, weighted by loop depth, divided by the length of its
    /// lifetime.
    pub(super) weight: f32,
    /// It is defined in the register of an operand: the point before the instruction, and the
    /// operand.
    pub(super) tied: Option<(u32, VReg)>,
}

/// All intervals.
pub(super) struct Intervals {
    /// Those of the virtual registers, then of single uses and definitions.
    pub(super) all: Vec<Interval>,
    /// Their classes.
    pub(super) classes: Vec<RegClass>,
    /// Their live ranges, in order, with gaps between.
    ranges: Vec<Range>,
    /// Register hints that would save moves.
    pub(super) hints: Lists<PReg>,
    /// Virtual registers that are moved to or from another on block edges.
    pub(super) partners: Lists<u32>,
    /// Instructions with fixed or clobbered registers.
    pub(super) fixed: Vec<u32>,
}

impl Intervals {
    /// The live ranges of an interval.
    #[inline]
    pub(super) fn ranges(&self, n: u32) -> &[Range] {
        let (first, end) = self.all[n as usize].ranges;
        &self.ranges[first as usize..end as usize]
    }

    /// Adds an interval for a single use or definition.
    pub(super) fn shorten(&mut self, class: RegClass, range: Range) -> u32 {
        let first = self.ranges.len() as u32;
        self.ranges.push(range);
        self.all.push(Interval {
            ranges: (first, first + 1),
            ..Interval::default()
        });
        self.classes.push(class);
        self.all.len() as u32 - 1
    }
}

/// First and last point of each block.
fn extents(func: &HostFunc) -> Vec<Range> {
    (0..func.num_blocks())
        .map(|b| {
            let range = func.range(b);
            (before(range.start), before(range.end))
        })
        .collect()
}

/// Stands for a missing definition.
const UNDEFINED: (u32, u32) = (u32::MAX, u32::MAX);

struct Lives<'a> {
    func: &'a HostFunc,
    extents: Vec<Range>,
    /// Block and point of each definition.
    defs: Vec<(u32, u32)>,
    /// For each virtual register the blocks that use it, and the point after the last use in each.
    uses: Lists<(u32, u32)>,
    /// Blocks in which the current virtual register is live, except the defining one, as bits; and
    /// up to which point.
    alive: Vec<u64>,
    until: Vec<u32>,
    work: Vec<u32>,
}

impl Lives<'_> {
    /// Notes a use of a virtual register in a block before a point; points ascend within a block.
    fn note(&mut self, v: usize, block: u32, point: u32) {
        match self.uses.last_mut(v) {
            Some(last) if last.0 == block => last.1 = point,
            _ => self.uses.push(v, (block, point)),
        }
    }

    /// Appends the live ranges of a virtual register.
    fn ranges(&mut self, v: u32, ranges: &mut Vec<Range>) {
        let (home, def) = self.defs[v as usize];
        let mut first = (def, def + POINTS - def % POINTS);
        // The last block in which it is live.
        let mut last = home;
        for (block, end) in self.uses.iter(v as usize) {
            if block == home && end > def {
                first.1 = first.1.max(end);
            } else {
                self.alive[block as usize / 64] |= 1 << (block % 64);
                self.until[block as usize] = end;
                self.work.push(block);
                last = last.max(block);
            }
        }
        while let Some(block) = self.work.pop() {
            for pred in self.func.block_preds(Block::new(block as usize)) {
                let pred = pred.index();
                let end = self.extents[pred].1;
                if pred as u32 == home {
                    first.1 = end;
                    continue;
                }
                let (word, bit) = (&mut self.alive[pred / 64], 1 << (pred % 64));
                if *word & bit == 0 {
                    *word |= bit;
                    self.work.push(pred as u32);
                    last = last.max(pred as u32);
                }
                self.until[pred] = end;
            }
        }
        ranges.push(first);
        self.collect(home as usize / 64, last as usize / 64, ranges);
    }

    /// Appends the ranges in the blocks where it is live, coalesced where they touch, and clears
    /// them.
    fn collect(&mut self, from: usize, to: usize, ranges: &mut Vec<Range>) {
        for word in from..=to {
            let mut left = std::mem::take(&mut self.alive[word]);
            while left != 0 {
                let block = 64 * word + left.trailing_zeros() as usize;
                left &= left - 1;
                let (start, end) = (self.extents[block].0, self.until[block]);
                match ranges.last_mut() {
                    Some(last) if start <= last.1 => last.1 = last.1.max(end),
                    _ => ranges.push((start, end)),
                }
            }
        }
    }
}

/// The intervals of all virtual registers, by number.
pub(super) fn intervals(func: &HostFunc) -> Intervals {
    let count = func.num_vregs();
    let mut i = Intervals {
        all: vec![Interval::default(); count],
        classes: vec![RegClass::Int; count],
        ranges: Vec::with_capacity(count + count / 4),
        hints: Lists::new(count),
        partners: Lists::new(count),
        fixed: Vec::new(),
    };
    let extents = extents(func);
    let depths = func.depths();
    let mut lives = Lives {
        func,
        alive: vec![0; extents.len().div_ceil(64)],
        until: vec![0; extents.len()],
        extents,
        defs: vec![UNDEFINED; count],
        uses: Lists::new(count),
        work: Vec::new(),
    };
    for (b, &depth) in depths.iter().enumerate() {
        let (first, end) = lives.extents[b];
        let block = Block::new(b);
        let worth = 10f32.powi(i32::from(depth.min(6)));
        for param in func.block_params(block) {
            lives.defs[param.vreg()] = (b as u32, first);
            i.classes[param.vreg()] = param.class();
        }
        for inst in func.range(b) {
            let at = before(inst);
            let operands = func.inst_operands(Inst::new(inst));
            let mut fixed = func.clobbers(inst);
            for operand in operands {
                let v = operand.vreg().vreg();
                i.all[v].weight += worth;
                match operand.kind() {
                    OperandKind::Use => lives.note(v, b as u32, at + READ + 1),
                    OperandKind::Def => {
                        lives.defs[v] = (b as u32, at + WRITE);
                        i.classes[v] = operand.class();
                    }
                }
                match operand.constraint() {
                    OperandConstraint::FixedReg(preg) => {
                        i.hints.push(v, preg);
                        fixed = true;
                    }
                    OperandConstraint::Reuse(n) => i.all[v].tied = Some((at, operands[n].vreg())),
                    _ => {}
                }
            }
            if fixed {
                i.fixed.push(inst as u32);
            }
        }
        for (k, to) in func.block_succs(block).iter().enumerate() {
            let last = Inst::new(func.range(b).end - 1);
            let args = func.branch_blockparams(block, last, k).iter();
            for (arg, param) in args.zip(func.block_params(*to)) {
                let (arg, param) = (arg.vreg(), param.vreg());
                lives.note(arg, b as u32, end);
                i.all[arg].weight += worth;
                i.all[param].weight += worth;
                i.partners.push(arg, param as u32);
                i.partners.push(param, arg as u32);
            }
        }
    }
    for v in 0..count {
        if lives.defs[v] == UNDEFINED {
            continue;
        }
        let first = i.ranges.len();
        lives.ranges(v as u32, &mut i.ranges);
        let length: u32 = i.ranges[first..].iter().map(|r| r.1 - r.0).sum();
        i.all[v].ranges = (first as u32, i.ranges.len() as u32);
        i.all[v].weight /= length.max(1) as f32;
    }
    i
}
