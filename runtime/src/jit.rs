//! The translating engine: looks regions up by PC and MODE, compiles what is new, runs it, and hands
//! to the interpreter what only the interpreter does.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use frontend::WaveState;
use frontend::state::LANES;
use lower::abi::{Context, ExitCode};
use lower::jit::{Compiled, HostLevel, Jit};
use lower::profile::Shape;
use lower::region::{self, Request};
use lower::wide;

pub use lower::jit::LowerError;
pub use lower::region::is_vector;

mod cache;
pub mod profile;
mod regions;
mod tiers;

pub use self::tiers::Tier;

use self::regions::{ENTRY_BITS, Region};
use self::tiers::{Improver, Shared};
use crate::engine::{Emitter, Engine, EngineError, EngineOptions, Exit, Group};
use crate::fault::WaveFault;
use crate::helpers::{self, Host};
use crate::interp::{self, Flow};

/// How the translator works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitOptions {
    /// NaN results follow the guest's rule bit for bit; otherwise only NaN-ness is promised.
    pub exact_nan: bool,
    /// An instruction that is not translated is a fault instead of a call of the interpreter.
    pub no_fallback: bool,
    /// Which host instructions may be used.
    pub host: HostLevel,
    /// Lanes in a group of the unmasked loops, for tests; `None` chooses by register pressure.
    pub group: Option<u8>,
    /// Always take the masked loops, for tests.
    pub always_masked: bool,
    /// Never run a loop inside the lane groups.
    pub no_interchange: bool,
    /// Compute and check in each turn of such a loop what could be once before.
    pub no_hoist: bool,
    /// No segment makes loads itself (for tests and measurements).
    pub no_fused: bool,
    /// What makes host code; [`Emitter::Auto`] is Cranelift.
    pub emitter: Emitter,
    /// Every register is in the wave at a barrier, dead ones too, for tests.
    pub observe: bool,
    /// Code counts executions and lanes and knows its shapes; for [`profile::Profiler`].
    pub profile: bool,
    /// Which translations run. An engine that profiles has good ones only.
    pub tier: Tier,
    /// Guest instructions in a region at most. 1 makes every instruction a region of its own.
    pub max_insts: usize,
}

impl Default for JitOptions {
    fn default() -> JitOptions {
        JitOptions {
            exact_nan: false,
            no_fallback: false,
            host: HostLevel::Native,
            group: None,
            always_masked: false,
            no_interchange: false,
            no_hoist: false,
            no_fused: false,
            emitter: Emitter::Auto,
            observe: false,
            profile: false,
            tier: Tier::Auto,
            max_insts: region::MAX_INSTS,
        }
    }
}

/// The lane IR of the region at `entry` and of the regions that it leaves for by constant addresses,
/// as text with the address that each begins at. `fetch` gives the code from an address on.
pub fn print_ir(
    gfx: frontend::Gfx,
    entry: u64,
    float_mode: u32,
    fetch: &region::Fetch<'_>,
) -> Vec<(u64, String)> {
    let mut entries = vec![entry];
    let mut out = Vec::new();
    while let Some(&entry) = entries.get(out.len()) {
        let request = Request {
            gfx,
            entry,
            mode: float_mode,
            max_insts: JitOptions::default().max_insts,
            exact_nan: JitOptions::default().exact_nan,
            observe: false,
            checked: false,
        };
        let func = region::build(&request, fetch);
        for pc in func.exits() {
            if !entries.contains(&pc) && fetch(pc).is_some() {
                entries.push(pc);
            }
        }
        out.push((entry, lower::ir::print::func(&func)));
    }
    out
}

/// Makes the engine.
pub fn create(options: &EngineOptions) -> Result<Box<dyn Engine + Send>, EngineError> {
    if options.emitter == Emitter::Wide && !wide::is_supported() {
        return Err(EngineError::NoWide);
    }
    let folder = options.cache.as_deref().map(|path| {
        cache::Folder::open(path)
            .map(Arc::new)
            .map_err(|error| EngineError::Cache {
                path: path.to_owned(),
                message: error.to_string(),
            })
    });
    let folder = folder.transpose()?;
    let options = JitOptions {
        exact_nan: options.exact_nan,
        no_fallback: options.no_fallback,
        profile: options.profile,
        emitter: options.emitter,
        ..JitOptions::default()
    };
    JitEngine::new(options)
        .map(|engine| -> Box<dyn Engine + Send> {
            let engine = JitEngine { folder, ..engine };
            if options.profile {
                Box::new(profile::Profiler(engine))
            } else {
                Box::new(engine)
            }
        })
        .map_err(|error| EngineError::Host(error.to_string()))
}

/// The engine that translates.
pub struct JitEngine {
    /// Unlike that of any other engine.
    id: u64,
    options: JitOptions,
    shared: Arc<Shared>,
    improver: Improver,
    compiler: Mutex<Jit>,
    functions: Box<[usize]>,
    /// What decides about code on this host.
    host: String,
    /// Hashes of the code of loads.
    contents: Mutex<HashMap<u64, cache::Key>>,
    /// Where code is kept on disk.
    folder: Option<Arc<cache::Folder>>,
    /// What the interpreter ran between regions, when profiling.
    interpreted: Mutex<HashMap<profile::Place, profile::Count>>,
    /// An engine whose regions are single instructions, for [`Engine::step`].
    stepper: OnceLock<Option<Box<JitEngine>>>,
}

thread_local! {
    /// Frame slots of the regions that run on this thread.
    static FRAME: RefCell<Vec<[u32; LANES]>> = const { RefCell::new(Vec::new()) };
}

/// What a translator has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Translated {
    /// Regions compiled.
    pub regions: usize,
    /// Of these, translated again because they were hot.
    pub improved: usize,
    /// Guest instructions in them.
    pub guest_insts: u64,
    /// Host bytes made.
    pub host_bytes: u64,
}

impl JitEngine {
    /// An engine for this host.
    pub fn new(options: JitOptions) -> Result<JitEngine, LowerError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let compiler = Jit::new(options.host)?;
        let tier = if options.profile {
            Tier::Good
        } else {
            options.tier
        };
        let options = JitOptions { tier, ..options };
        Ok(JitEngine {
            id: NEXT.fetch_add(1, Relaxed),
            options,
            shared: Arc::default(),
            improver: Improver::default(),
            host: compiler.host(),
            compiler: Mutex::new(compiler),
            functions: helpers::table(options.host),
            contents: Mutex::default(),
            folder: None,
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
            ..Translated::default()
        };
        for (_, region) in regions.all() {
            all.guest_insts += u64::from(region.guest_insts());
            all.host_bytes += region.bytes() as u64;
        }
        all
    }

    /// Runs the instruction at the PC on the interpreter.
    fn interpret(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Result<Flow, WaveFault> {
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
        interp::step(wave, group, &inst)
    }

    /// Notes for a profile that the interpreter is about to run the instruction at the PC.
    fn note_interpreted(&self, wave: &WaveState, group: &Group<'_>) {
        let mut interpreted = self
            .interpreted
            .lock()
            .expect("no holder of the lock panics");
        let place = (group.code.id(), wave.pc);
        let count = interpreted.entry(place).or_default();
        count.executions += 1;
        count.lanes += u64::from(wave.exec().count_ones());
    }

    /// As [`Engine::run`]; `PROFILE` when the code counts.
    fn run_with<const PROFILE: bool>(
        &self,
        wave: &mut WaveState,
        group: &mut Group<'_>,
        fuel: &mut u64,
    ) -> Exit {
        FRAME.with(|frame| {
            let mut frame = frame.borrow_mut();
            loop {
                let token = std::mem::take(&mut wave.resume);
                let exit = {
                    let fresh = token & WaveState::FRESH != 0;
                    let back = if fresh { None } else { self.left(token) };
                    let (region, entry) = match back {
                        Some(back) => back,
                        None => {
                            let start = if fresh { token & WaveState::START } else { 0 };
                            match self.region(wave, group, start) {
                                Ok(region) => (region, 0),
                                Err(kind) => {
                                    let (pc, lane) = (wave.pc, None);
                                    return Exit::Fault(WaveFault { kind, pc, lane });
                                }
                            }
                        }
                    };
                    if wave.has_stale_vgprs() {
                        clear(wave, &region.code);
                    }
                    match self.enter::<PROFILE>(&region, entry, wave, group, fuel, &mut frame) {
                        Ok(exit) => exit,
                        Err(fault) => return Exit::Fault(fault),
                    }
                };
                match exit {
                    ExitCode::Continue => {}
                    ExitCode::End => return Exit::End,
                    ExitCode::Barrier => return Exit::Barrier,
                    ExitCode::Yield => return Exit::Yield,
                    ExitCode::Fault => unreachable!("bug: a fault without its cause"),
                    ExitCode::Interpret => {
                        if PROFILE {
                            self.note_interpreted(wave, group);
                        }
                        match self.interpret(wave, group) {
                            Ok(Flow::Next | Flow::Jump) => {}
                            Ok(Flow::Back) => {
                                *fuel = fuel.saturating_sub(1);
                                if *fuel == 0 {
                                    return Exit::Yield;
                                }
                            }
                            Ok(Flow::End) => return Exit::End,
                            Ok(Flow::Barrier) => return Exit::Barrier,
                            Err(fault) => return Exit::Fault(fault),
                        }
                    }
                }
            }
        })
    }
}

/// Before the first region of a wave: makes 0 what the dispatch left to the engine of the VGPRs that the
/// region may read before it writes them, ways out included.
fn clear(wave: &mut WaveState, code: &Compiled) {
    let [first, end] = wave.vgprs_stale.map(|n| n as usize);
    let reads = code.reads(wave.exec() == u64::MAX);
    for (word, &bits) in reads.iter().enumerate() {
        let mut bits = bits;
        while bits != 0 {
            let n = word * 64 + bits.trailing_zeros() as usize;
            if (first..end).contains(&n) {
                wave.vgpr[n] = [0; LANES];
            }
            bits &= bits - 1;
        }
    }
    // What still is not 0 lies below `vgprs_touched`, so that the next wave here sees nothing of it.
    wave.vgprs_stale = [0; 2];
}

impl Engine for JitEngine {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        self.run_with::<false>(wave, group, fuel)
    }

    fn settles(&self) -> bool {
        true
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        let stepper = self.stepper.get_or_init(|| {
            let options = JitOptions {
                max_insts: 1,
                profile: false,
                tier: Tier::Quick,
                ..self.options
            };
            JitEngine::new(options).ok().map(Box::new)
        });
        stepper
            .as_ref()
            .map(|stepper| match stepper.run_region(wave, group) {
                Ok(exit) => exit,
                Err(fault) => Exit::Fault(fault),
            })
    }
}

impl JitEngine {
    /// Runs the region at the PC once, from its beginning; a yield says that the wave goes on.
    fn run_region(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Result<Exit, WaveFault> {
        wave.resume = 0;
        wave.settle();
        let exit = {
            let region = self.region(wave, group, 0);
            let (pc, lane) = (wave.pc, None);
            let region = region.map_err(|kind| WaveFault { kind, pc, lane })?;
            let enter =
                |frame: &mut Vec<_>| self.enter::<false>(&region, 0, wave, group, &mut 0, frame);
            FRAME.with_borrow_mut(enter)?
        };
        wave.resume = 0;
        Ok(match exit {
            ExitCode::Continue | ExitCode::Yield => Exit::Yield,
            ExitCode::End => Exit::End,
            ExitCode::Barrier => Exit::Barrier,
            ExitCode::Fault => unreachable!("bug: a fault without its cause"),
            ExitCode::Interpret => match self.interpret(wave, group)? {
                Flow::Next | Flow::Jump | Flow::Back => Exit::Yield,
                Flow::End => Exit::End,
                Flow::Barrier => Exit::Barrier,
            },
        })
    }

    /// Runs a region once.
    #[expect(
        unsafe_code,
        reason = "hands the wave and its surroundings to compiled code"
    )]
    fn enter<const PROFILE: bool>(
        &self,
        region: &Region,
        entry: u32,
        wave: &mut WaveState,
        group: &mut Group<'_>,
        fuel: &mut u64,
        frame: &mut Vec<[u32; LANES]>,
    ) -> Result<ExitCode, WaveFault> {
        let slots = region.code.frame_slots() as usize;
        if frame.len() < slots {
            frame.resize(slots, [0; LANES]);
        }
        wave.vgprs_touched = wave.vgprs_touched.max(region.code.vgprs());
        let limit = group.memory.limit();
        let ticket = (*fuel).min(i32::MAX as u64) as u32;
        let lds = group.lds.as_mut_ptr();
        let lds_len = group.lds.size();
        let arena_base = group.memory.arena_base();
        let mut host = Host::new(group);
        let mut counts = if PROFILE {
            vec![0; region.code.counters.len()]
        } else {
            Vec::new()
        };
        let start = PROFILE.then(Instant::now);
        let mut ctx = Context {
            wave: ptr::from_mut(wave),
            frame: frame.as_mut_ptr(),
            arena_base,
            arena_len: limit,
            lds,
            lds_len,
            fuel: ticket,
            entry,
            resume: 0,
            functions: self.functions.as_ptr(),
            ret: [0; 16],
            instructions: 0,
            descriptors: [0; 12],
            lane_instructions: 0,
            fallbacks: 0,
            counters: counts.as_mut_ptr(),
            host: ptr::from_mut(&mut host).cast(),
        };
        // SAFETY: the wave is exclusively ours, the frame has the slots that the region asks for, there
        // are as many counters as it has (none unless it profiles), the
        // LDS buffer belongs to the group, the function table is in the order of `functions`, the
        // arena up to its limit is mapped for as long as the memory lives, and `host` outlives the
        // call.
        let exit = unsafe { region.code.run(&mut ctx) };
        if let Some(start) = start {
            counts[Shape::ENTERED] = 1;
            counts[Shape::NANOSECONDS] = start.elapsed().as_nanos() as u64;
            region.code.add_counts(&counts);
        }
        let (instructions, lane_instructions) = (ctx.instructions, ctx.lane_instructions);
        let resume = ctx.resume;
        let burned = u64::from(ticket.saturating_sub(ctx.fuel.min(ticket)));
        let fault = host.fault.take();
        group.stats.instructions += instructions;
        group.stats.lane_instructions += lane_instructions;
        *fuel = match exit {
            ExitCode::Yield => 0,
            _ => fuel.saturating_sub(burned),
        };
        if region.quick {
            self.warm(region, burned, group);
        }
        if resume != 0 && matches!(exit, ExitCode::Barrier | ExitCode::Yield) {
            wave.resume = (region.number as u64 + 1) << ENTRY_BITS | u64::from(resume);
        }
        match (exit, fault) {
            (ExitCode::Fault, Some(fault)) => Err(fault),
            _ => Ok(exit),
        }
    }
}
