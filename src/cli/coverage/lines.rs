//! Counts by source line.

use std::collections::BTreeMap;

use super::facts::{Facts, Instruction, Place, Ratio, Routine, Shown, is_covered};

/// Counts of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineCounts {
    /// Executions by waves: of its block that was executed most, added up over kernels and functions. 0 if no lane was
    /// active in any of its vector instructions.
    pub(super) waves: u64,
    /// The same for the active lanes of its vector instructions; `None` if it has none.
    pub(super) lanes: Option<u64>,
}

impl LineCounts {
    pub(super) fn is_covered(&self) -> bool {
        self.waves != 0
    }
}

/// A source file: counts by line, and conditions by line.
#[derive(Default)]
pub(super) struct SourceFile<'f> {
    pub(super) lines: BTreeMap<u32, LineCounts>,
    pub(super) conditions: BTreeMap<u32, Vec<Shown<'f>>>,
}

impl SourceFile<'_> {
    pub(super) fn line_ratio(&self) -> Ratio {
        ratio(self.lines.values())
    }

    pub(super) fn outcome_ratio(&self) -> Ratio {
        let mut ratio = Ratio::default();
        let conditions = self.conditions.values().flatten();
        let outcomes = conditions.flat_map(Shown::outcomes);
        outcomes.for_each(|count| ratio.add(count != 0));
        ratio
    }

    /// Lines that were not executed.
    pub(super) fn missed(&self) -> impl Iterator<Item = u32> {
        let missed = self.lines.iter().filter(|(_, counts)| !counts.is_covered());
        missed.map(|(&line, _)| line)
    }
}

fn ratio<'l>(lines: impl Iterator<Item = &'l LineCounts>) -> Ratio {
    let mut ratio = Ratio::default();
    lines.for_each(|counts| ratio.add(counts.is_covered()));
    ratio
}

/// The source files, by index in [`Facts::files`].
pub(super) fn files(facts: &Facts) -> Vec<SourceFile<'_>> {
    let mut files: Vec<SourceFile<'_>> = Vec::new();
    files.resize_with(facts.files.len(), SourceFile::default);
    for (_, routine) in facts.routines() {
        for (place, counts) in lines_of(routine) {
            let sum = files[place.file].lines.entry(place.line).or_default();
            sum.waves = sum.waves.saturating_add(counts.waves);
            if let Some(lanes) = counts.lanes {
                sum.lanes = Some(sum.lanes.unwrap_or(0).saturating_add(lanes));
            }
        }
        for shown in routine.conditions() {
            if let Some(place) = shown.place {
                let conditions = &mut files[place.file].conditions;
                conditions.entry(place.line).or_default().push(shown);
            }
        }
    }
    files
}

/// The lines of a kernel or function.
pub(super) fn line_ratio(routine: &Routine) -> Ratio {
    ratio(lines_of(routine).values())
}

fn lines_of(routine: &Routine) -> BTreeMap<Place, LineCounts> {
    let mut lines: BTreeMap<Place, LineCounts> = BTreeMap::new();
    for block in &routine.blocks {
        let mut pieces: BTreeMap<Place, Vec<&Instruction>> = BTreeMap::new();
        for instruction in &block.instructions {
            if let Some(place) = instruction.place {
                pieces.entry(place).or_default().push(instruction);
            }
        }
        for (place, piece) in pieces {
            let line = lines.entry(place).or_default();
            if is_covered(piece.iter().copied()) {
                let waves = piece.iter().map(|inst| inst.counts.executions);
                line.waves = line.waves.max(waves.max().unwrap_or(0));
            }
            let vector = piece.iter().filter(|inst| inst.vector);
            let lanes = vector.map(|inst| inst.counts.lanes);
            line.lanes = line.lanes.max(lanes.max());
        }
    }
    lines
}
