//! Tiers. A region is first translated to little code with an allocation of registers that is made in no time,
//! so that the wave begins soon. What runs often is translated once more on a thread beside, from the same lane
//! IR, in the shape that runs fastest and with registers allocated with care; waves change over when they next
//! enter the region. Both translations have the same entries and registers in the wave, and keep nothing in the
//! frame when they leave, so that a change is nothing that a wave could notice.

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

/// Which translations run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// The baseline tier first, the optimizing tier for what runs often.
    #[default]
    Auto,
    /// The baseline tier only, for tests.
    Baseline,
    /// The optimizing tier only.
    Optimizing,
}

impl Tier {
    /// Translations that may be taken from where they are kept, the best one first. The last is made where
    /// there is none.
    pub(super) fn wanted(self) -> &'static [Allocation] {
        match self {
            Tier::Auto => &[Allocation::Optimizing, Allocation::Baseline],
            Tier::Baseline => &[Allocation::Baseline],
            Tier::Optimizing => &[Allocation::Optimizing],
        }
    }
}

/// Entries of a region, and jumps back in it, after which it is hot. A region's second translation takes as
/// long as it takes to run through its first some hundreds of times, whatever its size.
pub(super) const HOT: u32 = 256;

/// What an engine shares with the thread that translates hot regions.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) regions: RwLock<Regions>,
    /// Changes with each region that is replaced: what threads remember of before is old.
    generation: AtomicU64,
    done: Mutex<Done>,
}

/// Second translations that no dispatch has been told of.
#[derive(Default)]
struct Done {
    regions: u64,
    time: Duration,
    cache_failures: u64,
}

impl Shared {
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Adds to the counters of a dispatch what was done meanwhile.
    pub(super) fn tell(&self, stats: &mut Stats) {
        let mut done = self.done.lock().expect("no holder of the lock panics");
        let done = std::mem::take(&mut *done);
        stats.regions_improved += done.regions;
        stats.improve_seconds += done.time.as_secs_f64();
        stats.cache_failures += done.cache_failures;
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

/// The way to the thread, which begins with the first job and ends with the engine.
#[derive(Default)]
pub(super) struct Improver {
    thread: Mutex<Option<Thread>>,
}

/// The list of jobs and the thread that works on it, where there is one.
type Thread = (Sender<Job>, Option<JoinHandle<()>>);

impl Improver {
    /// Has a region translated. Where that does not work, its first translation goes on running.
    pub(super) fn improve(&self, host: HostLevel, shared: &Arc<Shared>, job: Job) {
        let mut thread = self.thread.lock().expect("no holder of the lock panics");
        let (jobs, _) = thread.get_or_insert_with(|| {
            let (jobs, list) = mpsc::channel();
            let shared = Arc::downgrade(shared);
            // Without a thread the list is gone, and sending fails.
            let thread = std::thread::Builder::new()
                .name("translate".to_owned())
                .spawn(move || work(host, &shared, &list));
            (jobs, thread.ok())
        });
        let _ = jobs.send(job);
    }
}

impl Drop for Improver {
    /// Waits for the region that is being translated, so that no file is left half written. The engine's
    /// regions are gone by now: the thread does nothing further.
    fn drop(&mut self) {
        let thread = self.thread.get_mut().ok().and_then(Option::take);
        if let Some((jobs, Some(thread))) = thread {
            drop(jobs);
            // A panic of the thread was told on standard error; the first translation did for all.
            let _ = thread.join();
        }
    }
}

/// The thread's work, until there is no engine any more.
fn work(host: HostLevel, shared: &Weak<Shared>, jobs: &Receiver<Job>) {
    let Ok(mut compiler) = Jit::new(host) else {
        return;
    };
    for job in jobs {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let start = Instant::now();
        let object = compiler.object(&job.func, &job.options, job.base, Allocation::Optimizing);
        let Ok(object) = object.map(Arc::new) else {
            continue;
        };
        cache::remember(job.cache_key, &object);
        let written = job
            .folder
            .map_or(Ok(()), |folder| folder.write(&job.cache_key, &object));
        let code = Compiled::new(object, job.base, job.sites, job.fallbacks);
        let Ok(code) = code.map(Arc::new) else {
            continue;
        };
        {
            let mut regions = shared
                .regions
                .write()
                .expect("no holder of the lock panics");
            regions.replace(job.number, code);
        }
        let mut done = shared.done.lock().expect("no holder of the lock panics");
        done.regions += 1;
        done.time += start.elapsed();
        done.cache_failures += u64::from(written.is_err());
        drop(done);
        shared.generation.fetch_add(1, Ordering::Release);
    }
}
