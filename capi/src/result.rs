//! Results of functions: the status, the message and the fault of a thread's last failure.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use wavelift::compile::CompileError;
use wavelift::{Error, Fault, LoadError};

use crate::fault::FaultTexts;

/// Result of a function.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum wavelift_status {
    /// Success.
    WAVELIFT_OK = 0,
    /// The time of a wait is over, and the launch has not ended. No error: the message of the thread
    /// is not changed.
    WAVELIFT_NOT_DONE = 1,
    /// A pointer is NULL, a text is not UTF-8, a name is unknown, a size or a flag is impossible.
    WAVELIFT_INVALID_ARGUMENT = 2,
    /// A handle is null, of another type, or its object was destroyed.
    WAVELIFT_INVALID_HANDLE = 3,
    /// There is no kernel, argument, variable or fault of this name or number.
    WAVELIFT_NOT_FOUND = 4,
    /// The caller's memory is too small for a text.
    WAVELIFT_TOO_SMALL = 5,
    /// An offset or an address is outside a buffer, or outside the memory of the device.
    WAVELIFT_OUT_OF_RANGE = 6,
    /// The operating system refuses: a file cannot be read, a thread cannot be started.
    WAVELIFT_SYSTEM = 7,
    /// A file is no code object, or has none for a target that can run.
    WAVELIFT_BAD_CODE = 8,
    /// A source was not compiled; the message has the compiler's output.
    WAVELIFT_COMPILE = 9,
    /// The engine is not available, or cannot have these options.
    WAVELIFT_ENGINE = 10,
    /// The device has not that much memory left.
    WAVELIFT_OUT_OF_MEMORY = 11,
    /// Grid, block or arguments do not suit the kernel; nothing has run.
    WAVELIFT_BAD_LAUNCH = 12,
    /// The kernel did wrong, or ran longer than its time limit: see `wavelift_error_fault`.
    WAVELIFT_FAULT = 13,
    /// The launch was cancelled.
    WAVELIFT_CANCELLED = 14,
    /// A launch on a stream was not run, since an earlier one failed; the message has its error, and
    /// `wavelift_error_fault` its fault.
    WAVELIFT_NOT_RUN = 15,
    /// An error in wavelift itself; please report the message.
    WAVELIFT_INTERNAL = 16,
}

use wavelift_status::*;

impl wavelift_status {
    const ALL: [(wavelift_status, &CStr); 17] = [
        (WAVELIFT_OK, c"success"),
        (WAVELIFT_NOT_DONE, c"not done"),
        (WAVELIFT_INVALID_ARGUMENT, c"invalid argument"),
        (WAVELIFT_INVALID_HANDLE, c"invalid handle"),
        (WAVELIFT_NOT_FOUND, c"not found"),
        (WAVELIFT_TOO_SMALL, c"too small"),
        (WAVELIFT_OUT_OF_RANGE, c"out of range"),
        (WAVELIFT_SYSTEM, c"system error"),
        (WAVELIFT_BAD_CODE, c"bad code object"),
        (WAVELIFT_COMPILE, c"not compiled"),
        (WAVELIFT_ENGINE, c"engine not available"),
        (WAVELIFT_OUT_OF_MEMORY, c"out of memory"),
        (WAVELIFT_BAD_LAUNCH, c"bad launch"),
        (WAVELIFT_FAULT, c"fault"),
        (WAVELIFT_CANCELLED, c"cancelled"),
        (WAVELIFT_NOT_RUN, c"not run"),
        (WAVELIFT_INTERNAL, c"internal error"),
    ];
}

/// Why a function fails.
pub(crate) struct Failure {
    pub(crate) status: wavelift_status,
    message: String,
    fault: Option<Box<Fault>>,
}

impl Failure {
    pub(crate) fn new(status: wavelift_status, message: impl Into<String>) -> Failure {
        Failure {
            status,
            message: message.into(),
            fault: None,
        }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Failure {
        Failure::new(WAVELIFT_INVALID_ARGUMENT, message)
    }

    /// With what the message is about in front.
    pub(crate) fn about(mut self, what: &str) -> Failure {
        self.message = format!("{what}: {}", self.message);
        self
    }
}

pub(crate) type Outcome<T = ()> = Result<T, Failure>;

fn status(error: &Error) -> wavelift_status {
    match error {
        Error::Load(LoadError::UnknownKernel { .. }) => WAVELIFT_NOT_FOUND,
        Error::Load(_) | Error::Code(_) => WAVELIFT_BAD_CODE,
        Error::Engine(_) => WAVELIFT_ENGINE,
        Error::Alloc(_) => WAVELIFT_OUT_OF_MEMORY,
        Error::Memory(_) | Error::OutsideBuffer { .. } | Error::PastBuffer { .. } => {
            WAVELIFT_OUT_OF_RANGE
        }
        Error::Launch(_)
        | Error::OtherDevice(_)
        | Error::OtherDeviceArg { .. }
        | Error::NotRegistered { .. }
        | Error::NoMetadata(_)
        | Error::SegmentAmongArgs(_)
        | Error::NoWorkgroup { .. }
        | Error::NoWave { .. } => WAVELIFT_BAD_LAUNCH,
        Error::Fault(_) => WAVELIFT_FAULT,
        Error::Cancelled { .. } => WAVELIFT_CANCELLED,
        Error::NotRun(_) => WAVELIFT_NOT_RUN,
        Error::Launched(error) => status(error),
        Error::StreamThread(_) => WAVELIFT_SYSTEM,
        // No function leaves a guard of the memory to its thread.
        Error::MemoryGuarded | Error::StreamEnded => WAVELIFT_INTERNAL,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure {
            status: status(&error),
            message: error.to_string(),
            fault: error.fault().map(|fault| Box::new(fault.clone())),
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        Error::from(error).into()
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Failure {
        Failure::new(WAVELIFT_COMPILE, error.to_string())
    }
}

/// A text for C. What follows a zero byte could not be read there.
pub(crate) fn c_text(text: impl Into<Vec<u8>>) -> CString {
    let mut bytes = text.into();
    if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
        bytes.truncate(end);
    }
    CString::new(bytes).unwrap_or_default()
}

/// The last failure of a thread.
#[derive(Default)]
struct Last {
    message: CString,
    fault: Option<FaultTexts>,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::default();
}

fn record(failure: Failure) {
    let last = Last {
        message: c_text(failure.message),
        fault: failure.fault.map(|fault| FaultTexts::new(*fault)),
    };
    // At the end of a thread there may be nobody left to read it.
    let _ = LAST.try_with(|slot| slot.replace(last));
}

/// Calls `body` with the fault of this thread's last failure.
pub(crate) fn with_last_fault<T>(body: impl FnOnce(Option<&FaultTexts>) -> T) -> Option<T> {
    LAST.try_with(|last| body(last.borrow().fault.as_ref()))
        .ok()
}

/// Runs the body of a function. An error, or a panic, is recorded as the last failure of the thread.
pub(crate) fn guard(body: impl FnOnce() -> Outcome) -> wavelift_status {
    guard_status(|| body().map(|()| WAVELIFT_OK))
}

/// As [`guard`], for functions with more than one status that is no error.
pub(crate) fn guard_status(body: impl FnOnce() -> Outcome<wavelift_status>) -> wavelift_status {
    let result = catch_unwind(AssertUnwindSafe(body));
    let failure = match result {
        Ok(Ok(status)) => return status,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::new(WAVELIFT_INTERNAL, reason(&*panic)),
    };
    let status = failure.status;
    record(failure);
    status
}

/// The message of a panic.
fn reason(panic: &(dyn Any + Send)) -> String {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text.as_str(),
        _ => "an unknown panic",
    };
    match text.starts_with("bug: ") {
        true => text.to_owned(),
        false => format!("bug: {text}"),
    }
}

/// The message of the last call that failed on this thread, in UTF-8; empty if none has. The text is
/// valid until another call fails on this thread, or the thread ends. Calls that succeed leave it.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_error_message() -> *const c_char {
    LAST.try_with(|last| last.borrow().message.as_ptr())
        .unwrap_or(c"".as_ptr())
}

/// A status in a few words, such as `"invalid handle"`; `"unknown status"` for other numbers. The text
/// is valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_status_name(status: u32) -> *const c_char {
    let known = wavelift_status::ALL
        .iter()
        .find(|(known, _)| *known as u32 == status);
    known.map_or(c"unknown status", |(_, name)| name).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        // SAFETY: the text is valid until the next failure of this thread.
        let text = unsafe { CStr::from_ptr(wavelift_error_message()) };
        text.to_str().expect("messages are UTF-8").to_owned()
    }

    #[test]
    fn panics_become_a_status() {
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        assert_eq!(guard(|| panic!("bug: on purpose")), WAVELIFT_INTERNAL);
        assert_eq!(message(), "bug: on purpose");
        assert_eq!(guard(|| panic!("number {}", 7)), WAVELIFT_INTERNAL);
        assert_eq!(message(), "bug: number 7");
        assert_eq!(guard(|| std::panic::panic_any(7)), WAVELIFT_INTERNAL);
        assert_eq!(message(), "bug: an unknown panic");
        std::panic::set_hook(quiet);
    }

    #[test]
    fn a_message_stays_until_the_next_failure() {
        assert_eq!(message(), "");
        assert_eq!(
            guard(|| Err(Failure::argument("wrong\0here"))),
            WAVELIFT_INVALID_ARGUMENT
        );
        assert_eq!(message(), "wrong");
        assert_eq!(guard(|| Ok(())), WAVELIFT_OK);
        assert_eq!(guard_status(|| Ok(WAVELIFT_NOT_DONE)), WAVELIFT_NOT_DONE);
        assert_eq!(message(), "wrong");
        std::thread::spawn(|| assert_eq!(message(), ""))
            .join()
            .expect("a thread has a message of its own");
    }

    #[test]
    fn every_status_has_a_name() {
        for (index, (status, name)) in wavelift_status::ALL.iter().enumerate() {
            assert_eq!(*status as usize, index);
            assert!(!name.is_empty());
        }
    }
}
