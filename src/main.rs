//! The command line. Each command is a file in `cli`.

use std::process::ExitCode;

mod cli;

fn main() -> ExitCode {
    cli::main()
}
