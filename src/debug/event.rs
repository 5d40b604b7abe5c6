//! What a debugger reports: stops, ends, waves and the functions that they are in.

use runtime::fault::{Fault, FaultKind};
use runtime::trace::MemoryAccess;

use super::{CodePlace, Phase};
use crate::error::Error;

/// What has happened.
#[derive(Debug)]
pub enum Event {
    /// A wave has stopped.
    Stopped(Stop),
    /// The program has ended.
    Ended(Ended),
}

/// How a program has ended.
#[derive(Debug)]
pub enum Ended {
    /// All launches have ended.
    Completed,
    /// The guest did wrong.
    Fault {
        /// Number of the dispatch.
        dispatch: usize,
        /// The fault.
        fault: Box<Fault>,
    },
    /// A launch was refused.
    Refused {
        /// Number of the dispatch.
        dispatch: usize,
        /// Why.
        error: Error,
    },
}

/// A stopped wave.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Why it has stopped.
    pub reason: Reason,
    /// Number of its dispatch.
    pub dispatch: usize,
    /// Number of the dispatch's launch, from 0 on.
    pub launch: u64,
    /// The kernel.
    pub kernel: String,
    /// Its workgroup.
    pub workgroup: [u32; 3],
    /// Its number there.
    pub wave: u32,
    /// Where it is.
    pub place: CodePlace,
    /// Its next instruction, as LLVM prints it; that which has faulted.
    pub instruction: String,
    /// Instructions that the workgroup's waves have executed.
    pub position: u64,
    /// Those that the wave has executed: the number of the next one, as in a trace. One that has faulted
    /// is counted.
    pub executed: u64,
    /// What the wave does.
    pub phase: Phase,
}

/// Why a wave has stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The program begins.
    Entry,
    /// The request is completed.
    Step,
    /// A breakpoint, before the instruction.
    Breakpoint {
        /// Its number.
        id: u32,
        /// Why its condition could not be evaluated.
        error: Option<String>,
    },
    /// A watchpoint, after the instruction that made the access.
    Watchpoint {
        /// Its number.
        id: u32,
        /// Why its condition could not be evaluated.
        error: Option<String>,
        /// The access, the first of the instruction to those bytes.
        access: MemoryAccess,
    },
    /// An instruction has faulted; the dispatch ends when it continues.
    Fault {
        /// The cause.
        kind: FaultKind,
        /// The lane; `None` for the scalar unit.
        lane: Option<u32>,
    },
    /// [`Interrupter::interrupt`](super::Interrupter::interrupt), or the limit of
    /// [`Debugger::set_limit`](super::Debugger::set_limit).
    Interrupted,
    /// The wave has ended.
    WaveEnded,
    /// There is nothing before it to go back to.
    HistoryBegins,
}

/// A wave of the stopped workgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveInfo {
    /// Its number.
    pub wave: u32,
    /// What it does.
    pub phase: Phase,
    /// Where it is.
    pub place: CodePlace,
    /// EXEC.
    pub exec: u64,
    /// Instructions that it has executed.
    pub executed: u64,
}

/// A function that a wave is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name as in source text; empty if it is unknown.
    pub function: String,
    /// Is it inlined into the next one, and not called?
    pub inlined: bool,
    /// Where it is: of the innermost the next instruction, of its callers that behind the call. The line
    /// is that of the call, in a caller and where another function is inlined.
    pub place: CodePlace,
    /// The guest address.
    pub pc: u64,
}
