//! Choice of the back end: by the CPU, and by option.

use super::{json, wavelift_in};

const MANIFEST: &str = "examples/sha256/sha256.gfx906.toml";

/// Without these in the environment, or pretending a CPU without AVX2.
const CPUS: [&[(&str, &str)]; 2] = [&[], &[("WAVELIFT_NO_AVX2", "1")]];

/// The emitters of the regions that ran.
fn emitters(emitter: &str, cpu: usize) -> Vec<String> {
    let args = [
        "bench",
        MANIFEST,
        "--json",
        "--profile",
        "--seconds",
        "0.01",
    ];
    let args = [&args[..], &["--emitter", emitter]].concat();
    let run = wavelift_in(&args, CPUS[cpu], "");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let value = json(&run);
    assert_eq!(value["ok"], true, "{value}");
    assert_eq!(value["dispatches"][0]["regions_refused"], 0, "{value}");
    let kernels = value["profile"]
        .as_array()
        .expect("a profile was asked for");
    let regions = kernels
        .iter()
        .flat_map(|kernel| kernel["regions"].as_array());
    let names = regions.flatten().map(|region| region["emitter"].as_str());
    names.map(|name| name.expect("a name").to_owned()).collect()
}

#[test]
fn the_cpu_selects_the_default() {
    let all = |names: &[String], name: &str| !names.is_empty() && names.iter().all(|n| n == name);
    if lower::host::is_supported() {
        assert!(all(&emitters("auto", 0), "wide"));
        assert!(all(&emitters("wide", 0), "wide"));
    } else {
        eprintln!("NOT TESTED: the wide emitter, which wants a CPU with AVX2 and FMA");
    }
    assert!(all(&emitters("cranelift", 0), "cranelift"));
    assert!(all(&emitters("auto", 1), "cranelift"));
}

#[test]
fn the_wide_emitter_requires_avx2() {
    let run = wavelift_in(&["run", MANIFEST, "--emitter", "wide"], CPUS[1], "");
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert_eq!(
        run.stderr,
        "error: the wide emitter needs a CPU with AVX2, FMA and BMI2; use `auto` or `cranelift`\n"
    );
}
