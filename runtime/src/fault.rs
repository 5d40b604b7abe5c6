//! Faults of guests. A fault is a normal result of running a kernel: both engines report the same
//! value for the same kernel and inputs. Errors of the caller (bad code object, bad launch) are
//! other types; see [`crate::dispatch::LaunchError`].

use std::fmt;

use frontend::DecodeError;
use serde::{Deserialize, Serialize};

use crate::memory::{MemoryError, Overrun};
use crate::waiting::Waiting;

/// Kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// A read-modify-write.
    Atomic,
    /// An instruction fetch.
    Execute,
}

impl Access {
    /// Lower-case name for machine-readable output.
    pub const fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Atomic => "atomic",
            Access::Execute => "execute",
        }
    }

    /// The verb of messages, in the past tense.
    const fn verb(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "wrote",
            Access::Atomic => "atomically updated",
            Access::Execute => "executed",
        }
    }
}

/// The allocation nearest to a bad address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Nearest {
    /// Address of its first byte.
    pub start: u64,
    /// Its requested size in bytes.
    pub len: u64,
    /// It was freed before the access.
    pub freed: bool,
    /// It is the scratch of the dispatch, with this number of bytes for each lane, and the access
    /// is one to the lane's.
    pub scratch: Option<u32>,
}

impl Nearest {
    /// Is the byte at this address in it?
    pub fn has(&self, address: u64) -> bool {
        address.wrapping_sub(self.start) < self.len
    }

    /// Is it so near to the address that the access was probably meant for it?
    pub fn is_near(&self, address: u64) -> bool {
        let end = self.start.saturating_add(self.len);
        address.saturating_sub(end) < NEAR && self.start.saturating_sub(address) < NEAR
    }
}

/// What a kernel tried to write to although it may only read it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Protected {
    /// What it is.
    pub kind: ProtectedKind,
    /// Address of its first byte.
    pub start: u64,
    /// Its size in bytes.
    pub len: u64,
    /// For an address in the code object of the kernel that runs: function and offset, or the
    /// address as in a disassembly.
    pub place: Option<String>,
}

/// Kinds of memory that kernels may only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtectedKind {
    /// A code object, or bare code.
    Code,
    /// The kernel arguments of a dispatch.
    Arguments,
    /// Another structure that is only read: a packet with its queue, an image descriptor.
    Structure,
}

/// A kind of memory that only one wave or workgroup sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Private {
    /// The workgroup's LDS.
    Lds,
    /// A lane's scratch.
    Scratch,
}

impl fmt::Display for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Private::Lds => "LDS",
            Private::Scratch => "scratch",
        })
    }
}

/// Cause of a fault. The messages continue a sentence that begins with the lane or wave.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FaultKind {
    /// An access outside guest memory (or, in checked mode, outside the exact allocation).
    #[error("{} {} at 0x{address:x}, {}", .access.verb(), Bytes(u64::from(*.bytes)), Where(*.address, *.bytes, *.nearest))]
    Memory {
        /// Kind of the access.
        access: Access,
        /// First byte of the access.
        address: u64,
        /// Size of the access.
        bytes: u32,
        /// The nearest allocation. Engines leave it `None`; the dispatcher fills it in.
        nearest: Option<Nearest>,
    },
    /// A write to memory that kernels may only read.
    #[error("{} {} at 0x{address:x}, {}, which kernels may only read", .access.verb(), Bytes(u64::from(*.bytes)), Inside(*.address, .protected.as_ref()))]
    ReadOnly {
        /// Kind of the access: a write or an atomic.
        access: Access,
        /// First byte of the access.
        address: u64,
        /// Size of the access.
        bytes: u32,
        /// What is there. Engines leave it `None`; the dispatcher fills it in.
        protected: Option<Protected>,
    },
    /// A misaligned access that the hardware refuses (atomics).
    #[error("{} {} at 0x{address:x}, which is not aligned to {align}", .access.verb(), Bytes(u64::from(*.bytes)))]
    Misaligned {
        /// Kind of the access.
        access: Access,
        /// First byte of the access.
        address: u64,
        /// Size of the access.
        bytes: u32,
        /// Required alignment.
        align: u32,
    },
    /// Checked mode: LDS or scratch was read before it was written.
    #[error("read {} of {space} at offset 0x{offset:x} that {} never written", Bytes(u64::from(*.bytes)), if *.bytes == 1 { "was" } else { "were" })]
    Uninitialized {
        /// Which memory.
        space: Private,
        /// Offset of the first byte of the access.
        offset: u64,
        /// Size of the access.
        bytes: u32,
    },
    /// LDS or scratch was accessed outside its size where that is an error (checked mode, and
    /// accesses through an aperture).
    #[error("{} {} of {space} at offset 0x{offset:x}, {}", .access.verb(), Bytes(u64::from(*.bytes)), Outside(*.space, *.size, *.allocated))]
    OutsidePrivate {
        /// Which memory.
        space: Private,
        /// Kind of the access.
        access: Access,
        /// Offset of the first byte of the access.
        offset: u64,
        /// Size of the access.
        bytes: u32,
        /// Size of the memory.
        size: u64,
        /// The GPU's allocation, if it is larger and contains the access. Engines leave it `None`;
        /// the dispatcher fills it in.
        allocated: Option<u64>,
    },
    /// The bytes at the PC are not an instruction of the target.
    #[error("executed an illegal instruction: {error}")]
    IllegalInstruction {
        /// The decoder's error.
        error: DecodeError,
    },
    /// A valid instruction or mode that wavelift does not run.
    #[error("executed something unsupported: {what}")]
    Unsupported {
        /// What it is.
        what: String,
    },
    /// The guest requested a stop (`s_trap`).
    #[error("stopped at trap {id}{}", if *.id == 2 { " (llvm.trap)" } else { "" })]
    Trap {
        /// The trap's number.
        id: u32,
    },
    /// The dispatch ran longer than its time limit.
    #[error("was still running after {seconds} s, the time limit of the dispatch")]
    Timeout {
        /// The limit.
        seconds: f64,
    },
    /// All workgroups that have begun poll memory that does not change, no other can begin, and
    /// nothing else may write there.
    #[error(
        "waits for ever: for {seconds:.1} s all workgroups that have begun have only polled memory that does not change"
    )]
    Deadlock {
        /// Minimum time for which they have polled.
        seconds: f64,
    },
    /// All workgroups that have begun wait, and others, which a GPU would run at the same time,
    /// cannot begin for want of memory.
    #[error(
        "waits for workgroups that cannot begin: {live} wait, and the registers, LDS and scratch of each are {bytes} bytes, of {limit} that waiting workgroups may have"
    )]
    NoRoomToWait {
        /// Workgroups that wait.
        live: u64,
        /// What one of them occupies.
        bytes: u64,
        /// The limit, or what guest memory had left.
        limit: u64,
    },
    /// Memory behind a buffer was written. Found when the dispatch had ended.
    #[error("wrote past the end of a {}-byte buffer: {}", .0.len, Past(*.0))]
    Overrun(Overrun),
}

impl FaultKind {
    /// Short stable name for machine-readable output.
    pub const fn name(&self) -> &'static str {
        match self {
            FaultKind::Memory { .. } => "memory",
            FaultKind::ReadOnly { .. } => "read_only",
            FaultKind::Misaligned { .. } => "misaligned",
            FaultKind::Uninitialized { .. } => "uninitialized",
            FaultKind::OutsidePrivate { .. } => "outside_private",
            FaultKind::IllegalInstruction { .. } => "illegal_instruction",
            FaultKind::Unsupported { .. } => "unsupported",
            FaultKind::Trap { .. } => "trap",
            FaultKind::Timeout { .. } => "timeout",
            FaultKind::Deadlock { .. } => "deadlock",
            FaultKind::NoRoomToWait { .. } => "no_room_to_wait",
            FaultKind::Overrun(_) => "overrun",
        }
    }

    /// Has it a place in the code? Otherwise it was found when the dispatch had ended: a fault
    /// names the kernel, and its instruction, workgroup, wave, lane and EXEC are empty.
    pub const fn is_located(&self) -> bool {
        !matches!(self, FaultKind::Overrun(_))
    }

    /// Can it come of an access outside an allocation, or of data that one has changed, so that
    /// checked mode would say more?
    const fn may_come_of_an_overrun(&self) -> bool {
        match self {
            // An access behind scratch has a remedy of its own.
            FaultKind::Memory { nearest, .. } => {
                !matches!(nearest, Some(near) if near.scratch.is_some())
            }
            FaultKind::Misaligned { .. } | FaultKind::Overrun(_) => true,
            // It has a remedy of its own, too.
            FaultKind::ReadOnly { .. }
            | FaultKind::Uninitialized { .. }
            | FaultKind::OutsidePrivate { .. }
            | FaultKind::IllegalInstruction { .. }
            | FaultKind::Unsupported { .. }
            | FaultKind::Trap { .. }
            | FaultKind::Timeout { .. }
            | FaultKind::Deadlock { .. }
            | FaultKind::NoRoomToWait { .. } => false,
        }
    }

    /// The address of the access, if any.
    pub const fn address(&self) -> Option<u64> {
        match self {
            FaultKind::Memory { address, .. }
            | FaultKind::ReadOnly { address, .. }
            | FaultKind::Misaligned { address, .. } => Some(*address),
            FaultKind::Overrun(overrun) => Some(overrun.start + overrun.len + overrun.past),
            _ => None,
        }
    }

    /// An instruction fetch from `pc` outside of code.
    pub const fn no_code(pc: u64) -> FaultKind {
        FaultKind::Memory {
            access: Access::Execute,
            address: pc,
            bytes: 4,
            nearest: None,
        }
    }
}

impl From<MemoryError> for FaultKind {
    fn from(error: MemoryError) -> FaultKind {
        match error {
            MemoryError::Unmapped {
                access,
                address,
                bytes,
            } => FaultKind::Memory {
                access,
                address,
                bytes,
                nearest: None,
            },
            MemoryError::ReadOnly {
                access,
                address,
                bytes,
            } => FaultKind::ReadOnly {
                access,
                address,
                bytes,
                protected: None,
            },
            MemoryError::Unwritten { offset, bytes } => FaultKind::Uninitialized {
                space: Private::Scratch,
                offset,
                bytes,
            },
            MemoryError::Misaligned {
                access,
                address,
                bytes,
            } => FaultKind::Misaligned {
                access,
                address,
                bytes,
                align: bytes,
            },
        }
    }
}

/// Prints the bounds of private memory that an access violates.
struct Outside(Private, u64, Option<u64>);

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outside(space, size, allocated) = *self;
        match space {
            Private::Lds => write!(f, "outside its {size} bytes")?,
            Private::Scratch => past_scratch(f, size)?,
        }
        match allocated {
            Some(bytes) => write!(f, " (a GPU allocates {bytes} bytes and does not notice)"),
            None => Ok(()),
        }
    }
}

/// Prints what follows a lane's scratch, and the remedy.
fn past_scratch(f: &mut fmt::Formatter<'_>, lane_bytes: u64) -> fmt::Result {
    write!(
        f,
        "past the end of the lane's {lane_bytes} bytes of scratch; try --stack BYTES"
    )
}

/// Prints a number of bytes.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 byte"),
            n => write!(f, "{n} bytes"),
        }
    }
}

/// Prints which bytes past the end of a buffer were written.
struct Past(Overrun);

impl fmt::Display for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overrun { past, changed, .. } = self.0;
        match changed {
            1 => write!(f, "1 byte is changed, {} past it", Bytes(past)),
            n => write!(
                f,
                "{n} bytes are changed, the first {} past it",
                Bytes(past)
            ),
        }
    }
}

/// Prints the position of an access relative to the nearest allocation.
struct Where(u64, u32, Option<Nearest>);

/// Addresses below this count as null pointers with an offset in messages.
const NULL_PAGES: u64 = 0x1_0000;

/// An allocation farther away than this is unrelated to the access.
const NEAR: u64 = 1 << 24;

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Where(address, bytes, nearest) = *self;
        if address < NULL_PAGES {
            return match address {
                0 => f.write_str("a null pointer"),
                offset => write!(f, "{offset} bytes from a null pointer"),
            };
        }
        let Some(near) = nearest.filter(|near| near.is_near(address)) else {
            return f.write_str("near no allocation");
        };
        if let Some(lane_bytes) = near.scratch {
            return past_scratch(f, lane_bytes.into());
        }
        let kind = if near.freed { "a freed" } else { "a" };
        let end = near.start.saturating_add(near.len);
        if address >= end {
            let past = Bytes(address - end);
            let len = near.len;
            write!(f, "{past} past the end of {kind} {len}-byte allocation")
        } else if address < near.start {
            let before = near.start - address;
            let len = near.len;
            write!(f, "{before} bytes before {kind} {len}-byte allocation")
        } else if near.freed || address.saturating_add(u64::from(bytes)) <= end {
            let (inside, len) = (address - near.start, near.len);
            write!(f, "{inside} bytes into {kind} {len}-byte allocation")
        } else {
            let over = address.saturating_add(u64::from(bytes)).saturating_sub(end);
            let len = near.len;
            write!(
                f,
                "running {over} bytes over the end of {kind} {len}-byte allocation"
            )
        }
    }
}

/// Prints what an access to read-only memory hit.
struct Inside<'a>(u64, Option<&'a Protected>);

impl fmt::Display for Inside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inside(address, protected) = *self;
        let Some(protected) = protected else {
            return f.write_str("in the memory of code and kernel arguments");
        };
        let (offset, len) = (address.wrapping_sub(protected.start), protected.len);
        match (&protected.place, protected.kind) {
            (Some(place), _) => write!(f, "in the kernel's code object at {place}"),
            (None, ProtectedKind::Code) => {
                write!(f, "{} into {len} bytes of code", Bytes(offset))
            }
            (None, ProtectedKind::Arguments) => {
                write!(f, "{} into {len} bytes of kernel arguments", Bytes(offset))
            }
            (None, ProtectedKind::Structure) => {
                write!(f, "{} into a {len}-byte structure", Bytes(offset))
            }
        }
    }
}

/// An engine's report; the dispatcher adds location and workgroup.
#[derive(Clone, Debug, PartialEq)]
pub struct WaveFault {
    /// The cause.
    pub kind: FaultKind,
    /// Guest address of the faulting instruction.
    pub pc: u64,
    /// The lane, for vector accesses; `None` for the scalar unit.
    pub lane: Option<u32>,
}

/// A fault with all information for the reader.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Fault {
    /// The cause.
    pub kind: FaultKind,
    /// Name of the kernel.
    pub kernel: String,
    /// Address of the instruction in the code object's numbering (as in a disassembly); the raw
    /// guest address if the PC is outside the code object.
    pub pc: u64,
    /// Function and offset of the PC, if symbols are available.
    pub symbol: Option<(String, u64)>,
    /// The instruction as LLVM prints it.
    pub instruction: String,
    /// Workgroup.
    pub workgroup: [u32; 3],
    /// Wave within the workgroup.
    pub wave: u32,
    /// Lane within the wave.
    pub lane: Option<u32>,
    /// EXEC at the instruction.
    pub exec: u64,
    /// The dispatch ran in checked mode.
    pub checked: bool,
    /// Of faults that end a dispatch which does not end by itself: who waits for what.
    pub waits: Option<Box<Waiting>>,
}

/// What a fault's message ends with if checked mode may say more.
const TRY_MEMCHECK: &str = "to find the first access outside an allocation, try --memcheck";

/// What the message of a write to read-only memory ends with.
const WRITE_ELSEWHERE: &str =
    "data that a kernel changes belongs in a buffer or in a global variable that is not constant";

impl Fault {
    /// What the user may do to learn more.
    pub fn advice(&self) -> Option<&'static str> {
        if let FaultKind::ReadOnly { .. } = self.kind {
            return Some(WRITE_ELSEWHERE);
        }
        let useful = !self.checked && self.kind.may_come_of_an_overrun();
        useful.then_some(TRY_MEMCHECK)
    }

    /// The message without [`Fault::advice`].
    pub fn account(&self) -> impl fmt::Display {
        Account(self)
    }
}

/// Prints what happened, and where.
struct Account<'a>(&'a Fault);

impl fmt::Display for Account<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Account(fault) = self;
        if !fault.kind.is_located() {
            let (kernel, kind) = (&fault.kernel, &fault.kind);
            writeln!(f, "kernel {kernel} {kind}")?;
            return f.write_str("   found after the dispatch; the instruction is not known");
        }
        match fault.lane {
            Some(lane) => writeln!(f, "lane {lane} {}", fault.kind)?,
            None => writeln!(f, "the wave {}", fault.kind)?,
        }
        let (kernel, instruction) = (&fault.kernel, &fault.instruction);
        let wave = (fault.workgroup, fault.wave, fault.exec);
        write_location(f, kernel, (fault.pc, &fault.symbol, instruction), wave)?;
        match &fault.waits {
            Some(waits) => write!(f, "\n   {waits}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.account().fmt(f)?;
        match self.advice() {
            Some(advice) => write!(f, "\n   {advice}"),
            None => Ok(()),
        }
    }
}

/// An instruction, and the wave at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Name of the kernel.
    pub kernel: String,
    /// Address of the instruction, as in [`Fault`].
    pub pc: u64,
    /// Function and offset of the PC, if symbols are available.
    pub symbol: Option<(String, u64)>,
    /// The instruction as LLVM prints it.
    pub instruction: String,
    /// Workgroup.
    pub workgroup: [u32; 3],
    /// Wave within the workgroup.
    pub wave: u32,
    /// EXEC.
    pub exec: u64,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kernel, instruction) = (&self.kernel, &self.instruction);
        let wave = (self.workgroup, self.wave, self.exec);
        write_location(f, kernel, (self.pc, &self.symbol, instruction), wave)
    }
}

/// Two lines about an instruction and a wave.
fn write_location(
    f: &mut fmt::Formatter<'_>,
    kernel: &str,
    (pc, symbol, instruction): (u64, &Option<(String, u64)>, &str),
    ([x, y, z], wave, exec): ([u32; 3], u32, u64),
) -> fmt::Result {
    write!(f, "   at 0x{pc:04x}  {instruction}")?;
    if let Some((name, offset)) = symbol {
        write!(f, "  ({name}+0x{offset:x})")?;
    }
    write!(
        f,
        "\n   wave {wave} of workgroup ({x},{y},{z}) of kernel {kernel}, exec 0x{exec:016x}"
    )
}
