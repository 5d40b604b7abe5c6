//! Finds dispatches that wait for themselves: every worker runs a workgroup that polls global
//! memory while workgroups that could write there have not begun, and cannot begin because a
//! workgroup runs to its end before its worker takes the next.
//!
//! A workgroup is examined only after it has run for some time. It polls if its registers are the
//! same at samples far apart, and if the interpreter, which then runs its waves for some
//! instructions, finds that each wave repeats the same instructions with the same registers and the
//! same loaded values, at least one of them from global memory. A loop that computes changes a
//! register, and a loop that counts in memory loads another value in each iteration, so neither
//! counts as polling.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::time::{Duration, Instant};

use frontend::inst::Operand;
use frontend::op::Space;
use frontend::{Encoding, Inst, Op, WaveState};

use crate::engine::{Exit, Group, PRIVATE_BASE, SHARED_BASE, Stop, WaveSets};
use crate::fault::Location;
use crate::interp::{self, Flow};

/// A dispatch that seems to wait for itself. It continues.
#[derive(Clone, Debug, PartialEq)]
pub struct GridWait {
    /// A load or an atomic instruction that the lowest workgroup repeats.
    pub at: Location,
    /// Minimum time in seconds for which all workers have polled.
    pub seconds: f64,
    /// Workgroups that have not begun.
    pub not_begun: u64,
    /// Workgroups of the dispatch.
    pub total: u64,
}

impl fmt::Display for GridWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GridWait {
            at,
            seconds,
            not_begun,
            total,
        } = self;
        let running = match total - not_begun {
            1 => "the workgroup that has begun polls".to_owned(),
            _ => "all workgroups that run poll".to_owned(),
        };
        write!(
            f,
            "kernel {} seems to wait for itself: for {seconds:.1} s {running} memory that does not change\n{at}\n   \
             {not_begun} of {total} workgroups have not begun: a workgroup runs to its end before its worker takes the \
             next, so it must not wait for what a later one writes; {total} worker threads run all of them at once",
            at.kernel
        )
    }
}

/// Timing of the examination of workgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaitTiming {
    /// Age from which on a workgroup is examined.
    suspect: Duration,
    /// Time for which it must have polled.
    pub(super) confirm: Duration,
}

impl WaitTiming {
    /// For a dispatch with this time limit, before which it must be reported.
    pub(super) fn new(limit: Option<Duration>) -> WaitTiming {
        const STEP: Duration = Duration::from_secs(1);
        let step = limit.map_or(STEP, |limit| (limit / 6).min(STEP));
        WaitTiming {
            suspect: step,
            confirm: step,
        }
    }
}

/// Time between two samples of a workgroup's registers.
const SAMPLE: Duration = Duration::from_millis(20);

/// Maximum age of the registers that samples are compared with.
const LONGEST: Duration = Duration::from_secs(8);

/// Rounds of barriers between two reads of the clock: they may be short.
const ROUNDS: u32 = 16;

/// A polling workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Poll {
    /// The wave, and the instruction that it repeats.
    pub(super) wave: u32,
    pub(super) pc: u64,
    pub(super) exec: u64,
    /// Digest of the repeated reads: unchanged as long as memory is.
    digest: u64,
    /// It has polled from this time on.
    pub(super) since: Instant,
    /// It still polled then.
    pub(super) until: Instant,
}

/// Result of the examination of a workgroup since the last call.
pub(super) enum Finding {
    /// Nothing.
    None,
    /// It polls, and has done so for some time.
    Polls(Poll),
    /// It does not poll, or no longer does.
    Moves,
}

/// Watches one workgroup.
pub(super) struct Watch {
    /// `None` disables the examination.
    timing: Option<WaitTiming>,
    /// Rounds of barriers since the last look.
    rounds: u32,
    suspect: Option<Box<Suspect>>,
}

/// A workgroup that has run for a while.
struct Suspect {
    /// Time of the next sample.
    next: Instant,
    /// Registers at an earlier time, and for how long they are compared with.
    reference: Option<Reference>,
    keep: Duration,
    tracer: Option<Tracer>,
    poll: Option<Poll>,
}

/// A workgroup's registers.
struct Reference {
    taken: Instant,
    ready: u32,
    waiting: u32,
    waves: Vec<Box<WaveState>>,
}

impl Watch {
    pub(super) fn new(timing: Option<WaitTiming>) -> Watch {
        Watch {
            timing,
            rounds: 0,
            suspect: None,
        }
    }

    /// Runs the waves in place of the engine while their instructions are traced.
    pub(super) fn tracer(&mut self) -> Option<&mut Tracer> {
        self.suspect.as_mut()?.tracer.as_mut()
    }

    /// All runnable waves of the workgroup have arrived at a barrier, or some of them have `burned`
    /// their fuel, and it continues.
    #[inline]
    pub(super) fn look(
        &mut self,
        burned: bool,
        waves: &[Box<WaveState>],
        sets: &WaveSets,
    ) -> Finding {
        self.rounds += if burned { ROUNDS } else { 1 };
        match self.timing {
            Some(timing) if self.rounds >= ROUNDS => self.examine(timing, waves, sets),
            _ => Finding::None,
        }
    }

    #[cold]
    fn examine(
        &mut self,
        timing: WaitTiming,
        waves: &[Box<WaveState>],
        sets: &WaveSets,
    ) -> Finding {
        self.rounds = 0;
        let now = Instant::now();
        let suspect = self.suspect.get_or_insert_with(|| {
            Box::new(Suspect {
                next: now + timing.suspect,
                reference: None,
                keep: timing.confirm,
                tracer: None,
                poll: None,
            })
        });
        suspect.examine(now, timing, waves, sets)
    }
}

impl Suspect {
    fn examine(
        &mut self,
        now: Instant,
        timing: WaitTiming,
        waves: &[Box<WaveState>],
        sets: &WaveSets,
    ) -> Finding {
        if let Some(tracer) = &self.tracer {
            if !tracer.is_done(sets.ready) {
                return Finding::None;
            }
            let found = tracer.poll(sets.ready, waves, now);
            (self.tracer, self.reference) = (None, None);
            return self.conclude(found, now, timing);
        }
        if now < self.next {
            return Finding::None;
        }
        self.next = now + SAMPLE.min(timing.confirm / 4);
        match &self.reference {
            Some(reference) if reference.holds(waves, sets) => {
                self.tracer = Some(Tracer::new(waves));
                Finding::None
            }
            Some(reference) if now - reference.taken < self.keep => Finding::None,
            reference => {
                // A workgroup whose registers change is copied at increasing intervals.
                let moves = reference.is_some();
                if moves {
                    self.keep = (self.keep * 2).min(LONGEST);
                }
                self.reference = Some(Reference::new(waves, sets, now));
                match moves && self.poll.take().is_some() {
                    true => Finding::Moves,
                    false => Finding::None,
                }
            }
        }
    }

    /// A trace has ended.
    fn conclude(&mut self, found: Option<Poll>, now: Instant, timing: WaitTiming) -> Finding {
        let Some(found) = found else {
            self.keep = (self.keep * 2).min(LONGEST);
            self.next = now + self.keep;
            self.poll = None;
            return Finding::Moves;
        };
        self.keep = timing.confirm;
        self.next = now + timing.confirm;
        match &mut self.poll {
            Some(poll) if poll.digest == found.digest => {
                poll.until = now;
                Finding::Polls(*poll)
            }
            poll => {
                *poll = Some(found);
                Finding::Moves
            }
        }
    }
}

impl Reference {
    fn new(waves: &[Box<WaveState>], sets: &WaveSets, taken: Instant) -> Reference {
        Reference {
            taken,
            ready: sets.ready,
            waiting: sets.waiting,
            waves: waves.to_vec(),
        }
    }

    /// Are the registers of all waves that have not ended the same?
    fn holds(&self, waves: &[Box<WaveState>], sets: &WaveSets) -> bool {
        let live = sets.ready | sets.waiting;
        let mut pairs = self.waves.iter().zip(waves).enumerate();
        (self.ready, self.waiting) == (sets.ready, sets.waiting)
            && pairs.all(|(index, (a, b))| live >> index & 1 == 0 || same_registers(a, b))
    }
}

fn same_registers(a: &WaveState, b: &WaveState) -> bool {
    let vgprs = a.vgprs_touched.max(b.vgprs_touched).min(256) as usize;
    (a.pc, a.scc, a.mode) == (b.pc, b.scc, b.mode)
        && a.sgpr == b.sgpr
        && a.vgpr[..vgprs] == b.vgpr[..vgprs]
}

/// Number of instructions of a wave that are run to find its loop.
const BUDGET: u32 = 1 << 14;

/// Instructions that a wave runs before the next wave runs.
const QUANTUM: u32 = 1 << 11;

/// Runs the waves of a workgroup by the interpreter and finds their loops.
pub(super) struct Tracer {
    waves: Vec<Trace>,
}

/// The search for a wave's loop, by Brent's method: the registers are compared with those of a step that is replaced by a later one
/// after twice as many steps each time.
struct Trace {
    /// Remaining number of instructions.
    left: u32,
    reference: Box<WaveState>,
    /// Instructions since the reference, and their maximum.
    steps: u32,
    limit: u32,
    /// Reads since the reference.
    reads: Vec<Read>,
    /// The reads of the previous iteration, if it ended with the same registers.
    before: Option<Vec<Read>>,
    /// The reads of each iteration, when found.
    found: Option<Vec<Read>>,
}

/// A read of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Read {
    pc: u64,
    /// Of global memory.
    global: bool,
    /// An atomic, or a load that bypasses caches: the most likely polled address.
    coherent: bool,
    /// A digest of the value read.
    value: u64,
}

impl Tracer {
    fn new(waves: &[Box<WaveState>]) -> Tracer {
        let traces = waves.iter().map(|wave| Trace {
            left: BUDGET,
            reference: wave.clone(),
            steps: 0,
            limit: 64,
            reads: Vec::new(),
            before: None,
            found: None,
        });
        Tracer {
            waves: traces.collect(),
        }
    }

    /// Runs waves in place of [`crate::engine::Session::run`].
    pub(super) fn run(
        &mut self,
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        group: &mut Group<'_>,
    ) -> Stop {
        sets.each(|index| {
            group.select(index);
            let wave = &mut *waves[index as usize];
            // Writes registers without the engine's knowledge.
            wave.settle();
            wave.vgprs_touched = wave.vgprs_touched.max(wave.vgpr_count);
            (wave.resume, wave.start, wave.kept) = (0, 0, 0);
            self.waves[index as usize].run(wave, group)
        })
    }

    /// Is the examination of the ready waves complete?
    fn is_done(&self, ready: u32) -> bool {
        self.ready(ready)
            .all(|(_, trace)| trace.left == 0 || trace.found.is_some())
    }

    fn ready(&self, ready: u32) -> impl Iterator<Item = (usize, &Trace)> {
        let waves = self.waves.iter().enumerate();
        waves.filter(move |&(index, _)| ready >> index & 1 == 1)
    }

    /// How the workgroup polls, if all waves that are ready repeat themselves and one of them reads global memory.
    fn poll(&self, ready: u32, waves: &[Box<WaveState>], now: Instant) -> Option<Poll> {
        let mut digest = 0u64;
        let mut first: Option<(usize, Read)> = None;
        for (index, trace) in self.ready(ready) {
            let reads = trace.found.as_ref()?;
            for read in reads {
                // The iteration may have begun anywhere, so the order does not matter.
                digest = digest.wrapping_add(read.value ^ read.pc.rotate_left(index as u32));
            }
            let global = reads.iter().filter(|read| read.global);
            let best = global.min_by_key(|read| (!read.coherent, read.pc));
            first = first.or(best.map(|&read| (index, read)));
        }
        let (wave, read) = first?;
        Some(Poll {
            wave: wave as u32,
            pc: read.pc,
            exec: waves[wave].exec(),
            digest,
            since: now,
            until: now,
        })
    }
}

impl Trace {
    /// Runs the wave for some instructions.
    fn run(&mut self, wave: &mut WaveState, group: &mut Group<'_>) -> Exit {
        for _ in 0..QUANTUM.min(self.left) {
            self.left -= 1;
            let code = group.code;
            let Ok(inst) = code.inst_at(wave.pc) else {
                // The engine reports it.
                self.left = 0;
                break;
            };
            let pc = wave.pc;
            let global = read_of(inst, wave, group);
            interp::count(wave, group, inst);
            let flow = match interp::step(wave, group, inst) {
                Ok(flow) => flow,
                Err(fault) => return Exit::Fault(fault),
            };
            if let Some(global) = global {
                self.reads.push(Read {
                    pc,
                    global,
                    coherent: inst.mem.glc || matches!(inst.op(), Op::Atomic(..)),
                    value: digest(inst.dst[0], wave),
                });
            }
            self.note(wave);
            match flow {
                Flow::Next | Flow::Jump | Flow::Back => {}
                Flow::End => return Exit::End,
                Flow::Barrier => return Exit::Barrier,
            }
        }
        Exit::Yield
    }

    /// An instruction was run.
    fn note(&mut self, wave: &WaveState) {
        if self.found.is_some() {
            self.reads.clear();
            return;
        }
        self.steps += 1;
        if same_registers(wave, &self.reference) {
            let reads = std::mem::take(&mut self.reads);
            if self.before.as_ref() == Some(&reads) {
                self.found = Some(reads);
            } else {
                self.before = Some(reads);
            }
            self.steps = 0;
        } else if self.steps >= self.limit {
            *self.reference = wave.clone();
            self.reads.clear();
            (self.before, self.steps) = (None, 0);
            self.limit *= 2;
        }
    }
}

/// Does the instruction read memory into registers, and is it global memory?
fn read_of(inst: &Inst, wave: &WaveState, group: &Group<'_>) -> Option<bool> {
    if inst.dst[0] == Operand::None || inst.desc.src.is_empty() {
        return None;
    }
    let scalar = inst.desc.encoding == Encoding::Smem;
    let exec = wave.exec();
    if !scalar && exec == 0 {
        return None;
    }
    let lane = exec.trailing_zeros() as usize & 63;
    match inst.desc.encoding {
        Encoding::Smem => Some(!matches!(inst.op(), Op::Load(Space::ScalarScratch, _))),
        Encoding::Global | Encoding::Mimg => Some(true),
        Encoding::Ds | Encoding::Scratch => Some(false),
        Encoding::Flat => {
            let Operand::Vgpr(first) = inst.src[0] else {
                return Some(true);
            };
            let high = wave.vgpr.get(usize::from(first) + 1)?[lane];
            Some(![SHARED_BASE, PRIVATE_BASE].contains(&(u64::from(high) << 32)))
        }
        Encoding::Mubuf | Encoding::Mtbuf => {
            let Operand::Sgpr(first) = inst.src[1] else {
                return Some(true);
            };
            let base = wave.sgpr64(first) & ((1 << 48) - 1);
            // A descriptor of scratch holds the base of the workgroup's or the worker's.
            let first = group.scratch.base - u64::from(group.wave) * group.scratch.wave_bytes();
            let size = u64::from(group.waves) * group.scratch.wave_bytes();
            Some(base.wrapping_sub(first) >= size)
        }
        Encoding::Sop2
        | Encoding::Sopk
        | Encoding::Sop1
        | Encoding::Sopc
        | Encoding::Sopp
        | Encoding::Vop1
        | Encoding::Vop2
        | Encoding::Vopc
        | Encoding::Vop3
        | Encoding::Vop3p
        | Encoding::Vintrp
        | Encoding::Exp => None,
    }
}

/// Maximum number of registers that a load writes.
const MOST: usize = 16;

/// A digest of the registers that a load wrote.
fn digest(to: Operand, wave: &WaveState) -> u64 {
    let mut hasher = DefaultHasher::new();
    match to {
        Operand::Vgpr(first) => {
            let first = usize::from(first);
            for register in &wave.vgpr[first..(first + MOST).min(wave.vgpr.len())] {
                register.iter().for_each(|&word| hasher.write_u32(word));
            }
        }
        Operand::Sgpr(first) => {
            let first = usize::from(first) & 127;
            for &word in &wave.sgpr[first..(first + MOST).min(wave.sgpr.len())] {
                hasher.write_u32(word);
            }
        }
        Operand::None
        | Operand::Agpr(_)
        | Operand::Inline { .. }
        | Operand::Literal { .. }
        | Operand::Special(_)
        | Operand::Imm(_) => {}
    }
    hasher.finish()
}
