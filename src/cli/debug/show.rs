//! Stops, waves and points as text.

use std::time::Duration;

use wavelift::Access;
use wavelift::debug::{
    CodePlace, Disassembled, Frame, Lanes, Phase, Point, Reason, Stop, Trigger, WaveInfo,
};
use wavelift::trace::{MemoryAccess, Space};

use crate::cli::session::Session;

/// Why a wave has stopped; nothing if it has done what was asked for.
pub(super) fn reason(stop: &Stop, limit: Option<Duration>, session: &Session) -> Option<String> {
    let failed = |error: &Option<String>| match error {
        Some(error) => format!(", whose condition has no value ({error})"),
        None => String::new(),
    };
    Some(match &stop.reason {
        Reason::Entry => "the program begins".to_owned(),
        Reason::Step => return None,
        Reason::Breakpoint { id, error } => format!("breakpoint {id}{}", failed(error)),
        Reason::Watchpoint { id, error, access } => {
            format!(
                "watchpoint {id}{}, {}",
                failed(error),
                accessed(access, session)
            )
        }
        Reason::Fault {
            kind,
            lane: Some(lane),
        } => format!("fault, lane {lane} {kind}"),
        Reason::Fault { kind, lane: None } => format!("fault, the wave {kind}"),
        Reason::Interrupted => match limit {
            Some(limit) => format!("stopped after {limit:?}, the limit of --timeout"),
            None => "interrupted".to_owned(),
        },
        Reason::WaveEnded => "the wave has ended".to_owned(),
        Reason::HistoryBegins => "one cannot go back farther".to_owned(),
    })
}

/// The wave of a stop.
pub(super) fn wave_of(stop: &Stop, session: &Session) -> String {
    let [x, y, z] = stop.workgroup;
    let several = session.dispatches.len() > 1;
    let dispatch = match several {
        true => format!("dispatch {}, ", stop.dispatch),
        false => String::new(),
    };
    let repeat = session
        .dispatches
        .get(stop.dispatch)
        .map_or(1, |it| it.repeat);
    let launch = match repeat {
        1 => String::new(),
        n => format!("launch {} of {n}, ", stop.launch + 1),
    };
    format!(
        "{dispatch}{launch}wave {} of workgroup ({x}, {y}, {z}) of {}",
        stop.wave, stop.kernel
    )
}

/// The next instruction of a stopped wave.
pub(super) fn next(stop: &Stop) -> Option<String> {
    let faulted = matches!(stop.reason, Reason::Fault { .. });
    let number = match faulted {
        true => stop.executed.saturating_sub(1),
        false => stop.executed,
    };
    let phase = match stop.phase {
        Phase::Ended => return None,
        Phase::Barrier => ", behind the barrier where it waits",
        Phase::Ready => "",
    };
    Some(format!(
        "=> {number:>5}  0x{:04x}  {}{}{phase}",
        stop.place.address,
        stop.instruction,
        origin(&stop.place)
    ))
}

/// Function and line of a place, in brackets.
fn origin(place: &CodePlace) -> String {
    let mut parts = Vec::new();
    if let Some((name, offset)) = &place.symbol {
        parts.push(format!("{name}+0x{offset:x}"));
    }
    if let Some(line) = &place.line {
        parts.push(line.to_string());
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!("  ({})", parts.join(", ")),
    }
}

/// A function that a wave is in.
pub(super) fn frame(frame: &Frame) -> String {
    let Some(line) = &frame.place.line else {
        return frame.place.to_string();
    };
    let inlined = if frame.inlined { ", inlined" } else { "" };
    let name = runtime::foreign::Foreign(&frame.function);
    format!("0x{:04x} {name} at {line}{inlined}", frame.place.address)
}

/// An instruction of a disassembly.
pub(super) fn listed(line: &Disassembled, here: bool) -> String {
    let mark = if here { "=>" } else { "  " };
    format!(
        "{mark} 0x{:04x}  {}{}",
        line.place.address,
        line.text,
        origin(&line.place)
    )
}

/// A wave of the workgroup.
pub(super) fn wave(info: &WaveInfo, selected: bool) -> String {
    let mark = if selected { "=>" } else { "  " };
    let phase = match info.phase {
        Phase::Ready => "runs",
        Phase::Barrier => "at the barrier",
        Phase::Ended => "has ended",
    };
    let place = match info.phase {
        Phase::Ended => String::new(),
        _ => format!(", at {}, active lanes {}", info.place, Lanes(info.exec)),
    };
    format!(
        "{mark} wave {}: {phase}, {} instructions executed{place}",
        info.wave, info.executed
    )
}

/// A breakpoint or a watchpoint; `place` is text for a guest address.
pub(super) fn point(point: &Point, place: impl Fn(u64) -> Option<String>) -> String {
    let limits = &point.limits;
    let mut text = match &point.trigger {
        Trigger::Code(all) => {
            let places: Vec<_> = all.iter().filter_map(|&pc| place(pc)).collect();
            format!("breakpoint {} at {}", point.id, places.join(", "))
        }
        Trigger::Memory { bytes, kind, .. } => {
            format!(
                "watchpoint {} on {} of {bytes} bytes: {}",
                point.id,
                kind.name(),
                point.text
            )
        }
    };
    if let Some(wave) = limits.wave {
        text += &format!(", wave {wave}");
    }
    if let Some([x, y, z]) = limits.workgroup {
        text += &format!(", workgroup ({x}, {y}, {z})");
    }
    if let Some(dispatch) = limits.dispatch {
        text += &format!(", dispatch {dispatch}");
    }
    if let Some(condition) = &limits.condition_text {
        text += &format!(", if {condition}");
    }
    if limits.temporary {
        text += ", once";
    }
    if !point.enabled {
        text += ", disabled";
    }
    match point.hits {
        0 => text,
        1 => text + ", hit once",
        n => text + &format!(", hit {n} times"),
    }
}

/// An element of memory by its address or offset.
pub(super) fn element(session: &Session, space: Space, address: u64) -> String {
    match space {
        Space::Global => session.element_at(address).0,
        Space::Lds | Space::Scratch => format!("{}[0x{address:x}]", space.name()),
    }
}

/// An access as a sentence.
fn accessed(access: &MemoryAccess, session: &Session) -> String {
    let name = element(session, access.space, access.address);
    let dtype = session.element_at(access.address).1;
    let plain = access.space == Space::Global && dtype.size() == access.value.len();
    let value = |bytes: &[u8]| match plain {
        true => dtype.decode(bytes).to_string(),
        false => {
            let words = bytes.chunks(4).map(|word| {
                let digits: String = word
                    .iter()
                    .rev()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                format!("0x{digits}")
            });
            words.collect::<Vec<_>>().join(" ")
        }
    };
    let who = match access.lane {
        Some(lane) => format!("lane {lane}"),
        None => "the scalar unit".to_owned(),
    };
    let old = value(&access.value);
    match (access.access, &access.new) {
        (Access::Read, _) => format!("{who} read {old} from {name}"),
        (_, Some(new)) => format!("{who} changed {name} from {old} to {}", value(new)),
        (_, None) => format!("{who} wrote {old} to {name}"),
    }
}
