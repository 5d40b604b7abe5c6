//! The value of an expression in a stopped wave, and assignment to it.

use frontend::inst::{EXEC_LO, M0, VCC_LO};
use frontend::state::FIRST_AGPR;
use frontend::{Gfx, LANES, WaveState};
use runtime::debug::{State, scratch_address};
use runtime::engine::Scratch;
use runtime::lockstep::sgpr_name;
use runtime::trace::Space;
use runtime::{LoadedCode, Memory};

use super::Named;
use super::error::DebugError;
use super::expr::{Expr, Node};
use super::operators::{binary_values, truth, unary};
use super::value::{Evaluated, Radix, Scalar, Value, active};
use crate::Dtype;
use crate::dtype::Value as Number;

/// Most elements of a range.
const MOST_ELEMENTS: u64 = 1 << 16;

/// Most elements of a buffer that is named without an index.
const SHOWN_ELEMENTS: u64 = 200;

/// What an expression refers to.
pub(super) struct Scope<'s> {
    pub(super) memory: &'s Memory,
    pub(super) buffers: &'s [Named],
    pub(super) wave: Option<Wave<'s>>,
}

/// A stopped wave.
#[derive(Clone, Copy)]
pub(super) struct Wave<'s> {
    pub(super) state: &'s WaveState,
    pub(super) lds: &'s [u8],
    pub(super) scratch: Scratch,
    pub(super) code: &'s LoadedCode,
}

impl<'s> Scope<'s> {
    /// That of a wave of a stopped workgroup.
    pub(super) fn of<'g>(
        state: &'s State<'_, 'g>,
        wave: u32,
        buffers: &'s [Named],
    ) -> Result<Scope<'s>, DebugError>
    where
        'g: 's,
    {
        let waves = state.waves();
        let registers = state.wave(wave).ok_or(DebugError::NoWave { wave, waves })?;
        Ok(Scope {
            memory: state.memory(),
            buffers,
            wave: Some(Wave {
                state: registers,
                lds: state.lds(),
                scratch: state.scratch(wave),
                code: state.code(),
            }),
        })
    }
}

/// A register, or memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) at: At,
    /// As what its bits are read.
    pub(super) dtype: Dtype,
    /// Is it printed in hexadecimal?
    pub(super) hex: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum At {
    /// SGPRs by code: the first, and their number.
    Scalar(usize, usize),
    /// VGPRs, or from 256 on accumulation registers: the first, their number, a lane.
    Vector(usize, usize, Option<usize>),
    Scc,
    Mode,
    Trapsts,
    Pc,
    /// The files of registers, before an index.
    Scalars,
    Vectors,
    Accumulation,
    /// A buffer: address and bytes.
    Buffer(u64, u64, String),
    /// Elements of guest memory: address and number; the buffer that they must be in.
    Global(u64, u64),
    GlobalSpace,
    Lds(u64, u64),
    LdsSpace,
    /// Offset in a lane's scratch, a lane.
    Scratch(u64, Option<usize>),
    ScratchSpace,
}

impl Place {
    fn new(at: At, dtype: Dtype, hex: bool) -> Place {
        Place { at, dtype, hex }
    }

    /// Where its first byte is.
    fn memory(&self) -> Option<(Space, u64)> {
        match &self.at {
            At::Global(address, _) | At::Buffer(address, ..) => Some((Space::Global, *address)),
            At::Lds(offset, _) => Some((Space::Lds, *offset)),
            _ => None,
        }
    }

    /// The format that its values have where none is asked for.
    fn radix(&self) -> Radix {
        match self.hex {
            true => Radix::Hex,
            false => natural(self.dtype),
        }
    }

    /// Bytes of an element.
    pub(super) fn size(&self) -> u64 {
        self.dtype.size() as u64
    }

    /// The same with that many elements, if it is memory.
    pub(super) fn elements(mut self, count: u64) -> Option<Place> {
        match &mut self.at {
            At::Global(_, n) | At::Lds(_, n) => *n = count,
            At::Buffer(address, ..) => self.at = At::Global(*address, count),
            _ => return None,
        }
        Some(self)
    }
}

/// The number at the end of a name such as `v12`.
fn numbered(name: &str, letter: char) -> Option<usize> {
    let digits = name.strip_prefix(letter)?;
    let canonical = digits == "0" || !digits.starts_with('0');
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (all && canonical).then(|| digits.parse().unwrap_or(usize::MAX))
}

impl Scope<'_> {
    /// The value of an expression.
    pub(super) fn evaluate(&self, expr: &Expr) -> Result<Evaluated, DebugError> {
        let exec = self.wave.map_or(u64::MAX, |wave| wave.state.exec());
        if let Some(place) = self.place(&expr.0)? {
            let (place, more) = self.whole(place);
            return Ok(Evaluated {
                value: self.load(&place)?,
                exec,
                default: place.radix(),
                place: place.memory(),
                more,
            });
        }
        let value = self.value(&expr.0)?;
        let dtype = match &value {
            Value::One(scalar) => scalar.dtype,
            Value::Lanes(all) | Value::Many(all) => all.first().map_or(Dtype::U64, |it| it.dtype),
        };
        Ok(Evaluated {
            value,
            exec,
            default: natural(dtype),
            place: None,
            more: 0,
        })
    }

    /// Elements of memory from a place or an address on, of another type than its own if one is given.
    pub(super) fn examine(
        &self,
        expr: &Expr,
        dtype: Option<Dtype>,
        count: u64,
    ) -> Result<Evaluated, DebugError> {
        if count == 0 || count > MOST_ELEMENTS {
            return Err(DebugError::Index(
                "1 to 65536 elements can be shown".to_owned(),
            ));
        }
        let place = self.place(&expr.0)?.and_then(|place| place.elements(count));
        let place = match place {
            Some(place) => place,
            None => {
                let address = u64::try_from(self.number(&expr.0)?)
                    .map_err(|_| DebugError::Index("an address is not negative".to_owned()))?;
                Place::new(At::Global(address, count), Dtype::U32, true)
            }
        };
        let place = match dtype {
            Some(dtype) => Place::new(place.at, dtype, false),
            None => place,
        };
        let value = match self.load(&place)? {
            Value::One(scalar) => Value::Many(vec![scalar]),
            other => other,
        };
        Ok(Evaluated {
            value,
            exec: self.wave.map_or(u64::MAX, |wave| wave.state.exec()),
            default: place.radix(),
            place: place.memory(),
            more: 0,
        })
    }

    /// A buffer as its first elements, and the number of the others.
    fn whole(&self, place: Place) -> (Place, u64) {
        match place.at {
            At::Buffer(address, len, _) => {
                let all = len / place.size();
                let count = all.min(SHOWN_ELEMENTS);
                let at = At::Global(address, count);
                (Place { at, ..place }, all - count)
            }
            _ => (place, 0),
        }
    }

    /// The place that an expression names, if it names one.
    pub(super) fn place(&self, node: &Node) -> Result<Option<Place>, DebugError> {
        Ok(Some(match node {
            Node::Name { name, buffer } => self.named(name, *buffer)?,
            Node::Index(of, index) => match self.place(of)? {
                Some(place) => {
                    let index = self.number(index)?;
                    self.select(place, index, index, false)?
                }
                None => {
                    return Err(DebugError::Index(
                        "only registers and memory have indices".to_owned(),
                    ));
                }
            },
            Node::Range(of, first, last) => match self.place(of)? {
                Some(place) => {
                    let (first, last) = (self.number(first)?, self.number(last)?);
                    self.select(place, first, last, true)?
                }
                None => {
                    return Err(DebugError::Index(
                        "only registers and memory have ranges".to_owned(),
                    ));
                }
            },
            Node::Cast(of, dtype) => match self.place(of)? {
                Some(place) => self.cast(place, *dtype)?,
                None => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    pub(super) fn wave(&self) -> Result<Wave<'_>, DebugError> {
        self.wave.ok_or(DebugError::NotStopped)
    }

    fn gfx(&self) -> Gfx {
        self.wave.map_or(Gfx::Gfx900, |wave| wave.code.gfx())
    }

    fn named(&self, name: &str, buffer: bool) -> Result<Place, DebugError> {
        let found = self.buffers.iter().find(|named| named.name == name);
        let buffer_place = |named: &Named| {
            let dtype = named.dtype.unwrap_or(Dtype::U8);
            let at = At::Buffer(named.address, named.len, named.name.clone());
            Place::new(at, dtype, named.dtype.is_none())
        };
        let register = |at| Ok(Place::new(at, Dtype::U32, true));
        let pair = |code: u8| Ok(Place::new(At::Scalar(code.into(), 2), Dtype::U64, true));
        if !buffer {
            if let Some(number) = numbered(name, 'v') {
                return self.select(
                    Place::new(At::Vectors, Dtype::U32, true),
                    number as i128,
                    number as i128,
                    false,
                );
            }
            if let Some(number) = numbered(name, 's') {
                return self.select(
                    Place::new(At::Scalars, Dtype::U32, true),
                    number as i128,
                    number as i128,
                    false,
                );
            }
            // Buffers are often called so.
            let accumulation = self.gfx().has_agprs() && found.is_none();
            if accumulation && let Some(number) = numbered(name, 'a') {
                let file = Place::new(At::Accumulation, Dtype::U32, true);
                return self.select(file, number as i128, number as i128, false);
            }
            match name {
                "a" if accumulation => return register(At::Accumulation),
                "v" => return register(At::Vectors),
                "s" => return register(At::Scalars),
                "scc" => return register(At::Scc),
                "mode" => return register(At::Mode),
                "trapsts" => return register(At::Trapsts),
                "pc" => return Ok(Place::new(At::Pc, Dtype::U64, true)),
                "vcc" => return pair(VCC_LO),
                "exec" => return pair(EXEC_LO),
                "m0" => return register(At::Scalar(M0.into(), 1)),
                "lds" => return register(At::LdsSpace),
                "scratch" => return register(At::ScratchSpace),
                "mem" => return register(At::GlobalSpace),
                _ => {}
            }
            // Those that only some targets have, such as flat_scratch_lo and its pair.
            let gfx = self.gfx();
            let mut codes = (102..126).filter(|&code| !sgpr_name(code, gfx).starts_with('s'));
            if let Some(code) = codes.clone().find(|&code| sgpr_name(code, gfx) == name) {
                return register(At::Scalar(code, 1));
            }
            let low = format!("{name}_lo");
            if let Some(code) = codes.find(|&code| sgpr_name(code, gfx) == low) {
                return Ok(Place::new(At::Scalar(code, 2), Dtype::U64, true));
            }
        }
        found
            .map(buffer_place)
            .ok_or_else(|| DebugError::UnknownName {
                name: name.to_owned(),
                buffers: self
                    .buffers
                    .iter()
                    .map(|named| named.name.clone())
                    .collect(),
            })
    }

    /// An element, or those from `first` to `last`.
    fn select(
        &self,
        place: Place,
        first: i128,
        last: i128,
        range: bool,
    ) -> Result<Place, DebugError> {
        let Place { at, dtype, hex } = place;
        let wrong = |what: &str| Err(DebugError::Index(what.to_owned()));
        if last < first {
            return wrong("a range goes from the first to the last, such as s[4:5]");
        }
        let address = |index: i128| {
            u64::try_from(index).map_err(|_| DebugError::Index(format!("{index} is no address")))
        };
        let count = u64::try_from(last - first).map_or(u64::MAX, |n| n.saturating_add(1));
        if count > MOST_ELEMENTS {
            return wrong("a range has at most 65536 elements");
        }
        let of_registers = |count: u64| match count {
            1 => Ok(Dtype::U32),
            2 => Ok(Dtype::U64),
            _ => Err(DebugError::Index(
                "registers are single or pairs, such as v[4:5]".to_owned(),
            )),
        };
        let place = match at {
            At::Scalars => {
                let most = if self.gfx().is_gfx8_up() { 101 } else { 103 };
                self.check_register('s', last, most)?;
                Place::new(
                    At::Scalar(first.max(0) as usize, count as usize),
                    of_registers(count)?,
                    true,
                )
            }
            At::Vectors => {
                let wave = self.wave()?.state;
                let most = wave.vgpr_count.max(wave.vgprs_touched).clamp(1, 256) - 1;
                self.check_register('v', last, most as usize)?;
                Place::new(
                    At::Vector(first.max(0) as usize, count as usize, None),
                    of_registers(count)?,
                    true,
                )
            }
            At::Accumulation => {
                self.check_register('a', last, 255)?;
                let first = usize::from(FIRST_AGPR) + first.max(0) as usize;
                let at = At::Vector(first, count as usize, None);
                Place::new(at, of_registers(count)?, true)
            }
            At::Vector(first_register, registers, None) if !range => Place::new(
                At::Vector(first_register, registers, Some(lane(first)?)),
                dtype,
                hex,
            ),
            At::Buffer(start, len, name) => {
                let size = dtype.size() as u64;
                let elements = len / size;
                if first < 0 || last >= i128::from(elements) {
                    return Err(DebugError::Index(format!(
                        "{name} has {elements} elements of {dtype}, from {name}[0] on"
                    )));
                }
                Place::new(At::Global(start + first as u64 * size, count), dtype, hex)
            }
            At::GlobalSpace => Place::new(
                At::Global(address(first)?, elements(count, range, dtype)),
                dtype,
                hex,
            ),
            At::LdsSpace => Place::new(
                At::Lds(address(first)?, elements(count, range, dtype)),
                dtype,
                hex,
            ),
            At::ScratchSpace if !range => {
                Place::new(At::Scratch(address(first)?, None), dtype, hex)
            }
            At::Scratch(offset, None) if !range => {
                Place::new(At::Scratch(offset, Some(lane(first)?)), dtype, hex)
            }
            _ => return wrong("there is nothing to select from with an index or a range here"),
        };
        Ok(place)
    }

    fn check_register(&self, letter: char, last: i128, most: usize) -> Result<(), DebugError> {
        match (0..=most as i128).contains(&last) {
            true => Ok(()),
            false => Err(DebugError::NoRegister {
                register: format!("{letter}{last}"),
                first: format!("{letter}0"),
                last: format!("{letter}{most}"),
            }),
        }
    }

    /// The place read as another type.
    fn cast(&self, place: Place, dtype: Dtype) -> Result<Place, DebugError> {
        let registers = match place.at {
            At::Scalar(_, count) | At::Vector(_, count, _) => 4 * count,
            At::Scc | At::Mode | At::Trapsts => 4,
            At::Pc => 8,
            At::Scalars | At::Vectors | At::Accumulation => {
                return Err(DebugError::Index(
                    "a register has a number, such as v3.f32".to_owned(),
                ));
            }
            At::Global(address, count) if count > 1 => {
                let at = At::Global(
                    address,
                    count * place.dtype.size() as u64 / dtype.size() as u64,
                );
                return Ok(Place::new(at, dtype, false));
            }
            At::Lds(offset, count) if count > 1 => {
                let at = At::Lds(
                    offset,
                    count * place.dtype.size() as u64 / dtype.size() as u64,
                );
                return Ok(Place::new(at, dtype, false));
            }
            _ => return Ok(Place::new(place.at, dtype, false)),
        };
        if dtype.size() > registers {
            return Err(DebugError::Operation(format!(
                "{dtype} has {} bytes and a register has 4; a pair such as v[4:5] has 8",
                dtype.size()
            )));
        }
        Ok(Place::new(place.at, dtype, false))
    }

    fn number(&self, node: &Node) -> Result<i128, DebugError> {
        match self.value(node)? {
            Value::One(scalar) => match scalar.number() {
                Number::Integer(value) => Ok(value),
                _ => Err(DebugError::Index("an index is an integer".to_owned())),
            },
            Value::Lanes(_) | Value::Many(_) => Err(DebugError::Index(
                "an index is one number, not one for each lane".to_owned(),
            )),
        }
    }

    // ---- values

    /// The current contents of a place.
    pub(super) fn load(&self, place: &Place) -> Result<Value, DebugError> {
        let dtype = place.dtype;
        let one = |bits: u64| Ok(Value::One(Scalar::new(dtype, bits)));
        let two = |words: &[u32]| {
            u64::from(words[0]) | u64::from(words.get(1).copied().unwrap_or(0)) << 32
        };
        match &place.at {
            At::Scalar(first, count) => one(two(&self.wave()?.state.sgpr[*first..first + count])),
            At::Vector(first, count, lane) => {
                let state = self.wave()?.state;
                let high = |lane: usize| {
                    if *count == 2 {
                        state.vector(first + 1)[lane]
                    } else {
                        0
                    }
                };
                let bits = |lane: usize| two(&[state.vector(*first)[lane], high(lane)]);
                match lane {
                    Some(lane) => one(bits(*lane)),
                    None => Ok(Value::Lanes(
                        (0..LANES)
                            .map(|lane| Scalar::new(dtype, bits(lane)))
                            .collect(),
                    )),
                }
            }
            At::Scc => one(self.wave()?.state.scc.into()),
            At::Mode => one(self.wave()?.state.mode.into()),
            At::Trapsts => one(self.wave()?.state.trapsts.into()),
            At::Pc => {
                let wave = self.wave()?;
                one(wave.code.local(wave.state.pc))
            }
            At::Global(address, count) => {
                let bytes = self.read_global(*address, *count, dtype.size() as u64)?;
                many(dtype, &bytes)
            }
            At::Lds(offset, count) => {
                let lds = self.wave()?.lds;
                let bytes = inside(lds, *offset, count * dtype.size() as u64)?;
                many(dtype, bytes)
            }
            At::Scratch(offset, lane) => {
                let read = |lane| self.read_scratch(*offset, dtype, lane);
                match lane {
                    Some(lane) => Ok(Value::One(read(*lane)?)),
                    None => Ok(Value::Lanes(
                        (0..LANES).map(read).collect::<Result<_, _>>()?,
                    )),
                }
            }
            At::Buffer(address, ..) => Ok(Value::One(Scalar::new(Dtype::U64, *address))),
            At::Scalars
            | At::Vectors
            | At::Accumulation
            | At::GlobalSpace
            | At::LdsSpace
            | At::ScratchSpace => Err(DebugError::Index(
                "a number in brackets was expected, such as s[4:5], v[3], lds[16], mem[0x1000]"
                    .to_owned(),
            )),
        }
    }

    pub(super) fn read_global(
        &self,
        address: u64,
        count: u64,
        size: u64,
    ) -> Result<Vec<u8>, DebugError> {
        let mut bytes = vec![0; (count * size) as usize];
        let read = self.memory.read_bytes(address, &mut bytes);
        read.map_err(|_| DebugError::Memory {
            what: "guest memory".to_owned(),
            address,
            bytes: count * size,
            limit: None,
        })?;
        Ok(bytes)
    }

    fn read_scratch(&self, offset: u64, dtype: Dtype, lane: usize) -> Result<Scalar, DebugError> {
        let mut word = [0; 8];
        for (n, byte) in word[..dtype.size()].iter_mut().enumerate() {
            let address = self.scratch_byte(offset, n as u64, dtype, lane)?;
            *byte = self.read_global(address, 1, 1)?[0];
        }
        Ok(Scalar::new(dtype, u64::from_le_bytes(word)))
    }

    /// Address of a byte of an element in a lane's scratch.
    pub(super) fn scratch_byte(
        &self,
        offset: u64,
        n: u64,
        dtype: Dtype,
        lane: usize,
    ) -> Result<u64, DebugError> {
        let scratch = self.wave()?.scratch;
        let address = offset
            .checked_add(n)
            .and_then(|offset| scratch_address(&scratch, lane, offset));
        address.ok_or(DebugError::Memory {
            what: "scratch of a lane".to_owned(),
            address: offset,
            bytes: dtype.size() as u64,
            limit: Some(scratch.lane_bytes.into()),
        })
    }

    pub(super) fn value(&self, node: &Node) -> Result<Value, DebugError> {
        if let Some(place) = self.place(node)? {
            return self.load(&place);
        }
        match node {
            Node::Integer(value) => Ok(Value::One(Scalar::new(Dtype::U64, *value))),
            Node::Float(value) => Ok(Value::One(Scalar::float(Dtype::F64, *value))),
            Node::Unary(operator, of) => self.value(of)?.map(|it| unary(*operator, it)),
            Node::Binary(operator, left, right) => {
                binary_values(*operator, self.value(left)?, self.value(right)?)
            }
            Node::Cast(of, dtype) => self.value(of)?.map(|it| {
                Ok(match (dtype.is_float(), it.number()) {
                    (true, number) => Scalar::float(*dtype, number.to_f64()),
                    (false, Number::Integer(value)) => Scalar::integer(*dtype, value),
                    (false, float) => Scalar::integer(*dtype, float.to_f64() as i128),
                })
            }),
            Node::Any(of) | Node::All(of) => {
                let exec = self.wave()?.state.exec();
                let holds = match self.value(of)? {
                    Value::One(scalar) => scalar.is_true(),
                    Value::Many(all) => all.iter().all(|it| it.is_true()),
                    Value::Lanes(lanes) => {
                        let mut of = active(exec).map(|lane| lanes[lane].is_true());
                        match node {
                            Node::Any(_) => of.any(|it| it),
                            _ => of.all(|it| it),
                        }
                    }
                };
                Ok(Value::One(truth(holds)))
            }
            Node::Name { .. } | Node::Index(..) | Node::Range(..) => {
                unreachable!("these are places")
            }
        }
    }
}

/// The format of a type's numbers.
fn natural(dtype: Dtype) -> Radix {
    match dtype {
        _ if dtype.is_float() => Radix::Float(dtype),
        _ if dtype.is_signed() => Radix::Signed,
        _ => Radix::Unsigned,
    }
}

/// Elements of a range in memory of bytes: an element without a range, else the range's bytes.
fn elements(count: u64, range: bool, dtype: Dtype) -> u64 {
    match range {
        false => 1,
        true => count.div_ceil(dtype.size() as u64),
    }
}

fn lane(index: i128) -> Result<usize, DebugError> {
    match index {
        0..64 => Ok(index as usize),
        _ => Err(DebugError::NoLane(index)),
    }
}

/// Bytes of LDS.
pub(super) fn inside(lds: &[u8], offset: u64, bytes: u64) -> Result<&[u8], DebugError> {
    let end = offset.checked_add(bytes);
    let range =
        end.and_then(|end| lds.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?));
    range.ok_or(DebugError::Memory {
        what: "LDS".to_owned(),
        address: offset,
        bytes,
        limit: Some(lds.len() as u64),
    })
}

fn many(dtype: Dtype, bytes: &[u8]) -> Result<Value, DebugError> {
    let scalars = bytes.chunks_exact(dtype.size()).map(|bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        Scalar::new(dtype, u64::from_le_bytes(word))
    });
    let all: Vec<_> = scalars.collect();
    Ok(match all[..] {
        [one] => Value::One(one),
        _ => Value::Many(all),
    })
}
