//! Whole kernels in dispatches of several workgroups and waves.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use frontend::Gfx;
use harness::random::Random;
use harness::snippet::FIXED;
use lower::lift::region::MAX_BLOCK;
use runtime::dispatch::{
    Arguments, Dispatcher, KernelCode, Launch, RunError, Settings, Shape as Grid,
};
use runtime::engine::{self, Emitter, EngineKind, EngineOptions};
use runtime::memory::{Options, Purpose};
use runtime::{Engine, Interpreter, LoadedCode, Memory, Stats, jit};

use crate::checker::texts;
use crate::shapes::{Jits, Shape};
use crate::whole::{COUNTERS, INPUT, Parts, SLICE, Whole};

/// Where guest memory is, as that of straight lines.
const MEMORY: u64 = 0x2000_0000_0000;

/// Longest time of a dispatch. Kernels end after some thousand instructions of each wave.
const LIMIT: Duration = Duration::from_secs(60);

/// Instructions of kernels after which engines are replaced, since they keep all code that they ever made.
const RENEWAL: usize = 50_000;

thread_local! {
    static BENCHES: RefCell<HashMap<bool, Bench>> = RefCell::default();
}

/// The bytes are the configuration of a run, then the kernel. The interpreter's results in ascending order are the right
/// ones; the others are the translator's in some shape, on several threads, in shuffled order, in blocks that are cut, with
/// waves that yield often, and from code that was kept in memory and in files.
pub fn kernel(data: &[u8]) {
    let mut r = Random::from_bytes(data);
    let checked = r.once_in(4);
    BENCHES.with_borrow_mut(|benches| {
        let bench = benches
            .entry(checked)
            .or_insert_with(|| Bench::new(checked));
        bench.input(&mut r);
    });
}

/// The instructions of a random kernel, as [`kernel`] makes them.
pub fn kernel_code(gfx: Gfx, r: &mut Random) -> Vec<u8> {
    let parts = Parts::new(gfx).expect("no rows are left out");
    parts.kernel(r).code
}

/// The folder for translated code of this process.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER
        .get_or_init(|| std::env::temp_dir().join(format!("fuzzed-kernels-{}", std::process::id())))
}

/// Guest memory, rows and engines.
struct Bench {
    memory: Memory,
    input: u64,
    slices: u64,
    counters: u64,
    parts: HashMap<usize, Parts>,
    dispatcher: Dispatcher,
    shapes: Vec<Shape>,
    jits: Jits,
    age: usize,
}

/// What a dispatch left: slices and counters, and how many instructions it executed if they were counted.
#[derive(PartialEq)]
struct Left {
    memory: Vec<u8>,
    instructions: Option<(u64, u64)>,
}

/// A kernel in guest memory with the contents of its input.
struct Loaded<'a> {
    whole: &'a Whole,
    code: LoadedCode,
    kernel: KernelCode,
    input: Vec<u8>,
    /// All memory that it may write.
    before: Vec<u8>,
}

impl Bench {
    fn new(checked: bool) -> Bench {
        let memory = Memory::with_options(Options {
            reserve: FIXED,
            address: Some(MEMORY + u64::from(checked) * FIXED),
            exact: checked,
            sanitize: false,
        })
        .expect("the address is free");
        let alloc = |bytes: u32| {
            let place = memory.alloc_for(Purpose::Buffer, bytes.into(), 4096);
            place.expect("memory is empty")
        };
        let shapes = Shape::all(None);
        Bench {
            input: alloc(INPUT),
            slices: alloc(SLICE * Whole::most_slices()),
            counters: alloc(COUNTERS),
            memory,
            parts: HashMap::new(),
            dispatcher: Dispatcher::new(),
            jits: Jits::new(&shapes),
            shapes,
            age: 0,
        }
    }

    fn input(&mut self, r: &mut Random) {
        let number = r.below(Gfx::COUNT as u32) as usize;
        let gfx = Gfx::ALL[number];
        let parts = self.parts.entry(number);
        let parts = parts.or_insert_with(|| Parts::new(gfx).expect("no rows are left out"));
        let mut contents = Random::new(u64::from(r.below(1 << 16)));
        let config = Config::random(r, self.shapes.len());
        let whole = parts.kernel(r);
        if self.age > RENEWAL {
            self.jits = Jits::new(&self.shapes);
            self.age = 0;
        }
        self.age += whole.code.len() / 4;

        let mut words = |bytes: u32| -> Vec<u8> {
            let words = (0..bytes / 4).map(|_| contents.word());
            words.flat_map(u32::to_le_bytes).collect()
        };
        let code = LoadedCode::from_bytes(&self.memory, gfx, &whole.code);
        let code = code.expect("memory is nearly empty");
        let kernel = KernelCode {
            name: "fuzzed".to_owned(),
            entry: code.base(),
            descriptor: whole.descriptor,
            ..KernelCode::default()
        };
        // One slice is random, the others are shifted copies.
        let slice = words(SLICE);
        let mut before: Vec<u8> = Vec::new();
        for n in 0..whole.slices() as usize {
            before.extend(&slice[4 * n..]);
            before.extend(&slice[..4 * n]);
        }
        before.extend(words(COUNTERS));
        let loaded = Loaded {
            whole: &whole,
            code,
            kernel,
            input: words(INPUT),
            before,
        };
        self.compare(&loaded, config);
        loaded
            .code
            .unload(&self.memory)
            .expect("it was loaded here");
    }

    fn compare(&self, loaded: &Loaded<'_>, config: Config) {
        let counting = match config.engine {
            Some(shape) => self.shapes[shape].counting,
            None => false,
        };
        let settings = Settings {
            threads: 1,
            counting,
            fuel: 1 << 20,
            timeout: Some(LIMIT),
            find_overruns: true,
            ..Settings::default()
        };
        let varied = Settings {
            threads: config.threads,
            shuffle: config.shuffle,
            fuel: config.fuel,
            ..settings.clone()
        };
        let want = self.run(&Interpreter, loaded, &settings);
        let check = |what: &str, engine: &dyn Engine, settings: &Settings<'_>| {
            let got = self.run(engine, loaded, settings);
            if let Some(difference) = unequal(&want, &got, config.is_plain()) {
                let text = texts(loaded.code.gfx(), &loaded.whole.code);
                panic!(
                    "{what}, {config:?}, {}: {difference}\n{text}",
                    loaded.code.gfx()
                );
            }
            assert_eq!(engine.damage(), None, "{what}: changed");
            got.map(|(stats, _)| stats).ok()
        };
        if !config.is_plain() {
            check("the interpreter", &Interpreter, &varied);
        }
        if let Some(shape) = config.engine {
            let engine = self.jits.get(shape, config.max_block);
            let engine = engine.expect("the translator runs on this host");
            check(&self.shapes[shape].name(), &*engine, &varied);
            return;
        }
        let create = |emitter| {
            let options = EngineOptions {
                exact_nan: true,
                emitter,
                cache: Some(folder().clone()),
                ..EngineOptions::default()
            };
            engine::create(EngineKind::Jit, &options).expect("the translator runs on this host")
        };
        let _ = std::fs::remove_dir_all(folder());
        jit::forget();
        check("fresh code", &*create(config.emitter), &settings);
        let recalled = check("code kept in memory", &*create(config.emitter), &varied);
        jit::forget();
        let kept = check("code kept in files", &*create(config.emitter), &varied);
        for stats in [recalled, kept].into_iter().flatten() {
            assert!(stats.regions_cached > 0, "code was not kept: {stats:?}");
        }
        let _ = std::fs::remove_dir_all(folder());
    }

    fn run(
        &self,
        engine: &dyn Engine,
        loaded: &Loaded<'_>,
        settings: &Settings<'_>,
    ) -> Result<(Stats, Left), String> {
        let memory = &self.memory;
        let slices = loaded.before.len() - COUNTERS as usize;
        let write = |at: u64, bytes: &[u8]| {
            memory.write_bytes(at, bytes).expect("it is allocated");
        };
        write(self.input, &loaded.input);
        write(self.slices, &loaded.before[..slices]);
        write(self.counters, &loaded.before[slices..]);
        let arguments = [self.input, self.slices, self.counters];
        let arguments: Vec<u8> = arguments.iter().flat_map(|at| at.to_le_bytes()).collect();
        let whole = loaded.whole;
        let launch = Launch {
            shape: Grid::new([whole.grid, 1, 1], [whole.workgroup, 1, 1], 1)
                .expect("a grid of some workgroups"),
            global_offset: [0; 3],
            dynamic_lds: 0,
            arguments: Arguments::Segment(&arguments),
        };
        let (code, kernel) = (&loaded.code, &loaded.kernel);
        let result = self
            .dispatcher
            .run(engine, memory, code, kernel, &launch, settings);
        let stats = match result {
            Ok(stats) => stats,
            Err(RunError::Fault(fault)) => {
                let message = fault.to_string();
                assert_ne!(fault.kind.name(), "timeout", "{message}");
                return Err(message);
            }
            Err(error) => panic!("{error}"),
        };
        let read = |at: u64, bytes: &mut [u8]| {
            memory.read_bytes(at, bytes).expect("it is allocated");
        };
        let mut input = vec![0; loaded.input.len()];
        read(self.input, &mut input);
        assert!(input == loaded.input, "the input has changed");
        let mut left = vec![0; loaded.before.len()];
        read(self.slices, &mut left[..slices]);
        read(self.counters, &mut left[slices..]);
        let instructions = settings
            .counting
            .then_some((stats.instructions, stats.lane_instructions));
        let left = Left {
            memory: left,
            instructions,
        };
        Ok((stats, left))
    }
}

/// How a kernel is run.
#[derive(Clone, Copy, Debug)]
struct Config {
    /// The shape of the translator; otherwise its default with this back end and kept code.
    engine: Option<usize>,
    emitter: Emitter,
    max_block: usize,
    threads: usize,
    shuffle: Option<u64>,
    fuel: u64,
}

impl Config {
    fn random(r: &mut Random, shapes: usize) -> Config {
        let shape = r.below(shapes as u32) as usize;
        let emitters: &[Emitter] = match jit::has_wide() {
            true => &[Emitter::Auto, Emitter::Cranelift, Emitter::Wide],
            false => &[Emitter::Auto, Emitter::Cranelift],
        };
        let few = 1 + r.below(64) as usize;
        Config {
            engine: (!r.once_in(8)).then_some(shape),
            emitter: *r.pick(emitters),
            max_block: if r.once_in(4) { few } else { MAX_BLOCK },
            threads: *r.pick(&[1, 1, 2, 4]),
            shuffle: r.once_in(3).then(|| u64::from(r.below(256))),
            fuel: *r.pick(&[2048, 2048, 1, 7]),
        }
    }

    /// Do workgroups and waves run as for the interpreter?
    fn is_plain(self) -> bool {
        self.threads == 1 && self.shuffle.is_none()
    }
}

/// What two runs left differently. Faults of runs in another order may be others.
fn unequal(
    want: &Result<(Stats, Left), String>,
    got: &Result<(Stats, Left), String>,
    same_order: bool,
) -> Option<String> {
    match (want, got) {
        (Ok((_, want)), Ok((_, got))) if want == got => None,
        (Ok((_, want)), Ok((_, got))) => Some(differences(want, got)),
        (Err(want), Err(got)) if !same_order || want == got => None,
        (want, got) => {
            let [want, got] = [want, got].map(|end| match end {
                Ok(_) => "the end",
                Err(fault) => fault,
            });
            Some(format!("{want} / {got}"))
        }
    }
}

/// The first differences in words.
fn differences(want: &Left, got: &Left) -> String {
    let words = want.memory.chunks(4).zip(got.memory.chunks(4)).enumerate();
    let words = words.filter(|(_, (a, b))| a != b).map(|(n, (a, b))| {
        let (slice, at) = (4 * n / SLICE as usize, 4 * n % SLICE as usize);
        format!("\n  slice {slice}, {at:#x}: {a:02x?} / {b:02x?}")
    });
    let words: String = words.take(8).collect();
    format!("{:?} / {:?}{words}", want.instructions, got.instructions)
}
