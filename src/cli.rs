//! The commands. Exit status: 0 success, 1 a failed expectation or comparison, 2 bad usage or bad
//! input, 3 the guest faulted.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod diff;
mod disasm;
#[cfg(unix)]
mod exec;
mod info;
#[cfg(feature = "jit")]
mod ir;
mod options;
mod output;
#[cfg(feature = "jit")]
mod profile;
mod progress;
mod report;
mod run;
mod session;

use output::{Output, complain};

/// Result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// All ran and every expectation holds.
    Success,
    /// A failed expectation or comparison.
    Mismatch,
    /// The guest faulted.
    Fault,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Success => 0,
            Status::Mismatch => 1,
            Status::Fault => 3,
        })
    }
}

/// Bad usage or bad input; nothing ran.
const BAD_INPUT: u8 = 2;

/// Runs AMD GCN machine code on an ordinary CPU: real code objects for gfx600 to gfx906, without a
/// GPU.
#[derive(Parser)]
#[command(version, propagate_version = true, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  wavelift run examples/saxpy/saxpy.gfx900.toml
  wavelift diff examples/sha256/sha256.gfx803.toml
  wavelift bench benches/manifests/saxpy-16m.gfx900.toml --seconds 5
  wavelift disasm examples/saxpy/saxpy.gfx900.co
  wavelift info examples/saxpy/saxpy.bundle.hipfb
  wavelift exec --gpu gfx906 -- ./hip_program

Exit status: 0 all ran and every expectation holds; 1 an expectation or a comparison does not hold;
2 bad usage or bad input, nothing ran; 3 the guest faulted.";

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Diff(diff::Args),
    Bench(bench::Args),
    Disasm(disasm::Args),
    Info(info::Args),
    #[cfg(unix)]
    Exec(exec::Args),
    #[cfg(feature = "jit")]
    Ir(ir::Args),
    #[cfg(feature = "jit")]
    Profile(profile::Args),
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
        Command::Diff(args) => diff::execute(&args, &mut out),
        Command::Bench(args) => bench::execute(&args, &mut out),
        Command::Disasm(args) => disasm::execute(&args, &mut out),
        Command::Info(args) => info::execute(&args, &mut out),
        #[cfg(unix)]
        Command::Exec(args) => exec::execute(&args, &mut out),
        #[cfg(feature = "jit")]
        Command::Ir(args) => ir::execute(&args, &mut out),
        #[cfg(feature = "jit")]
        Command::Profile(args) => profile::execute(&args, &mut out),
    };
    match result.and_then(|status| Ok(out.flush().map(|()| status)?)) {
        Ok(status) => status.into(),
        Err(error) => {
            complain(format_args!("error: {error:#}"));
            ExitCode::from(BAD_INPUT)
        }
    }
}
