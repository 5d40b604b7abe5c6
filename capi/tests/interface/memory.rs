//! Buffers, memory of the caller, and memory by address.

use std::ptr::{null, null_mut};

use wavelift_c::wavelift_status::*;
use wavelift_c::*;

use crate::support::*;

fn info(buffer: wavelift_buffer) -> (u64, u64) {
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: the results are valid.
    ok(unsafe { wavelift_buffer_info(buffer, &mut address, &mut bytes) });
    (address, bytes)
}

/// Registers memory that the caller keeps.
fn register(device: wavelift_device, data: &mut [f32]) -> wavelift_buffer {
    let (at, bytes) = (data.as_mut_ptr().cast(), size_of_val(data));
    // SAFETY: the tests keep the data, and do not use it meanwhile.
    made(|out| unsafe { wavelift_buffer_register(device, at, bytes, out) })
}

#[test]
fn buffers_are_read_and_written() {
    let device = device();
    let buffer = buffer(device, &[1.0, 2.0, 3.0, 4.0]);
    let (address, bytes) = info(buffer);
    assert_eq!((address % 256, bytes), (0, 16));
    let two = [20.0f32, 30.0];
    // SAFETY: the data are valid.
    ok(unsafe { wavelift_buffer_write(buffer, 4, two.as_ptr().cast(), 8) });
    assert_eq!(read(buffer, 4), [1.0, 20.0, 30.0, 4.0]);
    let mut one = 0f32;
    let at = (&raw mut one).cast();
    // SAFETY: the data are valid.
    ok(unsafe { wavelift_device_read(device, address + 8, at, 4) });
    assert_eq!(one, 30.0);
    let seven = 7f32;
    let at = (&raw const seven).cast();
    // SAFETY: the data are valid.
    ok(unsafe { wavelift_device_write(device, address + 12, at, 4) });
    assert_eq!(read(buffer, 4), [1.0, 20.0, 30.0, 7.0]);
    // SAFETY: results may be null.
    ok(unsafe { wavelift_buffer_info(buffer, null_mut(), null_mut()) });
    // SAFETY: no data are zeros.
    let zeros = made(|out| unsafe { wavelift_buffer_create(device, null(), 64, out) });
    assert_eq!(read(zeros, 16), [0.0; 16]);
}

#[test]
fn accesses_outside_are_errors() {
    let device = device();
    let buffer = buffer(device, &[1.0; 4]);
    let (address, _) = info(buffer);
    let mut data = [0u8; 64];
    let at = data.as_mut_ptr().cast();
    for (offset, bytes) in [(0, 17), (16, 1), (u64::MAX, 1), (u64::MAX - 3, 8), (15, 2)] {
        // SAFETY: the data are valid.
        let read = unsafe { wavelift_buffer_read(buffer, offset, at, bytes) };
        fails(read, WAVELIFT_OUT_OF_RANGE, "outside a buffer of 16 bytes");
        // SAFETY: the data are valid.
        let written = unsafe { wavelift_buffer_write(buffer, offset, at, bytes) };
        fails(
            written,
            WAVELIFT_OUT_OF_RANGE,
            "outside a buffer of 16 bytes",
        );
    }
    for wrong in [0, 8, u64::MAX, u64::MAX - 3] {
        // SAFETY: the data are valid.
        let read = unsafe { wavelift_device_read(device, wrong, at, 4) };
        assert_eq!(read, WAVELIFT_OUT_OF_RANGE, "{}", message());
        // SAFETY: the data are valid.
        let written = unsafe { wavelift_device_write(device, wrong, at, 4) };
        assert_eq!(written, WAVELIFT_OUT_OF_RANGE, "{}", message());
    }
    // SAFETY: nothing is copied.
    ok(unsafe { wavelift_buffer_read(buffer, 16, null_mut(), 0) });
    // SAFETY: null is not followed.
    let null_data = unsafe { wavelift_buffer_read(buffer, 0, null_mut(), 4) };
    fails(null_data, WAVELIFT_INVALID_ARGUMENT, "data is NULL");
    // SAFETY: null is not followed.
    let null_data = unsafe { wavelift_buffer_write(buffer, 0, null(), 4) };
    fails(null_data, WAVELIFT_INVALID_ARGUMENT, "data is NULL");
    // SAFETY: such a size is refused before anything is accessed.
    let huge = unsafe { wavelift_buffer_write(buffer, 0, at, usize::MAX) };
    fails(huge, WAVELIFT_INVALID_ARGUMENT, "no memory has");
    // SAFETY: memory of the device is refused before anything is accessed.
    let own = unsafe { wavelift_buffer_read(buffer, 0, address as *mut _, 4) };
    fails(own, WAVELIFT_INVALID_ARGUMENT, "is memory of the device");
}

#[test]
fn impossible_buffers_are_refused() {
    let device = device();
    // SAFETY: null is not followed.
    let nowhere = unsafe { wavelift_buffer_create(device, null(), 4, null_mut()) };
    fails(nowhere, WAVELIFT_INVALID_ARGUMENT, "buffer is NULL");
    for bytes in [1 << 30, usize::MAX] {
        let mut out = wavelift_buffer::default();
        // SAFETY: the result is valid.
        let status = unsafe { wavelift_buffer_create(device, null(), bytes, &mut out) };
        assert_eq!(status, WAVELIFT_OUT_OF_MEMORY, "{}", message());
        assert_eq!(out, wavelift_buffer::default());
    }
    let mut data = [1.0f32; 16];
    let at = data.as_mut_ptr().cast();
    let mut out = wavelift_buffer::default();
    for (at, bytes) in [(null_mut(), 64), (at, 0), (at, usize::MAX)] {
        // SAFETY: all of it is refused.
        let status = unsafe { wavelift_buffer_register(device, at, bytes, &mut out) };
        fails(status, WAVELIFT_INVALID_ARGUMENT, "to be registered");
    }
    let (own, _) = info(buffer(device, &[1.0; 4]));
    // SAFETY: memory of the device is refused.
    let status = unsafe { wavelift_buffer_register(device, own as *mut _, 4, &mut out) };
    fails(status, WAVELIFT_INVALID_ARGUMENT, "is memory of the device");
}

#[test]
fn kernels_access_memory_of_the_caller() {
    let device = device();
    let kernel = saxpy(device);
    let (mut x, mut y) = ([1.0f32; 64], [0.5f32; 64]);
    let start = y.as_mut_ptr();
    let (of_x, of_y) = (register(device, &mut x), register(device, &mut y));
    assert_eq!(info(of_y), (start.addr() as u64, 256));
    ok(launch(kernel, &small(), &saxpy_args(of_y, of_x, 64)));
    assert_eq!(read(of_y, 64), [2.5; 64]);
    let nine = 9f32;
    // SAFETY: the data are valid.
    ok(unsafe { wavelift_buffer_write(of_x, 252, (&raw const nine).cast(), 4) });
    // SAFETY: this is refused.
    let past = unsafe { wavelift_buffer_write(of_x, 253, (&raw const nine).cast(), 4) };
    fails(past, WAVELIFT_OUT_OF_RANGE, "outside a buffer of 256 bytes");
    // SAFETY: this is refused.
    let itself = unsafe { wavelift_buffer_read(of_y, 0, start.wrapping_add(4).cast(), 32) };
    fails(itself, WAVELIFT_INVALID_ARGUMENT, "overlaps");
    ok(wavelift_buffer_destroy(of_x));
    ok(wavelift_buffer_destroy(of_y));
    assert_eq!((x[62], x[63], y), (1.0, 9.0, [2.5; 64]));
}

#[test]
fn memory_is_registered_once() {
    let device = device();
    let other = crate::support::device();
    let mut data = [1.0f32; 64];
    let start = data.as_mut_ptr();
    let first = register(device, &mut data[16..32]);
    let mut out = wavelift_buffer::default();
    for (from, count) in [(0, 64), (16, 16), (20, 1), (0, 17), (31, 10)] {
        let at = start.wrapping_add(from).cast();
        // SAFETY: this is refused.
        let status = unsafe { wavelift_buffer_register(device, at, 4 * count, &mut out) };
        fails(status, WAVELIFT_INVALID_ARGUMENT, "is registered already");
    }
    let before = register(device, &mut data[..16]);
    let elsewhere = register(other, &mut data[32..]);
    ok(wavelift_buffer_destroy(first));
    let all = register(device, &mut data[16..]);
    for buffer in [before, elsewhere, all] {
        ok(wavelift_buffer_destroy(buffer));
    }
}

#[test]
fn memory_is_given_back_after_its_launches() {
    let device = device();
    let (kernel, stream, cancel) = (mandelbrot(device), stream(device), token());
    let mut data = vec![0f32; 64 * 64];
    let buffer = register(device, &mut data);
    let options = wavelift_launch_options {
        cancel,
        ..launch_options([64, 64, 0], [16, 8, 0])
    };
    let event = queue(stream, kernel, &options, &endless_args(buffer));
    std::thread::scope(|scope| {
        let giving_back = scope.spawn(move || wavelift_buffer_destroy(buffer));
        let mut done = 7;
        // SAFETY: the result is valid.
        ok(unsafe { wavelift_event_query(event, &mut done) });
        assert_eq!(done, 0);
        ok(wavelift_cancel(cancel));
        assert_eq!(giving_back.join().unwrap(), WAVELIFT_OK);
        // The launch has ended; its event is complete as soon as its thread has said so.
        let begin = std::time::Instant::now();
        while done == 0 && begin.elapsed().as_secs() < 10 {
            std::thread::yield_now();
            // SAFETY: the result is valid.
            ok(unsafe { wavelift_event_query(event, &mut done) });
        }
        assert_eq!(done, 1);
    });
    fails(
        wait(event),
        WAVELIFT_CANCELLED,
        "kernel mandelbrot was cancelled",
    );
}
