//! `wavelift profile` and `wavelift bench --profile`: where a manifest's kernels spend their time,
//! and how they were translated.

use std::path::PathBuf;

use wavelift::profile::{KernelProfile, Run, page};
use wavelift::{Device, EngineKind, Error, Profiling};

use super::Status;
use super::input::{self, Input, print_manifest};
use super::new_file::{NewFile, Unwritten};
use super::options::{EngineChoice, RunOptions};
use super::output::{Output, complain};
use super::session::{Session, TimeLimit};

/// Runs the dispatches of a launch manifest twice, timed and then with counters in the translated
/// code, and shows where the time goes.
///
/// Times, shapes and host bytes are those of the first run, in which hot regions are translated as
/// without profiling. Executions and lanes are those of the second; each run begins with fresh
/// memory. Time within a region is distributed by the host bytes of its executions. If the
/// iterations of a loop cannot be counted by form, all of them are attributed to the form shown
/// (those with all lanes active, if it requires that). The page has no scripts and is
/// self-contained: the reasons why kernels are not faster, hottest blocks with source lines, what the
/// kernels do in their time beside what a thread of this machine can do (measured in about a tenth of a
/// second), control flow, and the disassembly with executions, mean active lanes and share of time of
/// every instruction, and the shapes chosen.
///
/// The counting run may take many times as long as the timed one: its dispatches have a hundred
/// times the --timeout.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift profile examples/sha256/sha256.gfx900.toml
  wavelift profile examples/matmul/matmul.gfx900.toml --html matmul.html --threads 1

Exit status: 0 all ran; 2 bad usage or bad input, nothing ran; 3 the guest faulted.")]
pub(super) struct Args {
    /// A launch manifest; or a code object (.co), OpenCL C source (.cl) or HIP source (.hip), with --grid and --arg
    file: PathBuf,
    #[command(flatten)]
    options: RunOptions,
    /// Write a page with the annotated disassembly; `-` is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    if args.options.kernel.emit_manifest {
        return print_manifest(&args.file, &args.options, out);
    }
    let input = input::load(&args.file, &args.options)?;
    let title = input.name.clone();
    // What cannot be written is reported before anything runs.
    let to_output = args
        .html
        .as_ref()
        .is_some_and(|path| path.as_os_str() == "-");
    let file = args.html.as_deref().filter(|_| !to_output);
    let file = file.map(NewFile::named).transpose()?;
    let kernels = match measure(input, &args.options)? {
        Ok(kernels) => kernels,
        Err(error) if error.fault().is_some() => {
            complain(format_args!("fault: {error}"));
            return Ok(Status::Fault);
        }
        Err(error) => return Err(error.into()),
    };
    if to_output {
        let mut text = Vec::new();
        page(&mut text, &title, &kernels)
            .map_err(|error| Unwritten::new("standard output", error))?;
        write!(out, "{}", String::from_utf8_lossy(&text))?;
    } else if let Some(mut file) = file {
        let shown = file.path().display().to_string();
        let written = page(&mut file, &title, &kernels).and_then(|()| file.commit());
        written.map_err(|error| Unwritten::new(shown.as_str(), error))?;
        writeln!(out, "wrote {shown}")?;
    } else {
        print(&kernels, out)?;
    }
    Ok(Status::Success)
}

/// Runs a manifest's dispatches, timed and then counted, on separate devices. The outer error is
/// bad input, the inner one is of the run.
pub(super) fn measure(
    input: Input,
    options: &RunOptions,
) -> anyhow::Result<Result<Vec<KernelProfile>, Error>> {
    let timed = {
        let session = session(input.clone(), options, Profiling::Times)?;
        match run(&session) {
            Ok(timed) => timed.timed(),
            Err(error) => return error.downcast().map(Err),
        }
    };
    let session = session(input, options, Profiling::Counts)?;
    match run(&session) {
        Ok(counted) => Ok(Ok(timed.with(&counted))),
        Err(error) => error.downcast().map(Err),
    }
}

/// Launches everything once.
fn run(session: &Session) -> anyhow::Result<Run> {
    let mut settings = session.device.settings();
    let limit = TimeLimit::new(session.device.options().timeout);
    let mut run = Run::new(&session.device);
    for planned in &session.dispatches {
        let mut waves = 0;
        for _ in 0..planned.repeat {
            settings.timeout = limit.left(planned)?;
            waves += session.launch(planned, &settings)?.waves;
        }
        run.add(&planned.kernel, planned.repeat, waves);
    }
    Ok(run)
}

/// Factor of the time limit for dispatches with counters.
const PATIENCE: u32 = 100;

/// A manifest on a separate device that profiles.
fn session(input: Input, options: &RunOptions, profiling: Profiling) -> anyhow::Result<Session> {
    let mut device = input.placed(options.device(&EngineChoice::default()));
    if device.engine != EngineKind::Jit {
        anyhow::bail!("only the translator profiles");
    }
    device.engine_options.profile = Some(profiling);
    device.engine_options.cache = None;
    if profiling == Profiling::Counts {
        device.timeout = device.timeout.map(|limit| limit.saturating_mul(PATIENCE));
    }
    let device = Device::with_options(device)?;
    let mut session = input.session(device, options)?;
    session.forget_inputs();
    Ok(session)
}

/// Prints profiles as text.
pub(super) fn print(kernels: &[KernelProfile], out: &mut Output) -> anyhow::Result<()> {
    for kernel in kernels {
        write!(out, "{kernel}")?;
    }
    Ok(())
}
