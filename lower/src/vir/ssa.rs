//! SSA construction: variables become block parameters where several edges carry different values
//! (Braun et al., Simple and Efficient Construction of Static Single Assignment Form), without
//! recursion. An unsealed block gets a parameter for each variable read in it; at the end all
//! redundant parameters (trivial phis) are removed at once.

use super::func::{Block, Def, Edge, Func, InstData, Range, Value, ValueData};
use super::op::Op;
use super::types::{Lane, Type};

/// An edge to a block, and its source.
#[derive(Clone, Copy, Debug)]
struct Pred {
    from: Block,
    edge: u32,
}

#[derive(Debug, Default)]
struct BlockVars {
    preds: Vec<Pred>,
    sealed: bool,
    /// Variables with parameters, and the parameters.
    params: Vec<(u32, Value)>,
    /// For each of these parameters, the argument of each edge, once the block is sealed.
    args: Vec<Value>,
}

/// Lattice value of a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// No edge was seen yet.
    Nothing,
    /// The same value on all edges seen.
    One(Value),
    Many,
}

/// Variables of a function under construction, and recycled memory.
#[derive(Debug, Default)]
pub struct Ssa {
    types: Vec<Type>,
    /// By variable and block: the current value at the end of the block.
    defs: Vec<Vec<Value>>,
    /// More than in use, to recycle their memory.
    blocks: Vec<BlockVars>,
    /// The number of blocks of this function.
    block_count: usize,
    /// Parameters of sealed blocks without arguments: block and number.
    work: Vec<(Block, usize)>,
    path: Vec<Block>,
    /// Values of variables that were never written, by type.
    undefined: Vec<(Type, Value)>,
}

impl Ssa {
    /// Clears it; keeps its memory.
    pub(super) fn clear(&mut self) {
        // Entries of an earlier, larger function are already empty.
        self.defs[..self.types.len()]
            .iter_mut()
            .for_each(Vec::clear);
        self.types.clear();
        for block in &mut self.blocks[..self.block_count] {
            block.preds.clear();
            block.sealed = false;
            block.params.clear();
            block.args.clear();
        }
        self.block_count = 0;
        self.work.clear();
        self.undefined.clear();
    }

    pub(super) fn declare(&mut self, ty: Type) -> u32 {
        let n = self.types.len();
        self.types.push(ty);
        if self.defs.len() <= n {
            self.defs.push(Vec::new());
        }
        n as u32
    }

    /// A variable's type.
    pub(super) fn ty(&self, var: u32) -> Type {
        self.types[var as usize]
    }

    fn block(&mut self, block: Block) -> &mut BlockVars {
        let n = block.index();
        self.block_count = self.block_count.max(n + 1);
        if self.blocks.len() <= n {
            self.blocks.resize_with(n + 1, BlockVars::default);
        }
        &mut self.blocks[n]
    }

    /// Notes an edge.
    pub(super) fn add_pred(&mut self, to: Block, from: Block, edge: u32) {
        let block = self.block(to);
        debug_assert!(!block.sealed, "bug: an edge to a sealed block");
        block.preds.push(Pred { from, edge });
    }

    pub(super) fn has_params(&mut self, block: Block) -> bool {
        !self.block(block).params.is_empty()
    }

    pub(super) fn write(&mut self, var: u32, block: Block, value: Value) {
        let defs = &mut self.defs[var as usize];
        if defs.len() <= block.index() {
            defs.resize(block.index() + 1, Value::NONE);
        }
        defs[block.index()] = value;
    }

    /// The value of a variable at the current end of a block.
    pub(super) fn read(&mut self, func: &mut Func, var: u32, block: Block) -> Value {
        let value = self.look(func, var, block);
        if !self.work.is_empty() {
            self.fill(func);
        }
        func.resolve(value)
    }

    /// As [`Ssa::read`], but new parameters have no arguments yet.
    fn look(&mut self, func: &mut Func, var: u32, block: Block) -> Value {
        self.path.clear();
        let mut at = block;
        let value = loop {
            if let Some(&value) = self.defs[var as usize].get(at.index())
                && value != Value::NONE
            {
                break value;
            }
            let here = self.block(at);
            match here.preds[..] {
                [pred] if here.sealed => {
                    self.path.push(at);
                    // A cycle of blocks without another predecessor is unreachable.
                    if self.path.len() > func.num_blocks() {
                        break self.never_written(func, var, at);
                    }
                    at = pred.from;
                }
                [] if here.sealed => break self.never_written(func, var, at),
                _ => break self.param(func, var, at),
            }
        };
        let path = std::mem::take(&mut self.path);
        for &passed in path.iter().chain([&block]) {
            self.write(var, passed, value);
        }
        self.path = path;
        value
    }

    /// A new parameter for a variable.
    fn param(&mut self, func: &mut Func, var: u32, at: Block) -> Value {
        let value = func.new_param(at, self.types[var as usize]);
        let block = self.block(at);
        block.params.push((var, value));
        if block.sealed {
            let count = block.params.len() * block.preds.len();
            block.args.resize(count, Value::NONE);
            let n = block.params.len() - 1;
            self.work.push((at, n));
        }
        self.write(var, at, value);
        value
    }

    /// Finds the arguments of parameters that have none. A parameter with one value on all edges
    /// becomes an alias.
    fn fill(&mut self, func: &mut Func) {
        let mut filled = Vec::new();
        while let Some((at, n)) = self.work.pop() {
            let (var, _) = self.block(at).params[n];
            let count = self.block(at).preds.len();
            for i in 0..count {
                let from = self.block(at).preds[i].from;
                let value = self.look(func, var, from);
                self.block(at).args[n * count + i] = value;
            }
            filled.push((at, n));
        }
        for (at, n) in filled.into_iter().rev() {
            let block = &self.blocks[at.index()];
            let param = block.params[n].1;
            let count = block.preds.len();
            let mut one = None;
            let args = block.args[n * count..][..count].iter();
            let trivial = args
                .map(|&v| func.resolve(v))
                .all(|v| v == param || *one.get_or_insert(v) == v);
            if let (true, Some(value)) = (trivial, one) {
                func.values[param.index()].def = Def::Alias(value);
            }
        }
    }

    /// Declares that all edges to a block exist.
    pub(super) fn seal(&mut self, func: &mut Func, at: Block) {
        let block = self.block(at);
        if std::mem::replace(&mut block.sealed, true) {
            return;
        }
        if block.preds.is_empty() {
            for (var, param) in block.params.clone() {
                let value = self.never_written(func, var, at);
                func.values[param.index()].def = Def::Alias(value);
            }
            return;
        }
        let params = block.params.len();
        block.args.resize(params * block.preds.len(), Value::NONE);
        self.work.extend((0..params).rev().map(|n| (at, n)));
        if params > 0 {
            self.fill(func);
        }
    }

    /// The value, in a block, of a variable that no edge wrote: zero, defined in the entry.
    fn never_written(&mut self, func: &mut Func, var: u32, at: Block) -> Value {
        let ty = self.types[var as usize];
        if let Some(&(_, value)) = self.undefined.iter().find(|(of, _)| *of == ty) {
            return value;
        }
        let op = match (ty.is_vector(), ty.lane()) {
            (true, _) => Op::Vconst(func.constant(&vec![0; ty.bytes() as usize])),
            (false, Lane::F32) => Op::F32const(0),
            (false, Lane::F64) => Op::F64const(0),
            (false, _) => Op::Iconst(0),
        };
        let value = func.prepend(op, ty, at);
        self.undefined.push((ty, value));
        value
    }

    /// Adds the arguments for the remaining parameters to edges, and replaces aliases in all uses.
    pub(super) fn finish(&mut self, func: &mut Func) {
        for n in 0..func.num_blocks() {
            self.seal(func, Block::new(n));
        }
        let known = self.find_redundant(func);
        let is_one = |v: Value| matches!(known[v.index()], Known::One(_));
        // Arguments first: they are indexed by the parameters' positions.
        for n in 0..func.num_blocks() {
            let block = &self.blocks[n];
            let all = &func.blocks[n].params;
            let explicit = all.len() - block.params.len();
            let count = block.preds.len();
            for (i, pred) in block.preds.iter().enumerate() {
                let given = func.edges[pred.edge as usize].args;
                debug_assert_eq!(given.len as usize, explicit, "bug: arguments of block{n}");
                if block.params.is_empty() && !all.iter().any(|&v| is_one(v)) {
                    continue;
                }
                let start = func.pool.len() as u32;
                for (j, &param) in all.iter().enumerate() {
                    if is_one(param) || matches!(func.values[param.index()].def, Def::Alias(_)) {
                        continue;
                    }
                    let arg = match j.checked_sub(explicit) {
                        None => func.pool[given.start as usize + j],
                        Some(n) => block.args[n * count + i],
                    };
                    func.pool.push(arg);
                }
                let len = func.pool.len() as u32 - start;
                func.edges[pred.edge as usize].args = Range { start, len };
            }
        }
        for n in 0..func.num_blocks() {
            let mut params = std::mem::take(&mut func.blocks[n].params);
            params.retain(|&param| {
                if let Known::One(value) = known[param.index()] {
                    func.values[param.index()].def = Def::Alias(value);
                }
                !matches!(func.values[param.index()].def, Def::Alias(_))
            });
            func.blocks[n].params = params;
        }
        // Arguments of rewritten edges follow the previous ones in the pool.
        for n in 0..func.pool.len() {
            func.pool[n] = func.resolve(func.pool[n]);
        }
    }

    /// By value number: the lattice value of parameters; other values are `Many`.
    fn find_redundant(&self, func: &Func) -> Vec<Known> {
        let mut known = vec![Known::Many; func.num_values()];
        let mut passed: Vec<(Value, Value)> = Vec::new();
        let entry = func.entry();
        for n in 0..func.num_blocks() {
            // The function's own parameters are inputs.
            if Some(Block::new(n)) == entry {
                continue;
            }
            let (block, all) = (&self.blocks[n], &func.blocks[n].params);
            let explicit = all.len() - block.params.len();
            let count = block.preds.len();
            for (j, &param) in all.iter().enumerate() {
                if matches!(func.values[param.index()].def, Def::Alias(_)) {
                    continue;
                }
                known[param.index()] = Known::Nothing;
                for (i, pred) in block.preds.iter().enumerate() {
                    let arg = match j.checked_sub(explicit) {
                        None => func.pool[func.edges[pred.edge as usize].args.start as usize + j],
                        Some(n) => block.args[n * count + i],
                    };
                    passed.push((param, func.resolve(arg)));
                }
            }
        }
        // By argument: the parameters that take it.
        let are = passed
            .iter()
            .filter(|(_, arg)| known[arg.index()] == Known::Nothing);
        let mut takers: Vec<(Value, Value)> = are.map(|&(param, arg)| (arg, param)).collect();
        takers.sort_unstable();
        let mut changed = true;
        while changed {
            changed = false;
            for &(param, arg) in &passed {
                let before = known[param.index()];
                let arg = match known[arg.index()] {
                    Known::Many => Known::One(arg),
                    known => known,
                };
                let now = match (before, arg) {
                    (before, Known::Nothing) => before,
                    (Known::Nothing, arg) => arg,
                    // Its own value, by a back edge.
                    (before, Known::One(arg)) if arg == param => before,
                    (before, arg) if before == arg => before,
                    _ => Known::Many,
                };
                changed |= now != before;
                known[param.index()] = now;
                if now != before && matches!(before, Known::One(_)) {
                    forget(&mut known, &takers, param, before);
                }
            }
        }
        // Unreachable blocks keep their parameters.
        known
    }
}

/// Resets parameters whose value derives from a parameter that turned out to have several:
/// otherwise that parameter and its former value `was` would count as two values.
fn forget(known: &mut [Known], takers: &[(Value, Value)], param: Value, was: Known) {
    let mut work = vec![param];
    while let Some(of) = work.pop() {
        let first = takers.partition_point(|&(arg, _)| arg < of);
        for &(_, taker) in takers[first..].iter().take_while(|(arg, _)| *arg == of) {
            if known[taker.index()] == was {
                known[taker.index()] = Known::Nothing;
                work.push(taker);
            }
        }
    }
}

impl Func {
    /// A new parameter of a block.
    pub(super) fn new_param(&mut self, block: Block, ty: Type) -> Value {
        let value = Value::new(self.values.len());
        let def = Def::Param(block);
        self.values.push(ValueData { ty, def });
        self.blocks[block.index()].params.push(value);
        value
    }

    /// A new instruction that is not in a block.
    pub(super) fn new_inst(&mut self, data: InstData) -> super::Inst {
        let inst = super::Inst::new(self.insts.len());
        self.insts.push(data);
        inst
    }

    /// A constant in the entry block; that is `here` if it has no instructions yet. All of these
    /// are inserted at the end.
    pub(super) fn prepend(&mut self, op: Op, ty: Type, here: Block) -> Value {
        if self.layout.is_empty() {
            self.layout.push(here);
        }
        let entry = self.layout[0];
        let value = Value::new(self.values.len());
        let inst = self.new_inst(InstData {
            op,
            args: Range::default(),
            result: value,
            block: entry,
            loc: 0,
        });
        let def = Def::Inst(inst);
        self.values.push(ValueData { ty, def });
        self.prologue.push(inst);
        value
    }

    pub(super) fn new_edge(&mut self, block: Block, args: &[Value]) -> u32 {
        let args = self.new_list(args);
        self.edges.push(Edge { block, args });
        self.edges.len() as u32 - 1
    }

    /// Replaces an argument of an edge.
    pub(super) fn set_edge_arg(&mut self, edge: u32, n: usize, arg: Value) {
        let start = self.edges[edge as usize].args.start as usize;
        self.pool[start + n] = arg;
    }

    pub(super) fn new_list(&mut self, values: &[Value]) -> Range {
        let start = self.pool.len() as u32;
        self.pool.extend_from_slice(values);
        let len = values.len() as u32;
        Range { start, len }
    }
}
