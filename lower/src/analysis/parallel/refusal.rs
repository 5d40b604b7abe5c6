//! Why blocks are no parallel region.

use crate::ir::{Func, Op, Val};

/// Why blocks are no parallel region. A block is given by its number in the region, a value by its block and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A block is a part of another form already.
    Taken(usize),
    /// A block ends with a barrier, a return or the like.
    End(usize),
    /// An effect whose order lanes can observe, or a whole-wave operation.
    Effect(usize, Val),
    /// A block changes MODE.
    Mode(usize),
    /// Too many operations.
    Large,
    /// The exits differ, or leave the region.
    Exits,
    /// A block uses parts of a mask other than as a mask.
    Mask(usize),
    /// A value depends on lanes of other groups.
    Value(usize, Val),
    /// The scalars change that say where scratch is.
    ScratchMoves,
    /// Scratch is read that a store of the same region may have written, so that the region cannot restart.
    ScratchReadBack,
    /// A load at an address that is computed and not affine.
    Address(usize, Val),
    /// Too few operations for the registers that it loads and stores.
    Small,
    /// A group without active lanes may not skip what the branch of this block skips.
    Skip(usize),
}

impl Refusal {
    /// In words, as the reason why lane groups do not execute the loop on their own.
    pub fn text(self, f: &Func) -> String {
        let node = |b: usize, v: Val| &f.blocks[b].nodes[v.index()];
        match self {
            Refusal::Taken(_) => "a part of it has another form".to_owned(),
            Refusal::End(_) => "it has a barrier, a return or an indirect jump".to_owned(),
            Refusal::Effect(b, v) => format!("it has a {}", node(b, v).op.in_words()),
            Refusal::Mode(_) => "it changes MODE".to_owned(),
            Refusal::Large => "it is too large".to_owned(),
            Refusal::Exits => "it has several exits".to_owned(),
            Refusal::Mask(_) => "a mask is used as a number".to_owned(),
            Refusal::Value(b, v) => format!("it uses {}", value(node(b, v).op)),
            Refusal::ScratchMoves => "the base of its scratch changes".to_owned(),
            Refusal::ScratchReadBack => "it reads scratch that it has written".to_owned(),
            Refusal::Address(..) => "it loads at addresses that are not affine".to_owned(),
            Refusal::Small => "it computes too little".to_owned(),
            Refusal::Skip(_) => "groups without active lanes may not skip all of it".to_owned(),
        }
    }
}

/// A value that depends on other lanes, in words.
fn value(op: Op) -> String {
    match op {
        Op::LaneAt => "the value of one lane".to_owned(),
        Op::Icmp(_) | Op::Add | Op::Sub => "a number made of a mask".to_owned(),
        op => op.in_words(),
    }
}
