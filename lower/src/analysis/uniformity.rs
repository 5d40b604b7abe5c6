//! Uniformity and affinity over a whole region: which lane values are `base + stride * lane` on the
//! relevant lanes, so that a memory instruction needs one scalar address instead of 64.
//!
//! A fact holds on a *set* of lanes: all of them, or the lanes that EXEC had at some point. Sets
//! form a tree, because guest code narrows EXEC by `and` and widens it again only to a saved value.
//! A set is named by the block and value that computed it; a name means the most recent execution,
//! so a fact is carried into a block only under names whose definition strictly dominates it;
//! otherwise it is renamed to "EXEC on entry to this block" if it held on at least that.
//!
//! Where the dispatch lays out work-items in rows (a workgroup 16 wide has four rows in a wave), a
//! fact may hold within each row only: neighbours in a row differ by the stride, rows arbitrarily.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Block, Func, Op, Slot, Val};
use crate::maps::HashMap;
use frontend::WaveState;
use frontend::state::LANES;

mod block;
mod join;
mod lane_sets;
mod offset_tables;
mod transfer;

pub use offset_tables::Table;

use lane_sets::{Acting, dominators, successors};
pub(crate) use lane_sets::{is_masked, is_under_exec};
use offset_tables::{Pool, TableFact};
pub(crate) use transfer::pair_of;

/// A set of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Set {
    /// All 64 lanes.
    All,
    /// EXEC when the block was entered (block 0's: EXEC on entry to the region).
    Entry(usize),
    /// The value with this number computed in this block.
    At(usize, Val),
}

impl Set {
    fn block(self) -> Option<usize> {
        match self {
            Set::All => None,
            Set::Entry(b) | Set::At(b, _) => Some(b),
        }
    }
}

/// A fact about a lane value on the lanes of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fact {
    /// Difference between neighbouring lanes, modulo the width.
    stride: u64,
    /// Holds for 64-bit values only if the 32-bit part they were widened from does not wrap between
    /// the lanes in question.
    guarded: bool,
    /// Holds between all lanes of the wave, not only within its rows.
    whole: bool,
    /// Low bits that are the same in lanes at the same position in their rows; [`ALIKE`] for all
    /// bits.
    alike: u32,
    /// Holds only if no intermediate word wraps between the lanes in question; [`Facts::steps`]
    /// lists these. Such a fact stays in its block.
    stepped: bool,
    /// Stepped, with a mask among the steps.
    masked: bool,
    /// Trailing zero bits of the value of lane 0 (of the wave, or of each row).
    aligned: u32,
    set: Set,
}

/// [`Fact::alike`] of values that are alike in all bits.
const ALIKE: u32 = u64::BITS;

const UNIFORM: Fact = Fact {
    stride: 0,
    guarded: false,
    whole: true,
    alike: ALIKE,
    stepped: false,
    masked: false,
    aligned: 0,
    set: Set::All,
};

/// Bound of strides: from here on carries into the high word are not rare, and lanes share no cache lines.
const SMALL: u64 = 1 << 24;

/// Is a stride, in bytes or as a number, small?
pub(crate) fn is_small(stride: i64) -> bool {
    stride.unsigned_abs() < SMALL
}

/// Facts about the registers at one point.
#[derive(Clone, Debug, PartialEq)]
struct Registers {
    vgpr: Vec<Option<Fact>>,
    /// v[n:n+1] as one value, where it has a stronger fact than its halves.
    pair: HashMap<u16, Fact>,
    /// VGPRs that are not affine but a uniform base plus constant offsets.
    tables: HashMap<u16, TableFact>,
    /// SGPR pairs that hold a value EXEC had.
    saved: HashMap<u8, Set>,
    vcc: Option<Set>,
    exec: Set,
    /// Scalar slots that hold constants.
    constants: HashMap<Slot, u64>,
}

impl Registers {
    /// A vector register has another value, about which nothing is known.
    fn forget(&mut self, n: u16) {
        if let Some(fact) = self.vgpr.get_mut(usize::from(n)) {
            *fact = None;
        }
        self.tables.remove(&n);
        self.pair.remove(&n);
        if let Some(below) = n.checked_sub(1) {
            self.pair.remove(&below);
        }
    }

    /// The constant that a value of a block is, if it is one.
    fn constant(&self, block: &Block, v: Val) -> Option<u64> {
        match block.nodes[v.index()].op {
            Op::Const(c) => Some(c),
            Op::ReadS(slot) => self.constants.get(&slot).copied(),
            _ => None,
        }
    }
}

/// How an address varies over the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// Bytes between neighbouring lanes (sign-extended).
    pub stride: i64,
    /// Requires a runtime check: the addresses of the first and last active lane must differ by
    /// exactly stride times their distance.
    pub guarded: bool,
    /// Holds among all lanes of the wave; otherwise within rows of [`Facts::row`] lanes only.
    pub whole: bool,
    /// All rows have the same addresses.
    pub alike: bool,
    /// Requires the runtime checks of `Facts::steps` for every value of the address expression.
    pub stepped: bool,
    /// One of these checks is of a mask, so it is likely to fail.
    pub masked: bool,
}

/// Runtime check of a value in an address expression, at the first and the last active lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The values are equal.
    Equal,
    /// They differ by this times the distance.
    Stride(i64),
    /// They differ by this times the distance, and the last lane's is the greater, as signed words
    /// or not.
    Clamp(i64, bool),
    /// The value is the operand with this number under a mask, the other operand, which keeps all
    /// bits in which the lanes differ.
    Mask(usize),
}

/// Condition for a value widened from an affine word to be affine: the word does not wrap between
/// the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Stride of the word (sign-extended).
    pub stride: i64,
    /// The word is signed.
    pub signed: bool,
}

/// Facts where a loop begins, if EXEC is all ones there: strides within rows of [`Facts::row`]
/// lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopEntry {
    /// VGPRs and their strides modulo 2^32.
    pub vgprs: BTreeMap<u16, u32>,
    /// Pairs v[n:n+1] and their strides, which hold between lanes for which the low word does not
    /// wrap.
    pub pairs: BTreeMap<u16, u64>,
    /// The pairs for which that is a condition. The word that may wrap is not known: it was widened before.
    pub guarded_pairs: BTreeSet<u16>,
    /// Scalar slots that hold constants.
    pub constants: BTreeMap<Slot, u64>,
    /// Not for loops alone.
    sets: EntrySets,
}

impl LoopEntry {
    /// The low register of the pair that a VGPR belongs to.
    pub fn pair_with(&self, n: u16) -> Option<u16> {
        let is_pair = |low: &u16| self.pairs.contains_key(low);
        let below = n.checked_sub(1).filter(is_pair);
        below.or(Some(n).filter(is_pair))
    }
}

/// Lanes where a block begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct EntrySets {
    /// Those on which the facts about a VGPR hold.
    vgprs: BTreeMap<u16, Set>,
    /// Those on which the facts about a pair hold.
    pairs: BTreeMap<u16, Set>,
    /// Those in an SGPR pair that holds a value EXEC had.
    saved: BTreeMap<u8, Set>,
}

/// Facts about the whole region.
#[derive(Clone)]
pub struct Facts {
    /// For each block, each memory node whose address is affine on its lanes.
    addresses: HashMap<(usize, Val), Affine>,
    /// The same for addresses that are a uniform base plus constant offsets.
    tables: HashMap<(usize, Val), Table>,
    steps: HashMap<(usize, Val), Step>,
    /// For each block, the widened lane values whose words must be checked; `None` if widened in
    /// another block.
    guards: HashMap<(usize, Val), Option<Guard>>,
    /// For each block, affine operands of compares.
    lines: HashMap<(usize, Val), Affine>,
    /// By block, where loops begin or all blocks are asked for.
    entries: HashMap<usize, LoopEntry>,
    loops: Vec<usize>,
    /// By block, if all blocks are asked for: where it acts.
    acting: HashMap<usize, Acting>,
    /// A superset of each set.
    parents: HashMap<Set, Set>,
    row: usize,
}

impl Facts {
    /// How the address (first argument) of memory node `v` of a block varies on its active lanes.
    pub fn address(&self, block: usize, v: Val) -> Option<Affine> {
        self.addresses.get(&(block, v)).copied()
    }

    /// The offset of each lane's address (first argument of memory node `v` of a block) from a
    /// base, if all lanes are active.
    pub fn table(&self, block: usize, v: Val) -> Option<Table> {
        self.tables.get(&(block, v)).copied()
    }

    /// The runtime check of value `v` of a block that [`Affine::stepped`] requires.
    pub fn step(&self, block: usize, v: Val) -> Option<Step> {
        self.steps.get(&(block, v)).copied()
    }

    /// The condition, if any, for the widened value `v` of a block to be affine; the inner `None`
    /// if it was widened in another block.
    pub fn guard(&self, block: usize, v: Val) -> Option<Option<Guard>> {
        self.guards.get(&(block, v)).copied()
    }

    /// How an operand `v` of a compare varies on all lanes, if EXEC is all ones when the block
    /// begins.
    pub fn line(&self, block: usize, v: Val) -> Option<Affine> {
        self.lines.get(&(block, v)).copied()
    }

    /// Does any compare have an affine operand?
    pub fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Facts at the beginning of a block that begins a loop.
    pub fn at_loop(&self, block: usize) -> Option<&LoopEntry> {
        self.entries.get(&block)
    }

    /// What is known on the lanes that act where a block begins, if that was asked for.
    pub fn at_block(&self, block: usize) -> Option<&LoopEntry> {
        self.entries.get(&block)
    }

    /// Blocks that begin loops.
    pub fn loops(&self) -> Vec<usize> {
        self.loops.clone()
    }

    /// Lanes in a row.
    pub fn row(&self) -> usize {
        self.row
    }
}

struct Analysis<'a> {
    f: &'a Func,
    /// Lanes in a row.
    row: usize,
    preds: Vec<Vec<usize>>,
    /// Strict dominators of each block, as bits.
    dominators: Vec<Vec<u64>>,
    /// Parent of each set: a superset.
    parents: HashMap<Set, Set>,
    /// Nothing has changed since the current sweep began.
    settled: bool,
    /// The offset tables; `None` unless requested.
    pool: Option<Pool>,
}

/// Maximum number of blocks: parts of the analysis are quadratic.
const MAX_BLOCKS: usize = 1500;

/// Maximum number of sweeps; the analysis then gives no facts.
const MAX_SWEEPS: usize = 64;

/// Analyses a region. `start` are the facts that the dispatch establishes: bits of
/// [`WaveState::START`]; `tables`: also find offset tables; `all_blocks`: also note what holds at the
/// beginning of every block.
pub fn analyse(f: &Func, start: u64, tables: bool, all_blocks: bool) -> Facts {
    let row = (start & WaveState::ROWS) >> WaveState::ROWS.trailing_zeros();
    let nothing = Facts {
        addresses: HashMap::default(),
        tables: HashMap::default(),
        steps: HashMap::default(),
        guards: HashMap::default(),
        lines: HashMap::default(),
        entries: HashMap::default(),
        loops: Vec::new(),
        acting: HashMap::default(),
        parents: HashMap::default(),
        row: if row == 0 { LANES } else { 1 << row },
    };
    if f.blocks.len() > MAX_BLOCKS {
        return nothing;
    }
    let mut preds = vec![Vec::new(); f.blocks.len()];
    for (i, block) in f.blocks.iter().enumerate() {
        for s in successors(block) {
            preds[s].push(i);
        }
    }
    let dominators = dominators(&preds);
    let mut a = Analysis {
        f,
        row: nothing.row,
        preds,
        dominators,
        parents: HashMap::default(),
        settled: true,
        pool: tables.then(Pool::default),
    };
    let bits = start;
    let mut start = Registers {
        vgpr: vec![None; vector_registers(f)],
        pair: HashMap::default(),
        tables: HashMap::default(),
        saved: HashMap::default(),
        vcc: None,
        exec: Set::Entry(0),
        constants: HashMap::default(),
    };
    let mut seed = |n: usize, stride, (whole, alike), aligned| {
        start.vgpr[n] = Some(Fact {
            stride,
            guarded: false,
            whole,
            alike,
            stepped: false,
            masked: false,
            aligned,
            set: Set::Entry(0),
        });
    };
    if row != 0 {
        // Work-items are numbered from 0 in every row.
        let alike = match bits & WaveState::PACKED {
            0 => ALIKE,
            _ => WaveState::PACKED_BITS,
        };
        seed(0, 1, (false, alike), row as u32);
        seed(1, 0, (false, 0), 0);
        seed(2, 0, (false, 0), 0);
    }
    if bits & WaveState::V0_COUNTS != 0 {
        seed(0, 1, (true, 0), LANES.ilog2());
    }
    if bits & WaveState::V12_UNIFORM != 0 {
        seed(1, 0, (true, ALIKE), 0);
        seed(2, 0, (true, ALIKE), 0);
    }
    a.put(Set::Entry(0), Set::All);
    let mut exits: Vec<Option<Registers>> = vec![None; f.blocks.len()];
    // Without back edges one sweep suffices. Otherwise sweeps to a fixed point: facts and sets only
    // get weaker.
    let forward = |(b, preds): (usize, &Vec<usize>)| preds.iter().all(|&p| p < b);
    let once = a.preds.iter().enumerate().all(forward);
    for sweep in 0..MAX_SWEEPS {
        let mut facts = nothing.clone();
        let record = once || sweep > 0;
        a.settled = true;
        for b in 0..f.blocks.len() {
            let reached = b == 0 || a.preds[b].iter().any(|&p| exits[p].is_some());
            if !reached {
                continue;
            }
            let entry = a.entry(b, &start, &exits);
            let back = |&p: &usize| p == b || a.dominators[p][b / 64] >> (b % 64) & 1 != 0;
            let is_loop = record && a.preds[b].iter().any(back);
            if is_loop {
                facts.loops.push(b);
            }
            if is_loop || record && all_blocks {
                facts.entries.insert(b, a.loop_entry(&entry, all_blocks));
            }
            let acting = record && all_blocks;
            let exit = a.block(b, &entry, record.then_some(&mut facts), acting);
            if exits[b].as_ref() != Some(&exit) {
                exits[b] = Some(exit);
                a.settled = false;
            }
        }
        if once || a.settled {
            facts.parents = a.parents;
            return facts;
        }
    }
    nothing
}

/// Number of vector registers that the region may query: up to the last that it reads or writes,
/// and those that hold ids.
pub(crate) fn vector_registers(f: &Func) -> usize {
    let read = |block: &Block| {
        let nodes = block.nodes.iter();
        let read = nodes.filter_map(|node| match node.op {
            Op::ReadV(n) => Some(n),
            _ => None,
        });
        let written = block.lane_writes().map(|(n, _)| n);
        read.chain(written).max()
    };
    usize::from(f.blocks.iter().filter_map(read).max().unwrap_or(0).max(2)) + 1
}

impl Analysis<'_> {
    /// The facts that hold on all lanes when EXEC is all ones.
    fn loop_entry(&self, entry: &Registers, with_sets: bool) -> LoopEntry {
        let holds = |f: &Fact| self.within(entry.exec, f.set);
        let vgprs = entry.vgpr.iter().enumerate();
        let pairs = entry.pair.iter().filter(|(_, f)| holds(f));
        let sets = with_sets.then(|| EntrySets {
            vgprs: vgprs
                .clone()
                .filter_map(|(n, f)| Some((n as u16, f.filter(|f| holds(f))?.set)))
                .collect(),
            pairs: pairs.clone().map(|(&n, f)| (n, f.set)).collect(),
            saved: entry.saved.iter().map(|(&n, &set)| (n, set)).collect(),
        });
        LoopEntry {
            vgprs: vgprs
                .filter_map(|(n, f)| Some((n as u16, f.filter(|f| holds(f))?.stride as u32)))
                .collect(),
            pairs: pairs.clone().map(|(&n, f)| (n, f.stride)).collect(),
            guarded_pairs: pairs.filter(|(_, f)| f.guarded).map(|(&n, _)| n).collect(),
            constants: entry
                .constants
                .iter()
                .map(|(&slot, &c)| (slot, c))
                .collect(),
            sets: sets.unwrap_or_default(),
        }
    }
}
