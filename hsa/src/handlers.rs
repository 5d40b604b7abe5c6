//! Functions that are called when a signal's value meets a condition, on a thread of their own.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock};

use runtime::stack;

use crate::abi::{Handle, Outcome, SignalHandler, Status};
use crate::lock::lock;
use crate::pools::pointer;
use crate::signal::Condition;
use crate::state::{self, Runtime};

#[derive(Clone, Copy)]
struct Entry {
    signal: Handle,
    condition: Condition,
    compare: i64,
    handler: SignalHandler,
    data: usize,
}

/// The waiting handlers.
pub(crate) struct Handlers {
    waiting: Mutex<Vec<Entry>>,
    thread: OnceLock<bool>,
}

impl Handlers {
    pub(crate) fn new() -> Handlers {
        Handlers {
            waiting: Mutex::new(Vec::new()),
            thread: OnceLock::new(),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Entry>> {
        lock(&self.waiting)
    }

    /// Registers a handler; a signal of 0 calls it at once, as `hsa_amd_async_function`.
    pub(crate) fn add(
        &self,
        rt: &'static Runtime,
        signal: Handle,
        condition: Condition,
        compare: i64,
        handler: SignalHandler,
        data: *mut c_void,
    ) -> Outcome {
        rt.signals.check(signal)?;
        let running = self
            .thread
            .get_or_init(|| stack::spawn("hsa handlers", move || serve(rt)).is_ok());
        if !running {
            return Err(Status::OUT_OF_RESOURCES);
        }
        rt.signals.watch(signal);
        self.waiting().push(Entry {
            signal,
            condition,
            compare,
            handler,
            data: data.expose_provenance(),
        });
        rt.signals.nudge();
        Ok(())
    }

    /// Removes handlers whose condition holds, with the values seen; those of destroyed signals are
    /// dropped.
    fn due(&self, rt: &Runtime) -> Option<Vec<(Entry, i64)>> {
        let mut due = Vec::new();
        self.waiting().retain(|entry| {
            let value = rt.signals.load(entry.signal);
            match value {
                Ok(value) if entry.condition.holds(value, entry.compare) => {
                    due.push((*entry, value));
                    false
                }
                Ok(_) => true,
                Err(_) => {
                    rt.signals.unwatch(entry.signal);
                    false
                }
            }
        });
        (!due.is_empty()).then_some(due)
    }
}

fn serve(rt: &'static Runtime) {
    let handlers = &rt.handlers;
    loop {
        let idle = || handlers.waiting().is_empty();
        for (entry, value) in rt.signals.wait_for(&[], idle, || handlers.due(rt)) {
            // SAFETY: the program registered the function for this, with this data.
            let again = unsafe { (entry.handler)(value, pointer(entry.data as u64)) };
            if again {
                handlers.waiting().push(entry);
            } else {
                rt.signals.unwatch(entry.signal);
            }
        }
    }
}

/// Calls a function on a thread that is not the caller's.
pub(crate) fn call(function: unsafe extern "C" fn(*mut c_void), data: *mut c_void) -> Outcome {
    state::runtime()?;
    let data = data.expose_provenance();
    // SAFETY: the program passed the function for this call, with this data.
    let run = move || unsafe { function(pointer(data as u64)) };
    stack::spawn("hsa function", run)
        .map(drop)
        .map_err(|_| Status::OUT_OF_RESOURCES)
}
