//! Cuts a block into segments. A segment is one loop over lane groups; between segments are the
//! operations that see all lanes at once: ballots, calls, memory. Every lane value gets a time: the
//! earliest segment in which its arguments are available, so independent work shares a loop
//! regardless of its position in the program. Values that outlive their segment get a slot in the
//! frame, masks a 64-bit scalar; VGPRs are stored once their old value is dead.

use crate::analysis::liveness::{self, Live};
use crate::host::Host;
use crate::ir::matrix::{LANE_REGISTERS, STAGED};
use crate::ir::{Block, Node, Op, Val, Vary, Width};
use crate::maps::{HashMap, HashSet};

/// Class of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A wave value computed by scalar code.
    Scalar,
    /// A lane value that is free to rematerialize: a register's home, the lane's number, a mask's
    /// bits.
    Leaf,
    /// A lane value computed inside a segment.
    Lane,
    /// A node that sees the whole wave: between segments. Its lane results are in memory.
    Whole,
}

/// Location of a lane value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The VGPR's home in the wave.
    Home(u16),
    /// A slot of the frame (W64: this one and the next).
    Frame(u32),
}

impl Place {
    /// Where a vector register or a staging register is between blocks.
    pub fn of_register(n: u16) -> Place {
        match n.checked_sub(STAGED) {
            None => Place::Home(n),
            Some(staged) => Place::Frame(staged.into()),
        }
    }
}

/// One loop over lane groups.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Lane nodes to compute, in order.
    pub nodes: Vec<Val>,
    /// VGPRs and staging registers stored at the end of each group.
    pub stores: Vec<(u16, Val)>,
    /// Lane values stored to frame slots.
    pub spills: Vec<(Val, u32)>,
    /// Masks of which the 64 bits are collected.
    pub ballots: Vec<Val>,
}

/// The schedule of one block: `segments[t]` is followed by `between[t + 1]`; `between[0]` comes
/// first.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// Which nodes are live.
    pub needed: Vec<bool>,
    /// Class of each node.
    pub class: Vec<Class>,
    /// Time of each node: the segment of lane values, the gap after it for others (-1: the gap
    /// before the first segment).
    pub time: Vec<i32>,
    /// Locations of values that outlive their segment and of results of whole-wave nodes.
    pub place: Vec<Option<Place>>,
    /// Segments in order.
    pub segments: Vec<Segment>,
    /// Whole-wave nodes in each gap, in order.
    pub gaps: Vec<Vec<Val>>,
    /// Frame slots used.
    pub slots: u32,
}

/// Does a node call a function that is computed inside segments, in `wide` or 128-bit vectors?
pub(crate) fn is_inline(node: &Node, wide: bool) -> bool {
    match node.op {
        Op::Call(f, mode) => wide && f.is_inline(mode),
        _ => false,
    }
}

/// Is an address made of registers by arithmetic alone? Where it was loaded just before, lanes seldom are in order.
pub(crate) fn is_computed(block: &Block, address: Val) -> bool {
    is_made_without(block, address, |node| {
        let from_memory = matches!(node.op, Op::Load(..) | Op::Atomic(..) | Op::Effect { .. });
        from_memory && node.ty.vary != Vary::Wave
    })
}

/// Is a value made without any such node?
pub(crate) fn is_made_without(block: &Block, v: Val, such: impl Fn(&Node) -> bool) -> bool {
    let mut seen = HashSet::default();
    let mut work = vec![v];
    while let Some(v) = work.pop() {
        let node = &block.nodes[v.index()];
        if such(node) {
            return false;
        }
        if seen.insert(v) {
            work.extend(node.args.iter());
        }
    }
    true
}

/// Class of a node on a host.
pub(crate) fn classify(node: &Node, host: Host) -> Class {
    let lane = node.ty.vary != Vary::Wave;
    match node.op {
        Op::Call(..) if lane && is_inline(node, host.is_wide()) => Class::Lane,
        Op::Call(..)
        | Op::Load(..)
        | Op::Store(..)
        | Op::Atomic(..)
        | Op::ScalarLoad(..)
        | Op::Effect { .. }
        | Op::LaneAt => Class::Whole,
        Op::Result(_) if lane => Class::Leaf,
        Op::ReadV(_) | Op::LaneId | Op::MaskFromBits | Op::ExecMask => Class::Leaf,
        _ if !lane => Class::Scalar,
        _ => Class::Lane,
    }
}

impl Schedule {
    /// The schedule of a block emitted as one piece, where values have no locations.
    pub(crate) fn unplaced(block: &Block, host: Host) -> Schedule {
        Schedule {
            class: classes(block, host),
            place: vec![None; block.nodes.len()],
            ..Schedule::default()
        }
    }
}

/// The classes of a block's nodes. A further result of a function that is computed inside segments
/// has its class.
fn classes(block: &Block, host: Host) -> Vec<Class> {
    let nodes = block.nodes.iter();
    let class = |node: &Node| match node.op {
        Op::Result(_) if is_inline(&block.nodes[node.args[0].index()], host.is_wide()) => {
            Class::Lane
        }
        _ => classify(node, host),
    };
    nodes.map(class).collect()
}

/// For memory nodes whose addresses are computed for single lanes: the leaves of the address.
pub type Leaves = HashMap<Val, Vec<Val>>;

/// Visits the operands of node `i`. A whole-wave node takes a 64-bit lane value that is joined from
/// words as those words, so that registers are passed without a copy.
pub fn each_operand(
    block: &Block,
    class: &[Class],
    affine: &Leaves,
    i: usize,
    mut take: impl FnMut(Val),
) {
    let node = &block.nodes[i];
    if block.is_free_merge(node) {
        take(node.args[1]);
        return;
    }
    if class[i] != Class::Whole {
        node.args.iter().copied().for_each(take);
        return;
    }
    if let Some(leaves) = affine.get(&Val(i as u32)) {
        leaves.iter().copied().for_each(&mut take);
        node.args[1..].iter().copied().for_each(&mut take);
    } else {
        for &a in node.args.iter() {
            let arg = &block.nodes[a.index()];
            match arg.op {
                Op::Pair | Op::Zext if arg.ty.vary != Vary::Wave => {
                    arg.args.iter().copied().for_each(&mut take);
                }
                _ => take(a),
            }
        }
    }
    block.exec_at(Val(i as u32)).into_iter().for_each(take);
}

/// The first gap after whose calls `v` is available: lane values in memory, wave values in host
/// registers. -1 is the gap before the first segment.
pub fn available_in(block: &Block, plan: &Schedule, v: Val) -> i32 {
    let node = &block.nodes[v.index()];
    match (plan.class[v.index()], node.op) {
        (Class::Leaf, Op::ReadV(_) | Op::LaneId) => -1,
        (Class::Leaf, _) => available_in(block, plan, node.args[0]),
        _ => plan.time[v.index()],
    }
}

struct Planner<'a> {
    block: &'a Block,
    affine: &'a Leaves,
    s: Schedule,
}

impl Planner<'_> {
    fn node(&self, v: Val) -> &Node {
        &self.block.nodes[v.index()]
    }

    /// The first segment that can use `v` as a lane operand.
    fn usable_in(&self, v: Val) -> i32 {
        let node = self.node(v);
        match (self.s.class[v.index()], node.op) {
            (Class::Lane, _) => self.s.time[v.index()],
            (Class::Leaf, Op::ReadV(_) | Op::LaneId) => 0,
            (Class::Leaf, _) => self.gap_of(node.args[0]) + 1,
            (Class::Scalar | Class::Whole, _) => self.s.time[v.index()] + 1,
        }
    }

    /// The first gap in which `v` is available.
    fn gap_of(&self, v: Val) -> i32 {
        let node = self.node(v);
        match (self.s.class[v.index()], node.op) {
            (Class::Leaf, Op::ReadV(_) | Op::LaneId) => -1,
            (Class::Leaf, _) => self.gap_of(node.args[0]),
            _ => self.s.time[v.index()],
        }
    }

    fn slot(&mut self, width: Width) -> u32 {
        let slot = self.s.slots;
        self.s.slots += if width == Width::W64 { 2 } else { 1 };
        slot
    }

    /// Is `v` the merge of a whole-wave node's result into VGPR `n` under that node's own mask,
    /// with the old value dead afterwards? Then the node may write the home directly.
    fn writes_home(&self, n: u16, v: Val) -> Option<Val> {
        let node = self.node(v);
        if node.op != Op::Select {
            return None;
        }
        let (mask, new, old) = (node.args[0], node.args[1], node.args[2]);
        let call = match self.node(new).op {
            Op::Result(_) => self.node(new).args[0],
            _ => new,
        };
        let effect = self.node(call);
        let exec_arg = match effect.op {
            Op::Load(..) | Op::Atomic(..) => effect.args[1],
            _ => return None,
        };
        let kept = self.block.is_free_merge(node) || self.node(old).op == Op::ReadV(n);
        (kept
            && exec_arg == mask
            && !self.reads(call.index(), n)
            // The merge itself reads the old value; this does not count when the home is written
            // directly.
            && old_value_read(self, n, v) <= self.s.time[call.index()])
        .then_some(new)
    }

    /// Visits the operands of node `i`; see [`each_operand`].
    fn each_operand(&self, i: usize, take: impl FnMut(Val)) {
        each_operand(self.block, &self.s.class, self.affine, i, take);
    }

    /// Does node `i` read the old value of VGPR `n`?
    fn reads(&self, i: usize, n: u16) -> bool {
        let mut reads = false;
        self.each_operand(i, |a| reads |= self.node(a).op == Op::ReadV(n));
        reads
    }
}

/// Plans a block whose VGPRs in `live` are live at its end.
pub fn plan(block: &Block, live: &Live, affine: &Leaves, host: Host) -> Schedule {
    let count = block.nodes.len();
    let class: Vec<Class> = classes(block, host);
    let roots: Vec<Val> = block
        .writes_v
        .iter()
        .filter(|(n, _)| live.has(*n))
        .map(|&(_, v)| v)
        .collect();
    let s = Schedule {
        needed: needed(block, &class, live, affine, &roots),
        class,
        time: vec![-1; count],
        place: vec![None; count],
        slots: block.staged(),
        ..Schedule::default()
    };
    let mut p = Planner { block, affine, s };
    assign_times(&mut p);
    let stores = store_times(&mut p, live);
    let stored: Vec<Val> = stores.iter().map(|&(_, v, _)| v).collect();
    p.s.needed = needed(block, &p.s.class, live, affine, &stored);
    place_values(&mut p, &stores);
    collect(&mut p, &stores);
    p.s
}

/// The nodes that are live when the lane values in `roots` are stored.
fn needed(
    block: &Block,
    class: &[Class],
    live: &Live,
    affine: &Leaves,
    roots: &[Val],
) -> Vec<bool> {
    let mut needed = vec![false; block.nodes.len()];
    let mut work: Vec<Val> = liveness::roots(block, live).collect();
    work.extend(roots);
    while let Some(v) = work.pop() {
        if !std::mem::replace(&mut needed[v.index()], true) {
            each_operand(block, class, affine, v.index(), |a| work.push(a));
        }
    }
    needed
}

fn assign_times(p: &mut Planner<'_>) {
    let mut last_effect = -1;
    let is_effect = {
        let mut flags = vec![false; p.block.nodes.len()];
        for &v in &p.block.effects {
            flags[v.index()] = true;
        }
        flags
    };
    for (i, node) in p.block.nodes.iter().enumerate() {
        if !p.s.needed[i] {
            continue;
        }
        let time = match p.s.class[i] {
            Class::Lane => node
                .args
                .iter()
                .map(|&a| p.usable_in(a))
                .max()
                .unwrap_or(0)
                .max(0),
            Class::Leaf => -1,
            Class::Scalar | Class::Whole => {
                let mut time = -1;
                p.each_operand(i, |a| time = time.max(p.gap_of(a)));
                time
            }
        };
        p.s.time[i] = if is_effect[i] {
            last_effect = time.max(last_effect);
            last_effect
        } else {
            time
        };
    }
}

/// The segment that stores each written VGPR; a VGPR that a whole-wave node writes itself is
/// omitted and gets its location here.
fn store_times(p: &mut Planner<'_>, live: &Live) -> Vec<(u16, Val, i32)> {
    // The last segment in which each home's old value is read: users in a gap count as the segment
    // behind it.
    let mut last_read = [-1i32; LANE_REGISTERS];
    for i in 0..p.block.nodes.len() {
        if !p.s.needed[i] || p.s.class[i] == Class::Leaf {
            continue;
        }
        p.each_operand(i, |a| {
            if let Op::ReadV(n) = p.node(a).op {
                let when = match p.s.class[i] {
                    Class::Lane => p.s.time[i],
                    _ => p.s.time[i] + 1,
                };
                let last = &mut last_read[usize::from(n)];
                *last = (*last).max(when);
            }
        });
    }
    let mut stores = Vec::new();
    for &(n, v) in &p.block.writes_v {
        if !live.has(n) {
            continue;
        }
        if let Some(result) = p.writes_home(n, v)
            && p.s.place[result.index()].is_none()
        {
            p.s.place[result.index()] = Some(Place::of_register(n));
            continue;
        }
        let time = p.usable_in(v).max(last_read[usize::from(n)]).max(0);
        stores.push((n, v, time));
    }
    // Plain copies read their source's home when they are stored.
    loop {
        let mut changed = false;
        for k in 0..stores.len() {
            let (_, v, time) = stores[k];
            if let Op::ReadV(m) = p.node(v).op {
                for other in stores.iter_mut().filter(|other| other.0 == m) {
                    if other.2 < time {
                        other.2 = time;
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            return stores;
        }
    }
}

/// As `last_read` of VGPR `n`, without the merge `v` into `n` itself.
fn old_value_read(p: &Planner<'_>, n: u16, v: Val) -> i32 {
    let mut last = -1;
    for i in 0..p.block.nodes.len() {
        if !p.s.needed[i] || p.s.class[i] == Class::Leaf || i == v.index() {
            continue;
        }
        if p.reads(i, n) {
            last = last.max(match p.s.class[i] {
                Class::Lane => p.s.time[i],
                _ => p.s.time[i] + 1,
            });
        }
    }
    // A plain copy of the old value into another register.
    let copied = p
        .block
        .writes_v
        .iter()
        .any(|&(_, w)| p.node(w).op == Op::ReadV(n));
    if copied { i32::MAX } else { last }
}

/// Allocates memory for results of whole-wave nodes and for lane values that outlive their segment.
fn place_values(p: &mut Planner<'_>, stores: &[(u16, Val, i32)]) {
    let count = p.block.nodes.len();
    let mut outlives = vec![false; count];
    for i in 0..count {
        if !p.s.needed[i] {
            continue;
        }
        p.each_operand(i, |a| {
            if p.s.class[a.index()] == Class::Lane {
                let same = p.s.class[i] == Class::Lane && p.s.time[i] == p.s.time[a.index()];
                outlives[a.index()] |= !same;
            }
        });
    }
    for &(_, v, time) in stores {
        if p.s.class[v.index()] == Class::Lane && p.s.time[v.index()] != time {
            outlives[v.index()] = true;
        }
    }
    for (i, &outlives) in outlives.iter().enumerate() {
        if !p.s.needed[i] || p.s.place[i].is_some() {
            continue;
        }
        let node = &p.block.nodes[i];
        let lane = node.ty.vary != Vary::Wave;
        let roots = match p.s.class[i] {
            Class::Lane => outlives && node.ty.width != Width::W1,
            Class::Whole => lane && node.op != Op::LaneAt,
            Class::Leaf => matches!(node.op, Op::Result(_)),
            Class::Scalar => false,
        };
        if roots {
            let slot = p.slot(node.ty.width);
            p.s.place[i] = Some(Place::Frame(slot));
        }
    }
}

fn collect(p: &mut Planner<'_>, stores: &[(u16, Val, i32)]) {
    let count = p.block.nodes.len();
    let mut last = -1;
    for i in 0..count {
        if p.s.needed[i] && p.s.class[i] != Class::Leaf {
            last = last.max(p.s.time[i]);
        }
    }
    for &(_, _, time) in stores {
        last = last.max(time);
    }
    p.s.segments = vec![Segment::default(); (last + 1) as usize];
    p.s.gaps = vec![Vec::new(); (last + 2) as usize];
    // Masks needed as bits: arguments of ballots and of whole-wave nodes, and masks used later.
    let mut as_bits = vec![false; count];
    for i in 0..count {
        if !p.s.needed[i] {
            continue;
        }
        p.each_operand(i, |a| {
            let arg = p.node(a);
            if arg.ty.width == Width::W1 && p.s.class[a.index()] == Class::Lane {
                let inside = p.s.class[i] == Class::Lane && p.s.time[i] == p.s.time[a.index()];
                as_bits[a.index()] |= !inside;
            }
        });
    }
    for (i, &as_bits) in as_bits.iter().enumerate() {
        if !p.s.needed[i] {
            continue;
        }
        let v = Val(i as u32);
        match p.s.class[i] {
            Class::Lane => {
                let segment = &mut p.s.segments[p.s.time[i] as usize];
                segment.nodes.push(v);
                if let Some(Place::Frame(slot)) = p.s.place[i] {
                    segment.spills.push((v, slot));
                }
                if as_bits {
                    segment.ballots.push(v);
                }
            }
            Class::Whole => p.s.gaps[(p.s.time[i] + 1) as usize].push(v),
            Class::Scalar | Class::Leaf => {}
        }
    }
    for &(n, v, time) in stores {
        p.s.segments[time as usize].stores.push((n, v));
    }
}
