//! Typed handles on IR values, so that an arm reads like the manual's formula: integers of 32 and 64
//! bits, floats with the environment that they are computed in, and truth values. Handles are `Copy`
//! and know the builder; conversions between kinds are visible calls.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};

use frontend::state::mode;

use crate::build::{Build, types};
use crate::ir::{Fcmp, Float, Flush, Icmp, LaneFn, Op, Val, Width};

/// A 32-bit integer, or 32 untyped bits.
#[derive(Clone, Copy)]
pub struct U<'b> {
    b: &'b Build,
    /// The value.
    pub v: Val,
}

/// A 64-bit integer, or 64 untyped bits.
#[derive(Clone, Copy)]
pub struct Q<'b> {
    b: &'b Build,
    /// The value.
    pub v: Val,
}

/// A truth value of the wave or of each lane.
#[derive(Clone, Copy)]
pub struct M<'b> {
    b: &'b Build,
    /// The value.
    pub v: Val,
}

/// A float of 32 or 64 bits.
#[derive(Clone, Copy)]
pub struct F<'b> {
    b: &'b Build,
    /// The value, as bits.
    pub v: Val,
    /// How it is computed with.
    pub env: Env,
}

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
    /// What MODE says for a format.
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

    /// The same with other rules for denormals, in `mode` too.
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

    /// MODE's float bits with this rounding and flushing in the format's fields, for lane functions.
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

/// A handle: a value and the way back from one.
pub trait Handle<'b>: Copy {
    /// The value.
    fn val(self) -> Val;
    /// The same kind of handle on another value.
    fn with(self, v: Val) -> Self;
}

impl<'b> Handle<'b> for U<'b> {
    fn val(self) -> Val {
        self.v
    }
    fn with(self, v: Val) -> U<'b> {
        U { v, ..self }
    }
}

impl<'b> Handle<'b> for Q<'b> {
    fn val(self) -> Val {
        self.v
    }
    fn with(self, v: Val) -> Q<'b> {
        Q { v, ..self }
    }
}

impl<'b> Handle<'b> for F<'b> {
    fn val(self) -> Val {
        self.v
    }
    fn with(self, v: Val) -> F<'b> {
        F { v, ..self }
    }
}

impl<'b> Handle<'b> for M<'b> {
    fn val(self) -> Val {
        self.v
    }
    fn with(self, v: Val) -> M<'b> {
        M { v, ..self }
    }
}

/// A binary operator that is one node of the same kind.
macro_rules! operator {
    ($handle:ident, $trait:ident, $method:ident, $op:expr) => {
        impl<'b> $trait for $handle<'b> {
            type Output = $handle<'b>;
            fn $method(self, other: $handle<'b>) -> $handle<'b> {
                self.with(self.b.pure($op, &[self.v, other.v]))
            }
        }
    };
}
operator!(U, Add, add, Op::Add);
operator!(U, Sub, sub, Op::Sub);
operator!(U, Mul, mul, Op::Mul);
operator!(U, BitAnd, bitand, Op::And);
operator!(U, BitOr, bitor, Op::Or);
operator!(U, BitXor, bitxor, Op::Xor);
operator!(Q, Add, add, Op::Add);
operator!(Q, Sub, sub, Op::Sub);
operator!(Q, Mul, mul, Op::Mul);
operator!(Q, BitAnd, bitand, Op::And);
operator!(Q, BitOr, bitor, Op::Or);
operator!(Q, BitXor, bitxor, Op::Xor);
operator!(M, BitAnd, bitand, Op::And);
operator!(M, BitOr, bitor, Op::Or);
operator!(M, BitXor, bitxor, Op::Xor);

/// `!` as one node.
macro_rules! complement {
    ($($handle:ident),*) => {
        $(impl<'b> Not for $handle<'b> {
            type Output = $handle<'b>;
            fn not(self) -> $handle<'b> {
                self.with(self.b.pure(Op::Not, &[self.v]))
            }
        })*
    };
}
complement!(U, Q, M);

/// What integers of both widths can do.
macro_rules! integer {
    ($handle:ident, $width:expr, $bits:literal) => {
        #[allow(
            clippy::should_implement_trait,
            reason = "the manual's names; an operator would hide that amounts are of another kind"
        )]
        impl<'b> $handle<'b> {
            /// A handle on a value of the right width.
            pub fn new(b: &'b Build, v: Val) -> $handle<'b> {
                debug_assert!(b.ty(v).width == $width, "bug: {:?} as {}", b.node(v), $bits);
                $handle { b, v }
            }

            /// A constant.
            pub fn imm(b: &'b Build, value: u64) -> $handle<'b> {
                $handle {
                    b,
                    v: b.constant($width, value),
                }
            }

            /// A constant, by the builder of `self`.
            pub fn k(self, value: u64) -> $handle<'b> {
                $handle::imm(self.b, value)
            }

            fn un(self, op: Op) -> $handle<'b> {
                self.with(self.b.pure(op, &[self.v]))
            }

            fn bin(self, op: Op, other: $handle<'b>) -> $handle<'b> {
                self.with(self.b.pure(op, &[self.v, other.v]))
            }

            fn count(self, op: Op) -> U<'b> {
                U {
                    b: self.b,
                    v: self.b.pure(op, &[self.v]),
                }
            }

            fn cmp(self, cond: Icmp, other: $handle<'b>) -> M<'b> {
                M {
                    b: self.b,
                    v: self.b.pure(Op::Icmp(cond), &[self.v, other.v]),
                }
            }

            /// self == other
            pub fn eq(self, other: $handle<'b>) -> M<'b> {
                self.cmp(Icmp::Eq, other)
            }

            /// self != other
            pub fn ne(self, other: $handle<'b>) -> M<'b> {
                self.cmp(Icmp::Ne, other)
            }

            /// Unsigned self < other
            pub fn lt_u(self, other: $handle<'b>) -> M<'b> {
                self.cmp(Icmp::Ult, other)
            }

            /// Unsigned self <= other
            pub fn le_u(self, other: $handle<'b>) -> M<'b> {
                self.cmp(Icmp::Ule, other)
            }

            /// Signed self < other
            pub fn lt_s(self, other: $handle<'b>) -> M<'b> {
                self.cmp(Icmp::Slt, other)
            }

            /// Signed self <= other
            pub fn le_s(self, other: $handle<'b>) -> M<'b> {
                self.cmp(Icmp::Sle, other)
            }

            /// self == 0
            pub fn is_zero(self) -> M<'b> {
                self.eq(self.k(0))
            }

            /// self != 0
            pub fn is_nonzero(self) -> M<'b> {
                self.ne(self.k(0))
            }

            /// Unsigned minimum.
            pub fn min_u(self, other: $handle<'b>) -> $handle<'b> {
                self.bin(Op::MinU, other)
            }

            /// Unsigned maximum.
            pub fn max_u(self, other: $handle<'b>) -> $handle<'b> {
                self.bin(Op::MaxU, other)
            }

            /// Signed minimum.
            pub fn min_s(self, other: $handle<'b>) -> $handle<'b> {
                self.bin(Op::MinS, other)
            }

            /// Signed maximum.
            pub fn max_s(self, other: $handle<'b>) -> $handle<'b> {
                self.bin(Op::MaxS, other)
            }

            /// Number of ones.
            pub fn popcnt(self) -> U<'b> {
                self.count(Op::Popcnt)
            }

            /// Leading zeros; the width for 0.
            pub fn clz(self) -> U<'b> {
                self.count(Op::Clz)
            }

            /// Trailing zeros; the width for 0.
            pub fn ctz(self) -> U<'b> {
                self.count(Op::Ctz)
            }

            /// Bits in reverse order.
            pub fn brev(self) -> $handle<'b> {
                self.un(Op::Brev)
            }

            /// Sign extension from the low `bits` bits.
            pub fn sext_from(self, bits: u8) -> $handle<'b> {
                self.un(Op::SextFrom(bits))
            }

            /// self << n for a constant n.
            pub fn shl_k(self, n: u32) -> $handle<'b> {
                self.shl(U::imm(self.b, u64::from(n)))
            }

            /// Logical self >> n for a constant n.
            pub fn lshr_k(self, n: u32) -> $handle<'b> {
                self.lshr(U::imm(self.b, u64::from(n)))
            }

            /// Arithmetic self >> n for a constant n.
            pub fn ashr_k(self, n: u32) -> $handle<'b> {
                self.ashr(U::imm(self.b, u64::from(n)))
            }

            /// self << n; n is taken modulo the width.
            pub fn shl(self, n: U<'b>) -> $handle<'b> {
                self.shift(Op::Shl, LaneFn::ShlVar, LaneFn::Shl64Var, n)
            }

            /// Logical self >> n; n is taken modulo the width.
            pub fn lshr(self, n: U<'b>) -> $handle<'b> {
                self.shift(Op::Lshr, LaneFn::LshrVar, LaneFn::Lshr64Var, n)
            }

            /// Arithmetic self >> n; n is taken modulo the width.
            pub fn ashr(self, n: U<'b>) -> $handle<'b> {
                self.shift(Op::Ashr, LaneFn::AshrVar, LaneFn::Ashr64Var, n)
            }

            /// The value when it is a constant.
            pub fn as_const(self) -> Option<u64> {
                self.b.as_const(self.v)
            }

            /// Is it the same for the whole wave?
            pub fn is_wave(self) -> bool {
                self.b.is_wave(self.v)
            }

            /// The builder.
            pub fn builder(self) -> &'b Build {
                self.b
            }
        }
    };
}
integer!(U, Width::W32, 32);
integer!(Q, Width::W64, 64);

impl<'b> U<'b> {
    /// A pure node of 32 bits.
    pub fn with_pure(self, op: Op, args: &[U<'b>]) -> U<'b> {
        let vals: Vec<Val> = args.iter().map(|arg| arg.v).collect();
        self.with(self.b.pure(op, &vals))
    }

    /// The lane's number.
    pub fn lane_id(self) -> U<'b> {
        self.with(self.b.leaf(Op::LaneId, types::L32))
    }

    fn shift(self, op: Op, lane: LaneFn, _lane64: LaneFn, n: U<'b>) -> U<'b> {
        if n.is_wave() {
            return self.with(self.b.pure(op, &[self.v, n.v]));
        }
        call(self.b, lane, 0, &[self, n])
    }

    /// High word of the unsigned product.
    pub fn mul_hi_u(self, other: U<'b>) -> U<'b> {
        self.bin(Op::MulHiU, other)
    }

    /// High word of the signed product.
    pub fn mul_hi_s(self, other: U<'b>) -> U<'b> {
        self.bin(Op::MulHiS, other)
    }

    /// Byte n, zero-extended.
    pub fn byte(self, n: u8) -> U<'b> {
        self.un(Op::ByteU(n))
    }

    /// The low half, zero-extended.
    pub fn lo16(self) -> U<'b> {
        self & self.k(0xffff)
    }

    /// The high half, zero-extended.
    pub fn hi16(self) -> U<'b> {
        self.lshr_k(16)
    }

    /// The low half, sign-extended.
    pub fn lo16s(self) -> U<'b> {
        self.sext_from(16)
    }

    /// The high half, sign-extended.
    pub fn hi16s(self) -> U<'b> {
        self.ashr_k(16)
    }

    /// {hi.lo16, self.lo16}
    pub fn pack16(self, hi: U<'b>) -> U<'b> {
        self.lo16() | hi.shl_k(16)
    }

    /// Zero-extended to 64 bits.
    pub fn zext(self) -> Q<'b> {
        Q {
            b: self.b,
            v: self.b.pure(Op::Zext, &[self.v]),
        }
    }

    /// Sign-extended to 64 bits.
    pub fn sext(self) -> Q<'b> {
        Q {
            b: self.b,
            v: self.b.pure(Op::Sext, &[self.v]),
        }
    }

    /// {hi, self}
    pub fn pair(self, hi: U<'b>) -> Q<'b> {
        Q {
            b: self.b,
            v: self.b.pure(Op::Pair, &[self.v, hi.v]),
        }
    }

    /// 32 - n leading bits kept: the mask of the low `n` bits for n below 32, 0 for n = 0.
    pub fn low_mask(self) -> U<'b> {
        self.k(1).shl(self) - self.k(1)
    }

    /// As a float of 32 bits.
    pub fn float(self, env: Env) -> F<'b> {
        debug_assert!(env.ty == Float::F32, "bug: 32 bits as {:?}", env.ty);
        F {
            b: self.b,
            v: self.v,
            env,
        }
    }

    /// i32 to float, nearest even.
    pub fn cvt_s(self, env: Env) -> F<'b> {
        let v = self.b.pure(Op::CvtFromS(env.ty), &[self.v]);
        F { b: self.b, v, env }
    }

    /// u32 to float, nearest even.
    pub fn cvt_u(self, env: Env) -> F<'b> {
        let v = self.b.pure(Op::CvtFromU(env.ty), &[self.v]);
        F { b: self.b, v, env }
    }
}

impl<'b> Q<'b> {
    fn shift(self, op: Op, _lane32: LaneFn, lane: LaneFn, n: U<'b>) -> Q<'b> {
        if n.is_wave() {
            return self.with(self.b.pure(op, &[self.v, n.v]));
        }
        call64(self.b, lane, 0, &[self.lo(), self.hi(), n])
    }

    /// Low word.
    pub fn lo(self) -> U<'b> {
        U {
            b: self.b,
            v: self.b.pure(Op::Lo, &[self.v]),
        }
    }

    /// High word.
    pub fn hi(self) -> U<'b> {
        U {
            b: self.b,
            v: self.b.pure(Op::Hi, &[self.v]),
        }
    }

    /// As a float of 64 bits.
    pub fn float(self, env: Env) -> F<'b> {
        debug_assert!(env.ty == Float::F64, "bug: 64 bits as {:?}", env.ty);
        F {
            b: self.b,
            v: self.v,
            env,
        }
    }
}

impl<'b> M<'b> {
    /// A handle on a truth value.
    pub fn new(b: &'b Build, v: Val) -> M<'b> {
        debug_assert!(b.ty(v).width == Width::W1, "bug: {:?} as truth", b.node(v));
        M { b, v }
    }

    /// A constant.
    pub fn imm(b: &'b Build, value: bool) -> M<'b> {
        M {
            b,
            v: b.constant(Width::W1, u64::from(value)),
        }
    }

    /// self ? yes : no
    pub fn pick<T: Handle<'b>>(self, yes: T, no: T) -> T {
        yes.with(self.b.pure(Op::Select, &[self.v, yes.val(), no.val()]))
    }

    /// 1 or 0.
    pub fn int(self) -> U<'b> {
        U {
            b: self.b,
            v: self.b.pure(Op::BoolToInt, &[self.v]),
        }
    }

    /// The value when it is a constant.
    pub fn as_const(self) -> Option<bool> {
        self.b.as_const(self.v).map(|bit| bit != 0)
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

    /// The same bits, computed with otherwise.
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

    /// A lane function of floats of this format and a float result of it.
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
        if self.env.flush.src {
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

    /// Is it a NaN? Constant false when that is visible.
    pub fn is_nan(self) -> M<'b> {
        if self.never_nan() {
            M::imm(self.b, false)
        } else {
            self.uno(self)
        }
    }

    /// Is it a signalling NaN? Constant false when that is visible.
    pub fn is_snan(self) -> M<'b> {
        if self.never_snan() {
            return M::imm(self.b, false);
        }
        // With the quiet bit turned, signalling NaNs are above infinity with that bit, as integers.
        let (all, quiet, inf) = match self.env.ty {
            Float::F32 => (0x7fff_ffff, 1 << 22, 0x7f80_0000),
            Float::F64 => (u64::MAX >> 1, 1 << 51, 0x7ff0_0000_0000_0000),
        };
        let pure = |op, a: F<'b>, b: F<'b>| a.with(self.b.pure(op, &[a.v, b.v]));
        let magnitude = pure(Op::And, self, self.bits(all));
        let turned = pure(Op::Xor, magnitude, self.bits(quiet));
        M {
            b: self.b,
            v: self
                .b
                .pure(Op::Icmp(Icmp::Slt), &[self.bits(inf | quiet).v, turned.v]),
        }
    }

    /// The exponent and mantissa fields of constant bits say that it is no NaN.
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

/// A lane function's first result.
pub fn call<'b>(b: &'b Build, f: LaneFn, imm: u32, args: &[U<'b>]) -> U<'b> {
    debug_assert_eq!(f.shape().0, args.len(), "bug: arguments of {f:?}");
    let vals: Vec<Val> = args.iter().map(|arg| arg.v).collect();
    U {
        b,
        v: b.call(f, imm, &vals),
    }
}

/// Result `n` of a lane function's call.
pub fn result<'b>(first: U<'b>, n: u8) -> U<'b> {
    first.with(first.b.result(first.v, n, types::L32))
}

/// A lane function whose first two results are the words of a 64-bit value.
pub fn call64<'b>(b: &'b Build, f: LaneFn, imm: u32, args: &[U<'b>]) -> Q<'b> {
    let lo = call(b, f, imm, args);
    lo.pair(result(lo, 1))
}
