//! The TOML tree with positions. Every accessor fails with an error that names key and line if the
//! value does not match.

use std::ops::Range;
use std::path::Path;

use runtime::foreign::Foreign;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ManifestError, Place};

/// The manifest's text.
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
}

impl Source<'_> {
    fn line(&self, at: usize) -> usize {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    pub(super) fn place(&self, key: &str, span: &Range<usize>) -> Place {
        Place {
            key: key.to_owned(),
            line: self.line(span.start),
        }
    }

    pub(super) fn error(&self, place: Place, message: impl Into<String>) -> ManifestError {
        ManifestError {
            path: self.path.to_owned(),
            place: Some(place),
            message: message.into(),
        }
    }

    /// Parses the text.
    pub(super) fn parse<'t>(&self, text: &'t str) -> Result<Spanned<DeTable<'t>>, ManifestError> {
        DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let message = error.message();
            // The library names no key; the text at the position is the key.
            let key = match message.contains("duplicate key") {
                true => text.get(span.clone()).unwrap_or(""),
                false => "",
            };
            let key = match key {
                "" => String::new(),
                key => format!(" `{}`", Foreign(key)),
            };
            let message = format!("not TOML: {}{key}", Foreign(message));
            self.error(self.place("", &span), message)
        })
    }
}

/// A value with its key path.
#[derive(Clone)]
pub(super) struct Node<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) key: String,
    span: Range<usize>,
    pub(super) value: &'a DeValue<'a>,
}

impl<'a> Node<'a> {
    fn new(source: &'a Source<'a>, key: String, value: &'a Spanned<DeValue<'a>>) -> Node<'a> {
        Node {
            source,
            key,
            span: value.span(),
            value: value.get_ref(),
        }
    }

    pub(super) fn place(&self) -> Place {
        self.source.place(&self.key, &self.span)
    }

    pub(super) fn error(&self, message: impl Into<String>) -> ManifestError {
        self.source.error(self.place(), message)
    }

    /// The value's kind, for messages.
    fn found(&self) -> String {
        match self.value {
            DeValue::String(text) => format!("the string \"{}\"", Foreign(text)),
            DeValue::Integer(number) => format!("the integer {}", Foreign(&number.to_string())),
            DeValue::Float(number) => format!("the float {}", Foreign(&number.to_string())),
            DeValue::Boolean(value) => format!("`{value}`"),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        }
    }

    pub(super) fn wanted(&self, what: &str) -> ManifestError {
        self.error(format!("expected {what}, found {}", self.found()))
    }

    pub(super) fn table(&self, what: &str) -> Result<Table<'a>, ManifestError> {
        match self.value {
            DeValue::Table(entries) => Ok(Table {
                source: self.source,
                key: self.key.clone(),
                span: self.span.clone(),
                entries,
            }),
            _ => Err(self.wanted(what)),
        }
    }

    pub(super) fn array(&self, what: &str) -> Result<Vec<Node<'a>>, ManifestError> {
        match self.value {
            DeValue::Array(values) => Ok(values
                .iter()
                .enumerate()
                .map(|(i, value)| Node::new(self.source, format!("{}[{i}]", self.key), value))
                .collect()),
            _ => Err(self.wanted(what)),
        }
    }

    pub(super) fn string(&self, what: &str) -> Result<&'a str, ManifestError> {
        match self.value {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wanted(what)),
        }
    }

    pub(super) fn boolean(&self) -> Result<bool, ManifestError> {
        match self.value {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.wanted("true or false")),
        }
    }

    /// An integer of any size that TOML can write.
    pub(super) fn integer(&self) -> Result<i128, ManifestError> {
        match self.value {
            DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| {
                    self.error(format!(
                        "the integer {} is too large",
                        Foreign(&number.to_string())
                    ))
                }),
            _ => Err(self.wanted("an integer")),
        }
    }

    /// An integer in a range.
    pub(super) fn integer_in(&self, range: Range<i128>) -> Result<i128, ManifestError> {
        let value = self.integer()?;
        if range.contains(&value) {
            return Ok(value);
        }
        let (low, high) = (range.start, range.end - 1);
        Err(self.error(format!("{value} is outside {low} to {high}")))
    }

    /// A float; integers count as floats too.
    pub(super) fn float(&self) -> Result<f64, ManifestError> {
        let text = match self.value {
            DeValue::Float(number) => number.as_str(),
            DeValue::Integer(_) => return Ok(self.integer()? as f64),
            _ => return Err(self.wanted("a number")),
        };
        text.parse()
            .map_err(|_| self.error(format!("`{}` is no number", Foreign(text))))
    }

    /// A float that is neither infinite nor a NaN.
    pub(super) fn finite(&self) -> Result<f64, ManifestError> {
        let value = self.float()?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.wanted("a finite number"))
        }
    }
}

/// A table with its key path.
#[derive(Clone)]
pub(super) struct Table<'a> {
    source: &'a Source<'a>,
    key: String,
    span: Range<usize>,
    entries: &'a DeTable<'a>,
}

impl<'a> Table<'a> {
    pub(super) fn root(source: &'a Source<'a>, table: &'a Spanned<DeTable<'a>>) -> Table<'a> {
        Table {
            source,
            key: String::new(),
            span: table.span(),
            entries: table.get_ref(),
        }
    }

    fn child(&self, name: &str) -> String {
        match self.key.as_str() {
            "" => name.to_owned(),
            key => format!("{key}.{name}"),
        }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> ManifestError {
        let place = self.source.place(&self.key, &self.span);
        self.source.error(place, message)
    }

    /// The entries in the order in which they are written; each with its name.
    pub(super) fn entries(&self) -> Vec<(&'a str, Node<'a>)> {
        let mut all: Vec<_> = self.entries.iter().collect();
        all.sort_by_key(|(key, _)| key.span().start);
        all.into_iter()
            .map(|(key, value)| {
                let name: &'a str = key.get_ref();
                // An entry is named where its key stands.
                let node = Node {
                    span: key.span(),
                    ..Node::new(self.source, self.child(name), value)
                };
                (name, node)
            })
            .collect()
    }

    /// An entry that may be missing.
    pub(super) fn get(&self, name: &str) -> Option<Node<'a>> {
        self.entries()
            .into_iter()
            .find_map(|(key, node)| (key == name).then_some(node))
    }

    /// A required entry.
    pub(super) fn need(&self, name: &str) -> Result<Node<'a>, ManifestError> {
        self.get(name)
            .ok_or_else(|| self.error(format!("the key `{name}` is missing")))
    }

    /// Refuses keys that are not in the list.
    pub(super) fn only(
        &self,
        known: impl IntoIterator<Item = &'static str, IntoIter: Clone>,
    ) -> Result<(), ManifestError> {
        let known = known.into_iter();
        for (name, node) in self.entries() {
            if !known.clone().any(|known| known == name) {
                let known: Vec<_> = known.collect();
                let (name, known) = (Foreign(name), known.join(", "));
                return Err(node.error(format!("unknown key `{name}`; known here: {known}")));
            }
        }
        Ok(())
    }
}
