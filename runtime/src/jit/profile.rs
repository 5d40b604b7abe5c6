//! The profile of a translating engine: regions with their chosen shapes and times, or executions
//! of their blocks and active lanes.

use std::collections::HashMap;
use std::iter::repeat_n;
use std::sync::Arc;

use frontend::WaveState;
use lower::jit::Compiled;
use lower::profile::Shape;
pub use lower::profile::{
    Access, AccessShape, BlockShape, END_OF_BLOCK, InterchangedShape, Order, Outcome, SegmentShape,
};

pub use self::joined::{BlockProfile, Joined};

use super::session::JitSession;
use super::{JitEngine, is_vector};
use crate::LoadedCode;
use crate::coverage::{Counts, Coverage};
use crate::engine::{Engine, Exit, Group, Profiling, Session};

mod joined;

/// The translating engine with timed code, or with counters in it. It runs code of its own; that of
/// other engines has no trace of profiling.
pub struct Profiler(pub(super) JitEngine);

impl Engine for Profiler {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        JitSession::<true>::new(&self.0).run_one(wave, group, fuel)
    }

    fn session(&self) -> Box<dyn Session + '_> {
        Box::new(JitSession::<true>::new(&self.0))
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        self.0.step(wave, group)
    }

    fn take_coverage(&self, code: &LoadedCode) -> Option<Coverage> {
        if self.0.options.profile != Some(Profiling::Coverage) {
            return None;
        }
        let mut coverage = Coverage::default();
        let regions = self.0.shared.regions.read();
        let regions = regions.expect("no holder of the lock panics");
        for (key, region) in regions.all() {
            if key.code == code.id() {
                cover(&mut coverage, code, region);
            }
        }
        let mut interpreted = self
            .0
            .interpreted
            .lock()
            .expect("no holder of the lock panics");
        for ((_, pc), counts) in interpreted.extract_if(|(load, _), _| *load == code.id()) {
            *coverage.entry(pc).or_default() += counts;
        }
        Some(coverage)
    }

    fn take_profile(&self) -> Option<Profile> {
        let regions = self.0.shared.regions.read();
        let regions = regions.expect("no holder of the lock panics");
        let profiles = regions.all().filter_map(|(key, region)| {
            let counts = region.take_counts();
            (counts.get(Shape::ENTERED).copied().unwrap_or(0) != 0).then(|| RegionProfile {
                code: key.code,
                entry: key.pc,
                mode: key.mode,
                start: key.start,
                compiled: Arc::clone(region),
                counts,
            })
        });
        let mut profiles: Vec<_> = profiles.collect();
        profiles.sort_by_key(|region| (region.code, region.entry, region.start));
        let mut interpreted = self
            .0
            .interpreted
            .lock()
            .expect("no holder of the lock panics");
        Some(Profile {
            regions: profiles,
            interpreted: std::mem::take(&mut *interpreted),
        })
    }
}

/// Adds the counts of a region's blocks, and resets them.
fn cover(coverage: &mut Coverage, code: &LoadedCode, region: &Compiled) {
    let counts = region.take_counts();
    let count = |counter: usize| counts.get(counter).copied().unwrap_or(0);
    for block in region.shape().iter().flat_map(|shape| &shape.blocks) {
        let executions = count(block.executions);
        if executions == 0 {
            continue;
        }
        let lanes = block.lanes.iter();
        let mut lanes = lanes.flat_map(|&(n, counter)| repeat_n(count(counter), n as usize));
        let mut pc = block.pc;
        for _ in 0..block.insts {
            let Ok(inst) = code.inst_at(pc) else { break };
            let counts = coverage.entry(pc).or_default();
            counts.executions += executions;
            if is_vector(inst) {
                counts.lanes += lanes.next().unwrap_or(0);
            }
            pc += u64::from(inst.len);
        }
        for &(pc, outcome, counter) in &block.outcomes {
            let counts = coverage.entry(pc).or_default();
            *match outcome {
                Outcome::Taken => &mut counts.taken,
                Outcome::On => &mut counts.on,
                Outcome::Off => &mut counts.off,
            } += count(counter);
        }
    }
}

/// An instruction that the interpreter ran between regions: the code object's load and the address.
pub type Place = (u64, u64);

/// The profile since it was last taken.
pub struct Profile {
    /// Regions that were run.
    pub regions: Vec<RegionProfile>,
    /// Instructions that only the interpreter runs.
    pub interpreted: HashMap<Place, Counts>,
}

/// A region.
pub struct RegionProfile {
    /// The code object's load ([`crate::LoadedCode::id`]).
    pub code: u64,
    /// Guest address.
    pub entry: u64,
    /// The MODE bits that it is specialised on, and the rest of the key
    /// ([`lower::lift::region::mode_key`]).
    pub mode: u32,
    /// Its assumptions on the registers at entry, as in [`WaveState::START`].
    pub start: u64,
    compiled: Arc<Compiled>,
    counts: Vec<u64>,
}

impl RegionProfile {
    /// Adds a later profile of the region.
    pub fn add(&mut self, other: &RegionProfile) {
        for (sum, n) in self.counts.iter_mut().zip(&other.counts) {
            *sum += n;
        }
    }

    /// How often a wave was run in it.
    pub fn entered(&self) -> u64 {
        self.count(Shape::ENTERED)
    }

    /// Seconds spent in it, calls of the runtime included.
    pub fn seconds(&self) -> f64 {
        self.count(Shape::NANOSECONDS) as f64 * 1e-9
    }

    /// Bytes of host code.
    pub fn host_bytes(&self) -> usize {
        self.compiled.bytes()
    }

    /// Guest instructions.
    pub fn guest_insts(&self) -> u32 {
        self.compiled.guest_insts()
    }

    /// Names of instructions that fall back to the interpreter.
    pub fn fallbacks(&self) -> &[&'static str] {
        &self.compiled.fallbacks
    }

    /// Name of the emitter.
    pub fn emitter(&self) -> &'static str {
        if self.compiled.is_wide() {
            "wide"
        } else {
            "cranelift"
        }
    }

    /// What the wide back end refused, if Cranelift compiled the region.
    pub fn refused(&self) -> Option<&str> {
        self.compiled.refused()
    }

    /// Its chosen shape.
    fn shape(&self) -> Option<&Shape> {
        self.compiled.shape()
    }

    fn count(&self, counter: usize) -> u64 {
        self.counts.get(counter).copied().unwrap_or(0)
    }
}
