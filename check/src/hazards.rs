//! Independent instructions that must stand between a producer and a consumer: wait states.
//!
//! The state has an entry for each thing that a row's producer has made, with the wait states since then
//! on the path with the fewest. An entry lives as long as its row asks, and longer where an `s_nop` is among
//! the wait states: if it would be missing without that, the `s_nop` is needed.

use std::collections::BTreeMap;

use frontend::Op;

use crate::cfg::{Code, Item, Routine};
use crate::finding::Report;
use crate::registers::{self, Reg};
use crate::solve::{State, solve};

mod table;
mod xnack;

use table::{ROWS, Row};

/// The most `s_nop`s of a path to an entry that are told apart.
const MOST_NOPS: usize = 3;

/// `s_nop`s passed: index plus one and wait states; 0 is none.
type Nops = [(u32, u8); MOST_NOPS];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    row: u8,
    reg: Reg,
    nops: Nops,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key: Key,
    states: u8,
    producer: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Recent {
    /// By key.
    entries: Vec<Entry>,
}

impl State for Recent {
    fn join(&mut self, other: &Recent) -> bool {
        let mut changed = false;
        for entry in &other.entries {
            match self.entries.binary_search_by_key(&entry.key, |e| e.key) {
                Ok(at) if entry.states < self.entries[at].states => {
                    self.entries[at] = *entry;
                    changed = true;
                }
                Ok(_) => {}
                Err(at) => {
                    self.entries.insert(at, *entry);
                    changed = true;
                }
            }
        }
        changed
    }

    fn size(&self) -> usize {
        self.entries.len()
    }
}

/// The rows of a target, with their numbers and wait states.
struct Rows(Vec<(u8, u8, &'static Row)>);

/// Wait states of an instruction.
fn states_of(item: &Item) -> u8 {
    match item.inst.op() {
        _ if item.removed => 0,
        Op::Nop if registers::is_salu(&item.inst) => (item.imm() & 15) as u8 + 1,
        _ => 1,
    }
}

/// Is it `s_nop`?
pub(crate) fn is_nop(item: &Item) -> bool {
    item.inst.op() == Op::Nop && registers::is_salu(&item.inst)
}

/// Needed `s_nop`s, and whether all of their wait states are.
type Needed = BTreeMap<usize, bool>;

struct Walk<'a> {
    code: &'a Code,
    rows: Rows,
    needed: Needed,
    found: Vec<(&'static Row, u8, usize, usize, u8)>,
}

impl Walk<'_> {
    fn step(&mut self, recent: &mut Recent, at: usize) {
        let code = self.code;
        let item = &code.items[at];
        if item.removed {
            return;
        }
        for entry in &recent.entries {
            let Some(&(_, wanted, row)) = self.rows.0.iter().find(|row| row.0 == entry.key.row)
            else {
                continue;
            };
            if !(row.consumes)(item, code.gfx, entry.key.reg) {
                continue;
            }
            if entry.states < wanted {
                self.found
                    .push((row, wanted, at, entry.producer as usize, entry.states));
                continue;
            }
            for (nop, states) in entry.key.nops {
                if nop == 0 {
                    continue;
                }
                if entry.states - states < wanted {
                    let exact = entry.states - 1 < wanted;
                    *self.needed.entry(nop as usize - 1).or_default() |= exact;
                }
            }
        }
        let passed = states_of(item);
        let nop = is_nop(item).then_some((at as u32 + 1, passed));
        let rows = &self.rows;
        let needed = &mut self.needed;
        recent.entries.retain_mut(|entry| {
            let Some(&(_, wanted, _)) = rows.0.iter().find(|row| row.0 == entry.key.row) else {
                return false;
            };
            let before = entry.states;
            entry.states = before.saturating_add(passed);
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
            entry.states.saturating_sub(most) < wanted
        });
        for &(number, _, row) in &self.rows.0 {
            for span in (row.produces)(item, code.gfx) {
                for reg in span.each() {
                    // What is older no longer counts.
                    recent
                        .entries
                        .retain(|entry| (entry.key.row, entry.key.reg) != (number, reg));
                    recent.entries.push(Entry {
                        key: Key {
                            row: number,
                            reg,
                            nops: Nops::default(),
                        },
                        states: 0,
                        producer: at as u32,
                    });
                }
            }
        }
        recent
            .entries
            .sort_by_key(|entry| (entry.key, entry.states));
        recent.entries.dedup_by_key(|entry| entry.key);
    }
}

pub(crate) fn check(routine: &Routine<'_>, code: &Code, report: &mut Report) {
    xnack::check(routine, code, report);
    let rows = ROWS.iter().enumerate().filter_map(|(number, row)| {
        let wanted = (row.states)(routine.gfx)?;
        Some((number as u8, wanted, row))
    });
    let mut walk = Walk {
        code,
        rows: Rows(rows.collect()),
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
