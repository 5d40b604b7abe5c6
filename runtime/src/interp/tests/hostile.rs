//! Random words, registers and modes: every instruction either acts or gives a typed fault; nothing
//! panics, and nothing outside the guest's memory is touched.

use frontend::{Encoding, Gfx};

use crate::code::LoadedCode;
use crate::engine::{Group, PRIVATE_BASE, SHARED_BASE, Scratch, Stats};
use crate::interp::step;
use crate::interp::testing::Machine;

/// xorshift64*
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A dword that is often an edge.
    fn word(&mut self) -> u32 {
        const EDGES: [u32; 14] = [
            0,
            1,
            2,
            63,
            64,
            0x7fff_ffff,
            0x8000_0000,
            u32::MAX,
            0x3f80_0000,
            0x7f80_0000,
            0xff80_0001,
            0x7fc0_0000,
            0x0000_8001,
            0x7c00_fc01,
        ];
        match self.below(4) {
            0 => EDGES[self.below(EDGES.len() as u64) as usize],
            1 => self.below(256) as u32,
            _ => self.next() as u32,
        }
    }
}

/// The leading bits of the encodings of every generation, and how many there are.
const PREFIXES: [(u32, u32); 19] = [
    (0b10_1111101, 9),
    (0b10_1111110, 9),
    (0b10_1111111, 9),
    (0b1011, 4),
    (0b10, 2),
    (0b0111111, 7),
    (0b0111110, 7),
    (0b0, 1),
    (0b110100, 6),
    (0b110100111, 9),
    (0b110101, 6),
    (0b110110, 6),
    (0b110111, 6),
    (0b111000, 6),
    (0b111010, 6),
    (0b111100, 6),
    (0b110001, 6),
    (0b110000, 6),
    (0b11000, 5),
];

fn rounds() -> u64 {
    std::env::var("ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(20_000)
}

#[test]
fn random_instructions_never_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut machine = Machine::new(Gfx::Gfx900);
    let area = machine.memory.alloc(1 << 16, 256).unwrap();
    let code = LoadedCode::from_bytes(&machine.memory, Gfx::Gfx900, &[0; 4]).unwrap();
    let mut ran = [0u64; Gfx::COUNT];
    let mut memory_ran = 0u64;
    for round in 0..rounds() {
        let gfx = Gfx::ALL[random.below(Gfx::COUNT as u64) as usize];
        let (prefix, bits) = PREFIXES[random.below(PREFIXES.len() as u64) as usize];
        let mut words = [random.next() as u32, random.next() as u32, random.word()];
        words[0] = words[0] & (u32::MAX >> bits) | prefix << (32 - bits);
        if random.below(2) == 0 {
            // Sources that are special: SDWA, DPP, literals, LDS direct.
            words[0] = words[0] & !0x1ff | (249 + random.below(7) as u32);
        }
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let Ok(inst) = frontend::decode(gfx, &bytes) else {
            continue;
        };
        if round % 64 == 0 {
            for register in machine.wave.vgpr.iter_mut() {
                register.fill_with(|| random.word());
            }
        }
        // Some registers hold valid or nearly valid addresses.
        for register in (0..255).step_by(3) {
            for lane in 0..64 {
                let address = match random.below(8) {
                    0..=4 => area + random.below(1 << 16),
                    5 => SHARED_BASE + random.below(1100),
                    6 => PRIVATE_BASE + random.below(70),
                    _ => random.next(),
                };
                if random.below(4) != 0 {
                    machine.set_lane64(register, lane, address);
                }
            }
        }
        machine.wave.sgpr.fill_with(|| random.word());
        for code in (0..100).step_by(4) {
            machine.wave.set_sgpr64(code, area + random.below(1 << 16));
            if random.below(2) == 0 {
                machine.wave.sgpr[usize::from(code) + 1] |= (random.below(64) as u32) << 16;
            }
        }
        machine.wave.set_sgpr64(102, area);
        machine.wave.set_sgpr64(104, area);
        machine.wave.set_exec(match random.below(4) {
            0 => 0,
            1 => u64::MAX,
            _ => random.next(),
        });
        machine.wave.mode = random.next() as u32 & !frontend::state::mode::VSKIP;
        machine.wave.scc = random.below(2) as u32;
        machine.wave.vgpr_count = random.below(300) as u32;
        machine.wave.sgpr_count = random.below(120) as u32;
        machine.wave.pc = random.next() & !3;
        let mut stats = Stats::default();
        let mut group = Group {
            memory: &machine.memory,
            code: &code,
            gfx,
            lds: &mut machine.lds,
            scratch: Scratch {
                hidden_base: area,
                base: area,
                lane_bytes: 64,
            },
            workgroup: [0; 3],
            wave: 0,
            waves: 1,
            checked: random.below(2) == 0,
            dispatch: 0,
            counting: false,
            stats: &mut stats,
        };
        let pc = machine.wave.pc;
        match step(&mut machine.wave, &mut group, &inst) {
            Ok(_) => {
                ran[gfx.index()] += 1;
                memory_ran += u64::from(matches!(
                    inst.desc.encoding,
                    Encoding::Ds
                        | Encoding::Flat
                        | Encoding::Global
                        | Encoding::Mubuf
                        | Encoding::Mtbuf
                        | Encoding::Smem
                ));
            }
            Err(fault) => {
                assert_eq!(machine.wave.pc, pc, "the PC stays at the fault");
                assert!(!fault.kind.to_string().is_empty());
            }
        }
    }
    assert!(ran.iter().all(|&n| n > rounds() / 50), "{ran:?}");
    assert!(memory_ran > rounds() / 100, "{memory_ran}");
}
