//! How many instructions a second does the decoder read, and how many does it print?

use std::hint::black_box;
use std::io::Read as _;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::read::GzDecoder;
use frontend::{Gfx, decode};

/// The valid words of the disassembly goldens of a target, one after the other.
fn words(gfx: Gfx) -> Vec<Vec<u8>> {
    let path = format!(
        "{}/tests/golden/disasm/{gfx}.tsv.gz",
        env!("CARGO_MANIFEST_DIR")
    );
    let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut text = String::new();
    GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap_or_else(|e| panic!("{path}: {e}"));
    text.lines()
        .filter(|line| line.contains("\tstrict\t"))
        .map(|line| {
            let hex = line.split('\t').next().unwrap_or_default();
            (0..hex.len())
                .step_by(2)
                .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hexadecimal bytes"))
                .collect::<Vec<u8>>()
        })
        .filter(|bytes| decode(gfx, bytes).is_ok())
        .collect()
}

fn bench(c: &mut Criterion) {
    for gfx in [Gfx::Gfx700, Gfx::Gfx803, Gfx::Gfx900] {
        let words = words(gfx);
        assert!(words.len() > 30_000, "the goldens lack words");
        let mut group = c.benchmark_group(format!("decode/{gfx}"));
        group.throughput(Throughput::Elements(words.len() as u64));
        group.bench_function("decode", |b| {
            b.iter(|| {
                for bytes in &words {
                    let inst = decode(gfx, black_box(bytes));
                    black_box(&inst);
                }
            });
        });
        group.bench_function("decode and print", |b| {
            b.iter(|| {
                for bytes in &words {
                    let inst = decode(gfx, black_box(bytes)).expect("chosen to decode");
                    black_box(inst.text(gfx));
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
