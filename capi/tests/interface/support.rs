//! What the tests share.

use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr::null;

use wavelift_c::wavelift_status::*;
use wavelift_c::*;

/// The workspace's folder.
pub(crate) fn root() -> PathBuf {
    let capi = Path::new(env!("CARGO_MANIFEST_DIR"));
    capi.parent().expect("the crate is in a workspace").into()
}

/// A file of the workspace, as functions take its name.
pub(crate) fn path(name: &str) -> CString {
    let path = root().join(name).into_os_string().into_string();
    CString::new(path.expect("the path is UTF-8")).expect("the path has no zero")
}

/// A text of the library.
pub(crate) fn text(at: *const c_char) -> String {
    assert!(!at.is_null());
    // SAFETY: the library gives texts with a zero at the end, and the tests keep their owners.
    let text = unsafe { CStr::from_ptr(at) };
    text.to_str().expect("texts are UTF-8").to_owned()
}

/// Texts of a list by number, up to the NULL after the last one.
pub(crate) fn list(name: extern "C" fn(usize) -> *const c_char) -> Vec<*const c_char> {
    let names = (0..).map(|index| name(index));
    names.take_while(|name| !name.is_null()).collect()
}

/// The message of this thread's last failure.
pub(crate) fn message() -> String {
    text(wavelift_error_message())
}

/// A call that succeeds.
#[track_caller]
pub(crate) fn ok(status: wavelift_status) {
    assert_eq!(status, WAVELIFT_OK, "{}", message());
}

/// A call that fails with a message that contains `part`.
#[track_caller]
pub(crate) fn fails(status: wavelift_status, expected: wavelift_status, part: &str) {
    assert_eq!(status, expected, "{}", message());
    assert!(message().contains(part), "{}", message());
}

/// The result of a call.
#[track_caller]
pub(crate) fn made<T: Default>(call: impl FnOnce(*mut T) -> wavelift_status) -> T {
    let mut out = T::default();
    ok(call(&mut out));
    out
}

pub(crate) fn device_options() -> wavelift_device_options {
    wavelift_device_options {
        size: size_of::<wavelift_device_options>(),
        engine: null(),
        cache: null(),
        timeout_ns: 0,
        reserve: 64 << 20,
        threads: 0,
        stack_bytes: 0,
        flags: 0,
        reserved: 0,
    }
}

pub(crate) fn device_with(options: &wavelift_device_options) -> wavelift_device {
    // SAFETY: the options and the result are valid.
    made(|out| unsafe { wavelift_device_create(options, out) })
}

pub(crate) fn device() -> wavelift_device {
    device_with(&device_options())
}

pub(crate) fn module(device: wavelift_device, file: &str) -> wavelift_module {
    let path = path(file);
    // SAFETY: the texts and the result are valid.
    made(|out| unsafe { wavelift_module_load_file(device, path.as_ptr(), null(), out) })
}

pub(crate) fn kernel_of(module: wavelift_module, name: &CStr) -> wavelift_kernel {
    // SAFETY: the text and the result are valid.
    made(|out| unsafe { wavelift_module_kernel(module, name.as_ptr(), out) })
}

/// `y = a * x + y`.
pub(crate) fn saxpy(device: wavelift_device) -> wavelift_kernel {
    kernel_of(module(device, "examples/saxpy/saxpy.gfx900.co"), c"saxpy")
}

/// Iterates the Mandelbrot set.
pub(crate) fn mandelbrot(device: wavelift_device) -> wavelift_kernel {
    let file = "examples/mandelbrot/mandelbrot.gfx900.co";
    kernel_of(module(device, file), c"mandelbrot")
}

pub(crate) fn buffer(device: wavelift_device, data: &[f32]) -> wavelift_buffer {
    let bytes = size_of_val(data);
    // SAFETY: the data and the result are valid.
    made(|out| unsafe { wavelift_buffer_create(device, data.as_ptr().cast(), bytes, out) })
}

pub(crate) fn read(buffer: wavelift_buffer, count: usize) -> Vec<f32> {
    let mut data = vec![0f32; count];
    let bytes = size_of_val(&*data);
    // SAFETY: the data are valid.
    ok(unsafe { wavelift_buffer_read(buffer, 0, data.as_mut_ptr().cast(), bytes) });
    data
}

pub(crate) fn launch_options(grid: [u32; 3], block: [u32; 3]) -> wavelift_launch_options {
    wavelift_launch_options {
        size: size_of::<wavelift_launch_options>(),
        grid,
        block,
        global_offset: [0; 3],
        timeout_ns: 0,
        cancel: wavelift_cancel_token::default(),
        dynamic_lds: 0,
        flags: 0,
    }
}

/// One workgroup of 64 work-items.
pub(crate) fn small() -> wavelift_launch_options {
    launch_options([64, 0, 0], [64, 0, 0])
}

pub(crate) fn launch(
    kernel: wavelift_kernel,
    options: &wavelift_launch_options,
    args: &[wavelift_arg],
) -> wavelift_status {
    let stats = std::ptr::null_mut();
    // SAFETY: options and arguments are valid.
    unsafe { wavelift_launch(kernel, options, args.as_ptr(), args.len(), stats) }
}

pub(crate) fn queue(
    stream: wavelift_stream,
    kernel: wavelift_kernel,
    options: &wavelift_launch_options,
    args: &[wavelift_arg],
) -> wavelift_event {
    let (at, count) = (args.as_ptr(), args.len());
    // SAFETY: options, arguments and the result are valid.
    made(|out| unsafe { wavelift_stream_launch(stream, kernel, options, at, count, out) })
}

pub(crate) fn stream(device: wavelift_device) -> wavelift_stream {
    // SAFETY: the result is valid.
    made(|out| unsafe { wavelift_stream_create(device, out) })
}

pub(crate) fn token() -> wavelift_cancel_token {
    // SAFETY: the result is valid.
    made(|out| unsafe { wavelift_cancel_token_create(out) })
}

pub(crate) fn wait(event: wavelift_event) -> wavelift_status {
    // SAFETY: the counters may be null.
    unsafe { wavelift_event_wait(event, WAVELIFT_FOREVER, std::ptr::null_mut()) }
}

/// The arguments of `saxpy` for `n` elements.
pub(crate) fn saxpy_args(y: wavelift_buffer, x: wavelift_buffer, n: u32) -> [wavelift_arg; 4] {
    [
        wavelift_arg_buffer(y),
        wavelift_arg_buffer(x),
        wavelift_arg_f32(2.0),
        wavelift_arg_u32(n),
    ]
}

/// `view_t` of `mandelbrot.cl`: all pixels are inside the set and take 2^32 iterations.
static ENDLESS: [u32; 7] = [
    (-0.1f32).to_bits(),
    (-0.1f32).to_bits(),
    0.0001f32.to_bits(),
    0.0001f32.to_bits(),
    64,
    64,
    u32::MAX,
];

pub(crate) fn endless_args(out: wavelift_buffer) -> [wavelift_arg; 2] {
    [
        wavelift_arg_buffer(out),
        wavelift_arg_bytes(ENDLESS.as_ptr().cast(), size_of_val(&ENDLESS)),
    ]
}

/// An empty structure, but for its size, as C programs begin with.
macro_rules! empty {
    ($($function:ident = $structure:ident;)*) => {
        $(pub(crate) fn $function() -> $structure {
            // SAFETY: numbers, addresses and enumerations, which all have a zero.
            let mut value: $structure = unsafe { std::mem::zeroed() };
            value.size = size_of::<$structure>();
            value
        })*
    };
}

empty! {
    kernel_info = wavelift_kernel_info;
    parameter = wavelift_parameter;
    stats = wavelift_stats;
    fault = wavelift_fault;
}
