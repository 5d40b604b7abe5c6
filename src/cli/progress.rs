//! A progress bar on the terminal for runs longer than two seconds.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is shown before this time.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts workgroups, and shows progress if it takes long.
pub(super) struct Progress {
    done: Arc<AtomicU64>,
    end: Arc<AtomicBool>,
    drawer: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to count to `total`. Draws when standard error is a terminal.
    pub(super) fn new(total: u64) -> Progress {
        let done = Arc::new(AtomicU64::new(0));
        let end = Arc::new(AtomicBool::new(false));
        let drawer = std::io::stderr().is_terminal().then(|| {
            let (done, end) = (done.clone(), end.clone());
            std::thread::spawn(move || draw(&done, &end, total))
        });
        Progress { done, end, drawer }
    }

    /// The counter of workgroups.
    pub(super) fn counter(&self) -> &AtomicU64 {
        &self.done
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end.store(true, Relaxed);
        if let Some(drawer) = self.drawer.take() {
            drawer.thread().unpark();
            // A panicked drawer needs no cleanup.
            let _ = drawer.join();
        }
    }
}

fn draw(done: &AtomicU64, end: &AtomicBool, total: u64) {
    let begin = Instant::now();
    let mut bar = None;
    while !end.load(Relaxed) {
        std::thread::park_timeout(Duration::from_millis(100));
        if begin.elapsed() < PATIENCE || end.load(Relaxed) {
            continue;
        }
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let style = "{wide_bar} {pos}/{len} workgroups, {elapsed}, {eta} left";
            match ProgressStyle::with_template(style) {
                Ok(style) => bar.with_style(style).with_elapsed(begin.elapsed()),
                Err(_) => bar,
            }
        });
        bar.set_position(done.load(Relaxed));
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}
