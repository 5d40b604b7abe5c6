//! Vectors: packed operations element by element, shuffles, registers chosen by a variable, and the
//! exchange between the lanes of a wave.

use wavelift::Gfx;

use super::input;
use super::integer::Int;
use super::{Slots, Want, check};

/// Elements of a slot, the first in the low bits.
fn elements(slot: u64, bits: u32) -> impl Iterator<Item = u64> {
    (0..64 / bits).map(move |i| slot >> (i * bits) & !0 >> (64 - bits))
}

/// The slot of such elements.
fn packed(elements: impl IntoIterator<Item = u64>, bits: u32) -> u64 {
    elements
        .into_iter()
        .enumerate()
        .fold(0, |slot, (i, element)| slot | element << (i as u32 * bits))
}

type Operation = fn(Int, i128, i128, i128) -> i128;

/// The results of the kernels `packed_*`, for one element.
#[rustfmt::skip]
const OPERATIONS: &[(&str, Operation)] = &[
    ("add", |_, x, y, _| x + y),
    ("sub", |_, x, y, _| x - y),
    ("mul", |_, x, y, _| x * y),
    ("mad", |_, x, y, z| x * y + z),
    ("min", |_, x, y, _| x.min(y)),
    ("max", |_, x, y, _| x.max(y)),
    ("shl", |t, x, y, _| x << t.shift(y)),
    ("shr", |t, x, y, _| x >> t.shift(y)),
    ("add_sat", |t, x, y, _| t.saturate(x + y)),
    ("sub_sat", |t, x, y, _| t.saturate(x - y)),
    ("hadd", |_, x, y, _| (x + y) >> 1),
    ("abs_diff", |_, x, y, _| (x - y).abs()),
    ("mul_hi", |t, x, y, _| t.high(x, y)),
    ("rotate", |t, x, y, _| t.rotated(x, y)),
    ("select", |_, x, y, z| if x < y { x } else { z }),
    // A true comparison of vectors is all ones.
    ("eq", |_, x, y, _| -i128::from(x == y)),
];

#[test]
fn packed_integers() {
    for bits in [8, 16, 32] {
        for signed in [false, true] {
            let int = Int::new(bits, signed);
            let slots = input::slots(0x6000 + u64::from(bits), 64, |r| {
                packed(
                    (0..64 / bits).map(|_| input::integer(r, bits) & !0 >> (64 - bits)),
                    bits,
                )
            });
            let one = |[a, b, c]: [u64; 3]| {
                OPERATIONS.iter().map(move |(_, operation)| {
                    let each = elements(a, bits)
                        .zip(elements(b, bits))
                        .zip(elements(c, bits))
                        .map(|((x, y), z)| {
                            int.cut(operation(int, int.value(x), int.value(y), int.value(z)))
                        });
                    Want::Bits(packed(each, bits))
                })
            };
            let want: Vec<Want> = slots.items().flat_map(one).collect();
            let names: Vec<&str> = OPERATIONS.iter().map(|&(name, _)| name).collect();
            let kernel = format!("packed_{}{bits}", if signed { "s" } else { "u" });
            check("vector", &kernel, &slots, &names, |_| want.clone());
        }
    }
}

#[test]
fn shuffles() {
    let names = [
        "shuffle bytes",
        "shuffle2 bytes",
        "shuffle halfwords",
        "shuffle2 halfwords",
        "reversed",
        "pairs swapped",
        "even and odd",
        "two vectors",
        "halfwords reversed",
        "halfwords of two",
        "halves of two",
        "bitselect",
        "select",
    ];
    let slots = input::slots(0x6100, 64, |r| r.next());
    let one = |[a, b, c]: [u64; 3]| {
        let (x, y, m) = (a.to_le_bytes(), b.to_le_bytes(), c.to_le_bytes());
        let words = |slot: u64| -> Vec<u64> { elements(slot, 16).collect() };
        let (p, q, r) = (words(a), words(b), words(c));
        let bytes = |of: &dyn Fn(usize) -> u8| packed((0..8).map(|i| of(i).into()), 8);
        let halfwords = |of: &dyn Fn(usize) -> u64| packed((0..4).map(of), 16);
        let both: Vec<u8> = x.iter().chain(&y).copied().collect();
        let both_words: Vec<u64> = p.iter().chain(&q).copied().collect();
        [
            bytes(&|i| x[usize::from(m[i] & 7)]),
            bytes(&|i| both[usize::from(m[i] & 15)]),
            halfwords(&|i| p[r[i] as usize & 3]),
            halfwords(&|i| both_words[r[i] as usize & 7]),
            a.swap_bytes(),
            bytes(&|i| x[i ^ 1]),
            bytes(&|i| if i < 4 { x[2 * i] } else { y[2 * i - 7] }),
            bytes(&|i| [x[0], y[1], x[2], y[3], x[7], y[6], x[5], y[4]][i]),
            halfwords(&|i| p[3 - i]),
            halfwords(&|i| [p[1], q[2], q[0], p[3]][i]),
            a & 0xffff_ffff | b & !0xffff_ffff,
            a & !c | b & c,
            bytes(&|i| if m[i] & 0x80 == 0 { x[i] } else { y[i] }),
        ]
        .map(Want::Bits)
    };
    let want: Vec<Want> = slots.items().flat_map(one).collect();
    check("vector", "shuffles", &slots, &names, |_| want.clone());
}

/// The slots of a wave.
fn waves(slots: &Slots) -> impl Iterator<Item = Vec<[u64; 3]>> {
    let items: Vec<_> = slots.items().collect();
    let waves: Vec<_> = items.chunks(64).map(<[_]>::to_vec).collect();
    waves.into_iter()
}

#[test]
fn registers_chosen_by_a_variable() {
    let names = [
        "read by lane",
        "read by wave",
        "written, read by wave",
        "written, read by lane",
        "all",
        "wide",
    ];
    let slots = input::slots(0x6200, 64, |r| r.next());
    let mut want = Vec::new();
    for wave in waves(&slots) {
        let by_wave = wave[0][2] as u32 as usize >> 4 & 15;
        for [a, b, c] in wave {
            let (x, y, z) = (a as u32, b as u32, c as u32);
            let mut t = [0u32; 16];
            for (k, t) in (0u32..).zip(&mut t) {
                *t = x.wrapping_mul(2 * k + 1).wrapping_add(y >> k);
            }
            let lane = z as usize & 15;
            let (by_lane, before) = (t[lane], t[by_wave]);
            t[by_wave] = y;
            t[z as usize >> 8 & 15] = x ^ z;
            let sum = t
                .iter()
                .fold(0u32, |sum, &t| sum.wrapping_mul(5).wrapping_add(t));
            let wide = [a, b, c, a.wrapping_add(b), b ^ c, !a, !b, !c];
            want.extend(
                [
                    by_lane.into(),
                    before.into(),
                    t[(by_wave + 3) & 15].into(),
                    t[z as usize >> 12 & 15].into(),
                    sum.into(),
                    wide[lane & 7].wrapping_sub(wide[by_wave & 7]),
                ]
                .map(Want::Bits),
            );
        }
    }
    check("vector", "registers", &slots, &names, |_| want.clone());
}

#[test]
fn lanes() {
    let mut names = vec![
        "readfirstlane",
        "readlane",
        "swizzle quad",
        "swizzle xor 5",
        "swizzle and 24 or 3",
        "less",
        "mbcnt",
        "rank of odd",
    ];
    let newer = [
        "bpermute",
        "permute",
        "dpp quad_perm",
        "dpp row_shr",
        "dpp row_shl",
        "dpp row_ror",
        "dpp wave_shr",
        "dpp mirrors",
    ];
    names.extend(newer);
    let slots = input::slots_of(0x6300, 64 * 12, 64, |r| r.next());
    let want = |target: Gfx| {
        let mut want = Vec::new();
        for wave in waves(&slots) {
            let x = |lane: usize| u64::from(wave[lane][0] as u32);
            let z = |lane: usize| wave[lane][2] as u32 as usize;
            let less = mask(|lane| wave[lane][0] < wave[lane][1]);
            let odd = mask(|lane| x(lane) & 1 == 1);
            for lane in 0..64 {
                let below = (1u64 << lane) - 1;
                want.extend(
                    [
                        x(0),
                        x(z(0) & 63),
                        x(lane ^ 3),
                        x(lane ^ 5),
                        x(lane & 32 | lane & 24 | 3),
                        less,
                        lane as u64,
                        match odd >> lane & 1 {
                            1 => (odd & below).count_ones().into(),
                            _ => 99,
                        },
                    ]
                    .map(Want::Bits),
                );
                if target < Gfx::Gfx803 {
                    // Nothing is written there.
                    want.extend([Want::Bits(0); 8]);
                    continue;
                }
                // The high bits of an address do not matter; item numbers end in lane numbers.
                let row = lane & !15;
                want.extend(
                    [
                        x(z(lane) & 63),
                        x(lane ^ 21),
                        x(lane & !3 | [2, 3, 0, 1][lane & 3]),
                        if lane & 15 >= 3 { x(lane - 3) } else { 77 },
                        if lane & 15 < 14 { x(lane + 2) } else { 0 },
                        match (0xa >> (lane / 16) & 1, 0x5 >> (lane / 4 % 4) & 1) {
                            (1, 1) => x(row | (lane.wrapping_sub(5) & 15)),
                            _ => 79,
                        },
                        if lane > 0 { x(lane - 1) } else { 80 },
                        (x(lane ^ 15) + x(lane ^ 7)) & 0xffff_ffff,
                    ]
                    .map(Want::Bits),
                );
            }
        }
        want
    };
    check("vector", "lanes", &slots, &names, want);
}

/// The lanes for which something holds.
fn mask(of: impl Fn(usize) -> bool) -> u64 {
    (0..64)
        .filter(|&lane| of(lane))
        .fold(0, |mask, lane| mask | 1 << lane)
}
