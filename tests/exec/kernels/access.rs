//! Loads and stores of every width, kind and alignment in every memory; arguments; calls.

use half::f16;
use harness::random::Random;
use wavelift::{Arg, DeviceOptions, Element, Gfx, Launch, Module};

use super::{OPENCL_TARGETS, Rig, TARGETS, THREADS, object_bytes, on_targets};

/// Work-items of most tests: two workgroups of one wave.
const N: usize = 128;

/// An integer that vectors are made of.
trait Lane: Element + PartialEq + std::fmt::Debug {
    const NAME: &str;
    fn from_bits(bits: u64) -> Self;
    fn plus(self, n: u8) -> Self;
}

macro_rules! lane {
    ($($ty:ty = $name:literal)*) => {
        $(impl Lane for $ty {
            const NAME: &str = $name;
            fn from_bits(bits: u64) -> $ty {
                bits as $ty
            }
            fn plus(self, n: u8) -> $ty {
                self.wrapping_add(n.into())
            }
        })*
    };
}
lane!(u8 = "uchar" u16 = "ushort" u32 = "uint" u64 = "ulong");

fn vectors<T: Lane>(rig: &Rig, module: &Module) {
    let mut random = Random::new(3);
    let input: Vec<T> = (0..N * 32).map(|_| T::from_bits(random.next())).collect();
    let output: Vec<T> = (0..N * 32).map(|_| T::from_bits(random.next())).collect();
    for shift in [0usize, 1, 2] {
        let mut want = output.clone();
        for item in 0..N {
            for (start, width, plus) in [(0, 2, 1), (2, 3, 2), (5, 4, 3), (9, 8, 4), (14, 16, 5)] {
                for k in item * 32 + shift + start..item * 32 + shift + start + width {
                    want[k] = input[k].plus(plus);
                }
            }
        }
        for space in ["global", "local", "private"] {
            if space == "local" && T::NAME == "uchar" && module.gfx() == Gfx::Gfx803 {
                // clang 19 makes two loads of bytes one of a halfword at an odd address, which
                // LDS before gfx9 aligns down.
                continue;
            }
            let kernel = format!("vector_{space}_{}", T::NAME);
            let (out, values) = (rig.buffer(&output), rig.buffer(&input));
            let args = [(&out).into(), (&values).into(), (shift as u32).into()];
            rig.launch(module, &kernel, Launch::new(N as u32, 64), &args);
            rig.expect(
                module,
                &format!("{kernel} from element {shift}"),
                &out,
                &want,
            );
        }
    }
}

#[test]
fn vectors_of_every_width_at_every_element() {
    on_targets("access", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            vectors::<u8>(rig, module);
            vectors::<u16>(rig, module);
            vectors::<u32>(rig, module);
            vectors::<u64>(rig, module);
        });
    });
}

/// Elements of `words` words whose indices count down: `a[17 - p] += 1; a[to - p] = a[from - p]`.
fn below<T: Lane>(rig: &Rig, module: &Module, words: usize, name: &str) {
    let mut random = Random::new(5);
    for (space, length, to, from) in [("private", 48, 29, 47), ("local", 24, 20, 23)] {
        let input: Vec<T> = (0..N * length * words)
            .map(|_| T::from_bits(random.next()))
            .collect();
        let places: Vec<u32> = (0..N).map(|_| random.below(18)).collect();
        let mut want = input.clone();
        for (item, &p) in places.iter().enumerate() {
            let at = |n: usize| (item * length + n - p as usize) * words;
            for word in 0..words {
                want[at(17) + word] = want[at(17) + word].plus(1);
            }
            let moved = want[at(from)..][..words].to_vec();
            want[at(to)..][..words].copy_from_slice(&moved);
        }
        let kernel = format!("below_{space}_{name}");
        let (out, values) = (
            rig.buffer(&vec![T::from_bits(0); input.len()]),
            rig.buffer(&input),
        );
        let places = rig.buffer(&places);
        let args = [(&out).into(), (&values).into(), (&places).into()];
        rig.launch(module, &kernel, Launch::new(N as u32, 64), &args);
        rig.expect(module, &kernel, &out, &want);
    }
}

#[test]
fn indices_that_count_down_from_a_constant() {
    let targets = [&TARGETS[..], &[Gfx::Gfx908, Gfx::Gfx90a, Gfx::Gfx942]].concat();
    on_targets("below", &targets, |rig, module| {
        rig.each(&[1, 2], |rig| {
            below::<u8>(rig, module, 1, "uchar");
            below::<u16>(rig, module, 1, "ushort");
            below::<u32>(rig, module, 1, "uint");
            below::<u64>(rig, module, 1, "ulong");
            below::<u64>(rig, module, 2, "ulong2");
        });
    });
}

/// The structure without padding of the kernel.
#[derive(Clone, Copy)]
struct Packed {
    a: u8,
    b: u16,
    c: u32,
    d: u64,
}

impl Packed {
    fn turn(self) -> Packed {
        Packed {
            a: (u16::from(self.a).wrapping_add(self.b)) as u8,
            b: self.b ^ self.c as u16,
            c: self.c.wrapping_add((self.d >> 32) as u32),
            d: self.d.wrapping_mul(3).wrapping_add(self.a.into()),
        }
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = vec![self.a];
        bytes.extend(self.b.to_le_bytes());
        bytes.extend(self.c.to_le_bytes());
        bytes.extend(self.d.to_le_bytes());
        bytes
    }
}

#[test]
fn structures_without_padding() {
    let mut random = Random::new(8);
    let all: Vec<Packed> = (0..N)
        .map(|_| Packed {
            a: random.next() as u8,
            b: random.next() as u16,
            c: random.next() as u32,
            d: random.next(),
        })
        .collect();
    let input: Vec<u8> = all.iter().flat_map(|p| p.bytes()).collect();
    let want = (0..N).flat_map(|i| {
        let (group, lane) = (i / 64 * 64, i % 64);
        let mine = |k: usize| all[group + (lane + k) % 64].turn().turn();
        mine(usize::from(mine(0).a & 3)).turn().bytes()
    });
    let want: Vec<u8> = want.collect();
    on_targets("access", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let buffer = rig.buffer(&input);
            let args = [(&buffer).into()];
            rig.launch(module, "packed", Launch::new(N as u32, 64), &args);
            rig.expect(module, "packed", &buffer, &want);
        });
    });
}

const TABLE8: [i32; 16] = [
    0, 1, -1, 127, -128, 64, -64, 85, 2, -2, 99, -99, 11, 22, -33, -44,
];
const TABLE16: [i32; 8] = [0, 1, 65535, 32767, 32768, 43690, 21845, 256];

#[test]
fn bytes_and_halfwords_of_either_sign() {
    let mut random = Random::new(21);
    let in8: Vec<i8> = (0..N + 8).map(|_| random.next() as i8).collect();
    let in16: Vec<i16> = (0..N + 8).map(|_| random.next() as i16).collect();
    let (mut sums, mut bytes, mut halves) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..N {
        let (group, lane) = (i & !63, i & 63);
        let a = i32::from(in8[group + (lane ^ 1)]);
        let b = i32::from(in8[i] as u8);
        let c = i32::from(in16[group + (lane ^ 3)]);
        let d = i32::from(in16[i] as u16);
        let e = i32::from(in8[i + (b & 7) as usize]);
        let f = i32::from((i32::from(in16[i + (b >> 3 & 7) as usize]) * 3) as u16);
        let tables = TABLE8[b as usize & 15] * 19 + TABLE16[d as usize & 7] * 23;
        sums.push(a * 3 + b * 5 + c * 7 + d * 11 + e * 13 + f * 17 + tables);
        bytes.push((a + c) as u8);
        halves.push((f - e) as u16);
    }
    on_targets("access", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let out = (
                rig.buffer(&[0i32; N]),
                rig.buffer(&[0u8; N]),
                rig.buffer(&[0u16; N]),
            );
            let (in8, in16) = (rig.buffer(&in8), rig.buffer(&in16));
            let args = [&out.0, &out.1, &out.2, &in8, &in16].map(Arg::from);
            rig.launch(module, "subdword", Launch::new(N as u32, 64), &args);
            rig.expect(module, "subdword, sums", &out.0, &sums);
            rig.expect(module, "subdword, bytes", &out.1, &bytes);
            rig.expect(module, "subdword, halves", &out.2, &halves);
        });
    });
}

#[test]
fn pairs_of_halfwords() {
    let mut random = Random::new(22);
    let input: Vec<u16> = (0..N + 1).map(|_| random.next() as u16).collect();
    let bytes: Vec<u8> = (0..N + 1).map(|_| random.next() as u8).collect();
    let mut want = Vec::new();
    for i in 0..N {
        let (group, lane) = (i & !63, i & 63);
        let v = [input[i], input[i + 1]];
        let w = [input[group + (lane ^ 5)], !input[group + (lane ^ 9)]];
        let x = [u16::from(bytes[i]), bytes[i + 1] as i8 as u16];
        let sum = [0, 1].map(|k| v[k].wrapping_add(w[k].wrapping_mul(x[k])));
        want.extend([sum[0], sum[1], w[1] ^ v[0], x[1]]);
    }
    on_targets("access", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let out = rig.buffer(&[0u16; 4 * N]);
            let (input, bytes) = (rig.buffer(&input), rig.buffer(&bytes));
            let args = [&out, &input, &bytes].map(Arg::from);
            rig.launch(module, "pairs", Launch::new(N as u32, 64), &args);
            rig.expect(module, "pairs", &out, &want);
        });
    });
}

/// The nearest half that is not further from 0.
fn toward_zero(value: f32) -> f16 {
    let near = f16::from_f32(value);
    match near.to_f32().abs() > value.abs() {
        true => f16::from_bits(near.to_bits() - 1),
        false => near,
    }
}

#[test]
fn halves_in_memory() {
    let mut random = Random::new(23);
    // Ordinary numbers and denormals, of both signs.
    let mut number = || {
        let bits = random.next() as u16;
        f16::from_bits(bits & 0xbfff)
    };
    let input: Vec<f16> = (0..4 * N).map(|_| number()).collect();
    let mut want = vec![f16::ZERO; 5 * N];
    for i in 0..N {
        let one = input[i * 3].to_f32();
        for k in i * 4..i * 4 + 4 {
            want[k] = f16::from_f32(input[k].to_f32() * 1.5 + one);
        }
        want[4 * N + i] = toward_zero(one * 0.3);
    }
    let bits = |halves: &[f16]| halves.iter().map(|h| h.to_bits()).collect::<Vec<u16>>();
    let (input, want) = (bits(&input), bits(&want));
    on_targets("access", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (out, input) = (rig.buffer(&vec![0u16; 5 * N]), rig.buffer(&input));
            let args = [&out, &input].map(Arg::from);
            rig.launch(module, "halves", Launch::new(N as u32, 64), &args);
            rig.expect(module, "halves", &out, &want);
        });
    });
}

#[test]
fn structures_by_value() {
    let items = [
        (7u8, 100u32),
        (255, u32::MAX),
        (0, 0),
        (128, 1 << 31),
        (3, 12345),
    ];
    let (c, s, big, rgb, tail) = (
        -100i8,
        -30_000i16,
        0xdead_beef_0bad_cafeu64,
        [1u8, 2, 200],
        9u8,
    );
    let v = [1.25f32, 2.0, 3.0, 1e6];
    let last = (77u8, 4_000_000_000u32);
    let mut config = vec![0u8; 80];
    config[0] = c as u8;
    config[2..4].copy_from_slice(&s.to_le_bytes());
    for (k, item) in items.iter().enumerate() {
        config[4 + 8 * k] = item.0;
        config[8 + 8 * k..12 + 8 * k].copy_from_slice(&item.1.to_le_bytes());
    }
    for (k, x) in v.iter().enumerate() {
        config[48 + 4 * k..52 + 4 * k].copy_from_slice(&x.to_le_bytes());
    }
    config[64..72].copy_from_slice(&big.to_le_bytes());
    config[72..75].copy_from_slice(&rgb);
    let mut last_bytes = vec![last.0, 0, 0, 0];
    last_bytes.extend(last.1.to_le_bytes());
    let want = (0..N).map(|i| {
        let item = items[i % 5];
        let sum = i32::from(c) * 3 + i32::from(s) + i32::from(item.0) * 1000;
        let sum = u64::from((sum as u32).wrapping_add(item.1));
        let sum = sum.wrapping_mul(31) + (if i & 1 == 1 { v[0] } else { v[3] } * 4.0) as u64;
        let sum = sum.wrapping_mul(31).wrapping_add(big);
        let sum = sum.wrapping_add(u64::from(rgb[2]) + u64::from(tail));
        let sum = sum.wrapping_mul(31).wrapping_add(last.0.into());
        sum.wrapping_add(last.1.into())
    });
    let want: Vec<u64> = want.collect();
    on_targets("access", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let out = rig.buffer(&[0u64; N]);
            let config = Arg::Bytes(config.clone());
            let last = Arg::Bytes(last_bytes.clone());
            let args = [(&out).into(), config, tail.into(), last];
            rig.launch(module, "structs", Launch::new(N as u32, 64), &args);
            rig.expect(module, "structs", &out, &want);
        });
    });
}

#[test]
fn private_arrays_with_an_index_of_each_lane() {
    let mut random = Random::new(31);
    let input: Vec<i32> = (0..24 * N).map(|_| random.word() as i32).collect();
    let (mut want, mut codes) = (Vec::new(), Vec::new());
    for values in input.chunks(24) {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let mut counts = [0u8; 16];
        let mut wide = [0u64, 1, 2, 3];
        for value in values {
            let (low, code) = (*value as usize & 15, *value as usize);
            counts[low] += 1;
            wide[code & 3] = wide[code >> 2 & 3]
                .wrapping_mul(5)
                .wrapping_add(counts[low].into());
        }
        let count = u64::from(counts[sorted[7] as usize & 15]);
        codes.push(wide[0] ^ wide[1] << 1 ^ wide[2] << 2 ^ wide[3] << 3 ^ count);
        want.extend(sorted);
    }
    on_targets("access", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (out, out_codes) = (rig.buffer(&[0i32; 24 * N]), rig.buffer(&[0u64; N]));
            let input = rig.buffer(&input);
            let args = [&out, &out_codes, &input].map(Arg::from);
            rig.launch(module, "sorted", Launch::new(N as u32, 64), &args);
            rig.expect(module, "sorted", &out, &want);
            rig.expect(module, "sorted, codes", &out_codes, &codes);
        });
    });
}

#[test]
fn lds_that_the_launch_sizes() {
    let n = 300u32;
    let want = (0..N as u32).map(|i| {
        let k = (i % 64 * 5 + 1) % n;
        k * 3 + 2 * k + k + u32::from((k * 7) as u8) + 7
    });
    let want: Vec<u32> = want.collect();
    on_targets("access", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let out = rig.buffer(&[0u32; N]);
            let local = [4, 8, 1].map(|size| Arg::Local(size * n));
            let [a, b, c] = local;
            let args = [(&out).into(), a, b, c, n.into()];
            rig.launch(module, "local_arguments", Launch::new(N as u32, 64), &args);
            rig.expect(module, "local_arguments", &out, &want);
        });
    });
}

fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

fn parity(is_odd: bool, n: u32, path: [u32; 4]) -> u32 {
    let mut mine = [0u32; 4];
    for k in 0..4 {
        mine[k] = match is_odd {
            true => path[3 - k] ^ n,
            false => path[k].wrapping_mul(3).wrapping_add(n),
        };
    }
    match n {
        0 if is_odd => mine[2],
        0 => mine[1],
        n => parity(!is_odd, n - 1, mine).wrapping_add(mine[n as usize & 3]),
    }
}

#[test]
fn recursion_lane_by_lane() {
    let mut random = Random::new(41);
    let input: Vec<u32> = (0..N).map(|_| random.next() as u32).collect();
    let mut want = Vec::new();
    for (i, &x) in input.iter().enumerate() {
        want.push(ackermann(x % 3, x % 5));
        want.push(parity(i & 1 == 1, x % 13, [x, i as u32, 1, 2]));
    }
    on_targets("calls", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (out, input) = (rig.buffer(&[0u32; 2 * N]), rig.buffer(&input));
            let args = [&out, &input].map(Arg::from);
            rig.launch(module, "recursion", Launch::new(N as u32, 64), &args);
            rig.expect(module, "recursion", &out, &want);
        });
    });
}

/// The compiler does not know how deep the recursion goes: the launch says how much stack there is.
#[test]
fn stacks_are_as_large_as_the_launch_says() {
    let mut random = Random::new(43);
    // No lane needs little of it.
    let input: Vec<u32> = (0..64)
        .map(|_| random.below(1 << 20) * 13 * 15 + 14 * 13 - 1)
        .collect();
    let mut want = Vec::new();
    for (i, &x) in input.iter().enumerate() {
        want.push(ackermann(x % 3, x % 5));
        want.push(parity(i & 1 == 1, x % 13, [x, i as u32, 1, 2]));
    }
    for gfx in TARGETS {
        let mut ends = Vec::new();
        for stack_bytes in [1 << 18, 1 << 14, 4096, 64, 0] {
            let rig = Rig::with(DeviceOptions {
                reserve: 1 << 30,
                stack_bytes: Some(stack_bytes),
                memcheck: true,
                ..DeviceOptions::default()
            });
            let module = Module::load(&rig.device, &object_bytes("calls", gfx)).unwrap();
            let mut first: Option<String> = None;
            rig.each(&[1], |rig| {
                let (out, input) = (rig.buffer(&[0u32; 128]), rig.buffer(&input));
                let args = [&out, &input].map(Arg::from);
                let said = match rig.try_launch(&module, "recursion", Launch::new(64, 64), &args) {
                    Ok(_) => {
                        rig.expect(&module, "recursion", &out, &want);
                        "right".to_owned()
                    }
                    Err(error) => error.fault().expect("the guest did wrong").to_string(),
                };
                let first = first.get_or_insert_with(|| said.clone());
                assert_eq!(*first, said, "{gfx} with {stack_bytes} bytes of stack");
            });
            ends.extend(first);
        }
        assert!(
            ends[..3].iter().all(|end| end == "right"),
            "{gfx}: {ends:?}"
        );
        assert!(
            ends[3..].iter().all(|end| end != "right"),
            "{gfx}: {ends:?}"
        );
    }
}

#[test]
fn calls_through_pointers_from_memory() {
    let mut random = Random::new(42);
    let input: Vec<u32> = (0..N).map(|_| random.next() as u32).collect();
    let twice = |a: u32| a.wrapping_mul(2);
    let plus = |a: u32| a.wrapping_add(13);
    let want = input.iter().enumerate().map(|(i, &x)| {
        (0..6).fold(x, |a, k| match (a >> k ^ i as u32) & 3 {
            0 => twice(a),
            1 => plus(a),
            2 => a << 7 ^ a >> 3,
            _ => twice(plus(a)),
        })
    });
    let want: Vec<u32> = want.collect();
    on_targets("calls", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (out, input) = (rig.buffer(&[0u32; N]), rig.buffer(&input));
            let table = rig.buffer(&[0u64; 4]);
            rig.launch(module, "fill", Launch::new(1, 1), &[(&table).into()]);
            let args = [&out, &table, &input].map(Arg::from);
            rig.launch(module, "indirect", Launch::new(N as u32, 64), &args);
            rig.expect(module, "indirect", &out, &want);
        });
    });
}
