//! The translating engine: looks regions up by PC and MODE, compiles what is new, runs it, and hands
//! to the interpreter what only the interpreter does.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Instant;

use frontend::WaveState;
use frontend::state::LANES;
use lower::abi::{Context, ExitCode, Site};
use lower::clif::Options;
use lower::jit::{Compiled, HostLevel, Jit};
use lower::object::Object;
use lower::profile::Shape;
use lower::region::{self, Request};

pub use lower::jit::LowerError;
pub use lower::region::is_vector;

mod cache;
pub mod profile;

use crate::LoadedCode;
use crate::engine::{Emitter, Engine, EngineError, EngineOptions, Exit, Group};
use crate::fault::{FaultKind, WaveFault};
use crate::helpers::{self, Host};
use crate::interp::{self, Flow};

/// The instructions that an object refers to, and the names of those that fall back, in a load that it is
/// for; `None` when it is not for it.
fn sites(object: &Object, code: &LoadedCode) -> Option<(Vec<Site>, Vec<&'static str>)> {
    let sites = object.sites.iter().map(|&offset| {
        let pc = code.base().wrapping_add(offset);
        let inst = *code.inst_at(pc).ok()?;
        Some(Site { pc, inst })
    });
    let sites: Vec<Site> = sites.collect::<Option<_>>()?;
    let fallbacks = object.fallbacks.iter().map(|name| {
        let names = sites.iter().map(|site| site.inst.desc.name_on(code.gfx()));
        names.into_iter().find(|known| known == name)
    });
    let fallbacks = fallbacks.collect::<Option<_>>()?;
    Some((sites, fallbacks))
}

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
    /// No segment makes loads itself (for tests and measurements).
    pub no_fused: bool,
    /// Every register is in the wave at a barrier, dead ones too, for tests.
    pub observe: bool,
    /// Code counts executions and lanes and knows its shapes; for [`profile::Profiler`].
    pub profile: bool,
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
            no_fused: false,
            observe: false,
            profile: false,
            max_insts: region::MAX_INSTS,
        }
    }
}

/// What makes a region another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    /// The code object's load.
    code: u64,
    /// Guest address.
    pc: u64,
    /// [`region::mode_key`].
    mode: u32,
    /// Counters are compiled in.
    counting: bool,
    /// Checks of checked mode are compiled in.
    checked: bool,
    /// What is known of the registers: `WaveState::START` of a wave that begins here, else 0.
    start: u64,
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
    if options.emitter == Emitter::Wide {
        return Err(EngineError::NoWide);
    }
    let folder = options.cache.as_deref().map(|path| {
        cache::Folder::open(path).map_err(|error| EngineError::Cache {
            path: path.to_owned(),
            message: error.to_string(),
        })
    });
    let folder = folder.transpose()?;
    let options = JitOptions {
        exact_nan: options.exact_nan,
        no_fallback: options.no_fallback,
        profile: options.profile,
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
    regions: RwLock<Regions>,
    compiler: Mutex<Jit>,
    functions: Box<[usize]>,
    /// What decides about code on this host.
    host: String,
    /// Hashes of the code of loads.
    contents: Mutex<HashMap<u64, cache::Key>>,
    /// Where code is kept on disk.
    folder: Option<cache::Folder>,
    /// What the interpreter ran between regions, when profiling.
    interpreted: Mutex<HashMap<profile::Place, profile::Count>>,
    /// An engine whose regions are single instructions, for [`Engine::step`].
    stepper: OnceLock<Option<Box<JitEngine>>>,
}

/// Entries of a thread's memory of regions.
const RECENT: usize = 64;

/// Engine, key and region of a recent lookup.
type Recent = Option<(u64, Key, Region)>;

/// A compiled region and its number, by which waves come back to it.
#[derive(Clone)]
struct Region {
    number: usize,
    code: Arc<Compiled>,
}

/// All regions of an engine.
#[derive(Default)]
struct Regions {
    by_key: HashMap<Key, Region>,
    by_number: Vec<Arc<Compiled>>,
}

/// Where entry numbers end and region numbers begin in `WaveState::resume`.
const ENTRY_BITS: u32 = 24;

thread_local! {
    /// Regions that this thread ran lately, by a hash of their address.
    static LOOKUPS: RefCell<[Recent; RECENT]> = const { RefCell::new([const { None }; RECENT]) };
    /// Regions that waves of this thread left and came back to, by their number.
    static LEFT: RefCell<[Option<(u64, Region)>; RECENT]> =
        const { RefCell::new([const { None }; RECENT]) };
    /// Frame slots of the regions that run on this thread.
    static FRAME: RefCell<Vec<[u32; LANES]>> = const { RefCell::new(Vec::new()) };
}

/// What a translator has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Translated {
    /// Regions compiled.
    pub regions: usize,
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
        Ok(JitEngine {
            id: NEXT.fetch_add(1, Relaxed),
            options,
            regions: RwLock::new(Regions::default()),
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
        let regions = self.regions.read().expect("no holder of the lock panics");
        let mut all = Translated {
            regions: regions.by_number.len(),
            ..Translated::default()
        };
        for region in &regions.by_number {
            all.guest_insts += u64::from(region.guest_insts());
            all.host_bytes += region.bytes() as u64;
        }
        all
    }

    /// The region at the wave's PC, compiled if need be.
    fn region(
        &self,
        wave: &WaveState,
        group: &mut Group<'_>,
        start: u64,
    ) -> Result<Region, FaultKind> {
        let key = Key {
            code: group.code.id(),
            pc: wave.pc,
            mode: region::mode_key(wave.mode, wave.m0()),
            counting: group.counting,
            checked: group.checked,
            start,
        };
        let place = (wave.pc >> 2) as usize % RECENT;
        LOOKUPS.with_borrow_mut(|recent| {
            if let Some((id, known, region)) = &recent[place]
                && (*id, *known) == (self.id, key)
            {
                return Ok(region.clone());
            }
            let region = self.find(key, wave, group)?;
            recent[place] = Some((self.id, key, region.clone()));
            Ok(region)
        })
    }

    /// The region that a wave left at a barrier or a yield, with the number of its way back in.
    fn left(&self, token: u64) -> Option<(Region, u32)> {
        let number = usize::try_from(token >> ENTRY_BITS).ok()?.checked_sub(1)?;
        let entry = (token & ((1 << ENTRY_BITS) - 1)) as u32;
        let place = number % RECENT;
        LEFT.with_borrow_mut(|recent| {
            if let Some((id, region)) = &recent[place]
                && (*id, region.number) == (self.id, number)
            {
                return Some((region.clone(), entry));
            }
            let regions = self.regions.read().expect("no holder of the lock panics");
            let code = Arc::clone(regions.by_number.get(number)?);
            let region = Region { number, code };
            recent[place] = Some((self.id, region.clone()));
            Some((region, entry))
        })
    }

    /// The region in the engine's memory, or a new one.
    fn find(&self, key: Key, wave: &WaveState, group: &mut Group<'_>) -> Result<Region, FaultKind> {
        let known = || {
            let regions = self.regions.read().expect("no holder of the lock panics");
            regions.by_key.get(&key).cloned()
        };
        if let Some(region) = known() {
            return Ok(region);
        }
        let start = Instant::now();
        let mut compiler = self.compiler.lock().expect("no holder of the lock panics");
        // Another worker may have compiled it meanwhile.
        if let Some(region) = known() {
            return Ok(region);
        }
        let request = Request {
            gfx: group.gfx,
            entry: wave.pc,
            mode: key.mode,
            max_insts: self.options.max_insts,
            exact_nan: self.options.exact_nan,
            observe: self.options.observe,
            checked: key.checked,
        };
        let object = self.object(&mut compiler, &key, &request, group)?;
        let compiled = self.place(object, group)?;
        let code = Arc::new(compiled);
        let mut regions = self.regions.write().expect("no holder of the lock panics");
        let number = regions.by_number.len();
        regions.by_number.push(Arc::clone(&code));
        let region = Region { number, code };
        regions.by_key.insert(key, region.clone());
        group.stats.translate_seconds += start.elapsed().as_secs_f64();
        Ok(region)
    }

    /// A region without a place: kept in memory or on disk, or translated now.
    fn object(
        &self,
        compiler: &mut Jit,
        key: &Key,
        request: &Request,
        group: &mut Group<'_>,
    ) -> Result<Arc<Object>, FaultKind> {
        let options = Options {
            exact_nan: self.options.exact_nan,
            count: group.counting,
            profile: self.options.profile,
            start: key.start,
            group: self.options.group,
            always_masked: self.options.always_masked,
            no_interchange: self.options.no_interchange,
            no_fused: self.options.no_fused,
        };
        let cache_key = self.cache_key(key, request, &options, group.code);
        // Profiles know shapes, which are not kept.
        let keep = !self.options.profile;
        if keep && let Some(object) = cache::recall(&cache_key) {
            group.stats.regions_cached += 1;
            return Ok(object);
        }
        let folder = self.folder.as_ref().filter(|_| keep);
        let kept = folder.and_then(|folder| folder.read(&cache_key));
        if let Some(object) = kept.filter(|object| sites(object, group.code).is_some()) {
            group.stats.regions_cached += 1;
            let object = Arc::new(object);
            cache::remember(cache_key, &object);
            return Ok(object);
        }
        let code = group.code;
        let func = region::build(request, &|pc| code.bytes_at(pc));
        let object = compiler.object(&func, &options, code.base());
        let object = Arc::new(object.map_err(|e| FaultKind::Unsupported {
            what: e.to_string(),
        })?);
        group.stats.regions_translated += 1;
        group.stats.instructions_translated += u64::from(object.guest_insts);
        if keep {
            cache::remember(cache_key, &object);
        }
        if let Some(folder) = folder
            && folder.write(&cache_key, &object).is_err()
        {
            group.stats.cache_failures += 1;
        }
        Ok(object)
    }

    /// What a region's code is kept under. Only distances within the load enter it.
    fn cache_key(
        &self,
        key: &Key,
        request: &Request,
        options: &Options,
        code: &LoadedCode,
    ) -> cache::Key {
        let content = {
            let mut contents = self.contents.lock().expect("no holder of the lock panics");
            *contents
                .entry(code.id())
                .or_insert_with(|| cache::content(code))
        };
        let request = Request {
            entry: request.entry.wrapping_sub(code.base()),
            ..*request
        };
        let rest = format!("{request:?} {} {options:?} {}", key.mode, self.host);
        cache::key(&content, &rest)
    }

    /// Puts a region in place for a load.
    fn place(&self, object: Arc<Object>, group: &Group<'_>) -> Result<Compiled, FaultKind> {
        let code = group.code;
        let (sites, fallbacks) = sites(&object, code).ok_or_else(|| FaultKind::Unsupported {
            what: "bug: translated code refers to other instructions than there are".to_owned(),
        })?;
        if self.options.no_fallback
            && let Some(name) = fallbacks.first()
        {
            let what = format!("{name} is not translated, and falling back was ruled out");
            return Err(FaultKind::Unsupported { what });
        }
        Compiled::new(object, code.base(), sites, fallbacks).map_err(|e| FaultKind::Unsupported {
            what: LowerError::Memory(e).to_string(),
        })
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

impl Engine for JitEngine {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        self.run_with::<false>(wave, group, fuel)
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        let stepper = self.stepper.get_or_init(|| {
            let options = JitOptions {
                max_insts: 1,
                profile: false,
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
        if resume != 0 && matches!(exit, ExitCode::Barrier | ExitCode::Yield) {
            wave.resume = (region.number as u64 + 1) << ENTRY_BITS | u64::from(resume);
        }
        match (exit, fault) {
            (ExitCode::Fault, Some(fault)) => Err(fault),
            _ => Ok(exit),
        }
    }
}
