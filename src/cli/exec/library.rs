//! Where the shared libraries are that programs get.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// The HSA library, by the name that programs link.
pub(super) const HSA: &str = "libhsa-runtime64.so.1";

/// The library that is preloaded into `rocminfo`.
pub(super) const DRIVER: &str = "libwavelift-driver.so";

/// A folder with the libraries.
pub(super) struct Library(PathBuf);

impl Library {
    /// In a build's folder, installed, or written by this binary.
    pub(super) fn find() -> anyhow::Result<Library> {
        let program = std::env::current_exe().context("cannot tell where wavelift itself is")?;
        let here = program.parent().unwrap_or(Path::new("."));
        let folders = [here.join("rocm"), here.join("../lib/wavelift")];
        if let Some(folder) = folders.iter().find(|folder| folder.join(HSA).exists()) {
            return Ok(Library(folder.clone()));
        }
        #[cfg(embedded)]
        return super::embedded::unpack().map(Library);
        #[cfg(not(embedded))]
        anyhow::bail!(
            "there is no {HSA} in {} or {}, and this binary does not contain it; build it with \
             `cargo build -p wavelift -p hsa` in the same profile as wavelift, or install wavelift with \
             `cargo install --path .` (without --debug), which takes it into the binary",
            folders[0].display(),
            folders[1].display()
        )
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// The library that is preloaded into `rocminfo`.
    pub(super) fn driver(&self) -> PathBuf {
        self.0.join(DRIVER)
    }
}
