//! Arguments of kernels.

use std::fmt;
use std::sync::Arc;

use bytemuck::NoUninit;
use runtime::kernarg::ArgValue;

use crate::buffer;
use crate::device::Device;
use crate::error::Error;
use crate::host_buffer::Region;

/// An argument of a kernel.
///
/// Buffers convert into pointers, and each type without padding ([`NoUninit`]) converts into its
/// bytes: integers and floats of all sizes, [`f16`](half::f16), `bool`, arrays of these, and
/// structures that derive [`NoUninit`] or [`Pod`](bytemuck::Pod). The launch checks that the
/// kernel's parameter has that size. Slices are given by [`Arg::slice`], LDS by [`Arg::Local`].
///
/// ```
/// use wavelift::bytemuck::{self, NoUninit};
/// use wavelift::{Arg, half::f16};
///
/// #[derive(Clone, Copy, NoUninit)]
/// #[bytemuck(crate = "wavelift::bytemuck")]
/// #[repr(C)]
/// struct View {
///     corner: [f32; 2],
///     width: u32,
/// }
///
/// # fn main() -> Result<(), wavelift::Error> {
/// let device = wavelift::Device::new()?;
/// let buffer = device.buffer(&[0u32; 100])?;
/// let view = View { corner: [-2.0, -1.0], width: 10 };
/// let args: [Arg; 6] = [
///     (&buffer).into(),
///     buffer.at(40)?,
///     view.into(),
///     f16::from_f32(0.5).into(),
///     [1u32, 2, 3].into(),
///     Arg::Local(1024),
/// ];
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub enum Arg {
    /// The bytes of a scalar, an array or a structure, for parameters by value. If the code object
    /// has no metadata, the whole kernarg segment.
    Bytes(Vec<u8>),
    /// A guest address, for pointers and handles. Nothing keeps the memory there alive.
    Pointer(u64),
    /// That many bytes of LDS, for pointers to LDS.
    Local(u32),
    /// A pointer into a buffer or into host memory, which is kept alive.
    Within(Within),
    /// The whole kernarg segment as it stands, hidden arguments included, whatever the metadata says.
    /// It is the only argument of a launch, and keeps no memory alive.
    Segment(Vec<u8>),
}

/// A pointer into a [`Buffer`](crate::Buffer), an [`HostBuffer`](crate::HostBuffer) or a
/// [`HostRange`](crate::HostRange) as an argument; it keeps the memory alive. Made by their methods
/// `at` and by conversion.
///
/// ```
/// # fn main() -> Result<(), wavelift::Error> {
/// use wavelift::Arg;
/// let buffer = wavelift::Device::new()?.alloc(64)?;
/// let Arg::Within(pointer) = buffer.at(16)? else { unreachable!() };
/// assert_eq!(pointer.address(), buffer.address() + 16);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Within {
    address: u64,
    owner: Owner,
}

/// What a pointer keeps alive.
#[derive(Clone)]
pub(crate) enum Owner {
    Buffer(Arc<buffer::Inner>),
    Host(Arc<Region>),
}

impl fmt::Debug for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}

impl Within {
    /// The guest address.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl Arg {
    /// The bytes of the elements, for parameters that are arrays or structures by value.
    ///
    /// ```
    /// let matrix = vec![1.0f32, 0.0, 0.0, 1.0];
    /// let arg = wavelift::Arg::slice(&matrix);
    /// assert!(matches!(arg, wavelift::Arg::Bytes(bytes) if bytes.len() == 16));
    /// ```
    pub fn slice<T: NoUninit>(data: &[T]) -> Arg {
        Arg::Bytes(bytemuck::cast_slice(data).to_vec())
    }

    pub(crate) fn within(address: u64, owner: Owner) -> Arg {
        Arg::Within(Within { address, owner })
    }

    /// May this kernel of the device have it as the argument with this number?
    pub(crate) fn check(&self, device: &Device, kernel: &str, index: usize) -> Result<(), Error> {
        let Arg::Within(Within { owner, .. }) = self else {
            return Ok(());
        };
        let (of, registered) = match owner {
            Owner::Buffer(buffer) => (&buffer.device, true),
            Owner::Host(region) => (region.device(), region.is_registered()),
        };
        if !Arc::ptr_eq(&of.0, &device.0) {
            let kernel = kernel.to_owned();
            return Err(Error::OtherDeviceArg { kernel, index });
        }
        if !registered {
            let kernel = kernel.to_owned();
            return Err(Error::NotRegistered { kernel, index });
        }
        Ok(())
    }

    /// The dispatcher's form of it; `None` for a segment, which is no single argument.
    pub(crate) fn value(&self) -> Option<ArgValue> {
        Some(match self {
            Arg::Bytes(bytes) => ArgValue::Bytes(bytes.clone()),
            Arg::Pointer(address) | Arg::Within(Within { address, .. }) => {
                ArgValue::Pointer(*address)
            }
            Arg::Local(bytes) => ArgValue::Local(*bytes),
            Arg::Segment(_) => return None,
        })
    }
}

impl<T: NoUninit> From<T> for Arg {
    fn from(value: T) -> Arg {
        Arg::Bytes(bytemuck::bytes_of(&value).to_vec())
    }
}
