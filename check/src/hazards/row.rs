//! What a rule of wait states consists of.

use frontend::Gfx;
use frontend::inst::{EXEC_HI, EXEC_LO};
use frontend::registers::{Reg, SCC, Span, VGPR, is_valu};

use crate::cfg::Item;
use crate::finding::{Certainty, Rule};

/// A rule: between an instruction that produces something and one that consumes it there are others.
pub(super) struct Row {
    pub(super) rule: Rule,
    /// How many at most, if the rule holds for the target.
    pub(super) states: fn(Gfx) -> Option<u8>,
    /// What the instruction produces: registers, or numbers of other things.
    pub(super) produces: fn(&Item, Gfx) -> Vec<Span>,
    pub(super) consumes: Consumes,
    /// The sentence: `PRODUCER ..., which CONSUMER ...`.
    pub(super) does: &'static str,
}

/// What consumes it.
pub(super) enum Consumes {
    /// An instruction that uses this register or thing needs all wait states.
    Result(fn(&Item, Gfx, Reg) -> bool),
    /// As [`Consumes::Result`], of VCC, which has the number of an SGPR as well: the register under its other name.
    OtherName(fn(&Item, Gfx, Reg) -> bool),
    /// As [`Consumes::Result`], if an instruction of this kind is between.
    Behind(fn(&Item, Gfx) -> bool, fn(&Item, Gfx, Reg) -> bool),
    /// The wait states that producer and consumer need; 0: none. A later producer of the same registers replaces
    /// an earlier one.
    Pair(fn(&Item, &Item, Gfx) -> u8),
}

pub(super) const fn rule(
    id: &'static str,
    title: &'static str,
    certainty: Certainty,
    source: &'static str,
) -> Rule {
    Rule {
        id,
        title,
        certainty,
        source,
    }
}

pub(super) fn only(holds: bool, n: u8) -> Option<u8> {
    holds.then_some(n)
}

/// What the rows about no register in particular produce.
pub(super) const ONE: Span = Span { first: 0, count: 1 };

pub(super) fn scalars_of_valu(item: &Item, _: Gfx) -> Vec<Span> {
    match is_valu(&item.inst) {
        true => scalars(&item.uses.writes),
        false => vec![],
    }
}

pub(super) fn scalars(spans: &[Span]) -> Vec<Span> {
    let exec = Reg::from(EXEC_LO);
    let found = spans
        .iter()
        .filter(|span| span.first < SCC && span.first != exec);
    found.copied().collect()
}

pub(super) fn vectors_of_valu(item: &Item, _: Gfx) -> Vec<Span> {
    match is_valu(&item.inst) {
        true => vectors(&item.uses.writes),
        false => vec![],
    }
}

pub(super) fn vectors(spans: &[Span]) -> Vec<Span> {
    let found = spans.iter().filter(|span| span.first >= VGPR);
    found.copied().collect()
}

fn writes_exec(item: &Item) -> bool {
    item.uses.writes(Reg::from(EXEC_LO)) || item.uses.writes(Reg::from(EXEC_HI))
}

pub(super) fn exec_of_valu(item: &Item, _: Gfx) -> Vec<Span> {
    match is_valu(&item.inst) && writes_exec(item) {
        true => vec![ONE],
        false => vec![],
    }
}
