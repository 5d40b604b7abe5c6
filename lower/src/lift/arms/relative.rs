//! Vector instructions with register numbers relative to M0: relative moves, and all instructions
//! while GPR indexing is on. Such an instruction is a block of its own. Its operands become
//! temporary registers, filled by reads at the numbers that M0 gives; results are written where M0
//! says.

use frontend::desc::{Effects, Encoding};
use frontend::inst::{Inst, M0, Operand};
use frontend::op::Op;
use frontend::ops;

use crate::ir::functions::EffectFn;
use crate::ir::{Op as Ir, Val};
use crate::lift::arms::memory::effect;
use crate::lift::arms::{Lowered, Sites, plain};
use crate::lift::guest::{Guest, register_behind};
use crate::lift::value::{M, Q, U};

/// The operands that GPR indexing applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// Operands by enable bit: S0, S1, S2, D from bit 0 on. The addend of `v_madmk` is S2.
    Known(u8),
    /// M0 has the enables.
    Unknown,
}

/// The bit of D among the enables.
const D: usize = 3;

/// Temporary registers of source `i`, and of D after the sources.
fn stand_in(i: usize) -> u8 {
    16 * i as u8
}

/// Enables of a relative move.
fn moves(op: Op) -> Option<u8> {
    Some(match op {
        Op::MovRelS => 1,
        Op::MovRelD => 1 << D,
        Op::MovRelSD => 1 | 1 << D,
        Op::Nop | Op::Mov | Op::Select | Op::MovRelSD2 => return None,
        ops!(arithmetic | integer | logic | shifts | bits | compare) => return None,
        ops!(valu | salu | mem) => return None,
    })
}

/// Does the instruction name registers relative to M0?
pub(crate) fn applies(inst: &Inst, indexing: Option<Indexing>) -> bool {
    let vector = matches!(
        inst.desc.encoding,
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vop3 | Encoding::Vop3p
    );
    if !vector {
        return false;
    }
    if moves(inst.op()).is_some() {
        return true;
    }
    let enables = match indexing {
        None => return false,
        Some(Indexing::Known(bits)) => bits,
        Some(Indexing::Unknown) => 0xf,
    };
    let is_vgpr = |operand: &Operand| matches!(operand, Operand::Vgpr(_));
    let source = (0..4).any(|i| is_vgpr(&inst.src[i]) && enables >> i & 1 != 0);
    let accumulator = inst.desc.effects.has(Effects::READS_D) && enables >> 2 & 1 != 0;
    let destination = inst.dst.iter().any(is_vgpr);
    source || (destination && (accumulator || enables >> D & 1 != 0))
}

/// The index added to the operand with enable bit `bit`.
fn index<'b>(g: &mut Guest<'b>, op: Op, bit: usize) -> Option<U<'b>> {
    let m0 = U::new(g.b, g.read_s32(M0));
    if let Some(enables) = moves(op) {
        return (enables >> bit & 1 != 0).then_some(m0);
    }
    let low = m0 & m0.k(0xff);
    match g.indexing? {
        Indexing::Known(bits) => (bits >> bit & 1 != 0).then_some(low),
        Indexing::Unknown => {
            let on = (m0.lshr_k(12 + bit as u32) & m0.k(1)).is_nonzero();
            Some(on.pick(low, m0.k(0)))
        }
    }
}

/// Lowers an instruction to which [`applies`] applies.
pub(crate) fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    let from_vgpr = matches!(inst.src[0], Operand::Vgpr(_));
    // Only VGPRs can be indexed.
    let no_move = matches!(inst.op(), Op::MovRelS | Op::MovRelSD) && !from_vgpr;
    // No page says how indexing affects accumulation registers.
    let mut operands = inst.src.iter().chain(&inst.dst);
    let accumulates = operands.any(|operand| matches!(operand, Operand::Agpr(_)));
    if matches!(inst.op(), Op::Swap | Op::Mfma(_) | Op::Smfmac(_)) || no_move || accumulates {
        return Lowered::Fallback;
    }
    let site = sites.add(pc, inst);
    let b = g.b;
    let mut renamed = *inst;
    let mut values: Vec<(u16, Val)> = Vec::new();
    // The registers of an operand, at its own number or with the index.
    let read = |g: &mut Guest<'_>, values: &mut Vec<_>, n: u8, regs: u8, bit, at: u8| {
        let index = index(g, inst.op(), bit);
        for k in 0..regs {
            let value = match index {
                None => g.read_v_all(register_behind(n.into(), k)),
                Some(index) => {
                    let first = index.k(u64::from(n));
                    let args = [
                        first.v,
                        index.v,
                        g.imm32(u32::from(regs)),
                        g.imm32(u32::from(k)),
                    ];
                    effect(g, EffectFn::ReadRelative, site, &args, 1, 0)
                }
            };
            values.push((u16::from(at + k), value));
        }
    };
    for (i, ty) in inst.desc.src.iter().enumerate() {
        if let Operand::Vgpr(n) = inst.src[i] {
            let regs = ty.regs().max(1) as u8;
            read(g, &mut values, n, regs, i, stand_in(i));
            renamed.src[i] = Operand::Vgpr(stand_in(i));
        }
    }
    let mut destination = None;
    if let Operand::Vgpr(n) = inst.dst[0] {
        let regs = inst.desc.dst[0].regs().max(1) as u8;
        // A register written relative to M0 is written only in active lanes.
        let at = stand_in(4);
        let keeps = index(g, inst.op(), D).is_none() || reads_destination(g, inst);
        if keeps {
            read(g, &mut values, n, regs, D, at);
        }
        renamed.dst[0] = Operand::Vgpr(at);
        destination = Some((n, regs));
        if inst.desc.effects.has(Effects::READS_D) {
            read(g, &mut values, n, regs, 2, stand_in(5));
            g.accumulator = Some(Operand::Vgpr(stand_in(5)));
        }
    }
    // `v_writelane` ignores EXEC.
    let exec = if inst.op() == Op::WriteLane {
        g.imm64(u64::MAX)
    } else {
        g.exec()
    };
    let mask = if let Operand::Sgpr(n) = inst.dst[1] {
        Some((n, g.read_s64(n)))
    } else {
        None
    };
    let saved = g.replace_lanes(&values);
    let lowered = plain(g, &renamed, pc, sites);
    let written = g.restore_lanes(saved);
    g.accumulator = None;
    let (Lowered::Done, Some((n, regs))) = (lowered, destination) else {
        return lowered;
    };
    let index = index(g, inst.op(), D);
    let mut there = None;
    for (at, value) in written {
        let k = at as u8 - stand_in(4);
        let Some(index) = index else {
            g.write_v_all(register_behind(n.into(), k), value);
            continue;
        };
        let value = merged(g, exec, value);
        let first = index.k(u64::from(n));
        let (count, k) = (g.imm32(u32::from(regs)), g.imm32(u32::from(k)));
        let args = [first.v, index.v, count, k, exec, value];
        let written = effect(g, EffectFn::WriteRelative, site, &args, 0, 1);
        there = Some(U::new(b, written));
    }
    // Without its destination the instruction has no effect.
    if let (Some(there), Some((n, old))) = (there, mask) {
        let new = Q::new(b, g.read_s64(n));
        g.write_s64(n, there.is_nonzero().pick(new, Q::new(b, old)).v);
    }
    Lowered::Done
}

/// Does the instruction read its destination, beyond the merge under EXEC?
fn reads_destination(g: &Guest<'_>, inst: &Inst) -> bool {
    inst.reads_d(g.gfx) || inst.mods.dpp.is_some() || inst.op() == Op::WriteLane
}

/// The value that a merge under `exec` takes, as lanes.
fn merged(g: &mut Guest<'_>, exec: Val, value: Val) -> Val {
    let b = g.b;
    let mask = M::new(b, b.pure(Ir::ExecMask, &[exec]));
    match b.parts(value) {
        (Ir::Select, args) if args[0] == mask.v => args[1],
        _ => value,
    }
}
