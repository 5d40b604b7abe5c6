use wavelift::bytemuck::{self, NoUninit, Pod, Zeroable};
use wavelift::half::f16;
use wavelift::{Arg, ArgError, Error, Launch, LaunchError};

use super::{devices, kernel, saxpy};

/// `triple` of `tests/kernels/objects/args.cl`.
#[derive(Clone, Copy, NoUninit)]
#[bytemuck(crate = "wavelift::bytemuck")]
#[repr(C)]
struct Triple {
    a: i32,
    b: i32,
    c: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[bytemuck(crate = "wavelift::bytemuck")]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    id: u32,
}

fn bytes(arg: impl Into<Arg>) -> Vec<u8> {
    match arg.into() {
        Arg::Bytes(bytes) => bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_become_their_bytes() {
    assert_eq!(bytes(0x1234u16), [0x34, 0x12]);
    assert_eq!((bytes(-2i8), bytes(7u8)), (vec![0xfe], vec![7]));
    assert_eq!((bytes(true), bytes(false)), (vec![1], vec![0]));
    assert_eq!(bytes(-3i16), (-3i16).to_le_bytes());
    assert_eq!(bytes(5u32), bytes(5i32));
    assert_eq!(bytes(u64::MAX - 1), (u64::MAX - 1).to_le_bytes());
    assert_eq!(bytes(-1i64), [0xff; 8]);
    assert_eq!(bytes(1u128 << 64), (1u128 << 64).to_le_bytes());
    assert_eq!(bytes(f16::from_f32(1.5)), [0, 0x3e]);
    assert_eq!(bytes(1.5f32), 1.5f32.to_le_bytes());
    assert_eq!(bytes(-0.1f64), (-0.1f64).to_le_bytes());
    assert_eq!(bytes([1u8, 2, 3]), [1, 2, 3]);
    assert_eq!(bytes([[f16::ONE; 2]; 2]), [0, 0x3c].repeat(4));
    assert_eq!(bytes(Arg::slice(&[1u16, 2, 3])), [1, 0, 2, 0, 3, 0]);
    assert!(bytes(Arg::slice::<u32>(&[])).is_empty());
    let triple = Triple {
        a: 1,
        b: -1,
        c: 0.0,
    };
    assert_eq!(bytes(triple), [1, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0]);
}

#[test]
fn a_kernel_gets_arguments_of_all_kinds() {
    const N: u32 = 128;
    for device in devices() {
        let kernel = kernel(&device, "tests/kernels/objects/args.v6.gfx900.co", "args");
        let input: Vec<f32> = (0..N).map(|i| i as f32).collect();
        let data = device.buffer(&input).unwrap();
        let table = device.buffer(&[100u32, 200, 300]).unwrap();
        let out = device.alloc(u64::from(N) * 4).unwrap();
        let triple = Triple {
            a: 7,
            b: 2,
            c: 0.25,
        };
        let args = [
            (&out).into(),
            (&data).into(),
            // The table from its second element on.
            table.at(4).unwrap(),
            2.0f32.into(),
            1u8.into(),
            triple.into(),
            Arg::Local(4 * 64),
            Arg::Local(8 * 64),
        ];
        device.launch(&kernel, &Launch::new(N, 64), &args).unwrap();
        let expected: Vec<f32> = (0..N)
            .map(|i| {
                let opposite = i / 64 * 64 + 63 - i % 64;
                input[opposite as usize] * 2.0 + 0.25 + (300 + 7 - 2) as f32 + 2.0
            })
            .collect();
        assert_eq!(out.read::<f32>().unwrap(), expected);
    }
}

#[test]
fn a_kernel_gets_halves() {
    for device in devices() {
        let kernel = kernel(&device, "examples/half2/half2.gfx900.co", "half_cubic");
        let x = device.buffer(&[f16::from_f32(2.0); 4]).unwrap();
        let y = device.alloc(8).unwrap();
        let [c0, c1, c2, c3] = [1.0, 0.5, 0.25, 2.0].map(f16::from_f32);
        let args = [
            (&y).into(),
            (&x).into(),
            c0.into(),
            c1.into(),
            c2.into(),
            c3.into(),
            1u32.into(),
        ];
        device
            .launch(&kernel, &Launch::new(128, 128), &args)
            .unwrap();
        assert_eq!(y.read::<f16>().unwrap(), [f16::from_f32(19.0); 4]);
    }
}

#[test]
fn buffers_hold_structures() {
    let [device, _] = devices();
    let points: Vec<Point> = (0..5)
        .map(|id| Point {
            x: 0.5,
            y: -(id as f32),
            id,
        })
        .collect();
    let buffer = device.buffer(&points).unwrap();
    assert_eq!(buffer.len(), 60);
    assert_eq!(buffer.read::<Point>().unwrap(), points);
    assert_eq!(buffer.read::<[u32; 3]>().unwrap()[4][2], 4);
    let other = Point {
        x: 9.0,
        y: 9.0,
        id: 9,
    };
    buffer.write_at(24, &[other]).unwrap();
    assert_eq!(buffer.read_at::<Point>(12, 2).unwrap(), [points[1], other]);
    assert!(buffer.read_at::<Point>(12, 5).is_err());
    assert!(buffer.read_at::<Point>(0, usize::MAX).is_err());
    assert!(buffer.write_at(56, &[0u64]).is_err());
    assert!(buffer.read::<()>().unwrap().is_empty());
}

#[test]
fn a_pointer_stays_inside_its_buffer() {
    let [device, _] = devices();
    let buffer = device.alloc(100).unwrap();
    let address = |arg| match arg {
        Arg::Within(within) => within.address() - buffer.address(),
        other => panic!("{other:?}"),
    };
    assert_eq!(address((&buffer).into()), 0);
    assert_eq!(address(buffer.at(4).unwrap()), 4);
    assert_eq!(address(buffer.at(100).unwrap()), 100);
    for offset in [101, u64::MAX] {
        let error = buffer.at(offset).unwrap_err();
        assert!(
            matches!(error, Error::PastBuffer { offset: of, len: 100 } if of == offset),
            "{error}"
        );
    }
}

#[test]
fn an_argument_keeps_its_buffer() {
    let [device, _] = devices();
    let buffer = device.alloc(64).unwrap();
    let address = buffer.address();
    let args = [Arg::from(&buffer), buffer.at(64).unwrap()];
    let clone = buffer.clone();
    let live = || device.memory().allocation(address).is_some();
    drop((buffer, clone));
    assert!(live());
    let [first, second] = args;
    drop(first);
    assert!(live());
    drop(second);
    assert!(!live());
}

#[test]
fn what_does_not_suit_a_parameter_is_refused() {
    let [device, other] = devices();
    let kernel = saxpy(&device);
    let launch = Launch::new(64, 64);
    let (x, y) = (device.alloc(256).unwrap(), device.alloc(256).unwrap());
    let foreign = other.alloc(256).unwrap();
    let error = |args: [Arg; 4]| device.launch(&kernel, &launch, &args).unwrap_err();
    let wide = error([(&y).into(), (&x).into(), 2.0f64.into(), 64u32.into()]);
    assert!(
        matches!(
            wide,
            Error::Launch(LaunchError::Argument(ArgError::Size {
                index: 2,
                expected: 4,
                given: 8,
                ..
            }))
        ),
        "{wide}"
    );
    let number = error([y.address().into(), (&x).into(), 2.0f32.into(), 64u32.into()]);
    assert!(
        matches!(
            number,
            Error::Launch(LaunchError::Argument(ArgError::Kind { index: 0, .. }))
        ),
        "{number}"
    );
    let foreign = error([(&y).into(), (&foreign).into(), 2.0f32.into(), 64u32.into()]);
    assert_eq!(
        foreign.to_string(),
        "kernel saxpy, argument 1: the buffer belongs to another device"
    );
}

#[test]
fn a_segment_is_taken_as_it_stands() {
    for device in devices() {
        let kernel = saxpy(&device);
        let (x, y) = (device.buffer(&[1.0f32; 64]), device.buffer(&[0.5f32; 64]));
        let (x, y) = (x.unwrap(), y.unwrap());
        let mut segment = [0u32; 70];
        let words = |address: u64| [address as u32, (address >> 32) as u32];
        segment[0..2].copy_from_slice(&words(y.address()));
        segment[2..4].copy_from_slice(&words(x.address()));
        segment[4..6].copy_from_slice(&[3.0f32.to_bits(), 60]);
        // Hidden arguments: one workgroup of 64 by 1 by 1 work-items.
        segment[6..11].copy_from_slice(&[1, 1, 1, 64 | 1 << 16, 1]);
        let segment = Arg::Segment(bytemuck::cast_slice(&segment).to_vec());
        let launch = Launch::new(64, 64);
        device
            .launch(&kernel, &launch, std::slice::from_ref(&segment))
            .unwrap();
        let values = y.read::<f32>().unwrap();
        assert_eq!(
            (&values[..60], &values[60..]),
            (&[3.5; 60][..], &[0.5; 4][..])
        );

        let short = device.launch(&kernel, &launch, &[Arg::Segment(vec![0; 8])]);
        assert!(matches!(
            short,
            Err(Error::Launch(LaunchError::KernargTooSmall { given: 8, .. }))
        ));
        let more = device.launch(&kernel, &launch, &[segment, 1u32.into()]);
        let error = more.unwrap_err();
        assert_eq!(
            error.to_string(),
            "kernel saxpy: a kernarg segment must be the only argument"
        );
    }
}
