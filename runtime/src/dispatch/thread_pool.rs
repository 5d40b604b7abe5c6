//! The thread pool of dispatches. Threads start on first use, sleep while idle, and end with the
//! pool.
//!
//! The thread that runs a dispatch leads it. It may call helpers at any time, and never waits for
//! one that has not started: it can do all work itself.
#![expect(
    unsafe_code,
    reason = "helpers outlive the dispatches whose closures they run"
)]

use std::any::Any;
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::stack;

/// A helper's work; the argument is its number, from 1 on.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// The pool.
#[derive(Default)]
pub(super) struct ThreadPool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Signals a job, or shutdown.
    called: Condvar,
    /// Signals that a helper has left its job.
    left: Condvar,
}

#[derive(Default)]
struct State {
    /// Jobs that still accept helpers, and jobs whose helpers have not all left.
    jobs: Vec<Job>,
    last_id: u64,
    threads: usize,
    ended: bool,
}

struct Job {
    id: u64,
    /// Valid until the job is removed, see [`Leader::drop`].
    work: &'static Work<'static>,
    /// The next helper's number, and the end of the numbers.
    next: usize,
    end: usize,
    running: usize,
    panic: Option<Box<dyn Any + Send>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A helper's life.
    fn serve(&self) {
        let mut state = self.state();
        loop {
            if state.ended {
                return;
            }
            let Some(job) = state.jobs.iter_mut().find(|job| job.next < job.end) else {
                state = match self.called.wait(state) {
                    Ok(state) => state,
                    Err(poisoned) => poisoned.into_inner(),
                };
                continue;
            };
            let (id, number, work) = (job.id, job.next, job.work);
            job.next += 1;
            job.running += 1;
            drop(state);
            let result = catch_unwind(AssertUnwindSafe(|| work(number)));
            state = self.state();
            // Only a job without running helpers is removed.
            if let Some(job) = state.jobs.iter_mut().find(|job| job.id == id) {
                job.running -= 1;
                job.panic = job.panic.take().or(result.err());
            }
            self.left.notify_all();
        }
    }
}

impl ThreadPool {
    /// Calls `lead` on this thread. If it calls for help, up to `helpers` threads call `work`
    /// meanwhile; those that have started have ended when this returns. Their panics are
    /// propagated.
    pub(super) fn with<R>(
        &self,
        helpers: usize,
        work: &Work<'_>,
        lead: impl FnOnce(&Leader<'_>) -> R,
    ) -> R {
        let leader = Leader {
            pool: self,
            helpers,
            work,
            job: OnceCell::new(),
        };
        let result = lead(&leader);
        let panic = leader.dismiss();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        result
    }

    /// Starts threads up to this number.
    fn grow(&self, helpers: usize) {
        let mut state = self.shared.state();
        while state.threads < helpers {
            let shared = self.shared.clone();
            // Without it the dispatch takes longer.
            let Ok(thread) = stack::spawn("wavelift worker", move || shared.serve()) else {
                return;
            };
            state.threads += 1;
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.push(thread);
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.called.notify_all();
        let threads = self.threads.get_mut();
        for thread in threads.unwrap_or_else(PoisonError::into_inner).drain(..) {
            // Panics in jobs are caught; nothing else can panic.
            let _ = thread.join();
        }
    }
}

/// The leader of a job.
pub(super) struct Leader<'a> {
    pool: &'a ThreadPool,
    helpers: usize,
    work: &'a Work<'a>,
    job: OnceCell<u64>,
}

impl Leader<'_> {
    /// Are there helpers that have not been called?
    pub(super) fn may_call(&self) -> bool {
        self.helpers != 0 && self.job.get().is_none()
    }

    /// Calls the helpers, the first time.
    pub(super) fn call(&self) {
        if !self.may_call() {
            return;
        }
        self.pool.grow(self.helpers);
        // SAFETY: only the lifetime changes. The reference is used by helpers that run the job, and
        // `dismiss`, which is called at the latest when the leader is dropped (it never leaves
        // `ThreadPool::with`, which lends it out), waits for them and removes the job.
        let work = unsafe { std::mem::transmute::<&Work<'_>, &'static Work<'static>>(self.work) };
        let mut state = self.pool.shared.state();
        state.last_id += 1;
        let id = state.last_id;
        state.jobs.push(Job {
            id,
            work,
            next: 1,
            end: self.helpers + 1,
            running: 0,
            panic: None,
        });
        drop(state);
        for _ in 0..self.helpers {
            self.pool.shared.called.notify_one();
        }
        // It was empty before, and only this thread sets it.
        let _ = self.job.set(id);
    }

    /// Accepts no more helpers and waits for those that are running; returns a panic of theirs.
    fn dismiss(&self) -> Option<Box<dyn Any + Send>> {
        let id = *self.job.get()?;
        let shared = &self.pool.shared;
        let mut state = shared.state();
        loop {
            let at = state.jobs.iter().position(|job| job.id == id)?;
            let job = &mut state.jobs[at];
            job.end = job.next;
            if job.running == 0 {
                return state.jobs.remove(at).panic;
            }
            state = match shared.left.wait(state) {
                Ok(state) => state,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        // Only needed if the leader panicked; that panic is propagated.
        let _ = self.dismiss();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn helpers_start_when_called() {
        let pool = ThreadPool::default();
        for helpers in [3, 1, 2] {
            let together = Barrier::new(helpers + 1);
            let numbers = AtomicUsize::new(0);
            let work = |number: usize| {
                numbers.fetch_or(1 << number, SeqCst);
                together.wait();
            };
            let result = pool.with(helpers, &work, |leader| {
                leader.call();
                leader.call();
                work(0);
                7
            });
            assert_eq!(result, 7);
            assert_eq!(numbers.into_inner(), (2 << helpers) - 1);
        }
        assert_eq!(pool.shared.state().threads, 3);
        assert!(pool.shared.state().jobs.is_empty());
    }

    #[test]
    fn no_helper_starts_uncalled() {
        let pool = ThreadPool::default();
        let work = |_| panic!("nobody was called");
        assert_eq!(pool.with(4, &work, |_| 1), 1);
        assert_eq!(pool.shared.state().threads, 0);
    }

    #[test]
    fn panics_go_on_where_the_job_is_led() {
        let pool = ThreadPool::default();
        let begun = Barrier::new(2);
        let work = |_: usize| {
            begun.wait();
            panic!("bug: on purpose");
        };
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let run = |lead: &dyn Fn()| {
            catch_unwind(AssertUnwindSafe(|| {
                pool.with(1, &work, |leader| {
                    leader.call();
                    begun.wait();
                    lead();
                });
            }))
        };
        let of_helper = run(&|| {});
        let of_leader = run(&|| panic!("bug: of the leader"));
        std::panic::set_hook(quiet);
        let text = |panic: Result<(), Box<dyn Any + Send>>| {
            *panic.unwrap_err().downcast::<&str>().unwrap()
        };
        assert_eq!(text(of_helper), "bug: on purpose");
        assert_eq!(text(of_leader), "bug: of the leader");
        // The helper lives on.
        let done = AtomicUsize::new(0);
        let together = Barrier::new(2);
        let work = |_: usize| {
            together.wait();
            done.fetch_add(1, SeqCst);
        };
        pool.with(1, &work, |leader| {
            leader.call();
            together.wait();
        });
        assert_eq!(done.into_inner(), 1);
    }

    #[test]
    fn several_lead_at_once() {
        const JOBS: usize = if cfg!(miri) { 5 } else { 500 };
        let pool = ThreadPool::default();
        let sum = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..JOBS {
                        let left = AtomicUsize::new(20);
                        let work = |_: usize| {
                            while left
                                .fetch_update(SeqCst, SeqCst, |n| n.checked_sub(1))
                                .is_ok()
                            {
                                sum.fetch_add(1, SeqCst);
                            }
                        };
                        pool.with(2, &work, |leader| {
                            leader.call();
                            work(0);
                        });
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), 4 * JOBS * 20);
    }
}
