//! `wavelift man`.

use std::path::PathBuf;

use anyhow::Context;

use super::Status;
use super::output::Output;

/// Writes manual pages, one for wavelift and one for each command, into a folder.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift man ~/.local/share/man/man1")]
pub(super) struct Args {
    /// The folder; it is made if it does not exist
    folder: PathBuf,
}

pub(super) fn execute(
    args: &Args,
    command: clap::Command,
    out: &mut Output,
) -> anyhow::Result<Status> {
    let folder = args.folder.display();
    std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(command, &args.folder))
        .with_context(|| format!("cannot write manual pages to {folder}"))?;
    writeln!(out, "wrote manual pages to {folder}")?;
    Ok(Status::Success)
}
