//! Waits for memory: `s_waitcnt` against what is outstanding.
//!
//! The state has an entry for each register that an outstanding operation will write, or has yet to read, with
//! the number of operations of its class that were issued after it on the path with the fewest: its
//! age. Of an ordered class an entry is complete once at most `age` operations are outstanding, of others once none is.
//! A wait that completes an entry does not remove it: it remains until its register is used, which
//! shows that the wait was needed, or until another wait would have completed it as well.

use std::collections::BTreeMap;

use frontend::inst::{EXEC_HI, EXEC_LO};
use frontend::op::BranchIf;
use frontend::registers::{self, Reg, VGPR, is_lds, is_sampler, is_vmem};
use frontend::waits::{Class, WaitField, What, events};
use frontend::{Encoding, Gfx, Op, Operand};

use crate::cfg::{Code, Item, Leaves, Routine};
use crate::facts::{Facts, Set};
use crate::finding::{Certainty, Report, Rule};
use crate::solve::{Least, solve};

static READ: Rule = Rule {
    id: "wait-read",
    title: "what a load returns is read after a wait for it",
    certainty: Certainty::A,
    source: "Vega ISA 4.4; LLVM SIInsertWaitcnts",
};
static WRITE: Rule = Rule {
    id: "wait-write",
    title: "a register that a load will write is written after a wait for it, since the late load overwrites it",
    certainty: Certainty::A,
    source: "LLVM SIInsertWaitcnts",
};
static SOURCE: Rule = Rule {
    id: "wait-source",
    title: "a register that an export, GDS or (gfx6) a store still reads, and EXEC, is written after a wait for it",
    certainty: Certainty::A,
    source: "Vega ISA 4.4; LLVM SIInsertWaitcnts",
};
static BARRIER: Rule = Rule {
    id: "wait-barrier",
    title: "LDS writes are complete at a barrier, behind which other waves use what they write",
    certainty: Certainty::A,
    source: "LLVM SIMemoryLegalizer, AMDGPUUsage (workgroup scope: lgkmcnt(0))",
};
static BARRIER_READ: Rule = Rule {
    id: "wait-barrier-read",
    title: "LDS reads are complete at a barrier, behind which other waves may overwrite what they read",
    certainty: Certainty::C,
    source: "LLVM SIMemoryLegalizer waits; code written by hand alternates between two parts of LDS",
};
static LDS_LOAD: Rule = Rule {
    id: "wait-lds-load",
    title: "LDS that a load from memory fills is used after a wait for it; the access may be of other LDS",
    certainty: Certainty::C,
    source: "LLVM SIInsertWaitcnts; code written by hand alternates between two parts of LDS",
};
static VCCZ: Rule = Rule {
    id: "wait-vccz",
    title: "no scalar load is outstanding at a branch on VCCZ: it may be stale on gfx6 and gfx7",
    certainty: Certainty::B,
    source: "LLVM SIInsertWaitcnts (hasReadVCCZBug)",
};
static RETURN: Rule = Rule {
    id: "wait-return",
    title: "a function returns after all of its loads, and when the data of its exports and (gfx6) stores is read",
    certainty: Certainty::A,
    source: "LLVM SIInsertWaitcnts (calls)",
};
static ENTRY: Rule = Rule {
    id: "wait-entry",
    title: "a function waits for all that its caller may have outstanding before it uses registers",
    certainty: Certainty::A,
    source: "LLVM SIInsertWaitcnts (calls)",
};
static FLAT: Rule = Rule {
    id: "wait-flat",
    title: "what a FLAT load returns is used after a wait for lgkmcnt as well, if it may be in LDS (gfx7, gfx8)",
    certainty: Certainty::C,
    source: "AMDGPUUsage; LLVM knows of most accesses that they are not in LDS",
};
static FULL: Rule = Rule {
    id: "wait-flat-full",
    title: "what a FLAT load returns is used after a wait for vmcnt: that younger operations fill the counter is not enough",
    certainty: Certainty::C,
    source: "inferred: a FLAT load of global memory is in order, one of LDS is not; LLVM 15 omits such waits",
};
static GWS_END: Rule = Rule {
    id: "wait-gws",
    title: "GWS operations are complete at s_endpgm",
    certainty: Certainty::C,
    source: "LLVM waits; the manuals say that s_endpgm does",
};
static RELATIVE: Rule = Rule {
    id: "wait-relative",
    title: "an instruction that names registers by M0 may use one that a load will write",
    certainty: Certainty::C,
    source: "inferred",
};

/// All of them.
pub(crate) static RULES: &[&Rule] = &[
    &READ,
    &WRITE,
    &SOURCE,
    &BARRIER,
    &BARRIER_READ,
    &LDS_LOAD,
    &VCCZ,
    &RETURN,
    &ENTRY,
    &FLAT,
    &FULL,
    &GWS_END,
    &RELATIVE,
];

/// The first of the pair that holds the return address, by LLVM's calling convention.
pub(crate) const RETURN_ADDRESS: u8 = 30;

/// Pseudo registers.
const LDS: Reg = registers::END;
const LDS_LOADED: Reg = registers::END + 1;
const CALLER: Reg = registers::END + 2;
const GWS: Reg = registers::END + 3;
const LDS_READ: Reg = registers::END + 4;

/// No wait has completed it.
const PENDING: u32 = u32::MAX;

/// The most entries of one register and class that are told apart by the wait that has completed them.
const MOST_WAITS: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    reg: Reg,
    class: Class,
    /// Is the register read, not written?
    source: bool,
    /// The wait that has completed it.
    by: u32,
    /// Would a wait with a number greater by one not have completed it?
    exact: bool,
    /// Does its effect depend on EXEC, which has not been written since? It has none if EXEC is zero.
    lanes: bool,
    /// What held when it was issued or was learned since, about registers that have not been written since.
    facts: Set,
}

/// Outstanding operations, and those that a wait has completed whose registers are not used yet. An age is a number of
/// operations of the class.
type Outstanding = Least<Key>;

type Entry = crate::solve::Entry<Key>;

impl Entry {
    /// Is it a FLAT load behind which so many operations were issued that the counter is full?
    fn is_full(&self, gfx: Gfx) -> bool {
        self.key.class == Class::FlatVm && self.age >= WaitField::Vm.most(gfx)
    }
}

/// Results: findings and needed waits.
#[derive(Default)]
struct Seen {
    findings: Vec<(&'static Rule, usize, Option<usize>, String)>,
    /// Needed waits, and is exactly that number needed?
    needed: BTreeMap<(usize, WaitField), bool>,
}

impl Seen {
    fn need(&mut self, key: &Key) {
        let exact = self
            .needed
            .entry((key.by as usize, key.class.field()))
            .or_default();
        *exact |= key.exact;
    }
}

/// How a register is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Write,
    /// Written by a load or store of this class, in order.
    WriteBy(Class),
}

impl Least<Key> {
    /// The registers from `first` on are used.
    fn touch(&mut self, first: Reg, count: u16, how: Use, at: usize, walk: &mut Walk<'_>) {
        let start = self.entries.partition_point(|entry| entry.key.reg < first);
        let end =
            start + self.entries[start..].partition_point(|entry| entry.key.reg < first + count);
        if start == end {
            return;
        }
        let mut left = Vec::with_capacity(end - start);
        for entry in self.entries.drain(start..end) {
            let key = &entry.key;
            let is_write = how != Use::Read;
            if key.source && !is_write {
                left.push(entry);
                continue;
            }
            // Results of one class return in order: the second one remains. (LLVM's
            // `hasVmemWriteVgprInOrder`; AMDGPUUsage for DS) Those of the sampler have another path.
            let same_path = is_sampler(&walk.code.items[entry.producer as usize].inst)
                == is_sampler(&walk.code.items[at].inst);
            let in_order = match how {
                Use::WriteBy(class) => {
                    class == key.class && class.is_ordered() && !key.source && same_path
                }
                Use::Read | Use::Write => false,
            };
            if in_order {
                continue;
            }
            if key.by != PENDING {
                walk.seen.need(key);
                continue;
            }
            let rule = match (key.source, is_write) {
                _ if key.class == Class::FlatLgkmOld => &FLAT,
                _ if entry.is_full(walk.code.gfx) => &FULL,
                (true, _) => &SOURCE,
                (false, true) => &WRITE,
                (false, false) => &READ,
            };
            walk.report(rule, at, &entry, is_write);
        }
        self.entries.splice(start..start, left);
    }

    /// Each entry for which `is` holds is used: completed ones show that their wait was needed.
    fn use_all(
        &mut self,
        rule: &'static Rule,
        at: usize,
        walk: &mut Walk<'_>,
        is: impl Fn(&Key) -> bool,
    ) {
        self.entries.retain(|entry| {
            if !is(&entry.key) {
                return true;
            }
            // Nothing is known of this counter of an access that is known to be global.
            let rule = match entry.key.class {
                Class::FlatLgkmOld => &FLAT,
                _ if entry.is_full(walk.code.gfx) => &FULL,
                _ => rule,
            };
            match entry.key.by {
                PENDING => walk.report(rule, at, entry, false),
                _ => walk.seen.need(&entry.key),
            }
            false
        });
    }

    fn wait(&mut self, at: usize, imm: u16, gfx: Gfx, seen: &mut Seen) {
        let mut changed = false;
        self.entries.retain_mut(|entry| {
            let key = &mut entry.key;
            let Some(n) = key.class.field().get(imm, gfx) else {
                return true;
            };
            let ordered = key.class.is_ordered();
            let completes = if ordered { entry.age >= n } else { n == 0 };
            if !completes {
                return true;
            }
            if key.by != PENDING {
                // Either wait would do.
                return false;
            }
            key.by = at as u32;
            key.exact = !ordered || entry.age == n;
            changed = true;
            true
        });
        if changed {
            self.sort();
            self.limit(seen);
        }
    }

    /// Registers are written: EXEC, or those of facts. What they hold now says nothing about older operations.
    fn forget(&mut self, lanes: bool, facts: Set) {
        if !lanes && facts == 0 {
            return;
        }
        for entry in &mut self.entries {
            entry.key.lanes &= !lanes;
            entry.key.facts &= !facts;
        }
        self.sort();
    }

    /// These facts hold now: what is outstanding is so on paths on which they hold.
    fn learn(&mut self, facts: Set) {
        if facts == 0 {
            return;
        }
        for entry in &mut self.entries {
            entry.key.facts |= facts;
        }
        self.sort();
    }

    /// Limits the entries of a register; the waits of those dropped count as needed.
    fn limit(&mut self, seen: &mut Seen) {
        let mut kept: Vec<Entry> = Vec::with_capacity(self.entries.len());
        for entry in self.entries.drain(..) {
            let key = &entry.key;
            let same = |e: &&Entry| {
                (e.key.reg, e.key.class, e.key.source) == (key.reg, key.class, key.source)
            };
            let known = kept.iter().rev().take_while(same).count();
            if known > MOST_WAITS && key.by != PENDING {
                seen.need(key);
                continue;
            }
            kept.push(entry);
        }
        self.entries = kept;
    }

    /// Operations are issued: the ages of their class grow; what no longer fits into the counter is complete.
    fn issue(&mut self, class: Class, tokens: u8, gfx: Gfx) {
        let most = class.field().most(gfx);
        self.entries.retain_mut(|entry| {
            let key = &entry.key;
            if key.class.field() != class.field() {
                return true;
            }
            if key.class == Class::FlatVm {
                entry.age = entry.age.saturating_add(tokens).min(most);
            }
            if !key.class.is_ordered() {
                return true;
            }
            if entry.age.saturating_add(tokens) >= most {
                return false;
            }
            if key.class == class {
                entry.age += tokens;
            }
            true
        });
    }

    fn add(&mut self, reg: Reg, class: Class, source: bool, producer: usize, facts: Set) {
        let key = Key {
            reg,
            class,
            source,
            by: PENDING,
            exact: false,
            lanes: class.needs_lanes(),
            facts,
        };
        let entry = Entry {
            key,
            age: 0,
            producer: producer as u32,
        };
        match self.entries.binary_search_by_key(&key, |e| e.key) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
    }
}

/// A pass over the code.
struct Walk<'a> {
    code: &'a Code,
    facts: &'a Facts,
    /// The facts that hold now.
    held: Set,
    one_wave: bool,
    is_kernel: bool,
    seen: Seen,
    /// Only the last pass reports.
    reports: bool,
}

impl Walk<'_> {
    fn report(&mut self, rule: &'static Rule, at: usize, entry: &Entry, is_write: bool) {
        if !self.reports {
            return;
        }
        let gfx = self.code.gfx;
        let counter = entry.key.class.field().name();
        let needed = match entry.key.class.is_ordered() {
            true => entry.age,
            false => 0,
        };
        let at_text = |index: usize| {
            let item = &self.code.items[index];
            format!("`{}`", item.inst.text(gfx))
        };
        let (rule, why, other) = match entry.key.reg {
            CALLER => (
                &ENTRY,
                format!(
                    "the function has not waited for its caller's {counter}(0) before it uses registers"
                ),
                None,
            ),
            LDS | LDS_READ | LDS_LOADED | GWS => (
                rule,
                format!(
                    "the access of {} at {:#x} may be outstanding; {counter}({needed}) would be enough",
                    at_text(entry.producer as usize),
                    self.code.items[entry.producer as usize].address,
                ),
                Some(entry.producer as usize),
            ),
            reg => {
                let does = match (entry.key.source, is_write) {
                    (true, true) => "which it writes, may not be read yet by",
                    (true, false) => "may not be read yet by",
                    (false, true) => "which it writes, is later overwritten by",
                    (false, false) => "is the result of",
                };
                (
                    rule,
                    format!(
                        "{} {does} {} at {:#x}, which may be outstanding; {counter}({needed}) would be enough",
                        registers::name(reg, gfx),
                        at_text(entry.producer as usize),
                        self.code.items[entry.producer as usize].address,
                    ),
                    Some(entry.producer as usize),
                )
            }
        };
        self.seen.findings.push((rule, at, other, why));
    }

    fn step(&mut self, state: &mut Outstanding, at: usize) {
        let code = self.code;
        let (gfx, item) = (code.gfx, &code.items[at]);
        if item.removed {
            return;
        }
        let inst = &item.inst;
        let op = inst.op();
        if op == Op::Waitcnt {
            state.wait(at, item.imm() as u16, gfx, &mut self.seen);
            return;
        }
        let issued = events(inst, &item.uses, gfx);
        // An issue that would overflow a counter waits, before its operands are read.
        for event in &issued {
            state.issue(event.class, event.tokens, gfx);
        }
        self.implied(state, item, at);
        for span in &item.uses.reads {
            state.touch(span.first, span.count, Use::Read, at, self);
        }
        // A load into one half of a register follows the load of the other in order.
        if issued.is_empty() {
            for span in &item.uses.keeps {
                state.touch(span.first, span.count, Use::Read, at, self);
            }
        }
        let how = match &issued[..] {
            [event] => Use::WriteBy(event.class),
            _ if is_vmem(inst) && (inst.desc.encoding != Encoding::Flat || !gfx.is_gfx9()) => {
                Use::WriteBy(Class::Vmem)
            }
            _ => Use::Write,
        };
        for span in &item.uses.writes {
            state.touch(span.first, span.count, how, at, self);
        }
        let exec = [EXEC_LO, EXEC_HI].map(Reg::from);
        let ended = self.facts.ended(item);
        self.held &= !ended;
        state.forget(exec.into_iter().any(|reg| item.uses.writes(reg)), ended);
        self.held |= self.facts.given(item);
        let held = self.held;
        for event in issued {
            for what in event.what {
                match what {
                    What::Writes(span) => span
                        .each()
                        .for_each(|reg| state.add(reg, event.class, false, at, held)),
                    What::Reads(span) => span
                        .each()
                        .for_each(|reg| state.add(reg, event.class, true, at, held)),
                    What::ReadsExec => exec
                        .into_iter()
                        .for_each(|reg| state.add(reg, event.class, true, at, held)),
                    What::LdsRead => state.add(LDS_READ, event.class, false, at, held),
                    What::Lds => state.add(LDS, event.class, false, at, held),
                    What::Gws => state.add(GWS, event.class, false, at, held),
                    What::LdsLoad => state.add(LDS_LOADED, event.class, false, at, held),
                }
            }
        }
    }

    /// What an instruction needs besides its registers.
    fn implied(&mut self, state: &mut Outstanding, item: &Item, at: usize) {
        let inst = &item.inst;
        let op = inst.op();
        if is_lds(inst) {
            state.use_all(&LDS_LOAD, at, self, |key| key.reg == LDS_LOADED);
        }
        if item.relative {
            state.use_all(&RELATIVE, at, self, |key| {
                (VGPR..registers::END).contains(&key.reg) && !key.source
            });
        }
        match op {
            Op::Barrier if !self.one_wave => {
                state.use_all(&BARRIER, at, self, |key| key.reg == LDS);
                state.use_all(&BARRIER_READ, at, self, |key| key.reg == LDS_READ);
                state.use_all(&LDS_LOAD, at, self, |key| key.reg == LDS_LOADED);
            }
            Op::Branch(BranchIf::Vccz | BranchIf::Vccnz) if self.code.gfx.is_gfx6_7() => {
                state.use_all(&VCCZ, at, self, |key| key.class == Class::Smem);
            }
            Op::Endpgm => state.use_all(&GWS_END, at, self, |key| key.reg == GWS),
            Op::Call | Op::SwapPc => {
                // The target is read now; the function waits for the rest.
                for span in &item.uses.reads {
                    state.touch(span.first, span.count, Use::Read, at, self);
                }
                state.entries.clear();
            }
            _ => {}
        }
        let uses_vector = |spans: &[registers::Span]| spans.iter().any(|span| span.first >= VGPR);
        let uses_any = !item.uses.reads.is_empty() || !item.uses.writes.is_empty();
        if !self.is_kernel && uses_any && op != Op::SetPc {
            let vector = uses_vector(&item.uses.reads) || uses_vector(&item.uses.writes);
            state.use_all(&ENTRY, at, self, |key| {
                key.reg == CALLER && (vector || key.class == Class::CallerLgkm)
            });
        }
    }

    /// The end of a block.
    fn leave(&mut self, state: &mut Outstanding, block: usize) {
        let block = &self.code.blocks[block];
        if self.is_kernel || block.leaves != Leaves::Indirect {
            return;
        }
        // A jump to another pair is a tail call, whose function waits itself.
        let last = &self.code.items[block.items.end - 1].inst;
        if last.op() == Op::SetPc && last.src[0] != Operand::Sgpr(RETURN_ADDRESS) {
            return;
        }
        state.use_all(&RETURN, block.items.end - 1, self, |key| {
            key.reg < registers::END
        });
    }
}

pub(crate) fn check(routine: &Routine<'_>, code: &Code, report: &mut Report) {
    let facts = Facts::new(code);
    let mut walk = Walk {
        code,
        facts: &facts,
        held: 0,
        one_wave: routine.kernel.is_some_and(|kernel| kernel.one_wave),
        is_kernel: routine.kernel.is_some(),
        seen: Seen::default(),
        reports: false,
    };
    let mut start = Outstanding::default();
    if !walk.is_kernel {
        start.add(CALLER, Class::CallerVm, false, 0, 0);
        start.add(CALLER, Class::CallerLgkm, false, 0, 0);
    }
    let follow = |walk: &mut Walk<'_>, block: usize, state: &mut Outstanding| {
        walk.held = facts.at_start(block);
        for at in code.blocks[block].items.clone() {
            walk.step(state, at);
        }
        walk.leave(state, block);
    };
    let states = solve(
        code,
        start,
        |block, state| follow(&mut walk, block, state),
        |block, number, state| {
            if facts.is_never(block, number) {
                state.entries.clear();
                return;
            }
            let (zero, never) = (
                code.is_exec_zero(block, number),
                facts.contradicted(block, number),
            );
            let possible = |key: &Key| !(zero && key.lanes) && key.facts & never == 0;
            if zero || never != 0 {
                state.entries.retain(|entry| possible(&entry.key));
            }
            state.learn(facts.learned(block, number));
        },
    );
    let Some(states) = states else {
        report
            .unchecked
            .push("the control flow is too involved to follow what is outstanding".to_owned());
        return;
    };
    walk.reports = true;
    walk.seen = Seen::default();
    for (block, state) in states.into_iter().enumerate() {
        if let Some(mut state) = state {
            state.limit(&mut walk.seen);
            follow(&mut walk, block, &mut state);
        }
    }
    let seen = walk.seen;
    for (rule, at, other, why) in seen.findings {
        report.add(rule, at, other, why);
    }
    for (at, item) in code.items.iter().enumerate() {
        if item.inst.op() != Op::Waitcnt || item.removed || !code.is_reached(at) {
            continue;
        }
        for field in WaitField::ALL {
            if field.get(item.imm() as u16, code.gfx).is_none() {
                continue;
            }
            match seen.needed.get(&(at, field)) {
                None => report.redundant.push((at, Some(field))),
                Some(false) => report.stronger.push((at, Some(field))),
                Some(true) => {}
            }
        }
    }
}
