//! Running a kernel over a grid: checks of the launch, the structures that the kernel reads,
//! initial registers, and worker threads that take workgroups in ascending order.
//!
//! Workgroups begin in ascending order, each on one worker. The waves of a group run one after the
//! other, each until it ends, reaches a barrier or has burned its fuel, so that waves that wait for
//! one another, and groups that wait for earlier groups, make progress. The result does not depend
//! on the number of workers unless the guest races: registers, LDS and scratch of a wave are
//! zeroed. (Checked mode reports reads of uninitialized LDS and scratch.)
//!
//! A workgroup that polls memory, or has run for long, gives its worker to another: it stops where a
//! wave has burned its fuel or all are at a barrier, and any worker may continue it. As many may have
//! stopped as the GPU that programs see runs at the same time ([`resident_workgroups`]), or fewer if
//! their memory would exceed a limit ([`Settings::waiting_bytes`]). A dispatch that waits for itself
//! all the same is a fault, or reported ([`GridWait`]) where something else may write to its memory.
//!
//! When waves fault, the fault of the lowest workgroup is reported: workers stop taking groups
//! above the lowest faulted one and finish those below.
//!
//! A dispatch that is cancelled ([`CancelToken`]) begins no further workgroup, and those that run
//! are abandoned when a wave has burned its fuel or has arrived at a barrier.

mod afterwards;
mod board;
mod cancel;
mod group;
mod launch;
mod occupancy;
mod packet;
mod prepared;
mod referee;
mod registers;
mod rows;
mod shape;
mod shuffle;
mod slice;
mod thread_pool;
mod tracer;
mod verify;
mod waits;
mod workers;

pub use cancel::CancelToken;
pub use launch::{
    Arguments, DEFAULT_STACK, KernelCode, Launch, LaunchError, MAX_LANE_SCRATCH, Queued,
};
pub use occupancy::{COMPUTE_UNITS, WAVES_PER_CU, workgroups as resident_workgroups};
pub use shape::{GroupShape, MAX_WORK_ITEMS, Shape};
pub use workers::{Dispatcher, GridWait, RunError, Settings};
