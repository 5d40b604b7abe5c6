//! Memory that kernels may only read, and code objects with data that they change.

use wavelift::{
    Arg, Device, DeviceOptions, EngineKind, FaultKind, Launch, Module, Protected, ProtectedKind,
};

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

fn module(engine: EngineKind, memcheck: bool, name: &str) -> (Device, Module) {
    let options = DeviceOptions {
        engine,
        memcheck,
        ..DeviceOptions::default()
    };
    let device = Device::with_options(options).unwrap();
    let path = format!(
        "{}/tests/kernels/faults/{name}.gfx900.co",
        env!("CARGO_MANIFEST_DIR")
    );
    let module = Module::load(&device, &std::fs::read(path).unwrap()).unwrap();
    (device, module)
}

/// Launches one wave; gives what it tried to write.
fn protected(device: &Device, module: &Module, kernel: &str) -> (u64, Protected) {
    let kernel = module.kernel(kernel).unwrap();
    let args = [Arg::from(7u64)];
    let result = device.launch(&kernel, &Launch::new(64, 64), &args);
    let error = result.expect_err("it may only read that");
    let fault = error.fault().expect("the guest did wrong");
    match &fault.kind {
        FaultKind::ReadOnly {
            address, protected, ..
        } => (*address, protected.clone().expect("something is there")),
        _ => panic!("{fault}"),
    }
}

#[test]
fn faults_tell_what_would_have_been_written() {
    for engine in ENGINES {
        for memcheck in [false, true] {
            let (device, module) = module(engine, memcheck, "read_only");
            let (address, found) = protected(&device, &module, "write_arguments");
            assert_eq!(found.kind, ProtectedKind::Arguments);
            assert_eq!((found.len, found.place), (16, None));
            assert_eq!(address, found.start + 4);
            let (address, found) = protected(&device, &module, "write_code");
            let code = module.code();
            assert_eq!(found.kind, ProtectedKind::Code);
            assert_eq!((found.start, found.len), (code.base(), code.image_len()));
            assert_eq!(found.place, Some(code.place(address)));
            let mut now = [1; 4];
            let memory = device.memory();
            memory.read_bytes(address, &mut now).unwrap();
            assert_eq!(now, [0; 4]);
        }
    }
}

#[test]
fn variables_of_a_code_object_may_be_written() {
    for engine in ENGINES {
        for memcheck in [false, true] {
            let (device, module) = module(engine, memcheck, "read_write");
            let kernel = module.kernel("count").unwrap();
            let args = [Arg::Bytes(vec![0; 8])];
            for _ in 0..2 {
                device
                    .launch(&kernel, &Launch::new(256, 64), &args)
                    .unwrap();
            }
            let (address, bytes) = module.global("counter").unwrap();
            let memory = device.memory();
            assert_eq!(bytes, 4);
            assert_eq!(memory.load_u32(address), Ok(1000 + 2 * 256));
            // The distances between segments are fixed, so its code is writable, too.
            let code = module.code();
            assert!(code.base() >= memory.arena_base() + memory.read_only());
        }
    }
}
