//! The C interface of wavelift: the functions of `include/wavelift.h`, over the library `wavelift`.
//!
//! The documentation of public items is that of the header, which cbindgen writes from it; `test
//! interface` compares the two. Rules that hold for the whole crate:
//!
//! * Each function is one call of [`result::guard`], which stops panics and records the error of the
//!   thread.
//! * Objects are looked up by number ([`handles`]); the library follows no pointer that it gave out.
//! * Memory of the caller is accessed by [`foreign`] only, once for each value.
//! * A structure that may grow begins with its size in the caller's version of the header.
#![expect(
    unsafe_code,
    reason = "the interface is C: names without mangling, texts, arrays and results by address"
)]
#![expect(
    clippy::missing_safety_doc,
    reason = "the head of the header states the caller's duties for all functions"
)]
#![expect(
    non_camel_case_types,
    reason = "types and constants have the names of the header"
)]
#![cfg(target_pointer_width = "64")]

mod buffer;
mod device;
mod fault;
mod foreign;
mod handles;
mod launch;
mod module;
mod result;
mod stream;
mod version;

pub use buffer::*;
pub use device::*;
pub use fault::*;
pub use handles::{
    wavelift_buffer, wavelift_cancel_token, wavelift_device, wavelift_event, wavelift_kernel,
    wavelift_module, wavelift_stream,
};
pub use launch::*;
pub use module::*;
pub use result::{wavelift_error_message, wavelift_status, wavelift_status_name};
pub use stream::*;
pub use version::*;
