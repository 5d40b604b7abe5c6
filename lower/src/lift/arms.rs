//! One guest instruction to lane IR: the translator's own definition of the instruction set, one
//! file per chapter of the manual.
#![deny(clippy::wildcard_enum_match_arm)]

use frontend::desc::Encoding;
use frontend::inst::{Inst, M0, Operand, Special};
use frontend::op::{Data, Op as GuestOp, Space};

use crate::abi::Site;
use crate::ir::build::types;
use crate::ir::{MatrixCall, Op, SiteId, Val};
use crate::lift::guest::Guest;
use crate::lift::value::{M, U};

mod buffer;
mod compare;
mod convert;
mod division;
mod ds;
mod eight_bits;
mod export;
mod float;
pub(crate) mod fork;
mod half;
mod image;
mod integer;
mod lane;
mod matrix;
pub(crate) mod memory;
mod modifiers;
mod operands;
mod packed;
pub(crate) mod relative;
pub(crate) mod scalar;
mod scalar_memory;
mod vector;

/// Result of lowering an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowered {
    /// Complete: nodes are in the block, results in the guest's registers.
    Done,
    /// An `s_movrel`, which ends its block as [`Term::ScalarMove`](crate::ir::Term::ScalarMove) with this value.
    ScalarMove(Option<Val>),
    /// A matrix instruction, which ends its block as [`Term::Matrix`](crate::ir::Term::Matrix).
    Matrix(MatrixCall),
    /// The interpreter must run it (nothing was changed).
    Fallback,
}

/// The guest instructions that effects refer to.
#[derive(Default, Debug)]
pub struct Sites(pub Vec<Site>);

impl Sites {
    /// Adds an instruction.
    pub fn add(&mut self, pc: u64, inst: &Inst) -> SiteId {
        let id = SiteId(self.0.len() as u32);
        self.0.push(Site { pc, inst: *inst });
        id
    }
}

/// Lowers one instruction that does not change the flow of control.
pub fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    if relative::applies(inst, g.indexing) {
        return relative::lower(g, inst, pc, sites);
    }
    plain(g, inst, pc, sites)
}

/// Lowers an instruction without relative register numbers.
fn plain(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    g.lds_direct = None;
    if inst.src.contains(&Operand::Special(Special::LdsDirect)) {
        g.lds_direct = Some(lds_direct(g, inst, pc, sites));
    }
    if let GuestOp::Mfma(shape) | GuestOp::Smfmac(shape) = inst.op() {
        return matrix::lower(g, inst, shape);
    }
    match inst.desc.encoding {
        Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopk | Encoding::Sopc | Encoding::Sopp => {
            scalar::lower(g, inst, pc, sites)
        }
        Encoding::Smem => scalar_memory::lower(g, inst, pc, sites),
        Encoding::Vop1
        | Encoding::Vop2
        | Encoding::Vopc
        | Encoding::Vop3
        | Encoding::Vop3p
        | Encoding::Vintrp => vector::lower(g, inst),
        Encoding::Ds => ds::lower(g, inst, pc, sites),
        Encoding::Flat | Encoding::Global | Encoding::Scratch => memory::lower(g, inst, pc, sites),
        Encoding::Mubuf | Encoding::Mtbuf => buffer::lower(g, inst, pc, sites),
        Encoding::Exp => export::lower(g, inst, pc, sites),
        Encoding::Mimg => image::lower(g, inst, pc, sites),
    }
}

/// LDS_DIRECT: one LDS value for all lanes. M0 has its byte address in bits 15:0, aligned down to a
/// dword, and its format in bits 18:16.
fn lds_direct(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Val {
    let b = g.b;
    let m0 = U::new(b, g.read_s32(M0));
    let address = m0 & m0.k(0xfffc);
    let all = M::imm(b, true);
    let load = Op::Load(Space::Lds, Data::Dwords(1), sites.add(pc, inst));
    let word = U::new(b, b.effect(load, &[address.v, all.v], types::L32));
    let format = m0.lshr_k(16) & m0.k(7);
    let forms = [
        word.byte(0),
        word.lo16(),
        word,
        word,
        word.sext_from(8),
        word.lo16s(),
    ];
    let mut value = word;
    for (n, form) in forms.into_iter().enumerate() {
        value = format.eq(m0.k(n as u64)).pick(form, value);
    }
    value.v
}
