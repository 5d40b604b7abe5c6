//! Folders of the user's cache: `$XDG_CACHE_HOME/wavelift` or `~/.cache/wavelift`.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

/// The folder `wavelift` of the user's cache folder. `None` if the environment names no such folder.
fn cache() -> Option<PathBuf> {
    // The XDG specification ignores relative paths.
    let absolute = |path: &PathBuf| path.is_absolute();
    let xdg = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let folder = xdg.filter(absolute).or_else(|| {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        home.filter(absolute).map(|home| home.join(".cache"))
    });
    folder.map(|folder| folder.join("wavelift"))
}

/// Where code objects are kept that were compiled from sources.
pub fn compiled() -> Option<PathBuf> {
    cache().map(|folder| folder.join("compiled"))
}

/// Where translated code is kept.
pub fn code() -> Option<PathBuf> {
    cache().map(|folder| folder.join("code"))
}

/// Where the libraries of this version are written.
pub fn libraries() -> Option<PathBuf> {
    let version = env!("CARGO_PKG_VERSION");
    cache().map(|folder| folder.join("lib").join(version))
}

/// Creates a folder and those above it, for this user only, unless they exist.
pub fn create(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
