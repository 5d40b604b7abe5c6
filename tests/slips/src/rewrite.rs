//! Writes a source text in which each place chooses by the number of the slip that is on.

use std::collections::HashSet;
use std::ops::Range;

use crate::sites::{Form, Found};

/// The new text, and where in it slips and places are.
#[derive(Default)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// Text of a slip, its number.
    pub(crate) others: Vec<(Range<usize>, u32)>,
    /// A whole place, the numbers in it.
    pub(crate) places: Vec<(Range<usize>, Vec<u32>)>,
    /// Bodies of functions.
    pub(crate) bodies: Vec<Range<usize>>,
    /// A slip and the number of its place.
    pub(crate) opened: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Close,
    Open,
}

/// Writes it. The first slip of the file has the number `first`; `place` is the number of the next place.
pub(crate) fn rewrite(
    text: &str,
    found: &Found,
    first: u32,
    removed: &HashSet<u32>,
    place: &mut u32,
) -> Rewritten {
    // Position, side, order among those: the outer one opens first and closes last.
    let mut events: Vec<(usize, Side, (isize, isize), usize)> = Vec::new();
    for (i, p) in found.places.iter().enumerate() {
        if p.others
            .iter()
            .all(|(slip, _)| removed.contains(&(first + *slip as u32)))
        {
            continue;
        }
        let depth = |form: Form| match form {
            Form::Start => 0,
            Form::ArmBody { .. } => 1,
            Form::Stmt => 2,
            Form::Expr => 3,
        };
        let d = depth(p.form);
        events.push((p.range.start, Side::Open, (-(p.range.end as isize), d), i));
        if p.form != Form::Start {
            events.push((p.range.end, Side::Close, (-(p.range.start as isize), -d), i));
        }
    }
    events.sort();
    let mut out = Rewritten::default();
    let mut moved = Vec::new();
    let mut at = 0;
    let mut starts = vec![0; found.places.len()];
    for (position, side, _, i) in events {
        out.text.push_str(&text[at..position]);
        at = position;
        let p = &found.places[i];
        let kept = p.others.iter().filter_map(|(slip, other)| {
            let number = first + *slip as u32;
            (!removed.contains(&number)).then_some((number, other))
        });
        match side {
            Side::Open => {
                starts[i] = out.text.len();
                let (head, arm): (_, fn(&str) -> String) = match p.form {
                    Form::Start => (" match", |other| format!("{{ {other}; }}")),
                    Form::Stmt => ("match", |_| "{}".to_owned()),
                    _ => ("(match", |other| format!("({other})")),
                };
                out.text
                    .push_str(&format!("{head} ::slips_on::at({place}) {{ "));
                for (number, other) in kept {
                    out.opened.push((number, *place));
                    out.text.push_str(&format!("{number}u32 => "));
                    let start = out.text.len();
                    out.text.push_str(&arm(other));
                    out.others.push((start..out.text.len(), number));
                    out.text.push_str(", ");
                }
                *place += 1;
                out.text.push_str(match p.form {
                    Form::Start => "_ => {} } ",
                    Form::Stmt => "_ => { ",
                    _ => "_ => (",
                });
            }
            Side::Close => {
                out.text.push_str(match p.form {
                    Form::Stmt => " } }",
                    Form::ArmBody { comma: false } => ") }),",
                    _ => ") })",
                });
            }
        }
        if side == Side::Close || p.form == Form::Start {
            let numbers = p.others.iter().map(|(slip, _)| first + *slip as u32);
            out.places
                .push((starts[i]..out.text.len(), numbers.collect()));
        }
        moved.push((position, out.text.len()));
    }
    out.text.push_str(&text[at..]);
    let new = |old: usize| {
        let n = moved.partition_point(|&(position, _)| position <= old);
        match n {
            0 => old,
            _ => old - moved[n - 1].0 + moved[n - 1].1,
        }
    };
    out.bodies = found
        .bodies
        .iter()
        .map(|body| new(body.start)..new(body.end))
        .collect();
    out
}
