//! The interpreter against itself, and against an interpreter that is wrong on purpose.

use frontend::{Gfx, WaveState};

use super::*;
use crate::code::LoadedCode;
use crate::engine::{Scratch, Stats};
use crate::interp::Interpreter;
use crate::lds::Lds;
use crate::memory::{Memory, Options};

/// v2 = 7 + v0, then three times v2 += 1, then memory[s[0:1] + 4 * v0] = v2.
const CODE: [u32; 10] = [
    0x7e04_0287, // 00 v_mov_b32_e32 v2, 7
    0x6804_0102, // 04 v_add_u32_e32 v2, v2, v0
    0xbe84_0083, // 08 s_mov_b32 s4, 3
    0x6804_0481, // 0c v_add_u32_e32 v2, 1, v2
    0x8084_8104, // 10 s_sub_u32 s4, s4, 1
    0xbf07_8004, // 14 s_cmp_lg_u32 s4, 0
    0xbf85_fffc, // 18 s_cbranch_scc1 0c
    0x2406_0082, // 1c v_lshlrev_b32_e32 v3, 2, v0
    0xdc70_8000, // 20 global_store_dword v3, v2, s[0:1]
    0x0000_0203,
];
const END: u32 = 0xbf81_0000;

struct World {
    memory: Memory,
    code: LoadedCode,
    buffer: u64,
}

impl World {
    fn new() -> World {
        let memory = Memory::with_options(Options {
            reserve: 1 << 24,
            exact: false,
            ..Options::default()
        })
        .unwrap();
        let words = CODE.iter().chain(&[END]);
        let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        let code = LoadedCode::from_bytes(&memory, Gfx::Gfx900, &bytes).unwrap();
        let buffer = memory.alloc(256, 256).unwrap();
        World {
            memory,
            code,
            buffer,
        }
    }

    /// Runs the code on the pair to its end, or to where it is stopped.
    fn run(&self, pair: &Pair) -> (Box<WaveState>, Exit) {
        let mut wave = WaveState::new_boxed();
        wave.pc = self.code.guest(0);
        wave.set_exec(u64::MAX);
        wave.set_sgpr64(0, self.buffer);
        wave.vgpr[0] = std::array::from_fn(|lane| lane as u32);
        let mut lds = Lds::new(false);
        lds.reset(64);
        let mut group = Group {
            memory: &self.memory,
            code: &self.code,
            gfx: Gfx::Gfx900,
            lds: &mut lds,
            scratch: Scratch::default(),
            workgroup: [5, 0, 0],
            wave: 1,
            waves: 2,
            checked: false,
            dispatch: 0,
            counting: false,
            stats: &mut Stats::default(),
        };
        loop {
            match pair.run(&mut wave, &mut group, &mut 0) {
                Exit::Yield => {}
                exit => return (wave, exit),
            }
        }
    }

    fn stored(&self) -> Vec<u32> {
        let mut words = vec![0; 64];
        self.memory.load_dwords(self.buffer, &mut words).unwrap();
        words
    }
}

fn pair(wrong: &str, steps: bool) -> Arc<Pair> {
    Pair::new(Box::new(Interpreter), super::wrong(wrong, steps))
}

#[test]
fn equal_engines_do_not_part() {
    for mode in [
        Mode::Reference,
        Mode::Other,
        Mode::Instructions,
        Mode::Stretches,
    ] {
        let world = World::new();
        let pair = pair("", true);
        pair.set_mode(mode, 1000);
        assert_eq!(world.run(&pair).1, Exit::End, "{mode:?}");
        let record = pair.record();
        assert!(record.parting.is_none());
        let steps = match mode {
            Mode::Instructions => 3 + 3 * 4 + 3,
            Mode::Stretches => 3,
            _ => 0,
        };
        assert_eq!(record.steps, steps, "{mode:?}");
        assert!(
            world.stored().into_iter().eq(10..74),
            "{mode:?}: stores stay"
        );
    }
}

#[test]
fn a_wrong_instruction_is_found() {
    let world = World::new();
    let pair = pair("s_sub_u32", true);
    pair.set_mode(Mode::Instructions, 1000);
    assert!(matches!(world.run(&pair).1, Exit::Fault(_)));
    let parting = pair.record().parting.expect("they part");
    assert_eq!(world.code.local(parting.pc), 0x10);
    assert_eq!(
        (parting.before, parting.wave, parting.workgroup),
        (4, 1, [5, 0, 0])
    );
    let list = differences(&parting.reference.state, &parting.other.state, Gfx::Gfx900);
    assert_eq!(
        list,
        [RegisterDifference {
            register: "s4".to_owned(),
            lane: None,
            reference: 2,
            other: 3,
        }]
    );
    assert_eq!(parting.start.sgpr[4], 3);
}

#[test]
fn a_wrong_stretch_is_found_where_it_has_consequences() {
    let world = World::new();
    // v2 is wrong from the first stretch on, memory in the third.
    let pair = pair("v_mov_b32_e32", false);
    pair.set_mode(Mode::Instructions, 1000);
    world.run(&pair);
    assert!(pair.record().cannot_step);
    pair.set_mode(Mode::Stretches, 1000);
    assert!(matches!(world.run(&pair).1, Exit::Fault(_)));
    let parting = pair.record().parting.expect("they part");
    assert_eq!(world.code.local(parting.pc), 0x0c);
    assert_eq!(parting.before, 2);
    assert_eq!(parting.reference.exit, Exit::End);
    assert_eq!(
        (
            parting.reference.memory[0].new[0],
            parting.other.memory[0].new[0]
        ),
        (10, 9)
    );
    let (first, registers) = parting.first_registers.expect("v2 was wrong before");
    assert_eq!(world.code.local(first), 0);
    assert_eq!(registers[0].to_string(), "v2[0] 0x00000008 0x00000007");
}

#[test]
fn the_limit_ends_the_search() {
    let world = World::new();
    let pair = pair("", true);
    pair.set_mode(Mode::Instructions, 7);
    assert!(matches!(world.run(&pair).1, Exit::Fault(_)));
    let record = pair.record();
    assert!(record.exhausted && record.parting.is_none());
    assert_eq!(record.steps, 7);
}

#[test]
fn snapshots_see_and_undo_changes() {
    let memory = Memory::with_options(Options {
        reserve: 1 << 24,
        exact: false,
        ..Options::default()
    })
    .unwrap();
    let a = memory.alloc(200_000, 256).unwrap();
    let b = memory.alloc(5, 256).unwrap();
    memory.write_bytes(a, &[1, 2, 3]).unwrap();
    let mut snapshot = Snapshot::take(&memory).unwrap();
    assert_eq!(snapshot.changes(&memory).unwrap(), []);
    memory.write_bytes(a + 1, &[7]).unwrap();
    memory.write_bytes(a + 150_000, &[9, 9]).unwrap();
    memory.write_bytes(b + 4, &[8]).unwrap();
    let change = |address, old: &[u8], new: &[u8]| Change {
        address,
        old: old.to_vec(),
        new: new.to_vec(),
    };
    let changes = [
        change(a + 1, &[2], &[7]),
        change(a + 150_000, &[0, 0], &[9, 9]),
        change(b + 4, &[0], &[8]),
    ];
    assert_eq!(snapshot.undo(&memory).unwrap(), changes);
    assert_eq!(memory.load::<3>(a).unwrap(), [1, 2, 3]);
    assert_eq!(memory.load::<1>(b + 4).unwrap(), [0]);
    for change in &changes {
        memory.write_bytes(change.address, &change.new).unwrap();
    }
    snapshot.apply(&memory, &changes);
    assert_eq!(snapshot.changes(&memory).unwrap(), []);
}
