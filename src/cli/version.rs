//! What `wavelift --version` prints: what a report of a problem needs.

/// Version, commit, engines, and the CPU's features that translated code uses.
pub(super) fn long() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "{version}\ncommit:  {}\nengines: {}\nCPU:     {}",
        build(),
        engines(),
        cpu()
    )
}

/// The commit, and how it was built.
pub(super) fn build() -> String {
    let commit = env!("WAVELIFT_COMMIT");
    let build = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    format!("{commit} ({build} build)")
}

#[cfg(feature = "jit")]
fn engines() -> String {
    let cranelift = runtime::jit::CRANELIFT_VERSION;
    format!("jit (wide back end for AVX2 and AVX-512; Cranelift {cranelift}), interp")
}

#[cfg(not(feature = "jit"))]
fn engines() -> String {
    "interp".to_owned()
}

/// The CPU's features that translated code uses.
#[cfg(feature = "jit")]
pub(super) fn cpu() -> String {
    let features = runtime::jit::cpu_features().join(" ");
    let arch = std::env::consts::ARCH;
    match (runtime::jit::has_wide(), features.is_empty()) {
        (true, _) => format!("{arch} with {features}: the wide back end is used"),
        (false, false) => format!("{arch} with {features}: Cranelift only"),
        (false, true) => format!("{arch}: Cranelift only"),
    }
}

/// The CPU's architecture.
#[cfg(not(feature = "jit"))]
pub(super) fn cpu() -> String {
    std::env::consts::ARCH.to_owned()
}
