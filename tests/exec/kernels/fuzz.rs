//! Arbitrary bytes as instructions, as kernel descriptors and as code objects: whatever they are, the
//! host goes on, and both engines say the same.
//!
//! Under `cargo test` this is a bounded run. As a fuzzer it is run by
//! `FUZZ=forever cargo test --release --test exec -- --test-threads 3 --nocapture kernels::fuzz`: new seeds until something fails,
//! which prints its seed. `FUZZ=10` is ten times the rounds of a plain run, `SEED=` begins elsewhere, and
//! with `TRACE=1` every program is printed before it runs.

use std::time::Duration;

use frontend::desc::InstDesc;
use frontend::{Op, decode, isa};
use harness::random::Random;
use harness::words::{self, As};
use runtime::dispatch::{Arguments, Dispatcher, KernelCode, Launch, RunError, Settings, Shape};
use runtime::memory::{Memory, Options};
use runtime::object::{ArgKind, KernelDescriptor};
use runtime::{FaultKind, LoadedCode};
use wavelift::{Arg, DeviceOptions, Gfx, Module};

use super::{ENGINES, Rig, TARGETS, object_bytes};

/// Longest time for a kernel: most that do not end at once never do.
const LIMIT: Duration = Duration::from_millis(20);

/// The seeds of a run: from `SEED` on, `rounds` times `FUZZ`. Without an end they begin anywhere.
fn seeds(what: &'static str, rounds: u64) -> impl Iterator<Item = u64> {
    let seed = std::env::var("SEED").ok().map(|text| {
        text.parse()
            .unwrap_or_else(|_| panic!("SEED={text} is no number"))
    });
    let (first, rounds) = match std::env::var("FUZZ").ok().as_deref() {
        None => (1, rounds),
        Some("forever") => {
            let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
            (now.as_secs() << 20 & u64::from(u32::MAX), u64::MAX)
        }
        Some(text) => match text.parse::<u64>() {
            Ok(times) => (1, rounds.saturating_mul(times)),
            Err(_) => panic!("FUZZ={text} is neither a number nor forever"),
        },
    };
    let (first, forever) = (seed.unwrap_or(first), rounds == u64::MAX);
    (0..rounds).map(move |n| {
        if forever && n % 256 == 0 {
            println!("{what}: {n} seeds, the next is {}", first + n);
        }
        first + n
    })
}

/// Guest memory small enough to be made anew for every program.
const RESERVE: u64 = 64 << 20;

/// A program's end: `None` when it is a matter of time.
type End = Option<Result<(), String>>;

/// One program on one engine, in memory of its own.
struct Bare {
    memory: Memory,
    data: u64,
}

/// Bytes that programs find at the address in their kernarg segment.
const DATA: usize = 1 << 16;

impl Bare {
    /// In checked mode when `exact`.
    fn new(exact: bool) -> Bare {
        let options = Options {
            reserve: RESERVE,
            exact,
            ..Options::default()
        };
        let memory = Memory::with_options(options).unwrap();
        let data = memory.alloc(DATA as u64, 4096).unwrap();
        Bare { memory, data }
    }

    fn run(
        &self,
        engine: &dyn runtime::Engine,
        gfx: Gfx,
        bytes: &[u8],
        seed: u64,
    ) -> (End, Vec<u8>) {
        let mut random = Random::new(seed ^ 0x55);
        let mut data: Vec<u8> = (0..DATA).map(|_| random.next() as u8).collect();
        self.memory.write_bytes(self.data, &data).unwrap();
        let code = LoadedCode::from_bytes(&self.memory, gfx, bytes).unwrap();
        let descriptor = KernelDescriptor {
            group_segment_fixed_size: 4096,
            private_segment_fixed_size: 64,
            kernarg_size: 64,
            // IEEE, DX10_CLAMP, denormals; all work-item ids; the buffer and the segment.
            rsrc1: 1 << 23 | 1 << 21 | 15 << 16 | 63,
            rsrc2: 1 | 12 << 1 | 7 << 7 | 2 << 11,
            properties: 0b1011,
            ..KernelDescriptor::default()
        };
        let kernel = KernelCode {
            name: "fuzz".to_owned(),
            address: code.base(),
            descriptor,
            entry: code.base(),
            ..KernelCode::default()
        };
        let segment: Vec<u8> = (0..8)
            .flat_map(|k| (self.data + 4096 * k).to_le_bytes())
            .collect();
        let launch = Launch {
            shape: Shape::new([192, 1, 1], [128, 1, 1], 1).unwrap(),
            global_offset: [0; 3],
            dynamic_lds: 0,
            arguments: Arguments::Segment(&segment),
        };
        let settings = Settings {
            threads: 1,
            timeout: Some(LIMIT),
            ..Settings::default()
        };
        let result =
            Dispatcher::new().run(engine, &self.memory, &code, &kernel, &launch, &settings);
        let end = match result {
            Ok(_) => Some(Ok(())),
            Err(RunError::Fault(fault)) => match fault.kind {
                FaultKind::Timeout { .. } => None,
                _ => Some(Err(fault.to_string())),
            },
            Err(error) => panic!("{error}"),
        };
        self.memory.read_bytes(self.data, &mut data).unwrap();
        code.unload(&self.memory).unwrap();
        (end, data)
    }
}

/// Rows that a target has.
fn rows(gfx: Gfx) -> Vec<&'static InstDesc> {
    isa::all()
        .filter(|desc| desc.opcodes.get(gfx).is_some())
        .collect()
}

/// A word of program control: branches near and far, jumps, barriers, ends.
fn control(random: &mut Random) -> u32 {
    let near = random.below(24).wrapping_sub(8) & 0xffff;
    let simm = if random.once_in(12) {
        random.below(1 << 16)
    } else {
        near
    };
    match random.below(8) {
        0..=3 => 0xbf82_0000 | random.below(8) << 16 | simm,
        4 => 0xbf8a_0000,
        5 => 0xbf81_0000,
        6 => 0xbf80_0000 | random.below(32) << 16 | simm,
        // SOP1 with any opcode, low registers.
        _ => 0xbe80_0000 | random.below(40) << 16 | random.below(64) << 8 | random.below(106),
    }
}

/// A program; most of it is instructions.
fn program(random: &mut Random, gfx: Gfx, rows: &[&'static InstDesc]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..4 + random.below(24) {
        match random.below(10) {
            0 => bytes.extend((random.next() as u32).to_le_bytes()),
            1 | 2 => bytes.extend(control(random).to_le_bytes()),
            _ => {
                let form = *random.pick(&[As::Native, As::Native, As::Vop3, As::Sdwa, As::Dpp]);
                let row = random.pick(rows);
                bytes.extend(words::random(random, gfx, row, form).unwrap_or_default());
            }
        }
        // Bits that are not as they should be.
        if random.once_in(20) && !bytes.is_empty() {
            let at = random.below(bytes.len() as u32) as usize;
            bytes[at] ^= 1 << random.below(8);
        }
    }
    if bytes.is_empty() || !random.once_in(4) {
        bytes.extend(0xbf81_0000u32.to_le_bytes());
    }
    bytes
}

/// Does a program read a clock or something else that is not the same each time?
fn looks_at_time(gfx: Gfx, bytes: &[u8]) -> bool {
    (0..bytes.len()).step_by(4).any(|at| {
        decode(gfx, &bytes[at..]).is_ok_and(|inst| {
            matches!(
                inst.op(),
                Op::MemTime | Op::MemRealtime | Op::GetReg | Op::GetPc
            )
        })
    })
}

/// Most failures that are shown before the run ends.
const MOST: usize = 20;

#[test]
fn arbitrary_instructions() {
    // Of a program that never ends this tells which.
    let trace = std::env::var_os("TRACE").is_some();
    let (mut ended, mut ran, mut failures) = (0, 0, 0);
    let rows = TARGETS.map(|gfx| (gfx, rows(gfx)));
    let forever = std::env::var("FUZZ").is_ok_and(|text| text == "forever");
    for seed in seeds("instructions", 120) {
        for (gfx, rows) in &rows {
            let gfx = *gfx;
            let mut random = Random::new(seed << 16 | gfx as u64);
            let bytes = program(&mut random, gfx, rows);
            if trace {
                eprintln!("seed {seed} on {gfx}: {}", listing(gfx, &bytes));
            }
            // A panic of the host is a failure too, and the other seeds are tried nevertheless.
            let wrong = match std::panic::catch_unwind(|| compare(gfx, &bytes, seed)) {
                Ok(Ok(both_ended)) => {
                    ended += u64::from(both_ended);
                    None
                }
                Ok(Err(message)) => Some(message),
                Err(_) => Some("the host panicked".to_owned()),
            };
            ran += 1;
            if let Some(message) = wrong {
                failures += 1;
                eprintln!("seed {seed} on {gfx}: {message}{}\n", listing(gfx, &bytes));
            }
        }
        if failures >= MOST || forever && failures > 0 {
            break;
        }
    }
    println!("{ended} of {ran} programs ended on all engines");
    assert!(failures == 0, "{failures} programs failed");
    assert!(ended * 5 > ran, "only {ended} of {ran} programs ended");
}

/// Runs a program on all engines: did it end, or what is different.
fn compare(gfx: Gfx, bytes: &[u8], seed: u64) -> Result<bool, String> {
    let bare = Bare::new(seed.is_multiple_of(3));
    // The back ends alternate.
    let jit = ENGINES[1 + usize::from(seed.is_multiple_of(2))];
    let runs = [ENGINES[0], jit].into_iter().map(|(kind, emitter)| {
        let engine_options = runtime::engine::EngineOptions {
            exact_nan: true,
            emitter,
            ..runtime::engine::EngineOptions::default()
        };
        let engine = runtime::engine::create(kind, &engine_options).expect("it is in this build");
        bare.run(&*engine, gfx, bytes, seed)
    });
    let runs: Vec<_> = runs.collect();
    if runs.iter().any(|(end, _)| end.is_none()) || looks_at_time(gfx, bytes) {
        return Ok(false);
    }
    let (first, data) = &runs[0];
    for (end, other) in &runs[1..] {
        if end != first {
            return Err(format!("the engines say {first:?} and {end:?}"));
        }
        // After a fault lanes before the faulting one may have acted or not.
        if *first == Some(Ok(())) && data != other {
            return Err("memory differs".to_owned());
        }
    }
    Ok(true)
}

/// A program as text.
fn listing(gfx: Gfx, bytes: &[u8]) -> String {
    let (mut at, mut text) = (0, String::new());
    while at < bytes.len() {
        let (line, len) = match decode(gfx, &bytes[at..]) {
            Ok(inst) => (inst.text(gfx), usize::from(inst.len)),
            Err(_) => (format!("{:02x?}", &bytes[at..(at + 4).min(bytes.len())]), 4),
        };
        text += &format!("\n  {at:04x} {line}");
        at += len;
    }
    text
}

/// A device for files that may be anything.
fn rig() -> Rig {
    Rig::with(DeviceOptions {
        reserve: RESERVE,
        timeout: Some(LIMIT),
        threads: 1,
        ..DeviceOptions::default()
    })
}

/// Loads a file and launches whatever kernels it has. How often something ran.
fn try_everything(rig: &Rig, file: &[u8]) -> u32 {
    let Ok(module) = Module::load(&rig.device, file) else {
        return 0;
    };
    let data = rig.buffer(&[0u32; 4096]);
    let names: Vec<_> = module.kernels().map(str::to_owned).collect();
    let mut ran = 0;
    for name in names.iter().take(12) {
        let Ok(kernel) = module.kernel(name) else {
            continue;
        };
        let args: Vec<Arg> = match kernel.info() {
            Some(info) => info
                .explicit_args()
                .map(|arg| match arg.kind {
                    ArgKind::ByValue => Arg::Bytes(vec![1; (arg.size as usize).min(1 << 16)]),
                    ArgKind::DynamicSharedPointer => Arg::Local(64),
                    _ => Arg::Pointer(data.address()),
                })
                .collect(),
            None => {
                let address = data.address().to_le_bytes();
                vec![Arg::Bytes(address.repeat(4))]
            }
        };
        let launch = wavelift::Launch::new(64, 64);
        rig.each(&[1], |rig| {
            // Errors and faults are what is expected here.
            ran += u32::from(rig.try_launch(&module, name, launch, &args).is_ok());
        });
    }
    ran
}

#[test]
fn arbitrary_descriptors() {
    let files = TARGETS.map(|gfx| {
        let file = object_bytes("hostile", gfx);
        let object = runtime::object::CodeObject::parse(&file).unwrap();
        let address = object.kernel("fine").unwrap().descriptor_address;
        let descriptor = object.file_bytes(address, 64).unwrap().to_vec();
        let place = file.windows(64).position(|window| window == descriptor);
        (gfx, place.unwrap(), file)
    });
    let trace = std::env::var_os("TRACE").is_some();
    for seed in seeds("descriptors", 30) {
        for &(gfx, place, ref file) in &files {
            if trace {
                eprintln!("seed {seed}, a descriptor of {gfx}");
            }
            let mut random = Random::new(seed << 8 | gfx as u64);
            let mut file = file.clone();
            for (at, byte) in file[place..place + 64].iter_mut().enumerate() {
                // The sizes and the entry are left alone most of the time.
                let sizes = at < 24;
                if random.once_in(if sizes { 24 } else { 3 }) {
                    *byte = random.next() as u8;
                }
            }
            let rig = rig();
            let Ok(module) = Module::load(&rig.device, &file) else {
                continue;
            };
            let data = rig.buffer(&[0u32; 256]);
            let mut segment = vec![0; 8];
            segment.extend(data.address().to_le_bytes());
            segment.resize(64, 64);
            let launch = wavelift::Launch::new(100, 64);
            let mut first: Option<String> = None;
            rig.each(&[1], |rig| {
                let args = [Arg::Bytes(segment.clone())];
                let said = match rig.try_launch(&module, "fine", launch, &args) {
                    Ok(_) => "it ran".to_owned(),
                    Err(error) => error.to_string(),
                };
                let first = first.get_or_insert_with(|| said.clone());
                assert_eq!(*first, said, "seed {seed} on {gfx}");
            });
        }
    }
}

/// A file with some bytes changed, or the end cut off.
fn damaged(random: &mut Random, file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..1 + random.below(12) {
        // Headers and notes more often than code.
        let end = if random.once_in(2) {
            4096
        } else {
            file.len() as u32
        };
        let at = random.below(end.min(file.len() as u32)) as usize;
        file[at] = match random.below(4) {
            0 => 0,
            1 => 0xff,
            2 => file[at] ^ 1 << random.below(8),
            _ => random.next() as u8,
        };
    }
    if random.once_in(8) {
        file.truncate(random.below(file.len() as u32) as usize);
    }
    file
}

#[test]
fn arbitrary_code_objects() {
    let trace = std::env::var_os("TRACE").is_some();
    let mut ran = 0;
    let names = ["ids", "hostile", "order"];
    let files = TARGETS.map(|gfx| names.map(|name| (gfx, name, object_bytes(name, gfx))));
    for seed in seeds("code objects", 25) {
        for (gfx, name, file) in files.iter().flatten() {
            if trace {
                eprintln!("seed {seed}, {name} of {gfx}");
            }
            let mut random = Random::new(seed << 12 | (*gfx as u64) << 4 | name.len() as u64);
            let file = damaged(&mut random, file);
            match std::panic::catch_unwind(|| try_everything(&rig(), &file)) {
                Ok(n) => ran += n,
                Err(_) => panic!("seed {seed}, {name} of {gfx}: the host panicked"),
            }
        }
    }
    assert!(ran > 0, "no kernel survived its mutations");
}
