//! Names of the shared and the static library.
//!
//! Programs link `libwavelift.so` or `libwavelift.a` and load `libwavelift.so.1`, whose number is
//! `WAVELIFT_ABI_VERSION`. Cargo makes `libwavelift_c.*`: links in the folder `c` of the profile's
//! folder have the right names.

#[path = "../hsa/links.rs"]
mod links;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../hsa/links.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libwavelift.so.1");
    // The threads of streams and of the background compiler may run when a program has closed the
    // library.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    links::make(
        "c",
        &[
            ("libwavelift.so.1", "libwavelift_c.so"),
            ("libwavelift.so", "libwavelift_c.so"),
            ("libwavelift.a", "libwavelift_c.a"),
        ],
    );
}
