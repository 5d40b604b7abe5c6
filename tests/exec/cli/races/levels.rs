//! Kernels compiled at four levels of optimization for five targets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use wavelift::manifest::Manifest;
use wavelift::object;

use crate::cli::folder;

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

const TARGETS: [&str; 5] = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906"];

/// The text of a code object's source beside it, or none of assembly. A source that includes `pair.h` has two kernels of each.
fn source(code_object: &Path) -> Option<String> {
    let path = code_object.with_extension("").with_extension("cl");
    let text = std::fs::read_to_string(&path).ok()?;
    let name = path.display();
    Some(match text.contains("#include \"pair.h\"") {
        true => format!("#define RACY\n#include \"{name}\"\n#undef RACY\n#include \"{name}\"\n"),
        false => format!("#include \"{name}\"\n"),
    })
}

/// A compiled source.
struct Compiled {
    path: PathBuf,
    kernels: BTreeSet<String>,
}

/// Compiles the source of a code object into a folder; none if there is none, or for gfx600, which has no flat addresses, if it needs them.
fn compile(of: &Path, folder: &Path, target: &str, level: &str) -> Option<Compiled> {
    let text = source(of)?;
    let name = of.file_stem().and_then(|name| name.to_str());
    let (name, _) = name
        .and_then(|name| name.rsplit_once('.'))
        .expect("it has a target");
    let home = of.parent().expect("it is in a folder");
    // Folders may have files of the same name.
    let home_name = home.file_name().expect("it has a name").display();
    let path = folder.join(format!("{home_name}-{name}.co"));
    let text_path = path.with_extension("cl");
    std::fs::write(&text_path, text).expect("the folder is ours");
    let mut clang = Command::new("clang-19");
    // Atomics as they are written, one for each lane.
    clang
        .args([
            "-x",
            "cl",
            "-cl-std=CL2.0",
            level,
            "-w",
            "-ffp-contract=off",
        ])
        .args([
            "-Xclang",
            "-cl-ext=+__cl_clang_function_pointers",
            "-mcode-object-version=5",
        ])
        .args([
            "-mllvm",
            "-amdgpu-atomic-optimizer-strategy=None",
            "--target=amdgcn-amd-amdhsa",
        ])
        .arg(format!("-mcpu={target}"))
        .arg("--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
        .arg("-I")
        .arg(home)
        .arg(&text_path)
        .arg("-o")
        .arg(&path);
    let output = clang.output();
    let output = output.expect("clang-19 is installed (Debian: clang-19 lld-19 rocm-device-libs)");
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(target, "gfx600", "{}: {message}", of.display());
        println!("{} does not compile for {target}", of.display());
        return None;
    }
    let bytes = std::fs::read(&path).expect("it can be read");
    let object = object::open(&bytes, None).expect("it is a code object");
    let kernels = object.kernels.into_iter().map(|kernel| kernel.name);
    Some(Compiled {
        kernels: kernels.collect(),
        path,
    })
}

/// Manifests with the code objects compiled anew from the sources beside them, without those of assembly and of kernels that a target
/// cannot have; for one target, or all.
pub(super) fn compiled(manifests: &[Manifest], only: Option<&str>) -> Vec<Manifest> {
    let home = folder("levels");
    let mut made = Vec::new();
    for target in TARGETS
        .into_iter()
        .filter(|&target| only.is_none_or(|only| only == target))
    {
        for level in LEVELS {
            let folder = home.join(format!("{target}{level}"));
            std::fs::create_dir_all(&folder).expect("the folder is ours");
            let mut objects: BTreeMap<PathBuf, Option<Compiled>> = BTreeMap::new();
            for manifest in manifests {
                let mut manifest = manifest.clone();
                let mut dispatches = manifest.dispatches.iter_mut();
                let all = dispatches.all(|dispatch| {
                    let of = dispatch.code_object.clone();
                    let object = objects.entry(of.clone());
                    let object = object.or_insert_with(|| compile(&of, &folder, target, level));
                    let object = object.as_ref();
                    let object = object.filter(|object| object.kernels.contains(&dispatch.kernel));
                    if let Some(object) = object {
                        dispatch.code_object = object.path.clone();
                    }
                    object.is_some()
                });
                if all {
                    made.push(manifest);
                }
            }
        }
    }
    made
}
