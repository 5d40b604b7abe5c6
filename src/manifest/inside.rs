//! Is a file in a folder?

use std::io;
use std::path::Path;

use runtime::files::folder_of;

/// Is a file, which need not exist, in a folder or below it, when all links are resolved?
pub fn is_inside(folder: &Path, path: &Path) -> io::Result<bool> {
    // The empty name is this folder.
    let folder = folder.join(".").canonicalize()?;
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link to nothing would be followed when the file is made.
            if path.is_symlink() {
                return Ok(false);
            }
            let Some(name) = path.file_name() else {
                return Ok(false);
            };
            folder_of(path).canonicalize()?.join(name)
        }
        Err(error) => return Err(error),
    };
    Ok(real.starts_with(folder))
}

/// What is said of a file that is not.
pub fn outside(shown: impl std::fmt::Display) -> String {
    format!("{shown} is outside of the manifest's folder")
}
