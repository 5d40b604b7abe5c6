//! Overruns as the library reports them.

use wavelift::{
    Arg, Buffer, Device, DeviceOptions, EngineKind, Error, FaultKind, Kernel, Launch, Module,
    Settings,
};

/// A device with buffers and a kernel.
struct World {
    device: Device,
    kernel: Kernel,
    y: Buffer,
    x: Buffer,
}

impl World {
    /// 12 elements of y before 4096 of x.
    fn new(engine: EngineKind) -> World {
        let options = DeviceOptions {
            engine,
            ..DeviceOptions::default()
        };
        let device = Device::with_options(options).unwrap();
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/examples/saxpy/saxpy.gfx900.co"
        );
        let module = Module::load(&device, &std::fs::read(path).unwrap()).unwrap();
        World {
            kernel: module.kernel("saxpy").unwrap(),
            y: device.buffer(&[1f32; 12]).unwrap(),
            x: device.buffer(&[2f32; 4096]).unwrap(),
            device,
        }
    }

    fn launch(&self, n: u32, settings: &Settings<'_>) -> Result<(), Error> {
        let args = [
            Arg::from(&self.y),
            Arg::from(&self.x),
            Arg::from(3f32),
            Arg::from(n),
        ];
        let launch = Launch::new(4096, 256);
        self.device
            .launch_with(&self.kernel, &launch, &args, settings)
            .map(drop)
    }
}

fn overrun(error: &Error) -> (u64, u64, u64) {
    let fault = error.fault().expect("the guest did wrong");
    let FaultKind::Overrun(overrun) = fault.kind else {
        panic!("{fault}");
    };
    assert!(fault.to_string().ends_with("try --memcheck"), "{fault}");
    (overrun.start, overrun.len, overrun.past)
}

#[test]
fn an_overrun_is_reported_once_and_changes_no_other_buffer() {
    for engine in [EngineKind::Interp, EngineKind::Jit] {
        let world = World::new(engine);
        let settings = world.device.settings();
        let error = world.launch(4096, &settings).unwrap_err();
        assert_eq!(overrun(&error), (world.y.address(), 48, 0));
        assert_eq!(world.x.read::<f32>().unwrap(), [2f32; 4096]);
        assert_eq!(world.y.read::<f32>().unwrap(), [7f32; 12]);
        world.launch(12, &settings).unwrap();
        assert_eq!(world.y.read::<f32>().unwrap(), [13f32; 12]);
    }
}

#[test]
fn launches_need_not_look_for_overruns() {
    let world = World::new(EngineKind::Interp);
    let settings = world.device.settings();
    let quiet = Settings {
        find_overruns: false,
        ..settings.clone()
    };
    world.launch(4096, &quiet).unwrap();
    world.launch(13, &quiet).unwrap();
    // It answers for the others as well.
    let error = world.launch(12, &settings).unwrap_err();
    assert_eq!(overrun(&error).0, world.y.address());
    world.launch(12, &settings).unwrap();
}

#[test]
fn a_buffer_that_is_gone_is_not_named() {
    let mut world = World::new(EngineKind::Interp);
    let settings = world.device.settings();
    let quiet = Settings {
        find_overruns: false,
        ..settings.clone()
    };
    world.launch(4096, &quiet).unwrap();
    world.y = world.device.buffer(&[1f32; 100]).unwrap();
    world.launch(100, &settings).unwrap();
    assert_eq!(world.y.read::<f32>().unwrap(), [7f32; 100]);
}
