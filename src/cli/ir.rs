//! `wavelift ir`: what the translator reads out of a kernel, before it becomes host code.

use std::path::PathBuf;

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser};
use runtime::jit;
use runtime::object::{self, CodeObject, Kernel, TargetId};

use super::Status;
use super::output::Output;

/// Prints the lane IR of a code object's kernels, region by region.
///
/// Regions that are entered through addresses in registers only are not shown.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift ir examples/saxpy/saxpy.gfx900.co
  wavelift ir examples/matmul/matmul.gfx803.co --kernel matmul_tiled
  wavelift ir examples/saxpy/saxpy.gfx900.co --after sink")]
pub(super) struct Args {
    /// An HSA code object, an offload bundle, or a program with HIP kernels
    file: PathBuf,
    /// Only this kernel
    #[arg(long)]
    kernel: Option<String>,
    /// The entry to choose where the file has several, such as gfx906
    #[arg(long)]
    target: Option<String>,
    /// Print the regions as they are after this pass of the translator, not as they were read
    #[arg(long, value_name = "PASS", value_parser = passes())]
    after: Option<String>,
}

/// The names of the passes, with what they do.
fn passes() -> PossibleValuesParser {
    let value = |pass: &jit::Pass| PossibleValue::new(pass.name).help(pass.about);
    jit::PASSES.iter().map(value).collect::<Vec<_>>().into()
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let name = args.file.display().to_string();
    let target: Option<TargetId> = args.target.as_deref().map(str::parse).transpose()?;
    let bytes = std::fs::read(&args.file).with_context(|| format!("cannot read {name}"))?;
    let object = match &args.kernel {
        Some(kernel) => object::open_kernel(&bytes, target.as_ref(), kernel),
        None => object::open(&bytes, target.as_ref()),
    }
    .with_context(|| name.clone())?;
    match &args.kernel {
        Some(kernel) => print(args, &object, object.kernel(kernel)?, out)?,
        None => {
            for kernel in &object.kernels {
                print(args, &object, kernel, out)?;
            }
        }
    }
    Ok(Status::Success)
}

fn print(
    args: &Args,
    object: &CodeObject,
    kernel: &Kernel,
    out: &mut Output,
) -> anyhow::Result<()> {
    let fetch = |address: u64| {
        let code = |segment: &&object::Segment| segment.execute && segment.contains(address, 4);
        let segment = object.segments.iter().find(code)?;
        segment.data.get((address - segment.address) as usize..)
    };
    let gfx = object.target.gfx;
    let mode = kernel.descriptor.mode(gfx);
    let after = args.after.as_deref();
    for (entry, text) in jit::print_ir(gfx, kernel.code.start, mode, &fetch, after) {
        if out.closed() {
            break;
        }
        let offset = entry.wrapping_sub(kernel.code.start);
        writeln!(
            out,
            "; {}+0x{offset:x}, region at 0x{entry:x}\n{text}",
            kernel.name
        )?;
    }
    Ok(())
}
