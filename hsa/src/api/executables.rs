//! Code object readers, executables, symbols, and AMD's loader extension.

use std::ffi::{c_char, c_void};
use std::io::Read as _;
use std::sync::Arc;

use crate::abi::{Handle, Outcome, RawStatus, Status};
use crate::agent::{self, Agent};
use crate::executable::{self, Executable, Reader, Symbol};
use crate::guard::{guard, put, put_any, text, wanted};
use crate::state::{existing, runtime};

use super::system::each;

type SymbolCallback = unsafe extern "C" fn(Handle, Handle, *mut c_void) -> RawStatus;

fn find(executable: Handle) -> Outcome<Arc<Executable>> {
    let executables = &runtime()?.executables;
    executables.get(executable, Status::INVALID_EXECUTABLE)
}

/// Prepares to read a code object from memory.
pub unsafe extern "C" fn hsa_code_object_reader_create_from_memory(
    bytes: *const c_void,
    len: usize,
    out: *mut Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        if bytes.is_null() || len == 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        let reader = Reader::Memory(bytes.expose_provenance() as u64, len);
        // SAFETY: head of the module.
        unsafe { put(out, rt.readers.add(Arc::new(reader))) }
    })
}

/// Reads a code object from an open file, from its present position on.
pub unsafe extern "C" fn hsa_code_object_reader_create_from_file(
    file: i32,
    out: *mut Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        // SAFETY: a number that is no open file gives -1.
        let copy = unsafe { libc::dup(file) };
        if copy < 0 {
            return Err(Status::INVALID_FILE);
        }
        // SAFETY: the copy is ours.
        let mut file = unsafe { <std::fs::File as std::os::fd::FromRawFd>::from_raw_fd(copy) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|_| Status::INVALID_FILE)?;
        let reader = rt.readers.add(Arc::new(Reader::Bytes(bytes)));
        // SAFETY: head of the module.
        unsafe { put(out, reader) }
    })
}

/// Ends a reader.
pub extern "C" fn hsa_code_object_reader_destroy(reader: Handle) -> RawStatus {
    end_reader(reader, Status::INVALID_CODE_OBJECT_READER)
}

fn end_reader(reader: Handle, wrong: Status) -> RawStatus {
    guard(|| existing()?.readers.remove(reader, wrong).map(drop))
}

/// As [`hsa_code_object_reader_create_from_memory`], by the older name.
pub unsafe extern "C" fn hsa_code_object_deserialize(
    bytes: *mut c_void,
    len: usize,
    _options: *const c_char,
    out: *mut Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        if bytes.is_null() || len == 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: head of the module. The program may free the memory at once.
        let bytes = unsafe { crate::guard::list(bytes.cast_const().cast::<u8>(), len) }?;
        let reader = rt.readers.add(Arc::new(Reader::Bytes(bytes.to_vec())));
        // SAFETY: head of the module.
        unsafe { put(out, reader) }
    })
}

/// Ends a code object.
pub extern "C" fn hsa_code_object_destroy(code_object: Handle) -> RawStatus {
    end_reader(code_object, Status::INVALID_CODE_OBJECT)
}

/// Makes an executable.
pub unsafe extern "C" fn hsa_executable_create_alt(
    profile: u32,
    rounding: u32,
    _options: *const c_char,
    out: *mut Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        let executable = Executable::new(profile, rounding)?;
        // SAFETY: head of the module.
        unsafe { put(out, rt.executables.add(Arc::new(executable))) }
    })
}

/// As [`hsa_executable_create_alt`], by the older name.
pub unsafe extern "C" fn hsa_executable_create(
    profile: u32,
    state: u32,
    options: *const c_char,
    out: *mut Handle,
) -> RawStatus {
    if state > 1 {
        return Status::INVALID_ARGUMENT.0;
    }
    // SAFETY: head of the module.
    unsafe {
        match hsa_executable_create_alt(profile, 0, options, out) {
            0 if state == 1 => hsa_executable_freeze(out.read_unaligned(), options),
            status => status,
        }
    }
}

/// Ends an executable.
pub extern "C" fn hsa_executable_destroy(executable: Handle) -> RawStatus {
    guard(|| {
        let rt = existing()?;
        let executable = rt
            .executables
            .remove(executable, Status::INVALID_EXECUTABLE)?;
        executable.destroy(rt);
        Ok(())
    })
}

fn load(executable: Handle, agent: Handle, reader: Handle, wrong: Status) -> Outcome<Handle> {
    let rt = runtime()?;
    let executable = find(executable)?;
    if Agent::from_handle(agent)? == Agent::Cpu {
        return Err(Status::INVALID_AGENT);
    }
    let reader = rt.readers.get(reader, wrong)?;
    // SAFETY: head of the module: the program keeps the memory as long as the reader.
    executable.load(rt, unsafe { reader.bytes() })
}

/// Loads a code object for the GPU.
pub unsafe extern "C" fn hsa_executable_load_agent_code_object(
    executable: Handle,
    agent: Handle,
    reader: Handle,
    _options: *const c_char,
    out: *mut Handle,
) -> RawStatus {
    guard(|| {
        let loaded = load(
            executable,
            agent,
            reader,
            Status::INVALID_CODE_OBJECT_READER,
        )?;
        match out.is_null() {
            true => Ok(()),
            // SAFETY: head of the module.
            false => unsafe { put(out, loaded) },
        }
    })
}

/// As [`hsa_executable_load_agent_code_object`], by the older name.
pub unsafe extern "C" fn hsa_executable_load_code_object(
    executable: Handle,
    agent: Handle,
    code_object: Handle,
    _options: *const c_char,
) -> RawStatus {
    guard(|| load(executable, agent, code_object, Status::INVALID_CODE_OBJECT).map(drop))
}

/// Nothing more can be loaded.
pub unsafe extern "C" fn hsa_executable_freeze(
    executable: Handle,
    _options: *const c_char,
) -> RawStatus {
    guard(|| find(executable)?.freeze())
}

/// A fact about an executable.
pub unsafe extern "C" fn hsa_executable_get_info(
    executable: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        let executable = find(executable)?;
        // SAFETY: head of the module.
        unsafe { executable.info(attribute, value) }
    })
}

/// Is every symbol defined? Undefined ones are found when loading.
pub unsafe extern "C" fn hsa_executable_validate(executable: Handle, out: *mut u32) -> RawStatus {
    guard(|| {
        find(executable)?;
        // SAFETY: head of the module.
        unsafe { put(out, 0) }
    })
}

/// As [`hsa_executable_validate`].
pub unsafe extern "C" fn hsa_executable_validate_alt(
    executable: Handle,
    _options: *const c_char,
    out: *mut u32,
) -> RawStatus {
    // SAFETY: head of the module.
    unsafe { hsa_executable_validate(executable, out) }
}

/// Gives a variable of the GPU an address.
pub unsafe extern "C" fn hsa_executable_agent_global_variable_define(
    executable: Handle,
    agent: Handle,
    name: *const c_char,
    at: *mut c_void,
) -> RawStatus {
    guard(|| {
        let executable = find(executable)?;
        Agent::from_handle(agent)?;
        // SAFETY: head of the module.
        let name = unsafe { text(name) }?;
        executable.define(name, at.expose_provenance() as u64)
    })
}

/// Gives a variable an address.
pub unsafe extern "C" fn hsa_executable_global_variable_define(
    executable: Handle,
    name: *const c_char,
    at: *mut c_void,
) -> RawStatus {
    // SAFETY: head of the module.
    unsafe { hsa_executable_agent_global_variable_define(executable, agent::GPU, name, at) }
}

/// Gives a constant of the GPU an address.
pub unsafe extern "C" fn hsa_executable_readonly_variable_define(
    executable: Handle,
    agent: Handle,
    name: *const c_char,
    at: *mut c_void,
) -> RawStatus {
    // SAFETY: head of the module.
    unsafe { hsa_executable_agent_global_variable_define(executable, agent, name, at) }
}

/// The symbol of this name.
pub unsafe extern "C" fn hsa_executable_get_symbol_by_name(
    executable: Handle,
    name: *const c_char,
    agent: *const Handle,
    out: *mut Handle,
) -> RawStatus {
    guard(|| {
        let executable = find(executable)?;
        if !agent.is_null() {
            // SAFETY: head of the module; not null.
            Agent::from_handle(unsafe { agent.read_unaligned() })?;
        }
        // SAFETY: head of the module.
        let symbol = executable.symbol(unsafe { text(name) }?)?;
        // SAFETY: head of the module.
        unsafe { put(out, symbol) }
    })
}

/// As [`hsa_executable_get_symbol_by_name`], by the older name.
pub unsafe extern "C" fn hsa_executable_get_symbol(
    executable: Handle,
    _module: *const c_char,
    name: *const c_char,
    agent: Handle,
    _convention: i32,
    out: *mut Handle,
) -> RawStatus {
    // SAFETY: head of the module.
    unsafe { hsa_executable_get_symbol_by_name(executable, name, &agent, out) }
}

fn symbol(handle: Handle) -> Outcome<Arc<Symbol>> {
    let symbols = &runtime()?.symbols;
    symbols.get(handle, Status::INVALID_EXECUTABLE_SYMBOL)
}

/// A fact about a symbol.
pub unsafe extern "C" fn hsa_executable_symbol_get_info(
    handle: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        let symbol = symbol(handle)?;
        // SAFETY: head of the module.
        unsafe { symbol.info(attribute, value) }
    })
}

/// Calls `callback` for each symbol.
pub unsafe extern "C" fn hsa_executable_iterate_symbols(
    executable: Handle,
    callback: Option<SymbolCallback>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        let symbols = find(executable)?.symbols();
        // SAFETY: head of the module.
        each(&symbols, callback, |call, symbol| unsafe {
            call(executable, symbol, data)
        })
    })
}

/// Calls `callback` for each symbol of an agent.
pub unsafe extern "C" fn hsa_executable_iterate_agent_symbols(
    executable: Handle,
    agent: Handle,
    callback: Option<unsafe extern "C" fn(Handle, Handle, Handle, *mut c_void) -> RawStatus>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        let symbols = match Agent::from_handle(agent)? {
            Agent::Gpu => find(executable)?.symbols(),
            Agent::Cpu => Vec::new(),
        };
        // SAFETY: head of the module.
        each(&symbols, callback, |call, symbol| unsafe {
            call(executable, agent, symbol, data)
        })
    })
}

/// Calls `callback` for each symbol that belongs to no agent; there are none.
pub unsafe extern "C" fn hsa_executable_iterate_program_symbols(
    executable: Handle,
    callback: Option<SymbolCallback>,
    _data: *mut c_void,
) -> RawStatus {
    guard(|| {
        find(executable)?;
        callback.map(drop).ok_or(Status::INVALID_ARGUMENT)
    })
}

// ---- AMD's loader extension

/// Host address of an address that kernels use: the same.
pub(super) unsafe extern "C" fn loader_query_host_address(
    device: *const c_void,
    out: *mut *const c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        // SAFETY: head of the module.
        unsafe { put(out, device) }
    })
}

/// The loaded segments: none are reported.
pub(super) unsafe extern "C" fn loader_query_segment_descriptors(
    _descriptors: *mut c_void,
    count: *mut usize,
) -> RawStatus {
    guard(|| {
        runtime()?;
        // SAFETY: head of the module.
        unsafe { put(count, 0) }
    })
}

/// The executable that an address lies in.
pub(super) unsafe extern "C" fn loader_query_executable(
    device: *const c_void,
    out: *mut Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        let found = executable::containing(rt, device.addr() as u64);
        let (executable, _) = found.ok_or(Status::INVALID_ARGUMENT)?;
        // SAFETY: head of the module.
        unsafe { put(out, executable) }
    })
}

/// A handle of the `number`th code object of an executable.
fn loaded(executable: Handle, number: Handle) -> Handle {
    executable << 16 | number
}

/// Calls `callback` for each loaded code object.
pub(super) unsafe extern "C" fn loader_iterate_loaded_code_objects(
    executable: Handle,
    callback: Option<SymbolCallback>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        let modules = find(executable)?.modules();
        let all: Vec<_> = modules
            .iter()
            .map(|(number, _)| loaded(executable, *number))
            .collect();
        // SAFETY: head of the module.
        each(&all, callback, |call, object| unsafe {
            call(executable, object, data)
        })
    })
}

/// A fact about a loaded code object.
pub(super) unsafe extern "C" fn loader_loaded_code_object_get_info(
    object: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        let (executable, number) = (object >> 16, object & 0xffff);
        let modules = find(executable)
            .map_err(|_| Status::INVALID_CODE_OBJECT)?
            .modules();
        let module = modules.into_iter().find(|(other, _)| *other == number);
        let (_, module) = module.ok_or(Status::INVALID_CODE_OBJECT)?;
        let code = module.code();
        // SAFETY: head of the module; each attribute writes its own type.
        unsafe {
            match attribute {
                1 => put_any::<Handle>(value, executable),
                2 => put_any::<u32>(value, 2),
                3 => put_any::<Handle>(value, agent::GPU),
                4 => put_any::<u32>(value, 0),
                8 => put_any::<i64>(value, code.guest(0) as i64),
                9 => put_any::<u64>(value, code.base()),
                10 => put_any::<u64>(value, code.image_len()),
                11 => put_any::<u32>(value, 0),
                12 => Ok(()),
                _ => Err(Status::INVALID_ARGUMENT),
            }
        }
    })
}
