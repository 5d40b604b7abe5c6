//! Compressed offload bundles: clang's header `CCOB`, then a zlib stream or a zstd frame with a bundle.
//! Sizes in a header are not trusted: memory grows with what was decompressed, up to the size that the
//! header states, and all bundles of a file together may have [`MAX_UNPACKED`] bytes.

use std::io::Read;

use flate2::bufread::ZlibDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::error::LoadError;
use crate::foreign::Foreign;

/// The first bytes.
pub(super) const MAGIC: &[u8] = b"CCOB";

/// The most that the compressed bundles of a file may have, decompressed.
pub const MAX_UNPACKED: u64 = 2 << 30;

/// As much as is decompressed for a table of contents.
const START: u64 = 1 << 20;

/// A frame may ask for this much memory even if its contents are smaller, as libzstd's decoder allows.
const MIN_WINDOW: u64 = 8 << 20;

const ZLIB: u16 = 0;
const ZSTD: u16 = 1;

/// Why a compressed bundle cannot be decompressed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompressionDefect {
    /// The header has an unknown form.
    #[error(
        "version {0} of the header is unknown (1 to 3 are known); recompile with -no-offload-compress"
    )]
    Version(u16),
    /// The contents are compressed in an unknown way.
    #[error(
        "compression method {0} is unknown (0 is zlib, 1 is zstd); recompile with -no-offload-compress"
    )]
    Method(u16),
    /// The header states a size that is smaller than the header.
    #[error("the header states {0} bytes in all, less than its own size: damaged")]
    FileSize(u64),
    /// The contents are larger than any that are decompressed.
    #[error(
        "it has {size} bytes decompressed, but {limit} are the most for the bundles of a file; decompress it with \
         clang-offload-bundler"
    )]
    TooLarge {
        /// The size that the header states.
        size: u64,
        /// What is left of [`MAX_UNPACKED`].
        limit: u64,
    },
    /// The contents do not have the size that the header states.
    #[error("the header states {stated} bytes decompressed, but there are {found}: damaged")]
    Size {
        /// The size that the header states.
        stated: u64,
        /// The size of the contents; one more than stated if there are more.
        found: u64,
    },
    /// The compressed data is damaged or truncated.
    #[error("its {method} data is damaged: {detail}", detail = Foreign(.detail))]
    Data {
        /// zlib or zstd.
        method: &'static str,
        /// What the decoder says.
        detail: String,
    },
}

/// What the bundles of a file may still have.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Default for Budget {
    fn default() -> Budget {
        Budget(MAX_UNPACKED)
    }
}

/// A header, checked.
#[derive(Debug)]
pub(super) struct Header {
    /// Where it begins in the file.
    offset: usize,
    /// Where the compressed data begins, and where it must end; version 1 does not state the end.
    data: usize,
    end: Option<usize>,
    zstd: bool,
    /// Size of the bundle.
    pub(super) unpacked_size: usize,
}

impl Header {
    /// Reads the header at `offset`, where the magic is.
    pub(super) fn read(bytes: &[u8], offset: usize) -> Result<Header, LoadError> {
        let rest = &bytes[offset..];
        let truncated = |what: &str, needed: u64| LoadError::Truncated {
            what: format!("{what} of the compressed offload bundle"),
            offset: offset as u64,
            needed,
            end: bytes.len() as u64,
        };
        let number = |at: usize, size: usize| {
            let field = rest.get(at..at + size);
            let field = field.ok_or_else(|| truncated("the header", (at + size) as u64))?;
            let digits = field.iter().rev();
            Ok::<u64, LoadError>(digits.fold(0, |number, &byte| number << 8 | u64::from(byte)))
        };
        let refuse = |defect| {
            Err(LoadError::CompressedBundle {
                offset: offset as u64,
                defect,
            })
        };
        let (version, method) = (number(4, 2)? as u16, number(6, 2)? as u16);
        // Then the size of all, the size of the contents, and a hash of them that readers ignore.
        let (file_size, unpacked_size, size) = match version {
            1 => (None, number(8, 4)?, 20),
            2 => (Some(number(8, 4)?), number(12, 4)?, 24),
            3 => (Some(number(8, 8)?), number(16, 8)?, 32),
            _ => return refuse(CompressionDefect::Version(version)),
        };
        number(size - 8, 8)?;
        if !matches!(method, ZLIB | ZSTD) {
            return refuse(CompressionDefect::Method(method));
        }
        let end = match file_size {
            Some(stated) if stated < size as u64 => {
                return refuse(CompressionDefect::FileSize(stated));
            }
            Some(stated) if stated > rest.len() as u64 => {
                return Err(truncated("the data", stated));
            }
            Some(stated) => Some(offset + stated as usize),
            None => None,
        };
        if unpacked_size > MAX_UNPACKED {
            return refuse(CompressionDefect::TooLarge {
                size: unpacked_size,
                limit: MAX_UNPACKED,
            });
        }
        Ok(Header {
            offset,
            data: offset + size,
            end,
            zstd: method == ZSTD,
            unpacked_size: unpacked_size as usize,
        })
    }

    fn refuse(&self, defect: CompressionDefect) -> LoadError {
        LoadError::CompressedBundle {
            offset: self.offset as u64,
            defect,
        }
    }

    fn damaged(&self, detail: String) -> LoadError {
        let method = if self.zstd { "zstd" } else { "zlib" };
        self.refuse(CompressionDefect::Data { method, detail })
    }

    /// The whole bundle, and where the compressed one ends in the file.
    pub(super) fn unpack(
        &self,
        bytes: &[u8],
        budget: &mut Budget,
    ) -> Result<(Vec<u8>, usize), LoadError> {
        let stated = self.unpacked_size as u64;
        budget.0 = budget.0.checked_sub(stated).ok_or_else(|| {
            self.refuse(CompressionDefect::TooLarge {
                size: stated,
                limit: budget.0,
            })
        })?;
        // One byte more shows that there are more.
        let (contents, used) = self.decode(bytes, stated + 1)?;
        let found = contents.len() as u64;
        if found != stated {
            return Err(self.refuse(CompressionDefect::Size { stated, found }));
        }
        Ok((contents, self.end.unwrap_or(self.data + used)))
    }

    /// The first part of the bundle, and where the compressed one ends in the file.
    pub(super) fn unpack_start(&self, bytes: &[u8]) -> Result<(Vec<u8>, usize), LoadError> {
        match self.end {
            Some(end) => Ok((
                self.decode(bytes, START.min(self.unpacked_size as u64))?.0,
                end,
            )),
            None => self.unpack(bytes, &mut Budget::default()),
        }
    }

    /// At most `limit` bytes of the contents, and how many bytes of the data were read.
    fn decode(&self, bytes: &[u8], limit: u64) -> Result<(Vec<u8>, usize), LoadError> {
        let data = &bytes[self.data..self.end.unwrap_or(bytes.len())];
        let decoded = match self.zstd {
            true => unpack_zstd(data, self.unpacked_size as u64, limit),
            false => unpack_zlib(data, limit),
        };
        decoded.map_err(|detail| self.damaged(detail))
    }
}

/// At most `limit` bytes of a zlib stream's contents, and how many bytes of the data were read; or what
/// the decoder says.
pub(super) fn unpack_zlib(data: &[u8], limit: u64) -> Result<(Vec<u8>, usize), String> {
    let mut contents = Vec::new();
    let mut limited = ZlibDecoder::new(data).take(limit);
    let read = limited.read_to_end(&mut contents);
    read.map_err(|error| error.to_string())?;
    Ok((contents, limited.into_inner().total_in() as usize))
}

/// At most `limit` bytes of a zstd frame's contents, `size` of which are stated, and how many bytes of
/// the data were read; or what the decoder says.
pub(super) fn unpack_zstd(
    mut data: &[u8],
    size: u64,
    limit: u64,
) -> Result<(Vec<u8>, usize), String> {
    let whole = data.len();
    let mut contents = Vec::new();
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(size.next_power_of_two().max(MIN_WINDOW));
    let decoder = StreamingDecoder::new_with_decoder(&mut data, decoder)
        .map_err(|error| error.to_string())?;
    let mut limited = decoder.take(limit);
    let read = limited.read_to_end(&mut contents);
    read.map_err(|error| error.to_string())?;
    let frame = limited.into_inner().into_frame_decoder();
    // The decoder sums what was read, so that a part of the contents has another checksum.
    let all = (contents.len() as u64) < limit;
    if let (true, Some(stated), Some(found)) = (
        all,
        frame.get_checksum_from_data(),
        frame.get_calculated_checksum(),
    ) && stated != found
    {
        return Err(format!(
            "its checksum is {found:#010x}, but {stated:#010x} is stated"
        ));
    }
    Ok((contents, whole - data.len()))
}

#[cfg(test)]
mod tests;
