//! Memory shared with other processes. An allocation is exported by replacing its pages by an
//! anonymous memory file; the handle has the process and the file descriptor number by which others
//! open it. Attaching maps the file into guest memory, so that kernels and host use it like every
//! other allocation. Buffers of other drivers, which are files as well, are imported in the same
//! way.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use super::{ATTACHED, Allocation, Backing, FOREIGN, GRANULE, Pool, pointer, remove};
use crate::abi::{IpcHandle, Outcome, Status};
use crate::guard::say;
use crate::lock::write;
use crate::state::Runtime;

/// The first word of every handle.
const MAGIC: u32 = u32::from_le_bytes(*b"wave");

/// Copy granularity: pieces of zeros are not written, so that the file stays sparse.
const PIECE: usize = GRANULE as usize;

/// Contents of a handle.
struct Name {
    process: u32,
    number: u32,
    inode: u64,
    bytes: u64,
}

impl Name {
    fn words(&self) -> IpcHandle {
        let halves = |value: u64| [value as u32, (value >> 32) as u32];
        let ([a, b], [c, d]) = (halves(self.inode), halves(self.bytes));
        [MAGIC, self.process, self.number, 0, a, b, c, d]
    }

    fn new(words: IpcHandle) -> Outcome<Name> {
        let [MAGIC, process, number, 0, a, b, c, d] = words else {
            return Err(Status::INVALID_ARGUMENT);
        };
        let whole = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        Ok(Name {
            process,
            number,
            inode: whole(a, b),
            bytes: whole(c, d),
        })
    }

    /// The file, if it is still there.
    fn open(&self) -> Outcome<File> {
        let path = format!("/proc/{}/fd/{}", self.process, self.number);
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(|_| Status::INVALID_ARGUMENT)?;
        let data = file.metadata().map_err(|_| Status::INVALID_ARGUMENT)?;
        if data.ino() != self.inode || data.len() != self.bytes {
            return Err(Status::INVALID_ARGUMENT);
        }
        Ok(file)
    }
}

/// The handle of an exported allocation.
fn handle_of(file: &File) -> Outcome<IpcHandle> {
    let data = file.metadata().map_err(|_| Status::OUT_OF_RESOURCES)?;
    let number = u32::try_from(file.as_raw_fd()).map_err(|_| Status::OUT_OF_RESOURCES)?;
    let name = Name {
        process: std::process::id(),
        number,
        inode: data.ino(),
        bytes: data.len(),
    };
    Ok(name.words())
}

/// What the system calls an anonymous file of [`new_file`].
pub(super) const FILE_NAME: &[u8] = b"/memfd:wavelift";

/// An anonymous file of zeros.
pub(super) fn new_file(bytes: u64) -> Outcome<File> {
    // SAFETY: the name is text with a zero at the end.
    let number = unsafe { libc::memfd_create(c"wavelift".as_ptr(), libc::MFD_CLOEXEC) };
    if number < 0 {
        return Err(Status::OUT_OF_RESOURCES);
    }
    // SAFETY: the descriptor was opened just now and is not shared.
    let file = unsafe { File::from_raw_fd(number) };
    file.set_len(bytes).map_err(|_| Status::OUT_OF_RESOURCES)?;
    Ok(file)
}

/// Replaces the whole pages of an allocation by a file with the same contents. Concurrent writes
/// may be lost.
fn put_file(address: u64, bytes: u64) -> Outcome<File> {
    let file = new_file(bytes)?;
    let full = |_| Status::OUT_OF_RESOURCES;
    let mut piece = [0; PIECE];
    for at in (0..bytes).step_by(PIECE) {
        let from = pointer(address + at).cast::<u8>();
        // SAFETY: whole pages of a live allocation; the program may write there meanwhile, at its own
        // risk.
        unsafe { std::ptr::copy_nonoverlapping(from, piece.as_mut_ptr(), PIECE) };
        if piece != [0; PIECE] {
            file.write_all_at(&piece, at).map_err(full)?;
        }
    }
    map(address, bytes, Some(&file))?;
    Ok(file)
}

/// Remaps whole pages of an allocation: a file, or private zeros.
pub(super) fn map(address: u64, bytes: u64, file: Option<&File>) -> Outcome {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let (kind, number) = match file {
        Some(file) => (libc::MAP_SHARED, file.as_raw_fd()),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
    };
    let flags = kind | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the range is whole pages of an allocation in guest memory, which stays mapped for as long
    // as the process lives; to Rust these are plain bytes before and after.
    let at = unsafe { libc::mmap(pointer(address), bytes as usize, access, flags, number, 0) };
    match at == libc::MAP_FAILED {
        true => Err(Status::OUT_OF_RESOURCES),
        false => Ok(()),
    }
}

/// Takes the file out of an allocation's pages, before the allocation is freed.
pub(super) fn withdraw(address: u64, bytes: u64) -> Outcome {
    map(address, bytes, None)
}

/// Maps `bytes` bytes of a file somewhere in guest memory.
fn map_somewhere(rt: &Runtime, file: &File, bytes: u64) -> Outcome<u64> {
    let address = rt
        .memory
        .alloc_sparse(bytes, GRANULE)
        .map_err(|_| Status::OUT_OF_RESOURCES)?;
    map(address, bytes, Some(file)).inspect_err(|_| {
        let freed = rt.memory.free(address);
        debug_assert!(freed.is_ok(), "bug: the block was allocated just now");
    })?;
    Ok(address)
}

/// The file of a handle, and its size.
fn open(words: IpcHandle) -> Outcome<(File, u64)> {
    let name = Name::new(words)?;
    Ok((name.open()?, name.bytes))
}

/// A descriptor of a program's file; the number stays the program's.
pub(super) fn duplicate(number: i32) -> Outcome<File> {
    // SAFETY: it takes a number, whatever it is.
    let own = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) };
    if own < 0 {
        return Err(Status::INVALID_ARGUMENT);
    }
    // SAFETY: the descriptor was opened just now and is not shared.
    Ok(unsafe { File::from_raw_fd(own) })
}

/// A file of another driver's and its size.
fn foreign(number: i32) -> Outcome<(File, u64)> {
    let mut file = duplicate(number)?;
    // The size of such buffers is found by seeking.
    let bytes = std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0));
    match bytes {
        Ok(bytes) if bytes != 0 => Ok((file, bytes)),
        _ => Err(Status::INVALID_ARGUMENT),
    }
}

/// `hsa_amd_ipc_memory_create`.
pub(crate) fn export(rt: &Runtime, address: u64, bytes: usize) -> Outcome<IpcHandle> {
    let mut allocations = write(&rt.pools.allocations);
    let allocation = allocations
        .get_mut(&address)
        .ok_or(Status::INVALID_ARGUMENT)?;
    let whole = allocation.whole();
    if (bytes as u64).checked_next_multiple_of(GRANULE) != Some(whole) {
        return Err(Status::INVALID_ARGUMENT);
    }
    match &allocation.backing {
        Backing::Exported(file) => handle_of(file),
        // In checked mode the last page may be others' as well.
        Backing::Own if rt.config.memcheck && whole != allocation.bytes => {
            say(format_args!(
                "in checked mode only whole pages of memory can be shared, not {} bytes",
                allocation.bytes
            ));
            Err(Status::OUT_OF_RESOURCES)
        }
        Backing::Own => {
            let file = put_file(address, whole)?;
            let handle = handle_of(&file)?;
            allocation.backing = Backing::Exported(file);
            Ok(handle)
        }
        Backing::Attached | Backing::Foreign => Err(Status::INVALID_ARGUMENT),
    }
}

/// `hsa_amd_ipc_memory_attach`.
pub(crate) fn attach(rt: &Runtime, handle: IpcHandle, bytes: usize) -> Outcome<u64> {
    let (file, whole) = open(handle)?;
    if (bytes as u64).checked_next_multiple_of(GRANULE) != Some(whole) {
        return Err(Status::INVALID_ARGUMENT);
    }
    enter(rt, &file, bytes as u64, Backing::Attached)
}

/// Brings a buffer of another driver's in; its address and size.
pub(crate) fn import(rt: &Runtime, number: i32) -> Outcome<(u64, u64)> {
    let (file, bytes) = foreign(number)?;
    Ok((enter(rt, &file, bytes, Backing::Foreign)?, bytes))
}

fn enter(rt: &Runtime, file: &File, bytes: u64, backing: Backing) -> Outcome<u64> {
    let whole = bytes
        .checked_next_multiple_of(GRANULE)
        .ok_or(Status::OUT_OF_RESOURCES)?;
    let address = map_somewhere(rt, file, whole)?;
    let allocation = Allocation::new(bytes, Pool::Vram, backing);
    write(&rt.pools.allocations).insert(address, allocation);
    Ok(address)
}

/// Ends [`attach`].
pub(crate) fn detach(rt: &Runtime, address: u64) -> Outcome {
    leave(rt, address, ATTACHED)
}

/// Ends [`import`].
pub(crate) fn release(rt: &Runtime, address: u64) -> Outcome {
    leave(rt, address, FOREIGN)
}

fn leave(rt: &Runtime, address: u64, kind: u32) -> Outcome {
    let allocation = remove(rt, address, kind).ok_or(Status::INVALID_ARGUMENT)?;
    withdraw(address, allocation.whole())?;
    rt.memory
        .free(address)
        .map_err(|_| Status::INVALID_ARGUMENT)
}
