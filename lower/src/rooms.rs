//! The permitted imports between folders of the translator: data flows from guest instructions to
//! lane IR, vector IR and host code, and imports point the other way only.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders and the ones that each may import, besides itself and [`BASE`].
const MAY_IMPORT: [(&str, &[&str]); 9] = [
    ("ir", &[]),
    ("lift", &["ir"]),
    ("analysis", &["ir"]),
    ("passes", &["ir", "analysis"]),
    ("vir", &[]),
    ("legalize", &["ir", "analysis", "passes", "vir"]),
    ("backend", &["vir"]),
    (
        "jit",
        &["ir", "analysis", "passes", "vir", "legalize", "backend"],
    ),
    ("cost", ALL),
];

const ALL: &[&str] = &[
    "ir", "lift", "analysis", "passes", "vir", "legalize", "backend", "jit",
];

/// Importable by all: layouts that code and runtime share, options, host properties.
const BASE: [&str; 5] = ["abi", "host", "maps", "options", "profile"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a folder can be listed").path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// The room that a file stands in.
fn room(file: &Path) -> String {
    let first = file.iter().next().expect("a file has a name");
    let first = Path::new(first).file_stem().expect("a file has a name");
    first.to_string_lossy().into_owned()
}

/// The rooms that a text imports.
fn imports(text: &str) -> BTreeSet<&str> {
    let after = text.split("crate::").skip(1);
    let names = after.map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    });
    names.collect()
}

#[test]
fn rooms_import_in_one_direction() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&root, &mut all);
    let mut wrong = Vec::new();
    for path in all {
        let file = path.strip_prefix(&root).expect("it lies there");
        let here = room(file);
        if ["lib", "rooms"].contains(&here.as_str()) {
            continue;
        }
        let allowed = MAY_IMPORT.iter().find(|(name, _)| *name == here);
        let allowed = allowed.map_or(&[][..], |(_, rooms)| rooms);
        let text = fs::read_to_string(&path).expect("it can be read");
        for other in imports(&text) {
            let base = BASE.contains(&other);
            if other != here && !base && !allowed.contains(&other) {
                wrong.push(format!("{} imports {other}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
