//! Errors of the library.

use std::sync::Arc;

use runtime::Fault;
use runtime::code::CodeError;
use runtime::dispatch::{LaunchError, RunError};
use runtime::engine::EngineError;
use runtime::memory::{AllocError, MemoryError};
use runtime::object::LoadError;

/// Why an operation failed.
///
/// ```
/// use wavelift::{Device, Error, Module};
///
/// # fn main() -> Result<(), Error> {
/// let device = Device::new()?;
/// match Module::load(&device, b"no code object") {
///     Err(Error::Load(why)) => println!("cannot be loaded: {why}"),
///     Err(other) => return Err(other),
///     Ok(_) => unreachable!(),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is no code object that can be run.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The code object could not be put into memory.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The engine is unavailable.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No memory.
    #[error(transparent)]
    Alloc(#[from] AllocError),
    /// An access by the host outside guest memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The launch does not match the kernel or the device; nothing has run.
    #[error(transparent)]
    Launch(LaunchError),
    /// The guest did wrong.
    #[error(transparent)]
    Fault(Box<Fault>),
    /// An access by the host outside a buffer.
    #[error("{bytes} bytes at offset {offset} are outside a buffer of {len} bytes")]
    OutsideBuffer {
        /// First byte.
        offset: u64,
        /// Size of the access.
        bytes: u64,
        /// Size of the buffer.
        len: u64,
    },
    /// A pointer behind a buffer or a range of host memory.
    #[error("offset {offset} is past the end of a buffer of {len} bytes")]
    PastBuffer {
        /// The offset.
        offset: u64,
        /// Size of the buffer.
        len: u64,
    },
    /// A kernel of another device.
    #[error("kernel {0} was loaded for another device")]
    OtherDevice(String),
    /// A buffer of another device.
    #[error("kernel {kernel}, argument {index}: the buffer belongs to another device")]
    OtherDeviceArg {
        /// The kernel.
        kernel: String,
        /// Number of the argument, from 0.
        index: usize,
    },
    /// Host memory that is mapped, was given back or was unregistered.
    #[error(
        "kernel {kernel}, argument {index}: the host memory is mapped or no longer registered, \
         so kernels cannot access it"
    )]
    NotRegistered {
        /// The kernel.
        kernel: String,
        /// Number of the argument, from 0.
        index: usize,
    },
    /// Host memory cannot be given back, since it would wait for a guard of the same thread.
    #[error(
        "this thread has a guard of the device's memory; drop it before host memory is mapped, \
         taken back or unregistered"
    )]
    MemoryGuarded,
    /// Arguments for a kernel without metadata.
    #[error(
        "the code object has no metadata for kernel {0}: give its whole kernarg segment as one value of bytes"
    )]
    NoMetadata(String),
    /// A whole kernarg segment ([`Arg::Segment`](crate::Arg::Segment)) with other arguments.
    #[error("kernel {0}: a kernarg segment must be the only argument")]
    SegmentAmongArgs(String),
    /// A workgroup that a launch does not have.
    #[error(
        "kernel {kernel} has no workgroup ({}, {}, {}): its launch has {} by {} by {} workgroups",
        .workgroup[0], .workgroup[1], .workgroup[2], .workgroups[0], .workgroups[1], .workgroups[2]
    )]
    NoWorkgroup {
        /// The kernel.
        kernel: String,
        /// The requested workgroup.
        workgroup: [u32; 3],
        /// Workgroups of the launch in each dimension.
        workgroups: [u32; 3],
    },
    /// A wave that a workgroup does not have.
    #[error(
        "kernel {kernel}: workgroup ({}, {}, {}) has no wave {wave}: it has {waves}, from 0 on",
        .workgroup[0], .workgroup[1], .workgroup[2]
    )]
    NoWave {
        /// The kernel.
        kernel: String,
        /// The workgroup.
        workgroup: [u32; 3],
        /// The requested wave.
        wave: u32,
        /// Waves of the workgroup.
        waves: u32,
    },
    /// The launch was cancelled ([`CancelToken`](crate::CancelToken)). Its workgroups may have been
    /// stopped at any instruction.
    #[error("kernel {kernel} was cancelled")]
    Cancelled {
        /// The kernel.
        kernel: String,
    },
    /// A launch on a stream was not run, since an earlier one of the stream failed, or one that the
    /// stream waited for; this is its error.
    #[error("not run, since an earlier launch failed: {0}")]
    NotRun(Arc<Error>),
    /// A launch on a stream failed by something other than a fault or a cancellation.
    #[error("{0}")]
    Launched(Arc<Error>),
    /// The host refuses a thread for a stream.
    #[error("cannot start the thread of a stream: {0}")]
    StreamThread(std::io::Error),
    /// The thread of a stream has ended by a panic.
    #[error("bug: the thread of a stream has ended before its work")]
    StreamEnded,
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        match error {
            RunError::Launch(error) => Error::Launch(error),
            RunError::Fault(fault) => Error::Fault(fault),
            RunError::Cancelled { kernel } => Error::Cancelled { kernel },
        }
    }
}

impl Error {
    /// The fault, when the guest did wrong: in this launch or, if it was not run for that reason
    /// ([`Error::NotRun`]), in an earlier one of the stream.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Error::Fault(fault) => Some(fault),
            Error::NotRun(error) | Error::Launched(error) => error.fault(),
            _ => None,
        }
    }

    /// The error once more, for everybody who waits for the launch.
    pub(crate) fn repeat(self: &Arc<Error>) -> Error {
        match &**self {
            Error::Fault(fault) => Error::Fault(fault.clone()),
            Error::Cancelled { kernel } => Error::Cancelled {
                kernel: kernel.clone(),
            },
            Error::NotRun(first) => Error::NotRun(first.clone()),
            Error::StreamEnded => Error::StreamEnded,
            _ => Error::Launched(self.clone()),
        }
    }

    /// The error of launches that are not run because of this one.
    pub(crate) fn not_run(self: &Arc<Error>) -> Error {
        match &**self {
            Error::NotRun(first) => Error::NotRun(first.clone()),
            _ => Error::NotRun(self.clone()),
        }
    }
}
