//! `wavelift debug`: commands of a debugger, from a terminal, a file or options.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use wavelift::DeviceOptions;
use wavelift::debug::{Debugger, Named};

use super::Status;
use super::input::{self, print_manifest};
use super::one_liner::ARGUMENTS;
use super::options::RunOptions;
use super::output::{Output, complain};
use super::session::Session;

mod act;
mod command;
mod dap;
mod help;
mod show;
mod source;

use act::{Failure, Shell};
use source::{Line, Source};

/// Runs the dispatches of a launch manifest on the interpreter under a debugger.
///
/// It stops before the first instruction and reads commands, such as `break saxpy+0x40 if s4 == 3`, `continue`, `step`,
/// `print v3`, `reverse-step`; `help` lists them. They come from the terminal or standard input, from files and options.
#[derive(clap::Args)]
#[command(after_help = format!("{ARGUMENTS}\n\n{AFTER}"))]
pub(super) struct Args {
    /// A launch manifest; or a code object (.co), OpenCL C source (.cl) or HIP source (.hip), with --grid and --arg
    #[arg(required_unless_present = "dap", value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    options: RunOptions,
    /// Read commands from a file first, one a line; a line that begins with # is a comment
    #[arg(short = 'x', long = "commands", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A command, after those of files
    #[arg(
        short = 'e',
        long = "command",
        value_name = "TEXT",
        allow_hyphen_values = true
    )]
    commands: Vec<String>,
    /// Report accesses outside the exact allocation, and reads of LDS and scratch that were never
    /// written
    #[arg(long)]
    memcheck: bool,
    /// Serve an editor by the Debug Adapter Protocol on standard input and output, or on this port of 127.0.0.1 (0 for any,
    /// which is printed); what to run comes from the editor
    #[arg(
        long,
        value_name = "PORT",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with_all = ["file", "files", "commands"]
    )]
    dap: Option<Option<u16>>,
}

const AFTER: &str = "\
Examples:
  wavelift debug examples/saxpy/saxpy.gfx900.toml
  wavelift debug examples/saxpy/saxpy.gfx900.toml -e 'break saxpy+0x2c wave 1' -e continue -e 'print v0'
  wavelift debug tests/kernels/trace/trace.toml -x commands.txt
  wavelift debug --dap

With -x or -e, commands are read from a terminal afterwards, and from no other standard input. Elsewhere than in a
terminal, each command is printed before what it prints, and the first that fails ends the session.
--timeout is the time that one command may let the program run; --threads has no effect.

Exit status: 0 the session has ended, whatever the guest did; 2 bad usage, bad input or a command that failed, other
than in a terminal; 4 the output could not be written.";

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let Some(file) = &args.file else {
        return dap::execute(args.dap.flatten(), out);
    };
    if args.options.kernel.emit_manifest {
        return print_manifest(file, &args.options, out);
    }
    let mut source = Source::new(&args.files, &args.commands)?;
    let (debugger, session) = load(file, args)?;
    #[cfg(unix)]
    interrupt_by_signal(&debugger)?;
    let mut shell = Shell::new(debugger, &session, args.options.timeout);
    shell.start(out)?;
    out.flush()?;
    while let Some(line) = source.next()? {
        let Line { text, from } = line;
        let text = text.trim();
        if from.is_some() {
            if text.starts_with('#') || text.is_empty() {
                continue;
            }
            writeln!(out, "({PROMPT}) {text}")?;
        }
        match shell.run(text, out) {
            Ok(true) => {}
            Ok(false) => break,
            Err(Failure::Output(error)) => return Err(error.into()),
            Err(Failure::Command(error)) => {
                out.flush()?;
                match from {
                    Some(from) => {
                        complain(format_args!("error: {from}: {error}"));
                        return Ok(Status::BadInput);
                    }
                    None => complain(format_args!("{error}")),
                }
            }
        }
        out.flush()?;
        if out.closed() {
            break;
        }
    }
    Ok(Status::Success)
}

/// The debugger of a file, with the session that it is about.
fn load(file: &Path, args: &Args) -> anyhow::Result<(Debugger, Session)> {
    let input = input::load(file, &args.options)?;
    let mut debugger = Debugger::new(input.placed(DeviceOptions {
        memcheck: args.memcheck,
        stack_bytes: args.options.stack,
        ..DeviceOptions::default()
    }))?;
    let session = input.session(debugger.device().clone(), &args.options)?;
    for (buffer, spec) in session.buffers.iter().zip(&session.manifest.buffers) {
        debugger.name(Named::of(buffer, &spec.name, spec.array.dtype));
    }
    for planned in &session.dispatches {
        debugger.add(planned.debugged());
    }
    debugger.set_limit(args.options.timeout);
    Ok((debugger, session))
}

/// What the prompt says.
const PROMPT: &str = "wavelift";

/// Ctrl-C stops the program that is debugged; a second one, before it has stopped, ends this one.
#[cfg(unix)]
fn interrupt_by_signal(debugger: &Debugger) -> anyhow::Result<()> {
    use signal_hook::consts::SIGINT;
    use signal_hook::flag;

    let stop = debugger.interrupter().flag();
    flag::register_conditional_shutdown(SIGINT, 130, stop.clone())
        .and_then(|_| flag::register(SIGINT, stop))
        .context("cannot handle Ctrl-C")?;
    Ok(())
}
