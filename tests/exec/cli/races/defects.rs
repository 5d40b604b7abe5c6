//! What `wavelift check --dynamic` says of other defects than races, on both engines.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::TARGETS;
use crate::cli::{Outcome, engines, file, folder, json, root, wavelift};

/// Checks a kernel of `tests/kernels/races/defects.cl` in a workgroup of 128 work-items; `y` has 128 words.
fn check(home: &Path, (kernel, target): (&str, &str), args: &str, more: &[&str]) -> Outcome {
    let code_object = root().join(format!("tests/kernels/races/defects.{target}.co"));
    let mut manifest = String::from("[buffers.y]\ntype = \"u32\"\ncount = 128\n[[dispatch]]\n");
    let grid = if kernel == "order" { 512 } else { 128 };
    let _ = writeln!(
        manifest,
        "code_object = {:?}",
        code_object.display().to_string()
    );
    let _ = writeln!(
        manifest,
        "kernel = {kernel:?}\ngrid = [{grid}]\nworkgroup = [128]"
    );
    let _ = writeln!(manifest, "args = [\"@y\"{args}]");
    let path = file(home, &format!("{kernel}.{target}.toml"), manifest);
    let mut words = vec!["check", &path, "--dynamic", "--notes", "--json"];
    words.extend(more);
    wavelift(&words)
}

/// Severity, rule, what is accessed, and the sentence of each finding.
fn found(check: &Outcome) -> Vec<[String; 4]> {
    let report = json(check);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().expect("an array").iter();
    let keys = ["severity", "rule", "what", "why"];
    findings
        .map(|one| keys.map(|key| text(&one[key])))
        .collect()
}

/// Kernel, its other arguments, exit status; severity and rule, what is accessed, why.
const DEFECTS: &str = "
    lanes_collide        |                              | 0 | note lanes-collide         | y[0]        | lane 1 of wave 0
    lanes_collide_in_lds |                              | 0 | note lanes-collide         | LDS at 0x0  | lane 1 of wave 0
    past_the_end         | , { u32 = 128 }              | 1 | finding out-of-bounds      | 0x          | past the end of a 512-byte
    unwritten            | , { local = 16 }, { u32 = 4 } | 1 | note unwritten-lds         | LDS at 0x0  | has not written
    past_the_lds         | , { local = 16 }, { u32 = 4 } | 1 | finding out-of-lds         | LDS at 0x10 | behind the workgroup's LDS
    past_the_lds_by_flat | , { local = 16 }, { u32 = 4 } | 3 | finding out-of-lds         | LDS at 0x10 | behind the workgroup's LDS
    two_barriers         |                              | 1 | finding barrier-divergence |             | is at another barrier than wave 0
    half_a_wave          |                              | 0 | note barrier-lanes         |             | not all of its lanes
    mixed                |                              | 0 | note mixed-atomic          |             | global memory and LDS
";

#[test]
fn each_defect_is_found_on_both_engines() {
    let home = folder("defects");
    for line in DEFECTS.trim().lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [kernel, args, status, rule, what, why] = cells[..] else {
            panic!("{line}")
        };
        for target in TARGETS {
            let by_engine = engines().into_iter().map(|engine| {
                let outcome = check(&home, (kernel, target), args, &["--engine", engine]);
                let found = found(&outcome);
                let is = |[severity, id, place, reason]: &[String; 4]| {
                    format!("{severity} {id}") == rule
                        && place.starts_with(what)
                        && reason.contains(why)
                };
                let name = format!("{kernel} {target} {engine}");
                assert!(found.iter().any(is), "{name}: {found:?} {}", outcome.stderr);
                assert_eq!(outcome.status.to_string(), status, "{name}: {found:?}");
                // Allocations lie elsewhere in another process.
                let place = |what: String| (!what.starts_with("0x")).then_some(what);
                let found = found.into_iter().map(|[a, b, what, _]| (a, b, place(what)));
                found.collect::<Vec<_>>()
            });
            let by_engine: Vec<_> = by_engine.collect();
            let same = by_engine.windows(2).all(|pair| pair[0] == pair[1]);
            assert!(same, "{kernel} {target}: {by_engine:?}");
        }
    }
}

#[test]
fn a_load_at_the_end_of_the_code_is_no_poll() {
    let manifest = "examples/pointers/pointers.gfx906.toml";
    for engine in engines() {
        let outcome = wavelift(&["check", manifest, "--dynamic", "--engine", engine]);
        assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    }
}

#[test]
fn results_that_depend_on_the_order_are_found() {
    let home = folder("defects-order");
    let order = ("order", "gfx906");
    for engine in engines() {
        let ordered = check(&home, order, "", &["--engine", engine]);
        assert_eq!((ordered.status, found(&ordered).len()), (0, 0));
        let shuffled = check(&home, order, "", &["--engine", engine, "--shuffle", "1"]);
        let found = found(&shuffled);
        assert_eq!(shuffled.status, 1, "{found:?}");
        let [severity, rule, _, why] = &found[0];
        assert_eq!(
            (severity.as_str(), rule.as_str()),
            ("finding", "order-dependent")
        );
        assert!(why.contains("y[") && why.contains("seed 1"), "{why}");
    }
}

/// Each process has its memory elsewhere.
#[test]
fn a_seed_means_one_order_of_waves() {
    let home = folder("defects-seed");
    let code_object = root().join("tests/kernels/races/counters.gfx906.co");
    let manifest = format!(
        "[buffers]\nx = {{ type = \"u32\", random = {{ seed = 1 }}, count = 512 }}\n\
         y = {{ type = \"u32\", count = 1 }}\nlist = {{ type = \"u32\", count = 512 }}\n\
         [[dispatch]]\ncode_object = {:?}\nkernel = \"append_repaired\"\ngrid = [512]\nworkgroup = [256]\n\
         args = [\"@x\", \"@y\", \"@list\"]\n",
        code_object.display().to_string()
    );
    let path = file(&home, "append.toml", manifest);
    let by_seed = ["1", "2", "3", "4"].map(|seed| {
        let words = ["check", &path, "--dynamic", "--json", "--shuffle", seed];
        let [first, again] = [(); 2].map(|()| found(&wavelift(&words)));
        assert_eq!(first, again, "seed {seed}");
        first.into_iter().map(|[_, rule, _, why]| (rule, why))
    });
    let by_seed: Vec<_> = by_seed.into_iter().flatten().collect();
    let dependent = by_seed.iter().filter(|(rule, _)| rule == "order-dependent");
    assert_ne!(dependent.count(), 0, "{by_seed:?}");
}

/// A recorded launch has its memory at one address, of which there is only one at a time.
#[test]
fn manifests_with_a_place_for_memory_run_more_than_once() {
    let manifest = "tests/kernels/trace/placed.toml";
    let outcome = wavelift(&[
        "check",
        manifest,
        "--dynamic",
        "--shuffle",
        "1",
        "--undefined",
    ]);
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.stdout, "0 findings and 0 notes in 1 routine\n");
}

/// Each launch begins with what the one before left in the order of numbers.
#[test]
fn a_launch_is_repeated_from_the_same_memory() {
    let home = folder("defects-repeat");
    let code_object = root().join("tests/kernels/races/counters.gfx906.co");
    let manifest = format!(
        "[buffers]\nx = {{ type = \"u32\", random = {{ seed = 1 }}, count = 64 }}\n\
         y = {{ type = \"u32\", count = 1 }}\nlist = {{ type = \"u32\", count = 512 }}\n\
         [[dispatch]]\ncode_object = {:?}\nkernel = \"append_repaired\"\ngrid = [64]\nworkgroup = [64]\n\
         repeat = 3\nargs = [\"@x\", \"@y\", \"@list\"]\n",
        code_object.display().to_string()
    );
    let path = file(&home, "append.toml", manifest);
    let outcome = wavelift(&["check", &path, "--dynamic", "--shuffle", "1"]);
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
}

#[test]
fn other_outputs_and_suppressions_are_those_of_static_checks() {
    let home = folder("defects-outputs");
    let known = "[[suppress]]\nrule = \"barrier-divergence\"\nkernel = \"two_barriers\"\nreason = \"a test\"\n";
    let known = file(&home, "known.toml", known);
    let suppressed = check(
        &home,
        ("two_barriers", "gfx906"),
        "",
        &["--suppress", &known],
    );
    assert_eq!(suppressed.status, 0, "{}", suppressed.stdout);
    assert_ne!(json(&suppressed)["suppressed"], 0);
    let other = check(
        &home,
        ("two_barriers", "gfx906"),
        "",
        &["--kernel", "another"],
    );
    assert_eq!((other.status, found(&other).len()), (0, 0));
    // What is no manifest cannot run.
    let object = root().join("tests/kernels/races/defects.gfx906.co");
    let refused = wavelift(&["check", object.to_str().expect("text"), "--dynamic"]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("is no launch manifest"),
        "{}",
        refused.stderr
    );
}
