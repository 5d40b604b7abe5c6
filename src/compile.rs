//! OpenCL C and HIP sources: they are compiled by the clang that is found, and what it made is kept.
//!
//! ```no_run
//! use wavelift::{Device, compile};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let compiled = compile::compile("saxpy.cl".as_ref(), Some("gfx900"))?;
//! eprint!("{}", compiled.messages);
//! let module = wavelift::Module::load(&Device::new()?, &std::fs::read(&compiled.object)?)?;
//! # Ok(())
//! # }
//! ```

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use runtime::foreign;
use sha2::{Digest, Sha256};

use crate::folders;

/// Why a source was not compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The file's name tells no language.
    #[error("{} is no source: .cl (OpenCL C) and .hip (HIP) are compiled", foreign::path(.0))]
    Language(PathBuf),
    /// The source cannot be read.
    #[error("cannot read {}: {error}", foreign::path(.path))]
    Read {
        /// The source.
        path: PathBuf,
        /// The host's error.
        error: io::Error,
    },
    /// No compiler is installed.
    #[error("cannot compile {}: {}", foreign::path(.path), .language.nothing_found())]
    NoCompiler {
        /// The source.
        path: PathBuf,
        /// Its language.
        language: Language,
    },
    /// No folder for what the compiler makes.
    #[error("neither XDG_CACHE_HOME nor HOME names a folder for compiled code")]
    NoFolder,
    /// The folder cannot be made.
    #[error("cannot make the folder {}: {error}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The host's error.
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", .path.display())]
    Write {
        /// The file or its folder.
        path: PathBuf,
        /// The host's error.
        error: io::Error,
    },
    /// The compiler cannot be run.
    #[error("cannot run {}: {error}", .compiler.display())]
    Run {
        /// The compiler.
        compiler: PathBuf,
        /// The host's error.
        error: io::Error,
    },
    /// The compiler refuses the source.
    #[error("{} did not compile {} ({status}):\n{}{}", .compiler.display(), foreign::path(.path), .messages.trim_end(), hint(.messages))]
    Refused {
        /// The compiler.
        compiler: PathBuf,
        /// The source.
        path: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// What it printed.
        messages: String,
    },
}

/// What a source was compiled to.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The file with the code object, in the user's cache. It is made again when it is gone.
    pub object: PathBuf,
    /// The compiler's warnings; empty if the code object was there already.
    pub messages: String,
}

/// A language that is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// OpenCL C.
    OpenCl,
    /// HIP.
    Hip,
}

impl Language {
    /// By the file's name.
    pub fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "cl" => Some(Language::OpenCl),
            "hip" => Some(Language::Hip),
            _ => None,
        }
    }

    /// The extension of its files.
    fn extension(self) -> &'static str {
        match self {
            Language::OpenCl => "cl",
            Language::Hip => "hip",
        }
    }

    /// What to do where no compiler is found.
    fn nothing_found(self) -> &'static str {
        match self {
            Language::OpenCl => {
                "no clang was found; install one (Debian: apt-get install clang-19 lld-19 rocm-device-libs), or name it in WAVELIFT_CLANG"
            }
            Language::Hip => {
                "neither hipcc nor clang was found; install one (Debian: apt-get install hipcc libamdhip64-dev), or name it in WAVELIFT_CLANG"
            }
        }
    }
}

/// The target when none is named.
pub const DEFAULT_TARGET: &str = "gfx906";

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

/// The code object of a source, whose language is told by its name (`.cl`, `.hip`), for a target such
/// as `gfx906`, which is the default. It is compiled unless that was done before and nothing has
/// changed since: the source, what it includes, the compiler and its options.
pub fn compile(source: &Path, target: Option<&str>) -> Result<Compiled, CompileError> {
    let Some(language) = Language::of(source) else {
        return Err(CompileError::Language(source.to_owned()));
    };
    compile_as(source, language, target, |_| {})
}

/// As [`compile`], of a source that is in no file. It is written into the folder with what is
/// compiled, and that file is the one that the compiler's messages name.
pub fn compile_text(
    text: &str,
    language: Language,
    target: Option<&str>,
) -> Result<Compiled, CompileError> {
    let folder = folders::compiled().ok_or(CompileError::NoFolder)?;
    if let Err(error) = folders::create(&folder) {
        return Err(CompileError::Folder { folder, error });
    }
    let name = hexadecimal(&Sha256::digest(text)[..16]);
    let path = folder.join(name).with_extension(language.extension());
    // Another process may read it meanwhile.
    let write = || -> io::Result<()> {
        let new = tempfile::NamedTempFile::new_in(&folder)?;
        std::fs::write(new.path(), text)?;
        new.persist(&path)?;
        Ok(())
    };
    if let Err(error) = write() {
        return Err(CompileError::Write { path, error });
    }
    compile_as(&path, language, target, |_| {})
}

/// As [`compile`], of a known language. Calls `begins` with the compiler's path before it runs.
pub fn compile_as(
    source: &Path,
    language: Language,
    target: Option<&str>,
    begins: impl FnOnce(&Path),
) -> Result<Compiled, CompileError> {
    let path = source.to_owned();
    // A source that is not there is the first thing to say.
    let text = match std::fs::read(source) {
        Ok(text) => text,
        Err(error) => return Err(CompileError::Read { path, error }),
    };
    let target = target.unwrap_or(DEFAULT_TARGET);
    let Some(compiler) = find(language) else {
        return Err(CompileError::NoCompiler { path, language });
    };
    let arguments = arguments(language, &compiler, target);
    let folder = folders::compiled().ok_or(CompileError::NoFolder)?;
    if let Err(error) = folders::create(&folder) {
        return Err(CompileError::Folder { folder, error });
    }
    let stem = folder.join(key(source, &text, &compiler, &arguments));
    let object = stem.with_extension("co");
    let list = stem.with_extension("deps");
    if object.is_file() && is_current(&list) {
        let messages = String::new();
        return Ok(Compiled { object, messages });
    }
    begins(&compiler);
    let work = match tempfile::tempdir_in(&folder) {
        Ok(work) => work,
        Err(error) => {
            let path = folder;
            return Err(CompileError::Write { path, error });
        }
    };
    let (made, dependencies) = (work.path().join("out.co"), work.path().join("out.d"));
    let mut command = Command::new(&compiler);
    command.args(&arguments).arg(source).arg("-o").arg(&made);
    command.arg("-MD").arg("-MF").arg(&dependencies);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Err(CompileError::Run { compiler, error }),
    };
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(CompileError::Refused {
            compiler,
            path,
            status: output.status,
            messages,
        });
    }
    let keep = || -> io::Result<()> {
        let listed = std::fs::read_to_string(&dependencies).unwrap_or_default();
        let new = work.path().join("out.deps");
        std::fs::write(&new, digests(&listed, source))?;
        // An object without its list is made again.
        std::fs::rename(&made, &object)?;
        std::fs::rename(&new, &list)
    };
    match keep() {
        Ok(()) => Ok(Compiled { object, messages }),
        Err(error) => Err(CompileError::Write {
            path: object,
            error,
        }),
    }
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
fn find(language: Language) -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("WAVELIFT_CLANG").filter(|own| !own.is_empty()) {
        return Some(own.into());
    }
    let clang = || CLANGS.iter().find_map(|name| in_path(name));
    match language {
        Language::OpenCl => clang(),
        Language::Hip => in_path("hipcc").or_else(clang),
    }
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
