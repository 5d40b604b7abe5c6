//! Typed handles on IR values, so that an arm reads like the manual's formula: integers of 32 and
//! 64 bits, floats with the environment that they are computed in, and truth values. Handles are
//! `Copy` and contain the builder; conversions between kinds are explicit calls. The operations of
//! integers and floats are in `value/`.

mod float;
mod integer;

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};

use crate::ir::build::{Build, types};
use crate::ir::{LaneFn, Op, Val, Width};

pub use float::Env;

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
    /// Its environment.
    pub env: Env,
}

/// A handle: wraps a value.
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
