//! `place=value`: places of a wave's state and the values that they hold.
//!
//! | place | what |
//! |---|---|
//! | `v3` `v[3:4]` | vector registers, the same in every lane |
//! | `v3[17]` | one lane; other lanes of the register are not looked at in the result |
//! | `a3` `a[3:4]` | accumulation registers |
//! | `v3.all` `a[3:4].all` | of results: every lane, active or not, but for lanes that are named |
//! | `s3` `s[4:7]` `vcc` `exec` `m0` `vcc_lo` … | scalar registers by name or code |
//! | `vcc.lane` `s[2:3].lane` | the lane's bit of a mask; inactive lanes' bits must come out 0 |
//! | `scc` `mode` `trapsts` `hw5` | the other registers |
//! | `mem[10]` `lds[10]` `scr[10]` | bytes of the lane's own window of 256 bytes (in scratch: its own bytes) |
//! | `buf[10]` `group[10]` | bytes of the wave's buffer, of LDS |
//! | `ldssize` | bytes of LDS (before) |
//!
//! Values are hex without prefix, as many digits as wanted; bytes of memory are two digits each,
//! the highest first. Symbols may be added: `mem` (the lane's window), `mem0` (lane 0's), `win` (256
//! times the lane), `lane`, `buf`, `code` (the instruction), `scratch`, `shared`, `private`, and
//! `mem0/256` and `buf/256`, as image descriptors have them. Results may also be `?` (not looked at), `nan`, `~hex` (off by one in the last place at most) or a lane list
//! in angle brackets, see [`LaneList`].

use super::CaseErrorKind;

/// One `place=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assign {
    /// Where.
    pub place: Place,
    /// What.
    pub value: Value,
}

/// A place in the state. Register places: first register, count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Vector registers, as [`frontend::WaveState::vector`] counts them.
    Vgpr(u16, u16, Lanes),
    /// Scalar registers by code.
    Sgpr(u8, u8),
    /// The lane's bit in a scalar pair.
    Mask(u8),
    /// SCC.
    Scc,
    /// MODE.
    Mode,
    /// TRAPSTS.
    Trapsts,
    /// A hardware register by number.
    Hwreg(u8),
    /// Bytes of memory at an offset.
    Bytes(Space, u32),
    /// Size of LDS.
    LdsSize,
}

/// Which lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Every lane; of results the active ones.
    All,
    /// Every lane, active or not.
    Whole,
    /// One.
    One(u8),
}

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The lane's window of global memory.
    Mem,
    /// The lane's window of LDS.
    Lds,
    /// The lane's scratch.
    Scratch,
    /// The wave's buffer.
    Buffer,
    /// LDS.
    Group,
}

impl Space {
    /// Does every lane have its own?
    pub fn is_per_lane(self) -> bool {
        matches!(self, Space::Mem | Space::Lds | Space::Scratch)
    }
}

/// What is added to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// The lane's window of global memory.
    Mem,
    /// Lane 0's window of global memory.
    Mem0,
    /// 256 times the lane.
    Window,
    /// The wave's buffer.
    Buffer,
    /// The instruction.
    Code,
    /// First byte of the wave's scratch.
    Scratch,
    /// The LDS aperture.
    Shared,
    /// The scratch aperture.
    Private,
    /// Number of the lane.
    Lane,
    /// Lane 0's window in units of 256 bytes.
    Mem0Image,
    /// The wave's buffer in units of 256 bytes.
    BufferImage,
}

/// A number with symbols added to its low 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits {
    /// Dwords, low first.
    pub hex: Vec<u32>,
    /// Digits as written, all of them.
    pub digits: usize,
    /// What is added.
    pub symbols: Vec<Symbol>,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Exactly.
    Bits(Bits),
    /// Off by at most one in the last place.
    Near(Bits),
    /// Not looked at.
    Any,
    /// A NaN of 16 bits in the low half, of 32 bits, or of 64 bits, by the place's size.
    Nan,
    /// By lane.
    List(LaneList),
}

/// Values that differ by lane: `v1<1..15 - | ->` takes lane l of the result from the lane of v1 that
/// the list names; `<0..63>` without a register are the numbers themselves. Items are separated by
/// blanks: `n`, `a..b` up or down, `x*n` repeated, `-` (the destination keeps its value), `z` (0),
/// `first` (the first active lane, lane 0 when there is none). Lists of 1, 2, 4, 8, 16 or 32 items
/// repeat, relative to the group of lanes. Behind `|` stands what an inactive source lane gives: `-`
/// or `z`; without it its register is read all the same. `+hex` behind the list is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneList {
    /// The register that is read; `None`: the items are values.
    pub register: Option<u16>,
    /// 64 items.
    pub items: Vec<Item>,
    /// What an inactive source lane gives.
    pub inactive: Option<Item>,
    /// What is added to values that were read.
    pub plus: u32,
}

/// An item of a [`LaneList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A lane or a value.
    Number(u32),
    /// The destination keeps its value.
    Keep,
    /// 0.
    Zero,
    /// The first active lane.
    First,
}

/// Splits at blanks outside angle brackets.
pub(super) fn words(text: &str) -> Result<Vec<&str>, CaseErrorKind> {
    let mut words = Vec::new();
    let (mut start, mut depth) = (None, 0);
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        match (c == ' ' && depth == 0, start) {
            (true, Some(from)) => {
                words.push(&text[from..at]);
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    if depth != 0 {
        return Err(CaseErrorKind::Assign(text.to_owned(), "a bracket is open"));
    }
    words.extend(start.map(|from| &text[from..]));
    Ok(words)
}

/// Reads `place=value`.
pub(super) fn parse(word: &str) -> Result<Assign, CaseErrorKind> {
    let error = |why| CaseErrorKind::Assign(word.to_owned(), why);
    let (place, value) = word.split_once('=').ok_or(error("no `=`"))?;
    let place = parse_place(place).ok_or(error("no such place"))?;
    let value = parse_value(value).map_err(error)?;
    let (registers, exact) = match place {
        Place::Vgpr(_, count, _) => (count.into(), false),
        Place::Sgpr(_, count) => (usize::from(count), false),
        Place::Bytes(..) => (usize::MAX, true),
        _ => (1, false),
    };
    if let Value::Bits(bits) | Value::Near(bits) = &value {
        if exact && !bits.digits.is_multiple_of(2) {
            return Err(error("bytes of memory are two digits each"));
        }
        if bits.digits > registers.saturating_mul(8) {
            return Err(error("more digits than the place has"));
        }
    }
    Ok(Assign { place, value })
}

fn parse_place(text: &str) -> Option<Place> {
    if let Some(mask) = text.strip_suffix(".lane") {
        return match parse_sgpr(mask)? {
            (first, 2) => Some(Place::Mask(first)),
            _ => None,
        };
    }
    match text {
        "scc" => return Some(Place::Scc),
        "mode" => return Some(Place::Mode),
        "trapsts" => return Some(Place::Trapsts),
        "ldssize" => return Some(Place::LdsSize),
        _ => {}
    }
    for (name, space) in [
        ("mem", Space::Mem),
        ("lds", Space::Lds),
        ("scr", Space::Scratch),
        ("buf", Space::Buffer),
        ("group", Space::Group),
    ] {
        if let Some(offset) = text.strip_prefix(name).and_then(|t| t.strip_prefix('[')) {
            let offset = offset.strip_suffix(']')?;
            let offset = offset.strip_prefix("0x").unwrap_or(offset);
            return Some(Place::Bytes(space, u32::from_str_radix(offset, 16).ok()?));
        }
    }
    if let Some(number) = text.strip_prefix("hw") {
        return Some(Place::Hwreg(number.parse().ok().filter(|&n: &u8| n < 32)?));
    }
    if let Some((first, count)) = parse_sgpr(text) {
        return Some(Place::Sgpr(first, count));
    }
    let (rest, base) = match text.strip_prefix('a') {
        Some(rest) => (rest, 256),
        None => (text.strip_prefix('v')?, 0),
    };
    if let Some(rest) = rest.strip_suffix(".all") {
        let (first, count) = parse_range(rest, 256)?;
        return Some(Place::Vgpr(base + first, count, Lanes::Whole));
    }
    let (first, count) = parse_range(rest, 256)?;
    let first = base + first;
    if !rest.starts_with('[')
        && let Some((_, lane)) = rest.split_once('[')
    {
        let lane = lane.strip_suffix(']')?.parse().ok().filter(|&l| l < 64)?;
        return Some(Place::Vgpr(first, count, Lanes::One(lane)));
    }
    Some(Place::Vgpr(first, count, Lanes::All))
}

/// First code and count of scalar registers.
fn parse_sgpr(text: &str) -> Option<(u8, u8)> {
    let named = match text {
        "vcc" => (106, 2),
        "vcc_lo" => (106, 1),
        "vcc_hi" => (107, 1),
        "m0" => (124, 1),
        "exec" => (126, 2),
        "exec_lo" => (126, 1),
        "exec_hi" => (127, 1),
        _ => {
            let (first, count) = parse_range(text.strip_prefix('s')?, 128)?;
            return Some((first as u8, count as u8));
        }
    };
    Some(named)
}

/// `3`, `3[..]` or `[3:4]`.
fn parse_range(text: &str, limit: u16) -> Option<(u16, u16)> {
    let (first, last) = match text.strip_prefix('[') {
        Some(inside) => inside.strip_suffix(']')?.split_once(':')?,
        None => {
            let number = text.split_once('[').map_or(text, |(number, _)| number);
            (number, number)
        }
    };
    let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < limit).then(|| (first, last - first + 1))
}

fn parse_value(text: &str) -> Result<Value, &'static str> {
    if text == "?" {
        return Ok(Value::Any);
    }
    if text == "nan" {
        return Ok(Value::Nan);
    }
    if let Some((register, list)) = text.split_once('<') {
        return parse_list(register, list).map(Value::List);
    }
    match text.strip_prefix('~') {
        Some(text) => parse_bits(text).map(Value::Near),
        None => parse_bits(text).map(Value::Bits),
    }
}

fn parse_bits(text: &str) -> Result<Bits, &'static str> {
    let mut bits = Bits {
        hex: Vec::new(),
        digits: 0,
        symbols: Vec::new(),
    };
    for term in text.split('+') {
        let symbol = match term {
            "mem" => Symbol::Mem,
            "mem0" => Symbol::Mem0,
            "win" => Symbol::Window,
            "buf" => Symbol::Buffer,
            "code" => Symbol::Code,
            "lane" => Symbol::Lane,
            "mem0/256" => Symbol::Mem0Image,
            "buf/256" => Symbol::BufferImage,
            "scratch" => Symbol::Scratch,
            "shared" => Symbol::Shared,
            "private" => Symbol::Private,
            _ => {
                if !bits.hex.is_empty() {
                    return Err("two numbers");
                }
                let digits: Vec<u32> = term
                    .chars()
                    .filter(|&c| c != '_')
                    .map(|c| c.to_digit(16))
                    .collect::<Option<_>>()
                    .ok_or("no hex number")?;
                if digits.is_empty() {
                    return Err("no hex number");
                }
                bits.digits = digits.len();
                bits.hex = digits
                    .rchunks(8)
                    .map(|chunk| chunk.iter().fold(0, |word, digit| word << 4 | digit))
                    .collect();
                continue;
            }
        };
        bits.symbols.push(symbol);
    }
    Ok(bits)
}

fn parse_list(register: &str, text: &str) -> Result<LaneList, &'static str> {
    let register = match register {
        "" => None,
        name => Some(
            name.strip_prefix('v')
                .and_then(|n| n.parse().ok())
                .filter(|&n: &u16| n < 256)
                .ok_or("no vector register before `<`")?,
        ),
    };
    let (inside, after) = text.split_once('>').ok_or("no `>`")?;
    let plus = match after.strip_prefix('+') {
        Some(hex) => u32::from_str_radix(hex, 16).map_err(|_| "no hex number behind `>`")?,
        None if after.is_empty() => 0,
        None => return Err("something behind `>`"),
    };
    let (inside, inactive) = match inside.split_once('|') {
        Some((inside, inactive)) => (inside, Some(parse_item(inactive.trim())?)),
        None => (inside, None),
    };
    let mut items = Vec::new();
    for word in inside.split_whitespace() {
        let (word, times) = match word.split_once('*') {
            Some((word, times)) => (word, times.parse().map_err(|_| "no count behind `*`")?),
            None => (word, 1),
        };
        if let Some((a, b)) = word.split_once("..") {
            let a: u32 = a.parse().map_err(|_| "no number before `..`")?;
            let b: u32 = b.parse().map_err(|_| "no number behind `..`")?;
            if a <= b {
                items.extend((a..=b).map(Item::Number));
            } else {
                items.extend((b..=a).rev().map(Item::Number));
            }
        } else {
            items.extend(std::iter::repeat_n(parse_item(word)?, times));
        }
    }
    let group = items.len();
    if !group.is_power_of_two() || group > 64 {
        return Err("a lane list has 1, 2, 4, 8, 16, 32 or 64 items");
    }
    for lane in group..64 {
        let base = (lane - lane % group) as u32;
        items.push(match (items[lane % group], register) {
            (Item::Number(n), Some(_)) if group > 1 => Item::Number(n + base),
            (item, _) => item,
        });
    }
    let lane = |item: &Item| register.is_none() || !matches!(item, Item::Number(n) if *n > 63);
    if !items.iter().all(lane) {
        return Err("a lane above 63");
    }
    Ok(LaneList {
        register,
        items,
        inactive,
        plus,
    })
}

fn parse_item(word: &str) -> Result<Item, &'static str> {
    Ok(match word {
        "-" => Item::Keep,
        "z" => Item::Zero,
        "first" => Item::First,
        _ => Item::Number(word.parse().map_err(|_| "no lane")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> LaneList {
        match parse(&format!("v0={text}")).unwrap().value {
            Value::List(list) => list,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn places_have_many_spellings() {
        for (text, place) in [
            ("v3", Place::Vgpr(3, 1, Lanes::All)),
            ("v[4:7]", Place::Vgpr(4, 4, Lanes::All)),
            ("v3[17]", Place::Vgpr(3, 1, Lanes::One(17))),
            ("s3", Place::Sgpr(3, 1)),
            ("s[8:15]", Place::Sgpr(8, 8)),
            ("vcc", Place::Sgpr(106, 2)),
            ("vcc.lane", Place::Mask(106)),
            ("s[2:3].lane", Place::Mask(2)),
            ("lds[0x10]", Place::Bytes(Space::Lds, 16)),
            ("buf[10]", Place::Bytes(Space::Buffer, 16)),
            ("hw6", Place::Hwreg(6)),
            ("scc", Place::Scc),
        ] {
            assert_eq!(parse_place(text), Some(place), "{text}");
        }
        for text in [
            "v256", "v3[64]", "s2.lane", "s[3:2]", "x", "mem[zz]", "hw32",
        ] {
            assert_eq!(parse_place(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_checked_against_their_place() {
        assert!(
            parse("v0=123456789").is_err(),
            "nine digits in one register"
        );
        assert!(parse("mem[0]=123").is_err(), "a byte and a half");
        assert!(parse("v0=12g4").is_err());
        assert!(parse("s[0:1]=mem0+0010_0000_0000_0000").is_ok());
        assert!(parse("v0=~3f800000").is_ok());
    }

    #[test]
    fn lane_lists_repeat_relative_to_their_group() {
        use Item::{Keep, Number, Zero};
        let row = list("v1<1..15 - | z>");
        assert_eq!(row.register, Some(1));
        assert_eq!(row.inactive, Some(Zero));
        assert_eq!((row.items[0], row.items[15]), (Number(1), Keep));
        assert_eq!((row.items[48], row.items[63]), (Number(49), Keep));
        let quad = list("v1<3..0>+10");
        assert_eq!((quad.items[4], quad.plus), (Number(7), 16));
        assert_eq!(list("v1<first>").items[9], Item::First);
        assert_eq!(list("v1<5>").items[9], Number(5), "one lane for all");
        let values = list("<0..31 32*32>");
        assert_eq!(
            (values.items[31], values.items[63]),
            (Number(31), Number(32))
        );
        assert_eq!(
            parse_list("v1", "1 2 3>"),
            Err("a lane list has 1, 2, 4, 8, 16, 32 or 64 items")
        );
    }
}
