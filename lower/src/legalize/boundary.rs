//! Region boundary: moves scalar slots between the wave and variables, and numbers the entries by
//! which waves re-enter.

use std::collections::BTreeSet;
use std::mem::offset_of;

use frontend::inst::{EXEC_LO, VCC_LO};
use frontend::state::WaveState;

use super::body::Body;
use super::scalar::joined;
use super::{Code, Emitter, Region, frame_offset, home_offset, offset32, wave_switch};
use crate::abi::{Context, ExitCode};
use crate::analysis::interchange::MaskPlace;
use crate::analysis::liveness::{self, Live, Lives};
use crate::analysis::schedule::Place;
use crate::ir::{Func, Op, Slot, Target, Term, VECTOR_REGISTERS};
use crate::maps::HashMap;
use crate::passes::sink;
use crate::vir::patterns::halves_of;
use crate::vir::{self, Builder, IntCC, Memory, Value, types};
use pairs::{Half, Home};

mod pairs;

impl Code<'_> {
    /// Jumps to one of the entry blocks by the number `entry`, of which `first` is the first one's,
    /// by binary search.
    pub(super) fn dispatch_entry(&mut self, entry: Value, first: usize, edges: &[vir::Block]) {
        if let [edge] = edges {
            self.b.jump(*edge, &[]);
            return;
        }
        let middle = first + edges.len() / 2;
        let (low, high) = edges.split_at(edges.len() / 2);
        let mut side = |half: &[vir::Block]| match half {
            [edge] => *edge,
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

    /// Records the number (I32) of the entry by which the wave re-enters.
    pub(super) fn set_resume(&mut self, number: Value) {
        self.set_context(number, offset_of!(Context, resume));
    }

    /// Two scalar registers in the wave.
    pub(super) fn load_pair(&mut self, low: u8) -> Value {
        let (offset, _) = slot_home(Slot::Sgpr(low));
        self.b
            .load(types::I64, Memory::Trusted, self.region.wave(), offset)
    }

    /// Reads a slot from the wave.
    fn load_slot(&mut self, slot: Slot) -> Value {
        let (offset, ty) = slot_home(slot);
        let v = self.b.load(ty, Memory::Trusted, self.region.wave(), offset);
        match slot {
            Slot::Scc => self.b.ireduce(types::I8, v),
            _ => v,
        }
    }

    pub(super) fn return_at(&mut self, pc: Value, exit_code: Value) {
        let pc_offset = offset32(offset_of!(WaveState, pc));
        self.b
            .store(Memory::Trusted, pc, self.region.wave(), pc_offset);
        self.b.return_(exit_code);
    }
}

impl Region<'_> {
    /// The slots that stay in the wave while a region with wave switches runs, and are read and
    /// written there: those that are live behind an entry and written in no loop. Variables for
    /// them would be loaded at each entry, spilled, and stored to the wave at each barrier.
    fn residents(&self, entries: &[usize], live_in: &[Live]) -> BTreeSet<Slot> {
        let mut moving = BTreeSet::new();
        for (i, block) in self.func().blocks.iter().enumerate() {
            if sink::is_in_loop(self.func(), i) {
                moving.extend(block.written_slots());
            }
        }
        let vcc = self.is_straight().then_some(Slot::Vcc);
        let slots = (0..=127).map(Slot::Sgpr).chain(vcc);
        slots
            .filter(|&slot| entries.iter().any(|&entry| live_in[entry].has_slot(slot)))
            .filter(|slot| !moving.contains(slot))
            .collect()
    }
}

/// The scalar slots of a region, and its entries and exits.
pub(super) struct Boundary {
    /// The variables of slots that the region reads or writes. Slots without one stay in the wave
    /// (see [`Region::residents`]).
    vars: HashMap<Slot, Home>,
    /// `vars` in the order of the slots.
    slots_of_region: Vec<(Slot, Home)>,
    /// Slots that may have been written since the wave entered the region, at the beginning and at
    /// the end of each block; not computed in the baseline tier.
    slots_since: Lives,
    /// Slots that any block writes.
    slots_written: Live,
    /// The entry number of each block at which a wave may re-enter the region.
    entry_numbers: HashMap<usize, u32>,
    /// The shared exit, with PC and the exit code (both I64).
    exit: vir::Block,
    /// Each exit stores the written slots itself. A shared exit would make the values of all blocks
    /// live up to it.
    separate_exits: bool,
    /// The region has wave switches.
    switches: bool,
    /// See [`super::Emitted::writes_from`].
    writes_from: u32,
    /// The current block.
    block: usize,
    /// The values of the current block's live-in slots; of a pair in one variable, by the lower one.
    held: HashMap<Slot, Value>,
}

impl Boundary {
    /// The boundary of a region whose slots are not known yet; creates the shared exit.
    pub(super) fn new(region: &Region<'_>, b: &mut Builder<'_>) -> Boundary {
        let exit = b.create_block();
        b.append_block_param(exit, types::I64);
        b.append_block_param(exit, types::I64);
        let f = region.func();
        Boundary {
            vars: HashMap::default(),
            slots_of_region: Vec::new(),
            slots_since: match region.options().baseline {
                true => Lives::default(),
                false => liveness::written(f),
            },
            slots_written: liveness::written_anywhere(f),
            entry_numbers: HashMap::default(),
            exit,
            separate_exits: false,
            switches: false,
            writes_from: VECTOR_REGISTERS as u32,
            block: 0,
            held: HashMap::default(),
        }
    }

    /// See [`super::Emitted::writes_from`].
    pub(super) fn writes_from(&self) -> u32 {
        self.writes_from
    }

    /// The number of the entry at which a wave may re-enter the region at a block.
    pub(super) fn entry_number(&self, block: usize) -> Option<u32> {
        self.entry_numbers.get(&block).copied()
    }

    /// Ends a block: its live-in slots may have other values from here on.
    pub(super) fn release_slots(&mut self) {
        self.held.clear();
    }

    /// Offset in the wave of a vector register's home, for a store to it: updates `writes_from`.
    pub(super) fn home_to_write(&mut self, n: u16) -> i32 {
        self.writes_from = self.writes_from.min(n.into());
        home_offset(n)
    }

    /// Base and offset of the group's part of a place, for a store to it.
    pub(super) fn place_to_write(&mut self, body: &Body, place: Place) -> (Value, i32) {
        match place {
            Place::Home(n) => (body.wave, self.home_to_write(n)),
            Place::Frame(slot) => (body.frame, frame_offset(slot)),
        }
    }

    /// Records that the wave may re-enter at `block`.
    pub(super) fn note_resume(&mut self, code: &mut Code<'_>, block: Option<usize>) {
        let number = block
            .and_then(|b| self.entry_numbers.get(&b))
            .copied()
            .unwrap_or(0);
        let number = code.integer(types::I32, i64::from(number));
        code.set_resume(number);
    }

    /// Reads the scalar slots in `live` from the wave into their variables; the others are dead and
    /// set to 0.
    pub(super) fn load_slots(&mut self, code: &mut Code<'_>, live: &Live) {
        for i in 0..self.slots_of_region.len() {
            let (slot, home) = self.slots_of_region[i];
            if !is_in_wave(slot) {
                continue;
            }
            let v = match (home.half, slot) {
                (Some(Half::High), _) => continue,
                (Some(Half::Low), Slot::Sgpr(low)) => {
                    let pair = [low, low + 1].map(Slot::Sgpr);
                    match pair.into_iter().any(|slot| live.has_slot(slot)) {
                        true => code.load_pair(low),
                        false => code.b.iconst(types::I64, 0),
                    }
                }
                _ if live.has_slot(slot) => code.load_slot(slot),
                _ => code.b.iconst(slot_type(slot), 0),
            };
            code.b.def_var(home.var, v);
        }
    }

    /// Reads the slots that are live at the start of the current block. Nothing within it changes
    /// them, so loops over the lanes need no parameters for them, which the builder would create if
    /// they were first read behind the loop.
    pub(super) fn hold_slots(&mut self, code: &mut Code<'_>, block: usize) {
        self.block = block;
        self.held.clear();
        let live = code.region.live_in(self.block);
        for &(slot, home) in &self.slots_of_region {
            if live.has_slot(slot) {
                self.held
                    .entry(whole_slot(slot, home))
                    .or_insert_with(|| code.b.use_var(home.var));
            }
        }
        let f = code.region.func();
        let block = &f.blocks[self.block];
        // The baseline tier reads them at their uses.
        if code.region.options().baseline {
            return;
        }
        // Behind a barrier a pair may have been written long before, perhaps as two words.
        if self.switches && self.entry_numbers.contains_key(&self.block) {
            for low in block.pairs_read() {
                self.hold_pair(code, low);
            }
        }
        for node in &block.nodes {
            if let Op::ReadS(slot) = node.op
                && !self.vars.contains_key(&slot)
                && !self.held.contains_key(&slot)
            {
                let value = code.load_slot(slot);
                self.held.insert(slot, value);
            }
        }
    }

    /// Reads two scalar registers that stay in the wave at once.
    fn hold_pair(&mut self, code: &mut Code<'_>, low: u8) {
        let slots = [low, low + 1].map(Slot::Sgpr);
        let taken = |slot| self.vars.contains_key(slot) || self.held.contains_key(slot);
        if slots.iter().any(taken) {
            return;
        }
        let both = code.load_pair(low);
        let first = code.b.ireduce(types::I32, both);
        let second = code.b.ushr_imm(both, 32);
        let second = code.b.ireduce(types::I32, second);
        self.held.extend(slots.into_iter().zip([first, second]));
    }

    /// Writes a scalar register in the wave and the next one.
    pub(super) fn store_pair(&mut self, code: &mut Code<'_>, low: Slot, both: Value) {
        self.note_stored(&code.region);
        let (offset, _) = slot_home(low);
        code.b
            .store(Memory::Trusted, both, code.region.wave(), offset);
    }

    /// Records a write of a scalar register to the wave. In the baseline tier the region may then
    /// continue to the wave's end.
    fn note_stored(&mut self, region: &Region<'_>) {
        if region.options().baseline {
            self.writes_from = 0;
        }
    }

    /// Sets slots; those that stay in the wave are written in pairs where they are halves of one
    /// value.
    pub(super) fn write_slots(&mut self, code: &mut Code<'_>, writes: &[(Slot, Value)]) {
        let mut done = None;
        let stay = self.switches;
        for &(slot, v) in writes {
            if done == Some(slot) {
                continue;
            }
            let home = self.vars.get(&slot).copied();
            let in_pair = home.is_some_and(|home| home.half == Some(Half::Low));
            let above = match slot {
                Slot::Sgpr(n) if in_pair || stay && home.is_none() => Slot::Sgpr(n + 1),
                _ => {
                    self.write_slot(code, slot, v);
                    continue;
                }
            };
            let high = writes.iter().find(|&&(other, _)| other == above);
            if let (Some(home), Some(&(_, high))) = (home, high) {
                let whole = halves_of(code.b.func, v, high);
                let whole = whole.unwrap_or_else(|| joined(&mut code.b, v, high));
                code.b.def_var(home.var, whole);
                done = Some(above);
                continue;
            }
            let high = high.filter(|_| !self.vars.contains_key(&above));
            let whole = high.and_then(|&(_, high)| halves_of(code.b.func, v, high));
            match whole {
                Some(whole) => {
                    self.store_pair(code, slot, whole);
                    done = Some(above);
                }
                None => self.write_slot(code, slot, v),
            }
        }
    }

    /// Declares to the builder that the slots still have these values.
    pub(super) fn tell_held(&mut self, code: &mut Code<'_>) {
        for &(slot, home) in &self.slots_of_region {
            if let Some(&value) = self.held.get(&slot) {
                code.b.def_var(home.var, value);
            }
        }
    }

    /// The value of a slot in the block being emitted, before its last instruction writes it.
    pub(super) fn slot(&mut self, code: &mut Code<'_>, slot: Slot) -> Value {
        if let Some(&home) = self.vars.get(&slot)
            && let Some(&whole) = self.held.get(&whole_slot(slot, home))
        {
            return home.part(code, whole);
        }
        match self.held.get(&slot) {
            Some(&value) => value,
            None => self.read_slot(code, slot),
        }
    }

    /// The value of s[low:low+1] in the block being emitted, as [`slot`](Boundary::slot), if one variable holds them.
    pub(super) fn pair(&mut self, code: &mut Code<'_>, low: u8) -> Option<Value> {
        let slot = Slot::Sgpr(low);
        match self.held.get(&slot) {
            Some(&whole) if self.is_pair(slot) => Some(whole),
            _ => self.read_pair(code, low),
        }
    }

    /// The value of s[low:low+1], if one variable holds them.
    fn read_pair(&mut self, code: &mut Code<'_>, low: u8) -> Option<Value> {
        let slot = Slot::Sgpr(low);
        self.is_pair(slot)
            .then(|| code.b.use_var(self.vars[&slot].var))
    }

    /// Does one variable hold a slot and the next one?
    fn is_pair(&self, slot: Slot) -> bool {
        let home = self.vars.get(&slot);
        home.is_some_and(|home| home.half == Some(Half::Low))
    }

    /// The bits of a mask.
    pub(super) fn read_mask(&mut self, code: &mut Code<'_>, place: MaskPlace) -> Value {
        match place {
            MaskPlace::Exec => self.read_slot(code, Slot::Exec),
            MaskPlace::Vcc => self.read_slot(code, Slot::Vcc),
            MaskPlace::Pair(n) => match self.read_pair(code, n) {
                Some(bits) => bits,
                None => {
                    let [low, high] = [n, n + 1].map(|n| self.read_slot(code, Slot::Sgpr(n)));
                    joined(&mut code.b, low, high)
                }
            },
        }
    }

    /// Sets the bits of a mask.
    pub(super) fn write_mask(&mut self, code: &mut Code<'_>, place: MaskPlace, bits: Value) {
        match place {
            MaskPlace::Exec => self.write_slot(code, Slot::Exec, bits),
            MaskPlace::Vcc => self.write_slot(code, Slot::Vcc, bits),
            MaskPlace::Pair(n) if self.is_pair(Slot::Sgpr(n)) => {
                code.b.def_var(self.vars[&Slot::Sgpr(n)].var, bits);
            }
            MaskPlace::Pair(n) => {
                let low = code.b.ireduce(types::I32, bits);
                let high = code.b.ushr_imm(bits, 32);
                let high = code.b.ireduce(types::I32, high);
                self.write_slot(code, Slot::Sgpr(n), low);
                self.write_slot(code, Slot::Sgpr(n + 1), high);
            }
        }
    }

    /// Does the region use EXEC?
    pub(super) fn has_exec(&self, region: &Region<'_>) -> bool {
        region.options().baseline || self.vars.contains_key(&Slot::Exec)
    }

    /// The value of a slot.
    pub(super) fn read_slot(&mut self, code: &mut Code<'_>, slot: Slot) -> Value {
        match self.vars.get(&slot) {
            Some(&home) => {
                let whole = code.b.use_var(home.var);
                home.part(code, whole)
            }
            None => code.load_slot(slot),
        }
    }

    /// Sets the value of a slot.
    pub(super) fn write_slot(&mut self, code: &mut Code<'_>, slot: Slot, value: Value) {
        match self.vars.get(&slot) {
            Some(&home) if home.half.is_some() => {
                let whole = code.b.use_var(home.var);
                let whole = home.with_part(code, whole, value);
                code.b.def_var(home.var, whole);
            }
            Some(&home) => code.b.def_var(home.var, value),
            None => self.store_slot(code, slot, value),
        }
    }

    /// Writes a slot to the wave.
    fn store_slot(&mut self, code: &mut Code<'_>, slot: Slot, v: Value) {
        let v = match slot {
            Slot::Scc => code.b.uextend(types::I32, v),
            _ => v,
        };
        self.note_stored(&code.region);
        let (offset, _) = slot_home(slot);
        code.b.store(Memory::Trusted, v, code.region.wave(), offset);
    }

    /// Writes the region's variables of the scalar slots in `slots` to the wave.
    pub(super) fn store_slots(&mut self, code: &mut Code<'_>, slots: &Live) {
        for i in 0..self.slots_of_region.len() {
            let (slot, home) = self.slots_of_region[i];
            if !is_in_wave(slot) || !slots.has_slot(slot) {
                continue;
            }
            let v = code.b.use_var(home.var);
            match (home.half, slot) {
                (Some(Half::Low), Slot::Sgpr(n)) if slots.has_slot(Slot::Sgpr(n + 1)) => {
                    self.store_pair(code, slot, v);
                }
                (Some(Half::High), Slot::Sgpr(n)) if slots.has_slot(Slot::Sgpr(n - 1)) => {}
                _ => {
                    let v = home.part(code, v);
                    self.store_slot(code, slot, v);
                }
            }
        }
    }

    /// Writes the scalar slots that may have been written by the end of the current block to the
    /// wave; where exits are shared, those written anywhere in the region.
    pub(super) fn store_written(&mut self, code: &mut Code<'_>) {
        let written = match self.separate_exits {
            true => self.slots_since.end[self.block],
            false => self.slots_written,
        };
        self.store_slots(code, &written);
    }

    /// Burns a unit of fuel; without fuel the wave yields and continues at `pc` (I64), the start of
    /// `block` if there is one.
    pub(super) fn burn(&mut self, code: &mut Code<'_>, pc: Value, block: Option<usize>) {
        let left = code.take_fuel();
        let out_of_fuel = code.b.create_block();
        let on = code.b.create_block();
        code.b.set_cold_block(out_of_fuel);
        let empty = code.b.icmp_imm(IntCC::SignedLessThanOrEqual, left, 0);
        code.b.brif(empty, out_of_fuel, &[], on, &[]);
        code.enter(out_of_fuel);
        self.note_resume(code, block);
        let live = block.map_or(&Live::ALL, |block| code.region.live_in(block));
        self.leave(code, pc, ExitCode::Yield, live);
        code.enter(on);
    }

    /// Leaves the region for `pc` (I64) with `code`: only registers in `live` are live there, and
    /// the wave already holds those not written since entry.
    pub(super) fn leave_with(
        &mut self,
        code: &mut Code<'_>,
        pc: Value,
        exit_code: ExitCode,
        live: &Live,
    ) {
        self.settle_at(code, pc, live);
        code.return_with(exit_code);
    }

    /// Stores the registers in `live` that are live at `pc` (I64) to the wave.
    pub(super) fn settle_at(&mut self, code: &mut Code<'_>, pc: Value, live: &Live) {
        if !code.region.options().baseline {
            let written = self.slots_since.end[self.block];
            self.store_slots(code, &written.common(live));
        }
        let offset = offset32(offset_of!(WaveState, pc));
        code.b
            .store(Memory::Trusted, pc, code.region.wave(), offset);
    }

    /// Leaves the region for `pc` (I64) with `code`, where only registers in `live` are live.
    pub(super) fn leave(
        &mut self,
        code: &mut Code<'_>,
        pc: Value,
        exit_code: ExitCode,
        live: &Live,
    ) {
        if self.separate_exits {
            let written = self.slots_since.end[self.block];
            self.store_slots(code, &written.common(live));
        }
        let exit_code = code.integer(types::I64, i64::from(exit_code as u32));
        let args = [pc, exit_code];
        code.b.jump(self.exit, &args);
    }

    /// Leaves the region at `pc` (I64) with `status` (I64) for a fault: only EXEC of the registers
    /// is read then. (Separate exits in all code make `regalloc2` split ranges in an inner loop,
    /// which then takes 1.4 times as long.)
    pub(super) fn fail(
        &mut self,
        code: &mut Code<'_>,
        pc: Value,
        status: Value,
        new_exec: Option<Value>,
    ) {
        if self.separate_exits {
            let written = self.slots_since.start[self.block].has_slot(Slot::Exec);
            let exec = new_exec.or_else(|| written.then(|| self.slot(code, Slot::Exec)));
            if let Some(exec) = exec {
                let (offset, _) = slot_home(Slot::Exec);
                code.b
                    .store(Memory::Trusted, exec, code.region.wave(), offset);
            }
        } else if let Some(exec) = new_exec {
            self.write_slot(code, Slot::Exec, exec);
        }
        let args = [pc, status];
        code.b.jump(self.exit, &args);
    }
}

impl Emitter<'_> {
    /// Loads the scalar slots that are live at the targets; `live_in` are those live at the start
    /// of each block.
    pub(super) fn prologue(&mut self, live_in: &[Live]) {
        let mut touched = BTreeSet::new();
        for block in &self.code.region.func().blocks {
            for node in &block.nodes {
                if let Op::ReadS(slot) = node.op {
                    touched.insert(slot);
                }
            }
            touched.extend(block.written_slots());
        }
        let entries = entries(self.code.region.func());
        let relays =
            !self.code.region.options().baseline && wave_switch::suits(self.code.region.func());
        self.boundary.switches = relays && !entries.is_empty();
        self.boundary.separate_exits = relays && self.code.region.is_straight();
        if relays {
            let resident = self.code.region.residents(&entries, live_in);
            touched.retain(|slot| !resident.contains(slot));
        }
        if self.code.region.options().baseline {
            touched.retain(|&slot| !is_in_wave(slot));
        }
        let pairs = match self.code.region.options().baseline {
            true => BTreeSet::new(),
            false => pairs::pairs(self.code.region.func(), &touched),
        };
        let mut pair = None;
        for slot in touched {
            let half = match slot {
                Slot::Sgpr(n) if pairs.contains(&n) => Some(Half::Low),
                Slot::Sgpr(n) if n > 0 && pairs.contains(&(n - 1)) => Some(Half::High),
                _ => None,
            };
            let var = match (half, pair) {
                (Some(Half::High), Some(var)) => var,
                (Some(_), _) => self.code.b.declare_var(types::I64),
                (None, _) => self.code.b.declare_var(slot_type(slot)),
            };
            pair = Some(var);
            let home = Home { var, half };
            self.boundary.vars.insert(slot, home);
            self.boundary.slots_of_region.push((slot, home));
        }
        let first = self.blocks.entry(0);
        if entries.is_empty() {
            self.boundary.load_slots(&mut self.code, &live_in[0]);
            self.code.b.jump(first, &[]);
            return;
        }
        let mut entry = self.code.context(types::I32, offset_of!(Context, entry));
        if relays {
            entry = self.begin_wave_switch(entry, &entries);
        }
        let targets = std::iter::once(0).chain(entries.iter().copied());
        for (n, block) in targets.clone().enumerate().skip(1) {
            self.boundary.entry_numbers.insert(block, n as u32);
        }
        if self.code.region.options().baseline {
            let targets: Vec<usize> = targets.collect();
            self.begin_entries(entry, &targets);
            return;
        }
        // A block that is a target twice would get the arguments of its loop's values twice, so
        // each edge has a block of its own.
        let edges: Vec<vir::Block> = targets
            .clone()
            .map(|_| self.code.b.create_block())
            .collect();
        self.code.dispatch_entry(entry, 0, &edges);
        for (edge, to) in edges.into_iter().zip(targets) {
            self.code.b.switch_to_block(edge);
            self.boundary.load_slots(&mut self.code, &live_in[to]);
            let to = self.blocks.entry(to);
            self.code.b.jump(to, &[]);
        }
    }

    /// The shared exit: stores PC to the wave and returns the code. Where exits are separate each
    /// block has stored its registers by then; otherwise they are stored here, which leaves
    /// `regalloc2` fewer ranges to split inside loops.
    pub(super) fn epilogue(&mut self) {
        self.code.b.switch_to_block(self.boundary.exit);
        let params = self.code.b.block_params(self.boundary.exit).to_vec();
        if !self.boundary.separate_exits {
            self.boundary.store_written(&mut self.code);
        }
        self.code.return_at(params[0], params[1]);
        self.exits.end_entries(&mut self.code);
        self.exits.end_faulted(&mut self.code);
        if let Some(wave_switch) = &self.wave_switch {
            wave_switch.end_region(&mut self.code);
        }
    }
}

/// Blocks that a wave may re-enter: behind barriers, and loop headers, where it may yield.
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

/// The slot that identifies a slot's variable: the lower one of a pair.
fn whole_slot(slot: Slot, home: Home) -> Slot {
    match (slot, home.half) {
        (Slot::Sgpr(n), Some(Half::High)) => Slot::Sgpr(n - 1),
        _ => slot,
    }
}

/// Is a slot in the wave?
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

/// Offset of a slot in the wave, and its type.
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
