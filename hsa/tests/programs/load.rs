//! Programs under load, and programs that are killed, interrupted, forked, or out of memory or disk: `load.hip`.
//!
//! `WAVELIFT_LOAD=100000` is the campaign: so many dispatches in each of 24 queues, and hundreds of kills
//! (`cargo test -p hsa --test programs load -- --nocapture --test-threads 1`, 10 to 20 minutes).

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{command, hip, run_with};

const KILLED: Option<i32> = Some(9);

/// Queues of the campaign.
const QUEUES: u32 = 24;

/// Dispatches in each queue: `WAVELIFT_LOAD`, or few.
fn dispatches() -> u32 {
    match std::env::var("WAVELIFT_LOAD") {
        Ok(number) => number.parse().expect("WAVELIFT_LOAD is a number"),
        Err(_) => 1000,
    }
}

/// How much more the campaign does than the usual test.
fn times() -> u32 {
    dispatches().div_ceil(1000)
}

fn program() -> Option<PathBuf> {
    hip("load.hip", &["gfx906"], &[])
}

/// Runs the program, which must end well, with variables in the environment; what it printed.
fn good(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = run_with(program, "gfx906", arguments, variables);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {out}{err}", output.status);
    assert!(out.ends_with("all is well\n"), "{out}{err}");
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{arguments:?}:\n{out}");
    out
}

/// What the process held of the system: KiB of memory, maps, files, threads.
#[derive(Debug)]
struct Held([i64; 4]);

/// What it held at the line that begins so.
fn held(out: &str, when: &str) -> Held {
    let line = out.lines().find_map(|line| line.strip_prefix(when));
    let line = line.unwrap_or_else(|| panic!("no `{when}` in {out}"));
    let mut numbers = line
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|word| word.parse().ok());
    Held(std::array::from_fn(|_| {
        numbers.next().expect("there are four")
    }))
}

/// Nothing grew between a tenth of the work and its end: no thread, file, and hardly memory.
fn check_leaks(out: &str) {
    let (first, last) = (held(out, "after a tenth:"), held(out, "at the end:"));
    let ([kib, maps, files, threads], [kib_last, maps_last, files_last, threads_last]) =
        (first.0, last.0);
    // Threads of a tenth of the work have ended in both; glibc keeps stacks and arenas of some.
    assert!(kib_last - kib < 32 << 10, "{first:?} {last:?}");
    assert!(maps_last - maps < 200, "{first:?} {last:?}");
    assert!(files_last <= files, "{first:?} {last:?}");
    // The optimizing tier starts its thread when the first kernel is hot.
    assert!(threads_last <= threads + 1, "{first:?} {last:?}");
}

#[test]
fn many_queues_lose_no_dispatch_and_leak_nothing() {
    let Some(program) = program() else { return };
    let queues = QUEUES.to_string();
    let each = dispatches().to_string();
    let out = good(
        &program,
        &["queues", &queues, &each],
        &[("GPU_MAX_HW_QUEUES", &queues)],
    );
    check_leaks(&out);
}

#[test]
fn signals_of_the_program_are_handled_on_its_own_threads() {
    let Some(program) = program() else { return };
    let each = dispatches().to_string();
    let out = good(&program, &["storm", "4", &each], &[]);
    assert!(
        out.contains(" alarms, 0 on threads of the library\n"),
        "{out}"
    );
}

#[test]
fn programs_may_fork() {
    let Some(program) = program() else { return };
    let each = dispatches().to_string();
    let out = good(&program, &["forks", &each], &[]);
    assert!(out.contains(" children\n"), "{out}");
}

#[test]
fn a_child_cannot_use_what_its_parent_has_begun() {
    let Some(program) = program() else { return };
    let output = run_with(&program, "gfx906", &["forked"], &[]);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.ends_with("all is well\n"), "{out}");
    let child = out.lines().find(|line| line.starts_with("child: "));
    assert_eq!(child, Some("child: status 3"), "{out}");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        err.contains("wavelift: this process was forked from one"),
        "{err}"
    );
}

#[test]
fn all_memory_can_be_taken_and_given_back() {
    let Some(program) = program() else { return };
    let rounds = (10 * times()).to_string();
    let out = good(
        &program,
        &["memory", &rounds],
        &[("WAVELIFT_VRAM_MIB", "256")],
    );
    check_leaks(&out);
}

/// An empty folder of this name for translated code.
fn cache(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// How many files of the folder have a name that ends so.
fn files(folder: &Path, end: &str) -> usize {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    names
        .filter(|name| name.to_string_lossy().ends_with(end))
        .count()
}

#[test]
fn killed_programs_leave_the_cache_usable() {
    let Some(program) = program() else { return };
    let folder = cache("load-killed");
    let variables = [("WAVELIFT_CACHE", folder.to_str().expect("the path is text"))];
    let mut killed = 0;
    let rounds = 8 * times();
    for round in 0..rounds {
        // Two at a time, killed at moments from before the first translation to after the last.
        let mut running: Vec<_> = (0..2)
            .map(|_| {
                let mut command = command(&program, "gfx906");
                command
                    .arg("kernels")
                    .envs(variables)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null());
                command.spawn().expect("the program was built")
            })
            .collect();
        std::thread::sleep(Duration::from_millis(u64::from(50 + round * 37 % 600)));
        for child in &mut running {
            child.kill().expect("a child can be killed");
        }
        for child in &mut running {
            let status = child.wait().expect("a child can be waited for");
            killed += u32::from(status.signal() == KILLED);
        }
    }
    good(&program, &["kernels"], &variables);
    let kept = files(&folder, ".code");
    assert!(kept >= 60, "{kept} files");
    // All files are whole: nothing is written anew.
    good(&program, &["kernels"], &variables);
    assert_eq!(files(&folder, ".code"), kept);
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{killed} of {} processes killed", 2 * rounds);
    assert!(killed > 0, "every process had ended");
}

#[test]
fn a_full_disk_for_the_cache_changes_nothing() {
    let Some(program) = program() else { return };
    let folder = cache("load-full");
    std::fs::create_dir(&folder).expect("the folder can be made");
    let path = folder.to_str().expect("the path is text");
    // A file system of its own, if namespaces may be made.
    let mounted = |then: &str| {
        let mount = format!("mount -t tmpfs -o size=64k,mode=700 none '{path}' && {then}");
        command("unshare", "gfx906")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", &mount])
            .env("WAVELIFT_CACHE", path)
            .output()
    };
    let mut stdout = std::io::stdout().lock();
    if !mounted("true").is_ok_and(|output| output.status.success()) {
        let _ = writeln!(stdout, "SKIPPED: no file system can be mounted here");
        return;
    }
    let script = format!("'{}' kernels && ls '{path}' | wc -l", program.display());
    let output = mounted(&script).expect("it ran before");
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {out}{err}", output.status);
    let kept = out.strip_prefix("all is well\n").expect("it ended well");
    let kept: u32 = kept.trim().parse().expect("wc prints a number");
    assert!(kept < 60, "{kept} files on a full disk");
    let _ = writeln!(stdout, "{kept} files fit on a disk of 64 KiB");
}

#[test]
fn a_program_that_is_interrupted_ends_at_once() {
    let Some(program) = hip("talk.hip", &["gfx900", "gfx906"], &[]) else {
        return;
    };
    // Not those that a shell may ignore in the background.
    for signal in ["TERM", "USR1"] {
        let mut child = command(&program, "gfx906")
            .arg("wait")
            .stdout(Stdio::null())
            .spawn()
            .expect("the program was built");
        std::thread::sleep(Duration::from_millis(300));
        let sent = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(sent.is_ok_and(|status| status.success()));
        let end = Instant::now() + Duration::from_secs(60);
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                break status;
            }
            if Instant::now() > end {
                child.kill().expect("a child can be killed");
                panic!("SIG{signal} did not end the program");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(status.signal().is_some(), "{status}");
    }
}
