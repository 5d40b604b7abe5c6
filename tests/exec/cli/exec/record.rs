//! `wavelift exec --record`: launches of HIP programs as manifests.

use std::path::{Path, PathBuf};

use super::super::{folder, json, wavelift};
use super::{Outcome, exec, program};

/// Runs a program with recording; its manifests.
fn record(name: &'static str, options: &[&str]) -> Option<(Outcome, Vec<PathBuf>)> {
    let program = program(name, "-O2")?;
    let to = folder(&format!("record-{name}-{}", options.len()));
    let to_text = to.to_str().expect("it is text");
    let program = program.to_str().expect("it is text");
    let out = exec(&[&["--record", to_text], options, &["--", program]].concat())?;
    Some((out, manifests(&to)))
}

fn manifests(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("it is there");
    let paths = entries.map(|entry| entry.expect("it is readable").path());
    let mut all: Vec<_> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    all.sort();
    all
}

#[test]
fn recorded_launches_leave_the_recorded_memory() {
    let programs = [
        "vector_add",
        "kernels",
        "features",
        "cooperative",
        "images",
        "memory",
        "random",
        "share",
        "streams",
    ];
    for name in programs {
        let options = ["--threads", "1", "--record-index", "0..10"];
        let Some((out, manifests)) = record(name, &options) else {
            return;
        };
        assert_eq!(out.status, 0, "{}{}", out.stdout, out.stderr);
        let refusals = out
            .stderr
            .lines()
            .filter(|line| line.contains("not recorded"));
        for line in refusals {
            // A kernel of HIP that waits for another one.
            assert!(line.contains("__amd_rocclr_streamOps"), "{line}");
        }
        assert!(!manifests.is_empty(), "{name}");
        for manifest in manifests {
            let manifest = manifest.to_str().expect("it is text");
            let run = wavelift(&["run", manifest, "--json", "--threads", "1"]);
            assert_eq!(run.status, 0, "{manifest}: {}{}", run.stdout, run.stderr);
            let expect = &json(&run)["expect"];
            assert!(
                expect.as_array().is_some_and(|list| !list.is_empty()),
                "{manifest}"
            );
            let diff = wavelift(&["diff", manifest]);
            assert_eq!(diff.status, 0, "{manifest}: {}{}", diff.stdout, diff.stderr);
        }
    }
}

#[test]
fn kernels_and_launches_are_selected() {
    let options = ["--record-kernel", "no_such_kernel"];
    let Some((out, manifests)) = record("vector_add", &options) else {
        return;
    };
    assert_eq!((out.status, manifests.len()), (0, 0), "{}", out.stderr);
    let Some((_, manifests)) = record("kernels", &["--record-index=1..3"]) else {
        return;
    };
    let numbers = manifests.iter().map(|path| {
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("it is text");
        stem.rsplit('-').next().expect("it has a number").to_owned()
    });
    assert_eq!(numbers.collect::<Vec<_>>(), ["0001", "0002"]);
}

#[test]
fn too_much_memory_is_refused_with_the_reason() {
    let options = ["--record-limit", "1000", "--threads", "1"];
    let Some((out, manifests)) = record("vector_add", &options) else {
        return;
    };
    assert_eq!((out.status, manifests.len()), (0, 0), "{}", out.stderr);
    let message = "more than 1000; raise the limit by --record-limit";
    assert!(out.stderr.contains(message), "{}", out.stderr);
}

#[test]
fn wrong_options_are_refused() {
    for (args, message) in [
        (
            &["--record", "/dev/null/x", "true"][..],
            "cannot record launches in /dev/null/x",
        ),
        (
            &["--record-index", "x", "true"],
            "`x` is neither a number nor a range such as 3..7",
        ),
        (
            &["--record-index", "3..3", "true"],
            "the range 3..3 is empty",
        ),
    ] {
        let Some(out) = exec(args) else { return };
        assert_eq!(out.status, 2, "{args:?}");
        assert!(out.stderr.contains(message), "{args:?}: {}", out.stderr);
    }
}
