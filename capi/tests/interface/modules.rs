//! Devices and their options, modules, kernels and disassembly.

use std::ffi::{CString, c_char};
use std::ptr::{null, null_mut};

use wavelift_c::wavelift_status::*;
use wavelift_c::*;

use crate::support::*;

const SAXPY: &str = "examples/saxpy/saxpy.gfx900.co";

/// The text of a disassembly.
fn listing(call: impl Fn(*mut c_char, usize, *mut usize) -> wavelift_status) -> String {
    let mut length = 0;
    ok(call(null_mut(), 0, &mut length));
    let mut text = vec![0xffu8; length + 2];
    let at = text.as_mut_ptr().cast();
    let mut again = 0;
    fails(
        call(at, length, &mut again),
        WAVELIFT_TOO_SMALL,
        &format!("needs {} bytes", length + 1),
    );
    assert_eq!((again, text[0]), (length, 0xff));
    ok(call(at, length + 1, null_mut()));
    assert_eq!(text[length..], [0, 0xff]);
    fails(
        call(null_mut(), 0, null_mut()),
        WAVELIFT_INVALID_ARGUMENT,
        "is NULL",
    );
    fails(
        call(null_mut(), 8, null_mut()),
        WAVELIFT_INVALID_ARGUMENT,
        "the text is NULL",
    );
    text.truncate(length);
    String::from_utf8(text).unwrap()
}

#[test]
fn versions_engines_and_targets_have_names() {
    assert_eq!(wavelift_abi_version(), WAVELIFT_ABI_VERSION);
    assert_eq!(text(wavelift_version()), env!("CARGO_PKG_VERSION"));
    let engines = list(wavelift_engine_name);
    let engines: Vec<_> = engines.into_iter().map(text).collect();
    let expected: &[&str] = if cfg!(feature = "jit") {
        &["jit", "interp"]
    } else {
        &["interp"]
    };
    assert_eq!(engines, expected);
    let targets = list(wavelift_target_name);
    assert_eq!(targets.len(), 8);
    assert_eq!(text(targets[3]), "gfx900");
    assert_eq!(text(targets[7]), "gfx942");
    assert!(wavelift_target_name(usize::MAX).is_null());
    assert_eq!(text(wavelift_status_name(WAVELIFT_FAULT as u32)), "fault");
    assert_eq!(text(wavelift_status_name(4711)), "unknown status");
}

#[test]
fn wrong_options_are_errors() {
    let create = |options: &wavelift_device_options| {
        let mut out = wavelift_device::default();
        // SAFETY: the options and the result are valid.
        let status = unsafe { wavelift_device_create(options, &mut out) };
        assert_eq!(out, wavelift_device::default());
        status
    };
    let wrong = |change: fn(&mut wavelift_device_options), part: &str| {
        let mut options = device_options();
        change(&mut options);
        fails(create(&options), WAVELIFT_INVALID_ARGUMENT, part);
    };
    wrong(
        |options| options.size = 0,
        "set it to sizeof(wavelift_device_options), which is 56",
    );
    wrong(
        |options| options.size = 55,
        "wavelift_device_options.size is 55",
    );
    wrong(
        |options| options.size = usize::MAX,
        "wavelift_device_options.size is",
    );
    wrong(
        |options| options.flags = 16,
        "the flags are 0xf at most, but 0x10 are given",
    );
    wrong(|options| options.reserved = 1, "reserved is 1, not 0");
    wrong(
        |options| options.engine = c"gpu".as_ptr(),
        "there is no engine 'gpu'; engines of this library are ",
    );
    wrong(
        |options| options.engine = c"".as_ptr(),
        "there is no engine ''",
    );
    wrong(
        |options| options.engine = c"j\xfft".as_ptr(),
        "engine is not UTF-8: byte 1 is wrong",
    );
    wrong(
        |options| options.cache = c"\xff".as_ptr(),
        "cache is not UTF-8",
    );
    let options = wavelift_device_options {
        cache: c"/dev/null/folder".as_ptr(),
        ..device_options()
    };
    if cfg!(feature = "jit") {
        fails(create(&options), WAVELIFT_ENGINE, "/dev/null/folder");
    }
    // As much of it as the host gives.
    let options = wavelift_device_options {
        reserve: u64::MAX,
        ..device_options()
    };
    ok(wavelift_device_destroy(device_with(&options)));
    // SAFETY: null is not followed.
    let nowhere = unsafe { wavelift_device_create(null(), null_mut()) };
    fails(nowhere, WAVELIFT_INVALID_ARGUMENT, "device is NULL");
    // SAFETY: null are the defaults.
    ok(wavelift_device_destroy(made(|out| unsafe {
        wavelift_device_create(null(), out)
    })));
}

/// Structures of programs with a newer header.
#[test]
fn structures_may_be_larger() {
    #[repr(C)]
    struct Newer<T> {
        known: T,
        more: [u64; 2],
    }
    let mut options = Newer {
        known: device_options(),
        more: [0; 2],
    };
    options.known.size = size_of_val(&options);
    let device = made(|out| {
        // SAFETY: the options and the result are valid.
        unsafe { wavelift_device_create((&raw const options).cast(), out) }
    });
    options.more[1] = 1;
    let mut out = wavelift_device::default();
    // SAFETY: the options and the result are valid.
    let unknown = unsafe { wavelift_device_create((&raw const options).cast(), &mut out) };
    fails(
        unknown,
        WAVELIFT_INVALID_ARGUMENT,
        "has fields that this version",
    );

    let mut info = Newer {
        known: kernel_info(),
        more: [7; 2],
    };
    info.known.size = size_of_val(&info);
    // SAFETY: the structure is valid.
    ok(unsafe { wavelift_kernel_get_info(saxpy(device), (&raw mut info).cast()) });
    assert_eq!(
        (info.known.size, info.known.arg_count, info.more),
        (96, 4, [0; 2])
    );
    for (size, status) in [
        (0, WAVELIFT_INVALID_ARGUMENT),
        (79, WAVELIFT_INVALID_ARGUMENT),
    ] {
        info.known.size = size;
        // SAFETY: the structure is valid.
        let result = unsafe { wavelift_kernel_get_info(saxpy(device), (&raw mut info).cast()) };
        fails(result, status, "wavelift_kernel_info.size is");
    }
}

#[test]
fn a_module_tells_its_kernels() {
    let device = device();
    let module = module(device, "examples/reduction/reduction.gfx906.co");
    let mut count = 0;
    // SAFETY: the result is valid.
    ok(unsafe { wavelift_module_kernel_count(module, &mut count) });
    let name = |index| {
        let mut name = null();
        // SAFETY: the result is valid.
        ok(unsafe { wavelift_module_kernel_name(module, index, &mut name) });
        text(name)
    };
    let names: Vec<_> = (0..count).map(name).collect();
    assert_eq!(names, ["reduce_sum", "reduce_max", "reduce_squares"]);
    let mut at = null();
    // SAFETY: the result is valid.
    let past = unsafe { wavelift_module_kernel_name(module, 3, &mut at) };
    fails(past, WAVELIFT_NOT_FOUND, "kernel 3 of a module of 3");
    // SAFETY: the result is valid.
    ok(unsafe { wavelift_module_target(module, &mut at) });
    assert!(text(at).starts_with("gfx906"), "{}", text(at));
    // SAFETY: the result is valid.
    ok(unsafe { wavelift_module_messages(module, &mut at) });
    assert_eq!(text(at), "");

    let mut out = wavelift_kernel::default();
    // SAFETY: the text and the result are valid.
    let unknown = unsafe { wavelift_module_kernel(module, c"reduce".as_ptr(), &mut out) };
    fails(unknown, WAVELIFT_NOT_FOUND, "reduce_sum");
    // SAFETY: null is not followed.
    let null_name = unsafe { wavelift_module_kernel(module, null(), &mut out) };
    fails(null_name, WAVELIFT_INVALID_ARGUMENT, "name is NULL");
    // SAFETY: the text is valid.
    let no_text = unsafe { wavelift_module_kernel(module, c"\xc3\x28".as_ptr(), &mut out) };
    fails(no_text, WAVELIFT_INVALID_ARGUMENT, "name is not UTF-8");
    let (mut address, mut bytes, mut version) = (0, 0, 0u32);
    let name = c"__oclc_ABI_version".as_ptr();
    // SAFETY: the text and the results are valid.
    ok(unsafe { wavelift_module_variable(module, name, &mut address, &mut bytes) });
    assert_eq!(bytes, 4);
    // SAFETY: the result is valid.
    ok(unsafe { wavelift_device_read(device, address, (&raw mut version).cast(), 4) });
    assert_eq!(version, 500);
    // SAFETY: the text is valid; null results are left out.
    let unknown =
        unsafe { wavelift_module_variable(module, c"v".as_ptr(), null_mut(), null_mut()) };
    fails(unknown, WAVELIFT_NOT_FOUND, "no variable 'v'");
}

#[test]
fn a_kernel_tells_what_it_needs_and_takes() {
    let device = device();
    let kernel = saxpy(device);
    let mut info = kernel_info();
    // SAFETY: the structure is valid.
    ok(unsafe { wavelift_kernel_get_info(kernel, &mut info) });
    assert_eq!(text(info.name), "saxpy");
    assert_eq!((info.arg_count, info.has_metadata), (4, 1));
    assert!(info.hidden_count > 0 && info.kernarg_bytes >= 24);
    assert!(info.vgprs >= 4 && info.sgprs >= 8);
    assert_eq!(
        (info.lds_bytes, info.scratch_bytes, info.dynamic_stack),
        (0, 0, 0)
    );
    let arg = |index| {
        let mut arg = parameter();
        // SAFETY: the structure is valid.
        ok(unsafe { wavelift_kernel_get_parameter(kernel, index, &mut arg) });
        arg
    };
    use wavelift_parameter_kind::*;
    let args: Vec<_> = (0..4).map(arg).collect();
    let types: Vec<_> = args.iter().map(|arg| text(arg.type_name)).collect();
    assert_eq!(types, ["float*", "float*", "float", "uint"]);
    assert!(args[0].name.is_null());
    let places: Vec<_> = args
        .iter()
        .map(|arg| (arg.kind, arg.offset, arg.bytes))
        .collect();
    let (pointer, value) = (WAVELIFT_PARAMETER_POINTER, WAVELIFT_PARAMETER_VALUE);
    assert_eq!(
        places,
        [
            (pointer, 0, 8),
            (pointer, 8, 8),
            (value, 16, 4),
            (value, 20, 4)
        ]
    );
    assert_eq!(
        args.iter().map(|arg| arg.read_only).collect::<Vec<_>>(),
        [0, 1, 0, 0]
    );
    assert_eq!(
        (text(args[0].kind_name), text(args[0].address_space)),
        ("global_buffer".into(), "global".into())
    );
    assert!(args[2].address_space.is_null());
    let last = info.arg_count + info.hidden_count;
    for index in 4..last {
        assert_eq!(arg(index as usize).kind, WAVELIFT_PARAMETER_HIDDEN);
    }
    let mut none = parameter();
    // SAFETY: the structure is valid.
    let past = unsafe { wavelift_kernel_get_parameter(kernel, last as usize, &mut none) };
    fails(past, WAVELIFT_NOT_FOUND, "parameter");
    // This compiler wrote the name, but no type.
    let other = crate::support::module(device, "tests/kernels/faults/faults.gfx900.co");
    let mut name = null();
    // SAFETY: the result is valid.
    ok(unsafe { wavelift_module_kernel_name(other, 0, &mut name) });
    let other = kernel_of(other, &CString::new(text(name)).unwrap());
    let mut named = parameter();
    // SAFETY: the structure is valid.
    ok(unsafe { wavelift_kernel_get_parameter(other, 0, &mut named) });
    assert_eq!(
        (text(named.name), named.type_name),
        ("buffer".to_owned(), null())
    );
    // SAFETY: null is not followed.
    let nowhere = unsafe { wavelift_kernel_get_parameter(kernel, 0, null_mut()) };
    fails(
        nowhere,
        WAVELIFT_INVALID_ARGUMENT,
        "wavelift_parameter is NULL",
    );
}

#[test]
fn code_is_disassembled() {
    let device = device();
    let module = module(device, SAXPY);
    let kernel = kernel_of(module, c"saxpy");
    // SAFETY: `listing` gives valid addresses.
    let whole = listing(|text, capacity, length| unsafe {
        wavelift_module_disassemble(module, 0, text, capacity, length)
    });
    // SAFETY: as above.
    let one = listing(|text, capacity, length| unsafe {
        wavelift_kernel_disassemble(
            kernel,
            WAVELIFT_ADDRESSES | WAVELIFT_BYTES,
            text,
            capacity,
            length,
        )
    });
    for text in [&whole, &one] {
        assert!(
            text.contains("v_mul_f32_e32") && text.contains(".amdhsa_kernel saxpy"),
            "{text}"
        );
    }
    assert!(one.len() > whole.len() && one.contains("000081bf"), "{one}");
    let mut length = 0;
    // SAFETY: the result is valid.
    let flags = unsafe { wavelift_module_disassemble(module, 4, null_mut(), 0, &mut length) };
    fails(
        flags,
        WAVELIFT_INVALID_ARGUMENT,
        "flags of a disassembly are 0x3 at most",
    );
}

#[test]
fn code_is_loaded_from_memory_and_files() {
    let device = device();
    let bytes = std::fs::read(root().join("examples/saxpy/saxpy.bundle.hipfb")).unwrap();
    let load = |bytes: &[u8], target: *const c_char| {
        let mut out = wavelift_module::default();
        let at = bytes.as_ptr().cast();
        // SAFETY: the bytes and the result are valid.
        let status = unsafe { wavelift_module_load(device, at, bytes.len(), target, &mut out) };
        (status, out)
    };
    let (status, module) = load(&bytes, c"gfx906".as_ptr());
    ok(status);
    let mut target = null();
    // SAFETY: the result is valid.
    ok(unsafe { wavelift_module_target(module, &mut target) });
    assert!(text(target).starts_with("gfx906"));
    fails(load(&bytes, null()).0, WAVELIFT_BAD_CODE, "gfx906");
    fails(
        load(&bytes, c"gfx1030".as_ptr()).0,
        WAVELIFT_BAD_CODE,
        "gfx1030",
    );
    assert_eq!(
        load(&bytes[..100], c"gfx906".as_ptr()).0,
        WAVELIFT_BAD_CODE,
        "{}",
        message()
    );
    assert_eq!(
        load(b"no code", null()).0,
        WAVELIFT_BAD_CODE,
        "{}",
        message()
    );
    assert_eq!(load(b"", null()).0, WAVELIFT_BAD_CODE, "{}", message());

    let file = |path: *const c_char, target: *const c_char| {
        let mut out = wavelift_module::default();
        // SAFETY: the texts are null or valid, the result is valid.
        unsafe { wavelift_module_load_file(device, path, target, &mut out) }
    };
    fails(
        file(c"/no/such.co".as_ptr(), null()),
        WAVELIFT_SYSTEM,
        "cannot read /no/such.co: ",
    );
    fails(
        file(null(), null()),
        WAVELIFT_INVALID_ARGUMENT,
        "path is NULL",
    );
    fails(
        file(c"\xff".as_ptr(), null()),
        WAVELIFT_INVALID_ARGUMENT,
        "path is not UTF-8",
    );
    fails(
        file(c"x".as_ptr(), c"\xff".as_ptr()),
        WAVELIFT_INVALID_ARGUMENT,
        "target is not UTF-8",
    );
    let source = path("examples/saxpy/saxpy.cl");
    fails(
        file(source.as_ptr(), null()),
        WAVELIFT_BAD_CODE,
        "saxpy.cl: ",
    );
}

#[test]
fn sources_are_compiled() {
    let device = device();
    let compile = |source: &CString, target: *const c_char| {
        let mut out = wavelift_module::default();
        // SAFETY: the texts and the result are valid.
        let status = unsafe { wavelift_module_compile(device, source.as_ptr(), target, &mut out) };
        (status, out)
    };
    let missing = compile(&path("no/such.cl"), null());
    fails(missing.0, WAVELIFT_COMPILE, "cannot read");
    let object = compile(&path(SAXPY), null());
    fails(object.0, WAVELIFT_COMPILE, "is no source");
    // With a compiler there is a kernel that runs, without one a message that tells what to install.
    match compile(&path("examples/saxpy/saxpy.cl"), c"gfx900".as_ptr()) {
        (WAVELIFT_OK, module) => {
            let (x, y) = (buffer(device, &[1.0; 64]), buffer(device, &[0.5; 64]));
            let kernel = kernel_of(module, c"saxpy");
            ok(launch(kernel, &small(), &saxpy_args(y, x, 64)));
            assert_eq!(read(y, 64), [2.5; 64]);
        }
        (status, _) => fails(status, WAVELIFT_COMPILE, "install"),
    }
}
