//! Host stacks and threads. A thread that calls this crate may have a small stack (`ulimit -s`, threads
//! of an embedder), so work that needs much continues on a larger one, on the same thread. Threads that
//! wavelift starts take none of the process's signals.

use std::io;
use std::thread::{self, JoinHandle};

/// Stack of each thread that wavelift starts, enough for a translation. It is address space, which
/// is committed as far as it is used.
pub const THREAD: usize = 32 << 20;

/// What a dispatch needs without translation: the interpreter, translated code and its functions.
const DISPATCH: usize = 256 << 10;

/// What a translation needs. Its recursion is as deep as the expressions of a block, whose number of
/// instructions is limited; the deepest that was found took 2.2 MiB in a debug build.
#[cfg(feature = "jit")]
const TRANSLATION: usize = 16 << 20;

/// A builder of a thread with this name and a stack of [`THREAD`] bytes.
pub fn thread(name: impl Into<String>) -> thread::Builder {
    thread::Builder::new().name(name.into()).stack_size(THREAD)
}

/// Starts a thread with this name and a stack of [`THREAD`] bytes that blocks signals: a handler of
/// the program, or of the embedder, runs on a thread that it knows. Not blocked are the signals that a
/// thread causes itself, such as `SIGSEGV`, and `SIGPROF`, by which profilers look at each thread.
///
/// # Errors
///
/// As of [`thread::Builder::spawn`].
pub fn spawn<R: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> R + Send + 'static,
) -> io::Result<JoinHandle<R>> {
    let builder = thread(name);
    let _blocked = Blocked::new();
    builder.spawn(work)
}

/// While it lives, the calling thread blocks signals, and the threads that it starts do so from their beginning.
#[cfg(all(unix, not(miri)))]
struct Blocked(libc::sigset_t);

#[cfg(all(unix, not(miri)))]
#[expect(unsafe_code, reason = "calls of the C library")]
impl Blocked {
    /// Signals that stay as they are.
    const SPARED: [i32; 8] = [
        libc::SIGABRT,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGPROF,
        libc::SIGSEGV,
        libc::SIGSYS,
        libc::SIGTRAP,
    ];

    fn new() -> Blocked {
        let mut before = std::mem::MaybeUninit::zeroed();
        let mut all = std::mem::MaybeUninit::zeroed();
        // SAFETY: the sets are this function's. The calls fail only for numbers that are no signals;
        // without success the mask in `before` is empty.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            for signal in Self::SPARED {
                libc::sigdelset(all.as_mut_ptr(), signal);
            }
            libc::sigemptyset(before.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
            Blocked(before.assume_init())
        }
    }
}

#[cfg(all(unix, not(miri)))]
#[expect(unsafe_code, reason = "a call of the C library")]
impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set is the thread's own of before.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut())
        };
    }
}

/// Other hosts, and Miri, have no masks of signals.
#[cfg(any(miri, not(unix)))]
struct Blocked;

#[cfg(any(miri, not(unix)))]
impl Blocked {
    fn new() -> Blocked {
        Blocked
    }
}

/// Calls `work` with enough stack for a dispatch.
pub(crate) fn for_dispatch<R>(work: impl FnOnce() -> R) -> R {
    // Miri has stacks without an end, and no assembly to switch them.
    match cfg!(miri) {
        true => work(),
        false => stacker::maybe_grow(DISPATCH, THREAD, work),
    }
}

/// Calls `work` with enough stack for a translation.
#[cfg(feature = "jit")]
pub(crate) fn for_translation<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(TRANSLATION, THREAD, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes at least `bytes` bytes of stack; how deep it went.
    fn take(bytes: usize) -> usize {
        let start = std::hint::black_box(0u8);
        deeper((&raw const start).addr(), bytes)
    }

    fn deeper(start: usize, bytes: usize) -> usize {
        let part = std::hint::black_box([0u8; 512]);
        match start.abs_diff((&raw const part).addr()) {
            taken if taken >= bytes => taken,
            _ => deeper(start, bytes).max(usize::from(std::hint::black_box(part)[0])),
        }
    }

    /// The result of work on a thread with a small stack.
    fn on_a_small_stack<R: Send + 'static>(
        work: impl FnOnce() -> R + Send + 'static,
    ) -> thread::Result<R> {
        let thread = thread::Builder::new().stack_size(64 << 10);
        thread.spawn(work).unwrap().join()
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri switches no stacks")]
    fn work_has_the_stack_that_it_needs() {
        const SOME: usize = DISPATCH * 3 / 4;
        let once = on_a_small_stack(|| for_dispatch(|| take(SOME)));
        assert!(once.unwrap() >= SOME);
        // Twice in a row, and one inside the other.
        let both = || for_dispatch(|| take(SOME).min(for_dispatch(|| take(SOME))));
        let both = on_a_small_stack(move || both().min(both()));
        assert!(both.unwrap() >= SOME);
        let own = spawn("own", || take(THREAD / 2)).unwrap().join();
        assert!(own.unwrap() >= THREAD / 2);
    }

    /// The signals that a thread blocks, as Linux prints them.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn blocked() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        u64::from_str_radix(mask.unwrap().trim(), 16).unwrap()
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn threads_take_no_signals_of_the_process() {
        let before = blocked();
        let own = spawn("own", blocked).unwrap().join().unwrap();
        assert_eq!(blocked(), before);
        let bit = |signal: i32| 1u64 << (signal - 1);
        for signal in [
            libc::SIGALRM,
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGUSR1,
            libc::SIGCHLD,
        ] {
            assert_ne!(own & bit(signal), 0, "{signal}");
        }
        for signal in Blocked::SPARED {
            assert_eq!(own & bit(signal), before & bit(signal), "{signal}");
        }
    }

    #[test]
    #[cfg(feature = "jit")]
    fn translations_have_more() {
        const MOST: usize = TRANSLATION * 3 / 4;
        let work = || for_dispatch(|| for_translation(|| take(MOST)));
        assert!(on_a_small_stack(work).unwrap() >= MOST);
        let work = || for_translation(|| take(MOST));
        let usual = thread::Builder::new().stack_size(2 << 20);
        let taken = usual.spawn(work).unwrap().join();
        assert!(taken.unwrap() >= MOST);
    }

    #[test]
    fn panics_reach_the_caller() {
        let work = || -> u32 { for_dispatch(|| std::panic::resume_unwind(Box::new("bug"))) };
        let panic = on_a_small_stack(work).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"bug"));
    }
}
