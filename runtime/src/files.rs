//! Files of the user.

use std::fs::File;
use std::io::{self, Read as _};
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
