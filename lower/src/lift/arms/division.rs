//! Division: its three instructions, and recognition of the compilers' sequences of them.

use crate::ir::{Float, Flush, Op, Val};
use crate::lift::guest::Guest;
use crate::lift::value::{F, M};

/// Thresholds on exponent fields: the field's shift, and bounds within which no special case
/// applies.
struct Bounds {
    place: u32,
    /// Denominators below 2 to this have normal reciprocals.
    denominators: u64,
    /// Numerators above are not scaled.
    small: u64,
    /// The least exponent difference, numerator less denominator, that gives normal quotients.
    least: i32,
    /// The first exponent difference that gives overflowing quotients.
    huge: i32,
    /// The least exponent difference that gives nonzero quotients.
    nonzero: i32,
    /// The exponent field of infinities and NaNs.
    top: u64,
}

fn bounds(float: Float) -> Bounds {
    match float {
        Float::F32 => Bounds {
            place: 23,
            denominators: 253,
            small: 23,
            least: -125,
            huge: 96,
            nonzero: -150,
            top: 255,
        },
        Float::F64 => Bounds {
            place: 20,
            denominators: 2045,
            small: 53,
            least: -1021,
            huge: 768,
            nonzero: -1075,
            top: 2047,
        },
    }
}

/// `v_div_scale`: the value and the bit.
pub(super) fn scale<'b>(s0: F<'b>, denominator: F<'b>, numerator: F<'b>) -> (F<'b>, M<'b>) {
    let to = bounds(s0.env.ty);
    let (d, n) = (denominator.exponent_field(), numerator.exponent_field());
    let one = d.k(1 << to.place);
    let normal = (d - one).lt_u(d.k((to.denominators - 1) << to.place));
    let large = n.k(to.small << to.place).lt_u(n);
    let distance = n - d - n.k(u64::from((to.least << to.place) as u32));
    let near = distance.lt_u(d.k(u64::from(((to.huge - to.least) as u32) << to.place)));
    let plain = normal & large & near;
    let value = s0.div_scale(denominator, numerator, plain);
    (value, numerator.div_scaled(denominator, plain))
}

/// `v_div_fixup`.
pub(super) fn fixup<'b>(
    g: &mut Guest<'b>,
    quotient: F<'b>,
    denominator: F<'b>,
    numerator: F<'b>,
) -> F<'b> {
    if let Some(flush) = correct_quotient(g, quotient, denominator, numerator) {
        let env = numerator.env.with_flush(flush);
        return numerator.in_env(env).quotient(denominator);
    }
    let to = bounds(quotient.env.ty);
    let (d, n) = (denominator.exponent_field(), numerator.exponent_field());
    let one = d.k(1 << to.place);
    let range = d.k((to.top - 1) << to.place);
    let normal = (d - one).lt_u(range) & (n - one).lt_u(range);
    let least = n.k(u64::from((to.nonzero << to.place) as u32));
    let plain = normal & least.le_s(n - d);
    quotient.div_fixup(denominator, numerator, plain)
}

/// If the source of a `v_div_fixup` is a compiler's division sequence, so that [`Op::Quotient`] is
/// its result: how the result is flushed.
///
/// With d and n the scaled sources, y0 = 1/d and all steps fused, to nearest even with denormals
/// kept, the last one by `v_div_fmas`:
///
/// f32: y = y0 + y0 * (1 - d * y0), q0 = n * y, q1 = q0 + y * (n - d * q0), q = q1 + y * (n - d *
/// q1)
///
/// f64: y1 = y0 + y0 * (1 - d * y0), y = y1 + y1 * (1 - d * y1), q0 = n * y, q = q0 + y * (n - d *
/// q0)
///
/// `v_div_scale` ensures that only the result can overflow or be denormal. y0 is correctly rounded,
/// and so is y: tested for all f32; for f64 it is Markstein's theorem, except for a denominator of
/// all ones, where 1 - d * y0 and the sum have closed forms. The last addend, q1 or q0, is one of
/// the two neighbours of n/d where n/d is near the midpoint between them, so n - d * q1 is exact
/// and the error of the sum is below the distance of n/d from the midpoint: q is correctly rounded.
/// Denormal results have fewer bits. For f32 this is harmless, since q1 equals n/d if n/d is
/// representable. For f64 q0 need not, and a tie may be lost: the steps themselves compute these
/// results.
fn correct_quotient<'b>(
    g: &mut Guest<'b>,
    quotient: F<'b>,
    denominator: F<'b>,
    numerator: F<'b>,
) -> Option<Flush> {
    let float = quotient.env.ty;
    let exec = g.exec_mask();
    let m = Match { g, exec, float };
    let Op::DivFmas(_, flush) = m.op(quotient.v) else {
        return None;
    };
    if float == Float::F64 && flush != KEEP {
        return None;
    }
    let [rest, y, last, bit] = m.args(quotient.v)?;
    let is_scaled = |v: Val, s0: Val| {
        let right = m
            .args(v)
            .is_some_and(|of: [Val; 3]| of == [s0, denominator.v, numerator.v]);
        m.op(v) == Op::DivScale(float) && right
    };
    // The bit is that of the same sources.
    let bit = m.without_exec(bit);
    let [of_d, of_n] = m.args(bit)?;
    if m.op(bit) != Op::DivScaled(float) || [of_d, of_n] != [denominator.v, numerator.v] {
        return None;
    }
    let (minus_d, n) = m.fused(rest, last)?;
    let d = m.negated(minus_d)?;
    if !is_scaled(d, denominator.v) || !is_scaled(n, numerator.v) {
        return None;
    }
    let q0 = match float {
        Float::F32 => {
            // q1 = q0 + y * (n - d * q0)
            let (before, q0) = m.fused(last, y)?;
            (m.fused(before, q0)? == (minus_d, n)).then_some(q0)?
        }
        Float::F64 => last,
    };
    let [a, b] = m.args(q0)?;
    if m.op(q0) != Op::FMul(float, KEEP) || [a, b] != [n, y] && [a, b] != [y, n] {
        return None;
    }
    // y = y0 + y0 * (1 - d * y0), and that twice.
    let refined = |y: Val| {
        let [_, _, y0] = m.args(y)?;
        let (error, _) = m.fused(y, y0)?;
        let (by, one) = m.fused(error, y0)?;
        (by == minus_d && m.is_one(one)).then_some(y0)
    };
    let y0 = match float {
        Float::F32 => refined(y)?,
        Float::F64 => refined(refined(y)?)?,
    };
    // y0 = 1 / d: neither the scaled denominator nor its reciprocal is denormal.
    let [one, of] = m.args(y0)?;
    let of = if let Op::FFlush(_) = m.op(of) {
        m.args::<1>(of)?[0]
    } else {
        of
    };
    let reciprocal = matches!(m.op(y0), Op::FDiv(..)) && m.is_one(one) && of == d;
    reciprocal.then_some(flush)
}

const KEEP: Flush = Flush {
    src: false,
    dst: false,
};

/// Matches values on active lanes.
struct Match<'a, 'b> {
    g: &'a Guest<'b>,
    exec: Val,
    float: Float,
}

impl Match<'_, '_> {
    fn op(&self, v: Val) -> Op {
        self.g.b.parts(v).0
    }

    fn args<const N: usize>(&self, v: Val) -> Option<[Val; N]> {
        self.g.b.parts(v).1.get(..N)?.try_into().ok()
    }

    /// A mask without that of the active lanes.
    fn without_exec(&self, mask: Val) -> Val {
        match self.g.b.parts(mask) {
            (Op::And, args) if args[0] == self.exec => args[1],
            (Op::And, args) if args[1] == self.exec => args[0],
            _ => mask,
        }
    }

    /// The other factor and the addend of a fused operation with `factor`, which is exact but for
    /// its one rounding.
    fn fused(&self, v: Val, factor: Val) -> Option<(Val, Val)> {
        if self.op(v) != Op::Fma(self.float, KEEP) {
            return None;
        }
        let [a, b, c] = self.args(v)?;
        match factor {
            f if f == b => Some((a, c)),
            f if f == a => Some((b, c)),
            _ => None,
        }
    }

    /// The operand of a negation.
    fn negated(&self, v: Val) -> Option<Val> {
        let [x, sign] = self.args(v)?;
        let bit = match self.float {
            Float::F32 => 1 << 31,
            Float::F64 => 1 << 63,
        };
        let is_sign = self.g.b.as_const(sign) == Some(bit);
        (self.op(v) == Op::Xor && is_sign).then_some(x)
    }

    fn is_one(&self, v: Val) -> bool {
        let one = match self.float {
            Float::F32 => 1f32.to_bits().into(),
            Float::F64 => 1f64.to_bits(),
        };
        self.g.b.as_const(v) == Some(one)
    }
}
