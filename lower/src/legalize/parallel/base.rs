//! Lane-0 scalars of a group's affine values: each has the value that lane 0 of the group would have if it were
//! always active.

use super::Group;
use crate::ir::{Block, Op, Val, Vary, Width};
use crate::legalize::scalar::joined;
use crate::legalize::{Code, Emitter, home_offset};
use crate::vir::{IntCC, Memory, Value, types};

impl Code<'_> {
    /// Computes the lane-0 scalars of VGPRs at the region's entry from the group's first lane in the mask `known`, for
    /// whose lanes the facts hold. In a group without such lanes they are meaningless.
    pub(super) fn begin_carried(&mut self, g: &mut Group<'_>, known: Value) {
        let carried = &g.plan.affine.carried;
        let Some(entry) = g
            .facts
            .at_block(g.plan.head)
            .filter(|_| !carried.is_empty())
        else {
            return;
        };
        let bits = self.b.ushr(known, g.body.lane);
        let lanes = self.b.iconst(types::I64, i64::MIN);
        // Bit 63 bounds the result: without it, `ctz` of 0 would be 64.
        let bits = self.b.bor(bits, lanes);
        let first = self.b.ctz(bits);
        let last = self.b.iconst(types::I64, g.plan.group as i64 - 1);
        let first = self.b.smin(first, last);
        let at = self.b.ishl_imm(first, 2);
        let at = self.b.iadd(g.body.wave, at);
        let word = |e: &mut Self, n: u16| e.b.load(types::I32, Memory::Trusted, at, home_offset(n));
        let written = g.plan.written();
        for &n in carried {
            let value = match (entry.pair_with(n), entry.vgprs.get(&n)) {
                (Some(low), _) => {
                    let words = [low, low + 1].map(|m| word(self, m));
                    let wide = joined(&mut self.b, words[0], words[1]);
                    let before = self.b.imul_imm(first, entry.pairs[&low] as i64);
                    let wide = self.b.isub(wide, before);
                    let wide = match n == low {
                        true => wide,
                        false => self.b.ushr_imm(wide, 32),
                    };
                    self.b.ireduce(types::I32, wide)
                }
                (None, Some(&stride)) => {
                    let value = word(self, n);
                    match stride {
                        0 => value,
                        _ => {
                            let before = self.b.ireduce(types::I32, first);
                            let before = self.b.imul_imm(before, i64::from(stride as i32));
                            self.b.isub(value, before)
                        }
                    }
                }
                // Written before it is read.
                (None, None) => self.b.iconst(types::I32, 0),
            };
            if written.contains(&n) {
                let var = self.defined(value);
                g.carried.insert(n, var);
            } else {
                g.fixed.insert(n, value);
            }
        }
    }

    /// Does a word that is widened not wrap if `span` is added to it (I8)?
    fn keeps_high_word(&mut self, word: Value, span: i64, signed: bool) -> Value {
        let first = match signed {
            true => self.b.sextend(types::I64, word),
            false => self.b.uextend(types::I64, word),
        };
        let last = self.b.iadd_imm(first, span);
        if signed {
            let low = self.b.ireduce(types::I32, last);
            let again = self.b.sextend(types::I64, low);
            return self.b.icmp(IntCC::Equal, again, last);
        }
        let high = self.b.ushr_imm(last, 32);
        self.b.icmp_imm(IntCC::Equal, high, 0)
    }

    /// The vector `base + stride * n` for the group's lanes n.
    pub(super) fn group_ramp(
        &mut self,
        g: &Group<'_>,
        width: Width,
        base: Value,
        stride: i64,
    ) -> Vec<Value> {
        let flat = self.lanes(&g.body).splat(width, base);
        let mut lanes = self.lanes(&g.body);
        let per = lanes.per;
        let step = |lane: usize| stride.wrapping_mul(lane as i64) as u64;
        let vectors = flat.into_iter().enumerate();
        vectors
            .map(|(j, x)| match width {
                Width::W64 => {
                    let first = j / 2 * per;
                    let quads: Vec<u64> = (0..per / 2)
                        .map(|n| step(first + lanes.lane_of_quad(j % 2 == 1, n)))
                        .collect();
                    let steps = lanes.quads_by(|n| quads[n]);
                    lanes.b.iadd(x, steps)
                }
                Width::W1 | Width::W32 => {
                    let steps = lanes.dwords_by(|n| step(per * j + n) as u32);
                    lanes.b.iadd(x, steps)
                }
            })
            .collect()
    }
}

impl Emitter<'_> {
    /// The lane-0 scalar of an affine value.
    pub(super) fn group_base(&mut self, g: &mut Group<'_>, block: &Block, v: Val) -> Value {
        let node = &block.nodes[v.index()];
        if node.ty.vary == Vary::Wave {
            return self.scalar(block, &g.schedule, v);
        }
        if let Some(&value) = g.bases.get(&v) {
            return value;
        }
        let value = match node.op {
            Op::LaneId => self.code.b.ireduce(types::I32, g.body.lane),
            Op::ReadV(n) => match g.carried.get(&n) {
                Some(&var) => self.code.b.use_var(var),
                None => g.fixed[&n],
            },
            Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                self.group_base(g, block, node.args[1])
            }
            Op::Load(..) | Op::Result(_) => unreachable!("bug: %{} is not loaded yet", v.0),
            _ => {
                let args: Vec<Value> = node
                    .args
                    .iter()
                    .map(|&a| self.group_base(g, block, a))
                    .collect();
                self.code.wave_op(block, v, &args)
            }
        };
        g.bases.insert(v, value);
        value
    }

    /// Conditions (I8) under which a value is affine over the whole group: words that are widened do not wrap.
    pub(super) fn group_guards(&mut self, g: &mut Group<'_>, block: &Block, v: Val) -> Vec<Value> {
        let mut guards = Vec::new();
        let mut seen = Vec::new();
        let mut work = vec![v];
        while let Some(v) = work.pop() {
            let node = &block.nodes[v.index()];
            let guarded = g.affine(v).is_some_and(|a| a.guarded);
            if !guarded || node.ty.vary == Vary::Wave || seen.contains(&v) {
                continue;
            }
            seen.push(v);
            let widened = match node.op {
                Op::Zext | Op::Sext | Op::Pair => {
                    let stride = g.affine(v).and_then(|a| a.stride);
                    stride.filter(|&s| s != 0)
                }
                _ => None,
            };
            if let Some(stride) = widened {
                let word = self.group_base(g, block, node.args[0]);
                let span = stride * (g.plan.group as i64 - 1);
                guards.push(self.code.keeps_high_word(word, span, node.op == Op::Sext));
            }
            match node.op {
                Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                    work.push(node.args[1]);
                }
                _ => work.extend(node.args.iter()),
            }
        }
        guards
    }
}
