//! Lays out the kernel argument segment: the caller's arguments and the hidden ones, where the
//! metadata places them and nowhere else. A pure function; an argument that does not fit is an
//! error, never a silent zero.

use crate::object::{ArgKind, ArgMetadata, KernelMetadata};

/// One argument from the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgValue {
    /// The bytes of a scalar or of a structure, for arguments by value.
    Bytes(Vec<u8>),
    /// A guest address, for pointers and handles.
    Pointer(u64),
    /// That many bytes of LDS, for pointers to LDS.
    Local(u32),
}

impl ArgValue {
    fn describe(&self) -> String {
        match self {
            ArgValue::Bytes(bytes) => format!("a value of {} bytes", bytes.len()),
            ArgValue::Pointer(_) => "a pointer".to_owned(),
            ArgValue::Local(_) => "a size of LDS".to_owned(),
        }
    }
}

macro_rules! from_scalar {
    ($($ty:ty)*) => {
        $(impl From<$ty> for ArgValue {
            fn from(value: $ty) -> ArgValue {
                ArgValue::Bytes(value.to_le_bytes().to_vec())
            }
        })*
    };
}
from_scalar!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

/// Inputs of the hidden arguments. Addresses of unavailable services are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenContext {
    /// The dispatch's dimensions, 1 to 3.
    pub dims: u16,
    /// Work-items in each dimension; 1 for missing dimensions.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in each dimension; 1 likewise.
    pub workgroup: [u32; 3],
    /// OpenCL's global work offset.
    pub global_offset: [u64; 3],
    /// High half of the private aperture's address.
    pub private_base_hi: u32,
    /// High half of the shared aperture's address.
    pub shared_base_hi: u32,
    /// Address of the queue structure.
    pub queue_ptr: u64,
    /// Bytes of LDS on top of the static ones, before those of pointer arguments.
    pub dynamic_lds: u32,
    /// Buffer of the OpenCL printf.
    pub printf_buffer: u64,
    /// Buffer for calls to the host.
    pub hostcall_buffer: u64,
    /// Synchronisation of cooperative grids.
    pub multigrid_sync: u64,
    /// The device's heap.
    pub heap: u64,
    /// The default device queue.
    pub default_queue: u64,
    /// Completion of device-enqueued kernels.
    pub completion_action: u64,
}

/// A kernel argument segment and its LDS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernarg {
    /// The segment's bytes.
    pub bytes: Vec<u8>,
    /// Alignment of the segment.
    pub align: u32,
    /// LDS of a workgroup: static, added by the caller, and of pointer arguments.
    pub lds_size: u32,
}

/// Why arguments do not suit a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgError {
    /// Too many or too few.
    #[error("kernel `{kernel}` takes {expected} arguments, but {given} are given")]
    Count {
        /// The kernel.
        kernel: String,
        /// Arguments in its metadata, hidden ones not counted.
        expected: usize,
        /// Arguments given.
        given: usize,
    },
    /// A value of the wrong size.
    #[error(
        "kernel `{kernel}`, argument {index} {arg}: takes {expected} bytes, but {given} are given"
    )]
    Size {
        /// The kernel.
        kernel: String,
        /// Number of the argument, from 0.
        index: usize,
        /// Its name and type.
        arg: String,
        /// Bytes that the kernel takes.
        expected: u32,
        /// Bytes given.
        given: usize,
    },
    /// A pointer for a value, or the like.
    #[error("kernel `{kernel}`, argument {index} {arg}: takes {expected}, but {given} is given")]
    Kind {
        /// The kernel.
        kernel: String,
        /// Number of the argument, from 0.
        index: usize,
        /// Its name and type.
        arg: String,
        /// The kernel's parameter.
        expected: &'static str,
        /// The given argument.
        given: String,
    },
    /// An argument of an unknown kind.
    #[error("kernel `{kernel}`, argument {index} {arg}: kind {kind} is not supported")]
    Unsupported {
        /// The kernel.
        kernel: String,
        /// Number of the argument in the metadata, from 0.
        index: usize,
        /// Its name and type.
        arg: String,
        /// The kind in the metadata.
        kind: String,
    },
    /// A hidden argument whose value does not fit.
    #[error("kernel `{kernel}`, hidden argument {kind}: {value} does not fit into {size} bytes")]
    Hidden {
        /// The kernel.
        kernel: String,
        /// The kind in the metadata.
        kind: String,
        /// The value.
        value: u64,
        /// Its size in the metadata.
        size: u32,
    },
    /// An impossible dispatch.
    #[error(
        "dispatch of {grid:?} work-items in groups of {workgroup:?} with {dims} dimensions is impossible: {defect}"
    )]
    Dispatch {
        /// Dimensions.
        dims: u16,
        /// Work-items.
        grid: [u32; 3],
        /// Work-items of a workgroup.
        workgroup: [u32; 3],
        /// The defect.
        defect: &'static str,
    },
    /// More LDS than 32 bits can count.
    #[error("kernel `{kernel}`: static and dynamic LDS together exceed 4 GiB")]
    Lds {
        /// The kernel.
        kernel: String,
    },
    /// An argument outside the segment.
    #[error(
        "kernel `{kernel}`, argument {index} {arg}: {size} bytes at {offset} are outside the {segment} bytes of arguments"
    )]
    Layout {
        /// The kernel.
        kernel: String,
        /// Number of the argument in the metadata, from 0.
        index: usize,
        /// Its name and type.
        arg: String,
        /// Its position.
        offset: u32,
        /// Its size.
        size: u32,
        /// The segment's size.
        segment: usize,
    },
}

/// Lays out the arguments of a kernel. Pointers to LDS get offsets after the static LDS and
/// `hidden.dynamic_lds`, in order, each aligned as its metadata says.
pub fn build(
    kernel: &KernelMetadata,
    explicit: &[ArgValue],
    hidden: &HiddenContext,
) -> Result<Kernarg, ArgError> {
    check_dispatch(hidden)?;
    let expected = kernel.explicit_args().count();
    if explicit.len() != expected {
        let (kernel, given) = (kernel.name.clone(), explicit.len());
        return Err(ArgError::Count {
            kernel,
            expected,
            given,
        });
    }
    let too_much = || ArgError::Lds {
        kernel: kernel.name.clone(),
    };
    let mut lds = kernel
        .group_segment_fixed_size
        .checked_add(hidden.dynamic_lds)
        .ok_or_else(too_much)?;
    let mut bytes = vec![0; kernel.kernarg_segment_size as usize];
    let mut values = explicit.iter().enumerate();
    for (index, arg) in kernel.args.iter().enumerate() {
        let data = if arg.kind.is_hidden() {
            hidden_value(kernel, index, arg, hidden)?
        } else if let Some((index, value)) = values.next() {
            explicit_value(kernel, index, arg, value, &mut lds)
                .and_then(|data| data.ok_or_else(too_much))?
        } else {
            continue; // the count was checked above
        };
        let start = arg.offset as usize;
        let end = start.saturating_add(arg.size as usize);
        let segment = bytes.len();
        let place = bytes.get_mut(start..end).ok_or_else(|| ArgError::Layout {
            kernel: kernel.name.clone(),
            index,
            arg: arg.label(),
            offset: arg.offset,
            size: arg.size,
            segment,
        })?;
        // `data` is at most as long as the argument; the rest is zero already.
        place[..data.len()].copy_from_slice(&data);
    }
    Ok(Kernarg {
        bytes,
        align: kernel.kernarg_segment_align,
        lds_size: lds,
    })
}

fn check_dispatch(hidden: &HiddenContext) -> Result<(), ArgError> {
    let HiddenContext {
        dims,
        grid,
        workgroup,
        ..
    } = *hidden;
    let wrong = |defect| {
        Err(ArgError::Dispatch {
            dims,
            grid,
            workgroup,
            defect,
        })
    };
    if !(1..=3).contains(&dims) {
        return wrong("there are 1 to 3 dimensions");
    }
    if grid.contains(&0) {
        return wrong("a dimension of the grid is empty");
    }
    if workgroup.contains(&0) {
        return wrong("a dimension of the workgroup is empty");
    }
    if workgroup.iter().any(|&size| size > u32::from(u16::MAX)) {
        return wrong("a workgroup's dimension exceeds 65535");
    }
    for dim in usize::from(dims)..3 {
        if grid[dim] != 1 || workgroup[dim] != 1 {
            return wrong("a dimension that is not used must be 1");
        }
    }
    Ok(())
}

/// The bytes of an explicit argument; `None` when its LDS is too much.
fn explicit_value(
    kernel: &KernelMetadata,
    index: usize,
    arg: &ArgMetadata,
    value: &ArgValue,
    lds: &mut u32,
) -> Result<Option<Vec<u8>>, ArgError> {
    let wrong = |expected| ArgError::Kind {
        kernel: kernel.name.clone(),
        index,
        arg: arg.label(),
        expected,
        given: value.describe(),
    };
    let sized = |data: Vec<u8>| {
        if data.len() == arg.size as usize {
            return Ok(Some(data));
        }
        Err(ArgError::Size {
            kernel: kernel.name.clone(),
            index,
            arg: arg.label(),
            expected: arg.size,
            given: data.len(),
        })
    };
    match (&arg.kind, value) {
        (ArgKind::ByValue, ArgValue::Bytes(data)) => sized(data.clone()),
        (ArgKind::ByValue, _) => Err(wrong("a value")),
        (ArgKind::GlobalBuffer, ArgValue::Pointer(address)) => sized(address.to_le_bytes().into()),
        (ArgKind::GlobalBuffer, _) => Err(wrong("a pointer")),
        (ArgKind::DynamicSharedPointer, ArgValue::Local(bytes)) => {
            let align = arg.pointee_align.unwrap_or(1).max(1);
            let Some(start) = lds.checked_next_multiple_of(align) else {
                return Ok(None);
            };
            let Some(end) = start.checked_add(*bytes) else {
                return Ok(None);
            };
            *lds = end;
            sized(start.to_le_bytes().into())
        }
        (ArgKind::DynamicSharedPointer, _) => Err(wrong("a size of LDS")),
        (
            ArgKind::Sampler | ArgKind::Image | ArgKind::Pipe | ArgKind::Queue,
            ArgValue::Pointer(address),
        ) => sized(address.to_le_bytes().into()),
        (ArgKind::Sampler | ArgKind::Image | ArgKind::Pipe | ArgKind::Queue, _) => {
            Err(wrong("the address of a sampler, image, pipe or queue"))
        }
        (kind, _) => Err(unsupported(kernel, index, arg, kind)),
    }
}

fn unsupported(
    kernel: &KernelMetadata,
    index: usize,
    arg: &ArgMetadata,
    kind: &ArgKind,
) -> ArgError {
    let kernel = kernel.name.clone();
    ArgError::Unsupported {
        kernel,
        index,
        arg: arg.label(),
        kind: kind.to_string(),
    }
}

fn hidden_value(
    kernel: &KernelMetadata,
    index: usize,
    arg: &ArgMetadata,
    hidden: &HiddenContext,
) -> Result<Vec<u8>, ArgError> {
    let offset = |dim: usize| hidden.global_offset[dim];
    // Only complete workgroups count; a partial one is in the remainder.
    let blocks = |dim: usize| u64::from(hidden.grid[dim] / hidden.workgroup[dim]);
    let size = |dim: usize| u64::from(hidden.workgroup[dim]);
    let remainder = |dim: usize| u64::from(hidden.grid[dim] % hidden.workgroup[dim]);
    let value = match &arg.kind {
        ArgKind::HiddenNone => return Ok(Vec::new()),
        ArgKind::HiddenGlobalOffsetX => offset(0),
        ArgKind::HiddenGlobalOffsetY => offset(1),
        ArgKind::HiddenGlobalOffsetZ => offset(2),
        ArgKind::HiddenBlockCountX => blocks(0),
        ArgKind::HiddenBlockCountY => blocks(1),
        ArgKind::HiddenBlockCountZ => blocks(2),
        ArgKind::HiddenGroupSizeX => size(0),
        ArgKind::HiddenGroupSizeY => size(1),
        ArgKind::HiddenGroupSizeZ => size(2),
        ArgKind::HiddenRemainderX => remainder(0),
        ArgKind::HiddenRemainderY => remainder(1),
        ArgKind::HiddenRemainderZ => remainder(2),
        ArgKind::HiddenGridDims => u64::from(hidden.dims),
        ArgKind::HiddenPrintfBuffer => hidden.printf_buffer,
        ArgKind::HiddenHostcallBuffer => hidden.hostcall_buffer,
        ArgKind::HiddenDefaultQueue => hidden.default_queue,
        ArgKind::HiddenCompletionAction => hidden.completion_action,
        ArgKind::HiddenMultigridSyncArg => hidden.multigrid_sync,
        ArgKind::HiddenHeapV1 => hidden.heap,
        ArgKind::HiddenDynamicLdsSize => u64::from(hidden.dynamic_lds),
        ArgKind::HiddenPrivateBase => u64::from(hidden.private_base_hi),
        ArgKind::HiddenSharedBase => u64::from(hidden.shared_base_hi),
        ArgKind::HiddenQueuePtr => hidden.queue_ptr,
        other => return Err(unsupported(kernel, index, arg, other)),
    };
    let bytes = value.to_le_bytes();
    let kept = bytes.len().min(arg.size as usize);
    if bytes[kept..].iter().any(|&byte| byte != 0) {
        let (kernel, kind) = (kernel.name.clone(), arg.kind.to_string());
        return Err(ArgError::Hidden {
            kernel,
            kind,
            value,
            size: arg.size,
        });
    }
    Ok(bytes[..kept].to_vec())
}

#[cfg(test)]
mod tests;
