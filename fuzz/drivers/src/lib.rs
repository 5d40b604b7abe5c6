//! The entry points of the fuzzers, and the target that this crate alone can make.

use std::path::Path;

use wavelift::manifest::Manifest;

pub use fuzz::targets::{decode, kernel, lines, loader};

/// The main function of a driver: that of libFuzzer, or with the feature `afl` that of AFL++.
#[macro_export]
macro_rules! driver {
    ($target:path) => {
        #[cfg(not(feature = "afl"))]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $target(data));

        #[cfg(feature = "afl")]
        fn main() {
            afl::fuzz!(|data: &[u8]| $target(data));
        }
    };
}

/// Text as a launch manifest.
pub fn manifest(data: &[u8]) {
    fuzz::targets::manifest(data, &|path: &Path, text: &str| {
        let manifest = Manifest::parse_inside(path, text).map_err(|error| error.to_string())?;
        let buffers = manifest.buffers.iter();
        Ok(buffers
            .map(|buffer| buffer.array.bytes.iter().copied().take(16).collect())
            .collect())
    });
}
