//! The LDS of one workgroup: a buffer in host memory, addressed by offset. The result of an
//! out-of-range access depends on the target and is determined by the engines.

use std::ops::Range;

use crate::fault::{Access, FaultKind, Private};

/// Largest LDS of any target.
pub const LDS_MAX: usize = 64 * 1024;

/// Bytes after the largest LDS that may be accessed, so that translated code can use whole host
/// vectors; and as many before and after each LDS with committed pages, since masked-out lanes of
/// such vectors are slow on missing pages.
pub const LDS_PADDING: usize = 256;

/// The pattern of guards.
const GUARD: u8 = 0xa5;

/// Alignment of the first byte, so that host vectors seldom cross cache lines.
const LINE: usize = 64;

/// The LDS of the workgroup that a worker is running.
pub struct Lds {
    buffer: Box<[u8]>,
    /// Where in the buffer it begins.
    start: usize,
    size: usize,
    /// Checked mode: one bit for each byte that was written.
    written: Option<Box<[u64]>>,
}

/// The contents of an LDS at one time.
#[derive(Clone, Debug)]
pub(crate) struct SavedLds {
    bytes: Box<[u8]>,
    written: Option<Box<[u64]>>,
}

impl Lds {
    /// A buffer of the largest size, without allocation yet. `checked` tracks writes.
    pub fn new(checked: bool) -> Lds {
        let buffer = vec![0; LDS_PADDING + LINE + LDS_MAX + LDS_PADDING].into_boxed_slice();
        Lds {
            start: LDS_PADDING + buffer.as_ptr().align_offset(LINE),
            buffer,
            size: 0,
            written: checked.then(|| vec![0; LDS_MAX / 64].into_boxed_slice()),
        }
    }

    /// Begins a workgroup with `size` bytes, all zero.
    pub fn reset(&mut self, size: usize) {
        assert!(size <= LDS_MAX, "bug: an LDS of {size} bytes");
        let behind = if size == self.size { 0 } else { LDS_PADDING };
        self.size = size;
        self.buffer[self.start..][..size + behind].fill(0);
        if let Some(written) = &mut self.written {
            written.fill(0);
        }
    }

    /// Allocated bytes.
    pub fn size(&self) -> u32 {
        self.size as u32
    }

    /// The allocated bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..][..self.size]
    }

    /// The allocated bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..][..self.size]
    }

    /// The contents, and in checked mode which bytes were written.
    pub(crate) fn save(&self) -> SavedLds {
        SavedLds {
            bytes: self.bytes().into(),
            written: self.written.clone(),
        }
    }

    /// Restores the contents of an LDS of the same size.
    pub(crate) fn restore(&mut self, saved: &SavedLds) {
        self.bytes_mut().copy_from_slice(&saved.bytes);
        self.written.clone_from(&saved.written);
    }

    /// First byte, for translated code. [`LDS_MAX`] + [`LDS_PADDING`] bytes are accessible.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.buffer[self.start..].as_mut_ptr()
    }

    /// Fills what is before and behind the allocated bytes, as far as translated code could reach by mistake, with a
    /// pattern. A [`Lds::reset`] to another size may remove a part of it.
    pub fn set_guards(&mut self) {
        for range in self.guards() {
            self.buffer[range].fill(GUARD);
        }
    }

    /// Is the pattern of [`Lds::set_guards`] still there?
    pub fn guards_hold(&self) -> bool {
        let mut guards = self.guards().into_iter();
        guards.all(|range| {
            let (words, rest) = self.buffer[range].as_chunks::<16>();
            words.iter().all(|word| *word == [GUARD; 16]) && rest.iter().all(|&byte| byte == GUARD)
        })
    }

    fn guards(&self) -> [Range<usize>; 2] {
        let end = self.start + LDS_MAX + LDS_PADDING;
        [
            self.start - LDS_PADDING..self.start,
            self.start + self.size..end,
        ]
    }

    /// Is this checked mode? Then every access must be announced by [`Lds::check`].
    pub fn is_checked(&self) -> bool {
        self.written.is_some()
    }

    /// Checked mode: reports an access outside the allocated size and a read of bytes that were
    /// never written, and records writes. Otherwise no effect.
    pub fn check(&mut self, access: Access, offset: u64, bytes: u32) -> Result<(), FaultKind> {
        self.look(access, offset, bytes)?;
        if let Some(written) = &mut self.written
            && access != Access::Read
        {
            for byte in offset as usize..offset as usize + bytes as usize {
                written[byte / 64] |= 1 << (byte % 64);
            }
        }
        Ok(())
    }

    /// As [`Lds::check`], noting nothing: enough for reads.
    pub fn look(&self, access: Access, offset: u64, bytes: u32) -> Result<(), FaultKind> {
        let Some(written) = &self.written else {
            return Ok(());
        };
        let size = self.size as u64;
        if offset >= size || size - offset < u64::from(bytes) {
            return Err(FaultKind::OutsidePrivate {
                space: Private::Lds,
                access,
                offset,
                bytes,
                size,
                allocated: None,
            });
        }
        let mut range = offset as usize..offset as usize + bytes as usize;
        let unwritten = |byte: usize| written[byte / 64] >> (byte % 64) & 1 == 0;
        if access != Access::Write && range.any(unwritten) {
            return Err(FaultKind::Uninitialized {
                space: Private::Lds,
                offset,
                bytes,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_group_sees_zeros_and_its_own_size() {
        let mut lds = Lds::new(false);
        lds.reset(128);
        lds.bytes_mut().fill(7);
        lds.reset(64);
        assert_eq!(lds.bytes(), [0; 64]);
        lds.reset(128);
        assert_eq!(lds.bytes(), [0; 128], "a larger group sees no old bytes");
    }

    #[test]
    fn guards_are_all_around() {
        let mut lds = Lds::new(false);
        lds.reset(2048);
        lds.set_guards();
        assert!(lds.guards_hold());
        lds.bytes_mut().fill(7);
        assert!(lds.guards_hold());
        lds.reset(2048);
        assert!(lds.guards_hold());
        let (start, end) = (lds.start, lds.start + LDS_MAX + LDS_PADDING);
        for at in [start - 256, start - 1, start + 2048, start + 9001, end - 1] {
            lds.buffer[at] ^= 1;
            assert!(!lds.guards_hold(), "{at}");
            lds.buffer[at] ^= 1;
        }
        assert!(lds.guards_hold());
    }

    #[test]
    fn checked_mode_reports_what_was_never_written() {
        let mut lds = Lds::new(true);
        lds.reset(64);
        assert_eq!(lds.check(Access::Write, 4, 4), Ok(()));
        assert_eq!(lds.check(Access::Read, 4, 4), Ok(()));
        let error = lds.check(Access::Read, 6, 4).unwrap_err();
        assert_eq!(
            error.to_string(),
            "read 4 bytes of LDS at offset 0x6 that were never written"
        );
        let error = lds.check(Access::Write, 62, 4).unwrap_err();
        assert_eq!(
            error.to_string(),
            "wrote 4 bytes of LDS at offset 0x3e, outside its 64 bytes"
        );
        lds.reset(64);
        assert!(
            lds.check(Access::Read, 4, 4).is_err(),
            "a new group starts unwritten"
        );
    }
}
