//! Breakpoints and watchpoints.

use runtime::Access;
use runtime::debug::{State, Step};
use runtime::trace::{MemoryAccess, Space};

use super::Named;
use super::eval::Scope;
use super::expr::Expr;

/// Which waves a breakpoint or a watchpoint concerns, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Only when this holds: is another number than 0, in any active lane.
    pub condition: Option<Expr>,
    /// The condition as it was written.
    pub condition_text: Option<String>,
    /// Only the wave of this number in its workgroup.
    pub wave: Option<u32>,
    /// Only this workgroup.
    pub workgroup: Option<[u32; 3]>,
    /// Only launches of the dispatch of this number.
    pub dispatch: Option<usize>,
    /// It is deleted when it has stopped a wave.
    pub temporary: bool,
}

/// Accesses that a watchpoint stops after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchKind {
    /// Writes and atomics.
    #[default]
    Write,
    /// Reads and atomics.
    Read,
    /// All.
    Access,
}

impl WatchKind {
    fn is_met_by(self, access: Access) -> bool {
        match self {
            WatchKind::Write => access != Access::Read,
            WatchKind::Read => access != Access::Write,
            WatchKind::Access => true,
        }
    }

    /// What it stops after, for readers.
    pub const fn name(self) -> &'static str {
        match self {
            WatchKind::Write => "write",
            WatchKind::Read => "read",
            WatchKind::Access => "access",
        }
    }
}

/// What a point stops at.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// Before the instruction at one of these guest addresses.
    Code(Vec<u64>),
    /// After an access to these bytes.
    Memory {
        /// Kind of memory.
        space: Space,
        /// Guest address; offset in LDS, or in the scratch of any lane.
        address: u64,
        /// Size.
        bytes: u64,
        /// Accesses that count.
        kind: WatchKind,
    },
}

/// A breakpoint or a watchpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its number, from 1 on.
    pub id: u32,
    /// What it stops at.
    pub trigger: Trigger,
    /// That as it was written.
    pub text: String,
    /// Which waves.
    pub limits: Limits,
    /// Is it heeded?
    pub enabled: bool,
    /// How often it has stopped a wave.
    pub hits: u64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Points {
    pub(super) all: Vec<Point>,
    last: u32,
}

/// What a wave has met.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hit {
    pub(super) id: u32,
    /// Why the condition could not be evaluated.
    pub(super) error: Option<String>,
    /// Of a watchpoint: the access.
    pub(super) access: Option<MemoryAccess>,
}

impl Points {
    pub(super) fn add(&mut self, trigger: Trigger, text: String, limits: Limits) -> &Point {
        self.last += 1;
        self.all.push(Point {
            id: self.last,
            trigger,
            text,
            limits,
            enabled: true,
            hits: 0,
        });
        self.all.last().expect("it was added")
    }

    /// A point has stopped a wave.
    pub(super) fn count(&mut self, id: u32) {
        if let Some(point) = self.all.iter_mut().find(|point| point.id == id) {
            point.hits += 1;
        }
        self.all
            .retain(|point| point.id != id || !point.limits.temporary);
    }

    /// The point that stops the current wave before its next instruction.
    pub(super) fn before(
        &self,
        state: &State<'_, '_>,
        dispatch: usize,
        buffers: &[Named],
    ) -> Option<Hit> {
        if self.all.is_empty() {
            return None;
        }
        let pc = state.wave(state.current())?.pc;
        let at = |point: &&Point| matches!(&point.trigger, Trigger::Code(all) if all.contains(&pc));
        let mut met = self.all.iter().filter(at);
        met.find_map(|point| point.stops(state, dispatch, buffers, None))
    }

    /// The point that stops the current wave after an instruction.
    pub(super) fn after(
        &self,
        state: &State<'_, '_>,
        step: &Step,
        dispatch: usize,
        buffers: &[Named],
    ) -> Option<Hit> {
        if self.all.is_empty() || step.accesses.is_empty() {
            return None;
        }
        self.all.iter().find_map(|point| {
            let Trigger::Memory {
                space,
                address,
                bytes,
                kind,
            } = point.trigger
            else {
                return None;
            };
            let access = step.accesses.iter().find(|access| {
                let end = access.address.saturating_add(access.value.len() as u64);
                access.space == space
                    && kind.is_met_by(access.access)
                    && access.address < address.saturating_add(bytes)
                    && address < end
            })?;
            point.stops(state, dispatch, buffers, Some(access.clone()))
        })
    }
}

impl Point {
    /// Does it stop the current wave, which is where it stops waves?
    fn stops(
        &self,
        state: &State<'_, '_>,
        dispatch: usize,
        buffers: &[Named],
        access: Option<MemoryAccess>,
    ) -> Option<Hit> {
        let Limits {
            wave,
            workgroup,
            dispatch: only,
            condition,
            ..
        } = &self.limits;
        let concerns = self.enabled
            && wave.is_none_or(|wave| wave == state.current())
            && workgroup.is_none_or(|id| id == state.workgroup())
            && only.is_none_or(|only| only == dispatch);
        if !concerns {
            return None;
        }
        let holds = condition.as_ref().map_or(Ok(true), |condition| {
            let scope = Scope::of(state, state.current(), buffers)?;
            scope.evaluate(condition).map(|value| value.is_true())
        });
        let error = match holds {
            Ok(false) => return None,
            Ok(true) => None,
            Err(error) => Some(error.to_string()),
        };
        Some(Hit {
            id: self.id,
            error,
            access,
        })
    }
}
