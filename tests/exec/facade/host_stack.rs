//! Callers with small stacks.

use wavelift::{Arg, Device, DeviceOptions, EngineKind, Launch, Module};

/// Stack of the calling thread.
const BYTES: usize = 128 << 10;

/// Loads and launches the example; the digest of 64 zero bytes.
fn digest(options: DeviceOptions) -> String {
    let device = Device::with_options(options).unwrap();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/sha256/sha256.gfx906.co"
    );
    let module = Module::load(&device, &std::fs::read(path).unwrap()).unwrap();
    let kernel = module.kernel("sha256_fixed").unwrap();
    let out = device.alloc(32 * 256).unwrap();
    let data = device.alloc(64 * 256).unwrap();
    let numbers = [64u32, 64, 256].map(Arg::from);
    let args = [&[Arg::from(&out), Arg::from(&data)][..], &numbers].concat();
    device
        .launch(&kernel, &Launch::new(256, 64), &args)
        .unwrap();
    let digests = out.read::<u8>().unwrap();
    let (first, others) = digests.split_at(32);
    assert!(others.chunks(32).all(|other| other == first));
    first.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_thread_with_a_small_stack_can_load_and_launch() {
    for engine in [EngineKind::Interp, EngineKind::Jit] {
        for (threads, memcheck) in [(1, false), (2, false), (1, true)] {
            let options = DeviceOptions {
                engine,
                threads,
                memcheck,
                ..DeviceOptions::default()
            };
            let thread = std::thread::Builder::new().stack_size(BYTES);
            let thread = thread.spawn(move || digest(options)).unwrap();
            assert_eq!(
                thread.join().unwrap(),
                "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"
            );
        }
    }
}
