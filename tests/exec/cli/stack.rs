//! `--stack`: recursion that is deeper than the compiler knows.

use super::{engines, file, folder, root, wavelift};

const WORK_ITEMS: u32 = 64;

/// What the kernel computes.
fn digest(input: &[u32], n: u32) -> u32 {
    (1..=n).fold(1u32, |sum, n| {
        sum.wrapping_mul(3).wrapping_add(input[n as usize & 63])
    })
}

/// A manifest that runs `depth` calls of the recursive kernel of a target in each work-item, with what else the
/// dispatch says, and expects the right result.
fn manifest(target: &str, depth: u32, more: &str) -> String {
    let input: Vec<u32> = (0..64).map(|i| i * 7 + 3).collect();
    let want: Vec<u32> = (0..WORK_ITEMS)
        .map(|i| digest(&input, depth + (i & 7)))
        .collect();
    let code_object = root().join(format!("tests/kernels/memory/recursion.{target}.co"));
    let folder = folder(&format!(
        "stack-{target}-{depth}-{}",
        more.replace([' ', '='], "")
    ));
    let bytes: Vec<u8> = want.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(folder.join("want.bin"), bytes).expect("the folder is there");
    let text = format!(
        "[buffers]\nout = {{ type = \"u32\", count = {WORK_ITEMS}, fill = 7 }}\n\
         in = {{ type = \"u32\", values = {input:?} }}\n\
         [[dispatch]]\ncode_object = {code_object:?}\nkernel = \"descend\"\n\
         grid = [{WORK_ITEMS}]\nworkgroup = [{WORK_ITEMS}]\nargs = [\"@out\", \"@in\", {{ u32 = {depth} }}]\n{more}\n\
         [expect]\nout = {{ file = \"want.bin\" }}\n"
    );
    file(&folder, "m.toml", text)
}

/// Runs a manifest with options on an engine; status and messages.
fn run(manifest: &str, engine: &str, options: &[&str]) -> (i32, String) {
    let args = ["run", manifest, "--engine", engine, "--timeout", "30"];
    let out = wavelift(&[&args, options].concat());
    (out.status, out.stdout + &out.stderr)
}

#[test]
fn deep_recursion_needs_a_stack() {
    for target in ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906"] {
        let manifest = manifest(target, 200, "");
        for engine in engines() {
            let at = format!("{target}, {engine}");
            let (status, said) = run(&manifest, engine, &["--stack", "4096"]);
            assert_eq!(status, 0, "{at}: {said}");
            let (status, said) = run(&manifest, engine, &[]);
            assert_eq!(status, 3, "{at}: {said}");
            // On gfx6 and gfx7 the range check of scratch drops what lies behind it, as it does on a GPU.
            let named = "past the end of the lane's 16 bytes of scratch; try --stack BYTES\n";
            assert!(
                ["gfx600", "gfx700"].contains(&target) || said.contains(named),
                "{at}: {said}"
            );
            let (status, said) = run(&manifest, engine, &["--stack", "1024"]);
            assert_eq!(status, 3, "{at}: {said}");
            let named = named.replace("16", "1040");
            assert!(
                ["gfx600", "gfx700"].contains(&target) || said.contains(&named),
                "{at}: {said}"
            );
        }
    }
}

#[test]
fn a_manifest_may_say_it_and_the_command_line_decides() {
    let manifest = manifest("gfx900", 200, "stack = 4096");
    for engine in engines() {
        let (status, said) = run(&manifest, engine, &[]);
        assert_eq!(status, 0, "{engine}: {said}");
        let (status, said) = run(&manifest, engine, &["--stack", "64"]);
        assert_eq!(status, 3, "{engine}: {said}");
        assert!(said.contains("the lane's 80 bytes"), "{engine}: {said}");
    }
}

#[test]
fn every_command_takes_it() {
    let manifest = manifest("gfx906", 150, "");
    let stack = ["--stack", "8192"];
    for command in [&["diff"][..], &["bench", "--seconds", "0.01"], &["profile"]] {
        let with: Vec<&str> = command
            .iter()
            .copied()
            .chain([&*manifest])
            .chain(stack)
            .collect();
        let out = wavelift(&with);
        assert_eq!(out.status, 0, "{with:?}: {}{}", out.stdout, out.stderr);
        let without = &with[..with.len() - 2];
        let out = wavelift(without);
        assert_eq!(out.status, 3, "{without:?}: {}{}", out.stdout, out.stderr);
    }
}

#[test]
fn wrong_sizes_are_refused() {
    let manifest = manifest("gfx900", 1, "");
    for (bytes, message) in [
        (
            "1048577",
            "a work-item has at most 1048576 bytes of scratch",
        ),
        (
            "99999999999999",
            "a work-item has at most 1048576 bytes of scratch",
        ),
        ("-1", "`-1` is no number of bytes"),
        ("16k", "`16k` is no number of bytes"),
        ("", "`` is no number of bytes"),
    ] {
        let option = format!("--stack={bytes}");
        for args in [
            &["run", &manifest, &option][..],
            &["exec", &option, "--", "true"],
        ] {
            let out = wavelift(args);
            assert_eq!(out.status, 2, "{args:?}: {}{}", out.stdout, out.stderr);
            assert!(out.stderr.contains(message), "{args:?}: {}", out.stderr);
        }
    }
    // With the 16 bytes of the kernel it is too much.
    let out = wavelift(&["run", &manifest, "--stack", "1048576"]);
    assert_eq!(out.status, 2, "{}{}", out.stdout, out.stderr);
    let message = "kernel descend needs 1048592 bytes of scratch for each work-item; at most 1048576 are possible";
    assert!(out.stderr.contains(message), "{}", out.stderr);
    let out = wavelift(&["run", &self::manifest("gfx900", 1, "stack = 1048577")]);
    assert_eq!(out.status, 2, "{}{}", out.stdout, out.stderr);
    let message = "stack: 1048577 is outside 0 to 1048576";
    assert!(out.stderr.contains(message), "{}", out.stderr);
}
