//! Where a region is entered and left: scalar slots between the wave and variables, and the numbers by
//! which a wave comes back.

use std::collections::BTreeSet;
use std::mem::offset_of;

use frontend::inst::{EXEC_LO, VCC_LO};
use frontend::state::WaveState;

use super::{Emitter, offset32, wave_switch};
use crate::abi::{Context, ExitCode};
use crate::analysis::liveness::Live;
use crate::ir::{Func, Op, Slot, Target, Term};
use crate::passes::sink;
use crate::vir::patterns::halves_of;
use crate::vir::{self, IntCC, Memory, Value, types};

impl Emitter<'_> {
    /// Loads the scalar slots that are wanted where control goes; `live_in` is what each block wants.
    pub(super) fn prologue(&mut self, live_in: &[Live]) {
        let mut touched = BTreeSet::new();
        for block in &self.f.blocks {
            for node in &block.nodes {
                if let Op::ReadS(slot) = node.op {
                    touched.insert(slot);
                }
            }
            touched.extend(block.written_slots());
        }
        let entries = entries(self.f);
        let relays = !self.o.baseline && wave_switch::suits(self.f);
        self.separate_exits = relays && self.straight;
        if relays {
            let resident = self.residents(&entries, live_in);
            touched.retain(|slot| !resident.contains(slot));
        }
        if self.o.baseline {
            touched.retain(|&slot| !is_in_wave(slot));
        }
        for slot in touched {
            let ty = slot_type(slot);
            let var = self.b.declare_var(ty);
            self.vars.insert(slot, var);
            self.slots_of_region.push((slot, var));
        }
        let first = self.blocks[0];
        if entries.is_empty() {
            self.load_slots(&live_in[0]);
            self.b.jump(first, &[]);
            return;
        }
        let mut entry = self.context(types::I32, offset_of!(Context, entry));
        if relays {
            entry = self.begin_wave_switch(entry, &entries);
        }
        let targets = std::iter::once(0).chain(entries.iter().copied());
        for (n, block) in targets.clone().enumerate().skip(1) {
            self.entry_numbers.insert(block, n as u32);
        }
        if self.o.baseline {
            let targets: Vec<usize> = targets.collect();
            self.begin_entries(entry, &targets);
            return;
        }
        // A block that is named twice would get the arguments of its loop's values twice, so
        // each way is a block of its own.
        let ways: Vec<vir::Block> = targets.clone().map(|_| self.b.create_block()).collect();
        self.dispatch_entry(entry, 0, &ways);
        for (way, to) in ways.into_iter().zip(targets) {
            self.b.switch_to_block(way);
            self.load_slots(&live_in[to]);
            let to = self.blocks[to];
            self.b.jump(to, &[]);
        }
    }

    /// Goes to one of the ways, of which `entry` is one's number and `first` the first one's, by halves.
    pub(super) fn dispatch_entry(&mut self, entry: Value, first: usize, ways: &[vir::Block]) {
        if let [way] = ways {
            self.b.jump(*way, &[]);
            return;
        }
        let middle = first + ways.len() / 2;
        let (low, high) = ways.split_at(ways.len() / 2);
        let mut side = |half: &[vir::Block]| match half {
            [way] => *way,
            _ => self.b.create_block(),
        };
        let (below, above) = (side(low), side(high));
        let middle_number = self.integer(types::I32, middle as i64);
        let compared = self.b.icmp(IntCC::UnsignedLessThan, entry, middle_number);
        self.b.brif(compared, below, &[], above, &[]);
        for (to, first, half) in [(below, first, low), (above, middle, high)] {
            if half.len() > 1 {
                self.b.switch_to_block(to);
                self.dispatch_entry(entry, first, half);
            }
        }
    }

    /// Notes for the next run that the wave may come back to `block`.
    pub(super) fn note_resume(&mut self, block: Option<usize>) {
        let number = block
            .and_then(|b| self.entry_numbers.get(&b))
            .copied()
            .unwrap_or(0);
        let number = self.integer(types::I32, i64::from(number));
        self.set_resume(number);
    }

    /// Notes the number (I32) of the entry by which the wave comes back.
    pub(super) fn set_resume(&mut self, number: Value) {
        self.set_context(number, offset_of!(Context, resume));
    }

    /// Reads the scalar slots in `live` from the wave into their variables; the others are 0, which nobody reads.
    pub(super) fn load_slots(&mut self, live: &Live) {
        for i in 0..self.slots_of_region.len() {
            let (slot, var) = self.slots_of_region[i];
            if !is_in_wave(slot) {
                continue;
            }
            let v = match live.has_slot(slot) {
                true => self.load_slot(slot),
                false => self.b.iconst(slot_type(slot), 0),
            };
            self.b.def_var(var, v);
        }
    }

    /// Takes the values of the slots that are live where the current block begins. Nothing within it changes them, so
    /// that no loop over the lanes needs them as parameters, as it would if the builder looked for them behind the loop.
    pub(super) fn hold_slots(&mut self) {
        self.held.clear();
        let live = &self.live_in[self.current];
        for &(slot, var) in &self.slots_of_region {
            if live.has_slot(slot) {
                self.held.insert(slot, self.b.use_var(var));
            }
        }
        let f = self.f;
        let block = &f.blocks[self.current];
        // In little code they are read where they are wanted.
        if self.o.baseline {
            return;
        }
        // Behind a barrier, where it is long ago that a pair was written, perhaps as two words.
        if self.wave_switch.is_some() && self.entry_numbers.contains_key(&self.current) {
            for low in block.pairs_read() {
                self.hold_pair(low);
            }
        }
        for node in &block.nodes {
            if let Op::ReadS(slot) = node.op
                && !self.vars.contains_key(&slot)
                && !self.held.contains_key(&slot)
            {
                let value = self.load_slot(slot);
                self.held.insert(slot, value);
            }
        }
    }

    /// Reads two scalar registers that stay in the wave at once.
    fn hold_pair(&mut self, low: u8) {
        let slots = [low, low + 1].map(Slot::Sgpr);
        let taken = |slot| self.vars.contains_key(slot) || self.held.contains_key(slot);
        if slots.iter().any(taken) {
            return;
        }
        let both = self.load_pair(low);
        let first = self.b.ireduce(types::I32, both);
        let second = self.b.ushr_imm(both, 32);
        let second = self.b.ireduce(types::I32, second);
        self.held.extend(slots.into_iter().zip([first, second]));
    }

    /// Two scalar registers in the wave.
    pub(super) fn load_pair(&mut self, low: u8) -> Value {
        let (offset, _) = slot_home(Slot::Sgpr(low));
        self.b.load(types::I64, Memory::Trusted, self.wave, offset)
    }

    /// Writes a scalar register in the wave and the next one.
    pub(super) fn store_pair(&mut self, low: Slot, both: Value) {
        self.note_stored();
        let (offset, _) = slot_home(low);
        self.b.store(Memory::Trusted, both, self.wave, offset);
    }

    /// Notes that a scalar register is written to the wave. Little code may do that and go on to the wave's end, whose
    /// registers are not what they were then.
    fn note_stored(&mut self) {
        if self.o.baseline {
            self.writes_from = 0;
        }
    }

    /// Sets what slots hold, those that stay in the wave by two where they are halves of one value.
    pub(super) fn write_slots(&mut self, writes: &[(Slot, Value)]) {
        let mut done = None;
        let stay = self.wave_switch.is_some();
        for &(slot, v) in writes {
            if done == Some(slot) {
                continue;
            }
            let above = match slot {
                Slot::Sgpr(n) if stay && !self.vars.contains_key(&slot) => Slot::Sgpr(n + 1),
                _ => {
                    self.write_slot(slot, v);
                    continue;
                }
            };
            let high = writes.iter().find(|&&(other, _)| other == above);
            let high = high.filter(|_| !self.vars.contains_key(&above));
            let whole = high.and_then(|&(_, high)| halves_of(self.b.func, v, high));
            match whole {
                Some(whole) => {
                    self.store_pair(slot, whole);
                    done = Some(above);
                }
                None => self.write_slot(slot, v),
            }
        }
    }

    /// The slots that stay in the wave while a region whose waves hand over runs, and are read and written there: those that
    /// are wanted behind an entry and written in no loop. Variables of theirs would be filled at each entry, put aside for
    /// want of registers, and written to the wave at each barrier.
    fn residents(&self, entries: &[usize], live_in: &[Live]) -> BTreeSet<Slot> {
        let mut moving = BTreeSet::new();
        for (i, block) in self.f.blocks.iter().enumerate() {
            if sink::goes_round(self.f, i) {
                moving.extend(block.written_slots());
            }
        }
        let vcc = self.straight.then_some(Slot::Vcc);
        let slots = (0..=127).map(Slot::Sgpr).chain(vcc);
        slots
            .filter(|&slot| entries.iter().any(|&entry| live_in[entry].has_slot(slot)))
            .filter(|slot| !moving.contains(slot))
            .collect()
    }

    /// Tells the builder that the slots still have these values.
    pub(super) fn tell_held(&mut self) {
        for &(slot, var) in &self.slots_of_region {
            if let Some(&value) = self.held.get(&slot) {
                self.b.def_var(var, value);
            }
        }
    }

    /// What a slot holds in the block being emitted, before its last instruction writes it.
    pub(super) fn slot(&mut self, slot: Slot) -> Value {
        match self.held.get(&slot) {
            Some(&value) => value,
            None => self.read_slot(slot),
        }
    }

    /// Has the region to do with EXEC?
    pub(super) fn has_exec(&self) -> bool {
        self.o.baseline || self.vars.contains_key(&Slot::Exec)
    }

    /// What a slot holds.
    pub(super) fn read_slot(&mut self, slot: Slot) -> Value {
        match self.vars.get(&slot) {
            Some(&var) => self.b.use_var(var),
            None => self.load_slot(slot),
        }
    }

    /// Sets what a slot holds.
    pub(super) fn write_slot(&mut self, slot: Slot, value: Value) {
        match self.vars.get(&slot) {
            Some(&var) => self.b.def_var(var, value),
            None => self.store_slot(slot, value),
        }
    }

    /// Reads a slot from the wave.
    fn load_slot(&mut self, slot: Slot) -> Value {
        let (offset, ty) = slot_home(slot);
        let v = self.b.load(ty, Memory::Trusted, self.wave, offset);
        match slot {
            Slot::Scc => self.b.ireduce(types::I8, v),
            _ => v,
        }
    }

    /// Writes a slot to the wave.
    fn store_slot(&mut self, slot: Slot, v: Value) {
        let v = match slot {
            Slot::Scc => self.b.uextend(types::I32, v),
            _ => v,
        };
        self.note_stored();
        let (offset, _) = slot_home(slot);
        self.b.store(Memory::Trusted, v, self.wave, offset);
    }

    /// Writes those of the scalar slots in `slots` that the region has to the wave.
    pub(super) fn store_slots(&mut self, slots: &Live) {
        for i in 0..self.slots_of_region.len() {
            let (slot, var) = self.slots_of_region[i];
            if is_in_wave(slot) && slots.has_slot(slot) {
                let v = self.b.use_var(var);
                self.store_slot(slot, v);
            }
        }
    }

    /// Writes the scalar slots that the region may have written by the end of the current block to the wave; where
    /// all ways out have that in common, those that it writes anywhere.
    pub(super) fn store_written(&mut self) {
        let written = match self.separate_exits {
            true => self.slots_since.end[self.current],
            false => self.slots_written,
        };
        self.store_slots(&written);
    }

    /// The one way out: PC to the wave, return the code. Where the ways out are apart each block has written its
    /// registers by then; else they are written here, which leaves `regalloc2` fewer ranges to split inside loops.
    pub(super) fn epilogue(&mut self) {
        self.b.switch_to_block(self.exit);
        let params = self.b.block_params(self.exit).to_vec();
        if !self.separate_exits {
            self.store_written();
        }
        self.return_at(params[0], params[1]);
        self.end_entries();
        self.end_faulted();
        self.end_wave_switch();
    }

    pub(super) fn return_at(&mut self, pc: Value, code: Value) {
        let pc_offset = offset32(offset_of!(WaveState, pc));
        self.b.store(Memory::Trusted, pc, self.wave, pc_offset);
        self.b.return_(code);
    }

    /// What fuel (I32) the wave has.
    pub(super) fn fuel(&mut self) -> Value {
        self.context(types::I32, offset_of!(Context, fuel))
    }

    /// Sets what fuel (I32) the wave has left.
    pub(super) fn set_fuel(&mut self, left: Value) {
        self.set_context(left, offset_of!(Context, fuel));
    }

    /// What the context has at an offset.
    pub(super) fn context(&mut self, ty: vir::Type, at: usize) -> Value {
        self.b.load(ty, Memory::Trusted, self.ctx, offset32(at))
    }

    /// Sets it.
    pub(super) fn set_context(&mut self, value: Value, at: usize) {
        self.b.store(Memory::Trusted, value, self.ctx, offset32(at));
    }

    /// Burns a unit of fuel; the wave yields when none is left, to go on at `pc` (I64), which is the
    /// beginning of `block` if there is one.
    pub(super) fn burn(&mut self, pc: Value, block: Option<usize>) {
        let left = self.take_fuel();
        let tired = self.b.create_block();
        let on = self.b.create_block();
        self.b.set_cold_block(tired);
        let empty = self.b.icmp_imm(IntCC::SignedLessThanOrEqual, left, 0);
        self.b.brif(empty, tired, &[], on, &[]);
        self.enter(tired);
        self.note_resume(block);
        let live = block.map_or(&Live::ALL, |block| &self.live_in[block]);
        self.leave(pc, ExitCode::Yield, live);
        self.enter(on);
    }

    /// Takes a unit of fuel; gives what is left (I32).
    pub(super) fn take_fuel(&mut self) -> Value {
        let fuel = self.fuel();
        let one = self.b.iconst(types::I32, 1);
        let left = self.b.isub(fuel, one);
        self.set_fuel(left);
        left
    }

    /// Leaves the region for `pc` (I64) with `code`: only registers in `live` are wanted there, and of those that were
    /// not written since the wave came in it has the values.
    pub(super) fn leave_with(&mut self, pc: Value, code: ExitCode, live: &Live) {
        self.settle_at(pc, live);
        self.return_with(code);
    }

    /// The wave has in it what is wanted at `pc` (I64), where only registers in `live` are.
    pub(super) fn settle_at(&mut self, pc: Value, live: &Live) {
        if !self.o.baseline {
            let written = self.slots_since.end[self.current];
            self.store_slots(&written.common(live));
        }
        let offset = offset32(offset_of!(WaveState, pc));
        self.b.store(Memory::Trusted, pc, self.wave, offset);
    }

    /// Leaves the region with `code`.
    pub(super) fn return_with(&mut self, code: ExitCode) {
        let code = self.b.iconst(types::I64, i64::from(code as u32));
        self.b.return_(code);
    }

    /// Leaves the region for `pc` (I64) with `code`, where only registers in `live` are wanted.
    pub(super) fn leave(&mut self, pc: Value, code: ExitCode, live: &Live) {
        if self.separate_exits {
            let written = self.slots_since.end[self.current];
            self.store_slots(&written.common(live));
        }
        let code = self.integer(types::I64, i64::from(code as u32));
        let args = [pc, code];
        self.b.jump(self.exit, &args);
    }

    /// Leaves the region at `pc` (I64) with `status` (I64) for a fault: of the registers only EXEC is looked at then.
    /// (Ways out of their own for all code make `regalloc2` split ranges in spmv-256k's inner loop, which takes 1.4 times
    /// as long.)
    pub(super) fn fail(&mut self, pc: Value, status: Value, new_exec: Option<Value>) {
        if self.separate_exits {
            let written = self.slots_since.start[self.current].has_slot(Slot::Exec);
            let exec = new_exec.or_else(|| written.then(|| self.slot(Slot::Exec)));
            if let Some(exec) = exec {
                let (offset, _) = slot_home(Slot::Exec);
                self.b.store(Memory::Trusted, exec, self.wave, offset);
            }
        } else if let Some(exec) = new_exec {
            self.write_slot(Slot::Exec, exec);
        }
        let args = [pc, status];
        self.b.jump(self.exit, &args);
    }
}

/// Blocks that a wave may enter again: behind barriers, and heads of loops, where it may yield.
fn entries(f: &Func) -> Vec<usize> {
    let mut entries = BTreeSet::new();
    for block in &f.blocks {
        if let Term::Barrier { next } = &block.term {
            entries.extend(next.block());
            continue;
        }
        for t in block.term.targets() {
            if let Target::Block {
                block, back: true, ..
            } = t
            {
                entries.insert(block);
            }
        }
    }
    entries.into_iter().collect()
}

/// Does a slot lie in the wave?
fn is_in_wave(slot: Slot) -> bool {
    !matches!(slot, Slot::Temp(_))
}

/// Type of a slot's variable.
pub(super) fn slot_type(slot: Slot) -> vir::Type {
    match slot {
        Slot::Sgpr(_) | Slot::Mode | Slot::Temp(_) => types::I32,
        Slot::Exec | Slot::Vcc => types::I64,
        Slot::Scc => types::I8,
    }
}

/// Where a slot lies in the wave, and as what.
fn slot_home(slot: Slot) -> (i32, vir::Type) {
    let sgpr = |n: u8| offset32(offset_of!(WaveState, sgpr) + usize::from(n) * 4);
    match slot {
        Slot::Sgpr(n) => (sgpr(n), types::I32),
        Slot::Exec => (sgpr(EXEC_LO), types::I64),
        Slot::Vcc => (sgpr(VCC_LO), types::I64),
        Slot::Scc => (offset32(offset_of!(WaveState, scc)), types::I32),
        Slot::Mode => (offset32(offset_of!(WaveState, mode)), types::I32),
        Slot::Temp(n) => unreachable!("bug: temporary slot {n} is not in the wave"),
    }
}
