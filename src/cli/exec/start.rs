//! How a program is started with the HSA library of this build.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use wavelift::folders;

use super::library::Library;
use super::{gpu, tools};
use crate::cli::options::{seconds, stack};
use crate::cli::output::complain;

/// The GPU that a program finds, and how its kernels run.
#[derive(clap::Args)]
pub(crate) struct Guest {
    /// The GPU that the program finds [default: WAVELIFT_GPU, else the first of gfx906, gfx900,
    /// gfx90a, gfx942, gfx908, gfx803, gfx700 for which the program has code, else gfx906]
    #[arg(long, value_parser = PossibleValuesParser::new(gpu::names()))]
    gpu: Option<String>,
    /// The engine [default: WAVELIFT_ENGINE, else jit if the build has it]
    #[arg(long, value_parser = ["jit", "interp"])]
    pub(super) engine: Option<String>,
    /// Memory of the GPU; it is committed when it is touched [default: WAVELIFT_VRAM_MIB, else 16384]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    vram: Option<u64>,
    /// Seconds after which a running kernel is stopped with a fault [default:
    /// WAVELIFT_TIMEOUT, else none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Bytes of stack of each work-item, in addition to the scratch that its kernel states; for
    /// recursion that is deeper than the compiler knows [default: WAVELIFT_STACK, else 16384 for
    /// kernels that declare their stack as dynamic, and 0 for others]
    #[arg(long, value_name = "BYTES", value_parser = stack)]
    stack: Option<u32>,
    /// Keep translated code in this folder, and reuse it from there [default: WAVELIFT_CACHE, else
    /// wavelift/code in XDG_CACHE_HOME or ~/.cache, where that can be written]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    cache: Option<Option<PathBuf>>,
    /// Neither keep nor reuse translated code
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
    /// Size of the folder of translated code; what was used least recently is removed [default:
    /// WAVELIFT_CACHE_MIB, else 512]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    cache_size: Option<u64>,
}

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Program {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Program {
    /// Its name. The parser makes sure that there is one.
    pub(crate) fn name(&self) -> &OsStr {
        self.program
            .first()
            .map_or(OsStr::new(""), OsString::as_os_str)
    }
}

/// A program that can be started.
pub(crate) struct Prepared {
    pub(crate) command: Command,
    /// Open until the program has it.
    _answers: Option<File>,
}

/// Size in KiB above which HIP copies pageable memory in place rather than through a buffer of its
/// own. HIP's default is 1024, since a driver takes long to pin memory for a GPU; here it takes a
/// microsecond.
const PINNED_FROM: (&str, &str) = ("GPU_PINNED_MIN_XFER_SIZE", "16");

impl Guest {
    /// Prepares the start of a program.
    pub(crate) fn prepare(&self, program: &Program) -> anyhow::Result<Prepared> {
        let name = program.name();
        let library = Library::find()?;
        let mut command = Command::new(name);
        command.args(program.program.iter().skip(1));
        let path = with_variable(library.folder(), "LD_LIBRARY_PATH");
        command.env("LD_LIBRARY_PATH", &path);
        let (setting, kib) = PINNED_FROM;
        if std::env::var_os(setting).is_none() {
            command.env(setting, kib);
        }
        command.envs(self.settings()?);
        let file = gpu::find_program(name);
        if self.gpu.is_none() && !is_set("WAVELIFT_GPU") {
            let found = file.as_deref().map(|file| gpu::infer(file, &path));
            if let Some(gpu) = found.flatten() {
                command.env("WAVELIFT_GPU", gpu);
            }
        }
        let answers = tools::prepare(&mut command, name, &library, self.gpu.as_deref())?;
        Ok(Prepared {
            command,
            _answers: answers,
        })
    }

    /// The variables of the given options; the caller's others are unchanged.
    fn settings(&self) -> anyhow::Result<impl Iterator<Item = (&'static str, OsString)>> {
        let seconds = self.timeout.map(|limit| limit.as_secs_f64().to_string());
        Ok(given([
            ("WAVELIFT_GPU", text(self.gpu.clone())),
            ("WAVELIFT_ENGINE", text(self.engine.clone())),
            ("WAVELIFT_VRAM_MIB", number(self.vram)),
            ("WAVELIFT_TIMEOUT", text(seconds)),
            ("WAVELIFT_STACK", number(self.stack.map(u64::from))),
            ("WAVELIFT_CACHE", self.cache_folder()?),
            ("WAVELIFT_CACHE_MIB", number(self.cache_size)),
        ]))
    }

    /// The folder of translated code; empty for none, and `None` to leave the variable as it is. A
    /// folder that was given must be usable.
    fn cache_folder(&self) -> anyhow::Result<Option<OsString>> {
        let folder = match &self.cache {
            _ if self.no_cache => return Ok(Some(OsString::new())),
            Some(Some(folder)) => folder.clone(),
            Some(None) => folders::code().context(
                "there is no folder for translated code: neither XDG_CACHE_HOME nor HOME is set; name one by \
                 --cache=DIR",
            )?,
            // Empty means none.
            None if std::env::var_os("WAVELIFT_CACHE").is_some() => return Ok(None),
            None => {
                let folder = folders::code().filter(|folder| folders::create(folder).is_ok());
                return Ok(folder.map(PathBuf::into_os_string));
            }
        };
        let problem = || format!("cannot keep translated code in {}", folder.display());
        folders::create(&folder).with_context(problem)?;
        let folder = std::path::absolute(&folder).with_context(problem)?;
        Ok(Some(folder.into_os_string()))
    }
}

/// The values of variables that are given.
pub(super) fn given<const N: usize>(
    all: [(&'static str, Option<OsString>); N],
) -> impl Iterator<Item = (&'static str, OsString)> {
    let given = |(name, value): (_, Option<_>)| Some((name, value?));
    all.into_iter().filter_map(given)
}

/// A variable's value.
pub(super) fn text(value: Option<String>) -> Option<OsString> {
    value.map(OsString::from)
}

/// The same of a number.
pub(super) fn number(value: Option<u64>) -> Option<OsString> {
    text(value.map(|value| value.to_string()))
}

pub(super) fn cannot_run(name: &OsStr) -> String {
    format!("cannot run {}", name.display())
}

/// Has an environment variable a value?
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// A path in front of those that an environment variable has.
pub(super) fn with_variable(path: &Path, name: &str) -> OsString {
    let mut all = path.as_os_str().to_owned();
    if let Some(more) = std::env::var_os(name).filter(|more| !more.is_empty()) {
        all.push(":");
        all.push(more);
    }
    all
}

/// Tells the user something that is not the program's.
pub(crate) fn say(what: std::fmt::Arguments<'_>) {
    complain(format_args!("wavelift: {what}"));
}
