//! Versions, and what this build has.

use std::ffi::{CStr, c_char};
use std::sync::LazyLock;

use wavelift::{EngineKind, Gfx};

use crate::result::c_text;

/// The version of the interface that this header describes. It changes when a program must be
/// compiled again; functions, and fields at the end of structures, may be added without.
pub const WAVELIFT_ABI_VERSION: u32 = 1;

/// The engines by name, the default one first.
pub(crate) const ENGINES: &[(&CStr, EngineKind)] = &[
    #[cfg(feature = "jit")]
    (c"jit", EngineKind::Jit),
    (c"interp", EngineKind::Interp),
];

/// The version of the interface that the library has: `WAVELIFT_ABI_VERSION` of the header that it was
/// built with.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_abi_version() -> u32 {
    WAVELIFT_ABI_VERSION
}

/// The version of the library, such as `"0.1.0"`. The text is valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_version() -> *const c_char {
    static VERSION: LazyLock<std::ffi::CString> =
        LazyLock::new(|| c_text(env!("CARGO_PKG_VERSION")));
    VERSION.as_ptr()
}

/// Name of the engine with this number, from 0 (the default): `"jit"` translates, `"interp"` interprets.
/// NULL after the last one. The text is valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_engine_name(index: usize) -> *const c_char {
    ENGINES
        .get(index)
        .map_or(std::ptr::null(), |(name, _)| name.as_ptr())
}

/// Name of the target with this number, from 0, such as `"gfx900"`: code objects for it can be loaded.
/// NULL after the last one. The text is valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_target_name(index: usize) -> *const c_char {
    static NAMES: LazyLock<[std::ffi::CString; Gfx::COUNT]> =
        LazyLock::new(|| Gfx::ALL.map(|gfx| c_text(gfx.name())));
    NAMES
        .get(index)
        .map_or(std::ptr::null(), |name| name.as_ptr())
}
