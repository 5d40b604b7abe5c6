//! A profile as one page: no scripts, nothing from elsewhere.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, Write};

use super::collect::{Block, Function, KernelProfile, Line, Region, ratio};

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
const STYLE: &str = "\
.profile{font:14px/1.4 system-ui,sans-serif;color:#222;background:#fff}body.profile{margin:2em;max-width:110em}
.profile h1{font-size:1.4em}.profile h2{font-size:1.2em;margin-top:2em;border-bottom:1px solid #ccc}.profile h3{font-size:1em}
.profile table{border-collapse:collapse;font:12px/1.35 ui-monospace,monospace}
.profile th{text-align:left;font-weight:600;padding:2px 10px;border-bottom:1px solid #ccc}
.profile td{text-align:left;padding:0 10px;white-space:pre;vertical-align:top}.profile td.n{text-align:right}
.profile tr.lead td{border-top:1px solid #ddd}.profile tr.never{color:#999}
.profile td.shape{color:#555}
.profile td.heat{padding:0;width:120px}.profile td.heat i{display:block;height:1.1em;background:#e4572e}
.profile .flame div{display:flex;min-width:0}.profile .flame span{overflow:hidden;white-space:nowrap;\
text-overflow:ellipsis;border:1px solid #fff;padding:1px 3px;font-size:12px;box-sizing:border-box}
.profile .k{background:#f4a259}.profile .r{background:#f7b977}.profile .b{background:#fbd3a2}
.profile details{margin:.5em 0}.profile summary{cursor:pointer}";

/// Writes profiles as a page without scripts that needs nothing else.
pub fn page(file: impl Write, title: &str, kernels: &[KernelProfile]) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    let title = Text(title);
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Profile of {title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body class=\"profile\">\n\
         <h1>Profile of {title}</h1>\n\
         <p>Times, shapes and host bytes are those of a run without counters, executions and lanes those of a second \
         run with counters.</p>"
    )?;
    contents(&mut out, kernels)?;
    writeln!(out, "</body>\n</html>")?;
    out.flush()
}

/// Writes profiles as a part of another page, such as a notebook.
pub fn fragment(mut out: impl Write, kernels: &[KernelProfile]) -> io::Result<()> {
    writeln!(out, "<div class=\"profile\">\n<style>\n{STYLE}\n</style>")?;
    contents(&mut out, kernels)?;
    writeln!(out, "</div>")
}

fn contents(out: &mut impl Write, kernels: &[KernelProfile]) -> io::Result<()> {
    let all: f64 = kernels.iter().map(|kernel| kernel.seconds).sum();
    summary(out, kernels, all)?;
    writeln!(out, "<div class=\"flame\">")?;
    for kernel in kernels {
        flame(out, kernel, ratio(kernel.seconds, all))?;
    }
    writeln!(out, "</div>")?;
    for kernel in kernels {
        writeln!(out, "<section>\n<h2>{}</h2>", Text(&kernel.kernel))?;
        reasons(out, kernel)?;
        for region in &kernel.regions {
            shapes(out, region)?;
        }
        for function in &kernel.functions {
            listing(out, function)?;
        }
        writeln!(out, "</section>")?;
    }
    Ok(())
}

fn summary(out: &mut impl Write, kernels: &[KernelProfile], all: f64) -> io::Result<()> {
    writeln!(
        out,
        "<table class=\"kernels\">\n<tr><th>kernel</th><th>launches</th><th>waves</th><th>instructions</th>\
         <th>by lane</th><th>milliseconds</th><th>share</th></tr>"
    )?;
    for kernel in kernels {
        writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{:.3}</td><td class=\"n\">{:.1} %</td></tr>",
            Text(&kernel.kernel),
            kernel.launches,
            kernel.waves,
            kernel.instructions,
            kernel.lane_instructions,
            kernel.seconds * 1e3,
            100.0 * ratio(kernel.seconds, all),
        )?;
    }
    writeln!(out, "</table>")
}

/// A bar as wide as its share, with a name.
fn bar(out: &mut impl Write, class: &str, name: &str, share: f64) -> io::Result<()> {
    let (name, percent) = (Text(name), 100.0 * share);
    write!(
        out,
        "<span class=\"{class}\" style=\"width:{percent:.3}%\" title=\"{name}: {percent:.1} %\">{name}</span>"
    )
}

/// Kernel over its regions over their blocks.
fn flame(out: &mut impl Write, kernel: &KernelProfile, share: f64) -> io::Result<()> {
    write!(out, "<div>")?;
    bar(out, "k", &kernel.kernel, share)?;
    write!(out, "</div>\n<div>")?;
    for region in &kernel.regions {
        bar(out, "r", &region.place, share * region.share)?;
    }
    write!(out, "</div>\n<div>")?;
    for block in kernel.regions.iter().flat_map(|region| &region.blocks) {
        bar(out, "b", &block.place, share * block.share)?;
    }
    writeln!(out, "</div>")
}

/// Why a kernel is not faster.
fn reasons(out: &mut impl Write, kernel: &KernelProfile) -> io::Result<()> {
    if kernel.reasons.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<table class=\"reasons\">\n<tr><th>share</th><th>blocks</th><th>where</th><th>most in</th></tr>"
    )?;
    for reason in &kernel.reasons {
        writeln!(
            out,
            "<tr><td class=\"n\">{:.1} %</td><td class=\"n\">{}</td><td>{}</td><td>{}</td></tr>",
            100.0 * reason.share,
            reason.blocks,
            Text(&reason.what),
            Text(&reason.place),
        )?;
    }
    writeln!(out, "</table>")
}

/// The shapes chosen for a region.
fn shapes(out: &mut impl Write, region: &Region) -> io::Result<()> {
    writeln!(
        out,
        "<details class=\"region\"><summary>region {}: {:.1} % of the kernel's time, entered {} times, {}, \
         {} instructions to {} host bytes</summary>",
        Text(&region.place),
        100.0 * region.share,
        region.entered,
        region.how(),
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
        "<table>\n<tr><th>block</th><th>executions</th><th>lanes</th><th>share</th><th>shape</th></tr>"
    )?;
    for block in &region.blocks {
        writeln!(
            out,
            "<tr class=\"lead\"><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{:.1} %</td><td>{}</td></tr>",
            Text(&block.place),
            block.executions,
            lanes(block.mean_lanes),
            100.0 * block.share,
            Text(&shape(block)),
        )?;
    }
    writeln!(out, "</table></details>")
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

fn listing(out: &mut impl Write, function: &Function) -> io::Result<()> {
    writeln!(
        out,
        "<h3>{}</h3>\n<table class=\"code\">\n<tr><th>address</th><th>executions</th><th>lanes</th>\
         <th>share</th><th></th><th>instruction</th><th>shape</th></tr>",
        Text(&function.name)
    )?;
    let shares = function.lines.iter().map(|line| line.share);
    let most = shares.fold(0.0, f64::max);
    for line in &function.lines {
        instruction(out, line, most)?;
    }
    writeln!(out, "</table>")
}

fn instruction(out: &mut impl Write, line: &Line, most: f64) -> io::Result<()> {
    let class = match (line.executions, line.leads) {
        (0, _) => " class=\"never\"",
        (_, true) => " class=\"lead\"",
        _ => "",
    };
    let heat = 100.0 * ratio(line.share, most);
    writeln!(
        out,
        "<tr{class}><td>{:x}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.2} %</td>\
         <td class=\"heat\"><i style=\"width:{heat:.1}%\"></i></td><td>{}</td><td class=\"shape\">{}</td></tr>",
        line.address,
        line.executions,
        lanes(line.mean_lanes),
        100.0 * line.share,
        Text(&line.text),
        Text(&line.shape),
    )
}
