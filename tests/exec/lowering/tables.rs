//! Loads and stores at addresses made of bits of the lane's number, so that each lane's offset is
//! constant, against the interpreter: in LDS and memory, with inactive lanes, behind divergent
//! branches, with scalars that hold constants, at the end of LDS and where words wrap.

use frontend::state::LANES;
use harness::random::Random;
use harness::snippet::{BARRIER, END, State, set64};
use lower::options::Forms;
use runtime::engine::Emitter;
use runtime::jit::JitOptions;

use super::rounds::Rounds;
use super::words::{
    ADD, AND64, BASE, ENDPGM, EXEC, LSHLREV, OR64, VCC, XOR64, branch, lds, sop1, sop2, v, vop1,
    vop2, vopc,
};

/// Scalars that hold constants.
const CONSTANTS: [u32; 3] = [32, 33, 34];

fn shapes() -> Vec<(&'static str, JitOptions)> {
    let base = JitOptions::exact();
    let emitter = Emitter::Cranelift;
    vec![
        ("as chosen", base),
        ("no tables", base.without(Forms::OFFSET_TABLES)),
        ("writes in place", base.without(Forms::SUNK)),
        ("cranelift", JitOptions { emitter, ..base }),
    ]
}

/// Changes `register` by bits of the lane's number, of its own, or of `other`.
fn change(r: &mut Random, code: &mut Vec<u32>, register: u32, other: u32) {
    let low = [0u32, 1, 2, 3, 4, 7, 8, 12, 15, 16, 28, 31, 32, 48, 60, 63];
    let constant = match r.below(5) {
        // -1 to -16: all but some low bits.
        0 => 193 + r.below(16),
        1 => CONSTANTS[r.below(3) as usize],
        _ => 128 + *r.pick(&low),
    };
    let source = *r.pick(&[constant, constant, v(0), v(other)]);
    let op = *r.pick(&[0x13, 0x13, 0x13, 0x14, 0x15, ADD, 0x35, 0x36]);
    match r.below(8) {
        0 => code.push(vop2(LSHLREV, register, 128 + r.below(4), register)),
        1 => code.push(vop2(0x10, register, 128 + r.below(4), register)),
        2 => code.push(vop2(0x08, register, 128 + r.below(13), register)),
        _ => code.push(vop2(op, register, source, register)),
    }
}

/// An access of `words` words at v6 or v7, in LDS or from the buffer on.
fn access(r: &mut Random, code: &mut Vec<u32>) {
    let words = *r.pick(&[1, 1, 1, 2, 2, 3, 4]);
    let register = 8 + 4 * r.below(3);
    let at = *r.pick(&[6, 7]);
    let offset = *r.pick(&[0, 0, 4, 16, 64, 256, 1020]);
    let global =
        |op: u32, operands: u32| [0xdc00_8000 | op << 18 | offset, operands | BASE << 16 | at];
    match r.below(8) {
        0 | 1 => code.extend(lds(true, words, register, at, offset)),
        2 | 3 => code.extend(lds(false, words, register, at, offset)),
        4 => code.extend(global([20, 21, 22, 23][words as usize - 1], register << 24)),
        5 => code.extend(global([28, 29, 30, 31][words as usize - 1], register << 8)),
        6 => code.extend(global(16 + r.below(4), register << 24)),
        _ => code.extend(global(*r.pick(&[24, 26]), register << 8)),
    }
    code.push(vop2(ADD, 20 + r.below(4), v(register), 8 + r.below(8)));
}

/// Code for some lanes only: other EXECs, with a branch or without, and the restore.
fn in_part(r: &mut Random, code: &mut Vec<u32>) {
    let mut body = Vec::new();
    match r.below(3) {
        0 => {
            let register = 6 + r.below(2);
            change(r, &mut body, register, 0);
        }
        _ => access(r, &mut body),
    }
    code.push(vopc(0xc9 + r.below(6), 128 + r.below(40), 0));
    let (saved, mask) = (44, 46);
    let other = r.once_in(2);
    if other {
        code.extend([sop1(0x20, mask, VCC), sop2(XOR64, saved, EXEC, mask)]);
    } else {
        code.push(sop1(0x20, saved, VCC));
    }
    if r.once_in(2) {
        code.push(branch(8, body.len() as i32));
    }
    code.extend(body);
    let back = *r.pick(&[OR64, OR64, OR64, AND64]);
    code.push(sop2(back, EXEC, EXEC, saved));
}

/// Elements as steps of sorts and transforms exchange them: the lane's number with its high bits moved up.
fn exchange(r: &mut Random, code: &mut Vec<u32>, register: u32) {
    let low = r.below(5);
    code.push(vop2(0x13, register, 192 + (1 << low), 0));
    code.push(vop2(LSHLREV, register, 128 + 1 + r.below(2), register));
    code.push(vop2(0x13, 5, 128 + (1 << low) - 1, 0));
    let joined = *r.pick(&[0x14, 0x15, ADD]);
    code.push(vop2(joined, register, v(5), register));
    let scale = *r.pick(&[2, 2, 2, 3, 4, 0]);
    code.push(vop2(LSHLREV, register, 128 + scale, register));
}

fn program(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    for constant in CONSTANTS {
        // s_movk_i32.
        code.push(
            0xb000_0000 | constant << 16 | *r.pick(&[3, 12, 0x3f0, 0x3c0, 0x300, 0xfff0, 60]),
        );
    }
    for register in [6, 7] {
        code.push(vop1(1, register, v(*r.pick(&[0, 0, 0, 1]))));
    }
    for _ in 0..4 + r.below(8) {
        let register = 6 + r.below(2);
        match r.below(8) {
            0 | 1 => access(r, &mut code),
            2 | 3 => in_part(r, &mut code),
            4 | 5 => exchange(r, &mut code, register),
            _ => {
                for _ in 0..1 + r.below(4) {
                    change(r, &mut code, register, 13 - register);
                }
                if r.once_in(2) {
                    code.push(vop2(LSHLREV, register, 128 + 2, register));
                }
            }
        }
    }
    if r.once_in(3) {
        code.push(ENDPGM);
    }
    code.extend([BARRIER, END]);
    code
}

/// Lanes as workgroups in one row have them, mostly, and all of them on.
fn prepare(r: &mut Random, s: &mut State) {
    s.fuel = 1000;
    if !r.once_in(8) {
        s.rows = 0;
        let first = 64 * r.below(4);
        for lane in 0..LANES {
            s.vgpr[0][lane] = first + lane as u32;
            s.vgpr[1][lane] = 5;
        }
    }
    if !r.once_in(4) {
        set64(&mut s.sgpr, EXEC as usize, u64::MAX);
    }
}

#[test]
fn accesses_at_constant_offsets() {
    let (mut ended, mut known) = (0, 0);
    let rounds = Rounds {
        count: 300,
        factor: 7_000_003,
        shapes: shapes(),
        program,
        prepare,
    };
    let rounds = rounds.run(|round| {
        ended += usize::from(round.ends());
        let (func, facts) = round.analysed();
        let mut all = func.blocks.iter().enumerate();
        known += usize::from(all.any(|(i, block)| {
            let mut effects = block.effects.iter();
            effects.any(|&e| facts.table(i, e).is_some())
        }));
    });
    println!("{ended} of {rounds} programs end without a fault, {known} have known distances");
    assert!(ended * 4 > rounds, "{ended} of {rounds} end");
    assert!(
        known * 3 > rounds,
        "{known} of {rounds} have known distances"
    );
}
