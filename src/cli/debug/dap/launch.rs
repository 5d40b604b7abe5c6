//! What is debugged: a launch manifest, or a kernel with the options of the command line.

use std::path::{Path, PathBuf};

use clap::{Args as _, Command, FromArgMatches as _};
use wavelift::DeviceOptions;
use wavelift::debug::{Debugger, Named};

use super::Refused;
use super::arguments::Arguments;
use crate::cli::debug::Args;
use crate::cli::input;
use crate::cli::session::Session;

/// A program under the debugger.
pub(super) struct Program {
    pub(super) debugger: Debugger,
    pub(super) session: Session,
    /// Where source files are looked for.
    pub(super) folders: Vec<PathBuf>,
    pub(super) stop_on_entry: bool,
    /// The time that it may run from stop to stop.
    pub(super) limit: Option<std::time::Duration>,
}

/// Loads a program with options.
pub(in crate::cli::debug) fn load(args: &Args, file: &Path) -> anyhow::Result<(Debugger, Session)> {
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

/// Loads what `launch` asks for: `program`, with `args` of the command line.
pub(super) fn launch(arguments: Arguments<'_>) -> Result<Program, Refused> {
    if let Some(folder) = arguments.text("cwd")? {
        std::env::set_current_dir(folder)
            .map_err(|error| format!("cannot enter the folder {folder}: {error}"))?;
    }
    let program = arguments.need_text("program")?;
    let given = arguments.texts("args")?;
    let command = Args::augment_args(Command::new("debug").no_binary_name(true));
    let words = given.into_iter().chain(["--", program]);
    let matches = command
        .try_get_matches_from(words)
        .map_err(|error| format!("`args` of launch: {error}"))?;
    let args = Args::from_arg_matches(&matches)?;
    if args.dap.is_some() || !args.files.is_empty() || !args.commands.is_empty() {
        return Err("`args` of launch takes options such as --grid, not commands".into());
    }
    let (debugger, session) = load(&args, Path::new(program))?;
    let mut folders: Vec<PathBuf> = arguments
        .texts("sourcePaths")?
        .iter()
        .map(PathBuf::from)
        .collect();
    let beside = session
        .manifest
        .dispatches
        .iter()
        .map(|it| it.code_object.as_path());
    for file in std::iter::once(Path::new(program)).chain(beside) {
        folders.extend(file.parent().map(Path::to_owned));
    }
    folders.push(PathBuf::new());
    Ok(Program {
        debugger,
        session,
        folders,
        stop_on_entry: arguments.flag("stopOnEntry")?,
        limit: args.options.timeout,
    })
}
