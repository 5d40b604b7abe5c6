//! Operations of handles on 32-bit and 64-bit integers.

use super::{Env, F, Handle, M, Q, U, call, call64};
use crate::ir::build::{Build, types};
use crate::ir::{Float, Halves, Icmp, LaneFn, Op, Val, Width};

/// Operations that both widths share.
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

    /// The operation on both halves of words.
    pub fn halves(self, op: Halves, other: U<'b>) -> U<'b> {
        self.bin(Op::Halves(op), other)
    }

    /// Both halves shifted.
    pub fn shift_halves(self, op: fn(u8) -> Halves, n: u8) -> U<'b> {
        self.un(Op::Halves(op(n)))
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

    /// The mask of the low `n` bits for n below 32, 0 for n = 0.
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
