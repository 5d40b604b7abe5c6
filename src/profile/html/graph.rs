//! The control-flow graph of a function as a picture.

use std::collections::HashMap;
use std::io::{self, Write};

use super::super::collect::{Function, Part, ratio};
use super::super::layout::{SIZE, layout};
use super::{Shown, Text, count};
use crate::listing::EdgeKind;
use crate::source::demangle;

pub(super) fn write(out: &mut impl Write, shown: Shown<'_>, function: &Function) -> io::Result<()> {
    let parts = &function.parts;
    if parts.len() < 2 {
        return Ok(());
    }
    let numbers = parts.iter().enumerate().map(|(i, part)| (part.address, i));
    let numbers: HashMap<u64, usize> = numbers.collect();
    let (mut edges, mut kinds) = (Vec::new(), Vec::new());
    for (from, part) in parts.iter().enumerate() {
        for edge in &part.edges {
            if let Some(&to) = edge.to.and_then(|to| numbers.get(&to)) {
                edges.push((from, to));
                kinds.push(edge.kind);
            }
        }
    }
    let name = demangle(&function.name);
    writeln!(
        out,
        "<details class=\"cfg\"><summary>Control flow of {}: {}, {}</summary><div>",
        Text(&name),
        count(parts.len(), "block"),
        count(edges.len(), "edge")
    )?;
    let Some(layout) = layout(parts.len(), &edges) else {
        return writeln!(
            out,
            "<p>The picture would be too large to read. Each block of the code below names the blocks that lead to it \
             and those that it leads to.</p></div></details>"
        );
    };
    let (width, height) = (layout.width, layout.height);
    writeln!(
        out,
        "<p class=\"legend\"><span class=\"taken\">taken</span>, <span class=\"not\">not taken</span>, falls through; \
         dashed: a loop goes on</p>\n<div class=\"graph\"><svg width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"Control flow of {}\">\n\
         <defs><marker id=\"{anchor}-tip-{first:x}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>",
        Text(&name),
        anchor = shown.anchor,
        first = parts[0].address,
    )?;
    let marker = format!("{}-tip-{:x}", shown.anchor, parts[0].address);
    for ((points, kind), (from, to)) in layout.edges.iter().zip(&kinds).zip(&edges) {
        let class = match kind {
            EdgeKind::Taken => "taken",
            EdgeKind::NotTaken => "not",
            EdgeKind::FallThrough | EdgeKind::Indirect => "falls",
        };
        let back = if layout.blocks[*to].1 <= layout.blocks[*from].1 {
            " back"
        } else {
            ""
        };
        let (from, to) = (parts[*from].address, parts[*to].address);
        writeln!(
            out,
            "<path class=\"{class}{back}\" d=\"{}\" marker-end=\"url(#{marker})\"><title>.L{from:x} to .L{to:x}: \
             {}</title></path>",
            curve(points),
            kind.name(),
        )?;
    }
    let most = shown
        .parts
        .iter()
        .map(|part| part.share())
        .fold(0.0, f64::max);
    for (part, (x, y)) in parts.iter().zip(&layout.blocks) {
        node(out, shown, part, (*x, *y), most)?;
    }
    writeln!(out, "</svg></div></div></details>")
}

/// A smooth line through points.
fn curve(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (i, &(x, y)) in points.iter().enumerate() {
        match i.checked_sub(1).map(|before| points[before]) {
            None => path.push_str(&format!("M{x:.0} {y:.0}")),
            Some((px, _)) if px == x => path.push_str(&format!("V{y:.0}")),
            Some((_, py)) if py == y => path.push_str(&format!("H{x:.0}")),
            Some((px, py)) => {
                let middle = (y + py) / 2.0;
                path.push_str(&format!(
                    "C{px:.0} {middle:.0} {x:.0} {middle:.0} {x:.0} {y:.0}"
                ));
            }
        }
    }
    path
}

fn node(
    out: &mut impl Write,
    shown: Shown<'_>,
    part: &Part,
    (x, y): (f64, f64),
    most: f64,
) -> io::Result<()> {
    let (width, height) = SIZE;
    let (address, instructions) = (part.address, part.lines.len());
    let executions = match part.executions() {
        0 => "never executed".to_owned(),
        n => format!("{n} x, {:.1} %", 100.0 * part.share()),
    };
    writeln!(
        out,
        "<a href=\"{}\"><rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>\
         <rect class=\"heat\" x=\"{x:.0}\" y=\"{:.0}\" width=\"{:.0}\" height=\"4\"/>\
         <text x=\"{tx:.0}\" y=\"{:.0}\">.L{address:x}</text><text class=\"dim\" text-anchor=\"end\" x=\"{:.0}\" \
         y=\"{:.0}\">{instructions} inst.</text><text class=\"dim\" x=\"{tx:.0}\" y=\"{:.0}\">{executions}</text></a>",
        shown.link(address),
        y + height - 4.0,
        width * ratio(part.share(), most),
        y + 16.0,
        x + width - 8.0,
        y + 16.0,
        y + 33.0,
        tx = x + 8.0,
    )
}
