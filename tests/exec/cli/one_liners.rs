//! Kernels without a manifest: options, the manifest that they are made into, sources, several manifests, reports.

use serde_json::json;

use super::{Outcome, engines, file, folder, json, root, wavelift, wavelift_in};

const SAXPY: &str = "examples/saxpy/saxpy.gfx900.co";

/// Runs saxpy with these arguments and options.
fn saxpy(args: &[&str], options: &[&str]) -> Outcome {
    let mut all = vec!["run", SAXPY, "--engine", "interp"];
    for arg in args {
        all.extend(["--arg", arg]);
    }
    all.extend(options);
    wavelift(&all)
}

const ARGS: [&str; 4] = ["y=fill:f32:512:1", "x=values:f32:1,2,3,4", "2.5", "4"];

#[test]
fn a_kernel_runs_with_options_alone() {
    for engine in engines() {
        let run = wavelift(&[
            "run",
            SAXPY,
            "--kernel",
            "saxpy",
            "--grid",
            "512",
            "--block",
            "256",
            "--arg",
            "y=fill:f32:512:1",
            "--arg",
            "x=random:f32:512:7:-1:1",
            "--arg",
            "2.5",
            "--arg",
            "0",
            "--print",
            "y:510:",
            "--engine",
            engine,
        ]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{engine}");
        assert!(
            run.stdout.starts_with("saxpy: 2 workgroups, 8 waves, "),
            "{}",
            run.stdout
        );
        assert!(
            run.stdout.ends_with("\ny: f32[2] = [1.0, 1.0]\n"),
            "{}",
            run.stdout
        );
    }
    let run = saxpy(&ARGS, &["--grid", "4", "--print", "y:0:5"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stdout.starts_with("saxpy: 1 workgroup, 1 wave, "),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .ends_with("y: f32[5] = [3.5, 6.0, 8.5, 11.0, 1.0]\n"),
        "{}",
        run.stdout
    );
}

#[test]
fn the_equivalent_manifest_is_printed_and_runs() {
    let run = saxpy(
        &ARGS,
        &[
            "--grid",
            "4",
            "--expect",
            "y=@e.npy,rel=1e-5",
            "--output",
            "y=y.npy",
            "--emit-manifest",
        ],
    );
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(
        run.stdout,
        "[buffers]\ny = { type = \"f32\", count = 512, fill = 1.0 }\nx = { type = \"f32\", values = [1.0, 2.0, 3.0, 4.0] }\n\n\
         [[dispatch]]\ncode_object = \"examples/saxpy/saxpy.gfx900.co\"\nkernel = \"saxpy\"\ngrid = [4]\nworkgroup = [256]\n\
         args = [\n    \"@y\",\n    \"@x\",\n    { f32 = 2.5 },\n    { u32 = 4 },\n]\n\n[outputs]\ny = \"y.npy\"\n\n[expect]\n\
         y = { file = \"e.npy\", rel = 1e-5 }\n"
    );
    let home = folder("emitted");
    let text = saxpy(&ARGS, &["--grid", "4", "--emit-manifest"]).stdout;
    let text = text.replace(
        "examples/saxpy",
        &format!("{}/examples/saxpy", root().display()),
    );
    let manifest = file(&home, "m.toml", text);
    let run = wavelift(&["run", &manifest, "--print", "y:0:2", "--engine", "interp"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stdout.ends_with("y: f32[2] = [3.5, 6.0]\n"),
        "{}",
        run.stdout
    );
    // The same options for the other commands.
    let args = [
        "--grid",
        "4",
        "--arg",
        "y=fill:f32:512:1",
        "--arg",
        "values:f32:1,2,3,4",
        "--arg",
        "2.5",
        "--arg",
        "4",
    ];
    if engines().contains(&"jit") {
        let diff = wavelift(&[&["diff", SAXPY], &args[..]].concat());
        assert_eq!(diff.status, 0, "{}", diff.stderr);
    }
    let bench = wavelift(
        &[
            &["bench", SAXPY, "--seconds", "0.01", "--engine", "interp"],
            &args[..],
        ]
        .concat(),
    );
    assert_eq!(bench.status, 0, "{}", bench.stderr);
}

#[test]
fn errors_name_the_option() {
    let message = |args: &[&str], options: &[&str]| {
        let run = saxpy(args, options);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        run.stderr
            .strip_prefix("error: ")
            .expect("it is an error")
            .trim_end()
            .to_owned()
    };
    let grid = ["--grid", "4"];
    let with = |n: usize, arg: &'static str| {
        let mut args = ARGS;
        args[n] = arg;
        message(&args, &grid)
    };
    assert_eq!(
        with(1, "x=@none.npy"),
        "--arg x=@none.npy: cannot read none.npy: No such file or directory (os error 2)"
    );
    assert_eq!(
        with(3, "4.5"),
        "--arg 4.5: `4.5` is no integer, which u32 takes"
    );
    assert_eq!(
        with(3, "-1"),
        "--arg -1: -1 does not fit u32 (0 to 4294967295)"
    );
    assert_eq!(
        with(2, "i32:1"),
        "--arg i32:1: kernel `saxpy` takes (float) here, not i32; write { f32 = ... }"
    );
    assert_eq!(
        with(0, "1"),
        "--arg 1: the parameter (float*) takes a buffer or LDS: @FILE, out:TYPE:COUNT, local:BYTES ..."
    );
    assert_eq!(
        with(0, "out:f31:4"),
        "--arg out:f31:4: `f31` is no element type; known are i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64"
    );
    assert_eq!(
        with(0, "buf:z"),
        "--arg buf:z: unknown buffer `z`; known are x"
    );
    assert!(
        with(0, "what:1").starts_with("--arg what:1: `what:1` is no argument; write a number, ")
    );
    let few = message(&ARGS[..3], &grid);
    assert_eq!(
        few,
        "--arg is missing for (uint): kernel `saxpy` takes 4 arguments, but 3 are given"
    );
    let many = message(&[&ARGS[..], &["1"]].concat(), &grid);
    assert_eq!(
        many,
        "5 arguments are given, but the kernel takes 4: (float*), (float*), (float), (uint)"
    );
    assert!(message(&ARGS, &["--grid", "4", "--block", "2000"]).starts_with("--block: "));
    assert_eq!(
        message(&[], &[]),
        "examples/saxpy/saxpy.gfx900.co has kernels, but nothing says on what to run them; give the grid and the \
         arguments, for example\n  wavelift run examples/saxpy/saxpy.gfx900.co --kernel saxpy --grid 256 --arg out:f32:256 \
         --arg random:f32:256 --arg 1.5 --arg 256"
    );
    assert_eq!(
        message(&ARGS, &["--grid", "4", "--print", "z"]),
        "--print z: there is no such buffer; known are y, x"
    );
    assert_eq!(
        message(&ARGS, &["--grid", "4", "--print", "y:600"]),
        "--print y:600: index 600 is outside a dimension of 512"
    );
    let run = wavelift(&["run", "examples/saxpy/saxpy.gfx900.toml", "--grid", "4"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .contains("is a launch manifest, which names kernels itself"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_example_in_the_message_runs() {
    let message = saxpy(&[], &[]).stderr;
    let line = message.lines().last().expect("it has lines").trim();
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let run = wavelift(&words);
    assert_eq!(run.status, 0, "{line}: {}", run.stderr);
}

#[test]
fn arguments_go_to_parameters_by_name() {
    // Metadata of `half2` or others without names gives positions only, so a source with names is compiled.
    let home = folder("by-name");
    let source = file(
        &home,
        "k.cl",
        "kernel void k(global int *to, int a, int b) { to[get_global_id(0)] = a - b; }",
    );
    let cache = home.join("cache");
    let variables = [("XDG_CACHE_HOME", cache.to_str().expect("text"))];
    let args = [
        "run",
        &source,
        "--grid",
        "1",
        "--arg",
        "b=1",
        "--arg",
        "out:i32:1",
        "--arg",
        "a=10",
        "--print",
        "to",
        "--engine",
        "interp",
    ];
    let run = wavelift_in(&args, &variables, "");
    if run.stderr.contains("no clang was found") {
        eprintln!("NOT TESTED: sources, there is no clang");
        return;
    }
    if run
        .stderr
        .contains("what is missing is in Debian's packages")
    {
        eprintln!("NOT TESTED: sources, the clang that is installed lacks libraries");
        return;
    }
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.ends_with("to: i32[1] = [9]\n"), "{}", run.stdout);
    assert!(run.stderr.starts_with("compiling "), "{}", run.stderr);
    // Compiled once.
    let run = wavelift_in(&args, &variables, "");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    // An included file counts.
    let source = file(
        &home,
        "i.cl",
        "#include \"i.h\"\nkernel void k(global int *to) { *to = WHAT; }",
    );
    let args = [
        "run",
        &source,
        "--grid",
        "1",
        "--arg",
        "out:i32:1",
        "--print",
        "to",
        "--engine",
        "interp",
    ];
    for what in ["1", "2"] {
        file(&home, "i.h", format!("#define WHAT {what}"));
        let run = wavelift_in(&args, &variables, "");
        assert!(
            run.stdout.ends_with(&format!("to: i32[1] = [{what}]\n")),
            "{}{}",
            run.stdout,
            run.stderr
        );
        assert!(run.stderr.starts_with("compiling "), "{}", run.stderr);
    }
    let source = file(
        &home,
        "bad.cl",
        "kernel void k(global int *to) { *to = what; }",
    );
    let run = wavelift_in(
        &["run", &source, "--grid", "1", "--arg", "out:i32:1"],
        &variables,
        "",
    );
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("did not compile")
            && run.stderr.contains("undeclared identifier 'what'"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_source_without_a_compiler_says_what_to_install() {
    let home = folder("no-clang");
    let source = file(&home, "k.cl", "kernel void k() {}");
    let variables = [
        ("PATH", "/nowhere"),
        ("XDG_CACHE_HOME", home.to_str().expect("text")),
    ];
    let run = wavelift_in(&["run", &source, "--grid", "1"], &variables, "");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("no clang was found; install one (Debian: apt-get install clang-19 lld-19 rocm-device-libs)"), "{}", run.stderr);
    let run = wavelift(&["run", "none.cl", "--grid", "1"]);
    assert_eq!(
        run.stderr,
        "error: cannot read none.cl: No such file or directory (os error 2)\n"
    );
}

#[test]
fn several_manifests_have_a_summary_and_a_report() {
    let home = folder("several");
    let good = "examples/saxpy/saxpy.gfx900.toml";
    let text = saxpy(
        &ARGS,
        &["--grid", "4", "--expect", "y=fill=3", "--emit-manifest"],
    )
    .stdout;
    let text = text.replace(
        "examples/saxpy",
        &format!("{}/examples/saxpy", root().display()),
    );
    let bad = file(&home, "bad.toml", text);
    let report = home.join("report.xml");
    let report = report.to_str().expect("text");
    let run = wavelift(&[
        "run",
        good,
        &bad,
        "none.toml",
        "--engine",
        "interp",
        "--junit",
        report,
    ]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert_eq!(
        run.stderr,
        "error: none.toml: cannot be read: No such file or directory (os error 2)\n"
    );
    let lines: Vec<_> = run.stdout.lines().collect();
    assert_eq!(lines[0], format!("{good}:"));
    assert_eq!(lines[2], "expect y: ok, 5000 elements");
    assert_eq!(lines[3], format!("{bad}:"));
    assert!(
        lines[7].starts_with("3 manifests: 1 ok, 2 failed, "),
        "{}",
        run.stdout
    );
    assert!(
        lines[8].contains(
            "bad.toml: expect y: FAILED: 512 of 512 elements differ; first at [0]: got 3.5"
        ),
        "{}",
        run.stdout
    );
    let xml = std::fs::read_to_string(report).expect("it is written");
    assert!(
        xml.contains("<testsuite name=\"wavelift\" tests=\"3\" failures=\"1\" errors=\"1\" time="),
        "{xml}"
    );
    assert!(
        xml.contains(&format!(
            "<testcase name=\"{good}\" classname=\"wavelift.run\" time="
        )),
        "{xml}"
    );
    assert!(
        xml.contains("<failure message=\"expect y: FAILED: 512 of 512"),
        "{xml}"
    );
    assert!(
        xml.contains("<error message=\"none.toml: cannot be read"),
        "{xml}"
    );
    let run = wavelift(&["run", good, &bad, "--engine", "interp", "--json"]);
    assert_eq!(run.status, 1);
    let value = json(&run);
    assert_eq!(value["ok"], false);
    assert_eq!(value["manifests"][0]["manifest"], good);
    assert_eq!(value["manifests"][0]["status"], 0);
    assert_eq!(value["manifests"][1]["expect"][0]["mismatches"], 512);
    // To a file: the text goes on as usual.
    let to = home.join("report.json");
    let run = wavelift(&[
        "run",
        good,
        "--engine",
        "interp",
        &format!("--json={}", to.display()),
    ]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("saxpy: 20 workgroups"));
    let text = std::fs::read_to_string(to).expect("it is written");
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(value["ok"], true);
}

#[test]
fn slices_are_those_of_python() {
    let home = folder("slices");
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend(118u16.to_le_bytes());
    let dict = "{'descr': '<i2', 'fortran_order': False, 'shape': (3, 4), }";
    npy.extend(format!("{dict:<117}\n").bytes());
    npy.extend((-2..10i16).flat_map(i16::to_le_bytes));
    file(&home, "a.npy", npy);
    let co = root().join(SAXPY);
    let manifest = file(
        &home,
        "m.toml",
        format!(
            "[buffers]\na = {{ file = \"a.npy\" }}\nf = {{ type = \"f64\", values = [inf, nan, -0.5] }}\n\
             big = {{ type = \"u8\", count = 2000 }}\n[[dispatch]]\ncode_object = {co:?}\nkernel = \"saxpy\"\ngrid = [1]\n\
             workgroup = [1]\nargs = [\"@big\", \"@big\", {{ f32 = 0.0 }}, {{ u32 = 0 }}]\n"
        ),
    );
    let shown = |what: &str| {
        let run = wavelift(&["run", &manifest, "--engine", "interp", "--print", what]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let (_, text) = run.stdout.split_once('\n').expect("it has lines");
        text.trim_end().to_owned()
    };
    assert_eq!(
        shown("a"),
        "a: i16[3, 4] = [\n  [-2, -1, 0, 1],\n  [2, 3, 4, 5],\n  [6, 7, 8, 9]]"
    );
    assert_eq!(shown("a:1"), "a: i16[4] = [2, 3, 4, 5]");
    assert_eq!(shown("a:-1,1:3"), "a: i16[2] = [7, 8]");
    assert_eq!(shown("a:::2,0"), "a: i16[2] = [-2, 6]");
    assert_eq!(shown("a:2,3"), "a: i16[] = 9");
    assert_eq!(shown("a:5:"), "a: i16[0, 4] = []");
    assert_eq!(shown("f"), "f: f64[3] = [inf, NaN, -0.5]");
    assert_eq!(shown("big"), "big: u8[2000] = [0, 0, 0, ..., 0, 0, 0]");
    let run = wavelift(&[
        "run", &manifest, "--engine", "interp", "--json", "--print", "f", "--print", "a:0",
    ]);
    assert_eq!(
        json(&run)["print"],
        json!([
            { "buffer": "f", "type": "f64", "shape": [3], "values": ["inf", "NaN", -0.5] },
            { "buffer": "a:0", "type": "i16", "shape": [4], "values": [-2, -1, 0, 1] },
        ])
    );
}

#[test]
fn expectations_take_values_and_report_errors() {
    let run = saxpy(&ARGS, &["--grid", "4", "--expect", "x=1,2,3,4"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stdout.ends_with("expect x: ok, 4 elements\n"),
        "{}",
        run.stdout
    );
    let run = saxpy(&ARGS, &["--grid", "4", "--expect", "x=1,2.5,3,5,abs=1"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stdout.ends_with("expect x: ok, 4 elements; greatest error: absolute 1 at [3], relative 2.000e-1 at [1], 2097152 ULP at [1]\n"),
        "{}",
        run.stdout
    );
    let run = saxpy(&ARGS, &["--grid", "4", "--expect", "x=1,2,3,3", "--json"]);
    assert_eq!(run.status, 1);
    assert_eq!(
        json(&run)["expect"][0]["errors"]["absolute"],
        json!({ "error": 1.0, "index": 3, "position": [3] })
    );
    let run = saxpy(&ARGS, &["--grid", "4", "--expect", "x=1,2,3"]);
    assert_eq!(run.status, 2);
    assert_eq!(
        run.stderr,
        "error: --expect x=1,2,3: 3 values, but the buffer has 4 elements of f32\n"
    );
}
