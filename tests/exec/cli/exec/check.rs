//! `wavelift check exec`: what kernels of programs do wrong.

use std::path::Path;

use serde_json::Value;

use super::super::{Outcome, engines, file, folder, json, wavelift, wavelift_in};
use super::{call, has_library, program};

/// Calls `wavelift check exec`; `None` where it has no library.
fn check(args: &[&str]) -> Option<Outcome> {
    call(&["check", "exec"], args, &[])
}

/// The program with defects; `None` without hipcc.
fn defects() -> Option<String> {
    Some(text(&program("defects", "-gline-tables-only")?))
}

fn text(path: &Path) -> String {
    path.to_str().expect("the path is text").to_owned()
}

/// Checks what the program does for these arguments; the report.
fn report(options: &[&str], what: &[&str]) -> Option<(Outcome, Value)> {
    let program = defects()?;
    let args = [options, &["--json", "--", &program], what].concat();
    let out = check(&args)?;
    let report = json(&out);
    Some((out, report))
}

/// The findings of a report.
fn findings(report: &Value) -> &Vec<Value> {
    report["findings"].as_array().expect("an array")
}

/// Number of the first line of the program's source with this text.
fn line(of: &str) -> usize {
    let source = include_str!("../../../../hsa/tests/programs/defects.hip");
    let found = source.lines().position(|line| line.contains(of));
    found.expect("the program has the line") + 1
}

#[test]
fn each_defect_is_found_on_both_engines() {
    let what = ["lds", "clean", "global", "bounds", "freed", "registered"];
    for engine in engines() {
        let Some((out, report)) = report(&["--engine", engine], &what) else {
            return;
        };
        assert_eq!(out.status, 1, "{engine}: {}", out.stderr);
        assert!(out.stderr.contains("all is well"), "{}", out.stderr);
        let expected = [
            ("race-lds", "_Z7reverseILb1EEvPi", "= tile[size", None),
            ("race-global", "_Z5countILb1EEvPi", "*counter += 1", Some(0)),
            ("out-of-bounds", "_Z4fillPii", "data[i] = i", Some(512)),
            ("use-after-free", "_Z4fillPii", "data[i] = i", Some(0)),
        ];
        let all = findings(&report);
        for (rule, kernel, source, offset) in expected {
            let is_it =
                |one: &&Value| one["rule"] == rule && one["instruction"]["line"] == line(source);
            let one = all.iter().find(is_it);
            let one = one.unwrap_or_else(|| panic!("{engine}: no {rule} in {report:#}"));
            assert_eq!(one["kernel"], kernel, "{one:#}");
            let place = &one["instruction"];
            assert!(
                place["file"]
                    .as_str()
                    .is_some_and(|file| file.ends_with("defects.hip"))
            );
            let is_race = rule.starts_with("race");
            assert_eq!(one["other"]["address"].is_u64(), is_race, "{one:#}");
            assert_eq!(one["other_by"]["wave"].is_u64(), is_race, "{one:#}");
            let allocation = &one["allocation"];
            match offset {
                None => assert!(allocation.is_null(), "{one:#}"),
                Some(offset) => {
                    assert_eq!(allocation["bytes"], 512, "{one:#}");
                    assert_eq!(allocation["offset"], offset, "{one:#}");
                    assert_eq!(allocation["freed"], rule == "use-after-free", "{one:#}");
                    let at = allocation["address"].as_u64().expect("an address");
                    assert_eq!(one["address"], at + offset, "{one:#}");
                }
            }
            assert_eq!(one["launches"], 1 + u64::from(rule == "race-global"));
            assert!(one["process"].is_u64() && one["launch"].is_u64(), "{one:#}");
        }
        // Each race is found at two of its instructions. That in the host's own memory is the same as the one before.
        assert_eq!(all.len(), expected.len() + 2, "{engine}: {report:#}");
        assert_eq!(report["program"]["processes"], 1);
        assert_eq!(report["program"]["status"], 0);
    }
}

#[test]
fn launches_at_the_same_time_are_told_apart() {
    let Some((out, report)) = report(&[], &["concurrent"]) else {
        return;
    };
    assert!(out.stderr.contains("all is well"), "{}", out.stderr);
    let all = findings(&report);
    assert_eq!(all.len(), 2, "{report:#}");
    for one in all {
        assert_eq!(
            (&one["rule"], &one["launches"]),
            (&"race-lds".into(), &4.into())
        );
    }
}

#[test]
fn all_processes_are_checked() {
    let Some((out, report)) = report(&[], &["fork", "clean", "lds"]) else {
        return;
    };
    assert_eq!(out.status, 1, "{}", out.stderr);
    assert_eq!(report["program"]["processes"], 2);
    let all = findings(&report);
    assert_eq!(all.len(), 4, "{report:#}");
    assert_ne!(all[0]["process"], all[3]["process"]);
}

#[test]
fn an_abrupt_end_loses_nothing() {
    let Some((out, killed)) = report(&[], &["lds", "kill"]) else {
        return;
    };
    assert_eq!((out.status, findings(&killed).len()), (1, 2), "{killed:#}");
    assert_eq!(killed["program"]["signal"], 9);
    let (out, exited) = report(&[], &["lds", "exit"]).expect("it was there before");
    assert_eq!((out.status, findings(&exited).len()), (1, 2), "{exited:#}");
    assert_eq!(exited["program"]["status"], 5);
    // The kernel that a time limit ends.
    let (out, stuck) = report(&["--timeout", "1"], &["stuck"]).expect("it was there before");
    assert_eq!(out.status, 1, "{}", out.stderr);
    assert_eq!(findings(&stuck)[0]["rule"], "race-global", "{stuck:#}");
    assert!(out.stderr.contains("wavelift: fault: "), "{}", out.stderr);
}

#[test]
fn without_findings_the_status_is_the_programs() {
    for (what, status) in [
        (&["clean"][..], 0),
        (&["clean", "status"], 7),
        (&["clean", "exit"], 5),
    ] {
        let Some((out, report)) = report(&[], what) else {
            return;
        };
        assert_eq!(out.status, status, "{}", out.stderr);
        assert_eq!(findings(&report).len(), 0, "{report:#}");
        assert!(report["routines"].as_u64() > Some(2), "{report:#}");
    }
}

#[test]
fn the_report_is_text_or_sarif_and_can_go_to_a_file() {
    let Some(program) = defects() else { return };
    let home = folder("check-exec");
    let Some(out) = check(&[&program, "freed", "lds"]) else {
        return;
    };
    assert_eq!(out.status, 1, "{}", out.stderr);
    let lines: Vec<&str> = out.stdout.lines().collect();
    assert_eq!(lines[0], "all is well", "the program's own output");
    let head = format!(
        "{program}: fill(int*, int): finding: lane 0 of wave 0 of workgroup (0, 0, 0) wrote 4 bytes at 0x"
    );
    assert!(lines[1].starts_with(&head), "{}", out.stdout);
    assert!(
        lines[1].ends_with(", 0 bytes into a freed 512-byte allocation [use-after-free]"),
        "{}",
        out.stdout
    );
    assert!(
        lines[3].starts_with("  launch ")
            && lines[3].contains("; the freed allocation has 512 bytes at 0x"),
        "{}",
        out.stdout
    );
    let last = lines.last().expect("there are lines");
    assert!(
        last.starts_with("3 findings and 1 note in ") && last.ends_with(" of 1 process"),
        "{last}"
    );
    let known = "[[suppress]]\nrule = \"race-lds\"\nkernel = \"*\"\nfile = \"defects\"\nreason = \"a test\"\n";
    let known = file(&home, "known.toml", known);
    let sarif = text(&home.join("findings.sarif"));
    let options = ["--sarif", "--output", &sarif, "--suppress", &known];
    let out = check(&[&options[..], &["--", &program, "freed", "lds"]].concat());
    let out = out.expect("it was there before");
    assert_eq!((out.status, out.stdout.as_str()), (1, "all is well\n"));
    let log = std::fs::read_to_string(&sarif).expect("the report is there");
    let log: Value = serde_json::from_str(&log).expect("it is JSON");
    let results = log["runs"][0]["results"].as_array().expect("an array");
    assert_eq!(results.len(), 1, "{log:#}");
    assert_eq!(results[0]["ruleId"], "use-after-free");
    assert!(results[0]["properties"]["launch"].is_u64(), "{log:#}");
    let kernel = "_Z7reverseILb1EEvPi";
    let (_, one) = report(&["--kernel", kernel], &["freed", "lds"]).expect("as before");
    assert_eq!(findings(&one)[0]["kernel"], kernel, "{one:#}");
    assert_eq!((findings(&one).len(), &one["routines"]), (2, &1.into()));
    let out = check(&["--kernel", "nothing", &program, "clean"]).expect("as before");
    assert_eq!(out.status, 2);
    assert!(
        out.stderr
            .contains("launched no kernel `nothing`, but these: "),
        "{}",
        out.stderr
    );
}

#[test]
fn programs_that_do_not_run_or_use_no_gpu() {
    let Some(out) = check(&["sh", "-c", "exit 3"]) else {
        return;
    };
    assert_eq!(out.status, 3);
    assert!(
        out.stderr.contains("sh made no GPU call: "),
        "{}",
        out.stderr
    );
    assert!(
        out.stdout
            .ends_with("0 findings and 0 notes in 0 routines, 0 launches of 0 processes\n")
    );
    let said = |args: &[&str], variables: &[(&str, &str)], status, what: &str| {
        let out = wavelift_in(&[&["check", "exec"], args].concat(), variables, "");
        assert!(has_library(&out));
        assert_eq!(out.status, status, "{args:?}: {}", out.stderr);
        assert!(out.stderr.contains(what), "{args:?}: {}", out.stderr);
    };
    said(&[], &[], 2, "<PROGRAM>");
    said(&["/no/such/program"], &[], 2, "cannot run /no/such/program");
    let nowhere = [("TMPDIR", "/no/such/folder")];
    said(&["env"], &nowhere, 2, "TMPDIR names another one");
    said(
        &["--output", "/no/such/folder/a", "env"],
        &[],
        2,
        "cannot write /no/such",
    );
    said(
        &["--suppress", "/no/such/file", "env"],
        &[],
        2,
        "/no/such/file",
    );
    let profile = [("WAVELIFT_PROFILE", "-")];
    if let Some(program) = defects() {
        said(&[&program, "idle"], &[], 0, "launched no kernel");
        said(&[&program, "idle"], &profile, 2, "WAVELIFT_PROFILE is set");
    }
    // A file with the name of the command.
    let home = folder("check-exec-file");
    let saxpy = std::fs::read(super::root().join("examples/saxpy/saxpy.gfx900.co"));
    let path = file(&home, "exec", saxpy.expect("it is there"));
    assert_eq!(wavelift(&["check", &path]).status, 0);
    let out = wavelift(&["check", "--notes", "exec"]);
    assert!(out.stderr.contains("cannot read exec"), "{}", out.stderr);
}

#[test]
fn programs_without_defects_have_no_findings() {
    for name in [
        "vector_add",
        "kernels",
        "features",
        "streams",
        "memory",
        "random",
        "share",
        "cooperative",
    ] {
        let Some(program) = program(name, "-O2") else {
            return;
        };
        let Some(out) = check(&["--json", "--", &text(&program)]) else {
            return;
        };
        let report = json(&out);
        assert_eq!(findings(&report).len(), 0, "{name}: {report:#}");
        assert_eq!(out.status, 0, "{name}: {}", out.stderr);
    }
}
