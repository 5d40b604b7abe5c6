//! One worker's decisions about the workgroup that it runs.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::board::{Board, Polling};
use super::group::{Referee, Verdict};
use super::thread_pool::Leader;
use super::waits::Poll;
use crate::fault::FaultKind;

/// Time that workers below a faulted group get to finish: a group that waits for one that will
/// never run must not wait forever.
const GRACE: Duration = Duration::from_secs(10);

/// Expected time up to which the leader runs a dispatch alone: calling helpers takes as long.
pub(super) const ALONE: Duration = Duration::from_micros(30);

/// Decides when the leader of a dispatch calls its helpers.
pub(super) struct Caller<'a> {
    pub(super) leader: &'a Leader<'a>,
    pub(super) begin: Instant,
}

impl Caller<'_> {
    /// Are there helpers to call?
    pub(super) fn may_call(&self) -> bool {
        self.leader.may_call()
    }

    /// Calls them if the dispatch has taken long enough.
    pub(super) fn look(&self) {
        if self.leader.may_call() && self.begin.elapsed() > ALONE {
            self.leader.call();
        }
    }
}

/// One worker's view while it runs a group.
pub(super) struct GroupReferee<'b, 'a> {
    board: &'b Board<'a>,
    group: u64,
    /// Workgroups after it that the worker has taken, too.
    held: u64,
    caller: Option<&'b Caller<'b>>,
}

impl<'b, 'a> GroupReferee<'b, 'a> {
    pub(super) fn new(
        board: &'b Board<'a>,
        group: u64,
        held: u64,
        caller: Option<&'b Caller<'b>>,
    ) -> GroupReferee<'b, 'a> {
        GroupReferee {
            board,
            group,
            held,
            caller,
        }
    }
}

impl Board<'_> {
    /// The workgroup ends, or stops polling.
    pub(super) fn leave(&self, group: u64) {
        // Few dispatches ever have one.
        if self.waits.any.load(Relaxed) {
            self.polling().remove(&group);
        }
    }

    /// The fault of a dispatch whose time is over.
    pub(super) fn time_is_over(&self) -> Option<FaultKind> {
        let (deadline, limit) = self.deadline?;
        let seconds = limit.as_secs_f64();
        (Instant::now() >= deadline).then_some(FaultKind::Timeout { seconds })
    }

    /// Have workers had enough time since a fault?
    pub(super) fn is_late(&self) -> bool {
        self.reported().is_some_and(|when| when.elapsed() > GRACE)
    }
}

impl Referee for GroupReferee<'_, '_> {
    fn passed(&mut self, groups: u32) {
        self.board.leave(self.group);
        self.group += u64::from(groups);
        self.held -= u64::from(groups);
    }

    fn burned(&mut self) -> Verdict {
        if let Some(caller) = self.caller {
            caller.look();
        }
        let bad = self.board.bad_group.load(Relaxed);
        if bad < self.group || self.board.stops() {
            return Verdict::Abandon;
        }
        if let Some(kind) = self.board.time_is_over() {
            return Verdict::Timeout(kind);
        }
        if bad != u64::MAX && self.board.is_late() {
            return Verdict::Abandon;
        }
        if self.board.meeting.called.load(Relaxed) {
            return Verdict::Stall;
        }
        Verdict::Continue
    }

    fn spinning(&mut self) {
        if self.board.threads != 1 {
            std::thread::yield_now();
        }
    }

    fn others(&self) -> bool {
        self.board.others(self.held)
    }

    #[cold]
    fn polls(&mut self, poll: Option<Poll>) -> bool {
        let Some(poll) = poll else {
            self.board.leave(self.group);
            return false;
        };
        let polling = Polling {
            poll,
            held: self.held,
        };
        self.board.waits.any.store(true, Relaxed);
        self.board.polling().insert(self.group, polling);
        self.board
            .seems_to_wait(self.board.active.load(Relaxed))
            .is_some()
    }
}
