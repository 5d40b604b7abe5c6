//! Instructions that access memory, and what their surroundings tell.

use std::collections::HashMap;

use frontend::flow::branch_target;
use frontend::inst::Operand;
use frontend::op::{DsOp, Space};
use frontend::ty::Ty;
use frontend::{Encoding, Inst, Op};

use super::runs::returns;
use crate::LoadedCode;

/// Where an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// Number of the loaded code.
    pub(super) code: u64,
    /// Its guest address.
    pub(super) pc: u64,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) place: Place,
    /// It is a load of a loop that does nothing but wait for what is loaded to change.
    pub(super) polls: bool,
    /// How often it was examined for lanes that collide.
    examined: u32,
}

/// The most instructions that are told apart in a dispatch; others are reported as the last one.
const MOST: usize = u16::MAX as usize;

/// Entries of the cache.
const RECENT: usize = 1024;

/// Executions of a store that are examined for lanes that collide.
const EXAMINED: u32 = 256;

/// The most instructions of a loop that polls.
const LOOP: usize = 32;

/// All instructions that were seen, by number.
pub(super) struct Sites {
    all: Vec<Site>,
    numbers: HashMap<Place, u16>,
    recent: [Option<(Place, u16)>; RECENT],
    /// By number of the loaded code.
    uses: HashMap<u64, Uses>,
    /// Of the code of the last access.
    last: Option<(u64, Uses)>,
}

/// What code uses to order waves, besides barriers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// It invalidates caches, as acquires do. Otherwise no workgroup learns of others by flags.
    pub(super) acquires: bool,
    /// It has barriers.
    pub(super) barriers: bool,
    /// It polls LDS.
    pub(super) polls_lds: bool,
    /// It has instructions of the global wave sync.
    pub(super) syncs: bool,
    /// It polls LDS, or reads it by atomics: waves of a workgroup may learn of one another by flags.
    pub(super) lds_flags: bool,
}

impl Default for Sites {
    fn default() -> Sites {
        Sites {
            all: Vec::new(),
            numbers: HashMap::new(),
            recent: [None; RECENT],
            uses: HashMap::new(),
            last: None,
        }
    }
}

impl Sites {
    /// The number of an instruction.
    pub(super) fn number(&mut self, code: &LoadedCode, pc: u64) -> u16 {
        let place = Place {
            code: code.id(),
            pc,
        };
        let slot = (pc / 4) as usize % RECENT;
        if let Some((known, number)) = self.recent[slot]
            && known == place
        {
            return number;
        }
        let number = match self.numbers.get(&place) {
            Some(&number) => number,
            None => self.add(code, place),
        };
        self.recent[slot] = Some((place, number));
        number
    }

    #[cold]
    fn add(&mut self, code: &LoadedCode, place: Place) -> u16 {
        let number = self.all.len().min(MOST - 1);
        let polls = polls(code, place.pc);
        let site = Site {
            place,
            polls,
            examined: 0,
        };
        match self.all.get_mut(number) {
            Some(last) => *last = site,
            None => self.all.push(site),
        }
        self.numbers.insert(place, number as u16);
        number as u16
    }

    /// Are there so many that numbers may not suffice for the next dispatch?
    pub(super) fn are_many(&self) -> bool {
        self.all.len() > MOST / 2
    }

    pub(super) fn get(&self, number: u16) -> Site {
        self.all[usize::from(number)]
    }

    /// Does no other instruction have this number?
    pub(super) fn is_own(&self, number: u16) -> bool {
        usize::from(number) < MOST - 1
    }

    /// Is this execution of a store examined for lanes that collide? Only the first ones are, for speed.
    pub(super) fn examines(&mut self, number: u16) -> bool {
        let site = &mut self.all[usize::from(number)];
        site.examined = site.examined.saturating_add(1);
        site.examined <= EXAMINED
    }

    /// What the code uses to order waves.
    pub(super) fn uses(&mut self, code: &LoadedCode) -> Uses {
        if let Some((id, uses)) = self.last
            && id == code.id()
        {
            return uses;
        }
        let known = self.uses.entry(code.id());
        let uses = *known.or_insert_with(|| Uses::of(code));
        self.last = Some((code.id(), uses));
        uses
    }
}

impl Uses {
    /// Do waves of a workgroup learn nothing of one another but by barriers?
    pub(super) fn only_barriers(self) -> bool {
        !self.acquires && !self.lds_flags
    }

    fn of(code: &LoadedCode) -> Uses {
        let mut uses = Uses::default();
        for (address, bytes) in code.segments() {
            let instructions = Instructions {
                code,
                pc: address,
                end: address + bytes.len() as u64,
            };
            for (pc, inst) in instructions {
                let lds = inst.desc.encoding == Encoding::Ds;
                let atomic = matches!(inst.op(), Op::Atomic(Space::Lds | Space::Flat, _));
                uses.barriers |= inst.op() == Op::Barrier;
                uses.acquires |= inst.op() == Op::CacheCtl;
                uses.syncs |= is_sync(inst.op());
                uses.polls_lds |= lds && polls(code, pc);
                uses.lds_flags |= atomic && returns(&inst);
            }
        }
        uses.lds_flags |= uses.polls_lds;
        uses
    }
}

/// Is it an instruction of the global wave sync by which waves tell each other something?
pub(super) fn is_sync(op: Op) -> bool {
    matches!(
        op,
        Op::Ds(
            DsOp::GwsBarrier
                | DsOp::GwsSemaV
                | DsOp::GwsSemaBr
                | DsOp::GwsSemaP
                | DsOp::GwsSemaReleaseAll
        )
    )
}

/// The instructions of a part of the code; words that are none are left out.
struct Instructions<'a> {
    code: &'a LoadedCode,
    pc: u64,
    end: u64,
}

impl Iterator for Instructions<'_> {
    type Item = (u64, Inst);

    fn next(&mut self) -> Option<(u64, Inst)> {
        while self.pc < self.end {
            let pc = self.pc;
            match self.code.decode(pc) {
                Ok(inst) => {
                    self.pc += u64::from(inst.len);
                    return Some((pc, inst));
                }
                Err(_) => self.pc += 4,
            }
        }
        None
    }
}

/// Is the load at `pc` one of a loop without stores, in which its address stays the same?
fn polls(code: &LoadedCode, pc: u64) -> bool {
    let Ok(load) = code.decode(pc) else {
        return false;
    };
    if !matches!(load.op(), Op::Load(..)) {
        return false;
    }
    let behind = Instructions {
        code,
        pc,
        end: pc.saturating_add(8 * LOOP as u64),
    };
    for (at, inst) in behind.take(LOOP) {
        let back = branch_target(&inst, at).filter(|&target| target <= pc);
        if let Some(begin) = back {
            let body = Instructions {
                code,
                pc: begin,
                end: at,
            };
            let quiet = |(_, inst): (u64, Inst)| !acts(&inst) && !writes_address(&inst, &load);
            return body.take(LOOP).all(quiet);
        }
        if acts(&inst) || matches!(inst.op(), Op::Endpgm) {
            return false;
        }
    }
    false
}

/// Does it change memory, or wait for other waves?
fn acts(inst: &Inst) -> bool {
    matches!(
        inst.op(),
        Op::Store(..) | Op::Atomic(..) | Op::Barrier | Op::Write2 { .. }
    )
}

/// Does it write a register of the load's address?
fn writes_address(inst: &Inst, load: &Inst) -> bool {
    let overlap = |written: (Operand, u32), read: (Operand, u32)| match (written.0, read.0) {
        (Operand::Vgpr(d), Operand::Vgpr(s)) | (Operand::Sgpr(d), Operand::Sgpr(s)) => {
            let (d, s) = (u32::from(d), u32::from(s));
            d < s + read.1.max(1) && s < d + written.1.max(1)
        }
        _ => false,
    };
    let registers = |operands: &[Operand], types: &[Ty]| -> Vec<(Operand, u32)> {
        let types = types.iter().map(|ty| ty.regs());
        operands.iter().copied().zip(types).collect()
    };
    let read = registers(&load.src, load.desc.src);
    let mut written = registers(&inst.dst, inst.desc.dst).into_iter();
    inst != load && written.any(|to| read.iter().any(|&from| overlap(to, from)))
}
