//! Tests that execute guest instructions on the engines.

mod conformance;
mod differential;
