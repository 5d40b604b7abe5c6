//! Answers the queries of `rocminfo` to AMD's kernel driver, which come before its calls of the HSA library.
//!
//! `wavelift exec` preloads this library into `rocminfo` and `rocm_agent_enumerator`, and into no
//! other program. It overrides functions of the C library and answers exactly these questions,
//! without touching the host; every other call goes through unchanged:
//!
//! | question | `rocminfo` | answer |
//! |---|---|---|
//! | `popen("lsmod \| grep amdgpu")` | up to 5.2 | a line of text |
//! | `/sys/module/amdgpu/initstate` by `fopen`, which C++ streams call | from 5.6 on | `live` |
//! | `open("/dev/kfd")` | all | `/dev/null` |
#![cfg(target_os = "linux")]
#![expect(
    unsafe_code,
    reason = "the functions replace those of the C library, whose interface is C"
)]

use std::ffi::{CStr, c_char, c_int};

use libc::{AT_FDCWD, FILE, O_CREAT, O_TMPFILE, mode_t};

const MODULES: &CStr = c"lsmod | grep amdgpu";
const MODULE_STATE: &CStr = c"/sys/module/amdgpu/initstate";
const DEVICE: &CStr = c"/dev/kfd";

/// Is this text the given one?
///
/// # Safety
/// `text` must be null or end with a zero.
unsafe fn is(text: *const c_char, wanted: &CStr) -> bool {
    // SAFETY: not null, and the caller answers for the rest.
    !text.is_null() && unsafe { CStr::from_ptr(text) } == wanted
}

/// Opens a file as the C library does.
///
/// # Safety
/// As for `open(2)`.
unsafe fn open_file(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller answers for the path.
    let path = match unsafe { is(path, DEVICE) } {
        true => c"/dev/null".as_ptr(),
        false => path,
    };
    // Otherwise the caller passed no mode, and the argument is what was in its register.
    let creates = flags & O_CREAT != 0 || flags & O_TMPFILE == O_TMPFILE;
    let mode = if creates { mode } else { 0 };
    // SAFETY: the caller answers for the path.
    unsafe { libc::openat(AT_FDCWD, path, flags, mode) }
}

/// `open` of the C library. It is variadic there; on the hosts of this library an argument of this
/// type is passed in the same register.
///
/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller answers for it.
    unsafe { open_file(path, flags, mode) }
}

/// As [`open`].
///
/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller answers for it.
    unsafe { open_file(path, flags, mode) }
}

/// `fopen` and `popen`.
type Opener = unsafe extern "C" fn(*const c_char, *const c_char) -> *mut FILE;

/// Calls the C library's function of this name.
///
/// # Safety
/// It must be an [`Opener`], and the arguments valid for it.
unsafe fn original(name: &CStr, what: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the name ends with a zero.
    let function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if function.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller answers for the type.
    let function: Opener = unsafe { std::mem::transmute(function) };
    // SAFETY: the caller answers for the arguments.
    unsafe { function(what, mode) }
}

/// A stream with this text.
fn stream(text: &[u8]) -> *mut FILE {
    // SAFETY: the name ends with a zero.
    let file = unsafe { libc::memfd_create(c"wavelift".as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return std::ptr::null_mut();
    }
    // SAFETY: the file is ours, and the text is readable.
    let written = unsafe { libc::pwrite(file, text.as_ptr().cast(), text.len(), 0) };
    if written == text.len() as isize {
        // SAFETY: the file is ours; the stream takes it.
        let stream = unsafe { libc::fdopen(file, c"r".as_ptr()) };
        if !stream.is_null() {
            return stream;
        }
    }
    // SAFETY: nobody took it.
    unsafe { libc::close(file) };
    std::ptr::null_mut()
}

/// `fopen` of the C library.
///
/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller answers for the arguments.
    match unsafe { is(path, MODULE_STATE) } {
        true => stream(b"live\n"),
        // SAFETY: as above.
        false => unsafe { original(c"fopen", path, mode) },
    }
}

/// As [`fopen`].
///
/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller answers for the arguments.
    match unsafe { is(path, MODULE_STATE) } {
        true => stream(b"live\n"),
        // SAFETY: as above.
        false => unsafe { original(c"fopen64", path, mode) },
    }
}

/// `popen` of the C library.
///
/// # Safety
/// As for the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller answers for the arguments.
    let command = match unsafe { is(command, MODULES) } {
        true => c"echo amdgpu".as_ptr(),
        false => command,
    };
    // SAFETY: as above.
    unsafe { original(c"popen", command, mode) }
}
