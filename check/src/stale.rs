//! Copies that an instruction does not update: VCCZ of VCC, the scalar cache of memory, memory of the scalar cache.

use std::ops::Range;

use frontend::inst::{VCC_HI, VCC_LO};
use frontend::op::{BranchIf, Data, Space};
use frontend::registers::{Reg, SCC, Span, is_store, span};
use frontend::{Encoding, Inst, Op, Operand};

use crate::cfg::{Code, Item};
use crate::finding::{Certainty, Report, Rule};
use crate::solve::{Entry, Least, solve};

static HALF: Rule = Rule {
    id: "vccz-half",
    title: "a branch on VCCZ follows a write of all of VCC: one of VCC_LO or VCC_HI alone does not update VCCZ",
    certainty: Certainty::B,
    source: "LLVM SIInsertWaitcnts (partialVCCWritesUpdateVCCZ)",
};
static WRITEBACK: Rule = Rule {
    id: "scalar-writeback",
    title: "s_dcache_wb follows scalar stores before the wave ends",
    certainty: Certainty::B,
    source: "LLVM SIInsertWaitcnts; AMDGPUUsage",
};
static STALE: Rule = Rule {
    id: "scalar-stale",
    title: "s_dcache_inv stands between a vector store and a scalar load of the same address",
    certainty: Certainty::B,
    source: "AMDGPUUsage (the scalar cache is not coherent)",
};
static STALE_BASE: Rule = Rule {
    id: "scalar-stale-base",
    title: "s_dcache_inv stands between a vector store and a scalar load from the same base, which may be of the same address",
    certainty: Certainty::C,
    source: "AMDGPUUsage (the scalar cache is not coherent)",
};

/// All of them.
pub(crate) static RULES: &[&Rule] = &[&HALF, &WRITEBACK, &STALE, &STALE_BASE];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// Half of VCC was written.
    Half,
    /// A scalar store was issued.
    ScalarStore,
    /// A vector store with its base in so many registers from this one on, which are as they were.
    VectorStore(Reg, u16),
}

type Recent = Least<Key>;

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
    recent.entries.retain(|entry| match entry.key {
        Key::Half => written == 0 && !calls,
        Key::ScalarStore => !cache.starts_with("s_dcache_wb"),
        Key::VectorStore(first, count) => {
            let base = Span { first, count };
            let changed = item.uses.writes.iter().any(|span| span.overlaps(base));
            !changed && !calls && !cache.starts_with("s_dcache_inv")
        }
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
        add(Key::VectorStore(base.first, base.count));
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
            (Key::ScalarStore, Op::Endpgm) => (
                &WRITEBACK,
                format!("what {text} stores may remain in the scalar cache"),
            ),
            (Key::VectorStore(first, count), Op::Load(..))
                if load_base(inst) == Some(Span { first, count }) =>
            {
                let rule = if same_bytes(&from.inst, inst) {
                    &STALE
                } else {
                    &STALE_BASE
                };
                let why = format!("the scalar cache may hold what was there before {text}");
                (rule, why)
            }
            _ => continue,
        };
        report.add(rule, at, Some(entry.producer as usize), why);
    }
}

pub(crate) fn check(code: &Code, report: &mut Report) {
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
            look(code, &recent, at, report);
            step(code, &mut recent, at);
        }
    }
}
