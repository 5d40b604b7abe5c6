//! Lane IR to vector IR, one function per region. Scalar slots are variables, VGPRs are in the
//! wave, and each segment is one loop over lane groups in two versions: for EXEC all ones, and
//! masked.

use std::collections::BTreeSet;
use std::mem::offset_of;

use crate::abi::Context;
use crate::analysis::liveness::{self, Live, Lives};
use crate::analysis::schedule::{self, Schedule, Segment};
use crate::analysis::uniformity;
use crate::ir::{Block, Func, Slot, Val, verify};
use crate::maps::HashMap;
use crate::options::{Forms, Options};
use crate::passes::{self, Analysed};
use crate::vir::{self, Builder, Memory, StackSlot, Value, Variable, types};
use block_facts::BlockFacts;
use code::{Code, frame_offset, home_offset, offset32};
use prefetch::Prefetches;
use region::Region;

mod access;
mod affine;
mod affine_compare;
mod baseline;
mod block_facts;
mod body;
mod boundary;
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
mod whole_wave;

/// Properties of an emitted region.
pub struct Emitted {
    /// Frame slots used.
    pub slots: u32,
    /// VGPRs that are read before they are written; see [`liveness::reads`].
    pub reads: [[u64; 4]; 2],
    /// The first VGPR that the code writes to the wave, 256 when it writes none. Values that only
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
    e.notes = profile::Notes::wanted(options);
    e.prologue(live_in);
    let mut loops = e.interchange(live_in, &facts);
    let taken = loops
        .values()
        .flat_map(|form| form.blocks().iter().copied());
    let mut regions = e.plan_parallel(lives, &facts, taken);
    e.find_predecessors();
    for (i, block) in f.blocks.iter().enumerate() {
        e.facts.learn(&e.code.region, i, block, &facts);
        let plan = schedule::plan(block, &live[i], e.facts.all_leaves(), options.host);
        e.current = i;
        e.prefetches.begin_block(f, i);
        e.block(i, block, &plan, &live[i]);
        if let Some(form) = loops.remove(&i) {
            e.profile_interchanged(&form);
            match &form {
                interchange::Inner::Groups(plan) => e.interchanged(i, plan),
                interchange::Inner::LaneSerial(plan) => e.lane_serial(i, plan),
            }
        }
        if let Some(region) = regions.remove(&i) {
            e.parallel(&region, &facts, live_in);
        }
        e.code.free_variables();
    }
    e.epilogue();
    let (slots, writes_from, notes) = (e.code.slots(), e.writes_from, e.notes.take());
    let (relays, straight, wave) = (
        e.wave_switch.is_some(),
        e.code.region.is_straight(),
        e.code.region.wave(),
    );
    e.code.b.finish();
    if cfg!(debug_assertions)
        && let Err(broken) = vir::verify::verify(func)
    {
        panic!("bug: bad vector IR: {broken}\n{}", vir::text::print(func));
    }
    Ok(Emitted {
        slots,
        reads,
        writes_from,
        relays,
        straight,
        wave,
        notes,
    })
}

/// Emission of one region.
struct Emitter<'f> {
    code: Code<'f>,
    /// The variables of slots that the region reads or writes. Slots without one stay in the wave
    /// (see [`Emitter::residents`]).
    vars: HashMap<Slot, Variable>,
    /// `vars` in the order of the slots.
    slots_of_region: Vec<(Slot, Variable)>,
    /// The last block, in order of emission, with an edge to each block.
    led_by: Vec<Option<usize>>,
    /// The values of the current block's live-in slots.
    held: HashMap<Slot, Value>,
    /// Slots that may have been written since the wave entered the region, at the beginning and at
    /// the end of each block; not computed in the baseline tier.
    slots_since: Lives,
    /// Slots that any block writes.
    slots_written: Live,
    blocks: Vec<vir::Block>,
    /// The entry number of each block at which a wave may re-enter the region.
    entry_numbers: HashMap<usize, u32>,
    exit: vir::Block,
    /// The shared back edge of the baseline tier.
    back: Option<baseline::Back>,
    /// The shared exit of the baseline tier for faults.
    faulted: Option<vir::Block>,
    /// Each exit stores the written slots itself. A shared exit would make the values of all blocks
    /// live up to it.
    separate_exits: bool,
    wave_switch: Option<wave_switch::WaveSwitch>,
    arg_slot: StackSlot,
    /// The buffer for the words of scalar loads that are checked together and made by the runtime.
    loaded_slot: Option<StackSlot>,
    out_slot: StackSlot,
    /// The arguments of the last call with effects, and the host block after it, while they are
    /// still in `arg_slot`.
    args_there: Option<(vir::Block, Vec<Value>)>,
    /// See [`Emitted::writes_from`].
    writes_from: u32,
    notes: Option<profile::Notes>,
    /// The block of the general loop, for each loop header that also has an interchanged or
    /// lane-serial form.
    heads: HashMap<usize, vir::Block>,
    /// The loops of `heads`: (header, block) pairs.
    inside: BTreeSet<(usize, usize)>,
    /// The block that is being emitted.
    current: usize,
    facts: BlockFacts,
    prefetches: Prefetches,
    scalars: HashMap<Val, Value>,
    bits: HashMap<Val, Value>,
    singles: affine::Singles,
    /// Loads that are fused into the current segment loop.
    fusion: fuse::Fusion,
}

/// Maximum number of results of a call.
const MAX_RESULTS: usize = 16;

impl<'f> Emitter<'f> {
    fn new(
        f: &'f Func,
        o: Options,
        base: u64,
        (live_in, facts): (&'f [Live], &uniformity::Facts),
        mut b: Builder<'f>,
    ) -> Emitter<'f> {
        let arg_slot = b.func.stack_slot(8 * 2 * crate::ir::Args::MAX as u32);
        let out_slot = b.func.stack_slot(8 * MAX_RESULTS as u32);
        let entry = b.create_block();
        let ctx = b.append_block_param(entry, types::I64);
        b.switch_to_block(entry);
        let region = Region::new(f, o, base, live_in, facts.row(), (&mut b, ctx));
        let prefetches = Prefetches::new(&region, facts);
        let blocks = f.blocks.iter().map(|_| b.create_block()).collect();
        let exit = b.create_block();
        b.append_block_param(exit, types::I64);
        b.append_block_param(exit, types::I64);
        let slots_since = match o.baseline {
            true => Lives::default(),
            false => liveness::written(f),
        };
        Emitter {
            code: Code::new(b, region),
            vars: HashMap::default(),
            slots_of_region: Vec::new(),
            led_by: Vec::new(),
            held: HashMap::default(),
            slots_written: liveness::written_anywhere(f),
            slots_since,
            blocks,
            entry_numbers: HashMap::default(),
            exit,
            back: None,
            faulted: None,
            separate_exits: false,
            wave_switch: None,
            arg_slot,
            loaded_slot: None,
            out_slot,
            args_there: None,
            writes_from: 256,
            notes: None,
            heads: HashMap::default(),
            inside: BTreeSet::new(),
            current: 0,
            facts: BlockFacts::default(),
            prefetches,
            scalars: HashMap::default(),
            bits: HashMap::default(),
            singles: affine::Singles::default(),
            fusion: fuse::Fusion::default(),
        }
    }

    fn block(&mut self, index: usize, block: &Block, plan: &Schedule, live: &Live) {
        let head = *self.heads.get(&index).unwrap_or(&self.blocks[index]);
        self.code.b.switch_to_block(head);
        if self.is_led_to(index) {
            self.code.seal(head);
        }
        self.hold_slots();
        self.scalars.clear();
        self.bits.clear();
        self.singles.clear();
        self.code.reserve_slots(plan.slots);
        if self.code.region.options().count {
            self.code.count(block);
        }
        self.profile_block(block);
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
                self.tell_held();
            }
            self.write_slots(&writes);
            value
        };
        self.terminate(&block.term, value, live);
        self.held.clear();
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
        self.fail(pc, status, new_exec);
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

    /// The same, for a store to it: updates `writes_from`.
    fn home_to_write(&mut self, n: u8) -> i32 {
        self.writes_from = self.writes_from.min(n.into());
        home_offset(n)
    }
}
