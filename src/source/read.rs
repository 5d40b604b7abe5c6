//! Reads DWARF: line tables, functions and inlined functions. Nothing that it states is trusted: `gimli`
//! checks offsets, and a [`Budget`] limits how often parts are read.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use gimli::{
    AttributeValue, ColumnType, DebugAbbrev, DebugInfoOffset, EndianSlice, LineProgramHeader,
    LittleEndian, Reader as _, Section as _, UnitHeader, UnitType, constants as dw,
};
use runtime::object::CodeObject;

use super::budget::Budget;
use super::scopes::{Scope, Scopes};
use super::{File, Position, Row, SourceError, SourceMap};

type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type Dwarf<'a> = gimli::Dwarf<Bytes<'a>>;
type Unit<'a> = gimli::Unit<Bytes<'a>>;
type Attribute<'a> = AttributeValue<Bytes<'a>>;
type Header<'a> = LineProgramHeader<Bytes<'a>>;

/// Work of an entry that is kept.
const KEPT: u64 = 16;
/// Bytes that are searched for the end of a string for one piece of work.
const SEARCHED: u64 = 64;
/// How many declarations a function may be away from the one with its name.
const MAX_ORIGINS: usize = 8;

/// Adds to a map what the debugging information of the object says.
pub(super) fn read(object: &CodeObject, map: &mut SourceMap) -> Result<(), SourceError> {
    if object.debug.is_empty() {
        return Ok(());
    }
    let sections = gimli::DwarfSections::load(|id| {
        let bytes = object.debug.get(id.name())?;
        Ok::<Cow<'_, [u8]>, SourceError>(bytes)
    })?;
    let mut total = 0;
    let dwarf = sections.borrow(|bytes| {
        total += bytes.len() as u64;
        EndianSlice::new(bytes, LittleEndian)
    });
    let segments = object.segments.iter().filter(|segment| segment.execute);
    let mut reader = Reader {
        dwarf: &dwarf,
        budget: Budget::new(total),
        code: segments
            .map(|segment| segment.address..segment.address + segment.size)
            .collect(),
        files: Vec::new(),
        numbers: HashMap::new(),
        rows: Vec::new(),
        tables: HashMap::new(),
        functions: HashMap::new(),
        scopes: Vec::new(),
        ranges: Vec::new(),
    };
    reader.units()?;
    reader.finish(map)
}

/// A function's entry: its name, or the entry that has it.
#[derive(Clone, Copy, Default)]
struct Function<'a> {
    linkage: Option<Bytes<'a>>,
    name: Option<Bytes<'a>>,
    origin: Option<usize>,
}

/// Where an entry's code is.
#[derive(Default)]
struct Extent<'a> {
    low: Option<u64>,
    /// The address of its end.
    high: Option<u64>,
    /// Its size, instead of the end.
    size: Option<u64>,
    ranges: Option<Attribute<'a>>,
}

/// Numbers of the files of a line table in the map, those that were looked up.
type FileNumbers = HashMap<u64, Option<u32>>;

struct Reader<'a> {
    dwarf: &'a Dwarf<'a>,
    budget: Budget,
    /// Addresses of executable segments. Linkers leave code that they have removed elsewhere.
    code: Vec<Range<u64>>,
    files: Vec<File>,
    /// Numbers of files by path.
    numbers: HashMap<Box<str>, u32>,
    rows: Vec<Row>,
    /// Line tables that were read, by offset.
    tables: HashMap<usize, FileNumbers>,
    /// By offset in `.debug_info`.
    functions: HashMap<usize, Function<'a>>,
    /// Scopes whose names are numbered by `functions`.
    scopes: Vec<(Scope, usize)>,
    ranges: Vec<(Range<u64>, u32)>,
}

impl<'a> Reader<'a> {
    fn damaged(&self, error: gimli::Error) -> SourceError {
        SourceError::Damaged {
            detail: self.dwarf.format_error(error),
        }
    }

    fn units(&mut self) -> Result<(), SourceError> {
        let mut headers = Vec::new();
        let mut units = self.dwarf.units();
        while let Some(header) = units.next().map_err(|error| self.damaged(error))? {
            if !matches!(header.type_(), UnitType::Type { .. }) {
                headers.push(header);
            }
        }
        let offsets = headers.iter().map(|header| header.debug_abbrev_offset().0);
        let offsets: BTreeSet<usize> = offsets.collect();
        let all = self.dwarf.debug_abbrev.reader().slice();
        let mut known = HashMap::new();
        for header in headers {
            let offset = header.debug_abbrev_offset();
            let abbreviations = match known.get(&offset.0) {
                Some(abbreviations) => Arc::clone(abbreviations),
                None => {
                    // Each byte is read for one table.
                    let end = offsets.range(offset.0 + 1..).next();
                    let part = end.map_or(Some(all), |&end| all.get(..end)).unwrap_or(all);
                    let read = DebugAbbrev::new(part, LittleEndian).abbreviations(offset);
                    let read = Arc::new(read.map_err(|error| self.damaged(error))?);
                    known.insert(offset.0, Arc::clone(&read));
                    read
                }
            };
            self.unit(header, abbreviations)?;
        }
        Ok(())
    }

    fn unit(
        &mut self,
        header: UnitHeader<Bytes<'a>>,
        abbreviations: Arc<gimli::Abbreviations>,
    ) -> Result<(), SourceError> {
        let Some(start) = header.debug_info_offset() else {
            return Ok(());
        };
        self.take_line_table(&header, &abbreviations)?;
        let unit = gimli::Unit::new_with_abbreviations(self.dwarf, header, abbreviations);
        let unit = unit.map_err(|error| self.damaged(error))?;
        for text in [unit.comp_dir, unit.name].into_iter().flatten() {
            self.budget.take(text.len() as u64)?;
        }
        let numbers = self.line_table(&unit)?;
        let numbers = self.entries(&unit, start, numbers)?;
        if let Some(program) = &unit.line_program {
            self.tables.insert(program.header().offset().0, numbers);
        }
        Ok(())
    }

    /// Accounts for the line table that the unit's first entry names, the files of which are read with
    /// the unit.
    fn take_line_table(
        &mut self,
        header: &UnitHeader<Bytes<'a>>,
        abbreviations: &gimli::Abbreviations,
    ) -> Result<(), SourceError> {
        let mut offset = None;
        let mut raw = header
            .entries_raw(abbreviations, None)
            .map_err(|error| self.damaged(error))?;
        let first = raw.read_abbreviation();
        if let Some(abbreviation) = first.map_err(|error| self.damaged(error))? {
            let specs = abbreviation.attributes();
            self.budget.take(specs.len() as u64)?;
            for spec in specs {
                let attribute = raw.read_attribute(*spec);
                let attribute = attribute.map_err(|error| self.damaged(error))?;
                if let (dw::DW_AT_stmt_list, AttributeValue::DebugLineRef(at)) =
                    (attribute.name(), attribute.value())
                {
                    offset = Some(at.0);
                }
            }
        }
        let Some(offset) = offset else {
            return Ok(());
        };
        let mut table = *self.dwarf.debug_line.reader();
        let length = table
            .skip(offset)
            .and_then(|()| table.read_initial_length());
        let (length, _) = length.map_err(|error| self.damaged(error))?;
        self.budget.take(length as u64)
    }

    /// Reads the rows of the unit's line table, unless another unit has it, too.
    fn line_table(&mut self, unit: &Unit<'a>) -> Result<FileNumbers, SourceError> {
        let Some(program) = unit.line_program.clone() else {
            return Ok(FileNumbers::new());
        };
        if let Some(numbers) = self.tables.remove(&program.header().offset().0) {
            return Ok(numbers);
        }
        let mut numbers = FileNumbers::new();
        let mut rows = program.rows();
        // The row that ends with the next one.
        let mut open: Option<Row> = None;
        while let Some((header, row)) = rows.next_row().map_err(|error| self.damaged(error))? {
            self.budget.take(KEPT)?;
            let address = row.address();
            if let Some(mut row) = open.take() {
                row.end = address;
                if row.start < row.end && self.code.iter().any(|code| code.contains(&row.start)) {
                    self.rows.push(row);
                }
            }
            if row.end_sequence() {
                continue;
            }
            let position = match self.file(unit, header, row.file_index(), &mut numbers)? {
                Some(file) => Position {
                    file,
                    line: row.line().map_or(0, |line| clamp(line.get())),
                    column: match row.column() {
                        ColumnType::LeftEdge => 0,
                        ColumnType::Column(column) => clamp(column.get()),
                    },
                },
                None => Position::NONE,
            };
            open = Some(Row {
                start: address,
                end: address,
                position,
                statement: row.is_stmt(),
            });
        }
        Ok(numbers)
    }

    /// The number of a file of a line table in the map.
    fn file(
        &mut self,
        unit: &Unit<'a>,
        header: &Header<'a>,
        index: u64,
        numbers: &mut FileNumbers,
    ) -> Result<Option<u32>, SourceError> {
        if let Some(number) = numbers.get(&index) {
            return Ok(*number);
        }
        let number = match header.file(index) {
            Some(entry) => {
                let mut path = String::new();
                if entry.directory_index() != 0
                    && let Some(folder) = unit.comp_dir
                {
                    self.join(&mut path, folder)?;
                }
                if let Some(folder) = entry.directory(header) {
                    let folder = self.string(unit, folder)?;
                    self.join(&mut path, folder)?;
                }
                let name = self.string(unit, entry.path_name())?;
                self.join(&mut path, name)?;
                let text = match entry.source() {
                    Some(text) => Some(self.string(unit, text)?).filter(|text| !text.is_empty()),
                    None => None,
                };
                Some(self.number(path, text)?)
            }
            None => None,
        };
        numbers.insert(index, number);
        Ok(number)
    }

    /// Appends a part to a path, or begins with it if it is absolute.
    fn join(&mut self, path: &mut String, part: Bytes<'a>) -> Result<(), SourceError> {
        self.budget.take((part.len() + path.len()) as u64)?;
        let part = part.to_string_lossy();
        let mut letters = part.chars();
        let drive = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
        let drive = drive && letters.next() == Some(':');
        if part.starts_with(['/', '\\']) || drive {
            path.clear();
        }
        if part == "." {
            return Ok(());
        }
        if !path.is_empty() && !path.ends_with(['/', '\\']) {
            path.push('/');
        }
        path.push_str(&part);
        Ok(())
    }

    /// The number of the file at a path, whose text may be known.
    fn number(&mut self, path: String, text: Option<Bytes<'a>>) -> Result<u32, SourceError> {
        self.budget.take(path.len() as u64)?;
        if let Some(number) = self.numbers.get(path.as_str()) {
            return Ok(*number);
        }
        self.budget
            .take(KEPT + text.map_or(0, |text| text.len() as u64))?;
        let number = self.files.len() as u32;
        let path = Box::<str>::from(path);
        self.numbers.insert(path.clone(), number);
        self.files.push(File {
            path,
            text: text.map(|text| text.to_string_lossy().into()),
        });
        Ok(number)
    }

    fn string(&mut self, unit: &Unit<'a>, value: Attribute<'a>) -> Result<Bytes<'a>, SourceError> {
        let string = self.dwarf.attr_string(unit, value);
        let string = string.map_err(|error| self.damaged(error))?;
        self.budget.take(1 + string.len() as u64 / SEARCHED)?;
        Ok(string)
    }

    /// Reads the functions of a unit.
    fn entries(
        &mut self,
        unit: &Unit<'a>,
        start: DebugInfoOffset,
        mut numbers: FileNumbers,
    ) -> Result<FileNumbers, SourceError> {
        let mut raw = unit
            .entries_raw(None)
            .map_err(|error| self.damaged(error))?;
        // Functions around the next entry, by depth.
        let mut around: Vec<(isize, u32)> = Vec::new();
        while !raw.is_empty() {
            let (offset, depth) = (start.0 + raw.next_offset().0, raw.next_depth());
            let abbreviation = raw.read_abbreviation();
            let Some(abbreviation) = abbreviation.map_err(|error| self.damaged(error))? else {
                self.budget.take(1)?;
                continue;
            };
            let specs = abbreviation.attributes();
            self.budget.take(1 + specs.len() as u64)?;
            while around.last().is_some_and(|(outer, _)| *outer >= depth) {
                around.pop();
            }
            let inlined = match abbreviation.tag() {
                dw::DW_TAG_subprogram => false,
                dw::DW_TAG_inlined_subroutine => true,
                _ => {
                    let skipped = raw.skip_attributes(specs);
                    skipped.map_err(|error| self.damaged(error))?;
                    continue;
                }
            };
            let mut function = Function::default();
            let mut extent = Extent::default();
            let mut call = (None, 0, 0);
            for spec in specs {
                let attribute = raw.read_attribute(*spec);
                let attribute = attribute.map_err(|error| self.damaged(error))?;
                let value = attribute.value();
                match attribute.name() {
                    dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name => {
                        function.linkage = Some(self.string(unit, value)?);
                    }
                    dw::DW_AT_name => function.name = Some(self.string(unit, value)?),
                    dw::DW_AT_abstract_origin | dw::DW_AT_specification => {
                        function.origin = match value {
                            AttributeValue::UnitRef(at) => start.0.checked_add(at.0),
                            AttributeValue::DebugInfoRef(at) => Some(at.0),
                            _ => None,
                        };
                    }
                    dw::DW_AT_low_pc => extent.low = self.address(unit, value)?,
                    dw::DW_AT_high_pc => match self.address(unit, value)? {
                        Some(address) => extent.high = Some(address),
                        None => extent.size = value.udata_value(),
                    },
                    dw::DW_AT_ranges => extent.ranges = Some(value),
                    dw::DW_AT_call_file => {
                        call.0 = match value {
                            AttributeValue::FileIndex(index) => Some(index),
                            value => value.udata_value(),
                        };
                    }
                    dw::DW_AT_call_line => call.1 = clamp(value.udata_value().unwrap_or(0)),
                    dw::DW_AT_call_column => call.2 = clamp(value.udata_value().unwrap_or(0)),
                    _ => {}
                }
            }
            self.budget.take(KEPT)?;
            self.functions.insert(offset, function);
            let number = self.scopes.len() as u32;
            if !self.extent(unit, extent, number)? {
                continue;
            }
            let call = match (inlined, call) {
                (false, _) => None,
                (true, (Some(index), line, column)) => {
                    let header = unit.line_program.as_ref().map(|program| program.header());
                    let file = match header {
                        Some(header) => self.file(unit, header, index, &mut numbers)?,
                        None => None,
                    };
                    Some(file.map_or(Position::NONE, |file| Position { file, line, column }))
                }
                (true, _) => Some(Position::NONE),
            };
            let outer = around.last().map(|(_, scope)| *scope);
            let scope = Scope {
                // A function that is nested in another one is none of its frames.
                parent: outer.filter(|_| inlined),
                depth: around.len() as u32,
                name: 0,
                call,
            };
            self.scopes.push((scope, offset));
            around.push((depth, number));
        }
        Ok(numbers)
    }

    fn address(&self, unit: &Unit<'a>, value: Attribute<'a>) -> Result<Option<u64>, SourceError> {
        let address = self.dwarf.attr_address(unit, value);
        address.map_err(|error| self.damaged(error))
    }

    /// Adds the code of a scope; is there any?
    fn extent(
        &mut self,
        unit: &Unit<'a>,
        extent: Extent<'a>,
        scope: u32,
    ) -> Result<bool, SourceError> {
        let before = self.ranges.len();
        if let Some(low) = extent.low {
            let size = extent.size.map(|size| low.saturating_add(size));
            if let Some(high) = extent.high.or(size) {
                self.range(low..high, scope);
            }
        }
        if let Some(value) = extent.ranges {
            let offset = self.dwarf.attr_ranges_offset(unit, value);
            if let Some(offset) = offset.map_err(|error| self.damaged(error))? {
                let ranges = self.dwarf.ranges(unit, offset);
                let mut ranges = ranges.map_err(|error| self.damaged(error))?;
                while let Some(range) = ranges.next().map_err(|error| self.damaged(error))? {
                    self.budget.take(KEPT)?;
                    self.range(range.begin..range.end, scope);
                }
            }
        }
        Ok(self.ranges.len() > before)
    }

    fn range(&mut self, range: Range<u64>, scope: u32) {
        if range.start < range.end && self.code.iter().any(|code| code.contains(&range.start)) {
            self.ranges.push((range, scope));
        }
    }

    /// The name of a function for the linker, or that in the source text.
    fn name(&self, offset: usize) -> Option<Bytes<'a>> {
        let mut plain = None;
        let mut at = Some(offset);
        for _ in 0..MAX_ORIGINS {
            let Some(function) = at.and_then(|at| self.functions.get(&at)) else {
                break;
            };
            if function.linkage.is_some() {
                return function.linkage;
            }
            plain = plain.or(function.name);
            at = function.origin;
        }
        plain
    }

    fn finish(mut self, map: &mut SourceMap) -> Result<(), SourceError> {
        self.rows.sort_by_key(|row| (row.start, row.end));
        let mut names: Vec<Box<str>> = Vec::new();
        let mut numbers: HashMap<(usize, usize), u32> = HashMap::new();
        let mut scopes = Vec::with_capacity(self.scopes.len());
        for (mut scope, offset) in std::mem::take(&mut self.scopes) {
            let name = self.name(offset).unwrap_or_default();
            // Names are the same if they are the same bytes of the file.
            let key = (name.offset_id().0 as usize, name.len());
            scope.name = match numbers.get(&key) {
                Some(number) => *number,
                None => {
                    self.budget.take(name.len() as u64)?;
                    let number = names.len() as u32;
                    names.push(name.to_string_lossy().into());
                    numbers.insert(key, number);
                    number
                }
            };
            scopes.push(scope);
        }
        map.files = self.files;
        map.rows = self.rows;
        map.scopes = Scopes::new(scopes, names, &self.ranges);
        Ok(())
    }
}

impl Position {
    /// That of code without a line.
    const NONE: Position = Position {
        file: 0,
        line: 0,
        column: 0,
    };
}

fn clamp(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
