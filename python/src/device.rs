//! Devices: memory and an engine.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use wavelift::{DeviceOptions, EngineKind, Settings};

use crate::array::View;
use crate::buffer::Buffer;
use crate::checks::Checks;
use crate::error::exception;
use crate::finding::Finding;
use crate::parameter::{Parameter, type_name};
use crate::place::Registry;
use crate::stream::Stream;

/// A device that runs kernels: memory and an engine.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Device {
    inner: wavelift::Device,
    registry: Arc<Registry>,
    /// Runs the launches of the main thread, which waits for signals meanwhile.
    own_stream: Mutex<Option<wavelift::Stream>>,
    /// Of a device that checks launches.
    checks: Option<Checks>,
}

/// The engine of this name.
pub(crate) fn engine(name: &str) -> PyResult<EngineKind> {
    match name {
        "jit" => Ok(EngineKind::Jit),
        "interp" => Ok(EngineKind::Interp),
        _ => Err(PyValueError::new_err(format!(
            "engine must be 'jit' or 'interp', not {name:?}"
        ))),
    }
}

/// A time limit in seconds.
pub(crate) fn limit(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(seconds) = seconds else {
        return Ok(None);
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(Some(limit)),
        _ => Err(PyValueError::new_err(format!(
            "timeout must be a positive number of seconds, not {seconds}"
        ))),
    }
}

/// The device that modules use which name none.
#[pyfunction]
#[pyo3(signature = (engine = "jit"))]
pub(crate) fn default_device(py: Python<'_>, engine: &str) -> PyResult<Py<Device>> {
    default(py, self::engine(engine)?)
}

pub(crate) fn default(py: Python<'_>, engine: EngineKind) -> PyResult<Py<Device>> {
    static JIT: PyOnceLock<Py<Device>> = PyOnceLock::new();
    static INTERP: PyOnceLock<Py<Device>> = PyOnceLock::new();
    let device = match engine {
        EngineKind::Jit => &JIT,
        EngineKind::Interp => &INTERP,
    };
    let device = device.get_or_try_init(py, || {
        let options = DeviceOptions {
            engine,
            ..DeviceOptions::default()
        };
        Py::new(py, Device::with_options(py, options)?)
    })?;
    Ok(device.clone_ref(py))
}

impl Device {
    pub(crate) fn with_options(py: Python<'_>, options: DeviceOptions) -> PyResult<Device> {
        let inner = wavelift::Device::with_options(options);
        Ok(inner.map_err(|error| exception(py, &error))?.into())
    }

    pub(crate) fn inner(&self) -> &wavelift::Device {
        &self.inner
    }

    /// Settings of a launch.
    pub(crate) fn settings(&self, timeout: Option<Duration>) -> Settings<'static> {
        let settings = self.inner.settings();
        Settings {
            timeout: timeout.or(settings.timeout),
            ..settings
        }
    }

    pub(crate) fn checks(&self) -> Option<&Checks> {
        self.checks.as_ref()
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Is there the device's memory at that address of the host?
    pub(crate) fn contains(&self, address: usize) -> bool {
        let memory = self.inner.memory();
        (address as u64).wrapping_sub(memory.arena_base()) < memory.arena_len()
    }

    pub(crate) fn kind(&self) -> EngineKind {
        self.inner.options().engine
    }

    /// The stream for launches of the main thread.
    pub(crate) fn own_stream(&self) -> Result<wavelift::Stream, wavelift::Error> {
        let mut stream = self
            .own_stream
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = &*stream {
            return Ok(stream.clone());
        }
        Ok(stream.insert(self.inner.stream()?).clone())
    }

    /// A stream runs nothing more after a launch has failed.
    pub(crate) fn forget_stream(&self) {
        *self
            .own_stream
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl From<wavelift::Device> for Device {
    fn from(inner: wavelift::Device) -> Device {
        Device {
            checks: inner.options().sanitize.then(Checks::default),
            inner,
            registry: Arc::default(),
            own_stream: Mutex::new(None),
        }
    }
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (*, engine = "jit", threads = 0, timeout = None, memcheck = false, sanitize = false, stack = None))]
    fn new(
        py: Python<'_>,
        engine: &str,
        threads: usize,
        timeout: Option<f64>,
        memcheck: bool,
        sanitize: bool,
        stack: Option<u32>,
    ) -> PyResult<Device> {
        let options = DeviceOptions {
            engine: self::engine(engine)?,
            threads,
            timeout: limit(timeout)?,
            memcheck,
            sanitize,
            stack_bytes: stack,
            ..DeviceOptions::default()
        };
        Device::with_options(py, options)
    }

    /// The engine: "jit" or "interp".
    #[getter]
    pub(crate) fn engine(&self) -> &'static str {
        match self.kind() {
            EngineKind::Jit => "jit",
            EngineKind::Interp => "interp",
        }
    }

    /// Worker threads; 0 means one for each processor.
    #[getter]
    fn threads(&self) -> usize {
        self.inner.options().threads
    }

    /// Time limit of a launch in seconds.
    #[getter]
    fn timeout(&self) -> Option<f64> {
        let timeout = self.inner.options().timeout;
        timeout.map(|timeout| timeout.as_secs_f64())
    }

    /// Are accesses checked against exact allocations?
    #[getter]
    fn memcheck(&self) -> bool {
        self.inner.options().memcheck
    }

    /// Are launches checked for races and other defects?
    #[getter]
    fn sanitize(&self) -> bool {
        self.inner.options().sanitize
    }

    /// What launches were found to do wrong since the last call. Waits for those that are queued on streams.
    fn findings(&self, py: Python<'_>) -> PyResult<Vec<Finding>> {
        match &self.checks {
            Some(checks) => checks.take(py, &self.inner),
            None => Ok(Vec::new()),
        }
    }

    /// A buffer of that many zero bytes.
    fn alloc(slf: Bound<'_, Self>, nbytes: u64) -> PyResult<Buffer> {
        Buffer::zeros(&slf, nbytes)
    }

    /// A buffer with a copy of an array.
    fn buffer(slf: Bound<'_, Self>, array: &Bound<'_, PyAny>) -> PyResult<Buffer> {
        let parameter = Parameter::of_function("buffer", "array");
        let view = View::of(&parameter, array)?.ok_or_else(|| {
            parameter.type_error(format!("must be an array, not {}", type_name(array)))
        })?;
        let bytes = view.read();
        let buffer = Buffer::zeros(&slf, bytes.len() as u64)?;
        buffer.write_bytes(slf.py(), 0, &bytes)?;
        Ok(buffer)
    }

    /// A new stream: launches that run in order while Python goes on.
    fn stream(slf: Bound<'_, Self>) -> PyResult<Stream> {
        Stream::new(&slf)
    }

    fn __repr__(&self) -> String {
        let engine = self.engine();
        let memcheck = if self.memcheck() { ", memcheck" } else { "" };
        let sanitize = if self.sanitize() { ", sanitize" } else { "" };
        format!("<wavelift.Device: {engine}{memcheck}{sanitize}>")
    }
}
