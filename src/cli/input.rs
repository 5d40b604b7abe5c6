//! What a command runs: a launch manifest, or a code object or source with options.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use runtime::foreign;
use runtime::object::TargetId;
use wavelift::compile::{self, DEFAULT_TARGET, Language};
use wavelift::manifest::{Manifest, ManifestError, Place, read_whole};
use wavelift::{Device, DeviceOptions};

use super::Status;
use super::one_liner::{self, Made, OneLiner, Origins};
use super::options::RunOptions;
use super::output::{Output, complain};
use super::session::Session;

/// Something to run.
#[derive(Clone)]
pub(super) struct Input {
    /// The file as the user named it.
    pub(super) name: String,
    pub(super) manifest: Manifest,
    /// Where the lines of a manifest that was made of options come from.
    origins: Option<Origins>,
}

/// Reads a file. Sources are compiled.
pub(super) fn load(file: &Path, options: &RunOptions) -> anyhow::Result<Input> {
    load_by(Manifest::load, file, options)
}

/// As [`load`]; a manifest may only name files of its folder.
pub(super) fn load_inside(file: &Path, options: &RunOptions) -> anyhow::Result<Input> {
    load_by(Manifest::load_inside, file, options)
}

fn load_by(
    load: fn(&Path) -> Result<Manifest, ManifestError>,
    file: &Path,
    options: &RunOptions,
) -> anyhow::Result<Input> {
    let name = file.display().to_string();
    match made(file, options)? {
        Some(made) => Ok(Input {
            name,
            manifest: made.manifest()?,
            origins: Some(made.origins),
        }),
        None => Ok(Input {
            name,
            manifest: load(file)?,
            origins: None,
        }),
    }
}

/// The manifest of a code object or source; nothing if the file is a manifest itself.
pub(super) fn made(file: &Path, options: &RunOptions) -> anyhow::Result<Option<Made>> {
    let kernel = &options.kernel;
    let target: Option<TargetId> = options.target.as_deref().map(str::parse).transpose()?;
    let shown = foreign::path(file);
    if let Some(language) = Language::of(file) {
        let object = compiled(file, language, options.target.as_deref())?;
        let bytes =
            read_whole(&object).with_context(|| format!("cannot read {}", object.display()))?;
        return kernel
            .manifest(&object, &bytes, target.as_ref(), file)
            .map(Some);
    }
    if file
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        return refuse_options(kernel, &shown).map(|()| None);
    }
    if begins_with_code(file) {
        let bytes = read_whole(file).with_context(|| format!("cannot read {shown}"))?;
        return kernel
            .manifest(file, &bytes, target.as_ref(), file)
            .map(Some);
    }
    refuse_options(kernel, &shown).map(|()| None)
}

/// A code object compiled from a source.
fn compiled(source: &Path, language: Language, target: Option<&str>) -> anyhow::Result<PathBuf> {
    let compiled = compile::compile_as(source, language, target, |compiler| {
        complain(format_args!(
            "compiling {} for {} with {}",
            foreign::path(source),
            target.unwrap_or(DEFAULT_TARGET),
            compiler.display()
        ));
    })?;
    if !compiled.messages.trim().is_empty() {
        complain(format_args!("{}", compiled.messages.trim_end()));
    }
    Ok(compiled.object)
}

/// Does a regular file begin with device code? What cannot be read is reported when it is read as a manifest.
fn begins_with_code(file: &Path) -> bool {
    let mut start = Vec::new();
    let regular = std::fs::metadata(file).is_ok_and(|about| about.is_file());
    regular
        && File::open(file)
            .and_then(|file| file.take(32).read_to_end(&mut start))
            .is_ok()
        && one_liner::is_code(&start)
}

fn refuse_options(kernel: &OneLiner, shown: &str) -> anyhow::Result<()> {
    match kernel.is_empty() {
        true => Ok(()),
        false => anyhow::bail!(
            "{shown} is a launch manifest, which names kernels itself; --kernel, --grid, --arg and their like go with a \
             code object (.co), an OpenCL C source (.cl) or a HIP source (.hip)"
        ),
    }
}

impl Input {
    /// Is it a manifest that somebody wrote, not one of options?
    pub(super) fn is_file(&self) -> bool {
        self.origins.is_none()
    }

    /// Where something is named: file, line and key, or the option.
    pub(super) fn label(&self, place: &Place) -> String {
        let error = self.manifest.error(place, "");
        match &self.origins {
            Some(origins) => origins.explain(error.into()).to_string(),
            None => error.to_string(),
        }
        .trim_end_matches(": ")
        .to_owned()
    }

    /// An error about something that is named.
    pub(super) fn error(&self, place: &Place, message: String) -> anyhow::Error {
        let error = self.manifest.error(place, message).into();
        match &self.origins {
            Some(origins) => origins.explain(error),
            None => error,
        }
    }

    /// Options of a device, which has its memory where the manifest says.
    pub(super) fn placed(&self, options: DeviceOptions) -> DeviceOptions {
        match &self.manifest.memory {
            Some(place) => DeviceOptions {
                address: Some(place.address),
                reserve: place.bytes,
                ..options
            },
            None => options,
        }
    }

    /// On a device.
    pub(super) fn session(self, device: Device, options: &RunOptions) -> anyhow::Result<Session> {
        let Input {
            manifest, origins, ..
        } = self;
        let session = Session::new(manifest, device, options.target.as_deref());
        session.map_err(|error| match origins {
            Some(origins) => origins.explain(error),
            None => error,
        })
    }
}

/// The text of a file.
pub(super) fn read_text(path: &Path) -> anyhow::Result<String> {
    let shown = foreign::path(path);
    let bytes = read_whole(path).with_context(|| format!("cannot read {shown}"))?;
    String::from_utf8(bytes).with_context(|| format!("{shown} is no text"))
}

/// Prints the manifest that options were made into, or the file itself if it is one.
pub(super) fn print_manifest(
    file: &Path,
    options: &RunOptions,
    out: &mut Output,
) -> anyhow::Result<Status> {
    if let Some(made) = made(file, options)? {
        write!(out, "{}", made.text)?;
    }
    Ok(Status::Success)
}
