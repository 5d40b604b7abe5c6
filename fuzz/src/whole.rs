//! Whole kernels for dispatches of several workgroups and waves, whose results depend on no order: each wave accesses a
//! slice of memory and of LDS of its own, waves exchange data through LDS between barriers that all of them reach, and shared
//! counters are changed by one commutative operation each, whose result no wave reads.
//!
//! They have what programs of one wave lack: functions on two levels, called directly and by a selected address; graphs of up to
//! a thousand blocks with forward, backward and irreducible edges; long straight lines; loops that lanes leave at different
//! times around all of that. Loops are bounded, so each kernel ends.

use frontend::desc::InstDesc;
use frontend::op::{DsOp, Space};
use frontend::registers::{is_lane_exchange, loads_to_lds};
use frontend::{Encoding, Gfx, Op, decode};
use harness::random::Random;
use harness::words::{self, As, prepared};
use runtime::object::KernelDescriptor;

use crate::kernel::{LITERAL, MINUS_ONE, MODE, Place, RAW, constant};
use crate::program::{EXEC, Item, M0, Rows, VCC, fits};
use crate::{Error, Options};

/// Bytes of memory of a wave: a buffer with room around it, then results.
pub(crate) const SLICE: u32 = 24 << 10;
/// Where the buffer begins, and its bytes.
const BUFFER: u32 = 4096;
/// Where results begin: VGPRs, scalar registers, the wave's LDS, the exchanged words, the counters in LDS.
const RESULTS: u32 = 16 << 10;
/// Bytes of the input, which all waves read.
pub(crate) const INPUT: u32 = 8192;
/// Bytes of shared counters in memory.
pub(crate) const COUNTERS: u32 = 256;
/// Waves of a workgroup at most.
const WAVES: u32 = 4;
/// Workgroups at most.
const WORKGROUPS: u32 = 6;
/// Bytes of LDS of a wave, and where its accesses begin there.
const LDS_WAVE: u32 = 2048;
const LDS_FIRST: u32 = 512;
/// Counters in LDS, and the words that waves exchange.
const LDS_COUNTERS: u32 = WAVES * LDS_WAVE;
const LDS_EXCHANGE: u32 = LDS_COUNTERS + 256;
/// Bytes of LDS.
const LDS: u32 = LDS_EXCHANGE + WAVES * 256;

/// Instructions that a wave executes at most, about.
const BUDGET: u64 = 6000;
/// Instructions of a kernel at most, about.
const LENGTH: u32 = 3000;

/// Scalar registers that no instruction of a kernel's body writes.
mod scalar {
    /// Descriptors: counters, input, the slice.
    pub(super) const COUNTERS: u32 = 64;
    pub(super) const INPUT: u32 = 68;
    pub(super) const SLICE: u32 = 72;
    /// Return addresses, by level.
    pub(super) const LINKS: [u32; 2] = [80, 82];
    /// Masks and counters of functions, by level.
    pub(super) const CONTROL: [u32; 2] = [56, 84];
    /// Two pairs for what takes a few instructions.
    pub(super) const TEMPORARY: u32 = 92;
    pub(super) const ADDRESS: u32 = 94;
    /// Addresses: input, the slice, counters.
    pub(super) const INPUT_AT: u32 = 96;
    pub(super) const SLICE_AT: u32 = 98;
    pub(super) const COUNTERS_AT: u32 = 100;
}

/// Vector registers of the same kind, behind the prepared ones.
mod vector {
    /// The work-item's number in the workgroup, the lane's, four times that, and an address.
    pub(super) const ITEM: u32 = 32;
    pub(super) const LANE: u32 = 33;
    pub(super) const LANE4: u32 = 34;
    pub(super) const ADDRESS: u32 = 35;
    /// Where the lane's exchanged word is, and a value.
    pub(super) const EXCHANGE: u32 = 36;
    pub(super) const VALUE: u32 = 37;
    /// Scalar registers, by lane.
    pub(super) const SCALARS: u32 = 38;
    /// Counters of loops, two for each level of functions.
    pub(super) const COUNTERS: u32 = 40;
}

/// A kernel and its dispatch. Its arguments are the addresses of input, slices and counters.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    /// Its instructions.
    pub(crate) code: Vec<u8>,
    /// Its descriptor.
    pub(crate) descriptor: KernelDescriptor,
    /// Work-items of the grid and of a workgroup.
    pub(crate) grid: u32,
    pub(crate) workgroup: u32,
}

impl Whole {
    /// Slices of memory that a dispatch needs.
    pub(crate) fn slices(&self) -> u32 {
        self.grid.div_ceil(self.workgroup) * self.workgroup.div_ceil(64)
    }

    /// The greatest number of slices of any kernel.
    pub(crate) const fn most_slices() -> u32 {
        WORKGROUPS * WAVES
    }
}

/// Rows of a target that kernels consist of.
pub(crate) struct Parts {
    /// Those that do not access memory.
    rows: Rows,
    /// Those that do, in the wave's own memory.
    own: Vec<&'static InstDesc>,
}

impl Parts {
    pub(crate) fn new(gfx: Gfx) -> Result<Parts, Error> {
        let mut rows = Rows::new(gfx, &Options::default())?;
        let own = rows.memory.iter().flatten().copied();
        let own = own.filter(|desc| stays(desc)).collect();
        rows.memory.clear();
        Ok(Parts { rows, own })
    }

    /// A random kernel.
    pub(crate) fn kernel(&self, r: &mut Random) -> Whole {
        let workgroup = *r.pick(&[64, 128, 256, 64, 192, 100, 33, 250]);
        let workgroups = 1 + r.below(WORKGROUPS);
        // The last workgroup may be partial.
        let missing = if r.once_in(4) { r.below(workgroup) } else { 0 };
        let mut writer = Writer {
            parts: self,
            gfx: self.rows.gfx,
            code: Vec::new(),
            functions: Vec::new(),
            level: Level::MAIN,
            left: LENGTH,
            times: 1,
            spent: 0,
        };
        writer.whole(r, workgroup.div_ceil(64));
        Whole {
            code: writer.code,
            descriptor: descriptor(),
            grid: workgroup * workgroups - missing,
            workgroup,
        }
    }
}

fn descriptor() -> KernelDescriptor {
    KernelDescriptor {
        group_segment_fixed_size: LDS,
        kernarg_size: 24,
        // 64 VGPRs, of which the upper half are accumulation registers where there are any, or more; all SGPRs; denormals.
        rsrc1: 31 | 12 << 6 | 0xc0 << 12,
        // The address of the arguments; the workgroup's number.
        rsrc2: 2 << 1 | 1 << 7,
        rsrc3: 15,
        properties: 1 << 3,
        ..KernelDescriptor::default()
    }
}

/// Can a row be restricted to the wave's own memory?
fn stays(desc: &InstDesc) -> bool {
    if loads_to_lds(desc) {
        return false;
    }
    match desc.op {
        Op::Load(space, _) | Op::Store(space, _) | Op::Atomic(space, _) => matches!(
            space,
            Space::Scalar
                | Space::ScalarBuffer
                | Space::Lds
                | Space::Flat
                | Space::Global
                | Space::Buffer
        ),
        Op::Read2 { st64 } | Op::Write2 { st64 } | Op::Wrxchg2 { st64 } => !st64,
        Op::Ds(op) => is_lane_exchange(op) && op != DsOp::Append,
        Op::CacheCtl => true,
        _ => false,
    }
}

/// Where control is: in the kernel or in a function of a level.
#[derive(Clone, Copy)]
struct Level {
    /// Functions of the levels from this one on may be called.
    calls: usize,
    /// The first SGPR for masks and counters, and the first VGPR for counters.
    scalar: u32,
    vector: u32,
    /// Blocks in one another at most.
    depth: u32,
}

impl Level {
    const MAIN: Level = Level {
        calls: 0,
        scalar: prepared::CONTROL_S,
        vector: words::VGPRS,
        depth: 4,
    };

    fn function(level: usize) -> Level {
        Level {
            calls: level + 1,
            scalar: scalar::CONTROL[level],
            vector: vector::COUNTERS + 2 * level as u32,
            depth: 2,
        }
    }
}

/// A function.
#[derive(Clone, Copy)]
struct Function {
    level: usize,
    at: usize,
    /// Instructions that a call executes at most, about.
    cost: u64,
}

struct Writer<'a> {
    parts: &'a Parts,
    gfx: Gfx,
    code: Vec<u8>,
    functions: Vec<Function>,
    level: Level,
    /// Instructions that may be added.
    left: u32,
    /// How often the present place is executed.
    times: u64,
    /// Instructions that a wave executes up to here.
    spent: u64,
}

impl Writer<'_> {
    fn rows(&self) -> &Rows {
        &self.parts.rows
    }

    fn whole(&mut self, r: &mut Random, waves: u32) {
        // Functions come first, so that their costs are known; those of the lower level before their callers.
        self.push(&[0; 4]);
        for level in [1, 0] {
            for _ in 0..r.below(3) {
                self.function(r, level);
            }
        }
        let over = self.code.len() as i32 - 4;
        let branch = self.rows().branch("s_branch", over);
        self.code[..4].copy_from_slice(&branch);
        self.level = Level::MAIN;
        self.prologue(r, waves);
        self.body(r, 0, true, u32::MAX);
        self.epilogue(waves);
    }

    fn function(&mut self, r: &mut Random, level: usize) {
        self.level = Level::function(level);
        let at = self.code.len();
        let before = (self.spent, self.left);
        // A part of what is left for the kernel.
        (self.spent, self.left) = (BUDGET - BUDGET / 8, before.1 / 4);
        let start = self.spent;
        let count = 1 + r.below(6);
        self.body(r, 0, false, count);
        self.sop1("s_setpc_b64", 0, scalar::LINKS[level]);
        let used = before.1 / 4 - self.left;
        self.functions.push(Function {
            level,
            at,
            cost: self.spent - start,
        });
        (self.spent, self.left) = (before.0, before.1 - used);
    }

    // ---- the body

    /// Adds parts until there are `count`, or the input, the room or the time ends. `uniform`: all waves of the workgroup
    /// come here equally often.
    fn body(&mut self, r: &mut Random, depth: u32, uniform: bool, count: u32) {
        for _ in 0..count {
            if r.is_exhausted() || self.left == 0 || self.spent >= BUDGET {
                break;
            }
            self.part(r, depth, uniform);
        }
    }

    fn part(&mut self, r: &mut Random, depth: u32, uniform: bool) {
        let deeper = depth < self.level.depth;
        match r.below(32) {
            0..=6 => self.own_access(r),
            7 | 8 if uniform => self.exchange(r),
            9 => self.count_in_lds(r),
            10 => self.count_in_memory(r),
            11 | 12 if deeper => self.conditional(r, depth),
            13 if deeper => self.counted_loop(r, depth, uniform),
            14 if deeper => self.divergent_loop(r, depth),
            15 | 16 => self.call(r),
            17 if deeper => self.graph(r, depth),
            18 => self.long_line(r),
            19 => {
                let bytes = self.rows().set_mode(r);
                self.add(&bytes);
            }
            20 => self.scalar_relative(r),
            21 => {
                let mut items = Vec::new();
                self.rows().indexed_moves(r, &mut items);
                self.items(&items);
            }
            22 => {
                let (to, from) = (r.below(12), r.below(12));
                let bytes = self.rows().first_lane(2 * to, from);
                self.add(&bytes);
            }
            23 if uniform => self.barrier(),
            24 => self.all_lanes(),
            _ => self.instruction(r),
        }
    }

    fn instruction(&mut self, r: &mut Random) {
        let bytes = self.rows().instruction(r);
        self.add(&bytes);
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            if let Item::Inst(bytes) = item {
                self.add(bytes);
            }
        }
    }

    fn all_lanes(&mut self) {
        self.sop1("s_mov_b64", EXEC, MINUS_ONE);
    }

    fn barrier(&mut self) {
        let bytes = self.rows().branch("s_barrier", 0);
        self.add(&bytes);
    }

    /// An access to the wave's slice or its part of the LDS, or an exchange among its lanes.
    fn own_access(&mut self, r: &mut Random) {
        let desc = *r.pick(&self.parts.own);
        let Some(mut bytes) = words::random(r, self.gfx, desc, As::Native) else {
            return;
        };
        match desc.encoding {
            Encoding::Ds => {
                // No GDS.
                let gds = if self.gfx.is_gfx6_7() { 17 } else { 16 };
                clear(&mut bytes, gds);
                if !matches!(desc.op, Op::Ds(_)) {
                    bytes[4] = prepared::LDS_V as u8;
                }
            }
            // Not to LDS.
            Encoding::Mubuf => clear(&mut bytes, 16),
            // M0 is no offset.
            Encoding::Smem if self.gfx.is_gfx8_up() && bytes[2] & 2 == 0 && bytes[4] == 124 => {
                return;
            }
            _ => {}
        }
        if decode(self.gfx, &bytes).is_ok_and(|inst| fits(&inst)) {
            self.add(&bytes);
        }
    }

    /// Each work-item stores a word to LDS and, behind a barrier, loads that of another.
    fn exchange(&mut self, r: &mut Random) {
        let (from, to) = (r.below(words::VGPRS), r.below(words::VGPRS));
        let other = 4 * r.below(64 * WAVES);
        if r.once_in(2) {
            self.all_lanes();
        }
        self.ds("ds_write_b32", LDS_EXCHANGE, from << 8 | vector::EXCHANGE);
        self.barrier();
        self.vop1("v_mov_b32", vector::ADDRESS, LITERAL);
        self.push(&other.to_le_bytes());
        self.vop2(
            "v_xor_b32",
            vector::ADDRESS,
            256 + vector::EXCHANGE,
            vector::ADDRESS,
        );
        self.ds("ds_read_b32", LDS_EXCHANGE, to << 24 | vector::ADDRESS);
        self.barrier();
    }

    /// A counter of the workgroup.
    fn count_in_lds(&mut self, r: &mut Random) {
        const NAMES: [&str; 8] = [
            "ds_add_u32",
            "ds_sub_u32",
            "ds_and_b32",
            "ds_or_b32",
            "ds_xor_b32",
            "ds_max_u32",
            "ds_min_i32",
            "ds_add_u64",
        ];
        let (counter, spread) = (r.below(NAMES.len() as u32), r.below(4));
        let data = 2 * r.below(words::VGPRS / 2);
        // Lanes access the same word, or up to four.
        self.vop2("v_and_b32", vector::ADDRESS, constant(spread), vector::LANE);
        self.vop2(
            "v_lshlrev_b32",
            vector::ADDRESS,
            constant(3),
            vector::ADDRESS,
        );
        let registers = data << 8 | vector::ADDRESS;
        let offset = LDS_COUNTERS + 32 * counter;
        self.ds(NAMES[counter as usize], offset, registers);
    }

    /// A counter of the dispatch.
    fn count_in_memory(&mut self, r: &mut Random) {
        const NAMES: [&str; 8] = [
            "buffer_atomic_add",
            "buffer_atomic_sub",
            "buffer_atomic_and",
            "buffer_atomic_or",
            "buffer_atomic_xor",
            "buffer_atomic_umax",
            "buffer_atomic_smin",
            "buffer_atomic_add_x2",
        ];
        let (counter, spread) = (r.below(NAMES.len() as u32), r.below(4));
        let data = 2 * r.below(words::VGPRS / 2);
        self.vop2("v_and_b32", vector::ADDRESS, constant(spread), vector::LANE);
        self.vop2(
            "v_lshlrev_b32",
            vector::ADDRESS,
            constant(3),
            vector::ADDRESS,
        );
        self.mubuf(
            NAMES[counter as usize],
            data,
            Place {
                address: vector::ADDRESS,
                descriptor: scalar::COUNTERS,
                base: 128,
                offset: 32 * counter,
            },
        );
    }

    /// The mask and the counter of a depth.
    fn control(&self, depth: u32) -> (u32, u32) {
        let mask = self.level.scalar + 4 * depth;
        (mask, mask + 2)
    }

    fn conditional(&mut self, r: &mut Random, depth: u32) {
        let (mask, _) = self.control(depth);
        let compare = self.rows().compare(r);
        let (skip, other) = (r.below(3), r.once_in(3));
        self.add(&compare);
        self.sop1("s_and_saveexec_b64", mask, VCC);
        let from = self.hole(skip != 0);
        let count = 1 + r.below(5);
        self.body(r, depth + 1, false, count);
        self.fill(from, "s_cbranch_execz");
        if other {
            self.sop2("s_andn2_b64", EXEC, mask, EXEC);
            let from = self.hole(skip == 1);
            self.body(r, depth + 1, false, count);
            self.fill(from, "s_cbranch_execz");
        }
        self.sop2("s_or_b64", EXEC, EXEC, mask);
    }

    fn counted_loop(&mut self, r: &mut Random, depth: u32, uniform: bool) {
        let (mask, counter) = self.control(depth);
        let rounds = 1 + r.below(4);
        let leave = r.once_in(3);
        self.sop1("s_mov_b64", mask, EXEC);
        self.sopk("s_movk_i32", counter, rounds);
        let start = self.code.len();
        self.times *= u64::from(rounds);
        let count = 1 + r.below(5);
        self.body(r, depth + 1, uniform && !leave, count);
        let mut out = None;
        if leave {
            let compare = self.rows().compare(r);
            self.add(&compare);
            self.sop2("s_and_b64", EXEC, EXEC, VCC);
            out = self.hole(true);
        }
        self.sopk("s_addk_i32", counter, 0xffff);
        self.sopc("s_cmp_lg_u32", counter, constant(0));
        self.back("s_cbranch_scc1", start);
        self.times /= u64::from(rounds);
        self.fill(out, "s_cbranch_execz");
        self.sop1("s_mov_b64", EXEC, mask);
    }

    /// Lanes leave one after the other.
    fn divergent_loop(&mut self, r: &mut Random, depth: u32) {
        // There are counters for two.
        if depth >= 2 {
            return;
        }
        let (mask, _) = self.control(depth);
        let counter = self.level.vector + depth;
        let rounds = 1 + r.below(6);
        self.sop1("s_mov_b64", mask, EXEC);
        self.vop2("v_and_b32", counter, constant(3), vector::LANE);
        let start = self.code.len();
        self.times *= u64::from(rounds + 3);
        let count = 1 + r.below(5);
        self.body(r, depth + 1, false, count);
        let add = self.rows().add_co();
        self.vop2(add, counter, constant(1), counter);
        let compare = self
            .rows()
            .vopc("v_cmp_gt_u32", constant(rounds + 3), counter);
        self.add(&compare);
        self.sop2("s_and_b64", EXEC, EXEC, VCC);
        self.back("s_cbranch_execnz", start);
        self.times /= u64::from(rounds + 3);
        self.sop1("s_mov_b64", EXEC, mask);
    }

    /// Calls a function, or one of two by SCC.
    fn call(&mut self, r: &mut Random) {
        let Some(level) = (self.level.calls < 2)
            .then(|| self.level.calls as u32 + r.below(2 - self.level.calls as u32))
        else {
            return;
        };
        let level = level as usize;
        let functions = self.functions.iter().copied();
        let functions: Vec<_> = functions
            .filter(|function| function.level == level)
            .collect();
        if functions.is_empty() {
            return;
        }
        let [one, two] = [*r.pick(&functions), *r.pick(&functions)];
        let how = r.below(4);
        let cost = self.times * one.cost.max(two.cost);
        if self.spent + cost > BUDGET {
            return;
        }
        self.spent += cost;
        let link = scalar::LINKS[level];
        if how == 0 && self.gfx.is_gfx9() {
            let from = self.code.len() as i32 + 4;
            let call = self
                .rows()
                .sopk("s_call_b64", link, ((one.at as i32 - from) / 4) as u32);
            self.add(&call);
            return;
        }
        // Distances from behind `s_getpc_b64` are negative.
        let indirect = how == 1;
        let here = self.code.len() as u32 + if indirect { 24 } else { 4 };
        let distance = |function: Function| (function.at as u32).wrapping_sub(here);
        let low = if indirect {
            for (register, function) in [(0, one), (1, two)] {
                self.sop1("s_mov_b32", scalar::TEMPORARY + register, LITERAL);
                self.push(&distance(function).to_le_bytes());
            }
            let (low, high) = (scalar::TEMPORARY, scalar::TEMPORARY + 1);
            self.sop2("s_cselect_b32", low, low, high);
            low
        } else {
            LITERAL
        };
        let pc = scalar::ADDRESS;
        self.sop1("s_getpc_b64", pc, 0);
        assert_eq!(
            self.code.len() as u32,
            here,
            "bug: the distance begins elsewhere"
        );
        self.sop2("s_add_u32", pc, pc, low);
        if !indirect {
            self.push(&distance(one).to_le_bytes());
        }
        self.sop2("s_addc_u32", pc + 1, pc + 1, MINUS_ONE);
        self.sop1("s_swappc_b64", link, pc);
    }

    /// Blocks with edges forward to one of the next, and a bounded number of edges backward.
    fn graph(&mut self, r: &mut Random, depth: u32) {
        let (mask, counter) = self.control(depth);
        let blocks = match r.below(8) {
            0 => 1 + r.below(900),
            1 | 2 => 1 + r.below(150),
            _ => 2 + r.below(30),
        };
        let returns = r.below(6);
        let mut palette = Vec::new();
        for _ in 0..1 + r.below(6) {
            palette.push(self.rows().instruction(r));
        }
        // The edges come from a seed, so that a large graph takes few bytes.
        let mut edges = Random::new(u64::from(r.below(1 << 16)));
        let cost = u64::from(blocks * (1 + returns)) * 4;
        if self.left < 4 * blocks || self.spent + self.times * cost > 2 * BUDGET {
            return;
        }
        let e = &mut edges;
        self.sop1("s_mov_b64", mask, EXEC);
        self.sopk("s_movk_i32", counter, returns);
        let mut starts = Vec::new();
        let mut open: Vec<(usize, usize, &str)> = Vec::new();
        self.times *= 1 + u64::from(returns);
        for block in 0..blocks as usize {
            starts.push(self.code.len());
            for _ in 0..e.below(3) {
                let bytes = e.pick(&palette).clone();
                self.add(&bytes);
            }
            let to = block + 1 + e.below(8) as usize;
            let to = to.min(blocks as usize);
            const BRANCHES: [&str; 7] = [
                "s_cbranch_scc0",
                "s_cbranch_scc1",
                "s_cbranch_vccz",
                "s_cbranch_vccnz",
                "s_cbranch_execz",
                "s_cbranch_execnz",
                "s_branch",
            ];
            match e.below(12) {
                n @ 0..=8 => {
                    let name = BRANCHES[n as usize % BRANCHES.len()];
                    open.push((self.code.len(), to, name));
                    self.add(&[0; 4]);
                }
                9 => {
                    self.sopc("s_cmp_eq_u32", counter, constant(0));
                    let over = self.hole(true);
                    self.sopk("s_addk_i32", counter, 0xffff);
                    let back = block.saturating_sub(e.below(10) as usize);
                    self.back("s_branch", starts[back]);
                    self.fill(over, "s_cbranch_scc1");
                }
                _ => {}
            }
        }
        self.times /= 1 + u64::from(returns);
        starts.push(self.code.len());
        for (at, to, name) in open {
            let branch = self.rows().branch(name, (starts[to] - at) as i32 - 4);
            self.code[at..at + 4].copy_from_slice(&branch);
        }
        self.sop1("s_mov_b64", EXEC, mask);
    }

    /// A few instructions, again and again.
    fn long_line(&mut self, r: &mut Random) {
        let mut palette = Vec::new();
        for _ in 0..1 + r.below(8) {
            palette.push(self.rows().instruction(r));
        }
        let count = match r.below(8) {
            0 => r.below(2000),
            1 => r.below(400),
            _ => r.below(40),
        };
        let mut order = Random::new(u64::from(r.below(1 << 16)));
        for _ in 0..count {
            if self.left == 0 || self.spent >= 2 * BUDGET {
                break;
            }
            let bytes = order.pick(&palette).clone();
            self.add(&bytes);
        }
    }

    /// Scalar moves by M0 among the first registers.
    fn scalar_relative(&mut self, r: &mut Random) {
        self.sopk("s_movk_i32", M0, r.below(8));
        for _ in 0..1 + r.below(2) {
            let name = *r.pick(&[
                "s_movrels_b32",
                "s_movrels_b64",
                "s_movreld_b32",
                "s_movreld_b64",
            ]);
            self.sop1(name, 2 * r.below(8), 2 * r.below(8));
        }
        self.sopk("s_movk_i32", M0, 0xffff);
    }

    // ---- around it

    fn prologue(&mut self, r: &mut Random, waves: u32) {
        let temporary = scalar::TEMPORARY;
        self.load(scalar::INPUT_AT, 2, 0, 0);
        self.load(scalar::COUNTERS_AT, 1, 0, 16);
        // The wave's number in the workgroup. Lanes that are not in the grid have numbers, too, since instructions make
        // them active.
        self.vop2("v_lshrrev_b32", vector::VALUE, constant(6), 0);
        let first = self.rows().first_lane(temporary, vector::VALUE);
        self.add(&first);
        self.sop1("s_mov_b64", scalar::ADDRESS, EXEC);
        self.all_lanes();
        self.lane_number();
        self.sop2("s_lshl_b32", temporary + 1, temporary, constant(6));
        self.vop2("v_or_b32", vector::ITEM, temporary + 1, vector::LANE);
        self.vop2("v_lshlrev_b32", vector::LANE4, constant(2), vector::LANE);
        self.vop2("v_lshlrev_b32", vector::EXCHANGE, constant(2), vector::ITEM);
        // Its number among all waves.
        self.sop2("s_mul_i32", temporary + 1, 2, constant(waves));
        self.sop2("s_add_u32", temporary + 1, temporary + 1, temporary);
        self.wait();
        self.sop2("s_mul_i32", temporary + 1, temporary + 1, LITERAL);
        self.push(&SLICE.to_le_bytes());
        self.sop2(
            "s_add_u32",
            scalar::SLICE_AT,
            scalar::SLICE_AT,
            temporary + 1,
        );
        self.sop2(
            "s_addc_u32",
            scalar::SLICE_AT + 1,
            scalar::SLICE_AT + 1,
            constant(0),
        );
        let base = prepared::GLOBAL_S;
        self.sop2("s_add_u32", base, scalar::SLICE_AT, LITERAL);
        self.push(&BUFFER.to_le_bytes());
        self.sop2("s_addc_u32", base + 1, scalar::SLICE_AT + 1, constant(0));
        self.sopk("s_movk_i32", prepared::NEAR_S, 8 * r.below(8));
        self.sopk("s_movk_i32", prepared::FAR_S, 4 * r.below(256));
        // Descriptors.
        self.descriptor(scalar::COUNTERS, Some(scalar::COUNTERS_AT), COUNTERS, 0);
        self.descriptor(scalar::INPUT, Some(scalar::INPUT_AT), INPUT, 0);
        self.descriptor(scalar::SLICE, Some(scalar::SLICE_AT), SLICE, 0);
        for descriptor in [prepared::BUFFER_S, prepared::PRIVATE_S] {
            let stride = *r.pick(&[0, 0, 4, 8, 16]);
            self.descriptor(descriptor, Some(base), BUFFER / stride.max(1), stride);
        }
        self.descriptor(prepared::ZERO_S, None, u32::MAX, 0);
        // Addresses of lanes.
        for low in [prepared::GLOBAL_V, prepared::FLAT_V, prepared::PRIVATE_V] {
            self.vop2("v_lshlrev_b32", low, constant(2 + r.below(3)), vector::LANE);
            self.vop1("v_mov_b32", low + 1, base + 1);
            let (add, carry) = (self.rows().add_co(), self.rows().add_carry());
            self.vop2(add, low, base, low);
            self.vop2(carry, low + 1, constant(0), low + 1);
        }
        for register in [prepared::OFFSET_V, prepared::SCRATCH_V, prepared::LDS_V] {
            let shift = constant(2 + r.below(2));
            self.vop2("v_lshlrev_b32", register, shift, vector::LANE);
        }
        self.sop2("s_mul_i32", temporary, temporary, LITERAL);
        self.push(&LDS_WAVE.to_le_bytes());
        self.sop2("s_add_u32", temporary, temporary, LITERAL);
        self.push(&LDS_FIRST.to_le_bytes());
        self.vop2("v_or_b32", prepared::LDS_V, temporary, prepared::LDS_V);
        self.vop1("v_mov_b32", prepared::FRAME_V, constant(4 * r.below(16)));
        self.vop1("v_mov_b32", prepared::INDEX_V, 256 + vector::LANE);
        self.vop1(
            "v_mov_b32",
            prepared::INDEX_V + 1,
            constant(4 * r.below(16)),
        );
        self.sop1("s_mov_b32", M0, MINUS_ONE);
        // Values: work-items of different workgroups have different ones.
        self.sop2("s_mul_i32", temporary, 2, LITERAL);
        self.push(&132u32.to_le_bytes());
        let place = Place {
            address: vector::EXCHANGE,
            descriptor: scalar::INPUT,
            base: temporary,
            offset: 0,
        };
        // Some keep what the dispatch gave.
        for n in r.below(2)..words::VGPRS {
            let offset = 64 * 4 * (n & 7);
            self.mubuf("buffer_load_dword", n, Place { offset, ..place });
        }
        for n in [0, 8, 16] {
            self.load(n, 3, scalar::INPUT_AT, 512 + 4 * n);
        }
        self.load(temporary, 1, scalar::INPUT_AT, 256);
        self.wait();
        self.sop1("s_mov_b64", VCC, temporary);
        self.sop1("s_mov_b64", EXEC, scalar::ADDRESS);
        self.spent = 0;
    }

    /// The lane's number, by counting the lanes before it.
    fn lane_number(&mut self) {
        let names = ["v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32"];
        for (name, before) in names.into_iter().zip([constant(0), 256 + vector::LANE]) {
            let bytes = match self.gfx.is_gfx8_up() {
                true => self.rows().vop3(name, vector::LANE, MINUS_ONE, before),
                false => {
                    self.vop1("v_mov_b32", vector::VALUE, before);
                    self.rows()
                        .vop2(name, vector::LANE, MINUS_ONE, vector::VALUE)
                }
            };
            self.add(&bytes);
        }
    }

    /// The descriptor of memory at the address in a pair, or of all memory.
    fn descriptor(&mut self, at: u32, base: Option<u32>, records: u32, stride: u32) {
        match base {
            Some(base) => self.sop1("s_mov_b64", at, base),
            None => self.sop1("s_mov_b64", at, constant(0)),
        }
        if stride != 0 {
            self.sop2("s_or_b32", at + 1, at + 1, LITERAL);
            self.push(&(stride << 16).to_le_bytes());
        }
        for (register, word) in [(at + 2, records), (at + 3, RAW)] {
            self.sop1("s_mov_b32", register, LITERAL);
            self.push(&word.to_le_bytes());
        }
    }

    fn epilogue(&mut self, waves: u32) {
        let (temporary, address) = (scalar::TEMPORARY, scalar::ADDRESS);
        self.sop2("s_cselect_b32", temporary, constant(1), constant(0));
        let mode = self.rows().sopk("s_getreg_b32", temporary + 1, MODE);
        self.add(&mode);
        self.sop1("s_mov_b64", address, EXEC);
        self.all_lanes();
        let special = [
            VCC,
            VCC + 1,
            M0,
            temporary,
            temporary + 1,
            address,
            address + 1,
        ];
        for (lane, register) in (0..words::SGPRS).chain(special).enumerate() {
            let write = self
                .rows()
                .write_lane(vector::SCALARS, register, lane as u32);
            self.add(&write);
        }
        self.barrier();
        let mut next = RESULTS;
        for register in (0..words::VGPRS).chain([vector::SCALARS]) {
            self.keep(register, &mut next);
        }
        // The wave's LDS, which begins at the lanes' addresses.
        self.vop1("v_mov_b32", vector::ADDRESS, 256 + prepared::LDS_V);
        for n in 0..4 {
            self.ds(
                "ds_read_b32",
                256 * n,
                vector::VALUE << 24 | vector::ADDRESS,
            );
            self.keep(vector::VALUE, &mut next);
        }
        let shared = [LDS_COUNTERS].into_iter();
        for at in shared.chain((0..waves).map(|wave| LDS_EXCHANGE + 256 * wave)) {
            self.ds("ds_read_b32", at, vector::VALUE << 24 | vector::LANE4);
            self.keep(vector::VALUE, &mut next);
        }
        assert!(next <= SLICE, "bug: results have no room");
        let end = self.rows().branch("s_endpgm", 0);
        self.add(&end);
    }

    /// Stores a register to the slice.
    fn keep(&mut self, register: u32, next: &mut u32) {
        self.wait();
        self.sopk("s_movk_i32", scalar::TEMPORARY, *next);
        self.mubuf(
            "buffer_store_dword",
            register,
            Place {
                address: vector::LANE4,
                descriptor: scalar::SLICE,
                base: scalar::TEMPORARY,
                offset: 0,
            },
        );
        *next += 256;
    }

    // ---- encoding

    /// Adds an instruction.
    fn add(&mut self, bytes: &[u8]) {
        self.push(bytes);
        self.left = self.left.saturating_sub(1);
        self.spent += self.times;
    }

    fn push(&mut self, bytes: &[u8]) {
        self.code.extend(bytes);
    }

    /// Room for a branch, if there is one.
    fn hole(&mut self, wanted: bool) -> Option<usize> {
        let at = self.code.len();
        if wanted {
            self.add(&[0; 4]);
        }
        wanted.then_some(at)
    }

    /// A branch from a place to here.
    fn fill(&mut self, place: Option<usize>, name: &str) {
        let Some(at) = place else { return };
        let branch = self.rows().branch(name, (self.code.len() - at) as i32 - 4);
        self.code[at..at + 4].copy_from_slice(&branch);
    }

    /// A branch to a place before.
    fn back(&mut self, name: &str, to: usize) {
        let from = self.code.len() as i32 + 4;
        let branch = self.rows().branch(name, to as i32 - from);
        self.add(&branch);
    }

    fn wait(&mut self) {
        let wait = self.rows().branch("s_waitcnt", 0);
        self.add(&wait);
    }

    fn load(&mut self, d: u32, log: u32, pair: u32, offset: u32) {
        let bytes = self.rows().scalar_load(d, log, pair, offset);
        self.add(&bytes);
    }

    fn mubuf(&mut self, name: &str, data: u32, place: Place) {
        let bytes = self.rows().mubuf(name, data, place);
        self.add(&bytes);
    }

    fn ds(&mut self, name: &str, offset: u32, registers: u32) {
        let bytes = self.rows().ds(name, offset, registers);
        self.add(&bytes);
    }

    fn sop1(&mut self, name: &str, d: u32, s: u32) {
        let bytes = self.rows().sop1(name, d, s);
        self.add(&bytes);
    }

    fn sop2(&mut self, name: &str, d: u32, s0: u32, s1: u32) {
        let bytes = self.rows().sop2(name, d, s0, s1);
        self.add(&bytes);
    }

    fn sopk(&mut self, name: &str, d: u32, imm: u32) {
        let bytes = self.rows().sopk(name, d, imm);
        self.add(&bytes);
    }

    fn sopc(&mut self, name: &str, s0: u32, s1: u32) {
        let bytes = self.rows().sopc(name, s0, s1);
        self.add(&bytes);
    }

    fn vop1(&mut self, name: &str, d: u32, s: u32) {
        let bytes = self.rows().vop1(name, d, s);
        self.add(&bytes);
    }

    fn vop2(&mut self, name: &str, d: u32, s0: u32, v1: u32) {
        let bytes = self.rows().vop2(name, d, s0, v1);
        self.add(&bytes);
    }
}

/// Clears a bit of an instruction's first dword.
fn clear(bytes: &mut [u8], bit: u32) {
    bytes[bit as usize / 8] &= !(1 << (bit % 8));
}
