//! The wide back end's encoder against a disassembler: every row in random forms is one instruction of just
//! that length with the mnemonic of its row and the operands that were asked for, and is encoded alike again.

use iced_x86::{Decoder, DecoderOptions, Encoder, Instruction, OpKind, Register};
use lower::wide::encode::{Base, Code, Len, Mem, Rm};
use lower::wide::rows::{legacy, vex};

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
        let disp = match self.below(4) {
            0 => 0,
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
        "VPBLEND",
        "VPINSR",
        "VPEXTR",
        "VINSERT",
        "VEXTRACT",
        "VCVTPS2PH",
        "ALU_I8",
        "SHIFT_I",
    ];
    if name.ends_with("_I32") {
        4
    } else if name.ends_with("_I") || one.iter().any(|prefix| name.starts_with(prefix)) {
        1
    } else {
        0
    }
}

/// The mnemonic of a row, where its name is one.
fn mnemonic(name: &str) -> Option<&str> {
    if name.contains("SHIFT") || name.starts_with("ALU") || name == "VPSRLW_I" {
        return None;
    }
    match name {
        "VMOVD_TO" | "VMOVD_FROM" | "UNARY" | "CALL" | "LOAD" | "STORE" | "STORE_B" | "STORE_W"
        | "MOV_I32" => None,
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
            let rm = if random.below(2) == 0 || digit || name == "VMOVMSKPS" {
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
                if let Rm::Reg(r) = rm {
                    assert!(numbers.contains(&usize::from(r)), "{name}: {inst}");
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
        let digit = ["ALU", "SHIFT", "UNARY", "CALL", "MOV_I32"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        for _ in 0..400 {
            let reg = match name {
                "SHIFT_I" | "ALU_I8" | "ALU_I32" => 5,
                "UNARY" | "CALL" => 2,
                "MOV_I32" => 0,
                _ => random.register(),
            };
            let wide = random.below(2) == 0 && name != "CALL";
            let rm = if random.below(2) == 0 && name != "LEA" {
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
