//! Accesses to LDS.

use super::super::order::join;
use super::super::record::{AccessKind, Conflict};
use super::super::runs::{Run, WaveAccess};
use super::super::shadow::{How, Met};
use super::super::sites::Uses;
use super::{By, Rule, State, follow};
use crate::engine::Group;

impl State {
    /// A wave is about to access LDS. Of a load: need it not be announced in intervals that are settled?
    pub(in super::super) fn lds(&mut self, group: &Group<'_>, access: &WaveAccess<'_>) -> bool {
        if self.settled.is_void() {
            return true;
        }
        let (access, by) = self.announced(group, access);
        let mut is_plain = false;
        let size = u64::from(group.lds.size());
        let uses = self.sites.uses(group.code);
        self.depends_in_lds(&(access, by));
        if !uses.lds_flags {
            let phase = self.running().phase(access.wave as u8);
            let is_read = access.kind == AccessKind::Read;
            let (begin, first_store) = match is_read {
                true => (None, None),
                false => (phase.barrier(), phase.reads.close()),
            };
            if let Some(reads) = first_store {
                self.settled.store_lds(begin);
                for read in reads {
                    self.compare_lds((read.access(), read.by), size, uses);
                }
            }
            if self.settled.is_on() && self.is_skipped(&(access, by), size) {
                return false;
            }
            if is_read {
                is_plain = self.is_plain(&access, by.site, size);
                let phase = self.running().phase(access.wave as u8);
                if is_plain && phase.reads.keep(&access, by) {
                    return true;
                }
            }
        }
        self.compare_lds((access, by), size, uses);
        is_plain
    }

    /// [`Known::lds`](super::super::Known::lds) of a wave of the running workgroup.
    pub(in super::super) fn lds_settled(&mut self, group: &Group<'_>, wave: u8) -> u64 {
        let is_void = self.settled.is_void();
        match is_void || self.enter(group).phase(wave).assumed.no_stores {
            true => group.lds.size().into(),
            false => 0,
        }
    }

    /// Notes the range of an access: need it not be compared?
    fn is_skipped(&mut self, made: &By<'_>, size: u64) -> bool {
        let (access, _) = made;
        let Some((low, high)) = access.hull() else {
            return false;
        };
        let wave = access.wave as u8;
        let phase = self.running().phase(wave);
        let inside = (low.min(size) as u32, high.min(size) as u32);
        if inside.0 < inside.1 {
            phase.hulls.add(wave, access.kind, inside);
        }
        let skips = phase.assumed.apart && high <= size;
        if skips {
            self.examine_lanes(made, true);
        }
        skips
    }

    /// Is it a load that need not be compared yet? The first ones of an instruction are, to find reads of what nobody wrote.
    fn is_plain(&mut self, access: &WaveAccess<'_>, site: u16, size: u64) -> bool {
        let exec = access.exec.unwrap_or_default();
        !self.sites.examines(site) && access.addresses.are_below(size, exec, access.bytes)
    }

    /// Compares an access with those before.
    fn compare_lds(&mut self, made: By<'_>, size: u64, uses: Uses) {
        let (access, _) = made;
        let mut met = match uses.lds_flags {
            true => self.before_first_store(&made, size),
            false => Vec::new(),
        };
        let mut outside = None;
        let flags = uses.lds_flags && access.kind.is_of_flags();
        let (_, running) = self.current.as_mut().expect("a workgroup was entered");
        let how = How::lds(&made, running, uses, &self.order);
        let left = match flags {
            true => access,
            false => follow(&mut running.lds, &access, &how, (0, size)),
        };
        for run in left.runs() {
            if flags {
                self.observe_lds_flags(&made, &run);
            }
            let (_, running) = self.current.as_mut().expect("a workgroup was entered");
            let how = How::lds(&made, running, uses, &self.order);
            // What is behind the LDS is not accessed.
            let bytes = run.bytes.min(size.saturating_sub(run.address));
            if bytes < run.bytes {
                let at = run.address + bytes;
                outside = outside.or(Some((at, run.lane(at, &access))));
            }
            let found = &mut |at, what| met.push((at, run.lane(at, &access), what));
            running.lds.access(run.address, bytes, &how, found);
        }
        // What is behind the LDS is not stored.
        match outside {
            Some(at) => self.at_address(Rule::OutOfLds, &made, true, at, None),
            None => self.examine_lanes(&made, true),
        }
        let tells = uses.polls_lds || uses.lds_flags && access.kind == AccessKind::Atomic;
        // What follows is not told.
        if access.kind.changes() && tells {
            self.running().wave(access.wave as u8).interval = None;
        }
        for (at, lane, what) in met {
            match what {
                Met::Conflict(conflict) => self.race(Rule::RaceLds, &made, (at, lane, conflict)),
                Met::Unwritten => {
                    self.at_address(Rule::UnwrittenLds, &made, true, (at, lane), None)
                }
            }
        }
    }

    /// A flag needs a first value, since LDS has none: conflicts of the first store to a word with polls and atomics of other waves.
    fn before_first_store(&mut self, made: &By<'_>, size: u64) -> Vec<(u64, Option<u32>, Met)> {
        let (access, by) = made;
        let mut met = Vec::new();
        if access.kind == AccessKind::Read {
            return met;
        }
        let (_, running) = self.current.as_mut().expect("a workgroup was entered");
        let store = (access.kind == AccessKind::Write).then_some((by.interval, by.site));
        for (word, lane) in access.words(size) {
            let first = running.first_stores.get(&word).copied();
            if access.kind.changes() && first.is_none() {
                running.first_stores.insert(word, store);
            }
            let conflict = match first {
                Some(Some((interval, site))) if access.kind.is_of_flags() => Some(Conflict {
                    interval,
                    site,
                    kind: AccessKind::Write,
                    releases: false,
                }),
                None if store.is_some() => {
                    let record = running.lds.get(word);
                    let is_of_flags = record.is_since(running.first) && record.is_of_flags();
                    is_of_flags.then(|| record.conflict())
                }
                _ => None,
            };
            let is_before = |one: &Conflict| self.order.past(one.interval, by.interval).before;
            if let Some(conflict) = conflict.filter(|one| !is_before(one)) {
                met.push((word, lane, Met::Conflict(conflict)));
            }
        }
        met
    }

    /// The wave reads or changes flags in LDS: it knows at once what the writers knew.
    fn observe_lds_flags(&mut self, (access, by): &By<'_>, run: &Run) {
        let wave = access.wave as u8;
        let polls = access.kind == AccessKind::CoherentRead;
        for address in run.elements(access) {
            let running = self.running();
            let (first, record) = (running.first, running.lds.get(address));
            let mut known = running.flags.get(&address).cloned().unwrap_or_default();
            if record.is_since(first) && record.is_store() {
                join(&mut known, &self.order.knowledge(record.interval()));
            }
            if !polls {
                let mut told = self.order.knowledge(by.interval);
                join(&mut told, &known);
                join(self.running().flags.entry(address).or_default(), &told);
            }
            if !known.is_empty() && (polls || access.returns) {
                let number = self.running().number;
                self.order.acquire_wave(number, wave, &known);
            }
        }
    }
}
