//! Compressed offload bundles and code for generic targets.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::{file, folder, json, root, wavelift};

const BUNDLE: &str = "examples/saxpy/saxpy.bundle.hipfb";

/// A compressed bundle, version 2 with zlib.
pub(super) fn compressed(bundle: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bundle).expect("memory takes all");
    let data = encoder.finish().expect("memory takes all");
    let mut packed = b"CCOB\x02\0\0\0".to_vec();
    for number in [24 + data.len() as u32, bundle.len() as u32, 0, 0] {
        packed.extend(number.to_le_bytes());
    }
    packed.extend(data);
    packed
}

fn read(path: &str) -> Vec<u8> {
    std::fs::read(root().join(path)).expect("the example is there")
}

#[test]
fn compressed_bundles_are_like_others() {
    let folder = folder("bundles-compressed");
    let packed = compressed(&read(BUNDLE));
    let path = file(&folder, "saxpy.hipfb", &packed);
    let info = |path: &str| json(&wavelift(&["info", path, "--json"]))["code_objects"].clone();
    let (mut found, plain) = (info(&path), info(BUNDLE));
    for object in found.as_array_mut().expect("a list") {
        assert_eq!(object["compressed"], true);
        object["compressed"] = false.into();
    }
    assert_eq!(found, plain);
    let disasm = |path: &str| wavelift(&["disasm", path, "--target", "gfx906"]).stdout;
    assert_eq!(disasm(&path), disasm(BUNDLE));
    let saxpy = |path: &str| {
        let run = ["run", path, "--target", "gfx906", "--grid", "64"];
        let args = "--arg fill:f32:64:1 --arg fill:f32:64:3 --arg 2.5 --arg 64 --print arg0:0:4";
        let args: Vec<_> = run.into_iter().chain(args.split(' ')).collect();
        let out = wavelift(&args);
        assert_eq!((out.status, out.stderr.as_str()), (0, ""));
        let printed = out.stdout.lines().filter(|line| line.starts_with("arg0"));
        printed.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(saxpy(&path), ["arg0: f32[4] = [8.5, 8.5, 8.5, 8.5]"]);
    assert_eq!(saxpy(&path), saxpy(BUNDLE));
    let cut = file(&folder, "cut.hipfb", &packed[..packed.len() - 9]);
    let error = wavelift(&["info", &cut]);
    assert_eq!(error.status, 2);
    assert!(
        error
            .stderr
            .contains("the data of the compressed offload bundle at offset 0x0 needs"),
        "{}",
        error.stderr
    );
}

#[test]
fn code_for_a_generic_target_runs() {
    let folder = folder("bundles-generic");
    let mut bytes = read("examples/saxpy/saxpy.gfx900.co");
    bytes[8] = 4;
    bytes[48..52].copy_from_slice(&0x0100_0151u32.to_le_bytes());
    let path = file(&folder, "saxpy.co", &bytes);
    let info = json(&wavelift(&["info", &path, "--json"]));
    assert_eq!(info["code_objects"][0]["target"], "gfx9-generic");
    assert_eq!(info["code_objects"][0]["version"], 6);
    for target in ["gfx900", "gfx906", "gfx9-generic"] {
        let args = ["disasm", &path, "--target", target];
        assert_eq!(wavelift(&args).status, 0, "{target}");
    }
    let other = wavelift(&["disasm", &path, "--target", "gfx90a"]);
    assert_eq!(other.status, 2);
    assert!(
        other.stderr.contains("no code object for gfx90a"),
        "{}",
        other.stderr
    );
    // Without a version it is for nothing.
    bytes[51] = 0;
    let path = file(&folder, "none.co", &bytes);
    let error = wavelift(&["info", &path]).stderr;
    assert!(
        error.contains("gfx9-generic with generic version 0"),
        "{error}"
    );
}
