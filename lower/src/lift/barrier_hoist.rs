//! Where waves wait at a barrier. What is computed behind one from registers alone is the same before it: a wave may run such
//! instructions first and then wait. It does where fewer vector registers are wanted behind them, since those go through
//! memory while other waves run: products take two and give one.

use frontend::desc::{Effects, Encoding};
use frontend::inst::{EXEC_LO, Inst, Operand, Special};
use frontend::op::{BranchIf, Op};
use frontend::state::mode;

use crate::lift::region::{
    Decoded, Key, Request, Waits, behind, branch_target, is_control, is_interpreted, key_behind,
};

/// Instructions behind a barrier that are looked at.
const WINDOW: usize = 256;

/// Branches on a way there, beyond which anything may be wanted.
const BRANCHES: u32 = 2;

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

/// Which vector registers are wanted.
type Wanted = [bool; 256];

/// What may be wanted where nobody has looked.
const ALL: Wanted = [true; 256];

/// What is wanted at the end of a program.
const NONE: Wanted = [false; 256];

/// The vector registers of an operand.
fn registers(operand: Operand, count: usize) -> impl Iterator<Item = usize> {
    let first = match operand {
        Operand::Vgpr(n) => Some(usize::from(n)),
        _ => None,
    };
    let count = count.max(1);
    first.into_iter().flat_map(move |n| n..(n + count).min(256))
}

/// Makes what is wanted behind an instruction what is wanted before it.
fn go_back(wanted: &mut Wanted, inst: &Inst) {
    if !inst.desc.effects.has(Effects::READS_D) {
        for (operand, ty) in inst.dst.into_iter().zip(inst.desc.dst) {
            registers(operand, ty.regs() as usize).for_each(|n| wanted[n] = false);
        }
    }
    for (operand, ty) in inst.src.into_iter().zip(inst.desc.src) {
        registers(operand, ty.regs() as usize).for_each(|n| wanted[n] = true);
    }
}

/// How many of the instructions right behind a barrier are to run before a wave waits; behind all of `insts` these registers
/// are wanted.
fn instructions(insts: &[(u64, Inst)], mut wanted: Wanted) -> usize {
    let arithmetic = insts.iter().take_while(|(_, inst)| is_arithmetic(inst));
    let most = arithmetic.count();
    let count = |wanted: &Wanted| wanted.iter().filter(|&&wanted| wanted).count();
    // How many are wanted before each of the first ones.
    let mut counts = vec![count(&wanted); most + 1];
    for (n, (_, inst)) in insts.iter().enumerate().rev() {
        go_back(&mut wanted, inst);
        if n <= most {
            counts[n] = count(&wanted);
        }
    }
    // As late as may be: what is stored next is stored from registers as they are then.
    let least = counts.iter().copied().min().unwrap_or(0);
    let last = counts.iter().rposition(|&n| n <= least + SLACK);
    last.filter(|&n| counts[n] + WORTH <= counts[0])
        .unwrap_or(0)
}

/// Looks at what follows a barrier.
struct Look<'a> {
    decoded: &'a Decoded,
    /// Instructions that may still be looked at.
    left: usize,
}

impl Look<'_> {
    /// The instructions from a place on, up to one that changes the flow of control, and what is wanted behind that; looks
    /// beyond so many branches.
    fn from(&mut self, (mut pc, mut mode_bits): Key, branches: u32) -> (Vec<(u64, Inst)>, Wanted) {
        let mut insts = Vec::new();
        while self.left > 0
            && let Some(&Ok(inst)) = self.decoded.get(&(pc, mode_bits))
            && !is_interpreted(&inst)
        {
            self.left -= 1;
            insts.push((pc, inst));
            let next = behind(pc, &inst);
            if inst.op() == Op::Endpgm {
                return (insts, NONE);
            }
            if let Op::Branch(cond) = inst.op()
                && branches > 0
            {
                let to = (branch_target(pc, inst.src[0]), mode_bits);
                let mut wanted = self.wanted(to, branches - 1);
                if cond != BranchIf::Always {
                    let other = self.wanted((next, mode_bits), branches - 1);
                    wanted.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
                }
                return (insts, wanted);
            }
            if is_control(&inst) && inst.op() != Op::Barrier {
                break;
            }
            (pc, mode_bits) = (next, key_behind(mode_bits, &inst));
        }
        (insts, ALL)
    }

    /// What is wanted at a place.
    fn wanted(&mut self, at: Key, branches: u32) -> Wanted {
        let (insts, mut wanted) = self.from(at, branches);
        for (_, inst) in insts.iter().rev() {
            go_back(&mut wanted, inst);
        }
        wanted
    }
}

/// Where waves wait that come to the barriers of a region.
pub(crate) fn waits(request: &Request, decoded: &Decoded) -> Waits {
    let mut waits = Waits::default();
    for (&(pc, mode_bits), inst) in decoded {
        if let Ok(inst) = inst
            && inst.op() == Op::Barrier
        {
            let next = behind(pc, inst);
            // The one who looks sees every register as it is at the barrier.
            let stays = request.observe || mode_bits & (mode::GPR_IDX_EN | mode::VSKIP) != 0;
            let left = if stays { 0 } else { WINDOW };
            let (insts, wanted) = Look { decoded, left }.from((next, mode_bits), BRANCHES);
            let before = instructions(&insts, wanted).checked_sub(1);
            let at = before.map_or(next, |last| behind(insts[last].0, &insts[last].1));
            waits.insert((pc, mode_bits), at);
        }
    }
    waits
}

#[cfg(test)]
mod tests {
    use frontend::decode;
    use frontend::target::Gfx;

    use super::*;

    /// How many instructions of these words, which stand behind a barrier, run before a wave waits.
    fn with(words: &[u32]) -> usize {
        // s_barrier
        let words = [&[0xbf8a_0000], words].concat();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut decoded = Decoded::new();
        let mut at = 0;
        while at < bytes.len() {
            let inst = decode(Gfx::Gfx900, &bytes[at..]).expect("it is an instruction");
            decoded.insert((at as u64, 0), Ok(inst));
            at += usize::from(inst.len);
        }
        let request = Request {
            gfx: Gfx::Gfx900,
            entry: 0,
            mode: 0,
            max_insts: 1000,
            max_block: 1000,
            observe: false,
            exact_nan: false,
            checked: false,
        };
        let at = waits(&request, &decoded)[&(0, 0)];
        decoded.range((4, 0)..(at, 0)).count()
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
        let all = [&sums[..], &write, &[end]].concat();
        assert_eq!(with(&all), 4, "sums");
        // Where nobody can look all that is not overwritten is wanted.
        assert_eq!(with(&[&sums[..], &write].concat()), 0, "unknown");
        // s_cbranch_scc1 5; v_add_f32 v3, ...; ...; s_setpc_b64 s[0:1]; s_endpgm
        let over = [3, 4, 5, 6].map(|n| add(n, 1, 1));
        let fork = [&sums[..], &[0xbf85_0005], &over, &[0xbe80_1d00, end]].concat();
        assert_eq!(with(&fork), 4, "two ways");
        let fork = [&sums[..], &[0xbf85_0003], &over[..2], &[0xbe80_1d00, end]].concat();
        assert_eq!(with(&fork), 0, "one way wants them");
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
