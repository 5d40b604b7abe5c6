//! Cancelling a dispatch from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Cancels the dispatches that were given a clone of it ([`Settings::cancel`](super::Settings::cancel)),
/// those that run and those that have not begun yet. A token stays cancelled.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Cancels. Returns at once; the dispatches end soon afterwards.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }

    /// Has [`CancelToken::cancel`] been called on it or on a clone?
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Relaxed)
    }
}
