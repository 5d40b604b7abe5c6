//! Types of vector IR values.

use std::fmt;

/// Type of a lane. `M32` and `M64` are truth values of lanes of 32 and 64 bits: their
/// representation depends on the host, bits of a mask register or lanes of all ones or zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Lane {
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
    M32,
    M64,
}

impl Lane {
    const ALL: [Lane; 8] = [
        Lane::I8,
        Lane::I16,
        Lane::I32,
        Lane::I64,
        Lane::F32,
        Lane::F64,
        Lane::M32,
        Lane::M64,
    ];

    const fn bits(self) -> u32 {
        match self {
            Lane::I8 => 8,
            Lane::I16 => 16,
            Lane::I32 | Lane::F32 | Lane::M32 => 32,
            Lane::I64 | Lane::F64 | Lane::M64 => 64,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Lane::I8 => "i8",
            Lane::I16 => "i16",
            Lane::I32 => "i32",
            Lane::I64 => "i64",
            Lane::F32 => "f32",
            Lane::F64 => "f64",
            Lane::M32 => "m32",
            Lane::M64 => "m64",
        }
    }
}

/// A scalar, or a host vector of up to 512 bits. Truth values of scalars are `i8`: 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    lane: Lane,
    /// Logarithm of the number of lanes; 0 for scalars.
    log2: u8,
}

impl Type {
    /// A scalar.
    pub const fn scalar(lane: Lane) -> Type {
        Type { lane, log2: 0 }
    }

    /// A vector of `1 << log2` lanes.
    pub const fn vector(lane: Lane, log2: u8) -> Type {
        Type { lane, log2 }
    }

    /// The lanes' kind.
    pub const fn lane(self) -> Lane {
        self.lane
    }

    /// The type of one lane.
    pub const fn lane_type(self) -> Type {
        Type::scalar(self.lane)
    }

    /// Lanes; 1 for a scalar.
    pub const fn lane_count(self) -> u32 {
        1 << self.log2
    }

    /// Bits of a lane.
    pub const fn lane_bits(self) -> u32 {
        self.lane.bits()
    }

    /// Bits of all lanes.
    pub const fn bits(self) -> u32 {
        self.lane_bits() << self.log2
    }

    /// Bytes of all lanes.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// Is it a vector?
    pub const fn is_vector(self) -> bool {
        self.log2 > 0
    }

    /// Is it an integer scalar?
    pub const fn is_int(self) -> bool {
        !self.is_vector() && !self.has_float_lanes()
    }

    /// Is it a float scalar?
    pub const fn is_float(self) -> bool {
        !self.is_vector() && self.has_float_lanes()
    }

    /// Are its lanes floats?
    pub const fn has_float_lanes(self) -> bool {
        matches!(self.lane, Lane::F32 | Lane::F64)
    }

    /// What a comparison of such values gives: a truth value, or a mask of lanes of 32 or 64 bits.
    pub const fn truth(self) -> Type {
        let lane = match self.lane {
            _ if !self.is_vector() => Lane::I8,
            Lane::F32 | Lane::I32 => Lane::M32,
            Lane::F64 | Lane::I64 => Lane::M64,
            lane => lane,
        };
        Type { lane, ..self }
    }

    /// Is it a mask: truth values of lanes?
    pub const fn is_mask(self) -> bool {
        matches!(self.lane, Lane::M32 | Lane::M64)
    }

    /// For a mask the vector with lanes of all ones or zeros; otherwise the type itself.
    pub const fn unmasked(self) -> Type {
        let lane = match self.lane {
            Lane::M32 => Lane::I32,
            Lane::M64 => Lane::I64,
            lane => lane,
        };
        Type { lane, ..self }
    }

    /// As many bits in lanes of twice the size; `None` for the largest and for floats.
    pub const fn widened(self) -> Option<Type> {
        let lane = match self.lane {
            Lane::I8 => Lane::I16,
            Lane::I16 => Lane::I32,
            Lane::I32 => Lane::I64,
            _ => return None,
        };
        Some(Type {
            lane,
            log2: self.log2 - 1,
        })
    }

    /// The type of this name.
    pub fn named(name: &str) -> Option<Type> {
        let (lane, rest) = Lane::ALL
            .iter()
            .find_map(|lane| Some((*lane, name.strip_prefix(lane.name())?)))?;
        if rest.is_empty() {
            return Some(Type::scalar(lane));
        }
        // Exact spelling, without signs or leading zeros.
        let types = (1..=6).map(|log2| Type::vector(lane, log2));
        let mut types = types.filter(|ty| ty.bits() <= 512);
        types.find(|ty| ty.to_string() == name)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.lane.name())?;
        match self.is_vector() {
            true => write!(f, "x{}", self.lane_count()),
            false => Ok(()),
        }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

macro_rules! types {
    ($($name:ident = $lane:ident $log2:literal;)*) => {
        $(#[allow(missing_docs, reason = "the names say it")]
        pub const $name: Type = Type::vector(Lane::$lane, $log2);)*
    };
}
types! {
    I8 = I8 0;
    I16 = I16 0;
    I32 = I32 0;
    I64 = I64 0;
    F32 = F32 0;
    F64 = F64 0;
    I8X16 = I8 4;
    I8X32 = I8 5;
    I8X64 = I8 6;
    I16X8 = I16 3;
    I16X16 = I16 4;
    I16X32 = I16 5;
    I32X4 = I32 2;
    I32X8 = I32 3;
    I32X16 = I32 4;
    I64X2 = I64 1;
    I64X4 = I64 2;
    I64X8 = I64 3;
    F32X4 = F32 2;
    F32X8 = F32 3;
    F32X16 = F32 4;
    F64X2 = F64 1;
    F64X4 = F64 2;
    F64X8 = F64 3;
    M32X4 = M32 2;
    M32X8 = M32 3;
    M32X16 = M32 4;
}
