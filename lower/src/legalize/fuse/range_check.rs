//! Range checks of a segment's accesses, once for the wave.

use frontend::op::Space;

use super::super::affine::{Bounds, Lane};
use super::super::prefetch::LINE;
use super::super::{Emitter, access};
use super::{Fused, Fusion};
use crate::analysis::schedule::Schedule;
use crate::analysis::uniformity::Affine;
use crate::ir::{Block, Val};
use crate::maps::HashMap;
use crate::vir::Value;

/// Accesses that differ by constants only: one check covers them.
pub(super) struct Family {
    pub(super) base: Val,
    pub(super) affine: Affine,
    pub(super) lds: bool,
    /// Is there a store among its accesses?
    pub(super) store: bool,
    /// Its accesses.
    pub(super) members: Vec<usize>,
    /// The lowest byte and the end of the highest, relative to the address without constants of the
    /// respective lane.
    pub(super) reach: (i64, i64),
    /// Address (in its space) without constants of lane 0, for those affine in the whole wave.
    pub(super) start: Option<Value>,
    /// The first byte that any lane touches and the end of the last (in its space), if requested.
    pub(super) span: Option<(Value, Value)>,
}

/// Finds the families.
fn families(accesses: &[Fused]) -> Vec<Family> {
    let mut found: Vec<Family> = Vec::new();
    for (n, a) in accesses.iter().enumerate() {
        let low = i64::from(a.offset);
        let high = low + i64::from(access::bytes(a.data));
        let same = found
            .iter_mut()
            .find(|f| f.base == a.base && f.affine == a.affine && f.lds == a.lds);
        match same {
            Some(family) => {
                family.members.push(n);
                family.store |= a.store;
                family.reach.0 = family.reach.0.min(low);
                family.reach.1 = family.reach.1.max(high);
            }
            None => found.push(Family {
                base: a.base,
                affine: a.affine,
                lds: a.lds,
                store: a.store,
                members: vec![n],
                reach: (low, high),
                start: None,
                span: None,
            }),
        }
    }
    found
}

impl Emitter<'_> {
    /// Checks the accesses by their bases: in bounds, and stores disjoint from what they must not
    /// overlap. All resulting conditions (I8) must hold.
    pub(super) fn check_ranges(
        &mut self,
        block: &Block,
        plan: &Schedule,
        fusion: &mut Fusion,
    ) -> Vec<Value> {
        let mut conditions = Vec::new();
        if fusion.accesses.iter().any(|access| access.lds) {
            fusion.lds = Some(self.code.lds_start());
        }
        let mut memory: HashMap<bool, Bounds> = HashMap::default();
        let mut read_only = None;
        let mut families = families(&fusion.accesses);
        let stored = |lds: bool| fusion.accesses.iter().any(|a| a.store && a.lds == lds);
        let watched = [false, true].map(stored);
        for family in &mut families {
            let lds = family.lds;
            let space = if lds { Space::Lds } else { Space::Global };
            let mut bounds = match memory.get(&lds) {
                Some(&memory) => memory,
                None => {
                    let found = self.code.bounds_of(space, true);
                    memory.insert(lds, found);
                    found
                }
            };
            if family.store && !lds {
                bounds.least = Some(*read_only.get_or_insert_with(|| self.code.read_only()));
            }
            let affine = family.affine;
            let runs = self.all_ends(block, plan, family.base, affine, Lane::OF_WAVE);
            let mut checked =
                self.code
                    .check_contiguous(&runs, affine, (lds, bounds), family.reach);
            for good in checked.conditions.drain(..) {
                if !conditions.contains(&good) {
                    conditions.push(good);
                }
            }
            if affine.whole {
                family.start = checked.starts.first().copied();
            }
            if !lds {
                let members = family.members.clone();
                fusion.firsts.push((checked.starts[0], members));
            }
            if watched[usize::from(lds)] {
                family.span = Some(self.code.bytes_of(&checked));
            }
        }
        for family in &families {
            let Some(start) = family.start else { continue };
            let host = match fusion.lds {
                Some(lds_start) if family.lds => self.code.b.iadd(lds_start, start),
                _ => start,
            };
            for &n in &family.members {
                fusion.accesses[n].start = Some(host);
            }
        }
        conditions.extend(self.apart(&fusion.accesses, &families, &mut fusion.either));
        conditions
    }

    /// Predicts the next addresses of accesses.
    pub(in crate::legalize) fn predict_all(&mut self, fusion: &mut Fusion) {
        for (first, mut members) in std::mem::take(&mut fusion.firsts) {
            let access = &fusion.accesses[members[0]];
            let affine = access.affine;
            // An address that is uniform over the lanes usually is over the waves.
            if affine.stride == 0 {
                continue;
            }
            if self
                .prefetches
                .predict_stores(&mut self.code, first, access)
            {
                continue;
            }
            let Some(prefetch_at) = self.prefetches.expect(&mut self.code, first, affine) else {
                return;
            };
            members.sort_by_key(|&n| fusion.accesses[n].offset);
            let mut lines: Option<i32> = None;
            for n in members {
                let access = &fusion.accesses[n];
                if lines.is_none_or(|at| i64::from(access.offset) - i64::from(at) >= LINE) {
                    lines = Some(access.offset);
                    let (offset, affine) = (access.offset, access.affine);
                    let load = !access.store && affine.whole;
                    if !(load
                        && self.prefetches.defer(
                            &mut self.code,
                            prefetch_at,
                            offset,
                            affine.stride,
                        ))
                    {
                        fusion.accesses[n].prefetch_at = Some(prefetch_at);
                    }
                }
            }
        }
    }
}
