//! The targets of the coverage-guided fuzzers (`fuzz/src/targets.rs`): the committed corpus, and inputs at random.

use std::fs;
use std::path::{Path, PathBuf};

use harness::environment::number;
use harness::random::Random;
use wavelift::manifest::{Manifest, ManifestError};

/// A target by its name.
type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 5] = [
    ("decode", fuzz::targets::decode),
    ("loader", fuzz::targets::loader),
    ("manifest", manifest),
    ("kernel", fuzz::targets::kernel),
    ("lines", fuzz::targets::lines),
];

/// As `fuzz/drivers/src/lib.rs` has it.
fn manifest(data: &[u8]) {
    fuzz::targets::manifest(data, &|path, text| {
        let buffers = Manifest::parse_inside(path, text)?.buffers.into_iter();
        Ok::<_, ManifestError>(buffers.map(|buffer| buffer.array.bytes).collect())
    });
}

/// The inputs of a target, by name.
fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// One test, since guest memory of the targets is at fixed addresses.
#[test]
fn inputs_give_equal_results() {
    corpus_is_replayed();
    random_inputs();
}

fn corpus_is_replayed() {
    for (name, run) in TARGETS {
        let files = corpus(name);
        assert!(files.len() >= 20, "{name} has {} inputs", files.len());
        for file in files {
            let data = fs::read(&file).unwrap();
            if std::panic::catch_unwind(|| run(&data)).is_err() {
                panic!("{}", file.display());
            }
        }
    }
}

/// `ROUNDS=` inputs of each target, from `SEED=` on; `TARGET=` only one of them.
fn random_inputs() {
    let only = std::env::var("TARGET").ok();
    let first = number("SEED").unwrap_or(1);
    for (name, run) in TARGETS {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        for seed in first..first + number("ROUNDS").unwrap_or(20) {
            let mut r = Random::new(seed);
            let length = 16 << r.below(8);
            let data: Vec<u8> = (0..length).map(|_| r.below(256) as u8).collect();
            if std::panic::catch_unwind(|| run(&data)).is_err() {
                panic!("seed {seed} of {name}");
            }
        }
    }
}

#[test]
fn the_manifest_target_finds_what_it_looks_for() {
    let secret = br#"buffers = { a = { file = "link.bin" } }"#;
    let found = std::panic::catch_unwind(|| {
        fuzz::targets::manifest(secret, &|path, _| {
            // A reader that follows links to anywhere.
            let bytes = fs::read(path.with_file_name("link.bin")).unwrap();
            Ok::<_, ManifestError>(vec![bytes])
        });
    });
    assert!(found.is_err());
}
