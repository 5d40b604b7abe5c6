//! `v_perm` by uniform selectors: decoded once, before the loops.

use super::Body;
use crate::analysis::schedule::{Schedule, Segment};
use crate::host;
use crate::ir::functions::LaneFn;
use crate::ir::{Block, Op, Val, Vary};
use crate::legalize::Emitter;
use crate::legalize::lanes::{Selectors, dwords_type};
use crate::maps::HashMap;
use crate::vir::Value;

/// Constant selectors without signs: a shuffle.
pub(super) fn without_signs(block: &Block, v: Val) -> Option<u32> {
    let Op::Const(selectors) = block.nodes[v.index()].op else {
        return None;
    };
    let selectors = selectors as u32;
    let signs = selectors.to_le_bytes().iter().any(|n| (8..12).contains(n));
    (!signs).then_some(selectors)
}

impl Emitter<'_> {
    /// Decodes the selectors of a segment, before its loops.
    pub(super) fn selectors(
        &mut self,
        block: &Block,
        plan: &Schedule,
        segment: &Segment,
    ) -> HashMap<Val, Selectors> {
        let mut all = HashMap::default();
        let per = self.code.per();
        if per < host::LANES {
            return all;
        }
        for &v in &segment.nodes {
            let node = &block.nodes[v.index()];
            if !matches!(node.op, Op::Perm | Op::Call(LaneFn::Perm, _)) {
                continue;
            }
            let selector = node.args[2];
            let of_wave = block.nodes[selector.index()].ty.vary == Vary::Wave;
            let known = without_signs(block, selector).is_some() || all.contains_key(&selector);
            if of_wave && !known {
                let word = self.scalar(block, plan, selector);
                let words = self.code.b.splat(dwords_type(per), word);
                let decoded = self.code.of_lanes(1, per).selectors(words);
                all.insert(selector, decoded);
            }
        }
        all
    }

    /// `v_perm` by a decoded selector; `None` for another.
    pub(super) fn perm_by_wave(
        &mut self,
        block: &Block,
        plan: &Schedule,
        body: &mut Body,
        v: Val,
    ) -> Option<Vec<Value>> {
        let args = &block.nodes[v.index()].args;
        let selectors = *body.selectors.get(&args[2])?;
        let s0 = self.lane_value(block, plan, body, args[0]);
        let s1 = self.lane_value(block, plan, body, args[1]);
        let mut lanes = self.code.lanes(body);
        let both = s0.into_iter().zip(s1);
        Some(
            both.map(|(x, y)| lanes.permuted(x, y, &selectors))
                .collect(),
        )
    }
}
