//! Arbitrary text as a launch manifest of unknown origin.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Contents of a file that no manifest may read, in every format that it could be read as.
const SECRET: &[u8; 16] = b"not for launches";

/// A folder for the manifest. A file next to the folder, to which a link in it points, may not be read.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let root = std::env::temp_dir().join(format!("fuzzed-manifest-{}", std::process::id()));
        let inside = root.join("inside");
        fs::create_dir_all(&inside).expect("a temporary folder");
        let secret = root.join("secret.bin");
        fs::write(&secret, SECRET).expect("a temporary file");
        fs::write(inside.join("a.bin"), [1; 64]).expect("a temporary file");
        #[cfg(unix)]
        let _ = std::os::unix::fs::symlink(&secret, inside.join("link.bin"));
        inside
    })
}

/// Characters of a number of at most a million or so. Greater ones are valid as sizes, and a fuzzer has less memory.
const SMALL: usize = 7;

/// Is there a number that may be the size of a large buffer?
fn is_large(text: &str) -> bool {
    text.lines()
        .filter(|line| !line.contains("address"))
        .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .any(|word| word.len() > SMALL && word.starts_with(|c: char| c.is_ascii_digit()))
}

/// Parses a text as a manifest at a path, whose files must be in its folder; gives the contents of each buffer.
pub type Reader<'a, E> = dyn Fn(&Path, &str) -> Result<Vec<Vec<u8>>, E> + 'a;

/// The bytes are the text. The crate of manifests, which `read` calls, depends on this one.
pub fn manifest<E: Display>(data: &[u8], read: &Reader<'_, E>) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if is_large(text) {
        return;
    }
    match read(&folder().join("launch.toml"), text) {
        Ok(buffers) => {
            let read = buffers.iter().any(|buffer| buffer.starts_with(SECRET));
            assert!(!read, "a file outside of the folder was read");
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty());
            let control = message.chars().any(|c| c.is_control() && c != '\n');
            assert!(!control, "{message:?}");
        }
    }
}
