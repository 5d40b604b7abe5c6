//! Guest instructions to lane IR: decoded blocks become regions, with an arm for each operation.

pub mod arms;
mod barrier_hoist;
pub mod guest;
mod outcomes;
mod products;
pub mod region;
mod sanitized;
pub mod support;
pub mod value;
