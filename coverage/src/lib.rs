//! Coverage files: what runs have executed, by code object and instruction, merged over runs and processes.
//!
//! A file is JSON and has the code objects themselves, so that a report needs nothing else. A code object is known by the
//! digest of its bytes: runs of different builds do not mix.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use runtime::coverage::Coverage;
use runtime::files::read_whole;
use sha2::{Digest as _, Sha256};

mod format;
mod write;

/// SHA-256 of a code object's file.
pub type Digest = [u8; 32];

/// A code object and what was executed of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeObject {
    /// The ELF file.
    pub elf: Vec<u8>,
    /// Counts by address in the code object.
    pub counts: Coverage,
}

/// The contents of a coverage file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoverageFile {
    /// By digest.
    pub objects: BTreeMap<Digest, CodeObject>,
}

/// Why a coverage file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CoverageError {
    /// It cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The host's error.
        error: io::Error,
    },
    /// It has something else.
    #[error("{} is not a coverage file: {detail}; name another file, or remove it", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is not as expected.
        detail: String,
    },
    /// It was written by another version.
    #[error(
        "{} is a coverage file of version {version}, and this program reads version {}; write a new one",
        .path.display(),
        format::VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// Its contents contradict themselves.
    #[error("the coverage file {} is damaged: {detail}; remove it and repeat the runs", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The defect.
        detail: String,
    },
    /// It cannot be written.
    #[error("cannot write {}: {error}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The host's error.
        error: io::Error,
    },
}

impl CoverageFile {
    /// Adds counts of a code object, by address in it. Nothing is added if nothing was executed.
    pub fn add(&mut self, elf: &[u8], counts: Coverage) {
        if counts.is_empty() {
            return;
        }
        let digest: Digest = Sha256::digest(elf).into();
        let known = self.objects.entry(digest).or_insert_with(|| CodeObject {
            elf: elf.to_vec(),
            counts: Coverage::new(),
        });
        add(&mut known.counts, counts);
    }

    /// Adds all of another one.
    pub fn merge(&mut self, other: CoverageFile) {
        for (digest, object) in other.objects {
            match self.objects.get_mut(&digest) {
                Some(known) => add(&mut known.counts, object.counts),
                None => {
                    self.objects.insert(digest, object);
                }
            }
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`CoverageError`] if it cannot be read, or is no intact coverage file of this version.
    pub fn read(path: &Path) -> Result<CoverageFile, CoverageError> {
        let bytes = read_whole(path).map_err(|error| CoverageError::Read {
            path: path.to_owned(),
            error,
        })?;
        format::parse(path, &bytes)
    }
}

fn add(sum: &mut Coverage, counts: Coverage) {
    for (address, counts) in counts {
        *sum.entry(address).or_default() += counts;
    }
}
