//! Initial registers of a wave, as the kernel descriptor requests them (LLVM's AMDGPU usage guide,
//! "Initial Kernel Execution State").

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use frontend::inst::M0;
use frontend::{Gfx, LANES, WaveState};

use super::shape::{self, GroupShape};
use crate::engine::{Following, PRIVATE_BASE, SHARED_BASE};
use crate::object::KernelDescriptor;

/// Maximum number of user SGPRs that the hardware sets.
const USER_SGPRS: usize = 16;

/// The last dword of the scratch buffer descriptor: identity selection, UINT, 32 bits, element size
/// 4, index stride 64, thread id added.
const SCRATCH_WORD3: u32 = 0x00ea_4fac;

/// VGPRs of a wave that the code can name; accumulation registers may follow.
fn vgprs(descriptor: &KernelDescriptor, gfx: Gfx) -> u32 {
    let all = descriptor.vgpr_count(gfx);
    let all = match gfx.has_unified_vgprs() {
        true => all.min(descriptor.accum_offset()),
        false => all,
    };
    all.min(256)
}

/// SGPRs of a wave that the code can name as such.
fn sgprs(descriptor: &KernelDescriptor, gfx: Gfx) -> u32 {
    descriptor.sgpr_count(gfx).min(gfx.max_sgprs())
}

/// Kernel arguments that are loaded into SGPRs: first dword and number of dwords.
fn preloaded(descriptor: &KernelDescriptor, gfx: Gfx) -> Option<(usize, usize)> {
    let (first, len) = (descriptor.preload_offset(), descriptor.preload_length());
    (gfx.preloads_arguments() && len != 0).then_some((first as usize, len as usize))
}

/// Numbers of initial states; 0 stands for none.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Properties of the dispatch that registers may hold.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts<'a> {
    pub(super) dispatch_ptr: u64,
    pub(super) queue_ptr: u64,
    pub(super) kernarg_ptr: u64,
    pub(super) dispatch_id: u64,
    /// Bytes of the kernarg segment.
    pub(super) kernarg: &'a [u8],
    /// Scratch of this worker's waves: first byte and size, 0 for none.
    pub(super) scratch: (u64, u64),
    /// Scratch bytes of a lane.
    pub(super) lane_bytes: u32,
    /// Bytes of LDS of the workgroup.
    pub(super) lds_bytes: u32,
}

/// Initial state of a worker's waves: mostly the same for all of a dispatch, the rest for all of a
/// workgroup.
#[derive(Debug)]
pub(super) struct InitialState {
    /// A unique number.
    number: u64,
    /// Identifies the origin of a wave's registers: the number in full workgroups, whose waves with
    /// the same index start with the same registers except the workgroup's numbers; otherwise 0.
    note: u64,
    gfx: Gfx,
    descriptor: KernelDescriptor,
    entry: u64,
    /// User SGPRs and numbers of the workgroup; the others are 0.
    sgpr: [u32; 128],
    /// Number of the first SGPR after the user SGPRs.
    system: usize,
    wave_bytes: u32,
    hwreg: [u32; 32],
    vgprs: u32,
    sgprs: u32,
    mode: u32,
    /// VGPRs that hold work-item ids.
    id_vgprs: usize,
    /// Work-items of the workgroup.
    items: u32,
    /// Number of the SGPR with the workgroup's number of waves; the wave's own properties follow.
    info: usize,
    /// The address of the worker's scratch.
    scratch: u64,
    /// The `resume` of the workgroup's waves, see [`WaveState::resume`].
    resume: u64,
}

impl InitialState {
    pub(super) fn new(
        gfx: Gfx,
        descriptor: KernelDescriptor,
        entry: u64,
        facts: &Facts<'_>,
    ) -> InitialState {
        let mut user = Vec::with_capacity(32);
        if descriptor.private_segment_buffer() {
            user.extend(scratch_descriptor(facts.scratch));
        }
        let pairs = [
            (descriptor.dispatch_ptr(), facts.dispatch_ptr),
            (descriptor.queue_ptr(), facts.queue_ptr),
            (descriptor.kernarg_segment_ptr(), facts.kernarg_ptr),
            (descriptor.dispatch_id(), facts.dispatch_id),
            (
                descriptor.flat_scratch_init(),
                flat_scratch_init(gfx, facts),
            ),
        ];
        for (enabled, value) in pairs {
            if enabled {
                user.extend([value as u32, (value >> 32) as u32]);
            }
        }
        let mut entry = entry;
        if let Some((first, len)) = preloaded(&descriptor, gfx) {
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
        if descriptor.private_segment_size() {
            user.push(facts.lane_bytes);
        }
        let system = descriptor.user_sgpr_count() as usize;
        user.resize(32, 0);
        // The command processor sets as many as the descriptor counts, and 16 at most.
        user[system.min(USER_SGPRS)..].fill(0);
        let mut sgpr = [0; 128];
        sgpr[..32].copy_from_slice(&user);
        let id_vgprs = match descriptor.workitem_id_vgprs() {
            _ if gfx.packs_work_item_ids() => 1,
            0 => 1,
            1 => 2,
            _ => 3,
        };
        InitialState {
            number: NUMBERS.fetch_add(1, Relaxed),
            note: 0,
            gfx,
            descriptor,
            entry,
            sgpr,
            system,
            wave_bytes: facts.lane_bytes * LANES as u32,
            hwreg: hardware_registers(gfx, &descriptor, facts.lds_bytes),
            vgprs: vgprs(&descriptor, gfx),
            sgprs: sgprs(&descriptor, gfx),
            mode: descriptor.mode(gfx),
            id_vgprs,
            items: 0,
            info: system,
            scratch: facts.scratch.0,
            resume: WaveState::FRESH,
        }
    }

    /// Following waves are those of `group`, which has the dispatch's size if `full`.
    pub(super) fn enter(&mut self, group: &GroupShape, full: bool) {
        self.note = if full { self.number } else { 0 };
        let descriptor = &self.descriptor;
        let numbers = [
            descriptor.enable_workgroup_id_x(),
            descriptor.enable_workgroup_id_y(),
            descriptor.enable_workgroup_id_z(),
        ];
        let mut next = self.system;
        for (enabled, id) in numbers.into_iter().zip(group.id) {
            if enabled {
                self.sgpr[next] = id;
                next += 1;
            }
        }
        self.info = next;
        self.items = group.work_items();

        self.resume = WaveState::FRESH;
        let width = group.size[0];
        if group.size[1] == 1 && group.size[2] == 1 || width.is_multiple_of(LANES as u32) {
            self.resume |= WaveState::V0_COUNTS | WaveState::V12_UNIFORM;
        } else if width.is_power_of_two() && (4..LANES as u32).contains(&width) {
            self.resume |= u64::from(width.ilog2()) << WaveState::ROWS.trailing_zeros();
            if self.gfx.packs_work_item_ids() && self.descriptor.workitem_id_vgprs() > 0 {
                self.resume |= WaveState::PACKED;
            }
        }
        // STATUS: IN_TG and VALID.
        self.hwreg[2] = u32::from(group.waves() > 1) << 11 | 1 << 16;
    }

    /// Initializes `wave` as number `index` of the workgroup; `ids` are the work-item ids of its
    /// lanes. VGPRs beyond those are stale: a reader must settle the wave first.
    pub(super) fn start(&self, wave: &mut WaveState, index: u32, ids: &[[u32; LANES]; 3]) {
        let kept = wave.kept == self.number && self.note != 0;
        if !kept {
            self.fill(wave, ids);
        }
        (wave.start, wave.kept) = (self.note, 0);
        for number in self.system..self.info {
            wave.sgpr[number] = self.sgpr[number];
        }
        wave.resume = self.resume;
        wave.clear_agprs();
        let defined = self.vgprs.max(wave.vgprs_touched);
        wave.vgprs_touched = defined;
        wave.vgprs_stale = [self.id_vgprs as u32, defined];
        if kept {
            return;
        }
        let mut next = self.info;
        if self.descriptor.enable_workgroup_info() {
            let waves = self.items.div_ceil(LANES as u32);
            wave.sgpr[next] = u32::from(index == 0) << 31 | waves & 0x3f;
            next += 1;
        }
        if self.descriptor.enable_private_segment() {
            let offset = index * self.wave_bytes;
            if self.gfx.presets_flat_scratch() {
                let address = self.scratch + u64::from(offset);
                let first = usize::from(self.gfx.flat_scratch());
                wave.sgpr[first] = address as u32;
                wave.sgpr[first + 1] = (address >> 32) as u32;
            } else {
                wave.sgpr[next] = offset;
            }
        }
        debug_assert_eq!(
            wave.sgpr[usize::from(M0)],
            0,
            "bug: M0 is undefined and starts as 0"
        );

        wave.pc = self.entry;
        wave.scc = 0;
        wave.mode = self.mode;
        wave.trapsts = 0;
        wave.vgpr_count = self.vgprs;
        wave.sgpr_count = self.sgprs;
        wave.set_exec(shape::exec(self.items, index));
    }

    /// The `count` workgroups after the one of `enter` in x, if they are full and numbered.
    pub(super) fn following(&self, count: u32) -> Following {
        let numbered = self.descriptor.enable_workgroup_id_x();
        Following {
            count: if numbered { count } else { 0 },
            number: self.system,
            resume: self.resume,
        }
    }

    /// Initializes the registers that may still hold values of an earlier start.
    fn fill(&self, wave: &mut WaveState, ids: &[[u32; LANES]; 3]) {
        wave.sgpr = self.sgpr;
        wave.hwreg = self.hwreg;
        if self.gfx.packs_work_item_ids() {
            self.pack(wave, ids);
        } else {
            wave.vgpr[..self.id_vgprs].copy_from_slice(&ids[..self.id_vgprs]);
        }
    }

    /// All ids in v0.
    fn pack(&self, wave: &mut WaveState, [xs, ys, zs]: &[[u32; LANES]; 3]) {
        let components = self.descriptor.workitem_id_vgprs();
        for lane in 0..LANES {
            let y = if components > 0 { ys[lane] } else { 0 };
            let z = if components > 1 { zs[lane] } else { 0 };
            let bits = WaveState::PACKED_BITS;
            wave.vgpr[0][lane] = xs[lane] | y << bits | z << (2 * bits);
        }
    }
}

/// The buffer descriptor of the queue's scratch.
pub(super) fn scratch_descriptor((base, size): (u64, u64)) -> [u32; 4] {
    if size == 0 {
        // No scratch was requested: an unbound descriptor.
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

/// The input from which the prologue computes FLAT_SCRATCH. gfx9: the address. Before: the offset
/// from the hidden private base, which here is the worker's scratch itself, and the size for a
/// lane.
fn flat_scratch_init(gfx: Gfx, facts: &Facts<'_>) -> u64 {
    if gfx.flat_scratch_is_address() {
        facts.scratch.0
    } else {
        u64::from(facts.lane_bytes) << 32
    }
}

/// Values of `s_getreg` for the allocation and the apertures.
fn hardware_registers(gfx: Gfx, descriptor: &KernelDescriptor, lds_bytes: u32) -> [u32; 32] {
    const GPR_ALLOC: usize = 5;
    const LDS_ALLOC: usize = 6;
    const SH_MEM_BASES: usize = 15;
    let mut hwreg = [0; 32];
    hwreg[GPR_ALLOC] = descriptor.granulated_vgprs() << 8 | descriptor.granulated_sgprs() << 24;
    hwreg[LDS_ALLOC] = lds_bytes.div_ceil(gfx.lds_granule()) << 12;
    if gfx.has_aperture_registers() {
        hwreg[SH_MEM_BASES] = (SHARED_BASE >> 48 << 16 | PRIVATE_BASE >> 48) as u32;
    }
    hwreg
}

#[cfg(test)]
mod tests;
