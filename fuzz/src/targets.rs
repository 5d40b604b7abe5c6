//! What a coverage-guided fuzzer runs: functions of bytes that return when all is well, and panic otherwise. Each is the
//! body of a driver (`fuzz/drivers`), and runs the committed corpus in the tests.
//!
//! The bytes are the decisions of the generators ([`Random::from_bytes`](harness::random::Random::from_bytes)), so that a
//! change of a byte changes an instruction or an operand and every input is a valid program; the loader and the manifest
//! get them as they are.

mod decode;
mod kernel;
mod lines;
mod loader;
mod manifest;

pub use decode::decode;
pub use kernel::{kernel, kernel_code};
pub use lines::lines;
pub use loader::loader;
pub use manifest::{Reader, manifest};
