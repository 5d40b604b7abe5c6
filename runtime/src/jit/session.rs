//! One worker's session with the translator: caches its recent regions, so that entering a wave
//! costs little more than setting up its registers.

use std::cell::RefCell;
use std::ops::Range;
use std::ptr;
use std::rc::Rc;
use std::time::Instant;

use frontend::WaveState;
use frontend::op::MatrixKinds;
use frontend::state::LANES;
use lower::abi::{Context, ExitCode, SETTLED, Settled};
use lower::analysis::liveness::VectorBits;
use lower::ir::FIRST_AGPR;
use lower::profile::Shape;

use super::JitEngine;
use super::regions::{Key, Region, entry_of};
use crate::engine::{Exit, Following, Group, Session, Stop, WaveSets};
use crate::fault::{FaultKind, WaveFault};
use crate::helpers::Host;
use crate::sanitizer::{Known, MAX_WAVES};

/// Maximum number of rounds of barriers of a workgroup before control returns to the dispatcher.
const ROUNDS: u32 = 64;

/// A temporary of 64 lanes, aligned so that no host vector crosses a cache line.
#[derive(Clone, PartialEq, Eq)]
#[repr(align(64))]
struct Slot([u32; LANES]);

/// What is in the slots before and behind those of the regions. Code that writes there is wrong.
const GUARD: Slot = Slot([0x5a5a_a5a5; LANES]);

/// The slots with [`GUARD`].
const GUARDS: usize = 2;

thread_local! {
    /// Frame slots for the next session of this thread.
    static FRAME: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// Runs waves one after the other; `PROFILE` when runs are timed, and the code may count.
pub(super) struct JitSession<'e, const PROFILE: bool> {
    nearby: Nearby<'e>,
    machine: Machine<PROFILE>,
}

/// A session's cached references to its engine's regions.
struct Nearby<'e> {
    engine: &'e JitEngine,
    /// The region of the last wave that began. Of this iteration or still the newest: see `settle`.
    last: Option<Last>,
    /// The region of the last wave that ran another one.
    other: Option<Rc<Region>>,
}

/// A region that a wave began with.
struct Last {
    /// The engine's generation then.
    generation: u64,
    key: Key,
    region: Rc<Region>,
}

/// The state of running code.
struct Machine<const PROFILE: bool> {
    /// Frame slots of the regions, with a guard before and behind them; or none.
    frame: Vec<Slot>,
    /// How many there are without the guards.
    slots: usize,
    /// The surroundings are set for each iteration, all that depends on the wave before each entry.
    ctx: Context,
    /// The scalar registers that the waves of a workgroup began with.
    starts: Vec<[u32; 128]>,
    /// If a sanitizer observes the waves.
    observed: Option<Box<Observed>>,
}

/// What a sanitizer has told, across entries of regions.
struct Observed {
    /// The dispatch that [`Context::settled`] is of.
    dispatch: u64,
    /// By wave of the workgroup.
    waves: [Known; MAX_WAVES],
}

impl<const PROFILE: bool> Drop for Machine<PROFILE> {
    fn drop(&mut self) {
        let frame = std::mem::take(&mut self.frame);
        let whole = frame.first().is_none_or(|slot| *slot == GUARD)
            && frame.last().is_none_or(|slot| *slot == GUARD);
        if whole {
            FRAME.replace(frame);
        } else if !std::thread::panicking() {
            panic!("bug: translated code wrote outside of its frame");
        }
    }
}

impl<const PROFILE: bool> Drop for JitSession<'_, PROFILE> {
    fn drop(&mut self) {
        let functions = self.nearby.engine.functions.as_ptr();
        if self.machine.ctx.functions != functions && !std::thread::panicking() {
            panic!("bug: translated code wrote to what it is given");
        }
    }
}

impl Nearby<'_> {
    /// Begins to run waves of `group`: drops regions that have been retranslated, and those of
    /// another group.
    fn settle(&mut self, group: &Group<'_>) {
        let now = self.engine.shared.generation();
        self.last
            .take_if(|last| last.generation != now || !last.key.is_of(group));
    }

    /// The region to run next and its entry. `token` is the wave's `resume`.
    #[inline(always)]
    fn next(
        &mut self,
        wave: &WaveState,
        group: &mut Group<'_>,
        token: u64,
    ) -> Result<(&Region, u32), FaultKind> {
        if token & WaveState::FRESH != 0 {
            let start = token & WaveState::START;
            let last = self.last.as_ref();
            if last.is_none_or(|last| !last.key.begins(wave, start)) {
                self.begin(Key::new(wave, group, start), group)?;
            }
        } else if self
            .last
            .as_ref()
            .is_none_or(|last| !last.region.was_left(token))
        {
            return self.elsewhere(wave, group, token);
        }
        let last = self.last.as_ref().expect("it was compared or found");
        Ok((&last.region, entry_of(token)))
    }

    /// Finds the region that a wave begins with.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, key: Key, group: &mut Group<'_>) -> Result<(), FaultKind> {
        self.last = Some(Last {
            generation: self.engine.shared.generation(),
            key,
            region: self.engine.region(key, group)?,
        });
        Ok(())
    }

    /// The region to run next where it is not the one that the last wave began with.
    #[cold]
    #[inline(never)]
    fn elsewhere(
        &mut self,
        wave: &WaveState,
        group: &mut Group<'_>,
        token: u64,
    ) -> Result<(&Region, u32), FaultKind> {
        let (region, entry) = match self.engine.left(token) {
            Some(back) => back,
            None => (self.engine.region(Key::new(wave, group, 0), group)?, 0),
        };
        Ok((self.other.insert(region), entry))
    }
}

impl<const PROFILE: bool> Machine<PROFILE> {
    fn new(engine: &JitEngine) -> Self {
        let frame = FRAME.take();
        let mut machine = Machine {
            ctx: Context::new(engine.functions.as_ptr()),
            slots: frame.len().saturating_sub(GUARDS),
            frame,
            starts: Vec::new(),
            observed: None,
        };
        machine.set_frame();
        machine
    }

    /// Tells code where its slots are.
    fn set_frame(&mut self) {
        let slots = self.frame.get_mut(1..).unwrap_or_default();
        self.ctx.frame = slots.as_mut_ptr().cast();
    }

    /// Waves of `group` run now.
    fn surround(&mut self, group: &mut Group<'_>) {
        let memory = group.memory;
        self.ctx.set_arena(memory.arena_base(), memory.read_only());
        let (lds, lds_len) = (group.lds.as_mut_ptr(), group.lds.size());
        self.ctx.set_memory(memory.limit(), lds, lds_len);
        if let Some(sanitizer) = memory.sanitizer() {
            let (dispatch, waves) = (group.dispatch, sanitizer.known(group));
            match &mut self.observed {
                Some(observed) if observed.dispatch == dispatch => observed.waves = waves,
                observed => {
                    self.ctx.settled = [Settled::default(); SETTLED];
                    *observed = Some(Box::new(Observed { dispatch, waves }));
                }
            }
        }
    }

    /// Allocates frame slots for a region.
    #[cold]
    fn enlarge(&mut self, slots: usize) {
        self.frame.resize(slots + GUARDS, GUARD);
        (self.frame[0], self.frame[slots + 1]) = (GUARD, GUARD);
        self.slots = slots;
        self.set_frame();
    }

    /// Waves of the group of `surround` enter a region by this entry now, each with as much of the fuel as code can
    /// have at a time.
    #[inline(always)]
    fn prepare(&mut self, region: &Region, entry: u32, fuel: u64) {
        if self.slots < region.slots {
            self.enlarge(region.slots);
        }
        self.ctx.entry = entry;
        self.ctx.fuel_quantum = fuel.min(i32::MAX as u64) as u32;
        (self.ctx.last, self.ctx.rounds) = (0, 0);
    }

    /// Runs the region of `prepare` of a wave once; the fault of [`ExitCode::Fault`] is in `host`.
    /// Inlined: the call would add to the cost of each barrier.
    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "hands the wave and its surroundings to compiled code"
    )]
    fn enter(
        &mut self,
        (engine, region): (&JitEngine, &Region),
        wave: &mut WaveState,
        host: &mut Host<'_, '_>,
    ) -> ExitCode {
        let ctx = &mut self.ctx;
        ctx.wave = ptr::from_mut(wave);
        ctx.fuel = ctx.fuel_quantum;
        ctx.resume = 0;
        let index = host.group.wave as usize % MAX_WAVES;
        if let Some(observed) = &self.observed {
            let Known { lanes, lds } = observed.waves[index];
            (ctx.known_lanes, ctx.lds_settled, ctx.stores) = (lanes, lds, 1);
        }
        ctx.set_scratch(host.group.inline_scratch());
        ctx.host = ptr::from_mut(host).cast();
        let mut counts = Vec::new();
        let start = PROFILE.then(|| {
            counts.resize(region.code.counters.len(), 0);
            ctx.counters = counts.as_mut_ptr();
            Instant::now()
        });
        // SAFETY: the wave is exclusively ours, as are those of `waves` if there is a `last`, the
        // frame has the slots that the region requires, there are as many counters as it has (none
        // unless it profiles), the LDS buffer belongs to the group and is neither moved nor resized
        // while its waves run, the function table is in the order of `functions`, the arena up to
        // its limit is mapped for as long as the memory lives, and `host` outlives the call.
        let exit = unsafe { region.code.run(ctx) };
        if let Some(observed) = &mut self.observed {
            observed.waves[index] = Known {
                lanes: ctx.known_lanes,
                // The interpreter may execute a barrier.
                lds: match exit {
                    ExitCode::Interpret => 0,
                    _ => ctx.lds_settled,
                },
            };
        }
        if let Some(start) = start {
            counts[Shape::ENTERED] = 1;
            counts[Shape::NANOSECONDS] = start.elapsed().as_nanos() as u64;
            region.code.add_counts(&counts);
        }
        if ctx.matrix_kinds != 0 {
            let kinds = &mut host.group.stats.matrix_kinds;
            *kinds = kinds.with(MatrixKinds(std::mem::take(&mut ctx.matrix_kinds)));
        }
        if host.group.counting {
            host.group.stats.instructions += std::mem::take(&mut ctx.instructions);
            host.group.stats.lane_instructions += std::mem::take(&mut ctx.lane_instructions);
        }
        if ctx.resume != 0 && matches!(exit, ExitCode::Barrier | ExitCode::Yield) {
            wave.resume = region.token(ctx.resume);
        }
        if region.retranslate {
            engine.warm(region, self.burned(), host.group);
        }
        exit
    }

    /// Runs all waves of a workgroup by the entry of `prepare`, where all of them are ready, in
    /// code with wave switches; updates `sets` for those that end or arrive at a barrier. Returns
    /// the exit code, and the wave that returned.
    fn relay(
        &mut self,
        (engine, region): (&JitEngine, &Region),
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        host: &mut Host<'_, '_>,
    ) -> (ExitCode, u32) {
        // A box is a pointer to its contents.
        self.ctx.waves = waves.as_mut_ptr().cast();
        (self.ctx.index, self.ctx.last) = (0, waves.len() as u32 - 1);
        (self.ctx.rounds, self.ctx.arrived, self.ctx.ended) = (ROUNDS, 0, 0);
        let entry = self.ctx.entry;
        host.group.select(0);
        let exit = self.enter((engine, region), &mut waves[0], host);
        let index = self.ctx.index;
        host.group.select(index);
        let (before, rest) = waves.split_at_mut(index as usize);
        let (running, behind) = rest.split_first_mut().expect("the code counts them");
        before
            .iter_mut()
            .for_each(|wave| wave.resume = region.token(self.ctx.arrived));
        running.resume = match (exit, self.ctx.resume) {
            (ExitCode::Barrier | ExitCode::Yield, entry @ 1..) => region.token(entry),
            _ => 0,
        };
        // In the first round they are at their previous entries, possibly new.
        if self.ctx.entry != entry {
            behind
                .iter_mut()
                .for_each(|wave| wave.resume = region.token(self.ctx.entry));
        }
        let here = 1 << index;
        sets.ready &= !(here | (here - 1));
        let gone = match exit {
            ExitCode::Barrier => here | (here - 1),
            _ => here - 1,
        };
        sets.waiting |= gone & !self.ctx.ended;
        (exit, index)
    }

    /// Restarts the waves of a workgroup, all of which have ended in code with wave switches, as
    /// those of the next one in x: with the scalar registers of `starts` except for its number.
    fn start_next(
        &mut self,
        region: &Region,
        (pc, mode): (u64, u32),
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        host: &mut Host<'_, '_>,
    ) {
        let Following { number, resume, .. } = sets.following;
        let id = begin_next(sets, host.group);
        sets.ready = u32::MAX >> (32 - waves.len());
        for (wave, start) in waves.iter_mut().zip(&self.starts) {
            wave.sgpr = *start;
            wave.sgpr[number] = id;
            (wave.pc, wave.mode, wave.scc, wave.resume) = (pc, mode, 0, resume);
            let ids = wave.vgprs_stale[0] as usize;
            let reads = region.code.reads(wave.exec() == u64::MAX);
            clear_those(wave, reads, ids..VGPRS);
            let written = VGPRS + wave.agprs_touched as usize;
            clear_those(wave, reads, VGPRS..written);
        }
    }

    /// What the last wave burned of its fuel.
    fn burned(&self) -> u64 {
        u64::from(self.ctx.fuel_quantum.saturating_sub(self.ctx.fuel))
    }
}

impl<'e, const PROFILE: bool> JitSession<'e, PROFILE> {
    pub(super) fn new(engine: &'e JitEngine) -> Self {
        JitSession {
            nearby: Nearby {
                engine,
                last: None,
                other: None,
            },
            machine: Machine::new(engine),
        }
    }

    /// Runs the region at the PC once, from its beginning; a yield means that the wave continues.
    pub(super) fn step(
        &mut self,
        wave: &mut WaveState,
        group: &mut Group<'_>,
    ) -> Result<Exit, WaveFault> {
        wave.resume = 0;
        wave.settle();
        let (pc, lane) = (wave.pc, None);
        let engine = self.nearby.engine;
        let region = engine.region(Key::new(wave, group, 0), group);
        let region = region.map_err(|kind| WaveFault { kind, pc, lane })?;
        self.machine.surround(group);
        let mut host = Host::new(group);
        admit(wave, &region);
        self.machine.prepare(&region, 0, 0);
        let exit = self.machine.enter((engine, &region), wave, &mut host);
        wave.resume = 0;
        Ok(match exit {
            ExitCode::Continue | ExitCode::Yield => Exit::Yield,
            ExitCode::End => Exit::End,
            ExitCode::Barrier => Exit::Barrier,
            ExitCode::Fault => return Err(fault(wave, &mut host)),
            ExitCode::Interpret => {
                let flow = engine.interpret(wave, host.group)?;
                flow.exit(&mut 0).unwrap_or(Exit::Yield)
            }
        })
    }

    /// Runs the ready waves that are at the same place as the first of them, as long as each of
    /// them ends or arrives at a barrier without leaving the region; returns why to stop, if so.
    /// This loop is the overhead of a wave.
    fn together(
        &mut self,
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        host: &mut Host<'_, '_>,
        fuel: u64,
    ) -> Option<Stop> {
        let engine = self.nearby.engine;
        let index = sets.ready.trailing_zeros();
        let wave = &waves[index as usize];
        let (token, place) = (wave.resume, (wave.pc, wave.mode));
        let fresh = token & WaveState::FRESH != 0;
        let (region, entry) = match self.nearby.next(wave, host.group, token) {
            Ok(next) => next,
            Err(kind) => {
                sets.ready &= sets.ready - 1;
                let (pc, lane) = (wave.pc, None);
                return Some(Stop::Fault(index, WaveFault { kind, pc, lane }));
            }
        };
        self.machine.prepare(region, entry, fuel);
        // The token names the region and where to enter it, but for new waves.
        let stands_there =
            |wave: &WaveState| wave.resume == token && (!fresh || (wave.pc, wave.mode) == place);
        if region.switches_waves
            && !PROFILE
            && sets.ready == u32::MAX >> (32 - waves.len())
            && host.group.scratch.lane_bytes == 0
            && host.group.memory.sanitizer().is_none()
            && waves.iter().all(|wave| stands_there(wave))
        {
            for wave in &mut *waves {
                admit(wave, region);
                if fresh {
                    clear(wave, region);
                }
            }
            let follows = fresh && sets.following.count != 0 && may_follow(waves, region);
            if follows {
                let starts = waves.iter().map(|wave| wave.sgpr);
                self.machine.starts.clear();
                self.machine.starts.extend(starts);
            }
            let (exit, index) = loop {
                let back = self.machine.relay((engine, region), waves, sets, host);
                let end = back.0 == ExitCode::End && sets.ready | sets.waiting == 0;
                let more = follows && end && sets.following.count != 0;
                // Registers of a wave whose `start` is 0 were written elsewhere.
                if !more || waves.iter().any(|wave| wave.start == 0) {
                    break back;
                }
                self.machine.prepare(region, entry, fuel);
                self.machine.start_next(region, place, waves, sets, host);
            };
            if fresh && self.machine.ctx.entry == entry {
                // Those that have not begun may begin with another region, which reads other registers.
                for wave in &mut waves[index as usize + 1..] {
                    wave.vgprs_stale[1] = wave.vgprs_touched;
                    wave.clear_agprs();
                }
            }
            if matches!(exit, ExitCode::Barrier | ExitCode::End) {
                return None;
            }
            let wave = (index, &mut *waves[index as usize]);
            return self.onward(exit, wave, sets, host, fuel);
        }
        while sets.ready != 0 {
            let index = sets.ready.trailing_zeros();
            let wave = &mut *waves[index as usize];
            if !stands_there(wave) {
                break;
            }
            sets.ready &= sets.ready - 1;
            host.group.select(index);
            wave.resume = 0;
            admit(wave, region);
            if fresh {
                clear(wave, region);
            }
            let exit = self.machine.enter((engine, region), wave, host);
            if exit == ExitCode::Barrier {
                sets.waiting |= 1 << index;
            } else if exit == ExitCode::End {
                note_end(wave, region, fresh);
            } else {
                return self.onward(exit, (index, wave), sets, host, fuel);
            }
        }
        None
    }

    /// The wave with this number, which had this fuel, has left a region other than by its end or
    /// at a barrier: runs it on if it continues; returns why to stop, if so.
    fn onward(
        &mut self,
        exit: ExitCode,
        (index, wave): (u32, &mut WaveState),
        sets: &mut WaveSets,
        host: &mut Host<'_, '_>,
        fuel: u64,
    ) -> Option<Stop> {
        let mut fuel = fuel.saturating_sub(self.machine.burned());
        let exit = match self.left(exit, wave, host, &mut fuel) {
            Some(exit) => exit,
            None => self.wave(wave, host, &mut fuel),
        };
        sets.left(index, exit)
    }

    /// Runs the workgroups that follow one of which all waves have ended, as long as all of theirs
    /// do so, too, without leaving the region and without having overwritten their initial
    /// registers, and together burn less than one wave's fuel; returns why to stop, if so. The
    /// inner loop is the whole overhead of such a wave.
    fn follow(
        &mut self,
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        host: &mut Host<'_, '_>,
        fuel: u64,
    ) -> Option<Stop> {
        let engine = self.nearby.engine;
        let Following { number, resume, .. } = sets.following;
        let last = self.nearby.last.as_ref()?;
        let region = &*last.region;
        let as_before = |wave: &WaveState| {
            wave.kept != 0
                && wave.kept == wave.start
                && last.key.begins(wave, resume & WaveState::START)
                && is_clear(wave, region)
        };
        if PROFILE || region.retranslate || !waves.iter().all(|wave| as_before(wave)) {
            return None;
        }
        self.machine.prepare(region, 0, fuel);
        let mut left = fuel;
        while sets.following.count != 0 && left != 0 {
            let id = begin_next(sets, host.group);
            for index in 0..waves.len() {
                let wave = &mut *waves[index];
                wave.sgpr[number] = id;
                host.group.select(index as u32);
                let exit = self.machine.enter((engine, region), wave, host);
                if exit == ExitCode::End && wave.start != 0 {
                    left = left.saturating_sub(self.machine.burned());
                    continue;
                }
                // The workgroup is no longer the one that `kept` refers to.
                wave.kept = 0;
                for wave in &mut waves[index + 1..] {
                    wave.sgpr[number] = id;
                    wave.clear_agprs();
                    wave.kept = 0;
                    wave.resume = resume;
                    wave.vgprs_stale[1] = wave.vgprs_touched;
                }
                sets.ready = ((1 << waves.len()) - 1) & !((2 << index) - 1);
                let wave = (index as u32, &mut *waves[index]);
                return self.onward(exit, wave, sets, host, fuel);
            }
        }
        None
    }

    /// Runs a wave as [`crate::Engine::run`] does.
    fn wave(&mut self, wave: &mut WaveState, host: &mut Host<'_, '_>, fuel: &mut u64) -> Exit {
        let engine = self.nearby.engine;
        loop {
            let token = std::mem::take(&mut wave.resume);
            let (region, entry) = match self.nearby.next(wave, host.group, token) {
                Ok(next) => next,
                Err(kind) => {
                    let (pc, lane) = (wave.pc, None);
                    return Exit::Fault(WaveFault { kind, pc, lane });
                }
            };
            if wave.has_stale_vgprs() {
                clear(wave, region);
            }
            admit(wave, region);
            self.machine.prepare(region, entry, *fuel);
            let exit = self.machine.enter((engine, region), wave, host);
            *fuel = fuel.saturating_sub(self.machine.burned());
            if let Some(exit) = self.left(exit, wave, host, fuel) {
                return exit;
            }
        }
    }

    /// A wave has left a region: why it stops, unless it continues.
    fn left(
        &mut self,
        exit: ExitCode,
        wave: &mut WaveState,
        host: &mut Host<'_, '_>,
        fuel: &mut u64,
    ) -> Option<Exit> {
        let engine = self.nearby.engine;
        match exit {
            ExitCode::Continue => None,
            ExitCode::Fault => Some(Exit::Fault(fault(wave, host))),
            ExitCode::End => Some(Exit::End),
            ExitCode::Barrier => Some(Exit::Barrier),
            ExitCode::Yield => {
                *fuel = 0;
                Some(Exit::Yield)
            }
            ExitCode::Interpret => {
                let flow = match PROFILE {
                    true => engine.interpret_noted(wave, host.group),
                    false => engine.interpret(wave, host.group),
                };
                match flow.map(|flow| flow.exit(fuel)) {
                    Ok(exit) => exit,
                    Err(fault) => Some(Exit::Fault(fault)),
                }
            }
        }
    }

    /// As [`crate::Engine::run`].
    pub(super) fn run_one(
        &mut self,
        wave: &mut WaveState,
        group: &mut Group<'_>,
        fuel: &mut u64,
    ) -> Exit {
        self.nearby.settle(group);
        self.machine.surround(group);
        self.wave(wave, &mut Host::new(group), fuel)
    }
}

impl<const PROFILE: bool> Session for JitSession<'_, PROFILE> {
    fn run(
        &mut self,
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        group: &mut Group<'_>,
        fuel: u64,
    ) -> Stop {
        self.nearby.settle(group);
        self.machine.surround(group);
        let mut host = Host::new(group);
        while sets.ready != 0 {
            if let Some(stop) = self.together(waves, sets, &mut host, fuel) {
                return stop;
            }
            if sets.following.count != 0
                && sets.ready | sets.waiting == 0
                && let Some(stop) = self.follow(waves, sets, &mut host, fuel)
            {
                return stop;
            }
        }
        Stop::All
    }
}

/// The fault of code that returned one. The baseline tier leaves the wave's location to the fault.
#[cold]
fn fault(wave: &mut WaveState, host: &mut Host<'_, '_>) -> WaveFault {
    let fault = host.fault.take().expect("bug: a fault without its cause");
    wave.pc = fault.pc;
    fault
}

/// Before any region of a wave.
#[inline]
fn admit(wave: &mut WaveState, region: &Region) {
    wave.vgprs_touched = wave.vgprs_touched.max(region.vgprs);
    wave.agprs_touched = wave.agprs_touched.max(region.agprs);
}

/// Of the VGPRs that the dispatch left uninitialized, does the region read none but the work-item
/// ids? This is the usual case.
#[inline]
fn is_clear(wave: &WaveState, region: &Region) -> bool {
    let full = wave.exec() == u64::MAX;
    region.reads_end[usize::from(full)] <= wave.vgprs_stale[0]
}

/// Before the first region of a wave: zeroes the stale VGPRs that the region may read before it
/// writes them, including at exits.
#[inline]
fn clear(wave: &mut WaveState, region: &Region) {
    if !is_clear(wave, region) {
        clear_some(wave, region.code.reads(wave.exec() == u64::MAX));
    }
    // Nonzero VGPRs are below `vgprs_touched`, so that the next wave here does not see them.
    wave.vgprs_stale[1] = 0;
}

/// At the end of a wave that ran only `region`, from its start if it was `fresh`: records whether
/// its registers still have their initial values.
#[inline]
fn note_end(wave: &mut WaveState, region: &Region, fresh: bool) {
    let ids = wave.vgprs_stale[0];
    // Code with wave switches writes scalar registers to the waves.
    if fresh && !region.switches_waves && ids <= region.writes_from {
        wave.kept = wave.start;
    }
}

/// The first of the workgroups that follow begins; gives its number.
#[inline]
fn begin_next(sets: &mut WaveSets, group: &mut Group<'_>) -> u32 {
    sets.following.count -= 1;
    group.workgroup[0] += 1;
    if group.lds.size() != 0 {
        group.lds.reset(group.lds.size() as usize);
    }
    group.workgroup[0]
}

/// Can the waves of a workgroup that is about to begin be restarted as those of the next one when
/// they have ended in a region with wave switches? None may burn uncounted fuel or write work-item
/// ids.
fn may_follow(waves: &[Box<WaveState>], region: &Region) -> bool {
    let keeps = |wave: &WaveState| wave.start != 0 && wave.vgprs_stale[0] <= region.writes_from;
    region.straight && waves.iter().all(|wave| keeps(wave))
}

/// Makes those stale VGPRs 0 of which the bits are set.
fn clear_some(wave: &mut WaveState, which: &VectorBits) {
    let [first, end] = wave.vgprs_stale.map(|n| n as usize);
    clear_those(wave, which, first..end);
}

/// VGPRs of a wave.
const VGPRS: usize = FIRST_AGPR as usize;

/// Makes those vector registers within a range 0 of which the bits are set.
#[inline]
fn clear_those(wave: &mut WaveState, which: &VectorBits, range: Range<usize>) {
    let words = range.start / 64..range.end.div_ceil(64).max(range.start / 64);
    for word in words {
        let mut bits = which[word];
        while bits != 0 {
            let n = word * 64 + bits.trailing_zeros() as usize;
            if range.contains(&n) {
                *wave.vector_mut(n) = [0; LANES];
            }
            bits &= bits - 1;
        }
    }
}
