//! Fingerprints the inputs of code generation: the sources of the decoder and the translator, the
//! versions of the crates they use, and the compiler that lays out structures. Cached code is valid
//! for the same fingerprint only.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// FNV-1a; it only has to differ when an input changes.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

fn main() {
    let mut all = vec![PathBuf::from("build.rs")];
    for folder in ["src", "../frontend/src"] {
        println!("cargo::rerun-if-changed={folder}");
        files(Path::new(folder), &mut all);
    }
    println!("cargo::rerun-if-changed=build.rs");
    let lock = PathBuf::from("../Cargo.lock");
    if lock.exists() {
        println!("cargo::rerun-if-changed=../Cargo.lock");
        all.push(lock);
    }
    all.sort();
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for path in all {
        path.hash(&mut hash);
        std::fs::read(&path)
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
            .hash(&mut hash);
    }
    let rustc = std::env::var_os("RUSTC").expect("cargo names the compiler");
    let version = std::process::Command::new(rustc).arg("-vV").output();
    version.expect("the compiler runs").stdout.hash(&mut hash);
    for name in ["PROFILE", "OPT_LEVEL", "TARGET"] {
        std::env::var(name).unwrap_or_default().hash(&mut hash);
    }
    println!("cargo::rustc-env=LOWER_FINGERPRINT={:016x}", hash.finish());
}
