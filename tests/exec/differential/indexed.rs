//! Vector ALU instructions while GPR indexing is on, and moves relative to M0: both engines, every row and
//! form.

use frontend::state::mode;
use frontend::{Encoding, Gfx, Op, decode};
use harness::random::Random;
use harness::words;

use super::{FORMS, How, Item, checker, env};

const M0: usize = 124;

/// `s_set_gpr_idx_on` of an inline constant.
fn on(index: u32, enables: u32) -> Vec<u8> {
    (0xbf11_0000 | enables << 8 | (128 + index))
        .to_le_bytes()
        .to_vec()
}

/// `s_set_gpr_idx_off`
fn off() -> Vec<u8> {
    0xbf9c_0000u32.to_le_bytes().to_vec()
}

/// An index: mostly near, sometimes at the end of the registers or behind.
fn index(r: &mut Random) -> u32 {
    match r.below(4) {
        0 if r.once_in(2) => r.word(),
        0 => 236 + r.below(20),
        _ => r.below(9),
    }
}

fn indexed(gfx: Gfx) {
    let words = env("WORDS", 2);
    let checker = checker(gfx);
    let mut jits = checker.jits();
    let mut bad = Vec::new();
    let mut run = 0u64;
    for desc in checker.rows.all() {
        let vector = matches!(
            desc.encoding,
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vop3 | Encoding::Vop3p
        );
        let moves = matches!(desc.op, Op::MovRelS | Op::MovRelD | Op::MovRelSD);
        if !vector && !moves {
            continue;
        }
        for form in FORMS {
            let mut r = Random::new(env("SEED", 1));
            for n in 0..words {
                let Some(bytes) = words::random(&mut r, gfx, desc, form) else {
                    continue;
                };
                if decode(gfx, &bytes).is_err() {
                    continue;
                }
                run += 1;
                if run.is_multiple_of(2000) {
                    jits = checker.jits();
                }
                let mut before = checker.state(&mut r);
                let inst = Item::Inst(bytes);
                let items = if moves {
                    before.sgpr[M0] = index(&mut r);
                    vec![inst]
                } else if !gfx.is_gfx8_up() {
                    continue;
                } else if n % 2 == 0 {
                    let (index, enables) = (r.below(9), r.below(16));
                    vec![Item::Inst(on(index, enables)), inst, Item::Inst(off())]
                } else {
                    before.mode |= mode::GPR_IDX_EN;
                    before.sgpr[M0] = index(&mut r) | r.below(16) << 12 | r.word() & 0xffff_0f00;
                    vec![inst]
                };
                let how = How::shaped(Some(run as usize % jits.len()));
                let found = checker.check(&jits, &items, &before, how);
                if let Some(mismatch) = found.expect("this host") {
                    let failure = checker.failure(&items, &before, mismatch, how.max_block);
                    bad.push(format!("{gfx} {}", failure.show(4)));
                    break;
                }
            }
        }
    }
    println!("{gfx}: {run} instructions");
    let count = bad.len();
    assert!(
        bad.is_empty(),
        "{count} rows and forms differ:\n{}",
        bad[..count.min(env("FAILURES", 12) as usize)].join("\n")
    );
}

#[test]
fn moves_of_gfx600() {
    indexed(Gfx::Gfx600);
}

#[test]
fn moves_of_gfx700() {
    indexed(Gfx::Gfx700);
}

#[test]
fn indexed_gfx803() {
    indexed(Gfx::Gfx803);
}

#[test]
fn indexed_gfx900() {
    indexed(Gfx::Gfx900);
}

#[test]
fn indexed_gfx906() {
    indexed(Gfx::Gfx906);
}
