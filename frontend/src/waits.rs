//! What instructions leave outstanding: the operations that `s_waitcnt` waits for, and their counters.

mod counters;
mod events;

pub use counters::WaitField;
pub use events::{Class, Event, What, data, events, may_be_outstanding};
