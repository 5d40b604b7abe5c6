//! Contents of registers at one time.

use frontend::registers::{END, Reg, SCC, VGPR};
use frontend::{LANES, WaveState};

use crate::mix::mix;

/// What a register held, or will hold.
#[derive(Clone)]
pub(super) enum Kept {
    Scalar {
        register: Reg,
        value: u32,
    },
    Vector {
        register: Reg,
        /// The lanes and bits that are meant.
        lanes: u64,
        bits: u32,
        values: Box<[u32; LANES]>,
    },
}

impl Kept {
    /// A register's contents now; `None` of registers that waves do not have, or without lanes.
    pub(super) fn of(wave: &WaveState, register: Reg, lanes: u64, bits: u32) -> Option<Kept> {
        match register {
            0..SCC => Some(Kept::Scalar {
                register,
                value: wave.sgpr[usize::from(register)],
            }),
            VGPR..END if lanes != 0 => Some(Kept::Vector {
                register,
                lanes,
                bits,
                values: Box::new(*wave.vector(usize::from(register - VGPR))),
            }),
            _ => None,
        }
    }

    pub(super) fn register(&self) -> Reg {
        match self {
            Kept::Scalar { register, .. } | Kept::Vector { register, .. } => *register,
        }
    }

    /// The register gets these contents.
    pub(super) fn put(&self, wave: &mut WaveState) {
        self.set(wave, |value, _| value);
    }

    /// The register gets poison in place of these contents.
    pub(super) fn poison(&self, wave: &mut WaveState, seed: u64) {
        let seed = mix(seed ^ u64::from(self.register()) << 32);
        self.set(wave, |_, lane| mix(seed ^ lane as u64) as u32);
    }

    fn set(&self, wave: &mut WaveState, word: impl Fn(u32, usize) -> u32) {
        match self {
            Kept::Scalar { register, value } => {
                wave.sgpr[usize::from(*register)] = word(*value, 0);
            }
            Kept::Vector {
                register,
                lanes,
                bits,
                values,
            } => {
                let to = wave.vector_mut(usize::from(register - VGPR));
                for (lane, (to, &value)) in to.iter_mut().zip(&**values).enumerate() {
                    if lanes >> lane & 1 != 0 {
                        *to = *to & !bits | word(value, lane) & bits;
                    }
                }
            }
        }
    }

    /// Has the register these contents?
    pub(super) fn holds(&self, wave: &WaveState) -> bool {
        match self {
            Kept::Scalar { register, value } => wave.sgpr[usize::from(*register)] == *value,
            Kept::Vector {
                register,
                lanes,
                bits,
                values,
            } => {
                let now = wave.vector(usize::from(register - VGPR));
                let mut pairs = now.iter().zip(&**values).enumerate();
                pairs.all(|(lane, (a, b))| lanes >> lane & 1 == 0 || (a ^ b) & bits == 0)
            }
        }
    }
}
