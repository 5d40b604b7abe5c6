//! The geometry of a launch.

use runtime::dispatch::{self, Arguments, Shape};
use runtime::kernarg::ArgValue;
use runtime::object::KernelMetadata;

use crate::arg::Arg;
use crate::error::Error;
use crate::module::Kernel;

/// A number of work-items in one to three dimensions; made from `n`, `[x]`, `[x, y]` or `[x, y, z]`.
///
/// ```
/// use wavelift::Size;
///
/// assert_eq!(Size::from_slice(&[64, 2]), Some(Size::from([64, 2])));
/// assert_eq!(Size::from_slice(&[1, 2, 3, 4]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    sizes: [u32; 3],
    dims: u16,
}

impl Size {
    /// From one to three numbers.
    pub fn from_slice(sizes: &[u32]) -> Option<Size> {
        match *sizes {
            [x] => Some(x.into()),
            [x, y] => Some([x, y].into()),
            [x, y, z] => Some([x, y, z].into()),
            _ => None,
        }
    }

    /// Work-items of a workgroup in that many dimensions (1 to 3) where nothing says how many: what
    /// the kernel requires, else 256, 16 by 16 or 8 by 8 by 4, or less if the kernel allows less.
    ///
    /// ```
    /// assert_eq!(wavelift::Size::default_workgroup(2, None), [16, 16]);
    /// ```
    pub fn default_workgroup(dimensions: usize, info: Option<&KernelMetadata>) -> Vec<u32> {
        if let Some(required) = info.and_then(|info| info.reqd_workgroup_size) {
            return required[..dimensions.clamp(1, 3)].to_vec();
        }
        let most = info.and_then(|info| info.max_flat_workgroup_size);
        let mut block = match dimensions {
            0 | 1 => vec![256],
            2 => vec![16, 16],
            _ => vec![8, 8, 4],
        };
        while block.iter().product::<u32>() > most.unwrap_or(1024).max(1) {
            if let Some(greatest) = block.iter_mut().max() {
                *greatest /= 2;
            }
        }
        block
    }
}

impl From<u32> for Size {
    fn from(x: u32) -> Size {
        [x].into()
    }
}

impl From<[u32; 1]> for Size {
    fn from([x]: [u32; 1]) -> Size {
        Size {
            sizes: [x, 1, 1],
            dims: 1,
        }
    }
}

impl From<[u32; 2]> for Size {
    fn from([x, y]: [u32; 2]) -> Size {
        Size {
            sizes: [x, y, 1],
            dims: 2,
        }
    }
}

impl From<[u32; 3]> for Size {
    fn from(sizes: [u32; 3]) -> Size {
        Size { sizes, dims: 3 }
    }
}

/// How a kernel is spread over work-items.
///
/// ```
/// use wavelift::Launch;
///
/// // 1000 work-items in workgroups of 256, the last one partial.
/// let line = Launch::new(1000, 256);
/// // An image in tiles of 16 by 8; the kernel has 4 KiB of LDS more than it declares.
/// let image = Launch::new([1920, 1080], [16, 8]).dynamic_lds(4096);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    grid: Size,
    workgroup: Size,
    global_offset: [u64; 3],
    dynamic_lds: u32,
}

impl Launch {
    /// `grid` work-items in workgroups of `workgroup`. The grid determines the number of
    /// dimensions; the last workgroup of a dimension may be partial.
    pub fn new(grid: impl Into<Size>, workgroup: impl Into<Size>) -> Launch {
        Launch {
            grid: grid.into(),
            workgroup: workgroup.into(),
            global_offset: [0; 3],
            dynamic_lds: 0,
        }
    }

    /// The first global id in each dimension, as OpenCL's global work offset.
    pub fn global_offset(self, global_offset: [u64; 3]) -> Launch {
        Launch {
            global_offset,
            ..self
        }
    }

    /// Bytes of LDS in addition to those of the kernel and of its arguments.
    pub fn dynamic_lds(self, dynamic_lds: u32) -> Launch {
        Launch {
            dynamic_lds,
            ..self
        }
    }

    /// The numbers in each dimension of the workgroup that is dispatched as the `number`th, from 0 on; `None` if there
    /// are not so many. The first dimension counts fastest.
    ///
    /// ```
    /// # use wavelift::Launch;
    /// let launch = Launch::new([64, 64], [16, 16]);
    /// assert_eq!(launch.workgroup(6)?, Some([2, 1, 0]));
    /// assert_eq!(launch.workgroup(16)?, None);
    /// # Ok::<(), wavelift::Error>(())
    /// ```
    pub fn workgroup(&self, number: u64) -> Result<Option<[u32; 3]>, Error> {
        let shape = self.shape()?;
        Ok((number < shape.total()).then(|| shape.group(number).id))
    }

    /// Its workgroups.
    pub(crate) fn shape(&self) -> Result<Shape, Error> {
        let shape = Shape::new(self.grid.sizes, self.workgroup.sizes, self.grid.dims);
        Ok(shape.map_err(dispatch::RunError::Launch)?)
    }

    /// The dispatcher's form of the launch.
    pub(crate) fn resolve<'a>(
        &self,
        arguments: Arguments<'a>,
    ) -> Result<dispatch::Launch<'a>, Error> {
        Ok(dispatch::Launch {
            shape: self.shape()?,
            global_offset: self.global_offset,
            dynamic_lds: self.dynamic_lds,
            arguments,
        })
    }
}

/// The dispatcher's form of the arguments of `kernel`. `values` holds those that are not given as a
/// segment.
pub(crate) fn arguments<'a>(
    kernel: &'a Kernel,
    args: &'a [Arg],
    values: &'a mut Vec<ArgValue>,
) -> Result<Arguments<'a>, Error> {
    if let [Arg::Segment(bytes)] = args {
        return Ok(Arguments::Segment(bytes));
    }
    for arg in args {
        let Some(value) = arg.value() else {
            return Err(Error::SegmentAmongArgs(kernel.name().to_owned()));
        };
        values.push(value);
    }
    match (kernel.info(), &values[..]) {
        (Some(metadata), values) => Ok(Arguments::Values(metadata, values)),
        // Without metadata the arguments are the kernarg segment as it stands, or nothing.
        (None, [ArgValue::Bytes(bytes)]) => Ok(Arguments::Segment(bytes)),
        (None, []) => Ok(Arguments::Segment(&[])),
        (None, _) => Err(Error::NoMetadata(kernel.name().to_owned())),
    }
}
