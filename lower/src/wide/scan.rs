//! Registers by a linear scan: intervals in the order in which they begin take the first register that is free
//! as long as they live. Where none is, the cheapest to keep in memory goes there, with a short interval for
//! each of its uses and definitions. Much faster than `regalloc2`'s own allocators, whose checker accepts what
//! comes out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use regalloc2::{Block, Function, Inst, OperandConstraint, OperandKind, Output, PReg, RegClass};

use super::alloc::{FREE, KEPT};
use super::inst::{HostFunc, Op, general, vector};
use crate::maps::HashMap;

mod live;
mod moves;
mod output;

use live::{Interval, POINTS, READ, Range, WRITE, before};

/// Who has a register for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// An interval.
    Interval(u32),
    /// An instruction that wants this virtual register there.
    Fixed(u32),
    /// An instruction that destroys what is there.
    Clobber,
}

/// Begin to end and owner of the times when a register is taken.
type Taken = BTreeMap<u32, (u32, Owner)>;

/// Where an interval lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Nowhere,
    Reg(PReg),
    /// A word of the stack, by its number.
    Slot(u32),
}

struct Scan<'a> {
    func: &'a HostFunc,
    /// Of the virtual registers, then of single uses and definitions.
    intervals: Vec<Interval>,
    homes: Vec<Home>,
    classes: Vec<RegClass>,
    /// Does a tied interval begin before its instruction, in a register that is not its operand's?
    copied: Vec<bool>,
    /// The interval that follows a tied operand in its register, by that operand.
    heirs: Vec<Option<u32>>,
    /// By class and number.
    taken: [Vec<Taken>; 2],
    /// From where on each is surely free.
    until: [[u32; 16]; 2],
    /// Points where calls write.
    calls: Vec<u32>,
    /// Instructions that read or write each virtual register, only counted for those that are spilled.
    places: Option<Vec<Vec<u32>>>,
    /// Short intervals, by instruction and virtual register; reads, then writes.
    short: [HashMap<(u32, u32), u32>; 2],
    /// When words of the stack are taken, by class; vectors have several words each.
    slots: [Vec<Taken>; 2],
    queue: BinaryHeap<Reverse<(u32, u32)>>,
}

fn class_index(class: RegClass) -> usize {
    usize::from(class != RegClass::Int)
}

fn preg(class: RegClass, n: usize) -> PReg {
    match class {
        RegClass::Int => general(n as u8),
        _ => vector(n as u8),
    }
}

/// What has a register at some time within a range.
fn conflicts(taken: &Taken, (start, end): Range) -> impl Iterator<Item = (u32, Owner)> + '_ {
    let before = taken.range(..end).rev();
    before
        .take_while(move |(_, (until, _))| *until > start)
        .map(|(&at, &(_, owner))| (at, owner))
}

/// Gives every operand a register, or says why it cannot.
pub(super) fn allocate(func: &HostFunc) -> Result<Output, String> {
    let mut scan = Scan::new(func);
    scan.fix();
    while let Some(Reverse((_, n))) = scan.queue.pop() {
        if scan.homes[n as usize] == Home::Nowhere {
            scan.place(n)?;
        }
    }
    Ok(scan.output())
}

impl<'a> Scan<'a> {
    fn new(func: &'a HostFunc) -> Scan<'a> {
        let intervals = live::intervals(func);
        let mut classes = vec![RegClass::Int; intervals.len()];
        for inst in 0..func.num_insts() {
            for operand in func.inst_operands(Inst::new(inst)) {
                classes[operand.vreg().vreg()] = operand.class();
            }
        }
        for block in 0..func.num_blocks() {
            for param in func.block_params(Block::new(block)) {
                classes[param.vreg()] = param.class();
            }
        }
        let begin = |i: &Interval| i.tied.map_or(i.ranges[0].0, |(at, _)| at);
        let queue = intervals.iter().enumerate();
        let queue = queue.map(|(n, i)| Reverse((begin(i), n as u32))).collect();
        Scan {
            func,
            homes: vec![Home::Nowhere; intervals.len()],
            copied: vec![false; intervals.len()],
            heirs: vec![None; intervals.len()],
            until: [[0; 16]; 2],
            intervals,
            classes,
            taken: [vec![Taken::new(); 16], vec![Taken::new(); 16]],
            calls: Vec::new(),
            places: None,
            short: [HashMap::default(), HashMap::default()],
            slots: [Vec::new(), Vec::new()],
            queue,
        }
    }

    /// Takes the registers that instructions name.
    fn fix(&mut self) {
        for inst in 0..self.func.num_insts() {
            let at = before(inst);
            for operand in self.func.inst_operands(Inst::new(inst)) {
                let OperandConstraint::FixedReg(preg) = operand.constraint() else {
                    continue;
                };
                let (start, end) = match operand.kind() {
                    OperandKind::Use => (at, at + READ + 1),
                    OperandKind::Def => (at + WRITE, at + POINTS),
                };
                let owner = Owner::Fixed(operand.vreg().vreg() as u32);
                self.take(preg, (start, end), owner);
            }
            if self.func.insts[inst].op == Op::Call {
                // There are many, and they spare only KEPT: who lives across one is told what it may have.
                self.calls.push(at + WRITE);
                continue;
            }
            for preg in self.func.inst_clobbers(Inst::new(inst)) {
                self.take(preg, (at + WRITE, at + POINTS), Owner::Clobber);
            }
        }
    }

    /// Takes a register for some time.
    fn take(&mut self, preg: PReg, (start, end): Range, owner: Owner) {
        let (class, n) = (class_index(preg.class()), preg.hw_enc());
        self.taken[class][n].insert(start, (end, owner));
        self.until[class][n] = self.until[class][n].max(end);
    }

    /// When an interval has its register: from before its instruction, when it is copied there.
    fn ranges(&self, n: u32) -> impl Iterator<Item = Range> + '_ {
        let interval = &self.intervals[n as usize];
        let lead = interval.tied.filter(|_| self.copied[n as usize]);
        let mut ranges = interval.ranges.iter().copied();
        let first = ranges.next().map(|(start, end)| match lead {
            Some((at, _)) => (at, end),
            None => (start, end),
        });
        first.into_iter().chain(ranges)
    }

    /// The virtual register that an interval is, for what instructions fix.
    fn is_mine(&self, n: u32, owner: Owner) -> bool {
        owner == Owner::Interval(n) || owner == Owner::Fixed(n)
    }

    fn is_free(&self, n: u32, preg: PReg) -> bool {
        if self.begin(n) >= self.until[class_index(preg.class())][preg.hw_enc()] {
            return true;
        }
        let taken = &self.taken[class_index(preg.class())][preg.hw_enc()];
        let mut ranges = self.ranges(n);
        ranges.all(|range| conflicts(taken, range).all(|(_, owner)| self.is_mine(n, owner)))
    }

    fn assign(&mut self, n: u32, preg: PReg) {
        let ranges: Vec<Range> = self.ranges(n).collect();
        let taken = &mut self.taken[class_index(preg.class())][preg.hw_enc()];
        for (start, end) in ranges {
            // What an instruction fixes for the same virtual register is within it.
            let inner: Vec<u32> = conflicts(taken, (start, end)).map(|(at, _)| at).collect();
            for at in inner {
                taken.remove(&at);
            }
            taken.insert(start, (end, Owner::Interval(n)));
            let until = &mut self.until[class_index(preg.class())][preg.hw_enc()];
            *until = end.max(*until);
        }
        self.homes[n as usize] = Home::Reg(preg);
    }

    /// Takes an interval out of its register.
    fn unassign(&mut self, n: u32) {
        let Home::Reg(preg) = self.homes[n as usize] else {
            return;
        };
        let ranges: Vec<Range> = self.ranges(n).collect();
        let taken = &mut self.taken[class_index(preg.class())][preg.hw_enc()];
        for (start, _) in ranges {
            taken.remove(&start);
        }
        self.homes[n as usize] = Home::Nowhere;
        self.refix(n, preg);
        if let Some((_, operand)) = self.intervals[n as usize].tied
            && self.heirs[operand.vreg()] == Some(n)
        {
            self.heirs[operand.vreg()] = None;
        }
        self.copied[n as usize] = false;
        // Who was to follow in the same register looks for another.
        let heirs = self.heirs.get_mut(n as usize);
        if let Some(heir) = heirs.and_then(Option::take) {
            self.unassign(heir);
            self.queue.push(Reverse((self.begin(heir), heir)));
        }
    }

    /// Takes a register again where instructions fix it for a virtual register that left it.
    fn refix(&mut self, n: u32, preg: PReg) {
        if !self.intervals[n as usize].wanted.contains(&preg) {
            return;
        }
        for inst in self.places_of(n) {
            let at = before(inst as usize);
            for operand in self.func.inst_operands(Inst::new(inst as usize)) {
                if operand.vreg().vreg() != n as usize
                    || operand.constraint() != OperandConstraint::FixedReg(preg)
                {
                    continue;
                }
                let (start, end) = match operand.kind() {
                    OperandKind::Use => (at, at + READ + 1),
                    OperandKind::Def => (at + WRITE, at + POINTS),
                };
                self.take(preg, (start, end), Owner::Fixed(n));
            }
        }
    }

    fn begin(&self, n: u32) -> u32 {
        let interval = &self.intervals[n as usize];
        interval.tied.map_or(interval.ranges[0].0, |(at, _)| at)
    }

    fn is_short(&self, n: u32) -> bool {
        n as usize >= self.func.num_vregs()
    }

    /// Does a call come while the interval lives?
    fn crosses_call(&self, n: u32) -> bool {
        self.ranges(n).any(|(start, end)| {
            let first = self.calls.partition_point(|&call| call < start);
            // What a call defines begins where it writes.
            let mut calls = self.calls[first..].iter().take_while(|&&call| call < end);
            calls.any(|&call| call > start || start % POINTS != WRITE)
        })
    }

    /// Finds a home for an interval.
    fn place(&mut self, n: u32) -> Result<(), String> {
        let class = self.classes[n as usize];
        if self.inherit(n) {
            return Ok(());
        }
        self.copied[n as usize] = self.intervals[n as usize].tied.is_some();
        let crosses = self.crosses_call(n);
        let allowed: &[u8] = match (class, crosses) {
            (RegClass::Int, false) => &FREE,
            (RegClass::Int, true) => &KEPT,
            (_, false) => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
            (_, true) => &[],
        };
        let interval = &self.intervals[n as usize];
        let partners = interval
            .partners
            .iter()
            .filter_map(|&p| match self.homes[p as usize] {
                Home::Reg(preg) => Some(preg),
                _ => None,
            });
        let wanted = interval.wanted.iter().copied().chain(partners);
        let wanted = wanted.filter(|preg| allowed.contains(&(preg.hw_enc() as u8)));
        let any = allowed.iter().map(|&r| preg(class, usize::from(r)));
        if let Some(free) = wanted.chain(any).find(|&preg| self.is_free(n, preg)) {
            self.assign(n, free);
            return Ok(());
        }
        let mine = self.weight(n);
        let mut best: Option<(f32, PReg, Vec<u32>)> = None;
        for &r in allowed {
            let preg = preg(class, usize::from(r));
            if let Some((cost, others)) = self.cost(n, preg)
                && best.as_ref().is_none_or(|(least, ..)| cost < *least)
            {
                best = Some((cost, preg, others));
            }
        }
        match best {
            Some((cost, preg, others)) if cost < mine => {
                for other in others {
                    self.spill(other);
                }
                // Those that followed another may still be in the way.
                match self.is_free(n, preg) {
                    true => self.assign(n, preg),
                    false => self.queue.push(Reverse((self.begin(n), n))),
                }
            }
            _ if self.is_short(n) => return Err("more operands than registers".to_owned()),
            _ => self.spill(n),
        }
        Ok(())
    }

    /// Puts an interval that is tied to an operand which ends there into the operand's register.
    fn inherit(&mut self, n: u32) -> bool {
        self.copied[n as usize] = false;
        let Some((at, operand)) = self.intervals[n as usize].tied else {
            return false;
        };
        let operand = operand.vreg() as u32;
        let ends = |range: &Range| range.0 <= at && range.1 == at + READ + 1;
        let Home::Reg(preg) = self.homes[operand as usize] else {
            return false;
        };
        let crosses = self.crosses_call(n);
        let kept =
            self.classes[n as usize] == RegClass::Int && KEPT.contains(&(preg.hw_enc() as u8));
        if !self.intervals[operand as usize].ranges.iter().any(ends)
            || crosses && !kept
            || !self.is_free(n, preg)
        {
            return false;
        }
        self.assign(n, preg);
        self.heirs[operand as usize] = Some(n);
        true
    }

    fn weight(&self, n: u32) -> f32 {
        match self.is_short(n) {
            true => f32::INFINITY,
            false => self.intervals[n as usize].weight,
        }
    }

    /// What it costs to free a register for an interval, and who would have to leave; none when someone
    /// cannot.
    fn cost(&self, n: u32, preg: PReg) -> Option<(f32, Vec<u32>)> {
        let taken = &self.taken[class_index(preg.class())][preg.hw_enc()];
        let (mut cost, mut others) = (0f32, Vec::new());
        for range in self.ranges(n) {
            for (_, owner) in conflicts(taken, range) {
                match owner {
                    Owner::Interval(other) if self.is_short(other) => return None,
                    Owner::Interval(other) => {
                        if !others.contains(&other) {
                            cost = cost.max(self.weight(other));
                            others.push(other);
                        }
                    }
                    owner if self.is_mine(n, owner) => {}
                    Owner::Fixed(_) | Owner::Clobber => return None,
                }
            }
        }
        Some((cost, others))
    }

    /// Instructions that name a virtual register.
    fn places_of(&mut self, v: u32) -> Vec<u32> {
        let func = self.func;
        let places = self.places.get_or_insert_with(|| {
            let mut places = vec![Vec::new(); func.num_vregs()];
            for inst in 0..func.num_insts() {
                for operand in func.inst_operands(Inst::new(inst)) {
                    let list: &mut Vec<u32> = &mut places[operand.vreg().vreg()];
                    if list.last() != Some(&(inst as u32)) {
                        list.push(inst as u32);
                    }
                }
            }
            places
        });
        places[v as usize].clone()
    }

    /// Moves a virtual register to the stack.
    fn spill(&mut self, v: u32) {
        self.unassign(v);
        self.homes[v as usize] = Home::Slot(self.slot(v));
        for inst in self.places_of(v) {
            let at = before(inst as usize);
            let operands = self.func.inst_operands(Inst::new(inst as usize));
            let tied = |k: usize| {
                let mut all = operands.iter();
                all.any(|o| o.constraint() == OperandConstraint::Reuse(k))
            };
            let (mut reads, mut writes) = (false, None);
            for (k, operand) in operands.iter().enumerate() {
                if operand.vreg().vreg() != v as usize {
                    continue;
                }
                match (operand.kind(), operand.constraint()) {
                    (_, OperandConstraint::FixedReg(_)) => {}
                    (OperandKind::Use, _) => reads |= !tied(k),
                    // It is copied to its register before.
                    (_, OperandConstraint::Reuse(_)) => writes = Some(at),
                    _ => writes = Some(at + WRITE),
                }
            }
            if reads {
                self.shorten(0, inst, v, (at, at + READ + 1));
            }
            if let Some(start) = writes {
                self.shorten(1, inst, v, (start, at + POINTS));
            }
        }
    }

    /// An interval for one use or definition.
    fn shorten(&mut self, kind: usize, inst: u32, v: u32, range: Range) {
        let n = self.intervals.len() as u32;
        self.intervals.push(Interval {
            ranges: vec![range],
            ..Interval::default()
        });
        self.homes.push(Home::Nowhere);
        self.copied.push(false);
        self.classes.push(self.classes[v as usize]);
        self.short[kind].insert((inst, v), n);
        self.queue.push(Reverse((range.0, n)));
    }

    /// A word of the stack for a virtual register, if it can be that of one it is moved to.
    fn slot(&mut self, v: u32) -> u32 {
        let ranges = &self.intervals[v as usize].ranges;
        let slots = &mut self.slots[class_index(self.classes[v as usize])];
        let free = |taken: &Taken| {
            let mut ranges = ranges.iter();
            ranges.all(|&range| conflicts(taken, range).next().is_none())
        };
        let partners = self.intervals[v as usize].partners.iter();
        let partners = partners.filter_map(|&p| match self.homes[p as usize] {
            Home::Slot(n) => Some(n as usize),
            _ => None,
        });
        let partner = partners.into_iter().find(|&n| free(&slots[n]));
        let found = partner.or_else(|| slots.iter().position(free));
        let n = found.unwrap_or_else(|| {
            slots.push(Taken::new());
            slots.len() - 1
        });
        for &(start, end) in ranges {
            slots[n].insert(start, (end, Owner::Interval(v)));
        }
        n as u32
    }
}
