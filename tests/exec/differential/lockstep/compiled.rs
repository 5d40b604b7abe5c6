//! What the kernels of `compiled.cl` do. Each statement between fences is made by all lanes before the next one.

use frontend::Gfx;

use super::{Case, World, lockstep};

/// The byte's address of a dword.
const fn t(index: usize) -> usize {
    index * 4
}

fn mul(a: u32, b: u32) -> u32 {
    a.wrapping_mul(b)
}

fn add(a: u32, b: u32) -> u32 {
    a.wrapping_add(b)
}

fn reverse(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v = w.load(t);
        w.store(|i| t(63 - i), |i| add(mul(v[i], 3), k));
    }
}

fn rotate<const BY: usize>(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v = w.load(|i| t((i + BY) % 64));
        w.store(t, |i| add(v[i], k));
    }
}

fn rotate_more(w: &mut World, _: Gfx) {
    for k in 1..w.n.max(2) {
        let v = w.load(|i| t((i + k as usize) % 64));
        w.store(t, |i| add(v[i], k));
    }
}

fn scan(w: &mut World, _: Gfx) {
    for d in (0..6).map(|n| 1 << n) {
        let mine = w.load(t);
        w.mask(|i| i >= d);
        let v = w.load(|i| t(i - d));
        w.mask(|_| true);
        w.store(t, |i| add(mine[i], v[i]));
    }
}

fn tree(w: &mut World, _: Gfx) {
    for d in [32, 16, 8, 4, 2, 1] {
        w.mask(|i| i < d);
        let (a, b) = (w.load(t), w.load(|i| t(i + d)));
        w.store(t, |i| add(mul(a[i], 3), b[i]));
    }
}

fn slide(w: &mut World, _: Gfx) {
    for d in [32, 16, 8, 4, 2, 1] {
        let (a, b) = (w.load(t), w.load(|i| t(i + d)));
        w.store(t, |i| add(mul(a[i], 3), b[i]));
    }
}

fn butterfly(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v = w.load(|i| t(i ^ 1 << (k % 6)));
        w.store(t, |i| add(mul(v[i], 5), k));
    }
}

fn leave(w: &mut World, _: Gfx) {
    let mut v = w.all(|i| i as u32);
    let n = w.n;
    for k in 0..n + 15 {
        w.mask(|i| k < n + i as u32 % 16);
        w.store(t, |i| add(mul(v[i], 5), k));
        let loaded = w.load(|i| t((i * 7 + k as usize) % 64));
        w.set(&mut v, |i| loaded[i]);
    }
    w.mask(|_| true);
    w.result(t, |i| v[i]);
}

fn smooth(w: &mut World, _: Gfx) {
    for _ in 0..w.n {
        let [a, b, c] = [0, 1, 2].map(|d| w.load(|i| t(i + d)));
        w.store(|i| t(i + 1), |i| add(a[i], add(mul(b[i], 2), mul(c[i], 3))));
    }
}

fn smooth_apart(w: &mut World, _: Gfx) {
    for k in 0..w.n as usize {
        let from = k % 2 * 256;
        let [a, b, c] = [0, 1, 2].map(|d| w.load(|i| t(from + i + d)));
        w.store(
            |i| t((from ^ 256) + i + 1),
            |i| add(a[i], add(mul(b[i], 2), mul(c[i], 3))),
        );
    }
}

fn one_place(w: &mut World, _: Gfx) {
    for k in 0..w.n as usize {
        let v = w.load(t);
        w.store(|_| t(256 + k % 4), |i| v[i]);
        let last = w.load(|_| t(256 + k % 4));
        w.store(t, |i| add(mul(v[i], 3), last[i]));
    }
}

fn histogram(w: &mut World, _: Gfx) {
    let mut v = w.load(t);
    for _ in 0..w.n {
        w.atomic(|i| t(256 + v[i] as usize % 16), |_, old| add(old, 1));
        let bins = w.load(|i| t(256 + i % 16));
        v = w.all(|i| add(v[i] / 5, bins[i]));
    }
    w.store(t, |i| v[i]);
}

fn ticket(w: &mut World, _: Gfx) {
    let mut v = w.load(t);
    for k in 0..w.n as usize {
        let odd: Vec<bool> = v.iter().map(|v| v % 2 == 1).collect();
        w.mask(|i| odd[i]);
        let number = w.atomic(|i| t(256 + i % 4), |_, old| add(old, 5));
        w.store(|i| t(320 + number[i] as usize % 64), |i| v[i]);
        w.mask(|_| true);
        let there = w.load(|i| t(320 + (i + k) % 64));
        v = w.all(|i| add(v[i] / 3, there[i]));
    }
    w.store(t, |i| v[i]);
}

fn bitonic(w: &mut World, _: Gfx) {
    let sorted = {
        let mut values = w.load(t);
        values.sort_unstable();
        values
    };
    for k in (1..7).map(|n| 1 << n) {
        let mut j = k / 2;
        while j > 0 {
            let (a, b) = (w.load(t), w.load(|i| t(i ^ j)));
            let low = |i: usize| (i & k == 0) == (i & j == 0);
            w.store(t, |i| {
                if low(i) {
                    a[i].min(b[i])
                } else {
                    a[i].max(b[i])
                }
            });
            j /= 2;
        }
    }
    assert_eq!(w.load(t), sorted);
}

fn odd_even(w: &mut World, _: Gfx) {
    let mut values = w.load(t);
    values.sort_unstable();
    w.store(t, |i| values[i]);
}

fn transpose(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v = w.load(t);
        w.store(|i| t(i % 8 * 8 + i / 8), |i| add(v[i], k));
    }
}

fn matrix(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v = [0, 1, 2, 3].map(|j| w.load(|i| t(i + 64 * j)));
        for (j, v) in v.iter().enumerate() {
            w.store(
                |i| t(i % 16 * 16 + i / 16 + 4 * j),
                |i| add(mul(v[i], 3), k),
            );
        }
    }
}

fn pointers(w: &mut World, _: Gfx) {
    let next = w.load(|i| t(64 + i));
    w.store(|i| t(64 + i), |i| next[i] % 64);
    for _ in 0..w.n {
        let next = w.load(|i| t(64 + i));
        let (mine, other) = (w.load(t), w.load(|i| t(next[i] as usize)));
        let after = w.load(|i| t(64 + next[i] as usize));
        w.store(t, |i| add(mine[i], other[i]));
        w.store(|i| t(64 + i), |i| after[i]);
    }
}

fn vectors(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let v = [1, 2, 3, 0].map(|word| w.load(|i| (i + 1) * 16 + t(word)));
        let words = |i: usize| [0, 1, 2, 3].map(|word: usize| add(v[word][i], k));
        w.store_words(16, |i| i * 16, words);
    }
}

fn records(w: &mut World, _: Gfx) {
    for k in 0..w.n {
        let (a, b) = (w.load(|i| t(i * 3 + 3)), w.load(|i| t(i * 3 + 5)));
        w.store(|i| t(i * 3 + 2), |i| add(a[i], b[i]));
        let [a, b, c] = [1, 2, 4].map(|word| w.load(|i| t(i * 3 + word)));
        w.store(|i| t(i * 3 + 4), |i| add(a[i] ^ add(b[i], c[i]), k));
    }
}

fn barriers(w: &mut World, _: Gfx) {
    for d in (0..6).map(|n| 1 << n) {
        let (mine, v) = (w.load(t), w.load(|i| t((i + d) % 64)));
        w.store(t, |i| add(mul(mine[i], 3), v[i]));
    }
}

/// For kernels that work in LDS: `f` computes on LDS in place of the data and gives the results.
fn with_lds(w: &mut World, f: impl FnOnce(&mut World, &mut World) -> Vec<u32>) {
    let mut lds = World::new(w.n, w.lanes(), &w.data, &w.out);
    let results = f(w, &mut lds);
    w.result(t, |i| results[i]);
}

fn volatile_tree(w: &mut World, _: Gfx) {
    with_lds(w, |_, lds| {
        lds.store(|i| t(64 + i % 32), |i| i as u32);
        for d in [32, 16, 8, 4, 2, 1] {
            let (a, b) = (lds.load(t), lds.load(|i| t(i + d)));
            lds.store(t, |i| add(a[i], b[i]));
        }
        lds.load(t)
    });
}

fn half_wave(w: &mut World, _: Gfx) {
    with_lds(w, |w, lds| {
        for k in 0..w.n {
            let v = lds.load(|i| t((i + k as usize) % 32));
            lds.store(|i| t(31 - i), |i| add(mul(v[i], 3), k));
            w.store(|i| t(i + 1), |i| v[i]);
            let (a, b) = (lds.load(t), w.load(|i| t(31 - i)));
            lds.store(t, |i| add(a[i], b[i]));
        }
        lds.load(t)
    });
}

fn two_waves(w: &mut World, _: Gfx) {
    with_lds(w, |w, lds| {
        for k in 0..w.n {
            let v = lds.load(|i| t(i ^ 31));
            lds.store(t, |i| add(mul(v[i], 3), k));
            let v = lds.load(|i| t(i ^ 5));
            lds.store(|i| t(i ^ 64), |i| v[i]);
        }
        lds.load(t)
    });
}

fn scratch(w: &mut World, _: Gfx) {
    with_lds(w, |w, lds| {
        let mut own = [0; 16].map(|_: u32| w.all(|_| 0));
        for (k, own) in own.iter_mut().enumerate() {
            *own = w.load(|i| t((i + k) % 64));
        }
        for k in 0..w.n as usize {
            let shared = lds.load(|i| t((i + k) % 16));
            let v = w.all(|i| add(own[(i + k) % 16][i], shared[i]));
            own[k % 16] = lds.load(|i| t(63 - i));
            lds.store(t, |i| v[i]);
            let shared = lds.load(|i| t(i ^ 1));
            for (i, shared) in shared.into_iter().enumerate() {
                own[i % 16][i] = add(own[i % 16][i], shared);
            }
        }
        let sums = lds.load(t);
        let sum = |i: usize| {
            own.iter()
                .fold(sums[i], |sum, own| add(mul(sum, 3), own[i]))
        };
        w.all(sum)
    });
}

fn registers(w: &mut World, gfx: Gfx) {
    with_lds(w, |w, lds| {
        let mut v = w.load(t);
        for k in 0..w.n {
            lds.store(t, |i| v[i ^ 31]);
            let there = lds.load(|i| t((i + 33) % 64));
            let lane = v[k as usize % 64];
            v = w.all(|i| add(there[i], lane));
            if gfx != Gfx::Gfx600 {
                let there = lds.load(t);
                v = w.all(|i| add(mul(v[i], 3), there[i * 5 % 64]));
                v = w.all(|i| v[i] ^ v[i ^ 15]);
            }
            w.store(|i| t(63 - i), |i| v[i]);
            let there = w.load(|i| t(i ^ 3));
            v = w.all(|i| add(v[i], there[i]));
        }
        v
    });
}

fn flat(w: &mut World, _: Gfx) {
    with_lds(w, |w, lds| {
        let second = w.load(|i| t(64 + i));
        lds.store(t, |i| second[i]);
        // Both kinds of lanes by one instruction: they do not meet.
        let other = |w: &World, lds: &World| {
            let (a, b) = (w.load(|i| t(63 - i)), lds.load(|i| t(63 - i)));
            w.all(|i| if !i.is_multiple_of(3) { b[i] } else { a[i] })
        };
        let set = |w: &mut World,
                   in_lds: &dyn Fn(usize) -> bool,
                   at: &dyn Fn(usize) -> usize,
                   v: &[u32],
                   is: bool| {
            w.mask(|i| in_lds(i) == is);
            w.store(at, |i| v[i]);
            w.mask(|_| true);
        };
        for k in 0..w.n {
            let v = other(w, lds);
            let v = w.all(|i| add(mul(v[i], 3), k));
            let odd = |i: usize| i % 2 == 1;
            set(lds, &odd, &t, &v, true);
            set(w, &odd, &t, &v, false);
            let there = lds.load(|i| t((i + k as usize) % 64));
            let v = other(w, lds);
            let v = w.all(|i| add(v[i], there[i]));
            let third = |i: usize| !i.is_multiple_of(3);
            let at = |i: usize| t(63 - i);
            set(lds, &third, &at, &v, true);
            set(w, &third, &at, &v, false);
        }
        lds.load(t)
    });
}

const CASES: &[Case] = &[
    Case::new("reverse", reverse),
    Case::new("rotate_1", rotate::<1>),
    Case::new("rotate_16", rotate::<16>),
    Case::new("rotate_63", rotate::<63>),
    Case::new("rotate_more", rotate_more),
    Case::new("scan", scan),
    Case::new("tree", tree),
    Case::new("slide", slide),
    Case::new("butterfly", butterfly),
    Case::new("leave", leave),
    Case::new("smooth", smooth),
    Case::new("smooth_apart", smooth_apart),
    Case::new("one_place", one_place),
    Case::new("histogram", histogram),
    Case::new("ticket", ticket),
    Case::new("bitonic", bitonic),
    Case::new("odd_even", odd_even),
    Case::new("transpose", transpose),
    Case::new("matrix", matrix),
    Case::new("pointers", pointers),
    Case::new("vectors", vectors),
    Case::new("records", records),
    Case::new("barriers", barriers),
    Case::new("volatile_tree", volatile_tree),
    Case::of(32, "half_wave", half_wave),
    Case::of(128, "two_waves", two_waves),
    Case::new("scratch", scratch),
    Case::new("registers", registers),
    Case::new("flat", flat),
];

#[test]
fn gfx600() {
    lockstep("compiled", Gfx::Gfx600, CASES);
}

#[test]
fn gfx803() {
    lockstep("compiled", Gfx::Gfx803, CASES);
}

#[test]
fn gfx900() {
    lockstep("compiled", Gfx::Gfx900, CASES);
}

#[test]
fn gfx906() {
    lockstep("compiled", Gfx::Gfx906, CASES);
}
