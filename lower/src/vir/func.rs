//! A function of the vector IR: one region's host code before instructions are selected.

use std::mem;

use crate::maps::HashMap;

use super::op::{Constant, Op, StackSlot};
use super::types::Type;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Its number.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Creates the index.
            pub fn new(index: usize) -> $name {
                $name(index as u32)
            }

            /// None.
            pub(crate) const NONE: $name = $name(u32::MAX);
        }
    };
}
index!(
    /// A value.
    Value
);
index!(
    /// An instruction.
    Inst
);
index!(
    /// A block.
    Block
);

/// Definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    /// The result of an instruction.
    Inst(Inst),
    /// A parameter of a block.
    Param(Block),
    /// Another name of a value.
    Alias(Value),
}

/// A part of the pool of values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Range {
    pub(super) start: u32,
    pub(super) len: u32,
}

/// An edge of a terminator, with the arguments for the block's parameters.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The target.
    pub block: Block,
    pub(super) args: Range,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct InstData {
    pub(super) op: Op,
    pub(super) args: Range,
    pub(super) result: Value,
    pub(super) block: Block,
    pub(super) loc: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ValueData {
    pub(super) ty: Type,
    pub(super) def: Def,
}

#[derive(Clone, Debug, Default)]
pub(super) struct BlockData {
    pub(super) params: Vec<Value>,
    pub(super) insts: Vec<Inst>,
    pub(super) cold: bool,
}

/// A function: blocks with parameters, instructions with at most one result.
#[derive(Clone, Debug, Default)]
pub struct Func {
    pub(super) insts: Vec<InstData>,
    pub(super) values: Vec<ValueData>,
    /// More than in use, to recycle their memory.
    pub(super) blocks: Vec<BlockData>,
    pub(super) block_count: usize,
    pub(super) layout: Vec<Block>,
    pub(super) pool: Vec<Value>,
    pub(super) edges: Vec<Edge>,
    constants: Vec<Box<[u8]>>,
    numbers: HashMap<Box<[u8]>, Constant>,
    pub(super) slots: Vec<u32>,
    /// Constants that the entry begins with, the last one first; empty once the function is
    /// finished.
    pub(super) prologue: Vec<Inst>,
}

impl Func {
    /// An empty function.
    pub fn new() -> Func {
        Func::default()
    }

    /// Clears it; keeps its memory.
    pub fn clear(&mut self) {
        self.insts.clear();
        self.values.clear();
        for block in &mut self.blocks[..self.block_count] {
            block.params.clear();
            block.insts.clear();
            block.cold = false;
        }
        self.block_count = 0;
        self.layout.clear();
        self.pool.clear();
        self.edges.clear();
        self.constants.clear();
        self.numbers.clear();
        self.slots.clear();
        self.prologue.clear();
    }

    // ---- values

    /// Number of value indices.
    pub fn num_values(&self) -> usize {
        self.values.len()
    }

    /// A value's type.
    pub fn ty(&self, v: Value) -> Type {
        self.values[v.index()].ty
    }

    /// Resolves aliases.
    pub fn resolve(&self, mut v: Value) -> Value {
        while let Def::Alias(of) = self.values[v.index()].def {
            v = of;
        }
        v
    }

    /// The definition of a value: an instruction or a block.
    pub fn def(&self, v: Value) -> Def {
        self.values[self.resolve(v).index()].def
    }

    /// The instruction that defines a value.
    pub fn inst_of(&self, v: Value) -> Option<Inst> {
        match self.def(v) {
            Def::Inst(inst) => Some(inst),
            Def::Param(_) | Def::Alias(_) => None,
        }
    }

    /// The block that defines a value.
    pub fn block_of(&self, v: Value) -> Block {
        match self.def(v) {
            Def::Inst(inst) => self.inst_block(inst),
            Def::Param(block) => block,
            Def::Alias(_) => unreachable!("a resolved value is no alias"),
        }
    }

    /// The operation that defines a value, with its sources.
    pub fn made_by(&self, v: Value) -> Option<(Op, &[Value])> {
        let inst = self.inst_of(v)?;
        Some((self.op(inst), self.args(inst)))
    }

    /// The integer constant that a value is, as given.
    pub fn iconst(&self, v: Value) -> Option<i64> {
        match self.made_by(v)? {
            (Op::Iconst(n), _) => Some(n),
            _ => None,
        }
    }

    // ---- instructions

    /// Number of instruction indices.
    pub fn num_insts(&self) -> usize {
        self.insts.len()
    }

    /// Its operation.
    pub fn op(&self, inst: Inst) -> Op {
        self.insts[inst.index()].op
    }

    /// Its sources. Arguments of a jump's edges are not among them.
    pub fn args(&self, inst: Inst) -> &[Value] {
        self.list(self.insts[inst.index()].args)
    }

    /// Its result, if it has one.
    pub fn result(&self, inst: Inst) -> Option<Value> {
        let result = self.insts[inst.index()].result;
        (result != Value::NONE).then_some(result)
    }

    /// Its block.
    pub fn inst_block(&self, inst: Inst) -> Block {
        self.insts[inst.index()].block
    }

    /// Its source location; 0 for none.
    pub fn loc(&self, inst: Inst) -> u32 {
        self.insts[inst.index()].loc
    }

    /// The edges of a terminator.
    pub fn edges(&self, inst: Inst) -> &[Edge] {
        match self.op(inst) {
            Op::Jump(edge) => &self.edges[edge as usize..][..1],
            Op::Brif(edge) => &self.edges[edge as usize..][..2],
            _ => &[],
        }
    }

    /// Arguments for the parameters of an edge's block.
    pub fn edge_args(&self, edge: Edge) -> &[Value] {
        self.list(edge.args)
    }

    pub(super) fn list(&self, range: Range) -> &[Value] {
        &self.pool[range.start as usize..][..range.len as usize]
    }

    // ---- blocks

    /// Number of block indices.
    pub fn num_blocks(&self) -> usize {
        self.block_count
    }

    /// The blocks in layout order, the entry first.
    pub fn layout(&self) -> &[Block] {
        &self.layout
    }

    /// The first block.
    pub fn entry(&self) -> Option<Block> {
        self.layout.first().copied()
    }

    /// A block's parameters.
    pub fn params(&self, block: Block) -> &[Value] {
        &self.blocks[block.index()].params
    }

    /// A block's instructions.
    pub fn insts(&self, block: Block) -> &[Inst] {
        &self.blocks[block.index()].insts
    }

    /// A block's last instruction.
    pub fn last(&self, block: Block) -> Option<Inst> {
        self.insts(block).last().copied()
    }

    /// The outgoing edges of a block.
    pub fn successors(&self, block: Block) -> &[Edge] {
        self.last(block).map_or(&[], |last| self.edges(last))
    }

    /// The reachable blocks in reverse postorder: each follows its dominators. The layout need not
    /// be such an order.
    pub fn reverse_postorder(&self) -> Vec<Block> {
        let mut seen = vec![false; self.num_blocks()];
        let mut is_new = |block: Block| !mem::replace(&mut seen[block.index()], true);
        let mut order = Vec::with_capacity(self.num_blocks());
        let mut path: Vec<(Block, &[Edge])> = Vec::new();
        if let Some(entry) = self.entry() {
            is_new(entry);
            path.push((entry, self.successors(entry)));
        }
        while let Some((block, left)) = path.last_mut() {
            let Some((edge, rest)) = left.split_last() else {
                order.push(*block);
                path.pop();
                continue;
            };
            *left = rest;
            if is_new(edge.block) {
                path.push((edge.block, self.successors(edge.block)));
            }
        }
        order.reverse();
        order
    }

    /// Is a block cold?
    pub fn is_cold(&self, block: Block) -> bool {
        self.blocks[block.index()].cold
    }

    // ---- constants and slots

    /// A constant of these bytes.
    pub fn constant(&mut self, bytes: &[u8]) -> Constant {
        if let Some(&known) = self.numbers.get(bytes) {
            return known;
        }
        let new = Constant(self.constants.len() as u32);
        self.constants.push(bytes.into());
        self.numbers.insert(bytes.into(), new);
        new
    }

    /// A constant's bytes.
    pub fn bytes(&self, constant: Constant) -> &[u8] {
        &self.constants[constant.0 as usize]
    }

    /// A new stack slot of this number of bytes, aligned to eight.
    pub fn stack_slot(&mut self, bytes: u32) -> StackSlot {
        self.slots.push(bytes);
        StackSlot(self.slots.len() as u32 - 1)
    }

    /// The sizes of stack slots, in bytes, by their numbers.
    pub fn stack_slots(&self) -> &[u32] {
        &self.slots
    }
}
