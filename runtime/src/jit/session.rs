//! One worker's way into the translator: what it ran last is at hand, so that entering a wave costs little
//! more than setting up its registers.

use std::cell::RefCell;
use std::ptr;
use std::rc::Rc;
use std::time::Instant;

use frontend::WaveState;
use frontend::state::LANES;
use lower::abi::{Context, ExitCode};
use lower::jit::Compiled;
use lower::profile::Shape;

use super::JitEngine;
use super::regions::{ENTRY_BITS, Key, Region};
use crate::engine::{Exit, Group, Session, Stop, Turn};
use crate::fault::{FaultKind, WaveFault};
use crate::helpers::Host;

thread_local! {
    /// Frame slots for the next session of this thread.
    static FRAME: RefCell<Vec<[u32; LANES]>> = const { RefCell::new(Vec::new()) };
}

/// Runs waves one after the other; `PROFILE` when the code counts.
pub(super) struct JitSession<'e, const PROFILE: bool> {
    engine: &'e JitEngine,
    /// The engine's generation, key and region of the last wave that began.
    last: Option<(u64, Key, Rc<Region>)>,
    /// Frame slots of the regions.
    frame: Vec<[u32; LANES]>,
    /// What code works with; all that depends on the wave is set before each entry.
    ctx: Context,
}

impl<const PROFILE: bool> Drop for JitSession<'_, PROFILE> {
    fn drop(&mut self) {
        FRAME.replace(std::mem::take(&mut self.frame));
    }
}

impl<'e, const PROFILE: bool> JitSession<'e, PROFILE> {
    pub(super) fn new(engine: &'e JitEngine) -> Self {
        JitSession {
            engine,
            last: None,
            frame: FRAME.take(),
            ctx: Context {
                wave: ptr::null_mut(),
                frame: ptr::null_mut(),
                arena_base: 0,
                arena_len: 0,
                lds: ptr::null_mut(),
                lds_len: 0,
                fuel: 0,
                functions: engine.functions.as_ptr(),
                entry: 0,
                resume: 0,
                ret: [0; 16],
                descriptors: [0; 12],
                instructions: 0,
                lane_instructions: 0,
                fallbacks: 0,
                counters: ptr::null_mut(),
                host: ptr::null_mut(),
            },
        }
    }

    /// The region that a wave begins with.
    #[inline]
    fn first(
        &mut self,
        wave: &WaveState,
        group: &mut Group<'_>,
        start: u64,
    ) -> Result<Rc<Region>, FaultKind> {
        let key = Key::new(wave, group, start);
        let now = self.engine.shared.generation();
        if let Some((then, known, region)) = &self.last
            && (*then, *known) == (now, key)
        {
            return Ok(Rc::clone(region));
        }
        let region = self.engine.region(key, group)?;
        self.last = Some((now, key, Rc::clone(&region)));
        Ok(region)
    }

    /// The region to run next and where to enter it. `token` is what the wave had in `resume`.
    fn next(
        &mut self,
        wave: &WaveState,
        group: &mut Group<'_>,
        token: u64,
    ) -> Result<(Rc<Region>, u32), FaultKind> {
        if token & WaveState::FRESH != 0 {
            return Ok((self.first(wave, group, token & WaveState::START)?, 0));
        }
        if let Some((then, _, region)) = &self.last
            && region.number as u64 + 1 == token >> ENTRY_BITS
            && *then == self.engine.shared.generation()
        {
            return Ok((Rc::clone(region), token as u32 & ((1 << ENTRY_BITS) - 1)));
        }
        self.other(wave, group, token)
    }

    /// The region to run next where it is not the one that the last wave began with.
    #[cold]
    #[inline(never)]
    fn other(
        &mut self,
        wave: &WaveState,
        group: &mut Group<'_>,
        token: u64,
    ) -> Result<(Rc<Region>, u32), FaultKind> {
        if let Some(back) = self.engine.left(token) {
            return Ok(back);
        }
        let key = Key::new(wave, group, 0);
        Ok((self.engine.region(key, group)?, 0))
    }

    /// Runs the region at the PC once, from its beginning; a yield says that the wave goes on.
    pub(super) fn step(
        &mut self,
        wave: &mut WaveState,
        group: &mut Group<'_>,
    ) -> Result<Exit, WaveFault> {
        wave.resume = 0;
        wave.settle();
        let (pc, lane) = (wave.pc, None);
        let region = self.engine.region(Key::new(wave, group, 0), group);
        let region = region.map_err(|kind| WaveFault { kind, pc, lane })?;
        let mut host = Host::new(group);
        let exit = self.enter(&region, 0, wave, &mut host, &mut 0);
        wave.resume = 0;
        Ok(match exit {
            ExitCode::Continue | ExitCode::Yield => Exit::Yield,
            ExitCode::End => Exit::End,
            ExitCode::Barrier => Exit::Barrier,
            ExitCode::Fault => return Err(fault(&mut host)),
            ExitCode::Interpret => {
                let flow = self.engine.interpret(wave, host.group)?;
                flow.exit(&mut 0).unwrap_or(Exit::Yield)
            }
        })
    }

    /// Makes the frame long enough for a region that uses `slots` of it; none that came before used so many.
    #[cold]
    fn enlarge(&mut self, slots: usize) {
        self.frame.resize(slots, [0; LANES]);
    }

    /// Runs a region once; the fault of [`ExitCode::Fault`] is in `host`. Inlined, and `wave` too: the calls
    /// would be a fifth of what coming back from a barrier costs.
    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "hands the wave and its surroundings to compiled code"
    )]
    fn enter(
        &mut self,
        region: &Region,
        entry: u32,
        wave: &mut WaveState,
        host: &mut Host<'_, '_>,
        fuel: &mut u64,
    ) -> ExitCode {
        let slots = region.code.frame_slots() as usize;
        if self.frame.len() < slots {
            self.enlarge(slots);
        }
        wave.vgprs_touched = wave.vgprs_touched.max(region.code.vgprs());
        let ticket = (*fuel).min(i32::MAX as u64) as u32;
        let ctx = &mut self.ctx;
        ctx.wave = ptr::from_mut(wave);
        ctx.frame = self.frame.as_mut_ptr();
        ctx.arena_base = host.group.memory.arena_base();
        ctx.arena_len = host.group.memory.limit();
        ctx.lds = host.group.lds.as_mut_ptr();
        ctx.lds_len = host.group.lds.size();
        ctx.fuel = ticket;
        ctx.entry = entry;
        ctx.resume = 0;
        ctx.host = ptr::from_mut(host).cast();
        let mut counts = Vec::new();
        if PROFILE {
            counts.resize(region.code.counters.len(), 0);
        }
        ctx.counters = counts.as_mut_ptr();
        let start = PROFILE.then(Instant::now);
        // SAFETY: the wave is exclusively ours, the frame has the slots that the region asks for, there
        // are as many counters as it has (none unless it profiles), the
        // LDS buffer belongs to the group, the function table is in the order of `functions`, the
        // arena up to its limit is mapped for as long as the memory lives, and `host` outlives the
        // call.
        let exit = unsafe { region.code.run(ctx) };
        if let Some(start) = start {
            counts[Shape::ENTERED] = 1;
            counts[Shape::NANOSECONDS] = start.elapsed().as_nanos() as u64;
            region.code.add_counts(&counts);
        }
        let burned = u64::from(ticket.saturating_sub(ctx.fuel));
        if host.group.counting {
            host.group.stats.instructions += std::mem::take(&mut ctx.instructions);
            host.group.stats.lane_instructions += std::mem::take(&mut ctx.lane_instructions);
        }
        *fuel = match exit {
            ExitCode::Yield => 0,
            _ => fuel.saturating_sub(burned),
        };
        if ctx.resume != 0 && matches!(exit, ExitCode::Barrier | ExitCode::Yield) {
            wave.resume = (region.number as u64 + 1) << ENTRY_BITS | u64::from(ctx.resume);
        }
        if region.quick {
            self.engine.warm(region, burned, host.group);
        }
        exit
    }

    /// Runs a wave as [`crate::Engine::run`] does.
    #[inline(always)]
    fn wave(&mut self, wave: &mut WaveState, host: &mut Host<'_, '_>, fuel: &mut u64) -> Exit {
        loop {
            let token = std::mem::take(&mut wave.resume);
            let (region, entry) = match self.next(wave, host.group, token) {
                Ok(next) => next,
                Err(kind) => {
                    let (pc, lane) = (wave.pc, None);
                    return Exit::Fault(WaveFault { kind, pc, lane });
                }
            };
            if wave.has_stale_vgprs() {
                clear(wave, &region.code);
            }
            match self.enter(&region, entry, wave, host, fuel) {
                ExitCode::Fault => return Exit::Fault(fault(host)),
                ExitCode::Continue => {}
                ExitCode::End => return Exit::End,
                ExitCode::Barrier => return Exit::Barrier,
                ExitCode::Yield => return Exit::Yield,
                ExitCode::Interpret => {
                    if PROFILE {
                        self.engine.note_interpreted(wave, host.group);
                    }
                    let flow = self.engine.interpret(wave, host.group);
                    match flow.map(|flow| flow.exit(fuel)) {
                        Ok(None) => {}
                        Ok(Some(exit)) => return exit,
                        Err(fault) => return Exit::Fault(fault),
                    }
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
        self.wave(wave, &mut Host::new(group), fuel)
    }
}

impl<const PROFILE: bool> Session for JitSession<'_, PROFILE> {
    fn run(
        &mut self,
        waves: &mut [Box<WaveState>],
        turn: &mut Turn,
        group: &mut Group<'_>,
        fuel: u64,
    ) -> Stop {
        let mut host = Host::new(group);
        turn.each(|index| {
            host.group.select(index);
            self.wave(&mut waves[index as usize], &mut host, &mut fuel.clone())
        })
    }
}

/// What went wrong in the code that said so.
#[cold]
fn fault(host: &mut Host<'_, '_>) -> WaveFault {
    host.fault.take().expect("bug: a fault without its cause")
}

/// Before the first region of a wave: makes 0 what the dispatch left to the engine of the VGPRs that the
/// region may read before it writes them, ways out included.
#[inline]
fn clear(wave: &mut WaveState, code: &Compiled) {
    let [first, end] = wave.vgprs_stale.map(|n| n as usize);
    let mut reads = *code.reads(wave.exec() == u64::MAX);
    // Mostly it reads the work-item ids alone, which are there.
    reads[0] &= u64::MAX.checked_shl(first as u32).unwrap_or(0);
    for (word, mut bits) in reads.into_iter().enumerate() {
        while bits != 0 {
            let n = word * 64 + bits.trailing_zeros() as usize;
            if n < end {
                wave.vgpr[n] = [0; LANES];
            }
            bits &= bits - 1;
        }
    }
    // What still is not 0 lies below `vgprs_touched`, so that the next wave here sees nothing of it.
    wave.vgprs_stale = [0; 2];
}
