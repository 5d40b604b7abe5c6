//! MUBUF and MTBUF. ADDR64 accesses of gfx6 and gfx7 are plain addresses and become memory nodes,
//! and so do accesses whose descriptor may be that of scratch. Everything else is a call of one
//! runtime function per kind, which evaluates the descriptor.

use frontend::inst::{Inst, M0, Operand};
use frontend::op::{Data, Op, Space};
use frontend::ops;

use crate::ir::build::types;
use crate::ir::functions::EffectFn;
use crate::ir::{Op as Ir, SCRATCH_DESCRIPTOR, Val};
use crate::lift::arms::memory::{
    atomic, d16_half, effect, is_compare, load, load_behind, merge_d16, store, store_behind,
};
use crate::lift::arms::scalar::special32;
use crate::lift::arms::{Lowered, Sites};
use crate::lift::guest::{Guest, register_behind};
use crate::lift::value::{Q, U};

/// Lowers a MUBUF or MTBUF instruction.
pub(super) fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    if inst.op() == Op::CacheCtl {
        let site = sites.add(pc, inst);
        effect(g, EffectFn::Fence, site, &[], 0, 0);
        return Lowered::Done;
    }
    let lowered = if is_plain(g, inst) {
        plain(g, inst, pc, sites)
    } else if may_be_scratch(g, inst) {
        scratch(g, inst, pc, sites)
    } else if g.sanitize {
        None
    } else {
        described(g, inst, pc, sites)
    };
    match lowered {
        Some(()) => Lowered::Done,
        None => Lowered::Fallback,
    }
}

/// The scalar offset.
fn scalar_offset<'b>(g: &mut Guest<'b>, operand: Operand) -> Option<U<'b>> {
    let b = g.b;
    Some(match operand {
        Operand::Sgpr(n) => U::new(b, g.read_s32(n)),
        Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => U::imm(b, bits),
        Operand::Special(special) => special32(g, special)?,
        Operand::None => U::imm(b, 0),
        Operand::Vgpr(_) | Operand::Agpr(_) | Operand::Imm(_) => return None,
    })
}

/// The words of the buffer descriptor.
fn descriptor<'b>(g: &mut Guest<'b>, operand: Operand) -> Option<[U<'b>; 4]> {
    let Operand::Sgpr(n) = operand else {
        return None;
    };
    let b = g.b;
    Some([0, 1, 2, 3].map(|i| U::new(b, g.read_s32(n.wrapping_add(i)))))
}

/// Is it a load or store of registers without conversion?
fn is_raw(inst: &Inst) -> bool {
    let raw = match inst.op() {
        Op::Load(_, data) | Op::Store(_, data) => !matches!(
            data,
            Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi
        ),
        Op::Atomic(..) | Op::StoreLds | Op::Image(_) | Op::Export => false,
        Op::MemTime | Op::MemRealtime | Op::CacheCtl => false,
        ops!(alu | salu | valu | lds) => false,
    };
    raw && !inst.mem.lds && !inst.mem.tfe
}

// ---- scratch

/// May the descriptor be that of scratch? False for descriptors that were loaded or have other
/// constant bits.
fn may_be_scratch(g: &mut Guest<'_>, inst: &Inst) -> bool {
    if !is_raw(inst) || inst.mem.idxen || inst.mem.addr64 {
        return false;
    }
    let Some([_, w1, _, w3]) = descriptor(g, inst.src[1]) else {
        return false;
    };
    let loaded = |v: Val| match g.b.parts(v) {
        (Ir::Result(_), args) => matches!(g.b.parts(args[0]).0, Ir::ScalarLoad(..)),
        (op, _) => matches!(op, Ir::ScalarLoad(..)),
    };
    [w1, w3].iter().zip(SCRATCH_DESCRIPTOR).all(|(word, kind)| {
        let fits = |bits: u64| bits as u32 & kind.mask == kind.bits;
        word.as_const().is_none_or(fits) && !loaded(word.v)
    })
}

/// A scratch access if the descriptor matches at run time, else an access through the descriptor.
fn scratch(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Option<()> {
    let b = g.b;
    let [w0, w1, w2, w3] = descriptor(g, inst.src[1])?;
    let soffset = scalar_offset(g, inst.src[2])?;
    let from = match (inst.mem.offen, inst.src[0]) {
        (false, _) => U::imm(b, 0),
        (true, Operand::Vgpr(v)) => U::new(b, g.read_v(v.into())),
        (true, _) => return None,
    };
    let offset = from + from.k(inst.mem.offset as u64);
    // Range checks include the carry of the sum, except on gfx9, which does not check scratch.
    let least = match !g.gfx.is_gfx9() && inst.mem.offen {
        true => inst.mem.offset as u32,
        false => 0,
    };
    let behind = [w0.pair(w1).v, w2.pair(w3).v, soffset.v, g.imm32(least)];
    match inst.op() {
        Op::Load(_, data) => {
            let d = inst.dst[0].vector_register()?;
            let site = sites.add(pc, inst);
            load_behind(g, Space::Buffer, data, (offset.v, &behind), d, site);
        }
        Op::Store(_, data) => {
            let s = inst.src[3].vector_register()?;
            let site = sites.add(pc, inst);
            store_behind(g, Space::Buffer, data, (offset.v, &behind), s, site);
        }
        Op::Atomic(..) | Op::StoreLds | Op::Image(_) | Op::Export => return None,
        Op::MemTime | Op::MemRealtime | Op::CacheCtl => return None,
        ops!(alu | salu | valu | lds) => return None,
    }
    Some(())
}

// ---- ADDR64

/// Is it an access by a 64-bit address without conversion? (A provably unbound descriptor is left
/// to the runtime.)
fn is_plain(g: &mut Guest<'_>, inst: &Inst) -> bool {
    let mem = &inst.mem;
    let atomic = matches!(inst.op(), Op::Atomic(..)) && !mem.lds && !mem.tfe;
    if !mem.addr64 || !is_raw(inst) && !atomic {
        return false;
    }
    let Some([_, _, _, w3]) = descriptor(g, inst.src[1]) else {
        return false;
    };
    w3.as_const().is_none_or(|w3| w3 >> 15 & 15 != 0)
}

fn plain(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Option<()> {
    let b = g.b;
    let [w0, w1, _, _] = descriptor(g, inst.src[1])?;
    // 48 bits with wraparound: compilers fold negative offsets into the base.
    let base = w0.pair(w1.lo16s());
    let v = inst.src[0].vector_register()?;
    let (lo, hi) = (g.read_v(v), g.read_v(register_behind(v, 1)));
    let soffset = scalar_offset(g, inst.src[2])?;
    let offset = Q::imm(b, inst.mem.offset as u64);
    let mut address: Q<'_> = U::new(b, lo).pair(U::new(b, hi)) + (base + soffset.zext() + offset);
    // gfx6 ignores the low bits of misaligned addresses.
    let size = if let Op::Load(_, data) | Op::Store(_, data) = inst.op() {
        unit(data)
    } else {
        4
    };
    if !g.gfx.buffer_unaligned() && size > 1 {
        address = address & address.k(!(size - 1));
    }
    match inst.op() {
        Op::Load(_, data) => {
            let d = inst.dst[0].vector_register()?;
            let site = sites.add(pc, inst);
            load(g, Space::Global, data, address.v, d, site);
        }
        Op::Store(_, data) => {
            let s = inst.src[3].vector_register()?;
            let site = sites.add(pc, inst);
            store(g, Space::Global, data, address.v, s, site);
        }
        Op::Atomic(_, op) => {
            let s = inst.src[3].vector_register()?;
            let width = inst.dst_ty(0).regs() as u8;
            let count = if is_compare(op) { 2 * width } else { width };
            let words: Vec<Val> = (0..count)
                .map(|i| g.read_v(register_behind(s, i)))
                .collect();
            let site = sites.add(pc, inst);
            atomic(
                g,
                (Space::Global, op, width),
                address.v,
                &words,
                inst.dst[0],
                site,
            );
        }
        Op::StoreLds | Op::Image(_) | Op::Export => return None,
        Op::MemTime | Op::MemRealtime | Op::CacheCtl => return None,
        ops!(alu | salu | valu | lds) => return None,
    }
    Some(())
}

/// Alignment of data in bytes.
fn unit(data: Data) -> u64 {
    match data {
        Data::Dwords(_) => 4,
        Data::U16 | Data::I16 => 2,
        Data::U8 | Data::I8 | Data::D16U8 | Data::D16I8 | Data::D16HiU8 | Data::D16HiI8 => 1,
        // Targets with ADDR64 have no D16 forms.
        Data::D16 | Data::D16Hi | Data::D16HiB8 => 1,
        Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => 1,
    }
}

// ---- through the descriptor

/// Registers of stored data.
fn data_regs(inst: &Inst) -> u8 {
    inst.src_ty(3).regs() as u8
}

fn described(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Option<()> {
    let b = g.b;
    let mem = &inst.mem;
    let [w0, w1, w2, w3] = descriptor(g, inst.src[1])?;
    let soffset = scalar_offset(g, inst.src[2])?;
    let mut args = vec![w0.pair(w1).v, w2.pair(w3).v, soffset.v, g.exec()];
    // VADDR: index, then offset; or with ADDR64 the two words of an address.
    let mut next = inst.src[0].vector_register();
    for present in [mem.idxen || mem.addr64, mem.offen || mem.addr64] {
        args.push(match (present, next) {
            (true, Some(v)) => {
                next = Some(register_behind(v, 1));
                g.read_v(v)
            }
            (true, None) => return None,
            (false, _) => g.imm32(0),
        });
    }
    match inst.op() {
        Op::Load(_, data) => {
            args.push(g.read_s32(M0));
            let Some(d) = inst.dst[0].vector_register() else {
                // To LDS.
                if !mem.lds {
                    return None;
                }
                let site = sites.add(pc, inst);
                effect(g, EffectFn::BufferLoad, site, &args, 0, 0);
                return Some(());
            };
            let lanes = inst.dst_ty(0).regs() as u8;
            let site = sites.add(pc, inst);
            let first = effect(g, EffectFn::BufferLoad, site, &args, lanes, 0);
            if let Some(high) = d16_half(data) {
                let merged = merge_d16(g, U::new(b, first), high, d);
                g.write_v(d, merged.v);
            } else {
                for i in 0..lanes {
                    let word = b.result(first, i, types::L32);
                    g.write_v(register_behind(d, i), word);
                }
            }
            if mem.tfe {
                // The residency status after the data: always resident.
                let zero = g.imm32(0);
                g.write_v(register_behind(d, lanes), zero);
            }
        }
        Op::Store(..) => {
            let s = inst.src[3].vector_register()?;
            args.push(g.read_s32(M0));
            args.extend((0..data_regs(inst)).map(|i| g.read_v(register_behind(s, i))));
            let site = sites.add(pc, inst);
            effect(g, EffectFn::BufferStore, site, &args, 0, 0);
        }
        Op::StoreLds => {
            args.push(g.read_s32(M0));
            let site = sites.add(pc, inst);
            effect(g, EffectFn::BufferStore, site, &args, 0, 0);
        }
        Op::Atomic(..) => {
            let s = inst.src[3].vector_register()?;
            args.push(g.mode_reg());
            args.extend((0..data_regs(inst)).map(|i| g.read_v(register_behind(s, i))));
            let width = inst.dst_ty(0).regs() as u8;
            let lanes = inst.dst[0].vector_register().map_or(0, |_| width);
            let site = sites.add(pc, inst);
            let first = effect(g, EffectFn::BufferAtomic, site, &args, lanes, 0);
            if let Some(d) = inst.dst[0].vector_register() {
                for i in 0..width {
                    let word = b.result(first, i, types::L32);
                    g.write_v(register_behind(d, i), word);
                }
                if mem.tfe {
                    let zero = g.imm32(0);
                    g.write_v(register_behind(d, width), zero);
                }
            }
        }
        Op::Image(_) | Op::Export | Op::MemTime | Op::MemRealtime | Op::CacheCtl => return None,
        ops!(alu | salu | valu | lds) => return None,
    }
    Some(())
}
