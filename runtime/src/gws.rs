//! The global wave sync (GWS): barriers and semaphores that the waves of all workgroups share. (Vega
//! ISA manual, `DS_GWS_*`)
//!
//! A wave that must wait stays at its instruction, which is executed again when the wave continues.

use std::sync::{Mutex, MutexGuard, PoisonError};

use frontend::{Inst, WaveState};

/// Number of resources.
pub const RESOURCES: usize = 64;

/// All resources of a device.
#[derive(Debug, Default)]
pub struct Gws(Mutex<State>);

/// The state of all resources at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State([Resource; RESOURCES]);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Resource {
    /// Of a barrier: waves still to arrive, but for the last one. Of a semaphore: waves that may
    /// pass.
    counter: u32,
    /// Number of times that the barrier was complete.
    round: u32,
    /// Waves that wait at the semaphore.
    queued: u32,
}

/// No wave waits.
impl Default for State {
    fn default() -> State {
        State([Resource::default(); RESOURCES])
    }
}

/// A wave's own state, in [`WaveState::GWS`] of its hardware registers: 0 if it does not wait.
mod waiting {
    pub(super) const BARRIER: u32 = 1 << 31;
    pub(super) const SEMAPHORE: u32 = 1 << 30;
    pub(super) const RESOURCE: u32 = 24;
    /// Of a barrier: its round when the wave arrived.
    pub(super) const ROUND: u32 = (1 << RESOURCE) - 1;
}

/// Does a wave go on behind the instruction?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// Yes.
    Passes,
    /// It stays there.
    Waits,
}

/// The resource of an instruction: its offset plus bits 21:16 of M0.
pub(crate) fn resource(wave: &WaveState, inst: &Inst) -> u8 {
    let base = wave.m0() >> 16;
    (base.wrapping_add(inst.mem.offset as u32) & 63) as u8
}

impl Gws {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<R>(&self, resource: u8, change: impl FnOnce(&mut Resource) -> R) -> R {
        change(&mut self.lock().0[usize::from(resource) % RESOURCES])
    }

    /// Brings all resources to their initial state, in which no wave may wait for one.
    pub fn reset(&self) {
        self.set_state(&State::default());
    }

    /// The current state.
    pub fn state(&self) -> State {
        self.lock().clone()
    }

    /// The counters of all resources: of a barrier the waves still to arrive, but for the last one; of a
    /// semaphore the waves that may pass.
    pub fn counters(&self) -> [u32; RESOURCES] {
        self.lock().0.map(|resource| resource.counter)
    }

    /// Brings all resources to a state in which no wave waits, with these counters, from resource 0 on;
    /// the others, and counters beyond [`RESOURCES`], are none.
    pub fn set_counters(&self, counters: &[u32]) {
        let mut state = State::default();
        for (resource, &counter) in state.0.iter_mut().zip(counters) {
            resource.counter = counter;
        }
        self.set_state(&state);
    }

    /// Restores a state. The same waves must wait as then.
    pub fn set_state(&self, state: &State) {
        self.lock().clone_from(state);
    }

    /// The resource that a wave waits for.
    pub(crate) fn resource_of(wave: &WaveState) -> Option<u8> {
        match wave.hwreg[WaveState::GWS] {
            0 => None,
            state => Some((state >> waiting::RESOURCE) as u8 & (RESOURCES - 1) as u8),
        }
    }

    /// `ds_gws_init`: the counter becomes `value`.
    pub(crate) fn init(&self, resource: u8, value: u32) {
        self.with(resource, |state| {
            // Waves that wait at the barrier are not released.
            state.counter = value;
        });
    }

    /// `ds_gws_barrier` of a wave; `value` is the counter of the next round.
    pub(crate) fn barrier(&self, resource: u8, wave: &mut WaveState, value: u32) -> Passage {
        let own = &mut wave.hwreg[WaveState::GWS];
        self.with(resource, |state| {
            let round = state.round & waiting::ROUND;
            if *own & waiting::BARRIER != 0 {
                return match *own & waiting::ROUND == round {
                    true => Passage::Waits,
                    false => {
                        *own = 0;
                        Passage::Passes
                    }
                };
            }
            match state.counter.checked_sub(1) {
                Some(rest) => {
                    state.counter = rest;
                    *own = waiting::BARRIER | u32::from(resource) << waiting::RESOURCE | round;
                    Passage::Waits
                }
                None => {
                    state.counter = value;
                    state.round = state.round.wrapping_add(1);
                    Passage::Passes
                }
            }
        })
    }

    /// `ds_gws_sema_v` and `ds_gws_sema_br`: so many more waves may pass.
    pub(crate) fn release(&self, resource: u8, count: u32) {
        self.with(resource, |state| {
            state.counter = state.counter.saturating_add(count);
        });
    }

    /// `ds_gws_sema_release_all`: all that wait may pass.
    pub(crate) fn release_all(&self, resource: u8) {
        self.with(resource, |state| state.counter = state.queued);
    }

    /// `ds_gws_sema_p` of a wave.
    pub(crate) fn acquire(&self, resource: u8, wave: &mut WaveState) -> Passage {
        let own = &mut wave.hwreg[WaveState::GWS];
        self.with(resource, |state| {
            let queued = *own & waiting::SEMAPHORE != 0;
            match state.counter.checked_sub(1) {
                Some(rest) => {
                    state.counter = rest;
                    state.queued = state.queued.saturating_sub(queued.into());
                    *own = 0;
                    Passage::Passes
                }
                None => {
                    state.queued += u32::from(!queued);
                    *own = waiting::SEMAPHORE | u32::from(resource) << waiting::RESOURCE;
                    Passage::Waits
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Passage::{Passes, Waits};
    use super::*;

    #[test]
    fn the_last_wave_of_a_barrier_releases_all() {
        let gws = Gws::default();
        let mut waves = [(); 3].map(|()| WaveState::new_boxed());
        gws.init(5, 2);
        for _ in 0..3 {
            let [a, b, c] = &mut waves;
            assert_eq!(gws.barrier(5, a, 2), Waits);
            assert_eq!(gws.barrier(5, a, 2), Waits, "it arrives once");
            assert_eq!(Gws::resource_of(a), Some(5));
            assert_eq!(gws.barrier(5, b, 2), Waits);
            assert_eq!(gws.barrier(5, c, 2), Passes);
            // One wave may arrive at the next round before another has left.
            assert_eq!(gws.barrier(5, b, 2), Passes);
            assert_eq!(gws.barrier(5, a, 2), Passes);
            assert_eq!(Gws::resource_of(a), None);
        }
        assert_eq!(gws.barrier(6, &mut waves[0], 0), Passes, "another resource");
    }

    #[test]
    fn a_semaphore_lets_as_many_pass_as_it_counts() {
        let gws = Gws::default();
        let mut waves = [(); 3].map(|()| WaveState::new_boxed());
        gws.init(63, 1);
        let [a, b, c] = &mut waves;
        assert_eq!(gws.acquire(63, a), Passes);
        assert_eq!(gws.acquire(63, b), Waits);
        assert_eq!(gws.acquire(63, c), Waits);
        assert_eq!(Gws::resource_of(c), Some(63));
        gws.release(63, 1);
        assert_eq!(gws.acquire(63, c), Passes);
        assert_eq!(gws.acquire(63, b), Waits);
        gws.release_all(63);
        assert_eq!(gws.acquire(63, b), Passes);
        gws.release_all(63);
        assert_eq!(gws.acquire(63, a), Waits, "none was queued");
        gws.release(63, 7);
        assert_eq!(gws.acquire(63, a), Passes);
    }
}
