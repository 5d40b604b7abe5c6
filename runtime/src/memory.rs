//! Guest memory. Guest addresses are host addresses inside one reserved arena, plus host ranges
//! that an embedder registers, at their own addresses or at others; every access is checked here,
//! so that a wild address is an error and never a host access.
//!
//! Without checked mode the whole part of the arena below the high-water mark of allocations may be
//! accessed, freed blocks and gaps included: that is the one comparison that translated code makes,
//! and both engines must agree. In checked mode ([`Options::exact`]) only live allocations may be
//! accessed, and [`Memory::limit`] is 0, so that translated code always takes the slow path.
//!
//! The lowest part of the arena has what the ABI lets kernels only read: code objects without
//! writable segments, the arguments and packets of dispatches, descriptors. A store or an atomic of
//! a guest to it is a fault ([`MemoryError::ReadOnly`]); loads, and writes of the host
//! ([`Memory::write_bytes`], [`Memory::fill`]), are not affected. Translated code compares the
//! address of a store with the rest of the arena only ([`Memory::read_only`]). The distances between
//! the segments of a code object are fixed, so one that has a writable segment is writable as a
//! whole; what relocation alone changes (`PT_GNU_RELRO`) does not count. What that part, of 128 MiB
//! or 1/32 of a smaller arena, has no room for is writable too, and so are arguments that a program
//! puts into memory of its own.
//!
//! Guest memory may be accessed by several waves at once. All accesses are relaxed atomics of the
//! widest size that their alignment allows, so that races of the guest are not undefined behaviour
//! of the host. An aligned element of 8 or 16 bytes is one access (`sixteen`): guests that build
//! atomics on it see all of one store or nothing of it.
//!
//! # Overruns without checked mode
//!
//! Behind each allocation is a gap of 64 KiB (less in an arena that is nearly full), which commits
//! no host memory. Code, kernel arguments and queues are in lower parts of the arena
//! ([`Purpose`]). So an overrun by less than the gap changes neither another buffer nor what the
//! dispatcher reads. It is reported as follows:
//!
//! * An access behind the allocation with the highest address is a fault, since it is above the
//!   high-water mark.
//! * A write to the first 4 to 8 KiB behind a buffer ([`Purpose::Buffer`]), to the end of its last
//!   page and the page after that, is found by [`Memory::check_marks`], which the dispatcher calls
//!   after a dispatch: the bytes there have a pattern. Lane and instruction remain unknown.
//! * Other accesses to a gap are not noticed: reads, writes farther behind, and writes of what is
//!   there already. Gaps are not protected from access, because translated code may load the
//!   elements of inactive lanes, and these may be in a gap.
//! * An access that misses the gap may hit another allocation, or the free space of the lower parts.
//!
//! Checked mode reports all of them where they happen.
#![expect(
    unsafe_code,
    reason = "guest memory is reached by address; every access is checked here"
)]

mod accesses;
mod arena;
mod copy;
mod error;
mod host;
mod load_store;
mod marks;
mod outside;
mod scratch;
pub(crate) mod sixteen;
mod table;

use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memmap2::UncheckedAdvice;

use crate::fault::{Access, FaultKind, Nearest, Protected, ProtectedKind};
use crate::gws::Gws;
use crate::sanitizer::Sanitizer;
use accesses::Recorder;
pub use accesses::{Accesses, Conflict};
use arena::Arena;
pub use error::{AllocError, MemoryError};
use host::HostRanges;
use marks::Marks;
pub use marks::Overrun;
use outside::Outside;
use scratch::ScratchRegions;
use table::{Block, Placed, Table};

/// Default size of the reserved address space.
pub const DEFAULT_RESERVE: u64 = 64 << 30;

/// The least that is tried when the host refuses more.
const LEAST_RESERVE: u64 = 64 << 20;

/// The most that is tried. No host has as much.
const MOST_RESERVE: u64 = 1 << 62;

/// Freed blocks of at least this size are given back to the host rather than cleared.
const GIVE_BACK: u64 = 256 << 10;

/// Bytes of freed data that are not reused where a sanitizer checks dispatches.
const QUARANTINE: u64 = 256 << 20;

/// Allocations of at least this size are aligned to large host pages, and request them.
const LARGE: u64 = 4 << 20;

/// A large page of the usual hosts.
const LARGE_PAGE: u64 = 2 << 20;

/// How guest memory is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Address space to reserve, in bytes; less is taken when the host refuses, unless `address`
    /// is set.
    pub reserve: u64,
    /// Where the arena begins, a multiple of 64 KiB, so that guest addresses are the same in every
    /// process; otherwise the host decides. On Linux only.
    pub address: Option<u64>,
    /// Checked mode: only live allocations may be accessed.
    pub exact: bool,
    /// Dispatches are checked by a [`Sanitizer`].
    pub sanitize: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            reserve: DEFAULT_RESERVE,
            address: None,
            exact: false,
            sanitize: false,
        }
    }
}

/// What an allocation is for. This decides where it is, and what is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Data of an embedder that examines overruns itself, or not at all.
    Data,
    /// A buffer with marks behind it, by which [`Memory::check_marks`] finds overruns.
    Buffer,
    /// Data of which pieces are released: no large host pages.
    Sparse,
    /// Code objects with writable segments, queues, memory for kernel arguments of a program.
    System,
    /// Code that kernels may only read. Like the following, it is in read-only memory as far as
    /// there is room.
    Code,
    /// The arguments of one dispatch, which kernels may only read.
    Arguments,
    /// Another small structure that kernels may only read, such as an image descriptor.
    Structure,
}

/// A live allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Address of the first byte.
    pub start: u64,
    /// Size in bytes.
    pub len: u64,
    /// What it is for.
    pub purpose: Purpose,
}

/// Guest memory.
pub struct Memory {
    map: Arena,
    base: u64,
    len: u64,
    /// Bytes at the beginning of the arena that kernels may only read.
    read_only: u64,
    /// Bytes of the arena that translated code may access after its own comparison.
    limit: AtomicU64,
    /// Bytes of the arena below the end of the highest allocation that ever was.
    high: AtomicU64,
    exact: bool,
    table: RwLock<Table>,
    host: HostRanges,
    outside: Outside,
    scratch: ScratchRegions,
    recorder: Recorder,
    marks: Marks,
    gws: Gws,
    sanitizer: Option<Box<Sanitizer>>,
}

impl Memory {
    /// Guest memory with [`Options::default`].
    pub fn new() -> Result<Memory, AllocError> {
        Memory::with_options(Options::default())
    }

    /// Guest memory; reserves address space, commits nothing.
    pub fn with_options(options: Options) -> Result<Memory, AllocError> {
        let map = Arena::reserve(options)?;
        let base = map.as_mut_ptr().expose_provenance() as u64;
        let quarantine = if options.sanitize { QUARANTINE } else { 0 };
        let table = Table::new(map.len(), quarantine);
        Ok(Memory {
            base,
            len: map.len(),
            read_only: table.read_only(),
            limit: AtomicU64::new(0),
            high: AtomicU64::new(0),
            exact: options.exact,
            table: RwLock::new(table),
            host: HostRanges::default(),
            outside: Outside::default(),
            scratch: ScratchRegions::default(),
            recorder: Recorder::default(),
            marks: Marks::default(),
            gws: Gws::default(),
            sanitizer: (options.sanitize).then(|| Box::new(Sanitizer::new(base, map.len()))),
            map,
        })
    }

    /// The global wave sync of the device that this memory belongs to.
    pub fn gws(&self) -> &Gws {
        &self.gws
    }

    /// What checks dispatches, if [`Options::sanitize`] was set.
    pub fn sanitizer(&self) -> Option<&Sanitizer> {
        self.sanitizer.as_deref()
    }

    // ---- allocation

    /// Allocates `bytes` bytes of zeros at a multiple of `align` (a power of two; at least 256 is
    /// given), as [`Purpose::Data`]. Zero bytes give an address of their own as well.
    pub fn alloc(&self, bytes: u64, align: u64) -> Result<u64, AllocError> {
        self.alloc_for(Purpose::Data, bytes, align)
    }

    /// As [`Memory::alloc`], for sparse use with piecewise release: no large pages.
    pub fn alloc_sparse(&self, bytes: u64, align: u64) -> Result<u64, AllocError> {
        self.alloc_for(Purpose::Sparse, bytes, align)
    }

    /// As [`Memory::alloc`], for a purpose.
    pub fn alloc_for(&self, purpose: Purpose, bytes: u64, align: u64) -> Result<u64, AllocError> {
        if !align.is_power_of_two() {
            return Err(AllocError::Alignment(align));
        }
        let large = bytes >= LARGE && purpose != Purpose::Sparse;
        let align = if large { align.max(LARGE_PAGE) } else { align };
        let mut table = self.table.write().expect("no holder of the lock panics");
        let full = |table: &Table| AllocError::Full {
            bytes,
            arena: self.len,
            live: table.live_bytes(),
        };
        let placed = table
            .alloc((self.base, purpose), bytes, align)
            .ok_or_else(|| full(&table))?;
        if placed.used_before {
            self.clear(placed.block);
        }
        self.use_large_pages(placed.block, large);
        // A sanitizer finds overruns at the instruction.
        if purpose == Purpose::Buffer && !self.exact && self.sanitizer.is_none() {
            self.mark(placed);
        }
        self.raise_limit(placed);
        Ok(self.base + placed.block.start)
    }

    /// Allocates `bytes` bytes of zeros at `address`, for memory whose addresses lie in data: a multiple
    /// of 256 in the arena, or any address outside of it, where accesses cost more. Nothing may be
    /// allocated there.
    pub fn alloc_at(&self, purpose: Purpose, address: u64, bytes: u64) -> Result<(), AllocError> {
        let taken = || AllocError::Taken {
            address,
            bytes,
            base: self.base,
            arena: self.len,
        };
        if !self.meets_arena(address, bytes) {
            let (first, size) = self.outside.alloc(address, bytes).ok_or_else(taken)?;
            // SAFETY: the mapping stays until this object is dropped, and there are no references to it.
            unsafe { self.register_host_at(address, first, size) };
            return Ok(());
        }
        let mut table = self.table.write().expect("no holder of the lock panics");
        let placed = address
            .checked_sub(self.base)
            .and_then(|start| table.alloc_at(purpose, start, bytes))
            .ok_or_else(taken)?;
        if placed.used_before {
            self.clear(placed.block);
        }
        self.raise_limit(placed);
        Ok(())
    }

    /// Is a byte of these in the arena, or would one be behind the last address?
    fn meets_arena(&self, address: u64, bytes: u64) -> bool {
        let end = address.checked_add(bytes);
        end.is_none_or(|end| end > self.base && address < self.base + self.len)
    }

    /// The memory that may be accessed extends to the end of the block; where a sanitizer reports what is behind it, to that
    /// of the gap.
    fn raise_limit(&self, placed: Placed) {
        let end = match self.sanitizer {
            Some(_) => placed.end,
            None => placed.block.extent(),
        };
        let high = self.high.fetch_max(end, Relaxed).max(end);
        if !self.exact {
            self.limit.store(high, Relaxed);
        }
    }

    /// Frees the allocation at `address`. Its bytes may be allocated again.
    pub fn free(&self, address: u64) -> Result<(), AllocError> {
        if self.outside.free(address) {
            self.unregister_host_at(address);
            return Ok(());
        }
        let mut table = self.table.write().expect("no holder of the lock panics");
        let block = address
            .checked_sub(self.base)
            .and_then(|offset| table.free(offset))
            .ok_or(AllocError::NotAllocated(address))?;
        self.marks.remove(block.start);
        if self.exact {
            self.scratch.end(address, block.len);
        }
        // A refusal costs host memory, not correctness: reuse clears what was not released.
        let _ = self.give_back(block);
        Ok(())
    }

    /// The live allocations in ascending order: address, and size with the last dword whole.
    pub fn allocations(&self) -> Vec<(u64, u64)> {
        let table = self.table.read().expect("no holder of the lock panics");
        let inside = table
            .live()
            .map(|block| (self.base + block.start, block.extent() - block.start));
        let outside = self.outside.live().into_iter();
        let outside = outside.map(|(start, len)| (start, len.next_multiple_of(4)));
        let mut all: Vec<_> = inside.chain(outside).collect();
        all.sort_unstable();
        all
    }

    /// Size of the live allocation that begins at `address`.
    pub fn allocation(&self, address: u64) -> Option<u64> {
        if !self.meets_arena(address, 1) {
            let found = self.allocation_of(address);
            return found.and_then(|found| (found.start == address).then_some(found.len));
        }
        let table = self.table.read().expect("no holder of the lock panics");
        let offset = address.checked_sub(self.base)?;
        let block = table.at_or_before(offset)?;
        (block.start == offset).then_some(block.len)
    }

    /// The live allocation that `address` lies in.
    pub fn allocation_of(&self, address: u64) -> Option<Allocation> {
        if !self.meets_arena(address, 1) {
            let mut outside = self.outside.live().into_iter();
            let found = outside.find(|&(start, len)| (start..start + len).contains(&address));
            return found.map(|(start, len)| Allocation {
                start,
                len,
                purpose: Purpose::Data,
            });
        }
        let table = self.table.read().expect("no holder of the lock panics");
        let (block, purpose) = table.around(address.checked_sub(self.base)?)?;
        Some(Allocation {
            start: self.base + block.start,
            len: block.len,
            purpose,
        })
    }

    /// The allocation nearest to `address`, for messages.
    pub fn nearest(&self, address: u64) -> Option<Nearest> {
        let table = self.table.read().expect("no holder of the lock panics");
        let (block, freed) = table.nearest(i128::from(address) - i128::from(self.base))?;
        Some(Nearest {
            start: self.base + block.start,
            len: block.len,
            freed,
            scratch: None,
        })
    }

    /// What is at an address in memory that kernels may only read, for messages.
    fn protected(&self, address: u64) -> Option<Protected> {
        let Allocation {
            start,
            len,
            purpose,
        } = self.allocation_of(address)?;
        Some(Protected {
            kind: match purpose {
                Purpose::Code => ProtectedKind::Code,
                Purpose::Arguments => ProtectedKind::Arguments,
                _ => ProtectedKind::Structure,
            },
            start,
            len,
            place: None,
        })
    }

    /// Completes a fault with information that engines lack.
    pub fn complete(&self, kind: &mut FaultKind) {
        match kind {
            FaultKind::Memory {
                address, nearest, ..
            } => *nearest = self.nearest(*address),
            FaultKind::ReadOnly {
                address, protected, ..
            } => *protected = self.protected(*address),
            _ => {}
        }
    }

    /// Clears a block that was used before.
    fn clear(&self, block: Block) {
        let (from, to) = self.give_back(block).unwrap_or((block.start, block.start));
        let fill = |from: u64, to: u64| copy::fill(self.arena_ptr(from), 0, (to - from) as usize);
        fill(block.start, from);
        fill(to, block.extent());
    }

    /// Requests large host pages for a large block (fewer page faults, fewer TLB misses), or none,
    /// where an earlier block may have had them.
    fn use_large_pages(&self, block: Block, large: bool) {
        #[cfg(target_os = "linux")]
        if block.len >= LARGE
            && let Some(map) = self.map.advisable()
        {
            let (start, len) = (block.start as usize, block.len as usize);
            let advice = match large {
                true => memmap2::Advice::HugePage,
                false => memmap2::Advice::NoHugePage,
            };
            // Refusal costs time, not correctness.
            let _ = map.advise_range(advice, start, len);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (block, large);
    }

    /// Releases whole pages of a large block to the host, which zeroes them. Returns that part of
    /// the block.
    fn give_back(&self, block: Block) -> Option<(u64, u64)> {
        // A multiple of the page size of every host.
        const PAGE: u64 = 1 << 16;
        let from = block.start.next_multiple_of(PAGE);
        let to = (block.start + block.len) / PAGE * PAGE;
        if block.len < GIVE_BACK || from >= to {
            return None;
        }
        let map = self.map.advisable()?;
        // SAFETY: the range is in the mapping and in a block that is not allocated, so no guest
        // data is lost; the mapping is anonymous, so the pages read as zeros afterwards. A guest
        // that races with this uses memory that the host has freed, and may see either.
        let advised = unsafe {
            map.unchecked_advise_range(
                UncheckedAdvice::DontNeed,
                from as usize,
                (to - from) as usize,
            )
        };
        advised.ok().map(|()| (from, to))
    }

    // ---- registered host memory

    /// Makes host memory accessible to the guest at its own address.
    ///
    /// # Safety
    /// The `len` bytes at `ptr` must be valid for reads and writes, by several threads through
    /// atomics, until [`Memory::unregister_host`] ends the registration, and no Rust reference to
    /// them may be live while a kernel runs.
    pub unsafe fn register_host(&self, ptr: *mut u8, len: usize) {
        let host = ptr.expose_provenance() as u64;
        self.host.add(host, len as u64, host);
    }

    /// As [`Memory::register_host`], at guest address `guest`, which must lie outside the arena and
    /// the host's own addresses. Registering the same address again hides the earlier range.
    ///
    /// # Safety
    /// As for [`Memory::register_host`], until [`Memory::unregister_host_at`].
    pub unsafe fn register_host_at(&self, guest: u64, ptr: *mut u8, len: usize) {
        self.host
            .add(guest, len as u64, ptr.expose_provenance() as u64);
    }

    /// Ends [`Memory::register_host`] of the range that begins at `ptr`; false if there is none.
    pub fn unregister_host(&self, ptr: *mut u8) -> bool {
        self.host.remove(ptr.addr() as u64)
    }

    /// Ends [`Memory::register_host_at`] of the range that begins at `guest`; false if there is
    /// none.
    pub fn unregister_host_at(&self, guest: u64) -> bool {
        self.host.remove(guest)
    }

    /// Address and size of what is registered, in ascending order; ranges that overlap are one.
    pub fn registered_ranges(&self) -> Vec<(u64, u64)> {
        let covered = self.host.covered().into_iter();
        covered.map(|(start, end)| (start, end - start)).collect()
    }

    /// The host address of `bytes` bytes at a guest address, if all of them are in one registered
    /// range. The pointer is valid for reads and writes, by several threads through atomics, until
    /// the registration ends.
    pub(crate) fn registered(&self, address: u64, bytes: u64) -> Option<*mut u8> {
        let host = self.host.find(address, bytes)?;
        Some(std::ptr::with_exposed_provenance_mut(host as usize))
    }

    // ---- for the range check of translated code

    /// First address of the arena. Never changes.
    pub fn arena_base(&self) -> u64 {
        self.base
    }

    /// Size of the reserved arena. Never changes.
    pub fn arena_len(&self) -> u64 {
        self.len
    }

    /// Bytes from [`Memory::arena_base`] on that may be accessed without this module: an access of
    /// `n` bytes at `a` is in bounds when `a - base < limit` and `limit - (a - base) >= n`,
    /// unsigned. It only grows, so an earlier value may be used. 0 in checked mode.
    pub fn limit(&self) -> u64 {
        self.limit.load(Relaxed)
    }

    /// Bytes from [`Memory::arena_base`] on that kernels may only read: a store of `n` bytes at `a`
    /// is in bounds when that holds for `a - base - read_only` and `limit - read_only` (0 if that is
    /// negative). Never changes.
    pub fn read_only(&self) -> u64 {
        self.read_only
    }

    /// Where [`Memory::limit`] is stored; valid as long as `self` is borrowed.
    pub fn limit_cell(&self) -> &AtomicU64 {
        &self.limit
    }

    /// Checked mode: only live allocations may be accessed.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    // ---- recorded accesses

    /// Checked mode: records the bytes that are accessed from now on, until [`Memory::take_accesses`]. In other modes
    /// nothing is recorded.
    pub fn record_accesses(&self) {
        self.recorder.begin();
    }

    /// The bytes that were accessed since [`Memory::record_accesses`], by the guest and by this module's functions for
    /// the host, without those that kernels may only read. Records no more.
    pub fn take_accesses(&self) -> Accesses {
        self.recorder.end()
    }

    // ---- checks

    /// May the guest access `bytes` bytes at `address`?
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        self.locate(Access::Execute, address, bytes).is_ok()
    }

    fn arena_ptr(&self, offset: u64) -> *mut u8 {
        debug_assert!(
            offset <= self.len,
            "bug: offset 0x{offset:x} outside the arena"
        );
        self.map.as_mut_ptr().wrapping_add(offset as usize)
    }

    /// Host pointer for a load of the guest or any access of the host, if it is permitted. The
    /// pointer is valid for reads and writes of `bytes` bytes as long as `self` is.
    #[inline]
    fn locate(&self, access: Access, address: u64, bytes: u64) -> Result<*mut u8, MemoryError> {
        let offset = address.wrapping_sub(self.base);
        let limit = self.limit.load(Relaxed);
        if offset < limit && limit - offset >= bytes {
            Ok(self.arena_ptr(offset))
        } else {
            self.locate_slow(access, address, bytes)
        }
    }

    #[cold]
    #[inline(never)]
    fn locate_slow(
        &self,
        access: Access,
        address: u64,
        bytes: u64,
    ) -> Result<*mut u8, MemoryError> {
        let offset = address.wrapping_sub(self.base);
        if self.exact && offset < self.len {
            let table = self.table.read().expect("no holder of the lock panics");
            if table.covers(offset, bytes) {
                drop(table);
                let scratch = self.scratch.check(access, address, bytes)?;
                // Only the host writes what kernels may only read.
                if !scratch && offset >= self.read_only {
                    self.recorder.note(access, address, bytes);
                }
                return Ok(self.arena_ptr(offset));
            }
        } else if let Some(ptr) = self.registered(address, bytes) {
            if self.exact {
                self.recorder.note(access, address, bytes);
            }
            return Ok(ptr);
        }
        Err(MemoryError::Unmapped {
            access,
            address,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        })
    }

    /// As [`Memory::locate`], for a store or an atomic of the guest.
    #[inline]
    fn locate_write(
        &self,
        access: Access,
        address: u64,
        bytes: u64,
    ) -> Result<*mut u8, MemoryError> {
        let offset = address.wrapping_sub(self.base);
        let limit = self.limit.load(Relaxed);
        if offset >= self.read_only && offset < limit && limit - offset >= bytes {
            Ok(self.arena_ptr(offset))
        } else {
            self.locate_write_slow(access, address, bytes)
        }
    }

    #[cold]
    #[inline(never)]
    fn locate_write_slow(
        &self,
        access: Access,
        address: u64,
        bytes: u64,
    ) -> Result<*mut u8, MemoryError> {
        let ptr = self.locate(access, address, bytes)?;
        if address.wrapping_sub(self.base) >= self.read_only {
            return Ok(ptr);
        }
        Err(MemoryError::ReadOnly {
            access,
            address,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        })
    }

    /// The `len` bytes at `start`, in an allocation, are the scratch of a wave that begins: they
    /// are zeroed if they were `used` before. In checked mode reads before the first write are
    /// reported, until the block is freed.
    pub fn begin_scratch(&self, start: u64, len: u64, used: bool) {
        if used {
            let start = start.wrapping_sub(self.base);
            if start <= self.len && len <= self.len - start {
                self.clear(Block { start, len });
            }
        }
        if self.exact {
            self.scratch.begin(start, len);
        }
    }

    /// Checked mode: which bytes of the scratch that begins at `start` were written.
    pub(crate) fn scratch_written(&self, start: u64) -> Vec<u64> {
        self.scratch.written(start)
    }

    /// Restores the result of [`Memory::scratch_written`].
    pub(crate) fn set_scratch_written(&self, start: u64, written: &[u64]) {
        self.scratch.set_written(start, written);
    }
}

#[cfg(test)]
mod tests;
