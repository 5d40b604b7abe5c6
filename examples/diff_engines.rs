//! The same kernel on both engines: the translator must do what the interpreter does, bit for bit.
//! `wavelift diff` does this for a launch manifest, and finds the instruction that differs.
//!
//! ```sh
//! cargo run --release --example diff_engines
//! ```

use std::error::Error;

use wavelift::{Device, DeviceOptions, EngineKind, EngineOptions, Launch, Module, Stats};

/// `examples/matmul/matmul.cl`, compiled by clang for gfx906.
const CODE: &[u8] = include_bytes!("matmul/matmul.gfx906.co");

/// C, of M rows and N columns, is A * B; A has K columns.
const M: u32 = 50;
const N: u32 = 70;
const K: u32 = 90;

/// Numbers that are different, but the same in each run.
fn matrix(rows: u32, columns: u32) -> Vec<f32> {
    let numbers = (0..rows * columns).map(|i| (i.wrapping_mul(2654435761) >> 8) as f32);
    numbers.map(|number| number / 16777216.0 - 0.5).collect()
}

/// The product as one engine computes it.
fn product(engine: EngineKind) -> Result<(Vec<f32>, Stats), wavelift::Error> {
    let device = Device::with_options(DeviceOptions {
        engine,
        engine_options: EngineOptions {
            // Without it the engines may differ in sign and payload of NaNs.
            exact_nan: true,
            ..EngineOptions::default()
        },
        ..DeviceOptions::default()
    })?;
    let matmul = Module::load(&device, CODE)?.kernel("matmul_tiled")?;
    let a = device.buffer(&matrix(M, K))?;
    let b = device.buffer(&matrix(K, N))?;
    let c = device.alloc(u64::from(M * N) * 4)?;
    let args = [
        (&c).into(),
        (&a).into(),
        (&b).into(),
        M.into(),
        N.into(),
        K.into(),
    ];
    let launch = Launch::new([N.next_multiple_of(16), M.next_multiple_of(16)], [16, 16]);
    let stats = device.launch(&matmul, &launch, &args)?;
    Ok((c.read()?, stats))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (reference, interpreted) = product(EngineKind::Interp)?;
    let (translated, jit) = product(EngineKind::Jit)?;
    println!(
        "interpreter {:.1} ms; translator {:.1} ms, of which {:.1} ms for {} regions",
        1e3 * interpreted.execute_seconds,
        1e3 * jit.execute_seconds,
        1e3 * jit.translate_seconds,
        jit.regions_translated
    );
    let bits = |matrix: &[f32]| matrix.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
    assert_eq!(bits(&reference), bits(&translated));

    // And both are right, as far as the order of additions permits.
    let (a, b) = (matrix(M, K), matrix(K, N));
    for (at, &value) in reference.iter().enumerate() {
        let (row, column) = (at / N as usize, at % N as usize);
        let terms = (0..K as usize)
            .map(|k| f64::from(a[row * K as usize + k]) * f64::from(b[k * N as usize + column]));
        let exact: f64 = terms.sum();
        assert!(
            (f64::from(value) - exact).abs() < 1e-4,
            "{value} for {exact}"
        );
    }
    println!("{} elements are the same", reference.len());
    Ok(())
}
