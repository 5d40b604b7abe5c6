//! Files of what the sanitizer finds in programs: how processes hand it to `wavelift check exec`.
//!
//! Each process has one file of a folder, which it replaces when there is something new: what was found before is not lost
//! if it ends abruptly, and processes need not wait for each other. The folder also has the code objects of the findings.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use runtime::sanitizer::Finding;
use serde::{Deserialize, Serialize};

mod folder;

/// The variable that names the folder to the HSA library.
pub const VARIABLE: &str = "WAVELIFT_SANITIZE";

/// Variables of the HSA library that exclude it: they change how code is translated or memory is checked.
pub const EXCLUDED: [&str; 3] = ["WAVELIFT_MEMCHECK", "WAVELIFT_PROFILE", "WAVELIFT_COVERAGE"];

pub use folder::Folder;

/// What a process has launched, and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number on the host.
    pub id: u32,
    /// Its program.
    pub program: String,
    /// Launches by name of the kernel.
    pub launches: BTreeMap<String, u64>,
    /// Findings, one for each kernel, rule and pair of instructions.
    pub findings: Vec<Found>,
}

/// A finding, and where it was found first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Name of the kernel that was launched.
    pub kernel: String,
    /// Number of the launch among all of the process, from 0 on.
    pub launch: u64,
    /// How many launches had it.
    pub launches: u64,
    /// The instruction at which it was found.
    pub at: Instruction,
    /// That of the earlier access.
    pub other: Option<Instruction>,
    /// What was found; the count is that of all launches.
    pub finding: Finding,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// Its code object, by the name that [`Folder::add_code`] gave.
    pub code_object: String,
    /// Its address in the code object.
    pub address: u64,
    /// Its disassembly.
    pub text: String,
}

/// Why a file of findings cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FindingsError {
    /// It cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The host's error.
        error: io::Error,
    },
    /// It is not what this version writes.
    #[error("{} was not written by this version of wavelift: {detail}; install the program and its HSA library together", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is not as expected.
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

impl Process {
    /// Number of launches.
    pub fn launched(&self) -> u64 {
        self.launches.values().sum()
    }

    /// Adds what a launch was found to do; is it new?
    pub fn add(&mut self, found: Found) -> bool {
        let is_same = |known: &&mut Found| {
            let same_place = (&known.kernel, &known.at, &known.other)
                == (&found.kernel, &found.at, &found.other);
            same_place && known.finding.rule == found.finding.rule
        };
        let Some(known) = self.findings.iter_mut().find(is_same) else {
            self.findings.push(found);
            return true;
        };
        let count = known.finding.count + found.finding.count;
        let launches = known.launches + found.launches;
        // A race in which both write the same value is less.
        let replaces = known.finding.same_value && !found.finding.same_value;
        if replaces {
            *known = found;
        }
        known.finding.count = count;
        known.launches = launches;
        replaces
    }
}
