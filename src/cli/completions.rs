//! `wavelift completions`.

use clap_complete::Shell;

use super::Status;
use super::output::Output;

/// Prints a shell's completion script for wavelift.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift completions bash > ~/.local/share/bash-completion/completions/wavelift
  wavelift completions zsh > ~/.zfunc/_wavelift
  wavelift completions fish > ~/.config/fish/completions/wavelift.fish")]
pub(super) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn execute(
    args: &Args,
    mut command: clap::Command,
    out: &mut Output,
) -> anyhow::Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "wavelift", &mut script);
    write!(out, "{}", String::from_utf8(script)?)?;
    Ok(Status::Success)
}
