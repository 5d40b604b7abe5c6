//! `wavelift exec`.

use super::{Outcome, wavelift, wavelift_in};

/// Can `exec` run a program? Not where only this package was built.
fn has_library(out: &Outcome) -> bool {
    if out.status == 2 {
        let message = &out.stderr;
        assert!(
            message.contains("there is no libhsa-runtime64.so.1 in"),
            "{message}"
        );
        assert!(message.contains("cargo build -p hsa"), "{message}");
    }
    out.status != 2
}

#[test]
fn the_program_finds_the_library_and_the_gpu() {
    let out = wavelift(&[
        "exec",
        "--gpu",
        "gfx90a",
        "--threads",
        "3",
        "--stats",
        "--",
        "env",
    ]);
    if !has_library(&out) {
        return;
    }
    let has = |line: &str| out.stdout.lines().any(|other| other == line);
    assert!(
        has("WAVELIFT_GPU=gfx90a") && has("WAVELIFT_THREADS=3"),
        "{}",
        out.stdout
    );
    assert!(
        has("WAVELIFT_STATS=1") && !out.stdout.contains("WAVELIFT_MEMCHECK"),
        "{}",
        out.stdout
    );
    assert!(has("GPU_PINNED_MIN_XFER_SIZE=16"), "{}", out.stdout);
    let path = out
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("LD_LIBRARY_PATH="));
    let first = path
        .and_then(|path| path.split(':').next())
        .unwrap_or_default();
    assert!(
        std::path::Path::new(first)
            .join("libhsa-runtime64.so")
            .exists(),
        "{first}"
    );
}

#[test]
fn options_that_are_not_given_leave_the_callers_variables() {
    let callers = [
        ("WAVELIFT_GPU", "gfx803"),
        ("WAVELIFT_THREADS", "5"),
        ("WAVELIFT_STATS", "1"),
        ("WAVELIFT_MEMCHECK", "1"),
        ("WAVELIFT_ENGINE", "interp"),
        ("WAVELIFT_VRAM_MIB", "64"),
        ("WAVELIFT_STACK", "4096"),
        ("GPU_PINNED_MIN_XFER_SIZE", "7"),
    ];
    let out = wavelift_in(&["exec", "--", "env"], &callers, "");
    if !has_library(&out) {
        return;
    }
    let has = |out: &Outcome, (name, value): (&str, &str)| {
        let line = format!("{name}={value}");
        assert!(
            out.stdout.lines().any(|other| other == line),
            "{line}: {}",
            out.stdout
        );
    };
    callers.iter().for_each(|&pair| has(&out, pair));
    let out = wavelift_in(&["exec", "--threads", "2", "--", "env"], &callers, "");
    has(&out, ("WAVELIFT_THREADS", "2"));
    has(&out, ("WAVELIFT_MEMCHECK", "1"));
    let out = wavelift_in(&["exec", "--stack", "8192", "--", "env"], &callers, "");
    has(&out, ("WAVELIFT_STACK", "8192"));
}

#[test]
fn bad_calls_are_refused() {
    let out = wavelift(&["exec", "--gpu", "gfx1030", "--", "env"]);
    assert_eq!(out.status, 2);
    assert!(
        out.stderr
            .contains("gfx700, gfx803, gfx900, gfx906, gfx908, gfx90a"),
        "{}",
        out.stderr
    );
    let out = wavelift(&["exec"]);
    assert_eq!(out.status, 2);
}
