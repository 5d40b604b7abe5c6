//! What a translator that profiles has counted: regions with the shapes chosen for them, executions of
//! their blocks, and the lanes that were active.

use std::collections::HashMap;
use std::sync::Arc;

use frontend::WaveState;
use lower::jit::Compiled;
use lower::profile::Shape;
pub use lower::profile::{
    Access, AccessShape, BlockShape, InterchangedShape, SegmentShape, Uncounted,
};

use super::JitEngine;
use super::session::JitSession;
use crate::engine::{Engine, Exit, Group, Session};

/// The translating engine with counters compiled into its code. It runs code of its own; that of other
/// engines has no trace of profiling.
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

    fn take_profile(&self) -> Option<Profile> {
        let regions = self.0.shared.regions.read();
        let regions = regions.expect("no holder of the lock panics");
        let profiles = regions.all().filter_map(|(key, region)| {
            let counts = region.take_counts();
            (counts.get(Shape::ENTERED).copied().unwrap_or(0) != 0).then(|| RegionProfile {
                code: key.code,
                entry: key.pc,
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

/// An instruction that the interpreter ran between regions: the code object's load and the address.
pub type Place = (u64, u64);

/// How often something ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Executions by waves.
    pub executions: u64,
    /// Active lanes, summed up over the executions.
    pub lanes: u64,
}

/// What was counted since the profile was last taken.
pub struct Profile {
    /// Regions that were run.
    pub regions: Vec<RegionProfile>,
    /// What the interpreter ran because only it does.
    pub interpreted: HashMap<Place, Count>,
}

/// A region.
pub struct RegionProfile {
    /// The code object's load ([`crate::LoadedCode::id`]).
    pub code: u64,
    /// Guest address.
    pub entry: u64,
    /// What it takes for granted of the registers it is entered with, as [`WaveState::START`] has it.
    pub start: u64,
    compiled: Arc<Compiled>,
    counts: Vec<u64>,
}

impl RegionProfile {
    /// Adds the counts of another profile of the same region; is it the same?
    pub fn add(&mut self, other: &RegionProfile) -> bool {
        let same = Arc::ptr_eq(&self.compiled, &other.compiled);
        if same {
            for (sum, n) in self.counts.iter_mut().zip(&other.counts) {
                *sum += n;
            }
        }
        same
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

    /// What the wide emitter lacked, where Cranelift had to do.
    pub fn refused(&self) -> Option<&str> {
        self.compiled.refused()
    }

    /// Its blocks.
    pub fn blocks(&self) -> impl Iterator<Item = BlockProfile<'_>> {
        let shape = self.compiled.shape();
        let blocks = shape.into_iter().flat_map(|shape| &shape.blocks);
        blocks.map(|shape| BlockProfile {
            shape,
            region: self,
        })
    }

    fn count(&self, counter: usize) -> u64 {
        self.counts.get(counter).copied().unwrap_or(0)
    }
}

/// A block of a region.
pub struct BlockProfile<'a> {
    /// What was chosen for it.
    pub shape: &'a BlockShape,
    region: &'a RegionProfile,
}

impl BlockProfile<'_> {
    /// Executions by waves.
    pub fn executions(&self) -> u64 {
        self.region.count(self.shape.executions)
    }

    /// Runs of vector instructions under one EXEC, in order: how many, and the sum of their active lanes
    /// over all executions.
    pub fn lanes(&self) -> impl Iterator<Item = (u32, u64)> {
        let runs = self.shape.lanes.iter();
        runs.map(|&(n, counter)| (n, self.region.count(counter)))
    }

    /// How many of the executions were turns of the loop inside the lane groups.
    pub fn interchanged(&self) -> u64 {
        let form = self.shape.interchanged;
        form.map_or(0, |form| self.region.count(form.turns))
    }

    /// How often the masked loop of a segment ran.
    pub fn masked(&self, segment: &SegmentShape) -> u64 {
        segment
            .masked
            .map_or(0, |counter| self.region.count(counter))
    }

    /// Host bytes that the executions went through: what time is shared out by within a region.
    pub fn weight(&self) -> f64 {
        let inside = self.interchanged();
        let executions = self.executions().saturating_sub(inside);
        let rounds = |group: u8| 64.0 / f64::from(group.max(1));
        let loops = self.shape.segments.iter().map(|segment| {
            let masked = self.masked(segment);
            let unmasked = executions.saturating_sub(masked) as f64;
            unmasked * f64::from(segment.unmasked_bytes) * rounds(segment.group)
                + masked as f64 * f64::from(segment.masked_bytes) * rounds(segment.masked_group)
        });
        let interchanged = self.shape.interchanged.map_or(0.0, |form| {
            inside as f64 * f64::from(form.bytes) * rounds(form.group)
        });
        executions as f64 * f64::from(self.shape.bytes) + loops.sum::<f64>() + interchanged
    }
}
