//! `wavelift exec`.

use super::wavelift;

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
    if out.status == 2 {
        // Only this package was built.
        assert!(
            out.stderr.contains("there is no libhsa-runtime64.so.1 in"),
            "{}",
            out.stderr
        );
        assert!(out.stderr.contains("cargo build -p hsa"), "{}", out.stderr);
        return;
    }
    let has = |line: &str| out.stdout.lines().any(|other| other == line);
    assert!(
        has("WAVELIFT_GPU=gfx90a") && has("WAVELIFT_THREADS=3"),
        "{}",
        out.stdout
    );
    assert!(has("WAVELIFT_STATS=1") && has("WAVELIFT_MEMCHECK=0"));
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
