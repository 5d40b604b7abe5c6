//! Runs a few instructions on any engine, from a given state to all that can be observed of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Mutex;

use frontend::state::{LANES, WaveState};
use frontend::target::Gfx;
use runtime::dispatch::KernelCode;
use runtime::engine::{Engine, Exit, Group, PRIVATE_BASE, SHARED_BASE, Scratch, Stats};
use runtime::export::Exports;
use runtime::fault::Access;
use runtime::lds::Lds;
use runtime::memory::{AllocError, Options, Purpose};
use runtime::object::KernelDescriptor;
use runtime::{LoadedCode, Memory};

use crate::random::Random;
use crate::words::{SGPRS, prepared};

mod descriptor;
mod image;

/// A kernel of 32 VGPRs and 16 SGPRs at the beginning of `code`: denormals are kept, s0 to s4 are the user's and s5 is
/// the workgroup's number in x.
pub fn numbered_kernel(code: &LoadedCode) -> KernelCode {
    KernelCode {
        name: "snippet".to_owned(),
        entry: code.base(),
        descriptor: KernelDescriptor {
            rsrc1: 7 | 1 << 6 | 0xc0 << 12,
            rsrc2: 5 << 1 | 1 << 7,
            ..KernelDescriptor::default()
        },
        ..KernelCode::default()
    }
}

/// Bytes of the buffer that addresses point to.
pub const BUFFER: usize = 4096;
/// Bytes of LDS that snippets have.
pub const LDS: usize = 2048;
/// Bytes of scratch of a lane.
pub const SCRATCH: usize = 256;

/// Where in the zone the buffer and the scratch are; there is room before, between and behind for
/// accesses that miss.
const BUFFER_AT: usize = 4096;
const SCRATCH_AT: usize = 16384;
/// Bytes of guest memory that are compared.
pub const ZONE: usize = SCRATCH_AT + SCRATCH * LANES + 32768;

/// `s_barrier`.
pub const BARRIER: u32 = 0xbf8a_0000;
/// No instruction on any target. It ends a snippet: as an engine does not know what comes behind it,
/// every register is observable at the barrier before it.
pub const END: u32 = 0xffff_ffff;

/// Registers and memory before or after a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The scalar file by code.
    pub sgpr: [u32; 128],
    /// SCC.
    pub scc: u32,
    /// MODE.
    pub mode: u32,
    /// VGPRs 0 to 39.
    pub vgpr: Vec<[u32; LANES]>,
    /// Accumulation registers 0 to 39, if the target has any.
    pub agpr: Vec<[u32; LANES]>,
    /// The zone of guest memory: the buffer, the scratch and what is around them.
    pub memory: Vec<u8>,
    /// The LDS.
    pub lds: Vec<u8>,
    /// Before: the wave is announced as fresh, with lane numbers in v0.
    pub fresh: bool,
    /// Before, of a fresh wave: if not 0, v0 counts within rows of 2^n lanes only, and v1 and v2 are the
    /// same within them.
    pub rows: u32,
    /// Before: fuel of each run; a run that burned it is followed by another.
    pub fuel: u64,
    /// After: memory and LDS at the barriers before the last, as a hash. (Registers that are written
    /// before they are read again may differ there.)
    pub barriers: u64,
}

/// How the addresses of the lanes lie: contiguous, strided either way, in periods, in groups of equal ones,
/// on top of one another, anywhere; aligned or not.
struct Places {
    /// Which of these.
    kind: u32,
    /// Bytes from lane to lane.
    stride: i32,
    /// Where lane 0 is.
    start: u32,
    /// Bits that offsets may have.
    align: u32,
    /// The way of indices.
    index: u32,
}

impl Places {
    fn random(r: &mut Random) -> Places {
        let align = *r.pick(&[!7u32, !7, !7, !7, !15, !15, !3, !3, !1, !0]);
        Places {
            kind: r.below(10),
            stride: *r.pick(&[0, 4, 4, 4, 8, 8, 12, 16, 16, 64, 1, 2, 3, 6, -4, -8, -16]),
            start: r.below(256) & align,
            align,
            index: r.below(5),
        }
    }

    /// The offset of a lane in the buffer.
    fn offset(&self, r: &mut Random, lane: u32) -> u32 {
        // Of aligned places the strides are aligned too.
        let strided = |n: u32| {
            let bytes = (self.stride * n as i32) as u32 & self.align;
            self.start.wrapping_add(bytes) & (BUFFER as u32 - 1)
        };
        let offset = match self.kind {
            0..=4 => strided(lane),
            5 => strided(lane & 15),
            6 => strided(lane / 4),
            7 => r.below(96) & self.align,
            _ => r.below(BUFFER as u32) & self.align,
        };
        offset % (BUFFER as u32 - 64)
    }

    /// The index of a lane's record.
    fn index(&self, r: &mut Random, lane: u32) -> u32 {
        match self.index {
            0 => self.start & 15,
            1 | 2 => lane,
            3 => 63 - lane,
            _ => r.below(70),
        }
    }
}

/// VGPRs that are compared.
pub const VGPRS: usize = 40;

/// Accumulation registers that snippets may use.
pub fn agprs(gfx: Gfx) -> usize {
    if gfx.has_agprs() { VGPRS } else { 0 }
}

/// Runs of a wave after which a snippet counts as hanging.
const RUNS: usize = 2000;

/// What a snippet did.
#[derive(Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// State at the last barrier. After a fault registers may differ between engines.
    pub state: State,
    /// Instructions executed, if they were counted.
    pub instructions: u64,
    /// The same, once for every active lane.
    pub lane_instructions: u64,
    /// Rows that the translator handed to the interpreter.
    pub fallbacks: Vec<&'static str>,
    /// What `exp` gave.
    pub exports: Exports,
}

/// How a [`Bench`] is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Checked mode.
    pub checked: bool,
    /// Snippets may only read the buffer. Running one that changes it is a panic.
    pub read_only: bool,
    /// Nothing of the LDS counts as written yet: checked mode refuses to read it.
    pub fresh_lds: bool,
    /// Where guest memory begins, a multiple of 64 KiB; [`FIXED`] bytes are reserved there.
    /// Otherwise the host decides, and addresses differ between processes.
    pub address: Option<u64>,
}

/// Address space at a fixed address. It decides where the zone lies in guest memory.
pub const FIXED: u64 = 4 << 30;

/// A wave between guards, which no engine may write.
struct Guarded(Vec<WaveState>);

impl Guarded {
    const PATTERN: u32 = 0x5a5a_a5a5;

    fn new() -> Guarded {
        // Zeros of the host, so that only the pages that are used are committed.
        let mut waves = bytemuck::zeroed_vec::<WaveState>(3);
        for (first, row) in Guarded::places() {
            waves[first].vector_mut(row).fill(Guarded::PATTERN);
        }
        waves[2].sgpr.fill(Guarded::PATTERN);
        (waves[1].vgpr_count, waves[1].sgpr_count) = (256, 104);
        Guarded(waves)
    }

    /// The last registers of the wave before, and the first ones of that behind.
    fn places() -> impl Iterator<Item = (usize, usize)> {
        let before = (512 - 16..512).map(|row| (0, row));
        before.chain((0..16).map(|row| (2, row)))
    }

    fn wave(&mut self) -> &mut WaveState {
        &mut self.0[1]
    }

    fn hold(&self) -> bool {
        let good = |words: &[u32]| words.iter().all(|&word| word == Guarded::PATTERN);
        good(&self.0[2].sgpr) && Guarded::places().all(|(wave, row)| good(self.0[wave].vector(row)))
    }
}

/// A place to run snippets in: guest memory with one buffer. Use one per thread.
pub struct Bench {
    memory: Memory,
    zone: u64,
    /// The buffer is not in the zone but in this block, which kernels may only read.
    read_only: Option<u64>,
    lds: Mutex<Lds>,
    /// Nothing of the LDS counts as written when a snippet begins.
    fresh_lds: bool,
    /// Checked mode.
    checked: bool,
}

impl Default for Bench {
    fn default() -> Bench {
        Bench::new()
    }
}

impl Bench {
    /// Memory with its zone, an LDS.
    pub fn new() -> Bench {
        Bench::with(false, false)
    }

    /// The same in checked mode.
    pub fn checked() -> Bench {
        Bench::with(true, false)
    }

    /// The same with a buffer that snippets may only read, in checked mode or not. Running one that
    /// changes it is a panic.
    pub fn read_only(checked: bool) -> Bench {
        Bench::with(checked, true)
    }

    fn with(checked: bool, read_only: bool) -> Bench {
        let setup = Setup {
            checked,
            read_only,
            ..Setup::default()
        };
        Bench::create(setup).expect("the host reserves address space")
    }

    /// Memory as requested, and an LDS.
    pub fn create(setup: Setup) -> Result<Bench, AllocError> {
        let Setup {
            checked,
            read_only,
            fresh_lds,
            address,
        } = setup;
        let mut options = Options {
            address,
            exact: checked,
            ..Options::default()
        };
        if address.is_some() {
            options.reserve = FIXED;
        }
        let memory = Memory::with_options(options)?;
        // Nothing above the zone may be accessed, and below it is only memory that nothing but the
        // loader writes, not the free space between the parts of the arena: what one engine writes
        // there the other would read.
        let zone = memory.alloc_for(Purpose::System, ZONE as u64, 4096)?;
        let start = memory.arena_base() + memory.read_only();
        assert_eq!(zone, start, "the zone begins behind read-only memory");
        let read_only = match read_only {
            true => Some(memory.alloc_for(Purpose::Code, SCRATCH_AT as u64, 4096)?),
            false => None,
        };
        let mut lds = Lds::new(checked);
        lds.reset(LDS);
        lds.set_guards();
        Ok(Bench {
            memory,
            zone,
            read_only,
            lds: Mutex::new(lds),
            fresh_lds,
            checked,
        })
    }

    /// Is it in checked mode?
    pub fn is_checked(&self) -> bool {
        self.checked
    }

    /// Guest address of the buffer.
    pub fn buffer(&self) -> u64 {
        self.read_only.unwrap_or(self.zone) + BUFFER_AT as u64
    }

    /// Guest addresses of the zone, whose ends are those of pages.
    pub fn zone(&self) -> Range<u64> {
        self.zone..self.zone + ZONE as u64
    }

    /// Guest address of the wave's scratch.
    pub fn scratch(&self) -> u64 {
        self.zone + SCRATCH_AT as u64
    }

    /// A state with random registers, and the prepared registers set up for memory instructions.
    pub fn random_state(&self, r: &mut Random, gfx: Gfx) -> State {
        let mut memory = vec![0; ZONE];
        for chunk in memory.chunks_exact_mut(8) {
            chunk.copy_from_slice(&r.next().to_le_bytes());
        }
        // Sometimes the buffer holds values at edges, in dwords.
        if r.once_in(3) {
            for chunk in memory[BUFFER_AT..BUFFER_AT + BUFFER].chunks_exact_mut(4) {
                chunk.copy_from_slice(&r.word().to_le_bytes());
            }
        }
        let mut s = State {
            sgpr: std::array::from_fn(|_| r.word()),
            scc: r.below(2),
            mode: 0,
            vgpr: vec![[0; LANES]; VGPRS],
            agpr: Vec::new(),
            memory,
            lds: (0..LDS / 8).flat_map(|_| r.next().to_le_bytes()).collect(),
            fresh: false,
            rows: 0,
            fuel: if r.once_in(4) { 1 } else { 10_000 },
            barriers: 0,
        };
        for v in &mut s.vgpr {
            // Half of the registers hold one value in all lanes, or values near one another.
            let base = r.word();
            let kind = r.below(4);
            for (lane, word) in v.iter_mut().enumerate() {
                *word = match kind {
                    0 => base,
                    1 => base.wrapping_add(lane as u32 * 4),
                    _ => r.word(),
                };
            }
        }
        let rounding = if r.once_in(3) { r.below(16) } else { 0 };
        let denormals = *r.pick(&[0xf0, 0xf0, 0xc0, 0x30, 0x00, 0x50, 0xa0]);
        s.mode = rounding | denormals | r.below(4) << 8;
        if gfx.is_gfx9() && r.once_in(4) {
            s.mode |= 1 << 23;
        }
        set64(&mut s.sgpr, 126, r.lanes());
        set64(&mut s.sgpr, 106, r.lanes());
        if !gfx.is_gfx9() {
            s.sgpr[124] = if r.once_in(4) {
                r.below(4096)
            } else {
                u32::MAX
            };
        }
        self.prepare_scalars(r, gfx, &mut s);
        self.prepare_vectors(r, &mut s);
        self.prepare_image(r, gfx, &mut s);
        s.agpr = (0..agprs(gfx))
            .map(|_| std::array::from_fn(|_| r.word()))
            .collect();
        s
    }

    /// An address a little below the memory that kernels may write.
    fn near_border(&self, r: &mut Random, align: u32) -> u64 {
        self.zone - u64::from(r.below(512) & align)
    }

    fn prepare_scalars(&self, r: &mut Random, gfx: Gfx, s: &mut State) {
        let base = match r.below(16) {
            0 => self.zone + (ZONE as u64) - u64::from(r.below(512)),
            1 => self.buffer() + u64::from(r.below(16) * 4),
            2 if r.once_in(2) => self.buffer() + u64::from(r.below(64)),
            _ => self.buffer(),
        };
        let base = match self.read_only {
            Some(_) if r.once_in(4) => self.near_border(r, !3),
            _ => base,
        };
        set64(&mut s.sgpr, prepared::GLOBAL_S as usize, base);
        s.sgpr[prepared::NEAR_S as usize] = match r.below(8) {
            0 => r.below(64),
            1 => r.below(16) * 4,
            2 | 3 => 0,
            _ => r.below(8) * 8,
        };
        s.sgpr[prepared::FAR_S as usize] = if r.once_in(2) {
            r.below(BUFFER as u32)
        } else {
            r.word()
        };
        let place = prepared::BUFFER_S as usize;
        let words = match r.once_in(6) {
            true => descriptor::of_scratch(r, self.scratch(), SCRATCH as u32),
            false => descriptor::random(r, self.buffer(), BUFFER as u32),
        };
        s.sgpr[place..place + 4].copy_from_slice(&words);
        let place = prepared::ZERO_S as usize;
        // Sometimes a negative base, in the 48 bits that it has.
        let base = match r.once_in(6) {
            true => u64::from(r.below(32) * 8).wrapping_neg() & 0xffff_ffff_ffff,
            false => 0,
        };
        let words = descriptor::random(r, base, BUFFER as u32);
        s.sgpr[place..place + 4].copy_from_slice(&words);
        let place = prepared::PRIVATE_S as usize;
        // Sometimes it comes to the end of guest memory.
        let bytes = (SCRATCH * LANES) as u32;
        let base = match r.once_in(8) {
            true => self.zone + (ZONE as u64) - u64::from(r.below(bytes) & !3),
            false => self.scratch(),
        };
        let words = descriptor::scratch(r, base, bytes);
        s.sgpr[place..place + 4].copy_from_slice(&words);
        // FLAT_SCRATCH as the prologue leaves it.
        match gfx {
            Gfx::Gfx600 => {}
            Gfx::Gfx700 => set64(&mut s.sgpr, 104, SCRATCH as u64),
            Gfx::Gfx803 => set64(&mut s.sgpr, 102, SCRATCH as u64),
            _ => set64(&mut s.sgpr, 102, self.scratch()),
        }
    }

    fn prepare_image(&self, r: &mut Random, gfx: Gfx, s: &mut State) {
        let place = prepared::IMAGE_S as usize;
        let words = image::resource(r, gfx, self.buffer());
        s.sgpr[place..place + 8].copy_from_slice(&words);
        let place = prepared::SAMPLER_S as usize;
        s.sgpr[place..place + 4].copy_from_slice(&image::sampler(r));
        let (whole, parts) = image::coordinates(r);
        s.vgpr[prepared::IMAGE_V as usize..][..4].copy_from_slice(&whole);
        s.vgpr[prepared::SAMPLE_V as usize..][..4].copy_from_slice(&parts);
    }

    fn prepare_vectors(&self, r: &mut Random, s: &mut State) {
        let places = Places::random(r);
        // Mostly all lanes stay inside.
        let (flat, wild) = (r.below(4), r.once_in(6));
        // Sometimes the registers hold what instructions add their offset to in order to reach byte 0 and beyond.
        let negative = r.once_in(8);
        // Sometimes the accesses come to the end of guest memory.
        let end = self.zone + ZONE as u64;
        let base = match r.once_in(16) {
            true => end - u64::from(r.below(1024) & places.align),
            false => self.buffer(),
        };
        // Of a buffer that is only read, some lanes may be elsewhere.
        let (base, writable) = match self.read_only {
            None => (base, 0..0),
            Some(_) => match r.below(4) {
                0 => (self.near_border(r, places.align), 0..0),
                1 => (base, 0..r.below(64)),
                2 => (base, r.below(64)..64),
                _ => (base, 0..0),
            },
        };
        let pair = |s: &mut State, first: u32, lane: usize, value: u64| {
            s.vgpr[first as usize][lane] = value as u32;
            s.vgpr[first as usize + 1][lane] = (value >> 32) as u32;
        };
        let frame = match r.below(8) {
            0 => r.below(SCRATCH as u32 + 64),
            1 => SCRATCH as u32 - 4 * r.below(8),
            2 => 0u32.wrapping_sub(r.below(64) & places.align),
            _ => r.below(SCRATCH as u32 - 32) & places.align,
        };
        s.vgpr[prepared::FRAME_V as usize] = [frame; LANES];
        for lane in 0..LANES {
            let offset = places.offset(r, lane as u32);
            let offset = if wild && r.once_in(40) {
                r.word()
            } else {
                offset
            };
            let base = match writable.contains(&(lane as u32)) {
                true => self.zone + BUFFER_AT as u64,
                false => base,
            };
            let address = base.wrapping_add(u64::from(offset));
            pair(s, prepared::GLOBAL_V, lane, address);
            let below = |n: u32| (n % 256).wrapping_neg();
            let lds = match (negative, wild && r.once_in(20)) {
                (true, false) => below(offset),
                (_, true) => r.word(),
                _ => offset % (LDS as u32 - 64),
            };
            s.vgpr[prepared::LDS_V as usize][lane] = lds;
            let scratch = match (negative, wild && r.once_in(40)) {
                (true, false) => below(offset),
                (_, true) => r.below(SCRATCH as u32 + 64),
                _ => offset % (SCRATCH as u32 - 64),
            };
            s.vgpr[prepared::OFFSET_V as usize][lane] = match negative {
                true => below(offset),
                false => offset,
            };
            s.vgpr[prepared::SCRATCH_V as usize][lane] = scratch;
            // In front of an aperture, or in it.
            let within = |base: u64, n: u32| match negative {
                true => base.wrapping_add_signed(n as i32 as i64),
                false => base + u64::from(n),
            };
            pair(s, prepared::PRIVATE_V, lane, within(PRIVATE_BASE, scratch));
            let shared = if negative { lds } else { lds % LDS as u32 };
            let mixed = match (flat, r.below(3)) {
                (0, _) | (3, 0) => within(SHARED_BASE, shared),
                (1, _) | (3, 1) => within(PRIVATE_BASE, scratch),
                _ => address,
            };
            pair(s, prepared::FLAT_V, lane, mixed);
            let index = places.index(r, lane as u32);
            let small = r.below(64) & places.align;
            let small = if negative { below(small) } else { small };
            pair(
                s,
                prepared::INDEX_V,
                lane,
                u64::from(index) | u64::from(small) << 32,
            );
        }
    }

    /// Runs `code` (which should end with [`BARRIER`] and [`END`]) from `before`.
    pub fn run(&self, engine: &dyn Engine, code: &LoadedCode, before: &State) -> Outcome {
        self.run_counting(engine, code, before, false)
    }

    /// As [`Bench::run`]; `counting`: instructions are counted.
    pub fn run_counting(
        &self,
        engine: &dyn Engine,
        code: &LoadedCode,
        before: &State,
        counting: bool,
    ) -> Outcome {
        let mut waves = Guarded::new();
        let wave = waves.wave();
        wave.sgpr = before.sgpr;
        wave.scc = before.scc;
        wave.mode = before.mode;
        wave.vgpr[..VGPRS].copy_from_slice(&before.vgpr);
        wave.agpr[..before.agpr.len()].copy_from_slice(&before.agpr);
        wave.agprs_touched = before.agpr.len() as u32;
        wave.pc = code.base();
        wave.vgpr_count = 256;
        // Relative moves reach no prepared register.
        wave.sgpr_count = SGPRS;
        if before.fresh {
            let says = match before.rows {
                0 => WaveState::V0_COUNTS,
                n => u64::from(n) << WaveState::ROWS.trailing_zeros(),
            };
            wave.resume = WaveState::FRESH | says;
        }
        self.memory
            .write_bytes(self.zone, &before.memory)
            .expect("the zone is there");
        if let Some(block) = self.read_only {
            self.memory
                .write_bytes(block, &before.memory[..SCRATCH_AT])
                .expect("the block is there");
        }
        let mut lds = self.lds.lock().expect("no holder of the lock panics");
        lds.reset(LDS);
        lds.bytes_mut().copy_from_slice(&before.lds);
        if !self.fresh_lds {
            // All of it was written.
            lds.check(Access::Write, 0, LDS as u32)
                .expect("it is the LDS");
        }
        self.memory.gws().reset();
        let mut stats = Stats::default();
        let mut hash = DefaultHasher::new();
        let mut last: Option<State> = None;
        let mut exit = Exit::Yield;
        let bytes = code.bytes_at(code.base()).map_or(0, <[u8]>::len);
        let end = code.base() + bytes as u64 - 4;
        for _ in 0..RUNS {
            let mut fuel = before.fuel;
            let mut group = Group {
                memory: &self.memory,
                code,
                gfx: code.gfx(),
                lds: &mut lds,
                scratch: Scratch {
                    hidden_base: self.scratch(),
                    base: self.scratch(),
                    lane_bytes: SCRATCH as u32,
                },
                workgroup: [0; 3],
                wave: 0,
                waves: 1,
                checked: self.checked,
                dispatch: 0,
                counting,
                stats: &mut stats,
            };
            exit = engine.run(wave, &mut group, &mut fuel);
            match &exit {
                Exit::Yield => {}
                Exit::Barrier => {
                    if let Some(state) = last.take() {
                        state.memory.hash(&mut hash);
                        state.lds.hash(&mut hash);
                    }
                    last = Some(self.observe(wave, &lds, code.gfx()));
                }
                Exit::Fault(fault) if fault.pc == end && last.is_some() => {
                    exit = Exit::End;
                    break;
                }
                Exit::End | Exit::Fault(_) => break,
            }
        }
        let mut state = match (last, &exit) {
            (Some(state), Exit::End) => state,
            _ => self.observe(wave, &lds, code.gfx()),
        };
        state.barriers = hash.finish();
        if let Some(block) = self.read_only {
            let mut now = vec![0; SCRATCH_AT];
            self.memory
                .read_bytes(block, &mut now)
                .expect("the block is there");
            let same = now == before.memory[..SCRATCH_AT];
            assert!(same, "read-only memory has changed");
        }
        assert!(waves.hold(), "the guards of the registers have changed");
        assert!(lds.guards_hold(), "the guards of the LDS have changed");
        assert!(self.holds(code), "the code has changed");
        assert_eq!(engine.damage(), None, "changed");
        Outcome {
            exit,
            state,
            instructions: stats.instructions,
            lane_instructions: stats.lane_instructions,
            fallbacks: stats.fallback_names.into_keys().collect(),
            exports: stats.exports,
        }
    }

    /// Is the code in guest memory, which snippets may not write, as it was loaded?
    fn holds(&self, code: &LoadedCode) -> bool {
        let want = code.bytes_at(code.base()).unwrap_or_default();
        let mut now = vec![0; want.len()];
        let read = self.memory.read_bytes(code.base(), &mut now);
        read.is_ok() && now == want
    }

    /// What can be seen now.
    fn observe(&self, wave: &WaveState, lds: &Lds, gfx: Gfx) -> State {
        let mut memory = vec![0; ZONE];
        self.memory
            .read_bytes(self.zone, &mut memory)
            .expect("the zone is there");
        State {
            sgpr: wave.sgpr,
            scc: wave.scc,
            mode: wave.mode,
            vgpr: wave.vgpr[..VGPRS].to_vec(),
            agpr: wave.agpr[..agprs(gfx)].to_vec(),
            memory,
            lds: lds.bytes().to_vec(),
            fresh: false,
            rows: 0,
            fuel: 0,
            barriers: 0,
        }
    }

    /// Puts instructions into guest memory.
    pub fn load(&self, gfx: Gfx, bytes: &[u8]) -> LoadedCode {
        LoadedCode::from_bytes(&self.memory, gfx, bytes).expect("a few instructions fit")
    }

    /// Gives code back. It is cleared, so that nothing depends on which snippets ran before.
    pub fn unload(&self, code: &LoadedCode) {
        self.memory
            .fill(code.base(), 0, code.image_len())
            .expect("it was loaded here");
        self.memory.free(code.base()).expect("it was loaded here");
    }
}

/// Writes a 64-bit pair.
pub fn set64(sgpr: &mut [u32; 128], code: usize, value: u64) {
    sgpr[code] = value as u32;
    sgpr[code + 1] = (value >> 32) as u32;
}

/// The first few differences between two states, in words.
pub fn differences(a: &State, b: &State) -> Vec<String> {
    let mut out = Vec::new();
    for (i, (x, y)) in a.sgpr.iter().zip(&b.sgpr).enumerate() {
        if x != y {
            out.push(format!("s{i}: {x:08x} / {y:08x}"));
        }
    }
    if a.scc != b.scc {
        out.push(format!("scc: {} / {}", a.scc, b.scc));
    }
    if a.mode != b.mode {
        out.push(format!("mode: {:08x} / {:08x}", a.mode, b.mode));
    }
    for (file, a, b) in [("v", &a.vgpr, &b.vgpr), ("a", &a.agpr, &b.agpr)] {
        for (n, (x, y)) in a.iter().zip(b).enumerate() {
            for lane in 0..LANES {
                if x[lane] != y[lane] {
                    let (x, y) = (x[lane], y[lane]);
                    out.push(format!("{file}{n}[{lane}]: {x:08x} / {y:08x}"));
                }
            }
        }
    }
    out.extend(memory_differences(a, b));
    out
}

/// The same of memory and LDS only.
pub fn memory_differences(a: &State, b: &State) -> Vec<String> {
    let mut out = Vec::new();
    if a.barriers != b.barriers {
        out.push("memory at an earlier barrier".to_owned());
    }
    for (what, x, y) in [("memory", &a.memory, &b.memory), ("lds", &a.lds, &b.lds)] {
        for (i, (p, q)) in x.iter().zip(y).enumerate() {
            if p != q {
                out.push(format!("{what}[0x{i:x}]: {p:02x} / {q:02x}"));
            }
        }
    }
    out
}
