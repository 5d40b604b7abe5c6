//! Comparison of engines: runs launches on the interpreter and on the translator from the same
//! memory, and finds the first instruction where they diverge. `wavelift diff` does this for a
//! launch manifest.
//!
//! A [`Comparison`] has one device for both engines, since addresses are data. A launch on it runs on
//! either engine, and memory, or the faults that end it, must be the same:
//!
//! ```
//! use wavelift::diff::{Comparison, Verdict};
//! use wavelift::{DeviceOptions, Launch, Module};
//!
//! # #[cfg(feature = "jit")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let comparison = Comparison::new(DeviceOptions { threads: 1, ..DeviceOptions::default() })?;
//! let device = comparison.device();
//! let module = Module::load(device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
//! let (saxpy, x) = (module.kernel("saxpy")?, device.buffer(&[1.0f32; 256])?);
//! let args = [(&x).into(), (&x).into(), 2.0f32.into(), 256u32.into()];
//! let launch = Launch::new(256, 256);
//! match comparison.launch(&saxpy, &launch, &args, &device.settings())? {
//!     Verdict::Same(_) => println!("the engines agree"),
//!     Verdict::Different(difference) => {
//!         if let Some(workgroup) = difference.first_workgroup()? {
//!             println!("{}", difference.narrow(&workgroup, 1_000_000)?);
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "jit"))]
//! # fn main() {}
//! ```

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use runtime::engine::{self, Engine, EngineKind};
use runtime::fault::Fault;
use runtime::lockstep::{Pair, Record};

pub use runtime::delayed::{Misuse, Premature};
pub use runtime::engine::Exit;
pub use runtime::export::Exports;
pub use runtime::lockstep::{
    Change, Mode, Parting, RegisterDifference, Side, Snapshot, differences, sgpr_name,
};

use crate::arg::Arg;
use crate::device::{Device, DeviceOptions};
use crate::error::Error;
use crate::launch::Launch;
use crate::module::Kernel;
use runtime::dispatch::Settings;

/// A device whose launches run on two engines, the reference and another one.
pub struct Comparison {
    device: Device,
    pair: Arc<Pair>,
}

impl fmt::Debug for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Comparison").field(&self.device).finish()
    }
}

impl Comparison {
    /// Compares the interpreter, which is the reference, with the translator. NaN results of the
    /// translator have the payload and sign of the interpreter's, whatever the options say.
    ///
    /// With more than one thread the engines may differ in what depends on the order of workgroups,
    /// such as the order of atomics.
    pub fn new(options: DeviceOptions) -> Result<Comparison, Error> {
        let mut options = options;
        options.engine_options.exact_nan = true;
        let create = |kind| engine::create(kind, &options.engine_options);
        let engines = [create(EngineKind::Interp)?, create(EngineKind::Jit)?];
        Comparison::with_engines(options, engines)
    }

    /// Compares the interpreter with one whose loads arrive as late as waits allow; until then their
    /// registers hold poison that follows from the seed. Where they differ a wait is missing, and
    /// [`Divergence::premature`] names the load.
    pub fn delayed(options: DeviceOptions, seed: u64) -> Result<Comparison, Error> {
        Comparison::with_engines(options, runtime::delayed::pair(seed))
    }

    /// Compares two engines; the first is the reference.
    pub fn with_engines(
        options: DeviceOptions,
        engines: [Box<dyn Engine + Send>; 2],
    ) -> Result<Comparison, Error> {
        let [reference, other] = engines;
        let pair = Pair::new(reference, other);
        Ok(Comparison {
            device: Device::with_engine(options, Box::new(pair.clone()))?,
            pair,
        })
    }

    /// The device, for modules and buffers of the launches to compare. [`Device::launch`] runs on
    /// the engine that ran last.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Runs a launch on both engines from the same memory, which has the other engine's results
    /// afterwards. Nothing else may use the device meanwhile.
    ///
    /// Not compared is the memory that a faulting launch leaves, since other workgroups may have
    /// run or not.
    pub fn launch<'a>(
        &'a self,
        kernel: &'a Kernel,
        launch: &'a Launch,
        args: &'a [Arg],
        settings: &Settings<'_>,
    ) -> Result<Verdict<'a>, Error> {
        let launched = Launched {
            comparison: self,
            kernel,
            launch,
            args,
        };
        let before = Snapshot::take(&self.device.memory())?;
        let [reference, other] = launched.both(&before, settings)?;
        if reference.agrees(&other) {
            return Ok(Verdict::Same(other.outcome));
        }
        Ok(Verdict::Different(Box::new(Difference {
            reference,
            other,
            launched,
            before,
            settings: Settings {
                timeout: self.device.options().timeout,
                ..settings.without_progress()
            },
        })))
    }
}

/// Do the engines agree about a launch?
#[derive(Debug)]
pub enum Verdict<'a> {
    /// They do: memory is the same, or the fault is.
    Same(Outcome),
    /// They do not.
    Different(Box<Difference<'a>>),
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All workgroups ended.
    Ended,
    /// The guest did wrong.
    Faulted(Box<Fault>),
}

/// An engine's result of a launch.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub outcome: Outcome,
    /// Memory that it changed, in ascending order of addresses.
    pub changes: Vec<Change>,
    /// What it exported.
    pub exports: Exports,
}

impl Run {
    /// Are the results the same? Memory left by a faulting launch is not compared.
    fn agrees(&self, other: &Run) -> bool {
        self.outcome == other.outcome
            && (matches!(self.outcome, Outcome::Faulted(_))
                || (&self.changes, &self.exports) == (&other.changes, &other.exports))
    }
}

/// A launch of a comparison.
#[derive(Clone, Copy)]
struct Launched<'a> {
    comparison: &'a Comparison,
    kernel: &'a Kernel,
    launch: &'a Launch,
    args: &'a [Arg],
}

impl Launched<'_> {
    fn run(&self, settings: &Settings<'_>) -> Result<(Outcome, Exports), Error> {
        let device = &self.comparison.device;
        match device.launch_with(self.kernel, self.launch, self.args, settings) {
            Ok(stats) => Ok((Outcome::Ended, stats.exports)),
            Err(Error::Fault(fault)) => Ok((Outcome::Faulted(fault), Exports::default())),
            Err(error) => Err(error),
        }
    }

    /// Runs it on one engine, leaving its memory.
    fn one(&self, mode: Mode, before: &Snapshot, settings: &Settings<'_>) -> Result<Run, Error> {
        self.comparison.pair.set_mode(mode, u64::MAX);
        let (outcome, exports) = self.run(settings)?;
        let changes = before.changes(&self.comparison.device.memory())?;
        Ok(Run {
            outcome,
            changes,
            exports,
        })
    }

    /// Runs it on both engines from the same memory, leaving that of the second.
    fn both(&self, before: &Snapshot, settings: &Settings<'_>) -> Result<[Run; 2], Error> {
        let reference = self.one(Mode::Reference, before, settings)?;
        before.restore(&self.comparison.device.memory())?;
        let other = self.one(Mode::Other, before, settings)?;
        Ok([reference, other])
    }
}

/// A launch that the engines do not agree about.
pub struct Difference<'a> {
    /// Result of the reference.
    pub reference: Run,
    /// Result of the other engine.
    pub other: Run,
    launched: Launched<'a>,
    before: Snapshot,
    /// Those of the launches that search.
    settings: Settings<'static>,
}

impl fmt::Debug for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Difference")
            .field("kernel", &self.launched.kernel.name())
            .field("reference", &self.reference)
            .field("other", &self.other)
            .finish_non_exhaustive()
    }
}

/// A workgroup of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workgroup {
    /// Its number in the order of dispatch.
    pub number: u64,
    /// Its number in each dimension.
    pub id: [u32; 3],
}

impl Difference<'_> {
    /// Memory that the engines left different; nothing if one of them ended in a fault.
    pub fn memory(&self) -> Vec<MemoryDifference> {
        match self.reference.outcome == self.other.outcome {
            true => memory_differences(&self.reference.changes, &self.other.changes),
            false => Vec::new(),
        }
    }

    /// The first workgroup about which the engines differ when all before it have run: the smallest
    /// `n` such that the first `n + 1` workgroups differ, found by halving. `None` if the difference
    /// does not show again, since the result depends on time or on the order of threads.
    pub fn first_workgroup(&self) -> Result<Option<Workgroup>, Error> {
        let shape = self.launched.launch.shape()?;
        let all = self.settings.only.clone().unwrap_or(0..shape.total());
        if !self.differ(all.clone())? {
            return Ok(None);
        }
        let (mut same, mut different) = (all.start, all.end);
        while different - same > 1 {
            let middle = same + (different - same) / 2;
            if self.differ(all.start..middle)? {
                different = middle;
            } else {
                same = middle;
            }
        }
        Ok(Some(Workgroup {
            number: same,
            id: shape.group(same).id,
        }))
    }

    /// Runs a workgroup on both engines side by side, after the reference has run those before it,
    /// until they diverge: instruction by instruction and, if these agree, from one backward branch
    /// to the next (not with late results). Each search ends after `limit` instructions or stretches.
    pub fn narrow(&self, workgroup: &Workgroup, limit: u64) -> Result<Narrowed, Error> {
        let instructions = self.search(workgroup.number, Mode::Instructions, limit)?;
        let stretches = match instructions.end {
            SearchEnd::Divergence(_) => None,
            _ if self.launched.comparison.pair.delayed().is_some() => None,
            _ => Some(self.search(workgroup.number, Mode::Stretches, limit)?),
        };
        Ok(Narrowed {
            instructions,
            stretches,
        })
    }

    /// Do the engines differ about these workgroups?
    fn differ(&self, only: Range<u64>) -> Result<bool, Error> {
        let settings = Settings {
            only: Some(only),
            ..self.settings.clone()
        };
        self.before
            .restore(&self.launched.comparison.device.memory())?;
        let [reference, other] = self.launched.both(&self.before, &settings)?;
        Ok(!reference.agrees(&other))
    }

    fn search(&self, number: u64, mode: Mode, limit: u64) -> Result<Search, Error> {
        let comparison = self.launched.comparison;
        self.before.restore(&comparison.device.memory())?;
        let first = self.settings.only.as_ref().map_or(0, |only| only.start);
        let settings = Settings {
            only: Some(first..number),
            ..self.settings.clone()
        };
        if number > first {
            self.launched
                .one(Mode::Reference, &self.before, &settings)?;
        }
        comparison.pair.set_mode(mode, limit);
        let settings = Settings {
            threads: 1,
            only: Some(number..number + 1),
            ..settings
        };
        // Its outcome is in the record.
        self.launched.run(&settings)?;
        let record = comparison.pair.record();
        if let Some(error) = record.memory_error {
            return Err(error.into());
        }
        Ok(Search {
            steps: record.steps,
            end: self.end_of(record),
        })
    }

    fn end_of(&self, record: Record) -> SearchEnd {
        if let Some(parting) = record.parting {
            let module = self.launched.kernel.module();
            return SearchEnd::Divergence(Box::new(Divergence::new(module, *parting)));
        }
        match record {
            Record {
                exhausted: true, ..
            } => SearchEnd::Limit,
            Record {
                cannot_step: true, ..
            } => SearchEnd::CannotStep,
            _ => SearchEnd::Same,
        }
    }
}

/// Where the engines diverge in a workgroup.
#[derive(Clone, Debug)]
pub struct Narrowed {
    /// The search by instructions.
    pub instructions: Search,
    /// The search by stretches of code from one backward branch to the next, if that by instructions
    /// found nothing.
    pub stretches: Option<Search>,
}

impl Narrowed {
    /// The divergence, if one was found.
    pub fn divergence(&self) -> Option<&Divergence> {
        let searches = [Some(&self.instructions), self.stretches.as_ref()];
        let mut found = searches.into_iter().flatten();
        found.find_map(|search| match &search.end {
            SearchEnd::Divergence(divergence) => Some(&**divergence),
            SearchEnd::Limit | SearchEnd::CannotStep | SearchEnd::Same => None,
        })
    }
}

impl fmt::Display for Narrowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.divergence() {
            Some(divergence) => divergence.fmt(f),
            None => f.write_str("run side by side, the engines agree about the workgroup"),
        }
    }
}

/// A search in a workgroup.
#[derive(Clone, Debug)]
pub struct Search {
    /// Instructions or stretches that were run.
    pub steps: u64,
    /// What ended it.
    pub end: SearchEnd,
}

/// What ended a search.
#[derive(Clone, Debug)]
pub enum SearchEnd {
    /// The engines diverge.
    Divergence(Box<Divergence>),
    /// The limit of instructions or stretches.
    Limit,
    /// One of the engines cannot run a single instruction.
    CannotStep,
    /// The end of the workgroup: all agree.
    Same,
}

/// The instruction or stretch after which the engines differ.
#[derive(Clone)]
pub struct Divergence {
    /// Address of the instruction in the code object's numbering, as in a disassembly. Of a stretch
    /// the first instruction.
    pub pc: u64,
    /// Function and offset of the PC, if symbols are available.
    pub symbol: Option<(String, u64)>,
    /// The instruction as LLVM prints it.
    pub instruction: String,
    /// Registers that differ afterwards.
    pub registers: Vec<RegisterDifference>,
    /// Memory that differs afterwards.
    pub memory: Vec<MemoryDifference>,
    /// With results that arrive late: registers that it used too early, and the operations whose
    /// results they are.
    pub premature: Vec<String>,
    /// The state of the wave before it and, by each engine, after it.
    pub parting: Parting,
}

impl Divergence {
    fn new(module: &crate::Module, parting: Parting) -> Divergence {
        let (code, gfx) = (module.code(), module.gfx());
        let symbol = code.symbol_at(parting.pc);
        let premature = parting.premature.iter().map(|premature| {
            let pc = premature.producer;
            premature.text(&format!(
                "`{}` at 0x{:04x}",
                code.text_at(pc),
                code.local(pc)
            ))
        });
        Divergence {
            pc: code.local(parting.pc),
            symbol: symbol.map(|(symbol, offset)| (symbol.name.clone(), offset)),
            instruction: code.text_at(parting.pc),
            registers: differences(&parting.reference.state, &parting.other.state, gfx),
            memory: memory_differences(&parting.reference.memory, &parting.other.memory),
            premature: premature.collect(),
            parting,
        }
    }
}

impl fmt::Debug for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Divergence")
            .field("workgroup", &self.parting.workgroup)
            .field("wave", &self.parting.wave)
            .field("pc", &self.pc)
            .field("instruction", &self.instruction)
            .field("registers", &self.registers)
            .field("memory", &self.memory)
            .field("premature", &self.premature)
            .finish_non_exhaustive()
    }
}

/// Registers and memory that are listed; the rest is counted.
const SHOWN: usize = 8;

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parting {
            workgroup: [x, y, z],
            wave,
            before,
            mode,
            ..
        } = self.parting;
        let what = match mode {
            Mode::Instructions => "instruction",
            Mode::Stretches | Mode::Reference | Mode::Other => "stretch",
        };
        write!(
            f,
            "first different {what}: wave {wave} of workgroup ({x}, {y}, {z}), "
        )?;
        writeln!(
            f,
            "after {before} {what}{}",
            if what == "stretch" { "es" } else { "s" }
        )?;
        write!(f, "  at 0x{:04x}  {}", self.pc, self.instruction)?;
        if let Some((name, offset)) = &self.symbol {
            write!(f, "  ({name}+0x{offset:x})")?;
        }
        for premature in &self.premature {
            write!(f, "\n  {premature}")?;
        }
        for difference in self.registers.iter().take(SHOWN) {
            let RegisterDifference {
                reference, other, ..
            } = difference;
            let name = difference.name();
            write!(f, "\n  {name}: 0x{reference:08x}, 0x{other:08x}")?;
        }
        if self.registers.len() > SHOWN {
            write!(f, "\n  and {} more registers", self.registers.len() - SHOWN)?;
        }
        for difference in self.memory.iter().take(SHOWN) {
            write!(f, "\n  {difference}")?;
        }
        if self.memory.len() > SHOWN {
            write!(f, "\n  and {} more of memory", self.memory.len() - SHOWN)?;
        }
        Ok(())
    }
}

/// Consecutive bytes of memory that the engines left different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDifference {
    /// Address of the first byte.
    pub address: u64,
    /// What the reference left.
    pub reference: Vec<u8>,
    /// What the other engine left.
    pub other: Vec<u8>,
}

impl fmt::Display for MemoryDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}:", self.address)?;
        for (bytes, end) in [(&self.reference, ","), (&self.other, "")] {
            f.write_str(" ")?;
            for byte in bytes.iter().take(SHOWN) {
                write!(f, "{byte:02x}")?;
            }
            let more = if bytes.len() > SHOWN { "..." } else { "" };
            write!(f, "{more}{end}")?;
        }
        Ok(())
    }
}

/// The byte at an address in changes, of their old or new contents.
fn byte_at(changes: &[Change], address: u64, contents: fn(&Change) -> &[u8]) -> Option<u8> {
    let after = changes.partition_point(|change| change.address <= address);
    let change = &changes[after.checked_sub(1)?];
    let at = usize::try_from(address - change.address).ok()?;
    contents(change).get(at).copied()
}

/// The differences between the changes that two engines made to the same memory.
fn memory_differences(reference: &[Change], other: &[Change]) -> Vec<MemoryDifference> {
    let old = |changes| move |address| byte_at(changes, address, |change| &change.old);
    let new = |changes| move |address| byte_at(changes, address, |change| &change.new);
    // What one engine has not changed is what the other has found.
    let left = |address| {
        let mine = new(reference)(address).or_else(|| old(other)(address));
        let theirs = new(other)(address).or_else(|| old(reference)(address));
        mine.zip(theirs)
    };
    let ranges = reference.iter().chain(other);
    let mut addresses: Vec<u64> = ranges
        .flat_map(|change| change.address..change.address + change.new.len() as u64)
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    let mut out: Vec<MemoryDifference> = Vec::new();
    for address in addresses {
        let Some((mine, theirs)) = left(address).filter(|(mine, theirs)| mine != theirs) else {
            continue;
        };
        match out.last_mut() {
            Some(last) if last.address + last.other.len() as u64 == address => {
                last.reference.push(mine);
                last.other.push(theirs);
            }
            _ => out.push(MemoryDifference {
                address,
                reference: vec![mine],
                other: vec![theirs],
            }),
        }
    }
    out
}
