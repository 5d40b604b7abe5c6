//! Host stacks. A thread that calls this crate may have a small one (`ulimit -s`, threads of an
//! embedder), so work that needs much continues on a larger one, on the same thread.

use std::thread;

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

/// Calls `work` with enough stack for a dispatch.
pub(crate) fn for_dispatch<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(DISPATCH, THREAD, work)
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
    fn work_has_the_stack_that_it_needs() {
        const SOME: usize = DISPATCH * 3 / 4;
        let once = on_a_small_stack(|| for_dispatch(|| take(SOME)));
        assert!(once.unwrap() >= SOME);
        // Twice in a row, and one inside the other.
        let both = || for_dispatch(|| take(SOME).min(for_dispatch(|| take(SOME))));
        let both = on_a_small_stack(move || both().min(both()));
        assert!(both.unwrap() >= SOME);
        let own = thread("own").spawn(|| take(THREAD / 2)).unwrap().join();
        assert!(own.unwrap() >= THREAD / 2);
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
