//! Settings from the environment, each in a process of its own.

use std::path::{Path, PathBuf};

use crate::faults::{ABORTED, child_with, is_child};
use crate::support::{GridBarrier, Queue, SAXPY_LEN, Saxpy};

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("settings")
        .join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).unwrap();
    }
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a kernel and checks its result.
fn saxpy() {
    let saxpy = Saxpy::new();
    let queue = Queue::new(64);
    queue.put(saxpy.packet(0));
    queue.finish();
    for at in 0..SAXPY_LEN as usize {
        assert_eq!(saxpy.y.read::<f32>(4 * at), 2.0 * at as f32 + 1.0);
    }
}

/// Runs such a test with these variables; what it printed to standard error.
fn good(name: &str, variables: &[(&str, &str)]) -> String {
    let (signal, text) = child_with(name, variables);
    assert_eq!(signal, None, "{text}");
    assert!(!text.contains("panicked"), "{text}");
    text
}

#[test]
fn a_dispatch_has_a_time_limit() {
    const GROUPS: u32 = 5;
    if is_child() {
        // The grid waits for one that does not come, for ever.
        let grid = GridBarrier::dispatch(GROUPS, GROUPS + 1, 0);
        grid.done.wait();
        unreachable!("the library ends the program");
    }
    let name = "settings::a_dispatch_has_a_time_limit";
    let variables = [
        ("WAVELIFT_TIMEOUT", "0.9"),
        ("WAVELIFT_THREADS", "2"),
        ("WAVELIFT_PROFILE", "-"),
        ("WAVELIFT_STATS", "1"),
    ];
    let (signal, text) = child_with(name, &variables);
    assert_eq!(signal, ABORTED, "{text}");
    for part in [
        "was still running after 0.9 s, the time limit of the dispatch",
        "kernel grid_barrier, grid [320, 1, 1] in workgroups of [64, 1, 1]",
        "packet 0 of queue 0",
        "who waits:\n   workgroup (0,0,0): wave 0 polls 0x",
        // Where the time went.
        "wavelift: launches  workgroups",
        "\nprofile of ",
        "  grid_barrier\n",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    assert!(!text.contains("launched no kernel"), "{text}");
    let (_, text) = child_with(name, &[("WAVELIFT_TIMEOUT", "0")]);
    let named = "WAVELIFT_TIMEOUT=0: expected a positive number of seconds";
    assert!(text.contains(named), "{text}");
}

/// The files of a folder and when they were written.
fn files(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let code = entries.filter(|entry| entry.path().extension().is_some_and(|e| e == "code"));
    let mut files: Vec<_> = code
        .map(|entry| (entry.path(), entry.metadata().unwrap().modified().unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn translated_code_is_kept() {
    if is_child() {
        return saxpy();
    }
    let name = "settings::translated_code_is_kept";
    let folder = folder("cache");
    let cache = folder.join("new");
    let variables = [("WAVELIFT_CACHE", text(&cache))];
    good(name, &variables);
    let first = files(&cache);
    assert!(!first.is_empty());
    good(name, &variables);
    assert_eq!(files(&cache), first, "all was found");
    // No room for it: what was just written goes, too.
    let variables = [
        ("WAVELIFT_CACHE", text(&cache)),
        ("WAVELIFT_CACHE_MIB", "0"),
        ("WAVELIFT_MEMCHECK", "1"),
    ];
    good(name, &variables);
    assert_eq!(files(&cache), []);
    let file = folder.join("file");
    std::fs::write(&file, "").unwrap();
    let said = good(name, &[("WAVELIFT_CACHE", text(&file))]);
    let wanted = format!(
        "wavelift: cannot keep translated code in {}: ",
        file.display()
    );
    assert!(said.contains(&wanted), "{said}");
    assert!(said.contains("going on without"), "{said}");
}

#[test]
fn the_end_of_the_program_brings_counters_and_a_profile() {
    if is_child() {
        return match std::env::var_os("NO_KERNEL") {
            Some(_) => crate::support::begin(),
            None => saxpy(),
        };
    }
    let name = "settings::the_end_of_the_program_brings_counters_and_a_profile";
    let profile = folder("profile").join("profile.txt");
    std::fs::write(&profile, "before\n").unwrap();
    let variables = [
        ("WAVELIFT_PROFILE", text(&profile)),
        ("WAVELIFT_STATS", "1"),
    ];
    let said = good(name, &variables);
    assert!(said.contains("wavelift: launches  workgroups"), "{said}");
    let written = std::fs::read_to_string(&profile).unwrap();
    let lines: Vec<_> = written.lines().collect();
    assert_eq!(lines[0], "before");
    assert!(lines[1].starts_with("profile of "), "{written}");
    assert!(lines[2].starts_with("launches  workgroups"), "{written}");
    assert!(lines[3].ends_with("  saxpy"), "{written}");
    assert!(lines[5].trim_start().starts_with("share "), "{written}");
    let region: Vec<_> = lines[6].split_whitespace().collect();
    assert_eq!(region[..2], ["100.0", "%"], "{written}");
    assert_eq!(region.last(), Some(&"saxpy"), "{written}");
    // Entered by each wave.
    assert_eq!(region[3], (SAXPY_LEN / 64).to_string(), "{written}");

    let said = good(name, &[("WAVELIFT_PROFILE", "-")]);
    assert!(said.starts_with("profile of "), "{said}");
    let variables = [("WAVELIFT_PROFILE", "-"), ("WAVELIFT_ENGINE", "interp")];
    let (_, said) = child_with(name, &variables);
    assert!(said.contains("the interpreter does not profile"), "{said}");

    let said = good(name, &[("WAVELIFT_STATS", "1"), ("NO_KERNEL", "1")]);
    let line = "wavelift: the program launched no kernel\n";
    assert!(said.contains(line), "{said}");
}

#[test]
fn the_end_of_the_program_merges_its_coverage() {
    if is_child() {
        return saxpy();
    }
    let name = "settings::the_end_of_the_program_merges_its_coverage";
    let folder = folder("coverage");
    let path = folder.join("runs.coverage");
    for engine in ["jit", "interp"] {
        let variables = [
            ("WAVELIFT_COVERAGE", text(&path)),
            ("WAVELIFT_ENGINE", engine),
        ];
        good(name, &variables);
    }
    let file = coverage::CoverageFile::read(&path).unwrap();
    let objects: Vec<_> = file.objects.values().collect();
    assert_eq!(objects.len(), 1);
    let (_, entry) = objects[0].counts.first_key_value().unwrap();
    assert_eq!(entry.executions, 2 * (SAXPY_LEN as u64 / 64));
    let notes = folder.join("notes.txt");
    std::fs::write(&notes, "mine").unwrap();
    let said = good(name, &[("WAVELIFT_COVERAGE", text(&notes))]);
    assert!(said.contains("no coverage: "), "{said}");
    assert!(said.contains("is not a coverage file"), "{said}");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine");
    let both = [
        ("WAVELIFT_COVERAGE", text(&path)),
        ("WAVELIFT_PROFILE", "-"),
    ];
    let (_, said) = child_with(name, &both);
    assert!(
        said.contains("expected none, since WAVELIFT_PROFILE is set"),
        "{said}"
    );
}

#[test]
fn the_first_call_removes_the_mark_of_no_use() {
    if is_child() {
        let mark = std::env::var_os("WAVELIFT_UNUSED").unwrap();
        assert!(Path::new(&mark).exists());
        crate::support::begin();
        assert!(!Path::new(&mark).exists());
        return;
    }
    let mark = folder("unused").join("mark");
    std::fs::write(&mark, "").unwrap();
    good(
        "settings::the_first_call_removes_the_mark_of_no_use",
        &[("WAVELIFT_UNUSED", text(&mark))],
    );
}
