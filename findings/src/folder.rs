//! The folder of the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use runtime::files::{read_whole, replace};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{FindingsError, Process};

/// The version of the format.
const VERSION: u64 = 1;

/// How names of files of processes end.
const ENDING: &str = "json";

/// The contents of a file.
#[derive(Serialize, Deserialize)]
struct File<P> {
    version: u64,
    process: P,
}

/// The beginning of every version.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

/// A folder of findings.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// An existing folder.
    pub fn new(path: PathBuf) -> Folder {
        Folder(path)
    }

    /// A name for the file of a process. The host reuses numbers of processes; names begin with the time, and so are in
    /// the order in which the processes began.
    pub fn name(process: u32) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |time| time.as_nanos());
        format!("{now:032}-{process}.{ENDING}")
    }

    /// Writes the file of a process, or replaces it.
    ///
    /// # Errors
    ///
    /// [`FindingsError::Write`], and the old file stays.
    pub fn write(&self, name: &str, process: &Process) -> Result<(), FindingsError> {
        let version = VERSION;
        let path = self.0.join(name);
        match serde_json::to_vec(&File { version, process }) {
            Ok(text) => Folder::put(&path, &text),
            Err(error) => Err(FindingsError::Write {
                path,
                error: error.into(),
            }),
        }
    }

    /// Adds a code object's ELF file, if it is not there; its name.
    ///
    /// # Errors
    ///
    /// [`FindingsError::Write`].
    pub fn add_code(&self, elf: &[u8]) -> Result<String, FindingsError> {
        let name = format!("{:x}.co", Sha256::digest(elf));
        let path = self.0.join(&name);
        if !path.exists() {
            Folder::put(&path, elf)?;
        }
        Ok(name)
    }

    /// A code object by its name.
    ///
    /// # Errors
    ///
    /// [`FindingsError::Read`].
    pub fn code(&self, name: &str) -> Result<Vec<u8>, FindingsError> {
        read(&self.0.join(name))
    }

    /// What the processes have written, in the order in which they began.
    ///
    /// # Errors
    ///
    /// [`FindingsError`] if a file cannot be read or is another version's.
    pub fn processes(&self) -> Result<Vec<Process>, FindingsError> {
        let failed = |error| FindingsError::Read {
            path: self.0.clone(),
            error,
        };
        let entries = fs::read_dir(&self.0).map_err(failed)?;
        let paths: Result<Vec<_>, _> = entries.map(|entry| Ok(entry?.path())).collect();
        let mut paths = paths.map_err(failed)?;
        paths.retain(|path| path.extension().is_some_and(|end| end == ENDING));
        paths.sort();
        paths.iter().map(|path| parse(path, &read(path)?)).collect()
    }

    fn put(path: &Path, bytes: &[u8]) -> Result<(), FindingsError> {
        replace(path, bytes, None).map_err(|error| FindingsError::Write {
            path: path.to_owned(),
            error,
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, FindingsError> {
    read_whole(path).map_err(|error| FindingsError::Read {
        path: path.to_owned(),
        error,
    })
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Process, FindingsError> {
    let foreign = |detail| FindingsError::Foreign {
        path: path.to_owned(),
        detail,
    };
    let head: Result<Head, _> = serde_json::from_slice(bytes);
    let version = head.map_err(|error| foreign(error.to_string()))?.version;
    if version != VERSION {
        return Err(foreign(format!(
            "its version is {version} rather than {VERSION}"
        )));
    }
    let file: Result<File<Process>, _> = serde_json::from_slice(bytes);
    Ok(file.map_err(|error| foreign(error.to_string()))?.process)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Found, Instruction};
    use runtime::sanitizer::{Finding, Rule, Side};

    fn found(address: u64, same_value: bool, launch: u64) -> Found {
        let at = Side {
            code: 1,
            pc: address,
            kind: None,
            workgroup: [0; 3],
            wave: 0,
            lane: None,
        };
        Found {
            kernel: "k".to_owned(),
            launch,
            launches: 1,
            at: Instruction {
                code_object: "code".to_owned(),
                address,
                text: "s_barrier".to_owned(),
            },
            other: None,
            finding: Finding {
                rule: Rule::RaceLds,
                same_value,
                at,
                other: None,
                address: 0,
                lds: true,
                bytes: 4,
                nearest: None,
                count: 2,
                launch,
            },
        }
    }

    #[test]
    fn launches_of_one_kernel_add_up() {
        let mut process = Process::default();
        assert!(process.add(found(16, true, 0)));
        assert!(process.add(found(32, true, 0)));
        assert!(!process.add(found(16, true, 1)));
        assert!(process.add(found(16, false, 2)), "it is worse");
        assert!(!process.add(found(16, true, 3)));
        assert_eq!(process.findings.len(), 2);
        let first = &process.findings[0];
        assert_eq!(
            (first.launch, first.launches, first.finding.count),
            (2, 4, 8)
        );
        assert!(!first.finding.same_value);
    }

    #[test]
    fn processes_are_read_in_their_order() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path().to_owned());
        let names = [7, 3].map(Folder::name);
        for (name, id) in names.iter().zip([7, 3]) {
            let mut process = Process {
                id,
                ..Process::default()
            };
            folder.write(name, &process).unwrap();
            process.add(found(16, false, 0));
            folder.write(name, &process).unwrap();
        }
        let code = folder.add_code(b"code").unwrap();
        assert_eq!(folder.add_code(b"code").unwrap(), code);
        assert_eq!(folder.code(&code).unwrap(), b"code");
        let all = folder.processes().unwrap();
        let ids: Vec<_> = all.iter().map(|process| process.id).collect();
        assert_eq!(ids, [7, 3]);
        assert_eq!(all[0].findings, [found(16, false, 0)]);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 3);
    }

    #[test]
    fn files_of_other_versions_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path().to_owned());
        for text in ["{\"version\":2}", "{\"version\":1}", "nothing"] {
            fs::write(home.path().join("1.json"), text).unwrap();
            let error = folder.processes().unwrap_err();
            assert!(
                matches!(error, FindingsError::Foreign { .. }),
                "{text}: {error}"
            );
        }
        let gone = Folder::new(home.path().join("gone"));
        let error = gone.write("1.json", &Process::default()).unwrap_err();
        assert!(matches!(error, FindingsError::Write { .. }), "{error}");
        let error = gone.processes().unwrap_err();
        assert!(matches!(error, FindingsError::Read { .. }), "{error}");
    }
}
