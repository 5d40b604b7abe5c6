//! How each row is translated, for the status table; determined by lowering a plain instance of the
//! row.

use frontend::desc::{Encoding, InstDesc};
use frontend::inst::{Form, Inst, MemMods, Mods, Operand};
use frontend::op::{DsOp, ImageOp, Op, Space};
use frontend::ops;
use frontend::registers::loads_to_lds;
use frontend::state::mode;
use frontend::target::Gfx;
use frontend::ty::Ty;

use crate::ir::build::Build;
use crate::ir::{Node, Op as Ir};
use crate::lift::arms::{Lowered, Sites, lower};
use crate::lift::guest::Guest;

/// How an instruction is translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Support {
    /// As operations of the IR: host instructions.
    Native,
    /// With calls of runtime functions.
    Helper,
    /// The region's control flow, or changes to the translation of later code: not lowered by an
    /// arm.
    Control,
    /// The interpreter runs it.
    Interp,
    /// Neither engine runs it: both fault.
    Refused,
}

/// Is it hardware that is not modelled: interpolation parameters of pixel shaders, global data
/// share, trap handlers, depth comparisons, levels of detail of images?
fn is_refused(op: Op) -> bool {
    match op {
        Op::InterpP1 | Op::InterpP1Ll | Op::InterpP1Lv | Op::InterpP2 | Op::InterpMov => true,
        Op::Mfma(_) | Op::Smfmac(_) | Op::AccVgprRead | Op::AccVgprWrite | Op::AccVgprMov => false,
        Op::Ds(op) => match op {
            DsOp::OrderedCount => true,
            DsOp::GwsInit | DsOp::GwsBarrier | DsOp::GwsSemaV | DsOp::GwsSemaBr => false,
            DsOp::GwsSemaP | DsOp::GwsSemaReleaseAll => false,
            DsOp::Append | DsOp::Consume | DsOp::Swizzle | DsOp::Permute => false,
            DsOp::Bpermute | DsOp::Condxchg32Rtn64 | DsOp::Nop => false,
        },
        Op::Image(op) => match op {
            ImageOp::Sample(mods) | ImageOp::Gather4(mods) => mods.compare,
            ImageOp::Gather4h(_) | ImageOp::GetLod => true,
            ImageOp::Load { .. } | ImageOp::Store { .. } => false,
            ImageOp::GetResinfo | ImageOp::Atomic(_) => false,
        },
        Op::Read2 { .. } | Op::Write2 { .. } | Op::Wrxchg2 { .. } => false,
        Op::AtomicSrc2(_) | Op::WriteSrc2 | Op::ReadAddTid | Op::WriteAddTid => false,
        Op::Load(..) | Op::Store(..) | Op::Atomic(..) | Op::StoreLds | Op::Export => false,
        Op::MemTime | Op::MemRealtime | Op::CacheCtl => false,
        ops!(alu | salu | special | vector | vector_wide | convert | eight_bits | rounding) => {
            false
        }
        ops!(float | float_wide | legacy | packed) => false,
    }
}

/// Is the operation handled by the region rather than by the arms?
pub fn is_control(op: Op) -> bool {
    match op {
        Op::Branch(_) | Op::Endpgm | Op::Barrier | Op::SetPc | Op::SwapPc | Op::Call => true,
        Op::Trap | Op::Rfe | Op::RfeRestore => true,
        Op::CbranchGFork | Op::CbranchIFork | Op::CbranchJoin => true,
        Op::SetGprIdxOn | Op::SetGprIdxIdx | Op::SetGprIdxOff | Op::SetGprIdxMode => true,
        Op::SetVskip | Op::SetReg => true,
        Op::GetReg | Op::GetPc | Op::SaveExec(_) | Op::WrExec(_) => false,
        Op::Waitcnt | Op::Hint(_) | Op::Sendmsg => false,
        ops!(alu | scalar | scalar_bits | scalar_other | valu | mem) => false,
    }
}

/// How a row is translated on `gfx` under a compiler's usual MODE; `None` if the target lacks the
/// row.
pub fn support(desc: &'static InstDesc, gfx: Gfx) -> Option<Support> {
    desc.opcodes.get(gfx)?;
    Some(support_of(&plain(desc, gfx), gfx))
}

/// How an instruction is translated on `gfx` under a compiler's usual MODE.
pub fn support_of(inst: &Inst, gfx: Gfx) -> Support {
    if is_control(inst.op()) {
        return Support::Control;
    }
    if is_refused(inst.op()) {
        return Support::Refused;
    }
    let calls = |node: &Node| matches!(node.op, Ir::Call(..) | Ir::Effect { .. });
    match nodes(inst, gfx) {
        (Lowered::Fallback, _) if inst.mem.gds => Support::Refused,
        (Lowered::Fallback, _) => Support::Interp,
        (Lowered::ScalarMove(_) | Lowered::Matrix(_), _) => Support::Helper,
        (Lowered::Done, nodes) if nodes.iter().any(calls) => Support::Helper,
        (Lowered::Done, _) => Support::Native,
    }
}

/// The nodes of one instruction; [`Lowered`] tells whether they are complete.
fn nodes(inst: &Inst, gfx: Gfx) -> (Lowered, Vec<Node>) {
    const MODE: u32 = mode::DENORM_F32 | mode::DENORM_F16_F64 | mode::IEEE | mode::DX10_CLAMP;
    let b = Build::new();
    let mut g = Guest::new(&b, gfx, MODE);
    let mut sites = Sites::default();
    let lowered = lower(&mut g, inst, 0x1000, &mut sites);
    (lowered, b.finish().0)
}

/// An instance of a row with registers for all operands, as decoded.
pub fn plain(desc: &'static InstDesc, gfx: Gfx) -> Inst {
    let mut inst = Inst {
        desc,
        form: Form::Native,
        len: 8,
        dst: [Operand::None; 2],
        src: [Operand::None; 4],
        mods: Mods {
            op_sel_hi: 7,
            ..Mods::default()
        },
        mem: MemMods::default(),
    };
    let scalar = desc.encoding.is_scalar();
    let mut next = 16;
    let mut register = |ty: Ty, lanes: bool| {
        let n = next;
        next += ty.regs().max(1).next_multiple_of(4) as u8;
        match (ty, lanes) {
            (Ty::Imm, _) => Operand::Imm(0x1043),
            (Ty::Mask, _) | (_, false) => Operand::Sgpr(n),
            (_, true) => Operand::Vgpr(n),
        }
    };
    for (i, &ty) in desc.dst.iter().enumerate() {
        inst.dst[i] = register(ty, !scalar);
    }
    for (i, &ty) in desc.src.iter().enumerate() {
        let descriptor = matches!(
            desc.encoding,
            Encoding::Mubuf | Encoding::Mtbuf | Encoding::Mimg
        ) && (i == 1 || i == 2);
        inst.src[i] = register(ty, !scalar && !descriptor);
    }
    if matches!(desc.op, Op::ReadLane | Op::ReadFirstLane) {
        inst.dst[0] = Operand::Sgpr(8);
        inst.src[1] = Operand::Sgpr(9);
    }
    if desc.op == Op::WriteLane {
        inst.src[0] = Operand::Sgpr(8);
        inst.src[1] = Operand::Sgpr(9);
    }
    inst.mem.lds = loads_to_lds(desc);
    match desc.encoding {
        // Without the scalar address operand of the row.
        Encoding::Global | Encoding::Scratch => inst.src[2] = Operand::None,
        Encoding::Smem if desc.src.len() > 1 => {
            inst.src[1] = Operand::None;
            inst.mem.has_imm = true;
        }
        Encoding::Mubuf if gfx.is_gfx6_7() && is_untyped(desc.op) => inst.mem.addr64 = true,
        Encoding::Mubuf | Encoding::Mtbuf => inst.mem.offen = true,
        Encoding::Mimg => inst.mem.dmask = 1,
        _ => {}
    }
    inst
}

/// Accesses with 64-bit addresses on gfx6 and gfx7.
fn is_untyped(op: Op) -> bool {
    matches!(
        op,
        Op::Load(Space::Buffer, _) | Op::Store(Space::Buffer, _) | Op::Atomic(..)
    )
}
