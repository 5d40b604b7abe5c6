//! `wavelift run`: results, outputs, expectations, the shape of its JSON.

use serde_json::{Value, json};

use super::{engines, file, folder, json, root, wavelift};

#[test]
fn a_run_prints_what_it_did() {
    for engine in engines() {
        let run = wavelift(&[
            "run",
            "examples/saxpy/saxpy.gfx900.toml",
            "--engine",
            engine,
        ]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{engine}");
        let lines: Vec<_> = run.stdout.lines().collect();
        assert_eq!(lines.len(), 2, "{:?}", run.stdout);
        assert!(
            lines[0].starts_with("saxpy: 20 workgroups, 80 waves, "),
            "{:?}",
            run.stdout
        );
        assert_eq!(lines[1], "expect y: ok, 5000 elements");
    }
}

#[test]
fn json_has_the_shape_of_the_contract() {
    for engine in engines() {
        let manifest = "examples/saxpy/saxpy.gfx900.toml";
        let run = wavelift(&["run", manifest, "--engine", engine, "--count", "--json"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let value = json(&run);
        assert_eq!(value["ok"], true);
        assert_eq!(value["fault"], Value::Null);
        let dispatch = &value["dispatches"][0];
        assert_eq!(dispatch["kernel"], "saxpy");
        assert_eq!(dispatch["workgroups"], 20);
        assert_eq!(dispatch["waves"], 80);
        assert!(dispatch["translate_s"].is_f64() && dispatch["execute_s"].is_f64());
        for key in ["instructions", "lane_instructions"] {
            assert!(dispatch[key].is_u64() || dispatch[key].is_null(), "{key}");
        }
        let expect = json!([{
            "buffer": "y", "ok": true, "elements": 5000, "mismatches": 0, "first": null, "message": null
        }]);
        assert_eq!(value["expect"], expect);
    }
}

/// The orders in which matrix instructions add are those of the documentation, where any ran.
#[test]
fn json_states_the_numerics_of_matrix_instructions() {
    let documented = std::fs::read_to_string(root().join("docs/matrix.md")).expect("a page");
    for engine in engines() {
        for target in ["gfx908", "gfx90a", "gfx942"] {
            let manifest = format!("tests/kernels/matrix/loops.{target}.toml");
            let run = wavelift(&["run", &manifest, "--engine", engine, "--json"]);
            assert_eq!(run.status, 0, "{}", run.stderr);
            let value = json(&run);
            let dispatches = value["dispatches"].as_array().expect("a list");
            assert!(dispatches.len() >= 13);
            for dispatch in dispatches {
                let kernel = dispatch["kernel"].as_str().expect("a name");
                let numerics = dispatch["numerics"].as_object().expect("an object");
                assert_eq!(numerics.len(), 1, "{kernel}");
                let (kind, order) = numerics.iter().next().expect("there is one");
                // clang's names are those of gfx90a.
                let name = match target {
                    "gfx942" => kernel.trim_end_matches("_1k"),
                    _ => kernel,
                };
                assert!(name.ends_with(kind), "{kernel} {kind}");
                let order = order.as_str().expect("words");
                assert!(documented.contains(order), "{order}");
            }
            let of = |kernel: &str| {
                let mut all = dispatches.iter();
                let found = all.find(|dispatch| dispatch["kernel"] == kernel);
                found.expect("it ran")["numerics"].clone()
            };
            let expected: &[(&str, &str, &str)] = match target {
                "gfx908" => &[(
                    "f32_32x32x4bf16",
                    "bf16",
                    "the exact sum of two products and the sum so far, rounded once",
                )],
                "gfx90a" => &[(
                    "f32_32x32x4bf16",
                    "bf16",
                    "each product is rounded, two are added, then to the sum so far",
                )],
                _ => &[
                    ("f32_32x32x8f16", "f16", "eight products, cut off"),
                    ("f32_32x32x8bf16_1k", "bf16", "eight products, cut off"),
                    (
                        "f32_32x32x4_xf32",
                        "xf32",
                        "four products, cut off; of the factors ten bits of the mantissa count",
                    ),
                    (
                        "f32_32x32x16_fp8_bf8",
                        "fp8_bf8",
                        "sixteen products, cut off, the even and the odd ones apart",
                    ),
                    (
                        "i32_32x32x16_i8",
                        "i8",
                        "exact, wraps at 32 bits, limited where MODE.FP16_OVFL is set",
                    ),
                ],
            };
            for &(kernel, kind, order) in expected {
                assert_eq!(of(kernel), json!({ kind: order }), "{target} {kernel}");
            }
        }
        let others = ["run", "examples/saxpy/saxpy.gfx900.toml", "--json"];
        let value = json(&wavelift(&[&others[..], &["--engine", engine]].concat()));
        assert_eq!(value["dispatches"][0].get("numerics"), None);
    }
    let manifest = "tests/kernels/matrix/gemm.gfx908.toml";
    let bench = wavelift(&["bench", manifest, "--seconds", "0.001", "--json"]);
    let value = json(&bench);
    let dispatches = value["dispatches"].as_array().expect("a list");
    let order = json!({ "f32": "fused multiply-adds, one k after the other" });
    assert_eq!(dispatches[0]["numerics"], order);
    assert_eq!(dispatches[1].get("numerics"), None);
}

/// A manifest in a folder of its own whose kernel stores each work-item's number.
fn fine(folder: &std::path::Path, rest: &str) -> String {
    let code_object = root().join("tests/kernels/faults/faults.gfx900.co");
    let text = format!(
        "[buffers]\nb = {{ type = \"u32\", count = 128, fill = 7 }}\n[[dispatch]]\ncode_object = {code_object:?}\n\
         kernel = \"fine\"\ngrid = [64]\nworkgroup = [64]\nargs = [\"@b+256\", {{ i64 = 0 }}]\n{rest}"
    );
    file(folder, "m.toml", text)
}

/// A `.npy` file of 128 numbers.
fn npy(values: &[u32; 128]) -> Vec<u8> {
    let dict = "{'descr': '<u4', 'fortran_order': False, 'shape': (128,), }";
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend(118u16.to_le_bytes());
    out.extend(format!("{dict:<117}\n").bytes());
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    out
}

/// What the kernel leaves in the buffer.
fn right() -> [u32; 128] {
    std::array::from_fn(|i| if i < 64 { 7 } else { i as u32 - 64 })
}

#[test]
fn outputs_go_beside_the_manifest_or_into_the_folder_given() {
    let home = folder("outputs");
    let manifest = fine(&home, "[outputs]\nb = \"b.out.npy\"\n");
    let run = wavelift(&["run", &manifest, "--engine", "interp"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let written = std::fs::read(home.join("b.out.npy")).expect("the output is there");
    let data = &written[written.len() - 512..];
    assert!(written.starts_with(b"\x93NUMPY"));
    assert_eq!(data, &npy(&right())[128..]);

    let manifest = fine(&home, "[outputs]\nb = \"../deep/b.bin\"\n");
    let other = home.join("new/place");
    let run = wavelift(&[
        "run",
        &manifest,
        "--engine",
        "interp",
        "--out",
        other.to_str().expect("text"),
    ]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("wrote "));
    assert_eq!(
        std::fs::read(other.join("b.bin")).expect("it stays inside"),
        data
    );

    let run = wavelift(&["run", &manifest, "--engine", "interp"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .contains("m.toml:10: outputs.b: there is no folder "),
        "{}",
        run.stderr
    );
}

#[test]
fn expectations_that_fail_give_status_1() {
    let home = folder("expectations");
    let mut values = right();
    file(&home, "b.expected.npy", npy(&values));
    let manifest = fine(&home, "[expect]\nb = { file = \"b.expected.npy\" }\n");
    assert_eq!(
        wavelift(&["run", &manifest, "--engine", "interp"]).status,
        0
    );

    values[70] = 60;
    values[71] = 0;
    file(&home, "b.expected.npy", npy(&values));
    let run = wavelift(&["run", &manifest, "--engine", "interp"]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    assert!(run.stdout.ends_with(
        "expect b: FAILED: 2 of 128 elements differ; first at [70]: got 6 (0x00000006), expected 60 (0x0000003c); greatest error: absolute 54 at [70], relative 9.000e-1 at [70]\n"
    ));
    let value = json(&wavelift(&[
        "run", &manifest, "--engine", "interp", "--json",
    ]));
    assert_eq!(value["ok"], false);
    assert_eq!(value["expect"][0]["mismatches"], 2);
    assert_eq!(value["expect"][0]["first"]["index"], 70);
    assert_eq!(value["expect"][0]["first"]["got"], "6");

    for (tolerance, status) in [
        ("abs = 54", 0),
        ("abs = 53", 1),
        ("ulp = 54", 0),
        ("ulp = 53", 1),
    ] {
        let manifest = fine(
            &home,
            &format!("[expect]\nb = {{ file = \"b.expected.npy\", {tolerance} }}\n"),
        );
        let run = wavelift(&["run", &manifest, "--engine", "interp"]);
        assert_eq!(run.status, status, "{tolerance}");
    }
}

#[test]
fn another_type_or_shape_is_a_mismatch() {
    let home = folder("kinds");
    let mut floats = npy(&right());
    let at = floats
        .windows(3)
        .position(|bytes| bytes == b"<u4")
        .expect("the type is there");
    floats[at + 1] = b'f';
    file(&home, "b.expected.npy", floats);
    let manifest = fine(&home, "[expect]\nb = { file = \"b.expected.npy\" }\n");
    let run = wavelift(&["run", &manifest, "--engine", "interp"]);
    assert_eq!(run.status, 1);
    assert!(
        run.stdout
            .ends_with("expect b: FAILED: the buffer is u32[128], the expected array f32[128]\n")
    );
}

#[test]
fn repeated_dispatches_count_together() {
    let home = folder("repeat");
    let manifest = fine(&home, "repeat = 3\n");
    let value = json(&wavelift(&[
        "run", &manifest, "--engine", "interp", "--json",
    ]));
    let dispatch = &value["dispatches"][0];
    assert_eq!(
        (&dispatch["repeat"], &dispatch["workgroups"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(dispatch["instructions"], 3 * 5);
    assert_eq!(dispatch["lane_instructions"], 3 * (64 + 64 + 1 + 1 + 1));
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    for threads in ["1", "3"] {
        for example in ["matmul/matmul.gfx900", "reduction/reduction.gfx803"] {
            let manifest = format!("examples/{example}.toml");
            let run = wavelift(&["run", &manifest, "--engine", "interp", "--threads", threads]);
            assert_eq!(
                run.status, 0,
                "{example} {threads}: {}{}",
                run.stdout, run.stderr
            );
        }
    }
}

#[test]
fn a_bundle_needs_a_target() {
    let manifest = "examples/saxpy/saxpy.bundle.toml";
    for target in ["gfx803", "gfx900", "gfx906"] {
        let run = wavelift(&["run", manifest, "--engine", "interp", "--target", target]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{target}");
    }
    let run = wavelift(&["run", manifest, "--engine", "interp"]);
    assert_eq!(run.status, 2);
    assert_eq!(
        run.stderr,
        "error: examples/saxpy/saxpy.bundle.toml:11: dispatch[0].code_object: examples/saxpy/saxpy.bundle.hipfb: \
         several code objects for amdgcn: hipv4-amdgcn-amd-amdhsa--gfx803, hipv4-amdgcn-amd-amdhsa--gfx900, \
         hipv4-amdgcn-amd-amdhsa--gfx906; name the target with --target\n"
    );
}

#[test]
fn help_has_examples() {
    for command in ["run", "diff", "bench", "disasm", "info"] {
        let help = wavelift(&[command, "--help"]);
        assert_eq!((help.status, help.stderr.as_str()), (0, ""));
        let example = format!("\n  wavelift {command} ");
        assert!(help.stdout.contains("Examples:\n"), "{command}");
        assert!(help.stdout.contains(&example), "{command}");
    }
    assert_eq!(wavelift(&["--version"]).status, 0);
    assert_eq!(wavelift(&[]).status, 2);
    assert_eq!(wavelift(&["fly"]).status, 2);
    assert_eq!(wavelift(&["run"]).status, 2);
}

#[test]
fn exports_are_shown() {
    let code_object = super::root().join("tests/kernels/exports/exports.gfx906.co");
    let text = format!(
        "[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"exporter\"\ngrid = [200]\nworkgroup = [100]\nrepeat = 2\n"
    );
    let manifest = file(&folder("exports"), "m.toml", text);
    for engine in engines() {
        let run = wavelift(&["run", &manifest, "--engine", engine]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{engine}");
        let line = "  36 exports, which nothing takes: mrt0 8, mrt5 8, null 4, param31 8, pos1 8\n";
        assert!(run.stdout.contains(line), "{engine}: {}", run.stdout);

        let run = wavelift(&["run", &manifest, "--engine", engine, "--json"]);
        let report = json(&run);
        let exports = &report["dispatches"][0]["exports"];
        assert_eq!(exports["count"], 36, "{engine}");
        assert_eq!(exports["targets"]["pos1"], 8);
        let first = exports["first"].as_array().expect("a list");
        assert_eq!(first.len(), 16);
        let export = &first[2];
        assert_eq!(export["target"], "pos1");
        assert_eq!(export["workgroup"], serde_json::json!([0, 0, 0]));
        assert_eq!(
            (&export["wave"], &export["exec"]),
            (&0.into(), &"0x0000000000000015".into())
        );
        assert_eq!(
            (&export["done"], &export["compr"], &export["vm"]),
            (&true.into(), &false.into(), &false.into())
        );
        assert_eq!(export["x"], serde_json::json!([0, 0, 0]));
        assert!(export.get("y").is_none());
        assert_eq!(export["w"], serde_json::json!([!0u32, !2u32, !4u32]));
    }
}

#[test]
fn a_code_object_of_version_6() {
    let home = folder("version-6");
    let code_object = root().join("tests/kernels/objects/args.v6.gfx900.co");
    // Each work-item takes the element of the one at the other end of its workgroup.
    let out = (0..128).map(|i| {
        let other = i / 64 * 64 + 63 - i % 64;
        other as f32 * 2.0 + 0.5 + (7 + 3 - 1) as f32 + 2.0
    });
    let expected: Vec<u8> = out.flat_map(f32::to_le_bytes).collect();
    let input: Vec<u8> = (0..128).flat_map(|i| (i as f32).to_le_bytes()).collect();
    file(&home, "in.bin", input);
    file(&home, "out.bin", expected);
    let text = format!(
        "[buffers]\nout = {{ type = \"f32\", count = 128, fill = 0.0 }}\nin = {{ file = \"in.bin\" }}\n\
         table = {{ type = \"u32\", values = [5, 7] }}\n\
         [[dispatch]]\ncode_object = {code_object:?}\nkernel = \"args\"\ngrid = [128]\nworkgroup = [64]\n\
         args = [\"@out\", \"@in\", \"@table\", {{ f32 = 2.0 }}, {{ u8 = 1 }}, {{ hex = \"03000000010000000000003f\" }}, \
         {{ local = 256 }}, {{ local = 512 }}]\n\
         [[dispatch]]\ncode_object = {code_object:?}\nkernel = \"empty\"\ngrid = [64]\nworkgroup = [64]\nargs = []\n\
         [expect]\nout = {{ file = \"out.bin\" }}\n"
    );
    let manifest = file(&home, "m.toml", text);
    for engine in engines() {
        let run = wavelift(&["run", &manifest, "--engine", engine]);
        assert_eq!(
            (run.status, run.stderr.as_str()),
            (0, ""),
            "{engine}: {}",
            run.stdout
        );
    }
    let info = wavelift(&["info", code_object.to_str().expect("the path is text")]);
    assert_eq!(info.status, 0);
    assert!(
        info.stdout
            .contains("gfx900, code object version 6, 2 kernels"),
        "{}",
        info.stdout
    );
}
