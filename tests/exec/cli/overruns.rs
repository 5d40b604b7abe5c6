//! Kernels that access memory behind their buffers, without checked mode.

use super::faults::ADVICE;
use super::{Outcome, engines, file, folder, json, root, wavelift};

/// saxpy over 4096 elements; the buffers are these, in this order.
fn manifest(name: &str, buffers: &str, target: &str) -> String {
    let code_object = root().join(format!("examples/saxpy/saxpy.{target}.co"));
    let text = format!(
        "[buffers]\n{buffers}\n[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"saxpy\"\n\
         grid = [4096]\nworkgroup = [256]\n\
         args = [\"@y\", \"@x\", {{ f32 = 2.5 }}, {{ i32 = 4096 }}]\n"
    );
    file(&folder(&format!("overrun-{name}-{target}")), "m.toml", text)
}

const SHORT_X: &str = "x = { type = \"f32\", count = 12, fill = 1.5 }";
const LONG_X: &str = "x = { type = \"f32\", count = 4096, fill = 1.5 }";
const SHORT_Y: &str = "y = { type = \"f32\", count = 12, fill = 1.0 }";

const TARGETS: [&str; 5] = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906"];

fn run(manifest: &str, engine: &str, more: &[&str]) -> Outcome {
    wavelift(&[&["run", manifest, "--engine", engine], more].concat())
}

#[test]
fn saxpy_on_short_buffers_is_a_fault() {
    for target in TARGETS {
        for (name, buffers) in [
            ("xy", format!("{SHORT_X}\n{SHORT_Y}")),
            ("yx", format!("{SHORT_Y}\n{SHORT_X}")),
        ] {
            let manifest = manifest(name, &buffers, target);
            for engine in engines() {
                let run = run(&manifest, engine, &[]);
                let what = format!("{target} {name} {engine}: {}", run.stderr);
                assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{what}");
                // Behind the last buffer there is nothing.
                assert!(
                    run.stderr.starts_with("fault: lane 12 read 4 bytes"),
                    "{what}"
                );
                let place = "0 bytes past the end of a 48-byte allocation\n";
                assert!(run.stderr.contains(place), "{what}");
                assert!(run.stderr.contains(" of kernel saxpy, "), "{what}");
                assert!(run.stderr.ends_with(&format!("{ADVICE}\n")), "{what}");
            }
        }
    }
}

#[test]
fn a_write_between_buffers_is_found_after_the_dispatch() {
    for target in TARGETS {
        let manifest = manifest("between", &format!("{SHORT_Y}\n{LONG_X}"), target);
        for engine in engines() {
            for threads in ["1", "3"] {
                // Behind the buffer were the kernel's arguments once, which subsequent workgroups read.
                let run = run(&manifest, engine, &["--threads", threads, "--json"]);
                let what = format!("{target} {engine}: {}", run.stderr);
                assert_eq!(run.status, 3, "{what}");
                let text = run.stderr.strip_prefix("fault: ").expect("a fault");
                let start = "kernel saxpy wrote past the end of a 48-byte buffer: ";
                let rest = text.strip_prefix(start).expect(&what);
                let (changed, rest) = rest.split_once(' ').expect(&what);
                // Not all of the 16336 bytes are examined, and some are what they were.
                let changed: u64 = changed.parse().expect(&what);
                assert!((4000..8192).contains(&changed), "{what}");
                let end = format!(
                    "bytes are changed, the first 0 bytes past it\n   \
                     found after the dispatch; the instruction is not known{ADVICE}\n"
                );
                assert_eq!(rest, end, "{what}");
                let fault = &json(&run)["fault"];
                assert_eq!(fault["kind"], "overrun");
                assert_eq!(fault["kernel"], "saxpy");
                assert_eq!(fault["message"], text.trim_end());
                assert!(fault["address"].is_u64());
                for unknown in ["pc", "instruction", "workgroup", "wave", "lane", "exec"] {
                    assert!(fault[unknown].is_null(), "{unknown}");
                }
            }
        }
    }
}

#[test]
fn checked_mode_names_the_instruction_and_gives_no_advice() {
    let manifest = manifest("checked", &format!("{SHORT_Y}\n{LONG_X}"), "gfx900");
    for engine in engines() {
        let run = run(&manifest, engine, &["--memcheck"]);
        assert_eq!(run.status, 3, "{}", run.stderr);
        assert!(run.stderr.starts_with("fault: lane 12 read 4 bytes at 0x"));
        assert!(run.stderr.contains("(saxpy+0x"), "{}", run.stderr);
        assert!(!run.stderr.contains("memcheck"), "{}", run.stderr);
    }
}

#[test]
fn bench_and_diff_find_it_as_well() {
    let manifest = manifest("others", &format!("{SHORT_Y}\n{LONG_X}"), "gfx900");
    let fault = "fault: kernel saxpy wrote past the end of a 48-byte buffer: ";
    let bench = wavelift(&["bench", &manifest, "--engine", "interp"]);
    assert_eq!(bench.status, 3, "{}", bench.stderr);
    assert!(bench.stderr.starts_with(fault), "{}", bench.stderr);
    if engines().contains(&"jit") {
        let diff = wavelift(&["diff", &manifest]);
        assert_eq!(diff.status, 3, "{}{}", diff.stdout, diff.stderr);
        assert_eq!(
            diff.stdout,
            "dispatch 0: both engines end in the same fault\n"
        );
        assert!(diff.stderr.starts_with(fault), "{}", diff.stderr);
    }
}
