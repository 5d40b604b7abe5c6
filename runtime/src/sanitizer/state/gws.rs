//! The global wave sync: its barriers and semaphores order waves of all workgroups, as those of cooperative launches.

use std::collections::HashMap;

use super::super::order::{Clock, join};
use super::State;
use crate::engine::Group;

/// What waves tell each other by the resources of the global wave sync.
#[derive(Default)]
pub(super) struct Syncs(HashMap<u8, Sync>);

#[derive(Default)]
struct Sync {
    /// What those know that have arrived at the barrier.
    arrived: Clock,
    /// What those learn that pass.
    passed: Clock,
}

impl Syncs {
    /// Forgets all: no dispatch runs.
    pub(super) fn restart(&mut self) {
        self.0.clear();
    }

    fn of(&mut self, resource: u8) -> &mut Sync {
        self.0.entry(resource).or_default()
    }
}

impl State {
    /// A wave arrives at a barrier, or lets others pass a semaphore. Others learn of what it has waited for.
    pub(in super::super) fn sync_arrives(&mut self, group: &Group<'_>, wave: u8, resource: u8) {
        self.enter(group);
        self.examine_sync(wave);
        let state = self.running().wave(wave);
        if state.storing {
            return;
        }
        state.interval = None;
        let interval = self.interval(wave);
        self.order.tell(interval);
        let told = self.order.knowledge(interval);
        join(&mut self.syncs.of(resource).arrived, &told);
        // What follows is not told.
        self.running().wave(wave).interval = None;
    }

    /// All have arrived.
    pub(in super::super) fn sync_completes(&mut self, resource: u8) {
        let sync = self.syncs.of(resource);
        let arrived = std::mem::take(&mut sync.arrived);
        join(&mut sync.passed, &arrived);
    }

    /// A wave passes.
    pub(in super::super) fn sync_passes(&mut self, group: &Group<'_>, resource: u8) {
        let number = self.enter(group).number;
        self.examine_sync(group.wave as u8);
        self.examine_acquire(group.dispatch);
        let passed = &self.syncs.of(resource).passed;
        self.order.acquire_wave(number, group.wave as u8, passed);
    }
}
