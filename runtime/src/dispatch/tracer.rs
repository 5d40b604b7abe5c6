//! Finds the loops that the waves of a workgroup are in.

use std::hash::{DefaultHasher, Hasher};
use std::time::Instant;

use frontend::inst::Operand;
use frontend::op::Space;
use frontend::{Encoding, Inst, LANES, Op, WaveState};

use super::waits::{Poll, WaveWait, What};
use crate::engine::{Exit, Group, PRIVATE_BASE, SHARED_BASE, Stop, WaveSets};
use crate::gws::Gws;
use crate::interp::{self, Flow};

/// Number of instructions of a wave that are run to find its loop.
const BUDGET: u32 = 1 << 14;

/// Instructions that a wave runs before the next wave runs.
const QUANTUM: u32 = 1 << 11;

/// Runs the waves of a workgroup by the interpreter and finds their loops.
pub(super) struct Tracer {
    waves: Vec<Trace>,
}

/// PC, SCC, MODE and scalar registers.
type Scalars<'a> = (u64, u32, u32, &'a [u32; 128]);

/// VGPRs and accumulation registers.
type Vectors<'a> = [&'a [[u32; LANES]]; 2];

/// The registers of a wave, scalar and vector.
pub(super) fn registers(wave: &WaveState) -> (Scalars<'_>, Vectors<'_>) {
    let vgprs = wave.vgprs_touched.min(256) as usize;
    let scalar = (wave.pc, wave.scc, wave.mode, &wave.sgpr);
    (scalar, [&wave.vgpr[..vgprs], wave.touched_agprs()])
}

fn same_registers(a: &WaveState, b: &WaveState) -> bool {
    registers(a) == registers(b)
}

/// The search for a wave's loop, by Brent's method: the registers are compared with those of a step that is replaced by a later one
/// after twice as many steps each time.
struct Trace {
    /// Remaining number of instructions.
    left: u32,
    reference: Box<WaveState>,
    /// Instructions since the reference, and their maximum.
    steps: u32,
    limit: u32,
    /// Reads since the reference.
    reads: Vec<Read>,
    /// The reads of the previous iteration, if it ended with the same registers.
    before: Option<Vec<Read>>,
    /// The reads of each iteration, when found.
    found: Option<Vec<Read>>,
}

/// A read of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Read {
    pc: u64,
    what: Source,
    /// An atomic, or a load that bypasses caches: the most likely polled address.
    coherent: bool,
    /// A digest of the value read.
    value: u64,
}

/// What a read reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Memory that only the workgroup has.
    Own,
    /// Global memory, for the first active lane at this address.
    Global(Option<u64>),
    /// The state of a resource of the global wave sync.
    GlobalWaveSync(u8),
}

impl Tracer {
    pub(super) fn new(waves: &[Box<WaveState>]) -> Tracer {
        let traces = waves.iter().map(|wave| Trace {
            left: BUDGET,
            reference: wave.clone(),
            steps: 0,
            limit: 64,
            reads: Vec::new(),
            before: None,
            found: None,
        });
        Tracer {
            waves: traces.collect(),
        }
    }

    /// Runs waves in place of [`crate::engine::Session::run`].
    pub(super) fn run(
        &mut self,
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        group: &mut Group<'_>,
    ) -> Stop {
        sets.each(|index| {
            group.select(index);
            let wave = &mut *waves[index as usize];
            settle(wave);
            self.waves[index as usize].run(wave, group)
        })
    }

    /// Is the examination of the ready waves complete?
    pub(super) fn is_done(&self, ready: u32) -> bool {
        self.ready(ready)
            .all(|(_, trace)| trace.left == 0 || trace.found.is_some())
    }

    fn ready(&self, ready: u32) -> impl Iterator<Item = (usize, &Trace)> {
        let waves = self.waves.iter().enumerate();
        waves.filter(move |&(index, _)| ready >> index & 1 == 1)
    }

    /// How the workgroup polls, if all waves that are ready repeat themselves and one of them reads
    /// what other workgroups write.
    pub(super) fn poll(
        &self,
        sets: &WaveSets,
        waves: &[Box<WaveState>],
        now: Instant,
    ) -> Option<Poll> {
        let mut digest = 0u64;
        let mut all = Vec::new();
        let mut first = None;
        for (index, trace) in self.ready(sets.ready) {
            let reads = trace.found.as_ref()?;
            for read in reads {
                // The iteration may have begun anywhere, so the order does not matter.
                digest = digest.wrapping_add(read.value ^ read.pc.rotate_left(index as u32));
            }
            let global = reads.iter().filter(|read| read.what != Source::Own);
            let best = global.min_by_key(|read| (!read.coherent, read.pc));
            if best.is_some() {
                first = first.or(Some(all.len()));
            }
            all.push(WaveWait {
                wave: index as u32,
                pc: best.map_or(waves[index].pc, |read| read.pc),
                exec: waves[index].exec(),
                what: match best.map(|read| read.what) {
                    Some(Source::Global(address)) => What::Memory(address),
                    Some(Source::GlobalWaveSync(resource)) => What::GlobalWaveSync(resource),
                    Some(Source::Own) | None => What::Runs,
                },
            });
        }
        let first = first?;
        let at_barrier = (0..)
            .zip(waves)
            .filter(|&(n, _)| sets.waiting >> n & 1 == 1);
        all.extend(at_barrier.map(|(wave, state)| WaveWait::at_barrier(wave, state)));
        Some(Poll {
            waves: all,
            first,
            digest,
            since: now,
            until: now,
        })
    }
}

impl WaveWait {
    /// A wave that has arrived at a barrier.
    pub(super) fn at_barrier(wave: u32, state: &WaveState) -> WaveWait {
        const BARRIER_BYTES: u64 = 4;
        WaveWait {
            wave,
            pc: state.pc - BARRIER_BYTES,
            exec: state.exec(),
            what: What::Barrier,
        }
    }

    /// A wave that runs.
    pub(super) fn running(wave: u32, state: &WaveState) -> WaveWait {
        WaveWait {
            wave,
            pc: state.pc,
            exec: state.exec(),
            what: Gws::resource_of(state).map_or(What::Runs, What::GlobalWaveSync),
        }
    }
}

/// Prepares a wave for a run without the engine's knowledge.
fn settle(wave: &mut WaveState) {
    wave.settle();
    wave.vgprs_touched = wave.vgprs_touched.max(wave.vgpr_count);
    (wave.resume, wave.start, wave.kept) = (0, 0, 0);
}

impl Trace {
    /// Runs the wave for some instructions.
    fn run(&mut self, wave: &mut WaveState, group: &mut Group<'_>) -> Exit {
        for _ in 0..QUANTUM {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let code = group.code;
            let Ok(inst) = code.inst_at(wave.pc) else {
                // The engine reports it.
                self.left = 0;
                break;
            };
            let pc = wave.pc;
            let source = read_of(inst, wave, group);
            let written = written_by(inst, wave, group);
            interp::count(wave, group, inst);
            let flow = match interp::step(wave, group, inst) {
                Ok(flow) => flow,
                Err(fault) => return Exit::Fault(fault),
            };
            let tells = inst.desc.name.starts_with("ds_gws_") && flow != Flow::Wait;
            if tells || written.is_some_and(|written| written.has_changed(group)) {
                // The loop does something.
                (self.left, self.found) = (0, None);
                self.reads.clear();
            }
            if flow == Flow::Wait
                && let Some(resource) = Gws::resource_of(wave)
            {
                self.reads.push(Read {
                    pc,
                    what: Source::GlobalWaveSync(resource),
                    coherent: true,
                    value: u64::from(resource),
                });
            } else if let Some(what) = source {
                self.reads.push(Read {
                    pc,
                    what,
                    coherent: inst.mem.glc || matches!(inst.op(), Op::Atomic(..)),
                    value: digest(inst.dst[0], wave),
                });
            }
            self.note(wave);
            match flow {
                Flow::Next | Flow::Jump | Flow::Back | Flow::Wait => {}
                Flow::End => return Exit::End,
                Flow::Barrier => return Exit::Barrier,
            }
        }
        Exit::Yield
    }

    /// An instruction was run.
    fn note(&mut self, wave: &WaveState) {
        if self.found.is_some() {
            self.reads.clear();
            return;
        }
        self.steps += 1;
        if same_registers(wave, &self.reference) {
            let reads = std::mem::take(&mut self.reads);
            if self.before.as_ref() == Some(&reads) {
                self.found = Some(reads);
            } else {
                self.before = Some(reads);
            }
            self.steps = 0;
        } else if self.steps >= self.limit {
            *self.reference = wave.clone();
            self.reads.clear();
            (self.before, self.steps) = (None, 0);
            self.limit *= 2;
        }
    }
}

/// What memory the instruction reads into registers, if it does.
fn read_of(inst: &Inst, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Source> {
    if inst.dst[0] == Operand::None || inst.desc.src.is_empty() {
        return None;
    }
    match access_of(inst, wave, group)? {
        true => Some(Source::Global(
            interp::addresses(wave, group, inst).and_then(|all| first_active(wave, &all)),
        )),
        false => Some(Source::Own),
    }
}

/// Does the instruction access memory, and is it global memory?
fn access_of(inst: &Inst, wave: &WaveState, group: &Group<'_>) -> Option<bool> {
    let scalar = inst.desc.encoding == Encoding::Smem;
    let exec = wave.exec();
    if !scalar && exec == 0 {
        return None;
    }
    let lane = exec.trailing_zeros() as usize & 63;
    match inst.desc.encoding {
        Encoding::Smem => Some(!matches!(inst.op(), Op::Load(Space::ScalarScratch, _))),
        Encoding::Global | Encoding::Mimg => Some(true),
        Encoding::Ds | Encoding::Scratch => Some(false),
        Encoding::Flat => {
            let Operand::Vgpr(first) = inst.src[0] else {
                return Some(true);
            };
            let high = wave.vgpr.get(usize::from(first) + 1)?[lane];
            Some(![SHARED_BASE, PRIVATE_BASE].contains(&(u64::from(high) << 32)))
        }
        Encoding::Mubuf | Encoding::Mtbuf => {
            let Operand::Sgpr(first) = inst.src[1] else {
                return Some(true);
            };
            let base = wave.sgpr64(first) & ((1 << 48) - 1);
            // A descriptor of scratch holds the base of the place's.
            let first = group.scratch.base - u64::from(group.wave) * group.scratch.wave_bytes();
            let size = u64::from(group.waves) * group.scratch.wave_bytes();
            Some(base.wrapping_sub(first) >= size)
        }
        Encoding::Sop2
        | Encoding::Sopk
        | Encoding::Sop1
        | Encoding::Sopc
        | Encoding::Sopp
        | Encoding::Vop1
        | Encoding::Vop2
        | Encoding::Vopc
        | Encoding::Vop3
        | Encoding::Vop3p
        | Encoding::Vintrp
        | Encoding::Exp => None,
    }
}

/// The address of the first active lane.
fn first_active(wave: &WaveState, addresses: &[u64; LANES]) -> Option<u64> {
    let lane = wave.exec().trailing_zeros() as usize;
    addresses.get(lane).or(addresses.first()).copied()
}

/// Global memory that an instruction may write, and its contents before.
struct Written {
    /// `None`: not known.
    places: Option<Vec<(u64, u32)>>,
}

/// Bytes at an address that an access of any kind may write.
const MOST_BYTES: u64 = 16;

/// What the instruction may write of global memory.
fn written_by(inst: &Inst, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Written> {
    let writes = match inst.op() {
        Op::Store(..) | Op::Atomic(..) | Op::StoreLds => true,
        // Stores, atomics, and loads, which write nothing.
        Op::Image(_) => inst.dst[0] == Operand::None,
        _ => false,
    };
    if !writes || access_of(inst, wave, group) != Some(true) {
        return None;
    }
    let exec = match inst.desc.encoding {
        Encoding::Smem => 1,
        _ => wave.exec(),
    };
    let addresses = interp::addresses(wave, group, inst);
    let places = addresses.map(|all| {
        let active = (0..LANES).filter(|lane| exec >> lane & 1 == 1);
        let words = active.flat_map(|lane| {
            (0..MOST_BYTES / 4).map(move |word| (all[lane] & !3).wrapping_add(4 * word))
        });
        let load = |address| Some((address, group.memory.load_u32(address).ok()?));
        words.filter_map(load).collect()
    });
    Some(Written { places })
}

impl Written {
    fn has_changed(&self, group: &Group<'_>) -> bool {
        let Some(places) = &self.places else {
            return true;
        };
        let same = |&(address, before): &(u64, u32)| group.memory.load_u32(address) == Ok(before);
        !places.iter().all(same)
    }
}

/// Maximum number of registers that a load writes.
const MOST: usize = 16;

/// A digest of the registers that a load wrote.
fn digest(to: Operand, wave: &WaveState) -> u64 {
    let mut hasher = DefaultHasher::new();
    match to {
        Operand::Vgpr(first) => digest_vectors(&wave.vgpr, first, &mut hasher),
        Operand::Agpr(first) => digest_vectors(&wave.agpr, first, &mut hasher),
        Operand::Sgpr(first) => {
            let first = usize::from(first) & 127;
            for &word in &wave.sgpr[first..(first + MOST).min(wave.sgpr.len())] {
                hasher.write_u32(word);
            }
        }
        Operand::None
        | Operand::Inline { .. }
        | Operand::Literal { .. }
        | Operand::Special(_)
        | Operand::Imm(_) => {}
    }
    hasher.finish()
}

fn digest_vectors(file: &[[u32; LANES]; 256], first: u8, hasher: &mut DefaultHasher) {
    let first = usize::from(first);
    for register in &file[first..(first + MOST).min(file.len())] {
        register.iter().for_each(|&word| hasher.write_u32(word));
    }
}
