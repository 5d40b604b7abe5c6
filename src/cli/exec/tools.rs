//! What ROCm's own tools need besides the HSA library: they query the kernel driver before they use it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::library::Library;
use super::start::with_variable;

/// Lists agents; it looks for the driver's module and device first.
const INFO: &str = "rocminfo";

/// A Python script that lists GPUs: from the file that a variable names, from the driver, or from
/// `rocminfo`.
const ENUMERATOR: &str = "rocm_agent_enumerator";

/// The variable.
const TARGETS: &str = "ROCM_TARGET_LST";

/// The GPU when nothing is said.
const DEFAULT_GPU: &str = "gfx906";

/// Prepares the environment of these tools, and of no other program. What is returned must be kept
/// until the program runs.
pub(super) fn prepare(
    command: &mut Command,
    program: &OsStr,
    library: &Library,
    gpu: Option<&str>,
) -> anyhow::Result<Option<File>> {
    let name = Path::new(program).file_name().unwrap_or_default();
    if name != INFO && name != ENUMERATOR {
        return Ok(None);
    }
    command.env("LD_PRELOAD", with_variable(&library.driver(), "LD_PRELOAD"));
    if name != ENUMERATOR || std::env::var_os(TARGETS).is_some() {
        return Ok(None);
    }
    let variable = std::env::var("WAVELIFT_GPU").ok();
    let variable = variable.as_deref().filter(|gpu| !gpu.is_empty());
    let gpu = gpu.or(variable).unwrap_or(DEFAULT_GPU);
    let list = inherited_file(&format!("{gpu}\n"))
        .with_context(|| format!("cannot make a list of GPUs for {ENUMERATOR}"))?;
    // The script runs in this process.
    command.env(TARGETS, format!("/proc/self/fd/{}", list.as_raw_fd()));
    Ok(Some(list))
}

/// A file in memory that the program inherits.
#[expect(unsafe_code, reason = "a call of the C library")]
fn inherited_file(text: &str) -> std::io::Result<File> {
    // SAFETY: the name ends with a zero.
    let file = unsafe { libc::memfd_create(c"wavelift-targets".as_ptr(), 0) };
    if file < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the file was just made, and nobody else has it.
    let mut file = unsafe { File::from_raw_fd(file) };
    file.write_all(text.as_bytes())?;
    Ok(file)
}
