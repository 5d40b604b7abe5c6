//! Other orders of workgroups and waves than the ascending ones.

use frontend::WaveState;

use crate::engine::{Group, Session, Stop, WaveSets};
use crate::mix::mix;

/// An order that depends on a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shuffle {
    seed: u64,
    workgroups: u64,
    /// Has no common divisor with `workgroups`.
    step: u64,
}

fn common_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => common_divisor(b, a % b),
    }
}

impl Shuffle {
    /// For a dispatch with this number of workgroups.
    pub(super) fn new(seed: u64, workgroups: u64) -> Shuffle {
        let mut step = mix(seed) % workgroups.max(1);
        while common_divisor(step, workgroups) != 1 {
            step += 1;
        }
        Shuffle {
            seed,
            workgroups: workgroups.max(1),
            step,
        }
    }

    /// The workgroup that begins as the one with this number.
    pub(super) fn workgroup(&self, index: u64) -> u64 {
        let start = mix(!self.seed) % self.workgroups;
        let product = u128::from(index) * u128::from(self.step) + u128::from(start);
        (product % u128::from(self.workgroups)) as u64
    }

    /// Runs the ready waves once, as [`Session::run`] does, in another order.
    pub(super) fn run(
        &self,
        session: &mut dyn Session,
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        group: &mut Group<'_>,
        fuel: u64,
    ) -> Stop {
        // A seed has one meaning, wherever the code is loaded.
        let place = waves.first().map_or(0, |wave| group.code.local(wave.pc));
        let mut choice = self.seed ^ place;
        while sets.ready != 0 {
            choice = mix(choice);
            let skipped = choice % u64::from(sets.ready.count_ones());
            let later = (0..skipped).fold(sets.ready, |ready, _| ready & (ready - 1));
            let one = later & later.wrapping_neg();
            sets.ready &= !one;
            let mut alone = WaveSets {
                ready: one,
                ..*sets
            };
            let stop = session.run(waves, &mut alone, group, fuel);
            sets.waiting = alone.waiting;
            sets.ready |= alone.ready;
            if stop != Stop::All {
                return stop;
            }
        }
        Stop::All
    }
}

#[cfg(test)]
mod tests {
    use super::Shuffle;

    #[test]
    fn each_workgroup_begins_once() {
        for workgroups in [1, 2, 6, 64, 97, 1000] {
            for seed in 0..20 {
                let shuffle = Shuffle::new(seed, workgroups);
                let mut order: Vec<u64> = (0..workgroups).map(|n| shuffle.workgroup(n)).collect();
                order.sort_unstable();
                assert!(order.into_iter().eq(0..workgroups), "{seed} {workgroups}");
            }
        }
        let [a, b] = [1, 2].map(|seed| Shuffle::new(seed, 1000));
        assert!((0..1000).any(|n| a.workgroup(n) != b.workgroup(n)));
    }
}
