//! Tests that execute guest instructions on the engines.

mod cli;
mod conformance;
mod cost;
mod coverage;
mod differential;
mod exports;
mod facade;
mod folds;
mod fuzzing;
mod hardware;
mod kernels;
mod lowering;
mod oracles;
mod passes;
mod sandbox;
mod status;
