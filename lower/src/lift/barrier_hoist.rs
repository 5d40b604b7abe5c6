//! Hoists instructions above a barrier. Arithmetic behind a barrier that reads registers only has
//! the same result before it, so a wave may run such instructions first and then wait. This is done
//! where fewer vector registers are live behind them, since live registers go through memory while
//! other waves run: a product reads two and writes one.

use frontend::desc::{Effects, Encoding};
use frontend::inst::{EXEC_LO, Inst, Operand, Special};
use frontend::op::{BranchIf, Op};
use frontend::state::mode;

use crate::ir::VECTOR_REGISTERS;
use crate::lift::guest::register_behind;
use crate::lift::region::{
    Decoded, Key, Request, Waits, behind, branch_target, is_control, is_interpreted, key_behind,
};

/// Maximum number of instructions examined behind a barrier.
const WINDOW: usize = 256;

/// Branches followed on a path; beyond them all registers count as live.
const BRANCHES: u32 = 2;

/// Minimum reduction of live registers.
const MIN_GAIN: usize = 3;

/// Tolerated excess over the minimum of live registers.
const SLACK: usize = 1;

/// Does an instruction access registers only?
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

/// Live vector registers.
type LiveVgprs = [bool; VECTOR_REGISTERS];

/// The conservative answer for unexplored code.
const ALL: LiveVgprs = [true; VECTOR_REGISTERS];

/// No register is live at the end of a program.
const NONE: LiveVgprs = [false; VECTOR_REGISTERS];

/// The vector registers of an operand.
fn registers(operand: Operand, count: u32) -> impl Iterator<Item = usize> {
    let first = operand.vector_register().into_iter();
    let all = first.flat_map(move |n| (0..count.max(1)).map(move |i| register_behind(n, i as u8)));
    all.map(usize::from)
}

/// Transfer function: live registers before an instruction from those after it.
fn live_before(live: &mut LiveVgprs, inst: &Inst) {
    if !inst.desc.effects.has(Effects::READS_D) {
        for (operand, ty) in inst.dst.into_iter().zip(inst.desc.dst) {
            registers(operand, ty.regs()).for_each(|n| live[n] = false);
        }
    }
    for (operand, ty) in inst.src.into_iter().zip(inst.desc.src) {
        registers(operand, ty.regs()).for_each(|n| live[n] = true);
    }
}

/// Number of instructions behind a barrier that run before the wave waits, given the registers live
/// after `insts`.
fn instructions(insts: &[(u64, Inst)], mut live: LiveVgprs) -> usize {
    let arithmetic = insts.iter().take_while(|(_, inst)| is_arithmetic(inst));
    let most = arithmetic.count();
    let count = |live: &LiveVgprs| live.iter().filter(|&&live| live).count();
    // Number of live registers before each of the first instructions.
    let mut counts = vec![count(&live); most + 1];
    for (n, (_, inst)) in insts.iter().enumerate().rev() {
        live_before(&mut live, inst);
        if n <= most {
            counts[n] = count(&live);
        }
    }
    // As late as possible: a store reads its registers at the position of the store.
    let least = counts.iter().copied().min().unwrap_or(0);
    let last = counts.iter().rposition(|&n| n <= least + SLACK);
    last.filter(|&n| counts[n] + MIN_GAIN <= counts[0])
        .unwrap_or(0)
}

/// Explores the code behind a barrier.
struct Explorer<'a> {
    decoded: &'a Decoded,
    /// Remaining number of instructions to explore.
    left: usize,
}

impl Explorer<'_> {
    /// The instructions from an address to the next change of control flow, and the registers live
    /// after them; follows at most this number of branches.
    fn from(
        &mut self,
        (mut pc, mut mode_bits): Key,
        branches: u32,
    ) -> (Vec<(u64, Inst)>, LiveVgprs) {
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
                let mut live = self.live(to, branches - 1);
                if cond != BranchIf::Always {
                    let other = self.live((next, mode_bits), branches - 1);
                    live.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
                }
                return (insts, live);
            }
            if is_control(&inst) && inst.op() != Op::Barrier {
                break;
            }
            (pc, mode_bits) = (next, key_behind(mode_bits, &inst));
        }
        (insts, ALL)
    }

    /// The registers live at an address.
    fn live(&mut self, at: Key, branches: u32) -> LiveVgprs {
        let (insts, mut live) = self.from(at, branches);
        for (_, inst) in insts.iter().rev() {
            live_before(&mut live, inst);
        }
        live
    }
}

/// The address at which a wave waits, for each barrier of a region.
pub(crate) fn waits(request: &Request, decoded: &Decoded) -> Waits {
    let mut waits = Waits::default();
    for (&(pc, mode_bits), inst) in decoded {
        if let Ok(inst) = inst
            && inst.op() == Op::Barrier
        {
            let next = behind(pc, inst);
            // An observer sees all registers as they are at the barrier.
            let stays = request.observe || mode_bits & (mode::GPR_IDX_EN | mode::VSKIP) != 0;
            let left = if stays { 0 } else { WINDOW };
            let (insts, live) = Explorer { decoded, left }.from((next, mode_bits), BRANCHES);
            let before = instructions(&insts, live).checked_sub(1);
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

    /// Number of instructions of these words, which follow a barrier, that run before the wave
    /// waits.
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
            sanitize: false,
            outcomes: false,
        };
        let at = waits(&request, &decoded)[&(0, 0)];
        decoded.range((4, 0)..(at, 0)).count()
    }

    /// `v_add_f32`.
    fn add(d: u32, a: u32, b: u32) -> u32 {
        0x0200_0100 | d << 17 | b << 9 | a
    }

    #[test]
    fn waves_wait_where_fewest_registers_are_live() {
        let end = 0xbf81_0000;
        // ds_write_b32 v1, v2
        let write = [0xd81a_0000, 0x0000_0201];
        let sums = [add(2, 2, 3), add(4, 4, 5), add(2, 2, 4), add(2, 2, 6)];
        let all = [&sums[..], &write, &[end]].concat();
        assert_eq!(with(&all), 4, "sums");
        // At unexplored code every register that is not overwritten is live.
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
        // Stored values are not hoisted over their store.
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
        let getreg = [&[0xb880_f801], &sums[..], &write, &[end]].concat();
        assert_eq!(with(&getreg), 0, "getreg");
        assert_eq!(with(&[]), 0, "nothing");
    }
}
