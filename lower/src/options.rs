//! How regions are translated: an engine's choices for all regions, facts about one region, and the forms of code that
//! tests and measurements disable.

use bitflags::bitflags;

use crate::host::Host;

/// How a region is translated. An engine has one value for all regions, and sets for each region the fields that depend
/// on it: `count`, `profile`, `shapes`, `start`, `baseline` and `host.isa`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// NaN results have the bits that the guest's rules require; otherwise only that they are NaNs is guaranteed.
    pub exact_nan: bool,
    /// Lanes in a lane group (4, 8 or 16), except in masked loops; `None` chooses by register pressure.
    pub group: Option<u8>,
    /// Forms of code that are disabled.
    pub without: Forms,
    /// Count instructions and lane-instructions.
    pub count: bool,
    /// Count executions, active lanes and runs of masked loops, and record the chosen shapes.
    pub profile: bool,
    /// Record the chosen shapes, which does not affect the code.
    pub shapes: bool,
    /// Announce accesses to a sanitizer.
    pub sanitize: bool,
    /// Facts about the registers at the region's beginning: bits of `WaveState::START`.
    pub start: u64,
    /// Generate code of the baseline tier. The groups of short segments are single host vectors. The wide back end has
    /// only the masked loop of a segment, unless `group` or `profile` is set. At most the first few guest loops become
    /// loops inside the lane groups or lane-serial loops. Accesses in slow paths are calls. Scalar registers are in the
    /// wave at the beginning and end of each block, so entries and exits need no loads or stores.
    pub baseline: bool,
    /// The host that executes the code.
    pub host: Host,
}

bitflags! {
    /// Forms of code that are faster in some programs. Results never depend on them; tests and measurements disable
    /// them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Forms: u16 {
        /// Unmasked loops over lane groups for the case that all lanes are active, in addition to the masked ones.
        const UNMASKED = 1;
        /// Guest loops inside the loop over lane groups.
        const GROUP_LOOPS = 1 << 1;
        /// Invariants, range checks and trip counts of guest loops, computed before the first iteration.
        const HOISTED = 1 << 2;
        /// Lane-serial loops: all iterations of a lane before the next lane.
        const LANE_SERIAL = 1 << 3;
        /// Loads that are part of a segment.
        const FUSED_LOADS = 1 << 4;
        /// Stores that are part of a segment.
        const FUSED_STORES = 1 << 5;
        /// Compares of affine values as thresholds of the lane number.
        const AFFINE_COMPARES = 1 << 6;
        /// Inline accesses at arbitrary addresses: gathers, scatters, and lane groups that are contiguous at run time.
        const GATHERS = 1 << 7;
        /// Offset tables: accesses whose addresses are not affine, but constant offsets from one base.
        const OFFSET_TABLES = 1 << 8;
        /// Register writes that are sunk to the block that reads them.
        const SUNK = 1 << 9;
        /// Vectors of 512 bits.
        const ZMM = 1 << 10;
        /// Parallel regions: several blocks, with their branches and loops, inside one loop over lane groups.
        const PARALLEL = 1 << 11;
        /// Prefetches of what the next workgroup accesses.
        const PREFETCHES = 1 << 12;
        /// Writes under EXEC without the old value where nobody reads inactive lanes.
        const DEAD_LANES = 1 << 13;
    }
}

impl Options {
    /// Are there parallel regions?
    pub(crate) fn has_parallel(&self) -> bool {
        !self.baseline && !self.count && !self.profile && self.has(Forms::PARALLEL)
    }

    /// Are all these forms enabled?
    pub(crate) fn has(&self, forms: Forms) -> bool {
        !self.without.intersects(forms)
    }
}
