//! The interface of engines. The dispatcher owns waves, LDS and order; an engine only runs one wave
//! until an event concerns the dispatcher.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use frontend::op::MatrixKinds;
use frontend::{Gfx, LANES, WaveState};

use crate::code::LoadedCode;
use crate::coverage::{Coverage, Covering};
use crate::delayed::Delayed;
use crate::dispatch::KernelCode;
use crate::export::Exports;
use crate::fault::WaveFault;
use crate::lds::Lds;
use crate::memory::Memory;

/// First byte of the LDS aperture. It is above every host address, so that it cannot be mistaken
/// for host memory.
pub const SHARED_BASE: u64 = 1 << 48;

/// First byte of the scratch aperture.
pub const PRIVATE_BASE: u64 = 2 << 48;

/// Size of each aperture; the base is aligned to it.
pub const APERTURE_BYTES: u64 = 1 << 32;

/// Why a wave returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Exit {
    /// The wave ended.
    End,
    /// The wave arrived at a barrier; its PC is behind it.
    Barrier,
    /// The fuel ran out; the wave continues at its PC.
    Yield,
    /// The wave faulted; its PC is the faulting instruction's.
    Fault(WaveFault),
}

/// An engine.
pub trait Engine: Sync {
    /// Runs `wave` until it ends, arrives at a barrier, runs out of fuel or faults.
    ///
    /// Each taken branch that is not forward, and each jump to an address in a register, burns one
    /// unit of `fuel`; without fuel the engine yields behind such a jump.
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit;

    /// A worker's session, for all the waves that it runs.
    fn session(&self) -> Box<dyn Session + '_> {
        Box::new(Settled(self))
    }

    /// A dispatch of a kernel begins.
    fn begin_dispatch(&self, kernel: &KernelCode, code: &LoadedCode) {
        let _ = (kernel, code);
    }

    /// Runs one instruction in isolation, with every register as the instruction leaves it;
    /// [`Exit::Yield`] if the wave continues. `None` from an engine that cannot do that.
    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        let _ = (wave, group);
        None
    }

    /// What has been executed of a code object's load since the last call, by guest address. `None` from an engine that
    /// does not count that ([`Profiling::Coverage`]).
    fn take_coverage(&self, code: &LoadedCode) -> Option<Coverage> {
        let _ = code;
        None
    }

    /// The engine, if its waves' results arrive late.
    fn delayed(&self) -> Option<&Delayed> {
        None
    }

    /// Looks for damage in what translated code is given to call, for tests; what is damaged.
    fn damage(&self) -> Option<&'static str> {
        None
    }

    /// The profile since the last call. `None` from an engine that does not profile.
    #[cfg(feature = "jit")]
    fn take_profile(&self) -> Option<crate::jit::profile::Profile> {
        None
    }
}

/// State of the waves of a workgroup; sets of waves, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveSets {
    /// Waves that are still to run.
    pub ready: u32,
    /// Waves that have arrived at the barrier.
    pub waiting: u32,
    /// Workgroups that may be run when all waves have ended.
    pub following: Following,
}

/// Workgroups after one, each with the next number in x: their waves have the same initial
/// registers except for that number, and they have no scratch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Following {
    /// Their number.
    pub count: u32,
    /// The SGPR with the number.
    pub number: usize,
    /// The `resume` of their waves, see [`WaveState::resume`].
    pub resume: u64,
}

/// Why the engine stopped running a workgroup's waves.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// No wave is ready.
    All,
    /// The wave with this number burned its fuel.
    Burned(u32),
    /// The wave with this number faulted.
    Fault(u32, WaveFault),
}

/// Runs waves one after the other, on one thread.
pub trait Session {
    /// Runs each ready wave of a workgroup once, in ascending order, as [`Engine::run`] does with
    /// this fuel, and removes it from `ready`; those that arrive at a barrier become `waiting`.
    /// Settles the VGPRs of a new wave (see [`WaveState::settle`]).
    ///
    /// When all waves have ended it may continue with the workgroups that are `following`, and
    /// removes them one by one: `group`, and all state of waves, is then that of the last of them.
    fn run(
        &mut self,
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        group: &mut Group<'_>,
        fuel: u64,
    ) -> Stop;
}

impl WaveSets {
    /// Runs the ready waves as [`Session::run`] does; `run` runs one by its number.
    #[inline]
    pub fn each(&mut self, mut run: impl FnMut(u32) -> Exit) -> Stop {
        while self.ready != 0 {
            let index = self.ready.trailing_zeros();
            self.ready &= self.ready - 1;
            let exit = run(index);
            if let Some(stop) = self.left(index, exit) {
                return stop;
            }
        }
        Stop::All
    }

    /// The wave with this number was run: why to stop, if so.
    #[inline]
    pub fn left(&mut self, index: u32, exit: Exit) -> Option<Stop> {
        match exit {
            Exit::End => {}
            Exit::Barrier => self.waiting |= 1 << index,
            Exit::Yield => return Some(Stop::Burned(index)),
            Exit::Fault(fault) => return Some(Stop::Fault(index, fault)),
        }
        None
    }
}

/// A session of an engine without state between waves.
struct Settled<'e, E: Engine + ?Sized>(&'e E);

impl<E: Engine + ?Sized> Session for Settled<'_, E> {
    fn run(
        &mut self,
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        group: &mut Group<'_>,
        fuel: u64,
    ) -> Stop {
        sets.each(|index| {
            group.select(index);
            let wave = &mut waves[index as usize];
            wave.settle();
            self.0.run(wave, group, &mut fuel.clone())
        })
    }
}

impl<E: Engine + Send + ?Sized> Engine for Arc<E> {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        (**self).run(wave, group, fuel)
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        (**self).step(wave, group)
    }

    fn session(&self) -> Box<dyn Session + '_> {
        (**self).session()
    }

    fn begin_dispatch(&self, kernel: &KernelCode, code: &LoadedCode) {
        (**self).begin_dispatch(kernel, code);
    }

    fn take_coverage(&self, code: &LoadedCode) -> Option<Coverage> {
        (**self).take_coverage(code)
    }

    fn delayed(&self) -> Option<&Delayed> {
        (**self).delayed()
    }

    #[cfg(feature = "jit")]
    fn take_profile(&self) -> Option<crate::jit::profile::Profile> {
        (**self).take_profile()
    }
}

/// State of a workgroup besides its waves' registers. The dispatcher lends one to the engine for
/// each run.
pub struct Group<'a> {
    /// Guest memory.
    pub memory: &'a Memory,
    /// The loaded code object.
    pub code: &'a LoadedCode,
    /// Target.
    pub gfx: Gfx,
    /// The workgroup's LDS.
    pub lds: &'a mut Lds,
    /// Scratch of the running wave.
    pub scratch: Scratch,
    /// Workgroup.
    pub workgroup: [u32; 3],
    /// Number of the running wave in its workgroup.
    pub wave: u32,
    /// Waves in the workgroup.
    pub waves: u32,
    /// Checked mode: announce LDS accesses to [`Lds::check`] and report scratch offsets outside the
    /// lane's size. (Accesses outside the exact allocation and reads of scratch that was never
    /// written are reported by [`Memory`] itself.)
    pub checked: bool,
    /// Number of the dispatch, where memory has a sanitizer.
    pub dispatch: u64,
    /// Count instructions.
    pub counting: bool,
    /// Counters of this worker.
    pub stats: &'a mut Stats,
}

impl Group<'_> {
    /// The running wave is the one with this number.
    #[inline]
    pub fn select(&mut self, wave: u32) {
        if self.scratch.lane_bytes != 0 {
            let first = self.scratch.base - u64::from(self.wave) * self.scratch.wave_bytes();
            self.scratch.base = first + u64::from(wave) * self.scratch.wave_bytes();
        }
        self.wave = wave;
    }
}

#[cfg(feature = "jit")]
impl Group<'_> {
    /// The running wave's scratch, address and bytes, where it may be accessed without individual
    /// checks: not in checked mode, and not where it is not entirely guest memory.
    #[inline]
    pub(crate) fn inline_scratch(&self) -> (u64, u64) {
        let (start, bytes) = (self.scratch.base, self.scratch.wave_bytes());
        if bytes == 0 || self.checked {
            return (start, 0);
        }
        let (away, limit) = (
            start.wrapping_sub(self.memory.arena_base()),
            self.memory.limit(),
        );
        match away <= limit && bytes <= limit - away {
            true => (start, bytes),
            false => (start, 0),
        }
    }
}

/// Location of a wave's scratch. Registers hold the same, as far as visible to the guest; swizzled
/// address of byte `a` of lane `l`: `base + (a / 4) * 256 + l * 4 + a % 4`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scratch {
    /// gfx7 and gfx8: the address that FLAT_SCRATCH_HI * 256 is added to.
    pub hidden_base: u64,
    /// First byte of this wave's scratch.
    pub base: u64,
    /// Bytes for each lane.
    pub lane_bytes: u32,
}

impl Scratch {
    /// Bytes for the wave.
    pub fn wave_bytes(&self) -> u64 {
        u64::from(self.lane_bytes) * LANES as u64
    }
}

/// Counters of a dispatch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Workgroups run.
    pub workgroups: u64,
    /// Waves run.
    pub waves: u64,
    /// Instructions executed by waves, when counting is on.
    pub instructions: u64,
    /// The same, each counted once for every active lane (scalar instructions once).
    pub lane_instructions: u64,
    /// Regions translated.
    pub regions_translated: u64,
    /// Guest instructions in them.
    pub instructions_translated: u64,
    /// Hot regions translated again by the background compiler.
    pub regions_improved: u64,
    /// Seconds of translation on that thread.
    pub improve_seconds: f64,
    /// Regions whose translation came from the cache, in memory or on disk.
    pub regions_cached: u64,
    /// Regions that the wide back end refused and left to Cranelift, by the missing construct, and
    /// hot ones whose second translation failed, by the error. Cached ones count, too.
    pub refusals: BTreeMap<String, u64>,
    /// Translations that could not be written to the cache directory.
    pub cache_failures: u64,
    /// Seconds spent in translation.
    pub translate_seconds: f64,
    /// Seconds from the first wave's start to the last one's end, translation included.
    pub execute_seconds: f64,
    /// Executions of instructions that the translator handed to the interpreter.
    pub fallbacks: u64,
    /// The same by name.
    pub fallback_names: BTreeMap<&'static str, u64>,
    /// Kinds of matrix instructions that were executed.
    pub matrix_kinds: MatrixKinds,
    /// What was exported.
    pub exports: Exports,
}

impl Stats {
    /// Adds what another worker counted.
    pub fn merge(&mut self, other: &Stats) {
        self.workgroups += other.workgroups;
        self.waves += other.waves;
        self.instructions += other.instructions;
        self.lane_instructions += other.lane_instructions;
        self.regions_translated += other.regions_translated;
        self.instructions_translated += other.instructions_translated;
        self.regions_improved += other.regions_improved;
        self.improve_seconds += other.improve_seconds;
        self.regions_cached += other.regions_cached;
        for (what, count) in &other.refusals {
            *self.refusals.entry(what.clone()).or_default() += count;
        }
        self.cache_failures += other.cache_failures;
        self.translate_seconds += other.translate_seconds;
        self.execute_seconds = self.execute_seconds.max(other.execute_seconds);
        self.fallbacks += other.fallbacks;
        for (&name, &count) in &other.fallback_names {
            *self.fallback_names.entry(name).or_default() += count;
        }
        self.matrix_kinds = self.matrix_kinds.with(other.matrix_kinds);
        self.exports.merge(&other.exports);
    }
}

/// The engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// Translates to host code.
    #[cfg_attr(feature = "jit", default)]
    Jit,
    /// Interprets.
    #[cfg_attr(not(feature = "jit"), default)]
    Interp,
}

/// The back end of the translator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emitter {
    /// The wide back end if the CPU supports it, otherwise Cranelift.
    #[default]
    Auto,
    /// Cranelift for everything.
    Cranelift,
    /// The wide back end where possible, Cranelift for what it refuses.
    Wide,
}

/// Kind of a profile. One run cannot give both: counters change the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profiling {
    /// Time in regions, and their shapes: the code is that of engines that do not profile, in the
    /// optimizing tier.
    Times,
    /// Executions and active lanes, by counters in the code; slow.
    Counts,
    /// Executions, active lanes and outcomes of conditions by instruction ([`Engine::take_coverage`]). The interpreter
    /// has them, too.
    Coverage,
}

/// Options of an engine. Of these the interpreter only has [`Profiling::Coverage`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// NaN results have the payload and sign of the interpreter's.
    pub exact_nan: bool,
    /// An instruction that the translator would hand to the interpreter is a fault instead.
    pub no_fallback: bool,
    /// What to profile for `Engine::take_profile`.
    pub profile: Option<Profiling>,
    /// The back end.
    pub emitter: Emitter,
    /// A directory that keeps translated code for other processes. It must be as trustworthy as the
    /// program: files are checked against damage, not against forgery.
    pub cache: Option<PathBuf>,
    /// Bytes of code in that directory, about: beyond them the files that were used least recently are
    /// removed. `None` is no limit.
    pub cache_limit: Option<u64>,
    /// Forms of code that the translator leaves out, by name, such as `group-loops`. Results do not depend on them; this
    /// is for measurements.
    pub without: Vec<String>,
}

/// Why an engine cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// This build has no translator.
    #[error("this build has no translator; build with the feature `jit` or use the interpreter")]
    NoTranslator,
    /// The CPU lacks the instructions of the wide back end.
    #[error("the wide emitter needs a CPU with AVX2, FMA and BMI2; use `auto` or `cranelift`")]
    NoWide,
    /// There is no form of code of this name.
    #[error("there is no form of code `{name}`; forms are {}", .known.join(", "))]
    NoForm {
        /// The name.
        name: String,
        /// The names of all forms.
        known: Vec<String>,
    },
    /// The cache directory cannot be used.
    #[error("cannot keep translated code in {}: {message}", .path.display())]
    Cache {
        /// The folder.
        path: PathBuf,
        /// The host's error.
        message: String,
    },
    /// The host cannot run translated code.
    #[error("the translator does not run on this host: {0}; use the interpreter")]
    Host(String),
}

/// Creates an engine.
pub fn create(
    kind: EngineKind,
    options: &EngineOptions,
) -> Result<Box<dyn Engine + Send>, EngineError> {
    match kind {
        EngineKind::Interp if options.profile == Some(Profiling::Coverage) => {
            Ok(Box::new(Covering::default()))
        }
        EngineKind::Interp => Ok(Box::new(crate::interp::Interpreter)),
        #[cfg(feature = "jit")]
        EngineKind::Jit => crate::jit::create(options),
        #[cfg(not(feature = "jit"))]
        EngineKind::Jit => {
            let _ = options;
            Err(EngineError::NoTranslator)
        }
    }
}
