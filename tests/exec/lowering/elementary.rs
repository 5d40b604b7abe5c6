//! Elementary functions that the wide back end computes inside segments, against those of the interpreter, for a part
//! of all f32. `EVERY=1` goes through all of them (a release build takes some minutes).

use std::sync::atomic::{AtomicU32, Ordering};

use frontend::WaveState;
use frontend::state::LANES;

use lower::host::{Host, Isa};
use lower::ir::build::{Build, types};
use lower::ir::functions::LaneFn;
use lower::ir::{Float, Op, Val};
use lower::jit::{Compiled, HostLevel, Jit};
use lower::options::Options;
use runtime::math;

use super::operations::run;
use super::{can_run, region_of};

/// A function by lane and for one number.
struct Tested {
    name: &'static str,
    by_lane: fn(&Build, Val) -> Val,
    expected: fn(u32) -> u32,
}

const FUNCTIONS: [Tested; 3] = [
    Tested {
        name: "exp",
        by_lane: |b, x| b.call(LaneFn::ExpF32, 0, &[x]),
        expected: math::exp_f32,
    },
    Tested {
        name: "log",
        by_lane: |b, x| b.call(LaneFn::LogF32, 0, &[x]),
        expected: math::log_f32,
    },
    Tested {
        name: "rsq",
        by_lane: |b, x| b.pure(Op::FRsq(Float::F32), &[x]),
        expected: math::rsq_f32,
    },
];

/// Registers that the code works on, and the first with results.
const REGISTERS: usize = 8;

/// Numbers of which those close by are all taken.
const NEAR: [u32; 10] = [
    0,
    0x8000_0000,
    0x0080_0000,
    0x8080_0000,
    0x7f80_0000,
    0xff80_0000,
    0x3f80_0000,
    // -126 and 128
    0xc2fc_0000,
    0x4300_0000,
    // The root of 1/2.
    0x3f35_04f4,
];

/// Arguments of `exp` whose results are hardest to round.
const HARD: [u32; 4] = [0x3b42_9d37, 0xbcf3_a937, 0xb52d_1f9a, 0xb8d3_d026];

/// Arguments of `rsq` whose results are hardest to round.
const HARD_ROOTS: [u32; 4] = [0x3f7f_fffe, 0x3f09_f038, 0x3fba_2a39, 0x3fda_e942];

fn compiled(tested: &Tested, isa: Isa) -> Compiled {
    let b = Build::new();
    let mut writes_v = Vec::new();
    for n in 0..REGISTERS as u16 {
        let v = b.leaf(Op::ReadV(n), types::L32);
        writes_v.push((n + REGISTERS as u16, (tested.by_lane)(&b, v)));
    }
    let region = region_of(b, Vec::new(), writes_v);
    let options = Options {
        host: Host::of(Some(isa)),
        ..Options::default()
    };
    let mut jit = Jit::new(HostLevel::Native).expect("this host");
    let compiled = jit.compile(region, &options).expect("it compiles");
    assert!(
        compiled.is_wide(),
        "{}: {:?}",
        tested.name,
        compiled.refused()
    );
    compiled
}

/// Compares the results of some arguments, `REGISTERS * LANES` of them at a time.
struct Check<'a> {
    name: String,
    code: &'a Compiled,
    expected: fn(u32) -> u32,
    wave: Box<WaveState>,
    frame: Vec<[u32; LANES]>,
    waiting: Vec<u32>,
}

impl Check<'_> {
    fn argument(&mut self, x: u32) {
        self.waiting.push(x);
        if self.waiting.len() == REGISTERS * LANES {
            self.all();
        }
    }

    fn all(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for (i, &x) in waiting.iter().enumerate() {
            self.wave.vgpr[i / LANES][i % LANES] = x;
        }
        self.wave.set_exec(u64::MAX);
        run(self.code, &mut self.wave, &mut self.frame);
        for (i, &x) in waiting.iter().enumerate() {
            let actual = self.wave.vgpr[REGISTERS + i / LANES][i % LANES];
            let expected = (self.expected)(x);
            assert_eq!(actual, expected, "{} of {x:#010x}", self.name);
        }
    }
}

fn check(isa: Isa) {
    const PIECE: u32 = 1 << 20;
    let every = std::env::var_os("EVERY").is_some();
    let step = if every { 1 } else { 4099 };
    for tested in FUNCTIONS {
        let code = compiled(&tested, isa);
        let next = AtomicU32::new(0);
        let work = || {
            let mut check = Check {
                name: format!("{} on {isa:?}", tested.name),
                code: &code,
                expected: tested.expected,
                wave: WaveState::new_boxed(),
                frame: vec![[0; LANES]; 64],
                waiting: Vec::new(),
            };
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                let Some(first) = piece.checked_mul(PIECE) else {
                    break;
                };
                for x in (first..=first + (PIECE - 1)).step_by(step) {
                    check.argument(x);
                }
            }
            for near in NEAR {
                for x in near.wrapping_sub(500)..near.wrapping_sub(500).saturating_add(1000) {
                    check.argument(x);
                }
            }
            HARD.into_iter()
                .chain(HARD_ROOTS)
                .for_each(|x| check.argument(x));
            check.all();
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
    }
}

#[test]
fn every_argument_with_avx2() {
    if can_run(Isa::Avx2) {
        check(Isa::Avx2);
    }
}

#[test]
fn every_argument_with_avx512() {
    if can_run(Isa::Avx512) {
        check(Isa::Avx512);
    }
}
