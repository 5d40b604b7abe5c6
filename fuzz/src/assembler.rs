//! Machine code by the names of rows: encodings of single instructions, and what writers of kernels share.

use frontend::{Encoding, Gfx, isa};

use crate::program::Rows;

/// The code of VCC.
pub const VCC: u32 = 106;
/// The code of M0.
pub const M0: u32 = 124;
/// The code of EXEC.
pub const EXEC: u32 = 126;
/// The code of the inline constant 0.
pub const ZERO: u32 = 128;
/// The code of the inline constant -1.
pub const MINUS_ONE: u32 = 193;
/// The code that says that a literal follows.
pub const LITERAL: u32 = 255;
/// The code of a small constant.
pub const fn constant(value: u32) -> u32 {
    assert!(value <= 64, "greater ones are literals");
    128 + value
}
/// The hardware register MODE, all of it, as an operand of `s_getreg_b32`.
pub const MODE: u32 = 31 << 11 | 1;
/// The last word of the descriptor of a raw buffer.
pub const RAW: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9 | 7 << 12 | 4 << 15;

/// Where an instruction of MUBUF accesses memory.
#[derive(Clone, Copy)]
pub struct Place {
    /// VGPR with the lanes' offsets.
    pub address: u32,
    /// The first of four SGPRs with the descriptor.
    pub descriptor: u32,
    /// Code of an operand that is added.
    pub base: u32,
    /// Another addend, of 12 bits.
    pub offset: u32,
}

impl Rows {
    /// The name of the addition in vector registers that writes the carry to VCC.
    pub fn add_co(&self) -> &'static str {
        match self.gfx {
            Gfx::Gfx600 | Gfx::Gfx700 => "v_add_i32",
            Gfx::Gfx803 => "v_add_u32",
            _ => "v_add_co_u32",
        }
    }

    /// The name of the same that adds the carry of VCC.
    pub fn add_carry(&self) -> &'static str {
        match self.gfx.is_gfx9() {
            true => "v_addc_co_u32",
            false => "v_addc_u32",
        }
    }

    /// The opcode of a row by its name on the target.
    pub fn opcode(&self, encoding: Encoding, name: &str) -> u32 {
        isa::all()
            .filter(|desc| desc.encoding == encoding && desc.name_on(self.gfx) == name)
            .find_map(|desc| desc.opcodes.get(self.gfx))
            .unwrap_or_else(|| panic!("{name} on {}", self.gfx))
            .into()
    }

    /// An instruction of SOP1.
    pub fn sop1(&self, name: &str, d: u32, s: u32) -> Vec<u8> {
        let op = self.opcode(Encoding::Sop1, name);
        (0x17d << 23 | d << 16 | op << 8 | s).to_le_bytes().to_vec()
    }

    /// An instruction of SOP2.
    pub fn sop2(&self, name: &str, d: u32, s0: u32, s1: u32) -> Vec<u8> {
        let op = self.opcode(Encoding::Sop2, name);
        let word: u32 = 0x2 << 30 | op << 23 | d << 16 | s1 << 8 | s0;
        word.to_le_bytes().to_vec()
    }

    /// An instruction of SOPK.
    pub fn sopk(&self, name: &str, d: u32, imm: u32) -> Vec<u8> {
        let op = self.opcode(Encoding::Sopk, name);
        let word: u32 = 0xb << 28 | op << 23 | d << 16 | imm & 0xffff;
        word.to_le_bytes().to_vec()
    }

    /// An instruction of SOPC.
    pub fn sopc(&self, name: &str, s0: u32, s1: u32) -> Vec<u8> {
        let op = self.opcode(Encoding::Sopc, name);
        let word: u32 = 0x17e << 23 | op << 16 | s1 << 8 | s0;
        word.to_le_bytes().to_vec()
    }

    /// A branch over `bytes` bytes (backward if negative).
    pub fn branch(&self, name: &str, bytes: i32) -> Vec<u8> {
        let op = self.opcode(Encoding::Sopp, name);
        let word: u32 = 0x17f << 23 | op << 16 | (bytes / 4) as u32 & 0xffff;
        word.to_le_bytes().to_vec()
    }

    /// An instruction of VOP1.
    pub fn vop1(&self, name: &str, d: u32, s: u32) -> Vec<u8> {
        let op = self.opcode(Encoding::Vop1, name);
        let word: u32 = 0x3f << 25 | d << 17 | op << 9 | s;
        word.to_le_bytes().to_vec()
    }

    /// An instruction of VOP2.
    pub fn vop2(&self, name: &str, d: u32, s0: u32, v1: u32) -> Vec<u8> {
        let op = self.opcode(Encoding::Vop2, name);
        let word: u32 = op << 25 | d << 17 | v1 << 9 | s0;
        word.to_le_bytes().to_vec()
    }

    /// An instruction of VOP3 with two sources.
    pub fn vop3(&self, name: &str, d: u32, s0: u32, s1: u32) -> Vec<u8> {
        let op = self.opcode(Encoding::Vop3, name);
        let words: [u32; 2] = [0x34 << 26 | op << 16 | d, s1 << 9 | s0];
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// An instruction of VOPC.
    pub fn vopc(&self, name: &str, s0: u32, v1: u32) -> Vec<u8> {
        let op = self.opcode(Encoding::Vopc, name);
        let word: u32 = 0x3e << 25 | op << 17 | v1 << 9 | s0;
        word.to_le_bytes().to_vec()
    }

    /// Loads `1 << log` dwords from an address in a pair.
    pub fn scalar_load(&self, d: u32, log: u32, pair: u32, offset: u32) -> Vec<u8> {
        const NAMES: [&str; 5] = [
            "s_load_dword",
            "s_load_dwordx2",
            "s_load_dwordx4",
            "s_load_dwordx8",
            "s_load_dwordx16",
        ];
        let op = self.opcode(Encoding::Smem, NAMES[log as usize]);
        let base = pair / 2;
        if self.gfx.is_gfx8_up() {
            return bytes_of(&[0x30 << 26 | op << 18 | 1 << 17 | d << 6 | base, offset]);
        }
        let dwords = offset / 4;
        bytes_of(&[0x18 << 27 | op << 22 | d << 15 | base << 9 | 1 << 8 | dwords])
    }

    /// An instruction of MUBUF with offsets of lanes.
    pub fn mubuf(&self, name: &str, data: u32, place: Place) -> Vec<u8> {
        let op = self.opcode(Encoding::Mubuf, name);
        let offen = 1 << 12;
        bytes_of(&[
            0x38 << 26 | op << 18 | offen | place.offset,
            place.base << 24 | (place.descriptor / 4) << 16 | data << 8 | place.address,
        ])
    }

    /// An instruction of DS; `registers` is its second dword.
    pub fn ds(&self, name: &str, offset: u32, registers: u32) -> Vec<u8> {
        let op = self.opcode(Encoding::Ds, name);
        let op = op << if self.gfx.is_gfx8_up() { 17 } else { 18 };
        bytes_of(&[0x36 << 26 | op | offset, registers])
    }

    /// A move between a VGPR and an accumulation register, in a direction by its name.
    pub fn accumulation(&self, name: &str, d: u32, s: u32) -> Vec<u8> {
        let op = self.opcode(Encoding::Vop3p, name);
        bytes_of(&[0x1a7 << 23 | op << 16 | d, 256 | s])
    }

    /// Writes a scalar register to a lane.
    pub fn write_lane(&self, d: u32, s: u32, lane: u32) -> Vec<u8> {
        let (name, lane) = ("v_writelane_b32", constant(lane));
        match self.gfx.is_gfx8_up() {
            true => self.vop3(name, d, s, lane),
            false => self.vop2(name, d, s, lane),
        }
    }
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Functions of [`Assembler`] that add what the functions of [`Rows`] with these names encode.
macro_rules! added {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $ty:ty),*);)*) => {
        $(
            $(#[$doc])*
            fn $name(&mut self, $($argument: $ty),*) {
                let bytes = self.rows().$name($($argument),*);
                self.add(&bytes);
            }
        )*
    };
}

/// A writer of code.
pub trait Assembler {
    /// The rows of its target.
    fn rows(&self) -> &Rows;

    /// What it has written.
    fn code(&mut self) -> &mut Vec<u8>;

    /// Adds an instruction.
    fn add(&mut self, bytes: &[u8]) {
        self.code().extend(bytes);
    }

    /// Adds a dword that is no instruction of its own, such as the literal of the one before.
    fn word(&mut self, word: u32) {
        self.code().extend(word.to_le_bytes());
    }

    added! {
        /// Adds an instruction of SOP1.
        sop1(name: &str, d: u32, s: u32);
        /// Adds an instruction of SOP2.
        sop2(name: &str, d: u32, s0: u32, s1: u32);
        /// Adds an instruction of SOPK.
        sopk(name: &str, d: u32, imm: u32);
        /// Adds an instruction of SOPC.
        sopc(name: &str, s0: u32, s1: u32);
        /// Adds an instruction of VOP1.
        vop1(name: &str, d: u32, s: u32);
        /// Adds an instruction of VOP2.
        vop2(name: &str, d: u32, s0: u32, v1: u32);
        /// Adds an instruction of VOPC.
        vopc(name: &str, s0: u32, v1: u32);
        /// Adds an instruction of MUBUF, with offsets of lanes.
        mubuf(name: &str, data: u32, place: Place);
        /// Adds an instruction of DS; `registers` is its second dword.
        ds(name: &str, offset: u32, registers: u32);
        /// Writes a scalar register to a lane.
        write_lane(d: u32, s: u32, lane: u32);
    }

    /// Adds an instruction of SOPP; the immediate is that of a branch over so many bytes.
    fn sopp(&mut self, name: &str, bytes: i32) {
        let bytes = self.rows().branch(name, bytes);
        self.add(&bytes);
    }

    /// Waits for all accesses to memory.
    fn wait(&mut self) {
        self.sopp("s_waitcnt", 0);
    }

    /// Sets a scalar register to a literal.
    fn move_literal(&mut self, d: u32, value: u32) {
        self.sop1("s_mov_b32", d, LITERAL);
        self.word(value);
    }

    /// Loads `1 << log` dwords from an address in a pair.
    fn load(&mut self, d: u32, log: u32, pair: u32, offset: u32) {
        let bytes = self.rows().scalar_load(d, log, pair, offset);
        self.add(&bytes);
    }

    /// Moves a VGPR to an accumulation register.
    fn acc_write(&mut self, d: u32, vgpr: u32) {
        let bytes = self.rows().accumulation("v_accvgpr_write_b32", d, vgpr);
        self.add(&bytes);
    }

    /// Moves an accumulation register to a VGPR.
    fn acc_read(&mut self, d: u32, agpr: u32) {
        let bytes = self.rows().accumulation("v_accvgpr_read_b32", d, agpr);
        self.add(&bytes);
    }
}
