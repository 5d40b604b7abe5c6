//! The files that a run writes.

use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use runtime::foreign;
use wavelift::manifest::{Array, Manifest, is_inside, npy, outside};

use super::super::input::Input;
use super::super::new_file::{NewFile, Unwritten};
use super::super::sandbox;

/// An output that is opened before the run, so that what cannot be written is reported then.
pub(super) struct Opened {
    pub(super) buffer: usize,
    /// Where it is named, for messages.
    label: String,
    file: NewFile,
}

/// Opens the files of the outputs; creates the folder if one is given.
pub(super) fn open(input: &Input, folder: Option<&Path>) -> anyhow::Result<Vec<Opened>> {
    let manifest = &input.manifest;
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let files = manifest.outputs.iter().map(|output| {
        let path = match folder {
            Some(folder) => folder.join(inside(&output.file)),
            None => manifest.folder().join(&output.file),
        };
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        match parent {
            Some(parent) if folder.is_some() => std::fs::create_dir_all(parent)
                .with_context(|| format!("cannot make the folder {}", parent.display()))?,
            Some(parent) if !parent.is_dir() => {
                let message = format!("there is no folder {}", foreign::path(parent));
                return Err(input.error(&output.place, message));
            }
            _ => {}
        }
        if folder.is_none() && sandbox::is_on() && input.is_file() {
            let fault = misplaced(manifest, &path);
            fault.map_or(Ok(()), |message| Err(input.error(&output.place, message)))?;
        }
        let file = NewFile::create(&path).map_err(|error| {
            let message = format!("cannot write {}: {error}", foreign::path(&path));
            input.error(&output.place, message)
        });
        Ok(Opened {
            buffer: output.buffer,
            label: input.label(&output.place),
            file: file?,
        })
    });
    files.collect()
}

/// Why a confined run does not write a file that its manifest names, if there is a reason.
fn misplaced(manifest: &Manifest, path: &Path) -> Option<String> {
    let shown = foreign::path(path);
    match is_inside(manifest.folder(), path) {
        Ok(true) => {}
        Ok(false) => return Some(outside(&shown)),
        Err(error) => return Some(format!("cannot write {shown}: {error}")),
    }
    let objects = manifest.dispatches.iter();
    let objects = objects.map(|dispatch| dispatch.code_object.as_path());
    let real = path.canonicalize().ok()?;
    let mut read = objects.chain([manifest.path.as_path()]);
    let same = read.find(|read| read.canonicalize().is_ok_and(|read| read == real))?;
    let same = foreign::path(same);
    Some(format!(
        "{shown} would replace {same}, which this run reads"
    ))
}

/// A file name that stays inside a folder.
fn inside(file: &Path) -> PathBuf {
    let plain = |component: &Component<'_>| matches!(component, Component::Normal(_));
    if file.components().all(|component| plain(&component)) {
        return file.to_owned();
    }
    file.file_name().map(PathBuf::from).unwrap_or_default()
}

impl Opened {
    /// Writes the file and puts it in its place; its name.
    pub(super) fn write(mut self, array: &Array) -> anyhow::Result<String> {
        let path = self.file.path();
        let name = foreign::path(path);
        let is_npy = path.extension().is_some_and(|extension| extension == "npy");
        let written = match is_npy {
            true => npy::write(&mut self.file, array),
            false => self.file.write_all(&array.bytes),
        };
        written
            .and_then(|()| self.file.commit())
            .map_err(|error| Unwritten::new(name.as_str(), error))
            .with_context(|| self.label)?;
        Ok(name)
    }
}
