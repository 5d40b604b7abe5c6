//! Where each virtual register is alive, and what it costs to keep it in memory.
//!
//! An instruction has four points: before it, where moves are inserted; where it reads; where it writes; and
//! behind it, again for moves.

use regalloc2::{Block, Function, Inst, OperandConstraint, OperandKind, PReg, VReg};

use super::super::inst::HostFunc;

/// Points of an instruction.
pub(super) const POINTS: u32 = 4;
/// Where it reads.
pub(super) const READ: u32 = 1;
/// Where it writes.
pub(super) const WRITE: u32 = 2;

/// From the first point to the one behind the last.
pub(super) type Range = (u32, u32);

/// The point before an instruction.
pub(super) fn before(inst: usize) -> u32 {
    inst as u32 * POINTS
}

/// What asks for registers: a virtual register, or one use or definition of one that lives in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Interval {
    /// Where it is alive, in order, with gaps between.
    pub(super) ranges: Vec<Range>,
    /// Uses and definitions, those in loops more often, by the length of its life.
    pub(super) weight: f32,
    /// It is defined in the register of an operand: the point before the instruction, and the operand.
    pub(super) tied: Option<(u32, VReg)>,
    /// Registers that would save moves.
    pub(super) wanted: Vec<PReg>,
    /// Virtual registers that are moved to it or from it where blocks meet.
    pub(super) partners: Vec<u32>,
}

/// How deep in loops each block lies.
fn depths(func: &HostFunc) -> Vec<u8> {
    let blocks = func.num_blocks();
    let mut depths = vec![0u8; blocks];
    let mut inside = vec![usize::MAX; blocks];
    for head in 0..blocks {
        let backs = func.block_preds(Block::new(head)).iter();
        let mut work: Vec<usize> = backs.map(|b| b.index()).filter(|&b| b >= head).collect();
        if work.is_empty() {
            continue;
        }
        inside[head] = head;
        depths[head] = depths[head].saturating_add(1);
        while let Some(b) = work.pop() {
            if b < head || inside[b] == head {
                continue;
            }
            inside[b] = head;
            depths[b] = depths[b].saturating_add(1);
            let preds = func.block_preds(Block::new(b)).iter();
            work.extend(preds.map(|p| p.index()));
        }
    }
    depths
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

struct Lives<'a> {
    func: &'a HostFunc,
    extents: Vec<Range>,
    /// Block and point of each definition.
    defs: Vec<(u32, u32)>,
    /// The virtual register that was last found alive at the end of each block.
    seen: Vec<u32>,
}

impl Lives<'_> {
    /// The ranges of a virtual register that is used before the given points of blocks.
    fn ranges(&mut self, v: u32, uses: &[(u32, u32)]) -> Vec<Range> {
        let (home, def) = self.defs[v as usize];
        let mut ranges: Vec<Range> = vec![(def, def + POINTS - def % POINTS)];
        let mut work = Vec::new();
        for &(block, end) in uses {
            if block == home && end > def {
                ranges[0].1 = ranges[0].1.max(end);
                continue;
            }
            ranges.push((self.extents[block as usize].0, end));
            work.push(block);
        }
        while let Some(block) = work.pop() {
            for pred in self.func.block_preds(Block::new(block as usize)) {
                let pred = pred.index();
                if std::mem::replace(&mut self.seen[pred], v) == v {
                    continue;
                }
                let (first, end) = self.extents[pred];
                if pred as u32 == home {
                    ranges[0].1 = end;
                } else {
                    ranges.push((first, end));
                    work.push(pred as u32);
                }
            }
        }
        if ranges.len() > 1 {
            ranges.sort_unstable();
            ranges.dedup_by(|next, last| {
                let joins = next.0 <= last.1;
                if joins {
                    last.1 = last.1.max(next.1);
                }
                joins
            });
        }
        ranges
    }
}

/// The intervals of all virtual registers, by their numbers.
pub(super) fn intervals(func: &HostFunc) -> Vec<Interval> {
    let count = func.num_vregs();
    let mut all = vec![Interval::default(); count];
    let extents = extents(func);
    let depths = depths(func);
    let mut defs = vec![(0, 0); count];
    // Uses by virtual register: block and the point behind.
    let mut uses: Vec<(u32, u32, u32)> = Vec::new();
    for (b, &(first, end)) in extents.iter().enumerate() {
        let block = Block::new(b);
        let worth = 10f32.powi(i32::from(depths[b].min(6)));
        for param in func.block_params(block) {
            defs[param.vreg()] = (b as u32, first);
        }
        for inst in func.range(b) {
            let at = before(inst);
            let operands = func.inst_operands(Inst::new(inst));
            for operand in operands {
                let v = operand.vreg().vreg();
                all[v].weight += worth;
                match operand.kind() {
                    OperandKind::Use => uses.push((v as u32, b as u32, at + READ + 1)),
                    OperandKind::Def => defs[v] = (b as u32, at + WRITE),
                }
                match operand.constraint() {
                    OperandConstraint::FixedReg(preg) => all[v].wanted.push(preg),
                    OperandConstraint::Reuse(n) => all[v].tied = Some((at, operands[n].vreg())),
                    _ => {}
                }
            }
        }
        for (k, to) in func.block_succs(block).iter().enumerate() {
            let last = Inst::new(func.range(b).end - 1);
            let args = func.branch_blockparams(block, last, k).iter();
            for (arg, param) in args.zip(func.block_params(*to)) {
                uses.push((arg.vreg() as u32, b as u32, end));
                all[arg.vreg()].weight += worth;
                all[param.vreg()].weight += worth;
                all[arg.vreg()].partners.push(param.vreg() as u32);
                all[param.vreg()].partners.push(arg.vreg() as u32);
            }
        }
    }
    uses.sort_unstable();
    let mut lives = Lives {
        func,
        seen: vec![u32::MAX; extents.len()],
        extents,
        defs,
    };
    let mut rest = &uses[..];
    for (v, interval) in all.iter_mut().enumerate() {
        let mine = rest.partition_point(|&(w, ..)| w as usize <= v);
        let points: Vec<(u32, u32)> = rest[..mine].iter().map(|&(_, b, p)| (b, p)).collect();
        rest = &rest[mine..];
        interval.ranges = lives.ranges(v as u32, &points);
        let length: u32 = interval.ranges.iter().map(|r| r.1 - r.0).sum();
        interval.weight /= length.max(1) as f32;
    }
    all
}
