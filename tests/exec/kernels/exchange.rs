//! Atomics that are no arithmetic, and the functions of OpenCL 1.x (`tests/kernels/memory/exchange.cl`).

use std::fmt::Debug;

use harness::random::Random;
use wavelift::{Arg, Element, Launch, Module};

use super::{OPENCL_TARGETS, Rig, THREADS, on_targets};

/// Work-items, and those of a group.
const ITEMS: usize = 3 * 128;
const GROUP: usize = 128;
const GROUPS: usize = ITEMS / GROUP;

fn launch() -> Launch {
    Launch::new(ITEMS as u32, GROUP as u32)
}

#[test]
fn flags_let_one_through_at_a_time() {
    let turns = (0..ITEMS).fold(0u32, |x, _| x.wrapping_mul(5).wrapping_add(1));
    let sum: u32 = (0..GROUP as u32).map(|lid| lid * lid + 1).sum();
    on_targets("exchange", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (flag, data) = (rig.buffer(&[0u32]), rig.buffer(&[0u32; 2]));
            let out = rig.buffer(&[0u32; GROUPS]);
            let args = [&flag, &data, &out].map(Arg::from);
            rig.launch(module, "flags", launch(), &args);
            rig.expect(module, "flags, the flag", &flag, &[0u32]);
            rig.expect(module, "flags, data", &data, &[ITEMS as u32, turns]);
            rig.expect(module, "flags", &out, &[sum; GROUPS]);
        });
    });
}

/// Exchanges on a type. What is left and what was found are together what there was and what came.
fn exchanges<T: Element + PartialOrd + Debug>(
    rig: &Rig,
    module: &Module,
    name: &str,
    value: impl Fn(u32) -> T,
) {
    let kernel = format!("exchange_{name}");
    let mut random = Random::new(71);
    let values: Vec<T> = (0..ITEMS).map(|_| value(random.next() as u32)).collect();
    let starts: Vec<T> = (0..=GROUPS as u32).map(|n| value(!n)).collect();
    rig.each(&THREADS, |rig| {
        let (cells, values_in) = (rig.buffer(&starts), rig.buffer(&values));
        let olds = rig.buffer(&[value(0); 2 * ITEMS]);
        let args = [&cells, &olds, &values_in].map(Arg::from);
        rig.launch(module, &kernel, launch(), &args);
        let (cells, olds): (Vec<T>, Vec<T>) = (cells.read().unwrap(), olds.read().unwrap());
        let same = |start: T, end: T, came: &[T], found: &[T]| {
            let sorted = |first: T, rest: &[T]| {
                let mut all = vec![first];
                all.extend(rest);
                all.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
                all
            };
            let (before, after) = (sorted(start, came), sorted(end, found));
            assert_eq!(before, after, "{}", rig.at(module, &kernel));
        };
        same(starts[0], cells[0], &values, &olds[..ITEMS]);
        for group in 0..GROUPS {
            let items = group * GROUP..(group + 1) * GROUP;
            let found = &olds[ITEMS..][items.clone()];
            same(starts[1 + group], cells[1 + group], &values[items], found);
        }
    });
}

#[test]
fn exchanges_lose_no_value() {
    on_targets("exchange", &OPENCL_TARGETS, |rig, module| {
        exchanges(rig, module, "int", |bits| bits as i32);
        exchanges(rig, module, "uint", |bits| bits);
        exchanges(rig, module, "long", |bits| {
            i64::from(bits) << 31 ^ -i64::from(bits)
        });
        exchanges(rig, module, "ulong", |bits| {
            u64::from(bits) << 32 | u64::from(!bits)
        });
        exchanges(rig, module, "float", |bits| bits as f32 * 0.37 - 1e6);
        exchanges(rig, module, "double", |bits| f64::from(bits) * 1e-9 - 1.5);
    });
}

#[test]
fn weak_compare_and_swap_in_a_loop() {
    let of = |n: usize, factor: u64, addend: u64| {
        (0..n).fold(0u64, |x, _| x.wrapping_mul(factor).wrapping_add(addend))
    };
    on_targets("exchange", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (small, big) = (rig.buffer(&[0u32]), rig.buffer(&[0u64]));
            let tiles = (rig.buffer(&[0u32; GROUPS]), rig.buffer(&[0u64; GROUPS]));
            let args = [&small, &big, &tiles.0, &tiles.1].map(Arg::from);
            rig.launch(module, "weak", launch(), &args);
            rig.expect(module, "weak, small", &small, &[of(ITEMS, 7, 3) as u32]);
            rig.expect(module, "weak, big", &big, &[of(ITEMS, 5, 1)]);
            let want = [of(GROUP, 3, 1) as u32; GROUPS];
            rig.expect(module, "weak, small in LDS", &tiles.0, &want);
            rig.expect(
                module,
                "weak, big in LDS",
                &tiles.1,
                &[of(GROUP, 9, 5); GROUPS],
            );
        });
    });
}

#[test]
fn fences_around_relaxed_accesses() {
    const CHAIN: usize = 40;
    let mut want = vec![1u32];
    for group in 1..CHAIN as u32 {
        let last = want[group as usize - 1];
        want.push(last.wrapping_mul(3).wrapping_add(group));
    }
    on_targets("exchange", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (values, ready) = (rig.buffer(&[0u32; CHAIN]), rig.buffer(&[0u32; CHAIN]));
            let args = [&values, &ready].map(Arg::from);
            rig.launch(module, "fences", Launch::new(CHAIN as u32 * 64, 64), &args);
            rig.expect(module, "fences", &values, &want);
            rig.expect(module, "fences, signs", &ready, &[1u32; CHAIN]);
        });
    });
}

/// A type of the functions of OpenCL 1.x, in 64 bits.
struct Kind {
    name: &'static str,
    bits: u32,
    signed: bool,
}

impl Kind {
    /// The value as it is ordered.
    fn order(&self, bits: u64) -> i128 {
        let shift = 64 - self.bits;
        match self.signed {
            true => i128::from((bits << shift) as i64 >> shift),
            false => i128::from(bits << shift >> shift),
        }
    }

    /// What the cells hold after operations with `operands`.
    fn after(&self, mut cells: [u64; 11], operands: &[u64]) -> [u64; 11] {
        for &a in operands {
            let [add, sub, inc, dec, min, max, and, or, xor, xchg, cmpxchg] = &mut cells;
            *add = add.wrapping_add(a);
            *sub = sub.wrapping_sub(a);
            *inc = inc.wrapping_add(1);
            *dec = dec.wrapping_sub(1);
            if self.order(a) < self.order(*min) {
                *min = a;
            }
            if self.order(a) > self.order(*max) {
                *max = a;
            }
            *and &= a;
            *or |= a;
            *xor ^= a;
            *xchg = 77;
            if *cmpxchg == 0 {
                *cmpxchg = 55;
            }
        }
        cells.map(|cell| cell & u64::MAX >> (64 - self.bits))
    }

    fn buffer(&self, rig: &Rig, values: &[u64]) -> wavelift::Buffer {
        match self.bits {
            32 => rig.buffer(&values.iter().map(|&v| v as u32).collect::<Vec<_>>()),
            _ => rig.buffer(values),
        }
    }

    fn check(&self, rig: &Rig, module: &Module) {
        let mut random = Random::new(72);
        let operands: Vec<u64> = (0..ITEMS)
            .map(|_| random.next() & u64::MAX >> (64 - self.bits))
            .collect();
        let start = [5, 9, !0, 0, 1 << 20, 3, !0, 0, 0x1234_5678, 1, 0]
            .map(|cell: u64| cell & u64::MAX >> (64 - self.bits));
        // The tile of each group begins with other numbers.
        let tile = |group: u64| start.map(|cell| if cell > 1 { cell - group } else { cell });
        let tiles: Vec<[u64; 11]> = (0..GROUPS as u64).map(tile).collect();
        let want = self.after(start, &operands);
        let groups = tiles.iter().zip(operands.chunks(GROUP));
        let want_tiles: Vec<u64> = groups
            .flat_map(|(tile, operands)| self.after(*tile, operands))
            .collect();
        let kernel = format!("old_{}", self.name);
        rig.each(&THREADS, |rig| {
            let cells = self.buffer(rig, &start);
            let tiles = self.buffer(rig, tiles.as_flattened());
            let operands = self.buffer(rig, &operands);
            let args = [&cells, &tiles, &operands].map(Arg::from);
            rig.launch(module, &kernel, launch(), &args);
            for (buffer, want) in [(&cells, &want[..]), (&tiles, &want_tiles)] {
                match self.bits {
                    32 => {
                        let want: Vec<u32> = want.iter().map(|&v| v as u32).collect();
                        rig.expect(module, &kernel, buffer, &want);
                    }
                    _ => rig.expect(module, &kernel, buffer, want),
                }
            }
        });
    }
}

#[test]
fn functions_of_opencl_1() {
    on_targets("exchange", &OPENCL_TARGETS, |rig, module| {
        for (name, bits, signed) in [
            ("int", 32, true),
            ("uint", 32, false),
            ("long", 64, true),
            ("ulong", 64, false),
        ] {
            let kind = Kind { name, bits, signed };
            kind.check(rig, module);
        }
    });
}
