use std::time::{Duration, Instant};

use wavelift::{Arg, CancelToken, Device, Error, Kernel, Launch, Settings, Stats};

use super::{devices, faulty, saxpy};

/// Far more than a cancelled launch takes, far less than an endless one.
const SOON: Duration = Duration::from_secs(20);

/// Runs a kernel that a thread cancels meanwhile.
fn cancelled(device: &Device, kernel: &Kernel, launch: Launch, args: &[Arg]) -> Error {
    let token = CancelToken::new();
    let settings = Settings {
        cancel: Some(token.clone()),
        ..device.settings()
    };
    let result: Result<Stats, Error> = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(30));
            token.cancel();
        });
        let begin = Instant::now();
        let result = device.launch_with(kernel, &launch, args, &settings);
        assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
        result
    });
    assert!(token.is_cancelled());
    result.expect_err("it has no end of its own")
}

#[test]
fn an_endless_kernel_is_cancelled() {
    for device in devices() {
        let buffer = device.alloc(1024).unwrap();
        let args = [(&buffer).into(), 0u64.into()];
        let kernel = faulty(&device, "endless");
        let error = cancelled(&device, &kernel, Launch::new(256, 64), &args);
        assert!(
            matches!(&error, Error::Cancelled { kernel } if kernel == "endless"),
            "{error}"
        );
        assert_eq!(error.to_string(), "kernel endless was cancelled");
        // The device goes on.
        let fine = faulty(&device, "fine");
        device.launch(&fine, &Launch::new(64, 64), &args).unwrap();
        assert_eq!(buffer.read::<u32>().unwrap()[63], 63);
    }
}

#[test]
fn many_short_workgroups_are_cancelled() {
    for device in devices() {
        let data = device.alloc(4).unwrap();
        let args = [(&data).into(), (&data).into(), 1.0f32.into(), 0u32.into()];
        // More workgroups than run in minutes.
        let error = cancelled(&device, &saxpy(&device), Launch::new(u32::MAX, 1), &args);
        assert!(matches!(error, Error::Cancelled { .. }), "{error}");
    }
}

#[test]
fn a_cancelled_token_refuses_and_a_late_one_changes_nothing() {
    for device in devices() {
        let (x, y) = (
            device.buffer(&[1f32; 64]).unwrap(),
            device.alloc(256).unwrap(),
        );
        let args = [(&y).into(), (&x).into(), 3f32.into(), 64u32.into()];
        let token = CancelToken::new();
        let settings = Settings {
            cancel: Some(token.clone()),
            ..device.settings()
        };
        let kernel = saxpy(&device);
        let run = || device.launch_with(&kernel, &Launch::new(64, 64), &args, &settings);
        run().unwrap();
        token.cancel();
        assert!(matches!(run(), Err(Error::Cancelled { .. })));
        assert_eq!(y.read::<f32>().unwrap(), [3.0; 64], "it ran once");
    }
}
