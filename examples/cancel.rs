//! A launch that takes too long is cancelled from another thread.
//!
//! ```sh
//! cargo run --release --example cancel
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use wavelift::bytemuck::NoUninit;
use wavelift::{CancelToken, Device, Launch, Module, Settings};

/// `examples/mandelbrot/mandelbrot.cl`, compiled by clang for gfx900.
const CODE: &[u8] = include_bytes!("mandelbrot/mandelbrot.gfx900.co");

/// `view_t` of the kernel.
#[derive(Clone, Copy, NoUninit)]
#[bytemuck(crate = "wavelift::bytemuck")]
#[repr(C)]
struct View {
    corner: [f32; 2],
    pixel: [f32; 2],
    size: [u32; 2],
    max_iter: u32,
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::new()?;
    let mandelbrot = Module::load(&device, CODE)?.kernel("mandelbrot")?;
    let iterations = device.alloc(1024 * 1024 * 4)?;
    // All of this view is inside the set: each pixel takes 2^32 iterations, which is hours.
    let view = View {
        corner: [-0.1, -0.1],
        pixel: [0.0001, 0.0001],
        size: [1024, 1024],
        max_iter: u32::MAX,
    };

    let token = CancelToken::new();
    let settings = Settings {
        cancel: Some(token.clone()),
        ..device.settings()
    };
    let user = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        token.cancel();
    });
    let begin = Instant::now();
    let launch = Launch::new([1024, 1024], [16, 8]);
    let args = [(&iterations).into(), view.into()];
    let result = device.launch_with(&mandelbrot, &launch, &args, &settings);
    let time = begin.elapsed();
    user.join()
        .map_err(|_| "the thread that cancels panicked")?;

    match result {
        Err(error @ wavelift::Error::Cancelled { .. }) => println!("{error} after {time:.1?}"),
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("nobody can iterate that fast".into()),
    }
    // For a limit that is given before there is `DeviceOptions::timeout`, or `Settings::timeout` for
    // one launch: a wave that runs longer ends in a fault that says where it was.
    let settings = Settings {
        timeout: Some(Duration::from_millis(100)),
        ..device.settings()
    };
    let error = device
        .launch_with(&mandelbrot, &launch, &args, &settings)
        .expect_err("it takes as long as before");
    println!("{error}");
    let fault = error.fault().ok_or("a timeout is a fault")?;
    assert_eq!(fault.kind.name(), "timeout");
    Ok(())
}
