//! The kernel descriptor: 64 bytes that define a kernel's initial state. The fields are kept raw;
//! the methods decode them. Fields whose meaning depends on the processor take it as an argument.

use frontend::Gfx;
use frontend::state::mode;

/// Size and alignment of a kernel descriptor.
pub const DESCRIPTOR_SIZE: u64 = 64;

/// A kernel descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// Static LDS in bytes.
    pub group_segment_fixed_size: u32,
    /// Scratch per work-item in bytes.
    pub private_segment_fixed_size: u32,
    /// Size of the kernel arguments in bytes; 0 if the compiler did not state it.
    pub kernarg_size: u32,
    /// The entry point relative to the descriptor's own address.
    pub entry_byte_offset: i64,
    /// `compute_pgm_rsrc3`, in use from gfx90a on.
    pub rsrc3: u32,
    /// `compute_pgm_rsrc1`.
    pub rsrc1: u32,
    /// `compute_pgm_rsrc2`.
    pub rsrc2: u32,
    /// `kernel_code_properties`.
    pub properties: u16,
    /// `kernarg_preload`, in use from gfx90a on.
    pub preload: u16,
}

fn bits(word: u32, low: u32, count: u32) -> u32 {
    (word >> low) & ((1 << count) - 1)
}

fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 != 0
}

/// A flag of the descriptor: its position and accessor.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $field:ident [$at:literal];)*) => {
        $($(#[$doc])* pub fn $name(&self) -> bool { bit(u32::from(self.$field), $at) })*
    };
}

impl KernelDescriptor {
    /// Decodes the 64 bytes; the error lists reserved bytes that are not zero.
    pub fn parse(bytes: &[u8; 64]) -> Result<KernelDescriptor, String> {
        for (from, to) in [(12, 16), (24, 44), (60, 64)] {
            if bytes[from..to].iter().any(|&byte| byte != 0) {
                return Err(format!("reserved bytes {from} to {} are not zero", to - 1));
            }
        }
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        Ok(KernelDescriptor {
            group_segment_fixed_size: word(0),
            private_segment_fixed_size: word(4),
            kernarg_size: word(8),
            entry_byte_offset: (u64::from(word(16)) | u64::from(word(20)) << 32) as i64,
            rsrc3: word(44),
            rsrc1: word(48),
            rsrc2: word(52),
            properties: half(56),
            preload: half(58),
        })
    }

    /// The entry point of a descriptor at `address`; `None` when the sum leaves the address space.
    pub fn entry(&self, address: u64) -> Option<u64> {
        address.checked_add_signed(self.entry_byte_offset)
    }

    // compute_pgm_rsrc1

    /// Allocated VGPRs, on gfx90a together with the accumulation registers.
    pub fn vgpr_count(&self, gfx: Gfx) -> u32 {
        (bits(self.rsrc1, 0, 6) + 1) * gfx.vgpr_granule()
    }

    /// Allocated SGPRs, VCC and the like included.
    pub fn sgpr_count(&self, gfx: Gfx) -> u32 {
        // The field counts 8, whatever the granule.
        let granule = gfx.sgpr_granule();
        (bits(self.rsrc1, 6, 4) * 8 / granule + 1) * granule
    }

    /// The field `granulated_workitem_vgpr_count` as it stands.
    pub fn granulated_vgprs(&self) -> u32 {
        bits(self.rsrc1, 0, 6)
    }

    /// The field `granulated_wavefront_sgpr_count` as it stands.
    pub fn granulated_sgprs(&self) -> u32 {
        bits(self.rsrc1, 6, 4)
    }

    /// Wave priority; the hardware's own business.
    pub fn priority(&self) -> u32 {
        bits(self.rsrc1, 10, 2)
    }

    /// Rounding of f32: 0 nearest even, 1 up, 2 down, 3 towards zero.
    pub fn round_mode_32(&self) -> u32 {
        bits(self.rsrc1, 12, 2)
    }

    /// Rounding of f16 and f64.
    pub fn round_mode_16_64(&self) -> u32 {
        bits(self.rsrc1, 14, 2)
    }

    /// Denormals of f32: 0 flush sources and results, 1 flush results, 2 flush sources, 3 keep.
    pub fn denorm_mode_32(&self) -> u32 {
        bits(self.rsrc1, 16, 2)
    }

    /// Denormals of f16 and f64.
    pub fn denorm_mode_16_64(&self) -> u32 {
        bits(self.rsrc1, 18, 2)
    }

    /// Bits 7 to 0 of the MODE register at the start: rounding and denormals.
    pub fn float_mode(&self) -> u32 {
        bits(self.rsrc1, 12, 8)
    }

    /// The MODE register at the start.
    pub fn mode(&self, gfx: Gfx) -> u32 {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        self.float_mode()
            | flag(self.dx10_clamp(), mode::DX10_CLAMP)
            | flag(self.ieee_mode(), mode::IEEE)
            | flag(
                gfx.has_fp16_overflow() && self.fp16_overflow(),
                mode::FP16_OVFL,
            )
    }

    flags! {
        /// Privileged wave; must be clear.
        privileged = rsrc1[20];
        /// Clamping turns NaN into 0.
        dx10_clamp = rsrc1[21];
        /// Debug mode; must be clear.
        debug_mode = rsrc1[22];
        /// IEEE mode: signalling NaNs are quieted by minimum and maximum.
        ieee_mode = rsrc1[23];
        /// One workgroup per compute unit; must be clear.
        bulky = rsrc1[24];
        /// For the debugger; must be clear.
        cdbg_user = rsrc1[25];
        /// f16 overflow gives the largest number instead of infinity (gfx9).
        fp16_overflow = rsrc1[26];

        /// The kernel uses scratch: the wave offset is set up.
        enable_private_segment = rsrc2[0];
        /// A trap handler is present; set by the driver.
        enable_trap_handler = rsrc2[6];
        /// The workgroup's x is an SGPR.
        enable_workgroup_id_x = rsrc2[7];
        /// The workgroup's y is an SGPR.
        enable_workgroup_id_y = rsrc2[8];
        /// The workgroup's z is an SGPR.
        enable_workgroup_id_z = rsrc2[9];
        /// Number of waves and the like are an SGPR.
        enable_workgroup_info = rsrc2[10];
        /// Trap on reading watched memory.
        exception_address_watch = rsrc2[13];
        /// Trap on memory violation.
        exception_memory = rsrc2[14];
        /// Trap on an invalid float operation.
        exception_fp_invalid = rsrc2[24];
        /// Trap on a denormal source.
        exception_fp_denorm_source = rsrc2[25];
        /// Trap on float division by zero.
        exception_fp_div_zero = rsrc2[26];
        /// Trap on float overflow.
        exception_fp_overflow = rsrc2[27];
        /// Trap on float underflow.
        exception_fp_underflow = rsrc2[28];
        /// Trap on an inexact float result.
        exception_fp_inexact = rsrc2[29];
        /// Trap on integer division by zero.
        exception_int_div_zero = rsrc2[30];

        /// Workgroups split over compute units (gfx90a).
        tg_split = rsrc3[16];

        /// User SGPRs: the scratch buffer resource (4).
        private_segment_buffer = properties[0];
        /// User SGPRs: address of the dispatch packet (2).
        dispatch_ptr = properties[1];
        /// User SGPRs: address of the queue (2).
        queue_ptr = properties[2];
        /// User SGPRs: address of the kernel arguments (2).
        kernarg_segment_ptr = properties[3];
        /// User SGPRs: number of the dispatch (2).
        dispatch_id = properties[4];
        /// User SGPRs: initial value of the flat scratch registers (2).
        flat_scratch_init = properties[5];
        /// User SGPR: scratch per work-item (1).
        private_segment_size = properties[6];
        /// Waves of 32 lanes (gfx10 and later).
        wave32 = properties[10];
        /// Scratch use is unknown at compile time.
        uses_dynamic_stack = properties[11];
    }

    // compute_pgm_rsrc2

    /// User SGPRs; the workgroup ids follow them.
    pub fn user_sgpr_count(&self) -> u32 {
        bits(self.rsrc2, 1, 5)
    }

    /// Work-item ids in VGPRs: 0 x, 1 x and y, 2 all three.
    pub fn workitem_id_vgprs(&self) -> u32 {
        bits(self.rsrc2, 11, 2)
    }

    /// LDS size in granules; compilers leave 0 and the packet processor fills it in.
    pub fn granulated_lds_size(&self) -> u32 {
        bits(self.rsrc2, 15, 9)
    }

    /// User SGPRs that the flags in `kernel_code_properties` and the preloading request.
    pub fn enabled_user_sgprs(&self) -> u32 {
        [
            (self.private_segment_buffer(), 4),
            (self.dispatch_ptr(), 2),
            (self.queue_ptr(), 2),
            (self.kernarg_segment_ptr(), 2),
            (self.dispatch_id(), 2),
            (self.flat_scratch_init(), 2),
            (self.private_segment_size(), 1),
        ]
        .into_iter()
        .map(|(enabled, count)| if enabled { count } else { 0 })
        .sum::<u32>()
            + self.preload_length()
    }

    // compute_pgm_rsrc3 and kernarg_preload, gfx90a

    /// First accumulation register (gfx90a); they follow the ordinary ones.
    pub fn accum_offset(&self) -> u32 {
        (bits(self.rsrc3, 0, 6) + 1) * 4
    }

    /// Dwords of kernel arguments that are loaded into SGPRs before the start.
    pub fn preload_length(&self) -> u32 {
        u32::from(self.preload & 0x7f)
    }

    /// First of these dwords.
    pub fn preload_offset(&self) -> u32 {
        u32::from(self.preload >> 7)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[0..4].copy_from_slice(&0x1234_u32.to_le_bytes());
        bytes[4..8].copy_from_slice(&260_u32.to_le_bytes());
        bytes[8..12].copy_from_slice(&280_u32.to_le_bytes());
        bytes[16..24].copy_from_slice(&(-0x100_i64).to_le_bytes());
        bytes[44..48].copy_from_slice(&0x0001_0007_u32.to_le_bytes());
        bytes[48..52].copy_from_slice(&0x04ac_e285_u32.to_le_bytes());
        bytes[52..56].copy_from_slice(&0x4100_139d_u32.to_le_bytes());
        bytes[56..58].copy_from_slice(&0x082b_u16.to_le_bytes());
        bytes[58..60].copy_from_slice(&(3_u16 | 2 << 7).to_le_bytes());
        bytes
    }

    #[test]
    fn every_field_is_where_the_abi_puts_it() {
        let d = KernelDescriptor::parse(&sample()).expect("reserved bytes are zero");
        assert_eq!(
            (
                d.group_segment_fixed_size,
                d.private_segment_fixed_size,
                d.kernarg_size
            ),
            (0x1234, 260, 280)
        );
        assert_eq!((d.entry(0x500), d.entry(0xff)), (Some(0x400), None));
        // rsrc1 = 0x04ac_e285
        assert_eq!(
            (d.granulated_vgprs(), d.granulated_sgprs(), d.priority()),
            (5, 10, 0)
        );
        assert_eq!(
            (d.vgpr_count(Gfx::Gfx900), d.vgpr_count(Gfx::Gfx90a)),
            (24, 48)
        );
        assert_eq!(
            (d.sgpr_count(Gfx::Gfx803), d.sgpr_count(Gfx::Gfx900)),
            (88, 96)
        );
        assert_eq!((d.round_mode_32(), d.round_mode_16_64()), (2, 3));
        assert_eq!(
            (d.denorm_mode_32(), d.denorm_mode_16_64(), d.float_mode()),
            (0, 3, 0xce)
        );
        assert!(d.dx10_clamp() && d.ieee_mode() && d.fp16_overflow());
        assert!(!d.privileged() && !d.debug_mode() && !d.bulky() && !d.cdbg_user());
        // rsrc2 = 0x4100_139d
        assert!(d.enable_private_segment() && !d.enable_trap_handler());
        assert_eq!((d.user_sgpr_count(), d.workitem_id_vgprs()), (14, 2));
        assert_eq!(
            (
                d.enable_workgroup_id_x(),
                d.enable_workgroup_id_y(),
                d.enable_workgroup_id_z()
            ),
            (true, true, true)
        );
        assert!(!d.enable_workgroup_info() && d.granulated_lds_size() == 0);
        assert!(d.exception_fp_invalid() && d.exception_int_div_zero());
        assert!(!d.exception_fp_inexact() && !d.exception_memory() && !d.exception_address_watch());
        // the rest
        assert_eq!((d.accum_offset(), d.tg_split()), (32, true));
        assert!(d.private_segment_buffer() && d.dispatch_ptr() && d.kernarg_segment_ptr());
        assert!(d.flat_scratch_init() && d.uses_dynamic_stack());
        assert!(!d.queue_ptr() && !d.dispatch_id() && !d.private_segment_size() && !d.wave32());
        assert_eq!((d.preload_length(), d.preload_offset()), (3, 2));
        assert_eq!(d.enabled_user_sgprs(), 4 + 2 + 2 + 2 + 3);
    }

    #[test]
    fn reserved_bytes_must_be_zero() {
        for at in [12, 15, 24, 43, 60, 63] {
            let mut bytes = sample();
            bytes[at] = 1;
            let error = KernelDescriptor::parse(&bytes).unwrap_err();
            assert!(error.starts_with("reserved bytes"), "{error}");
        }
    }
}
