//! The library's boundary: panics stay inside, addresses from outside are read once, and
//! unsupported features are reported once.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use crate::abi::{Outcome, RawStatus, Status};
use crate::lock::lock;

/// Runs a function of the interface; a panic becomes an error status.
pub(crate) fn guard(body: impl FnOnce() -> Outcome) -> RawStatus {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(Status(status))) => status,
        Err(_) => Status::FATAL.0,
    }
}

/// As [`guard`], for functions that return a value; `wrong` when there is none.
pub(crate) fn value<T>(wrong: T, body: impl FnOnce() -> Outcome<T>) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        _ => wrong,
    }
}

/// Writes to an address that the caller gave.
///
/// # Safety
/// `at` must be null or valid for writing a `T`, aligned or not.
pub(crate) unsafe fn put<T>(at: *mut T, value: T) -> Outcome {
    if at.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    // SAFETY: not null, and the caller answers for the rest.
    unsafe { at.write_unaligned(value) };
    Ok(())
}

/// Is the result pointer valid?
pub(crate) fn wanted<T>(out: *mut T) -> Outcome {
    match out.is_null() {
        true => Err(Status::INVALID_ARGUMENT),
        false => Ok(()),
    }
}

/// As [`put`], where the type depends on an attribute.
///
/// # Safety
/// `at` must be null or valid for writing a `T`.
pub(crate) unsafe fn put_any<T>(at: *mut c_void, value: T) -> Outcome {
    // SAFETY: the caller answers for it.
    unsafe { put(at.cast::<T>(), value) }
}

/// Writes text into a field of `N` bytes, with a zero at the end.
///
/// # Safety
/// `at` must be null or valid for writing `N` bytes.
pub(crate) unsafe fn put_text<const N: usize>(at: *mut c_void, text: &str) -> Outcome {
    let mut field = [0u8; N];
    let len = text.len().min(N - 1);
    field[..len].copy_from_slice(&text.as_bytes()[..len]);
    // SAFETY: the caller answers for it.
    unsafe { put(at.cast::<[u8; N]>(), field) }
}

/// A list from outside.
///
/// # Safety
/// `at` must be null or valid for reading `len` elements for as long as the slice is used.
pub(crate) unsafe fn list<'a, T>(at: *const T, len: usize) -> Outcome<&'a [T]> {
    match (at.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Status::INVALID_ARGUMENT),
        // SAFETY: not null, and the caller answers for the rest.
        _ => Ok(unsafe { std::slice::from_raw_parts(at, len) }),
    }
}

/// Text from outside.
///
/// # Safety
/// `at` must be null or point to text with a zero at the end, for as long as it is used.
pub(crate) unsafe fn text<'a>(at: *const std::ffi::c_char) -> Outcome<&'a str> {
    if at.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    // SAFETY: not null, and the caller answers for the rest.
    let text = unsafe { std::ffi::CStr::from_ptr(at) };
    text.to_str().map_err(|_| Status::INVALID_ARGUMENT)
}

/// Says something to the user.
pub(crate) fn say(what: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    // Errors of a closed standard error are ignored.
    let _ = writeln!(std::io::stderr().lock(), "wavelift: {what}");
}

/// A function that this library does not have: says so once.
pub(crate) fn unsupported(name: &'static str, status: Status) -> Status {
    static SAID: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut said = lock(&SAID);
    if said.insert(name) {
        say(format_args!(
            "{name} is not supported and returns 0x{:x}",
            status.0
        ));
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_a_status() {
        assert_eq!(guard(|| Ok(())), 0);
        assert_eq!(guard(|| Err(Status::INVALID_AGENT)), 0x1004);
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        assert_eq!(guard(|| panic!("bug: on purpose")), Status::FATAL.0);
        assert_eq!(value(7, || panic!("bug: on purpose")), 7);
        std::panic::set_hook(quiet);
    }
}
