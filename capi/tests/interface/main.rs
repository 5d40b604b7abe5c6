//! The C interface: the header, programs in C and C++, and calls with wrong handles, pointers and
//! values, as C programs may make them.
#![allow(unsafe_code, reason = "the functions are those of a C interface")]
#![cfg(all(unix, target_pointer_width = "64"))]

mod faults;
mod handles;
mod header;
mod launches;
mod memory;
mod modules;
mod programs;
mod streams;
mod support;
