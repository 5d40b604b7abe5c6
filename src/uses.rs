//! What uses a device's memory at a time: launches from their beginning (on a stream: from when
//! they are queued) to their end, and [`MemoryGuard`](crate::MemoryGuard)s.
//!
//! A kernel may hold the address of host memory that is no argument of its launch, so host memory
//! is given back, or freed, only when all uses that began before have ended.

use std::any::Any;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use crate::error::Error;

/// This thread has a guard, and would wait for itself.
#[derive(Debug)]
pub(crate) struct Guarded;

impl From<Guarded> for Error {
    fn from(_: Guarded) -> Error {
        Error::MemoryGuarded
    }
}

/// The uses of a device's memory.
#[derive(Default)]
pub(crate) struct Uses {
    state: Mutex<State>,
    /// Signals the end of a use, if somebody waits.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Number of the next use.
    next: u64,
    /// Numbers of the uses that have not ended, ascending. The thread is that of a guard.
    current: Vec<(u64, Option<ThreadId>)>,
    /// Memory to free when all uses with lower numbers have ended.
    retired: Vec<(u64, Box<dyn Any + Send>)>,
    waiting: usize,
}

impl State {
    /// Have all uses below this number ended?
    fn is_past(&self, number: u64) -> bool {
        self.current
            .first()
            .is_none_or(|&(first, _)| first >= number)
    }
}

impl Uses {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change of the state is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A launch begins.
    pub(crate) fn begin(self: &Arc<Uses>) -> Use {
        self.enter(None)
    }

    /// A guard begins, which stays on this thread.
    pub(crate) fn begin_here(self: &Arc<Uses>) -> Use {
        self.enter(Some(std::thread::current().id()))
    }

    fn enter(self: &Arc<Uses>, thread: Option<ThreadId>) -> Use {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.current.push((number, thread));
        drop(state);
        Use {
            uses: self.clone(),
            number,
        }
    }

    /// Waits until all uses that have begun have ended.
    pub(crate) fn settle(&self) -> Result<(), Guarded> {
        let mut state = self.state();
        let now = state.next;
        let here = std::thread::current().id();
        if state
            .current
            .iter()
            .any(|&(_, thread)| thread == Some(here))
        {
            return Err(Guarded);
        }
        state.waiting += 1;
        while !state.is_past(now) {
            state = match self.ended.wait(state) {
                Ok(state) => state,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
        state.waiting -= 1;
        Ok(())
    }

    /// Drops `memory` when all uses that have begun have ended.
    pub(crate) fn retire(&self, memory: Box<dyn Any + Send>) {
        let mut state = self.state();
        let now = state.next;
        if !state.is_past(now) {
            state.retired.push((now, memory));
        }
    }
}

/// A use, until it is dropped.
pub(crate) struct Use {
    uses: Arc<Uses>,
    number: u64,
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut state = self.uses.state();
        state.current.retain(|&(number, _)| number != self.number);
        let retired = std::mem::take(&mut state.retired).into_iter();
        let (free, kept) = retired.partition(|&(number, _)| state.is_past(number));
        state.retired = kept;
        let waiting = state.waiting != 0;
        drop(state);
        if waiting {
            self.uses.ended.notify_all();
        }
        // Not under the lock: it may take long.
        drop::<Vec<_>>(free);
    }
}
