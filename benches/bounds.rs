//! Lower bounds of the benchmarks with LDS by memory alone: the reads and writes of their launches
//! in plain host code, without computation. No translation is faster on one core.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Side of the matrix of `transpose-4096`, and of its tiles.
const SIDE: usize = 4096;
const TILE: usize = 32;

/// Elements of `scan-16m`, `fft-4m` (two words each) and `bitonic-1m`.
const SCAN: usize = 1 << 24;
const FFT: usize = 2 << 22;
const BITONIC: usize = 1 << 20;

/// Launches of `bitonic-1m`.
const LAUNCHES: usize = 78;

/// A buffer with committed pages.
fn words(count: usize) -> Vec<u32> {
    (0..count as u32).collect()
}

/// Visits the tiles of the matrix: `tile` gets the position of each in the source and in the
/// result.
fn tiles(mut tile: impl FnMut(usize, usize)) {
    for y in (0..SIDE).step_by(TILE) {
        for x in (0..SIDE).step_by(TILE) {
            tile(y * SIDE + x, x * SIDE + y);
        }
    }
}

/// Moves rows of tiles to the rows of transposed tiles; elements keep their positions in the tile.
fn move_tiles(from: &[u32], to: &mut [u32]) {
    tiles(|source, result| {
        for row in (0..TILE).map(|row| row * SIDE) {
            let (source, result) = (source + row, result + row);
            to[result..result + TILE].copy_from_slice(&from[source..source + TILE]);
        }
    });
}

/// The transposition, through a tile whose rows are one word longer.
fn transpose(from: &[u32], to: &mut [u32]) {
    let mut place = [[0u32; TILE + 1]; TILE];
    tiles(|source, result| {
        for row in 0..TILE {
            let line = &from[source + row * SIDE..][..TILE];
            for (column, &word) in line.iter().enumerate() {
                place[column][row] = word;
            }
        }
        for (row, line) in place.iter().enumerate() {
            to[result + row * SIDE..][..TILE].copy_from_slice(&line[..TILE]);
        }
    });
}

/// Adds to each element, which is a read and a write of each.
fn touch(words: &mut [u32]) {
    for word in words {
        *word = word.wrapping_add(1);
    }
}

fn memory(c: &mut Criterion) {
    let mut group = c.benchmark_group("bounds");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(2));
    let mut case = |name: &str, bytes: usize, run: &mut dyn FnMut()| {
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::from_parameter(name), |b| b.iter(&mut *run));
    };
    let from = words(SIDE * SIDE);
    let mut to = words(SIDE * SIDE);
    let bytes = 8 * SIDE * SIDE;
    case("transpose-4096, tiles moved", bytes, &mut || {
        move_tiles(black_box(&from), black_box(&mut to));
    });
    case("transpose-4096, in host code", bytes, &mut || {
        transpose(black_box(&from), black_box(&mut to));
    });
    case("scan-16m", 4 * 4 * SCAN, &mut || {
        // The blocks' sums are a thousandth of it.
        black_box(&mut to)[..SCAN].copy_from_slice(&black_box(&from)[..SCAN]);
        touch(black_box(&mut to[..SCAN]));
    });
    case("fft-4m", 2 * 4 * FFT, &mut || {
        black_box(&mut to)[..FFT].copy_from_slice(&black_box(&from)[..FFT]);
    });
    case("bitonic-1m", LAUNCHES * 2 * 4 * BITONIC, &mut || {
        for _ in 0..LAUNCHES {
            touch(black_box(&mut to[..BITONIC]));
        }
    });
}

criterion_group!(benches, memory);
criterion_main!(benches);
