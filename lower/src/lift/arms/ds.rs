//! DS: LDS accesses and the lane exchanges that share their encoding. GDS is not lowered.

use frontend::inst::{Inst, M0, Operand};
use frontend::op::{Atomic, Data, DsOp, Op, Space};
use frontend::ops;

use crate::ir::build::types;
use crate::ir::functions::{EffectFn, LaneFn};
use crate::ir::{Op as Ir, SiteId, Val};
use crate::lift::arms::memory::{atomic, effect, is_compare, lds_limit, load, store};
use crate::lift::arms::{Lowered, Sites};
use crate::lift::guest::{Guest, register_behind};
use crate::lift::value::{M, U, call};

/// Lowers a DS instruction.
pub(super) fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    if inst.mem.gds {
        return Lowered::Fallback;
    }
    match access(g, inst, pc, sites) {
        Some(()) => Lowered::Done,
        None => Lowered::Fallback,
    }
}

/// The LDS address of an access: base and offset, with the alignment and the clamp by M0 of the
/// targets that have them. An out-of-range access gets an address beyond every LDS.
fn address<'b>(g: &mut Guest<'b>, base: U<'b>, offset: u32, bytes: u32, site: SiteId) -> U<'b> {
    place(g, base, offset, bytes, g.gfx.lds_unaligned(), site)
}

/// As [`address`] for an atomic access, which ignores the low bits of its address on every target.
fn atomic_address<'b>(
    g: &mut Guest<'b>,
    base: U<'b>,
    offset: u32,
    bytes: u32,
    site: SiteId,
) -> U<'b> {
    place(g, base, offset, bytes, false, site)
}

fn place<'b>(
    g: &mut Guest<'b>,
    base: U<'b>,
    offset: u32,
    bytes: u32,
    unaligned: bool,
    site: SiteId,
) -> U<'b> {
    let mut a = base + base.k(u64::from(offset));
    // In checked mode an out-of-range access faults in this call.
    let checked = g.checked && g.gfx.lds_limited_by_m0();
    if checked {
        let limit = lds_limit(g);
        let args = [g.exec(), base.v, g.imm32(offset), g.imm32(bytes), limit];
        effect(g, EffectFn::CheckLds, site, &args, 0, 0);
    }
    if g.gfx.lds_checks_base() && offset != 0 {
        // A base with bit 31 set counts as out of range even when the sum is not.
        a = a | base.ashr_k(31);
    }
    if unaligned {
        return a;
    }
    // LDS aligns down to the element's size.
    let align = u64::from(bytes.next_power_of_two());
    if align > 1 {
        a = a & a.k(!(align - 1) & 0xffff_ffff);
    }
    if !g.gfx.lds_limited_by_m0() || checked {
        return a;
    }
    let m0 = U::new(g.b, g.read_s32(M0));
    match m0.as_const() {
        Some(limit) if limit >= 0x1_0000 => a,
        _ => {
            let inside = a.lt_u(m0) & a.k(u64::from(bytes)).le_u(m0 - a);
            inside.pick(a, a.k(0xffff_ffff))
        }
    }
}

/// Bytes of data in memory.
fn size(data: Data) -> u32 {
    match data {
        Data::Dwords(n) => 4 * u32::from(n),
        Data::U8 | Data::I8 | Data::D16U8 | Data::D16I8 => 1,
        Data::D16HiU8 | Data::D16HiI8 | Data::D16HiB8 => 1,
        Data::U16 | Data::I16 | Data::D16 | Data::D16Hi => 2,
        Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => 2,
    }
}

fn access(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Option<()> {
    let b = g.b;
    let offset = inst.mem.offset as u32;
    let base = |g: &mut Guest<'_>| Some(U::new(b, g.read_v(inst.src[0].vector_register()?)));
    match inst.op() {
        Op::Load(Space::Lds, data) => {
            let base = base(g)?;
            let d = inst.dst[0].vector_register()?;
            let site = sites.add(pc, inst);
            let a = address(g, base, offset, size(data), site);
            load(g, Space::Lds, data, a.v, d, site);
        }
        Op::Store(Space::Lds, data) => {
            let base = base(g)?;
            let s = inst.src[1].vector_register()?;
            let site = sites.add(pc, inst);
            let a = address(g, base, offset, size(data), site);
            store(g, Space::Lds, data, a.v, s, site);
        }
        Op::Atomic(Space::Lds, op) => {
            let base = base(g)?;
            let (s0, s1) = (
                inst.src[1].vector_register()?,
                inst.src[2].vector_register(),
            );
            let width = inst.src_ty(1).regs() as u8;
            let words = |g: &mut Guest<'_>, s: u16| -> Vec<Val> {
                (0..width)
                    .map(|i| g.read_v(register_behind(s, i)))
                    .collect()
            };
            let data = if is_compare(op) {
                // DS: DATA0 is compared with, DATA1 is new.
                [words(g, s1?), words(g, s0)].concat()
            } else if matches!(op, Atomic::Mskor | Atomic::Wrap) {
                [words(g, s0), words(g, s1?)].concat()
            } else {
                words(g, s0)
            };
            let site = sites.add(pc, inst);
            let a = atomic_address(g, base, offset, 4 * u32::from(width), site);
            atomic(g, (Space::Lds, op, width), a.v, &data, inst.dst[0], site);
        }
        Op::Read2 { st64 } => {
            let base = base(g)?;
            let d = inst.dst[0].vector_register()?;
            let width = (inst.dst_ty(0).regs() / 2) as u8;
            let site = sites.add(pc, inst);
            let mask = g.exec_mask();
            let mut words = Vec::new();
            for offset in offsets(inst, st64, width) {
                let a = address(g, base, offset, 4 * u32::from(width), site);
                let op = Ir::Load(Space::Lds, Data::Dwords(width), site);
                let first = b.effect(op, &[a.v, mask], types::L32);
                words.extend((0..width).map(|i| b.result(first, i, types::L32)));
            }
            for (i, word) in words.into_iter().enumerate() {
                g.write_v(register_behind(d, i as u8), word);
            }
        }
        Op::Write2 { st64 } => {
            let base = base(g)?;
            let width = inst.src_ty(1).regs() as u8;
            let data = [
                inst.src[1].vector_register()?,
                inst.src[2].vector_register()?,
            ];
            let site = sites.add(pc, inst);
            let [first, second] = offsets(inst, st64, width);
            for (offset, s) in [(first, data[0]), (second, data[1])] {
                let a = address(g, base, offset, 4 * u32::from(width), site);
                store(g, Space::Lds, Data::Dwords(width), a.v, s, site);
                // Equal offsets are one access, with the first data.
                if first == second {
                    break;
                }
            }
        }
        Op::Wrxchg2 { st64 } => {
            let base = base(g)?;
            let d = inst.dst[0].vector_register()?;
            let width = inst.src_ty(1).regs() as u8;
            let data = [
                inst.src[1].vector_register()?,
                inst.src[2].vector_register()?,
            ];
            let site = sites.add(pc, inst);
            let mut args = Vec::new();
            for offset in offsets(inst, st64, width) {
                args.push(atomic_address(g, base, offset, 4 * u32::from(width), site).v);
            }
            args.push(g.exec());
            for s in data {
                args.extend((0..width).map(|i| g.read_v(register_behind(s, i))));
            }
            exchange(g, d, site, &args, 2 * width);
        }
        Op::ReadAddTid => {
            let d = inst.dst[0].vector_register()?;
            let a = own_address(g, offset);
            let site = sites.add(pc, inst);
            load(g, Space::Lds, Data::Dwords(1), a.v, d, site);
        }
        Op::WriteAddTid => {
            // DATA0; the row's first source is the unused address.
            let s = inst.src[1].vector_register()?;
            let a = own_address(g, offset);
            let site = sites.add(pc, inst);
            store(g, Space::Lds, Data::Dwords(1), a.v, s, site);
        }
        Op::AtomicSrc2(_) | Op::WriteSrc2 => {
            let base = base(g)?;
            let site = sites.add(pc, inst);
            let args = [base.v, g.exec(), lds_limit(g), g.mode_reg()];
            effect(g, EffectFn::LdsSrc2, site, &args, 0, 0);
        }
        Op::Ds(op) => return special(g, inst, op, pc, sites),
        // Of other spaces.
        Op::Load(..) | Op::Store(..) | Op::Atomic(..) | Op::StoreLds | Op::Image(_) => return None,
        Op::Export | Op::MemTime | Op::MemRealtime | Op::CacheCtl => return None,
        ops!(alu | salu | valu) => return None,
    }
    Some(())
}

/// Byte offsets of the two-address forms.
fn offsets(inst: &Inst, st64: bool, width: u8) -> [u32; 2] {
    let unit = 4 * u32::from(width) * if st64 { 64 } else { 1 };
    [inst.mem.offset as u32 & 0xff, u32::from(inst.mem.offset1)].map(|n| n * unit)
}

/// M0[15:0] + offset + 4 * lane
fn own_address<'b>(g: &mut Guest<'b>, offset: u32) -> U<'b> {
    let m0 = U::new(g.b, g.read_s32(M0));
    let base = m0.lo16() + m0.k(u64::from(offset));
    base + base.lane_id().shl_k(2)
}

/// A two-address exchange: old values to `d` and on.
fn exchange(g: &mut Guest<'_>, d: u16, site: SiteId, args: &[Val], lanes: u8) {
    let first = effect(g, EffectFn::LdsExchange, site, args, lanes, 0);
    for i in 0..lanes {
        let word = g.b.result(first, i, types::L32);
        g.write_v(register_behind(d, i), word);
    }
}

fn special(g: &mut Guest<'_>, inst: &Inst, op: DsOp, pc: u64, sites: &mut Sites) -> Option<()> {
    let b = g.b;
    let offset = inst.mem.offset as u32;
    let active = |g: &mut Guest<'_>| M::new(b, g.exec_mask()).int();
    let register =
        |g: &mut Guest<'_>, operand: Operand| Some(U::new(b, g.read_v(operand.vector_register()?)));
    match op {
        DsOp::Nop => {}
        DsOp::Swizzle => {
            let d = inst.dst[0].vector_register()?;
            // Inactive lanes are read as 0, so their registers are not live.
            let source = register(g, inst.src[0])?;
            let imm = offset & 0xffff | u32::from(g.gfx.has_swizzle_rotate()) << 31;
            let lanes = active(g);
            let value = call(b, LaneFn::Swizzle, imm, &[source, lanes]);
            g.write_v(d, value.v);
        }
        DsOp::Permute | DsOp::Bpermute => {
            let d = inst.dst[0].vector_register()?;
            let to = register(g, inst.src[0])?;
            let to = to + to.k(u64::from(offset));
            let data = register(g, inst.src[1])?;
            let f = if op == DsOp::Permute {
                LaneFn::Permute
            } else {
                LaneFn::Bpermute
            };
            let lanes = active(g);
            let value = call(b, f, 0, &[to, data, lanes]);
            g.write_v(d, value.v);
        }
        DsOp::Append | DsOp::Consume => {
            let d = inst.dst[0].vector_register()?;
            let m0 = U::new(b, g.read_s32(M0));
            let a = m0.lo16() + m0.k(u64::from(offset));
            let site = sites.add(pc, inst);
            let args = [a.v, g.exec()];
            let old = effect(g, EffectFn::AppendConsume, site, &args, 0, 1);
            g.write_v(d, old);
        }
        DsOp::Condxchg32Rtn64 => {
            let d = inst.dst[0].vector_register()?;
            let base = register(g, inst.src[0])?;
            let s = inst.src[1].vector_register()?;
            let site = sites.add(pc, inst);
            let a = atomic_address(g, base, offset, 8, site);
            let (lo, hi) = (g.read_v(s), g.read_v(register_behind(s, 1)));
            let args = [a.v, a.v, g.exec(), lo, hi];
            exchange(g, d, site, &args, 2);
        }
        // Global wave sync and ordered append belong to GDS.
        DsOp::OrderedCount
        | DsOp::GwsInit
        | DsOp::GwsSemaV
        | DsOp::GwsSemaP
        | DsOp::GwsSemaBr
        | DsOp::GwsSemaReleaseAll
        | DsOp::GwsBarrier => return None,
    }
    Some(())
}
