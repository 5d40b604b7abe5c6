//! Targets of branches: by an immediate distance, or in a pair of SGPRs, where compilers compute addresses relative to
//! the PC for calls and long branches.

use std::collections::BTreeMap;

use crate::{Inst, Op, Operand};

/// The target of a branch or call with an immediate distance, at this address.
pub fn branch_target(inst: &Inst, address: u64) -> Option<u64> {
    if !matches!(inst.op(), Op::Branch(_) | Op::Call | Op::CbranchIFork) {
        return None;
    }
    inst.src.iter().find_map(|source| match source {
        Operand::Imm(distance) => {
            let distance = 4 * i64::from(*distance as i16) + 4;
            Some(address.wrapping_add_signed(distance))
        }
        _ => None,
    })
}

/// Constant addresses in pairs of SGPRs within a block.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    pairs: BTreeMap<u8, u64>,
    /// Carry of the addition to the low half of this pair.
    carry: Option<(u8, bool)>,
}

/// The most SGPRs that an instruction writes.
const MOST_WRITTEN: u8 = 16;

impl Addresses {
    /// The address that an operand holds.
    pub fn of(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Sgpr(register) => self.pairs.get(&register).copied(),
            _ => None,
        }
    }

    /// The instruction was executed; `next` is the address after it.
    pub fn follow(&mut self, inst: &Inst, next: u64) {
        let constant = |operand: Operand| match operand {
            Operand::Literal { bits, .. } | Operand::Inline { bits, .. } => Some(bits as u32),
            _ => None,
        };
        let carry = self.carry.take();
        match (inst.op(), inst.dst[0], inst.src[0], constant(inst.src[1])) {
            (Op::GetPc, Operand::Sgpr(d), ..) => {
                self.forget(d);
                self.pairs.insert(d, next);
            }
            (Op::Add, Operand::Sgpr(d), Operand::Sgpr(s), Some(n))
                if d == s && self.pairs.contains_key(&d) =>
            {
                if let Some(address) = self.pairs.get_mut(&d) {
                    let (low, carried) = (*address as u32).overflowing_add(n);
                    *address = *address >> 32 << 32 | u64::from(low);
                    self.carry = Some((d, carried));
                }
            }
            (Op::AddCarry, Operand::Sgpr(d), Operand::Sgpr(s), Some(n))
                if d == s && carry.is_some_and(|(low, _)| low + 1 == d) =>
            {
                let (low, carried) = carry.unwrap_or_default();
                if let Some(address) = self.pairs.get_mut(&low) {
                    let high = (*address >> 32) as u32;
                    let high = high.wrapping_add(n).wrapping_add(carried.into());
                    *address = u64::from(high) << 32 | *address & 0xffff_ffff;
                }
            }
            _ => {
                for written in inst.dst {
                    if let Operand::Sgpr(d) = written {
                        self.forget(d);
                    }
                }
            }
        }
    }

    /// The register is written, and maybe those after it.
    fn forget(&mut self, written: u8) {
        self.pairs.retain(|pair, _| {
            pair.saturating_add(1) < written || *pair >= written.saturating_add(MOST_WRITTEN)
        });
    }
}
