//! Encodes a function with allocated registers.

use regalloc2::{Allocation, Edit, InstOrEdit, Output, RegClass};

use super::encode::{Base, Code, Len, Mem, Rm, Row};
use super::evex::{self, With};
use super::evex_forms;
use super::inst::KEPT;
use super::inst::{
    Cc, Compare, Form, HostFunc, HostInst, HostOp, Imm, MASK, Pin, PlaceBase, RAX, RBP, RBX, RDI,
    RSP, vector_words,
};
use super::rows::{legacy, masks, vex};
use crate::backend::object::Patch;
use crate::host::Isa;

struct Emit<'a> {
    func: &'a HostFunc,
    output: &'a Output,
    code: Code,
    patches: Vec<Patch>,
    /// Begin of the spill slots.
    spills: i32,
    /// Label of the epilogue.
    exit: u32,
    /// Label of the first constant.
    pool: u32,
    kept: Vec<u8>,
    /// By block number: the final target of a jump to it.
    jump_targets: Vec<usize>,
}

fn reg(a: Allocation) -> u8 {
    let r = a.as_reg().expect("bug: an operand without a register");
    r.hw_enc() as u8
}

/// Emits a function.
pub(super) fn emit(func: &HostFunc, output: &Output) -> super::Code {
    let mut used = 0u32;
    let mut note = |a: Allocation| {
        let register = a.as_reg().filter(|r| r.class() == RegClass::Int);
        used |= register.map_or(0, |r| 1 << r.hw_enc());
    };
    output.allocs.iter().for_each(|&a| note(a));
    for (_, Edit::Move { from, to }) in &output.edits {
        note(*from);
        note(*to);
    }
    let blocks = func.blocks.len();
    let mut e = Emit {
        func,
        output,
        code: Code::default(),
        patches: Vec::new(),
        spills: (func.stack as i32 + align(func) - 1) & -align(func),
        exit: blocks as u32,
        pool: blocks as u32 + 1,
        kept: [RBX, RBP]
            .into_iter()
            .chain(KEPT.into_iter().filter(|&n| used >> n & 1 != 0))
            .collect(),
        jump_targets: jump_targets(func, output),
    };
    let order = order(func, &e.jump_targets);
    let mut places = vec![usize::MAX; blocks + 1 + func.pool.len()];
    let mut locs: Vec<(u32, u32)> = Vec::new();
    e.prologue();
    let first = e.code.bytes.len();
    let mut start = first;
    for (k, &b) in order.iter().enumerate() {
        places[b] = e.code.bytes.len();
        let next = order.get(k + 1).copied();
        for item in output.block_insts_and_edits(func, regalloc2::Block::new(b)) {
            match item {
                InstOrEdit::Edit(Edit::Move { from, to }) => e.copy(*from, *to),
                InstOrEdit::Inst(inst) => {
                    let host = &func.insts[inst.index()];
                    e.inst(b, host, output.inst_allocs(inst), next);
                    let size = (e.code.bytes.len() - start) as u32;
                    start = e.code.bytes.len();
                    match locs.last_mut() {
                        Some(last) if last.0 == host.loc => last.1 += size,
                        _ => locs.push((host.loc, size)),
                    }
                }
            }
        }
    }
    places[e.exit as usize] = e.code.bytes.len();
    e.epilogue();
    // Constants, the largest first so that each is aligned to its size.
    let mut pool: Vec<usize> = (0..func.pool.len()).collect();
    pool.sort_by_key(|&n| std::cmp::Reverse(func.pool[n].len()));
    while !e.code.bytes.len().is_multiple_of(align(func) as usize) && !pool.is_empty() {
        e.code.bytes.push(0xcc);
    }
    for n in pool {
        places[e.pool as usize + n] = e.code.bytes.len();
        e.code.bytes.extend(&func.pool[n]);
    }
    e.code.fix(|label| places[label as usize]);
    super::Code {
        bytes: e.code.bytes,
        patches: e.patches,
        first,
        locs,
    }
}

/// A word on the stack.
fn on_stack(disp: i32) -> Mem {
    Mem {
        base: Base::Reg(RSP),
        index: None,
        disp,
    }
}

/// Alignment of vectors.
fn align(func: &HostFunc) -> i32 {
    8 * vector_words(func.isa) as i32
}

/// Is a block only a jump?
fn is_idle(func: &HostFunc, output: &Output, block: usize) -> bool {
    let range = func.range(block);
    if range.len() != 1 || func.insts[range.start].op != HostOp::Jump {
        return false;
    }
    let moves = output.block_insts_and_edits(func, regalloc2::Block::new(block));
    moves.into_iter().all(|item| match item {
        InstOrEdit::Edit(Edit::Move { from, to }) => from == to,
        InstOrEdit::Inst(_) => true,
    })
}

/// The final target of a jump to each block, through blocks that only jump. A cycle of such blocks
/// is left alone.
fn jump_targets(func: &HostFunc, output: &Output) -> Vec<usize> {
    let blocks = func.blocks.len();
    let next = |b: usize| match is_idle(func, output, b) {
        true => func.succs(b)[0].index(),
        false => b,
    };
    let next: Vec<usize> = (0..blocks).map(next).collect();
    let target_of = |b: usize| {
        let mut at = b;
        for _ in 0..blocks {
            if next[at] == at {
                return at;
            }
            at = next[at];
        }
        b
    };
    (0..blocks).map(target_of).collect()
}

/// The order of the blocks in memory: as created, split edges behind their source, cold blocks at
/// the end. Unreachable blocks are omitted.
fn order(func: &HostFunc, jump_targets: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jump_targets.len())
        .filter(|&b| b == 0 || jump_targets[b] == b)
        .collect();
    order.sort_by_key(|&b| (func.blocks[b].cold, func.blocks[b].place));
    order
}

impl Emit<'_> {
    fn prologue(&mut self) {
        for &n in &self.kept {
            if n >= 8 {
                self.code.bytes.push(0x41);
            }
            self.code.bytes.push(0x50 | n & 7);
        }
        let context = Rm::Reg(RDI);
        self.code.legacy(
            legacy::LOAD,
            true,
            false,
            Pin::Context.number(),
            context,
            &[],
        );
        self.code
            .legacy(legacy::LOAD, true, false, RAX, Rm::Reg(RSP), &[]);
        let size = (self.saved() + 8).to_le_bytes();
        self.code
            .legacy(legacy::ALU_I32, true, false, 5, Rm::Reg(RSP), &size);
        // Vectors on the stack are aligned.
        let mask = (-align(self.func)) as u8;
        self.code
            .legacy(legacy::ALU_I8, true, false, 4, Rm::Reg(RSP), &[mask]);
        let saved = Rm::Mem(on_stack(self.saved()));
        self.code
            .legacy(legacy::STORE, true, false, RAX, saved, &[]);
    }

    fn epilogue(&mut self) {
        self.vzeroupper();
        let saved = Rm::Mem(on_stack(self.saved()));
        self.code.legacy(legacy::LOAD, true, false, RSP, saved, &[]);
        for &n in self.kept.iter().rev() {
            if n >= 8 {
                self.code.bytes.push(0x41);
            }
            self.code.bytes.push(0x58 | n & 7);
        }
        // ret
        self.code.bytes.push(0xc3);
    }

    /// Offset of the saved stack pointer.
    fn saved(&self) -> i32 {
        self.spills + 8 * self.output.num_spillslots as i32
    }

    /// Avoids the transition penalty of code that uses only the lower halves.
    fn vzeroupper(&mut self) {
        self.code.bytes.extend([0xc5, 0xf8, 0x77]);
    }

    fn slot(&self, a: Allocation) -> Mem {
        let slot = a.as_stack().expect("bug: neither register nor slot");
        on_stack(self.spills + 8 * slot.index() as i32)
    }

    /// A move inserted by the allocator.
    fn copy(&mut self, from: Allocation, to: Allocation) {
        let register = from.as_reg().or(to.as_reg());
        let class = register.expect("bug: a move from slot to slot").class();
        let (store, load, between) = match class {
            RegClass::Int => (legacy::STORE, legacy::LOAD, legacy::LOAD),
            RegClass::Float => (vex::VMOVUPS_STORE, vex::VMOVUPS_LOAD, vex::VMOVAPS),
            MASK => (masks::KMOVW_STORE, masks::KMOVW, masks::KMOVW),
        };
        let (row, r, rm) = match (from.as_reg(), to.as_reg()) {
            (Some(_), Some(_)) if from == to => return,
            (Some(_), Some(_)) => (between, reg(to), Rm::Reg(reg(from))),
            (Some(_), None) => (store, reg(from), Rm::Mem(self.slot(to))),
            _ => (load, reg(to), Rm::Mem(self.slot(from))),
        };
        let whole = match self.func.isa {
            Isa::Avx2 => Len::L256,
            Isa::Avx512 => Len::L512,
        };
        match class {
            RegClass::Int => self.code.legacy(row, true, false, r, rm, &[]),
            RegClass::Float => self.vector(row, whole, r, 0, rm, &[]),
            MASK => self.code.vex(row, Len::L128, r, 0, rm, &[]),
        }
    }

    /// An instruction with a VEX encoding, in EVEX encoding where registers or length require it.
    fn vector(&mut self, row: Row, len: Len, r: u8, vvvv: u8, rm: Rm, imm: &[u8]) {
        let high = |r: u8| r >= 16;
        if len != Len::L512 && !high(r) && !high(vvvv) && !matches!(rm, Rm::Reg(r) if high(r)) {
            self.code.vex(row, len, r, vvvv, rm, imm);
            return;
        }
        let twin =
            evex_forms::twin(row).unwrap_or_else(|| panic!("bug: {row:?} has no EVEX coding"));
        self.code.evex(twin, len, With::default(), r, vvvv, rm, imm);
    }

    /// The fields reg, vvvv and rm of a vector instruction by its form.
    fn fields(&self, host: &HostInst, form: Form, a: &[Allocation]) -> (u8, u8, Rm) {
        let rm = |from: usize| self.rm(host, &a[from..]);
        match form {
            Form::Rvm | Form::Rounded(_) => (reg(a[0]), reg(a[1]), rm(2)),
            Form::Rvmr => (reg(a[0]), reg(a[1]), rm(3)),
            Form::Rm | Form::Store => (reg(a[0]), 0, rm(1)),
            Form::Mr => (reg(a[1]), 0, Rm::Reg(reg(a[0]))),
            Form::Digit(n) => (n, reg(a[0]), rm(1)),
            Form::Fma | Form::RoundedFma(_) | Form::MaskedRvm | Form::ZeroedRvm => {
                (reg(a[0]), reg(a[2]), rm(3))
            }
            Form::ZeroedRm | Form::StoreSome => (reg(a[0]), 0, rm(2)),
            Form::MergedRvm => (reg(a[0]), reg(a[3]), rm(4)),
            Form::MergedRm => (reg(a[0]), 0, rm(3)),
            Form::MergedDigit(n) => (n, reg(a[0]), rm(3)),
            Form::Gather => (reg(a[0]), 0, lanes(rm(4))),
            Form::Scatter => (reg(a[2]), 0, lanes(rm(3))),
            Form::Tied | Form::TiedDigit(_) | Form::Address(_) => {
                unreachable!("bug: {form:?} of vectors")
            }
        }
    }

    /// The operand that may be in memory; `rest` are the allocations from it on.
    fn rm(&self, host: &HostInst, rest: &[Allocation]) -> Rm {
        let Some(place) = host.mem else {
            return match rest[0].as_reg() {
                Some(_) => Rm::Reg(reg(rest[0])),
                None => Rm::Mem(self.slot(rest[0])),
            };
        };
        let (base, used) = match place.base {
            PlaceBase::Pool(n) => (Base::Label(self.pool + n), 0),
            PlaceBase::Fixed(n) => (Base::Reg(n), 0),
            PlaceBase::Operand => (Base::Reg(reg(rest[0])), 1),
        };
        let index = place.indexed.map(|shift| (reg(rest[used]), shift));
        Rm::Mem(Mem {
            base,
            index,
            disp: place.disp,
        })
    }

    fn inst(&mut self, block: usize, host: &HostInst, a: &[Allocation], next: Option<usize>) {
        let mut space = [0; 4];
        match host.op {
            HostOp::Vex(row, len, form, imm) => {
                let (r, v, rm) = self.fields(host, form, a);
                match form {
                    Form::Rvmr => self.code.vex(row, len, r, v, rm, &[reg(a[2]) << 4]),
                    Form::Gather => self.code.vex(row, len, r, reg(a[1]), rm, &[]),
                    _ => self.vector(row, len, r, v, rm, bytes_of(imm, &mut space)),
                }
            }
            HostOp::Evex(row, len, form, imm) => {
                let (r, v, rm) = self.fields(host, form, a);
                let mask = match form {
                    Form::MaskedRvm
                    | Form::ZeroedRm
                    | Form::ZeroedRvm
                    | Form::Gather
                    | Form::StoreSome => reg(a[1]),
                    Form::MergedRvm | Form::MergedRm | Form::MergedDigit(_) => reg(a[2]),
                    Form::Scatter => reg(a[0]),
                    _ => 0,
                };
                let with = With {
                    mask,
                    zero: matches!(form, Form::ZeroedRm | Form::ZeroedRvm),
                    rounding: match form {
                        Form::Rounded(direction) | Form::RoundedFma(direction) => Some(direction),
                        _ => None,
                    },
                    ..With::default()
                };
                let imm = bytes_of(imm, &mut space);
                self.code.evex(row, len, with, r, v, rm, imm);
            }
            HostOp::Legacy(row, wide, form, imm) => {
                let bytes = bytes_of(imm, &mut space);
                let (r, rm) = match form {
                    Form::Tied => (reg(a[0]), self.rm(host, &a[2..])),
                    Form::TiedDigit(n) => (n, Rm::Reg(reg(a[0]))),
                    Form::Address(n) => (n, self.rm(host, a)),
                    Form::Rm => (reg(a[0]), self.rm(host, &a[1..])),
                    Form::Store => (reg(a[0]), self.rm(host, &a[1..])),
                    _ => unreachable!("bug: {form:?} in legacy coding"),
                };
                let byte = [legacy::MOVZX_B, legacy::MOVSX_B, legacy::STORE_B].contains(&row);
                self.code.legacy(row, wide, byte, r, rm, bytes);
            }
            HostOp::MovImm(value) => self.constant(reg(a[0]), value),
            HostOp::MovSymbol(symbol, addend) => {
                let r = reg(a[0]);
                self.code.bytes.extend([0x48 | r >> 3, 0xb8 | r & 7]);
                let offset = self.code.bytes.len() as u32;
                self.code.bytes.extend([0; 8]);
                self.patches.push(Patch {
                    offset,
                    symbol,
                    addend,
                });
            }
            HostOp::Zero | HostOp::Ones => {
                let row = if host.op == HostOp::Zero {
                    vex::VPXOR
                } else {
                    vex::VPCMPEQD
                };
                let r = reg(a[0]);
                if self.func.isa == Isa::Avx512 && (r >= 16 || host.op == HostOp::Ones) {
                    // All ones regardless of the sources, or the exclusive or.
                    let (row, imm) = match host.op {
                        HostOp::Ones => (evex::rows::VPTERNLOGD, &[0xff][..]),
                        _ => (evex::rows::VPXORD, &[][..]),
                    };
                    let with = With::default();
                    self.code.evex(row, Len::L512, with, r, r, Rm::Reg(r), imm);
                    return;
                }
                self.code.vex(row, Len::L256, r, r, Rm::Reg(r), &[]);
            }
            HostOp::Set(compare) => {
                self.compare(compare, &a[1..]);
                let d = reg(a[0]);
                self.set(compare.cc, d);
                self.code
                    .legacy(legacy::MOVZX_B, false, true, d, Rm::Reg(d), &[]);
            }
            HostOp::Select(compare) => {
                self.compare(compare, &a[3..]);
                let row = super::encode::row(
                    super::encode::Prefix::None,
                    super::encode::Map::M0F,
                    0x40 | compare.cc as u8,
                );
                self.code
                    .legacy(row, true, false, reg(a[0]), Rm::Reg(reg(a[2])), &[]);
            }
            HostOp::MulHigh(signed, wide) => {
                let digit = if signed { 5 } else { 4 };
                self.code
                    .legacy(legacy::UNARY, wide, false, digit, Rm::Reg(reg(a[1])), &[]);
            }
            HostOp::Call => {
                self.vzeroupper();
                self.code
                    .legacy(legacy::CALL, false, false, 2, Rm::Reg(reg(a[0])), &[]);
            }
            HostOp::Nothing => {}
            HostOp::Pin(pin) => {
                let value = Rm::Reg(reg(a[0]));
                self.code
                    .legacy(legacy::LOAD, true, false, pin.number(), value, &[]);
            }
            HostOp::Jump => {
                let to = self.jump_targets[self.func.succs(block)[0].index()];
                self.jump(to, next);
            }
            HostOp::Branch(compare) => {
                let succs = self.func.succs(block);
                let (yes, no) = (
                    self.jump_targets[succs[0].index()],
                    self.jump_targets[succs[1].index()],
                );
                self.compare(compare, a);
                if Some(yes) == next {
                    self.branch(compare.cc.not(), no);
                } else {
                    self.branch(compare.cc, yes);
                    self.jump(no, next);
                }
            }
            HostOp::Return => {
                debug_assert_eq!(reg(a[0]), RAX);
                self.code.branch(&[0xe9], self.exit);
            }
        }
    }

    fn jump(&mut self, to: usize, next: Option<usize>) {
        if Some(to) != next {
            self.code.branch(&[0xe9], to as u32);
        }
    }

    fn branch(&mut self, cc: Cc, to: usize) {
        self.code.branch(&[0x0f, 0x80 | cc as u8], to as u32);
    }

    fn compare(&mut self, compare: Compare, a: &[Allocation]) {
        let (wide, first) = (compare.wide, reg(a[0]));
        match compare.imm {
            Some(0) => {
                // The sign condition and the others test the same flags.
                self.code
                    .legacy(legacy::TEST, wide, false, first, Rm::Reg(first), &[]);
            }
            Some(imm) => match i8::try_from(imm) {
                Ok(short) => {
                    self.code.legacy(
                        legacy::ALU_I8,
                        wide,
                        false,
                        7,
                        Rm::Reg(first),
                        &[short as u8],
                    );
                }
                Err(_) => {
                    let imm = imm.to_le_bytes();
                    self.code
                        .legacy(legacy::ALU_I32, wide, false, 7, Rm::Reg(first), &imm);
                }
            },
            None => {
                self.code
                    .legacy(legacy::CMP, wide, false, first, Rm::Reg(reg(a[1])), &[]);
            }
        }
    }

    /// Sets a byte register by a condition.
    fn set(&mut self, cc: Cc, d: u8) {
        let row = super::encode::row(
            super::encode::Prefix::None,
            super::encode::Map::M0F,
            0x90 | cc as u8,
        );
        // The digit 0 is encoded in place of a register.
        self.code.legacy(row, false, true, 0, Rm::Reg(d), &[]);
    }

    fn constant(&mut self, r: u8, value: u64) {
        if let Ok(word) = u32::try_from(value) {
            if word == 0 {
                self.code
                    .legacy(legacy::XOR, false, false, r, Rm::Reg(r), &[]);
                return;
            }
            if r >= 8 {
                self.code.bytes.push(0x41);
            }
            self.code.bytes.push(0xb8 | r & 7);
            self.code.bytes.extend(word.to_le_bytes());
        } else if let Ok(word) = i32::try_from(value as i64) {
            let word = word.to_le_bytes();
            self.code
                .legacy(legacy::MOV_I32, true, false, 0, Rm::Reg(r), &word);
        } else {
            self.code.bytes.extend([0x48 | r >> 3, 0xb8 | r & 7]);
            self.code.bytes.extend(value.to_le_bytes());
        }
    }
}

/// A memory operand whose index is a vector.
fn lanes(rm: Rm) -> Rm {
    match rm {
        Rm::Mem(mem) => Rm::Lanes(mem),
        _ => unreachable!("bug: lanes that are not in memory"),
    }
}

/// The bytes of a constant.
fn bytes_of(imm: Imm, space: &mut [u8; 4]) -> &[u8] {
    let (word, count) = match imm {
        Imm::No => (0, 0),
        Imm::Byte(b) => (i32::from(b), 1),
        Imm::Word(w) => (w, 4),
    };
    *space = word.to_le_bytes();
    &space[..count]
}
