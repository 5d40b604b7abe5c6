//! Source lines as comments between instructions.

use std::collections::BTreeMap;
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
