//! Launches and their validation before any wave runs.

use std::fmt;

use frontend::Gfx;

use super::shape::Shape;
use crate::LoadedCode;
use crate::kernarg::{ArgError, ArgValue};
use crate::memory::{AllocError, MemoryError};
use crate::object::{Kernel, KernelDescriptor, KernelMetadata};

/// Maximum scratch of a lane.
pub const MAX_LANE_SCRATCH: u32 = 1 << 20;

/// Stack of a lane in addition to the scratch that the kernel states, if the kernel's descriptor
/// marks the stack as dynamic.
pub const DEFAULT_STACK: u32 = 16 * 1024;

/// Why a launch is refused. Nothing has run.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// An invalid number of dimensions.
    #[error("a launch has 1 to 3 dimensions, not {0}")]
    Dimensions(u16),
    /// A grid without work-items.
    #[error("the grid has no work-items in dimension {}: {}", Dim(*.dim), Size(*.grid))]
    EmptyGrid {
        /// The first empty dimension.
        dim: usize,
        /// The grid.
        grid: [u32; 3],
    },
    /// A workgroup without work-items.
    #[error("the workgroup has no work-items in dimension {}: {}", Dim(*.dim), Size(*.workgroup))]
    EmptyWorkgroup {
        /// The first empty dimension.
        dim: usize,
        /// The workgroup.
        workgroup: [u32; 3],
    },
    /// A size in a dimension that the launch does not have.
    #[error(
        "a launch of {dims} dimension{} has grid {} and workgroup {}: dimension {} must be 1",
        if *.dims == 1 { "" } else { "s" }, Size(*.grid), Size(*.workgroup), Dim(*.dim)
    )]
    UnusedDimension {
        /// The dimension.
        dim: usize,
        /// Dimensions of the launch.
        dims: u16,
        /// The grid.
        grid: [u32; 3],
        /// The workgroup.
        workgroup: [u32; 3],
    },
    /// More work-items in a workgroup than hardware or kernel allow.
    #[error("a workgroup of {} has more than {limit} work-items", Size(*.workgroup))]
    WorkgroupTooLarge {
        /// The workgroup.
        workgroup: [u32; 3],
        /// The maximum.
        limit: u32,
    },
    /// The kernel was compiled for fewer work-items in a workgroup.
    #[error(
        "kernel {kernel} was compiled for workgroups of at most {limit} work-items; {} has {}",
        Size(*.workgroup), .workgroup.iter().product::<u32>()
    )]
    WorkgroupOverKernelLimit {
        /// The kernel.
        kernel: String,
        /// The workgroup.
        workgroup: [u32; 3],
        /// The maximum of the kernel's metadata.
        limit: u32,
    },
    /// The kernel was compiled for one workgroup size.
    #[error(
        "kernel {kernel} was compiled for workgroups of exactly {}, not {}",
        Size(*.required), Size(*.workgroup)
    )]
    WorkgroupNotRequired {
        /// The kernel.
        kernel: String,
        /// The workgroup.
        workgroup: [u32; 3],
        /// The size that the kernel's metadata require.
        required: [u32; 3],
    },
    /// More workgroups than can be counted.
    #[error("a grid of {} in workgroups of {} has more than 2^64 workgroups", Size(*.grid), Size(*.workgroup))]
    TooManyWorkgroups {
        /// The grid.
        grid: [u32; 3],
        /// The workgroup.
        workgroup: [u32; 3],
    },
    /// More LDS than the target has.
    #[error(
        "kernel {kernel} needs {fixed} bytes of LDS and the launch adds {dynamic}; \
         a workgroup of {gfx} has at most {limit}"
    )]
    LdsTooLarge {
        /// The kernel.
        kernel: String,
        /// Bytes of the kernel's descriptor.
        fixed: u32,
        /// Bytes that the launch adds.
        dynamic: u32,
        /// Target.
        gfx: Gfx,
        /// The target's limit.
        limit: u32,
    },
    /// More scratch than a lane can have.
    #[error(
        "kernel {kernel} needs {bytes} bytes of scratch for each work-item; at most {} are possible",
        MAX_LANE_SCRATCH
    )]
    ScratchTooLarge {
        /// The kernel.
        kernel: String,
        /// What it needs.
        bytes: u64,
    },
    /// The kernel's entry is not in the code object's code.
    #[error("kernel {kernel} begins at 0x{entry:x}, where its code object has no code")]
    EntryOutsideCode {
        /// The kernel.
        kernel: String,
        /// The entry's address.
        entry: u64,
    },
    /// Arguments that do not match the kernel.
    #[error(transparent)]
    Argument(#[from] ArgError),
    /// The caller's kernarg segment is smaller than the kernel's.
    #[error("kernel {kernel} has {needed} bytes of arguments, but only {given} were given")]
    KernargTooSmall {
        /// The kernel.
        kernel: String,
        /// Bytes that the kernel reads.
        needed: u64,
        /// Bytes of the segment.
        given: u64,
    },
    /// No guest memory for the dispatch's own structures.
    #[error("no guest memory for the dispatch itself (arguments and scratch): {0}")]
    Alloc(#[from] AllocError),
    /// The dispatch's own structures could not be written.
    #[error("the dispatch cannot be written to guest memory: {0}")]
    Memory(#[from] MemoryError),
}

/// Prints a dimension's letter.
struct Dim(usize);

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["x", "y", "z"].get(self.0).unwrap_or(&"?"))
    }
}

/// Prints a size.
struct Size([u32; 3]);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x}, {y}, {z})")
    }
}

/// Properties of a kernel that the dispatcher needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelCode {
    /// Its name.
    pub name: String,
    /// Guest address of the kernel descriptor.
    pub address: u64,
    /// The kernel descriptor.
    pub descriptor: KernelDescriptor,
    /// Guest address of the first instruction.
    pub entry: u64,
    /// Most work-items in a workgroup, when the metadata tell.
    pub max_work_items: Option<u32>,
    /// The only workgroup size, when the metadata tell.
    pub required_workgroup: Option<[u32; 3]>,
}

impl KernelCode {
    /// A kernel of a loaded code object.
    pub fn new(code: &LoadedCode, kernel: &Kernel) -> KernelCode {
        let metadata = kernel.metadata.as_ref();
        KernelCode {
            name: kernel.name.clone(),
            address: code.guest(kernel.descriptor_address),
            descriptor: kernel.descriptor,
            entry: code.guest(kernel.code.start),
            max_work_items: metadata.and_then(|metadata| metadata.max_flat_workgroup_size),
            required_workgroup: metadata.and_then(|metadata| metadata.reqd_workgroup_size),
        }
    }
}

/// The kernel's arguments.
#[derive(Clone, Copy, Debug)]
pub enum Arguments<'a> {
    /// Values, placed as the metadata say; hidden arguments are added.
    Values(&'a KernelMetadata, &'a [ArgValue]),
    /// The whole kernarg segment.
    Segment(&'a [u8]),
    /// The kernarg segment is in guest memory already.
    At(u64),
    /// The dispatch comes from a queue: kernarg segment, packet and queue are in guest memory
    /// already, and the kernel sees those.
    Queued(Queued),
}

/// A dispatch packet in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// Address of the kernarg segment.
    pub kernarg: u64,
    /// Address of the packet (`hsa_kernel_dispatch_packet_t`).
    pub packet: u64,
    /// Address of the queue (`amd_queue_t`).
    pub queue: u64,
    /// Number of the packet.
    pub dispatch_id: u64,
    /// Scratch bytes of a lane requested by the packet; the kernel gets no less than its descriptor
    /// states.
    pub private_bytes: u32,
}

/// One dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Grid and workgroups.
    pub shape: Shape,
    /// First global id in each dimension.
    pub global_offset: [u64; 3],
    /// Additional bytes of LDS.
    pub dynamic_lds: u32,
    /// Arguments.
    pub arguments: Arguments<'a>,
}

/// Checks the workgroup size against the kernel's metadata. A packet is not checked: a GPU does not
/// know these sizes, and ROCm 6 launches its own copy kernels beyond theirs.
pub(super) fn check_workgroup(kernel: &KernelCode, launch: &Launch<'_>) -> Result<(), LaunchError> {
    if let Arguments::Queued(_) = launch.arguments {
        return Ok(());
    }
    let shape = &launch.shape;
    let workgroup = shape.workgroup;
    let name = || kernel.name.clone();
    if let Some(required) = kernel.required_workgroup
        && required != workgroup
    {
        return Err(LaunchError::WorkgroupNotRequired {
            kernel: name(),
            workgroup,
            required,
        });
    }
    if let Some(limit) = kernel.max_work_items
        && shape.work_items() > limit
    {
        return Err(LaunchError::WorkgroupOverKernelLimit {
            kernel: name(),
            workgroup,
            limit,
        });
    }
    Ok(())
}

/// LDS of a workgroup: the kernel's, plus `dynamic` bytes.
pub(super) fn lds_size(gfx: Gfx, kernel: &KernelCode, dynamic: u32) -> Result<u32, LaunchError> {
    let fixed = kernel.descriptor.group_segment_fixed_size;
    let limit = gfx.lds_limit();
    fixed
        .checked_add(dynamic)
        .filter(|&bytes| bytes <= limit)
        .ok_or_else(|| LaunchError::LdsTooLarge {
            kernel: kernel.name.clone(),
            fixed,
            dynamic,
            gfx,
            limit,
        })
}

/// Scratch of a lane, 0 for none. `stack`: see [`Settings`](super::Settings).
pub(super) fn scratch_size(kernel: &KernelCode, stack: Option<u32>) -> Result<u32, LaunchError> {
    let descriptor = &kernel.descriptor;
    let (fixed, dynamic) = (
        descriptor.private_segment_fixed_size,
        descriptor.uses_dynamic_stack(),
    );
    if fixed == 0 && !dynamic && !descriptor.enable_private_segment() {
        return Ok(0);
    }
    let default = if dynamic { DEFAULT_STACK } else { 0 };
    let bytes = u64::from(fixed) + u64::from(stack.unwrap_or(default));
    // A wave's scratch is a multiple of 1 KiB, as the hardware's.
    let bytes = bytes.max(1).next_multiple_of(16);
    match u32::try_from(bytes) {
        Ok(bytes) if bytes <= MAX_LANE_SCRATCH => Ok(bytes),
        _ => Err(LaunchError::ScratchTooLarge {
            kernel: kernel.name.clone(),
            bytes,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> KernelCode {
        KernelCode {
            name: "k".to_owned(),
            ..KernelCode::default()
        }
    }

    #[test]
    fn the_kernels_own_limits_hold() {
        let mut kernel = kernel();
        let check_with = |kernel: &KernelCode, workgroup, arguments| {
            let launch = Launch {
                shape: Shape::new([4096, 1, 1], [workgroup, 1, 1], 1).unwrap(),
                global_offset: [0; 3],
                dynamic_lds: 0,
                arguments,
            };
            check_workgroup(kernel, &launch).map_err(|error| error.to_string())
        };
        let check = |kernel: &KernelCode, workgroup| {
            let at = check_with(kernel, workgroup, Arguments::At(4096));
            assert_eq!(at, check_with(kernel, workgroup, Arguments::Segment(&[])));
            let queued = Arguments::Queued(Queued::default());
            assert_eq!(check_with(kernel, workgroup, queued), Ok(()));
            at
        };
        kernel.max_work_items = Some(256);
        assert_eq!(check(&kernel, 256), Ok(()));
        assert_eq!(
            check(&kernel, 257).unwrap_err(),
            "kernel k was compiled for workgroups of at most 256 work-items; (257, 1, 1) has 257"
        );
        kernel.required_workgroup = Some([64, 1, 1]);
        assert_eq!(
            check(&kernel, 32).unwrap_err(),
            "kernel k was compiled for workgroups of exactly (64, 1, 1), not (32, 1, 1)"
        );
    }

    #[test]
    fn lds_has_the_targets_limit() {
        let mut kernel = kernel();
        kernel.descriptor.group_segment_fixed_size = 30 * 1024;
        let lds = |gfx, dynamic| lds_size(gfx, &kernel, dynamic);
        assert_eq!(lds(Gfx::Gfx600, 2048).unwrap(), 32 * 1024);
        assert_eq!(
            lds(Gfx::Gfx600, 2049).unwrap_err().to_string(),
            "kernel k needs 30720 bytes of LDS and the launch adds 2049; \
             a workgroup of gfx600 has at most 32768"
        );
        assert_eq!(lds(Gfx::Gfx700, 34 * 1024).unwrap(), 64 * 1024);
        assert!(lds(Gfx::Gfx90a, 34 * 1024 + 1).is_err());
        assert!(lds(Gfx::Gfx90a, u32::MAX).is_err());
    }

    #[test]
    fn scratch_is_rounded_and_limited() {
        let mut kernel = kernel();
        assert_eq!(scratch_size(&kernel, None).unwrap(), 0);
        assert_eq!(scratch_size(&kernel, Some(4096)).unwrap(), 0);
        kernel.descriptor.private_segment_fixed_size = 20;
        assert_eq!(scratch_size(&kernel, None).unwrap(), 32);
        assert_eq!(scratch_size(&kernel, Some(4096)).unwrap(), 4128);
        // The compiler does not know the stack depth.
        kernel.descriptor.properties = 1 << 11;
        assert_eq!(scratch_size(&kernel, None).unwrap(), 32 + DEFAULT_STACK);
        assert_eq!(scratch_size(&kernel, Some(0)).unwrap(), 32);
        assert_eq!(scratch_size(&kernel, Some(4096)).unwrap(), 4128);
        kernel.descriptor.private_segment_fixed_size = u32::MAX;
        assert_eq!(
            scratch_size(&kernel, Some(4096)).unwrap_err().to_string(),
            "kernel k needs 4294971392 bytes of scratch for each work-item; \
             at most 1048576 are possible"
        );
        kernel.descriptor = KernelDescriptor {
            rsrc2: 1,
            ..KernelDescriptor::default()
        };
        assert_eq!(scratch_size(&kernel, None).unwrap(), 16);
    }
}
