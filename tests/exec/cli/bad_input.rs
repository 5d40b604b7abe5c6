//! Bad input: nothing runs, the message says what is wrong and where, the status is 2.

use super::{file, folder, root, wavelift};

/// The manifest of a dispatch of saxpy with other lines; `code_object` is a path.
fn saxpy(code_object: &str, kernel: &str, shape: &str, args: &str) -> String {
    format!(
        "[buffers]\nx = {{ type = \"f32\", count = 64 }}\n\n[[dispatch]]\ncode_object = {code_object:?}\n\
         kernel = {kernel:?}\n{shape}\nargs = [{args}]\n"
    )
}

const SHAPE: &str = "grid = [64]\nworkgroup = [64]";
const ARGS: &str = "\"@x\", \"@x\", { f32 = 2.5 }, { u32 = 64 }";

/// The message about a manifest, without the manifest's path.
fn error(name: &str, text: &str) -> String {
    let manifest = file(&folder(&format!("bad-{name}")), "m.toml", text);
    for command in ["run", "diff", "bench"] {
        let mut args = vec![command, manifest.as_str()];
        if command != "diff" {
            args.extend(["--engine", "interp"]);
        }
        let run = wavelift(&args);
        // A build without the translator has no `diff`.
        if run.stderr.contains("this build has no translator") {
            continue;
        }
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (2, ""),
            "{command}: {}",
            run.stderr
        );
        if command == "run" {
            let home = manifest.trim_end_matches("m.toml");
            let project = format!("{}/", root().display());
            let text = run.stderr.replace(home, "").replace(&project, "");
            return text
                .strip_prefix("error: ")
                .expect("it is an error")
                .trim_end()
                .to_owned();
        }
    }
    unreachable!("run is among the commands")
}

fn example(name: &str) -> String {
    root().join("examples").join(name).display().to_string()
}

/// The message about a dispatch of saxpy.
fn saxpy_error(name: &str, kernel: &str, shape: &str, args: &str) -> String {
    error(
        name,
        &saxpy(&example("saxpy/saxpy.gfx900.co"), kernel, shape, args),
    )
}

#[test]
fn unknown_keys_and_missing_files() {
    let text = saxpy(&example("saxpy/saxpy.gfx900.co"), "saxpy", SHAPE, ARGS);
    assert_eq!(
        error("key", &text.replace("grid", "gird")),
        "m.toml:7: dispatch[0].gird: unknown key `gird`; known here: code_object, code_address, kernel, \
         grid, workgroup, global_offset, dynamic_lds, stack, gws, repeat, args, kernarg"
    );
    assert_eq!(
        error(
            "file",
            &text.replace("type = \"f32\", count = 64", "file = \"none.npy\"")
        ),
        "m.toml:2: buffers.x.file: cannot read none.npy: No such file or directory (os error 2)"
    );
    assert_eq!(
        error("object", &saxpy("none.co", "saxpy", SHAPE, ARGS)),
        "m.toml:5: dispatch[0].code_object: cannot read none.co: No such file or directory (os error 2)"
    );
    let missing = wavelift(&["run", "none.toml"]);
    assert_eq!(missing.status, 2);
    assert_eq!(
        missing.stderr,
        "error: none.toml: cannot be read: No such file or directory (os error 2)\n"
    );
}

#[test]
fn kernels_that_are_not_there() {
    assert_eq!(
        saxpy_error("kernel", "saxpi", SHAPE, ARGS),
        "m.toml:6: dispatch[0].kernel: examples/saxpy/saxpy.gfx900.co: no kernel `saxpi`; the code object has \
         saxpy"
    );
}

#[test]
fn wrong_arguments() {
    let message = |name, args| saxpy_error(name, "saxpy", SHAPE, args);
    assert_eq!(
        message("few", "\"@x\", \"@x\", { f32 = 2.5 }"),
        "m.toml:9: dispatch[0].args: kernel `saxpy` takes 4 arguments, but 3 are given"
    );
    assert_eq!(
        message(
            "many",
            "\"@x\", \"@x\", { f32 = 2.5 }, { u32 = 64 }, { u32 = 1 }"
        ),
        "m.toml:9: dispatch[0].args: kernel `saxpy` takes 4 arguments, but 5 are given"
    );
    assert_eq!(
        message("size", "\"@x\", \"@x\", { f64 = 2.5 }, { u32 = 64 }"),
        "m.toml:9: dispatch[0].args[2]: kernel `saxpy`, argument 2 (float): takes 4 bytes, but 8 are given"
    );
    assert_eq!(
        message(
            "hex",
            "\"@x\", \"@x\", { f32 = 2.5 }, { hex = \"0011223344\" }"
        ),
        "m.toml:9: dispatch[0].args[3]: kernel `saxpy`, argument 3 (uint): takes 4 bytes, but 5 are given"
    );
    assert_eq!(
        message("pointer", "\"@x\", \"@x\", \"@x\", { u32 = 64 }"),
        "m.toml:9: dispatch[0].args[2]: kernel `saxpy`, argument 2 (float): takes a value, but a pointer is given"
    );
    assert_eq!(
        message("value", "\"@x\", { u64 = 0 }, { f32 = 2.5 }, { u32 = 64 }"),
        "m.toml:9: dispatch[0].args[1]: kernel `saxpy`, argument 1 (float*): takes a pointer, but a value of 8 \
         bytes is given"
    );
    assert_eq!(
        message(
            "local",
            "\"@x\", { local = 64 }, { f32 = 2.5 }, { u32 = 64 }"
        ),
        "m.toml:9: dispatch[0].args[1]: kernel `saxpy`, argument 1 (float*): takes a pointer, but a size of LDS is \
         given"
    );
    assert_eq!(
        message("type", "\"@x\", \"@x\", { i32 = 2 }, { u32 = 64 }"),
        "m.toml:9: dispatch[0].args[2]: kernel `saxpy` takes (float) here, not i32; write { f32 = ... }"
    );
    assert_eq!(
        message("type", "\"@x\", \"@x\", { f32 = 2.5 }, { f32 = 64 }"),
        "m.toml:9: dispatch[0].args[3]: kernel `saxpy` takes (uint) here, not f32; write { i32 = ... }"
    );
    assert_eq!(
        message("buffer", "\"@x\", \"@y\", { f32 = 2.5 }, { u32 = 64 }"),
        "m.toml:9: dispatch[0].args[1]: unknown buffer `y`; known are x"
    );
}

#[test]
fn wrong_shapes() {
    let message = |name, shape| saxpy_error(name, "saxpy", shape, ARGS);
    assert_eq!(
        message("zero", "grid = [0]\nworkgroup = [64]"),
        "m.toml:7: dispatch[0].grid[0]: 0 is outside 1 to 4294967295"
    );
    assert_eq!(
        message("large", "grid = [4096]\nworkgroup = [1025]"),
        "m.toml:8: dispatch[0].workgroup[0]: 1025 is outside 1 to 1024"
    );
    assert_eq!(
        message("product", "grid = [64, 64]\nworkgroup = [64, 17]"),
        "m.toml:8: dispatch[0].workgroup: a workgroup of 64 x 17 x 1 = 1088 work-items; the most is 1024"
    );
    assert_eq!(
        message("limit", "grid = [4096]\nworkgroup = [257]"),
        "m.toml:8: dispatch[0].workgroup: kernel saxpy was compiled for workgroups of at most 256 work-items; \
         (257, 1, 1) has 257"
    );
}

#[test]
fn a_workgroup_size_that_the_kernel_demands() {
    let text = saxpy(
        &example("pointers/pointers.gfx900.co"),
        "pointers",
        SHAPE,
        "\"@x\", \"@x\", { local = 512 }, { u32 = 1 }",
    );
    assert_eq!(
        error("required", &text),
        "m.toml:8: dispatch[0].workgroup: kernel pointers was compiled for workgroups of exactly (128, 1, 1), not \
         (64, 1, 1)"
    );
    let text = text.replace("[64]\nworkgroup = [64]", "[128]\nworkgroup = [128]");
    assert_eq!(
        error("lds", &text.replace("local = 512", "local = 65536")),
        "m.toml:4: dispatch[0]: kernel pointers needs 4096 bytes of LDS and the launch adds 65536; a workgroup of \
         gfx900 has at most 65536"
    );
}

#[test]
fn code_objects_that_cannot_be_loaded() {
    let home = folder("bad-objects");
    let whole = std::fs::read(root().join("examples/saxpy/saxpy.gfx900.co")).expect("it is there");
    let mut rdna = whole.clone();
    rdna[48] = 0x36;
    let mut nobody = whole.clone();
    nobody[48] = 0x27;
    let host = std::env::current_exe()
        .and_then(std::fs::read)
        .expect("tests are programs");
    let cases: [(&str, &[u8], &str); 7] = [
        (
            "truncated.co",
            &whole[..40],
            "the ELF header at offset 0x0 needs 64 bytes, but the file ends at 0x28: truncated or damaged",
        ),
        (
            "cut.co",
            &whole[..whole.len() / 2],
            "section headers: Invalid ELF section header offset/size/alignment",
        ),
        (
            "empty.co",
            &[],
            "the file begins with nothing, which is no code object; expected an amdgcn ELF, a host ELF with a .hip_fatbin section or a clang offload bundle",
        ),
        (
            "text.co",
            b"kernel void",
            "the file begins with 6b 65 72 6e 65 6c 20 76, which is no code object; expected an amdgcn ELF, a host ELF with a .hip_fatbin section or a clang offload bundle",
        ),
        (
            "host.co",
            &host,
            "and has no .hip_fatbin section, so no device code",
        ),
        (
            "rdna.co",
            &rdna,
            "unsupported target gfx1030; supported are gfx600, gfx700, gfx803, gfx900, gfx906, gfx908, gfx90a, gfx942 and their siblings with the same instructions",
        ),
        ("nobody.co", &nobody, "name no known processor"),
    ];
    for (name, bytes, message) in cases {
        let path = file(&home, name, bytes);
        let manifest = file(&home, "m.toml", saxpy(&path, "saxpy", SHAPE, ARGS));
        for args in [
            vec!["run", &manifest, "--engine", "interp"],
            vec!["info", &path],
            vec!["disasm", &path],
        ] {
            let run = wavelift(&args);
            assert_eq!(
                (run.status, run.stdout.as_str()),
                (2, ""),
                "{args:?}: {}",
                run.stderr
            );
            let start = match args[0] {
                "run" => format!("error: {manifest}:5: dispatch[0].code_object: {path}: "),
                _ => format!("error: {path}: "),
            };
            let stderr = run.stderr.trim_end();
            assert!(
                stderr.starts_with(&start) && stderr.ends_with(message),
                "{args:?}: {stderr}"
            );
        }
    }
    // The target must be in the file.
    let run = wavelift(&[
        "run",
        "examples/saxpy/saxpy.gfx900.toml",
        "--engine",
        "interp",
        "--target",
        "gfx906",
    ]);
    assert_eq!(run.status, 2);
    assert_eq!(
        run.stderr,
        "error: examples/saxpy/saxpy.gfx900.toml:11: dispatch[0].code_object: examples/saxpy/saxpy.gfx900.co: no \
         code object for gfx906; the file has amdgcn-amd-amdhsa--gfx900\n"
    );
}

#[test]
fn wrong_options() {
    let manifest = "examples/saxpy/saxpy.gfx900.toml";
    let cases: [(&[&str], &str); 4] = [
        (
            &["--engine", "fast"],
            "invalid value 'fast' for '--engine <ENGINE>'",
        ),
        (&["--timeout", "0"], "0 is no positive number of seconds"),
        (&["--timeout", "soon"], "`soon` is no number of seconds"),
        (
            &["--frobnicate"],
            "unexpected argument '--frobnicate' found",
        ),
    ];
    for (options, message) in cases {
        let run = wavelift(&[&["run", manifest], options].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{options:?}");
        assert!(run.stderr.contains(message), "{options:?}: {}", run.stderr);
    }
}

#[test]
fn foreign_text_is_cut_and_escaped() {
    let long = "k".repeat(1000);
    let text = format!("{long} = 1\n");
    let message = error("long-key", &text);
    assert!(
        message.contains(&format!(
            ": unknown key `{}... (800 more characters)`; known here: memory, buffers, ",
            "k".repeat(200)
        )),
        "{message}"
    );
    assert!(message.len() < 600, "{message}");
    let message = error("escape", "\"a\\u001b[31m\" = 1\n");
    assert!(message.contains("`a\\u{1b}[31m`"), "{message}");
    // The header of a .npy file is foreign text, too.
    let home = folder("bad-header");
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    let dict = format!("{{'descr': '{}\x1b[2J', }}\n", "z".repeat(5000));
    npy.extend((dict.len() as u16).to_le_bytes());
    npy.extend(dict.bytes());
    file(&home, "x.npy", npy);
    let manifest = file(
        &home,
        "m.toml",
        "[buffers]\nx = { file = \"x.npy\" }\n[[dispatch]]\n",
    );
    let run = wavelift(&["run", &manifest, "--engine", "interp"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("m.toml:2: buffers.x.file: ")
            && run.stderr.contains("not a .npy file: "),
        "{}",
        run.stderr
    );
    assert!(
        !run.stderr.contains('\x1b') && run.stderr.len() < 800,
        "{}",
        run.stderr
    );
}

#[test]
fn a_key_that_is_there_twice_is_named() {
    let message = error("twice", "[buffers]\nx = { bytes = 4 }\nx = { bytes = 8 }\n");
    assert_eq!(message, "m.toml:3: not TOML: duplicate key `x`");
}

#[test]
#[cfg(unix)]
fn devices_pipes_and_large_texts_are_refused() {
    let message = error("device", "[buffers]\nx = { file = \"/dev/zero\" }\n");
    assert_eq!(
        message,
        "m.toml:2: buffers.x.file: cannot read /dev/zero: it is no regular file but a device, pipe or socket; write its contents to a file first"
    );
    let home = folder("devices");
    std::os::unix::fs::symlink("/dev/zero", home.join("zero.bin")).expect("a link can be made");
    let fifo = home.join("fifo.npy");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("there is mkfifo").success());
    for name in ["zero.bin", "fifo.npy"] {
        let text = format!("[buffers]\nx = {{ file = {:?} }}\n", home.join(name));
        let message = error("device-file", &text);
        assert!(
            message.ends_with("it is no regular file but a device, pipe or socket; write its contents to a file first"),
            "{message}"
        );
    }
    let run = wavelift(&["run", "/dev/zero"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .starts_with("error: /dev/zero: cannot be read: it is no regular file"),
        "{}",
        run.stderr
    );
    let values = "1, ".repeat(3 << 20);
    let text = format!("[buffers]\nx = {{ type = \"u8\", values = [{values}] }}\n");
    let message = error("large", &text);
    assert!(
        message.ends_with("are too many for a manifest, which has at most 8388608; put large arrays into .npy files: { file = \"x.npy\" }"),
        "{message}"
    );
}

#[test]
fn numbers_of_options_are_named() {
    let message = |option: &str, value: &str| {
        let run = wavelift(&["run", "examples/saxpy/saxpy.gfx900.toml", option, value]);
        assert_eq!(run.status, 2);
        run.stderr.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        message("--timeout", "1e300"),
        "error: invalid value '1e300' for '--timeout <SECONDS>': 1e300 seconds are more than can be counted; leave the option out"
    );
    assert_eq!(
        message("--timeout", "-1"),
        "error: invalid value '-1' for '--timeout <SECONDS>': -1 is no positive number of seconds"
    );
    assert!(
        message("--threads", "-1").starts_with("error: invalid value '-1' for '--threads <N>': ")
    );
}
