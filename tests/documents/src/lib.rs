//! The Markdown pages of the project as tests: their commands run and print what the pages show, and
//! their links lead somewhere.
//!
//! A page is one session of a shell in a folder of its own ([`Session`]):
//!
//! * The lines of a block `sh` are its commands; a line that ends with a backslash goes on in the next one.
//!   A command ends with status 0, or with the one in a comment behind it: `# status 1`.
//! * A block `text` is what the block of commands before it prints, on both streams. `...` stands for
//!   anything, as in Python's doctest, and as a line for any number of lines. Without such a block the output is not compared.
//! * Another block after a paragraph that ends with "`NAME`:" is a file of that name.
//! * `<!-- not run: REASON -->` before a block excepts it.

mod links;
mod page;
mod session;

pub use links::{Book, check_links};
pub use page::{Block, Link, Page};
pub use session::Session;

/// What is wrong with a page.
#[derive(Debug, thiserror::Error)]
#[error("{page}:{line}: {what}")]
pub struct Problem {
    /// The page, relative to the project's folder.
    pub page: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// All problems as one text, for the message of a test.
pub fn list(problems: &[Problem]) -> String {
    let texts: Vec<_> = problems.iter().map(Problem::to_string).collect();
    texts.join("\n")
}
