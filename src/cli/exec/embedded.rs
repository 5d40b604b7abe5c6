//! The shared libraries in this binary. `cargo install` installs nothing else, so the first
//! `wavelift exec` writes them to the user's cache folder.
#![expect(
    unsafe_code,
    reason = "the assembler takes the files in, and defines symbols for them"
)]

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context;

use wavelift::folders;

use super::super::new_file::NewFile;
use super::library::{DRIVER, HSA};

/// Takes a file of the folder of libraries in. `include_bytes` would need it for `cargo check`, too,
/// which does not make it.
macro_rules! embed {
    ($name:ident, $file:literal, $begin:literal, $end:literal) => {
        core::arch::global_asm!(
            ".pushsection .rodata.wavelift,\"a\",@progbits",
            concat!(".globl ", $begin),
            concat!(".hidden ", $begin),
            concat!(".globl ", $end),
            concat!(".hidden ", $end),
            ".p2align 6",
            concat!($begin, ":"),
            concat!(".incbin \"", env!("WAVELIFT_LIBRARIES"), "/", $file, "\""),
            concat!($end, ":"),
            ".byte 0",
            ".popsection",
            options(raw)
        );

        fn $name() -> &'static [u8] {
            unsafe extern "C" {
                #[link_name = $begin]
                static BEGIN: u8;
                #[link_name = $end]
                static END: u8;
            }
            let (begin, end) = (&raw const BEGIN, &raw const END);
            // SAFETY: the file's bytes are between the symbols, and nobody writes them.
            unsafe { std::slice::from_raw_parts(begin, end.addr() - begin.addr()) }
        }
    };
}

embed!(
    hsa,
    "libhsa_runtime64.so",
    "wavelift_hsa_begin",
    "wavelift_hsa_end"
);
embed!(
    driver,
    "libwavelift_driver.so",
    "wavelift_driver_begin",
    "wavelift_driver_end"
);

/// Another name of the HSA library, which OpenMP opens.
const HSA_LINK: &str = "libhsa-runtime64.so";

/// The folder with the libraries. Files that differ from those in the binary are replaced.
pub(super) fn unpack() -> anyhow::Result<PathBuf> {
    let folder = folders::libraries().context(
        "there is no folder for the HSA library, which this binary contains: neither XDG_CACHE_HOME nor HOME is \
         set",
    )?;
    unpack_into(&folder).with_context(|| {
        format!(
            "cannot write the HSA library, which this binary contains, to {}; set XDG_CACHE_HOME to a folder that \
             can be written",
            folder.display()
        )
    })?;
    Ok(folder)
}

fn unpack_into(folder: &Path) -> io::Result<()> {
    folders::create(folder)?;
    write(folder, HSA, hsa())?;
    write(folder, DRIVER, driver())?;
    match std::os::unix::fs::symlink(HSA, folder.join(HSA_LINK)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Writes a file unless it has these contents. Programs that use the old one keep it.
fn write(folder: &Path, name: &str, contents: &[u8]) -> io::Result<()> {
    let path = folder.join(name);
    if has_contents(&path, contents) {
        return Ok(());
    }
    let mut file = NewFile::create(&path)?;
    file.write_all(contents)?;
    file.commit()
}

/// Has a file exactly these contents? All are compared: it takes a few milliseconds, and the program
/// that runs next trusts them.
fn has_contents(path: &Path, contents: &[u8]) -> bool {
    let right_size = |file: &File| {
        let size = file.metadata().map(|data| data.len());
        size.is_ok_and(|size| size == contents.len() as u64)
    };
    let Some(file) = File::open(path).ok().filter(right_size) else {
        return false;
    };
    // SAFETY: only this program writes the file, as another one that replaces it.
    let map = unsafe { memmap2::Mmap::map(&file) };
    map.is_ok_and(|map| map[..] == *contents)
}
