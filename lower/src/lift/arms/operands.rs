//! Operands of vector ALU instructions: sources and results of arms, and raw reads of operands.

use frontend::inst::Operand;
use frontend::ty::Ty;

use crate::ir::Float;
use crate::lift::arms::scalar::{special32, special64};
use crate::lift::guest::{Guest, register_behind};
use crate::lift::value::{Env, F, M, Q, U};

/// One source after its modifiers.
#[derive(Clone, Copy)]
pub(super) enum Src<'b> {
    /// 32 bits, or 16 bits in the low half with unspecified bits above.
    W(U<'b>),
    /// 64 bits.
    D(Q<'b>),
    /// A lane mask.
    M(M<'b>),
    /// 128 bits.
    X([U<'b>; 4]),
}

/// Result of an operation.
pub(super) enum Out<'b> {
    /// D of 32 bits, or of 16 bits with zeros above.
    W(U<'b>),
    /// D of 64 bits.
    D(Q<'b>),
    /// D of 128 bits.
    X([U<'b>; 4]),
    /// A mask as D.
    M(M<'b>),
    /// D and the mask D1.
    WM(U<'b>, M<'b>),
    /// 64-bit D and the mask D1.
    DM(Q<'b>, M<'b>),
}

/// The sources in the order of the operation, and the context of the computation.
pub(super) struct Args<'b> {
    /// After modifiers and exchange; D follows the last source for operations that read it.
    pub(super) src: Vec<Src<'b>>,
    /// Types in the same order.
    pub(super) ty: Vec<Ty>,
    /// MODE's float bits; they keep denormal results if an output modifier, which flushes, follows.
    pub(super) mode: u32,
    /// An output modifier follows.
    pub(super) omod: bool,
    /// Integer results saturate.
    pub(super) saturate: bool,
    /// A target of gfx9.
    pub(super) gfx9: bool,
}

impl<'b> Args<'b> {
    /// Source `i` of 32 bits.
    pub(super) fn u(&self, i: usize) -> Option<U<'b>> {
        match self.src.get(i)? {
            Src::W(u) => Some(*u),
            Src::D(_) | Src::M(_) | Src::X(_) => None,
        }
    }

    /// Source `i` of 64 bits.
    pub(super) fn q(&self, i: usize) -> Option<Q<'b>> {
        match self.src.get(i)? {
            Src::D(q) => Some(*q),
            Src::W(_) | Src::M(_) | Src::X(_) => None,
        }
    }

    /// Source `i`, a mask.
    pub(super) fn m(&self, i: usize) -> Option<M<'b>> {
        match self.src.get(i)? {
            Src::M(m) => Some(*m),
            Src::W(_) | Src::D(_) | Src::X(_) => None,
        }
    }

    /// Source `i`, a float of 32 or 64 bits in MODE's environment.
    pub(super) fn f(&self, i: usize) -> Option<F<'b>> {
        match self.src.get(i)? {
            Src::W(u) => Some(u.float(Env::of(Float::F32, self.mode))),
            Src::D(q) => Some(q.float(Env::of(Float::F64, self.mode))),
            Src::M(_) | Src::X(_) => None,
        }
    }

    /// Type of source `i`.
    pub(super) fn ty(&self, i: usize) -> Ty {
        self.ty.get(i).copied().unwrap_or(Ty::B32)
    }
}

/// An operand of 32 (or 16) bits without modifiers.
pub(super) fn read32<'b>(g: &mut Guest<'b>, operand: Operand) -> Option<U<'b>> {
    let b = g.b;
    Some(match operand {
        Operand::Vgpr(_) | Operand::Agpr(_) => U::new(b, g.read_v(operand.vector_register()?)),
        Operand::Sgpr(n) => U::new(b, g.read_s32(n)),
        Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => U::imm(b, bits),
        Operand::Special(special) => special32(g, special)?,
        Operand::None | Operand::Imm(_) => return None,
    })
}

/// An operand of 64 bits without modifiers.
pub(super) fn read64<'b>(g: &mut Guest<'b>, operand: Operand) -> Option<Q<'b>> {
    let b = g.b;
    Some(match operand {
        Operand::Vgpr(_) | Operand::Agpr(_) => {
            let n = operand.vector_register()?;
            let (lo, hi) = (g.read_v(n), g.read_v(register_behind(n, 1)));
            U::new(b, lo).pair(U::new(b, hi))
        }
        Operand::Sgpr(n) => Q::new(b, g.read_s64(n)),
        Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => Q::imm(b, bits),
        Operand::Special(special) => special64(g, special)?,
        Operand::None | Operand::Imm(_) => return None,
    })
}

/// A mask without modifiers.
pub(super) fn read_mask<'b>(g: &mut Guest<'b>, operand: Operand) -> Option<M<'b>> {
    let b = g.b;
    Some(match operand {
        Operand::Sgpr(n) => M::new(b, g.read_mask(n)),
        Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => {
            let bits = b.constant(crate::ir::Width::W64, bits);
            M::new(b, b.pure(crate::ir::Op::MaskFromBits, &[bits]))
        }
        Operand::None | Operand::Vgpr(_) | Operand::Agpr(_) => return None,
        Operand::Special(_) | Operand::Imm(_) => return None,
    })
}
