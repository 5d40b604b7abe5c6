//! Facts about scalar registers that conditional branches establish: a register equals a constant, or does not, or is odd
//! or even, until it is written. Code often tests one condition twice, which makes some paths infeasible.

use std::collections::{BTreeMap, BTreeSet};

use frontend::op::{BranchIf, Cmp};
use frontend::registers::{Reg, SCC, is_salu};
use frontend::{Op, Operand, Ty};

use crate::cfg::{Block, Code, Item};
use crate::counters::Counters;
use crate::solve::{State, solve};

/// A set of facts, by number.
pub(crate) type Set = u64;

/// The most facts of a routine that are followed.
const MOST: usize = Set::BITS as usize;

/// The most facts that are also learned about operations issued before, each of which multiplies what is outstanding.
const MOST_AFTER: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fact {
    Value { reg: Reg, value: u32, equal: bool },
    Odd { reg: Reg, odd: bool },
}

impl Fact {
    fn reg(self) -> Reg {
        match self {
            Fact::Value { reg, .. } | Fact::Odd { reg, .. } => reg,
        }
    }

    fn contradicts(self, other: Fact) -> bool {
        let different = match (self, other) {
            (
                Fact::Value { value, equal, .. },
                Fact::Value {
                    value: other,
                    equal: also,
                    ..
                },
            ) => match value == other {
                true => equal != also,
                false => equal && also,
            },
            (Fact::Odd { odd, .. }, Fact::Odd { odd: other, .. }) => odd != other,
            (Fact::Value { value, equal, .. }, Fact::Odd { odd, .. })
            | (Fact::Odd { odd, .. }, Fact::Value { value, equal, .. }) => {
                equal && odd != (value & 1 != 0)
            }
        };
        self.reg() == other.reg() && different
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
    /// Of each edge, those that hold on it, also where an operation was issued before.
    learned: BTreeMap<(usize, usize), Set>,
    /// Edges that cannot be taken.
    never: BTreeSet<(usize, usize)>,
    /// Those about a register.
    about: BTreeMap<Reg, Set>,
}

impl Facts {
    pub(crate) fn new(code: &Code) -> Facts {
        let tests: Vec<Option<Test>> = code.blocks.iter().map(|block| test(code, block)).collect();
        let counters = Counters::new(code, &tests);
        let edges = edges(&tests, &counters);
        let mut known: Vec<Fact> = Vec::new();
        for (&at, facts) in &edges {
            for &fact in facts {
                // Only a fact that another branch contradicts is of use.
                let others = edges.iter().filter(|(other, _)| other.0 != at.0);
                let mut others = others.flat_map(|(_, others)| others);
                if !known.contains(&fact)
                    && known.len() < MOST
                    && others.any(|&other| fact.contradicts(other))
                {
                    known.push(fact);
                }
            }
        }
        let set = |is: &dyn Fn(Fact) -> bool| -> Set {
            let numbered = known.iter().enumerate();
            numbered
                .filter(|(_, fact)| is(**fact))
                .fold(0, |set, (n, _)| set | 1 << n)
        };
        let of_edges = |is: &dyn Fn(Fact, Fact) -> bool| -> BTreeMap<(usize, usize), Set> {
            edges
                .iter()
                .map(|(&at, facts)| {
                    let any = |other| facts.iter().any(|&fact| is(fact, other));
                    (at, set(&any))
                })
                .collect()
        };
        let learned = of_edges(&|fact, other| fact == other);
        let after = match known.len() <= MOST_AFTER {
            true => Set::MAX,
            false => set(&|fact| matches!(fact, Fact::Odd { .. })),
        };
        let mut facts = Facts {
            known: known.clone(),
            held: vec![0; code.blocks.len()],
            contradicted: of_edges(&|fact, other| fact.contradicts(other)),
            learned: learned.iter().map(|(&at, set)| (at, set & after)).collect(),
            never: counters.never,
            about: known
                .iter()
                .map(|fact| (fact.reg(), set(&|other| other.reg() == fact.reg())))
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

    /// Those that hold on an edge, of operations that were issued before, too.
    pub(crate) fn learned(&self, block: usize, number: usize) -> Set {
        self.learned.get(&(block, number)).copied().unwrap_or(0)
    }

    /// Can the edge not be taken?
    pub(crate) fn is_never(&self, block: usize, number: usize) -> bool {
        self.never.contains(&(block, number))
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
        let moved = Fact::Value {
            reg: Reg::from(reg),
            value,
            equal: true,
        };
        let follows = |fact: &Fact| fact.reg() == moved.reg() && !fact.contradicts(moved);
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
fn edges(tests: &[Option<Test>], counters: &Counters) -> BTreeMap<(usize, usize), Vec<Fact>> {
    let mut edges: BTreeMap<(usize, usize), Vec<Fact>> = BTreeMap::new();
    for (number, test) in tests.iter().enumerate() {
        let Some(test) = test else { continue };
        for edge in [0, 1] {
            edges
                .entry((number, edge))
                .or_default()
                .extend(test.fact(edge));
        }
    }
    for (&at, registers) in &counters.odd {
        let facts = registers.iter().map(|&(reg, odd)| Fact::Odd { reg, odd });
        edges.entry(at).or_default().extend(facts);
    }
    edges
}

/// What a block's branch asks of a scalar register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// How it compares with a constant.
    Compared {
        cmp: Cmp,
        unsigned: bool,
        value: u32,
    },
    /// Whether it is odd.
    Odd,
}

/// The question on which a block's branch depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) reg: Reg,
    pub(crate) what: What,
    /// Is the answer yes where the branch is taken?
    taken: bool,
}

impl Test {
    /// How the register compares with a constant on an edge, as unsigned numbers.
    pub(crate) fn unsigned(&self, number: usize) -> Option<(Cmp, u32)> {
        let What::Compared {
            cmp,
            unsigned,
            value,
        } = self.what
        else {
            return None;
        };
        let cmp = match self.taken == (number == 0) {
            true => cmp,
            false => match cmp {
                Cmp::Eq => Cmp::Lg,
                Cmp::Lg => Cmp::Eq,
                Cmp::Lt => Cmp::Ge,
                Cmp::Ge => Cmp::Lt,
                Cmp::Gt => Cmp::Le,
                _ => Cmp::Gt,
            },
        };
        (unsigned || matches!(cmp, Cmp::Eq | Cmp::Lg)).then_some((cmp, value))
    }

    /// What an edge says.
    fn fact(&self, number: usize) -> Option<Fact> {
        let reg = self.reg;
        if self.what == What::Odd {
            let odd = self.taken == (number == 0);
            return Some(Fact::Odd { reg, odd });
        }
        let (value, equal) = match self.unsigned(number)? {
            (Cmp::Eq, value) => (value, true),
            (Cmp::Lg, value) => (value, false),
            // An unsigned number that is not above zero is zero.
            (Cmp::Le, 0) | (Cmp::Lt, 1) => (0, true),
            (Cmp::Gt, 0) | (Cmp::Ge, 1) => (0, false),
            _ => return None,
        };
        Some(Fact::Value { reg, value, equal })
    }
}

/// The question on which a block's branch depends.
fn test(code: &Code, block: &Block) -> Option<Test> {
    let items = &code.items[block.items.clone()];
    let (branch, before) = items.split_last()?;
    let taken = match branch.inst.op() {
        Op::Branch(BranchIf::Scc1) => true,
        Op::Branch(BranchIf::Scc0) => false,
        _ => return None,
    };
    let at = before.iter().rposition(|item| item.uses.writes(SCC))?;
    let inst = &before[at].inst;
    if !is_salu(inst) || inst.src_ty(0).bits() != 32 {
        return None;
    }
    let unsigned = inst.src_ty(0) == Ty::U32;
    let (reg, value, register_first) = match (inst.src[0], inst.src[1]) {
        (Operand::Sgpr(reg), Operand::Imm(value)) if unsigned => (reg, value as u32 & 0xffff, true),
        (Operand::Sgpr(reg), other) => (reg, constant(other)?, true),
        (other, Operand::Sgpr(reg)) => (reg, constant(other)?, false),
        _ => return None,
    };
    let what = match inst.op() {
        Op::And if value == 1 => What::Odd,
        Op::Cmp(cmp @ (Cmp::Eq | Cmp::Lg | Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge)) => {
            let cmp = match (cmp, register_first) {
                (Cmp::Lt, false) => Cmp::Gt,
                (Cmp::Le, false) => Cmp::Ge,
                (Cmp::Gt, false) => Cmp::Lt,
                (Cmp::Ge, false) => Cmp::Le,
                (cmp, _) => cmp,
            };
            What::Compared {
                cmp,
                unsigned,
                value,
            }
        }
        _ => return None,
    };
    let reg = Reg::from(reg);
    let changed = before[at..].iter().any(|item| item.uses.writes(reg));
    (!changed).then_some(Test { reg, what, taken })
}

pub(crate) fn constant(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => Some(bits as u32),
        Operand::Imm(value) => Some(value as u32),
        _ => None,
    }
}
