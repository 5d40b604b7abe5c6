//! Dispatches of random shapes: 1 to 3 dimensions, workgroups of any size, partial ones at the grid's edges, on
//! all targets and with every way in which numbers come to a wave. `ROUNDS=` shapes for each code object, `SEED=`.

use std::ops::Range;

use harness::random::Random;
use wavelift::{Arg, Gfx, Launch, Module, Size};

use super::{Rig, object_bytes};

/// A launch's sizes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    grid: [u32; 3],
    group: [u32; 3],
}

/// Work-items of a random grid at most.
const MOST: u32 = 4096;

impl Sizes {
    fn new(grid: [u32; 3], group: [u32; 3]) -> Sizes {
        Sizes { grid, group }
    }

    /// Random sizes of 1 to 3 dimensions.
    fn random(r: &mut Random) -> Sizes {
        let dims = 1 + r.below(3) as usize;
        loop {
            let (mut grid, mut group) = ([1; 3], [1; 3]);
            for d in 0..dims {
                group[d] = match r.below(4) {
                    0 => 1 + r.below(80),
                    1 => 1 + r.below(8),
                    _ => 1 << r.below(8),
                };
                let whole = group[d] * (1 + r.below(4));
                grid[d] = match r.below(3) {
                    0 => 1 + r.below(whole),
                    _ => whole,
                };
            }
            let items = |sizes: [u32; 3]| sizes.iter().product::<u32>();
            if items(group) <= 256 && items(grid) <= MOST {
                return Sizes { grid, group };
            }
        }
    }

    fn launch(&self) -> Launch {
        let size = |sizes: &[u32]| Size::from_slice(sizes).expect("three sizes");
        Launch::new(size(&self.grid), size(&self.group))
    }

    /// Every work-item.
    fn items(&self) -> impl Iterator<Item = Item> {
        let Sizes { grid, group } = *self;
        let range = move |d: usize| -> Range<u32> { 0..grid[d] };
        range(2).flat_map(move |z| {
            range(1).flat_map(move |y| {
                range(0).map(move |x| {
                    let id = [x, y, z];
                    let at = |d: usize| id[d] / group[d];
                    let size = |d: usize| group[d].min(grid[d] - at(d) * group[d]);
                    Item {
                        at: ((z * grid[1] + y) * grid[0] + x) as usize,
                        group: [0, 1, 2].map(at),
                        local: [0, 1, 2].map(|d| id[d] % group[d]),
                        size: [0, 1, 2].map(size),
                        id,
                    }
                })
            })
        })
    }
}

/// A work-item.
struct Item {
    /// Its number in the grid, x fastest.
    at: usize,
    id: [u32; 3],
    local: [u32; 3],
    group: [u32; 3],
    /// Sizes of its workgroup.
    size: [u32; 3],
}

/// The loop of the kernels `relax` and `relax_local`.
fn relax(mut a: f32, n: u32) -> f32 {
    for _ in 0..n {
        a = a * 0.5 + 1.0;
    }
    a
}

/// What the kernel `mixed` stores.
fn mixed(input: &[u32], item: &Item, n: u32) -> u32 {
    let [lx, ly, lz] = item.local;
    let mut a = if lx < n { input[item.at] } else { 0 };
    if ly > n & 3 {
        a ^= lx.wrapping_mul(5) + ly * 3 + lz;
    } else if lz != 0 {
        let [x, y, z] = item.group;
        a = a.wrapping_add(x + y * 7 + z * 77);
    }
    for k in 0..(lx & 3) + (ly & 1) {
        a = a.wrapping_mul(3).wrapping_add(input[k as usize]);
    }
    a ^ input[item.at ^ 1 ^ (ly & 2) as usize]
}

/// The place from which the kernel `turned` takes what a work-item stores.
fn turned(sizes: &Sizes, item: &Item) -> usize {
    let ([lx, ly, _], [w, h, _]) = (item.local, item.size);
    let at = lx * h + ly;
    let (x, y) = (w - 1 - at % w, at / w);
    let first = [0, 1].map(|d| item.group[d] * sizes.group[d]);
    let z = item.id[2] * sizes.grid[1];
    ((z + first[1] + y) * sizes.grid[0] + first[0] + x) as usize
}

/// Runs all kernels in one shape on every engine.
fn check(rig: &Rig, module: &Module, r: &mut Random, sizes: Sizes) {
    let Sizes { grid, .. } = sizes;
    let n = r.below(6);
    let items = grid.iter().product::<u32>() as usize;
    let places = items + 8;
    let words: Vec<u32> = (0..places).map(|_| r.next() as u32).collect();
    let floats: Vec<f32> = words.iter().map(|&word| (word >> 8) as f32).collect();

    let mut relaxed = vec![0.0; places];
    let mut relaxed_local = vec![0.0; places];
    let (mut mixture, mut rows) = (vec![0; places], vec![0; places]);
    for item in sizes.items() {
        let [x, y, z] = item.local;
        let local = ((z * grid[1] + y) * grid[0] + x) as usize;
        relaxed[item.at] = relax(floats[item.at], n);
        relaxed_local[local] = relax(floats[local], n);
        mixture[item.at] = mixed(&words, &item, n);
        rows[item.at] = words[turned(&sizes, &item)].wrapping_add(n);
    }

    let threads = [1 + r.below(2) as usize];
    let (words, floats) = (rig.buffer(&words), rig.buffer(&floats));
    rig.each(&threads, |rig| {
        let run = |kernel: &str, input: u64, output: u64| {
            let args = [
                Arg::Pointer(input),
                Arg::Pointer(output),
                Arg::from(grid[0]),
                Arg::from(grid[1]),
                Arg::from(n),
            ];
            rig.launch(module, kernel, sizes.launch(), &args);
            format!("{kernel}, {sizes:?}, n = {n}")
        };
        for (kernel, want) in [("relax", &relaxed), ("relax_local", &relaxed_local)] {
            let out = rig.buffer(&vec![0.0f32; places]);
            let what = run(kernel, floats.address(), out.address());
            rig.expect(module, &what, &out, want);
        }
        for (kernel, want) in [("mixed", &mixture), ("turned", &rows)] {
            let out = rig.buffer(&vec![0u32; places]);
            let what = run(kernel, words.address(), out.address());
            rig.expect(module, &what, &out, want);
        }
    });
}

/// Shapes in which rows of a workgroup share a wave, and some in which they do not.
const CHOSEN: [[u32; 3]; 8] = [
    [32, 4, 1],
    [32, 2, 1],
    [16, 8, 1],
    [4, 4, 4],
    [8, 1, 8],
    [64, 2, 1],
    [32, 1, 1],
    [20, 3, 2],
];

fn on_object(name: &str, gfx: Gfx, seed: u64) {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    let rounds: u64 = number("ROUNDS").unwrap_or(20);
    let mut r = Random::new(number("SEED").unwrap_or(1) << 8 | seed);
    let rig = Rig::new();
    let module = Module::load(&rig.device, &object_bytes(name, gfx)).expect("it loads");
    for group in CHOSEN {
        check(&rig, &module, &mut r, Sizes::new(group, group));
        let twice = group.map(|n| if n == 1 { 1 } else { 2 * n - 1 });
        check(&rig, &module, &mut r, Sizes::new(twice, group));
    }
    for _ in 0..rounds {
        let sizes = Sizes::random(&mut r);
        check(&rig, &module, &mut r, sizes);
    }
}

#[test]
fn numbers_of_work_items_in_all_shapes() {
    for (n, gfx) in Gfx::ALL.into_iter().enumerate() {
        on_object("shapes", gfx, n as u64);
    }
}

#[test]
fn numbers_of_work_items_by_code_objects_of_version_4() {
    for (n, gfx) in Gfx::ALL.into_iter().enumerate() {
        on_object("shapes.v4", gfx, 16 + n as u64);
    }
}

#[test]
fn numbers_of_work_items_with_loaded_arguments() {
    on_object("shapes.preload", Gfx::Gfx90a, 32);
}
