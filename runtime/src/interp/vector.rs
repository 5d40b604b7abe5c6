//! The vector ALU: from sources through the chapters' arms to the destination. Arms compute values
//! for lanes; EXEC, modifiers and registers are handled here.

use frontend::{Op, Ty, ops};

use super::observe::Observer;
use super::operand::{Exec, Lanes, Lanes64, lanes};
use super::stop::Run;

/// A result for each active lane, and a mask for carries.
pub(crate) struct Carried {
    pub(crate) values: Lanes,
    pub(crate) mask: u64,
}

/// `f` of every acting lane; a full wave goes through a plain loop.
pub(crate) fn map1<A: Copy, D: Copy + Default>(
    active: u64,
    a: &[A; 64],
    f: impl Fn(A) -> D,
) -> [D; 64] {
    if active == u64::MAX {
        return std::array::from_fn(|l| f(a[l]));
    }
    let mut d = [D::default(); 64];
    lanes(active).for_each(|l| d[l] = f(a[l]));
    d
}

/// As [`map1`] of two sources.
pub(crate) fn map2<A: Copy, B: Copy, D: Copy + Default>(
    active: u64,
    a: &[A; 64],
    b: &[B; 64],
    f: impl Fn(A, B) -> D,
) -> [D; 64] {
    if active == u64::MAX {
        return std::array::from_fn(|l| f(a[l], b[l]));
    }
    let mut d = [D::default(); 64];
    lanes(active).for_each(|l| d[l] = f(a[l], b[l]));
    d
}

/// As [`map1`] of three sources.
pub(crate) fn map3<A: Copy, B: Copy, C: Copy, D: Copy + Default>(
    active: u64,
    a: &[A; 64],
    b: &[B; 64],
    c: &[C; 64],
    f: impl Fn(A, B, C) -> D,
) -> [D; 64] {
    if active == u64::MAX {
        return std::array::from_fn(|l| f(a[l], b[l], c[l]));
    }
    let mut d = [D::default(); 64];
    lanes(active).for_each(|l| d[l] = f(a[l], b[l], c[l]));
    d
}

/// The mask of acting lanes for which `f` holds.
pub(crate) fn mask_of(active: u64, f: impl Fn(usize) -> bool) -> u64 {
    lanes(active).fold(0, |mask, l| mask | u64::from(f(l)) << l)
}

/// Sources of up to 32 bits, exchanged for rows marked `rev`. Missing ones are zero.
pub(crate) struct Sources {
    pub(crate) s0: Lanes,
    pub(crate) s1: Lanes,
    pub(crate) s2: Lanes,
}

impl<O: Observer> Exec<'_, '_, O> {
    /// The sources of up to 32 bits; the accumulator of `v_mac` and its like is S2.
    pub(crate) fn sources32(&self) -> Run<Sources> {
        let types = self.inst.desc.src;
        let mut src = Sources {
            s0: [0; 64],
            s1: [0; 64],
            s2: [0; 64],
        };
        let exchanged = self.inst.desc.rev;
        for (n, ty) in types.iter().enumerate().take(3) {
            if *ty != Ty::Mask {
                let to = match (n, exchanged) {
                    (0, false) | (1, true) => &mut src.s0,
                    (0 | 1, _) => &mut src.s1,
                    _ => &mut src.s2,
                };
                self.read_source32(n, to)?;
            }
        }
        if types.len() < 3 && self.reads_dest() {
            src.s2 = self.accumulator()?;
            if self.dest_ty().bits() == 16 {
                src.s2.iter_mut().for_each(|v| *v &= 0xffff);
            }
        }
        Ok(src)
    }

    /// One vector ALU instruction.
    pub(crate) fn exec_vector(&mut self) -> Run<()> {
        self.active = self.wave.exec();
        self.apply_dpp_to_active()?;
        match self.inst.op() {
            Op::Nop | Op::ClrExcp => Ok(()),
            Op::ReadLane
            | Op::WriteLane
            | Op::ReadFirstLane
            | Op::Swap
            | Op::MovRelS
            | Op::MovRelD
            | Op::MovRelSD
            | Op::MovRelSD2 => self.exec_lane(),
            ops!(compare) => self.exec_compare(),
            Op::InterpP1 | Op::InterpP1Ll | Op::InterpP1Lv | Op::InterpP2 | Op::InterpMov => {
                self.exec_interp()
            }
            Op::Mix | Op::MixLo | Op::MixHi => self.exec_mix(),
            Op::Dot2 | Op::Dot4 | Op::Dot8 | Op::Dot2c | Op::Dot4c | Op::Dot8c => self.exec_dot(),
            Op::Mfma(shape) | Op::Smfmac(shape) => self.exec_mfma(shape),
            Op::AccVgprRead => self.exec_accvgpr_read(),
            Op::AccVgprWrite | Op::AccVgprMov => self.exec_accvgpr_write(),
            Op::Mov | Op::Select | ops!(arithmetic | integer | logic | shifts | bits) => {
                self.exec_by_type()
            }
            ops!(vector | vector_wide | convert | rounding | float | float_wide | legacy) => {
                self.exec_by_type()
            }
            ops!(eight_bits) => self.exec_eight_bits(),
            ops!(salu | mem) => self.unknown(),
        }
    }

    /// An operation whose chapter depends on its types.
    fn exec_by_type(&mut self) -> Run<()> {
        if self.is_packed() {
            return self.exec_packed();
        }
        if self.is_wide() {
            return self.exec_wide();
        }
        if self.inst.op() == Op::DivScale {
            let out = self.div_scale32()?;
            return self.finish_carried(out);
        }
        if let Op::AddCo | Op::SubCo | Op::AddCarry | Op::SubBorrow = self.inst.op() {
            let out = self.carry_arithmetic()?;
            return self.finish_carried(out);
        }
        let d = match self.is_float_chapter() {
            true => self.float_arm()?,
            false => self.int_arm()?,
        };
        self.write32(&d)
    }

    /// Are source and destination packed? (Conversions that only pack their results are not meant.)
    fn is_packed(&self) -> bool {
        let packed = |ty: &Ty| {
            matches!(
                ty,
                Ty::PkF16 | Ty::PkI16 | Ty::PkU16 | Ty::PkF32 | Ty::PkB32
            )
        };
        packed(&self.dest_ty()) && self.inst.desc.src.first().is_some_and(packed)
    }

    /// Does a source or destination have 64 bits or more (lane masks aside)?
    fn is_wide(&self) -> bool {
        let desc = self.inst.desc;
        desc.dst
            .iter()
            .chain(desc.src)
            .any(|ty| ty.bits() >= 64 && *ty != Ty::Mask)
    }

    /// Does the operation compute with floats or convert to or from them? (Moves and selections of
    /// float bits do not.)
    fn is_float_chapter(&self) -> bool {
        let desc = self.inst.desc;
        let float = desc.dst.iter().chain(desc.src).any(|ty| ty.is_float());
        float && !matches!(self.inst.op(), Op::Mov | Op::Select)
    }

    /// Writes a result and its mask. Both are computed before either is written, since they may
    /// overlap the sources; nothing is written when the vector destination is out of range.
    pub(crate) fn finish_carried(&mut self, out: Carried) -> Run<()> {
        if self.dest_dropped()? {
            return Ok(());
        }
        self.write32(&out.values)?;
        self.set_uniform64(self.inst.dst[1], out.mask & self.active)
    }

    /// As [`Exec::finish_carried`] of 64-bit results.
    pub(crate) fn finish_carried64(&mut self, values: &Lanes64, mask: u64) -> Run<()> {
        if self.dest_dropped()? {
            return Ok(());
        }
        self.write64(values)?;
        self.set_uniform64(self.inst.dst[1], mask & self.active)
    }
}
