//! A structure by value: a picture of the Mandelbrot set.
//!
//! ```sh
//! cargo run --release --example struct_argument
//! ```

use std::error::Error;

use wavelift::bytemuck::NoUninit;
use wavelift::{Device, Launch, Module};

/// `examples/mandelbrot/mandelbrot.cl`, compiled by clang for gfx906.
const CODE: &[u8] = include_bytes!("mandelbrot/mandelbrot.gfx906.co");

/// `view_t` of the kernel: the same fields in the same order. `NoUninit` makes sure that there is
/// no padding between them.
#[derive(Clone, Copy, NoUninit)]
#[bytemuck(crate = "wavelift::bytemuck")]
#[repr(C)]
struct View {
    /// The corner of the view.
    x0: f32,
    y0: f32,
    /// The size of a pixel.
    dx: f32,
    dy: f32,
    width: u32,
    height: u32,
    max_iter: u32,
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::new()?;
    let mandelbrot = Module::load(&device, CODE)?.kernel("mandelbrot")?;

    let view = View {
        x0: -2.0,
        y0: -1.0,
        dx: 0.05,
        dy: 0.1,
        width: 60,
        height: 21,
        max_iter: 100,
    };
    let iterations = device.alloc(u64::from(view.width * view.height) * 4)?;
    let launch = Launch::new([64, 24], [16, 8]);
    device.launch(&mandelbrot, &launch, &[(&iterations).into(), view.into()])?;

    let iterations = iterations.read::<u32>()?;
    for row in iterations.chunks(view.width as usize) {
        let line = row.iter().map(|&n| match n {
            100.. => '#',
            8.. => '+',
            4.. => '.',
            _ => ' ',
        });
        println!("{}", line.collect::<String>());
    }
    let at = |x: usize, y: usize| iterations[y * view.width as usize + x];
    assert_eq!(at(40, 10), view.max_iter, "0 is in the set");
    assert_eq!(at(0, 0), 1, "-2 - i is far outside");
    Ok(())
}
