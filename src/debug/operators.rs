//! Operators of expressions on values.

use super::error::DebugError;
use super::expr::{Binary, Unary};
use super::value::{Scalar, Value};
use crate::Dtype;
use crate::dtype::Value as Number;

pub(super) fn truth(holds: bool) -> Scalar {
    Scalar::new(Dtype::U32, holds.into())
}

impl Value {
    pub(super) fn map(
        self,
        f: impl Fn(Scalar) -> Result<Scalar, DebugError>,
    ) -> Result<Value, DebugError> {
        Ok(match self {
            Value::One(scalar) => Value::One(f(scalar)?),
            Value::Lanes(all) => Value::Lanes(all.into_iter().map(f).collect::<Result<_, _>>()?),
            Value::Many(all) => Value::Many(all.into_iter().map(f).collect::<Result<_, _>>()?),
        })
    }
}

pub(super) fn unary(operator: Unary, of: Scalar) -> Result<Scalar, DebugError> {
    Ok(match (operator, of.number()) {
        (Unary::Not, _) => truth(!of.is_true()),
        (Unary::Negate, Number::Integer(value)) => Scalar::integer(Dtype::I64, -value),
        (Unary::Negate, float) => Scalar::float(of.dtype, -float.to_f64()),
        (Unary::Complement, Number::Integer(value)) => Scalar::integer(of.dtype, !value),
        (Unary::Complement, _) => {
            return Err(DebugError::Operation(
                "`~` is an operation on integers".to_owned(),
            ));
        }
    })
}

pub(super) fn binary_values(
    operator: Binary,
    left: Value,
    right: Value,
) -> Result<Value, DebugError> {
    let (left, right) = match (left, right) {
        (Value::Lanes(left), Value::Lanes(right)) => {
            let both = left.into_iter().zip(right);
            let all = both.map(|(a, b)| binary(operator, a, b));
            return Ok(Value::Lanes(all.collect::<Result<_, _>>()?));
        }
        (Value::Lanes(left), Value::One(right)) => {
            let all = left.into_iter().map(|left| binary(operator, left, right));
            return Ok(Value::Lanes(all.collect::<Result<_, _>>()?));
        }
        (Value::One(left), Value::Lanes(right)) => {
            let all = right.into_iter().map(|right| binary(operator, left, right));
            return Ok(Value::Lanes(all.collect::<Result<_, _>>()?));
        }
        (Value::One(left), Value::One(right)) => (left, right),
        (Value::Many(_), _) | (_, Value::Many(_)) => {
            return Err(DebugError::Operation(
                "operators are for single elements, not for ranges".to_owned(),
            ));
        }
    };
    Ok(Value::One(binary(operator, left, right)?))
}

fn binary(operator: Binary, a: Scalar, b: Scalar) -> Result<Scalar, DebugError> {
    match operator {
        Binary::And => return Ok(truth(a.is_true() && b.is_true())),
        Binary::Or => return Ok(truth(a.is_true() || b.is_true())),
        _ => {}
    }
    if let (Number::Integer(x), Number::Integer(y)) = (a.number(), b.number()) {
        let signed = a.dtype.is_signed() || b.dtype.is_signed() || operator == Binary::Subtract;
        return integers(operator, x, y, if signed { Dtype::I64 } else { Dtype::U64 });
    }
    // Of two floats the narrower one decides: a literal has 64 bits.
    let float = |it: Scalar| it.dtype.is_float().then_some(it.dtype);
    let dtype = match (float(a), float(b)) {
        (Some(a), Some(b)) if a.size() <= b.size() => a,
        (_, Some(b)) => b,
        (Some(a), None) => a,
        (None, None) => Dtype::F64,
    };
    let rounded = |it: Scalar| Scalar::float(dtype, it.number().to_f64()).number().to_f64();
    let (x, y) = (rounded(a), rounded(b));
    let number = |value: f64| Ok(Scalar::float(dtype, value));
    match operator {
        Binary::Equal => Ok(truth(x == y)),
        Binary::NotEqual => Ok(truth(x != y)),
        Binary::Less => Ok(truth(x < y)),
        Binary::LessEqual => Ok(truth(x <= y)),
        Binary::Greater => Ok(truth(x > y)),
        Binary::GreaterEqual => Ok(truth(x >= y)),
        Binary::Add => number(x + y),
        Binary::Subtract => number(x - y),
        Binary::Multiply => number(x * y),
        Binary::Divide => number(x / y),
        Binary::Remainder => number(x % y),
        Binary::And | Binary::Or => Ok(truth(false)),
        Binary::BitOr
        | Binary::BitXor
        | Binary::BitAnd
        | Binary::ShiftLeft
        | Binary::ShiftRight => Err(DebugError::Operation(
            "operations on bits are for integers; leave .f32 out".to_owned(),
        )),
    }
}

fn integers(operator: Binary, x: i128, y: i128, dtype: Dtype) -> Result<Scalar, DebugError> {
    let zero = || DebugError::Operation("division by 0".to_owned());
    let shift = u32::try_from(y).unwrap_or(u32::MAX).min(127);
    let value = match operator {
        Binary::Equal => return Ok(truth(x == y)),
        Binary::NotEqual => return Ok(truth(x != y)),
        Binary::Less => return Ok(truth(x < y)),
        Binary::LessEqual => return Ok(truth(x <= y)),
        Binary::Greater => return Ok(truth(x > y)),
        Binary::GreaterEqual => return Ok(truth(x >= y)),
        Binary::Add => x.wrapping_add(y),
        Binary::Subtract => x.wrapping_sub(y),
        Binary::Multiply => x.wrapping_mul(y),
        Binary::Divide => x.checked_div(y).ok_or_else(zero)?,
        Binary::Remainder => x.checked_rem(y).ok_or_else(zero)?,
        Binary::BitOr => x | y,
        Binary::BitXor => x ^ y,
        Binary::BitAnd => x & y,
        Binary::ShiftLeft => x.checked_shl(shift).filter(|_| shift < 64).unwrap_or(0),
        Binary::ShiftRight => x >> shift,
        Binary::And | Binary::Or => return Ok(truth(false)),
    };
    Ok(Scalar::integer(dtype, value))
}
