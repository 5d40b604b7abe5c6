//! Where something stands in a manifest, and what is wrong there.

use std::fmt;
use std::path::PathBuf;

/// A value's key path and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Such as `dispatch[0].args[2]`.
    pub key: String,
    /// Line, from 1.
    pub line: usize,
}

/// A manifest that cannot be run. Nothing has run when this comes back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ManifestError {
    /// The manifest.
    pub path: PathBuf,
    /// The key that is wrong; `None` when the file itself cannot be read.
    pub place: Option<Place>,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(place) = &self.place {
            write!(f, ":{}", place.line)?;
            if !place.key.is_empty() {
                write!(f, ": {}", place.key)?;
            }
        }
        write!(f, ": {}", self.message)
    }
}
