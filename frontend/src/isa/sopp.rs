//! SOPP: scalar program control.

use crate::desc::{Effects, Encoding, InstDesc, Opcodes, absent, op, row};
use crate::isa::Index;
use crate::op::{BranchIf, Hint, Op};
use crate::ty::Ty::{self, *};

const fn sopp(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Sopp, name, opcodes, d, s, op)
}

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    sopp("s_nop",                      op(0x00),            &[], &[Imm], Op::Nop),
    sopp("s_endpgm",                   op(0x01),            &[], &[Imm], Op::Endpgm),
    sopp("s_branch",                   op(0x02),            &[], &[Imm], Op::Branch(BranchIf::Always)),
    sopp("s_wakeup",                   absent().gfx8(0x03), &[], &[],    Op::Hint(Hint::Wakeup)),
    sopp("s_cbranch_scc0",             op(0x04),            &[], &[Imm], Op::Branch(BranchIf::Scc0)).effect(Effects::READS_SCC),
    sopp("s_cbranch_scc1",             op(0x05),            &[], &[Imm], Op::Branch(BranchIf::Scc1)).effect(Effects::READS_SCC),
    sopp("s_cbranch_vccz",             op(0x06),            &[], &[Imm], Op::Branch(BranchIf::Vccz)).effect(Effects::READS_VCC),
    sopp("s_cbranch_vccnz",            op(0x07),            &[], &[Imm], Op::Branch(BranchIf::Vccnz)).effect(Effects::READS_VCC),
    sopp("s_cbranch_execz",            op(0x08),            &[], &[Imm], Op::Branch(BranchIf::Execz)).effect(Effects::READS_EXEC),
    sopp("s_cbranch_execnz",           op(0x09),            &[], &[Imm], Op::Branch(BranchIf::Execnz)).effect(Effects::READS_EXEC),
    sopp("s_barrier",                  op(0x0a),            &[], &[],    Op::Barrier),
    sopp("s_setkill",                  op(0x0b),            &[], &[Imm], Op::Hint(Hint::SetKill)),
    sopp("s_waitcnt",                  op(0x0c),            &[], &[Imm], Op::Waitcnt),
    sopp("s_sethalt",                  op(0x0d),            &[], &[Imm], Op::Hint(Hint::SetHalt)),
    sopp("s_sleep",                    op(0x0e),            &[], &[Imm], Op::Hint(Hint::Sleep)),
    sopp("s_setprio",                  op(0x0f),            &[], &[Imm], Op::Hint(Hint::SetPrio)),
    sopp("s_sendmsg",                  op(0x10),            &[], &[Imm], Op::Sendmsg).effect(Effects::READS_M0),
    sopp("s_sendmsghalt",              op(0x11),            &[], &[Imm], Op::Sendmsg).effect(Effects::READS_M0),
    sopp("s_trap",                     op(0x12),            &[], &[Imm], Op::Trap),
    sopp("s_icache_inv",               op(0x13),            &[], &[],    Op::Hint(Hint::IcacheInv)),
    sopp("s_incperflevel",             op(0x14),            &[], &[Imm], Op::Hint(Hint::IncPerfLevel)),
    sopp("s_decperflevel",             op(0x15),            &[], &[Imm], Op::Hint(Hint::DecPerfLevel)),
    sopp("s_ttracedata",               op(0x16),            &[], &[],    Op::Hint(Hint::TtraceData)).effect(Effects::READS_M0),
    sopp("s_cbranch_cdbgsys",          op(0x17),            &[], &[Imm], Op::Branch(BranchIf::CdbgSys)),
    sopp("s_cbranch_cdbguser",         op(0x18),            &[], &[Imm], Op::Branch(BranchIf::CdbgUser)),
    sopp("s_cbranch_cdbgsys_or_user",  op(0x19),            &[], &[Imm], Op::Branch(BranchIf::CdbgSysOrUser)),
    sopp("s_cbranch_cdbgsys_and_user", op(0x1a),            &[], &[Imm], Op::Branch(BranchIf::CdbgSysAndUser)),
    sopp("s_endpgm_saved",             absent().gfx8(0x1b), &[], &[],    Op::Endpgm),
    sopp("s_set_gpr_idx_off",          absent().gfx8(0x1c), &[], &[],    Op::SetGprIdxOff),
    sopp("s_set_gpr_idx_mode",         absent().gfx8(0x1d), &[], &[Imm], Op::SetGprIdxMode).effect(Effects::READS_M0.and(Effects::WRITES_M0)),
    sopp("s_endpgm_ordered_ps_done",   absent().gfx9(0x1e), &[], &[],    Op::Endpgm),
];

/// From opcode to row.
pub static INDEX: Index<128> = Index::new("SOPP").with(ROWS);
