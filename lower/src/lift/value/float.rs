//! Operations of float handles, and their environment (format, rounding, denormals).

use std::ops::{Add, Mul, Sub};

use frontend::state::mode;

use super::{F, Handle, M, Q, U, call, call64};
use crate::ir::build::Build;
use crate::ir::{Fcmp, Float, Flush, Icmp, LaneFn, Op, Val, Width};

/// Format, rounding and denormals of float arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Env {
    /// Format.
    pub ty: Float,
    /// Which denormals become zero.
    pub flush: Flush,
    /// Rounding as MODE encodes it, 0 = nearest even.
    pub round: u32,
    /// MODE's float bits.
    pub mode: u32,
}

/// Which denormals two bits of MODE flush.
fn flush_of(denorm: u32) -> Flush {
    Flush {
        src: denorm & 1 == 0,
        dst: denorm & 2 == 0,
    }
}

impl Env {
    /// MODE's environment for a format.
    pub fn of(ty: Float, mode: u32) -> Env {
        let (round, denorm) = match ty {
            Float::F32 => (mode & 3, mode >> 4 & 3),
            Float::F64 => (mode >> 2 & 3, mode >> 6 & 3),
        };
        Env {
            ty,
            flush: flush_of(denorm),
            round,
            mode,
        }
    }

    /// The same with other flushing, in `mode` too.
    pub fn with_flush(self, flush: Flush) -> Env {
        let field = u32::from(!flush.src) | u32::from(!flush.dst) << 1;
        let at = match self.ty {
            Float::F32 => 4,
            Float::F64 => 6,
        };
        Env {
            flush,
            mode: self.mode & !(3 << at) | field << at,
            ..self
        }
    }

    /// The same, but denormals are always flushed.
    pub fn flushing(self) -> Env {
        self.with_flush(Flush {
            src: true,
            dst: true,
        })
    }

    /// The same without any flushing.
    pub fn keeping(self) -> Env {
        self.with_flush(Flush::default())
    }

    /// MODE's float bits with this environment's rounding and flushing in the format's fields, for
    /// lane functions.
    fn bits(self) -> u32 {
        let denorm = u32::from(!self.flush.src) | u32::from(!self.flush.dst) << 1;
        match self.ty {
            Float::F32 => self.mode & !0x33 | self.round | denorm << 4,
            Float::F64 => self.mode & !0xcc | self.round << 2 | denorm << 6,
        }
    }

    /// MODE.IEEE.
    pub fn ieee(self) -> bool {
        self.mode & mode::IEEE != 0
    }
}

#[allow(
    clippy::should_implement_trait,
    reason = "operators are for what MODE rounds; these work on bits or always round alike"
)]
impl<'b> F<'b> {
    /// A float of the format of `env` from its bits.
    pub fn new(b: &'b Build, v: Val, env: Env) -> F<'b> {
        F { b, v, env }
    }

    /// A constant from the bits of the format.
    pub fn bits(self, value: u64) -> F<'b> {
        let width = match self.env.ty {
            Float::F32 => Width::W32,
            Float::F64 => Width::W64,
        };
        self.with(self.b.constant(width, value))
    }

    /// A constant that both formats hold exactly.
    pub fn k(self, value: f32) -> F<'b> {
        match self.env.ty {
            Float::F32 => self.bits(u64::from(value.to_bits())),
            Float::F64 => self.bits(f64::from(value).to_bits()),
        }
    }

    /// The same bits in another environment.
    pub fn in_env(self, env: Env) -> F<'b> {
        F { env, ..self }
    }

    /// The words: one, or low and high.
    pub fn words(self) -> Vec<U<'b>> {
        match self.env.ty {
            Float::F32 => vec![self.word()],
            Float::F64 => {
                let q = Q {
                    b: self.b,
                    v: self.v,
                };
                vec![q.lo(), q.hi()]
            }
        }
    }

    /// The bits of an f32.
    pub fn word(self) -> U<'b> {
        U::new(self.b, self.v)
    }

    /// A lane function with float operands of this format and a float result.
    fn function(self, f32: LaneFn, f64: LaneFn, others: &[F<'b>]) -> F<'b> {
        let mut args = self.words();
        others.iter().for_each(|other| args.extend(other.words()));
        self.with(match self.env.ty {
            Float::F32 => call(self.b, f32, self.env.bits(), &args).v,
            Float::F64 => call64(self.b, f64, self.env.bits(), &args).v,
        })
    }

    fn arith(self, op: fn(Float, Flush) -> Op, other: F<'b>) -> F<'b> {
        let op = op(self.env.ty, self.env.flush);
        self.with(self.b.pure(op, &[self.v, other.v]))
    }

    /// self * b + c, rounded once.
    pub fn fma(self, b: F<'b>, c: F<'b>) -> F<'b> {
        if self.env.round != 0 {
            return self.function(LaneFn::FmaF32, LaneFn::FmaF64, &[b, c]);
        }
        let op = Op::Fma(self.env.ty, self.env.flush);
        self.with(self.b.pure(op, &[self.v, b.v, c.v]))
    }

    /// Quotient, correctly rounded to nearest even.
    pub fn div(self, other: F<'b>) -> F<'b> {
        self.arith(Op::FDiv, other)
    }

    /// Square root, correctly rounded to nearest even.
    pub fn sqrt(self) -> F<'b> {
        let op = Op::FSqrt(self.env.ty, self.env.flush);
        self.with(self.b.pure(op, &[self.v]))
    }

    fn un(self, op: Op) -> F<'b> {
        self.with(self.b.pure(op, &[self.v]))
    }

    /// Toward -inf.
    pub fn floor(self) -> F<'b> {
        self.un(Op::FFloor(self.env.ty))
    }

    /// Toward +inf.
    pub fn ceil(self) -> F<'b> {
        self.un(Op::FCeil(self.env.ty))
    }

    /// Toward zero.
    pub fn trunc(self) -> F<'b> {
        self.un(Op::FTrunc(self.env.ty))
    }

    /// To nearest even.
    pub fn nearest(self) -> F<'b> {
        self.un(Op::FNearest(self.env.ty))
    }

    /// NaNs quieted.
    pub fn quiet(self) -> F<'b> {
        self.un(Op::FQuiet(self.env.ty))
    }

    /// Denormals to zero of the same sign, when the environment flushes sources.
    pub fn flush_src(self) -> F<'b> {
        if self.env.flush.src && !self.never_denormal() {
            self.un(Op::FFlush(self.env.ty))
        } else {
            self
        }
    }

    /// Denormals to zero of the same sign, when the environment flushes results.
    pub fn flush_dst(self) -> F<'b> {
        if self.env.flush.dst {
            self.un(Op::FFlush(self.env.ty))
        } else {
            self
        }
    }

    fn sign(self) -> F<'b> {
        match self.env.ty {
            Float::F32 => self.bits(1 << 31),
            Float::F64 => self.bits(1 << 63),
        }
    }

    /// Sign inverted, as bits.
    pub fn neg(self) -> F<'b> {
        self.with(self.b.pure(Op::Xor, &[self.v, self.sign().v]))
    }

    /// Sign cleared, as bits.
    pub fn abs(self) -> F<'b> {
        let all = match self.env.ty {
            Float::F32 => self.bits(0x7fff_ffff),
            Float::F64 => self.bits(u64::MAX >> 1),
        };
        self.with(self.b.pure(Op::And, &[self.v, all.v]))
    }

    fn cmp(self, cond: Fcmp, other: F<'b>) -> M<'b> {
        let op = Op::Fcmp(self.env.ty, cond, self.env.flush);
        M {
            b: self.b,
            v: self.b.pure(op, &[self.v, other.v]),
        }
    }

    /// self < other
    pub fn lt(self, other: F<'b>) -> M<'b> {
        self.cmp(Fcmp::Lt, other)
    }

    /// self <= other
    pub fn le(self, other: F<'b>) -> M<'b> {
        self.cmp(Fcmp::Le, other)
    }

    /// self == other
    pub fn eq(self, other: F<'b>) -> M<'b> {
        self.cmp(Fcmp::Eq, other)
    }

    /// self != other, true for NaN
    pub fn une(self, other: F<'b>) -> M<'b> {
        self.cmp(Fcmp::Une, other)
    }

    /// Neither is a NaN.
    pub fn ord(self, other: F<'b>) -> M<'b> {
        self.cmp(Fcmp::Ord, other)
    }

    /// One is a NaN.
    pub fn uno(self, other: F<'b>) -> M<'b> {
        self.cmp(Fcmp::Uno, other)
    }

    /// Is it a NaN? Constant false if provable.
    pub fn is_nan(self) -> M<'b> {
        if self.never_nan() {
            M::imm(self.b, false)
        } else {
            self.uno(self)
        }
    }

    /// Is it a signalling NaN? Constant false if provable.
    pub fn is_snan(self) -> M<'b> {
        if self.never_snan() {
            return M::imm(self.b, false);
        }
        // With the quiet bit inverted, signalling NaNs are above infinity with that bit set, as
        // integers.
        let (all, quiet, inf) = match self.env.ty {
            Float::F32 => (0x7fff_ffff, 1 << 22, 0x7f80_0000),
            Float::F64 => (u64::MAX >> 1, 1 << 51, 0x7ff0_0000_0000_0000),
        };
        let pure = |op, a: F<'b>, b: F<'b>| a.with(self.b.pure(op, &[a.v, b.v]));
        let magnitude = pure(Op::And, self, self.bits(all));
        let flipped = pure(Op::Xor, magnitude, self.bits(quiet));
        M {
            b: self.b,
            v: self
                .b
                .pure(Op::Icmp(Icmp::Slt), &[self.bits(inf | quiet).v, flipped.v]),
        }
    }

    /// Are constant bits a NaN, and a signalling one?
    fn const_nan(self, bits: u64) -> (bool, bool) {
        match self.env.ty {
            Float::F32 => {
                let x = f32::from_bits(bits as u32);
                (x.is_nan(), x.is_nan() && bits & 1 << 22 == 0)
            }
            Float::F64 => {
                let x = f64::from_bits(bits);
                (x.is_nan(), x.is_nan() && bits & 1 << 51 == 0)
            }
        }
    }

    fn never_nan(self) -> bool {
        match self.b.parts(self.v).0 {
            Op::Const(bits) => !self.const_nan(bits).0,
            Op::CvtFromS(_) | Op::CvtFromU(_) => true,
            _ => false,
        }
    }

    /// Is it provably a mantissa of [`F::frexp_mant`]?
    pub fn is_mantissa(self) -> bool {
        matches!(self.b.parts(self.v).0, Op::FrexpMant(_))
    }

    fn never_denormal(self) -> bool {
        matches!(
            self.b.parts(self.v).0,
            Op::FrexpMant(_) | Op::FFlush(_) | Op::FSqrt(..) | Op::CvtFromS(_) | Op::CvtFromU(_)
        )
    }

    fn never_snan(self) -> bool {
        match self.b.parts(self.v).0 {
            Op::Const(bits) => !self.const_nan(bits).1,
            Op::CvtFromS(_) | Op::CvtFromU(_) | Op::FQuiet(_) | Op::FWiden | Op::FNarrow(_) => true,
            Op::FAdd(..) | Op::FSub(..) | Op::FMul(..) | Op::Fma(..) => true,
            Op::FDiv(..) | Op::FSqrt(..) => true,
            _ => false,
        }
    }

    /// Truncated to i32, saturating, NaN to 0.
    pub fn to_s(self) -> U<'b> {
        U {
            b: self.b,
            v: self.b.pure(Op::CvtToS(self.env.ty), &[self.v]),
        }
    }

    /// Truncated to u32, saturating, NaN to 0.
    pub fn to_u(self) -> U<'b> {
        U {
            b: self.b,
            v: self.b.pure(Op::CvtToU(self.env.ty), &[self.v]),
        }
    }

    /// f32 to f64.
    pub fn widen(self, env: Env) -> F<'b> {
        let v = self.b.pure(Op::FWiden, &[self.v]);
        F { b: self.b, v, env }
    }

    /// f64 to f32, nearest even.
    pub fn narrow(self, env: Env) -> F<'b> {
        let v = self.b.pure(Op::FNarrow(env.flush), &[self.v]);
        F { b: self.b, v, env }
    }

    /// 1 / sqrt(self), correctly rounded; denormal f32 count as zeros.
    pub fn rsq(self) -> F<'b> {
        self.un(Op::FRsq(self.env.ty))
    }

    /// self * 2^n, rounded to nearest even; n is an i32.
    pub fn ldexp(self, n: U<'b>) -> F<'b> {
        self.with(
            self.b
                .pure(Op::Ldexp(self.env.ty, self.env.flush), &[self.v, n.v]),
        )
    }

    /// The m of a number that is m * 2^e with 1/2 <= |m| < 1; zeros and infinities unchanged, NaNs
    /// quieted.
    pub fn frexp_mant(self) -> F<'b> {
        self.un(Op::FrexpMant(self.env.ty))
    }

    /// The e of a number that is m * 2^e with 1/2 <= |m| < 1; 0 for zeros, infinities and NaNs.
    pub fn frexp_exp(self) -> U<'b> {
        U {
            b: self.b,
            v: self.b.pure(Op::FrexpExp(self.env.ty), &[self.v]),
        }
    }

    /// The exponent field in position in its dword (the high one of an f64).
    pub fn exponent_field(self) -> U<'b> {
        let word = match self.env.ty {
            Float::F32 => self.word(),
            Float::F64 => Q::new(self.b, self.v).hi(),
        };
        word & word.k(match self.env.ty {
            Float::F32 => 0x7f80_0000,
            Float::F64 => 0x7ff0_0000,
        })
    }

    /// self / denominator, correctly rounded, with the NaNs of [`F::div_fixup`].
    pub fn quotient(self, denominator: F<'b>) -> F<'b> {
        self.arith(Op::Quotient, denominator)
    }

    /// The value of `v_div_scale`; `self` where `plain` is true.
    pub fn div_scale(self, denominator: F<'b>, numerator: F<'b>, plain: M<'b>) -> F<'b> {
        let args = [self.v, denominator.v, numerator.v, plain.v];
        self.with(self.b.pure(Op::DivScale(self.env.ty), &args))
    }

    /// The bit of `v_div_scale` for `self` as numerator; false where `plain` is true.
    pub fn div_scaled(self, denominator: F<'b>, plain: M<'b>) -> M<'b> {
        let args = [denominator.v, self.v, plain.v];
        M::new(self.b, self.b.pure(Op::DivScaled(self.env.ty), &args))
    }

    /// `v_div_fmas`: self * b + c, scaled where `bit` is true; rounded to nearest even. Sources are never flushed.
    pub fn div_fmas(self, b: F<'b>, c: F<'b>, bit: M<'b>) -> F<'b> {
        let flush = Flush {
            src: false,
            ..self.env.flush
        };
        let op = Op::DivFmas(self.env.ty, flush);
        self.with(self.b.pure(op, &[self.v, b.v, c.v, bit.v]))
    }

    /// `v_div_fixup` of this quotient; where `plain` is true, no special case applies except a NaN.
    pub fn div_fixup(self, denominator: F<'b>, numerator: F<'b>, plain: M<'b>) -> F<'b> {
        let args = [self.v, denominator.v, numerator.v, plain.v];
        self.with(self.b.pure(Op::DivFixup(self.env.ty), &args))
    }

    /// The builder.
    pub fn builder(self) -> &'b Build {
        self.b
    }
}

impl<'b> Add for F<'b> {
    type Output = F<'b>;
    fn add(self, other: F<'b>) -> F<'b> {
        match self.env.round {
            0 => self.arith(Op::FAdd, other),
            _ => self.function(LaneFn::AddF32, LaneFn::AddF64, &[other]),
        }
    }
}

impl<'b> Sub for F<'b> {
    type Output = F<'b>;
    fn sub(self, other: F<'b>) -> F<'b> {
        match self.env.round {
            0 => self.arith(Op::FSub, other),
            _ => self.function(LaneFn::SubF32, LaneFn::SubF64, &[other]),
        }
    }
}

impl<'b> Mul for F<'b> {
    type Output = F<'b>;
    fn mul(self, other: F<'b>) -> F<'b> {
        match self.env.round {
            0 => self.arith(Op::FMul, other),
            _ => self.function(LaneFn::MulF32, LaneFn::MulF64, &[other]),
        }
    }
}
