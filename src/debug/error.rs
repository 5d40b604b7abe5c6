//! Errors of the debugger.

use crate::Dtype;
use crate::breaks::PlaceError;
use crate::error::Error;

/// Why a request to a [`Debugger`](super::Debugger) failed. The program is where it was.
#[derive(Debug, thiserror::Error)]
pub enum DebugError {
    /// A launch, or an access to its device, failed.
    #[error(transparent)]
    Library(#[from] Error),
    /// No launch was added.
    #[error("there is nothing to debug: no launch was added")]
    NoLaunch,
    /// There is no wave.
    #[error("no wave is stopped: the program has ended or has not been started; start it again")]
    NotStopped,
    /// The program does not run.
    #[error("the program does not run: it is stopped, has ended or has not been started")]
    NotRunning,
    /// The workgroup has no such wave.
    #[error("the workgroup has no wave {wave}: it has {waves}, from 0 on")]
    NoWave {
        /// The requested wave.
        wave: u32,
        /// Waves of the workgroup.
        waves: u32,
    },
    /// The wave has ended.
    #[error("wave {0} has ended; select another wave, or continue")]
    WaveEnded(u32),
    /// The wave is in no call.
    #[error("the wave is in no call that it could return from")]
    NotInCall,
    /// One cannot go back farther.
    #[error(
        "cannot go back: what is kept of the workgroup begins here; start again and stop earlier"
    )]
    NoHistory,
    /// Text that is no expression.
    #[error("{message}, at `{rest}`")]
    Syntax {
        /// What is wrong.
        message: String,
        /// The text from there on.
        rest: String,
    },
    /// A name that is neither a register nor a buffer.
    #[error(
        "`{name}` is neither a register nor a buffer; registers are v0, v[0:1], v0[LANE], s0, s[0:1], vcc, exec, scc, \
         m0, pc, mode; memory is lds[OFFSET], scratch[OFFSET], mem[ADDRESS]{}",
        Buffers(.buffers)
    )]
    UnknownName {
        /// The name.
        name: String,
        /// Names of the buffers.
        buffers: Vec<String>,
    },
    /// A register that the wave does not have.
    #[error("{register} does not exist: the wave has {first} to {last}")]
    NoRegister {
        /// The requested register.
        register: String,
        /// The first one of its kind.
        first: String,
        /// The last one.
        last: String,
    },
    /// A lane outside of the wave.
    #[error("lane {0} does not exist: a wave has lanes 0 to 63")]
    NoLane(i128),
    /// An index or a range that makes no sense there.
    #[error("{0}")]
    Index(String),
    /// Memory that cannot be accessed.
    #[error("{what}: {bytes} bytes at 0x{address:x} are not there{}", Limit(*.limit))]
    Memory {
        /// Which memory.
        what: String,
        /// Address or offset.
        address: u64,
        /// Size.
        bytes: u64,
        /// Size of the memory, if it has one.
        limit: Option<u64>,
    },
    /// An operation that does not fit its operands.
    #[error("{0}")]
    Operation(String),
    /// A format for values of another size.
    #[error(
        "the format is for {wanted} bytes and the value has {has}; {dtype} in an expression reads it as another type"
    )]
    Format {
        /// Bytes of the format.
        wanted: usize,
        /// Bytes of the value.
        has: usize,
        /// The suffix that changes the type.
        dtype: DtypeSuffix,
    },
    /// A place in code that does not exist.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// No breakpoint or watchpoint of this number.
    #[error("there is no breakpoint or watchpoint {0}")]
    NoPoint(u32),
    /// Something that cannot be written.
    #[error("{0} cannot be written")]
    ReadOnly(String),
    /// The host refuses a thread.
    #[error("cannot start a thread for the program: {0}")]
    Thread(std::io::Error),
}

/// Prints `.f64` for a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DtypeSuffix(pub Dtype);

impl std::fmt::Display for DtypeSuffix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, ".{}", self.0)
    }
}

struct Buffers<'a>(&'a [String]);

impl std::fmt::Display for Buffers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            [] => Ok(()),
            names => write!(f, "; buffers are {}", names.join(", ")),
        }
    }
}

struct Limit(Option<u64>);

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(limit) => write!(f, "; it has {limit} bytes"),
            None => Ok(()),
        }
    }
}
