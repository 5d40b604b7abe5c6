//! How many workgroups of a kernel run at the same time on the GPU that programs see: as many must
//! make progress together here, too.

use frontend::Gfx;

use crate::object::KernelDescriptor;

/// Compute units that programs see.
pub const COMPUTE_UNITS: u32 = 60;

/// Waves of a compute unit that programs see.
pub const WAVES_PER_CU: u32 = 40;

/// SIMD units of a compute unit.
const SIMDS: u32 = 4;

/// LDS of a compute unit.
const LDS_PER_CU: u32 = 64 * 1024;

/// SGPRs of a SIMD unit. (LLVM's `getTotalNumSGPRs`)
fn sgprs(gfx: Gfx) -> u32 {
    if gfx.is_gfx8_up() { 800 } else { 512 }
}

/// VGPRs of a lane on a SIMD unit. (LLVM's `getTotalNumVGPRs`)
fn vgprs(gfx: Gfx) -> u32 {
    if gfx.has_unified_vgprs() { 512 } else { 256 }
}

/// Workgroups with this number of waves and this LDS that run at the same time: on each compute unit
/// as many as its waves, registers and LDS allow, and at least one.
pub fn workgroups(gfx: Gfx, descriptor: &KernelDescriptor, waves: u32, lds_bytes: u32) -> u64 {
    let by_vgprs = vgprs(gfx) / descriptor.vgpr_count(gfx).max(1);
    let by_sgprs = sgprs(gfx) / descriptor.sgpr_count(gfx).max(1);
    let of_simd = by_vgprs.min(by_sgprs).min(WAVES_PER_CU / SIMDS);
    let by_waves = SIMDS * of_simd / waves.max(1);
    let by_lds = match gfx.lds_allocated(lds_bytes) {
        0 => u32::MAX,
        bytes => LDS_PER_CU / bytes,
    };
    u64::from(by_waves.min(by_lds).max(1)) * u64::from(COMPUTE_UNITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The descriptor of a kernel with these granules of registers.
    fn with(vgprs: u32, sgprs: u32) -> KernelDescriptor {
        KernelDescriptor {
            rsrc1: vgprs | sgprs << 6,
            ..KernelDescriptor::default()
        }
    }

    #[test]
    fn each_resource_limits() {
        let of_unit = |gfx, descriptor: KernelDescriptor, waves, lds| {
            workgroups(gfx, &descriptor, waves, lds) / u64::from(COMPUTE_UNITS)
        };
        let gfx = Gfx::Gfx906;
        // Few registers: 40 waves.
        assert_eq!(of_unit(gfx, with(0, 0), 1, 0), 40);
        assert_eq!(of_unit(gfx, with(0, 0), 4, 0), 10);
        assert_eq!(of_unit(gfx, with(0, 0), 16, 0), 2);
        // 64 VGPRs: 4 waves on each SIMD unit.
        assert_eq!(of_unit(gfx, with(15, 0), 4, 0), 4);
        // 112 SGPRs: 7 waves on each.
        assert_eq!(of_unit(gfx, with(0, 12), 1, 0), 28);
        // LDS, in granules of 512 bytes.
        assert_eq!(of_unit(gfx, with(0, 0), 1, 16 * 1024 + 1), 3);
        assert_eq!(of_unit(gfx, with(0, 0), 1, 64 * 1024), 1);
        // 1024 work-items with 256 VGPRs do not fit, and run all the same.
        assert_eq!(of_unit(gfx, with(63, 0), 16, 0), 1);
        // 512 VGPRs, in granules of 8.
        assert_eq!(of_unit(Gfx::Gfx90a, with(15, 0), 4, 0), 4);
    }
}
