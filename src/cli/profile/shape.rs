//! The shapes chosen for blocks, as numbers and in words.

use frontend::WaveState;
use runtime::jit::profile::{self, Access, BlockProfile, SegmentShape};
use serde::Serialize;

use super::collect::{Block, Region};

/// A loop of one block in the form that runs inside the lane groups.
#[derive(Serialize)]
pub(in super::super) struct Interchanged {
    group: u8,
    turns: u64,
    host_bytes: u32,
}

/// The form of a loop in code without counters (see [`profile::Uncounted`]).
#[derive(Serialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub(in super::super) enum Uncounted {
    Groups { lanes: u8, quick: bool },
    FirstTurns { lanes: u8 },
    Alone,
}

impl From<profile::Uncounted> for Uncounted {
    fn from(form: profile::Uncounted) -> Uncounted {
        match form {
            profile::Uncounted::Groups { lanes, quick } => Uncounted::Groups { lanes, quick },
            profile::Uncounted::FirstTurns { lanes } => Uncounted::FirstTurns { lanes },
            profile::Uncounted::Alone => Uncounted::Alone,
        }
    }
}

/// A loop over lane groups.
#[derive(Serialize)]
pub(in super::super) struct Segment {
    group: u8,
    unmasked: bool,
    masked: bool,
    masked_runs: u64,
    operations: usize,
    stores: usize,
    host_bytes: u32,
    ends: String,
}

/// A memory instruction.
#[derive(Serialize)]
pub(in super::super) struct AccessLine {
    pub(super) place: String,
    pub(super) text: String,
    pub(super) how: String,
}

impl AccessLine {
    pub(super) fn new(place: String, text: String, how: Access) -> AccessLine {
        let how = match how {
            Access::Affine { stride, guarded } => {
                let checked = if guarded { ", checked" } else { "" };
                format!("inline, affine with stride {stride}{checked}")
            }
            Access::Runs => {
                "inline where lanes follow one another, else a call of the runtime".to_owned()
            }
            Access::Call => "call of the runtime".to_owned(),
        };
        AccessLine { place, text, how }
    }
}

impl Segment {
    pub(super) fn new(shape: &SegmentShape, masked_runs: u64) -> Segment {
        Segment {
            group: shape.group,
            unmasked: shape.unmasked,
            masked: shape.masked.is_some(),
            masked_runs,
            operations: shape.operations,
            stores: shape.stores,
            host_bytes: shape.unmasked_bytes + shape.masked_bytes,
            ends: shape.ends.clone(),
        }
    }

    /// Width and masks in words; `executions` are those outside of the lane groups.
    fn versions(&self, executions: u64) -> String {
        let group = self.group;
        match (self.unmasked, self.masked) {
            (true, true) => {
                let runs = self.masked_runs;
                format!("{group} lanes or masked ({runs} of {executions})")
            }
            (false, true) => "always masked".to_owned(),
            _ => format!("{group} lanes, no mask"),
        }
    }

    /// The shape in words.
    fn text(&self, executions: u64) -> String {
        format!(
            "{}, {} operations, {} registers stored, {} host bytes; ends: {}",
            self.versions(executions),
            self.operations,
            self.stores,
            self.host_bytes,
            self.ends
        )
    }
}

impl Interchanged {
    pub(super) fn of(block: &BlockProfile<'_>) -> Option<Interchanged> {
        let form = block.shape.interchanged.as_ref()?;
        Some(Interchanged {
            group: form.group,
            turns: block.interchanged(),
            host_bytes: form.bytes,
        })
    }

    /// The shape in words.
    fn text(&self, executions: u64) -> String {
        let (group, turns) = (self.group, self.turns);
        format!("runs inside the lane groups, {group} lanes ({turns} of {executions})")
    }
}

impl Uncounted {
    /// The form in words.
    fn text(&self) -> String {
        let form = match self {
            Uncounted::Groups { lanes, quick } => {
                let masks = if *quick {
                    ", without masks while all that act go on"
                } else {
                    ""
                };
                format!("inside the lane groups, {lanes} lanes{masks}")
            }
            Uncounted::FirstTurns { lanes } => {
                format!("turns that all lanes make inside the lane groups, {lanes} lanes")
            }
            Uncounted::Alone => "lane by lane, each with all its turns".to_owned(),
        };
        format!("without counters: {form}")
    }
}

impl Block {
    /// Executions that went from instruction to instruction.
    fn outside(&self) -> u64 {
        let turns = self.interchanged.as_ref().map_or(0, |form| form.turns);
        self.executions.saturating_sub(turns)
    }

    /// Its loops, a line each.
    pub(super) fn loops(&self) -> Vec<String> {
        let form = self.interchanged.as_ref().map(|form| {
            let bytes = form.host_bytes;
            format!("{}, {bytes} host bytes", form.text(self.executions))
        });
        let uncounted = self.uncounted.as_ref().map(Uncounted::text);
        let segments = self.segments.iter().enumerate();
        let segments = segments.map(|(i, s)| format!("loop {}: {}", i + 1, s.text(self.outside())));
        form.into_iter().chain(uncounted).chain(segments).collect()
    }

    /// How it was translated, in short.
    pub(super) fn summary(&self) -> String {
        let form = self.interchanged.as_ref();
        let form = form.map(|form| form.text(self.executions));
        let segments = self.segments.iter().map(|s| s.versions(self.outside()));
        let uncounted = self.uncounted.as_ref().map(Uncounted::text);
        let all: Vec<String> = form.into_iter().chain(uncounted).chain(segments).collect();
        all.join("; ")
    }
}

impl Region {
    /// The emitter, and what the code takes for granted.
    pub(super) fn how(&self) -> String {
        let facts = self.assumes.iter().map(|fact| format!(", {fact}"));
        let refused = self.refused.iter();
        let refused = refused.map(|what| format!(" (wide has no {what})"));
        let emitter = [self.emitter.to_owned()].into_iter().chain(refused);
        emitter.chain(facts).collect()
    }
}

/// What `start` says of the registers that a wave begins with, in words.
pub(super) fn assumptions(start: u64) -> Vec<String> {
    let mut facts = Vec::new();
    if start & WaveState::V0_COUNTS != 0 {
        facts.push("v0 counts lanes".to_owned());
    }
    if start & WaveState::V12_UNIFORM != 0 {
        facts.push("v1 and v2 uniform".to_owned());
    }
    let row = (start & WaveState::ROWS) >> WaveState::ROWS.trailing_zeros();
    if row != 0 {
        facts.push(format!("v0 counts in rows of {}", 1 << row));
    }
    facts
}
