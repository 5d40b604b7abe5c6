//! Launches, and what they refuse.

use std::ptr::{null, null_mut};

use wavelift_c::wavelift_status::*;
use wavelift_c::*;

use crate::support::*;

/// A device with each engine.
fn devices() -> Vec<wavelift_device> {
    let names = list(wavelift_engine_name);
    let device = |engine| {
        device_with(&wavelift_device_options {
            engine,
            ..device_options()
        })
    };
    names.into_iter().map(device).collect()
}

#[test]
fn kernels_get_arguments_of_all_kinds() {
    #[repr(C)]
    struct Triple(i32, i32, f32);
    for device in devices() {
        let file = "tests/kernels/objects/args.v6.gfx900.co";
        let kernel = kernel_of(module(device, file), c"args");
        let input: Vec<f32> = (0..128).map(|i| i as f32).collect();
        let data = buffer(device, &input);
        let table = buffer(device, &[100, 200, 300].map(f32::from_bits));
        let out = buffer(device, &[0.0; 128]);
        let mut address = 0;
        // SAFETY: the result is valid.
        ok(unsafe { wavelift_buffer_info(data, &mut address, null_mut()) });
        let triple = Triple(7, 2, 0.25);
        let mut byte = wavelift_arg_u32(1);
        byte.bytes = 1;
        let args = [
            wavelift_arg_buffer(out),
            wavelift_arg_pointer(address),
            wavelift_arg_buffer_at(table, 4),
            wavelift_arg_f32(2.0),
            byte,
            wavelift_arg_bytes((&raw const triple).cast(), size_of_val(&triple)),
            wavelift_arg_local(4 * 64),
            wavelift_arg_local(8 * 64),
        ];
        ok(launch(
            kernel,
            &launch_options([128, 0, 0], [64, 0, 0]),
            &args,
        ));
        let expected: Vec<f32> = (0..128)
            .map(|i| input[i / 64 * 64 + 63 - i % 64] * 2.0 + 0.25 + (300 + 7 - 2) as f32 + 2.0)
            .collect();
        assert_eq!(read(out, 128), expected);
    }
}

#[test]
fn a_segment_is_taken_as_it_stands() {
    #[repr(C)]
    struct Segment {
        y: u64,
        x: u64,
        a: f32,
        n: u32,
        hidden: [u64; 40],
    }
    for device in devices() {
        let kernel = saxpy(device);
        let (x, y) = (buffer(device, &[1.0; 64]), buffer(device, &[0.5; 64]));
        let address = |buffer| {
            let mut address = 0;
            // SAFETY: the result is valid.
            ok(unsafe { wavelift_buffer_info(buffer, &mut address, null_mut()) });
            address
        };
        let mut segment = Segment {
            y: address(y),
            x: address(x),
            a: 3.0,
            n: 60,
            hidden: [0; 40],
        };
        // Hidden arguments: one workgroup of 64 by 1 by 1 work-items.
        segment.hidden[0] = 1 | 1 << 32;
        segment.hidden[1] = 1 | 64 << 32 | 1 << 48;
        segment.hidden[2] = 1;
        let (at, bytes) = ((&raw const segment).cast(), size_of_val(&segment));
        ok(launch(kernel, &small(), &[wavelift_arg_segment(at, bytes)]));
        assert_eq!(read(y, 64)[..60], [3.5; 60]);
        assert_eq!(read(y, 64)[60..], [0.5; 4]);

        let short = launch(kernel, &small(), &[wavelift_arg_segment(at, 8)]);
        fails(short, WAVELIFT_BAD_LAUNCH, "saxpy");
        let more = [wavelift_arg_segment(at, bytes), wavelift_arg_u32(1)];
        fails(
            launch(kernel, &small(), &more),
            WAVELIFT_BAD_LAUNCH,
            "must be the only argument",
        );
    }
}

#[test]
fn launches_count() {
    let device = device();
    let kernel = saxpy(device);
    let (x, y) = (buffer(device, &[1.0; 100]), buffer(device, &[0.5; 100]));
    let args = saxpy_args(y, x, 100);
    let options = wavelift_launch_options {
        flags: WAVELIFT_COUNT,
        ..launch_options([100, 0, 0], [64, 0, 0])
    };
    let mut stats = stats();
    // SAFETY: all addresses are valid.
    ok(unsafe { wavelift_launch(kernel, &options, args.as_ptr(), 4, &mut stats) });
    assert_eq!((stats.workgroups, stats.waves), (2, 2));
    assert!(
        stats.instructions > 20 && stats.lane_instructions > 500,
        "{stats:?}"
    );
    stats.size = 3;
    // SAFETY: all addresses are valid.
    let size = unsafe { wavelift_launch(kernel, &options, args.as_ptr(), 4, &mut stats) };
    fails(size, WAVELIFT_INVALID_ARGUMENT, "wavelift_stats.size is 3");
    assert_eq!(read(y, 100), [2.5; 100]);
}

#[test]
fn what_does_not_suit_a_kernel_is_refused() {
    let (device, other) = (device(), crate::support::device());
    let kernel = saxpy(device);
    let (x, y) = (buffer(device, &[1.0; 64]), buffer(device, &[0.5; 64]));
    let foreign = buffer(other, &[1.0; 64]);
    let good = saxpy_args(y, x, 64);
    let with = |index: usize, arg: wavelift_arg| {
        let mut args = good;
        args[index] = arg;
        launch(kernel, &small(), &args)
    };
    fails(
        launch(kernel, &small(), &good[..3]),
        WAVELIFT_BAD_LAUNCH,
        "takes 4 arguments, but 3",
    );
    fails(
        with(2, wavelift_arg_f64(2.0)),
        WAVELIFT_BAD_LAUNCH,
        "takes 4 bytes, but 8 are given",
    );
    fails(
        with(0, wavelift_arg_u64(1)),
        WAVELIFT_BAD_LAUNCH,
        "argument 0",
    );
    fails(
        with(1, wavelift_arg_local(1)),
        WAVELIFT_BAD_LAUNCH,
        "argument 1",
    );
    fails(
        with(1, wavelift_arg_buffer(foreign)),
        WAVELIFT_BAD_LAUNCH,
        "belongs to another device",
    );
    fails(
        with(1, wavelift_arg_buffer_at(x, 257)),
        WAVELIFT_OUT_OF_RANGE,
        "argument 1: offset 257",
    );
    fails(
        with(2, wavelift_arg_bytes(null(), 4)),
        WAVELIFT_INVALID_ARGUMENT,
        "argument 2: data is NULL",
    );
    fails(
        with(2, wavelift_arg_bytes(null(), 0)),
        WAVELIFT_BAD_LAUNCH,
        "but 0 are given",
    );
    let local = wavelift_arg {
        value: 1 << 32,
        ..wavelift_arg_local(0)
    };
    fails(with(1, local), WAVELIFT_INVALID_ARGUMENT, "bytes of LDS");
    for bytes in [0, 9, usize::MAX] {
        let number = wavelift_arg {
            bytes,
            ..wavelift_arg_u32(1)
        };
        fails(
            with(3, number),
            WAVELIFT_INVALID_ARGUMENT,
            "argument 3: a number has 1 to 8 bytes",
        );
    }
    for kind in [0, 7, u32::MAX] {
        let unknown = wavelift_arg {
            kind,
            ..wavelift_arg_u32(1)
        };
        fails(
            with(3, unknown),
            WAVELIFT_INVALID_ARGUMENT,
            "there is no kind",
        );
    }
    let reserved = wavelift_arg {
        reserved: 5,
        ..wavelift_arg_u32(1)
    };
    fails(
        with(3, reserved),
        WAVELIFT_INVALID_ARGUMENT,
        "reserved is 5",
    );

    let shape = |grid, block| launch(kernel, &launch_options(grid, block), &good);
    fails(
        shape([0; 3], [64, 0, 0]),
        WAVELIFT_BAD_LAUNCH,
        "no work-items",
    );
    fails(
        shape([64, 0, 2], [64, 0, 0]),
        WAVELIFT_BAD_LAUNCH,
        "no work-items",
    );
    fails(
        shape([64, 0, 0], [64, 2, 0]),
        WAVELIFT_BAD_LAUNCH,
        "dimension",
    );
    fails(
        shape([64, 0, 0], [4096, 0, 0]),
        WAVELIFT_BAD_LAUNCH,
        "more than 1024 work-items",
    );
    let wrong = |change: fn(&mut wavelift_launch_options), status, part: &str| {
        let mut options = small();
        change(&mut options);
        fails(launch(kernel, &options, &good), status, part);
    };
    wrong(
        |options| options.flags = 2,
        WAVELIFT_INVALID_ARGUMENT,
        "flags are 0x1 at most",
    );
    wrong(
        |options| options.size = 8,
        WAVELIFT_INVALID_ARGUMENT,
        "set it to sizeof",
    );
    wrong(
        |options| options.dynamic_lds = 1 << 20,
        WAVELIFT_BAD_LAUNCH,
        "LDS",
    );
    // SAFETY: null is not followed.
    let nothing = unsafe { wavelift_launch(kernel, null(), good.as_ptr(), 4, null_mut()) };
    fails(
        nothing,
        WAVELIFT_INVALID_ARGUMENT,
        "wavelift_launch_options is NULL",
    );
    // SAFETY: null is not followed.
    let nothing = unsafe { wavelift_launch(kernel, &small(), null(), 4, null_mut()) };
    fails(nothing, WAVELIFT_INVALID_ARGUMENT, "args is NULL");
    // SAFETY: such a number is refused before anything is accessed.
    let many = unsafe { wavelift_launch(kernel, &small(), good.as_ptr(), usize::MAX, null_mut()) };
    fails(many, WAVELIFT_INVALID_ARGUMENT, "no memory has");
    // Nothing has run.
    assert_eq!(read(y, 64), [0.5; 64]);
    ok(launch(kernel, &small(), &good));
}
