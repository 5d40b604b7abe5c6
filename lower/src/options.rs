//! How regions are translated: what an engine decides for all of them, what is known of one, and the forms of code that tests and
//! measurements leave out.

use bitflags::bitflags;

use crate::host::Host;

/// How a region is translated. An engine keeps one value of this for all regions and sets for each what depends on it: `count`,
/// `profile`, `shapes`, `start`, `baseline` and `host.isa`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// NaN results follow the guest's rule bit for bit; otherwise only NaN-ness is promised.
    pub exact_nan: bool,
    /// Lanes in a group of the unmasked loops (4, 8 or 16); `None` chooses by register pressure.
    pub group: Option<u8>,
    /// Forms of code that are not made.
    pub without: Forms,
    /// Count instructions and lane-instructions.
    pub count: bool,
    /// Count executions, lanes and masked loops, and note the shapes chosen.
    pub profile: bool,
    /// Note the shapes chosen, which makes no other code.
    pub shapes: bool,
    /// What is known of the registers at the region's beginning: bits of `WaveState::START`.
    pub start: u64,
    /// Make code of the baseline tier. Segment loops use single host vectors; for the wide back end
    /// only masked ones are made. Only the first few guest loops have forms inside the lane groups
    /// or lane-serial ones. Accesses in slow paths are calls. Scalar registers are in the wave at
    /// the beginning and end of each block, so entries and exits need no loads or stores.
    pub baseline: bool,
    /// The host.
    pub host: Host,
}

bitflags! {
    /// Forms of code that pay in some programs and that results never depend on. Tests and measurements leave them out.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Forms: u16 {
        /// Loops over lane groups in which all lanes act, beside the masked ones.
        const UNMASKED = 1;
        /// Guest loops inside the loop over lane groups.
        const GROUP_LOOPS = 1 << 1;
        /// Values and checks of such loops computed once before the first iteration.
        const HOISTED = 1 << 2;
        /// Guest loops that run lane by lane.
        const LANE_SERIAL = 1 << 3;
        /// Loads that are part of a segment.
        const FUSED_LOADS = 1 << 4;
        /// Stores that are part of a segment.
        const FUSED_STORES = 1 << 5;
        /// Compares of affine values as thresholds of the lane number.
        const AFFINE_COMPARES = 1 << 6;
        /// Inline accesses at addresses of which nothing is known.
        const GATHERS = 1 << 7;
        /// Offset tables: knowledge of addresses that are not affine.
        const OFFSET_TABLES = 1 << 8;
        /// Writes of registers moved to the block that reads them.
        const SUNK = 1 << 9;
        /// Vectors of 512 bits.
        const ZMM = 1 << 10;
        /// Several blocks, with their branches and loops, inside one loop over lane groups.
        const PARALLEL = 1 << 11;
    }
}

impl Options {
    /// Are there parallel regions?
    pub(crate) fn has_parallel(&self) -> bool {
        !self.baseline && !self.count && !self.profile && self.has(Forms::PARALLEL)
    }

    /// Is this form made?
    pub(crate) fn has(&self, forms: Forms) -> bool {
        !self.without.intersects(forms)
    }
}
