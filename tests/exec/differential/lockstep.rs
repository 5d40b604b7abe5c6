//! Kernels that rely on lockstep: lanes of a wave read what others stored by the instruction before, without a barrier
//! (`tests/kernels/lockstep`). Plain Rust, instruction by instruction on all lanes, says what is in memory behind each; the
//! interpreter and the translator must leave exactly that.
//!
//! Each shape of the translator runs some of the kernels, and each kernel runs in some shapes. `STEP=` runs it in one of so many,
//! `ALL_SHAPES=1` in all of them, `SHAPE=` and `KERNEL=` only those with this in their name.

use std::path::PathBuf;

use frontend::Gfx;
use harness::random::Random;
use lower::lift::region::MAX_BLOCK;
use runtime::dispatch::{Arguments, Dispatcher, KernelCode, Launch, Settings};
use runtime::engine::Engine;
use runtime::kernarg::ArgValue;
use runtime::object::{CodeObject, KernelMetadata};
use runtime::{Interpreter, LoadedCode, Memory};

use super::{Jits, env, shapes};

mod assembly;
mod compiled;

/// Bytes of `data` and of `out` that a workgroup has.
const BYTES: usize = 2048;

/// Workgroups.
const GROUPS: usize = 3;

/// Bytes before, between and behind the buffers, which stay.
const GAP: usize = 256;

/// Trip counts: one, a few, and enough for lanes to be far from where they began.
const TURNS: [u32; 3] = [1, 4, 13];

/// A kernel runs in one of so many shapes, when the environment does not say. There are as many kernels, and the number
/// has no factor in common with the numbers of choices that a shape is made of, so that all shapes come up.
const STEP: u64 = 499;

/// The targets, and about how many kernels each has.
const TARGETS: [Gfx; 4] = [Gfx::Gfx600, Gfx::Gfx803, Gfx::Gfx900, Gfx::Gfx906];
const ASSEMBLED: usize = 75;
const COMPILED: usize = 50;

/// A workgroup's memory while Rust does what a kernel does. Loads and stores are made by all active lanes before
/// anything else.
struct World {
    /// The trip count.
    n: u32,
    /// Its `data`, or LDS with a copy of it.
    data: [u8; BYTES],
    out: [u8; BYTES],
    /// Which lanes act.
    exec: Vec<bool>,
}

/// A register: a value of each lane.
type Lanes = Vec<u32>;

impl World {
    fn new(n: u32, lanes: usize, data: &[u8], out: &[u8]) -> World {
        World {
            n,
            data: data.try_into().expect("a workgroup's data"),
            out: out.try_into().expect("a workgroup's results"),
            exec: vec![true; lanes],
        }
    }

    fn lanes(&self) -> usize {
        self.exec.len()
    }

    /// A register of all lanes.
    fn all(&self, value: impl Fn(usize) -> u32) -> Lanes {
        (0..self.lanes()).map(value).collect()
    }

    /// Makes these lanes active.
    fn mask(&mut self, acts: impl Fn(usize) -> bool) {
        self.exec = (0..self.lanes()).map(acts).collect();
    }

    /// Writes a register in the active lanes.
    fn set(&self, register: &mut Lanes, value: impl Fn(usize) -> u32) {
        for lane in (0..self.lanes()).filter(|&lane| self.exec[lane]) {
            register[lane] = value(lane);
        }
    }

    /// The dword at a byte's address.
    fn dword(&self, at: usize) -> u32 {
        let bytes = self.data[at..at + 4].try_into();
        u32::from_le_bytes(bytes.expect("four bytes"))
    }

    /// A dword for each active lane, 0 for others.
    fn load(&self, at: impl Fn(usize) -> usize) -> Lanes {
        let value = |lane| match self.exec[lane] {
            true => self.dword(at(lane)),
            false => 0,
        };
        (0..self.lanes()).map(value).collect()
    }

    /// Stores a dword of each active lane, the lowest lane's first.
    fn store(&mut self, at: impl Fn(usize) -> usize, value: impl Fn(usize) -> u32) {
        self.store_words(4, at, |lane| [value(lane), 0, 0, 0]);
    }

    /// Stores the first `size` bytes of some dwords.
    fn store_words(
        &mut self,
        size: usize,
        at: impl Fn(usize) -> usize,
        words: impl Fn(usize) -> [u32; 4],
    ) {
        for lane in (0..self.lanes()).filter(|&lane| self.exec[lane]) {
            let bytes = words(lane).map(u32::to_le_bytes);
            let at = at(lane);
            self.data[at..at + size].copy_from_slice(&bytes.as_flattened()[..size]);
        }
    }

    /// Replaces a dword for each active lane, the lowest lane's first; gives what was there.
    fn atomic(&mut self, at: impl Fn(usize) -> usize, value: impl Fn(usize, u32) -> u32) -> Lanes {
        let mut old = self.all(|_| 0);
        for (lane, old) in old.iter_mut().enumerate() {
            if self.exec[lane] {
                let at = at(lane);
                *old = self.dword(at);
                self.data[at..at + 4].copy_from_slice(&value(lane, *old).to_le_bytes());
            }
        }
        old
    }

    /// Stores a dword of each active lane to `out`.
    fn result(&mut self, at: impl Fn(usize) -> usize, value: impl Fn(usize) -> u32) {
        for lane in (0..self.lanes()).filter(|&lane| self.exec[lane]) {
            let at = at(lane);
            self.out[at..at + 4].copy_from_slice(&value(lane).to_le_bytes());
        }
    }
}

/// A kernel and what it does.
struct Case {
    /// Its name, but for the form that it has: in LDS, through pointers or a buffer.
    name: &'static str,
    /// Work-items of a workgroup.
    items: usize,
    /// What it does, on a target.
    does: fn(&mut World, Gfx),
}

impl Case {
    const fn new(name: &'static str, does: fn(&mut World, Gfx)) -> Case {
        Case {
            name,
            items: 64,
            does,
        }
    }

    const fn of(items: usize, name: &'static str, does: fn(&mut World, Gfx)) -> Case {
        Case { name, items, does }
    }
}

/// What a kernel's name may end with, see [`Case::name`].
const KINDS: [&str; 5] = ["", "_local", "_global", "_pointer", "_buffer"];

/// One kernel with its arguments, and memory behind it.
struct Run<'a> {
    kernel: KernelCode,
    metadata: Option<&'a KernelMetadata>,
    items: usize,
    turns: u32,
    want: Vec<u8>,
}

/// Memory with the buffers.
struct Bed {
    memory: Memory,
    /// What all of it holds before a kernel.
    before: Vec<u8>,
    start: u64,
}

/// Where `data` and `out` begin.
const DATA: usize = GAP;
const OUT: usize = DATA + GROUPS * BYTES + GAP;

impl Bed {
    fn new() -> Bed {
        let memory = Memory::new().expect("there is address space");
        let length = OUT + GROUPS * BYTES + GAP;
        let start = memory.alloc(length as u64, 256).expect("there is room");
        let mut random = Random::new(17);
        let before = (0..length).map(|_| (random.next() >> 32) as u8).collect();
        Bed {
            memory,
            before,
            start,
        }
    }

    /// Memory behind a kernel that does this.
    fn expected(&self, case: &Case, gfx: Gfx, turns: u32) -> Vec<u8> {
        let mut memory = self.before.clone();
        for group in 0..GROUPS {
            let [data, out] = [DATA, OUT].map(|start| start + group * BYTES);
            let [data, out] = [data..data + BYTES, out..out + BYTES];
            let buffers = [&memory[data.clone()], &memory[out.clone()]];
            let mut world = World::new(turns, case.items, buffers[0], buffers[1]);
            (case.does)(&mut world, gfx);
            memory[data].copy_from_slice(&world.data);
            memory[out].copy_from_slice(&world.out);
        }
        memory
    }

    /// Runs a kernel; `fuel` is that of a wave. What is not as it must be, in words.
    fn check(
        &self,
        engine: &dyn Engine,
        code: &LoadedCode,
        run: &Run<'_>,
        (fuel, counting): (u64, bool),
    ) -> Result<(), String> {
        let memory = &self.memory;
        memory
            .write_bytes(self.start, &self.before)
            .expect("it is there");
        let [data, out] = [DATA, OUT].map(|buffer| self.start + buffer as u64);
        let values = [
            ArgValue::Pointer(data),
            ArgValue::Pointer(out),
            ArgValue::from(run.turns),
        ];
        let segment = [
            data.to_le_bytes(),
            out.to_le_bytes(),
            u64::from(run.turns).to_le_bytes(),
        ];
        let arguments = match run.metadata {
            Some(metadata) => Arguments::Values(metadata, &values),
            None => Arguments::Segment(segment.as_flattened()),
        };
        let (grid, group) = ((GROUPS * run.items) as u32, run.items as u32);
        let shape = runtime::dispatch::Shape::new([grid, 1, 1], [group, 1, 1], 1);
        let launch = Launch {
            shape: shape.expect("a good shape"),
            global_offset: [0; 3],
            dynamic_lds: 0,
            arguments,
        };
        let settings = Settings {
            threads: 1,
            fuel,
            counting,
            ..Settings::default()
        };
        let result = Dispatcher::new().run(engine, memory, code, &run.kernel, &launch, &settings);
        let stats = result.map_err(|error| error.to_string())?;
        if stats.fallbacks != 0 {
            return Err(format!("falls back: {:?}", stats.fallback_names));
        }
        let mut got = vec![0; run.want.len()];
        memory
            .read_bytes(self.start, &mut got)
            .expect("it is there");
        let pairs = got.chunks(4).zip(run.want.chunks(4)).enumerate();
        let wrong: Vec<_> = pairs.filter(|(_, (got, want))| got != want).collect();
        let Some((first, (got, want))) = wrong.first() else {
            return Ok(());
        };
        let of = |at: usize| match at {
            DATA..OUT => ("data", at - DATA),
            OUT.. => ("out", at - OUT),
            _ => ("before data", at),
        };
        let (buffer, at) = of(first * 4);
        Err(format!(
            "{} dwords differ, the first is {buffer} + {at:#x}: {got:02x?}, not {want:02x?}",
            wrong.len()
        ))
    }
}

/// Runs the kernels of `tests/kernels/lockstep/FILE.TARGET.co`, all of which must be known.
fn lockstep(file: &str, gfx: Gfx, cases: &[Case]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = path.join(format!("tests/kernels/lockstep/{file}.{gfx}.co"));
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let object = CodeObject::parse(&bytes).expect("it is a code object");
    let bed = Bed::new();
    let code = LoadedCode::load(&bed.memory, &object).expect("it fits");
    let only = std::env::var("KERNEL").unwrap_or_default();
    let mut runs = Vec::new();
    let mut wrong = Vec::new();
    for kernel in object.kernels.iter().filter(|k| k.name.contains(&only)) {
        let is = |case: &&Case| {
            KINDS
                .iter()
                .any(|kind| kernel.name == format!("{}{kind}", case.name))
        };
        let case = cases.iter().find(is);
        let case = case.unwrap_or_else(|| panic!("nothing says what {} does", kernel.name));
        for turns in TURNS {
            let run = Run {
                kernel: KernelCode::new(&code, kernel),
                metadata: kernel.metadata.as_ref(),
                items: case.items,
                turns,
                want: bed.expected(case, gfx, turns),
            };
            if let Err(words) = bed.check(&Interpreter, &code, &run, (2048, false)) {
                wrong.push(format!(
                    "{}, {turns} turns, interpreter: {words}",
                    kernel.name
                ));
            }
            runs.push(run);
        }
    }
    assert!(wrong.is_empty(), "{gfx}:\n{}", wrong.join("\n"));
    let step = match env("ALL_SHAPES", 0) {
        0 => env("STEP", STEP) as usize,
        _ => 1,
    };
    let shapes = shapes();
    let target = TARGETS.iter().position(|&target| target == gfx);
    let before = target.expect("it has kernels") * (ASSEMBLED + COMPILED);
    let before = before + if file == "compiled" { ASSEMBLED } else { 0 };
    let mut made = 0;
    for (n, shape) in shapes.iter().enumerate() {
        let jits = Jits::new(&shapes[n..=n]);
        // All trip counts of a kernel run the same code.
        for (number, runs) in runs.chunks(TURNS.len()).enumerate() {
            if n % step != (before + number) % step {
                continue;
            }
            made += 1;
            let max_block = [MAX_BLOCK, MAX_BLOCK, MAX_BLOCK, 5][(n / 7 + number) % 4];
            let fuel = [2048, 3][(n / 5 + number) % 2];
            for run in runs {
                let engine = jits.get(0, max_block).expect("this host");
                let checked = bed.check(&*engine, &code, run, (fuel, shape.counting));
                if let Err(words) = checked {
                    wrong.push(format!(
                        "{}, {} turns, {}, blocks of {max_block}, fuel {fuel}: {words}",
                        run.kernel.name,
                        run.turns,
                        shape.name()
                    ));
                }
            }
        }
        if wrong.len() > 20 {
            break;
        }
    }
    println!(
        "{file}, {gfx}: {} kernels, {made} translations in {} shapes",
        runs.len() / TURNS.len(),
        shapes.len()
    );
    assert!(wrong.is_empty(), "{gfx}:\n{}", wrong.join("\n"));
}
