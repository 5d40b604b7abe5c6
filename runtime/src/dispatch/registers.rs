//! The registers that a wave starts with, as the kernel descriptor asks for them (LLVM's AMDGPU
//! usage guide, "Initial Kernel Execution State").

use frontend::inst::M0;
use frontend::state::mode;
use frontend::{Gfx, LANES, WaveState};

use super::shape::GroupShape;
use crate::engine::{PRIVATE_BASE, SHARED_BASE};

/// Most user SGPRs that the hardware sets.
const USER_SGPRS: usize = 16;

/// The last dword of the scratch buffer descriptor: identity selection, UINT, 32 bits, element size
/// 4, index stride 64, thread id added.
const SCRATCH_WORD3: u32 = 0x00ea_4fac;

/// The fields of a kernel descriptor that decide the initial registers, as they stand there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controls {
    /// `compute_pgm_rsrc1`
    pub rsrc1: u32,
    /// `compute_pgm_rsrc2`
    pub rsrc2: u32,
    /// `compute_pgm_rsrc3`
    pub rsrc3: u32,
    /// `kernel_code_properties`
    pub properties: u16,
    /// `kernarg_preload`
    pub preload: u16,
}

/// Bits of `kernel_code_properties`.
mod property {
    pub(super) const PRIVATE_SEGMENT_BUFFER: u16 = 1 << 0;
    pub(super) const DISPATCH_PTR: u16 = 1 << 1;
    pub(super) const QUEUE_PTR: u16 = 1 << 2;
    pub(super) const KERNARG_SEGMENT_PTR: u16 = 1 << 3;
    pub(super) const DISPATCH_ID: u16 = 1 << 4;
    pub(super) const FLAT_SCRATCH_INIT: u16 = 1 << 5;
    pub(super) const PRIVATE_SEGMENT_SIZE: u16 = 1 << 6;
    pub(super) const DYNAMIC_STACK: u16 = 1 << 11;
}

impl Controls {
    fn has(&self, property: u16) -> bool {
        self.properties & property != 0
    }

    /// The stack grows beyond the private segment that the descriptor names.
    pub fn uses_dynamic_stack(&self) -> bool {
        self.has(property::DYNAMIC_STACK)
    }

    /// The waves need scratch.
    pub fn uses_scratch(&self) -> bool {
        self.rsrc2 & 1 != 0
    }

    /// Kernel arguments that are loaded into SGPRs: first dword and number of dwords.
    pub fn preloaded(&self, gfx: Gfx) -> Option<(usize, usize)> {
        let len = usize::from(self.preload & 0x7f);
        (gfx >= Gfx::Gfx90a && len != 0).then(|| (usize::from(self.preload >> 7), len))
    }

    /// VGPRs that are allocated to a wave.
    pub fn vgprs(&self, gfx: Gfx) -> u32 {
        let blocks = (self.rsrc1 & 0x3f) + 1;
        let all = if gfx >= Gfx::Gfx90a {
            // The accumulation registers come behind the architectural ones.
            (blocks * 8).min(((self.rsrc3 & 0x3f) + 1) * 4)
        } else {
            blocks * 4
        };
        all.min(256)
    }

    /// SGPRs that are allocated to a wave, VCC and its neighbours included.
    pub fn sgprs(&self, gfx: Gfx) -> u32 {
        let field = self.rsrc1 >> 6 & 0xf;
        let all = if gfx.is_gfx9() {
            (field / 2 + 1) * 16
        } else {
            (field + 1) * 8
        };
        all.min(if gfx.is_gfx8_up() { 102 } else { 104 })
    }

    /// MODE at the start.
    pub fn mode(&self, gfx: Gfx) -> u32 {
        let bit = |from: u32, to: u32| if self.rsrc1 >> from & 1 != 0 { to } else { 0 };
        let overflow = if gfx.is_gfx9() {
            bit(26, mode::FP16_OVFL)
        } else {
            0
        };
        (self.rsrc1 >> 12 & 0xff) | bit(21, mode::DX10_CLAMP) | bit(23, mode::IEEE) | overflow
    }
}

/// What the dispatch knows and registers may show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts<'a> {
    pub(super) dispatch_ptr: u64,
    pub(super) queue_ptr: u64,
    pub(super) kernarg_ptr: u64,
    pub(super) dispatch_id: u64,
    /// Bytes of the kernarg segment.
    pub(super) kernarg: &'a [u8],
    /// Scratch of this worker's waves: first byte and size, 0 when there is none.
    pub(super) scratch: (u64, u64),
    /// Scratch bytes of a lane.
    pub(super) lane_bytes: u32,
    /// Bytes of LDS of the workgroup.
    pub(super) lds_bytes: u32,
}

/// The SGPRs, MODE and sizes that all waves of a worker share.
#[derive(Clone, Debug)]
pub(super) struct InitialState {
    gfx: Gfx,
    controls: Controls,
    entry: u64,
    user: [u32; 32],
    /// Number of the first SGPR behind the user SGPRs.
    system: usize,
    wave_bytes: u32,
    hwreg: [u32; 32],
    vgprs: u32,
    sgprs: u32,
    mode: u32,
}

impl InitialState {
    pub(super) fn new(gfx: Gfx, controls: Controls, entry: u64, facts: &Facts<'_>) -> InitialState {
        let mut user = Vec::with_capacity(32);
        if controls.has(property::PRIVATE_SEGMENT_BUFFER) {
            user.extend(scratch_descriptor(facts.scratch));
        }
        let pairs = [
            (property::DISPATCH_PTR, facts.dispatch_ptr),
            (property::QUEUE_PTR, facts.queue_ptr),
            (property::KERNARG_SEGMENT_PTR, facts.kernarg_ptr),
            (property::DISPATCH_ID, facts.dispatch_id),
            (property::FLAT_SCRATCH_INIT, flat_scratch_init(gfx, facts)),
        ];
        for (property, value) in pairs {
            if controls.has(property) {
                user.extend([value as u32, (value >> 32) as u32]);
            }
        }
        let mut entry = entry;
        if let Some((first, len)) = controls.preloaded(gfx) {
            // The code before the preloading entry loads the arguments itself.
            entry += 256;
            let (dwords, _) = facts.kernarg.as_chunks::<4>();
            let preloaded = dwords
                .iter()
                .skip(first)
                .take(len)
                .map(|b| u32::from_le_bytes(*b));
            let end = user.len() + len;
            user.extend(preloaded);
            user.resize(end, 0);
        }
        if controls.has(property::PRIVATE_SEGMENT_SIZE) {
            user.push(facts.lane_bytes);
        }
        let system = (controls.rsrc2 >> 1 & 0x1f) as usize;
        user.resize(32, 0);
        // The command processor sets as many as the descriptor counts, and 16 at most.
        user[system.min(USER_SGPRS)..].fill(0);
        InitialState {
            gfx,
            controls,
            entry,
            user: user.try_into().expect("it was made 32 long"),
            system,
            wave_bytes: facts.lane_bytes * LANES as u32,
            hwreg: hardware_registers(gfx, controls, facts.lds_bytes),
            vgprs: controls.vgprs(gfx),
            sgprs: controls.sgprs(gfx),
            mode: controls.mode(gfx),
        }
    }

    /// Makes `wave` wave number `index` of `group`; `ids` are the work-item ids of its lanes.
    pub(super) fn start(
        &self,
        wave: &mut WaveState,
        group: &GroupShape,
        index: u32,
        ids: &[[u32; LANES]; 3],
    ) {
        let waves = group.waves();
        wave.sgpr.fill(0);
        wave.sgpr[..32].copy_from_slice(&self.user);
        let mut next = self.system;
        let mut system = |bit: u32, value: u32| {
            if self.controls.rsrc2 >> bit & 1 != 0 {
                wave.sgpr[next] = value;
                next += 1;
            }
        };
        system(7, group.id[0]);
        system(8, group.id[1]);
        system(9, group.id[2]);
        system(10, u32::from(index == 0) << 31 | waves & 0x3f);
        system(0, index * self.wave_bytes);
        debug_assert_eq!(
            wave.sgpr[usize::from(M0)],
            0,
            "bug: M0 is undefined and starts as 0"
        );

        wave.pc = self.entry;
        wave.scc = 0;
        wave.mode = self.mode;
        wave.trapsts = 0;
        wave.hwreg = self.hwreg;
        // STATUS: IN_TG and VALID.
        wave.hwreg[2] = u32::from(waves > 1) << 11 | 1 << 16;
        wave.vgpr_count = self.vgprs;
        wave.sgpr_count = self.sgprs;
        wave.set_exec(group.exec(index));

        let components = match self.controls.rsrc2 >> 11 & 3 {
            0 => 1,
            1 => 2,
            _ => 3,
        };
        if self.gfx >= Gfx::Gfx90a {
            let [xs, ys, zs] = ids;
            for lane in 0..LANES {
                let y = if components > 1 { ys[lane] } else { 0 };
                let z = if components > 2 { zs[lane] } else { 0 };
                wave.vgpr[0][lane] = xs[lane] | y << 10 | z << 20;
            }
            wave.vgpr[1..self.vgprs as usize].fill([0; LANES]);
        } else {
            wave.vgpr[..components].copy_from_slice(&ids[..components]);
            wave.vgpr[components..self.vgprs as usize].fill([0; LANES]);
        }
    }
}

/// The buffer descriptor of the queue's scratch.
pub(super) fn scratch_descriptor((base, size): (u64, u64)) -> [u32; 4] {
    if size == 0 {
        // No scratch was asked for: an unbound descriptor.
        return [0; 4];
    }
    const SWIZZLE: u32 = 1 << 31;
    [
        base as u32,
        (base >> 32) as u32 & 0xffff | SWIZZLE,
        u32::try_from(size).unwrap_or(u32::MAX),
        SCRATCH_WORD3,
    ]
}

/// What the prologue makes FLAT_SCRATCH from. gfx9: the address. Before: the offset from the hidden
/// private base, which here is the worker's scratch itself, and the size for a lane.
fn flat_scratch_init(gfx: Gfx, facts: &Facts<'_>) -> u64 {
    if gfx.is_gfx9() {
        facts.scratch.0
    } else {
        u64::from(facts.lane_bytes) << 32
    }
}

/// What `s_getreg` shows of the allocation and of the apertures.
fn hardware_registers(gfx: Gfx, controls: Controls, lds_bytes: u32) -> [u32; 32] {
    const GPR_ALLOC: usize = 5;
    const LDS_ALLOC: usize = 6;
    const SH_MEM_BASES: usize = 15;
    let mut hwreg = [0; 32];
    hwreg[GPR_ALLOC] = (controls.rsrc1 & 0x3f) << 8 | (controls.rsrc1 >> 6 & 0xf) << 24;
    let granule = if gfx == Gfx::Gfx600 { 256 } else { 512 };
    hwreg[LDS_ALLOC] = lds_bytes.div_ceil(granule) << 12;
    if gfx.is_gfx9() {
        hwreg[SH_MEM_BASES] = (SHARED_BASE >> 48 << 16 | PRIVATE_BASE >> 48) as u32;
    }
    hwreg
}

#[cfg(test)]
mod tests;
