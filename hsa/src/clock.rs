//! Time in ticks of a nanosecond, on the clock that ROCm's clients read themselves.

/// Ticks in a second.
pub(crate) const FREQUENCY: u64 = 1_000_000_000;

/// Ticks since some point in the past.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writing.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    debug_assert_eq!(failed, 0, "bug: there is no monotonic clock");
    time.tv_sec as u64 * FREQUENCY + time.tv_nsec as u64
}
