//! Links with the names under which programs look for a shared library, where Cargo makes it under
//! another one. For the build scripts of this package and of `capi`.

use std::path::{Path, PathBuf};

/// Makes links in a folder next to `deps`, in which Cargo makes the libraries of the profile: each has
/// its name and that of the library. A failure is a warning of the build.
pub(crate) fn make(folder: &str, links: &[(&str, &str)]) {
    // The profile's folder is three above: PROFILE/build/PACKAGE-HASH/out.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    let Some(profile) = out.ancestors().nth(3) else {
        return;
    };
    if let Err(error) = make_in(&profile.join(folder), links) {
        println!("cargo::warning=no links in the folder {folder}: {error}");
    }
}

#[cfg(unix)]
fn make_in(folder: &Path, links: &[(&str, &str)]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, library) in links {
        let path = folder.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::os::unix::fs::symlink(Path::new("../deps").join(library), path)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_in(_: &Path, _: &[(&str, &str)]) -> std::io::Result<()> {
    Ok(())
}
