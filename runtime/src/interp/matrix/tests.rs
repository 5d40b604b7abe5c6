use frontend::inst::Operand;
use frontend::op::{F8, Factor, Matrix};
use frontend::{Gfx, InstDesc, LANES, Op, isa};

use crate::engine::Exit;
use crate::interp::eight_bits;
use crate::interp::testing::Machine;

const TARGETS: [Gfx; 3] = [Gfx::Gfx908, Gfx::Gfx90a, Gfx::Gfx942];

/// Registers of the operands: A, B, C and D are apart.
const A: usize = 0;
const B: usize = 2;
const C: usize = 64;
const D: usize = 128;

/// The rows of matrix products of a target.
fn rows(gfx: Gfx) -> impl Iterator<Item = (&'static InstDesc, Matrix)> {
    isa::all().filter_map(move |desc| match desc.op {
        Op::Mfma(shape) if desc.opcodes.get(gfx).is_some() => Some((desc, shape)),
        _ => None,
    })
}

/// The words of a product. `acc`: A, B, then C and D are accumulation registers.
fn words(desc: &InstDesc, gfx: Gfx, fields: [u8; 3], acc: [bool; 3], c: u32) -> [u32; 2] {
    let op = u32::from(desc.opcodes.get(gfx).unwrap());
    let [cbsz, abid, blgp] = fields.map(u32::from);
    let [a, b, cd] = acc.map(u32::from);
    [
        0x1a7 << 23 | op << 16 | cd << 15 | abid << 11 | cbsz << 8 | D as u32,
        blgp << 29 | b << 28 | a << 27 | c << 18 | (256 + B as u32) << 9 | (256 + A as u32),
    ]
}

/// A small pseudo-random integer.
fn small(seed: &mut u32) -> i32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*seed >> 20) as i32 % 9 - 4
}

/// The bits of a small integer as an element of A, or of B.
fn factor_bits(factor: Factor, is_b: bool, value: i32) -> u64 {
    let float = value as f32;
    match factor {
        Factor::Xf32 => float.to_bits().into(),
        Factor::F8(a, b) => {
            let ty = if is_b { b } else { a };
            let mut codes = 0..256;
            let code = codes.find(|&code| eight_bits::to_f32(ty, code) == float);
            code.unwrap().into()
        }
        Factor::F64 => f64::from(value).to_bits(),
        Factor::F32 => float.to_bits().into(),
        Factor::F16 => half::f16::from_f32(float).to_bits().into(),
        Factor::Bf16 => half::bf16::from_f32(float).to_bits().into(),
        Factor::I8 => (value as u8).into(),
    }
}

/// The same of a sum.
fn sum_bits(factor: Factor, value: i32) -> u64 {
    match factor {
        Factor::F64 => f64::from(value).to_bits(),
        Factor::F32 | Factor::F16 | Factor::Bf16 | Factor::Xf32 | Factor::F8(..) => {
            (value as f32).to_bits().into()
        }
        Factor::I8 => (value as u32).into(),
    }
}

/// Puts `bits` bits at an element of a lane's registers from `first` on.
fn put(file: &mut [[u32; LANES]], bits: usize, lane: usize, item: usize, value: u64) {
    let low = item * bits / 32;
    if bits == 64 {
        file[low][lane] = value as u32;
        file[low + 1][lane] = (value >> 32) as u32;
    } else {
        file[low][lane] |= (value as u32) << (item * bits % 32);
    }
}

/// Block, row and column of an item of D, as the manuals' pictures have it.
fn place(shape: Matrix, lane: usize, item: usize) -> [usize; 3] {
    match (shape.factor, shape.size, shape.blocks) {
        (Factor::F64, 16, _) => [0, 4 * item + lane / 16, lane % 16],
        (Factor::F64, _, _) => [lane / 4 % 4, lane / 16, lane % 4],
        (_, 32, _) => {
            let (block, item) = (item / 16, item % 16);
            [
                block,
                8 * (item / 4) + 4 * (lane / 32) + item % 4,
                lane % 32,
            ]
        }
        (_, 16, _) => [item / 4, 4 * (lane / 16) + item % 4, lane % 16],
        _ => [lane / 4, item, lane % 4],
    }
}

/// Factors and sums of small integers.
struct Whole {
    shape: Matrix,
    a: Vec<i32>,
    b: Vec<i32>,
    c: Vec<i32>,
}

impl Whole {
    fn random(shape: Matrix, seed: &mut u32) -> Whole {
        let [size, k, blocks] = [shape.size, shape.k, shape.blocks].map(usize::from);
        let mut all = |count: usize| (0..count).map(|_| small(seed)).collect();
        Whole {
            shape,
            a: all(blocks * size * k),
            b: all(blocks * size * k),
            c: all(blocks * size * size),
        }
    }

    /// A[block][outer][k] or B[block][k][outer] of the element at a lane's item.
    fn factor_at(&self, lane: usize, item: usize) -> usize {
        let [size, k, blocks] = [self.shape.size, self.shape.k, self.shape.blocks].map(usize::from);
        let held = k * size * blocks / 64;
        let block = lane / size % blocks;
        let first = lane / size / blocks * held;
        (block * size + lane % size) * k + first + item
    }

    fn sum_at(&self, [block, i, j]: [usize; 3]) -> usize {
        let size = usize::from(self.shape.size);
        (block * size + i) * size + j
    }

    /// Writes A, B and C to registers.
    fn store(&self, m: &mut Machine, acc: [bool; 3]) {
        let factor = self.shape.factor;
        let bits = factor.bits() as usize;
        let held = self.a.len() / 64;
        let wave = &mut *m.wave;
        wave.vgpr.fill([0; LANES]);
        wave.agpr.fill([0; LANES]);
        for lane in 0..LANES {
            for item in 0..held {
                let at = self.factor_at(lane, item);
                for (first, of, acc) in [(A, &self.a, acc[0]), (B, &self.b, acc[1])] {
                    let is_b = first == B;
                    let file = if acc { &mut wave.agpr } else { &mut wave.vgpr };
                    put(
                        &mut file[first..],
                        bits,
                        lane,
                        item,
                        factor_bits(factor, is_b, of[at]),
                    );
                }
            }
            let file = if acc[2] {
                &mut wave.agpr
            } else {
                &mut wave.vgpr
            };
            let sum_width = bits.max(32);
            for item in 0..self.c.len() / 64 {
                let at = self.sum_at(place(self.shape, lane, item));
                put(
                    &mut file[C..],
                    sum_width,
                    lane,
                    item,
                    sum_bits(factor, self.c[at]),
                );
            }
        }
    }

    /// D by the definition; `b_lane` says which lane's B a lane takes.
    fn product(&self, cbsz: u8, abid: u8, b_lane: impl Fn(usize) -> usize) -> Vec<i32> {
        let [size, k, blocks] = [self.shape.size, self.shape.k, self.shape.blocks].map(usize::from);
        let held = self.a.len() / 64;
        let mut b = vec![0; self.b.len()];
        for lane in 0..LANES {
            for item in 0..held {
                b[self.factor_at(lane, item)] = self.b[self.factor_at(b_lane(lane), item)];
            }
        }
        let mut d = self.c.clone();
        for block in 0..blocks {
            let from = block >> cbsz << cbsz | usize::from(abid);
            for i in 0..size {
                for j in 0..size {
                    for n in 0..k {
                        let a = self.a[(from * size + i) * k + n];
                        d[(block * size + i) * size + j] += a * b[(block * size + j) * k + n];
                    }
                }
            }
        }
        d
    }

    /// Compares the registers of D.
    fn check(&self, m: &Machine, acc: bool, want: &[i32], what: &str) {
        let factor = self.shape.factor;
        let file = if acc { &m.wave.agpr } else { &m.wave.vgpr };
        (0..LANES).for_each(|lane| {
            for item in 0..self.c.len() / 64 {
                let place = place(self.shape, lane, item);
                let got = match factor {
                    Factor::F64 => {
                        let [low, high] = [0, 1].map(|n| u64::from(file[D + 2 * item + n][lane]));
                        low | high << 32
                    }
                    Factor::F32
                    | Factor::F16
                    | Factor::Bf16
                    | Factor::I8
                    | Factor::Xf32
                    | Factor::F8(..) => file[D + item][lane].into(),
                };
                let want = sum_bits(factor, want[self.sum_at(place)]);
                assert_eq!(got, want, "{what}: lane {lane} item {item} {place:?}");
            }
        });
    }
}

#[test]
fn whole_matrices() {
    let mut seed = 1;
    let mut count = 0;
    for gfx in TARGETS {
        let mut m = Machine::new(gfx);
        for (desc, shape) in rows(gfx) {
            count += 1;
            let broadcasts = shape.blocks.ilog2() as u8;
            let whole = Whole::random(shape, &mut seed);
            for n in 0..12u8 {
                let f64s = shape.factor == Factor::F64;
                let cbsz = if f64s { 0 } else { n % (broadcasts + 1) };
                let abid = (n / 3) & ((1 << cbsz) - 1);
                let blgp = if f64s { 0 } else { n % 8 };
                // On gfx908 the sums are accumulation registers whatever the bit says.
                let acc = [n & 1 != 0, n & 2 != 0, gfx == Gfx::Gfx908 || n & 4 != 0];
                whole.store(&mut m, acc);
                // EXEC means nothing.
                m.wave.set_exec([u64::MAX, 0, 0x5555][usize::from(n % 3)]);
                let bit = [acc[0], acc[1], acc[2] && gfx != Gfx::Gfx908];
                m.ends(&words(desc, gfx, [cbsz, abid, blgp], bit, 256 + C as u32));
                let want = whole.product(cbsz, abid, |lane| match blgp {
                    0 => lane,
                    1 => lane & 31,
                    2 => lane & 31 | 32,
                    3 => (lane + 16) & 63,
                    _ => lane & 15 | (usize::from(blgp) & 3) << 4,
                });
                let what = format!("{} on {gfx} {cbsz} {abid} {blgp}", desc.name);
                whole.check(&m, acc[2], &want, &what);
            }
        }
    }
    assert_eq!(count, 20 + 27 + 32);
}

/// The destination may be the registers of C, and constants are values of all elements.
#[test]
fn sums_in_place_and_constants() {
    let mut seed = 7;
    for gfx in TARGETS {
        let mut m = Machine::new(gfx);
        for (desc, shape) in rows(gfx) {
            let mut whole = Whole::random(shape, &mut seed);
            let acc = [false, true, true];
            let bit = [false, true, gfx != Gfx::Gfx908];
            whole.store(&mut m, acc);
            let [low, high] = words(desc, gfx, [0; 3], bit, 256 + D as u32);
            let (c, d) = m.wave.agpr.split_at_mut(D);
            d[..32].copy_from_slice(&c[C..][..32]);
            let want = whole.product(0, 0, |lane| lane);
            m.ends(&[low, high]);
            whole.check(&m, true, &want, desc.name);

            // -4.0, or -4 for integers.
            let (code, value) = if shape.factor == Factor::I8 {
                (196, -4)
            } else {
                (247, -4)
            };
            whole.c.fill(value);
            let want = whole.product(0, 0, |lane| lane);
            m.ends(&words(desc, gfx, [0; 3], bit, code));
            whole.check(&m, true, &want, desc.name);
        }
    }
}

/// Products with one row of A and one column of B, in all elements: A, B and C as bits.
fn uniform(gfx: Gfx, name: &str, a: &[u64], b: &[u64], c: u64) -> u64 {
    let (desc, shape) = rows(gfx).find(|(desc, _)| desc.name == name).unwrap();
    let mut m = Machine::new(gfx);
    let whole = Whole::random(shape, &mut 0);
    let bits = shape.factor.bits() as usize;
    let acc = gfx == Gfx::Gfx908;
    let wave = &mut *m.wave;
    for lane in 0..LANES {
        for item in 0..whole.a.len() / 64 {
            let k = whole.factor_at(lane, item) % usize::from(shape.k);
            let [x, y] = [a, b].map(|all| all.get(k).copied().unwrap_or(0));
            put(&mut wave.vgpr[A..], bits, lane, item, x);
            put(&mut wave.vgpr[B..], bits, lane, item, y);
        }
        let file = if acc { &mut wave.agpr } else { &mut wave.vgpr };
        for item in 0..whole.c.len() / 64 {
            put(&mut file[C..], bits.max(32), lane, item, c);
        }
    }
    m.ends(&words(desc, gfx, [0; 3], [false; 3], 256 + C as u32));
    let file = if acc { &m.wave.agpr } else { &m.wave.vgpr };
    match bits {
        64 => u64::from(file[D][5]) | u64::from(file[D + 1][5]) << 32,
        _ => file[D][5].into(),
    }
}

fn f16(values: &[f32]) -> Vec<u64> {
    values
        .iter()
        .map(|&x| half::f16::from_f32(x).to_bits().into())
        .collect()
}

fn bf16(values: &[f32]) -> Vec<u64> {
    values
        .iter()
        .map(|&x| half::bf16::from_f32(x).to_bits().into())
        .collect()
}

fn f64s(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// The check vector of MMA-Sim's families of numerics.
#[test]
fn rounding_differs_between_generations() {
    let (a, b, c) = (
        [-8192., -0.5, -0.25, -0.125],
        [1024., 1., 1., 1.],
        8_388_608f32,
    );
    let run = |gfx, name, convert: fn(&[f32]) -> Vec<u64>| {
        let bits = uniform(gfx, name, &convert(&a), &convert(&b), c.to_bits().into());
        f32::from_bits(bits as u32)
    };
    let (old, new) = (Gfx::Gfx908, Gfx::Gfx90a);
    for name in [
        "v_mfma_f32_32x32x4f16",
        "v_mfma_f32_16x16x16f16",
        "v_mfma_f32_4x4x4f16",
    ] {
        assert_eq!(run(old, name, f16), -0.875, "{name}");
        assert_eq!(run(new, name, f16), 0., "{name}");
    }
    let newest = Gfx::Gfx942;
    for name in [
        "v_mfma_f32_32x32x4f16",
        "v_mfma_f32_16x16x16_f16",
        "v_mfma_f32_4x4x4f16",
    ] {
        assert_eq!(run(newest, name, f16), -0.5, "{name}");
    }
    for name in ["v_mfma_f32_32x32x8_bf16", "v_mfma_f32_4x4x4bf16_1k"] {
        assert_eq!(run(newest, name, bf16), -0.5, "{name}");
    }
    for name in ["v_mfma_f32_32x32x4_xf32", "v_mfma_f32_16x16x8_xf32"] {
        let f32s = |values: &[f32]| values.iter().map(|x| x.to_bits().into()).collect();
        assert_eq!(run(newest, name, f32s), -0.5, "{name}");
    }
    for name in ["v_mfma_f32_32x32x16_bf8_bf8", "v_mfma_f32_16x16x32_bf8_bf8"] {
        let bf8 = |values: &[f32]| {
            let code = |&x: &f32| (0..256).find(|&code| eight_bits::to_f32(F8::Bf8, code) == x);
            values.iter().map(|x| code(x).unwrap().into()).collect()
        };
        assert_eq!(run(newest, name, bf8), -1., "{name}");
    }
    for name in ["v_mfma_f32_32x32x4bf16", "v_mfma_f32_16x16x8bf16"] {
        assert_eq!(run(old, name, bf16), -0.875, "{name}");
        assert_eq!(run(new, name, bf16), -0.375, "{name}");
    }
    for name in ["v_mfma_f32_32x32x8bf16_1k", "v_mfma_f32_4x4x4bf16_1k"] {
        assert_eq!(run(new, name, bf16), 0., "{name}");
    }
    let [a, b] = [a, b].map(|all| f64s(&all.map(f64::from)));
    for name in ["v_mfma_f64_16x16x4f64", "v_mfma_f64_4x4x4f64"] {
        let bits = uniform(new, name, &a, &b, f64::from(c).to_bits());
        assert_eq!(f64::from_bits(bits), -0.875, "{name}");
    }
}

#[test]
fn denormals_and_zeros() {
    let (old, new) = (Gfx::Gfx908, Gfx::Gfx90a);
    let (f16_name, bf16_name) = ("v_mfma_f32_4x4x4f16", "v_mfma_f32_4x4x2bf16");
    // The smallest half, times 1.
    let tiny = [1, 0, 0, 0];
    let one = f16(&[1.; 4]);
    assert_eq!(uniform(old, f16_name, &tiny, &one, 0), 0x3380_0000);
    assert_eq!(uniform(new, f16_name, &tiny, &one, 0), 0);
    // A denormal C.
    assert_eq!(uniform(old, f16_name, &[], &one, 0x8000_0001), 0x8000_0001);
    assert_eq!(uniform(new, f16_name, &[], &one, 0x8000_0001), 0);
    // A zero sum is positive where it is exact.
    assert_eq!(uniform(old, f16_name, &[0x8000; 4], &one, 0x8000_0000), 0);
    assert_eq!(
        uniform(new, f16_name, &[0x8000; 4], &one, 0x8000_0000),
        0x8000_0000
    );
    // A product of normal numbers may be a denormal.
    let (a, b) = (bf16(&[2f32.powi(-70), 0.]), bf16(&[-(2f32.powi(-70)), 0.]));
    assert_eq!(uniform(old, bf16_name, &a, &b, 0), 0x8000_0200);
    assert_eq!(uniform(new, bf16_name, &a, &b, 0), 0);
    // Factors of f32 obey MODE, which keeps denormals here.
    assert_eq!(
        uniform(new, "v_mfma_f32_4x4x1f32", &[1], &[0x3f80_0000], 0),
        1
    );
}

#[test]
fn infinities_and_nans() {
    let one = f16(&[1.; 4]);
    for gfx in TARGETS {
        let run = |a: &[u64], c: u32| uniform(gfx, "v_mfma_f32_4x4x4f16", a, &one, c.into());
        assert_eq!(run(&[0x7c00, 0, 0, 0], 0), 0x7f80_0000);
        assert_eq!(run(&[0x7c00, 0xfc00, 0, 0], 0), 0x7fc0_0000);
        assert_eq!(run(&[0x7c00, 0, 0, 0], 0xff80_0000), 0x7fc0_0000);
        assert_eq!(run(&[0, 0, 0, 0], 0xffff_ffff), 0x7fc0_0000);
        let big = bf16(&[f32::MAX / 2.; 2]);
        let name = match gfx {
            Gfx::Gfx942 => "v_mfma_f32_4x4x4bf16_1k",
            _ => "v_mfma_f32_4x4x2bf16",
        };
        assert_eq!(uniform(gfx, name, &big, &big, 0), 0x7f80_0000);
    }
}

/// Sums of products whose exponents are far apart, against integers of 128 bits.
#[test]
fn exact_sums_round_once() {
    let mut seed = 3;
    for _ in 0..20_000 {
        let value = |seed: &mut u32| {
            let exponent = small(seed) * 4 + small(seed);
            (small(seed) * 2 + 1) as f64 * 2f64.powi(exponent)
        };
        let a: [f64; 4] = std::array::from_fn(|_| value(&mut seed));
        let b: [f64; 4] = std::array::from_fn(|_| value(&mut seed));
        let c = value(&mut seed) as f32 * 2f32.powi(16 + small(&mut seed));
        // All are multiples of 2^-60.
        let scaled = |x: f64| (x * 2f64.powi(60)) as i128;
        let products = a.iter().zip(&b).map(|(a, b)| scaled(a * b));
        let sum = products.sum::<i128>() + scaled(c.into());
        let want = sum as f32 * 2f32.powi(-60);
        let got = super::sums::exact(c.to_bits().into(), &a, &b) as u32;
        assert_eq!(got, (want + 0.).to_bits(), "{a:?} {b:?} {c}");
    }
}

/// Moves obey EXEC; products do not.
#[test]
fn moves_obey_exec() {
    for gfx in TARGETS {
        let mut m = Machine::new(gfx);
        m.wave.set_exec(0b10);
        m.wave.vgpr[3] = [7; LANES];
        // v_accvgpr_write_b32 a5, v3; v_accvgpr_read_b32 v4, a5
        m.ends(&[0xd3d9_4005, 0x1800_0103, 0xd3d8_4004, 0x1800_0105]);
        assert_eq!([m.wave.agpr[5][0], m.wave.agpr[5][1]], [0, 7]);
        assert_eq!([m.wave.vgpr[4][0], m.wave.vgpr[4][1]], [0, 7]);
        assert!(m.wave.agprs_touched > 5);
        // v_accvgpr_write_b32 a6, 1.0
        m.ends(&[0xd3d9_4006, 0x1800_00f2]);
        assert_eq!([m.wave.agpr[6][0], m.wave.agpr[6][1]], [0, 0x3f80_0000]);
    }
    // v_accvgpr_mov_b32 a1, a2
    let mut m = Machine::new(Gfx::Gfx90a);
    m.wave.agpr[2] = [9; LANES];
    m.wave.set_exec(1);
    m.ends(&[0x7e02_a502]);
    assert_eq!([m.wave.agpr[1][0], m.wave.agpr[1][1]], [9, 0]);
}

/// Registers past the file are a fault, and so are scalar factors.
#[test]
fn bad_operands_are_faults() {
    let gfx = Gfx::Gfx90a;
    let (desc, _) = rows(gfx)
        .find(|(desc, _)| desc.name == "v_mfma_f32_32x32x1f32")
        .unwrap();
    let words = words(desc, gfx, [0; 3], [false; 3], 256 + C as u32);
    let mut m = Machine::new(gfx);
    let exit = m.with(&words, |wave, group| {
        let mut inst = group.code.decode(wave.pc).unwrap();
        let mut exits = Vec::new();
        for (dst, src) in [
            (Operand::Agpr(240), Operand::Vgpr(0)),
            (Operand::Vgpr(0), Operand::Sgpr(0)),
        ] {
            (inst.dst[0], inst.src[0]) = (dst, src);
            exits.push(
                crate::interp::step(wave, group, &inst)
                    .unwrap_err()
                    .kind
                    .to_string(),
            );
        }
        exits
    });
    assert!(exit[0].contains("a[240:271]"), "{exit:?}");
    assert!(exit[1].contains("Sgpr(0)"), "{exit:?}");
    assert!(matches!(m.run(&[]), Exit::End));
}
