//! Sources on the command line: OpenCL C and HIP are compiled by the clang that is found, and what it made is kept.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use runtime::foreign;
use sha2::{Digest, Sha256};

use super::folders;
use super::new_file::NewFile;
use super::output::complain;

/// A language that is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// OpenCL C.
    OpenCl,
    /// HIP.
    Hip,
}

impl Language {
    /// By the file's name.
    pub(super) fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "cl" => Some(Language::OpenCl),
            "hip" => Some(Language::Hip),
            _ => None,
        }
    }
}

/// The target when none is named.
const DEFAULT_TARGET: &str = "gfx906";

/// Versions of clang that are looked for, the preferred one first.
const CLANGS: [&str; 10] = [
    "clang-19",
    "clang-20",
    "clang-21",
    "clang-18",
    "clang-17",
    "clang-16",
    "clang-15",
    "clang",
    "amdclang",
    "/opt/rocm/llvm/bin/clang",
];

/// Folders that may have AMD's device libraries, which clang does not find by itself.
const DEVICE_LIBRARIES: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
    "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode",
    "/opt/rocm/amdgcn/bitcode",
];

/// A code object compiled from a source.
pub(super) fn compile(
    source: &Path,
    language: Language,
    target: Option<&str>,
) -> anyhow::Result<PathBuf> {
    let shown = foreign::path(source);
    // A source that is not there is the first thing to say.
    let text = std::fs::read(source).with_context(|| format!("cannot read {shown}"))?;
    let target = target.unwrap_or(DEFAULT_TARGET);
    let compiler = find(language).with_context(|| format!("cannot compile {shown}"))?;
    let arguments = arguments(language, &compiler, target);
    let folder = folders::compiled()
        .context("neither XDG_CACHE_HOME nor HOME names a folder for compiled code")?;
    folders::create(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let stem = folder.join(key(source, &text, &compiler, &arguments));
    let object = stem.with_extension("co");
    let list = stem.with_extension("deps");
    if object.is_file() && is_current(&list) {
        return Ok(object);
    }
    complain(format_args!(
        "compiling {shown} for {target} with {}",
        compiler.display()
    ));
    let work = tempfile::tempdir_in(&folder)
        .with_context(|| format!("cannot write into {}", folder.display()))?;
    let (made, dependencies) = (work.path().join("out.co"), work.path().join("out.d"));
    let mut command = Command::new(&compiler);
    command.args(&arguments).arg(source).arg("-o").arg(&made);
    command.arg("-MD").arg("-MF").arg(&dependencies);
    let output = command
        .output()
        .with_context(|| format!("cannot run {}", compiler.display()))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!(
            "{} did not compile {shown} ({}):\n{}{}",
            compiler.display(),
            output.status,
            messages.trim_end(),
            hint(&messages)
        );
    }
    if !messages.trim().is_empty() {
        complain(format_args!("{}", messages.trim_end()));
    }
    let keep = || -> std::io::Result<()> {
        let listed = std::fs::read_to_string(&dependencies).unwrap_or_default();
        let mut file = NewFile::create(&list)?;
        std::io::Write::write_all(&mut file, digests(&listed, source).as_bytes())?;
        std::fs::rename(&made, &object)?;
        file.commit()
    };
    keep().with_context(|| format!("cannot write {}", object.display()))?;
    Ok(object)
}

/// What to install where the compiler lacks something.
fn hint(messages: &str) -> &'static str {
    let missing = ["ld.lld", "device library", "hip/hip_runtime.h", "opencl-c"];
    match missing.iter().any(|what| messages.contains(what)) {
        true => {
            "\nwhat is missing is in Debian's packages clang-19 lld-19 rocm-device-libs (OpenCL C) and hipcc libamdhip64-dev (HIP)"
        }
        false => "",
    }
}

/// The compiler for a language.
fn find(language: Language) -> anyhow::Result<PathBuf> {
    if let Some(own) = std::env::var_os("WAVELIFT_CLANG").filter(|own| !own.is_empty()) {
        return Ok(own.into());
    }
    let found = match language {
        Language::OpenCl => CLANGS.iter().find_map(|name| in_path(name)),
        Language::Hip => in_path("hipcc").or_else(|| CLANGS.iter().find_map(|name| in_path(name))),
    };
    found.with_context(|| match language {
        Language::OpenCl => "no clang was found; install one (Debian: apt-get install clang-19 lld-19 rocm-device-libs), or name it in WAVELIFT_CLANG",
        Language::Hip => "neither hipcc nor clang was found; install one (Debian: apt-get install hipcc libamdhip64-dev), or name it in WAVELIFT_CLANG",
    })
}

/// A program by name, or by path.
fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.find(|place| place.is_file())
}

/// The compiler's arguments but for the files.
fn arguments(language: Language, compiler: &Path, target: &str) -> Vec<String> {
    let own = |text: &[&str]| text.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let mut out = match language {
        Language::OpenCl => own(&[
            "-x",
            "cl",
            "-cl-std=CL2.0",
            "-cl-kernel-arg-info",
            "--target=amdgcn-amd-amdhsa",
            "-mcode-object-version=5",
        ]),
        Language::Hip if is_hipcc(compiler) => own(&["--genco"]),
        Language::Hip => own(&[
            "-x",
            "hip",
            "--offload-device-only",
            "--no-gpu-bundle-output",
        ]),
    };
    out.push("-O2".to_owned());
    out.push(match language {
        Language::OpenCl => format!("-mcpu={target}"),
        Language::Hip => format!("--offload-arch={target}"),
    });
    let libraries = DEVICE_LIBRARIES
        .iter()
        .find(|folder| Path::new(folder).is_dir());
    if let Some(folder) = libraries.filter(|_| !is_hipcc(compiler)) {
        out.push(format!("--rocm-device-lib-path={folder}"));
    }
    out
}

fn is_hipcc(compiler: &Path) -> bool {
    compiler
        .file_name()
        .is_some_and(|name| name.to_string_lossy().contains("hipcc"))
}

/// The name of what a source is compiled to, by everything that decides on it but for the files that it includes.
fn key(source: &Path, text: &[u8], compiler: &Path, arguments: &[String]) -> String {
    let mut hash = Sha256::new();
    let path = std::fs::canonicalize(source).unwrap_or_else(|_| source.to_owned());
    let compiler_is = std::fs::canonicalize(compiler).unwrap_or_else(|_| compiler.to_owned());
    let age = std::fs::metadata(&compiler_is)
        .and_then(|about| about.modified())
        .ok();
    let parts = [
        path.to_string_lossy().into_owned(),
        compiler_is.to_string_lossy().into_owned(),
        format!("{age:?}"),
        arguments.join("\n"),
    ];
    for part in parts.iter().map(String::as_bytes).chain([text]) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hexadecimal(&hash.finalize()[..16])
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// The digest of a file; nothing if it cannot be read.
fn digest(path: &Path) -> Option<String> {
    Some(hexadecimal(&Sha256::digest(std::fs::read(path).ok()?)))
}

/// The files of a compiler's list of dependencies with their digests, a line each.
fn digests(list: &str, source: &Path) -> String {
    let list = list.replace("\\\n", " ").replace("\\ ", "\0");
    let files = list.split_once(": ").map_or("", |(_, files)| files);
    let mut seen = HashSet::new();
    let mut out = String::new();
    for file in files.split_whitespace().map(|file| file.replace('\0', " ")) {
        let path = std::fs::canonicalize(&file).unwrap_or_else(|_| file.into());
        if path != source
            && seen.insert(path.clone())
            && let Some(digest) = digest(&path)
        {
            // Writing to a string does not fail.
            let _ = writeln!(out, "{digest} {}", path.display());
        }
    }
    out
}

/// Are the files that were included as they were?
fn is_current(list: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(list) else {
        return false;
    };
    text.lines().all(|line| {
        line.split_once(' ')
            .is_some_and(|(known, path)| digest(Path::new(path)).as_deref() == Some(known))
    })
}
