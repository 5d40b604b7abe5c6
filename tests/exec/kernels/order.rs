//! What depends on the order of lanes, waves and workgroups: exchanges without barriers in a wave,
//! barriers, waits of waves and groups for one another.

use std::time::Duration;

use harness::random::Random;
use wavelift::{Arg, FaultKind, Launch};

use super::{Rig, TARGETS, THREADS, on_targets};

/// Workgroups of one wave.
const WAVES: usize = 5;

fn words(seed: u64, n: usize) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.next() as u32).collect()
}

#[test]
fn lanes_exchange_in_lockstep() {
    let input = words(61, WAVES * 64);
    let reversed: Vec<u32> = input
        .chunks(64)
        .flat_map(|wave| wave.iter().rev().copied())
        .collect();
    let scanned: Vec<u32> = input
        .chunks(64)
        .flat_map(|wave| {
            wave.iter().scan(0u32, |sum, &x| {
                *sum = sum.wrapping_add(x);
                Some(*sum)
            })
        })
        .collect();
    on_targets("order", &TARGETS, |rig, module| {
        let launch = Launch::new((WAVES * 64) as u32, 64);
        rig.each(&THREADS, |rig| {
            for (kernel, want) in [("reverse_local", &reversed), ("scan_local", &scanned)] {
                let (out, input) = (rig.buffer(&vec![0u32; input.len()]), rig.buffer(&input));
                rig.launch(module, kernel, launch, &[&out, &input].map(Arg::from));
                rig.expect(module, kernel, &out, want);
            }
            for (kernel, want) in [("reverse_global", &reversed), ("scan_global", &scanned)] {
                let data = rig.buffer(&input);
                rig.launch(module, kernel, launch, &[(&data).into()]);
                rig.expect(module, kernel, &data, want);
            }
        });
    });
}

#[test]
fn lanes_that_leave_a_loop_early_exchange_in_lockstep() {
    let rounds = 9u32;
    let start = words(62, WAVES * 64);
    let (mut data, mut want) = (start.clone(), Vec::new());
    for wave in data.chunks_mut(64) {
        let mut values: Vec<u32> = (0..64).collect();
        for k in 0..rounds + 6 {
            let active = |lane: usize| k < rounds + lane as u32 % 7;
            for lane in (0..64).filter(|&lane| active(lane)) {
                wave[lane] = values[lane].wrapping_mul(5).wrapping_add(k);
            }
            for lane in (0..64).filter(|&lane| active(lane)) {
                values[lane] = wave[(lane * 7 + k as usize) & 63];
            }
        }
        want.extend(values);
    }
    on_targets("order", &TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (got, out) = (rig.buffer(&start), rig.buffer(&vec![0u32; start.len()]));
            let args = [(&got).into(), (&out).into(), rounds.into()];
            let launch = Launch::new((WAVES * 64) as u32, 64);
            rig.launch(module, "shuffle", launch, &args);
            rig.expect(module, "shuffle", &out, &want);
            rig.expect(module, "shuffle, data", &got, &data);
        });
    });
}

#[test]
fn the_highest_lane_stays() {
    let input = words(63, WAVES * 64);
    let mut want = vec![0u32; WAVES * 8];
    for (wave, values) in input.chunks(64).enumerate() {
        for &value in values.iter().filter(|&value| value & 1 == 1) {
            want[wave * 8 + (value as usize >> 1 & 3)] = value;
            want[wave * 8 + 4 + (value as usize >> 3 & 3)] = value;
        }
    }
    on_targets("order", &TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (out, input) = (rig.buffer(&vec![0u32; want.len()]), rig.buffer(&input));
            let launch = Launch::new((WAVES * 64) as u32, 64);
            let args = [&out, &input].map(Arg::from);
            rig.launch(module, "last_lane", launch, &args);
            rig.expect(module, "last_lane", &out, &want);
        });
    });
}

#[test]
fn prefix_sums_in_one_pass_over_all_groups() {
    on_targets("order", &TARGETS, |rig, module| {
        for (n, group) in [(4096, 256), (1000, 64), (1536, 192)] {
            let input = words(64, n);
            let want = input.iter().scan(0u32, |sum, &x| {
                *sum = sum.wrapping_add(x);
                Some(*sum)
            });
            let want: Vec<u32> = want.collect();
            rig.each(&THREADS, |rig| {
                let (out, input) = (rig.buffer(&vec![0u32; n]), rig.buffer(&input));
                let state = rig.buffer(&vec![0u64; n.div_ceil(group)]);
                let args = [&out, &input, &state].map(Arg::from);
                let launch = Launch::new(n as u32, group as u32);
                rig.launch(module, "look_back", launch, &args);
                rig.expect(module, "look_back", &out, &want);
            });
        }
    });
}

#[test]
fn waves_wait_for_one_another() {
    let rounds = 7u32;
    on_targets("order", &TARGETS, |rig, module| {
        for waves in [2u32, 4] {
            let mut value = 1u32;
            for _ in 0..rounds {
                for wave in (0..waves).rev() {
                    value = value.wrapping_mul(3).wrapping_add(wave);
                }
            }
            rig.each(&THREADS, |rig| {
                let out = rig.buffer(&[0u32; 9]);
                let args = [(&out).into(), rounds.into()];
                let launch = Launch::new(9 * 64 * waves, 64 * waves);
                rig.launch(module, "relay", launch, &args);
                rig.expect(module, "relay", &out, &[value; 9]);
            });
        }
    });
}

#[test]
fn groups_wait_for_earlier_ones() {
    const GROUPS: usize = 70;
    let mut want = vec![1u32];
    for group in 1..GROUPS as u32 {
        let last = want[group as usize - 1];
        want.push(last.wrapping_mul(3).wrapping_add(group));
    }
    on_targets("order", &TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (out, turn) = (rig.buffer(&[0u32; GROUPS]), rig.buffer(&[0u32]));
            let args = [&out, &turn].map(Arg::from);
            rig.launch(module, "chain", Launch::new(GROUPS as u32 * 64, 64), &args);
            rig.expect(module, "chain", &out, &want);
        });
    });
}

#[test]
fn a_lock_is_held_by_one_at_a_time() {
    const ITEMS: u32 = 4 * 128;
    let turns = (0..ITEMS).fold(0u32, |x, _| x.wrapping_mul(5).wrapping_add(1));
    on_targets("order", &TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (data, lock) = (rig.buffer(&[0u32; 2]), rig.buffer(&[0u32]));
            let args = [&data, &lock].map(Arg::from);
            rig.launch(module, "locked", Launch::new(ITEMS, 128), &args);
            rig.expect(module, "locked", &data, &[ITEMS, turns]);
            rig.expect(module, "locked, the lock", &lock, &[0u32]);
        });
    });
}

/// A wave whose lanes wait for one another in one loop never ends, as on the hardware.
#[test]
fn lanes_that_wait_for_their_own_wave_time_out() {
    on_targets("order", &TARGETS, |_, module| {
        let limit = Duration::from_millis(60);
        let rig = Rig::with(wavelift::DeviceOptions {
            reserve: 1 << 30,
            timeout: Some(limit),
            ..wavelift::DeviceOptions::default()
        });
        let bytes = super::object_bytes("order", module.gfx());
        let module = wavelift::Module::load(&rig.device, &bytes).unwrap();
        let mut first = None;
        rig.each(&THREADS, |rig| {
            let (data, lock) = (rig.buffer(&[0u32; 2]), rig.buffer(&[0u32]));
            let args = [&data, &lock].map(Arg::from);
            let error = rig.try_launch(&module, "deadlock", Launch::new(64, 64), &args);
            let error = error.expect_err("it never ends");
            let fault = error.fault().expect("the guest did wrong").clone();
            let seconds = limit.as_secs_f64();
            assert_eq!(fault.kind, FaultKind::Timeout { seconds });
            assert_eq!(*first.get_or_insert_with(|| fault.clone()), fault);
            rig.expect(&module, "deadlock, the lock", &lock, &[1u32]);
            rig.expect(&module, "deadlock", &data, &[0u32; 2]);
        });
    });
}

#[test]
fn groups_of_up_to_1024_work_items() {
    on_targets("order", &TARGETS, |rig, module| {
        for group in [1usize, 2, 64, 256, 512, 1024] {
            let input = words(65, 3 * group);
            let want = input.chunks(group).map(|items| {
                let mut tile: Vec<u64> = items.iter().map(|&x| x.into()).collect();
                while tile.len() > 1 {
                    let (low, high) = tile.split_at(tile.len() / 2);
                    let pairs = low.iter().zip(high);
                    tile = pairs
                        .map(|(a, b)| a.wrapping_mul(3).wrapping_add(*b))
                        .collect();
                }
                tile[0]
            });
            let want: Vec<u64> = want.collect();
            rig.each(&THREADS, |rig| {
                let (out, input) = (rig.buffer(&[0u64; 3]), rig.buffer(&input));
                let launch = Launch::new(3 * group as u32, group as u32);
                let args = [&out, &input].map(Arg::from);
                rig.launch(module, "tree", launch, &args);
                rig.expect(module, "tree", &out, &want);
            });
        }
    });
}

#[test]
fn barriers_do_not_wait_for_waves_that_ended() {
    let rounds = 3u32;
    let mut want = vec![0u32; 1024];
    let total = (0..rounds).fold(0u32, |sum, k| {
        (0..15 - k).fold(sum, |sum, wave| sum.wrapping_add(64 << wave))
    });
    want[..64 * (16 - rounds as usize)].fill(total);
    on_targets("order", &TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let out = rig.buffer(&[0u32; 1024]);
            let args = [(&out).into(), rounds.into()];
            rig.launch(module, "leaving", Launch::new(1024, 1024), &args);
            rig.expect(module, "leaving", &out, &want);
        });
    });
}
