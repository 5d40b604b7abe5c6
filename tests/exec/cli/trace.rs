//! `wavelift run --trace`.

use serde_json::Value;

use super::{folder, json, root, wavelift};

const SAXPY: &str = "examples/saxpy/saxpy.gfx900.toml";

#[test]
fn the_text_is_that_of_the_golden_file() {
    let run = wavelift(&[
        "run",
        "tests/kernels/trace/placed.toml",
        "--trace=:0:0",
        "--threads",
        "1",
    ]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    // Without the time of the run.
    let got = run
        .stdout
        .lines()
        .filter(|line| !line.starts_with("trace: "));
    let got: String = got.map(|line| format!("{line}\n")).collect();
    let path = root().join("tests/golden/trace.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &got).expect("it can be written");
    }
    let wanted = std::fs::read_to_string(&path).expect("it is there");
    assert_eq!(got, wanted, "run with BLESS=1 to make {}", path.display());
}

/// The events of a trace as JSON.
fn events(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("lines of JSON")
}

#[test]
fn json_has_every_instruction_of_the_wave() {
    let run = wavelift(&["run", SAXPY, "--trace=saxpy:3:1", "--trace-json"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let all = events(&run.stdout);
    for (number, event) in all.iter().enumerate() {
        assert_eq!(event["number"], number, "{event}");
    }
    assert_eq!(all.last().expect("there are some")["next"], "end");
    let of = |name: &str| {
        let named = all.iter().filter(|event| {
            let text = event["instruction"].as_str().expect("it is text");
            text.split(' ').next() == Some(name)
        });
        named.collect::<Vec<_>>()
    };
    let stores = of("global_store_dword");
    let accesses = stores[0]["memory"].as_array().expect("a list");
    assert_eq!(accesses.len(), 64);
    // The wave's first work-item is 3 * 256 + 64.
    for (lane, access) in accesses.iter().enumerate() {
        assert_eq!(
            (&access["access"], &access["lane"]),
            (&"write".into(), &lane.into())
        );
        assert_eq!(
            (&access["allocation"], &access["bytes"]),
            (&"y".into(), &4.into())
        );
        assert_eq!(access["offset"], 4 * (3 * 256 + 64 + lane));
    }
    // What is stored is what the last addition has computed.
    let sum = &of("v_add_f32_e32")[0]["registers"][0];
    assert_eq!(sum["format"], "f32");
    let lanes = sum["lanes"].as_array().expect("a list");
    for (access, lane) in accesses.iter().zip(lanes) {
        assert_eq!(access["value"], lane[1]);
    }
    // Loads of the scalar unit.
    let load = &of("s_load_dwordx4")[0]["memory"][0];
    assert_eq!(
        (&load["lane"], &load["allocation"]),
        (&Value::Null, &"arguments".into())
    );
}

/// A kernel with source lines, `norms<float>`, one of whose functions is inlined.
const LINES: &[&str] = &[
    "run",
    "tests/kernels/source/lines.gfx900.co",
    "--grid",
    "64",
    "--arg",
    "out:f32:64",
    "--arg",
    "fill:f32:64:2",
    "--arg",
    "1",
];

const INLINED: &str = "lines.hip:16  (float norm<float>(float, float), inlined at lines.hip:41 into \
                       void norms<float>(float*, float const*, int))";

#[test]
fn source_lines_stand_above_their_instructions() {
    let run = wavelift(&[LINES, &["--trace"]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let headings: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("lines.hip:"))
        .collect();
    assert!(headings.contains(&INLINED), "{headings:#?}");
    let called = "lines.hip:27  (filter::clamp(int, filter::Range))";
    assert!(headings.contains(&called), "{headings:#?}");
    let repeats = headings.windows(2).filter(|pair| pair[0] == pair[1]);
    assert_eq!(repeats.count(), 0, "{headings:#?}");
    // In JSON each instruction has its line.
    let run = wavelift(&[LINES, &["--trace", "--trace-json"]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let all = events(&run.stdout);
    let inlined = all.iter().find(|event| event["line"] == 16);
    let inlined = inlined.expect("the line has code");
    assert_eq!(inlined["file"], "lines.hip");
    let frames = &inlined["frames"];
    assert_eq!(frames[0]["demangled"], "float norm<float>(float, float)");
    assert_eq!(frames[0]["inlined"], true);
    assert_eq!((&frames[1]["line"], &frames[2]), (&41.into(), &Value::Null));
    // Without lines there is nothing of it.
    let plain = wavelift(&["run", SAXPY, "--trace", "--trace-json"]);
    for event in events(&plain.stdout) {
        for key in ["file", "line", "frames"] {
            assert_eq!(event.get(key), None, "{event}");
        }
    }
}

#[test]
fn source_lines_stand_above_hits() {
    let breaks = ["--break", "lines.hip:16", "--break-limit", "1"];
    let run = wavelift(&[LINES, &breaks].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let first = run.stdout.lines().next();
    assert_eq!(first, Some(INLINED), "{}", run.stdout);
    let run = wavelift(&[LINES, &breaks, &["--break-json"]].concat());
    let hit = &events(&run.stdout)[0];
    assert_eq!(
        (&hit["file"], &hit["line"]),
        (&"lines.hip".into(), &16.into())
    );
    assert_eq!(hit["frames"][0]["inlined"], true);
}

#[test]
fn a_limit_ends_the_trace_and_not_the_run() {
    let run = wavelift(&["run", SAXPY, "--trace", "--trace-limit", "3"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let instructions = run.stdout.lines().filter(|line| line.contains("(saxpy+0x"));
    assert_eq!(instructions.count(), 3, "{}", run.stdout);
    assert!(run.stdout.contains("expect y: ok"), "{}", run.stdout);
}

#[test]
fn a_trace_in_a_file_goes_with_the_report() {
    let folder = folder("trace-file");
    let path = folder.join("trace.jsonl");
    let option = format!("--trace-json={}", path.display());
    let run = wavelift(&["run", SAXPY, "--trace=saxpy:0,0,0:3", &option, "--json"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(json(&run)["engine"], "interp");
    let text = std::fs::read_to_string(path).expect("it was written");
    assert_eq!(events(&text)[0]["exec"], "0xffffffffffffffff");
}

#[test]
fn the_faulting_instruction_is_the_last() {
    let manifest = folder("trace-fault").join("fault.toml");
    let code = root().join("tests/kernels/faults/faults.gfx900.co");
    let text = format!(
        "[buffers]\ny = {{ bytes = 4096 }}\n[[dispatch]]\ncode_object = {code:?}\nkernel = \"wild_load\"\n\
         grid = [64]\nworkgroup = [64]\nargs = [\"@y\", {{ u64 = 64 }}]\n"
    );
    std::fs::write(&manifest, text).expect("it can be written");
    let manifest = manifest.to_str().expect("it is text");
    let run = wavelift(&["run", manifest, "--trace", "--trace-json"]);
    assert_eq!(run.status, 3, "{}", run.stderr);
    let all = events(&run.stdout);
    let last = all.last().expect("there are some");
    assert_eq!(
        (&last["next"], &last["fault"]),
        (&"fault".into(), &"memory".into())
    );
    let text = wavelift(&["run", manifest, "--trace"]);
    assert!(
        text.stdout.contains("fault: lane 17 read 4 bytes at 0x"),
        "{}",
        text.stdout
    );
}

#[test]
fn what_does_not_exist_is_refused_before_anything_runs() {
    let cases: &[(&[&str], &str)] = &[
        (
            &["--trace=nothing"],
            "no dispatch runs a kernel `nothing`; those of the manifest run saxpy",
        ),
        (
            &["--trace=saxpy:20"],
            "kernel saxpy has no workgroup 20: its launch has 20, from 0 on",
        ),
        (
            &["--trace=saxpy:0,1"],
            "kernel saxpy has no workgroup (0, 1, 0): its launch has 20 by 1 by 1",
        ),
        (
            &["--trace=saxpy:0:4"],
            "workgroup (0, 0, 0) has no wave 4: it has 4, from 0 on",
        ),
        (
            &["--trace=saxpy:x"],
            "`x` is no number; write KERNEL:WG:WAVE",
        ),
        (
            &["--trace=saxpy:1,2,3,4"],
            "a workgroup has one to three numbers",
        ),
        (&["--trace", "--engine", "jit"], "cannot be used with"),
        (&["--trace-limit", "3"], "--trace"),
        (
            &["--trace", "--json"],
            "--json and --trace both print to standard output",
        ),
        (
            &["--trace", SAXPY],
            "--trace is about one launch manifest, but 2 are given",
        ),
        (
            &["--trace", "--trace-json=/nowhere/x.jsonl"],
            "cannot write /nowhere/x.jsonl",
        ),
    ];
    for (options, message) in cases {
        let run = wavelift(&[&["run", SAXPY], *options].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{options:?}");
        assert!(run.stderr.contains(message), "{options:?}: {}", run.stderr);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_unwritten_result() {
    let run = wavelift(&["run", SAXPY, "--trace", "--trace-json=/dev/full"]);
    assert_eq!(run.status, 4, "{}", run.stderr);
    assert!(
        run.stderr.contains("cannot write /dev/full"),
        "{}",
        run.stderr
    );
}
