//! Names of the memory that arguments of a launch point into.

use wavelift::Arg;

use crate::device::Device;
use crate::kernel::Kernel;

/// The memory from a pointer among the arguments to the end of its allocation.
pub(crate) struct Named {
    /// Guest address.
    pub(crate) start: u64,
    /// Bytes.
    pub(crate) len: u64,
    /// The parameter, or its number where the code object has no names.
    pub(crate) name: String,
    /// Bytes of an element, if the type is known.
    element: Option<u64>,
}

/// The memory that pointers among the arguments of a kernel point into.
pub(crate) fn of_arguments(device: &Device, kernel: &Kernel, args: &[Arg]) -> Vec<Named> {
    let memory = device.inner().memory();
    let parameters = kernel.parameters.iter().zip(args).enumerate();
    let named = parameters.filter_map(|(index, (parameter, arg))| {
        let start = match arg {
            Arg::Pointer(address) => *address,
            Arg::Within(pointer) => pointer.address(),
            Arg::Bytes(_) | Arg::Local(_) | Arg::Segment(_) => return None,
        };
        let allocation = memory.allocation_of(start)?;
        let name = parameter.about.name.clone();
        Some(Named {
            start,
            len: allocation.start + allocation.len - start,
            name: name.unwrap_or_else(|| format!("argument {}", index + 1)),
            element: parameter.pointee().map(|element| element.size() as u64),
        })
    });
    named.collect()
}

/// The element at a guest address, such as `y[3]`; the address where no argument points. Of several names the
/// last.
pub(crate) fn element_at(names: &[Named], address: u64) -> String {
    let inside = |named: &&Named| address.wrapping_sub(named.start) < named.len;
    let Some(Named {
        start,
        name,
        element,
        ..
    }) = names.iter().rev().find(inside)
    else {
        return format!("0x{address:x}");
    };
    match element {
        Some(bytes) => format!("{name}[{}]", (address - start) / bytes),
        None => format!("{name}+0x{:x}", address - start),
    }
}
