//! The capture program for hardware, on the HSA library as a stand-in: a recording that the engines make
//! through HIP is as the cases say, and a run that hangs or fails does not lose the others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use frontend::Gfx;
use hardware::compare::{Kind, with_cases};
use hardware::recording::Result;
use hardware::{Kit, Recording};

use super::super::{Outcome, folder, installed, root};
use super::exec;
use crate::hardware::{assert_none, kit};

/// One of so many heads: HIP takes some time for a launch.
const EVERY: usize = 12;

/// The capture program; `None` without hipcc.
fn capture() -> Option<&'static Path> {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    if !installed("hipcc", "hipcc libamdhip64-dev") || !installed("clang-19", "clang-19") {
        return None;
    }
    let program = COMPILED.get_or_init(|| {
        let out = folder("hardware-capture").join("capture");
        let compiled = Command::new("hipcc")
            .args(["-O1", "-Wall", "--offload-arch=gfx906"])
            .arg(root().join("tests/hardware/capture.hip"))
            .arg("-o")
            .arg(&out)
            .output()
            .expect("hipcc is installed");
        let text = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{text}");
        out
    });
    Some(program.as_path())
}

/// A folder with the files of a kit, its code assembled.
fn files(name: &str, kit: &Kit) -> PathBuf {
    let folder = folder(name);
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).expect("the folder is ours");
    };
    write("kit.data", &kit.data());
    write("kit.s", kit.assembly().as_bytes());
    let assembled = Command::new("clang-19")
        .args(["-x", "assembler", "-target", "amdgcn-amd-amdhsa"])
        .arg("-mcode-object-version=4")
        .arg(format!("-mcpu={}", kit.gfx))
        .arg(folder.join("kit.s"))
        .arg("-o")
        .arg(folder.join("kit.co"))
        .output()
        .expect("clang is installed");
    let text = String::from_utf8_lossy(&assembled.stderr);
    assert!(assembled.status.success(), "{text}");
    folder
}

/// Runs the capture program; `None` where there is no library.
fn run(folder: &Path, kit: &Kit, engine: &str, more: &[&str]) -> Option<(Outcome, PathBuf)> {
    let program = capture()?.to_str().expect("the path is text");
    let out = folder.join(format!("{engine}.txt"));
    let (folder, path) = (
        folder.to_str().expect("the path is text"),
        out.to_str().expect("the path is text"),
    );
    let args = ["--gpu", kit.gfx.name(), "--engine", engine, "--", program];
    let args = [&args[..], &["--folder", folder, "--out", path], more].concat();
    Some((exec(&args)?, out))
}

fn read(path: &Path) -> Recording {
    let bytes = std::fs::read(path).expect("it was written");
    Recording::parse(&bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn check(gfx: Gfx) {
    if capture().is_none() {
        return;
    }
    let kit = kit(gfx, EVERY);
    let folder = files(&format!("hardware-{gfx}"), &kit);
    for engine in ["interp", "jit"] {
        let Some((out, path)) = run(&folder, &kit, engine, &[]) else {
            return;
        };
        assert_eq!(out.status, 0, "{}", out.stderr);
        let recording = read(&path);
        assert_eq!(recording.runs.len(), kit.runs.len(), "{}", out.stderr);
        assert!(!recording.get("device").is_empty() && !recording.get("driver").is_empty());
        let differences = with_cases(&kit, &recording).expect("it is of the kit");
        // The translator's NaNs have other signs unless it is told otherwise, which HIP cannot.
        let exact = engine == "interp";
        let differences: Vec<_> = differences
            .into_iter()
            .filter(|difference| exact || difference.kind == Kind::Failed)
            .collect();
        assert_none(&format!("{gfx}, {engine}, by HIP"), &differences);
    }
}

#[test]
fn gfx906_by_hip() {
    check(Gfx::Gfx906);
}

#[test]
fn gfx90a_by_hip() {
    check(Gfx::Gfx90a);
}

/// Runs that fault and hang in place of two cases.
#[test]
fn runs_that_fail_do_not_lose_others() {
    if capture().is_none() {
        return;
    }
    let mut kit = kit(Gfx::Gfx906, 200);
    // The words of two cases: no instruction, which faults, and a branch to itself.
    let mut counts = BTreeMap::new();
    for run in &kit.runs {
        *counts.entry(run.case.at as usize).or_insert(0) += 1;
    }
    let mut single = counts.iter().filter(|&(_, &count)| count == 1);
    let mut next = || *single.next().expect("two cases have one run").0;
    let (first, second) = (next(), next());
    for (at, word) in [(first, 0xffff_ffff_u32), (second, 0xbf82_ffff)] {
        kit.code[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    let folder = files("hardware-failing", &kit);
    let Some((out, path)) = run(
        &folder,
        &kit,
        "interp",
        &["--timeout", "8", "--batch", "40"],
    ) else {
        return;
    };
    assert_eq!(out.status, 0, "{}", out.stderr);
    let recording = read(&path);
    assert_eq!(recording.runs.len(), kit.runs.len());
    for (&n, recorded) in &recording.runs {
        let at = kit.runs[n as usize - 1].case.at as usize;
        match &recorded.result {
            Result::Failed(what) if at == first => assert!(what.contains("ended"), "{what}"),
            Result::Failed(what) if at == second => assert!(what.contains("hangs"), "{what}"),
            Result::Failed(what) => panic!("run {n}: {what}"),
            Result::Changed(_) => assert!(at != first && at != second, "run {n} did not fail"),
        }
    }
}

#[test]
fn only_what_is_named_is_recorded() {
    if capture().is_none() {
        return;
    }
    let kit = kit(Gfx::Gfx906, 200);
    let folder = files("hardware-only", &kit);
    let name = &kit.runs[kit.runs.len() / 2].name;
    let Some((out, path)) = run(&folder, &kit, "interp", &["--only", name]) else {
        return;
    };
    assert_eq!(out.status, 0, "{}", out.stderr);
    let recording = read(&path);
    assert!(!recording.runs.is_empty());
    let named = |n: &u32| {
        kit.runs[*n as usize - 1]
            .full_name()
            .contains(name.as_str())
    };
    assert!(recording.runs.keys().all(named));
    for (name, bytes, message) in [
        ("kit.data", &kit.data()[..1000], "it ends too early"),
        ("kit.data", &b"wavelift kit 2"[..], "it ends too early"),
        ("kit.data", &[b'x'; 100], "is no kit of this version"),
    ] {
        std::fs::write(folder.join(name), bytes).expect("the folder is ours");
        let (out, _) = run(&folder, &kit, "interp", &[]).expect("the library was there");
        assert_eq!(out.status, 2, "{}", out.stderr);
        assert!(out.stderr.contains(message), "{}", out.stderr);
    }
}
