//! Launch manifests: one TOML file that describes a run, its buffers, its dispatches in order, its
//! outputs and its expectations. [`Manifest::load`] reads the manifest and every file that it names
//! except code objects, and checks everything that does not depend on those.

use std::path::{Path, PathBuf};

mod array;
mod check;
mod compare;
mod error;
mod inside;
pub mod keys;
pub mod npy;
mod parse;
pub mod random;
mod tree;

pub use array::Array;
pub use check::{Check, NO_REASON, Suppression};
pub use compare::{Comparison, Errors, FirstMismatch, Greatest, Tolerance};
pub use error::{ManifestError, Place};
pub use inside::{is_inside, outside};
pub use runtime::files::read_whole;

pub use crate::dtype::{Dtype, Value};

/// A whole manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The file.
    pub path: PathBuf,
    /// Where guest memory is; `None` leaves it to the host.
    pub memory: Option<MemoryPlace>,
    /// Buffers in the order in which they are written.
    pub buffers: Vec<Buffer>,
    /// Dispatches in order.
    pub dispatches: Vec<Dispatch>,
    /// Files to write after the last dispatch.
    pub outputs: Vec<Output>,
    /// Expected contents of buffers after the last dispatch.
    pub expectations: Vec<Expectation>,
    /// How `wavelift check` checks it; other commands do not use that.
    pub check: Check,
}

/// Where guest memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlace {
    /// Where it stands.
    pub place: Place,
    /// The first address.
    pub address: u64,
    /// Bytes of address space.
    pub bytes: u64,
}

/// A buffer and its initial contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Where it stands.
    pub place: Place,
    /// Name.
    pub name: String,
    /// Does the shape come from a file, so that expectations must have the same?
    pub shaped: bool,
    /// Contents.
    pub array: Array,
    /// Nobody has written the contents, which are zeros, as far as checks are concerned.
    pub undefined: bool,
    /// The guest address of the first byte; there if the manifest has a place for memory.
    pub address: Option<u64>,
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// Where it stands.
    pub place: Place,
    /// The code object's file.
    pub code_object: PathBuf,
    /// Where the code object is named.
    pub code_object_place: Place,
    /// Where the code object is loaded; there if the manifest has a place for memory.
    pub code_address: Option<u64>,
    /// Kernel.
    pub kernel: String,
    /// Where the kernel is named.
    pub kernel_place: Place,
    /// Dimensions of the grid, 1 to 3.
    pub dimensions: u32,
    /// Work-items in each dimension.
    pub grid: [u32; 3],
    /// Where the grid stands.
    pub grid_place: Place,
    /// Work-items of a workgroup in each dimension.
    pub workgroup: [u32; 3],
    /// Where the workgroup stands.
    pub workgroup_place: Place,
    /// OpenCL's global work offset.
    pub global_offset: [u64; 3],
    /// Bytes of LDS in addition to the static ones and those of `local` arguments.
    pub dynamic_lds: u32,
    /// Where the dynamic LDS stands; the dispatch when it is not given.
    pub dynamic_lds_place: Place,
    /// Bytes of stack of a work-item, its scratch in addition to the scratch that the kernel
    /// states; `None` leaves it to the device.
    pub stack: Option<u32>,
    /// Where the stack stands; the dispatch when it is not given.
    pub stack_place: Place,
    /// Counters of the resources of the global wave sync before each launch, from resource 0 on;
    /// `None` leaves them as they are.
    pub gws: Option<Vec<u32>>,
    /// How often it is launched.
    pub repeat: u64,
    /// Arguments.
    pub args: Vec<(Place, Arg)>,
    /// The whole kernarg segment, in place of arguments.
    pub kernarg: Option<Vec<u8>>,
    /// Where the arguments stand; the dispatch when they are not given.
    pub args_place: Place,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The address of a buffer plus bytes.
    Buffer {
        /// Which of the manifest's buffers.
        index: usize,
        /// Offset in bytes.
        offset: u64,
    },
    /// A number.
    Scalar {
        /// Its type.
        dtype: Dtype,
        /// Its little-endian bytes.
        bytes: Vec<u8>,
    },
    /// A pointer to that many bytes of LDS.
    Local(u32),
    /// Raw bytes of a struct by value.
    Bytes(Vec<u8>),
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Where it stands.
    pub place: Place,
    /// Which of the manifest's buffers.
    pub buffer: usize,
    /// The file as the manifest names it.
    pub file: PathBuf,
}

/// The expected contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Where it stands.
    pub place: Place,
    /// Which of the manifest's buffers.
    pub buffer: usize,
    /// The right contents.
    pub array: Array,
    /// How far they may be off.
    pub tolerance: Tolerance,
}

/// Greatest size of a manifest's text in bytes. The values of larger ones would take seconds to read and many times their
/// size in memory.
const MAX_TEXT: u64 = 8 << 20;

impl Manifest {
    /// Reads a manifest and the data files that it names.
    pub fn load(path: &Path) -> Result<Manifest, ManifestError> {
        Manifest::parse(path, &Manifest::text(path)?)
    }

    /// As [`Manifest::load`], for a manifest of unknown origin: the files that it names to read must be in its folder or
    /// below it, links resolved.
    pub fn load_inside(path: &Path) -> Result<Manifest, ManifestError> {
        Manifest::parse_inside(path, &Manifest::text(path)?)
    }

    /// The text of the file.
    fn text(path: &Path) -> Result<String, ManifestError> {
        let error = |message| ManifestError {
            path: path.to_owned(),
            place: None,
            message,
        };
        let unreadable = |cause: &dyn std::fmt::Display| error(format!("cannot be read: {cause}"));
        let size = std::fs::metadata(path)
            .map_err(|cause| unreadable(&cause))?
            .len();
        if size > MAX_TEXT {
            return Err(error(format!(
                "{size} bytes are too many for a manifest, which has at most {MAX_TEXT}; put large arrays into .npy files: \
                 {{ file = \"x.npy\" }}"
            )));
        }
        let bytes = read_whole(path).map_err(|cause| unreadable(&cause))?;
        String::from_utf8(bytes)
            .map_err(|cause| unreadable(&format!("it is no text: {}", cause.utf8_error())))
    }

    /// Reads a manifest from text; relative names in it are relative to `path`.
    pub fn parse(path: &Path, text: &str) -> Result<Manifest, ManifestError> {
        parse::manifest(path, text, &parse::Files::anywhere(path))
    }

    /// As [`Manifest::parse`], with the files of [`Manifest::load_inside`].
    pub fn parse_inside(path: &Path, text: &str) -> Result<Manifest, ManifestError> {
        parse::manifest(path, text, &parse::Files::inside(path))
    }

    /// The folder that names in the manifest are relative to.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// An error at a position of this manifest.
    pub fn error(&self, place: &Place, message: impl Into<String>) -> ManifestError {
        ManifestError {
            path: self.path.clone(),
            place: Some(place.clone()),
            message: message.into(),
        }
    }
}
