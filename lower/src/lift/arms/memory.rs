//! FLAT, GLOBAL and SCRATCH, and what all vector memory instructions share: data in registers, the
//! halves of D16 forms, atomics.

use frontend::inst::{Inst, M0, Operand};
use frontend::op::{Atomic, Data, Op, Space};
use frontend::ops;
use frontend::registers::loads_to_lds;

use crate::ir::build::types;
use crate::ir::functions::{EffectFn, atomic_code};
use crate::ir::{Op as Ir, SiteId, Val, Width};
use crate::lift::arms::{Lowered, Sites};
use crate::lift::guest::{Guest, register_behind};
use crate::lift::value::{Q, U};

/// Lowers a FLAT, GLOBAL or SCRATCH instruction.
pub(super) fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    // Compilers generate loads to LDS for targets with instructions of their own only; the
    // interpreter refuses the others.
    if inst.mem.lds && !loads_to_lds(inst.desc) || inst.mem.tfe {
        return Lowered::Fallback;
    }
    match access(g, inst, pc, sites) {
        Some(()) => Lowered::Done,
        None => Lowered::Fallback,
    }
}

fn access(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Option<()> {
    match inst.op() {
        Op::Load(space, data) if inst.mem.lds => load_lds(g, inst, (space, data), pc, sites),
        Op::Load(Space::Scratch, data) => scratch_load(g, inst, data, pc, sites),
        Op::Store(Space::Scratch, data) => scratch_store(g, inst, data, pc, sites),
        Op::Load(space, data) => {
            let address = address(g, inst)?;
            let d = inst.dst[0].vector_register()?;
            let site = sites.add(pc, inst);
            load(g, space, data, address.v, d, site);
            Some(())
        }
        Op::Store(space, data) => {
            let address = address(g, inst)?;
            let s = inst.src[1].vector_register()?;
            let site = sites.add(pc, inst);
            store(g, space, data, address.v, s, site);
            Some(())
        }
        Op::Atomic(space, op) => {
            let address = address(g, inst)?;
            let s = inst.src[1].vector_register()?;
            let width = (inst.dst_ty(0).regs()) as u8;
            let count = if is_compare(op) { 2 * width } else { width };
            let words: Vec<Val> = (0..count)
                .map(|i| g.read_v(register_behind(s, i)))
                .collect();
            let site = sites.add(pc, inst);
            atomic(g, (space, op, width), address.v, &words, inst.dst[0], site);
            Some(())
        }
        Op::StoreLds | Op::Image(_) | Op::Export => None,
        Op::MemTime | Op::MemRealtime | Op::CacheCtl => None,
        ops!(alu | salu | valu | lds) => None,
    }
}

/// The address of FLAT and GLOBAL, offset included.
fn address<'b>(g: &mut Guest<'b>, inst: &Inst) -> Option<Q<'b>> {
    let b = g.b;
    let v = inst.src[0].vector_register()?;
    let offset = Q::imm(b, inst.mem.offset as u64);
    match inst.src[2] {
        Operand::None => {
            let (lo, hi) = (g.read_v(v), g.read_v(register_behind(v, 1)));
            Some(U::new(b, lo).pair(U::new(b, hi)) + offset)
        }
        Operand::Sgpr(s) => {
            let base = Q::new(b, g.read_s64(s));
            let index = U::new(b, g.read_v(v)).zext();
            Some(base + index + offset)
        }
        Operand::Vgpr(_) | Operand::Agpr(_) | Operand::Special(_) | Operand::Imm(_) => None,
        Operand::Inline { .. } | Operand::Literal { .. } => None,
    }
}

// ---- scratch

/// FLAT_SCRATCH and the offset of a SCRATCH instruction in a lane's scratch, which wraps at 32
/// bits.
fn scratch_offset<'b>(g: &mut Guest<'b>, inst: &Inst) -> Option<(Q<'b>, U<'b>)> {
    let b = g.b;
    let from = match (inst.src[0], inst.src[2]) {
        (Operand::Vgpr(v), Operand::None) => U::new(b, g.read_v(v.into())),
        (Operand::None, Operand::Sgpr(s)) => U::new(b, g.read_s32(s)),
        (Operand::None, Operand::None) => U::imm(b, 0),
        (Operand::Vgpr(v), Operand::Sgpr(s)) => {
            U::new(b, g.read_v(v.into())) + U::new(b, g.read_s32(s))
        }
        _ => return None,
    };
    let base = Q::new(b, g.read_s64(g.gfx.flat_scratch()));
    Some((base, from + from.k(inst.mem.offset as u64)))
}

/// A load to LDS at M0[17:2] * 4 + offset + 4 * lane.
fn load_lds(
    g: &mut Guest<'_>,
    inst: &Inst,
    (space, data): (Space, Data),
    pc: u64,
    sites: &mut Sites,
) -> Option<()> {
    let b = g.b;
    let mut args = Vec::with_capacity(3);
    if space == Space::Scratch {
        let (base, offset) = scratch_offset(g, inst)?;
        args.extend([offset.v, g.exec_mask(), base.v]);
    } else {
        args.extend([address(g, inst)?.v, g.exec_mask()]);
    }
    let site = sites.add(pc, inst);
    let value = b.effect(Ir::Load(space, data, site), &args, types::L32);
    let m0 = U::new(b, g.read_s32(M0));
    let first = (m0 & m0.k(0x3_fffc)) + m0.k(inst.mem.offset as u64);
    let slot = first + m0.lane_id().shl_k(2);
    let mask = g.exec_mask();
    let store = Ir::Store(Space::Lds, Data::Dwords(1), site);
    b.effect(store, &[slot.v, mask, value], types::W32);
    Some(())
}

fn scratch_load(
    g: &mut Guest<'_>,
    inst: &Inst,
    data: Data,
    pc: u64,
    sites: &mut Sites,
) -> Option<()> {
    let (base, offset) = scratch_offset(g, inst)?;
    let d = inst.dst[0].vector_register()?;
    let site = sites.add(pc, inst);
    load_behind(g, Space::Scratch, data, (offset.v, &[base.v]), d, site);
    Some(())
}

fn scratch_store(
    g: &mut Guest<'_>,
    inst: &Inst,
    data: Data,
    pc: u64,
    sites: &mut Sites,
) -> Option<()> {
    let (base, offset) = scratch_offset(g, inst)?;
    let s = inst.src[1].vector_register()?;
    let site = sites.add(pc, inst);
    store_behind(g, Space::Scratch, data, (offset.v, &[base.v]), s, site);
    Some(())
}

// ---- loads and stores of any space

/// The inputs of FLAT's apertures besides the address: FLAT_SCRATCH and M0's LDS limit.
fn bounds(g: &mut Guest<'_>, space: Space) -> Vec<Val> {
    if space != Space::Flat {
        return Vec::new();
    }
    vec![g.read_s64(g.gfx.flat_scratch()), lds_limit(g)]
}

/// The LDS limit in M0.
pub(super) fn lds_limit(g: &mut Guest<'_>) -> Val {
    if g.gfx.lds_limited_by_m0() {
        g.read_s32(M0)
    } else {
        g.imm32(u32::MAX)
    }
}

/// The memory format of D16 data, and whether it fills the high half.
fn d16_parts(data: Data) -> Option<(Data, bool)> {
    Some(match data {
        Data::D16U8 => (Data::U8, false),
        Data::D16I8 => (Data::I8, false),
        Data::D16 => (Data::U16, false),
        Data::D16HiU8 | Data::D16HiB8 => (Data::U8, true),
        Data::D16HiI8 => (Data::I8, true),
        Data::D16Hi => (Data::U16, true),
        Data::FormatD16Hi => (Data::FormatD16Hi, true),
        Data::Dwords(_) | Data::U8 | Data::I8 | Data::U16 | Data::I16 => return None,
        Data::Format(_) | Data::FormatD16(_) => return None,
    })
}

/// A half combined with the preserved other half of the old value.
pub(super) fn merge_d16<'b>(g: &mut Guest<'b>, half: U<'b>, high: bool, d: u16) -> U<'b> {
    let old = match g.gfx.d16_keeps_other_half() {
        true => U::new(g.b, g.read_v(d)),
        false => U::imm(g.b, 0),
    };
    if high {
        half.shl_k(16) | old.lo16()
    } else {
        half.lo16() | (old & old.k(0xffff_0000))
    }
}

/// Number of registers of data that fill whole registers. Formatted data have one component here:
/// others are accessed through a descriptor.
fn registers(data: Data) -> u8 {
    if let Data::Dwords(n) = data { n } else { 1 }
}

/// For a D16 form that fills a half: is it the high half?
pub(super) fn d16_half(data: Data) -> Option<bool> {
    d16_parts(data).map(|(_, high)| high)
}

/// Loads into registers from `d` on.
pub(super) fn load(
    g: &mut Guest<'_>,
    space: Space,
    data: Data,
    address: Val,
    d: u16,
    site: SiteId,
) {
    let bounds = bounds(g, space);
    load_behind(g, space, data, (address, &bounds), d, site);
}

/// As [`load`], given the node's trailing arguments.
pub(super) fn load_behind(
    g: &mut Guest<'_>,
    space: Space,
    data: Data,
    (address, bounds): (Val, &[Val]),
    d: u16,
    site: SiteId,
) {
    let b = g.b;
    let mask = g.exec_mask();
    let (memory, half) = match d16_parts(data) {
        Some((memory, high)) => (memory, Some(high)),
        None => (data, None),
    };
    let mut args = vec![address, mask];
    args.extend(bounds);
    let first = b.effect(Ir::Load(space, memory, site), &args, types::L32);
    if let Some(high) = half {
        let merged = merge_d16(g, U::new(b, first), high, d);
        g.write_v(d, merged.v);
        return;
    }
    let count = registers(data);
    for i in 0..count {
        let word = b.result(first, i, types::L32);
        g.write_v(register_behind(d, i), word);
    }
}

/// Stores registers from `s` on.
pub(super) fn store(
    g: &mut Guest<'_>,
    space: Space,
    data: Data,
    address: Val,
    s: u16,
    site: SiteId,
) {
    let bounds = bounds(g, space);
    store_behind(g, space, data, (address, &bounds), s, site);
}

/// As [`store`], given the node's trailing arguments.
pub(super) fn store_behind(
    g: &mut Guest<'_>,
    space: Space,
    data: Data,
    (address, bounds): (Val, &[Val]),
    s: u16,
    site: SiteId,
) {
    let b = g.b;
    let mut args = vec![address, g.exec_mask()];
    let memory = match d16_parts(data) {
        Some((memory, high)) => {
            let word = U::new(b, g.read_v(s));
            args.push(if high { word.hi16().v } else { word.v });
            memory
        }
        None => {
            let count = registers(data);
            args.extend((0..count).map(|i| g.read_v(register_behind(s, i))));
            data
        }
    };
    args.extend(bounds);
    b.effect(Ir::Store(space, memory, site), &args, types::W32);
}

// ---- atomics

/// Does the operation take a compare value?
pub(super) fn is_compare(op: Atomic) -> bool {
    matches!(op, Atomic::CmpSwap | Atomic::FCmpSwap)
}

/// An atomic on words of `width` dwords; `words` are operand words, then compare words. The old value
/// goes to `d` when that is a register.
pub(super) fn atomic(
    g: &mut Guest<'_>,
    (space, op, width): (Space, Atomic, u8),
    address: Val,
    words: &[Val],
    d: Operand,
    site: SiteId,
) {
    let b = g.b;
    let mask = g.exec_mask();
    let d = d.vector_register();
    let first = if op.is_float_sum() {
        // These depend on MODE.
        let (lo, hi) = if b.ty(address).width == Width::W64 {
            let address = Q::new(b, address);
            (address.lo().v, address.hi().v)
        } else {
            (address, g.imm32(0))
        };
        let code = g.imm32(atomic_code(space, op, width) as u32);
        let mut args = vec![lo, hi, g.exec(), code, g.mode_reg()];
        match bounds(g, space)[..] {
            [] => args.extend([g.imm64(0), g.imm32(0)]),
            ref bounds => args.extend(bounds),
        }
        args.extend(words);
        let lanes = d.map_or(0, |_| width);
        effect(g, EffectFn::AtomicFloat, site, &args, lanes, 0)
    } else {
        let mut args = vec![address, mask];
        args.extend(words);
        args.extend(bounds(g, space));
        b.effect(
            Ir::Atomic(space, op, width, d.is_some(), site),
            &args,
            types::L32,
        )
    };
    let Some(d) = d else { return };
    for i in 0..width {
        let word = b.result(first, i, types::L32);
        g.write_v(register_behind(d, i), word);
    }
}

// ---- effects

/// A call with effects.
pub(crate) fn effect(
    g: &mut Guest<'_>,
    f: EffectFn,
    site: SiteId,
    args: &[Val],
    lanes: u8,
    scalars: u8,
) -> Val {
    let op = Ir::Effect {
        f,
        site,
        lanes,
        scalars,
    };
    let ty = if lanes > 0 { types::L32 } else { types::W32 };
    g.b.effect(op, args, ty)
}
