//! The copy of the project in which slips are planted, and its build.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::rewrite::rewrite;
use crate::sites;

/// Folders with slips. The first part of a path that fits counts.
const GROUPS: &[(&str, &[&str])] = &[
    ("interpreter", &["runtime/src/interp"]),
    ("lifting", &["lower/src/lift/arms", "lower/src/lift/value"]),
    (
        "legalization",
        &[
            "lower/src/legalize/evaluate",
            "lower/src/legalize/lanes",
            "lower/src/legalize/scalar",
            "lower/src/legalize/division",
            "lower/src/legalize/roots",
            "lower/src/legalize/compound",
        ],
    ),
    (
        "selection",
        &[
            "lower/src/backend/cranelift",
            "lower/src/backend/x64/select",
        ],
    ),
    (
        "encoding",
        &[
            "lower/src/backend/x64/inst",
            "lower/src/backend/x64/emit",
            "lower/src/backend/x64/encode",
            "lower/src/backend/x64/evex",
            "lower/src/backend/x64/rows",
        ],
    ),
];

/// Packages with slips.
const PACKAGES: [&str; 2] = ["runtime", "lower"];

/// Builds the tests, with the features that a build of the whole workspace has.
const TESTS: [&str; 8] = [
    "test",
    "--workspace",
    "--test",
    "exec",
    "--offline",
    "--no-run",
    "--message-format",
    "json",
];

/// A slip with its number, file and group.
#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    pub(crate) number: u32,
    pub(crate) group: &'static str,
    pub(crate) file: String,
    pub(crate) slip: sites::Slip,
    /// Numbers of its places in the code.
    pub(crate) places: Vec<u32>,
}

impl Numbered {
    /// Its file and line.
    pub(crate) fn at(&self) -> String {
        format!("{}:{}", self.file, self.slip.line)
    }

    /// What names it as long as its file stays as it is.
    pub(crate) fn key(&self) -> String {
        let sites::Slip {
            column, kind, what, ..
        } = &self.slip;
        format!("{}:{column} {kind} {what}", self.at())
    }
}

/// The copy.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) work: PathBuf,
    pub(crate) slips: Vec<Numbered>,
    pub(crate) places: u32,
    /// Slips that do not compile.
    removed: HashSet<String>,
    /// Where slips are in the copy's files.
    maps: BTreeMap<String, FileMap>,
}

/// Names of the groups.
pub(crate) fn groups() -> Vec<&'static str> {
    GROUPS.iter().map(|(name, _)| *name).collect()
}

fn group_of(file: &str) -> Option<&'static str> {
    let stem = file.strip_suffix(".rs")?;
    let test = stem
        .split('/')
        .any(|part| part == "tests" || part == "testing");
    if test {
        return None;
    }
    let fits = |prefix: &&str| {
        stem.strip_prefix(*prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '_']))
    };
    let group = GROUPS
        .iter()
        .find(|(_, prefixes)| prefixes.iter().any(fits));
    group.map(|(name, _)| *name)
}

/// Writes a file unless it has these contents: Cargo goes by times.
fn write(path: &Path, contents: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == contents) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("folders can be made");
    fs::write(path, contents).expect("the copy can be written");
}

struct FileMap {
    others: Vec<(Range<usize>, u32)>,
    places: Vec<(Range<usize>, Vec<u32>)>,
    bodies: Vec<Range<usize>>,
}

impl Tree {
    /// A copy of `project` in `work`, with slips in these groups, as far as they have been found to compile.
    pub(crate) fn new(project: &Path, work: &Path) -> Tree {
        let mut tree = Tree {
            root: work.join("tree"),
            target: work.join("target"),
            work: work.to_owned(),
            slips: Vec::new(),
            places: 0,
            removed: HashSet::new(),
            maps: BTreeMap::new(),
        };
        let removed = fs::read_to_string(work.join("removed.txt")).unwrap_or_default();
        tree.removed = removed.lines().map(str::to_owned).collect();
        tree.copy(project);
        tree.plant(project);
        tree
    }

    /// Copies what git has, and what is new and not ignored, without the files in which slips are planted.
    fn copy(&self, project: &Path) {
        let list = Command::new("git")
            .arg("-C")
            .arg(project)
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .output()
            .expect("git runs");
        let list = String::from_utf8(list.stdout).expect("names are UTF-8");
        for name in list.split('\0').filter(|name| !name.is_empty()) {
            let (from, to) = (project.join(name), self.root.join(name));
            let Ok(about) = fs::symlink_metadata(&from) else {
                continue;
            };
            if about.is_symlink() {
                let link = fs::read_link(&from).expect("a link can be read");
                if fs::read_link(&to).is_ok_and(|old| old == link) {
                    continue;
                }
                let _ = fs::remove_file(&to);
                fs::create_dir_all(to.parent().expect("a folder")).expect("folders can be made");
                std::os::unix::fs::symlink(link, &to).expect("a link can be made");
                continue;
            }
            if !about.is_file() || group_of(name).is_some() || name == "Cargo.lock" {
                continue;
            }
            let mut contents = fs::read(&from).expect("the project can be read");
            for package in PACKAGES {
                if name == format!("{package}/Cargo.toml") {
                    let text = String::from_utf8(contents).expect("a manifest is UTF-8");
                    let with = "[dependencies]\nslips_on = { path = \"../slips_on\" }\n";
                    contents = text.replacen("[dependencies]\n", with, 1).into_bytes();
                } else if name == format!("{package}/src/lib.rs") {
                    let text = String::from_utf8(contents).expect("code is UTF-8");
                    // Behind the comment of the crate, where attributes may stand.
                    let at = text.find("\npub mod").expect("it has modules");
                    let allow = "\n#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]\n";
                    contents = [&text[..at], allow, &text[at..]].concat().into_bytes();
                }
            }
            if name == "tests/exec/conformance.rs" {
                // One wrong result is enough.
                let text = String::from_utf8(contents).expect("code is UTF-8");
                let count = "        self.count += 1;\n";
                assert!(text.contains(count), "failures are counted elsewhere");
                let stop =
                    "        assert!(std::env::var_os(\"SLIP_ON\").is_none(), \"{what}\");\n";
                contents = text
                    .replacen(count, &[stop, count].concat(), 1)
                    .into_bytes();
            }
            if name == "Cargo.toml" {
                let text = String::from_utf8(contents).expect("a manifest is UTF-8");
                let text = text.replacen("\"runtime\", ", "\"runtime\", \"slips_on\", ", 1);
                contents = text.into_bytes();
                contents
                    .extend_from_slice(b"\n[profile.dev.package.slips_on]\ncodegen-units = 1\n");
            }
            write(&to, &contents);
            if let Ok(to) = fs::metadata(&to)
                && to.permissions() != about.permissions()
            {
                let _ = fs::set_permissions(self.root.join(name), about.permissions());
            }
        }
        let lock = self.root.join("Cargo.lock");
        if !lock.exists() {
            fs::copy(project.join("Cargo.lock"), lock).expect("the lock file is there");
        }
    }

    /// Writes the files with slips.
    fn plant(&mut self, project: &Path) {
        let list = Command::new("git")
            .arg("-C")
            .arg(project)
            .args(["ls-files", "runtime/src", "lower/src"])
            .output()
            .expect("git runs");
        let list = String::from_utf8(list.stdout).expect("names are UTF-8");
        self.slips.clear();
        self.maps.clear();
        // 0 is no slip.
        let (mut next, mut place) = (1, 0);
        for name in list.lines() {
            let Some(group) = group_of(name) else {
                continue;
            };
            let text = fs::read_to_string(project.join(name)).expect("code can be read");
            let found = sites::find(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut numbered: Vec<Numbered> = Vec::new();
            for (i, slip) in found.slips.iter().enumerate() {
                numbered.push(Numbered {
                    number: next + i as u32,
                    group,
                    file: name.to_owned(),
                    slip: slip.clone(),
                    places: Vec::new(),
                });
            }
            let is_removed =
                |n: &&Numbered| n.slip.kind == sites::COMMUTED || self.removed.contains(&n.key());
            let removed = numbered.iter().filter(is_removed);
            let removed: HashSet<u32> = removed.map(|n| n.number).collect();
            let new = rewrite(&text, &found, next, &removed, &mut place);
            for &(number, at) in &new.opened {
                let n = &mut numbered[(number - next) as usize];
                n.places.push(at);
            }
            write(&self.root.join(name), new.text.as_bytes());
            next += found.slips.len() as u32;
            numbered.retain(|n| !removed.contains(&n.number));
            self.slips.extend(numbered);
            let map = FileMap {
                others: new.others,
                places: new.places,
                bodies: new.bodies,
            };
            self.maps.insert(name.to_owned(), map);
        }
        // The next round's number should be the same, so that not all is built again.
        self.places = (place + 1).next_multiple_of(8192);
        let text = include_str!("on.rs").replace("PLACES_HERE", &self.places.to_string());
        write(&self.root.join("slips_on/src/lib.rs"), text.as_bytes());
        let manifest = "[package]\nname = \"slips_on\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        write(&self.root.join("slips_on/Cargo.toml"), manifest.as_bytes());
    }

    fn cargo(&self, args: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command
            .args(args)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env_remove("WAVELIFT_EMBED");
        command
    }

    /// Builds the tests, without the slips that do not compile. Returns their names and binaries.
    pub(crate) fn build(&mut self, project: &Path) -> Vec<(String, PathBuf)> {
        let mut round = 0;
        loop {
            round += 1;
            let output = self
                .cargo(&TESTS)
                .stderr(Stdio::inherit())
                .output()
                .expect("cargo runs");
            let text = String::from_utf8_lossy(&output.stdout);
            let bad = self.bad(&text);
            eprintln!(
                "round {round}: {} of {} do not compile",
                bad.len(),
                self.slips.len()
            );
            if bad.is_empty() {
                assert!(
                    output.status.success(),
                    "the copy does not compile, for another reason"
                );
                return executables(&text);
            }
            let keys = self.slips.iter().filter(|n| bad.contains(&n.number));
            self.removed.extend(keys.map(Numbered::key));
            let mut all: Vec<&str> = self.removed.iter().map(String::as_str).collect();
            all.sort_unstable();
            write(
                &self.work.join("removed.txt"),
                (all.join("\n") + "\n").as_bytes(),
            );
            self.plant(project);
        }
    }

    /// Numbers that the compiler's messages speak of.
    fn bad(&self, text: &str) -> HashSet<u32> {
        let mut bad = HashSet::new();
        for line in text.lines() {
            let Ok(line) = serde_json::from_str::<serde_json::Value>(line) else {
                continue;
            };
            let message = &line["message"];
            if message["level"] != "error" {
                continue;
            }
            let spans = message["spans"].as_array().cloned().unwrap_or_default();
            let at = |span: &serde_json::Value| {
                let name = span["file_name"].as_str()?.to_owned();
                let map = self.maps.get(&name)?;
                let start = span["byte_start"].as_u64()? as usize;
                let end = span["byte_end"].as_u64()? as usize;
                Some((name, map, start..end, span["is_primary"] == true))
            };
            let spans: Vec<_> = spans.iter().filter_map(at).collect();
            let mut found = HashSet::new();
            for primary in [true, false] {
                for (_, map, range, is_primary) in &spans {
                    if *is_primary != primary || !found.is_empty() {
                        continue;
                    }
                    let inside = map
                        .others
                        .iter()
                        .filter(|(other, _)| other.start <= range.start && range.end <= other.end);
                    found.extend(inside.map(|&(_, number)| number));
                }
            }
            for (name, map, range, is_primary) in &spans {
                if !is_primary || !found.is_empty() {
                    continue;
                }
                let within = |outer: &Range<usize>, inner: &Range<usize>| {
                    outer.start <= inner.start && inner.end <= outer.end
                };
                let around = |inner: &Range<usize>| {
                    let around = map.places.iter().filter(|(place, _)| within(place, inner));
                    let smallest = around.min_by_key(|(place, _)| place.len());
                    smallest.map_or(&[][..], |(_, numbers)| &numbers[..])
                };
                found.extend(around(range));
                if found.is_empty() {
                    let others = spans
                        .iter()
                        .filter(|(other, _, _, primary)| other == name && !primary);
                    found.extend(others.flat_map(|(_, _, range, _)| around(range)));
                }
                let inside = map.places.iter().filter(|(place, _)| within(range, place));
                found.extend(inside.flat_map(|(_, numbers)| numbers));
                if found.is_empty()
                    && let Some(body) = map.bodies.iter().find(|body| within(body, range))
                {
                    let inside = map.places.iter().filter(|(place, _)| within(body, place));
                    found.extend(inside.flat_map(|(_, numbers)| numbers));
                    eprintln!(
                        "a whole body: {}",
                        message["rendered"].as_str().unwrap_or("")
                    );
                }
            }
            let removed = |n: &u32| self.slips.iter().any(|s| s.number == *n);
            found.retain(removed);
            if found.is_empty() {
                eprintln!(
                    "not understood: {}",
                    message["rendered"].as_str().unwrap_or("")
                );
            }
            bad.extend(found);
        }
        bad
    }
}

/// The test binaries that Cargo's messages name.
fn executables(text: &str) -> Vec<(String, PathBuf)> {
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let tests = lines.filter(|line| line["profile"]["test"] == true);
    let found = tests.filter_map(|line| {
        let name = line["target"]["name"].as_str()?;
        let path = line["executable"].as_str()?;
        Some((name.to_owned(), PathBuf::from(path)))
    });
    found.collect()
}
