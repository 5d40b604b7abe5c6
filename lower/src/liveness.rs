//! Which VGPRs a block's successors may still read, so that dead ones are never stored.
//!
//! The unit is the region: beyond its exits every register is live, except after the end of the wave.
//! A write under EXEC does not end a register's life (inactive lanes keep the old value), so only an
//! unconditional write kills.

use crate::ir::{Block, Func, Op, Target, Term, Val};

/// A set of VGPRs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Vgprs([u64; 4]);

impl Vgprs {
    /// All of them.
    pub const ALL: Vgprs = Vgprs([u64::MAX; 4]);

    /// Is VGPR `n` in the set?
    pub fn has(&self, n: u8) -> bool {
        self.0[usize::from(n) / 64] >> (n % 64) & 1 != 0
    }

    fn add(&mut self, n: u8) {
        self.0[usize::from(n) / 64] |= 1 << (n % 64);
    }

    fn remove(&mut self, n: u8) {
        self.0[usize::from(n) / 64] &= !(1 << (n % 64));
    }

    fn union(&mut self, other: &Vgprs) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a |= b;
        }
    }
}

/// Live VGPRs at the end of every block.
pub fn live_out(f: &Func) -> Vec<Vgprs> {
    let mut out = vec![Vgprs::default(); f.blocks.len()];
    let mut live_in = vec![Vgprs::default(); f.blocks.len()];
    loop {
        let mut changed = false;
        for i in (0..f.blocks.len()).rev() {
            let block = &f.blocks[i];
            let live = live_at_end(block, &live_in);
            let entry = live_at_start(block, live);
            changed |= live != out[i] || entry != live_in[i];
            out[i] = live;
            live_in[i] = entry;
        }
        if !changed {
            return out;
        }
    }
}

fn live_at_end(block: &Block, live_in: &[Vgprs]) -> Vgprs {
    let of = |t: &Target| match *t {
        Target::Block { block, .. } => live_in[block],
        Target::Exit { .. } => Vgprs::ALL,
    };
    match &block.term {
        Term::Jump(t) => of(t),
        Term::Branch { then, other, .. } => {
            let mut live = of(then);
            live.union(&of(other));
            live
        }
        Term::End => Vgprs::default(),
        // The interpreter may read any register.
        Term::Fallback { .. }
        | Term::Indirect(_)
        | Term::Barrier { .. }
        | Term::Interpret { .. } => Vgprs::ALL,
    }
}

/// Values that the block needs whatever VGPRs are wanted: effects, scalars, the terminator's.
pub fn roots(block: &Block) -> Vec<Val> {
    let mut roots: Vec<Val> = block.effects.clone();
    roots.extend(block.writes_s.iter().map(|&(_, v)| v));
    roots.extend(block.counts.iter().map(|&(v, _)| v));
    match &block.term {
        Term::Branch { cond: v, .. } | Term::Indirect(v) => roots.push(*v),
        _ => {}
    }
    roots
}

/// Values that the block needs when the registers in `live` are wanted at its end.
pub fn needed(block: &Block, live: &Vgprs) -> Vec<bool> {
    let mut needed = vec![false; block.nodes.len()];
    let mut work = roots(block);
    work.extend(
        block
            .writes_v
            .iter()
            .filter(|(n, _)| live.has(*n))
            .map(|&(_, v)| v),
    );
    while let Some(v) = work.pop() {
        if !std::mem::replace(&mut needed[v.index()], true) {
            work.extend(block.nodes[v.index()].args.iter());
        }
    }
    needed
}

fn live_at_start(block: &Block, live: Vgprs) -> Vgprs {
    let needed = needed(block, &live);
    let mut entry = live;
    for &(n, _) in &block.writes_v {
        entry.remove(n);
    }
    for (i, node) in block.nodes.iter().enumerate() {
        if let (Op::ReadV(n), true) = (node.op, needed[i]) {
            entry.add(n);
        }
    }
    entry
}
