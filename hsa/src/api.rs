//! The functions of the interface, with the parameters that the headers declare. Handles are passed as
//! the 64-bit numbers that the headers' structures hold, which the C calling convention makes the same.
//!
//! # Safety
//! What holds for every function: addresses must be null or valid for what the headers say is read or
//! written there; callbacks must be callable with the data that is given beside them. Handles may be
//! anything.
#![allow(
    clippy::missing_safety_doc,
    reason = "the section above holds for every function"
)]

mod copies;
mod executables;
mod images;
mod memory;
mod queues;
mod sharing;
mod signals;
mod system;
mod unsupported;

pub use copies::*;
pub use executables::*;
pub use images::*;
pub use memory::*;
pub use queues::*;
pub use sharing::*;
pub use signals::*;
pub use system::*;
pub use unsupported::*;

/// A program's pointer as an address.
fn address(at: *const std::ffi::c_void) -> u64 {
    at.expose_provenance() as u64
}
