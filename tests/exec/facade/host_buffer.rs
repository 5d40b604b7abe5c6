use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use wavelift::{Arg, CancelToken, Device, Error, FaultKind, HostBuffer, Launch, Settings};

use super::{devices, faulty, saxpy};

/// `y = 2 * x + y` of whole vectors.
fn double(device: &Device, y: impl Into<Arg>, x: impl Into<Arg>, n: usize) -> Result<(), Error> {
    let n = u32::try_from(n).unwrap();
    let args = [y.into(), x.into(), 2.0f32.into(), n.into()];
    let launch = Launch::new(n.next_multiple_of(64), 64);
    device.launch(&saxpy(device), &launch, &args).map(drop)
}

#[test]
fn kernels_access_a_vector_in_place() {
    for device in devices() {
        let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let y = vec![1.0f32; 1000];
        let place = y.as_ptr();
        let (x, mut y) = (device.register(x), device.register(y));
        assert_eq!(y.address(), place.addr() as u64);
        double(&device, &y, &x, 1000).unwrap();
        let expected: Vec<f32> = (0..1000).map(|i| 2.0 * i as f32 + 1.0).collect();
        assert_eq!(y.read().unwrap(), expected);
        assert_eq!(y.map().unwrap()[..], expected);
        // The part from element 500 on.
        double(&device, y.at(2000).unwrap(), &x, 500).unwrap();
        let got = y.into_vec().unwrap();
        assert_eq!(got.as_ptr(), place, "nothing was copied");
        assert_eq!(got[..500], expected[..500]);
        assert_eq!(got[501], expected[501] + 2.0);
    }
}

#[test]
fn the_host_changes_it_between_launches() {
    for device in devices() {
        let mut x = device.register(vec![0.0f32; 64]);
        let y = device.register(vec![0.0f32; 64]);
        x.map().unwrap().fill(3.0);
        double(&device, &y, &x, 64).unwrap();
        x.write(&[5.0; 10]).unwrap();
        double(&device, &y, &x, 64).unwrap();
        let y = y.into_vec().unwrap();
        assert_eq!((&y[..10], &y[10..]), (&[16.0; 10][..], &[12.0; 54][..]));
        let error = x.write(&[0.0; 65]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "260 bytes at offset 0 are outside a buffer of 256 bytes"
        );
        assert!(matches!(
            x.at(257),
            Err(Error::PastBuffer {
                offset: 257,
                len: 256
            })
        ));
    }
}

/// Kernel and error of an access to memory that is not theirs.
fn reads(device: &Device, address: u64) -> Result<(), Error> {
    let out = device.alloc(1024).unwrap();
    let args = [(&out).into(), address.into()];
    let launch = Launch::new(64, 64);
    device.launch(&faulty(device, "wild_load"), &launch, &args)?;
    Ok(())
}

#[test]
fn only_registered_memory_is_accessible() {
    for device in devices() {
        let mut own = device.register(vec![1u32, 2, 3]);
        let (arg, address) = (Arg::from(&own), own.address());
        reads(&device, address).expect("an address is as good as an argument");
        let error = reads(&device, address + 12).unwrap_err();
        assert!(matches!(
            error.fault().unwrap().kind,
            FaultKind::Memory { bytes: 4, .. }
        ));

        let refused = |arg: &Arg| {
            let args = [arg.clone(), 0u64.into()];
            let error = device
                .launch(&faulty(&device, "fine"), &Launch::new(64, 64), &args)
                .unwrap_err();
            assert!(
                matches!(&error, Error::NotRegistered { kernel, index: 0 } if kernel == "fine"),
                "{error}"
            );
        };
        let mapped = own.map().unwrap();
        refused(&arg);
        assert!(reads(&device, address).is_err());
        drop(mapped);
        reads(&device, address).expect("it is registered again");

        std::mem::forget(own.map().unwrap());
        refused(&arg);
        let own = own.into_vec().unwrap();
        refused(&arg);
        assert!(reads(&device, address).is_err());
        assert_eq!(own, [1, 2, 3]);

        let [other, _] = devices();
        let foreign = other.register(vec![0u32; 64]);
        let error = double(&device, &foreign, &foreign, 64).unwrap_err();
        assert!(
            matches!(error, Error::OtherDeviceArg { index: 0, .. }),
            "{error}"
        );
    }
}

#[test]
fn vectors_without_bytes_are_vectors() {
    let [device, _] = devices();
    let mut empty = device.register(Vec::<u32>::new());
    assert!(empty.is_empty() && empty.read().unwrap().is_empty());
    assert!(empty.map().unwrap().is_empty());
    let (units, other) = (device.register(vec![(); 7]), device.register(vec![(); 2]));
    assert_eq!((units.len(), other.read().unwrap().len()), (7, 2));
    assert_eq!(units.into_vec().unwrap().len(), 7);
    assert!(empty.into_vec().unwrap().is_empty());
}

/// Starts a launch of a kernel without an end.
fn endless(device: &Device, buffer: impl Into<Arg>) -> (wavelift::Event, CancelToken) {
    let token = CancelToken::new();
    let settings = Settings {
        threads: 1,
        cancel: Some(token.clone()),
        ..device.settings()
    };
    let (stream, kernel) = (device.stream().unwrap(), faulty(device, "endless"));
    let args = [buffer.into(), 0u64.into()];
    let event = stream.launch_with(&kernel, &Launch::new(64, 64), &args, &settings);
    (event.unwrap(), token)
}

/// Calls `take` on another thread while a launch runs: it waits for its end.
fn waits<T: Send>(
    (event, token): (wavelift::Event, CancelToken),
    take: impl FnOnce() -> T + Send,
) -> T {
    let cancelled = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let taker = scope.spawn(|| {
            let taken = take();
            assert!(cancelled.load(SeqCst), "it was given back too early");
            taken
        });
        std::thread::sleep(Duration::from_millis(50));
        assert!(!event.is_done());
        cancelled.store(true, SeqCst);
        token.cancel();
        taker.join().expect("the taker does not panic")
    })
}

#[test]
fn memory_is_given_back_after_the_launches_that_may_use_it() {
    for device in devices() {
        let own = device.register(vec![7u32; 256]);
        let launch = endless(&device, &own);
        assert_eq!(waits(launch, || own.into_vec().unwrap()), [7; 256]);
        // A kernel may know the address although it is no argument.
        let mut own = device.register(vec![8u32; 256]);
        let launch = endless(&device, Arg::Pointer(own.address()));
        assert_eq!(waits(launch, || own.map().unwrap().to_vec()), [8; 256]);
        let launch = endless(&device, Arg::Pointer(0));
        // SAFETY: the bytes are not used until the end of the registration.
        #[expect(unsafe_code, reason = "memory of the caller is registered")]
        let mut range = unsafe {
            let bytes: &'static mut [u8; 64] = Box::leak(Box::new([0; 64]));
            device.register_raw(bytes.as_mut_ptr(), 64)
        };
        waits(launch, || range.unregister().unwrap());
        range.unregister().expect("there is nothing left to do");
        let arg = Arg::from(&range);
        assert!(matches!(
            double(&device, arg.clone(), arg, 4),
            Err(Error::NotRegistered { .. })
        ));
    }
}

#[test]
fn a_range_is_read_and_written_while_it_is_registered() {
    let [device, _] = devices();
    // SAFETY: the bytes are not used until the end of the registration.
    #[expect(unsafe_code, reason = "memory of the caller is registered")]
    let mut range = unsafe {
        let bytes: &'static mut [u8; 8] = Box::leak(Box::new([1; 8]));
        device.register_raw(bytes.as_mut_ptr(), 8)
    };
    range.write_bytes(6, &[7, 8]).unwrap();
    let mut three = [0; 3];
    range.read_bytes(5, &mut three).unwrap();
    assert_eq!(three, [1, 7, 8]);
    for offset in [6, u64::MAX] {
        let outside = range.read_bytes(offset, &mut three);
        assert!(matches!(outside, Err(Error::OutsideBuffer { len: 8, .. })));
        let outside = range.write_bytes(offset, &three);
        assert!(matches!(outside, Err(Error::OutsideBuffer { len: 8, .. })));
    }
    range.unregister().unwrap();
    assert!(matches!(
        range.read_bytes(0, &mut three),
        Err(Error::Memory(_))
    ));
    assert!(matches!(
        range.write_bytes(0, &three),
        Err(Error::Memory(_))
    ));
}

#[test]
fn memory_that_is_dropped_lives_as_long_as_it_is_used() {
    for device in devices() {
        let own = device.register(vec![9u32; 256]);
        let address = own.address();
        let (event, token) = endless(&device, &own);
        drop(own);
        reads(&device, address).expect("the launch has it as an argument");
        // One that is no argument is no longer registered, though it is freed after the launch.
        let own = device.register(vec![9u32; 256]);
        let address = own.address();
        drop(own);
        assert!(reads(&device, address).is_err());
        token.cancel();
        assert!(matches!(event.wait(), Err(Error::Cancelled { .. })));
    }
}

/// Is a page of the process there?
#[cfg(target_os = "linux")]
fn is_mapped(address: u64) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().any(|line| {
        let range = line
            .split(' ')
            .next()
            .and_then(|range| range.split_once('-'));
        let (start, end) = range.expect("a line begins with a range");
        let number = |text| u64::from_str_radix(text, 16).unwrap();
        (number(start)..number(end)).contains(&address)
    })
}

#[test]
#[cfg(target_os = "linux")]
fn dropped_memory_is_freed_after_the_launches_that_may_know_it() {
    let [device, _] = devices();
    let freed = (0..20).any(|_| {
        // So large that the allocator maps it separately.
        let own = device.register(vec![0u64; 8 << 20]);
        let middle = own.address() + (32 << 20);
        let (event, token) = endless(&device, Arg::Pointer(0));
        drop(own);
        assert!(is_mapped(middle), "a launch may access it");
        token.cancel();
        assert!(event.wait().is_err());
        // Unless another test has got the place already.
        !is_mapped(middle)
    });
    assert!(freed);
}

#[test]
fn a_thread_does_not_wait_for_its_own_guard() {
    let [device, _] = devices();
    let mut own = device.register(vec![1u16, 2]);
    let memory = device.memory();
    assert!(matches!(own.map(), Err(Error::MemoryGuarded)));
    let mut error = own.into_vec().unwrap_err();
    assert!(error.to_string().starts_with("this thread has a guard"));
    assert_eq!(memory.load_u16(error.buffer.address()).unwrap(), 1);
    drop(memory);
    error.buffer.map().unwrap()[0] = 5;
    assert_eq!(error.buffer.into_vec().unwrap(), [5, 2]);
}

#[test]
fn threads_launch_while_memory_comes_and_goes() {
    for device in devices() {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let y = device.alloc(256).unwrap();
                while !stop.load(SeqCst) {
                    double(&device, &y, &y, 64).unwrap();
                }
            });
            for n in 0..200 {
                let own: HostBuffer<f32> = device.register(vec![n as f32; 64]);
                double(&device, &own, &own, 64).unwrap();
                match n % 2 {
                    0 => drop(own),
                    _ => assert_eq!(own.into_vec().unwrap(), [3.0 * n as f32; 64]),
                }
            }
            stop.store(true, SeqCst);
        });
    }
}
