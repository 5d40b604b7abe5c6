//! The wide back end's encoder against a disassembler: every row in random forms is one instruction of just
//! that length with the mnemonic of its row and the operands that were asked for, and is encoded alike again.

use iced_x86::{Decoder, DecoderOptions, Encoder, Instruction, OpKind, Register, RoundingControl};
use lower::backend::x64::encode::{Base, Code, Len, Mem, Rm};
use lower::backend::x64::evex::{self, Rounding, Tuple, With};
use lower::backend::x64::evex_forms;
use lower::backend::x64::rows::{legacy, vex};

/// Numbers without a pattern.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) % n
    }

    fn register(&mut self) -> u8 {
        self.below(16) as u8
    }

    fn memory(&mut self) -> Mem {
        self.memory_in(1)
    }

    /// Memory whose displacement is often a small multiple of a unit.
    fn memory_in(&mut self, unit: i32) -> Mem {
        let disp = match self.below(if unit == 1 { 4 } else { 8 }) {
            0 => 0,
            4..8 => [4, 8, 16, 32, unit][self.below(5) as usize] * (self.below(260) as i32 - 130),
            1 => self.below(256) as i32 - 128,
            2 => [127, 128, -128, -129][self.below(4) as usize],
            _ => self.below(1 << 30) as i32 - (1 << 29),
        };
        let index = self.register();
        let index = (index != 4 && self.below(2) == 0).then(|| (index, self.below(4) as u8));
        Mem {
            base: Base::Reg(self.register()),
            index,
            disp,
        }
    }

    /// Memory of each lane.
    fn lanes(&mut self) -> Mem {
        Mem {
            index: Some((self.below(32) as u8, self.below(4) as u8)),
            ..self.memory_in(4)
        }
    }
}

/// The one instruction in `bytes`, which is encoded alike by the other side.
fn decode(bytes: &[u8], what: &str) -> Instruction {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    let inst = decoder.decode();
    assert!(!inst.is_invalid(), "{what}: {bytes:02x?}");
    assert_eq!(inst.len(), bytes.len(), "{what}: {bytes:02x?} is {inst}");
    let mut encoder = Encoder::new(64);
    encoder
        .encode(&inst, 0)
        .unwrap_or_else(|e| panic!("{what}: {inst}: {e}"));
    let again = encoder.take_buffer();
    let redecoded = Decoder::new(64, &again, DecoderOptions::NONE).decode();
    assert_eq!(redecoded, inst, "{what}: {bytes:02x?} and {again:02x?}");
    inst
}

fn check_memory(inst: &Instruction, mem: Mem, what: &str) {
    let number = |register: Register| register.full_register().number() as u8;
    let Base::Reg(base) = mem.base else {
        panic!("{what} has no base")
    };
    assert_eq!(number(inst.memory_base()), base, "{what}: {inst}");
    assert_eq!(
        inst.memory_displacement64() as i32,
        mem.disp,
        "{what}: {inst}"
    );
    match mem.index {
        None => assert_eq!(inst.memory_index(), Register::None, "{what}: {inst}"),
        Some((index, scale)) => {
            assert_eq!(number(inst.memory_index()), index, "{what}: {inst}");
            assert_eq!(inst.memory_index_scale(), 1 << scale, "{what}: {inst}");
        }
    }
}

/// The one instruction in `bytes`, which has the mnemonic of a row and the memory that was asked for, and the
/// registers that are its operands.
fn decode_row(bytes: &[u8], name: &str, rm: Rm) -> (Instruction, Vec<Register>) {
    let inst = decode(bytes, name);
    if let Some(mnemonic) = mnemonic(name) {
        let found = format!("{:?}", inst.mnemonic()).to_uppercase();
        assert_eq!(found, mnemonic, "{inst}");
    }
    if let Rm::Mem(mem) = rm {
        check_memory(&inst, mem, name);
    }
    let registers = (0..inst.op_count())
        .filter(|&n| inst.op_kind(n) == OpKind::Register)
        .map(|n| inst.op_register(n));
    (inst, registers.collect())
}

/// How many bytes of constant follow a row's operands; its other facts are the disassembler's own.
fn constant_bytes(name: &str) -> usize {
    let one = [
        "VCMP",
        "VROUND",
        "VSHUF",
        "VPSHUFD",
        "VPERMQ",
        "VPERM2I128",
        "VGETMANT",
        "VFIXUPIMM",
        "VFPCLASS",
        "VPBLENDD",
        "VPBLENDV",
        "VPINSR",
        "VPEXTR",
        "VINSERT",
        "VEXTRACT",
        "VCVTPS2PH",
        "VPTERNLOG",
        "VRNDSCALE",
        "VREDUCE",
        "VPCMPD",
        "VPCMPU",
        "VPCMPQ",
        "ALU_I8",
        "SHIFT_I",
    ];
    if name == "VPERMQ_V" {
        0
    } else if name.ends_with("_I32") {
        4
    } else if name.ends_with("_I") || one.iter().any(|prefix| name.starts_with(prefix)) {
        1
    } else {
        0
    }
}

/// The mnemonic of a row, where its name is one.
fn mnemonic(name: &str) -> Option<&str> {
    if name.contains("SHIFT") || name.starts_with("ALU") || name == "VPSHIFTW_I" {
        return None;
    }
    match name {
        "VMOVD_TO" | "VMOVD_FROM" | "UNARY" | "CALL" | "LOAD" | "STORE" | "STORE_B" | "STORE_W"
        | "MOV_I32" => None,
        // With the digit that the test gives it.
        "PREFETCH" => Some("PREFETCHT1"),
        _ => Some(name.split('_').next().unwrap_or(name)),
    }
}

#[test]
fn vex_rows_are_what_they_say() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for &(name, row) in vex::ALL.iter().filter(|(name, _)| *name != "VZEROUPPER") {
        let constant = &[1u8, 0, 0, 0][..constant_bytes(name)];
        let digit = name.ends_with("_I");
        let general = matches!(name, "ANDN" | "SHLX" | "SHRX" | "SARX");
        let mut tried = 0;
        for _ in 0..400 {
            let reg = if digit { 2 } else { random.register() };
            let vvvv = random.register();
            let rm = if name == "VPGATHERDD" {
                Rm::Lanes(Mem {
                    index: Some((random.register(), random.below(4) as u8)),
                    ..random.memory()
                })
            } else if random.below(2) == 0 || digit || name == "VMOVMSKPS" {
                Rm::Reg(random.register())
            } else {
                Rm::Mem(random.memory())
            };
            let len = match random.below(2) {
                0 => Len::L128,
                _ => Len::L256,
            };
            // Which forms have a second source, and which lengths there are, the disassembler knows.
            for (vvvv, len) in [(vvvv, len), (0, len), (vvvv, Len::L128), (0, Len::L128)] {
                let mut code = Code::default();
                code.vex(row, len, reg, vvvv, rm, constant);
                let inst = Decoder::new(64, &code.bytes, DecoderOptions::NONE).decode();
                if inst.is_invalid() {
                    continue;
                }
                tried += 1;
                let (inst, registers) = decode_row(&code.bytes, name, rm);
                let numbers: Vec<usize> = registers.iter().map(|r| r.number()).collect();
                if !digit {
                    assert!(numbers.contains(&usize::from(reg)), "{name}: {inst}");
                }
                match rm {
                    Rm::Reg(r) => assert!(numbers.contains(&usize::from(r)), "{name}: {inst}"),
                    Rm::Lanes(mem) => {
                        check_memory(&inst, mem, name);
                        assert!(numbers.contains(&usize::from(vvvv)), "{name}: {inst}");
                    }
                    Rm::Mem(_) => {}
                }
                if !general && inst.op_count() > 2 && numbers.len() > 2 {
                    assert!(numbers.contains(&usize::from(vvvv)), "{name}: {inst}");
                }
                break;
            }
        }
        assert!(tried > 100, "{name} has {tried} forms");
    }
}

#[test]
fn legacy_rows_are_what_they_say() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for &(name, row) in legacy::ALL {
        let constant = &[7u8, 0, 0, 0][..constant_bytes(name)];
        let digit = ["ALU", "SHIFT", "UNARY", "CALL", "MOV_I32", "PREFETCH"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        for _ in 0..400 {
            let reg = match name {
                "SHIFT_I" | "ALU_I8" | "ALU_I32" => 5,
                "UNARY" | "CALL" | "PREFETCH" => 2,
                "MOV_I32" => 0,
                _ => random.register(),
            };
            let wide = random.below(2) == 0 && !["CALL", "PREFETCH"].contains(&name);
            let memory = ["LEA", "PREFETCH"].contains(&name);
            let rm = if random.below(2) == 0 && !memory {
                Rm::Reg(random.register())
            } else {
                Rm::Mem(random.memory())
            };
            let mut code = Code::default();
            let byte = name.ends_with("_B");
            code.legacy(row, wide, byte, reg, rm, constant);
            let (inst, registers) = decode_row(&code.bytes, name, rm);
            let has = |n: u8| {
                registers
                    .iter()
                    .any(|r| r.full_register().number() == usize::from(n))
            };
            assert!(digit || has(reg), "{name}: {inst}");
            if let Rm::Reg(r) = rm {
                assert!(has(r), "{name}: {inst}");
            }
            for register in &registers {
                // A byte is the lowest of its register, never the second.
                assert!(register.size() != 1 || register.full_register().number() < 16);
                let high = [Register::AH, Register::BH, Register::CH, Register::DH];
                assert!(!high.contains(register), "{name}: {inst}");
            }
        }
    }
}

#[test]
fn labels_are_distances_from_the_end() {
    let mut code = Code::default();
    let constant = Mem {
        base: Base::Label(0),
        index: None,
        disp: 4,
    };
    code.vex(vex::VCMPPS, Len::L256, 3, 4, Rm::Mem(constant), &[7]);
    let end = code.bytes.len();
    code.branch(&[0xe9], 1);
    code.fix(|label| [64, 0][label as usize]);
    let mut decoder = Decoder::new(64, &code.bytes, DecoderOptions::NONE);
    let load = decoder.decode();
    assert_eq!(load.ip_rel_memory_address(), 68);
    assert_eq!(load.len(), end);
    assert_eq!(decoder.decode().near_branch_target(), 0);
}

/// What the disassembler calls a row of the EVEX coding.
fn evex_mnemonic(name: &str) -> Option<&str> {
    match name {
        "VMOVD_TO" | "VMOVD_FROM" => Some("VMOVD"),
        "VMOVQ_TO" | "VMOVQ_FROM" => Some("VMOVQ"),
        _ => mnemonic(name),
    }
}

/// Rows whose operand is in memory, or a register, only.
fn evex_operand(name: &str) -> Option<bool> {
    match name {
        "VPMOVD2M" | "VPMOVQ2M" | "VPMOVM2D" | "VPMOVM2Q" | "VPBROADCASTD_R" | "VPBROADCASTQ_R" => {
            Some(false)
        }
        _ => None,
    }
}

#[test]
fn evex_rows_are_what_they_say() {
    let mut random = Random(0x0f1e_2d3c_4b5a_6978);
    for &(name, row) in evex::rows::ALL {
        let constant = &[1u8, 0, 0, 0][..constant_bytes(name)];
        let digit = name.ends_with("_I");
        let mut seen = [0; 5];
        for _ in 0..3000 {
            let reg = match name {
                "VPSRAQ_I" => 4,
                _ if digit => 2,
                _ => random.below(32) as u8,
            };
            let vvvv = random.below(32) as u8;
            let lanes = name.starts_with("VPGATHER") || name.starts_with("VPSCATTER");
            let memory = lanes || evex_operand(name).unwrap_or(random.below(2) == 0);
            let rm = match memory {
                true if lanes => Rm::Lanes(random.lanes()),
                true => Rm::Mem(random.memory_in(64)),
                false => Rm::Reg(random.below(32) as u8),
            };
            let length = [Len::L128, Len::L256, Len::L512][random.below(3) as usize];
            let mask = if random.below(2) == 0 {
                0
            } else {
                random.below(8) as u8
            };
            let rounding = [
                Rounding::Nearest,
                Rounding::Down,
                Rounding::Up,
                Rounding::Zero,
            ];
            let with = With {
                mask,
                zero: mask != 0 && random.below(2) == 0,
                broadcast: memory && random.below(2) == 0,
                rounding: (!memory && random.below(4) == 0)
                    .then(|| rounding[random.below(4) as usize]),
            };
            // Which forms there are, the disassembler knows: what a row lacks is invalid, or has other operands.
            let mut code = Code::default();
            for vvvv in [vvvv, 0] {
                code = Code::default();
                code.evex(row, length, with, reg, vvvv, rm, constant);
                if !Decoder::new(64, &code.bytes, DecoderOptions::NONE)
                    .decode()
                    .is_invalid()
                {
                    break;
                }
            }
            let inst = Decoder::new(64, &code.bytes, DecoderOptions::NONE).decode();
            if inst.is_invalid() {
                continue;
            }
            assert_eq!(inst.len(), code.bytes.len(), "{name}: {inst}");
            assert!(
                format!("{:?}", inst.code()).starts_with("EVEX"),
                "{name}: {inst}"
            );
            if let Some(mnemonic) = evex_mnemonic(name) {
                let found = format!("{:?}", inst.mnemonic()).to_uppercase();
                assert_eq!(found, mnemonic, "{inst}");
            }
            check_evex(&inst, name, (reg, vvvv, rm), (length, row.tuple), with);
            again(&inst, &code.bytes, name);
            seen[0] += 1;
            seen[1] += u32::from(with.mask != 0);
            seen[2] += u32::from(with.broadcast);
            seen[3] += u32::from(with.rounding.is_some());
            seen[4] += u32::from(memory);
        }
        assert!(seen[0] > 100, "{name} has {seen:?} forms");
    }
}

/// The other side encodes an instruction alike, but for what it chooses itself.
fn again(inst: &Instruction, bytes: &[u8], name: &str) {
    let mut encoder = Encoder::new(64);
    encoder
        .encode(inst, 0)
        .unwrap_or_else(|e| panic!("{name}: {inst}: {e}"));
    let other = encoder.take_buffer();
    let redecoded = Decoder::new(64, &other, DecoderOptions::NONE).decode();
    assert_eq!(redecoded, *inst, "{name}: {bytes:02x?} and {other:02x?}");
    assert!(
        bytes.len() <= other.len(),
        "{name}: {bytes:02x?} and {other:02x?}"
    );
}

/// Registers, memory, mask, and what else was asked for.
fn check_evex(
    inst: &Instruction,
    name: &str,
    (reg, vvvv, rm): (u8, u8, Rm),
    (length, tuple): (Len, Tuple),
    with: With,
) {
    let registers: Vec<Register> = (0..inst.op_count())
        .filter(|&n| inst.op_kind(n) == OpKind::Register)
        .map(|n| inst.op_register(n))
        .collect();
    // Where the register of an operand has fewer than 32, the upper bits do not count.
    let has = |n: u8| {
        registers.iter().any(|r| match () {
            () if r.is_vector_register() => r.number() == usize::from(n),
            () if r.is_k() => r.number() == usize::from(n & 7),
            () => r.number() == usize::from(n & 15),
        })
    };
    if !name.ends_with("_I") {
        assert!(has(reg), "{name}: {inst} has no {reg}");
    }
    match rm {
        Rm::Reg(r) => assert!(has(r), "{name}: {inst} has no {r}"),
        Rm::Mem(mem) | Rm::Lanes(mem) => check_memory(inst, mem, name),
    }
    let vectors = registers.iter().filter(|r| r.is_vector_register()).count();
    let others = usize::from(matches!(rm, Rm::Reg(_)));
    if vectors > 1 + others || name.ends_with("_I") {
        assert!(has(vvvv), "{name}: {inst} has no {vvvv}");
    }
    let mask = match with.mask {
        0 => Register::None,
        n => Register::K0 + u32::from(n),
    };
    assert_eq!(inst.op_mask(), mask, "{name}: {inst}");
    assert_eq!(inst.zeroing_masking(), with.zero, "{name}: {inst}");
    assert_eq!(inst.is_broadcast(), with.broadcast, "{name}: {inst}");
    let rounding = match with.rounding {
        None => None,
        // Of instructions that do not round the field only says that exceptions are suppressed.
        Some(_) if inst.suppress_all_exceptions() => None,
        Some(Rounding::Nearest) => Some(RoundingControl::RoundToNearest),
        Some(Rounding::Down) => Some(RoundingControl::RoundDown),
        Some(Rounding::Up) => Some(RoundingControl::RoundUp),
        Some(Rounding::Zero) => Some(RoundingControl::RoundTowardZero),
    };
    assert_eq!(
        inst.rounding_control(),
        rounding.unwrap_or(RoundingControl::None),
        "{name}: {inst}"
    );
    let sizes = registers.iter().filter(|r| r.is_vector_register());
    let memory = match rm {
        Rm::Mem(_) if !with.broadcast => inst.memory_size().size(),
        _ => 0,
    };
    let size = sizes.map(|r| r.size()).chain([memory]).max();
    if let (Tuple::Full(_) | Tuple::FullMem, None, false) = (tuple, with.rounding, with.broadcast) {
        assert_eq!(size, Some(16 << length as usize), "{name}: {inst}");
    }
}

/// The name that a row of the VEX coding has in the other.
fn evex_name(name: &str, quads: bool) -> &str {
    match (name, quads) {
        ("VPAND", _) => "VPANDD",
        ("VPANDN", _) => "VPANDND",
        ("VPOR", _) => "VPORD",
        ("VPXOR", _) => "VPXORD",
        ("VROUNDPS", _) => "VRNDSCALEPS",
        ("VROUNDPD", _) => "VRNDSCALEPD",
        ("VROUNDSS", _) => "VRNDSCALESS",
        ("VROUNDSD", _) => "VRNDSCALESD",
        ("VINSERTI128", _) => "VINSERTI32X4",
        ("VEXTRACTI128", _) => "VEXTRACTI32X4",
        ("VMOVD_TO", true) => "VMOVQ_TO",
        ("VMOVD_FROM", true) => "VMOVQ_FROM",
        ("VPINSRD", true) => "VPINSRQ",
        ("VPEXTRD", true) => "VPEXTRQ",
        _ => name,
    }
}

#[test]
fn twins_are_the_same_instructions() {
    let name_of = |twin: evex::Evex| {
        let row = evex::rows::ALL.iter().find(|&&(_, row)| row == twin);
        row.map(|&(name, _)| name)
    };
    let mut count = 0;
    for &(name, row) in vex::ALL {
        let Some(twin) = evex_forms::twin(row) else {
            continue;
        };
        assert_eq!(name_of(twin), Some(evex_name(name, false)));
        count += 1;
    }
    assert!(count > 90, "{count} rows");
    for (name, row) in [
        ("VMOVD_TO", vex::VMOVD_TO),
        ("VMOVD_FROM", vex::VMOVD_FROM),
        ("VPINSRD", vex::VPINSRD),
        ("VPEXTRD", vex::VPEXTRD),
    ] {
        let twin = evex_forms::twin(row.w1()).expect("a quad form");
        assert_eq!(name_of(twin), Some(evex_name(name, true)));
    }
}
