//! `wavelift run --break`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{folder, json, root, wavelift};

const TRACE: &str = "tests/kernels/trace/trace.toml";
const SAXPY: &str = "examples/saxpy/saxpy.gfx900.toml";

/// Lines of JSON.
fn lines_of(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("lines of JSON")
}

/// Registers by name: the value, or that of each lane.
fn registers(event: &Value) -> BTreeMap<String, Value> {
    let all = event["registers"].as_array().expect("it is a list");
    let mut out = BTreeMap::new();
    for register in all {
        let name = register["register"].as_str().expect("it has a name");
        let value = match &register["lanes"] {
            Value::Null => &register["value"],
            lanes => lanes,
        };
        let pair = name.split_once('[').and_then(|(kind, rest)| {
            let first: u32 = rest.split(':').next()?.parse().ok()?;
            Some([format!("{kind}{first}"), format!("{kind}{}", first + 1)])
        });
        match pair {
            None => drop(out.insert(name.to_owned(), value.clone())),
            Some(names) => {
                for (name, half) in names.into_iter().zip([10..18, 2..10]) {
                    out.insert(name, halves(value, half));
                }
            }
        }
    }
    out
}

/// The digits of one half of 64-bit values.
fn halves(value: &Value, digits: std::ops::Range<usize>) -> Value {
    match value {
        Value::String(text) => format!("0x{}", &text[digits]).into(),
        Value::Array(lanes) => {
            let lanes = lanes.iter().map(|pair| {
                let half = halves(&pair[1], digits.clone());
                serde_json::json!([pair[0], half])
            });
            lanes.collect()
        }
        other => panic!("{other}"),
    }
}

/// The manifest of the trace, with addresses that are the same in each run.
#[cfg(target_os = "linux")]
fn placed() -> String {
    let text = std::fs::read_to_string(root().join(TRACE)).expect("it is there");
    let (buffers, rest) = text.split_once("\n\n").expect("buffers are first");
    let base = 0x1234_0000_0000u64;
    let mut out = format!("[memory]\naddress = {base:#x}\nbytes = 0x40000000\n\n");
    for (number, line) in buffers.lines().enumerate() {
        let at = base + 0x2000_0000 + number as u64 * 0x2_0000;
        out += &match line.strip_suffix(" }") {
            Some(start) => format!("{start}, address = {at:#x} }}\n"),
            None => format!("{line}\n"),
        };
    }
    let code = root().join("tests/kernels/trace/trace.gfx900.co");
    let code = format!(
        "code_object = {:?}\ncode_address = {base:#x}\n",
        code.display()
    );
    out += &rest.replace("code_object = \"trace.gfx900.co\"\n", &code);
    let path = folder("breaks-placed").join("trace.toml");
    std::fs::write(&path, out).expect("it can be written");
    path.display().to_string()
}

/// The registers at each instruction of a wave are those that the trace has left there, on every engine.
#[test]
#[cfg(target_os = "linux")]
fn registers_are_those_of_the_trace() {
    let manifest = placed();
    let manifest = manifest.as_str();
    let trace = wavelift(&["run", manifest, "--trace=:0:0", "--trace-json"]);
    let trace = lines_of(&trace.stdout);
    let mut places = Vec::new();
    for event in &trace {
        let place = format!("{:#x}", event["pc"].as_u64().expect("it is a number"));
        if !places.contains(&place) {
            places.push(place);
        }
    }
    for engine in ["jit", "interp"] {
        let mut args = vec!["run", manifest, "--engine", engine, "--threads", "1"];
        args.extend(["--break-json", "--break-limit", "100000"]);
        args.extend(places.iter().flat_map(|place| ["--break", place]));
        let run = wavelift(&args);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
        let first =
            |hit: &&Value| hit["workgroup"] == serde_json::json!([0, 0, 0]) && hit["wave"] == 0;
        let all = lines_of(&run.stdout);
        let hits: Vec<&Value> = all.iter().filter(first).collect();
        assert_eq!(hits.len(), trace.len(), "{engine}");
        let mut known: BTreeMap<String, Value> = BTreeMap::new();
        let mut compared = 0;
        for (hit, event) in hits.iter().zip(&trace) {
            for key in ["pc", "symbol", "instruction", "exec"] {
                assert_eq!(hit[key], event[key], "{engine} {event}");
            }
            let now = registers(hit);
            for (name, wanted) in &known {
                let Some(got) = now.get(name) else { continue };
                if wanted.is_string() {
                    assert_eq!(wanted, got, "{engine} {name} before {event}");
                    compared += 1;
                }
                if let (Some(wanted), Some(got)) = (wanted.as_array(), got.as_array()) {
                    let in_both = wanted
                        .iter()
                        .filter(|pair| got.iter().any(|other| other[0] == pair[0]));
                    for pair in in_both {
                        assert!(got.contains(pair), "{engine} {name} before {event}");
                        compared += 1;
                    }
                }
            }
            for (name, value) in registers(event) {
                known.insert(name, value);
            }
        }
        assert!(compared > 1000, "{engine}: {compared}");
    }
}

#[test]
fn every_wave_arrives_and_the_results_are_the_same() {
    for engine in ["jit", "interp"] {
        let path = folder(&format!("breaks-{engine}")).join("hits.json");
        let to = format!("--break-json={}", path.display());
        let run = wavelift(&[
            "run",
            SAXPY,
            "--engine",
            engine,
            "--break",
            "saxpy",
            &to,
            "--break-limit",
            "1000",
            "--json",
        ]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        assert_eq!(json(&run)["ok"], true);
        let hits = lines_of(&std::fs::read_to_string(path).expect("it is there"));
        let waves = hits.iter().map(|hit| {
            let group = hit["workgroup"][0].as_u64().expect("it is a number");
            (group, hit["wave"].as_u64().expect("it is a number"))
        });
        let mut waves: Vec<_> = waves.collect();
        waves.sort_unstable();
        let all: Vec<_> = (0..20)
            .flat_map(|group| (0..4).map(move |wave| (group, wave)))
            .collect();
        assert_eq!(waves, all, "{engine}");
    }
}

#[test]
fn text_has_the_registers_before_the_instruction() {
    let run = wavelift(&[
        "run",
        SAXPY,
        "--break",
        "saxpy+0x0",
        "--break-limit",
        "1",
        "--threads",
        "1",
    ]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let text = &run.stdout;
    assert!(text.contains("(saxpy+0x0)"), "{text}");
    assert!(
        text.contains("before it: workgroup (0, 0, 0), wave 0, 64 lanes active"),
        "{text}"
    );
    assert!(
        text.contains("          exec = 0xffffffffffffffff\n"),
        "{text}"
    );
    assert!(text.contains("          v0 = 0-63: 0x0 +1\n"), "{text}");
    assert_eq!(text.matches("before it").count(), 1, "{text}");
}

#[test]
fn wrong_places_are_refused() {
    for (place, message) in [
        (
            "nothing",
            "there is no function `nothing`; functions are saxpy",
        ),
        ("saxpy+x", "`saxpy+x` is no place"),
        ("0xzz", "`0xzz` is no place"),
        ("", "`` is no place"),
        ("saxpy+0x2", "no instruction begins at"),
        ("0x40000000", "no instruction begins at 0x40000000"),
        ("18446744073709551615", "no instruction begins at"),
        (
            "saxpy.cl:3",
            "the code object has no line numbers; compile it with -g",
        ),
    ] {
        let run = wavelift(&["run", SAXPY, "--break", place]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{place}");
        assert!(run.stderr.contains(message), "{place}: {}", run.stderr);
    }
    let run = wavelift(&["run", SAXPY, "--break", "saxpy", "--json"]);
    assert!(run.stderr.contains("--break-json=FILE"), "{}", run.stderr);
    assert_eq!(run.status, 2);
    let run = wavelift(&["run", SAXPY, SAXPY, "--break", "saxpy"]);
    assert!(
        run.stderr.contains("--break is about one launch manifest"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_line_of_source_text_is_a_place() {
    let source = std::fs::read_to_string(root().join("tests/kernels/source/lines.hip"));
    let source = source.expect("it is there");
    let mut lines = (1..).zip(source.lines());
    let number = lines.find_map(|(number, line)| line.contains("range.low)").then_some(number));
    let number: u32 = number.expect("it has the line");
    let co = root().join("tests/kernels/source/lines.gfx906.co");
    let co = co.to_str().expect("it is text");
    let run = |place: &str| {
        wavelift(&[
            "run",
            co,
            "--grid",
            "64",
            "--block",
            "64",
            "--arg",
            "out:f32:64",
            "--arg",
            "fill:f32:64:1",
            "--arg",
            "64",
            "--break",
            place,
            "--break-json",
        ])
    };
    let at_line = run(&format!("lines.hip:{number}"));
    assert_eq!((at_line.status, at_line.stderr.as_str()), (0, ""));
    let hits = lines_of(&at_line.stdout);
    assert!(!hits.is_empty());
    for hit in &hits {
        let symbol = hit["symbol"].as_str().expect("it has a function");
        assert!(symbol.contains("clamp"), "{symbol}");
    }
    for (place, message) in [
        (
            "lines.hip:4000",
            "no code comes from line 4000 of `lines.hip` or a later one",
        ),
        ("other.hip:4", "files with code are"),
    ] {
        let run = run(place);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{place}");
        assert!(run.stderr.contains(message), "{place}: {}", run.stderr);
    }
}
