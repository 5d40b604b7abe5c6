//! The static half of a profile: shapes chosen for a region, and the counters of its code. Only
//! regions that are compiled with `Options::shapes` or `Options::profile` have it.

/// The choices of a region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in the order of the lane IR.
    pub blocks: Vec<BlockShape>,
    /// Number of counters; see [`Shape::ENTERED`] and [`Shape::NANOSECONDS`]. Without
    /// `Options::profile` there are no others, and those that blocks name do not exist.
    pub counters: usize,
}

impl Shape {
    /// The counter of runs of the region. The engine counts.
    pub const ENTERED: usize = 0;

    /// The counter of the time spent in the region. The engine counts.
    pub const NANOSECONDS: usize = 1;

    /// The first counter that the code itself increments.
    pub const FIRST: usize = 2;
}

/// An outcome of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// A wave takes the branch.
    Taken,
    /// The lane is in the mask: EXEC behind an instruction that writes it, or VCC at a branch on it.
    On,
    /// The lane was active, and is not in the mask.
    Off,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Outcome; 3] = [Outcome::Taken, Outcome::On, Outcome::Off];

    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Taken => "taken",
            Outcome::On => "on",
            Outcome::Off => "off",
        }
    }
}

/// A block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockShape {
    /// Guest address of its first instruction.
    pub pc: u64,
    /// Its guest instructions, contiguous.
    pub insts: u32,
    /// Counter of its executions.
    pub executions: usize,
    /// Vector instructions that run under one EXEC, in order, and the counter of their active
    /// lanes.
    pub lanes: Vec<(u32, usize)>,
    /// Outcomes of its conditions: guest address of the instruction, the outcome, its counter.
    pub outcomes: Vec<(u64, Outcome, usize)>,
    /// Host bytes outside of its lane loops.
    pub bytes: u32,
    /// Its loops over lane groups.
    pub segments: Vec<SegmentShape>,
    /// The second form of the loop that begins with the block, if any. Code with counters has only
    /// forms that can be counted.
    pub interchanged: Option<InterchangedShape>,
    /// Its memory instructions.
    pub accesses: Vec<AccessShape>,
    /// Why the loop that it is in is no parallel region, in words.
    pub refused: Option<String>,
}

/// A form of a guest loop, or of other blocks, that does not run each instruction on all lanes before the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterchangedShape {
    /// In which order lanes run their iterations.
    pub order: Order,
    /// Lanes in a group.
    pub group: u8,
    /// The blocks of the loop, by their indices in [`Shape::blocks`].
    pub blocks: Vec<usize>,
    /// It runs only when all lanes are active.
    pub full: bool,
    /// Counter of its iterations; they are in [`BlockShape::executions`] too.
    pub iterations: usize,
    /// Host bytes, including those before and after the loop.
    pub bytes: u32,
}

/// In which order lanes run the iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Inside the loop over lane groups: a group runs all iterations before the next group begins.
    Groups {
        /// Are there unmasked iterations, for groups whose active lanes all continue?
        unmasked: bool,
    },
    /// The iterations that all lanes have run group by group; the general loop runs the others.
    Peeled,
    /// Each lane runs all its iterations before the next lane begins.
    LaneSerial,
    /// A parallel region: a group runs all its blocks, with their branches and loops, before the next group begins.
    Parallel,
}

/// A loop over lane groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentShape {
    /// Lanes in a group of the unmasked loop.
    pub group: u8,
    /// Lanes in a group of the masked loop: a host vector.
    pub masked_group: u8,
    /// Is there a loop for EXEC all ones (or for lanes independent of EXEC)?
    pub unmasked: bool,
    /// Counter of the runs of the masked loop, if there is one.
    pub masked: Option<usize>,
    /// Operations of the lane IR.
    pub operations: usize,
    /// VGPRs stored.
    pub stores: usize,
    /// Host bytes of the unmasked loop.
    pub unmasked_bytes: u32,
    /// Host bytes of the masked loop.
    pub masked_bytes: u32,
    /// The operation that ends it.
    pub ends: String,
}

/// A memory instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessShape {
    /// Guest address of the instruction.
    pub pc: u64,
    /// Addressing of the access.
    pub how: Access,
}

/// What ends a segment that nothing cuts.
pub const END_OF_BLOCK: &str = "end of block";

/// Addressing of a memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Inline: one scalar address for all lanes, at a stride in bytes.
    Affine {
        /// Bytes between neighbouring lanes.
        stride: i64,
        /// Checked at run time against wrapping.
        guarded: bool,
    },
    /// Inline where all lanes are active: one scalar address and constant offsets of the lanes.
    Table,
    /// Inline where the elements of lanes are contiguous, otherwise as `Each` or a call.
    Runs {
        /// As `Each`.
        each: bool,
    },
    /// Inline at the address of each lane.
    Each,
    /// Inline for the wave's own scratch, otherwise a call.
    Scratch,
    /// A call for the whole wave, which examines the addresses.
    Call,
}
