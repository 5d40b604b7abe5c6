//! The warning about a dispatch that waits for itself.

use super::{engines, file, folder, root, wavelift};

/// A manifest for a kernel in `tests/kernels/waits`.
fn manifest(name: &str, kernel: &str) -> String {
    let code_object = root().join("tests/kernels/waits/waits.gfx900.co");
    let text = format!(
        "[buffers]\nb = {{ bytes = 256 }}\n[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"{kernel}\"\n\
         grid = [256]\nworkgroup = [64]\nargs = [\"@b\", {{ u32 = 4 }}]\n"
    );
    file(&folder(&format!("wait-{name}")), "m.toml", text)
}

/// What a command says of `grid_barrier`, one workgroup of which runs at a time.
fn check(command: &str, engine: &str) {
    let manifest = manifest(&format!("{command}-{engine}"), "grid_barrier");
    let options = ["--engine", engine, "--timeout", "4", "--threads", "1"];
    let run = wavelift(&[&[command, &manifest], &options[..]].concat());
    let text = &run.stderr;
    assert_eq!(run.status, 3, "{command} {engine}: {text}");
    let (head, rest) = text.split_once(" s the workgroup").expect(text);
    let seconds = head.strip_prefix("warning: kernel grid_barrier seems to wait for itself: for ");
    assert!(seconds.is_some_and(|s| s.parse::<f64>().is_ok()), "{text}");
    let (at, rest) = rest.split_once("  global_atomic_cmpswap ").expect(text);
    assert!(
        at.starts_with(" that has begun polls memory that does not change\n   at 0x"),
        "{text}"
    );
    let expected = "v3, v2, v[0:1], s[0:1] glc  (grid_barrier+0x70)\n   \
        wave 0 of workgroup (0,0,0) of kernel grid_barrier, exec 0xffffffffffffffff\n   \
        3 of 4 workgroups have not begun: a workgroup runs to its end before its worker takes the next, so it must not \
        wait for what a later one writes; 4 worker threads run all of them at once (--threads 4)\n\
        fault: the wave was still running after 4 s, the time limit of the dispatch\n";
    assert!(rest.starts_with(expected), "{text}");
    assert_eq!(text.matches("wait for itself").count(), 1, "{text}");
}

#[test]
fn a_dispatch_that_waits_for_itself_is_reported_once() {
    for engine in engines() {
        check("run", engine);
    }
    check("bench", "interp");
}

#[test]
fn the_advice_helps() {
    for engine in engines() {
        let manifest = manifest(&format!("advice-{engine}"), "grid_barrier");
        let run = wavelift(&["run", &manifest, "--engine", engine, "--threads", "4"]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{engine}");
    }
}
