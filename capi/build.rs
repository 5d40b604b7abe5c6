//! Names of the shared and the static library.
//!
//! Programs link `libwavelift.so` or `libwavelift.a` and load `libwavelift.so.1`, whose number is
//! `WAVELIFT_ABI_VERSION`. Cargo makes `libwavelift_c.*`: links in the folder `c` of the profile's
//! folder have the right names.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libwavelift.so.1");
    // The threads of streams and of the background compiler may run when a program has closed the
    // library.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // The profile's folder is three above: PROFILE/build/capi-HASH/out.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    let Some(profile) = out.ancestors().nth(3) else {
        return;
    };
    if let Err(error) = link(&profile.join("c")) {
        println!("cargo::warning=no links for the C library: {error}");
    }
}

/// The links, and the libraries that Cargo makes.
#[cfg(unix)]
const LINKS: [(&str, &str); 3] = [
    ("libwavelift.so.1", "../deps/libwavelift_c.so"),
    ("libwavelift.so", "../deps/libwavelift_c.so"),
    ("libwavelift.a", "../deps/libwavelift_c.a"),
];

#[cfg(unix)]
fn link(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, library) in LINKS {
        let path = folder.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::os::unix::fs::symlink(library, path)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn link(_: &Path) -> std::io::Result<()> {
    Ok(())
}
