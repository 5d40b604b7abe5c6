//! Comparison of a buffer with its expected contents.

use super::{Array, Dtype, Value};

/// How far a value may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Every bit is the same.
    Exact,
    /// `|a - b| <= abs + rel * |b|`, where `b` is the expected value. A NaN equals a NaN, an infinity
    /// only itself.
    Close {
        /// Absolute part.
        abs: f64,
        /// Relative part.
        rel: f64,
    },
    /// At most that many values of the type lie between. A NaN equals a NaN; the zeros are equal.
    Ulp(u64),
}

/// The first element that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstMismatch {
    /// Number of the element, counted over all dimensions.
    pub index: u64,
    /// Its index in each dimension.
    pub position: Vec<u64>,
    /// The buffer's element.
    pub got: String,
    /// Its bits in hexadecimal.
    pub got_bits: String,
    /// The expected element.
    pub expected: String,
    /// Its bits in hexadecimal.
    pub expected_bits: String,
}

/// A greatest error and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Greatest {
    /// The error.
    pub error: f64,
    /// Number of the element, counted over all dimensions; the first of several with the same error.
    pub index: u64,
    /// Its index in each dimension.
    pub position: Vec<u64>,
}

/// The greatest errors of elements that are numbers on both sides; `None` where no such element differs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// `|a - b|`.
    pub absolute: Option<Greatest>,
    /// `|a - b| / |b|`, where `b` is the expected value and not 0.
    pub relative: Option<Greatest>,
    /// Values of a floating-point type between the two; `None` for integers.
    pub ulp: Option<Greatest>,
}

/// The result of comparing a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Elements compared.
    pub elements: u64,
    /// Elements that differ.
    pub mismatches: u64,
    /// The first of them.
    pub first: Option<FirstMismatch>,
    /// The greatest errors, those that the tolerance accepts included.
    pub errors: Errors,
    /// Why the contents cannot be compared at all.
    pub incomparable: Option<String>,
}

impl Comparison {
    /// Does the buffer match?
    pub fn ok(&self) -> bool {
        self.mismatches == 0 && self.incomparable.is_none()
    }

    /// The mismatch as a sentence; empty if there is none.
    pub fn message(&self) -> String {
        if let Some(reason) = &self.incomparable {
            return reason.clone();
        }
        let Some(first) = &self.first else {
            return String::new();
        };
        let mut text = format!(
            "{} of {} elements differ; first at {:?}: got {} (0x{}), expected {} (0x{})",
            self.mismatches,
            self.elements,
            first.position,
            first.got,
            first.got_bits,
            first.expected,
            first.expected_bits
        );
        if first.got == "NaN" && first.expected == "NaN" {
            text.push_str("; both are NaN, `ulp = 0` would accept it");
        }
        text
    }
}

impl Errors {
    /// Considers an element that differs.
    fn add(&mut self, a: Value, b: Value, index: u64, shape: &[u64]) {
        let (x, y) = (a.to_f64(), b.to_f64());
        if x.is_nan() || y.is_nan() {
            return;
        }
        let difference = match (a, b) {
            (Value::Integer(a), Value::Integer(b)) => a.abs_diff(b) as f64,
            // Equal infinities, or zeros of different sign.
            _ if x == y => return,
            _ => (x - y).abs(),
        };
        let consider = |slot: &mut Option<Greatest>, error: f64| {
            if !error.is_nan() && slot.as_ref().is_none_or(|greatest| error > greatest.error) {
                *slot = Some(Greatest {
                    error,
                    index,
                    position: position(index, shape),
                });
            }
        };
        consider(&mut self.absolute, difference);
        if y != 0.0 {
            consider(&mut self.relative, difference / y.abs());
        }
        if let (false, Some(a), Some(b)) = (matches!(a, Value::Integer(_)), a.rank(), b.rank()) {
            consider(&mut self.ulp, a.abs_diff(b) as f64);
        }
    }

    /// The errors as a part of a sentence; empty if there are none.
    pub fn message(&self) -> String {
        let parts = [
            ("absolute ", &self.absolute, ""),
            ("relative ", &self.relative, ""),
            ("", &self.ulp, " ULP"),
        ];
        let parts: Vec<_> = parts
            .into_iter()
            .filter_map(|(before, greatest, behind)| {
                let Greatest {
                    error, position, ..
                } = greatest.as_ref()?;
                let error = match error {
                    error if error.fract() == 0.0 && error.abs() < 1e15 => format!("{error}"),
                    error => format!("{error:.3e}"),
                };
                Some(format!("{before}{error}{behind} at {position:?}"))
            })
            .collect();
        match parts.is_empty() {
            true => String::new(),
            false => format!("greatest error: {}", parts.join(", ")),
        }
    }
}

impl Tolerance {
    /// Compares a buffer with its expected contents. `shaped`: the buffer has a shape of its own.
    pub fn compare(self, got: &Array, expected: &Array, shaped: bool) -> Comparison {
        let mut result = Comparison {
            elements: 0,
            mismatches: 0,
            first: None,
            errors: Errors::default(),
            incomparable: None,
        };
        let kinds_agree = match (got.dtype, expected.dtype) {
            (Some(a), Some(b)) => a == b && (!shaped || got.shape == expected.shape),
            _ => true,
        };
        if !kinds_agree || got.bytes.len() != expected.bytes.len() {
            result.incomparable = Some(format!(
                "the buffer is {}, the expected array {}",
                got.kind(),
                expected.kind()
            ));
            result.mismatches = 1;
            return result;
        }
        // Raw bytes on one side are interpreted as the other side's type.
        let dtype = expected.dtype.or(got.dtype).unwrap_or(Dtype::U8);
        let shape = if expected.dtype.is_some() {
            &expected.shape
        } else {
            &got.shape
        };
        let size = dtype.size();
        result.elements = (expected.bytes.len() / size) as u64;
        if got.bytes == expected.bytes {
            return result;
        }
        let pairs = got
            .bytes
            .chunks_exact(size)
            .zip(expected.bytes.chunks_exact(size));
        for (index, (a, b)) in pairs.enumerate() {
            if a == b {
                continue;
            }
            let (left, right) = (dtype.decode(a), dtype.decode(b));
            result.errors.add(left, right, index as u64, shape);
            if self.accepts(left, right) {
                continue;
            }
            result.mismatches += 1;
            if result.first.is_none() {
                result.first = Some(FirstMismatch {
                    index: index as u64,
                    position: position(index as u64, shape),
                    got: dtype.decode(a).to_string(),
                    got_bits: bits(a),
                    expected: dtype.decode(b).to_string(),
                    expected_bits: bits(b),
                });
            }
        }
        result
    }

    /// Is `a`, whose bits differ, close enough to `b`?
    fn accepts(self, a: Value, b: Value) -> bool {
        match self {
            Tolerance::Exact => false,
            Tolerance::Close { abs, rel } => {
                if let (Value::Integer(a), Value::Integer(b)) = (a, b) {
                    return a.abs_diff(b) as f64 <= abs + rel * (b as f64).abs();
                }
                let (a, b) = (a.to_f64(), b.to_f64());
                if a.is_nan() || b.is_nan() {
                    return a.is_nan() && b.is_nan();
                }
                a == b || (b.is_finite() && (a - b).abs() <= abs + rel * b.abs())
            }
            Tolerance::Ulp(most) => match (a.rank(), b.rank()) {
                (Some(a), Some(b)) => a.abs_diff(b) <= u128::from(most),
                (a, b) => a.is_none() && b.is_none(),
            },
        }
    }
}

/// The index in each dimension of element `index`.
fn position(mut index: u64, shape: &[u64]) -> Vec<u64> {
    let mut out: Vec<u64> = shape
        .iter()
        .rev()
        .map(|&n| {
            let here = index % n.max(1);
            index /= n.max(1);
            here
        })
        .collect();
    out.reverse();
    out
}

/// Bits of a little-endian element as digits.
fn bits(bytes: &[u8]) -> String {
    bytes
        .iter()
        .rev()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
