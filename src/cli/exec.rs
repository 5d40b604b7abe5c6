//! `wavelift exec`: runs a ROCm program with the HSA library of this build.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::Status;
use super::options::stack;
use super::output::Output;

/// Runs an unmodified ROCm program (HIP, OpenMP offload) on this CPU. The program finds one GPU.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift exec -- ./vector_add
  wavelift exec --gpu gfx90a --stats -- ./vector_add 1000000
  wavelift exec --memcheck --threads 1 -- ./vector_add

An option that is not given leaves its environment variable as it is: WAVELIFT_GPU, WAVELIFT_THREADS,
WAVELIFT_STATS=1, WAVELIFT_MEMCHECK=1, WAVELIFT_STACK.

The exit status is the program's. A guest fault ends it the way a GPU fault does, which for HIP is SIGABRT.")]
pub(super) struct Args {
    /// The GPU that the program finds [default: WAVELIFT_GPU, else gfx906]
    #[arg(long, value_parser = ["gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"])]
    gpu: Option<String>,
    /// Worker threads of a kernel; 0 is one for each processor [default: WAVELIFT_THREADS, else 0]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// At the end print kernels, launches, time and translation time
    #[arg(long)]
    stats: bool,
    /// Report accesses outside the exact allocation, and reads of LDS and scratch that were never
    /// written; slow
    #[arg(long)]
    memcheck: bool,
    /// Bytes of stack of each work-item, in addition to the scratch that its kernel states; for
    /// recursion that is deeper than the compiler knows [default: WAVELIFT_STACK, else 16384 for
    /// kernels that declare their stack as dynamic, and 0 for others]
    #[arg(long, value_name = "BYTES", value_parser = stack)]
    stack: Option<u32>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Size in KiB above which HIP copies pageable memory in place rather than through a buffer of its
/// own. HIP's default is 1024, since a driver takes long to pin memory for a GPU; here it takes a
/// microsecond.
const PINNED_FROM: (&str, &str) = ("GPU_PINNED_MIN_XFER_SIZE", "16");

/// The library that programs link.
const LIBRARY: &str = "libhsa-runtime64.so.1";

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let program = std::env::current_exe().context("cannot tell where wavelift itself is")?;
    let folder = library_folder(&program)?;
    let mut path = folder.into_os_string();
    if let Some(more) = std::env::var_os("LD_LIBRARY_PATH").filter(|more| !more.is_empty()) {
        path.push(":");
        path.push(more);
    }
    let Some((name, rest)) = args.program.split_first() else {
        anyhow::bail!("no program to run");
    };
    out.flush()?;
    let (setting, kib) = PINNED_FROM;
    let kib = std::env::var_os(setting).unwrap_or_else(|| kib.into());
    let mut command = Command::new(name);
    command.args(rest);
    command.env("LD_LIBRARY_PATH", path).env(setting, kib);
    command.envs(args.settings());
    // Returns only when the program cannot be started.
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {}", name.display()))
}

impl Args {
    /// The variables of the given options; the caller's others are unchanged.
    fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let flag = |on: bool| on.then(|| "1".to_owned());
        let threads = self.threads.map(|threads| threads.to_string());
        [
            ("WAVELIFT_GPU", self.gpu.clone()),
            ("WAVELIFT_THREADS", threads),
            ("WAVELIFT_STATS", flag(self.stats)),
            ("WAVELIFT_MEMCHECK", flag(self.memcheck)),
            ("WAVELIFT_STACK", self.stack.map(|bytes| bytes.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }
}

/// Where the library lies for a wavelift at `program`: in a build's folder, or installed.
fn library_folder(program: &Path) -> anyhow::Result<PathBuf> {
    let here = program.parent().unwrap_or(Path::new("."));
    let folders = [here.join("rocm"), here.join("../lib/wavelift")];
    let found = folders.iter().find(|folder| folder.join(LIBRARY).exists());
    found.cloned().with_context(|| {
        format!(
            "there is no {LIBRARY} in {} or {}; build it with `cargo build -p hsa`, in the same profile \
             as wavelift",
            folders[0].display(),
            folders[1].display()
        )
    })
}
