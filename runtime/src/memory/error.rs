//! Why memory is not accessed, or not allocated.

use crate::fault::Access;

/// A refused access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// Outside the arena and all registered ranges, or (checked mode) outside live allocations.
    #[error("{} of {bytes} bytes at 0x{address:x}, which is outside guest memory", .access.name())]
    Unmapped {
        /// Kind of the access.
        access: Access,
        /// First byte.
        address: u64,
        /// Size.
        bytes: u32,
    },
    /// A write of the guest to memory that kernels may only read.
    #[error("{} of {bytes} bytes at 0x{address:x}, which kernels may only read", .access.name())]
    ReadOnly {
        /// Kind of the access.
        access: Access,
        /// First byte.
        address: u64,
        /// Size.
        bytes: u32,
    },
    /// Checked mode: scratch that was never written.
    #[error("read of {bytes} bytes of scratch at offset 0x{offset:x}, which was never written")]
    Unwritten {
        /// Offset in the lane's scratch.
        offset: u64,
        /// Size.
        bytes: u32,
    },
    /// An atomic that is not aligned to its size.
    #[error("{} of {bytes} bytes at 0x{address:x}, which is not aligned", .access.name())]
    Misaligned {
        /// Kind of the access.
        access: Access,
        /// First byte.
        address: u64,
        /// Size.
        bytes: u32,
    },
}

/// A request for memory that cannot be met.
#[derive(Debug, thiserror::Error)]
pub enum AllocError {
    /// The host reserves no address space.
    #[error("the host refuses to reserve even {bytes} bytes of address space: {error}")]
    Reserve {
        /// The least that was tried.
        bytes: u64,
        /// The host's error.
        error: std::io::Error,
    },
    /// The requested address space is in use, or this host has none at fixed addresses.
    #[error("the host refuses to reserve {bytes} bytes of address space at 0x{address:x}: {error}")]
    ReserveAt {
        /// The requested address.
        address: u64,
        /// The requested size.
        bytes: u64,
        /// The host's error.
        error: std::io::Error,
    },
    /// The arena is full.
    #[error(
        "no room for {bytes} bytes of guest memory (arena of {arena} bytes, {live} in use); \
         free buffers or reserve a larger arena"
    )]
    Full {
        /// Requested size.
        bytes: u64,
        /// Size of the arena.
        arena: u64,
        /// Currently allocated size.
        live: u64,
    },
    /// An allocation at a requested address is not possible.
    #[error(
        "no room for {bytes} bytes at 0x{address:x}: the address is in use, no multiple of 256, or outside guest \
         memory, which has {arena} bytes at 0x{base:x}"
    )]
    Taken {
        /// The requested address.
        address: u64,
        /// The requested size.
        bytes: u64,
        /// First address of the arena.
        base: u64,
        /// Size of the arena.
        arena: u64,
    },
    /// An alignment that is no power of two.
    #[error("alignment {0} is not a power of two")]
    Alignment(u64),
    /// Nothing was allocated at the address.
    #[error("0x{0:x} is not the address of an allocation")]
    NotAllocated(u64),
}
