//! Which barriers accesses depend on.

use super::super::barriers::{Barriers, Need, Place, Rounds};
use super::super::findings::{Finding, Key, Rule};
use super::super::record::AccessKind;
use super::super::running::{Dispatch, Id};
use super::super::runs::WaveAccess;
use super::super::sites::{Place as CodePlace, Uses};
use super::{By, State};
use crate::engine::Group;

impl State {
    /// See [`Sanitizer::examine_barriers`](super::super::Sanitizer::examine_barriers).
    pub(in super::super) fn examine_barriers(&mut self, on: bool) {
        self.examines_barriers = on;
    }

    /// See [`Sanitizer::take_suspects`](super::super::Sanitizer::take_suspects).
    pub(in super::super) fn take_suspects(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.suspects)
    }

    /// See [`Sanitizer::disregard`](super::super::Sanitizer::disregard).
    pub(in super::super) fn disregard(&mut self, barrier: Option<&Finding>) {
        self.disregarded = barrier.map(|one| CodePlace {
            code: one.at.code,
            pc: one.at.pc,
        });
    }

    /// The barriers of a dispatch that runs.
    fn barriers(&mut self, dispatch: u64) -> &mut Barriers {
        self.barriers.entry(dispatch).or_default()
    }

    /// For a workgroup that begins and whose barriers are examined.
    pub(super) fn rounds(&mut self, group: &Group<'_>) -> Option<Rounds> {
        self.examines(group)
            .then(|| self.rounds.pop().unwrap_or_default())
    }

    /// Are barriers of workgroups examined that begin now, which are of the same code and size?
    pub(super) fn examines(&mut self, group: &Group<'_>) -> bool {
        self.examines_barriers
            && self.disregarded.is_none()
            && self.sites.uses(group.code).barriers
            && self.barriers(group.dispatch).are_open()
    }

    /// A workgroup ends.
    pub(super) fn end_rounds(&mut self, dispatch: u64, rounds: Option<Rounds>) {
        if let Some(mut rounds) = rounds {
            rounds.clear();
            self.rounds.push(rounds);
            self.barriers(dispatch).end_group();
        }
    }

    /// The running workgroup accesses LDS.
    #[inline]
    pub(super) fn depends_in_lds(&mut self, made: &By<'_>) {
        if self.is_examined() {
            self.depends(&made.0, |address, bytes| Place::Lds { address, bytes });
        }
    }

    /// The running workgroup accesses global memory.
    #[inline]
    pub(super) fn depends_in_global(&mut self, made: &By<'_>, uses: Uses) {
        if self.is_examined() {
            self.depends(&made.0, |address, bytes| Place::Global { address, bytes });
            if uses.acquires || uses.syncs {
                let (access, by) = made;
                // A store may be a flag if those before it have been waited for.
                let tells = match access.kind {
                    AccessKind::Read => false,
                    AccessKind::Write => by.releases,
                    AccessKind::CoherentRead | AccessKind::Atomic => true,
                };
                self.depends_on(access.wave as u8, Place::Flags, tells);
            }
        }
    }

    fn is_examined(&self) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|(_, running)| running.examined.is_some())
    }

    #[cold]
    fn depends(&mut self, access: &WaveAccess<'_>, place: impl Fn(u64, u64) -> Place) {
        for run in access.runs() {
            let place = place(run.address, run.bytes);
            self.depends_on(access.wave as u8, place, access.kind.changes());
        }
    }

    /// A wave of the running workgroup makes an access.
    fn depends_on(&mut self, wave: u8, place: Place, writes: bool) {
        let Some((id, running)) = &mut self.current else {
            return;
        };
        let by = (wave, running.round_of(wave));
        let examined = running.examined.as_mut();
        let site = examined.and_then(|rounds| rounds.access(by, place, writes));
        if let Some(site) = site {
            let need = match place {
                Place::Flags => Need::Flags,
                Place::Lds { .. } | Place::Global { .. } => Need::Words,
            };
            let dispatch = id.dispatch;
            self.barriers(dispatch).needs(site, need);
        }
    }

    /// A wave of the running workgroup arrives at a barrier, perhaps as the first one.
    pub(super) fn examine_barrier(&mut self, site: u16, wave: u8, is_first: bool) {
        let Some((id, running)) = &mut self.current else {
            return;
        };
        let Some(rounds) = &mut running.examined else {
            return;
        };
        if is_first {
            rounds.next(site);
        }
        let (id, of_first) = (*id, rounds.barrier());
        let is_own = self.sites.is_own(site);
        let barriers = self.barriers(id.dispatch);
        barriers.arrives(site, (id, wave));
        // Waves at different barriers wait for one another, and instructions may share a number.
        if of_first != Some(site) || !is_own {
            for needed in of_first.into_iter().chain([site]) {
                barriers.needs(needed, Need::Words);
            }
        }
    }

    /// A wave by the global wave sync tells others of other workgroups what it did, or learns of others.
    pub(super) fn examine_sync(&mut self, wave: u8) {
        self.depends_on(wave, Place::Flags, true);
    }

    /// A wave of the dispatch may learn of other workgroups.
    pub(super) fn examine_acquire(&mut self, dispatch: u64) {
        if self.examines_barriers {
            self.barriers(dispatch).acquires();
        }
    }

    /// Adds notes of the barriers on which nothing depended in a dispatch, which has ended, and keeps those of which this is not certain.
    pub(super) fn find_redundant(&mut self, dispatch: Dispatch, barriers: &Barriers) {
        for (site, barrier) in barriers.not_needed() {
            let (id, wave): (Id, u8) = barrier.first;
            let rule = Rule::RedundantBarrier;
            let at = self.side_of(id, site, wave, None, None);
            let finding = Finding {
                launch: dispatch.launch,
                ..Finding::new(rule, at, None)
            };
            if barriers.is_suspect(&barrier) {
                self.suspects.push(finding);
                continue;
            }
            let key = Key {
                launch: dispatch.launch,
                rule,
                site,
                other: None,
            };
            self.findings.add(key, finding);
        }
    }
}
