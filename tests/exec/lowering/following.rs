//! Workgroups that run consecutively without returning to the dispatcher behave like others.

use harness::random::Random;
use runtime::Interpreter;
use runtime::engine::Engine;

use super::dispatched::{Dispatch, engine};

/// The number of the workgroup that does something of its own.
const ODD: u32 = 37;

/// Each work-item adds what its wave has in registers at first, and the workgroup with the number [`ODD`] runs `odd`
/// before all are stored at `out`.
fn words(odd: &[u32], out: u64) -> Vec<u32> {
    let mut words = vec![
        // v_lshl_add_u32 v1, s5, 8, v0; v_lshlrev_b32 v1, 2, v1
        0xd1fd_0001,
        0x0401_1005,
        0x2402_0282,
        // s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 8)
        0xb888_3803,
        // v_add_u32 v2, s8, v0; v_add_u32 v2, s5, v2; v_add_u32 v2, s4, v2
        0x6804_0008,
        0x6804_0405,
        0x6804_0404,
        // s_cmp_lg_u32 s5, 37; s_cbranch_scc1
        0xbf07_8005 | (0x80 + ODD) << 8,
        0xbf85_0000 + odd.len() as u32,
    ];
    words.extend(odd);
    // s_mov_b32 s0, ...; s_mov_b32 s1, ...; global_store_dword v1, v2, s[0:1]; s_endpgm
    words.extend([0xbe80_00ff, out as u32, 0xbe81_00ff, (out >> 32) as u32]);
    words.extend([0xdc70_8000, 0x0000_0201, 0xbf81_0000]);
    words
}

/// What is at `out` after a dispatch of workgroups of `size` work-items, and how it ended.
fn run(
    engine: &dyn Engine,
    odd: &[u32],
    items: u32,
    size: u32,
    threads: usize,
) -> (Vec<u8>, String) {
    let dispatch = Dispatch {
        items,
        size,
        bytes: 16 * items,
        lds: 0,
        threads,
        timeout: None,
    };
    dispatch.run(engine, |out| words(odd, out))
}

#[test]
fn a_workgroup_among_others_may_do_as_it_likes() {
    let odds: [(&str, &[u32]); 7] = [
        ("nothing", &[]),
        // s_barrier, twice
        ("waits", &[0xbf8a_0000, 0xbf8a_0000]),
        // s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 8), 5
        ("writes TRAPSTS", &[0xba00_3803, 5]),
        // s_movreld_b32 s4, s5
        ("writes a scalar register", &[0xbe84_2c05]),
        // s_movk_i32 s9, 100; s_sub_u32 s9, s9, 1; s_cmp_lg_u32 s9, 0; s_cbranch_scc1
        (
            "goes round",
            &[0xb009_0064, 0x8089_8109, 0xbf07_8009, 0xbf85_fffd],
        ),
        // s_endpgm
        ("ends", &[0xbf81_0000]),
        // global_store_dword v1, v2, s[6:7]
        ("faults", &[0xdc70_8000, 0x0006_0201]),
    ];
    let engine = engine();
    let mut random = Random::new(11);
    for (what, odd) in odds {
        for size in [64, 100, 256] {
            let items = (40 + random.below(60)) * size + random.below(size);
            let want = run(&Interpreter, odd, items, size, 1);
            for threads in [1, 2] {
                let got = run(&engine, odd, items, size, threads);
                let at = format!("{what}: {items} by {size}, {threads} threads");
                // With others, workgroups behind the one that faults may have run.
                if what != "faults" {
                    assert!(got.0 == want.0, "{at}: what was stored differs");
                }
                assert_eq!(got.1, want.1, "{at}");
            }
        }
    }
}
