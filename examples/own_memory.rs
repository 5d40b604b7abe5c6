//! Kernels access vectors of the program where they are, without a copy.
//!
//! ```sh
//! cargo run --release --example own_memory
//! ```

use std::error::Error;

use wavelift::{Device, Launch, Module};

/// `examples/saxpy/saxpy.cl`, compiled by clang for gfx803.
const CODE: &[u8] = include_bytes!("saxpy/saxpy.gfx803.co");

const N: usize = 1 << 16;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::new()?;
    let saxpy = Module::load(&device, CODE)?.kernel("saxpy")?;

    let samples = vec![1.0f32; N];
    let place = samples.as_ptr();
    let mut y = device.register(samples);
    let x = device.register((0..N).map(|i| i as f32).collect());
    assert_eq!(
        y.address(),
        place.addr() as u64,
        "a guest address is a host address"
    );

    let launch = Launch::new(N as u32, 256);
    let args = [(&y).into(), (&x).into(), 2.0f32.into(), (N as u32).into()];
    device.launch(&saxpy, &launch, &args)?;

    // Between launches the vector can be used as a slice; until `slice` is dropped, kernels have no
    // access.
    let mut slice = y.map()?;
    println!("the last number is {}", slice[N - 1]);
    assert_eq!(slice[N - 1], 2.0 * (N - 1) as f32 + 1.0);
    slice.fill(100.0);
    drop(slice);

    // The second half only, by a pointer into the vector.
    let half = N as u32 / 2;
    let args = [y.at(2 * N as u64)?, (&x).into(), 1.0f32.into(), half.into()];
    device.launch(&saxpy, &launch, &args)?;

    // The vector comes back when no launch uses it any more.
    let samples = y.into_vec()?;
    assert_eq!(samples.as_ptr(), place);
    assert_eq!((samples[5], samples[N / 2 + 5]), (100.0, 105.0));
    println!("the vector is back at the same place");
    Ok(())
}
