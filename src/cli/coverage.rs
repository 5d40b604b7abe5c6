//! `wavelift coverage`: reports of coverage files.

use std::path::PathBuf;

use anyhow::bail;
use coverage::CoverageFile;

use super::Status;
use super::new_file::NewFile;
use super::output::Output;

mod condition;
mod facts;
mod html;
mod json;
mod lcov;
mod lines;
mod text;

use facts::Facts;

/// Reports which source lines, basic blocks and outcomes of conditions runs have executed, from the files that
/// run --coverage and exec --coverage write. Several files are added up.
///
/// A line is executed if one of its instructions is; a vector instruction is executed only where a lane is active. A
/// condition is a branch on SCC, whose outcomes are counted by wave, or one that differs by lane: a branch on VCC, or an
/// instruction that switches lanes of EXEC off. Its outcomes are counted by lane, whether or not the wave skips any code.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift run tests.toml --coverage runs.coverage
  wavelift coverage runs.coverage
  wavelift coverage runs.coverage --lcov kernels.info --html coverage --source-path src

Exit status: 0 the report was made; 2 a file cannot be read; 4 a report cannot be written.")]
pub(super) struct Args {
    /// Coverage files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write lines, functions and branches in the format of lcov; `-` is standard output
    #[arg(long, value_name = "OUT")]
    lcov: Option<PathBuf>,
    /// Write pages into this folder: a page for each source file and each code object, and an index
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Look for source files in this folder, too, if they are not where they were compiled
    #[arg(long, value_name = "DIR")]
    source_path: Vec<PathBuf>,
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let lcov_printed = args
        .lcov
        .as_ref()
        .is_some_and(|path| path.as_os_str() == "-");
    if lcov_printed && args.json {
        bail!("--json and --lcov - both print to standard output; write one to a file: --lcov OUT");
    }
    let mut file = CoverageFile::default();
    for path in &args.files {
        file.merge(CoverageFile::read(path)?);
    }
    // What cannot be written is reported before the work.
    let lcov = args.lcov.as_deref().filter(|_| !lcov_printed);
    let lcov = lcov.map(NewFile::named).transpose()?;
    let facts = Facts::new(&file)?;
    if lcov_printed {
        out.text(&lcov::text(&facts))?;
    } else if let Some(file) = lcov {
        let shown = file.path().display().to_string();
        let text = lcov::text(&facts);
        file.complete(|file| std::io::Write::write_all(file, text.as_bytes()))?;
        if !args.json {
            writeln!(out, "wrote {shown}")?;
        }
    }
    if let Some(folder) = &args.html {
        let index = html::write(&facts, folder, &args.source_path)?;
        if !args.json && !lcov_printed {
            writeln!(out, "wrote {}", index.display())?;
        }
    }
    if args.json {
        out.json(&json::report(&facts))?;
    } else if args.lcov.is_none() && args.html.is_none() {
        text::print(&facts, out)?;
    }
    Ok(Status::Success)
}
