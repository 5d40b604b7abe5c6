//! The files used least recently are removed, and no others.

use super::super::tests::{folder_with, object};
use super::super::{Folder, Key};
use super::*;

const HOUR: Duration = Duration::from_secs(3600);

fn key(n: u8) -> Key {
    [n; 32]
}

/// Makes a file as if it was used some hours ago.
fn age(folder: &Folder, n: u8, hours: u32) {
    let file = File::open(folder.file(&key(n))).unwrap();
    file.set_modified(SystemTime::now() - HOUR * hours).unwrap();
}

/// Which of the first `n` objects are there.
fn present(folder: &Folder, n: u8) -> Vec<u8> {
    let there = |n: &u8| folder.file(&key(*n)).exists();
    (0..n).filter(there).collect()
}

/// Bytes of a file.
fn file_size(folder: &Folder) -> u64 {
    folder.write(&key(0), &object()).unwrap();
    fs::metadata(folder.file(&key(0))).unwrap().len()
}

#[test]
fn the_files_used_least_recently_are_removed() {
    let unlimited = folder_with("limit-order", None);
    let bytes = file_size(&unlimited);
    for n in 0..8 {
        unlimited.write(&key(n), &object()).unwrap();
        age(&unlimited, n, 20 - u32::from(n));
    }
    // A use makes the oldest the newest.
    assert!(unlimited.read(&key(0)).is_some());
    let limited = folder_with("limit-order", Some(8 * bytes));
    limited.write(&key(8), &object()).unwrap();
    // Nine files are one too many; an eighth of the limit stays free.
    assert_eq!(present(&limited, 9), [0, 3, 4, 5, 6, 7, 8]);
    // Those that are left are whole.
    for n in present(&limited, 9) {
        assert_eq!(limited.read(&key(n)), Some(object()), "{n}");
    }
    fs::remove_dir_all(&limited.path).unwrap();
}

#[test]
fn a_folder_below_the_limit_keeps_everything() {
    let folder = folder_with("limit-below", None);
    let bytes = file_size(&folder);
    let folder = folder_with("limit-below", Some(100 * bytes));
    for n in 0..60 {
        folder.write(&key(n), &object()).unwrap();
    }
    assert_eq!(present(&folder, 60).len(), 60);
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn one_process_stays_near_the_limit() {
    let folder = folder_with("limit-many", None);
    let bytes = file_size(&folder);
    let folder = folder_with("limit-many", Some(16 * bytes));
    for n in 0..200 {
        folder.write(&key(n), &object()).unwrap();
        age(&folder, n, 250 - u32::from(n));
        let there = present(&folder, 200);
        assert!(there.len() <= 17, "{there:?}");
        assert!(there.contains(&n));
    }
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn several_writers_at_once_leave_no_more_than_the_limit() {
    let folder = folder_with("limit-race", None);
    let bytes = file_size(&folder);
    std::thread::scope(|scope| {
        for writer in 0..4u8 {
            scope.spawn(move || {
                let folder = folder_with("limit-race", Some(32 * bytes));
                for n in 0..50 {
                    folder.write(&key(50 * writer + n), &object()).unwrap();
                    // It may be removed by now, but is never read wrongly.
                    if let Some(read) = folder.read(&key(n)) {
                        assert_eq!(read, object());
                    }
                }
            });
        }
    });
    // A writer that found another one sweeping has left its files to the next one that writes.
    let last = folder_with("limit-race", Some(32 * bytes));
    last.write(&key(200), &object()).unwrap();
    let there = present(&folder, 201);
    assert!(there.len() <= 32, "{}", there.len());
    assert!(there.len() >= 28, "{}", there.len());
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn abandoned_files_are_removed_and_foreign_ones_are_left() {
    let folder = folder_with("limit-foreign", Some(1 << 20));
    let file = |name: &str, hours: u32| {
        let path = folder.path.join(name);
        fs::write(&path, "x").unwrap();
        let time = SystemTime::now() - HOUR * hours;
        File::open(&path).unwrap().set_modified(time).unwrap();
        path
    };
    let (old, new) = (file(".1.0.tmp", 3), file(".1.1.tmp", 0));
    let foreign = file("notes.txt", 3);
    fs::create_dir(folder.path.join("below.code")).unwrap();
    folder.write(&key(1), &object()).unwrap();
    assert!(!old.exists() && new.exists() && foreign.exists());
    assert!(folder.path.join("below.code").exists());
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn while_another_process_sweeps_nothing_is_removed() {
    let folder = folder_with("limit-lock", None);
    let bytes = file_size(&folder);
    let lock = File::create(folder.path.join(LOCK)).unwrap();
    lock.lock().unwrap();
    let limited = folder_with("limit-lock", Some(bytes));
    for n in 0..3 {
        limited.write(&key(n), &object()).unwrap();
    }
    assert_eq!(present(&limited, 3), [0, 1, 2]);
    drop(lock);
    limited.write(&key(3), &object()).unwrap();
    assert!(present(&limited, 4).len() <= 1);
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn a_recent_use_is_not_written_again() {
    let folder = folder_with("limit-renewal", None);
    folder.write(&key(1), &object()).unwrap();
    let modified = || {
        let data = fs::metadata(folder.file(&key(1))).unwrap();
        data.modified().unwrap()
    };
    let first = modified();
    assert!(folder.read(&key(1)).is_some());
    assert_eq!(modified(), first);
    age(&folder, 1, 2);
    assert!(folder.read(&key(1)).is_some());
    assert!(modified() >= first);
    fs::remove_dir_all(&folder.path).unwrap();
}
