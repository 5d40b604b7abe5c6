//! `wavelift shard`: one dispatch in parts that share nothing.

use std::path::Path;

use serde_json::Value;

use super::{Outcome, engines, file, folder, json, root, wavelift};

const SAXPY: &str = "examples/saxpy/saxpy.gfx906.toml";

/// A launch of the histogram's kernel, whose workgroups add to the same words.
const HISTOGRAM: [&str; 12] = [
    "examples/histogram/histogram.gfx906.co",
    "--kernel",
    "histogram",
    "--grid",
    "1152",
    "--workgroup",
    "192",
    "--arg",
    "bins=fill:u32:256:0",
    "--arg",
    "data=random:u8:20011",
    "--arg=20011",
];

fn shard(command: &str, args: &[&str]) -> Outcome {
    wavelift(&[&["shard", command], args].concat())
}

fn done(outcome: &Outcome) {
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
}

/// Runs the shards of a manifest; the files of changes.
fn run_all(manifest: &str, count: u64, home: &Path, more: &[&str]) -> Vec<String> {
    let files = (1..=count).map(|number| {
        let path = home.join(format!("{number}.changes"));
        let path = path.to_str().expect("the path is text").to_owned();
        let number = format!("{number}/{count}");
        let args = [manifest, "--shard", &number, "--changes", &path];
        done(&shard("run", &[&args, more].concat()));
        path
    });
    files.collect()
}

fn texts(files: &[String]) -> Vec<&str> {
    files.iter().map(String::as_str).collect()
}

#[test]
fn shards_make_up_the_whole() {
    let home = folder("shards-whole");
    let verdict = home.join("verdict.json");
    let verdict = verdict.to_str().expect("the path is text");
    for engine in engines() {
        let checked = shard(
            "check",
            &[
                SAXPY,
                "--shards",
                "6",
                "--engine",
                engine,
                "--verdict",
                verdict,
                "--json",
            ],
        );
        done(&checked);
        let checked = json(&checked);
        assert_eq!(
            (&checked["ok"], &checked["conflict"]),
            (&Value::Bool(true), &Value::Null)
        );
        let n = checked["workgroups"].as_u64().expect("it is a number");
        assert!(n > 6, "{n}");
        // The shards of the verdict can be joined.
        for count in [6, 3, 1] {
            let files = run_all(
                SAXPY,
                count,
                &home,
                &["--engine", engine, "--verdict", verdict],
            );
            let merged = shard(
                "merge",
                &[&[SAXPY, "--json", "--print", "y"], &texts(&files)[..]].concat(),
            );
            done(&merged);
            let whole = wavelift(&["run", SAXPY, "--json", "--print", "y"]);
            let (merged, whole) = (json(&merged), json(&whole));
            assert_eq!(merged["expect"][0]["ok"], true);
            assert_eq!(merged["print"], whole["print"]);
        }
        let four = shard(
            "run",
            &[
                SAXPY,
                "--shard",
                "1/4",
                "--verdict",
                verdict,
                "--changes",
                "/dev/null",
            ],
        );
        assert_eq!(four.status, 2);
        assert!(
            four.stderr
                .contains("6 shards, which do not make up 4 equal ones"),
            "{}",
            four.stderr
        );
    }
}

#[test]
fn every_kind_of_page_comes_back() {
    // 2 MiB, of which the shards change some bytes each; the last page is a part of one.
    let home = folder("shards-pages");
    let source = root().join("examples/saxpy/saxpy.gfx906.co");
    let text = format!(
        "[buffers]\ny = {{ type = \"f32\", count = 524289, fill = 1 }}\nx = {{ type = \"f32\", count = 524289, random = {{ seed = 5 }} }}\n\
         [[dispatch]]\ncode_object = {source:?}\nkernel = \"saxpy\"\ngrid = [524544]\nworkgroup = [256]\n\
         args = [\"@y\", \"@x\", {{ f32 = 0.5 }}, {{ u32 = 524289 }}]\n[outputs]\ny = \"y.npy\"\n"
    );
    let manifest = file(&home, "m.toml", text);
    done(&wavelift(&["run", &manifest]));
    let whole = std::fs::read(home.join("y.npy")).expect("it is written");
    let files = run_all(&manifest, 7, &home, &["--independent"]);
    std::fs::remove_file(home.join("y.npy")).expect("it is there");
    // In any order.
    let mut files = texts(&files);
    files.reverse();
    done(&shard(
        "merge",
        &[&[manifest.as_str()], &files[..]].concat(),
    ));
    assert!(std::fs::read(home.join("y.npy")).expect("it is written") == whole);
}

#[test]
fn counters_for_all_workgroups_are_refused() {
    let home = folder("shards-atomics");
    let verdict = home.join("verdict.json");
    let verdict = verdict.to_str().expect("the path is text");
    for engine in engines() {
        let more = ["--shards", "3", "--engine", engine, "--verdict", verdict];
        let checked = shard("check", &[&HISTOGRAM[..], &more].concat());
        assert_eq!((checked.status, checked.stderr.as_str()), (1, ""));
        assert!(
            checked
                .stdout
                .contains("not independent: shards 1 and 2 both write bins[0]\n"),
            "{}",
            checked.stdout
        );
    }
    let more = [
        "--shard",
        "1/3",
        "--verdict",
        verdict,
        "--changes",
        "/dev/null",
    ];
    let refused = shard("run", &[&HISTOGRAM[..], &more].concat());
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("not independent"),
        "{}",
        refused.stderr
    );

    // Who says that they are is contradicted at the end.
    let mut files = Vec::new();
    for number in ["1/2", "2/2"] {
        let path = home.join(number.replace('/', "-"));
        let path = path.to_str().expect("the path is text").to_owned();
        let more = ["--shard", number, "--independent", "--changes", &path];
        done(&shard("run", &[&HISTOGRAM[..], &more].concat()));
        files.push(path);
    }
    let merged = shard(
        "merge",
        &[&HISTOGRAM[..1], &texts(&files), &HISTOGRAM[1..]].concat(),
    );
    assert_eq!(merged.status, 1, "{}", merged.stderr);
    assert!(
        merged
            .stderr
            .contains("changes what a file before it changes: bins["),
        "{}",
        merged.stderr
    );
}

#[test]
fn incomplete_and_foreign_changes_are_refused() {
    let home = folder("shards-foreign");
    let files = run_all(SAXPY, 3, &home, &["--independent"]);
    let [a, b, c] = [0, 1, 2].map(|n| files[n].as_str());
    let refuse = |manifest: &str, files: &[&str], message: &str| {
        let merged = shard("merge", &[&[manifest], files].concat());
        assert_eq!((merged.status, merged.stdout.as_str()), (2, ""));
        assert!(merged.stderr.contains(message), "{}", merged.stderr);
    };
    refuse(SAXPY, &[a, c], "there are no changes of shard 2/3");
    refuse(SAXPY, &[a, b, a], "are both shard 1 of 3");
    refuse(
        "examples/saxpy/saxpy.gfx900.toml",
        &[a, b, c],
        "is of another launch of kernel saxpy",
    );
    refuse(
        SAXPY,
        &["examples/saxpy/y.npy"],
        "it has no header of changes",
    );
    refuse(SAXPY, &["nowhere"], "cannot read the changes in nowhere");
    let half = home.join("half.changes");
    let half = half.to_str().expect("the path is text");
    done(&shard(
        "run",
        &[SAXPY, "--shard", "2/2", "--independent", "--changes", half],
    ));
    refuse(SAXPY, &[a, half], "is of 2 shards");
    // Other inputs of the same launch.
    let text = std::fs::read_to_string(root().join(SAXPY)).expect("it is there");
    let folder = root().join("examples/saxpy");
    let name = |name: &str| format!("{:?}", folder.join(name));
    let text = text
        .replace("\"saxpy.gfx906.co\"", &name("saxpy.gfx906.co"))
        .replace("\"y.expected.npy\"", &name("y.expected.npy"))
        .replace("\"x.npy\"", &name("y.npy"))
        .replace("\"y.npy\"", &name("y.npy"));
    let other = file(&home, "other.toml", text);
    refuse(
        &other,
        &[a, b, c],
        "is of a launch with other contents of buffers",
    );
}

#[test]
fn damaged_changes_are_refused() {
    let home = folder("shards-damaged");
    let files = run_all(SAXPY, 1, &home, &["--independent"]);
    let good = std::fs::read(&files[0]).expect("it is written");
    let header = good
        .iter()
        .position(|&byte| byte == b'\n')
        .expect("there is a header");
    let mut damaged: Vec<Vec<u8>> = [
        0,
        1,
        header,
        header + 1,
        header + 9,
        header + 700,
        good.len() - 1,
    ]
    .into_iter()
    .map(|end| good[..end].to_vec())
    .collect();
    damaged.push([&good[..], b"x"].concat());
    damaged.push(
        String::from_utf8_lossy(&good[..header])
            .replace("\"pages\":[", "\"pages\":[99999999999,")
            .into_bytes(),
    );
    for bytes in damaged {
        let path = file(&home, "damaged.changes", &bytes);
        let merged = shard("merge", &[SAXPY, &path]);
        assert_eq!(
            (merged.status, merged.stdout.as_str()),
            (2, ""),
            "{} bytes",
            bytes.len()
        );
        assert!(
            merged.stderr.contains("cannot read the changes in"),
            "{}",
            merged.stderr
        );
    }
    // A page behind the end of its buffer.
    let mut bytes = good.clone();
    bytes[header + 1..header + 9].copy_from_slice(&u64::MAX.to_le_bytes());
    let path = file(&home, "far.changes", &bytes);
    let merged = shard("merge", &[SAXPY, &path]);
    assert_eq!((merged.status, merged.stdout.as_str()), (2, ""));
    assert!(
        merged.stderr.contains("pages behind the end of a buffer"),
        "{}",
        merged.stderr
    );
}

#[test]
fn what_has_no_shards_is_refused() {
    let two = shard(
        "check",
        &["examples/histogram/histogram.gfx906.toml", "--shards", "2"],
    );
    assert_eq!(two.status, 2);
    assert!(
        two.stderr.contains("there are 2 launches"),
        "{}",
        two.stderr
    );
    for (args, message) in [
        (
            &["run", SAXPY, "--shard", "1/2", "--changes", "/dev/null"][..],
            "--verdict <FILE>|--independent",
        ),
        (
            &[
                "run",
                SAXPY,
                "--shard",
                "3/2",
                "--independent",
                "--changes",
                "/dev/null",
            ],
            "numbered from 1/N to N/N",
        ),
        (&["check", SAXPY, "--shards", "0"], "1 to 65536 shards"),
        (
            &[
                "run",
                SAXPY,
                "--shard",
                "1/2",
                "--verdict",
                SAXPY,
                "--changes",
                "/dev/null",
            ],
            "is no verdict",
        ),
        (
            &[
                "run",
                SAXPY,
                "--shard",
                "1/2",
                "--independent",
                "--changes",
                "/no/where",
            ],
            "cannot write /no/where",
        ),
    ] {
        let refused = shard(args[0], &args[1..]);
        assert_eq!(refused.status, 2, "{args:?}");
        assert!(refused.stderr.contains(message), "{}", refused.stderr);
    }
}

#[test]
fn more_shards_than_workgroups() {
    let home = folder("shards-many");
    let args = [
        "examples/saxpy/saxpy.gfx906.co",
        "--grid",
        "64",
        "--workgroup",
        "64",
    ];
    let values = [
        "--arg",
        "y=fill:f32:64:1",
        "--arg",
        "x=fill:f32:64:2",
        "--arg=2.5",
        "--arg=64",
    ];
    let mut files = Vec::new();
    for number in ["1/3", "2/3", "3/3"] {
        let path = home.join(number.replace('/', "-"));
        let path = path.to_str().expect("the path is text").to_owned();
        let more = [
            "--shard",
            number,
            "--independent",
            "--json",
            "--changes",
            &path,
        ];
        let run = shard("run", &[&args[..], &values, &more].concat());
        done(&run);
        let changed = json(&run)["bytes_changed"].as_u64();
        assert_eq!(changed.expect("it is a number") > 0, number == "3/3");
        files.push(path);
    }
    let merged = shard(
        "merge",
        &[
            &args[..1],
            &texts(&files),
            &args[1..],
            &values,
            &["--print", "y:0:2"],
        ]
        .concat(),
    );
    done(&merged);
    assert!(merged.stdout.contains("6"), "{}", merged.stdout);
}
