//! Facts about the block that is emitted next.

use frontend::op::Space;

use super::{Region, affine, baseline, scratch};
use crate::analysis::schedule::Leaves;
use crate::analysis::uniformity::{Affine, Facts, Guard, Step, Table};
use crate::ir::memory::load_or_store;
use crate::ir::{Block, Val};
use crate::maps::{HashMap, HashSet};
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

/// Facts about the memory accesses and values of the current block. They stay the same while the
/// block is emitted.
#[derive(Default)]
pub(super) struct BlockFacts {
    /// The memory nodes with affine addresses.
    affine: HashMap<Val, Affine>,
    /// Memory nodes whose addresses are a uniform base plus an offset table.
    tables: HashMap<Val, Table>,
    /// The leaves of the addresses in `affine` and `tables`.
    leaves: Leaves,
    /// Scratch accesses whose offset is the same in all active lanes, but is not a wave value.
    uniform_offsets: HashSet<Val>,
    /// Affine values, for compares.
    values: HashMap<Val, Affine>,
    /// Runtime checks of the values in address expressions.
    steps: HashMap<Val, Step>,
    /// Conditions for widened values to be affine; `None` where the condition cannot be checked
    /// here.
    guards: HashMap<Val, Option<Guard>>,
}

impl BlockFacts {
    /// The addresses of a memory node, if they are affine.
    pub(super) fn affine(&self, v: Val) -> Option<Affine> {
        self.affine.get(&v).copied()
    }

    /// The offset table of a memory node's addresses.
    pub(super) fn table(&self, v: Val) -> Option<Table> {
        self.tables.get(&v).copied()
    }

    /// The leaves of a memory node's address.
    pub(super) fn leaves(&self, v: Val) -> Vec<Val> {
        self.leaves.get(&v).cloned().unwrap_or_default()
    }

    /// The leaves of all such addresses.
    pub(super) fn all_leaves(&self) -> &Leaves {
        &self.leaves
    }

    /// Has a scratch access the same offset in all active lanes, without being a wave value?
    pub(super) fn has_uniform_offset(&self, v: Val) -> bool {
        self.uniform_offsets.contains(&v)
    }

    /// A value that is affine, for compares.
    pub(super) fn value(&self, v: Val) -> Option<Affine> {
        self.values.get(&v).copied()
    }

    /// The runtime check of a value in an address expression.
    pub(super) fn step(&self, v: Val) -> Option<Step> {
        self.steps.get(&v).copied()
    }

    /// The condition for a widened value to be affine; see `guards`.
    pub(super) fn guard(&self, v: Val) -> Option<Option<Guard>> {
        self.guards.get(&v).copied()
    }

    /// Loads the facts about block `i`.
    pub(super) fn learn(&mut self, region: &Region<'_>, i: usize, block: &Block, facts: &Facts) {
        self.affine = block
            .effects
            .iter()
            .filter_map(|&v| Some((v, in_space(block, v, facts.address(i, v)?))))
            .filter(|&(v, affine)| affine::suits(block, v, affine, facts.row()))
            .filter(|(_, affine)| !(affine.masked && region.options().baseline))
            .collect();
        let has_uniform_offset = |v: &&Val| {
            let same = |a: Affine| a.stride == 0 && a.whole && !a.guarded && !a.stepped;
            scratch::is_scratch(block.nodes[v.index()].op)
                && facts.address(i, **v).is_some_and(same)
        };
        self.uniform_offsets = block
            .effects
            .iter()
            .filter(has_uniform_offset)
            .copied()
            .collect();
        self.tables = self.tables_of(region, i, block, facts);
        self.values = noted(block, facts.has_lines(), |v| facts.line(i, v));
        let any = |of: fn(&Affine) -> bool| {
            let mut known = self.affine.values().chain(self.values.values());
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
        if region.options().baseline {
            self.find_moved(block);
        }
    }

    /// Finds the accesses of a block that pass two registers and a constant offset to the runtime.
    pub(super) fn find_moved(&mut self, block: &Block) {
        for &v in &block.effects {
            if self.affine.contains_key(&v) {
                continue;
            }
            if let Some((base, _)) = baseline::moved(block, v) {
                let words = block.nodes[base.index()].args.iter();
                self.leaves.insert(v, words.copied().collect());
            }
        }
    }

    /// The address that an access passes to the runtime, and its constant offset.
    pub(super) fn address_and_more(&self, block: &Block, v: Val) -> (Val, u32) {
        let moved = self.leaves.get(&v).and_then(|_| baseline::moved(block, v));
        moved.unwrap_or((block.nodes[v.index()].args[0], 0))
    }

    /// The accesses of block `index` whose addresses are a base plus an offset table.
    fn tables_of(
        &self,
        region: &Region<'_>,
        index: usize,
        block: &Block,
        facts: &Facts,
    ) -> HashMap<Val, Table> {
        if !region.options().has(Forms::OFFSET_TABLES) {
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
