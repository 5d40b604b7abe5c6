//! Linear-scan register allocation: intervals in the order of their starts take the first register
//! that is free during their lifetime. If there is none, the interval that is cheapest to spill is
//! spilled, with a short interval for each of its uses and definitions. Much faster than
//! `regalloc2`'s own allocators; its checker validates the result in debug builds.

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

/// Owner of a register during a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// An interval.
    Interval(u32),
    /// An instruction that requires this virtual register there.
    Fixed(u32),
    /// An instruction that clobbers the register.
    Clobber,
}

/// Location of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Nowhere,
    Reg(PReg),
    /// A stack slot.
    Slot(u32),
}

struct Scan<'a> {
    func: &'a HostFunc,
    /// Those of the virtual registers, then of single uses and definitions.
    intervals: Intervals,
    homes: Vec<Home>,
    /// Does a tied interval begin before its instruction, in a register other than its operand's?
    copied: Vec<bool>,
    /// The interval that is tied to an operand, by that operand.
    followers: Vec<Option<u32>>,
    /// By class and number.
    taken: [Vec<Taken>; 3],
    /// Point from which on each register is free.
    until: [[u32; 32]; 3],
    /// Points at which calls write.
    calls: Vec<u32>,
    /// Index of the first call after the most recently queried start.
    next_call: usize,
    /// Instructions that read or write each virtual register; counted for spilled ones only.
    places: Option<Lists<u32>>,
    /// Short intervals, by instruction and virtual register; reads, then writes.
    short: [HashMap<(u32, u32), u32>; 2],
    /// Occupancy of stack slots: those of general and mask registers, and those of vectors, which
    /// span several words.
    slots: [Vec<Taken>; 2],
    /// The work list.
    queue: Queue,
}

/// Intervals in the order of their starts, then of their numbers.
struct Queue {
    /// By point: an interval that begins there.
    first: Vec<u32>,
    /// By number: the next interval that begins at the same point.
    next: Vec<u32>,
    at: usize,
    /// Intervals added during the scan.
    late: BinaryHeap<Reverse<(u32, u32)>>,
}

/// No interval.
const UNOWNED: u32 = u32::MAX;

impl Queue {
    /// The nonempty intervals; the last begins before `end`.
    fn new(intervals: &Intervals, end: u32) -> Queue {
        let count = intervals.all.len() as u32;
        let mut first = vec![UNOWNED; end as usize];
        let mut next = vec![UNOWNED; count as usize];
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
        while self.first.get(self.at) == Some(&UNOWNED) {
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

/// The stack slots of a class.
fn slot_index(class: RegClass) -> usize {
    usize::from(class == RegClass::Float)
}

/// Vector registers by number.
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

/// Where an interval first needs a register.
fn begin(intervals: &Intervals, n: u32) -> u32 {
    let tied = intervals.all[n as usize].tied;
    tied.map_or_else(|| intervals.ranges(n)[0].0, |(at, _)| at)
}

/// Allocates a register for every operand, or explains why it cannot.
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
            followers: vec![None; count],
            until: [[0; 32]; 3],
            intervals,
            taken: [
                vec![Taken::default(); 16],
                vec![Taken::default(); usize::from(vector_count(func.isa))],
                vec![Taken::default(); 8],
            ],
            calls: Vec::new(),
            next_call: 0,
            places: None,
            short: [HashMap::default(), HashMap::default()],
            slots: [Vec::new(), Vec::new()],
            queue,
        }
    }

    /// Reserves the registers that instructions name.
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
                // Calls preserve only KEPT; intervals live across one are restricted to it.
                self.calls.push(at + WRITE);
                continue;
            }
            for preg in self.func.inst_clobbers(Inst::new(inst)) {
                self.take(preg, (at + WRITE, at + POINTS), Owner::Clobber);
            }
        }
    }

    /// Reserves a register for a range.
    fn take(&mut self, preg: PReg, (start, end): Range, owner: Owner) {
        let (class, n) = (class_index(preg.class()), preg.hw_enc());
        self.taken[class][n].insert((start, end), owner);
        self.until[class][n] = self.until[class][n].max(end);
    }

    /// First point at which an interval has its register: before its instruction if it is copied
    /// there.
    #[inline]
    fn ranges(&self, n: u32) -> impl Iterator<Item = Range> + '_ {
        let ranges = self.intervals.ranges(n);
        let first = (self.start(n), ranges[0].1);
        std::iter::once(first).chain(ranges[1..].iter().copied())
    }

    /// The point from which on an interval has its register.
    #[inline]
    fn start(&self, n: u32) -> u32 {
        match self.intervals.all[n as usize].tied {
            Some((at, _)) if self.copied[n as usize] => at,
            _ => self.intervals.ranges(n)[0].0,
        }
    }

    /// The virtual register of an interval, compared with fixed operands.
    #[inline]
    fn is_mine(&self, n: u32, owner: Owner) -> bool {
        owner == Owner::Interval(n) || owner == Owner::Fixed(n)
    }

    fn is_free(&self, n: u32, preg: PReg) -> bool {
        let ranges = self.intervals.ranges(n);
        let first = (self.start(n), ranges[0].1);
        self.is_free_in(n, (first, &ranges[1..]), preg)
    }

    /// Is a register free during an interval's ranges?
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
            // A fixed operand of the same virtual register is within it.
            taken.cover(range, Owner::Interval(n));
            until = until.max(range.1);
        }
        self.taken[class][hw] = taken;
        self.until[class][hw] = until;
        self.homes[n as usize] = Home::Reg(preg);
    }

    /// Removes an interval from its register.
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
            && self.followers[operand.vreg()] == Some(n)
        {
            self.followers[operand.vreg()] = None;
        }
        self.copied[n as usize] = false;
        // An interval tied to it needs another register.
        let followers = self.followers.get_mut(n as usize);
        if let Some(follower) = followers.and_then(Option::take) {
            self.unassign(follower);
            self.queue.push(self.begin(follower), follower);
        }
    }

    /// Reserves a register again where instructions fix it for a virtual register that was evicted
    /// from it.
    fn refix(&mut self, n: u32, preg: PReg) {
        if !self.intervals.hints.iter(n as usize).any(|w| w == preg) {
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

    /// Is the interval live across a call?
    fn crosses_call(&mut self, n: u32) -> bool {
        // Starts ascend, so the first call behind one is next_call that of the previous.
        let start = self.start(n);
        let mut next_call = self.next_call;
        while next_call > 0 && self.calls[next_call - 1] >= start {
            next_call -= 1;
        }
        while self.calls.get(next_call).is_some_and(|&call| call < start) {
            next_call += 1;
        }
        self.next_call = next_call;
        self.ranges(n).any(|(start, end)| {
            let later = &self.calls[next_call..];
            if later.first().is_none_or(|&call| call >= end) {
                return false;
            }
            let first = next_call + later.partition_point(|&call| call < start);
            // The result of a call begins where the call writes.
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
        let hints = self.intervals.hints.iter(n as usize).chain(partners);
        let hints = hints.filter(|preg| allowed.contains(&(preg.hw_enc() as u8)));
        let any = allowed.iter().map(|&r| preg(class, usize::from(r)));
        let ranges = self.intervals.ranges(n);
        let ranges = ((self.start(n), ranges[0].1), &ranges[1..]);
        let free = |&preg: &PReg| self.is_free_in(n, ranges, preg);
        let found = hints.chain(any).find(free);
        if let Some(free) = found {
            self.assign(n, free);
            return Ok(());
        }
        match self.cheapest(n, class, allowed) {
            Some((preg, others)) => {
                for other in others {
                    self.spill(other);
                }
                // Intervals tied to another may still conflict.
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

    /// Puts a tied interval into the register of its operand, which ends there.
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
        self.followers[operand as usize] = Some(n);
        true
    }

    fn weight(&self, n: u32) -> f32 {
        match self.is_short(n) {
            true => f32::INFINITY,
            false => self.intervals.all[n as usize].weight,
        }
    }

    /// The register that is cheapest to free for an interval, with the intervals to evict; `None`
    /// if spilling the interval itself is cheaper.
    fn cheapest(&self, n: u32, class: RegClass, allowed: &[u8]) -> Option<(PReg, Vec<u32>)> {
        let (mut least, mut best) = (self.weight(n), None);
        // For the best and for the current register.
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

    /// The cost of freeing a register for an interval, and the intervals to evict; `None` if one
    /// cannot be evicted, or the cost is not below `most`.
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

    /// Spills a virtual register.
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
                    // The use reads the stack slot directly.
                    (OperandKind::Use, OperandConstraint::Any) => {}
                    (OperandKind::Use, _) => reads |= !tied(k),
                    // The operand is copied to the result's register before.
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

    /// A short interval for one use or definition.
    fn shorten(&mut self, kind: usize, inst: u32, v: u32, range: Range) {
        let class = self.intervals.classes[v as usize];
        let n = self.intervals.shorten(class, range);
        self.homes.push(Home::Nowhere);
        self.copied.push(false);
        self.short[kind].insert((inst, v), n);
        self.queue.push(range.0, n);
    }

    /// A stack slot for a virtual register, shared with one it is moved to if possible.
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
