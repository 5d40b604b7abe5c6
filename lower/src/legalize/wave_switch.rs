//! Wave switches: the waves of a workgroup are executed one after the other without leaving the
//! code. A wave that arrives at a barrier, or ends, switches to the next one, which is entered by
//! the same entry; when all have arrived at the same barrier, the first continues after it. Leaving
//! and entering the code costs more than much of the code between two barriers. The state and its
//! limits are in [`Context`]; the runtime does the same for waves that it executes one by one.

use std::mem::offset_of;

use super::{Code, Emitter, offset32};
use crate::abi::{Context, ExitCode};
use crate::ir::functions::EffectFn;
use crate::ir::{Block, Func, Node, Op, Target, Term};
use crate::vir::{self, IntCC, Memory, Value, types};

/// Wave switches of a region.
pub(super) struct WaveSwitch {
    /// Enters the region with a wave (I64) by an entry (I32).
    enter: vir::Block,
    /// The wave has arrived at the barrier before an entry (I32); compares it with the entry of the
    /// others.
    arrived: vir::Block,
    /// The wave has arrived at the barrier before an entry (I32), and the code returns.
    leave: vir::Block,
    /// The wave has ended.
    ended: vir::Block,
    /// By block: the entry by which all waves that reach it have entered, if it is unique.
    entries_of_blocks: Vec<Option<u32>>,
}

/// Does a region have barriers after which it continues, and no operation for which the runtime
/// must know the running wave?
pub(super) fn suits(f: &Func) -> bool {
    let barrier = |block: &Block| match block.term {
        Term::Barrier { next } => next.block().is_some(),
        _ => false,
    };
    let asks = |node: &Node| {
        matches!(
            node.op,
            Op::Effect {
                f: EffectFn::Export,
                ..
            }
        )
    };
    let mut blocks = f.blocks.iter();
    blocks.any(barrier) && !f.blocks.iter().any(|block| block.nodes.iter().any(asks))
}

/// By block: the number of the entry by which all waves that reach it have entered, if it is
/// unique; for barriers only if such waves reach no other barrier. Number 0 is the region's start,
/// the others are those of `entries`.
fn entries_of_blocks(f: &Func, entries: &[usize]) -> Vec<Option<u32>> {
    let mut entries_of_blocks: Vec<Vec<u32>> = vec![Vec::new(); f.blocks.len()];
    let mut barriers: Vec<Vec<usize>> = vec![Vec::new(); entries.len() + 1];
    for (number, &entry) in (0..).zip([0].iter().chain(entries)) {
        let mut work = vec![entry];
        while let Some(at) = work.pop() {
            if entries_of_blocks[at].last() == Some(&number) {
                continue;
            }
            entries_of_blocks[at].push(number);
            let term = &f.blocks[at].term;
            if let Term::Barrier { .. } = term {
                barriers[number as usize].push(at);
            } else {
                work.extend(term.targets().filter_map(|target| target.block()));
            }
        }
    }
    let one = |(at, entries): (usize, Vec<u32>)| match *entries {
        [from] => Some(from).filter(|&from| match *barriers[from as usize] {
            [_, _, ..] => !matches!(f.blocks[at].term, Term::Barrier { .. }),
            _ => true,
        }),
        _ => None,
    };
    entries_of_blocks.into_iter().enumerate().map(one).collect()
}

/// Has the code no loop in which waves burn fuel? (Jumps to an address in a register burn fuel, but
/// leave the code.)
pub(super) fn is_straight(f: &Func) -> bool {
    let mut targets = f.blocks.iter().flat_map(|block| block.term.targets());
    targets.all(|target| match target {
        Target::Block { back, .. } | Target::Exit { back, .. } => !back,
    })
}

impl Code<'_> {
    fn entry_number(&mut self, entry: u32) -> Value {
        self.b.iconst(types::I32, i64::from(entry))
    }

    /// The number of the running wave, and whether there are others after it.
    fn more_waves(&mut self) -> (Value, Value) {
        let running = self.context(types::I32, offset_of!(Context, index));
        let last = self.context(types::I32, offset_of!(Context, last));
        let more = self.b.icmp(IntCC::UnsignedLessThan, running, last);
        (running, more)
    }
}

impl Emitter<'_> {
    /// Begins wave switches: the region's wave and the entry, which is passed and returned, become
    /// those of the running wave. `entries` are the blocks of entries from number 1 on.
    pub(super) fn begin_wave_switch(&mut self, entry: Value, entries: &[usize]) -> Value {
        if self.code.region.is_straight() {
            // Reloaded at each use: in a register it would be live through the whole region.
            let (anew, at) = (Memory::Fixed, offset_of!(Context, frame));
            let frame = self
                .code
                .b
                .load(types::I64, anew, self.code.region.ctx(), offset32(at));
            self.code.region.set_frame(frame);
        }
        let [enter, arrived, leave, ended] = [(); 4].map(|()| self.code.b.create_block());
        let first = [self.code.region.wave(), entry];
        self.code.b.jump(enter, &first);
        let wave = self.code.b.append_block_param(enter, types::I64);
        self.code.region.set_wave(wave);
        let entry = self.code.b.append_block_param(enter, types::I32);
        self.code.b.append_block_param(arrived, types::I32);
        self.code.b.append_block_param(leave, types::I32);
        self.code.b.switch_to_block(enter);
        self.wave_switch = Some(WaveSwitch {
            enter,
            arrived,
            leave,
            ended,
            entries_of_blocks: match self.code.region.is_straight() {
                true => entries_of_blocks(self.code.region.func(), entries),
                // With known entries, values that loops keep in registers would be merged.
                false => vec![None; self.code.region.func().blocks.len()],
            },
        });
        entry
    }
}

impl WaveSwitch {
    /// Emits the shared blocks of wave switches.
    pub(super) fn end_region(&self, code: &mut Code<'_>) {
        code.b.switch_to_block(self.arrived);
        let here = code.b.block_params(self.arrived)[0];
        self.arrive_checked(code, here);

        code.b.switch_to_block(self.leave);
        code.b.set_cold_block(self.leave);
        let here = code.b.block_params(self.leave)[0];
        code.set_context(here, offset_of!(Context, resume));
        code.return_with(ExitCode::Barrier);

        code.b.switch_to_block(self.ended);
        self.end_by(code, None);
    }

    /// Emits the arrival of the wave at the barrier before an entry, with its live registers
    /// stored, from `block`.
    pub(super) fn arrive_at_barrier(&self, code: &mut Code<'_>, block: usize, entry: u32) {
        let here = code.entry_number(entry);
        match self.entries_of_blocks[block] {
            // The other waves that entered by this entry arrive at this barrier or end; a wave that
            // ends sets the rounds to 0.
            Some(from) => self.arrive_unchecked(code, here, Some(from)),
            None => {
                let here = [here];
                code.b.jump(self.arrived, &here);
            }
        }
    }

    /// Emits the end of the wave in `block`.
    pub(super) fn end_wave(&self, code: &mut Code<'_>, block: usize) {
        match self.entries_of_blocks[block] {
            Some(from) => self.end_by(code, Some(from)),
            None => {
                code.b.jump(self.ended, &[]);
            }
        }
    }

    /// Emits the arrival at the barrier before an entry; leaves the code if the others of the round
    /// have arrived at another.
    fn arrive_checked(&self, code: &mut Code<'_>, here: Value) {
        let [later, on] = [(); 2].map(|()| code.b.create_block());
        let running = code.context(types::I32, offset_of!(Context, index));
        code.b.brif(running, later, &[], on, &[]);
        code.b.switch_to_block(later);
        let others = code.context(types::I32, offset_of!(Context, arrived));
        let same = code.b.icmp(IntCC::Equal, others, here);
        let arg = [here];
        code.b.brif(same, on, &[], self.leave, &arg);
        code.b.switch_to_block(on);
        self.arrive_unchecked(code, here, None);
    }

    /// Emits the arrival at the barrier before an entry where the others of the round arrive or
    /// have ended. Switches to the next wave, or after the last one to the first one after the
    /// barrier; leaves the code after the last round. All waves have entered by the entry `from`,
    /// if it is unique.
    fn arrive_unchecked(&self, code: &mut Code<'_>, here: Value, from: Option<u32>) {
        let [next, all, again] = [(); 3].map(|()| code.b.create_block());
        code.set_context(here, offset_of!(Context, arrived));
        let (running, more) = code.more_waves();
        code.b.brif(more, next, &[], all, &[]);
        code.b.switch_to_block(next);
        self.switch_to_next(code, running, from);

        code.b.switch_to_block(all);
        let rounds = code.context(types::I32, offset_of!(Context, rounds));
        let arg = [here];
        code.b.brif(rounds, again, &[], self.leave, &arg);
        code.b.switch_to_block(again);
        let one = code.b.iconst(types::I32, 1);
        let rounds = code.b.isub(rounds, one);
        code.set_context(rounds, offset_of!(Context, rounds));
        code.set_context(here, offset_of!(Context, entry));
        let first = code.b.iconst(types::I32, 0);
        code.set_context(first, offset_of!(Context, index));
        let waves = code.context(types::I64, offset_of!(Context, waves));
        self.switch_to(code, waves, here);
    }

    /// Emits the end of a wave: the next one continues. All waves have entered by the entry `from`,
    /// if it is unique.
    fn end_by(&self, code: &mut Code<'_>, from: Option<u32>) {
        let [next, out] = [(); 2].map(|()| code.b.create_block());
        let (running, more) = code.more_waves();
        let one = code.b.iconst(types::I32, 1);
        let bit = code.b.ishl(one, running);
        let before = code.context(types::I32, offset_of!(Context, ended));
        let with = code.b.bor(before, bit);
        code.set_context(with, offset_of!(Context, ended));
        // Not all waves reach a later barrier.
        let none = code.b.iconst(types::I32, 0);
        code.set_context(none, offset_of!(Context, rounds));
        code.b.brif(more, next, &[], out, &[]);
        code.b.switch_to_block(next);
        self.switch_to_next(code, running, from);
        code.b.switch_to_block(out);
        code.return_with(ExitCode::End);
    }

    /// Switches to the wave after the running one; waves enter by the entry `from`, if it is
    /// unique.
    fn switch_to_next(&self, code: &mut Code<'_>, running: Value, from: Option<u32>) {
        let one = code.b.iconst(types::I32, 1);
        let to = code.b.iadd(running, one);
        code.set_context(to, offset_of!(Context, index));
        let waves = code.context(types::I64, offset_of!(Context, waves));
        let offset = code.b.uextend(types::I64, to);
        let offset = code.b.ishl_imm(offset, 3);
        let place = code.b.iadd(waves, offset);
        let entry = match from {
            Some(from) => code.entry_number(from),
            None => code.context(types::I32, offset_of!(Context, entry)),
        };
        self.switch_to(code, place, entry);
    }

    /// Makes the wave whose address is at `place` the running one, and enters it by an entry (I32).
    fn switch_to(&self, code: &mut Code<'_>, place: Value, entry: Value) {
        let wave = code.b.load(types::I64, Memory::Trusted, place, 0);
        code.set_context(wave, offset_of!(Context, wave));
        if !code.region.is_straight() {
            let fuel_quantum = code.context(types::I32, offset_of!(Context, fuel_quantum));
            code.set_fuel(fuel_quantum);
        }
        let args = [wave, entry];
        code.b.jump(self.enter, &args);
    }
}
