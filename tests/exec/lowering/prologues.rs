//! Prologues of kernels: addresses computed from the work-item's number, compared with a size, and
//! a branch around the rest for lanes beyond it; against the interpreter.

use harness::random::Random;
use harness::snippet::{BARRIER, END, set64};
use lower::passes::sink::sink;

use super::rounds::{Rounds, first_shapes};
use super::words::{
    ADD, ADD_CO, ADDC_CO, BASE, ENDPGM, EXEC, LSHLREV, OR64, STEP, VCC, branch, lds, load, sop1,
    sop2, store, v, vop1, vop2, vopc,
};

/// A limit for compares: a register, or a small number.
const LIMIT: u32 = 26;

/// Arithmetic on the work-item's number: words in v6 and v7, numbers of two words in v[2:3] and v[4:5].
fn numbers(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    for (n, pair) in [(6, 2), (7, 4)] {
        let scale = *r.pick(&[0u32, 0, 1, 2, 2, 3]);
        code.push(vop2(LSHLREV, n, 128 + scale, *r.pick(&[0, 0, 0, 1])));
        if r.once_in(2) {
            let step = 129 + r.below(60);
            let from = *r.pick(&[step, 193, STEP]);
            code.push(vop2(*r.pick(&[ADD, ADD, 0x35, 0x13]), n, from, n));
        }
        let base = *r.pick(&[BASE, BASE, 24]);
        code.push(vop1(1, pair + 1, base + 1));
        // Sometimes the number takes the place of what it is made of.
        let low = if r.once_in(4) { n } else { pair };
        code.push(vop2(ADD_CO, low, base, n));
        if low == pair {
            code.push(vop2(ADDC_CO, pair + 1, 128, pair + 1));
        } else {
            code.push(vop1(1, pair, BASE));
        }
    }
    if r.once_in(3) {
        code.push(vop2(ADD, 0, STEP, 0));
    }
    if r.once_in(3) {
        code.push(sop2(0, STEP, STEP, 129));
    }
    code
}

/// A mask into VCC: one compare or two joined.
fn mask(r: &mut Random) -> Vec<u32> {
    let one = |r: &mut Random| {
        let small = 128 + r.below(64);
        let limit = *r.pick(&[LIMIT, LIMIT, STEP, small, 193]);
        if r.once_in(3) {
            // Of 64 bits, signed or not.
            let op = 0xe0 + 8 * r.below(2) + 1 + r.below(6);
            return vopc(op, *r.pick(&[24, 22, small]), *r.pick(&[2, 4]));
        }
        let op = 0xc0 + 8 * r.below(2) + 1 + r.below(6);
        vopc(op, limit, *r.pick(&[0, 0, 6, 7, 2]))
    };
    let mut code = vec![one(r)];
    if r.once_in(3) {
        code.extend([sop1(1, 34, VCC), one(r)]);
        code.push(sop2(*r.pick(&[0x0d, 0x0f, 0x11]), VCC, 34, VCC));
    }
    code
}

/// Code for some lanes only.
fn rest(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    for _ in 0..1 + r.below(5) {
        let words = *r.pick(&[1, 1, 2, 4]);
        let (register, offset) = (8 + 4 * r.below(2), *r.pick(&[0, 0, 4, 64]));
        match r.below(6) {
            0 => code.extend(load(words, register, *r.pick(&[2, 4]), offset)),
            1 => code.extend(store(words, register, *r.pick(&[2, 4]), offset)),
            2 => code.extend(lds(r.once_in(2), words, register, *r.pick(&[6, 7]), 64)),
            3 => code.push(vop2(ADD, *r.pick(&[2, 6, 8]), v(*r.pick(&[0, 1, 6, 7])), 8)),
            4 => code.push(vop2(ADD_CO, 2, STEP, 2)),
            _ => code.push(vop2(
                ADD,
                register,
                v(*r.pick(&[2, 3, 4, 5])),
                8 + r.below(8),
            )),
        }
    }
    code
}

fn program(r: &mut Random) -> Vec<u32> {
    let mut code = numbers(r);
    if r.once_in(4) {
        code.extend(rest(r));
    }
    code.extend(mask(r));
    let mut body = rest(r);
    let deeper = r.once_in(3);
    if deeper {
        let inner = rest(r);
        body.extend(mask(r));
        body.push(sop1(0x20, 36, VCC));
        body.push(branch(8, inner.len() as i32));
        body.extend(inner);
        body.push(sop2(OR64, EXEC, EXEC, 36));
    }
    // Mostly EXEC is kept, sometimes in the place of a scalar that the numbers were made of.
    let saved = *r.pick(&[32, 32, 32, 24, STEP]);
    code.push(sop1(0x20, saved, VCC));
    code.push(branch(8, body.len() as i32));
    code.extend(body);
    if r.once_in(2) {
        code.push(sop2(OR64, EXEC, EXEC, saved));
        code.push(vop2(ADD, 9, v(*r.pick(&[2, 3, 6, 7, 0])), 9));
    }
    if r.once_in(2) {
        // No register is live.
        code.push(ENDPGM);
    }
    code.extend([BARRIER, END]);
    code
}

#[test]
fn numbers_of_work_items_and_limits() {
    let rounds = Rounds {
        count: 200,
        factor: 3_000_017,
        shapes: first_shapes(),
        program,
        prepare: |r, before| {
            if r.once_in(2) {
                before.sgpr[LIMIT as usize] = r.below(300);
                before.sgpr[STEP as usize] = r.below(100).wrapping_sub(r.below(2) * 40);
            }
            // Near the buffer, or not.
            let base = u64::from(before.sgpr[20]) | u64::from(before.sgpr[21]) << 32;
            let near = match r.below(3) {
                0 => base.wrapping_add(u64::from(r.below(200))),
                1 => u64::from(r.below(100)),
                _ => r.next(),
            };
            set64(&mut before.sgpr, 22, near);
        },
    };
    let mut sunk = 0;
    let total = rounds.run(|round| {
        let (func, _) = round.analysed();
        let (after, lives) = sink(&func, lower::analysis::liveness::lives(&func));
        sunk += usize::from(after.is_some());
        // Liveness is updated only where a sunk write may have changed it.
        assert_eq!(
            lives,
            lower::analysis::liveness::lives(&after.unwrap_or(func))
        );
    });
    println!("{sunk} of {total} programs have writes that are put off");
    assert!(sunk * 4 > total, "writes of {sunk} of {total} are put off");
}
