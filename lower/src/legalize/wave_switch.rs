//! Waves of a workgroup that run one after the other without leaving the code. A wave that has come to a barrier, or has
//! ended, hands over to the next one, which is entered where that one was; when all of them have come to the same
//! barrier, the first goes on behind it. Leaving and entering costs more than many a piece of code between two barriers.
//! What is handed over, and how far, is in [`Context`]; the runtime does the same for waves that it runs one by one.

use std::mem::offset_of;

use super::{Emitter, offset32};
use crate::abi::{Context, ExitCode};
use crate::ir::functions::EffectFn;
use crate::ir::{Block, Func, Node, Op, Target, Term};
use crate::vir::{self, IntCC, Memory, Value, types};

/// Where waves of a region are handed over.
pub(super) struct WaveSwitch {
    /// Enters the region with a wave (I64) by an entry (I32).
    enter: vir::Block,
    /// The wave has come to the barrier before an entry (I32).
    arrived: vir::Block,
    /// The same, and the code comes back.
    leave: vir::Block,
    /// The wave has ended.
    ended: vir::Block,
    /// For each block the entry by which all waves came in that get there, if there is one.
    ways_in: Vec<Option<u32>>,
}

/// Does a region have barriers behind which it goes on, and nothing that asks the runtime which wave runs?
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

/// For each block the number of the entry by which all waves come in that get there, if there is one, and of barriers only if
/// such waves come to no other; number 0 is the beginning, and the others are those of `entries`.
fn ways_in(f: &Func, entries: &[usize]) -> Vec<Option<u32>> {
    let mut ways_in: Vec<Vec<u32>> = vec![Vec::new(); f.blocks.len()];
    let mut barriers: Vec<Vec<usize>> = vec![Vec::new(); entries.len() + 1];
    for (number, &entry) in (0..).zip([0].iter().chain(entries)) {
        let mut work = vec![entry];
        while let Some(at) = work.pop() {
            if ways_in[at].last() == Some(&number) {
                continue;
            }
            ways_in[at].push(number);
            let term = &f.blocks[at].term;
            if let Term::Barrier { .. } = term {
                barriers[number as usize].push(at);
            } else {
                work.extend(term.targets().filter_map(|target| target.block()));
            }
        }
    }
    let one = |(at, ways): (usize, Vec<u32>)| match *ways {
        [way] => Some(way).filter(|&way| match *barriers[way as usize] {
            [_, _, ..] => !matches!(f.blocks[at].term, Term::Barrier { .. }),
            _ => true,
        }),
        _ => None,
    };
    ways_in.into_iter().enumerate().map(one).collect()
}

/// Is there no way on which waves burn fuel in the code? (Jumps to an address in a register do, but leave it.)
pub(super) fn is_straight(f: &Func) -> bool {
    let mut targets = f.blocks.iter().flat_map(|block| block.term.targets());
    targets.all(|target| match target {
        Target::Block { back, .. } | Target::Exit { back, .. } => !back,
    })
}

impl Emitter<'_> {
    /// Has waves handed over from here on: what `self.wave` is and the entry, which is given and returned, are another wave's
    /// each time. `entries` are the blocks of entries from number 1 on.
    pub(super) fn begin_wave_switch(&mut self, entry: Value, entries: &[usize]) -> Value {
        if self.straight {
            // Loaded anew where it is wanted: kept in a register, it would be so through all of the region.
            let (anew, at) = (Memory::Fixed, offset_of!(Context, frame));
            self.frame = self.b.load(types::I64, anew, self.ctx, offset32(at));
        }
        let [enter, arrived, leave, ended] = [(); 4].map(|()| self.b.create_block());
        let first = [self.wave, entry];
        self.b.jump(enter, &first);
        self.wave = self.b.append_block_param(enter, types::I64);
        let entry = self.b.append_block_param(enter, types::I32);
        self.b.append_block_param(arrived, types::I32);
        self.b.append_block_param(leave, types::I32);
        self.b.switch_to_block(enter);
        self.wave_switch = Some(WaveSwitch {
            enter,
            arrived,
            leave,
            ended,
            ways_in: match self.straight {
                true => ways_in(self.f, entries),
                // What loops keep in registers would be tied together.
                false => vec![None; self.f.blocks.len()],
            },
        });
        entry
    }

    /// Emits what waves share that hand over.
    pub(super) fn end_wave_switch(&mut self) {
        let Some(wave_switch) = self.wave_switch.take() else {
            return;
        };
        self.b.switch_to_block(wave_switch.arrived);
        let here = self.b.block_params(wave_switch.arrived)[0];
        self.arrive_with_others(&wave_switch, here);

        self.b.switch_to_block(wave_switch.leave);
        self.b.set_cold_block(wave_switch.leave);
        let here = self.b.block_params(wave_switch.leave)[0];
        self.set_context(here, offset_of!(Context, resume));
        self.return_with(ExitCode::Barrier);

        self.b.switch_to_block(wave_switch.ended);
        self.end_by(&wave_switch, None);
        self.wave_switch = Some(wave_switch);
    }

    /// The wave has come to the barrier before an entry, and has in it what is wanted there; not where waves are not handed over.
    pub(super) fn arrive_at_barrier(&mut self, entry: u32) {
        let wave_switch = self.wave_switch.take().expect("waves are handed over");
        let here = self.entry_number(entry);
        match wave_switch.ways_in[self.current] {
            // The others that come in this way come to this barrier or end. The latter leave no more rounds.
            Some(way) => self.arrive_by(&wave_switch, here, Some(way)),
            None => {
                let here = [here];
                self.b.jump(wave_switch.arrived, &here);
            }
        }
        self.wave_switch = Some(wave_switch);
    }

    /// The wave has ended.
    pub(super) fn end_wave(&mut self) {
        let Some(wave_switch) = self.wave_switch.take() else {
            self.return_with(ExitCode::End);
            return;
        };
        match wave_switch.ways_in[self.current] {
            Some(way) => self.end_by(&wave_switch, Some(way)),
            None => {
                self.b.jump(wave_switch.ended, &[]);
            }
        }
        self.wave_switch = Some(wave_switch);
    }

    fn entry_number(&mut self, entry: u32) -> Value {
        self.b.iconst(types::I32, i64::from(entry))
    }

    /// A wave has come to the barrier before an entry; leaves where it is not the one that others of the round have come to.
    fn arrive_with_others(&mut self, wave_switch: &WaveSwitch, here: Value) {
        let [later, on] = [(); 2].map(|()| self.b.create_block());
        let running = self.context(types::I32, offset_of!(Context, index));
        self.b.brif(running, later, &[], on, &[]);
        self.b.switch_to_block(later);
        let others = self.context(types::I32, offset_of!(Context, arrived));
        let same = self.b.icmp(IntCC::Equal, others, here);
        let arg = [here];
        self.b.brif(same, on, &[], wave_switch.leave, &arg);
        self.b.switch_to_block(on);
        self.arrive_by(wave_switch, here, None);
    }

    /// A wave has come to the barrier before an entry, as the others of the round so far that have not ended. Goes on to the
    /// next one, or behind the last one to the first one behind the barrier; leaves where waves have gone round often enough.
    /// All have come in by the entry `way`, if it is known.
    fn arrive_by(&mut self, wave_switch: &WaveSwitch, here: Value, way: Option<u32>) {
        let [next, all, again] = [(); 3].map(|()| self.b.create_block());
        self.set_context(here, offset_of!(Context, arrived));
        let (running, more) = self.more_waves();
        self.b.brif(more, next, &[], all, &[]);
        self.b.switch_to_block(next);
        self.hand_on(wave_switch, running, way);

        self.b.switch_to_block(all);
        let rounds = self.context(types::I32, offset_of!(Context, rounds));
        let arg = [here];
        self.b.brif(rounds, again, &[], wave_switch.leave, &arg);
        self.b.switch_to_block(again);
        let one = self.b.iconst(types::I32, 1);
        let rounds = self.b.isub(rounds, one);
        self.set_context(rounds, offset_of!(Context, rounds));
        self.set_context(here, offset_of!(Context, entry));
        let first = self.b.iconst(types::I32, 0);
        self.set_context(first, offset_of!(Context, index));
        let waves = self.context(types::I64, offset_of!(Context, waves));
        self.hand_over(wave_switch, waves, here);
    }

    /// A wave has ended: the others go on without it. All have come in by the entry `way`, if it is known.
    fn end_by(&mut self, wave_switch: &WaveSwitch, way: Option<u32>) {
        let [next, out] = [(); 2].map(|()| self.b.create_block());
        let (running, more) = self.more_waves();
        let one = self.b.iconst(types::I32, 1);
        let bit = self.b.ishl(one, running);
        let before = self.context(types::I32, offset_of!(Context, ended));
        let with = self.b.bor(before, bit);
        self.set_context(with, offset_of!(Context, ended));
        // No barrier is all waves' any more.
        let none = self.b.iconst(types::I32, 0);
        self.set_context(none, offset_of!(Context, rounds));
        self.b.brif(more, next, &[], out, &[]);
        self.b.switch_to_block(next);
        self.hand_on(wave_switch, running, way);
        self.b.switch_to_block(out);
        self.return_with(ExitCode::End);
    }

    /// The number of the running wave, and whether there are others behind it.
    fn more_waves(&mut self) -> (Value, Value) {
        let running = self.context(types::I32, offset_of!(Context, index));
        let last = self.context(types::I32, offset_of!(Context, last));
        let more = self.b.icmp(IntCC::UnsignedLessThan, running, last);
        (running, more)
    }

    /// Goes on to the wave behind the one that runs; waves come in by the entry `way`, if it is known.
    fn hand_on(&mut self, wave_switch: &WaveSwitch, running: Value, way: Option<u32>) {
        let one = self.b.iconst(types::I32, 1);
        let to = self.b.iadd(running, one);
        self.set_context(to, offset_of!(Context, index));
        let waves = self.context(types::I64, offset_of!(Context, waves));
        let offset = self.b.uextend(types::I64, to);
        let offset = self.b.ishl_imm(offset, 3);
        let place = self.b.iadd(waves, offset);
        let entry = match way {
            Some(way) => self.entry_number(way),
            None => self.context(types::I32, offset_of!(Context, entry)),
        };
        self.hand_over(wave_switch, place, entry);
    }

    /// Makes the wave whose address is at a place the one that runs, and enters it by an entry (I32).
    fn hand_over(&mut self, wave_switch: &WaveSwitch, place: Value, entry: Value) {
        let wave = self.b.load(types::I64, Memory::Trusted, place, 0);
        self.set_context(wave, offset_of!(Context, wave));
        if !self.straight {
            let ticket = self.context(types::I32, offset_of!(Context, ticket));
            self.set_fuel(ticket);
        }
        let args = [wave, entry];
        self.b.jump(wave_switch.enter, &args);
    }
}
