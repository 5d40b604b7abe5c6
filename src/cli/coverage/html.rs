//! Pages: an index, a page for each source file, and one for each code object with its disassembly. They have no scripts
//! and nothing from elsewhere.

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use quick_xml::escape::escape;
use runtime::foreign;
use wavelift::source::SourceText;

use super::facts::{Facts, Object, Ratio, Routine, Shown};
use super::lines::{LineCounts, SourceFile, files, line_ratio};
use super::text::title;
use crate::cli::new_file::NewFile;

const STYLE: &str = include_str!("html/style.css");

/// Writes all pages; the path of the index.
pub(super) fn write(facts: &Facts, folder: &Path, sources: &[PathBuf]) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let files = files(facts);
    let save = |name: &str, text: String| -> anyhow::Result<PathBuf> {
        let path = folder.join(name);
        let file = NewFile::named(&path)?;
        file.complete(|file| file.write_all(text.as_bytes()))?;
        Ok(path)
    };
    for (number, object) in facts.objects.iter().enumerate() {
        let title = format!("Code object for {}", object.target);
        let body = made(|out| object_page(out, facts, object));
        save(&object_name(number), page(&title, &body))?;
    }
    for (number, file) in files.iter().enumerate() {
        let body = made(|out| file_page(out, facts, number, file, sources));
        save(&file_name(number), page(&facts.files[number], &body))?;
    }
    let body = made(|out| index(out, facts, &files));
    save("index.html", page("Coverage", &body))
}

fn file_name(number: usize) -> String {
    format!("file-{number}.html")
}

fn object_name(number: usize) -> String {
    format!("object-{number}.html")
}

/// Text of others, between tags or in an attribute.
fn shown(text: &str) -> String {
    escape(foreign::lines(text)).into_owned()
}

fn made(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out);
    out
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{body}</body>\n</html>\n",
        shown(title)
    )
}

fn cell(out: &mut String, ratio: Ratio) -> fmt::Result {
    match ratio.total {
        0 => write!(out, "<td></td>"),
        _ => write!(out, "<td>{ratio}</td>"),
    }
}

fn index(out: &mut String, facts: &Facts, files: &[SourceFile<'_>]) -> fmt::Result {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&number| &facts.files[number]);
    writeln!(
        out,
        "<h2>Source files</h2>\n<table class=\"list\">\n<tr><th>file</th><th>lines</th><th>outcomes</th></tr>"
    )?;
    for number in order {
        let name = shown(&facts.files[number]);
        write!(
            out,
            "<tr><td><a href=\"{}\">{name}</a></td>",
            file_name(number)
        )?;
        cell(out, files[number].line_ratio())?;
        cell(out, files[number].outcome_ratio())?;
        writeln!(out, "</tr>")?;
    }
    writeln!(
        out,
        "</table>\n<h2>Kernels and functions</h2>\n<table class=\"list\">\n<tr><th>name</th><th>target</th><th>waves</th>\
         <th>lines</th><th>blocks</th><th>outcomes</th></tr>"
    )?;
    for (number, object) in facts.objects.iter().enumerate() {
        for routine in &object.routines {
            write!(
                out,
                "<tr><td><a href=\"{}#{}\">{}</a></td><td>{}</td><td class=\"n\">{}</td>",
                object_name(number),
                anchor(routine),
                shown(&title(routine)),
                shown(&object.target),
                routine.waves()
            )?;
            cell(out, line_ratio(routine))?;
            cell(out, routine.block_ratio())?;
            cell(out, routine.outcome_ratio())?;
            writeln!(out, "</tr>")?;
        }
    }
    writeln!(out, "</table>")
}

fn anchor(routine: &Routine) -> String {
    let first = routine.instructions().next();
    format!("a{:x}", first.map_or(0, |inst| inst.address))
}

/// How a line of code is marked.
fn mark(covered: bool, conditions: &[Shown<'_>]) -> &'static str {
    let missed = |shown: &Shown<'_>| shown.outcomes().contains(&0);
    match covered {
        false => "missed",
        true if conditions.iter().any(missed) => "part",
        true => "hit",
    }
}

/// The outcomes of conditions.
fn outcomes(conditions: &[Shown<'_>]) -> String {
    let texts = conditions.iter().flat_map(|shown| {
        let outcomes = shown.outcomes().into_iter().zip(shown.condition.names());
        outcomes.map(|(count, name)| match count {
            0 => format!("<span class=\"never\">never {name}</span>"),
            _ => format!("{name}: {count} {}", shown.condition.unit()),
        })
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A source file, or the disassembly of its lines if it is not found.
fn file_page(
    out: &mut String,
    facts: &Facts,
    number: usize,
    file: &SourceFile<'_>,
    sources: &[PathBuf],
) -> fmt::Result {
    let name = &facts.files[number];
    writeln!(
        out,
        "<p><a href=\"index.html\">all files</a>; lines {}, outcomes {}</p>",
        file.line_ratio(),
        file.outcome_ratio()
    )?;
    let texts = facts.objects.iter().map(|object| {
        let known = object.map.files().any(|file| file == name);
        known.then(|| SourceText::new(&object.map, sources.iter().cloned()))
    });
    let found = texts
        .flatten()
        .find_map(|mut text| text.has(name).then_some(text));
    let Some(mut text) = found else {
        writeln!(
            out,
            "<p>The source file is not found; this is its code.</p>"
        )?;
        for (_, routine) in facts.routines() {
            listing(out, facts, routine, Some(number))?;
        }
        return Ok(());
    };
    writeln!(
        out,
        "<table class=\"code\">\n<tr><th>line</th><th>waves</th><th>lanes</th><th>outcomes</th><th></th></tr>"
    )?;
    let mut line = 1;
    while let Some(source) = text.line(name, line) {
        let conditions = file.conditions.get(&line).map_or(&[][..], Vec::as_slice);
        match file.lines.get(&line) {
            None => write!(out, "<tr><td class=\"n\">{line}</td><td></td><td></td>")?,
            Some(counts) => {
                let LineCounts { waves, lanes } = *counts;
                let mark = mark(counts.is_covered(), conditions);
                let lanes = lanes.map_or(String::new(), |lanes| lanes.to_string());
                write!(
                    out,
                    "<tr class=\"{mark}\"><td class=\"n\">{line}</td><td class=\"n\">{waves}</td><td class=\"n\">{lanes}</td>"
                )?;
            }
        }
        writeln!(
            out,
            "<td>{}</td><td>{}</td></tr>",
            outcomes(conditions),
            shown(source)
        )?;
        line += 1;
    }
    writeln!(out, "</table>")
}

fn object_page(out: &mut String, facts: &Facts, object: &Object) -> fmt::Result {
    let digest: String = object
        .digest
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    writeln!(
        out,
        "<p><a href=\"index.html\">all files</a>; SHA-256 {digest}</p>"
    )?;
    for routine in &object.routines {
        listing(out, facts, routine, None)?;
    }
    Ok(())
}

/// The disassembly of a kernel or function, or of its instructions from one file.
fn listing(out: &mut String, facts: &Facts, routine: &Routine, file: Option<usize>) -> fmt::Result {
    let from = |place: Option<super::facts::Place>| {
        file.is_none() || place.is_some_and(|place| Some(place.file) == file)
    };
    if !routine.instructions().any(|inst| from(inst.place)) {
        return Ok(());
    }
    let conditions: Vec<Shown<'_>> = routine.conditions().collect();
    writeln!(
        out,
        "<h2 id=\"{}\">{}</h2>\n<table class=\"code\">\n<tr><th>line</th><th>waves</th><th>lanes</th><th>outcomes</th>\
         <th>address</th><th></th></tr>",
        anchor(routine),
        shown(&title(routine))
    )?;
    for instruction in routine.instructions().filter(|inst| from(inst.place)) {
        let here = conditions.iter().copied();
        let here: Vec<_> = here
            .filter(|shown| shown.instruction.address == instruction.address)
            .collect();
        let counts = &instruction.counts;
        let covered = super::facts::is_covered(std::iter::once(instruction));
        let line = match (instruction.place, file) {
            (Some(place), Some(_)) => place.line.to_string(),
            (Some(place), None) => format!("{}:{}", short(&facts.files[place.file]), place.line),
            (None, _) => String::new(),
        };
        let lanes = if instruction.vector {
            counts.lanes.to_string()
        } else {
            String::new()
        };
        writeln!(
            out,
            "<tr class=\"{}\"><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{lanes}</td><td>{}</td>\
             <td class=\"n\">{:x}</td><td>{}</td></tr>",
            mark(covered, &here),
            shown(&line),
            counts.executions,
            outcomes(&here),
            instruction.address,
            shown(&instruction.text)
        )?;
    }
    writeln!(out, "</table>")
}

/// The name of a file without its folder.
fn short(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or(path.to_owned(), |name| name.to_string_lossy().into_owned())
}
