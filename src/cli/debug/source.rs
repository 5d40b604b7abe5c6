//! Where commands come from: files and options, then the terminal; or standard input.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::PathBuf;

use anyhow::Context as _;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use super::PROMPT;
use crate::cli::input::read_text;

/// A command.
pub(super) struct Line {
    pub(super) text: String,
    /// Where it comes from; nothing for a terminal, in which errors do not end the session.
    pub(super) from: Option<From>,
}

/// Where a command of a script comes from.
pub(super) enum From {
    /// A file, or standard input, and its line.
    File(String, usize),
    /// An option: its number.
    Option(usize),
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            From::File(name, line) => write!(f, "{name}:{line}"),
            From::Option(number) => write!(f, "command {number}"),
        }
    }
}

/// What follows the commands of files and options.
enum Rest {
    Terminal(Box<DefaultEditor>),
    /// Standard input, and the lines that were read.
    Input(usize),
    Nothing,
}

/// The commands of a session.
pub(super) struct Source {
    script: VecDeque<Line>,
    rest: Rest,
}

impl Source {
    pub(super) fn new(files: &[PathBuf], commands: &[String]) -> anyhow::Result<Source> {
        let mut script = VecDeque::new();
        for path in files {
            let name = runtime::foreign::path(path).to_string();
            for (number, text) in (1..).zip(read_text(path)?.lines()) {
                script.push_back(Line {
                    text: text.to_owned(),
                    from: Some(From::File(name.clone(), number)),
                });
            }
        }
        for (number, text) in (1..).zip(commands) {
            script.push_back(Line {
                text: text.clone(),
                from: Some(From::Option(number)),
            });
        }
        let rest = match (
            io::stdin().is_terminal(),
            files.is_empty() && commands.is_empty(),
        ) {
            (true, _) => {
                let editor = DefaultEditor::new().context("cannot use the terminal")?;
                Rest::Terminal(Box::new(editor))
            }
            (false, true) => Rest::Input(0),
            (false, false) => Rest::Nothing,
        };
        Ok(Source { script, rest })
    }

    /// The next command; `None` at the end.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<Line>> {
        if let Some(line) = self.script.pop_front() {
            return Ok(Some(line));
        }
        match &mut self.rest {
            Rest::Nothing => Ok(None),
            Rest::Input(number) => {
                let mut text = Vec::new();
                let read = io::stdin().lock().read_until(b'\n', &mut text);
                if read.context("cannot read standard input")? == 0 {
                    return Ok(None);
                }
                *number += 1;
                let from = From::File("standard input".to_owned(), *number);
                let text = String::from_utf8(text).with_context(|| format!("{from} is no text"))?;
                Ok(Some(Line {
                    text,
                    from: Some(from),
                }))
            }
            Rest::Terminal(editor) => loop {
                match editor.readline(&format!("({PROMPT}) ")) {
                    Ok(text) => {
                        if !text.trim().is_empty() {
                            // That it is not in the history does no harm.
                            let _ = editor.add_history_entry(&text);
                        }
                        return Ok(Some(Line { text, from: None }));
                    }
                    Err(ReadlineError::Interrupted) => {}
                    Err(ReadlineError::Eof) => return Ok(None),
                    Err(error) => return Err(error).context("cannot read from the terminal"),
                }
            },
        }
    }
}
