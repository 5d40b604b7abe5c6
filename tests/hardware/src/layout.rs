//! The image: registers and memory of a wave as dwords, as the kernel loads and stores them.
//!
//! | dwords | what |
//! |---|---|
//! | 0 to 89 | s0 to s89 |
//! | 96 to 107 | [`word`] |
//! | 128 on | 256 VGPRs by lane; behind them as many accumulation registers, if the target has any |
//! | behind | LDS, the lanes' windows, the wave's buffer |

use frontend::{Gfx, LANES};
use harness::case::state::{BUFFER, Image, WINDOWS};

/// SGPRs of the image; those from here to s101 are the kernel's.
pub const SGPRS: usize = 90;
/// Dwords before the VGPRs.
pub const SCALARS: usize = 128;
/// VGPRs, and accumulation registers.
pub const VECTORS: usize = 256;
/// VGPRs of the kernel: they are in the image, but are neither loaded nor stored.
pub const OWN: std::ops::Range<usize> = 240..244;

/// Dwords of the image that are not SGPRs.
pub mod word {
    /// VCC, two dwords.
    pub const VCC: usize = 96;
    /// EXEC, two dwords.
    pub const EXEC: usize = 98;
    /// M0.
    pub const M0: usize = 100;
    /// SCC.
    pub const SCC: usize = 101;
    /// MODE.
    pub const MODE: usize = 102;
    /// Where the kernel goes on: a distance.
    pub const PROLOGUE: usize = 103;
    /// Where the case's instructions are: a distance.
    pub const CASE: usize = 104;
    /// Where the kernel goes on behind them: a distance.
    pub const EPILOGUE: usize = 105;
    /// 0 before, 1 when all has been stored.
    pub const DONE: usize = 106;
    /// Where the case's jump arrived: 0 is no jump, other numbers count the words before and behind
    /// the instructions from 1 on.
    pub const LANDING: usize = 107;
}

/// Where the parts of a target's image are, in dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Accumulation registers.
    pub agprs: usize,
    /// How many of them.
    pub agpr_count: usize,
    /// LDS.
    pub lds: usize,
    /// The lanes' windows.
    pub windows: usize,
    /// The wave's buffer.
    pub buffer: usize,
    /// The whole.
    pub size: usize,
}

impl Layout {
    /// Of a target.
    pub fn new(gfx: Gfx) -> Layout {
        let agprs = vector(VECTORS);
        let agpr_count = if gfx.has_agprs() { VECTORS } else { 0 };
        let lds = agprs + agpr_count * LANES;
        let windows = lds + WINDOWS / 4;
        let buffer = windows + WINDOWS / 4;
        Layout {
            agprs,
            agpr_count,
            lds,
            windows,
            buffer,
            size: buffer + BUFFER / 4,
        }
    }

    /// Vector register `n` of a wave's state, if it is in the image.
    pub fn register(&self, n: usize) -> Option<usize> {
        match n.checked_sub(VECTORS) {
            None => Some(vector(n)),
            Some(n) if n < self.agpr_count => Some(self.agprs + n * LANES),
            Some(_) => None,
        }
    }

    /// The image of a state. Memory that the state does not have is taken from `pattern`.
    pub fn words(&self, state: &Image, pattern: &Image) -> Vec<u32> {
        let wave = &state.wave;
        let mut words = wave.sgpr[..SGPRS].to_vec();
        words.resize(SCALARS, 0);
        words[word::VCC..][..2].copy_from_slice(&wave.sgpr[106..108]);
        words[word::EXEC..][..2].copy_from_slice(&wave.sgpr[126..128]);
        words[word::M0] = wave.sgpr[124];
        words[word::SCC] = wave.scc;
        words[word::MODE] = wave.mode;
        for n in 0..VECTORS + self.agpr_count {
            words.extend(wave.vector(n));
        }
        for (bytes, instead) in [
            (&state.lds, &pattern.lds),
            (&state.windows, &pattern.windows),
            (&state.buffer, &pattern.buffer),
        ] {
            let bytes = if bytes.is_empty() { instead } else { bytes };
            let dwords = bytes.chunks_exact(4);
            words.extend(dwords.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        }
        words
    }

    /// Puts an image's words over a state.
    pub fn put(&self, words: &[u32], state: &mut Image) {
        let wave = &mut state.wave;
        wave.sgpr[..SGPRS].copy_from_slice(&words[..SGPRS]);
        wave.sgpr[106..108].copy_from_slice(&words[word::VCC..][..2]);
        wave.sgpr[126..128].copy_from_slice(&words[word::EXEC..][..2]);
        wave.sgpr[124] = words[word::M0];
        wave.scc = words[word::SCC];
        wave.mode = words[word::MODE];
        for n in 0..VECTORS + self.agpr_count {
            let at = self.register(n).expect("the image has it");
            wave.vector_mut(n).copy_from_slice(&words[at..][..LANES]);
        }
        for (bytes, at) in [
            (&mut state.lds, self.lds),
            (&mut state.windows, self.windows),
            (&mut state.buffer, self.buffer),
        ] {
            for (to, word) in bytes.chunks_exact_mut(4).zip(&words[at..]) {
                to.copy_from_slice(&word.to_le_bytes());
            }
        }
    }

    /// What a dword of the image is.
    pub fn name(&self, at: usize) -> String {
        let lane = |first: usize| ((at - first) / LANES, (at - first) % LANES);
        match at {
            _ if at < SGPRS => format!("s{at}"),
            word::VCC => "vcc_lo".to_owned(),
            97 => "vcc_hi".to_owned(),
            word::EXEC => "exec_lo".to_owned(),
            99 => "exec_hi".to_owned(),
            word::M0 => "m0".to_owned(),
            word::SCC => "scc".to_owned(),
            word::MODE => "mode".to_owned(),
            word::LANDING => "landing".to_owned(),
            _ if at < SCALARS => format!("word {at} of the kernel"),
            _ if at < self.agprs => {
                let (n, lane) = lane(SCALARS);
                format!("v{n} lane {lane}")
            }
            _ if at < self.lds => {
                let (n, lane) = lane(self.agprs);
                format!("a{n} lane {lane}")
            }
            _ if at < self.windows => format!("lds[{:x}]", (at - self.lds) * 4),
            _ if at < self.buffer => {
                let (n, dword) = lane(self.windows);
                format!("mem[{:x}] of lane {n}", dword * 4)
            }
            _ => format!("buf[{:x}]", (at - self.buffer) * 4),
        }
    }
}

/// Where a VGPR is.
pub const fn vector(n: usize) -> usize {
    SCALARS + n * LANES
}
