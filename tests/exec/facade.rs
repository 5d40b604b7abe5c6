//! The library: devices, buffers, arguments and streams, manifests and arrays.

mod arg;
mod array;
mod cancel;
mod compare;
mod debug;
mod device;
mod diff;
mod examples;
mod host_buffer;
mod host_stack;
mod manifest;
mod names;
mod npy;
mod overruns;
mod profile;
mod random;
mod read_only;
mod source;
mod stream;

use wavelift::{Device, DeviceOptions, EngineKind, Kernel, Module};

/// A device with each engine.
fn devices() -> [Device; 2] {
    [EngineKind::Interp, EngineKind::Jit].map(|engine| {
        let options = DeviceOptions {
            engine,
            reserve: 64 << 20,
            ..DeviceOptions::default()
        };
        Device::with_options(options).expect("the engine is part of this build")
    })
}

/// A kernel of a code object, which is named from the project's folder.
fn kernel(device: &Device, path: &str, name: &str) -> Kernel {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let module = Module::load(device, &bytes).expect("it loads");
    module.kernel(name).expect("it is there")
}

/// A kernel of `examples/saxpy`: `y = a * x + y`.
fn saxpy(device: &Device) -> Kernel {
    kernel(device, "examples/saxpy/saxpy.gfx900.co", "saxpy")
}

/// A kernel of `tests/kernels/faults`. It takes a pointer and a number of 8 bytes.
fn faulty(device: &Device, name: &str) -> Kernel {
    kernel(device, "tests/kernels/faults/faults.gfx900.co", name)
}
