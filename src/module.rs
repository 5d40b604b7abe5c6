//! Code objects on a device, and their kernels.

use std::sync::{Arc, OnceLock};

use frontend::Gfx;
use runtime::LoadedCode;
use runtime::dispatch::KernelCode;
use runtime::object::{self, CodeObject, KernelMetadata, TargetId};

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::listing::{Comments, Listing};
use crate::source::{SourceError, SourceMap};

/// A code object that is loaded into a device's memory. Cheap to clone; its memory is freed with
/// the last clone and the last kernel of it.
///
/// ```
/// use wavelift::{Device, Gfx, Module};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new()?;
/// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx803.co")?)?;
/// assert_eq!(module.gfx(), Gfx::Gfx803);
/// assert_eq!(module.kernels().collect::<Vec<_>>(), ["saxpy"]);
///
/// // A bundle has code for several targets.
/// let bundle = std::fs::read("examples/saxpy/saxpy.bundle.hipfb")?;
/// assert_eq!(Module::load_for(&device, &bundle, "gfx906")?.gfx(), Gfx::Gfx906);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Module(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    object: CodeObject,
    /// `None` only while it is being dropped.
    code: Option<LoadedCode>,
    /// Read when somebody asks for it.
    source: OnceLock<Result<SourceMap, SourceError>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(code) = self.code.take() {
            let unloaded = code.unload(&self.device.0.memory);
            debug_assert!(
                unloaded.is_ok(),
                "bug: a module's memory was freed by somebody else"
            );
        }
    }
}

impl Inner {
    fn code(&self) -> &LoadedCode {
        self.code.as_ref().expect("it is there until the drop")
    }
}

impl Module {
    /// Loads a code object: an ELF file, an offload bundle or a HIP fat binary, which must hold
    /// exactly one code object for a GPU that wavelift runs.
    pub fn load(device: &Device, bytes: &[u8]) -> Result<Module, Error> {
        Module::from_object(device, object::open(bytes, None)?)
    }

    /// As [`Module::load`], selecting from a bundle the entry that matches `target`, such as
    /// `gfx906:xnack-`.
    pub fn load_for(device: &Device, bytes: &[u8], target: &str) -> Result<Module, Error> {
        let target: TargetId = target.parse()?;
        Module::from_object(device, object::open(bytes, Some(&target))?)
    }

    /// Loads a parsed code object. Each load has variables of its own.
    pub fn from_object(device: &Device, object: CodeObject) -> Result<Module, Error> {
        let code = LoadedCode::load(&device.0.memory, &object)?;
        Ok(Module::of(device, object, code))
    }

    /// As [`Module::from_object`], at a guest address where nothing is; see [`Device::alloc_at`].
    pub fn from_object_at(
        device: &Device,
        object: CodeObject,
        address: u64,
    ) -> Result<Module, Error> {
        let code = LoadedCode::load_at(&device.0.memory, &object, address)?;
        Ok(Module::of(device, object, code))
    }

    fn of(device: &Device, object: CodeObject, code: LoadedCode) -> Module {
        Module(Arc::new(Inner {
            device: device.clone(),
            object,
            code: Some(code),
            source: OnceLock::new(),
        }))
    }

    /// Its memory: code, constants and variables. A kernel's code is not changed by what is written
    /// there.
    pub fn image(&self) -> Buffer {
        Buffer::of_image(self)
    }

    /// The device that it was loaded for.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Its target.
    pub fn gfx(&self) -> Gfx {
        self.0.object.target.gfx
    }

    /// The code object.
    pub fn object(&self) -> &CodeObject {
        &self.0.object
    }

    /// Its functions, and its source lines where it has debugging information, which is read once.
    pub fn source(&self) -> Result<&SourceMap, SourceError> {
        let source = &self.0.source;
        let read = source.get_or_init(|| SourceMap::read(&self.0.object));
        read.as_ref().map_err(SourceError::clone)
    }

    /// The code in guest memory.
    pub fn code(&self) -> &LoadedCode {
        self.0.code()
    }

    /// Names of the kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.0
            .object
            .kernels
            .iter()
            .map(|kernel| kernel.name.as_str())
    }

    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let kernel = self.0.object.kernel(name)?;
        Ok(Kernel {
            code: KernelCode::new(self.code(), kernel),
            metadata: kernel.metadata.clone(),
            module: self.clone(),
        })
    }

    /// Guest address and size of a variable.
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        let symbol = self.0.object.global(name)?;
        Some((self.code().guest(symbol.value), symbol.size))
    }
}

/// A kernel of a [`Module`]. Cheap to clone; it keeps the module.
///
/// ```
/// use wavelift::{Device, Module};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new()?;
/// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
/// let saxpy = module.kernel("saxpy")?;
/// let info = saxpy.info().expect("compilers write metadata");
/// let names: Vec<_> = info.explicit_args().map(|arg| arg.label()).collect();
/// println!("{} takes {names:?}", saxpy.name());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Kernel {
    module: Module,
    code: KernelCode,
    metadata: Option<KernelMetadata>,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.code.name
    }

    /// Its metadata: arguments, register and LDS use. `None` if the code object has none.
    pub fn info(&self) -> Option<&KernelMetadata> {
        self.metadata.as_ref()
    }

    /// The module that it belongs to.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The dispatcher's description of it.
    pub fn code(&self) -> &KernelCode {
        &self.code
    }

    /// The device that it was loaded for.
    pub fn device(&self) -> &Device {
        self.module.device()
    }

    /// The kernel in its code object: descriptor and code.
    pub fn object(&self) -> &object::Kernel {
        let object = self.module.object().kernel(self.name());
        object.expect("the kernel is made from it")
    }

    /// Its disassembly: assembler source in LLVM's syntax, with its descriptor. See
    /// [`listing`](crate::listing) for more.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use wavelift::{Device, Module};
    /// let code = std::fs::read("examples/saxpy/saxpy.gfx900.co")?;
    /// let saxpy = Module::load(&Device::new()?, &code)?.kernel("saxpy")?;
    /// assert!(saxpy.disassembly().contains("v_mul_f32_e32"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn disassembly(&self) -> String {
        let listing = Listing::new(self.module.object(), Some(self.name()));
        let listing = listing.expect("the kernel is in its code object");
        listing.text(Comments::default()).to_string()
    }

    pub(crate) fn loaded(&self) -> &LoadedCode {
        self.module.code()
    }
}
