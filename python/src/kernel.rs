//! Kernels, and their launches.

use std::fmt::Write as _;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use wavelift::trace::Selection;
use wavelift::{Arg, ArgKind, Launch, Size};

use crate::array::View;
use crate::buffer::{Buffer, Local, Pointer};
use crate::device;
use crate::diff::{self, Difference};
use crate::launch::How;
use crate::module::Module;
use crate::parameter::{Parameter, type_name};
use crate::place::Array;
use crate::profile::{self, Profile};
use crate::scalar;
use crate::stream::Stream;
use crate::trace::{self, TraceEvent};

/// A kernel of a module.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Kernel {
    pub(crate) inner: wavelift::Kernel,
    pub(crate) module: Py<Module>,
    pub(crate) parameters: Vec<Parameter>,
}

impl Kernel {
    pub(crate) fn new(kernel: wavelift::Kernel, module: Py<Module>) -> Kernel {
        let explicit = kernel
            .info()
            .into_iter()
            .flat_map(|info| info.explicit_args());
        let parameters = explicit
            .enumerate()
            .map(|(index, about)| Parameter::new(kernel.name(), index, about));
        Kernel {
            parameters: parameters.collect(),
            inner: kernel,
            module,
        }
    }

    /// `saxpy(float* y, float* x, float a, int n)`.
    fn signature(&self) -> String {
        let parameters: Vec<_> = self.parameters.iter().map(Parameter::signature).collect();
        format!("{}({})", self.inner.name(), parameters.join(", "))
    }

    /// The arguments of a launch. Arrays are left out, and returned. `elsewhere`: the launch is on
    /// another device than the module's, so that its buffers are arrays to copy.
    pub(crate) fn arguments(
        &self,
        values: &Bound<'_, PyTuple>,
        elsewhere: bool,
    ) -> PyResult<(Vec<Arg>, Vec<Array>)> {
        if self.inner.info().is_none() {
            return self.segment(values);
        }
        let (expected, given) = (self.parameters.len(), values.len());
        if expected != given {
            return Err(PyTypeError::new_err(format!(
                "{} takes {expected} arguments, but {given} were given",
                self.signature()
            )));
        }
        let mut arrays = Vec::new();
        let mut args = Vec::with_capacity(given);
        for (slot, (parameter, value)) in self.parameters.iter().zip(values).enumerate() {
            args.push(match &parameter.about.kind {
                ArgKind::ByValue => Arg::Bytes(scalar::bytes(parameter, &value)?),
                ArgKind::DynamicSharedPointer => match value.cast::<Local>() {
                    Ok(local) => Arg::Local(local.get().bytes),
                    Err(_) => {
                        let given = type_name(&value);
                        let message = format!("must be wavelift.Local(nbytes), not {given}");
                        return Err(parameter.type_error(message));
                    }
                },
                ArgKind::GlobalBuffer => pointer(parameter, &value, elsewhere, slot, &mut arrays)?,
                other => {
                    let message = format!("arguments of kind {other} are not supported");
                    return Err(parameter.type_error(message));
                }
            });
        }
        Ok((args, arrays))
    }

    /// Arguments where the code object describes none: the whole segment as bytes, or nothing.
    fn segment(&self, values: &Bound<'_, PyTuple>) -> PyResult<(Vec<Arg>, Vec<Array>)> {
        let segment: Vec<Vec<u8>> = values.extract().map_err(|_| {
            PyTypeError::new_err(format!(
                "the code object does not describe the parameters of {}: give its whole argument \
                 segment as one object of bytes",
                self.inner.name()
            ))
        })?;
        Ok((segment.into_iter().map(Arg::Bytes).collect(), Vec::new()))
    }
}

/// An argument for a pointer. Arrays get a place later.
fn pointer(
    parameter: &Parameter,
    value: &Bound<'_, PyAny>,
    elsewhere: bool,
    slot: usize,
    arrays: &mut Vec<Array>,
) -> PyResult<Arg> {
    if value.is_none() {
        return Ok(Arg::Pointer(0));
    }
    if let Ok(buffer) = value.cast::<Buffer>()
        && !elsewhere
    {
        return Ok((&buffer.get().inner).into());
    }
    if let Ok(pointer) = value.cast::<Pointer>() {
        if elsewhere {
            let message = "must be an array or a wavelift.Buffer here, not a pointer into one";
            return Err(parameter.type_error(message));
        }
        return Ok(pointer.get().arg.clone());
    }
    let Some(view) = View::of(parameter, value)? else {
        return Err(parameter.type_error(format!(
            "must be an array (with the buffer protocol or DLPack), a wavelift.Buffer or None, not {}",
            type_name(value)
        )));
    };
    view.check_elements(parameter, parameter.pointee())?;
    arrays.push(Array { slot, view });
    Ok(Arg::Pointer(0))
}

/// One to three sizes: `n` or a sequence.
fn sizes<T>(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a, 'py> FromPyObject<'a, 'py>,
{
    if let Ok(size) = value.extract::<T>() {
        return Ok(vec![size]);
    }
    let wrong = || {
        let message = format!("{name} must be one to three sizes below 2^32, not {value}");
        match value.extract::<Vec<f64>>().is_ok() || value.extract::<f64>().is_ok() {
            true => PyValueError::new_err(message),
            false => PyTypeError::new_err(message),
        }
    };
    let sizes = value.try_iter().map_err(|_| wrong())?;
    let sizes: Vec<T> = sizes
        .map(|size| size?.extract().map_err(|_| wrong()))
        .collect::<PyResult<_>>()?;
    match sizes.len() {
        1..=3 => Ok(sizes),
        _ => Err(wrong()),
    }
}

/// How a launch is spread over work-items.
fn geometry(
    kernel: &wavelift::Kernel,
    grid: &Bound<'_, PyAny>,
    block: Option<&Bound<'_, PyAny>>,
    offset: Option<&Bound<'_, PyAny>>,
    lds: u32,
) -> PyResult<Launch> {
    let grid = sizes::<u32>("grid", grid)?;
    let block = match block {
        Some(block) => sizes::<u32>("block", block)?,
        None => Size::default_workgroup(grid.len(), kernel.info()),
    };
    let mut first = [0; 3];
    if let Some(offset) = offset {
        let sizes = sizes::<u64>("offset", offset)?;
        first[..sizes.len()].copy_from_slice(&sizes);
    }
    let [grid, block] =
        [grid, block].map(|sizes| Size::from_slice(&sizes).expect("there are one to three sizes"));
    Ok(Launch::new(grid, block)
        .global_offset(first)
        .dynamic_lds(lds))
}

#[pymethods]
impl Kernel {
    /// Runs the kernel over `grid` work-items in workgroups of `block`, and waits for its end.
    #[pyo3(signature = (*args, grid, block = None, lds = 0, offset = None, timeout = None, engine = None, stream = None, in_place = false))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        grid: &Bound<'py, PyAny>,
        block: Option<&Bound<'py, PyAny>>,
        lds: u32,
        offset: Option<&Bound<'py, PyAny>>,
        timeout: Option<f64>,
        engine: Option<&str>,
        stream: Option<&Bound<'py, Stream>>,
        in_place: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let how = How {
            timeout: device::limit(timeout)?,
            stream,
            in_place,
        };
        let run = |kernel: &Kernel| {
            let launch = geometry(&kernel.inner, grid, block, offset, lds)?;
            kernel.launch(slf.py(), args, &launch, &how)
        };
        let Some(engine) = engine else {
            return run(slf.get());
        };
        let module = slf.get().module.bind(slf.py());
        let module = Module::on_engine(module, device::engine(engine)?)?;
        let name = slf.get().inner.name();
        run(&Module::kernel(module.bind(slf.py()), name)?)
    }

    /// Where it spends its time, and how it was translated: runs it twice on copies of the arguments.
    #[pyo3(signature = (*args, grid, block = None, lds = 0, offset = None, timeout = None))]
    fn profile(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        grid: &Bound<'_, PyAny>,
        block: Option<&Bound<'_, PyAny>>,
        lds: u32,
        offset: Option<&Bound<'_, PyAny>>,
        timeout: Option<f64>,
    ) -> PyResult<Profile> {
        let kernel = slf.get();
        let launch = geometry(&kernel.inner, grid, block, offset, lds)?;
        profile::measure(slf.py(), kernel, args, &launch, device::limit(timeout)?)
    }

    /// Where the interpreter and the translator differ: runs it on both, on copies of the arguments.
    #[pyo3(signature = (*args, grid, block = None, lds = 0, offset = None, timeout = None, step_limit = 10_000_000))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn diff(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        grid: &Bound<'_, PyAny>,
        block: Option<&Bound<'_, PyAny>>,
        lds: u32,
        offset: Option<&Bound<'_, PyAny>>,
        timeout: Option<f64>,
        step_limit: u64,
    ) -> PyResult<Option<Difference>> {
        let kernel = slf.get();
        let launch = geometry(&kernel.inner, grid, block, offset, lds)?;
        let timeout = device::limit(timeout)?;
        diff::compare(slf.py(), kernel, args, &launch, timeout, step_limit)
    }

    /// What a wave executes, instruction by instruction: interprets it, on copies of the arguments.
    #[pyo3(signature = (*args, grid, block = None, lds = 0, offset = None, timeout = None, workgroup = (0, 0, 0), wave = 0, limit = Some(10_000)))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn trace(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        grid: &Bound<'_, PyAny>,
        block: Option<&Bound<'_, PyAny>>,
        lds: u32,
        offset: Option<&Bound<'_, PyAny>>,
        timeout: Option<f64>,
        workgroup: (u32, u32, u32),
        wave: u32,
        limit: Option<u64>,
    ) -> PyResult<Vec<TraceEvent>> {
        let kernel = slf.get();
        let launch = geometry(&kernel.inner, grid, block, offset, lds)?;
        let selection = Selection {
            workgroup: workgroup.into(),
            wave,
            limit,
        };
        let timeout = device::limit(timeout)?;
        trace::record(slf.py(), kernel, args, &launch, timeout, selection)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The module that it belongs to.
    #[getter]
    fn module(&self, py: Python<'_>) -> Py<Module> {
        self.module.clone_ref(py)
    }

    /// Its parameters.
    #[getter]
    fn parameters(slf: &Bound<'_, Self>) -> PyResult<Vec<Py<Parameter>>> {
        let info = slf.get().inner.info().into_iter();
        info.flat_map(|info| info.explicit_args())
            .enumerate()
            .map(|(index, about)| {
                Py::new(
                    slf.py(),
                    Parameter::new(slf.get().inner.name(), index, about),
                )
            })
            .collect()
    }

    /// SGPRs used.
    #[getter]
    fn sgprs(&self) -> u32 {
        let (gfx, object) = (self.inner.module().gfx(), self.inner.object());
        let known = self.inner.info().and_then(|info| info.sgpr_count);
        known.unwrap_or_else(|| object.descriptor.sgpr_count(gfx))
    }

    /// VGPRs used.
    #[getter]
    fn vgprs(&self) -> u32 {
        let (gfx, object) = (self.inner.module().gfx(), self.inner.object());
        let known = self.inner.info().and_then(|info| info.vgpr_count);
        known.unwrap_or_else(|| object.descriptor.vgpr_count(gfx))
    }

    /// Static LDS in bytes.
    #[getter]
    fn lds(&self) -> u32 {
        self.inner.object().descriptor.group_segment_fixed_size
    }

    /// Scratch of a work-item in bytes.
    #[getter]
    fn scratch(&self) -> u32 {
        self.inner.object().descriptor.private_segment_fixed_size
    }

    /// The only workgroup size that it allows, if there is one.
    #[getter]
    fn required_block(&self) -> Option<(u32, u32, u32)> {
        self.inner.info()?.reqd_workgroup_size.map(Into::into)
    }

    /// Its disassembly in LLVM's syntax.
    fn disassembly(&self) -> String {
        self.inner.disassembly()
    }

    fn __repr__(&self) -> String {
        format!("<wavelift.Kernel {}, {}>", self.signature(), self.uses())
    }

    fn _repr_html_(&self) -> String {
        let mut out = format!(
            "<div class=\"wavelift\"><p><code>{}</code><br>{}</p>",
            escape(&self.signature()),
            escape(&self.uses())
        );
        let code = escape(&self.inner.disassembly());
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "<details><summary>disassembly</summary><pre>{code}</pre></details></div>"
        );
        out
    }
}

impl Kernel {
    /// What it uses, for people.
    fn uses(&self) -> String {
        let target = self.inner.module().object().target.to_string();
        format!(
            "{target}: {} SGPRs, {} VGPRs, {} bytes of LDS, {} bytes of scratch",
            self.sgprs(),
            self.vgprs(),
            self.lds(),
            self.scratch()
        )
    }
}

/// Text of HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
