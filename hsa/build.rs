//! Names, versions and links of the shared library.
//!
//! Programs look for `libhsa-runtime64.so.1` (linked by HIP) or `libhsa-runtime64.so` (opened by
//! OpenMP), but Cargo can only create `libhsa_runtime64.so`: links in the folder `rocm` of the
//! profile's folder have the right names. The library of the package `driver` has a link, too.

use std::path::PathBuf;

mod links;

fn main() {
    println!("cargo::rerun-if-changed=rocr.map");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=links.rs");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it"));
    // Cargo would pass arguments for `cdylib` to the shared libraries of dependents, too, such as that
    // of `capi`. These are for all targets of this package; tests do not have all names of the script.
    println!("cargo::rustc-link-arg=-Wl,-soname,libhsa-runtime64.so.1");
    println!(
        "cargo::rustc-link-arg=-Wl,--version-script={}",
        root.join("rocr.map").display()
    );
    println!("cargo::rustc-link-arg-tests=-Wl,--undefined-version");
    links::make(
        "rocm",
        &[
            ("libhsa-runtime64.so.1", "libhsa_runtime64.so"),
            ("libhsa-runtime64.so", "libhsa_runtime64.so"),
            ("libwavelift-driver.so", "libwavelift_driver.so"),
        ],
    );
}
