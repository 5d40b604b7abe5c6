//! Which registers a block's successors may still read, so that dead ones are never computed or stored.
//!
//! The unit is the region: beyond its exits every register is live, except after the end of the wave.
//! A write of a VGPR under EXEC does not end its life (inactive lanes keep the old value), so its merge
//! reads it; a scalar write does.

use crate::functions::EffectFn;
use crate::ir::{Block, Func, Op, Slot, Target, Term, Val};

/// A set of registers: 256 VGPRs, then the scalar slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Live([u64; 7]);

/// Bit number of a scalar slot.
fn slot_bit(slot: Slot) -> usize {
    256 + match slot {
        Slot::Sgpr(n) => usize::from(n & 127),
        Slot::Exec => 128,
        Slot::Vcc => 129,
        Slot::Scc => 130,
        Slot::Mode => 131,
    }
}

impl Live {
    /// All of them.
    pub const ALL: Live = Live([u64::MAX; 7]);

    fn bit(&self, n: usize) -> bool {
        self.0[n / 64] >> (n % 64) & 1 != 0
    }

    fn set(&mut self, n: usize, on: bool) {
        let bit = 1 << (n % 64);
        if on {
            self.0[n / 64] |= bit;
        } else {
            self.0[n / 64] &= !bit;
        }
    }

    /// Is VGPR `n` in the set?
    pub fn has(&self, n: u8) -> bool {
        self.bit(usize::from(n))
    }

    /// Is a scalar slot in the set?
    pub fn has_slot(&self, slot: Slot) -> bool {
        self.bit(slot_bit(slot))
    }

    fn union(&mut self, other: &Live) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a |= b;
        }
    }
}

/// Live registers at the end of every block.
pub fn live_out(f: &Func) -> Vec<Live> {
    lives(f).1
}

/// VGPRs that the region may read before it has written all their lanes, as bits; ways out read all. First
/// whatever EXEC is at the entry, then when it is all ones there. `live` is at the end of the first block.
pub fn reads(f: &Func, live: &Live) -> [[u64; 4]; 2] {
    [false, true].map(|full| {
        let entry = live_at_start(&f.blocks[0], *live, full);
        [entry.0[0], entry.0[1], entry.0[2], entry.0[3]]
    })
}

/// Live registers at the beginning and at the end of every block.
pub fn lives(f: &Func) -> (Vec<Live>, Vec<Live>) {
    let mut out = vec![Live::default(); f.blocks.len()];
    let mut live_in = vec![Live::default(); f.blocks.len()];
    loop {
        let mut changed = false;
        for i in (0..f.blocks.len()).rev() {
            let block = &f.blocks[i];
            let live = live_at_end(block, &live_in);
            let entry = live_at_start(block, live, false);
            changed |= live != out[i] || entry != live_in[i];
            out[i] = live;
            live_in[i] = entry;
        }
        if !changed {
            return (live_in, out);
        }
    }
}

fn live_at_end(block: &Block, live_in: &[Live]) -> Live {
    let of = |t: &Target| match *t {
        Target::Block { block, .. } => live_in[block],
        Target::Exit { .. } => Live::ALL,
    };
    match &block.term {
        Term::Jump(t) | Term::Barrier { next: t } => of(t),
        Term::Branch { then, other, .. } => {
            let mut live = of(then);
            live.union(&of(other));
            live
        }
        Term::End => Live::default(),
        // The interpreter may read any register.
        Term::Fallback { .. } | Term::Indirect(_) | Term::Interpret { .. } => Live::ALL,
    }
}

/// Values that the block needs whatever VGPRs are wanted: effects, live scalars, the terminator's.
pub fn roots(block: &Block, live: &Live) -> Vec<Val> {
    let mut roots: Vec<Val> = block.effects.clone();
    roots.extend(
        block
            .writes_s
            .iter()
            .filter(|(s, _)| live.has_slot(*s))
            .map(|&(_, v)| v),
    );
    roots.extend(block.execs.iter().map(|&(_, v)| v));
    roots.extend(block.counts.iter().map(|&(v, _)| v));
    match &block.term {
        Term::Branch { cond: v, .. } | Term::Indirect(v) => roots.push(*v),
        _ => {}
    }
    roots
}

/// Values that the block needs when the registers in `live` are wanted at its end.
pub fn needed(block: &Block, live: &Live) -> Vec<bool> {
    needed_when(block, live, false)
}

/// As [`needed`]; `full` when EXEC is known to be all ones where the block begins.
fn needed_when(block: &Block, live: &Live, full: bool) -> Vec<bool> {
    let is_full = |mask: Val| {
        let mask = &block.nodes[mask.index()];
        let of = |v: Val| block.nodes[v.index()].op;
        full && mask.op == Op::ExecMask && of(mask.args[0]) == Op::ReadS(Slot::Exec)
    };
    let mut needed = vec![false; block.nodes.len()];
    let mut work = roots(block, live);
    work.extend(
        block
            .writes_v
            .iter()
            .filter(|(n, _)| live.has(*n))
            .map(|&(_, v)| v),
    );
    while let Some(v) = work.pop() {
        if !std::mem::replace(&mut needed[v.index()], true) {
            let node = &block.nodes[v.index()];
            match node.op {
                // The old value is not looked at.
                Op::Select if is_full(node.args[0]) => work.push(node.args[1]),
                _ => work.extend(node.args.iter()),
            }
        }
    }
    needed
}

fn live_at_start(block: &Block, live: Live, full: bool) -> Live {
    let needed = needed_when(block, &live, full);
    let mut entry = live;
    for &(n, _) in &block.writes_v {
        entry.set(usize::from(n), false);
    }
    for &(slot, _) in &block.writes_s {
        entry.set(slot_bit(slot), false);
    }
    // A fault tells EXEC.
    if !block.effects.is_empty() {
        entry.set(slot_bit(Slot::Exec), true);
    }
    for (i, node) in block.nodes.iter().enumerate() {
        match node.op {
            Op::ReadV(n) if needed[i] => entry.set(usize::from(n), true),
            // It reads a register by number.
            Op::Effect {
                f: EffectFn::ReadRelative,
                ..
            } => entry.0[..4].fill(u64::MAX),
            Op::ReadS(slot) if needed[i] => entry.set(slot_bit(slot), true),
            _ => {}
        }
    }
    entry
}
