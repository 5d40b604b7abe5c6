//! Scalar ALU instructions as text: operands, and the immediate fields with names (hardware
//! registers, messages, counters).

use crate::desc::Encoding;
use crate::inst::{Inst, Operand};
use crate::op::Op;
use crate::print::operand::{Sep, number, operand, put};
use crate::target::Gfx;

/// Appends the instruction.
pub(super) fn text(out: &mut String, inst: &Inst, gfx: Gfx) {
    let desc = inst.desc;
    out.push_str(desc.name_on(gfx));
    let mut sep = Sep::default();
    for (i, &ty) in desc.dst.iter().enumerate() {
        sep.next(out);
        operand(out, gfx, inst.dst[i], ty);
    }
    // The hardware register of `s_setreg` is printed first, as the destination it is.
    let sources: &[usize] = match (desc.op, desc.src.len()) {
        (Op::SetReg, _) => &[1, 0],
        (_, 0) => &[],
        (_, 1) => &[0],
        _ => &[0, 1],
    };
    for &i in sources {
        match inst.src[i] {
            Operand::Imm(value) => {
                let value = value as u32 & 0xffff;
                if desc.op == Op::Endpgm && value == 0 {
                    return;
                }
                sep.next(out);
                immediate(out, inst, gfx, value);
            }
            value => {
                sep.next(out);
                operand(out, gfx, value, desc.src[i]);
            }
        }
    }
}

/// simm16 as the operation reads it.
fn immediate(out: &mut String, inst: &Inst, gfx: Gfx, value: u32) {
    match inst.desc.op {
        Op::Branch(_) | Op::Call | Op::CbranchIFork | Op::Endpgm => put!(out, "{value}"),
        Op::GetReg | Op::SetReg => hwreg(out, gfx, value),
        Op::Sendmsg => sendmsg(out, gfx, value),
        Op::Waitcnt => waitcnt(out, gfx, value),
        Op::SetGprIdxOn | Op::SetGprIdxMode => gpr_idx(out, value),
        Op::Nop | Op::Trap | Op::Hint(_) => number(out, value),
        _ if inst.desc.encoding == Encoding::Sopk => put!(out, "0x{value:x}"),
        _ => put!(out, "{value}"),
    }
}

/// `hwreg(HW_REG_MODE, 4, 2)`: number, then offset and width unless they mean the whole register.
fn hwreg(out: &mut String, gfx: Gfx, value: u32) {
    let (id, offset, width) = (value & 63, value >> 6 & 31, (value >> 11) + 1);
    let name = match (id, gfx.is_gfx9()) {
        (1, _) => "HW_REG_MODE",
        (2, _) => "HW_REG_STATUS",
        (3, _) => "HW_REG_TRAPSTS",
        (4, _) => "HW_REG_HW_ID",
        (5, _) => "HW_REG_GPR_ALLOC",
        (6, _) => "HW_REG_LDS_ALLOC",
        (7, _) => "HW_REG_IB_STS",
        (15, true) => "HW_REG_SH_MEM_BASES",
        (16, true) => "HW_REG_TBA_LO",
        (17, true) => "HW_REG_TBA_HI",
        (18, true) => "HW_REG_TMA_LO",
        (19, true) => "HW_REG_TMA_HI",
        (20, _) if gfx.has_die_registers() => "HW_REG_XCC_ID",
        (21, _) if gfx.has_die_registers() => "HW_REG_SQ_PERF_SNAPSHOT_DATA",
        (22, _) if gfx.has_die_registers() => "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
        (23, _) if gfx.has_die_registers() => "HW_REG_SQ_PERF_SNAPSHOT_PC_LO",
        (24, _) if gfx.has_die_registers() => "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
        _ => "",
    };
    if name.is_empty() {
        put!(out, "hwreg({id}");
    } else {
        put!(out, "hwreg({name}");
    }
    if (offset, width) != (0, 32) {
        put!(out, ", {offset}, {width}");
    }
    out.push(')');
}

/// `sendmsg(MSG_GS, GS_OP_CUT, 1)`, with numbers where a part has no name or is not allowed there.
fn sendmsg(out: &mut String, gfx: Gfx, value: u32) {
    let (id, op, stream) = (value & 15, value >> 4 & 7, value >> 8 & 3);
    let gfx9 = gfx.is_gfx9();
    let name = match id {
        1 => "MSG_INTERRUPT",
        2 => "MSG_GS",
        3 => "MSG_GS_DONE",
        4 if gfx.is_gfx8_up() => "MSG_SAVEWAVE",
        5 if gfx9 => "MSG_STALL_WAVE_GEN",
        6 if gfx9 => "MSG_HALT_WAVES",
        7 if gfx9 => "MSG_ORDERED_PS_DONE",
        8 if gfx9 => "MSG_EARLY_PRIM_DEALLOC",
        9 if gfx9 => "MSG_GS_ALLOC_REQ",
        10 if gfx9 => "MSG_GET_DOORBELL",
        15 => "MSG_SYSMSG",
        _ => "",
    };
    let op_name = match (id, op) {
        (2 | 3, 0) => "GS_OP_NOP",
        (2 | 3, 1) => "GS_OP_CUT",
        (2 | 3, 2) => "GS_OP_EMIT",
        (2 | 3, 3) => "GS_OP_EMIT_CUT",
        (15, 1) => "SYSMSG_OP_ECC_ERR_INTERRUPT",
        (15, 2) => "SYSMSG_OP_REG_RD",
        (15, 3) if !gfx9 => "SYSMSG_OP_HOST_TRAP_ACK",
        (15, 4) => "SYSMSG_OP_TTRACE_PC",
        _ => "",
    };
    let takes_op = matches!(id, 2 | 3 | 15);
    let takes_stream = matches!(id, 2 | 3) && op != 0;
    let op_fits = if takes_op {
        !op_name.is_empty() && (id, op) != (2, 0)
    } else {
        op == 0
    };
    if !name.is_empty() && op_fits && (takes_stream || stream == 0) {
        put!(out, "sendmsg({name}");
        if takes_op {
            put!(out, ", {op_name}");
        }
        if takes_stream {
            put!(out, ", {stream}");
        }
        out.push(')');
    } else if value == id | op << 4 | stream << 8 {
        put!(out, "sendmsg({id}, {op}, {stream})");
    } else {
        put!(out, "{value}");
    }
}

/// `vmcnt(0) expcnt(0) lgkmcnt(0)`, without counters that are not waited for.
fn waitcnt(out: &mut String, gfx: Gfx, value: u32) {
    let (vm, vm_max) = if gfx.is_gfx9() {
        (value & 15 | value >> 14 << 4, 63)
    } else {
        (value & 15, 15)
    };
    let counters = [
        ("vmcnt", vm, vm_max),
        ("expcnt", value >> 4 & 7, 7),
        ("lgkmcnt", value >> 8 & 15, 15),
    ];
    let all = counters.iter().all(|&(_, n, max)| n == max);
    let mut first = true;
    for (name, n, max) in counters {
        if all || n != max {
            put!(out, "{}{name}({n})", if first { "" } else { " " });
            first = false;
        }
    }
}

/// `gpr_idx(SRC0,DST)`.
fn gpr_idx(out: &mut String, value: u32) {
    if value > 15 {
        return put!(out, "0x{value:x}");
    }
    out.push_str("gpr_idx(");
    let mut comma = "";
    for (i, name) in ["SRC0", "SRC1", "SRC2", "DST"].into_iter().enumerate() {
        if value >> i & 1 != 0 {
            put!(out, "{comma}{name}");
            comma = ",";
        }
    }
    out.push(')');
}
