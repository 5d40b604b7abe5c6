//! The JSON text of a coverage file.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use runtime::coverage::{Counts, Coverage};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{CodeObject, CoverageError, CoverageFile, Digest};

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

/// What the file says that it is.
const FORMAT: &str = "wavelift coverage";

/// The first bytes of a file that was written here.
const BEGINNING: &[u8] = br#"{"format":"wavelift coverage","#;

/// Larger code objects are taken for damage.
const MAX_OBJECT: u64 = 4 << 30;

/// The beginning of every version.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

#[derive(Serialize, Deserialize)]
struct File {
    format: String,
    version: u64,
    code_objects: Vec<Object>,
}

#[derive(Serialize, Deserialize)]
struct Object {
    /// Of the ELF file, in hexadecimal digits.
    sha256: String,
    /// The ELF file, compressed by zlib, in base64.
    elf: String,
    /// By address: address, executions, lanes, taken, on, off.
    counts: Vec<[u64; 6]>,
}

fn hex(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The contents of a file.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<CoverageFile, CoverageError> {
    let foreign = |detail: String| CoverageError::Foreign {
        path: path.to_owned(),
        detail,
    };
    let damaged = |detail: String| CoverageError::Damaged {
        path: path.to_owned(),
        detail,
    };
    let head: Head = match serde_json::from_slice(bytes) {
        Ok(head) => head,
        Err(_) if bytes.is_empty() => return Err(foreign("it is empty".to_owned())),
        Err(error) if bytes.starts_with(BEGINNING) => return Err(damaged(error.to_string())),
        Err(error) => return Err(foreign(error.to_string())),
    };
    if head.format != FORMAT {
        return Err(foreign(format!("its format is not `{FORMAT}`")));
    }
    if head.version != VERSION {
        return Err(CoverageError::Version {
            path: path.to_owned(),
            version: head.version,
        });
    }
    let file: File = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    let mut all = CoverageFile::default();
    for object in file.code_objects {
        let named = |detail: String| damaged(format!("code object {}: {detail}", object.sha256));
        let elf = unpack(&object.elf).map_err(|error| named(error.to_string()))?;
        let digest: Digest = Sha256::digest(&elf).into();
        if hex(&digest) != object.sha256 {
            return Err(named("its bytes have another digest".to_owned()));
        }
        let counts = counts(&object.counts).map_err(named)?;
        let object = CodeObject { elf, counts };
        if all.objects.insert(digest, object).is_some() {
            return Err(damaged("a code object is there twice".to_owned()));
        }
    }
    Ok(all)
}

fn counts(rows: &[[u64; 6]]) -> Result<Coverage, String> {
    let mut all = Coverage::new();
    for &[address, executions, lanes, taken, on, off] in rows {
        let counts = Counts {
            executions,
            lanes,
            taken,
            on,
            off,
        };
        if executions == 0 || taken > executions {
            return Err(format!("the counts of {address:#x} contradict each other"));
        }
        if all.insert(address, counts).is_some() {
            return Err(format!("the address {address:#x} is there twice"));
        }
    }
    Ok(all)
}

/// The text of a file.
pub(crate) fn text(file: &CoverageFile) -> io::Result<Vec<u8>> {
    let objects = file.objects.iter().map(|(digest, object)| {
        let counts = object.counts.iter();
        let row = |(&address, counts): (&u64, &Counts)| {
            let &Counts {
                executions,
                lanes,
                taken,
                on,
                off,
            } = counts;
            [address, executions, lanes, taken, on, off]
        };
        Ok(Object {
            sha256: hex(digest),
            elf: pack(&object.elf)?,
            counts: counts.map(row).collect(),
        })
    });
    let file = File {
        format: FORMAT.to_owned(),
        version: VERSION,
        code_objects: objects.collect::<io::Result<_>>()?,
    };
    let mut text = serde_json::to_vec(&file)?;
    text.push(b'\n');
    Ok(text)
}

fn pack(bytes: &[u8]) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(BASE64.encode(encoder.finish()?))
}

fn unpack(text: &str) -> io::Result<Vec<u8>> {
    let packed = BASE64.decode(text).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    let mut decoder = ZlibDecoder::new(&packed[..]).take(MAX_OBJECT);
    decoder.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> CoverageFile {
        let counts = |executions, taken| Counts {
            executions,
            lanes: executions.saturating_mul(64),
            taken,
            on: 1,
            off: 2,
        };
        let mut file = CoverageFile::default();
        file.add(b"one", [(256, counts(3, 1)), (260, counts(2, 0))].into());
        file.add(b"two", [(0, counts(u64::MAX, 0))].into());
        file
    }

    #[test]
    fn what_is_written_is_read() {
        let text = text(&file()).unwrap();
        assert_eq!(parse(Path::new("x"), &text).unwrap(), file());
    }

    #[test]
    fn merging_adds_by_code_object() {
        let mut sum = file();
        sum.merge(file());
        assert_eq!(sum.objects.len(), 2);
        let counts = sum.objects.values().flat_map(|object| &object.counts);
        let executions: Vec<_> = counts.map(|(_, counts)| counts.executions).collect();
        assert!(executions.contains(&6) && executions.contains(&u64::MAX));
    }

    #[test]
    fn other_files_and_damage_are_errors() {
        let error = |text: &str| parse(Path::new("x"), text.as_bytes()).unwrap_err();
        for foreign in ["", "{}", "TN:\n", r#"{"format":"other","version":1}"#] {
            let error = error(foreign);
            assert!(matches!(error, CoverageError::Foreign { .. }), "{error}");
        }
        let later = error(r#"{"format":"wavelift coverage","version":2}"#);
        assert!(matches!(later, CoverageError::Version { version: 2, .. }));
        let good = String::from_utf8(text(&file()).unwrap()).unwrap();
        let edits = [
            ("\"code_objects\"", "\"objects\""),
            ("[256,3,192,1,1,2]", "[256,3,192,4,1,2]"),
            ("[256,3,192,1,1,2]", "[256,3,192,1,1]"),
            ("[260,", "[256,"),
            ("]]", "]"),
            ("\"elf\":\"e", "\"elf\":\"f"),
            ("\"sha256\":\"", "\"sha256\":\"0"),
        ];
        for (old, new) in edits {
            let bad = good.replacen(old, new, 1);
            assert_ne!(bad, good, "{old}");
            let error = error(&bad);
            assert!(matches!(error, CoverageError::Damaged { .. }), "{error}");
        }
    }
}
