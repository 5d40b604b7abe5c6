//! What is known of a region's lane IR: liveness, uniformity, its loops, and the segments of its blocks. Nothing here changes it or
//! knows a back end.

pub mod interchange;
pub mod liveness;
pub mod parallel;
pub mod schedule;
pub mod uniformity;
