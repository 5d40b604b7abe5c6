//! Streams, events, cancellation and time limits.

use std::ptr::null_mut;

use wavelift_c::wavelift_status::*;
use wavelift_c::*;

use crate::support::*;

fn wait_for(event: wavelift_event, nanoseconds: u64) -> wavelift_status {
    // SAFETY: the counters may be null.
    unsafe { wavelift_event_wait(event, nanoseconds, null_mut()) }
}

fn endless(timeout_ns: u64, cancel: wavelift_cancel_token) -> wavelift_launch_options {
    wavelift_launch_options {
        timeout_ns,
        cancel,
        ..launch_options([64, 64, 0], [16, 8, 0])
    }
}

#[test]
fn streams_run_in_order_and_wait_for_each_other() {
    let device = device();
    let kernel = saxpy(device);
    let (x, y, z) = (
        buffer(device, &[1.0; 64]),
        buffer(device, &[0.0; 64]),
        buffer(device, &[0.0; 64]),
    );
    let (one, two) = (stream(device), stream(device));
    let mut last = wavelift_event::default();
    for _ in 0..10 {
        last = queue(one, kernel, &small(), &saxpy_args(y, x, 64));
    }
    ok(wavelift_stream_wait_for(two, last));
    // Nobody needs its event.
    let args = saxpy_args(z, y, 64);
    // SAFETY: all addresses are valid or null.
    ok(unsafe { wavelift_stream_launch(two, kernel, &small(), args.as_ptr(), 4, null_mut()) });
    for buffer in [x, y] {
        ok(wavelift_buffer_destroy(buffer));
    }
    // SAFETY: the result is valid.
    let recorded = made(|out| unsafe { wavelift_stream_record(two, out) });
    ok(wait(recorded));
    assert_eq!(read(z, 64), [40.0; 64]);
    let mut stats = stats();
    // SAFETY: the counters are valid.
    ok(unsafe { wavelift_event_wait(last, 0, &mut stats) });
    assert_eq!((stats.workgroups, stats.waves), (1, 1));
    ok(wavelift_stream_synchronize(one));
}

#[test]
fn launches_are_cancelled() {
    let device = device();
    let (kernel, out) = (mandelbrot(device), buffer(device, &[0.0; 64 * 64]));
    let (stream, cancel) = (stream(device), token());
    let event = queue(stream, kernel, &endless(0, cancel), &endless_args(out));
    let before = message();
    assert_eq!(wait_for(event, 0), WAVELIFT_NOT_DONE);
    assert_eq!(wait_for(event, 10_000_000), WAVELIFT_NOT_DONE);
    assert_eq!(message(), before);
    ok(wavelift_cancel(cancel));
    fails(
        wait(event),
        WAVELIFT_CANCELLED,
        "kernel mandelbrot was cancelled",
    );
    // The launch keeps what it needs of the token.
    ok(wavelift_cancel_token_destroy(cancel));
    fails(
        wavelift_stream_synchronize(stream),
        WAVELIFT_CANCELLED,
        "mandelbrot",
    );
    let next = queue(
        stream,
        kernel,
        &endless(0, wavelift_cancel_token::default()),
        &endless_args(out),
    );
    fails(
        wait(next),
        WAVELIFT_NOT_RUN,
        "an earlier launch failed: kernel mandelbrot was cancelled",
    );

    // And one that this thread waits for.
    let cancel = token();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            ok(wavelift_cancel(cancel));
        });
        let status = launch(kernel, &endless(0, cancel), &endless_args(out));
        fails(status, WAVELIFT_CANCELLED, "mandelbrot");
    });
    // A cancelled token stays so.
    let again = launch(kernel, &endless(0, cancel), &endless_args(out));
    assert_eq!(again, WAVELIFT_CANCELLED);
}

#[test]
fn launches_have_time_limits() {
    let none = wavelift_cancel_token::default();
    let limited = device_with(&wavelift_device_options {
        timeout_ns: 20_000_000,
        ..device_options()
    });
    for (device, own) in [(device(), 20_000_000), (limited, 0)] {
        let (kernel, out) = (mandelbrot(device), buffer(device, &[0.0; 64 * 64]));
        let status = launch(kernel, &endless(own, none), &endless_args(out));
        fails(status, WAVELIFT_FAULT, "0.02 s");
        let mut fault = fault();
        // SAFETY: the structure is valid.
        ok(unsafe { wavelift_error_fault(&mut fault) });
        assert_eq!(fault.kind, wavelift_fault_kind::WAVELIFT_FAULT_TIMEOUT);
        assert_eq!(text(fault.kind_name), "timeout");
    }
}

#[test]
fn a_stream_refuses_what_does_not_suit_at_once() {
    let (device, other) = (device(), crate::support::device());
    let (kernel, stream) = (saxpy(device), stream(device));
    let (x, foreign) = (buffer(device, &[1.0; 64]), crate::support::stream(other));
    let args = saxpy_args(x, x, 64);
    let mut event = wavelift_event::default();
    // SAFETY: all addresses are valid.
    let few =
        unsafe { wavelift_stream_launch(stream, kernel, &small(), args.as_ptr(), 3, &mut event) };
    fails(few, WAVELIFT_BAD_LAUNCH, "takes 4 arguments");
    // SAFETY: all addresses are valid.
    let elsewhere =
        unsafe { wavelift_stream_launch(foreign, kernel, &small(), args.as_ptr(), 4, &mut event) };
    fails(
        elsewhere,
        WAVELIFT_BAD_LAUNCH,
        "was loaded for another device",
    );
    assert_eq!(event, wavelift_event::default());
    // The stream has not failed.
    ok(wait(queue(stream, kernel, &small(), &args)));
    // SAFETY: null is not followed.
    let nowhere = unsafe { wavelift_stream_record(stream, null_mut()) };
    fails(nowhere, WAVELIFT_INVALID_ARGUMENT, "event is NULL");
    // SAFETY: null is not followed.
    let nowhere = unsafe { wavelift_cancel_token_create(null_mut()) };
    fails(nowhere, WAVELIFT_INVALID_ARGUMENT, "token is NULL");
}
