//! The reference interpreter.

pub mod float;
