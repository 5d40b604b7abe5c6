//! VOPC: vector compares. The mask gets 0 for inactive lanes; the `cmpx` forms write EXEC as well.

use std::cmp::Ordering;

use frontend::op::Cmp;
use frontend::{Op, Ty, ops};

use super::float;
use super::observe::Observer;
use super::operand::Exec;
use super::stop::Run;
use super::vector::mask_of;
use crate::math::Env;

/// Does the comparison hold for this order? `None`: a source is a NaN.
fn holds(cmp: Cmp, order: Option<Ordering>) -> bool {
    let is = |f: fn(Ordering) -> bool| order.is_some_and(f);
    match cmp {
        Cmp::F => false,
        Cmp::Lt => is(Ordering::is_lt),
        Cmp::Eq => is(Ordering::is_eq),
        Cmp::Le => is(Ordering::is_le),
        Cmp::Gt => is(Ordering::is_gt),
        Cmp::Lg => is(Ordering::is_ne),
        Cmp::Ge => is(Ordering::is_ge),
        Cmp::O => order.is_some(),
        Cmp::U => order.is_none(),
        Cmp::Nge => !is(Ordering::is_ge),
        Cmp::Nlg => !is(Ordering::is_ne),
        Cmp::Ngt => !is(Ordering::is_gt),
        Cmp::Nle => !is(Ordering::is_le),
        Cmp::Neq => !is(Ordering::is_eq),
        Cmp::Nlt => !is(Ordering::is_lt),
        Cmp::T => true,
    }
}

/// An f16 as a number with the same order.
fn half(x: u32) -> f32 {
    f32::from_bits(crate::math::f16_to_f32(x as u16, false))
}

impl<O: Observer> Exec<'_, '_, O> {
    /// One vector compare.
    pub(crate) fn exec_compare(&mut self) -> Run<()> {
        let inst = self.inst;
        let mask = match inst.op() {
            Op::CmpClass | Op::CmpxClass => self.class_mask()?,
            Op::Cmp(cmp) | Op::Cmps(cmp) | Op::Cmpx(cmp) | Op::Cmpsx(cmp) => {
                self.compare_mask(cmp)?
            }
            ops!(moves | arithmetic | integer | logic | shifts | bits) => return self.unknown(),
            ops!(valu | salu | mem) => return self.unknown(),
        };
        self.set_uniform64(inst.dst[0], mask)?;
        if matches!(inst.op(), Op::Cmpx(_) | Op::Cmpsx(_) | Op::CmpxClass) {
            self.wave.set_exec(mask);
        }
        Ok(())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "by type: the others are unsigned"
    )]
    fn compare_mask(&self, cmp: Cmp) -> Run<u64> {
        let on = self.active;
        let ty = self.inst.src_ty(0);
        if ty.bits() == 64 {
            let (mut a, mut b) = (self.source64(0)?, self.source64(1)?);
            if self.inst.desc.rev {
                std::mem::swap(&mut a, &mut b);
            }
            let denorm = Env::f16_f64_of_mode(self.wave.mode).denorm;
            return Ok(mask_of(on, |l| {
                let (a, b) = (a[l], b[l]);
                holds(
                    cmp,
                    match ty {
                        Ty::I64 => Some((a as i64).cmp(&(b as i64))),
                        Ty::F64 => {
                            let number = |x| f64::from_bits(denorm.src_f64(x));
                            number(a).partial_cmp(&number(b))
                        }
                        _ => Some(a.cmp(&b)),
                    },
                )
            }));
        }
        let src = self.sources32()?;
        let (a, b) = (&src.s0, &src.s1);
        let mode = self.wave.mode;
        let (denorm32, denorm16) = (
            Env::f32_of_mode(mode).denorm,
            Env::f16_f64_of_mode(mode).denorm,
        );
        Ok(match ty {
            Ty::I32 => mask_of(on, |l| holds(cmp, Some((a[l] as i32).cmp(&(b[l] as i32))))),
            Ty::I16 => mask_of(on, |l| holds(cmp, Some((a[l] as i16).cmp(&(b[l] as i16))))),
            Ty::F32 => mask_of(on, |l| {
                let number = |x| f32::from_bits(denorm32.src_f32(x));
                holds(cmp, number(a[l]).partial_cmp(&number(b[l])))
            }),
            Ty::F16 => mask_of(on, |l| {
                let number = |x: u32| half(u32::from(denorm16.src_f16(x as u16)));
                holds(cmp, number(a[l]).partial_cmp(&number(b[l])))
            }),
            // 16-bit sources are zero-extended.
            _ => mask_of(on, |l| holds(cmp, Some(a[l].cmp(&b[l])))),
        })
    }

    /// `v_cmp_class`: one bit of the mask S1 for each class. Nothing is flushed before.
    fn class_mask(&self) -> Run<u64> {
        let on = self.active;
        let classes = self.source32(1)?;
        let ty = self.inst.src_ty(0);
        Ok(if ty == Ty::F64 {
            let a = self.source64(0)?;
            mask_of(on, |l| float::class_f64(a[l]) & classes[l] != 0)
        } else if ty == Ty::F16 {
            let a = self.source32(0)?;
            mask_of(on, |l| float::class_f16(a[l] as u16) & classes[l] != 0)
        } else {
            let a = self.source32(0)?;
            mask_of(on, |l| float::class_f32(a[l]) & classes[l] != 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_of_ordered_and_unordered() {
        use Cmp::*;
        let (less, equal, nan) = (Some(Ordering::Less), Some(Ordering::Equal), None);
        // comparison, of a smaller, of an equal, of a NaN
        let cases = [
            (F, false, false, false),
            (Lt, true, false, false),
            (Eq, false, true, false),
            (Le, true, true, false),
            (Gt, false, false, false),
            (Lg, true, false, false),
            (Ge, false, true, false),
            (O, true, true, false),
            (U, false, false, true),
            (Nge, true, false, true),
            (Nlg, false, true, true),
            (Ngt, true, true, true),
            (Nle, false, false, true),
            (Neq, true, false, true),
            (Nlt, false, true, true),
            (T, true, true, true),
        ];
        for (cmp, a, b, c) in cases {
            assert_eq!(
                [holds(cmp, less), holds(cmp, equal), holds(cmp, nan)],
                [a, b, c],
                "{cmp:?}"
            );
        }
    }
}
