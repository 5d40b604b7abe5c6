//! Tests on the metadata of the code objects in `tests/kernels/objects`.

use super::*;
use crate::object::CodeObject;

macro_rules! kernel {
    ($name:literal) => {
        kernel(include_bytes!(concat!(
            "../../../tests/kernels/objects/",
            $name
        )))
    };
}

fn kernel(bytes: &[u8]) -> KernelMetadata {
    let object = CodeObject::parse(bytes).expect("a sound code object");
    object
        .kernel("args")
        .expect("the kernel")
        .metadata
        .clone()
        .expect("its metadata")
}

fn explicit() -> Vec<ArgValue> {
    let triple = [
        1_i32.to_le_bytes(),
        2_i32.to_le_bytes(),
        0.5_f32.to_le_bytes(),
    ]
    .concat();
    vec![
        ArgValue::Pointer(0x1000),
        ArgValue::Pointer(0x2000),
        ArgValue::Pointer(0),
        2.5_f32.into(),
        7_u8.into(),
        ArgValue::Bytes(triple),
        ArgValue::Local(1020),
        ArgValue::Local(2048),
    ]
}

fn hidden() -> HiddenContext {
    HiddenContext {
        dims: 2,
        grid: [1000, 30, 1],
        workgroup: [256, 4, 1],
        global_offset: [5, 6, 1 << 40],
        private_base_hi: 0xaaaa,
        shared_base_hi: 0xbbbb,
        queue_ptr: 0x7000_0000_1000,
        ..HiddenContext::default()
    }
}

fn number(kernarg: &Kernarg, at: usize, size: usize) -> u64 {
    kernarg.bytes[at..at + size]
        .iter()
        .rev()
        .fold(0, |n, &byte| n << 8 | u64::from(byte))
}

#[test]
fn explicit_arguments_lie_where_the_metadata_says() {
    for kernel in [kernel!("args.v3.gfx803.co"), kernel!("args.v5.gfx906.co")] {
        let kernarg = build(&kernel, &explicit(), &hidden()).expect("sound arguments");
        assert_eq!(kernarg.bytes.len(), kernel.kernarg_segment_size as usize);
        assert_eq!(kernarg.align, 8);
        let value = |at, size| number(&kernarg, at, size);
        assert_eq!(
            (value(0, 8), value(8, 8), value(16, 8)),
            (0x1000, 0x2000, 0)
        );
        assert_eq!(
            (value(24, 4), value(28, 1)),
            (u64::from(2.5_f32.to_bits()), 7)
        );
        assert_eq!(value(29, 3), 0, "padding");
        assert_eq!((value(32, 4), value(36, 4)), (1, 2));
        assert_eq!(value(40, 4), u64::from(0.5_f32.to_bits()));
        // the second pointer to LDS is aligned to 8
        assert_eq!(
            (value(44, 4), value(48, 4), kernarg.lds_size),
            (0, 1024, 3072)
        );
    }
}

#[test]
fn lds_comes_after_the_static_and_the_added_bytes() {
    let mut kernel = kernel!("args.v5.gfx906.co");
    kernel.group_segment_fixed_size = 10;
    let context = HiddenContext {
        dynamic_lds: 100,
        ..hidden()
    };
    let kernarg = build(&kernel, &explicit(), &context).expect("sound arguments");
    assert_eq!(
        (number(&kernarg, 44, 4), number(&kernarg, 48, 4)),
        (112, 1136)
    );
    assert_eq!(kernarg.lds_size, 1136 + 2048);
    let mut many = explicit();
    many[6] = ArgValue::Local(u32::MAX);
    let error = build(&kernel, &many, &context).expect_err("too much");
    assert_eq!(
        error.to_string(),
        "kernel `args`: static and dynamic LDS together exceed 4 GiB"
    );
}

#[test]
fn hidden_arguments_of_version_5() {
    // the gfx700 object has the apertures as well
    let kernarg = build(&kernel!("args.v5.gfx700.co"), &explicit(), &hidden()).expect("sound");
    let value = |at: usize, size| number(&kernarg, 56 + at, size);
    assert_eq!(
        (value(0, 4), value(4, 4), value(8, 4)),
        (3, 7, 1),
        "complete workgroups"
    );
    assert_eq!((value(12, 2), value(14, 2), value(16, 2)), (256, 4, 1));
    assert_eq!(
        (value(18, 2), value(20, 2), value(22, 2)),
        (1000 - 768, 2, 0)
    );
    assert_eq!((value(40, 8), value(48, 8), value(56, 8)), (5, 6, 1 << 40));
    assert_eq!(value(64, 2), 2);
    let kinds: Vec<String> = kernel!("args.v5.gfx700.co")
        .args
        .iter()
        .map(|arg| arg.kind.name().to_owned())
        .collect();
    let has = |kind: &str| kinds.iter().any(|one| one == kind);
    for (kind, at, size, expected) in [
        ("hidden_private_base", 192, 4, 0xaaaa),
        ("hidden_shared_base", 196, 4, 0xbbbb),
        ("hidden_queue_ptr", 200, 8, 0x7000_0000_1000_u64),
    ] {
        let expected = if has(kind) { expected } else { 0 };
        assert_eq!(value(at, size), expected, "{kind}");
    }
    assert!(has("hidden_private_base"));
}

#[test]
fn hidden_arguments_of_versions_3_and_4() {
    for kernel in [kernel!("args.v3.gfx803.co"), kernel!("args.v4.gfx900.co")] {
        let kernarg = build(&kernel, &explicit(), &hidden()).expect("sound arguments");
        let value = |at: usize, size| number(&kernarg, 56 + at, size);
        assert_eq!((value(0, 8), value(8, 8), value(16, 8)), (5, 6, 1 << 40));
        assert!(kernarg.bytes[56 + 24..].iter().all(|&byte| byte == 0));
    }
}

/// One hidden argument of a kind and size.
fn single(kind: ArgKind, size: u32) -> KernelMetadata {
    KernelMetadata {
        name: "k".to_owned(),
        kernarg_segment_size: 16,
        kernarg_segment_align: 8,
        args: vec![ArgMetadata {
            kind,
            size,
            offset: 4,
            ..ArgMetadata::default()
        }],
        ..KernelMetadata::default()
    }
}

#[test]
fn every_hidden_kind_has_its_source() {
    let context = HiddenContext {
        dynamic_lds: 11,
        printf_buffer: 12,
        hostcall_buffer: 13,
        multigrid_sync: 14,
        heap: 15,
        default_queue: 16,
        completion_action: 17,
        ..hidden()
    };
    for (kind, expected) in [
        (ArgKind::HiddenNone, 0),
        (ArgKind::HiddenDynamicLdsSize, 11),
        (ArgKind::HiddenPrintfBuffer, 12),
        (ArgKind::HiddenHostcallBuffer, 13),
        (ArgKind::HiddenMultigridSyncArg, 14),
        (ArgKind::HiddenHeapV1, 15),
        (ArgKind::HiddenDefaultQueue, 16),
        (ArgKind::HiddenCompletionAction, 17),
        (ArgKind::HiddenRemainderX, 232),
        (ArgKind::HiddenSharedBase, 0xbbbb),
        (ArgKind::HiddenQueuePtr, 0x7000_0000_1000),
    ] {
        let kernarg = build(&single(kind.clone(), 8), &[], &context).expect("a sound kernel");
        assert_eq!(number(&kernarg, 4, 8), expected, "{kind}");
    }
    let error = build(&single(ArgKind::HiddenGlobalOffsetZ, 4), &[], &context);
    assert_eq!(
        error.expect_err("40 bits").to_string(),
        "kernel `k`, hidden argument hidden_global_offset_z: 1099511627776 does not fit into 4 bytes"
    );
    let unknown = build(
        &single(ArgKind::from_name("hidden_fortune"), 8),
        &[],
        &context,
    );
    assert_eq!(
        unknown.expect_err("unknown").to_string(),
        "kernel `k`, argument 0 (hidden_fortune): kind hidden_fortune is not supported"
    );
    let outside = build(&single(ArgKind::HiddenNone, 13), &[], &context);
    assert!(matches!(
        outside,
        Err(ArgError::Layout {
            offset: 4,
            size: 13,
            segment: 16,
            ..
        })
    ));
}

#[test]
fn wrong_arguments_are_named() {
    let kernel = kernel!("args.v4.gfx900.co");
    let message = |index: usize, value: ArgValue| {
        let mut args = explicit();
        args[index] = value;
        build(&kernel, &args, &hidden())
            .expect_err("a wrong argument")
            .to_string()
    };
    let count = build(&kernel, &explicit()[..7], &hidden()).expect_err("one is missing");
    assert_eq!(
        count.to_string(),
        "kernel `args` takes 8 arguments, but 7 are given"
    );
    assert_eq!(
        message(3, 1.0_f64.into()),
        "kernel `args`, argument 3 (float): takes 4 bytes, but 8 are given"
    );
    assert_eq!(
        message(0, 1_u64.into()),
        "kernel `args`, argument 0 (float*): takes a pointer, but a value of 8 bytes is given"
    );
    assert_eq!(
        message(5, ArgValue::Pointer(0)),
        "kernel `args`, argument 5 (triple): takes a value, but a pointer is given"
    );
    assert_eq!(
        message(7, ArgValue::Pointer(0)),
        "kernel `args`, argument 7 (double*): takes a size of LDS, but a pointer is given"
    );
    assert_eq!(
        message(1, ArgValue::Local(4)),
        "kernel `args`, argument 1 (float*): takes a pointer, but a size of LDS is given"
    );
}

#[test]
fn impossible_dispatches_are_refused() {
    let kernel = kernel!("args.v4.gfx900.co");
    let defect = |context: HiddenContext| {
        let error = build(&kernel, &explicit(), &context).expect_err("an impossible dispatch");
        assert!(matches!(error, ArgError::Dispatch { .. }));
        error.to_string()
    };
    assert!(
        defect(HiddenContext {
            dims: 0,
            ..hidden()
        })
        .contains("1 to 3 dimensions")
    );
    assert!(
        defect(HiddenContext {
            dims: 1,
            ..hidden()
        })
        .contains("must be 1")
    );
    assert!(
        defect(HiddenContext {
            grid: [0, 1, 1],
            ..hidden()
        })
        .contains("grid is empty")
    );
    assert!(
        defect(HiddenContext {
            workgroup: [4, 0, 1],
            ..hidden()
        })
        .contains("workgroup is empty")
    );
    assert!(
        defect(HiddenContext {
            workgroup: [1 << 16, 1, 1],
            ..hidden()
        })
        .contains("65535")
    );
}
