//! `wavelift debug`: scripted sessions.

use super::{Outcome, folder, installed, root, wavelift, wavelift_with_input};

const TRACE: &str = "tests/kernels/trace/trace.toml";

/// A session by options.
fn session(manifest: &str, commands: &[&str]) -> Outcome {
    let mut args = vec!["debug", manifest];
    for command in commands {
        args.extend(["-e", command]);
    }
    wavelift(&args)
}

/// What each command of a session printed, after what was printed at the beginning.
fn answers(outcome: &Outcome) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for line in outcome.stdout.lines() {
        match line.starts_with("(wavelift) ") {
            true => all.push(Vec::new()),
            false => all.last_mut().expect("there is one").push(line.to_owned()),
        }
    }
    all
}

/// A session whose commands print these lines; `...` at the end of a line, or in it, is anything.
fn prints(manifest: &str, expected: &[(&str, &[&str])]) {
    let commands: Vec<&str> = expected[1..].iter().map(|(command, _)| *command).collect();
    let outcome = session(manifest, &commands);
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (0, ""),
        "{}",
        outcome.stdout
    );
    let all = answers(&outcome);
    assert_eq!(all.len(), expected.len(), "{}", outcome.stdout);
    for (answer, (command, lines)) in all.iter().zip(expected) {
        let same = answer.len() == lines.len()
            && answer
                .iter()
                .zip(*lines)
                .all(|(line, wanted)| is_like(line, wanted));
        assert!(same, "{command}: {answer:#?}\n{lines:#?}");
    }
}

fn is_like(line: &str, wanted: &str) -> bool {
    let mut pieces = wanted.split("...");
    let Some(mut rest) = line.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
        last = Some(piece);
    }
    rest.is_empty() || last == Some("")
}

/// How the sessions on the kernel of traces begin.
const BEGIN: (&str, &[&str]) = (
    "",
    &[
        "the program begins: wave 0 of workgroup (0, 0, 0) of trace",
        "=>     0  0x1a00  s_load_dwordx2 s[0:1], s[4:5], 0x20  (trace+0x0)",
    ],
);

#[test]
fn steps_forward_and_back() {
    prints(
        TRACE,
        &[
            BEGIN,
            (
                "step",
                &["=>     1  0x1a08  s_load_dword s7, s[4:5], 0x28  (trace+0x8)"],
            ),
            (
                "s 3",
                &["=>     4  0x1a20  v_lshl_or_b32 v1, s6, 6, v0  (trace+0x20)"],
            ),
            (
                "next",
                &["=>     5  0x1a28  v_mov_b32_e32 v2, 0  (trace+0x28)"],
            ),
            (
                "next 2",
                &["=>     7  0x1a30  s_waitcnt lgkmcnt(0)  (trace+0x30)"],
            ),
            (
                "until trace+0x88",
                &["=>    25  0x1a88  ds_read_b32 v0, v0  (trace+0x88)"],
            ),
            (
                "reverse-step 25",
                &["=>     0  0x1a00  s_load_dwordx2 s[0:1], s[4:5], 0x20  (trace+0x0)"],
            ),
            (
                "until 0x1a88",
                &["=>    25  0x1a88  ds_read_b32 v0, v0  (trace+0x88)"],
            ),
            ("rs", &["=>    24  0x1a84  ...  (trace+0x84)"]),
            (
                "rerun",
                &[
                    "the program begins: wave 0 of workgroup (0, 0, 0) of trace",
                    "=>     0  0x1a00  s_load_dwordx2 s[0:1], s[4:5], 0x20  (trace+0x0)",
                ],
            ),
            (
                "continue",
                &["the program has ended", "expect count: ok, 1 element"],
            ),
            ("print count", &["count = 44"]),
        ],
    );
}

#[test]
fn breakpoints_and_watchpoints() {
    prints(
        TRACE,
        &[
            BEGIN,
            ("info breakpoints", &["no breakpoints or watchpoints"]),
            (
                "tbreak trace+0x30",
                &["breakpoint 1 at 0x1a30 trace+0x30, once"],
            ),
            (
                "break *0x1a88 workgroup 0 wave 0 dispatch 0 if all(v0 < 0x100) && s0 == 0",
                &[
                    "breakpoint 2 at 0x1a88 trace+0x88, wave 0, workgroup (0, 0, 0), dispatch 0, if all(v0 < 0x100) && s0 == 0",
                ],
            ),
            (
                "b 0x1a90 if exec == 1",
                &["breakpoint 3 at 0x1a90 trace+0x90, if exec == 1"],
            ),
            ("watch count", &["watchpoint 4 on write of 4 bytes: count"]),
            (
                "rwatch lds[0xfc]",
                &["watchpoint 5 on read of 4 bytes: lds[0xfc]"],
            ),
            (
                "awatch in[0:1] wave 0",
                &["watchpoint 6 on access of 8 bytes: in[0:1], wave 0"],
            ),
            (
                "c",
                &[
                    "breakpoint 1: wave 0 of workgroup (0, 0, 0) of trace",
                    "=>     7  0x1a30  s_waitcnt lgkmcnt(0)  (trace+0x30)",
                ],
            ),
            (
                "c",
                &[
                    "watchpoint 6, lane 0 read 0.25 from in[0]: wave 0 of workgroup (0, 0, 0) of trace",
                    "=> ...",
                ],
            ),
            (
                "c",
                &[
                    "breakpoint 2: wave 0 of workgroup (0, 0, 0) of trace",
                    "=>    25  0x1a88  ds_read_b32 v0, v0  (trace+0x88)",
                ],
            ),
            (
                "c",
                &[
                    "watchpoint 5, lane 0 read 0x3f000000 from lds[0xfc]: wave 0 of workgroup (0, 0, 0) of trace",
                    "=>    26  0x1a90  s_waitcnt lgkmcnt(0)  (trace+0x90)",
                ],
            ),
            (
                "c",
                &[
                    "watchpoint 4, lane 56 changed count[0] from 40 to 44: wave 0 of workgroup (0, 0, 0) of trace",
                    "=>    41  0x1ad8  s_or_b64 exec, exec, s[2:3]  (trace+0xd8)",
                ],
            ),
            (
                "reverse-continue",
                &[
                    "watchpoint 5, lane 0 read 0x3f000000 from lds[0xfc]: wave 0 of workgroup (0, 0, 0) of trace",
                    "=>    26  0x1a90  s_waitcnt lgkmcnt(0)  (trace+0x90)",
                ],
            ),
            (
                "rc",
                &[
                    "breakpoint 2: ...",
                    "=>    25  0x1a88  ds_read_b32 v0, v0  (trace+0x88)",
                ],
            ),
            ("delete 6", &[]),
            ("disable 5", &[]),
            (
                "rc",
                &[
                    "one cannot go back farther: wave 0 of workgroup (0, 0, 0) of trace",
                    "=>     0  ...",
                ],
            ),
            (
                "c 2",
                &[
                    "watchpoint 4, lane 56 changed count[0] from 40 to 44: ...",
                    "=>    41  ...",
                ],
            ),
            (
                "info breakpoints",
                &[
                    "breakpoint 2 at 0x1a88 ..., hit 2 times",
                    "breakpoint 3 at 0x1a90 trace+0x90, if exec == 1",
                    "watchpoint 4 on write of 4 bytes: count, hit 2 times",
                    "watchpoint 5 on read of 4 bytes: lds[0xfc], disabled, hit once",
                ],
            ),
            ("enable 5", &[]),
            ("delete", &[]),
            ("info breakpoints", &["no breakpoints or watchpoints"]),
        ],
    );
}

#[test]
fn registers_memory_and_code() {
    prints(
        TRACE,
        &[
            BEGIN,
            ("until trace+0x90", &["=>    26  ..."]),
            ("print v0", &["v0 = 0-55: 0x3f000000, 56: 0x40000000, ..."]),
            ("print/f v0", &["v0 = 0-55: 0.5, 56: 2.0, 57: 1.75, ..."]),
            ("p v0[57]/f", &["v0[57] = 1.75"]),
            ("p v0[57]/h", &["v0[57] = 0.0"]),
            (
                "p v0[57]/b",
                &["v0[57] = 0b00111111111000000000000000000000"],
            ),
            ("p -v0[57]/d", &["-v0[57] = -1071644672"]),
            ("p s[0:1]/g", &["s[0:1] = 3.0"]),
            ("p s[0:1]", &["s[0:1] = 0x4008000000000000"]),
            ("p exec/u", &["exec = 18446744073709551615"]),
            ("p pc", &["pc = 0x1a90"]),
            (
                "p in",
                &["in = {0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0}"],
            ),
            ("p in[1:2]", &["in[1:2] = {0.5, 0.75}"]),
            ("p in[1] * 2 > 0.9", &["in[1] * 2 > 0.9 = 1"]),
            ("p @count[0] + 1", &["@count[0] + 1 = 41"]),
            (
                "x/8f lds[0]",
                &[
                    "lds[0x0]: 0.25, 0.5, 0.75, 1.0",
                    "lds[0x10]: 1.25, 1.5, 1.75, 2.0",
                ],
            ),
            ("x/2x in[6]", &["in[6]: 0x3fe00000, 0x40000000"]),
            (
                "lanes",
                &["exec = 0xffffffffffffffff, 64 of 64 lanes are active: 0-63"],
            ),
            ("set exec = 0xf0f", &[]),
            (
                "info lanes",
                &["exec = 0xf0f, 8 of 64 lanes are active: 0-3, 8-11"],
            ),
            ("set v0 = 2.5", &[]),
            ("p v0/f", &["v0 = 0-3: 2.5, 8-11: 2.5"]),
            ("set in[1] = 8", &[]),
            ("p in[1]", &["in[1] = 8.0"]),
            ("wave", &["wave 0 is selected"]),
            (
                "wave 0",
                &[
                    "=> wave 0: runs, 26 instructions executed, at 0x1a90 trace+0x90, active lanes 0-3, 8-11",
                ],
            ),
            (
                "info waves",
                &[
                    "=> wave 0: runs, 26 instructions executed, at 0x1a90 trace+0x90, active lanes 0-3, 8-11",
                ],
            ),
            ("bt", &["#0  0x1a90 trace+0x90"]),
            (
                "list 3",
                &[
                    "   0x1a88  ds_read_b32 v0, v0  (trace+0x88)",
                    "=> 0x1a90  ...",
                    "   0x1a94  ...",
                ],
            ),
            (
                "list trace 2",
                &[
                    "   0x1a00  s_load_dwordx2 s[0:1], s[4:5], 0x20  (trace+0x0)",
                    "   0x1a08  s_load_dword s7, s[4:5], 0x28  (trace+0x8)",
                ],
            ),
            (
                "info dispatch",
                &[
                    "=> dispatch 0: kernel trace, 1 workgroup",
                    "   workgroup (0, 0, 0) has executed 26 instructions; one can go back to 0",
                ],
            ),
            (
                "info buffers",
                &[
                    "out: 64 elements of f32 at 0x...",
                    "in: 8 elements of f32 at 0x...",
                    "count: 1 elements of i32 at 0x...",
                    "halves: 64 elements of f16 at 0x...",
                ],
            ),
            (
                "help bt",
                &[
                    "backtrace (bt, where)",
                    "    print the calls that the selected wave is in",
                ],
            ),
            ("quit", &[]),
        ],
    );
    let all = session(TRACE, &["info registers", "help"]);
    assert_eq!(all.status, 0, "{}", all.stderr);
    for line in [
        "pc = 0x1a00",
        "v0 = 0-63: 0x0 +1",
        "s[0:7] = 0x",
        "finish (fin)",
        "formats: x hexadecimal",
    ] {
        assert!(all.stdout.contains(line), "{line}: {}", all.stdout);
    }
}

#[test]
fn calls_of_every_target() {
    for target in ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906"] {
        prints(
            &format!("examples/calls/calls.{target}.toml"),
            &[
                (
                    "",
                    &[
                        "the program begins: dispatch 0, wave 0 of ...",
                        "=>     0  ...",
                    ],
                ),
                ("break op_mul", &["breakpoint 1 at ... op_mul+0x0"]),
                (
                    "tbreak vm_table",
                    &["breakpoint 2 at ... vm_table+0x0, once"],
                ),
                (
                    "c",
                    &[
                        "breakpoint 2: dispatch 1, wave 0 of workgroup (0, 0, 0) of vm_table",
                        "=>     0  ...",
                    ],
                ),
                (
                    "c",
                    &[
                        "breakpoint 1: dispatch 1, wave 0 of workgroup (0, 0, 0) of vm_table",
                        "=> ... (op_mul+0x0)",
                    ],
                ),
                ("bt", &["#0  ... op_mul+0x0", "#1  ... vm_table+0x1..."]),
                ("finish", &["=> ... (vm_table+0x1..."]),
                ("bt", &["#0  ... vm_table+0x1..."]),
                ("rs", &["=> ...  s_setpc_b64 s[30:31]  (op_mul+0x..."]),
                ("bt", &["#0  ... op_mul+0x...", "#1  ... vm_table+0x1..."]),
                ("delete", &[]),
                (
                    "c",
                    &[
                        "the program has ended",
                        "expect results: ok, 300 elements",
                        "expect mixed: ok, 300 elements",
                    ],
                ),
            ],
        );
    }
}

#[test]
fn several_waves_and_dispatches() {
    let manifest = "examples/reduction/reduction.gfx906.toml";
    prints(
        manifest,
        &[
            (
                "",
                &[
                    "the program begins: dispatch 0, wave 0 of workgroup (0, 0, 0) of reduce_sum",
                    "=>     0  ...",
                ],
            ),
            (
                "wave 2",
                &[
                    "=> wave 2: runs, 0 instructions executed, at ... reduce_sum+0x0, active lanes 0-63",
                ],
            ),
            (
                "step 2",
                &[
                    "dispatch 0, wave 2 of workgroup (0, 0, 0) of reduce_sum",
                    "=>     2  ...",
                ],
            ),
            (
                "info waves",
                &[
                    "   wave 0: runs, 0 instructions ...",
                    "   wave 1: runs, 0 instructions ...",
                    "=> wave 2: runs, 2 instructions ...",
                    "   wave 3: runs, 0 instructions ...",
                ],
            ),
            ("rs", &["=>     1  ..."]),
            (
                "break reduce_max workgroup 1 wave 1",
                &["breakpoint 1 at ... reduce_max+0x0, wave 1, workgroup (1, 0, 0)"],
            ),
            (
                "c",
                &[
                    "breakpoint 1: dispatch 1, wave 1 of workgroup (1, 0, 0) of reduce_max",
                    "=>     0  ... (reduce_max+0x0)",
                ],
            ),
            (
                "info dispatch",
                &[
                    "   dispatch 0: kernel reduce_sum, 8 workgroups",
                    "=> dispatch 1: kernel reduce_max, 10 workgroups",
                    "   dispatch 2: kernel reduce_squares, 4 workgroups",
                    "   workgroup (1, 0, 0) has executed ... instructions; one can go back to 0",
                ],
            ),
            (
                "c",
                &[
                    "the program has ended",
                    "expect sum: ok, 1 element",
                    "expect largest: ok, 1 element...",
                    "expect squares: ok, 1 element",
                ],
            ),
        ],
    );
}

#[test]
fn faults_stop_before_they_end_the_launch() {
    let outcome = wavelift(&[
        "debug",
        "tests/kernels/faults/faults.gfx900.co",
        "--kernel",
        "wild_load",
        "--grid",
        "64",
        "--arg",
        "bytes:4096",
        "--arg",
        "64",
        "-e",
        "c",
        "-e",
        "rs",
        "-e",
        "set v[2:3][17] = v[2:3][16]",
        "-e",
        "c",
        "-e",
        "rerun",
        "-e",
        "c",
        "-e",
        "c",
        "-e",
        "print 1",
    ]);
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (0, ""),
        "{}",
        outcome.stdout
    );
    let all = answers(&outcome);
    let fault = "fault, lane 17 read 4 bytes at 0x40, 64 bytes from a null pointer: wave 0 of workgroup (0, 0, 0) of wild_load";
    assert_eq!(all[1][0], fault);
    // The address is mended, and the launch ends well.
    assert_eq!(all[4], ["the program has ended"], "{}", outcome.stdout);
    assert_eq!(all[6][0], fault);
    assert!(
        all[7][0].starts_with("the program has ended with a fault: lane 17 read"),
        "{:?}",
        all[7]
    );
    assert_eq!(all[8], ["1 = 1"]);
}

#[test]
fn scripts_end_at_the_first_error() {
    let outcome = wavelift_with_input(
        &["debug", TRACE],
        "# a comment\n\nstep\nbreak trace+0x2\nstep\n",
    );
    assert_eq!(outcome.status, 2, "{}", outcome.stdout);
    assert_eq!(
        outcome.stderr,
        "error: standard input:4: no instruction begins at trace+0x2; `wavelift disasm --addresses` prints where they do\n"
    );
    assert!(
        outcome.stdout.ends_with("(wavelift) break trace+0x2\n"),
        "{}",
        outcome.stdout
    );
    let script = folder("debug-script").join("commands.txt");
    std::fs::write(&script, "step\nprint v0[0]\nstep 0\n").expect("it can be written");
    let script = script.to_str().expect("it is text");
    let outcome = wavelift(&["debug", TRACE, "-x", script, "-e", "step"]);
    assert_eq!(outcome.status, 2, "{}", outcome.stdout);
    let message = format!("error: {script}:3: `0` is no positive number\n");
    assert_eq!(outcome.stderr, message);
    for (command, message) in [
        (
            "nonsense",
            "there is no command `nonsense`; commands are step, next, finish",
        ),
        ("re", "`re` may be reverse-step, reverse-continue, rerun"),
        ("step many", "`many` is no positive number"),
        ("finish now", "write finish"),
        ("finish", "the wave is in no call"),
        ("until", "write until LOCATION"),
        ("break", "write break LOCATION"),
        ("break trace wave x", "`x` is no number of a wave"),
        (
            "break trace workgroup 7",
            "kernel trace has no workgroup 7: its launch has 1, from 0 on",
        ),
        (
            "break trace if",
            "there is no function `trace if`; functions are trace",
        ),
        (
            "break trace if s0 ==",
            "a number, a register or a buffer was expected",
        ),
        (
            "break nowhere",
            "there is no function `nowhere`; functions are trace",
        ),
        (
            "break trace.cl:7",
            "the code object has no line numbers; compile it with -g",
        ),
        ("watch v0", "memory can be watched, registers cannot"),
        ("watch 0x10", "guest memory: 4 bytes at 0x10 are not there"),
        (
            "watch lds[0x10000]",
            "LDS: 4 bytes at 0x10000 are not there; it has",
        ),
        ("print v200", "v200 does not exist: the wave has v0 to v"),
        ("print v0[64]", "lane 64 does not exist"),
        ("print in[8]", "in has 8 elements of f32, from in[0] on"),
        ("print v0/z", "`z` is neither a register nor a buffer"),
        ("print/z v0", "`z` is no format; formats are x hexadecimal"),
        (
            "print s0/g",
            "the format is for 8 bytes and the value has 4; .f64",
        ),
        ("x/8f", "write x [/NF] MEMORY"),
        ("x/99999999 in[0]", "1 to 65536 elements can be shown"),
        ("x/2f in[7]", ""),
        ("x/4x 0x10", "guest memory: 16 bytes at 0x10 are not there"),
        ("info", "write info registers|waves"),
        ("wave 7", "the workgroup has no wave 7: it has 1, from 0 on"),
        ("set v0", "write set PLACE = EXPRESSION"),
        ("set 1 = 2", "only registers and memory can be set"),
        ("set pc = 0x1a02", "no instruction begins at 0x1a02"),
        ("delete 3", "there is no breakpoint or watchpoint 3"),
        ("reverse-step", "cannot go back"),
        ("help nothing", "there is no command `nothing`"),
    ] {
        let outcome = session(TRACE, &[command]);
        if message.is_empty() {
            assert_eq!(outcome.status, 0, "{command}: {}", outcome.stderr);
            continue;
        }
        assert_eq!(outcome.status, 2, "{command}: {}", outcome.stdout);
        let begin = format!("error: command 1: {message}");
        assert!(
            outcome.stderr.starts_with(&begin),
            "{command}: {}",
            outcome.stderr
        );
    }
    // Nothing is stopped any more.
    for command in [
        "step",
        "continue",
        "print v0",
        "lanes",
        "list",
        "bt",
        "info waves",
    ] {
        let outcome = session(TRACE, &["continue", command]);
        assert_eq!(outcome.status, 2, "{command}: {}", outcome.stdout);
        assert!(
            outcome.stderr.contains("no wave is stopped"),
            "{command}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn what_cannot_run_is_refused_first() {
    let manifest = folder("debug-bad").join("bad.toml");
    let code = root().join("tests/kernels/trace/trace.gfx900.co");
    let write = |grid: &str| {
        let text = format!(
            "[buffers]\ny = {{ bytes = 256 }}\n[[dispatch]]\ncode_object = {code:?}\nkernel = \"trace\"\n\
             grid = [{grid}]\nworkgroup = [64]\nargs = [\"@y\", \"@y\", \"@y\", \"@y\", {{ f64 = 1 }}, {{ i32 = 0 }}]\n"
        );
        std::fs::write(&manifest, text).expect("it can be written");
    };
    let path = manifest.to_str().expect("it is text");
    write("0");
    let outcome = session(path, &["step"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""));
    assert!(outcome.stderr.contains("bad.toml:6"), "{}", outcome.stderr);
    for args in [
        &["debug", "nowhere.toml"][..],
        &["debug", TRACE, "-x", "nowhere.txt"],
        &["debug"],
    ] {
        let outcome = wavelift(args);
        assert_eq!(
            (outcome.status, outcome.stdout.as_str()),
            (2, ""),
            "{args:?}"
        );
    }
}

#[test]
fn a_kernel_that_never_ends_is_stopped_by_time() {
    let outcome = wavelift(&[
        "debug",
        "tests/kernels/faults/faults.gfx900.co",
        "--kernel",
        "endless",
        "--grid",
        "64",
        "--arg",
        "bytes:4096",
        "--arg",
        "64",
        "--timeout",
        "0.2",
        "-e",
        "continue",
        "-e",
        "reverse-step",
        "-e",
        "step",
        "-e",
        "until endless+0x14",
    ]);
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (0, ""),
        "{}",
        outcome.stdout
    );
    let all = answers(&outcome);
    assert!(
        all[1][0].starts_with("stopped after 200ms, the limit of --timeout: wave 0"),
        "{}",
        outcome.stdout
    );
    assert_eq!(all[3], all[1][1..], "one back and one forward");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_the_wave() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    let mut child = Command::new(env!("CARGO_BIN_EXE_wavelift"))
        .args([
            "debug",
            "tests/kernels/faults/faults.gfx900.co",
            "--kernel",
            "endless",
        ])
        .args(["--grid", "64", "--arg", "bytes:4096", "--arg", "64"])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program is built");
    let mut input = child.stdin.take().expect("it is a pipe");
    let output = child.stdout.take().expect("it is a pipe");
    let mut lines = BufReader::new(output).lines();
    let mut line = || lines.next().expect("there is one").expect("it is text");
    writeln!(input, "continue").expect("it reads");
    while line() != "(wavelift) continue" {}
    // The command is printed before the program goes on, which takes no time that a test would notice;
    // a signal before that would be forgotten.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let sent = Command::new("kill")
        .args(["-s", "INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("there is a kill").success());
    assert!(line().starts_with("interrupted: wave 0 of workgroup (0, 0, 0) of endless"));
    assert!(line().starts_with("=> "));
    writeln!(input, "print s8 > 0\nquit").expect("it reads");
    assert_eq!(line(), "(wavelift) print s8 > 0");
    assert_eq!(line(), "s8 > 0 = 1");
    drop(input);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn the_clock_shows_the_same_again() {
    if !installed("clang-19", "clang-19 lld-19 rocm-device-libs") {
        return;
    }
    let source = folder("debug-clock").join("ticks.cl");
    let text = "kernel void ticks(global ulong *out) {\n\
                    ulong before = __builtin_amdgcn_s_memtime();\n\
                    out[get_global_id(0)] = before;\n\
                    if (get_local_id(0) == 0)\n\
                        out[64] = __builtin_amdgcn_s_memtime() - before;\n\
                }\n";
    std::fs::write(&source, text).expect("it can be written");
    let outcome = wavelift(&[
        "debug",
        source.to_str().expect("it is text"),
        "--grid",
        "64",
        "--arg",
        "out=out:u64:65",
        "-e",
        "watch out[64]",
        "-e",
        "continue",
        "-e",
        "print out[63:64]",
        "-e",
        "reverse-step 1000",
        "-e",
        "print out[63:64]",
        "-e",
        "continue",
        "-e",
        "print out[63:64]",
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let all = answers(&outcome);
    assert_eq!(all[5], ["out[63:64] = {0, 0}"], "{}", outcome.stdout);
    assert_eq!((&all[7], &all[6]), (&all[3], &all[2]), "{}", outcome.stdout);
}

#[test]
fn lines_of_source_text_are_locations_and_are_shown() {
    let source = std::fs::read_to_string(root().join("tests/kernels/source/lines.hip"));
    let source = source.expect("it is there");
    let mut lines = (1..).zip(source.lines());
    let line = lines.find_map(|(number, line)| line.contains("range.low)").then_some(number));
    let place = format!("lines.hip:{}", line.expect("it has the line"));
    let outcome = wavelift(&[
        "debug",
        "tests/kernels/source/lines.gfx906.co",
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
        "-e",
        &format!("break {place}"),
        "-e",
        "continue",
        "-e",
        "backtrace",
    ]);
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (0, ""),
        "{}",
        outcome.stdout
    );
    let all = answers(&outcome);
    for answer in &all[1..] {
        let text = answer.join("\n");
        assert!(text.contains(&place), "{text}");
        assert!(text.contains("clamp"), "{text}");
    }
}

#[test]
fn inlined_functions_are_frames() {
    let outcome = wavelift(&[
        "debug",
        "tests/kernels/source/lines.gfx906.co",
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
        "-e",
        "until lines.hip:16",
        "-e",
        "backtrace",
    ]);
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (0, ""),
        "{}",
        outcome.stdout
    );
    let all = answers(&outcome);
    assert!(all[1][0].contains("lines.hip:16"), "{}", outcome.stdout);
    let wanted = [
        "#0  0x... float norm<float>(float, float) at lines.hip:16, inlined",
        "#1  0x... void norms<float>(float*, float const*, int) at lines.hip:...",
    ];
    assert_eq!(all[2].len(), 2, "{}", outcome.stdout);
    for (line, wanted) in all[2].iter().zip(wanted) {
        assert!(is_like(line, wanted), "{line}");
    }
}
