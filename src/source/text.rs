//! Source text: found on disk by the paths that debugging information has, or in the code object.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use super::SourceMap;

/// Larger files are no source text.
const MAX_FILE: u64 = 64 << 20;

/// The names of a path, without a root and without `.`; from the last `..` on.
fn names(path: &Path) -> Vec<Component<'_>> {
    let all: Vec<Component<'_>> = path.components().collect();
    let names = all.rsplit(|part| *part == Component::ParentDir).next();
    let names = names.unwrap_or_default().iter().copied();
    names
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect()
}

/// Is `end` the path itself or the end of it, in whole names?
pub(super) fn ends_with(path: &str, end: &str) -> bool {
    let (path, end) = (Path::new(path), Path::new(end));
    if end.is_absolute() {
        return path == end;
    }
    let (path, end) = (names(path), names(end));
    !end.is_empty() && path.ends_with(&end)
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lines(Vec<Box<str>>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.lines().map(Box::from).collect())
    }
}

/// Text of source files, read when it is first asked for.
#[derive(Clone, Debug, Default)]
pub struct SourceText {
    folders: Vec<PathBuf>,
    files: HashMap<Box<str>, Option<Lines>>,
}

impl SourceText {
    /// Of the files of a map. A file is looked for at its path, and if it is not there, in each of the
    /// folders: `src/lib/kernel.cl` is `FOLDER/src/lib/kernel.cl`, `FOLDER/lib/kernel.cl` or
    /// `FOLDER/kernel.cl`. Text in the code object itself (`-gembed-source`) precedes them.
    pub fn new(map: &SourceMap, folders: impl IntoIterator<Item = PathBuf>) -> SourceText {
        let embedded = map.files.iter().filter_map(|file| {
            let text = file.text.as_deref()?;
            Some((file.path.clone(), Some(Lines::of(text))))
        });
        SourceText {
            folders: folders.into_iter().collect(),
            files: embedded.collect(),
        }
    }

    /// A line of a file of the map, without its end; lines count from 1. `None` if the file is not found
    /// or has no such line.
    pub fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        if !self.files.contains_key(file) {
            let lines = self.find(file);
            self.files.insert(file.into(), lines);
        }
        let lines = self.files.get(file)?.as_ref()?;
        lines
            .0
            .get((line as usize).checked_sub(1)?)
            .map(|line| &**line)
    }

    /// Has the file been found?
    pub fn has(&mut self, file: &str) -> bool {
        self.line(file, 1).is_some()
    }

    fn find(&self, file: &str) -> Option<Lines> {
        let path = Path::new(file);
        let names = names(path);
        let inside = self.folders.iter().flat_map(|folder| {
            let ends = (0..names.len()).map(|first| &names[first..]);
            ends.map(|end| folder.join(end.iter().collect::<PathBuf>()))
        });
        std::iter::once(path.to_owned())
            .chain(inside)
            .find_map(|path| read(&path))
    }
}

/// Lines of a regular file; others may block or have no end.
fn read(path: &Path) -> Option<Lines> {
    let regular = std::fs::metadata(path).is_ok_and(|about| about.is_file());
    if !regular {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_FILE).then(|| Lines::of(&String::from_utf8_lossy(&bytes)))
}
