use super::super::testing::{Big, Random, rounded};
use super::super::{Denorm, add_f32, mul_f32, mul_f64};
use super::*;

const NEAREST: Env = Env {
    round: Round::NearestEven,
    denorm: Denorm::KEEP,
};

fn fma_f32(a: u32, b: u32, c: u32) -> u32 {
    super::super::fma_f32(a, b, c, Round::NearestEven)
}

fn fma_f64(a: u64, b: u64, c: u64) -> u64 {
    super::super::fma_f64(a, b, c, Round::NearestEven)
}

/// The f32 division of LLVM's AMDGPU back end, with an estimate of the reciprocal that is
/// `error` units off.
fn divide_f32(numerator: u32, denominator: u32, error: i32) -> u32 {
    const ONE: u32 = 0x3f80_0000;
    let (den, _) = div_scale_f32(denominator, denominator, numerator);
    let (num, vcc) = div_scale_f32(numerator, denominator, numerator);
    let mut rcp = super::super::rcp_f32(den);
    if (0x0080_0001..0x7f7f_ffff).contains(&(rcp & 0x7fff_ffff)) {
        rcp = rcp.wrapping_add_signed(error);
    }
    let minus = den ^ 1 << 31;
    let e = fma_f32(minus, rcp, ONE);
    let r = fma_f32(e, rcp, rcp);
    let q = mul_f32(num, r, Round::NearestEven);
    let e = fma_f32(minus, q, num);
    let q = fma_f32(e, r, q);
    let e = fma_f32(minus, q, num);
    div_fixup_f32(div_fmas_f32(e, r, q, vcc, NEAREST), denominator, numerator)
}

/// The f64 division of LLVM's AMDGPU back end.
fn divide_f64(numerator: u64, denominator: u64, error: i64) -> u64 {
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    let (den, _) = div_scale_f64(denominator, denominator, numerator);
    let (num, vcc) = div_scale_f64(numerator, denominator, numerator);
    let minus = den ^ 1 << 63;
    let mut r = super::super::rcp_f64(den);
    let magnitude = r & !(1 << 63);
    if (0x0020_0000_0000_0000..0x7fe0_0000_0000_0000).contains(&magnitude) {
        r = r.wrapping_add_signed(error);
    }
    for _ in 0..2 {
        let e = fma_f64(minus, r, ONE);
        r = fma_f64(r, e, r);
    }
    let q = mul_f64(num, r, Round::NearestEven);
    let e = fma_f64(minus, q, num);
    div_fixup_f64(div_fmas_f64(e, r, q, vcc, NEAREST), denominator, numerator)
}

/// IEEE's quotient, with the NaNs of `v_div_fixup`.
fn quotient<F: Host>(numerator: u64, denominator: u64) -> u64 {
    let q = F::host_div(numerator, denominator);
    if !is_nan::<F>(q) {
        return q;
    }
    [numerator, denominator]
        .into_iter()
        .find(|&x| is_nan::<F>(x))
        .map_or(F::SIGN | F::DEFAULT_NAN, |x| x | F::QUIET)
}

/// A numerator and a denominator: anything, both small, both huge, or far apart.
fn operands<F: Format>(random: &mut Random) -> (u64, u64) {
    let (n, d) = (random.float::<F>(), random.float::<F>());
    let fields = (1u64 << F::EXPONENT) - 1;
    let spread = u64::from(F::FRACTION) * 3;
    let sign_and_fraction = F::SIGN | (F::MIN_NORMAL - 1);
    let low = |x: u64, r: u64| x & sign_and_fraction | (r % spread) << F::FRACTION;
    let high = |x: u64, r: u64| x & sign_and_fraction | (fields - 1 - r % spread) << F::FRACTION;
    let (r, s) = (random.bits(), random.bits());
    match random.below(8) {
        0 => (low(n, r), low(d, s)),
        1 => (high(n, r), high(d, s)),
        2 => (low(n, r), high(d, s)),
        3 => (high(n, r), low(d, s)),
        4 => (random.float::<F>() & sign_and_fraction, d),
        5 => (n, random.float::<F>() & sign_and_fraction),
        _ => (n, d),
    }
}

/// The sequence rests on Markstein's theorem: a reciprocal within one unit is refined to the
/// correctly rounded one, unless all bits of the denominator's significand are set. Only then the
/// estimate must be correctly rounded, which ours is.
fn needs_exact_estimate<F: Format>(denominator: u64) -> bool {
    let significand = Exact::of::<F>(denominator).significand;
    let ones = (F::MIN_NORMAL << 1) - 1;
    significand == u128::from(ones)
}

#[test]
fn whole_division_f32() {
    let mut random = Random::new(21);
    for _ in 0..400_000 {
        let (n, d) = operands::<F32>(&mut random);
        let expected = quotient::<F32>(n, d) as u32;
        for error in [0, 1, -1] {
            if error != 0 && needs_exact_estimate::<F32>(d) {
                continue;
            }
            let result = divide_f32(n as u32, d as u32, error);
            assert_eq!(result, expected, "{n:#x} / {d:#x}, estimate off by {error}");
        }
    }
}

#[test]
fn whole_division_f64() {
    let mut random = Random::new(22);
    for _ in 0..150_000 {
        let (n, d) = operands::<F64>(&mut random);
        let expected = quotient::<F64>(n, d);
        // The hardware's estimate is accurate to some 24 bits.
        let coarse = random.below(1 << 29) as i64 - (1 << 28);
        for error in [0, 1, -1, coarse] {
            if error != 0 && needs_exact_estimate::<F64>(d) {
                continue;
            }
            let result = divide_f64(n, d, error);
            assert_eq!(result, expected, "{n:#x} / {d:#x}, estimate off by {error}");
        }
    }
}

#[test]
fn fmas_rounds_once() {
    fn check<F: Division>(seed: u64, rounds: usize) {
        let mut random = Random::new(seed);
        for i in 0..rounds {
            let [a, b] = [0; 2].map(|_| random.finite::<F>());
            let mut c = random.finite::<F>();
            if i % 3 != 0 {
                // Results around the scaled smallest normal number.
                let field = if i % 3 == 1 {
                    F::STEP
                } else {
                    F::BIAS * 2 - F::STEP
                };
                let field = (field + random.below(6) as i32 - 3) as u64;
                c = c & (F::SIGN | (F::MIN_NORMAL - 1)) | field << F::FRACTION;
            }
            let vcc = random.below(4) != 0;
            let round = Round::ALL[i % 4];
            let env = Env {
                round,
                denorm: Denorm::from_mode(if random.below(2) == 0 { 3 } else { 1 }),
            };
            let scale = match vcc {
                false => 0,
                true if exponent_field::<F>(c) > F::BIAS => F::STEP,
                true => -F::STEP,
            };
            let mut exact = Big::zero();
            exact.add_product::<F>(a, b, scale);
            exact.add_float::<F>(c, scale);
            let same = (a ^ b ^ c) & F::SIGN == 0;
            let zero_sign = if same {
                c & F::SIGN != 0
            } else {
                round == Round::Down
            };
            let expected = rounded::<F>(&exact, zero_sign, round, env.denorm.flush_dst);
            let result = div_fmas::<F>(a, b, c, vcc, env);
            assert_eq!(result, expected, "{a:#x} {b:#x} {c:#x} {vcc} {env:?}");
        }
    }
    check::<F32>(23, 40_000);
    check::<F64>(24, 20_000);
}

/// `(S0, S1 = denominator, S2 = numerator) -> (D, VCC)`, one row for each branch of the definition.
#[test]
fn scale_vectors() {
    const ONE: u32 = 0x3f80_0000;
    let huge = 0x7f00_0000; // 2^127, whose reciprocal is denormal
    let rows = [
        ((ONE, ONE, 0), (0x7fc0_0000, false)),
        ((0x8000_0000, 0x8000_0000, ONE), (0x7fc0_0000, false)),
        // Exponents 96 apart.
        ((0x6f80_0000, ONE, 0x6f80_0000), (0x6f80_0000, true)),
        ((ONE, ONE, 0x6f80_0000), (0x5f80_0000, true)),
        ((ONE, ONE, 0x6f00_0000), (ONE, false)),
        // Denormal denominator.
        ((1, 1, 0x0100_0000), (0x1500_0000, false)),
        ((0x0100_0000, 1, 0x0100_0000), (0x2100_0000, false)),
        // Reciprocal and quotient denormal.
        ((huge, huge, ONE), (0x5f00_0000, true)),
        ((ONE, huge, ONE), (ONE, true)),
        ((huge, huge, 0x0100_0000), (0x5f00_0000, true)),
        // Reciprocal denormal, quotient not.
        ((huge, huge, 0x4000_0000), (0x5f00_0000, false)),
        ((0x4000_0000, huge, 0x4000_0000), (0x2000_0000, false)),
        // Quotient denormal.
        ((0x0080_0000, 0x4000_0000, 0x0080_0000), (0x2080_0000, true)),
        ((0x4000_0000, 0x4000_0000, 0x0080_0000), (0x4000_0000, true)),
    ];
    for ((s0, s1, s2), expected) in rows {
        assert_eq!(
            div_scale_f32(s0, s1, s2),
            expected,
            "{s0:#x} {s1:#x} {s2:#x}"
        );
    }
    // Small numerator: exponent field 23.
    assert_eq!(
        div_scale_f32(0x0b80_0000, ONE, 0x0b80_0000),
        (0x2b80_0000, false)
    );
    assert_eq!(div_scale_f32(ONE, ONE, 0x0b80_0000), (0x5f80_0000, false));
    assert_eq!(div_scale_f32(ONE, ONE, 0x0c00_0000), (ONE, false));
    // Numerator and denominator the same value.
    assert_eq!(
        div_scale_f32(0x0080_0000, 0x0080_0000, 0x0080_0000),
        (0x2080_0000, false)
    );
    let one = F64::ONE;
    assert_eq!(div_scale_f64(one, one, 0), (F64::DEFAULT_NAN, false));
    assert_eq!(
        div_scale_f64(one, one, one + (768 << 52)),
        (one + (128 << 52), true)
    );
    assert_eq!(div_scale_f64(one, one, one + (767 << 52)), (one, false));
    assert_eq!(div_scale_f64(1, 1, one - (900 << 52)), (77 << 52, false));
    assert_eq!(
        div_scale_f64(2046 << 52, 2046 << 52, 1023 << 52),
        (1918 << 52, true)
    );
    assert_eq!(
        div_scale_f64(2046 << 52, 2046 << 52, 1024 << 52),
        (1918 << 52, false)
    );
    assert_eq!(
        div_scale_f64(2046 << 52, 2046 << 52, 1025 << 52),
        (1918 << 52, false)
    );
    assert_eq!(
        div_scale_f64(one, one, 53 << 52),
        (one + (128 << 52), false)
    );
    assert_eq!(div_scale_f64(one, one, 54 << 52), (one, false));
}

#[test]
fn fixup_vectors() {
    const ONE: u32 = 0x3f80_0000;
    let (inf, minus) = (0x7f80_0000, 1 << 31);
    // (quotient, denominator, numerator) -> result
    let rows = [
        ((5, ONE, 0x7f80_0001), 0x7fc0_0001),
        ((5, 0xff80_0002, ONE), 0xffc0_0002),
        ((5, 0xff80_0002, 0x7fc0_0003), 0x7fc0_0003),
        ((5, 0, minus), 0xffc0_0000),
        ((5, inf, inf), 0xffc0_0000),
        ((5, 0, ONE), inf),
        ((5, minus, ONE), inf | minus),
        ((5, 0, inf), inf),
        ((5, ONE, inf | minus), inf | minus),
        ((5, inf, ONE | minus), minus),
        ((5, ONE, minus), minus),
        ((0x7fc0_0000, ONE, ONE | minus), inf | minus),
        ((0xff80_0000, ONE, ONE), inf),
        ((0xc000_0000, ONE, ONE), 0x4000_0000),
        ((0x4000_0000, ONE | minus, ONE), 0xc000_0000),
    ];
    for ((q, d, n), expected) in rows {
        assert_eq!(div_fixup_f32(q, d, n), expected, "{q:#x} {d:#x} {n:#x}");
    }
    // Exponent fields 150 and 151 apart.
    assert_eq!(div_fixup_f32(5, 160 << 23, 10 << 23), 5);
    assert_eq!(div_fixup_f32(5, 161 << 23, minus | 10 << 23), minus);
    assert_eq!(div_fixup_f64(5, 1085 << 52, 10 << 52), 5);
    assert_eq!(div_fixup_f64(5, 1086 << 52, 10 << 52), 0);
    assert_eq!(
        div_fixup_f64(F64::DEFAULT_NAN, F64::ONE, 1 << 63 | 1),
        0xfff0_0000_0000_0000
    );
    assert_eq!(div_fixup_f64(5, 0, 0), 0xfff8_0000_0000_0000);
    assert_eq!(div_fixup_f16(0x4000, 0xbc00, 0x4000), 0xc000);
    assert_eq!(div_fixup_f16(0x4000, 0, 0), 0xfe00);
    assert_eq!(div_fixup_f16(0x4000, 0x0000, 0x3c00), 0x7c00);
    assert_eq!(div_fixup_f16(0x4000, 0x3c00, 0x7d00), 0x7f00);
    assert_eq!(div_fixup_f16(0x0001, 0x7bff, 0x0001), 0x0001);
    assert_eq!(div_fixup_f16(0x4000, 0x7c00, 0xbc00), 0x8000);
}

/// The f16 division of LLVM's AMDGPU back end: quotient in f32, then fixed up.
#[test]
fn whole_division_f16() {
    use super::super::{ToHalf, f16_to_f32, f32_to_f16, rcp_f32};
    let mut random = Random::new(25);
    let mut wrong = 0;
    for _ in 0..300_000 {
        let (n, d) = operands::<F16>(&mut random);
        let (num, den) = (f16_to_f32(n as u16, false), f16_to_f32(d as u16, false));
        let rcp = rcp_f32(den);
        let mut q = mul_f32(num, rcp, Round::NearestEven);
        // One step of refinement, as newer compilers do.
        let e = fma_f32(den ^ 1 << 31, q, num);
        q = add_f32(q, mul_f32(e, rcp, Round::NearestEven), Round::NearestEven);
        let result = div_fixup_f16(f32_to_f16(q, ToHalf::default()), d as u16, n as u16);
        wrong += u32::from(u64::from(result) != quotient::<F16>(n, d));
    }
    assert_eq!(wrong, 0);
}
