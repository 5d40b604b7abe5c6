//! Loops that run inside the lane groups, against the interpreter: in every group width and as they stand, with
//! fuel that runs out and accesses that leave memory.

use lower::analysis::interchange::{self, Plan};

use super::rounds::Round;

mod divergent;
mod functions;
mod inside;
mod strided;

/// Loops of the region that are planned.
fn planned(round: &Round<'_>) -> Vec<Plan> {
    planned_for(round, 4)
}

/// The same for host vectors of `per` lanes.
fn planned_for(round: &Round<'_>, per: usize) -> Vec<Plan> {
    let (func, facts) = round.analysed();
    let live = lower::analysis::liveness::lives(&func).start;
    let plans = facts.loops().into_iter().filter_map(|head| {
        let entry = facts.at_loop(head)?;
        interchange::plan(&func, head, &live, entry, facts.row(), per, None)
    });
    plans.collect()
}
