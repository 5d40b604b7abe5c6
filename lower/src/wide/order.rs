//! The order of long runs of instructions without a branch. What the results wait for longest begins first, and what
//! need not wait fills the time: processors look ahead for that themselves, but not as far as these runs are long. A few
//! more values may be alive for this than there are registers. Four exponentials beside one another take 4 to 9 % less.
//! (blackscholes has branches between such runs, of 250 to 380 instructions, and takes as long with those in order, and
//! with the branches away and all in order, by 34 to 100 vectors that may be alive.)
//!
//! Loads and stores keep their order: it is part of what waves tell one another by memory, and a wave need not look at
//! what it loaded by a branch.

use std::ops::Range;

use regalloc2::{Operand, OperandKind, RegClass, VReg};

use super::encode::{Map, Row};
use super::inst::{Form, HostFunc, HostInst, MASK, Op, PlaceBase};
use super::lists::Lists;
use super::rows::legacy;

/// Instructions of the units for floats in the shortest run that is put in order. (Others take a cycle: sha256-256k takes
/// 4 % more when it is put in order.)
const SHORTEST: usize = 300;

/// How far from the first instruction that is left others may be taken, by their places before.
const WINDOW: usize = 200;

/// Vectors that may be alive before only what ends some is taken.
const VECTORS: i32 = 34;

/// The same for masks, which are few everywhere.
const MASKS: i32 = 6;

/// Vector instructions that can begin in a cycle, and those of each kind of [`Unit`].
const WIDTH: u32 = 4;
const EACH: u32 = 2;

const NONE: u32 = u32::MAX;

/// Which of a processor's units do a vector instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Those that multiply.
    Product = 0,
    /// Those that add and convert.
    Sum = 1,
    /// Any.
    Any,
}

/// What does an instruction, and cycles until its result is there, about.
fn timing(host: &HostInst) -> (Unit, u32) {
    let row = match host.op {
        Op::Vex(row, ..) => row,
        Op::Evex(evex, ..) => evex.row,
        _ => return (Unit::Any, 1),
    };
    let Row { map, opcode, .. } = row;
    let (unit, cycles) = match (map, opcode) {
        (Map::M0F, 0x51 | 0x5e) => (Unit::Product, 14),
        (Map::M0F, 0x59) => (Unit::Product, 3),
        (Map::M0F38, 0x96..=0xbf) => (Unit::Product, 4),
        (Map::M0F3A, 0x54) => (Unit::Product, 5),
        (Map::M0F, 0x58 | 0x5c) => (Unit::Sum, 3),
        (Map::M0F, 0x5a | 0x5b) => (Unit::Sum, 6),
        (Map::M0F38, 0x2c) => (Unit::Sum, 7),
        (Map::M0F38, 0x42) | (Map::M0F3A, 0x08 | 0x09 | 0x26 | 0x56) => (Unit::Sum, 5),
        // Comparisons.
        (Map::M0F, 0x76 | 0xc2) | (Map::M0F3A, 0x1e | 0x1f | 0x66) | (Map::M0F38, 0x27) => {
            (Unit::Any, 5)
        }
        // Halves of vectors.
        (Map::M0F3A, 0x38..=0x3b) => (Unit::Any, 4),
        // The estimate of a root's reciprocal, which one unit of each kind gives.
        (Map::M0F38, 0x4e) => (Unit::Any, 5),
        _ => (Unit::Any, 1),
    };
    // What the program loads is not at hand as constants are.
    let more = match effect(host) {
        Effect::Reads => 7,
        _ => 0,
    };
    (unit, cycles + more)
}

/// Has it an operand in memory that is no constant?
fn is_outside(host: &HostInst) -> bool {
    host.mem
        .is_some_and(|place| !matches!(place.base, PlaceBase::Pool(_)))
}

/// Does everything else stay on its side?
fn parts(op: Op) -> bool {
    matches!(
        op,
        Op::Call | Op::MulHigh(..) | Op::Pin(_) | Op::Jump | Op::Branch(_) | Op::Return
    )
}

/// What an instruction does to memory that others see.
#[derive(PartialEq, Eq)]
enum Effect {
    None,
    Reads,
    Writes,
}

fn effect(host: &HostInst) -> Effect {
    let (Op::Vex(_, _, form, _) | Op::Evex(_, _, form, _) | Op::Legacy(_, _, form, _)) = host.op
    else {
        return Effect::None;
    };
    // Of an address alone nothing is read.
    if !is_outside(host) || matches!(host.op, Op::Legacy(legacy::LEA, ..)) {
        return Effect::None;
    }
    match form {
        // That is a hint.
        Form::Address(_) => Effect::None,
        Form::Rvm
        | Form::Rounded(_)
        | Form::RoundedFma(_)
        | Form::Rvmr
        | Form::Rm
        | Form::Mr
        | Form::Digit(_)
        | Form::Fma
        | Form::MaskedRvm
        | Form::ZeroedRm
        | Form::ZeroedRvm
        | Form::MergedRvm
        | Form::MergedRm
        | Form::MergedDigit(_)
        | Form::Gather
        | Form::Tied
        | Form::TiedDigit(_) => Effect::Reads,
        Form::Store | Form::StoreSome | Form::Scatter => Effect::Writes,
    }
}

/// Orders the instructions of a function.
pub(super) fn order(func: &mut HostFunc) {
    let mut runs = Vec::new();
    for block in 0..func.blocks.len() {
        let range = func.range(block);
        let mut first = range.start;
        for at in range.clone() {
            if parts(func.insts[at].op) || at + 1 == range.end {
                let run = first..at;
                let insts = func.insts[run.clone()].iter();
                if insts.filter(|host| timing(host).0 != Unit::Any).count() >= SHORTEST {
                    runs.push(run);
                }
                first = at + 1;
            }
        }
    }
    if runs.is_empty() {
        return;
    }
    // Uses that are to come.
    let mut uses = vec![0; func.vregs()];
    for inst in 0..func.insts.len() {
        for v in sources(func.operands_of(inst)) {
            uses[v.vreg()] += 1;
        }
    }
    for block in 0..func.blocks.len() {
        for v in func.args_of(block) {
            uses[v.vreg()] += 1;
        }
    }
    let mut makers = vec![NONE; func.vregs()];
    let mut runs = runs.into_iter().peekable();
    for block in 0..func.blocks.len() {
        let range = func.range(block);
        let mut at = range.start;
        while at < range.end && runs.peek().is_some() {
            if let Some(run) = runs.next_if(|run| run.start == at) {
                let order = Run::new(func, run.clone(), &mut uses, &mut makers).order();
                let insts: Vec<HostInst> =
                    order.iter().map(|&i| func.insts[at + i as usize]).collect();
                at = run.end;
                func.insts[run].copy_from_slice(&insts);
            } else {
                for v in sources(func.operands_of(at)) {
                    uses[v.vreg()] -= 1;
                }
                at += 1;
            }
        }
        for v in func.args_of(block) {
            uses[v.vreg()] -= 1;
        }
    }
}

/// The registers that operands are taken from.
fn sources(operands: &[Operand]) -> impl Iterator<Item = VReg> + '_ {
    let uses = operands.iter().filter(|o| o.kind() == OperandKind::Use);
    uses.map(|operand| operand.vreg())
}

/// Registers of a class that are alive, or by how many they become more.
#[derive(Clone, Copy, Default)]
struct Alive {
    vectors: i32,
    masks: i32,
}

impl Alive {
    fn count(&mut self, v: VReg, by: i32) {
        match v.class() {
            RegClass::Float => self.vectors += by,
            MASK => self.masks += by,
            RegClass::Int => {}
        }
    }
}

/// A run of instructions, by their numbers in it.
struct Run<'a> {
    func: &'a HostFunc,
    range: Range<usize>,
    /// Those that wait for each, and for how many cycles.
    waiting: Lists<(u32, u32)>,
    /// For how many others each waits.
    awaited: Vec<u32>,
    /// Is it a constant, which has its place before what first takes it?
    constant: Vec<bool>,
    /// By register: which of them makes it.
    makers: &'a mut [u32],
    /// By register: uses that are to come, as the blocks follow one another.
    uses: &'a mut [u32],
    timings: Vec<(Unit, u32)>,
    /// What goes first has most.
    worth: Vec<i64>,
    alive: Alive,
}

impl<'a> Run<'a> {
    fn new(
        func: &'a HostFunc,
        range: Range<usize>,
        uses: &'a mut [u32],
        makers: &'a mut [u32],
    ) -> Run<'a> {
        let count = range.len();
        makers.fill(NONE);
        let insts = &func.insts[range.clone()];
        let mut run = Run {
            func,
            waiting: Lists::new(count),
            awaited: vec![0; count],
            constant: vec![false; count],
            makers,
            uses,
            timings: insts.iter().map(timing).collect(),
            worth: vec![0; count],
            alive: Alive::default(),
            range,
        };
        let mut last = None;
        for (i, host) in (0..).zip(insts) {
            run.depend(i);
            if effect(host) != Effect::None {
                let before = last.replace(i);
                before.into_iter().for_each(|before| run.wait(before, i, 0));
            }
        }
        for i in (0..count).rev() {
            let after = run.waiting.iter(i);
            let after = after.map(|(next, cycles)| run.worth[next as usize] + i64::from(cycles));
            run.worth[i] = after.max().unwrap_or(0).max(run.timings[i].1.into());
        }
        // A place ahead counts as much as a cycle.
        for (i, worth) in (0..).zip(&mut run.worth) {
            *worth -= i;
        }
        run
    }

    fn operands(&self, i: u32) -> &'a [Operand] {
        self.func.operands_of(self.range.start + i as usize)
    }

    /// Lets an instruction wait until so many cycles after another began.
    fn wait(&mut self, before: u32, i: u32, cycles: u32) {
        self.waiting.push(before as usize, (i, cycles));
        self.awaited[i as usize] += 1;
    }

    /// Notes what an instruction waits for to have its operands.
    fn depend(&mut self, i: u32) {
        let host = &self.func.insts[self.range.start + i as usize];
        let operands = self.operands(i);
        let mut constant = !is_outside(host) && effect(host) == Effect::None;
        for v in sources(operands) {
            constant = false;
            match self.makers[v.vreg()] {
                // From outside: counted once.
                NONE => {
                    self.alive.count(v, 1);
                    self.makers[v.vreg()] = NONE - 1;
                }
                by if by == NONE - 1 => {}
                by if self.constant[by as usize] => {}
                by => self.wait(by, i, self.timings[by as usize].1),
            }
        }
        for operand in operands.iter().filter(|o| o.kind() == OperandKind::Def) {
            self.makers[operand.vreg().vreg()] = i;
        }
        self.constant[i as usize] = constant && !operands.is_empty();
    }

    /// By how many registers more are alive behind an instruction, constants apart.
    fn growth(&self, i: u32) -> Alive {
        let mut growth = Alive::default();
        let operands = self.operands(i);
        for (n, operand) in operands.iter().enumerate() {
            let v = operand.vreg();
            match operand.kind() {
                OperandKind::Def if self.uses[v.vreg()] == 0 => {}
                OperandKind::Def => growth.count(v, 1),
                OperandKind::Use => {
                    let constant = self.constant.get(self.makers[v.vreg()] as usize);
                    let here = sources(operands).filter(|&other| other == v).count();
                    let first = !sources(&operands[..n]).any(|other| other == v);
                    if first && self.uses[v.vreg()] == here as u32 && constant != Some(&true) {
                        growth.count(v, -1);
                    }
                }
            }
        }
        growth
    }

    /// The instructions in their order.
    fn order(mut self) -> Vec<u32> {
        let count = self.range.len();
        let mut order = Vec::with_capacity(count);
        let mut done = vec![false; count];
        let mut oldest = 0;
        // Those that wait for no other, and when they can begin.
        let mut free: Vec<u32> = (0..count as u32)
            .filter(|&i| self.awaited[i as usize] == 0 && !self.constant[i as usize])
            .collect();
        let mut times = vec![0; count];
        let (mut now, mut begun, mut busy) = (0, 0, [0; 2]);
        while !free.is_empty() {
            while done[oldest] || self.constant[oldest] {
                oldest += 1;
            }
            let full = self.alive.vectors >= VECTORS || self.alive.masks >= MASKS;
            let mut best: Option<usize> = None;
            let mut soonest = u32::MAX;
            for (n, &i) in free.iter().enumerate() {
                let at = i as usize;
                if at > oldest + WINDOW || full && at != oldest && !self.fits(i) {
                    continue;
                }
                let unit = self.timings[at].0 as usize;
                let then = match busy.get(unit) {
                    Some(&EACH) => times[at].max(now + 1),
                    _ => times[at],
                };
                if then > now {
                    soonest = soonest.min(then);
                } else if best.is_none_or(|best| {
                    let best = free[best] as usize;
                    (self.worth[best], best) < (self.worth[at], at)
                }) {
                    best = Some(n);
                }
            }
            let n = match best {
                Some(n) => n,
                None if soonest != u32::MAX => {
                    (now, begun, busy) = (soonest, 0, [0; 2]);
                    continue;
                }
                // The oldest that can be taken.
                None => (0..free.len())
                    .min_by_key(|&n| free[n])
                    .expect("there are some"),
            };
            let i = free.swap_remove(n);
            let at = i as usize;
            let growth = self.growth(i);
            self.alive.vectors += growth.vectors;
            self.alive.masks += growth.masks;
            for v in sources(self.operands(i)) {
                self.uses[v.vreg()] -= 1;
                let maker = self.makers[v.vreg()] as usize;
                if self.constant.get(maker) == Some(&true) && !done[maker] {
                    done[maker] = true;
                    order.push(maker as u32);
                }
            }
            done[at] = true;
            order.push(i);
            for (next, cycles) in self.waiting.iter(at) {
                let next = next as usize;
                times[next] = times[next].max(now.max(times[at]) + cycles);
                self.awaited[next] -= 1;
                if self.awaited[next] == 0 {
                    free.push(next as u32);
                }
            }
            if let Some(busy) = busy.get_mut(self.timings[at].0 as usize) {
                *busy += 1;
            }
            begun += 1;
            if begun == WIDTH {
                (now, begun, busy) = (now + 1, 0, [0; 2]);
            }
        }
        // Constants that others take.
        order.extend((0..count as u32).filter(|&i| !done[i as usize]));
        order
    }

    /// Does an instruction make what there is too much of no more?
    fn fits(&self, i: u32) -> bool {
        let growth = self.growth(i);
        (self.alive.vectors < VECTORS || growth.vectors <= 0)
            && (self.alive.masks < MASKS || growth.masks <= 0)
    }
}
