//! Finds workgroups that poll memory.
//!
//! A workgroup is examined only after it has run for some time. It polls if its registers are the
//! same at samples far apart, and if the interpreter, which then runs its waves for some
//! instructions, finds that each wave repeats the same instructions with the same registers and the
//! same loaded values, at least one of them from global memory. A loop that computes changes a
//! register, and a loop that counts in memory loads another value in each iteration, so neither
//! counts as polling.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use frontend::WaveState;

use super::tracer::{Tracer, registers};
use crate::engine::WaveSets;

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
        let step = limit.map_or(STEP, |limit| (limit / 60).min(STEP));
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Poll {
    /// What its waves wait for.
    pub(super) waves: Vec<WaveWait>,
    /// The one of them that repeats a read of global memory which is the most likely poll.
    pub(super) first: usize,
    /// Digest of the repeated reads: unchanged as long as memory is.
    pub(super) digest: u64,
    /// It has polled from this time on.
    pub(super) since: Instant,
    /// The last time at which it was seen to poll.
    pub(super) until: Instant,
}

/// What a wave waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaveWait {
    /// Its number in the workgroup.
    pub(super) wave: u32,
    pub(super) pc: u64,
    pub(super) exec: u64,
    pub(super) what: What,
}

/// See [`WaveWait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Memory at this address, if it is known.
    Memory(Option<u64>),
    /// The other waves of its workgroup, at a barrier.
    Barrier,
    /// Others at this resource of the global wave sync.
    GlobalWaveSync(u8),
    /// Nothing that is known.
    Runs,
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

/// Digests of a workgroup's registers: there may be many workgroups.
struct Reference {
    taken: Instant,
    ready: u32,
    waiting: u32,
    waves: Vec<u64>,
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

    /// How the workgroup polls, as far as is known.
    pub(super) fn poll(&self) -> Option<&Poll> {
        self.suspect.as_ref()?.poll.as_ref()
    }

    /// All runnable waves of the workgroup have arrived at a barrier, or some of them have `burned`
    /// their fuel, and it continues. `unchanged`: their registers are as before.
    #[inline]
    pub(super) fn look(
        &mut self,
        (burned, unchanged): (bool, bool),
        waves: &[Box<WaveState>],
        sets: &WaveSets,
    ) -> Finding {
        self.rounds += if burned { ROUNDS } else { 1 };
        match self.timing {
            Some(timing) if self.rounds >= ROUNDS => self.examine(timing, unchanged, waves, sets),
            _ => Finding::None,
        }
    }

    #[cold]
    fn examine(
        &mut self,
        timing: WaitTiming,
        unchanged: bool,
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
        suspect.examine((now, timing), unchanged, waves, sets)
    }
}

impl Suspect {
    fn examine(
        &mut self,
        (now, timing): (Instant, WaitTiming),
        unchanged: bool,
        waves: &[Box<WaveState>],
        sets: &WaveSets,
    ) -> Finding {
        if let Some(tracer) = &self.tracer {
            if !tracer.is_done(sets.ready) {
                return Finding::None;
            }
            let found = tracer.poll(sets, waves, now);
            (self.tracer, self.reference) = (None, None);
            return self.conclude(found, now, timing);
        }
        if now < self.next {
            return Finding::None;
        }
        self.next = now + SAMPLE.min(timing.confirm / 4);
        match &self.reference {
            _ if unchanged => {
                self.tracer = Some(Tracer::new(waves));
                Finding::None
            }
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
                Finding::Polls(poll.clone())
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
            waves: waves.iter().map(|wave| digest(wave)).collect(),
        }
    }

    /// Are the registers of all waves that have not ended the same?
    fn holds(&self, waves: &[Box<WaveState>], sets: &WaveSets) -> bool {
        let live = sets.ready | sets.waiting;
        let mut pairs = self.waves.iter().zip(waves).enumerate();
        (self.ready, self.waiting) == (sets.ready, sets.waiting)
            && pairs.all(|(index, (&a, b))| live >> index & 1 == 0 || a == digest(b))
    }
}

/// A digest of a wave's registers.
fn digest(wave: &WaveState) -> u64 {
    let mut hasher = DefaultHasher::new();
    let (scalar, vector) = registers(wave);
    scalar.hash(&mut hasher);
    vector.hash(&mut hasher);
    hasher.finish()
}
