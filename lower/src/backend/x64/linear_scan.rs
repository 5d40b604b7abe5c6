//! Registers by a linear scan: intervals in the order in which they begin take the first register that is free
//! as long as they live. Where none is, the cheapest to keep in memory goes there, with a short interval for
//! each of its uses and definitions. Much faster than `regalloc2`'s own allocators, whose checker accepts what
//! comes out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use regalloc2::{Function, Inst, OperandConstraint, OperandKind, Output, PReg, RegClass};

use super::inst::{FREE, KEPT};
use super::inst::{HostFunc, HostOp, MASK, general, mask, vector, vector_count};
use super::lists::Lists;
use crate::maps::HashMap;

mod intervals;
mod moves;
mod occupancy;
mod output;

use intervals::{Intervals, POINTS, READ, Range, WRITE, before};
use occupancy::Taken;

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
    intervals: Intervals,
    homes: Vec<Home>,
    /// Does a tied interval begin before its instruction, in a register that is not its operand's?
    copied: Vec<bool>,
    /// The interval that follows a tied operand in its register, by that operand.
    heirs: Vec<Option<u32>>,
    /// By class and number.
    taken: [Vec<Taken>; 3],
    /// From where on each is surely free.
    until: [[u32; 32]; 3],
    /// Points where calls write.
    calls: Vec<u32>,
    /// The first of them behind the beginning that was asked for last.
    near: usize,
    /// Instructions that read or write each virtual register, only counted for those that are spilled.
    places: Option<Lists<u32>>,
    /// Short intervals, by instruction and virtual register; reads, then writes.
    short: [HashMap<(u32, u32), u32>; 2],
    /// When words of the stack are taken: those of general and mask registers, and those of vectors, which have
    /// several words each.
    slots: [Vec<Taken>; 2],
    /// Who comes in the order of beginnings.
    queue: Queue,
}

/// Intervals in the order of their beginnings, then of their numbers.
struct Queue {
    /// By point: one that begins there.
    first: Vec<u32>,
    /// By number: the next that begins at the same point.
    next: Vec<u32>,
    at: usize,
    /// Those that came later.
    late: BinaryHeap<Reverse<(u32, u32)>>,
}

/// No interval.
const NOBODY: u32 = u32::MAX;

impl Queue {
    /// The intervals that are alive somewhere, the last of which begins before `end`.
    fn new(intervals: &Intervals, end: u32) -> Queue {
        let count = intervals.all.len() as u32;
        let mut first = vec![NOBODY; end as usize];
        let mut next = vec![NOBODY; count as usize];
        for n in (0..count)
            .rev()
            .filter(|&n| !intervals.ranges(n).is_empty())
        {
            let begin = begin(intervals, n) as usize;
            next[n as usize] = std::mem::replace(&mut first[begin], n);
        }
        Queue {
            first,
            next,
            at: 0,
            late: BinaryHeap::new(),
        }
    }

    fn push(&mut self, begin: u32, n: u32) {
        self.late.push(Reverse((begin, n)));
    }

    fn pop(&mut self) -> Option<u32> {
        while self.first.get(self.at) == Some(&NOBODY) {
            self.at += 1;
        }
        let early = self.first.get(self.at).map(|&n| (self.at as u32, n));
        match (early, self.late.peek()) {
            (Some(early), Some(Reverse(late))) if *late < early => {}
            (Some((_, n)), _) => {
                self.first[self.at] = self.next[n as usize];
                return Some(n);
            }
            _ => {}
        }
        self.late.pop().map(|Reverse((_, n))| n)
    }
}

fn class_index(class: RegClass) -> usize {
    class as usize
}

/// Which words of the stack a class has.
fn slot_index(class: RegClass) -> usize {
    usize::from(class == RegClass::Float)
}

/// Vector registers by number, as many as there are at most.
const VECTORS: [u8; 32] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31,
];

/// Mask registers; number 0 means no mask.
const MASKS: [u8; 7] = [1, 2, 3, 4, 5, 6, 7];

fn preg(class: RegClass, n: usize) -> PReg {
    match class {
        RegClass::Int => general(n as u8),
        MASK => mask(n as u8),
        RegClass::Float => vector(n as u8),
    }
}

/// Where an interval begins to want a register.
fn begin(intervals: &Intervals, n: u32) -> u32 {
    let tied = intervals.all[n as usize].tied;
    tied.map_or_else(|| intervals.ranges(n)[0].0, |(at, _)| at)
}

/// Gives every operand a register, or says why it cannot.
pub(super) fn allocate(func: &HostFunc) -> Result<Output, String> {
    let mut scan = Scan::new(func);
    scan.fix();
    while let Some(n) = scan.queue.pop() {
        if scan.homes[n as usize] == Home::Nowhere {
            scan.place(n)?;
        }
    }
    Ok(scan.output())
}

impl<'a> Scan<'a> {
    fn new(func: &'a HostFunc) -> Scan<'a> {
        let intervals = intervals::intervals(func);
        let count = intervals.all.len();
        let queue = Queue::new(&intervals, before(func.num_insts()).max(1));
        Scan {
            func,
            homes: vec![Home::Nowhere; count],
            copied: vec![false; count],
            heirs: vec![None; count],
            until: [[0; 32]; 3],
            intervals,
            taken: [
                vec![Taken::default(); 16],
                vec![Taken::default(); usize::from(vector_count(func.isa))],
                vec![Taken::default(); 8],
            ],
            calls: Vec::new(),
            near: 0,
            places: None,
            short: [HashMap::default(), HashMap::default()],
            slots: [Vec::new(), Vec::new()],
            queue,
        }
    }

    /// Takes the registers that instructions name.
    fn fix(&mut self) {
        for inst in std::mem::take(&mut self.intervals.fixed) {
            let inst = inst as usize;
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
            if self.func.insts[inst].op == HostOp::Call {
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
        self.taken[class][n].insert((start, end), owner);
        self.until[class][n] = self.until[class][n].max(end);
    }

    /// When an interval has its register: from before its instruction, when it is copied there.
    #[inline]
    fn ranges(&self, n: u32) -> impl Iterator<Item = Range> + '_ {
        let ranges = self.intervals.ranges(n);
        let first = (self.start(n), ranges[0].1);
        std::iter::once(first).chain(ranges[1..].iter().copied())
    }

    /// From where on an interval has its register.
    #[inline]
    fn start(&self, n: u32) -> u32 {
        match self.intervals.all[n as usize].tied {
            Some((at, _)) if self.copied[n as usize] => at,
            _ => self.intervals.ranges(n)[0].0,
        }
    }

    /// The virtual register that an interval is, for what instructions fix.
    #[inline]
    fn is_mine(&self, n: u32, owner: Owner) -> bool {
        owner == Owner::Interval(n) || owner == Owner::Fixed(n)
    }

    fn is_free(&self, n: u32, preg: PReg) -> bool {
        let ranges = self.intervals.ranges(n);
        let first = (self.start(n), ranges[0].1);
        self.is_free_in(n, (first, &ranges[1..]), preg)
    }

    /// Is a register free for an interval, whose ranges are these?
    #[inline]
    fn is_free_in(&self, n: u32, (first, rest): (Range, &[Range]), preg: PReg) -> bool {
        let (class, hw) = (class_index(preg.class()), preg.hw_enc());
        if first.0 >= self.until[class][hw] {
            return true;
        }
        let taken = &self.taken[class][hw];
        let free = |range| taken.is_free(range, |owner| self.is_mine(n, owner));
        free(first) && rest.iter().all(|&range| free(range))
    }

    fn assign(&mut self, n: u32, preg: PReg) {
        let (class, hw) = (class_index(preg.class()), preg.hw_enc());
        let mut taken = std::mem::take(&mut self.taken[class][hw]);
        let mut until = self.until[class][hw];
        for range in self.ranges(n) {
            // What an instruction fixes for the same virtual register is within it.
            taken.cover(range, Owner::Interval(n));
            until = until.max(range.1);
        }
        self.taken[class][hw] = taken;
        self.until[class][hw] = until;
        self.homes[n as usize] = Home::Reg(preg);
    }

    /// Takes an interval out of its register.
    fn unassign(&mut self, n: u32) {
        let Home::Reg(preg) = self.homes[n as usize] else {
            return;
        };
        let (class, hw) = (class_index(preg.class()), preg.hw_enc());
        let mut taken = std::mem::take(&mut self.taken[class][hw]);
        for (start, _) in self.ranges(n) {
            taken.remove(start);
        }
        self.taken[class][hw] = taken;
        self.homes[n as usize] = Home::Nowhere;
        self.refix(n, preg);
        if let Some((_, operand)) = self.intervals.all[n as usize].tied
            && self.heirs[operand.vreg()] == Some(n)
        {
            self.heirs[operand.vreg()] = None;
        }
        self.copied[n as usize] = false;
        // Who was to follow in the same register looks for another.
        let heirs = self.heirs.get_mut(n as usize);
        if let Some(heir) = heirs.and_then(Option::take) {
            self.unassign(heir);
            self.queue.push(self.begin(heir), heir);
        }
    }

    /// Takes a register again where instructions fix it for a virtual register that left it.
    fn refix(&mut self, n: u32, preg: PReg) {
        if !self.intervals.wanted.iter(n as usize).any(|w| w == preg) {
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
        begin(&self.intervals, n)
    }

    fn is_short(&self, n: u32) -> bool {
        n as usize >= self.func.num_vregs()
    }

    /// Does a call come while the interval lives?
    fn crosses_call(&mut self, n: u32) -> bool {
        // Intervals come in the order of their beginnings, so that the first call behind one is near that of the last.
        let start = self.start(n);
        let mut near = self.near;
        while near > 0 && self.calls[near - 1] >= start {
            near -= 1;
        }
        while self.calls.get(near).is_some_and(|&call| call < start) {
            near += 1;
        }
        self.near = near;
        self.ranges(n).any(|(start, end)| {
            let later = &self.calls[near..];
            if later.first().is_none_or(|&call| call >= end) {
                return false;
            }
            let first = near + later.partition_point(|&call| call < start);
            // What a call defines begins where it writes.
            let mut calls = self.calls[first..].iter().take_while(|&&call| call < end);
            calls.any(|&call| call > start || start % POINTS != WRITE)
        })
    }

    /// Finds a home for an interval.
    fn place(&mut self, n: u32) -> Result<(), String> {
        let class = self.intervals.classes[n as usize];
        if self.inherit(n) {
            return Ok(());
        }
        self.copied[n as usize] = self.intervals.all[n as usize].tied.is_some();
        let crosses = self.crosses_call(n);
        let allowed: &[u8] = match (class, crosses) {
            (RegClass::Int, false) => &FREE,
            (RegClass::Int, true) => &KEPT,
            (_, true) => &[],
            (MASK, false) => &MASKS,
            (RegClass::Float, false) => &VECTORS[..usize::from(vector_count(self.func.isa))],
        };
        let partners = self.intervals.partners.iter(n as usize);
        let partners = partners.filter_map(|p| match self.homes[p as usize] {
            Home::Reg(preg) => Some(preg),
            _ => None,
        });
        let wanted = self.intervals.wanted.iter(n as usize).chain(partners);
        let wanted = wanted.filter(|preg| allowed.contains(&(preg.hw_enc() as u8)));
        let any = allowed.iter().map(|&r| preg(class, usize::from(r)));
        let ranges = self.intervals.ranges(n);
        let ranges = ((self.start(n), ranges[0].1), &ranges[1..]);
        let free = |&preg: &PReg| self.is_free_in(n, ranges, preg);
        let found = wanted.chain(any).find(free);
        if let Some(free) = found {
            self.assign(n, free);
            return Ok(());
        }
        match self.cheapest(n, class, allowed) {
            Some((preg, others)) => {
                for other in others {
                    self.spill(other);
                }
                // Those that followed another may still be in the way.
                match self.is_free(n, preg) {
                    true => self.assign(n, preg),
                    false => self.queue.push(self.begin(n), n),
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
        let Some((at, operand)) = self.intervals.all[n as usize].tied else {
            return false;
        };
        let operand = operand.vreg() as u32;
        let ends = |range: &Range| range.0 <= at && range.1 == at + READ + 1;
        let Home::Reg(preg) = self.homes[operand as usize] else {
            return false;
        };
        let crosses = self.crosses_call(n);
        let kept = self.intervals.classes[n as usize] == RegClass::Int
            && KEPT.contains(&(preg.hw_enc() as u8));
        if !self.intervals.ranges(operand).iter().any(ends)
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
            false => self.intervals.all[n as usize].weight,
        }
    }

    /// The register that is freed for an interval at the least cost, with those who have to leave it; none when it
    /// costs less to keep the interval in memory.
    fn cheapest(&self, n: u32, class: RegClass, allowed: &[u8]) -> Option<(PReg, Vec<u32>)> {
        let (mut least, mut best) = (self.weight(n), None);
        // Of the best register and of the one at hand.
        let (mut leave, mut others) = (Vec::new(), Vec::new());
        for &r in allowed {
            let preg = preg(class, usize::from(r));
            if let Some(cost) = self.cost(n, preg, least, &mut others) {
                (least, best) = (cost, Some(preg));
                std::mem::swap(&mut leave, &mut others);
            }
        }
        best.map(|preg| (preg, leave))
    }

    /// What it costs to free a register for an interval, and who would have to leave; none when someone
    /// cannot, or the cost is not below `most`.
    fn cost(&self, n: u32, preg: PReg, most: f32, others: &mut Vec<u32>) -> Option<f32> {
        let taken = &self.taken[class_index(preg.class())][preg.hw_enc()];
        let mut cost = 0f32;
        others.clear();
        for range in self.ranges(n) {
            for (_, owner) in taken.conflicts(range).rev() {
                match owner {
                    Owner::Interval(other) if self.is_short(other) => return None,
                    Owner::Interval(other) => {
                        let weight = self.weight(other);
                        if weight >= most {
                            return None;
                        }
                        if !others.contains(&other) {
                            cost = cost.max(weight);
                            others.push(other);
                        }
                    }
                    owner if self.is_mine(n, owner) => {}
                    Owner::Fixed(_) | Owner::Clobber => return None,
                }
            }
        }
        (cost < most).then_some(cost)
    }

    /// Instructions that name a virtual register.
    fn places_of(&mut self, v: u32) -> Vec<u32> {
        let func = self.func;
        let places = self.places.get_or_insert_with(|| {
            let mut places = Lists::new(func.num_vregs());
            for inst in 0..func.num_insts() {
                for operand in func.inst_operands(Inst::new(inst)) {
                    let v = operand.vreg().vreg();
                    if places.last_mut(v) != Some(&mut (inst as u32)) {
                        places.push(v, inst as u32);
                    }
                }
            }
            places
        });
        places.iter(v as usize).collect()
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
                    // It is read from where it is.
                    (OperandKind::Use, OperandConstraint::Any) => {}
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
        let class = self.intervals.classes[v as usize];
        let n = self.intervals.shorten(class, range);
        self.homes.push(Home::Nowhere);
        self.copied.push(false);
        self.short[kind].insert((inst, v), n);
        self.queue.push(range.0, n);
    }

    /// A word of the stack for a virtual register, if it can be that of one it is moved to.
    fn slot(&mut self, v: u32) -> u32 {
        let ranges = self.intervals.ranges(v);
        let slots = &mut self.slots[slot_index(self.intervals.classes[v as usize])];
        let free = |taken: &Taken| {
            let mut ranges = ranges.iter();
            ranges.all(|&range| taken.is_free(range, |_| false))
        };
        let partners = self.intervals.partners.iter(v as usize);
        let partners = partners.filter_map(|p| match self.homes[p as usize] {
            Home::Slot(n) => Some(n as usize),
            _ => None,
        });
        let partner = partners.into_iter().find(|&n| free(&slots[n]));
        let found = partner.or_else(|| slots.iter().position(free));
        let n = found.unwrap_or_else(|| {
            slots.push(Taken::default());
            slots.len() - 1
        });
        for &range in ranges {
            slots[n].insert(range, Owner::Interval(v));
        }
        n as u32
    }
}
