//! What `wavelift check --dynamic` says of the kernels of `tests/kernels/races`: of each racy kernel its race, of all others
//! nothing.

use serde_json::Value;

use super::{Launch, TARGETS, launches, manifests, text};
use crate::cli::{Outcome, engines, file, folder, json, root, wavelift};

/// The findings of a check, without the notes.
fn findings(check: &Outcome) -> Vec<Value> {
    let report = json(check);
    let all = report["findings"].as_array().expect("an array").clone();
    let is_finding = |finding: &Value| match finding["severity"].as_str() {
        Some("finding") => true,
        Some("note") => false,
        other => panic!("severity {other:?}"),
    };
    all.into_iter().filter(is_finding).collect()
}

/// What an instruction does to the memory of a race.
fn access(instruction: &str) -> &'static str {
    let mnemonic = instruction.split(' ').next().unwrap_or_default();
    let has = |part: &str| mnemonic.contains(part);
    if has("load") || has("read") {
        "read"
    } else if has("store") || has("write") {
        "write"
    } else if has("atomic") || mnemonic.starts_with("ds_") {
        "atomic"
    } else {
        panic!("{instruction} accesses no memory")
    }
}

/// The kinds of access of a finding, as the table spells them.
fn kinds(finding: &Value) -> String {
    let side = |key: &str| access(finding[key]["text"].as_str().expect("an instruction"));
    let mut sides = [side("instruction"), side("other")];
    sides.sort_unstable();
    sides.join("-")
}

/// A side of a race has the address of an instruction.
fn has_address(side: &Value) -> bool {
    side["address"].as_u64().is_some_and(|pc| pc != 0)
}

/// What is wrong with a check of a racy kernel.
fn missed(launch: &Launch, check: &Outcome) -> Option<String> {
    let entry = &launch.entry;
    let rule = format!("race-{}", text(entry, "space"));
    let mut findings = findings(check);
    // What is read before another wave has written it is also undefined.
    let is_undefined = |finding: &Value| {
        let rule = finding["rule"].as_str();
        rule.is_some_and(|rule| rule.starts_with("undefined-"))
    };
    findings.retain(|finding| !is_undefined(finding));
    let labelled = entry["kinds"].as_array().expect("an array");
    let is_labelled = |finding: &Value| {
        labelled
            .iter()
            .any(|kind| kind.as_str() == Some(&*kinds(finding)))
    };
    let right = |finding: &Value| {
        finding["rule"] == *rule
            && finding["kernel"] == *launch.kernel
            && has_address(&finding["instruction"])
            && has_address(&finding["other"])
            && is_labelled(finding)
    };
    let found = check.status == 1 && !findings.is_empty() && findings.iter().all(right);
    (!found).then(|| {
        format!(
            "{rule} {labelled:?}, but status {} {findings:?}",
            check.status
        )
    })
}

/// What is wrong with a check of a kernel without races.
fn false_alarm(check: &Outcome) -> Option<String> {
    let findings = findings(check);
    (check.status != 0 || !findings.is_empty())
        .then(|| format!("status {} {findings:?}", check.status))
}

/// Checks kernels on both engines and gives what is wrong with the results.
fn failures(
    folder_name: &str,
    launches: &[Launch],
    wrong: impl Fn(&Launch, &Outcome) -> Option<String>,
) -> Vec<String> {
    let mut failures = Vec::new();
    let folder = folder(folder_name);
    for target in TARGETS {
        let manifests = manifests(&folder, launches, target);
        for engine in engines() {
            for (launch, manifest) in launches.iter().zip(&manifests) {
                let check =
                    wavelift(&["check", manifest, "--dynamic", "--json", "--engine", engine]);
                if let Some(why) = wrong(launch, &check) {
                    failures.push(format!(
                        "{} {target} {engine}: {why}\n{}",
                        launch.kernel, check.stderr
                    ));
                }
            }
        }
    }
    failures
}

#[test]
fn each_racy_kernel_has_its_race() {
    let [racy, ..] = launches();
    let failures = failures("races-found", &racy, missed);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn no_other_kernel_has_a_race() {
    let [_, repaired, intended] = launches();
    let wrong = |_: &Launch, check: &Outcome| false_alarm(check);
    let mut failures_of_all = failures("races-repaired", &repaired, wrong);
    failures_of_all.extend(failures("races-intended", &intended, wrong));
    assert!(failures_of_all.is_empty(), "{}", failures_of_all.join("\n"));
}

/// A workgroup stores to what the workgroups before it have only read, in global memory and in LDS. Translated code did not announce
/// those loads, so the dispatch is void, and the race is found in the repetition.
#[test]
#[cfg(feature = "jit")]
fn loads_that_later_stores_conflict_with_are_announced_anew() -> Result<(), wavelift::Error> {
    use wavelift::sanitizer::{Rule, Sanitizer};
    use wavelift::{Device, DeviceOptions, EngineKind, Launch, Module};

    for (kernel, rule, global) in [
        ("late_store", Rule::RaceGlobal, 1024),
        ("late_tile", Rule::RaceLds, 40960),
    ] {
        for ending in ["_racy", "_repaired"] {
            let device = Device::with_options(DeviceOptions {
                engine: EngineKind::Jit,
                sanitize: true,
                threads: 1,
                ..DeviceOptions::default()
            })?;
            let code = root().join("tests/kernels/races/late.gfx906.co");
            let code = std::fs::read(code).expect("the code object is there");
            let module = Module::load(&device, &code)?;
            let kernel = module.kernel(&format!("{kernel}{ending}"))?;
            let [x, y] = [2048, 4 * 40960].map(|bytes| device.alloc(bytes));
            let (x, y) = (x?, y?);
            let launch = || {
                x.write(&[0u8; 2048])?;
                let args = [(&x).into(), (&y).into()];
                device.launch(&kernel, &Launch::new(global, 128), &args)?;
                let rules: Vec<Rule> = device.findings().iter().map(|one| one.rule).collect();
                let is_void = device
                    .memory()
                    .sanitizer()
                    .is_some_and(Sanitizer::take_void);
                Ok::<_, wavelift::Error>((is_void, rules.contains(&rule)))
            };
            let is_racy = ending == "_racy";
            assert_eq!(launch()?, (false, is_racy), "{ending}: nothing is assumed");
            device.memory().sanitizer().expect("it is on").assume(true);
            // The assumption fails in repaired kernels as well: they store to the same buffer, or behind another barrier.
            assert!(launch()?.0, "{rule:?} {ending}");
            // Then ranges of LDS may be assumed to be apart, which fails in turn.
            let mut repeated = launch()?;
            if rule == Rule::RaceLds && repeated.0 {
                repeated = launch()?;
            }
            assert_eq!(repeated, (false, is_racy), "{rule:?} {ending} repeated");
        }
    }
    Ok(())
}

#[test]
fn barriers_of_the_grid_are_an_order() {
    let code_object = root().join("tests/kernels/waits/grid.gfx906.co");
    let folder = folder("races-grid");
    for kernel in ["wave_sync", "barriers"] {
        let text = format!(
            "[buffers]\nb = {{ bytes = 256 }}\n[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"{kernel}\"\n\
             grid = [512]\nworkgroup = [128]\nargs = [\"@b\", {{ u32 = 5 }}]\n"
        );
        let manifest = file(&folder, &format!("{kernel}.toml"), text);
        for engine in engines() {
            let check = wavelift(&[
                "check",
                &manifest,
                "--dynamic",
                "--json",
                "--engine",
                engine,
            ]);
            assert_eq!(check.status, 0, "{kernel} {engine}: {}", check.stderr);
            assert_eq!(findings(&check), [] as [Value; 0], "{kernel} {engine}");
        }
    }
}
