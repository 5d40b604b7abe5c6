//! What instructions compute, in plain Rust: written from the manuals and their errata, with exact integers rounded
//! once, and from no engine.
//!
//! Where a source is a NaN the result is the first one, quieted; no other NaN than `0x7fc00000` (`0x7e00`) is made,
//! but for the roots of negative numbers, which the manuals give as `0xffc00000`.

mod binary;
mod bits;
mod compare;
mod number;
mod unary;

use crate::sweep::{Form, Shape, Source};

type Function = Box<dyn Fn(u32, u32) -> [u32; 2]>;

/// A form's results by its source registers.
pub struct Reference(Function);

impl Reference {
    /// The reference of a form under a MODE, if there is one.
    pub fn of(form: &Form, mode: u32) -> Option<Reference> {
        let function = match form.shape {
            Shape::Scalar(..) => bits::scalar(form)?,
            Shape::Lanes(_) | Shape::Compare | Shape::CompareExec => match form.sources()? {
                Source::Registers => vector(form, mode)?,
                Source::Halves => {
                    let f = binary::binary(form, mode)?;
                    Box::new(move |x, _| {
                        let (a, b) = (x & 0xffff, x >> 16);
                        [f(a, b) | f(b, a) << 16, 0]
                    })
                }
                Source::Selected(at) => {
                    let f = vector(form, mode)?;
                    Box::new(move |a, b| f(a >> at[0], b >> at[1]))
                }
                Source::Constant(code) => {
                    let f = vector(form, mode)?;
                    let bits = constant(code);
                    Box::new(move |b, _| f(bits, b))
                }
            },
        };
        Some(Reference(function))
    }

    /// The result words: registers in order, then SCC.
    #[inline]
    pub fn results(&self, s0: u32, s1: u32) -> [u32; 2] {
        (self.0)(s0, s1)
    }
}

/// The results of a vector instruction whose sources are in the low bits of the registers.
fn vector(form: &Form, mode: u32) -> Option<Function> {
    if form.desc.src.len() == 2 {
        let f = binary::binary(form, mode)?;
        return Some(Box::new(move |a, b| [f(a & 0xffff, b & 0xffff), 0]));
    }
    unary::unary(form, mode)
}

/// The value of an inline constant in a type of 16 bits. Floats are halves for integer operands as well.
fn constant(code: u32) -> u32 {
    match code {
        128..=192 => code - 128,
        193..=208 => 192u32.wrapping_sub(code) & 0xffff,
        240 => 0x3800,
        241 => 0xb800,
        242 => 0x3c00,
        243 => 0xbc00,
        244 => 0x4000,
        245 => 0xc000,
        246 => 0x4400,
        247 => 0xc400,
        _ => 0x3118,
    }
}

/// Two registers with a number of 64 bits.
fn low(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}
