//! Attributes of the program's own memory (shared virtual memory), by pages. The system does not claim
//! that kernels may use all memory of the program; a range that the GPU is given access to is one that they
//! may use, at the same addresses. The other attributes are hints, which are remembered and reported.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use super::{GRANULE, pointer};
use crate::abi::{Handle, Outcome, Status, SvmAttribute};
use crate::agent::{self, Agent};
use crate::lock::lock;
use crate::state::Runtime;

/// Numbers of `hsa_amd_svm_attribute_t`.
mod number {
    pub(super) const GLOBAL_FLAG: u64 = 0;
    pub(super) const GRANULARITY: u64 = 3;
    pub(super) const PREFERRED: u64 = 4;
    pub(super) const PREFETCH: u64 = 5;
    pub(super) const LAST: u64 = 7;
    pub(super) const ACCESSIBLE: u64 = 0x200;
    pub(super) const IN_PLACE: u64 = 0x201;
    pub(super) const NO_ACCESS: u64 = 0x202;
    pub(super) const ACCESS_QUERY: u64 = 0x203;
}

/// A value of [`number::GLOBAL_FLAG`] for ranges that have several.
const INDETERMINATE: u64 = 2;

/// Largest exponent of a number of pages.
const MAX_GRANULARITY: u64 = 63;

/// The attributes of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attributes {
    /// By number.
    values: [u64; number::LAST as usize + 1],
    /// Of the CPU and the GPU: one of the three numbers for access.
    access: [u64; 2],
}

impl Default for Attributes {
    fn default() -> Attributes {
        Attributes {
            values: [0; 8],
            access: [number::ACCESSIBLE, number::NO_ACCESS],
        }
    }
}

#[derive(Default)]
struct Inner {
    /// First address to end and attributes; what is in none has the default.
    ranges: BTreeMap<u64, (u64, Attributes)>,
    /// What kernels may use: first address to end.
    shown: BTreeMap<u64, u64>,
}

/// The attributes of all memory.
#[derive(Default)]
pub(crate) struct Svm(Mutex<Inner>);

impl Svm {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.0)
    }
}

impl Inner {
    /// Divides the range that has an address inside.
    fn split(&mut self, at: u64) {
        if let Some((_, (end, attributes))) = self.ranges.range_mut(..at).next_back()
            && *end > at
        {
            let second = (std::mem::replace(end, at), *attributes);
            self.ranges.insert(at, second);
        }
    }

    /// Changes the attributes from `start` to `end`.
    fn change(&mut self, start: u64, end: u64, change: impl Fn(&mut Attributes)) {
        self.split(start);
        self.split(end);
        let mut at = start;
        while at < end {
            let next = self.ranges.range(at..end).next();
            let (first, last) = next.map_or((end, end), |(&first, &(last, _))| (first, last));
            if first > at {
                self.ranges.insert(at, (first, Attributes::default()));
            }
            at = last;
        }
        for (_, (_, attributes)) in self.ranges.range_mut(start..end) {
            change(attributes);
        }
        // Ranges that are as if they had never been set are forgotten.
        self.ranges
            .retain(|_, (_, attributes)| *attributes != Attributes::default());
    }

    /// The attributes from `start` to `end`, each kind once.
    fn kinds(&self, start: u64, end: u64) -> Vec<Attributes> {
        let before = self.ranges.range(..start).next_back();
        let before = before.filter(|(_, (last, _))| *last > start);
        let (mut kinds, mut at) = (Vec::new(), start);
        for (&first, &(last, attributes)) in before.into_iter().chain(self.ranges.range(start..end))
        {
            if first > at {
                kinds.push(Attributes::default());
            }
            kinds.push(attributes);
            at = last;
        }
        if at < end {
            kinds.push(Attributes::default());
        }
        kinds.dedup();
        kinds
    }

    /// Shows kernels what the GPU has access to, and no more.
    fn show(&mut self, rt: &Runtime) {
        let arena = rt.memory.arena_base()..rt.memory.arena_base() + rt.memory.arena_len();
        let mut wanted: BTreeMap<u64, u64> = BTreeMap::new();
        for (&start, &(end, attributes)) in &self.ranges {
            let hidden = attributes.access[Agent::Gpu as usize] == number::NO_ACCESS;
            if hidden || arena.contains(&start) {
                continue;
            }
            match wanted.last_entry() {
                Some(mut last) if *last.get() == start => *last.get_mut() = end,
                _ => drop(wanted.insert(start, end)),
            }
        }
        self.shown.retain(|start, end| {
            let stays = wanted.get(start) == Some(end);
            if !stays {
                rt.memory.unregister_host(pointer(*start).cast());
            }
            stays
        });
        for (start, end) in wanted {
            if self.shown.insert(start, end).is_none() {
                let bytes = (end - start) as usize;
                // SAFETY: the program says that the GPU may use this memory of its own until it says
                // otherwise; kernels race with the program at their own risk.
                unsafe { rt.memory.register_host(pointer(start).cast(), bytes) };
            }
        }
    }
}

/// The pages of a range.
fn pages(address: u64, bytes: usize) -> Outcome<(u64, u64)> {
    let end = address.checked_add(bytes as u64);
    let end = end.and_then(|end| end.checked_next_multiple_of(GRANULE));
    match end {
        Some(end) if address != 0 && bytes != 0 => Ok((address & !(GRANULE - 1), end)),
        _ => Err(Status::INVALID_ARGUMENT),
    }
}

/// An agent, or none.
fn location(handle: Handle) -> Outcome {
    match handle {
        0 => Ok(()),
        _ => Agent::from_handle(handle).map(drop),
    }
}

/// `hsa_amd_svm_attributes_set`. A list with an error changes nothing.
pub(crate) fn set(rt: &Runtime, address: u64, bytes: usize, list: &[SvmAttribute]) -> Outcome {
    let (start, end) = pages(address, bytes)?;
    for &SvmAttribute { attribute, value } in list {
        match attribute {
            number::GLOBAL_FLAG if value < INDETERMINATE => {}
            number::GRANULARITY if value <= MAX_GRANULARITY => {}
            number::PREFERRED => location(value)?,
            1 | 2 | 6 | 7 => {}
            number::ACCESSIBLE..=number::NO_ACCESS => drop(Agent::from_handle(value)?),
            _ => return Err(Status::INVALID_ARGUMENT),
        }
    }
    let mut inner = rt.pools.svm.inner();
    inner.change(start, end, |attributes| {
        for &SvmAttribute { attribute, value } in list {
            match attribute {
                number::ACCESSIBLE..=number::NO_ACCESS => {
                    attributes.access[usize::from(value == agent::GPU)] = attribute;
                }
                1 | 2 | 6 | 7 => attributes.values[attribute as usize] = u64::from(value != 0),
                _ => attributes.values[attribute as usize] = value,
            }
        }
    });
    inner.show(rt);
    Ok(())
}

/// `hsa_amd_svm_attributes_get`: writes the values, and for an access query the attribute. Where they
/// differ in the range, the value is 0, the flag [`INDETERMINATE`], and there is no access.
pub(crate) fn get(rt: &Runtime, address: u64, bytes: usize, list: &mut [SvmAttribute]) -> Outcome {
    let (start, end) = pages(address, bytes)?;
    let kinds = rt.pools.svm.inner().kinds(start, end);
    let uniform = |of: &dyn Fn(&Attributes) -> u64| {
        let first = of(&kinds[0]);
        kinds.iter().all(|kind| of(kind) == first).then_some(first)
    };
    for SvmAttribute { attribute, value } in list {
        match *attribute {
            number::ACCESS_QUERY => {
                let agent = Agent::from_handle(*value)? as usize;
                let access = uniform(&|kind| kind.access[agent]);
                // Memory of the pools is accessible to both.
                let in_arena = start.wrapping_sub(rt.memory.arena_base()) < rt.memory.arena_len();
                let in_pool = in_arena && rt.memory.contains(start, end - start);
                *attribute = match access {
                    _ if in_pool => number::IN_PLACE,
                    Some(access) => access,
                    None => number::NO_ACCESS,
                };
            }
            attribute @ 0..=number::LAST => {
                let found = uniform(&|kind| kind.values[attribute as usize]);
                let differs = u64::from(attribute == number::GLOBAL_FLAG) * INDETERMINATE;
                *value = found.unwrap_or(differs);
            }
            _ => return Err(Status::INVALID_ARGUMENT),
        }
    }
    Ok(())
}

/// Notes to where a range was prefetched.
pub(crate) fn prefetch(rt: &Runtime, address: u64, bytes: usize, agent: Agent) -> Outcome {
    let (start, end) = pages(address, bytes)?;
    rt.pools.svm.inner().change(start, end, |attributes| {
        attributes.values[number::PREFETCH as usize] = agent.handle();
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(inner: &mut Inner, start: u64, end: u64, value: u64) {
        inner.change(start, end, |attributes| attributes.values[0] = value);
    }

    fn ranges(inner: &Inner) -> Vec<(u64, u64, u64)> {
        let ranges = inner.ranges.iter();
        ranges
            .map(|(&start, &(end, attributes))| (start, end, attributes.values[0]))
            .collect()
    }

    #[test]
    fn ranges_are_divided_and_forgotten() {
        let mut inner = Inner::default();
        flag(&mut inner, 10, 20, 1);
        flag(&mut inner, 30, 40, 1);
        flag(&mut inner, 15, 35, 5);
        assert_eq!(
            ranges(&inner),
            [
                (10, 15, 1),
                (15, 20, 5),
                (20, 30, 5),
                (30, 35, 5),
                (35, 40, 1)
            ]
        );
        flag(&mut inner, 12, 14, 0);
        assert_eq!(ranges(&inner)[..2], [(10, 12, 1), (14, 15, 1)]);
        flag(&mut inner, 0, 100, 0);
        assert!(ranges(&inner).is_empty());
    }

    #[test]
    fn kinds_have_the_default_for_gaps() {
        let mut inner = Inner::default();
        flag(&mut inner, 10, 20, 1);
        flag(&mut inner, 20, 30, 2);
        let kinds = |start, end| {
            let kinds = inner.kinds(start, end);
            kinds.iter().map(|kind| kind.values[0]).collect::<Vec<_>>()
        };
        assert_eq!(kinds(12, 18), [1]);
        assert_eq!(kinds(12, 28), [1, 2]);
        assert_eq!(kinds(5, 40), [0, 1, 2, 0]);
        assert_eq!(kinds(40, 50), [0]);
    }
}
