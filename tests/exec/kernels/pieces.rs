//! An aligned element of two or four dwords is one access: a thread of the host stores or loads the same elements
//! while a kernel runs, and none sees a mixture. (A host without AVX promises this of two dwords only.)

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lower::jit::HostLevel;
use runtime::engine::{self, Emitter, Engine, EngineKind, EngineOptions};
use runtime::jit::{JitEngine, JitOptions, Tier};
use wavelift::{Arg, Device, DeviceOptions, Gfx, Launch, Module};

use super::{LONG, object_bytes};

/// Bytes that the elements of a kernel's lanes reach over at most.
const BYTES: u64 = 64 * 64;

/// Kernels by how the addresses of their lanes lie; those that only load follow.
const PLACES: [&str; 7] = ["same", "line", "apart", "back", "table", "some", "index"];
const OVERLAPPING: [&str; 5] = ["dwords", "halves", "threes", "fives", "sixes"];

/// The engines: the interpreter, and all that the translator has to move data with. With how many times a kernel
/// goes over its element.
fn engines() -> Vec<(String, u32, Box<dyn Engine + Send>)> {
    let interpreter = engine::create(EngineKind::Interp, &EngineOptions::default());
    let interpreter = interpreter.expect("the engine is part of this build");
    let mut all = vec![("interpreter".to_owned(), 300, interpreter)];
    let mut hosts = vec![
        (HostLevel::Native, Emitter::Cranelift),
        (HostLevel::Sse41, Emitter::Cranelift),
        (HostLevel::Native, Emitter::Wide),
    ];
    if lower::host::has_avx512() {
        hosts.push((HostLevel::Avx2, Emitter::Wide));
    }
    for (host, emitter) in hosts {
        for tier in [Tier::Baseline, Tier::Optimizing] {
            let options = JitOptions {
                host,
                emitter,
                tier,
                ..JitOptions::default()
            };
            let Ok(engine) = JitEngine::new(options) else {
                continue;
            };
            all.push((
                format!("{host:?}, {emitter:?}, {tier:?}"),
                3000,
                Box::new(engine),
            ));
        }
    }
    all
}

/// Does the host have 16 bytes in one access?
pub(super) fn has_sixteen() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

fn check(gfx: Gfx) {
    let index: Vec<u32> = (0..64).map(|lane| lane * 37 % 64).collect();
    for (name, times, engine) in engines() {
        let options = DeviceOptions {
            reserve: 1 << 28,
            timeout: Some(LONG),
            threads: 1,
            ..DeviceOptions::default()
        };
        let device = Device::with_engine(options, engine).expect("there is memory");
        let module = Module::load(&device, &object_bytes("pieces", gfx)).expect("it loads");
        let cells = device.buffer(&vec![0u8; BYTES as usize]).unwrap();
        let index = device.buffer(&index).unwrap();
        let bad = device.buffer(&[0u32; 64]).unwrap();
        let both = PLACES
            .iter()
            .flat_map(|place| [("load", *place), ("store", *place)]);
        let loads = OVERLAPPING.iter().map(|place| ("load", *place));
        for (way, place) in both.chain(loads) {
            for bytes in [8, 16] {
                if bytes == 16 && !has_sixteen() {
                    continue;
                }
                let kernel = format!("{way}_{place}_{}", if bytes == 8 { "pair" } else { "four" });
                let args = [
                    Arg::Pointer(cells.address()),
                    Arg::Pointer(index.address()),
                    Arg::Pointer(bad.address()),
                    Arg::from(times),
                ];
                device.memory().fill(cells.address(), 0, BYTES).unwrap();
                let torn = with_other(&device, (cells.address(), bytes), way == "store", || {
                    let kernel = module.kernel(&kernel).expect("it is there");
                    let launch = Launch::new(64, 64);
                    device
                        .launch(&kernel, &launch, &args)
                        .expect("nothing is wrong");
                });
                let found: u32 = bad.read::<u32>().unwrap().iter().sum();
                assert_eq!((torn, found), (0, 0), "{kernel} of {gfx}, {name}");
            }
        }
    }
}

/// Runs `kernel` while another thread loads all elements of so many bytes, or stores them; gives how many it found torn.
fn with_other(device: &Device, (at, bytes): (u64, u64), loads: bool, kernel: impl FnOnce()) -> u64 {
    let memory = device.memory();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let (mut torn, mut n) = (0, 0u32);
            while !done.load(Relaxed) {
                n = n.wrapping_add(1);
                for at in (at..at + BYTES).step_by(bytes as usize) {
                    if !loads {
                        match bytes {
                            8 => memory.store::<8>(at, equal(n)),
                            _ => memory.store::<16>(at, equal(n)),
                        }
                        .unwrap();
                        continue;
                    }
                    torn += u64::from(match bytes {
                        8 => !is_equal(memory.load::<8>(at).unwrap()),
                        _ => !is_equal(memory.load::<16>(at).unwrap()),
                    });
                }
            }
            torn
        });
        kernel();
        done.store(true, Relaxed);
        other.join().expect("it does not panic")
    })
}

/// A dword again and again.
fn equal<const N: usize>(word: u32) -> [u8; N] {
    std::array::from_fn(|n| word.to_le_bytes()[n % 4])
}

fn is_equal<const N: usize>(bytes: [u8; N]) -> bool {
    (4..N).all(|n| bytes[n] == bytes[n - 4])
}

/// By MUBUF with a 64-bit address for each lane.
#[test]
fn buffer_elements_are_not_torn() {
    check(Gfx::Gfx600);
}

#[test]
fn global_elements_are_not_torn() {
    check(Gfx::Gfx900);
}

#[test]
fn flat_elements_are_not_torn() {
    check(Gfx::Gfx700);
}
