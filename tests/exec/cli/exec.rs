//! `wavelift exec`: how the program is started.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::{Outcome, file, folder, installed, root, wavelift, wavelift_in};

mod check;
mod coverage;
#[cfg(embedded)]
mod embedded;
mod gpu;
mod hardware;
mod record;
mod tools;

/// Can `exec` run a program? Not where only this package was built.
fn has_library(out: &Outcome) -> bool {
    let missing = out.stderr.contains("there is no libhsa-runtime64.so.1 in");
    if missing {
        assert_eq!(out.status, 2);
        let message = &out.stderr;
        assert!(
            message.contains("cargo build -p wavelift -p hsa"),
            "{message}"
        );
    }
    !missing
}

/// Calls a command with a cache folder for the tests; `None` where it has no library.
fn call(command: &[&str], args: &[&str], variables: &[(&str, &str)]) -> Option<Outcome> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli/exec-cache");
    let cache = cache.to_str().expect("the path is text");
    let variables = [&[("XDG_CACHE_HOME", cache)], variables].concat();
    let out = wavelift_in(&[command, args].concat(), &variables, "");
    has_library(&out).then_some(out)
}

/// Calls `wavelift exec`.
fn exec_in(args: &[&str], variables: &[(&str, &str)]) -> Option<Outcome> {
    call(&["exec"], args, variables)
}

pub(super) fn exec(args: &[&str]) -> Option<Outcome> {
    exec_in(args, &[])
}

/// A program of the tests of the HSA library, compiled once with this option; `None` without hipcc.
fn program(name: &'static str, option: &'static str) -> Option<PathBuf> {
    static COMPILED: Mutex<BTreeMap<[&str; 2], PathBuf>> = Mutex::new(BTreeMap::new());
    if !installed("hipcc", "hipcc libamdhip64-dev") {
        return None;
    }
    // Another test that has failed leaves what it has compiled.
    let mut all = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let out = all.entry([name, option]).or_insert_with(|| {
        let out = folder(&format!("program-{name}{option}")).join(name);
        let sources = root().join("hsa/tests/programs");
        let compiled = Command::new("hipcc")
            .args(["--offload-arch=gfx906", option, "-o"])
            .arg(&out)
            .arg(sources.join(format!("{name}.hip")))
            .args((name == "random").then_some("-lrocrand"))
            .output();
        let compiled = compiled.expect("hipcc is installed");
        let text = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{text}");
        out
    });
    Some(out.clone())
}

/// Does the environment that the program printed have this line?
#[track_caller]
fn has(out: &Outcome, line: &str) {
    let found = out.stdout.lines().any(|other| other == line);
    assert!(found, "no `{line}` in:\n{}{}", out.stdout, out.stderr);
}

#[test]
fn the_program_finds_the_library_and_the_gpu() {
    let args = ["--gpu", "gfx90a", "--threads", "3", "--stats", "--", "env"];
    let Some(out) = exec(&args) else { return };
    has(&out, "WAVELIFT_GPU=gfx90a");
    has(&out, "WAVELIFT_THREADS=3");
    has(&out, "WAVELIFT_STATS=1");
    assert!(!out.stdout.contains("WAVELIFT_MEMCHECK"), "{}", out.stdout);
    has(&out, "GPU_PINNED_MIN_XFER_SIZE=16");
    let mut lines = out.stdout.lines();
    let path = lines.find_map(|line| line.strip_prefix("LD_LIBRARY_PATH="));
    let first = path.and_then(|path| path.split(':').next());
    let first = Path::new(first.unwrap_or_default());
    assert!(first.join("libhsa-runtime64.so").exists(), "{first:?}");
}

#[test]
fn what_follows_the_program_is_the_programs() {
    let print = ["sh", "-c", "printf '<%s>' \"$@\"", "sh"];
    for (args, printed) in [
        (
            &["--gpu", "gfx700", "--stats"][..],
            "<--gpu><gfx700><--stats>",
        ),
        (&["--", "-x", "--help"], "<--><-x><--help>"),
        (&["--timeout=1", "--version"], "<--timeout=1><--version>"),
    ] {
        for before in [
            &[][..],
            &["--"],
            &["--threads", "2"],
            &["--threads", "2", "--"],
        ] {
            let Some(out) = exec(&[before, &print, args].concat()) else {
                return;
            };
            assert_eq!(
                (out.status, out.stdout.as_str()),
                (0, printed),
                "{before:?}"
            );
        }
    }
    let Some(out) = exec(&["sh", "-c", "exit 7"]) else {
        return;
    };
    assert_eq!(out.status, 7, "{}", out.stderr);
}

#[test]
fn each_option_is_a_variable() {
    let home = folder("exec-options");
    let path = |name: &str| {
        home.join(name)
            .to_str()
            .expect("the path is text")
            .to_owned()
    };
    let (cache, profile) = (path("cache"), path("profile.txt"));
    file(&home, "profile.txt", "of another run");
    for (option, line) in [
        ("--timeout=1.5", "WAVELIFT_TIMEOUT=1.5".to_owned()),
        ("--engine=interp", "WAVELIFT_ENGINE=interp".to_owned()),
        ("--vram=64", "WAVELIFT_VRAM_MIB=64".to_owned()),
        ("--stack=4096", "WAVELIFT_STACK=4096".to_owned()),
        ("--memcheck", "WAVELIFT_MEMCHECK=1".to_owned()),
        ("--cache-size=9", "WAVELIFT_CACHE_MIB=9".to_owned()),
        ("--no-cache", "WAVELIFT_CACHE=".to_owned()),
        (
            &format!("--cache={cache}"),
            format!("WAVELIFT_CACHE={cache}"),
        ),
        ("--profile", "WAVELIFT_PROFILE=-".to_owned()),
        (
            &format!("--profile={profile}"),
            format!("WAVELIFT_PROFILE={profile}"),
        ),
    ] {
        let Some(out) = exec(&[option, "env"]) else {
            return;
        };
        has(&out, &line);
    }
    assert!(Path::new(&cache).is_dir());
    let profile = std::fs::read(profile).expect("it was made");
    assert!(profile.is_empty(), "each process adds its own");
}

#[test]
fn translated_code_is_kept_where_the_user_has_a_cache() {
    let home = folder("exec-cache-folders");
    let home = home.to_str().expect("the path is text");
    let xdg = format!("{home}/xdg");
    for (variables, wanted) in [
        (
            vec![("XDG_CACHE_HOME", xdg.as_str())],
            format!("{xdg}/wavelift/code"),
        ),
        // A relative path does not count.
        (
            vec![("XDG_CACHE_HOME", "xdg"), ("HOME", home)],
            format!("{home}/.cache/wavelift/code"),
        ),
    ] {
        for option in [&[][..], &["--cache"]] {
            let Some(out) = exec_in(&[option, &["env"]].concat(), &variables) else {
                return;
            };
            has(&out, &format!("WAVELIFT_CACHE={wanted}"));
            assert!(Path::new(&wanted).is_dir());
        }
    }
    // A folder that cannot be used is no error unless it was given.
    let place = file(Path::new(home), "file", "");
    let variables = [("XDG_CACHE_HOME", place.as_str())];
    let Some(out) = exec_in(&["env"], &variables) else {
        return;
    };
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    assert!(!out.stdout.contains("WAVELIFT_CACHE"), "{}", out.stdout);
    let below = format!("--cache={place}/below");
    for option in ["--cache", &below] {
        let out = exec_in(&[option, "env"], &variables).expect("there was a library before");
        assert_eq!((out.status, out.stdout.as_str()), (2, ""));
        let message = &out.stderr;
        assert!(
            message.starts_with("error: cannot keep translated code in "),
            "{message}"
        );
    }
}

#[test]
fn options_that_are_not_given_leave_the_callers_variables() {
    let callers = [
        ("WAVELIFT_GPU", "gfx803"),
        ("WAVELIFT_THREADS", "5"),
        ("WAVELIFT_STATS", "1"),
        ("WAVELIFT_MEMCHECK", "1"),
        ("WAVELIFT_ENGINE", "interp"),
        ("WAVELIFT_VRAM_MIB", "64"),
        ("WAVELIFT_STACK", "4096"),
        ("WAVELIFT_TIMEOUT", "30"),
        ("WAVELIFT_CACHE", ""),
        ("WAVELIFT_CACHE_MIB", "7"),
        ("WAVELIFT_PROFILE", "-"),
        ("GPU_PINNED_MIN_XFER_SIZE", "7"),
    ];
    let Some(out) = exec_in(&["--", "env"], &callers) else {
        return;
    };
    for (name, value) in callers {
        has(&out, &format!("{name}={value}"));
    }
    let run = |args: &[&str]| exec_in(args, &callers).expect("there was a library before");
    let out = run(&["--threads", "2", "--", "env"]);
    has(&out, "WAVELIFT_THREADS=2");
    has(&out, "WAVELIFT_MEMCHECK=1");
    let out = run(&["--stack", "8192", "--", "env"]);
    has(&out, "WAVELIFT_STACK=8192");
}

#[test]
fn bad_calls_are_refused() {
    for (args, message) in [
        (
            &["--gpu", "gfx1030", "env"][..],
            "gfx700, gfx803, gfx900, gfx906, gfx908, gfx90a, gfx942",
        ),
        (&[], "<PROGRAM>"),
        (&["--"], "<PROGRAM>"),
        (&["--bogus", "env"], "unexpected argument '--bogus'"),
        (
            &["--timeout", "0", "env"],
            "0 is no positive number of seconds",
        ),
        (&["--cache", "--no-cache", "env"], "cannot be used with"),
        (&["--cache-size", "0", "env"], "0 is not in 1.."),
        (&["--vram", "0", "env"], "0 is not in 1.."),
        (
            &["--engine", "gpu", "env"],
            "[possible values: jit, interp]",
        ),
    ] {
        let out = wavelift(&[&["exec"], args].concat());
        assert_eq!(out.status, 2, "{args:?}");
        assert!(out.stderr.contains(message), "{args:?}: {}", out.stderr);
    }
    let Some(out) = exec(&["--engine", "interp", "--profile", "env"]) else {
        return;
    };
    assert_eq!(out.status, 2);
    let message = "error: only the translator profiles: --profile needs --engine jit\n";
    assert_eq!(out.stderr, message);
    for args in [
        &["./no-such-program"][..],
        &["--stats", "./no-such-program"],
    ] {
        let out = exec(args).expect("there was a library before");
        assert_eq!(out.status, 2);
        let message =
            "error: cannot run ./no-such-program: No such file or directory (os error 2)\n";
        assert_eq!(out.stderr, message);
    }
}

#[test]
fn a_program_without_gpu_calls_is_named_under_stats() {
    let temporary = folder("exec-unused");
    let temporary = temporary.to_str().expect("the path is text");
    let variables = [("TMPDIR", temporary)];
    let Some(out) = exec_in(&["--stats", "sh", "-c", "exit 5"], &variables) else {
        return;
    };
    assert_eq!(out.status, 5, "the program's");
    let line = "wavelift: sh made no GPU call: ";
    assert!(out.stderr.starts_with(line), "{}", out.stderr);
    assert_eq!(out.stderr.lines().count(), 1, "{}", out.stderr);
    // As the library does when it is used.
    let used = "rm \"$WAVELIFT_UNUSED\"";
    let out = exec_in(&["--stats", "sh", "-c", used], &variables).expect("as before");
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    let left = std::fs::read_dir(temporary).expect("it is there").count();
    assert_eq!(left, 0);
    // Nothing is printed where nothing was requested.
    let out = exec(&["sh", "-c", "test -z \"$WAVELIFT_UNUSED\""]).expect("as before");
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
}

#[cfg(target_os = "linux")]
#[test]
fn under_stats_a_signal_ends_wavelift_as_it_ended_the_program() {
    use std::os::unix::process::ExitStatusExt as _;
    if exec(&["true"]).is_none() {
        return;
    }
    let cache = folder("exec-signal");
    for (name, number) in [("ABRT", 6), ("TERM", 15)] {
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_wavelift"))
            .args(["exec", "--stats", "sh", "-c", &format!("kill -{name} $$")])
            .env("XDG_CACHE_HOME", &cache)
            .stderr(std::process::Stdio::null())
            .status()
            .expect("the program is built");
        assert_eq!(status.signal(), Some(number));
    }
}
