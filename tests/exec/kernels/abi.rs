//! Every register that a kernel descriptor can ask for, dumped by kernels that ask for different ones
//! (`tests/kernels/memory/abi.s`), and what lies behind the pointers among them.

use std::ops::Range;

use runtime::engine::{PRIVATE_BASE, SHARED_BASE};
use wavelift::{Arg, Gfx, Launch, Module, Size};

use super::{Rig, TARGETS, THREADS, object_bytes, on_targets};

/// What a kernel's descriptor asks for, in the order of the registers.
#[derive(Clone, Copy, Default)]
struct Asks {
    name: &'static str,
    buffer: bool,
    dispatch: bool,
    queue: bool,
    kernarg: bool,
    id: bool,
    flat: bool,
    size: bool,
    /// User SGPRs; on gfx6, which has no flat scratch, two less where that is asked for.
    count: usize,
    group: [bool; 3],
    info: bool,
    offset: bool,
    /// VGPRs of the work-item's id.
    items: usize,
}

const NONE: Asks = Asks {
    name: "nothing",
    buffer: false,
    dispatch: false,
    queue: false,
    kernarg: false,
    id: false,
    flat: false,
    size: false,
    count: 0,
    group: [false; 3],
    info: false,
    offset: false,
    items: 1,
};

const KERNELS: [Asks; 10] = [
    NONE,
    Asks {
        name: "everything",
        buffer: true,
        dispatch: true,
        queue: true,
        kernarg: true,
        id: true,
        flat: true,
        size: true,
        count: 15,
        group: [true; 3],
        info: true,
        offset: true,
        items: 3,
    },
    Asks {
        name: "ids_only",
        group: [true; 3],
        items: 3,
        ..NONE
    },
    Asks {
        name: "packet_and_id",
        dispatch: true,
        id: true,
        count: 4,
        group: [false, true, false],
        items: 2,
        ..NONE
    },
    Asks {
        name: "sparse_count",
        queue: true,
        kernarg: true,
        count: 9,
        group: [false, false, true],
        info: true,
        ..NONE
    },
    Asks {
        name: "full_count",
        kernarg: true,
        count: 16,
        group: [true, false, true],
        items: 2,
        ..NONE
    },
    Asks {
        name: "buffer_and_size",
        buffer: true,
        size: true,
        count: 5,
        offset: true,
        ..NONE
    },
    Asks {
        name: "buffer_last",
        buffer: true,
        kernarg: true,
        count: 6,
        group: [true, true, false],
        offset: true,
        items: 3,
        ..NONE
    },
    Asks {
        name: "flat_without_buffer",
        queue: true,
        flat: true,
        count: 4,
        info: true,
        offset: true,
        items: 2,
        ..NONE
    },
    Asks {
        name: "flat_and_size",
        buffer: true,
        queue: true,
        flat: true,
        size: true,
        count: 12,
        group: [false, true, true],
        offset: true,
        ..NONE
    },
];

/// The last dword of the private segment buffer: dst_sel x, y, z, w; UINT; 32 bits; elements of 4
/// bytes; index stride 64; the lane's number is added.
const BUFFER_WORD3: u32 =
    4 | 5 << 3 | 6 << 6 | 7 << 9 | 4 << 12 | 4 << 15 | 1 << 19 | 3 << 21 | 1 << 23;

/// MODE by the descriptors: rounding 1 and 2, denormals 1 and 3, IEEE, no DX10_CLAMP.
const MODE: u32 = 1 | 2 << 2 | 1 << 4 | 3 << 6 | 1 << 9;

/// Bytes of a lane's private segment.
const LANE_BYTES: u32 = 48;

/// The kernarg segment.
const ARGUMENTS: [u32; 6] = [0x11, 0x2222, 0x33_3333, 0x4444_4444, 5, !6];

/// Rows of a record, as the kernels number them.
const ROWS: usize = 9;

/// What records hold before.
const BEFORE: u32 = 0xdead_0000;

/// A wave that a launch must have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wave {
    group: [u32; 3],
    /// Which wave of its group, and of how many.
    index: u32,
    waves: u32,
    exec: u64,
    /// Ids of its work-items, lane by lane.
    ids: Vec<[u32; 3]>,
}

/// The waves of a launch in the order of dispatch.
fn waves(grid: [u32; 3], group: [u32; 3]) -> Vec<Wave> {
    let mut all = Vec::new();
    let counts = [0, 1, 2].map(|d| grid[d].div_ceil(group[d]));
    for z in 0..counts[2] {
        for y in 0..counts[1] {
            for x in 0..counts[0] {
                let id = [x, y, z];
                let size = [0, 1, 2].map(|d| group[d].min(grid[d] - id[d] * group[d]));
                let mut items = Vec::new();
                for z in 0..size[2] {
                    for y in 0..size[1] {
                        items.extend((0..size[0]).map(|x| [x, y, z]));
                    }
                }
                let waves = items.len().div_ceil(64) as u32;
                for (index, ids) in items.chunks(64).enumerate() {
                    all.push(Wave {
                        group: id,
                        index: index as u32,
                        waves,
                        exec: u64::MAX >> (64 - ids.len()),
                        ids: ids.to_vec(),
                    });
                }
            }
        }
    }
    all
}

/// A record of a wave.
struct Record<'a>(&'a [u32]);

impl Record<'_> {
    fn row(&self, row: usize) -> &[u32] {
        &self.0[row * 64..(row + 1) * 64]
    }

    fn exec(&self) -> u64 {
        u64::from(self.row(0)[32]) | u64::from(self.row(0)[33]) << 32
    }

    /// A 64-bit value in two SGPRs.
    fn pair(&self, at: usize) -> u64 {
        u64::from(self.row(0)[at]) | u64::from(self.row(0)[at + 1]) << 32
    }
}

/// Takes SGPRs in order.
struct Next(usize);

impl Next {
    fn take(&mut self, asked: bool, n: usize) -> Option<usize> {
        let at = self.0;
        asked.then(|| {
            self.0 += n;
            at
        })
    }
}

/// One launch of a kernel.
struct Dump<'a> {
    gfx: Gfx,
    asks: Asks,
    grid: [u32; 3],
    group: [u32; 3],
    /// Launches on the device before this one.
    launches: u64,
    /// Guest address of the kernel descriptor.
    kernel: u64,
    records: Vec<Record<'a>>,
    /// Only one worker ran.
    alone: bool,
}

impl Dump<'_> {
    fn asks(&self) -> Asks {
        let flat = self.asks.flat && self.gfx != Gfx::Gfx600;
        let count = self.asks.count - if self.asks.flat && !flat { 2 } else { 0 };
        Asks {
            flat,
            count,
            ..self.asks
        }
    }

    fn lane_bytes(&self) -> u32 {
        if self.asks.offset { LANE_BYTES } else { 0 }
    }

    fn check(&self) {
        let asks = self.asks();
        let want = waves(self.grid, self.group);
        assert_eq!(self.records.len(), want.len());
        // With several workers the order is open; the ids that were asked for tell the waves apart.
        let mut places: Vec<usize> = Vec::new();
        for wave in &want {
            let found = self.records.iter().enumerate().find(|(n, record)| {
                let right = !self.alone || *n == places.len();
                right && !places.contains(n) && self.is(record, wave)
            });
            let found = found.unwrap_or_else(|| {
                panic!(
                    "no record of {wave:x?}; record {} is {:x?}",
                    places.len(),
                    &self.records[places.len()].0[..256]
                )
            });
            places.push(found.0);
        }
        for (&place, wave) in places.iter().zip(&want) {
            let record = &self.records[place];
            self.check_user(record);
            if asks.offset {
                self.check_scratch(record, place, wave);
            }
        }
    }

    /// Is it the record of that wave, by the registers that differ from wave to wave?
    fn is(&self, record: &Record<'_>, wave: &Wave) -> bool {
        let asks = self.asks();
        let mut next = Next(asks.count);
        let scalars = record.row(0);
        for (asked, want) in asks.group.into_iter().zip(wave.group) {
            if next.take(asked, 1).is_some_and(|at| scalars[at] != want) {
                return false;
            }
        }
        let info = u32::from(wave.index == 0) << 31 | wave.waves;
        if next
            .take(asks.info, 1)
            .is_some_and(|at| scalars[at] != info)
        {
            return false;
        }
        if let Some(at) = next.take(asks.offset, 1) {
            // Waves of a group have scratch of their own, in the order of the waves.
            if scalars[at] != wave.index * 64 * LANE_BYTES {
                return false;
            }
        }
        // Nothing more is set.
        scalars[next.0..32].iter().all(|&word| word == 0)
            && record.exec() == wave.exec
            && scalars[34] == MODE
            && wave.ids.iter().enumerate().all(|(lane, id)| {
                (0..3).all(|d| {
                    let want = if d < asks.items { id[d] } else { 0 };
                    record.row(1 + d)[lane] == want
                })
            })
    }

    fn check_user(&self, record: &Record<'_>) {
        let asks = self.asks();
        let scalars = record.row(0);
        let what = || format!("{:x?}", &scalars[..32]);
        let mut next = Next(0);
        let buffer = next.take(asks.buffer, 4);
        let dispatch = next.take(asks.dispatch, 2);
        let queue = next.take(asks.queue, 2);
        let kernarg = next.take(asks.kernarg, 2);
        let id = next.take(asks.id, 2);
        let flat = next.take(asks.flat, 2);
        let size = next.take(asks.size, 1);
        assert!(
            scalars[next.0..asks.count].iter().all(|&word| word == 0),
            "{}",
            what()
        );

        let scratch = buffer.map(|at| record.pair(at) & 0xffff_ffff_ffff);
        if let Some(at) = buffer {
            let waves = (self.group.iter().product::<u32>()).div_ceil(64);
            assert_eq!(
                scalars[at + 1] >> 16,
                0x8000,
                "no stride, swizzled: {}",
                what()
            );
            assert_eq!(scalars[at + 2], 64 * LANE_BYTES * waves, "{}", what());
            assert_eq!(scalars[at + 3], BUFFER_WORD3, "{}", what());
            assert!(scratch.is_some_and(|base| base != 0 && base % 256 == 0));
        }
        if let Some(at) = dispatch {
            self.check_packet(record, kernarg.map(|at| record.pair(at)));
            assert!(record.pair(at).is_multiple_of(64));
        }
        if let Some(at) = queue {
            let fields = record.row(5);
            let long = |at: usize| u64::from(fields[at / 4]) | u64::from(fields[at / 4 + 1]) << 32;
            assert!(record.pair(at).is_multiple_of(64));
            assert_eq!(u64::from(fields[0x40 / 4]) << 32, SHARED_BASE);
            assert_eq!(u64::from(fields[0x44 / 4]) << 32, PRIVATE_BASE);
            // One packet was read and the next place is free; the ring has so many places.
            assert_eq!((long(0x38), long(0x80)), (self.launches + 1, self.launches));
            let ring = u64::from(fields[24 / 4]);
            if let Some(at) = dispatch {
                assert_eq!(long(8) + 64 * (self.launches % ring), record.pair(at));
            }
            if let (Some(at), true) = (buffer, self.alone) {
                assert_eq!(fields[0x90 / 4..][..4], scalars[at..at + 4]);
            }
        }
        match kernarg {
            Some(at) => {
                assert!(record.pair(at).is_multiple_of(16));
                assert_eq!(record.row(6)[..6], ARGUMENTS);
                assert_eq!(record.row(6)[6..], [0; 58]);
            }
            None => assert_eq!(record.row(6), [BEFORE; 64]),
        }
        if let Some(at) = id {
            assert_eq!(record.pair(at), self.launches);
        }
        if let Some(at) = flat {
            if self.gfx.is_gfx9() {
                // The address of the scratch.
                let base = record.pair(at);
                assert!(base != 0 && scratch.is_none_or(|scratch| scratch == base));
            } else {
                // The offset of the queue's scratch, and the size for a work-item.
                assert_eq!(scalars[at + 1], LANE_BYTES);
                assert!(scalars[at].is_multiple_of(256));
            }
        }
        if let Some(at) = size {
            assert_eq!(scalars[at], LANE_BYTES);
        }
    }

    fn check_packet(&self, record: &Record<'_>, kernarg: Option<u64>) {
        let packet = record.row(4);
        assert_eq!(packet[0] & 0xff, 2, "a kernel dispatch");
        assert_eq!(packet[0] >> 16 & 3, 3, "dimensions");
        let [x, y, z] = self.group;
        assert_eq!(packet[1], x | y << 16);
        assert_eq!(packet[2], z);
        assert_eq!(packet[3..6], self.grid);
        assert_eq!(packet[6], self.lane_bytes());
        assert_eq!(packet[7], 0, "no LDS");
        let long = |at: usize| u64::from(packet[at]) | u64::from(packet[at + 1]) << 32;
        assert_eq!(long(8), self.kernel);
        if let Some(kernarg) = kernarg {
            assert_eq!(long(10), kernarg);
        }
        assert_eq!(packet[12..16], [0; 4]);
        assert_eq!(packet[16..], [0; 48], "only 16 dwords were loaded");
    }

    /// What lanes stored to their private segments, through the buffer and through FLAT_SCRATCH.
    fn check_scratch(&self, record: &Record<'_>, number: usize, wave: &Wave) {
        let asks = self.asks();
        let lanes: Vec<u32> = (0..64)
            .map(|lane| match wave.exec >> lane & 1 {
                1 => 1000 * number as u32 + 4 * lane,
                _ => 0,
            })
            .collect();
        if asks.buffer {
            assert_eq!(record.row(7), lanes);
        }
        if asks.flat && asks.queue {
            assert_eq!(record.row(8), lanes);
        }
    }
}

#[test]
fn waves_find_in_registers_what_their_kernel_asks_for() {
    on_targets("abi", &TARGETS, |rig, module| {
        let mut launches = 0;
        for asks in KERNELS {
            if asks.name.starts_with("flat") && module.gfx() == Gfx::Gfx600 {
                assert!(module.kernel(asks.name).is_err());
                continue;
            }
            // Groups of one, two and sixteen waves, partial ones at every edge.
            for (grid, group) in [
                ([13, 7, 5], [8, 6, 2]),
                ([70, 1, 1], [64, 1, 1]),
                ([30, 20, 3], [16, 16, 4]),
            ] {
                rig.each(&THREADS, |rig| {
                    dump(rig, module, asks, grid, group, launches);
                    launches += 1;
                });
            }
        }
    });
}

fn dump(rig: &Rig, module: &Module, asks: Asks, grid: [u32; 3], group: [u32; 3], launches: u64) {
    let total = waves(grid, group).len();
    let records = rig.buffer(&vec![BEFORE; total * ROWS * 64]);
    let number = rig.buffer(&[0u32]);
    point(rig, module, &[records.address(), number.address()]);
    let bytes: Vec<u8> = ARGUMENTS
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let size = |sizes: &[u32]| Size::from_slice(sizes).unwrap();
    let launch = Launch::new(size(&grid), size(&group));
    rig.launch(module, asks.name, launch, &[Arg::Bytes(bytes)]);
    let what = format!("{} by {group:?}", asks.name);
    rig.expect(module, &what, &number, &[total as u32]);
    let words: Vec<u32> = records.read().unwrap();
    Dump {
        gfx: module.gfx(),
        asks,
        grid,
        group,
        launches,
        kernel: module.kernel(asks.name).unwrap().code().address,
        records: words.chunks(ROWS * 64).map(Record).collect(),
        alone: rig.threads.load(std::sync::atomic::Ordering::Relaxed) == 1,
    }
    .check();
}

/// Writes addresses to the variable `out`.
fn point(rig: &Rig, module: &Module, addresses: &[u64]) {
    let (out, size) = module.global("out").expect("it is there");
    assert_eq!(size, 8 * addresses.len() as u64);
    let bytes: Vec<u8> = addresses.iter().flat_map(|a| a.to_le_bytes()).collect();
    rig.device.memory().write_bytes(out, &bytes).unwrap();
}

/// A kernel that loads arguments: does it ask for the dispatch pointer and for the private segment's size,
/// which dwords of the segment, how many user SGPRs, VGPRs of the work-item's id.
type Preload = (&'static str, bool, bool, Range<usize>, usize, usize);

/// gfx90a loads arguments into registers, enters 256 bytes later then, and packs ids into v0.
#[test]
fn arguments_that_are_loaded_before_the_wave_starts() {
    let arguments: Vec<u32> = (0..10).map(|n| 0x0101_0101 * (n + 1)).collect();
    let segment: Vec<u8> = arguments
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let kernels: [Preload; 3] = [
        ("preload_first", false, false, 0..4, 6, 1),
        ("preload_later", true, true, 3..8, 10, 2),
        ("preload_most", false, false, 0..10, 12, 3),
    ];
    let rig = Rig::new();
    let module = Module::load(&rig.device, &object_bytes("preload", Gfx::Gfx90a)).unwrap();
    for (kernel, dispatch, size, loaded, count, items) in kernels {
        rig.each(&THREADS, |rig| {
            let record = rig.buffer(&[BEFORE; 128]);
            point(rig, &module, &[record.address()]);
            let sizes = Size::from_slice(&[4, 4, 4]).unwrap();
            let args = [Arg::Bytes(segment.clone())];
            rig.launch(&module, kernel, Launch::new(sizes, sizes), &args);
            let got: Vec<u32> = record.read().unwrap();
            let at = rig.at(&module, kernel);
            let mut next = Next(0);
            let dispatch = next.take(dispatch, 2);
            let kernarg = next.take(true, 2).expect("they all ask for it");
            // The low word of an address may be 0.
            let is_address = |first: usize| got[first..first + 2] != [0, 0];
            assert!(dispatch.is_none_or(is_address), "{at}");
            assert!(is_address(kernarg), "{at}");
            let first = next.take(true, loaded.len()).expect("so do they");
            assert_eq!(got[first..next.0], arguments[loaded.clone()], "{at}");
            let size = next.take(size, 1);
            assert!(size.is_none_or(|size| got[size] == 0), "{at}");
            assert_eq!(next.0, count, "{at}");
            assert_eq!(got[count..32], [0; 32][count..], "{at}");
            for lane in 0..64u32 {
                let id = [lane % 4, lane / 4 % 4, lane / 16];
                let packed = (0..items).fold(0, |packed, d| packed | id[d] << (10 * d));
                assert_eq!(got[64 + lane as usize], packed, "{at}, lane {lane}");
            }
        });
    }
}
