//! Handles: numbers by which C programs name objects.
//!
//! A number is given once, so that a handle whose object was destroyed is found out. Its high bits
//! are chosen at random in each copy of the library: handles of another copy, and small numbers, are
//! found out as well.

use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use wavelift::{CancelToken, Event, Stream};

use crate::buffer::BufferObject;
use crate::device::DeviceObject;
use crate::module::{KernelObject, ModuleObject};
use crate::result::{Failure, Outcome, wavelift_status::WAVELIFT_INVALID_HANDLE};

/// A device: memory and an engine. `{0}` is no device, and likewise for the other handles.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct wavelift_device {
    /// The number of the object.
    pub handle: u64,
}

/// A code object that is loaded into the memory of a device.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct wavelift_module {
    /// The number of the object.
    pub handle: u64,
}

/// A kernel of a module.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct wavelift_kernel {
    /// The number of the object.
    pub handle: u64,
}

/// Memory that kernels access: the device's, or the caller's.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct wavelift_buffer {
    /// The number of the object.
    pub handle: u64,
}

/// A queue of launches that run one after the other while the caller goes on.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct wavelift_stream {
    /// The number of the object.
    pub handle: u64,
}

/// The end of a launch on a stream.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct wavelift_event {
    /// The number of the object.
    pub handle: u64,
}

/// Stops launches before their end.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct wavelift_cancel_token {
    /// The number of the object.
    pub handle: u64,
}

/// A type of handles.
pub(crate) trait Handle: Copy {
    /// What it names.
    type Object: Any + Send + Sync;
    /// The object in messages, with its article.
    const WHAT: &'static str;

    fn from_number(handle: u64) -> Self;
    fn number(self) -> u64;
}

macro_rules! handles {
    ($($handle:ident = $object:ty, $what:literal;)*) => {
        $(impl Handle for $handle {
            type Object = $object;
            const WHAT: &'static str = $what;

            fn from_number(handle: u64) -> $handle {
                $handle { handle }
            }

            fn number(self) -> u64 {
                self.handle
            }
        })*
    };
}

handles! {
    wavelift_device = DeviceObject, "a device";
    wavelift_module = ModuleObject, "a module";
    wavelift_kernel = KernelObject, "a kernel";
    wavelift_buffer = BufferObject, "a buffer";
    wavelift_stream = Stream, "a stream";
    wavelift_event = Event, "an event";
    wavelift_cancel_token = CancelToken, "a cancel token";
}

struct Entry {
    what: &'static str,
    object: Arc<dyn Any + Send + Sync>,
}

/// The objects by the numbers of their handles.
static OBJECTS: LazyLock<RwLock<HashMap<u64, Entry>>> = LazyLock::new(RwLock::default);

/// The number of the next handle.
static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| {
    // 16 bits for this copy, the lowest of them set, so that no number is 0.
    let copy = RandomState::new().hash_one(0u8) >> 48 | 1;
    AtomicU64::new(copy << 48 | 1)
});

/// Gives an object a handle.
pub(crate) fn add<H: Handle>(object: H::Object) -> H {
    let number = NEXT.fetch_add(1, Relaxed);
    let entry = Entry {
        what: H::WHAT,
        object: Arc::new(object),
    };
    let mut objects = OBJECTS.write().unwrap_or_else(PoisonError::into_inner);
    objects.insert(number, entry);
    H::from_number(number)
}

/// The object of a handle.
pub(crate) fn get<H: Handle>(handle: H) -> Outcome<Arc<H::Object>> {
    let objects = OBJECTS.read().unwrap_or_else(PoisonError::into_inner);
    let entry = objects.get(&handle.number());
    let object = entry.and_then(|entry| entry.object.clone().downcast().ok());
    object.ok_or_else(|| invalid(handle, entry.map(|entry| entry.what)))
}

/// Ends a handle; its object. The null handle has none.
pub(crate) fn remove<H: Handle>(handle: H) -> Outcome<Option<Arc<H::Object>>> {
    if handle.number() == 0 {
        return Ok(None);
    }
    let mut objects = OBJECTS.write().unwrap_or_else(PoisonError::into_inner);
    let what = objects.get(&handle.number()).map(|entry| entry.what);
    if what != Some(H::WHAT) {
        return Err(invalid(handle, what));
    }
    let entry = objects.remove(&handle.number());
    // Callers drop the object, which may take long, when the lock is free again.
    Ok(entry.and_then(|entry| entry.object.downcast().ok()))
}

/// The error of a handle that names something else, or nothing.
fn invalid<H: Handle>(handle: H, is: Option<&str>) -> Failure {
    let (number, what) = (handle.number(), H::WHAT);
    let message = match is {
        _ if number == 0 => format!("the handle of {what} is null"),
        Some(is) => format!("the handle 0x{number:x} is that of {is}, not of {what}"),
        None => {
            format!("the handle 0x{number:x} of {what} was never given, or it was destroyed")
        }
    };
    Failure::new(WAVELIFT_INVALID_HANDLE, message)
}
