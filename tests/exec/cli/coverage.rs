//! `run --coverage` and `wavelift coverage`.

use std::path::Path;

use super::{Outcome, engines, file, folder, json, wavelift};

const BRANCHES: &str = "tests/kernels/source/branches.gfx906.co";

/// Runs the kernel `branches` on 128 work-items, on one engine.
fn run(to: &str, engine: &str, [limit, mode, scale]: [&str; 3]) {
    let out = wavelift(&[
        "run",
        BRANCHES,
        "--kernel",
        "_Z8branchesPiiif",
        "--grid",
        "128",
        "--block",
        "64",
        "--arg",
        "out:i32:4096",
        "--arg",
        limit,
        "--arg",
        mode,
        "--arg",
        scale,
        "--engine",
        engine,
        "--coverage",
        to,
    ]);
    assert_eq!(out.status, 0, "{}", out.stderr);
}

/// Lanes above the limit; no lane of which a condition of the wave holds.
const FIRST: [&str; 3] = ["100", "0", "0.5"];

/// What the first does not do.
const SECOND: [&str; 3] = ["128", "1", "2.0"];

fn path(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    path.to_str().expect("the path is text").to_owned()
}

fn good(args: &[&str]) -> Outcome {
    let out = wavelift(args);
    assert_eq!(out.status, 0, "{}", out.stderr);
    out
}

fn bad(args: &[&str], message: &str) {
    let out = wavelift(args);
    assert_eq!(out.status, 2, "{}{}", out.stdout, out.stderr);
    assert!(out.stderr.contains(message), "{}", out.stderr);
}

/// The first run. Of 128 work-items 100 are below the limit, half of these odd. All odd ones make as many iterations as
/// their number says: 2500 together, of which 2450 have another one after them. The waves make 63 and 99.
const LCOV: &str = "\
TN:
SF:branches.hip
FN:7,_Z8branchesPiiif
FN:25,_Z5neverPi
FNDA:2,_Z8branchesPiiif
FNDA:0,_Z5neverPi
FNF:2
FNH:1
BRDA:9,0,0,100
BRDA:9,0,1,28
BRDA:11,0,0,50
BRDA:11,0,1,50
BRDA:12,0,0,50
BRDA:12,0,1,0
BRDA:12,1,0,2450
BRDA:12,1,1,50
BRDA:16,0,0,2
BRDA:16,0,1,0
BRDA:18,0,0,100
BRDA:18,0,1,0
BRF:12
BRH:9
DA:7,2
DA:9,2
DA:11,2
DA:12,162
DA:13,162
DA:15,2
DA:16,2
DA:17,0
DA:18,2
DA:19,0
DA:20,2
DA:21,2
DA:25,0
DA:26,0
LF:14
LH:10
end_of_record
";

#[test]
fn the_report_for_lcov_is_exact_and_engines_agree() {
    let folder = folder("coverage-lcov");
    let files = engines().into_iter().map(|engine| {
        let to = path(&folder, engine);
        run(&to, engine, FIRST);
        to
    });
    let files: Vec<_> = files.collect();
    for to in &files {
        let out = good(&["coverage", to, "--lcov", "-"]);
        assert_eq!(out.stdout, LCOV, "{to}");
    }
    let written = path(&folder, "all.info");
    let out = good(&["coverage", &files[0], "--lcov", &written]);
    assert_eq!(out.stdout, format!("wrote {written}\n"));
    let text = std::fs::read_to_string(&written).expect("it was written");
    assert_eq!(text, LCOV);
}

/// Both engines count the same, for kernels with loops, LDS, atomics, calls and barriers.
#[test]
fn engines_agree_on_kernels_of_all_kinds() {
    let folder = folder("coverage-engines");
    for manifest in [
        "examples/saxpy/saxpy.gfx900.toml",
        "examples/histogram/histogram.gfx900.toml",
        "examples/reduction/reduction.gfx803.toml",
        "examples/calls/calls.gfx906.toml",
    ] {
        let counts = engines().into_iter().map(|engine| {
            let to = path(&folder, engine);
            // Atomics of several threads may be retried.
            let args = [
                "run",
                manifest,
                "--engine",
                engine,
                "--coverage",
                &to,
                "--threads",
                "1",
            ];
            good(&[&args[..], &["--out", &path(&folder, "out")]].concat());
            let text = std::fs::read_to_string(&to).expect("it was written");
            std::fs::remove_file(&to).expect("it is there");
            text
        });
        let counts: Vec<_> = counts.collect();
        assert!(
            counts.windows(2).all(|pair| pair[0] == pair[1]),
            "{manifest}"
        );
        assert!(counts[0].starts_with("{\"format\":\"wavelift coverage\","));
    }
}

/// A function that is called, and two kernels of one code object in one file.
#[test]
fn functions_have_lines_of_their_own() {
    let to = path(&folder("coverage-functions"), "runs");
    for engine in engines() {
        good(&[
            "run",
            "tests/kernels/source/lines.gfx906.co",
            "--grid",
            "64",
            "--block",
            "64",
            "--arg",
            "out:f32:64",
            "--arg",
            "out:f32:64",
            "--arg",
            "3",
            "--engine",
            engine,
            "--coverage",
            &to,
        ]);
    }
    let out = good(&["coverage", &to, "--json"]);
    let report = json(&out);
    let names: Vec<_> = report["routines"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|routine| (routine["name"].as_str(), routine["waves"].as_u64()))
        .collect();
    let runs = engines().len() as u64;
    let clamp = "filter::clamp(int, filter::Range)";
    let norms = "void norms<float>(float*, float const*, int)";
    assert_eq!(
        names,
        [(Some(clamp), Some(runs)), (Some(norms), Some(runs))]
    );
    // The sum of the squares is inlined, and executed in each of three iterations.
    let lines = report["files"][0]["counts"].as_array().expect("a list");
    let inlined = lines.iter().find(|line| line["line"] == 16);
    let inlined = inlined.expect("line 16 has code");
    assert_eq!(inlined["waves"], 3 * runs);
    assert_eq!(inlined["lanes"], 3 * 64 * runs);
}

#[test]
fn runs_add_up() {
    let to = path(&folder("coverage-sum"), "runs");
    let engine = engines()[0];
    run(&to, engine, FIRST);
    run(&to, engine, SECOND);
    let out = good(&["coverage", &to]);
    let expected = "\
branches.hip:
  lines 12 of 14 (85.7 %), outcomes 11 of 12 (91.7 %)
  not executed: lines 25-26
  line 12: never lanes off: s_and_saveexec_b64 s[6:7], vcc
kernel branches(int*, int, int, float), gfx906:
  lines 12 of 12 (100.0 %), blocks 15 of 15 (100.0 %), outcomes 11 of 12 (91.7 %), 4 waves
kernel never(int*), gfx906:
  lines 0 of 2 (0.0 %), blocks 0 of 1 (0.0 %), outcomes 0 of 0, 0 waves
";
    assert_eq!(out.stdout, expected);
    // Two files add up as well.
    let out = good(&["coverage", &to, &to, "--lcov", "-"]);
    for line in [
        "BRDA:9,0,0,456",
        "BRDA:12,1,0,12964",
        "BRDA:18,0,1,256",
        "DA:12,704",
    ] {
        assert!(out.stdout.lines().any(|other| other == line), "{line}");
    }
}

#[test]
fn pages_show_the_source_or_the_code() {
    let folder = folder("coverage-html");
    let to = path(&folder, "runs");
    run(&to, engines()[0], FIRST);
    let html = path(&folder, "html");
    let page = |name: &str| {
        let text = std::fs::read_to_string(folder.join("html").join(name));
        text.unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let sources = ["--source-path", "tests/kernels/source"];
    let out = good(&[&["coverage", &to, "--html", &html], &sources[..]].concat());
    assert_eq!(out.stdout, format!("wrote {html}/index.html\n"));
    let index = page("index.html");
    let row = "<tr><td><a href=\"file-0.html\">branches.hip</a></td><td>10 of 14 (71.4 %)</td>";
    assert!(index.contains(row), "{index}");
    let source = page("file-0.html");
    let row = "<tr class=\"missed\"><td class=\"n\">17</td><td class=\"n\">0</td><td class=\"n\">0</td>\
        <td></td><td>        out[i + 2048] = 1;</td></tr>";
    assert!(source.contains(row), "{source}");
    let row = "<td>taken: 2 waves\n<span class=\"never\">never not taken</span></td><td>    if (mode == 1)</td>";
    assert!(source.contains(row), "{source}");
    // `i < limit` has a character that must be escaped.
    assert!(source.contains("k &lt; i"), "{source}");
    // Without the source it is the disassembly.
    good(&["coverage", &to, "--html", &html]);
    let code = page("file-0.html");
    assert!(code.contains("The source file is not found"), "{code}");
    assert!(code.contains("s_and_saveexec_b64 s[6:7], vcc"), "{code}");
    for text in [index, source, code, page("object-0.html")] {
        for outside in ["http", "<script", "src=", "@import", "url("] {
            assert!(!text.contains(outside), "{outside}");
        }
    }
}

#[test]
fn other_and_damaged_files_are_errors() {
    let folder = folder("coverage-bad");
    let notes = file(&folder, "notes.txt", "mine");
    let foreign = "notes.txt is not a coverage file: ";
    bad(
        &[
            "run",
            "examples/saxpy/saxpy.gfx900.toml",
            "--coverage",
            &notes,
        ],
        foreign,
    );
    bad(&["coverage", &notes], foreign);
    assert_eq!(
        std::fs::read_to_string(&notes).expect("it is there"),
        "mine"
    );
    bad(&["coverage", &path(&folder, "missing")], "cannot read ");
    let nowhere = path(&folder, "no/folder");
    bad(
        &[
            "run",
            "examples/saxpy/saxpy.gfx900.toml",
            "--coverage",
            &nowhere,
        ],
        "cannot write ",
    );
    let to = path(&folder, "runs");
    run(&to, engines()[0], FIRST);
    let text = std::fs::read_to_string(&to).expect("it was written");
    let later = file(
        &folder,
        "later",
        text.replace("\"version\":1", "\"version\":2"),
    );
    bad(
        &["coverage", &later],
        "later is a coverage file of version 2, ",
    );
    for (old, new) in [
        ("\"elf\":\"", "\"elf\":\"A"),
        ("]]", "]"),
        ("\"sha256\":\"", "\"sha256\":\"0"),
    ] {
        let damaged = file(&folder, "damaged", text.replacen(old, new, 1));
        bad(&["coverage", &damaged], "the coverage file ");
        bad(
            &[
                "run",
                "examples/saxpy/saxpy.gfx900.toml",
                "--coverage",
                &damaged,
            ],
            " is damaged: ",
        );
    }
    let manifest = "examples/saxpy/saxpy.gfx900.toml";
    bad(
        &["run", manifest, "--coverage", &to, "--trace"],
        "--coverage and --trace ",
    );
    bad(
        &["coverage", &to, "--json", "--lcov", "-"],
        "both print to standard output",
    );
}

/// A run that ends in a fault has covered something, too: here the first wave reads behind the buffer in the loop.
#[test]
fn a_fault_ends_what_is_counted() {
    let folder = folder("coverage-fault");
    for engine in engines() {
        let to = path(&folder, engine);
        let kernel = [
            "run",
            BRANCHES,
            "--kernel",
            "_Z8branchesPiiif",
            "--grid",
            "64",
        ];
        let args = [
            "--arg",
            "out:i32:16",
            "--arg",
            "64",
            "--arg",
            "0",
            "--arg",
            "0.5",
        ];
        let how = ["--memcheck", "--engine", engine, "--coverage", &to];
        let out = wavelift(&[&kernel[..], &args, &how].concat());
        assert_eq!(out.status, 3, "{}{}", out.stdout, out.stderr);
        let out = good(&["coverage", &to]);
        let missed = "  not executed: lines 15-21, 25-26\n";
        assert!(out.stdout.contains(missed), "{}", out.stdout);
    }
}
