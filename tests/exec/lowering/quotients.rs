//! Quotients as compilers make them where a result may be off by some last places: of mantissas, scaled by the
//! difference of the exponents. Against single numbers.

use frontend::WaveState;
use frontend::state::LANES;
use lower::host::{Host, Isa};
use lower::ir::build::{Build, types};
use lower::ir::{Float, Flush, Op, Val, Width};
use lower::jit::{HostLevel, Jit};
use lower::options::Options;
use runtime::math;

use super::operations::run;
use super::{can_run, region_of};

const KEEP: Flush = Flush {
    src: false,
    dst: false,
};

/// Numbers of all kinds, and what is near the ends of the exponents.
#[rustfmt::skip]
const NUMBERS: [u32; 32] = [
    0, 1, 0x0040_0000, 0x007f_ffff, 0x0080_0000, 0x0080_0001, 0x00ff_ffff, 0x0100_0000,
    0x0b80_0000, 0x2f12_3456, 0x3eff_ffff, 0x3f00_0000, 0x3f7f_ffff, 0x3f80_0000, 0x3f80_0001, 0x3fc0_0000,
    0x4049_0fdb, 0x4b7f_ffff, 0x5f00_0001, 0x7e80_0000, 0x7eff_ffff, 0x7f00_0000, 0x7f7f_ffff, 0x7f80_0000,
    0x7f80_0001, 0x7fc0_0000, 0x7fc1_2345, 0x7fff_ffff, 0x0000_1234, 0x0123_4567, 0x7654_3210, 0x3333_3333,
];

fn quotient(over: Option<u32>, under: u32) -> u32 {
    let float = f32::from_bits;
    let reciprocal = 1.0 / float(math::frexp_mant_f32(under));
    let (mantissa, exponent) = match over {
        Some(over) => (
            float(math::frexp_mant_f32(over)) * reciprocal,
            math::frexp_exp_f32(over),
        ),
        None => (reciprocal, 0),
    };
    let exponent = exponent - math::frexp_exp_f32(under);
    math::ldexp_f32(mantissa.to_bits(), exponent, math::Env::f32_of_mode(0xf0))
}

fn by_lane(b: &Build, over: Option<Val>, under: Val) -> Val {
    let one = b.constant(Width::W32, 1f32.to_bits().into());
    let mantissa = |v| b.pure(Op::FrexpMant(Float::F32), &[v]);
    let exponent = |v| b.pure(Op::FrexpExp(Float::F32), &[v]);
    let reciprocal = b.pure(Op::FDiv(Float::F32, KEEP), &[one, mantissa(under)]);
    let (product, from) = match over {
        Some(over) => (
            b.pure(Op::FMul(Float::F32, KEEP), &[mantissa(over), reciprocal]),
            exponent(over),
        ),
        None => (reciprocal, b.constant(Width::W32, 0)),
    };
    let scale = b.pure(Op::Sub, &[from, exponent(under)]);
    b.pure(Op::Ldexp(Float::F32, KEEP), &[product, scale])
}

fn check(isa: Isa) {
    let b = Build::new();
    let [over, under] = [0, 1].map(|n| b.leaf(Op::ReadV(n), types::L32));
    let results = [Some(over), None].map(|over| by_lane(&b, over, under));
    let region = region_of(b, Vec::new(), vec![(2, results[0]), (3, results[1])]);
    let options = Options {
        host: Host::of(Some(isa)),
        ..Options::default()
    };
    let mut jit = Jit::new(HostLevel::Native).expect("this host");
    let code = jit.compile(region, &options).expect("it compiles");
    assert!(code.is_wide(), "{:?}", code.refused());
    let mut wave = WaveState::new_boxed();
    let mut frame = vec![[0; LANES]; 64];
    let number = |n: usize| NUMBERS[n % LANES / 2] | (n as u32 & 1) << 31;
    for away in 0..LANES {
        for lane in 0..LANES {
            wave.vgpr[0][lane] = number(lane);
            wave.vgpr[1][lane] = number(lane + away);
        }
        wave.set_exec(u64::MAX);
        run(&code, &mut wave, &mut frame);
        for lane in 0..LANES {
            let [over, under, actual, alone] = [0, 1, 2, 3].map(|n| wave.vgpr[n][lane]);
            for (actual, over) in [(actual, Some(over)), (alone, None)] {
                let expected = quotient(over, under);
                let nans = [actual, expected].map(|x| f32::from_bits(x).is_nan());
                assert!(
                    actual == expected || nans == [true; 2],
                    "{over:x?} over {under:#010x}: {actual:#010x}, not {expected:#010x}"
                );
            }
        }
    }
}

#[test]
fn quotients_with_avx2() {
    if can_run(Isa::Avx2) {
        check(Isa::Avx2);
    }
}

#[test]
fn quotients_with_avx512() {
    if can_run(Isa::Avx512) {
        check(Isa::Avx512);
    }
}
