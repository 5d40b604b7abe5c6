use super::super::format::{is_nan, is_zero};
use super::super::testing::{Big, Random, rounded};
use super::*;

/// IEEE's sum, product and fused sum from the exact oracle. Sources may be anything.
fn oracle<F: Format>(
    product: Option<(u64, u64)>,
    addends: &[u64],
    all: &[u64],
    round: Round,
    flush: bool,
) -> u64 {
    if let Some(&nan) = all.iter().find(|&&x| is_nan::<F>(x)) {
        return nan | F::QUIET;
    }
    let mut infinities: Vec<u64> = addends
        .iter()
        .copied()
        .filter(|&x| x & F::MAGNITUDE == F::INFINITY)
        .collect();
    let mut zeros: Vec<u64> = addends.iter().map(|x| x & F::SIGN).collect();
    let mut big = Big::zero();
    if let Some((a, b)) = product {
        let sign = (a ^ b) & F::SIGN;
        zeros.push(sign);
        if a & F::MAGNITUDE == F::INFINITY || b & F::MAGNITUDE == F::INFINITY {
            if is_zero::<F>(a) || is_zero::<F>(b) {
                return F::DEFAULT_NAN;
            }
            infinities.push(F::INFINITY | sign);
        } else {
            big.add_product::<F>(a, b, 0);
        }
    }
    if let Some(&first) = infinities.first() {
        return if infinities.iter().all(|&x| x == first) {
            first
        } else {
            F::DEFAULT_NAN
        };
    }
    for &x in addends {
        big.add_float::<F>(x, 0);
    }
    // A zero sum: the common sign of all terms, else by the direction.
    let same = zeros.iter().all(|&s| s == zeros[0]);
    let zero_sign = if same {
        zeros[0] != 0
    } else {
        round == Round::Down
    };
    rounded::<F>(&big, zero_sign, round, flush)
}

fn check_format<F: Host>(seed: u64, rounds: usize) {
    let mut random = Random::new(seed);
    for i in 0..rounds {
        let round = Round::ALL[i % 4];
        let (a, mut b) = (random.float::<F>(), random.float::<F>());
        if i % 7 == 0 {
            // Near cancellation.
            b = (a ^ F::SIGN).wrapping_add(random.below(5)) & (F::SIGN | F::MAGNITUDE);
        }
        let what = || {
            format!(
                "{} bits, {a:#x} {b:#x} {round:?}",
                F::FRACTION + F::EXPONENT + 1
            )
        };
        let sum = oracle::<F>(None, &[a, b], &[a, b], round, false);
        assert_eq!(add::<F>(a, b, round), sum, "{} +", what());
        assert_eq!(add_exactly::<F>(a, b, round), sum, "{} + exactly", what());
        if !is_nan::<F>(b) {
            assert_eq!(sub::<F>(a, b ^ F::SIGN, round), sum, "{} -", what());
        }
        // Products close to the smallest normal number, too.
        let b = if i % 5 == 0 && a & F::MAGNITUDE < F::INFINITY && !is_zero::<F>(a) {
            let quotient = F::host_div(F::MIN_NORMAL, a);
            if is_nan::<F>(quotient) {
                b
            } else {
                quotient.wrapping_add(random.below(3)).wrapping_sub(1)
            }
        } else {
            b
        } & (F::SIGN | F::MAGNITUDE);
        for flush in [false, true] {
            let product = oracle::<F>(Some((a, b)), &[], &[a, b], round, flush);
            let what = || format!("{a:#x} {b:#x} {round:?} flush {flush}");
            assert_eq!(mul::<F>(a, b, round, flush), product, "{} *", what());
            assert_eq!(
                mul_exactly::<F>(a, b, round, flush),
                product,
                "{} * exactly",
                what()
            );
        }
        let mut c = random.float::<F>();
        if i % 3 == 0 {
            let near = mul_exactly::<F>(a, b, Round::Zero, false) ^ F::SIGN;
            c = near.wrapping_add(random.below(3)) & (F::SIGN | F::MAGNITUDE);
        }
        for flush in [false, true] {
            let fused = oracle::<F>(Some((a, b)), &[c], &[a, b, c], round, flush);
            let what = || format!("{a:#x} {b:#x} {c:#x} {round:?} flush {flush}");
            assert_eq!(fma::<F>(a, b, c, round, flush), fused, "{} fma", what());
            let exact = fma_exactly::<F>(a, b, c, 0, round, flush);
            assert_eq!(exact, fused, "{} fma exactly", what());
        }
    }
}

#[test]
fn f16_arithmetic_is_rounded_once() {
    check_format::<F16>(1, 40_000);
}

#[test]
fn f32_arithmetic_is_rounded_once() {
    check_format::<F32>(2, 30_000);
}

#[test]
fn f64_arithmetic_is_rounded_once() {
    check_format::<F64>(3, 20_000);
}

/// To nearest even the fast path and the exact path are two implementations: many cases are cheap.
#[test]
fn fast_and_exact_paths_agree() {
    fn check<F: Host>(seed: u64, rounds: usize) {
        let mut random = Random::new(seed);
        let nearest = Round::NearestEven;
        for _ in 0..rounds {
            let [a, b, c] = [0; 3].map(|_| random.float::<F>());
            assert_eq!(
                add::<F>(a, b, nearest),
                add_exactly::<F>(a, b, nearest),
                "{a:#x} {b:#x}"
            );
            for flush in [false, true] {
                let product = mul_exactly::<F>(a, b, nearest, flush);
                assert_eq!(
                    mul::<F>(a, b, nearest, flush),
                    product,
                    "{a:#x} {b:#x} {flush}"
                );
                let fused = fma_exactly::<F>(a, b, c, 0, nearest, flush);
                let fast = fma::<F>(a, b, c, nearest, flush);
                assert_eq!(fast, fused, "{a:#x} {b:#x} {c:#x} {flush}");
            }
        }
    }
    check::<F16>(4, 300_000);
    check::<F32>(5, 200_000);
    check::<F64>(6, 200_000);
}

/// Vectors by hand.
#[test]
fn special_values() {
    use Round::*;
    // NaN: the first source in order, quieted; else the positive default.
    assert_eq!(add_f32(0x7f80_0001, 0xffc0_0002, NearestEven), 0x7fc0_0001);
    assert_eq!(add_f32(0x3f80_0000, 0xff80_0002, Zero), 0xffc0_0002);
    assert_eq!(sub_f32(0x3f80_0000, 0xffc0_0002, NearestEven), 0xffc0_0002);
    assert_eq!(
        fma_f32(0, 0x7f80_0000, 0x7fc0_1234, NearestEven),
        0x7fc0_1234
    );
    assert_eq!(
        fma_f32(0, 0x7f80_0000, 0x3f80_0000, NearestEven),
        0x7fc0_0000
    );
    assert_eq!(add_f32(0x7f80_0000, 0xff80_0000, NearestEven), 0x7fc0_0000);
    assert_eq!(
        mul_f64(0, 0x7ff0_0000_0000_0000, NearestEven),
        0x7ff8_0000_0000_0000
    );
    assert_eq!(mul_f16(0x8000, 0x7c00, Up), 0x7e00);
    // The sign of an exact zero.
    assert_eq!(add_f32(0x3f80_0000, 0xbf80_0000, NearestEven), 0);
    assert_eq!(add_f32(0x3f80_0000, 0xbf80_0000, Down), 0x8000_0000);
    assert_eq!(add_f32(0x8000_0000, 0x8000_0000, Up), 0x8000_0000);
    assert_eq!(add_f32(0x8000_0000, 0, NearestEven), 0);
    assert_eq!(
        fma_f64(1 << 63, 0x3ff0_0000_0000_0000, 1 << 63, NearestEven),
        1 << 63
    );
    // Overflow by direction.
    for (round, plus, minus) in [
        (NearestEven, 0x7f80_0000, 0xff80_0000),
        (Up, 0x7f80_0000, 0xff7f_ffff),
        (Down, 0x7f7f_ffff, 0xff80_0000),
        (Zero, 0x7f7f_ffff, 0xff7f_ffff),
    ] {
        assert_eq!(mul_f32(0x7f7f_ffff, 0x4000_0000, round), plus);
        assert_eq!(mul_f32(0x7f7f_ffff, 0xc000_0000, round), minus);
    }
    // Underflow by direction: half of the smallest denormal number.
    assert_eq!(mul_f32(1, 0x3f00_0000, NearestEven), 0);
    assert_eq!(mul_f32(1, 0x3f00_0000, Up), 1);
    assert_eq!(mul_f32(0x8000_0001, 0x3f00_0000, Down), 0x8000_0001);
    assert_eq!(mul_f32(3, 0x3f00_0000, NearestEven), 2);
}

/// Tininess is judged at full precision.
#[test]
fn flushing_results() {
    let flush = Env {
        round: Round::NearestEven,
        denorm: Denorm::FLUSH,
    };
    let keep = Env {
        round: Round::NearestEven,
        denorm: Denorm::KEEP,
    };
    let least = 0x0080_0000;
    // (1 + 2^-12)(1 - 2^-12) = 1 - 2^-24 is a number of full precision, so times 2^-126 it is
    // tiny, though the coarser spacing of denormal numbers rounds it to the smallest normal one.
    let (a, b) = (0x0080_0800, 0x3f7f_f000);
    assert_eq!(mul_f32_flush(a, b, keep), least);
    assert_eq!(mul_f32_flush(a, b, flush), 0);
    assert_eq!(fma_f32_flush(a, b, 0x8000_0000, keep), least);
    assert_eq!(fma_f32_flush(a ^ 1 << 31, b, 0, flush), 1 << 31);
    // (1 + 2^-13)(1 - 2^-13) = 1 - 2^-26 rounds up to a normal number at full precision too, and
    // does not when rounding down.
    let (a, b) = (0x0080_0400, 0x3f7f_f800);
    assert_eq!(mul_f32_flush(a, b, flush), least);
    assert_eq!(fma_f32_flush(a, b, 0, flush), least);
    let down = Env {
        round: Round::Down,
        ..flush
    };
    assert_eq!(mul_f32_flush(a, b, down), 0);
    assert_eq!(mul_f32_flush(a ^ 1 << 31, b, down), least ^ 1 << 31);
    // Flushing keeps the sign; sources first.
    assert_eq!(mul_f32_flush(0x8000_0001, 0x7f00_0000, flush), 0x8000_0000);
    let src_only = Env {
        denorm: Denorm::from_mode(2),
        ..flush
    };
    assert_eq!(
        add_f32_flush(0x007f_ffff, 0x0080_0000, src_only),
        0x0080_0000
    );
    assert_eq!(sub_f32_flush(0x0080_0001, 0x0080_0000, src_only), 1);
    let dst_only = Env {
        denorm: Denorm::from_mode(1),
        ..flush
    };
    assert_eq!(add_f32_flush(0x007f_ffff, 1, dst_only), 0x0080_0000);
    assert_eq!(
        sub_f32_flush(0x0080_0000, 0x0080_0001, dst_only),
        0x8000_0000
    );
}

#[test]
fn mode_fields() {
    assert_eq!(Env::f32_of_mode(0xf0), Env::default());
    let env = Env::f32_of_mode(0b0001_0111);
    assert_eq!(env.round, Round::Zero);
    assert_eq!(
        env.denorm,
        Denorm {
            flush_src: false,
            flush_dst: true
        }
    );
    let env = Env::f16_f64_of_mode(0b1000_0111);
    assert_eq!(env.round, Round::Up);
    assert_eq!(
        env.denorm,
        Denorm {
            flush_src: true,
            flush_dst: false
        }
    );
}

#[test]
fn f16_widens_and_narrows() {
    for x in 0..=u16::MAX {
        let wide = widen_f16(x);
        if x & 0x7fff > 0x7c00 {
            assert!(wide.is_nan());
            continue;
        }
        assert_eq!(narrow_f16(wide), x);
        if x & 0x7fff < 0x7c00 {
            let (magnitude, field) = (f64::from(x & 0x3ff), i32::from(x >> 10 & 31));
            let one = if field == 0 { 0.0 } else { 1024.0 };
            let value = (magnitude + one) * 2f64.powi(field.max(1) - 25);
            assert_eq!(wide.abs(), value);
        }
    }
}

#[test]
fn quotients_and_roots() {
    assert_eq!(div_rne_f32(0x3f80_0000, 0), 0x7f80_0000);
    assert_eq!(div_rne_f32(0, 0x8000_0000), 0x7fc0_0000);
    assert_eq!(div_rne_f16(0x3c00, 0x4200), 0x3555);
    assert_eq!(div_rne_f64(0x7ff4_0000_0000_0001, 0), 0x7ffc_0000_0000_0001);
    assert_eq!(sqrt_rne_f32(0xbf80_0000), 0x7fc0_0000);
    assert_eq!(sqrt_rne_f32(0x8000_0000), 0x8000_0000);
    assert_eq!(sqrt_rne_f16(0x0001), 0x0c00);
    // Every f16 root and quotients of samples, against the neighbours.
    let mut random = Random::new(9);
    for x in 0..0x7c00u16 {
        let root = sqrt_rne_f16(x);
        let v = widen_f16(x);
        let (below, above) = (f16_middle(root, -1), f16_middle(root, 1));
        assert!(x == 0 || (below * below < v && v < above * above), "{x:#x}");
        let y = random.finite::<F16>() as u16 & 0x7fff;
        let q = div_rne_f16(x, y);
        if y != 0 && q < 0x7bff {
            let (below, above) = (f16_middle(q, -1), f16_middle(q, 1));
            let d = widen_f16(y);
            let even = q & 1 == 0;
            assert!(below * d < v || (even && below * d == v), "{x:#x} / {y:#x}");
            assert!(v < above * d || (even && above * d == v), "{x:#x} / {y:#x}");
        }
    }
}

/// The middle between a positive f16 and its neighbour.
fn f16_middle(x: u16, step: i32) -> f64 {
    if x == 0 && step < 0 {
        return -f64::MIN_POSITIVE;
    }
    let neighbour = (i32::from(x) + step) as u16;
    (widen_f16(x) + widen_f16(neighbour)) / 2.0
}
