//! The tests of the Python package, `python/check`, where Python 3.11 with venv is there.

use std::path::Path;
use std::process::{Command, Stdio};

/// The exit status of `python/check` where pip cannot install what it needs.
const NO_TOOLS: i32 = 77;

/// Is it an error that the tests cannot run?
fn required() -> bool {
    std::env::var_os("WAVELIFT_PYTHON").is_some_and(|value| value == "required")
}

fn skip(why: &str) {
    assert!(!required(), "{why}");
    eprintln!("NOT TESTED: the Python package: {why}");
}

#[test]
fn the_package_passes_its_tests() {
    let probe = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))";
    let python = Command::new("python3")
        .args(["-c", probe])
        .stderr(Stdio::null())
        .status();
    if !python.is_ok_and(|status| status.success()) {
        return skip("no Python 3.11 with venv (Debian: apt-get install python3-venv)");
    }
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/check");
    let mut command = Command::new(check);
    command
        .arg("-q")
        .env("WAVELIFT_PROGRAM", env!("CARGO_BIN_EXE_wavelift"));
    // What Cargo tells a test about its own package is not meant for the Cargo that builds the extension.
    let own = [
        "CARGO_PKG_",
        "CARGO_MANIFEST_",
        "CARGO_CRATE_",
        "CARGO_TARGET_TMPDIR",
    ];
    for (name, _) in std::env::vars_os() {
        if own
            .iter()
            .any(|own| name.to_string_lossy().starts_with(own))
        {
            command.env_remove(name);
        }
    }
    let status = command.status().expect("the script can be started");
    match status.code() {
        Some(0) => {}
        Some(NO_TOOLS) => skip("pip cannot install maturin, NumPy, pytest, Dask and mypy"),
        _ => panic!("python/check: {status}"),
    }
}
