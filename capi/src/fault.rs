//! Faults as structures.

use std::ffi::{CString, c_char};
use std::ptr;

use wavelift::{Access, Fault, FaultKind};

use crate::foreign::{GrowingOut, growing};
use crate::result::{Failure, c_text, guard, wavelift_status, with_last_fault};

/// Kind of a fault.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum wavelift_fault_kind {
    /// No fault: the structure is empty.
    WAVELIFT_FAULT_NONE = 0,
    /// An access outside memory, or, with `WAVELIFT_MEMCHECK`, outside the exact allocation.
    WAVELIFT_FAULT_MEMORY = 1,
    /// A write to memory that kernels may only read: their code and their arguments.
    WAVELIFT_FAULT_READ_ONLY = 2,
    /// A misaligned access that the hardware refuses.
    WAVELIFT_FAULT_MISALIGNED = 3,
    /// LDS or scratch was read before it was written (`WAVELIFT_MEMCHECK`).
    WAVELIFT_FAULT_UNINITIALIZED = 4,
    /// An access outside LDS or scratch, where that is an error.
    WAVELIFT_FAULT_OUTSIDE_PRIVATE = 5,
    /// The bytes at the PC are no instruction of the target.
    WAVELIFT_FAULT_ILLEGAL_INSTRUCTION = 6,
    /// A valid instruction or mode that wavelift does not run.
    WAVELIFT_FAULT_UNSUPPORTED = 7,
    /// The kernel stopped itself (`s_trap`).
    WAVELIFT_FAULT_TRAP = 8,
    /// The launch ran longer than its time limit.
    WAVELIFT_FAULT_TIMEOUT = 9,
    /// The launch waits for itself (`WAVELIFT_DETECT_DEADLOCKS`).
    WAVELIFT_FAULT_DEADLOCK = 10,
    /// The launch waits for workgroups that cannot begin for want of memory.
    WAVELIFT_FAULT_NO_ROOM_TO_WAIT = 11,
    /// Memory behind a buffer was written. Found after the launch, so that no instruction is known.
    WAVELIFT_FAULT_OVERRUN = 12,
}

/// Kind of an access.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum wavelift_access {
    /// The fault is not about an access.
    WAVELIFT_ACCESS_NONE = 0,
    /// A load.
    WAVELIFT_ACCESS_READ = 1,
    /// A store.
    WAVELIFT_ACCESS_WRITE = 2,
    /// A read-modify-write.
    WAVELIFT_ACCESS_ATOMIC = 3,
    /// An instruction fetch.
    WAVELIFT_ACCESS_EXECUTE = 4,
}

/// What a kernel did wrong, and where. The texts are valid as long as that of
/// `wavelift_error_message`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct wavelift_fault {
    /// `sizeof(wavelift_fault)`.
    pub size: usize,
    /// Its kind by name, such as `"memory"`.
    pub kind_name: *const c_char,
    /// The whole message, of several lines.
    pub message: *const c_char,
    /// Name of the kernel.
    pub kernel: *const c_char,
    /// The instruction as LLVM prints it; empty if it is not known.
    pub instruction: *const c_char,
    /// The function that the PC is in; NULL if that is not known.
    pub function: *const c_char,
    /// Distance of the PC from the beginning of the function, in bytes.
    pub function_offset: u64,
    /// Address of the instruction in the code object, as in a disassembly.
    pub pc: u64,
    /// EXEC at the instruction.
    pub exec: u64,
    /// First byte of the access, as kernels see it; 0 unless `has_address`.
    pub address: u64,
    /// Its kind.
    pub kind: wavelift_fault_kind,
    /// Kind of the access.
    pub access: wavelift_access,
    /// Size of the access in bytes; 0 if the fault is not about an access.
    pub bytes: u32,
    /// 1 if `address` is one, otherwise 0.
    pub has_address: u32,
    /// 1 if the instruction is known. Otherwise only the kernel is known: instruction, PC,
    /// workgroup, wave, lane and EXEC are empty.
    pub has_place: u32,
    /// Number of the workgroup in each dimension.
    pub workgroup: [u32; 3],
    /// Number of the wave in the workgroup.
    pub wave: u32,
    /// Number of the lane in the wave; -1 for an instruction that is not executed by lane.
    pub lane: i32,
}

growing! {
    wavelift_fault = 120;
}

/// A fault with its texts.
pub(crate) struct FaultTexts {
    fault: Fault,
    kind_name: CString,
    message: CString,
    kernel: CString,
    instruction: CString,
    function: Option<CString>,
}

impl FaultTexts {
    pub(crate) fn new(fault: Fault) -> FaultTexts {
        FaultTexts {
            kind_name: c_text(fault.kind.name()),
            message: c_text(fault.to_string()),
            kernel: c_text(&*fault.kernel),
            instruction: c_text(&*fault.instruction),
            function: fault.symbol.as_ref().map(|(name, _)| c_text(&**name)),
            fault,
        }
    }

    fn structure(&self) -> wavelift_fault {
        let fault = &self.fault;
        let (kind, access) = kind(&fault.kind);
        let (access, bytes) = access.unwrap_or((wavelift_access::WAVELIFT_ACCESS_NONE, 0));
        let address = fault.kind.address();
        let function = self.function.as_ref();
        wavelift_fault {
            size: 0,
            kind_name: self.kind_name.as_ptr(),
            message: self.message.as_ptr(),
            kernel: self.kernel.as_ptr(),
            instruction: self.instruction.as_ptr(),
            function: function.map_or(ptr::null(), |name| name.as_ptr()),
            function_offset: fault.symbol.as_ref().map_or(0, |(_, offset)| *offset),
            pc: fault.pc,
            exec: fault.exec,
            address: address.unwrap_or(0),
            kind,
            access,
            bytes,
            has_address: address.is_some().into(),
            has_place: fault.kind.is_located().into(),
            workgroup: fault.workgroup,
            wave: fault.wave,
            lane: fault.lane.map_or(-1, |lane| lane as i32),
        }
    }
}

/// The header's kind, and the access with its size.
fn kind(kind: &FaultKind) -> (wavelift_fault_kind, Option<(wavelift_access, u32)>) {
    use wavelift_access::*;
    use wavelift_fault_kind::*;
    let named = |access: &Access, bytes: &u32| {
        let access = match access {
            Access::Read => WAVELIFT_ACCESS_READ,
            Access::Write => WAVELIFT_ACCESS_WRITE,
            Access::Atomic => WAVELIFT_ACCESS_ATOMIC,
            Access::Execute => WAVELIFT_ACCESS_EXECUTE,
        };
        Some((access, *bytes))
    };
    match kind {
        FaultKind::Memory { access, bytes, .. } => (WAVELIFT_FAULT_MEMORY, named(access, bytes)),
        FaultKind::ReadOnly { access, bytes, .. } => {
            (WAVELIFT_FAULT_READ_ONLY, named(access, bytes))
        }
        FaultKind::Misaligned { access, bytes, .. } => {
            (WAVELIFT_FAULT_MISALIGNED, named(access, bytes))
        }
        FaultKind::Uninitialized { bytes, .. } => {
            (WAVELIFT_FAULT_UNINITIALIZED, named(&Access::Read, bytes))
        }
        FaultKind::OutsidePrivate { access, bytes, .. } => {
            (WAVELIFT_FAULT_OUTSIDE_PRIVATE, named(access, bytes))
        }
        FaultKind::IllegalInstruction { .. } => (WAVELIFT_FAULT_ILLEGAL_INSTRUCTION, None),
        FaultKind::Unsupported { .. } => (WAVELIFT_FAULT_UNSUPPORTED, None),
        FaultKind::Trap { .. } => (WAVELIFT_FAULT_TRAP, None),
        FaultKind::Timeout { .. } => (WAVELIFT_FAULT_TIMEOUT, None),
        FaultKind::Deadlock { .. } => (WAVELIFT_FAULT_DEADLOCK, None),
        FaultKind::NoRoomToWait { .. } => (WAVELIFT_FAULT_NO_ROOM_TO_WAIT, None),
        FaultKind::Overrun(_) => (WAVELIFT_FAULT_OVERRUN, None),
    }
}

/// The fault of the last call that failed on this thread, if that was `WAVELIFT_FAULT`, or
/// `WAVELIFT_NOT_RUN` because of one. Otherwise the result is `WAVELIFT_NOT_FOUND`, and the message of the
/// thread is not changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_error_fault(fault: *mut wavelift_fault) -> wavelift_status {
    let mut found = true;
    let status = guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { GrowingOut::new(fault) }?;
        let fault = with_last_fault(|last| last.map(FaultTexts::structure));
        match fault.flatten() {
            Some(fault) => out.put(fault),
            None => found = false,
        }
        Ok::<(), Failure>(())
    });
    match found {
        true => status,
        false => wavelift_status::WAVELIFT_NOT_FOUND,
    }
}
