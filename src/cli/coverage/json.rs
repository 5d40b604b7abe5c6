//! The report as JSON.

use serde::Serialize;
use wavelift::source::demangle;

use super::facts::{Facts, Object, Ratio, Routine, Shown};
use super::lines::{SourceFile, files, line_ratio};

#[derive(Serialize)]
pub(super) struct Report {
    files: Vec<FileReport>,
    routines: Vec<RoutineReport>,
}

#[derive(Serialize)]
struct RatioReport {
    covered: usize,
    total: usize,
}

impl From<Ratio> for RatioReport {
    fn from(Ratio { covered, total }: Ratio) -> RatioReport {
        RatioReport { covered, total }
    }
}

#[derive(Serialize)]
struct FileReport {
    file: String,
    lines: RatioReport,
    outcomes: RatioReport,
    counts: Vec<LineReport>,
    conditions: Vec<ConditionReport>,
}

#[derive(Serialize)]
struct LineReport {
    line: u32,
    waves: u64,
    lanes: Option<u64>,
}

#[derive(Serialize)]
struct ConditionReport {
    line: Option<u32>,
    address: u64,
    instruction: String,
    /// What is counted: waves or lanes.
    unit: &'static str,
    outcomes: [OutcomeReport; 2],
}

#[derive(Serialize)]
struct OutcomeReport {
    name: &'static str,
    count: u64,
}

#[derive(Serialize)]
struct RoutineReport {
    name: String,
    symbol: String,
    kernel: bool,
    target: String,
    waves: u64,
    lines: RatioReport,
    blocks: RatioReport,
    outcomes: RatioReport,
    conditions: Vec<ConditionReport>,
}

pub(super) fn report(facts: &Facts) -> Report {
    let files = files(facts);
    let files = files.iter().zip(&facts.files);
    let routines = facts.routines();
    Report {
        files: files.map(|(file, name)| of_file(name, file)).collect(),
        routines: routines
            .map(|(object, routine)| of_routine(object, routine))
            .collect(),
    }
}

fn of_file(name: &str, file: &SourceFile<'_>) -> FileReport {
    let counts = file.lines.iter().map(|(&line, counts)| LineReport {
        line,
        waves: counts.waves,
        lanes: counts.lanes,
    });
    FileReport {
        file: name.to_owned(),
        lines: file.line_ratio().into(),
        outcomes: file.outcome_ratio().into(),
        counts: counts.collect(),
        conditions: file
            .conditions
            .values()
            .flatten()
            .map(of_condition)
            .collect(),
    }
}

fn of_routine(object: &Object, routine: &Routine) -> RoutineReport {
    RoutineReport {
        name: demangle(&routine.name).into_owned(),
        symbol: routine.name.clone(),
        kernel: routine.kernel,
        target: object.target.clone(),
        waves: routine.waves(),
        lines: line_ratio(routine).into(),
        blocks: routine.block_ratio().into(),
        outcomes: routine.outcome_ratio().into(),
        conditions: routine
            .conditions()
            .map(|shown| of_condition(&shown))
            .collect(),
    }
}

fn of_condition(shown: &Shown<'_>) -> ConditionReport {
    let ([first, second], names) = (shown.outcomes(), shown.condition.names());
    let outcome = |name, count| OutcomeReport { name, count };
    ConditionReport {
        line: shown.place.map(|place| place.line),
        address: shown.instruction.address,
        instruction: shown.instruction.text.clone(),
        unit: shown.condition.unit(),
        outcomes: [outcome(names[0], first), outcome(names[1], second)],
    }
}
