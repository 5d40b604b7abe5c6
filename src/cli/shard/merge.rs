//! `wavelift shard merge`: puts the changes of all shards together.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use wavelift::Buffer;

use super::super::Status;
use super::super::options::engine_name;
use super::super::output::{Output, complain};
use super::super::report::Report;
use super::super::run::{Wanted, print_report};
use super::changes::Changes;
use super::identity::Identity;
use super::{Loaded, What};

/// Puts the changes of all shards of a dispatch together, writes the manifest's outputs and checks its expectations, as
/// `wavelift run` does. Nothing runs.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift shard merge examples/mandelbrot/mandelbrot.gfx906.toml *.changes

Exit status: 0 every expectation holds; 1 two shards changed the same byte, or an expectation does not hold; 2 bad usage or
bad input, such as a missing shard; 4 a result could not be written.")]
pub(super) struct Args {
    #[command(flatten)]
    what: What,
    /// The files of `wavelift shard run`, one for each shard
    #[arg(required = true)]
    changes: Vec<PathBuf>,
    /// Write outputs into this folder instead of the manifest's
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print a buffer at the end: y, y:0:16 (a slice as in Python), y:5,0:4 (in two dimensions)
    #[arg(long, value_name = "NAME[:SLICE]")]
    print: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let input = args.what.input()?;
    let wanted = Wanted::open(&input, &args.print, args.out.as_deref())?;
    let options = args.what.options();
    let engine = engine_name(options.engine);
    let loaded = args.what.load(input, options)?;
    let sizes: Vec<u64> = loaded.session.buffers.iter().map(Buffer::len).collect();
    let mut all: Option<Changes> = None;
    let mut seen: Vec<(u64, &Path)> = Vec::new();
    for path in &args.changes {
        let shown = path.display();
        let changes = File::open(path)
            .and_then(|file| Changes::read(&mut BufReader::new(file)))
            .with_context(|| format!("cannot read the changes in {shown}"))?;
        check(&changes, path, &loaded.identity, &mut seen)?;
        if !changes.fit(&sizes) {
            bail!("{shown} is damaged: it has pages behind the end of a buffer, or other buffers");
        }
        let overlap = match &mut all {
            Some(all) if all.origin.shard[1] != changes.origin.shard[1] => bail!(
                "{shown} is of {} shards, {} of {}",
                changes.origin.shard[1],
                args.changes[0].display(),
                all.origin.shard[1]
            ),
            Some(all) => all.join(changes).err(),
            None => {
                all = Some(changes);
                None
            }
        };
        if let Some(overlap) = overlap {
            let address = loaded.session.buffers[overlap.buffer].address() + overlap.offset;
            let (element, ..) = loaded.session.element_at(address);
            out.flush()?;
            complain(format_args!(
                "error: the shards are not independent: {shown} changes what a file before it changes: {element}"
            ));
            return Ok(Status::Mismatch);
        }
    }
    let all = all.expect("there is a file at least");
    require_all(&all, &seen)?;
    apply(&loaded, &all)?;
    let mut report = Report::new(engine);
    let (status, written) = wanted.collect(&loaded.session, &mut report)?;
    report.ok = status == Status::Success;
    match args.json {
        true => out.json(&report)?,
        false => {
            writeln!(
                out,
                "{}: {} bytes changed by {} shards",
                all.origin.kernel,
                all.bytes(),
                all.origin.shard[1]
            )?;
            print_report(&report, &written, out)?;
        }
    }
    Ok(status)
}

/// Requires that changes are those of a shard of this launch with these inputs, which is not among those seen.
fn check<'p>(
    changes: &Changes,
    path: &'p Path,
    identity: &Identity,
    seen: &mut Vec<(u64, &'p Path)>,
) -> anyhow::Result<()> {
    let origin = &changes.origin;
    let shown = path.display();
    if origin.launch != identity.launch {
        bail!(
            "{shown} is of another launch of kernel {}: code, grid, arguments or sizes of buffers differ",
            origin.kernel
        );
    }
    if origin.inputs != identity.inputs {
        bail!("{shown} is of a launch with other contents of buffers");
    }
    let [number, of] = origin.shard;
    if !(1..=of).contains(&number) {
        bail!("{shown}: there is no shard {number} of {of}");
    }
    if let Some((_, other)) = seen.iter().find(|(other, _)| *other == number) {
        bail!(
            "{shown} and {} are both shard {number} of {of}",
            other.display()
        );
    }
    seen.push((number, path));
    Ok(())
}

/// Requires that no shard is missing.
fn require_all(all: &Changes, seen: &[(u64, &Path)]) -> anyhow::Result<()> {
    let of = all.origin.shard[1];
    let missing = (1..=of).filter(|number| seen.iter().all(|(seen, _)| seen != number));
    let missing: Vec<String> = missing
        .take(10)
        .map(|number| format!("{number}/{of}"))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => bail!("there are no changes of shard {}", missing.join(", ")),
    }
}

/// Makes all changes in the buffers.
fn apply(loaded: &Loaded, all: &Changes) -> anyhow::Result<()> {
    let buffers = loaded
        .session
        .buffers
        .iter()
        .zip(&loaded.session.manifest.buffers);
    for (index, (buffer, spec)) in buffers.enumerate() {
        let mut contents = spec.array.bytes.clone();
        all.apply(index, &mut contents);
        buffer.write_bytes(0, &contents)?;
    }
    Ok(())
}
