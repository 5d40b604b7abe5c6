//! `wavelift exec`: runs a ROCm program with the HSA library of this build.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;

use anyhow::{Context, bail};
use coverage::CoverageFile;

use super::Status;
use super::output::Output;

mod device_code;
#[cfg(embedded)]
mod embedded;
mod gpu;
mod library;
pub(super) mod start;
mod tools;
pub(super) mod wait;

use start::{Guest, Program, cannot_run, given, number, text};

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
    #[command(flatten)]
    guest: Guest,
    /// Worker threads of a kernel; 0 is one for each processor [default: WAVELIFT_THREADS, else 0]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
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
    #[command(flatten)]
    program: Program,
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let mut prepared = args.guest.prepare(&args.program)?;
    let command = &mut prepared.command;
    command.envs(args.settings()?);
    out.flush()?;
    let name = args.program.name();
    if args.stats {
        return wait::end(wait::run(command, name)?.status);
    }
    // Returns only when the program cannot be started.
    let error = command.exec();
    Err(error).with_context(|| cannot_run(name))
}

impl Args {
    /// The variables of the given options; the caller's others are unchanged.
    fn settings(&self) -> anyhow::Result<impl Iterator<Item = (&'static str, OsString)>> {
        let flag = |on: bool| on.then(|| "1".into());
        Ok(given([
            ("WAVELIFT_THREADS", number(self.threads.map(|n| n as u64))),
            ("WAVELIFT_STATS", flag(self.stats)),
            ("WAVELIFT_PROFILE", self.profile_file()?),
            ("WAVELIFT_COVERAGE", self.coverage_file()?),
            ("WAVELIFT_MEMCHECK", flag(self.memcheck)),
            ("WAVELIFT_RECORD", self.record_folder()?),
            ("WAVELIFT_RECORD_KERNEL", text(self.record_kernel.clone())),
            ("WAVELIFT_RECORD_INDEX", text(self.record_index.clone())),
            ("WAVELIFT_RECORD_LIMIT", number(self.record_limit)),
        ]))
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
            Some(_) if self.guest.engine.as_deref() == Some("interp") => {
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
