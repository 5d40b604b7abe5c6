//! `pause`, which must reach a program that runs.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wavelift::debug::Interrupter;

/// Time between attempts: a program that begins to run just then forgets the first.
const AGAIN: Duration = Duration::from_millis(5);

#[derive(Default)]
struct State {
    interrupter: Option<Interrupter>,
    asked: u64,
    over: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Stops the program while somebody asks for it.
#[derive(Clone, Default)]
pub(super) struct Pause(Arc<Shared>);

impl Pause {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a stop, which [`Pause::done`] takes back.
    pub(super) fn ask(&self) {
        self.lock().asked += 1;
        self.0.changed.notify_all();
    }

    /// A request for a stop has been handled.
    pub(super) fn done(&self) {
        let mut state = self.lock();
        state.asked = state.asked.saturating_sub(1);
    }

    /// Is a stop asked for?
    pub(super) fn is_asked(&self) -> bool {
        self.lock().asked > 0
    }

    /// Stops this program from now on, by a thread.
    pub(super) fn watch(&self, interrupter: Interrupter) {
        let first = self.lock().interrupter.replace(interrupter).is_none();
        if !first {
            return;
        }
        let own = self.clone();
        std::thread::spawn(move || {
            let mut state = own.lock();
            while !state.over {
                if state.asked == 0 {
                    let waited = own.0.changed.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                if let Some(interrupter) = &state.interrupter {
                    interrupter.interrupt();
                }
                let waited = own.0.changed.wait_timeout(state, AGAIN);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        });
    }

    /// The session is over.
    pub(super) fn end(&self) {
        self.lock().over = true;
        self.0.changed.notify_all();
    }
}
