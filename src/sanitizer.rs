//! Dynamic checks of dispatches, for [`Device::findings`](crate::Device::findings), and what they find in words.

use std::fmt;

use runtime::fault::{Access, FaultKind};
use runtime::lockstep::Snapshot;
pub use runtime::sanitizer::{AccessKind, Finding, Rule, Sanitizer, Side};

use crate::check::{self, Certainty, Place, Severity};
use crate::{Device, Error, Kernel, Stats, undefined};

/// The rules, and how severe it is to break them.
macro_rules! rules {
    ($($name:ident: $id:literal, $severity:ident, $certainty:ident, $title:literal, $source:expr;)*) => {
        /// A rule as those of static checks, and how severe it is to break it.
        fn described(rule: Rule) -> (&'static check::Rule, Severity) {
            match rule {
                $(Rule::$name => {
                    static RULE: check::Rule = check::Rule {
                        id: $id,
                        title: $title,
                        certainty: Certainty::$certainty,
                        source: $source,
                    };
                    (&RULE, Severity::$severity)
                })*
            }
        }

        const ALL: &[Rule] = &[$(Rule::$name),*];
    };
}

const MODEL: &str = "LLVM, User Guide for AMDGPU Backend, memory model; ISA manuals, S_BARRIER";

rules! {
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
    RedundantBarrier: "redundant-barrier", Note, C, "nothing in the launch depends on a barrier", MODEL;
}

/// The rule of a comparison with a run in another order, which [`Device::findings`](crate::Device::findings) does not make.
pub static ORDER_DEPENDENT: check::Rule = check::Rule {
    id: "order-dependent",
    title: "results do not depend on the order of workgroups and waves",
    certainty: Certainty::B,
    source: "a run in another order",
};

const fn of_undefined(id: &'static str, title: &'static str) -> check::Rule {
    check::Rule {
        id,
        title,
        certainty: Certainty::A,
        source: "AMDGPUUsage, initial kernel execution state",
    }
}

static UNDEFINED_ADDRESS: check::Rule =
    of_undefined("undefined-address", "an address is undefined");
static UNDEFINED_BRANCH: check::Rule =
    of_undefined("undefined-branch", "a branch depends on an undefined value");
static UNDEFINED_OUTPUT: check::Rule = of_undefined(
    "undefined-output",
    "an undefined value is stored or exported",
);

/// What an undefined value reaches, as a rule.
pub fn undefined(reached: undefined::Rule) -> &'static check::Rule {
    match reached {
        undefined::Rule::Address => &UNDEFINED_ADDRESS,
        undefined::Rule::Branch => &UNDEFINED_BRANCH,
        undefined::Rule::Output => &UNDEFINED_OUTPUT,
    }
}

/// The rules of what [`Device::findings`](crate::Device::findings) gives, those of notes included.
pub fn launch_rules() -> impl Iterator<Item = &'static check::Rule> {
    ALL.iter().map(|&rule| described(rule).0)
}

/// All rules of dynamic checks, those of notes included.
pub fn rules() -> impl Iterator<Item = &'static check::Rule> {
    launch_rules().chain([
        &ORDER_DEPENDENT,
        &UNDEFINED_ADDRESS,
        &UNDEFINED_BRANCH,
        &UNDEFINED_OUTPUT,
    ])
}

/// A finding in words.
///
/// ```
/// use wavelift::sanitizer::Described;
/// use wavelift::{Device, DeviceOptions, Launch, Module};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::with_options(DeviceOptions { sanitize: true, ..DeviceOptions::default() })?;
/// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
/// let (kernel, y) = (module.kernel("saxpy")?, device.alloc(4 * 99)?);
/// let args = [(&y).into(), (&y).into(), 0.5f32.into(), 100u32.into()];
/// device.launch(&kernel, &Launch::new(256, 256), &args)?;
/// let finding = device.findings().remove(0);
/// let described = Described::new(&finding, &kernel, |address| format!("{address:#x}"));
/// assert_eq!(described.rule.id, "out-of-bounds");
/// assert!(described.to_string().contains("past the end of a 396-byte"), "{described}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The rule.
    pub rule: &'static check::Rule,
    /// Defect or note.
    pub severity: Severity,
    /// What was accessed; `None` for barriers.
    pub what: Option<String>,
    /// What is wrong, in one sentence.
    pub why: String,
    /// The instruction at which it was found.
    pub at: Place,
    /// The earlier one.
    pub other: Option<Place>,
}

impl Described {
    /// Describes a finding of a launch of `kernel`. `name` names global memory by its address.
    pub fn new(found: &Finding, kernel: &Kernel, name: impl FnOnce(u64) -> String) -> Described {
        let at = place(kernel, found.at.pc);
        let other = found.other.map(|other| place(kernel, other.pc));
        Described::at(found, name, at, other)
    }

    /// Describes a finding, whose instructions are known.
    pub fn at(
        found: &Finding,
        name: impl FnOnce(u64) -> String,
        at: Place,
        other: Option<Place>,
    ) -> Described {
        let (rule, severity) = rule(found);
        let what = accessed(found, name);
        Described {
            rule,
            severity,
            why: why(found, what.as_deref()),
            what,
            at,
            other,
        }
    }
}

/// The sentence with the rule's name, and a line for each instruction, the earlier one first.
impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = self.severity.name();
        write!(f, "{severity}: {} [{}]", self.why, self.rule.id)?;
        let places = self.other.iter().chain([&self.at]);
        places
            .into_iter()
            .try_for_each(|place| write!(f, "\n  {place}"))
    }
}

/// Barriers of the last launch that order nothing other workgroups learn of by flags, and nothing else depends on: see
/// [`Sanitizer::take_suspects`].
///
/// `before` has the device's memory before the launch, which `launch` repeats for each barrier that may be one. Memory is left as it was
/// when this was called.
///
/// # Errors
///
/// Memory cannot be read or written. A repeated launch that fails shows nothing of its barrier.
pub fn redundant_behind_flags(
    device: &Device,
    before: &Snapshot,
    mut launch: impl FnMut() -> Result<Stats, Error>,
) -> Result<Vec<Finding>, Error> {
    let memory = device.memory();
    let Some(sanitizer) = memory.sanitizer() else {
        return Ok(Vec::new());
    };
    let suspects = sanitizer.take_suspects();
    if suspects.is_empty() {
        return Ok(suspects);
    }
    let after = Snapshot::take(&memory)?;
    let mut is_redundant = |suspect: &Finding| -> Result<bool, Error> {
        before.restore(&memory)?;
        sanitizer.assume(false);
        sanitizer.disregard(Some(suspect));
        let ended = launch();
        sanitizer.disregard(None);
        let found = device.findings();
        let is_race = |one: &Finding| matches!(one.rule, Rule::RaceLds | Rule::RaceGlobal);
        Ok(ended.is_ok() && !found.iter().any(is_race))
    };
    let mut redundant = Vec::new();
    for suspect in suspects {
        if is_redundant(&suspect)? {
            redundant.push(suspect);
        }
    }
    after.restore(&memory)?;
    Ok(redundant)
}

/// The instruction at a guest address of a kernel's code object.
pub fn place(kernel: &Kernel, pc: u64) -> Place {
    let code = kernel.module().code();
    let address = code.local(pc);
    let map = kernel.module().source().ok();
    let line = map.and_then(|map| map.location(address));
    Place {
        address,
        text: code.text_at(pc),
        line: line.map(|at| (at.file.to_owned(), at.line)),
    }
}

/// The rule that is broken.
fn rule(found: &Finding) -> (&'static check::Rule, Severity) {
    let (rule, severity) = described(found.rule);
    // Hardware does not wait for waves that have ended.
    let ended = found.rule == Rule::BarrierDivergence && found.other.is_none();
    match found.same_value || ended {
        true => (rule, Severity::Note),
        false => (rule, severity),
    }
}

/// What was accessed.
fn accessed(found: &Finding, name: impl FnOnce(u64) -> String) -> Option<String> {
    use Rule::{
        BarrierDivergence, BarrierLanes, MixedAtomic, OutOfBounds, RedundantBarrier, UseAfterFree,
    };
    match found.rule {
        BarrierDivergence | BarrierLanes | MixedAtomic | RedundantBarrier => None,
        OutOfBounds | UseAfterFree => Some(format!("0x{:x}", found.address)),
        _ if found.lds => Some(format!("LDS at 0x{:x}", found.address)),
        _ => Some(name(found.address)),
    }
}

/// One sentence.
fn why(found: &Finding, what: Option<&str>) -> String {
    use Rule::{
        BarrierDivergence, BarrierLanes, LanesCollide, MixedAtomic, OutOfBounds, OutOfLds,
        RaceGlobal, RaceLds, RedundantBarrier, UnwrittenLds, UseAfterFree,
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
        RedundantBarrier => {
            "nothing in this launch depends on the barrier: it alone separates no accesses of two waves to one word, of which one writes"
                .to_owned()
        }
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

/// The lane, wave and workgroup of a side, in words.
pub fn who(side: &Side) -> String {
    let lane = side.lane.map(|lane| format!("lane {lane} of "));
    let [x, y, z] = side.workgroup;
    format!(
        "{}wave {} of workgroup ({x}, {y}, {z})",
        lane.unwrap_or_default(),
        side.wave
    )
}
