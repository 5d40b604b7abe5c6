//! What the kernels of `assembly.s` do: each load and each store is an instruction. Registers have the numbers that they have there.

use frontend::Gfx;

use super::{Case, World, lockstep};

/// Addresses that most kernels use: the lane's dword, and the one of the lane as far from the end.
const fn v1(lane: usize) -> usize {
    lane * 4
}

const fn v2(lane: usize) -> usize {
    252 - lane * 4
}

fn add(a: u32, b: u32) -> u32 {
    a.wrapping_add(b)
}

/// `v_mul_u32_u24`.
fn mul24(a: u32, b: u32) -> u32 {
    (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff)
}

fn reverse(w: &mut World, _: Gfx) {
    let v10 = w.load(v1);
    let v11 = w.all(|i| mul24(v10[i], 3));
    w.store(v2, |i| v11[i]);
    let v12 = w.load(v1);
    let v12 = w.all(|i| v12[i] ^ v10[i]);
    w.store(v2, |i| v12[i]);
    let v13 = w.load(|i| v2(i) + 4);
    w.store(|i| v1(i) + 4, |i| add(v13[i], v11[i]));
    let v14 = w.load(|i| v1(i) + 8);
    w.store(v2, |i| add(v14[i], v12[i]));
}

fn shifts(w: &mut World, _: Gfx) {
    for away in [4, 60, 64, 68, 124, 128, 132, 252, 256, 260] {
        let v10 = w.load(v1);
        let v10 = w.all(|i| add(v10[i], 7));
        w.store(|i| v1(i) + away, |i| v10[i]);
        let v11 = w.load(|i| v1(i) + away);
        let v12 = w.load(v1);
        w.store(v1, |i| add(v10[i] ^ v11[i], v12[i]));
    }
}

fn smooth(w: &mut World, _: Gfx) {
    for _ in 0..w.n {
        let [a, b, c] = [0, 4, 8].map(|away| w.load(|i| v1(i) + away));
        w.store(|i| v1(i) + 4, |i| add(add(a[i], b[i] << 1), mul24(c[i], 3)));
    }
}

fn distance(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v3 = |i| v1(i) + 20 * k as usize;
        let v10 = w.load(v1);
        let v10 = w.all(|i| add(mul24(v10[i], 5), k));
        w.store(v3, |i| v10[i]);
        let v11 = w.load(v1);
        w.store(|i| v3(i) + 256, |i| v11[i] ^ v10[i]);
    }
}

fn distance_down(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v3 = |i| v1(i) + 20 * k as usize;
        let v10 = w.load(v3);
        let v10 = w.all(|i| add(mul24(v10[i], 5), k));
        w.store(v1, |i| v10[i]);
        let v11 = w.load(v3);
        w.store(|i| v1(i) + 512, |i| v11[i] ^ v10[i]);
    }
}

fn strides<const SIZE: usize>(w: &mut World, gfx: Gfx) {
    let mut strides = vec![4, 8, 12, 16, 20];
    if SIZE < 4 {
        strides.push(2);
    }
    if SIZE == 1 || gfx >= Gfx::Gfx900 {
        strides.extend([1, 3, 6]);
    }
    for stride in strides {
        let v10 = w.load(|i| v1(i) + 1280);
        let words = |i: usize| {
            let v10 = add(v10[i], i as u32);
            let v11 = v10 ^ 21;
            let v12 = add(v10, v11);
            [v10, v11, v12, v12 ^ i as u32]
        };
        w.store_words(SIZE, |i| i * stride, words);
        let v14 = w.load(v2);
        w.store(|i| v1(i) + 1280, |i| v14[i]);
    }
}

fn down(w: &mut World, _: Gfx) {
    for stride in [4, 8, 12] {
        let v10 = w.load(|i| v1(i) + 1280);
        let words = |i: usize| [v10[i], v10[i] ^ 21, 0, 0];
        w.store_words(8, |i| 1020 - i * stride, words);
        let (v14, v15) = (w.load(|i| v1(i) + 768), w.load(|i| v2(i) + 512));
        w.store(|i| v1(i) + 1280, |i| add(v14[i], v15[i]));
    }
}

fn one_place(w: &mut World, _: Gfx) {
    for k in 0..w.n as usize {
        let place = |_| 512 + k % 16 * 4;
        let v10 = w.load(v1);
        w.store(place, |i| v10[i]);
        let v11 = w.load(place);
        w.store(v1, |i| add(mul24(v10[i], 3), v11[i]));
    }
}

fn few_places(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v3 = |i| i / 16 * 4;
        let v4 = |i| i % 4 * 4;
        let v10 = w.load(v1);
        w.store(|i| v3(i) + 512, |i| v10[i]);
        let v11 = w.load(|i| v4(i) + 512);
        let v10 = w.all(|i| add(v10[i] ^ v11[i], k));
        w.store(|i| v4(i) + 528, |i| v10[i]);
        let v12 = w.load(|i| v3(i) + 528);
        w.store(v1, |i| add(v10[i], v12[i]));
    }
}

fn masks(w: &mut World, _: Gfx) {
    let mut mask: u64 = 0x5555_ffff_00ff_00ff;
    for _ in 0..w.n {
        let some = |i| mask >> i & 1 == 1;
        w.mask(some);
        let v10 = w.load(v1);
        w.store(v2, |i| mul24(v10[i], 5));
        w.mask(|i| !some(i));
        let (v11, v12) = (w.load(|i| v2(i) + 4), w.load(v1));
        w.store(|i| v1(i) + 4, |i| v11[i] ^ v12[i]);
        w.mask(some);
        let v13 = w.load(|i| v1(i) + 4);
        w.store(v1, |i| v13[i]);
        mask = !mask >> 3;
    }
}

fn halves(w: &mut World, _: Gfx) {
    for _ in 0..3 {
        w.mask(|i| i < 32);
        let v10 = w.load(v1);
        w.store(|i| v1(i) + 128, |i| add(v10[i], 1));
        w.mask(|i| i >= 32);
        let v10 = w.load(v1);
        w.store(v2, |i| mul24(v10[i], 3));
        w.mask(|_| true);
        let v11 = w.load(v2);
        w.store(v1, |i| v11[i]);
    }
}

fn vector_counter(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v10 = w.load(|i| (i + k as usize) % 64 * 4);
        w.store(v1, |i| add(v10[i], k));
    }
}

fn leave(w: &mut World, _: Gfx) {
    let mut v10 = w.all(|i| i as u32);
    let n = w.n;
    for k in 0..n + 7 {
        w.mask(|i| k < n + i as u32 % 8);
        let stored = w.all(|i| add(mul24(v10[i], 5), k));
        w.store(v1, |i| stored[i]);
        let loaded = w.load(|i| (i * 7 + k as usize) % 64 * 4);
        w.set(&mut v10, |i| loaded[i]);
    }
    w.mask(|_| true);
    w.result(v1, |i| v10[i]);
}

fn sort(w: &mut World, _: Gfx) {
    let mut values = w.load(v1);
    values.sort_unstable();
    w.store(v1, |i| values[i]);
}

fn wide(w: &mut World, _: Gfx) {
    let words = |w: &World, from: usize| [0, 4, 8, 12].map(|word| w.load(|i| i * 16 + from + word));
    for k in 0..w.n {
        let [v10, v11, v12, v13] = words(w, 16);
        w.store_words(
            16,
            |i| i * 16,
            |i| [v10[i], add(v11[i], v12[i]), v13[i] ^ k, v13[i]],
        );
        let [v14, v15, ..] = words(w, 24);
        w.store_words(8, |i| i * 16 + 32, |i| [v14[i], v15[i], 0, 0]);
        let [v14, v15, ..] = words(w, 0);
        w.store_words(8, |i| i * 16 + 40, |i| [v14[i], v15[i], 0, 0]);
    }
}

fn apart(w: &mut World, _: Gfx) {
    for _ in 0..w.n {
        let (v10, v11) = (w.load(v1), w.load(|i| v2(i) + 256));
        let v10 = w.all(|i| add(v10[i], v11[i]));
        w.result(v1, |i| v10[i]);
        w.result(|i| v2(i) + 256, |i| v11[i]);
        let v10 = w.all(|i| mul24(v10[i], 3));
        w.store(|i| v1(i) + 512, |i| v10[i]);
        w.store(v1, |i| v10[i]);
    }
}

fn parts(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v10 = w.all(|i| {
            let short = [w.data[i * 2], w.data[i * 2 + 1]];
            add(u16::from_le_bytes(short).into(), w.data[i + 64].into())
        });
        let words = |i: usize| [v10[i], 0, 0, 0];
        w.store_words(1, |i| i, words);
        w.store_words(2, |i| i * 2 + 64, words);
        let v12 = w.load(v1);
        w.store(v2, |i| add(v12[i], k));
    }
}

fn tickets(w: &mut World, _: Gfx) {
    for _ in 0..w.n {
        let v11 = w.load(v1);
        w.mask(|i| v11[i] & 3 != 0);
        let v10 = w.atomic(|i| 512 + i % 4 * 4, |_, old| add(old, 5));
        w.store(|i| 768 + v10[i] as usize % 64 * 4, |i| v11[i]);
        w.mask(|_| true);
        let v12 = w.load(|i| v2(i) + 768);
        w.store(v1, |i| add(v11[i] >> 1, v12[i]));
    }
}

fn swaps(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v10 = w.load(|i| v1(i) + 256);
        let v3 = |i| (v1(i) + k as usize) & 0x7c;
        let v10 = w.atomic(v3, |i, _| add(v10[i], k));
        w.store(|i| v2(i) + 256, |i| v10[i]);
        let v11 = w.load(v1);
        w.store(|i| v1(i) + 256, |i| v11[i] ^ v10[i]);
    }
}

fn two_ways(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v10 = w.load(v1);
        let v10 = w.all(|i| add(v10[i], k));
        w.store(v2, |i| v10[i]);
        let v11 = w.load(v1);
        w.store(|i| v1(i) + 4, |i| v11[i] ^ v10[i]);
        let v12 = w.load(v1);
        // Through LDS.
        w.store(|i| v1(i) + 256, |i| v12[63 - i]);
        let v14 = w.load(|i| v2(i) + 256);
        w.store(v1, |i| add(v14[i], v12[i]));
    }
}

fn pairs(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let (v10, v11) = (w.load(|i| v1(i) + 4), w.load(|i| v1(i) + 8));
        w.store_words(8, |i| i * 8, |i| [add(v10[i], v11[i]), v10[i], 0, 0]);
        let (v12, v13) = (w.load(|i| v1(i) + 256), w.load(v1));
        let v12 = w.all(|i| add(v12[i], k));
        w.store(v2, |i| v13[i] ^ v12[i]);
        w.store(|i| v2(i) + 768, |i| v12[i]);
        let v = [8, 12, 40, 44].map(|from| w.load(|i| i * 8 + from));
        let sum = |i: usize| [add(v[0][i], v[2][i]), add(v[1][i], v[3][i]), 0, 0];
        w.store_words(8, |i| i * 8 + 16, sum);
    }
}

fn registers(w: &mut World, gfx: Gfx) {
    for k in 0..w.n as usize {
        let v10 = w.load(v1);
        let v11 = w.all(|i| add(v10[i ^ 16], v10[k % 64]));
        w.store(v2, |i| v11[i]);
        let mut v12 = w.load(|i| v1(i) + 4);
        v12[17] = v10[63];
        let v16 = if gfx >= Gfx::Gfx803 {
            let v13 = w.all(|i| v12[i / 4 * 4 + (i + 1) % 4]);
            let v14 = w.all(|i| if i % 16 < 3 { 0 } else { v13[i - 3] });
            let v15 = w.all(|i| v14[i ^ 15]);
            w.all(|i| v15[(v2(i) + 20) / 4 % 64])
        } else {
            w.all(|i| v12[i / 4 * 4 + (i + 1) % 4])
        };
        w.store(v1, |i| v16[i] ^ v12[0]);
    }
}

fn scalar_loads(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v10 = w.load(v1);
        w.store(v2, |i| add(v10[i], k));
        let v11 = add(w.dword(0) ^ w.dword(12), w.dword(252));
        let v12 = w.load(v1);
        w.store(v1, |i| add(v12[i], v11));
        let v11 = add(w.dword(128), w.dword(132));
        w.store(|i| v1(i) + 256, |_| v11);
    }
}

fn scalar_stores(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v10 = w.load(v1);
        let v10 = w.all(|i| add(v10[i], k));
        w.store(v1, |i| v10[i]);
        w.data[20..24].copy_from_slice(&k.to_le_bytes());
        let at = (k << 3 & 0xfc) as usize;
        w.data[at..at + 4].copy_from_slice(&0x0123_4567_u32.to_le_bytes());
        let v11 = w.load(v2);
        w.store(v1, |i| v11[i] ^ v10[i]);
    }
}

fn to_lds(w: &mut World, gfx: Gfx) {
    // Before gfx9 the instruction's offset is not part of the address in LDS.
    let second = if gfx >= Gfx::Gfx900 { 388 } else { 384 };
    let mut lds = World::new(w.n, 64, &[0; super::BYTES], &[0; super::BYTES]);
    for k in 0..w.n {
        let loaded = w.load(v1);
        lds.store(|i| 256 + i * 4, |i| loaded[i]);
        let loaded = w.load(|i| v2(i) + 4);
        lds.store(|i| second + i * 4, |i| loaded[i]);
        let v10 = lds.load(|i| v2(i) + 260);
        w.store(v1, |i| add(v10[i], k));
        let v11 = w.load(v1);
        lds.store(|i| v1(i) + 256, |i| v11[i]);
        let v12 = lds.load(|i| v1(i) + 384);
        w.store(|i| v2(i) + 256, |i| v12[i]);
    }
}

fn barriers(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v10 = w.load(|i| v1(i) + 4);
        let v10 = w.all(|i| add(v10[i], k));
        w.store(v2, |i| v10[i]);
        let v11 = w.load(v1);
        w.store(|i| v1(i) + 8, |i| v11[i] ^ v10[i]);
    }
}

fn aperture(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v10 = w.load(v1);
        w.store(v2, |i| add(v10[i], k));
        let (v11, v12) = (w.load(|i| v1(i) + 4), w.load(|i| v2(i) + 8));
        let v12 = w.all(|i| v11[i] ^ v12[i]);
        w.store(v1, |i| v12[i]);
        let v13 = w.load(v2);
        w.store(|i| v1(i) + 4, |i| add(v13[i], v12[i]));
    }
}

fn triples(w: &mut World, gfx: Gfx) {
    // With SRAM-ECC a load of half a register clears the other half.
    let kept = if gfx == Gfx::Gfx906 { 0 } else { 0xffff_0000 };
    let words = |w: &World, from: usize| [0, 4, 8].map(|word| w.load(|i| i * 8 + from + word));
    for k in 0..w.n {
        let [v10, v11, v12] = words(w, 8);
        w.store_words(12, |i| i * 8, |i| [add(v10[i], k), v11[i], v12[i], 0]);
        let [v10, _, v12] = words(w, 0);
        w.store_words(2, |i| i * 8 + 4, |i| [(v10[i] ^ v12[i]) >> 16, 0, 0, 0]);
        let low = w.load(|i| v1(i) + 4);
        w.store(|i| v2(i) + 4, |i| v12[i] & kept | low[i] & 0xffff);
    }
}

const CASES: &[Case] = &[
    Case::new("reverse", reverse),
    Case::new("shifts", shifts),
    Case::new("smooth", smooth),
    Case::new("distance", distance),
    Case::new("distance_down", distance_down),
    Case::new("strides_1", strides::<1>),
    Case::new("strides_2", strides::<2>),
    Case::new("strides_4", strides::<4>),
    Case::new("strides_8", strides::<8>),
    Case::new("strides_16", strides::<16>),
    Case::new("down", down),
    Case::new("one_place", one_place),
    Case::new("few_places", few_places),
    Case::new("masks", masks),
    Case::new("halves", halves),
    Case::new("vector_counter", vector_counter),
    Case::new("leave", leave),
    Case::new("sort", sort),
    Case::new("wide", wide),
    Case::new("apart", apart),
    Case::new("parts", parts),
    Case::new("tickets", tickets),
    Case::new("swaps", swaps),
    Case::new("two_ways", two_ways),
    Case::new("pairs", pairs),
    Case::new("registers", registers),
    Case::new("scalar_loads", scalar_loads),
    Case::new("scalar_stores", scalar_stores),
    Case::new("to_lds", to_lds),
    Case::new("barriers", barriers),
    Case::new("aperture", aperture),
    Case::new("triples", triples),
];

#[test]
fn gfx600() {
    lockstep("assembly", Gfx::Gfx600, CASES);
}

#[test]
fn gfx803() {
    lockstep("assembly", Gfx::Gfx803, CASES);
}

#[test]
fn gfx900() {
    lockstep("assembly", Gfx::Gfx900, CASES);
}

#[test]
fn gfx906() {
    lockstep("assembly", Gfx::Gfx906, CASES);
}
