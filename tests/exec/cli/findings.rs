//! What docs/findings.md says of its reproducers.

use super::{engines, wavelift};

/// The manifest of a kernel in `tests/kernels/findings`.
fn manifest(kernel: &str) -> String {
    format!("tests/kernels/findings/{kernel}.gfx803.toml")
}

#[test]
fn a_division_in_the_registers_of_the_offsets_loads_the_wrong_elements() {
    for engine in engines() {
        let manifest = manifest("offsets_first");
        // Workgroup 0 loads tile 7; all its lanes have the last row and column 0.
        let options = ["--engine", engine, "--print", "out:448:512"];
        let run = wavelift(&[&["run", &manifest], &options[..]].concat());
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{engine}");
        let lanes = format!("out: u32[64] = [{}]\n", ["255"; 64].join(", "));
        assert!(run.stdout.contains(&lanes), "{engine}: {}", run.stdout);
        let expectation = "expect out: FAILED: 1023 of 1024 elements differ";
        assert!(run.stdout.contains(expectation), "{engine}: {}", run.stdout);
    }
}

#[test]
fn a_division_before_the_offsets_loads_the_right_ones() {
    for engine in engines() {
        let run = wavelift(&["run", &manifest("division_first"), "--engine", engine]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{engine}");
        let expectation = "expect out: ok, 1024 elements\n";
        assert!(run.stdout.contains(expectation), "{engine}: {}", run.stdout);
    }
}

#[test]
fn the_engines_agree_on_both() {
    if engines().len() < 2 {
        return;
    }
    for kernel in ["offsets_first", "division_first"] {
        let diff = wavelift(&["diff", &manifest(kernel)]);
        assert_eq!((diff.status, diff.stderr.as_str()), (0, ""), "{kernel}");
        let agreement = "the engines agree on 2 buffers and all other memory\n";
        assert!(diff.stdout.ends_with(agreement), "{}", diff.stdout);
    }
}
