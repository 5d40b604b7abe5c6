//! `run --evidence`.

use super::{json, wavelift};

const SAXPY: &str = "examples/saxpy/saxpy.gfx900.toml";

/// Weakest first.
const KINDS: [&str; 6] = [
    "none",
    "cases only",
    "two engines",
    "third oracle",
    "proved",
    "exhaustive",
];

#[test]
fn instructions_that_ran_are_listed_weakest_first() {
    let mut reports = Vec::new();
    for engine in ["interp", "jit"] {
        let out = wavelift(&["run", SAXPY, "--engine", engine, "--evidence", "--json"]);
        assert_eq!(out.status, 0, "{}", out.stderr);
        let report = json(&out)["evidence"].clone();
        let all = report.as_array().expect("it is a list");
        let kind = |one: &serde_json::Value| {
            let name = one["evidence"].as_str().expect("it is text");
            KINDS.iter().position(|kind| *kind == name).expect(name)
        };
        assert!(all.is_sorted_by_key(kind), "{all:?}");
        let of = |name: &str| {
            let one = all.iter().find(|one| one["instruction"] == name);
            one.unwrap_or_else(|| panic!("{name} ran: {all:?}"))
        };
        assert!(all.iter().all(|one| one["target"] == "gfx900"));
        // Integer instructions are proved, loads are not.
        assert_eq!(of("v_lshlrev_b64")["evidence"], "proved");
        assert!(kind(of("global_load_dword")) < kind(of("v_lshlrev_b64")));
        assert_ne!(of("s_endpgm")["executions"], 0);
        assert!(all.iter().all(|one| one["instruction"] != "v_sin_f32"));
        reports.push(report);
    }
    assert_eq!(reports[0], reports[1], "both engines count the same");
}

#[test]
fn text_has_a_line_for_each_instruction() {
    let out = wavelift(&["run", SAXPY, "--evidence"]);
    assert_eq!(out.status, 0, "{}", out.stderr);
    let mut lines = out.stdout.lines();
    let head = lines.find(|line| line.starts_with("evidence for "));
    let head = head.unwrap_or_else(|| panic!("{}", out.stdout));
    assert!(head.ends_with(" instructions, weakest first:"), "{head}");
    let count: usize = head
        .split(' ')
        .nth(2)
        .and_then(|n| n.parse().ok())
        .expect(head);
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), count, "{lines:?}");
    let named = |line: &&str| KINDS.iter().any(|kind| line.trim_start().starts_with(kind));
    assert!(lines.iter().all(named), "{lines:?}");
    // Without the option there is nothing of it.
    let out = wavelift(&["run", SAXPY]);
    assert!(!out.stdout.contains("evidence"), "{}", out.stdout);
}

#[test]
fn what_counts_in_other_ways_excludes_it() {
    for other in [
        ["--trace", "--trace-limit=1"],
        ["--coverage", "target/never.coverage"],
    ] {
        let out = wavelift(&["run", SAXPY, "--evidence", other[0], other[1]]);
        assert_eq!(out.status, 2, "{}", out.stdout);
        assert!(out.stderr.contains("give one of them"), "{}", out.stderr);
    }
}
