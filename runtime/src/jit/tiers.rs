//! Tiers. A region is first translated by the baseline tier, with little code and linear-scan
//! register allocation, so that the wave starts soon. The background compiler retranslates
//! hot regions from the same lane IR, in the fastest shape and with thorough register allocation;
//! waves switch when they next enter the region. Both translations have the same entries and
//! registers in the wave, and keep nothing in the frame when they leave, so that the change is not
//! observable.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, RwLock, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lower::abi::Site;
use lower::ir::Func;
use lower::jit::{Allocation, Compiled, HostLevel, Jit};
use lower::options::Options;

use super::cache;
use super::regions::Regions;
use crate::Stats;
use crate::stack;

/// Which translations run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// The baseline tier first, the optimizing tier for hot regions.
    #[default]
    Auto,
    /// The baseline tier only, for tests.
    Baseline,
    /// The optimizing tier only.
    Optimizing,
}

impl Tier {
    /// Translations that may be taken from the caches, the best one first. The last is made if
    /// there is none.
    pub(super) fn acceptable(self) -> &'static [Allocation] {
        match self {
            Tier::Auto => &[Allocation::Optimizing, Allocation::Baseline],
            Tier::Baseline => &[Allocation::Baseline],
            Tier::Optimizing => &[Allocation::Optimizing],
        }
    }
}

/// Number of entries and back edges after which a region is hot. Its second translation takes as
/// long as several hundred runs of the first, regardless of its size.
pub(super) const HOT: u32 = 256;

/// State that an engine shares with the background compiler.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) regions: RwLock<Regions>,
    /// Incremented with each replaced region: invalidates what threads have cached.
    generation: AtomicU64,
    /// Second translations not yet reported to a dispatch.
    done: Mutex<Stats>,
}

impl Shared {
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Adds the work since the last call to the counters of a dispatch.
    pub(super) fn report_to(&self, stats: &mut Stats) {
        let mut done = self.done.lock().expect("no holder of the lock panics");
        stats.merge(&std::mem::take(&mut *done));
    }

    /// Records a second translation: what the wide back end refused of it, how long it took, and whether it could be
    /// written to the cache.
    fn note(&self, refused: Option<&str>, time: Duration, is_written: bool) {
        let mut done = self.done.lock().expect("no holder of the lock panics");
        done.regions_improved += 1;
        done.improve_seconds += time.as_secs_f64();
        done.cache_failures += u64::from(!is_written);
        drop(done);
        if let Some(what) = refused {
            self.note_refusal(what);
        }
    }

    /// Records that the wide back end refused something, or that a second translation failed.
    fn note_refusal(&self, what: &str) {
        let mut done = self.done.lock().expect("no holder of the lock panics");
        *done.refusals.entry(what.to_owned()).or_default() += 1;
    }
}

/// A hot region.
pub(super) struct Job {
    pub(super) number: usize,
    pub(super) func: Func,
    pub(super) options: Options,
    /// Where its code object lies.
    pub(super) base: u64,
    pub(super) sites: Vec<Site>,
    pub(super) fallbacks: Vec<&'static str>,
    pub(super) cache_key: cache::Key,
    pub(super) folder: Option<Arc<cache::Folder>>,
}

/// Handle of the background compiler, which starts with the first job and ends with the engine.
#[derive(Default)]
pub(super) struct Improver {
    thread: Mutex<Option<Thread>>,
}

/// The job queue and the thread, if started.
type Thread = (Sender<Job>, Option<JoinHandle<()>>);

impl Improver {
    /// Requests the second translation of a region. On failure the first one stays in use.
    pub(super) fn improve(&self, host: HostLevel, shared: &Arc<Shared>, job: Job) {
        let mut thread = self.thread.lock().expect("no holder of the lock panics");
        let (jobs, _) = thread.get_or_insert_with(|| {
            let (jobs, list) = mpsc::channel();
            let shared = Arc::downgrade(shared);
            // Without a thread the list is gone, and sending fails.
            let thread = stack::spawn("translate", move || work(host, &shared, &list));
            (jobs, thread.ok())
        });
        let _ = jobs.send(job);
    }
}

impl Drop for Improver {
    /// Waits for the current translation, so that no file is left half written. The engine's
    /// regions are gone by now: the thread does nothing further.
    fn drop(&mut self) {
        let thread = self.thread.get_mut().ok().and_then(Option::take);
        if let Some((jobs, Some(thread))) = thread {
            drop(jobs);
            // A panic of the thread was reported on standard error; the first translation stays in
            // use.
            let _ = thread.join();
        }
    }
}

/// The background compiler's loop, until the engine is gone.
fn work(host: HostLevel, shared: &Weak<Shared>, jobs: &Receiver<Job>) {
    let Ok(mut compiler) = Jit::new(host) else {
        return;
    };
    for job in jobs {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        if let Err(error) = improve(&mut compiler, &shared, job) {
            shared.note_refusal(&error.to_string());
        }
    }
}

/// Translates a hot region again and replaces its first translation.
fn improve(compiler: &mut Jit, shared: &Shared, job: Job) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let object = compiler.object(&job.func, &job.options, job.base, Allocation::Optimizing)?;
    let object = Arc::new(object);
    cache::remember(job.cache_key, &object);
    let written = job
        .folder
        .map_or(Ok(()), |folder| folder.write(&job.cache_key, &object));
    let refused = object.refused.clone();
    let code = Compiled::new(object, job.base, job.sites, job.fallbacks)?;
    let mut regions = shared
        .regions
        .write()
        .expect("no holder of the lock panics");
    regions.replace(job.number, Arc::new(code));
    drop(regions);
    shared.note(refused.as_deref(), start.elapsed(), written.is_ok());
    shared.generation.fetch_add(1, Ordering::Release);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the wide back end refuses in the optimizing tier is counted, once.
    #[test]
    fn second_translations_are_reported_once() {
        let shared = Shared::default();
        let second = Duration::from_secs(1);
        shared.note(None, second, true);
        shared.note(Some("fcmp of f64"), second, false);
        let (mut first, mut later) = (Stats::default(), Stats::default());
        shared.report_to(&mut first);
        shared.report_to(&mut later);
        assert_eq!((first.regions_improved, first.cache_failures), (2, 1));
        assert_eq!(first.improve_seconds, 2.0);
        assert_eq!(first.refusals, [("fcmp of f64".to_owned(), 1)].into());
        assert_eq!((later.regions_improved, later.refusals.len()), (0, 0));
    }
}
