//! Files of the user.

use std::fs::{File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// The contents of a regular file. Folders are refused, and so are devices and pipes, which have no end that one could rely
/// on.
pub fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe is not even opened: that would wait for its writer.
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    if !about.is_file() {
        return Err(io::Error::other(
            "it is no regular file but a device, pipe or socket; write its contents to a file first",
        ));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(about.len()).unwrap_or(usize::MAX))?;
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    let parent = path.parent();
    parent
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Puts new contents in the place of a file: a reader sees all of the old ones or all of these. Without permissions only the
/// user may read it.
pub fn replace(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wavelift-").suffix(".part");
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    // The error's own text names the temporary file.
    let new = builder.tempfile_in(folder_of(path));
    let mut new = new.map_err(|error| io::Error::from(error.kind()))?;
    new.write_all(bytes)?;
    new.persist(path).map(drop).map_err(|error| error.error)
}
