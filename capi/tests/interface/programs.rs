//! Programs in C and C++ against the header and the libraries that Cargo has built, shared and static:
//! those of `examples/c`, and the commands of `docs/c.md`. Where there is no compiler the tests say so
//! and pass.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use documents::{Page, Session};

use crate::support::root;

/// What the static library of Rust programs needs.
const SYSTEM: [&str; 6] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];

/// Are the programs there? Says what is not.
fn have(programs: &[&str]) -> bool {
    let there = |program: &&&str| Command::new(program).arg("--version").output().is_ok();
    let missing: Vec<_> = programs.iter().filter(|program| !there(program)).collect();
    if missing.is_empty() {
        return true;
    }
    // Not `eprintln`, which nobody sees when the test passes.
    let mut stderr = std::io::stderr().lock();
    let _ = writeln!(
        stderr,
        "\nSKIPPED: programs of C, since there is no {missing:?}\n"
    );
    false
}

/// The folder with the built libraries.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    // PROFILE/deps/interface-HASH
    let folder = test.ancestors().nth(2).unwrap().join("c");
    for name in ["libwavelift.so", "libwavelift.so.1", "libwavelift.a"] {
        let path = folder.join(name);
        assert!(path.exists(), "Cargo built no {}", path.display());
    }
    folder
}

fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{out}{err}",
        output.status
    );
    output
}

/// Compiles a program of `examples/c`.
fn compile(source: &str, program: &Path, link: impl FnOnce(&mut Command)) {
    let (compiler, standard) = match source.ends_with(".cpp") {
        true => ("c++", "-std=c++17"),
        false => ("cc", "-std=c11"),
    };
    let mut command = Command::new(compiler);
    command.args([
        standard,
        "-O1",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-I",
    ]);
    command.arg(root().join("include"));
    command.arg(root().join("examples/c").join(source));
    command.arg("-o").arg(program);
    link(&mut command);
    run(&mut command);
}

/// Runs a program of `examples/c` in the workspace's folder.
fn output(program: &Path) -> String {
    let mut command = Command::new(program);
    command.current_dir(root());
    // Its path is in the program (`-rpath`).
    command.env_remove("LD_LIBRARY_PATH");
    String::from_utf8(run(&mut command).stdout).unwrap()
}

fn shared(source: &str) -> String {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c-shared-{source}.bin"));
    let libraries = libraries();
    compile(source, &program, |command| {
        command.arg("-L").arg(&libraries).arg("-lwavelift");
        command.arg(format!("-Wl,-rpath,{}", libraries.display()));
    });
    output(&program)
}

fn linked_statically(source: &str) -> String {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c-static-{source}.bin"));
    compile(source, &program, |command| {
        command.arg(libraries().join("libwavelift.a")).args(SYSTEM);
    });
    let output = output(&program);
    // It is large.
    std::fs::remove_file(program).unwrap();
    output
}

#[test]
fn saxpy() {
    if !have(&["cc"]) {
        return;
    }
    for output in [shared("saxpy.c"), linked_statically("saxpy.c")] {
        let engines: &[&str] = if cfg!(feature = "jit") {
            &["jit", "interp"]
        } else {
            &["interp"]
        };
        let mut rest = &*output;
        for engine in engines {
            let (kernel, after) = rest.split_once('\n').unwrap();
            assert!(
                kernel.starts_with("saxpy: ")
                    && kernel.ends_with(" 0 bytes of LDS, 0 bytes of scratch"),
                "{kernel}"
            );
            let expected = format!(
                "  0: float*, global_buffer, 8 bytes at 0\n  1: float*, global_buffer, 8 bytes at 8\n  \
                 2: float, by_value, 4 bytes at 16\n  3: uint, by_value, 4 bytes at 20\n\
                 {engine}: 4 workgroups of 16 waves in all\ny[999] = 1999\n"
            );
            rest = after
                .strip_prefix(&*expected)
                .unwrap_or_else(|| panic!("{output}"));
        }
        assert_eq!(rest, "");
    }
}

#[test]
fn fault() {
    if !have(&["cc"]) {
        return;
    }
    let output = shared("fault.c");
    let lines: Vec<_> = output.lines().collect();
    let [
        status,
        kind,
        kernel,
        instruction,
        workgroup,
        exec,
        access,
        disassembly,
        second,
    ] = lines[..]
    else {
        panic!("{output}");
    };
    assert_eq!(status, "status       fault");
    assert_eq!(kind, "kind         memory");
    assert_eq!(kernel, "kernel       saxpy");
    assert!(
        instruction.starts_with("instruction  global_load_dword v"),
        "{instruction}"
    );
    assert_eq!(workgroup, "workgroup    0, wave 1, lane 36");
    assert_eq!(exec, "EXEC         0xffffffffffffffff");
    assert_eq!(
        access,
        "access       read of 4 bytes, 400 bytes from the beginning of y"
    );
    assert!(
        disassembly.contains(&instruction["instruction  ".len()..]),
        "{disassembly}"
    );
    assert_eq!(second, "the second launch is good");
}

#[test]
fn streams() {
    if !have(&["cc"]) {
        return;
    }
    let expected = "10 * 1 + 4 * 5 = 30, 256 workgroups; the other stream is done: 1\n\
                    after 50 ms: not done\n\
                    cancelled: cancelled: kernel mandelbrot was cancelled\n\
                    next launch: not run\n\
                    time limit: fault: timeout in kernel mandelbrot\n";
    assert_eq!(shared("streams.c"), expected);
}

#[test]
fn reduction_in_cpp() {
    if !have(&["c++"]) {
        return;
    }
    for output in [shared("reduction.cpp"), linked_statically("reduction.cpp")] {
        let (sum, error) = output.split_once('\n').unwrap();
        assert_eq!(sum, "1 + 2 + ... + 10007 = 50075028");
        assert!(
            error.starts_with("bad launch: kernel `reduce_sum`, argument 2 "),
            "{error}"
        );
    }
}

/// No example is forgotten.
#[test]
fn all_examples_are_run() {
    let mut names: Vec<_> = std::fs::read_dir(root().join("examples/c"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["fault.c", "reduction.cpp", "saxpy.c", "streams.c"]);
}

/// The shared library has the names of the header only, which no other library can disturb.
#[test]
fn the_library_exports_the_interface_only() {
    if !have(&["nm"]) {
        return;
    }
    let library = libraries().join("libwavelift.so");
    let output = run(Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library));
    let names = String::from_utf8(output.stdout).unwrap();
    let header = std::fs::read_to_string(root().join("include/wavelift.h")).unwrap();
    let mut count = 0;
    for name in names.lines().filter_map(|line| line.split(' ').next_back()) {
        assert!(header.contains(&format!("{name}(")), "{name}");
        count += 1;
    }
    assert!(count >= 50, "{count}");
}

/// The tutorial's commands, with the libraries that Cargo has built.
#[test]
fn the_tutorial_is_true() {
    if !have(&["cc", "c++", "pkg-config"]) {
        return;
    }
    let page = Page::read(&root(), "docs/c.md").unwrap();
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-tutorial");
    let session = Session::new(home, &root(), &["capi", "examples"]).unwrap();
    let session = session.variable("WAVELIFT_C_LIBRARIES", libraries());
    let number = session.run(&page);
    let number = number.unwrap_or_else(|problems| panic!("{}", documents::list(&problems)));
    assert!(number >= 10, "{number}");

    let installed = session.home().join("wavelift/lib/pkgconfig");
    let mut command = Command::new("pkg-config");
    command.args(["--modversion", "wavelift"]);
    let output = run(command.env("PKG_CONFIG_PATH", installed));
    let version = concat!(env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), version);
    // It is large.
    std::fs::remove_dir_all(session.home()).unwrap();
}
