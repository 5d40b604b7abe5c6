//! `wavelift bench` and `wavelift diff`.

use super::check::broken;
use super::{engines, folder, json, wavelift};

#[test]
fn bench_has_the_shape_of_the_contract() {
    for engine in engines() {
        let bench = wavelift(&[
            "bench",
            "examples/saxpy/saxpy.gfx900.toml",
            "--engine",
            engine,
            "--seconds",
            "0.01",
            "--json",
        ]);
        assert_eq!(bench.status, 0, "{}", bench.stderr);
        let value = json(&bench);
        assert_eq!(
            (&value["ok"], &value["fault"]),
            (&true.into(), &serde_json::Value::Null)
        );
        let runs = value["runs"].as_u64().expect("a number");
        assert!(runs >= 3);
        let dispatch = &value["dispatches"][0];
        let times = times(dispatch);
        assert_eq!(times.len(), 5, "{times:?}");
        assert!(times.is_sorted() && times[0] >= 0.0, "{times:?}");
        assert_eq!(dispatch["samples"].as_u64(), Some(runs));
        assert_eq!(dispatch["execute_min_s"].as_f64(), Some(times[0]));
        assert_eq!(dispatch["execute_median_s"].as_f64(), Some(times[2]));
        assert_eq!(value["expect"][0]["ok"], true);
    }
    let bench = wavelift(&[
        "bench",
        "examples/bitonic/bitonic.gfx900.toml",
        "--engine",
        "interp",
        "--seconds",
        "0.01",
    ]);
    assert_eq!((bench.status, bench.stderr.as_str()), (0, ""));
    assert!(bench.stdout.contains(" rounds on interp\n"));
    assert!(bench.stdout.contains("\n  execution    min "));
    assert!(bench.stdout.contains(" by lane\n"));
}

/// The times of a dispatch.
fn times(dispatch: &serde_json::Value) -> Vec<f64> {
    let list = dispatch["execute_s"].as_array().expect("a list");
    let times = list.iter().map(|time| time.as_f64().expect("a number"));
    times.collect()
}

#[test]
fn bench_prints_all_samples_if_asked() {
    let args = [
        "bench",
        "examples/bitonic/bitonic.gfx900.toml",
        "--engine",
        "interp",
        "--seconds",
        "0.01",
        "--json",
        "--samples",
    ];
    let bench = wavelift(&args);
    assert_eq!(bench.status, 0, "{}", bench.stderr);
    let value = json(&bench);
    let runs = value["runs"].as_u64().expect("a number");
    let dispatches = value["dispatches"].as_array().expect("a list");
    assert!(!dispatches.is_empty());
    for dispatch in dispatches {
        let mut times = times(dispatch);
        assert_eq!(times.len() as u64, runs);
        assert_eq!(dispatch["samples"].as_u64(), Some(runs));
        times.sort_by(f64::total_cmp);
        assert_eq!(dispatch["execute_min_s"].as_f64(), Some(times[0]));
        let middle = [(times.len() - 1) / 2, times.len() / 2].map(|at| times[at]);
        let median = dispatch["execute_median_s"].as_f64().expect("a number");
        let range = middle[0] * (1.0 - 1e-12)..=middle[1] * (1.0 + 1e-12);
        assert!(range.contains(&median), "{median} {middle:?}");
    }
    // Without --json there is nothing to print them in.
    let refused = wavelift(&["bench", "x.toml", "--samples"]);
    assert_eq!(refused.status, 2, "{}", refused.stdout);
    assert!(refused.stderr.contains("--json"), "{}", refused.stderr);
}

#[test]
fn bench_leaves_forms_of_code_out() {
    if !engines().contains(&"jit") {
        return;
    }
    let bench = |forms: &str| {
        wavelift(&[
            "bench",
            "examples/saxpy/saxpy.gfx900.toml",
            "--seconds",
            "0.01",
            "--without",
            forms,
        ])
    };
    let done = bench("group-loops,parallel");
    assert_eq!((done.status, done.stderr.as_str()), (0, ""));
    let refused = bench("parallel,nothing");
    assert_eq!(refused.status, 2, "{}", refused.stdout);
    assert!(
        refused.stderr.contains(
            "'nothing' for '--without <FORM>'\n  [possible values: unmasked, group-loops, "
        ),
        "{}",
        refused.stderr
    );
    // The interpreter has no forms.
    let refused = wavelift(&["bench", "x.toml", "--engine", "interp", "--without", "sunk"]);
    assert_eq!(refused.status, 2, "{}", refused.stdout);
}

#[test]
fn diff_agrees_on_the_examples() {
    if !engines().contains(&"jit") {
        let diff = wavelift(&["diff", "examples/saxpy/saxpy.gfx900.toml"]);
        assert_eq!(diff.status, 2, "{}", diff.stdout);
        return;
    }
    let diff = wavelift(&["diff", "examples/saxpy/saxpy.gfx900.toml"]);
    assert_eq!(
        (diff.status, diff.stderr.as_str()),
        (0, ""),
        "{}",
        diff.stdout
    );
    assert_eq!(
        diff.stdout,
        "dispatch 0: saxpy, 20 workgroups: the same\nthe engines agree on 2 buffers and all other memory\n"
    );
}

/// The lines of a difference that do not depend on where guest memory lies.
fn difference(args: &[&str]) -> (i32, Vec<String>) {
    let diff = wavelift(&[&["diff"], args].concat());
    let stable = |line: &&str| !line.contains("0x7") && !line.starts_with("  s");
    let lines = diff
        .stdout
        .lines()
        .filter(stable)
        .map(str::to_owned)
        .collect();
    (diff.status, lines)
}

#[test]
fn a_wrong_instruction_is_found() {
    let (status, lines) = difference(&[
        "examples/saxpy/saxpy.gfx900.toml",
        "--wrong",
        "v_mul_f32_e32",
    ]);
    assert_eq!(status, 1);
    let start = [
        "DIFFERENT: dispatch 0, kernel saxpy",
        "different: 61 elements of memory",
        "  y[0]: interp 6.3991675 (0x40ccc5fb), jit 6.399167 (0x40ccc5fa)",
    ];
    assert_eq!(lines[..3], start);
    let at = lines
        .iter()
        .position(|line| line.starts_with("first"))
        .expect("it is narrowed");
    let found = [
        "first different workgroup: (0, 0, 0)",
        "first different instruction: wave 0, after 27 instructions",
        "  at 0x198c  v_mul_f32_e32 v2, s0, v2  (saxpy+0x8c)",
        "  exec 0xffffffffffffffff (64 lanes)",
        "interp: goes on at 0x1990  s_waitcnt vmcnt(0)  (saxpy+0x90)",
        "jit: goes on at 0x1990  s_waitcnt vmcnt(0)  (saxpy+0x90)",
        "different: 1 register:",
        "  v2[0]: interp 0x40e1a0f5, jit 0x40e1a0f4",
        "registers before",
    ];
    assert_eq!(lines[at..at + found.len()], found);
    let after = |name: &str| {
        let title = format!("registers after, {name}");
        let at = lines
            .iter()
            .position(|line| *line == title)
            .expect("both states are printed");
        lines[at..]
            .iter()
            .find(|line| line.starts_with("  v2[0]"))
            .cloned()
    };
    assert!(after("interp").is_some_and(|line| line.starts_with("  v2[0]     40e1a0f5 4103ce00 ")));
    assert!(after("jit").is_some_and(|line| line.starts_with("  v2[0]     40e1a0f4 4103ce00 ")));
}

#[test]
fn the_first_of_many_workgroups_dispatches_and_waves_is_found() {
    // Only the second kernel has the instruction.
    let (status, lines) = difference(&[
        "examples/matmul/matmul.gfx900.toml",
        "--wrong",
        "ds_read2_b32",
    ]);
    if lines
        .iter()
        .any(|line| line.starts_with("the engines agree"))
    {
        panic!("the example no longer has ds_read2_b32: choose another instruction");
    }
    assert_eq!(status, 1);
    assert_eq!(
        lines[0],
        "dispatch 0: matmul_naive, 36 workgroups: the same"
    );
    assert_eq!(lines[1], "DIFFERENT: dispatch 1, kernel matmul_tiled");
    assert!(lines.contains(&"first different workgroup: (0, 0, 0)".to_owned()));
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("first different instruction: wave 0, after "))
    );
}

#[test]
fn without_single_steps_the_stretch_is_found() {
    let (status, lines) = difference(&[
        "examples/matmul/matmul.gfx900.toml",
        "--wrong",
        "ds_read2_b32",
        "--wrong-in-stretches",
    ]);
    assert_eq!(status, 1);
    let note = "one of the engines cannot run single instructions; comparing stretches";
    assert!(lines.contains(&note.to_owned()), "{lines:#?}");
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("first different stretch: wave "))
    );
    let since = "registers of this wave differ since the stretch at ";
    assert!(
        lines.iter().any(|line| line.starts_with(since)),
        "{lines:#?}"
    );
}

/// The kernel's wait for its load is deleted.
#[test]
fn a_missing_wait_is_found_with_the_load() {
    let home = folder("delayed");
    let broken = broken(&home);
    let run = |file: &str| {
        let kernel = "_Z5normsIfEvPT_PKS0_i";
        let sizes = ["--grid", "64", "--block", "64"];
        let args = [
            "--arg",
            "out:f32:64",
            "--arg",
            "fill:f32:64:3",
            "--arg",
            "64",
        ];
        difference(
            &[
                &[file, "--kernel", kernel],
                &sizes[..],
                &args[..],
                &["--delayed"],
            ]
            .concat(),
        )
    };
    let (status, lines) = run("tests/kernels/source/lines.gfx900.co");
    assert_eq!(status, 0, "{lines:#?}");
    let last = "late results change nothing in 2 buffers and all other memory";
    assert_eq!(lines.last().map(String::as_str), Some(last));
    let (status, lines) = run(&broken);
    assert_eq!(status, 1, "{lines:#?}");
    // The late result overwrites half of an address.
    assert_eq!(lines[1], "interp ends without a fault");
    let at = lines
        .iter()
        .position(|line| line.starts_with("first different instruction"));
    let found = &lines[at.expect("it is narrowed")..];
    assert!(
        found[1].starts_with("  at 0x1768  v_mul_f32_e32 v1, v1, v1  ("),
        "{found:#?}"
    );
    let load = "v1 is the result of `global_load_dword v1, v[1:2], off` at 0x1758, which is outstanding: vmcnt(0) would be enough";
    assert!(found.contains(&load.to_owned()), "{found:#?}");
    let late = "  v1[0]: interp 0x41100000, delayed 0x40400000";
    assert!(found.contains(&late.to_owned()), "{found:#?}");
}

#[test]
fn a_seed_is_for_late_results() {
    let saxpy = "examples/saxpy/saxpy.gfx900.toml";
    let seeded = wavelift(&["diff", saxpy, "--delayed", "--seed", "7"]);
    assert_eq!((seeded.status, seeded.stderr.as_str()), (0, ""));
    let alone = wavelift(&["diff", saxpy, "--seed", "7"]);
    assert_eq!(alone.status, 2, "{}", alone.stdout);
    assert!(alone.stderr.contains("--delayed"), "{}", alone.stderr);
}
