//! Properties of the host: its vector instructions and its memory latency. Analyses, passes and
//! legalization depend on nothing else of it.

use std::sync::OnceLock;
use std::time::Instant;

/// Lanes of a vector; AVX-512 has twice as many.
pub const LANES: usize = 8;

/// The vector instruction set to generate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Isa {
    /// AVX2 and FMA: 16 registers, masks in vectors.
    #[default]
    Avx2,
    /// AVX-512 (F, BW, DQ, VL): 32 registers, masks in mask registers.
    Avx512,
}

/// What the middle of the translator knows of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Host {
    /// The vector instructions of `backend::x64`; none for `backend::cranelift`, whose vectors have
    /// 128 bits on every host.
    pub isa: Option<Isa>,
    /// Is the memory latency high? Prefetches and the size of lane groups depend on it.
    pub far_memory: FarMemory,
}

/// Whether a load that misses the second-level cache takes long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FarMemory {
    /// It does not.
    #[default]
    No,
    /// It does.
    Yes,
    /// As [`is_memory_far`] measures at the first request.
    Measured,
}

impl Host {
    /// A host with these vector instructions and near memory.
    pub fn of(isa: Option<Isa>) -> Host {
        Host {
            isa,
            ..Host::default()
        }
    }

    /// Has it vectors of 256 bits and more, that is, does `backend::x64` write the code?
    pub(crate) fn is_wide(self) -> bool {
        self.isa.is_some()
    }

    /// Has it mask registers and 32 vector registers?
    pub(crate) fn has_masks(self) -> bool {
        self.isa == Some(Isa::Avx512)
    }

    /// Has it an instruction that gathers dwords?
    pub(crate) fn has_gathers(self) -> bool {
        self.is_wide()
    }

    /// Lanes of 32 bits in the host vector that is used where nothing suggests a longer one.
    pub(crate) fn lanes(self) -> usize {
        match self.isa {
            None => 4,
            Some(Isa::Avx2 | Isa::Avx512) => LANES,
        }
    }

    /// Is the memory latency high?
    pub(crate) fn is_memory_far(self) -> bool {
        match self.far_memory {
            FarMemory::No => false,
            FarMemory::Yes => true,
            FarMemory::Measured => is_memory_far(),
        }
    }
}

/// Does the environment pretend that the CPU lacks AVX-512?
pub(crate) fn is_avx512_ruled_out() -> bool {
    std::env::var_os("WAVELIFT_NO_AVX512").is_some()
}

/// Does the environment pretend that the CPU lacks AVX2?
pub(crate) fn is_avx2_ruled_out() -> bool {
    std::env::var_os("WAVELIFT_NO_AVX2").is_some()
}

/// Can this CPU run the generated code?
pub fn is_supported() -> bool {
    #[cfg(all(target_arch = "x86_64", unix))]
    {
        !is_avx2_ruled_out()
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }
    #[cfg(not(all(target_arch = "x86_64", unix)))]
    {
        false
    }
}

/// Can this CPU run code generated for AVX-512?
pub fn has_avx512() -> bool {
    #[cfg(all(target_arch = "x86_64", unix))]
    {
        is_supported()
            && !is_avx512_ruled_out()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
    }
    #[cfg(not(all(target_arch = "x86_64", unix)))]
    {
        false
    }
}

/// Names of this CPU's features that generated code may use.
pub fn cpu_features() -> Vec<&'static str> {
    #[cfg(all(target_arch = "x86_64", unix))]
    {
        macro_rules! detected {
            ($($name:tt)*) => {
                [$(($name, is_x86_feature_detected!($name))),*]
            };
        }
        let narrow = detected!("sse4.1" "sse4.2" "avx");
        let wide = detected!("avx2" "fma" "f16c" "bmi1" "bmi2" "lzcnt" "popcnt");
        let wider = detected!("avx512f" "avx512bw" "avx512dq" "avx512vl");
        let ruled_in = narrow
            .into_iter()
            .chain(wide.into_iter().filter(|_| !is_avx2_ruled_out()))
            .chain(wider.into_iter().filter(|_| has_avx512()));
        let found = ruled_in.filter(|(_, found)| *found);
        found.map(|(name, _)| name).collect()
    }
    #[cfg(not(all(target_arch = "x86_64", unix)))]
    {
        Vec::new()
    }
}

/// Is this CPU's memory latency high? If so, the loads of a wave of 64 lanes arrive late although
/// the following waves are in the out-of-order window. Measured once, in about four milliseconds.
pub fn is_memory_far() -> bool {
    static IS_FAR: OnceLock<bool> = OnceLock::new();
    *IS_FAR.get_or_init(|| load_latency() > FAR)
}

/// Latency in nanoseconds of a third-level cache hit from which on memory counts as far. It is 30
/// and more where the third-level cache is a mesh shared by all cores of a server, 15 and less
/// where a few cores share one.
const FAR: f64 = 22.0;

/// Cache lines of the measured memory: more than a second-level cache has, fewer than a third-level
/// one.
const LINES: usize = 1 << 17;

/// Words of 32 bits in a cache line.
const WORDS: usize = 16;

/// Loads that are timed at once, and the number of rounds.
const LOADS: usize = 4096;
const ROUNDS: usize = 8;

/// Latency in nanoseconds of a load that misses the second-level cache: the minimum over several
/// rounds of dependent loads.
fn load_latency() -> f64 {
    let mut memory = vec![0u32; LINES * WORDS];
    for line in 0..LINES {
        // One cycle through all lines (the factor is 1 modulo 4), in an order that no prefetcher
        // predicts.
        let next = (line * 40_501 + 12_345) % LINES;
        memory[line * WORDS] = (next * WORDS) as u32;
    }
    let mut at = 0;
    let rounds = (0..ROUNDS).map(|_| {
        let begin = Instant::now();
        for _ in 0..LOADS {
            at = memory[at] as usize;
        }
        std::hint::black_box(at);
        begin.elapsed().as_nanos() as f64 / LOADS as f64
    });
    rounds.fold(f64::INFINITY, f64::min)
}
