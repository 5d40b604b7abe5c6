//! Grids: ids in one to three dimensions, partial workgroups, offsets, very many groups, many
//! dispatches.

use std::sync::atomic::Ordering::Relaxed;

use wavelift::{Arg, EngineKind, Gfx, Launch, Module, Size};

use super::{OPENCL_TARGETS, Rig, TARGETS, THREADS, object_bytes, on_targets};

/// A launch and what the kernel must know of it.
struct Grid {
    grid: Vec<u32>,
    group: Vec<u32>,
    offset: [u64; 3],
}

impl Grid {
    fn new(grid: &[u32], group: &[u32], offset: [u64; 3]) -> Grid {
        Grid {
            grid: grid.to_vec(),
            group: group.to_vec(),
            offset,
        }
    }

    fn launch(&self) -> Launch {
        let size = |sizes: &[u32]| Size::from_slice(sizes).unwrap();
        Launch::new(size(&self.grid), size(&self.group)).global_offset(self.offset)
    }

    fn sizes(sizes: &[u32]) -> [u32; 3] {
        [0, 1, 2].map(|d| sizes.get(d).copied().unwrap_or(1))
    }

    /// The records of all work-items.
    fn expected(&self) -> Vec<u32> {
        let (grid, group) = (Grid::sizes(&self.grid), Grid::sizes(&self.group));
        let mut out = Vec::new();
        for z in 0..grid[2] {
            for y in 0..grid[1] {
                for x in 0..grid[0] {
                    let at = [x, y, z];
                    // A partial group has a size of its own.
                    let each = |f: &dyn Fn(usize) -> u32| [0, 1, 2].map(f);
                    let id = each(&|d| at[d] / group[d]);
                    let local = each(&|d| at[d] % group[d]);
                    let size = each(&|d| group[d].min(grid[d] - id[d] * group[d]));
                    out.extend(each(&|d| at[d].wrapping_add(self.offset[d] as u32)));
                    out.extend(local);
                    out.extend(id);
                    out.extend(grid);
                    out.extend(size);
                    out.extend(each(&|d| grid[d].div_ceil(group[d])));
                    out.extend(self.offset.map(|offset| offset as u32));
                    out.push(self.grid.len() as u32);
                    out.push((self.offset[0] >> 32) as u32);
                    out.push(local[0] + (local[1] + local[2] * size[1]) * size[0]);
                }
            }
        }
        out
    }
}

#[test]
fn work_items_get_their_ids() {
    let grids = [
        Grid::new(&[200], &[64], [0; 3]),
        Grid::new(&[1], &[256], [5, 0, 0]),
        Grid::new(&[130], &[100], [(3 << 32) + 7, 0, 0]),
        Grid::new(&[37, 11], &[16, 4], [0; 3]),
        Grid::new(&[9, 70], &[3, 64], [1000, 1 << 20, 0]),
        Grid::new(&[13, 7, 5], &[4, 3, 2], [0; 3]),
        Grid::new(&[8, 8, 8], &[8, 4, 8], [1, 2, 3]),
        Grid::new(&[1, 1, 67], &[1, 1, 33], [0, 0, 9]),
    ];
    for name in ["ids", "ids.v4"] {
        on_targets(name, &TARGETS, |rig, module| {
            for grid in &grids {
                let want = grid.expected();
                let sizes = Grid::sizes(&grid.grid);
                rig.each(&THREADS, |rig| {
                    let out = rig.buffer(&vec![!0u32; want.len()]);
                    let args = [(&out).into(), sizes[0].into(), sizes[1].into()];
                    rig.launch(module, "ids", grid.launch(), &args);
                    let what = format!("{name} over {:?} by {:?}", grid.grid, grid.group);
                    rig.expect(module, &what, &out, &want);
                });
            }
        });
    }
}

/// Bytes of this process that are in memory.
pub(super) fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0u64) * 4096
}

/// Launches `mark` over a grid of groups of `size` work-items: no memory for each group.
fn mark(rig: &Rig, module: &Module, items: u32, size: u32) {
    let groups = items.div_ceil(size);
    let want: Vec<u32> = (0..groups.div_ceil(65536)).map(|i| i * 65536 + 1).collect();
    let out = rig.buffer(&vec![0u32; want.len()]);
    let before = resident();
    let start = std::time::Instant::now();
    let stats = rig.launch(module, "mark", Launch::new(items, size), &[(&out).into()]);
    println!(
        "{}: {items} work-items in {:.2?}",
        rig.at(module, "mark"),
        start.elapsed()
    );
    assert_eq!(stats.workgroups, u64::from(groups));
    // Other tests run meanwhile; a record of each group would be far more.
    let grown = resident().saturating_sub(before);
    assert!(
        grown < 256 << 20,
        "{}: {grown} bytes",
        rig.at(module, "mark")
    );
    rig.expect(module, "mark", &out, &want);
}

#[test]
fn a_million_groups_need_no_memory() {
    on_targets("ids", &OPENCL_TARGETS, |rig, module| {
        rig.each(&[2], |rig| mark(rig, module, 1 << 20, 1));
    });
}

#[test]
fn a_billion_work_items_need_no_memory() {
    on_targets("ids", &[Gfx::Gfx600, Gfx::Gfx906], |rig, module| {
        rig.each(&[2], |rig| {
            if rig.engine() != EngineKind::Interp {
                mark(rig, module, 1 << 30, 256);
            }
        });
    });
}

/// Grids of which nobody can run all: only the last groups run.
#[test]
fn the_end_of_a_grid_of_billions_of_work_items() {
    on_targets("ids", &OPENCL_TARGETS, |rig, module| {
        let grids = [
            (vec![1 << 30], vec![256u32]),
            (vec![u32::MAX], vec![1]),
            (vec![u32::MAX - 1, 1 << 20], vec![64, 2]),
            (vec![1 << 31, 70_000, 60_000], vec![128, 1, 2]),
        ];
        for (grid, group) in grids {
            let counts = grid.iter().zip(&group);
            let total: u64 = counts.map(|(&n, &g)| u64::from(n.div_ceil(g))).product();
            let want: Vec<u64> = (0..16).map(|i| total - 16 + i).collect();
            rig.each(&THREADS, |rig| {
                let out = rig.buffer(&[0u64; 16]);
                let kernel = module.kernel("far").unwrap();
                let mut settings = rig.device.settings();
                settings.threads = rig.threads.load(Relaxed);
                settings.only = Some(total - 20..total);
                let size = |sizes: &[u32]| Size::from_slice(sizes).unwrap();
                let launch = Launch::new(size(&grid), size(&group));
                let args = [(&out).into()];
                let stats = rig.device.launch_with(&kernel, &launch, &args, &settings);
                assert_eq!(stats.unwrap().workgroups, 20);
                rig.expect(module, &format!("far over {grid:?}"), &out, &want);
            });
        }
    });
}

#[test]
fn dispatches_run_one_after_the_other_and_code_is_translated_once() {
    const N: usize = 150;
    on_targets("ids", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (total, data) = (rig.buffer(&[0u32]), rig.buffer(&[0u32; N]));
            let mut translated = 0.0;
            for step in 1..=40u32 {
                let args = [(&total).into(), (&data).into(), step.into()];
                let stats = rig.launch(module, "count", Launch::new(N as u32, 64), &args);
                if step > 1 {
                    translated += stats.translate_seconds;
                }
            }
            let sum: u32 = (1..=40).sum();
            rig.expect(module, "count", &data, &[sum; N]);
            rig.expect(module, "count, total", &total, &[sum * N as u32]);
            assert_eq!(translated, 0.0, "{}", rig.at(module, "count"));
        });
    });
}

/// Modules that are loaded and dropped again give their memory back, and their code does not stay
/// behind under the same addresses.
#[test]
fn code_that_takes_the_place_of_other_code() {
    for gfx in TARGETS {
        let rig = Rig::new();
        rig.each(&THREADS, |rig| {
            let mut blocks = None;
            for round in 0..6u32 {
                let (name, kernel) = match round % 2 {
                    0 => ("ids", "count"),
                    _ => ("order", "chain"),
                };
                let module = Module::load(&rig.device, &object_bytes(name, gfx)).unwrap();
                let (a, b) = (rig.buffer(&[0u32; 64]), rig.buffer(&[0u32; 64]));
                let mut args = vec![Arg::from(&a), (&b).into()];
                match kernel {
                    "count" => {
                        args.push(round.into());
                        rig.launch(&module, kernel, Launch::new(64, 64), &args);
                        rig.expect(&module, kernel, &b, &[round; 64]);
                    }
                    _ => {
                        rig.launch(&module, kernel, Launch::new(64, 64), &args);
                        assert_eq!(a.read::<u32>().unwrap()[0], 1);
                    }
                }
                drop((module, a, b));
                let left = rig.device.memory().allocations().len();
                assert_eq!(*blocks.get_or_insert(left), left, "something was not freed");
            }
        });
    }
}
