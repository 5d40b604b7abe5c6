//! What was found, and where undefined values come from.

use std::collections::HashMap;

use frontend::registers::Reg;

use crate::sanitizer::Side;

/// What an undefined value reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// An address of an active lane, a buffer descriptor, an index of a register.
    Address,
    /// The condition or the target of a branch, or EXEC.
    Branch,
    /// A store or an atomic of an active lane in global memory, or an export.
    Output,
}

/// Where an undefined value was before anything computed with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A register that the wave has not written.
    Register(Reg),
    /// LDS that the workgroup has not written: its offset.
    Lds(u64),
    /// Scratch that the lane has not written: its offset in the lane's.
    Scratch(u64),
    /// Global memory that was declared undefined: its guest address.
    Memory(u64),
}

/// The origin of an undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Where it was, when it was read first.
    pub source: Source,
    /// Guest address of the instruction that read it from memory.
    pub read: Option<u64>,
}

/// Where an undefined value is used, one for each rule and instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it reaches.
    pub rule: Rule,
    /// The result depends on it. Otherwise a store has copied an element of which only a part is undefined, as copies of
    /// structures with padding do.
    pub certain: bool,
    /// The instruction, and who executed it when this was found first.
    pub at: Side,
    /// Of a store: guest address of the lowest byte found first.
    pub address: Option<u64>,
    /// Where the value comes from.
    pub origin: Option<Origin>,
    /// Executions by waves.
    pub count: u64,
}

/// A note at an undefined value: whether something has computed with it, and its origin by number. Number 0 is memory
/// that nobody has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tag(pub(super) u32);

impl Tag {
    const COMPUTED: u32 = 1 << 31;

    /// The value was computed with.
    pub(super) fn computed(self) -> Tag {
        Tag(self.0 | Tag::COMPUTED)
    }

    pub(super) fn is_computed(self) -> bool {
        self.0 & Tag::COMPUTED != 0
    }

    /// Is it memory that nobody has written?
    pub(super) fn is_unwritten(self) -> bool {
        self.0 & !Tag::COMPUTED == 0
    }
}

/// Findings and origins.
#[derive(Default)]
pub(super) struct Findings {
    by_key: HashMap<(Rule, u64, u64), usize>,
    all: Vec<Finding>,
    origins: Vec<Origin>,
    by_source: HashMap<(u8, u64), u32>,
}

impl Findings {
    pub(super) fn add(
        &mut self,
        rule: Rule,
        certain: bool,
        at: Side,
        tag: Tag,
        address: Option<u64>,
    ) {
        let finding = Finding {
            rule,
            certain,
            at,
            address,
            origin: self.origin(tag),
            count: 1,
        };
        let index = *self
            .by_key
            .entry((rule, at.code, at.pc))
            .or_insert(self.all.len());
        let Some(known) = self.all.get_mut(index) else {
            self.all.push(finding);
            return;
        };
        let count = known.count + 1;
        if certain && !known.certain {
            *known = finding;
        }
        known.count = count;
    }

    /// The tag of an origin. Origins of one kind that one instruction reads have one tag, the first one's.
    pub(super) fn tag(&mut self, origin: Origin) -> Tag {
        let at = origin.read.unwrap_or_default();
        let key = match origin.source {
            Source::Register(reg) => (0, reg.into()),
            Source::Lds(_) => (1, at),
            Source::Scratch(_) => (2, at),
            Source::Memory(_) => (3, at),
        };
        let number = *self.by_source.entry(key).or_insert_with(|| {
            self.origins.push(origin);
            self.origins.len() as u32
        });
        Tag(number)
    }

    fn origin(&self, tag: Tag) -> Option<Origin> {
        let number = (tag.0 & !Tag::COMPUTED) as usize;
        self.origins.get(number.checked_sub(1)?).copied()
    }

    pub(super) fn take(&mut self) -> Vec<Finding> {
        self.by_key.clear();
        std::mem::take(&mut self.all)
    }
}
