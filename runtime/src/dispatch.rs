//! Running a kernel over a grid: checks of the launch, the structures that the kernel reads, initial
//! registers, and worker threads that take workgroups in ascending order.
//!
//! Workgroups begin in ascending order, each on one worker. The waves of a group run in turn, each
//! until it ends, reaches a barrier or has burned its fuel, so that waves which wait for one
//! another, and groups which wait for earlier groups, make progress. The result does not depend on
//! the number of workers unless the guest races: registers, LDS and scratch of a wave start as 0.
//! (Checked mode reports reads of LDS and scratch that nobody wrote.)
//!
//! A workgroup runs to its end before its worker takes the next, so one that waits for a later one may wait for ever. That is
//! reported ([`GridWait`]), not mended.
//!
//! When waves fault, the fault of the lowest workgroup is reported: workers stop taking groups above
//! the lowest known fault and finish those below.

mod crew;
mod group;
mod idle;
mod launch;
mod packet;
mod registers;
mod rows;
mod shape;
mod waits;
mod workers;

pub use launch::{
    Arguments, DEFAULT_STACK, KernelCode, Launch, LaunchError, MAX_LANE_SCRATCH, Queued,
};
pub use shape::{GroupShape, MAX_WORK_ITEMS, Shape};
pub use waits::GridWait;
pub use workers::{Dispatcher, RunError, Settings};
