//! A progress bar on the terminal for runs longer than two seconds.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Nothing is shown before this time.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts workgroups or other units, and shows progress if it takes long.
pub(super) struct Progress {
    done: Arc<AtomicU64>,
    end: Arc<AtomicBool>,
    drawer: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to count to `total` units, which have this name in the plural. Draws when standard error is a terminal.
    pub(super) fn new(total: u64, unit: &'static str) -> Progress {
        let done = Arc::new(AtomicU64::new(0));
        let end = Arc::new(AtomicBool::new(false));
        let drawer = std::io::stderr().is_terminal().then(|| {
            let (done, end) = (done.clone(), end.clone());
            // Without it nothing is drawn.
            runtime::stack::spawn("progress", move || draw(&done, &end, total, unit)).ok()
        });
        let drawer = drawer.flatten();
        Progress { done, end, drawer }
    }

    /// The counter of units.
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

fn draw(done: &AtomicU64, end: &AtomicBool, total: u64, unit: &str) {
    let begin = Instant::now();
    let mut bar = None;
    while !end.load(Relaxed) {
        std::thread::park_timeout(Duration::from_millis(100));
        if begin.elapsed() < PATIENCE || end.load(Relaxed) {
            continue;
        }
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let style = ["{wide_bar} {pos}/{len} ", unit, ", {elapsed}, {left} left"].concat();
            let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let left = left(state.elapsed(), state.pos(), state.len().unwrap_or(0));
                // Errors of the terminal are ignored.
                let _ = match left {
                    Some(left) => write!(out, "{}", HumanDuration(left)),
                    None => out.write_str("unknown time"),
                };
            };
            match ProgressStyle::with_template(&style) {
                Ok(style) => bar
                    .with_style(style.with_key("left", left))
                    .with_elapsed(begin.elapsed()),
                Err(_) => bar,
            }
        });
        bar.set_position(done.load(Relaxed));
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

/// Time left when `done` of `total` units took `elapsed` since the first began; `None` while nothing is done.
fn left(elapsed: Duration, done: u64, total: u64) -> Option<Duration> {
    let rest = total.saturating_sub(done) as f64;
    let seconds = elapsed.as_secs_f64() * rest / done as f64;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_in_proportion_to_the_rest() {
        let seconds = Duration::from_secs;
        assert_eq!(left(seconds(10), 25, 100), Some(seconds(30)));
        assert_eq!(left(seconds(10), 100, 100), Some(seconds(0)));
        assert_eq!(left(seconds(10), 0, 100), None);
        assert_eq!(left(seconds(10), 0, 0), None);
    }
}
