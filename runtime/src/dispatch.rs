//! Running a kernel over a grid: checks of the launch, the structures that the kernel reads,
//! initial registers, and worker threads that take workgroups in ascending order.
//!
//! Workgroups begin in ascending order, each on one worker. The waves of a group run one after the
//! other, each until it ends, reaches a barrier or has burned its fuel, so that waves that wait for
//! one another, and groups that wait for earlier groups, make progress. The result does not depend
//! on the number of workers unless the guest races: registers, LDS and scratch of a wave are
//! zeroed. (Checked mode reports reads of uninitialized LDS and scratch.)
//!
//! A workgroup runs to its end before its worker takes the next, so one that waits for a later one
//! may wait forever. This is reported ([`GridWait`]), not prevented.
//!
//! When waves fault, the fault of the lowest workgroup is reported: workers stop taking groups
//! above the lowest faulted one and finish those below.
//!
//! A dispatch that is cancelled ([`CancelToken`]) begins no further workgroup, and those that run
//! are abandoned when a wave has burned its fuel or has arrived at a barrier.

mod afterwards;
mod cancel;
mod group;
mod idle;
mod launch;
mod packet;
mod registers;
mod rows;
mod shape;
mod thread_pool;
mod waits;
mod workers;

pub use cancel::CancelToken;
pub use launch::{
    Arguments, DEFAULT_STACK, KernelCode, Launch, LaunchError, MAX_LANE_SCRATCH, Queued,
};
pub use shape::{GroupShape, MAX_WORK_ITEMS, Shape};
pub use waits::GridWait;
pub use workers::{Dispatcher, RunError, Settings};
