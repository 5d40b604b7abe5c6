//! What the command says of a dispatch that waits for itself.

use super::{engines, file, folder, root, wavelift};

/// A manifest for `grid_barrier` in `tests/kernels/waits`: four workgroups, which wait for so many.
fn manifest(name: &str, arrivals: u32) -> String {
    let code_object = root().join("tests/kernels/waits/waits.gfx900.co");
    let text = format!(
        "[buffers]\nb = {{ bytes = 256 }}\n[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"grid_barrier\"\n\
         grid = [256]\nworkgroup = [64]\nargs = [\"@b\", {{ u32 = {arrivals} }}]\n"
    );
    file(&folder(&format!("wait-{name}")), "m.toml", text)
}

/// What a command says of one that waits for a workgroup that does not exist.
fn check(command: &str, engine: &str) {
    let manifest = manifest(&format!("{command}-{engine}"), 5);
    let options = ["--engine", engine, "--timeout", "30", "--threads", "1"];
    let run = wavelift(&[&[command, &manifest], &options[..]].concat());
    let text = &run.stderr;
    assert_eq!(run.status, 3, "{command} {engine}: {text}");
    let (_, rest) = text
        .split_once("fault: the wave waits for ever: for ")
        .expect(text);
    let (seconds, rest) = rest.split_once(" s all workgroups").expect(text);
    assert!(seconds.parse::<f64>().is_ok(), "{text}");
    let (at, rest) = rest.split_once("  global_atomic_cmpswap ").expect(text);
    assert!(
        at.starts_with(" that have begun have only polled memory that does not change\n   at 0x"),
        "{text}"
    );
    let expected = "v3, v2, v[0:1], s[0:1] glc  (grid_barrier+0x70)\n   \
        wave 0 of workgroup (0,0,0) of kernel grid_barrier, exec 0xffffffffffffffff\n   \
        who waits:\n   workgroup (0,0,0): wave 0 polls 0x";
    assert!(rest.starts_with(expected), "{text}");
    assert_eq!(text.matches(": wave 0 polls 0x").count(), 4, "{text}");
}

#[test]
fn a_dispatch_that_waits_for_itself_is_a_fault() {
    for engine in engines() {
        check("run", engine);
    }
    check("bench", "interp");
}

#[test]
fn one_thread_is_enough_for_a_barrier_of_the_grid() {
    for engine in engines() {
        let manifest = manifest(&format!("one-{engine}"), 4);
        let run = wavelift(&["run", &manifest, "--engine", engine, "--threads", "1"]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{engine}");
    }
}

#[test]
fn both_engines_begin_with_the_same_global_wave_sync() {
    let code_object = root().join("tests/kernels/waits/grid.gfx906.co");
    let dispatch = |kernel| {
        format!(
            "[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"{kernel}\"\ngrid = [64]\nworkgroup = [64]\n\
             args = [\"@b\", {{ u32 = 0 }}]\n"
        )
    };
    // One wave is let through, so the second engine would wait for ever behind the first.
    let text = format!(
        "[buffers]\nb = {{ bytes = 256 }}\n{}{}",
        dispatch("wave_sync_allow"),
        dispatch("wave_sync_alone")
    );
    let manifest = file(&folder("wave-sync"), "m.toml", text);
    let run = wavelift(&["diff", &manifest, "--timeout", "30"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
}
