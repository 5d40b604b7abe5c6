//! Writes of EXEC: which instructions make them, and which of these only switch lanes off, as code does at a condition
//! that differs by lane.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::inst::{EXEC_HI, EXEC_LO};
use crate::op::Logic;
use crate::{Effects, Encoding, Inst, Op, Operand, Ty};

/// The SGPRs that a destination covers.
fn written(operand: Operand, ty: Ty) -> Range<u32> {
    match operand {
        Operand::Sgpr(first) => {
            let first = u32::from(first);
            first..first + ty.regs().max(1)
        }
        _ => 0..0,
    }
}

fn destinations(inst: &Inst) -> impl Iterator<Item = Range<u32>> + '_ {
    let all = inst.dst.iter().zip(inst.desc.dst);
    all.map(|(&operand, &ty)| written(operand, ty))
}

/// Does the instruction write EXEC, or half of it? Forks and joins, which also do, are not meant.
pub fn writes_exec(inst: &Inst) -> bool {
    let half = |range: Range<u32>| {
        range.contains(&u32::from(EXEC_LO)) || range.contains(&u32::from(EXEC_HI))
    };
    let forks = matches!(
        inst.op(),
        Op::CbranchGFork | Op::CbranchIFork | Op::CbranchJoin
    );
    !forks && (inst.desc.effects.has(Effects::WRITES_EXEC) || destinations(inst).any(half))
}

/// How a mask relates to EXEC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// It has the lanes of EXEC.
    Equal,
    /// It has some lanes of EXEC, and no others.
    Within,
}

/// Relations by pair of SGPRs.
type Relations = BTreeMap<u8, Relation>;

/// Masks in pairs of SGPRs that lie within EXEC, along the instructions of a basic block.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    known: Relations,
    /// The pair that an EXEC was saved to, and the relations to that EXEC: compilers switch all lanes on for a spill, and
    /// restore EXEC.
    saved: Option<(u8, Relations)>,
}

/// Forgets the pairs that a write of these SGPRs changes.
fn forget(relations: &mut Relations, written: &Range<u32>) {
    relations.retain(|&pair, _| !overlaps(pair, written));
}

fn overlaps(pair: u8, written: &Range<u32>) -> bool {
    let pair = u32::from(pair);
    pair < written.end && written.start < pair + 2
}

impl Masks {
    fn relation(&self, operand: Operand) -> Option<Relation> {
        match operand {
            Operand::Sgpr(EXEC_LO) => Some(Relation::Equal),
            Operand::Sgpr(pair) => self.known.get(&pair).copied(),
            _ => None,
        }
    }

    /// The relation of a 64-bit result to EXEC before the instruction.
    fn result(&self, inst: &Inst) -> Option<Relation> {
        let within = |n: usize| self.relation(inst.src[n]).map(|_| Relation::Within);
        match inst.op() {
            _ if inst.desc.encoding == Encoding::Vopc => Some(Relation::Within),
            Op::SaveExec(_) | Op::WrExec(_) => None,
            _ if inst.desc.dst.first().is_none_or(|ty| ty.bits() != 64) => None,
            Op::Mov => self.relation(inst.src[0]),
            Op::And => within(0).or(within(1)),
            Op::AndN2 => within(0),
            _ => None,
        }
    }

    /// The instruction is executed. Does it provably leave EXEC a part of what it was, by its operation or by the masks
    /// that the block has computed? A copy of EXEC to itself does not count.
    pub fn narrows(&mut self, inst: &Inst) -> bool {
        if matches!(inst.op(), Op::Call | Op::SwapPc) {
            *self = Masks::default();
            return false;
        }
        let result = self.result(inst);
        let narrows = self.is_narrowing(inst, result);
        for written in destinations(inst) {
            forget(&mut self.known, &written);
            if let Some((pair, relations)) = &mut self.saved {
                forget(relations, &written);
                if overlaps(*pair, &written) {
                    self.saved = None;
                }
            }
        }
        match (inst.op(), inst.dst[0], inst.src[0]) {
            (Op::SaveExec(_), Operand::Sgpr(pair), _) => {
                self.saved = Some((pair, std::mem::take(&mut self.known)));
            }
            (Op::Mov, Operand::Sgpr(EXEC_LO), Operand::Sgpr(from)) if self.is_saved(from) => {
                if let Some((pair, relations)) = self.saved.take() {
                    self.known = relations;
                    self.known.insert(pair, Relation::Equal);
                }
            }
            _ if writes_exec(inst) => self.known.clear(),
            (_, Operand::Sgpr(pair), _) => {
                if let Some(relation) = result {
                    self.known.insert(pair, relation);
                }
            }
            _ => {}
        }
        narrows
    }

    fn is_saved(&self, pair: u8) -> bool {
        self.saved.as_ref().is_some_and(|(saved, _)| *saved == pair)
    }

    fn is_narrowing(&self, inst: &Inst, result: Option<Relation>) -> bool {
        match inst.op() {
            Op::SaveExec(logic) | Op::WrExec(logic) => matches!(logic, Logic::And | Logic::AndN1),
            Op::Cmpx(_) | Op::Cmpsx(_) | Op::CmpxClass => true,
            _ => inst.dst[0] == Operand::Sgpr(EXEC_LO) && result == Some(Relation::Within),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gfx, decode};

    /// Which of the instructions narrow EXEC.
    fn narrowing(words: &[u32]) -> Vec<bool> {
        let mut masks = Masks::default();
        let narrows = words.iter().map(|word| {
            let inst = decode(Gfx::Gfx900, &word.to_le_bytes()).expect("it is an instruction");
            masks.narrows(&inst)
        });
        narrows.collect()
    }

    #[test]
    fn conditions_of_lanes_narrow() {
        assert_eq!(narrowing(&[0xbe80206a]), [true]); // s_and_saveexec_b64 s[0:1], vcc
        assert_eq!(narrowing(&[0x89fe007e]), [true]); // s_andn2_b64 exec, exec, s[0:1]
        assert_eq!(narrowing(&[0x86fe6a7e]), [true]); // s_and_b64 exec, exec, vcc
        assert_eq!(narrowing(&[0x86fe7e6a]), [true]); // s_and_b64 exec, vcc, exec
        assert_eq!(narrowing(&[0x7db40080]), [true]); // v_cmpx_eq_u32 vcc, 0, v0
        // s_mov_b64 s[0:1], exec; s_and_b64 s[2:3], s[0:1], vcc; s_mov_b64 exec, s[2:3]
        let unoptimized = [0xbe80017e, 0x86826a00, 0xbefe0102];
        assert_eq!(narrowing(&unoptimized), [false, false, true]);
        // The same with a spill before the last: s_or_saveexec_b64 s[4:5], -1; s_mov_b64 exec, s[4:5]
        let spilled = [0xbe80017e, 0x86826a00, 0xbe8421c1, 0xbefe0104, 0xbefe0102];
        assert_eq!(narrowing(&spilled), [false, false, false, false, true]);
    }

    #[test]
    fn restored_and_other_lanes_do_not() {
        assert_eq!(narrowing(&[0x87fe007e]), [false]); // s_or_b64 exec, exec, s[0:1]
        assert_eq!(narrowing(&[0x88fe007e]), [false]); // s_xor_b64 exec, exec, s[0:1]
        assert_eq!(narrowing(&[0xbe802300]), [false]); // s_andn2_saveexec_b64 s[0:1], s[0:1]
        assert_eq!(narrowing(&[0xbefe0100]), [false]); // s_mov_b64 exec, s[0:1]
        assert_eq!(narrowing(&[0x89fe7e00]), [false]); // s_andn2_b64 exec, s[0:1], exec
        // s_mov_b64 s[0:1], exec; s_mov_b64 exec, s[0:1]
        assert_eq!(narrowing(&[0xbe80017e, 0xbefe0100]), [false, false]);
        // The same as above, but s3 is overwritten: s_mov_b32 s3, s4.
        let overwritten = [0xbe80017e, 0x86826a00, 0xbe830004, 0xbefe0102];
        assert_eq!(narrowing(&overwritten), [false; 4]);
        // All lanes are on where it is restored from what was not saved: s_mov_b64 exec, s[6:7].
        let unsaved = [0xbe80017e, 0x86826a00, 0xbe8421c1, 0xbefe0106, 0xbefe0102];
        assert_eq!(narrowing(&unsaved), [false; 5]);
    }
}
