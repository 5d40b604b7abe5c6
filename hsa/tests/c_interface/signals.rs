//! Signals: values, waits, handlers, bad handles.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use hsa_runtime64::api::*;

use crate::support::{Signal, begin};

#[test]
fn values_change_as_the_names_say() {
    let signal = Signal::new(5);
    hsa_signal_add_relaxed(signal.0, 7);
    assert_eq!(signal.value(), 12);
    hsa_signal_subtract_screlease(signal.0, 4);
    assert_eq!(signal.value(), 8);
    hsa_signal_or_relaxed(signal.0, 3);
    hsa_signal_and_relaxed(signal.0, 9);
    hsa_signal_xor_relaxed(signal.0, 1);
    assert_eq!(signal.value(), 8);
    assert_eq!(hsa_signal_exchange_scacq_screl(signal.0, -1), 8);
    assert_eq!(hsa_signal_cas_scacq_screl(signal.0, 1, 2), -1);
    assert_eq!(hsa_signal_cas_scacq_screl(signal.0, -1, 2), -1);
    assert_eq!(signal.value(), 2);
    hsa_signal_silent_store_relaxed(signal.0, 44);
    hsa_signal_store_relaxed(signal.0, hsa_signal_load_relaxed(signal.0) + 1);
    assert_eq!(signal.value(), 45);
}

#[test]
fn a_signal_is_an_amd_signal_t() {
    let signal = Signal::new(3);
    assert!(signal.0.is_multiple_of(64));
    let mut at = std::ptr::null_mut();
    assert_eq!(
        // SAFETY: the result goes to our variable.
        unsafe { hsa_amd_signal_value_pointer(signal.0, &mut at) },
        0
    );
    assert_eq!(at.addr() as u64, signal.0 + 8);
    // SAFETY: the address of the value, aligned, as long as the signal lives.
    let value = unsafe { AtomicI64::from_ptr(at) };
    assert_eq!(value.swap(9, SeqCst), 3);
    assert_eq!(signal.value(), 9);
    // SAFETY: the structure's first word: an ordinary signal.
    assert_eq!(unsafe { at.sub(1).read() }, 1);
}

#[test]
fn waits_end_when_the_condition_holds() {
    let signal = Signal::new(10);
    for (condition, compare) in [(0, 10), (1, 3), (2, 11), (3, 10)] {
        assert_eq!(
            hsa_signal_wait_relaxed(signal.0, condition, compare, u64::MAX, 0),
            10
        );
    }
    let begin = Instant::now();
    assert_eq!(
        hsa_signal_wait_relaxed(signal.0, 2, 10, 3_000_000, 0),
        10,
        "time is over"
    );
    let waited = begin.elapsed();
    assert!(waited >= Duration::from_millis(3) && waited < Duration::from_secs(2));
    std::thread::scope(|scope| {
        for state in 0..4 {
            let handle = signal.0;
            scope.spawn(move || {
                assert_eq!(
                    hsa_signal_wait_scacquire(handle, 2, 1, u64::MAX, state & 1),
                    0
                );
            });
        }
        std::thread::sleep(Duration::from_millis(5));
        for _ in 0..10 {
            hsa_signal_subtract_screlease(signal.0, 1);
        }
    });
}

#[test]
fn a_change_behind_the_librarys_back_is_seen_too() {
    let signal = Signal::new(1);
    let mut at = std::ptr::null_mut();
    assert_eq!(
        // SAFETY: the result goes to our variable.
        unsafe { hsa_amd_signal_value_pointer(signal.0, &mut at) },
        0
    );
    // SAFETY: the address of the value, aligned, as long as the signal lives.
    let value = unsafe { AtomicI64::from_ptr(at) };
    std::thread::scope(|scope| {
        let handle = signal.0;
        scope.spawn(move || {
            assert_eq!(hsa_signal_wait_scacquire(handle, 1, 1, u64::MAX, 0), 6);
        });
        std::thread::sleep(Duration::from_millis(5));
        value.store(6, SeqCst);
    });
}

#[test]
fn one_of_several() {
    let signals = [Signal::new(1), Signal::new(1), Signal::new(1)];
    let handles = [signals[0].0, signals[1].0, signals[2].0];
    let wait = |timeout| {
        let mut value = -7;
        // SAFETY: three of each.
        let at = unsafe {
            hsa_amd_signal_wait_any(
                3,
                handles.as_ptr(),
                [2, 2, 0].as_ptr(),
                [1, 1, 5].as_ptr(),
                timeout,
                0,
                &mut value,
            )
        };
        (at, value)
    };
    assert_eq!(wait(1_000_000), (u32::MAX, -7));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            hsa_signal_store_screlease(handles[2], 5);
        });
        assert_eq!(wait(u64::MAX), (2, 5));
    });
}

#[test]
fn all_of_several() {
    let signals = [Signal::new(1), Signal::new(1)];
    let handles = [signals[0].0, signals[1].0];
    let wait = |timeout| {
        let mut values = [-7; 2];
        // SAFETY: two of each.
        let met = unsafe {
            hsa_amd_signal_wait_all(
                2,
                handles.as_ptr(),
                [2, 0].as_ptr(),
                [1, 5].as_ptr(),
                timeout,
                0,
                values.as_mut_ptr(),
            )
        };
        (met, values)
    };
    hsa_signal_store_screlease(handles[1], 5);
    assert_eq!(wait(1_000_000), (u32::MAX, [-7; 2]), "one of them");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            hsa_signal_store_screlease(handles[0], -3);
        });
        assert_eq!(wait(u64::MAX), (0, [-3, 5]));
    });
}

/// Counts calls; wants three.
unsafe extern "C" fn three_times(value: i64, data: *mut c_void) -> bool {
    // SAFETY: the test passes a counter that outlives the calls.
    let count = unsafe { &*data.cast::<AtomicI64>() };
    assert!(value < 1);
    count.fetch_add(1, SeqCst) < 2
}

#[test]
fn handlers_are_called_until_they_have_enough() {
    static COUNT: AtomicI64 = AtomicI64::new(0);
    let signal = Signal::new(1);
    let data = (&raw const COUNT).cast_mut().cast();
    // SAFETY: the handler takes a counter.
    let add = |signal, condition| unsafe {
        hsa_amd_signal_async_handler(signal, condition, 1, Some(three_times), data)
    };
    assert_eq!(add(signal.0, 2), 0);
    assert_eq!(add(signal.0, 9), 0x1001);
    assert_eq!(add(signal.0 + 8, 2), 0x1006);
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!(COUNT.load(SeqCst), 0);
    hsa_signal_store_screlease(signal.0, 0);
    let begin = Instant::now();
    while COUNT.load(SeqCst) < 3 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!(COUNT.load(SeqCst), 3);
}

#[test]
fn bad_handles_are_errors() {
    begin();
    let dead = Signal::new(4).0;
    for handle in [
        0,
        1,
        64,
        0xdead_beef,
        u64::MAX,
        dead,
        dead + 8,
        dead + (1 << 40),
    ] {
        let expected = if handle == 0 { 0x1001 } else { 0x1006 };
        assert_eq!(hsa_signal_destroy(handle), expected);
        assert_eq!(hsa_signal_load_relaxed(handle), 0);
        hsa_signal_store_relaxed(handle, 1);
        hsa_signal_add_relaxed(handle, 1);
        assert_eq!(hsa_signal_wait_scacquire(handle, 0, 1, u64::MAX, 0), 0);
        let mut at = std::ptr::null_mut();
        assert_eq!(
            // SAFETY: the result goes to our variable.
            unsafe { hsa_amd_signal_value_pointer(handle, &mut at) },
            0x1006
        );
    }
}

#[test]
fn destroying_ends_a_wait() {
    let signal = Signal::new(1);
    let handle = signal.0;
    std::thread::scope(|scope| {
        scope.spawn(move || hsa_signal_wait_scacquire(handle, 0, 0, u64::MAX, 0));
        std::thread::sleep(Duration::from_millis(5));
        drop(signal);
    });
}
