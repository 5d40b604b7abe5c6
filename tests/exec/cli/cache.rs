//! `--cache`: translated code on disk.

use std::path::{Path, PathBuf};

use super::{Outcome, file, folder, json, wavelift};

const MANIFEST: &str = "examples/saxpy/saxpy.gfx900.toml";

fn run(manifest: &str, cache: &Path) -> Outcome {
    let cache = cache.to_str().expect("the path is text");
    wavelift(&[
        "run",
        manifest,
        "--cache",
        cache,
        "--threads",
        "1",
        "--json",
    ])
}

/// Regions translated and regions taken from the cache, of a run in which everything is right.
fn regions(run: &Outcome) -> (u64, u64) {
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    let value = json(run);
    assert_eq!(value["ok"], true);
    let dispatches = value["dispatches"].as_array().expect("a list");
    let sum = |key: &str| {
        dispatches
            .iter()
            .map(|d| d[key].as_u64().expect("a number"))
            .sum()
    };
    (sum("regions_translated"), sum("regions_cached"))
}

/// The files in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("it can be listed").path())
        .collect();
    files.sort();
    files
}

#[test]
fn a_second_run_translates_nothing() {
    // Between them: loops, barriers, calls through registers, constants beside the code, helpers.
    for example in ["saxpy", "calls", "matmul", "numeric", "histogram"] {
        for gfx in ["gfx600", "gfx803", "gfx900"] {
            let manifest = format!("examples/{example}/{example}.{gfx}.toml");
            let cache = folder(&format!("cache-{example}-{gfx}")).join("new");
            let (translated, cached) = regions(&run(&manifest, &cache));
            // Hot regions have a second translation, and a file of it.
            assert!(files(&cache).len() >= translated as usize);
            assert!(translated > 0);
            assert_eq!(regions(&run(&manifest, &cache)), (0, translated + cached));
        }
    }
}

#[test]
fn what_does_not_verify_is_translated_and_written_again() {
    let cache = folder("cache-damage").join("code");
    assert_eq!(regions(&run(MANIFEST, &cache)), (1, 0));
    let [path] = &files(&cache)[..] else {
        panic!("one region is one file");
    };
    let good = std::fs::read(path).expect("it can be read");
    let (mut stale, mut flipped) = (good.clone(), good.clone());
    stale[8] ^= 1;
    flipped[good.len() / 2] ^= 4;
    let cut = &good[..good.len() - 1];
    for bad in [
        &stale[..],
        &flipped,
        cut,
        &good[..40],
        b"something else",
        b"",
    ] {
        std::fs::write(path, bad).expect("it can be written");
        assert_eq!(regions(&run(MANIFEST, &cache)), (1, 0));
        assert_eq!(
            std::fs::read(path).expect("it can be read"),
            good,
            "the same again"
        );
    }
    assert_eq!(regions(&run(MANIFEST, &cache)), (0, 1));
}

#[test]
fn options_that_change_code_have_code_of_their_own() {
    let cache = folder("cache-options").join("code");
    let path = cache.to_str().expect("the path is text");
    let args = ["run", MANIFEST, "--cache", path, "--json"];
    for (i, more) in [&[][..], &["--exact-nan"], &["--count"]].iter().enumerate() {
        for hits in [false, true] {
            let run = wavelift(&[&args, *more].concat());
            assert_eq!(
                regions(&run),
                (u64::from(!hits), u64::from(hits)),
                "{more:?}"
            );
        }
        assert_eq!(files(&cache).len(), i + 1);
    }
}

#[test]
fn two_processes_at_once_do_not_disturb_one_another() {
    let cache = folder("cache-race").join("code");
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| regions(&run("examples/matmul/matmul.gfx900.toml", &cache))))
            .collect();
        for run in runs {
            let (translated, cached) = run.join().expect("it does not panic");
            assert!(translated + cached > 0);
        }
    });
    let names = files(&cache);
    assert!(
        names
            .iter()
            .all(|name| name.extension().is_some_and(|e| e == "code")),
        "{names:?}"
    );
    assert_eq!(
        regions(&run("examples/matmul/matmul.gfx900.toml", &cache)).0,
        0
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_bad_input() {
    let place = file(&folder("cache-file"), "file", "");
    for path in [place.clone(), format!("{place}/below")] {
        let run = run(MANIFEST, Path::new(&path));
        assert_eq!((run.status, run.stdout.as_str()), (2, ""));
        let wanted = format!("error: cannot keep translated code in {path}: ");
        assert!(run.stderr.starts_with(&wanted), "{}", run.stderr);
    }
}

#[test]
#[cfg(unix)]
fn a_folder_that_others_may_write_is_bad_input() {
    use std::os::unix::fs::PermissionsExt as _;

    let cache = folder("cache-open");
    assert_eq!(regions(&run(MANIFEST, &cache.join("own"))), (1, 0));
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(cache.join("own"), open).expect("it is ours");
    let run = run(MANIFEST, &cache.join("own"));
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    let wanted = "own: others may write to it (mode 0777), so that what is kept there could be anyone's code; chmod go-w \
                  protects it\n";
    assert!(run.stderr.ends_with(wanted), "{}", run.stderr);
}

/// Code of another kernel, whose checksum is right, under this one's key.
#[test]
fn code_of_another_key_is_not_executed() {
    let home = folder("cache-swapped");
    let (mine, other) = (home.join("mine"), home.join("other"));
    assert_eq!(regions(&run(MANIFEST, &mine)), (1, 0));
    assert_eq!(
        regions(&run("examples/saxpy/saxpy.gfx803.toml", &other)),
        (1, 0)
    );
    let [path] = &files(&mine)[..] else {
        panic!("one region is one file");
    };
    let good = std::fs::read(path).expect("it can be read");
    let wrong = std::fs::read(&files(&other)[0]).expect("it can be read");
    assert_ne!(good, wrong);
    std::fs::write(path, wrong).expect("it can be written");
    assert_eq!(regions(&run(MANIFEST, &mine)), (1, 0));
    assert_eq!(std::fs::read(path).expect("it can be read"), good);
}

#[test]
fn bench_takes_the_cache_too() {
    let cache = folder("cache-bench").join("code");
    let path = cache.to_str().expect("the path is text");
    let args = [
        "bench",
        MANIFEST,
        "--seconds",
        "0.001",
        "--cache",
        path,
        "--json",
    ];
    let (translated, _) = regions(&wavelift(&args));
    assert_eq!(translated, 2, "one that counts and one that does not");
    assert_eq!(regions(&wavelift(&args)), (0, 2));
}
