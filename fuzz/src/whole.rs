//! Whole kernels for dispatches of several workgroups and waves, whose results depend on no order: each wave accesses a
//! slice of memory and of LDS of its own, waves exchange data through LDS between barriers that all of them reach, and shared
//! counters are changed by one commutative operation each, whose result no wave reads.
//!
//! They have what programs of one wave lack: functions on two levels, called directly and by a selected address; graphs of up to
//! a thousand blocks with forward, backward and irreducible edges; long straight lines; loops that lanes leave at different
//! times around all of that. Loops are bounded, so each kernel ends.

use frontend::desc::InstDesc;
use frontend::op::{DsOp, Space};
use frontend::registers::{is_lane_exchange, loads_to_lds};
use frontend::{Gfx, Op};
use harness::random::Random;
use runtime::object::KernelDescriptor;

use crate::program::Rows;
use crate::{Error, Options};

mod control;
mod frame;
mod memory;
mod writer;

use writer::{Level, Writer};

/// Bytes of memory of a wave: a buffer with room around it, then results.
pub(crate) const SLICE: u32 = 24 << 10;
/// Where the buffer begins, and its bytes.
const BUFFER: u32 = 4096;
/// Where results begin: VGPRs, scalar registers, the wave's LDS, the exchanged words, the counters in LDS.
const RESULTS: u32 = 16 << 10;
/// Bytes of the input, which all waves read.
pub(crate) const INPUT: u32 = 8192;
/// Bytes of shared counters in memory.
pub(crate) const COUNTERS: u32 = 256;
/// Waves of a workgroup at most.
const WAVES: u32 = 4;
/// Workgroups at most.
const WORKGROUPS: u32 = 6;
/// Bytes of LDS of a wave, and where its accesses begin there.
const LDS_WAVE: u32 = 2048;
const LDS_FIRST: u32 = 512;
/// Counters in LDS, and the words that waves exchange.
const LDS_COUNTERS: u32 = WAVES * LDS_WAVE;
const LDS_EXCHANGE: u32 = LDS_COUNTERS + 256;
/// Bytes of LDS.
const LDS: u32 = LDS_EXCHANGE + WAVES * 256;

/// Instructions that a wave executes at most, about.
const BUDGET: u64 = 6000;
/// Instructions of a kernel at most, about.
const LENGTH: u32 = 3000;

/// Scalar registers that no instruction of a kernel's body writes.
mod scalar {
    /// Descriptors: counters, input, the slice.
    pub(super) const COUNTERS: u32 = 64;
    pub(super) const INPUT: u32 = 68;
    pub(super) const SLICE: u32 = 72;
    /// Return addresses, by level.
    pub(super) const LINKS: [u32; 2] = [80, 82];
    /// Masks and counters of functions, by level.
    pub(super) const CONTROL: [u32; 2] = [56, 84];
    /// Two pairs for what takes a few instructions.
    pub(super) const TEMPORARY: u32 = 92;
    pub(super) const ADDRESS: u32 = 94;
    /// Addresses: input, the slice, counters.
    pub(super) const INPUT_AT: u32 = 96;
    pub(super) const SLICE_AT: u32 = 98;
    pub(super) const COUNTERS_AT: u32 = 100;
}

/// Vector registers of the same kind, behind the prepared ones.
mod vector {
    /// The work-item's number in the workgroup, the lane's, four times that, and an address.
    pub(super) const ITEM: u32 = 32;
    pub(super) const LANE: u32 = 33;
    pub(super) const LANE4: u32 = 34;
    pub(super) const ADDRESS: u32 = 35;
    /// Where the lane's exchanged word is, and a value.
    pub(super) const EXCHANGE: u32 = 36;
    pub(super) const VALUE: u32 = 37;
    /// Scalar registers, by lane.
    pub(super) const SCALARS: u32 = 38;
    /// Counters of loops, two for each level of functions.
    pub(super) const COUNTERS: u32 = 40;
}

/// A kernel and its dispatch. Its arguments are the addresses of input, slices and counters.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    /// Its instructions.
    pub(crate) code: Vec<u8>,
    /// Its descriptor.
    pub(crate) descriptor: KernelDescriptor,
    /// Work-items of the grid and of a workgroup.
    pub(crate) grid: u32,
    pub(crate) workgroup: u32,
}

impl Whole {
    /// Slices of memory that a dispatch needs.
    pub(crate) fn slices(&self) -> u32 {
        self.grid.div_ceil(self.workgroup) * self.workgroup.div_ceil(64)
    }

    /// The greatest number of slices of any kernel.
    pub(crate) const fn most_slices() -> u32 {
        WORKGROUPS * WAVES
    }
}

/// Rows of a target that kernels consist of.
pub(crate) struct Parts {
    /// Those that do not access memory.
    rows: Rows,
    /// Those that do, in the wave's own memory.
    own: Vec<&'static InstDesc>,
}

impl Parts {
    pub(crate) fn new(gfx: Gfx) -> Result<Parts, Error> {
        let mut rows = Rows::new(gfx, &Options::default())?;
        let own = rows.memory.iter().flatten().copied();
        let own = own.filter(|desc| stays(desc)).collect();
        rows.memory.clear();
        Ok(Parts { rows, own })
    }

    /// A random kernel.
    pub(crate) fn kernel(&self, r: &mut Random) -> Whole {
        let workgroup = *r.pick(&[64, 128, 256, 64, 192, 100, 33, 250]);
        let workgroups = 1 + r.below(WORKGROUPS);
        // The last workgroup may be partial.
        let missing = if r.once_in(4) { r.below(workgroup) } else { 0 };
        let mut writer = Writer {
            parts: self,
            gfx: self.rows.gfx,
            code: Vec::new(),
            functions: Vec::new(),
            level: Level::MAIN,
            left: LENGTH,
            times: 1,
            spent: 0,
        };
        writer.whole(r, workgroup.div_ceil(64));
        Whole {
            code: writer.code,
            descriptor: descriptor(),
            grid: workgroup * workgroups - missing,
            workgroup,
        }
    }
}

fn descriptor() -> KernelDescriptor {
    KernelDescriptor {
        group_segment_fixed_size: LDS,
        kernarg_size: 24,
        // 64 VGPRs, of which the upper half are accumulation registers where there are any, or more; all SGPRs; denormals.
        rsrc1: 31 | 12 << 6 | 0xc0 << 12,
        // The address of the arguments; the workgroup's number.
        rsrc2: 2 << 1 | 1 << 7,
        rsrc3: 15,
        properties: 1 << 3,
        ..KernelDescriptor::default()
    }
}

/// Can a row be restricted to the wave's own memory?
fn stays(desc: &InstDesc) -> bool {
    if loads_to_lds(desc) {
        return false;
    }
    match desc.op {
        Op::Load(space, _) | Op::Store(space, _) | Op::Atomic(space, _) => matches!(
            space,
            Space::Scalar
                | Space::ScalarBuffer
                | Space::Lds
                | Space::Flat
                | Space::Global
                | Space::Buffer
        ),
        Op::Read2 { st64 } | Op::Write2 { st64 } | Op::Wrxchg2 { st64 } => !st64,
        Op::Ds(op) => is_lane_exchange(op) && op != DsOp::Append,
        Op::CacheCtl => true,
        _ => false,
    }
}
