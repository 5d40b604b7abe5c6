//! Functions and inlined functions by address.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Position;

/// More nested functions at one address are not shown.
const MAX_FRAMES: usize = 1000;

/// A function, or one that is inlined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    /// Number of the scope that it is inlined into.
    pub(super) parent: Option<u32>,
    /// How many scopes it is nested in.
    pub(super) depth: u32,
    /// Number of its name.
    pub(super) name: u32,
    /// Of an inlined function: its call in the parent.
    pub(super) call: Option<Position>,
}

/// Functions by address.
#[derive(Clone, Debug, Default)]
pub(super) struct Scopes {
    scopes: Vec<Scope>,
    names: Vec<Box<str>>,
    /// The innermost scope from this address to the next, by address.
    innermost: Vec<(u64, Option<u32>)>,
}

impl Scopes {
    /// `ranges` are of the scopes of these numbers.
    pub(super) fn new(
        scopes: Vec<Scope>,
        names: Vec<Box<str>>,
        ranges: &[(Range<u64>, u32)],
    ) -> Scopes {
        let begins = ranges
            .iter()
            .map(|(range, scope)| (range.start, true, *scope));
        let ends = ranges
            .iter()
            .map(|(range, scope)| (range.end, false, *scope));
        let mut events: Vec<(u64, bool, u32)> = begins.chain(ends).collect();
        events.sort_unstable();
        let mut active: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut innermost: Vec<(u64, Option<u32>)> = Vec::new();
        for (address, begins, scope) in events {
            let key = (scopes[scope as usize].depth, scope);
            match begins {
                true => active.insert(key),
                false => active.remove(&key),
            };
            let now = active.last().map(|&(_, scope)| scope);
            match innermost.last_mut() {
                Some((last, scope)) if *last == address => *scope = now,
                _ => innermost.push((address, now)),
            }
        }
        Scopes {
            scopes,
            names,
            innermost,
        }
    }

    /// The scopes that an address is part of, the innermost first.
    pub(super) fn at(&self, address: u64) -> impl Iterator<Item = &Scope> {
        let after = self
            .innermost
            .partition_point(|(start, _)| *start <= address);
        let innermost = after.checked_sub(1).and_then(|at| self.innermost[at].1);
        let scope = |number: u32| &self.scopes[number as usize];
        std::iter::successors(innermost.map(scope), move |inner| inner.parent.map(scope))
            .take(MAX_FRAMES)
    }

    pub(super) fn name(&self, scope: &Scope) -> &str {
        &self.names[scope.name as usize]
    }
}
