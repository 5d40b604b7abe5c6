//! Faults as structures.

use std::ptr::null_mut;

use wavelift_c::wavelift_status::*;
use wavelift_c::*;

use crate::support::*;

/// The fault of the last failure.
fn last() -> wavelift_fault {
    let mut fault = fault();
    // SAFETY: the structure is valid.
    ok(unsafe { wavelift_error_fault(&mut fault) });
    fault
}

#[test]
fn a_fault_tells_what_happened_and_where() {
    for engine in list(wavelift_engine_name) {
        let device = device_with(&wavelift_device_options {
            engine,
            flags: WAVELIFT_MEMCHECK,
            ..device_options()
        });
        let kernel = saxpy(device);
        let (x, y) = (buffer(device, &[1.0; 200]), buffer(device, &[0.5; 100]));
        let mut start = 0;
        // SAFETY: the result is valid.
        ok(unsafe { wavelift_buffer_info(y, &mut start, null_mut()) });
        let options = launch_options([256, 0, 0], [256, 0, 0]);
        let status = launch(kernel, &options, &saxpy_args(y, x, 200));
        fails(status, WAVELIFT_FAULT, "lane 36 read 4 bytes");
        let fault = last();
        assert_eq!(fault.kind, wavelift_fault_kind::WAVELIFT_FAULT_MEMORY);
        assert_eq!(fault.access, wavelift_access::WAVELIFT_ACCESS_READ);
        assert_eq!(
            (fault.has_address, fault.address, fault.bytes),
            (1, start + 400, 4)
        );
        assert_eq!(
            (fault.has_place, fault.workgroup, fault.wave, fault.lane),
            (1, [0; 3], 1, 36)
        );
        assert_eq!(fault.exec, u64::MAX);
        assert_eq!(
            (text(fault.kind_name), text(fault.kernel)),
            ("memory".into(), "saxpy".into())
        );
        assert!(text(fault.instruction).starts_with("global_load_dword "));
        assert_eq!(text(fault.function), "saxpy");
        assert!(fault.function_offset > 0 && fault.pc > fault.function_offset);
        assert_eq!(text(fault.message), message());

        // Another failure has no fault, and this is no failure of its own.
        assert_eq!(
            wavelift_device_destroy(wavelift_device { handle: 1 }),
            WAVELIFT_INVALID_HANDLE
        );
        let before = message();
        let mut none = crate::support::fault();
        // SAFETY: the structure is valid.
        let status = unsafe { wavelift_error_fault(&mut none) };
        assert_eq!(status, WAVELIFT_NOT_FOUND);
        assert_eq!(
            (none.kind, message()),
            (wavelift_fault_kind::WAVELIFT_FAULT_NONE, before)
        );
    }
}

#[test]
fn later_launches_of_a_stream_have_the_fault_of_the_first() {
    let device = device();
    let (kernel, stream) = (saxpy(device), stream(device));
    let x = buffer(device, &[1.0; 64]);
    let mut args = saxpy_args(x, x, 64);
    args[0] = wavelift_arg_pointer(64);
    let first = queue(stream, kernel, &small(), &args);
    let second = queue(stream, kernel, &small(), &saxpy_args(x, x, 64));
    fails(wait(second), WAVELIFT_NOT_RUN, "an earlier launch failed");
    assert_eq!((last().address, last().lane), (64, 0));
    fails(wait(first), WAVELIFT_FAULT, "64 bytes from a null pointer");
    assert_eq!(
        (last().address, last().kind),
        (64, wavelift_fault_kind::WAVELIFT_FAULT_MEMORY)
    );
    // A second wait gives the same fault, on any thread.
    std::thread::spawn(move || {
        fails(wait(first), WAVELIFT_FAULT, "null pointer");
        assert_eq!(last().address, 64);
    })
    .join()
    .unwrap();
}

#[test]
fn a_write_past_a_buffer_has_no_place() {
    let device = device();
    let kernel = saxpy(device);
    let (y, x) = (buffer(device, &[0.5; 63]), buffer(device, &[1.0; 128]));
    let status = launch(kernel, &small(), &saxpy_args(y, x, 64));
    fails(status, WAVELIFT_FAULT, "past the end of a 252-byte buffer");
    let fault = last();
    assert_eq!(fault.kind, wavelift_fault_kind::WAVELIFT_FAULT_OVERRUN);
    assert_eq!((fault.has_place, fault.has_address), (0, 1));
    assert_eq!(
        (text(fault.kernel), text(fault.instruction)),
        ("saxpy".into(), String::new())
    );
    assert!(fault.function.is_null());
    assert_eq!(
        (fault.access, fault.lane),
        (wavelift_access::WAVELIFT_ACCESS_NONE, -1)
    );
}

#[test]
fn the_place_for_a_fault_is_checked() {
    // SAFETY: null is not followed.
    let nowhere = unsafe { wavelift_error_fault(null_mut()) };
    fails(nowhere, WAVELIFT_INVALID_ARGUMENT, "wavelift_fault is NULL");
    let mut fault = fault();
    fault.size = 0;
    // SAFETY: the structure is valid.
    let empty = unsafe { wavelift_error_fault(&mut fault) };
    fails(
        empty,
        WAVELIFT_INVALID_ARGUMENT,
        "set it to sizeof(wavelift_fault), which is 120",
    );
}
