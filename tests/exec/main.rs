//! Tests that execute guest instructions on the engines.

mod cli;
mod conformance;
mod cost;
mod coverage;
mod differential;
mod evidence;
mod exhaustive;
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
