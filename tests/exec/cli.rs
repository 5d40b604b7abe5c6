//! The command line from outside: the built program, its output and its exit status.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

mod about;
mod bad_input;
mod bench_and_diff;
mod breaks;
#[cfg(feature = "fuzz")]
mod browser;
mod bundles;
mod cache;
mod check;
mod coverage;
mod dap;
mod debug;
mod disasm;
mod documents;
mod emitters;
mod evidence;
mod exec;
mod faults;
mod findings;
#[cfg(feature = "fuzz")]
mod fuzz;
mod host_stack;
mod one_liners;
mod outputs;
mod overruns;
mod profile;
#[path = "../../src/cli/progress.rs"]
#[expect(
    dead_code,
    reason = "the bar is drawn by the program; here are the tests of its time left"
)]
mod progress;
mod races;
mod reference;
mod run;
#[cfg(unix)]
mod sandbox;
mod shards;
mod stack;
mod trace;
mod undefined;
mod waits;

/// What a call of the program came to.
struct Outcome {
    status: i32,
    stdout: String,
    stderr: String,
}

/// The project's folder.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Calls the program in the project's folder.
fn wavelift(args: &[&str]) -> Outcome {
    wavelift_with_input(args, "")
}

/// Calls the program with text on standard input.
fn wavelift_with_input(args: &[&str], input: &str) -> Outcome {
    wavelift_in(args, &[], input)
}

/// The same with variables in the environment.
fn wavelift_in(args: &[&str], variables: &[(&str, &str)], input: &str) -> Outcome {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavelift"))
        .args(args)
        .envs(variables.iter().copied())
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program is built");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // The program need not read all of it.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer does not panic");
    Outcome {
        status: output
            .status
            .code()
            .expect("the program is not killed by a signal"),
        stdout: String::from_utf8(output.stdout).expect("the output is text"),
        stderr: String::from_utf8(output.stderr).expect("the messages are text"),
    }
}

/// Is a program of ROCm's packages installed? Says so if not; in CI it must be.
fn installed(program: &str, packages: &str) -> bool {
    required(program, packages, "WAVELIFT_ROCM")
}

/// Is a program installed? Says so if not; where the variable is `required` it must be.
fn required(program: &str, packages: &str, variable: &str) -> bool {
    let there = Path::new("/usr/bin").join(program).exists();
    let required = std::env::var(variable).is_ok_and(|value| value == "required");
    assert!(there || !required, "missing: {program}");
    if !there {
        // Not `eprintln`, which nobody sees when the test passes.
        let _ = writeln!(
            std::io::stderr().lock(),
            "\nSKIPPED, since there is no {program}: apt-get install {packages}\n"
        );
    }
    there
}

/// An empty folder for a test's files.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("cli")
        .join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("the folder is ours");
    }
    std::fs::create_dir_all(&path).expect("the folder can be made");
    path
}

/// Writes a file into a folder and gives its path as text.
fn file(folder: &Path, name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, contents).expect("the file can be written");
    path.to_str().expect("the path is text").to_owned()
}

/// The engines of this build. A build without the translator tests the interpreter alone and says so.
fn engines() -> Vec<&'static str> {
    let probe = wavelift(&["run", "examples/saxpy/saxpy.gfx900.toml", "--engine", "jit"]);
    if probe.stderr.contains("this build has no translator") {
        eprintln!("NOT TESTED: the translator, which this build does not have");
        return vec!["interp"];
    }
    vec!["interp", "jit"]
}

/// The one JSON object on standard output.
fn json(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error} in {:?} {}", outcome.stdout, outcome.stderr))
}
