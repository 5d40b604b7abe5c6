//! Modules and kernels: loading, resources, arguments, disassembly.

use std::ffi::{CString, c_char, c_void};
use std::ptr;

use wavelift::compile;
use wavelift::listing::{Comments, Listing};
use wavelift::{ArgKind, ArgMetadata, Device, Kernel, Module};

use crate::foreign::{self, GrowingOut, Out, TextOut, growing};
use crate::handles::{self, wavelift_device, wavelift_kernel, wavelift_module};
use crate::result::{Failure, Outcome, c_text, guard, wavelift_status};
use crate::wavelift_status::{WAVELIFT_NOT_FOUND, WAVELIFT_SYSTEM};

/// A module with its texts.
pub(crate) struct ModuleObject {
    module: Module,
    target: CString,
    kernels: Vec<CString>,
    messages: CString,
}

impl ModuleObject {
    fn new(module: Module, messages: String) -> ModuleObject {
        ModuleObject {
            target: c_text(module.object().target.to_string()),
            kernels: module.kernels().map(c_text).collect(),
            messages: c_text(messages),
            module,
        }
    }
}

/// A kernel with its texts.
pub(crate) struct KernelObject {
    pub(crate) kernel: Kernel,
    name: CString,
    /// Explicit ones, then hidden ones.
    args: Vec<ArgObject>,
}

/// An argument of a kernel with its texts.
struct ArgObject {
    kind: wavelift_parameter_kind,
    name: Option<CString>,
    type_name: Option<CString>,
    kind_name: CString,
    address_space: Option<CString>,
    offset: u32,
    bytes: u32,
    read_only: bool,
}

impl ArgObject {
    fn new(arg: &ArgMetadata) -> ArgObject {
        let text = |text: &Option<String>| text.as_deref().map(c_text);
        ArgObject {
            kind: wavelift_parameter_kind::of(&arg.kind),
            name: text(&arg.name),
            type_name: text(&arg.type_name),
            kind_name: c_text(arg.kind.name()),
            address_space: text(&arg.address_space),
            offset: arg.offset,
            bytes: arg.size,
            read_only: arg.is_read_only(),
        }
    }
}

impl KernelObject {
    fn new(kernel: Kernel) -> KernelObject {
        let args = kernel.info().map_or(&[][..], |info| &info.args);
        let (hidden, explicit): (Vec<_>, Vec<_>) =
            args.iter().partition(|arg| arg.kind.is_hidden());
        KernelObject {
            name: c_text(kernel.name()),
            args: explicit
                .into_iter()
                .chain(hidden)
                .map(ArgObject::new)
                .collect(),
            kernel,
        }
    }

    /// Number of explicit arguments.
    fn explicit(&self) -> usize {
        let hidden = wavelift_parameter_kind::WAVELIFT_PARAMETER_HIDDEN;
        self.args.iter().filter(|arg| arg.kind != hidden).count()
    }
}

/// Registers and memory of a kernel, as compiled.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct wavelift_kernel_info {
    /// `sizeof(wavelift_kernel_info)`.
    pub size: usize,
    /// Its name. Valid until the handle of the kernel is destroyed.
    pub name: *const c_char,
    /// Number of arguments that a launch gives; 0 without metadata.
    pub arg_count: u32,
    /// Number of arguments that the library adds.
    pub hidden_count: u32,
    /// Allocated VGPRs of a lane.
    pub vgprs: u32,
    /// Allocated SGPRs of a wave, VCC and the like included.
    pub sgprs: u32,
    /// VGPRs that the compiler spilled to scratch.
    pub vgpr_spills: u32,
    /// SGPRs that the compiler spilled.
    pub sgpr_spills: u32,
    /// Static LDS of a workgroup in bytes.
    pub lds_bytes: u32,
    /// Scratch of a work-item in bytes.
    pub scratch_bytes: u32,
    /// 1 if the kernel needs more scratch, for a stack whose size the compiler does not know; otherwise 0.
    pub dynamic_stack: u32,
    /// Size of the kernarg segment in bytes.
    pub kernarg_bytes: u32,
    /// The largest number of work-items in a workgroup; 0 if the code object does not tell.
    pub max_workgroup: u32,
    /// The only workgroup size that is allowed; zeros if any is.
    pub required_workgroup: [u32; 3],
    /// 1 if the code object has metadata for the kernel. Without it, a launch gives the whole kernarg
    /// segment (`wavelift_arg_segment`).
    pub has_metadata: u32,
    /// Zero.
    pub reserved: u32,
}

/// Kind of a parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum wavelift_parameter_kind {
    /// Another kind: see `kind_name`.
    WAVELIFT_PARAMETER_OTHER = 0,
    /// A number, an array or a structure by value.
    WAVELIFT_PARAMETER_VALUE = 1,
    /// A pointer to memory.
    WAVELIFT_PARAMETER_POINTER = 2,
    /// A pointer to LDS, whose size the launch gives.
    WAVELIFT_PARAMETER_LOCAL = 3,
    /// The address of an image descriptor.
    WAVELIFT_PARAMETER_IMAGE = 4,
    /// The address of a sampler descriptor.
    WAVELIFT_PARAMETER_SAMPLER = 5,
    /// The library gives it.
    WAVELIFT_PARAMETER_HIDDEN = 6,
}

impl wavelift_parameter_kind {
    fn of(kind: &ArgKind) -> wavelift_parameter_kind {
        use wavelift_parameter_kind::*;
        match kind {
            _ if kind.is_hidden() => WAVELIFT_PARAMETER_HIDDEN,
            ArgKind::ByValue => WAVELIFT_PARAMETER_VALUE,
            ArgKind::GlobalBuffer => WAVELIFT_PARAMETER_POINTER,
            ArgKind::DynamicSharedPointer => WAVELIFT_PARAMETER_LOCAL,
            ArgKind::Image => WAVELIFT_PARAMETER_IMAGE,
            ArgKind::Sampler => WAVELIFT_PARAMETER_SAMPLER,
            _ => WAVELIFT_PARAMETER_OTHER,
        }
    }
}

/// A parameter of a kernel. The texts are valid until the handle of the kernel is destroyed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct wavelift_parameter {
    /// `sizeof(wavelift_parameter)`.
    pub size: usize,
    /// Its name in the source; NULL if the compiler left it out.
    pub name: *const c_char,
    /// Its type in the source, such as `"float*"`; NULL if the compiler left it out.
    pub type_name: *const c_char,
    /// Its kind in the metadata, such as `"global_buffer"`.
    pub kind_name: *const c_char,
    /// `"global"`, `"local"` and so on; NULL for values.
    pub address_space: *const c_char,
    /// Its kind.
    pub kind: wavelift_parameter_kind,
    /// Its place in the kernarg segment in bytes.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// 1 if the kernel only reads what it points to, as far as the metadata says.
    pub read_only: u32,
}

growing! {
    wavelift_kernel_info = 80;
    wavelift_parameter = 56;
}

fn load(device: &Device, bytes: &[u8], target: Option<&str>) -> Outcome<Module> {
    Ok(match target {
        None => Module::load(device, bytes)?,
        Some(target) => Module::load_for(device, bytes, target)?,
    })
}

fn read_file(path: &str) -> Outcome<Vec<u8>> {
    std::fs::read(path)
        .map_err(|error| Failure::new(WAVELIFT_SYSTEM, format!("cannot read {path}: {error}")))
}

/// Loads a code object of `bytes` bytes at `data`, which may be freed afterwards: an ELF file, an
/// offload bundle or a HIP program. `target`, such as `"gfx906"` or `"gfx906:xnack-"`, chooses from
/// several; NULL is for a file with one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_module_load(
    device: wavelift_device,
    data: *const c_void,
    bytes: usize,
    target: *const c_char,
    module: *mut wavelift_module,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { Out::new("module", module) }?;
        let object = handles::get(device)?;
        // SAFETY: head of the header.
        let target = unsafe { foreign::optional_text("target", target) }?;
        // SAFETY: head of the header.
        let data = unsafe { foreign::bytes("data", data.cast(), bytes) }?;
        let module = load(&object.device, data, target)?;
        out.put(handles::add(ModuleObject::new(module, String::new())));
        Ok(())
    })
}

/// As `wavelift_module_load`, from a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_module_load_file(
    device: wavelift_device,
    path: *const c_char,
    target: *const c_char,
    module: *mut wavelift_module,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { Out::new("module", module) }?;
        let object = handles::get(device)?;
        // SAFETY: head of the header.
        let target = unsafe { foreign::optional_text("target", target) }?;
        // SAFETY: head of the header.
        let path = unsafe { foreign::text("path", path) }?;
        let data = read_file(path)?;
        let module = load(&object.device, &data, target).map_err(|error| error.about(path))?;
        out.put(handles::add(ModuleObject::new(module, String::new())));
        Ok(())
    })
}

/// Compiles a source, OpenCL C (`.cl`) or HIP (`.hip`), by the clang or hipcc that is installed
/// (`WAVELIFT_CLANG` in the environment names one), and loads it. `target` is `"gfx906"` if NULL. What
/// was compiled is kept in the user's cache.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_module_compile(
    device: wavelift_device,
    source: *const c_char,
    target: *const c_char,
    module: *mut wavelift_module,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { Out::new("module", module) }?;
        let object = handles::get(device)?;
        // SAFETY: head of the header.
        let target = unsafe { foreign::optional_text("target", target) }?;
        // SAFETY: head of the header.
        let source = unsafe { foreign::text("source", source) }?;
        let compiled = compile::compile(source.as_ref(), target)?;
        let data = std::fs::read(&compiled.object).map_err(|error| {
            let path = compiled.object.display();
            Failure::new(WAVELIFT_SYSTEM, format!("cannot read {path}: {error}"))
        })?;
        let module = load(&object.device, &data, target).map_err(|error| error.about(source))?;
        out.put(handles::add(ModuleObject::new(module, compiled.messages)));
        Ok(())
    })
}

/// Ends the handle of a module. Its memory is freed with the last kernel of it and the last launch.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_module_destroy(module: wavelift_module) -> wavelift_status {
    guard(|| handles::remove(module).map(drop))
}

/// The target that a module was compiled for, such as `"gfx906:xnack-"`. The text is valid until the
/// handle of the module is destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_module_target(
    module: wavelift_module,
    target: *mut *const c_char,
) -> wavelift_status {
    // SAFETY: head of the header.
    unsafe {
        foreign::give("target", target, || {
            Ok(handles::get(module)?.target.as_ptr())
        })
    }
}

/// The warnings of the compiler, for a module of `wavelift_module_compile`; otherwise, and if the
/// source had been compiled before, empty. The text is valid until the handle of the module is
/// destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_module_messages(
    module: wavelift_module,
    messages: *mut *const c_char,
) -> wavelift_status {
    // SAFETY: head of the header.
    unsafe {
        foreign::give("messages", messages, || {
            Ok(handles::get(module)?.messages.as_ptr())
        })
    }
}

/// Number of kernels of a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_module_kernel_count(
    module: wavelift_module,
    count: *mut usize,
) -> wavelift_status {
    // SAFETY: head of the header.
    unsafe { foreign::give("count", count, || Ok(handles::get(module)?.kernels.len())) }
}

/// Name of the kernel with this number, from 0. The text is valid until the handle of the module is
/// destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_module_kernel_name(
    module: wavelift_module,
    index: usize,
    name: *mut *const c_char,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { Out::new("name", name) }?;
        let object = handles::get(module)?;
        let Some(name) = object.kernels.get(index) else {
            return Err(Failure::new(
                WAVELIFT_NOT_FOUND,
                format!("kernel {index} of a module of {}", object.kernels.len()),
            ));
        };
        out.put(name.as_ptr());
        Ok(())
    })
}

/// The kernel of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_module_kernel(
    module: wavelift_module,
    name: *const c_char,
    kernel: *mut wavelift_kernel,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { Out::new("kernel", kernel) }?;
        let object = handles::get(module)?;
        // SAFETY: head of the header.
        let name = unsafe { foreign::text("name", name) }?;
        out.put(handles::add(KernelObject::new(object.module.kernel(name)?)));
        Ok(())
    })
}

/// Address and size in bytes of a variable of the module; `wavelift_device_read` and
/// `wavelift_device_write` access it. Either may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_module_variable(
    module: wavelift_module,
    name: *const c_char,
    address: *mut u64,
    bytes: *mut u64,
) -> wavelift_status {
    guard(|| {
        let object = handles::get(module)?;
        // SAFETY: head of the header.
        let name = unsafe { foreign::text("name", name) }?;
        let Some((at, size)) = object.module.global(name) else {
            return Err(Failure::new(
                WAVELIFT_NOT_FOUND,
                format!("the module has no variable '{name}'"),
            ));
        };
        // SAFETY: head of the header.
        unsafe { foreign::give_optional(address, || at) };
        // SAFETY: head of the header.
        unsafe { foreign::give_optional(bytes, || size) };
        Ok(())
    })
}

/// Flag of disassemblies: each line ends with its address.
pub const WAVELIFT_ADDRESSES: u32 = 1;
/// Flag of disassemblies: each line ends with its bytes.
pub const WAVELIFT_BYTES: u32 = 2;

fn comments(flags: u32) -> Outcome<Comments> {
    const FLAGS: u32 = WAVELIFT_ADDRESSES | WAVELIFT_BYTES;
    if flags & !FLAGS != 0 {
        return Err(Failure::argument(format!(
            "the flags of a disassembly are {FLAGS:#x} at most, but {flags:#x} are given"
        )));
    }
    Ok(Comments {
        addresses: flags & WAVELIFT_ADDRESSES != 0,
        bytes: flags & WAVELIFT_BYTES != 0,
        names: false,
    })
}

fn disassemble(module: &Module, kernel: Option<&str>, flags: u32) -> Outcome<String> {
    let comments = comments(flags)?;
    let listing = Listing::new(module.object(), kernel)?;
    Ok(listing.text(comments).to_string())
}

/// The disassembly of a module: assembler source in LLVM's syntax. `flags` are 0,
/// `WAVELIFT_ADDRESSES`, `WAVELIFT_BYTES` or both.
///
/// `length` gets the length of the text without the zero at its end, `text` the text if its `capacity`
/// is larger than that. If `capacity` is 0, `text` may be NULL, and there is only the length; otherwise
/// `length` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_module_disassemble(
    module: wavelift_module,
    flags: u32,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { TextOut::new(text, capacity, length) }?;
        out.put(&disassemble(&handles::get(module)?.module, None, flags)?)
    })
}

/// As `wavelift_module_disassemble`, of one kernel with its descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_kernel_disassemble(
    kernel: wavelift_kernel,
    flags: u32,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { TextOut::new(text, capacity, length) }?;
        let object = handles::get(kernel)?;
        let kernel = &object.kernel;
        out.put(&disassemble(kernel.module(), Some(kernel.name()), flags)?)
    })
}

/// Ends the handle of a kernel. Launches of it that are queued run.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_kernel_destroy(kernel: wavelift_kernel) -> wavelift_status {
    guard(|| handles::remove(kernel).map(drop))
}

/// Registers, memory and number of arguments of a kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_kernel_get_info(
    kernel: wavelift_kernel,
    info: *mut wavelift_kernel_info,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { GrowingOut::new(info) }?;
        let object = handles::get(kernel)?;
        let (code, gfx) = (object.kernel.code(), object.kernel.module().gfx());
        let (descriptor, info) = (&code.descriptor, object.kernel.info());
        let explicit = object.explicit();
        let spills = |count: Option<Option<u32>>| count.flatten().unwrap_or(0);
        out.put(wavelift_kernel_info {
            size: 0,
            name: object.name.as_ptr(),
            arg_count: explicit as u32,
            hidden_count: (object.args.len() - explicit) as u32,
            vgprs: descriptor.vgpr_count(gfx),
            sgprs: descriptor.sgpr_count(gfx),
            vgpr_spills: spills(info.map(|info| info.vgpr_spill_count)),
            sgpr_spills: spills(info.map(|info| info.sgpr_spill_count)),
            lds_bytes: descriptor.group_segment_fixed_size,
            scratch_bytes: descriptor.private_segment_fixed_size,
            dynamic_stack: descriptor.uses_dynamic_stack().into(),
            kernarg_bytes: info.map_or(descriptor.kernarg_size, |info| info.kernarg_segment_size),
            max_workgroup: code.max_work_items.unwrap_or(0),
            required_workgroup: code.required_workgroup.unwrap_or_default(),
            has_metadata: info.is_some().into(),
            reserved: 0,
        });
        Ok(())
    })
}

/// The parameter of a kernel with this number: from 0 those that a launch gives (`arg_count`), then
/// those that the library adds (`hidden_count`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_kernel_get_parameter(
    kernel: wavelift_kernel,
    index: usize,
    parameter: *mut wavelift_parameter,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { GrowingOut::new(parameter) }?;
        let object = handles::get(kernel)?;
        let Some(arg) = object.args.get(index) else {
            let (name, count) = (object.kernel.name(), object.args.len());
            return Err(Failure::new(
                WAVELIFT_NOT_FOUND,
                format!("parameter {index} of kernel {name}, which has {count}"),
            ));
        };
        let text = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        out.put(wavelift_parameter {
            size: 0,
            name: text(&arg.name),
            type_name: text(&arg.type_name),
            kind_name: arg.kind_name.as_ptr(),
            address_space: text(&arg.address_space),
            kind: arg.kind,
            offset: arg.offset,
            bytes: arg.bytes,
            read_only: arg.read_only.into(),
        });
        Ok(())
    })
}
