//! Loads inside a loop that runs inside the lane groups.

use super::{Iteration, Loaded};
use frontend::op::Space;
use frontend::state::LANES;

use crate::analysis::interchange::{Kind, Plan, unmerged};
use crate::ir::{Op, Val};
use crate::legalize::{Emitter, access};
use crate::vir::{IntCC, Memory, Op as VirOp, Value, types};

/// Offset of the first byte that a group's load touches from its first lane's address, and the
/// number of bytes.
pub(super) fn span(plan: &Plan, load: Val) -> (i64, i64) {
    let block = &plan.form.block;
    let node = &block.nodes[load.index()];
    let bytes = match node.op {
        Op::Load(_, data, _) => access::bytes(data),
        Op::ScalarLoad(n, _) => 4 * u32::from(n),
        op => unreachable!("bug: {op:?} inside a loop"),
    };
    let address = unmerged(block, plan.form.condition, node.args[0]);
    let Some(Kind::Affine(stride)) = plan.form.kinds[address.index()] else {
        unreachable!("bug: an address held in vectors")
    };
    let span = stride * (plan.group as i64 - 1);
    (span.min(0), span.abs() + i64::from(bytes))
}

/// The number of bytes of the arena that a group's load touches, if any.
pub(super) fn span_in_arena(plan: &Plan, load: Val) -> Option<i64> {
    (space_of(plan, load) != Space::Lds).then(|| span(plan, load).1)
}

/// The space that a load reads.
pub(super) fn space_of(plan: &Plan, load: Val) -> Space {
    match plan.form.block.nodes[load.index()].op {
        Op::Load(Space::Lds, ..) => Space::Lds,
        _ => Space::Global,
    }
}

impl Emitter<'_> {
    /// Emits a load of `n` dwords at a wave address.
    pub(super) fn iteration_scalar_load(&mut self, t: &Iteration<'_>, v: Val, n: u8) {
        let node = &t.form.block.nodes[v.index()];
        let start = self.scalar(&t.form.block, t.schedule, node.args[0]);
        let words = usize::from(n);
        if !(t.checked && t.plan.entry_facts.checked.contains_key(&v)) {
            self.inside(t, Space::Global, start, (0, 4 * words as i64));
        }
        for (i, other) in t.form.block.nodes.iter().enumerate() {
            let k = match other.op {
                Op::Result(k) if other.args[0] == v => k,
                _ if i == v.index() => 0,
                _ => continue,
            };
            if k < n && (t.form.kinds[i].is_some()) {
                let at = 4 * i32::from(k);
                let word = self.code.b.load(types::I32, Memory::Guest, start, at);
                self.values.insert(Val(i as u32), word);
            }
        }
    }

    /// The address of a load (I64) in the group's first lane.
    pub(super) fn load_start(&mut self, t: &mut Iteration<'_>, v: Val) -> Value {
        let node = &t.form.block.nodes[v.index()];
        let address = unmerged(&t.form.block, t.form.condition, node.args[0]);
        let start = self.base(t, address);
        match space_of(t.plan, v) {
            Space::Lds => self.code.b.uextend(types::I64, start),
            _ => start,
        }
    }

    /// Requires that `reach` bytes from `below` on at `start` are in bounds of a space.
    pub(super) fn inside(
        &mut self,
        t: &Iteration<'_>,
        space: Space,
        start: Value,
        (below, reach): (i64, i64),
    ) {
        let (base, len) = self.code.memory_of(space, true);
        if space == Space::Lds {
            // LDS may be shorter than that.
            let lowest = self.code.b.iadd_imm(start, below);
            let end = self.code.b.iadd_imm(lowest, reach);
            let above = IntCC::SignedGreaterThanOrEqual;
            let above = self.code.b.icmp_imm(above, lowest, 0);
            let ends = self.code.b.icmp(IntCC::SignedLessThanOrEqual, end, len);
            let good = self.code.b.band(above, ends);
            self.code.require(t.fail, good);
            return;
        }
        let lowest = if below == 0 {
            start
        } else {
            self.code.b.iadd_imm(start, below)
        };
        let offset = self.code.b.isub(lowest, base);
        let limit = self.code.b.iadd_imm(len, -reach);
        let good = self
            .code
            .b
            .icmp(IntCC::UnsignedLessThanOrEqual, offset, limit);
        self.code.require(t.fail, good);
    }

    /// Emits a load: one address and one check for the group.
    pub(super) fn iteration_load(&mut self, t: &mut Iteration<'_>, v: Val) {
        let node = &t.form.block.nodes[v.index()];
        let Op::Load(_, data, _) = node.op else {
            unreachable!("bug: {:?} inside a loop", node.op)
        };
        let address = unmerged(&t.form.block, t.form.condition, node.args[0]);
        let Kind::Affine(stride) = Self::kind(t, address) else {
            unreachable!("bug: an address held in vectors")
        };
        let start = self.load_start(t, v);
        let space = space_of(t.plan, v);
        if !(t.checked && t.plan.entry_facts.checked.contains_key(&v)) {
            self.inside(t, space, start, span(t.plan, v));
        }
        let start = match space {
            Space::Lds => {
                let lds = self.code.lds_start();
                self.code.b.iadd(lds, start)
            }
            _ => start,
        };
        let loaded: Vec<Loaded> = if stride == 0 {
            let values = self.code.load_one(start, data);
            values.into_iter().map(Loaded::Scalar).collect()
        } else {
            let slices = t.body.slices;
            if let Some(&delta) = t.prefetch_distance.get(&v) {
                let there = self.code.b.iadd(start, delta);
                self.code
                    .prefetch(VirOp::Prefetch, there, (0, stride, LANES));
            }
            let loaded = self.code.load_group(start, 0, stride, data, slices);
            loaded.into_iter().map(Loaded::Vectors).collect()
        };
        for (r, value) in loaded.into_iter().enumerate() {
            t.results.insert((v, r as u8), value);
        }
    }
}
