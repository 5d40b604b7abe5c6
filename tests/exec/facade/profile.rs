use runtime::jit::profile::{Joined, Profile};
use wavelift::{Arg, Device, DeviceOptions, EngineKind, EngineOptions, Launch, Module, Profiling};

const N: u32 = 1000;

/// What a device of its own finds out about saxpy.
fn profile(profiling: Profiling) -> Profile {
    let device = Device::with_options(DeviceOptions {
        engine: EngineKind::Jit,
        engine_options: EngineOptions {
            profile: Some(profiling),
            ..EngineOptions::default()
        },
        reserve: 64 << 20,
        ..DeviceOptions::default()
    })
    .unwrap();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/saxpy/saxpy.gfx900.co"
    );
    let module = Module::load(&device, &std::fs::read(path).unwrap()).unwrap();
    let x = device.buffer(&vec![1.0f32; N as usize]).unwrap();
    let y = device.buffer(&vec![2.0f32; N as usize]).unwrap();
    let args = [
        Arg::from(&y),
        Arg::from(&x),
        Arg::from(3.0f32),
        Arg::from(N),
    ];
    let kernel = module.kernel("saxpy").unwrap();
    let launch = Launch::new(N.next_multiple_of(256), 256);
    device.launch(&kernel, &launch, &args).unwrap();
    assert_eq!(y.read::<f32>().unwrap(), vec![5.0; N as usize]);
    device.take_profile().unwrap()
}

/// What ran in both runs has times of the one and counts of the other; what ran in one of them claims no more than
/// that knows.
#[test]
fn a_region_is_put_together_from_the_runs_that_it_ran_in() {
    let [timed, counted] = [Profiling::Times, Profiling::Counts].map(profile);
    let ([timed], [counted]) = (&timed.regions[..], &counted.regions[..]) else {
        panic!("saxpy is one region");
    };
    let executions = |joined: &Joined<'_>| -> u64 {
        let blocks = joined.blocks();
        blocks.iter().map(|block| block.executions()).sum()
    };
    // Else nothing below would tell whose code is shown; which is larger depends on where registers are spilled.
    assert_ne!(timed.host_bytes(), counted.host_bytes());

    let both = Joined::new(Some(timed), Some(counted)).unwrap();
    assert!(matches!(both, Joined::Both { .. }));
    assert_eq!(both.seconds(), timed.seconds());
    assert_eq!(both.code().host_bytes(), timed.host_bytes());
    assert!(executions(&both) >= 16);

    let only = Joined::new(Some(timed), None).unwrap();
    assert!(matches!(only, Joined::Timed(_)));
    assert_eq!(only.seconds(), timed.seconds());
    assert_eq!(only.code().entered(), 16);
    assert!(only.blocks().is_empty());

    let only = Joined::new(None, Some(counted)).unwrap();
    assert!(matches!(only, Joined::Counted(_)));
    assert_eq!((only.seconds(), only.code().entered()), (0.0, 16));
    assert_eq!(executions(&only), executions(&both));

    assert!(Joined::new(None, None).is_none());
}
