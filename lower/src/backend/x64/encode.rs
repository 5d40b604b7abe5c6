//! Encoding of x86-64 instructions as rows of (prefix, map, W, opcode): legacy encoding for general
//! registers, VEX encoding for vectors and the newer scalar instructions.

/// The mandatory prefix of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the bytes themselves")]
pub enum Prefix {
    None = 0,
    P66 = 1,
    PF3 = 2,
    PF2 = 3,
}

/// The opcode map of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the bytes themselves")]
pub enum Map {
    One = 0,
    M0F = 1,
    M0F38 = 2,
    M0F3A = 3,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Prefix.
    pub prefix: Prefix,
    /// Opcode map.
    pub map: Map,
    /// The W bit of a VEX instruction; legacy instructions take the operation's width separately.
    pub w: bool,
    /// Opcode byte.
    pub opcode: u8,
}

/// A row without W.
pub const fn row(prefix: Prefix, map: Map, opcode: u8) -> Row {
    Row {
        prefix,
        map,
        w: false,
        opcode,
    }
}

impl Row {
    /// The row with W set.
    pub const fn w1(self) -> Row {
        Row { w: true, ..self }
    }
}

/// Length of a vector operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Len {
    /// 128 bits, also for single floats and general registers.
    L128 = 0,
    /// 256 bits.
    L256 = 1,
    /// 512 bits, EVEX encoding only.
    L512 = 2,
}

/// Base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A general register.
    Reg(u8),
    /// A label, resolved by [`Code::fix`].
    Label(u32),
}

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mem {
    /// Its base.
    pub base: Base,
    /// An index register and the logarithm of its scale; never general register 4.
    pub index: Option<(u8, u8)>,
    /// Bytes to add.
    pub disp: i32,
}

/// The operand that may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rm {
    /// A register.
    Reg(u8),
    /// Memory.
    Mem(Mem),
    /// One address for each lane: the index is a vector of offsets.
    Lanes(Mem),
}

/// A reference to a label: the four bytes at `at` become its distance from `end`.
#[derive(Clone, Copy, Debug)]
struct Fixup {
    at: usize,
    end: usize,
    label: u32,
}

/// Machine code in the making.
#[derive(Default)]
pub struct Code {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    fixups: Vec<Fixup>,
    /// Offset of the current instruction's displacement, if it refers to a label.
    open: Option<(usize, u32)>,
}

impl Code {
    /// An instruction in legacy encoding: general registers, `wide` for 64 bits. `byte`: byte
    /// registers.
    pub fn legacy(&mut self, row: Row, wide: bool, byte: bool, reg: u8, rm: Rm, imm: &[u8]) {
        match row.prefix {
            Prefix::None => {}
            Prefix::P66 => self.bytes.push(0x66),
            Prefix::PF3 => self.bytes.push(0xf3),
            Prefix::PF2 => self.bytes.push(0xf2),
        }
        let (x, b) = extensions(rm);
        let rex = 0x40 | u8::from(wide) << 3 | (reg >> 3) << 2 | x << 1 | b;
        let low_byte = |r: u8| byte && r >= 4;
        let needs = low_byte(reg) || matches!(rm, Rm::Reg(r) if low_byte(r));
        if rex != 0x40 || needs {
            self.bytes.push(rex);
        }
        match row.map {
            Map::One => {}
            Map::M0F => self.bytes.push(0x0f),
            Map::M0F38 => self.bytes.extend([0x0f, 0x38]),
            Map::M0F3A => self.bytes.extend([0x0f, 0x3a]),
        }
        self.bytes.push(row.opcode);
        self.operands(reg, rm, 1, imm);
    }

    /// An instruction in VEX encoding: `reg` and `rm` as in the row, `vvvv` the further source (or
    /// 0).
    pub fn vex(&mut self, row: Row, len: Len, reg: u8, vvvv: u8, rm: Rm, imm: &[u8]) {
        assert!(len != Len::L512, "bug: 512 bits in VEX");
        let (x, b) = extensions(rm);
        let last = (!vvvv & 15) << 3 | (len as u8) << 2 | row.prefix as u8;
        let r = (!reg >> 3 & 1) << 7;
        if x == 0 && b == 0 && !row.w && row.map == Map::M0F {
            self.bytes.extend([0xc5, r | last]);
        } else {
            let second = r | (x ^ 1) << 6 | (b ^ 1) << 5 | row.map as u8;
            self.bytes
                .extend([0xc4, second, u8::from(row.w) << 7 | last]);
        }
        self.bytes.push(row.opcode);
        self.operands(reg, rm, 1, imm);
    }

    /// The ModRM byte and what follows it; a short displacement is in units of `unit` bytes.
    pub(super) fn operands(&mut self, reg: u8, rm: Rm, unit: i32, imm: &[u8]) {
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => self.bytes.push(0xc0 | reg | r & 7),
            Rm::Mem(mem) => {
                let is_four = matches!(mem.index, Some((4, _)));
                assert!(!is_four, "bug: register 4 is no index");
                self.memory(reg, mem, unit);
            }
            Rm::Lanes(mem) => self.memory(reg, mem, unit),
        }
        self.bytes.extend(imm);
        self.close();
    }

    fn memory(&mut self, reg: u8, mem: Mem, unit: i32) {
        let base = match mem.base {
            Base::Reg(base) => base,
            Base::Label(label) => {
                assert!(mem.index.is_none(), "bug: a label with an index");
                self.bytes.push(reg | 5);
                self.open(label, mem.disp);
                return;
            }
        };
        // Registers 5 and 13 have no form without displacement, 4 and 12 none without a SIB byte.
        let short = match mem.disp % unit {
            0 => i8::try_from(mem.disp / unit).ok(),
            _ => None,
        };
        let (mode, disp): (u8, &[u8]) = match short {
            Some(0) if base & 7 != 5 => (0, &[]),
            Some(short) => (0x40, &[short as u8]),
            None => (0x80, &mem.disp.to_le_bytes()),
        };
        match mem.index {
            None if base & 7 != 4 => self.bytes.push(mode | reg | base & 7),
            None => self.bytes.extend([mode | reg | 4, 0x24]),
            Some((index, scale)) => {
                let second = scale << 6 | (index & 7) << 3 | base & 7;
                self.bytes.extend([mode | reg | 4, second]);
            }
        }
        self.bytes.extend(disp);
    }

    /// Four bytes for the distance of a label, plus `more`.
    fn open(&mut self, label: u32, more: i32) {
        self.open = Some((self.bytes.len(), label));
        self.bytes.extend(more.to_le_bytes());
    }

    /// Ends an instruction that may refer to a label.
    fn close(&mut self) {
        if let Some((at, label)) = self.open.take() {
            let end = self.bytes.len();
            self.fixups.push(Fixup { at, end, label });
        }
    }

    /// A jump or branch to a label, given the opcode bytes of its form with a 32-bit displacement.
    pub fn branch(&mut self, opcode: &[u8], label: u32) {
        self.bytes.extend(opcode);
        self.open(label, 0);
        self.close();
    }

    /// Resolves all labels by their positions, given by `place`.
    pub fn fix(&mut self, place: impl Fn(u32) -> usize) {
        for fixup in self.fixups.drain(..) {
            let field = &mut self.bytes[fixup.at..fixup.at + 4];
            let more = i32::from_le_bytes(field.try_into().expect("four bytes"));
            let distance = place(fixup.label) as i64 - fixup.end as i64 + i64::from(more);
            let distance = i32::try_from(distance).expect("bug: a region of more than 2 GiB");
            field.copy_from_slice(&distance.to_le_bytes());
        }
    }
}

/// The extension bits of the registers in an operand: of the index, and of the base or register.
pub(super) fn extensions(rm: Rm) -> (u8, u8) {
    match rm {
        Rm::Reg(r) => (0, r >> 3),
        Rm::Mem(mem) | Rm::Lanes(mem) => {
            let base = match mem.base {
                Base::Reg(base) => base,
                Base::Label(_) => 0,
            };
            (mem.index.map_or(0, |(index, _)| index >> 3 & 1), base >> 3)
        }
    }
}
