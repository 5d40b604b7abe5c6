//! Guests that do wrong: typed faults, the same on both engines, and nothing else is touched.

use std::time::Duration;

use runtime::engine::{PRIVATE_BASE, SHARED_BASE};
use runtime::memory::Purpose;
use runtime::{Access, FaultKind};
use wavelift::{Arg, Buffer, DeviceOptions, Error, Gfx, Launch, Module, Protected, ProtectedKind};

use super::{Rig, TARGETS, object_bytes};

/// Longest time for a kernel that does not end.
const LIMIT: Duration = Duration::from_millis(60);

/// What buffers hold before.
const BEFORE: u32 = 0x5eed_5eed;

/// What kernels store through the address.
const VALUE: u32 = 0x0bad_cafe;

/// What kernels store to `out` in the end.
const MARK: u32 = 9;

/// A loaded `hostile.s`, and the fault that the other engines and numbers of threads must repeat.
struct Host<'a> {
    rig: &'a Rig,
    module: Module,
    gfx: Gfx,
    out: Buffer,
    guard: Buffer,
}

/// How a launch must end.
#[derive(Clone, Debug, PartialEq)]
enum End {
    /// All lanes stored the mark.
    Marked,
    /// Nothing was stored.
    Silent,
    /// A fault of this kind and lane.
    Fault(FaultKind, Option<u32>),
    /// A write of this kind and lane to this read-only memory.
    Refused(FaultKind, u32, Protected),
    /// A fault whose kind has this name.
    Named(&'static str),
}

fn memory(access: Access, address: u64, bytes: u32) -> FaultKind {
    FaultKind::Memory {
        access,
        address,
        bytes,
        nearest: None,
    }
}

fn refused(access: Access, address: u64, bytes: u32) -> FaultKind {
    FaultKind::ReadOnly {
        access,
        address,
        bytes,
        protected: None,
    }
}

/// Without the nearest allocation, which depends on where the host put things.
fn bare(kind: &FaultKind) -> FaultKind {
    match *kind {
        FaultKind::Memory {
            access,
            address,
            bytes,
            ..
        } => memory(access, address, bytes),
        FaultKind::ReadOnly {
            access,
            address,
            bytes,
            ..
        } => refused(access, address, bytes),
        ref other => other.clone(),
    }
}

impl Host<'_> {
    fn fill(&self) {
        self.out.write(&[BEFORE; 256]).unwrap();
        self.guard.write(&[BEFORE; 256]).unwrap();
    }

    /// Runs `kernel` with `lane` at `address` on every engine.
    fn check(&self, kernel: &str, address: u64, lane: u32, end: &End) {
        self.check_group(kernel, address, lane, 64, end);
    }

    fn check_group(&self, kernel: &str, address: u64, lane: u32, group: u32, end: &End) {
        let mut first = None;
        self.rig.each(&[1, 2], |rig| {
            self.fill();
            let mut segment = address.to_le_bytes().to_vec();
            segment.extend(self.out.address().to_le_bytes());
            segment.extend(lane.to_le_bytes());
            segment.extend(VALUE.to_le_bytes());
            let args = [Arg::Bytes(segment)];
            let launch = Launch::new(group, group);
            let result = rig.try_launch(&self.module, kernel, launch, &args);
            let at = format!("{} at {address:#x}", rig.at(&self.module, kernel));
            let out: Vec<u32> = self.out.read().unwrap();
            let guard: Vec<u32> = self.guard.read().unwrap();
            assert!(
                guard.iter().all(|&word| word == BEFORE),
                "{at}: the guard has changed"
            );
            let stores = [
                MARK,
                VALUE,
                BEFORE.wrapping_add(VALUE),
                BEFORE & !0xffff | VALUE & 0xffff,
            ];
            assert!(
                out.iter()
                    .all(|word| *word == BEFORE || stores.contains(word)),
                "{at}: {out:x?}"
            );
            let marked = out
                .iter()
                .enumerate()
                .all(|(i, &word)| word == if i % 4 == 0 { MARK } else { BEFORE });
            match (&result, end) {
                (Ok(_), End::Marked) => assert!(marked, "{at}: {out:x?}"),
                (Ok(_), End::Silent) => assert_eq!(out, [BEFORE; 256], "{at}"),
                (Err(Error::Fault(fault)), End::Fault(kind, lane)) => {
                    assert_eq!(bare(&fault.kind), *kind, "{at}");
                    assert_eq!(fault.lane, *lane, "{at}");
                    assert_eq!(fault.kernel, kernel, "{at}");
                    assert_eq!((fault.workgroup, fault.wave), ([0; 3], 0), "{at}");
                }
                (Err(Error::Fault(fault)), End::Refused(kind, lane, what)) => {
                    assert_eq!(bare(&fault.kind), *kind, "{at}");
                    assert_eq!(fault.lane, Some(*lane), "{at}");
                    let FaultKind::ReadOnly { protected, .. } = &fault.kind else {
                        panic!("{at}: {fault}");
                    };
                    assert_eq!(protected.as_ref(), Some(what), "{at}");
                }
                (Err(Error::Fault(fault)), End::Named(name)) => {
                    assert_eq!(fault.kind.name(), *name, "{at}: {fault}");
                }
                _ => panic!("{at}: {result:?}, not {end:?}"),
            }
            if let Err(Error::Fault(fault)) = result {
                assert_eq!(**first.get_or_insert_with(|| fault.clone()), *fault, "{at}");
            }
        });
    }

    /// Address of a kernel's code.
    fn entry(&self, kernel: &str) -> u64 {
        self.module.kernel(kernel).unwrap().code().entry
    }
}

fn on_hosts(check: impl Fn(&Host<'_>)) {
    for gfx in TARGETS {
        let rig = Rig::with(DeviceOptions {
            reserve: 1 << 30,
            timeout: Some(LIMIT),
            ..DeviceOptions::default()
        });
        let module = Module::load(&rig.device, &object_bytes("hostile", gfx)).unwrap();
        let guard = rig.buffer(&[BEFORE; 256]);
        let out = rig.buffer(&[BEFORE; 256]);
        check(&Host {
            rig: &rig,
            module,
            gfx,
            out,
            guard,
        });
    }
}

/// Kernels that access memory: kind, bytes of one lane's access.
const ACCESSES: [(&str, Access, u32); 9] = [
    ("load1", Access::Read, 1),
    ("load4", Access::Read, 4),
    ("load16", Access::Read, 16),
    ("store2", Access::Write, 2),
    ("store4", Access::Write, 4),
    ("store16", Access::Write, 16),
    ("atomic4", Access::Atomic, 4),
    ("atomic8", Access::Atomic, 8),
    ("atomic_cas", Access::Atomic, 4),
];

#[test]
fn writes_to_arguments() {
    on_hosts(|host| {
        let arguments = {
            let memory = host.rig.device.memory();
            // Where packet, queue and arguments of every dispatch are put.
            let packet = memory.alloc_for(Purpose::Structure, 320, 256).unwrap();
            let arguments = memory.alloc_for(Purpose::Arguments, 32, 256).unwrap();
            memory.free(arguments).unwrap();
            memory.free(packet).unwrap();
            arguments
        };
        for (kernel, access, bytes) in ACCESSES {
            for address in [arguments, arguments + 16] {
                for lane in [0, 17, 63] {
                    let protected = Protected {
                        kind: ProtectedKind::Arguments,
                        start: arguments,
                        len: 32,
                        place: None,
                    };
                    let end = match access {
                        Access::Read => End::Silent,
                        _ => End::Refused(refused(access, address, bytes), lane, protected),
                    };
                    host.check(kernel, address, lane, &end);
                }
            }
        }
    });
}

#[test]
fn accesses_outside_memory() {
    on_hosts(|host| {
        let memory_of = host.rig.device.memory();
        let (base, len) = (memory_of.arena_base(), memory_of.arena_len());
        let wild = [
            0,
            0x1000,
            base - 16,
            base + len,
            base + len + (1 << 40),
            0x7fff_ffff_0000,
            0xdead_beef_0000_0000,
            0u64.wrapping_sub(16),
        ];
        for (kernel, access, bytes) in ACCESSES {
            for address in wild {
                for lane in [0, 17, 63] {
                    // gfx6 has addresses of 48 bits.
                    let shown = match host.gfx {
                        Gfx::Gfx600 => address & 0xffff_ffff_ffff,
                        _ => address,
                    };
                    let kind = memory(access, shown, bytes);
                    host.check(kernel, address, lane, &End::Fault(kind, Some(lane)));
                }
            }
            // No lane has the number.
            let kernels_store = access == Access::Write || access == Access::Atomic;
            if !kernels_store {
                host.check(kernel, 0, 64, &End::Silent);
            }
        }
        host.check("masked", 0, 3, &End::Silent);
        if host.gfx.is_gfx9() {
            let wild = memory(Access::Read, SHARED_BASE, 4);
            host.check("global4", SHARED_BASE, 5, &End::Fault(wild, Some(5)));
            let wild = memory(Access::Write, PRIVATE_BASE + 8, 8);
            host.check(
                "global_store8",
                PRIVATE_BASE + 8,
                5,
                &End::Fault(wild, Some(5)),
            );
            // The base is wild and so is every lane.
            let wild = memory(Access::Read, 0x1000 + 3 - 16, 4);
            host.check("global_base", 0x1000, 3, &End::Fault(wild, Some(0)));
        }
    });
}

#[test]
fn accesses_through_apertures_outside_what_is_there() {
    on_hosts(|host| {
        if host.gfx == Gfx::Gfx600 {
            return;
        }
        // These kernels have neither LDS nor scratch.
        for (kernel, ..) in ACCESSES {
            for address in [
                SHARED_BASE,
                SHARED_BASE + 0xffff_fff0,
                PRIVATE_BASE,
                PRIVATE_BASE + 64,
            ] {
                host.check(kernel, address, 9, &End::Named("outside_private"));
            }
        }
    });
}

#[test]
fn misaligned_atomics() {
    on_hosts(|host| {
        // The atomics of gfx6 ignore the low bits, so that they meet the guard.
        if host.gfx == Gfx::Gfx600 {
            return;
        }
        for (kernel, bytes) in [("atomic4", 4), ("atomic8", 8), ("atomic_cas", 4)] {
            for off in [1, 2, bytes / 2] {
                let address = host.guard.address() + 64 + u64::from(off);
                let kind = FaultKind::Misaligned {
                    access: Access::Atomic,
                    address,
                    bytes,
                    align: bytes,
                };
                host.check(kernel, address, 40, &End::Fault(kind, Some(40)));
            }
        }
    });
}

#[test]
fn scalar_loads_outside_memory() {
    on_hosts(|host| {
        for (kernel, bytes) in [("scalar4", 4), ("scalar64", 64)] {
            host.check(kernel, host.guard.address(), 64, &End::Marked);
            for address in [0, 0x10_0000, 0x7fff_ffff_0000] {
                let kind = memory(Access::Read, address, bytes);
                host.check(kernel, address, 64, &End::Fault(kind, None));
            }
        }
    });
}

/// Addresses of this process, passed as arguments: they are outside of guest memory, and nothing there changes.
#[test]
fn addresses_of_the_host_process() {
    let heap = vec![BEFORE; 4096].into_boxed_slice();
    let stack = [BEFORE; 64];
    let address = |of: *const u32| of.expose_provenance() as u64;
    on_hosts(|host| {
        let places = [
            address(&heap[2048]),
            address(&stack[32]),
            traps as *const () as u64,
            std::ptr::from_ref(host).expose_provenance() as u64,
        ];
        for (kernel, access, bytes) in ACCESSES {
            for address in places.map(|place| place & !7) {
                let kind = memory(access, address, bytes);
                host.check(kernel, address, 17, &End::Fault(kind, Some(17)));
            }
        }
        for address in places.map(|place| place & !3) {
            let kind = memory(Access::Read, address, 4);
            host.check("scalar4", address, 64, &End::Fault(kind, None));
            let kind = memory(Access::Execute, address, 4);
            host.check("jump", address, 64, &End::Fault(kind, None));
        }
        assert!(heap.iter().chain(&stack).all(|&word| word == BEFORE));
    });
}

#[test]
fn jumps_to_where_no_code_is() {
    on_hosts(|host| {
        let end = host.module.code().guest(0) + host.module.code().image_len();
        let places = [
            0,
            0x1234,
            end + 0x1000,
            host.guard.address(),
            // The code object's first segment has its tables.
            host.module.code().base(),
            0xffff_ffff_ffff_fffc,
        ];
        for kernel in ["jump", "call"] {
            for address in places {
                let kind = memory(Access::Execute, address, 4);
                host.check(kernel, address, 64, &End::Fault(kind, None));
            }
            // Another kernel's code is code; the low bits of an address do not count.
            for bits in 0..4 {
                host.check(kernel, host.entry("fine") + bits, 64, &End::Marked);
            }
        }
        for kernel in ["branch_out", "branch_back", "past_end"] {
            host.check(kernel, 0, 64, &End::Named("memory"));
        }
    });
}

#[test]
fn jumps_into_the_middle_of_an_instruction() {
    on_hosts(|host| {
        host.check("middle", 0, 64, &End::Silent);
        host.check("middle_jump", 0, 64, &End::Silent);
        host.check("middle_illegal", 0, 64, &End::Named("illegal_instruction"));
        host.check("illegal", 0, 64, &End::Named("illegal_instruction"));
        host.check("illegal_skipped", 0, 64, &End::Marked);
        host.check("illegal_skipped_by_exec", 0, 64, &End::Marked);
    });
}

#[test]
fn code_that_overwrites_itself_runs_as_it_was() {
    on_hosts(|host| {
        let entry = host.entry("self_modify");
        let code = || {
            let mut bytes = [0; 256];
            let memory = host.rig.device.memory();
            memory.read_bytes(entry, &mut bytes).unwrap();
            bytes
        };
        let before = code();
        host.check("self_modify", 0, 64, &End::Marked);
        assert_ne!(code(), before, "the store is there for all to read");
    });
}

#[test]
fn loops_without_an_end() {
    on_hosts(|host| {
        let seconds = LIMIT.as_secs_f64();
        let end = End::Fault(FaultKind::Timeout { seconds }, None);
        host.check("endless", 0, 64, &end);
        host.check("endless_jump", 0, 64, &end);
        host.check_group("hung_barrier", 0, 64, 256, &end);
        host.check_group("endless_barrier", 0, 64, 256, &end);
        host.check("endless_barrier", 0, 64, &end);
    });
}

#[test]
fn traps() {
    on_hosts(|host| {
        host.check("trap2", 0, 64, &End::Fault(FaultKind::Trap { id: 2 }, None));
        host.check("trap9", 0, 64, &End::Fault(FaultKind::Trap { id: 9 }, None));
        host.check("trap3", 0, 64, &End::Marked);
        host.check("fine", 0, 64, &End::Marked);
    });
}

/// LDS ends with the granule of the last byte that kernel and launch ask for: behind that reads are 0 and writes nothing.
#[test]
fn lds_ends_with_the_last_granule() {
    on_hosts(|host| {
        let granule = match host.module.gfx() {
            Gfx::Gfx600 => 256,
            _ => 512,
        };
        // The kernel has 64 bytes of its own.
        for (dynamic, start) in [
            (0u32, 0u32),
            (192, 0),
            (448, 300),
            (0, 64),
            (0, 300),
            (460, 800),
            (100, 0xffff_fff0),
        ] {
            let size = (64 + dynamic).next_multiple_of(granule);
            host.rig.each(&[1, 2], |rig| {
                host.fill();
                let mut segment = 0u64.to_le_bytes().to_vec();
                segment.extend(host.out.address().to_le_bytes());
                segment.extend(64u32.to_le_bytes());
                segment.extend(start.to_le_bytes());
                let launch = Launch::new(64, 64).dynamic_lds(dynamic);
                rig.launch(&host.module, "lds", launch, &[Arg::Bytes(segment)]);
                let out: Vec<u32> = host.out.read().unwrap();
                for lane in 0..64u32 {
                    let at = start.wrapping_add(4 * lane);
                    // gfx6 adds no offset here, so that only the sum counts.
                    let there = at.checked_add(4).is_some_and(|end| end <= size);
                    let want = if there { lane + 100 } else { 0 };
                    assert_eq!(
                        out[4 * lane as usize],
                        want,
                        "{}: lane {lane}, {dynamic} bytes more, from {start:#x}",
                        rig.at(&host.module, "lds")
                    );
                }
            });
        }
    });
}
