//! `wavelift exec`: runs a ROCm program with the HSA library of this build.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::builder::PossibleValuesParser;
use coverage::CoverageFile;

use wavelift::folders;

use super::Status;
use super::options::{seconds, stack};
use super::output::{Output, complain};

mod device_code;
#[cfg(embedded)]
mod embedded;
mod gpu;
mod library;
mod tools;
mod wait;

use library::Library;

/// Runs an unmodified ROCm program (HIP, OpenCL, OpenMP offload) on this CPU. The program finds one
/// GPU.
#[derive(clap::Args)]
#[command(
    override_usage = "wavelift exec [OPTIONS] PROGRAM [ARGUMENTS]...",
    after_help = "Examples:
  wavelift exec ./vector_add
  wavelift exec --gpu gfx90a --stats ./vector_add 1000000
  wavelift exec --memcheck --threads 1 ./vector_add
  wavelift exec rocminfo

Options stand before the program; what follows its name is its own. An option that is not given
leaves its environment variable as it is: WAVELIFT_GPU, WAVELIFT_THREADS, WAVELIFT_ENGINE,
WAVELIFT_VRAM_MIB, WAVELIFT_STACK, WAVELIFT_TIMEOUT, WAVELIFT_CACHE, WAVELIFT_CACHE_MIB,
WAVELIFT_STATS=1, WAVELIFT_MEMCHECK=1, WAVELIFT_PROFILE, WAVELIFT_COVERAGE, WAVELIFT_RECORD,
WAVELIFT_RECORD_KERNEL, WAVELIFT_RECORD_INDEX, WAVELIFT_RECORD_LIMIT.

The exit status is the program's; 2 if it was not started. A guest fault ends the program the way a
GPU fault does, which for HIP is SIGABRT."
)]
pub(super) struct Args {
    /// The GPU that the program finds [default: WAVELIFT_GPU, else the first of gfx906, gfx900,
    /// gfx90a, gfx908, gfx803, gfx700 for which the program has code, else gfx906]
    #[arg(long, value_parser = PossibleValuesParser::new(gpu::names()))]
    gpu: Option<String>,
    /// Worker threads of a kernel; 0 is one for each processor [default: WAVELIFT_THREADS, else 0]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// The engine [default: WAVELIFT_ENGINE, else jit if the build has it]
    #[arg(long, value_parser = ["jit", "interp"])]
    engine: Option<String>,
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
    /// At the end print kernels, launches, time and translation time to standard error
    #[arg(long)]
    stats: bool,
    /// At the end write time by kernel and by translated region, to a file or to standard error
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    profile: Option<Option<PathBuf>>,
    /// At exit merge the coverage of the program's kernels into this file, for wavelift coverage
    /// [default: WAVELIFT_COVERAGE, else none]
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    coverage: Option<PathBuf>,
    /// Write each launch as a launch manifest with its memory and its code object into this folder, for
    /// run, diff, bench and profile [default: WAVELIFT_RECORD, else none]
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Record only launches of the kernel of this name [default: WAVELIFT_RECORD_KERNEL, else all]
    #[arg(long, value_name = "NAME")]
    record_kernel: Option<String>,
    /// Record only launches with these numbers, from 0 on, of those of the kernel: N, or N..M without M
    /// [default: WAVELIFT_RECORD_INDEX, else all]
    #[arg(long, value_name = "N..M", value_parser = index)]
    record_index: Option<String>,
    /// Most bytes of memory of a recorded launch [default: WAVELIFT_RECORD_LIMIT, else 2^30]
    #[arg(long, value_name = "BYTES")]
    record_limit: Option<u64>,
    /// Report accesses outside the exact allocation, and reads of LDS and scratch that were never
    /// written; slow
    #[arg(long)]
    memcheck: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Size in KiB above which HIP copies pageable memory in place rather than through a buffer of its
/// own. HIP's default is 1024, since a driver takes long to pin memory for a GPU; here it takes a
/// microsecond.
const PINNED_FROM: (&str, &str) = ("GPU_PINNED_MIN_XFER_SIZE", "16");

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let Some((name, rest)) = args.program.split_first() else {
        bail!("no program to run");
    };
    let library = Library::find()?;
    let mut command = Command::new(name);
    command.args(rest);
    let path = with_variable(library.folder(), "LD_LIBRARY_PATH");
    command.env("LD_LIBRARY_PATH", &path);
    let (setting, kib) = PINNED_FROM;
    if std::env::var_os(setting).is_none() {
        command.env(setting, kib);
    }
    command.envs(args.settings()?);
    let file = gpu::find_program(name);
    if args.gpu.is_none() && !is_set("WAVELIFT_GPU") {
        let found = file.as_deref().map(|file| gpu::infer(file, &path));
        if let Some(gpu) = found.flatten() {
            command.env("WAVELIFT_GPU", gpu);
        }
    }
    // Open until the program has it.
    let _answers = tools::prepare(&mut command, name, &library, args.gpu.as_deref())?;
    out.flush()?;
    if args.stats {
        return wait::run(command, name);
    }
    // Returns only when the program cannot be started.
    let error = command.exec();
    Err(error).with_context(|| cannot_run(name))
}

fn cannot_run(name: &OsStr) -> String {
    format!("cannot run {}", name.display())
}

/// Has an environment variable a value?
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// A path in front of those that an environment variable has.
fn with_variable(path: &Path, name: &str) -> OsString {
    let mut all = path.as_os_str().to_owned();
    if let Some(more) = std::env::var_os(name).filter(|more| !more.is_empty()) {
        all.push(":");
        all.push(more);
    }
    all
}

impl Args {
    /// The variables of the given options; the caller's others are unchanged.
    fn settings(&self) -> anyhow::Result<impl Iterator<Item = (&'static str, OsString)>> {
        let flag = |on: bool| on.then(|| "1".into());
        let text = |value: Option<String>| value.map(OsString::from);
        let number = |value: Option<u64>| text(value.map(|value| value.to_string()));
        let seconds = self.timeout.map(|limit| limit.as_secs_f64().to_string());
        let settings = [
            ("WAVELIFT_GPU", text(self.gpu.clone())),
            ("WAVELIFT_THREADS", number(self.threads.map(|n| n as u64))),
            ("WAVELIFT_ENGINE", text(self.engine.clone())),
            ("WAVELIFT_VRAM_MIB", number(self.vram)),
            ("WAVELIFT_TIMEOUT", text(seconds)),
            ("WAVELIFT_STACK", number(self.stack.map(u64::from))),
            ("WAVELIFT_CACHE", self.cache_folder()?),
            ("WAVELIFT_CACHE_MIB", number(self.cache_size)),
            ("WAVELIFT_STATS", flag(self.stats)),
            ("WAVELIFT_PROFILE", self.profile_file()?),
            ("WAVELIFT_COVERAGE", self.coverage_file()?),
            ("WAVELIFT_MEMCHECK", flag(self.memcheck)),
            ("WAVELIFT_RECORD", self.record_folder()?),
            ("WAVELIFT_RECORD_KERNEL", text(self.record_kernel.clone())),
            ("WAVELIFT_RECORD_INDEX", text(self.record_index.clone())),
            ("WAVELIFT_RECORD_LIMIT", number(self.record_limit)),
        ];
        let given = |(name, value): (_, Option<_>)| Some((name, value?));
        Ok(settings.into_iter().filter_map(given))
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

    /// The folder of recorded launches, which is made.
    fn record_folder(&self) -> anyhow::Result<Option<OsString>> {
        let Some(folder) = &self.record else {
            return Ok(None);
        };
        let problem = || format!("cannot record launches in {}", folder.display());
        std::fs::create_dir_all(folder).with_context(problem)?;
        let folder = std::path::absolute(folder).with_context(problem)?;
        Ok(Some(folder.into_os_string()))
    }

    /// The file of the coverage, which each process of the program merges its own into.
    fn coverage_file(&self) -> anyhow::Result<Option<OsString>> {
        let Some(file) = &self.coverage else {
            return Ok(None);
        };
        CoverageFile::check(file)?;
        let path = std::path::absolute(file);
        let path = path.with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Some(path.into_os_string()))
    }

    /// The file of the profile, emptied, since each process of the program adds its own.
    fn profile_file(&self) -> anyhow::Result<Option<OsString>> {
        let file = match &self.profile {
            None => return Ok(None),
            Some(_) if self.engine.as_deref() == Some("interp") => {
                bail!("only the translator profiles: --profile needs --engine jit")
            }
            Some(None) => return Ok(Some("-".into())),
            Some(Some(file)) => file,
        };
        let problem = || format!("cannot write the profile to {}", file.display());
        std::fs::File::create(file).with_context(problem)?;
        let file = std::path::absolute(file).with_context(problem)?;
        Ok(Some(file.into_os_string()))
    }
}

/// A number, or a range without its end.
fn index(text: &str) -> Result<String, String> {
    let wrong = |_| format!("`{text}` is neither a number nor a range such as 3..7");
    let (first, end) = text.split_once("..").unwrap_or((text, ""));
    let first: u64 = first.parse().map_err(wrong)?;
    if text.contains("..") && end.parse::<u64>().map_err(wrong)? <= first {
        return Err(format!("the range {text} is empty"));
    }
    Ok(text.to_owned())
}

/// Tells the user something that is not the program's.
fn say(what: std::fmt::Arguments<'_>) {
    complain(format_args!("wavelift: {what}"));
}
