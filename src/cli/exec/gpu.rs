//! The GPU for a program that names none: one for which it has code.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use runtime::object::TargetId;

use super::device_code::HostFile;
use super::start::say;

/// The GPUs in the order of preference, and whether code that depends on error correction of memory
/// must be compiled with it. They are those of `hsa/src/config.rs`.
const GPUS: [(&str, Option<bool>); 7] = [
    ("gfx906", Some(false)),
    ("gfx900", None),
    ("gfx90a", Some(true)),
    ("gfx942", Some(true)),
    ("gfx908", Some(true)),
    ("gfx803", None),
    ("gfx700", None),
];

/// Their names in alphabetical order.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = GPUS.iter().map(|gpu| gpu.0).collect();
    names.sort_unstable();
    names
}

/// The file that runs when this program is called.
pub(super) fn find_program(name: &OsStr) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(name.into());
    }
    let runs = |path: &PathBuf| {
        let data = path.metadata();
        data.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    let folders = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/bin:/usr/bin"));
    let mut paths = std::env::split_paths(&folders).map(|folder| folder.join(name));
    paths.find(runs)
}

/// Targets of the code in a file.
struct Code {
    file: PathBuf,
    targets: Vec<TargetId>,
}

/// The GPU for which a program or its libraries have code. If they have code for others only, the
/// user is told; if they have none, the program may load it at run time, and nothing is printed.
pub(super) fn infer(program: &Path, library_path: &OsStr) -> Option<&'static str> {
    let host = HostFile::open(program)?;
    let own = host.targets();
    let libraries = host.libraries(program, library_path).into_iter();
    let of_libraries = libraries.map(|file| {
        let targets = HostFile::open(&file).map(|file| file.targets());
        (file, targets.unwrap_or_default())
    });
    let all: Vec<Code> = std::iter::once((program.to_owned(), own))
        .chain(of_libraries)
        .filter(|(_, targets)| !targets.is_empty())
        .map(|(file, targets)| Code { file, targets })
        .collect();
    let chosen = choose(program, &all);
    if chosen.is_none() && !all.is_empty() {
        hint(&all);
    }
    chosen
}

/// The first GPU for which the program itself has code (any file, if the program has none); rather
/// one for which all files with code have some.
fn choose(program: &Path, all: &[Code]) -> Option<&'static str> {
    let own: Vec<&Code> = all.iter().filter(|code| code.file == program).collect();
    let has = |code: &Code, gpu: &(&str, Option<bool>)| {
        code.targets.iter().any(|target| suits(target, gpu))
    };
    let everywhere = |gpu: &&(&str, Option<bool>)| all.iter().all(|code| has(code, gpu));
    let somewhere = |gpu: &&(&str, Option<bool>)| match own.is_empty() {
        true => all.iter().any(|code| has(code, gpu)),
        false => own.iter().any(|code| has(code, gpu)),
    };
    let both = GPUS.iter().find(|gpu| somewhere(gpu) && everywhere(gpu));
    both.or_else(|| GPUS.iter().find(somewhere))
        .map(|gpu| gpu.0)
}

/// Is it code that the GPU loads?
fn suits(target: &TargetId, (name, ecc): &(&str, Option<bool>)) -> bool {
    target.runs_on(name)
        && target.xnack != Some(true)
        && (target.sramecc.is_none() || ecc.is_none() || target.sramecc == *ecc)
}

/// Tells for which GPUs there is code.
fn hint(all: &[Code]) {
    let gpus: Vec<_> = GPUS.iter().map(|gpu| gpu.0).collect();
    let mut names = BTreeSet::new();
    for code in all {
        names.extend(code.targets.iter().map(TargetId::to_string));
    }
    let names: Vec<_> = names.into_iter().collect();
    let files: Vec<_> = all
        .iter()
        .map(|code| code.file.display().to_string())
        .collect();
    say(format_args!(
        "{} has GPU code for {}, but for none of {}: the program may find no kernel. Build it for one of these: \
         hipcc --offload-arch=gfx906 (with clang and OpenMP: -march=gfx906)",
        files.join(", "),
        names.join(", "),
        gpus.join(", "),
    ));
}
