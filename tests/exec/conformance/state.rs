//! State before and after a case: patterns, what the lines say over them, and the run in between.

use frontend::{Gfx, LANES, WaveState};
use harness::case::assign::{Lanes, Place, Value};
use harness::case::{Line, Outcome};
use runtime::engine::{Engine, Group, Scratch, Stats};
use runtime::{Exit, Lds, LoadedCode, Memory};

use super::exit_matches;
use compare::{How, Loose, check_loose, compare};

mod compare;
mod values;

/// `s_barrier`.
pub(super) const BARRIER: u32 = 0xbf8a_0000;

/// Barriers before and behind the instruction.
pub(super) const AROUND: usize = 16;

/// Bytes of a lane's window.
const WINDOW: usize = 256;

/// Bytes of all windows; LDS has this size unless the case says another.
const WINDOWS: usize = WINDOW * LANES;

/// VGPRs and accumulation registers.
const VECTORS: usize = 512;

/// Bytes of the wave's buffer.
const BUFFER: usize = 4096;

/// MODE as compilers set it: nearest even, denormals kept, DX10_CLAMP, IEEE.
const DEFAULT_MODE: u32 = 0x3f0;

/// Where cases run: guest memory and what lies there.
pub(super) struct World {
    pub(super) memory: Memory,
    windows: u64,
    buffer: u64,
    scratch: u64,
    lds: Lds,
    /// What lines do not mention.
    pattern: Image,
}

/// One run of some lines.
pub(super) struct Run<'a> {
    /// Lane l holds line `l % lines.len()`, rotated by `turn`.
    pub(super) lines: &'a [&'a Line],
    pub(super) exec: u64,
    pub(super) turn: usize,
    /// Size of the instructions.
    pub(super) bytes: i64,
    /// Memory and LDS are written before and compared after.
    pub(super) memory: bool,
    /// Rows that the translator may hand to the interpreter.
    pub(super) handed: &'a [&'static str],
}

/// What a run starts from and what comes out.
pub(super) struct Prepared {
    /// Address of the instruction.
    base: u64,
    before: Image,
    expected: Image,
    loose: Vec<Loose>,
}

/// Something that is not as the case says.
pub(super) struct Wrong {
    /// The line, when one is to blame.
    pub(super) line: Option<usize>,
    pub(super) what: String,
}

/// Registers and memory.
#[derive(Clone)]
struct Image {
    wave: Box<WaveState>,
    windows: Vec<u8>,
    buffer: Vec<u8>,
    scratch: Vec<u8>,
    lds: Vec<u8>,
}

impl Image {
    /// The registers alone.
    fn without_memory(&self) -> Image {
        Image {
            wave: self.wave.clone(),
            windows: Vec::new(),
            buffer: Vec::new(),
            scratch: Vec::new(),
            lds: Vec::new(),
        }
    }
}

fn mix(n: u32) -> u32 {
    let n = (n ^ n >> 15).wrapping_mul(0x2c1b_3c6d);
    (n ^ n >> 12).wrapping_mul(0x297a_2d39) ^ n >> 15
}

fn pattern(len: usize, seed: u32) -> Vec<u8> {
    (0..len).map(|i| mix(i as u32 ^ seed) as u8).collect()
}

impl World {
    pub(super) fn new() -> World {
        let memory = Memory::with_options(runtime::memory::Options {
            reserve: 64 << 20,
            ..runtime::memory::Options::default()
        })
        .expect("the host reserves address space");
        let alloc = |bytes: usize| memory.alloc(bytes as u64, 4096).expect("a little fits");
        let (windows, buffer, scratch) = (alloc(WINDOWS), alloc(BUFFER), alloc(WINDOWS));
        let mut wave = WaveState::new_boxed();
        for n in 0..VECTORS {
            for (lane, word) in wave.vector_mut(n).iter_mut().enumerate() {
                *word = mix((n as u32) << 8 | lane as u32 | 0x5000_0000);
            }
        }
        wave.agprs_touched = wave.agpr.len() as u32;
        for (n, word) in wave.sgpr.iter_mut().enumerate() {
            *word = mix(n as u32 | 0x3000_0000);
        }
        // Code 125 is no register.
        wave.sgpr[125] = 0;
        wave.sgpr[124] = u32::MAX;
        wave.mode = DEFAULT_MODE;
        World {
            windows,
            buffer,
            scratch,
            memory,
            lds: Lds::new(false),
            pattern: Image {
                wave,
                windows: pattern(WINDOWS, 0x1000_0000),
                buffer: pattern(BUFFER, 0x2000_0000),
                scratch: pattern(WINDOWS, 0x3000_0000),
                lds: pattern(WINDOWS, 0x4000_0000),
            },
        }
    }

    /// The states before and after that the lines of a run describe.
    pub(super) fn prepare(&self, code: &LoadedCode, run: &Run<'_>) -> Prepared {
        let base = code.base() + 4 * AROUND as u64;
        let before = self.before(code.gfx(), base, run);
        let (expected, loose) = self.expected(&before, base, run);
        Prepared {
            base,
            before,
            expected,
            loose,
        }
    }

    /// Runs and compares.
    pub(super) fn run(
        &mut self,
        engine: &dyn Engine,
        code: &LoadedCode,
        run: &Run<'_>,
        prepared: &Prepared,
    ) -> Vec<Wrong> {
        let Prepared {
            base,
            before,
            expected,
            loose,
        } = prepared;
        let base = *base;
        self.memory
            .write_bytes(self.windows, &before.windows)
            .expect("it is there");
        self.memory
            .write_bytes(self.buffer, &before.buffer)
            .expect("it is there");
        self.memory
            .write_bytes(self.scratch, &before.scratch)
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
                    hidden_base: self.scratch,
                    base: self.scratch,
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
            .read_bytes(self.windows, &mut after.windows)
            .expect("it is there");
        self.memory
            .read_bytes(self.buffer, &mut after.buffer)
            .expect("it is there");
        self.memory
            .read_bytes(self.scratch, &mut after.scratch)
            .expect("it is there");
        after.lds.copy_from_slice(self.lds.bytes());
        let mut names = stats.fallback_names.keys();
        if let Some(name) = names.find(|name| !run.handed.contains(name)) {
            let what = format!("falls back: {name}");
            return vec![Wrong { line: None, what }];
        }
        if let Err(what) = exit_matches(&exit, &run.lines[0].outcome) {
            return vec![Wrong { line: None, what }];
        }
        let pc = match (&exit, &run.lines[0].outcome) {
            (Exit::End, _) => after.wave.pc,
            (_, Outcome::Barrier(at)) => base
                .wrapping_add_signed(at.unwrap_or(run.bytes))
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
        let mut wrong = Vec::new();
        if !loose.is_empty() {
            let mut expected = expected.clone();
            for loose in loose {
                check_loose(loose, before, &after, &mut expected, run, &mut wrong);
            }
            compare(before, &expected, &after, run, &mut wrong);
        } else {
            compare(before, expected, &after, run, &mut wrong);
        }
        wrong.truncate(2);
        wrong
    }

    /// The state that the lines describe before the arrow.
    fn before(&self, gfx: Gfx, pc: u64, run: &Run<'_>) -> Image {
        let mut image = if run.memory {
            self.pattern.clone()
        } else {
            self.pattern.without_memory()
        };
        let wave = &mut image.wave;
        wave.scc = (run.turn & 1) as u32;
        wave.sgpr_count = if gfx.is_gfx6_7() { 104 } else { 102 };
        wave.pc = pc;
        image.wave.set_exec(run.exec);
        for assign in run.lines.iter().flat_map(|line| &line.input) {
            if let (Place::LdsSize, Value::Bits(bits)) = (assign.place, &assign.value) {
                image.lds.truncate(bits.hex[0] as usize);
            }
        }
        for lane in (0..LANES).rev() {
            for assign in &run.of_lane(lane).input {
                self.put(&mut image, assign.place, &assign.value, lane, pc, None);
            }
        }
        image
    }

    /// The state after, and what of it is not compared exactly.
    fn expected(&self, before: &Image, pc: u64, run: &Run<'_>) -> (Image, Vec<Loose>) {
        let mut image = before.clone();
        let mut loose = Vec::new();
        let exec = before.wave.exec();
        // A mask that is written is written whole.
        for assign in run.lines.iter().flat_map(|line| &line.output) {
            if let Place::Mask(first) = assign.place {
                image.wave.set_sgpr64(first, 0);
            }
        }
        for lane in 0..LANES {
            let active = exec >> lane & 1 != 0;
            for assign in &run.of_lane(lane).output {
                let of_lane = match assign.place {
                    Place::Vgpr(..) | Place::Mask(_) => true,
                    Place::Bytes(space, _) => space.is_per_lane(),
                    _ => false,
                };
                // Instructions that ignore EXEC name their lanes or all of them.
                let named = matches!(
                    assign.place,
                    Place::Vgpr(_, _, Lanes::One(_) | Lanes::Whole)
                );
                if of_lane && !active && !named {
                    continue;
                }
                self.put(
                    &mut image,
                    assign.place,
                    &assign.value,
                    lane,
                    pc,
                    Some(before),
                );
                let (register, count, only) = match assign.place {
                    Place::Vgpr(register, count, only) => (register, count, only),
                    _ => continue,
                };
                let how = match &assign.value {
                    Value::Any => How::Any,
                    Value::Nan => How::Nan,
                    Value::Near(bits) => How::Near(self.value(bits, lane, pc)),
                    _ => continue,
                };
                if matches!(only, Lanes::One(l) if usize::from(l) != lane) {
                    continue;
                }
                if only == Lanes::Whole {
                    let others = (register..register + count).filter(|&n| !run.names(n, lane));
                    loose.extend(others.map(|register| Loose {
                        register,
                        count: 1,
                        lane,
                        how,
                    }));
                    continue;
                }
                loose.push(Loose {
                    register,
                    count,
                    lane,
                    how,
                });
            }
        }
        // Where a line names lanes of a register, the others are not compared.
        for assign in run.lines.iter().flat_map(|line| &line.output) {
            if let Place::Vgpr(register, count, Lanes::One(_)) = assign.place {
                if run.has_whole(register) {
                    continue;
                }
                let active = |lane: &usize| exec >> lane & 1 != 0;
                let others = (0..LANES).filter(|lane| active(lane) && !run.names(register, *lane));
                loose.extend(others.map(|lane| Loose {
                    register,
                    count,
                    lane,
                    how: How::Any,
                }));
            }
        }
        (image, loose)
    }
}

impl Run<'_> {
    /// Is the result of one lane of a register named?
    fn names(&self, register: u16, lane: usize) -> bool {
        self.lines[0].output.iter().any(|a| {
            matches!(a.place, Place::Vgpr(r, _, Lanes::One(l)) if r == register && usize::from(l) == lane)
        })
    }

    /// Is the result of all lanes of a register given?
    fn has_whole(&self, register: u16) -> bool {
        self.lines[0].output.iter().any(|a| {
            matches!(a.place, Place::Vgpr(r, count, Lanes::Whole) if (r..r + count).contains(&register))
        })
    }

    /// The line in a lane.
    fn of_lane(&self, lane: usize) -> &Line {
        self.lines[(lane + self.turn) % self.lines.len()]
    }
}
