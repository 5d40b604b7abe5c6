//! Every kind of wrong manifest says key, line and what would be right.

use std::path::Path;

use wavelift::manifest::*;

/// A manifest in the folder of an example, so that it can name files.
fn parse(text: &str) -> Result<Manifest, ManifestError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/saxpy/m.toml");
    Manifest::parse(&path, text)
}

/// The error without the path of the manifest.
fn error(text: &str) -> String {
    let error = parse(text).expect_err("the manifest is wrong");
    let folder = error
        .path
        .parent()
        .expect("it has a folder")
        .display()
        .to_string();
    error.to_string().replace(&format!("{folder}/"), "")
}

const DISPATCH: &str = "\
[[dispatch]]
code_object = \"saxpy.gfx900.co\"
kernel = \"saxpy\"
grid = [64]
workgroup = [64]
";

/// A manifest with one buffer.
fn buffer(definition: &str) -> String {
    format!("[buffers]\nx = {definition}\n{DISPATCH}")
}

/// The contents of the one buffer.
fn contents(definition: &str) -> Array {
    let manifest = parse(&buffer(definition)).expect("the manifest is right");
    manifest.buffers[0].array.clone()
}

/// A manifest whose dispatch has more keys.
fn dispatch(more: &str) -> String {
    format!("[buffers]\nx = {{ bytes = 64 }}\n{DISPATCH}{more}")
}

#[test]
fn every_manifest_of_the_project_loads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![
        root.join("benches/manifests"),
        root.join("benches/manifests/small"),
        root.join("benches/open/small"),
    ];
    let examples = std::fs::read_dir(root.join("examples")).expect("the examples are there");
    folders.extend(examples.map(|entry| entry.expect("a folder can be listed").path()));
    let mut count = 0;
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            // Some bench manifests have inputs of many megabytes.
            let name = path.to_string_lossy();
            let small = name.contains("/small/")
                || ["-16m", "-4m", "-4096", "-256."]
                    .iter()
                    .all(|size| !name.contains(size));
            if path
                .extension()
                .is_some_and(|extension| extension == "toml")
                && small
            {
                let manifest = Manifest::load(&path).unwrap_or_else(|error| panic!("{error}"));
                assert!(!manifest.buffers.is_empty());
                count += 1;
            }
        }
    }
    assert!(count >= 60, "{count} manifests");
}

#[test]
fn buffers_hold_what_they_say() {
    assert_eq!(contents("{ bytes = 3 }").bytes, [0; 3]);
    assert_eq!(contents("{ file = \"x.npy\" }").kind(), "f32[5000]");
    let array = contents("{ type = \"u16\", values = [1, 0xffff] }");
    assert_eq!(
        (array.dtype, &array.bytes[..]),
        (Some(Dtype::U16), &[1, 0, 255, 255][..])
    );
    let array = contents("{ type = \"u64\", values = [0xffff_ffff_ffff_ffff] }");
    assert_eq!(array.bytes, [255; 8]);
    let array = contents("{ type = \"f16\", count = 2, fill = 1 }");
    assert_eq!(array.bytes, [0, 0x3c, 0, 0x3c]);
    let array = contents("{ type = \"f32\", values = [nan, -inf, 0.1] }");
    assert!(array.bytes.starts_with(&f32::NAN.to_le_bytes()));
    assert!(array.bytes.ends_with(&0.1f32.to_le_bytes()));
    assert_eq!(contents("{ type = \"i8\", count = 5 }").bytes, [0; 5]);
    let one = contents("{ type = \"f32\", count = 9, random = { seed = 1 } }");
    assert_eq!(one.bytes, random::floats(Dtype::F32, 9, 1, 0.0, 1.0));
}

#[test]
fn dispatches_say_what_they_say() {
    let manifest = parse(
        "[buffers]\na = { bytes = 100 }\n\"b+1\" = { bytes = 8 }\n[[dispatch]]\ncode_object = \"a.co\"\n\
         kernel = \"k\"\ngrid = [5, 4]\nworkgroup = [3]\nglobal_offset = [0, 7]\ndynamic_lds = 16\nstack = 64\nrepeat = 3\n\
         args = [\"@a\", \"@a+0x10\", \"@b+1\", \"@b+1 + 8\", { i8 = -1 }, { f16 = 1.0 }, { local = 64 }, { hex = \"00 fF\" }]\n",
    )
    .expect("the manifest is right");
    let dispatch = &manifest.dispatches[0];
    assert_eq!(dispatch.dimensions, 2);
    assert_eq!(dispatch.grid, [5, 4, 1]);
    assert_eq!(dispatch.workgroup, [3, 1, 1]);
    assert_eq!(dispatch.global_offset, [0, 7, 0]);
    assert_eq!((dispatch.dynamic_lds, dispatch.repeat), (16, 3));
    assert_eq!(dispatch.stack, Some(64));
    let args: Vec<_> = dispatch.args.iter().map(|(_, arg)| arg.clone()).collect();
    let buffer = |index, offset| Arg::Buffer { index, offset };
    let scalar = |dtype, bytes: &[u8]| Arg::Scalar {
        dtype,
        bytes: bytes.to_vec(),
    };
    assert_eq!(
        args,
        [
            buffer(0, 0),
            buffer(0, 16),
            buffer(1, 0),
            buffer(1, 8),
            scalar(Dtype::I8, &[255]),
            scalar(Dtype::F16, &[0, 0x3c]),
            Arg::Local(64),
            Arg::Bytes(vec![0, 255]),
        ]
    );
}

#[test]
fn files_that_are_not_manifests() {
    let missing = Manifest::load(Path::new("/nowhere/m.toml")).expect_err("it does not exist");
    assert_eq!(
        missing.to_string(),
        "/nowhere/m.toml: cannot be read: No such file or directory (os error 2)"
    );
    assert!(error("[buffers]\nx = {{\n").starts_with("m.toml:2: not TOML: "));
    assert_eq!(
        error("").as_str(),
        "m.toml:1: the key `dispatch` is missing"
    );
    assert_eq!(
        error("dispatch = []"),
        "m.toml:1: dispatch: there must be at least one dispatch"
    );
    assert_eq!(
        error("[dispatch]\nkernel = \"k\""),
        "m.toml:1: dispatch: expected an array of tables: [[dispatch]], found a table"
    );
}

#[test]
fn unknown_keys_are_errors_everywhere() {
    assert_eq!(
        error(&format!("{DISPATCH}\n[output]\n")),
        "m.toml:7: output: unknown key `output`; known here: memory, buffers, dispatch, outputs, expect, check"
    );
    assert_eq!(
        error(&buffer("{ bytes = 4, color = 1 }")),
        "m.toml:2: buffers.x.color: unknown key `color`; known here: file, bytes, type, count, random, \
         values, fill, undefined, address"
    );
    assert_eq!(
        error(&buffer("{ bytes = 4, count = 1 }")),
        "m.toml:2: buffers.x.count: unknown key `count`; known here: bytes, undefined, address"
    );
    assert_eq!(
        error(&buffer(
            "{ type = \"f32\", count = 1, random = { sed = 1 } }"
        )),
        "m.toml:2: buffers.x.random.sed: unknown key `sed`; known here: seed, low, high"
    );
    assert_eq!(
        error(&dispatch("blocks = [1]")),
        "m.toml:8: dispatch[0].blocks: unknown key `blocks`; known here: code_object, code_address, \
         kernel, grid, workgroup, global_offset, dynamic_lds, stack, gws, repeat, args, kernarg"
    );
    assert_eq!(
        error(&format!(
            "{}[expect]\nx = {{ file = \"x.npy\", eps = 1 }}",
            dispatch("")
        )),
        "m.toml:9: expect.x.eps: unknown key `eps`; known here: file, values, fill, type, abs, rel, ulp"
    );
    assert_eq!(
        error(&dispatch("args = [{ f80 = 1.0 }]")),
        "m.toml:8: dispatch[0].args[0].f80: unknown argument type `f80`; known are i8 u8 i16 u16 i32 u32 \
         i64 u64 f16 f32 f64 local hex"
    );
}

#[test]
fn addresses_are_given_everywhere_or_nowhere() {
    let memory = "[memory]\naddress = 0x100000000000\nbytes = 0x10000000\n";
    let code = "code_address = 0x100000010000\n";
    let fixed = format!(
        "{memory}[buffers]\nx = {{ bytes = 64, address = 0x100008000000 }}\n{DISPATCH}{code}"
    );
    let manifest = parse(&fixed).expect("it is right");
    let place = manifest.memory.expect("it says where memory is");
    assert_eq!(
        (place.address, place.bytes),
        (0x1000_0000_0000, 0x1000_0000)
    );
    assert_eq!(manifest.buffers[0].address, Some(0x1000_0800_0000));
    assert_eq!(manifest.dispatches[0].code_address, Some(0x1000_0001_0000));
    for (text, wrong) in [
        (
            fixed.replace(memory, ""),
            "m.toml:2: buffers.x.address: addresses need [memory], which says where guest memory is",
        ),
        (
            fixed.replace(", address = 0x100008000000", ""),
            "m.toml:5: buffers.x: with [memory] the key `address` is needed here",
        ),
        (
            fixed.replace(code, ""),
            "m.toml:6: dispatch[0]: with [memory] the key `code_address` is needed here",
        ),
        (
            fixed.replace("address = 0x100000000000", "address = 0x100000000100"),
            "m.toml:2: memory.address: 0x100000000100 is no multiple of 65536",
        ),
        (
            fixed.replace("bytes = 0x10000000\n", "bytes = 1\n"),
            "m.toml:3: memory.bytes: 1 is outside 67108864 to 70368744177664",
        ),
        (
            dispatch("args = []\nkernarg = \"none.bin\""),
            "m.toml:9: dispatch[0].kernarg: give either `args` or `kernarg`, which has all arguments",
        ),
    ] {
        assert_eq!(error(&text), wrong);
    }
}

#[test]
fn missing_keys_and_files_are_errors() {
    for key in ["code_object", "kernel", "grid", "workgroup"] {
        let text: String = DISPATCH
            .lines()
            .filter(|line| !line.starts_with(key))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(
            error(&text),
            format!("m.toml:1: dispatch[0]: the key `{key}` is missing")
        );
    }
    assert_eq!(
        error(&buffer("{ file = \"none.npy\" }")),
        "m.toml:2: buffers.x.file: cannot read none.npy: No such file or directory (os error 2)"
    );
    assert_eq!(
        error(&buffer("{ file = \"saxpy.cl\" }")),
        "m.toml:2: buffers.x.file: expected a .npy or .bin file, found the string \"saxpy.cl\""
    );
    assert_eq!(
        error(&buffer("{ }")),
        "m.toml:2: buffers.x: a buffer needs `file`, `bytes` or `type`"
    );
    assert_eq!(
        error(&buffer("{ type = \"f32\" }")),
        "m.toml:2: buffers.x: the key `count` is missing"
    );
    assert_eq!(
        error(&buffer("{ type = \"f32\", count = 4, random = { } }")),
        "m.toml:2: buffers.x.random: the key `seed` is missing"
    );
}

#[test]
fn wrong_buffers_are_errors() {
    let cases = [
        (
            "7",
            "x: expected a table such as { file = \"x.npy\" } or { bytes = 4096 }, found the integer 7",
        ),
        ("{ bytes = 0 }", "x.bytes: 0 is outside 1 to 1099511627776"),
        (
            "{ bytes = \"4\" }",
            "x.bytes: expected an integer, found the string \"4\"",
        ),
        (
            "{ type = \"f8\", count = 1 }",
            "x.type: expected an element type (i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64), found the string \"f8\"",
        ),
        (
            "{ type = \"u8\", count = -1 }",
            "x.count: -1 is outside 1 to 1099511627776",
        ),
        (
            "{ type = \"u8\", count = 1, fill = 256 }",
            "x.fill: 256 does not fit u8 (0 to 255)",
        ),
        (
            "{ type = \"u8\", count = 1, fill = 0.5 }",
            "x.fill: expected an integer, found the float 0.5",
        ),
        (
            "{ type = \"i8\", values = [] }",
            "x.values: there must be at least one value",
        ),
        (
            "{ type = \"i8\", values = [1, -129] }",
            "x.values[1]: -129 does not fit i8 (-128 to 127)",
        ),
        (
            "{ type = \"i8\", count = 3, values = [1, 2] }",
            "x.count: 3, but there are 2 values",
        ),
        (
            "{ type = \"i8\", count = 3, fill = 1, random = { seed = 1 } }",
            "x.fill: a buffer takes one of random, values and fill; see buffers.x.random",
        ),
        (
            "{ type = \"f32\", count = 3, random = { seed = 1, low = 1.0 } }",
            "x.random: low = 1.0 must be below high = 1.0",
        ),
        (
            "{ type = \"f32\", count = 3, random = { seed = 1, low = nan } }",
            "x.random.low: expected a finite number, found the float nan",
        ),
        (
            "{ type = \"u8\", count = 3, random = { seed = 1, low = 2, high = 1 } }",
            "x.random: low = 2 must not be above high = 1",
        ),
        (
            "{ type = \"u8\", count = 3, random = { seed = 1, high = 256 } }",
            "x.random.high: 256 is outside 0 to 255",
        ),
        (
            "{ type = \"u8\", count = 3, random = { seed = -1 } }",
            "x.random.seed: -1 is outside 0 to 18446744073709551615",
        ),
    ];
    for (definition, message) in cases {
        assert_eq!(
            error(&buffer(definition)),
            format!("m.toml:2: buffers.{message}")
        );
    }
}

#[test]
fn wrong_launches_are_errors() {
    let with = |key: &str, value: &str| {
        let lines = DISPATCH.lines().map(|line| match line.starts_with(key) {
            true => format!("{key} = {value}\n"),
            false => format!("{line}\n"),
        });
        error(&lines.collect::<String>())
    };
    let cases = [
        (
            "grid",
            "[0]",
            "4: dispatch[0].grid[0]: 0 is outside 1 to 4294967295",
        ),
        (
            "grid",
            "[]",
            "4: dispatch[0].grid: expected 1 to 3 numbers, found 0",
        ),
        (
            "grid",
            "[1, 1, 1, 1]",
            "4: dispatch[0].grid: expected 1 to 3 numbers, found 4",
        ),
        (
            "grid",
            "64",
            "4: dispatch[0].grid: expected an array of 1 to 3 integers, found the integer 64",
        ),
        (
            "grid",
            "[1.5]",
            "4: dispatch[0].grid[0]: expected an integer, found the float 1.5",
        ),
        (
            "workgroup",
            "[0]",
            "5: dispatch[0].workgroup[0]: 0 is outside 1 to 1024",
        ),
        (
            "workgroup",
            "[1025]",
            "5: dispatch[0].workgroup[0]: 1025 is outside 1 to 1024",
        ),
        (
            "workgroup",
            "[32, 33]",
            "5: dispatch[0].workgroup: a workgroup of 32 x 33 x 1 = 1056 work-items; the most is 1024",
        ),
        (
            "workgroup",
            "[32, 2]",
            "5: dispatch[0].workgroup: 2 numbers, but the grid has 1",
        ),
    ];
    for (key, value, message) in cases {
        assert_eq!(with(key, value), format!("m.toml:{message}"));
    }
    let cases = [
        (
            "global_offset = [1, 1]",
            "global_offset: 2 numbers, but the grid has 1",
        ),
        ("dynamic_lds = -4", "dynamic_lds: -4 is outside 0 to 65536"),
        ("stack = -4", "stack: -4 is outside 0 to 1048576"),
        ("repeat = 0", "repeat: 0 is outside 1 to 4294967295"),
        (
            "args = 1",
            "args: expected an array of arguments, found the integer 1",
        ),
        (
            "args = [\"x\"]",
            "args[0]: expected an argument: \"@buffer\", { f32 = 2.5 }, { local = 1024 } or { hex = \"00ff\" }, found the string \"x\"",
        ),
        (
            "args = [1]",
            "args[0]: expected an argument: \"@buffer\", { f32 = 2.5 }, { local = 1024 } or { hex = \"00ff\" }, found the integer 1",
        ),
        (
            "args = [\"@x\", \"@y\"]",
            "args[1]: unknown buffer `y`; known are x",
        ),
        (
            "args = [\"@y+4\"]",
            "args[0]: unknown buffer `y`; known are x",
        ),
        (
            "args = [\"@x+four\"]",
            "args[0]: `four` in \"@x+four\" is no number of bytes",
        ),
        (
            "args = [\"@x+65\"]",
            "args[0]: \"@x+65\" lies behind the end of the buffer, which has 64 bytes",
        ),
        (
            "args = [{ u8 = 256 }]",
            "args[0].u8: 256 does not fit u8 (0 to 255)",
        ),
        (
            "args = [{ hex = \"0\" }]",
            "args[0].hex: expected two hexadecimal digits for each byte, found 1 digits",
        ),
        (
            "args = [{ hex = \"zz\" }]",
            "args[0].hex: expected hexadecimal digits, found the string \"zz\"",
        ),
        (
            "args = [{ local = 0 }]",
            "args[0].local: 0 is outside 1 to 65536",
        ),
    ];
    for (line, message) in cases {
        assert_eq!(
            error(&dispatch(line)),
            format!("m.toml:8: dispatch[0].{message}")
        );
    }
    assert_eq!(
        error(&format!("{DISPATCH}args = [\n  \"@x\",\n]")),
        "m.toml:7: dispatch[0].args[0]: unknown buffer `x`; the manifest has no buffers"
    );
}

#[test]
fn wrong_outputs_and_expectations_are_errors() {
    let after = |text: &str| error(&format!("{}{text}", dispatch("")));
    let cases = [
        (
            "[outputs]\ny = \"y.npy\"",
            "outputs.y: unknown buffer `y`; known are x",
        ),
        (
            "[outputs]\nx = \"y.txt\"",
            "outputs.x: expected a .npy or .bin file, found the string \"y.txt\"",
        ),
        (
            "[outputs]\nx = 1",
            "outputs.x: expected a .npy or .bin file, found the integer 1",
        ),
        (
            "[expect]\ny = { file = \"x.npy\" }",
            "expect.y: unknown buffer `y`; known are x",
        ),
        (
            "[expect]\nx = { }",
            "expect.x: an expectation needs `file`, `values` or `fill`",
        ),
        (
            "[expect]\nx = { file = \"none.npy\" }",
            "expect.x.file: cannot read none.npy: No such file or directory (os error 2)",
        ),
        (
            "[expect]\nx = { file = \"x.npy\", abs = -1 }",
            "expect.x.abs: a tolerance must not be negative",
        ),
        (
            "[expect]\nx = { file = \"x.npy\", ulp = 1.5 }",
            "expect.x.ulp: expected an integer, found the float 1.5",
        ),
        (
            "[expect]\nx = { file = \"x.npy\", abs = 1, ulp = 1 }",
            "expect.x.ulp: give either `ulp` or `abs` and `rel`, not both",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(after(text), format!("m.toml:9: {message}"));
    }
}
