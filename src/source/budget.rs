//! A limit of the work that debugging information may cause. Its parts refer to each other by offset,
//! so a small file may state that the same bytes are to be read without end.

use super::SourceError;

/// Work that is left, about one for each byte read.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Budget {
    /// For sections of `bytes` in all. Compilers refer to most bytes once or twice.
    pub(super) fn new(bytes: u64) -> Budget {
        Budget(bytes.saturating_mul(32).saturating_add(1 << 16))
    }

    /// Takes some.
    pub(super) fn take(&mut self, work: u64) -> Result<(), SourceError> {
        self.0 = self.0.checked_sub(work).ok_or(SourceError::Repeats)?;
        Ok(())
    }
}
