//! Merging into a file that other processes may merge into at the same time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use runtime::files::{folder_of, replace};
use tempfile::Builder;

use crate::{CoverageError, CoverageFile, format};

impl CoverageFile {
    /// Can coverage be merged into this file? It is absent or empty, or an intact coverage file, and its folder can be
    /// written.
    ///
    /// # Errors
    ///
    /// [`CoverageError`] if not.
    pub fn check(path: &Path) -> Result<(), CoverageError> {
        let to = real(path);
        match fs::metadata(&to) {
            Ok(about) if !about.is_file() => {
                return Err(CoverageError::Foreign {
                    path: path.to_owned(),
                    detail: "it is no regular file".to_owned(),
                });
            }
            Ok(about) if about.len() != 0 => drop(CoverageFile::read(path)?),
            Ok(_) | Err(_) => {}
        }
        let beside = Builder::new().tempfile_in(folder_of(&to));
        let beside = beside.map_err(|error| io::Error::from(error.kind()));
        beside.map(drop).map_err(failed(path))
    }

    /// Adds this coverage to that of a file, which is made if there is none. Processes that do so at the same time wait for
    /// each other. The file is replaced when the new one is complete.
    ///
    /// # Errors
    ///
    /// [`CoverageError`] if the file is no coverage file, which is then left as it is, or cannot be written.
    pub fn merge_into(mut self, path: &Path) -> Result<(), CoverageError> {
        let to = real(path);
        let mut old = lock(&to).map_err(failed(path))?;
        let mut bytes = Vec::new();
        old.read_to_end(&mut bytes).map_err(failed(path))?;
        if !bytes.is_empty() {
            self.merge(format::parse(path, &bytes)?);
        }
        let text = format::text(&self).map_err(failed(path))?;
        let permissions = old.metadata().map_err(failed(path))?.permissions();
        replace(&to, &text, Some(permissions)).map_err(failed(path))
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> CoverageError + '_ {
    |error| CoverageError::Write {
        path: path.to_owned(),
        error,
    }
}

/// The file that a link names is replaced, not the link.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Opens the file, and locks it against other processes until it is closed.
fn lock(path: &Path) -> io::Result<File> {
    loop {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path)?;
        match file.lock() {
            Ok(()) => {}
            // Some file systems have no locks.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(file),
            Err(error) => return Err(error),
        }
        // Another process may have put a new file in its place meanwhile.
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let here = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((here.dev(), here.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::coverage::Counts;

    fn once() -> CoverageFile {
        let counts = Counts {
            executions: 1,
            ..Counts::default()
        };
        let mut file = CoverageFile::default();
        file.add(b"code", [(256, counts)].into());
        file
    }

    #[test]
    fn threads_merge_into_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.coverage");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..8).for_each(|_| once().merge_into(&path).unwrap()));
            }
        });
        let all = CoverageFile::read(&path).unwrap();
        let object = all.objects.values().next().unwrap();
        assert_eq!(object.counts[&256].executions, 64);
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1, "only the file itself is left");
    }

    #[test]
    fn another_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        fs::write(&path, "mine").unwrap();
        let is_foreign = |error| matches!(error, CoverageError::Foreign { .. });
        assert!(is_foreign(CoverageFile::check(&path).unwrap_err()));
        assert!(is_foreign(once().merge_into(&path).unwrap_err()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        assert!(is_foreign(CoverageFile::check(folder.path()).unwrap_err()));
        let nowhere = folder.path().join("no/such/folder");
        let error = CoverageFile::check(&nowhere).unwrap_err();
        assert!(matches!(error, CoverageError::Write { .. }), "{error}");
        // An empty file, as mktemp makes, is taken.
        let empty = folder.path().join("empty");
        fs::write(&empty, "").unwrap();
        CoverageFile::check(&empty).unwrap();
        once().merge_into(&empty).unwrap();
        assert_eq!(CoverageFile::read(&empty).unwrap(), once());
    }
}
