//! Alias analysis of a segment's accesses. In the segment's loop a group of lanes performs all of
//! its accesses before the next group begins; the guest's program performs an access for all lanes
//! before the next access. Both agree if no lane's store overlaps what another lane loads or stores
//! by another instruction. One lane's accesses keep the guest's order anyway, and one store's lanes
//! are stored lowest first.

use frontend::state::LANES;

use super::super::{Emitter, access};
use super::Fused;
use super::range_check::Family;
use crate::vir::{IntCC, Value};

/// Maximum length of a span, so that it can be compared with constants.
const MAX_SPAN: i64 = 1 << 30;

/// Would elements of different lanes overlap, if both accesses had `a`'s base?
fn lanes_meet(a: &Fused, b: &Fused) -> bool {
    let [size_a, size_b] = [a, b].map(|x| i64::from(access::bytes(x.data)));
    let away = i64::from(b.offset) - i64::from(a.offset);
    let last = LANES as i64 - 1;
    (-last..=last).filter(|&lanes| lanes != 0).any(|lanes| {
        let away = away + lanes * a.affine.stride;
        -size_b < away && away < size_a
    })
}

/// Does the order of two different accesses matter?
pub(super) fn concern(a: &Fused, b: &Fused) -> bool {
    (a.store || b.store) && a.lds == b.lds
}

/// Do two accesses that must not overlap have one base and overlap there? Rows are at arbitrary
/// addresses, so for them an overlap within one lane counts.
pub(super) fn always_meet(a: &Fused, b: &Fused) -> bool {
    let same = a.base == b.base && a.affine == b.affine;
    concern(a, b) && same && (lanes_meet(a, b) || !a.affine.whole && touch(a, b))
}

/// Do one lane's elements of two accesses with one base overlap?
fn touch(a: &Fused, b: &Fused) -> bool {
    let [size_a, size_b] = [a, b].map(|x| i64::from(access::bytes(x.data)));
    let away = i64::from(b.offset) - i64::from(a.offset);
    -size_b < away && away < size_a
}

/// The length of a family's span in bytes, if constant: there is one.
fn length(family: &Family) -> Option<i64> {
    let (least, most) = family.reach;
    let lanes = family.affine.stride.checked_abs()? * (LANES as i64 - 1);
    let bytes = lanes + (most - least);
    (family.affine.whole && bytes < MAX_SPAN).then_some(bytes)
}

impl Emitter<'_> {
    /// Conditions (I8) for stores to be disjoint from accesses with other bases, or in other rows;
    /// for each in `either` the first, which usually holds, or the second.
    pub(super) fn apart(
        &mut self,
        accesses: &[Fused],
        families: &[Family],
        either: &mut Vec<(Value, Value)>,
    ) -> Vec<Value> {
        let mut conditions = Vec::new();
        for (i, one) in families.iter().enumerate() {
            if !one.affine.whole {
                self.rows_apart(accesses, one, &mut conditions);
            }
            for other in &families[i + 1..] {
                let members = one.members.iter().map(|&n| &accesses[n]);
                let pairs: Vec<(&Fused, &Fused)> = members
                    .flat_map(|a| other.members.iter().map(move |&m| (a, &accesses[m])))
                    .filter(|(a, b)| concern(a, b))
                    .collect();
                if pairs.is_empty() {
                    continue;
                }
                let (Some(x), Some(y)) = (one.span, other.span) else {
                    unreachable!("bug: bytes near a store are not known");
                };
                let good = match (length(one), length(other)) {
                    (Some(first), Some(second)) => {
                        // Distance of the second from the end of the first; if it is before it,
                        // nearly 2^64.
                        let behind = self.code.b.isub(y.0, x.1);
                        let order = IntCC::UnsignedLessThanOrEqual;
                        self.code.b.icmp_imm(order, behind, -(first + second))
                    }
                    _ => self.disjoint(x, y),
                };
                // Both may be the same memory, lane by lane.
                if let (Some(x), Some(y)) = (one.start, other.start)
                    && one.affine.stride == other.affine.stride
                    && pairs.iter().all(|(a, b)| !lanes_meet(a, b))
                {
                    let same = self.code.b.icmp(IntCC::Equal, x, y);
                    either.push((good, same));
                } else {
                    conditions.push(good);
                }
            }
        }
        conditions
    }

    /// The same for two accesses of one family whose rows are at arbitrary addresses: never with a
    /// store.
    fn rows_apart(&mut self, accesses: &[Fused], family: &Family, conditions: &mut Vec<Value>) {
        let Some((low, high)) = family.span else {
            return;
        };
        let members: Vec<&Fused> = family.members.iter().map(|&n| &accesses[n]).collect();
        // The family's spans are those of one access, shifted: they are disjoint if the steps
        // between them exceed the length of one.
        let mut steps: Vec<i64> = members.iter().map(|a| i64::from(a.offset)).collect();
        steps.sort_unstable();
        let step = steps.windows(2).map(|two| two[1] - two[0]).min();
        let Some(step) = step.filter(|_| members.iter().any(|a| a.store)) else {
            return;
        };
        let size = members.iter().map(|a| i64::from(access::bytes(a.data)));
        let (least, most) = family.reach;
        let all = self.code.b.isub(high, low);
        let longest = size.max().unwrap_or(0) - (most - least);
        let one = self.code.b.iadd_imm(all, longest);
        let order = IntCC::UnsignedLessThanOrEqual;
        conditions.push(self.code.b.icmp_imm(order, one, step));
    }

    /// Are two byte ranges disjoint (I8)?
    fn disjoint(&mut self, x: (Value, Value), y: (Value, Value)) -> Value {
        let order = IntCC::UnsignedLessThanOrEqual;
        let below = self.code.b.icmp(order, x.1, y.0);
        let above = self.code.b.icmp(order, y.1, x.0);
        self.code.b.bor(below, above)
    }
}
