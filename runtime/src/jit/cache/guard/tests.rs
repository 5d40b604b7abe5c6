//! What others may have written is not used, and nothing is written through links.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use super::super::tests::{folder_with, object};
use super::super::{Folder, Key};
use super::*;

const KEY: Key = [5; 32];

/// A folder with one object.
fn filled(name: &str) -> (Folder, PathBuf) {
    let folder = folder_with(name, Some(1 << 20));
    folder.write(&KEY, &object()).unwrap();
    assert_eq!(folder.read(&KEY), Some(object()));
    let file = folder.file(&KEY);
    (folder, file)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// The result of work that must not wait for anybody.
fn at_once<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    wait.recv_timeout(Duration::from_secs(20))
        .expect("it waits for a pipe")
}

#[test]
fn folder_and_files_are_the_users_only() {
    let (folder, file) = filled("own");
    assert_eq!((mode(&folder.path), mode(&file)), (0o700, 0o600));
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn a_folder_that_others_may_write_is_refused() {
    let (folder, _) = filled("open-folder");
    for (bits, bad) in [
        (0o700, false),
        (0o755, false),
        (0o770, true),
        (0o702, true),
        (0o1777, true),
    ] {
        set_mode(&folder.path, bits);
        let opened = Folder::open(&folder.path, None);
        assert_eq!(opened.is_err(), bad, "{bits:o}");
        if let Err(error) = opened {
            let text = error.to_string();
            assert!(text.starts_with("others may write to it (mode "), "{text}");
        }
    }
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn folders_and_files_of_another_user_are_refused() {
    let (folder, file) = filled("other-user");
    for path in [&folder.path, &file] {
        let about = fs::metadata(path).unwrap();
        assert_eq!(check(&about, about.uid()), Ok(()));
        let error = check(&about, about.uid() + 1).unwrap_err();
        assert!(error.starts_with("it belongs to user "), "{error}");
    }
    // Only root can give a file away.
    if user() == 0 {
        std::os::unix::fs::chown(&file, Some(12345), None).unwrap();
        assert_eq!(folder.read(&KEY), None);
        std::os::unix::fs::chown(&folder.path, Some(12345), None).unwrap();
        assert!(Folder::open(&folder.path, None).is_err());
    }
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn a_file_that_others_may_write_is_not_read() {
    let (folder, file) = filled("open-file");
    for (bits, good) in [(0o644, true), (0o664, false), (0o646, false)] {
        set_mode(&file, bits);
        assert_eq!(folder.read(&KEY).is_some(), good, "{bits:o}");
    }
    // Writing puts a good one in its place.
    folder.write(&KEY, &object()).unwrap();
    assert_eq!(folder.read(&KEY), Some(object()));
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn links_are_not_followed() {
    let (folder, file) = filled("links");
    let elsewhere = folder.path.join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert_eq!(folder.read(&KEY), None);
    let good = fs::read(&elsewhere).unwrap();
    // The link is replaced, not the file that it names; so is the lock's.
    let lock = folder.path.join(".lock");
    let _ = fs::remove_file(&lock);
    symlink(&elsewhere, &lock).unwrap();
    folder.write(&KEY, &object()).unwrap();
    assert_eq!(folder.read(&KEY), Some(object()));
    assert!(fs::symlink_metadata(&file).unwrap().is_file());
    assert_eq!(fs::read(&elsewhere).unwrap(), good);
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn pipes_folders_and_devices_are_not_waited_for() {
    let (folder, file) = filled("pipes");
    let path = folder.path.clone();
    fs::remove_file(&file).unwrap();
    make_pipe(&file);
    let lock = path.join(".lock");
    let _ = fs::remove_file(&lock);
    make_pipe(&lock);
    let folder = at_once(move || {
        assert_eq!(folder.read(&KEY), None);
        folder.write(&KEY, &object()).unwrap();
        assert_eq!(folder.read(&KEY), Some(object()));
        folder
    });
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(folder.read(&KEY), None);
    fs::remove_dir(&file).unwrap();
    symlink("/dev/zero", &file).unwrap();
    assert_eq!(at_once(move || folder.read(&KEY)), None);
    fs::remove_dir_all(&path).unwrap();
}
