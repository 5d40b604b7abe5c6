//! What the translator knows of the host: its vector instructions and its memory. Analyses and passes see no more of it.

/// Lanes of a vector; AVX-512 has vectors of twice as many.
pub const LANES: usize = 8;

/// Which vector instructions are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Isa {
    /// AVX2 and FMA: 16 registers, masks in vectors.
    #[default]
    Avx2,
    /// AVX-512 (F, BW, DQ, VL): 32 registers, masks in registers of their own.
    Avx512,
}

/// Does the environment pretend that the CPU lacks AVX-512?
pub(crate) fn is_avx512_ruled_out() -> bool {
    std::env::var_os("WAVELIFT_NO_AVX512").is_some()
}

/// Does the environment pretend that the CPU lacks AVX2?
pub(crate) fn is_avx2_ruled_out() -> bool {
    std::env::var_os("WAVELIFT_NO_AVX2").is_some()
}

/// Can this CPU run what comes out?
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

/// Can this CPU run what comes out for AVX-512?
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

/// Does this CPU wait long for memory? Those of Intel's servers do, whose third cache is on all of the chip: what a wave of
/// 64 lanes streams is not there in time although the next ones are in the processor's window.
pub fn is_memory_far() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        // The second register is between the third and the fourth.
        let vendor = std::arch::x86_64::__cpuid(0);
        let words = [vendor.ebx, vendor.edx, vendor.ecx];
        words.map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}
