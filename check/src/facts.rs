//! Facts about scalar registers that conditional branches establish: a register equals a constant, or does not, until
//! it is written. Code often tests one condition twice, which makes some paths infeasible.

use std::collections::BTreeMap;

use frontend::op::{BranchIf, Cmp};
use frontend::registers::{Reg, SCC, is_salu};
use frontend::{Op, Operand, Ty};

use crate::cfg::{Block, Code, Item};
use crate::solve::{State, solve};

/// A set of facts, by number.
pub(crate) type Set = u64;

/// The most facts of a routine that are followed.
const MOST: usize = Set::BITS as usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fact {
    reg: Reg,
    value: u32,
    equal: bool,
}

impl Fact {
    fn contradicts(self, other: Fact) -> bool {
        let (same, equal) = (self.value == other.value, self.equal != other.equal);
        self.reg == other.reg && (same && equal || !same && self.equal && other.equal)
    }
}

/// Facts that hold on every path.
#[derive(Clone)]
struct Held(Set);

impl State for Held {
    fn join(&mut self, other: &Held) -> bool {
        let before = self.0;
        self.0 &= other.0;
        self.0 != before
    }

    fn size(&self) -> usize {
        0
    }
}

/// The facts of a routine.
pub(crate) struct Facts {
    known: Vec<Fact>,
    /// Of each block, those that hold at its beginning.
    held: Vec<Set>,
    /// Of each edge, by block and number, those that cannot hold on it.
    contradicted: BTreeMap<(usize, usize), Set>,
    /// Those about a register.
    about: BTreeMap<Reg, Set>,
}

impl Facts {
    pub(crate) fn new(code: &Code) -> Facts {
        let edges = edges(code);
        let mut known: Vec<Fact> = Vec::new();
        for (&at, &fact) in &edges {
            // Only a fact that another branch contradicts is of use.
            let mut others = edges.iter().filter(|(other, _)| other.0 != at.0);
            if !known.contains(&fact)
                && known.len() < MOST
                && others.any(|(_, &other)| fact.contradicts(other))
            {
                known.push(fact);
            }
        }
        let set = |is: &dyn Fn(Fact) -> bool| -> Set {
            let numbered = known.iter().enumerate();
            numbered
                .filter(|(_, fact)| is(**fact))
                .fold(0, |set, (n, _)| set | 1 << n)
        };
        let learned: BTreeMap<(usize, usize), Set> = edges
            .iter()
            .map(|(&at, &fact)| (at, set(&|other| other == fact)))
            .collect();
        let mut facts = Facts {
            known: known.clone(),
            held: vec![0; code.blocks.len()],
            contradicted: edges
                .iter()
                .map(|(&at, &fact)| (at, set(&|other| other.contradicts(fact))))
                .collect(),
            about: known
                .iter()
                .map(|fact| (fact.reg, set(&|other| other.reg == fact.reg)))
                .collect(),
        };
        if known.is_empty() {
            return facts;
        }
        let states = solve(
            code,
            Held(0),
            |block, held| {
                for item in &code.items[code.blocks[block].items.clone()] {
                    held.0 = held.0 & !facts.ended(item) | facts.given(item);
                }
            },
            |block, number, held| {
                held.0 |= learned.get(&(block, number)).copied().unwrap_or(0);
            },
        );
        for (block, state) in states.unwrap_or_default().into_iter().enumerate() {
            facts.held[block] = state.map_or(0, |held| held.0);
        }
        facts
    }

    /// Those that hold at the beginning of a block.
    pub(crate) fn at_start(&self, block: usize) -> Set {
        self.held[block]
    }

    /// Those that cannot hold on an edge.
    pub(crate) fn contradicted(&self, block: usize, number: usize) -> Set {
        self.contradicted
            .get(&(block, number))
            .copied()
            .unwrap_or(0)
    }

    /// Those that hold behind a move of a constant.
    pub(crate) fn given(&self, item: &Item) -> Set {
        let inst = &item.inst;
        let (Op::Mov, Operand::Sgpr(reg)) = (inst.op(), inst.dst[0]) else {
            return 0;
        };
        let constant = constant(inst.src[0]);
        let Some(value) = constant.filter(|_| is_salu(inst) && inst.dst_ty(0).bits() == 32) else {
            return 0;
        };
        let moved = Fact {
            reg: Reg::from(reg),
            value,
            equal: true,
        };
        let follows = |fact: &Fact| fact.reg == moved.reg && !fact.contradicts(moved);
        let numbered = self.known.iter().enumerate();
        numbered
            .filter(|(_, fact)| follows(fact))
            .fold(0, |set, (n, _)| set | 1 << n)
    }

    /// Those about registers that an instruction writes.
    pub(crate) fn ended(&self, item: &Item) -> Set {
        if self.about.is_empty() || item.removed {
            return 0;
        }
        if matches!(item.inst.op(), Op::Call | Op::SwapPc) {
            return Set::MAX;
        }
        let mut ended = 0;
        for span in item.uses.writes.iter().filter(|span| span.first < SCC) {
            let written = self.about.range(span.first..span.first + span.count);
            ended |= written.fold(0, |set, (_, about)| set | about);
        }
        ended
    }
}

/// The facts that edges say.
fn edges(code: &Code) -> BTreeMap<(usize, usize), Fact> {
    let mut edges = BTreeMap::new();
    for (number, block) in code.blocks.iter().enumerate() {
        let Some((fact, taken)) = compared(code, block) else {
            continue;
        };
        let with = |equal| Fact { equal, ..fact };
        edges.insert((number, 0), with(taken));
        edges.insert((number, 1), with(!taken));
    }
    edges
}

/// The comparison on which a block's branch depends; is it equal where the branch is taken?
fn compared(code: &Code, block: &Block) -> Option<(Fact, bool)> {
    let items = &code.items[block.items.clone()];
    let (branch, before) = items.split_last()?;
    let if_true = match branch.inst.op() {
        Op::Branch(BranchIf::Scc1) => true,
        Op::Branch(BranchIf::Scc0) => false,
        _ => return None,
    };
    let at = before.iter().rposition(|item| item.uses.writes(SCC))?;
    let inst = &before[at].inst;
    // An unsigned number that is not above zero is zero.
    let (equal, ordered) = match inst.op() {
        Op::Cmp(Cmp::Eq) => (true, false),
        Op::Cmp(Cmp::Lg) => (false, false),
        Op::Cmp(Cmp::Le) => (true, true),
        Op::Cmp(Cmp::Gt) => (false, true),
        _ => return None,
    };
    if !is_salu(inst) || inst.src_ty(0).bits() != 32 {
        return None;
    }
    let (reg, value) = match (inst.src[0], inst.src[1]) {
        (Operand::Sgpr(reg), Operand::Imm(value)) if inst.src_ty(0) == Ty::U32 => {
            (Reg::from(reg), value as u32 & 0xffff)
        }
        (Operand::Sgpr(reg), other) | (other, Operand::Sgpr(reg)) => {
            (Reg::from(reg), constant(other)?)
        }
        _ => return None,
    };
    let register_first = matches!(inst.src[0], Operand::Sgpr(_));
    if ordered && !(inst.src_ty(0) == Ty::U32 && value == 0 && register_first) {
        return None;
    }
    let changed = before[at..].iter().any(|item| item.uses.writes(reg));
    let fact = Fact {
        reg,
        value,
        equal: true,
    };
    (!changed).then_some((fact, equal == if_true))
}

fn constant(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => Some(bits as u32),
        Operand::Imm(value) => Some(value as u32),
        _ => None,
    }
}
