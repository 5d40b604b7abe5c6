//! `wavelift ir`: a kernel's intermediate representation, and the host code made of it.

use std::path::PathBuf;

use anyhow::Context;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use runtime::files::read_whole;
use runtime::jit::{self, Isa};
use runtime::object::{self, CodeObject, Kernel, TargetId};

use super::Status;
use super::output::Output;

/// Prints the lane IR of a code object's kernels, their vector IR, or their host code, region by
/// region.
///
/// Regions that are entered only through addresses in registers are not shown.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift ir examples/saxpy/saxpy.gfx900.co
  wavelift ir examples/matmul/matmul.gfx803.co --kernel matmul_tiled
  wavelift ir examples/saxpy/saxpy.gfx900.co --after sink
  wavelift ir examples/saxpy/saxpy.gfx900.co --vector avx512
  wavelift ir examples/saxpy/saxpy.gfx900.co --host avx2")]
pub(super) struct Args {
    /// An HSA code object, an offload bundle, or a program with HIP kernels
    file: PathBuf,
    /// Only this kernel
    #[arg(long)]
    kernel: Option<String>,
    /// The entry to select if the file has several, such as gfx906
    #[arg(long)]
    target: Option<String>,
    /// Print the regions as they are after this pass of the translator, not as they were read
    #[arg(long, value_name = "PASS", value_parser = passes())]
    after: Option<String>,
    /// Print host vectors and scalars, from which instructions of such a host are selected
    #[arg(long, value_name = "HOST", conflicts_with = "after")]
    vector: Option<Host>,
    /// Print the host code for such a host: its bytes, constants after the instructions, and its
    /// relocations
    #[arg(long, value_name = "HOST", value_parser = wide(), conflicts_with_all = ["after", "vector"])]
    host: Option<Isa>,
}

/// Hosts by their vectors.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Host {
    /// Vectors of 128 bits, which every host has
    Any,
    /// Vectors of 256 bits
    Avx2,
    /// Vectors of 512 bits, and masks in registers of their own
    Avx512,
}

impl Host {
    fn isa(self) -> Option<Isa> {
        match self {
            Host::Any => None,
            Host::Avx2 => Some(Isa::Avx2),
            Host::Avx512 => Some(Isa::Avx512),
        }
    }
}

/// The names of the hosts that the back end of this project makes code for.
fn wide() -> impl TypedValueParser<Value = Isa> {
    let hosts = Host::value_variants().iter();
    let wide = hosts.filter(|host| host.isa().is_some());
    let values = PossibleValuesParser::new(wide.filter_map(Host::to_possible_value));
    values.try_map(|name| {
        let host = Host::from_str(&name, false)?;
        host.isa()
            .ok_or_else(|| format!("{name} has no such vectors"))
    })
}

/// The names of the passes, with their descriptions.
fn passes() -> PossibleValuesParser {
    let value = |pass: &jit::Pass| PossibleValue::new(pass.name).help(pass.about);
    jit::PASSES.iter().map(value).collect::<Vec<_>>().into()
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let name = args.file.display().to_string();
    let target: Option<TargetId> = args.target.as_deref().map(str::parse).transpose()?;
    let bytes = read_whole(&args.file).with_context(|| format!("cannot read {name}"))?;
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
    let start = kernel.code.start;
    let regions = match (args.vector, args.host) {
        (_, Some(isa)) => jit::print_host_code(gfx, start, mode, &fetch, isa)?,
        (Some(host), None) => jit::print_vector_ir(gfx, start, mode, &fetch, host.isa()),
        (None, None) => jit::print_ir(gfx, start, mode, &fetch, args.after.as_deref()),
    };
    for (entry, text) in regions {
        if out.closed() {
            break;
        }
        let offset = entry.wrapping_sub(start);
        writeln!(
            out,
            "; {}+0x{offset:x}, region at 0x{entry:x}\n{text}",
            kernel.name
        )?;
    }
    Ok(())
}
