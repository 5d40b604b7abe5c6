//! LDS and memory at arbitrary addresses (gather and scatter): random programs of loads, stores and
//! arithmetic between them, against the interpreter. Addresses are contiguous, strided, random, at
//! the end of LDS and beyond it, or unmapped, with inactive lanes.

use std::ops::Range;

use frontend::state::LANES;
use harness::random::Random;
use harness::snippet::{BARRIER, BUFFER, END, LDS, State};
use lower::options::Forms;
use runtime::engine::Emitter;
use runtime::jit::JitOptions;

use super::rounds::Rounds;
use super::words::{ADD_CO, ADDC_CO, BASE, LSHLREV, load, store, store_part, v, vop1, vop2};

/// Registers that hold addresses of LDS when a program begins.
const OFFSETS: Range<u32> = 2..8;

/// Registers of data.
const DATA: Range<u32> = 8..24;

/// Pairs that hold addresses of memory when a program begins.
const ADDRESSES: Range<u32> = 24..32;

/// Reads of LDS: opcode, and registers written.
const READS: [(u32, u32); 11] = [
    (54, 1),  // ds_read_b32
    (55, 2),  // ds_read2_b32
    (56, 2),  // ds_read2st64_b32
    (57, 1),  // ds_read_i8
    (58, 1),  // ds_read_u8
    (59, 1),  // ds_read_i16
    (60, 1),  // ds_read_u16
    (118, 2), // ds_read_b64
    (119, 4), // ds_read2_b64
    (254, 3), // ds_read_b96
    (255, 4), // ds_read_b128
];

/// Writes of LDS: opcode, and registers of each datum.
const WRITES: [(u32, u32); 9] = [
    (13, 1),  // ds_write_b32
    (14, 1),  // ds_write2_b32
    (15, 1),  // ds_write2st64_b32
    (30, 1),  // ds_write_b8
    (31, 1),  // ds_write_b16
    (77, 2),  // ds_write_b64
    (78, 2),  // ds_write2_b64
    (222, 3), // ds_write_b96
    (223, 4), // ds_write_b128
];

fn shapes() -> Vec<(&'static str, JitOptions)> {
    let base = JitOptions::exact();
    let observe = true;
    let emitter = Emitter::Cranelift;
    vec![
        ("as chosen", base),
        ("no runs", base.without(Forms::GATHERS)),
        ("observed", JitOptions { observe, ..base }),
        ("cranelift", JitOptions { emitter, ..base }),
    ]
}

/// Where the lanes' elements lie in `bytes` bytes, mostly.
fn offsets(r: &mut Random, bytes: u32) -> [u32; LANES] {
    let size = *r.pick(&[1, 2, 4, 4, 4, 8, 8, 12, 16, 20]);
    let run = 1 << r.below(7);
    let rough = if r.once_in(4) { size.min(4) } else { 4 };
    let start = r.below(bytes / rough) * rough;
    let starts: Vec<u32> = (0..LANES as u32 / run)
        .map(|_| r.below(bytes / rough) * rough)
        .collect();
    let kind = r.below(6);
    std::array::from_fn(|lane| {
        let lane = lane as u32;
        match kind {
            0 => start + size * lane,
            1 => starts[0],
            2 => bytes - size * (lane + 1).min(bytes / size),
            // Runs of lanes.
            _ => starts[(lane / run) as usize] + size * (lane % run),
        }
    })
}

fn program(r: &mut Random) -> Vec<u32> {
    let mut words = Vec::new();
    let register = |r: &mut Random, from: &Range<u32>, n: u32| {
        from.start + r.below(from.end - from.start - n + 1)
    };
    for _ in 0..3 + r.below(12) {
        let address = match r.once_in(8) {
            // What was loaded.
            true => register(r, &DATA, 1),
            false => register(r, &OFFSETS, 1),
        };
        let pair = ADDRESSES.start + 2 * r.below(ADDRESSES.len() as u32 / 2);
        match r.below(14) {
            11 => {
                // global_load_ubyte, sbyte, ushort or sshort
                let op = 16 + r.below(4);
                let offset = 4 * r.below(8);
                words.push(0xdc00_8000 | op << 18 | offset);
                words.push(register(r, &DATA, 1) << 24 | 0x7f << 16 | pair);
            }
            12 | 13 => {
                // Where what was loaded says, mostly within the buffer; some lanes meet.
                let index = register(r, &DATA, 2);
                let base = *r.pick(&[BASE, v(pair), v(pair)]);
                words.extend(load(1, index, pair, 4 * r.below(8) as i32));
                if !r.once_in(8) {
                    // v_and_b32 with a literal
                    words.extend([vop2(0x13, index, 255, index), *r.pick(&[7, 63, 511])]);
                }
                words.push(vop2(
                    LSHLREV,
                    index,
                    128 + *r.pick(&[0, 1, 2, 2, 2, 3]),
                    index,
                ));
                words.push(vop1(
                    1,
                    index + 1,
                    if base == BASE { BASE + 1 } else { v(pair + 1) },
                ));
                words.push(vop2(ADD_CO, index, base, index));
                words.push(vop2(ADDC_CO, index + 1, 128, index + 1));
                let n = *r.pick(&[1, 1, 1, 2, 3, 4]);
                let data = register(r, &DATA, n);
                let offset = 4 * r.below(8) as i32;
                words.extend(match r.below(5) {
                    0 => store_part(r.once_in(2), data, index, offset),
                    1 | 2 => load(n, data, index, offset),
                    _ => store(n, data, index, offset),
                });
            }
            0..=2 => {
                let (op, n) = *r.pick(&READS);
                let offset = offset(r, matches!(op, 55 | 56 | 119));
                words.push(0xd800_0000 | op << 17 | offset);
                words.push(register(r, &DATA, n) << 24 | address);
            }
            3 | 4 => {
                let (op, n) = *r.pick(&WRITES);
                let offset = offset(r, matches!(op, 14 | 15 | 78));
                words.push(0xd800_0000 | op << 17 | offset);
                let data = [register(r, &DATA, n), register(r, &DATA, n)];
                words.push(data[1] << 16 | data[0] << 8 | address);
            }
            5 | 6 => {
                let n = *r.pick(&[1, 1, 2, 3, 4]);
                words.extend(load(n, register(r, &DATA, n), pair, 4 * r.below(8) as i32));
            }
            7 => {
                let n = *r.pick(&[1, 1, 2, 3, 4]);
                words.extend(store(n, register(r, &DATA, n), pair, 4 * r.below(8) as i32));
            }
            // v_add_u32 of an address and a constant.
            8 => words.push(52 << 25 | address << 17 | address << 9 | (128 + 4 * r.below(8))),
            n => {
                // v_add_u32, v_xor_b32
                let op = if n == 9 { 52 } else { 21 };
                let [a, b] = [register(r, &DATA, 1), register(r, &DATA, 1)];
                words.push(op << 25 | a << 17 | b << 9 | (256 + register(r, &DATA, 1)));
            }
        }
    }
    words.extend([BARRIER, END]);
    words
}

/// The offset field, of one address or of two.
fn offset(r: &mut Random, two: bool) -> u32 {
    match two {
        true => r.below(6) | r.below(6) << 8,
        false => 4 * r.below(8),
    }
}

fn prepare(r: &mut Random, before: &mut State) {
    before.fresh = false;
    before.fuel = 1000;
    for n in OFFSETS {
        let lanes = &mut before.vgpr[n as usize];
        *lanes = offsets(r, LDS as u32);
        if r.once_in(4) {
            let beyond = *r.pick(&[0xffff_fffc, 0x8000_0000, LDS as u32 - 4, LDS as u32]);
            lanes[r.below(64) as usize] = beyond;
        }
    }
    let base = [BASE, BASE + 1].map(|n| u64::from(before.sgpr[n as usize]));
    let base = base[0] | base[1] << 32;
    for n in ADDRESSES.step_by(2) {
        let mut addresses = offsets(r, BUFFER as u32 - 1280).map(|at| base + u64::from(at));
        if r.once_in(8) {
            addresses[r.below(64) as usize] += *r.pick(&[1 << 32, 1 << 40, 4, 0x8000_0000]);
        }
        for (lane, address) in addresses.into_iter().enumerate() {
            before.vgpr[n as usize][lane] = address as u32;
            before.vgpr[n as usize + 1][lane] = (address >> 32) as u32;
        }
    }
}

#[test]
fn accesses_anywhere() {
    let rounds = Rounds {
        count: 100,
        factor: 0x2545_f491_4f6c_dd1d,
        shapes: shapes(),
        program,
        prepare,
    };
    rounds.run(|_| {});
}
