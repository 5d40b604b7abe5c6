//! The machine that a profile is of.

use std::time::SystemTime;

/// Name of the CPU, as the system gives it.
pub(super) fn cpu() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut lines = about.lines().filter_map(|line| line.split_once(':'));
    let model = lines.find(|(key, _)| key.trim() == "model name");
    let arch = std::env::consts::ARCH;
    match model {
        Some((_, name)) => format!("{} ({arch})", name.trim()),
        None => arch.to_owned(),
    }
}

/// Vector extensions that translated code uses.
pub(super) fn extensions() -> String {
    let features = runtime::jit::cpu_features();
    match features.is_empty() {
        true => "none beyond the architecture's".to_owned(),
        false => features.join(" "),
    }
}

/// Version and commit of this program.
pub(super) fn version() -> String {
    format!(
        "wavelift {} ({})",
        env!("CARGO_PKG_VERSION"),
        env!("WAVELIFT_COMMIT")
    )
}

/// The time, in UTC.
pub(super) fn date() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// As many threads as `threads` means.
pub(super) fn threads(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}
