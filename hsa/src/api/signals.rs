//! Signals. All accesses are sequentially consistent, also those of functions with a weaker order
//! in their names.

use std::ffi::c_void;

use crate::abi::{Handle, RawStatus, SignalHandler, Status, Times, signal_at};
use crate::agent::Agent;
use crate::guard::{guard, put, value, wanted};
use crate::signal::{Change, Condition, Kind};
use crate::state::{existing, runtime};

/// Makes a signal.
pub unsafe extern "C" fn hsa_signal_create(
    initial: i64,
    count: u32,
    consumers: *const Handle,
    out: *mut Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        // SAFETY: head of the module.
        let consumers = unsafe { crate::guard::list(consumers, count as usize) }?;
        for &agent in consumers {
            Agent::from_handle(agent)?;
        }
        let signal = rt.signals.create(Kind::User, initial)?;
        // SAFETY: head of the module.
        unsafe { put(out, signal) }
    })
}

/// As [`hsa_signal_create`], with AMD's attributes, which change nothing here.
pub unsafe extern "C" fn hsa_amd_signal_create(
    initial: i64,
    count: u32,
    consumers: *const Handle,
    attributes: u64,
    out: *mut Handle,
) -> RawStatus {
    const IPC: u64 = 2;
    if attributes & IPC != 0 {
        return crate::guard::unsupported(
            "hsa_amd_signal_create for other processes",
            Status::ERROR,
        )
        .0;
    }
    // SAFETY: head of the module.
    unsafe { hsa_signal_create(initial, count, consumers, out) }
}

/// Ends a signal.
pub extern "C" fn hsa_signal_destroy(signal: Handle) -> RawStatus {
    guard(|| {
        let signals = &existing()?.signals;
        if signal == 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        signals.destroy(signal, Kind::User)
    })
}

/// Address of a signal's value.
pub unsafe extern "C" fn hsa_amd_signal_value_pointer(
    signal: Handle,
    out: *mut *mut i64,
) -> RawStatus {
    guard(|| {
        let address = runtime()?.signals.value_address(signal)?;
        // SAFETY: head of the module.
        unsafe { put(out, crate::pools::pointer(address).cast()) }
    })
}

fn change(signal: Handle, change: Change, by: i64) -> i64 {
    value(0, || {
        let rt = existing()?;
        let old = rt.signals.change(signal, change, by)?;
        if rt.signals.is_doorbell(signal) {
            rt.queues.ring(signal, &rt.signals.answerer);
        }
        Ok(old)
    })
}

macro_rules! loads {
    ($($name:ident)*) => {
        $(
            /// The value of a signal; 0 when there is none.
            pub extern "C" fn $name(signal: Handle) -> i64 {
                value(0, || existing()?.signals.load(signal))
            }
        )*
    };
}
loads!(hsa_signal_load_relaxed hsa_signal_load_scacquire hsa_signal_load_acquire);

macro_rules! stores {
    ($($name:ident)*) => {
        $(
            /// Stores a value; a queue's doorbell rings.
            pub extern "C" fn $name(signal: Handle, value: i64) {
                change(signal, Change::Store, value);
            }
        )*
    };
}
stores!(hsa_signal_store_relaxed hsa_signal_store_screlease hsa_signal_store_release);

macro_rules! silent_stores {
    ($($name:ident)*) => {
        $(
            /// Stores a value without waking waiters.
            pub extern "C" fn $name(signal: Handle, stored: i64) {
                value((), || existing()?.signals.silent_store(signal, stored));
            }
        )*
    };
}
silent_stores!(hsa_signal_silent_store_relaxed hsa_signal_silent_store_screlease);

macro_rules! changes {
    ($change:ident: $($name:ident)*) => {
        $(
            /// Changes the value of a signal.
            pub extern "C" fn $name(signal: Handle, by: i64) {
                change(signal, Change::$change, by);
            }
        )*
    };
}
changes!(Add: hsa_signal_add_relaxed hsa_signal_add_acquire hsa_signal_add_release
    hsa_signal_add_acq_rel hsa_signal_add_scacquire hsa_signal_add_screlease
    hsa_signal_add_scacq_screl);
changes!(Subtract: hsa_signal_subtract_relaxed hsa_signal_subtract_acquire
    hsa_signal_subtract_release hsa_signal_subtract_acq_rel hsa_signal_subtract_scacquire
    hsa_signal_subtract_screlease hsa_signal_subtract_scacq_screl);
changes!(And: hsa_signal_and_relaxed hsa_signal_and_acquire hsa_signal_and_release
    hsa_signal_and_acq_rel hsa_signal_and_scacquire hsa_signal_and_screlease
    hsa_signal_and_scacq_screl);
changes!(Or: hsa_signal_or_relaxed hsa_signal_or_acquire hsa_signal_or_release
    hsa_signal_or_acq_rel hsa_signal_or_scacquire hsa_signal_or_screlease hsa_signal_or_scacq_screl);
changes!(Xor: hsa_signal_xor_relaxed hsa_signal_xor_acquire hsa_signal_xor_release
    hsa_signal_xor_acq_rel hsa_signal_xor_scacquire hsa_signal_xor_screlease
    hsa_signal_xor_scacq_screl);

macro_rules! exchanges {
    ($($name:ident)*) => {
        $(
            /// Stores a value and gives the old one.
            pub extern "C" fn $name(signal: Handle, value: i64) -> i64 {
                change(signal, Change::Exchange, value)
            }
        )*
    };
}
exchanges!(hsa_signal_exchange_relaxed hsa_signal_exchange_acquire hsa_signal_exchange_release
    hsa_signal_exchange_acq_rel hsa_signal_exchange_scacquire hsa_signal_exchange_screlease
    hsa_signal_exchange_scacq_screl);

macro_rules! cas {
    ($($name:ident)*) => {
        $(
            /// Stores a value if the old one is as expected; gives the old one.
            pub extern "C" fn $name(signal: Handle, expected: i64, new: i64) -> i64 {
                value(0, || existing()?.signals.cas(signal, expected, new))
            }
        )*
    };
}
cas!(hsa_signal_cas_relaxed hsa_signal_cas_acquire hsa_signal_cas_release hsa_signal_cas_acq_rel
    hsa_signal_cas_scacquire hsa_signal_cas_screlease hsa_signal_cas_scacq_screl);

macro_rules! waits {
    ($($name:ident)*) => {
        $(
            /// Waits until the value meets a condition or time is over; gives the last value seen.
            pub extern "C" fn $name(
                signal: Handle,
                condition: u32,
                compare: i64,
                timeout: u64,
                _hint: u32,
            ) -> i64 {
                value(0, || {
                    let condition = Condition::new(condition)?;
                    existing()?.signals.wait(signal, condition, compare, timeout)
                })
            }
        )*
    };
}
waits!(hsa_signal_wait_relaxed hsa_signal_wait_acquire hsa_signal_wait_scacquire);

/// Calls a handler when the value meets a condition.
pub unsafe extern "C" fn hsa_amd_signal_async_handler(
    signal: Handle,
    condition: u32,
    compare: i64,
    handler: Option<SignalHandler>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        let handler = handler.ok_or(Status::INVALID_ARGUMENT)?;
        let condition = Condition::new(condition)?;
        rt.handlers
            .add(rt, signal, condition, compare, handler, data)
    })
}

fn times(signal: Handle, out: *mut Times) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        rt.signals.check(signal)?;
        let read = |at: u64| {
            let word = rt.signals.word(signal, at);
            word.load(std::sync::atomic::Ordering::SeqCst)
        };
        let (start, end) = (read(signal_at::START), read(signal_at::END));
        // SAFETY: head of the module.
        unsafe { put(out, Times { start, end }) }
    })
}

/// When the kernel that counted the signal down began and ended.
pub unsafe extern "C" fn hsa_amd_profiling_get_dispatch_time(
    agent: Handle,
    signal: Handle,
    out: *mut Times,
) -> RawStatus {
    match Agent::from_handle(agent) {
        Ok(_) => times(signal, out),
        Err(status) => status.0,
    }
}

/// When the copy that counted the signal down began and ended.
pub unsafe extern "C" fn hsa_amd_profiling_get_async_copy_time(
    signal: Handle,
    out: *mut Times,
) -> RawStatus {
    times(signal, out)
}

/// Agents and system have the same ticks.
pub unsafe extern "C" fn hsa_amd_profiling_convert_tick_to_system_domain(
    agent: Handle,
    tick: u64,
    out: *mut u64,
) -> RawStatus {
    guard(|| {
        runtime()?;
        Agent::from_handle(agent)?;
        // SAFETY: head of the module.
        unsafe { put(out, tick) }
    })
}

/// Times of copies are always noted.
pub extern "C" fn hsa_amd_profiling_async_copy_enable(_enable: bool) -> RawStatus {
    guard(|| runtime().map(|_| ()))
}
