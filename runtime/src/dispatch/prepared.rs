//! What a dispatch needs before its first wave: structures in guest memory, and the places that
//! workgroups occupy.

use std::mem::size_of;

use frontend::{LANES, WaveState};

use super::group::Room;
use super::launch::{self, Arguments, KernelCode, Launch, LaunchError, Queued};
use super::packet::{self, PACKET_BYTES, PacketFacts, QUEUE_BYTES, QueueFacts};
use super::registers::{Facts, InitialState};
use crate::LoadedCode;
use crate::engine::{PRIVATE_BASE, SHARED_BASE, Scratch};
use crate::fault::Access;
use crate::kernarg::{self, HiddenContext};
use crate::lds::LDS_MAX;
use crate::memory::{Memory, MemoryError, Purpose};

/// Maximum number of kernarg bytes that a descriptor can preload.
const PRELOADABLE: u64 = 4096;

/// Inputs of the hidden arguments.
fn hidden_context(launch: &Launch<'_>, queue_ptr: u64) -> HiddenContext {
    HiddenContext {
        dims: launch.shape.dims,
        grid: launch.shape.grid,
        workgroup: launch.shape.workgroup,
        global_offset: launch.global_offset,
        private_base_hi: (PRIVATE_BASE >> 32) as u32,
        shared_base_hi: (SHARED_BASE >> 32) as u32,
        queue_ptr,
        dynamic_lds: launch.dynamic_lds,
        ..HiddenContext::default()
    }
}

/// A block of guest memory that is freed at the end of the dispatch.
struct Block<'a> {
    memory: &'a Memory,
    address: u64,
}

impl<'a> Block<'a> {
    fn new(
        memory: &'a Memory,
        purpose: Purpose,
        bytes: u64,
        align: u64,
    ) -> Result<Block<'a>, LaunchError> {
        let address = memory.alloc_for(purpose, bytes, align)?;
        Ok(Block { memory, address })
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        let freed = self.memory.free(self.address);
        debug_assert!(freed.is_ok(), "bug: a dispatch's block was freed twice");
    }
}

/// What a workgroup occupies from its begin to its end.
pub(super) struct Place<'a> {
    /// Registers and LDS.
    pub(super) room: Room,
    pub(super) initial: InitialState,
    /// Scratch of wave 0; the others follow.
    pub(super) scratch: Scratch,
    /// Where it is, if it is the place's own.
    _block: Option<Block<'a>>,
}

/// Structures of a dispatch in guest memory, prepared before the first wave.
pub(super) struct Prepared<'a> {
    memory: &'a Memory,
    code: &'a LoadedCode,
    kernel: &'a KernelCode,
    kernarg: Vec<u8>,
    kernarg_ptr: u64,
    /// Addresses of packet and queue, and their memory if the dispatch owns it.
    packet_ptr: u64,
    queue_ptr: u64,
    _structures: Option<Block<'a>>,
    _kernarg_block: Option<Block<'a>>,
    scratch: Option<Block<'a>>,
    /// Scratch of all waves of a worker.
    worker_scratch: u64,
    lane_scratch: u32,
    pub(super) lds_bytes: u32,
    /// Host and guest memory that a workgroup occupies.
    pub(super) place_bytes: u64,
    dispatch_id: u64,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(
        memory: &'a Memory,
        code: &'a LoadedCode,
        kernel: &'a KernelCode,
        launch: &Launch<'_>,
        stack_bytes: Option<u32>,
        threads: usize,
        dispatch_id: u64,
    ) -> Result<Prepared<'a>, LaunchError> {
        let gfx = code.gfx();
        let mut lane_scratch = launch::scratch_size(kernel, stack_bytes)?;
        let (structures, packet_ptr, queue_ptr, dispatch_id) = match launch.arguments {
            Arguments::Queued(queued) => {
                if lane_scratch != 0 {
                    let asked = queued.private_bytes.min(launch::MAX_LANE_SCRATCH);
                    lane_scratch = lane_scratch.max(asked.next_multiple_of(16));
                }
                (None, queued.packet, queued.queue, queued.dispatch_id)
            }
            _ => {
                // Nobody would take a packet that a kernel puts into this queue, so that it may only
                // be read.
                let bytes = (PACKET_BYTES + QUEUE_BYTES) as u64;
                let block = Block::new(memory, Purpose::Structure, bytes, 256)?;
                let packet_ptr = block.address;
                let queue_ptr = packet_ptr + PACKET_BYTES as u64;
                (Some(block), packet_ptr, queue_ptr, dispatch_id)
            }
        };

        let mut dynamic_lds = launch.dynamic_lds;
        let needed = u64::from(kernel.descriptor.kernarg_size);
        let (kernarg, kernarg_block) = match launch.arguments {
            Arguments::At(address)
            | Arguments::Queued(Queued {
                kernarg: address, ..
            }) => {
                // All of it must be accessible; only what may be preloaded is read here.
                if !memory.contains(address, needed) {
                    return Err(LaunchError::Memory(MemoryError::Unmapped {
                        access: Access::Read,
                        address,
                        bytes: kernel.descriptor.kernarg_size,
                    }));
                }
                let mut bytes = vec![0; needed.min(PRELOADABLE) as usize];
                memory.read_bytes(address, &mut bytes)?;
                (bytes, None)
            }
            Arguments::Segment(bytes) => (bytes.to_vec(), Some(())),
            Arguments::Values(metadata, values) => {
                let built = kernarg::build(metadata, values, &hidden_context(launch, queue_ptr))?;
                // LDS of pointer arguments in addition to that of the metadata.
                dynamic_lds = built
                    .lds_size
                    .saturating_sub(metadata.group_segment_fixed_size);
                (built.bytes, Some(()))
            }
        };
        if kernarg_block.is_some() && (kernarg.len() as u64) < needed {
            return Err(LaunchError::KernargTooSmall {
                kernel: kernel.name.clone(),
                needed,
                given: kernarg.len() as u64,
            });
        }
        let lds_bytes = launch::lds_size(gfx, kernel, dynamic_lds)?;
        let kernarg_block = match kernarg_block {
            None => None,
            Some(()) => {
                // Compilers load whole aligned dwords, up to four at once, from the segment.
                let bytes = kernarg.len().next_multiple_of(16) as u64;
                let block = Block::new(memory, Purpose::Arguments, bytes, 256)?;
                memory.write_bytes(block.address, &kernarg)?;
                Some(block)
            }
        };
        let kernarg_ptr = match (launch.arguments, &kernarg_block) {
            (Arguments::At(address), _) => address,
            (Arguments::Queued(queued), _) => queued.kernarg,
            (_, block) => block.as_ref().map_or(0, |block| block.address),
        };
        let packet = packet::packet(
            &launch.shape,
            &PacketFacts {
                private_bytes: lane_scratch,
                group_bytes: lds_bytes,
                kernel_object: kernel.address,
                kernarg: kernarg_ptr,
            },
        );
        if structures.is_some() {
            memory.write_bytes(packet_ptr, &packet)?;
        }

        let waves = u64::from(launch.shape.waves());
        let worker_scratch = u64::from(lane_scratch) * LANES as u64 * waves;
        let scratch = match worker_scratch {
            0 => None,
            bytes => {
                let bytes = bytes * threads as u64;
                Some(Block::new(memory, Purpose::Sparse, bytes, 1 << 16)?)
            }
        };
        let scratch_base = scratch.as_ref().map_or(0, |block| block.address);
        let queue = packet::queue(&QueueFacts {
            packets: packet_ptr,
            dispatch_id,
            scratch: (scratch_base, worker_scratch),
            hidden_base: if code.gfx().flat_scratch_is_address() {
                0
            } else {
                scratch_base
            },
            lane_bytes: lane_scratch,
        });
        if structures.is_some() {
            memory.write_bytes(queue_ptr, &queue)?;
        }
        Ok(Prepared {
            memory,
            code,
            kernel,
            kernarg,
            kernarg_ptr,
            packet_ptr,
            queue_ptr,
            _structures: structures,
            _kernarg_block: kernarg_block,
            scratch,
            worker_scratch,
            lane_scratch,
            lds_bytes,
            place_bytes: waves * size_of::<WaveState>() as u64 + LDS_MAX as u64 + worker_scratch,
            dispatch_id,
        })
    }

    /// The first place of the worker with this number. Each place has its own scratch, which is the
    /// queue's whole scratch to its waves.
    pub(super) fn place(&self, number: usize, room: Room) -> Place<'a> {
        let base = match &self.scratch {
            Some(block) => block.address + self.worker_scratch * number as u64,
            None => 0,
        };
        self.place_at(base, room, None)
    }

    /// A place beyond those of the workers.
    pub(super) fn another(&self, room: Room) -> Result<Place<'a>, LaunchError> {
        let block = match self.worker_scratch {
            0 => None,
            bytes => Some(Block::new(self.memory, Purpose::Sparse, bytes, 1 << 16)?),
        };
        let base = block.as_ref().map_or(0, |block| block.address);
        Ok(self.place_at(base, room, block))
    }

    fn place_at(&self, base: u64, room: Room, block: Option<Block<'a>>) -> Place<'a> {
        let facts = Facts {
            dispatch_ptr: self.packet_ptr,
            queue_ptr: self.queue_ptr,
            kernarg_ptr: self.kernarg_ptr,
            dispatch_id: self.dispatch_id,
            kernarg: &self.kernarg,
            scratch: (base, self.worker_scratch),
            lane_bytes: self.lane_scratch,
            lds_bytes: self.lds_bytes,
        };
        let kernel = self.kernel;
        let initial = InitialState::new(self.code.gfx(), kernel.descriptor, kernel.entry, &facts);
        let scratch = Scratch {
            hidden_base: if self.code.gfx().flat_scratch_is_address() {
                0
            } else {
                base
            },
            base,
            lane_bytes: self.lane_scratch,
        };
        Place {
            room,
            initial,
            scratch,
            _block: block,
        }
    }
}
