//! Control flow, the stack, calls, atomics: the programs of `control.cl`, written again.

use super::input;
use super::{Slots, Want, check};

/// Checks a kernel of which each work-item stands alone.
fn check_items<const N: usize>(
    kernel: &str,
    slots: &Slots,
    names: [&str; N],
    of: impl Fn([u64; 3]) -> [u64; N],
) {
    let want: Vec<Want> = slots.items().flat_map(of).map(Want::Bits).collect();
    check("control", kernel, slots, &names, |_| want.clone());
}

#[test]
fn switches() {
    let slots = input::slots(0x7000, 64, |r| r.next());
    let names = ["dense", "sparse", "falling through"];
    check_items("switches", &slots, names, |[a, b, _]| {
        let (x, y) = (a as u32, b as u32);
        let dense = match x & 15 {
            0 => y.wrapping_add(1),
            1 => y.wrapping_mul(3),
            2 => y ^ 0x55,
            3 => y >> 3,
            4 => y << 4,
            5 => !y,
            6 => y.wrapping_sub(x),
            7 => y & x,
            9 => y | x,
            12 => y.rotate_left(9),
            _ => 12345,
        };
        let sparse = match y >> 8 & 0xff {
            0x01 => 1,
            0x17 => 22,
            0x80 => 333,
            0xfe => 4444,
            0xff => 55555,
            0..100 => 6,
            _ => 7,
        };
        let (from, mut s) = (x % 7, 1u32);
        if from == 1 {
            s = 17;
        } else if from > 1 {
            if from >= 6 {
                s = s * 3 + 1;
            }
            if from >= 5 {
                s = s * 5 + 2;
            }
            if from < 4 || y & 1 == 0 {
                if from >= 4 {
                    s += 1000;
                }
                if from >= 3 {
                    s = s * 7 + 3;
                }
                s ^= y & 0xff;
            }
        }
        [dense.into(), sparse, s.into()]
    });
}

#[test]
fn loops() {
    let slots = input::slots(0x7100, 64, |r| r.next());
    let names = ["collatz", "gcd", "primes", "power"];
    check_items("loops", &slots, names, |[a, b, c]| {
        let (x, y) = (a as u32, b as u32);
        let collatz = |n: &u32| (*n != 1).then(|| if n & 1 == 1 { 3 * n + 1 } else { n / 2 });
        let steps = std::iter::successors(Some((x & 0x3ff) + 1), collatz).count() - 1;
        // Euclid's algorithm; both numbers are odd.
        let (mut p, mut q) = (x & 0xffff | 1, y & 0xffff | 1);
        while q != 0 {
            (p, q) = (q, p % q);
        }
        let primes = (2..=x >> 16 & 127)
            .filter(|m| (2..*m).all(|d| m % d != 0))
            .count();
        let modulus = u128::from(y & 0x7fff_ffff | 1);
        let exponent = (c >> 20) as u32 & 0xffff;
        // From the highest bit down, where the kernel goes up.
        let power = (0..16).rev().fold(1 % modulus, |power, bit| {
            let squared = power * power % modulus;
            match exponent >> bit & 1 {
                1 => squared * u128::from(x) % modulus,
                _ => squared,
            }
        });
        [steps as u64, p.into(), primes as u64, power as u64]
    });
}

#[test]
fn stack() {
    let slots = input::slots(0x7200, 64, |r| r.next());
    let names = ["bytes", "halfwords", "dwords", "qwords", "four dwords"];
    check_items("stack", &slots, names, |[a, b, c]| {
        let key = a.to_le_bytes();
        let mut bytes: Vec<u8> = (0..=255).collect();
        let mut j = 0u8;
        for k in 0..256 {
            j = j.wrapping_add(bytes[k]).wrapping_add(key[k & 7]);
            bytes.swap(k, j.into());
        }
        let (mut stream, mut j) = (0, 0u8);
        for k in 1..=8 {
            j = j.wrapping_add(bytes[k]);
            bytes.swap(k, j.into());
            let at = bytes[k].wrapping_add(bytes[usize::from(j)]);
            stream = stream << 8 | u64::from(bytes[usize::from(at)]);
        }
        let mut halfwords: Vec<i16> = (0..16)
            .map(|k| (if k & 8 == 0 { a } else { b } >> (4 * (k & 7))) as i16)
            .collect();
        halfwords.sort_unstable();
        let hash = halfwords.iter().fold(0u64, |hash, &h| {
            hash.wrapping_mul(31).wrapping_add((h as u16).into())
        });
        let mut words = vec![b as u32, c as u32];
        let mut wide = vec![b, c];
        for k in 2..40 {
            words.push(words[k - 1].wrapping_add(words[k - 2]));
            wide.push(wide[k - 1] ^ wide[k - 2].rotate_left(k as u32));
        }
        let at = (a >> 32) as usize;
        let k = (c >> 40) as u32 & 7;
        let row = [
            k,
            (a as u32).wrapping_add(k),
            (b as u32).wrapping_mul(k),
            c as u32 ^ k,
        ];
        [
            stream,
            hash,
            words[at % 40].into(),
            wide[at % 20],
            u64::from(row[0].wrapping_add(row[1])) << 32 | u64::from(row[2] ^ row[3]),
        ]
    });
}

const FUNCTIONS: [fn(u32, u32) -> u32; 4] = [
    |x, y| x.wrapping_add(y.wrapping_mul(2)),
    |x, y| x.wrapping_mul(y) ^ y >> 3,
    |x, y| x.checked_rem(y).unwrap_or(x),
    |x, y| FUNCTIONS[0](y, x).wrapping_sub(FUNCTIONS[1](x, y | 1)),
];

#[test]
fn calls() {
    let slots = input::slots(0x7300, 64, |r| r.next());
    let mut want = Vec::new();
    let items: Vec<[u64; 3]> = slots.items().collect();
    for wave in items.chunks(64) {
        let by_wave = FUNCTIONS[wave[0][2] as usize & 3];
        for &[a, b, c] in wave {
            let (x, y, z) = (a as u32, b as u32, c as u32);
            let chain = (0..8).fold(x, |r, k| {
                FUNCTIONS[(z >> (2 * k)) as usize & 3](r, y.wrapping_add(k))
            });
            // Ackermann's function in closed form.
            let n = y & 7;
            let ackermann = if x & 1 == 1 { 2 * n + 3 } else { n + 2 };
            want.extend([chain, by_wave(x, y), ackermann].map(|v| Want::Bits(v.into())));
        }
    }
    let names = ["pointers by lane", "pointer by wave", "recursion"];
    check("control", "calls", &slots, &names, |_| want.clone());
}

#[test]
fn atomics_on_lds() {
    type Operation = fn(u32, u32) -> u32;
    let kernels: [(&str, u32, Operation); 9] = [
        ("lds_add", 5, |old, v| old.wrapping_add(v)),
        ("lds_sub", 5, |old, v| old.wrapping_sub(v)),
        ("lds_xchg", 5, |_, v| v),
        ("lds_min", !0, |old, v| old.min(v)),
        ("lds_max", 5, |old, v| old.max(v)),
        ("lds_smin", i32::MAX as u32, |old, v| {
            (old as i32).min(v as i32) as u32
        }),
        ("lds_and", !0, |old, v| old & v),
        ("lds_or", 5, |old, v| old | v),
        ("lds_xor", 5, |old, v| old ^ v),
    ];
    for (kernel, start, operation) in kernels {
        let slots = input::slots(0x7400, 64, |r| r.next());
        let items: Vec<[u64; 3]> = slots.items().collect();
        let mut want = Vec::new();
        for wave in items.chunks(64) {
            let mut cells = [start; 5];
            let returned: Vec<u32> = wave
                .iter()
                .map(|&[a, b, _]| {
                    let cell = &mut cells[(b as u32 % 5) as usize];
                    let old = *cell;
                    *cell = operation(old, a as u32);
                    old
                })
                .collect();
            for (lane, &old) in returned.iter().enumerate() {
                // Signed results are stored as 64 bits.
                let old = match kernel {
                    "lds_smin" => i64::from(old as i32) as u64,
                    _ => old.into(),
                };
                want.extend([Want::Bits(old), Want::Bits(cells[lane % 5].into())]);
            }
        }
        let names = ["returned", "left"];
        check("control", kernel, &slots, &names, |_| want.clone());
    }
}

#[test]
fn scan() {
    let slots = input::slots(0x7500, 64, |r| r.next());
    let mut want = Vec::new();
    for wave in slots.a.chunks(64) {
        let mut cell = 1000u32;
        for &a in wave {
            want.push(Want::Bits(cell.into()));
            cell = cell.wrapping_add(a as u32);
        }
    }
    check("control", "scan", &slots, &["returned"], |_| want.clone());
}

#[test]
fn atomics_on_global_memory() {
    let slots = input::slots(0x7600, 64, |r| r.next());
    let names = [
        "add",
        "cmpxchg",
        "inc",
        "max signed",
        "add x2",
        "add x2 returned",
        "min x2 signed",
        "min x2 returned",
        "cmpxchg x2",
        "cmpxchg x2 returned",
    ];
    check_items("global_atomics", &slots, names, |[a, b, c]| {
        let (x, y) = (a as u32, b as u32);
        let with_old = |left: u32| u64::from(left) | u64::from(y) << 32;
        let odd = x & 1 == 1;
        [
            with_old(y.wrapping_add(x)),
            with_old(if odd { x } else { y }),
            with_old(y.wrapping_add(1)),
            with_old((y as i32).max(x as i32) as u32),
            b.wrapping_add(a),
            b,
            (b as i64).min(a as i64) as u64,
            b,
            if odd || a == b { c } else { b },
            b,
        ]
    });
}
