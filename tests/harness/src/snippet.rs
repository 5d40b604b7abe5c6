//! Runs a few instructions on any engine, from a given state to all that can be observed of it.

use std::sync::Mutex;

use frontend::state::{LANES, WaveState};
use frontend::target::Gfx;
use runtime::engine::{Engine, Exit, Group, Scratch, Stats};
use runtime::lds::Lds;
use runtime::{LoadedCode, Memory};

use crate::random::Random;
use crate::words::prepared;

/// Bytes of the buffer that snippets may access.
pub const BUFFER: usize = 4096;
/// Bytes of LDS that snippets have.
pub const LDS: usize = 2048;

/// `s_barrier`, which ends a snippet: behind it every register is observable.
pub const BARRIER: u32 = 0xbf8a_0000;

/// Registers and memory before or after a snippet.
#[derive(Clone, PartialEq)]
pub struct State {
    /// The scalar file by code.
    pub sgpr: [u32; 128],
    /// SCC.
    pub scc: u32,
    /// MODE.
    pub mode: u32,
    /// VGPRs 0 to 31.
    pub vgpr: Vec<[u32; LANES]>,
    /// The buffer.
    pub buffer: Vec<u8>,
    /// The LDS.
    pub lds: Vec<u8>,
}

/// VGPRs that are compared.
pub const VGPRS: usize = 32;

/// What a snippet did.
#[derive(Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// State afterwards. After a fault registers may differ between engines.
    pub state: State,
}

/// A place to run snippets in: guest memory with one buffer. Use one per thread.
pub struct Bench {
    memory: Memory,
    buffer: u64,
    lds: Mutex<Lds>,
}

impl Default for Bench {
    fn default() -> Bench {
        Bench::new()
    }
}

impl Bench {
    /// Memory, a buffer, an LDS.
    pub fn new() -> Bench {
        let memory = Memory::new().expect("the host reserves address space");
        let buffer = memory
            .alloc(BUFFER as u64, 4096)
            .expect("a small buffer fits");
        Bench {
            memory,
            buffer,
            lds: Mutex::new(Lds::new(false)),
        }
    }

    /// Guest address of the buffer.
    pub fn buffer(&self) -> u64 {
        self.buffer
    }

    /// A state with random registers, and the prepared registers set up for memory instructions.
    pub fn random_state(&self, r: &mut Random, gfx: Gfx) -> State {
        let mut s = State {
            sgpr: std::array::from_fn(|_| r.word()),
            scc: r.below(2),
            mode: 0,
            vgpr: vec![[0; LANES]; VGPRS],
            buffer: (0..BUFFER).map(|_| r.next() as u8).collect(),
            lds: (0..LDS).map(|_| r.next() as u8).collect(),
        };
        for v in &mut s.vgpr {
            // Half of the registers hold one value in all lanes, or values near one another.
            let base = r.word();
            let kind = r.below(4);
            for (lane, word) in v.iter_mut().enumerate() {
                *word = match kind {
                    0 => base,
                    1 => base.wrapping_add(lane as u32 * 4),
                    _ => r.word(),
                };
            }
        }
        let rounding = if r.once_in(3) { r.below(16) } else { 0 };
        let denormals = *r.pick(&[0xf0, 0xf0, 0xc0, 0x30, 0x00, 0x50, 0xa0]);
        s.mode = rounding | denormals | r.below(4) << 8;
        if gfx.is_gfx9() && r.once_in(4) {
            s.mode |= 1 << 23;
        }
        set64(&mut s.sgpr, 126, r.lanes());
        set64(&mut s.sgpr, 106, r.lanes());
        if !gfx.is_gfx9() {
            s.sgpr[124] = if r.once_in(4) {
                r.below(4096)
            } else {
                u32::MAX
            };
        }
        set64(&mut s.sgpr, prepared::GLOBAL_S as usize, self.buffer);
        let pattern = r.below(6);
        let start = r.below(64) * 4;
        let align = *r.pick(&[!3u32, !3, !1, !0, !7]);
        for lane in 0..LANES {
            let offset = match pattern {
                0 => start,
                1 => start + lane as u32 * 4,
                2 => start + lane as u32 * 16,
                3 => start + (63 - lane as u32) * 8,
                4 => start + (lane as u32 & 15) * 4,
                _ => r.below(BUFFER as u32 - 64) & align,
            };
            let address = self.buffer + u64::from(offset);
            s.vgpr[prepared::GLOBAL_V as usize][lane] = address as u32;
            s.vgpr[prepared::GLOBAL_V as usize + 1][lane] = (address >> 32) as u32;
            s.vgpr[prepared::OFFSET_V as usize][lane] = offset;
            let lds = if r.once_in(20) {
                r.word()
            } else {
                offset % LDS as u32
            };
            s.vgpr[prepared::LDS_V as usize][lane] = lds;
        }
        s
    }

    /// Runs `code` (which should end with [`BARRIER`]) from `before`.
    pub fn run(&self, engine: &dyn Engine, code: &LoadedCode, before: &State) -> Outcome {
        let mut wave = WaveState::new_boxed();
        wave.sgpr = before.sgpr;
        wave.scc = before.scc;
        wave.mode = before.mode;
        wave.vgpr[..VGPRS].copy_from_slice(&before.vgpr);
        wave.pc = code.base();
        wave.vgpr_count = 256;
        self.memory
            .write_bytes(self.buffer, &before.buffer)
            .expect("the buffer is there");
        let mut lds = self.lds.lock().expect("no holder of the lock panics");
        lds.reset(LDS);
        lds.bytes_mut().copy_from_slice(&before.lds);
        let mut stats = Stats::default();
        let mut fuel = 10_000;
        let exit = {
            let mut group = Group {
                memory: &self.memory,
                code,
                gfx: code.gfx(),
                lds: &mut lds,
                scratch: Scratch::default(),
                workgroup: [0; 3],
                wave: 0,
                waves: 1,
                checked: false,
                counting: false,
                stats: &mut stats,
            };
            engine.run(&mut wave, &mut group, &mut fuel)
        };
        let mut buffer = vec![0; BUFFER];
        self.memory
            .read_bytes(self.buffer, &mut buffer)
            .expect("the buffer is there");
        let state = State {
            sgpr: wave.sgpr,
            scc: wave.scc,
            mode: wave.mode,
            vgpr: wave.vgpr[..VGPRS].to_vec(),
            buffer,
            lds: lds.bytes().to_vec(),
        };
        Outcome { exit, state }
    }

    /// Puts instructions into guest memory.
    pub fn load(&self, gfx: Gfx, bytes: &[u8]) -> LoadedCode {
        LoadedCode::from_bytes(&self.memory, gfx, bytes).expect("a few instructions fit")
    }

    /// Gives code back.
    pub fn unload(&self, code: &LoadedCode) {
        self.memory.free(code.base()).expect("it was loaded here");
    }
}

/// Writes a 64-bit pair.
pub fn set64(sgpr: &mut [u32; 128], code: usize, value: u64) {
    sgpr[code] = value as u32;
    sgpr[code + 1] = (value >> 32) as u32;
}

/// The first few differences between two states, in words.
pub fn differences(a: &State, b: &State) -> Vec<String> {
    let mut out = Vec::new();
    for (i, (x, y)) in a.sgpr.iter().zip(&b.sgpr).enumerate() {
        if x != y {
            out.push(format!("s{i}: {x:08x} / {y:08x}"));
        }
    }
    if a.scc != b.scc {
        out.push(format!("scc: {} / {}", a.scc, b.scc));
    }
    if a.mode != b.mode {
        out.push(format!("mode: {:08x} / {:08x}", a.mode, b.mode));
    }
    for (n, (x, y)) in a.vgpr.iter().zip(&b.vgpr).enumerate() {
        for lane in 0..LANES {
            if x[lane] != y[lane] {
                out.push(format!("v{n}[{lane}]: {:08x} / {:08x}", x[lane], y[lane]));
            }
        }
    }
    for (what, x, y) in [("buffer", &a.buffer, &b.buffer), ("lds", &a.lds, &b.lds)] {
        for (i, (p, q)) in x.iter().zip(y).enumerate() {
            if p != q {
                out.push(format!("{what}[0x{i:x}]: {p:02x} / {q:02x}"));
            }
        }
    }
    out
}
