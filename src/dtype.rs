//! Types of numbers, and their values as bytes.

use std::fmt;

use half::f16;

/// Types of numbers: elements of arrays, and arguments by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it: kind and width in bits")]
pub enum Dtype {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl Dtype {
    /// All of them.
    pub const ALL: [Dtype; 11] = [
        Dtype::I8,
        Dtype::U8,
        Dtype::I16,
        Dtype::U16,
        Dtype::I32,
        Dtype::U32,
        Dtype::I64,
        Dtype::U64,
        Dtype::F16,
        Dtype::F32,
        Dtype::F64,
    ];

    /// The name, such as `f32`.
    pub const fn name(self) -> &'static str {
        match self {
            Dtype::I8 => "i8",
            Dtype::U8 => "u8",
            Dtype::I16 => "i16",
            Dtype::U16 => "u16",
            Dtype::I32 => "i32",
            Dtype::U32 => "u32",
            Dtype::I64 => "i64",
            Dtype::U64 => "u64",
            Dtype::F16 => "f16",
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
        }
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// The scalar type that OpenCL C, and so the metadata of its kernels, calls by this name: `uint`.
    pub fn of_opencl(name: &str) -> Option<Dtype> {
        let dtype = match name {
            "char" | "bool" => Dtype::I8,
            "uchar" => Dtype::U8,
            "short" => Dtype::I16,
            "ushort" => Dtype::U16,
            "int" => Dtype::I32,
            "uint" => Dtype::U32,
            "long" => Dtype::I64,
            "ulong" | "size_t" => Dtype::U64,
            "half" => Dtype::F16,
            "float" => Dtype::F32,
            "double" => Dtype::F64,
            _ => return None,
        };
        Some(dtype)
    }

    /// Bytes of an element.
    pub const fn size(self) -> usize {
        match self {
            Dtype::I8 | Dtype::U8 => 1,
            Dtype::I16 | Dtype::U16 | Dtype::F16 => 2,
            Dtype::I32 | Dtype::U32 | Dtype::F32 => 4,
            Dtype::I64 | Dtype::U64 | Dtype::F64 => 8,
        }
    }

    /// Is it a floating-point type?
    pub const fn is_float(self) -> bool {
        matches!(self, Dtype::F16 | Dtype::F32 | Dtype::F64)
    }

    /// Is it a signed integer type?
    pub const fn is_signed(self) -> bool {
        matches!(self, Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64)
    }

    /// Smallest and largest value of an integer type.
    pub const fn limits(self) -> (i128, i128) {
        let bits = 8 * self.size() as u32;
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }

    /// Little-endian bytes of an integer, cut to the type's width.
    pub fn encode_integer(self, value: i128, out: &mut Vec<u8>) {
        out.extend_from_slice(&value.to_le_bytes()[..self.size()]);
    }

    /// Little-endian bytes of a float, rounded to the type.
    pub fn encode_float(self, value: f64, out: &mut Vec<u8>) {
        match self {
            Dtype::F16 => out.extend_from_slice(&f16::from_f64(value).to_le_bytes()),
            Dtype::F32 => out.extend_from_slice(&(value as f32).to_le_bytes()),
            _ => out.extend_from_slice(&value.to_le_bytes()),
        }
    }

    /// The element that starts at `bytes[0]`.
    pub fn decode(self, bytes: &[u8]) -> Value {
        let size = self.size();
        let mut word = [0; 8];
        word[..size].copy_from_slice(&bytes[..size]);
        let bits = u64::from_le_bytes(word);
        let unused = 64 - 8 * size as u32;
        match self {
            Dtype::F16 => Value::F16(f16::from_bits(bits as u16)),
            Dtype::F32 => Value::F32(f32::from_bits(bits as u32)),
            Dtype::F64 => Value::F64(f64::from_bits(bits)),
            _ if self.is_signed() => {
                Value::Integer(i128::from(((bits << unused) as i64) >> unused))
            }
            _ => Value::Integer(i128::from(bits)),
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One element.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Value {
    Integer(i128),
    F16(f16),
    F32(f32),
    F64(f64),
}

impl Value {
    /// The value as a double; exact but for large integers.
    pub fn to_f64(self) -> f64 {
        match self {
            Value::Integer(value) => value as f64,
            Value::F16(value) => value.to_f64(),
            Value::F32(value) => f64::from(value),
            Value::F64(value) => value,
        }
    }

    /// Number of values of the type up to this one: neighbours differ by 1, both zeros are 0.
    /// `None` for a NaN.
    pub fn rank(self) -> Option<i128> {
        let signed = |magnitude: u64, negative: bool| {
            let magnitude = i128::from(magnitude);
            if negative { -magnitude } else { magnitude }
        };
        match self {
            Value::Integer(value) => Some(value),
            _ if self.to_f64().is_nan() => None,
            Value::F16(value) => Some(signed(
                u64::from(value.to_bits() & 0x7fff),
                value.is_sign_negative(),
            )),
            Value::F32(value) => Some(signed(
                u64::from(value.to_bits() & (u32::MAX >> 1)),
                value.is_sign_negative(),
            )),
            Value::F64(value) => Some(signed(
                value.to_bits() & (u64::MAX >> 1),
                value.is_sign_negative(),
            )),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(value) => write!(f, "{value}"),
            Value::F16(value) => write!(f, "{:?}", value.to_f32()),
            Value::F32(value) => write!(f, "{value:?}"),
            Value::F64(value) => write!(f, "{value:?}"),
        }
    }
}
