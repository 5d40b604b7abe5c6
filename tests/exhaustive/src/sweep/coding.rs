//! Words of forms, and where sources are in registers.

use frontend::desc::Encoding;
use frontend::{Inst, decode};

use super::{Coding, Form};

impl Form {
    /// The instruction's name on the target.
    pub fn instruction(&self) -> String {
        self.desc.name_on(self.gfx).to_owned()
    }

    /// The words of the instruction with these registers: result (a scalar pair of comparisons), sources.
    pub fn words(&self, d: u32, s: [u32; 2]) -> Vec<u32> {
        let desc = self.desc;
        let opcode = u32::from(desc.opcodes.get(self.gfx).unwrap_or_default());
        let old = self.gfx.is_gfx6_7();
        let first = |src0: u32| match desc.encoding {
            Encoding::Vop1 => 0x3f << 25 | d << 17 | opcode << 9 | src0,
            _ => opcode << 25 | d << 17 | s[1] << 9 | src0,
        };
        match self.coding {
            Coding::E32 => vec![first(256 + s[0])],
            // Of a single register, which is the second source.
            Coding::Constant(code) => vec![opcode << 25 | d << 17 | s[0] << 9 | code],
            Coding::Sdwa(word) => vec![first(0xf9), word | s[0]],
            Coding::Scalar => vec![0x17d << 23 | d << 16 | opcode << 8 | s[0]],
            Coding::Halves { clamp } => {
                // op_sel [0, 1], op_sel_hi [1, 0]; that of the absent third source is 1.
                let low = 2 << 11 | 1 << 14 | u32::from(clamp) << 15;
                let source = 256 + s[0];
                vec![
                    0x1a7 << 23 | opcode << 16 | low | d,
                    source | source << 9 | 1 << 27,
                ]
            }
            Coding::Vop3 {
                abs,
                neg,
                clamp,
                omod,
                op_sel,
            } => {
                let number = match desc.encoding {
                    Encoding::Vop1 if old => opcode + 0x180,
                    Encoding::Vop1 => opcode + 0x140,
                    Encoding::Vop2 => opcode + 0x100,
                    _ => opcode,
                };
                let low = d | abs << 8 | op_sel << 11;
                let low = low | u32::from(clamp) << if old { 11 } else { 15 };
                let second = match self.fields.len() {
                    1 => 0,
                    _ => 256 + s[1],
                };
                vec![
                    0x34 << 26 | number << if old { 17 } else { 16 } | low,
                    (256 + s[0]) | second << 9 | omod << 27 | neg << 29,
                ]
            }
        }
    }

    /// The instruction with some registers.
    pub fn inst(&self) -> Option<Inst> {
        let words = self.words(10, [20, 22]);
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let inst = decode(self.gfx, &bytes).ok()?;
        let whole = usize::from(inst.len) == bytes.len();
        (whole && inst.desc == self.desc).then_some(inst)
    }
}

/// Where the sources of a form are, for the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the low bits of the registers.
    Registers,
    /// Both halves of one register are the sources, in both orders.
    Halves,
    /// At these bits of the registers.
    Selected([u32; 2]),
    /// The first is a constant.
    Constant(u32),
}

impl Form {
    /// Where the sources are; none where modifiers change them or the result.
    pub(crate) fn sources(&self) -> Option<Source> {
        match self.coding {
            Coding::E32 | Coding::Scalar => Some(Source::Registers),
            Coding::Halves { .. } => Some(Source::Halves),
            Coding::Constant(code) => Some(Source::Constant(code)),
            Coding::Vop3 {
                abs: 0,
                neg: 0,
                omod: 0,
                op_sel,
                ..
            } if op_sel & 8 == 0 => Some(Source::Selected(
                [op_sel & 1, op_sel >> 1 & 1].map(|n| 16 * n),
            )),
            Coding::Vop3 { .. } | Coding::Sdwa(_) => None,
        }
    }

    /// Has it CLAMP?
    pub(crate) fn clamps(&self) -> bool {
        matches!(
            self.coding,
            Coding::Vop3 { clamp: true, .. } | Coding::Halves { clamp: true }
        )
    }
}
