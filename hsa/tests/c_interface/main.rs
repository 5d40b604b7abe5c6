//! The C interface, driven the way a client does.
#![allow(
    unsafe_code,
    reason = "the interface is C: results, names, callbacks and packets are addresses"
)]

mod executables;
mod faults;
mod images;
mod memory;
mod queues;
mod settings;
mod sharing;
mod signals;
mod support;
mod svm;
mod system;
mod vmem;
