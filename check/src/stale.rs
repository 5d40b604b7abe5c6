//! Copies that an instruction does not update: VCCZ of VCC, the scalar cache of memory, memory of the scalar cache.
//! Also stores to memory that an outstanding scalar load has yet to read.

use std::ops::Range;

use frontend::inst::{VCC_HI, VCC_LO};
use frontend::op::{BranchIf, Data, Space};
use frontend::registers::{Reg, SCC, Span, is_store, is_vmem, span};
use frontend::waits::WaitField;
use frontend::{Encoding, Inst, Op, Operand};

use crate::cfg::{Code, Edit, Item};
use crate::finding::{Certainty, Finding, Report, Rule};
use crate::solve::{Entry, Least, solve};
use crate::waits::RETURN_ADDRESS;

static HALF: Rule = Rule {
    id: "vccz-half",
    title: "a branch on VCCZ follows a write of all of VCC: one of VCC_LO or VCC_HI alone does not update VCCZ",
    certainty: Certainty::B,
    source: "LLVM SIInsertWaitcnts (partialVCCWritesUpdateVCCZ)",
};
static WRITEBACK: Rule = Rule {
    id: "scalar-writeback",
    title: "s_dcache_wb follows scalar stores before the wave ends or a function returns",
    certainty: Certainty::B,
    source: "LLVM SIInsertWaitcnts; AMDGPUUsage",
};
static STALE: Rule = Rule {
    id: "scalar-stale",
    title: "vmcnt(0) and then s_dcache_inv stand between a vector store and a scalar load of the same address",
    certainty: Certainty::B,
    source: "AMDGPUUsage (the scalar cache is not coherent)",
};
static STALE_BASE: Rule = Rule {
    id: "scalar-stale-base",
    title: "vmcnt(0) and then s_dcache_inv stand between a vector store and a scalar load from the same base, which may be of the same address",
    certainty: Certainty::C,
    source: "AMDGPUUsage (the scalar cache is not coherent)",
};
static LATE: Rule = Rule {
    id: "scalar-late",
    title: "lgkmcnt(0) stands between a scalar load and a vector store to the same address, which the load must not see",
    certainty: Certainty::B,
    source: "LLVM SIInsertWaitcnts (SLoadAddresses)",
};
static LATE_BASE: Rule = Rule {
    id: "scalar-late-base",
    title: "lgkmcnt(0) stands between a scalar load and a vector store to the same base, which may be to the same address",
    certainty: Certainty::C,
    source: "LLVM SIInsertWaitcnts (SLoadAddresses), which knows the addresses",
};

/// All of them.
pub(crate) static RULES: &[&Rule] = &[&HALF, &WRITEBACK, &STALE, &STALE_BASE, &LATE, &LATE_BASE];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// Half of VCC was written.
    Half,
    /// A scalar store was issued.
    ScalarStore,
    /// A vector store with its base in so many registers from this one on, which are as they were. Is it complete?
    VectorStore(Reg, u16, bool),
    /// The same of a scalar load that is outstanding, with its index.
    ScalarLoad(Reg, u16, u32),
}

/// An age is the number of vector memory operations behind a store.
type Recent = Least<Key>;

/// More are not counted: no counter holds more.
const MOST_AGE: u8 = 63;

/// The scalar registers that a vector store adds to: a pair, or a descriptor.
fn store_base(inst: &Inst) -> Option<Span> {
    if !is_store(inst) {
        return None;
    }
    match inst.desc.encoding {
        Encoding::Global => span(inst.src[2], 2),
        Encoding::Mubuf => span(inst.src[1], 4),
        _ => None,
    }
    .filter(|base| base.first < SCC)
}

fn load_base(inst: &Inst) -> Option<Span> {
    match inst.op() {
        Op::Load(Space::ScalarBuffer, _) => span(inst.src[0], 4),
        Op::Load(Space::Scalar, _) => span(inst.src[0], 2),
        _ => None,
    }
}

fn same_base(inst: Option<Span>, first: Reg, count: u16) -> bool {
    inst == Some(Span { first, count })
}

/// The bytes behind a descriptor, if no register adds to them.
fn constant_bytes(inst: &Inst) -> Option<Range<i64>> {
    let constant = match inst.desc.encoding {
        Encoding::Mubuf => {
            let offset = matches!(inst.src[2], Operand::Inline { bits: 0, .. });
            offset && !inst.mem.offen && !inst.mem.idxen && !inst.mem.addr64
        }
        Encoding::Smem => inst.mem.has_imm && inst.src[1] == Operand::None,
        _ => false,
    };
    let (Op::Load(_, Data::Dwords(n)) | Op::Store(_, Data::Dwords(n))) = inst.op() else {
        return None;
    };
    constant.then(|| inst.mem.offset..inst.mem.offset + 4 * i64::from(n))
}

fn same_bytes(store: &Inst, load: &Inst) -> bool {
    match (constant_bytes(store), constant_bytes(load)) {
        (Some(store), Some(load)) => store.start < load.end && load.start < store.end,
        _ => false,
    }
}

fn halves_of_vcc(item: &Item) -> usize {
    let halves = [VCC_LO, VCC_HI].map(Reg::from);
    halves
        .iter()
        .filter(|&&half| item.uses.writes(half))
        .count()
}

/// A wait completes scalar loads and vector stores; other vector memory operations leave more outstanding behind
/// a store.
fn wait(code: &Code, recent: &mut Recent, item: &Item) {
    let waits = item.inst.op() == Op::Waitcnt;
    let left = |field: WaitField| match waits {
        true => field.get(item.imm() as u16, code.gfx),
        false => None,
    };
    let (vm, lgkm) = (left(WaitField::Vm), left(WaitField::Lgkm));
    let behind = u8::from(is_vmem(&item.inst));
    recent.entries.retain_mut(|entry| match &mut entry.key {
        Key::VectorStore(_, _, complete) => {
            *complete |= vm.is_some_and(|n| n <= entry.age);
            entry.age = (entry.age + behind).min(MOST_AGE);
            true
        }
        Key::ScalarLoad(..) => lgkm != Some(0),
        Key::Half | Key::ScalarStore => true,
    });
    recent.sort();
}

fn step(code: &Code, recent: &mut Recent, at: usize) {
    let item = &code.items[at];
    if item.removed {
        return;
    }
    let inst = &item.inst;
    let written = halves_of_vcc(item);
    let calls = matches!(inst.op(), Op::Call | Op::SwapPc);
    let cache = match inst.op() {
        Op::CacheCtl => inst.desc.name,
        _ => "",
    };
    let changes = |first, count| {
        let base = Span { first, count };
        item.uses.writes.iter().any(|span| span.overlaps(base))
    };
    wait(code, recent, item);
    recent.entries.retain(|entry| match entry.key {
        Key::Half => written == 0 && !calls,
        Key::ScalarStore => !cache.starts_with("s_dcache_wb"),
        Key::VectorStore(first, count, complete) => {
            let seen = complete && cache.starts_with("s_dcache_inv");
            !(changes(first, count) || calls || seen)
        }
        Key::ScalarLoad(first, count, _) => !changes(first, count) && !calls,
    });
    let mut add = |key| {
        recent.entries.retain(|entry| entry.key != key);
        recent.entries.push(Entry {
            key,
            age: 0,
            producer: at as u32,
        });
    };
    if written == 1 {
        add(Key::Half);
    }
    if inst.desc.encoding == Encoding::Smem && matches!(inst.op(), Op::Store(..)) {
        add(Key::ScalarStore);
    }
    if let Some(base) = store_base(inst) {
        add(Key::VectorStore(base.first, base.count, false));
    }
    // A load of its own base has changed it.
    if let Some(base) = load_base(inst).filter(|base| !changes(base.first, base.count)) {
        add(Key::ScalarLoad(base.first, base.count, at as u32));
    }
    recent.sort();
}

fn look(code: &Code, recent: &Recent, at: usize, report: &mut Report) {
    let item = &code.items[at];
    let inst = &item.inst;
    for entry in &recent.entries {
        let from = &code.items[entry.producer as usize];
        let text = format!("`{}` at {:#x}", from.inst.text(code.gfx), from.address);
        let (rule, why) = match (entry.key, inst.op()) {
            (Key::Half, Op::Branch(BranchIf::Vccz | BranchIf::Vccnz)) => (
                &HALF,
                format!("{text} writes half of VCC, which does not update VCCZ"),
            ),
            (Key::ScalarStore, op) if op == Op::Endpgm || returns(inst) => (
                &WRITEBACK,
                format!("what {text} stores may remain in the scalar cache"),
            ),
            (Key::ScalarLoad(first, count, _), _) if same_base(store_base(inst), first, count) => {
                let rule = if same_bytes(inst, &from.inst) {
                    &LATE
                } else {
                    &LATE_BASE
                };
                let why = format!("{text} may be outstanding and load what is stored here");
                (rule, why)
            }
            (Key::VectorStore(first, count, _), Op::Load(..))
                if same_base(load_base(inst), first, count) =>
            {
                let rule = if same_bytes(&from.inst, inst) {
                    &STALE
                } else {
                    &STALE_BASE
                };
                let why = format!("the scalar cache may hold or get what was there before {text}");
                (rule, why)
            }
            _ => continue,
        };
        report.add(rule, at, Some(entry.producer as usize), why);
    }
}

/// Does a function return here?
fn returns(inst: &Inst) -> bool {
    inst.op() == Op::SetPc && inst.src[0] == Operand::Sgpr(RETURN_ADDRESS)
}

/// What the rules find.
fn findings(code: &Code) -> Vec<Finding> {
    let mut report = Report::default();
    let states = solve(
        code,
        Recent::default(),
        |block, recent| {
            for at in code.blocks[block].items.clone() {
                step(code, recent, at);
            }
        },
        |_, _, _| {},
    );
    for (block, state) in states.unwrap_or_default().into_iter().enumerate() {
        let Some(mut recent) = state else { continue };
        for at in code.blocks[block].items.clone() {
            look(code, &recent, at, &mut report);
            step(code, &mut recent, at);
        }
    }
    report.finish(code);
    report.findings
}

/// Instructions that are followed at most to tell which waits the scalar cache needs.
const MOST_STEPS: usize = 1 << 22;

/// The reports of `waits` say which waits no register and no LDS access needs. The rules here need some of them: these
/// are no longer named redundant. `now` is the number of findings; each wait is removed by itself, in the few routines with a base that both vector stores
/// and scalar loads have.
fn keep_needed(code: &Code, now: usize, report: &mut Report) {
    let bases =
        |of: fn(&Inst) -> Option<Span>| code.items.iter().filter_map(move |item| of(&item.inst));
    let stores: Vec<Span> = bases(store_base).collect();
    if !bases(load_base).any(|base| stores.contains(&base)) {
        return;
    }
    let mut changed = code.clone();
    let mut left = MOST_STEPS / code.items.len().max(1);
    let mut needs = |at: usize, field: Option<WaitField>, by_one: bool| {
        let Some(field @ (WaitField::Vm | WaitField::Lgkm)) = field else {
            return false;
        };
        let Some(more) = left.checked_sub(1) else {
            return false;
        };
        left = more;
        let imm = code.items[at].imm() as u16;
        let Some(n) = field.get(imm, code.gfx) else {
            return false;
        };
        let n = if by_one { n + 1 } else { MOST_AGE + 1 };
        changed.edit(at, Edit::Imm(field.set(imm, n, code.gfx)));
        let found = findings(&changed).len() > now;
        changed.edit(at, Edit::Imm(imm));
        found
    };
    report
        .stronger
        .retain(|&(at, field)| !needs(at, field, true));
    let (needed, redundant) = report
        .redundant
        .drain(..)
        .partition(|&(at, field)| needs(at, field, false));
    report.redundant = redundant;
    let needed: Vec<_> = needed;
    let weaker = needed
        .into_iter()
        .filter(|&(at, field)| !needs(at, field, true));
    report.stronger.extend(weaker);
}

pub(crate) fn check(code: &Code, report: &mut Report) {
    let found = findings(code);
    keep_needed(code, found.len(), report);
    report.findings.extend(found);
}
