//! `wavelift check`: all of the project's code objects, and what each change of a wait does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wavelift::check::{Code, Edit, Report, Routine, WaitField, check_code, routines};
use wavelift::frontend::{Op, Operand};
use wavelift::object::{self, CodeObject};

use super::{file, folder, json, root, wavelift};

/// Suppressions for the project's own code objects, all of them for kernels that are written by hand.
const KNOWN: &str = "tests/kernels/check.toml";

/// Every code object in a folder of the repository, but for those that tests of the loader refuse.
fn code_objects() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["benches", "examples", "tests"]
        .map(|name| root().join(name))
        .into();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).expect("the folder can be listed");
        for entry in entries {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "co") {
                found.push(path);
            }
        }
    }
    found.retain(|path| object::open(&std::fs::read(path).expect("it can be read"), None).is_ok());
    found.sort();
    found
}

#[test]
fn the_projects_kernels_have_no_findings() {
    let paths = code_objects();
    assert!(paths.len() > 200, "{} code objects", paths.len());
    let known = root().join(KNOWN);
    let mut args = vec!["check", "--suppress", known.to_str().expect("text")];
    args.extend(paths.iter().map(|path| path.to_str().expect("text")));
    let run = wavelift(&args);
    // Each suppression is needed.
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (0, ""),
        "{}",
        run.stdout.chars().take(4000).collect::<String>()
    );
    assert!(run.stdout.starts_with("0 findings and "), "{}", run.stdout);
    assert!(!run.stdout.contains("not checked"), "{}", run.stdout);
}

/// Counts of changes that are found, and of those that are named redundant.
#[derive(Default)]
struct Counts(BTreeMap<(&'static str, bool), usize>);

impl Counts {
    /// Either is one: a change that is found, or one without effect, which the report of the unchanged code
    /// names.
    fn add(&mut self, what: &'static str, found: bool, redundant: bool, place: &str) {
        assert_ne!(found, redundant, "{what} {place}: found {found}");
        *self.0.entry((what, found)).or_default() += 1;
    }
}

fn mutate(path: &Path, name: &str, routine: &Routine<'_>, counts: &mut Counts) {
    let code = Code::new(routine);
    let report = check_code(routine, &code);
    let mut changed = code.clone();
    let mut found = |at: usize, edit: Edit, back: u16, report: &Report| {
        changed.edit(at, edit);
        let more = check_code(routine, &changed).findings.len() > report.findings.len();
        match edit {
            Edit::Imm(_) => changed.edit(at, Edit::Imm(back)),
            Edit::Remove => changed = code.clone(),
        }
        more
    };
    for (at, item) in code.items.iter().enumerate() {
        let Operand::Imm(imm) = item.inst.src[0] else {
            continue;
        };
        let (imm, gfx) = (imm as u16, code.gfx);
        let place = format!("{} {name} {:#x}", path.display(), item.address);
        let redundant = |field| report.redundant.contains(&(at, field));
        let stronger = |field| redundant(field) || report.stronger.contains(&(at, field));
        if !code.is_reached(at) {
            continue;
        }
        if item.inst.op() == Op::Waitcnt {
            let fields = WaitField::ALL.into_iter();
            let fields: Vec<_> = fields
                .filter_map(|field| Some((field, field.get(imm, gfx)?)))
                .collect();
            if fields.is_empty() {
                continue;
            }
            let none = fields.iter().all(|&(field, _)| redundant(Some(field)));
            let gone = found(at, Edit::Imm(0xffff), imm, &report);
            counts.add("a deleted wait", gone, none, &place);
            for (field, n) in fields {
                let weaker = field.set(imm, n + 1, gfx);
                let weak = found(at, Edit::Imm(weaker), imm, &report);
                counts.add("a weaker wait", weak, stronger(Some(field)), &place);
            }
        } else if item.inst.desc.name == "s_nop" {
            let gone = found(at, Edit::Remove, imm, &report);
            counts.add("a deleted s_nop", gone, redundant(None), &place);
            if imm & 15 > 0 {
                let short = found(at, Edit::Imm(imm - 1), imm, &report);
                counts.add("a shorter s_nop", short, stronger(None), &place);
            }
        }
    }
}

/// The most instructions of a routine whose waits are changed: the time is the square of it.
const LARGEST: usize = 1024;

/// Changes the waits of the routines of code objects, offload bundles and programs.
fn mutate_files(paths: &[PathBuf]) -> Counts {
    let mut counts = Counts::default();
    let (mut all, mut large) = (0, 0);
    for path in paths {
        let bytes = std::fs::read(path).expect("it can be read");
        let entries = object::entries(&bytes).expect("it has code objects");
        for entry in entries.iter().filter(|entry| entry.is_amdgcn()) {
            // Libraries also contain code for other GPUs.
            let Ok(object) = CodeObject::parse(entry.code()) else {
                continue;
            };
            for named in routines(&object) {
                all += 1;
                if named.routine.code.len() > 4 * LARGEST {
                    large += 1;
                    continue;
                }
                mutate(path, named.name, &named.routine, &mut counts);
            }
        }
    }
    println!("{all} routines, {large} of them too large");
    for ((what, found), count) in &counts.0 {
        let result = if *found { "found" } else { "redundant" };
        println!("{what}: {count} {result}");
    }
    counts
}

/// Each wait and each `s_nop` of compiled kernels is deleted, and weakened by one. The change is found, or was
/// named redundant before. `CHECK_MUTATE` names further files, with `:` between them.
#[test]
fn every_change_of_a_wait_is_found_or_was_redundant() {
    let mut files = code_objects();
    if let Some(more) = std::env::var_os("CHECK_MUTATE") {
        files.extend(std::env::split_paths(&more));
    }
    let counts = mutate_files(&files);
    assert!(counts.0[&("a deleted wait", true)] > 10_000);
    assert!(counts.0[&("a deleted s_nop", true)] > 100);
}

/// A kernel that reads what it loads without a wait, with source lines.
pub(super) fn broken(home: &Path) -> String {
    let mut bytes =
        std::fs::read(root().join("tests/kernels/source/lines.gfx900.co")).expect("it can be read");
    // The wait for the load at 0x1758: `s_waitcnt vmcnt(0)` before `v_mul_f32`.
    let wait = [0x70, 0x0f, 0x8c, 0xbf, 0x01, 0x03, 0x02, 0x0a];
    let at = bytes.windows(8).position(|window| window == wait);
    let at = at.expect("the kernel waits");
    bytes[at..at + 4].copy_from_slice(&[0, 0, 0x80, 0xbf]);
    file(home, "broken.co", bytes)
}

#[test]
fn a_finding_has_both_instructions_and_their_lines() {
    let home = folder("check");
    let path = broken(&home);
    let run = wavelift(&["check", &path]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    let [head, load, use_, last] = lines[..] else {
        panic!("{}", run.stdout)
    };
    assert!(
        head.contains(
            ": void norms<float>(float*, float const*, int): finding: v1 is the result of "
        ) && head.ends_with("vmcnt(0) would be enough [wait-read]"),
        "{head}"
    );
    assert!(
        load.starts_with("  0x1758  global_load_dword v1, "),
        "{load}"
    );
    assert!(load.ends_with(" at lines.hip:38"), "{load}");
    assert!(
        use_.starts_with("  0x1768  v_mul_f32_e32 v1, v1, v1"),
        "{use_}"
    );
    assert!(last.starts_with("1 finding and "), "{last}");

    let value = json_of(&["check", &path, "--json"]);
    let found = &value["findings"][0];
    assert_eq!(found["rule"], "wait-read");
    assert_eq!(found["certainty"], "A");
    assert_eq!(found["other"]["address"], 0x1758);
    assert_eq!(found["instruction"]["address"], 0x1768);
    assert_eq!(found["instruction"]["file"], "lines.hip");

    let log = json_of(&["check", &path, "--sarif"]);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(
        (&log["version"], &result["level"]),
        (&"2.1.0".into(), &"error".into())
    );
    let physical = &result["locations"][0]["physicalLocation"];
    assert_eq!(physical["artifactLocation"]["uri"], "lines.hip");
    assert_eq!(
        log["runs"][0]["tool"]["driver"]["rules"][0]["id"],
        "wait-read"
    );
}

fn json_of(args: &[&str]) -> serde_json::Value {
    let run = wavelift(args);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    serde_json::from_str(&run.stdout).expect("it is JSON")
}

#[test]
fn suppressions_have_a_reason_and_are_needed() {
    let home = folder("check-suppress");
    let path = broken(&home);
    let with = |name: &str, text: &str| {
        let list = file(&home, name, text);
        wavelift(&["check", &path, "--suppress", &list])
    };
    let entry = "[[suppress]]\nrule = \"wait-read\"\nkernel = \"_Z5normsIfEvPT_PKS0_i\"\n";
    let known = with(
        "known.toml",
        &format!("{entry}address = 0x1768\nreason = \"a test\"\n"),
    );
    assert_eq!((known.status, known.stderr.as_str()), (0, ""));
    assert!(
        known.stdout.ends_with("; 1 finding suppressed\n"),
        "{}",
        known.stdout
    );
    let other = with(
        "other.toml",
        &format!("{entry}address = 0x1700\nreason = \"a test\"\n"),
    );
    assert_eq!(other.status, 1);
    assert_eq!(
        other.stderr,
        format!(
            "{}:1: note: nothing is suppressed by `wait-read` of kernel `_Z5normsIfEvPT_PKS0_i` at 0x1700\n",
            home.join("other.toml").display()
        )
    );
    let silent = with("silent.toml", &format!("{entry}reason = \" \"\n"));
    assert_eq!(silent.status, 2);
    let message = "silent.toml:4: suppress[0].reason: the reason is empty";
    assert!(silent.stderr.contains(message), "{}", silent.stderr);
    let none = with("none.toml", entry);
    assert_eq!(none.status, 2);
    let message = "none.toml:1: suppress[0]: the key `reason` is missing";
    assert!(none.stderr.contains(message), "{}", none.stderr);
    let unknown = entry.replace("wait-read", "wait-raed") + "reason = \"a test\"\n";
    let unknown = with("unknown.toml", &unknown);
    assert_eq!(unknown.status, 2);
    let message = "unknown.toml:2: suppress[0].rule: unknown rule `wait-raed`";
    assert!(unknown.stderr.contains(message), "{}", unknown.stderr);
}

#[test]
fn what_is_not_there_is_an_error() {
    let saxpy = "examples/saxpy/saxpy.gfx900.co";
    let value = json(&wavelift(&["check", saxpy, "--json"]));
    assert_eq!(value["findings"], serde_json::json!([]));
    assert_eq!(value["routines"], 1);
    let missing = wavelift(&["check", saxpy, "--kernel", "nothing"]);
    assert_eq!(missing.status, 2);
    assert!(
        missing.stderr.contains("no kernel or function `nothing`"),
        "{}",
        missing.stderr
    );
    let bundle = "examples/saxpy/saxpy.bundle.hipfb";
    let target = wavelift(&["check", bundle, "--target", "gfx700"]);
    assert_eq!(target.status, 2);
    assert_eq!(wavelift(&["check", bundle]).status, 0);
    assert_eq!(wavelift(&["check", "/nowhere"]).status, 2);
    // A device has no end.
    let device = wavelift(&["check", "/dev/zero"]);
    assert_eq!(device.status, 2);
    assert!(
        device.stderr.contains("no regular file"),
        "{}",
        device.stderr
    );
    let list = wavelift(&["check", saxpy, "--suppress", "/dev/zero"]);
    assert_eq!(list.status, 2);
    assert!(list.stderr.contains("no regular file"), "{}", list.stderr);
}

/// A file with code for a supported and for an unsupported GPU.
#[test]
fn unsupported_targets_of_a_bundle_are_named() {
    let home = folder("check-targets");
    let mut bytes =
        std::fs::read(root().join("examples/saxpy/saxpy.bundle.hipfb")).expect("it can be read");
    let whole = wavelift(&["check", "examples/saxpy/saxpy.bundle.hipfb"]);
    assert_eq!(whole.status, 0, "{}", whole.stderr);
    // The machine number in `e_flags` of the first ELF file: gfx1030.
    let elf = bytes.windows(4).position(|window| window == b"\x7fELF");
    bytes[elf.expect("it has code") + 48] = 0x36;
    let path = file(&home, "mixed.hipfb", bytes);
    let run = wavelift(&["check", &path]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert!(
        run.stdout
            .contains("mixed.hipfb: not checked: unsupported target gfx1030"),
        "{}",
        run.stdout
    );
    let value = json(&wavelift(&["check", &path, "--json"]));
    assert_eq!(value["unchecked"][0]["kernel"], serde_json::Value::Null);
}
