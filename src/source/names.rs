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
    if !name.starts_with("_Z") || name.len() > MAX_NAME {
        return Cow::Borrowed(name);
    }
    let mut text = Limited(String::new());
    let demangled = Symbol::new(name).is_ok_and(|symbol| {
        symbol
            .structured_demangle(&mut text, &DemangleOptions::new())
            .is_ok()
    });
    match demangled {
        true => Cow::Owned(text.0),
        false => Cow::Borrowed(name),
    }
}
