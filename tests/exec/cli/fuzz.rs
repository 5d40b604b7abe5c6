//! `wavelift fuzz`.

use fuzz::{Campaign, Kind, Options, Settings};
use serde_json::Value;

use super::{json, wavelift};

/// The digest that the shards' digests add up to.
fn sum(digests: &[&str]) -> String {
    let mut bytes = [0u8; 32];
    for digest in digests {
        let mut carry = 0;
        for (n, byte) in bytes.iter_mut().enumerate().rev() {
            let other =
                u16::from_str_radix(&digest[2 * n..2 * n + 2], 16).expect("it is hexadecimal");
            let sum = u16::from(*byte) + other + carry;
            *byte = sum as u8;
            carry = sum >> 8;
        }
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fuzz(args: &[&str]) -> Value {
    // Guest memory of a campaign begins at a fixed address, but in a process of its own.
    let outcome = wavelift(&[&["fuzz", "--json"], args].concat());
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    json(&outcome)
}

fn check_shards(args: &[&str], seeds: u64) {
    let whole = fuzz(args);
    assert_eq!(whole["ok"], true);
    assert_eq!(whole["done"], seeds);
    let shards = ["1/3", "2/3", "3/3"].map(|shard| fuzz(&[args, &["--shard", shard]].concat()));
    for key in ["done", "runs", "faults", "instructions"] {
        let sum: Option<u64> = shards.iter().map(|shard| shard[key].as_u64()).sum();
        assert_eq!(whole[key].as_u64(), sum, "{key}");
    }
    let digests = shards.each_ref().map(|shard| shard["digest"].as_str());
    let digests = digests.map(|digest| digest.expect("it is text"));
    assert_eq!(whole["digest"], sum(&digests));
    assert_ne!(digests[0], digests[1]);
    let ends = shards.each_ref().map(|shard| &shard["seeds"]);
    assert_eq!(ends[0][0], whole["seeds"][0]);
    assert_eq!(ends[0][1], ends[1][0]);
    assert_eq!(ends[1][1], ends[2][0]);
    assert_eq!(ends[2][1], whole["seeds"][1]);
}

#[test]
fn shards_add_up_to_the_whole() {
    check_shards(&["--target", "gfx906", "--seeds", "1000..1061"], 61);
}

#[test]
fn shards_of_lines_add_up_to_the_whole() {
    let args = [
        "--target", "gfx803", "--kind", "lines", "--seeds", "7..14", "--length", "64",
    ];
    check_shards(&args, 7);
}

#[test]
fn the_object_has_its_keys() {
    let report = fuzz(&["--target", "gfx900", "--seeds", "0..3"]);
    let keys: Vec<_> = report
        .as_object()
        .expect("it is an object")
        .keys()
        .collect();
    let mut want = [
        "ok",
        "complete",
        "stopped",
        "version",
        "build",
        "cpu",
        "target",
        "kind",
        "options",
        "seeds",
        "done",
        "runs",
        "faults",
        "instructions",
        "digest",
        "failures",
    ];
    want.sort_unstable();
    let mut keys = keys;
    keys.sort_unstable();
    assert_eq!(keys, want);
    assert_eq!(report["kind"], "programs");
    assert_eq!(report["target"], "gfx900");
    assert_eq!(report["complete"], true);
    assert_eq!(report["runs"], 6);
    assert!(report["instructions"].as_u64() > Some(3), "{report}");
}

#[test]
fn text_says_what_was_compared() {
    let outcome = wavelift(&["fuzz", "--target", "gfx600", "--seeds", "5..8"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    let lines: Vec<_> = outcome.stdout.lines().collect();
    assert!(
        lines[0].starts_with("gfx600, programs, seeds 5..8: 3 done, "),
        "{lines:?}"
    );
    assert_eq!(lines[1].len(), "digest ".len() + 64);
    assert_eq!(lines[2..], ["the engines agree"]);
}

#[test]
fn bad_arguments_are_refused() {
    let good = ["--target", "gfx906", "--seeds", "0..2"];
    let cases: [(&[&str], &str); 13] = [
        (
            &["--target", "gfx1030", "--seeds", "0..2"],
            "unknown target `gfx1030`",
        ),
        (&["--target", "gfx906"], "--seeds <FIRST..END>"),
        (
            &["--target", "gfx906", "--seeds", "2..2"],
            "the range is empty",
        ),
        (&["--target", "gfx906", "--seeds", "2"], "such as 0..1000"),
        (&["--shard", "0/2"], "from 1/N to N/N"),
        (&["--shard", "3/2"], "from 1/N to N/N"),
        (&["--shard", "half"], "such as 1/8"),
        (&["--length", "0"], "length is 0, and must be at least 1"),
        (
            &["--kind", "lines", "--length", "31"],
            "must be at least 32",
        ),
        (
            &["--length", "70000"],
            "length is 70000, and must be at most 65536",
        ),
        (
            &["--kind", "lines", "--checked"],
            "straight lines have no option `checked`",
        ),
        (
            &["--shape", "avx9"],
            "no shape of the translator has `avx9` in its name",
        ),
        (&["--without", "v_cmp"], "no programs can be made"),
    ];
    for (args, message) in cases {
        let args = match args[0] {
            "--target" => args.to_vec(),
            _ => [&good, args].concat(),
        };
        let outcome = wavelift(&[&["fuzz"], &args[..]].concat());
        assert_eq!(
            (outcome.status, outcome.stdout.as_str()),
            (2, ""),
            "{args:?}"
        );
        assert!(
            outcome.stderr.contains(message),
            "{args:?}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn a_time_limit_ends_it_with_what_is_known() {
    let args = [
        "--target",
        "gfx906",
        "--seeds",
        "0..100000000",
        "--timeout",
        "0.2",
        "--json",
    ];
    let outcome = wavelift(&[&["fuzz"], &args[..]].concat());
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    let report = json(&outcome);
    assert_eq!(report["ok"], true);
    assert_eq!(report["complete"], false);
    assert_eq!(report["stopped"], "timeout");
    assert!(report["done"].as_u64() < Some(100_000_000));
}

/// The instruction that a planted engine computes wrong.
const WRONG: &str = "v_mov_b32_e32";

/// Is this a program of few instructions, with the wrong one?
fn check_small(program: &str) {
    assert!(program.contains(WRONG), "{program}");
    // Behind the instructions are the barrier and the word that ends it.
    let instructions = program.lines().count() - 2;
    assert!(instructions <= 3, "{program}");
}

#[test]
fn a_planted_difference_is_found_and_made_smaller() {
    let mut settings = Settings::new(frontend::Gfx::Gfx906, Kind::Lines);
    settings.length = 64;
    settings.options = Options {
        wrong: Some(WRONG.to_owned()),
        ..Options::default()
    };
    let mut campaign = Campaign::new(settings.clone()).expect("this host");
    let mut verdicts = (0..20).map(|seed| campaign.seed(seed).expect("this host"));
    let found = verdicts.find(|verdict| verdict.failure.is_some());
    let found = found.expect("lines have many of these");
    let failure = found.failure.expect("it was found");
    check_small(&failure.text);
    assert!(!failure.differences.is_empty());
    assert!(failure.code.ends_with(&[0xff; 4]), "{:02x?}", failure.code);
    // Another campaign finds the same for the seed.
    let again = Campaign::new(settings).expect("this host").seed(found.seed);
    let again = again.expect("this host").failure.expect("it differs again");
    assert_eq!(again.text, failure.text);
    assert_eq!(again.shape, failure.shape);
}

/// Only debug builds can plant one.
#[cfg(debug_assertions)]
#[test]
fn a_planted_difference_is_shown_with_a_command_that_repeats_it() {
    let args = [
        "--target",
        "gfx906",
        "--seeds",
        "0..500",
        "--wrong",
        WRONG,
        "--max-failures",
        "1",
    ];
    let outcome = wavelift(&[&["fuzz", "--json"], &args[..]].concat());
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let report = json(&outcome);
    assert_eq!(report["ok"], false);
    let failure = &report["failures"][0];
    check_small(failure["program"].as_str().expect("it is text"));
    let seed = failure["seed"].as_u64().expect("it is a number");
    let repeat = failure["repeat"].as_str().expect("it is text");
    assert_eq!(
        repeat,
        format!(
            "wavelift fuzz --target gfx906 --seeds {seed}..{} --wrong {WRONG}",
            seed + 1
        )
    );
    let repeat: Vec<_> = repeat
        .split(' ')
        .map(|word| word.trim_matches('\''))
        .collect();
    let again = wavelift(&[&repeat[1..], &["--json"]].concat());
    assert_eq!(again.status, 1, "{}", again.stderr);
    assert_eq!(&json(&again)["failures"][0], failure);
    let text = wavelift(&repeat[1..]);
    assert_eq!(text.status, 1);
    let begin = format!("DIFFERENT: seed {seed}, on ");
    assert!(text.stdout.starts_with(&begin), "{}", text.stdout);
    assert!(text.stdout.contains(WRONG), "{}", text.stdout);
    assert!(
        text.stdout.ends_with("the engines differ on 1 program\n"),
        "{}",
        text.stdout
    );
}

/// The instruction that is wrong in tests of manifests; what surrounds programs there has none of it.
#[cfg(debug_assertions)]
const WRONG_IN_LAUNCHES: &str = "v_xor_b32_e32";

/// A dword of the result at the end of a manifest's run on the interpreter.
#[cfg(debug_assertions)]
fn result(manifest: &str, index: usize) -> u64 {
    let print = format!("result:{index}:{}", index + 1);
    let args = ["run", manifest, "--engine", "interp", "--json", "--print"];
    let outcome = wavelift(&[&args[..], &[&print]].concat());
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let report = json(&outcome);
    let value = &report["print"][0]["values"][0];
    value.as_u64().unwrap_or_else(|| panic!("{report}"))
}

/// Register, lane and the interpreter's value of a difference such as `v8[0]: b696d27e / b696d27f`.
#[cfg(debug_assertions)]
fn vector_difference(line: &str) -> Option<(usize, u64)> {
    let (register, rest) = line.strip_prefix('v')?.split_once('[')?;
    let (lane, values) = rest.split_once("]: ")?;
    let (value, _) = values.split_once(" / ")?;
    let at = register.parse::<usize>().ok()? * 64 + lane.parse::<usize>().ok()?;
    Some((at, u64::from_str_radix(value, 16).ok()?))
}

#[cfg(debug_assertions)]
#[test]
fn differences_are_written_as_manifests_that_show_them() {
    for target in [
        "gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
    ] {
        let folder = super::folder(&format!("fuzz-emit-{target}"));
        let folder = folder.to_str().expect("it is text");
        let args = [
            "fuzz",
            "--json",
            "--target",
            target,
            "--seeds",
            "0..700",
            "--max-failures",
            "2",
            "--wrong",
            WRONG_IN_LAUNCHES,
            "--emit",
            folder,
        ];
        let outcome = wavelift(&args);
        assert_eq!(outcome.status, 1, "{target}: {}", outcome.stderr);
        let report = json(&outcome);
        let failures = report["failures"].as_array().expect("it is a list");
        assert!(!failures.is_empty(), "{target}");
        let mut compared = 0;
        for failure in failures {
            let seed = &failure["seed"];
            let manifest = failure["manifest"].as_str().expect("it was written");
            assert_eq!(manifest, format!("{folder}/{target}-programs-{seed}.toml"));
            let text = std::fs::read_to_string(manifest).expect("it is there");
            let repeat = failure["repeat"].as_str().expect("it is text");
            assert!(text.contains(repeat), "{text}");
            // The command that it gives shows the wrong instruction.
            let diff = failure["diff"].as_str().expect("the manifest shows it");
            let words: Vec<_> = diff.split(' ').collect();
            let shown = wavelift(&words[1..]);
            assert_eq!(shown.status, 1, "{diff}: {}{}", shown.stdout, shown.stderr);
            assert!(shown.stdout.contains(WRONG_IN_LAUNCHES), "{}", shown.stdout);
            // The translator itself is right.
            let right = wavelift(&["diff", manifest]);
            assert_eq!(
                right.status, 0,
                "{manifest}: {}{}",
                right.stdout, right.stderr
            );
            // The launch computes what the campaign did.
            for line in failure["differences"].as_array().expect("it is a list") {
                let difference = line.as_str().and_then(vector_difference);
                if let Some((index, value)) = difference {
                    assert_eq!(result(manifest, index), value, "{manifest}, {line}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 0, "{target}: {failures:?}");
    }
}

#[test]
fn a_folder_for_manifests_that_cannot_be_made_is_refused() {
    let good = ["fuzz", "--target", "gfx906", "--seeds", "0..2", "--emit"];
    let outcome = wavelift(&[&good[..], &["/dev/null/folder"]].concat());
    assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""));
    assert!(
        outcome.stderr.contains("--emit: cannot make the folder"),
        "{}",
        outcome.stderr
    );
    let outcome = wavelift(&[&good[..], &["folder", "--read-only"]].concat());
    assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""));
    assert!(outcome.stderr.contains("--read-only"), "{}", outcome.stderr);
}

/// Ctrl-C and the signal of job schedulers.
#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_what_is_known() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let mut child = Command::new(env!("CARGO_BIN_EXE_wavelift"))
        .args([
            "fuzz",
            "--target",
            "gfx906",
            "--seeds",
            "0..100000000",
            "--json",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program is built");
    // It handles signals before the first seed, for which this is long enough on a busy machine. A signal before that would
    // end it without a report, which the status tells.
    std::thread::sleep(Duration::from_secs(2));
    let sent = Command::new("kill")
        .args(["-s", "TERM", &child.id().to_string()])
        .status();
    assert!(sent.expect("there is a kill").success());
    let mut text = String::new();
    let mut stdout = child.stdout.take().expect("it is a pipe");
    stdout.read_to_string(&mut text).expect("it is text");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(3));
    let report: Value = serde_json::from_str(&text).expect("it is an object");
    assert_eq!(report["stopped"], "signal");
    assert_eq!(report["complete"], false);
}
