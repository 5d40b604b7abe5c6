//! Positions in a manifest, and errors.

use std::fmt;
use std::path::PathBuf;

use runtime::foreign::{self, Foreign};

/// A value's key path and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// A path such as `dispatch[0].args[2]`.
    pub key: String,
    /// Line, from 1.
    pub line: usize,
}

/// A manifest that cannot be run. Nothing has run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ManifestError {
    /// The manifest.
    pub path: PathBuf,
    /// The key that is wrong; `None` when the file itself cannot be read.
    pub place: Option<Place>,
    /// The error and a correct form.
    pub message: String,
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", foreign::path(&self.path))?;
        if let Some(place) = &self.place {
            write!(f, ":{}", place.line)?;
            if !place.key.is_empty() {
                write!(f, ": {}", Foreign(&place.key))?;
            }
        }
        write!(f, ": {}", self.message)
    }
}
