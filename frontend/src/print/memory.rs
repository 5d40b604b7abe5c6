//! Memory instructions and exports as text.

use crate::desc::Encoding;
use crate::inst::{Inst, NULL, Operand, export_target_name};
use crate::op::{DsOp, ImageOp, Op, SampleMods};
use crate::print::operand::{self, Sep, group, put};
use crate::registers::loads_to_lds;
use crate::target::Gfx;
use crate::ty::Ty;

/// Appends the instruction.
pub(super) fn text(out: &mut String, inst: &Inst, gfx: Gfx) {
    out.push_str(inst.desc.name_on(gfx));
    match inst.desc.encoding {
        Encoding::Smem => smem(out, inst, gfx),
        Encoding::Ds => ds(out, inst),
        Encoding::Flat | Encoding::Global | Encoding::Scratch => flat(out, inst, gfx),
        Encoding::Mubuf => mubuf(out, inst, gfx),
        Encoding::Mtbuf => mtbuf(out, inst, gfx),
        Encoding::Mimg => mimg(out, inst, gfx),
        _ => exp(out, inst),
    }
}

/// `regs` registers from the operand's first one, or `off`.
fn registers(out: &mut String, gfx: Gfx, op: Operand, regs: u32) {
    match op {
        Operand::Vgpr(first) => group(out, 'v', u32::from(first), regs),
        Operand::Agpr(first) => group(out, 'a', u32::from(first), regs),
        Operand::Inline { code: NULL, .. } => out.push_str("null"),
        Operand::Sgpr(code) => operand::sgpr(out, gfx, code, regs),
        op => operand::operand(out, gfx, op, Ty::U32),
    }
}

/// A vector operand of type `ty` as the next one of the list, unless it is absent.
fn vector(out: &mut String, sep: &mut Sep, op: Operand, ty: Option<&Ty>) {
    let regs = ty.map_or(1, |ty| ty.regs());
    match op {
        Operand::Vgpr(first) => {
            sep.next(out);
            group(out, 'v', u32::from(first), regs);
        }
        Operand::Agpr(first) => {
            sep.next(out);
            group(out, 'a', u32::from(first), regs);
        }
        _ => {}
    }
}

/// The names of the flags that are set.
fn flags(out: &mut String, flags: &[(bool, &str)]) {
    for (_, name) in flags.iter().filter(|(set, _)| *set) {
        out.push(' ');
        out.push_str(name);
    }
}

/// The bits that say how caches are used, by the target's names.
fn cache_bits(out: &mut String, inst: &Inst, gfx: Gfx) {
    let names = if gfx.has_scope_bits() {
        ["sc0", "nt", "sc1"]
    } else {
        ["glc", "slc", "scc"]
    };
    let mem = &inst.mem;
    for (set, name) in [mem.glc, mem.slc, mem.scc].into_iter().zip(names) {
        flags(out, &[(set, name)]);
    }
}

/// An unsigned or negative number in hexadecimal.
fn hex(out: &mut String, value: i64) {
    if value < 0 {
        put!(out, "-0x{:x}", -value);
    } else {
        put!(out, "0x{value:x}");
    }
}

fn smem(out: &mut String, inst: &Inst, gfx: Gfx) {
    let mut sep = Sep::default();
    let regs = |types: &[Ty], i: usize| types.get(i).map_or(1, |ty| ty.regs());
    let (dst, src) = (inst.desc.dst, inst.desc.src);
    match (inst.src[2], inst.dst[0]) {
        (Operand::Imm(value), _) => {
            sep.next(out);
            match value {
                0..=64 => put!(out, "{value}"),
                _ => put!(out, "0x{value:x}"),
            }
        }
        (Operand::None, Operand::None) => {}
        (Operand::None, data) => {
            sep.next(out);
            registers(out, gfx, data, regs(dst, 0));
        }
        (data, _) => {
            sep.next(out);
            registers(out, gfx, data, regs(src, 2));
        }
    }
    if src.is_empty() {
        return;
    }
    sep.next(out);
    registers(out, gfx, inst.src[0], regs(src, 0));
    sep.next(out);
    let offset = match gfx.is_gfx6_7() {
        true => inst.mem.offset / 4,
        false => inst.mem.offset,
    };
    match (inst.src[1], inst.mem.has_imm) {
        (Operand::None, _) => hex(out, offset),
        (soffset, has_imm) => {
            registers(out, gfx, soffset, 1);
            if has_imm {
                out.push_str(" offset:");
                hex(out, offset);
            }
        }
    }
    flags(out, &[(inst.mem.glc, "glc")]);
}

fn ds(out: &mut String, inst: &Inst) {
    let (dst, src) = (inst.desc.dst, inst.desc.src);
    let mut sep = Sep::default();
    vector(out, &mut sep, inst.dst[0], dst.first());
    for i in 0..3 {
        vector(out, &mut sep, inst.src[i], src.get(i));
    }
    let mem = &inst.mem;
    match inst.desc.op {
        Op::Read2 { .. } | Op::Write2 { .. } | Op::Wrxchg2 { .. } => {
            if mem.offset != 0 {
                put!(out, " offset0:{}", mem.offset);
            }
            if mem.offset1 != 0 {
                put!(out, " offset1:{}", mem.offset1);
            }
        }
        _ if mem.offset == 0 => {}
        Op::Ds(DsOp::Swizzle) => {
            out.push_str(" offset:");
            swizzle(out, mem.offset as u16);
        }
        _ => put!(out, " offset:{}", mem.offset),
    }
    // These access GDS regardless of the bit.
    let always = matches!(inst.desc.op, Op::Ds(op) if op == DsOp::OrderedCount || op.is_gws());
    let never = inst.desc.op == Op::Ds(DsOp::Nop);
    flags(out, &[((mem.gds || always) && !never, "gds")]);
}

/// The pattern of `ds_swizzle_b32`, a nonzero number.
fn swizzle(out: &mut String, pattern: u16) {
    if pattern & 0xff00 == 0x8000 {
        put!(
            out,
            "swizzle(QUAD_PERM,{},{},{},{})",
            pattern & 3,
            pattern >> 2 & 3,
            pattern >> 4 & 3,
            pattern >> 6 & 3
        );
        return;
    }
    if pattern & 0x8000 != 0 {
        put!(out, "{pattern}");
        return;
    }
    let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
    let group = 32 - and;
    if and == 31 && or == 0 && xor.is_power_of_two() {
        put!(out, "swizzle(SWAP,{xor})");
    } else if and == 31 && or == 0 && (xor + 1).is_power_of_two() && xor > 0 {
        put!(out, "swizzle(REVERSE,{})", xor + 1);
    } else if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
        put!(out, "swizzle(BROADCAST,{group},{or})");
    } else {
        out.push_str("swizzle(BITMASK_PERM,\"");
        let zeros = or ^ xor;
        let ones = (and | or) ^ xor;
        for bit in (0..5).rev() {
            out.push(match (zeros >> bit & 1, ones >> bit & 1) {
                (0, 0) => '0',
                (1, 1) => '1',
                (0, _) => 'p',
                _ => 'i',
            });
        }
        out.push_str("\")");
    }
}

fn flat(out: &mut String, inst: &Inst, gfx: Gfx) {
    let mem = &inst.mem;
    let (dst, src) = (inst.desc.dst, inst.desc.src);
    let segment = inst.desc.encoding;
    let mut sep = Sep::default();
    vector(out, &mut sep, inst.dst[0], dst.first());
    sep.next(out);
    let addr_regs = match segment {
        Encoding::Flat => 2,
        Encoding::Global if inst.src[2] == Operand::None => 2,
        _ => 1,
    };
    registers(out, gfx, inst.src[0], addr_regs);
    vector(out, &mut sep, inst.src[1], src.get(1));
    if segment == Encoding::Flat {
        if mem.flat_offset_field != 0 {
            put!(out, " offset:{}", mem.flat_offset_field);
        }
    } else {
        sep.next(out);
        let regs = src.get(2).map_or(1, |ty| ty.regs());
        registers(out, gfx, inst.src[2], regs);
        if mem.offset != 0 {
            put!(out, " offset:{}", mem.offset);
        }
    }
    cache_bits(out, inst, gfx);
    flags(out, &[(mem.lds && !loads_to_lds(inst.desc), "lds")]);
}

/// VDATA, VADDR, SRSRC and SOFFSET of MUBUF and MTBUF.
fn buffer_operands(out: &mut String, inst: &Inst, gfx: Gfx) {
    let mem = &inst.mem;
    let mut sep = Sep::default();
    if inst.desc.op != Op::StoreLds {
        let (data, ty) = match inst.desc.op {
            Op::Load(..) => (inst.dst[0], inst.desc.dst.first()),
            _ => (inst.src[3], inst.desc.src.get(3)),
        };
        if !mem.lds {
            sep.next(out);
            let regs = ty.map_or(1, |ty| ty.regs()) + u32::from(mem.tfe);
            registers(out, gfx, data, regs);
        }
        sep.next(out);
        let regs = u32::from(mem.offen) + u32::from(mem.idxen) + 2 * u32::from(mem.addr64);
        registers(out, gfx, inst.src[0], regs);
    }
    sep.next(out);
    registers(out, gfx, inst.src[1], 4);
    sep.next(out);
    registers(out, gfx, inst.src[2], 1);
}

/// The modifiers of MUBUF and MTBUF.
fn buffer_mods(out: &mut String, inst: &Inst, gfx: Gfx) {
    let mem = &inst.mem;
    flags(
        out,
        &[
            (mem.idxen, "idxen"),
            (mem.offen, "offen"),
            (mem.addr64, "addr64"),
        ],
    );
    if mem.offset != 0 {
        put!(out, " offset:{}", mem.offset);
    }
    // Here LDS is part of the instruction, not a modifier.
    let store_lds = inst.desc.op == Op::StoreLds;
    flags(out, &[(store_lds, "lds")]);
    cache_bits(out, inst, gfx);
    flags(out, &[(mem.lds && !store_lds, "lds"), (mem.tfe, "tfe")]);
}

fn mubuf(out: &mut String, inst: &Inst, gfx: Gfx) {
    if inst.desc.op == Op::CacheCtl {
        cache_bits(out, inst, gfx);
    } else {
        buffer_operands(out, inst, gfx);
        buffer_mods(out, inst, gfx);
    }
}

const DATA_FORMATS: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];

const NUM_FORMATS: [&str; 8] = [
    "UNORM",
    "SNORM",
    "USCALED",
    "SSCALED",
    "UINT",
    "SINT",
    "RESERVED_6",
    "FLOAT",
];

fn mtbuf(out: &mut String, inst: &Inst, gfx: Gfx) {
    /// The format that is not printed: BUF_DATA_FORMAT_8 and BUF_NUM_FORMAT_UNORM.
    const DEFAULT: (u8, u8) = (1, 0);
    buffer_operands(out, inst, gfx);
    let (dfmt, nfmt) = (inst.mem.dfmt & 15, inst.mem.nfmt & 7);
    if (dfmt, nfmt) != DEFAULT {
        out.push_str(" format:[");
        if dfmt != DEFAULT.0 {
            put!(out, "BUF_DATA_FORMAT_{}", DATA_FORMATS[usize::from(dfmt)]);
        }
        if dfmt != DEFAULT.0 && nfmt != DEFAULT.1 {
            out.push(',');
        }
        if nfmt != DEFAULT.1 {
            let name = match nfmt {
                6 if gfx.is_gfx6_7() => "SNORM_OGL",
                _ => NUM_FORMATS[usize::from(nfmt)],
            };
            put!(out, "BUF_NUM_FORMAT_{name}");
        }
        out.push(']');
    }
    buffer_mods(out, inst, gfx);
}

fn mimg(out: &mut String, inst: &Inst, gfx: Gfx) {
    let Op::Image(op) = inst.desc.op else {
        return;
    };
    let mem = &inst.mem;
    let mut sep = Sep::default();
    let data = match inst.src[3] {
        Operand::None => inst.dst[0],
        data => data,
    };
    sep.next(out);
    registers(out, gfx, data, image_data_regs(op, inst, gfx, data));
    sep.next(out);
    registers(out, gfx, inst.src[0], image_addr_regs(op));
    sep.next(out);
    // LLVM prints eight registers even with R128.
    registers(out, gfx, inst.src[1], 8);
    if inst.src[2] != Operand::None {
        sep.next(out);
        registers(out, gfx, inst.src[2], 4);
    }
    if mem.dmask != 0 {
        put!(out, " dmask:0x{:x}", mem.dmask);
    }
    flags(
        out,
        &[
            (mem.unrm, "unorm"),
            (mem.glc, "glc"),
            (mem.slc, "slc"),
            (mem.scc, "scc"),
            (mem.r128, "r128"),
            (mem.a16, "a16"),
            (mem.tfe, "tfe"),
            (mem.lwe, "lwe"),
            (mem.da, "da"),
            (mem.d16, "d16"),
        ],
    );
}

/// The number of data registers as LLVM prints it: by DMASK, D16 and TFE where it has such an
/// instruction, else the instruction's usual number.
fn image_data_regs(op: ImageOp, inst: &Inst, gfx: Gfx, data: Operand) -> u32 {
    use crate::op::Atomic::{CmpSwap, FCmpSwap};
    let mem = &inst.mem;
    let gather = matches!(op, ImageOp::Gather4(_) | ImageOp::Gather4h(_));
    let mut regs = match gather {
        true => 4,
        false => u32::from(mem.dmask).count_ones().max(1),
    };
    // gfx803 does not pack halves.
    if mem.d16 && gfx.is_gfx9() {
        regs = regs.div_ceil(2);
    }
    regs += u32::from(mem.tfe);
    let (usual, exists, regs) = match op {
        ImageOp::Gather4(_) | ImageOp::Gather4h(_) => (4, matches!(regs, 2 | 4 | 5), regs),
        ImageOp::Atomic(CmpSwap | FCmpSwap) => (2, matches!(regs, 2 | 4), regs),
        // LLVM's variant for four is five wide.
        ImageOp::Atomic(_) if regs == 4 => (1, true, 5),
        ImageOp::Atomic(_) => (1, regs <= 2, regs),
        _ => (1, true, regs),
    };
    let first = match data {
        Operand::Vgpr(first) | Operand::Agpr(first) => u32::from(first),
        _ => 0,
    };
    if exists && first + regs <= 256 {
        regs
    } else {
        usual
    }
}

/// The fewest address registers that the instruction can have.
fn image_addr_regs(op: ImageOp) -> u32 {
    use crate::op::Atomic::{FCmpSwap, FMax, FMin, Rsub};
    match op {
        ImageOp::Sample(mods) | ImageOp::Gather4(mods) | ImageOp::Gather4h(mods) => {
            let SampleMods {
                compare,
                deriv,
                coarse,
                bias,
                offset,
                ..
            } = mods;
            1 + u32::from(compare)
                + u32::from(bias)
                + u32::from(offset)
                + u32::from(deriv || coarse)
        }
        // Only gfx6 and gfx7 have these, for which LLVM has no disassembler; its tests write four.
        ImageOp::Atomic(Rsub | FCmpSwap | FMin | FMax) => 4,
        _ => 1,
    }
}

fn exp(out: &mut String, inst: &Inst) {
    let mem = &inst.mem;
    put!(out, " {}", export_target_name(mem.exp_target));
    for (i, src) in inst.src.iter().enumerate() {
        out.push_str(if i == 0 { " " } else { ", " });
        match src {
            Operand::Vgpr(n) => put!(out, "v{n}"),
            _ => out.push_str("off"),
        }
    }
    flags(
        out,
        &[
            (mem.exp_done, "done"),
            (mem.exp_compr, "compr"),
            (mem.exp_vm, "vm"),
        ],
    );
}
