//! Profiles of kernels.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use wavelift::profile::{self, KernelProfile, Run};
use wavelift::{DeviceOptions, EngineKind, EngineOptions, Launch, Profiling};

use crate::device::Device;
use crate::elsewhere::Elsewhere;
use crate::kernel::Kernel;
use crate::run;

/// Factor of the time limit for the launch with counters, which may take many times as long.
const PATIENCE: u32 = 100;

/// Where a kernel spends its time, and how it was translated.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Profile {
    kernels: Vec<KernelProfile>,
}

/// Launches a kernel twice, timed and with counters, each on a device of its own with copies of the
/// arguments.
pub(crate) fn measure(
    py: Python<'_>,
    kernel: &Kernel,
    values: &Bound<'_, PyTuple>,
    launch: &Launch,
    timeout: Option<Duration>,
) -> PyResult<Profile> {
    let once = |profiling| -> PyResult<Run> {
        let known = kernel.module.get();
        let options = known.device.get().inner().options();
        let limit = timeout.or(options.timeout);
        let options = DeviceOptions {
            engine: EngineKind::Jit,
            engine_options: EngineOptions {
                profile: Some(profiling),
                ..options.engine_options.clone()
            },
            timeout: match profiling {
                Profiling::Times => limit,
                Profiling::Counts | Profiling::Coverage => {
                    limit.map(|limit| limit.saturating_mul(PATIENCE))
                }
            },
            sanitize: false,
            ..options.clone()
        };
        let there = Elsewhere::new(py, kernel, values, Device::with_options(py, options)?)?;
        let (device, inner) = (there.device.get(), &there.kernel.inner);
        let mut run = Run::new(device.inner());
        let settings = device.settings(None);
        let stats = run::launch(py, device, inner, launch, &there.args, settings)?;
        run.add(inner, 1, stats.waves);
        Ok(run)
    };
    let timed = once(Profiling::Times)?;
    let counted = once(Profiling::Counts)?;
    Ok(Profile {
        kernels: timed.with(&counted),
    })
}

impl Profile {
    fn sum<T: std::iter::Sum>(&self, of: impl FnMut(&KernelProfile) -> T) -> T {
        self.kernels.iter().map(of).sum()
    }

    fn kernel(&self) -> &str {
        self.kernels.first().map_or("", |kernel| &kernel.kernel)
    }
}

#[pymethods]
impl Profile {
    /// Seconds in translated code and what it calls, over all threads.
    #[getter]
    fn seconds(&self) -> f64 {
        self.sum(|kernel| kernel.seconds)
    }

    /// Waves run.
    #[getter]
    fn waves(&self) -> u64 {
        self.sum(|kernel| kernel.waves)
    }

    /// Instructions executed by waves.
    #[getter]
    fn instructions(&self) -> u64 {
        self.sum(|kernel| kernel.instructions)
    }

    /// The same, each counted once for every active lane (scalar instructions once).
    #[getter]
    fn lane_instructions(&self) -> u64 {
        self.sum(|kernel| kernel.lane_instructions)
    }

    /// A page of HTML: regions and blocks by time, the reasons why they are not faster, and the
    /// disassembly with executions, active lanes and share of time.
    fn html(&self) -> PyResult<String> {
        let mut page = Vec::new();
        profile::page(&mut page, self.kernel(), &self.kernels)?;
        Ok(String::from_utf8(page)?)
    }

    fn _repr_html_(&self) -> PyResult<String> {
        let mut part = Vec::new();
        profile::fragment(&mut part, &self.kernels)?;
        Ok(String::from_utf8(part)?)
    }

    fn __str__(&self) -> String {
        self.kernels.iter().map(KernelProfile::to_string).collect()
    }

    fn __repr__(&self) -> String {
        let (kernel, instructions) = (self.kernel(), self.instructions());
        let milliseconds = self.seconds() * 1e3;
        format!("<wavelift.Profile of {kernel}: {instructions} instructions, {milliseconds:.3} ms>")
    }
}
