//! Joins two runs of kernels by kernel, region, block and instruction.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;

use runtime::LoadedCode;
use runtime::coverage::Counts;
use runtime::jit::profile::{BlockProfile, Joined, RegionProfile};
use serde::Serialize;

use crate::device::Device;
use crate::listing::{Call, Edge, Item, Listing};
use crate::module::Kernel;
use crate::source::SourceMap;

use super::bounds::Work;
use super::machine;
use super::reasons::{self, Reason};
use super::shape::{AccessLine, Interchanged, Ran, Segment, Uncounted, assumptions};

/// The profile of a kernel over all its launches. Its text is a summary by region and block.
#[derive(Serialize)]
pub struct KernelProfile {
    /// Name.
    pub kernel: String,
    /// Launches.
    pub launches: u64,
    /// Waves of all launches.
    pub waves: u64,
    /// Instructions executed by waves.
    pub instructions: u64,
    /// The same, each counted once for every active lane (scalar instructions once).
    pub lane_instructions: u64,
    /// VGPRs, and with them accumulation registers where both are one file.
    pub vgprs: u32,
    /// Accumulation registers.
    pub agprs: u32,
    /// How many VGPRs they follow in the same file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accum_offset: Option<u32>,
    /// Time in translated code and its callees, over all threads.
    pub seconds: f64,
    /// Threads that ran it.
    pub threads: usize,
    pub(super) work: Work,
    pub(super) regions: Vec<Region>,
    /// Why it is not faster, by time.
    pub(super) reasons: Vec<Reason>,
    #[serde(skip)]
    pub(super) functions: Vec<Function>,
}

/// A translated region; shares are of the kernel's time.
#[derive(Serialize)]
pub(super) struct Region {
    pub(super) place: String,
    pub(super) emitter: &'static str,
    /// What the wide back end refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<String>,
    /// Its assumptions on the registers of a wave that begins.
    pub(super) assumes: Vec<String>,
    pub(super) guest_instructions: u32,
    pub(super) host_bytes: usize,
    pub(super) entered: u64,
    pub(super) seconds: f64,
    pub(super) share: f64,
    /// `None` if it ran in both runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) only: Option<Ran>,
    pub(super) fallbacks: Vec<&'static str>,
    pub(super) blocks: Vec<Block>,
}

/// A block.
#[derive(Serialize)]
pub(super) struct Block {
    pub(super) place: String,
    /// Address in the code object.
    pub(super) address: u64,
    /// The source line, where the code object has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    pub(super) guest_instructions: u32,
    pub(super) executions: u64,
    /// `None` without vector instructions.
    pub(super) mean_lanes: Option<f64>,
    pub(super) share: f64,
    /// `None` unless it is a loop that also runs inside the lane groups, with counted iterations.
    pub(super) interchanged: Option<Interchanged>,
    /// The form of the loop that begins here, if iterations cannot be counted by form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uncounted: Option<Uncounted>,
    /// The first block of the loop or the parallel region of whose form this one is a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) part_of: Option<String>,
    /// Why the loop that it is in is no parallel region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<String>,
    pub(super) segments: Vec<Segment>,
    pub(super) accesses: Vec<AccessLine>,
}

/// Disassembly with counts.
pub(super) struct Function {
    pub(super) name: String,
    /// Basic blocks and data between them, by address.
    pub(super) parts: Vec<Part>,
}

/// A basic block, or data.
#[derive(Default)]
pub(super) struct Part {
    /// Address in the code object.
    pub(super) address: u64,
    pub(super) edges: Vec<Edge>,
    pub(super) calls: Vec<Call>,
    pub(super) lines: Vec<Line>,
}

/// An instruction.
#[derive(Default)]
pub(super) struct Line {
    /// Address in the code object.
    pub(super) address: u64,
    pub(super) text: String,
    /// Where a branch leads to in the function, whose label ends the text.
    pub(super) target: Option<u64>,
    pub(super) executions: u64,
    /// `None` for scalar instructions and for those that never ran.
    pub(super) mean_lanes: Option<f64>,
    /// Of the kernel's time.
    pub(super) share: f64,
    /// How the block that begins here, or the access, was translated.
    pub(super) shape: String,
    /// The source line that begins here.
    pub(super) source: Vec<String>,
}

impl Part {
    /// How often it was entered.
    pub(super) fn executions(&self) -> u64 {
        self.lines.first().map_or(0, |line| line.executions)
    }

    /// Its share of the kernel's time.
    pub(super) fn share(&self) -> f64 {
        self.lines.iter().map(|line| line.share).sum()
    }

    /// Active lanes of its vector instructions, on average.
    pub(super) fn mean_lanes(&self) -> Option<f64> {
        let means = self.lines.iter().filter_map(|line| line.mean_lanes);
        let (sum, n) = means.fold((0.0, 0u32), |(sum, n), mean| (sum + mean, n + 1));
        (n != 0).then(|| sum / f64::from(n))
    }
}

/// Identity of a region of a kernel, on any device: the distance of its beginning in the load,
/// MODE, and facts about registers.
type RegionKey = (u64, u32, u64);

/// A run's profile of a kernel.
struct Raw {
    kernel: Kernel,
    launches: u64,
    waves: u64,
    regions: BTreeMap<RegionKey, RegionProfile>,
    interpreted: HashMap<u64, Counts>,
}

/// What a device that profiles has measured, by kernel.
pub struct Run {
    device: Device,
    kernels: Vec<Raw>,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels = self.kernels.iter().map(|raw| raw.kernel.name());
        f.debug_list().entries(kernels).finish()
    }
}

impl Run {
    /// Begins a run. What the device has measured before is forgotten.
    pub fn new(device: &Device) -> Run {
        // Nothing from before belongs to a kernel.
        device.take_profile();
        Run {
            device: device.clone(),
            kernels: Vec::new(),
        }
    }

    /// Takes what the device has measured since the last call, in launches of this kernel alone.
    pub fn add(&mut self, kernel: &Kernel, launches: u64, waves: u64) {
        let code = kernel.module().code();
        let known = self.kernels.iter().position(|raw| {
            let known = &raw.kernel;
            known.name() == kernel.name() && known.module().code().id() == code.id()
        });
        let at = known.unwrap_or_else(|| {
            self.kernels.push(Raw {
                kernel: kernel.clone(),
                launches: 0,
                waves: 0,
                regions: BTreeMap::new(),
                interpreted: HashMap::new(),
            });
            self.kernels.len() - 1
        });
        let raw = &mut self.kernels[at];
        raw.launches += launches;
        raw.waves += waves;
        raw.add(&self.device, code);
    }

    /// This run, which was timed, with one that counted the same launches on another device.
    pub fn with(&self, counted: &Run) -> Vec<KernelProfile> {
        let timed = self.kernels.iter().map(|raw| &raw.regions);
        self.threads().join(timed, counted)
    }

    /// What this run, which was timed, has measured. The device is given up, so that another one can have its place for guest
    /// memory.
    pub fn timed(self) -> Timed {
        let threads = self.threads();
        let kernels = self.kernels.into_iter().map(|raw| raw.regions);
        Timed {
            threads,
            kernels: kernels.collect(),
        }
    }

    fn threads(&self) -> Threads {
        Threads(machine::threads(self.device.options().threads))
    }
}

/// What a run that was timed has measured, without its device.
pub struct Timed {
    threads: Threads,
    kernels: Vec<BTreeMap<RegionKey, RegionProfile>>,
}

impl fmt::Debug for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timed")
            .field("kernels", &self.kernels.len())
            .finish_non_exhaustive()
    }
}

impl Timed {
    /// As [`Run::with`].
    pub fn with(&self, counted: &Run) -> Vec<KernelProfile> {
        self.threads.join(self.kernels.iter(), counted)
    }
}

/// The threads of a run that was timed.
#[derive(Clone, Copy)]
struct Threads(usize);

impl Threads {
    /// Joins the run's regions by kernel with a run that counted.
    fn join<'a>(
        self,
        timed: impl Iterator<Item = &'a BTreeMap<RegionKey, RegionProfile>>,
        counted: &Run,
    ) -> Vec<KernelProfile> {
        let mut maps: HashMap<u64, SourceMap> = HashMap::new();
        let kernels = timed.zip(&counted.kernels).map(|(timed, counted)| {
            let module = counted.kernel.module();
            let map = maps.entry(module.code().id()).or_insert_with(|| {
                // Profiles are made without lines if these are damaged.
                let map = SourceMap::read(module.object());
                map.unwrap_or_else(|_| SourceMap::of_symbols(module.object()))
            });
            profile(timed, counted, map, self.0)
        });
        kernels.collect()
    }
}

impl Raw {
    /// Adds the device's profile since the last call.
    fn add(&mut self, device: &Device, code: &LoadedCode) {
        let Some(profile) = device.take_profile() else {
            return;
        };
        for region in profile.regions {
            let distance = region.entry.wrapping_sub(code.base());
            self.regions
                .entry((distance, region.mode, region.start))
                .and_modify(|known| known.add(&region))
                .or_insert(region);
        }
        for ((_, pc), count) in profile.interpreted {
            let sum = self.interpreted.entry(pc).or_default();
            sum.executions += count.executions;
            sum.lanes += count.lanes;
        }
    }
}

/// Counts of an instruction.
#[derive(Default)]
struct Tally {
    executions: u64,
    lanes: Option<u64>,
    share: f64,
    /// How it was translated, and the executions of the respective block.
    shape: Option<(u64, String)>,
}

/// `part` of `all`; 0 if `all` is.
pub(super) fn ratio(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}

fn profile(
    timed: &BTreeMap<RegionKey, RegionProfile>,
    counted: &Raw,
    map: &SourceMap,
    threads: usize,
) -> KernelProfile {
    let kernel = &counted.kernel;
    let code = kernel.module().code();
    let seconds: f64 = timed.values().map(RegionProfile::seconds).sum();
    let mut tallies: BTreeMap<u64, Tally> = BTreeMap::new();
    let keys: BTreeSet<_> = timed.keys().chain(counted.regions.keys()).collect();
    let joined = keys.into_iter().filter_map(|key| {
        let joined = Joined::new(timed.get(key), counted.regions.get(key))?;
        Some((code.base().wrapping_add(key.0), joined))
    });
    let mut regions: Vec<Region> = joined
        .map(|(entry, joined)| region(entry, &joined, code, map, seconds, &mut tallies))
        .collect();
    regions.sort_by(|a, b| b.share.total_cmp(&a.share));
    for (&pc, count) in &counted.interpreted {
        let tally = tallies.entry(pc).or_default();
        tally.executions += count.executions;
        if code.inst_at(pc).is_ok_and(runtime::jit::is_vector) {
            *tally.lanes.get_or_insert(0) += count.lanes;
        }
    }
    let mut work = Work::default();
    for (&pc, tally) in &tallies {
        if let Ok(inst) = code.inst_at(pc) {
            work.add(inst, tally.executions, tally.lanes.unwrap_or(0));
        }
    }
    let (object, gfx) = (kernel.object(), kernel.module().gfx());
    let accumulation = object.accumulation(gfx);
    KernelProfile {
        kernel: kernel.name().to_owned(),
        launches: counted.launches,
        waves: counted.waves,
        instructions: tallies.values().map(|tally| tally.executions).sum(),
        lane_instructions: tallies
            .values()
            .map(|tally| tally.lanes.unwrap_or(tally.executions))
            .sum(),
        vgprs: object.descriptor.vgpr_count(gfx),
        agprs: accumulation.map_or(0, |all| all.registers),
        accum_offset: accumulation.and_then(|all| all.offset),
        seconds,
        threads,
        work,
        reasons: reasons::rank(&regions),
        regions,
        functions: functions(kernel, map, &tallies),
    }
}

fn region(
    entry: u64,
    joined: &Joined<'_>,
    code: &LoadedCode,
    map: &SourceMap,
    all: f64,
    tallies: &mut BTreeMap<u64, Tally>,
) -> Region {
    let share = ratio(joined.seconds(), all);
    let blocks = joined.blocks();
    let weight: f64 = blocks.iter().map(BlockProfile::weight).sum();
    let ran = blocks.iter().filter(|block| block.executions() != 0);
    let made = ran.map(|profile| {
        let share = share * ratio(profile.weight(), weight);
        tally(profile, code, share, tallies);
        let made = block(profile, code, map, share);
        tally_shape(&made, profile, tallies);
        made
    });
    let made = made.collect();
    let region = joined.code();
    Region {
        place: code.place(entry),
        emitter: region.emitter(),
        refused: region.refused().map(str::to_owned),
        assumes: assumptions(region.start),
        guest_instructions: region.guest_insts(),
        host_bytes: region.host_bytes(),
        entered: region.entered(),
        seconds: joined.seconds(),
        share,
        only: Ran::only(joined),
        fallbacks: region.fallbacks().to_vec(),
        blocks: made,
    }
}

fn block(profile: &BlockProfile<'_>, code: &LoadedCode, map: &SourceMap, share: f64) -> Block {
    let (pc, shape) = (profile.pc(), profile.shape);
    let segments = shape.segments.iter().enumerate();
    let accesses = profile.accesses();
    Block {
        place: code.place(pc),
        address: code.local(pc),
        source: map.location(code.local(pc)).map(|at| at.to_string()),
        guest_instructions: shape.insts,
        executions: profile.executions(),
        mean_lanes: profile.mean_lanes(),
        share,
        interchanged: Interchanged::of(profile),
        uncounted: Uncounted::of(profile),
        part_of: profile
            .part_of()
            .filter(|&head| head != pc)
            .map(|head| code.place(head)),
        refused: shape.refused.clone(),
        segments: segments
            .map(|(i, segment)| Segment::new(segment, profile.masked(i)))
            .collect(),
        accesses: accesses
            .map(|(pc, how)| {
                let text = code.text_at(pc);
                AccessLine::new(code.place(pc), text, how, profile.order())
            })
            .collect(),
    }
}

/// Adds a block's counts to those of its instructions, among which its time is shared evenly.
fn tally(
    block: &BlockProfile<'_>,
    code: &LoadedCode,
    share: f64,
    tallies: &mut BTreeMap<u64, Tally>,
) {
    let insts = block.shape.insts;
    let mut lanes = block
        .lanes()
        .flat_map(|(n, lanes)| std::iter::repeat_n(lanes, n as usize));
    let mut pc = block.pc();
    for _ in 0..insts {
        let Ok(inst) = code.inst_at(pc) else { break };
        let tally = tallies.entry(pc).or_default();
        tally.executions += block.executions();
        tally.share += share / f64::from(insts);
        if runtime::jit::is_vector(inst) {
            *tally.lanes.get_or_insert(0) += lanes.next().unwrap_or(0);
        }
        pc += u64::from(inst.len);
    }
}

/// Records how a block was translated at its first instruction and at those that access memory. Of
/// several translations the most frequently run one is shown.
fn tally_shape(block: &Block, profile: &BlockProfile<'_>, tallies: &mut BTreeMap<u64, Tally>) {
    let mut words: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    let summary = block.summary();
    if !summary.is_empty() {
        words.entry(profile.pc()).or_default().push(&summary);
    }
    for ((pc, _), line) in profile.accesses().zip(&block.accesses) {
        words.entry(pc).or_default().push(&line.how);
    }
    for (pc, words) in words {
        let told = &mut tallies.entry(pc).or_default().shape;
        if told.as_ref().is_none_or(|told| told.0 < block.executions) {
            *told = Some((block.executions, words.join("; ")));
        }
    }
}

/// The functions that ran, whole.
fn functions(kernel: &Kernel, map: &SourceMap, tallies: &BTreeMap<u64, Tally>) -> Vec<Function> {
    let code = kernel.module().code();
    let mut functions: Vec<Function> = Vec::new();
    let mut next = 0;
    for &pc in tallies.keys() {
        if pc < next {
            continue;
        }
        let (name, start, end) = match code.symbol_at(pc) {
            Some((symbol, _)) if symbol.size != 0 => (
                symbol.name.clone(),
                symbol.address,
                symbol.address + symbol.size,
            ),
            // Only code that ran is recognized as code.
            _ => {
                let len = code.inst_at(pc).map_or(4, |inst| u64::from(inst.len));
                ("(no function)".to_owned(), pc, pc + len)
            }
        };
        next = end;
        let mut parts = parts(kernel, start..end, map, tallies);
        match functions.last_mut() {
            Some(last) if last.name == name => last.parts.append(&mut parts),
            _ => functions.push(Function { name, parts }),
        }
    }
    functions
}

/// The blocks at guest addresses.
fn parts(
    kernel: &Kernel,
    range: Range<u64>,
    map: &SourceMap,
    tallies: &BTreeMap<u64, Tally>,
) -> Vec<Part> {
    let code = kernel.module().code();
    let range = code.local(range.start)..code.local(range.end - 1) + 1;
    let mut notes = map.notes(range.clone(), None);
    let listing = Listing::of(kernel.module().object(), vec![range]);
    let mut blocks = listing.graph().blocks.into_iter().peekable();
    let mut parts: Vec<Part> = Vec::new();
    let mut end = 0;
    for listed in listing.parts.iter().flat_map(|part| &part.lines) {
        let address = listed.address;
        let block = blocks.next_if(|block| block.range.start == address);
        let (known, begins) = match &listed.item {
            Item::Inst(_) => (true, block.is_some() || parts.is_empty()),
            // Data that follows a block is a part of its own.
            _ => (false, address == end || parts.is_empty()),
        };
        if begins {
            let (edges, calls) = match block {
                Some(block) => {
                    end = block.range.end;
                    (block.edges, block.calls)
                }
                None => Default::default(),
            };
            parts.push(Part {
                address,
                edges,
                calls,
                lines: Vec::new(),
            });
        }
        let tally = tallies.get(&code.guest(address)).filter(|_| known);
        let target = listed.branch_target();
        let line = Line {
            address,
            text: listing.line_text(listed),
            target: target.filter(|target| listing.labels.contains(target)),
            source: notes.remove(&address).unwrap_or_default(),
            ..Line::default()
        };
        let line = match tally {
            Some(tally) => line.counted(tally),
            None => line,
        };
        if let Some(part) = parts.last_mut() {
            part.lines.push(line);
        }
    }
    parts
}

impl Line {
    fn counted(self, tally: &Tally) -> Line {
        let executions = tally.executions;
        Line {
            executions,
            mean_lanes: tally
                .lanes
                .filter(|_| executions != 0)
                .map(|lanes| lanes as f64 / executions as f64),
            share: tally.share,
            shape: tally
                .shape
                .as_ref()
                .map_or("", |(_, words)| words)
                .to_owned(),
            ..self
        }
    }
}
