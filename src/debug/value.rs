//! Values of expressions, and how they are printed.

use std::fmt;

use frontend::LANES;

use runtime::trace::Space;

use super::error::{DebugError, DtypeSuffix};
use crate::Dtype;
use crate::dtype::Value as Number;
use crate::trace::{Series, Style};

/// Bits with a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// How they are to be read.
    pub dtype: Dtype,
    /// The bits; those above the type's size are 0.
    pub bits: u64,
}

impl Scalar {
    pub(super) fn new(dtype: Dtype, bits: u64) -> Scalar {
        let unused = 64 - 8 * dtype.size() as u32;
        Scalar {
            dtype,
            bits: bits << unused >> unused,
        }
    }

    /// The number.
    pub fn number(self) -> Number {
        self.dtype.decode(&self.bits.to_le_bytes())
    }

    /// An integer in a type: the low bits.
    pub(super) fn integer(dtype: Dtype, value: i128) -> Scalar {
        Scalar::new(dtype, value as u64)
    }

    /// A float, rounded to a type.
    pub(super) fn float(dtype: Dtype, value: f64) -> Scalar {
        let mut bytes = Vec::with_capacity(8);
        dtype.encode_float(value, &mut bytes);
        bytes.resize(8, 0);
        let bytes = bytes.first_chunk().copied().unwrap_or_default();
        Scalar::new(dtype, u64::from_le_bytes(bytes))
    }

    /// Is it a number other than 0?
    pub fn is_true(self) -> bool {
        match self.number() {
            Number::Integer(value) => value != 0,
            float => float.to_f64() != 0.0,
        }
    }
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One for the wave.
    One(Scalar),
    /// One for each of the 64 lanes.
    Lanes(Vec<Scalar>),
    /// Consecutive elements of memory, or registers.
    Many(Vec<Scalar>),
}

/// How to print a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Radix {
    /// `x`: hexadecimal.
    Hex,
    /// `d`: as a signed integer.
    Signed,
    /// `u`: as an unsigned integer.
    Unsigned,
    /// `b`: binary.
    Binary,
    /// `f`, `h`, `g`: the bits as a float of 32, 16 (the low half of a register) or 64 bits.
    Float(Dtype),
}

impl Radix {
    /// By its letter.
    pub fn of(letter: char) -> Option<Radix> {
        Some(match letter {
            'x' => Radix::Hex,
            'd' => Radix::Signed,
            'u' => Radix::Unsigned,
            'b' => Radix::Binary,
            'f' => Radix::Float(Dtype::F32),
            'h' => Radix::Float(Dtype::F16),
            'g' => Radix::Float(Dtype::F64),
            _ => return None,
        })
    }

    /// Splits `EXPRESSION/F` into the expression and its format; text without a format is an expression.
    pub fn split(text: &str) -> (&str, Option<Radix>) {
        let found = text.rsplit_once('/').and_then(|(before, letter)| {
            let mut letters = letter.trim().chars();
            let radix = Radix::of(letters.next()?)?;
            letters.next().is_none().then_some((before.trim(), radix))
        });
        match found {
            Some((before, radix)) => (before, Some(radix)),
            None => (text, None),
        }
    }

    fn style(self, dtype: Dtype) -> Result<Style, DebugError> {
        let bytes = dtype.size();
        let bits = 8 * bytes as u32;
        Ok(match self {
            Radix::Hex => Style::Hex(bits),
            Radix::Signed => Style::Signed(bits),
            Radix::Unsigned => Style::Unsigned,
            Radix::Binary => Style::Binary(bits),
            Radix::Float(float) => {
                let half = float == Dtype::F16 && bytes == 4;
                if bytes != float.size() && !half {
                    return Err(DebugError::Format {
                        wanted: float.size(),
                        has: bytes,
                        dtype: DtypeSuffix(float),
                    });
                }
                Style::of(float)
            }
        })
    }
}

/// The value of an expression, with what is needed to print it.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// The value.
    pub value: Value,
    /// EXEC of the wave; all lanes where there is no wave.
    pub exec: u64,
    /// The format that it has where none is asked for.
    pub default: Radix,
    /// Where its first byte is: guest address, or offset in LDS. `None` for what is no memory, and for
    /// scratch.
    pub place: Option<(Space, u64)>,
    /// Elements of a buffer behind those of the value, which are left out.
    pub more: u64,
}

impl Evaluated {
    /// Does it hold: is it another number than 0, in any active lane?
    pub fn is_true(&self) -> bool {
        match &self.value {
            Value::One(scalar) => scalar.is_true(),
            Value::Lanes(lanes) => active(self.exec).any(|lane| lanes[lane].is_true()),
            Value::Many(all) => all.iter().any(|scalar| scalar.is_true()),
        }
    }

    /// The value as text: that of active lanes in runs, as a trace prints them (`0-63: 0x0 +4` grows
    /// by 4 from lane to lane).
    pub fn show(&self, radix: Option<Radix>) -> Result<String, DebugError> {
        let radix = radix.unwrap_or(self.default);
        let one = |scalar: &Scalar| {
            let style = radix.style(scalar.dtype)?;
            Ok::<_, DebugError>(style.shown(scalar.bits))
        };
        match &self.value {
            Value::One(scalar) => one(scalar),
            Value::Many(all) => {
                let mut all: Vec<_> = all.iter().map(one).collect::<Result<_, _>>()?;
                if self.more != 0 {
                    all.push(format!("and {} more", self.more));
                }
                Ok(format!("{{{}}}", all.join(", ")))
            }
            Value::Lanes(lanes) => {
                let dtype = lanes.first().map_or(Dtype::U32, |scalar| scalar.dtype);
                let style = radix.style(dtype)?;
                let values = active(self.exec).map(|lane| (lane as u32, lanes[lane].bits));
                let values: Vec<_> = values.collect();
                Ok(match values.is_empty() {
                    true => "no lane is active".to_owned(),
                    false => Series(style, &values).to_string(),
                })
            }
        }
    }
}

/// The lanes of a mask.
pub(super) fn active(exec: u64) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| exec >> lane & 1 == 1)
}

/// Prints lanes of a mask as ranges: `0-15, 32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes(pub u64);

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut lane = 0;
        if self.0 == 0 {
            return f.write_str("none");
        }
        while lane < LANES {
            let run = (lane..LANES).take_while(|at| self.0 >> at & 1 == 1).count();
            match run {
                0 => {
                    lane += 1;
                    continue;
                }
                1 => write!(f, "{separator}{lane}")?,
                _ => write!(f, "{separator}{lane}-{}", lane + run - 1)?,
            }
            separator = ", ";
            lane += run;
        }
        Ok(())
    }
}
