//! Time of one instruction of each class, on all 64 lanes of a wave.
//!
//!     cargo bench --bench costs [-- FILTER...]
//!
//! prints a table of nanoseconds. Each class is a loop of such instructions (`costs/classes.tsv`,
//! made by `costs/make.py`), or of an operation as compiled code has it (`costs/kernels.cl`), run
//! through the dispatcher by the translator on one thread. The time of the same loop without them
//! is subtracted. A FILTER is a part of a group's or a class's name.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use frontend::Gfx;
use runtime::dispatch::{Arguments, Dispatcher, KernelCode, Launch, RunError, Settings, Shape};
use runtime::jit::{JitEngine, JitOptions, Tier};
use runtime::kernarg::ArgValue;
use runtime::object::{CodeObject, KernelDescriptor};
use runtime::{LoadedCode, Memory, Stats};

const CLASSES: &str = include_str!("costs/classes.tsv");
const KERNELS: &[u8] = include_bytes!("costs/kernels.gfx906.co");

/// Bytes of the buffer.
const BUFFER: u64 = 16 << 20;
/// Approximate time of one run.
const RUN: Duration = Duration::from_millis(1);
/// Runs of which the least time counts.
const RUNS: usize = 9;
/// Passes through the loop of an operation of `kernels.cl`.
const PASSES: u32 = 64;

/// Initial state of a program, in addition to its code.
enum Program {
    /// The words of the table, concatenated.
    Words {
        code: LoadedCode,
        kernel: KernelCode,
        workgroup: u32,
    },
    /// A kernel of the code object, and the bits of its elements.
    Kernel { name: String, element: Vec<u8> },
}

struct World {
    memory: Memory,
    buffer: u64,
    dispatcher: Dispatcher,
    engine: JitEngine,
    object: CodeObject,
    kernels: LoadedCode,
    /// Times of the loops without instructions, for one workgroup.
    bases: HashMap<String, f64>,
}

/// A kernel with scratch, LDS and one argument: s[0:3] are the scratch's descriptor, s[4:5] the arguments, s[6:7]
/// and s9 are for FLAT_SCRATCH. Denormals are kept.
fn kernel(code: &LoadedCode) -> KernelCode {
    KernelCode {
        name: "class".to_owned(),
        entry: code.base(),
        descriptor: KernelDescriptor {
            group_segment_fixed_size: 16384,
            private_segment_fixed_size: 512,
            kernarg_size: 8,
            rsrc1: 11 | 10 << 6 | 0xf0 << 12 | 1 << 21 | 1 << 23,
            rsrc2: 1 | 8 << 1 | 1 << 7,
            properties: 1 | 1 << 3 | 1 << 5,
            ..KernelDescriptor::default()
        },
        ..KernelCode::default()
    }
}

impl World {
    fn new() -> World {
        let memory = Memory::new().expect("there is address space");
        let buffer = memory.alloc(BUFFER, 4096).expect("a small buffer fits");
        let options = JitOptions {
            tier: Tier::Optimizing,
            ..JitOptions::default()
        };
        let object = CodeObject::parse(KERNELS).expect("it was compiled");
        let kernels = LoadedCode::load(&memory, &object).expect("it fits");
        World {
            memory,
            buffer,
            dispatcher: Dispatcher::new(),
            engine: JitEngine::new(options).expect("this host has a code generator"),
            object,
            kernels,
            bases: HashMap::new(),
        }
    }

    /// One run; nothing when there is a fault.
    fn run(&self, program: &Program, groups: u32) -> Result<(f64, Stats), RunError> {
        let settings = Settings {
            threads: 1,
            ..Settings::default()
        };
        let buffer = self.buffer.to_le_bytes();
        let values = [ArgValue::Pointer(self.buffer), PASSES.into()];
        let (code, kernel, arguments, workgroup);
        let found;
        match program {
            Program::Words {
                code: own,
                kernel: entry,
                workgroup: items,
            } => {
                self.fill(&1.25f32.to_le_bytes(), 1 << 20);
                (code, kernel, workgroup) = (own, entry, *items);
                arguments = Arguments::Segment(&buffer);
            }
            Program::Kernel { name, element } => {
                self.fill(element, u64::from(groups) * 64 * element.len() as u64);
                let symbol = self.object.kernel(name).expect("it is in the object");
                found = KernelCode::new(&self.kernels, symbol);
                let metadata = symbol.metadata.as_ref().expect("it was compiled");
                (code, kernel, workgroup) = (&self.kernels, &found, 64);
                arguments = Arguments::Values(metadata, &values);
            }
        }
        let launch = Launch {
            shape: Shape::new([groups * workgroup, 1, 1], [workgroup, 1, 1], 1)
                .expect("a good shape"),
            global_offset: [0; 3],
            dynamic_lds: 0,
            arguments,
        };
        let start = Instant::now();
        let (memory, engine) = (&self.memory, &self.engine);
        let stats = self
            .dispatcher
            .run(engine, memory, code, kernel, &launch, &settings)?;
        Ok((start.elapsed().as_secs_f64(), stats))
    }

    /// Resets the buffer's first bytes: this element and, among the lanes, others slightly larger.
    fn fill(&self, element: &[u8], bytes: u64) {
        let mut block = Vec::with_capacity(4096);
        while block.len() < 4096 {
            let at = block.len();
            block.extend_from_slice(element);
            // The middle of the mantissa, or of the integer.
            let middle = at + element.len() / 2 - 1;
            block[middle] ^= (at / element.len()) as u8;
        }
        for at in (0..bytes.min(BUFFER)).step_by(4096) {
            self.memory
                .write_bytes(self.buffer + at, &block)
                .expect("it is in the buffer");
        }
    }

    /// Seconds of one workgroup, and the instructions that the interpreter ran.
    fn time(&self, program: &Program) -> Result<(f64, bool), RunError> {
        // Translated here.
        let (_, stats) = self.run(program, 1)?;
        let mut groups = 1;
        let mut best = loop {
            let (time, _) = self.run(program, groups)?;
            let goal = RUN.as_secs_f64();
            if time > goal / 2.0 || groups >= 4096 {
                break time / f64::from(groups);
            }
            let factor = (goal / time.max(1e-7)).clamp(2.0, 64.0);
            groups = (groups * factor as u32).min(4096);
        };
        for _ in 0..RUNS {
            let (time, _) = self.run(program, groups)?;
            best = best.min(time / f64::from(groups));
        }
        Ok((best, stats.fallbacks != 0))
    }

    /// Seconds of a base, which several classes have.
    fn base(
        &mut self,
        key: &str,
        program: impl FnOnce(&World) -> Program,
    ) -> Result<f64, RunError> {
        if let Some(&time) = self.bases.get(key) {
            return Ok(time);
        }
        let program = program(self);
        let (time, _) = self.time(&program)?;
        self.bases.insert(key.to_owned(), time);
        Ok(time)
    }
}

/// A line of the table of classes.
struct Class<'a> {
    group: &'a str,
    name: &'a str,
    count: u32,
    workgroup: u32,
    passes: u32,
    setup: Vec<u32>,
    base: Vec<u32>,
    body: Vec<u32>,
}

impl Class<'_> {
    fn parse(line: &str) -> Class<'_> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [group, name, count, workgroup, passes, setup, base, body] = fields[..] else {
            panic!("a class has eight fields: {line}");
        };
        let number = |text: &str| text.parse().expect("a number");
        let words = |text: &str| {
            let words = text.split_whitespace();
            words
                .map(|word| u32::from_str_radix(word, 16).expect("a word"))
                .collect()
        };
        Class {
            group,
            name,
            count: number(count),
            workgroup: number(workgroup),
            passes: number(passes),
            setup: words(setup),
            base: words(base),
            body: words(body),
        }
    }

    /// A loop of `body` in the frame that all classes have.
    fn program(&self, frame: &Class<'_>, body: &[u32], world: &World) -> Program {
        let mut words = frame.setup.clone();
        words.extend(&self.setup);
        // s_movk_i32 s30, passes
        words.push(0xb01e_0000 | self.passes);
        words.extend(body);
        // s_sub_u32 s30, s30, 1; s_cmp_lg_u32 s30, 0; s_cbranch_scc1
        let back = -(body.len() as i32 + 3);
        words.extend([0x809e_811e, 0xbf07_801e, 0xbf85_0000 | back as u32 & 0xffff]);
        words.extend(&frame.body);
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let code = LoadedCode::from_bytes(&world.memory, Gfx::Gfx906, &bytes).expect("it fits");
        Program::Words {
            kernel: kernel(&code),
            code,
            workgroup: self.workgroup,
        }
    }
}

fn print(group: &str, name: &str, time: Result<(f64, bool), RunError>) {
    let text = match time {
        Ok((ns, fallback)) => {
            let note = if fallback { "  (interpreter)" } else { "" };
            format!("{ns:9.1}{note}")
        }
        Err(error) => error.to_string().lines().next().unwrap_or("").to_owned(),
    };
    println!("{group:12} {name:58} {text}");
}

/// Do the filters select it?
fn selected(filters: &[String], group: &str, name: &str) -> bool {
    let full = format!("{group} {name}");
    filters.is_empty() || filters.iter().any(|filter| full.contains(filter.as_str()))
}

/// Instructions.
fn classes(world: &mut World, filters: &[String]) {
    let mut lines = CLASSES.lines().filter(|line| !line.starts_with('#'));
    let frame = Class::parse(lines.next().expect("the frame comes first"));
    for class in lines.map(Class::parse) {
        if !selected(filters, class.group, class.name) {
            continue;
        }
        let key = format!("{} {:x?} {:x?}", class.workgroup, class.setup, class.base);
        let waves = f64::from(class.workgroup / 64);
        let operations = f64::from(class.passes) * f64::from(class.count) * waves;
        let base = world.base(&key, |world| class.program(&frame, &class.base, world));
        let program = class.program(&frame, &class.body, world);
        let time = base.and_then(|base| {
            let (all, fallback) = world.time(&program)?;
            Ok(((all - base) / operations * 1e9, fallback))
        });
        print(class.group, class.name, time);
    }
}

/// The bits of an element of a type by its name: 1.25, or an integer with all bits used.
fn element(ty: &str) -> Vec<u8> {
    match ty {
        "float" => 1.25f32.to_le_bytes().to_vec(),
        "double" => 1.25f64.to_le_bytes().to_vec(),
        "half" => 0x3d00u16.to_le_bytes().to_vec(),
        "uint" => 0x0003_4567u32.to_le_bytes().to_vec(),
        _ => 0x0000_0123_4567_89abu64.to_le_bytes().to_vec(),
    }
}

/// Operations as compilers make them.
fn operations(world: &mut World, filters: &[String]) {
    let mut names: Vec<String> = world
        .object
        .kernels
        .iter()
        .map(|k| k.name.clone())
        .collect();
    names.sort_by_key(|name| name.split('_').next().map(str::to_owned));
    for name in names {
        let Some((ty, operation)) = name.split_once('_') else {
            continue;
        };
        if ty == "base" || !selected(filters, "operation", &format!("{ty} {operation}")) {
            continue;
        }
        let program = |name: &str| Program::Kernel {
            name: name.to_owned(),
            element: element(ty),
        };
        let base = format!("base_{ty}");
        let base = world.base(&base, |_| program(&base));
        let time = base.and_then(|base| {
            let (all, fallback) = world.time(&program(&name))?;
            Ok(((all - base) / f64::from(PASSES) * 1e9, fallback))
        });
        print("operation", &format!("{ty} {operation}"), time);
    }
}

fn main() {
    let filters: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    let mut world = World::new();
    println!("{:12} {:58} {:>9}", "group", "class", "ns");
    classes(&mut world, &filters);
    operations(&mut world, &filters);
}
