//! The sections of a code object that have debugging information, which are not loaded. Their names and
//! bytes are kept as they are in the file; who reads the contents must not trust them.

use std::borrow::Cow;

use object::LittleEndian;
use object::elf::{
    CompressionHeader64, ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD, FileHeader64, SHF_COMPRESSED,
};
use object::pod;
use object::read::elf::{SectionHeader, SectionTable};

use super::compressed::{unpack_zlib, unpack_zstd};
use super::error::LoadError;

const LE: LittleEndian = LittleEndian;

/// The most that the sections of a code object may have, decompressed.
const MAX_UNPACKED: u64 = 1 << 30;

/// A section.
#[derive(Clone, Debug)]
struct DebugSection {
    name: Box<str>,
    compressed: bool,
    bytes: Box<[u8]>,
}

/// Sections named `.debug_...`, each name once.
#[derive(Clone, Debug, Default)]
pub struct DebugSections(Vec<DebugSection>);

impl DebugSections {
    /// Those of a file. Sections that do not lie in the file are left out, since code runs without them.
    pub(super) fn read(
        sections: &SectionTable<'_, FileHeader64<LittleEndian>>,
        bytes: &[u8],
    ) -> DebugSections {
        let mut found: Vec<DebugSection> = Vec::new();
        // Headers may share their bytes, so copying them all could be quadratic in the file's size.
        let mut left = bytes.len();
        for section in sections.iter() {
            let name = sections.section_name(LE, section).unwrap_or_default();
            let Some(name) = std::str::from_utf8(name)
                .ok()
                .filter(|name| name.starts_with(".debug_"))
            else {
                continue;
            };
            let Ok(data) = section.data(LE, bytes) else {
                continue;
            };
            let known = found.iter().any(|section| *section.name == *name);
            if known || data.len() + name.len() > left {
                continue;
            }
            left -= data.len() + name.len();
            found.push(DebugSection {
                name: name.into(),
                compressed: section.sh_flags(LE).contains(SHF_COMPRESSED),
                bytes: data.into(),
            });
        }
        DebugSections(found)
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The contents of the section of this name, decompressed; nothing if there is none.
    ///
    /// # Errors
    ///
    /// [`LoadError::DebugSection`] if compressed contents cannot be decompressed.
    pub fn get(&self, name: &str) -> Result<Cow<'_, [u8]>, LoadError> {
        let section = self.0.iter().find(|section| *section.name == *name);
        match section {
            None => Ok(Cow::Borrowed(&[])),
            Some(section) if !section.compressed => Ok(Cow::Borrowed(&section.bytes)),
            Some(section) => {
                section
                    .unpack()
                    .map(Cow::Owned)
                    .map_err(|detail| LoadError::DebugSection {
                        name: name.to_owned(),
                        detail,
                    })
            }
        }
    }
}

impl DebugSection {
    fn unpack(&self) -> Result<Vec<u8>, String> {
        let (header, data) = pod::from_bytes::<CompressionHeader64<LittleEndian>>(&self.bytes)
            .map_err(|()| "it is shorter than the header of compressed sections".to_owned())?;
        let stated = header.ch_size.get(LE);
        if stated > MAX_UNPACKED {
            return Err(format!(
                "it has {stated} bytes decompressed, but {MAX_UNPACKED} are the most"
            ));
        }
        // One byte more shows that there are more.
        let (contents, _) = match header.ch_type.get(LE) {
            ELFCOMPRESS_ZLIB => unpack_zlib(data, stated + 1)?,
            ELFCOMPRESS_ZSTD => unpack_zstd(data, stated, stated + 1)?,
            method => return Err(format!("compression method {method:?} is unknown")),
        };
        let found = contents.len() as u64;
        if found != stated {
            return Err(format!(
                "{stated} bytes decompressed are stated, but there are {found}"
            ));
        }
        Ok(contents)
    }
}
