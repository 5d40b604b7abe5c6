//! What the kernels of `tests/kernels/races` leave in buffer `y`, word by word, by the numbers that they are given.

use super::mixed as x;

/// The words of `n` work-items.
fn each(n: u32, word: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..n).map(word).collect()
}

/// The inputs `first` to `first + n - 1`.
fn inputs(first: u32, n: u32) -> impl Iterator<Item = u32> + Clone {
    (first..first + n).map(x)
}

/// The sum of these inputs.
fn sum(first: u32, n: u32) -> u32 {
    inputs(first, n).sum()
}

/// The inputs `first`, `first + step` and so on, `n` in all.
fn strided(first: u32, step: u32, n: u32) -> impl Iterator<Item = u32> {
    (0..n).map(move |k| x(first + step * k))
}

/// How many of the first `n` inputs have each remainder by `bins`.
fn remainders(n: u32, bins: u32) -> Vec<u32> {
    let count = |bin| inputs(0, n).filter(|value| value % bins == bin).count();
    each(bins, |bin| u32::try_from(count(bin)).expect("it is small"))
}

/// `n` inputs, sorted in parts of `part`.
fn sorted(n: u32, part: u32) -> Vec<u32> {
    let mut all: Vec<u32> = inputs(0, n).collect();
    all.chunks_mut(part as usize)
        .for_each(<[u32]>::sort_unstable);
    all
}

/// Words of these bytes.
fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |four: &[u8]| u32::from_le_bytes(four.try_into().expect("they are four"));
    bytes.chunks(4).map(word).collect()
}

/// Words of bytes, each the low one of a value.
fn bytes(n: u32, byte: impl Fn(u32) -> u32) -> Vec<u32> {
    words(&each(n, byte).iter().map(|&b| b as u8).collect::<Vec<_>>())
}

/// What a graph's 128 edges between 64 nodes leave of the nodes' values.
fn edges(start: impl Fn(u32) -> u32, visit: impl Fn(&mut [u32], u32, usize, usize)) -> Vec<u32> {
    let mut nodes = each(64, start);
    for edge in 0..128 {
        let head = if edge < 64 { edge + 1 } else { edge * 7 } % 64;
        visit(&mut nodes, edge, edge as usize % 64, head as usize);
    }
    nodes
}

fn pivot() -> Vec<u32> {
    let mut values = each(256, x);
    for group in values.chunks_mut(128) {
        for k in (0..128).step_by(32) {
            let change = group[k] + k as u32;
            group.iter_mut().for_each(|value| *value ^= change);
        }
    }
    values
}

fn title_case() -> Vec<u32> {
    let is_letter = |i: u32| !x(i).is_multiple_of(3);
    each(256, |i| {
        match (is_letter(i), i % 128 > 0 && is_letter(i - 1)) {
            (false, _) => u32::from(b' '),
            (true, false) => u32::from(b'A') + x(i) % 26,
            (true, true) => u32::from(b'a') + x(i) % 26,
        }
    })
}

fn life() -> Vec<u32> {
    let alive = |r: u32, c: u32| x(r % 16 * 16 + c % 16) & 1;
    each(256, |i| {
        let (r, c) = (i / 16, i % 16);
        let square: u32 = (0..9).map(|k| alive(r + 15 + k / 3, c + 15 + k % 3)).sum();
        let neighbours = square - alive(r, c);
        u32::from(neighbours == 3 || (neighbours == 2 && alive(r, c) == 1))
    })
}

/// The counts of set bits 0 to 3 in a workgroup of 128, each shifted by its bit.
fn bit_counts(i: u32) -> u32 {
    let count = |k: u32| inputs(i / 128 * 128, 128).map(|v| v >> k & 1).sum::<u32>();
    (0..4).map(|k| count(k) << k).sum()
}

/// What the repaired kernel of a pair leaves in `y`.
pub(super) fn pair(name: &str) -> Vec<u32> {
    match name {
        "late_store" => each(1024, |i| x(i % 128)),
        "late_tile" => each(40960, |i| {
            let value = x((i ^ 127) % 512);
            let stored = i / 128 >= 300;
            value + if stored { value + 1 } else { x(i % 512) }
        }),
        "tile_reverse" => each(512, |i| x(i ^ 127)),
        "tile_loop_end" | "tile_loop_start" => each(256, |i| {
            (0..4).map(|k| (k + 1) * x(k * 256 + (i ^ 64))).sum()
        }),
        "double_buffer" => each(256, |i| (0..6).map(|k| (k + 1) * (x(i ^ 127) + k)).sum()),
        "prefetch" => each(256, |i| {
            x(i) + (1..4)
                .map(|k| (k + 1) * x(k * 256 + (i ^ 127)))
                .sum::<u32>()
        }),
        "transpose" => each(1024, |i| x(i / 256 * 256 + i % 16 * 16 + i / 16 % 16)),
        "matrix_tile" => each(1024, |i| {
            (0..32)
                .map(|k| x(i / 32 * 32 + k) * (k * 32 + i % 32))
                .sum()
        }),
        "stencil_halo" => each(512, |i| {
            let at = |i: Option<u32>| i.filter(|&i| i < 512).map_or(0, x);
            at(i.checked_sub(1)) + x(i) + at(Some(i + 1))
        }),
        "wave_border" => each(256, |i| x(i) + if i % 128 > 0 { x(i - 1) } else { 0 }),
        "broadcast" => each(256, |i| x(i).wrapping_sub(x(i / 128 * 128))),
        "pivot" => pivot(),
        "tile_b128" => each(1024, |w| x(((w / 4) ^ 64) * 4 + 3 - w % 4)),
        "tile_reuse" => each(256, |i| 2 * x((i ^ 64) ^ 127) + 1 + (i ^ 64) % 128),
        "reduce_tree" | "reduce_wide_wave" | "reduce_unrolled" | "wave_sums" => {
            each(4, |group| sum(group * 256, 256))
        }
        "reduce_result" => each(256, |i| sum(i / 128 * 128, 128) - x(i)),
        "reduce_twice" => each(256, |i| {
            let low: u32 = inputs(i / 128 * 128, 128).map(|value| value & 3).sum();
            sum(i / 128 * 128, 128) + 1000 * low
        }),
        "scan_steps" => each(256, |i| sum(i / 128 * 128, i % 128 + 1)),
        "scan_sweeps" => each(512, |i| sum(i / 256 * 256, i % 256)),
        "scan_totals" => each(512, |i| sum(i / 256 * 256, i % 256 + 1)),
        "bitonic" | "rank_sort" => sorted(256, 128),
        "odd_even" => sorted(512, 256),
        "histogram_plain" | "histogram_clear" | "histogram_read" => remainders(1024, 16),
        "counter_reset" => each(256, bit_counts),
        "lds_maximum" => each(2, |group| inputs(group * 128, 128).fold(0, u32::max)),
        "lds_append" => each(2, |group| {
            inputs(group * 128, 128).filter(|v| v % 2 == 1).sum()
        }),
        "lds_mask" => each(2, |group| {
            inputs(group * 128 + 1, 127).fold(1 << 31, |seen, v| seen | (1 << (v % 31)))
        }),
        "lds_byte_of_word" => each(128, |j| {
            x(j / 64 * 128 + j % 64) & 0xff_ffff | ((j % 64) << 24)
        }),
        "lds_half_of_wide" => each(128, |j| x(j / 64 * 128 + j % 64)),
        "lds_terminator" => each(256, |i| {
            ((x(i) + 1) << 16) | if i % 128 < 127 { x(i + 1) + 1 } else { 0 }
        }),
        "title_case" => title_case(),
        "lds_field" => each(128, |j| {
            let i = j / 64 * 128 + j % 64;
            x(i) * 1000 + j % 64 + (x(i + 64) & 255)
        }),
        "byte_border" => bytes(256, |i| if i % 64 == 63 { 255 } else { x(i) / 17 }),
        "byte_in_word" => bytes(16, |group| x(group) & 127),
        "counter_halves" => {
            let sum: u64 = inputs(0, 8).map(|v| 0xc000_0000 + u64::from(v)).sum();
            words(&sum.to_le_bytes())
        }
        "bitmap" => each(8, |word| {
            let mine = inputs(0, 256).filter(|v| v % 256 / 32 == word);
            mine.fold(0, |bits, v| bits | (1 << (v % 32)))
        }),
        "overlapping_pairs" => each(16, |w| x(w / 2) + w % 2 * 100),
        "producer" => each(128, |j| 10 * x(j) + 6),
        "lds_flag" => each(128, x),
        "lds_first_value" => each(128, |j| x(j ^ 63) + 7),
        "lds_first_count" => each(2, |group| x(group) + 2),
        "lds_fence" => each(256, |i| x(i ^ 64)),
        "global_exchange" => each(256, |i| x(i ^ 64) + x(i)),
        "global_tree" => each(2, |group| sum(group * 256, 256)),
        "global_steps" => each(256, |i| x(i) + 6),
        "generic_tile" => each(256, |i| x(i ^ 127)),
        "generic_scratch" => each(256, |i| x(i ^ 64)),
        "generic_and_local" => each(128, |j| x(j ^ 63) + 5),
        "call_exchange" => each(256, |i| 3 * x(i ^ 127) + 1),
        "call_count" => each(2, |parity| strided(parity, 2, 4).sum()),
        _ => grid(name),
    }
}

/// The same of kernels whose workgroups have to do with each other.
fn grid(name: &str) -> Vec<u32> {
    match name {
        "store_halo" => each(513, |i| if i < 512 { x(i) + i / 128 } else { 0 }),
        "stencil_in_place" => each(256, |i| x(i) + x((i + 1) % 256) + x((i + 255) % 256)),
        "shift_in_place" => each(256, |i| x((i + 1).min(255))),
        "reverse_in_place" => each(256, |i| x(255 - i)),
        "running_sum" | "look_back" => each(8, |group| sum(0, group + 1)),
        "row_stride" => each(260, |w| match w % 65 {
            64 => w / 65,
            l => x(w / 65 * 64 + l),
        }),
        "image_rows" => each(1024, x),
        "transpose_in_place" => each(1024, |i| x(i % 32 * 32 + i / 32)),
        "field" => each(256, |w| x(w / 2 % 64) + 1 - w % 2),
        "clear_and_add" => each(64, |l| strided(l, 64, 4).sum()),
        "life" => life(),
        "buffer_overlap" => each(256, x),
        "buffer_neighbour" => each(256, |i| x((i + 64) % 256) + 1),
        "generic_groups" => each(256, |i| {
            let in_lds = x(i % 64) % 2 == 1;
            x(i) + if in_lds { x(i) } else { 1 }
        }),
        "counter" => vec![remainders(256, 2)[1]],
        "float_sum" => vec![36.0_f32.to_bits()],
        "read_counter" => vec![36, 1],
        "maximum" => vec![inputs(0, 256).fold(0, u32::max)],
        "scatter" => each(16, |place| {
            let here = (0..256).filter(|&i| x(i) % 16 == place);
            here.max().unwrap_or(0)
        }),
        "append" => vec![remainders(256, 4)[0]],
        "take" => each(24, |i| 2 * x(i)),
        "global_mask" => vec![0xaaaa],
        "no_release" => each(128, |i| x(i) + 3),
        "no_acquire" => each(128, |i| x(i) + 4),
        "narrow_release" => each(128, |i| x(i) + 5),
        "volatile_flag" => each(128, |i| x(i) + 6),
        "plain_flag" => each(8, |group| if group == 0 { 0 } else { 7 }),
        "last_block" => each(64, |l| 2 * strided(l, 64, 8).sum::<u32>()),
        "last_block_fence" => each(64, |l| (0..8).map(|group| x(group * 64 + l) ^ group).sum()),
        "spin_lock" => vec![sum(0, 8), inputs(0, 8).fold(0, |all, value| all ^ value)],
        "ticket_lock" | "plain_lock" => vec![sum(0, 8)],
        "queue_push" => vec![sum(0, 7)],
        "grid_barrier" => each(512, |i| 5 * x((i + 64) % 512)),
        "union_roots" => edges(
            |node| node,
            |nodes, _, a, b| {
                if a != b {
                    nodes[a.max(b)] = nodes[a.max(b)].min(a.min(b) as u32);
                }
            },
        ),
        "search_parents" => edges(
            |_| 0xffff,
            |nodes, edge, _, b| nodes[b] = nodes[b].min(x(edge) % 128),
        ),
        "search_visit" => each(64, |node| {
            u32::from(inputs(0, 256).any(|value| value % 64 == node))
        }),
        "relax" => edges(
            |_| 0xffff,
            |nodes, edge, a, b| nodes[b] = nodes[b].min(x(edge) + a as u32),
        ),
        "degrees" => edges(
            |_| 0,
            |nodes, _, a, b| {
                nodes[a] += 1;
                nodes[b] += 1;
            },
        ),
        "cells" | "cell_lists" => remainders(256, 8),
        "colours" => each(256, |_| 0),
        "labels" => each(256, |i| x(i).min(x((i + 64) % 256))),
        "flag_first" | "in_flight" | "load_first" | "early_invalidate" => {
            each(128, |i| ((x(i) ^ 0x55) << 16) | x(i))
        }
        _ => panic!("{name} has no expectation"),
    }
}

/// What a kernel without races leaves in `y`.
pub(super) fn intended(name: &str) -> Vec<u32> {
    let primes = [2, 3, 5, 7, 11, 13, 17, 19];
    let or = |first, n| inputs(first, n).fold(0, |all, value| all | value);
    let xor = |first, n| inputs(first, n).fold(0, |all, value| all ^ value);
    let max = |first, n| inputs(first, n).fold(0, u32::max);
    match name {
        "same_value" => each(4, |group| 3 * x(group)),
        "same_flag" => vec![1],
        "lane_turns" => each(4, |_| inputs(0, 4).fold(0, |word, value| word * 3 + value)),
        "lds_bytes" => bytes(512, |b| x(b / 256 * 256 + b % 4 * 64 + b / 4 % 64)),
        "global_bytes" => bytes(256, |b| x(b % 4 * 64 + b / 4)),
        "global_halves" => each(128, |w| {
            let half = |group: u32| x(group * 64 + w % 64) + group;
            half(w / 64 * 2) | (half(w / 64 * 2 + 1) << 16)
        }),
        "wave_exchange" => each(256, |i| x(i ^ 63)),
        "wave_reduction" => each(2, |group| sum(group * 128, 128)),
        "single_wave" => each(256, |i| x(i ^ 62) + 1),
        "shared_reads" => each(256, |i| x(i % 64) + x(3) + (x(i / 4) >> (i % 4 * 8) & 255)),
        "constants" => each(256, |i| x(i) * primes[i as usize % 8] + x(i / 64)),
        "atomics" => {
            let (all, least) = (sum(0, 256), inputs(0, 256).fold(0xffff, u32::min));
            let clear = 0xffff & !or(0, 256);
            let (bits, odd) = (or(0, 256), xor(0, 256));
            vec![
                all,
                all.wrapping_neg(),
                least,
                max(0, 256),
                bits,
                clear,
                odd,
                256,
                5,
                6,
            ]
        }
        "lds_atomics" => (0..2)
            .flat_map(|group| {
                let first = group * 128;
                [
                    sum(first, 128),
                    max(first, 128),
                    or(first, 128),
                    xor(first, 128),
                    7,
                    8,
                ]
            })
            .collect(),
        "lds_reuse" => each(256, |i| x(i ^ 63) + 1 + x(i ^ 127)),
        "two_tiles" => each(256, |i| x(i) + 28),
        "wave_turns" => each(512, |i| ((x(i / 256) * 3 + 1) * 3 + 2) * 3 + 3),
        "many_barriers" => vec![66000],
        "first_pass" => each(256, |i| 2 * (x(i) + 1)),
        "volatile_words" => each(256, |i| 4 * x(i) + 6),
        "grid_stride" => each(1000, |i| x(i) * x(i) + 1),
        "histogram" => remainders(1024, 16),
        "shuffles" => each(256, |i| 2 * sum(i / 64 * 64, 64)),
        "scratch_arrays" => each(256, |i| 2 * x(i) + x(i) % 16 + 5),
        "fields" => each(128, |w| x(w / 2) + 1 - w % 2),
        "local_arguments" => each(256, |i| x(i ^ 63) + 1),
        "masked_tail" => each(200, |i| x(i) + 9),
        "early_end" => each(128, |j| x(j ^ 63)),
        "atomic_words" => each(256, |i| max(i / 128 * 128, 128)),
        "calls" => {
            let account = |k| inputs(0, 256).filter(|v| v % 4 == k).sum();
            [each(4, account), vec![256]].concat()
        }
        "poll" => each(8, |group| x((group + 1) % 8) + 1),
        "poll_counter" => each(8, x),
        "volatile_poll" => each(8, |group| group.checked_sub(1).map_or(0, |g| x(g) + 2)),
        "look_back" => each(512, |i| strided(i % 64, 64, i / 64 + 1).sum()),
        "packed_flag" => each(8, |group| sum(0, group + 1)),
        "last_block" => each(128, |l| strided(l, 128, 4).sum::<u32>() + 4),
        "grid_barrier" => each(512, |i| x((i + 192) % 512) + 6),
        "spin_lock" => [vec![sum(0, 8)], vec![1; 8]].concat(),
        "ticket_lock" => vec![sum(0, 8)],
        "chain" => each(64, |l| x(l) + 11),
        "lds_release" => each(128, |j| x(j ^ 63) + 7),
        "atomic_read" => vec![sum(0, 8); 2],
        "release_sequence" => each(64, |l| 9 * x(l)),
        _ => panic!("{name} has no expectation"),
    }
}
