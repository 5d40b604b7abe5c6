//! A block from its entry to its exits.

use frontend::inst::{EXEC_LO, Operand};

use super::lane_sets::{Acting, acting};
use super::offset_tables::{Known, TableFact};
use super::transfer::{guard_of, pair_of, step_of, zeros};
use super::{ALIKE, Affine, Analysis, Fact, Facts, Registers, Set, UNIFORM};
use crate::ir::functions::EffectFn;
use crate::ir::{Block, Op, Slot, Term, Val, Vary, Width};
use crate::maps::HashMap;

impl Analysis<'_> {
    /// Visits a block; returns the registers at its end, and the facts about its addresses; with `note_acting` also
    /// the lanes on which it acts.
    pub(super) fn block(
        &mut self,
        b: usize,
        entry: &Registers,
        mut facts: Option<&mut Facts>,
        note_acting: bool,
    ) -> Registers {
        let block = &self.f.blocks[b];
        let mut values: Vec<Option<Fact>> = Vec::with_capacity(block.nodes.len());
        let mut tables: Vec<Option<TableFact>> = Vec::with_capacity(block.nodes.len());
        let mut sets: HashMap<Val, Set> = HashMap::default();
        for (i, node) in block.nodes.iter().enumerate() {
            let v = Val(i as u32);
            if node.ty.vary == Vary::Wave {
                if node.ty.width == Width::W64
                    && let Some(set) = self.exec_value(b, block, v, entry, &sets)
                {
                    sets.insert(v, set);
                }
                values.push(Some(Fact {
                    aligned: zeros(block, v, 0),
                    ..UNIFORM
                }));
                tables.push(None);
                continue;
            }
            let fact = self.lane_fact(block, v, entry, &values, &sets);
            let table = match fact {
                None if self.pool.is_some() => {
                    let known = Known {
                        block,
                        entry,
                        values: &values,
                        tables: &tables,
                        sets: &sets,
                    };
                    self.table_fact(&known, v)
                }
                _ => None,
            };
            values.push(fact);
            tables.push(table);
            if let Some(facts) = facts.as_deref_mut()
                && let Some(step) = step_of(node, fact, &values)
            {
                facts.steps.insert((b, v), step);
            }
            if let Some(facts) = facts.as_deref_mut()
                && let Some(guard) = guard_of(block, node, fact, &values)
            {
                facts.guards.insert((b, v), guard);
            }
            if let Some(facts) = facts.as_deref_mut()
                && let Op::Load(..) | Op::Store(..) | Op::Atomic(..) = node.op
            {
                self.note_address(b, block, v, (&values, &tables), &sets, facts);
            }
            if let Some(facts) = facts.as_deref_mut()
                && let Op::Icmp(_) = node.op
            {
                for &a in node.args.iter() {
                    let lane = block.nodes[a.index()].ty.vary != Vary::Wave;
                    let holds = |f: &Fact| lane && !f.masked && self.within(entry.exec, f.set);
                    let fact = values[a.index()].filter(holds);
                    facts
                        .lines
                        .extend(fact.map(|f| ((b, a), self.affine(block, a, f))));
                }
            }
        }
        // A store has no lane result, so its type is a wave's: effects are visited separately.
        if let Some(facts) = facts.as_deref_mut() {
            for &v in &block.effects {
                self.note_address(b, block, v, (&values, &tables), &sets, facts);
            }
        }
        let exit = self.exit(b, block, entry, (&values, &tables), &sets);
        if let Some(facts) = facts.filter(|_| note_acting) {
            let (inside, exit) = (acting(block, &sets), exit.exec);
            facts.acting.insert(b, Acting { inside, exit });
        }
        exit
    }

    /// The set of lanes that a 64-bit wave value denotes as EXEC.
    pub(super) fn exec_value(
        &mut self,
        b: usize,
        block: &Block,
        v: Val,
        entry: &Registers,
        sets: &HashMap<Val, Set>,
    ) -> Option<Set> {
        let node = &block.nodes[v.index()];
        let set = |i: usize| sets.get(&node.args[i]).copied();
        let here = Set::At(b, v);
        match node.op {
            Op::ReadS(Slot::Exec) => Some(entry.exec),
            Op::ReadS(Slot::Vcc) => entry.vcc,
            Op::Const(u64::MAX) => Some(Set::All),
            Op::Pair => {
                let (lo, hi) = (
                    &block.nodes[node.args[0].index()],
                    &block.nodes[node.args[1].index()],
                );
                match (lo.op, hi.op) {
                    (Op::ReadS(Slot::Sgpr(n)), Op::ReadS(Slot::Sgpr(m))) if m == n + 1 => {
                        entry.saved.get(&n).copied()
                    }
                    _ => None,
                }
            }
            Op::And => {
                let parent = match (set(0), set(1)) {
                    (Some(x), Some(y)) => match self.meet_sets(x, y) {
                        Some(smaller) => return Some(smaller),
                        // Of two unrelated supersets the ancestor of EXEC is kept: guest code
                        // restores it later.
                        None if self.within(y, entry.exec) => y,
                        None => x,
                    },
                    (Some(x), None) | (None, Some(x)) => x,
                    (None, None) => return None,
                };
                self.put(here, parent);
                Some(here)
            }
            Op::Or => {
                let (x, y) = (set(0)?, set(1)?);
                if self.within(x, y) {
                    Some(y)
                } else if self.within(y, x) {
                    Some(x)
                } else {
                    // Lanes of both sides of a branch: they lie within a common superset of both.
                    let both = self.around(x, y)?;
                    self.put(here, both);
                    Some(here)
                }
            }
            Op::Xor => {
                // Removing a subset.
                let (x, y) = (set(0)?, set(1)?);
                let parent = if self.within(y, x) {
                    x
                } else if self.within(x, y) {
                    y
                } else {
                    return None;
                };
                self.put(here, parent);
                Some(here)
            }
            Op::Ballot => {
                let mask = &block.nodes[node.args[0].index()];
                let exec = mask.args.iter().find_map(|&a| {
                    let arg = &block.nodes[a.index()];
                    (mask.op == Op::And && arg.op == Op::ExecMask).then(|| arg.args[0])
                })?;
                let parent = *sets.get(&exec)?;
                self.put(here, parent);
                Some(here)
            }
            _ => None,
        }
    }

    pub(super) fn note_address(
        &self,
        b: usize,
        block: &Block,
        v: Val,
        (values, tables): (&[Option<Fact>], &[Option<TableFact>]),
        sets: &HashMap<Val, Set>,
        facts: &mut Facts,
    ) {
        let node = &block.nodes[v.index()];
        if !matches!(node.op, Op::Load(..) | Op::Store(..) | Op::Atomic(..)) {
            return;
        }
        let mask = &block.nodes[node.args[1].index()];
        let lanes = match mask.op {
            Op::ExecMask => sets.get(&mask.args[0]).copied(),
            Op::Const(_) => Some(Set::All),
            _ => None,
        };
        let holds = |set: Set| lanes.is_some_and(|lanes| self.within(lanes, set));
        let address = node.args[0];
        if let Some(fact) = values[address.index()].filter(|f| holds(f.set)) {
            let affine = self.affine(block, address, fact);
            facts.addresses.insert((b, v), affine);
        }
        if let Some(table) = tables[address.index()].filter(|t| holds(t.set)) {
            facts.tables.insert((b, v), self.table(table));
        }
    }

    pub(super) fn exit(
        &mut self,
        b: usize,
        block: &Block,
        entry: &Registers,
        (values, tables): (&[Option<Fact>], &[Option<TableFact>]),
        sets: &HashMap<Val, Set>,
    ) -> Registers {
        let relative = |v: &Val| {
            matches!(
                block.nodes[v.index()].op,
                Op::Effect {
                    f: EffectFn::WriteRelative,
                    ..
                }
            )
        };
        // EXEC is unrelated to the block's last value.
        let exec = Set::At(b, Val(u32::MAX));
        if matches!(block.term, Term::Fallback { .. }) || block.effects.iter().any(relative) {
            // The interpreter may change anything, a write by number any VGPR.
            self.put(exec, Set::All);
            return Registers {
                vgpr: vec![None; entry.vgpr.len()],
                pair: HashMap::default(),
                tables: HashMap::default(),
                saved: HashMap::default(),
                vcc: None,
                exec,
                constants: HashMap::default(),
            };
        }
        let mut r = entry.clone();
        let new = |v: Val| {
            let node = &block.nodes[v.index()];
            match node.op {
                Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                    (node.args[1], Some(node.args[0]))
                }
                _ => (v, None),
            }
        };
        for (n, v) in block.lane_writes() {
            r.vgpr[usize::from(n)] = values[v.index()].filter(|f| !f.stepped);
            match tables[v.index()] {
                Some(table) => r.tables.insert(n, table),
                None => r.tables.remove(&n),
            };
            r.pair.remove(&n);
            if let Some(below) = n.checked_sub(1) {
                r.pair.remove(&below);
            }
        }
        // Two halves of one 64-bit value written to adjacent registers under the same EXEC.
        for (n, lo) in block.lane_writes() {
            let next = Some(n + 1);
            let Some((_, hi)) = block.lane_writes().find(|w| Some(w.0) == next) else {
                continue;
            };
            let ((lo, lo_mask), (hi, hi_mask)) = (new(lo), new(hi));
            let wide = pair_of(block, lo, hi).filter(|_| lo_mask == hi_mask);
            let known = wide.and_then(|wide| values[wide.index()]);
            let Some(fact) = known.filter(|f| !f.stepped) else {
                continue;
            };
            let set = match lo_mask {
                None => Some(fact.set),
                Some(mask) => sets
                    .get(&block.nodes[mask.index()].args[0])
                    .and_then(|&exec| self.meet_sets(fact.set, exec)),
            };
            if let Some(set) = set {
                r.pair.insert(n, Fact { set, ..fact });
            }
        }
        for &(slot, v) in &block.writes_s {
            match entry.constant(block, v) {
                Some(c) => r.constants.insert(slot, c),
                None => r.constants.remove(&slot),
            };
            match slot {
                Slot::Exec => {
                    r.exec = sets.get(&v).copied().unwrap_or_else(|| {
                        let made = Set::At(b, v);
                        if !self.parents.contains_key(&made) {
                            self.put(made, Set::All);
                        }
                        made
                    });
                }
                Slot::Vcc => r.vcc = sets.get(&v).copied(),
                Slot::Sgpr(n) => {
                    r.saved.remove(&n);
                    if let Some(below) = n.checked_sub(1) {
                        r.saved.remove(&below);
                    }
                }
                Slot::Scc | Slot::Mode | Slot::Temp(_) => {}
            }
        }
        let slots: HashMap<Slot, Val> = block.writes_s.iter().copied().collect();
        for (&slot, &lo) in &slots {
            if let Slot::Sgpr(n) = slot
                && let Some(&hi) = slots.get(&Slot::Sgpr(n.wrapping_add(1)))
            {
                let (lo, hi) = (&block.nodes[lo.index()], &block.nodes[hi.index()]);
                if lo.op == Op::Lo
                    && hi.op == Op::Hi
                    && lo.args[0] == hi.args[0]
                    && let Some(&set) = sets.get(&lo.args[0])
                {
                    r.saved.insert(n, set);
                }
            }
        }
        for call in block.term.matrix_calls() {
            call.writes().for_each(|n| r.forget(n));
        }
        if let Term::ScalarMove { site, .. } = block.term {
            // Any scalar register may have changed; EXEC if it has the destination's number.
            r.saved.clear();
            r.constants.clear();
            r.vcc = None;
            let d = self.f.sites[site.0 as usize].inst.dst[0];
            if !matches!(d, Operand::Sgpr(n) if n < EXEC_LO - 1) {
                self.put(exec, Set::All);
                r.exec = exec;
            }
        }
        r
    }

    /// A fact as exposed to other modules.
    fn affine(&self, block: &Block, v: Val, fact: Fact) -> Affine {
        let wide = block.nodes[v.index()].ty.width == Width::W64;
        let stride = if wide {
            fact.stride as i64
        } else {
            i64::from(fact.stride as u32 as i32)
        };
        Affine {
            stride,
            guarded: fact.guarded || !wide && self.may_wrap(fact, 32),
            whole: fact.whole,
            alike: fact.alike == ALIKE,
            stepped: fact.stepped,
            masked: fact.masked,
        }
    }
}
