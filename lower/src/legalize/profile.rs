//! Notes on the chosen shapes, which do not affect the code, and counters, which only code with
//! `Options::profile` has.

use std::collections::BTreeMap;
use std::mem::offset_of;

use super::interchange::Inner;
use super::{BlockFacts, Code, Emitter, offset32};
use crate::abi::Context;
use crate::analysis::parallel::Parallel;
use crate::analysis::schedule::{Schedule, Segment};
use crate::ir::{Block, Op};
use crate::options::Options;
use crate::profile::{
    Access, AccessShape, BlockShape, END_OF_BLOCK, InterchangedShape, Order, SegmentShape, Shape,
};
use crate::vir::{Memory, Value, types};

/// A shape in the making.
#[derive(Debug)]
pub struct Notes {
    shape: Shape,
    /// Does the code count?
    counting: bool,
    /// Pieces of host code, by source location minus one.
    pieces: Vec<Piece>,
}

/// Kind of a piece of host code.
#[derive(Clone, Copy, Debug)]
struct Piece {
    block: usize,
    part: Part,
}

/// A part of a block.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Code that runs once for the wave.
    Wave,
    /// The loop over lane groups of a segment.
    Segment { number: usize, unmasked: bool },
    /// The block as a loop inside the lane groups.
    Interchanged,
}

impl Notes {
    /// Notes for code with these options, if they request any.
    fn wanted(options: &Options) -> Option<Notes> {
        (options.shapes || options.profile).then(|| Notes {
            shape: Shape {
                blocks: Vec::new(),
                counters: Shape::FIRST,
            },
            counting: options.profile,
            pieces: Vec::new(),
        })
    }

    fn counter(&mut self) -> usize {
        self.shape.counters += 1;
        self.shape.counters - 1
    }

    /// The shape from the sizes of pieces of host code by source location.
    pub(crate) fn of_pieces(mut self, pieces: impl IntoIterator<Item = (u32, u32)>) -> Shape {
        for (loc, size) in pieces {
            let piece = (loc as usize).checked_sub(1);
            let Some(piece) = piece.and_then(|piece| self.pieces.get(piece)) else {
                continue;
            };
            let block = &mut self.shape.blocks[piece.block];
            let bytes = match piece.part {
                Part::Wave => Some(&mut block.bytes),
                Part::Segment { number, unmasked } => {
                    let segment = &mut block.segments[number];
                    Some(match unmasked {
                        true => &mut segment.unmasked_bytes,
                        false => &mut segment.masked_bytes,
                    })
                }
                Part::Interchanged => block.interchanged.as_mut().map(|form| &mut form.bytes),
            };
            if let Some(bytes) = bytes {
                *bytes += size;
            }
        }
        if !self.counting {
            self.shape.counters = Shape::FIRST;
        }
        self.shape
    }
}

impl Code<'_> {
    /// Adds 1 to a counter, in code with counters.
    fn add_one(&mut self, counter: usize) {
        if self.region.options().profile {
            let one = self.b.iconst(types::I64, 1);
            self.add_to(counter, one);
        }
    }

    /// Adds `n` (I64) to a counter, in code with counters.
    fn add_to(&mut self, counter: usize, n: Value) {
        let table = self.context(types::I64, offset_of!(Context, counters));
        let at = offset32(8 * counter);
        let old = self.b.load(types::I64, Memory::Trusted, table, at);
        let new = self.b.iadd(old, n);
        self.b.store(Memory::Trusted, new, table, at);
    }
}

/// Notes on the chosen shapes of a region while it is emitted, and the counters in its code.
pub(super) struct Profile {
    /// `None` unless the options request them.
    notes: Option<Notes>,
    /// By block: why the loop that it is in is no parallel region.
    refused: BTreeMap<usize, String>,
}

impl Profile {
    /// Notes on code with these options, if they request any.
    pub(super) fn new(options: &Options) -> Profile {
        Profile {
            notes: Notes::wanted(options),
            refused: BTreeMap::new(),
        }
    }

    /// Notes why loops are no parallel regions, by their blocks.
    pub(super) fn note_refused(&mut self, refused: impl Iterator<Item = (usize, String)>) {
        if self.notes.is_some() {
            self.refused = refused.collect();
        }
    }

    /// The notes.
    pub(super) fn into_notes(self) -> Option<Notes> {
        self.notes
    }

    /// At the beginning of a block.
    pub(super) fn begin_block(&mut self, code: &mut Code<'_>, facts: &BlockFacts, block: &Block) {
        if self.notes.is_none() {
            return;
        }
        let accesses = block.effects.iter().filter_map(|v| {
            let (Op::Load(_, _, site) | Op::Store(_, _, site) | Op::Atomic(.., site)) =
                block.nodes[v.index()].op
            else {
                return None;
            };
            let how = match facts.affine(*v) {
                Some(affine) => Access::Affine {
                    stride: affine.stride,
                    guarded: affine.guarded,
                },
                None if facts.table(*v).is_some() => Access::Table,
                None if facts.is_inline_scratch(&code.region, block, *v) => Access::Scratch,
                None if code.region.is_contiguous_form(block, *v) => Access::Runs {
                    each: code.region.can_gather(block, *v),
                },
                None if code.region.can_gather(block, *v) => Access::Each,
                None => Access::Call,
            };
            let pc = code.region.pc_of(site);
            Some(AccessShape { pc, how })
        });
        let accesses: Vec<AccessShape> = accesses.collect();
        let Some(notes) = &mut self.notes else { return };
        let refused = self.refused.remove(&notes.shape.blocks.len());
        let executions = notes.counter();
        let lanes = block.counts.iter();
        let lanes = lanes.map(|&(_, n)| (n, notes.counter())).collect();
        let outcomes = block.outcomes.iter();
        let outcomes = outcomes.map(|counted| (counted.pc, counted.outcome, notes.counter()));
        let outcomes = outcomes.collect();
        notes.shape.blocks.push(BlockShape {
            pc: block.pc,
            insts: block.guest_insts,
            executions,
            lanes,
            outcomes,
            accesses,
            refused,
            ..BlockShape::default()
        });
        self.piece(code, Part::Wave);
        code.add_one(executions);
    }

    /// Marks the code emitted from here on as a piece of the current block.
    fn piece(&mut self, code: &mut Code<'_>, part: Part) {
        if let Some(notes) = &mut self.notes {
            let block = notes.shape.blocks.len() - 1;
            notes.pieces.push(Piece { block, part });
            code.b.set_loc(notes.pieces.len() as u32);
        }
    }

    /// Before the second form of the loop that begins with the block just emitted.
    pub(super) fn begin_form(&mut self, code: &mut Code<'_>, form: &Inner) {
        let blocks = (form.group(), form.blocks());
        self.begin_interchanged(code, form.order(), blocks, form.is_full());
    }

    /// Before the parallel region that begins with the block just emitted.
    pub(super) fn begin_parallel(&mut self, code: &mut Code<'_>, plan: &Parallel) {
        let blocks = (plan.group, plan.blocks.as_slice());
        self.begin_interchanged(code, Order::Parallel, blocks, false);
    }

    fn begin_interchanged(
        &mut self,
        code: &mut Code<'_>,
        order: Order,
        (group, blocks): (usize, &[usize]),
        full: bool,
    ) {
        let Some(notes) = &mut self.notes else { return };
        let iterations = notes.counter();
        if let Some(shape) = notes.shape.blocks.last_mut() {
            shape.interchanged = Some(InterchangedShape {
                order,
                group: group as u8,
                blocks: blocks.to_vec(),
                full,
                iterations,
                bytes: 0,
            });
        }
        self.piece(code, Part::Interchanged);
    }

    /// After that loop, which ran `iterations` (I64) iterations with all lanes.
    pub(super) fn count_iterations(&mut self, code: &mut Code<'_>, iterations: Value) {
        let notes = self
            .notes
            .as_ref()
            .filter(|_| code.region.options().profile);
        let Some(shape) = notes.and_then(|notes| notes.shape.blocks.last()) else {
            return;
        };
        let counters: Vec<usize> = shape.lanes.iter().map(|&(_, counter)| counter).collect();
        let made = shape.interchanged.as_ref().map(|form| form.iterations);
        for counter in made.into_iter().chain([shape.executions]) {
            code.add_to(counter, iterations);
        }
        let lanes = code.b.ishl_imm(iterations, 6);
        for counter in counters {
            code.add_to(counter, lanes);
        }
    }

    /// Before the loops of a segment.
    pub(super) fn begin_segment(
        &mut self,
        code: &mut Code<'_>,
        block: &Block,
        plan: &Schedule,
        segment: &Segment,
        group: usize,
    ) {
        let masked_group = code.per() as u8;
        let Some(notes) = &mut self.notes else { return };
        let Some(shape) = notes.shape.blocks.last_mut() else {
            return;
        };
        shape.segments.push(SegmentShape {
            group: group as u8,
            masked_group,
            operations: segment.nodes.len(),
            stores: segment.stores.len(),
            ends: end(block, plan, segment),
            ..SegmentShape::default()
        });
    }

    /// Before a loop of the segment.
    pub(super) fn begin_loop(&mut self, code: &mut Code<'_>, unmasked: bool) {
        let Some(notes) = &mut self.notes else { return };
        let Some(shape) = notes.shape.blocks.last_mut() else {
            return;
        };
        let Some(last) = shape.segments.len().checked_sub(1) else {
            return;
        };
        if unmasked {
            shape.segments[last].unmasked = true;
        } else {
            let counter = notes.counter();
            notes
                .shape
                .blocks
                .last_mut()
                .expect("it was there")
                .segments[last]
                .masked = Some(counter);
            code.add_one(counter);
        }
        self.piece(
            code,
            Part::Segment {
                number: last,
                unmasked,
            },
        );
    }

    /// Behind a loop of a segment.
    pub(super) fn end_segment(&mut self, code: &mut Code<'_>) {
        self.piece(code, Part::Wave);
    }
}

impl Emitter<'_> {
    /// At the end of a block, where its masks are available.
    pub(super) fn profile_lanes(&mut self, block: &Block, plan: &Schedule) {
        let notes = self
            .profile
            .notes
            .as_ref()
            .filter(|_| self.code.region.options().profile);
        let Some(shape) = notes.and_then(|notes| notes.shape.blocks.last()) else {
            return;
        };
        let lanes = shape.lanes.iter().map(|&(_, counter)| counter);
        let outcomes = shape.outcomes.iter().map(|&(.., counter)| counter);
        let counters: Vec<usize> = lanes.chain(outcomes).collect();
        let execs = block.counts.iter().map(|&(exec, _)| exec);
        let masks = execs.chain(block.outcomes.iter().map(|counted| counted.bits));
        for (mask, counter) in masks.zip(counters) {
            let mask = self.scalar(block, plan, mask);
            let lanes = self.code.b.popcnt(mask);
            self.code.add_to(counter, lanes);
        }
    }
}

impl Inner {
    fn order(&self) -> Order {
        match self {
            Inner::Groups(plan) if plan.peel.is_some() => Order::Peeled,
            Inner::Groups(plan) => Order::Groups {
                unmasked: plan.unmasked.is_some(),
            },
            Inner::LaneSerial(_) => Order::LaneSerial,
        }
    }

    fn group(&self) -> usize {
        match self {
            Inner::Groups(plan) => plan.group,
            Inner::LaneSerial(_) => 1,
        }
    }

    fn is_full(&self) -> bool {
        match self {
            Inner::Groups(plan) => plan.full,
            Inner::LaneSerial(_) => false,
        }
    }
}

/// The operation that ends a segment.
fn end(block: &Block, plan: &Schedule, segment: &Segment) -> String {
    let at = plan.segments.iter().position(|s| std::ptr::eq(s, segment));
    let Some(at) = at else {
        return "loop".to_owned();
    };
    let gap = plan.gaps.get(at + 1);
    if let Some(&v) = gap.and_then(|gap| gap.first()) {
        return block.nodes[v.index()].op.in_words();
    }
    if !segment.ballots.is_empty() {
        return "scalar code reads a mask".to_owned();
    }
    if at + 1 == plan.segments.len() {
        return END_OF_BLOCK.to_owned();
    }
    "scalar code".to_owned()
}
