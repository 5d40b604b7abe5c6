//! The GPU that is chosen by the code in the program and its libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::bundles::compressed;
use super::super::{Outcome, folder};
use super::{exec_in, has};

/// An offload bundle with code for these ids.
fn bundle(ids: &[&str]) -> Vec<u8> {
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    let code = 4096u64;
    bundle.extend((ids.len() as u64).to_le_bytes());
    for id in ids {
        bundle.extend(code.to_le_bytes());
        bundle.extend(8u64.to_le_bytes());
        bundle.extend((id.len() as u64).to_le_bytes());
        bundle.extend(id.as_bytes());
    }
    bundle.resize(code as usize, 0);
    bundle.extend(*b"codecode");
    bundle
}

/// A HIP fat binary for these GPUs.
fn hip(gpus: &[&str]) -> Vec<u8> {
    let ids: Vec<_> = gpus
        .iter()
        .map(|gpu| format!("hipv4-amdgcn-amd-amdhsa--{gpu}"))
        .collect();
    let ids: Vec<&str> = std::iter::once("host-x86_64-unknown-linux--")
        .chain(ids.iter().map(String::as_str))
        .collect();
    bundle(&ids)
}

/// LLVM's offload binary, as linked OpenMP programs have it.
fn offload_binary(arch: &str) -> Vec<u8> {
    let texts = format!("arch\0{arch}\0triple\0amdgcn-amd-amdhsa\0");
    let (entry, strings, text) = (32u64, 72u64, 104u64);
    let value = text + 5;
    let triple = value + arch.len() as u64 + 1;
    let size = (text + texts.len() as u64).next_multiple_of(8);
    let mut binary = b"\x10\xff\x10\xad\x01\0\0\0".to_vec();
    for word in [size, entry, 40, 1 | 1 << 16, strings, 2, size, 0] {
        binary.extend(word.to_le_bytes());
    }
    for word in [text, value, triple, triple + 7] {
        binary.extend(word.to_le_bytes());
    }
    binary.extend(texts.as_bytes());
    binary.resize(size as usize, 0);
    binary
}

/// A program that prints its GPU, or a library, with these bytes in a section. `None` without a C
/// compiler.
struct Build<'a> {
    folder: &'a Path,
    name: &'a str,
    section: Option<(&'a str, Vec<u8>)>,
    options: Vec<String>,
}

impl Build<'_> {
    fn make(self) -> Option<PathBuf> {
        let output = self.folder.join(self.name);
        let source = self.folder.join(format!("{}.c", self.name));
        let mut text = format!(
            "int printf(const char *, ...);\nchar *getenv(const char *);\n\
             int call_{}(void) {{ return 0; }}\n",
            self.name.replace('.', "_")
        );
        if !self.name.ends_with(".so") {
            text += "int main(void) {\n  const char *gpu = getenv(\"WAVELIFT_GPU\");\n  \
                     return printf(\"gpu=%s\\n\", gpu ? gpu : \"\") < 0;\n}\n";
        }
        if let Some((section, bytes)) = self.section {
            let list: Vec<_> = bytes.iter().map(u8::to_string).collect();
            text += &format!(
                "__attribute__((section(\"{section}\"), used))\nconst unsigned char code[] = {{{}}};\n",
                list.join(",")
            );
        }
        std::fs::write(&source, text).expect("it can be written");
        let made = Command::new("cc")
            .arg(&source)
            .arg("-o")
            .arg(&output)
            .args(&self.options)
            .output();
        let Ok(made) = made else {
            eprintln!("SKIPPED, since there is no C compiler");
            return None;
        };
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        Some(output)
    }
}

/// A program with a HIP fat binary for these GPUs, and its folder.
fn program(name: &str, gpus: &[&str]) -> Option<PathBuf> {
    Build {
        folder: &folder(&format!("exec-gpu-{name}")),
        name: "program",
        section: Some((".hip_fatbin", hip(gpus))),
        options: Vec::new(),
    }
    .make()
}

/// Runs it; `None` where `exec` has no library.
fn run(program: &Path, args: &[&str], gpu: &str) -> Option<Outcome> {
    let program = program.to_str().expect("the path is text");
    exec_in(&[args, &[program]].concat(), &[("WAVELIFT_GPU", gpu)])
}

#[test]
fn the_first_gpu_that_the_program_has_code_for_is_chosen() {
    let cases: [(&str, &[&str], &str); 8] = [
        ("generic", &["gfx803", "gfx9-generic"], "gfx906"),
        ("one", &["gfx803"], "gfx803"),
        (
            "order",
            &["gfx700", "gfx803", "gfx908", "gfx90a", "gfx900"],
            "gfx900",
        ),
        ("best", &["gfx1030", "gfx900", "gfx906"], "gfx906"),
        ("data-center", &["gfx803", "gfx908", "gfx90a"], "gfx90a"),
        (
            "settings",
            &["gfx906:sramecc-:xnack-", "gfx900:xnack-"],
            "gfx906",
        ),
        // The GPUs replay no page faults.
        (
            "replay",
            &["gfx906:xnack+", "gfx900:xnack+", "gfx803"],
            "gfx803",
        ),
        (
            "ecc",
            &["gfx906:sramecc+", "gfx908:sramecc+:xnack-"],
            "gfx908",
        ),
    ];
    for (name, gpus, wanted) in cases {
        let Some(program) = program(name, gpus) else {
            return;
        };
        let Some(out) = run(&program, &[], "") else {
            return;
        };
        assert_eq!((out.status, out.stderr.as_str()), (0, ""), "{name}");
        has(&out, &format!("gpu={wanted}"));
    }
}

#[test]
fn code_in_compressed_bundles_counts() {
    let build = Build {
        folder: &folder("exec-gpu-compressed"),
        name: "program",
        section: Some((".hip_fatbin", compressed(&hip(&["gfx1030", "gfx803"])))),
        options: Vec::new(),
    };
    let Some(out) = build.make().and_then(|program| run(&program, &[], "")) else {
        return;
    };
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    has(&out, "gpu=gfx803");
}

#[test]
fn the_option_and_the_variable_decide() {
    let Some(program) = program("decided", &["gfx803"]) else {
        return;
    };
    let Some(out) = run(&program, &[], "gfx900") else {
        return;
    };
    has(&out, "gpu=gfx900");
    let out = run(&program, &["--gpu", "gfx90a"], "gfx900").expect("as before");
    has(&out, "gpu=gfx90a");
}

#[test]
fn code_for_other_gpus_only_is_a_hint() {
    let Some(program) = program("others", &["gfx1030", "gfx1100", "gfx950:xnack-"]) else {
        return;
    };
    let Some(out) = run(&program, &[], "") else {
        return;
    };
    assert_eq!(out.status, 0, "it runs");
    has(&out, "gpu=");
    for part in [
        "wavelift: ",
        "/program has GPU code for gfx1030, gfx1100, gfx950:xnack-, but for none of gfx906, gfx900, ",
        "--offload-arch=gfx906",
    ] {
        assert!(out.stderr.contains(part), "no `{part}` in: {}", out.stderr);
    }
}

#[test]
fn a_program_without_code_says_nothing() {
    let folder = folder("exec-gpu-none");
    let plain = Build {
        folder: &folder,
        name: "plain",
        section: None,
        options: Vec::new(),
    };
    let broken = Build {
        folder: &folder,
        name: "broken",
        section: Some((
            ".hip_fatbin",
            b"__CLANG_OFFLOAD_BUNDLE__\xff\xff\xff\xff".to_vec(),
        )),
        options: Vec::new(),
    };
    for build in [plain, broken] {
        let Some(program) = build.make() else { return };
        let Some(out) = run(&program, &[], "") else {
            return;
        };
        assert_eq!((out.status, out.stderr.as_str()), (0, ""));
        has(&out, "gpu=");
    }
}

#[test]
fn images_of_openmp_count() {
    let binaries = [offload_binary("gfx1030"), offload_binary("gfx90a")].concat();
    let build = Build {
        folder: &folder("exec-gpu-openmp"),
        name: "program",
        section: Some((".llvm.offloading", binaries)),
        options: Vec::new(),
    };
    let Some(program) = build.make() else { return };
    let Some(out) = run(&program, &[], "") else {
        return;
    };
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    has(&out, "gpu=gfx90a");
}

#[test]
fn code_in_libraries_counts() {
    let folder = folder("exec-gpu-libraries");
    let linked = |name: &str, section, libraries: &[&str]| {
        let mut options = vec![
            "-Wl,--no-as-needed".to_owned(),
            format!("-L{}", folder.display()),
            "-Wl,-rpath,$ORIGIN".to_owned(),
        ];
        options.extend(libraries.iter().map(|library| format!("-l:{library}")));
        if name.ends_with(".so") {
            options.extend(["-shared", "-fPIC"].map(str::to_owned));
        }
        Build {
            folder: &folder,
            name,
            section,
            options,
        }
        .make()
    };
    let code = |gpus: &[&str]| Some((".hip_fatbin", hip(gpus)));
    let Some(_) = linked("libone.so", code(&["gfx803", "gfx900"]), &[]) else {
        return;
    };
    linked("libtwo.so", code(&["gfx803", "gfx906"]), &[]);
    linked("libthree.so", None, &["libtwo.so"]);
    for (name, own, libraries, wanted) in [
        ("client", None, &["libone.so"][..], "gfx900"),
        // Through another library.
        ("indirect", None, &["libthree.so"], "gfx906"),
        // What all have.
        ("both", None, &["libone.so", "libthree.so"], "gfx803"),
        (
            "agreed",
            code(&["gfx803", "gfx906"]),
            &["libone.so"],
            "gfx803",
        ),
        // The program's own code decides where they have nothing in common.
        ("own", code(&["gfx90a"]), &["libone.so"], "gfx90a"),
    ] {
        let program = linked(name, own, libraries).expect("as before");
        let Some(out) = run(&program, &[], "") else {
            return;
        };
        assert_eq!((out.status, out.stderr.as_str()), (0, ""), "{name}");
        has(&out, &format!("gpu={wanted}"));
    }
}
