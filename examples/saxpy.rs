//! A first kernel: `y = a * x + y` over 5000 numbers.
//!
//! ```sh
//! cargo run --release --example saxpy
//! ```

use std::error::Error;

use wavelift::{Device, Launch, Module};

/// `examples/saxpy/saxpy.cl`, compiled by clang for gfx900.
const CODE: &[u8] = include_bytes!("saxpy/saxpy.gfx900.co");

const N: u32 = 5000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::new()?;
    let module = Module::load(&device, CODE)?;
    let saxpy = module.kernel("saxpy")?;

    let numbers: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let x = device.buffer(&numbers)?;
    let y = device.buffer(&vec![1.0f32; N as usize])?;

    // kernel void saxpy(global float *y, global const float *x, float a, uint n)
    let args = [(&y).into(), (&x).into(), 0.5f32.into(), N.into()];
    // The grid has more work-items than there are numbers; the kernel leaves the rest out.
    let launch = Launch::new(N.next_multiple_of(256), 256);
    let stats = device.launch(&saxpy, &launch, &args)?;

    let result = y.read::<f32>()?;
    for (i, &value) in result.iter().enumerate() {
        assert_eq!(value, 0.5 * i as f32 + 1.0);
    }
    println!(
        "{} workgroups, {} waves; y[1] is {}, y[4999] is {}",
        stats.workgroups, stats.waves, result[1], result[4999]
    );
    Ok(())
}
