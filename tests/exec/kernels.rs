//! Whole kernels: code objects that a compiler made for each target, on both engines and several
//! numbers of threads, against results that plain Rust computes here.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use frontend::WaveState;
use runtime::engine::{self, Emitter, Engine, EngineKind, EngineOptions, Exit, Group, Session};
use wavelift::{Arg, Buffer, Device, DeviceOptions, Element, Error, Gfx, Launch, Module, Stats};

mod abi;
mod access;
mod atomics;
mod delayed;
mod dispatch;
pub(crate) mod examples;
mod exchange;
mod fuzz;
mod generic;
mod granules;
mod hostile;
mod images;
mod litmus;
mod objects;
mod order;
mod pieces;
mod private;
mod scratch;
mod shapes;
mod waits;

/// The engines under test: the interpreter, then the translator with its emitter for this CPU and with
/// the one for all.
const ENGINES: [(EngineKind, Emitter); 3] = [
    (EngineKind::Interp, Emitter::Auto),
    (EngineKind::Jit, Emitter::Auto),
    (EngineKind::Jit, Emitter::Cranelift),
];

/// Numbers of threads that must not make a difference.
const THREADS: [usize; 4] = [1, 2, 3, 8];

/// Targets with code objects of kernels in OpenCL C.
pub(crate) const OPENCL_TARGETS: [Gfx; 6] = {
    let [gfx600, gfx700, gfx803, gfx900, gfx906] = TARGETS;
    [gfx600, gfx700, gfx803, gfx900, gfx906, Gfx::Gfx942]
};

/// The targets that compiled kernels are there for.
pub(crate) const TARGETS: [Gfx; 5] = [
    Gfx::Gfx600,
    Gfx::Gfx700,
    Gfx::Gfx803,
    Gfx::Gfx900,
    Gfx::Gfx906,
];

/// Targets with flat addressing.
const FLAT_TARGETS: [Gfx; 5] = [
    Gfx::Gfx700,
    Gfx::Gfx803,
    Gfx::Gfx900,
    Gfx::Gfx906,
    Gfx::Gfx942,
];

/// Longest time for a kernel that ends.
const LONG: Duration = Duration::from_secs(60);

/// All engines in one, so that they run on one memory and see the same addresses.
struct Engines {
    engines: Vec<Box<dyn Engine + Send>>,
    chosen: Arc<AtomicUsize>,
}

impl Engine for Engines {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        self.engines[self.chosen.load(Relaxed)].run(wave, group, fuel)
    }

    fn session(&self) -> Box<dyn Session + '_> {
        self.engines[self.chosen.load(Relaxed)].session()
    }
}

/// A device whose engine and number of threads can be changed.
struct Rig {
    device: Device,
    chosen: Arc<AtomicUsize>,
    threads: AtomicUsize,
    /// Some instruction went to the interpreter although the translator ran.
    fell_back: AtomicBool,
}

impl Rig {
    fn new() -> Rig {
        Rig::with(DeviceOptions {
            reserve: 1 << 30,
            timeout: Some(LONG),
            ..DeviceOptions::default()
        })
    }

    fn with(options: DeviceOptions) -> Rig {
        let engines = ENGINES.iter().map(|&(kind, emitter)| {
            let engine_options = EngineOptions {
                exact_nan: true,
                emitter,
                ..EngineOptions::default()
            };
            engine::create(kind, &engine_options).expect("the engine is part of this build")
        });
        let chosen = Arc::new(AtomicUsize::new(0));
        let engine = Engines {
            engines: engines.collect(),
            chosen: chosen.clone(),
        };
        Rig {
            device: Device::with_engine(options, Box::new(engine)).expect("there is memory"),
            chosen,
            threads: AtomicUsize::new(1),
            fell_back: AtomicBool::new(false),
        }
    }

    fn engine(&self) -> EngineKind {
        ENGINES[self.chosen.load(Relaxed)].0
    }

    /// Calls `check` for the interpreter and the translator with each number of threads; the back
    /// ends alternate.
    fn each(&self, threads: &[usize], mut check: impl FnMut(&Rig)) {
        for chosen in 0..ENGINES.len() {
            for (i, &n) in threads.iter().enumerate() {
                if chosen != 0 && threads.len() > 1 && i % 2 != chosen - 1 {
                    continue;
                }
                self.chosen.store(chosen, Relaxed);
                self.threads.store(n, Relaxed);
                check(self);
            }
        }
        self.chosen.store(0, Relaxed);
        self.threads.store(1, Relaxed);
    }

    /// Launches a kernel.
    fn try_launch(
        &self,
        module: &Module,
        kernel: &str,
        launch: Launch,
        args: &[Arg],
    ) -> Result<Stats, Error> {
        let mut settings = self.device.settings();
        settings.threads = self.threads.load(Relaxed);
        let kernel = module.kernel(kernel)?;
        let stats = self.device.launch_with(&kernel, &launch, args, &settings)?;
        if stats.fallbacks != 0 {
            self.fell_back.store(true, Relaxed);
            eprintln!(
                "{}: {:?}",
                self.at(module, kernel.name()),
                stats.fallback_names
            );
        }
        Ok(stats)
    }

    /// Launches a kernel that does nothing wrong.
    fn launch(&self, module: &Module, kernel: &str, launch: Launch, args: &[Arg]) -> Stats {
        match self.try_launch(module, kernel, launch, args) {
            Ok(stats) => stats,
            Err(error) => panic!("{}: {error}", self.at(module, kernel)),
        }
    }

    /// What is running, for messages.
    fn at(&self, module: &Module, kernel: &str) -> String {
        format!(
            "{kernel} of {}, {:?} on {} threads",
            module.gfx(),
            self.engine(),
            self.threads.load(Relaxed)
        )
    }

    fn buffer<T: Element>(&self, data: &[T]) -> Buffer {
        self.device.buffer(data).expect("there is memory")
    }

    /// Compares a buffer with what it must hold.
    fn expect<T: Element + PartialEq + Debug>(
        &self,
        module: &Module,
        what: &str,
        buffer: &Buffer,
        want: &[T],
    ) {
        let got = buffer.read::<T>().expect("the buffer is there");
        assert_eq!(got.len(), want.len(), "{}", self.at(module, what));
        let wrong = (0..got.len()).filter(|&i| got[i] != want[i]);
        let wrong: Vec<_> = wrong.collect();
        if let Some(&first) = wrong.first() {
            panic!(
                "{}: {} of {} elements are wrong, the first is [{first}]: {:x?}, not {:x?}",
                self.at(module, what),
                wrong.len(),
                got.len(),
                got[first],
                want[first]
            );
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/memory")
}

/// The bytes of `tests/kernels/memory/NAME.TARGET.co`.
fn object_bytes(name: &str, gfx: Gfx) -> Vec<u8> {
    let path = folder().join(format!("{name}.{gfx}.co"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Calls `check` with the code object of each target on a device of its own. The translator must
/// translate everything in it.
fn on_targets(name: &str, targets: &[Gfx], check: impl Fn(&Rig, &Module)) {
    for &gfx in targets {
        let rig = Rig::new();
        let module = Module::load(&rig.device, &object_bytes(name, gfx)).expect("it loads");
        assert_eq!(module.gfx(), gfx);
        check(&rig, &module);
        assert!(
            !rig.fell_back.load(Relaxed),
            "{name} on {gfx} fell back to the interpreter"
        );
    }
}
