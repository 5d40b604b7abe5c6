//! The size limit of a folder of translated code. Beyond it, the files that were used least recently
//! are removed; [`Folder::read`](super::Folder::read) renews the time of a file that it uses.
//!
//! Several processes may use the folder at once. A file that another process removes is translated
//! once more, and only one process sweeps at a time.

use std::fs::{self, DirEntry, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use super::guard;

/// Suffix of files with code.
const CODE: &str = ".code";

/// Suffix of files that are being written.
const TEMPORARY: &str = ".tmp";

/// Held by the process that sweeps.
const LOCK: &str = ".lock";

/// Age from which on the time of a file is renewed when it is used.
const RENEWAL: Duration = Duration::from_secs(3600);

/// Age from which on the writer of an unfinished file is taken for dead.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A part of the limit: so much is free after a sweep that removed files, and so much is written
/// before the folder is scanned for what other processes wrote.
const SLACK: u64 = 8;

/// A limit, and an estimate of the folder's size.
#[derive(Debug)]
pub(super) struct Limit {
    bytes: u64,
    estimate: Mutex<Estimate>,
}

/// Size of the folder at the last scan, if there was one, and what this process wrote since.
#[derive(Debug, Default)]
struct Estimate {
    scanned: Option<u64>,
    written: u64,
}

impl Limit {
    pub(super) fn new(bytes: u64) -> Limit {
        Limit {
            bytes,
            estimate: Mutex::default(),
        }
    }

    /// A file of this size was written: removes old files if the folder became too large. While
    /// another process sweeps, and after an error, the folder stays larger than the limit until the
    /// next file is written.
    pub(super) fn wrote(&self, folder: &Path, bytes: u64) {
        let mut estimate = self.estimate.lock().expect("no holder of the lock panics");
        estimate.written += bytes;
        let due = estimate.scanned.is_none_or(|scanned| {
            scanned + estimate.written > self.bytes || estimate.written > self.bytes / SLACK
        });
        if due && let Ok(Some(size)) = sweep(folder, self.bytes) {
            *estimate = Estimate {
                scanned: Some(size),
                written: 0,
            };
        }
    }
}

/// A file with code.
struct Entry {
    used: SystemTime,
    bytes: u64,
    path: PathBuf,
}

/// Removes abandoned files, and the files used least recently while all together have more than
/// `limit` bytes. Returns the size of the rest; none if another process sweeps already.
fn sweep(folder: &Path, limit: u64) -> io::Result<Option<u64>> {
    let lock = guard::lock(&folder.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        // A file that vanishes meanwhile was removed by its writer.
        if let Some(entry) = entry.ok().and_then(|entry| look_at(&entry)) {
            entries.push(entry);
        }
    }
    let mut size = entries.iter().map(|entry| entry.bytes).sum();
    if size > limit {
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            if size <= limit - limit / SLACK {
                break;
            }
            match fs::remove_file(&entry.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {}
                _ => size -= entry.bytes,
            }
        }
    }
    Ok(Some(size))
}

/// The entry of a file with code. An abandoned file is removed, others are kept.
fn look_at(entry: &DirEntry) -> Option<Entry> {
    let name = entry.file_name();
    let name = name.to_str()?;
    let code = name.ends_with(CODE);
    if !code && !name.ends_with(TEMPORARY) {
        return None;
    }
    let data = entry.metadata().ok()?;
    let used = data.modified().ok()?;
    if !data.is_file() {
        return None;
    }
    if !code {
        if is_older(used, ABANDONED) {
            // Whoever removed it before did the same.
            let _ = fs::remove_file(entry.path());
        }
        return None;
    }
    Some(Entry {
        used,
        bytes: data.len(),
        path: entry.path(),
    })
}

/// Is a time so long ago? A time in the future is not.
fn is_older(time: SystemTime, age: Duration) -> bool {
    time.elapsed().is_ok_and(|elapsed| elapsed > age)
}

/// Notes that a file is used now. Where its time cannot be set it counts as not used.
pub(super) fn renew(file: &File) {
    let modified = file.metadata().and_then(|data| data.modified());
    if modified.is_ok_and(|time| is_older(time, RENEWAL)) {
        let _ = file.set_modified(SystemTime::now());
    }
}

#[cfg(test)]
mod tests;
