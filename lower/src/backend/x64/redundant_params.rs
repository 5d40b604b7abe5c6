//! Parameters of blocks that are one value on whichever way control comes. The builder of CLIF gives a block of which
//! it does not know all ways yet a parameter for each variable that is read behind it, and takes back only those that it
//! finds to be one value at the end, one by one; two that get each other's value stay. Each would be a range of its own to
//! find a register for, and moves on all ways.

use cranelift_codegen::ir::{Block, BlockArg, BlockCall, Function, Value};

/// What a parameter is found to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// No way to it was seen.
    Nothing,
    /// This value on all ways seen.
    One(Value),
    Many,
}

/// What is known of all parameters.
struct Params {
    /// By the number of a value: which parameter it is, if it is one.
    index: Vec<Option<u32>>,
    known: Vec<Known>,
}

impl Params {
    fn index(&self, v: Value) -> Option<usize> {
        Some(self.index[v.as_u32() as usize]? as usize)
    }

    /// What a value is, as far as is known.
    fn of(&self, v: Value) -> Known {
        match self.index(v).map(|n| self.known[n]) {
            Some(Known::Many) | None => Known::One(v),
            Some(known) => known,
        }
    }

    /// A way brings `arg` to a parameter. Does that change what it is?
    fn meet(&mut self, param: Value, arg: Value) -> bool {
        let Some(n) = self.index(param) else {
            return false;
        };
        let now = match (self.known[n], self.of(arg)) {
            (known, Known::Nothing) => known,
            (Known::Nothing, arg) => arg,
            // Itself, once round a loop.
            (known, Known::One(arg)) if arg == param => known,
            (known, arg) if known == arg => known,
            _ => Known::Many,
        };
        std::mem::replace(&mut self.known[n], now) != now
    }
}

/// Takes such parameters away.
pub(super) fn join(func: &mut Function) {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    let mut params = Params {
        index: vec![None; func.dfg.num_values()],
        known: Vec::new(),
    };
    // The function's own come from outside.
    for &block in &blocks[1..] {
        for &param in func.dfg.block_params(block) {
            params.index[param.as_u32() as usize] = Some(params.known.len() as u32);
            params.known.push(Known::Nothing);
        }
    }
    if params.known.is_empty() {
        return;
    }
    let mut ways: Vec<(Value, Value)> = Vec::new();
    for &block in &blocks {
        for call in calls(func, block) {
            let to = func.dfg.block_params(call.block(&func.dfg.value_lists));
            let args = call.args(&func.dfg.value_lists);
            ways.extend(to.iter().zip(args).filter_map(|(&param, arg)| {
                Some((param, func.dfg.resolve_aliases(arg.as_value()?)))
            }));
        }
    }
    loop {
        let mut changed = false;
        for &(param, arg) in &ways {
            changed |= params.meet(param, arg);
        }
        if !changed {
            break;
        }
    }
    remove(func, &blocks, &params);
}

/// The ways that go on from a block.
fn calls(func: &Function, block: Block) -> &[BlockCall] {
    let Some(last) = func.layout.last_inst(block) else {
        return &[];
    };
    let (tables, exceptions) = (&func.dfg.jump_tables, &func.dfg.exception_tables);
    func.dfg.insts[last].branch_destination(tables, exceptions)
}

/// Makes names of the parameters that are one value.
fn remove(func: &mut Function, blocks: &[Block], params: &Params) {
    let is_one = |v: Value| {
        let known = params.index(v).map(|n| params.known[n]);
        matches!(known, Some(Known::One(_)))
    };
    // Arguments first: they go by the parameters' places.
    let mut args: Vec<BlockArg> = Vec::new();
    for &block in blocks {
        let Some(last) = func.layout.last_inst(block) else {
            continue;
        };
        for n in 0..calls(func, block).len() {
            let call = &calls(func, block)[n];
            let to = func.dfg.block_params(call.block(&func.dfg.value_lists));
            if !to.iter().any(|&param| is_one(param)) {
                continue;
            }
            let all = to.iter().zip(call.args(&func.dfg.value_lists));
            args.clear();
            args.extend(
                all.filter(|(param, _)| !is_one(**param))
                    .map(|(_, arg)| arg),
            );
            let dfg = &mut func.dfg;
            let calls = dfg.insts[last]
                .branch_destination_mut(&mut dfg.jump_tables, &mut dfg.exception_tables);
            calls[n].clear(&mut dfg.value_lists);
            calls[n].extend(args.iter().copied(), &mut dfg.value_lists);
        }
    }
    for &block in blocks {
        let all = func.dfg.block_params(block).to_vec();
        if !all.iter().any(|&param| is_one(param)) {
            continue;
        }
        func.dfg.detach_block_params(block);
        for param in all {
            match params.index(param).map(|n| params.known[n]) {
                Some(Known::One(value)) => func.dfg.change_to_alias(param, value),
                _ => func.dfg.attach_block_param(block, param),
            }
        }
    }
}
