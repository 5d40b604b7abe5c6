use frontend::WaveState;
use runtime::{Engine, Exit, Group};
use wavelift::{Arg, Device, DeviceOptions, Error, Launch, Module};

/// An engine whose waves end at once.
struct Ends;

impl Engine for Ends {
    fn run(&self, _: &mut WaveState, _: &mut Group<'_>, _: &mut u64) -> Exit {
        Exit::End
    }
}

fn device() -> Device {
    let options = DeviceOptions {
        reserve: 64 << 20,
        ..DeviceOptions::default()
    };
    Device::with_engine(options, Box::new(Ends)).unwrap()
}

fn saxpy(device: &Device) -> Module {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/saxpy/saxpy.gfx900.co"
    );
    Module::load(device, &std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn buffers_keep_typed_elements() {
    let device = device();
    let data: Vec<f64> = (0..100_000).map(f64::from).collect();
    let buffer = device.buffer(&data).unwrap();
    assert_eq!(buffer.len(), 800_000);
    assert_eq!(buffer.read::<f64>().unwrap(), data);
    let halves = [half::f16::from_f32(1.5), half::f16::from_f32(-2.0)];
    let buffer = device.buffer(&halves).unwrap();
    assert_eq!(buffer.read::<u16>().unwrap(), [0x3e00, 0xc000]);
    let empty = device.buffer::<u32>(&[]).unwrap();
    assert!(empty.is_empty());
    assert!(empty.read::<u32>().unwrap().is_empty());
    let odd = device.alloc(7).unwrap();
    odd.write(&[1u32]).unwrap();
    assert_eq!(odd.read::<u32>().unwrap(), [1]);
}

#[test]
fn accesses_outside_a_buffer_are_refused() {
    let device = device();
    let buffer = device.alloc(8).unwrap();
    let _behind = device.alloc(4096).unwrap();
    let error = buffer.write(&[1u32, 2, 3]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "12 bytes at offset 0 are outside a buffer of 8 bytes"
    );
    assert!(buffer.write_bytes(u64::MAX, &[1]).is_err());
    assert!(buffer.read_bytes(5, &mut [0; 4]).is_err());
}

#[test]
fn buffers_and_modules_free_their_memory() {
    let device = device();
    let address = device.alloc(64).unwrap().address();
    assert_eq!(device.alloc(64).unwrap().address(), address);
    let kernel = saxpy(&device).kernel("saxpy").unwrap();
    let base = kernel.module().code().base();
    assert!(
        device.memory().allocation(base).is_some(),
        "the kernel keeps its module"
    );
    drop(kernel);
    assert_eq!(device.memory().allocation(base), None);
}

#[test]
fn a_launch_runs_and_counts() {
    let device = device();
    let kernel = saxpy(&device).kernel("saxpy").unwrap();
    assert_eq!(kernel.info().unwrap().explicit_args().count(), 4);
    let x = device.buffer(&[0f32; 300]).unwrap();
    let args = [
        Arg::from(&x),
        Arg::from(&x),
        Arg::from(1f32),
        Arg::from(300u32),
    ];
    let stats = device
        .launch(&kernel, &Launch::new(300, 256), &args)
        .unwrap();
    assert_eq!((stats.workgroups, stats.waves), (2, 5));
}

#[test]
fn what_does_not_suit_is_refused_by_name() {
    let device = device();
    let module = saxpy(&device);
    let error = module.kernel("saxpi").unwrap_err().to_string();
    assert!(
        error.contains("saxpi") && error.contains("saxpy"),
        "{error}"
    );
    let kernel = module.kernel("saxpy").unwrap();
    let launch = Launch::new(256, 256);
    let error = device
        .launch(&kernel, &launch, &[])
        .unwrap_err()
        .to_string();
    assert_eq!(error, "kernel `saxpy` takes 4 arguments, but 0 are given");
    let error = device
        .launch(&kernel, &Launch::new(0, 64), &[])
        .unwrap_err();
    assert!(matches!(error, Error::Launch(_)), "{error}");
    let other = self::device().launch(&kernel, &launch, &[]).unwrap_err();
    assert_eq!(
        other.to_string(),
        "kernel saxpy was loaded for another device"
    );
    let error = Module::load(&device, b"not a code object").unwrap_err();
    assert!(matches!(error, Error::Load(_)), "{error}");
}
