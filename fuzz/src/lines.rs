//! Straight lines: long sequences of instructions without a branch, which the translator divides into blocks of its own choice. Every
//! access to memory and every other call of the runtime gets operands of all mixtures: registers with the same word in all
//! lanes, moved there by the instructions before it, and others. EXEC changes between them.

use frontend::{Encoding, Gfx, Op, decode, isa};
use harness::random::Random;
use harness::snippet::State;
use harness::words::{self, As};
use runtime::engine::Exit;
use runtime::interp::Interpreter;

use crate::assembler::{EXEC, M0, MINUS_ONE};
use crate::checker::Checker;
use crate::program::{self, Item, Rows};

/// Registers that addresses are put together in, from this one on.
const PARTS: u32 = 3;

/// Bits of an `exp` word that say what it is.
fn export_bits(gfx: Gfx) -> u32 {
    if gfx.is_gfx6_7() {
        0x3e << 26
    } else {
        0x31 << 26
    }
}

impl Rows {
    /// A line of about `length` instructions.
    pub(crate) fn line(&self, r: &mut Random, length: u32) -> Vec<Item> {
        let mut items = Vec::new();
        while items.len() < length as usize && !r.is_exhausted() {
            match r.below(24) {
                0 | 1 => self.new_exec(r, &mut items),
                2..=4 => {
                    let to = r.below(words::VGPRS);
                    self.same_in_all_lanes(r, to, &mut items);
                }
                5..=13 => self.access(r, &mut items),
                14 => items.push(Item::Inst(self.export(r))),
                15 if r.once_in(2) => self.relative_moves(r, &mut items),
                16 if r.once_in(2) => self.indexed_moves(r, &mut items),
                17 if r.once_in(4) => items.push(Item::Inst(self.set_mode(r))),
                18 if r.once_in(16) => items.push(Item::Barrier),
                _ => items.push(Item::Inst(self.instruction(r))),
            }
        }
        items
    }

    /// Sets EXEC to all lanes, to what a register says, or to some of its own.
    fn new_exec(&self, r: &mut Random, items: &mut Vec<Item>) {
        let pair = 2 * r.below((words::SGPRS - 4) / 2);
        let bytes = match r.below(6) {
            0..=2 => self.sop1("s_mov_b64", EXEC, MINUS_ONE),
            3 => self.sop1("s_and_saveexec_b64", pair, 2 * r.below(10)),
            4 => self.sop1("s_or_saveexec_b64", pair, 2 * r.below(10)),
            _ => self.sop1("s_mov_b64", EXEC, 2 * r.below(10)),
        };
        items.push(Item::Inst(bytes));
    }

    /// Makes a register the same in all lanes.
    fn same_in_all_lanes(&self, r: &mut Random, to: u32, items: &mut Vec<Item>) {
        let from = match r.below(6) {
            0 | 1 => r.below(words::SGPRS),
            2 => 128 + r.below(65),
            3 => *r.pick(&[106, 107, M0, EXEC, EXEC + 1, 253]),
            4 => {
                let (scalar, vector) = (r.below(words::SGPRS), r.below(words::VGPRS));
                items.push(Item::Inst(self.first_lane(scalar, vector)));
                scalar
            }
            _ => 193 + r.below(16),
        };
        items.push(Item::Inst(self.vop1("v_mov_b32", to, from)));
    }

    /// `v_readfirstlane_b32`
    pub(crate) fn first_lane(&self, to: u32, from: u32) -> Vec<u8> {
        self.vop1("v_readfirstlane_b32", to, 256 + from)
    }

    /// An access to memory, before which its address and data are made the same in all lanes, or other words for each, or
    /// left as they are.
    fn access(&self, r: &mut Random, items: &mut Vec<Item>) {
        let kind = r.pick(&self.memory);
        let desc = match *r.pick(kind) {
            desc if matches!(desc.op, Op::Atomic(..)) && r.once_in(2) => *r.pick(kind),
            desc => desc,
        };
        let Some(mut bytes) = self.encode(r, desc, As::Native) else {
            return;
        };
        let Ok(inst) = decode(self.gfx, &bytes) else {
            return;
        };
        if desc.encoding == Encoding::Smem {
            items.push(Item::Inst(bytes));
            return;
        }
        // The address is named in the fifth byte of all vector encodings.
        let address = u32::from(bytes[4]);
        for (i, operand) in inst.src.iter().enumerate() {
            let &frontend::Operand::Vgpr(n) = operand else {
                continue;
            };
            let regs = desc.src.get(i).map_or(1, |ty| ty.regs().max(1));
            let data = (u32::from(n)..u32::from(n) + regs).filter(|&n| n < words::VGPRS);
            for n in data {
                match r.below(4) {
                    0 | 1 => self.same_in_all_lanes(r, n, items),
                    2 => {
                        let from = 256 + r.below(words::VGPRS);
                        items.push(Item::Inst(self.vop1("v_mov_b32", n, from)));
                    }
                    _ => {}
                }
            }
        }
        if address >= words::VGPRS && r.once_in(2) {
            let parts = match desc.encoding {
                Encoding::Mimg => 9,
                _ => 2,
            };
            let mixture = r.below(3);
            for k in 0..parts {
                let wave = match mixture {
                    0 => true,
                    1 => r.once_in(2),
                    _ => false,
                };
                let from = match wave {
                    true => {
                        let scalar = r.below(words::SGPRS - 4);
                        items.push(Item::Inst(self.first_lane(scalar, address + k)));
                        scalar
                    }
                    false => 256 + address + k,
                };
                items.push(Item::Inst(self.vop1("v_mov_b32", PARTS + k, from)));
            }
            bytes[4] = PARTS as u8;
            if !decode(self.gfx, &bytes).is_ok_and(|inst| program::fits(&inst)) {
                return;
            }
        }
        items.push(Item::Inst(bytes));
    }

    /// An `exp`.
    fn export(&self, r: &mut Random) -> Vec<u8> {
        let low = r.below(16) | r.below(64) << 4 | r.below(8) << 10;
        let registers = std::array::from_fn(|_| r.below(words::VGPRS) as u8);
        let words = [export_bits(self.gfx) | low, u32::from_le_bytes(registers)];
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// Moves of vector registers by M0, or instructions while GPR indexing is on; the registers that they reach are no
    /// prepared ones. Then M0 is what LDS instructions need.
    pub(crate) fn indexed_moves(&self, r: &mut Random, items: &mut Vec<Item>) {
        let index = r.below(3);
        let moves = isa::all().filter(|desc| {
            desc.encoding == Encoding::Vop1
                && desc.opcodes.get(self.gfx).is_some()
                && matches!(desc.op, Op::MovRelS | Op::MovRelD | Op::MovRelSD)
        });
        let moves: Vec<_> = moves.collect();
        let by_mode = self.gfx.is_gfx8_up() && (moves.is_empty() || r.once_in(2));
        let (to, from) = (r.below(12), r.below(12));
        let from = match r.once_in(2) {
            true => 256 + from,
            false => r.below(words::SGPRS),
        };
        let mut push = |bytes: Vec<u8>| items.push(Item::Inst(bytes));
        if by_mode {
            // s_set_gpr_idx_on of an inline constant
            push(
                (0xbf11_0000 | r.below(16) << 8 | (128 + index))
                    .to_le_bytes()
                    .into(),
            );
            for _ in 0..1 + r.below(2) {
                match r.once_in(2) {
                    true => push(self.vop1("v_mov_b32", to, from)),
                    false => push(self.vop2("v_xor_b32", to, from, r.below(12))),
                }
            }
            // s_set_gpr_idx_off
            push(0xbf9c_0000u32.to_le_bytes().into());
        } else if !moves.is_empty() {
            push(self.sopk("s_movk_i32", M0, index));
            for _ in 0..1 + r.below(2) {
                push(self.vop1(r.pick(&moves).name_on(self.gfx), to, from));
            }
        }
        push(self.sopk("s_movk_i32", M0, 0xffff));
    }
}

/// Leaves out what faults from this state, as far as that is seen soon.
pub(crate) fn without_faults(checker: &Checker, mut items: Vec<Item>, before: &State) -> Vec<Item> {
    for _ in 0..16 + items.len() / 16 {
        let bytes = checker.rows.bytes(&items);
        let code = checker.bench.load(checker.gfx, &bytes);
        let outcome = checker.bench.run(&Interpreter, &code, before);
        let base = code.base();
        checker.bench.unload(&code);
        let Exit::Fault(fault) = outcome.exit else {
            break;
        };
        let mut at = base;
        let place = items.iter().position(|item| {
            let here = at;
            at += checker.rows.bytes(std::slice::from_ref(item)).len() as u64 - 8;
            here == fault.pc
        });
        let Some(place) = place else { break };
        items.remove(place);
    }
    items
}
