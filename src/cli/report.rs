//! Results of a run as JSON and as lines of text.

use std::collections::BTreeMap;

use frontend::Gfx;
use frontend::inst::export_target_name;
use runtime::fault::Fault;
use serde::Serialize;
use wavelift::manifest::{Comparison, Errors, Greatest};
use wavelift::{Export, Exports, Kernel, Stats};

use super::numerics;
use super::run::{InstructionReport, Printed};
use super::session::OutOfTime;

/// The one object that `--json` prints.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) ok: bool,
    pub(super) engine: &'static str,
    /// `bench` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) runs: Option<usize>,
    pub(super) dispatches: Vec<DispatchReport>,
    pub(super) expect: Vec<ExpectReport>,
    pub(super) fault: Option<FaultReport>,
    /// `--print` only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) print: Vec<Printed>,
    /// `run --evidence` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) evidence: Option<Vec<InstructionReport>>,
    /// `bench --profile` only.
    #[cfg(feature = "jit")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<Vec<wavelift::profile::KernelProfile>>,
}

impl Report {
    /// A report about nothing yet.
    pub(super) fn new(engine: &'static str) -> Report {
        Report {
            ok: false,
            engine,
            runs: None,
            dispatches: Vec::new(),
            expect: Vec::new(),
            fault: None,
            print: Vec::new(),
            evidence: None,
            #[cfg(feature = "jit")]
            profile: None,
        }
    }
}

/// A dispatch; a repeated one counts all its launches.
#[derive(Serialize)]
pub(super) struct DispatchReport {
    pub(super) kernel: String,
    pub(super) workgroups: u64,
    pub(super) waves: u64,
    pub(super) translate_s: f64,
    pub(super) execute_s: Times,
    /// `bench` only: how many times were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) samples: Option<usize>,
    pub(super) instructions: Option<u64>,
    pub(super) lane_instructions: Option<u64>,
    pub(super) regions_translated: u64,
    pub(super) instructions_translated: u64,
    pub(super) regions_improved: u64,
    pub(super) improve_s: f64,
    pub(super) regions_cached: u64,
    pub(super) regions_refused: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) refusals: BTreeMap<String, u64>,
    #[serde(skip)]
    pub(super) cache_failures: u64,
    pub(super) repeat: u64,
    pub(super) fallbacks: u64,
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub(super) fallback_names: BTreeMap<&'static str, u64>,
    /// How matrix instructions add, by kind, of those that were executed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) numerics: BTreeMap<&'static str, &'static str>,
    #[serde(skip)]
    gfx: Gfx,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exports: Option<ExportsReport>,
    /// `bench` only.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) rates: Option<Rates>,
}

/// Seconds: one number from `run`. From `bench` a list: the samples or their [`quartiles`].
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Times {
    One(f64),
    Each(Vec<f64>),
}

/// A dispatch's exports: counts by target, and the first exports of its first launch with any.
#[derive(Serialize)]
pub(super) struct ExportsReport {
    pub(super) count: u64,
    pub(super) targets: BTreeMap<String, u64>,
    pub(super) first: Vec<ExportReport>,
}

/// An export; the words of a component are those of the active lanes.
#[derive(Serialize)]
pub(super) struct ExportReport {
    workgroup: [u32; 3],
    wave: u32,
    pc: u64,
    target: String,
    exec: String,
    compr: bool,
    done: bool,
    vm: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    z: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    w: Option<Vec<u32>>,
}

/// Rates that a bench derives from the times.
#[derive(Serialize)]
pub(super) struct Rates {
    pub(super) execute_min_s: f64,
    pub(super) execute_median_s: f64,
    pub(super) instructions_per_s: Option<f64>,
    pub(super) lane_instructions_per_s: Option<f64>,
}

/// A comparison with an expected file.
#[derive(Serialize)]
pub(super) struct ExpectReport {
    pub(super) buffer: String,
    pub(super) ok: bool,
    pub(super) elements: u64,
    pub(super) mismatches: u64,
    pub(super) first: Option<FirstReport>,
    pub(super) message: Option<String>,
    /// The greatest errors, where elements differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) errors: Option<ErrorsReport>,
    /// The greatest errors in words, behind a semicolon.
    #[serde(skip)]
    greatest: String,
}

/// The greatest errors of a comparison.
#[derive(Serialize)]
pub(super) struct ErrorsReport {
    absolute: Option<GreatestReport>,
    relative: Option<GreatestReport>,
    ulp: Option<GreatestReport>,
}

/// A greatest error and its element.
#[derive(Serialize)]
struct GreatestReport {
    /// `null` for an infinite one.
    error: f64,
    index: u64,
    position: Vec<u64>,
}

/// The first element that differs.
#[derive(Serialize)]
pub(super) struct FirstReport {
    index: u64,
    position: Vec<u64>,
    got: String,
    got_bits: String,
    expected: String,
    expected_bits: String,
}

/// A fault.
#[derive(Serialize)]
pub(super) struct FaultReport {
    kind: &'static str,
    kernel: String,
    /// These are null if the fault was found after the dispatch.
    pc: Option<u64>,
    instruction: Option<String>,
    workgroup: Option<[u32; 3]>,
    wave: Option<u32>,
    lane: Option<u32>,
    address: Option<u64>,
    message: String,
    symbol: Option<String>,
    exec: Option<String>,
}

impl DispatchReport {
    /// An empty report about a dispatch.
    pub(super) fn new(kernel: &Kernel, repeat: u64) -> DispatchReport {
        DispatchReport {
            kernel: kernel.name().to_owned(),
            workgroups: 0,
            waves: 0,
            translate_s: 0.0,
            execute_s: Times::One(0.0),
            samples: None,
            instructions: None,
            lane_instructions: None,
            regions_translated: 0,
            instructions_translated: 0,
            regions_improved: 0,
            improve_s: 0.0,
            regions_cached: 0,
            regions_refused: 0,
            refusals: BTreeMap::new(),
            cache_failures: 0,
            repeat,
            fallbacks: 0,
            fallback_names: BTreeMap::new(),
            numerics: BTreeMap::new(),
            gfx: kernel.module().gfx(),
            exports: None,
            rates: None,
        }
    }

    /// The kernel and its size in words.
    pub(super) fn headline(&self) -> String {
        let workgroups = counted(self.workgroups, "workgroup");
        let waves = counted(self.waves, "wave");
        format!("{}: {workgroups}, {waves}", self.kernel)
    }

    /// Adds a launch's translation statistics.
    pub(super) fn add_translation(&mut self, stats: &Stats) {
        self.translate_s += stats.translate_seconds;
        self.regions_translated += stats.regions_translated;
        self.instructions_translated += stats.instructions_translated;
        self.regions_improved += stats.regions_improved;
        self.improve_s += stats.improve_seconds;
        self.regions_cached += stats.regions_cached;
        for (what, count) in &stats.refusals {
            self.regions_refused += count;
            *self.refusals.entry(what.clone()).or_default() += count;
        }
        self.cache_failures += stats.cache_failures;
        for kind in stats.matrix_kinds.iter() {
            let order = numerics::order(self.gfx, kind);
            self.numerics.insert(kind.name(self.gfx), order);
        }
    }

    /// Adds a launch.
    pub(super) fn add(&mut self, stats: &Stats, counting: bool) {
        self.workgroups += stats.workgroups;
        self.waves += stats.waves;
        self.add_translation(stats);
        if let Times::One(seconds) = &mut self.execute_s {
            *seconds += execution(stats);
        }
        if counting {
            *self.instructions.get_or_insert(0) += stats.instructions;
            *self.lane_instructions.get_or_insert(0) += stats.lane_instructions;
        }
        self.fallbacks += stats.fallbacks;
        for (&name, &count) in &stats.fallback_names {
            *self.fallback_names.entry(name).or_default() += count;
        }
        if stats.exports.total() != 0 {
            self.exports
                .get_or_insert_with(|| ExportsReport::of(&stats.exports))
                .add(&stats.exports);
        }
    }
}

impl ExportsReport {
    /// The exports that are kept whole; nothing is counted yet.
    fn of(exports: &Exports) -> ExportsReport {
        ExportsReport {
            count: 0,
            targets: BTreeMap::new(),
            first: exports.first.iter().map(ExportReport::from).collect(),
        }
    }

    /// Counts those of a launch.
    fn add(&mut self, exports: &Exports) {
        self.count += exports.total();
        for (&target, &count) in &exports.counts {
            *self.targets.entry(export_target_name(target)).or_default() += count;
        }
    }
}

impl From<&Export> for ExportReport {
    fn from(export: &Export) -> ExportReport {
        let component = |i: usize| {
            (export.enabled >> i & 1 == 1).then(|| {
                let words = export.components[i].iter().enumerate();
                let active = words.filter(|&(lane, _)| export.exec >> lane & 1 == 1);
                active.map(|(_, &word)| word).collect()
            })
        };
        ExportReport {
            workgroup: export.workgroup,
            wave: export.wave,
            pc: export.pc,
            target: export.target_name(),
            exec: format!("0x{:016x}", export.exec),
            compr: export.compressed,
            done: export.done,
            vm: export.valid_mask,
            x: component(0),
            y: component(1),
            z: component(2),
            w: component(3),
        }
    }
}

impl ExpectReport {
    pub(super) fn new(buffer: &str, result: &Comparison) -> ExpectReport {
        ExpectReport {
            buffer: buffer.to_owned(),
            ok: result.ok(),
            elements: result.elements,
            mismatches: result.mismatches,
            first: result.first.as_ref().map(|first| FirstReport {
                index: first.index,
                position: first.position.clone(),
                got: first.got.clone(),
                got_bits: first.got_bits.clone(),
                expected: first.expected.clone(),
                expected_bits: first.expected_bits.clone(),
            }),
            message: (!result.ok()).then(|| result.message()),
            errors: ErrorsReport::new(&result.errors),
            greatest: match result.errors.message() {
                errors if errors.is_empty() => errors,
                errors => format!("; {errors}"),
            },
        }
    }

    /// The line for readers.
    pub(super) fn line(&self) -> String {
        match &self.message {
            None => {
                let elements = counted(self.elements, "element");
                format!("expect {}: ok, {elements}{}", self.buffer, self.greatest)
            }
            Some(message) => format!("expect {}: FAILED: {message}{}", self.buffer, self.greatest),
        }
    }
}

impl ErrorsReport {
    fn new(errors: &Errors) -> Option<ErrorsReport> {
        let greatest = |greatest: &Option<Greatest>| {
            greatest.as_ref().map(|greatest| GreatestReport {
                error: greatest.error,
                index: greatest.index,
                position: greatest.position.clone(),
            })
        };
        (*errors != Errors::default()).then(|| ErrorsReport {
            absolute: greatest(&errors.absolute),
            relative: greatest(&errors.relative),
            ulp: greatest(&errors.ulp),
        })
    }
}

impl FaultReport {
    /// The run's time limit passed between two launches of a kernel.
    pub(super) fn out_of_time(error: &OutOfTime) -> FaultReport {
        FaultReport {
            kind: "timeout",
            kernel: error.kernel.clone(),
            pc: None,
            instruction: None,
            workgroup: None,
            wave: None,
            lane: None,
            address: None,
            message: error.to_string(),
            symbol: None,
            exec: None,
        }
    }

    /// The fault as text.
    pub(super) fn message(&self) -> &str {
        &self.message
    }
}

impl From<&Fault> for FaultReport {
    fn from(fault: &Fault) -> FaultReport {
        let located = fault.kind.is_located();
        FaultReport {
            kind: fault.kind.name(),
            kernel: fault.kernel.clone(),
            pc: located.then_some(fault.pc),
            instruction: located.then(|| fault.instruction.clone()),
            workgroup: located.then_some(fault.workgroup),
            wave: located.then_some(fault.wave),
            lane: fault.lane,
            address: fault.kind.address(),
            message: fault.to_string(),
            symbol: fault
                .symbol
                .as_ref()
                .map(|(name, offset)| format!("{name}+0x{offset:x}")),
            exec: located.then(|| format!("0x{:016x}", fault.exec)),
        }
    }
}

/// Minimum, lower quartile, median, upper quartile and maximum of samples, between neighbours by
/// linear interpolation; `None` without samples.
pub(super) fn quartiles(samples: &[f64]) -> Option<[f64; 5]> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some([0, 1, 2, 3, 4].map(|quarter| {
        let (at, rest) = (last * quarter / 4, last * quarter % 4);
        let (low, high) = (sorted[at], sorted[(at + 1).min(last)]);
        low + (high - low) * rest as f64 / 4.0
    }))
}

/// Seconds of a launch without translation.
pub(super) fn execution(stats: &Stats) -> f64 {
    (stats.execute_seconds - stats.translate_seconds).max(0.0)
}

/// A number of things for a reader.
pub(super) fn counted(n: u64, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n if noun.ends_with(['h', 's']) => format!("{n} {noun}es"),
        n => format!("{n} {noun}s"),
    }
}

/// Seconds for a reader.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

/// A rate for a reader.
pub(super) fn rate(per_second: f64) -> String {
    match per_second {
        r if r < 1e6 => format!("{:.1} k/s", r / 1e3),
        r if r < 1e9 => format!("{:.1} M/s", r / 1e6),
        r => format!("{:.2} G/s", r / 1e9),
    }
}
