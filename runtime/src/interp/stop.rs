//! Why an instruction did not finish: a fault kind and the lane, before the PC is known.

use crate::fault::FaultKind;
use crate::memory::MemoryError;

/// A fault of the instruction that is being executed.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) kind: Box<FaultKind>,
    pub(crate) lane: Option<u32>,
}

/// Result of a step inside an instruction.
pub(crate) type Run<T> = Result<T, Stop>;

impl Stop {
    /// A fault of the scalar unit or of the whole wave.
    pub(crate) fn wave(kind: FaultKind) -> Stop {
        Stop {
            kind: Box::new(kind),
            lane: None,
        }
    }

    /// A fault of one lane.
    pub(crate) fn lane(kind: FaultKind, lane: usize) -> Stop {
        Stop {
            kind: Box::new(kind),
            lane: Some(lane as u32),
        }
    }

    /// A bad memory access of one lane.
    pub(crate) fn memory(error: MemoryError, lane: usize) -> Stop {
        Stop::lane(error.into(), lane)
    }

    /// Something that this program does not run.
    #[cold]
    pub(crate) fn unsupported(what: impl Into<String>) -> Stop {
        Stop::wave(FaultKind::Unsupported { what: what.into() })
    }
}
