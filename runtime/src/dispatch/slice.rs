//! Decides when a workgroup gives its worker to another one.
//!
//! A workgroup whose waves are the same whenever they have burned their fuel polls memory: it gives
//! its worker away at once, and has little fuel when it continues, until something has changed. A loop
//! that counts its polls changes a register, so it is not recognized by that. For it a short slice is
//! the limit if its next instructions are loads or atomics that bypass the caches. A workgroup that
//! computes keeps its worker, and its data in the host's caches, for a long slice.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use frontend::{Encoding, Op, WaveState};

use crate::LoadedCode;

/// Slice of a workgroup that may poll.
const SHORT: Duration = Duration::from_millis(2);

/// Slice of one that computes.
const LONG: Duration = Duration::from_millis(200);

/// Fuel of the waves of a workgroup that polled when it gave way.
const POLL_FUEL: u64 = 16;

/// Instructions from the beginning of a loop on that are searched for a poll.
const LOOKAHEAD: u32 = 64;

/// Barriers of a workgroup between two looks at it: code between them may be short.
const BARRIERS: u32 = 16;

/// Time between two digests of waves with full fuel. In a short loop a digest takes as long as a large
/// part of the fuel.
const DIGEST_INTERVAL: Duration = Duration::from_micros(100);

/// The current slice of a workgroup.
pub(super) struct Slice {
    clock: Clock,
    /// Digest of the waves' registers, and when it was taken.
    digest: u64,
    taken: Option<Duration>,
    /// No wave has ended or arrived at a barrier since.
    unchanged: bool,
    /// The time of the first look.
    begin: Option<Duration>,
    /// The fuel of a wave.
    fuel: u64,
    /// The most.
    full: u64,
    /// Barriers since the last look.
    barriers: u32,
    /// The place looked at last: may it be in a loop that polls?
    place: Option<(u64, bool)>,
}

/// What the time of a slice is measured by.
pub(super) enum Clock {
    /// The host's clock: since when, the first look.
    Host(Option<Instant>),
    /// Looks, each of which takes as long as the time between two digests, so that a dispatch on one
    /// thread takes the same course every time: how many there were.
    Looks(u32),
}

impl Clock {
    /// `steady`: see [`Settings`](super::Settings).
    pub(super) fn new(steady: bool) -> Clock {
        match steady {
            true => Clock::Looks(0),
            false => Clock::Host(None),
        }
    }

    /// The time at a look.
    fn look(&mut self) -> Duration {
        match self {
            Clock::Host(since) => since.get_or_insert_with(Instant::now).elapsed(),
            Clock::Looks(looks) => {
                *looks = looks.saturating_add(1);
                DIGEST_INTERVAL * *looks
            }
        }
    }
}

/// What a look at a workgroup has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// It goes on.
    Runs,
    /// Nothing has changed: it polls.
    Polls,
    /// Its slice is over.
    Over,
}

impl Slice {
    /// Of a workgroup that begins, whose waves have this fuel; at first little if it `waits` like
    /// others.
    pub(super) fn new(full: u64, waits: bool, clock: Clock) -> Slice {
        Slice {
            clock,
            digest: 0,
            taken: None,
            unchanged: true,
            begin: None,
            fuel: if waits { POLL_FUEL.min(full) } else { full },
            full,
            barriers: 0,
            place: None,
        }
    }

    /// Of the next run of a wave.
    pub(super) fn fuel(&self) -> u64 {
        self.fuel
    }

    /// A new slice begins.
    pub(super) fn restart(&mut self) {
        self.begin = None;
    }

    /// Waves have arrived at a barrier. Is it time for a look?
    #[inline]
    pub(super) fn arrive(&mut self) -> bool {
        self.barriers += 1;
        if self.barriers < BARRIERS {
            return false;
        }
        self.barriers = 0;
        true
    }

    /// The waves with these bits have stopped, `unchanged` if none of the workgroup has ended or arrived at
    /// a barrier since the last look.
    pub(super) fn look(
        &mut self,
        code: &LoadedCode,
        waves: &[Box<WaveState>],
        (stopped, unchanged): (u32, bool),
    ) -> Look {
        let now = self.clock.look();
        self.unchanged &= unchanged;
        if self.fuel == self.full
            && self
                .taken
                .is_some_and(|taken| now - taken < DIGEST_INTERVAL)
        {
            return Look::Runs;
        }
        self.taken = Some(now);
        let digest = digest(waves, stopped);
        let same = std::mem::replace(&mut self.digest, digest) == digest;
        if std::mem::replace(&mut self.unchanged, true) && same {
            self.fuel = POLL_FUEL.min(self.full);
            return Look::Polls;
        }
        self.fuel = (self.fuel * 2).min(self.full);
        let age = now - *self.begin.get_or_insert(now);
        let over = age >= LONG || age >= SHORT && self.may_poll(code, waves, stopped);
        if over { Look::Over } else { Look::Runs }
    }

    /// May one of these waves be in a loop that polls?
    fn may_poll(&mut self, code: &LoadedCode, waves: &[Box<WaveState>], stopped: u32) -> bool {
        let mut stopped = (0..).zip(waves).filter(|&(n, _)| stopped >> n & 1 == 1);
        stopped.any(|(_, wave)| {
            let place = self.place.filter(|&(pc, _)| pc == wave.pc);
            let (_, polls) = *self
                .place
                .insert(place.unwrap_or_else(|| (wave.pc, begins_polling_loop(code, wave.pc))));
            polls
        })
    }
}

/// Does the straight code from here on, with which a loop begins, read memory past the caches?
fn begins_polling_loop(code: &LoadedCode, mut pc: u64) -> bool {
    for _ in 0..LOOKAHEAD {
        let Ok(inst) = code.inst_at(pc) else {
            return false;
        };
        let load = matches!(inst.op(), Op::Load(..)) && inst.mem.glc;
        let lds = inst.desc.encoding == Encoding::Ds;
        match inst.op() {
            Op::Atomic(..) if !lds => return true,
            // It empties the caches before the next load.
            Op::CacheCtl => return true,
            Op::Endpgm | Op::SetPc => return false,
            _ if load => return true,
            _ => pc += u64::from(inst.len),
        }
    }
    false
}

/// Digest of scalar registers and one active lane's vector registers.
fn digest(waves: &[Box<WaveState>], which: u32) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (_, wave) in (0..).zip(waves).filter(|&(n, _)| which >> n & 1 == 1) {
        let lane = wave.exec().trailing_zeros() as usize % frontend::state::LANES;
        let vgprs = wave.vgprs_touched.min(256) as usize;
        (wave.pc, wave.scc, &wave.sgpr).hash(&mut hasher);
        for register in wave.vgpr[..vgprs].iter().chain(wave.touched_agprs()) {
            hasher.write_u32(register[lane]);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use frontend::Gfx;

    use super::*;
    use crate::Memory;
    use crate::memory::Options;

    /// Code of these words.
    fn code(words: &[u32]) -> (Memory, LoadedCode) {
        let memory = Memory::with_options(Options {
            reserve: 64 << 20,
            exact: false,
            ..Options::default()
        });
        let memory = memory.expect("there is address space");
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let code = LoadedCode::from_bytes(&memory, Gfx::Gfx906, &bytes).expect("there is memory");
        (memory, code)
    }

    #[test]
    fn waves_that_stay_the_same_poll() {
        let (_memory, code) = code(&[0xbf81_0000]);
        let waves = [WaveState::new_boxed(), WaveState::new_boxed()];
        let mut slice = Slice::new(2048, false, Clock::new(false));
        assert_eq!(slice.look(&code, &waves, (3, true)), Look::Runs);
        assert_eq!(
            slice.look(&code, &waves, (3, true)),
            Look::Runs,
            "too early"
        );
        std::thread::sleep(DIGEST_INTERVAL);
        for _ in 0..3 {
            assert_eq!(slice.look(&code, &waves, (3, true)), Look::Polls);
            assert_eq!(slice.fuel(), POLL_FUEL);
        }
        assert_eq!(slice.look(&code, &waves, (3, false)), Look::Runs);
        assert_eq!(slice.fuel(), 2 * POLL_FUEL);
    }

    #[test]
    fn a_steady_slice_is_over_after_the_same_number_of_looks() {
        let (_memory, code) = code(&[0xbf81_0000]);
        let over = || {
            let mut waves = [WaveState::new_boxed()];
            let mut slice = Slice::new(2048, false, Clock::new(true));
            (0..10_000).find(|_| {
                waves[0].sgpr[7] += 1;
                slice.look(&code, &waves, (1, true)) == Look::Over
            })
        };
        assert_eq!((over(), over()), (Some(2000), Some(2000)));
    }

    #[test]
    fn one_wave_that_moves_is_enough() {
        let (_memory, code) = code(&[0xbf81_0000]);
        let mut waves = [WaveState::new_boxed(), WaveState::new_boxed()];
        let mut slice = Slice::new(2048, true, Clock::new(false));
        for n in 0..100 {
            waves[1].set_exec(1 << 5);
            waves[1].vgprs_touched = 4;
            match n % 2 {
                0 => waves[1].sgpr[7] += 1,
                _ => waves[1].vgpr[3][5] += 1,
            }
            assert_eq!(slice.look(&code, &waves, (3, true)), Look::Runs);
        }
    }

    #[test]
    fn polls_are_seen_ahead() {
        // s_sleep 1; global_load_dword v1, v[2:3], off glc; s_branch
        let poll = [0xbf8e_0001, 0xdc51_8000, 0x017f_0002, 0xbf82_fffc];
        let (_memory, code) = code(&poll);
        assert!(begins_polling_loop(&code, code.base()));
        assert!(!begins_polling_loop(&code, code.base() + 12));
    }
}
