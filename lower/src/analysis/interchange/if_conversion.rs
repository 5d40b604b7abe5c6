//! If-conversion of loops. Blocks that a branch skips when EXEC is 0 change nothing on inactive
//! lanes, so they may run unconditionally: a loop whose only other branches are of this kind
//! becomes one straight block. That nothing changes is proved for each register, on a lane whose
//! bit of EXEC is 0. A register without proof (a written scalar, for instance) is unknown from
//! there on, and a loop that needs it is not converted.
//!
//! The same proof allows groups to leave a loop that exits when EXEC is 0 before others do: the
//! iterations that they skip would not have changed their lanes.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::build::{Build, types};
use crate::ir::{Block, Func, Icmp, Op, Slot, Target, Term, Val, Vary, Width};
use crate::maps::{HashMap, HashSet};

/// A loop as one block.
#[derive(Debug)]
pub struct IfConverted {
    /// Its nodes, effects and writes; its terminator is meaningless.
    pub block: Block,
    /// Registers with unknown values at the end.
    pub unknown_s: BTreeSet<Slot>,
    /// See `unknown_s`.
    pub unknown_v: BTreeSet<u16>,
    /// Scalar slots that an iteration does not change on lanes that are inactive when it begins.
    pub kept_s: BTreeSet<Slot>,
    /// VGPRs likewise.
    pub kept_v: BTreeSet<u16>,
    /// How it ends.
    pub latch: Latch,
    /// Its exit.
    pub exit: Target,
    /// The blocks of the loop.
    pub blocks: Vec<usize>,
}

/// Condition for another iteration.
#[derive(Clone, Debug)]
pub enum Latch {
    /// A truth value of the wave.
    Uniform {
        /// The condition.
        cond: Val,
        /// The outcome for which the loop continues.
        back_when: bool,
    },
    /// The loop continues while this (W64) is not 0: EXEC at the end.
    Exec {
        /// EXEC at the end of an iteration.
        exec: Val,
    },
}

/// Maximum number of blocks of a loop.
const MAX_BLOCKS: usize = 24;

/// Most nodes of a loop.
const MAX_NODES: usize = 600;

/// Registers during the walk over the blocks; `None` for unknown values.
#[derive(Clone, Default, PartialEq)]
struct State {
    slots: BTreeMap<Slot, Option<Val>>,
    vgprs: BTreeMap<u16, Option<Val>>,
}

struct IfConverter<'a> {
    f: &'a Func,
    b: Build,
    head: usize,
    state: State,
    visited: Vec<usize>,
    guest_insts: u32,
    stripped: HashMap<(Val, Val), Val>,
}

/// How a walk through blocks ended.
enum End {
    /// Reached the given end.
    Reached,
    /// Reached the head, unconditionally.
    Back,
    /// Reached the loop's latch.
    Latch(LatchAt),
}

struct LatchAt {
    cond: Val,
    back_when: bool,
    exit: Target,
}

/// The loop that begins at block `head` as one block, if it can run in the lane groups or
/// lane-serially.
pub fn merge(f: &Func, head: usize) -> Option<IfConverted> {
    let mut m = IfConverter {
        f,
        b: Build::new(),
        head,
        state: State::default(),
        visited: Vec::new(),
        guest_insts: 0,
        stripped: HashMap::default(),
    };
    let End::Latch(at) = m.walk(head, None)? else {
        return None;
    };
    let entry_exec = m.b.leaf(Op::ReadS(Slot::Exec), types::W64);
    let exec = m.slot(Slot::Exec)?;
    let latch = if let Some((tested, zero_when)) = m.tests_zero(at.cond)
        && tested == exec
        && exec != entry_exec
    {
        if zero_when == at.back_when {
            return None;
        }
        Latch::Exec { exec }
    } else if exec == entry_exec {
        Latch::Uniform {
            cond: at.cond,
            back_when: at.back_when,
        }
    } else {
        return None;
    };
    let (kept_s, kept_v) = m.kept(entry_exec);
    let unknown_s = m.state.slots.iter().filter(|(_, v)| v.is_none());
    let unknown_v = m.state.vgprs.iter().filter(|(_, v)| v.is_none());
    let (unknown_s, unknown_v) = (
        unknown_s.map(|(&s, _)| s).collect(),
        unknown_v.map(|(&n, _)| n).collect(),
    );
    let writes_s = m.state.slots.iter().filter_map(|(&s, &v)| Some((s, v?)));
    let writes_v = m.state.vgprs.iter().filter_map(|(&n, &v)| Some((n, v?)));
    let (writes_s, writes_v): (Vec<_>, Vec<_>) = (writes_s.collect(), writes_v.collect());
    let (nodes, effects) = m.b.finish();
    if nodes.len() > MAX_NODES || writes_s.iter().any(|&(s, _)| s == Slot::Mode) {
        return None;
    }
    Some(IfConverted {
        block: Block {
            pc: f.blocks[head].pc,
            nodes,
            effects,
            execs: Vec::new(),
            writes_s,
            writes_v,
            term: Term::End,
            guest_insts: m.guest_insts,
            counts: Vec::new(),
            outcomes: Vec::new(),
        },
        unknown_s,
        unknown_v,
        kept_s,
        kept_v,
        latch,
        exit: at.exit,
        blocks: m.visited,
    })
}

impl IfConverter<'_> {
    fn slot(&self, slot: Slot) -> Option<Val> {
        match self.state.slots.get(&slot) {
            Some(&v) => v,
            None => Some(self.b.leaf(Op::ReadS(slot), slot.ty())),
        }
    }

    fn vgpr(&self, n: u16) -> Option<Val> {
        match self.state.vgprs.get(&n) {
            Some(&v) => v,
            None => Some(self.b.leaf(Op::ReadV(n), types::L32)),
        }
    }

    /// Registers that are unchanged on a lane whose bit of `exec` is 0.
    fn kept(&self, exec: Val) -> (BTreeSet<Slot>, BTreeSet<u16>) {
        let slots = self.state.slots.iter().filter(|&(&slot, &v)| {
            let old = self.b.leaf(Op::ReadS(slot), slot.ty());
            v.is_some_and(|v| self.same_without(exec, v, old))
        });
        let vgprs = self.state.vgprs.iter().filter(|&(&n, &v)| {
            let old = self.b.leaf(Op::ReadV(n), types::L32);
            v.is_some_and(|v| self.b.merged_under(v, exec, old))
        });
        (
            slots.map(|(&slot, _)| slot).collect(),
            vgprs.map(|(&n, _)| n).collect(),
        )
    }

    /// The wave value that a condition compares with 0, and the outcome that means 0.
    fn tests_zero(&self, cond: Val) -> Option<(Val, bool)> {
        let (op, args) = self.b.parts(cond);
        match op {
            Op::Icmp(cc @ (Icmp::Eq | Icmp::Ne)) if self.b.as_const(args[1]) == Some(0) => {
                Some((args[0], cc == Icmp::Eq))
            }
            Op::Not => self.tests_zero(args[0]).map(|(v, when)| (v, !when)),
            _ => None,
        }
    }

    fn walk(&mut self, from: usize, stop: Option<usize>) -> Option<End> {
        let mut at = from;
        loop {
            if Some(at) == stop {
                return Some(End::Reached);
            }
            if self.visited.contains(&at) || self.visited.len() >= MAX_BLOCKS {
                return None;
            }
            self.visited.push(at);
            let block = &self.f.blocks[at];
            let values = self.append(block)?;
            match &block.term {
                Term::Jump(t) => {
                    at = t.block()?;
                    if at == self.head {
                        return Some(End::Back);
                    }
                }
                Term::Branch { cond, then, other } => {
                    let cond = values[cond.index()]?;
                    let (yes, no) = (then.block(), other.block());
                    match (yes == Some(self.head), no == Some(self.head)) {
                        (true, true) => return None,
                        (true, false) | (false, true) => {
                            let back_when = yes == Some(self.head);
                            let exit = if back_when { *other } else { *then };
                            return Some(End::Latch(LatchAt {
                                cond,
                                back_when,
                                exit,
                            }));
                        }
                        (false, false) => {}
                    }
                    let exec = self.slot(Slot::Exec)?;
                    let (tested, zero_when) = self.tests_zero(cond)?;
                    if tested != exec {
                        return None;
                    }
                    let (skip, body) = if zero_when {
                        (then, other)
                    } else {
                        (other, then)
                    };
                    let before = self.state.clone();
                    match self.walk(body.block()?, skip.block())? {
                        End::Reached => {}
                        // A block that only jumps leads back.
                        End::Back if self.state == before => {
                            return Some(End::Latch(LatchAt {
                                cond,
                                back_when: !zero_when,
                                exit: *skip,
                            }));
                        }
                        End::Back | End::Latch(_) => return None,
                    }
                    self.join(&before, exec);
                    at = skip.block()?;
                    if at == self.head {
                        return Some(End::Back);
                    }
                }
                _ => return None,
            }
        }
    }

    /// Appends a block; returns the values of its nodes.
    fn append(&mut self, block: &Block) -> Option<Vec<Option<Val>>> {
        self.guest_insts += block.guest_insts;
        let effects: HashSet<Val> = block.effects.iter().copied().collect();
        let mut values: Vec<Option<Val>> = Vec::with_capacity(block.nodes.len());
        for (i, node) in block.nodes.iter().enumerate() {
            let args: Option<Vec<Val>> = node.args.iter().map(|a| values[a.index()]).collect();
            let is_effect = effects.contains(&Val(i as u32));
            let value = match (node.op, args) {
                (Op::ReadS(slot), _) => self.slot(slot),
                (Op::ReadV(n), _) => self.vgpr(n),
                (Op::Load(..), Some(mut args)) => {
                    if let (Op::ExecMask, mask) = self.b.parts(args[1]) {
                        args[0] = self.strip(args[0], mask[0]);
                    }
                    Some(self.b.effect(node.op, &args, node.ty))
                }
                (Op::ScalarLoad(..), Some(args)) => Some(self.b.effect(node.op, &args, node.ty)),
                _ if is_effect => return None,
                (_, None) => None,
                (op, Some(args)) if args.is_empty() => Some(self.b.leaf(op, node.ty)),
                (Op::Call(f, mode), Some(args)) => Some(self.b.call(f, mode, &args)),
                (Op::Result(n), Some(args)) => Some(self.b.result(args[0], n, node.ty)),
                (Op::LaneAt, Some(_)) => None,
                (op, Some(args)) => Some(self.pure(op, &args)),
            };
            values.push(value);
        }
        for &(slot, v) in &block.writes_s {
            self.state.slots.insert(slot, values[v.index()]);
        }
        for &(n, v) in &block.writes_v {
            self.state.vgprs.insert(n, values[v.index()]);
        }
        Some(values)
    }

    /// A pure node; values used under a mask drop merges under a containing mask.
    fn pure(&mut self, op: Op, args: &[Val]) -> Val {
        let mask_of = |m: &Self, v: Val| match m.b.parts(v) {
            (Op::ExecMask, args) => Some(args[0]),
            _ => None,
        };
        match op {
            Op::Select => {
                if let Some(mask) = mask_of(self, args[0]) {
                    let new = self.strip(args[1], mask);
                    return self.b.pure(op, &[args[0], new, args[2]]);
                }
            }
            Op::And => {
                for (m, x) in [(args[0], args[1]), (args[1], args[0])] {
                    if let Some(mask) = mask_of(self, m) {
                        let x = self.strip(x, mask);
                        return self.b.pure(op, &[x, m]);
                    }
                }
            }
            _ => {}
        }
        self.b.pure(op, args)
    }

    /// A lane value on the lanes of `mask` (W64).
    fn strip(&mut self, v: Val, mask: Val) -> Val {
        if let Some(&done) = self.stripped.get(&(v, mask)) {
            return done;
        }
        let node = self.b.node(v);
        let merge = match node.op {
            Op::Select => match self.b.parts(node.args[0]) {
                (Op::ExecMask, args) => Some(args[0]),
                _ => None,
            },
            _ => None,
        };
        let done = if node.ty.vary == Vary::Wave || node.args.is_empty() {
            v
        } else if let Some(m) = merge
            && self.b.within(mask, m)
        {
            self.strip(node.args[1], mask)
        } else {
            match node.op {
                Op::Call(f, mode) if f.is_inline(mode) => {
                    let args: Vec<Val> = node.args.iter().map(|&a| self.strip(a, mask)).collect();
                    self.b.call(f, mode, &args)
                }
                Op::Load(..)
                | Op::Call(..)
                | Op::Result(_)
                | Op::ExecMask
                | Op::MaskFromBits
                | Op::LaneAt
                | Op::Effect { .. }
                | Op::Atomic(..) => v,
                op => {
                    let args: Vec<Val> = node.args.iter().map(|&a| self.strip(a, mask)).collect();
                    if args[..] == node.args[..] {
                        v
                    } else {
                        self.b.pure(op, &args)
                    }
                }
            }
        };
        self.stripped.insert((v, mask), done);
        done
    }

    /// Joins the edge that skips some blocks, taken when `exec` is 0, with the path through them:
    /// registers keep the value of the path where both agree.
    fn join(&mut self, before: &State, exec: Val) {
        let slots: Vec<Slot> = self.state.slots.keys().copied().collect();
        for slot in slots {
            let old = match before.slots.get(&slot) {
                Some(&v) => v,
                None => Some(self.b.leaf(Op::ReadS(slot), slot.ty())),
            };
            let new = self.state.slots[&slot];
            let same = match (new, old) {
                (Some(new), Some(old)) => self.same_without(exec, new, old),
                _ => false,
            };
            if !same {
                self.state.slots.insert(slot, None);
            }
        }
        let vgprs: Vec<u16> = self.state.vgprs.keys().copied().collect();
        for n in vgprs {
            let old = match before.vgprs.get(&n) {
                Some(&v) => v,
                None => Some(self.b.leaf(Op::ReadV(n), types::L32)),
            };
            let new = self.state.vgprs[&n];
            let same = match (new, old) {
                (Some(new), Some(old)) => self.b.merged_under(new, exec, old),
                _ => false,
            };
            if !same {
                self.state.vgprs.insert(n, None);
            }
        }
    }

    /// Are two wave values equal on a lane whose bit of `exec` is 0?
    fn same_without(&self, exec: Val, a: Val, b: Val) -> bool {
        if a == b {
            return true;
        }
        let mut memo = HashMap::default();
        let (a, b) = (
            self.without(exec, a, &mut memo),
            self.without(exec, b, &mut memo),
        );
        a.is_some() && a == b
    }

    /// A mask, or a word of one, with 0 for `exec`; `None` for values other than masks of lanes.
    fn without(&self, exec: Val, v: Val, memo: &mut HashMap<Val, Option<Val>>) -> Option<Val> {
        if v == exec {
            return Some(self.b.constant(Width::W64, 0));
        }
        if let Some(&done) = memo.get(&v) {
            return done;
        }
        let (op, args) = self.b.parts(v);
        let done = match op {
            Op::ReadS(_) | Op::Const(_) => Some(v),
            Op::And | Op::Or | Op::Xor | Op::Not | Op::Pair | Op::Lo | Op::Hi => {
                let args: Option<Vec<Val>> =
                    args.iter().map(|&a| self.without(exec, a, memo)).collect();
                args.map(|args| self.b.pure(op, &args))
            }
            Op::Ballot => {
                let none = self.b.confined(args[0]).into_iter().any(|m| {
                    self.without(exec, m, memo)
                        .is_some_and(|m| self.b.as_const(m) == Some(0))
                });
                Some(if none {
                    self.b.constant(Width::W64, 0)
                } else {
                    v
                })
            }
            _ => None,
        };
        memo.insert(v, done);
        done
    }
}
