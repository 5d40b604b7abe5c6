//! Every IR operation compiles on every host level, and its lane form equals its wave form lane by
//! lane: the two are written apart in `lanes.rs` and `scalar.rs`. `OPERATION=` tests only those with this, or
//! one of several with commas between them, in their name.
#![expect(unsafe_code, reason = "runs compiled code")]

use frontend::WaveState;
use frontend::state::LANES;

use lower::abi::{Context, ExitCode};
use lower::host::{self, Host, Isa};
use lower::ir::build::{Build, types};
use lower::ir::functions::LaneFn;
use lower::ir::{Fcmp, Float, Flush, Func, Halves, Icmp, Op, Slot, Val, Width};
use lower::jit::{HostLevel, Jit};
use lower::options::Options;

use super::{can_run, region_of};

/// What is computed by lane and for the wave.
struct Tested {
    op: Op,
    /// The function that does it by lane, where the operation itself is for waves only.
    function: Option<LaneFn>,
    /// Widths of the arguments.
    args: Vec<Width>,
}

impl Tested {
    /// In words.
    fn name(&self) -> String {
        let op = format!("{:?} {:?}", self.op, self.args[0]);
        match self.function {
            Some(f) => format!("{f:?} as {op}"),
            None => op,
        }
    }
}

/// Functions that the wide back end computes itself.
fn functions() -> Vec<Tested> {
    use Width::{W32, W64};
    let list: [(LaneFn, Op, &[Width]); 8] = [
        (LaneFn::ShlVar, Op::Shl, &[W32, W32]),
        (LaneFn::LshrVar, Op::Lshr, &[W32, W32]),
        (LaneFn::AshrVar, Op::Ashr, &[W32, W32]),
        (LaneFn::Shl64Var, Op::Shl, &[W64, W32]),
        (LaneFn::Lshr64Var, Op::Lshr, &[W64, W32]),
        (LaneFn::Ashr64Var, Op::Ashr, &[W64, W32]),
        (LaneFn::AlignBitVar, Op::AlignBit, &[W32, W32, W32]),
        (LaneFn::Perm, Op::Perm, &[W32, W32, W32]),
    ];
    let tested = |(f, op, args): (LaneFn, Op, &[Width])| Tested {
        op,
        function: Some(f),
        args: args.to_vec(),
    };
    list.map(tested).into()
}

/// All operations that are by lane and for waves.
fn operations() -> Vec<Tested> {
    let tested = |(op, width, args)| Tested {
        op,
        function: None,
        args: vec![width; args],
    };
    uniform().into_iter().map(tested).collect()
}

/// Operation, width of its arguments, number of arguments.
fn uniform() -> Vec<(Op, Width, usize)> {
    use Width::{W32, W64};
    let mut ops = Vec::new();
    for width in [W32, W64] {
        for op in [Op::Add, Op::Sub, Op::Mul, Op::And, Op::Or, Op::Xor] {
            ops.push((op, width, 2));
        }
        ops.push((Op::Not, width, 1));
        for op in [
            Op::Popcnt,
            Op::Clz,
            Op::Ctz,
            Op::Brev,
            Op::SextFrom(8),
            Op::SextFrom(24),
        ] {
            ops.push((op, width, 1));
        }
        for op in [Op::MinU, Op::MaxU, Op::MinS, Op::MaxS] {
            ops.push((op, width, 2));
        }
        for c in [
            Icmp::Eq,
            Icmp::Ne,
            Icmp::Ult,
            Icmp::Ule,
            Icmp::Slt,
            Icmp::Sle,
        ] {
            ops.push((Op::Icmp(c), width, 2));
        }
    }
    for op in [Op::MulHiU, Op::MulHiS] {
        ops.push((op, W32, 2));
    }
    for n in 0..4 {
        ops.push((Op::ByteU(n), W32, 1));
    }
    ops.push((Op::Pair, W32, 2));
    ops.push((Op::Zext, W32, 1));
    ops.push((Op::Sext, W32, 1));
    ops.push((Op::Lo, W64, 1));
    ops.push((Op::Hi, W64, 1));
    ops.push((Op::AlignBit, W32, 3));
    ops.push((Op::Perm, W32, 3));
    for op in [
        Halves::Add,
        Halves::Sub,
        Halves::Mul,
        Halves::MinU,
        Halves::MaxU,
        Halves::MinS,
        Halves::MaxS,
        Halves::AddSatU,
        Halves::AddSatS,
        Halves::SubSatU,
        Halves::SubSatS,
    ] {
        ops.push((Op::Halves(op), W32, 2));
    }
    for n in [0, 1, 8, 15] {
        for op in [Halves::Shl, Halves::Lshr, Halves::Ashr] {
            ops.push((Op::Halves(op(n)), W32, 1));
        }
    }
    for (float, width) in [(Float::F32, W32), (Float::F64, W64)] {
        for (src, dst) in [(false, false), (true, true), (true, false), (false, true)] {
            let flush = Flush { src, dst };
            ops.push((Op::FAdd(float, flush), width, 2));
            ops.push((Op::FSub(float, flush), width, 2));
            ops.push((Op::FMul(float, flush), width, 2));
            ops.push((Op::Fma(float, flush), width, 3));
            for c in [
                Fcmp::Eq,
                Fcmp::Lt,
                Fcmp::Le,
                Fcmp::Ord,
                Fcmp::Uno,
                Fcmp::Une,
            ] {
                ops.push((Op::Fcmp(float, c, flush), width, 2));
            }
        }
        let keep = Flush::default();
        ops.push((Op::FDiv(float, keep), width, 2));
        ops.push((Op::FSqrt(float, keep), width, 1));
        for op in [
            Op::FFloor(float),
            Op::FCeil(float),
            Op::FTrunc(float),
            Op::FNearest(float),
        ] {
            ops.push((op, width, 1));
        }
        ops.push((Op::FQuiet(float), width, 1));
        ops.push((Op::FFlush(float), width, 1));
        ops.push((Op::CvtFromS(float), W32, 1));
        ops.push((Op::CvtFromU(float), W32, 1));
        ops.push((Op::CvtToS(float), width, 1));
        ops.push((Op::CvtToU(float), width, 1));
    }
    for (src, dst) in [(false, false), (true, true), (true, false), (false, true)] {
        ops.push((Op::Ldexp(Float::F32, Flush { src, dst }), W32, 2));
    }
    ops.push((Op::FRsq(Float::F32), W32, 1));
    ops.push((Op::FRsq(Float::F64), W64, 1));
    for (float, width) in [(Float::F32, W32), (Float::F64, W64)] {
        ops.push((Op::FrexpMant(float), width, 1));
        ops.push((Op::FrexpExp(float), width, 1));
    }
    ops.push((Op::FWiden, W32, 1));
    ops.push((Op::FNarrow(Flush::default()), W64, 1));
    ops.push((
        Op::FNarrow(Flush {
            src: false,
            dst: true,
        }),
        W64,
        1,
    ));
    ops
}

pub(super) const EDGES: [u32; 34] = [
    0,
    1,
    0xffff_ffff,
    0x8000_0000,
    0x7fff_ffff,
    31,
    32,
    33,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_1234,
    0xff81_0001,
    0x0000_0001,
    0x8040_0000,
    0x0080_0000,
    0x007f_ffff,
    0x7f7f_ffff,
    0x7ff0_0000,
    0xfff8_0001,
    0x000f_ffff,
    0x0d0c_0804,
    0x0302_0100,
    0x0706_0504,
    0x0b0a_0908,
    0x0f0e_0d0c,
    0x4b00_0000,
    // Exponents: from 1 to the least denormal number and back.
    -149i32 as u32,
    -126i32 as u32,
    -24i32 as u32,
    127,
    149,
    -150i32 as u32,
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let word = (self.0 >> 20) as u32;
        if word & 3 == 0 {
            EDGES[(word >> 8) as usize % EDGES.len()]
        } else {
            word
        }
    }

    fn edge(&mut self) -> u32 {
        EDGES[(self.next() >> 8) as usize % EDGES.len()]
    }
}

/// A block that computes it by lane from v0.. into v8/v9 under EXEC, and for the wave from s0.. into
/// s16/s17.
fn region(tested: &Tested) -> Func {
    let b = Build::new();
    let exec = b.leaf(Op::ReadS(Slot::Exec), types::W64);
    let mask = b.pure(Op::ExecMask, &[exec]);
    let mut words = Vec::new();
    let (mut lane, mut wave) = (Vec::new(), Vec::new());
    for &width in &tested.args {
        let mut read = || {
            let n = words.len() as u8;
            let v = b.leaf(Op::ReadV(n.into()), types::L32);
            words.push(v);
            (v, b.leaf(Op::ReadS(Slot::Sgpr(n)), types::W32))
        };
        let (mut v, mut s) = read();
        if width == Width::W64 {
            let (v_hi, s_hi) = read();
            v = b.pure(Op::Pair, &[v, v_hi]);
            s = b.pure(Op::Pair, &[s, s_hi]);
        }
        lane.push(v);
        wave.push(s);
    }
    let results = |v: Val| match b.ty(v).width {
        Width::W1 => vec![b.pure(Op::BoolToInt, &[v])],
        Width::W32 => vec![v],
        Width::W64 => vec![b.pure(Op::Lo, &[v]), b.pure(Op::Hi, &[v])],
    };
    let by_lane = match tested.function {
        None => results(b.pure(tested.op, &lane)),
        Some(f) => {
            let call = b.call(f, 0, &words);
            let more = 1..f.shape().1 as u8;
            let more = more.map(|n| b.result(call, n, types::L32));
            std::iter::once(call).chain(more).collect()
        }
    };
    let mut writes_v = Vec::new();
    for (i, r) in by_lane.into_iter().enumerate() {
        let old = b.leaf(Op::ReadV(8 + i as u16), types::L32);
        writes_v.push((8 + i as u16, b.pure(Op::Select, &[mask, r, old])));
    }
    let mut writes_s = Vec::new();
    for (i, r) in results(b.pure(tested.op, &wave)).into_iter().enumerate() {
        writes_s.push((Slot::Sgpr(16 + i as u8), r));
    }
    region_of(b, writes_s, writes_v)
}

pub(super) fn run(
    compiled: &lower::jit::Compiled,
    wave: &mut WaveState,
    frame: &mut [[u32; LANES]],
) {
    let functions = [0usize; 1];
    assert!(frame.len() >= compiled.frame_slots() as usize);
    let mut ctx = Context {
        wave,
        frame: frame.as_mut_ptr(),
        fuel: 100,
        ..Context::new(functions.as_ptr())
    };
    // SAFETY: the region uses registers and the frame only; both are live and large enough.
    let code = unsafe { compiled.run(&mut ctx) };
    assert_eq!(code, ExitCode::Barrier);
}

fn check(level: HostLevel, group: Option<u8>) {
    check_on(level, group, None);
}

fn check_on(level: HostLevel, group: Option<u8>, isa: Option<Isa>) {
    let mut jit = Jit::new(level).expect("this host");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut wave = WaveState::new_boxed();
    let mut frame = vec![[0u32; LANES]; 64];
    // Cranelift calls functions.
    let functions = isa.map_or_else(Vec::new, |_| functions());
    let parts = std::env::var("OPERATION").unwrap_or_default();
    for tested in operations().into_iter().chain(functions) {
        let name = tested.name();
        if !parts.split(',').any(|part| name.contains(part)) {
            continue;
        }
        let options = Options {
            exact_nan: true,
            group,
            host: Host::of(isa),
            ..Options::default()
        };
        let func = region(&tested);
        let words = func.blocks[0].writes_v.len();
        let compiled = jit
            .compile(func, &options)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(compiled.refused(), None, "{name}");
        assert_eq!(compiled.is_wide(), isa.is_some(), "{name}");
        if isa == Some(Isa::Avx512) && !host::has_avx512() {
            continue;
        }
        let execs = [u64::MAX, 0, 0x5555_5555_5555_5555, 1 << 37, 0xffff_ffff];
        let execs = execs.map(|exec| (exec, false));
        // Last with edges only: NaNs of two words are rare elsewhere.
        for (exec, edges) in execs.into_iter().chain([(u64::MAX, true)]) {
            for v in 0..10 {
                for lane in 0..LANES {
                    wave.vgpr[v][lane] = match edges {
                        true => random.edge(),
                        false => random.next(),
                    };
                }
            }
            let before = wave.vgpr;
            wave.set_exec(exec);
            run(&compiled, &mut wave, &mut frame);
            let after = wave.vgpr;
            for lane in 0..LANES {
                if exec >> lane & 1 == 0 {
                    assert_eq!(
                        after[8][lane], before[8][lane],
                        "{name} writes inactive lane {lane}"
                    );
                    continue;
                }
                if lane % 5 != 0 && exec == u64::MAX && !edges {
                    continue;
                }
                for (word, v) in wave.sgpr.iter_mut().zip(&before[..8]) {
                    *word = v[lane];
                }
                run(&compiled, &mut wave, &mut frame);
                for i in 0..words {
                    assert_eq!(
                        after[8 + i][lane],
                        wave.sgpr[16 + i],
                        "{name} on {level:?}: lane {lane} of {:x?}",
                        before[..6].iter().map(|v| v[lane]).collect::<Vec<_>>()
                    );
                }
                wave.vgpr = before;
            }
        }
    }
}

#[test]
fn lanes_equal_waves_on_this_host() {
    check(HostLevel::Native, None);
    check(HostLevel::Native, Some(16));
}

/// The wide back end refuses no operation.
#[test]
fn lanes_equal_waves_in_wide_vectors() {
    if can_run(Isa::Avx2) {
        for group in [None, Some(8), Some(16), Some(32)] {
            check_on(HostLevel::Native, group, Some(Isa::Avx2));
        }
    }
}

/// The same with AVX-512; other CPUs only see that nothing is refused.
#[test]
fn lanes_equal_waves_with_avx512() {
    can_run(Isa::Avx512);
    for group in [None, Some(8), Some(16), Some(32), Some(64)] {
        check_on(HostLevel::Native, group, Some(Isa::Avx512));
    }
}

#[test]
fn lanes_equal_waves_with_avx2() {
    check(HostLevel::Avx2, Some(4));
}

#[test]
fn lanes_equal_waves_with_sse41() {
    check(HostLevel::Sse41, Some(8));
}
