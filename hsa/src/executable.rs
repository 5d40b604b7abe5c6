//! Code object readers, executables and their symbols.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};

use runtime::LoadedCode;
use runtime::code::CodeError;
use runtime::dispatch::KernelCode;
use runtime::object::{self, CodeObject, LoadError, Setting, SymbolKind, TargetId};

use crate::abi::{Handle, Outcome, Status};
use crate::agent;
use crate::guard::{put, put_any, say};
use crate::lock::{lock, write};
use crate::state::{self, Runtime};

/// The first bytes of an ELF file.
const ELF: &[u8] = b"\x7fELF";

/// A code object in the program's memory or in ours.
pub(crate) enum Reader {
    /// Address and size.
    Memory(u64, usize),
    /// Read from a file.
    Bytes(Vec<u8>),
}

impl Reader {
    /// The bytes.
    ///
    /// # Safety
    /// The program must keep the memory that it gave until the reader is destroyed.
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        match self {
            Reader::Memory(address, len) => {
                let at = crate::pools::pointer(*address).cast_const().cast::<u8>();
                // SAFETY: the caller answers for it.
                unsafe { std::slice::from_raw_parts(at, *len) }
            }
            Reader::Bytes(bytes) => bytes,
        }
    }
}

/// A loaded code object, freed with the last user.
pub(crate) struct Module {
    /// `None` only while it is being dropped.
    code: Option<LoadedCode>,
    /// The file, where reports need it ([`Runtime::keeps_code`]).
    bytes: Option<Vec<u8>>,
}

/// Modules that stay loaded to the end, for the reports that are written then.
#[derive(Default)]
pub(crate) struct Modules(pub(crate) Mutex<Vec<Arc<Module>>>);

impl Module {
    /// The code object's file.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// The code object itself, for this GPU, if [`Module::bytes`] are kept.
    pub(crate) fn elf(&self, rt: &Runtime) -> Result<Cow<'_, [u8]>, LoadError> {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        select(rt, bytes)
    }

    pub(crate) fn code(&self) -> &LoadedCode {
        self.code.as_ref().expect("it is there until the drop")
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let (Some(code), Ok(rt)) = (self.code.take(), state::existing()) {
            let unloaded = code.unload(&rt.memory);
            debug_assert!(unloaded.is_ok(), "bug: a module was freed by somebody else");
        }
    }
}

/// A kernel that packets may name.
pub(crate) struct KernelEntry {
    pub(crate) module: Arc<Module>,
    pub(crate) code: KernelCode,
    /// Its executable was destroyed.
    pub(crate) unloaded: AtomicBool,
}

/// Kind of a symbol.
enum What {
    Kernel(Arc<KernelEntry>),
    Variable {
        address: u64,
        bytes: u64,
        read_only: bool,
    },
}

/// A symbol of an executable.
pub(crate) struct Symbol {
    /// As the ELF file spells it.
    name: String,
    what: What,
    exported: bool,
}

/// An executable.
pub(crate) struct Executable {
    profile: u32,
    rounding: u32,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    frozen: bool,
    destroyed: bool,
    defined: HashMap<String, u64>,
    symbols: Vec<Handle>,
    by_name: HashMap<String, Handle>,
    kernels: Vec<Arc<KernelEntry>>,
    modules: Vec<(Handle, Arc<Module>)>,
}

impl Executable {
    pub(crate) fn new(profile: u32, rounding: u32) -> Outcome<Executable> {
        if profile > 1 || rounding > 2 {
            return Err(Status::INVALID_ARGUMENT);
        }
        Ok(Executable {
            profile,
            rounding,
            inner: Mutex::default(),
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    fn unfrozen(&self) -> Outcome<MutexGuard<'_, Inner>> {
        let inner = self.inner();
        match inner.frozen {
            true => Err(Status::FROZEN_EXECUTABLE),
            false => Ok(inner),
        }
    }

    /// Defines the address of a variable for code objects that are loaded later.
    pub(crate) fn define(&self, name: &str, address: u64) -> Outcome {
        let mut inner = self.unfrozen()?;
        if inner.by_name.contains_key(name) || inner.defined.contains_key(name) {
            return Err(Status::VARIABLE_ALREADY_DEFINED);
        }
        inner.defined.insert(name.to_owned(), address);
        Ok(())
    }

    pub(crate) fn freeze(&self) -> Outcome {
        self.unfrozen()?.frozen = true;
        Ok(())
    }

    /// The symbol of this name.
    pub(crate) fn symbol(&self, name: &str) -> Outcome<Handle> {
        let inner = self.inner();
        let found = inner.by_name.get(name).copied();
        found.ok_or(Status::INVALID_SYMBOL_NAME)
    }

    /// All symbols, in the order of their code objects.
    pub(crate) fn symbols(&self) -> Vec<Handle> {
        self.inner().symbols.clone()
    }

    /// The loaded code objects.
    pub(crate) fn modules(&self) -> Vec<(Handle, Arc<Module>)> {
        self.inner().modules.clone()
    }

    /// `hsa_executable_get_info`.
    ///
    /// # Safety
    /// `value` must be null or fit the attribute.
    pub(crate) unsafe fn info(&self, attribute: u32, value: *mut c_void) -> Outcome {
        let number = match attribute {
            1 => self.profile,
            2 => u32::from(self.inner().frozen),
            3 => self.rounding,
            _ => return Err(Status::INVALID_ARGUMENT),
        };
        // SAFETY: the caller answers for it.
        unsafe { put_any(value, number) }
    }

    /// Loads a code object; returns a handle.
    pub(crate) fn load(&self, rt: &Runtime, bytes: &[u8]) -> Outcome<Handle> {
        let mut inner = self.unfrozen()?;
        let object = parse(rt, bytes).map_err(|error| refuse(&error))?;
        check_target(rt, &object)?;
        let defined = &inner.defined;
        let code = LoadedCode::load_with(&rt.memory, &object, &|name| defined.get(name).copied())
            .map_err(|error| match error {
            CodeError::Load(error) => refuse(&error),
            CodeError::Alloc(_) | CodeError::Memory(_) => Status::OUT_OF_RESOURCES,
        })?;
        let module = Arc::new(Module {
            code: Some(code),
            bytes: rt.keeps_code().then(|| bytes.to_vec()),
        });
        if rt.config.profile.is_some() || rt.config.coverage.is_some() {
            lock(&rt.modules.0).push(Arc::clone(&module));
        }
        let mut symbols = Vec::new();
        for kernel in &object.kernels {
            let entry = Arc::new(KernelEntry {
                code: KernelCode::new(module.code(), kernel),
                module: module.clone(),
                unloaded: AtomicBool::new(false),
            });
            symbols.push(Symbol {
                name: format!("{}.kd", kernel.name),
                what: What::Kernel(entry),
                exported: true,
            });
        }
        for variable in &object.globals {
            let segment = object
                .segments
                .iter()
                .find(|segment| variable.value.wrapping_sub(segment.address) < segment.size);
            symbols.push(Symbol {
                name: variable.name.clone(),
                what: What::Variable {
                    address: module.code().guest(variable.value),
                    bytes: variable.size,
                    read_only: segment.is_some_and(|segment| !segment.write),
                },
                exported: variable.kind == SymbolKind::Object,
            });
        }
        if symbols.iter().any(|symbol| {
            matches!(symbol.what, What::Kernel(_)) && inner.by_name.contains_key(&symbol.name)
        }) {
            return Err(Status::VARIABLE_ALREADY_DEFINED);
        }
        let mut kernels = write(&rt.kernels);
        for symbol in symbols {
            if let What::Kernel(entry) = &symbol.what {
                kernels.insert(entry.code.address, entry.clone());
                inner.kernels.push(entry.clone());
            }
            let name = symbol.name.clone();
            let handle = rt.symbols.add(Arc::new(symbol));
            inner.symbols.push(handle);
            // Exported symbols take precedence.
            inner.by_name.entry(name).or_insert(handle);
        }
        let number = inner.modules.len() as Handle + 1;
        inner.modules.push((number, module));
        Ok(number)
    }

    /// Ends it: packets that name its kernels from now on are errors.
    pub(crate) fn destroy(&self, rt: &Runtime) {
        let mut inner = self.inner();
        inner.destroyed = true;
        let mut kernels = write(&rt.kernels);
        for entry in inner.kernels.drain(..) {
            entry.unloaded.store(true, SeqCst);
            kernels.remove(&entry.code.address);
        }
        drop(kernels);
        for symbol in inner.symbols.drain(..) {
            // Each was added by `load` and is removed here only.
            let _ = rt.symbols.remove(symbol, Status::INVALID_EXECUTABLE_SYMBOL);
        }
        inner.by_name.clear();
        inner.modules.clear();
    }
}

/// The code object in a file: the file itself, or the one for this GPU in an offload bundle.
fn select<'b>(rt: &Runtime, bytes: &'b [u8]) -> Result<Cow<'b, [u8]>, LoadError> {
    if bytes.starts_with(ELF) {
        return Ok(Cow::Borrowed(bytes));
    }
    let gpu = rt.config.gpu;
    let id: TargetId = format!("{}{}", gpu.name, gpu.features).parse()?;
    object::select(bytes, Some(&id))
}

/// The code object in a file, read.
fn parse(rt: &Runtime, bytes: &[u8]) -> Result<CodeObject, LoadError> {
    CodeObject::parse(&select(rt, bytes)?)
}

/// Says why a code object is refused.
fn refuse(error: &LoadError) -> Status {
    say(format_args!("a code object was not loaded: {error}"));
    match error {
        LoadError::UndefinedSymbol { .. } => Status::VARIABLE_UNDEFINED,
        LoadError::UnsupportedTarget { .. } | LoadError::UnknownMachine { .. } => {
            Status::INCOMPATIBLE_ARGUMENTS
        }
        _ => Status::INVALID_CODE_OBJECT,
    }
}

/// Was it compiled for this GPU?
fn check_target(rt: &Runtime, object: &CodeObject) -> Outcome {
    let gpu = rt.config.gpu;
    let target = object.target;
    // Page faults are never replayed here. Whether memory has error correction makes no difference.
    if target.processor.runs_on(gpu.name) && target.xnack != Setting::On {
        return Ok(());
    }
    say(format_args!(
        "a code object for {target} was not loaded: the GPU is {}; WAVELIFT_GPU chooses another",
        gpu.name
    ));
    Err(Status::INCOMPATIBLE_ARGUMENTS)
}

impl Symbol {
    /// `hsa_executable_symbol_get_info`.
    ///
    /// # Safety
    /// `value` must be null or fit the attribute.
    pub(crate) unsafe fn info(&self, attribute: u32, value: *mut c_void) -> Outcome {
        // SAFETY: the caller answers for the address; each attribute writes its own type.
        unsafe {
            match (attribute, &self.what) {
                (0, What::Variable { .. }) => put_any::<u32>(value, 0),
                (0, What::Kernel(_)) => put_any::<u32>(value, 1),
                (1, _) => put_any::<u32>(value, self.name.len() as u32),
                (2, _) => {
                    for (at, byte) in self.name.bytes().enumerate() {
                        put(value.cast::<u8>().wrapping_add(at), byte)?;
                    }
                    Ok(())
                }
                (3, _) => put_any::<u32>(value, 0),
                (4, _) => Ok(()),
                (5, _) => put_any::<u32>(value, u32::from(self.exported)),
                (17, _) => put_any::<bool>(value, true),
                (20, _) => put_any::<Handle>(value, agent::GPU),
                (
                    _,
                    What::Variable {
                        address,
                        bytes,
                        read_only,
                    },
                ) => match attribute {
                    6 => put_any::<u32>(value, 0),
                    7 => put_any::<u32>(value, u32::from(*read_only)),
                    8 => put_any::<u32>(value, 1 << address.trailing_zeros().min(8)),
                    9 => put_any::<u32>(value, u32::try_from(*bytes).unwrap_or(u32::MAX)),
                    10 => put_any::<bool>(value, *read_only),
                    21 => put_any::<u64>(value, *address),
                    _ => Err(Status::INVALID_ARGUMENT),
                },
                (_, What::Kernel(entry)) => {
                    let descriptor = &entry.code.descriptor;
                    match attribute {
                        11 => put_any::<u32>(value, descriptor.kernarg_size),
                        12 => put_any::<u32>(value, 16),
                        13 => put_any::<u32>(value, descriptor.group_segment_fixed_size),
                        14 => put_any::<u32>(value, descriptor.private_segment_fixed_size),
                        15 => put_any::<bool>(value, descriptor.uses_dynamic_stack()),
                        18 => put_any::<u32>(value, 0),
                        22 => put_any::<u64>(value, entry.code.address),
                        _ => Err(Status::INVALID_ARGUMENT),
                    }
                }
            }
        }
    }
}

/// The executable and the loaded code that an address lies in.
pub(crate) fn containing(rt: &Runtime, address: u64) -> Option<(Handle, Arc<Module>)> {
    rt.executables
        .list()
        .into_iter()
        .find_map(|(handle, executable)| {
            let mut modules = executable.modules().into_iter();
            let found = modules.find(|(_, module)| {
                address.wrapping_sub(module.code().base()) < module.code().image_len()
            });
            found.map(|(_, module)| (handle, module))
        })
}
