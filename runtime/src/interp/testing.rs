//! Shared by the tests of the chapters: a wave with code, memory and LDS.

use frontend::{Gfx, WaveState};

use super::Interpreter;
use crate::code::LoadedCode;
use crate::engine::{Engine, Exit, Group, Scratch, Stats};
use crate::lds::Lds;
use crate::memory::Memory;

/// The MODE that compilers start with: round to nearest, denormals kept, IEEE, DX10_CLAMP.
pub(crate) const MODE: u32 = 0x3f0;

/// `s_endpgm`.
const END: u32 = 0xbf81_0000;

/// A wave and what it acts on.
pub(crate) struct Machine {
    pub(crate) gfx: Gfx,
    pub(crate) memory: Memory,
    pub(crate) lds: Lds,
    pub(crate) wave: Box<WaveState>,
    pub(crate) scratch: Scratch,
}

impl Machine {
    /// A full wave in the usual MODE, 1 KiB of LDS, M0 = -1.
    pub(crate) fn new(gfx: Gfx) -> Machine {
        let mut wave = WaveState::new_boxed();
        wave.mode = MODE;
        wave.set_exec(u64::MAX);
        wave.sgpr[usize::from(frontend::inst::M0)] = u32::MAX;
        let mut lds = Lds::new(false);
        lds.reset(1024);
        Machine {
            gfx,
            memory: Memory::new().expect("address space"),
            lds,
            wave,
            scratch: Scratch::default(),
        }
    }

    /// Runs the words, then the end of the program.
    pub(crate) fn run(&mut self, words: &[u32]) -> Exit {
        self.with(words, |wave, group| Interpreter.run(wave, group, &mut 1000))
    }

    /// Calls a function with the wave at the beginning of the words, behind which the program ends.
    pub(crate) fn with<R>(
        &mut self,
        words: &[u32],
        run: impl FnOnce(&mut WaveState, &mut Group<'_>) -> R,
    ) -> R {
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.extend(END.to_le_bytes());
        let code = LoadedCode::from_bytes(&self.memory, self.gfx, &bytes).expect("room for code");
        self.wave.pc = code.base();
        let mut stats = Stats::default();
        let mut group = Group {
            memory: &self.memory,
            code: &code,
            gfx: self.gfx,
            lds: &mut self.lds,
            scratch: self.scratch,
            workgroup: [0; 3],
            wave: 0,
            waves: 1,
            checked: false,
            dispatch: 0,
            counting: true,
            stats: &mut stats,
        };
        run(&mut self.wave, &mut group)
    }

    /// As [`Machine::run`], and the program must reach its end.
    #[track_caller]
    pub(crate) fn ends(&mut self, words: &[u32]) -> &mut Machine {
        assert_eq!(self.run(words), Exit::End, "{words:08x?}");
        self
    }

    /// The message of the fault that the words end in.
    #[track_caller]
    pub(crate) fn fault(&mut self, words: &[u32]) -> String {
        match self.run(words) {
            Exit::Fault(fault) => match fault.lane {
                Some(lane) => format!("lane {lane} {}", fault.kind),
                None => fault.kind.to_string(),
            },
            other => panic!("{words:08x?} gave {other:?}"),
        }
    }

    pub(crate) fn set64(&mut self, code: u8, value: u64) -> &mut Machine {
        self.wave.set_sgpr64(code, value);
        self
    }

    /// Puts a pair of dwords into lane `lane` of a register pair.
    pub(crate) fn set_lane64(&mut self, first: usize, lane: usize, value: u64) {
        self.wave.vgpr[first][lane] = value as u32;
        self.wave.vgpr[first + 1][lane] = (value >> 32) as u32;
    }

    pub(crate) fn lane64(&self, first: usize, lane: usize) -> u64 {
        u64::from(self.wave.vgpr[first][lane]) | u64::from(self.wave.vgpr[first + 1][lane]) << 32
    }
}

/// Vectors of a vector instruction `op v0, v1, v2, v3` on 32 bits: each case in a lane of its own,
/// `[s0, s1, s2, d]`.
#[track_caller]
pub(crate) fn lanes32(gfx: Gfx, mode: u32, words: &[u32], cases: &[[u32; 4]]) {
    let mut machine = Machine::new(gfx);
    machine.wave.mode = mode;
    for (lane, case) in cases.iter().enumerate() {
        for (n, &value) in case.iter().enumerate().take(3) {
            machine.wave.vgpr[1 + n][lane] = value;
        }
    }
    machine.ends(words);
    for (lane, case) in cases.iter().enumerate() {
        let got = machine.wave.vgpr[0][lane];
        assert_eq!(
            got, case[3],
            "{words:08x?} of {case:08x?} gave 0x{got:08x} on {gfx}"
        );
    }
}

/// As [`lanes32`] of register pairs: sources v[2:3], v[4:5], v[6:7], result v[0:1].
#[track_caller]
pub(crate) fn lanes64(gfx: Gfx, mode: u32, words: &[u32], cases: &[[u64; 4]]) {
    let mut machine = Machine::new(gfx);
    machine.wave.mode = mode;
    for (lane, case) in cases.iter().enumerate() {
        for (n, &value) in case.iter().enumerate().take(3) {
            machine.set_lane64(2 + 2 * n, lane, value);
        }
    }
    machine.ends(words);
    for (lane, case) in cases.iter().enumerate() {
        let got = machine.lane64(0, lane);
        assert_eq!(
            got, case[3],
            "{words:08x?} of {case:016x?} gave 0x{got:016x} on {gfx}"
        );
    }
}

/// Vectors of a scalar instruction on s2, s3 into s0: `[s0, s1, scc before, d, scc after]`.
#[track_caller]
pub(crate) fn scalar32(gfx: Gfx, words: &[u32], cases: &[[u32; 5]]) {
    for case in cases {
        let mut machine = Machine::new(gfx);
        machine.wave.sgpr[2] = case[0];
        machine.wave.sgpr[3] = case[1];
        machine.wave.scc = case[2];
        machine.ends(words);
        let got = [machine.wave.sgpr[0], machine.wave.scc];
        assert_eq!(got, case[3..], "{words:08x?} of {case:08x?}");
    }
}

/// As [`scalar32`] on s[2:3], s[4:5] into s[0:1]; the conditions are numbers too.
#[track_caller]
pub(crate) fn scalar64(gfx: Gfx, words: &[u32], cases: &[[u64; 5]]) {
    for case in cases {
        let mut machine = Machine::new(gfx);
        machine.set64(2, case[0]).set64(4, case[1]);
        machine.wave.scc = case[2] as u32;
        machine.ends(words);
        let got = [machine.wave.sgpr64(0), u64::from(machine.wave.scc)];
        assert_eq!(got, case[3..], "{words:08x?} of {case:016x?}");
    }
}
