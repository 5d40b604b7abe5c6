//! Which lines of a block run together, under which masks.

use frontend::{Encoding, Gfx, Inst};

use super::assign::{Assign, Lanes, Place, Value};
use super::{Head, Line, Outcome};

/// EXEC masks that cases run under.
pub const MASKS: [(&str, u64); 6] = [
    ("full", !0),
    ("empty", 0),
    ("even", 0x5555_5555_5555_5555),
    ("odd", 0xaaaa_aaaa_aaaa_aaaa),
    ("one", 1 << 37),
    ("half", 0xffff_ffff),
];

/// The masks that a batch of lines runs under, with their names.
pub fn masks(insts: &[Inst], batch: &[&Line]) -> Vec<(&'static str, u64)> {
    let explicit = batch[0]
        .input
        .iter()
        .find_map(|a| match (&a.place, &a.value) {
            (Place::Sgpr(126, 2), Value::Bits(bits)) => Some(
                u64::from(bits.hex[0]) | u64::from(bits.hex.get(1).copied().unwrap_or(0)) << 32,
            ),
            _ => None,
        });
    let faults = matches!(batch[0].outcome, Outcome::Fault { .. });
    let scalar = insts.iter().all(|inst| inst.desc.encoding.is_scalar());
    match explicit {
        Some(exec) => vec![("given", exec)],
        None if faults => MASKS[..1].to_vec(),
        None if scalar => MASKS[..2].to_vec(),
        None => MASKS.to_vec(),
    }
}

/// Do the instructions access memory or the lines mention it?
pub fn uses_memory(insts: &[Inst], batch: &[&Line]) -> bool {
    let accesses = insts.iter().any(|inst| {
        use Encoding::*;
        matches!(
            inst.desc.encoding,
            Smem | Ds | Flat | Global | Scratch | Mubuf | Mtbuf | Mimg | Exp | Vintrp
        )
    });
    accesses || batch.iter().any(|line| mentions_memory(line))
}

/// Decodes the words of a head and compares the text.
pub fn instructions(gfx: Gfx, head: &Head, words: &[u32]) -> Result<Vec<Inst>, String> {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let (mut at, mut text, mut insts) = (0, String::new(), Vec::new());
    while at < bytes.len() {
        let inst = frontend::decode(gfx, &bytes[at..]).map_err(|e| e.to_string())?;
        if at > 0 {
            text.push_str(" ; ");
        }
        text.push_str(&inst.text(gfx));
        at += usize::from(inst.len);
        insts.push(inst);
    }
    if text == head.text {
        Ok(insts)
    } else {
        Err(format!("the words mean `{text}`"))
    }
}

/// Does a line set or expect memory?
fn mentions_memory(line: &Line) -> bool {
    line.input
        .iter()
        .chain(&line.output)
        .any(|a| matches!(a.place, Place::Bytes(..) | Place::LdsSize))
}

/// Most lines that share a run: each must have a lane under the mask of the first half.
const SHARED: usize = 32;

/// Groups lines that can run together in different lanes.
pub fn batches<'a>(lines: impl Iterator<Item = &'a Line>) -> Vec<Vec<&'a Line>> {
    let mut batches: Vec<(Option<Vec<&Assign>>, Vec<&Line>)> = Vec::new();
    for line in lines {
        let key = shared_input(line);
        match batches.last_mut() {
            Some((last, batch)) if key.is_some() && *last == key && batch.len() < SHARED => {
                batch.push(line);
            }
            _ => batches.push((key, vec![line])),
        }
    }
    batches.into_iter().map(|(_, batch)| batch).collect()
}

/// What lines must have in common to share a run; `None` for lines that run alone.
fn shared_input(line: &Line) -> Option<Vec<&Assign>> {
    if line.outcome != Outcome::Barrier(None) {
        return None;
    }
    let of_lane = |a: &Assign| match a.place {
        Place::Vgpr(_, _, Lanes::All) | Place::Mask(_) => !matches!(a.value, Value::List(_)),
        Place::Bytes(space, _) => space.is_per_lane(),
        _ => false,
    };
    if line.output.is_empty() || !line.output.iter().all(of_lane) {
        return None;
    }
    let alone = |a: &Assign| {
        let some = matches!(a.place, Place::Vgpr(_, _, Lanes::One(_) | Lanes::Whole));
        some || matches!(a.value, Value::List(_))
    };
    if line.input.iter().any(alone) {
        return None;
    }
    Some(line.input.iter().filter(|a| !of_lane(a)).collect())
}
