//! Lane values that are not affine but have one uniform part: `base + offset`, with a constant
//! offset for each lane. Kernels make them from bits of the lane's number, by masks and shifts: the
//! partner of lane n in a step of a bitonic sort, or the factor of its butterfly.

use super::{Analysis, Fact, Registers, Set};
use crate::ir::{Block, Op, Val, Width};
use crate::maps::HashMap;
use frontend::state::LANES;

/// The offset of each lane from the base, in bytes for addresses.
type Offsets = [i32; LANES];

/// A memory node's addresses: relative to that of the lowest lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// By lane; the lowest is 0.
    offsets: Offsets,
}

impl Table {
    fn new(offsets: Offsets) -> Table {
        let lowest = offsets.iter().min().copied().unwrap_or(0);
        Table {
            offsets: offsets.map(|offset| offset - lowest),
        }
    }

    /// The lanes with the lowest and the highest address.
    pub fn ends(&self) -> [usize; 2] {
        let by = |&lane: &usize| self.offsets[lane];
        let lowest = (0..LANES).min_by_key(by).unwrap_or(0);
        let highest = (0..LANES).max_by_key(by).unwrap_or(0);
        [lowest, highest]
    }

    /// The offset of a lane from the lowest.
    pub fn away(&self, lane: usize) -> i64 {
        i64::from(self.offsets[lane])
    }

    /// The contribution of each bit of a lane's number to its address, if addresses are such sums.
    pub fn bits(&self) -> Option<[i64; 6]> {
        let beyond = |lane: usize| self.away(lane) - self.away(0);
        let bits = std::array::from_fn(|bit| beyond(1 << bit));
        let sum = |lane: usize| {
            (0..6)
                .map(|bit| (lane >> bit & 1) as i64 * bits[bit])
                .sum::<i64>()
        };
        (0..LANES)
            .all(|lane| sum(lane) == beyond(lane))
            .then_some(bits)
    }

    /// The least distance between two lanes.
    pub fn least_distance(&self) -> i64 {
        let mut sorted = self.offsets;
        sorted.sort_unstable();
        let distances = sorted.windows(2).map(|two| i64::from(two[1] - two[0]));
        distances.min().unwrap_or(0)
    }
}

/// A fact about a lane value on the lanes of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableFact {
    /// Number of its offsets.
    pub(super) offsets: usize,
    /// Trailing zero bits of the base.
    pub(super) aligned: u32,
    /// It is 64 bits wide, and holds only if the 32-bit part that differs by lane does not wrap
    /// between the lanes.
    pub(super) guarded: bool,
    pub(super) set: Set,
}

/// The offset tables of a region, deduplicated.
#[derive(Default)]
pub(super) struct Pool {
    all: Vec<Offsets>,
    numbers: HashMap<Offsets, usize>,
}

/// Maximum number of tables of a region.
const MAX_TABLES: usize = 512;

/// Largest offset.
const MAX_OFFSET: i32 = 1 << 24;

impl Pool {
    fn number(&mut self, of: impl Fn(usize) -> i64) -> Option<usize> {
        let mut offsets = [0; LANES];
        for (lane, offset) in offsets.iter_mut().enumerate() {
            *offset = i32::try_from(of(lane)).ok()?;
            if offset.abs() >= MAX_OFFSET {
                return None;
            }
        }
        if let Some(&number) = self.numbers.get(&offsets) {
            return Some(number);
        }
        if self.all.len() == MAX_TABLES {
            return None;
        }
        self.all.push(offsets);
        self.numbers.insert(offsets, self.all.len() - 1);
        Some(self.all.len() - 1)
    }
}

/// Facts about the values of a block so far.
pub(super) struct Known<'a> {
    pub(super) block: &'a Block,
    pub(super) entry: &'a Registers,
    pub(super) values: &'a [Option<Fact>],
    pub(super) tables: &'a [Option<TableFact>],
    pub(super) sets: &'a HashMap<Val, Set>,
}

impl Analysis<'_> {
    /// The addresses that a fact describes.
    pub(super) fn table(&self, fact: TableFact) -> Table {
        Table::new(self.offsets(fact.offsets))
    }

    /// The offsets with a number.
    fn offsets(&self, number: usize) -> Offsets {
        let pool = self.pool.as_ref();
        pool.map_or([0; LANES], |pool| pool.all[number])
    }

    /// The index of the table of the offsets `of`, unless some are too large or there are too many
    /// tables.
    fn number(&mut self, of: impl Fn(usize) -> i64) -> Option<usize> {
        self.pool.as_mut()?.number(of)
    }

    /// Transfer function of node `v`; `None` where the result is affine.
    pub(super) fn table_fact(&mut self, k: &Known<'_>, v: Val) -> Option<TableFact> {
        let node = &k.block.nodes[v.index()];
        let constant = |i: usize| k.entry.constant(k.block, node.args[i]);
        if node.ty.width == Width::W64 {
            return self.wide_table(k, v);
        }
        if node.ty.width != Width::W32 {
            return None;
        }
        match node.op {
            Op::ReadV(n) => k.entry.tables.get(&n).copied(),
            Op::Add | Op::Sub => {
                let (x, y) = (
                    self.operand(k, node.args[0])?,
                    self.operand(k, node.args[1])?,
                );
                let sign = if node.op == Op::Sub { -1 } else { 1 };
                let [a, b] = [x, y].map(|f| self.offsets(f.offsets));
                self.made(x, y, x.aligned.min(y.aligned), |lane| {
                    i64::from(a[lane]) + sign * i64::from(b[lane])
                })
            }
            Op::Mul => {
                let factor = i64::from(constant(1)? as i32);
                let x = self.operand(k, node.args[0])?;
                let a = self.offsets(x.offsets);
                let aligned = x.aligned + (factor as u32).trailing_zeros();
                self.made(x, x, aligned, |lane| i64::from(a[lane]) * factor)
            }
            Op::Shl => {
                let n = Width::W32.shift_amount(constant(1)?);
                let x = self.operand(k, node.args[0])?;
                let a = self.offsets(x.offsets);
                self.made(x, x, x.aligned + n, |lane| i64::from(a[lane]) << n)
            }
            // The offsets are in bits where the base is 0.
            Op::Lshr => {
                let n = Width::W32.shift_amount(constant(1)?);
                let x = self.operand(k, node.args[0])?;
                let a = self.low_bits(x, x.aligned)?;
                self.made(x, x, x.aligned.saturating_sub(n), |lane| {
                    i64::from(a[lane] >> n)
                })
            }
            Op::And | Op::Or | Op::Xor => {
                let (x, y) = (
                    self.operand(k, node.args[0])?,
                    self.operand(k, node.args[1])?,
                );
                // The low bits of a constant are offsets, the same for all lanes.
                let aligned = match (constant(0), constant(1)) {
                    (None, None) => x.aligned.min(y.aligned),
                    (Some(_), _) => y.aligned,
                    (None, Some(_)) => x.aligned,
                }
                .min(30);
                let low = |i: usize| constant(i).map(|c| [c as i32 & ((1 << aligned) - 1); LANES]);
                let a = low(0).or_else(|| self.low_bits(x, aligned))?;
                let b = low(1).or_else(|| self.low_bits(y, aligned))?;
                let op = node.op;
                // A mask may clear the whole base.
                let left = match (op, constant(0).or(constant(1))) {
                    (Op::And, Some(c)) => (c as u32 >> aligned << aligned).trailing_zeros(),
                    _ => 0,
                };
                self.made(x, y, aligned.max(left), |lane| {
                    i64::from(match op {
                        Op::And => a[lane] & b[lane],
                        Op::Or => a[lane] | b[lane],
                        _ => a[lane] ^ b[lane],
                    })
                })
            }
            // The merge under EXEC: on those lanes it is the new value.
            Op::Select if k.block.nodes[node.args[0].index()].op == Op::ExecMask => {
                let exec = *k.sets.get(&k.block.nodes[node.args[0].index()].args[0])?;
                let new = k.tables[node.args[1].index()]?;
                Some(TableFact {
                    set: self.meet_sets(new.set, exec)?,
                    ..new
                })
            }
            _ => None,
        }
    }

    /// The same for 64 bits: an address made of a uniform one and a word that differs by lane.
    fn wide_table(&mut self, k: &Known<'_>, v: Val) -> Option<TableFact> {
        let node = &k.block.nodes[v.index()];
        let uniform = |i: usize| {
            let fact = k.values[node.args[i].index()];
            fact.filter(|f| f.stride == 0 && f.whole && !f.guarded && !f.stepped)
        };
        match node.op {
            Op::Zext => {
                let x = k.tables[node.args[0].index()]?;
                Some(TableFact {
                    aligned: 0,
                    guarded: true,
                    ..x
                })
            }
            Op::Add | Op::Sub => {
                let i = usize::from(node.op == Op::Add && uniform(0).is_some());
                let (x, y) = (k.tables[node.args[i].index()]?, uniform(1 - i)?);
                Some(TableFact {
                    set: self.meet_sets(x.set, y.set)?,
                    ..x
                })
            }
            Op::Shl => {
                let Op::Const(n) = k.block.nodes[node.args[1].index()].op else {
                    return None;
                };
                let x = k.tables[node.args[0].index()]?;
                let a = self.offsets(x.offsets);
                self.made(x, x, 0, |lane| i64::from(a[lane]) << (n & 31))
                    .filter(|_| n < 32)
            }
            _ => None,
        }
    }

    /// A word as a base and offsets, whether affine or a table.
    fn operand(&mut self, k: &Known<'_>, v: Val) -> Option<TableFact> {
        if let Some(table) = k.tables[v.index()] {
            return Some(table);
        }
        let fact = k.values[v.index()].filter(|f| f.whole && !f.stepped && !f.guarded)?;
        let stride = i64::from(fact.stride as u32 as i32);
        Some(TableFact {
            offsets: self.number(|lane| stride * lane as i64)?,
            aligned: fact.aligned,
            guarded: false,
            set: fact.set,
        })
    }

    /// The offsets of a word if they fit its lowest bits, in which its base is 0.
    fn low_bits(&self, x: TableFact, bits: u32) -> Option<Offsets> {
        let bits = bits.min(31);
        let offsets = self.offsets(x.offsets);
        let within = |&offset: &i32| offset >= 0 && offset >> bits == 0;
        (x.aligned >= bits && offsets.iter().all(within)).then_some(offsets)
    }

    /// A fact with these offsets, derived from two others.
    fn made(
        &mut self,
        x: TableFact,
        y: TableFact,
        aligned: u32,
        of: impl Fn(usize) -> i64,
    ) -> Option<TableFact> {
        Some(TableFact {
            offsets: self.number(of)?,
            aligned: aligned.min(32),
            guarded: x.guarded || y.guarded,
            set: self.meet_sets(x.set, y.set)?,
        })
    }

    /// The fact that holds after a join.
    pub(super) fn join_tables(&self, x: TableFact, y: TableFact) -> Option<TableFact> {
        if (x.offsets, x.guarded) != (y.offsets, y.guarded) {
            return None;
        }
        Some(TableFact {
            aligned: x.aligned.min(y.aligned),
            set: self.meet_sets(x.set, y.set)?,
            ..x
        })
    }
}
