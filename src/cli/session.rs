//! A manifest on a device: code objects loaded, buffers filled, every launch checked. Creating a
//! session runs nothing of the guest.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use runtime::dispatch::LaunchError;
use runtime::kernarg::ArgError;
use runtime::object::{self, ArgKind, KernelMetadata, TargetId};
use wavelift::debug::Dispatch;
use wavelift::manifest::{self, Array, Comparison, Dtype, Manifest, ManifestError, Place};
use wavelift::{Arg, Buffer, Device, Error, Kernel, Launch, Module, Settings, Size, Stats};

/// The time that the launches of a run may take together. It begins with the first.
pub(super) struct TimeLimit {
    limit: Option<Duration>,
    begin: Cell<Option<Instant>>,
}

/// The time of a run was over before its last launch.
#[derive(Debug, thiserror::Error)]
#[error("the run was stopped after {limit:?}, its time limit, before a launch of kernel {kernel}")]
pub(super) struct OutOfTime {
    limit: Duration,
    /// The kernel that was not launched.
    pub(super) kernel: String,
}

impl TimeLimit {
    pub(super) fn new(limit: Option<Duration>) -> TimeLimit {
        TimeLimit {
            limit,
            begin: Cell::new(None),
        }
    }

    /// The time that a launch has.
    pub(super) fn left(&self, planned: &Planned) -> Result<Option<Duration>, OutOfTime> {
        let Some(limit) = self.limit else {
            return Ok(None);
        };
        let Some(begin) = self.begin.get() else {
            self.begin.set(Some(Instant::now()));
            return Ok(Some(limit));
        };
        match limit.saturating_sub(begin.elapsed()) {
            Duration::ZERO => Err(OutOfTime {
                limit,
                kernel: planned.kernel.name().to_owned(),
            }),
            left => Ok(Some(left)),
        }
    }
}

/// A dispatch that can be launched.
pub(super) struct Planned {
    pub(super) kernel: Kernel,
    pub(super) launch: Launch,
    pub(super) args: Vec<Arg>,
    /// Stack of a work-item from the manifest.
    stack: Option<u32>,
    /// Counters of the global wave sync from the manifest.
    gws: Option<Vec<u32>>,
    pub(super) repeat: u64,
    /// Workgroups of one launch.
    pub(super) workgroups: u64,
}

impl Planned {
    /// The same for a debugger.
    pub(super) fn debugged(&self) -> Dispatch {
        Dispatch {
            repeat: self.repeat,
            stack_bytes: self.stack,
            gws: self.gws.clone(),
            ..Dispatch::new(self.kernel.clone(), self.launch, self.args.clone())
        }
    }

    /// The settings of its launches. A stack of the command line decides over the manifest's.
    pub(super) fn settings<'a>(&self, settings: &Settings<'a>) -> Settings<'a> {
        Settings {
            stack_bytes: settings.stack_bytes.or(self.stack),
            gws: self.gws.clone(),
            ..settings.clone()
        }
    }
}

/// A manifest on a device.
pub(super) struct Session {
    pub(super) device: Device,
    pub(super) manifest: Manifest,
    pub(super) buffers: Vec<Buffer>,
    pub(super) dispatches: Vec<Planned>,
}

impl Session {
    /// Loads and checks everything.
    pub(super) fn new(
        manifest: Manifest,
        device: Device,
        target: Option<&str>,
    ) -> anyhow::Result<Session> {
        let target: Option<TargetId> = target.map(str::parse).transpose()?;
        let mut loader = Loader {
            device: &device,
            target,
            files: Vec::new(),
            modules: Vec::new(),
        };
        let kernels = manifest
            .dispatches
            .iter()
            .map(|dispatch| loader.kernel(&manifest, dispatch))
            .collect::<Result<Vec<_>, _>>()?;
        let mut buffers = Vec::new();
        for spec in &manifest.buffers {
            let buffer = allocate(&device, &loader.modules, spec)
                .map_err(|error| manifest.error(&spec.place, error.to_string()))?;
            buffer.write_bytes(0, &spec.array.bytes)?;
            buffers.push(buffer);
        }
        let dispatches = manifest
            .dispatches
            .iter()
            .zip(kernels)
            .map(|(dispatch, kernel)| plan(&manifest, dispatch, kernel, &buffers))
            .collect::<Result<Vec<_>, _>>()?;
        let session = Session {
            device,
            manifest,
            buffers,
            dispatches,
        };
        session.check()?;
        Ok(session)
    }

    /// Lets the runtime check every launch, without running a workgroup.
    fn check(&self) -> Result<(), ManifestError> {
        let settings = Settings {
            only: Some(0..0),
            ..self.device.settings()
        };
        for (planned, dispatch) in self.dispatches.iter().zip(&self.manifest.dispatches) {
            if let Err(error) = self.launch(planned, &settings) {
                let place = blame(dispatch, &error);
                return Err(self.manifest.error(place, error.to_string()));
            }
        }
        Ok(())
    }

    /// Launches a dispatch once.
    pub(super) fn launch(
        &self,
        planned: &Planned,
        settings: &Settings<'_>,
    ) -> Result<Stats, Error> {
        let (kernel, launch, args) = (&planned.kernel, &planned.launch, &planned.args);
        self.device
            .launch_with(kernel, launch, args, &planned.settings(settings))
    }

    /// Frees the copies of the buffers' initial contents.
    pub(super) fn forget_inputs(&mut self) {
        for buffer in &mut self.manifest.buffers {
            buffer.array.bytes = Vec::new();
        }
    }

    /// The current contents of a buffer.
    pub(super) fn read(&self, index: usize) -> Result<Array, Error> {
        let buffer = &self.buffers[index];
        let mut bytes = vec![0; buffer.len() as usize];
        buffer.read_bytes(0, &mut bytes)?;
        let spec = &self.manifest.buffers[index].array;
        Ok(Array {
            dtype: spec.dtype,
            shape: spec.shape.clone(),
            bytes,
        })
    }

    /// The element of a buffer at an address: its name, such as `y[3]`, its type, and where the buffer begins. Elsewhere
    /// it is a byte, whose name is the address.
    pub(super) fn element_at(&self, address: u64) -> (String, Dtype, u64) {
        for (buffer, spec) in self.buffers.iter().zip(&self.manifest.buffers) {
            let start = buffer.address();
            if (start..start + buffer.len()).contains(&address) {
                let dtype = spec.array.dtype.unwrap_or(Dtype::U8);
                let index = (address - start) / dtype.size() as u64;
                return (format!("{}[{index}]", spec.name), dtype, start);
            }
        }
        (format!("0x{address:x}"), Dtype::U8, address)
    }

    /// Compares buffers with what the manifest expects: name and result.
    pub(super) fn compare(&self) -> Result<Vec<(&str, Comparison)>, Error> {
        let expectations = self.manifest.expectations.iter().map(|expectation| {
            let got = self.read(expectation.buffer)?;
            let spec = &self.manifest.buffers[expectation.buffer];
            let result = expectation
                .tolerance
                .compare(&got, &expectation.array, spec.shaped);
            Ok((spec.name.as_str(), result))
        });
        expectations.collect()
    }
}

/// Loads each code object once.
struct Loader<'a> {
    device: &'a Device,
    target: Option<TargetId>,
    files: Vec<(PathBuf, Vec<u8>)>,
    modules: Vec<(PathBuf, Module)>,
}

/// The buffer at an address, if it has one: the memory of a loaded code object, or its own.
fn allocate(
    device: &Device,
    modules: &[(PathBuf, Module)],
    spec: &manifest::Buffer,
) -> Result<Buffer, Error> {
    let bytes = spec.array.bytes.len() as u64;
    let Some(address) = spec.address else {
        return device.alloc(bytes);
    };
    let mut images = modules.iter().map(|(_, module)| module.image());
    let image = images.find(|image| (image.address(), image.len()) == (address, bytes));
    match image {
        Some(image) => Ok(image),
        None => device.alloc_at(address, bytes),
    }
}

impl Loader<'_> {
    fn kernel(
        &mut self,
        manifest: &Manifest,
        dispatch: &manifest::Dispatch,
    ) -> Result<Kernel, ManifestError> {
        let shown = dispatch.code_object.display();
        let wrong = |message: String| manifest.error(&dispatch.code_object_place, message);
        let path = dispatch
            .code_object
            .canonicalize()
            .map_err(|error| wrong(format!("cannot read {shown}: {error}")))?;
        let loaded = self.modules.iter().filter(|(of, _)| *of == path);
        if let Some(kernel) = loaded
            .filter_map(|(_, module)| module.kernel(&dispatch.kernel).ok())
            .next()
        {
            return Ok(kernel);
        }
        if self.files.iter().all(|(of, _)| *of != path) {
            let bytes = manifest::read_whole(&path)
                .map_err(|error| wrong(format!("cannot read {shown}: {error}")))?;
            self.files.push((path.clone(), bytes));
        }
        let bytes = self.files.iter().find(|(of, _)| *of == path);
        let bytes = bytes.map_or(&[][..], |(_, bytes)| bytes);
        let object = object::open_kernel(bytes, self.target.as_ref(), &dispatch.kernel);
        let module = match object {
            Ok(object) => match dispatch.code_address {
                Some(address) => Module::from_object_at(self.device, object, address),
                None => Module::from_object(self.device, object),
            },
            Err(error) => Err(error.into()),
        };
        let kernel = module.and_then(|module| {
            self.modules.push((path, module.clone()));
            module.kernel(&dispatch.kernel)
        });
        kernel.map_err(|error| match &error {
            Error::Load(object::LoadError::UnknownKernel { .. }) => {
                manifest.error(&dispatch.kernel_place, format!("{shown}: {error}"))
            }
            Error::Load(object::LoadError::Ambiguous { .. }) => {
                wrong(format!("{shown}: {error} with --target"))
            }
            _ => wrong(format!("{shown}: {error}")),
        })
    }
}

fn plan(
    manifest: &Manifest,
    dispatch: &manifest::Dispatch,
    kernel: Kernel,
    buffers: &[Buffer],
) -> Result<Planned, ManifestError> {
    if let Some(info) = kernel.info() {
        check_types(manifest, dispatch, info)?;
    }
    let args = dispatch.args.iter().map(|(_, arg)| match arg {
        manifest::Arg::Buffer { index, offset } => Arg::Pointer(buffers[*index].address() + offset),
        manifest::Arg::Scalar { bytes, .. } | manifest::Arg::Bytes(bytes) => {
            Arg::Bytes(bytes.clone())
        }
        manifest::Arg::Local(bytes) => Arg::Local(*bytes),
    });
    let dims = dispatch.dimensions as usize;
    let size = |sizes: &[u32; 3]| {
        Size::from_slice(&sizes[..dims]).expect("manifests have one to three dimensions")
    };
    let groups = dispatch.grid.iter().zip(&dispatch.workgroup);
    let groups = groups.map(|(grid, workgroup)| u64::from(grid.div_ceil(*workgroup)));
    Ok(Planned {
        kernel,
        launch: Launch::new(size(&dispatch.grid), size(&dispatch.workgroup))
            .global_offset(dispatch.global_offset)
            .dynamic_lds(dispatch.dynamic_lds),
        args: match &dispatch.kernarg {
            Some(segment) => vec![Arg::Segment(segment.clone())],
            None => args.collect(),
        },
        stack: dispatch.stack,
        gws: dispatch.gws.clone(),
        repeat: dispatch.repeat,
        workgroups: groups.fold(1, u64::saturating_mul),
    })
}

/// A scalar of a type other than the kernel's, with the right size.
fn check_types(
    manifest: &Manifest,
    dispatch: &manifest::Dispatch,
    info: &KernelMetadata,
) -> Result<(), ManifestError> {
    for ((place, arg), wanted) in dispatch.args.iter().zip(info.explicit_args()) {
        let (manifest::Arg::Scalar { dtype, .. }, ArgKind::ByValue) = (arg, &wanted.kind) else {
            continue;
        };
        let Some(named) = wanted.type_name.as_deref().and_then(Dtype::of_opencl) else {
            continue;
        };
        let float = named.is_float();
        if float != dtype.is_float() && dtype.size() as u32 == wanted.size {
            let right = right_type(float, wanted.size);
            return Err(manifest.error(
                place,
                format!(
                    "kernel `{}` takes {} here, not {dtype}; write {{ {right} = ... }}",
                    info.name,
                    wanted.label()
                ),
            ));
        }
    }
    Ok(())
}

/// A scalar type of that size.
fn right_type(float: bool, size: u32) -> Dtype {
    match (float, size) {
        (true, 2) => Dtype::F16,
        (true, 4) => Dtype::F32,
        (true, _) => Dtype::F64,
        (false, 2) => Dtype::I16,
        (false, 4) => Dtype::I32,
        (false, _) => Dtype::I64,
    }
}

/// The part of a dispatch that an error is about.
fn blame<'a>(dispatch: &'a manifest::Dispatch, error: &Error) -> &'a Place {
    let arg = |index: usize| {
        let arg = dispatch.args.get(index);
        arg.map_or(&dispatch.args_place, |(place, _)| place)
    };
    match error {
        Error::Launch(error) => match error {
            LaunchError::Dimensions(_)
            | LaunchError::EmptyGrid { .. }
            | LaunchError::TooManyWorkgroups { .. } => &dispatch.grid_place,
            LaunchError::EmptyWorkgroup { .. }
            | LaunchError::UnusedDimension { .. }
            | LaunchError::WorkgroupTooLarge { .. }
            | LaunchError::WorkgroupOverKernelLimit { .. }
            | LaunchError::WorkgroupNotRequired { .. } => &dispatch.workgroup_place,
            LaunchError::LdsTooLarge { .. } => &dispatch.dynamic_lds_place,
            LaunchError::ScratchTooLarge { .. } => &dispatch.stack_place,
            LaunchError::Argument(error) => match error {
                ArgError::Size { index, .. } | ArgError::Kind { index, .. } => arg(*index),
                ArgError::Count { .. } => &dispatch.args_place,
                _ => &dispatch.place,
            },
            _ => &dispatch.place,
        },
        Error::NoMetadata(_) => &dispatch.args_place,
        _ => &dispatch.place,
    }
}
