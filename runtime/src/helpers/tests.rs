use frontend::state::mode;

use super::*;

/// Runs a lane function of the table on the same arguments in all lanes, or different ones in each.
fn call(f: LaneFn, level: Level, imm: u32, args: &[Lanes]) -> Vec<Lanes> {
    let (count, results) = f.shape();
    assert_eq!(count, args.len(), "{f:?}");
    let address = lane_fn(f, level);
    // SAFETY: the table's addresses are lane functions.
    let entry = unsafe { std::mem::transmute::<usize, LaneEntry>(address) };
    let sources: Vec<*const Lanes> = args.iter().map(std::ptr::from_ref).collect();
    // One slot more than the shape says must stay untouched.
    let mut out = vec![[0xdead_beef; 64]; results + 1];
    let slots: Vec<*mut Lanes> = out.iter_mut().map(std::ptr::from_mut).collect();
    // SAFETY: as many slots as the shape says.
    unsafe { entry(slots.as_ptr(), sources.as_ptr(), imm) };
    let extra = out.pop().expect("one more");
    assert_eq!(
        extra, [0xdead_beef; 64],
        "{f:?} writes more than its results"
    );
    out
}

fn splat<const N: usize>(words: [u32; N]) -> Vec<Lanes> {
    words.iter().map(|&word| [word; 64]).collect()
}

/// The levels that this host supports.
fn levels() -> impl Iterator<Item = Level> {
    let wide = has_avx2();
    let wider = wide && lower::host::has_avx512();
    let all = [
        (Level::Portable, true),
        (Level::Avx2, wide),
        (Level::Avx512, wider),
    ];
    all.into_iter()
        .filter(|(_, has)| *has)
        .map(|(level, _)| level)
}

/// The first result in lane 0, from both variants, which must agree.
fn one<const N: usize>(f: LaneFn, imm: u32, words: [u32; N]) -> u32 {
    let plain = call(f, Level::Portable, imm, &splat(words));
    if has_avx2() {
        assert_eq!(
            plain,
            call(f, Level::Avx2, imm, &splat(words)),
            "{f:?} {words:x?}"
        );
    }
    plain[0][0]
}

/// MODE as compilers set it: nearest even, all denormals, IEEE, DX10_CLAMP.
const MODE: u32 = 0x3f0;

#[test]
fn every_function_has_an_address() {
    for level in levels() {
        let table = table_for(level);
        assert_eq!(table.len(), LaneFn::ALL.len() + EffectFn::ALL.len());
        assert!(table.iter().all(|&address| address != 0));
    }
}

#[test]
fn both_variants_agree_on_edge_values() {
    if !has_avx2() {
        return;
    }
    let edges = [
        0,
        1,
        31,
        32,
        33,
        0x7f,
        0x80,
        0xffff,
        0x8000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x7f80_0001,
        0x0000_0001,
        0x8000_0001,
        0x7f7f_ffff,
        0x3c00_bc00,
        0x7c00_fc00,
        0x7e00_7c01,
        0x0400_03ff,
        0x4049_0fdb,
    ];
    for &f in LaneFn::ALL {
        let (count, _) = f.shape();
        for mode in [MODE, 0x300, 0x0f5, 0x3fa] {
            let args: Vec<Lanes> = (0..count)
                .map(|i| {
                    std::array::from_fn(|lane| edges[(lane * (2 * i + 1) + 5 * i) % edges.len()])
                })
                .collect();
            assert_eq!(
                call(f, Level::Portable, mode, &args),
                call(f, Level::Avx2, mode, &args),
                "{f:?}"
            );
        }
    }
}

#[test]
fn integer_vectors() {
    assert_eq!(
        one(LaneFn::ShlVar, 0, [1, 33]),
        2,
        "five bits of the amount count"
    );
    assert_eq!(one(LaneFn::AshrVar, 0, [0x8000_0000, 31]), u32::MAX);
    assert_eq!(one(LaneFn::AlignBitVar, 0, [1, 0x8000_0000, 31]), 3);
    assert_eq!(
        one(LaneFn::AlignBitVar, 0, [1, 0x8000_0000, 32]),
        0x8000_0000
    );
    assert_eq!(one(LaneFn::BfeU, 0, [0xabcd_1234, 4, 8]), 0x23);
    assert_eq!(
        one(LaneFn::BfeU, 0, [0xabcd_1234, 4, 32]),
        0,
        "width 32 is 0"
    );
    assert_eq!(one(LaneFn::BfeI, 0, [0x0000_0080, 4, 4]), 0xffff_fff8);
    assert_eq!(
        one(LaneFn::BfeI, 0, [0x8000_0000, 28, 8]),
        0xffff_fff8,
        "ends above bit 31"
    );
    // Selectors 0 to 3 are S1's bytes, 4 to 7 S0's.
    assert_eq!(
        one(LaneFn::Perm, 0, [0x7766_5544, 0x3322_1100, 0x0c04_0307]),
        0x0044_3377
    );
    assert_eq!(
        one(LaneFn::Perm, 0, [0x8000_0000, 0x0000_8000, 0x0d0b_0908]),
        0xffff_00ff
    );
    assert_eq!(
        one(LaneFn::Lerp, 0, [0xff01_0100, 0xff02_0200, 0x0101_0000]),
        0xff02_0100
    );
    assert_eq!(
        one(LaneFn::SadU8, 0, [0x0000_ff01, 0x0500_0002]),
        5 + 255 + 1
    );
    assert_eq!(one(LaneFn::MsadU8, 0, [0x0102_ff01, 0x0500_0002]), 4 + 1);
    assert_eq!(
        one(LaneFn::SadU16, 0, [0x0001_0005, 0xffff_0000]),
        0xfffe + 5
    );
    assert_eq!(
        one(LaneFn::Dot4I, 0, [0x80ff_0102, 0x8001_0203]),
        16384 - 1 + 2 + 6
    );
    assert_eq!(one(LaneFn::Dot8U, 0, [0xffff_ffff, 0xffff_ffff]), 8 * 225);
    assert_eq!(
        one(LaneFn::Dot8I, 0, [0x8888_8888, 0x1111_1111]),
        (-64i32) as u32
    );
    let sums = call(
        LaneFn::QsadPk,
        Level::Portable,
        0,
        &splat([0x0403_0201, 0x0807_0605, 0, 0xffff_0001, 0]),
    );
    // Windows 1234, 2345, 3456, 4567 against 0; the second accumulator wraps.
    assert_eq!((sums[0][0], sums[1][0]), (0x000d_000b, 0x0016_0012));
    let sums = call(
        LaneFn::QsadPk,
        Level::Portable,
        1,
        &splat([0x0403_0201, 0x0807_0605, 0, 0xffff_0001, 0]),
    );
    assert_eq!(sums[0][0], 0xffff_000b, "saturated");
}

#[test]
fn lanes_below() {
    let ones = [u32::MAX; 64];
    let low = call(LaneFn::MbcntLo, Level::Portable, 0, &[ones]);
    let high = call(LaneFn::MbcntHi, Level::Portable, 0, &[ones]);
    for lane in 0..64 {
        assert_eq!(low[0][lane] + high[0][lane], lane as u32);
    }
}

#[test]
fn median_and_classes() {
    let f = f32::to_bits;
    assert_eq!(one(LaneFn::Med3F32, MODE, [f(3.0), f(1.0), f(2.0)]), f(2.0));
    assert_eq!(
        one(LaneFn::Med3F32, MODE, [f(0.0), f(-0.0), f(1.0)]),
        f(0.0)
    );
    let nan = 0x7fc0_0000;
    assert_eq!(
        one(LaneFn::Med3F32, MODE, [nan, f(5.0), f(4.0)]),
        f(4.0),
        "min3 with a NaN"
    );
    assert_eq!(one(LaneFn::Med3F32, MODE, [f(5.0), f(4.0), nan]), f(4.0));
    let signalling = 0x7f80_0001;
    // min3(sNaN, a, b) = min(qNaN, b) = b
    assert_eq!(
        one(LaneFn::Med3F32, MODE, [signalling, f(1.0), f(2.0)]),
        f(2.0)
    );
    assert_eq!(one(LaneFn::Med3F16, MODE, [0x4200, 0x3c00, 0x4000]), 0x4000);
    let classes = [
        (0x7c01, 0),
        (0x7e00, 1),
        (0xfc00, 2),
        (0xbc00, 3),
        (0x8001, 4),
        (0x8000, 5),
        (0, 6),
        (1, 7),
        (0x3c00, 8),
        (0x7c00, 9),
    ];
    for (x, bit) in classes {
        for mask in 0..10 {
            let hit = u32::from(mask == bit);
            assert_eq!(
                one(LaneFn::ClassF16, 0, [x, 1 << mask]),
                hit,
                "{x:x} {mask}"
            );
        }
    }
    assert_eq!(one(LaneFn::ClassF16, 0, [0xdead_fc00, 1 << 2]), 1);
}

#[test]
fn cube_faces() {
    let f = f32::to_bits;
    let at = |x: f32, y: f32, z: f32| [f(x), f(y), f(z)];
    let id = |v: [u32; 3]| f32::from_bits(one(LaneFn::CubeId, MODE, v));
    assert_eq!(id(at(1.0, 1.0, 1.0)), 4.0, "z wins ties");
    assert_eq!(id(at(1.0, -1.0, 0.5)), 3.0, "then y");
    assert_eq!(id(at(-2.0, 1.0, 0.5)), 1.0);
    assert_eq!(id(at(0.0, 0.0, -0.0)), 4.0, "-0 is not below 0");
    assert_eq!(one(LaneFn::CubeMa, MODE, at(-2.0, 1.0, 0.5)), f(-4.0));
    assert_eq!(one(LaneFn::CubeSc, MODE, at(2.0, 1.0, 0.5)), f(-0.5));
    assert_eq!(one(LaneFn::CubeTc, MODE, at(2.0, 1.0, 0.5)), f(-1.0));
}

#[test]
fn half_vectors() {
    assert_eq!(one(LaneFn::AddF16, MODE, [0x3c00, 0x3c00]), 0x4000);
    assert_eq!(
        one(LaneFn::PkAddF16, MODE, [0x3c00_4000, 0x3c00_3c00]),
        0x4000_4200
    );
    assert_eq!(
        one(LaneFn::MulF16, MODE, [0x7bff, 0x4000]),
        0x7c00,
        "overflow"
    );
    assert_eq!(
        one(LaneFn::MulF16, MODE | 1 << 23, [0x7bff, 0x4000]),
        0x7bff,
        "FP16_OVFL"
    );
    assert_eq!(
        one(LaneFn::MulF16, MODE | 1 << 23, [0x7c00, 0x4000]),
        0x7c00,
        "true infinity"
    );
    assert_eq!(one(LaneFn::MaxF16, MODE, [0x8000, 0x0000]), 0x0000);
    assert_eq!(one(LaneFn::MinF16, MODE, [0x0000, 0x8000]), 0x8000);
    assert_eq!(
        one(LaneFn::ClampF16, MODE, [0x7e00]),
        0,
        "NaN with DX10_CLAMP"
    );
    assert_eq!(one(LaneFn::ClampF16, MODE, [0x4000]), 0x3c00);
    assert_eq!(one(LaneFn::ClampF16, MODE, [0x8000]), 0);
    assert_eq!(one(LaneFn::FractF16, MODE, [0x8001]), 0x3bff, "below 1");
    assert_eq!(one(LaneFn::RndneF16, MODE, [0xb800]), 0x8000, "-0.5 to -0");
    assert_eq!(one(LaneFn::CvtU16F16, MODE, [0xfc00]), 0);
    assert_eq!(one(LaneFn::CvtI16F16, MODE, [0x7c00]), 0x7fff);
    assert_eq!(one(LaneFn::NormI16F16, MODE, [0xbc00]), 0x8001);
    assert_eq!(one(LaneFn::OmodF16, 0x100 | 1 << 28, [0x3c00]), 0x4000);
    assert_eq!(
        one(LaneFn::OmodF16, 0x100 | 3 << 28, [0x8000]),
        0,
        "-0 becomes +0"
    );
}

#[test]
fn conversions() {
    let f = f32::to_bits;
    assert_eq!(one(LaneFn::CvtRpi, MODE, [f(0.49999997)]), 0);
    assert_eq!(one(LaneFn::CvtRpi, MODE, [f(-1.5)]), (-1i32) as u32);
    assert_eq!(one(LaneFn::CvtRpi, MODE, [0x7fc0_0000]), 0);
    assert_eq!(one(LaneFn::CvtU8F32, MODE, [f(2.5)]), 2);
    assert_eq!(
        one(LaneFn::CvtU8F32, MODE | 1, [f(2.1)]),
        3,
        "MODE rounds up"
    );
    assert_eq!(one(LaneFn::CvtU8F32, MODE, [f(-3.0)]), 0);
    assert_eq!(one(LaneFn::CvtU8F32, MODE, [f(1e9)]), 255);
    assert_eq!(one(LaneFn::NormI16F32, MODE, [f(-1.0)]), 0x8001);
    assert_eq!(one(LaneFn::NormI16F32, MODE, [0x7fc0_0000]), 0);
    assert_eq!(
        one(LaneFn::NormU16F32, MODE, [f(0.5)]),
        0x8000,
        "ties to even"
    );
    assert_eq!(
        one(LaneFn::PkRtzF16, MODE, [f(65535.0), f(1.0)]),
        0x3c00_7bff
    );
}

#[test]
fn lanes_move() {
    for level in levels() {
        lanes_move_on(level);
    }
}

fn lanes_move_on(level: Level) {
    let ids: Lanes = std::array::from_fn(|lane| lane as u32);
    let all = [1; 64];
    let dpp = |ctrl: u32| call(LaneFn::Dpp, level, ctrl, &[ids, all]);
    assert_eq!(dpp(0x1b)[0][..4], [3, 2, 1, 0], "quad_perm:[3,2,1,0]");
    let shl = dpp(0x101);
    assert_eq!(
        (shl[0][0], shl[1][15], shl[0][16]),
        (1, 0, 17),
        "row_shl reads the next lane"
    );
    let shr = dpp(0x111);
    assert_eq!((shr[1][0], shr[0][1], shr[1][16]), (0, 0, 0));
    assert_eq!(dpp(0x121)[0][0], 15, "row_ror");
    assert_eq!(dpp(0x134)[0][63], 0, "wave_rol");
    assert_eq!(dpp(0x13c)[0][0], 63, "wave_ror");
    assert_eq!(dpp(0x140)[0][17], 30, "row_mirror");
    assert_eq!(dpp(0x141)[0][1], 6, "row_half_mirror");
    let bcast = dpp(0x142);
    assert_eq!((bcast[0][15], bcast[0][16], bcast[0][40]), (15, 15, 31));
    let bcast = dpp(0x143);
    assert_eq!((bcast[0][31], bcast[0][63]), (31, 31));

    let swizzle = |imm: u32| call(LaneFn::Swizzle, level, imm, &[ids, all])[0];
    assert_eq!(swizzle(0x401f)[0], 16, "SWAPX16");
    assert_eq!(swizzle(0x7c1f)[1], 30, "REVERSEX32");
    assert_eq!(swizzle(0x80e4)[5], 5, "quads in order");
    let gfx9 = 1 << 31;
    // The manual's own sequences, numbered from 1 there.
    let rotated = swizzle(gfx9 | 0xc000 | 1 << 5);
    assert_eq!((rotated[0], rotated[31], rotated[32]), (1, 0, 33));
    assert_eq!(swizzle(gfx9 | 0xc400 | 1 << 5)[0], 31, "to the right");
    let fft = swizzle(gfx9 | 0xe000);
    assert_eq!(fft[..5], [0, 0x10, 8, 0x18, 4]);
    assert_eq!(swizzle(gfx9 | 0xe010)[..5], [0, 8, 4, 0xc, 2]);
    assert_eq!(swizzle(gfx9 | 0xe01f)[..5], [0, 1, 2, 3, 4], "no swizzle");

    // Two senders to lane 3: the higher wins. Lane 5 is off and does not send.
    let mut to: Lanes = ids.map(|lane| 4 * lane);
    to[9] = 12;
    to[5] = 4 * 7;
    let mut on = all;
    on[5] = 0;
    let sent = call(LaneFn::Permute, level, 0, &[to, ids, on])[0];
    assert_eq!((sent[3], sent[9], sent[7], sent[5]), (9, 0, 7, 0));
    let fetched = call(LaneFn::Bpermute, level, 0, &[[4 * 5 + 256; 64], ids, on])[0];
    assert_eq!(fetched[0], 0, "a lane that is off is read as 0");
    let fetched = call(LaneFn::Bpermute, level, 0, &[[4 * 6 + 256; 64], ids, on])[0];
    assert_eq!(fetched[0], 6, "modulo 64 lanes");
}

#[test]
fn lanes_move_alike_on_all_levels() {
    let mut random = 1u64;
    let mut word = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 32) as u32
    };
    for round in 0..600u32 {
        let [to, data] = [(); 2].map(|()| -> Lanes { std::array::from_fn(|_| word()) });
        let on: Lanes = match round % 3 {
            0 => [1; 64],
            _ => std::array::from_fn(|_| word() & 1),
        };
        let offset = word() & 0xffff | word() & 1 << 31;
        let calls: [(LaneFn, u32, &[Lanes]); 4] = [
            (LaneFn::Permute, 0, &[to, data, on]),
            (LaneFn::Bpermute, 0, &[to, data, on]),
            (LaneFn::Dpp, round % 512, &[data, on]),
            (LaneFn::Swizzle, offset, &[data, on]),
        ];
        for (f, imm, args) in calls {
            let want = call(f, Level::Portable, imm, args);
            for level in levels() {
                assert_eq!(call(f, level, imm, args), want, "{f:?}, {imm:x}, {level:?}");
            }
        }
    }
}

#[test]
fn read_modify_write() {
    use super::atomic::Rmw;
    use crate::math::Denorm;
    use frontend::op::Atomic;

    let apply = |op, mem, data, second| Rmw::new(op, false, Denorm::KEEP).apply(mem, data, second);
    assert_eq!(apply(Atomic::CmpSwap, 5, 9, 5), 9);
    assert_eq!(apply(Atomic::CmpSwap, 6, 9, 5), 6);
    assert_eq!(apply(Atomic::Rsub, 1, 0, 0), 0xffff_ffff);
    assert_eq!(apply(Atomic::Inc, 7, 7, 0), 0);
    assert_eq!(apply(Atomic::Inc, 6, 7, 0), 7);
    assert_eq!(apply(Atomic::Dec, 0, 7, 0), 7);
    assert_eq!(apply(Atomic::Dec, 8, 7, 0), 7);
    assert_eq!(apply(Atomic::Dec, 7, 7, 0), 6);
    assert_eq!(apply(Atomic::MinI, 0xffff_ffff, 1, 0), 0xffff_ffff);
    assert_eq!(apply(Atomic::MinU, 0xffff_ffff, 1, 0), 1);
    assert_eq!(apply(Atomic::Mskor, 0xff, 0x0f, 0x100), 0x1f0);
    assert_eq!(apply(Atomic::Wrap, 5, 3, 100), 2);
    assert_eq!(apply(Atomic::Wrap, 2, 3, 100), 102);
    let nan = 0x7fc0_0000;
    assert_eq!(apply(Atomic::FMin, 0x3f80_0000, nan, 0), 0x3f80_0000);
    assert_eq!(
        apply(Atomic::FMax, nan, 0x3f80_0000, 0),
        nan,
        "nothing compares with a NaN"
    );
    assert_eq!(
        apply(Atomic::FCmpSwap, 0x8000_0000, 7, 0),
        7,
        "-0 equals +0"
    );
    assert_eq!(apply(Atomic::FCmpSwap, nan, 7, nan), nan);
}

/// f16 values: any bits, small exponents, adjacent ones, NaNs occasionally.
fn random_half(state: &mut u64) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    let bits = (*state >> 20) as u32;
    let half = match bits >> 16 & 7 {
        0 => bits & 0x83ff,
        1 => bits & 0x800f | 0x3c00,
        2 => bits & 0x83ff | 0x7800,
        3 => bits & 0x8000 | (0x7bff - (bits & 3)),
        4 if bits >> 20 & 31 == 0 => bits & 0x8000 | 0x7c00 | bits & bits >> 3 & 0x3ff,
        _ => bits,
    };
    half & 0xffff
}

#[test]
fn f16_of_whole_waves_is_that_of_lanes() {
    if !has_avx2() {
        return;
    }
    let functions = [
        LaneFn::AddF16,
        LaneFn::SubF16,
        LaneFn::MulF16,
        LaneFn::FmaF16,
        LaneFn::MinF16,
        LaneFn::MaxF16,
        LaneFn::PkAddF16,
        LaneFn::PkMulF16,
        LaneFn::PkFmaF16,
        LaneFn::PkMinF16,
        LaneFn::PkMaxF16,
        LaneFn::CvtF32F16,
        LaneFn::WidenF16,
        LaneFn::CvtF16F32,
        LaneFn::MadF16,
        LaneFn::SqrtF16,
        LaneFn::RcpF16,
        LaneFn::FloorF16,
        LaneFn::CeilF16,
        LaneFn::TruncF16,
        LaneFn::RndneF16,
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for f in functions {
        for round in 0..600 {
            let imm = match round % 10 {
                0 => 0x0f0 | ((round as u32 / 10) & 3) << 2,
                1 => 0x030 | ((round as u32 / 10) & 3) << 6,
                2 => MODE | mode::FP16_OVFL,
                3 => 1 << 31 | 0x0c0,
                _ => MODE,
            };
            let args: Vec<Lanes> = (0..f.shape().0)
                .map(|_| {
                    std::array::from_fn(|_| {
                        let (low, high) = (random_half(&mut state), random_half(&mut state));
                        low | high << 16
                    })
                })
                .collect();
            let (plain, wide) = (
                call(f, Level::Portable, imm, &args),
                call(f, Level::Avx2, imm, &args),
            );
            for lane in 0..64 {
                let words: Vec<u32> = args.iter().map(|a| a[lane]).collect();
                assert_eq!(
                    plain[0][lane], wide[0][lane],
                    "{f:?} imm {imm:x} of {words:x?}: {:x} {:x}",
                    plain[0][lane], wide[0][lane]
                );
            }
        }
    }
}

#[test]
fn a_fused_f16_sum_is_rounded_once() {
    // 0x3c01 * 0x3c01 = 1 + 2^-9 + 2^-20, with 2^-11 and less added: close to ties of f16.
    for c in [
        0x0001, 0x8001, 0x1000, 0x0c00, 0x8c00, 0x9000, 0x1400, 0x0fff,
    ] {
        for (a, b) in [
            (0x3c01, 0x3c01),
            (0x3c03, 0x3c01),
            (0x3e00, 0x3c01),
            (0x5bff, 0x3bff),
        ] {
            one(LaneFn::FmaF16, MODE, [a, b, c]);
        }
    }
    // A product that is a tie, and the least number added on either side.
    assert_eq!(one(LaneFn::FmaF16, MODE, [0x3e00, 0x3c01, 0x0000]), 0x3e02);
    assert_eq!(one(LaneFn::FmaF16, MODE, [0x3e00, 0x3c01, 0x8001]), 0x3e01);
    assert_eq!(one(LaneFn::FmaF16, MODE, [0x3e00, 0x3c03, 0x0001]), 0x3e05);
}

/// The general function of one with a fast path, on the same words.
fn general(f: LaneFn, imm: u32, words: &[u32]) -> Vec<u32> {
    /// Calls one on an array.
    fn on<const A: usize, const R: usize>(
        f: fn([u32; A], u32) -> [u32; R],
        imm: u32,
        words: &[u32],
    ) -> Vec<u32> {
        let args = words.try_into().expect("as many as the shape says");
        f(args, imm).to_vec()
    }
    match f {
        LaneFn::ExpF32 => on(float::exp_f32, imm, words),
        LaneFn::LogF32 => on(float::log_f32, imm, words),
        LaneFn::SinF32 => on(float::sin_f32, imm, words),
        LaneFn::CosF32 => on(float::cos_f32, imm, words),
        LaneFn::DivFmasF32 => on(float::div_fmas_f32, imm, words),
        LaneFn::DivFmasF64 => on(float::div_fmas_f64, imm, words),
        LaneFn::LdexpF32 => on(float::ldexp_f32, imm, words),
        LaneFn::LdexpF64 => on(float::ldexp_f64, imm, words),
        LaneFn::PkRtzF16 => on(half::pk_rtz, imm, words),
        LaneFn::NarrowF16Flush => on(half::narrow_flush, imm, words),
        LaneFn::Med3F32 => on(float::med3_f32, imm, words),
        LaneFn::Perm => on(integer::perm, imm, words),
        _ => panic!("{f:?} has no fast_path function"),
    }
}

#[test]
fn fast_paths_are_correct_where_valid() {
    let functions = [
        LaneFn::ExpF32,
        LaneFn::LogF32,
        LaneFn::SinF32,
        LaneFn::CosF32,
        LaneFn::DivFmasF32,
        LaneFn::DivFmasF64,
        LaneFn::LdexpF32,
        LaneFn::LdexpF64,
        LaneFn::PkRtzF16,
        LaneFn::NarrowF16Flush,
        LaneFn::Med3F32,
        LaneFn::Perm,
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u32
    };
    for f in functions {
        for round in 0..2500 {
            let imm = match round % 8 {
                0 => 0x0c0 | next() & 15,
                1 => next() & 0xf0,
                2 => 1 << 31 | 0x0c0,
                _ => MODE,
            };
            // The same words in all lanes, so that the fast path's result is used wherever valid.
            let words: Vec<u32> = (0..f.shape().0)
                .map(|i| {
                    let bits = next();
                    match (f, i, bits & 7) {
                        (LaneFn::Perm, 2, _) => bits >> 4 & 0x0f0f_0f0f,
                        (LaneFn::LdexpF32 | LaneFn::LdexpF64, _, 0..5) if i + 1 == f.shape().0 => {
                            (bits >> 8 & 0x1ff).wrapping_sub(0x100)
                        }
                        (LaneFn::DivFmasF32, 3, _) | (LaneFn::DivFmasF64, 6, _) => bits >> 9 & 1,
                        // Near the ends of f16's and f32's ranges, and plain numbers.
                        (_, _, 0) => next() & 0x80ff_ffff,
                        (_, _, 1) => next() & 0x80ff_ffff | 0x7e80_0000,
                        (_, _, 2) => next() & 0x80ff_ffff | 0x4700_0000,
                        (_, _, 3) => next() & 0x80ff_ffff | 0x3800_0000,
                        (_, _, 4) => next() & 0x807f_ffff | 0x3f80_0000,
                        (_, _, 5) => next() & 0x8000_0001,
                        _ => next(),
                    }
                })
                .collect();
            let want = general(f, imm, &words);
            let args: Vec<Lanes> = words.iter().map(|&word| [word; 64]).collect();
            for level in levels() {
                let got = call(f, level, imm, &args);
                let got: Vec<u32> = got.iter().map(|lanes| lanes[37]).collect();
                assert_eq!(got, want, "{f:?} imm {imm:x} of {words:x?}");
            }
        }
    }
}
