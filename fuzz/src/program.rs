//! Random programs: instructions, blocks under a mask, loops, barriers; as bytes, and made smaller.

use frontend::desc::InstDesc;
use frontend::inst::{Inst, Operand};
use frontend::op::Data;
use frontend::{Encoding, Gfx, Op, decode, isa};
use harness::random::Random;
use harness::snippet::{BARRIER, END};
use harness::words::{self, As, prepared};

use crate::assembler::{EXEC, M0, VCC, ZERO};
use crate::{Error, Options};

mod lane_loops;

/// Blocks in one another at most.
const DEPTH: u32 = 3;
/// VGPRs in which lanes count the rounds of loops, from v16 on.
const LANE_COUNTERS: u32 = 2;

/// A part of a program.
#[derive(Clone, Debug)]
pub enum Item {
    /// One instruction.
    Inst(Vec<u8>),
    /// A barrier in the middle.
    Barrier,
    /// `compare` makes a mask, under which `then` runs; `other` runs under the rest.
    If {
        /// The compare, which writes VCC.
        compare: Vec<u8>,
        /// A branch skips `then` if no lane is left.
        skip: bool,
        /// Runs in the lanes for which the compare holds.
        then: Vec<Item>,
        /// Runs in the other lanes.
        other: Vec<Item>,
    },
    /// A loop of `count` rounds; lanes for which `leave` (a compare) is false leave it. `by_exec`: lanes count
    /// for themselves, from different numbers on, and it ends when none is left.
    Loop {
        /// Iterations at most.
        count: u32,
        /// The compare behind each iteration.
        leave: Option<Vec<u8>>,
        /// Lanes count for themselves.
        by_exec: bool,
        /// The body.
        body: Vec<Item>,
    },
}

/// Does an instruction belong into a program?
pub fn fits(inst: &Inst) -> bool {
    let flow = matches!(
        inst.op(),
        Op::Branch(_)
            | Op::Endpgm
            | Op::Barrier
            | Op::SetPc
            | Op::SwapPc
            | Op::Call
            | Op::GetPc
            | Op::Trap
            | Op::Rfe
            | Op::RfeRestore
            | Op::CbranchGFork
            | Op::CbranchIFork
            | Op::CbranchJoin
            | Op::SetVskip
            | Op::SetGprIdxOn
            | Op::SetGprIdxMode
            | Op::Sendmsg
            | Op::MemTime
            | Op::MemRealtime
    );
    // Hardware registers other than MODE differ by time and place; writes of MODE's special bits would
    // switch modes for the rest.
    let register = matches!(inst.op(), Op::GetReg | Op::SetReg)
        && !inst
            .src
            .iter()
            .any(|s| matches!(s, Operand::Imm(i) if *i & 63 == 1 && *i >> 6 & 31 < 10));
    // The wave has all VGPRs, so vector moves would hit prepared ones; they have cases.
    let relative = inst.desc.encoding != Encoding::Sop1
        && matches!(
            inst.op(),
            Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2
        );
    // Prepared registers stay.
    let prepared = inst.dst.iter().any(|d| match *d {
        Operand::Sgpr(n) => (words::SGPRS as u8..106).contains(&n) || (108..124).contains(&n),
        Operand::Vgpr(n) => u32::from(n) >= words::VGPRS,
        _ => false,
    });
    let export = inst.op() == Op::Export;
    !flow && !register && !relative && !prepared && !export
}

/// A compare that writes VCC.
fn is_compare(desc: &InstDesc) -> bool {
    desc.encoding == Encoding::Vopc && matches!(desc.op, Op::Cmp(_) | Op::CmpClass)
}

/// A scalar move relative to M0.
fn is_scalar_relative(desc: &InstDesc) -> bool {
    desc.encoding == Encoding::Sop1 && matches!(desc.op, Op::MovRelS | Op::MovRelD)
}

/// A vector instruction that belongs into a program in its native form.
fn is_plain_vector(desc: &InstDesc) -> bool {
    matches!(desc.encoding, Encoding::Vop2 | Encoding::Vop3)
}

/// The rows that programs are made of, by kind.
pub struct Rows {
    /// The target.
    pub gfx: Gfx,
    /// Rounds of a loop at most.
    loops: u32,
    alu: Vec<&'static InstDesc>,
    /// Rows that access memory, by kind of memory.
    pub memory: Vec<Vec<&'static InstDesc>>,
}

impl Rows {
    /// The rows of a target, but those that the options exclude.
    pub fn new(gfx: Gfx, options: &Options) -> Result<Rows, Error> {
        let without = options.without.as_deref();
        let wanted = |name: &str| without.is_none_or(|part| !name.contains(part));
        let of = |encodings: &[Encoding]| -> Vec<&'static InstDesc> {
            isa::all()
                .filter(|desc| wanted(desc.name_on(gfx)))
                .filter(|desc| desc.opcodes.get(gfx).is_some())
                .filter(|desc| encodings.contains(&desc.encoding))
                .collect()
        };
        use Encoding::*;
        let memory = [
            of(&[Smem]),
            of(&[Ds]),
            of(&[Flat, Global, Scratch]),
            of(&[Mubuf, Mtbuf]),
            of(&[Mimg])
                .into_iter()
                .filter(|desc| words::image::runs(desc))
                .collect(),
        ];
        let rows = Rows {
            gfx,
            loops: options.loops,
            alu: of(&[Sop1, Sop2, Sopk, Sopc, Vop1, Vop2, Vopc, Vop3, Vop3p]),
            memory: memory.into_iter().filter(|rows| !rows.is_empty()).collect(),
        };
        // Programs consist of more than single instructions, and what that takes must be there.
        let has = |fits: &dyn Fn(&InstDesc) -> bool| rows.alu.iter().any(|desc| fits(desc));
        let complete = has(&is_compare)
            && has(&is_scalar_relative)
            && has(&is_plain_vector)
            && !rows.memory.is_empty();
        match (complete, without) {
            (false, Some(part)) => Err(Error::TooFewRows(part.to_owned())),
            _ => Ok(rows),
        }
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &'static InstDesc> {
        self.alu.iter().chain(self.memory.iter().flatten()).copied()
    }

    /// A random instruction.
    pub(crate) fn instruction(&self, r: &mut Random) -> Vec<u8> {
        loop {
            let memory = r.once_in(3) && !self.memory.is_empty();
            let desc = if memory {
                let kind = r.pick(&self.memory);
                // There are more atomics than anything else.
                match *r.pick(kind) {
                    desc if matches!(desc.op, Op::Atomic(..)) && r.once_in(2) => *r.pick(kind),
                    desc => desc,
                }
            } else {
                *r.pick(&self.alu)
            };
            let form = match r.below(8) {
                _ if memory => As::Native,
                0..=3 => As::Native,
                4 | 5 => As::Vop3,
                6 => As::Sdwa,
                _ => As::Dpp,
            };
            if let Some(bytes) = self.encode(r, desc, form) {
                return bytes;
            }
        }
    }

    /// Random words of a row, if it has the form and they belong into a program.
    pub fn encode(&self, r: &mut Random, desc: &InstDesc, form: As) -> Option<Vec<u8>> {
        let bytes = words::random(r, self.gfx, desc, form)?;
        match decode(self.gfx, &bytes) {
            Ok(inst) if fits(&inst) => Some(bytes[..usize::from(inst.len)].to_vec()),
            _ => None,
        }
    }

    /// A compare that writes VCC.
    pub(crate) fn compare(&self, r: &mut Random) -> Vec<u8> {
        loop {
            let desc = *r.pick(&self.alu);
            if is_compare(desc)
                && let Some(bytes) = self.encode(r, desc, As::Native)
            {
                return bytes;
            }
        }
    }

    /// A random program of about `length` instructions.
    pub fn program(&self, r: &mut Random, length: u32) -> Vec<Item> {
        let mut left = 1 + r.below(length);
        let mut items = Vec::new();
        let blocks = r.once_in(2);
        while left > 0 && !r.is_exhausted() {
            self.item(r, if blocks { 0 } else { DEPTH }, &mut left, &mut items);
        }
        items
    }

    /// A block's body.
    fn body(&self, r: &mut Random, depth: u32, left: &mut u32) -> Vec<Item> {
        let mut items = Vec::new();
        for _ in 0..r.below(6) {
            if *left == 0 || r.is_exhausted() {
                break;
            }
            self.item(r, depth, left, &mut items);
        }
        items
    }

    fn item(&self, r: &mut Random, depth: u32, left: &mut u32, items: &mut Vec<Item>) {
        *left = left.saturating_sub(1);
        match r.below(40) {
            0 | 1 if depth < DEPTH => items.push(Item::If {
                compare: self.compare(r),
                skip: r.once_in(2),
                then: self.body(r, depth + 1, left),
                other: if r.once_in(3) {
                    self.body(r, depth + 1, left)
                } else {
                    Vec::new()
                },
            }),
            2 | 3 if depth < DEPTH => items.push(Item::Loop {
                count: 1 + r.below(self.loops),
                leave: r.once_in(3).then(|| self.compare(r)),
                by_exec: r.once_in(3),
                body: self.body(r, depth + 1, left),
            }),
            4 if r.once_in(2) => items.push(Item::Barrier),
            5 => items.push(Item::Inst(self.set_mode(r))),
            6..=8 => self.address_idiom(r, items),
            9 if depth < DEPTH => self.lane_loop(r, items),
            10 => self.relative_moves(r, items),
            _ => items.push(Item::Inst(self.instruction(r))),
        }
    }

    /// Scalar moves by M0 with an index that is mostly in range. Afterwards M0 is what LDS accesses need.
    pub(crate) fn relative_moves(&self, r: &mut Random, items: &mut Vec<Item>) {
        let index = r.below(words::SGPRS + 4);
        items.push(Item::Inst(self.sopk("s_movk_i32", M0, index)));
        let moves = self.alu.iter().copied();
        let moves: Vec<&InstDesc> = moves.filter(|desc| is_scalar_relative(desc)).collect();
        for _ in 0..1 + r.below(3) {
            let desc = *r.pick(&moves);
            let bytes = self.encode(r, desc, As::Native);
            items.extend(bytes.map(Item::Inst));
        }
        items.push(Item::Inst(self.sopk("s_movk_i32", M0, 0xffff)));
    }

    /// A write of some of MODE's bits for f32, f16 and f64.
    pub(crate) fn set_mode(&self, r: &mut Random) -> Vec<u8> {
        let offset = r.below(10);
        let size = 1 + r.below(10 - offset);
        let field = (size - 1) << 11 | offset << 6 | 1;
        if r.once_in(3) {
            return self.sopk("s_setreg_b32", r.below(words::SGPRS), field);
        }
        let mut bytes = self.sopk("s_setreg_imm32_b32", 0, field);
        bytes.extend(r.word().to_le_bytes());
        bytes
    }

    /// Addresses as compilers make them from the lane's number, and an access to them.
    fn address_idiom(&self, r: &mut Random, items: &mut Vec<Item>) {
        let (low, high) = (prepared::ADDRESS_V, prepared::ADDRESS_V + 1);
        let (base, base_hi) = (prepared::GLOBAL_S, prepared::GLOBAL_S + 1);
        let shift = 2 + r.below(3);
        let lane = 0;
        let mut push = |bytes: Vec<u8>| items.push(Item::Inst(bytes));
        let scaled = |push: &mut dyn FnMut(Vec<u8>)| {
            push(self.vop2("v_lshlrev_b32", low, ZERO + shift, lane));
        };
        let kind = r.below(4);
        let pair = match kind {
            // base + zext(lane << shift)
            0 => {
                scaled(&mut push);
                push(self.vop1("v_mov_b32", high, base_hi));
                push(self.vop2(self.add_co(), low, base, low));
                push(self.vop2(self.add_carry(), high, ZERO, high));
                true
            }
            // base + (zext(lane) << shift)
            1 if self.gfx.is_gfx8_up() => {
                push(self.vop1("v_mov_b32", high, ZERO));
                push(self.vop1("v_mov_b32", low, 256 + lane));
                push(self.vop3("v_lshlrev_b64", low, ZERO + shift, 256 + low));
                push(self.vop2(self.add_co(), low, base, low));
                push(self.vop2(self.add_carry(), high, base_hi, high));
                true
            }
            _ => {
                scaled(&mut push);
                false
            }
        };
        // An access of a few dwords; the address stands in the fifth byte, SADDR in the seventh.
        let wanted = match (pair, self.gfx) {
            (true, Gfx::Gfx600) => return,
            (true, gfx) if gfx.is_gfx9() => [Encoding::Flat, Encoding::Global],
            (true, _) => [Encoding::Flat; 2],
            (false, gfx) if gfx.is_gfx9() => [Encoding::Global, Encoding::Mubuf],
            (false, _) => [Encoding::Mubuf; 2],
        };
        let rows: Vec<&InstDesc> = self
            .memory
            .iter()
            .flatten()
            .copied()
            .filter(|desc| wanted.contains(&desc.encoding))
            .filter(|desc| {
                matches!(
                    desc.op,
                    Op::Load(_, Data::Dwords(_)) | Op::Store(_, Data::Dwords(_)) | Op::Atomic(..)
                )
            })
            .collect();
        if rows.is_empty() {
            return;
        }
        for _ in 0..1 + r.below(2) {
            let desc = *r.pick(&rows);
            let Some(mut bytes) = self.encode(r, desc, As::Native) else {
                continue;
            };
            bytes[4] = low as u8;
            match desc.encoding {
                Encoding::Global if pair => bytes[6] = bytes[6] & 0x80 | 127,
                Encoding::Global => bytes[6] = bytes[6] & 0x80 | base as u8,
                // offen, not idxen; no 64-bit address
                Encoding::Mubuf => {
                    bytes[1] = bytes[1] & !0x20 | 0x10;
                    if self.gfx.is_gfx6_7() {
                        bytes[1] &= !0x80;
                    }
                    bytes[6] = bytes[6] & !0x1f | (prepared::BUFFER_S / 4) as u8;
                }
                _ => {}
            }
            if decode(self.gfx, &bytes).is_ok_and(|inst| fits(&inst)) {
                items.push(Item::Inst(bytes));
            }
        }
    }

    /// The bytes of a program with a barrier, where all is observable, and an end behind it.
    pub fn bytes(&self, items: &[Item]) -> Vec<u8> {
        let mut out = self.block(items, 0);
        out.extend(BARRIER.to_le_bytes());
        out.extend(END.to_le_bytes());
        out
    }

    fn block(&self, items: &[Item], depth: u32) -> Vec<u8> {
        let mut out = Vec::new();
        let mask = prepared::CONTROL_S + 4 * depth;
        let counter = mask + 2;
        for item in items {
            match item {
                Item::Inst(bytes) => out.extend(bytes),
                Item::Barrier => out.extend(BARRIER.to_le_bytes()),
                Item::If {
                    compare,
                    skip,
                    then,
                    other,
                } => {
                    out.extend(compare);
                    out.extend(self.sop1("s_and_saveexec_b64", mask, VCC));
                    let then = self.block(then, depth + 1);
                    if *skip {
                        out.extend(self.branch("s_cbranch_execz", then.len() as i32));
                    }
                    out.extend(then);
                    if !other.is_empty() {
                        out.extend(self.sop2("s_andn2_b64", EXEC, mask, EXEC));
                        out.extend(self.block(other, depth + 1));
                    }
                    out.extend(self.sop2("s_or_b64", EXEC, EXEC, mask));
                }
                Item::Loop {
                    count,
                    leave,
                    by_exec: true,
                    body,
                } if depth < LANE_COUNTERS => {
                    out.extend(self.loop_by_exec((*count, leave, body), depth));
                }
                Item::Loop {
                    count, leave, body, ..
                } => {
                    out.extend(self.sop1("s_mov_b64", mask, EXEC));
                    out.extend(self.sopk("s_movk_i32", counter, *count));
                    let mut round = self.block(body, depth + 1);
                    let mut end = self.sopk("s_addk_i32", counter, 0xffff);
                    end.extend(self.sopc("s_cmp_lg_u32", counter, ZERO));
                    if let Some(compare) = leave {
                        round.extend(compare);
                        round.extend(self.sop2("s_and_b64", EXEC, EXEC, VCC));
                        round.extend(self.branch("s_cbranch_execz", end.len() as i32 + 4));
                    }
                    round.extend(end);
                    let back = -(round.len() as i32) - 4;
                    round.extend(self.branch("s_cbranch_scc1", back));
                    out.extend(round);
                    out.extend(self.sop1("s_mov_b64", EXEC, mask));
                }
            }
        }
        out
    }
}

/// Makes a program smaller as long as `fails` holds of it.
pub(crate) fn shrink(items: Vec<Item>, fails: &dyn Fn(&[Item]) -> bool) -> Vec<Item> {
    let mut items = without_pieces(items, fails);
    'again: loop {
        for smaller in smaller(&items) {
            if fails(&smaller) {
                items = smaller;
                continue 'again;
            }
        }
        return with_nops(items, fails);
    }
}

/// Replaces instructions that do not matter but for the number of instructions before a cut.
fn with_nops(mut items: Vec<Item>, fails: &dyn Fn(&[Item]) -> bool) -> Vec<Item> {
    const S_NOP: [u8; 4] = [0, 0, 0x80, 0xbf];
    for i in 0..items.len() {
        let Item::Inst(bytes) = &items[i] else {
            continue;
        };
        let mut copy = items.clone();
        copy[i] = Item::Inst(S_NOP.to_vec());
        if bytes[..] != S_NOP && fails(&copy) {
            items = copy;
        }
    }
    items
}

/// Leaves out pieces of a long program, longer ones first.
fn without_pieces(mut items: Vec<Item>, fails: &dyn Fn(&[Item]) -> bool) -> Vec<Item> {
    let mut piece = items.len() / 2;
    while piece > 1 {
        let mut at = 0;
        while at < items.len() {
            let end = (at + piece).min(items.len());
            let rest = [&items[..at], &items[end..]].concat();
            match fails(&rest) {
                true => items = rest,
                false => at = end,
            }
        }
        piece /= 2;
    }
    items
}

/// Programs with something left out.
fn smaller(items: &[Item]) -> Vec<Vec<Item>> {
    let mut all = Vec::new();
    let replaced = |i: usize, by: Vec<Item>| {
        let mut copy = items.to_vec();
        copy.splice(i..=i, by);
        copy
    };
    if items.len() > 4 {
        all.push(items[items.len() / 2..].to_vec());
        all.push(items[..items.len() / 2].to_vec());
    }
    for (i, item) in items.iter().enumerate() {
        all.push(replaced(i, Vec::new()));
        match item {
            Item::Inst(_) | Item::Barrier => {}
            Item::If {
                compare,
                skip,
                then,
                other,
            } => {
                all.push(replaced(i, then.clone()));
                let with = |then: Vec<Item>, other: Vec<Item>| {
                    vec![Item::If {
                        compare: compare.clone(),
                        skip: *skip,
                        then,
                        other,
                    }]
                };
                for then in smaller(then) {
                    all.push(replaced(i, with(then, other.clone())));
                }
                for other in smaller(other) {
                    all.push(replaced(i, with(then.clone(), other)));
                }
            }
            Item::Loop {
                count,
                leave,
                by_exec,
                body,
            } => {
                all.push(replaced(i, body.clone()));
                let with = |count: u32, leave: Option<Vec<u8>>, body: Vec<Item>| {
                    vec![Item::Loop {
                        count,
                        leave,
                        by_exec: *by_exec,
                        body,
                    }]
                };
                if *count > 1 {
                    all.push(replaced(i, with(count - 1, leave.clone(), body.clone())));
                }
                if leave.is_some() {
                    all.push(replaced(i, with(*count, None, body.clone())));
                }
                for body in smaller(body) {
                    all.push(replaced(i, with(*count, leave.clone(), body)));
                }
            }
        }
    }
    all
}
