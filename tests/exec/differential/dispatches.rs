//! Random dispatches of random kernels: the numbers of work-items and workgroups as each target passes them, in addresses,
//! compares, masks and loops, in grids of 1 to 3 dimensions with partial workgroups. Both engines must leave the same memory.
//! Blocks are cut anywhere in half of them. `ROUNDS=` kernels for each target, from number `FIRST=` on, `SEED=`, `SHAPE=`,
//! `ALL_SHAPES=1` as for programs.

use frontend::desc::{Encoding, InstDesc};
use frontend::{Gfx, isa};
use harness::random::Random;
use lower::lift::region::MAX_BLOCK;
use runtime::dispatch::{Arguments, Dispatcher, KernelCode, Launch, Settings};
use runtime::engine::Engine;
use runtime::object::KernelDescriptor;
use runtime::{Interpreter, LoadedCode, Memory};

use super::{Jits, env, shapes, texts};

/// Kernels for each target when the environment does not say.
const ROUNDS: u64 = 60;

/// Dwords that loads may touch, and those that stores may.
const INPUT: u32 = 1 << 17;
const OUTPUT: u32 = 1 << 17;
/// Bytes of LDS.
const LDS: u32 = 1024;
/// Work-items of a grid at most.
const ITEMS: u32 = 2048;

/// SGPRs, behind all that the dispatch may set:
/// The loop's counter, two addresses, saved masks, the descriptor of all memory.
const COUNTER: u32 = 22;
const INPUT_AT: u32 = 24;
const OUTPUT_AT: u32 = 26;
const SAVED: u32 = 28;
const ALL_MEMORY: u32 = 36;
const M0: u32 = 124;
const VCC: u32 = 106;
const EXEC: u32 = 126;
/// VGPRs: x, y, z, then values that expressions make, an address, and what is computed on the way.
const ID: u32 = 3;
const VALUES: std::ops::Range<u32> = 3..12;
const ADDRESS: u32 = 14;
const SCRATCH: u32 = 16;

/// Writes code.
struct Writer {
    gfx: Gfx,
    words: Vec<u32>,
}

/// An inline constant as a source.
fn small(n: u32) -> u32 {
    assert!(n <= 64, "bug: {n} is no inline constant");
    128 + n
}

/// A VGPR as a source.
fn v(n: u32) -> u32 {
    256 + n
}

const LITERAL: u32 = 255;

impl Writer {
    fn row(&self, name: &str, encoding: Encoding) -> &'static InstDesc {
        let has = |desc: &&InstDesc| desc.opcodes.get(self.gfx).is_some();
        let found =
            isa::all().find(|desc| desc.name == name && desc.encoding == encoding && has(desc));
        found.unwrap_or_else(|| panic!("bug: {} has no {name}", self.gfx))
    }

    fn op(&self, name: &str, encoding: Encoding) -> u32 {
        u32::from(
            self.row(name, encoding)
                .opcodes
                .get(self.gfx)
                .expect("it was found"),
        )
    }

    fn vop2(&mut self, name: &str, d: u32, a: u32, b: u32) {
        let op = self.op(name, Encoding::Vop2);
        self.words.push(op << 25 | d << 17 | b << 9 | a);
    }

    fn vop2_literal(&mut self, name: &str, d: u32, a: u32, b: u32) {
        self.vop2(name, d, LITERAL, b);
        self.words.push(a);
    }

    fn v_mov(&mut self, d: u32, a: u32) {
        let op = self.op("v_mov_b32", Encoding::Vop1);
        self.words.push(0x7e00_0000 | d << 17 | op << 9 | a);
    }

    fn compare(&mut self, name: &str, a: u32, b: u32) {
        let op = self.op(name, Encoding::Vopc);
        self.words.push(0x7c00_0000 | op << 17 | b << 9 | a);
    }

    fn vop3(&mut self, name: &str, d: u32, [a, b, c]: [u32; 3]) {
        let op = self.op(name, Encoding::Vop3);
        let shift = if self.gfx.is_gfx8_up() { 16 } else { 17 };
        self.words.push(0xd000_0000 | op << shift | d);
        self.words.push(a | b << 9 | c << 18);
    }

    fn sop1(&mut self, name: &str, d: u32, a: u32) {
        let op = self.op(name, Encoding::Sop1);
        self.words.push(0xbe80_0000 | d << 16 | op << 8 | a);
    }

    fn s_literal(&mut self, d: u32, word: u32) {
        self.sop1("s_mov_b32", d, LITERAL);
        self.words.push(word);
    }

    fn sop2(&mut self, name: &str, d: u32, a: u32, b: u32) {
        let op = self.op(name, Encoding::Sop2);
        self.words
            .push(0x8000_0000 | op << 23 | d << 16 | b << 8 | a);
    }

    fn sopc(&mut self, name: &str, a: u32, b: u32) {
        let op = self.op(name, Encoding::Sopc);
        self.words.push(0xbf00_0000 | op << 16 | b << 8 | a);
    }

    fn sopp(&mut self, name: &str, imm: u32) {
        let op = self.op(name, Encoding::Sopp);
        self.words.push(0xbf80_0000 | op << 16 | imm & 0xffff);
    }

    fn ds(&mut self, name: &str, d: u32, data: u32, address: u32) {
        let op = self.op(name, Encoding::Ds);
        let shift = if self.gfx.is_gfx8_up() { 17 } else { 18 };
        self.words.push(0xd800_0000 | op << shift);
        self.words.push(d << 24 | data << 8 | address);
    }

    /// Loads a dword into `value` or stores it, at byte offset `offset` from the address in two SGPRs.
    fn global(&mut self, load: bool, value: u32, base: u32, offset: u32) {
        self.vop2("v_add_i32", ADDRESS, base, offset);
        self.v_mov(ADDRESS + 1, base + 1);
        self.vop2("v_addc_u32", ADDRESS + 1, small(0), ADDRESS + 1);
        if self.gfx == Gfx::Gfx600 {
            let name = ["buffer_store_dword", "buffer_load_dword"][usize::from(load)];
            let op = self.op(name, Encoding::Mubuf);
            self.words.push(0xe000_0000 | op << 18 | 1 << 15);
            self.words
                .push(small(0) << 24 | (ALL_MEMORY / 4) << 16 | value << 8 | ADDRESS);
        } else {
            let name = ["flat_store_dword", "flat_load_dword"][usize::from(load)];
            let op = self.op(name, Encoding::Flat);
            self.words.push(0xdc00_0000 | op << 18);
            self.words.push(match load {
                true => value << 24 | ADDRESS,
                false => value << 8 | ADDRESS,
            });
        }
    }
}

/// How a kernel is entered.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// User SGPRs, which are not set.
    user: u32,
    /// The workgroup's numbers that it gets, and whether the number of waves.
    numbers: [bool; 3],
    info: bool,
    /// Dimensions of work-items' numbers that it gets.
    ids: u32,
}

impl Entry {
    fn random(r: &mut Random) -> Entry {
        Entry {
            user: r.below(9),
            numbers: [(); 3].map(|()| !r.once_in(4)),
            info: r.once_in(4),
            ids: 1 + r.below(3),
        }
    }

    fn descriptor(&self) -> KernelDescriptor {
        let [x, y, z] = self.numbers.map(u32::from);
        KernelDescriptor {
            group_segment_fixed_size: LDS,
            // 32 VGPRs, or 64 of which 32 are accumulation registers; 48 SGPRs.
            rsrc1: 7 | 5 << 6 | 0xc0 << 12,
            rsrc2: self.user << 1
                | x << 7
                | y << 8
                | z << 9
                | u32::from(self.info) << 10
                | (self.ids - 1) << 11,
            rsrc3: 7,
            ..KernelDescriptor::default()
        }
    }

    /// The SGPRs with the workgroup's numbers.
    fn registers(&self) -> Vec<u32> {
        let count = self.numbers.iter().filter(|there| **there).count() as u32;
        (self.user..self.user + count).collect()
    }
}

/// Writes a random kernel.
struct Maker<'a> {
    w: Writer,
    r: &'a mut Random,
    entry: Entry,
    /// Sizes of a workgroup.
    group: [u32; 3],
}

impl Maker<'_> {
    fn value(&mut self) -> u32 {
        VALUES.start + self.r.below(VALUES.end - VALUES.start)
    }

    /// Some number that kernels use.
    fn number(&mut self) -> u32 {
        let n = self.r.below(3) as usize;
        match self.r.below(6) {
            0 => self.group[n].min(64),
            1 => 1 << self.r.below(7),
            2 => (1 << self.r.below(7)) - 1,
            3 => 64,
            _ => self.r.below(65),
        }
    }

    /// A scalar source: a number of the workgroup or a constant.
    fn scalar(&mut self) -> u32 {
        let registers = self.entry.registers();
        match registers.is_empty() || self.r.once_in(2) {
            true => small(self.number()),
            false => *self.r.pick(&registers),
        }
    }

    /// The numbers of the work-item to registers of their own.
    fn ids(&mut self) {
        if self.w.gfx >= Gfx::Gfx90a {
            self.w.vop2_literal("v_and_b32", ID, 0x3ff, 0);
            for n in 1..3 {
                self.w
                    .vop3("v_bfe_u32", ID + n, [v(0), small(10 * n), small(10)]);
            }
        } else {
            (0..3).for_each(|n| self.w.v_mov(ID + n, v(n)));
        }
        for n in VALUES.skip(3) {
            let from = self.r.below(3);
            self.w.v_mov(n, v(from));
        }
    }

    /// The least bytes of an offset to [`SCRATCH`]: a sum of numbers, or bits of anything.
    fn offset(&mut self, dwords: u32) {
        if self.r.once_in(3) {
            let value = self.value();
            let mask = (dwords - 1) & (self.r.next() as u32 | 0x3f);
            self.w.vop2_literal("v_and_b32", SCRATCH, mask, value);
        } else {
            // Numbers are below 1024 together, factors at most 64 and workgroups' numbers below [`ITEMS`], so that the sum is
            // below [`INPUT`].
            let scalar = self.scalar();
            self.w.v_mov(SCRATCH, scalar);
            let mut order = [ID, ID + 1, ID + 2];
            let swap = self.r.below(3) as usize;
            order.swap(0, swap);
            let width = self.group[0].min(64);
            for (n, id) in order.into_iter().enumerate() {
                let factor = match self.r.below(4) {
                    _ if id == ID && !self.r.once_in(4) => 1,
                    0 => 0,
                    1 => width,
                    _ => self.number(),
                };
                match (factor, n) {
                    (0, _) => {}
                    (1, _) => self.w.vop2("v_add_i32", SCRATCH, v(id), SCRATCH),
                    _ => {
                        self.w.vop2("v_mul_u32_u24", SCRATCH + 1, small(factor), id);
                        self.w.vop2("v_add_i32", SCRATCH, v(SCRATCH + 1), SCRATCH);
                    }
                }
            }
            if self.r.once_in(4) {
                self.w
                    .vop2_literal("v_min_u32", SCRATCH, dwords - 1, SCRATCH);
            } else if dwords < INPUT {
                self.w
                    .vop2_literal("v_and_b32", SCRATCH, dwords - 1, SCRATCH);
            }
        }
        self.w.vop2("v_lshlrev_b32", SCRATCH, small(2), SCRATCH);
    }

    fn item(&mut self, depth: u32, left: &mut u32) {
        *left -= 1;
        // The numbers in x, y and z stay.
        let [d, a] = [(); 2].map(|()| self.value());
        let d = d.max(ID + 3);
        match self.r.below(12) {
            0..=3 => {
                let name = *self.r.pick(&[
                    "v_and_b32",
                    "v_or_b32",
                    "v_xor_b32",
                    "v_min_u32",
                    "v_max_u32",
                    "v_add_i32",
                    "v_sub_i32",
                    "v_mul_u32_u24",
                    "v_lshlrev_b32",
                    "v_lshrrev_b32",
                ]);
                let source = match self.r.below(3) {
                    0 => v(self.value()),
                    _ => self.scalar(),
                };
                self.w.vop2(name, d, source, a);
            }
            4 => {
                let (from, bits) = (small(self.r.below(24)), small(self.r.below(12)));
                let raw = self.r.below(3);
                self.w.vop3("v_bfe_u32", d, [v(raw), from, bits]);
            }
            5 | 6 => {
                self.offset(INPUT);
                self.w.global(true, d, INPUT_AT, SCRATCH);
                self.w.sopp("s_waitcnt", 0);
            }
            7 => {
                self.offset(OUTPUT);
                self.w.global(false, a, OUTPUT_AT, SCRATCH);
            }
            8 => {
                self.offset(LDS / 4);
                match self.r.once_in(2) {
                    true => self.w.ds("ds_write_b32", 0, a, SCRATCH),
                    false => self.w.ds("ds_read_b32", d, 0, SCRATCH),
                }
                self.w.sopp("s_waitcnt", 0);
                if depth == 0 {
                    self.w.sopp("s_barrier", 0);
                }
            }
            9 | 10 if depth < 3 => {
                let name = *self.r.pick(&[
                    "v_cmp_lt_u32",
                    "v_cmp_gt_u32",
                    "v_cmp_eq_u32",
                    "v_cmp_ne_u32",
                    "v_cmp_le_i32",
                    "v_cmp_ge_u32",
                ]);
                let (limit, id) = (self.scalar(), ID + self.r.below(3));
                let what = if self.r.once_in(3) { a } else { id };
                self.w.compare(name, limit, what);
                let saved = SAVED + 2 * depth;
                self.w.sop1("s_and_saveexec_b64", saved, VCC);
                self.body(depth + 1, left);
                self.w.sop1("s_mov_b64", EXEC, saved);
            }
            _ if depth == 0 => {
                let count = 1 + self.r.below(4);
                self.w.sop1("s_mov_b32", COUNTER, small(count));
                let head = self.w.words.len();
                self.body(1, left);
                self.w.sop2("s_sub_u32", COUNTER, COUNTER, small(1));
                self.w.sopc("s_cmp_lg_u32", COUNTER, small(0));
                let back = head as i32 - self.w.words.len() as i32 - 1;
                self.w.sopp("s_cbranch_scc1", back.cast_unsigned());
            }
            _ => {
                let scalar = self.scalar();
                self.w.vop2("v_add_i32", d, scalar, a);
            }
        }
    }

    fn body(&mut self, depth: u32, left: &mut u32) {
        for _ in 0..1 + self.r.below(5) {
            if *left == 0 {
                return;
            }
            self.item(depth, left);
        }
    }

    /// All of the kernel, for buffers at these addresses.
    fn kernel(mut self, [input, output]: [u64; 2]) -> Vec<u32> {
        for (at, address) in [(INPUT_AT, input), (OUTPUT_AT, output)] {
            self.w.s_literal(at, address as u32);
            self.w.s_literal(at + 1, (address >> 32) as u32);
        }
        for (n, word) in [0, 0, 0, 0x0100_f000].into_iter().enumerate() {
            self.w.s_literal(ALL_MEMORY + n as u32, word);
        }
        self.w.s_literal(M0, LDS);
        self.ids();
        let mut left = 4 + self.r.below(24);
        while left > 0 {
            self.body(0, &mut left);
        }
        // What values are in the end.
        for n in VALUES {
            self.offset(OUTPUT);
            self.w.global(false, n, OUTPUT_AT, SCRATCH);
        }
        self.w.sopp("s_endpgm", 0);
        self.w.words
    }
}

/// Sizes of grid and workgroup, of as many dimensions.
fn sizes(r: &mut Random) -> ([u32; 3], [u32; 3], u16) {
    let dims = 1 + r.below(3) as usize;
    loop {
        let (mut grid, mut group) = ([1; 3], [1; 3]);
        for d in 0..dims {
            group[d] = match r.below(4) {
                0 => 1 + r.below(80),
                1 => 1 + r.below(8),
                _ => 1 << r.below(9),
            };
            let whole = group[d] * (1 + r.below(5));
            grid[d] = match r.below(3) {
                0 => 1 + r.below(whole),
                _ => whole,
            };
        }
        let items = |sizes: [u32; 3]| sizes.iter().product::<u32>();
        if items(group) <= 1024 && items(grid) <= ITEMS {
            return (grid, group, dims as u16);
        }
    }
}

/// What a dispatch leaves at the buffer that kernels store to.
struct Bed {
    memory: Memory,
    input: u64,
    output: u64,
}

impl Bed {
    fn new() -> Bed {
        let memory = Memory::new().expect("there is address space");
        let buffer = |dwords: u32| {
            memory
                .alloc(u64::from(dwords) * 4, 256)
                .expect("there is room")
        };
        let (input, output) = (buffer(INPUT), buffer(OUTPUT));
        let mut r = Random::new(5);
        let words = (0..INPUT).map(|_| (r.next() as u32).to_le_bytes());
        let bytes: Vec<u8> = words.flatten().collect();
        memory.write_bytes(input, &bytes).expect("it is there");
        Bed {
            memory,
            input,
            output,
        }
    }

    fn run(
        &self,
        engine: &dyn Engine,
        code: &LoadedCode,
        kernel: &KernelCode,
        launch: &Launch<'_>,
    ) -> Vec<u8> {
        let bytes = u64::from(OUTPUT) * 4;
        self.memory
            .fill(self.output, 0xee, bytes)
            .expect("it is there");
        let settings = Settings {
            threads: 1,
            ..Settings::default()
        };
        let run = Dispatcher::new().run(engine, &self.memory, code, kernel, launch, &settings);
        run.unwrap_or_else(|error| panic!("{error}"));
        let mut after = vec![0; bytes as usize];
        self.memory
            .read_bytes(self.output, &mut after)
            .expect("it is there");
        after
    }
}

fn dispatches(gfx: Gfx) {
    let seed = env("SEED", 1);
    let shapes = shapes();
    let bed = Bed::new();
    let every = env("ALL_SHAPES", 0) != 0;
    let mut jits = Jits::new(&shapes);
    for round in env("FIRST", 0)..env("ROUNDS", ROUNDS) {
        if round % 500 == 499 {
            jits = Jits::new(&shapes);
        }
        let mut r =
            Random::new((seed.wrapping_mul(1_000_003).wrapping_add(round)) << 3 | gfx as u64);
        let entry = Entry::random(&mut r);
        let (grid, group, dims) = sizes(&mut r);
        let maker = Maker {
            w: Writer {
                gfx,
                words: Vec::new(),
            },
            r: &mut r,
            entry,
            group,
        };
        let words = maker.kernel([bed.input, bed.output]);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let code = LoadedCode::from_bytes(&bed.memory, gfx, &bytes).expect("it fits");
        let kernel = KernelCode {
            name: "dispatched".to_owned(),
            entry: code.base(),
            descriptor: entry.descriptor(),
            ..KernelCode::default()
        };
        let launch = Launch {
            shape: runtime::dispatch::Shape::new(grid, group, dims).expect("a good shape"),
            global_offset: [0; 3],
            dynamic_lds: 0,
            arguments: Arguments::Segment(&[]),
        };
        let want = bed.run(&Interpreter, &code, &kernel, &launch);
        let chosen = r.below(jits.len() as u32) as usize;
        let max_block = [MAX_BLOCK, MAX_BLOCK, 5, 1][r.below(4) as usize];
        for (n, shape) in shapes.iter().enumerate() {
            if !every && n != chosen && !(n == 0 && round % 4 == 0) {
                continue;
            }
            let engine = jits.get(n, max_block).expect("this host");
            let got = bed.run(&*engine, &code, &kernel, &launch);
            let wrong = want.chunks(4).zip(got.chunks(4)).position(|(a, b)| a != b);
            if let Some(at) = wrong {
                let differ = want
                    .chunks(4)
                    .zip(got.chunks(4))
                    .filter(|(a, b)| a != b)
                    .count();
                panic!(
                    "{gfx}, seed {seed}, round {round}, grid {grid:?} by {group:?}, {entry:?}, on {}, blocks of {max_block}: {differ} dwords \
                     differ, the first is {at}: {:x?} / {:x?}\n{}",
                    shape.name(),
                    &want[4 * at..][..4],
                    &got[4 * at..][..4],
                    texts(gfx, &bytes)
                );
            }
        }
        code.unload(&bed.memory).expect("it was loaded");
    }
}

#[test]
fn gfx600() {
    dispatches(Gfx::Gfx600);
}

#[test]
fn gfx700() {
    dispatches(Gfx::Gfx700);
}

#[test]
fn gfx803() {
    dispatches(Gfx::Gfx803);
}

#[test]
fn gfx900() {
    dispatches(Gfx::Gfx900);
}

#[test]
fn gfx906() {
    dispatches(Gfx::Gfx906);
}

#[test]
fn gfx908() {
    dispatches(Gfx::Gfx908);
}

#[test]
fn gfx90a() {
    dispatches(Gfx::Gfx90a);
}

#[test]
fn gfx942() {
    dispatches(Gfx::Gfx942);
}
