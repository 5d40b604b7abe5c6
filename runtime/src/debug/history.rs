//! What is needed to go back in a workgroup: its state at some positions, the bytes that its stores and
//! atomics have replaced, and what its instructions do not determine.

use std::collections::{BTreeMap, VecDeque};

use frontend::{Inst, Op, WaveState, inst::Operand};

use super::calls::Call;
use crate::engine::{Group, Stats};
use crate::gws;
use crate::lds::SavedLds;
use crate::memory::Memory;

/// Instructions between two checkpoints at first.
const INTERVAL: u64 = 4096;

/// Most checkpoints. Beyond that every second one is forgotten and the interval doubled.
const MOST_CHECKPOINTS: usize = 48;

/// Most bytes of memory that were replaced, with what an entry takes.
const MOST_BYTES: usize = 256 << 20;

/// About what an entry of the journal takes in addition to the bytes.
const ENTRY_BYTES: usize = 48;

/// Which waves of a workgroup may run; sets of waves, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) ready: u32,
    pub(super) waiting: u32,
    /// Those that have burned their fuel.
    pub(super) late: u32,
    /// The wave that runs.
    pub(super) current: Option<u32>,
    /// Its fuel.
    pub(super) fuel: u64,
}

impl Schedule {
    /// Have all waves ended?
    pub(super) fn is_over(&self) -> bool {
        self.ready | self.waiting | self.late == 0
    }
}

/// What a wave has done.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    /// Instructions that it has executed.
    pub(super) executed: u64,
    /// Its calls.
    pub(super) calls: Vec<Call>,
}

/// The state of a workgroup at a position.
struct Checkpoint {
    position: u64,
    /// Was the state changed from outside?
    changed: bool,
    waves: Vec<Box<WaveState>>,
    lds: SavedLds,
    /// In checked mode: which bytes of each wave's scratch were written.
    scratch: Vec<Vec<u64>>,
    schedule: Schedule,
    past: Vec<Past>,
    gws: gws::State,
    stats: Stats,
    /// Entries of the journal before it, counted from the beginning of the history.
    journal: u64,
}

/// Bytes that were replaced.
struct Replaced {
    address: u64,
    old: Box<[u8]>,
}

/// The history of the workgroup that runs.
#[derive(Default)]
pub(super) struct History {
    /// Instructions that its waves have executed.
    pub(super) position: u64,
    /// The position that it has reached at most. Up to there it takes the same course again.
    pub(super) reached: u64,
    pub(super) past: Vec<Past>,
    pub(super) schedule: Schedule,
    checkpoints: VecDeque<Checkpoint>,
    interval: u64,
    journal: VecDeque<Replaced>,
    /// Entries that were forgotten.
    forgotten: u64,
    bytes: usize,
    /// What clocks showed, by position.
    clocks: BTreeMap<u64, u64>,
    /// Waves that were chosen from outside, by position.
    pub(super) switches: BTreeMap<u64, u32>,
}

/// What a checkpoint is of.
pub(super) struct Parts<'p, 'g> {
    pub(super) waves: &'p mut [Box<WaveState>],
    pub(super) group: &'p mut Group<'g>,
}

impl Parts<'_, '_> {
    /// Start of the scratch of each wave.
    fn scratch_starts(&self) -> Vec<u64> {
        let scratch = &self.group.scratch;
        if scratch.lane_bytes == 0 || !self.group.memory.is_exact() {
            return Vec::new();
        }
        let first = scratch.base - u64::from(self.group.wave) * scratch.wave_bytes();
        let starts = (0..self.waves.len() as u64).map(|n| first + n * scratch.wave_bytes());
        starts.collect()
    }
}

impl History {
    /// Of a workgroup with `past` that has come to `position`.
    pub(super) fn new(position: u64, past: Vec<Past>, schedule: Schedule) -> History {
        History {
            position,
            reached: position,
            past,
            schedule,
            interval: INTERVAL,
            ..History::default()
        }
    }

    /// Does the workgroup take a course that it has taken before?
    pub(super) fn repeats(&self) -> bool {
        self.position < self.reached
    }

    /// The first position that one can go back to.
    pub(super) fn earliest(&self) -> u64 {
        let first = self.checkpoints.front();
        first.map_or(self.position, |checkpoint| checkpoint.position)
    }

    /// From now on the course is another one.
    pub(super) fn diverge(&mut self) {
        self.reached = self.position;
        self.clocks.split_off(&self.position);
        self.switches.split_off(&self.position);
    }

    /// Keeps the state, if it is time to do so.
    pub(super) fn keep(&mut self, parts: Parts<'_, '_>) {
        let last = self.checkpoints.back();
        let due = last.is_none_or(|last| self.position - last.position >= self.interval);
        // All before a state can be forgotten when too much was replaced.
        if due || self.bytes > MOST_BYTES {
            self.checkpoint(parts, false);
        }
    }

    /// Was the state at this position changed from outside?
    pub(super) fn changed_here(&self) -> bool {
        let last = self.checkpoints.back();
        last.is_some_and(|last| last.changed && last.position == self.position)
    }

    /// Keeps the state, which was `changed` from outside or not.
    pub(super) fn checkpoint(&mut self, parts: Parts<'_, '_>, changed: bool) {
        // State that was changed from outside replaces what was at this position.
        let same = |last: &Checkpoint| last.position == self.position;
        let changed = changed || self.changed_here();
        if self.checkpoints.back().is_some_and(same) {
            self.checkpoints.pop_back();
        }
        if self.checkpoints.len() >= MOST_CHECKPOINTS {
            self.interval = self.interval.saturating_mul(2);
            let mut number = 0;
            self.checkpoints.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
        let starts = parts.scratch_starts();
        let memory = parts.group.memory;
        self.checkpoints.push_back(Checkpoint {
            position: self.position,
            changed,
            waves: parts.waves.to_vec(),
            lds: parts.group.lds.save(),
            scratch: starts
                .iter()
                .map(|&at| memory.scratch_written(at))
                .collect(),
            schedule: self.schedule,
            past: self.past.clone(),
            gws: memory.gws().state(),
            stats: parts.group.stats.clone(),
            journal: self.forgotten + self.journal.len() as u64,
        });
        while self.bytes > MOST_BYTES && self.checkpoints.len() > 1 {
            self.checkpoints.pop_front();
            let first = self.checkpoints.front().map_or(0, |first| first.journal);
            while self.forgotten < first {
                self.forgotten += 1;
                if let Some(replaced) = self.journal.pop_front() {
                    self.bytes -= replaced.old.len() + ENTRY_BYTES;
                }
            }
            let earliest = self.earliest();
            self.clocks = self.clocks.split_off(&earliest);
            self.switches = self.switches.split_off(&earliest);
        }
    }

    /// These bytes of memory were replaced, or are about to be.
    pub(super) fn replaced(&mut self, address: u64, old: Box<[u8]>) {
        self.bytes += old.len() + ENTRY_BYTES;
        self.journal.push_back(Replaced { address, old });
    }

    /// Goes back to the last state that was kept at `position` or before; `false` if there is none.
    pub(super) fn restore(&mut self, position: u64, parts: Parts<'_, '_>) -> bool {
        if position < self.earliest() || self.checkpoints.is_empty() {
            return false;
        }
        while self.checkpoints.len() > 1
            && self
                .checkpoints
                .back()
                .is_some_and(|last| last.position > position)
        {
            self.checkpoints.pop_back();
        }
        let Some(checkpoint) = self.checkpoints.back() else {
            return false;
        };
        let starts = parts.scratch_starts();
        let Parts { waves, group } = parts;
        undo(
            &mut self.journal,
            &mut self.bytes,
            checkpoint.journal - self.forgotten,
            group.memory,
        );
        for (wave, saved) in waves.iter_mut().zip(&checkpoint.waves) {
            wave.clone_from(saved);
        }
        group.lds.restore(&checkpoint.lds);
        for (start, written) in starts.iter().zip(&checkpoint.scratch) {
            group.memory.set_scratch_written(*start, written);
        }
        group.memory.gws().set_state(&checkpoint.gws);
        group.stats.clone_from(&checkpoint.stats);
        self.schedule = checkpoint.schedule;
        self.past.clone_from(&checkpoint.past);
        self.position = checkpoint.position;
        true
    }

    /// An instruction has read a clock: shows what it has shown before at this position.
    pub(super) fn clock(&mut self, wave: &mut WaveState, inst: &Inst) {
        let (Op::MemTime | Op::MemRealtime, Operand::Sgpr(first)) = (inst.op(), inst.dst[0]) else {
            return;
        };
        let now = wave.sgpr64(first);
        let shown = *self.clocks.entry(self.position).or_insert(now);
        wave.set_sgpr64(first, shown);
    }
}

/// Puts back what was replaced after the first `keep` entries.
fn undo(journal: &mut VecDeque<Replaced>, bytes: &mut usize, keep: u64, memory: &Memory) {
    while journal.len() as u64 > keep {
        let Some(Replaced { address, old }) = journal.pop_back() else {
            return;
        };
        *bytes -= old.len() + ENTRY_BYTES;
        // It could be read, so that it can be written.
        let written = memory.write_bytes(address, &old);
        debug_assert!(written.is_ok(), "{written:?}");
    }
}
