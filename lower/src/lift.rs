//! Guest instructions to lane IR: decoded blocks become regions, and an arm for each operation writes what it computes.

pub mod arms;
mod barrier_hoist;
pub mod guest;
pub mod region;
pub mod support;
pub mod value;
