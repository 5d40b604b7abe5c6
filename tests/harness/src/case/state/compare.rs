//! The comparison of a state with what a case says of it.

use crate::case::Line;
use crate::case::assign::Place;
use frontend::LANES;

use super::{Image, Run, VECTORS, WINDOW, Wrong};

/// A value in the result that is not compared exactly.
pub(super) struct Loose {
    pub(super) register: u16,
    pub(super) count: u16,
    pub(super) lane: usize,
    pub(super) how: How,
}

#[derive(Clone, Copy)]
pub(super) enum How {
    Any,
    Nan,
    /// One off in the last place.
    Near(u64),
}

/// Name of a vector register.
fn vector_name(n: usize) -> String {
    match n.checked_sub(256) {
        None => format!("v{n}"),
        Some(n) => format!("a{n}"),
    }
}

/// Compares one value loosely and takes it out of the exact comparison.
pub(super) fn check_loose(
    loose: &Loose,
    before: &Image,
    after: &Image,
    expected: &mut Image,
    run: &Run<'_>,
    wrong: &mut Vec<Wrong>,
) {
    let read = |n: u16| u64::from(after.wave.vector(usize::from(loose.register + n))[loose.lane]);
    let got = read(0) | if loose.count > 1 { read(1) << 32 } else { 0 };
    let good = match loose.how {
        How::Any => true,
        How::Near(value) => got.wrapping_sub(value).wrapping_add(1) <= 2,
        How::Nan if loose.count > 1 => got << 1 > 0x7ff0_0000_0000_0000 << 1,
        How::Nan => {
            (got as u32) << 1 > 0x7f80_0000 << 1 || (got >> 16 == 0 && got & 0x7fff > 0x7c00)
        }
    };
    if good {
        for n in loose.register..loose.register + loose.count {
            let n = usize::from(n);
            expected.wave.vector_mut(n)[loose.lane] = after.wave.vector(n)[loose.lane];
        }
    } else {
        let line = run.of_lane(loose.lane);
        let what = match loose.how {
            How::Near(value) => format!("{value:08x} or next to it"),
            _ => "a NaN".to_owned(),
        };
        let what = format!(
            "{} lane {}: got {got:08x}, right is {what}; from {}",
            vector_name(loose.register.into()),
            loose.lane,
            inputs(before, line, loose.lane)
        );
        wrong.push(Wrong {
            line: Some(line.line),
            what,
        });
        for n in loose.register..loose.register + loose.count {
            let n = usize::from(n);
            expected.wave.vector_mut(n)[loose.lane] = after.wave.vector(n)[loose.lane];
        }
    }
}

/// The registers that a line sets, as they are in a lane.
fn inputs(before: &Image, line: &Line, lane: usize) -> String {
    let mut text = String::new();
    for assign in &line.input {
        if let Place::Vgpr(first, count, _) = assign.place {
            for n in first..first + count {
                let word = before.wave.vector(usize::from(n))[lane];
                let name = vector_name(n.into());
                text.push_str(&format!("{name}={word:08x} "));
            }
        }
        if let Place::Sgpr(first, count) = assign.place {
            for n in first..first + count {
                text.push_str(&format!("s{n}={:08x} ", before.wave.sgpr[usize::from(n)]));
            }
        }
    }
    text.push_str(&format!("mode={:x}", before.wave.mode));
    text
}

/// Compares everything.
pub(super) fn compare(
    before: &Image,
    expected: &Image,
    after: &Image,
    run: &Run<'_>,
    wrong: &mut Vec<Wrong>,
) {
    let (b, e, a) = (&before.wave, &expected.wave, &after.wave);
    let mut differ =
        |line: Option<&Line>, lane: usize, name: String, was: u64, right: u64, got: u64| {
            if right != got {
                let from = inputs(before, line.unwrap_or(run.lines[0]), lane);
                let what = format!(
                    "{name}: got {got:08x}, right is {right:08x} (was {was:08x}); from {from}"
                );
                wrong.push(Wrong {
                    line: line.map(|line| line.line),
                    what,
                });
            }
        };
    for n in 0..VECTORS {
        if e.vector(n) != a.vector(n) {
            for lane in 0..LANES {
                let [was, right, got] = [b, e, a].map(|w| u64::from(w.vector(n)[lane]));
                differ(
                    Some(run.of_lane(lane)),
                    lane,
                    format!("{} lane {lane}", vector_name(n)),
                    was,
                    right,
                    got,
                );
            }
        }
    }
    for n in 0..128 {
        let [was, right, got] = [b, e, a].map(|w| u64::from(w.sgpr[n]));
        differ(None, 0, format!("s{n}"), was, right, got);
    }
    for (name, [was, right, got]) in [
        ("scc", [b, e, a].map(|w| w.scc)),
        ("mode", [b, e, a].map(|w| w.mode)),
        ("trapsts", [b, e, a].map(|w| w.trapsts)),
    ] {
        differ(
            None,
            0,
            name.to_owned(),
            was.into(),
            right.into(),
            got.into(),
        );
    }
    for n in 0..32 {
        let [was, right, got] = [b, e, a].map(|w| u64::from(w.hwreg[n]));
        differ(None, 0, format!("hw{n}"), was, right, got);
    }
    for (name, [was, right, got], lane_size) in [
        ("mem", [before, expected, after].map(|i| &i.windows), WINDOW),
        (
            "buf",
            [before, expected, after].map(|i| &i.buffer),
            usize::MAX,
        ),
        (
            "scr",
            [before, expected, after].map(|i| &i.scratch),
            usize::MAX,
        ),
        ("lds", [before, expected, after].map(|i| &i.lds), WINDOW),
    ] {
        if right != got {
            for at in 0..right.len() {
                let lane = (at / lane_size).min(LANES - 1);
                let [was, right, got] = [was, right, got].map(|bytes| u64::from(bytes[at]));
                let name = format!("{name} byte {:x} of lane {lane}", at % lane_size);
                differ(Some(run.of_lane(lane)), lane, name, was, right, got);
            }
        }
    }
}
