//! Names, versions and links of the shared library.
//!
//! Programs look for `libhsa-runtime64.so.1` (linked by HIP) or `libhsa-runtime64.so` (opened by
//! OpenMP), but Cargo can only create `libhsa_runtime64.so`: links in the folder `rocm` of the
//! profile's folder have the right names. The library of the package `driver` has a link, too.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=rocr.map");
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it"));
    // Cargo would pass arguments for `cdylib` to the shared libraries of dependents, too, such as that
    // of `capi`. These are for all targets of this package; tests do not have all names of the script.
    println!("cargo::rustc-link-arg=-Wl,-soname,libhsa-runtime64.so.1");
    println!(
        "cargo::rustc-link-arg=-Wl,--version-script={}",
        root.join("rocr.map").display()
    );
    println!("cargo::rustc-link-arg-tests=-Wl,--undefined-version");
    // The profile's folder is three above: PROFILE/build/hsa-HASH/out.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    let Some(profile) = out.ancestors().nth(3) else {
        return;
    };
    if let Err(error) = link(&profile.join("rocm")) {
        println!("cargo::warning=no links for the HSA library: {error}");
    }
}

/// The links, and the libraries that Cargo makes.
#[cfg(unix)]
const LINKS: [(&str, &str); 3] = [
    ("libhsa-runtime64.so.1", "../deps/libhsa_runtime64.so"),
    ("libhsa-runtime64.so", "../deps/libhsa_runtime64.so"),
    ("libwavelift-driver.so", "../deps/libwavelift_driver.so"),
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
