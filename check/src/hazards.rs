//! Independent instructions that must stand between a producer and a consumer: wait states.
//!
//! The state has an entry for each result of a row's producer, with the wait states since then
//! on the path with the fewest. An entry lives as long as its row requires, and longer where an `s_nop` is among
//! the wait states: if it would be missing without that, the `s_nop` is needed.

use std::collections::BTreeMap;

use frontend::inst::VCC_LO;
use frontend::registers::{self, Reg, Span};
use frontend::{Gfx, Op};

use crate::cfg::{Code, Item, Routine};
use crate::finding::{Report, Rule};
use crate::solve::{Entry, Least, solve};

mod matrix;
mod row;
mod table;
mod xnack;

use row::{Consumes, Row};

/// The most `s_nop`s of a path to an entry that are told apart.
const MOST_NOPS: usize = 3;

/// `s_nop`s passed: index plus one and wait states; 0 is none.
type Nops = [(u32, u8); MOST_NOPS];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// Index into [`Walk::rows`].
    row: u8,
    reg: Reg,
    /// The producer's index plus one, if its row tells producers apart.
    apart: u32,
    /// Is an instruction of the kind that the row requires in between?
    behind: bool,
    nops: Nops,
}

/// What was produced; an age is a number of wait states.
type Recent = Least<Key>;

/// A row that holds for the target, with its wait states.
type Wanted = (u8, &'static Row);

/// All rules.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    let rows = table::ROWS.iter().chain(matrix::ROWS);
    rows.map(|row| &row.rule)
        .chain(xnack::RULES.iter().copied())
}

/// Wait states of an instruction. `s_nop` has up to sixteen on gfx9 and up to eight before. (Vega ISA, S_NOP; the older
/// manuals)
fn states_of(item: &Item, gfx: Gfx) -> u8 {
    let most = if gfx.is_gfx9() { 15 } else { 7 };
    match item.inst.op() {
        _ if item.removed => 0,
        Op::Nop if registers::is_salu(&item.inst) => (item.imm() & most) as u8 + 1,
        _ => 1,
    }
}

/// Is it `s_nop`?
pub(crate) fn is_nop(item: &Item) -> bool {
    item.inst.op() == Op::Nop && registers::is_salu(&item.inst)
}

/// The first of the two SGPRs that hold VCC: gfx9 has it in the last two that are allocated (Vega ISA 3.6.2 and 3.9; LLVM
/// reserves them, getBaseReservedNumSGPRs). Of 112 SGPRs, the last two have no encoding. A function has no allocation of its own.
fn vcc(routine: &Routine<'_>) -> Option<Reg> {
    let sgprs = routine.kernel.filter(|_| routine.gfx.is_gfx9())?.sgprs;
    let first = sgprs.checked_sub(2)?;
    (sgprs <= routine.gfx.max_sgprs()).then_some(first as Reg)
}

/// Needed `s_nop`s, and whether all of their wait states are.
type Needed = BTreeMap<usize, bool>;

struct Walk<'a> {
    code: &'a Code,
    rows: Vec<Wanted>,
    /// The first of the two SGPRs that hold VCC; none in a function.
    vcc: Option<Reg>,
    needed: Needed,
    found: Vec<(&'static Row, u8, usize, usize, u8)>,
}

impl Walk<'_> {
    /// The number of the SGPR that holds a half of VCC, or the half that an SGPR holds.
    fn other_name(&self, reg: Reg) -> Option<Reg> {
        let (name, number) = (Reg::from(VCC_LO), self.vcc?);
        let pair = |first| Span { first, count: 2 };
        match reg {
            reg if pair(name).has(reg) => Some(number + (reg - name)),
            reg if pair(number).has(reg) => Some(name + (reg - number)),
            _ => None,
        }
    }

    /// The wait states that an instruction needs behind a producer; 0: none.
    fn wanted(&self, entry: &Entry<Key>, most: u8, row: &Row, item: &Item) -> u8 {
        let (gfx, key) = (self.code.gfx, &entry.key);
        let uses = match row.consumes {
            Consumes::Result(uses) => uses(item, gfx, key.reg),
            Consumes::OtherName(uses) => self
                .other_name(key.reg)
                .is_some_and(|reg| uses(item, gfx, reg)),
            Consumes::Behind(_, uses) => key.behind && uses(item, gfx, key.reg),
            Consumes::Pair(states) => {
                return states(&self.code.items[entry.producer as usize], item, gfx);
            }
        };
        if uses { most } else { 0 }
    }

    /// Adds what an instruction produces; an older result in the same register is overwritten.
    fn produce(&self, recent: &mut Recent, at: usize) {
        let (items, gfx) = (&self.code.items, self.code.gfx);
        let item = &items[at];
        for (number, (_, row)) in (0u8..).zip(&self.rows) {
            if let Consumes::Behind(between, _) = row.consumes
                && between(item, gfx)
            {
                let of_row = recent.entries.iter_mut();
                of_row
                    .filter(|entry| entry.key.row == number)
                    .for_each(|entry| entry.key.behind = true);
            }
            let spans = (row.produces)(item, gfx);
            let entry = |reg, apart| Entry {
                key: Key {
                    row: number,
                    reg,
                    apart,
                    behind: false,
                    nops: Nops::default(),
                },
                age: 0,
                producer: at as u32,
            };
            if let (Consumes::Pair(_), false) = (&row.consumes, spans.is_empty()) {
                recent.entries.retain(|entry| {
                    let older = || (row.produces)(&items[entry.producer as usize], gfx);
                    let overlap = |old: &Span| spans.iter().any(|new| new.overlaps(*old));
                    entry.key.row != number || !older().iter().any(overlap)
                });
                recent.entries.push(entry(0, at as u32 + 1));
                continue;
            }
            let by_name = matches!(row.consumes, Consumes::OtherName(_));
            for reg in spans.into_iter().flat_map(Span::each) {
                if by_name && self.other_name(reg).is_none() {
                    continue;
                }
                recent
                    .entries
                    .retain(|entry| (entry.key.row, entry.key.reg) != (number, reg));
                recent.entries.push(entry(reg, 0));
            }
        }
    }

    fn step(&mut self, recent: &mut Recent, at: usize) {
        let code = self.code;
        let item = &code.items[at];
        if item.removed {
            return;
        }
        for entry in &recent.entries {
            let (most, row) = self.rows[usize::from(entry.key.row)];
            let wanted = self.wanted(entry, most, row, item);
            if wanted == 0 {
                continue;
            }
            if entry.age < wanted {
                self.found
                    .push((row, wanted, at, entry.producer as usize, entry.age));
                continue;
            }
            for (nop, states) in entry.key.nops {
                if nop == 0 {
                    continue;
                }
                if entry.age - states < wanted {
                    let exact = entry.age - 1 < wanted;
                    *self.needed.entry(nop as usize - 1).or_default() |= exact;
                }
            }
        }
        let passed = states_of(item, code.gfx);
        let nop = is_nop(item).then_some((at as u32 + 1, passed));
        let rows = &self.rows;
        let needed = &mut self.needed;
        recent.entries.retain_mut(|entry| {
            let (wanted, _) = rows[usize::from(entry.key.row)];
            let before = entry.age;
            entry.age = before.saturating_add(passed);
            if let Some(nop) = nop
                && before < wanted
                && !entry.key.nops.iter().any(|known| known.0 == nop.0)
            {
                match entry.key.nops.iter_mut().find(|known| known.0 == 0) {
                    Some(free) => *free = nop,
                    None => {
                        needed.insert(nop.0 as usize - 1, true);
                    }
                }
            }
            let most = entry.key.nops.iter().map(|nop| nop.1).max().unwrap_or(0);
            entry.age.saturating_sub(most) < wanted
        });
        self.produce(recent, at);
        recent.sort();
    }
}

pub(crate) fn check(routine: &Routine<'_>, code: &Code, report: &mut Report) {
    xnack::check(routine, code, report);
    let rows = table::ROWS
        .iter()
        .chain(matrix::ROWS)
        .filter_map(|row| Some(((row.states)(routine.gfx)?, row)));
    let mut walk = Walk {
        code,
        rows: rows.collect(),
        vcc: vcc(routine),
        needed: Needed::default(),
        found: Vec::new(),
    };
    let states = solve(
        code,
        Recent::default(),
        |block, recent| {
            for at in code.blocks[block].items.clone() {
                walk.step(recent, at);
            }
        },
        |_, _, _| {},
    );
    let Some(states) = states else {
        report
            .unchecked
            .push("the control flow is too involved to count wait states".to_owned());
        return;
    };
    walk.needed.clear();
    walk.found.clear();
    for (block, state) in states.into_iter().enumerate() {
        if let Some(mut recent) = state {
            for at in code.blocks[block].items.clone() {
                walk.step(&mut recent, at);
            }
        }
    }
    for (row, wanted, at, producer, states) in walk.found {
        let from = &code.items[producer];
        let why = format!(
            "`{}` at {:#x} {}: {wanted} wait states are needed, {states} {} there",
            from.inst.text(code.gfx),
            from.address,
            row.does,
            if states == 1 { "is" } else { "are" },
        );
        report.add(&row.rule, at, Some(producer), why);
    }
    for (at, item) in code.items.iter().enumerate() {
        if !is_nop(item) || item.removed || !code.is_reached(at) {
            continue;
        }
        match walk.needed.get(&at) {
            None => report.redundant.push((at, None)),
            Some(false) => report.stronger.push((at, None)),
            Some(true) => {}
        }
    }
}
