//! Launches that do not block: two streams run at the same time, and events order them.
//!
//! ```sh
//! cargo run --release --example stream_events
//! ```

use std::error::Error;

use wavelift::{Buffer, Device, Event, Kernel, Launch, Module, Stream};

/// `examples/saxpy/saxpy.cl`, compiled by clang for gfx900.
const CODE: &[u8] = include_bytes!("saxpy/saxpy.gfx900.co");

const N: u32 = 1 << 16;

/// Queues `y = a * x + y`.
fn add(
    stream: &Stream,
    saxpy: &Kernel,
    (y, a, x): (&Buffer, f32, &Buffer),
) -> Result<Event, wavelift::Error> {
    let args = [y.into(), x.into(), a.into(), N.into()];
    stream.launch(saxpy, &Launch::new(N, 256), &args)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::new()?;
    let saxpy = Module::load(&device, CODE)?.kernel("saxpy")?;
    let ones = device.buffer(&vec![1.0f32; N as usize])?;
    let (left, right) = (
        device.alloc(u64::from(N) * 4)?,
        device.alloc(u64::from(N) * 4)?,
    );

    // Each stream works through its launches in order; the two run at the same time.
    let (one, two) = (device.stream()?, device.stream()?);
    for _ in 0..10 {
        add(&one, &saxpy, (&left, 1.0, &ones))?;
    }
    let mut right_is_done = add(&two, &saxpy, (&right, 5.0, &ones))?;
    for _ in 0..3 {
        right_is_done = add(&two, &saxpy, (&right, 5.0, &ones))?;
    }

    // `left` takes `right` once it is complete. Nothing waits here but the first stream.
    one.wait_for(&right_is_done)?;
    let sum = add(&one, &saxpy, (&left, 1.0, &right))?;
    println!("queued; done already: {}", sum.is_done());

    // Now the program waits. An error of any launch would be reported here.
    let stats = sum.wait()?;
    println!("the last launch had {} workgroups", stats.workgroups);
    one.synchronize()?;
    two.synchronize()?;
    assert_eq!(left.read::<f32>()?, vec![30.0; N as usize]);
    assert_eq!(right.read::<f32>()?, vec![20.0; N as usize]);
    println!("10 * 1 + 4 * 5 = {}", left.read_at::<f32>(0, 1)?[0]);
    Ok(())
}
