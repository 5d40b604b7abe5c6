//! The architectural state of one wave, laid out so that translated code can address it.

use bytemuck::Zeroable;

use crate::inst::{EXEC_HI, EXEC_LO, M0, VCC_HI, VCC_LO};

/// Lanes of a wave.
pub const LANES: usize = 64;

/// Vector registers: 256 VGPRs, then as many accumulation registers (gfx908 and later), as they lie in a wave.
pub const VECTOR_REGISTERS: usize = 512;

/// The number of a0 among the vector registers.
pub const FIRST_AGPR: u16 = 256;

/// Entries of [`WaveState::last`].
pub const LAST: usize = 16;

/// Bits of the MODE register.
pub mod mode {
    /// Round mode of f32: bits 1:0 (0 even, 1 up, 2 down, 3 zero).
    pub const ROUND_F32: u32 = 0x3;
    /// Round mode of f16 and f64: bits 3:2.
    pub const ROUND_F16_F64: u32 = 0xc;
    /// Denormals of f32: bits 5:4 (0 flush both, 1 flush results, 2 flush sources, 3 keep).
    pub const DENORM_F32: u32 = 0x30;
    /// Denormals of f16 and f64: bits 7:6.
    pub const DENORM_F16_F64: u32 = 0xc0;
    /// DX10_CLAMP: clamp turns NaN into 0.
    pub const DX10_CLAMP: u32 = 1 << 8;
    /// IEEE: signalling NaNs are quieted, min/max per IEEE.
    pub const IEEE: u32 = 1 << 9;
    /// FP16_OVFL (gfx9): f16 overflow gives the largest finite value.
    pub const FP16_OVFL: u32 = 1 << 23;
    /// GPR index mode is on.
    pub const GPR_IDX_EN: u32 = 1 << 27;
    /// Vector instructions are skipped.
    pub const VSKIP: u32 = 1 << 28;
    /// Depth of the fork stack: bits 31:29.
    pub const CSP: u32 = 0xe000_0000;
    /// The bits that change what floating-point code computes; translated code is specialised on them.
    pub const FLOAT_BITS: u32 =
        ROUND_F32 | ROUND_F16_F64 | DENORM_F32 | DENORM_F16_F64 | DX10_CLAMP | IEEE | FP16_OVFL;
}

/// Registers of one wave. VCC, M0, EXEC and the trap registers live in `sgpr` under their encoding
/// codes, so that every scalar operand is one array access.
#[repr(C, align(64))]
#[derive(Clone, Zeroable)]
pub struct WaveState {
    /// The scalar file by encoding code 0..=127.
    pub sgpr: [u32; 128],
    /// Guest address of the next instruction.
    pub pc: u64,
    /// SCC, 0 or 1.
    pub scc: u32,
    /// MODE.
    pub mode: u32,
    /// TRAPSTS.
    pub trapsts: u32,
    /// HW_ID, LDS_ALLOC, GPR_ALLOC, … as `s_getreg` shows them, by hardware register number.
    pub hwreg: [u32; 32],
    /// Number of VGPRs allocated to the wave (index checks of relative moves).
    pub vgpr_count: u32,
    /// Number of SGPRs allocated to the wave.
    pub sgpr_count: u32,
    /// VGPRs from this number on still have the dispatcher's values; engines raise it when the wave
    /// writes VGPRs that were not allocated to it. Not part of the architectural state.
    pub vgprs_touched: u32,
    /// VGPRs from the first number up to the second hold anything, and are 0 to the wave: see
    /// [`WaveState::settle`].
    pub vgprs_stale: [u32; 2],
    /// Identifies the dispatcher's initial values of the wave, 0 for none. Code other than the
    /// engine that writes scalar registers or VGPRs of a running wave resets it to 0. Not part of
    /// the architectural state.
    pub start: u64,
    /// The `start` whose scalar registers and work-item ids are unmodified here, 0 if they may have
    /// changed. An engine sets it at the end of a wave that provably did not write them. Not part
    /// of the architectural state.
    pub kept: u64,
    /// An engine's note on how it left the wave, 0 for none; [`WaveState::FRESH`] before the wave's
    /// first instruction. Not part of the architectural state.
    pub resume: u64,
    /// Latest addresses of compiled code's accesses, for prefetches: of any wave that ran here
    /// before. Not part of the architectural state.
    pub last: [u64; LAST],
    /// Predicted next addresses, for deferred prefetches. Not part of the architectural state.
    pub next: [u64; LAST],
    /// Vector registers, `vgpr[n][lane]`.
    pub vgpr: [[u32; LANES]; 256],
    /// Accumulation registers (gfx908 and later), `agpr[n][lane]`, directly behind the VGPRs.
    pub agpr: [[u32; LANES]; 256],
    /// Accumulation registers from this number on are 0; engines raise it when the wave writes
    /// some. Not part of the architectural state.
    pub agprs_touched: u32,
}

const _: () = assert!(std::mem::offset_of!(WaveState, vgpr) % 64 == 0);
const _: () = assert!(
    std::mem::offset_of!(WaveState, agpr)
        == std::mem::offset_of!(WaveState, vgpr) + size_of::<[[u32; LANES]; 256]>()
);

impl WaveState {
    /// Number of no hardware register in `hwreg`: what the wave waits for at the global wave sync.
    pub const GWS: usize = 31;

    /// In `resume`: the wave has not begun, its registers are the dispatch's initial values.
    pub const FRESH: u64 = 1 << 63;
    /// In `resume` together with [`WaveState::FRESH`]: v0 is the lane's number plus a multiple of
    /// 64 that is the same for the whole wave.
    pub const V0_COUNTS: u64 = 1;
    /// As [`WaveState::V0_COUNTS`]: v1 and v2 are the same in all lanes.
    pub const V12_UNIFORM: u64 = 2;
    /// As [`WaveState::V0_COUNTS`], a field of three bits: n means that in each row of 2^n lanes v0
    /// counts up by one from 0 and v1 and v2 are uniform; 0 means nothing. See also
    /// [`WaveState::PACKED`].
    pub const ROWS: u64 = 7 << 2;
    /// Together with [`WaveState::ROWS`]: the fact about v0 holds for its lowest
    /// [`WaveState::PACKED_BITS`] bits. The others hold the work-item's y and z, which are uniform
    /// in a row and differ between rows.
    pub const PACKED: u64 = 1 << 5;
    /// Bits of each number in a v0 that holds x, y and z.
    pub const PACKED_BITS: u32 = 10;
    /// All facts that `resume` may state about a wave that has not begun.
    pub const START: u64 = Self::V0_COUNTS | Self::V12_UNIFORM | Self::ROWS | Self::PACKED;

    /// A wave with every register 0, on the heap (it is 129 KiB).
    pub fn new_boxed() -> Box<WaveState> {
        // Not by way of the stack.
        let mut wave: Box<WaveState> = bytemuck::zeroed_box();
        (wave.vgpr_count, wave.sgpr_count) = (256, 104);
        wave
    }

    /// Does [`WaveState::settle`] have any effect?
    pub fn has_stale_vgprs(&self) -> bool {
        self.vgprs_stale[0] < self.vgprs_stale[1]
    }

    /// Zeroes the VGPRs that a wave's start left stale. An engine that knows which of them the wave
    /// reads before it writes them may zero only those.
    pub fn settle(&mut self) {
        let [first, end] = self.vgprs_stale.map(|n| (n as usize).min(256));
        if first < end {
            self.vgpr[first..end].as_flattened_mut().fill(0);
            self.vgprs_stale = [0; 2];
            self.vgprs_touched = self.vgpr_count;
        }
    }

    /// A register of both vector files: accumulation registers from [`FIRST_AGPR`] on, of which
    /// `agprs_touched` must know where they are written.
    pub fn vector(&self, n: usize) -> &[u32; LANES] {
        match n.checked_sub(self.vgpr.len()) {
            None => &self.vgpr[n],
            Some(n) => &self.agpr[n],
        }
    }

    /// As [`WaveState::vector`], to write it.
    pub fn vector_mut(&mut self, n: usize) -> &mut [u32; LANES] {
        match n.checked_sub(self.vgpr.len()) {
            None => &mut self.vgpr[n],
            Some(n) => &mut self.agpr[n],
        }
    }

    /// Accumulation registers that may hold anything but 0.
    pub fn touched_agprs(&self) -> &[[u32; LANES]] {
        &self.agpr[..(self.agprs_touched as usize).min(256)]
    }

    /// Zeroes the accumulation registers, as they are at a wave's start.
    #[inline]
    pub fn clear_agprs(&mut self) {
        if self.agprs_touched != 0 {
            let touched = (self.agprs_touched as usize).min(256);
            self.agpr[..touched].as_flattened_mut().fill(0);
            self.agprs_touched = 0;
        }
    }

    /// A 64-bit scalar register pair by its code.
    pub fn sgpr64(&self, code: u8) -> u64 {
        let i = usize::from(code) & 127;
        u64::from(self.sgpr[i]) | u64::from(self.sgpr[(i + 1) & 127]) << 32
    }

    /// Writes a 64-bit scalar register pair by its code.
    pub fn set_sgpr64(&mut self, code: u8, value: u64) {
        let i = usize::from(code) & 127;
        self.sgpr[i] = value as u32;
        self.sgpr[(i + 1) & 127] = (value >> 32) as u32;
    }

    /// EXEC.
    pub fn exec(&self) -> u64 {
        u64::from(self.sgpr[usize::from(EXEC_LO)])
            | u64::from(self.sgpr[usize::from(EXEC_HI)]) << 32
    }

    /// Sets EXEC.
    pub fn set_exec(&mut self, value: u64) {
        self.set_sgpr64(EXEC_LO, value);
    }

    /// VCC.
    pub fn vcc(&self) -> u64 {
        u64::from(self.sgpr[usize::from(VCC_LO)]) | u64::from(self.sgpr[usize::from(VCC_HI)]) << 32
    }

    /// Sets VCC.
    pub fn set_vcc(&mut self, value: u64) {
        self.set_sgpr64(VCC_LO, value);
    }

    /// M0.
    pub fn m0(&self) -> u32 {
        self.sgpr[usize::from(M0)]
    }
}
