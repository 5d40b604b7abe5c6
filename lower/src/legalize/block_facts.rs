//! Facts about the block that is emitted next.

use frontend::op::Space;

use super::{Emitter, affine, scratch};
use crate::analysis::uniformity::{Affine, Facts, Table};
use crate::ir::memory::load_or_store;
use crate::ir::{Block, Val};
use crate::maps::HashMap;
use crate::options::Forms;

/// The runtime checks of an access's addresses besides its bounds: in LDS a word that wraps is out
/// of bounds.
fn in_space(block: &Block, v: Val, affine: Affine) -> Affine {
    let lds = matches!(
        load_or_store(block.nodes[v.index()].op),
        Some((_, Space::Lds, _, _))
    );
    Affine {
        guarded: affine.guarded && !lds,
        ..affine
    }
}

/// Facts about a block's values, if requested.
fn noted<T>(block: &Block, requested: bool, of: impl Fn(Val) -> Option<T>) -> HashMap<Val, T> {
    if !requested {
        return HashMap::default();
    }
    let all = (0..block.nodes.len() as u32).map(Val);
    all.filter_map(|v| Some((v, of(v)?))).collect()
}

impl Emitter<'_> {
    /// Loads the facts about block `i`.
    pub(super) fn learn(&mut self, i: usize, block: &Block, facts: &Facts) {
        self.affine = block
            .effects
            .iter()
            .filter_map(|&v| Some((v, in_space(block, v, facts.address(i, v)?))))
            .filter(|&(v, affine)| affine::suits(block, v, affine, facts.row()))
            .filter(|(_, affine)| !(affine.masked && self.code.region.options().baseline))
            .collect();
        let level = |v: &&Val| {
            let same = |a: Affine| a.stride == 0 && a.whole && !a.guarded && !a.stepped;
            scratch::is_scratch(block.nodes[v.index()].op)
                && facts.address(i, **v).is_some_and(same)
        };
        self.level = block.effects.iter().filter(level).copied().collect();
        self.tables = self.tables_of(i, block, facts);
        self.lines = noted(block, facts.has_lines(), |v| facts.line(i, v));
        let any = |of: fn(&Affine) -> bool| {
            let mut known = self.affine.values().chain(self.lines.values());
            known.any(of)
        };
        let [stepped, guarded] = [any(|a| a.stepped), any(|a| a.guarded)];
        self.steps = noted(block, stepped, |v| facts.step(i, v));
        self.guards = noted(block, guarded, |v| facts.guard(i, v));
        let known = self.affine.keys().chain(self.tables.keys());
        let leaves = known.filter_map(|&v| {
            let node = &block.nodes[v.index()];
            Some((v, affine::leaves(block, node.args[0])?))
        });
        self.leaves = leaves.collect();
        if self.code.region.options().baseline {
            self.find_moved(block);
        }
    }

    /// The accesses of block `index` whose addresses are a base plus an offset table.
    fn tables_of(&self, index: usize, block: &Block, facts: &Facts) -> HashMap<Val, Table> {
        if !self.code.region.options().has(Forms::OFFSET_TABLES) {
            return HashMap::default();
        }
        let others = block
            .effects
            .iter()
            .filter(|v| !self.affine.contains_key(v));
        let known = others.filter_map(|&v| Some((v, facts.table(index, v)?)));
        known
            .filter(|&(v, _)| affine::suits_some(block, v))
            .collect()
    }
}
