//! Registers by a linear scan: intervals in the order in which they begin take the first register that is free
//! as long as they live. Where none is, the cheapest to keep in memory goes there, with a short interval for
//! each of its uses and definitions. Much faster than `regalloc2`'s own allocators, whose checker accepts what
//! comes out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use regalloc2::{
    Allocation, Block, Edit, Function, Inst, OperandConstraint, OperandKind, Output, PReg,
    ProgPoint, RegClass, SpillSlot, VReg,
};

use super::alloc::{FREE, KEPT};
use super::inst::{HostFunc, Op, general, vector};

mod live;
mod moves;

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
    /// Intervals that are in the register of an operand that ends there, by that operand.
    heirs: HashMap<u32, Vec<u32>>,
    /// By class and number.
    taken: [Vec<Taken>; 2],
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
            intervals,
            classes,
            heirs: HashMap::new(),
            taken: [vec![Taken::new(); 16], vec![Taken::new(); 16]],
            calls: Vec::new(),
            places: None,
            short: [HashMap::new(), HashMap::new()],
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
                let taken = &mut self.taken[class_index(preg.class())][preg.hw_enc()];
                taken.insert(start, (end, owner));
            }
            match self.func.insts[inst].op {
                Op::Call => self.calls.push(at + WRITE),
                Op::MulHigh(..) => {
                    let range = (at + POINTS, Owner::Clobber);
                    self.taken[0][0].insert(at + WRITE, range);
                }
                _ => {}
            }
        }
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
            && let Some(heirs) = self.heirs.get_mut(&(operand.vreg() as u32))
        {
            heirs.retain(|&heir| heir != n);
        }
        self.copied[n as usize] = false;
        // Who was to follow in the same register looks for another.
        for heir in self.heirs.remove(&n).unwrap_or_default() {
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
                let taken = &mut self.taken[class_index(preg.class())][preg.hw_enc()];
                taken.insert(start, (end, Owner::Fixed(n)));
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
        self.heirs.entry(operand).or_default().push(n);
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

    /// Words of 8 bytes: vectors first, which take four, then those of general registers, then one for moves
    /// in a circle and one for a register that lends itself.
    fn stack(&self, class: RegClass, n: u32) -> Allocation {
        let vectors = self.slots[1].len();
        let at = match class {
            RegClass::Int => 4 * (vectors + 2) + n as usize,
            _ => 4 * n as usize,
        };
        Allocation::stack(SpillSlot::new(at))
    }

    /// Where an interval is.
    fn allocation(&self, n: u32) -> Allocation {
        match self.homes[n as usize] {
            Home::Reg(preg) => Allocation::reg(preg),
            Home::Slot(slot) => self.stack(self.classes[n as usize], slot),
            Home::Nowhere => unreachable!("bug: an interval without a place"),
        }
    }

    /// A register that nobody has at a point.
    fn idle(
        &self,
        class: RegClass,
        point: u32,
        moves: &[(Allocation, Allocation)],
    ) -> Option<PReg> {
        let pregs = (0..16).filter(|&r| class != RegClass::Int || FREE.contains(&(r as u8)));
        let mut pregs = pregs.map(|r| preg(class, r));
        pregs.find(|preg| {
            let taken = &self.taken[class_index(class)][preg.hw_enc()];
            let here = Allocation::reg(*preg);
            conflicts(taken, (point, point + 1)).next().is_none()
                && moves.iter().all(|&(from, to)| from != here && to != here)
        })
    }

    /// The moves where a block hands its arguments over.
    fn edge(&self, pairs: &[(VReg, VReg)], point: u32, edits: &mut Vec<(ProgPoint, Edit)>) {
        let at = ProgPoint::before(Inst::new((point / POINTS) as usize));
        for class in [RegClass::Int, RegClass::Float] {
            let aside = self.stack(RegClass::Float, self.slots[1].len() as u32);
            let lent = self.stack(RegClass::Float, self.slots[1].len() as u32 + 1);
            let pairs = pairs.iter().filter(|(_, param)| param.class() == class);
            let places = |v: VReg| self.allocation(v.vreg() as u32);
            let moves = pairs.map(|&(arg, param)| (places(arg), places(param)));
            let moves: Vec<_> = moves.collect();
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
                        let n = if class == RegClass::Int { FREE[0] } else { 0 };
                        let via = Allocation::reg(preg(class, usize::from(n)));
                        push(via, lent);
                        push(from, via);
                        push(via, to);
                        push(lent, via);
                    }
                }
            }
        }
    }

    /// What was found, as `regalloc2` says it.
    fn output(&self) -> Output {
        let func = self.func;
        let mut edits: Vec<(ProgPoint, Edit)> = Vec::new();
        let mut allocs = Vec::new();
        let mut offsets = Vec::with_capacity(func.num_insts());
        for b in 0..func.num_blocks() {
            let block = Block::new(b);
            let range = func.range(b);
            if let [pred] = func.block_preds(block)
                && func.block_succs(*pred).len() > 1
            {
                // Edges that part have their moves where they lead to.
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
        let words = 4 * (self.slots[1].len() + 2) + self.slots[0].len();
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
        let (ahead, behind) = (
            ProgPoint::before(Inst::new(inst)),
            ProgPoint::after(Inst::new(inst)),
        );
        let mut later: Vec<(ProgPoint, Edit)> = Vec::new();
        let push = |edits: &mut Vec<_>, at, from: Allocation, to: Allocation| {
            if from != to {
                edits.push((at, Edit::Move { from, to }));
            }
        };
        for operand in operands {
            let v = operand.vreg().vreg() as u32;
            let home = self.allocation(v);
            let short = |kind: usize| {
                let n = self.short[kind].get(&(inst as u32, v));
                n.map_or(home, |&n| self.allocation(n))
            };
            allocs.push(match (operand.kind(), operand.constraint()) {
                (OperandKind::Use, OperandConstraint::FixedReg(preg)) => {
                    push(edits, ahead, home, Allocation::reg(preg));
                    Allocation::reg(preg)
                }
                (OperandKind::Def, OperandConstraint::FixedReg(preg)) => {
                    push(&mut later, behind, Allocation::reg(preg), home);
                    Allocation::reg(preg)
                }
                // A spilled one that is tied gets its place below.
                (OperandKind::Use, _) => short(0),
                (OperandKind::Def, _) => {
                    push(&mut later, behind, short(1), home);
                    short(1)
                }
            });
        }
        for (k, operand) in operands.iter().enumerate() {
            if let OperandConstraint::Reuse(n) = operand.constraint() {
                let to = allocs[first + k];
                let from = self.allocation(operands[n].vreg().vreg() as u32);
                push(edits, ahead, from, to);
                allocs[first + n] = to;
            }
        }
        // What is read from the stack, once each.
        let mut read = Vec::new();
        for operand in operands {
            let v = operand.vreg().vreg() as u32;
            if let Some(&n) = self.short[0].get(&(inst as u32, v))
                && !read.contains(&n)
            {
                push(edits, ahead, self.allocation(v), self.allocation(n));
                read.push(n);
            }
        }
        edits.append(&mut later);
    }
}
