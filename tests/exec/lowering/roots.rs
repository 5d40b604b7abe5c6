//! Reciprocals of roots of f64 in code, against the interpreter's integer arithmetic: special sources, sources whose results lie almost
//! in the middle between two numbers, and others at random (`ROUNDS=` for more). And functions of f16, of all there are.

use frontend::WaveState;
use frontend::state::{LANES, mode};
use harness::random::Random;
use lower::host::{Host, Isa};
use lower::ir::build::{Build, types};
use lower::ir::functions::LaneFn;
use lower::ir::{Float, Op, Slot};
use lower::jit::{Compiled, HostLevel, Jit};
use lower::options::Options;
use runtime::math;

use super::operations::run;
use super::{hosts, region_of};

fn compiled(b: Build, writes: Writes, (level, isa): (HostLevel, Option<Isa>)) -> Compiled {
    let options = Options {
        exact_nan: true,
        host: Host::of(isa),
        ..Options::default()
    };
    let region = region_of(b, writes.0, writes.1);
    let mut jit = Jit::new(level).expect("this host");
    let compiled = jit.compile(region, &options).expect("it compiles");
    assert_eq!(compiled.refused(), None);
    compiled
}

type Writes = (Vec<(Slot, lower::ir::Val)>, Vec<(u16, lower::ir::Val)>);

/// Code for the root's reciprocal of v[0:1] in v[2:3], and of s[0:1] in s[16:17].
fn rsq(host: (HostLevel, Option<Isa>)) -> Compiled {
    let b = Build::new();
    let lanes = [0, 1].map(|n| b.leaf(Op::ReadV(n), types::L32));
    let wave = [0, 1].map(|n| b.leaf(Op::ReadS(Slot::Sgpr(n)), types::W32));
    let [lanes, wave] = [lanes, wave].map(|words| {
        let x = b.pure(Op::Pair, &words);
        let d = b.pure(Op::FRsq(Float::F64), &[x]);
        [Op::Lo, Op::Hi].map(|half| b.pure(half, &[d]))
    });
    let writes_s = vec![(Slot::Sgpr(16), wave[0]), (Slot::Sgpr(17), wave[1])];
    let writes_v = vec![(2, lanes[0]), (3, lanes[1])];
    compiled(b, (writes_s, writes_v), host)
}

const SPECIAL: [u64; 16] = [
    0,
    1 << 63,
    1,
    0x800f_ffff_ffff_ffff,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x0020_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7fd0_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0xfff8_0000_0000_1234,
    0xbff0_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0x4000_0000_0000_0000,
];

/// A source: mostly a number of any exponent.
fn source(r: &mut Random) -> u64 {
    const FRACTION: u64 = (1 << 52) - 1;
    let near = |power: u64, r: &mut Random| {
        // Next to a power of four the results lie next to the middle between two numbers, for every second source.
        let bits = r.below(20);
        let away = u64::from(r.below(1 << bits));
        match r.once_in(2) {
            true => power + away,
            false => power - 1 - away,
        }
    };
    match r.below(8) {
        0 => near(0x3ff << 52, r),
        1 => near(u64::from(1 + r.below(2045)) << 52, r),
        2 => r.next(),
        3 => r.next() & FRACTION >> r.below(52),
        _ => r.next() & FRACTION | u64::from(1022 + r.below(4)) << 52,
    }
}

#[test]
fn reciprocals_of_roots_of_doubles() {
    let rounds = harness::environment::number("ROUNDS");
    let rounds = rounds.unwrap_or(4000);
    for host in hosts() {
        let code = rsq(host);
        let mut wave = WaveState::new_boxed();
        let mut frame = vec![[0; LANES]; 64];
        let mut r = Random::new(0x2545_f491);
        for round in 0..rounds {
            // One special lane makes its group take the slow path.
            let specials = round % 3;
            let sources: [u64; LANES] = std::array::from_fn(|_| match specials {
                0 if r.once_in(16) => *r.pick(&SPECIAL),
                1 => r.next() >> 12 | u64::from(1000 + r.below(40)) << 52,
                _ => source(&mut r),
            });
            for (lane, x) in sources.iter().enumerate() {
                wave.vgpr[0][lane] = *x as u32;
                wave.vgpr[1][lane] = (x >> 32) as u32;
            }
            let scalar = sources[round as usize % LANES];
            wave.sgpr[0] = scalar as u32;
            wave.sgpr[1] = (scalar >> 32) as u32;
            wave.set_exec(u64::MAX);
            run(&code, &mut wave, &mut frame);
            let joined = |lo: u32, hi: u32| u64::from(lo) | u64::from(hi) << 32;
            let of_wave = joined(wave.sgpr[16], wave.sgpr[17]);
            assert_eq!(of_wave, math::rsq_f64(scalar), "{scalar:#x} on {host:?}");
            for (lane, x) in sources.into_iter().enumerate() {
                let d = joined(wave.vgpr[2][lane], wave.vgpr[3][lane]);
                assert_eq!(d, math::rsq_f64(x), "{x:#x} on {host:?}");
            }
        }
    }
}

/// Sources from 1 to 4 whose reciprocal roots are the closest to the middle between two f32.
const ALMOST_BETWEEN: [u32; 16] = [
    0x403a_18e3,
    0x4009_f038,
    0x407f_fffe,
    0x3fba_2a39,
    0x3fd2_208f,
    0x3fed_3230,
    0x3f8a_5c86,
    0x3fda_e942,
    0x407d_e1e1,
    0x407d_bbac,
    0x401d_d16a,
    0x4042_ed16,
    0x3fd1_9305,
    0x4035_5499,
    0x3fa4_9c14,
    0x3fd7_aea0,
];

#[test]
fn reciprocals_of_roots_of_singles_almost_between_two() {
    for host in hosts() {
        let b = Build::new();
        let lanes = b.leaf(Op::ReadV(0), types::L32);
        let wave = b.leaf(Op::ReadS(Slot::Sgpr(0)), types::W32);
        let [lanes, wave] = [lanes, wave].map(|x| b.pure(Op::FRsq(Float::F32), &[x]));
        let code = compiled(b, (vec![(Slot::Sgpr(16), wave)], vec![(1, lanes)]), host);
        let mut wave = WaveState::new_boxed();
        let mut frame = vec![[0; LANES]; 64];
        for (i, x) in ALMOST_BETWEEN.into_iter().enumerate() {
            // Times powers of four.
            let sources: [u32; LANES] =
                std::array::from_fn(|lane| x - (32 << 24) + ((lane as u32) << 24));
            wave.vgpr[0] = sources;
            wave.sgpr[0] = sources[4 * i];
            wave.set_exec(u64::MAX);
            run(&code, &mut wave, &mut frame);
            assert_eq!(
                wave.sgpr[16],
                math::rsq_f32(wave.sgpr[0]),
                "{x:#x} on {host:?}"
            );
            for (lane, x) in sources.into_iter().enumerate() {
                let d = wave.vgpr[1][lane];
                assert_eq!(d, math::rsq_f32(x), "{x:#x} on {host:?}");
            }
        }
    }
}

/// A function of f16, and what it is made of.
type OfHalf = (LaneFn, fn(u16) -> u16);

#[test]
fn functions_of_every_half() {
    let functions: [OfHalf; 3] = [
        (LaneFn::ExpF16, math::exp_f16),
        (LaneFn::LogF16, math::log_f16),
        (LaneFn::RsqF16, math::rsq_f16),
    ];
    for host in hosts().into_iter().filter(|host| host.1.is_some()) {
        for (f, expected) in functions {
            let b = Build::new();
            let x = b.leaf(Op::ReadV(0), types::L32);
            let d = b.call(f, mode::DENORM_F16_F64, &[x]);
            let code = compiled(b, (Vec::new(), vec![(1, d)]), host);
            let mut wave = WaveState::new_boxed();
            let mut frame = vec![[0; LANES]; 64];
            for first in (0..=u16::MAX).step_by(LANES) {
                // What is in the high halves does not matter.
                for lane in 0..LANES {
                    let x = u32::from(first) + lane as u32;
                    wave.vgpr[0][lane] = x | x.wrapping_mul(0x9e37_0000) & 0xffff_0000;
                }
                wave.set_exec(u64::MAX);
                run(&code, &mut wave, &mut frame);
                for lane in 0..LANES {
                    let x = first + lane as u16;
                    let d = wave.vgpr[1][lane];
                    assert_eq!(d, u32::from(expected(x)), "{f:?} of {x:#x} on {host:?}");
                }
            }
        }
    }
}
