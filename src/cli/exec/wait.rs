//! `exec --stats` and `check exec`: waits for the program, and says if it never used the GPU. The HSA library reports the
//! rest, but is not loaded by such a program.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use anyhow::Context;

use super::super::Status;
use super::start::{cannot_run, say};

/// How a program has ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// It used the GPU.
    pub(crate) used: bool,
}

/// Runs the program to its end.
pub(crate) fn run(command: &mut Command, name: &OsStr) -> anyhow::Result<Ended> {
    let mark = Mark::new();
    if let Some(mark) = &mark {
        command.env("WAVELIFT_UNUSED", &mark.0);
    }
    let mut child = signals::spawn(command).with_context(|| cannot_run(name))?;
    let status = child
        .wait()
        .with_context(|| format!("cannot wait for {}", name.display()))?;
    let used = !mark.is_some_and(|mark| mark.remove());
    if !used {
        say(format_args!(
            "{} made no GPU call: it did not load libhsa-runtime64.so.1 from LD_LIBRARY_PATH, or did not call hsa_init",
            name.display()
        ));
    }
    Ok(Ended { status, used })
}

/// A file that the HSA library removes when it is used.
struct Mark(PathBuf);

impl Mark {
    /// `None` if there is no place for it.
    fn new() -> Option<Mark> {
        let folder = std::env::temp_dir();
        let process = std::process::id();
        let mut paths = (0..100).map(|n| folder.join(format!("wavelift-unused-{process}-{n}")));
        let path = paths.find(|path| File::create_new(path).is_ok())?;
        Some(Mark(path))
    }

    /// Did it exist until now?
    fn remove(&self) -> bool {
        std::fs::remove_file(&self.0).is_ok()
    }
}

/// Ends this process with the status of the program.
pub(crate) fn end(status: ExitStatus) -> anyhow::Result<Status> {
    if let Some(signal) = status.signal() {
        signals::die(signal);
    }
    std::process::exit(status.code().unwrap_or(1))
}

#[expect(unsafe_code, reason = "signals are calls of the C library")]
mod signals {
    use super::*;
    use std::process::Child;

    /// Signals of the keyboard. The terminal sends them to the program, too, which decides.
    const KEYBOARD: [libc::c_int; 2] = [libc::SIGINT, libc::SIGQUIT];

    /// Starts the program with the signal handling that this process had. From here on this process
    /// ignores the signals of the keyboard, and a signal that ends it ends the program.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
        let previous = KEYBOARD.map(|signal| {
            // SAFETY: ignoring a signal runs no code.
            unsafe { libc::signal(signal, libc::SIG_IGN) }
        });
        // SAFETY: the functions may be called between fork and exec, and allocate nothing.
        unsafe {
            command.pre_exec(move || {
                for (signal, handler) in KEYBOARD.into_iter().zip(previous) {
                    libc::signal(signal, handler);
                }
                #[cfg(target_os = "linux")]
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                Ok(())
            });
        }
        command.spawn()
    }

    /// Dies by a signal, as the program did, without another core dump.
    pub(super) fn die(signal: i32) {
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the limit is a valid structure, and the default action runs no code of ours.
        unsafe {
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}
