//! A profile as one page: no scripts, nothing from elsewhere. What is long is closed, and the browser
//! lays it out when it is seen, so that pages of large kernels open quickly.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::bounds::Probe;
use super::collect::{Block, Function, KernelProfile, Part, Region, ratio};
use super::machine;
use crate::source::{demangle, short};

mod code;
mod graph;

/// Text between tags.
struct Text<'a>(&'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

/// Rules for what is in an element of class `profile`, so that the rest of a page stays as it is.
const STYLE: &str = include_str!("html/style.css");

/// Blocks in the list of the hottest.
const HOTTEST: usize = 20;

/// Smaller shares of the time have no bar of their own.
const LEAST_BAR: f64 = 5e-4;

/// A kernel with the beginning of the names of its anchors, which are unique on the page.
#[derive(Clone, Copy)]
struct Shown<'a> {
    kernel: &'a KernelProfile,
    anchor: &'a str,
    /// The parts of its disassembly, by address.
    parts: &'a [&'a Part],
}

/// A number of things.
fn count(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

impl<'a> Shown<'a> {
    /// The part of the disassembly that has an address.
    fn part(self, address: u64) -> Option<&'a Part> {
        let after = self.parts.partition_point(|part| part.address <= address);
        self.parts.get(after.checked_sub(1)?).copied()
    }

    /// The greatest share of an instruction.
    fn most(self) -> f64 {
        let lines = self.parts.iter().flat_map(|part| &part.lines);
        lines.map(|line| line.share).fold(0.0, f64::max)
    }

    /// The link to the code at an address.
    fn link(self, address: u64) -> String {
        let at = self.part(address).map_or(address, |part| part.address);
        format!("#{}-{at:x}", self.anchor)
    }
}

/// Writes profiles as a page without scripts that needs nothing else. It states the machine, so it is
/// to be written on the machine that ran the kernels; what a thread of it can do is measured, which
/// takes about a tenth of a second.
pub fn page(file: impl Write, title: &str, kernels: &[KernelProfile]) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    let title = Text(title);
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Profile of {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body class=\"profile\">\n<main>\n\
         <h1>Profile of {title}</h1>"
    )?;
    contents(&mut out, kernels, "k")?;
    writeln!(out, "</main>\n</body>\n</html>")?;
    out.flush()
}

/// Writes profiles as a part of another page, such as a notebook.
pub fn fragment(mut out: impl Write, kernels: &[KernelProfile]) -> io::Result<()> {
    // A page may have several.
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let anchor = format!("p{}k", NUMBER.fetch_add(1, Relaxed));
    writeln!(
        out,
        "<div class=\"profile\">\n<style>\n{STYLE}</style>\n<main>"
    )?;
    contents(&mut out, kernels, &anchor)?;
    writeln!(out, "</main>\n</div>")
}

fn contents(out: &mut impl Write, kernels: &[KernelProfile], anchor: &str) -> io::Result<()> {
    let all: f64 = kernels.iter().map(|kernel| kernel.seconds).sum();
    let anchors: Vec<String> = (0..kernels.len()).map(|n| format!("{anchor}{n}")).collect();
    let parts = kernels.iter().map(|kernel| {
        let functions = kernel.functions.iter();
        let mut parts: Vec<&Part> = functions.flat_map(|function| &function.parts).collect();
        parts.sort_by_key(|part| part.address);
        parts
    });
    let parts: Vec<Vec<&Part>> = parts.collect();
    let shown = || {
        let all = kernels.iter().zip(&anchors).zip(&parts);
        all.map(|((kernel, anchor), parts)| Shown {
            kernel,
            anchor,
            parts,
        })
    };
    about(out, kernels)?;
    summary(out, shown(), all)?;
    writeln!(out, "<div class=\"flame\"><div class=\"row\">")?;
    for shown in shown() {
        flame(out, shown, ratio(shown.kernel.seconds, all))?;
    }
    writeln!(
        out,
        "</div></div>\n<p class=\"legend\">Widths are shares of the time: <span><b class=\"k\"></b>kernels,</span> \
         <span><b class=\"r\"></b>regions translated at once,</span> <span><b class=\"b\"></b>blocks.</span> \
         <span><b class=\"h\"></b>is heat:</span> the share of the time, of that of the kernel's hottest block or \
         instruction. Names lead to the code.</p>"
    )?;
    for shown in shown() {
        section(out, shown)?;
    }
    Ok(())
}

/// The machine and the run.
fn about(out: &mut impl Write, kernels: &[KernelProfile]) -> io::Result<()> {
    let threads = kernels.iter().map(|kernel| kernel.threads).max();
    writeln!(
        out,
        "<dl>\n<dt>CPU</dt><dd>{}</dd>\n<dt>Vector extensions</dt><dd>{}</dd>\n<dt>Threads</dt><dd>{}</dd>\n\
         <dt>Version</dt><dd>{}</dd>\n<dt>Date</dt><dd>{}</dd>\n</dl>\n\
         <p class=\"dim\">Times, shapes and host bytes are those of a run without counters, executions and lanes those \
         of a second run with counters. Times are of all threads together.</p>",
        Text(&machine::cpu()),
        Text(&machine::extensions()),
        threads.unwrap_or(0),
        Text(&machine::version()),
        machine::date(),
    )
}

fn summary<'a>(
    out: &mut impl Write,
    kernels: impl Iterator<Item = Shown<'a>>,
    all: f64,
) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"scroll\"><table class=\"kernels\">\n<tr><th>kernel</th><th class=\"n\">launches</th>\
         <th class=\"n\">waves</th><th class=\"n\">instructions</th><th class=\"n\">by lane</th>\
         <th class=\"n\">milliseconds</th><th class=\"n\">share</th></tr>"
    )?;
    for Shown { kernel, anchor, .. } in kernels {
        writeln!(
            out,
            "<tr><td><a href=\"#{anchor}\">{}</a></td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.3}</td><td class=\"n\">{:.1} %</td></tr>",
            Text(&demangle(&kernel.kernel)),
            kernel.launches,
            kernel.waves,
            kernel.instructions,
            kernel.lane_instructions,
            kernel.seconds * 1e3,
            100.0 * ratio(kernel.seconds, all),
        )?;
    }
    writeln!(out, "</table></div>")
}

/// A cell as wide as its share of the row that it is in, with a name; what is under it may follow.
fn cell(
    out: &mut impl Write,
    class: &str,
    link: &str,
    name: &str,
    (of_row, of_all): (f64, f64),
) -> io::Result<()> {
    // Rounded down, since the cells of a row must fit.
    let width = (of_row.clamp(0.0, 1.0) * 1e5).floor() / 1e3;
    let (name, percent) = (Text(name), 100.0 * of_all);
    write!(
        out,
        "<div class=\"cell\" style=\"width:{width:.3}%\">\
         <a class=\"{class}\" href=\"{link}\" title=\"{name}: {percent:.1} %\">{name}</a>"
    )
}

/// Kernel over its regions over their blocks.
fn flame(out: &mut impl Write, shown: Shown<'_>, share: f64) -> io::Result<()> {
    let kernel = shown.kernel;
    let (link, name) = (format!("#{}", shown.anchor), demangle(&kernel.kernel));
    cell(out, "k", &link, &name, (share, share))?;
    write!(out, "<div class=\"row\">")?;
    for region in &kernel.regions {
        let of_all = share * region.share;
        if of_all < LEAST_BAR {
            continue;
        }
        let entry = region.blocks.first().map_or(0, |block| block.address);
        let (link, of_row) = (shown.link(entry), region.share);
        cell(out, "r", &link, &short(&region.place), (of_row, of_all))?;
        write!(out, "<div class=\"row\">")?;
        for block in &region.blocks {
            let of_all = share * block.share;
            if of_all < LEAST_BAR {
                continue;
            }
            let (link, of_row) = (shown.link(block.address), ratio(block.share, region.share));
            cell(out, "b", &link, &short(&block.place), (of_row, of_all))?;
            write!(out, "</div>")?;
        }
        write!(out, "</div></div>")?;
    }
    writeln!(out, "</div></div>")
}

fn section(out: &mut impl Write, shown: Shown<'_>) -> io::Result<()> {
    let Shown { kernel, anchor, .. } = shown;
    let name = demangle(&kernel.kernel);
    writeln!(out, "<section>\n<h2 id=\"{anchor}\">{}</h2>", Text(&name))?;
    if let Some(text) = kernel.accumulation() {
        writeln!(out, "<p>{text}</p>")?;
    }
    reasons(out, shown)?;
    hottest(out, shown)?;
    bounds(out, kernel)?;
    if !kernel.regions.is_empty() {
        writeln!(out, "<h3>How it was translated</h3>")?;
    }
    for region in &kernel.regions {
        shapes(out, shown, region)?;
    }
    let mut functions: Vec<&Function> = kernel.functions.iter().collect();
    let share = |function: &Function| function.parts.iter().map(Part::share).sum::<f64>();
    functions.sort_by(|a, b| share(b).total_cmp(&share(a)));
    for function in functions {
        graph::write(out, shown, function)?;
        code::write(out, shown, function)?;
    }
    writeln!(out, "</section>")
}

/// Why a kernel is not faster.
fn reasons(out: &mut impl Write, shown: Shown<'_>) -> io::Result<()> {
    let reasons = &shown.kernel.reasons;
    if reasons.is_empty() {
        return Ok(());
    }
    let blocks = shown
        .kernel
        .regions
        .iter()
        .flat_map(|region| &region.blocks);
    let links: Vec<(&str, u64)> = blocks.map(|block| (&*block.place, block.address)).collect();
    writeln!(
        out,
        "<h3>Why it is not faster</h3>\n<div class=\"scroll\"><table class=\"reasons\">\n<tr><th class=\"n\">share</th>\
         <th class=\"n\">blocks</th><th>where</th><th>most in</th></tr>"
    )?;
    for reason in reasons {
        let link = links.iter().find(|(place, _)| *place == reason.place);
        writeln!(
            out,
            "<tr><td class=\"n\">{:.1} %</td><td class=\"n\">{}</td><td>{}</td><td><a href=\"{}\">{}</a></td></tr>",
            100.0 * reason.share,
            reason.blocks,
            Text(&reason.what),
            shown.link(link.map_or(0, |(_, address)| *address)),
            Text(&short(&reason.place)),
        )?;
    }
    writeln!(out, "</table></div>")
}

/// The blocks with the most time.
fn hottest(out: &mut impl Write, shown: Shown<'_>) -> io::Result<()> {
    let regions = shown.kernel.regions.iter();
    let mut blocks: Vec<&Block> = regions.flat_map(|region| &region.blocks).collect();
    blocks.sort_by(|a, b| b.share.total_cmp(&a.share));
    let most = blocks.first().map_or(0.0, |block| block.share);
    let lines = blocks.iter().any(|block| block.source.is_some());
    let source = if lines { "<th>source line</th>" } else { "" };
    writeln!(
        out,
        "<h3>Hottest blocks</h3>\n<div class=\"scroll\"><table class=\"hottest\">\n<tr><th class=\"n\">share</th><th></th>\
         <th>block</th>{source}<th class=\"n\">executions</th><th class=\"n\">lanes</th></tr>"
    )?;
    for block in blocks.iter().take(HOTTEST) {
        let source = match (&block.source, lines) {
            (_, false) => String::new(),
            (None, _) => "<td></td>".to_owned(),
            (Some(source), _) => format!("<td>{}</td>", Text(source)),
        };
        writeln!(
            out,
            "<tr><td class=\"n\">{:.1} %</td><td><span class=\"bar\"><i style=\"width:{:.1}%\"></i></span></td>\
             <td><a href=\"{}\">{}</a></td>{source}<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            100.0 * block.share,
            100.0 * ratio(block.share, most),
            shown.link(block.address),
            Text(&short(&block.place)),
            block.executions,
            lanes(block.mean_lanes),
        )?;
    }
    writeln!(out, "</table></div>")?;
    match blocks.len().saturating_sub(HOTTEST) {
        0 => Ok(()),
        more => writeln!(
            out,
            "<p class=\"dim\">{more} more are in the code below.</p>"
        ),
    }
}

/// A number with a prefix of the SI.
fn rate(per_second: f64) -> String {
    match per_second {
        n if n >= 1e12 => format!("{:.2} T", n / 1e12),
        n if n >= 1e9 => format!("{:.2} G", n / 1e9),
        n if n >= 1e6 => format!("{:.2} M", n / 1e6),
        n => format!("{:.2} k", n / 1e3),
    }
}

/// What the kernel did in its time, and what the host could have done.
fn bounds(out: &mut impl Write, kernel: &KernelProfile) -> io::Result<()> {
    let (work, seconds) = (&kernel.work, kernel.seconds);
    if seconds <= 0.0 {
        return Ok(());
    }
    let probe = Probe::measured();
    let rows = [
        ("memory", "B/s", work.memory_bytes, Some(probe.bytes)),
        (
            "vector operations by lane",
            "op/s",
            work.vector_operations,
            Some(probe.operations),
        ),
        ("LDS", "B/s", work.lds_bytes, None),
    ];
    writeln!(
        out,
        "<h3>Bounds</h3>\n<div class=\"scroll\"><table class=\"bounds\">\n<tr><th></th><th class=\"n\">in all</th>\
         <th class=\"n\">by a thread</th><th class=\"n\">a thread can do</th><th class=\"n\">share</th></tr>"
    )?;
    for (what, unit, all, can) in rows.into_iter().filter(|(_, _, all, _)| *all != 0) {
        let does = all as f64 / seconds;
        let (can, share) = match can {
            Some(can) => (
                format!("{}{unit}", rate(can)),
                format!("{:.0} %", 100.0 * ratio(does, can)),
            ),
            None => Default::default(),
        };
        writeln!(
            out,
            "<tr><td>{what}</td><td class=\"n\">{all}</td><td class=\"n\">{}{unit}</td><td class=\"n\">{can}</td>\
             <td class=\"n\">{share}</td></tr>",
            rate(does)
        )?;
    }
    writeln!(
        out,
        "</table></div>\n<p class=\"dim\">A thread can do what a short measurement found when this page was written: a \
         copy of 48 MiB, and multiply-adds of 32-bit floats in the host's widest vectors. The kernel's numbers are what \
         its instructions ask for, without images and exports. More than 100 % of memory is served by caches. The kernel \
         has {:.2} operations for each byte of memory, and this machine as many time for {:.2}: with fewer, memory is \
         the bound.</p>",
        ratio(work.vector_operations as f64, work.memory_bytes as f64),
        ratio(probe.operations, probe.bytes),
    )
}

/// The shapes chosen for a region.
fn shapes(out: &mut impl Write, shown: Shown<'_>, region: &Region) -> io::Result<()> {
    writeln!(
        out,
        "<details class=\"region\"><summary>region {}: {:.1} % of the kernel's time, entered {} times, {}, \
         {} instructions to {} host bytes</summary><div>",
        Text(&short(&region.place)),
        100.0 * region.share,
        region.entered,
        Text(&region.how()),
        region.guest_instructions,
        region.host_bytes,
    )?;
    if let Some(only) = region.only {
        writeln!(out, "<p>{}</p>", only.text())?;
    }
    if !region.fallbacks.is_empty() {
        let names = region.fallbacks.join(", ");
        writeln!(
            out,
            "<p>falls back to the interpreter: {}</p>",
            Text(&names)
        )?;
    }
    writeln!(
        out,
        "<div class=\"scroll\"><table>\n<tr><th>block</th><th class=\"n\">executions</th><th class=\"n\">lanes</th>\
         <th class=\"n\">share</th><th>shape</th></tr>"
    )?;
    for block in &region.blocks {
        writeln!(
            out,
            "<tr><td><a href=\"{}\">{}</a></td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{:.1} %</td><td class=\"shape\">{}</td></tr>",
            shown.link(block.address),
            Text(&short(&block.place)),
            block.executions,
            lanes(block.mean_lanes),
            100.0 * block.share,
            Text(&shape(block)),
        )?;
    }
    writeln!(out, "</table></div></div></details>")
}

/// A block's loops and memory instructions, one per line.
fn shape(block: &Block) -> String {
    let accesses = block.accesses.iter();
    let accesses = accesses.map(|a| format!("{}  {}: {}", a.place, a.text, a.how));
    let lines: Vec<String> = block.loops().into_iter().chain(accesses).collect();
    lines.join("\n")
}

fn lanes(mean: Option<f64>) -> String {
    mean.map_or(String::new(), |mean| format!("{mean:.1}"))
}
