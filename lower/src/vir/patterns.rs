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

/// Is the high dword of each quad of a vector 0, as far as its definition tells?
pub(crate) fn has_zero_high_dwords(f: &Func, v: Value) -> bool {
    let v = uncast(f, v);
    let zero = |v: Value| {
        let bytes = vector_constant(f, uncast(f, v));
        bytes.and_then(all_or_nothing) == Some(false)
    };
    let clear = |v: Value| {
        let bytes = vector_constant(f, uncast(f, v));
        bytes.is_some_and(|bytes| bytes.chunks_exact(8).all(|quad| quad[4..] == [0; 4]))
    };
    match f.made_by(v) {
        Some((Op::Vconst(_), _)) => clear(v),
        Some((Op::Band, args)) => args.iter().any(|&a| clear(a)),
        Some((Op::Ushr, &[of, by])) => {
            let quads = f.ty(of).lane_bits() == 64;
            quads && f.iconst(by).is_some_and(|by| (32..64).contains(&by))
        }
        Some((Op::Splat, &[quad])) => {
            let quad = f.resolve(quad);
            let word = operands(f, quad, Op::Uextend).map(|[word, _]| f.ty(word));
            let small = f.iconst(quad).is_some_and(|n| n >> 32 == 0);
            f.ty(quad) == types::I64 && (small || word == Some(types::I32))
        }
        Some((Op::Shuffle(pattern), &[_, second])) => {
            let mut quads = f.bytes(pattern).chunks_exact(8);
            zero(second) && quads.all(|quad| quad[4..].iter().all(|&byte| byte >= 16))
        }
        _ => false,
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
