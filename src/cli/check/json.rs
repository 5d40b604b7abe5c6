//! Findings as JSON.

use serde::Serialize;
use wavelift::check::Place;
use wavelift::sanitizer::Side;

use super::reporting::{self, Results};

#[derive(Serialize)]
struct Report<'a> {
    findings: Vec<Found<'a>>,
    routines: usize,
    instructions: usize,
    suppressed: usize,
    unchecked: Vec<Unchecked<'a>>,
    /// Of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<Program>,
}

/// A program that ran.
#[derive(Serialize)]
struct Program {
    /// Those of its processes that used the GPU.
    processes: usize,
    launches: u64,
    /// Its exit status, or null, and the signal that ended it.
    status: Option<i32>,
    signal: Option<i32>,
}

#[derive(Serialize)]
struct Unchecked<'a> {
    file: &'a str,
    /// Null: none of a code object.
    kernel: Option<&'a str>,
    why: &'a str,
}

#[derive(Serialize)]
struct Found<'a> {
    severity: &'static str,
    rule: &'static str,
    certainty: &'static str,
    source: &'static str,
    file: &'a str,
    target: &'a str,
    kernel: &'a str,
    why: &'a str,
    instruction: Instruction<'a>,
    /// The instruction that it depends on.
    other: Option<Instruction<'a>>,
    /// Of a dynamic check.
    #[serde(flatten)]
    run: Option<Run<'a>>,
}

/// Where in a run something was found.
#[derive(Serialize)]
struct Run<'a> {
    /// What was accessed, such as `y[3]`.
    what: Option<&'a str>,
    /// Guest address, or offset in LDS.
    address: Option<u64>,
    /// The allocation of global memory that it is in or near.
    allocation: Option<Allocation>,
    by: Actor,
    other_by: Option<Actor>,
    count: u64,
    /// In a program.
    #[serde(flatten)]
    launch: Option<Launch>,
}

#[derive(Serialize)]
struct Allocation {
    address: u64,
    bytes: u64,
    /// Of the access, from the allocation's address on.
    offset: i64,
    freed: bool,
}

#[derive(Serialize)]
struct Launch {
    process: u32,
    /// Number of the first launch with it in the process, and how many have it.
    launch: u64,
    launches: u64,
}

#[derive(Serialize)]
struct Actor {
    workgroup: [u32; 3],
    wave: u32,
    lane: Option<u32>,
}

impl Actor {
    fn new(side: &Side) -> Actor {
        Actor {
            workgroup: side.workgroup,
            wave: side.wave,
            lane: side.lane,
        }
    }
}

impl<'a> Run<'a> {
    fn new(found: &'a reporting::Found) -> Run<'a> {
        let address = found.address.unwrap_or_default();
        Run {
            what: found.what.as_deref(),
            address: found.address,
            allocation: found.allocation.map(|near| Allocation {
                address: near.start,
                bytes: near.len,
                offset: address.wrapping_sub(near.start).cast_signed(),
                freed: near.freed,
            }),
            by: Actor::new(&found.at),
            other_by: found.other.as_ref().map(Actor::new),
            count: found.count,
            launch: found.launch.as_ref().map(|launched| Launch {
                process: launched.process,
                launch: launched.number,
                launches: launched.count,
            }),
        }
    }
}

#[derive(Serialize)]
struct Instruction<'a> {
    address: u64,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl<'a> Instruction<'a> {
    fn new(place: &'a Place) -> Instruction<'a> {
        Instruction {
            address: place.address,
            text: &place.text,
            file: place.line.as_ref().map(|(file, _)| file.as_str()),
            line: place.line.as_ref().map(|&(_, line)| line),
        }
    }
}

/// The report.
pub(super) fn report(results: &Results) -> impl Serialize {
    let findings = results.reported.iter().map(|found| Found {
        severity: found.severity.name(),
        rule: found.rule.id,
        certainty: found.rule.certainty.name(),
        source: found.rule.source,
        file: &found.file,
        target: &found.target,
        kernel: &found.routine,
        why: &found.why,
        instruction: Instruction::new(&found.at),
        other: found.other.as_ref().map(Instruction::new),
        run: found.found.as_ref().map(Run::new),
    });
    let unchecked = results.unchecked.iter();
    Report {
        findings: findings.collect(),
        routines: results.routines,
        instructions: results.instructions,
        suppressed: results.suppressed,
        unchecked: unchecked
            .map(|one| Unchecked {
                file: &one.file,
                kernel: one.routine.as_deref(),
                why: &one.why,
            })
            .collect(),
        program: results.ran.as_ref().map(|ran| Program {
            processes: ran.processes,
            launches: ran.launches,
            status: ran.status,
            signal: ran.signal,
        }),
    }
}
