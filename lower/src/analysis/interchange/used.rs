//! What a loop inside the lane groups computes: derived from its live-outs and loop-carried values.
//! Fails where something needed cannot be computed group by group.

use std::collections::BTreeMap;

use frontend::op::{Data, Space};

use super::if_conversion::{IfConverted, Latch};
use super::{LoopCondition, MaskPlace, is_all, mask_read, unmerged};
use crate::analysis::liveness::Live;
use crate::analysis::schedule;
use crate::ir::{Block, Func, Node, Op, SiteId, Slot, Val, Vary, Width};

/// Which wave values are made of lanes' bits.
pub(super) struct Masks {
    pub(super) nodes: Vec<bool>,
    /// New values of mask registers.
    pub(super) writes: BTreeMap<MaskPlace, Val>,
}

impl Masks {
    pub(super) fn find(block: &Block) -> Masks {
        let mut masks = Masks {
            nodes: Vec::new(),
            writes: BTreeMap::new(),
        };
        loop {
            masks.nodes = masks.classify(block);
            let writes = masks.written(block);
            if writes.len() == masks.writes.len() {
                return masks;
            }
            masks.writes = writes;
        }
    }

    fn classify(&self, block: &Block) -> Vec<bool> {
        let mut nodes = vec![false; block.nodes.len()];
        for (i, node) in block.nodes.iter().enumerate() {
            let wave = node.ty.vary == Vary::Wave && node.ty.width == Width::W64;
            nodes[i] = wave
                && match node.op {
                    Op::Ballot => true,
                    Op::And | Op::Or | Op::Xor | Op::Not => {
                        node.args.iter().any(|a| nodes[a.index()])
                    }
                    _ => mask_read(block, node).is_some_and(|place| {
                        place == MaskPlace::Exec || self.writes.contains_key(&place)
                    }),
                };
        }
        nodes
    }

    fn written(&self, block: &Block) -> BTreeMap<MaskPlace, Val> {
        let of = |slot: Slot| {
            let write = block.writes_s.iter().find(|w| w.0 == slot);
            write.map(|&(_, v)| v)
        };
        let mut found = BTreeMap::new();
        for &(slot, v) in &block.writes_s {
            let write = match slot {
                Slot::Exec => Some((MaskPlace::Exec, v)),
                Slot::Vcc => Some((MaskPlace::Vcc, v)),
                Slot::Sgpr(n) => n
                    .checked_add(1)
                    .and_then(|m| of(Slot::Sgpr(m)))
                    .and_then(|hi| {
                        let (lo, hi) = (&block.nodes[v.index()], &block.nodes[hi.index()]);
                        (lo.op == Op::Lo && hi.op == Op::Hi && lo.args[0] == hi.args[0])
                            .then(|| (MaskPlace::Pair(n), lo.args[0]))
                    }),
                Slot::Scc | Slot::Mode | Slot::Temp(_) => None,
            };
            if let Some((place, v)) = write
                && self.nodes[v.index()]
            {
                found.insert(place, v);
            }
        }
        found
    }

    /// The mask register that a slot is a part of.
    fn of_slot(&self, slot: Slot) -> Option<MaskPlace> {
        let places = match slot {
            Slot::Exec => [Some(MaskPlace::Exec), None],
            Slot::Vcc => [Some(MaskPlace::Vcc), None],
            Slot::Sgpr(n) => [
                Some(MaskPlace::Pair(n)),
                n.checked_sub(1).map(MaskPlace::Pair),
            ],
            Slot::Scc | Slot::Mode | Slot::Temp(_) => [None, None],
        };
        let mut places = places.into_iter().flatten();
        places.find(|place| self.writes.contains_key(place))
    }
}

/// The values that a loop must compute.
pub(super) struct Used {
    pub(super) needed: Vec<bool>,
    pub(super) vgprs: BTreeMap<u16, Val>,
    pub(super) masks: BTreeMap<MaskPlace, Val>,
    pub(super) slots: Vec<(Slot, Val)>,
}

/// Granularity of a loop's execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Granularity {
    /// Lane group by lane group, in 128-bit vectors.
    Groups,
    /// The same in the wide back end's vectors, which support more functions.
    WideGroups,
    /// Lane-serial.
    LaneSerial,
}

impl Used {
    /// Derives the values needed by the next iteration and after the loop; `None` if one of them
    /// cannot be computed at this granularity.
    pub(super) fn find(
        f: &Func,
        converted: &IfConverted,
        condition: LoopCondition,
        masks: &Masks,
        behind: &Live,
        granularity: Granularity,
    ) -> Option<Used> {
        let lane_serial = granularity == Granularity::LaneSerial;
        let block = &converted.block;
        let mut w = Used {
            needed: vec![false; block.nodes.len()],
            vgprs: BTreeMap::new(),
            masks: BTreeMap::new(),
            slots: Vec::new(),
        };
        // Inactive lanes may skip iterations.
        let some = matches!(converted.latch, Latch::Exec { .. }) || lane_serial;
        let mut work = block.effects.clone();
        match condition {
            LoopCondition::While(cond, _) => work.push(cond),
            LoopCondition::Exec(exec) | LoopCondition::Lane(exec) => work.push(exec),
            LoopCondition::Unmasked => {}
        }
        let written_s: BTreeMap<Slot, Val> = block.writes_s.iter().copied().collect();
        let written_v: BTreeMap<u16, Val> = block.lane_writes().collect();
        let slots = written_s.keys().chain(&converted.unknown_s);
        let mut slots: Vec<Slot> = slots.copied().filter(|&s| behind.has_slot(s)).collect();
        let vgprs = written_v.keys().chain(&converted.unknown_v);
        let mut vgprs: Vec<u16> = vgprs.copied().filter(|&n| behind.has(n)).collect();
        loop {
            while let Some(slot) = slots.pop() {
                if converted.unknown_s.contains(&slot) {
                    return None;
                }
                let Some(&v) = written_s.get(&slot) else {
                    continue;
                };
                if block.nodes[v.index()].op == Op::ReadS(slot) {
                    continue;
                }
                if let Some(place) = masks.of_slot(slot) {
                    let kept = |s: &Slot| converted.kept_s.contains(s);
                    if some && !place.slots().iter().flatten().all(kept) {
                        return None;
                    }
                    let v = masks.writes[&place];
                    if w.masks.insert(place, v).is_none() {
                        work.push(v);
                    }
                } else if !w.slots.iter().any(|&(s, _)| s == slot) {
                    w.slots.push((slot, v));
                    work.push(v);
                }
            }
            while let Some(n) = vgprs.pop() {
                if converted.unknown_v.contains(&n) {
                    return None;
                }
                let Some(&v) = written_v.get(&n) else {
                    continue;
                };
                if block.nodes[v.index()].op == Op::ReadV(n) {
                    continue;
                }
                if some && !converted.kept_v.contains(&n) {
                    return None;
                }
                let v = unmerged(block, condition, v);
                if w.vgprs.insert(n, v).is_none() {
                    work.push(v);
                }
            }
            let Some(v) = work.pop() else {
                break;
            };
            let v = unmerged(block, condition, v);
            if std::mem::replace(&mut w.needed[v.index()], true) {
                continue;
            }
            let node = &block.nodes[v.index()];
            if masks.nodes[v.index()]
                && let Some(place) = mask_read(block, node)
            {
                // The mask as one value, not its words.
                slots.push(match place {
                    MaskPlace::Exec => Slot::Exec,
                    MaskPlace::Vcc => Slot::Vcc,
                    MaskPlace::Pair(n) => Slot::Sgpr(n),
                });
                continue;
            }
            let mask_arg = node.args.iter().any(|a| masks.nodes[a.index()]);
            if mask_arg
                && !masks.nodes[v.index()]
                && !matches!(node.op, Op::ExecMask | Op::MaskFromBits)
            {
                return None;
            }
            match node.op {
                Op::ReadS(slot) if masks.of_slot(slot).is_some() => return None,
                Op::ReadS(slot) => slots.push(slot),
                Op::ReadV(n) => vgprs.push(n),
                Op::Load(..) | Op::ScalarLoad(..) => {
                    if !suits(f, block, condition, node, lane_serial) {
                        return None;
                    }
                    work.push(node.args[0]);
                    if let Op::Load(..) = node.op
                        && (lane_serial || matches!(condition, LoopCondition::Exec(_)))
                    {
                        // Whether all lanes are active is tested on its mask.
                        work.push(node.args[1]);
                    }
                    continue;
                }
                Op::Call(..)
                    if schedule::is_inline(node, granularity == Granularity::WideGroups) => {}
                Op::Store(..) | Op::Atomic(..) | Op::Effect { .. } | Op::Call(..) | Op::LaneAt => {
                    return None;
                }
                Op::Ballot if !masks.nodes[v.index()] => return None,
                Op::Result(_) => {
                    let of = block.nodes[node.args[0].index()].op;
                    if !matches!(of, Op::Load(..) | Op::ScalarLoad(..)) {
                        return None;
                    }
                }
                _ => {}
            }
            work.extend(node.args.iter());
        }
        w.slots.sort_unstable_by_key(|&(slot, _)| slot);
        Some(w)
    }
}

/// May a load be done group by group? Not if it must observe concurrent stores.
fn suits(
    f: &Func,
    block: &Block,
    condition: LoopCondition,
    node: &Node,
    lane_serial: bool,
) -> bool {
    let coherent = |site: SiteId| f.sites[site.0 as usize].inst.mem.glc;
    match node.op {
        Op::Load(Space::Global | Space::Flat | Space::Lds, data, site) => {
            let supported = matches!(
                data,
                Data::Dwords(_) | Data::U8 | Data::I8 | Data::U16 | Data::I16
            );
            let mask = &block.nodes[node.args[1].index()];
            let place = match lane_serial {
                true => mask.op == Op::ExecMask,
                false => {
                    is_all(block, condition, mask) || matches!(condition, LoopCondition::Exec(_))
                }
            };
            supported && place && !coherent(site)
        }
        Op::ScalarLoad(_, site) => !coherent(site),
        _ => false,
    }
}
