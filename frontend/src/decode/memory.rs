//! Memory encodings: SMEM (SMRD), DS, FLAT, MUBUF, MTBUF, MIMG and EXP. All but SMRD are 64 bits long;
//! their fields are numbered as the manuals do, 0..64 over both dwords.
//!
//! Fields that an instruction does not use may hold anything, as for hardware. Fields that would
//! change its meaning in a way that no hardware manual describes are errors.

use crate::decode::operand::{At, scalar_reg, scalar_src};
use crate::decode::{Code, DecodeError, blank};
use crate::desc::{Forms, InstDesc};
use crate::inst::{Inst, NULL, Operand};
use crate::isa::{ds, exp, flat, mimg, mtbuf, mubuf, smem};
use crate::op::{Data, DsOp, ImageOp, Op, Space};
use crate::registers::loads_to_lds;
use crate::target::Gfx;
use crate::ty::Ty;

/// An instruction of 64 bits while it is decoded.
#[derive(Clone, Copy)]
struct Fields {
    gfx: Gfx,
    desc: &'static InstDesc,
    bits: u64,
}

impl Fields {
    fn new(code: Code<'_>, desc: &'static InstDesc) -> Result<Fields, DecodeError> {
        Ok(Fields {
            gfx: code.gfx,
            desc,
            bits: u64::from(code.word) | u64::from(code.dword(1)?) << 32,
        })
    }

    fn get(self, lo: u32, len: u32) -> u32 {
        (self.bits >> lo) as u32 & ((1 << len) - 1)
    }

    fn bit(self, n: u32) -> bool {
        self.bits >> n & 1 != 0
    }

    /// Bit `n`, if only gfx90a and later have the field.
    fn bit_gfx90a(self, n: u32) -> bool {
        self.gfx >= Gfx::Gfx90a && self.bit(n)
    }

    fn at(self, what: &'static str) -> At {
        At {
            gfx: self.gfx,
            desc: self.desc,
            what,
        }
    }

    /// `regs` vector registers from the 8-bit field at `lo`, or accumulation registers.
    fn vector(
        self,
        lo: u32,
        regs: u32,
        acc: bool,
        what: &'static str,
    ) -> Result<Operand, DecodeError> {
        let first = self.get(lo, 8);
        if first + regs > 256 {
            return Err(self.at(what).reserved(first as u16));
        }
        Ok(if acc {
            Operand::Agpr(first as u8)
        } else {
            Operand::Vgpr(first as u8)
        })
    }

    /// The first of `regs` scalar registers.
    fn scalar(self, code: u32, regs: u32, what: &'static str) -> Result<Operand, DecodeError> {
        scalar_reg(self.at(what), code as u16, regs)
    }

    /// As [`Fields::scalar`] for an offset or a base address, where LLVM accepts `null`.
    fn scalar_or_null(
        self,
        code: u32,
        regs: u32,
        what: &'static str,
    ) -> Result<Operand, DecodeError> {
        if code == u32::from(NULL) && self.gfx.is_gfx8_up() {
            return Ok(Operand::Inline {
                code: NULL,
                bits: 0,
            });
        }
        self.scalar(code, regs, what)
    }

    fn reserved_field(self, value: u32, field: &'static str) -> DecodeError {
        DecodeError::ReservedField {
            value,
            field,
            name: self.desc.name_on(self.gfx),
            gfx: self.gfx,
        }
    }
}

/// Registers of the type at position `i`, 0 when the row has no such operand.
fn regs_at(types: &[Ty], i: usize) -> u32 {
    types.get(i).map_or(0, |ty| ty.regs())
}

/// SMRD (gfx6/7) and SMEM (gfx8 up).
pub(crate) fn decode_smem(code: Code<'_>) -> Result<Inst, DecodeError> {
    if code.gfx.is_gfx6_7() {
        return decode_smrd(code);
    }
    let desc = smem::INDEX.get(code.gfx, code.bits(18, 8), code.word)?;
    let f = Fields::new(code, desc)?;
    let mut inst = blank(desc, 8);
    let glc = f.bit(16);
    smem_registers(&mut inst, f, f.get(6, 7), f.get(0, 6) << 1, glc)?;
    if desc.src.is_empty() {
        return Ok(inst);
    }
    inst.mem.glc = glc && desc.op != Op::CacheCtl;
    inst.mem.nv = f.gfx.is_gfx9() && f.bit(15);
    let soffset_en = f.gfx.is_gfx9() && f.bit(14);
    if f.bit(17) {
        inst.mem.has_imm = true;
        // gfx8 has 20 unsigned bits, gfx9 21 signed ones.
        inst.mem.offset = if f.gfx.is_gfx9() {
            i64::from((f.get(32, 21) << 11) as i32 >> 11)
        } else {
            i64::from(f.get(32, 20))
        };
    } else if !soffset_en {
        inst.src[1] = f.scalar_or_null(f.get(32, 7), 1, "SOFFSET")?;
    }
    if soffset_en {
        inst.src[1] = f.scalar_or_null(f.get(57, 7), 1, "SOFFSET")?;
    }
    Ok(inst)
}

/// SMRD: 32 bits, offsets in dwords; gfx7 may have the offset in a literal.
fn decode_smrd(code: Code<'_>) -> Result<Inst, DecodeError> {
    const LITERAL: u32 = 255;
    let desc = smem::INDEX.get(code.gfx, code.bits(22, 5), code.word)?;
    let f = Fields {
        gfx: code.gfx,
        desc,
        bits: u64::from(code.word),
    };
    let mut inst = blank(desc, 4);
    smem_registers(&mut inst, f, f.get(15, 7), f.get(9, 6) << 1, false)?;
    if desc.src.is_empty() {
        return Ok(inst);
    }
    let offset = f.get(0, 8);
    if f.bit(8) {
        inst.mem.has_imm = true;
        inst.mem.offset = i64::from(offset) * 4;
    } else if offset == LITERAL && f.gfx == Gfx::Gfx700 {
        inst.mem.has_imm = true;
        inst.mem.offset = i64::from(code.dword(1)?) * 4;
        inst.len = 8;
    } else {
        inst.src[1] = f.scalar(offset, 1, "OFFSET")?;
    }
    Ok(inst)
}

/// SDATA and SBASE of SMEM and SMRD.
fn smem_registers(
    inst: &mut Inst,
    f: Fields,
    sdata: u32,
    sbase: u32,
    glc: bool,
) -> Result<(), DecodeError> {
    let (dst, src) = (f.desc.dst, f.desc.src);
    let data = |regs| match sdata {
        // M0 and EXEC are no places for data.
        124..=127 => Err(f.at("SDATA").reserved(sdata as u16)),
        _ => f.scalar(sdata, regs, "SDATA"),
    };
    if let Some(&ty) = src.get(2) {
        inst.src[2] = if ty == Ty::Imm {
            Operand::Imm(sdata as i32)
        } else {
            data(ty.regs())?
        };
    }
    if let Some(&ty) = dst.first() {
        match f.desc.op {
            // The old value is returned in the first registers of the data.
            Op::Atomic(..) if glc => inst.dst[0] = inst.src[2],
            Op::Atomic(..) => {}
            _ => inst.dst[0] = data(ty.regs())?,
        }
    }
    if !src.is_empty() {
        inst.src[0] = f.scalar(sbase, regs_at(src, 0), "SBASE")?;
    }
    Ok(())
}

/// DS.
pub(crate) fn decode_ds(code: Code<'_>) -> Result<Inst, DecodeError> {
    let old = code.gfx.is_gfx6_7();
    let opcode = if old {
        code.bits(18, 8)
    } else {
        code.bits(17, 8)
    };
    let desc = ds::INDEX.get(code.gfx, opcode, code.word)?;
    let f = Fields::new(code, desc)?;
    let mut inst = blank(desc, 8);
    // gfx90a has no GDS.
    inst.mem.gds = f.gfx < Gfx::Gfx90a && f.bit(if old { 17 } else { 16 });
    match desc.op {
        Op::Read2 { .. } | Op::Write2 { .. } | Op::Wrxchg2 { .. } => {
            inst.mem.offset = i64::from(f.get(0, 8));
            inst.mem.offset1 = f.get(8, 8) as u8;
        }
        Op::Ds(DsOp::Nop) => {}
        _ => inst.mem.offset = i64::from(f.get(0, 16)),
    }
    let acc = f.bit_gfx90a(25);
    if let Some(ty) = desc.dst.first() {
        inst.dst[0] = f.vector(56, ty.regs(), acc, "VDST")?;
    }
    match desc.op {
        // The value is in the field of the address.
        Op::Ds(DsOp::GwsInit | DsOp::GwsSemaBr | DsOp::GwsBarrier) => {
            inst.src[0] = f.vector(32, 1, acc, "DATA0")?;
            return Ok(inst);
        }
        // These form their address without a register.
        Op::WriteAddTid => {}
        _ if desc.src.is_empty() => return Ok(inst),
        _ => inst.src[0] = f.vector(32, 1, false, "ADDR")?,
    }
    // The rows of `_src2` name the type of the data only.
    let data = match desc.op {
        Op::AtomicSrc2(_) | Op::WriteSrc2 => 1,
        _ => desc.src.len(),
    };
    if data > 1 {
        inst.src[1] = f.vector(40, regs_at(desc.src, 1), acc, "DATA0")?;
    }
    if data > 2 {
        inst.src[2] = f.vector(48, regs_at(desc.src, 2), acc, "DATA1")?;
    }
    Ok(inst)
}

/// FLAT, GLOBAL and SCRATCH.
pub(crate) fn decode_flat(code: Code<'_>) -> Result<Inst, DecodeError> {
    const SADDR_OFF: u32 = 127;
    let opcode = code.bits(18, 7);
    let segment = match code.gfx.is_gfx9() {
        true => code.bits(14, 2),
        false => 0,
    };
    let desc = match segment {
        0 => flat::INDEX.get(code.gfx, opcode, code.word)?,
        1 => flat::SCRATCH_INDEX.get(code.gfx, opcode, code.word)?,
        2 => flat::GLOBAL_INDEX.get(code.gfx, opcode, code.word)?,
        _ => return Err(code.unknown_encoding()),
    };
    let f = Fields::new(code, desc)?;
    let mut inst = blank(desc, 8);
    inst.mem.glc = f.bit(16);
    inst.mem.slc = f.bit(17);
    inst.mem.scc = f.bit_gfx90a(25);
    // Bit 55 is TFE before gfx9 (not in LLVM), NV on gfx9, ACC on gfx90a.
    inst.mem.tfe = !f.gfx.is_gfx9() && f.bit(55);
    inst.mem.nv = f.gfx.is_gfx9() && f.gfx < Gfx::Gfx90a && f.bit(55);
    let acc = f.bit_gfx90a(55);
    match (segment, f.gfx.is_gfx9()) {
        (0, gfx9) => {
            if f.gfx.is_gfx8_up() {
                inst.mem.flat_offset_field = f.get(0, 13) as u16;
            }
            inst.mem.offset = if gfx9 { i64::from(f.get(0, 12)) } else { 0 };
        }
        _ => inst.mem.offset = i64::from((f.get(0, 13) << 19) as i32 >> 19),
    }
    // Bit 13 is LDS, on gfx942 SVE of SCRATCH.
    let has_sve = f.gfx.adds_scratch_offsets() && segment == 1;
    if f.gfx.is_gfx9() && f.bit(13) && !has_sve {
        if !f.gfx.has_flat_lds_bit() || !to_lds(desc.op) {
            return Err(f.reserved_field(1, "lds"));
        }
        inst.mem.lds = true;
    }
    inst.mem.lds |= loads_to_lds(desc);
    let saddr = f.get(48, 7);
    let has_saddr = segment != 0 && saddr != SADDR_OFF;
    match segment {
        1 if has_saddr => inst.src[2] = f.scalar_or_null(saddr, 1, "SADDR")?,
        2 if has_saddr => inst.src[2] = f.scalar_or_null(saddr, 2, "SADDR")?,
        _ => {}
    }
    let has_addr = match has_sve {
        true => f.bit(13),
        false => segment != 1 || !has_saddr,
    };
    if has_addr {
        let regs = if segment == 1 || has_saddr { 1 } else { 2 };
        inst.src[0] = f.vector(32, regs, false, "ADDR")?;
    }
    let returns = match desc.op {
        Op::Atomic(..) => inst.mem.glc,
        _ => !inst.mem.lds,
    };
    if let (true, Some(ty)) = (returns, desc.dst.first()) {
        let regs = ty.regs() + u32::from(inst.mem.tfe);
        inst.dst[0] = f.vector(56, regs, acc, "VDST")?;
    }
    if !matches!(desc.op, Op::Load(..)) {
        inst.src[1] = f.vector(40, regs_at(desc.src, 1), acc, "DATA")?;
    }
    Ok(inst)
}

/// Can the instruction load to LDS?
fn to_lds(op: Op) -> bool {
    matches!(
        op,
        Op::Load(
            Space::Buffer | Space::Global | Space::Scratch,
            Data::Dwords(1) | Data::U8 | Data::I8 | Data::U16 | Data::I16 | Data::Format(1)
        )
    )
}

/// MUBUF.
pub(crate) fn decode_mubuf(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = mubuf::INDEX.get(code.gfx, code.bits(18, 7), code.word)?;
    let f = Fields::new(code, desc)?;
    let mut inst = blank(desc, 8);
    if desc.op == Op::CacheCtl {
        // The scope: of no effect here, but printed.
        if f.gfx.has_scope_bits() && desc.forms.has(Forms::SCOPE) {
            inst.mem.glc = f.bit(14);
            inst.mem.scc = f.bit(15);
        }
        return Ok(inst);
    }
    let lds = f.bit(16);
    match desc.op {
        Op::StoreLds if lds => {}
        Op::StoreLds => return Err(f.reserved_field(0, "lds")),
        op if lds && !to_lds(op) => return Err(f.reserved_field(1, "lds")),
        _ => {}
    }
    inst.mem.lds = lds;
    inst.mem.slc = f.bit(if f.gfx.is_gfx6_7() { 54 } else { 17 });
    inst.mem.scc = f.bit_gfx90a(15);
    buffer(&mut inst, f)?;
    Ok(inst)
}

/// MTBUF.
pub(crate) fn decode_mtbuf(code: Code<'_>) -> Result<Inst, DecodeError> {
    let opcode = if code.gfx.is_gfx6_7() {
        code.bits(16, 3)
    } else {
        code.bits(15, 4)
    };
    let desc = mtbuf::INDEX.get(code.gfx, opcode, code.word)?;
    let f = Fields::new(code, desc)?;
    let mut inst = blank(desc, 8);
    inst.mem.dfmt = f.get(19, 4) as u8;
    inst.mem.nfmt = f.get(23, 3) as u8;
    inst.mem.slc = f.bit(54);
    inst.mem.scc = f.bit_gfx90a(53);
    buffer(&mut inst, f)?;
    Ok(inst)
}

/// Fields common to MUBUF and MTBUF.
fn buffer(inst: &mut Inst, f: Fields) -> Result<(), DecodeError> {
    const LDS_DIRECT: u16 = 254;
    let desc = f.desc;
    let mem = &mut inst.mem;
    mem.offset = i64::from(f.get(0, 12));
    mem.offen = f.bit(12);
    mem.idxen = f.bit(13);
    mem.glc = f.bit(14);
    mem.addr64 = f.gfx.is_gfx6_7() && f.bit(15);
    // gfx90a has no TFE; the bit chooses accumulation registers there.
    let acc = f.bit_gfx90a(55);
    mem.tfe = f.gfx < Gfx::Gfx90a && f.bit(55);
    let mem = inst.mem;
    if mem.addr64 && (mem.offen || mem.idxen) {
        return Err(f.reserved_field(1, "addr64 with offen or idxen"));
    }
    let addr = u32::from(mem.offen) + u32::from(mem.idxen) + 2 * u32::from(mem.addr64);
    if addr > 0 {
        inst.src[0] = f.vector(32, addr, false, "VADDR")?;
    }
    inst.src[1] = f.scalar(f.get(48, 5) << 2, 4, "SRSRC")?;
    inst.src[2] = match f.get(56, 8) as u16 {
        code @ 0..=127 => f.scalar_or_null(u32::from(code), 1, "SOFFSET")?,
        LDS_DIRECT => return Err(f.at("SOFFSET").reserved(LDS_DIRECT)),
        code => scalar_src(f.at("SOFFSET"), code, Ty::U32, None)?,
    };
    if mem.lds {
        return match mem.tfe {
            true => Err(f.reserved_field(1, "tfe with lds")),
            false => Ok(()),
        };
    }
    // The operand that holds the data; TFE adds a status dword to what a load returns.
    let data_regs = match desc.op {
        Op::Load(..) => regs_at(desc.dst, 0),
        _ => regs_at(desc.src, 3),
    };
    let data = f.vector(40, data_regs + u32::from(mem.tfe), acc, "VDATA")?;
    match desc.op {
        Op::Load(..) => inst.dst[0] = data,
        Op::Atomic(..) => {
            inst.src[3] = data;
            if mem.glc {
                inst.dst[0] = data;
            }
        }
        _ => inst.src[3] = data,
    }
    Ok(())
}

/// MIMG.
pub(crate) fn decode_mimg(code: Code<'_>) -> Result<Inst, DecodeError> {
    // Bit 0 is the high bit of the opcode; no instruction has it set.
    let opcode = code.bits(18, 7) | code.bits(0, 1) << 7;
    let desc = mimg::INDEX.get(code.gfx, opcode, code.word)?;
    let f = Fields::new(code, desc)?;
    let mut inst = blank(desc, 8);
    let mem = &mut inst.mem;
    mem.dmask = f.get(8, 4) as u8;
    mem.unrm = f.bit(12);
    mem.glc = f.bit(13);
    mem.da = f.bit(14);
    mem.r128 = !f.gfx.is_gfx9() && f.bit(15);
    mem.a16 = f.gfx.is_gfx9() && f.bit(15);
    let acc = f.bit_gfx90a(16);
    mem.tfe = f.gfx < Gfx::Gfx90a && f.bit(16);
    mem.lwe = f.bit(17);
    mem.slc = f.bit(25);
    mem.scc = f.bit_gfx90a(7);
    mem.d16 = f.gfx.is_gfx8_up() && f.bit(63) && takes_d16(desc.op);
    let mem = inst.mem;
    // The number of registers depends on more than the instruction.
    inst.src[0] = f.vector(32, 1, false, "VADDR")?;
    let srsrc = f.get(48, 5) << 2;
    inst.src[1] = match (f.gfx, srsrc) {
        // The last four registers of this group do not exist; LLVM prints it all the same.
        (Gfx::Gfx803, 120) => Operand::Sgpr(120),
        _ => f.scalar(srsrc, if mem.r128 { 4 } else { 8 }, "SRSRC")?,
    };
    if let ImageOp::Sample(_) | ImageOp::Gather4(_) | ImageOp::Gather4h(_) | ImageOp::GetLod =
        image_op(desc.op)
    {
        inst.src[2] = f.scalar(f.get(53, 5) << 2, 4, "SSAMP")?;
    }
    let data = f.vector(40, 1, acc, "VDATA")?;
    match image_op(desc.op) {
        ImageOp::Store { .. } => inst.src[3] = data,
        ImageOp::Atomic(_) => {
            inst.src[3] = data;
            if mem.glc {
                inst.dst[0] = data;
            }
        }
        _ => inst.dst[0] = data,
    }
    Ok(inst)
}

/// The operation of a MIMG row.
fn image_op(op: Op) -> ImageOp {
    match op {
        Op::Image(op) => op,
        _ => unreachable!("bug: a MIMG row that is no image operation"),
    }
}

/// Is D16 defined for the instruction?
fn takes_d16(op: Op) -> bool {
    match image_op(op) {
        ImageOp::Load { pck, .. } | ImageOp::Store { pck, .. } => !pck,
        ImageOp::Sample(_) | ImageOp::Gather4(_) | ImageOp::Gather4h(_) => true,
        ImageOp::GetResinfo | ImageOp::GetLod | ImageOp::Atomic(_) => false,
    }
}

/// EXP.
pub(crate) fn decode_exp(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = exp::INDEX.get(code.gfx, 0, code.word)?;
    let f = Fields::new(code, desc)?;
    let mut inst = blank(desc, 8);
    let target = f.get(4, 6);
    if matches!(target, 10 | 11 | 16..=31) {
        return Err(f.reserved_field(target, "tgt"));
    }
    let mem = &mut inst.mem;
    mem.exp_en = f.get(0, 4) as u8;
    mem.exp_target = target as u8;
    mem.exp_compr = f.bit(10);
    mem.exp_done = f.bit(11);
    mem.exp_vm = f.bit(12);
    let mem = inst.mem;
    for (i, src) in inst.src.iter_mut().enumerate() {
        // Compressed: two registers with two halves each.
        let field = if mem.exp_compr { i / 2 } else { i } as u32;
        if mem.exp_en >> i & 1 != 0 {
            *src = f.vector(32 + 8 * field, 1, false, "VSRC")?;
        }
    }
    Ok(inst)
}
