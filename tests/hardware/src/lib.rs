//! Conformance cases on hardware: a kit for one target is a kernel that loads a wave's state from memory,
//! executes a case's instructions and stores the state, with the states of all cases ([`Kit`]).
//! `capture.hip` runs it and writes a recording ([`Recording`]), which is compared with what the cases
//! say and with what an engine records ([`compare`]).

pub mod compare;
pub mod engine;
pub mod file;
pub mod kernel;
pub mod kit;
pub mod layout;
pub mod recording;
pub mod select;

pub use engine::Recorder;
pub use kit::{Kit, KitError};
pub use recording::{Recording, RecordingError};
