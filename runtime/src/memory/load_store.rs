//! Loads, stores and atomics, and copies of the host.
#![expect(
    unsafe_code,
    reason = "atomics on guest memory, whose address was checked"
)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{Memory, MemoryError, copy};
use crate::fault::Access;

impl Memory {
    // ---- accesses of the guest

    /// Loads `N` bytes.
    #[inline]
    pub fn load<const N: usize>(&self, address: u64) -> Result<[u8; N], MemoryError> {
        let ptr = self.locate(Access::Read, address, N as u64)?;
        let mut bytes = [0; N];
        copy::copy_out(ptr, &mut bytes);
        Ok(bytes)
    }

    /// Stores `N` bytes.
    #[inline]
    pub fn store<const N: usize>(&self, address: u64, bytes: [u8; N]) -> Result<(), MemoryError> {
        let ptr = self.locate_write(Access::Write, address, N as u64)?;
        copy::copy_in(ptr, &bytes);
        Ok(())
    }

    /// Loads consecutive dwords; one access, checked as a whole.
    #[inline]
    pub fn load_dwords(&self, address: u64, out: &mut [u32]) -> Result<(), MemoryError> {
        let ptr = self.locate(Access::Read, address, out.len() as u64 * 4)?;
        for (i, word) in out.iter_mut().enumerate() {
            let mut bytes = [0; 4];
            copy::copy_out(ptr.wrapping_add(i * 4), &mut bytes);
            *word = u32::from_le_bytes(bytes);
        }
        Ok(())
    }

    /// Stores consecutive dwords; one access, checked as a whole.
    #[inline]
    pub fn store_dwords(&self, address: u64, words: &[u32]) -> Result<(), MemoryError> {
        let ptr = self.locate_write(Access::Write, address, words.len() as u64 * 4)?;
        for (i, word) in words.iter().enumerate() {
            copy::copy_in(ptr.wrapping_add(i * 4), &word.to_le_bytes());
        }
        Ok(())
    }

    /// Stores any number of bytes; one access, checked as a whole.
    #[inline]
    pub fn store_bytes(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let ptr = self.locate_write(Access::Write, address, bytes.len() as u64)?;
        copy::copy_in(ptr, bytes);
        Ok(())
    }

    /// Replaces a dword by `new(old)` in one step as all threads see it; gives the old value. `new`
    /// may be called more than once.
    pub fn atomic_u32(
        &self,
        address: u64,
        mut new: impl FnMut(u32) -> u32,
    ) -> Result<u32, MemoryError> {
        let ptr = self.check_atomic(address, 4)?.cast::<u32>();
        // SAFETY: `check_atomic` proved that four bytes are accessible, valid as long as `self` is,
        // and aligned; all concurrent accesses are atomic (head of the module).
        let cell = unsafe { AtomicU32::from_ptr(ptr) };
        let update = |old| Some(new(u32::from_le(old)).to_le());
        match cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, update) {
            Ok(old) | Err(old) => Ok(u32::from_le(old)),
        }
    }

    /// As [`Memory::atomic_u32`], for a pair of dwords.
    pub fn atomic_u64(
        &self,
        address: u64,
        mut new: impl FnMut(u64) -> u64,
    ) -> Result<u64, MemoryError> {
        let ptr = self.check_atomic(address, 8)?.cast::<u64>();
        // SAFETY: `check_atomic` proved that eight bytes are accessible, valid as long as `self`
        // is, and aligned; all concurrent accesses are atomic (head of the module).
        let cell = unsafe { AtomicU64::from_ptr(ptr) };
        let update = |old| Some(new(u64::from_le(old)).to_le());
        match cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, update) {
            Ok(old) | Err(old) => Ok(u64::from_le(old)),
        }
    }

    #[inline]
    fn check_atomic(&self, address: u64, bytes: usize) -> Result<*mut u8, MemoryError> {
        let access = Access::Atomic;
        let ptr = self.locate_write(access, address, bytes as u64)?;
        if address.is_multiple_of(bytes as u64) {
            Ok(ptr)
        } else {
            Err(MemoryError::Misaligned {
                access,
                address,
                bytes: bytes as u32,
            })
        }
    }

    // ---- accesses of the host, which may write read-only memory

    /// Reads bytes.
    pub fn read_bytes(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        if out.is_empty() {
            return Ok(());
        }
        let ptr = self.locate(Access::Read, address, out.len() as u64)?;
        copy::copy_out(ptr, out);
        Ok(())
    }

    /// Writes bytes.
    pub fn write_bytes(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let ptr = self.locate(Access::Write, address, bytes.len() as u64)?;
        copy::copy_in(ptr, bytes);
        Ok(())
    }

    /// Writes `len` times the byte `value`.
    pub fn fill(&self, address: u64, value: u8, len: u64) -> Result<(), MemoryError> {
        if len == 0 {
            return Ok(());
        }
        let ptr = self.locate(Access::Write, address, len)?;
        copy::fill(ptr, value, len as usize);
        Ok(())
    }
}

/// Loads and stores of numbers of one type each.
macro_rules! numbers {
    ($($load:ident, $store:ident: $ty:ty, $what:literal;)*) => {
        impl Memory {
            $(
                #[doc = concat!("Loads ", $what, ".")]
                #[inline]
                pub fn $load(&self, address: u64) -> Result<$ty, MemoryError> {
                    self.load(address).map(<$ty>::from_le_bytes)
                }

                #[doc = concat!("Stores ", $what, ".")]
                #[inline]
                pub fn $store(&self, address: u64, value: $ty) -> Result<(), MemoryError> {
                    self.store(address, value.to_le_bytes())
                }
            )*
        }
    };
}

numbers! {
    load_u8, store_u8: u8, "a byte";
    load_u16, store_u16: u16, "two bytes";
    load_u32, store_u32: u32, "a dword";
    load_u64, store_u64: u64, "a pair of dwords";
}
