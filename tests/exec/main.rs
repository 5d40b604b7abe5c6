//! Tests that execute guest instructions on the engines.

mod cli;
mod conformance;
mod coverage;
mod differential;
mod kernels;
mod status;
