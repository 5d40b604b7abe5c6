//! Joins a timed run and a counting run: the first measures the code of engines that do not
//! profile, the second what the guest did.

use lower::profile::{Access, BlockShape, InterchangedShape, Order, Shape};

use super::RegionProfile;

/// A region in a timed run and in a counting run of the same dispatches. If the guest is
/// nondeterministic (depends on which workgroup comes first, for instance) it may have run in one
/// of them only.
pub enum Joined<'a> {
    /// It ran only in the run that was timed.
    Timed(&'a RegionProfile),
    /// It ran only in the run that counted.
    Counted(&'a RegionProfile),
    /// It ran in both.
    Both {
        /// In the run that was timed.
        timed: &'a RegionProfile,
        /// In the run that counted.
        counted: &'a RegionProfile,
    },
}

impl<'a> Joined<'a> {
    /// The region of the runs that it occurred in; `None` if there are none.
    pub fn new(
        timed: Option<&'a RegionProfile>,
        counted: Option<&'a RegionProfile>,
    ) -> Option<Joined<'a>> {
        Some(match (timed, counted) {
            (Some(timed), Some(counted)) => Joined::Both { timed, counted },
            (Some(timed), None) => Joined::Timed(timed),
            (None, Some(counted)) => Joined::Counted(counted),
            (None, None) => return None,
        })
    }

    /// Its code: host bytes and emitter are those of the code that was timed, if it was.
    pub fn code(&self) -> &'a RegionProfile {
        match *self {
            Joined::Timed(code) | Joined::Counted(code) | Joined::Both { timed: code, .. } => code,
        }
    }

    /// Seconds spent in it, calls of the runtime included; 0 unless it was timed.
    pub fn seconds(&self) -> f64 {
        match *self {
            Joined::Timed(timed) | Joined::Both { timed, .. } => timed.seconds(),
            Joined::Counted(_) => 0.0,
        }
    }

    /// Its blocks; none unless it was counted.
    pub fn blocks(&self) -> Vec<BlockProfile<'a>> {
        let shapes = |region: &'a RegionProfile| {
            let shape: Option<&'a Shape> = region.shape();
            shape.map_or(&[][..], |shape| &shape.blocks)
        };
        let counts = match *self {
            Joined::Timed(_) => return Vec::new(),
            Joined::Counted(counted) | Joined::Both { counted, .. } => counted,
        };
        // Both come from the same lane IR, block by block.
        let pairs = shapes(self.code()).iter().zip(shapes(counts));
        let mut blocks: Vec<_> = pairs
            .map(|(shape, counted)| BlockProfile {
                shape,
                counted,
                counts,
                part: None,
            })
            .collect();
        for head in 0..blocks.len() {
            let Some(part) = Part::of(&blocks, head) else {
                continue;
            };
            for &block in &part.form.blocks {
                let Some(block) = blocks.get_mut(block) else {
                    continue;
                };
                // Of loops in one another the outer one makes all iterations.
                let inner = |old: &Part<'_>| old.form.blocks.len() < part.form.blocks.len();
                if block.part.as_ref().is_none_or(inner) {
                    block.part = Some(part);
                }
            }
        }
        blocks
    }
}

/// A loop's second form, as a block that is a part of it sees it.
#[derive(Clone, Copy)]
struct Part<'a> {
    form: &'a InterchangedShape,
    /// Guest address of the loop.
    pc: u64,
    /// Iterations in this form, if counted.
    iterations: Option<u64>,
    /// Guest instructions of its blocks.
    insts: u32,
    /// Lanes active in its vector instructions, in the mean.
    lanes: f64,
}

impl<'a> Part<'a> {
    /// Of the loop that begins at a block.
    fn of(blocks: &[BlockProfile<'a>], head: usize) -> Option<Part<'a>> {
        let first = &blocks[head];
        let form = first.shape.interchanged.as_ref()?;
        let counted = first.counted.interchanged.as_ref();
        let members = form.blocks.iter().filter_map(|&block| blocks.get(block));
        let insts = members.clone().map(|block| block.shape.insts).sum();
        let sums = members.map(BlockProfile::lane_sums);
        let (lanes, runs) = sums.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        Some(Part {
            form,
            pc: first.pc(),
            iterations: counted.map(|counted| first.counts.count(counted.iterations)),
            insts,
            lanes: if runs == 0 {
                64.0
            } else {
                lanes as f64 / runs as f64
            },
        })
    }
}

/// A block of a region.
pub struct BlockProfile<'a> {
    /// Its chosen shape, with addresses in the load of this run.
    pub shape: &'a BlockShape,
    /// The same block in the code that counted.
    counted: &'a BlockShape,
    counts: &'a RegionProfile,
    /// The loop that it is a part of, if that has a second form.
    part: Option<Part<'a>>,
}

impl BlockProfile<'_> {
    /// Guest address of its first instruction, in the load that the counts are from.
    pub fn pc(&self) -> u64 {
        self.counted.pc
    }

    /// Its memory instructions, in that load, and how their addresses are treated.
    pub fn accesses(&self) -> impl Iterator<Item = (u64, Access)> {
        let how = self.shape.accesses.iter().map(|access| access.how);
        let pcs = self.counted.accesses.iter().map(|access| access.pc);
        pcs.zip(how)
    }

    /// Executions by waves.
    pub fn executions(&self) -> u64 {
        self.counts.count(self.counted.executions)
    }

    /// Runs of vector instructions under one EXEC, in order: how many, and the sum of their active lanes
    /// over all executions.
    pub fn lanes(&self) -> impl Iterator<Item = (u32, u64)> {
        let runs = self.counted.lanes.iter();
        runs.map(|&(n, counter)| (n, self.counts.count(counter)))
    }

    /// Active lanes summed up over all executions of its vector instructions, and the number of those.
    fn lane_sums(&self) -> (u64, u64) {
        let runs = self.lanes().fold((0, 0), |(n, sum), (insts, lanes)| {
            (n + u64::from(insts), sum + u64::from(insts) * lanes)
        });
        (runs.1, runs.0 * self.executions())
    }

    /// Lanes active in its vector instructions, in the mean; `None` where none ran.
    pub fn mean_lanes(&self) -> Option<f64> {
        let (lanes, runs) = self.lane_sums();
        (runs != 0).then(|| lanes as f64 / runs as f64)
    }

    /// Guest address of the loop of whose second form it is a part, in the load of the counts.
    pub fn part_of(&self) -> Option<u64> {
        self.part.map(|part| part.pc)
    }

    /// In which order lanes make their iterations in that form.
    pub fn order(&self) -> Option<Order> {
        self.part.map(|part| part.form.order)
    }

    /// How many of the executions were iterations of that form, where that could be counted.
    pub fn iterations(&self) -> Option<u64> {
        self.part.and_then(|part| part.iterations)
    }

    /// How often the masked loop of a segment ran, by its index. The counting run may use it for
    /// iterations that the timed run does in the second form of a loop.
    pub fn masked(&self, segment: usize) -> u64 {
        let counter = self.counted.segments.get(segment).and_then(|s| s.masked);
        counter.map_or(0, |counter| self.counts.count(counter))
    }

    /// Executions that were iterations of the second form; as many as it may have made, where they could not be counted.
    fn inside(&self) -> u64 {
        let Some(part) = self.part else { return 0 };
        part.iterations.unwrap_or_else(|| {
            let masked = (0..self.shape.segments.len()).map(|segment| self.masked(segment));
            let masked = masked.max().filter(|_| part.form.full).unwrap_or(0);
            self.executions().saturating_sub(masked)
        })
    }

    /// Host bytes that the executions ran: the weight for distributing a region's time. Those of a
    /// loop's second form are spread evenly over the guest instructions of its blocks.
    pub fn weight(&self) -> f64 {
        let inside = self.inside();
        let outside = self.executions().saturating_sub(inside);
        let rounds = |group: u8| 64.0 / f64::from(group.max(1));
        let loops = self.shape.segments.iter().enumerate().map(|(i, segment)| {
            let masked = self.masked(i).min(outside);
            let unmasked = (outside - masked) as f64;
            unmasked * f64::from(segment.unmasked_bytes) * rounds(segment.group)
                + masked as f64 * f64::from(segment.masked_bytes) * rounds(segment.masked_group)
        });
        let form = self.part.map_or(0.0, |part| {
            let bytes = f64::from(part.form.bytes) * f64::from(self.shape.insts)
                / f64::from(part.insts.max(1));
            let rounds = match part.form.order {
                Order::LaneSerial => part.lanes,
                Order::Groups { .. } | Order::Peeled | Order::Parallel => rounds(part.form.group),
            };
            inside as f64 * bytes * rounds
        });
        outside as f64 * f64::from(self.shape.bytes) + loops.sum::<f64>() + form
    }
}
