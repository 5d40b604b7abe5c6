//! Names of functions as in source text.

use std::borrow::Cow;
use std::fmt;

use cpp_demangle::{DemangleOptions, Symbol};

/// The longest name that is demangled, in bytes. Types in longer ones repeat.
const MAX_NAME: usize = 1 << 14;

/// Short names may stand for very long ones.
const MAX_DEMANGLED: usize = 1 << 16;

/// Text up to a limit.
struct Limited(String);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_DEMANGLED {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// A place in code, such as `_Z4saxpPffi+0x10`, with the name as in source text, without parameters.
#[cfg(feature = "jit")]
pub(crate) fn short(place: &str) -> String {
    let (name, distance) = match place.rfind("+0x") {
        Some(at) => place.split_at(at),
        None => (place, ""),
    };
    let options = DemangleOptions::new().no_params().no_return_type();
    demangled(name, &options).map_or_else(|| place.to_owned(), |name| name + distance)
}

/// The name of a C++ function or variable as in source text, from its name for the linker (Itanium
/// mangling: `_Z...`); any other name as it is.
///
/// ```
/// use wavelift::source::demangle;
///
/// assert_eq!(demangle("_Z4saxpPffi"), "saxp(float*, float, int)");
/// assert_eq!(demangle("saxpy"), "saxpy");
/// ```
pub fn demangle(name: &str) -> Cow<'_, str> {
    match demangled(name, &DemangleOptions::new()) {
        Some(text) => Cow::Owned(text),
        None => Cow::Borrowed(name),
    }
}

/// `None` if it is no mangled name, or too long.
fn demangled(name: &str, options: &DemangleOptions) -> Option<String> {
    if !name.starts_with("_Z") || name.len() > MAX_NAME {
        return None;
    }
    let mut text = Limited(String::new());
    let symbol = Symbol::new(name).ok()?;
    symbol.structured_demangle(&mut text, options).ok()?;
    Some(text.0)
}
