//! Analyses of a region's lane IR: liveness, uniformity, loops, and the segments of its blocks.
//! They do not change the IR and depend on no back end.

pub mod interchange;
pub mod liveness;
pub mod parallel;
pub mod schedule;
pub mod uniformity;
