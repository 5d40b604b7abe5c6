//! The disassembly, block by block, with counts. A block is one preformatted text, with its heat in a
//! second one beside it: a kernel may have tens of thousands of instructions, and elements for each
//! would take seconds to open.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::super::collect::{Function, Line, Part, ratio};
use super::{Shown, Text, count, lanes};
use crate::listing::EdgeKind;
use crate::source::demangle;

/// Characters of the column of heat.
const HEAT: usize = 8;

pub(super) fn write(out: &mut impl Write, shown: Shown<'_>, function: &Function) -> io::Result<()> {
    let lines = || function.parts.iter().flat_map(|part| &part.lines);
    let most = shown.most();
    let share: f64 = lines().map(|line| line.share).sum();
    writeln!(
        out,
        "<details class=\"function\"><summary>Code of {}: {} in {}, {:.1} % of the \
         kernel's time</summary><div>\n<div class=\"rows\"><pre class=\"heat\">heat</pre><pre>{}instruction</pre></div>",
        Text(&demangle(&function.name)),
        count(lines().count(), "instruction"),
        count(function.parts.len(), "block"),
        100.0 * share,
        numbers("address", "executions", "lanes", "share"),
    )?;
    let mut from: BTreeMap<u64, Vec<(u64, EdgeKind)>> = BTreeMap::new();
    for part in &function.parts {
        for edge in &part.edges {
            if let Some(to) = edge.to {
                from.entry(to).or_default().push((part.address, edge.kind));
            }
        }
    }
    for part in &function.parts {
        let from = from.get(&part.address).map_or(&[][..], Vec::as_slice);
        block(out, shown, part, from, most)?;
    }
    writeln!(out, "</div></details>")
}

/// The first columns of a line, with what parts them from the next.
fn numbers(address: &str, executions: &str, lanes: &str, share: &str) -> String {
    format!("{address:>8} {executions:>12} {lanes:>5} {share:>8}  ")
}

/// A bar of characters, as long as the ratio.
fn heat(ratio: f64) -> String {
    const PARTS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    let eighths = (ratio.clamp(0.0, 1.0) * (8 * HEAT) as f64).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if let Some(rest) = (eighths % 8).checked_sub(1) {
        bar.push(PARTS[rest]);
    }
    bar
}

fn block(
    out: &mut impl Write,
    shown: Shown<'_>,
    part: &Part,
    from: &[(u64, EdgeKind)],
    most: f64,
) -> io::Result<()> {
    let (anchor, address, executions) = (shown.anchor, part.address, part.executions());
    let never = if executions == 0 { " never" } else { "" };
    write!(
        out,
        "<div class=\"part{never}\" id=\"{anchor}-{address:x}\">\n<p><strong>.L{address:x}</strong>"
    )?;
    write!(out, " {}", count(part.lines.len(), "instruction"))?;
    if executions != 0 {
        let executed = count(executions as usize, "execution");
        write!(out, ", {executed}")?;
        if let Some(mean) = part.mean_lanes() {
            write!(out, ", {mean:.1} lanes")?;
        }
        write!(out, ", {:.1} % of time", 100.0 * part.share())?;
    }
    links(out, shown, part, from)?;
    write!(out, "</p>\n<div class=\"rows\"><pre class=\"heat\">")?;
    for line in &part.lines {
        for _ in &line.source {
            writeln!(out)?;
        }
        writeln!(out, "{}", heat(ratio(line.share, most)))?;
    }
    write!(out, "</pre><pre>")?;
    for line in &part.lines {
        instruction(out, shown, line)?;
    }
    writeln!(out, "</pre></div></div>")
}

/// The edges into a block and out of it, and its calls.
fn links(
    out: &mut impl Write,
    shown: Shown<'_>,
    part: &Part,
    from: &[(u64, EdgeKind)],
) -> io::Result<()> {
    for (at, kind) in from {
        let link = shown.link(*at);
        write!(
            out,
            "; from <a href=\"{link}\">.L{at:x}</a> ({})",
            kind.name()
        )?;
    }
    for edge in &part.edges {
        let kind = edge.kind.name();
        match edge.to {
            Some(to) => {
                let link = shown.link(to);
                write!(out, "; to <a href=\"{link}\">.L{to:x}</a> ({kind})")?;
            }
            None => write!(out, "; to an address in registers")?,
        }
    }
    for call in &part.calls {
        match call.to.and_then(|to| Some((to, shown.part(to)?))) {
            Some((to, part)) if part.address == to => {
                let link = shown.link(to);
                write!(out, "; calls <a href=\"{link}\">.L{to:x}</a>")?;
            }
            _ => write!(out, "; calls a function")?,
        }
    }
    Ok(())
}

fn instruction(out: &mut impl Write, shown: Shown<'_>, line: &Line) -> io::Result<()> {
    for source in &line.source {
        let before = numbers("", "", "", "");
        writeln!(out, "{before}<i>{}</i>", Text(source))?;
    }
    let share = match line.executions {
        0 => String::new(),
        _ => format!("{:.2} %", 100.0 * line.share),
    };
    let (address, executions) = (format!("{:x}", line.address), line.executions.to_string());
    let lanes = lanes(line.mean_lanes);
    write!(out, "{}", numbers(&address, &executions, &lanes, &share))?;
    match (line.target, line.text.rsplit_once(' ')) {
        (Some(target), Some((before, label))) => write!(
            out,
            "{} <a href=\"{}\">{}</a>",
            Text(before),
            shown.link(target),
            Text(label)
        )?,
        _ => write!(out, "{}", Text(&line.text))?,
    }
    if !line.shape.is_empty() {
        write!(out, "  <i>// {}</i>", Text(&line.shape))?;
    }
    writeln!(out)
}
