//! Operands of calls of the runtime's functions: a pass may find a register to be uniform after the
//! arm has emitted the call, so that the same operand is a word of the wave in one translation and
//! the lanes' words in another.

use frontend::Gfx;
use frontend::op::Space;
use harness::random::Random;
use harness::snippet::{BARRIER, BUFFER, Bench, END, State, differences, set64};
use lower::analysis::liveness;
use lower::ir::{Block, EffectFn, Func, Op, Val, Vary};
use lower::lift::region::{self, Request};
use lower::passes;
use runtime::engine::Emitter;
use runtime::interp::Interpreter;
use runtime::jit::{JitEngine, JitOptions, Tier};

use super::words::{EXEC, bytes, sop1, vop1};

/// SGPRs of the buffer's descriptor and of the offset that all lanes have.
const DESCRIPTOR: u32 = 12;
const OFFSET: u32 = 16;
/// SGPR pairs of a mask and of the one that EXEC is set from.
const MASK: u32 = 20;
const ALL: u32 = 22;
/// SGPR pair in which EXEC is saved.
const SAVED: u32 = 30;

/// `buffer_store_dword`; v1 has what `address` says.
fn buffer_store(address: Address, data: u32, offset: u32) -> [u32; 2] {
    let bit = match address {
        Address::Offset => 0x1000,
        Address::Index => 0x2000,
    };
    [
        0xe070_0000 | bit | offset,
        OFFSET << 24 | (DESCRIPTOR / 4) << 16 | data << 8 | 1,
    ]
}

/// What the address register of a store holds. Stores at offsets may be of scratch and are memory nodes; those at
/// indices are calls.
#[derive(Clone, Copy, Debug)]
enum Address {
    Offset,
    Index,
}

/// Instructions of one repetition.
const LENGTH: u32 = 14;

/// Moves scalars to vector registers, and stores those, `times` over. The moves are made on all lanes, or on some.
fn stores_of_scalars(address: Address, times: u32, on_all: bool) -> Vec<u32> {
    let mut words = Vec::new();
    for n in 0..times {
        // s_mov_b64 exec, ...; s_and_saveexec_b64 ..., ...; or s_and_saveexec_b64 and s_mov_b64 exec, -1
        let save = sop1(32, SAVED, MASK);
        words.extend(match on_all {
            true => [save, sop1(1, EXEC, 193)],
            false => [sop1(1, EXEC, ALL), save],
        });
        // The last one is SCC.
        let scalars = [SAVED, SAVED + 1, EXEC, EXEC + 1, 253, 253];
        words.extend((2..).zip(scalars).map(|(v, s)| vop1(1, v, s)));
        for v in 2..8 {
            words.extend(buffer_store(address, v, 24 * (n % 64) + 4 * (v - 2)));
        }
    }
    words.extend([BARRIER, END]);
    words
}

/// A state in which the buffer has room for all that is stored.
fn state(bench: &Bench, r: &mut Random) -> State {
    let mut before = bench.random_state(r, Gfx::Gfx900);
    before.mode = 0xf0;
    before.fuel = 10_000;
    let place = DESCRIPTOR as usize;
    // Records of 4 bytes for indices, of a format of 32 bits.
    set64(&mut before.sgpr, place, bench.buffer() | 4 << 48);
    before.sgpr[place + 2] = BUFFER as u32;
    before.sgpr[place + 3] = 0x0002_7fac;
    before.sgpr[OFFSET as usize] = 4 * r.below(8);
    set64(&mut before.sgpr, MASK as usize, r.next());
    set64(&mut before.sgpr, ALL as usize, r.next() | r.next());
    before.vgpr[1] = std::array::from_fn(|lane| 4 * lane as u32);
    before
}

/// Compares with all options, and these block limits.
fn compare(words: &[u32], limits: &[usize]) {
    let bench = Bench::new();
    let loaded = bench.load(Gfx::Gfx900, &bytes(words));
    let mut r = Random::new(5);
    for max_block in limits {
        for emitter in [Emitter::Auto, Emitter::Cranelift] {
            for tier in [Tier::Baseline, Tier::Optimizing] {
                let options = JitOptions {
                    max_block: *max_block,
                    emitter,
                    tier,
                    ..JitOptions::exact()
                };
                let engine = JitEngine::new(options).expect("this host");
                let before = state(&bench, &mut r);
                let want = bench.run(&Interpreter, &loaded, &before);
                let got = bench.run(&engine, &loaded, &before);
                let at = format!("blocks of {max_block}, {emitter:?}, {tier:?}");
                assert_eq!(
                    format!("{:?}", want.exit),
                    format!("{:?}", got.exit),
                    "{at}"
                );
                let lines = differences(&want.state, &got.state);
                assert!(lines.is_empty(), "{at}: {:?}", &lines[..lines.len().min(8)]);
            }
        }
    }
    bench.unload(&loaded);
}

/// Data operands of buffer stores that are the wave's, before and after sinking.
fn wave_operands(words: &[u32]) -> [usize; 2] {
    let bytes = bytes(words);
    let request = Request {
        gfx: Gfx::Gfx900,
        entry: 0,
        mode: 0xf0,
        max_insts: region::MAX_INSTS,
        max_block: region::MAX_BLOCK,
        exact_nan: true,
        observe: false,
        checked: false,
        sanitize: false,
        outcomes: false,
    };
    let fetch = |pc: u64| bytes.get(pc as usize..).filter(|bytes| !bytes.is_empty());
    let func = region::build(&request, &fetch);
    let (sunk, _) = passes::sink::sink(&func, liveness::lives(&func));
    let count = |func: &Func| {
        let data = |block: &Block| {
            // Behind data words a store has its descriptor in two words, SOFFSET and a bound.
            let stores = block.nodes.iter().filter_map(|node| match node.op {
                Op::Store(Space::Buffer, ..) => Some(&node.args[2..node.args.len() - 4]),
                Op::Effect {
                    f: EffectFn::BufferStore,
                    ..
                } => Some(&node.args[7..]),
                _ => None,
            });
            let wave = |v: &&Val| block.nodes[v.index()].ty.vary == Vary::Wave;
            stores.flatten().filter(wave).count()
        };
        func.blocks.iter().map(data).sum()
    };
    [count(&func), sunk.as_ref().map_or(0, count)]
}

#[test]
fn scalars_that_are_stored_in_the_next_block_are_words_of_the_wave() {
    let long = JitOptions::default().max_block;
    let kinds = [Address::Offset, Address::Index];
    for (address, on_all) in kinds.map(|kind| [(kind, true), (kind, false)]).concat() {
        // A block ends between moves and stores.
        assert_eq!(long as u32 % LENGTH, 8);
        let words = stores_of_scalars(address, long as u32 / LENGTH + 2, on_all);
        if on_all {
            let [before, behind] = wave_operands(&words);
            assert!(behind > before, "{before} and {behind}");
        }
        compare(&words, &[long]);
        // Blocks that end behind any instruction.
        let words = stores_of_scalars(address, 2, on_all);
        compare(&words, &Vec::from_iter(1..=LENGTH as usize));
    }
}
