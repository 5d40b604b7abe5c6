//! The libraries in the binary: a copy of it, as `cargo install` makes one, writes them to the user's
//! cache folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::super::{file, folder};

/// A copy of wavelift in a folder of its own.
fn installed(folder: &Path) -> PathBuf {
    let copy = folder.join("bin/wavelift");
    std::fs::create_dir_all(folder.join("bin")).expect("the folder is ours");
    // Another name is as good as a copy.
    let built = env!("CARGO_BIN_EXE_wavelift");
    let linked = std::fs::hard_link(built, &copy);
    linked
        .or_else(|_| std::fs::copy(built, &copy).map(drop))
        .expect("it can be copied");
    copy
}

/// Prints the environment of a program.
fn exec(wavelift: &Path, cache: &str) -> Output {
    Command::new(wavelift)
        .args(["exec", "env"])
        .env("XDG_CACHE_HOME", cache)
        .env("HOME", "")
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("it can be run")
}

/// The folder of libraries that a program gets.
fn libraries(out: &Output) -> PathBuf {
    let (text, error) = (String::from_utf8_lossy(&out.stdout), &out.stderr);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(error));
    let mut lines = text.lines();
    let path = lines.find_map(|line| line.strip_prefix("LD_LIBRARY_PATH="));
    path.expect("it is set").into()
}

#[test]
fn the_first_call_writes_the_libraries_and_damage_is_repaired() {
    let folder = folder("exec-embedded");
    let wavelift = installed(&folder);
    let cache = folder.join("cache");
    let run = || libraries(&exec(&wavelift, cache.to_str().expect("the path is text")));
    let written = run();
    let wanted = cache.join("wavelift/lib").join(env!("CARGO_PKG_VERSION"));
    assert_eq!(written, wanted);
    let read = |name: &str| std::fs::read(written.join(name)).expect("it was written");
    for name in ["libhsa-runtime64.so.1", "libwavelift-driver.so"] {
        let good = read(name);
        assert!(good.starts_with(b"\x7fELF"), "{name}");
        let time = || {
            written
                .join(name)
                .metadata()
                .and_then(|data| data.modified())
        };
        let first = time().expect("it has a time");
        run();
        assert_eq!(
            time().expect("it has a time"),
            first,
            "it is not written again"
        );
        let mut bad = good.clone();
        bad[good.len() / 2] ^= 1;
        for bad in [&bad[..], &good[1..], b""] {
            std::fs::write(written.join(name), bad).expect("it can be written");
            run();
            assert!(read(name) == good, "{name} is repaired");
        }
    }
    assert_eq!(read("libhsa-runtime64.so"), read("libhsa-runtime64.so.1"));
    let left = std::fs::read_dir(&written).expect("it is there").count();
    assert_eq!(left, 3, "no temporary file");
}

#[test]
fn several_first_calls_at_once_do_not_disturb_one_another() {
    let folder = folder("exec-embedded-race");
    let wavelift = installed(&folder);
    let cache = folder.join("cache");
    let cache = cache.to_str().expect("the path is text");
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| libraries(&exec(&wavelift, cache))))
            .collect();
        for call in calls {
            let written = call.join().expect("it does not panic");
            assert!(written.join("libhsa-runtime64.so").exists());
        }
    });
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let folder = folder("exec-embedded-place");
    let wavelift = installed(&folder);
    let place = file(&folder, "file", "");
    for (cache, message) in [
        (
            place.as_str(),
            format!(
                "to {place}/wavelift/lib/{}; set XDG_CACHE_HOME",
                env!("CARGO_PKG_VERSION")
            ),
        ),
        ("", "neither XDG_CACHE_HOME nor HOME is set".to_owned()),
    ] {
        let out = exec(&wavelift, cache);
        let error = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{error}");
        assert!(error.contains(&message), "{error}");
        assert!(
            error.contains("HSA library, which this binary contains"),
            "{error}"
        );
    }
}
