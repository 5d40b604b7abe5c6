//! Registers, register groups, constants and separators, as all encodings print them.

use crate::decode::operand::{float_bits, float_code};
use crate::inst::{Operand, Special};
use crate::target::Gfx;
use crate::ty::Ty;

/// Appends formatted text; writing to a `String` cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {
        std::fmt::Write::write_fmt($out, format_args!($($arg)*))
            .expect("writing to a String does not fail")
    };
}
pub(super) use put;

/// The list separator: a space before the first operand, a comma and a space before the others.
#[derive(Default)]
pub(super) struct Sep(bool);

impl Sep {
    /// Appends the separator before the next operand.
    pub(super) fn next(&mut self, out: &mut String) {
        out.push_str(if self.0 { ", " } else { " " });
        self.0 = true;
    }
}

/// An operand of type `ty`: its registers, or its constant as LLVM prints it.
pub(super) fn operand(out: &mut String, gfx: Gfx, operand: Operand, ty: Ty) {
    match operand {
        Operand::None => out.push_str("off"),
        Operand::Sgpr(code) => sgpr(out, gfx, code, ty.regs()),
        Operand::Vgpr(first) => group(out, 'v', u32::from(first), ty.regs()),
        Operand::Agpr(first) => group(out, 'a', u32::from(first), ty.regs()),
        Operand::Inline { code, .. } => inline(out, code, ty),
        Operand::Literal { word, .. } => literal(out, gfx, word, ty),
        Operand::Special(special) => out.push_str(special_name(special)),
        Operand::Imm(value) => put!(out, "{value}"),
    }
}

/// `v5`, `s[4:7]`, `ttmp[4:5]`: a register or a group of them.
pub(super) fn group(out: &mut String, prefix: impl std::fmt::Display, first: u32, regs: u32) {
    if regs <= 1 {
        put!(out, "{prefix}{first}");
    } else {
        put!(out, "{prefix}[{first}:{}]", first + regs - 1);
    }
}

/// A scalar register (or the first of `regs`) by its code.
pub(super) fn sgpr(out: &mut String, gfx: Gfx, code: u8, regs: u32) {
    let ttmp = if gfx.is_gfx9() { 108 } else { 112 };
    let plain = if gfx.is_gfx6_7() { 103 } else { 101 };
    let pair = match code {
        _ if code <= plain => return group(out, 's', u32::from(code), regs),
        _ if (ttmp..124).contains(&code) => {
            return group(out, "ttmp", u32::from(code - ttmp), regs);
        }
        102 | 103 => "flat_scratch",
        104 | 105 if gfx == Gfx::Gfx700 => "flat_scratch",
        104 | 105 => "xnack_mask",
        106 | 107 => "vcc",
        108 | 109 => "tba",
        110 | 111 => "tma",
        124 => return out.push_str("m0"),
        _ => "exec",
    };
    out.push_str(pair);
    if regs <= 1 {
        out.push_str(if code & 1 == 0 { "_lo" } else { "_hi" });
    }
}

/// An inline constant by its code.
pub(super) fn inline(out: &mut String, code: u8, ty: Ty) {
    match code {
        128..=192 => put!(out, "{}", code - 128),
        193..=208 => put!(out, "-{}", code - 192),
        // An integer operand of 16 bits: LLVM prints the bits of the constant as f16.
        _ if matches!(ty, Ty::B16 | Ty::U16 | Ty::I16) => {
            put!(out, "0x{:x}", float_bits(code, Ty::F16));
        }
        248 if ty.has_wide_constants() => out.push_str("0.15915494309189532"),
        248 => out.push_str("0.15915494"),
        _ => {
            const FLOATS: [&str; 8] = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"];
            out.push_str(FLOATS[usize::from(code - 240) & 7]);
        }
    }
}

/// A literal; one that equals an inline constant prints as that constant, as LLVM does.
pub(super) fn literal(out: &mut String, gfx: Gfx, word: u32, ty: Ty) {
    let small = |number: i32| (-16..=64).contains(&number).then_some(number);
    // The number or the float that it prints as, and the bits that remain otherwise.
    let (number, float, bits) = match ty {
        Ty::F16 => (
            small(i32::from(word as i16)),
            float_code(u64::from(word), Ty::F16),
            word & 0xffff,
        ),
        Ty::B16 | Ty::U16 | Ty::I16 => (
            small(word as i32),
            float_code(u64::from(word), Ty::F32),
            word & 0xffff,
        ),
        Ty::PkF16 => (
            small(word as i32),
            float_code(u64::from(word), Ty::F16),
            word,
        ),
        Ty::F64 => (
            (word == 0).then_some(0),
            float_code(u64::from(word) << 32, Ty::F64),
            word,
        ),
        _ if ty.bits() == 64 => (i32::try_from(word).ok().and_then(small), None, word),
        _ => (
            small(word as i32),
            float_code(u64::from(word), Ty::F32),
            word,
        ),
    };
    match (number, float) {
        (Some(number), _) => put!(out, "{number}"),
        (None, Some(248)) if gfx.is_gfx6_7() => put!(out, "0x{bits:x}"),
        (None, Some(248)) if ty == Ty::F64 => out.push_str("0.15915494309189532"),
        (None, Some(code)) => inline(out, code, Ty::F32),
        (None, None) => put!(out, "0x{bits:x}"),
    }
}

/// A number in an immediate field as LLVM prints plain ones: small decimal, else hexadecimal.
pub(super) fn number(out: &mut String, value: u32) {
    if value <= 64 {
        put!(out, "{value}");
    } else {
        put!(out, "0x{value:x}");
    }
}

/// The name of a special source.
pub(super) fn special_name(special: Special) -> &'static str {
    match special {
        Special::SharedBase => "src_shared_base",
        Special::SharedLimit => "src_shared_limit",
        Special::PrivateBase => "src_private_base",
        Special::PrivateLimit => "src_private_limit",
        Special::PopsExitingWaveId => "src_pops_exiting_wave_id",
        Special::Vccz => "src_vccz",
        Special::Execz => "src_execz",
        Special::Scc => "src_scc",
        Special::LdsDirect => "src_lds_direct",
    }
}
