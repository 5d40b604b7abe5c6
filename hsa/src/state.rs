//! The process-wide runtime, created by the first `hsa_init`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use runtime::dispatch::Dispatcher;
use runtime::engine::{self, EngineError, EngineOptions, Profiling};
use runtime::{Engine, Memory, memory};

use crate::abi::{EventHandler, Handle, Outcome, Status};
use crate::config::{self, Config};
use crate::copy::Copies;
use crate::executable::{Executable, KernelEntry, Modules, Reader, Symbol};
use crate::guard::say;
use crate::handlers::Handlers;
use crate::image::Images;
use crate::lock::{read, write};
use crate::pools::Pools;
use crate::queue::Queues;
use crate::record::{self, Recorder, Recording};
use crate::sanitize::Findings;
use crate::signal::Signals;
use crate::stats::Totals;

/// Address space in addition to the GPU's memory: host pools, code, signals, queues, scratch.
const HOST_RESERVE: u64 = 48 << 30;

/// Objects by handle. Handles are never reused, so that a stale one is an error.
pub(crate) struct Handles<T>(RwLock<HashMap<Handle, Arc<T>>>);

/// The last handle that was given.
static LAST_HANDLE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0x1000);

impl<T> Handles<T> {
    fn new() -> Handles<T> {
        Handles(RwLock::new(HashMap::new()))
    }

    pub(crate) fn add(&self, object: Arc<T>) -> Handle {
        let handle = LAST_HANDLE.fetch_add(16, SeqCst) + 16;
        let mut map = write(&self.0);
        map.insert(handle, object);
        handle
    }

    pub(crate) fn get(&self, handle: Handle, wrong: Status) -> Outcome<Arc<T>> {
        let map = read(&self.0);
        map.get(&handle).cloned().ok_or(wrong)
    }

    pub(crate) fn remove(&self, handle: Handle, wrong: Status) -> Outcome<Arc<T>> {
        let mut map = write(&self.0);
        map.remove(&handle).ok_or(wrong)
    }

    pub(crate) fn list(&self) -> Vec<(Handle, Arc<T>)> {
        let map = read(&self.0);
        let mut all: Vec<_> = map.iter().map(|(&h, object)| (h, object.clone())).collect();
        all.sort_by_key(|(handle, _)| *handle);
        all
    }
}

/// A handler of system events and its data.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    pub(crate) handler: EventHandler,
    pub(crate) data: usize,
}

/// The runtime.
pub(crate) struct Runtime {
    pub(crate) config: Config,
    pub(crate) memory: Memory,
    pub(crate) engine: Box<dyn Engine + Send>,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) signals: Signals,
    pub(crate) pools: Pools,
    pub(crate) queues: Queues,
    pub(crate) handlers: Handlers,
    pub(crate) copies: Copies,
    pub(crate) images: Images,
    pub(crate) readers: Handles<Reader>,
    pub(crate) executables: Handles<Executable>,
    pub(crate) symbols: Handles<Symbol>,
    /// Kernels by the address of their descriptor.
    pub(crate) kernels: RwLock<HashMap<u64, Arc<KernelEntry>>>,
    pub(crate) events: Mutex<Vec<Event>>,
    pub(crate) totals: Totals,
    /// Records launches, if requested.
    pub(crate) recorder: Option<Recorder>,
    /// What the sanitizer finds, if requested.
    pub(crate) findings: Option<Findings>,
    pub(crate) modules: Modules,
}

static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();

/// How often `hsa_init` was called without `hsa_shut_down`.
static REFERENCES: AtomicU32 = AtomicU32::new(0);

impl Runtime {
    fn new() -> Option<Runtime> {
        config::note_use();
        let config = Config::from_env()?;
        let fail = |what: &str, error: &dyn std::fmt::Display| {
            say(format_args!("{what}: {error}"));
        };
        let options = memory::Options {
            reserve: config.vram.saturating_add(HOST_RESERVE),
            address: config.record.is_some().then_some(record::ADDRESS),
            exact: config.memcheck,
            sanitize: config.sanitize.is_some(),
        };
        let memory = Memory::with_options(options)
            .inspect_err(|error| fail("no memory", error))
            .ok()?;
        let engine = engine(&config)
            .inspect_err(|error| fail("no engine", error))
            .ok()?;
        let signals = Signals::new(&memory)
            .inspect_err(|error| fail("no memory for signals", error))
            .ok()?;
        if config.reports_at_exit() {
            crate::stats::print_at_exit();
        }
        watch_forks();
        let recorder = config.record.clone().map(Recorder::new);
        let findings = config.sanitize.clone().map(Findings::new);
        Some(Runtime {
            engine,
            dispatcher: Dispatcher::new(),
            signals,
            pools: Pools::new(&config),
            config,
            queues: Queues::new(),
            handlers: Handlers::new(),
            copies: Copies::new(),
            images: Images::default(),
            readers: Handles::new(),
            executables: Handles::new(),
            symbols: Handles::new(),
            kernels: RwLock::new(HashMap::new()),
            events: Mutex::new(Vec::new()),
            totals: Totals::default(),
            recorder,
            findings,
            modules: Modules::default(),
            memory,
        })
    }

    /// The host changes memory until the result is dropped ([`Recorder::begin_change`]).
    pub(crate) fn begin_change(&self) -> Option<Recording<'_>> {
        self.recorder.as_ref().map(Recorder::begin_change)
    }

    /// Do reports need the files of code objects?
    pub(crate) fn keeps_code(&self) -> bool {
        self.recorder.is_some() || self.config.coverage.is_some() || self.findings.is_some()
    }
}

/// The engine. Without a folder for its code it works, too.
fn engine(config: &Config) -> Result<Box<dyn Engine + Send>, EngineError> {
    let options = EngineOptions {
        profile: match (&config.profile, &config.coverage) {
            (_, Some(_)) => Some(Profiling::Coverage),
            (Some(_), None) => Some(Profiling::Times),
            (None, None) => None,
        },
        cache: config.cache.clone(),
        cache_limit: Some(config.cache_limit),
        ..EngineOptions::default()
    };
    let engine = engine::create(config.engine, &options);
    let Err(error @ EngineError::Cache { .. }) = engine else {
        return engine;
    };
    say(format_args!("{error}; going on without"));
    let without = EngineOptions {
        cache: None,
        ..options
    };
    engine::create(config.engine, &without)
}

/// Counts a user; makes the runtime for the first one.
pub(crate) fn init() -> Outcome {
    check_fork()?;
    let runtime = RUNTIME.get_or_init(Runtime::new);
    if runtime.is_none() {
        return Err(Status::OUT_OF_RESOURCES);
    }
    let more = |count: u32| count.checked_add(1);
    match REFERENCES.fetch_update(SeqCst, SeqCst, more) {
        Ok(_) => Ok(()),
        Err(_) => Err(Status::REFCOUNT_OVERFLOW),
    }
}

/// Counts a user less. The memory stays, since programs hold addresses in it to their end.
pub(crate) fn shut_down() -> Outcome {
    let less = |count: u32| count.checked_sub(1);
    match REFERENCES.fetch_update(SeqCst, SeqCst, less) {
        Ok(_) => Ok(()),
        Err(_) => Err(Status::NOT_INITIALIZED),
    }
}

/// The runtime, while it has users.
pub(crate) fn runtime() -> Outcome<&'static Runtime> {
    if REFERENCES.load(SeqCst) == 0 {
        return Err(Status::NOT_INITIALIZED);
    }
    existing()
}

/// This process was forked from one that had the runtime, whose threads and counts are not its own.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Notes forks from now on.
#[expect(unsafe_code, reason = "a call of the C library")]
fn watch_forks() {
    extern "C" fn in_child() {
        FORKED.store(true, SeqCst);
    }
    // SAFETY: the function only stores to a static variable, which is possible in any child.
    let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    debug_assert_eq!(failed, 0, "bug: there is no memory for a function");
}

/// Is this a child of a process that has the runtime? It may end, or become another program.
pub(crate) fn is_forked() -> bool {
    FORKED.load(Relaxed)
}

/// Refuses such a child, which would wait for threads that it does not have. Says so once.
fn check_fork() -> Outcome {
    if !is_forked() {
        return Ok(());
    }
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, SeqCst) {
        say(format_args!(
            "this process was forked from one that already used the GPU, and cannot use it: fork before the first use, or start a \
             program in the child"
        ));
    }
    Err(Status::ERROR)
}

/// The runtime, if it was created: a program may use its signals while it ends.
pub(crate) fn existing() -> Outcome<&'static Runtime> {
    check_fork()?;
    RUNTIME
        .get()
        .and_then(Option::as_ref)
        .ok_or(Status::NOT_INITIALIZED)
}
