use frontend::inst::M0;

use super::*;
use crate::ir::Slot;
use crate::ir::build::{Build, types};

/// Verifies a region of one block with these nodes and one site, after a modification.
fn region(b: &Build, wrong: impl FnOnce(&mut Block)) -> Result<(), String> {
    let (nodes, effects) = b.finish();
    let mut block = Block {
        pc: 0,
        nodes,
        effects,
        execs: Vec::new(),
        writes_s: Vec::new(),
        writes_v: Vec::new(),
        term: Term::End,
        guest_insts: 1,
        counts: Vec::new(),
        outcomes: Vec::new(),
    };
    wrong(&mut block);
    let inst = frontend::decode(frontend::Gfx::Gfx900, &0xbf80_0000u32.to_le_bytes());
    let site = crate::abi::Site {
        pc: 0,
        inst: inst.expect("s_nop"),
    };
    func(&Func::of(block, 0, vec![site])).map_err(|broken| broken.to_string())
}

/// Operands of a store through a buffer descriptor, with two words of data.
fn operands(b: &Build) -> Vec<Val> {
    let wide = |low| {
        let words = [low, low + 1].map(|n| b.leaf(Op::ReadS(Slot::Sgpr(n)), types::W32));
        b.pure(Op::Pair, &words)
    };
    let word = b.leaf(Op::ReadS(Slot::Sgpr(M0)), types::W32);
    let lanes = b.leaf(Op::ReadV(1), types::L32);
    let exec = b.leaf(Op::ReadS(Slot::Exec), types::W64);
    vec![
        wide(12),
        wide(14),
        word,
        exec,
        lanes,
        word,
        word,
        lanes,
        word,
    ]
}

fn store(site: u32, lanes: u8) -> Op {
    Op::Effect {
        f: EffectFn::BufferStore,
        site: SiteId(site),
        lanes,
        scalars: 0,
    }
}

/// Verdict on a store with other operands or another type.
fn stored(op: Op, ty: Type, change: impl FnOnce(&Build, &mut Vec<Val>)) -> Result<(), String> {
    let b = Build::new();
    let mut operands = operands(&b);
    change(&b, &mut operands);
    b.effect(op, &operands, ty);
    region(&b, |_| ())
}

#[track_caller]
fn breaks(verdict: Result<(), String>, part: &str) {
    let message = verdict.expect_err("a rule is broken");
    assert!(message.contains(part), "{message}");
}

#[test]
fn calls_take_what_their_signature_says() {
    let good = |change: fn(&Build, &mut Vec<Val>)| stored(store(0, 0), types::W32, change);
    assert_eq!(good(|_, _| ()), Ok(()));
    // Data may be uniform or differ by lane.
    assert_eq!(good(|_, v| v.swap(7, 8)), Ok(()));
    assert_eq!(good(|_, v| v.truncate(7)), Ok(()));
    breaks(good(|_, v| v.truncate(6)), "number of operands");
    breaks(good(|_, v| v.extend([v[7]; 3])), "number of operands");
    // The descriptor, the offset and EXEC are the wave's.
    breaks(good(|_, v| v[2] = v[7]), "operand 2");
    breaks(good(|_, v| v[0] = v[2]), "operand 0");
    let of_lanes = |b: &Build, v: &mut Vec<Val>| v[3] = b.pure(Op::Zext, &[v[7]]);
    breaks(good(of_lanes), "operand 3");
    // Data has 32 bits.
    breaks(good(|_, v| v[7] = v[0]), "operand 7");
    breaks(stored(store(1, 0), types::W32, |_, _| ()), "site");
    breaks(stored(store(0, 1), types::L32, |_, _| ()), "results");
    breaks(stored(store(0, 0), types::L32, |_, _| ()), "another type");
    let inner = Op::Effect {
        f: EffectFn::Interpret,
        site: SiteId(0),
        lanes: 0,
        scalars: 0,
    };
    breaks(stored(inner, types::W32, |_, _| ()), "the emitter alone");
}

#[test]
fn functions_of_lanes_take_so_many_words() {
    let call = |take: usize| {
        let b = Build::new();
        let lanes = b.leaf(Op::ReadV(1), types::L32);
        let v = b.call(LaneFn::Shl64Var, 0, &vec![lanes; take]);
        (b, v)
    };
    let (b, v) = call(3);
    b.result(v, 1, types::L32);
    assert_eq!(region(&b, |_| ()), Ok(()));
    let (b, v) = call(3);
    b.result(v, 2, types::L32);
    breaks(region(&b, |_| ()), "no such result");
    let (b, v) = call(3);
    b.result(v, 1, types::W32);
    breaks(region(&b, |_| ()), "another type");
    let (b, _) = call(2);
    breaks(region(&b, |_| ()), "2 arguments");
    let (b, _) = call(3);
    let wave = |block: &mut Block| block.nodes[1].ty = types::W32;
    breaks(region(&b, wave), "word by lane");
}

#[test]
fn memory_nodes_take_address_mask_and_data() {
    let load = |space, data, args: fn(&Build, Val, Val, Val) -> Vec<Val>| {
        let b = Build::new();
        let word = b.leaf(Op::ReadV(1), types::L32);
        let wide = b.pure(Op::Zext, &[word]);
        let exec = b.leaf(Op::ReadS(Slot::Exec), types::W64);
        let mask = b.pure(Op::ExecMask, &[exec]);
        let args = args(&b, word, wide, mask);
        b.effect(Op::Load(space, data, SiteId(0)), &args, types::L32);
        region(&b, |_| ())
    };
    let one = Data::Dwords(1);
    let lds = load(Space::Lds, one, |_, word, _, mask| vec![word, mask]);
    assert_eq!(lds, Ok(()));
    let global = load(Space::Global, one, |_, _, wide, mask| vec![wide, mask]);
    assert_eq!(global, Ok(()));
    let short = load(Space::Global, one, |_, word, _, mask| vec![word, mask]);
    breaks(short, "another width");
    let unmasked = load(Space::Lds, one, |_, word, _, _| vec![word, word]);
    breaks(unmasked, "mask");
    let long = load(Space::Lds, Data::Dwords(5), |_, word, _, mask| {
        vec![word, mask]
    });
    breaks(long, "such data");
    let unbounded = load(Space::Flat, one, |_, _, wide, mask| vec![wide, mask]);
    breaks(unbounded, "of the wave");
    let by_lane = load(Space::Flat, one, |_, word, wide, mask| {
        vec![wide, mask, wide, word]
    });
    breaks(by_lane, "of the wave");
    let scratch = load(Space::Scratch, one, |b, word, _, mask| {
        let base = b.leaf(Op::ReadS(Slot::Exec), types::W64);
        vec![word, mask, base]
    });
    assert_eq!(scratch, Ok(()));
    let without = load(Space::Scratch, one, |_, word, _, mask| vec![word, mask]);
    breaks(without, "of the wave");
    let buffer = load(Space::Buffer, one, |b, word, _, mask| {
        let base = b.leaf(Op::ReadS(Slot::Exec), types::W64);
        vec![word, mask, base, base, base]
    });
    breaks(buffer, "of the wave");
}

/// Verdict on two stores after a modification.
fn with(wrong: impl FnOnce(&mut Block)) -> Result<(), String> {
    let b = Build::new();
    let operands = operands(&b);
    b.effect(store(0, 0), &operands, types::W32);
    b.effect(store(0, 0), &operands, types::W32);
    region(&b, wrong)
}

/// A lane value of that block.
fn lanes(b: &Block) -> Val {
    let at = b.nodes.iter().position(|node| node.op == Op::ReadV(1));
    Val(at.expect("it is there") as u32)
}

#[test]
fn blocks_keep_their_order_and_types() {
    assert_eq!(with(|_| ()), Ok(()));
    breaks(with(|b| b.effects.swap(0, 1)), "listed");
    breaks(with(|b| b.effects.truncate(1)), "listed");
    breaks(with(|b| b.effects.push(Val(0))), "longer");
    let later = |b: &mut Block| {
        let last = Val(b.nodes.len() as u32 - 1);
        b.nodes[0].args = crate::ir::Args::new(&[last]);
    };
    breaks(with(later), "before it is defined");
    let written = |b: &mut Block| b.writes_s.push((Slot::Sgpr(3), lanes(b)));
    breaks(with(written), "gets");
    breaks(with(|b| b.writes_v.push((3, Val(99)))), "of");
    let branch = |b: &mut Block| {
        let to = Target::Exit { pc: 0, back: false };
        b.term = Term::Branch {
            cond: lanes(b),
            then: to,
            other: to,
        };
    };
    breaks(with(branch), "truth value");
    let to = |b: &mut Block| {
        b.term = Term::Jump(Target::Block {
            block: 1,
            back: false,
            pc: 0,
        });
    };
    breaks(with(to), "jump to block 1");
}
