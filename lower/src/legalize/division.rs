//! The division instructions `v_div_scale`, `v_div_fmas`, `v_div_fixup` as other operations, shared
//! by lanes and the wave. Rare cases are out of line: sources at the ends of the exponent range,
//! zeros, infinities, NaNs.

use super::evaluate::Shape;
use crate::ir::{Fcmp, Float, Flush, Icmp, Op, Width};

const KEEP: Flush = Flush {
    src: false,
    dst: false,
};

/// Parameters of f32 and f64.
struct Format {
    width: Width,
    sign: u64,
    infinity: u64,
    nan: u64,
    /// Exponent of 1.
    bias: u64,
    /// Bits below the exponent.
    fraction: u32,
    /// Sources are scaled by 2^step.
    step: u64,
    /// Exponent difference from which on the quotient overflows.
    far: i32,
    /// Exponent below which numerators are scaled.
    small: i32,
    /// Exponent difference below which quotients are zero.
    least: i32,
}

const fn format(float: Float) -> Format {
    match float {
        Float::F32 => Format {
            width: Width::W32,
            sign: 1 << 31,
            infinity: 0x7f80_0000,
            nan: 0x7fc0_0000,
            bias: 127,
            fraction: 23,
            step: 64,
            far: 96,
            small: 24,
            least: -150,
        },
        Float::F64 => Format {
            width: Width::W64,
            sign: 1 << 63,
            infinity: 0x7ff0_0000_0000_0000,
            nan: 0x7ff8_0000_0000_0000,
            bias: 1023,
            fraction: 52,
            step: 128,
            far: 768,
            small: 54,
            least: -1075,
        },
    }
}

impl Format {
    /// The bits of 2^exponent.
    fn power(&self, exponent: i64) -> u64 {
        ((self.bias as i64 + exponent) as u64) << self.fraction
    }
}

/// Classification of sources for scaling.
struct Scaling<V> {
    /// The source is multiplied by 2^step.
    up: V,
    /// It is multiplied by 2^-step.
    down: V,
    /// The quotient must be scaled back.
    flag: V,
    /// Numerator or denominator is zero.
    zero: V,
}

/// Emits the steps of a division in one format.
pub(super) struct Division<'a, O: Shape> {
    ops: &'a mut O,
    float: Float,
    f: Format,
}

impl<'a, O: Shape> Division<'a, O> {
    pub(super) fn new(ops: &'a mut O, float: Float) -> Division<'a, O> {
        let f = format(float);
        Division { ops, float, f }
    }

    // ---- words of the format

    fn op(&mut self, op: Op, args: &[&O::Value]) -> O::Value {
        self.ops.op(op, self.f.width, args)
    }

    fn k(&mut self, bits: u64) -> O::Value {
        self.ops.immediate(self.f.width, bits)
    }

    fn magnitude(&mut self, x: &O::Value) -> O::Value {
        let all = self.k(self.f.sign - 1);
        self.op(Op::And, &[x, &all])
    }

    fn mul(&mut self, x: &O::Value, bits: u64) -> O::Value {
        let factor = self.k(bits);
        self.op(Op::FMul(self.float, KEEP), &[x, &factor])
    }

    fn add(&mut self, x: &O::Value, y: &O::Value) -> O::Value {
        self.op(Op::FAdd(self.float, KEEP), &[x, y])
    }

    fn sub(&mut self, x: &O::Value, y: &O::Value) -> O::Value {
        self.op(Op::FSub(self.float, KEEP), &[x, y])
    }

    fn fma(&mut self, x: &O::Value, y: &O::Value, z: &O::Value) -> O::Value {
        self.op(Op::Fma(self.float, KEEP), &[x, y, z])
    }

    fn negative(&mut self, x: &O::Value) -> O::Value {
        let sign = self.k(self.f.sign);
        self.op(Op::Xor, &[x, &sign])
    }

    fn compare(&mut self, cond: Fcmp, x: &O::Value, y: &O::Value) -> O::Value {
        self.op(Op::Fcmp(self.float, cond, KEEP), &[x, y])
    }

    fn choose(&mut self, mask: &O::Value, yes: &O::Value, no: &O::Value) -> O::Value {
        self.ops.choose(self.f.width, mask, yes, no)
    }

    // ---- masks and dwords

    fn and(&mut self, x: &O::Value, y: &O::Value) -> O::Value {
        self.ops.op(Op::And, Width::W1, &[x, y])
    }

    fn or(&mut self, x: &O::Value, y: &O::Value) -> O::Value {
        self.ops.op(Op::Or, Width::W1, &[x, y])
    }

    fn not(&mut self, x: &O::Value) -> O::Value {
        self.ops.op(Op::Not, Width::W1, &[x])
    }

    fn dword(&mut self, op: Op, x: &O::Value, k: u64) -> O::Value {
        let k = self.ops.immediate(Width::W32, k & 0xffff_ffff);
        self.ops.op(op, Width::W32, &[x, &k])
    }

    /// The exponent field in position in its dword.
    fn exponent(&mut self, x: &O::Value) -> O::Value {
        match self.f.width {
            Width::W64 => {
                let high = self.op(Op::Hi, &[x]);
                self.dword(Op::And, &high, self.f.infinity >> 32)
            }
            _ => self.dword(Op::And, x, self.f.infinity),
        }
    }

    /// An exponent or exponent difference in the field's position.
    fn in_field(&self, exponent: i32) -> u64 {
        let place = match self.f.width {
            Width::W64 => self.f.fraction - 32,
            _ => self.f.fraction,
        };
        u64::from((exponent << place) as u32)
    }

    /// Is a number neither zero nor infinite?
    fn is_finite(&mut self, magnitude: &O::Value) -> O::Value {
        let [zero, infinity] = [0, self.f.infinity].map(|bits| self.k(bits));
        let more = self.compare(Fcmp::Lt, &zero, magnitude);
        let less = self.compare(Fcmp::Lt, magnitude, &infinity);
        self.and(&more, &less)
    }

    // ---- v_div_scale

    /// `s0` scaled for the division of `n` by `d`; unchanged where `plain` is true.
    pub(super) fn scale(&mut self, [s0, d, n]: [&O::Value; 3], plain: &O::Value) -> O::Value {
        let rare = self.not(plain);
        let (float, width) = (self.float, self.f.width);
        self.ops.unless_any(width, &rare, s0.clone(), |ops| {
            Division::new(ops, float).any_scale([s0, d, n]).0
        })
    }

    /// `s0` scaled, for arbitrary sources, and the bit.
    fn any_scale(&mut self, [s0, d, n]: [&O::Value; 3]) -> (O::Value, O::Value) {
        let scaling = self.scaling(Some(s0), d, n);
        let step = self.f.step as i64;
        let [up, down] = [step, -step].map(|by| self.f.power(by));
        let [up, down] = [up, down].map(|factor| self.mul(s0, factor));
        let value = self.choose(&scaling.down, &down, s0);
        let value = self.choose(&scaling.up, &up, &value);
        let nan = self.k(self.f.nan);
        (self.choose(&scaling.zero, &nan, &value), scaling.flag)
    }

    /// The bit that makes `v_div_fmas` scale back.
    pub(super) fn scaled(&mut self, d: &O::Value, n: &O::Value, plain: &O::Value) -> O::Value {
        let rare = self.not(plain);
        let float = self.float;
        let none = self.ops.immediate(Width::W32, 0);
        let bit = self.ops.unless_any(Width::W32, &rare, none, |ops| {
            let flag = Division::new(ops, float).scaling(None, d, n).flag;
            ops.op(Op::BoolToInt, Width::W1, &[&flag])
        });
        self.dword(Op::Icmp(Icmp::Ne), &bit, 0)
    }

    /// How `s0` is scaled; without it only the flag is computed.
    fn scaling(&mut self, s0: Option<&O::Value>, d: &O::Value, n: &O::Value) -> Scaling<O::Value> {
        let (ed, en) = (self.exponent(d), self.exponent(n));
        let [d_size, n_size] = [d, n].map(|x| self.magnitude(x));
        let zero = self.k(0);
        let zeros = [&d_size, &n_size].map(|x| self.compare(Fcmp::Eq, x, &zero));
        let zero = self.or(&zeros[0], &zeros[1]);
        let nonzero = self.not(&zero);
        let distance = self.ops.op(Op::Sub, Width::W32, &[&en, &ed]);
        let near = self.dword(Op::Icmp(Icmp::Slt), &distance, self.in_field(self.f.far));
        let far = self.not(&near);
        let denormal = self.dword(Op::Icmp(Icmp::Eq), &ed, 0);
        let normal = self.not(&denormal);
        let normal = self.and(&near, &normal);
        // Is n/d, rounded, below the least normal number m: is n below d * m * (1 - half of the
        // last place of numbers below 1)? A fused operation gives the sign. As n/m no n is
        // denormal.
        let infinity = self.k(self.f.infinity);
        let finite = self.compare(Fcmp::Lt, &d_size, &infinity);
        let least = self.f.bias as i64 - 1;
        let n_scaled = self.mul(&n_size, self.f.power(least));
        let n_scaled = self.negative(&n_scaled);
        let below_one = self.k(self.f.power(0) - 1);
        let rest = self.fma(&d_size, &below_one, &n_scaled);
        let none = self.k(0);
        let tiny = self.compare(Fcmp::Lt, &none, &rest);
        let tiny = self.and(&tiny, &finite);
        let lost = self.and(&normal, &tiny);
        let flag = self.or(&far, &lost);
        let flag = self.and(&flag, &nonzero);
        let Some(s0) = s0 else {
            return Scaling {
                up: flag.clone(),
                down: flag.clone(),
                flag,
                zero,
            };
        };
        // The same for 1/d.
        let large = self.k(self.f.power(least));
        let reciprocal = self.compare(Fcmp::Lt, &large, &d_size);
        let reciprocal = self.and(&reciprocal, &finite);
        let small = self.dword(Op::Icmp(Icmp::Ult), &en, self.in_field(self.f.small));
        let [is_d, is_n] = [d, n].map(|x| self.op(Op::Icmp(Icmp::Eq), &[s0, x]));
        let not_tiny = self.not(&tiny);
        // Up: very small denominators where the denominator is denormal, numerators of tiny
        // quotients, both where the numerator is small.
        let up_far = self.and(&far, &is_d);
        let up_denormal = self.and(&near, &denormal);
        let up_tiny = self.and(&tiny, &is_n);
        let up_small = self.and(&not_tiny, &small);
        let up = self.or(&up_tiny, &up_small);
        let kept = self.not(&reciprocal);
        let up = self.and(&up, &kept);
        let up = self.and(&up, &normal);
        let up = self.or(&up, &up_far);
        let up = self.or(&up, &up_denormal);
        // Down: where the reciprocal is denormal; numerators are unchanged if the quotient is
        // denormal, too.
        let down = self.or(&not_tiny, &is_d);
        let down = self.and(&down, &reciprocal);
        let down = self.and(&down, &normal);
        Scaling {
            up,
            down,
            flag,
            zero,
        }
    }

    // ---- v_div_fmas

    /// a * b + c, multiplied where `flag` is true by 2^step if |c| >= 2, else by 2^-step; rounded
    /// once.
    pub(super) fn fmas(
        &mut self,
        flush: Flush,
        [a, b, c]: [&O::Value; 3],
        flag: &O::Value,
    ) -> O::Value {
        let usual = self.op(Op::Fma(self.float, flush), &[a, b, c]);
        let (float, width) = (self.float, self.f.width);
        self.ops.unless_any(width, flag, usual.clone(), |ops| {
            Division::new(ops, float).any_fmas(flush, [a, b, c], flag, &usual)
        })
    }

    /// The same where `flag` is true for some lane, given the fused sum.
    fn any_fmas(
        &mut self,
        flush: Flush,
        [a, b, c]: [&O::Value; 3],
        flag: &O::Value,
        usual: &O::Value,
    ) -> O::Value {
        let scaled = match self.float {
            Float::F32 => self.fmas_single(flush, a, b, c),
            Float::F64 => self.fmas_double(flush, [a, b, c], usual),
        };
        let nan = self.compare(Fcmp::Uno, usual, usual);
        let scaled = self.choose(&nan, usual, &scaled);
        self.choose(flag, &scaled, usual)
    }

    fn is_up(&mut self, c: &O::Value) -> O::Value {
        let c = self.magnitude(c);
        let two = self.k(self.f.power(1));
        self.compare(Fcmp::Le, &two, &c)
    }

    /// For f32, through f64: the product is exact, the sum is rounded to odd, which leaves enough
    /// bits for the rounding to f32, and scaling is exact.
    fn fmas_single(&mut self, flush: Flush, a: &O::Value, b: &O::Value, c: &O::Value) -> O::Value {
        let up = self.is_up(c);
        let [a, b, c] = [a, b, c].map(|x| self.op(Op::FWiden, &[x]));
        let step = self.f.step as i64;
        let mut wide = Division::new(&mut *self.ops, Float::F64);
        let product = wide.op(Op::FMul(Float::F64, KEEP), &[&a, &b]);
        let (sum, error) = wide.two_sum(&product, &c);
        // Toward zero, then to odd. The error of an infinite sum is a NaN.
        let zero = wide.k(0);
        let lost = wide.magnitude(&error);
        let inexact = wide.compare(Fcmp::Lt, &zero, &lost);
        let signs = wide.op(Op::Xor, &[&sum, &error]);
        let back = wide.op(Op::Icmp(Icmp::Slt), &[&signs, &zero]);
        let less = wide.k(u64::MAX);
        let less = wide.op(Op::Add, &[&sum, &less]);
        let cut = wide.choose(&back, &less, &sum);
        let one = wide.k(1);
        let odd = wide.op(Op::Or, &[&cut, &one]);
        let sum = wide.choose(&inexact, &odd, &sum);
        let factors = [step, -step].map(|by| wide.f.power(by));
        let [more, less] = factors.map(|bits| wide.k(bits));
        let factor = wide.choose(&up, &more, &less);
        let scaled = wide.op(Op::FMul(Float::F64, KEEP), &[&sum, &factor]);
        wide.op(Op::FNarrow(flush), &[&scaled])
    }

    /// For f64, given the fused sum `usual`.
    ///
    /// Scaling up multiplies it: with |c| >= 2 no sum but zero is so small that it was rounded as a
    /// denormal. Scaling down has two other cases. The sum may have overflowed although the scaled
    /// one does not: then only the sign of c matters. And the scaled sum may be denormal and
    /// rounded a second time. That is wrong if the rounded sum is the midpoint of two denormals and
    /// the exact sum is not: the sign of the first rounding's error decides.
    fn fmas_double(
        &mut self,
        flush: Flush,
        [a, b, c]: [&O::Value; 3],
        usual: &O::Value,
    ) -> O::Value {
        let up = self.is_up(c);
        let step = self.f.step as i64;
        let [more, less] = [step, -step].map(|by| self.f.power(by));
        let above = self.mul(usual, more);
        let below = self.mul(usual, less);
        let size = self.magnitude(usual);
        let below = if flush.dst {
            // Tiny when rounded to the precision of normal numbers.
            let bound = self.k(self.f.power(1 - self.f.bias as i64 + step));
            let tiny = self.compare(Fcmp::Lt, &size, &bound);
            let sign = self.k(self.f.sign);
            let zero = self.op(Op::And, &[usual, &sign]);
            self.choose(&tiny, &zero, &below)
        } else {
            let back = self.mul(&below, more);
            let rest = self.sub(usual, &back);
            let half = self.magnitude(&rest);
            // Half of the least denormal number, scaled.
            let least = 1 - self.f.bias as i64 - i64::from(self.f.fraction);
            let middle = self.k(self.f.power(least - 1 + step));
            let middle = self.op(Op::Icmp(Icmp::Eq), &[&half, &middle]);
            let error = self.error_of_sum(a, b, c, usual);
            // Same sign, neither zero: their product is positive, if it does not underflow.
            let zero = self.k(0);
            let size = self.magnitude(&error);
            let lost = self.compare(Fcmp::Lt, &zero, &size);
            let signs = self.op(Op::Xor, &[&rest, &error]);
            let sign = self.k(self.f.sign);
            let signs = self.op(Op::And, &[&signs, &sign]);
            let same = self.op(Op::Icmp(Icmp::Eq), &[&signs, &zero]);
            let beyond = self.and(&lost, &same);
            let beyond = self.and(&beyond, &middle);
            let direction = self.op(Op::And, &[&rest, &sign]);
            let one = self.k(1);
            let unit = self.op(Op::Or, &[&direction, &one]);
            let next = self.add(&below, &unit);
            self.choose(&beyond, &next, &below)
        };
        let infinity = self.k(self.f.infinity);
        let overflow = self.op(Op::Icmp(Icmp::Eq), &[&size, &infinity]);
        let a_less = self.mul(a, less);
        let large = self.fma(&a_less, b, c);
        // With an infinite b: a may have become zero.
        let nan = self.compare(Fcmp::Uno, &large, &large);
        let large = self.choose(&nan, usual, &large);
        let below = self.choose(&overflow, &large, &below);
        self.choose(&up, &above, &below)
    }

    /// The rounded sum and its error (Knuth).
    fn two_sum(&mut self, a: &O::Value, b: &O::Value) -> (O::Value, O::Value) {
        let sum = self.add(a, b);
        let b_part = self.sub(&sum, a);
        let a_part = self.sub(&sum, &b_part);
        let a_rest = self.sub(a, &a_part);
        let b_rest = self.sub(b, &b_part);
        let error = self.add(&a_rest, &b_rest);
        (sum, error)
    }

    /// A number with the sign of the rounding error of a * b + c to `sum`, or zero (Boldo and
    /// Muller's error of a fused operation without its last step). For sums so small that a and c
    /// are not large: all are scaled up by 2^700, so that only a product that is negligible against
    /// c underflows. Only the sign of such a product matters.
    fn error_of_sum(
        &mut self,
        a: &O::Value,
        b: &O::Value,
        c: &O::Value,
        sum: &O::Value,
    ) -> O::Value {
        let large = self.f.power(700);
        let [scaled, c, sum] = [a, c, sum].map(|x| self.mul(x, large));
        let product = self.op(Op::FMul(self.float, KEEP), &[&scaled, b]);
        let minus = self.negative(&product);
        let rest = self.fma(&scaled, b, &minus);
        let zero = self.k(0);
        let is_zero = self.compare(Fcmp::Eq, &product, &zero);
        let factors = [a, b].map(|x| self.magnitude(x));
        let factors = factors.map(|x| self.compare(Fcmp::Lt, &zero, &x));
        let underflow = self.and(&factors[0], &factors[1]);
        let underflow = self.and(&underflow, &is_zero);
        let one = self.k(1);
        let least = self.op(Op::Or, &[&product, &one]);
        let product = self.choose(&underflow, &least, &product);
        let rest = self.choose(&underflow, &zero, &rest);
        let (a1, a2) = self.two_sum(&c, &rest);
        let (b1, b2) = self.two_sum(&product, &a1);
        let g = self.sub(&b1, &sum);
        let g = self.add(&g, &b2);
        self.add(&g, &a2)
    }

    // ---- v_div_fixup

    /// `q` with the sign of n/d, and that sign.
    fn signed(&mut self, [q, d, n]: [&O::Value; 3]) -> (O::Value, O::Value) {
        let signs = self.op(Op::Xor, &[d, n]);
        let sign = self.k(self.f.sign);
        let sign = self.op(Op::And, &[&signs, &sign]);
        let size = self.magnitude(q);
        (self.op(Op::Or, &[&size, &sign]), sign)
    }

    /// `q` with the sign of n/d; where `plain` is false, with the special cases.
    pub(super) fn fixup(&mut self, sources: [&O::Value; 3], plain: &O::Value) -> O::Value {
        let (usual, _) = self.signed(sources);
        let number = self.compare(Fcmp::Ord, sources[0], sources[0]);
        let plain = self.and(plain, &number);
        let rare = self.not(&plain);
        let (float, width) = (self.float, self.f.width);
        self.ops.unless_any(width, &rare, usual, |ops| {
            Division::new(ops, float).any_fixup(sources)
        })
    }

    /// The same for arbitrary sources.
    fn any_fixup(&mut self, [q, d, n]: [&O::Value; 3]) -> O::Value {
        let (usual, sign) = self.signed([q, d, n]);
        let infinity = self.k(self.f.infinity);
        let infinity = self.op(Op::Or, &[&infinity, &sign]);
        let nan = self.compare(Fcmp::Uno, q, q);
        let value = self.choose(&nan, &infinity, &usual);
        let [ed, en] = [d, n].map(|x| self.exponent(x));
        let distance = self.ops.op(Op::Sub, Width::W32, &[&en, &ed]);
        let least = self.in_field(self.f.least);
        let under = self.dword(Op::Icmp(Icmp::Slt), &distance, least);
        let value = self.choose(&under, &sign, &value);
        // The quotient of zeros, infinities and NaNs.
        let quotient = self.ops.divided(self.float, KEEP, n, d);
        let [d, n] = [d, n].map(|x| self.magnitude(x));
        let [d, n] = [&d, &n].map(|x| self.is_finite(x));
        let numbers = self.and(&d, &n);
        self.choose(&numbers, &value, &quotient)
    }

    // ---- all of it

    /// The quotient of a compiler's division sequence, see [`Op::Quotient`].
    pub(super) fn quotient(&mut self, flush: Flush, n: &O::Value, d: &O::Value) -> O::Value {
        let quotient = self.ops.divided(self.float, flush, n, d);
        if self.float == Float::F32 {
            return quotient;
        }
        let size = self.magnitude(&quotient);
        let bound = self.k(self.f.power(2 - self.f.bias as i64));
        let small = self.compare(Fcmp::Lt, &size, &bound);
        let zero = self.k(0);
        let nonzero = self.compare(Fcmp::Une, n, &zero);
        let small = self.and(&small, &nonzero);
        let (float, width) = (self.float, self.f.width);
        self.ops.unless_any(width, &small, quotient, |ops| {
            Division::new(ops, float).double_by_steps(n, d)
        })
    }

    fn double_by_steps(&mut self, n: &O::Value, d: &O::Value) -> O::Value {
        let (d_scaled, _) = self.any_scale([d, d, n]);
        let (n_scaled, flag) = self.any_scale([n, d, n]);
        let minus_d = self.negative(&d_scaled);
        let one = self.k(self.f.power(0));
        let mut y = self.op(Op::FDiv(self.float, KEEP), &[&one, &d_scaled]);
        for _ in 0..2 {
            let error = self.fma(&minus_d, &y, &one);
            y = self.fma(&y, &error, &y);
        }
        let q = self.op(Op::FMul(self.float, KEEP), &[&n_scaled, &y]);
        let rest = self.fma(&minus_d, &q, &n_scaled);
        let usual = self.fma(&rest, &y, &q);
        let sum = self.any_fmas(KEEP, [&rest, &y, &q], &flag, &usual);
        self.any_fixup([&sum, d, n])
    }
}
