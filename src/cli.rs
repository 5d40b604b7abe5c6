//! The commands. Exit status: 0 success, 1 a failed expectation or comparison, 2 bad usage or bad
//! input, 3 the guest faulted, 4 it ran but a result could not be written.

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use wavelift::manifest::keys;

mod bench;
mod check;
mod completions;
mod coverage;
mod debug;
mod diff;
mod disasm;
mod evidence;
#[cfg(unix)]
mod exec;
mod frames;
#[cfg(feature = "fuzz")]
mod fuzz;
mod info;
mod input;
#[cfg(feature = "jit")]
mod ir;
mod man;
mod new_file;
mod numerics;
mod one_liner;
mod options;
mod output;
#[cfg(feature = "jit")]
mod profile;
mod progress;
mod report;
mod run;
mod sandbox;
mod session;
mod shard;
mod version;

use new_file::Unwritten;
use output::{Output, complain};
use session::OutOfTime;

/// Result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// All ran and every expectation holds.
    Success,
    /// A failed expectation or comparison.
    Mismatch,
    /// Bad input, which is reported already.
    BadInput,
    /// The guest faulted.
    Fault,
    /// It ran, but a result could not be written, which is reported already.
    Unwritten,
}

impl Status {
    /// The exit status.
    fn code(self) -> u8 {
        match self {
            Status::Success => 0,
            Status::Mismatch => 1,
            Status::BadInput => BAD_INPUT,
            Status::Fault => 3,
            Status::Unwritten => UNWRITTEN,
        }
    }

    /// By exit status.
    fn of(code: u8) -> Status {
        match code {
            0 => Status::Success,
            1 => Status::Mismatch,
            3 => Status::Fault,
            UNWRITTEN => Status::Unwritten,
            _ => Status::BadInput,
        }
    }
}

/// Bad usage or bad input; nothing ran.
const BAD_INPUT: u8 = 2;

/// It ran, but a result could not be written.
const UNWRITTEN: u8 = 4;

/// The exit status of an error.
fn code_of(error: &anyhow::Error) -> u8 {
    let is = |what: fn(&(dyn std::error::Error + 'static)) -> bool| error.chain().any(what);
    if is(|cause| cause.is::<Unwritten>()) {
        UNWRITTEN
    } else if is(|cause| cause.is::<OutOfTime>()) {
        Status::Fault.code()
    } else {
        BAD_INPUT
    }
}

/// Runs AMD GCN machine code on an ordinary CPU: real code objects for gfx600 to gfx906, gfx908,
/// gfx90a and gfx942, without a GPU.
#[derive(Parser)]
#[command(version, long_version = version::long(), propagate_version = true, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  wavelift run examples/saxpy/saxpy.gfx900.toml
  wavelift debug examples/saxpy/saxpy.gfx900.toml
  wavelift diff examples/sha256/sha256.gfx803.toml
  wavelift bench benches/manifests/saxpy-16m.gfx900.toml --seconds 5
  wavelift check examples/saxpy/saxpy.gfx900.co
  wavelift coverage runs.coverage --html coverage
  wavelift disasm examples/saxpy/saxpy.gfx900.co
  wavelift info examples/saxpy/saxpy.bundle.hipfb
  wavelift exec ./hip_program

Exit status: 0 all ran and every expectation holds; 1 an expectation or a comparison does not hold;
2 bad usage or bad input, nothing ran; 3 the guest faulted; 4 it ran, but a result could not be written.";

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Debug(debug::Args),
    Diff(diff::Args),
    Bench(bench::Args),
    Check(check::Args),
    Coverage(coverage::Args),
    Disasm(disasm::Args),
    Info(info::Args),
    #[cfg(unix)]
    Exec(exec::Args),
    #[cfg(feature = "fuzz")]
    Fuzz(fuzz::Args),
    #[cfg(feature = "jit")]
    Ir(ir::Args),
    Manifest(ManifestArgs),
    #[cfg(feature = "jit")]
    Profile(profile::Args),
    Shard(shard::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Man(man::Args),
}

/// Prints the reference of launch manifests.
#[derive(clap::Args)]
#[command(long_about = keys::text(), help_template = "{about}")]
struct ManifestArgs {}

/// The exit status where the host starts no thread.
pub(crate) fn no_thread(error: &std::io::Error) -> ExitCode {
    complain(format_args!(
        "error: cannot start a thread: {error}; raise the limits of memory and processes (ulimit -v, ulimit -u)"
    ));
    ExitCode::from(BAD_INPUT)
}

/// Parses the command line and runs the command.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are reported here too; errors of a closed output are ignored.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(BAD_INPUT));
        }
    };
    let mut out = Output::new();
    let result = match cli.command {
        Command::Run(args) => run::execute(&args, &mut out),
        Command::Debug(args) => debug::execute(&args, &mut out),
        Command::Diff(args) => diff::execute(&args, &mut out),
        Command::Bench(args) => bench::execute(&args, &mut out),
        Command::Check(args) => check::execute(&args, &mut out),
        Command::Coverage(args) => coverage::execute(&args, &mut out),
        Command::Disasm(args) => disasm::execute(&args, &mut out),
        Command::Info(args) => info::execute(&args, &mut out),
        #[cfg(unix)]
        Command::Exec(args) => exec::execute(&args, &mut out),
        #[cfg(feature = "fuzz")]
        Command::Fuzz(args) => fuzz::execute(&args, &mut out),
        #[cfg(feature = "jit")]
        Command::Ir(args) => ir::execute(&args, &mut out),
        Command::Manifest(ManifestArgs {}) => out.text(&keys::text()),
        #[cfg(feature = "jit")]
        Command::Profile(args) => profile::execute(&args, &mut out),
        Command::Shard(args) => shard::execute(&args, &mut out),
        Command::Completions(args) => completions::execute(&args, Cli::command(), &mut out),
        Command::Man(args) => man::execute(&args, Cli::command(), &mut out),
    };
    ExitCode::from(conclude(result, &mut out))
}

/// Writes what is still buffered, and reports the error of a command; the exit status.
fn conclude(result: anyhow::Result<Status>, out: &mut Output) -> u8 {
    match result.and_then(|status| Ok(out.flush().map(|()| status)?)) {
        Ok(status) => status.code(),
        Err(error) => {
            // What was printed before precedes the error.
            let _ = out.flush();
            complain(format_args!("error: {error:#}"));
            code_of(&error)
        }
    }
}
