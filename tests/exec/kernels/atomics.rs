//! All atomics of OpenCL 2.0, in global memory and LDS, at 32 and 64 bits.

use harness::random::Random;
use wavelift::{Buffer, Element, Launch, Module};

use super::{OPENCL_TARGETS, Rig, THREADS, on_targets};

/// The operations, by the numbers that the kernels know them by.
const OPS: [&str; 13] = [
    "add", "sub", "umin", "umax", "smin", "smax", "and", "or", "xor", "xchg", "cmpxchg", "inc",
    "dec",
];

/// Does the end of many such operations depend on their order, even with one operand?
const XCHG: u32 = 9;
const CMPXCHG: u32 = 10;
const INC: u32 = 11;
const DEC: u32 = 12;

/// An unsigned type that atomics work on.
trait Word: Element + Eq + std::fmt::Debug {
    const BITS: u32;
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

impl Word for u32 {
    const BITS: u32 = 32;
    fn from_bits(bits: u64) -> u32 {
        bits as u32
    }
    fn bits(self) -> u64 {
        self.into()
    }
}

impl Word for u64 {
    const BITS: u32 = 64;
    fn from_bits(bits: u64) -> u64 {
        bits
    }
    fn bits(self) -> u64 {
        self
    }
}

/// What an operation leaves in a cell that held `old`.
fn apply<W: Word>(op: u32, old: W, a: W) -> W {
    let (x, y) = (old.bits(), a.bits());
    let shift = 64 - W::BITS;
    // Signed comparison of the upper bits.
    let less = ((x << shift) as i64) < (y << shift) as i64;
    W::from_bits(match op {
        0 => x.wrapping_add(y),
        1 => x.wrapping_sub(y),
        2 => x.min(y),
        3 => x.max(y),
        4 => {
            if less {
                x
            } else {
                y
            }
        }
        5 => {
            if less {
                y
            } else {
                x
            }
        }
        6 => x & y,
        7 => x | y,
        8 => x ^ y,
        XCHG => y,
        CMPXCHG => {
            if x == y & 7 {
                y >> 3 & 7
            } else {
                x
            }
        }
        INC => {
            if x >= y {
                0
            } else {
                x + 1
            }
        }
        DEC => {
            if x == 0 || x > y {
                y
            } else {
                x - 1
            }
        }
        _ => unreachable!("there are {} operations", OPS.len()),
    })
}

/// Operands that make sense for the operation.
fn operands<W: Word>(random: &mut Random, op: u32, n: usize) -> Vec<W> {
    let mut operand = || match op {
        CMPXCHG => u64::from(random.below(64)),
        INC | DEC => 5 + u64::from(random.below(3)),
        _ if random.once_in(2) => u64::from(random.below(64)).wrapping_sub(16),
        _ => u64::from(random.word()) << (random.below(2) * (W::BITS - 32)),
    };
    (0..n).map(|_| W::from_bits(operand())).collect()
}

fn starts<W: Word>(op: u32, n: usize) -> Vec<W> {
    let choices = match op {
        CMPXCHG | INC | DEC => [0, 3, 6, 1],
        _ => [0, u64::MAX - 5, 1 << (W::BITS - 1), 1000],
    };
    (0..n).map(|i| W::from_bits(choices[i % 4])).collect()
}

/// Is there an order of the operations `(old, new)` that leads from `start` to `end` over all of
/// them? That is a path over all edges of a graph whose nodes are the values.
fn is_a_history<W: Word>(start: W, end: W, edges: &[(W, W)]) -> bool {
    let mut nodes: Vec<_> = edges.iter().flat_map(|&(a, b)| [a, b]).collect();
    nodes.extend([start, end]);
    nodes.sort_by_key(|node| node.bits());
    nodes.dedup();
    let index = |value: W| nodes.binary_search_by_key(&value.bits(), |node| node.bits());
    let index = |value: W| index(value).expect("it was put in");
    // As many ways out as in, but for the ends.
    let mut balance = vec![0i64; nodes.len()];
    let mut parent: Vec<usize> = (0..nodes.len()).collect();
    fn root(parent: &mut [usize], mut node: usize) -> usize {
        while parent[node] != node {
            parent[node] = parent[parent[node]];
            node = parent[node];
        }
        node
    }
    for &(old, new) in edges {
        let (old, new) = (index(old), index(new));
        balance[old] += 1;
        balance[new] -= 1;
        let (a, b) = (root(&mut parent, old), root(&mut parent, new));
        parent[a] = b;
    }
    balance[index(start)] -= 1;
    balance[index(end)] += 1;
    let from = root(&mut parent, index(start));
    balance.iter().all(|&b| b == 0) && (0..nodes.len()).all(|n| root(&mut parent, n) == from)
}

#[test]
fn histories_are_recognised() {
    let edges = [(1u32, 4), (4, 2), (0, 1)];
    assert!(is_a_history(0, 2, &edges));
    assert!(!is_a_history(0, 4, &edges));
    assert!(!is_a_history(0, 2, &[(0u32, 1), (0, 2)]));
    assert!(!is_a_history(0u32, 0, &[(1, 1)]), "nothing leads to 1");
    assert!(is_a_history(1u32, 1, &[(1, 1), (1, 1)]));
}

struct Case<'a, W> {
    rig: &'a Rig,
    module: &'a Module,
    op: u32,
    groups: usize,
    group: usize,
    at: Vec<u32>,
    a: Vec<W>,
}

impl<'a, W: Word> Case<'a, W> {
    fn new(rig: &'a Rig, module: &'a Module, op: u32, groups: usize, group: usize) -> Self {
        let mut random = Random::new(u64::from(op) * 64 + u64::from(W::BITS));
        let n = groups * group;
        let mut a = operands::<W>(&mut random, op, n);
        if groups > 1 && (op == INC || op == DEC) {
            // The blind forms need one operand, so that the order makes no difference.
            a.fill(W::from_bits(6));
        }
        Case {
            rig,
            module,
            op,
            groups,
            group,
            at: (0..n).map(|_| random.below(8)).collect(),
            a,
        }
    }

    fn kernel(&self, space: &str, blind: bool) -> String {
        format!("{space}{}{}", W::BITS, if blind { "_blind" } else { "" })
    }

    fn what(&self, kernel: &str) -> String {
        format!("{} by {kernel}", OPS[self.op as usize])
    }

    /// Runs a kernel: cells, and the old values unless it is a blind one.
    fn run(&self, space: &str, blind: bool) -> (Vec<W>, Option<Vec<W>>) {
        let cells = match space {
            "global" => starts(self.op, 8),
            _ => starts::<W>(self.op, 8 * self.groups),
        };
        let cells: Buffer = self.rig.buffer(&cells);
        let olds = self.rig.buffer(&vec![W::from_bits(77); self.a.len()]);
        let (at, a) = (self.rig.buffer(&self.at), self.rig.buffer(&self.a));
        let mut args = vec![(&cells).into()];
        if !blind {
            args.push((&olds).into());
        }
        args.extend([(&at).into(), (&a).into(), self.op.into()]);
        let launch = Launch::new(self.a.len() as u32, self.group as u32);
        let kernel = self.kernel(space, blind);
        self.rig.launch(self.module, &kernel, launch, &args);
        let olds = (!blind).then(|| olds.read().unwrap());
        (cells.read().unwrap(), olds)
    }

    /// One wave: everything happens in the order of lanes.
    fn in_order(&self) {
        for space in ["global", "local"] {
            let mut cells = starts::<W>(self.op, 8);
            let mut olds = Vec::new();
            for (&at, &a) in self.at.iter().zip(&self.a) {
                let cell = &mut cells[at as usize];
                olds.push(*cell);
                *cell = apply(self.op, *cell, a);
            }
            for blind in [false, true] {
                let kernel = self.kernel(space, blind);
                let at = self.rig.at(self.module, &self.what(&kernel));
                let (got_cells, got_olds) = self.run(space, blind);
                assert_eq!(got_cells, cells, "{at}: cells");
                if let Some(got_olds) = got_olds {
                    assert_eq!(got_olds, olds, "{at}: old values");
                }
            }
        }
    }

    /// Many waves: the old values make a history, and the end is that of every order where all
    /// orders have one.
    fn contended(&self) {
        for space in ["global", "local"] {
            let (cells, olds) = self.run(space, false);
            let olds = olds.expect("these are not the blind kernels");
            let starts = starts::<W>(self.op, cells.len());
            let cell_of = |i: usize| match space {
                "global" => self.at[i] as usize,
                _ => i / self.group * 8 + self.at[i] as usize,
            };
            let at = self
                .rig
                .at(self.module, &self.what(&self.kernel(space, false)));
            for (cell, &end) in cells.iter().enumerate() {
                let items = (0..olds.len()).filter(|&i| cell_of(i) == cell);
                let edges = items.map(|i| (olds[i], apply(self.op, olds[i], self.a[i])));
                let edges: Vec<_> = edges.collect();
                assert!(
                    is_a_history(starts[cell], end, &edges),
                    "{at}: cell {cell} from {:x?} to {end:x?} by {edges:x?}",
                    starts[cell]
                );
            }
            let (blind, _) = self.run(space, true);
            let at = self
                .rig
                .at(self.module, &self.what(&self.kernel(space, true)));
            for (cell, &end) in blind.iter().enumerate() {
                let items: Vec<_> = (0..self.a.len()).filter(|&i| cell_of(i) == cell).collect();
                match self.op {
                    XCHG => assert!(items.iter().any(|&i| self.a[i] == end), "{at}: {end:x?}"),
                    CMPXCHG => assert!(end.bits() < 8, "{at}: {end:x?}"),
                    op => {
                        let want = items
                            .iter()
                            .fold(starts[cell], |old, &i| apply(op, old, self.a[i]));
                        assert_eq!(end, want, "{at}: cell {cell}");
                    }
                }
            }
        }
    }
}

#[test]
fn atomics_of_one_wave_go_in_the_order_of_lanes() {
    on_targets("atomics", &OPENCL_TARGETS, |rig, module| {
        for op in 0..OPS.len() as u32 {
            rig.each(&THREADS, |rig| {
                Case::<u32>::new(rig, module, op, 1, 64).in_order();
                Case::<u64>::new(rig, module, op, 1, 64).in_order();
            });
        }
    });
}

#[test]
fn contended_atomics_lose_nothing() {
    on_targets("atomics", &OPENCL_TARGETS, |rig, module| {
        for op in 0..OPS.len() as u32 {
            rig.each(&THREADS, |rig| {
                Case::<u32>::new(rig, module, op, 6, 128).contended();
                Case::<u64>::new(rig, module, op, 6, 128).contended();
            });
        }
    });
}

#[test]
fn atomics_of_all_lanes_on_one_cell() {
    on_targets("atomics", &OPENCL_TARGETS, |rig, module| {
        let mut random = Random::new(11);
        const N: usize = 300;
        let a: Vec<u32> = (0..N).map(|_| random.below(1 << 20)).collect();
        let start = [5u32, 0xffff_fff0, 1 << 10, 7, 100];
        rig.each(&THREADS, |rig| {
            let cells = rig.buffer(&start);
            let olds = rig.buffer(&[0u32; 4 * N]);
            let values = rig.buffer(&a);
            let args = [(&cells).into(), (&olds).into(), (&values).into()];
            rig.launch(module, "one_cell", Launch::new(N as u32, 96), &args);
            let cells: Vec<u32> = cells.read().unwrap();
            let olds: Vec<u32> = olds.read().unwrap();
            let at = rig.at(module, "one_cell");
            let history = |cell: usize, op: u32, operand: &dyn Fn(usize) -> Option<u32>| {
                let edges = (0..N).filter_map(|i| {
                    let old = olds[cell * N + i];
                    Some((old, apply(op, old, operand(i)?)))
                });
                let edges: Vec<_> = edges.collect();
                assert!(
                    is_a_history(start[cell], cells[cell], &edges),
                    "{at}: cell {cell}"
                );
            };
            history(0, 0, &|i| Some(a[i]));
            history(1, 1, &|_| Some(3));
            history(2, 3, &|i| Some(a[i]));
            history(3, 8, &|i| (a[i] & 1 == 1).then_some(a[i]));
            let sum = a.iter().fold(start[4], |sum, a| sum + (a >> 4));
            assert_eq!(cells[4], sum, "{at}");
        });
        rig.each(&THREADS, |rig| {
            let mut initial = vec![9u32, 1 << 19];
            initial.resize(2 + 4 * 2, 0);
            let cells = rig.buffer(&initial);
            let olds = rig.buffer(&[0u32; 2 * N]);
            let values = rig.buffer(&a);
            let args = [(&cells).into(), (&olds).into(), (&values).into()];
            rig.launch(module, "one_cell_local", Launch::new(N as u32, 96), &args);
            let cells: Vec<u32> = cells.read().unwrap();
            let olds: Vec<u32> = olds.read().unwrap();
            for (group, items) in (0..N).collect::<Vec<_>>().chunks(96).enumerate() {
                for (cell, op) in [(0, 0), (1, 2)] {
                    let old = |i: usize| olds[cell * N + i];
                    let edges = items.iter().map(|&i| (old(i), apply(op, old(i), a[i])));
                    let edges: Vec<_> = edges.collect();
                    let end = cells[2 + group * 2 + cell];
                    assert!(
                        is_a_history(initial[cell], end, &edges),
                        "{}: group {group}, cell {cell}",
                        rig.at(module, "one_cell_local")
                    );
                }
            }
        });
    });
}

#[test]
fn floats_are_summed_by_compare_and_swap() {
    let mut random = Random::new(5);
    const N: usize = 512;
    let at: Vec<u32> = (0..N).map(|_| random.below(8)).collect();
    // Sums of these are exact in any order.
    let a: Vec<f64> = (0..N)
        .map(|_| f64::from(random.below(2000)) - 1000.0)
        .collect();
    let mut want = [0.0f64; 12];
    for (&at, &a) in at.iter().zip(&a) {
        want[at as usize & 3] += a;
        want[4 + at as usize] += a;
    }
    let bits32: Vec<u32> = want.iter().map(|&sum| (sum as f32).to_bits()).collect();
    let bits64: Vec<u64> = want.iter().map(|&sum| sum.to_bits()).collect();
    let a32: Vec<f32> = a.iter().map(|&a| a as f32).collect();
    on_targets("atomics", &OPENCL_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let places = rig.buffer(&at);
            let launch = Launch::new(N as u32, 128);
            let (cells, values) = (rig.buffer(&[0u32; 12]), rig.buffer(&a32));
            let args = [(&cells).into(), (&places).into(), (&values).into()];
            rig.launch(module, "sum_float", launch, &args);
            rig.expect(module, "sum_float", &cells, &bits32);
            let (cells, values) = (rig.buffer(&[0u64; 12]), rig.buffer(&a));
            let args = [(&cells).into(), (&places).into(), (&values).into()];
            rig.launch(module, "sum_double", launch, &args);
            rig.expect(module, "sum_double", &cells, &bits64);
        });
    });
}
