//! Scalar loads that follow one another at one base, as those of a kernel's arguments do: random ones, in bounds, at the end of
//! memory and where there is none, against the interpreter.

use harness::random::Random;
use harness::snippet::{BARRIER, BUFFER, END, State, ZONE, set64};

use super::rounds::{Rounds, first_shapes};
use super::words::{BASE, EXEC, sop1, sop2, store, v, vop1};

/// Registers that are loaded.
const FIRST: u32 = 32;

/// `s_load_dword` to `s_load_dwordx16`: 2^size dwords.
fn scalar_load(size: u32, to: u32, base: u32, offset: i32) -> [u32; 2] {
    let word = 0xc002_0000 | size << 18 | to << 6 | base >> 1;
    [word, offset as u32 & 0x001f_ffff]
}

fn program(r: &mut Random) -> Vec<u32> {
    let mut words = Vec::new();
    let mut base = BASE;
    // A kernel's arguments are near one another, other loads are not.
    let reach = *r.pick(&[8, 16, 32, 48, 400]);
    for _ in 0..2 + r.below(10) {
        let size = *r.pick(&[0, 0, 1, 1, 2, 3, 4]);
        let align = 1 << size.min(2);
        let to = FIRST + r.below(64 / align) * align;
        let offset = r.below(reach) as i32 * 4 - if r.once_in(4) { 64 } else { 0 };
        match r.below(24) {
            // Through a pointer that was loaded.
            0 => words.extend(scalar_load(1, base, base, offset)),
            // s_mov_b64 of the base.
            1 => {
                base = *r.pick(&[BASE, BASE + 4]);
                words.push(sop1(1, base, BASE));
            }
            // s_add_u32
            2 => words.push(sop2(0, base, base, 128 + r.below(16))),
            // s_mov_b64 exec
            3 => words.push(sop1(1, EXEC, FIRST + 2 * r.below(16))),
            // Stored to where it may be loaded from.
            4 => {
                words.push(vop1(1, 8, BASE));
                words.push(vop1(1, 9, BASE + 1));
                words.push(vop1(1, 10, FIRST + r.below(32)));
                words.extend(store(1, 10, 8, 4 * r.below(reach.min(64)) as i32));
            }
            // v_add_u32 with what was loaded.
            5 => words.push(super::words::vop2(
                0x34,
                11,
                FIRST + r.below(32),
                v(11) - 256,
            )),
            _ => words.extend(scalar_load(size, to, base, offset)),
        }
    }
    words.extend([BARRIER, END]);
    words
}

fn prepare(r: &mut Random, before: &mut State) {
    before.fuel = 1000;
    let base = [BASE, BASE + 1].map(|n| u64::from(before.sgpr[n as usize]));
    let base = base[0] | base[1] << 32;
    // The buffer lies its own length behind the beginning of what is compared.
    let end = base + (ZONE - BUFFER) as u64;
    let at = match r.below(8) {
        0..=2 => end - u64::from(r.below(400)),
        3 => u64::from(r.below(8) * 32),
        4 => base | 1 << 50,
        _ => base + u64::from(r.below(64)),
    };
    set64(&mut before.sgpr, BASE as usize, at);
    set64(&mut before.sgpr, BASE as usize + 4, base);
}

#[test]
fn loads_of_arguments() {
    let rounds = Rounds {
        count: 200,
        factor: 0x9e37_79b9_7f4a_7c15,
        shapes: first_shapes(),
        program,
        prepare,
    };
    rounds.run_with_faults();
}
