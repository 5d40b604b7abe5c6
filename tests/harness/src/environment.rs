//! What the environment says about how much a test does.

use std::str::FromStr;

/// The number that the environment variable `name` has, if it is set.
///
/// # Panics
/// If it is set to something else.
pub fn number<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => panic!("{name}={text} is no number"),
    }
}
