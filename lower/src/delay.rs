//! Where waves wait at a barrier. What is computed behind one from registers alone is the same before it: a wave may run such
//! instructions first and then wait. It does where fewer vector registers are wanted behind them, since those go through
//! memory while other waves run: products take two and give one.

use frontend::decode;
use frontend::desc::{Effects, Encoding};
use frontend::inst::{EXEC_LO, Inst, Operand, Special};
use frontend::op::Op;
use frontend::state::mode;

use crate::region::{Fetch, Request, behind, is_control, is_interpreted};

/// Instructions behind a barrier that are looked at.
const WINDOW: usize = 256;

/// Registers that there must be fewer of.
const WORTH: usize = 3;

/// More of them than the fewest, still.
const SLACK: usize = 1;

/// Does an instruction read and write registers only?
fn is_arithmetic(inst: &Inst) -> bool {
    let effects = inst.desc.effects;
    let other = [
        Effects::WRITES_EXEC,
        Effects::READS_M0,
        Effects::WRITES_M0,
        Effects::CROSS_LANE,
    ];
    let exec = |operand: &Operand| matches!(operand, Operand::Sgpr(n) if *n >= EXEC_LO);
    if inst.src.contains(&Operand::Special(Special::LdsDirect)) {
        return false;
    }
    match inst.desc.encoding {
        Encoding::Sopp => matches!(inst.op(), Op::Waitcnt | Op::Nop),
        Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopk | Encoding::Sopc => {
            let special = matches!(inst.op(), Op::GetReg | Op::SetReg);
            !special && !other.iter().any(|&e| effects.has(e)) && !inst.dst.iter().any(exec)
        }
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vop3 | Encoding::Vop3p => {
            !other.iter().any(|&e| effects.has(e)) && !inst.dst.iter().any(exec)
        }
        _ => false,
    }
}

/// The vector registers of an operand.
fn registers(operand: Operand, count: usize) -> impl Iterator<Item = usize> {
    let first = match operand {
        Operand::Vgpr(n) => Some(usize::from(n)),
        _ => None,
    };
    let count = count.max(1);
    first.into_iter().flat_map(move |n| n..(n + count).min(256))
}

/// How many of the instructions right behind a barrier are to run before a wave waits; `insts` go on as far as the flow of
/// control is known.
fn instructions(insts: &[(u64, Inst)]) -> usize {
    let arithmetic = insts.iter().take_while(|(_, inst)| is_arithmetic(inst));
    let most = arithmetic.count();
    let ends = insts.last().is_some_and(|(_, i)| i.op() == Op::Endpgm);
    let mut live = [!ends; 256];
    // How many are wanted before each of the first ones.
    let mut wanted = vec![if ends { 0 } else { 256 }; most + 1];
    for (n, (_, inst)) in insts.iter().enumerate().rev() {
        if !inst.desc.effects.has(Effects::READS_D) {
            for (operand, ty) in inst.dst.into_iter().zip(inst.desc.dst) {
                registers(operand, ty.regs() as usize).for_each(|n| live[n] = false);
            }
        }
        for (operand, ty) in inst.src.into_iter().zip(inst.desc.src) {
            registers(operand, ty.regs() as usize).for_each(|n| live[n] = true);
        }
        if n <= most {
            wanted[n] = live.iter().filter(|&&live| live).count();
        }
    }
    // As late as may be: what is stored next is stored from registers as they are then.
    let least = wanted.iter().copied().min().unwrap_or(0);
    let last = wanted.iter().rposition(|&n| n <= least + SLACK);
    last.filter(|&n| wanted[n] + WORTH <= wanted[0])
        .unwrap_or(0)
}

/// The instructions behind a barrier that a wave runs before it waits there, `most` of them at most; the first one is at an
/// address, under a mode key.
pub(crate) fn before_waiting(
    request: &Request,
    fetch: &Fetch<'_>,
    (mut pc, mode_bits): (u64, u32),
    most: usize,
) -> Vec<(u64, Inst)> {
    let mut insts = Vec::new();
    // The one who looks sees every register as it is at the barrier.
    if request.observe || mode_bits & (mode::GPR_IDX_EN | mode::VSKIP) != 0 {
        return insts;
    }
    while insts.len() < WINDOW
        && let Some(inst) = fetch(pc).and_then(|bytes| decode(request.gfx, bytes).ok())
        && !is_interpreted(&inst)
    {
        insts.push((pc, inst));
        if is_control(&inst) && inst.op() != Op::Barrier {
            break;
        }
        pc = behind(pc, &inst);
    }
    insts.truncate(instructions(&insts).min(most));
    insts
}

#[cfg(test)]
mod tests {
    use frontend::decode;
    use frontend::target::Gfx;

    use super::*;

    fn decoded(words: &[u32]) -> Vec<(u64, Inst)> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let (mut insts, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let inst = decode(Gfx::Gfx900, &bytes[at..]).expect("it is an instruction");
            insts.push((at as u64, inst));
            at += usize::from(inst.len);
        }
        insts
    }

    /// `v_add_f32`.
    fn add(d: u32, a: u32, b: u32) -> u32 {
        0x0200_0100 | d << 17 | b << 9 | a
    }

    #[test]
    fn waves_wait_where_fewest_registers_are_wanted() {
        let end = 0xbf81_0000;
        // ds_write_b32 v1, v2
        let write = [0xd81a_0000, 0x0000_0201];
        let sums = [add(2, 2, 3), add(4, 4, 5), add(2, 2, 4), add(2, 2, 6)];
        let with = |words: &[u32]| instructions(&decoded(words));
        let all = [&sums[..], &write, &[end]].concat();
        assert_eq!(with(&all), 4, "sums");
        // Behind a branch what is wanted is not known: all that is not overwritten is.
        let branch = 0xbf82_0000;
        assert_eq!(with(&[&sums[..], &write, &[branch]].concat()), 0, "unknown");
        assert_eq!(with(&[&sums[..1], &write, &[end]].concat()), 0, "too few");
        let spread = [add(2, 1, 1), add(3, 1, 1), add(4, 1, 1), add(5, 1, 1)];
        assert_eq!(with(&[&spread[..], &write, &[end]].concat()), 0, "more");
        // What is stored is not computed before.
        assert_eq!(
            with(&[&write[..], &sums, &write, &[end]].concat()),
            0,
            "stores"
        );
        // v_add_f32 v2, src_lds_direct, v3
        let direct = 0x0200_0000 | 2 << 17 | 3 << 9 | 254;
        let all = [&[direct], &sums[..], &write, &[end]].concat();
        assert_eq!(with(&all), 0, "loads from LDS");
        // s_getreg_b32 s0, hwreg(HW_REG_MODE)
        let asks = [&[0xb880_f801], &sums[..], &write, &[end]].concat();
        assert_eq!(with(&asks), 0, "asks");
        assert_eq!(with(&[]), 0, "nothing");
    }
}
