//! Guest code to a region of lane IR: finds the blocks reachable from an entry without an indirect
//! jump, and lowers each.

use std::collections::{BTreeMap, BTreeSet};

use frontend::decode;
use frontend::inst::{Inst, M0, Operand};
use frontend::op::{BranchIf, Op as GuestOp};
use frontend::ops;
use frontend::state::mode;
use frontend::target::Gfx;

use crate::ir::build::Build;
use crate::ir::{Block, Func, Op, Target, Term, Val};
use crate::lift::arms::relative::Indexing;
use crate::lift::arms::{self, Lowered, Sites, fork, scalar};
use crate::lift::barrier_hoist;
use crate::lift::guest::Guest;
use crate::lift::outcomes::{self, Outcomes};
use crate::lift::products::Products;
use crate::lift::sanitized;
use crate::maps::HashMap;

/// Source of code: the bytes from a guest address to the end of its executable segment.
pub type Fetch<'a> = dyn Fn(u64) -> Option<&'a [u8]> + 'a;

/// Maximum number of guest instructions in a region, unless a test sets fewer. Code beyond is
/// translated when a wave reaches it, so that the largest kernels start soon.
pub const MAX_INSTS: usize = 4096;

/// Maximum number of guest instructions in a block, unless a test sets fewer; longer runs are split
/// so that passes stay linear.
pub const MAX_BLOCK: usize = 512;

/// What to translate and how.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Target.
    pub gfx: Gfx,
    /// Guest address of the entry.
    pub entry: u64,
    /// The [`mode_key`] at entry, or MODE's float bits alone; specialises the code.
    pub mode: u32,
    /// Guest instructions after which the region stops growing.
    pub max_insts: usize,
    /// Maximum number of guest instructions in a block, at least 1; [`MAX_BLOCK`] unless a test
    /// sets fewer.
    pub max_block: usize,
    /// Regions end at barriers with every register in the wave. Otherwise dead registers are not
    /// stored.
    pub observe: bool,
    /// NaN results are bit-exact.
    pub exact_nan: bool,
    /// Checked mode: SCRATCH instructions stay within the lane's private segment.
    pub checked: bool,
    /// A sanitizer observes the waves: events are announced to it, and accesses that are not nodes of the IR are left to
    /// the interpreter, which announces them.
    pub sanitize: bool,
    /// Outcomes of conditions are counted ([`Block::outcomes`]).
    pub outcomes: bool,
}

/// A block's key: the address, and the [`mode_key`] on entry to it.
pub(crate) type Key = (u64, u32);

/// In a mode key: only M0 has the enables of GPR indexing.
const INDEX_UNKNOWN: u32 = 1 << 16;

/// Position of GPR indexing's enables in a mode key, as in M0, while indexing is on.
const INDEX_ENABLES: u32 = 0xf000;

/// What code is specialised on: MODE's float bits, whether vector instructions are skipped, and the
/// enables of GPR indexing (in M0's position).
pub const fn mode_key(mode_reg: u32, m0: u32) -> u32 {
    let key = mode_reg & (mode::FLOAT_BITS | mode::GPR_IDX_EN | mode::VSKIP);
    if key & mode::GPR_IDX_EN != 0 {
        key | m0 & INDEX_ENABLES
    } else {
        key
    }
}

/// The key of the instruction that follows one without control flow.
pub(crate) fn key_behind(key: u32, inst: &Inst) -> u32 {
    let enables = |operand: Operand| match operand {
        Operand::Imm(imm) => (imm as u32 & 15) << 12,
        _ => INDEX_UNKNOWN,
    };
    let on = key & mode::GPR_IDX_EN != 0;
    let bare = key & !(mode::GPR_IDX_EN | INDEX_ENABLES | INDEX_UNKNOWN);
    let op = inst.op();
    if op == GuestOp::SetGprIdxOn {
        bare | mode::GPR_IDX_EN | enables(inst.src[1])
    } else if op == GuestOp::SetGprIdxMode && on {
        bare | mode::GPR_IDX_EN | enables(inst.src[0])
    } else if op == GuestOp::SetGprIdxOff {
        bare
    } else if op == GuestOp::SetGprIdxIdx {
        key
    } else if on && writes_m0(inst) {
        bare | mode::GPR_IDX_EN | INDEX_UNKNOWN
    } else if let Some((mask, value)) = mode_write(inst) {
        key & !mask | value
    } else {
        key
    }
}

/// Does the instruction write M0 as a register?
fn writes_m0(inst: &Inst) -> bool {
    let dst = inst.desc.dst.iter().zip(inst.dst);
    dst.into_iter().any(|(ty, operand)| match operand {
        Operand::Sgpr(n) => (n..n.saturating_add(ty.regs().max(1) as u8)).contains(&M0),
        _ => false,
    })
}

/// Does the instruction name registers by a number computed at run time? It is then a block of its
/// own, so that all registers are in the wave.
fn is_relative(key: u32, inst: &Inst) -> bool {
    arms::relative::applies(inst, indexing(key))
}

/// GPR indexing as encoded in a mode key.
fn indexing(key: u32) -> Option<Indexing> {
    let known = Indexing::Known((key >> 12 & 15) as u8);
    match (key & mode::GPR_IDX_EN != 0, key & INDEX_UNKNOWN != 0) {
        (false, _) => None,
        (true, false) => Some(known),
        (true, true) => Some(Indexing::Unknown),
    }
}

struct Explored {
    insts: Vec<(u64, Inst)>,
    end: End,
}

/// How a run of instructions ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// Falls into the next block.
    Fall(Key),
    /// Ends with the control instruction that is the last of `insts`.
    Control,
    /// Has a barrier among `insts`; the wave waits there and continues at this address.
    Barrier(u64),
    /// An undecodable instruction, or one for the interpreter only, at this address.
    Interpret(u64),
    /// The region is full.
    Stop(u64),
}

/// Does the instruction end a block by changing control flow?
pub(crate) fn is_control(inst: &Inst) -> bool {
    match inst.op() {
        GuestOp::Branch(_) | GuestOp::Endpgm | GuestOp::Barrier => true,
        GuestOp::SetPc | GuestOp::SwapPc | GuestOp::Call | GuestOp::SetVskip => true,
        GuestOp::CbranchGFork | GuestOp::CbranchIFork | GuestOp::CbranchJoin => true,
        GuestOp::SetReg => scalar::sets_mode(inst) && mode_write(inst).is_none(),
        GuestOp::Trap | GuestOp::Rfe | GuestOp::RfeRestore => false,
        GuestOp::SetGprIdxOn | GuestOp::SetGprIdxIdx => false,
        GuestOp::SetGprIdxOff | GuestOp::SetGprIdxMode => false,
        GuestOp::GetReg | GuestOp::GetPc | GuestOp::SaveExec(_) | GuestOp::WrExec(_) => false,
        GuestOp::Waitcnt | GuestOp::Hint(_) | GuestOp::Sendmsg => false,
        ops!(alu | scalar | scalar_bits | scalar_other | valu | mem) => false,
    }
}

/// Does the instruction change the translation of later code, so that the interpreter must run it?
pub(crate) fn is_interpreted(inst: &Inst) -> bool {
    matches!(
        inst.op(),
        GuestOp::Trap | GuestOp::Rfe | GuestOp::RfeRestore
    )
}

/// `s_setreg` of constant bits of MODE that are float bits only: (mask, value) in position.
fn mode_write(inst: &Inst) -> Option<(u32, u32)> {
    if inst.op() != GuestOp::SetReg {
        return None;
    }
    let value = match inst.src[0] {
        Operand::Literal { word, .. } => word,
        Operand::Inline { bits, .. } => bits as u32,
        _ => return None,
    };
    let Operand::Imm(field) = inst.src[1] else {
        return None;
    };
    let field = field as u32;
    let (id, offset, size) = (field & 63, field >> 6 & 31, (field >> 11 & 31) + 1);
    if id != 1 || offset + size > 32 {
        return None;
    }
    let mask = (if size == 32 {
        u32::MAX
    } else {
        (1 << size) - 1
    }) << offset;
    (mask & !mode::FLOAT_BITS == 0).then_some((mask, value << offset & mask))
}

/// Address of the instruction that follows `pc`.
pub(crate) fn behind(pc: u64, inst: &Inst) -> u64 {
    pc.wrapping_add(u64::from(inst.len))
}

/// Target of a relative branch.
pub(crate) fn branch_target(pc: u64, distance: Operand) -> u64 {
    match distance {
        Operand::Imm(distance) => pc
            .wrapping_add(4)
            .wrapping_add((i64::from(distance) * 4) as u64),
        _ => pc.wrapping_add(4),
    }
}

/// Translates the region at `request.entry`.
pub fn build(request: &Request, fetch: &Fetch<'_>) -> Func {
    let (decoded, mut leaders) = explore(request, fetch);
    let waits = barrier_hoist::waits(request, &decoded);
    leaders.extend(waits.iter().map(|(&(_, mode_bits), &at)| (at, mode_bits)));
    let mut region = Region {
        request: *request,
        decoded,
        leaders,
        waits,
        index: HashMap::default(),
        queue: Vec::new(),
        nodes: Build::new(),
        sites: Sites::default(),
        fallbacks: Vec::new(),
    };
    let entry = (request.entry, entry_key(request));
    region.index.insert(entry, 0);
    region.queue.push(entry);
    let mut blocks = Vec::new();
    while let Some(&key) = region.queue.get(blocks.len()) {
        let block = region.lower_block(key);
        blocks.push(block);
    }
    Func {
        entry: request.entry,
        mode: entry.1,
        blocks,
        sites: region.sites.0,
        fallbacks: region.fallbacks,
    }
}

/// The mode key of a region's entry.
fn entry_key(request: &Request) -> u32 {
    mode_key(request.mode, request.mode)
}

/// Decoded instructions by address and MODE; `Err` where there is none.
pub(crate) type Decoded = BTreeMap<Key, Result<Inst, ()>>;

/// For each barrier, the address at which a wave waits; see [`super::barrier_hoist`].
pub(crate) type Waits = HashMap<Key, u64>;

/// A region while its blocks are lowered. A block is numbered at the first jump to it.
struct Region {
    request: Request,
    decoded: Decoded,
    leaders: BTreeSet<Key>,
    waits: Waits,
    index: HashMap<Key, usize>,
    queue: Vec<Key>,
    /// Builder of the current block; its tables are reused for all blocks.
    nodes: Build,
    sites: Sites,
    fallbacks: Vec<&'static str>,
}

/// Regions of fewer instructions are cut where they are full: such limits are for tests.
const MIN_CUT: usize = 256;

/// Decodes reachable code and finds the block boundaries.
fn explore(request: &Request, fetch: &Fetch<'_>) -> (Decoded, BTreeSet<Key>) {
    let float_mode = entry_key(request);
    let cut = request.max_insts >= MIN_CUT;
    // Slightly more than fits, to find out whether a loop ends there.
    let most = request.max_insts + if cut { request.max_insts / 4 } else { 0 };
    let mut decoded = Decoded::new();
    let mut leaders: BTreeSet<Key> = BTreeSet::from([(request.entry, float_mode)]);
    // Backward jumps: from and to.
    let mut back: Vec<(u64, u64)> = Vec::new();
    // Code nearest behind the entry comes first, so that a truncated region is one piece with few
    // exits; code before the entry comes last.
    let mut work = BTreeSet::from([(false, request.entry, float_mode)]);
    while let Some((_, mut pc, mut mode_bits)) = work.pop_first() {
        loop {
            if decoded.contains_key(&(pc, mode_bits)) || decoded.len() >= most {
                break;
            }
            let inst = fetch(pc)
                .and_then(|bytes| decode(request.gfx, bytes).ok())
                .ok_or(());
            decoded.insert((pc, mode_bits), inst);
            let Ok(inst) = inst else { break };
            if is_interpreted(&inst) {
                break;
            }
            let next = behind(pc, &inst);
            if is_control(&inst) {
                let mut targets = Vec::new();
                match inst.op() {
                    GuestOp::Branch(cond) => {
                        targets.push(branch_target(pc, inst.src[0]));
                        if cond != BranchIf::Always {
                            targets.push(next);
                        }
                    }
                    GuestOp::Call => targets.push(branch_target(pc, inst.src[0])),
                    GuestOp::Barrier => targets.push(next),
                    // To an address in a register or another region.
                    GuestOp::SetPc | GuestOp::SwapPc | GuestOp::CbranchJoin => {}
                    GuestOp::CbranchGFork | GuestOp::CbranchIFork => {}
                    GuestOp::SetVskip | GuestOp::SetReg | GuestOp::Endpgm => {}
                    // None of these ends a block.
                    GuestOp::Trap | GuestOp::Rfe | GuestOp::RfeRestore => {}
                    GuestOp::SetGprIdxOn | GuestOp::SetGprIdxIdx => {}
                    GuestOp::SetGprIdxOff | GuestOp::SetGprIdxMode => {}
                    GuestOp::GetReg | GuestOp::GetPc => {}
                    GuestOp::SaveExec(_) | GuestOp::WrExec(_) => {}
                    GuestOp::Waitcnt | GuestOp::Hint(_) | GuestOp::Sendmsg => {}
                    ops!(alu | scalar | scalar_bits | scalar_other | valu | mem) => {}
                }
                for target in targets {
                    if (request.entry..=pc).contains(&target) {
                        back.push((pc, target));
                    }
                    if leaders.insert((target, mode_bits)) {
                        work.insert((target < request.entry, target, mode_bits));
                    }
                }
                break;
            }
            mode_bits = key_behind(mode_bits, &inst);
            pc = next;
        }
    }
    if cut && decoded.len() > request.max_insts {
        cut_short(request, &mut decoded, &leaders, &back);
    }
    (decoded, leaders)
}

/// Truncates the decoded code to the region's maximum size: at the last address that no loop spans,
/// unless much space would be lost, since a loop split between two regions leaves and enters them
/// in each iteration.
fn cut_short(
    request: &Request,
    decoded: &mut Decoded,
    leaders: &BTreeSet<Key>,
    back: &[(u64, u64)],
) {
    let most = request.max_insts;
    let forward = decoded.range((request.entry, 0)..);
    let in_order: Vec<u64> = forward.map(|(&(pc, _), _)| pc).collect();
    if let Some(&full) = in_order.get(most) {
        let least = in_order[most / 2];
        let outside = |pc: u64| !back.iter().any(|&(from, to)| to < pc && pc <= from);
        let places = leaders.range((least, 0)..=(full, u32::MAX));
        let place = places
            .map(|&(pc, _)| pc)
            .rev()
            .find(|&pc| outside(pc))
            .unwrap_or(full);
        decoded.retain(|&(pc, _), _| (request.entry..place).contains(&pc));
    } else {
        // All code behind the entry fits; of the code before it the nearest is kept.
        while decoded.len() > most {
            decoded.pop_first();
        }
    }
}

/// The block that starts at `key`.
fn run(
    key: Key,
    decoded: &Decoded,
    leaders: &BTreeSet<Key>,
    waits: &Waits,
    max_block: usize,
) -> Explored {
    let mut insts: Vec<(u64, Inst)> = Vec::new();
    let (mut pc, mut mode_bits) = key;
    loop {
        if !insts.is_empty() && leaders.contains(&(pc, mode_bits)) {
            return Explored {
                insts,
                end: End::Fall((pc, mode_bits)),
            };
        }
        let inst = match decoded.get(&(pc, mode_bits)) {
            None => {
                return Explored {
                    insts,
                    end: End::Stop(pc),
                };
            }
            Some(Err(())) => {
                return Explored {
                    insts,
                    end: End::Interpret(pc),
                };
            }
            Some(Ok(inst)) if is_interpreted(inst) => {
                return Explored {
                    insts,
                    end: End::Interpret(pc),
                };
            }
            Some(Ok(inst)) => *inst,
        };
        let alone = is_relative(mode_bits, &inst);
        if alone && !insts.is_empty() {
            return Explored {
                insts,
                end: End::Fall((pc, mode_bits)),
            };
        }
        insts.push((pc, inst));
        if let Some(&end) = waits.get(&(pc, mode_bits)) {
            pc = behind(pc, &inst);
            while pc != end
                && let Some(Ok(inst)) = decoded.get(&(pc, mode_bits))
            {
                insts.push((pc, *inst));
                pc = behind(pc, inst);
            }
            return Explored {
                insts,
                end: End::Barrier(pc),
            };
        }
        if is_control(&inst) {
            return Explored {
                insts,
                end: End::Control,
            };
        }
        mode_bits = key_behind(mode_bits, &inst);
        pc = behind(pc, &inst);
        if alone || insts.len() >= max_block {
            return Explored {
                insts,
                end: End::Fall((pc, mode_bits)),
            };
        }
    }
}

impl Region {
    /// The target of a jump from `from` to `pc`.
    fn target(&mut self, pc: u64, from: u64, mode_bits: u32) -> Target {
        let key = (pc, mode_bits);
        if !self.decoded.contains_key(&key) {
            return Target::Exit {
                pc,
                back: pc <= from,
            };
        }
        let block = *self.index.entry(key).or_insert_with(|| {
            self.queue.push(key);
            self.queue.len() - 1
        });
        Target::Block {
            block,
            back: pc <= from,
            pc,
        }
    }

    fn lower_block(&mut self, key: Key) -> Block {
        let explored = run(
            key,
            &self.decoded,
            &self.leaders,
            &self.waits,
            self.request.max_block,
        );
        let b = std::mem::take(&mut self.nodes);
        let mut g = Guest::new(&b, self.request.gfx, key.1 & mode::FLOAT_BITS);
        let mut mode_bits = key.1;
        g.exact_nan = self.request.exact_nan;
        g.checked = self.request.checked;
        g.sanitize = self.request.sanitize;
        let mut tally = Tally::default();
        let mut execs = Vec::new();
        let mut outcomes = Outcomes(self.request.outcomes.then(Vec::new));
        let mut term = None;
        // Where the block continues if it ends with matrix instructions.
        let mut behind_products = None;
        // The barrier that this run was hoisted above.
        let mut barrier = None;
        let mut products = Products::default();
        for &(pc, inst) in &explored.insts {
            let ends = is_control(&inst) || inst.op() == GuestOp::Barrier;
            if !products.is_empty() && (ends || products.depend_on(&inst, self.request.gfx)) {
                behind_products = Some(self.target(pc, key.0, mode_bits));
                break;
            }
            // The active lanes, of an instruction that has such.
            let lanes = is_vector(&inst).then(|| g.exec());
            if let End::Barrier(_) = explored.end
                && inst.op() == GuestOp::Barrier
            {
                tally.add(lanes);
                barrier = Some(pc);
                if self.request.sanitize {
                    sanitized::barrier(&mut g, &inst, pc, &mut self.sites);
                }
                continue;
            }
            if is_control(&inst) {
                tally.add(lanes);
                outcomes.at_branch(&mut g, pc, &inst);
                term = Some(self.control(&mut g, pc, &inst, mode_bits));
                break;
            }
            let mode_before = mode_bits;
            let behind_key = key_behind(mode_bits, &inst);
            let skipped = mode_bits & mode::VSKIP != 0 && is_vector(&inst);
            g.indexing = indexing(mode_bits);
            mode_bits = behind_key;
            if skipped {
                tally.add(lanes);
                continue;
            }
            if let Some((mask, value)) = mode_write(&inst) {
                tally.add(lanes);
                let old = g.mode_reg();
                let kept = b.pure(Op::And, &[old, g.imm32(!mask)]);
                let new = b.pure(Op::Or, &[kept, g.imm32(value)]);
                let bits = g.mode & !mask | value;
                g.set_mode_reg(new, bits);
                continue;
            }
            let (exec, before) = (g.new_exec(), b.effects());
            let old = outcomes.before(&mut g, &inst);
            let lowered = match self.request.sanitize {
                true => sanitized::lower(&mut g, &inst, pc, &mut self.sites),
                false => arms::lower(&mut g, &inst, pc, &mut self.sites),
            };
            if let Some(exec) = exec {
                execs.extend(b.effects_from(before).into_iter().map(|v| (v, exec)));
            }
            if let Lowered::Matrix(call) = lowered
                && barrier.is_none()
                && !self.request.sanitize
            {
                tally.add(lanes);
                let site = self.sites.add(pc, &inst);
                products.add(&mut g, site, call);
                if products.is_full() {
                    behind_products = Some(self.target(behind(pc, &inst), pc, mode_bits));
                    break;
                }
                continue;
            }
            // An instruction of its own block, behind matrix instructions.
            if lowered != Lowered::Done && !products.is_empty() {
                behind_products = Some(self.target(pc, key.0, mode_before));
                break;
            }
            if lowered != Lowered::Done
                && let Some(from) = barrier
            {
                let next = self.target(pc, from, mode_bits);
                term = Some(Term::Barrier { next });
                break;
            }
            if let Some(old) = old {
                if lowered == Lowered::Fallback {
                    // The engine counts what the interpreter runs between regions.
                    term = Some(Term::Interpret { pc });
                    break;
                }
                outcomes.behind(&mut g, pc, old);
            }
            tally.add(lanes);
            if lowered == Lowered::Fallback {
                self.fallbacks.push(inst.desc.name_on(self.request.gfx));
            }
            if lowered != Lowered::Done {
                let site = self.sites.add(pc, &inst);
                let next = self.target(behind(pc, &inst), pc, mode_bits);
                term = Some(match lowered {
                    Lowered::ScalarMove(value) => Term::ScalarMove { site, value, next },
                    Lowered::Matrix(call) => Term::Matrix {
                        site,
                        calls: vec![call],
                        next,
                    },
                    Lowered::Done | Lowered::Fallback => Term::Fallback { site, next },
                });
                break;
            }
        }
        let last = explored.insts.last().map_or(key.0, |&(pc, _)| pc);
        let mut staged = Vec::new();
        if let Some(site) = products.site() {
            let next = behind_products.unwrap_or_else(|| match explored.end {
                End::Stop(pc) => Target::Exit { pc, back: false },
                End::Fall((pc, mode_bits)) => self.target(pc, last, mode_bits),
                End::Interpret(pc) => self.target(pc, last, mode_bits),
                End::Control | End::Barrier(_) => {
                    unreachable!("bug: control flow among matrix instructions")
                }
            });
            let (calls, values) = products.finish(&mut g);
            staged = values;
            term = Some(Term::Matrix { site, calls, next });
        }
        let term = term.unwrap_or_else(|| match explored.end {
            End::Fall((pc, mode_bits)) => Term::Jump(self.target(pc, last, mode_bits)),
            End::Interpret(pc) => Term::Interpret { pc },
            End::Stop(pc) => Term::Jump(Target::Exit { pc, back: false }),
            End::Control => Term::End,
            End::Barrier(pc) if self.request.observe => Term::Barrier {
                next: Target::Exit { pc, back: false },
            },
            End::Barrier(pc) => Term::Barrier {
                next: self.target(pc, barrier.unwrap_or(last), mode_bits),
            },
        });
        let (writes_s, mut writes_v) = g.writes();
        writes_v.extend(staged);
        let (nodes, effects) = b.finish();
        self.nodes = b;
        Block {
            pc: key.0,
            nodes,
            effects,
            execs,
            writes_s,
            writes_v,
            term,
            guest_insts: tally.instructions,
            counts: tally.lanes,
            outcomes: outcomes.0.unwrap_or_default(),
        }
    }

    /// The terminator of a block that ends with a control instruction.
    fn control(&mut self, g: &mut Guest<'_>, pc: u64, inst: &Inst, mode_bits: u32) -> Term {
        let b = g.b;
        let next = behind(pc, inst);
        match inst.op() {
            GuestOp::Branch(cond) => {
                let to = branch_target(pc, inst.src[0]);
                let Some((cond, negate)) = outcomes::condition(g, cond) else {
                    let always = cond == BranchIf::Always;
                    let to = if always { to } else { next };
                    return Term::Jump(self.target(to, pc, mode_bits));
                };
                if let Some(value) = b.as_const(cond) {
                    let to = if (value != 0) != negate { to } else { next };
                    return Term::Jump(self.target(to, pc, mode_bits));
                }
                let taken = self.target(to, pc, mode_bits);
                let other = self.target(next, pc, mode_bits);
                if negate {
                    Term::Branch {
                        cond,
                        then: other,
                        other: taken,
                    }
                } else {
                    Term::Branch {
                        cond,
                        then: taken,
                        other,
                    }
                }
            }
            GuestOp::Endpgm => Term::End,
            GuestOp::Call => {
                if let Operand::Sgpr(d) = inst.dst[0] {
                    g.write_s64(d, b.code_address(next));
                }
                Term::Jump(self.target(branch_target(pc, inst.src[0]), pc, mode_bits))
            }
            GuestOp::SetPc | GuestOp::SwapPc => {
                let Operand::Sgpr(s) = inst.src[0] else {
                    return Term::Interpret { pc };
                };
                let to = g.read_s64(s);
                let aligned = b.pure(Op::And, &[to, g.imm64(!3)]);
                if inst.op() == GuestOp::SwapPc
                    && let Operand::Sgpr(d) = inst.dst[0]
                {
                    g.write_s64(d, b.code_address(next));
                }
                Term::Indirect(aligned)
            }
            GuestOp::CbranchGFork | GuestOp::CbranchIFork => {
                let to = if inst.op() == GuestOp::CbranchIFork {
                    Some(b.code_address(branch_target(pc, inst.src[1])))
                } else {
                    scalar::address(g, inst.src[1])
                };
                let site = self.sites.add(pc, inst);
                let forked = to.and_then(|to| fork::fork(g, inst.src[0], to, next, site));
                forked.map_or(Term::Interpret { pc }, Term::Indirect)
            }
            GuestOp::CbranchJoin => {
                let site = self.sites.add(pc, inst);
                let joined = fork::join(g, inst.src[0], next, site);
                joined.map_or(Term::Interpret { pc }, Term::Indirect)
            }
            // The new MODE is known at run time only: the dispatcher looks up the code for it.
            GuestOp::SetVskip | GuestOp::SetReg => match scalar::write_mode(g, inst) {
                Some(()) => Term::Jump(Target::Exit {
                    pc: next,
                    back: false,
                }),
                None => Term::Interpret { pc },
            },
            GuestOp::Barrier | GuestOp::Trap | GuestOp::Rfe | GuestOp::RfeRestore => {
                Term::Interpret { pc }
            }
            GuestOp::SetGprIdxOn
            | GuestOp::SetGprIdxIdx
            | GuestOp::SetGprIdxOff
            | GuestOp::SetGprIdxMode
            | GuestOp::GetReg
            | GuestOp::GetPc
            | GuestOp::SaveExec(_)
            | GuestOp::WrExec(_)
            | GuestOp::Waitcnt
            | GuestOp::Hint(_)
            | GuestOp::Sendmsg
            | ops!(alu | scalar | scalar_bits | scalar_other | valu | mem) => {
                Term::Interpret { pc }
            }
        }
    }
}

/// The instructions of a block.
#[derive(Default)]
struct Tally {
    instructions: u32,
    /// EXEC of runs of those with active lanes, and how many these are.
    lanes: Vec<(Val, u32)>,
}

impl Tally {
    /// Adds an instruction, with EXEC if it has active lanes.
    fn add(&mut self, exec: Option<Val>) {
        self.instructions += 1;
        match (exec, self.lanes.last_mut()) {
            (None, _) => {}
            (Some(exec), Some((value, n))) if *value == exec => *n += 1,
            (Some(exec), _) => self.lanes.push((exec, 1)),
        }
    }
}

/// Vector ALU and vector memory instructions: those included in lane-instruction counts.
pub fn is_vector(inst: &Inst) -> bool {
    !inst.desc.encoding.is_scalar()
}
