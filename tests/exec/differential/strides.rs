//! Elements of all sizes that lie a few bytes apart from lane to lane, in global memory and LDS: whole waves, partial
//! ones, workgroups of one dimension and of rows. Both engines, in every shape.

use frontend::Gfx;
use harness::random::Random;
use harness::snippet::set64;

use super::{How, Item, checker, env};

/// The SGPR pair with the address of the buffer.
const BASE: usize = 22;

const EXEC: usize = 126;

/// Bytes from lane to lane: overlapping elements, neighbours, elements with gaps.
const STRIDES: [u32; 6] = [1, 2, 3, 4, 5, 12];

/// The shapes of real runs.
const USUAL: [&str; 3] = ["native, wide", "native, wide, no zmm", "avx2, wide"];

/// Opcodes of loads and stores of bytes, shorts and dwords: in global memory (`GLOBAL`), in LDS (`DS`).
const LOADS: [(u32, u32); 5] = [
    (0x10, 0x3a),
    (0x11, 0x39),
    (0x12, 0x3c),
    (0x13, 0x3b),
    (0x14, 0x36),
];
const STORES: [(u32, u32); 3] = [(0x18, 0x1e), (0x1a, 0x1f), (0x1c, 0x0d)];

fn words(words: &[u32]) -> Item {
    Item::Inst(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// An access at the address in v2: a load to, or a store of, `register`.
fn access((global, ds): (u32, u32), load: bool, lds: bool, register: u32) -> Item {
    let data = if load { register << 24 } else { register << 8 };
    match lds {
        true => words(&[0xd800_0000 | ds << 17, data | 2]),
        false => words(&[0xdc00_8000 | global << 18, data | (BASE as u32) << 16 | 2]),
    }
}

/// The address of a lane is `stride * v0` in v2, in workgroups of rows `64 * v1` more. (Nothing is known of v1 in a wave
/// of one row.)
fn program(stride: u32, rows: bool, lds: bool) -> Vec<Item> {
    let vop2 =
        |op: u32, to: u32, scalar: u32, v: u32| words(&[op << 25 | to << 17 | v << 9 | scalar]);
    // v_mul_lo_u32 v2, v0, stride
    let mut items = vec![words(&[0xd285_0002, (128 + stride) << 9 | 256])];
    if rows {
        // v_lshlrev_b32 v3, 6, v1
        items.push(vop2(18, 3, 128 + 6, 1));
        // v_add_u32 v2, v3, v2
        items.push(vop2(52, 2, 256 + 3, 2));
    }
    for (n, &load) in LOADS.iter().enumerate() {
        items.push(access(load, true, lds, 8 + n as u32));
    }
    // s_waitcnt 0
    items.push(words(&[0xbf8c_0000]));
    for (n, &store) in STORES.iter().enumerate() {
        items.push(access(store, false, lds, 16 + n as u32));
    }
    items
}

#[test]
fn strides() {
    let checker = checker(Gfx::Gfx906);
    let jits = checker.jits();
    let mut r = Random::new(env("SEED", 1));
    let mut bad = Vec::new();
    let usual = |&n: &usize| USUAL.contains(&checker.shapes[n].name().as_str());
    let shapes: Vec<usize> = (0..checker.shapes.len()).filter(usual).collect();
    assert!(!shapes.is_empty(), "shapes are called otherwise");
    for (n, stride) in STRIDES.into_iter().enumerate() {
        let rows = [4, 3][n % 2];
        for (lds, row) in [(false, 0), (true, 0), (false, rows), (true, rows)] {
            let items = program(stride, row != 0, lds);
            let mut first = checker.state(&mut r);
            (first.fresh, first.rows) = (true, row);
            for lane in 0..64u32 {
                let at = lane as usize;
                let width = if row == 0 { 64 } else { 1 << row };
                first.vgpr[0][at] = lane % width;
                first.vgpr[1][at] = lane / width;
                first.vgpr[2][at] = 0;
            }
            set64(&mut first.sgpr, BASE, checker.bench.buffer() + 512);
            let masks = [
                !0,
                r.next(),
                r.next() & r.next() & r.next(),
                0xffff << 16,
                1 << 63,
            ];
            let states: Vec<_> = masks
                .into_iter()
                .map(|mask| {
                    let mut state = first.clone();
                    set64(&mut state.sgpr, EXEC, mask);
                    state
                })
                .collect();
            for &shape in &shapes {
                let how = How::shaped(Some(shape));
                let found = checker.check_from(&jits, &items, &states, how);
                if let Some((n, found)) = found.expect("this host") {
                    let failure = checker.failure(&items, &states[n], found, how.max_block);
                    let report = failure.show(4);
                    bad.push(format!("stride {stride}, LDS {lds}, rows {row}: {report}"));
                }
            }
        }
    }
    assert_eq!(checker.faults.get(), 0, "the accesses are in bounds");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
