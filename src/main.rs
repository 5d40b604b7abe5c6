//! The command line. Each command is a file in `cli`.

use std::process::ExitCode;

mod cli;

/// Works on a thread whose stack does not depend on `ulimit -s`.
fn main() -> ExitCode {
    match runtime::stack::thread("wavelift").spawn(cli::main) {
        // A panic has printed its message; this is the status of one in the main thread.
        Ok(thread) => thread.join().unwrap_or(ExitCode::from(101)),
        Err(error) => cli::no_thread(&error),
    }
}
