//! What the emitter chose for a region, and which counters its code has: the static half of a profile.
//! Only regions that are compiled with `Options::shapes` or `Options::profile` have it.

/// The choices of a region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in the order of the lane IR.
    pub blocks: Vec<BlockShape>,
    /// Counters that there are; see [`Shape::ENTERED`] and [`Shape::NANOSECONDS`]. Without `Options::profile` there are
    /// no further ones, and those that blocks name are none.
    pub counters: usize,
}

impl Shape {
    /// The counter of how often a wave was run in the region. The engine counts.
    pub const ENTERED: usize = 0;

    /// The counter of the time spent in the region. The engine counts.
    pub const NANOSECONDS: usize = 1;

    /// The first counter of the code's own.
    pub const FIRST: usize = 2;
}

/// A block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockShape {
    /// Guest address of its first instruction.
    pub pc: u64,
    /// Guest instructions, one behind the other.
    pub insts: u32,
    /// Counter of its executions.
    pub executions: usize,
    /// Vector instructions that run under one EXEC, in order, and the counter that sums up its lanes.
    pub lanes: Vec<(u32, usize)>,
    /// Host bytes outside of its lane loops.
    pub bytes: u32,
    /// Its loops over lane groups.
    pub segments: Vec<SegmentShape>,
    /// If the block begins a loop of which the code has a second form: that form. Code with counters has only those
    /// that can be counted.
    pub interchanged: Option<InterchangedShape>,
    /// Its memory instructions.
    pub accesses: Vec<AccessShape>,
}

/// The form of a loop of the guest in which not each instruction acts on all lanes before the next does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterchangedShape {
    /// In which order lanes make their iterations.
    pub order: Order,
    /// Lanes in a group.
    pub group: u8,
    /// The blocks that it is made of, by their places in [`Shape::blocks`].
    pub blocks: Vec<usize>,
    /// It runs only when all lanes act.
    pub full: bool,
    /// Counter of the iterations made so; they are in [`BlockShape::executions`] too.
    pub turns: usize,
    /// Host bytes, those before and behind the loop included.
    pub bytes: u32,
}

/// In which order lanes make the iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Inside the loop over lane groups: a group makes all iterations before the next group begins.
    Groups {
        /// Are there unmasked iterations, for groups whose active lanes all continue?
        unmasked: bool,
    },
    /// The iterations that all lanes make run group by group; the general loop makes the others.
    Peeled,
    /// Each lane makes all its iterations before the next lane begins.
    LaneSerial,
}

/// A loop over lane groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentShape {
    /// Lanes in a group of the unmasked loop.
    pub group: u8,
    /// Lanes in a group of the masked loop: a host vector.
    pub masked_group: u8,
    /// Is there a loop for EXEC all ones (or for lanes that no EXEC concerns)?
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
    /// Why it ends where it ends.
    pub ends: String,
}

/// A memory instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessShape {
    /// Guest address of the instruction.
    pub pc: u64,
    /// How its addresses are treated.
    pub how: Access,
}

/// How the addresses of a memory instruction are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Inline: one scalar address for all lanes, so many bytes apart.
    Affine {
        /// Bytes between neighbouring lanes.
        stride: i64,
        /// Checked at run time against wrapping.
        guarded: bool,
    },
    /// Inline where all lanes act: one scalar address, and distances that are known of all lanes.
    Table,
    /// Inline as far as the elements of lanes follow one another, then a call.
    Runs,
    /// Inline where it is one of the wave's own scratch, else a call.
    Scratch,
    /// A call for the whole wave, which looks at the addresses.
    Call,
}
