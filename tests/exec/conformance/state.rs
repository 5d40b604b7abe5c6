//! State before and after a case: patterns, the values of the lines, and the comparison.

use frontend::{Gfx, LANES, WaveState};
use harness::case::assign::{Bits, Item, LaneList, Lanes, Place, Space, Symbol, Value};
use harness::case::{Line, Outcome};
use runtime::engine::{Engine, Group, PRIVATE_BASE, SHARED_BASE, Scratch, Stats};
use runtime::{Exit, Lds, LoadedCode, Memory};

use super::exit_matches;

/// `s_barrier`.
pub(super) const BARRIER: u32 = 0xbf8a_0000;

/// Barriers before and behind the instruction.
pub(super) const AROUND: usize = 16;

/// Bytes of a lane's window.
const WINDOW: usize = 256;

/// Bytes of all windows; LDS has this size unless the case says another.
const WINDOWS: usize = WINDOW * LANES;

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
    /// Lane l holds line `l % lines.len()`, turned by `turn`.
    pub(super) lines: &'a [&'a Line],
    pub(super) exec: u64,
    pub(super) turn: usize,
    /// Size of the instructions.
    pub(super) bytes: i64,
    /// Memory and LDS are written before and compared after.
    pub(super) memory: bool,
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

/// A value in the result that is not compared exactly.
struct Loose {
    register: u16,
    count: u16,
    lane: usize,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    Any,
    Nan,
    /// One off in the last place.
    Near(u64),
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
            exact: false,
        })
        .expect("the host reserves address space");
        let alloc = |bytes: usize| memory.alloc(bytes as u64, 4096).expect("a little fits");
        let (windows, buffer, scratch) = (alloc(WINDOWS), alloc(BUFFER), alloc(WINDOWS));
        let mut wave = WaveState::new_boxed();
        for (n, register) in wave.vgpr.iter_mut().enumerate() {
            for (lane, word) in register.iter_mut().enumerate() {
                *word = mix((n as u32) << 8 | lane as u32 | 0x5000_0000);
            }
        }
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
        let exit = {
            let mut stats = Stats::default();
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
                // Lane instructions that ignore EXEC name their lanes.
                let named = matches!(assign.place, Place::Vgpr(_, _, Lanes::One(_)));
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
                let named = |lane: usize| {
                    run.lines[0].output.iter().any(|a| {
                        matches!(a.place, Place::Vgpr(r, _, Lanes::One(l)) if r == register && usize::from(l) == lane)
                    })
                };
                let others = (0..LANES).filter(|&lane| exec >> lane & 1 != 0 && !named(lane));
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

    /// The low 64 bits of a value in a lane.
    fn value(&self, bits: &Bits, lane: usize, pc: u64) -> u64 {
        let dword = |n| u64::from(bits.hex.get(n).copied().unwrap_or(0));
        let number = dword(0) | dword(1) << 32;
        let window = (lane * WINDOW) as u64;
        bits.symbols.iter().fold(number, |sum, symbol| {
            sum.wrapping_add(match symbol {
                Symbol::Mem => self.windows + window,
                Symbol::Mem0 => self.windows,
                Symbol::Window => window,
                Symbol::Buffer => self.buffer,
                Symbol::Code => pc,
                Symbol::Lane => lane as u64,
                Symbol::Mem0Image => self.windows / 256,
                Symbol::BufferImage => self.buffer / 256,
                Symbol::Scratch => self.scratch,
                Symbol::Shared => SHARED_BASE,
                Symbol::Private => PRIVATE_BASE,
            })
        })
    }

    /// Dword `n` of a value in a lane.
    fn dword(&self, bits: &Bits, n: usize, lane: usize, pc: u64) -> u32 {
        match n {
            0 => self.value(bits, lane, pc) as u32,
            1 => (self.value(bits, lane, pc) >> 32) as u32,
            _ => bits.hex.get(n).copied().unwrap_or(0),
        }
    }

    /// Puts the lane's value into its place; `before` is there for results.
    fn put(
        &self,
        image: &mut Image,
        place: Place,
        value: &Value,
        lane: usize,
        pc: u64,
        before: Option<&Image>,
    ) {
        let bits = match value {
            Value::Bits(bits) => bits,
            Value::List(list) => return put_list(image, place, list, lane, before),
            Value::Near(_) | Value::Any | Value::Nan => return,
        };
        let low = self.dword(bits, 0, lane, pc);
        let wave = &mut image.wave;
        match place {
            Place::Vgpr(_, _, Lanes::One(only)) if usize::from(only) != lane => {}
            Place::Vgpr(first, count, _) => {
                for n in 0..count {
                    wave.vgpr[usize::from(first + n)][lane] = self.dword(bits, n.into(), lane, pc);
                }
            }
            Place::Sgpr(first, count) => {
                for n in 0..count {
                    wave.sgpr[usize::from(first + n)] = self.dword(bits, n.into(), 0, pc);
                }
            }
            Place::Mask(first) => {
                let rest = wave.sgpr64(first) & !(1 << lane);
                wave.set_sgpr64(first, rest | u64::from(low & 1) << lane);
            }
            Place::Scc => wave.scc = low,
            Place::Mode => wave.mode = low,
            Place::Trapsts => wave.trapsts = low,
            Place::Hwreg(n) => wave.hwreg[usize::from(n)] = low,
            Place::LdsSize => {}
            Place::Bytes(space, offset) => {
                for n in 0..bits
                    .digits
                    .max(if bits.symbols.is_empty() { 0 } else { 16 })
                    / 2
                {
                    let byte = self.dword(bits, n / 4, lane, pc) >> (n % 4 * 8);
                    let at = offset as usize + n;
                    let (bytes, at) = match space {
                        Space::Mem => (&mut image.windows, lane * WINDOW + at),
                        Space::Lds => (&mut image.lds, lane * WINDOW + at),
                        Space::Scratch => (&mut image.scratch, at / 4 * 256 + lane * 4 + at % 4),
                        Space::Buffer => (&mut image.buffer, at),
                        Space::Group => (&mut image.lds, at),
                    };
                    // A window that a small LDS does not have.
                    if let Some(to) = bytes.get_mut(at) {
                        *to = byte as u8;
                    }
                }
            }
        }
    }
}

impl Run<'_> {
    /// The line in a lane.
    fn of_lane(&self, lane: usize) -> &Line {
        self.lines[(lane + self.turn) % self.lines.len()]
    }
}

/// Compares one value loosely and takes it out of the exact comparison.
fn check_loose(
    loose: &Loose,
    before: &Image,
    after: &Image,
    expected: &mut Image,
    run: &Run<'_>,
    wrong: &mut Vec<Wrong>,
) {
    let read = |n: u16| u64::from(after.wave.vgpr[usize::from(loose.register + n)][loose.lane]);
    let got = read(0) | if loose.count > 1 { read(1) << 32 } else { 0 };
    let good = match loose.how {
        How::Any => true,
        How::Near(value) => got.wrapping_sub(value).wrapping_add(1) <= 2,
        How::Nan if loose.count > 1 => got << 1 > 0x7ff0_0000_0000_0000 << 1,
        How::Nan => {
            (got as u32) << 1 > 0x7f80_0000 << 1 || (got >> 16 == 0 && got & 0x7fff > 0x7c00)
        }
    };
    if good {
        for n in loose.register..loose.register + loose.count {
            let n = usize::from(n);
            expected.wave.vgpr[n][loose.lane] = after.wave.vgpr[n][loose.lane];
        }
    } else {
        let line = run.of_lane(loose.lane);
        let what = match loose.how {
            How::Near(value) => format!("{value:08x} or next to it"),
            _ => "a NaN".to_owned(),
        };
        let what = format!(
            "v{} lane {}: got {got:08x}, right is {what}; from {}",
            loose.register,
            loose.lane,
            inputs(before, line, loose.lane)
        );
        wrong.push(Wrong {
            line: Some(line.line),
            what,
        });
        for n in loose.register..loose.register + loose.count {
            let n = usize::from(n);
            expected.wave.vgpr[n][loose.lane] = after.wave.vgpr[n][loose.lane];
        }
    }
}

/// Puts a lane's item of a list into a register.
fn put_list(image: &mut Image, place: Place, list: &LaneList, lane: usize, before: Option<&Image>) {
    let exec = image.wave.exec();
    let exec = before.map_or(exec, |before| before.wave.exec());
    let item = |mut item: Item| {
        if item == Item::First {
            item = Item::Number(if exec == 0 { 0 } else { exec.trailing_zeros() });
        }
        let Some(register) = list.register else {
            return match item {
                Item::Number(n) => Some(n),
                _ => None,
            };
        };
        if let (Item::Number(n), Some(instead)) = (item, list.inactive)
            && exec >> n & 1 == 0
        {
            item = instead;
        }
        match item {
            Item::Zero => Some(list.plus),
            Item::Number(n) => {
                let from = before.map_or(&image.wave, |before| &before.wave);
                let word = from.vgpr[usize::from(register)][n as usize];
                Some(word.wrapping_add(list.plus))
            }
            _ => None,
        }
    };
    let Some(word) = item(list.items[lane]) else {
        return;
    };
    match place {
        Place::Vgpr(first, _, _) => image.wave.vgpr[usize::from(first)][lane] = word,
        Place::Sgpr(first, _) if lane == 0 => image.wave.sgpr[usize::from(first)] = word,
        _ => {}
    }
}

/// The registers that a line sets, as they are in a lane.
fn inputs(before: &Image, line: &Line, lane: usize) -> String {
    let mut text = String::new();
    for assign in &line.input {
        if let Place::Vgpr(first, count, _) = assign.place {
            for n in first..first + count {
                let word = before.wave.vgpr[usize::from(n)][lane];
                text.push_str(&format!("v{n}={word:08x} "));
            }
        }
        if let Place::Sgpr(first, count) = assign.place {
            for n in first..first + count {
                text.push_str(&format!("s{n}={:08x} ", before.wave.sgpr[usize::from(n)]));
            }
        }
    }
    text.push_str(&format!("mode={:x}", before.wave.mode));
    text
}

/// Compares everything.
fn compare(before: &Image, expected: &Image, after: &Image, run: &Run<'_>, wrong: &mut Vec<Wrong>) {
    let (b, e, a) = (&before.wave, &expected.wave, &after.wave);
    let mut differ =
        |line: Option<&Line>, lane: usize, name: String, was: u64, right: u64, got: u64| {
            if right != got {
                let from = inputs(before, line.unwrap_or(run.lines[0]), lane);
                let what = format!(
                    "{name}: got {got:08x}, right is {right:08x} (was {was:08x}); from {from}"
                );
                wrong.push(Wrong {
                    line: line.map(|line| line.line),
                    what,
                });
            }
        };
    for n in 0..256 {
        if e.vgpr[n] != a.vgpr[n] {
            for lane in 0..LANES {
                let [was, right, got] = [b, e, a].map(|w| u64::from(w.vgpr[n][lane]));
                differ(
                    Some(run.of_lane(lane)),
                    lane,
                    format!("v{n} lane {lane}"),
                    was,
                    right,
                    got,
                );
            }
        }
    }
    for n in 0..128 {
        let [was, right, got] = [b, e, a].map(|w| u64::from(w.sgpr[n]));
        differ(None, 0, format!("s{n}"), was, right, got);
    }
    for (name, [was, right, got]) in [
        ("scc", [b, e, a].map(|w| w.scc)),
        ("mode", [b, e, a].map(|w| w.mode)),
        ("trapsts", [b, e, a].map(|w| w.trapsts)),
    ] {
        differ(
            None,
            0,
            name.to_owned(),
            was.into(),
            right.into(),
            got.into(),
        );
    }
    for n in 0..32 {
        let [was, right, got] = [b, e, a].map(|w| u64::from(w.hwreg[n]));
        differ(None, 0, format!("hw{n}"), was, right, got);
    }
    for (name, [was, right, got], lane_size) in [
        ("mem", [before, expected, after].map(|i| &i.windows), WINDOW),
        (
            "buf",
            [before, expected, after].map(|i| &i.buffer),
            usize::MAX,
        ),
        (
            "scr",
            [before, expected, after].map(|i| &i.scratch),
            usize::MAX,
        ),
        ("lds", [before, expected, after].map(|i| &i.lds), WINDOW),
    ] {
        if right != got {
            for at in 0..right.len() {
                let lane = (at / lane_size).min(LANES - 1);
                let [was, right, got] = [was, right, got].map(|bytes| u64::from(bytes[at]));
                let name = format!("{name} byte {:x} of lane {lane}", at % lane_size);
                differ(Some(run.of_lane(lane)), lane, name, was, right, got);
            }
        }
    }
}
