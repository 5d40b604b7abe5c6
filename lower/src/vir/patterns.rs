//! Pattern matching on the definitions of values, for the builder's users and the back ends.

use super::{Func, Op, Value, types};

/// The sources of the operation that defines a value, if it is this one: of one source, which is
/// given twice, or of two.
pub(crate) fn operands(f: &Func, v: Value, of: Op) -> Option<[Value; 2]> {
    let (op, args) = f.made_by(v)?;
    if op != of {
        return None;
    }
    let args = match *args {
        [a] => [a, a],
        [a, b] => [a, b],
        _ => return None,
    };
    Some(args.map(|v| f.resolve(v)))
}

/// The 64-bit value of which these are the halves, if any.
pub(crate) fn halves_of(f: &Func, low: Value, high: Value) -> Option<Value> {
    let word_of = |v: Value| operands(f, v, Op::Ireduce);
    let [[whole, _], [shifted, _]] = [word_of(low)?, word_of(high)?];
    let [from, by] = operands(f, shifted, Op::Ushr)?;
    let words = f.ty(low) == types::I32 && f.ty(high) == types::I32;
    (words && from == whole && is_constant(f, by, 32)).then_some(whole)
}

/// Is a value this integer?
pub(crate) fn is_constant(f: &Func, v: Value, n: i64) -> bool {
    f.iconst(v) == Some(n)
}

/// The bytes of a vector constant.
pub(crate) fn vector_constant(f: &Func, v: Value) -> Option<&[u8]> {
    match f.made_by(v)? {
        (Op::Vconst(constant), _) => Some(f.bytes(constant)),
        _ => None,
    }
}

/// The lane of `N` bytes that a vector constant repeats.
pub(crate) fn repeated<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let first = bytes.first_chunk::<N>()?;
    let mut lanes = bytes.chunks_exact(N);
    lanes.all(|lane| lane == first).then_some(*first)
}

/// Is a vector constant all ones, or all zeros? `None` if neither.
pub(crate) fn all_or_nothing(bytes: &[u8]) -> Option<bool> {
    match repeated(bytes)? {
        [0] => Some(false),
        [0xff] => Some(true),
        _ => None,
    }
}

/// A vector without casts.
pub(crate) fn uncast(f: &Func, v: Value) -> Value {
    let mut v = f.resolve(v);
    while let Some((Op::Bitcast | Op::MaskToVector, &[of])) = f.made_by(v)
        && f.ty(of).is_vector()
    {
        v = f.resolve(of);
    }
    v
}
