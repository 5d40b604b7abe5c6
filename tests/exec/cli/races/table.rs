//! The table `[check]` of a launch manifest.

use std::path::Path;

use crate::cli::{Outcome, file, folder, json, root, wavelift};

/// A manifest of the kernel `tile_reverse_racy`, which has a race in LDS, with more lines.
fn manifest(home: &Path, name: &str, more: &str) -> String {
    let example = root().join("tests/kernels/races/example.toml");
    let text = std::fs::read_to_string(example).expect("the example is there");
    let (text, _) = text.split_once("# `wavelift check`").expect("its table");
    let code = root().join("tests/kernels/races/tile.gfx906.co");
    let code = format!("{:?}", code.display().to_string());
    file(home, name, text.replace("\"tile.gfx906.co\"", &code) + more)
}

const KNOWN: &str = "[[check.suppress]]\nrule = \"race-lds\"\nkernel = \"tile_reverse_racy\"\nreason = \"a test\"\n";

/// Checks such a manifest.
fn check(home: &Path, more: &str, options: &[&str]) -> (String, Outcome) {
    let path = manifest(home, "check.toml", more);
    let mut args = vec!["check", &path];
    args.extend(options);
    let outcome = wavelift(&args);
    (path, outcome)
}

#[test]
fn a_manifest_asks_for_dynamic_checks() {
    let home = folder("check-table");
    let (_, code) = check(&home, "", &["--kernel", "tile_reverse_racy"]);
    assert_eq!(code.status, 0, "{}", code.stdout);
    assert!(code.stdout.ends_with(" in 1 routine\n"), "{}", code.stdout);

    let dynamic = "[check]\ndynamic = true\n";
    let (_, both) = check(&home, dynamic, &["--kernel", "tile_reverse_racy"]);
    assert_eq!((both.status, both.stderr.as_str()), (1, ""));
    assert!(both.stdout.contains("[race-lds]"), "{}", both.stdout);
    // The code and the dispatch.
    assert!(both.stdout.ends_with(" in 2 routines\n"), "{}", both.stdout);

    // The option leaves out the code.
    let (_, run) = check(&home, "[check]\ndynamic = false\n", &["--dynamic"]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.ends_with(" in 1 routine\n"), "{}", run.stdout);

    let (_, missing) = check(&home, dynamic, &["--kernel", "nothing"]);
    assert_eq!(missing.status, 2);
    // Other commands validate the table and leave it at that.
    let path = manifest(&home, "run.toml", dynamic);
    assert_eq!(wavelift(&["run", &path]).status, 0);
}

#[test]
fn a_manifest_suppresses_its_own_findings() {
    let home = folder("check-table-suppress");
    // What is read too early is stored.
    let stored = KNOWN.replace("race-lds", "undefined-output");
    let all = format!("[check]\ndynamic = true\n{KNOWN}{stored}");
    let (path, known) = check(&home, &all, &[]);
    assert_eq!((known.status, known.stderr.as_str()), (0, ""));
    assert!(known.stdout.contains(" suppressed"), "{}", known.stdout);

    let racy = manifest(&home, "racy.toml", "");
    let others = wavelift(&["check", &path, &racy, "--dynamic"]);
    assert_eq!(others.status, 1);
    assert!(others.stdout.contains("racy.toml: "), "{}", others.stdout);
    assert!(!others.stdout.contains("check.toml: "), "{}", others.stdout);

    // Only what was looked for can be of no use.
    let unused = KNOWN.replace("tile_reverse_racy", "another");
    let (path, dynamic) = check(&home, &unused, &["--dynamic"]);
    let line = std::fs::read_to_string(&path).expect("it is there");
    let line = 1 + line
        .lines()
        .position(|line| line == "[[check.suppress]]")
        .expect("an entry");
    assert_eq!(
        dynamic.stderr,
        format!("{path}:{line}: note: nothing is suppressed by `race-lds` of kernel `another`\n")
    );
    let (_, code) = check(&home, &unused, &[]);
    assert_eq!(code.stderr, "");
}

#[test]
fn a_manifest_asks_for_notes_and_another_order() {
    let home = folder("check-table-notes");
    let code = root().join("tests/kernels/races/defects.gfx906.co");
    let kernel = |kernel: &str, grid: u32, more: &str| {
        let text = format!(
            "[buffers.y]\ntype = \"u32\"\ncount = 128\n[[dispatch]]\ncode_object = {:?}\nkernel = \"{kernel}\"\n\
             grid = [{grid}]\nworkgroup = [128]\nargs = [\"@y\"]\n[check]\n{more}\n",
            code.display().to_string()
        );
        file(&home, &format!("{kernel}.toml"), text)
    };
    let rules = |path: &str, options: &[&str]| {
        let mut args = vec!["check", path, "--dynamic", "--json"];
        args.extend(options);
        let report = json(&wavelift(&args));
        let findings = report["findings"].as_array().expect("an array").clone();
        let rule = |one: &serde_json::Value| one["rule"].as_str().expect("a name").to_owned();
        findings.iter().map(rule).collect::<Vec<_>>()
    };
    let collide = kernel("lanes_collide", 128, "notes = false");
    assert!(rules(&collide, &[]).is_empty());
    assert_eq!(rules(&collide, &["--notes"]), ["lanes-collide"]);
    let collide = kernel("lanes_collide", 128, "notes = true");
    assert_eq!(rules(&collide, &[]), ["lanes-collide"]);

    let order = kernel("order", 512, "");
    assert!(rules(&order, &[]).is_empty());
    let order = kernel("order", 512, "shuffle = 1");
    assert_eq!(rules(&order, &[]), ["order-dependent"]);
}

/// Each mistake is named with its key and line, by every command.
#[test]
fn mistakes_in_the_table_are_named() {
    let home = folder("check-table-mistakes");
    let entry = |lines: &str| format!("[[check.suppress]]\n{lines}\n");
    let full = "rule = \"race-lds\"\nkernel = \"k\"\nreason = \"a test\"";
    let cases = [
        (
            "[check]\nfast = true\n".to_owned(),
            "check.fast: unknown key `fast`; known here: dynamic, shuffle, notes, suppress",
        ),
        (
            "[check]\ndynamic = 1\n".to_owned(),
            "check.dynamic: expected `true` or `false`, found the integer 1",
        ),
        (
            "[check]\nnotes = \"yes\"\n".to_owned(),
            "check.notes: expected `true` or `false`",
        ),
        (
            "[check]\nshuffle = -1\n".to_owned(),
            "check.shuffle: -1 is outside 0 to ",
        ),
        (
            "[check]\nsuppress = 1\n".to_owned(),
            "check.suppress: expected an array of tables",
        ),
        (
            entry("rule = \"race-lds\"\nkernel = \"k\""),
            "check.suppress[0]: the key `reason` is missing",
        ),
        (
            entry("rule = \"race-lds\"\nreason = \"a test\""),
            "check.suppress[0]: the key `kernel` is missing",
        ),
        (
            entry("rule = \"race-lds\"\nkernel = \"k\"\nreason = \" \""),
            "check.suppress[0].reason: the reason is empty",
        ),
        (
            entry(&full.replace("race-lds", "race-ldx")),
            "check.suppress[0].rule: unknown rule `race-ldx`; give the name",
        ),
        (
            entry(&format!("{full}\naddress = \"0x10\"")),
            "check.suppress[0].address: expected an integer",
        ),
        (
            entry(&format!("{full}\nline = 1")),
            "check.suppress[0].line: unknown key `line`",
        ),
    ];
    for (more, wanted) in cases {
        let path = manifest(&home, "wrong.toml", &more);
        for command in ["check", "run"] {
            let outcome = wavelift(&[command, &path]);
            let (start, rest) = outcome.stderr.split_once("wrong.toml:").expect(wanted);
            assert_eq!(outcome.status, 2, "{command} {more}: {start}");
            let (line, rest) = rest.split_once(": ").expect(wanted);
            assert!(line.parse::<usize>().is_ok(), "{line}");
            assert!(rest.starts_with(wanted), "{command} {more}: {rest}");
        }
    }
}
