//! The text of a command as what to do.

use wavelift::debug::{Expr, Limits, Radix, Resume, WatchKind};

use super::help::{self, Entry};

/// What to do.
#[derive(Debug)]
pub(super) enum Command {
    Resume(Resume),
    /// As often.
    Next(u64),
    Until(String),
    Rerun,
    Break {
        location: String,
        limits: Limits,
    },
    Watch {
        memory: String,
        kind: WatchKind,
        bytes: Option<u64>,
        limits: Limits,
    },
    Delete(Vec<u32>),
    Enable(Vec<u32>, bool),
    Print(String, Option<Radix>),
    Examine(String, Option<Radix>, u64),
    Lanes,
    Info(Info),
    Backtrace,
    List(Option<String>, usize),
    Wave(Option<u32>),
    Set(String, String),
    Help(Option<String>),
    Quit,
}

/// What `info` prints.
#[derive(Clone, Copy, Debug)]
pub(super) enum Info {
    Registers,
    Waves,
    Breakpoints,
    Dispatch,
    Lanes,
    Buffers,
}

const INFO: [(&str, Info); 6] = [
    ("registers", Info::Registers),
    ("waves", Info::Waves),
    ("breakpoints", Info::Breakpoints),
    ("dispatch", Info::Dispatch),
    ("lanes", Info::Lanes),
    ("buffers", Info::Buffers),
];

/// Instructions that `list` prints.
const LISTED: usize = 10;

/// A workgroup of a limit: a number in the order of dispatch must be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Workgroup {
    Number(u64),
    Id([u32; 3]),
}

impl Command {
    /// Reads a command. `workgroup` finds a workgroup of the current launch by its number.
    pub(super) fn parse(
        text: &str,
        workgroup: &dyn Fn(Workgroup) -> Result<[u32; 3], String>,
    ) -> Result<Command, String> {
        let text = text.trim();
        // `x/8f` and `print/x` have their format at the name.
        let end = text.find(|c: char| c.is_whitespace() || c == '/');
        let (name, rest) = text.split_at(end.unwrap_or(text.len()));
        let entry = help::find(name)?;
        let parser = Parser {
            entry,
            rest: rest.trim(),
            workgroup,
        };
        parser.command()
    }
}

struct Parser<'t> {
    entry: &'static Entry,
    rest: &'t str,
    workgroup: &'t dyn Fn(Workgroup) -> Result<[u32; 3], String>,
}

impl Parser<'_> {
    fn usage<T>(&self) -> Result<T, String> {
        Err(
            format!("write {} {}", self.entry.names[0], self.entry.takes)
                .trim_end()
                .to_owned(),
        )
    }

    /// The only argument, a number, which is 1 where there is none.
    fn count(&self) -> Result<u64, String> {
        match self.rest {
            "" => Ok(1),
            text => match text.parse() {
                Ok(number) if number > 0 => Ok(number),
                _ => Err(format!("`{text}` is no positive number")),
            },
        }
    }

    fn nothing(&self, command: Command) -> Result<Command, String> {
        match self.rest {
            "" => Ok(command),
            _ => self.usage(),
        }
    }

    fn numbers(&self) -> Result<Vec<u32>, String> {
        let words = self.rest.split_whitespace();
        let number = |word: &str| word.parse().map_err(|_| format!("`{word}` is no number"));
        words.map(number).collect()
    }

    fn command(&self) -> Result<Command, String> {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        match self.entry.names[0] {
            "step" => Ok(Command::Resume(Resume::Step {
                steps: self.count()?,
            })),
            "next" => Ok(Command::Next(self.count()?)),
            "finish" => self.nothing(Command::Resume(Resume::Finish)),
            "continue" => Ok(Command::Resume(Resume::Continue {
                pass: self.count()? - 1,
            })),
            "until" if self.rest.is_empty() => self.usage(),
            "until" => Ok(Command::Until(self.rest.to_owned())),
            "reverse-step" => Ok(Command::Resume(Resume::Back {
                steps: self.count()?,
            })),
            "reverse-continue" => self.nothing(Command::Resume(Resume::BackToPoint)),
            "rerun" => self.nothing(Command::Rerun),
            "break" => self.breakpoint(false),
            "tbreak" => self.breakpoint(true),
            "watch" => self.watchpoint(WatchKind::Write),
            "rwatch" => self.watchpoint(WatchKind::Read),
            "awatch" => self.watchpoint(WatchKind::Access),
            "delete" => Ok(Command::Delete(self.numbers()?)),
            "enable" | "disable" if self.rest.is_empty() => self.usage(),
            "enable" => Ok(Command::Enable(self.numbers()?, true)),
            "disable" => Ok(Command::Enable(self.numbers()?, false)),
            "print" => self.print(),
            "x" => self.examine(),
            "lanes" => self.nothing(Command::Lanes),
            "info" => {
                let mut found = INFO.iter().filter(|(name, _)| name.starts_with(self.rest));
                match (self.rest, found.next()) {
                    ("", _) | (_, None) => self.usage(),
                    (_, Some(&(_, info))) => Ok(Command::Info(info)),
                }
            }
            "backtrace" => self.nothing(Command::Backtrace),
            "list" => {
                let (location, count) = match self.rest.rsplit_once(char::is_whitespace) {
                    Some((location, count)) => (location.trim(), Some(count)),
                    None => match self.rest.parse::<usize>() {
                        Ok(_) => ("", Some(self.rest)),
                        Err(_) => (self.rest, None),
                    },
                };
                let count = count.map_or(Ok(LISTED), |count| {
                    count.parse().map_err(|_| format!("`{count}` is no number"))
                })?;
                Ok(Command::List(some(location), count))
            }
            "wave" => match self.rest {
                "" => Ok(Command::Wave(None)),
                text => match text.parse() {
                    Ok(wave) => Ok(Command::Wave(Some(wave))),
                    Err(_) => Err(format!("`{text}` is no number")),
                },
            },
            "set" => {
                let assignment = self.assignment();
                let Some((place, value)) = assignment else {
                    return self.usage();
                };
                Ok(Command::Set(
                    place.trim().to_owned(),
                    value.trim().to_owned(),
                ))
            }
            "help" => Ok(Command::Help(some(self.rest))),
            "quit" => self.nothing(Command::Quit),
            other => Err(format!("bug: {other} has no parser")),
        }
    }

    /// The sides of the first `=` that is no comparison.
    fn assignment(&self) -> Option<(&str, &str)> {
        let bytes = self.rest.as_bytes();
        let at = (0..bytes.len()).find(|&at| {
            let before = at.checked_sub(1).map(|before| bytes[before]);
            bytes[at] == b'='
                && bytes.get(at + 1) != Some(&b'=')
                && !before.is_some_and(|before| b"=<>!".contains(&before))
        })?;
        Some((&self.rest[..at], &self.rest[at + 1..]))
    }

    /// What stands before the limits, the limits, and the bytes to watch.
    fn limited(&self) -> Result<(String, Limits, Option<u64>), String> {
        let mut limits = Limits::default();
        let mut text = self.rest;
        let split = text.find(" if ").map(|at| (&text[..at], &text[at + 4..]));
        if let Some((before, condition)) = split {
            let parsed = Expr::parse(condition).map_err(|error| error.to_string())?;
            limits.condition = Some(parsed);
            limits.condition_text = Some(condition.trim().to_owned());
            text = before;
        }
        let mut bytes = None;
        loop {
            let mut words = text.trim_end().rsplitn(3, char::is_whitespace);
            let (Some(value), Some(key), Some(rest)) = (words.next(), words.next(), words.next())
            else {
                break;
            };
            let wrong = || format!("`{value}` is no number of a {key}");
            match key {
                "wave" => limits.wave = Some(value.parse().map_err(|_| wrong())?),
                "dispatch" => limits.dispatch = Some(value.parse().map_err(|_| wrong())?),
                "bytes" => {
                    bytes = Some(
                        value
                            .parse()
                            .map_err(|_| format!("`{value}` is no number of bytes"))?,
                    )
                }
                "workgroup" => limits.workgroup = Some((self.workgroup)(named(value)?)?),
                _ => break,
            }
            text = rest;
        }
        match text.trim() {
            "" => self.usage(),
            text => Ok((text.to_owned(), limits, bytes)),
        }
    }

    fn breakpoint(&self, temporary: bool) -> Result<Command, String> {
        let (location, limits, bytes) = self.limited()?;
        if bytes.is_some() {
            return self.usage();
        }
        Ok(Command::Break {
            location,
            limits: Limits {
                temporary,
                ..limits
            },
        })
    }

    fn watchpoint(&self, kind: WatchKind) -> Result<Command, String> {
        let (memory, limits, bytes) = self.limited()?;
        Ok(Command::Watch {
            memory,
            kind,
            bytes,
            limits,
        })
    }

    /// The letters behind a `/` at the beginning, and the rest.
    fn format_first(&self) -> (Option<&str>, &str) {
        match self.rest.strip_prefix('/') {
            Some(rest) => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (Some(&rest[..end]), rest[end..].trim())
            }
            None => (None, self.rest),
        }
    }

    fn print(&self) -> Result<Command, String> {
        let (format, text) = self.format_first();
        let (text, behind) = match format {
            Some(_) => (text, None),
            None => Radix::split(text),
        };
        if text.is_empty() {
            return self.usage();
        }
        Ok(Command::Print(
            text.to_owned(),
            format.map(radix).transpose()?.or(behind),
        ))
    }

    fn examine(&self) -> Result<Command, String> {
        let (format, text) = self.format_first();
        if text.is_empty() {
            return self.usage();
        }
        let format = format.unwrap_or("");
        let end = format
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(format.len());
        let (count, letter) = format.split_at(end);
        let count = match count {
            "" => 1,
            count => count
                .parse()
                .map_err(|_| format!("`{count}` is no number of elements"))?,
        };
        let letter = match letter {
            "" => None,
            letter => Some(radix(letter)?),
        };
        Ok(Command::Examine(text.to_owned(), letter, count))
    }
}

/// A format by its letter.
fn radix(text: &str) -> Result<Radix, String> {
    let mut letters = text.chars();
    let radix = letters.next().and_then(Radix::of);
    match (radix, letters.next()) {
        (Some(radix), None) => Ok(radix),
        _ => Err(format!(
            "`{text}` is no format; formats are x hexadecimal, d signed, u unsigned, b binary, f, h, g floats of \
             32, 16, 64 bits"
        )),
    }
}

/// A workgroup as one names it.
fn named(text: &str) -> Result<Workgroup, String> {
    let wrong =
        || format!("`{text}` is no workgroup; write its number in the order of dispatch, or x,y,z");
    let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    match numbers.map_err(|_| wrong())?[..] {
        [number] => Ok(Workgroup::Number(number.into())),
        [x, y] => Ok(Workgroup::Id([x, y, 0])),
        [x, y, z] => Ok(Workgroup::Id([x, y, z])),
        _ => Err(wrong()),
    }
}
