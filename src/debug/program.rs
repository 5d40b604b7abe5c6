//! What a debugger runs, and how it continues.

use crate::Dtype;
use crate::arg::Arg;
use crate::buffer::Buffer;
use crate::launch::Launch;
use crate::module::Kernel;

/// A launch of the program.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// The kernel.
    pub kernel: Kernel,
    /// Its grid.
    pub launch: Launch,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// How often it is launched.
    pub repeat: u64,
    /// Stack of a work-item; `None` is the device's.
    pub stack_bytes: Option<u32>,
    /// Counters of the global wave sync when it begins.
    pub gws: Option<Vec<u32>>,
}

impl Dispatch {
    /// One launch.
    pub fn new(kernel: Kernel, launch: Launch, args: Vec<Arg>) -> Dispatch {
        Dispatch {
            kernel,
            launch,
            args,
            repeat: 1,
            stack_bytes: None,
            gws: None,
        }
    }
}

/// Memory that expressions name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Guest address of the first byte.
    pub address: u64,
    /// Bytes.
    pub len: u64,
    /// Type of its elements; bytes if it has none.
    pub dtype: Option<Dtype>,
}

impl Named {
    /// A buffer by a name.
    pub fn of(buffer: &Buffer, name: impl Into<String>, dtype: Option<Dtype>) -> Named {
        Named {
            name: name.into(),
            address: buffer.address(),
            len: buffer.len(),
            dtype,
        }
    }
}

/// How to continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// To the next breakpoint, watchpoint or fault, after passing this number of points.
    Continue {
        /// Points to pass.
        pass: u64,
    },
    /// The selected wave executes this number of instructions, into calls. Others run only where it waits
    /// for them.
    Step {
        /// The number, at least 1.
        steps: u64,
    },
    /// The selected wave executes an instruction, and all of a call.
    Next,
    /// The selected wave runs until it has returned from its innermost call.
    Finish,
    /// The selected wave runs until it is at one of these guest addresses, or ends.
    Until {
        /// The addresses: see [`Debugger::locate`](super::Debugger::locate).
        places: Vec<u64>,
    },
    /// Back to when the selected wave had executed this number of instructions less.
    Back {
        /// The number, at least 1.
        steps: u64,
    },
    /// Back to the last breakpoint or watchpoint that was passed in this workgroup.
    BackToPoint,
}
