//! Memory accesses whose addresses are affine, or constant offsets from one base: one scalar address for the wave, or
//! for each of its rows, and one range check, then vectors. If the check fails (a wrapped address, a registered range,
//! a fault), the slow path computes all addresses and calls the runtime's function.

use std::mem::offset_of;

use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::access;
use super::{Code, Emitter};
use crate::abi::Context;
use crate::analysis::schedule::Schedule;
use crate::analysis::uniformity::{Affine, Table, is_small};
use crate::ir::memory::{bounds, load_or_store};
use crate::ir::{Block, Op, Val, Vary};
use crate::vir::{Block as HostBlock, Builder, IntCC, Value, types};

pub(super) use ends::{Ends, Lane, Number, Singles, Spot};

mod ends;
mod moves;
mod offset_tables;
mod range_check;
mod slow_path;

/// Maximum size of an address expression that is evaluated for single lanes.
const MAX_NODES: usize = 128;

/// The leaves of an address expression, if it can be evaluated for a single lane: registers, results in memory, wave
/// values.
pub(crate) fn leaves(block: &Block, address: Val) -> Option<Vec<Val>> {
    walk(block, address).map(|(leaves, _)| leaves)
}

/// The values of an address expression that differ by lane.
pub(super) fn expression(block: &Block, address: Val) -> Vec<Val> {
    let mut all = walk(block, address).map_or(Vec::new(), |(_, all)| all);
    all.retain(|v| block.nodes[v.index()].ty.vary != Vary::Wave);
    all.sort_unstable();
    all
}

/// The leaves of an address expression, and all its values.
fn walk(block: &Block, address: Val) -> Option<(Vec<Val>, Vec<Val>)> {
    let mut leaves = Vec::new();
    let mut work = vec![address];
    let mut seen = Vec::new();
    while let Some(v) = work.pop() {
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        if seen.len() > MAX_NODES {
            return None;
        }
        let node = &block.nodes[v.index()];
        if node.ty.vary == Vary::Wave {
            leaves.push(v);
            continue;
        }
        match node.op {
            Op::ReadV(_)
            | Op::Result(_)
            | Op::Call(..)
            | Op::Load(..)
            | Op::Atomic(..)
            | Op::Effect { .. } => {
                leaves.push(v);
            }
            Op::LaneId => {}
            Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                // On the active lanes it is the new value.
                work.push(node.args[1]);
            }
            op if op.is_address_part() => work.extend(node.args.iter()),
            _ => return None,
        }
    }
    Some((leaves, seen))
}

/// Does this file emit a memory node, given how its address varies?
pub(crate) fn suits(block: &Block, v: Val, affine: Affine, row: usize) -> bool {
    let few_rows = affine.whole || row >= 8;
    few_rows && is_small(affine.stride) && suits_some(block, v)
}

/// The same if the addresses are constant offsets from one base.
pub(crate) fn suits_some(block: &Block, v: Val) -> bool {
    let node = &block.nodes[v.index()];
    let Some((_, space, data, _)) = load_or_store(node.op) else {
        return false;
    };
    let known_space = matches!(space, Space::Global | Space::Flat | Space::Lds);
    let bits_known = matches!(block.nodes[node.args[1].index()].op, Op::ExecMask);
    known_space && access::is_known(data) && bits_known && leaves(block, node.args[0]).is_some()
}

/// What is known of an access's addresses.
#[derive(Clone, Copy)]
pub(super) enum Known<'a> {
    /// They are affine, over the wave or within each row.
    Affine(Affine),
    /// Their offsets from the lowest one are constants for all lanes.
    Table(&'a Table),
}

/// The bytes that inline accesses may touch (all I64).
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// The space's start.
    pub(super) base: Value,
    /// The bytes' end, as an offset from it.
    pub(super) len: Value,
    /// The offset of their first, if it is not 0.
    pub(super) least: Option<Value>,
}

impl Bounds {
    /// Emits the conditions (I8) for the bytes from offset `first` to `last` to be among them, if these offsets do not
    /// wrap unless `first` is beyond all memory.
    pub(super) fn within(self, b: &mut Builder<'_>, first: Value, last: Value) -> [Value; 2] {
        let order = IntCC::UnsignedLessThanOrEqual;
        let from = match self.least {
            None => b.icmp(order, first, self.len),
            // Offsets beyond the end of all memory, which come of lower addresses too, are negative.
            Some(least) => b.icmp(IntCC::SignedGreaterThanOrEqual, first, least),
        };
        [from, b.icmp(order, last, self.len)]
    }
}

/// A checked access of a run of lanes.
struct Access {
    /// Mask of the active lanes (I64).
    exec: Value,
    /// The first active lane.
    first: Number,
    /// The last active lane.
    last: Number,
    /// Address of the first active lane.
    start: Value,
    stride: i64,
    data: Data,
    /// Bytes of LDS that inline code may access (I64), if the access is of LDS.
    lds: Option<Value>,
    /// The case that all lanes are active is handled elsewhere.
    full_apart: bool,
}

impl Access {
    /// Are the lanes' elements contiguous?
    fn is_contiguous(&self) -> bool {
        access::is_contiguous(self.data, self.stride)
    }
}

/// An access that was checked.
enum Inline<'a> {
    /// Runs of lanes with one stride, and whether there is one run of the whole wave (otherwise one per row).
    Contiguous(bool, Vec<Access>),
    Spread(offset_tables::Spread<'a>),
}

impl Code<'_> {
    /// Checks the runs of an access; leaves for `slow` if a check fails.
    fn checked(
        &mut self,
        runs: &[Ends],
        affine: Affine,
        (load, space, data): (bool, Space, Data),
        exec: Value,
        slow: HostBlock,
    ) -> Vec<Access> {
        if !affine.whole {
            let full = self.b.icmp_imm(IntCC::Equal, exec, -1);
            self.require(slow, full);
        }
        let memory = self.bounds_of(space, load);
        let lds = space == Space::Lds;
        let reach = (0, i64::from(access::bytes(data)));
        let checked = self.check_contiguous(runs, affine, (lds, memory), reach);
        for good in checked.conditions {
            self.require(slow, good);
        }
        let lds_start = lds.then(|| self.lds_start());
        let runs = runs.iter().zip(checked.starts).map(|(ends, start)| Access {
            exec,
            first: ends.lanes[0],
            last: ends.lanes[1],
            start: lds_start.map_or(start, |at| self.b.iadd(at, start)),
            stride: affine.stride,
            data,
            lds: lds.then_some(memory.len),
            full_apart: false,
        });
        runs.collect()
    }

    /// The vectors of a checked access: of the whole wave, or of rows all of whose lanes are active.
    fn inline_access(
        &mut self,
        load: bool,
        whole: bool,
        runs: &[Access],
        storage: &[Value],
        done: HostBlock,
    ) {
        match (whole, load) {
            (true, true) => self.fast_load(&runs[0], storage, done),
            (true, false) => self.fast_store(&runs[0], storage, done),
            (false, _) => {
                let rows = LANES / self.region.row() as usize;
                for (n, row) in runs.iter().cycle().take(rows).enumerate() {
                    let bytes = 4 * n as i64 * self.region.row();
                    self.row_access(load, row, storage, bytes);
                }
                self.b.jump(done, &[]);
            }
        }
    }

    /// The start of a space's memory and the number of bytes that inline accesses may touch (both I64): loads, or
    /// stores as well.
    pub(super) fn memory_of(&mut self, space: Space, load: bool) -> (Value, Value) {
        if space == Space::Lds {
            let base = self.b.iconst(types::I64, 0);
            let len = self.context(types::I64, offset_of!(Context, lds_inline));
            return (base, len);
        }
        let (base, len) = match load {
            true => (
                offset_of!(Context, arena_base),
                offset_of!(Context, arena_len),
            ),
            false => (
                offset_of!(Context, store_base),
                offset_of!(Context, store_len),
            ),
        };
        let len = self.context(types::I64, len);
        let base = self.context(types::I64, base);
        (base, len)
    }

    /// The same for a range check by which loads and stores share a base.
    pub(super) fn bounds_of(&mut self, space: Space, load: bool) -> Bounds {
        let (base, len) = self.memory_of(space, true);
        Bounds {
            base,
            len,
            least: (space != Space::Lds && !load).then(|| self.read_only()),
        }
    }

    /// Bytes at the beginning of the arena that stores may not touch (I64).
    pub(super) fn read_only(&mut self) -> Value {
        self.context(types::I64, offset_of!(Context, read_only))
    }
}

impl Emitter<'_> {
    /// Emits a load or store with addresses that are `known`.
    pub(super) fn known_access(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        known: Known<'_>,
    ) {
        let node = &block.nodes[v.index()];
        let access = load_or_store(node.op);
        let (load, space, data, site) = access.expect("bug: no load and no store");
        // Values that both paths use are computed before they branch.
        for leaf in self.facts.leaves(v) {
            if block.nodes[leaf.index()].ty.vary == Vary::Wave {
                self.scalar(block, plan, leaf);
            }
        }
        let exec = self.mask_bits(block, plan, node.args[1]);
        let new_exec = self.new_exec(block, plan, v);
        let storage = self.storage(block, plan, v);
        let mut bounding = Vec::new();
        for &bound in bounds(node) {
            bounding.push(self.wave_word(block, plan, bound));
        }
        let masked = matches!(known, Known::Affine(affine) if affine.masked);
        // Rows are moved for EXEC all ones only: other masks are as frequent at the borders of a
        // workgroup of two dimensions.
        let baseline = self.code.region.options().baseline;
        let in_rows = matches!(known, Known::Affine(affine) if !affine.whole);
        let general = masked || in_rows && !baseline;
        let inline = !(self.code.is_out_of_line() && (general || baseline));
        let kind = (load, space, data);
        let bits = match known {
            Known::Affine(_) => None,
            Known::Table(table) => offset_tables::bits_in_part(table, kind),
        };
        let bits = bits.as_ref();
        let [done, slow] = [(); 2].map(|()| self.code.b.create_block());
        let mut before = None;
        if inline
            && space == Space::Lds
            && let Known::Affine(affine) = known
            && affine.whole
            && affine.stride != 0
        {
            let singles = self.singles.clone();
            let [all, others] = [(); 2].map(|()| self.code.b.create_block());
            let full = self.code.b.icmp_imm(IntCC::Equal, exec, -1);
            self.code.b.brif(full, all, &[], others, &[]);
            self.code.enter(all);
            let runs = [self.ends(block, plan, node.args[0], affine, Lane::OF_WAVE)];
            let runs = self.code.checked(&runs, affine, kind, exec, others);
            self.code.vectors(load, &runs[0], &storage, done);
            self.singles.clone_from(&singles);
            before = Some(singles);
            self.code.enter(others);
        }
        let runs = inline.then(|| match known {
            Known::Affine(affine) => {
                let run = [Lane::First(exec), Lane::Last(exec)];
                self.all_ends(block, plan, node.args[0], affine, run)
            }
            Known::Table(table) => {
                vec![self.table_ends(block, plan, node.args[0], (table, bits), (space, exec))]
            }
        });
        if !masked {
            self.code.b.set_cold_block(slow);
        }
        let some = if inline {
            self.code.b.create_block()
        } else {
            slow
        };
        self.code.b.brif(exec, some, &[], done, &[]);
        let inline = runs.map(|runs| {
            self.code.enter(some);
            let access = match known {
                Known::Affine(affine) => {
                    let mut runs = self.code.checked(&runs, affine, kind, exec, slow);
                    if space != Space::Lds {
                        let starts: Vec<Value> = runs.iter().map(|run| run.start).collect();
                        self.prefetches
                            .expect_contiguous(&mut self.code, &starts, affine);
                    }
                    runs.iter_mut()
                        .for_each(|run| run.full_apart = before.is_some());
                    Inline::Contiguous(affine.whole, runs)
                }
                Known::Table(table) => Inline::Spread(self.code.checked_table(
                    &runs[0],
                    (table, bits),
                    kind,
                    exec,
                    slow,
                )),
            };
            let fast = self.code.b.create_block();
            self.code.b.jump(fast, &[]);
            (fast, access)
        });

        self.code.enter(slow);
        if general {
            self.general_path(block, plan, v, (exec, &storage), in_rows, done);
        } else {
            let site = (site, new_exec);
            let lists = (storage.as_slice(), bounding.as_slice());
            self.slow_path(block, plan, v, kind, site, exec, lists, done);
        }

        if let Some((fast, access)) = inline {
            self.code.enter(fast);
            match access {
                Inline::Contiguous(whole, runs) => {
                    self.code.inline_access(load, whole, &runs, &storage, done);
                }
                Inline::Spread(access) => self.code.spread_access(load, &access, &storage, done),
            }
        }
        self.code.enter(done);
        if let Some(singles) = before {
            self.singles = singles;
        }
    }
}
