//! The entry points of the fuzzers, and the target of manifests, which needs the crate `wavelift`.

use wavelift::manifest::{Manifest, ManifestError};

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
    fuzz::targets::manifest(data, &|path, text| {
        let buffers = Manifest::parse_inside(path, text)?.buffers.into_iter();
        Ok::<_, ManifestError>(buffers.map(|buffer| buffer.array.bytes).collect())
    });
}
