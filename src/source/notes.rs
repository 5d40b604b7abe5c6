//! Source lines as comments between instructions, and as headings of a trace.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use runtime::foreign::Foreign;

use super::{Location, SourceMap, SourceText};

impl SourceMap {
    /// Comments for a listing, by the address that they stand above: where other source lines begin,
    /// their file, line and column, the function if it is inlined, with its call, and the text of the
    /// line, if `text` has it.
    pub fn notes(
        &self,
        code: Range<u64>,
        mut text: Option<&mut SourceText>,
    ) -> BTreeMap<u64, Vec<String>> {
        let mut notes = BTreeMap::new();
        let mut last: Option<Location<'_>> = None;
        let first = self.rows.partition_point(|row| row.end <= code.start);
        for row in &self.rows[first..] {
            let address = row.start.max(code.start);
            if address >= code.end {
                break;
            }
            let Some(location) = self.position(row.position) else {
                continue;
            };
            if last.is_some_and(|l| (l.file, l.line) == (location.file, location.line)) {
                continue;
            }
            last = Some(location);
            let mut lines = vec![self.place(address, location)];
            if let Some(text) = text.as_deref_mut()
                && let Some(line) = text.line(location.file, location.line)
            {
                lines.push(format!("{:5}  {line}", location.line));
            }
            notes.insert(address, lines);
        }
        notes
    }

    /// The location, and the calls of inlined functions that lead there.
    fn place(&self, address: u64, location: Location<'_>) -> String {
        let frames = self.frames(address);
        let mut place = location.to_string();
        for (inner, outer) in frames.iter().zip(frames.iter().skip(1)) {
            place.push_str(&format!(", {} inlined", Foreign(&inner.name())));
            if let Some(call) = outer.location {
                place.push_str(&format!(" at {call}"));
            }
        }
        place
    }
}

/// The source lines of code as it is executed: a heading wherever another line begins.
#[derive(Clone, Debug)]
pub struct Headings<'a> {
    map: &'a SourceMap,
    known: HashMap<u64, Option<Box<str>>>,
    /// The address of the last heading.
    last: Option<u64>,
}

impl<'a> Headings<'a> {
    /// Those of a code object.
    pub fn new(map: &'a SourceMap) -> Headings<'a> {
        Headings {
            map,
            known: HashMap::new(),
            last: None,
        }
    }

    /// The heading of an address: file, line and function, and the calls where the function is
    /// inlined. `None` if it has no line.
    pub fn at(&mut self, address: u64) -> Option<&str> {
        let known = self.known.entry(address);
        known
            .or_insert_with(|| heading(self.map, address))
            .as_deref()
    }

    /// The same for an instruction that is executed now, but `None` as well where the instruction before it
    /// had the same heading. Code without a line is part of the line before it.
    pub fn enter(&mut self, address: u64) -> Option<&str> {
        self.at(address)?;
        let before = self.last.replace(address);
        let now = self.known.get(&address)?;
        let same = before.is_some_and(|before| self.known.get(&before) == Some(now));
        now.as_deref().filter(|_| !same)
    }
}

fn heading(map: &SourceMap, address: u64) -> Option<Box<str>> {
    let line = |location: Location<'_>| {
        Location {
            column: 0,
            ..location
        }
        .to_string()
    };
    let mut text = line(map.location(address)?);
    let frames = map.frames(address);
    let Some((inner, outer)) = frames.split_first() else {
        return Some(text.into());
    };
    text += &format!("  ({}", Foreign(&inner.name()));
    for frame in outer {
        text += ", inlined";
        if let Some(call) = frame.location {
            text += &format!(" at {}", line(call));
        }
        text += &format!(" into {}", Foreign(&frame.name()));
    }
    text.push(')');
    Some(text.into())
}
