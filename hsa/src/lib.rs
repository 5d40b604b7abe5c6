//! A drop-in `libhsa-runtime64.so.1`: programs that talk to an AMD GPU through HSA (HIP, rocRAND and its
//! relatives, OpenMP offload) find one GPU agent, which is made of this CPU.
//!
//! [`api`] is the interface as `hsa.h` and its companions declare it; `export.rs` gives its functions
//! their names and the version `ROCR_1` in the shared library. Everything else is safe from what a
//! program hands in as far as that can be: handles are looked up, never followed, and panics end at
//! the border.
//!
//! The environment: `WAVELIFT_GPU` (gfx700, gfx803, gfx900, gfx906, gfx908, gfx90a), `WAVELIFT_THREADS`,
//! `WAVELIFT_STATS=1`, `WAVELIFT_MEMCHECK=1`, `WAVELIFT_ENGINE` (jit, interp), `WAVELIFT_VRAM_MIB`,
//! `WAVELIFT_STACK` (bytes).
#![allow(
    unsafe_code,
    reason = "the interface is C: results, names, callbacks and packets are addresses"
)]
#![cfg(target_pointer_width = "64")]

pub mod abi;
mod agent;
pub mod api;
mod clock;
mod config;
mod copy;
mod executable;
mod export;
mod fault;
mod guard;
mod handlers;
mod image;
mod lock;
mod pools;
mod queue;
mod signal;
mod state;
mod stats;
mod worker;
