//! Distinguishes cheaply a wave that may be polling memory from one that computes, so that only the
//! former yields its processor.

use std::hash::{DefaultHasher, Hash, Hasher};

use frontend::WaveState;

/// Fuel quanta after which a wave that seems to compute yields its processor, too: a loop may count
/// its polls.
const MOST: u32 = 64;

/// State of the wave that burned its fuel last.
#[derive(Default)]
pub(super) struct Idle {
    /// A digest of its registers.
    digest: u64,
    /// Quanta since the last yield.
    quanta: u32,
}

impl Idle {
    /// `wave` has burned its fuel. Should it yield its processor? Yes if the registers are the same
    /// as when a wave last burned its fuel.
    pub(super) fn yields(&mut self, wave: &WaveState) -> bool {
        let digest = digest(wave);
        self.quanta += 1;
        let yields = self.digest == digest || self.quanta == MOST;
        self.digest = digest;
        if yields {
            self.quanta = 0;
        }
        yields
    }
}

/// Digest of the scalar registers and one active lane's vector registers.
fn digest(wave: &WaveState) -> u64 {
    let lane = wave.exec().trailing_zeros() as usize % frontend::state::LANES;
    let vgprs = wave.vgprs_touched.min(256) as usize;
    let mut hasher = DefaultHasher::new();
    (wave.pc, wave.scc, &wave.sgpr).hash(&mut hasher);
    for vgpr in &wave.vgpr[..vgprs] {
        hasher.write_u32(vgpr[lane]);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_with_the_same_registers_yields_at_once() {
        let wave = WaveState::new_boxed();
        let mut idle = Idle::default();
        assert!(!idle.yields(&wave));
        assert!((0..10).all(|_| idle.yields(&wave)));
    }

    #[test]
    fn a_wave_whose_counter_moves_yields_seldom() {
        for vector in [false, true] {
            let mut wave = WaveState::new_boxed();
            wave.set_exec(1 << 5);
            wave.vgprs_touched = 4;
            let mut idle = Idle::default();
            let yielded = (0..10 * MOST).filter(|&n| {
                match vector {
                    false => wave.sgpr[7] = n,
                    true => wave.vgpr[3][5] = n,
                }
                idle.yields(&wave)
            });
            assert_eq!(yielded.count(), 10, "vector {vector}");
        }
    }
}
