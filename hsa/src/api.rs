//! The functions of the interface, with the parameters that the headers declare. Handles are passed
//! as the 64-bit numbers in the headers' structures, which is the same in the C calling convention.
//!
//! # Safety
//! For every function: addresses must be null or valid for the accesses that the headers document;
//! callbacks must be callable with the data passed with them. Handles may be arbitrary.
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
mod svm;
mod system;
mod unsupported;
mod vmem;
mod waits;

pub use copies::*;
pub use executables::*;
pub use images::*;
pub use memory::*;
pub use queues::*;
pub use sharing::*;
pub use signals::*;
pub use svm::*;
pub use system::*;
pub use unsupported::*;
pub use vmem::*;
pub use waits::*;

/// A program's pointer as an address.
fn address(at: *const std::ffi::c_void) -> u64 {
    at.expose_provenance() as u64
}
