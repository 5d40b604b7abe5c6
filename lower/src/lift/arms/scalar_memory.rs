//! SMEM (SMRD): scalar loads, stores and atomics, time. The low two bits of every part of an address
//! are ignored.

use frontend::inst::{Inst, Operand};
use frontend::op::{Atomic, Data, Op, Space};
use frontend::ops;

use crate::ir::build::types;
use crate::ir::functions::{EffectFn, atomic_code};
use crate::ir::{Op as Ir, Val};
use crate::lift::arms::memory::{effect, is_compare};
use crate::lift::arms::{Lowered, Sites};
use crate::lift::guest::Guest;
use crate::lift::value::{Q, U};

/// Lowers an SMEM instruction.
pub(super) fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    match access(g, inst, pc, sites) {
        Some(()) => Lowered::Done,
        None => Lowered::Fallback,
    }
}

fn sgpr(operand: Operand) -> Option<u8> {
    if let Operand::Sgpr(n) = operand {
        return Some(n);
    }
    None
}

/// The register offset, 0 when there is none.
fn register_offset<'b>(g: &mut Guest<'b>, inst: &Inst) -> Option<U<'b>> {
    let b = g.b;
    Some(match inst.src[1] {
        Operand::Sgpr(n) => U::new(b, g.read_s32(n)),
        Operand::None => U::imm(b, 0),
        Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => U::imm(b, bits),
        Operand::Vgpr(_) | Operand::Agpr(_) | Operand::Special(_) | Operand::Imm(_) => return None,
    })
}

/// The address of the forms without a descriptor.
fn address<'b>(g: &mut Guest<'b>, inst: &Inst, space: Space) -> Option<Q<'b>> {
    let b = g.b;
    let base = Q::new(b, g.read_s64(sgpr(inst.src[0])?));
    let register = register_offset(g, inst)?;
    let register = if space == Space::ScalarScratch {
        register.zext().shl_k(6)
    } else {
        (register & register.k(0xffff_fffc)).zext()
    };
    let imm = base.k((inst.mem.offset & !3) as u64);
    Some((base & base.k(!3)) + register + imm)
}

/// Descriptor words and offset of the buffer forms.
fn buffer<'b>(g: &mut Guest<'b>, inst: &Inst) -> Option<[Val; 3]> {
    let b = g.b;
    let n = sgpr(inst.src[0])?;
    let [w0, w1, w2, w3] = [0, 1, 2, 3].map(|i| U::new(b, g.read_s32(n.wrapping_add(i))));
    let register = register_offset(g, inst)?;
    let imm = match g.gfx.is_gfx9() {
        // Unsigned here, unlike in the plain forms.
        true => inst.mem.offset as u32 & 0x000f_ffff,
        false => inst.mem.offset as u32,
    };
    // The sum does not wrap at 32 bits; a carry makes it out of range.
    let register = (register & register.k(0xffff_fffc)).zext();
    let offset = register + register.k(u64::from(imm & !3));
    Some([w0.pair(w1).v, w2.pair(w3).v, offset.v])
}

/// Scalar registers as 64-bit words: (low pair, high pair) of up to four.
fn data<'b>(g: &mut Guest<'b>, first: u8, count: u8) -> (Q<'b>, Q<'b>) {
    let b = g.b;
    let word = |g: &mut Guest<'b>, i: u8| {
        if i < count {
            U::new(b, g.read_s32(first.wrapping_add(i)))
        } else {
            U::imm(b, 0)
        }
    };
    let low = word(g, 0).pair(word(g, 1));
    (low, word(g, 2).pair(word(g, 3)))
}

fn write(g: &mut Guest<'_>, d: u8, first: Val, count: u8) {
    for i in 0..count {
        let word = g.b.result(first, i, types::W32);
        g.write_s32(d.wrapping_add(i), word);
    }
}

fn access(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Option<()> {
    let b = g.b;
    match inst.op() {
        Op::CacheCtl => {}
        Op::Load(Space::ScalarBuffer, Data::Dwords(n)) => {
            let d = sgpr(inst.dst[0])?;
            let [low, high, offset] = buffer(g, inst)?;
            let site = sites.add(pc, inst);
            let args = [low, high, offset, g.imm32(u32::from(n))];
            let first = effect(g, EffectFn::ScalarBufferLoad, site, &args, 0, n);
            write(g, d, first, n);
        }
        Op::Load(space, Data::Dwords(n)) => {
            let d = sgpr(inst.dst[0])?;
            let address = address(g, inst, space)?;
            let site = sites.add(pc, inst);
            let first = b.effect(Ir::ScalarLoad(n, site), &[address.v], types::W32);
            write(g, d, first, n);
        }
        Op::Store(space, Data::Dwords(n)) => {
            let s = sgpr(inst.src[2])?;
            let (low, high) = data(g, s, n);
            let count = g.imm32(u32::from(n));
            if space == Space::ScalarBuffer {
                let [d01, d23, offset] = buffer(g, inst)?;
                let site = sites.add(pc, inst);
                let args = [d01, d23, offset, count, low.v, high.v];
                effect(g, EffectFn::ScalarBufferStore, site, &args, 0, 0);
            } else {
                let address = address(g, inst, space)?;
                let site = sites.add(pc, inst);
                let args = [address.v, count, low.v, high.v];
                effect(g, EffectFn::ScalarStore, site, &args, 0, 0);
            }
        }
        Op::Atomic(space, op) => atomic(g, inst, space, op, pc, sites)?,
        Op::MemTime | Op::MemRealtime => {
            let d = sgpr(inst.dst[0])?;
            let site = sites.add(pc, inst);
            let first = effect(g, EffectFn::Time, site, &[], 0, 2);
            write(g, d, first, 2);
        }
        // Scalar data are dwords.
        Op::Load(..) | Op::Store(..) => return None,
        Op::StoreLds | Op::Image(_) | Op::Export => return None,
        ops!(alu | salu | valu | lds) => return None,
    }
    Some(())
}

fn atomic(
    g: &mut Guest<'_>,
    inst: &Inst,
    space: Space,
    op: Atomic,
    pc: u64,
    sites: &mut Sites,
) -> Option<()> {
    let s = sgpr(inst.src[2])?;
    let width = inst.dst_ty(0).regs() as u8;
    let count = if is_compare(op) { 2 * width } else { width };
    let (low, high) = data(g, s, count);
    // New value, then compare value.
    let (new, compare) = match (width, is_compare(op)) {
        (1, true) => (low.lo().zext(), low.hi().zext()),
        _ => (low, high),
    };
    let code = g.imm32(atomic_code(space, op, width) as u32);
    let (f, args) = if space == Space::ScalarBuffer {
        let [d01, d23, offset] = buffer(g, inst)?;
        (
            EffectFn::ScalarBufferAtomic,
            vec![d01, d23, offset, code, new.v, compare.v],
        )
    } else {
        let address = address(g, inst, space)?;
        (
            EffectFn::ScalarAtomic,
            vec![address.v, code, new.v, compare.v],
        )
    };
    let site = sites.add(pc, inst);
    let first = effect(g, f, site, &args, 0, 2);
    if let Operand::Sgpr(d) = inst.dst[0] {
        write(g, d, first, width);
    }
    Some(())
}
