//! The two processes of a confined run. The first keeps the list of files that are to be put in their places; the second
//! adds to the list until it closes it, and then names entries by number.
#![expect(
    unsafe_code,
    reason = "processes and descriptors are calls of the C library"
)]

use std::ffi::OsStr;
use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::Context as _;

use crate::cli::output::{Output, complain};
use crate::cli::{Status, conclude};

/// The exit status of a panic.
const PANIC: i32 = 101;

/// What the second process says: a file and its place, ...
const FILE: u8 = b'f';
/// ... that the list is complete, ...
const CLOSED: u8 = b'c';
/// ... that the file of this number is.
const PLACE: u8 = b'p';

/// Longest name of a file.
const MAX_NAME: u32 = 1 << 16;

/// The way to the first process.
struct Keeper {
    to: PipeWriter,
    from: PipeReader,
    /// Files handed over.
    files: u32,
    /// Descriptors that were open before.
    inherited: Vec<RawFd>,
}

static KEEPER: OnceLock<Mutex<Keeper>> = OnceLock::new();

/// A file that the first process has on its list.
pub(in crate::cli) struct Handed(u32);

/// Is this the second process?
pub(super) fn is_on() -> bool {
    KEEPER.get().is_some()
}

/// Calls the keeper, if this is the second process.
fn with<R>(call: impl FnOnce(&mut Keeper) -> io::Result<R>) -> io::Result<Option<R>> {
    let Some(keeper) = KEEPER.get() else {
        return Ok(None);
    };
    call(&mut keeper.lock().unwrap_or_else(PoisonError::into_inner)).map(Some)
}

pub(super) fn hand_over(from: &Path, to: &Path) -> io::Result<Option<Handed>> {
    with(|keeper| {
        let mut message = vec![FILE];
        for path in [from, to] {
            let bytes = path.as_os_str().as_bytes();
            message.extend((bytes.len() as u32).to_le_bytes());
            message.extend(bytes);
        }
        keeper.to.write_all(&message)?;
        keeper.files += 1;
        Ok(Handed(keeper.files - 1))
    })
}

/// No more files. Closes the descriptors that the process was started with, other than the standard ones.
pub(super) fn close_list() -> io::Result<()> {
    let closed = with(|keeper| {
        for descriptor in keeper.inherited.drain(..) {
            // SAFETY: nothing in this process owns a descriptor that was open when it began.
            unsafe { libc::close(descriptor) };
        }
        keeper.to.write_all(&[CLOSED])
    })?;
    closed.ok_or_else(|| io::Error::other("bug: a run without its first process"))
}

impl Handed {
    /// Puts the file, which is complete, in its place.
    pub(in crate::cli) fn put_in_place(self) -> io::Result<()> {
        let answer = with(|keeper| {
            let mut message = vec![PLACE];
            message.extend(self.0.to_le_bytes());
            keeper.to.write_all(&message)?;
            let mut answer = [0; 4];
            keeper.from.read_exact(&mut answer)?;
            Ok(i32::from_le_bytes(answer))
        })?;
        match answer {
            Some(0) => Ok(()),
            Some(error) => Err(io::Error::from_raw_os_error(error)),
            None => Err(io::Error::other("bug: a file without its first process")),
        }
    }
}

pub(super) fn run(
    out: &mut Output,
    work: impl FnOnce(&mut Output) -> anyhow::Result<Status>,
) -> anyhow::Result<Status> {
    let cannot = || "cannot start the process of the run";
    let (from_run, to_keeper) = io::pipe().with_context(cannot)?;
    let (from_keeper, to_run) = io::pipe().with_context(cannot)?;
    let ours = [
        from_run.as_raw_fd(),
        to_keeper.as_raw_fd(),
        from_keeper.as_raw_fd(),
        to_run.as_raw_fd(),
    ];
    let inherited = inherited(&ours).context("cannot list open descriptors")?;
    let first = std::process::id();
    // SAFETY: the only other thread is the main one, which waits for this one and holds no lock. C libraries hold their own
    // locks across a fork.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()).with_context(cannot),
        0 => {
            drop((from_run, to_run));
            die_with(first);
            let keeper = Keeper {
                to: to_keeper,
                from: from_keeper,
                files: 0,
                inherited,
            };
            // It is set here only.
            let _ = KEEPER.set(Mutex::new(keeper));
            let done = catch_unwind(AssertUnwindSafe(|| {
                let result = work(out);
                conclude(result, out)
            }));
            std::process::exit(done.map_or(PANIC, i32::from))
        }
        child => {
            drop((to_keeper, from_keeper));
            let mut list = List::default();
            // The end of the other process ends this.
            let served = list.serve(from_run, to_run);
            let status = wait(child).with_context(cannot);
            list.clean();
            end(status?, served)
        }
    }
}

/// The status of a run that has ended with this one.
fn end(status: i32, served: io::Result<()>) -> anyhow::Result<Status> {
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        complain(format_args!(
            "error: the process of the run was ended by signal {signal}"
        ));
        std::process::exit(PANIC);
    }
    match libc::WEXITSTATUS(status) {
        PANIC => std::process::exit(PANIC),
        code => {
            served.context("the process of the run said something wrong")?;
            Ok(Status::of(code as u8))
        }
    }
}

/// This process ends when the first one does.
fn die_with(first: u32) {
    // SAFETY: a number by value; the call has no other condition.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    if std::os::unix::process::parent_id() != first {
        std::process::exit(PANIC);
    }
}

/// Open descriptors other than the standard ones and `ours`.
fn inherited(ours: &[RawFd]) -> io::Result<Vec<RawFd>> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name();
        let number = number.to_str().and_then(|name| name.parse::<RawFd>().ok());
        all.extend(number.filter(|number| *number > 2 && !ours.contains(number)));
    }
    // Not that of the list itself, whose number another file may get.
    // SAFETY: asking for flags changes nothing, whatever the number.
    all.retain(|&number| unsafe { libc::fcntl(number, libc::F_GETFD) } != -1);
    Ok(all)
}

fn wait(child: libc::pid_t) -> io::Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: the status is a valid place.
        if unsafe { libc::waitpid(child, &raw mut status, 0) } == child {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The files on the list: where they are, and their places. `None` once they are there.
#[derive(Default)]
struct List {
    files: Vec<Option<(PathBuf, PathBuf)>>,
    closed: bool,
}

impl List {
    /// Does what the other process says until it has ended.
    fn serve(&mut self, mut from: PipeReader, mut to: PipeWriter) -> io::Result<()> {
        loop {
            let mut kind = [0];
            if from.read(&mut kind)? == 0 {
                return Ok(());
            }
            match kind[0] {
                FILE if !self.closed => {
                    let file = (path(&mut from)?, path(&mut from)?);
                    self.files.push(Some(file));
                }
                CLOSED => self.closed = true,
                PLACE => {
                    let done = self.place(number(&mut from)?);
                    let code = done.map_or_else(|e| e.raw_os_error().unwrap_or(libc::EIO), |()| 0);
                    to.write_all(&code.to_le_bytes())?;
                }
                _ => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
    }

    /// Puts a file in its place, once.
    fn place(&mut self, number: u32) -> io::Result<()> {
        let file = self.files.get_mut(number as usize);
        let (from, to) = file
            .and_then(Option::take)
            .ok_or(io::ErrorKind::InvalidInput)?;
        let placed = fs::rename(&from, to);
        if placed.is_err() {
            // The error is that of the rename.
            let _ = fs::remove_file(from);
        }
        placed
    }

    /// Removes the files that are not complete.
    fn clean(&mut self) {
        for (from, _) in self.files.drain(..).flatten() {
            // It may be gone.
            let _ = fs::remove_file(from);
        }
    }
}

fn number(from: &mut PipeReader) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn path(from: &mut PipeReader) -> io::Result<PathBuf> {
    let len = number(from)?;
    if len > MAX_NAME {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; len as usize];
    from.read_exact(&mut bytes)?;
    Ok(OsStr::from_bytes(&bytes).into())
}
