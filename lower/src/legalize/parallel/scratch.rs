//! Scratch in a parallel region. Each lane has its own dwords, so the order of lanes is not observable and stores need
//! no proof. The windows of the accesses are computed at the region's entry; an offset outside of its window leaves for
//! the general code.

use frontend::op::Space;

use super::Group;
use crate::analysis::parallel::Parallel;
use crate::analysis::schedule::Schedule;
use crate::ir::memory::{bounds, data_words, load_or_store};
use crate::ir::{Block, Op, Val, Vary, Width};
use crate::legalize::lanes::dwords_type;
use crate::legalize::scratch::{DWORD_STRIDE, Elements, Window, alignment, part};
use crate::legalize::{Code, Emitter, access};
use crate::maps::HashMap;
use crate::vir::{self, IntCC, Memory, Op as VirOp, Value, types};

impl Code<'_> {
    /// Loads or stores elements at one offset of all lanes; leaves for the general code unless they are in the window.
    fn scratch_of_one(
        &mut self,
        g: &Group<'_>,
        a: Access,
        word: Value,
        (mask, words): (&[Value], &[Vec<Value>]),
    ) -> Vec<Vec<Value>> {
        let order = IntCC::UnsignedLessThanOrEqual;
        let wide = self.b.uextend(types::I64, word);
        let dword = self.b.band_imm(wide, !3);
        let bytes = self.b.imul_imm(dword, DWORD_STRIDE / 4);
        let end = self.b.iadd_imm(bytes, DWORD_STRIDE * a.count as i64);
        let mut good = self.b.icmp(order, end, a.window.room);
        let unaligned = alignment(a.data);
        if unaligned != 0 {
            let rest = self.b.band_imm(word, i64::from(unaligned));
            let aligned = self.b.icmp_imm(IntCC::Equal, rest, 0);
            good = self.b.band(good, aligned);
        }
        if a.least != 0 {
            let order = IntCC::UnsignedGreaterThanOrEqual;
            let above = self.b.icmp_imm(order, word, i64::from(a.least));
            good = self.b.band(good, above);
        }
        self.require(g.fail, good);
        let at = self.b.iadd(a.window.start, bytes);
        let shift = self.b.band_imm(word, 3);
        let shift = self.b.ishl_imm(shift, 3);
        self.scratch_elements(g, a, (at, shift), (mask, words))
    }

    /// The same at a constant offset, which is in the window by the check at the entry.
    fn scratch_at_constant(
        &mut self,
        g: &Group<'_>,
        a: Access,
        offset: u32,
        moved: (&[Value], &[Vec<Value>]),
    ) -> Vec<Vec<Value>> {
        let bytes = i64::from(offset & !3) * (DWORD_STRIDE / 4);
        let at = self.b.iadd_imm(a.window.start, bytes);
        let shift = self.b.iconst(types::I32, i64::from(offset % 4 * 8));
        self.scratch_elements(g, a, (at, shift), moved)
    }

    /// Loads or stores the elements of one offset. The first dword of the wave's lane 0 is at `at`; `shift` is the bit
    /// offset of a byte or short in its dword.
    fn scratch_elements(
        &mut self,
        g: &Group<'_>,
        a: Access,
        (at, shift): (Value, Value),
        (mask, words): (&[Value], &[Vec<Value>]),
    ) -> Vec<Vec<Value>> {
        let lane = self.b.ishl_imm(g.body.lane, 2);
        let at = self.b.iadd(at, lane);
        let per = self.per();
        let ty = dwords_type(per);
        let mut results = vec![Vec::new(); if a.load { a.count } else { 0 }];
        for (j, &on) in mask.iter().enumerate() {
            for i in 0..a.count {
                let away = (DWORD_STRIDE * i as i64) as i32 + (4 * per * j) as i32;
                if a.load {
                    let held = self.b.load(ty, Memory::Guest, at, away);
                    results[i].push(match part(a.data) {
                        Some(_) => self.loaded_part(held, a.data, shift),
                        None => held,
                    });
                    continue;
                }
                let new = words[i][j];
                if part(a.data).is_none() && self.has_masks() {
                    let at = self.b.iadd_imm(at, i64::from(away));
                    self.b.effect(VirOp::StoreSome, &[new, on, at]);
                    continue;
                }
                let held = self.b.load(ty, Memory::Guest, at, away);
                let new = match part(a.data) {
                    Some(_) => self.with_part(held, new, a.data, shift),
                    None => new,
                };
                let mut lanes = self.of_lanes(1, per);
                let both = lanes.select(Width::W32, &[on], &[new], &[held])[0];
                self.b.store(Memory::Guest, both, at, away);
            }
        }
        results
    }

    /// Loads or stores elements at an offset for each lane (I32); leaves for the general code unless the offsets of
    /// active lanes are in the window.
    fn scratch_of_each(
        &mut self,
        g: &Group<'_>,
        a: Access,
        offsets: &[Value],
        (mask, words): (&[Value], &[Vec<Value>]),
    ) -> Vec<Vec<Value>> {
        if !self.has_gathers() {
            // Without gathers the general code, which calls the runtime, is as fast.
            let never = self.b.iconst(types::I8, 0);
            self.require(g.fail, never);
            let none = self.nothing();
            return vec![vec![none; mask.len()]; if a.load { a.count } else { 0 }];
        }
        let elements = Elements {
            data: a.data,
            window: a.window,
            least: a.least,
        };
        let last = self.last_offset(elements, g.fail);
        let mut bad = None;
        for (&words, &on) in offsets.iter().zip(mask) {
            let good = self.is_valid_offset(elements, words, last);
            bad = Some(self.with_bad(bad, on, good));
        }
        let good = self.is_none_bad(bad.expect("bug: a group without vectors"));
        self.require(g.fail, good);
        let lane = self.b.ishl_imm(g.body.lane, 2);
        let start = self.b.iadd(a.window.start, lane);
        let starts = self.word_starts(a.data, start);
        let per = self.per();
        let mut results = vec![Vec::new(); if a.load { a.count } else { 0 }];
        for (j, (&offsets, &on)) in offsets.iter().zip(mask).enumerate() {
            let lanes = self
                .of_lanes(1, per)
                .dwords_by(|n| 4 * (per * j + n) as u32);
            let index = self.scratch_index(a.data, offsets, lanes);
            for (i, &start) in starts.iter().enumerate() {
                if a.load {
                    results[i].push(self.gathered(a.data, on, None, start, index));
                } else {
                    self.scattered(a.data, on, words[i][j], start, index);
                }
            }
        }
        results
    }
}

impl Emitter<'_> {
    /// Computes the windows of the region's scratch accesses; leaves for `fail` if one is of other memory or too small
    /// for a constant offset.
    pub(super) fn scratch_windows(
        &mut self,
        plan: &Parallel,
        fail: vir::Block,
    ) -> HashMap<(usize, Val), Window> {
        let f = self.code.region.func();
        let mut windows = HashMap::default();
        let mut ends: HashMap<(Value, Value), i64> = HashMap::default();
        self.singles.clear();
        for &(b, v) in &plan.scratch {
            let block = &f.blocks[b];
            self.head_slots(plan, b);
            let bounding = self.scratch_bounds(block, v);
            let op = block.nodes[v.index()].op;
            let (_, space, ..) = load_or_store(op).expect("bug: no load and no store");
            // Values of one block are not valid in another.
            self.singles.clear();
            let window = self
                .singles
                .scratch_window(&mut self.code, v, block, space, &bounding);
            let needed = constant_end(block, v).unwrap_or(1);
            let most = ends.entry((window.start, window.room)).or_insert(0);
            if needed > *most {
                *most = needed;
                let end = self.code.b.iconst(types::I64, needed);
                let order = IntCC::UnsignedLessThanOrEqual;
                let inside = self.code.b.icmp(order, end, window.room);
                self.code.require(fail, inside);
            }
            windows.insert((b, v), window);
        }
        self.values.clear_scalars();
        self.singles.clear();
        windows
    }

    /// Makes the scalars available that the first block writes and the bounds of block `b`'s scratch accesses read.
    fn head_slots(&mut self, plan: &Parallel, b: usize) {
        let f = self.code.region.func();
        self.values.clear_scalars();
        if b == plan.head {
            return;
        }
        let head = &f.blocks[plan.head];
        let schedule = Schedule::unplaced(head, self.code.region.options().host);
        let mut left = HashMap::default();
        for &(at, v) in plan.scratch.iter().filter(|&&(at, _)| at == b) {
            let block = &f.blocks[at];
            let mut work = bounds(&block.nodes[v.index()]).to_vec();
            while let Some(v) = work.pop() {
                let node = &block.nodes[v.index()];
                if let Op::ReadS(slot) = node.op
                    && let Some(&(_, write)) = head.writes_s.iter().find(|w| w.0 == slot)
                {
                    let value = self.scalar(head, &schedule, write);
                    left.insert(v, value);
                }
                work.extend(node.args.iter());
            }
        }
        self.values.set_scalars(left);
    }

    /// The bounds of a scratch access, as words of a call.
    fn scratch_bounds(&mut self, block: &Block, v: Val) -> Vec<Value> {
        let schedule = Schedule::unplaced(block, self.code.region.options().host);
        let bounds = bounds(&block.nodes[v.index()]).iter();
        bounds
            .map(|&bound| self.wave_word(block, &schedule, bound))
            .collect()
    }

    /// Emits a load or store of scratch.
    pub(super) fn group_scratch(&mut self, g: &mut Group<'_>, block: &Block, v: Val) {
        let node = &block.nodes[v.index()];
        let access = load_or_store(node.op);
        let (load, space, data, _) = access.expect("bug: no load and no store");
        let least = match (space, bounds(node)) {
            (Space::Buffer, &[_, _, _, least]) => match block.nodes[least.index()].op {
                Op::Const(least) => least as u32,
                _ => unreachable!("bug: a bound of offsets that is not known"),
            },
            _ => 0,
        };
        let address = node.args[0];
        let mask = self.group_value(g, block, node.args[1]);
        let words: Vec<Vec<Value>> = data_words(node)
            .iter()
            .map(|&word| self.group_value(g, block, word))
            .collect();
        let constant = match block.nodes[address.index()].op {
            Op::Const(n) => constant_offset(n as u32, data, least),
            _ => None,
        };
        let one =
            block.nodes[address.index()].ty.vary == Vary::Wave || g.is_uniform(block, address);
        let offsets = match (constant, one) {
            (Some(n), _) => Offsets::Constant(n),
            (None, true) => Offsets::One(self.group_base(g, block, address)),
            (None, false) => Offsets::Each(self.group_value(g, block, address)),
        };
        let window = g.windows[&(g.at, v)];
        let count = access::words(data);
        let a = Access {
            load,
            data,
            count,
            window,
            least,
        };
        let results = match &offsets {
            Offsets::Constant(n) => self.code.scratch_at_constant(g, a, *n, (&mask, &words)),
            Offsets::One(word) => self.code.scratch_of_one(g, a, *word, (&mask, &words)),
            Offsets::Each(vectors) => self.code.scratch_of_each(g, a, vectors, (&mask, &words)),
        };
        if load {
            for (result, k) in super::memory::results(block, v) {
                g.body
                    .values
                    .insert(result, results[usize::from(k)].clone());
            }
        }
    }
}

/// The end in bytes, from the window's start, of an access of all lanes at a constant offset.
fn constant_end(block: &Block, v: Val) -> Option<i64> {
    let node = &block.nodes[v.index()];
    let (_, space, data, _) = load_or_store(node.op)?;
    let least = match (space, bounds(node)) {
        (Space::Buffer, &[_, _, _, least]) => match block.nodes[least.index()].op {
            Op::Const(least) => least as u32,
            _ => return None,
        },
        _ => 0,
    };
    let Op::Const(n) = block.nodes[node.args[0].index()].op else {
        return None;
    };
    let n = constant_offset(n as u32, data, least)?;
    Some(i64::from(n & !3) * (DWORD_STRIDE / 4) + DWORD_STRIDE * access::words(data) as i64)
}

/// A constant offset, if it is aligned, at least `least`, and less than 1 MiB.
fn constant_offset(n: u32, data: frontend::op::Data, least: u32) -> Option<u32> {
    (n & alignment(data) == 0 && n >= least && n < 1 << 20).then_some(n)
}

/// The offsets of a group's elements in scratch.
enum Offsets {
    /// One constant offset in the window.
    Constant(u32),
    /// One offset of all lanes (I32).
    One(Value),
    /// An offset for each lane.
    Each(Vec<Value>),
}

/// A load or store of scratch.
#[derive(Clone, Copy)]
struct Access {
    load: bool,
    data: frontend::op::Data,
    /// Words of an element.
    count: usize,
    window: Window,
    /// Smaller offsets leave for the general code.
    least: u32,
}
