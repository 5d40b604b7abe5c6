//! State before and after a case: patterns, and what the lines say over them.

use frontend::{Gfx, LANES, WaveState};

use super::Line;
use super::assign::{Lanes, Place, Value};
use compare::{How, Loose, check_loose, compare};

mod compare;
mod values;

/// Bytes of a lane's window.
pub const WINDOW: usize = 256;

/// Bytes of all windows; LDS has this size unless the case says another.
pub const WINDOWS: usize = WINDOW * LANES;

/// VGPRs and accumulation registers.
pub const VECTORS: usize = 512;

/// Bytes of the wave's buffer.
pub const BUFFER: usize = 4096;

/// MODE as compilers set it: nearest even, denormals kept, DX10_CLAMP, IEEE.
const DEFAULT_MODE: u32 = 0x3f0;

/// What the symbols of values stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// Lane 0's window of global memory.
    pub windows: u64,
    /// The wave's buffer.
    pub buffer: u64,
    /// The wave's scratch.
    pub scratch: u64,
    /// The LDS aperture.
    pub shared: u64,
    /// The scratch aperture.
    pub private: u64,
}

/// Where cases run, and what lines do not mention.
pub struct Setting {
    /// Where memory is.
    pub addresses: Addresses,
    pattern: Image,
}

/// One run of some lines.
pub struct Run<'a> {
    /// Lane l holds line `l % lines.len()`, rotated by `turn`.
    pub lines: &'a [&'a Line],
    /// EXEC.
    pub exec: u64,
    /// How far lines are rotated; its lowest bit is SCC.
    pub turn: usize,
    /// Memory and LDS are written before and compared after.
    pub memory: bool,
}

/// What a run starts from and what comes out.
pub struct Prepared {
    /// Before.
    pub before: Image,
    expected: Image,
    loose: Vec<Loose>,
}

/// Something that is not as the case says.
#[derive(Debug)]
pub struct Wrong {
    /// The line, when one is to blame.
    pub line: Option<usize>,
    /// What it is.
    pub what: String,
}

/// Registers and memory.
#[derive(Clone)]
pub struct Image {
    /// Registers.
    pub wave: Box<WaveState>,
    /// The lanes' windows.
    pub windows: Vec<u8>,
    /// The wave's buffer.
    pub buffer: Vec<u8>,
    /// The wave's scratch.
    pub scratch: Vec<u8>,
    /// The LDS.
    pub lds: Vec<u8>,
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

impl Setting {
    /// A setting at these addresses.
    pub fn new(addresses: Addresses) -> Setting {
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
        Setting {
            addresses,
            pattern: Image {
                wave,
                windows: pattern(WINDOWS, 0x1000_0000),
                buffer: pattern(BUFFER, 0x2000_0000),
                scratch: pattern(WINDOWS, 0x3000_0000),
                lds: pattern(WINDOWS, 0x4000_0000),
            },
        }
    }

    /// What lines do not mention.
    pub fn pattern(&self) -> &Image {
        &self.pattern
    }

    /// The states before and after that the lines of a run of the instruction at `pc` describe.
    pub fn prepare(&self, gfx: Gfx, pc: u64, run: &Run<'_>) -> Prepared {
        let before = self.before(gfx, pc, run);
        let (expected, loose) = self.expected(&before, pc, run);
        Prepared {
            before,
            expected,
            loose,
        }
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
                    Value::Near(bits) => How::Near(self.addresses.value(bits, lane, pc)),
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

impl Prepared {
    /// What of a state is not as the lines say.
    pub fn compare(&self, after: &Image, run: &Run<'_>) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        if self.loose.is_empty() {
            compare(&self.before, &self.expected, after, run, &mut wrong);
            return wrong;
        }
        let mut expected = self.expected.clone();
        for loose in &self.loose {
            check_loose(loose, &self.before, after, &mut expected, run, &mut wrong);
        }
        compare(&self.before, &expected, after, run, &mut wrong);
        wrong
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
    pub fn of_lane(&self, lane: usize) -> &Line {
        self.lines[(lane + self.turn) % self.lines.len()]
    }
}
