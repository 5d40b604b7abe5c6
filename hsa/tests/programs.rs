//! Real programs: HIP, rocRAND and OpenMP, compiled by Debian's compilers and run, unmodified, on this
//! library. Where the compilers or libraries are missing, the tests say so and pass; with
//! `WAVELIFT_ROCM=required`, as CI sets it, they fail instead.
//!
//! Debian's packages: `hipcc libamdhip64-dev librocrand-dev` and `clang-19 clang-tools-19 lld-19
//! llvm-19 libomp-19-dev rocm-device-libs`.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use findings::Folder;

#[path = "programs/load.rs"]
mod load;

/// The GPUs for which Debian's hipcc makes code that runs here with everything that HIP has.
const GPUS: [&str; 5] = ["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"];

const ABORTED: Option<i32> = Some(6);

/// Where OpenMP's libraries are.
const LLVM: &str = "/usr/lib/llvm-19/lib";

/// Where the bitcode of the device's own functions is.
const BITCODE: &str = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";

/// A folder in which the library has the names that programs look for.
fn library() -> &'static Path {
    static FOLDER: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    FOLDER.get_or_init(|| {
        let own = std::env::current_exe().expect("the test knows where it is");
        let built = own.with_file_name("libhsa_runtime64.so");
        assert!(built.exists(), "Cargo built no {}", built.display());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rocm");
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        for name in ["libhsa-runtime64.so.1", "libhsa-runtime64.so"] {
            let path = folder.join(name);
            let _ = std::fs::remove_file(&path);
            std::os::unix::fs::symlink(&built, path).expect("the link can be made");
        }
        folder
    })
}

/// Can the program be called?
fn there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Is everything there? Says what is not.
fn have(needs: &[&str]) -> bool {
    let missing: Vec<_> = needs
        .iter()
        .filter(|need| match need.starts_with('/') {
            true => !Path::new(need).exists(),
            false => !there(need),
        })
        .collect();
    if missing.is_empty() {
        return true;
    }
    let required = std::env::var("WAVELIFT_ROCM").is_ok_and(|value| value == "required");
    assert!(!required, "missing: {missing:?}");
    // Not `eprintln`, which nobody sees when the test passes.
    let mut stderr = std::io::stderr().lock();
    let _ = writeln!(
        stderr,
        "\nSKIPPED, since there is no {missing:?}: see hsa/tests/programs.rs\n"
    );
    false
}

/// Compiles a program, once for all tests.
fn build(source: &str, name: &str, compiler: &str, options: &[&str]) -> PathBuf {
    static BUILDING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let source = folder.join(source);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut built = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let age = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let sources = [&source, &folder.join("check.h"), &PathBuf::from(file!())];
    let newest = sources.iter().filter_map(|path| age(path)).max();
    if built.contains(&program) || age(&program).is_some_and(|age| Some(age) > newest) {
        return program;
    }
    let output = Command::new(compiler)
        .args(options)
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output()
        .expect("the compiler was found before");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", source.display());
    built.insert(program.clone());
    program
}

/// Compiles a HIP program for these GPUs.
fn hip(source: &str, gpus: &[&str], more: &[&str]) -> Option<PathBuf> {
    if !have(&["hipcc"]) {
        return None;
    }
    let archs: Vec<_> = gpus
        .iter()
        .map(|gpu| format!("--offload-arch={gpu}"))
        .collect();
    let mut options: Vec<_> = archs.iter().map(String::as_str).collect();
    options.push("-O2");
    // hipcc wants libraries behind the source; the linker does not mind them before.
    options.extend(more);
    let name = format!("{}.{}", source.replace('.', "_"), gpus.join("-"));
    Some(build(source, &name, "hipcc", &options))
}

/// Runs a program on the library.
fn run(program: &Path, gpu: &str, arguments: &[&str]) -> Output {
    run_with(program, gpu, arguments, &[])
}

/// The same with variables in the environment.
fn run_with(program: &Path, gpu: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = command(program, gpu);
    let command = command.args(arguments).envs(variables.iter().copied());
    command.output().expect("the program was built")
}

/// A command that runs a program on the library.
fn command(program: impl AsRef<OsStr>, gpu: &str) -> Command {
    let mut command = Command::new(program);
    command
        .env("LD_LIBRARY_PATH", format!("{}:{LLVM}", library().display()))
        .env("OMP_TARGET_OFFLOAD", "MANDATORY")
        .env("WAVELIFT_GPU", gpu);
    command
}

/// Runs a program that must end well; what it printed.
fn good(program: &Path, gpu: &str, arguments: &[&str]) -> String {
    let output = run(program, gpu, arguments);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr);
    let name = program.display();
    assert!(
        output.status.success(),
        "{name} on {gpu}: {}\n{out}{err}",
        output.status
    );
    assert!(
        out.ends_with("all is well\n"),
        "{name} on {gpu}:\n{out}{err}"
    );
    out
}

#[test]
fn vectors_add_up_on_every_gpu() {
    if let Some(program) = hip("vector_add.hip", &GPUS, &[]) {
        for gpu in GPUS {
            let out = good(&program, gpu, &[]);
            assert!(out.starts_with(gpu), "{gpu}: {out}");
        }
    }
    // HIP 5.2 takes one gfx7 or several others.
    for source in ["vector_add.hip", "kernels.hip", "streams.hip"] {
        if let Some(program) = hip(source, &["gfx700"], &[]) {
            good(&program, "gfx700", &[]);
        }
    }
}

#[test]
fn all_kinds_of_memory() {
    if let Some(program) = hip("memory.hip", &["gfx803", "gfx906"], &[]) {
        good(&program, "gfx803", &[]);
        good(&program, "gfx906", &[]);
    }
}

#[test]
fn variables_and_lds() {
    if let Some(program) = hip("kernels.hip", &["gfx900", "gfx906"], &[]) {
        good(&program, "gfx900", &[]);
        good(&program, "gfx906", &[]);
    }
}

#[test]
fn streams_events_callbacks_and_threads() {
    if let Some(program) = hip("streams.hip", &["gfx906", "gfx90a"], &[]) {
        good(&program, "gfx906", &[]);
        good(&program, "gfx90a", &[]);
    }
}

#[test]
fn textures_and_surfaces() {
    if let Some(program) = hip("images.hip", &["gfx803", "gfx906"], &[]) {
        good(&program, "gfx803", &[]);
        good(&program, "gfx906", &[]);
    }
}

/// The names that a library exports.
fn names(library: &Path) -> BTreeSet<String> {
    let output = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library)
        .output();
    let text = output.expect("nm was found before").stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    let name = |line: &str| Some(line.split_whitespace().nth(2)?.to_owned());
    // The version itself is a name to some linkers only.
    let versioned = |name: &String| name.contains('@');
    text.lines().filter_map(name).filter(versioned).collect()
}

#[test]
fn what_the_real_library_exports_is_here() {
    const REAL: &str = "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1";
    if have(&["nm", REAL]) {
        let (own, real) = (
            names(&library().join("libhsa-runtime64.so.1")),
            names(Path::new(REAL)),
        );
        assert!(real.contains("hsa_init@@ROCR_1"), "{real:?}");
        let missing: Vec<_> = real.difference(&own).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

#[test]
fn launches_and_copies_can_be_measured() {
    if let Some(program) = hip("speed.hip", &["gfx906"], &[]) {
        good(&program, "gfx906", &[]);
    }
}

#[test]
fn two_processes_share_memory() {
    if let Some(program) = hip("share.hip", &["gfx906"], &[]) {
        good(&program, "gfx906", &[]);
    }
}

#[test]
fn the_host_keeps_its_floating_point_environment() {
    if let Some(program) = hip("environment.hip", &["gfx900", "gfx906"], &[]) {
        for mode in ["default", "flush", "upward", "trap"] {
            good(&program, "gfx900", &[mode]);
            good(&program, "gfx906", &[mode]);
        }
    }
}

#[test]
fn graphs_and_waits_for_values() {
    if let Some(program) = hip("features.hip", &["gfx900", "gfx906"], &[]) {
        good(&program, "gfx900", &[]);
        good(&program, "gfx906", &[]);
    }
}

#[test]
fn cooperative_launches() {
    if let Some(program) = hip("cooperative.hip", &["gfx906", "gfx90a"], &[]) {
        for gpu in ["gfx906", "gfx90a"] {
            let out = good(&program, gpu, &[]);
            assert!(out.starts_with("one device, all devices\n"), "{out}");
        }
    }
}

#[test]
fn the_device_prints() {
    let Some(program) = hip("talk.hip", &["gfx900", "gfx906"], &[]) else {
        return;
    };
    for gpu in ["gfx900", "gfx906"] {
        let out = good(&program, gpu, &["print"]);
        let lines: BTreeSet<_> = out.lines().collect();
        for block in 0..20 {
            for thread in 0..64 {
                let number = f64::from(thread) * 0.5;
                let line = format!("block {block} thread {thread} says hello {number:.2}");
                assert!(lines.contains(line.as_str()), "{gpu}: no `{line}`");
            }
        }
        assert_eq!(out.lines().count(), 2 * 3 + 20 * 64 + 1);
    }
}

#[test]
fn the_device_stops_the_program() {
    let Some(program) = hip("talk.hip", &["gfx900", "gfx906"], &[]) else {
        return;
    };
    let stop = |what: &str, parts: &[&str]| {
        let output = run(&program, "gfx906", &[what]);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert_eq!(output.status.signal(), ABORTED, "{what}: {text}");
        for part in parts {
            assert!(text.contains(part), "{what}: no `{part}` in:\n{text}");
        }
    };
    stop(
        "assert",
        &[
            "Device-side assertion `(int)threadIdx.x < n",
            "HSA_STATUS_ERROR_EXCEPTION",
        ],
    );
    stop(
        "abort",
        &["stopped at trap 2", "HSA_STATUS_ERROR_EXCEPTION"],
    );
    stop(
        "wild",
        &[
            "lane 7 wrote 4 bytes at 0xdead001c",
            "store_dword",
            "store_wildly",
            "grid [64, 1, 1] in workgroups of [64, 1, 1]",
            "packet 0 of queue",
            "HSA_STATUS_ERROR_MEMORY_FAULT",
        ],
    );
}

#[test]
fn a_time_limit_ends_the_program() {
    let Some(program) = hip("talk.hip", &["gfx900", "gfx906"], &[]) else {
        return;
    };
    let variables = [("WAVELIFT_TIMEOUT", "0.5"), ("WAVELIFT_STATS", "1")];
    let output = run_with(&program, "gfx900", &["wait"], &variables);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), ABORTED, "{text}");
    for part in [
        "was still running after 0.5 s, the time limit of the dispatch",
        "kernel _Z13wait_for_everPVi",
        "HSA_STATUS_ERROR_EXCEPTION",
        "wavelift: launches  workgroups",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

#[test]
fn random_numbers_are_the_same_everywhere() {
    if !have(&["/usr/include/rocrand/rocrand.h"]) {
        return;
    }
    let Some(program) = hip("random.hip", &GPUS, &["-lrocrand"]) else {
        return;
    };
    let expected = good(&program, GPUS[0], &[]);
    for gpu in &GPUS[1..] {
        assert_eq!(good(&program, gpu, &[]), expected, "{gpu}");
    }
}

/// Compiles the OpenMP program for a GPU.
fn openmp(gpu: &str) -> Option<PathBuf> {
    let device = format!("{LLVM}/libomptarget-amdgpu-gfx906.bc");
    if !have(&["clang-19", "clang-linker-wrapper-19", BITCODE, &device]) {
        return None;
    }
    let march = format!("-march={gpu}");
    let bitcode = format!("--rocm-device-lib-path={BITCODE}");
    let options = [
        "-O2",
        "-fopenmp",
        "-fopenmp-targets=amdgcn-amd-amdhsa",
        "-Xopenmp-target=amdgcn-amd-amdhsa",
        &march,
        &bitcode,
    ];
    let name = format!("offload.{gpu}");
    Some(build("offload.c", &name, "clang-19", &options))
}

#[test]
fn openmp_regions_agree_with_the_host() {
    for gpu in ["gfx803", "gfx906", "gfx90a"] {
        if let Some(program) = openmp(gpu) {
            good(&program, gpu, &[]);
        }
    }
}

#[test]
fn the_sanitizer_finds_nothing_in_openmp_regions() {
    let Some(program) = openmp("gfx906") else {
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sanitize-openmp");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("the folder can be made");
    let path = folder.to_str().expect("the path is text");
    let output = run_with(&program, "gfx906", &[], &[("WAVELIFT_SANITIZE", path)]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {err}", output.status);
    let processes = Folder::new(folder).processes().expect("they were written");
    let [process] = &processes[..] else {
        panic!("{processes:?}")
    };
    assert!(process.launched() > 5, "{process:?}");
    assert_eq!(process.findings, []);
}

#[test]
fn a_program_for_another_gpu_finds_no_kernel() {
    if let Some(program) = hip("kernels.hip", &["gfx900", "gfx906"], &[]) {
        let output = run(&program, "gfx803", &[]);
        assert!(!output.status.success());
        let output = run(&program, "gfx1030", &[]);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(
            err.contains("WAVELIFT_GPU=gfx1030: expected gfx700"),
            "{err}"
        );
    }
}
