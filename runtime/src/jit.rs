//! The translating engine: looks regions up by PC and MODE, compiles new ones, runs them, and calls
//! the interpreter for instructions that only it runs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

use frontend::WaveState;
use lower::backend::object::Symbol;
use lower::host::{self, FarMemory, Host};
use lower::ir::Func;
use lower::jit::{Allocation, HostLevel, Jit};
use lower::lift::region::{self, Request};
use lower::options::{Forms, Options};
use lower::passes;
use lower::vir;

pub use lower::host::{Isa, cpu_features, is_supported as has_wide};
pub use lower::jit::{CRANELIFT_VERSION, LowerError};
pub use lower::lift::region::is_vector;
pub use lower::passes::{PASSES, Pass};

mod cache;
pub mod profile;
mod regions;
mod session;
mod tiers;

pub use self::cache::forget;
pub use self::tiers::Tier;

use self::session::JitSession;
use self::tiers::{Improver, Shared};
use crate::breaks::Breaks;
use crate::code::LoadedCode;
use crate::coverage::{Before, Counts};
use crate::engine::{Emitter, Engine, EngineError, EngineOptions, Exit, Group, Profiling, Session};
use crate::fault::WaveFault;
use crate::helpers;
use crate::interp::Flow;
use crate::sanitizer;

/// How the translator works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitOptions {
    /// Options of code generation. The engine sets those that depend on the region.
    pub code: Options,
    /// An instruction that is not translated is a fault instead of a call of the interpreter.
    pub no_fallback: bool,
    /// Which host instructions may be used.
    pub host: HostLevel,
    /// The back end. [`Emitter::Auto`] is the wide one if the CPU supports it.
    pub emitter: Emitter,
    /// Every register is in the wave at a barrier, dead ones too, for tests.
    pub observe: bool,
    /// Records shapes, and times or counts runs; for [`profile::Profiler`].
    pub profile: Option<Profiling>,
    /// Which translations run. An engine that profiles uses the optimizing tier only.
    pub tier: Tier,
    /// Maximum number of guest instructions in a region. 1 makes every instruction a region of its
    /// own.
    pub max_insts: usize,
    /// Guest instructions in a block at most, for tests.
    pub max_block: usize,
}

impl Default for JitOptions {
    fn default() -> JitOptions {
        JitOptions {
            code: Options {
                host: Host {
                    far_memory: FarMemory::Measured,
                    ..Host::default()
                },
                ..Options::default()
            },
            no_fallback: false,
            host: HostLevel::Native,
            emitter: Emitter::Auto,
            observe: false,
            profile: None,
            tier: Tier::Auto,
            max_insts: region::MAX_INSTS,
            max_block: region::MAX_BLOCK,
        }
    }
}

impl JitOptions {
    /// With NaN results bit for bit as the interpreter has them.
    pub fn exact() -> JitOptions {
        let mut options = JitOptions::default();
        options.code.exact_nan = true;
        options
    }

    /// The same, and these forms of code are not made either.
    #[must_use]
    pub fn without(mut self, forms: Forms) -> JitOptions {
        self.code.without |= forms;
        self
    }

    /// The same with as many lanes (4, 8 or 16) in each group of the unmasked loops.
    #[must_use]
    pub fn in_groups_of(mut self, lanes: u8) -> JitOptions {
        self.code.group = Some(lanes);
        self
    }
}

/// The lane IR of the region at `entry` and of the regions that it leaves for by constant
/// addresses, as text with the address of each. `fetch` gives the code from an address on. `after`
/// names the pass of [`PASSES`] after which it is printed; `None`, or a name not in that list:
/// before the first.
pub fn print_ir(
    gfx: frontend::Gfx,
    entry: u64,
    float_mode: u32,
    fetch: &region::Fetch<'_>,
    after: Option<&str>,
) -> Vec<(u64, String)> {
    let regions = regions_from(gfx, entry, float_mode, fetch).into_iter();
    let printed = regions.map(|(entry, func)| {
        let passed = after.and_then(|name| passes::after(&func, name));
        let text = lower::ir::text::func(passed.as_ref().unwrap_or(&func), gfx, fetch);
        (entry, text)
    });
    printed.collect()
}

/// As [`print_ir`], the vector IR that the optimizing tier selects instructions from, for a host
/// with such vectors; `None`: for any host, in 128-bit vectors, as compiled by Cranelift.
pub fn print_vector_ir(
    gfx: frontend::Gfx,
    entry: u64,
    float_mode: u32,
    fetch: &region::Fetch<'_>,
    isa: Option<Isa>,
) -> Vec<(u64, String)> {
    let options = Options {
        host: Host::of(isa),
        ..Options::default()
    };
    let (mut func, mut ssa) = (vir::Func::new(), vir::Ssa::default());
    let regions = regions_from(gfx, entry, float_mode, fetch).into_iter();
    let printed = regions.map(|(entry, region)| {
        let text = match lower::legalize::emit(&region, &options, 0, &mut func, &mut ssa) {
            Ok(_) => vir::text::print(&func),
            Err(broken) => format!("; bug: {broken}\n"),
        };
        (entry, text)
    });
    printed.collect()
}

/// As [`print_ir`], the host code of the optimizing tier for a host with such vectors: its bytes in
/// hexadecimal, constants after the instructions, then its relocations.
pub fn print_host_code(
    gfx: frontend::Gfx,
    entry: u64,
    float_mode: u32,
    fetch: &region::Fetch<'_>,
    isa: Isa,
) -> Result<Vec<(u64, String)>, LowerError> {
    let options = Options {
        host: Host::of(Some(isa)),
        ..Options::default()
    };
    let mut jit = Jit::new(HostLevel::Native)?;
    let regions = regions_from(gfx, entry, float_mode, fetch).into_iter();
    let printed = regions.map(|(entry, region)| {
        let object = jit.object(&region, &options, 0, Allocation::Optimizing)?;
        let mut text = String::new();
        if let Some(what) = &object.refused {
            text += &format!("; by Cranelift: {what}\n");
        }
        for line in object.code.chunks(32) {
            line.iter().for_each(|byte| text += &format!("{byte:02x}"));
            text.push('\n');
        }
        for patch in &object.patches {
            let symbol = match patch.symbol {
                Symbol::Guest => "guest".to_owned(),
                Symbol::Sites => "sites".to_owned(),
                Symbol::Function(n) => format!("function{n}"),
            };
            let (offset, addend) = (patch.offset, patch.addend);
            text += &format!("; 0x{offset:x}: address of {symbol}{addend:+}\n");
        }
        Ok((entry, text))
    });
    printed.collect()
}

/// The region at `entry` and those that it leaves for by constant addresses.
fn regions_from(
    gfx: frontend::Gfx,
    entry: u64,
    float_mode: u32,
    fetch: &region::Fetch<'_>,
) -> Vec<(u64, Func)> {
    let mut entries = vec![entry];
    let mut out = Vec::new();
    while let Some(&entry) = entries.get(out.len()) {
        let request = Request {
            gfx,
            entry,
            mode: float_mode,
            max_insts: JitOptions::default().max_insts,
            max_block: JitOptions::default().max_block,
            exact_nan: JitOptions::default().code.exact_nan,
            observe: false,
            checked: false,
            sanitize: false,
            outcomes: false,
        };
        let func = region::build(&request, fetch);
        for pc in func.exits() {
            if !entries.contains(&pc) && fetch(pc).is_some() {
                entries.push(pc);
            }
        }
        out.push((entry, func));
    }
    out
}

/// Makes the engine.
pub fn create(options: &EngineOptions) -> Result<Box<dyn Engine + Send>, EngineError> {
    if options.emitter == Emitter::Wide && !host::is_supported() {
        return Err(EngineError::NoWide);
    }
    let folder = options.cache.as_deref().map(|path| {
        cache::Folder::open(path, options.cache_limit)
            .map(Arc::new)
            .map_err(|error| EngineError::Cache {
                path: path.to_owned(),
                message: error.to_string(),
            })
    });
    let folder = folder.transpose()?;
    let base = match options.exact_nan {
        true => JitOptions::exact(),
        false => JitOptions::default(),
    };
    let jit_options = JitOptions {
        no_fallback: options.no_fallback,
        profile: options.profile,
        emitter: options.emitter,
        ..base
    };
    let jit_options = jit_options.without(forms(&options.without)?);
    JitEngine::new(jit_options)
        .map(|engine| -> Box<dyn Engine + Send> {
            let engine = JitEngine { folder, ..engine };
            if options.profile.is_some() {
                Box::new(profile::Profiler(engine))
            } else {
                Box::new(engine)
            }
        })
        .map_err(|error| EngineError::Host(error.to_string()))
}

/// Makes the engine with breakpoints. Code is not kept on disk.
pub(crate) fn with_breaks(
    options: &EngineOptions,
    breaks: Arc<Breaks>,
) -> Result<Box<dyn Engine + Send>, EngineError> {
    let base = match options.exact_nan {
        true => JitOptions::exact(),
        false => JitOptions::default(),
    };
    let jit_options = JitOptions {
        emitter: options.emitter,
        ..base
    };
    let engine = JitEngine::new(jit_options.without(forms(&options.without)?))
        .map_err(|error| EngineError::Host(error.to_string()))?;
    Ok(Box::new(JitEngine {
        breaks: Some(breaks),
        ..engine
    }))
}

/// The names of all forms of code, as in [`EngineOptions::without`].
pub fn form_names() -> impl Iterator<Item = String> {
    named_forms().map(|(name, _)| name)
}

fn named_forms() -> impl Iterator<Item = (String, Forms)> {
    let name = |flag: &str| flag.to_lowercase().replace('_', "-");
    let all = Forms::all().iter_names();
    all.map(move |(flag, form)| (name(flag), form))
}

/// The forms of code of these names.
fn forms(names: &[String]) -> Result<Forms, EngineError> {
    let form = |name: &String| {
        let found = named_forms().find(|(other, _)| other == name);
        found
            .map(|(_, form)| form)
            .ok_or_else(|| EngineError::NoForm {
                name: name.clone(),
                known: form_names().collect(),
            })
    };
    names.iter().map(form).collect()
}

/// The engine that translates.
pub struct JitEngine {
    /// Unlike that of any other engine.
    id: u64,
    options: JitOptions,
    /// Instruction set of the wide back end.
    isa: Isa,
    shared: Arc<Shared>,
    improver: Improver,
    compiler: Mutex<Jit>,
    functions: Box<[usize]>,
    /// Host properties that affect code generation.
    host: String,
    /// Hashes of the code of loads.
    contents: Mutex<HashMap<u64, cache::Key>>,
    /// Where code is kept on disk.
    folder: Option<Arc<cache::Folder>>,
    /// Instructions that the interpreter runs, and tells of.
    breaks: Option<Arc<Breaks>>,
    /// Instructions that the interpreter ran between regions, when profiling.
    interpreted: Mutex<HashMap<profile::Place, Counts>>,
    /// An engine whose regions are single instructions, for [`Engine::step`].
    stepper: OnceLock<Option<Box<JitEngine>>>,
}

/// Number of translations so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Translated {
    /// Regions compiled.
    pub regions: usize,
    /// Of these, those translated again because they were hot.
    pub improved: usize,
    /// Of these, the ones in the baseline tier.
    pub baseline: usize,
    /// Guest instructions in them.
    pub guest_insts: u64,
    /// Host bytes made.
    pub host_bytes: u64,
}

impl JitEngine {
    /// An engine for this host.
    pub fn new(options: JitOptions) -> Result<JitEngine, LowerError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let host = options.host.pretended();
        let compiler = Jit::new(host)?;
        let tier = if options.profile.is_some() {
            Tier::Optimizing
        } else {
            options.tier
        };
        // The back end is fixed from here on.
        let emitter = match options.emitter {
            Emitter::Auto | Emitter::Wide if host != HostLevel::Sse41 && host::is_supported() => {
                Emitter::Wide
            }
            _ => Emitter::Cranelift,
        };
        let isa = match host {
            HostLevel::Native if host::has_avx512() => Isa::Avx512,
            _ => Isa::Avx2,
        };
        let options = JitOptions {
            tier,
            host,
            emitter,
            ..options
        };
        Ok(JitEngine {
            id: NEXT.fetch_add(1, Relaxed),
            options,
            isa,
            shared: Arc::default(),
            improver: Improver::default(),
            host: compiler.host(),
            compiler: Mutex::new(compiler),
            functions: helpers::table(host),
            contents: Mutex::default(),
            folder: None,
            breaks: None,
            interpreted: Mutex::default(),
            stepper: OnceLock::new(),
        })
    }

    /// What was translated so far.
    pub fn translated(&self) -> Translated {
        let regions = self.shared.regions.read();
        let regions = regions.expect("no holder of the lock panics");
        let mut all = Translated {
            regions: regions.all().len(),
            improved: regions.improved(),
            baseline: regions.baseline(),
            ..Translated::default()
        };
        for (_, region) in regions.all() {
            all.guest_insts += u64::from(region.guest_insts());
            all.host_bytes += region.bytes() as u64;
        }
        all
    }

    /// The code from an address on, for translation.
    fn fetch<'c>(&self, code: &'c LoadedCode, pc: u64) -> Option<&'c [u8]> {
        let broken = self
            .breaks
            .as_ref()
            .is_some_and(|breaks| breaks.contains(pc));
        code.bytes_at(pc).filter(|_| !broken)
    }

    /// Runs the instruction at the PC on the interpreter.
    fn interpret(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Result<Flow, WaveFault> {
        if let Some(breaks) = &self.breaks {
            breaks.arrive(wave, group);
        }
        let pc = wave.pc;
        let inst = group.code.decode(pc).map_err(|kind| WaveFault {
            kind,
            pc,
            lane: None,
        })?;
        if group.counting {
            group.stats.instructions += 1;
            group.stats.lane_instructions += if region::is_vector(&inst) {
                u64::from(wave.exec().count_ones())
            } else {
                1
            };
        }
        sanitizer::step(wave, group, &inst)
    }

    /// As [`JitEngine::interpret`], noted for a profile.
    fn interpret_noted(
        &self,
        wave: &mut WaveState,
        group: &mut Group<'_>,
    ) -> Result<Flow, WaveFault> {
        let before = Before::of(wave);
        let result = self.interpret(wave, group);
        if let Ok(inst) = group.code.inst_at(before.pc) {
            let mut interpreted = self
                .interpreted
                .lock()
                .expect("no holder of the lock panics");
            let place = (group.code.id(), before.pc);
            let counts = interpreted.entry(place).or_default();
            counts.note(&before, inst, wave, result.as_ref().ok());
        }
        result
    }
}

impl Engine for JitEngine {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        JitSession::<false>::new(self).run_one(wave, group, fuel)
    }

    fn session(&self) -> Box<dyn Session + '_> {
        Box::new(JitSession::<false>::new(self))
    }

    fn damage(&self) -> Option<&'static str> {
        let expected = helpers::table(self.options.host);
        (self.functions != expected).then_some("the table of functions")
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        let stepper = self.stepper.get_or_init(|| {
            let options = JitOptions {
                max_insts: 1,
                profile: None,
                tier: Tier::Baseline,
                ..self.options
            };
            JitEngine::new(options).ok().map(Box::new)
        });
        stepper.as_ref().map(
            |stepper| match JitSession::<false>::new(stepper).step(wave, group) {
                Ok(exit) => exit,
                Err(fault) => Exit::Fault(fault),
            },
        )
    }
}
