//! `wavelift disasm` and `wavelift info`.

use std::path::Path;
use std::process::Command;

use super::{file, folder, json, root, wavelift, wavelift_with_input};

#[test]
fn one_line_for_each_line() {
    let input = "0000007e\n00 00 00 7e\n00007e\n\nff0201680000000000\nffffffff\n0x00\n07020a7e";
    let disasm = wavelift_with_input(&["disasm", "--target", "gfx900", "--hex", "-"], input);
    assert_eq!((disasm.status, disasm.stderr.as_str()), (0, ""));
    let expected = [
        "v_nop",
        "v_nop",
        "error: truncated instruction: 3 of 4 bytes",
        "error: truncated instruction: 0 of 4 bytes",
        "error: 9 bytes, but the instruction `v_add_u32_e32 v0, 0, v129` has 8",
        "error: unknown encoding 0xffffffff on gfx900",
        "error: `x` is no hexadecimal digit",
        "v_mov_b32_e32 v5, s7",
    ];
    assert_eq!(disasm.stdout.lines().collect::<Vec<_>>(), expected);
    let unknown = wavelift_with_input(&["disasm", "--target", "gfx1030", "--hex", "-"], input);
    assert_eq!((unknown.status, unknown.stdout.as_str()), (2, ""));
    assert!(
        unknown
            .stderr
            .starts_with("error: unknown target `gfx1030`; known are gfx600, ")
    );
    assert_eq!(
        wavelift(&["disasm", "--hex", "-"]).status,
        2,
        "--hex needs a target"
    );
    assert_eq!(wavelift(&["disasm"]).status, 2, "nothing to disassemble");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let code_object = root().join("examples/sha256/sha256.gfx900.co");
    let script = format!(
        "{} disasm {} --json | head -c 10 >/dev/null; exit ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_wavelift"),
        code_object.display()
    );
    let output = Command::new("bash").args(["-c", &script]).output();
    let output = output.expect("there is a shell");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_code_object_as_source() {
    let disasm = wavelift(&[
        "disasm",
        "examples/saxpy/saxpy.gfx900.co",
        "--addresses",
        "--bytes",
    ]);
    assert_eq!((disasm.status, disasm.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = disasm.stdout.lines().collect();
    for line in [
        "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"",
        "\t.amdhsa_code_object_version 5",
        "\t.globl saxpy",
        "saxpy:",
        "\ts_cbranch_execz .L19a0                                     // 001948: 150088bf",
        ".L19a0:",
        "\t.size saxpy, 164",
        "\t.amdhsa_kernel saxpy",
        "\t\t.amdhsa_kernarg_size 280",
        "\t\t.amdhsa_float_denorm_mode_32 3",
        "\t.amdgpu_metadata",
        "amdhsa.target: amdgcn-amd-amdhsa--gfx900",
    ] {
        assert!(lines.contains(&line), "{line:?} in\n{}", disasm.stdout);
    }
}

#[test]
fn one_kernel_of_several() {
    let disasm = wavelift(&[
        "disasm",
        "examples/matmul/matmul.gfx900.co",
        "--kernel",
        "matmul_tiled",
    ]);
    assert_eq!(disasm.status, 0, "{}", disasm.stderr);
    assert!(disasm.stdout.contains("\nmatmul_tiled:\n"));
    assert!(!disasm.stdout.contains("matmul_naive"));
    let none = wavelift(&[
        "disasm",
        "examples/matmul/matmul.gfx900.co",
        "--kernel",
        "none",
    ]);
    assert_eq!((none.status, none.stdout.as_str()), (2, ""));
    assert_eq!(
        none.stderr,
        "error: examples/matmul/matmul.gfx900.co: no kernel `none`; the code object has matmul_naive, matmul_tiled\n"
    );
}

#[test]
fn a_code_object_as_json() {
    let args = [
        "disasm",
        "examples/saxpy/saxpy.bundle.hipfb",
        "--target",
        "gfx906",
        "--json",
    ];
    let value = json(&wavelift(&args));
    assert_eq!(value["target"], "gfx906");
    assert_eq!(value["kernels"][0]["name"], "saxpy");
    assert_eq!(
        value["kernels"][0]["descriptor"]["user_sgpr_kernarg_segment_ptr"],
        1
    );
    let code = value["code"].as_array().expect("a list");
    assert_eq!(code[0]["text"], "s_load_dword s7, s[4:5], 0x24");
    assert_eq!(code[0]["bytes"], "c20102c024000000");
    let branch = code
        .iter()
        .find(|line| line["branch_target"].is_u64())
        .expect("a branch");
    let target = &branch["branch_target"];
    assert!(code.iter().any(|line| line["address"] == *target));
}

const LINES: &str = "tests/kernels/source/lines.gfx906.co";
const NORMS: &str = "void norms<float>(float*, float const*, int)";

#[test]
fn source_lines_and_names_are_comments() {
    let plain = wavelift(&["disasm", LINES]);
    let folder = "tests/kernels/source";
    let args = [
        "disasm",
        LINES,
        "--demangle",
        "--source",
        "--source-path",
        folder,
    ];
    let shown = wavelift(&args);
    assert_eq!((shown.status, shown.stderr.as_str()), (0, ""));
    for line in [
        &format!("_Z5normsIfEvPT_PKS0_i: // {NORMS}"),
        "_ZN6filter5clampEiNS_5RangeE: // filter::clamp(int, filter::Range)",
        "\t// lines.hip:16:9, float norm<float>(float, float) inlined at lines.hip:41:16",
        "\t//    16      sum += square(y);",
        "\t// lines.hip:44:1",
    ] {
        assert!(
            shown.stdout.lines().any(|known| known == line),
            "{line} in {}",
            shown.stdout
        );
    }
    let code = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with("\t// "));
        let code = lines.map(|line| line.split(" // ").next().unwrap_or_default());
        code.map(|line| line.trim_end().to_owned()).collect()
    };
    assert_eq!(
        code(&shown.stdout),
        code(&plain.stdout),
        "only comments were added"
    );
    // What is not there is said.
    let gone = wavelift(&["disasm", LINES, "--source"]);
    assert_eq!(gone.status, 0);
    assert_eq!(
        gone.stderr,
        "note: there is no source file lines.hip; name its folder with --source-path\n"
    );
    let none = wavelift(&["disasm", "examples/saxpy/saxpy.gfx900.co", "--lines"]);
    assert_eq!(none.status, 0);
    assert!(
        none.stderr
            .contains("has no source lines; compile it with -g"),
        "{}",
        none.stderr
    );
    // The code object may have the text itself.
    let embedded = wavelift(&["disasm", "tests/kernels/source/lines.gfx900.co", "--source"]);
    assert_eq!((embedded.status, embedded.stderr.as_str()), (0, ""));
    assert!(embedded.stdout.contains("sum += square(y);"));
    assert_eq!(
        wavelift(&["disasm", LINES, "--source-path", folder]).status,
        2
    );
}

#[test]
fn source_lines_and_blocks_as_json() {
    let args = ["disasm", LINES, "--json", "--cfg", "--source", "--demangle"];
    let value = json(&wavelift(
        &[&args[..], &["--source-path", "tests/kernels/source"]].concat(),
    ));
    assert_eq!(value["kernels"][0]["demangled"], NORMS);
    let code = value["code"].as_array().expect("a list");
    let inlined = code
        .iter()
        .find(|line| line["frames"].as_array().is_some_and(|f| f.len() == 2));
    let inlined = inlined.expect("a function is inlined");
    assert_eq!(inlined["frames"][1]["demangled"], NORMS);
    assert_eq!(inlined["frames"][1]["line"], 41);
    assert_eq!(inlined["source"], "    sum += square(y);");
    let blocks = value["blocks"].as_array().expect("a list");
    let last = blocks.last().expect("there are blocks");
    assert_eq!(last["edges"], serde_json::json!([]), "the wave ends");
    let clamp = blocks
        .iter()
        .find(|block| block["function"] == "_ZN6filter5clampEiNS_5RangeE");
    let clamp = clamp.expect("the function has a block");
    assert_eq!(
        clamp["edges"][0],
        serde_json::json!({"kind": "indirect", "to": null})
    );
    assert_eq!(
        last["calls"][0]["to"], clamp["address"],
        "the address is computed from the PC"
    );
    let plain = json(&wavelift(&["disasm", LINES, "--json"]));
    assert_eq!(plain.get("blocks"), None);
    assert_eq!(plain["code"][0].get("frames"), None);
}

/// An edge of a graph: from, to and label.
type Edge = (String, String, String);

/// Reads a graph in the language of Graphviz, as far as it is used: nodes with labels, and edges.
fn graph(text: &str) -> (Vec<(String, String)>, Vec<Edge>) {
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let mut depth = 0;
    for line in text.lines() {
        let line = line.trim();
        depth += line.ends_with('{') as i32 - (line == "}") as i32;
        let Some((head, rest)) = line.split_once(" [label=\"") else {
            continue;
        };
        assert!(line.ends_with("];"), "{line}");
        // Quotes inside are escaped.
        let mut label = String::new();
        let mut chars = rest.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('l') => label.push('\n'),
                    Some(c) => label.push(c),
                    None => panic!("{line}"),
                },
                '"' => break,
                c => label.push(c),
            }
        }
        match head.split_once(" -> ") {
            Some((from, to)) => edges.push((from.to_owned(), to.to_owned(), label)),
            None => nodes.push((head.to_owned(), label)),
        }
    }
    assert_eq!(depth, 0, "all is closed");
    (nodes, edges)
}

#[test]
fn control_flow_as_a_graph() {
    let mut files: Vec<String> = ["calls", "bitonic", "matmul", "mandelbrot"]
        .map(|name| format!("examples/{name}/{name}.gfx900.co"))
        .into();
    files.push(LINES.to_owned());
    files.push("tests/kernels/memory/calls.gfx906.co".to_owned());
    for file in &files {
        let shown = wavelift(&["disasm", file, "--cfg"]);
        assert_eq!((shown.status, shown.stderr.as_str()), (0, ""), "{file}");
        let (nodes, edges) = graph(&shown.stdout);
        let value = json(&wavelift(&["disasm", file, "--cfg", "--json"]));
        let blocks = value["blocks"].as_array().expect("a list");
        let named: std::collections::BTreeMap<_, _> = nodes.iter().cloned().collect();
        for (from, to, label) in &edges {
            assert!(
                named.contains_key(from) && named.contains_key(to),
                "{file}: {from} {to}"
            );
            let known = ["taken", "not taken", "fall through", "indirect", "call"];
            assert!(known.contains(&label.as_str()), "{label}");
        }
        let mut instructions = 0;
        for block in blocks {
            let number = |key: &str| block[key].as_u64().expect("a number");
            let node = format!("b{:x}", number("address"));
            let label = &named[&node];
            assert!(
                label.starts_with(&format!("{:x}:\n", number("address"))),
                "{label}"
            );
            instructions += label.lines().count() - 1;
            // A conditional branch has two edges out, and both lead to blocks.
            let last = label.lines().last().expect("it has instructions").trim();
            let out = edges
                .iter()
                .filter(|(from, _, label)| *from == node && label != "call");
            let out: Vec<&str> = out.map(|(_, _, label)| label.as_str()).collect();
            let expected: &[&str] = match last.split(' ').next().expect("a name") {
                "s_endpgm" => &[],
                "s_branch" => &["taken"],
                "s_setpc_b64" => &["indirect"],
                name if name.starts_with("s_cbranch") => &["taken", "not taken"],
                _ => &["fall through"],
            };
            assert_eq!(out, expected, "{file}: {label}");
        }
        let code = value["code"].as_array().expect("a list");
        let all = code.iter().filter(|line| line["text"].is_string()).count();
        assert_eq!(
            instructions, all,
            "{file}: each instruction is in one block"
        );
        if have("dot") {
            let home = folder("graph");
            let path = super::file(&home, "g.dot", &shown.stdout);
            let drawn = Command::new("dot").args(["-Tsvg", &path]).output();
            let drawn = drawn.expect("it is there");
            let messages = String::from_utf8_lossy(&drawn.stderr);
            assert!(
                drawn.status.success() && messages.is_empty(),
                "{file}: {messages}"
            );
        }
    }
    let one = [
        "disasm",
        "examples/matmul/matmul.gfx900.co",
        "--kernel",
        "matmul_tiled",
        "--cfg",
    ];
    let one = wavelift(&one);
    assert!(one.stdout.contains("label=\"matmul_tiled\";") && !one.stdout.contains("matmul_naive"));
    let named = wavelift(&["disasm", LINES, "--cfg", "--demangle", "--lines"]);
    assert!(
        named.stdout.contains(&format!("label=\"{NORMS}\";")),
        "{}",
        named.stdout
    );
    assert!(
        named.stdout.contains("// lines.hip:44:1\\l"),
        "{}",
        named.stdout
    );
}

#[test]
fn a_code_object_on_standard_input() {
    let script = format!(
        "{} disasm - --kernel saxpy < {}",
        env!("CARGO_BIN_EXE_wavelift"),
        root().join("examples/saxpy/saxpy.gfx900.co").display()
    );
    let output = Command::new("bash").args(["-c", &script]).output();
    let output = output.expect("there is a shell");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let named = wavelift(&[
        "disasm",
        "examples/saxpy/saxpy.gfx900.co",
        "--kernel",
        "saxpy",
    ]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), named.stdout);
    let bad = wavelift_with_input(&["disasm", "-"], "no code");
    assert_eq!(bad.status, 2);
    assert!(
        bad.stderr
            .starts_with("error: standard input: the file begins with"),
        "{}",
        bad.stderr
    );
}

#[test]
fn info_tells_what_is_in_a_file() {
    let args = ["info", "examples/saxpy/saxpy.bundle.hipfb", "--json"];
    let value = json(&wavelift(&args));
    let objects = value["code_objects"].as_array().expect("a list");
    let targets: Vec<_> = objects
        .iter()
        .map(|object| object["target"].clone())
        .collect();
    assert_eq!(targets, ["gfx803", "gfx900", "gfx906"]);
    let kernel = &objects[1]["kernels"][0];
    assert_eq!(kernel["name"], "saxpy");
    assert_eq!(
        (&kernel["vgprs"], &kernel["sgprs"]),
        (&4.into(), &16.into())
    );
    assert_eq!(
        (&kernel["lds_bytes"], &kernel["max_workgroup"]),
        (&0.into(), &256.into())
    );
    let args = kernel["args"].as_array().expect("a list");
    let shown = serde_json::json!({
        "name": null, "type": "float", "kind": "by_value", "offset": 16, "size": 4, "hidden": false
    });
    assert_eq!(args[2], shown);

    let text = wavelift(&["info", "examples/matmul/matmul.gfx900.co"]);
    assert_eq!((text.status, text.stderr.as_str()), (0, ""));
    assert!(
        text.stdout
            .contains("\n  gfx900, code object version 4, 2 kernels\n")
    );
    assert!(text.stdout.contains("bytes of LDS"));
}

#[test]
fn info_tells_accumulation_registers() {
    for (target, offset, line) in [
        ("gfx908", None, "    16 accumulation registers\n"),
        (
            "gfx90a",
            Some(28),
            "    16 accumulation registers, which follow 28 of these VGPRs\n",
        ),
    ] {
        let file = format!("tests/kernels/matrix/gemm.{target}.O3.co");
        let value = json(&wavelift(&["info", &file, "--json"]));
        let kernels = &value["code_objects"][0]["kernels"];
        assert_eq!(kernels[0]["agprs"], 16, "{target}");
        assert_eq!(kernels[0]["accum_offset"], serde_json::json!(offset));
        assert_eq!(kernels[1]["agprs"], 0);
        assert_eq!(kernels[1]["accum_offset"], serde_json::Value::Null);
        let text = wavelift(&["info", &file]).stdout;
        assert_eq!(text.matches("accumulation").count(), 1, "{text}");
        assert!(text.contains(line), "{text}");
    }
}

#[test]
#[cfg(feature = "jit")]
fn ir_shows_the_regions_of_a_kernel() {
    let ir = wavelift(&[
        "ir",
        "examples/matmul/matmul.gfx900.co",
        "--kernel",
        "matmul_tiled",
    ]);
    assert_eq!((ir.status, ir.stderr.as_str()), (0, ""));
    assert!(
        ir.stdout
            .starts_with("; matmul_tiled+0x0, region at 0x1f00\n")
    );
    assert!(ir.stdout.contains("\nblock 0 at 0x1f00 of "));
    assert!(!ir.stdout.contains("matmul_naive"));
    // After a pass it is another one, and a pass that is not there is an error that names those that are.
    let after = |pass| {
        let file = "examples/saxpy/saxpy.gfx900.co";
        wavelift(&["ir", file, "--after", pass])
    };
    let (before, sunk) = (
        wavelift(&["ir", "examples/saxpy/saxpy.gfx900.co"]),
        after("sink"),
    );
    assert_eq!((sunk.status, sunk.stderr.as_str()), (0, ""));
    assert_ne!(before.stdout, sunk.stdout);
    let none = after("sinks");
    assert_eq!(none.status, 2);
    assert!(
        none.stderr
            .contains("[possible values: observe, sink, dead-lanes]"),
        "{}",
        none.stderr
    );
    // Vectors are as long as the host's.
    let vectors = |host| {
        let file = "examples/saxpy/saxpy.gfx900.co";
        wavelift(&["ir", file, "--vector", host])
    };
    for (host, has, lacks) in [
        ("any", "f32x4", "f32x8"),
        ("avx2", "f32x8", "f32x16"),
        ("avx512", "m32x16", "no-such"),
    ] {
        let ir = vectors(host);
        assert_eq!((ir.status, ir.stderr.as_str()), (0, ""));
        assert!(ir.stdout.contains("\nblock0(v0: i64):\n"), "{}", ir.stdout);
        assert!(ir.stdout.contains(has), "{host}: {}", ir.stdout);
        assert!(!ir.stdout.contains(lacks), "{host}: {}", ir.stdout);
    }
    assert_eq!(vectors("avx1024").status, 2);
}

/// Host code is printed as bytes that a disassembler reads; constants follow the instructions.
#[test]
fn ir_prints_host_code() {
    let code = |host| {
        let file = "examples/saxpy/saxpy.gfx900.co";
        wavelift(&["ir", file, "--host", host])
    };
    for host in ["avx2", "avx512"] {
        let ir = code(host);
        assert_eq!((ir.status, ir.stderr.as_str()), (0, ""));
        let mut lines = ir.stdout.lines();
        let head = lines.next().expect("a line for the region");
        assert!(head.starts_with("; saxpy+0x0, region at 0x"), "{head}");
        let is_byte_text = |line: &&str| line.bytes().all(|b| b.is_ascii_hexdigit());
        let bytes: String = lines.take_while(is_byte_text).collect();
        assert!(bytes.len().is_multiple_of(2), "{bytes}");
        // pop rbx, ret.
        assert!(bytes.contains("5bc3"), "{host}: {bytes}");
    }
    assert_ne!(code("avx2").stdout, code("avx512").stdout);
    // There is no such code for other hosts, and one form is printed at a time.
    assert_eq!(code("any").status, 2);
    let file = "examples/saxpy/saxpy.gfx900.co";
    let both = wavelift(&["ir", file, "--host", "avx2", "--vector", "avx2"]);
    assert_eq!(both.status, 2);
}

/// Is the program on the path?
fn have(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// The contents of `.text`.
fn text_section(object: &Path, out: &Path) -> Vec<u8> {
    let status = Command::new("llvm-objcopy-19")
        .args(["-O", "binary", "--only-section=.text"])
        .args([object, out])
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "{}",
        object.display()
    );
    std::fs::read(out).expect("it was just written")
}

/// What is printed for every example, assembled by LLVM, gives the bytes that were there.
#[test]
fn the_source_assembles_to_the_same_bytes() {
    if !have("llvm-mc-19") || !have("llvm-objcopy-19") {
        eprintln!(
            "NOT TESTED: assembling what disasm prints, which needs llvm-mc-19 and llvm-objcopy-19"
        );
        return;
    }
    let home = folder("assemble");
    let mut objects = 0;
    let examples = std::fs::read_dir(root().join("examples")).expect("the examples are there");
    let examples = examples.map(|entry| entry.expect("the folder can be listed").path());
    for example in examples.chain([root().join("tests/kernels/source")]) {
        for path in std::fs::read_dir(&example).into_iter().flatten() {
            let path = path.expect("the folder can be listed").path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .expect("a name");
            let targets = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906"];
            let target = targets
                .into_iter()
                .find(|target| name.ends_with(&format!(".{target}.co")));
            let Some(target) = target else {
                continue;
            };
            let path_text = path.to_str().expect("text");
            // With all comments.
            let comments = ["--demangle", "--source", "--addresses", "--bytes"];
            let disasm = wavelift(&[&["disasm", path_text], &comments[..]].concat());
            assert_eq!(disasm.status, 0, "{name}: {}", disasm.stderr);
            let source = file(&home, "out.s", &disasm.stdout);
            let made = home.join("out.o");
            let assembled = Command::new("llvm-mc-19")
                .args([
                    "-triple=amdgcn-amd-amdhsa",
                    "-filetype=obj",
                    &format!("-mcpu={target}"),
                ])
                .arg(&source)
                .arg("-o")
                .arg(&made)
                .output()
                .expect("it is there");
            let messages = String::from_utf8_lossy(&assembled.stderr);
            assert!(assembled.status.success(), "{name}: {messages}");
            let ours = text_section(&made, &home.join("ours"));
            let theirs = text_section(&path, &home.join("theirs"));
            assert!(ours == theirs, "{name}: other bytes");
            objects += 1;
        }
    }
    assert!(objects >= 60, "{objects} code objects");
}
