//! Integer and logic operations of the vector ALU on 32 and 16 bits. 16-bit sources come
//! zero-extended; of 16-bit results only the low half counts.

use frontend::{Op, Ty, ops};

use super::observe::Observer;
use super::operand::{Exec, Lanes};
use super::stop::Run;
use super::vector::{Carried, map1, map2, map3, mask_of};

/// A wide result cut to the type, saturating when `clamp` is set.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "by type: the others are unsigned"
)]
fn fit(ty: Ty, clamp: bool, value: i64) -> u32 {
    if !clamp {
        return value as u32;
    }
    let (low, high) = match ty {
        Ty::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Ty::U16 | Ty::B16 => (0, i64::from(u16::MAX)),
        Ty::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (0, i64::from(u32::MAX)),
    };
    value.clamp(low, high) as u32
}

/// The value of a source: signed types extend their sign.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "by type: the others are unsigned"
)]
fn number(ty: Ty, bits: u32) -> i64 {
    match ty {
        Ty::I16 => i64::from(bits as i16),
        Ty::I32 => i64::from(bits as i32),
        Ty::U16 | Ty::B16 => i64::from(bits as u16),
        _ => i64::from(bits),
    }
}

/// The low 24 bits, sign-extended for signed types.
fn number24(ty: Ty, bits: u32) -> i64 {
    if ty.is_signed() {
        i64::from((bits << 8) as i32 >> 8)
    } else {
        i64::from(bits & 0xff_ffff)
    }
}

fn bytes(v: u32) -> [u32; 4] {
    v.to_le_bytes().map(u32::from)
}

/// Sum of absolute differences of the four bytes.
fn sad4(a: u32, b: u32) -> u32 {
    let (a, b) = (bytes(a), bytes(b));
    (0..4).map(|i| a[i].abs_diff(b[i])).sum()
}

/// As [`sad4`], without the bytes where the reference `b` is 0.
pub(crate) fn masked_sad4(a: u32, b: u32) -> u32 {
    let (a, b) = (bytes(a), bytes(b));
    (0..4)
        .filter(|&i| b[i] != 0)
        .map(|i| a[i].abs_diff(b[i]))
        .sum()
}

/// The plain sum, for `v_qsad`.
pub(crate) fn plain_sad4(a: u32, b: u32) -> u32 {
    sad4(a, b)
}

/// One byte of `v_perm_b32`.
fn perm_byte(data: u64, selector: u32) -> u32 {
    let byte = |n: u32| (data >> (8 * n)) as u32 & 0xff;
    match selector {
        0..=7 => byte(selector),
        8..=11 => {
            // Signs of bytes 1, 3, 5, 7.
            if byte(2 * (selector - 8) + 1) & 0x80 != 0 {
                0xff
            } else {
                0
            }
        }
        12 => 0,
        _ => 0xff,
    }
}

fn perm(s0: u32, s1: u32, selectors: u32) -> u32 {
    let data = u64::from(s0) << 32 | u64::from(s1);
    u32::from_le_bytes(
        selectors
            .to_le_bytes()
            .map(|s| perm_byte(data, u32::from(s)) as u8),
    )
}

/// Vector bit-field extract; the width counts modulo 32.
fn bfe(signed: bool, s0: u32, s1: u32, s2: u32) -> u32 {
    let (offset, width) = (s1 & 31, s2 & 31);
    if width == 0 {
        return 0;
    }
    let width = width.min(32 - offset);
    let up = s0 << (32 - offset - width);
    if signed {
        (up as i32 >> (32 - width)) as u32
    } else {
        up >> (32 - width)
    }
}

fn leading_or_minus_one(v: u32) -> u32 {
    if v == 0 { u32::MAX } else { v.leading_zeros() }
}

fn median<T: Ord>(a: T, b: T, c: T) -> T {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    low.max(high.min(c))
}

/// The table of `v_screen_partition_4se_b32`, Vega ISA, VOP1 55: sixteen nibbles a row.
#[rustfmt::skip]
const SCREEN_PARTITION: [u64; 16] = [
    0xffff_fff7_fff5_f731, 0xffff_ffbf_ffaf_e62f, 0xffff_fdff_f5ff_c4fd, 0xffff_efff_afff_8fb9,
    0xfffe_fff6_fdc4_ffff, 0xffdf_f99f_b98f_ffff, 0xfbff_f9ff_31f7_ffff, 0x7fff_6ff6_2fe6_ffff,
    0xfffa_fb32_ffff_fffb, 0xff5f_d91f_ffff_ff7f, 0xfaff_c8fe_ffff_feff, 0x5fff_4f76_ffff_dfff,
    0xfec8_ffff_fffd_fff9, 0x764f_ffff_ffef_f66f, 0x32fb_ffff_f7ff_f6ff, 0x1fd9_ffff_bfff_9ff9,
];

/// The four bits of the shader engines that the rectangle `S0[7:0]` covers.
fn screen_partition(s0: u32) -> u32 {
    let row = SCREEN_PARTITION[(s0 >> 4 & 15) as usize];
    (row >> (4 * (s0 & 15))) as u32 & 15
}

/// A signed half saturated to a byte.
fn sat_u8(v: u32) -> u32 {
    i32::from(v as i16).clamp(0, 255) as u32
}

impl<O: Observer> Exec<'_, '_, O> {
    /// An operation on integers or bits of up to 32 bits.
    pub(crate) fn int_arm(&self) -> Run<Lanes> {
        let src = self.sources32()?;
        let (s0, s1, s2) = (&src.s0, &src.s1, &src.s2);
        let on = self.active;
        let op = self.inst.op();
        let ty = self.dest_ty();
        let clamp = self.saturates();
        let half = ty.bits() == 16;
        Ok(match op {
            Op::Mov => *s0,
            Op::Select => {
                let mask = self.uniform64(self.inst.src[2])?;
                std::array::from_fn(|l| if mask >> l & 1 != 0 { s1[l] } else { s0[l] })
            }
            Op::Add if !clamp => map2(on, s0, s1, |a, b| a.wrapping_add(b)),
            Op::Sub if !clamp => map2(on, s0, s1, |a, b| a.wrapping_sub(b)),
            Op::Add => map2(on, s0, s1, |a, b| {
                fit(ty, true, number(ty, a) + number(ty, b))
            }),
            Op::Sub => map2(on, s0, s1, |a, b| {
                fit(ty, true, number(ty, a) - number(ty, b))
            }),
            Op::Mul if !clamp => map2(on, s0, s1, u32::wrapping_mul),
            Op::Mul => map2(on, s0, s1, |a, b| {
                fit(ty, true, number(ty, a).saturating_mul(number(ty, b)))
            }),
            Op::MulHi if ty.is_signed() => map2(on, s0, s1, |a, b| {
                ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
            }),
            Op::MulHi => map2(on, s0, s1, |a, b| {
                ((u64::from(a) * u64::from(b)) >> 32) as u32
            }),
            Op::Mul24 => map2(on, s0, s1, |a, b| {
                fit(ty, clamp, number24(ty, a) * number24(ty, b))
            }),
            Op::MulHi24 => map2(on, s0, s1, |a, b| {
                ((number24(ty, a) * number24(ty, b)) >> 32) as u32
            }),
            Op::Mad24 => map3(on, s0, s1, s2, |a, b, c| {
                fit(ty, clamp, number24(ty, a) * number24(ty, b) + number(ty, c))
            }),
            Op::Mad | Op::Mac => map3(on, s0, s1, s2, |a, b, c| {
                fit(ty, clamp, number(ty, a) * number(ty, b) + number(ty, c))
            }),
            Op::Mad32x16 => {
                let factor = self.inst.src_ty(0);
                map3(on, s0, s1, s2, |a, b, c| {
                    let product = number(factor, a) * number(factor, b);
                    fit(ty, clamp, product + number(ty, c))
                })
            }
            Op::Min => map2(on, s0, s1, |a, b| number(ty, a).min(number(ty, b)) as u32),
            Op::Max => map2(on, s0, s1, |a, b| number(ty, a).max(number(ty, b)) as u32),
            Op::Min3 => map3(on, s0, s1, s2, |a, b, c| {
                number(ty, a).min(number(ty, b)).min(number(ty, c)) as u32
            }),
            Op::Max3 => map3(on, s0, s1, s2, |a, b, c| {
                number(ty, a).max(number(ty, b)).max(number(ty, c)) as u32
            }),
            Op::Med3 => map3(on, s0, s1, s2, |a, b, c| {
                median(number(ty, a), number(ty, b), number(ty, c)) as u32
            }),
            Op::Add3 => map3(on, s0, s1, s2, |a, b, c| a.wrapping_add(b).wrapping_add(c)),
            Op::ShlAdd => map3(on, s0, s1, s2, |a, b, c| (a << (b & 31)).wrapping_add(c)),
            Op::AddShl => map3(on, s0, s1, s2, |a, b, c| a.wrapping_add(b) << (c & 31)),
            Op::ShlOr => map3(on, s0, s1, s2, |a, b, c| a << (b & 31) | c),
            Op::AndOr => map3(on, s0, s1, s2, |a, b, c| a & b | c),
            Op::Or3 => map3(on, s0, s1, s2, |a, b, c| a | b | c),
            Op::XorAdd => map3(on, s0, s1, s2, |a, b, c| (a ^ b).wrapping_add(c)),
            Op::And => map2(on, s0, s1, |a, b| a & b),
            Op::Or => map2(on, s0, s1, |a, b| a | b),
            Op::Xor => map2(on, s0, s1, |a, b| a ^ b),
            Op::Xnor => map2(on, s0, s1, |a, b| !(a ^ b)),
            Op::AndN2 => map2(on, s0, s1, |a, b| a & !b),
            Op::OrN2 => map2(on, s0, s1, |a, b| a | !b),
            Op::Nand => map2(on, s0, s1, |a, b| !(a & b)),
            Op::Nor => map2(on, s0, s1, |a, b| !(a | b)),
            Op::Not => map1(on, s0, |a| !a),
            Op::Shl if half => map2(on, s0, s1, |a, b| a << (b & 15)),
            Op::Shl => map2(on, s0, s1, |a, b| a << (b & 31)),
            Op::Lshr if half => map2(on, s0, s1, |a, b| (a & 0xffff) >> (b & 15)),
            Op::Lshr => map2(on, s0, s1, |a, b| a >> (b & 31)),
            Op::Ashr if half => map2(on, s0, s1, |a, b| (a as i16 >> (b & 15)) as u32),
            Op::Ashr => map2(on, s0, s1, |a, b| (a as i32 >> (b & 31)) as u32),
            Op::Bfm => map2(on, s0, s1, |a, b| ((1 << (a & 31)) - 1) << (b & 31)),
            Op::Bfe => {
                let signed = ty.is_signed();
                map3(on, s0, s1, s2, |a, b, c| bfe(signed, a, b, c))
            }
            Op::Bfi => map3(on, s0, s1, s2, |a, b, c| a & b | !a & c),
            Op::Brev => map1(on, s0, u32::reverse_bits),
            Op::BcntAdd => map2(on, s0, s1, |a, b| a.count_ones().wrapping_add(b)),
            Op::Ff1 => map1(on, s0, |a| match a {
                0 => u32::MAX,
                _ => a.trailing_zeros(),
            }),
            Op::Flbit => map1(on, s0, leading_or_minus_one),
            Op::FlbitI => map1(on, s0, |a| {
                leading_or_minus_one(a ^ (a as i32 >> 31) as u32)
            }),
            Op::AlignBit => map3(on, s0, s1, s2, |a, b, c| {
                ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32
            }),
            Op::AlignByte => map3(on, s0, s1, s2, |a, b, c| {
                ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
            }),
            Op::Perm => map3(on, s0, s1, s2, perm),
            Op::Lerp => map3(on, s0, s1, s2, |a, b, c| {
                let (a, b, c) = (a.to_le_bytes(), b.to_le_bytes(), c.to_le_bytes());
                u32::from_le_bytes(std::array::from_fn(|i| {
                    ((u32::from(a[i]) + u32::from(b[i]) + u32::from(c[i] & 1)) >> 1) as u8
                }))
            }),
            Op::SadU8 => map3(on, s0, s1, s2, |a, b, c| {
                fit(ty, clamp, i64::from(sad4(a, b)) + i64::from(c))
            }),
            Op::SadHiU8 => map3(on, s0, s1, s2, |a, b, c| {
                fit(ty, clamp, i64::from(sad4(a, b) << 16) + i64::from(c))
            }),
            Op::SadU16 => map3(on, s0, s1, s2, |a, b, c| {
                let low = (a & 0xffff).abs_diff(b & 0xffff);
                let high = (a >> 16).abs_diff(b >> 16);
                fit(ty, clamp, i64::from(low) + i64::from(high) + i64::from(c))
            }),
            Op::SadU32 => map3(on, s0, s1, s2, |a, b, c| {
                fit(ty, clamp, i64::from(a.abs_diff(b)) + i64::from(c))
            }),
            Op::MsadU8 => map3(on, s0, s1, s2, |a, b, c| {
                fit(ty, clamp, i64::from(masked_sad4(a, b)) + i64::from(c))
            }),
            Op::MbcntLo => std::array::from_fn(|l| {
                let below = ((1u64 << l) - 1) as u32;
                (s0[l] & below).count_ones().wrapping_add(s1[l])
            }),
            Op::MbcntHi => std::array::from_fn(|l| {
                let below = (((1u64 << l) - 1) >> 32) as u32;
                (s0[l] & below).count_ones().wrapping_add(s1[l])
            }),
            Op::ScreenPartition4se => map1(on, s0, screen_partition),
            Op::SatPkU8I16 => map1(on, s0, |a| sat_u8(a) | sat_u8(a >> 16) << 8),
            Op::CvtPkInt if ty == Ty::PkI16 => map2(on, s0, s1, |a, b| {
                let sat = |v: u32| (v as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff;
                sat(a) | sat(b) << 16
            }),
            Op::CvtPkInt if self.inst.src_ty(0).is_signed() => map2(on, s0, s1, |a, b| {
                let sat = |v: u32| (v as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff;
                sat(a) | sat(b) << 16
            }),
            Op::CvtPkInt => map2(on, s0, s1, |a, b| a.min(0xffff) | b.min(0xffff) << 16),
            Op::Cvt | Op::CvtRpi | Op::CvtFlr | Op::CvtOffI4 => return self.unknown(),
            Op::CvtUbyte(_) | Op::CvtPkU8 | Op::CvtPkAccumU8 => return self.unknown(),
            Op::CvtPkNorm | Op::CvtPkRtz | Op::CvtNorm => return self.unknown(),
            Op::PackF16 | Op::FrexpExp => return self.unknown(),
            Op::Fma | Op::Fmac => return self.unknown(),
            // With carries: the other arm.
            Op::AddCo | Op::SubCo | Op::AddCarry | Op::SubBorrow => return self.unknown(),
            Op::Nop => return self.unknown(),
            Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 => return self.unknown(),
            ops!(compare | special | vector_wide | eight_bits | rounding) => return self.unknown(),
            ops!(float | float_wide | legacy | packed) => return self.unknown(),
            ops!(parameters | matrix | salu | mem) => return self.unknown(),
        })
    }

    /// Additions and subtractions with a carry mask.
    pub(crate) fn carry_arithmetic(&self) -> Run<Carried> {
        let src = self.sources32()?;
        let (s0, s1) = (&src.s0, &src.s1);
        let op = self.inst.op();
        let carry_in = if let Op::AddCarry | Op::SubBorrow = op {
            self.uniform64(self.inst.src[2])?
        } else {
            0
        };
        let subtract = matches!(op, Op::SubCo | Op::SubBorrow);
        let exact: [i64; 64] = std::array::from_fn(|l| {
            let (a, b) = (i64::from(s0[l]), i64::from(s1[l]));
            let carry = (carry_in >> l & 1) as i64;
            if subtract {
                a - b - carry
            } else {
                a + b + carry
            }
        });
        // Out of 0..2^32: a carry or a borrow.
        let mask = mask_of(self.active, |l| exact[l] >> 32 != 0);
        let clamp = self.saturates();
        let values = exact.map(|v| fit(Ty::U32, clamp, v));
        Ok(Carried { values, mask })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saturation_by_type() {
        assert_eq!(fit(Ty::U32, true, -1), 0);
        assert_eq!(fit(Ty::U32, true, 1 << 32), u32::MAX);
        assert_eq!(fit(Ty::U32, false, (1 << 32) + 5), 5);
        assert_eq!(fit(Ty::I32, true, i64::from(i32::MAX) + 1), 0x7fff_ffff);
        assert_eq!(fit(Ty::I16, true, -40000) & 0xffff, 0x8000);
        assert_eq!(fit(Ty::U16, true, 65536), 0xffff);
    }

    #[test]
    fn byte_operations() {
        // Selectors 0..3 are bytes of S1, 4..7 of S0; 8..11 signs of bytes 1, 3, 5, 7.
        assert_eq!(perm(0x8899_aabb, 0x1122_3344, 0x0706_0100), 0x8899_3344);
        assert_eq!(perm(0x8899_aabb, 0x1122_b344, 0x0b0a_0908), 0xffff_00ff);
        assert_eq!(perm(0, 0, 0xff0d_0c00), 0xffff_0000);
        assert_eq!(sad4(0xff00_0a05, 0x0001_0509), 255 + 1 + 5 + 4);
        assert_eq!(masked_sad4(0xff00_0a05, 0x0001_0509), 1 + 5 + 4);
        assert_eq!([0, 1, 4, 17, 255].map(screen_partition), [1, 3, 5, 2, 1]);
        assert_eq!(sat_u8(0xffff), 0);
        assert_eq!(sat_u8(0x0100), 255);
        assert_eq!(sat_u8(0x00fe), 254);
    }

    #[test]
    fn bit_fields() {
        assert_eq!(bfe(false, 0xabcd_1234, 8, 8), 0x12);
        assert_eq!(bfe(true, 0xabcd_f234, 8, 8), 0xffff_fff2);
        assert_eq!(
            bfe(true, 0x8000_0000, 28, 16),
            0xffff_fff8,
            "the width is cut at bit 31"
        );
        assert_eq!(bfe(false, 0xffff_ffff, 0, 32), 0, "width 32 counts as 0");
        assert_eq!(bfe(false, 0xffff_ffff, 33, 1), 1, "offset modulo 32");
        assert_eq!(median(3, 1, 2), 2);
        assert_eq!(median(1, 1, 2), 1);
        assert_eq!(number24(Ty::I32, 0xff80_0000), -0x80_0000);
        assert_eq!(number24(Ty::U32, 0xff80_0001), 0x80_0001);
    }
}
