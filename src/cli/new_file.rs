//! Files that a command writes. A new file takes the place of the old one when it is complete, so that an error (a full disk)
//! leaves the old one as it was.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use runtime::files::folder_of;
use tempfile::{Builder, NamedTempFile};

use super::sandbox::{self, Handed};

/// A result that could not be written. What it is about has run.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {what}: {error}")]
pub(super) struct Unwritten {
    what: String,
    error: io::Error,
}

impl Unwritten {
    /// An error of writing this.
    pub(super) fn new(what: impl Into<String>, error: io::Error) -> Unwritten {
        let what = what.into();
        Unwritten { what, error }
    }
}

/// A file that is being written.
pub(super) struct NewFile {
    path: PathBuf,
    writer: BufWriter<Kind>,
}

enum Kind {
    /// A temporary file in the same folder.
    Beside { file: NamedTempFile, to: PathBuf },
    /// Such a file of a confined process, which another one puts in its place.
    Handed { file: File, handed: Handed },
    /// A device or a pipe.
    Direct(File),
}

impl Kind {
    /// A temporary file that is to replace `to`.
    fn beside(file: NamedTempFile, to: PathBuf) -> io::Result<Kind> {
        match sandbox::hand_over(file.path(), &to)? {
            None => Ok(Kind::Beside { file, to }),
            Some(handed) => {
                let (file, _) = file.keep().map_err(|error| error.error)?;
                Ok(Kind::Handed { file, handed })
            }
        }
    }
}

impl NewFile {
    /// Begins a file, which is only visible when it is [complete](NewFile::commit).
    pub(super) fn create(path: &Path) -> io::Result<NewFile> {
        // The file that a link names is replaced, not the link.
        let to = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&to).ok();
        let kind = match &old {
            Some(old) if old.is_dir() => return Err(io::Error::other("it is a folder")),
            Some(old) if !old.is_file() => Kind::Direct(File::options().write(true).open(&to)?),
            _ => {
                if let Some(old) = &old
                    && old.permissions().readonly()
                {
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
                let folder = folder_of(&to);
                let mut builder = Builder::new();
                builder.prefix(".wavelift-").suffix(".part");
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt as _;
                    // The process's mask takes away what it must.
                    let new = || fs::Permissions::from_mode(0o666);
                    builder.permissions(old.as_ref().map_or_else(new, fs::Metadata::permissions));
                }
                let file = builder.tempfile_in(folder);
                Kind::beside(file.map_err(|error| error.kind())?, to)?
            }
        };
        Ok(NewFile {
            path: path.to_owned(),
            writer: BufWriter::new(kind),
        })
    }

    /// As [`NewFile::create`], for a file that a command line names.
    pub(super) fn named(path: &Path) -> anyhow::Result<NewFile> {
        NewFile::create(path).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The file's name.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file and puts it in its place.
    pub(super) fn complete(
        mut self,
        write: impl FnOnce(&mut NewFile) -> io::Result<()>,
    ) -> Result<(), Unwritten> {
        let name = self.path.display().to_string();
        let written = write(&mut self).and_then(|()| self.commit());
        written.map_err(|error| Unwritten::new(name, error))
    }

    /// Puts the complete file in its place.
    pub(super) fn commit(self) -> io::Result<()> {
        match self
            .writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
        {
            Kind::Beside { file, to } => file.persist(to).map(drop).map_err(|error| error.error),
            Kind::Handed { handed, .. } => handed.put_in_place(),
            Kind::Direct(mut file) => file.flush(),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Write for Kind {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Kind::Beside { file, .. } => file.as_file_mut().write(bytes),
            Kind::Handed { file, .. } | Kind::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Kind::Beside { file, .. } => file.as_file_mut().flush(),
            Kind::Handed { file, .. } | Kind::Direct(file) => file.flush(),
        }
    }
}
