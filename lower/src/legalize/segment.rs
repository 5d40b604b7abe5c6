//! One segment: a loop over lane groups, in an unmasked and a masked version.

use super::body::Body;
use super::evaluate::{Frame, Shape, evaluate};
use super::fuse::Fusion;
use super::lanes::{Lanes, Selectors, dwords_type};
use super::offsets::ActiveGroups;
use super::scalar::Scalars;
use super::{Code, Emitter, frame_offset, home_offset};
use crate::analysis::schedule::{Class, Place, Schedule, Segment};
use crate::ir::functions::LaneFn;
use crate::ir::{Block, Node, Op, Val, Vary, Width};
use crate::maps::HashMap;
use crate::options::Forms;
use crate::vir::{Block as HostBlock, IntCC, Memory, Value, Variable, types};
use shape::{is_empty, skippable};

pub(super) mod confined;
mod neutral;
mod selectors;
mod shape;

/// A segment and the context of its loops.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) block: &'a Block,
    pub(super) plan: &'a Schedule,
    pub(super) segment: &'a Segment,
    /// Variables for the bits of its masks.
    pub(super) bits: &'a [(Val, Variable)],
    /// The values of EXEC under which it merges.
    pub(super) execs: &'a [Value],
    /// See [`Body::selectors`].
    pub(super) selectors: &'a HashMap<Val, Selectors>,
    /// Lanes in a group of its unmasked loops.
    pub(super) group: usize,
}

/// The width of an operation; see [`super::evaluate::operation`].
fn width_of(block: &Block, node: &Node) -> Width {
    match (node.op, node.args.first()) {
        (Op::Select, _) | (_, None) => node.ty.width,
        (_, Some(a)) => block.nodes[a.index()].ty.width,
    }
}

/// Values of the wave.
struct Wave<'a>(&'a Block, &'a Schedule);

impl Frame for Wave<'_> {
    fn code(&self) -> (&Block, &Schedule) {
        (self.0, self.1)
    }

    fn kept<'k>(&'k mut self, e: &'k mut Emitter<'_>) -> Option<&'k mut HashMap<Val, Value>> {
        Some(e.values.scalars_mut())
    }

    fn is_of_wave(&self, _: Val) -> bool {
        false
    }

    fn leaf(&mut self, e: &mut Emitter<'_>, v: Val) -> Option<Value> {
        let node = &self.0.nodes[v.index()];
        match (node.op, node.ty.width) {
            (Op::Pair, _) => e.register_pair(self.0, v),
            (Op::ReadS(slot), _) => Some(e.boundary.slot(&mut e.code, slot)),
            (Op::Const(n), Width::W32) if e.code.region.options().baseline => {
                Some(e.code.integer(types::I32, i64::from(n as u32)))
            }
            (Op::Const(n), Width::W64) if e.code.region.options().baseline => {
                Some(e.code.integer(types::I64, n as i64))
            }
            (Op::CodeAddress(pc), _) => Some(e.code.address(pc)),
            (Op::Settled(what), _) => Some(e.code.settled(what)),
            (Op::Ballot, _) => Some(e.mask_bits(self.0, self.1, node.args[0])),
            _ => None,
        }
    }
}

impl<'f> Code<'f> {
    /// A node on one value of each argument.
    pub(super) fn wave_op(&mut self, block: &Block, v: Val, args: &[Value]) -> Value {
        let node = &block.nodes[v.index()];
        self.scalar_op(node.op, width_of(block, node), args)
    }

    /// An operation on scalars.
    pub(super) fn scalar_op(&mut self, op: Op, width: Width, args: &[Value]) -> Value {
        let args: Vec<&Value> = args.iter().collect();
        let (b, exact_nan) = (&mut self.b, self.region.options().exact_nan);
        Scalars { b, exact_nan }.op(op, width, &args)
    }

    pub(super) fn lanes(&mut self, body: &Body) -> Lanes<'_, 'f> {
        self.of_lanes(body.slices, self.per())
    }

    fn spill(&mut self, body: &Body, width: Width, slot: u32, value: &Vec<Value>) {
        if width == Width::W64 {
            let lo = self.lanes(body).word(false, value);
            let hi = self.lanes(body).word(true, value);
            self.spill(body, Width::W32, slot, &lo);
            self.spill(body, Width::W32, slot + 1, &hi);
            return;
        }
        for (j, &x) in value.iter().enumerate() {
            let at = frame_offset(slot) + (4 * self.per() * j) as i32;
            self.b.store(Memory::Trusted, x, body.frame, at);
        }
    }

    /// The group's part of a value in memory.
    pub(super) fn reload(&mut self, body: &Body, place: Place) -> Vec<Value> {
        let (base, offset) = match place {
            Place::Home(n) => (body.wave, home_offset(n)),
            Place::Frame(slot) => (body.frame, frame_offset(slot)),
        };
        let (ty, bytes) = (dwords_type(self.per()), 4 * self.per());
        (0..body.slices)
            .map(|j| {
                let at = offset + (bytes * j) as i32;
                self.b.load(ty, Memory::Trusted, base, at)
            })
            .collect()
    }

    /// The group's part of 64 mask bits as masks.
    pub(super) fn expand(&mut self, body: &Body, bits: Value) -> Vec<Value> {
        let here = self.b.ushr(bits, body.lane);
        self.lanes(body).expand_mask(here)
    }
}

impl<'f> Emitter<'f> {
    /// A wave value, computed at the current position unless it is available.
    pub(super) fn scalar(&mut self, block: &Block, plan: &Schedule, v: Val) -> Value {
        evaluate(self, &mut Wave(block, plan), v)
    }

    /// The 64 bits of a lane mask as a wave value.
    pub(super) fn mask_bits(&mut self, block: &Block, plan: &Schedule, v: Val) -> Value {
        let node = &block.nodes[v.index()];
        match node.op {
            Op::MaskFromBits | Op::ExecMask => self.scalar(block, plan, node.args[0]),
            _ if node.ty.vary == Vary::Wave => {
                let one = self.scalar(block, plan, v);
                let wide = self.code.b.uextend(types::I64, one);
                self.code.b.ineg(wide)
            }
            _ => self.values.mask_bits(v),
        }
    }

    /// Emits a segment; `loads` are right before it and `stores` right after it, and may be fused
    /// with it.
    pub(super) fn segment(
        &mut self,
        block: &Block,
        plan: &Schedule,
        segment: &Segment,
        loads: &[Val],
        stores: &[Val],
    ) {
        if is_empty(segment) && stores.is_empty() {
            for &load in loads {
                self.whole(block, plan, load);
            }
            return;
        }
        let execs = self.prepare(block, plan, segment);
        let selectors = self.selectors(block, plan, segment);
        let bits: Vec<(Val, Variable)> = segment
            .ballots
            .iter()
            .map(|&v| {
                let var = self.code.variable(types::I64);
                let zero = self.code.integer(types::I64, 0);
                self.code.b.def_var(var, zero);
                (v, var)
            })
            .collect();
        let after = self.code.b.create_block();
        let group = self
            .facts
            .group_of(&self.code.region, block, segment, loads);
        self.profile
            .begin_segment(&mut self.code, block, plan, segment, group);
        let work = Work {
            block,
            plan,
            segment,
            bits: &bits,
            execs: &execs,
            selectors: &selectors,
            group,
        };
        if loads.is_empty() && stores.is_empty() {
            self.by_affine(work, after);
            self.loops(work, after);
        } else {
            let mut all = execs.clone();
            let (mut fusion, mut good) = self.fuse(block, plan, segment, (loads, stores), &mut all);
            let lines = self.fused_affine(Work {
                execs: &all,
                ..work
            });
            match &lines {
                Some(known) => good.extend(&known.good),
                None => {
                    for exec in all {
                        good.push(self.code.b.icmp_imm(IntCC::Equal, exec, -1));
                    }
                }
            }
            let other = self.code.b.create_block();
            for (mostly, else_good) in std::mem::take(&mut fusion.either) {
                self.code.require_either(other, mostly, else_good);
            }
            for good in good {
                self.code.require(other, good);
            }
            // Values computed on the other path are not available after it.
            let scalars = self.values.scalars().clone();
            let singles = self.singles.clone();
            self.predict_all(&mut fusion);
            self.fusion = fusion;
            match &lines {
                Some(known) => self.rest_of(work, known, after),
                None => self.full(work, after),
            }
            self.fusion = Fusion::default();
            self.code.enter(other);
            self.profile.end_segment(&mut self.code);
            self.code.set_out_of_line(true);
            let prefetches = self.prefetches.suspend();
            self.one_by_one(work, (loads, stores), after);
            self.code.set_out_of_line(false);
            self.prefetches.resume(prefetches);
            self.values.set_scalars(scalars);
            self.singles = singles;
        }
        self.code.enter(after);
        self.profile.end_segment(&mut self.code);
        for (v, var) in bits {
            let value = self.code.b.use_var(var);
            self.values.insert_mask_bits(v, value);
        }
    }

    /// The loads, the segment and the stores one after the other.
    fn one_by_one(&mut self, w: Work<'_>, (loads, stores): (&[Val], &[Val]), after: HostBlock) {
        for &load in loads {
            self.whole(w.block, w.plan, load);
        }
        let behind = self.code.b.create_block();
        if is_empty(w.segment) {
            self.code.b.jump(behind, &[]);
        } else if loads.is_empty() {
            self.loops(w, behind);
        } else if w.execs.is_empty() {
            self.lane_loop(w, true, None, behind);
        } else {
            self.masked(w, behind);
        }
        self.code.enter(behind);
        self.profile.end_segment(&mut self.code);
        for &store in stores {
            self.whole(w.block, w.plan, store);
        }
        self.code.b.jump(after, &[]);
    }

    /// The loops of a segment that takes all values from registers and slots.
    fn loops(&mut self, w: Work<'_>, after: HostBlock) {
        if w.execs.is_empty() {
            self.full(w, after);
            return;
        }
        if self.code.region.options().is_masked_alone() {
            self.masked(w, after);
            return;
        }
        let mut all = w.execs[0];
        for &e in &w.execs[1..] {
            all = self.code.b.band(all, e);
        }
        let masked = self.code.b.create_block();
        if self.code.region.options().has(Forms::UNMASKED) {
            let full = self.code.b.create_block();
            let ones = self.code.b.icmp_imm(IntCC::Equal, all, -1);
            self.code.b.brif(ones, full, &[], masked, &[]);
            self.code.enter(full);
            self.full(w, after);
        } else {
            self.code.b.jump(masked, &[]);
        }
        self.code.enter(masked);
        self.masked(w, after);
    }

    /// The loop of a segment for EXEC all ones.
    pub(super) fn full(&mut self, w: Work<'_>, after: HostBlock) {
        self.profile.begin_loop(&mut self.code, true);
        self.lane_loop(w, true, None, after);
    }

    /// The masked loop of a segment.
    fn masked(&mut self, w: Work<'_>, after: HostBlock) {
        let leaves = self.facts.all_leaves();
        let skips = !self.code.region.options().is_brief(w.segment)
            && skippable(w.block, w.plan, leaves, w.segment, &mut self.confinement);
        let group = self.code.per();
        // What follows runs once.
        self.profile.end_segment(&mut self.code);
        let skip = skips.then(|| {
            let mut any = w.execs[0];
            for &e in &w.execs[1..] {
                any = self.code.b.bor(any, e);
            }
            self.code.active_groups(any, group)
        });
        self.profile.begin_loop(&mut self.code, false);
        self.lane_loop(Work { group, ..w }, false, skip, after);
    }

    /// Computes the wave values that the segment uses, before its loops; returns its EXEC values.
    fn prepare(&mut self, block: &Block, plan: &Schedule, segment: &Segment) -> Vec<Value> {
        let mut execs = Vec::new();
        let mut uses: Vec<Val> = Vec::new();
        for &v in &segment.nodes {
            uses.extend(block.nodes[v.index()].args.iter());
        }
        uses.extend(segment.stores.iter().map(|&(_, v)| v));
        for v in uses {
            let node = &block.nodes[v.index()];
            if plan.class[v.index()] == Class::Leaf
                && matches!(node.op, Op::MaskFromBits | Op::ExecMask)
            {
                let e = self.scalar(block, plan, node.args[0]);
                if node.op == Op::ExecMask && !execs.contains(&e) {
                    execs.push(e);
                }
            } else if node.ty.vary == Vary::Wave {
                self.scalar(block, plan, v);
            }
        }
        execs
    }

    /// Emits a loop over the lane groups; if `skip` has bits (see [`Code::active_groups`]), over those only.
    pub(super) fn lane_loop(
        &mut self,
        w: Work<'_>,
        full: bool,
        skip: Option<Value>,
        after: HostBlock,
    ) {
        let Work {
            block,
            plan,
            segment,
            bits,
            group,
            ..
        } = w;
        let requests = match full && !self.code.is_out_of_line() {
            true => self.prefetches.share(&mut self.code, group),
            false => Vec::new(),
        };
        let active = skip.map(|groups| self.code.begin_active(groups, after));
        let two = self.code.integer(types::I64, 2);
        let (header, offset, lane) = match active {
            Some(ActiveGroups { head, lane, .. }) => (head, self.code.b.ishl(lane, two), lane),
            None => {
                let (header, offset) = self.code.begin_offsets();
                (header, offset, self.code.b.ushr(offset, two))
            }
        };
        self.code.request_at(&requests, lane, group);
        let wave = self.code.b.iadd(self.code.region.wave(), offset);
        // A segment without slots does not access the frame.
        let frame = match plan.slots {
            0 if self.code.region.options().baseline => self.code.region.frame(),
            _ => self.code.b.iadd(self.code.region.frame(), offset),
        };
        let mut body = Body {
            slices: group / self.code.per(),
            full,
            lane,
            wave,
            frame,
            values: HashMap::with_capacity_and_hasher(2 * segment.nodes.len(), Default::default()),
            words: HashMap::default(),
            any: HashMap::default(),
            selectors: w.selectors.clone(),
            at: Vec::new(),
        };
        for &v in &segment.nodes {
            let value = self.lane_node(block, plan, &mut body, v);
            body.values.insert(v, value);
        }
        // All old values are read before any home is written.
        for &(_, v) in &segment.stores {
            self.have(block, plan, &mut body, v);
        }
        let kept: Vec<(Place, Vec<Value>)> = self
            .fusion
            .keep()
            .into_iter()
            .map(|(v, place)| (place, self.lane_value(block, plan, &mut body, v)))
            .collect();
        for (place, value) in kept {
            let (base, offset) = self.boundary.place_to_write(&body, place);
            for (j, x) in value.into_iter().enumerate() {
                let at = offset + (4 * self.code.per() * j) as i32;
                self.code.b.store(Memory::Trusted, x, base, at);
            }
        }
        self.fused_stores(block, plan, &mut body);
        for &(v, slot) in &segment.spills {
            if self.fusion.is_private(v) {
                continue;
            }
            let value = body.values[&v].clone();
            self.code
                .spill(&body, block.nodes[v.index()].ty.width, slot, &value);
        }
        for &(n, v) in &segment.stores {
            let place = Place::of_register(n);
            let (base, offset) = self.boundary.place_to_write(&body, place);
            for (j, &x) in body.values[&v].iter().enumerate() {
                let at = offset + (4 * self.code.per() * j) as i32;
                self.code.b.store(Memory::Trusted, x, base, at);
            }
        }
        for &(v, var) in bits {
            let mask = body.values[&v].clone();
            let collected = self.code.lanes(&body).collect_mask(&mask);
            let placed = self.code.b.ishl(collected, lane);
            let old = self.code.b.use_var(var);
            let new = self.code.b.bor(old, placed);
            self.code.b.def_var(var, new);
        }
        match active {
            Some(groups) => self.code.end_active(groups, after),
            None => self.code.end_offsets((header, offset), 4 * group, after),
        }
        self.code.seal(header);
    }

    /// A value as the group's lanes, from its location.
    pub(super) fn lane_value(
        &mut self,
        block: &Block,
        plan: &Schedule,
        body: &mut Body,
        v: Val,
    ) -> Vec<Value> {
        self.have(block, plan, body, v);
        body.values[&v].clone()
    }

    /// Makes a value one of the group's, unless it is available.
    fn have(&mut self, block: &Block, plan: &Schedule, body: &mut Body, v: Val) {
        if body.values.contains_key(&v) || self.have_fused(block, plan, body, v) {
            return;
        }
        let node = &block.nodes[v.index()];
        let value = match (plan.class[v.index()], node.op) {
            (_, Op::ReadV(n)) => self.code.reload(body, Place::Home(n)),
            (_, Op::LaneId) => {
                let lane = self.code.b.ireduce(types::I32, body.lane);
                self.code.lanes(body).lane_ids(lane)
            }
            (_, Op::ExecMask) if body.full => self.code.lanes(body).all_true(),
            (Class::Leaf, Op::MaskFromBits | Op::ExecMask) => {
                let bits = self.scalar(block, plan, node.args[0]);
                self.code.expand(body, bits)
            }
            (Class::Lane, _) if node.ty.width == Width::W1 => {
                let bits = self.values.mask_bits(v);
                self.code.expand(body, bits)
            }
            (Class::Scalar, Op::Const(c)) if node.ty.width != Width::W1 => {
                self.code.lanes(body).const_lanes(node.ty.width, c)
            }
            (Class::Scalar, _) => {
                let s = self.scalar(block, plan, v);
                self.code.lanes(body).splat(node.ty.width, s)
            }
            (Class::Whole, _) if node.ty.vary == Vary::Wave => {
                let s = self.scalar(block, plan, v);
                self.code.lanes(body).splat(node.ty.width, s)
            }
            _ => {
                let place = plan.place[v.index()]
                    .unwrap_or_else(|| panic!("bug: %{} has no place: {node:?}", v.0));
                match (node.ty.width, place) {
                    (Width::W64, Place::Frame(slot)) => {
                        let lo = self.code.reload(body, Place::Frame(slot));
                        let hi = self.code.reload(body, Place::Frame(slot + 1));
                        self.code.lanes(body).pair([&lo, &hi])
                    }
                    _ => self.code.reload(body, place),
                }
            }
        };
        body.values.insert(v, value);
    }

    pub(super) fn lane_node(
        &mut self,
        block: &Block,
        plan: &Schedule,
        body: &mut Body,
        v: Val,
    ) -> Vec<Value> {
        let node: &Node = &block.nodes[v.index()];
        let is_exec = |a: Val| block.nodes[a.index()].op == Op::ExecMask;
        if block.is_free_merge(node) {
            return self.lane_value(block, plan, body, node.args[1]);
        }
        // Trivial if EXEC is all ones.
        if body.full {
            match node.op {
                Op::Select if is_exec(node.args[0]) => {
                    return self.lane_value(block, plan, body, node.args[1]);
                }
                Op::And if is_exec(node.args[0]) => {
                    return self.lane_value(block, plan, body, node.args[1]);
                }
                Op::And if is_exec(node.args[1]) => {
                    return self.lane_value(block, plan, body, node.args[0]);
                }
                _ => {}
            }
        }
        let arg = |i: usize| node.args[i];
        let is_wave = |a: Val| block.nodes[a.index()].ty.vary == Vary::Wave;
        let constant = |a: Val| match block.nodes[a.index()].op {
            Op::Const(c) => Some(c),
            _ => None,
        };
        match node.op {
            Op::Shl | Op::Lshr | Op::Ashr if is_wave(arg(1)) => {
                let a = self.lane_value(block, plan, body, arg(0));
                let amount = self.scalar(block, plan, arg(1));
                return self.code.lanes(body).shift_by_wave(node.op, &a, amount);
            }
            Op::AlignBit if is_wave(arg(2)) => {
                let hi = self.lane_value(block, plan, body, arg(0));
                let lo = self.lane_value(block, plan, body, arg(1));
                return match constant(arg(2)).map(|c| c as u32 & 31) {
                    Some(0) => lo,
                    Some(n) => self.code.lanes(body).align_by_const(&hi, &lo, n),
                    None => {
                        let amount = self.scalar(block, plan, arg(2));
                        self.code.lanes(body).align_by_wave(&hi, &lo, amount)
                    }
                };
            }
            Op::Perm => {
                if let Some(selector) = selectors::without_signs(block, arg(2)) {
                    let s0 = self.lane_value(block, plan, body, arg(0));
                    let s1 = self.lane_value(block, plan, body, arg(1));
                    return self.code.lanes(body).perm_by_const(&s0, &s1, selector);
                }
                if let Some(value) = self.perm_by_wave(block, plan, body, v) {
                    return value;
                }
            }
            Op::Call(LaneFn::Perm, _) => {
                if let Some(value) = self.perm_by_wave(block, plan, body, v) {
                    return value;
                }
            }
            Op::FMul(..) | Op::FSub(..) => {
                if let Some(value) = self.around_neutral(block, plan, body, node) {
                    return value;
                }
            }
            Op::Result(n) => return body.words[&arg(0)][usize::from(n) - 1].clone(),
            _ => {}
        }
        for &a in node.args.iter() {
            self.have(block, plan, body, a);
        }
        let args: Vec<&Vec<Value>> = node.args.iter().map(|a| &body.values[a]).collect();
        if let Op::Call(f, _) = node.op {
            let args: Vec<&[Value]> = args.into_iter().map(Vec::as_slice).collect();
            let mut words = self.code.lanes(body).function(f, &args);
            body.words.insert(v, words.split_off(1));
            return words.swap_remove(0);
        }
        self.code
            .lanes(body)
            .op(node.op, width_of(block, node), &args)
    }
}
