//! What a kernel does wrong, and how to read it.
//!
//! ```sh
//! cargo run --release --example fault
//! ```

use std::error::Error;

use wavelift::{Access, Device, DeviceOptions, FaultKind, Launch, Module};

/// `examples/saxpy/saxpy.cl`, compiled by clang for gfx900.
const CODE: &[u8] = include_bytes!("saxpy/saxpy.gfx900.co");

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::with_options(DeviceOptions {
        // Each access is checked against the allocations. Without it, only accesses outside of all
        // guest memory are faults, as on a GPU.
        memcheck: true,
        ..DeviceOptions::default()
    })?;
    let saxpy = Module::load(&device, CODE)?.kernel("saxpy")?;
    let x = device.buffer(&[1.0f32; 200])?;
    let y = device.buffer(&[2.0f32; 100])?;

    // `n` is the size of `x`, but `y` is shorter.
    let args = [(&y).into(), (&x).into(), 3.0f32.into(), 200u32.into()];
    let error = device
        .launch(&saxpy, &Launch::new(256, 256), &args)
        .expect_err("the kernel leaves its buffer");

    // The whole story, for people:
    println!("{error}\n");

    // And in parts, for programs:
    let fault = error.fault().ok_or("the error is no fault")?;
    println!("instruction  {:#x}: {}", fault.pc, fault.instruction);
    if let Some((function, offset)) = &fault.symbol {
        println!("function     {function}+{offset:#x}");
    }
    println!("workgroup    {:?}, wave {}", fault.workgroup, fault.wave);
    println!("lane         {:?}, EXEC {:#x}", fault.lane, fault.exec);
    let FaultKind::Memory {
        access,
        address,
        bytes,
        nearest: Some(nearest),
    } = &fault.kind
    else {
        return Err(format!("not an access to memory: {}", fault.kind).into());
    };
    let beyond = address - (nearest.start + nearest.len);
    println!(
        "access       {} of {bytes} bytes at {address:#x}",
        access.name()
    );
    println!("allocation   {} bytes at {:#x}", nearest.len, nearest.start);
    println!("beyond it    {beyond} bytes");

    // Work-item 100 is lane 36 of the second wave.
    assert_eq!((fault.wave, fault.lane), (1, Some(36)));
    assert_eq!((*access, *bytes, beyond), (Access::Read, 4, 0));
    assert_eq!((nearest.start, nearest.len), (y.address(), 400));
    // What ran before stands: the first wave has written its part.
    assert_eq!(y.read::<f32>()?[..64], [5.0; 64]);
    Ok(())
}
