//! Text that others wrote, for messages: names in files, keys, what a library says about either.

use std::fmt;
use std::path::Path;

/// Characters that are shown; the rest is counted.
const SHOWN: usize = 200;

/// Text of a file or of a caller, for a message of one line: control characters and those that change the direction of
/// writing are escaped, and what is longer than 200 characters is cut.
#[derive(Clone, Copy, Debug)]
pub struct Foreign<'a>(pub &'a str);

impl fmt::Display for Foreign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.chars();
        for c in rest.by_ref().take(SHOWN) {
            if is_harmful(c) {
                write!(f, "{}", c.escape_default())?;
            } else {
                write!(f, "{c}")?;
            }
        }
        match rest.count() {
            0 => Ok(()),
            more => write!(f, "... ({more} more characters)"),
        }
    }
}

/// A path for a message of one line.
pub fn path(path: &Path) -> String {
    Foreign(&path.to_string_lossy()).to_string()
}

/// Text of several lines for a terminal or a report: what [`is_harmful`] is escaped, except line ends and tabs.
pub fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if is_harmful(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// Does a terminal do something other than show the character?
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_lines() {
        assert_eq!(lines("a\n\tb\u{1b}c"), "a\n\tb\\u{1b}c");
    }

    #[test]
    fn text_is_cut_and_escaped() {
        assert_eq!(Foreign("saxpy<float>").to_string(), "saxpy<float>");
        assert_eq!(
            Foreign("a\u{1b}[31m\nb\u{202e}").to_string(),
            "a\\u{1b}[31m\\nb\\u{202e}"
        );
        assert_eq!(Foreign(&"x".repeat(200)).to_string(), "x".repeat(200));
        let long = Foreign(&"\u{e9}".repeat(1000)).to_string();
        assert_eq!(
            long,
            format!("{}... (800 more characters)", "\u{e9}".repeat(200))
        );
    }
}
