//! Long dependent expressions: the translator's recursion is as deep as they are, on whatever stack it is called.

use frontend::target::Gfx;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END};

use super::rounds::{compare_in, first_shapes, state, with_code};

/// Instructions of a chain; with what is around them they make a whole block.
const CHAIN: usize = 500;

/// Stack of the calling thread.
const BYTES: usize = 256 << 10;

/// s[2:3] from itself: `s_quadmask_b64` and `s_wqm_b64`, which are the most operations.
const CHAINS: [u32; 2] = [0xbe82_2902, 0xbe82_0702];

/// A loop over a chain of one instruction, two rounds.
fn looped(word: u32) -> Vec<u32> {
    // s_movk_i32 s10, 2
    let mut words = vec![0xb00a_0002];
    words.extend(std::iter::repeat_n(word, CHAIN));
    let back = (-(CHAIN as i32 + 3)) as u16;
    // s_sub_u32 s10, s10, 1; s_cmp_lg_u32 s10, 0; s_cbranch_scc1
    words.extend([0x808a_810a, 0xbf07_800a, 0xbf85_0000 | u32::from(back)]);
    words.extend([BARRIER, END]);
    words
}

#[test]
fn chains_are_translated_on_a_small_stack() {
    for word in CHAINS {
        let work = move || {
            let bench = Bench::new();
            let mut r = Random::new(3);
            let mut before = state(&bench, &mut r, Gfx::Gfx900);
            before.fuel = 1000;
            with_code(&bench, &looped(word), |loaded, bytes| {
                let what = format!("{word:08x}");
                compare_in(&first_shapes(), &bench, loaded, &before, bytes, &what);
            });
        };
        let thread = std::thread::Builder::new().stack_size(BYTES);
        let done = thread.spawn(work).expect("a thread").join();
        done.expect("no overflow, and the engines agree");
    }
}
