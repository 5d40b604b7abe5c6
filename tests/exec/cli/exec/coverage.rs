//! `wavelift exec --coverage`: what the kernels of a HIP program execute.

use super::super::{file, folder, wavelift};
use super::{exec, program};

#[test]
fn runs_of_a_program_add_up() {
    let Some(program) = program("vector_add", "-gline-tables-only") else {
        return;
    };
    let program = program.to_str().expect("it is text");
    let to = folder("exec-coverage").join("runs.coverage");
    let to = to.to_str().expect("it is text");
    for engine in ["jit", "interp"] {
        let args = ["--coverage", to, "--engine", engine, "--", program];
        let Some(out) = exec(&args) else { return };
        assert_eq!(out.status, 0, "{}{}", out.stdout, out.stderr);
    }
    let out = wavelift(&["coverage", to]);
    assert_eq!(out.status, 0, "{}", out.stderr);
    // 2^20 work-items in each run, all of them below the limit.
    let waves = 2 * (1 << 20) / 64;
    let lines: Vec<_> = out.stdout.lines().collect();
    let kernel = "kernel vector_add(float const*, float const*, float*, int), gfx906";
    let at = lines.iter().position(|line| line.starts_with(kernel));
    let at = at.unwrap_or_else(|| panic!("{}", out.stdout));
    assert!(
        lines[at + 1].ends_with(&format!(", {waves} waves")),
        "{}",
        out.stdout
    );
    let never = "line 9: never lanes off: s_and_saveexec_b64";
    assert!(out.stdout.contains(never), "{}", out.stdout);
}

#[test]
fn another_file_is_not_overwritten() {
    let folder = folder("exec-coverage-foreign");
    let notes = file(&folder, "notes.txt", "mine");
    let Some(out) = exec(&["--coverage", &notes, "env"]) else {
        return;
    };
    assert_eq!(out.status, 2, "{}", out.stdout);
    assert!(
        out.stderr.contains("notes.txt is not a coverage file: "),
        "{}",
        out.stderr
    );
    assert_eq!(
        std::fs::read_to_string(&notes).expect("it is there"),
        "mine"
    );
    let to = folder.join("new.coverage");
    let to = to.to_str().expect("it is text");
    let out = exec(&["--coverage", to, "env"]).expect("it was there before");
    super::has(&out, &format!("WAVELIFT_COVERAGE={to}"));
}
