//! Vector instructions with two sources of 16 bits.

use frontend::state::mode;
use frontend::{Op, Ty};
use harness::number::{Env, F16, F64, Finite, Number, Round, number_of, wide};

use super::compare::{class, compare};
use super::number::{env, first_nan, norm};
use crate::sweep::Form;

/// The result by the sources.
pub(super) type Binary = Box<dyn Fn(u32, u32) -> u32>;

/// Instructions with two sources of 16 bits, which come without noise. Results of comparisons are 0 or 1.
pub(super) fn binary(form: &Form, mode: u32) -> Option<Binary> {
    let desc = form.desc;
    let ty = *desc.src.first()?;
    let plain = plain_binary(form, mode, ty)?;
    Some(match desc.rev {
        true => Box::new(move |a, b| plain(b, a)),
        false => plain,
    })
}

fn plain_binary(form: &Form, mode: u32, ty: Ty) -> Option<Binary> {
    let desc = form.desc;
    let env = env(mode, F16);
    let ieee = mode & mode::IEEE != 0;
    let float = matches!(ty, Ty::F16 | Ty::PkF16);
    let signed = matches!(desc.ty(), Ty::I16 | Ty::PkI16);
    let clamp = form.clamps();
    if clamp && float {
        return None;
    }
    let int = move |x: u32| match signed {
        true => i64::from(x as u16 as i16),
        false => i64::from(x as u16),
    };
    let wrapped = move |value: i64| match (clamp, signed) {
        (false, _) => value as u32 & 0xffff,
        (true, true) => value.clamp(-0x8000, 0x7fff) as u32 & 0xffff,
        (true, false) => value.clamp(0, 0xffff) as u32,
    };
    let flushed = move |x: u32| F16.flushed(x.into(), env.flush_sources);
    Some(match desc.op {
        Op::Add | Op::Sub | Op::Mul if float => {
            let op = desc.op;
            Box::new(move |a, b| arithmetic(op, flushed(a), flushed(b), env) as u32)
        }
        Op::Add => Box::new(move |a, b| wrapped(int(a) + int(b))),
        Op::Sub => Box::new(move |a, b| wrapped(int(a) - int(b))),
        Op::Mul => Box::new(move |a, b| wrapped(int(a) * int(b))),
        // The amount is the operation's second source.
        Op::Shl => Box::new(|a, b| a << (b & 15) & 0xffff),
        Op::Lshr => Box::new(|a, b| a >> (b & 15)),
        Op::Ashr => Box::new(|a, b| (i32::from(a as u16 as i16) >> (b & 15)) as u32 & 0xffff),
        Op::Min | Op::Max if float => {
            let flush = form.gfx.is_gfx9();
            let most = desc.op == Op::Max;
            Box::new(move |a, b| {
                let source = |x: u32| if flush { flushed(x) } else { x.into() };
                let result = extreme(source(a), source(b), most, ieee);
                F16.flushed(result, flush && env.flush_results) as u32
            })
        }
        Op::Min => Box::new(move |a, b| wrapped(int(a).min(int(b)))),
        Op::Max => Box::new(move |a, b| wrapped(int(a).max(int(b)))),
        Op::Ldexp => Box::new(move |a, b| {
            let a = flushed(a);
            let by = i32::from(b as u16 as i16);
            let number = match F16.number(a) {
                Number::Finite(x) => Number::Finite(Finite {
                    exponent: x.exponent + by,
                    ..x
                }),
                other => other,
            };
            F16.of(number, F16, env) as u32
        }),
        Op::PackF16 => Box::new(|a, b| a | b << 16),
        Op::CvtPkNorm => {
            let scale = if desc.dst[0] == Ty::PkI16 {
                32767
            } else {
                65535
            };
            Box::new(move |a, b| {
                let half = |x| norm(F16, x, scale, env.flush_sources);
                half(a) | half(b) << 16
            })
        }
        Op::Cmp(cmp) | Op::Cmpx(cmp) if float => Box::new(move |a, b| {
            let (a, b) = (wide(F16, flushed(a)), wide(F16, flushed(b)));
            u32::from(compare(cmp, a.partial_cmp(&b)))
        }),
        Op::Cmp(cmp) | Op::Cmpx(cmp) => {
            let signed = ty == Ty::I16;
            Box::new(move |a, b| {
                let int = |x: u32| match signed {
                    true => i32::from(x as u16 as i16),
                    false => i32::from(x as u16),
                };
                u32::from(compare(cmp, Some(int(a).cmp(&int(b)))))
            })
        }
        Op::CmpClass | Op::CmpxClass => Box::new(|a, b| u32::from(class(a) & b != 0)),
        _ => return None,
    })
}

fn arithmetic(op: Op, a: u64, b: u64, env: Env) -> u64 {
    if let Some(nan) = first_nan(F16, &[a, b]) {
        return nan;
    }
    let (x, y) = (wide(F16, a), wide(F16, b));
    // Sums, differences and products of halves are exact in f64.
    let exact = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        _ => x * y,
    };
    if exact.is_nan() {
        return F16.nan();
    }
    // A sum of numbers other than equal zeros that cancels is -0 rounding down.
    let same_sign = x.is_sign_negative() == (y.is_sign_negative() != (op == Op::Sub));
    if exact == 0.0 && matches!(op, Op::Add | Op::Sub) && !same_sign {
        return if env.round == Round::Down {
            F16.sign()
        } else {
            0
        };
    }
    F16.of(number_of(exact), F64, env)
}

fn extreme(a: u64, b: u64, most: bool, ieee: bool) -> u64 {
    let signalling = |x: u64| F16.is_nan(x) && x & F16.quiet() == 0;
    if ieee && signalling(a) {
        return a | F16.quiet();
    }
    if ieee && signalling(b) {
        return b | F16.quiet();
    }
    if F16.is_nan(a) {
        return b;
    }
    if F16.is_nan(b) {
        return a;
    }
    // In the order of numbers, -0 below +0.
    let key = |x: u64| match x & F16.sign() {
        0 => x as i64,
        _ => -((x & (F16.sign() - 1)) as i64) - 1,
    };
    if (key(a) < key(b)) != most { a } else { b }
}
