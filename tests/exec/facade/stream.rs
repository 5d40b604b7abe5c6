use std::time::Duration;

use wavelift::{
    Arg, Buffer, CancelToken, Device, Error, Event, FaultKind, Launch, LaunchError, Settings,
    Stream,
};

use super::{devices, faulty, saxpy};

/// Queues `y = a * x + y` of 256 elements.
fn add(stream: &Stream, y: &Buffer, x: &Buffer, a: f32) -> Event {
    let args = [y.into(), x.into(), a.into(), 256u32.into()];
    let kernel = saxpy(stream.device());
    stream
        .launch(&kernel, &Launch::new(256, 64), &args)
        .unwrap()
}

/// Queues a kernel of `tests/kernels/faults`, which the token cancels.
fn odd(stream: &Stream, name: &str, buffer: &Buffer, token: &CancelToken) -> Event {
    let device = stream.device();
    let settings = Settings {
        threads: 1,
        cancel: Some(token.clone()),
        ..device.settings()
    };
    let args = [buffer.into(), 0u64.into()];
    stream
        .launch_with(
            &faulty(device, name),
            &Launch::new(64, 64),
            &args,
            &settings,
        )
        .unwrap()
}

fn buffers(device: &Device) -> (Buffer, Buffer) {
    let x = device.buffer(&[1f32; 256]).unwrap();
    (x, device.alloc(1024).unwrap())
}

#[test]
fn launches_of_a_stream_run_in_order() {
    for device in devices() {
        let stream = device.stream().unwrap();
        let (x, y) = buffers(&device);
        let first = add(&stream, &y, &x, 1.0);
        // Each takes what the one before has left.
        let mut last = first.clone();
        for _ in 0..10 {
            last = add(&stream, &y, &y, 1.0);
        }
        let stats = last.wait().unwrap();
        assert_eq!((stats.workgroups, stats.waves), (4, 4));
        assert!(first.is_done() && last.is_done());
        assert_eq!(last.wait().unwrap(), stats, "it is kept");
        assert_eq!(y.read::<f32>().unwrap(), [1024.0; 256]);
        stream.synchronize().unwrap();
        let nothing = stream.record().unwrap().wait().unwrap();
        assert_eq!(nothing.workgroups, 0);
    }
}

#[test]
fn streams_overlap_and_wait_for_one_another() {
    for device in devices() {
        let [one, two, three] = [(); 3].map(|()| device.stream().unwrap());
        let (x, y) = buffers(&device);
        let token = CancelToken::new();
        let endless = odd(&one, "endless", &y, &token);
        // This would not end if streams were served one after the other.
        add(&two, &y, &x, 2.0).wait().unwrap();
        assert_eq!(y.read::<f32>().unwrap(), [2.0; 256]);
        assert!(!endless.is_done());
        assert!(endless.wait_timeout(Duration::from_millis(10)).is_none());
        assert!(endless.wait_timeout(Duration::ZERO).is_none());

        let second = add(&two, &y, &x, 3.0);
        three.wait_for(&second).unwrap();
        add(&three, &y, &y, 1.0);
        three.synchronize().unwrap();
        assert!(second.is_done());
        assert_eq!(y.read::<f32>().unwrap(), [10.0; 256]);

        // A stream that waits for a launch that fails has failed.
        two.wait_for(&endless).unwrap();
        let after = add(&two, &y, &x, 1.0);
        std::thread::sleep(Duration::from_millis(20));
        assert!(!after.is_done());
        token.cancel();
        assert!(matches!(endless.wait(), Err(Error::Cancelled { .. })));
        let error = after.wait().unwrap_err();
        assert_eq!(
            error.to_string(),
            "not run, since an earlier launch failed: kernel endless was cancelled"
        );
        assert!(matches!(two.synchronize(), Err(Error::Cancelled { .. })));
        three.synchronize().expect("it waited for no such launch");
    }
}

#[test]
fn a_stream_stops_at_a_fault() {
    for device in devices() {
        let [stream, other] = [(); 2].map(|()| device.stream().unwrap());
        let (x, y) = buffers(&device);
        let token = CancelToken::new();
        let before = add(&stream, &y, &x, 4.0);
        let fault = odd(&stream, "null_load", &y, &token);
        let later = [add(&stream, &y, &x, 1.0), add(&stream, &y, &x, 1.0)];
        other.wait_for(&later[1]).unwrap();
        let elsewhere = add(&other, &y, &x, 1.0);

        before.wait().expect("it ended before the fault");
        for _ in 0..2 {
            let error = fault.wait().unwrap_err();
            assert!(matches!(error, Error::Fault(_)), "{error}");
            let fault = error.fault().unwrap();
            assert_eq!(fault.kernel, "null_load");
            assert!(matches!(fault.kind, FaultKind::Memory { address: 8, .. }));
        }
        for event in later.iter().chain([&elsewhere]) {
            let Err(Error::NotRun(first)) = event.wait() else {
                panic!("it must not run");
            };
            assert!(matches!(*first, Error::Fault(_)), "{first}");
            let timed = event.wait_timeout(Duration::ZERO).unwrap();
            assert_eq!(timed.unwrap_err().fault(), first.fault());
        }
        assert!(matches!(stream.synchronize(), Err(Error::Fault(_))));
        assert!(matches!(other.synchronize(), Err(Error::NotRun(_))));
        assert!(
            matches!(stream.synchronize(), Err(Error::Fault(_))),
            "for good"
        );
        assert_eq!(y.read::<f32>().unwrap(), [4.0; 256]);
        let fresh = device.stream().unwrap();
        add(&fresh, &y, &x, 1.0).wait().unwrap();
        assert_eq!(y.read::<f32>().unwrap(), [5.0; 256]);
    }
}

#[test]
fn what_does_not_suit_is_refused_at_once() {
    for device in devices() {
        let stream = device.stream().unwrap();
        let (x, y) = buffers(&device);
        let kernel = saxpy(&device);
        let launch = |launch: Launch, args: &[Arg]| stream.launch(&kernel, &launch, args);
        let args = [(&y).into(), (&x).into(), 1f32.into(), 256u32.into()];
        let count = launch(Launch::new(256, 64), &args[..3]);
        assert!(matches!(
            count,
            Err(Error::Launch(LaunchError::Argument(_)))
        ));
        let empty = launch(Launch::new(0, 64), &args);
        assert!(matches!(
            empty,
            Err(Error::Launch(LaunchError::EmptyGrid { .. }))
        ));
        let lds = launch(Launch::new(64, 64).dynamic_lds(1 << 20), &args);
        assert!(matches!(
            lds,
            Err(Error::Launch(LaunchError::LdsTooLarge { .. }))
        ));
        let [other, _] = devices();
        let foreign = stream.launch(&saxpy(&other), &Launch::new(64, 64), &args);
        assert!(matches!(foreign, Err(Error::OtherDevice(_))));
        stream.synchronize().expect("a refusal is no failure");
        assert_eq!(y.read::<f32>().unwrap(), [0.0; 256], "nothing has run");
    }
}

#[test]
fn a_launch_keeps_what_it_uses() {
    for device in devices() {
        let stream = device.stream().unwrap();
        let (x, y) = buffers(&device);
        let (at, token) = (x.address(), CancelToken::new());
        let endless = odd(&stream, "endless", &y, &token);
        let out = device.register(vec![0f32; 256]);
        let args = [(&out).into(), (&x).into(), 5f32.into(), 256u32.into()];
        let kernel = saxpy(&device);
        let base = kernel.module().code().base();
        let live = |address| device.memory().allocation(address).is_some();
        let queued = stream
            .launch(&kernel, &Launch::new(256, 64), &args)
            .unwrap();
        let other = device.stream().unwrap();
        let same = other.launch(&kernel, &Launch::new(256, 64), &args).unwrap();
        same.wait().unwrap();
        drop((args, x, kernel));
        assert!(live(at) && live(base), "the queued launch uses them");
        token.cancel();
        assert!(endless.wait().is_err());
        assert!(matches!(queued.wait(), Err(Error::NotRun(_))));
        assert!(!live(at) && !live(base), "nobody uses them");
        assert_eq!(out.into_vec().unwrap(), [5.0; 256]);
    }
}

#[test]
fn a_dropped_stream_ends_its_work() {
    for device in devices() {
        let (x, y) = buffers(&device);
        let events: Vec<Event> = (0..20)
            .map(|n| {
                let stream = device.stream().unwrap();
                add(&stream, &y, &x, 1.0);
                match n % 2 {
                    0 => add(&stream.clone(), &y, &x, 1.0),
                    _ => stream.record().unwrap(),
                }
            })
            .collect();
        for event in &events {
            event.wait().unwrap();
        }
        let sum = y.read::<f32>().unwrap()[0];
        // They raced.
        assert!((1.0..=30.0).contains(&sum), "{sum}");
    }
}

/// An engine with a bug.
struct Panics;

impl wavelift::Engine for Panics {
    fn run(
        &self,
        _: &mut wavelift::WaveState,
        _: &mut wavelift::engine::Group<'_>,
        _: &mut u64,
    ) -> wavelift::engine::Exit {
        panic!("on purpose: an engine with a bug")
    }
}

#[test]
fn nobody_waits_forever_for_a_thread_that_panicked() {
    let options = wavelift::DeviceOptions {
        threads: 1,
        ..wavelift::DeviceOptions::default()
    };
    let device = Device::with_engine(options, Box::new(Panics)).unwrap();
    let stream = device.stream().unwrap();
    let (x, y) = buffers(&device);
    let mut own = device.register(vec![1u8]);
    let first = add(&stream, &y, &x, 1.0);
    let record = stream.record().and_then(|event| event.wait());
    assert!(matches!(record, Err(Error::StreamEnded)));
    assert!(matches!(first.wait(), Err(Error::StreamEnded)));
    let end = stream.synchronize();
    assert!(matches!(end, Err(Error::StreamEnded)));
    assert_eq!(own.map().unwrap()[..], [1], "the launch no longer counts");
}

#[test]
fn devices_streams_and_events_go_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Device>();
    shared::<Stream>();
    shared::<Event>();
    shared::<Buffer>();
    shared::<Arg>();
    shared::<wavelift::HostBuffer<f32>>();
    shared::<wavelift::HostRange>();
    shared::<Error>();
    let [device, _] = devices();
    let (x, y) = buffers(&device);
    let stream = device.stream().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| add(&stream, &y, &x, 1.0).wait().unwrap());
        }
    });
    assert_eq!(y.read::<f32>().unwrap(), [4.0; 256]);
}
