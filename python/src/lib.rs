//! The Python package `wavelift` on the library of the same name: devices, code objects and kernels
//! that run on NumPy arrays. `python/wavelift/_wavelift.pyi` has its interface.
//!
//! A launch goes through [`kernel`], which has its arguments converted by the kernel's metadata
//! ([`scalar`], [`array`]), and [`launch`]: [`place`] decides which arrays kernels access where they are,
//! [`checks`] notes launches whose accesses are checked, and [`run`] lets other Python threads run meanwhile
//! and stops the kernel at Ctrl-C.

use pyo3::prelude::*;

mod array;
mod buffer;
mod checks;
mod device;
mod diff;
mod dlpack;
mod elsewhere;
mod error;
mod exported;
mod finding;
mod kernel;
mod launch;
mod module;
mod names;
mod parameter;
mod place;
mod profile;
mod run;
mod scalar;
mod stats;
mod stream;
mod suppression;
mod trace;

#[pymodule]
mod _wavelift {
    #[pymodule_export]
    use super::buffer::{Buffer, Local, Pointer};
    #[pymodule_export]
    use super::device::{Device, default_device};
    #[pymodule_export]
    use super::diff::Difference;
    #[pymodule_export]
    use super::finding::{Finding, Instruction};
    #[pymodule_export]
    use super::kernel::Kernel;
    #[pymodule_export]
    use super::module::{Module, targets};
    #[pymodule_export]
    use super::parameter::Parameter;
    #[pymodule_export]
    use super::profile::Profile;
    #[pymodule_export]
    use super::stats::Stats;
    #[pymodule_export]
    use super::stream::{Event, Stream};
    #[pymodule_export]
    use super::suppression::Suppression;
    #[pymodule_export]
    use super::trace::TraceEvent;
}
