//! Where cases run: guest memory with what lies there, and the run of an engine.

use harness::case::Outcome;
use harness::case::state::{Addresses, BUFFER, Prepared, Run, Setting, WINDOW, WINDOWS, Wrong};
use runtime::engine::{Engine, Group, PRIVATE_BASE, SHARED_BASE, Scratch, Stats};
use runtime::{Exit, Lds, LoadedCode, Memory};

use super::exit_matches;

/// `s_barrier`.
pub(super) const BARRIER: u32 = 0xbf8a_0000;

/// Barriers before and behind the instruction.
pub(super) const AROUND: usize = 16;

/// Where cases run: guest memory and what lies there.
pub(super) struct World {
    pub(super) memory: Memory,
    setting: Setting,
    lds: Lds,
}

/// What is known of a run beside its state.
pub(super) struct EngineRun<'a> {
    pub(super) prepared: Prepared,
    /// Size of the instructions.
    pub(super) bytes: i64,
    /// Rows that the translator may hand to the interpreter.
    pub(super) handed: &'a [&'static str],
}

/// Address of the instruction.
fn base_of(code: &LoadedCode) -> u64 {
    code.base() + 4 * AROUND as u64
}

impl World {
    pub(super) fn new() -> World {
        let memory = Memory::with_options(runtime::memory::Options {
            reserve: 64 << 20,
            ..runtime::memory::Options::default()
        })
        .expect("the host reserves address space");
        let alloc = |bytes: usize| memory.alloc(bytes as u64, 4096).expect("a little fits");
        let addresses = Addresses {
            windows: alloc(WINDOWS),
            buffer: alloc(BUFFER),
            scratch: alloc(WINDOWS),
            shared: SHARED_BASE,
            private: PRIVATE_BASE,
        };
        World {
            memory,
            setting: Setting::new(addresses),
            lds: Lds::new(false),
        }
    }

    /// The states before and after that the lines of a run describe.
    pub(super) fn prepare(&self, code: &LoadedCode, run: &Run<'_>) -> Prepared {
        self.setting.prepare(code.gfx(), base_of(code), run)
    }

    /// Runs and compares.
    pub(super) fn run(
        &mut self,
        engine: &dyn Engine,
        code: &LoadedCode,
        run: &Run<'_>,
        engine_run: &EngineRun<'_>,
    ) -> Vec<Wrong> {
        let EngineRun {
            prepared,
            bytes,
            handed,
        } = engine_run;
        let before = &prepared.before;
        let base = base_of(code);
        let Addresses {
            windows,
            buffer,
            scratch,
            ..
        } = self.setting.addresses;
        self.memory
            .write_bytes(windows, &before.windows)
            .expect("it is there");
        self.memory
            .write_bytes(buffer, &before.buffer)
            .expect("it is there");
        self.memory
            .write_bytes(scratch, &before.scratch)
            .expect("it is there");
        self.lds.reset(before.lds.len());
        self.lds.bytes_mut().copy_from_slice(&before.lds);
        let mut after = before.clone();
        let mut stats = Stats::default();
        let exit = {
            let mut group = Group {
                memory: &self.memory,
                code,
                gfx: code.gfx(),
                lds: &mut self.lds,
                scratch: Scratch {
                    hidden_base: scratch,
                    base: scratch,
                    lane_bytes: WINDOW as u32,
                },
                workgroup: [0; 3],
                wave: 0,
                waves: 1,
                checked: false,
                dispatch: 0,
                counting: false,
                stats: &mut stats,
            };
            engine.run(&mut after.wave, &mut group, &mut 1000)
        };
        self.memory
            .read_bytes(windows, &mut after.windows)
            .expect("it is there");
        self.memory
            .read_bytes(buffer, &mut after.buffer)
            .expect("it is there");
        self.memory
            .read_bytes(scratch, &mut after.scratch)
            .expect("it is there");
        after.lds.copy_from_slice(self.lds.bytes());
        let mut names = stats.fallback_names.keys();
        if let Some(name) = names.find(|name| !handed.contains(name)) {
            let what = format!("falls back: {name}");
            return vec![Wrong { line: None, what }];
        }
        if let Err(what) = exit_matches(&exit, &run.lines[0].outcome) {
            return vec![Wrong { line: None, what }];
        }
        let pc = match (&exit, &run.lines[0].outcome) {
            (Exit::End, _) => after.wave.pc,
            (_, Outcome::Barrier(at)) => base
                .wrapping_add_signed(at.unwrap_or(*bytes))
                .wrapping_add(4),
            _ => base,
        };
        if after.wave.pc != pc {
            let at = |pc: u64| pc.wrapping_sub(base) as i64;
            let what = format!("pc at {} where {} is right", at(after.wave.pc), at(pc));
            return vec![Wrong { line: None, what }];
        }
        if matches!(exit, Exit::Fault(_)) {
            return Vec::new();
        }
        let mut wrong = prepared.compare(&after, run);
        wrong.truncate(2);
        wrong
    }
}
