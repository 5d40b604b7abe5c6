use super::*;

fn params(f: &Func) -> Vec<usize> {
    let blocks = (0..f.num_blocks()).map(Block::new);
    blocks.map(|block| f.params(block).len()).collect()
}

/// A block that branches on a truth value.
fn decide(b: &mut Builder<'_>, v: Value, [yes, no]: [Block; 2]) {
    let truth = b.icmp_imm(IntCC::NotEqual, v, 0);
    b.brif(truth, yes, &[], no, &[]);
}

fn blocks<const N: usize>(b: &mut Builder<'_>) -> [Block; N] {
    [(); N].map(|()| b.create_block())
}

fn returned(f: &Func, block: Block) -> Value {
    let last = f.last(block).expect("it has a terminator");
    assert_eq!(f.op(last), Op::Return);
    f.args(last)[0]
}

#[test]
fn straight() {
    for seal in [false, true] {
        let f = build(|b, context| {
            let [next, last] = blocks(b);
            let var = b.declare_var(I64);
            b.def_var(var, context);
            let one = b.iconst(I64, 1);
            b.def_var(var, one);
            b.jump(next, &[]);
            if seal {
                b.seal_block(next);
            }
            b.switch_to_block(next);
            let v = b.use_var(var);
            assert_eq!(v == one, seal);
            let v = b.iadd(v, context);
            b.def_var(var, v);
            b.jump(last, &[]);
            b.switch_to_block(last);
            let v = b.use_var(var);
            b.return_(v);
        });
        assert_eq!(params(&f), [1, 0, 0]);
        let sum = returned(&f, Block::new(2));
        let (op, args) = f.made_by(sum).expect("it is a sum");
        assert_eq!(op, Op::Iadd);
        assert_eq!(f.iconst(args[0]), Some(1));
    }
}

/// Two paths that write a variable, and their join.
fn diamond(write: impl Fn(&mut Builder<'_>, Variable, Value, usize), seal: bool) -> Func {
    build(|b, context| {
        let [yes, no, join] = blocks(b);
        let var = b.declare_var(I64);
        b.def_var(var, context);
        decide(b, context, [yes, no]);
        for (n, side) in [yes, no].into_iter().enumerate() {
            b.switch_to_block(side);
            write(b, var, context, n);
            b.jump(join, &[]);
        }
        if seal {
            [yes, no, join]
                .into_iter()
                .for_each(|block| b.seal_block(block));
        }
        b.switch_to_block(join);
        let v = b.use_var(var);
        b.return_(v);
    })
}

#[test]
fn diamonds() {
    for seal in [false, true] {
        let different = |b: &mut Builder<'_>, var, _, n| {
            let v = b.iconst(I64, n as i64);
            b.def_var(var, v);
        };
        let f = diamond(different, seal);
        assert_eq!(params(&f), [1, 0, 0, 1]);
        assert_eq!(returned(&f, Block::new(3)), f.params(Block::new(3))[0]);
        for (n, block) in [1, 2].map(Block::new).into_iter().enumerate() {
            let edge = f.successors(block)[0];
            assert_eq!(f.iconst(f.edge_args(edge)[0]), Some(n as i64));
        }
        let same = |b: &mut Builder<'_>, var, context, _| b.def_var(var, context);
        let neither = |_: &mut Builder<'_>, _, _, _| {};
        for f in [diamond(same, seal), diamond(neither, seal)] {
            assert_eq!(params(&f), [1, 0, 0, 0]);
            assert_eq!(returned(&f, Block::new(3)), f.params(Block::new(0))[0]);
        }
    }
}

#[test]
fn one_side_of_a_branch_in_one_block() {
    let f = build(|b, context| {
        let [join] = blocks(b);
        let param = b.append_block_param(join, I64);
        let var = b.declare_var(I64);
        b.def_var(var, context);
        let one = b.iconst(I64, 1);
        b.brif(context, join, &[one], join, &[context]);
        b.switch_to_block(join);
        let v = b.use_var(var);
        let sum = b.iadd(v, param);
        b.return_(sum);
    });
    assert_eq!(params(&f), [1, 1]);
}

/// A loop with a loop-carried and an invariant variable.
#[test]
fn loops() {
    for seal in [false, true] {
        let f = build(|b, context| {
            let [head, body, done] = blocks(b);
            let [carried, invariant] = [I64; 2].map(|ty| b.declare_var(ty));
            b.def_var(carried, context);
            b.def_var(invariant, context);
            b.jump(head, &[]);
            b.switch_to_block(head);
            let left = b.use_var(carried);
            decide(b, left, [body, done]);
            b.switch_to_block(body);
            let step = b.use_var(invariant);
            let left = b.use_var(carried);
            let left = b.isub(left, step);
            b.def_var(carried, left);
            b.jump(head, &[]);
            if seal {
                [head, body, done]
                    .into_iter()
                    .for_each(|block| b.seal_block(block));
            }
            b.switch_to_block(done);
            let [x, y] = [carried, invariant].map(|var| b.use_var(var));
            let v = b.iadd(x, y);
            b.return_(v);
        });
        assert_eq!(params(&f), [1, 1, 0, 0]);
        let sum = returned(&f, Block::new(3));
        let param = f.params(Block::new(1))[0];
        let context = f.params(Block::new(0))[0];
        assert_eq!(f.made_by(sum), Some((Op::Iadd, &[param, context][..])));
    }
}

/// Nested loops; blocks are sealed as soon as all edges exist, at the end, or at the end from the
/// innermost on.
#[test]
fn nested_loops() {
    for seal in 0..3 {
        let f = build(|b, context| {
            let [outer, inner, body, latch, done] = blocks(b);
            let seal_now = |b: &mut Builder<'_>, block| {
                if seal == 1 {
                    b.seal_block(block);
                }
            };
            let [i, j, whole, never] = [I64; 4].map(|ty| b.declare_var(ty));
            let zero = b.iconst(I64, 0);
            b.def_var(i, context);
            b.def_var(j, zero);
            b.def_var(whole, context);
            b.def_var(never, context);
            b.jump(outer, &[]);
            b.switch_to_block(outer);
            let n = b.use_var(i);
            b.def_var(j, n);
            b.jump(inner, &[]);
            b.switch_to_block(inner);
            let n = b.use_var(j);
            decide(b, n, [body, latch]);
            seal_now(b, body);
            seal_now(b, latch);
            b.switch_to_block(body);
            let [n, step] = [j, whole].map(|var| b.use_var(var));
            let n = b.isub(n, step);
            b.def_var(j, n);
            b.jump(inner, &[]);
            seal_now(b, inner);
            b.switch_to_block(latch);
            let n = b.use_var(i);
            let n = b.iadd_imm(n, -1);
            b.def_var(i, n);
            decide(b, n, [outer, done]);
            seal_now(b, outer);
            seal_now(b, done);
            if seal == 2 {
                [latch, body, inner, outer]
                    .into_iter()
                    .for_each(|block| b.seal_block(block));
            }
            b.switch_to_block(done);
            let v = b.use_var(never);
            b.return_(v);
        });
        // The inner loop takes its invariant variable from the outer one.
        assert_eq!(params(&f), [1, 1, 1, 0, 0, 0], "{}", print(&f));
        assert_eq!(returned(&f, Block::new(5)), f.params(Block::new(0))[0]);
    }
}

/// An inner loop, with a join in it, that does not change the outer loop's loop-carried variable:
/// at first every parameter seems to be the value before both loops.
#[test]
fn what_changes_around_a_loop_only() {
    let f = build(|b, context| {
        let [outer, first, second, behind, yes, join, done] = blocks(b);
        let var = b.declare_var(I64);
        b.def_var(var, context);
        b.jump(outer, &[]);
        b.switch_to_block(outer);
        b.jump(first, &[]);
        // There are paths from each of the two to the other.
        b.switch_to_block(first);
        decide(b, context, [second, behind]);
        b.switch_to_block(second);
        decide(b, context, [first, behind]);
        b.switch_to_block(behind);
        let v = b.use_var(var);
        decide(b, v, [yes, join]);
        b.switch_to_block(yes);
        let v = b.use_var(var);
        let v = b.iadd(v, context);
        b.def_var(var, v);
        b.jump(join, &[]);
        b.switch_to_block(join);
        decide(b, context, [outer, done]);
        b.switch_to_block(done);
        let v = b.use_var(var);
        b.return_(v);
    });
    assert_eq!(params(&f), [1, 1, 0, 0, 0, 0, 1, 0], "{}", print(&f));
}

#[test]
fn never_written() {
    for seal in [false, true] {
        let f = build(|b, _| {
            let [next] = blocks(b);
            if seal {
                let entry = b.current_block().expect("the entry");
                b.seal_block(entry);
            }
            let vars = [I64, I32X8, F32, F64, I8, I64].map(|ty| b.declare_var(ty));
            // Before any other instruction.
            let v = b.use_var(vars[0]);
            let v = b.iadd(v, v);
            b.jump(next, &[]);
            b.switch_to_block(next);
            for &var in &vars[1..5] {
                let v = b.use_var(var);
                let address = b.iconst(I64, 0);
                b.store(Memory::Guest, v, address, 0);
            }
            let reparsed = b.use_var(vars[5]);
            let v = b.iadd(v, reparsed);
            b.return_(v);
        });
        assert_eq!(params(&f), [1, 0]);
        let entry = f.insts(Block::new(0)).iter();
        let zeros = entry.filter_map(|&inst| match f.op(inst) {
            Op::Iconst(0) | Op::F32const(0) | Op::F64const(0) | Op::Vconst(_) => f.result(inst),
            _ => None,
        });
        let mut zeros: Vec<Type> = zeros.map(|v| f.ty(v)).collect();
        zeros.sort_unstable();
        assert_eq!(zeros, [I8, I32X8, I64, F32, F64]);
    }
}

#[test]
fn written_on_one_edge_only() {
    let f = diamond_of_one();
    assert_eq!(params(&f), [1, 0, 1]);
    let entry = f.insts(Block::new(0));
    let last = f.last(Block::new(0)).expect("it ends");
    let arg = f.edge_args(f.edges(last)[1])[0];
    assert_eq!(f.inst_of(arg), Some(entry[0]));
}

fn diamond_of_one() -> Func {
    build(|b, context| {
        let [yes, join] = blocks(b);
        let var = b.declare_var(I64);
        decide(b, context, [yes, join]);
        b.switch_to_block(yes);
        b.def_var(var, context);
        b.jump(join, &[]);
        b.switch_to_block(join);
        let v = b.use_var(var);
        b.return_(v);
    })
}

#[test]
fn constants_at_the_entry_of_an_empty_function() {
    let f = build(|b, _| {
        let v = b.iconst_at_entry(I64, 3);
        b.return_(v);
    });
    assert_eq!(
        print(&f),
        "block0(v0: i64):\n    v1: i64 = iconst 3\n    return v1\n"
    );
}

#[test]
fn what_nothing_leads_to() {
    let f = build(|b, context| {
        let [one, other, alone] = blocks(b);
        let var = b.declare_var(I64);
        b.def_var(var, context);
        b.return_(context);
        for (here, there) in [(one, other), (other, one)] {
            b.switch_to_block(here);
            let v = b.use_var(var);
            b.store(Memory::Guest, v, v, 0);
            b.jump(there, &[]);
        }
        b.switch_to_block(alone);
        let v = b.use_var(var);
        b.return_(v);
    });
    assert_eq!(params(&f)[0], 1);
}

/// Variables that are exchanged in each iteration of a loop.
fn exchange(same: bool) -> Func {
    build(|b, context| {
        let [head, done] = blocks(b);
        let vars = [I64; 2].map(|ty| b.declare_var(ty));
        let one = b.iconst(I64, 1);
        b.def_var(vars[0], context);
        b.def_var(vars[1], if same { context } else { one });
        b.jump(head, &[]);
        b.switch_to_block(head);
        let [x, y] = vars.map(|var| b.use_var(var));
        b.def_var(vars[0], y);
        b.def_var(vars[1], x);
        decide(b, context, [head, done]);
        b.switch_to_block(done);
        let v = b.use_var(vars[0]);
        b.return_(v);
    })
}

#[test]
fn exchanged_values() {
    let f = exchange(false);
    assert_eq!(params(&f), [1, 2, 0]);
    let params_of_head = f.params(Block::new(1));
    let back = f.successors(Block::new(1))[0];
    let exchanged: Vec<Value> = params_of_head.iter().rev().copied().collect();
    assert_eq!(f.edge_args(back), exchanged);
    let f = exchange(true);
    assert_eq!(params(&f), [1, 0, 0]);
    assert_eq!(returned(&f, Block::new(2)), f.params(Block::new(0))[0]);
}

/// Explicit parameters are removed, too, but not those of the function.
#[test]
fn explicit_parameters() {
    let f = build(|b, context| {
        let [head, done] = blocks(b);
        let [same, new] = [I64; 2].map(|ty| b.append_block_param(head, ty));
        let one = b.iconst(I64, 1);
        let var = b.declare_var(I64);
        b.def_var(var, one);
        b.jump(head, &[context, one]);
        b.switch_to_block(head);
        let old = b.use_var(var);
        b.def_var(var, new);
        let v = b.iadd(new, old);
        b.brif(same, head, &[same, v], done, &[]);
        b.switch_to_block(done);
        b.return_(same);
    });
    assert_eq!(params(&f), [1, 2, 0]);
    assert_eq!(returned(&f, Block::new(2)), f.params(Block::new(0))[0]);
}

/// A chain of blocks; each but the first may have two edges from its predecessor.
fn chain(count: usize, twice: bool, seal: bool, change: bool) -> Func {
    build(|b, context| {
        let vars = [I64; 3].map(|ty| b.declare_var(ty));
        b.def_var(vars[0], context);
        b.def_var(vars[1], context);
        for n in 0..count {
            let next = b.create_block();
            match twice {
                true => b.brif(context, next, &[], next, &[]),
                false => b.jump(next, &[]),
            }
            if seal {
                b.seal_block(next);
            }
            b.switch_to_block(next);
            if change && n % 2 == 0 {
                let v = b.use_var(vars[1]);
                let v = b.iadd(v, v);
                b.def_var(vars[1], v);
            }
        }
        let [x, y, z] = vars.map(|var| b.use_var(var));
        let v = b.iadd(x, y);
        let v = b.iadd(v, z);
        b.return_(v);
    })
}

/// A loop around a chain.
fn long_loop(count: usize) -> Func {
    build(|b, context| {
        let var = b.declare_var(I64);
        b.def_var(var, context);
        let [head, done] = blocks(b);
        b.jump(head, &[]);
        b.switch_to_block(head);
        for _ in 0..count {
            let next = b.create_block();
            b.brif(context, next, &[], done, &[]);
            b.switch_to_block(next);
        }
        b.jump(head, &[]);
        b.switch_to_block(done);
        let v = b.use_var(var);
        b.return_(v);
    })
}

#[test]
fn long_chains_take_little_stack() {
    const COUNT: usize = 20_000;
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    let work = || {
        for n in 0..8 {
            let [twice, seal, change] = [1, 2, 4].map(|bit| n & bit != 0);
            let f = chain(COUNT, twice, seal, change);
            assert_eq!(f.layout().len(), COUNT + 1);
            assert!(params(&f)[1..].iter().all(|&count| count == 0));
        }
        let f = long_loop(COUNT);
        assert!(params(&f)[1..].iter().all(|&count| count == 0));
    };
    thread
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

/// Memory of one function is used for the next.
#[test]
fn consecutive_functions() {
    let (mut f, mut ssa) = (Func::new(), Ssa::default());
    let mut texts = Vec::new();
    for turn in 0..4 {
        build_into(&mut f, &mut ssa, |b, context| {
            let [head, done] = blocks(b);
            let vars = [I64, I64].map(|ty| b.declare_var(ty));
            if turn % 2 == 0 {
                b.func.stack_slot(8);
                b.set_cold_block(done);
                b.def_var(vars[0], context);
            }
            b.jump(head, &[]);
            b.switch_to_block(head);
            let [x, y] = vars.map(|var| b.use_var(var));
            b.def_var(vars[0], y);
            b.def_var(vars[1], x);
            decide(b, x, [head, done]);
            b.switch_to_block(done);
            let v = b.use_var(vars[1]);
            b.return_(v);
        });
        texts.push(print(&f));
    }
    assert_ne!(texts[0], texts[1]);
    assert_eq!(texts[..2], texts[2..]);
}

/// For random control flow and sealing order, values are those of the variables, and no parameter
/// is redundant.
#[test]
fn any_shape() {
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    for _ in 0..2000 {
        shape(&mut random);
    }
}

/// Builds a random function and runs it together with its model.
fn shape(random: &mut dyn FnMut(usize) -> usize) {
    const VARS: usize = 3;
    let count = 2 + random(9);
    // A block's writes: a variable, a new number or another variable; and its targets.
    let writes: Vec<Vec<(usize, usize)>> = (0..count)
        .map(|_| {
            (0..random(3))
                .map(|_| (random(VARS), random(VARS + 2)))
                .collect()
        })
        .collect();
    let ways: Vec<[usize; 2]> = (0..count)
        .map(|_| [1 + random(count - 1), 1 + random(count - 1)])
        .collect();
    let leaves: Vec<bool> = (0..count).map(|n| n > 0 && random(4) == 0).collect();
    let early = random(3);
    let f = build(|b, context| {
        let others: Vec<Block> = (1..count).map(|_| b.create_block()).collect();
        let vars = [I64; VARS].map(|ty| b.declare_var(ty));
        let block = |n: usize| others[n - 1];
        let mut left: Vec<usize> = (0..count)
            .map(|to| {
                let ways = ways.iter().zip(&leaves).filter(|(_, leaves)| !**leaves);
                ways.flat_map(|(ways, _)| ways)
                    .filter(|&&way| way == to)
                    .count()
            })
            .collect();
        for n in 0..count {
            if n > 0 {
                b.switch_to_block(block(n));
                if early == 1 && left[n] == 0 {
                    b.seal_block(block(n));
                }
            }
            for (k, &(var, from)) in writes[n].iter().enumerate() {
                let v = match from.checked_sub(VARS) {
                    Some(_) => b.iconst(I64, (100 * n + k + 1) as i64),
                    None => b.use_var(vars[from]),
                };
                b.def_var(vars[var], v);
            }
            let address = b.iconst(I64, n as i64);
            for var in vars {
                if (n + count).is_multiple_of(2) || leaves[n] {
                    let v = b.use_var(var);
                    b.store(Memory::Guest, v, address, 0);
                }
            }
            if leaves[n] {
                b.return_(context);
                continue;
            }
            let [yes, no] = ways[n];
            b.brif(context, block(yes), &[], block(no), &[]);
            for way in [yes, no] {
                left[way] -= 1;
                if early == 2 && left[way] == 0 {
                    b.seal_block(block(way));
                }
            }
        }
    });
    no_parameter_is_one_value(&f);
    for _ in 0..4 {
        let mut at = Block::new(0);
        let mut vars = [0i64; VARS];
        let mut values = vec![0i64; f.num_values()];
        for _ in 0..12 {
            let n = at.index();
            for (k, &(var, from)) in writes[n].iter().enumerate() {
                vars[var] = match from.checked_sub(VARS) {
                    Some(_) => (100 * n + k + 1) as i64,
                    None => vars[from],
                };
            }
            let mut stored = Vec::new();
            for &inst in f.insts(at) {
                match f.op(inst) {
                    Op::Iconst(n) => values[f.result(inst).expect("a result").index()] = n,
                    Op::Store(..) => stored.push(values[f.args(inst)[0].index()]),
                    _ => {}
                }
            }
            if !stored.is_empty() {
                assert_eq!(stored, vars, "{}", print(&f));
            }
            let edges = f.successors(at);
            if edges.is_empty() {
                break;
            }
            let edge = edges[random(2)];
            let args: Vec<i64> = f
                .edge_args(edge)
                .iter()
                .map(|v| values[v.index()])
                .collect();
            for (param, arg) in f.params(edge.block).iter().zip(args) {
                values[param.index()] = arg;
            }
            at = edge.block;
        }
    }
}

/// No strongly connected set of reachable parameters has only one value from outside.
fn no_parameter_is_one_value(f: &Func) {
    let mut reached = vec![f.entry().expect("an entry")];
    let mut next = 0;
    while let Some(&block) = reached.get(next) {
        next += 1;
        for edge in f.successors(block) {
            if !reached.contains(&edge.block) {
                reached.push(edge.block);
            }
        }
    }
    let mut ways = Vec::new();
    for edge in f.layout().iter().flat_map(|&block| f.successors(block)) {
        let params = f.params(edge.block).iter().copied();
        ways.extend(params.zip(f.edge_args(*edge).iter().copied()));
    }
    let all: Vec<Value> = ways.iter().map(|&(param, _)| param).collect();
    // For each value from outside: the largest set of parameters that take only it or one another.
    for &outside in ways.iter().map(|(_, arg)| arg) {
        let mut set: Vec<Value> = all.iter().copied().filter(|&p| p != outside).collect();
        loop {
            let before = set.len();
            let known = set.clone();
            set.retain(|&param| {
                let mut args = ways.iter().filter(|way| way.0 == param).map(|way| way.1);
                args.all(|arg| arg == outside || known.contains(&arg))
            });
            if set.len() == before {
                break;
            }
        }
        set.retain(|&param| reached.contains(&f.block_of(param)));
        assert!(set.is_empty(), "{set:?} are {outside:?}\n{}", print(f));
    }
}
