//! The shapes chosen for blocks, as numbers and in words.

use frontend::WaveState;
use runtime::jit::profile::{Access, BlockProfile, Joined, Order, SegmentShape};
use serde::Serialize;

use super::collect::{Block, Region};

/// A loop of one block in the form that runs inside the lane groups.
#[derive(Serialize)]
pub(super) struct Interchanged {
    group: u8,
    iterations: u64,
    host_bytes: u32,
}

/// The form of a loop whose iterations cannot be counted by form (see [`Order`]).
#[derive(Serialize)]
pub(super) struct Uncounted {
    #[serde(flatten)]
    form: LoopForm,
    host_bytes: u32,
}

/// In which order lanes run their iterations.
#[derive(Serialize)]
#[serde(tag = "form", rename_all = "snake_case")]
enum LoopForm {
    Groups { lanes: u8, unmasked: bool },
    Peeled { lanes: u8 },
    LaneSerial,
    Parallel { lanes: u8, blocks: usize },
}

/// The only run that a region ran in.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ran {
    Timed,
    Counted,
}

impl Ran {
    pub(super) fn only(region: &Joined<'_>) -> Option<Ran> {
        match region {
            Joined::Timed(_) => Some(Ran::Timed),
            Joined::Counted(_) => Some(Ran::Counted),
            Joined::Both { .. } => None,
        }
    }

    /// A description.
    pub(super) fn text(self) -> &'static str {
        match self {
            Ran::Timed => "ran only in the timed run: its instructions are not counted",
            Ran::Counted => {
                "ran only in the counting run: it has no time, and shapes and host bytes are of code with counters"
            }
        }
    }
}

/// A loop over lane groups.
#[derive(Serialize)]
pub(super) struct Segment {
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
pub(super) struct AccessLine {
    pub(super) place: String,
    pub(super) text: String,
    pub(super) how: String,
    /// The addressing, unless the loop has a form in which the access is inline.
    #[serde(skip)]
    pub(super) outside: Option<Access>,
}

impl AccessLine {
    /// `order` is that of the loop's second form, if it has one.
    pub(super) fn new(
        place: String,
        text: String,
        access: Access,
        order: Option<Order>,
    ) -> AccessLine {
        let how = match access {
            Access::Affine { stride, guarded } => {
                let checked = if guarded { ", checked" } else { "" };
                format!("inline, affine with stride {stride}{checked}")
            }
            Access::Table => "inline, constant lane offsets, checked".to_owned(),
            Access::Runs { each: false } => {
                "inline where lanes are contiguous, else a call of the runtime".to_owned()
            }
            Access::Runs { each: true } => {
                "inline where lanes are contiguous, else inline for each lane".to_owned()
            }
            Access::Each => "inline for each lane".to_owned(),
            Access::Scratch => {
                "inline in the wave's scratch, else a call of the runtime".to_owned()
            }
            Access::Call => "call of the runtime".to_owned(),
        };
        let (how, outside) = match order {
            Some(Order::LaneSerial) => {
                let how = format!("inline, lane by lane; in the general loop {how}");
                (how, None)
            }
            _ => (how, Some(access)),
        };
        AccessLine {
            place,
            text,
            how,
            outside,
        }
    }
}

impl Segment {
    /// What ends it.
    pub(super) fn ends(&self) -> &str {
        &self.ends
    }

    /// VGPRs that it stores.
    pub(super) fn stores(&self) -> usize {
        self.stores
    }

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

    /// Width and masks in words; `executions` are those outside the loop's second form, if counted.
    fn versions(&self, executions: Option<u64>) -> String {
        let group = self.group;
        match (self.unmasked, self.masked, executions) {
            (true, true, Some(all)) => {
                let runs = self.masked_runs;
                format!("{group} lanes or masked ({runs} of {all})")
            }
            (true, true, None) => format!("{group} lanes or masked"),
            (false, true, _) => "always masked".to_owned(),
            _ => format!("{group} lanes, no mask"),
        }
    }

    /// The shape in words.
    fn text(&self, executions: Option<u64>) -> String {
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
            iterations: block.iterations()?,
            host_bytes: form.bytes,
        })
    }

    /// The shape in words.
    fn text(&self, executions: u64) -> String {
        let (group, iterations) = (self.group, self.iterations);
        format!("runs inside the lane groups, {group} lanes ({iterations} of {executions})")
    }
}

impl Uncounted {
    pub(super) fn of(block: &BlockProfile<'_>) -> Option<Uncounted> {
        let shape = block.shape.interchanged.as_ref();
        let shape = shape.filter(|_| block.iterations().is_none())?;
        let lanes = shape.group;
        Some(Uncounted {
            form: match shape.order {
                Order::Groups { unmasked } => LoopForm::Groups { lanes, unmasked },
                Order::Peeled => LoopForm::Peeled { lanes },
                Order::LaneSerial => LoopForm::LaneSerial,
                Order::Parallel => LoopForm::Parallel {
                    lanes,
                    blocks: shape.blocks.len(),
                },
            },
            host_bytes: shape.bytes,
        })
    }

    /// The form in words.
    fn text(&self) -> String {
        match self.form {
            LoopForm::Groups { lanes, unmasked } => {
                let masks = if unmasked {
                    ", unmasked while all active lanes continue"
                } else {
                    ""
                };
                format!("runs inside the lane groups, {lanes} lanes{masks}")
            }
            LoopForm::Peeled { lanes } => {
                format!(
                    "runs the iterations common to all lanes inside the lane groups, {lanes} lanes"
                )
            }
            LoopForm::LaneSerial => "runs lane by lane, all iterations of each".to_owned(),
            LoopForm::Parallel { lanes, blocks: 1 } => {
                format!("runs as a parallel region, {lanes} lanes")
            }
            LoopForm::Parallel { lanes, blocks } => {
                format!("runs as a parallel region of {blocks} blocks, {lanes} lanes")
            }
        }
    }
}

impl Block {
    /// Does it run as a part of a loop inside the lane groups, or lane by lane?
    pub(super) fn runs_inside(&self) -> bool {
        self.interchanged.is_some() || self.uncounted.is_some() || self.part_of.is_some()
    }

    /// Executions outside the loop's second form; `None` if not counted.
    fn outside(&self) -> Option<u64> {
        match (&self.interchanged, &self.uncounted, &self.part_of) {
            (Some(form), ..) => Some(self.executions.saturating_sub(form.iterations)),
            (None, None, None) => Some(self.executions),
            _ => None,
        }
    }

    /// The form of the loop that it begins or is a part of, with its host bytes if they are this
    /// block's, and in short.
    fn form(&self) -> Option<(String, String)> {
        let with = |text: String, bytes: u32| (format!("{text}, {bytes} host bytes"), text);
        if let Some(form) = &self.interchanged {
            return Some(with(form.text(self.executions), form.host_bytes));
        }
        if let Some(form) = &self.uncounted {
            return Some(with(form.text(), form.host_bytes));
        }
        let text = format!("runs in the form of the code at {}", self.part_of.as_ref()?);
        Some((text.clone(), text))
    }

    /// Its loops, one per line.
    pub(super) fn loops(&self) -> Vec<String> {
        let form = self.form().map(|(long, _)| long);
        let outside = self.outside();
        let name = match outside {
            Some(_) => "loop",
            None => "general loop",
        };
        let segments = self.segments.iter().enumerate();
        let segments = segments.map(|(i, s)| format!("{name} {}: {}", i + 1, s.text(outside)));
        form.into_iter().chain(segments).collect()
    }

    /// How it was translated, in short.
    pub(super) fn summary(&self) -> String {
        let form = self.form().map(|(_, short)| short);
        let segments = self.segments.iter().map(|s| s.versions(self.outside()));
        let all: Vec<String> = form.into_iter().chain(segments).collect();
        all.join("; ")
    }
}

impl Region {
    /// The back end, and the assumptions of the code.
    pub(super) fn how(&self) -> String {
        let facts = self.assumes.iter().map(|fact| format!(", {fact}"));
        let refused = self.refused.iter();
        let refused = refused.map(|what| format!(" (wide has no {what})"));
        let emitter = [self.emitter.to_owned()].into_iter().chain(refused);
        emitter.chain(facts).collect()
    }
}

/// The facts of `start` about the registers of a wave that begins, in words.
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
