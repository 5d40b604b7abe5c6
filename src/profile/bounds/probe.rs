//! A short measurement of what one thread of the host can do.

#![expect(
    unsafe_code,
    reason = "calls functions for CPU features that were detected"
)]

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Bytes that are copied: more than most caches hold.
const COPIED: usize = 48 << 20;
/// Multiply-adds of each accumulator.
const ROUNDS: usize = 400_000;
/// Independent accumulators, enough to hide the latency of an operation.
const ACCUMULATORS: usize = 12;
/// The best of so many measurements counts.
const REPEATS: usize = 3;

/// What one thread has achieved.
#[derive(Clone, Copy, Debug)]
pub(in crate::profile) struct Probe {
    /// Bytes read and written per second, copying memory.
    pub(in crate::profile) bytes: f64,
    /// Multiply-adds of 32-bit floats per second, each counted once for every lane of a host vector.
    pub(in crate::profile) operations: f64,
}

impl Probe {
    /// Measured once for a process, within about a tenth of a second.
    pub(in crate::profile) fn measured() -> Probe {
        static PROBE: OnceLock<Probe> = OnceLock::new();
        *PROBE.get_or_init(|| Probe {
            bytes: copies(),
            operations: operations(),
        })
    }
}

fn best(mut work: impl FnMut()) -> f64 {
    let times = (0..REPEATS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    let least = times.min().unwrap_or(Duration::ZERO);
    least.as_secs_f64().max(1e-9)
}

fn copies() -> f64 {
    let from = vec![1u8; COPIED];
    // The first copy is to memory that the system has not provided yet.
    let mut to = vec![0u8; COPIED];
    let seconds = best(|| {
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
    });
    2.0 * COPIED as f64 / seconds
}

fn operations() -> f64 {
    #[cfg(all(target_arch = "x86_64", unix))]
    {
        let features = runtime::jit::cpu_features();
        if features.contains(&"avx512f") {
            // SAFETY: only features that the CPU has are named.
            let work = || unsafe { x64::wide512() };
            return (ROUNDS * ACCUMULATORS * 16) as f64 / best(work);
        }
        if features.contains(&"avx2") && features.contains(&"fma") {
            // SAFETY: only features that the CPU has are named.
            let work = || unsafe { x64::wide256() };
            return (ROUNDS * ACCUMULATORS * 8) as f64 / best(work);
        }
    }
    const LANES: usize = 4 * ACCUMULATORS;
    let seconds = best(|| {
        let mut sums = [1.0f32; LANES];
        let (factor, term) = (black_box(0.5f32), black_box(0.25f32));
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum = *sum * factor + term;
            }
        }
        black_box(sums);
    });
    (ROUNDS * LANES) as f64 / seconds
}

#[cfg(all(target_arch = "x86_64", unix))]
mod x64 {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};
    use std::hint::black_box;

    use super::{ACCUMULATORS, ROUNDS};

    macro_rules! chains {
        ($set:ident, $fma:ident) => {{
            let (factor, term) = ($set(black_box(0.5)), $set(black_box(0.25)));
            let mut sums = [$set(1.0); ACCUMULATORS];
            for _ in 0..ROUNDS {
                for sum in &mut sums {
                    *sum = $fma(*sum, factor, term);
                }
            }
            black_box(sums);
        }};
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn wide256() {
        chains!(_mm256_set1_ps, _mm256_fmadd_ps);
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn wide512() {
        chains!(_mm512_set1_ps, _mm512_fmadd_ps);
    }
}
