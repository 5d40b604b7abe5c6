//! `wavelift shard check`: may the shards of a dispatch run on memory of their own?

use std::io::Write as _;
use std::path::PathBuf;

use runtime::memory::{self, Accesses};
use wavelift::{DeviceOptions, Settings};

use super::super::Status;
use super::super::new_file::NewFile;
use super::super::options::Shard;
use super::super::output::{Output, complain};
use super::super::progress::Progress;
use super::super::session::TimeLimit;
use super::{Conflict, Verdict, What, count};

/// Runs a dispatch once, shard by shard in checked mode, and finds out whether one shard reads or writes what another
/// one writes.
///
/// The answer holds for these inputs. It holds for others as far as the addresses that the kernel accesses do not depend
/// on the contents of its buffers.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift shard check examples/mandelbrot/mandelbrot.gfx906.toml --shards 4 --verdict verdict.json

Exit status: 0 the shards are independent; 1 they are not; 2 bad usage or bad input, nothing ran; 3 the guest faulted or
the time was over.")]
pub(super) struct Args {
    #[command(flatten)]
    what: What,
    /// The number of shards
    #[arg(long, value_name = "N", value_parser = count)]
    shards: u64,
    /// Write the answer to this file, for `wavelift shard run`
    #[arg(long, value_name = "FILE")]
    verdict: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let input = args.what.input()?;
    let file = args.verdict.as_deref().map(NewFile::named).transpose()?;
    let options = DeviceOptions {
        memcheck: true,
        ..args.what.options()
    };
    let loaded = args.what.load(input, options)?;
    let planned = loaded.planned();
    let progress = Progress::new(planned.workgroups, "workgroups");
    let limit = TimeLimit::new(loaded.session.device.options().timeout);
    let mut found = Vec::new();
    for number in 1..=args.shards {
        let of = args.shards;
        let settings = Settings {
            only: Some(loaded.workgroups(Shard { number, of })),
            progress: Some(progress.counter()),
            timeout: limit.left(planned)?,
            ..loaded.session.device.settings()
        };
        loaded.session.device.memory().record_accesses();
        let result = loaded.session.launch(planned, &settings);
        let accesses = loaded.session.device.memory().take_accesses();
        match result {
            Ok(_) => found.push(accesses),
            Err(error) if error.fault().is_some() => {
                drop(progress);
                out.flush()?;
                complain(format_args!(
                    "fault: {error}\n   in shard {number} of {of}, which ran without the shards behind it"
                ));
                return Ok(Status::Fault);
            }
            Err(error) => return Err(error.into()),
        }
    }
    drop(progress);
    let conflict = first_conflict(&found).map(|(a, b, conflict)| Conflict {
        shards: [a, b].map(|n| n as u64 + 1),
        accesses: [conflict.first, conflict.second].map(|access| access.name().to_owned()),
        address: conflict.address,
        element: loaded.session.element_at(conflict.address).0,
    });
    let verdict = Verdict {
        ok: conflict.is_none(),
        kernel: planned.kernel.name().to_owned(),
        shards: args.shards,
        workgroups: planned.workgroups,
        launch: loaded.identity.launch.clone(),
        bytes_written: found.iter().map(|accesses| accesses.bytes_written()).sum(),
        conflict,
    };
    if let Some(file) = file {
        let text = serde_json::to_string(&verdict)?;
        file.complete(|file| writeln!(file, "{text}"))?;
    }
    if args.json {
        out.json(&verdict)?;
    } else {
        let Verdict {
            kernel,
            shards,
            workgroups,
            bytes_written,
            ..
        } = &verdict;
        match &verdict.conflict {
            None => writeln!(
                out,
                "{kernel}: {shards} shards of {workgroups} workgroups are independent; they write {bytes_written} bytes"
            )?,
            Some(conflict) => writeln!(
                out,
                "{kernel}: the shards are not independent: {}",
                conflict.text()
            )?,
        }
    }
    Ok(match verdict.ok {
        true => Status::Success,
        false => Status::Mismatch,
    })
}

/// The first shard that is in conflict with an earlier one: the earlier one, it, and the byte.
fn first_conflict(shards: &[Accesses]) -> Option<(usize, usize, memory::Conflict)> {
    let mut earlier = Accesses::default();
    for (b, shard) in shards.iter().enumerate() {
        if earlier.conflict(shard).is_some() {
            return (0..b).find_map(|a| Some((a, b, shards[a].conflict(shard)?)));
        }
        earlier.join(shard);
    }
    None
}
