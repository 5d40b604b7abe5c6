//! Emits lane-serial loops (see [`crate::analysis::interchange::lane_serial`]). For each active
//! lane, lowest first, its loop-carried values are loaded and all its iterations run with scalars.
//! Live-out results go to the frame, and from there to the lanes' registers once the last lane is
//! done; the scalars of the lane with the most iterations become the wave's. Values read only by
//! iterations are written back for lanes that run out of fuel. An access that cannot be done inline
//! (an address outside the arena or LDS) leaves for the general loop, which restarts from the
//! unchanged registers.

use std::collections::BTreeMap;

use frontend::op::{Data, Space};

use super::Written;
use super::results::Results;
use crate::analysis::interchange::lane_serial::LaneSerial;
use crate::analysis::interchange::{self, MaskPlace};
use crate::analysis::liveness::Live;
use crate::analysis::schedule::Schedule;
use crate::analysis::uniformity::Facts;
use crate::host::Host;
use crate::ir::{Float, Op, Val};
use crate::legalize::scalar::joined;
use crate::legalize::{Emitter, access, affine, frame_offset, home_offset};
use crate::maps::HashMap;

mod frame;
mod trip_count;
mod values;

use crate::options::Forms;
use crate::vir::{self, IntCC, Memory, Value, Variable, types};
use frame::Shared;
use trip_count::Array;

/// State of a lane's emission.
struct Lane<'p> {
    plan: &'p LaneSerial,
    schedule: Schedule,
    /// The lane's number, I64.
    number: Value,
    /// The wave plus the lane's byte offset.
    wave: Value,
    /// The number of the iteration, I64, from 0; `None` before the first one, or where iterations
    /// are not counted.
    iteration: Option<Value>,
    /// Loop-carried VGPRs, other than pairs.
    words: BTreeMap<u16, Variable>,
    /// Loop-carried pairs.
    pairs: BTreeMap<u16, Variable>,
    /// Steady words and pairs (see [`trip_count`]), as before the first iteration.
    origins: BTreeMap<u16, Value>,
    /// Bits of loop-carried masks, I8.
    masks: BTreeMap<MaskPlace, Variable>,
    /// The values computed so far.
    values: HashMap<Val, Value>,
    /// The invariant parts of sums, relative to the arena's base.
    starts: HashMap<Val, Value>,
    /// Arrays whose elements are loaded.
    arrays: BTreeMap<Val, Array>,
    memory: Reach,
    fail: vir::Block,
}

/// State that the lanes share.
struct Job {
    shared: Shared,
    /// Remaining fuel of the current lane, I32.
    left: Variable,
    /// Loop-carried scalars, with their new values.
    slots: Vec<Written>,
    /// The results for the wave.
    results: Results,
    /// VGPRs that are live after the loop, with frame slots.
    live_outs: Vec<(u16, u32)>,
    /// Those that only iterations read.
    inner: Vec<(u16, u32)>,
}

/// Bounds of inline accesses.
#[derive(Clone)]
struct Reach {
    /// Lowest address of the arena.
    base: Value,
    /// Start of LDS.
    lds: Value,
    /// The highest offset of an element, by its space (is it LDS?) and size.
    last: BTreeMap<(bool, u32), Value>,
}

/// Space and data of a load.
fn shape(op: Op) -> Option<(bool, Data)> {
    match op {
        Op::Load(space, data, _) => Some((space == Space::Lds, data)),
        _ => None,
    }
}

impl Emitter<'_> {
    /// Plans the loop that begins at block `head` as a lane-serial loop.
    pub(super) fn plan_lane_serial(
        &self,
        head: usize,
        live: &[Live],
        facts: &Facts,
    ) -> Option<LaneSerial> {
        if !self.code.region.options().has(Forms::LANE_SERIAL) {
            return None;
        }
        let strides = |b: usize, v: Val| {
            let affine = facts.address(b, v)?;
            let suits = affine::suits(&self.code.region.func().blocks[b], v, affine, facts.row());
            (suits && !affine.masked).then_some(affine.stride)
        };
        let mut plan =
            interchange::lane_serial::plan(self.code.region.func(), head, live, &strides)?;
        if self.code.region.options().has(Forms::HOISTED) {
            plan.find_trip_count();
        }
        Some(plan)
    }

    /// Emits the loop that begins at block `index` at its entry.
    pub(in super::super) fn lane_serial(&mut self, index: usize, plan: &LaneSerial) {
        let Some((general, exec, fail)) = self.begin_form(index) else {
            return;
        };
        self.code.require(fail, exec);
        let memory = self.reach(plan, fail);
        let fuel = self.code.fuel();
        if plan.count.is_some() {
            let some = self.code.b.icmp_imm(IntCC::SignedGreaterThan, fuel, 0);
            self.code.require(fail, some);
        }
        let slots = self.code.written(&plan.slots);
        let results = self.begin_results(&plan.masks, fuel, &slots);
        // Bits of inactive lanes are unchanged.
        for (&place, &var) in &results.masks {
            let before = self.mask_before(place);
            let others = self.code.b.band_not(before, exec);
            self.code.b.def_var(var, others);
        }
        let outs = plan.outs.keys().map(|&n| (n, self.code.take_slot()));
        let (live_outs, inner): (Vec<_>, Vec<_>) = outs.partition(|(n, _)| plan.keep.contains(n));
        let job = Job {
            shared: Shared::new(self.code.take_slot()),
            left: self.code.variable(types::I32),
            slots,
            results,
            live_outs,
            inner,
        };
        self.begin_shared(&job.shared, &memory, (exec, fuel));
        let mut lane = Lane {
            plan,
            schedule: Schedule::unplaced(&plan.block, Host::default()),
            number: exec,
            wave: self.code.region.wave(),
            iteration: None,
            words: BTreeMap::new(),
            pairs: BTreeMap::new(),
            origins: BTreeMap::new(),
            masks: BTreeMap::new(),
            values: HashMap::default(),
            starts: HashMap::default(),
            arrays: BTreeMap::new(),
            memory,
            fail,
        };
        if let Some(place) = plan.left {
            let gone = self.mask_before(place);
            let gone = self.code.b.band(gone, exec);
            let none = self.code.b.icmp_imm(IntCC::Equal, gone, 0);
            self.code.require(fail, none);
        }
        self.declare(&mut lane);
        self.not_in_order(&mut lane);
        self.wave_fixed(&lane);
        self.lane_serial_loop(&mut lane, &job);
        self.all_done(&lane, &job, exec);
        let out_of_fuel = self.read_shared(job.shared.out_of_fuel, types::I64);
        let [again, out] = [(); 2].map(|()| self.code.b.create_block());
        self.code.b.set_cold_block(again);
        self.code.b.brif(out_of_fuel, again, &[], out, &[]);
        self.code.b.switch_to_block(again);
        self.commit_some(&job.inner, out_of_fuel);
        self.code.b.jump(out, &[]);
        self.code.b.switch_to_block(out);
        self.leave_loop(out_of_fuel, (index, plan.block.pc), &plan.exit);
        self.code.b.switch_to_block(fail);
        self.code.b.jump(general, &[]);
    }

    /// All iterations of all lanes, one after the other.
    fn lane_serial_loop(&mut self, t: &mut Lane<'_>, job: &Job) {
        let (block, shared) = (&t.plan.block, &job.shared);
        let fixed = self.values.scalars().clone();

        // A lane.
        let header = self.code.b.create_block();
        self.code.b.jump(header, &[]);
        self.code.b.switch_to_block(header);
        let rest = self.reload_shared(t, shared);
        self.place(t, rest);
        for &(slot, var, _) in &job.slots {
            let before = self.boundary.read_slot(&mut self.code, slot);
            self.code.b.def_var(var, before);
        }
        self.begin_lane(t);
        self.lane_fixed(t);
        let more = t
            .plan
            .count
            .map(|count| self.iterations_ahead(t, count, shared));
        if more.is_none() {
            let fuel = self.read_shared(shared.fuel, types::I32);
            self.code.b.def_var(job.left, fuel);
        }
        self.begin_recurrences(t, more);

        // An iteration.
        let head = self.code.b.create_block();
        let first = more.map(|_| {
            t.iteration = Some(self.code.b.append_block_param(head, types::I64));
            self.code.b.iconst(types::I64, 0)
        });
        self.code.b.jump(head, first.as_slice());
        self.code.b.switch_to_block(head);
        self.values.set_scalars(fixed);
        for (i, node) in block.nodes.iter().enumerate() {
            if let Op::ReadS(slot) = node.op
                && let Some(&(_, var, _)) = job.slots.iter().find(|s| s.0 == slot)
            {
                let value = self.code.b.use_var(var);
                self.values.insert(Val(i as u32), value);
            }
        }
        for &load in &block.effects {
            match block.nodes[load.index()].op {
                Op::ScalarLoad(n, _) => self.serial_scalar_load(t, load, n),
                _ => self.serial_load(t, load),
            }
        }
        let back = self.end_lane_serial(t, &job.slots);
        let [out_of_fuel, end] = [(); 2].map(|()| self.code.b.create_block());
        self.code.b.set_cold_block(out_of_fuel);
        match more {
            Some(more) => {
                self.end_counted(t, more, head);
                let some = self.read_shared(shared.out_of_fuel, types::I64);
                self.code.b.brif(some, out_of_fuel, &[], end, &[]);
            }
            None => self.end_uncounted(back, job.left, (head, out_of_fuel, end)),
        }

        // This lane or another one is out of fuel.
        self.code.b.switch_to_block(out_of_fuel);
        let rest = self.reload_shared(t, shared);
        self.place(t, rest);
        if more.is_none() {
            self.set_tired(t, shared);
        }
        self.begin_steady(t);
        self.keep_results(t, &job.inner);
        self.code.b.jump(end, &[]);

        // The lane's results.
        self.code.b.switch_to_block(end);
        let rest = self.reload_shared(t, shared);
        self.place(t, rest);
        self.begin_steady(t);
        self.keep_results(t, &job.live_outs);
        self.lane_masks(t, &job.results);
        match more {
            Some(more) => self.lane_iterations(more, job),
            None => self.lane_fuel(job),
        }
        let others = self.but_first(rest);
        self.write_shared(shared.rest, others);
        let done = self.code.b.create_block();
        self.code.b.brif(others, header, &[], done, &[]);
        self.code.b.switch_to_block(done);
    }

    /// After the last lane: commits the results of the lanes in `exec` to the wave.
    fn all_done(&mut self, t: &Lane<'_>, job: &Job, exec: Value) {
        let out_of_fuel = self.read_shared(job.shared.out_of_fuel, types::I64);
        let left = self.code.b.band_not(exec, out_of_fuel);
        for (place, &var) in &job.results.masks {
            if !t.masks.contains_key(place) {
                let others = self.code.b.use_var(var);
                let bits = match *place {
                    MaskPlace::Exec => out_of_fuel,
                    // The lanes that left.
                    _ => left,
                };
                let all = self.code.b.bor(others, bits);
                self.code.b.def_var(var, all);
            }
        }
        self.commit_some(&job.live_outs, exec);
        self.commit_scalars(&job.results, &job.slots);
        let rest = match t.plan.count {
            Some(_) => {
                let fuel = self.read_shared(job.shared.fuel, types::I32);
                let most = self.read_shared(job.shared.furthest, types::I32);
                let rest = self.code.b.isub(fuel, most);
                let none = self.code.b.iconst(types::I32, 0);
                self.code.b.select(out_of_fuel, none, rest)
            }
            None => self.read_shared(job.shared.fewest, types::I32),
        };
        self.code.set_fuel(rest);
    }

    /// Records that the lane is out of fuel before its end.
    fn set_tired(&mut self, t: &Lane<'_>, shared: &Shared) {
        let bit = self.code.b.iconst(types::I64, 1);
        let bit = self.code.b.ishl(bit, t.number);
        let others = self.read_shared(shared.out_of_fuel, types::I64);
        let with = self.code.b.bor(others, bit);
        self.write_shared(shared.out_of_fuel, with);
    }

    /// Clears the lowest lane.
    fn but_first(&mut self, lanes: Value) -> Value {
        let less = self.code.b.iadd_imm(lanes, -1);
        self.code.b.band(lanes, less)
    }

    /// Ends an iteration with a run-time condition: continues at `head`, leaves for `out_of_fuel` without
    /// fuel, or for `end`.
    fn end_uncounted(
        &mut self,
        (cond, when): (Value, bool),
        left: Variable,
        (head, out_of_fuel, end): (vir::Block, vir::Block, vir::Block),
    ) {
        let burnt = self.code.b.create_block();
        match when {
            true => self.code.b.brif(cond, burnt, &[], end, &[]),
            false => self.code.b.brif(cond, end, &[], burnt, &[]),
        };
        self.code.b.switch_to_block(burnt);
        let before = self.code.b.use_var(left);
        let now = self.code.b.iadd_imm(before, -1);
        self.code.b.def_var(left, now);
        let on = self.code.b.icmp_imm(IntCC::SignedGreaterThan, now, 0);
        self.code.b.brif(on, head, &[], out_of_fuel, &[]);
    }

    /// Computes the bounds of inline accesses; leaves for `fail` where none is possible.
    fn reach(&mut self, plan: &LaneSerial, fail: vir::Block) -> Reach {
        let (base, len) = self.code.memory_of(Space::Global, true);
        let (lds, (_, lds_len)) = (self.code.lds_start(), self.code.memory_of(Space::Lds, true));
        let mut sizes: Vec<(bool, u32)> = vec![(false, 1)];
        for &v in &plan.block.effects {
            sizes.push(match plan.block.nodes[v.index()].op {
                Op::ScalarLoad(n, _) => (false, 4 * u32::from(n)),
                op => shape(op).map_or((false, 1), |(lds, data)| (lds, access::bytes(data))),
            });
        }
        sizes.sort_unstable();
        sizes.dedup();
        let mut last = BTreeMap::new();
        for (is_lds, bytes) in sizes {
            let len = if is_lds { lds_len } else { len };
            let at_least = IntCC::UnsignedGreaterThanOrEqual;
            let enough = self.code.b.icmp_imm(at_least, len, i64::from(bytes));
            self.code.require(fail, enough);
            let highest = self.code.b.iadd_imm(len, -i64::from(bytes));
            last.insert((is_lds, bytes), highest);
        }
        Reach { base, lds, last }
    }

    /// Declares loop-carried values. Words that an iteration computes as floats stay in float
    /// registers.
    fn declare(&mut self, t: &mut Lane<'_>) {
        let held = |n: &&u16| !t.plan.steady.contains_key(*n);
        for &n in t.plan.outs.keys().filter(held) {
            if t.plan.in_pair(n) {
                continue;
            }
            let ty = if Self::is_f32(t, n) {
                types::F32
            } else {
                types::I32
            };
            t.words.insert(n, self.code.variable(ty));
        }
        for &n in t.plan.pairs.keys().filter(held) {
            t.pairs.insert(n, self.code.variable(types::I64));
        }
        for &place in t.plan.masks.keys() {
            if place != MaskPlace::Exec && t.plan.left != Some(place) {
                t.masks.insert(place, self.code.variable(types::I8));
            }
        }
    }

    /// Leaves for the general loop if the elements of the first three lanes are contiguous: the
    /// general loop accesses memory in that order. This affects performance only.
    fn not_in_order(&mut self, t: &mut Lane<'_>) {
        for &load in &t.plan.first {
            let node = &t.plan.block.nodes[load.index()];
            let Some((_, data)) = shape(node.op) else {
                continue;
            };
            let addresses = [0, 1, 2].map(|n| {
                t.number = self.code.b.iconst(types::I64, n);
                t.wave = self.code.b.iadd_imm(self.code.region.wave(), 4 * n);
                t.values.clear();
                self.begin_lane(t);
                self.eval(t, node.args[0])
            });
            t.values.clear();
            let bytes = i64::from(access::bytes(data));
            let apart = [0, 1].map(|n| {
                let step = self.code.b.isub(addresses[n + 1], addresses[n]);
                self.code.b.icmp_imm(IntCC::NotEqual, step, bytes)
            });
            let good = self.code.b.bor(apart[0], apart[1]);
            self.code.require(t.fail, good);
        }
    }

    /// Selects the lowest lane in `rest`.
    fn place(&mut self, t: &mut Lane<'_>, rest: Value) {
        t.number = self.code.b.ctz(rest);
        let bytes = self.code.b.ishl_imm(t.number, 2);
        t.wave = self.code.b.iadd(self.code.region.wave(), bytes);
    }

    /// Loads loop-carried values of the lane.
    fn begin_lane(&mut self, t: &mut Lane<'_>) {
        for (&n, &var) in &t.words {
            let ty = if Self::is_f32(t, n) {
                types::F32
            } else {
                types::I32
            };
            let at = home_offset(n);
            let value = self.code.b.load(ty, Memory::Trusted, t.wave, at);
            self.code.b.def_var(var, value);
        }
        for (&n, &var) in &t.pairs {
            let value = self.pair_at_home(t, n);
            self.code.b.def_var(var, value);
        }
        for (&place, &var) in &t.masks {
            let bits = self.mask_before(place);
            let bit = self.bit_of(t, bits);
            self.code.b.def_var(var, bit);
        }
        t.iteration = None;
        self.begin_steady(t);
    }

    /// Loads the initial values of steady words and pairs.
    fn begin_steady(&mut self, t: &mut Lane<'_>) {
        for &n in t.plan.steady.keys() {
            let origin = match t.plan.pairs.contains_key(&n) {
                true => self.pair_at_home(t, n),
                false => {
                    let at = home_offset(n);
                    self.code.b.load(types::I32, Memory::Trusted, t.wave, at)
                }
            };
            t.origins.insert(n, origin);
        }
    }

    /// A pair in the lane's registers, in its representation in the loop.
    fn pair_at_home(&mut self, t: &Lane<'_>, n: u16) -> Value {
        let [low, high] = [n, n + 1].map(|n| {
            let at = home_offset(n);
            self.code.b.load(types::I32, Memory::Trusted, t.wave, at)
        });
        let value = joined(&mut self.code.b, low, high);
        match t.plan.based.contains(&n) {
            true => self.code.b.isub(value, t.memory.base),
            false => value,
        }
    }

    /// Is VGPR `n` loop-carried as a float?
    fn is_f32(t: &Lane<'_>, n: u16) -> bool {
        let Some(&v) = t.plan.outs.get(&n) else {
            return false;
        };
        let node = &t.plan.block.nodes[t.plan.resolve(v).index()];
        let float = matches!(
            node.op,
            Op::FAdd(Float::F32, _)
                | Op::FSub(Float::F32, _)
                | Op::FMul(Float::F32, _)
                | Op::Fma(Float::F32, _)
        );
        float && !t.plan.in_pair(n)
    }

    /// The lane's bit of 64.
    fn bit_of(&mut self, t: &Lane<'_>, bits: Value) -> Value {
        let bit = self.code.b.ushr(bits, t.number);
        let bit = self.code.b.band_imm(bit, 1);
        self.code.b.ireduce(types::I8, bit)
    }

    /// Stores the lane's registers to the frame.
    fn keep_results(&mut self, t: &Lane<'_>, shadows: &[(u16, u32)]) {
        let bytes = self.code.b.ishl_imm(t.number, 2);
        let frame = self.code.b.iadd(self.code.region.frame(), bytes);
        for &(n, slot) in shadows {
            let value = match t.words.get(&n) {
                Some(&var) => self.code.b.use_var(var),
                None => self.eval_register(t, n),
            };
            let at = frame_offset(slot);
            self.code.b.store(Memory::Trusted, value, frame, at);
        }
    }

    /// Adds a lane's bits to the masks.
    fn lane_masks(&mut self, t: &Lane<'_>, results: &Results) {
        for (place, &bit) in &t.masks {
            let bit = self.code.b.use_var(bit);
            let bit = self.code.b.uextend(types::I64, bit);
            let placed = self.code.b.ishl(bit, t.number);
            let var = results.masks[place];
            let before = self.code.b.use_var(var);
            let with = self.code.b.bor(before, placed);
            self.code.b.def_var(var, with);
        }
    }

    /// Makes the lane's remaining fuel and its scalars the wave's, if it ran more iterations than
    /// the lanes before.
    fn lane_fuel(&mut self, job: &Job) {
        let mine = self.code.b.use_var(job.left);
        let least = self.read_shared(job.shared.fewest, types::I32);
        let further = self.code.b.icmp(IntCC::SignedLessThan, mine, least);
        let least = self.code.b.select(further, mine, least);
        self.write_shared(job.shared.fewest, least);
        self.scalars_of_furthest(job, further);
    }

    /// The same for a lane with a trip count: `more` iterations after the first.
    fn lane_iterations(&mut self, more: Value, job: &Job) {
        let mine = self.code.b.ireduce(types::I32, more);
        let most = self.read_shared(job.shared.furthest, types::I32);
        let further = self.code.b.icmp(IntCC::SignedGreaterThan, mine, most);
        let most = self.code.b.select(further, mine, most);
        self.write_shared(job.shared.furthest, most);
        self.scalars_of_furthest(job, further);
    }

    fn scalars_of_furthest(&mut self, job: &Job, further: Value) {
        for (from, &to) in job.slots.iter().map(|s| s.1).zip(&job.results.slots) {
            let (new, old) = (self.code.b.use_var(from), self.code.b.use_var(to));
            let chosen = self.code.b.select(further, new, old);
            self.code.b.def_var(to, chosen);
        }
    }
}
