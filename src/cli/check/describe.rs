//! What the sanitizer finds, in words.

use runtime::fault::{Access, FaultKind};
use wavelift::check::{Certainty, Rule, Severity};
use wavelift::sanitizer::{self, AccessKind, Finding, Side};

/// A rule as those of static checks are described, and what breaking it is.
pub(super) fn rule(found: &Finding) -> (&'static Rule, Severity) {
    const MODEL: &str = "LLVM, User Guide for AMDGPU Backend, memory model; ISA manuals, S_BARRIER";
    macro_rules! rules {
        ($($name:ident: $id:literal, $severity:ident, $certainty:ident, $title:literal, $source:expr;)*) => {
            match found.rule {
                $(sanitizer::Rule::$name => {
                    static RULE: Rule = Rule {
                        id: $id,
                        title: $title,
                        certainty: Certainty::$certainty,
                        source: $source,
                    };
                    (&RULE, Severity::$severity)
                })*
            }
        };
    }
    let (rule, severity) = rules! {
        RaceLds: "race-lds", Finding, A, "waves of a workgroup access LDS in one interval between barriers, and one writes", MODEL;
        RaceGlobal: "race-global", Finding, A, "waves access global memory without an order, and one writes", MODEL;
        UnwrittenLds: "unwritten-lds", Note, B, "LDS is read that the workgroup has not written", "OpenCL C, local memory";
        OutOfBounds: "out-of-bounds", Finding, A, "an access is outside of all allocations", "the buffers of the manifest, or allocations of the program";
        UseAfterFree: "use-after-free", Finding, A, "an access is to memory that was freed", "allocations of the program";
        OutOfLds: "out-of-lds", Finding, A, "an access is behind the workgroup's LDS", "the kernel descriptor";
        BarrierDivergence: "barrier-divergence", Finding, B, "all waves of a workgroup arrive at the same barriers", "OpenCL C, barrier";
        BarrierLanes: "barrier-lanes", Note, C, "all lanes of a wave arrive at a barrier", "OpenCL C, barrier";
        LanesCollide: "lanes-collide", Note, C, "lanes of a store store different values to different bytes", "ISA manuals, order of lanes";
        MixedAtomic: "mixed-atomic", Note, C, "lanes of a FLAT atomic are all in one memory", "ISA manuals, FLAT";
    };
    // Hardware does not wait for waves that have ended.
    let ended = found.rule == sanitizer::Rule::BarrierDivergence && found.other.is_none();
    match found.same_value || ended {
        true => (rule, Severity::Note),
        false => (rule, severity),
    }
}

/// What was accessed; `name` gives the name of an address in an allocation.
pub(super) fn what(found: &Finding, name: impl FnOnce(u64) -> String) -> Option<String> {
    use sanitizer::Rule::{
        BarrierDivergence, BarrierLanes, MixedAtomic, OutOfBounds, UseAfterFree,
    };
    match found.rule {
        BarrierDivergence | BarrierLanes | MixedAtomic => None,
        OutOfBounds | UseAfterFree => Some(format!("0x{:x}", found.address)),
        _ if found.lds => Some(format!("LDS at 0x{:x}", found.address)),
        _ => Some(name(found.address)),
    }
}

/// One sentence.
pub(super) fn why(found: &Finding, what: Option<&str>) -> String {
    use sanitizer::Rule::{
        BarrierDivergence, BarrierLanes, LanesCollide, MixedAtomic, OutOfBounds, OutOfLds,
        RaceGlobal, RaceLds, UnwrittenLds, UseAfterFree,
    };
    let what = what.unwrap_or("memory");
    let (at, other) = (who(&found.at), found.other.as_ref());
    let does = verbs(&found.at)[0];
    match found.rule {
        RaceLds | RaceGlobal => {
            let order = match found.rule {
                _ if found.same_value => "both write the same value",
                RaceLds => "there is no barrier between",
                _ => "nothing orders the two",
            };
            let by = other.map_or_else(String::new, |other| before(&found.at, other));
            format!("{at} {does} {what}{by}; {order}")
        }
        UnwrittenLds => format!("{at} reads {what}, which its workgroup has not written"),
        OutOfBounds | UseAfterFree => format!("{at} {}", outside(found)),
        OutOfLds => format!("{at} {does} {what}, behind the workgroup's LDS"),
        BarrierDivergence => match other {
            Some(other) => format!("{at} is at another barrier than wave {}", other.wave),
            None => format!("{at} is at a barrier, and other waves of the workgroup have ended"),
        },
        BarrierLanes => format!("{at} is at a barrier, which not all of its lanes have reached"),
        LanesCollide => {
            format!("{at} writes {what}, to which another lane writes a different value")
        }
        MixedAtomic => format!("{at}: lanes of an atomic change global memory and LDS"),
    }
}

/// What a side does, and has done.
fn verbs(side: &Side) -> [&'static str; 2] {
    match side.kind {
        Some(AccessKind::Read | AccessKind::CoherentRead) => ["reads", "has read"],
        Some(AccessKind::Write) => ["writes", "has written"],
        Some(AccessKind::Atomic) => ["changes", "has changed by an atomic"],
        None => ["arrives at", "has arrived at"],
    }
}

/// The earlier side.
fn before(at: &Side, other: &Side) -> String {
    let by = match other.workgroup == at.workgroup {
        true => format!("wave {}", other.wave),
        false => who(other),
    };
    format!(", which {by} {}", verbs(other)[1])
}

fn outside(found: &Finding) -> FaultKind {
    FaultKind::Memory {
        access: match found.at.kind {
            Some(AccessKind::Write) => Access::Write,
            Some(AccessKind::Atomic) => Access::Atomic,
            _ => Access::Read,
        },
        address: found.address,
        bytes: found.bytes,
        nearest: found.nearest,
    }
}

pub(super) fn who(side: &Side) -> String {
    let lane = side.lane.map(|lane| format!("lane {lane} of "));
    let [x, y, z] = side.workgroup;
    format!(
        "{}wave {} of workgroup ({x}, {y}, {z})",
        lane.unwrap_or_default(),
        side.wave
    )
}
