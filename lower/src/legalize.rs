//! Lane IR to vector IR, one function per region. Scalar slots are variables, VGPRs are in the
//! wave, and each segment is one loop over lane groups in two versions: for EXEC all ones, and
//! masked.

use std::mem::offset_of;

use crate::abi::Context;
use crate::analysis::liveness::{self, Live, VectorBits};
use crate::analysis::schedule::{self, Schedule, Segment};
use crate::analysis::uniformity;
use crate::ir::{Block, Func, Slot, Val, verify};
use crate::options::{Forms, Options};
use crate::passes::{self, Analysed};
use crate::vir::{self, Builder, Memory, Value, types};
use affine::Singles;
use baseline::SharedExits;
use block_facts::BlockFacts;
use blocks::Blocks;
use boundary::Boundary;
use calls::Calls;
use code::{Code, frame_offset, home_offset, offset32};
use fuse::Fusion;
use prefetch::Prefetches;
use profile::Profile;
use region::Region;
use segment::confined::Confinement;
use wave_switch::WaveSwitch;
use wave_values::WaveValues;

mod access;
mod affine;
mod affine_compare;
mod baseline;
mod block_facts;
mod blocks;
mod body;
mod boundary;
mod calls;
mod code;
mod compound;
mod contiguous;
mod control;
mod division;
mod evaluate;
mod fuse;
mod gather;
mod interchange;
pub(crate) mod lanes;
mod offsets;
mod parallel;
mod prefetch;
pub mod profile;
mod region;
mod roots;
mod scalar;
mod scratch;
mod segment;
mod value_numbering;
mod variables;
mod wave_switch;
mod wave_values;
mod whole_wave;

/// Properties of an emitted region.
pub struct Emitted {
    /// Frame slots used.
    pub slots: u32,
    /// Vector registers that are read before they are written; see [`liveness::reads`].
    pub reads: [VectorBits; 2],
    /// The first vector register that the code writes to the wave, [`VECTOR_REGISTERS`](crate::ir::VECTOR_REGISTERS)
    /// when it writes none. Values that only
    /// the writing block reads are not stored there. It is also 0 for baseline code that writes
    /// scalar registers to the wave.
    pub writes_from: u32,
    /// The code switches to other waves; see `wave_switch`.
    pub relays: bool,
    /// The code has no back edge: a wave burns no fuel in it.
    pub straight: bool,
    /// The running wave.
    pub wave: Value,
    /// The chosen shapes, if the options request them.
    pub notes: Option<profile::Notes>,
}

/// Emits `f` into `func`. Guest addresses in the code are relative to `base`. A region that breaks
/// a rule of the lane IR is not emitted.
pub fn emit(
    f: &Func,
    options: &Options,
    base: u64,
    func: &mut vir::Func,
    ssa: &mut vir::Ssa,
) -> Result<Emitted, verify::Broken> {
    if cfg!(debug_assertions) {
        verify::func(f)?;
    }
    let mut region = Analysed::new(f);
    // Before the passes: a sunk write merges with the old value of its register, whose lanes may be
    // dead.
    let reads = liveness::reads(f, &region.lives, options.baseline);
    passes::run(&mut region, options);
    let Analysed { func: f, lives } = &region;
    // No pass follows.
    verify::func(f)?;
    let (live_in, live) = (&lives.start, &lives.end);
    let tables = options.has(Forms::OFFSET_TABLES);
    let facts = uniformity::analyse(f, options.start, tables, options.has_parallel());
    let b = Builder::new(func, ssa);
    let mut e = Emitter::new(f, *options, base, (live_in, &facts), b);
    e.prologue(live_in);
    let mut loops = e.interchange(live_in, &facts);
    let taken = loops
        .values()
        .flat_map(|form| form.blocks().iter().copied());
    let mut regions = e.plan_parallel(lives, &facts, taken);
    e.blocks.find_predecessors(f);
    for (i, block) in f.blocks.iter().enumerate() {
        e.facts.learn(&e.code.region, i, block, &facts);
        e.confinement = Confinement::default();
        let plan = schedule::plan(block, &live[i], e.facts.all_leaves(), options.host);
        e.current = i;
        e.prefetches.begin_block(f, i);
        e.block(i, block, &plan, &live[i]);
        if let Some(form) = loops.remove(&i) {
            e.profile.begin_form(&mut e.code, &form);
            match &form {
                interchange::Inner::Groups(plan) => e.interchanged(i, plan),
                interchange::Inner::LaneSerial(plan) => e.lane_serial(i, plan),
            }
        }
        if let Some(region) = regions.remove(&i) {
            e.profile.begin_parallel(&mut e.code, &region);
            e.parallel(&region, &facts, live_in);
        }
        e.code.free_variables();
    }
    e.epilogue();
    let emitted = Emitted {
        slots: e.code.slots(),
        reads,
        writes_from: e.boundary.writes_from(),
        relays: e.wave_switch.is_some(),
        straight: e.code.region.is_straight(),
        wave: e.code.region.wave(),
        notes: e.profile.into_notes(),
    };
    e.code.b.finish();
    if cfg!(debug_assertions)
        && let Err(broken) = vir::verify::verify(func)
    {
        panic!("bug: bad vector IR: {broken}\n{}", vir::text::print(func));
    }
    Ok(emitted)
}

/// Emission of one region. The state is divided into parts whose fields are private to the modules
/// that own them. The emitter's own methods are those that need several parts, most of them because
/// they evaluate wave values.
struct Emitter<'f> {
    /// The host code, and the region; for the region.
    code: Code<'f>,
    /// The host blocks of guest blocks; for the region.
    blocks: Blocks,
    /// The scalar slots, the entries and the exits; for the region, and the held slots for the block.
    boundary: Boundary,
    /// The shared exits of the baseline tier; for the region.
    exits: SharedExits,
    /// The stack slots of calls; for the region.
    calls: Calls,
    /// The wave switches, if the region has any.
    wave_switch: Option<WaveSwitch>,
    /// The prefetches; for the region.
    prefetches: Prefetches,
    /// Notes and counters; for the region.
    profile: Profile,
    /// The block that is being emitted.
    current: usize,
    /// What is known of that block.
    facts: BlockFacts,
    /// Its values that are confined to active lanes.
    confinement: Confinement,
    /// Its available wave values.
    values: WaveValues,
    /// Its available values at single lanes.
    singles: Singles,
    /// The loads and stores that are fused with the current segment.
    fusion: Fusion,
}

impl<'f> Emitter<'f> {
    /// Begins the function with its entry block.
    fn new(
        f: &'f Func,
        o: Options,
        base: u64,
        (live_in, facts): (&'f [Live], &uniformity::Facts),
        mut b: Builder<'f>,
    ) -> Emitter<'f> {
        let calls = Calls::new(&mut b);
        let entry = b.create_block();
        let ctx = b.append_block_param(entry, types::I64);
        b.switch_to_block(entry);
        let region = Region::new(f, o, base, live_in, facts.row(), (&mut b, ctx));
        let prefetches = Prefetches::new(&region, facts);
        let blocks = Blocks::new(f, &mut b);
        let boundary = Boundary::new(&region, &mut b);
        Emitter {
            code: Code::new(b, region),
            blocks,
            boundary,
            exits: SharedExits::default(),
            calls,
            wave_switch: None,
            prefetches,
            profile: Profile::new(&o),
            current: 0,
            facts: BlockFacts::default(),
            confinement: Confinement::default(),
            values: WaveValues::default(),
            singles: Singles::default(),
            fusion: Fusion::default(),
        }
    }

    fn block(&mut self, index: usize, block: &Block, plan: &Schedule, live: &Live) {
        let head = self.blocks.head(index);
        self.code.b.switch_to_block(head);
        if self.blocks.has_all_edges(index) {
            self.code.seal(head);
        }
        self.boundary.hold_slots(&mut self.code, index);
        self.values.clear();
        self.singles.clear();
        self.code.reserve_slots(plan.slots);
        if self.code.region.options().count {
            self.code.count(block);
        }
        self.profile.begin_block(&mut self.code, &self.facts, block);
        // Number of calls at the beginning of the gap that are fused into the preceding segment.
        let mut made = 0;
        for (gap, calls) in plan.gaps.iter().enumerate() {
            let calls = &calls[made..];
            let segment = plan.segments.get(gap);
            let fused = segment.map_or(0, |_| self.facts.fusable(&self.code.region, block, calls));
            let (calls, loads) = calls.split_at(calls.len() - fused);
            self.calls(block, plan, gap, calls);
            let Some(segment) = segment else { continue };
            let behind = plan.gaps.get(gap + 1).map_or(&[][..], Vec::as_slice);
            made = self.fusable_stores(block, plan, gap, loads, behind);
            self.segment(block, plan, segment, loads, &behind[..made]);
        }
        if self.code.region.options().count {
            self.count_lanes(block, plan);
        }
        self.profile_lanes(block, plan);
        let writes = block.writes_s.iter().copied();
        let writes: Vec<(Slot, Val)> = writes.filter(|(slot, _)| live.has_slot(*slot)).collect();
        let value = if self.code.region.options().baseline {
            let value = block.term.value().map(|v| self.scalar(block, plan, v));
            self.write_resident(block, &writes, |e, v| e.scalar(block, plan, v));
            value
        } else {
            let writes: Vec<(Slot, Value)> = writes
                .into_iter()
                .map(|(slot, v)| (slot, self.scalar(block, plan, v)))
                .collect();
            let value = block.term.value().map(|v| self.scalar(block, plan, v));
            if self.code.b.current_block() != Some(head) {
                self.boundary.tell_held(&mut self.code);
            }
            self.boundary.write_slots(&mut self.code, &writes);
            value
        };
        self.terminate(block, value, live);
        self.boundary.release_slots();
    }

    /// Emits the whole-wave nodes of a gap. Loads whose results are stored unchanged are one
    /// segment with the stores.
    fn calls(&mut self, block: &Block, plan: &Schedule, gap: usize, mut calls: &[Val]) {
        while let Some(&call) = calls.first() {
            let loads = self.facts.fusable_from(&self.code.region, block, calls);
            let (first, rest) = calls.split_at(loads);
            let stores = match loads {
                0 => 0,
                _ => self.fusable_stores(block, plan, gap, first, rest),
            };
            if stores > 0 {
                let (stores, rest) = rest.split_at(stores);
                self.segment(block, plan, &Segment::default(), first, stores);
                calls = rest;
                continue;
            }
            let together = self.scalar_loads(block, plan, calls);
            if together == 0 {
                self.whole(block, plan, call);
            }
            calls = &calls[together.max(1)..];
        }
    }

    /// EXEC (I64) at an effect; `None` where EXEC's variable already has that value.
    fn new_exec(&mut self, block: &Block, plan: &Schedule, v: Val) -> Option<Value> {
        let exec = block.exec_at(v)?;
        Some(self.scalar(block, plan, exec))
    }

    /// Exits with an effect's status if it is not `Continue`.
    fn check(&mut self, status: Value, pc: u64, new_exec: Option<Value>) {
        if self.code.region.options().baseline {
            self.check_quickly(status, new_exec);
            return;
        }
        let good = self.code.unless(status);
        let pc = self.code.address(pc);
        self.boundary.fail(&mut self.code, pc, status, new_exec);
        self.code.b.switch_to_block(good);
    }

    /// Adds the block's lane-instructions to the counters, once its EXEC values are known: a vector
    /// instruction counts once for every active lane, a scalar one once.
    fn count_lanes(&mut self, block: &Block, plan: &Schedule) {
        let vector: u32 = block.counts.iter().map(|&(_, n)| n).sum();
        let scalar = i64::from(block.guest_insts.saturating_sub(vector));
        let mut total = Some(self.code.b.iconst(types::I64, scalar));
        for &(exec, n) in &block.counts {
            let exec = self.scalar(block, plan, exec);
            let lanes = self.code.b.popcnt(exec);
            let all = self.code.b.imul_imm(lanes, i64::from(n));
            total = Some(match total {
                None => all,
                Some(sum) => self.code.b.iadd(sum, all),
            });
        }
        if let Some(total) = total {
            let offset = offset32(offset_of!(Context, lane_instructions));
            let old = self
                .code
                .b
                .load(types::I64, Memory::Trusted, self.code.region.ctx(), offset);
            let new = self.code.b.iadd(old, total);
            self.code
                .b
                .store(Memory::Trusted, new, self.code.region.ctx(), offset);
        }
    }
}
