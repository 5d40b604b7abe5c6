//! A device's counts put together by kernel, region, block and instruction.

use std::collections::{BTreeMap, HashMap};

use runtime::LoadedCode;
use runtime::jit::profile::{BlockProfile, BlockShape, Count, RegionProfile};
use serde::Serialize;
use wavelift::{Error, Kernel};

use super::super::session::Session;
use super::shape::{AccessLine, Interchanged, Segment, Uncounted, assumptions};

/// What one kernel did in all its launches.
#[derive(Serialize)]
pub(in super::super) struct KernelProfile {
    pub(in super::super) kernel: String,
    pub(in super::super) launches: u64,
    pub(in super::super) waves: u64,
    pub(in super::super) instructions: u64,
    pub(in super::super) lane_instructions: u64,
    /// In translated code and what it calls, over all threads.
    pub(in super::super) seconds: f64,
    pub(in super::super) regions: Vec<Region>,
    #[serde(skip)]
    pub(super) functions: Vec<Function>,
}

/// A translated region; shares are of the kernel's time.
#[derive(Serialize)]
pub(in super::super) struct Region {
    pub(super) place: String,
    pub(super) emitter: &'static str,
    /// What the wide emitter lacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<String>,
    /// What it takes for granted of the registers that a wave begins with.
    pub(super) assumes: Vec<String>,
    pub(super) guest_instructions: u32,
    pub(super) host_bytes: usize,
    pub(super) entered: u64,
    pub(super) seconds: f64,
    pub(super) share: f64,
    pub(super) fallbacks: Vec<&'static str>,
    pub(super) blocks: Vec<Block>,
}

/// A block.
#[derive(Serialize)]
pub(in super::super) struct Block {
    pub(super) place: String,
    /// Address in the code object.
    pub(super) address: u64,
    pub(super) guest_instructions: u32,
    pub(super) executions: u64,
    /// `None` without vector instructions.
    pub(super) mean_lanes: Option<f64>,
    pub(super) share: f64,
    /// `None` unless it is a loop that also runs inside the lane groups.
    pub(super) interchanged: Option<Interchanged>,
    /// The form that the loop has in code without counters, where that cannot be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uncounted: Option<Uncounted>,
    pub(super) segments: Vec<Segment>,
    pub(super) accesses: Vec<AccessLine>,
}

/// Disassembly with counts.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) lines: Vec<Line>,
}

/// An instruction.
#[derive(Default)]
pub(super) struct Line {
    /// Address in the code object.
    pub(super) address: u64,
    pub(super) text: String,
    pub(super) executions: u64,
    /// `None` of scalar instructions and of what never ran.
    pub(super) mean_lanes: Option<f64>,
    /// Of the kernel's time.
    pub(super) share: f64,
    /// A block of some region begins here.
    pub(super) leads: bool,
    /// How the block that begins here, or the access, was translated.
    pub(super) shape: String,
}

/// Counts of a kernel while launches are added.
struct Raw<'a> {
    kernel: &'a Kernel,
    launches: u64,
    waves: u64,
    regions: Vec<RegionProfile>,
    interpreted: HashMap<u64, Count>,
}

/// Launches everything once.
pub(in super::super) fn collect(session: &Session) -> Result<Vec<KernelProfile>, Error> {
    let settings = session.device.settings();
    let mut all: Vec<Raw<'_>> = Vec::new();
    // Nothing that was counted before belongs to a kernel.
    session.device.take_profile();
    for planned in &session.dispatches {
        let code = planned.kernel.module().code().id();
        let known = all.iter().position(|raw| {
            raw.kernel.name() == planned.kernel.name() && raw.kernel.module().code().id() == code
        });
        let at = known.unwrap_or_else(|| {
            all.push(Raw {
                kernel: &planned.kernel,
                launches: 0,
                waves: 0,
                regions: Vec::new(),
                interpreted: HashMap::new(),
            });
            all.len() - 1
        });
        let raw = &mut all[at];
        for _ in 0..planned.repeat {
            raw.launches += 1;
            raw.waves += session.launch(planned, &settings)?.waves;
        }
        let Some(profile) = session.device.take_profile() else {
            continue;
        };
        for region in profile.regions {
            if !raw.regions.iter_mut().any(|known| known.add(&region)) {
                raw.regions.push(region);
            }
        }
        for ((_, pc), count) in profile.interpreted {
            let sum = raw.interpreted.entry(pc).or_default();
            sum.executions += count.executions;
            sum.lanes += count.lanes;
        }
    }
    Ok(all.iter().map(kernel).collect())
}

/// Counts of an instruction.
#[derive(Default)]
struct Tally {
    executions: u64,
    lanes: Option<u64>,
    share: f64,
    leads: bool,
    /// How it was translated, and the executions of the block that says so.
    shape: Option<(u64, String)>,
}

/// `name+0x10`, or the address where there is no name.
fn place(code: &LoadedCode, pc: u64) -> String {
    match code.symbol_at(pc) {
        Some((symbol, 0)) => symbol.name.clone(),
        Some((symbol, offset)) => format!("{}+0x{offset:x}", symbol.name),
        None => format!("0x{:x}", code.local(pc)),
    }
}

fn kernel(raw: &Raw<'_>) -> KernelProfile {
    let code = raw.kernel.module().code();
    let seconds: f64 = raw.regions.iter().map(RegionProfile::seconds).sum();
    let mut tallies: BTreeMap<u64, Tally> = BTreeMap::new();
    let mut regions: Vec<Region> = raw
        .regions
        .iter()
        .map(|profile| region(profile, code, seconds, &mut tallies))
        .collect();
    regions.sort_by(|a, b| b.share.total_cmp(&a.share));
    for (&pc, count) in &raw.interpreted {
        let tally = tallies.entry(pc).or_default();
        tally.executions += count.executions;
        if code.inst_at(pc).is_ok_and(runtime::jit::is_vector) {
            *tally.lanes.get_or_insert(0) += count.lanes;
        }
    }
    KernelProfile {
        kernel: raw.kernel.name().to_owned(),
        launches: raw.launches,
        waves: raw.waves,
        instructions: tallies.values().map(|tally| tally.executions).sum(),
        lane_instructions: tallies
            .values()
            .map(|tally| tally.lanes.unwrap_or(tally.executions))
            .sum(),
        seconds,
        regions,
        functions: functions(code, &tallies),
    }
}

fn region(
    profile: &RegionProfile,
    code: &LoadedCode,
    all: f64,
    tallies: &mut BTreeMap<u64, Tally>,
) -> Region {
    let share = if all > 0.0 {
        profile.seconds() / all
    } else {
        0.0
    };
    let weight: f64 = profile.blocks().map(|block| block.weight()).sum();
    let blocks = profile.blocks().filter(|block| block.executions() != 0);
    let blocks = blocks.map(|block| {
        let part = if weight > 0.0 {
            block.weight() / weight
        } else {
            0.0
        };
        tally(&block, code, share * part, tallies);
        let (vector, lanes) = block.lanes().fold((0, 0), |(n, sum), (insts, lanes)| {
            (n + u64::from(insts), sum + u64::from(insts) * lanes)
        });
        let runs = vector * block.executions();
        let shape = block.shape;
        let made = Block {
            place: place(code, shape.pc),
            address: code.local(shape.pc),
            guest_instructions: shape.insts,
            executions: block.executions(),
            mean_lanes: (runs != 0).then(|| lanes as f64 / runs as f64),
            share: share * part,
            interchanged: Interchanged::of(&block),
            uncounted: shape.uncounted.map(Uncounted::from),
            segments: shape
                .segments
                .iter()
                .map(|segment| Segment::new(segment, block.masked(segment)))
                .collect(),
            accesses: shape
                .accesses
                .iter()
                .map(|a| AccessLine::new(place(code, a.pc), code.text_at(a.pc), a.how))
                .collect(),
        };
        tally_shape(&made, shape, tallies);
        made
    });
    Region {
        place: place(code, profile.entry),
        emitter: profile.emitter(),
        refused: profile.refused().map(str::to_owned),
        assumes: assumptions(profile.start),
        guest_instructions: profile.guest_insts(),
        host_bytes: profile.host_bytes(),
        entered: profile.entered(),
        seconds: profile.seconds(),
        share,
        fallbacks: profile.fallbacks().to_vec(),
        blocks: blocks.collect(),
    }
}

/// Adds a block's counts to those of its instructions, among which its time is shared evenly.
fn tally(
    block: &BlockProfile<'_>,
    code: &LoadedCode,
    share: f64,
    tallies: &mut BTreeMap<u64, Tally>,
) {
    let shape = block.shape;
    let mut lanes = block
        .lanes()
        .flat_map(|(n, lanes)| std::iter::repeat_n(lanes, n as usize));
    let mut pc = shape.pc;
    for i in 0..shape.insts {
        let Ok(inst) = code.inst_at(pc) else { break };
        let tally = tallies.entry(pc).or_default();
        tally.executions += block.executions();
        tally.share += share / f64::from(shape.insts);
        tally.leads |= i == 0;
        if runtime::jit::is_vector(inst) {
            *tally.lanes.get_or_insert(0) += lanes.next().unwrap_or(0);
        }
        pc += u64::from(inst.len);
    }
}

/// Notes how a block was translated at its first instruction and at those that access memory. Of several
/// translations the one that ran most often is told.
fn tally_shape(block: &Block, shape: &BlockShape, tallies: &mut BTreeMap<u64, Tally>) {
    let mut words: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    let summary = block.summary();
    if !summary.is_empty() {
        words.entry(shape.pc).or_default().push(&summary);
    }
    for (access, line) in shape.accesses.iter().zip(&block.accesses) {
        words.entry(access.pc).or_default().push(&line.how);
    }
    for (pc, words) in words {
        let told = &mut tallies.entry(pc).or_default().shape;
        if told.as_ref().is_none_or(|told| told.0 < block.executions) {
            *told = Some((block.executions, words.join("; ")));
        }
    }
}

/// The functions that ran, whole.
fn functions(code: &LoadedCode, tallies: &BTreeMap<u64, Tally>) -> Vec<Function> {
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
            // Only what ran is known to be code.
            _ => ("(no function)".to_owned(), pc, pc + 1),
        };
        next = end;
        let mut lines = Vec::new();
        let mut at = start;
        while at < end {
            let (len, known) = match code.inst_at(at) {
                Ok(inst) => (u64::from(inst.len), true),
                Err(_) => (4, false),
            };
            let tally = tallies.get(&at);
            lines.push(line(code, at, known, tally));
            at += len;
        }
        match functions.last_mut() {
            Some(last) if last.name == name => last.lines.append(&mut lines),
            _ => functions.push(Function { name, lines }),
        }
    }
    functions
}

fn line(code: &LoadedCode, pc: u64, known: bool, tally: Option<&Tally>) -> Line {
    let mut line = Line {
        address: code.local(pc),
        text: code.text_at(pc),
        ..Line::default()
    };
    if let Some(tally) = tally.filter(|_| known) {
        let executions = tally.executions;
        line.executions = executions;
        line.mean_lanes = tally
            .lanes
            .filter(|_| executions != 0)
            .map(|lanes| lanes as f64 / executions as f64);
        line.share = tally.share;
        line.leads = tally.leads;
        line.shape = tally
            .shape
            .as_ref()
            .map_or("", |(_, words)| words)
            .to_owned();
    }
    line
}
