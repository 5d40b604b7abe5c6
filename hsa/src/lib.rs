//! A drop-in `libhsa-runtime64.so.1`: programs that talk to an AMD GPU through HSA (HIP, rocRAND and its
//! relatives, OpenMP offload) find one GPU agent, which is made of this CPU.
//!
//! [`api`] is the interface as `hsa.h` and its companions declare it; `export.rs` gives its functions
//! their names and the version `ROCR_1` in the shared library. Everything else is safe from what a
//! program hands in as far as that can be: handles are looked up, never followed, and panics end at
//! the border.
//!
//! The environment:
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `WAVELIFT_GPU` | gfx700, gfx803, gfx900, gfx906, gfx908, gfx90a or gfx942 | gfx906 |
//! | `WAVELIFT_THREADS` | worker threads of a dispatch; 0 is one for each processor | 0 |
//! | `WAVELIFT_ENGINE` | jit or interp | jit |
//! | `WAVELIFT_VRAM_MIB` | the GPU's memory | 16384 |
//! | `WAVELIFT_STACK` | bytes of stack of each work-item | the kernel's |
//! | `WAVELIFT_TIMEOUT` | time limit of a dispatch in seconds | none |
//! | `WAVELIFT_CACHE` | folder that keeps translated code | none |
//! | `WAVELIFT_CACHE_MIB` | its size | 512 |
//! | `WAVELIFT_STATS` | 1: prints counters at the end | 0 |
//! | `WAVELIFT_MEMCHECK` | 1: checks accesses exactly | 0 |
//! | `WAVELIFT_PROFILE` | file to which a profile is appended at the end; `-` is standard error | none |
//! | `WAVELIFT_COVERAGE` | file that coverage is merged into at the end | none |
//! | `WAVELIFT_SANITIZE` | folder that findings of the sanitizer are written into, by `wavelift check exec` | none |
//! | `WAVELIFT_RECORD` | folder to which each launch is written as a launch manifest | none |
//! | `WAVELIFT_RECORD_KERNEL` | the kernel whose launches are recorded | all |
//! | `WAVELIFT_RECORD_INDEX` | which of them: a number, from 0 on, or a range N..M without M | all |
//! | `WAVELIFT_RECORD_LIMIT` | most bytes of memory of a recorded launch | 1073741824 |
//! | `WAVELIFT_UNUSED` | file that is removed when the program uses the GPU | none |
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
mod coverage;
mod executable;
mod export;
mod fault;
mod guard;
mod handlers;
mod image;
mod lock;
mod pools;
#[cfg(feature = "jit")]
mod profile;
mod queue;
mod record;
mod sanitize;
mod signal;
mod state;
mod stats;
mod worker;
