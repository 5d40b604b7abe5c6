//! `wavelift info`: the contents of a file.

use std::path::PathBuf;

use anyhow::{Context, bail};
use runtime::files::read_whole;
use runtime::object::{self, Accumulation, CodeObject, Entry, Kernel, TargetId};
use serde::Serialize;

use super::Status;
use super::output::Output;

/// Shows targets, kernels, arguments, register and LDS use of a code object, an offload bundle or a
/// HIP program.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift info examples/matmul/matmul.gfx900.co
  wavelift info examples/saxpy/saxpy.bundle.hipfb --target gfx906 --json")]
pub(super) struct Args {
    /// An HSA code object, an offload bundle, or a program with HIP kernels
    file: PathBuf,
    /// Show only the entry for this target, such as gfx906 or gfx906:xnack-
    #[arg(long)]
    target: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct FileInfo {
    file: String,
    code_objects: Vec<ObjectInfo>,
}

#[derive(Serialize)]
struct ObjectInfo {
    id: String,
    target: Option<String>,
    /// In the file, or in the decompressed bundle.
    offset: usize,
    size: usize,
    compressed: bool,
    /// Why it cannot be loaded.
    error: Option<String>,
    version: Option<u32>,
    kernels: Vec<KernelInfo>,
    globals: Vec<SymbolInfo>,
    functions: Vec<SymbolInfo>,
}

#[derive(Serialize)]
struct SymbolInfo {
    name: String,
    address: u64,
    size: u64,
}

#[derive(Serialize)]
struct KernelInfo {
    name: String,
    address: u64,
    code_bytes: u64,
    vgprs: u32,
    /// Accumulation registers.
    agprs: u32,
    /// How many VGPRs they follow in the same file.
    accum_offset: Option<u32>,
    sgprs: u32,
    user_sgprs: u32,
    lds_bytes: u32,
    scratch_bytes: u32,
    dynamic_stack: bool,
    kernarg_bytes: u32,
    max_workgroup: Option<u32>,
    required_workgroup: Option<[u32; 3]>,
    vgpr_spills: Option<u32>,
    sgpr_spills: Option<u32>,
    /// `null` when the code object has no metadata for the kernel.
    args: Option<Vec<ArgInfo>>,
}

#[derive(Serialize)]
struct ArgInfo {
    name: Option<String>,
    #[serde(rename = "type")]
    ty: Option<String>,
    kind: String,
    offset: u32,
    size: u32,
    hidden: bool,
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let file = args.file.display().to_string();
    let bytes = read_whole(&args.file).with_context(|| format!("cannot read {file}"))?;
    let entries = object::entries(&bytes).with_context(|| file.clone())?;
    let wanted: Vec<&Entry> = match &args.target {
        Some(target) => {
            let target: TargetId = target.parse()?;
            object::candidates(&entries, Some(&target)).with_context(|| file.clone())?
        }
        None => entries.iter().filter(|entry| entry.is_amdgcn()).collect(),
    };
    if wanted.is_empty() {
        bail!("{file}: no code for AMD GPUs in it");
    }
    let info = FileInfo {
        file,
        code_objects: wanted
            .iter()
            .map(|entry| describe(entry, CodeObject::parse(entry.code())))
            .collect(),
    };
    // One unusable object of several is news, the only one is an error.
    if let Some(error) = info
        .code_objects
        .iter()
        .find_map(|object| object.error.as_ref())
        && info
            .code_objects
            .iter()
            .all(|object| object.error.is_some())
    {
        bail!("{}: {error}", info.file);
    }
    if args.json {
        out.json(&info)?;
    } else {
        print(&info, out)?;
    }
    Ok(Status::Success)
}

fn describe(entry: &Entry, object: Result<CodeObject, object::LoadError>) -> ObjectInfo {
    let mut info = ObjectInfo {
        id: entry.id.clone(),
        target: entry.target.as_ref().map(TargetId::to_string),
        offset: entry.range.start,
        size: entry.range.len(),
        compressed: entry.is_compressed(),
        error: None,
        version: None,
        kernels: Vec::new(),
        globals: Vec::new(),
        functions: Vec::new(),
    };
    let object = match object {
        Ok(object) => object,
        Err(error) => {
            info.error = Some(error.to_string());
            return info;
        }
    };
    let symbols = |list: &[object::Symbol]| {
        list.iter()
            .map(|symbol| SymbolInfo {
                name: symbol.name.clone(),
                address: symbol.value,
                size: symbol.size,
            })
            .collect()
    };
    info.target = Some(object.target.to_string());
    info.version = Some(object.version.number());
    info.kernels = object
        .kernels
        .iter()
        .map(|kernel| describe_kernel(&object, kernel))
        .collect();
    info.globals = symbols(&object.globals);
    info.functions = symbols(&object.functions);
    info
}

fn describe_kernel(object: &CodeObject, kernel: &Kernel) -> KernelInfo {
    let gfx = object.target.gfx;
    let descriptor = &kernel.descriptor;
    let metadata = kernel.metadata.as_ref();
    let accumulation = kernel.accumulation(gfx);
    KernelInfo {
        name: kernel.name.clone(),
        address: kernel.code.start,
        code_bytes: kernel.code.end - kernel.code.start,
        vgprs: descriptor.vgpr_count(gfx),
        agprs: accumulation.map_or(0, |all| all.registers),
        accum_offset: accumulation.and_then(|all| all.offset),
        sgprs: descriptor.sgpr_count(gfx),
        user_sgprs: descriptor.user_sgpr_count(),
        lds_bytes: descriptor.group_segment_fixed_size,
        scratch_bytes: descriptor.private_segment_fixed_size,
        dynamic_stack: descriptor.uses_dynamic_stack(),
        kernarg_bytes: metadata.map_or(descriptor.kernarg_size, |data| data.kernarg_segment_size),
        max_workgroup: metadata.and_then(|data| data.max_flat_workgroup_size),
        required_workgroup: metadata.and_then(|data| data.reqd_workgroup_size),
        vgpr_spills: metadata.and_then(|data| data.vgpr_spill_count),
        sgpr_spills: metadata.and_then(|data| data.sgpr_spill_count),
        args: metadata.map(|data| {
            data.args
                .iter()
                .map(|arg| ArgInfo {
                    name: arg.name.clone(),
                    ty: arg.type_name.clone(),
                    kind: arg.kind.name().to_owned(),
                    offset: arg.offset,
                    size: arg.size,
                    hidden: arg.kind.is_hidden(),
                })
                .collect()
        }),
    }
}

fn print(info: &FileInfo, out: &mut Output) -> anyhow::Result<()> {
    for object in &info.code_objects {
        writeln!(
            out,
            "{}: {} bytes at offset {}",
            object.id, object.size, object.offset
        )?;
        if let Some(error) = &object.error {
            writeln!(out, "  not loadable: {error}")?;
            continue;
        }
        let target = object.target.as_deref().unwrap_or("?");
        let version = object.version.unwrap_or_default();
        let kernels = object.kernels.len();
        let s = if kernels == 1 { "" } else { "s" };
        writeln!(
            out,
            "  {target}, code object version {version}, {kernels} kernel{s}"
        )?;
        for kernel in &object.kernels {
            print_kernel(kernel, out)?;
        }
        for (what, symbols) in [
            ("variables", &object.globals),
            ("functions", &object.functions),
        ] {
            if symbols.is_empty() {
                continue;
            }
            writeln!(out, "  {what}")?;
            for SymbolInfo {
                name,
                address,
                size,
            } in symbols
            {
                writeln!(out, "    0x{address:<8x} {size:>8} bytes  {name}")?;
            }
        }
    }
    Ok(())
}

fn print_kernel(kernel: &KernelInfo, out: &mut Output) -> anyhow::Result<()> {
    let KernelInfo {
        name,
        address,
        code_bytes,
        ..
    } = kernel;
    writeln!(
        out,
        "  kernel {name}: {code_bytes} bytes of code at 0x{address:x}"
    )?;
    let KernelInfo {
        vgprs,
        sgprs,
        user_sgprs,
        lds_bytes,
        scratch_bytes,
        ..
    } = kernel;
    writeln!(
        out,
        "    {vgprs} VGPRs, {sgprs} SGPRs ({user_sgprs} for the user), {lds_bytes} bytes of LDS, \
         {scratch_bytes} bytes of scratch{}",
        if kernel.dynamic_stack {
            " and a dynamic stack"
        } else {
            ""
        }
    )?;
    if kernel.agprs != 0 {
        let accumulation = Accumulation {
            registers: kernel.agprs,
            offset: kernel.accum_offset,
        };
        writeln!(out, "    {accumulation}")?;
    }
    let count = |spills: Option<u32>| spills.unwrap_or(0);
    let (vgprs, sgprs) = (count(kernel.vgpr_spills), count(kernel.sgpr_spills));
    if vgprs + sgprs != 0 {
        writeln!(out, "    spills {vgprs} VGPRs and {sgprs} SGPRs")?;
    }
    match (kernel.required_workgroup, kernel.max_workgroup) {
        (Some([x, y, z]), _) => writeln!(out, "    workgroups of exactly ({x}, {y}, {z})")?,
        (None, Some(max)) => writeln!(out, "    workgroups of at most {max} work-items")?,
        (None, None) => {}
    }
    let Some(args) = &kernel.args else {
        return Ok(writeln!(out, "    no metadata: arguments unknown")?);
    };
    writeln!(out, "    {} bytes of arguments", kernel.kernarg_bytes)?;
    for arg in args.iter().filter(|arg| !arg.hidden) {
        let ArgInfo {
            kind, offset, size, ..
        } = arg;
        let ty = arg.ty.as_deref().unwrap_or("");
        let name = arg.name.as_deref().unwrap_or("");
        let text = format!("      +{offset:<4} {size:>3} bytes  {kind:<24} {ty} {name}");
        writeln!(out, "{}", text.trim_end())?;
    }
    let hidden = args
        .iter()
        .filter(|arg| arg.hidden && arg.kind != "hidden_none");
    let hidden: Vec<_> = hidden
        .map(|arg| arg.kind.trim_start_matches("hidden_"))
        .collect();
    if !hidden.is_empty() {
        writeln!(out, "      hidden: {}", hidden.join(" "))?;
    }
    Ok(())
}
