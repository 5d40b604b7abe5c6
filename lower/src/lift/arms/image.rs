//! MIMG. An image instruction is a call of the runtime with every register that it may read: only
//! the descriptor has the image's dimensions and so the number of addresses. A preceding call
//! passes the descriptors, since a node takes at most twelve arguments.

use frontend::inst::{Inst, Operand};
use frontend::op::{ImageOp, Op};

use crate::ir::build::types;
use crate::ir::functions::{EffectFn, image_addresses, image_slopes};
use crate::ir::{FIRST_AGPR, Val};
use crate::lift::arms::memory::{effect, is_compare};
use crate::lift::arms::{Lowered, Sites};
use crate::lift::guest::Guest;
use crate::lift::value::U;

/// Number of scalar registers that may hold descriptors; higher codes are special registers.
const PLAIN_SGPRS: usize = 102;

/// Lowers a MIMG instruction.
pub(super) fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    let Op::Image(op) = inst.op() else {
        return Lowered::Fallback;
    };
    match image(g, inst, op, pc, sites) {
        Some(()) => Lowered::Done,
        None => Lowered::Fallback,
    }
}

/// Pairs of consecutive scalar registers.
fn pairs<const N: usize>(g: &mut Guest<'_>, operand: Operand) -> Option<[Val; N]> {
    let Operand::Sgpr(first) = operand else {
        return None;
    };
    if usize::from(first) + 2 * N > PLAIN_SGPRS {
        return None;
    }
    let b = g.b;
    Some(std::array::from_fn(|i| {
        let mut word = |n: usize| U::new(b, g.read_s32(first + n as u8));
        let (low, high) = (word(2 * i), word(2 * i + 1));
        low.pair(high).v
    }))
}

/// Number of data registers of loads and stores.
fn data_regs(g: &Guest<'_>, inst: &Inst, op: ImageOp) -> u8 {
    let bits = (inst.mem.dmask & 15).count_ones() as u8;
    let components = match op {
        ImageOp::Gather4(_) | ImageOp::Gather4h(_) => 4,
        ImageOp::Load { .. } | ImageOp::Store { .. } | ImageOp::Sample(_) => bits.max(1),
        ImageOp::GetResinfo | ImageOp::GetLod | ImageOp::Atomic(_) => bits.max(1),
    };
    match inst.mem.d16 && g.gfx.packs_d16() {
        true => components.div_ceil(2),
        false => components,
    }
}

/// `count` vector registers from an operand on, if they exist.
fn registers(operand: Operand, count: u8) -> Option<std::ops::Range<u16>> {
    let first = operand.vector_register()?;
    let behind = first + u16::from(count);
    (first % FIRST_AGPR + u16::from(count) <= FIRST_AGPR).then_some(first..behind)
}

fn image(g: &mut Guest<'_>, inst: &Inst, op: ImageOp, pc: u64, sites: &mut Sites) -> Option<()> {
    let b = g.b;
    let mem = &inst.mem;
    let (function, given, taken) = match op {
        ImageOp::Store { .. } => (EffectFn::ImageStore, 0, data_regs(g, inst, op)),
        ImageOp::Atomic(op) => {
            let sent = (mem.dmask & 15).count_ones() as u8;
            let given = if is_compare(op) {
                sent / 2
            } else {
                sent.min(2)
            };
            let given = if inst.dst[0].vector_register().is_some() {
                given
            } else {
                0
            };
            (EffectFn::ImageAtomic, given, sent)
        }
        ImageOp::Load { .. }
        | ImageOp::GetResinfo
        | ImageOp::GetLod
        | ImageOp::Sample(_)
        | ImageOp::Gather4(_)
        | ImageOp::Gather4h(_) => (EffectFn::ImageLoad, data_regs(g, inst, op), 0),
    };
    let status = u8::from((mem.tfe || mem.lwe) && inst.dst[0] != Operand::None);
    // Two slopes are not passed.
    let slopes = image_slopes(op);
    let from = registers(
        inst.src[0],
        image_addresses(op) + if slopes.is_some() { 2 } else { 0 },
    )?;
    let data = match taken {
        0 => 0..0,
        _ => registers(inst.src[3], taken)?,
    };
    let to = match given + status {
        0 => 0..0,
        count => registers(inst.dst[0], count)?,
    };
    let resource = match mem.r128 {
        true => {
            let [low, high] = pairs(g, inst.src[1])?;
            let zero = U::imm(b, 0).pair(U::imm(b, 0)).v;
            [low, high, zero, zero]
        }
        false => pairs(g, inst.src[1])?,
    };
    let sampler = if inst.src[2] == Operand::None {
        [U::imm(b, 0).pair(U::imm(b, 0)).v; 2]
    } else {
        pairs(g, inst.src[2])?
    };
    let site = sites.add(pc, inst);
    let descriptors = [&resource[..], &sampler].concat();
    effect(g, EffectFn::ImageDescriptors, site, &descriptors, 0, 0);
    let slopes = slopes.map_or(0..0, |first| {
        from.start + u16::from(first)..from.start + u16::from(first) + 2
    });
    let from: Vec<u16> = from.filter(|n| !slopes.contains(n)).collect();
    let mut args = vec![g.exec()];
    args.extend(from.into_iter().chain(data).map(|n| g.read_v(n)));
    let first = effect(g, function, site, &args, given, 0);
    for (i, n) in to.enumerate() {
        let word = match i < usize::from(given) {
            true => b.result(first, i as u8, types::L32),
            // The residency status after the data: always resident.
            false => g.imm32(0),
        };
        g.write_v(n, word);
    }
    Some(())
}
