//! Traces as text.

use std::fmt;

use super::{Event, Format, MemoryAccess, Next, Purpose, RegisterChange, RegisterValue, Space};
use crate::Dtype;

/// Names of memory, by which a trace shows addresses.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<Named>);

#[derive(Clone, Debug)]
struct Named {
    start: u64,
    len: u64,
    name: String,
}

impl Names {
    /// Names `len` bytes at a guest address.
    pub fn add(&mut self, start: u64, len: u64, name: impl Into<String>) {
        let name = name.into();
        self.0.push(Named { start, len, name });
    }

    /// The name of the memory at a guest address, and the offset there: of several the one that was
    /// added last.
    pub fn at(&self, address: u64) -> Option<(&str, u64)> {
        let inside = |named: &&Named| address.wrapping_sub(named.start) < named.len;
        let named = self.0.iter().rev().find(inside)?;
        Some((&named.name, address - named.start))
    }

    /// The name of the memory that an access is to, and the offset there: as by [`Names::at`], or `code` or `arguments` for what the library has put into memory itself.
    pub fn find(&self, access: &MemoryAccess) -> Option<(&str, u64)> {
        match access.space {
            Space::Lds | Space::Scratch => return Some((access.space.name(), access.address)),
            Space::Global => {}
        }
        if let Some(found) = self.at(access.address) {
            return Some(found);
        }
        let allocation = access.allocation?;
        let name = match allocation.purpose {
            Purpose::Code => "code",
            Purpose::Arguments => "arguments",
            Purpose::Data
            | Purpose::Buffer
            | Purpose::Sparse
            | Purpose::System
            | Purpose::Structure => return None,
        };
        Some((name, access.address - allocation.start))
    }

    /// An event as lines of text without a line end: number, address, place and text of the
    /// instruction; then, indented, changed registers and accesses.
    ///
    /// Values of lanes are in runs: `0-63: 0x1` is the same in all of them, `0-63: 0x0 +4` grows by 4
    /// from lane to lane.
    pub fn show<'a>(&'a self, event: &'a Event) -> Shown<'a> {
        Shown { names: self, event }
    }
}

/// Prints an event; made by [`Names::show`].
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    names: &'a Names,
    event: &'a Event,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event {
            number,
            pc,
            symbol,
            instruction,
            registers,
            accesses,
            next,
            ..
        } = self.event;
        write!(f, "{number:>6}  0x{pc:04x}  {instruction}")?;
        if let Some((name, offset)) = symbol {
            write!(f, "  ({name}+0x{offset:x})")?;
        }
        for access in grouped(self.names, accesses) {
            write!(f, "\n{INDENT}{access}")?;
        }
        write!(f, "{}", Registers(registers))?;
        match next {
            Next::Continue => Ok(()),
            Next::Jump(to) => write!(f, "\n{INDENT}jumps to 0x{to:04x}"),
            Next::Barrier => write!(f, "\n{INDENT}arrives at the barrier"),
            Next::Wait => write!(f, "\n{INDENT}waits"),
            Next::End => write!(f, "\n{INDENT}ends"),
            Next::Fault {
                kind,
                lane: Some(lane),
            } => write!(f, "\n{INDENT}fault: lane {lane} {kind}"),
            Next::Fault { kind, lane: None } => write!(f, "\n{INDENT}fault: the wave {kind}"),
        }
    }
}

const INDENT: &str = "          ";

/// Registers as lines of text, each behind a line end and indented; values of lanes are in runs as by [`Names::show`].
#[derive(Clone, Copy, Debug)]
pub struct Registers<'a>(pub &'a [RegisterChange]);

impl fmt::Display for Registers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in self.0 {
            write!(f, "\n{INDENT}{}", Changed(change))?;
        }
        Ok(())
    }
}

/// A changed register.
struct Changed<'a>(&'a RegisterChange);

impl fmt::Display for Changed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RegisterChange {
            register,
            format,
            value,
        } = self.0;
        write!(f, "{register} = ")?;
        match value {
            RegisterValue::Wave(value) => write!(f, "{}", Value((*format).into(), *value)),
            RegisterValue::Lanes(lanes) => write!(f, "{}", Series((*format).into(), lanes)),
        }
    }
}

/// How bits are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// In hexadecimal, of that many bits.
    Hex(u32),
    /// As a signed integer of that many bits.
    Signed(u32),
    /// As an unsigned integer.
    Unsigned,
    /// That many binary digits.
    Binary(u32),
    /// As a float.
    F16,
    F32,
    F64,
}

impl Style {
    /// That of a type's numbers.
    pub(crate) fn of(dtype: Dtype) -> Style {
        match dtype {
            Dtype::F16 => Style::F16,
            Dtype::F32 => Style::F32,
            Dtype::F64 => Style::F64,
            _ if dtype.is_signed() => Style::Signed(8 * dtype.size() as u32),
            _ => Style::Unsigned,
        }
    }

    /// Bits as text.
    pub(crate) fn shown(self, bits: u64) -> String {
        Value(self, bits).to_string()
    }

    /// The distance of two values of neighbours, where they are equal or integers.
    fn distance(self, a: u64, b: u64) -> Option<i64> {
        match self {
            Style::Hex(..=32) => Some(i64::from((b as u32).wrapping_sub(a as u32) as i32)),
            Style::Signed(bits) => {
                let wide = |value: u64| (value << (64 - bits)) as i64 >> (64 - bits);
                Some(wide(b).wrapping_sub(wide(a)))
            }
            Style::Hex(_) | Style::Unsigned => Some(b.wrapping_sub(a) as i64),
            Style::Binary(_) | Style::F16 | Style::F32 | Style::F64 => (a == b).then_some(0),
        }
    }
}

impl From<Format> for Style {
    fn from(format: Format) -> Style {
        match format {
            Format::Bits32 => Style::Hex(32),
            Format::Bits64 => Style::Hex(64),
            Format::F16 => Style::F16,
            Format::F32 => Style::F32,
            Format::F64 => Style::F64,
        }
    }
}

/// A value in a style.
struct Value(Style, u64);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Value(style, bits) = *self;
        let (float, digits) = match style {
            Style::Hex(_) => return write!(f, "0x{bits:x}"),
            Style::Signed(width) => {
                return write!(f, "{}", (bits << (64 - width)) as i64 >> (64 - width));
            }
            Style::Unsigned => return write!(f, "{bits}"),
            Style::Binary(width) => return write!(f, "0b{bits:0width$b}", width = width as usize),
            Style::F16 => (half::f16::from_bits(bits as u16).to_f64(), 4),
            Style::F32 => {
                let float = f32::from_bits(bits as u32);
                if !float.is_nan() {
                    return write!(f, "{float:?}");
                }
                (float.into(), 8)
            }
            Style::F64 => (f64::from_bits(bits), 16),
        };
        match float.is_nan() {
            // NaNs differ by their bits.
            true => write!(f, "NaN(0x{bits:0digits$x})"),
            false => write!(f, "{float:?}"),
        }
    }
}

/// The greatest distance of the values of a run.
const MAX_STEP: i64 = 1 << 16;

/// Values by lane, in runs of equal values and of integers with the same distance.
pub(crate) struct Series<'a>(pub(crate) Style, pub(crate) &'a [(u32, u64)]);

impl Series<'_> {
    /// The length of the run at the beginning of `rest`, and the distance of its values.
    fn run(&self, rest: &[(u32, u64)]) -> (usize, i64) {
        let [first, second, ..] = rest else {
            return (1, 0);
        };
        let distance = |a: &(u32, u64), b: &(u32, u64)| match b.0 == a.0 + 1 {
            false => None,
            true => self.0.distance(a.1, b.1),
        };
        let Some(step) = distance(first, second) else {
            return (1, 0);
        };
        let pairs = rest.windows(2);
        let same = pairs.take_while(|pair| distance(&pair[0], &pair[1]) == Some(step));
        match 1 + same.count() {
            // Two different values are no sequence, and distant ones, such as the bits of floats, no
            // sequence of numbers.
            2 if step != 0 => (1, 0),
            _ if step.abs() > MAX_STEP => (1, 0),
            run => (run, step),
        }
    }
}

impl fmt::Display for Series<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.1;
        let mut separator = "";
        while let Some(&(lane, value)) = rest.first() {
            let (run, step) = self.run(rest);
            f.write_str(separator)?;
            match run {
                1 => write!(f, "{lane}: ")?,
                _ => write!(f, "{lane}-{}: ", rest[run - 1].0)?,
            }
            write!(f, "{}", Value(self.0, value))?;
            if step != 0 {
                write!(f, " {step:+}")?;
            }
            separator = ", ";
            rest = &rest[run..];
        }
        Ok(())
    }
}

/// Accesses of the same kind and size to the same memory.
struct Grouped<'a> {
    first: &'a MemoryAccess,
    name: Option<&'a str>,
    /// Offsets in the named memory, or addresses, by lane.
    offsets: Vec<(u32, u64)>,
    values: Vec<(u32, u64)>,
    new: Vec<(u32, u64)>,
    /// Dwords of longer values, and of those of the scalar unit.
    dwords: Vec<(u32, Vec<u32>)>,
}

/// Accesses in the order in which they were made, those of lanes one after the other together.
fn grouped<'a>(names: &'a Names, accesses: &'a [MemoryAccess]) -> Vec<Grouped<'a>> {
    let mut out: Vec<Grouped<'a>> = Vec::new();
    for access in accesses {
        let found = names.find(access);
        let name = found.map(|(name, _)| name);
        let offset = found.map_or(access.address, |(_, offset)| offset);
        let lane = access.lane.unwrap_or(0);
        let joins = |group: &Grouped<'_>| {
            let first = group.first;
            let last = group.offsets.last().map_or(0, |&(lane, _)| lane);
            (first.access, first.space, first.value.len(), group.name)
                == (access.access, access.space, access.value.len(), name)
                && access.lane.is_some_and(|lane| lane > last)
        };
        if !out.last().is_some_and(joins) {
            out.push(Grouped {
                first: access,
                name,
                offsets: Vec::new(),
                values: Vec::new(),
                new: Vec::new(),
                dwords: Vec::new(),
            });
        }
        let group = out.last_mut().expect("there is one");
        group.offsets.push((lane, offset));
        if access.value.len() > 8 || access.lane.is_none() && access.value.len() > 4 {
            group.dwords.push((lane, dwords(&access.value)));
        } else {
            group.values.push((lane, number(&access.value)));
        }
        if let Some(new) = &access.new {
            group.new.push((lane, number(new)));
        }
    }
    out
}

/// Up to eight bytes as a number.
fn number(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn dwords(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|dword| number(dword) as u32).collect()
}

impl fmt::Display for Grouped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.first;
        let bytes = first.value.len();
        write!(f, "{} {bytes} bytes", first.access.name())?;
        if let Some(name) = self.name {
            write!(f, " of {name}")?;
        }
        let style = match bytes {
            0..=4 => Style::Hex(32),
            _ => Style::Hex(64),
        };
        match first.lane {
            None => write!(f, " at 0x{:x} = ", self.offsets[0].1)?,
            Some(_) => write!(f, " at {} = ", Series(Style::Hex(64), &self.offsets))?,
        }
        let mut separator = "";
        for (lane, dwords) in &self.dwords {
            f.write_str(separator)?;
            if first.lane.is_some() {
                write!(f, "{lane}: ")?;
            }
            let words: Vec<_> = dwords.iter().map(|word| format!("0x{word:x}")).collect();
            f.write_str(&words.join(" "))?;
            separator = ", ";
        }
        for (values, arrow) in [(&self.values, ""), (&self.new, " -> ")] {
            match (first.lane, values.first()) {
                (_, None) => {}
                (None, Some(&(_, value))) => write!(f, "{arrow}{}", Value(style, value))?,
                (Some(_), Some(_)) => write!(f, "{arrow}{}", Series(style, values))?,
            }
        }
        Ok(())
    }
}
