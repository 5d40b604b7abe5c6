//! Handling of packets that cannot be run: the cause and location are reported to the user, the
//! program is notified by the queue's callback, and ends as with a real GPU.

use runtime::dispatch::LaunchError;
use runtime::{Fault, FaultKind};

use crate::abi::{MemoryFaultEvent, RawStatus, Status};
use crate::agent;
use crate::guard::say;
use crate::lock::lock;
use crate::pools::pointer;
use crate::queue::Queue;
use crate::state::{Event, Runtime};
use crate::stats;

/// Reasons of memory faults in system events.
const PAGE_NOT_PRESENT: u32 = 1 << 0;
const READ_ONLY: u32 = 1 << 1;

/// Why a packet was not run to its end.
pub(crate) struct Trouble {
    status: Status,
    what: String,
    /// Address of a memory fault, and its reason for handlers of system events.
    address: Option<(u64, u32)>,
    /// What the user may do to learn more.
    advice: Option<&'static str>,
}

impl Trouble {
    pub(crate) fn new(status: Status, what: String) -> Trouble {
        Trouble {
            status,
            what,
            address: None,
            advice: None,
        }
    }

    pub(crate) fn of_fault(fault: &Fault, place: &str) -> Trouble {
        let status = match fault.kind {
            FaultKind::Memory { .. }
            | FaultKind::ReadOnly { .. }
            | FaultKind::Misaligned { .. }
            | FaultKind::Overrun(_) => Status::MEMORY_FAULT,
            FaultKind::OutsidePrivate { .. } | FaultKind::Uninitialized { .. } => {
                Status::MEMORY_APERTURE_VIOLATION
            }
            FaultKind::IllegalInstruction { .. } | FaultKind::Unsupported { .. } => {
                Status::ILLEGAL_INSTRUCTION
            }
            FaultKind::Trap { .. } | FaultKind::Timeout { .. } | FaultKind::Deadlock { .. } => {
                Status::EXCEPTION
            }
            FaultKind::NoRoomToWait { .. } => Status::OUT_OF_RESOURCES,
        };
        let address = match fault.kind {
            FaultKind::Memory { address, .. } => Some((address, PAGE_NOT_PRESENT)),
            FaultKind::ReadOnly { address, .. } => Some((address, READ_ONLY)),
            _ => None,
        };
        Trouble {
            status,
            what: format!("{}\n   {place}", fault.account()),
            address,
            advice: fault.advice(),
        }
    }
}

/// The status that a refused launch is reported with.
pub(crate) fn launch_status(error: &LaunchError) -> Status {
    match error {
        LaunchError::Alloc(_) => Status::OUT_OF_RESOURCES,
        LaunchError::Memory(_) => Status::MEMORY_FAULT,
        LaunchError::EntryOutsideCode { .. } => Status::INVALID_CODE_OBJECT,
        _ => Status::INVALID_PACKET_FORMAT,
    }
}

/// Reports to the user and the program. The queue accepts no more packets.
pub(crate) fn report(rt: &'static Runtime, queue: &Queue, index: u64, trouble: &Trouble) {
    let Trouble {
        status,
        what,
        address,
        advice,
    } = trouble;
    let advice = advice.map_or(String::new(), |advice| format!("\n   {advice}"));
    say(format_args!(
        "fault: {what}\n   packet {index} of queue {}{advice}",
        queue.id
    ));
    queue
        .stopped
        .store(true, std::sync::atomic::Ordering::SeqCst);
    let handled = address.is_some_and(|address| tell_events(rt, address));
    if handled {
        return;
    }
    // Most programs abort now, and the C library's functions at exit are not called.
    stats::print(rt);
    if let Some(callback) = queue.callback {
        let data = pointer(queue.data as u64);
        // SAFETY: the program gave the function for this, with this data; the queue lives until its
        // thread has ended.
        unsafe { callback(status.0, queue.head(), data) };
    }
    // The real library ends the program at a memory fault, and only the callback could report
    // others.
    if *status == Status::MEMORY_FAULT || queue.callback.is_none() {
        std::process::abort();
    }
}

/// Calls the handlers of system events; did one of them handle it?
fn tell_events(rt: &Runtime, (address, reason): (u64, u32)) -> bool {
    let event = MemoryFaultEvent {
        event_type: 0,
        agent: agent::GPU,
        address,
        reason,
    };
    let events: Vec<Event> = {
        let events = lock(&rt.events);
        events.clone()
    };
    let tell = |one: &Event| -> RawStatus {
        // SAFETY: the program registered the function for this, with this data.
        unsafe { (one.handler)(&event, pointer(one.data as u64)) }
    };
    // All are called, even if one handles it.
    let handled: Vec<_> = events.iter().filter(|one| tell(one) == 0).collect();
    !handled.is_empty()
}
