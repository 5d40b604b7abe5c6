//! Arrays of work-items, frames of functions and spilled registers: private memory as compilers access it.

use harness::random::Random;
use wavelift::{Arg, Gfx, Launch};

use super::{OPENCL_TARGETS, THREADS, on_targets};

/// Not a multiple of the waves' size.
const N: usize = 300;

fn next(x: u32) -> u32 {
    x.wrapping_mul(1664525).wrapping_add(1013904223)
}

fn schedule(x: u32) -> u32 {
    let mut w: Vec<u32> = (0..16)
        .map(|k| x.wrapping_mul(2 * k + 1).wrapping_add(k))
        .collect();
    for k in 16..64 {
        let (a, b) = (w[k - 15], w[k - 2]);
        let s0 = a.rotate_left(25) ^ a.rotate_left(14) ^ a >> 3;
        let s1 = b.rotate_left(15) ^ b.rotate_left(13) ^ b >> 10;
        let sum = w[k - 16].wrapping_add(s0).wrapping_add(w[k - 7]);
        w.push(sum.wrapping_add(s1));
    }
    let add = |sum: u32, &w: &u32| sum.rotate_left(5).wrapping_add(w);
    w.iter().rev().fold(0, add)
}

fn widths(mut x: u32) -> u32 {
    let mut b: Vec<u8> = (0..64)
        .map(|k| (x.wrapping_mul(k + 1) >> 8) as u8)
        .collect();
    let mut s: Vec<u16> = (0..32)
        .map(|k| (x.wrapping_mul(k + 3) >> 4) as u16)
        .collect();
    let mut w: Vec<u32> = (0..32u32)
        .map(|k| x ^ k.wrapping_mul(0x9e37_79b9))
        .collect();
    let mut q: Vec<u64> = (0..16)
        .map(|k| u64::from(x).wrapping_mul(k * 77 + 1) << 7)
        .collect();
    let mut v: Vec<[u32; 4]> = (0..8)
        .map(|k| [x.wrapping_add(k), x ^ k, x.wrapping_mul(k), k])
        .collect();
    let mut sum = 0u32;
    for k in 0..40 {
        x = next(x);
        let at = |from: u32, most: usize| (x >> from) as usize & most;
        if x >> 20 & 1 != 0 {
            b[at(3, 63)] = b[at(3, 63)].wrapping_add(x as u8);
            sum = sum.wrapping_add(b[at(9, 63)] as i8 as u32);
        }
        if x >> 21 & 3 != 0 {
            s[at(4, 31)] = s[at(4, 31)].wrapping_sub(s[at(12, 31)]);
            sum = sum.wrapping_mul(31).wrapping_add(s[k & 31].into());
        }
        w[at(7, 31)] = w[at(7, 31)].wrapping_add(sum);
        sum ^= w[at(27, 31)];
        if x >> 23 & 1 != 0 {
            let more = q[at(11, 15)] ^ u64::from(sum);
            q[at(5, 15)] = q[at(5, 15)].wrapping_add(more);
        }
        sum = sum.wrapping_add((q[k & 15] >> 17) as u32);
        let mut more = v[at(17, 7)];
        more.reverse();
        for (word, more) in v[at(13, 7)].iter_mut().zip(more) {
            *word = word.wrapping_add(more);
        }
        sum = sum.wrapping_add(v[k & 7][1] ^ v[at(0, 7)][2]);
    }
    sum
}

fn frames(mut x: u32) -> u32 {
    let mut a: Vec<u32> = (1..=32).map(|k| x.wrapping_mul(k)).collect();
    let mut sum = 0u32;
    for _ in 0..12 {
        x = next(x);
        let p = (x >> 16) as usize % 18;
        let mine: Vec<u32> = (0..8)
            .map(|k| a[17 - p + k].wrapping_mul(k as u32 + 3))
            .collect();
        a[p] = a[p].wrapping_add(mine[p & 7]);
        let mirrored = mine[7 - (p >> 1 & 7)].wrapping_add(a[17 - p]);
        sum = sum.wrapping_mul(31).wrapping_add(mirrored);
    }
    sum
}

fn spills(x: u32) -> u32 {
    let mut v: Vec<u32> = (0..48)
        .map(|k| x.wrapping_mul(k + 1) ^ x >> (k & 15))
        .collect();
    for n in 0..3 + (x & 3) {
        for k in 0..48 {
            let more = v[(k + 7) % 48] ^ n;
            v[k] = v[k].wrapping_mul(3).wrapping_add(more);
        }
    }
    let add = |sum: u32, &v: &u32| sum.wrapping_mul(31).wrapping_add(v);
    v.iter().fold(0, add)
}

/// Runs all kernels of the code objects of this name.
fn check(name: &str, targets: &[Gfx]) {
    let mut random = Random::new(61);
    let input: Vec<u32> = (0..N).map(|_| random.next() as u32).collect();
    let kernels = [
        ("schedule", schedule as fn(u32) -> u32),
        ("widths", widths),
        ("frames", frames),
        ("spills", spills),
    ];
    on_targets(name, targets, |rig, module| {
        for (kernel, host) in kernels {
            let want: Vec<u32> = input.iter().map(|&x| host(x)).collect();
            rig.each(&THREADS, |rig| {
                let (out, from) = (rig.buffer(&[0u32; N]), rig.buffer(&input));
                let args = [&out, &from].map(Arg::from);
                rig.launch(module, kernel, Launch::new(N as u32, 128), &args);
                rig.expect(module, kernel, &out, &want);
            });
        }
    });
}

#[test]
fn private_arrays_and_spilled_registers_through_descriptors() {
    check("scratch", &OPENCL_TARGETS);
}

#[test]
fn private_arrays_and_spilled_registers_of_scratch_instructions() {
    check("scratch.flat", &[Gfx::Gfx900, Gfx::Gfx906]);
}
