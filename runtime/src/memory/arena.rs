//! The reserved address space of guest memory: where the host puts it, or at a requested address.

use memmap2::{MmapOptions, MmapRaw};

use super::{AllocError, LEAST_RESERVE, MOST_RESERVE, Options};

/// A private anonymous mapping, all zeros at first, which commits pages on their first write.
pub(super) struct Arena {
    mapping: Mapping,
    len: u64,
}

enum Mapping {
    Anywhere(MmapRaw),
    #[cfg(target_os = "linux")]
    Fixed(fixed::Fixed),
}

impl Arena {
    /// Reserves what the options request; without a fixed address less if the host refuses that.
    pub(super) fn reserve(options: Options) -> Result<Arena, AllocError> {
        // Miri commits all of a mapping.
        let most = if cfg!(miri) {
            LEAST_RESERVE
        } else {
            MOST_RESERVE
        };
        let len = options.reserve.clamp(LEAST_RESERVE, most);
        let mut len = len.next_multiple_of(1 << 16);
        if let Some(address) = options.address {
            let mapping = at(address, len)?;
            return Ok(Arena { mapping, len });
        }
        let map = loop {
            match anonymous(len as usize) {
                Ok(map) => break map,
                Err(_) if len > LEAST_RESERVE => len = (len / 2).max(LEAST_RESERVE),
                Err(error) => return Err(AllocError::Reserve { bytes: len, error }),
            }
        };
        Ok(Arena {
            mapping: Mapping::Anywhere(map),
            len,
        })
    }

    /// Size in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Its first byte.
    pub(super) fn as_mut_ptr(&self) -> *mut u8 {
        match &self.mapping {
            Mapping::Anywhere(map) => map.as_mut_ptr(),
            #[cfg(target_os = "linux")]
            Mapping::Fixed(map) => map.as_mut_ptr(),
        }
    }

    /// The mapping if the host can be advised about its pages, which changes time and committed
    /// memory only. Not so at a fixed address.
    pub(super) fn advisable(&self) -> Option<&MmapRaw> {
        match &self.mapping {
            // Miri has no advice.
            Mapping::Anywhere(map) => (!cfg!(miri)).then_some(map),
            #[cfg(target_os = "linux")]
            Mapping::Fixed(_) => None,
        }
    }
}

/// Zeros at an address of the host's choice, which commit pages on their first write.
pub(super) fn anonymous(len: usize) -> std::io::Result<MmapRaw> {
    let mut map = MmapOptions::new();
    map.len(len);
    if !cfg!(miri) {
        // Miri has plain mappings only.
        map.no_reserve_swap();
    }
    map.map_anon().map(MmapRaw::from)
}

#[cfg(target_os = "linux")]
fn at(address: u64, len: u64) -> Result<Mapping, AllocError> {
    match fixed::Fixed::new(address, len) {
        Ok(map) => Ok(Mapping::Fixed(map)),
        Err(error) => Err(AllocError::ReserveAt {
            address,
            bytes: len,
            error,
        }),
    }
}

#[cfg(not(target_os = "linux"))]
fn at(address: u64, len: u64) -> Result<Mapping, AllocError> {
    Err(AllocError::ReserveAt {
        address,
        bytes: len,
        error: std::io::ErrorKind::Unsupported.into(),
    })
}

#[cfg(target_os = "linux")]
mod fixed {
    use std::io::{Error, ErrorKind, Result};

    /// A mapping at an address of the caller's choice, which `memmap2` does not offer.
    pub(super) struct Fixed {
        start: *mut u8,
        len: usize,
    }

    // SAFETY: the mapping belongs to no thread; who accesses it through the pointer is not this
    // type's concern, as with `MmapRaw`.
    unsafe impl Send for Fixed {}
    // SAFETY: as above; no method writes to the mapping.
    unsafe impl Sync for Fixed {}

    impl Fixed {
        /// Maps `len` bytes at `address`. Fails where anything is mapped.
        pub(super) fn new(address: u64, len: u64) -> Result<Fixed> {
            let out_of_range = |_| Error::from(ErrorKind::InvalidInput);
            let len = usize::try_from(len).map_err(out_of_range)?;
            let address = usize::try_from(address).map_err(out_of_range)?;
            let requested = std::ptr::without_provenance_mut(address);
            // SAFETY: with MAP_FIXED_NOREPLACE no existing mapping is changed; kernels that do not
            // know the flag take the address as a hint.
            let start = unsafe {
                libc::mmap(
                    requested,
                    len,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE
                        | libc::MAP_ANONYMOUS
                        | libc::MAP_NORESERVE
                        | libc::MAP_FIXED_NOREPLACE,
                    -1,
                    0,
                )
            };
            if start == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
            let map = Fixed {
                start: start.cast(),
                len,
            };
            match start.addr() == address {
                true => Ok(map),
                false => Err(ErrorKind::AddrInUse.into()),
            }
        }

        pub(super) fn as_mut_ptr(&self) -> *mut u8 {
            self.start
        }
    }

    impl Drop for Fixed {
        fn drop(&mut self) {
            // SAFETY: the range was mapped by `new` and nothing else unmaps it; guest memory that
            // lies in it ends with the owner of this value. Failure leaves address space reserved.
            let _ = unsafe { libc::munmap(self.start.cast(), self.len) };
        }
    }
}
