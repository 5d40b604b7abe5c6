//! The format of lcov (`geninfo(1)`).

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use runtime::foreign::Foreign;

use super::facts::{Facts, Ratio, Shown};
use super::lines::{SourceFile, files};

/// The report of all source files.
pub(super) fn text(facts: &Facts) -> String {
    let files = files(facts);
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&number| &facts.files[number]);
    let mut out = String::new();
    for number in order {
        // Writing to a string does not fail.
        let _ = file(&mut out, facts, number, &files[number]);
    }
    out
}

fn file(out: &mut String, facts: &Facts, number: usize, file: &SourceFile<'_>) -> fmt::Result {
    writeln!(out, "TN:\nSF:{}", Foreign(&facts.files[number]))?;
    functions(out, facts, number)?;
    let mut branches = Ratio::default();
    for (line, conditions) in &file.conditions {
        for (block, shown) in conditions.iter().enumerate() {
            condition(out, (*line, block), shown, &mut branches)?;
        }
    }
    if branches.total != 0 {
        writeln!(out, "BRF:{}\nBRH:{}", branches.total, branches.covered)?;
    }
    for (line, counts) in &file.lines {
        writeln!(out, "DA:{line},{}", counts.waves)?;
    }
    let Ratio { covered, total } = file.line_ratio();
    writeln!(out, "LF:{total}\nLH:{covered}\nend_of_record")
}

/// Kernels and functions that begin in the file.
fn functions(out: &mut String, facts: &Facts, number: usize) -> fmt::Result {
    // The same one may be in several code objects.
    let mut functions: BTreeMap<(u32, &str), u64> = BTreeMap::new();
    for (_, routine) in facts.routines() {
        if let Some(place) = routine.place.filter(|place| place.file == number) {
            let waves = functions.entry((place.line, &routine.name)).or_default();
            *waves = waves.saturating_add(routine.waves());
        }
    }
    for (line, name) in functions.keys() {
        writeln!(out, "FN:{line},{}", Foreign(name))?;
    }
    for ((_, name), waves) in &functions {
        writeln!(out, "FNDA:{waves},{}", Foreign(name))?;
    }
    let hit = functions.values().filter(|&&waves| waves != 0).count();
    writeln!(out, "FNF:{}\nFNH:{hit}", functions.len())
}

fn condition(
    out: &mut String,
    (line, block): (u32, usize),
    shown: &Shown<'_>,
    branches: &mut Ratio,
) -> fmt::Result {
    for (branch, count) in shown.outcomes().into_iter().enumerate() {
        branches.add(count != 0);
        write!(out, "BRDA:{line},{block},{branch},")?;
        match shown.reached {
            true => writeln!(out, "{count}")?,
            false => writeln!(out, "-")?,
        }
    }
    Ok(())
}
