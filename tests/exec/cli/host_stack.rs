//! Host stacks smaller than the usual ones (`ulimit -s`).
#![cfg(unix)]

use std::process::Command;

use super::{engines, root};

/// Calls the program with a main stack of 64 KiB; status and messages.
fn on_a_small_stack(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new("sh")
        .args(["-c", "ulimit -s 64 && exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_wavelift"))
        .args(args)
        // It is on the same stack.
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(root())
        .output()
        .expect("there is a shell");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into())
}

#[test]
fn all_commands_work_on_a_small_stack() {
    let sha256 = "examples/sha256/sha256.gfx906.toml";
    let mut calls = vec![
        vec!["info", "examples/saxpy/saxpy.bundle.hipfb"],
        vec!["disasm", "examples/sha256/sha256.gfx906.co"],
        vec!["run", sha256, "--engine", "interp"],
        vec!["run", sha256, "--engine", "interp", "--memcheck"],
        vec!["--help"],
    ];
    if engines().contains(&"jit") {
        calls.extend([
            vec!["run", sha256],
            vec!["run", sha256, "--threads", "1", "--emitter", "cranelift"],
            vec!["diff", sha256],
            vec!["bench", sha256, "--seconds", "0.01"],
            vec!["profile", "examples/matmul/matmul.gfx906.toml"],
            vec!["ir", "examples/sha256/sha256.gfx906.co"],
        ]);
    }
    for call in calls {
        let (status, text) = on_a_small_stack(&call);
        assert_eq!(status, Some(0), "{call:?}: {text}");
    }
    let (status, text) = on_a_small_stack(&["run", "missing.toml"]);
    assert_eq!(status, Some(2), "{text}");
}
