//! What `wavelift check --dynamic` says of the kernels of `tests/kernels/undefined`: of each defective one which instruction uses what
//! nobody wrote, of the repaired ones nothing. The table `undefined.toml` has the labels.

use std::path::Path;

use serde_json::Value;
use toml::Table;

use super::{engines, file, folder, json, root, wavelift};

/// The targets of the code objects.
const TARGETS: [&str; 2] = ["gfx803", "gfx906"];

fn pairs() -> Vec<Table> {
    let path = root().join("tests/kernels/undefined/undefined.toml");
    let text = std::fs::read_to_string(path).expect("the table is there");
    let table: Table = text.parse().expect("the table is TOML");
    let pairs = table["pair"].as_array().expect("an array of tables");
    let pair = |pair: &toml::Value| pair.as_table().expect("a table").clone();
    pairs.iter().map(pair).collect()
}

fn text<'t>(pair: &'t Table, key: &str) -> &'t str {
    pair[key].as_str().expect(key)
}

/// The launch manifest of a kernel. All have an input `x` of 64 words, an output `y` and a buffer `u`, which is undefined for
/// those that read it.
fn manifest(home: &Path, pair: &Table, kernel: &str, target: &str) -> String {
    let stem = text(pair, "source");
    let code_object = root().join(format!("tests/kernels/undefined/{stem}.{target}.co"));
    let workgroup = pair.get("workgroup").and_then(toml::Value::as_integer);
    let contents = format!(
        "[buffers]\nx = {{ type = \"u32\", count = 64, fill = 3 }}\ny = {{ type = \"u32\", count = 256 }}\n\
         u = {{ type = \"u32\", count = 256, undefined = {undefined} }}\n\
         [[dispatch]]\ncode_object = {:?}\nkernel = {kernel:?}\ngrid = [{size}]\nworkgroup = [{size}]\n\
         args = [\"@x\", \"@y\", \"@u\"]\n",
        code_object.display().to_string(),
        undefined = text(pair, "name").starts_with("global"),
        size = workgroup.unwrap_or(64),
    );
    file(home, &format!("{kernel}.{target}.toml"), contents)
}

/// Rule and instruction of each finding about undefined values.
fn findings(path: &str, options: &[&str]) -> Vec<[String; 2]> {
    let command = ["check", path, "--dynamic", "--json"];
    let check = wavelift(&[&command[..], options].concat());
    assert!(check.status <= 1, "{path}: {}", check.stderr);
    let report = json(&check);
    let all = report["findings"].as_array().expect("an array").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.filter(|found| text(&found["rule"]).starts_with("undefined-"))
        .map(|found| [text(&found["rule"]), text(&found["instruction"]["text"])])
        .collect()
}

#[test]
fn each_use_is_found_on_both_engines_and_none_of_the_repaired() {
    let home = folder("undefined");
    let pairs = pairs();
    assert!(pairs.len() >= 20, "{} pairs", pairs.len());
    let mut wrong = Vec::new();
    for engine in engines() {
        for target in TARGETS {
            for pair in &pairs {
                // Of some the translator's run raises no suspicion.
                let requests = pair.contains_key("requested") && engine == "jit";
                let options: &[&str] = match requests {
                    true => &["--engine", engine, "--undefined"],
                    false => &["--engine", engine],
                };
                let name = text(pair, "name");
                let (defective, repaired) =
                    (format!("{name}_defective"), format!("{name}_repaired"));
                let found = findings(&manifest(&home, pair, &defective, target), options);
                let (rule, instruction) = (text(pair, "rule"), text(pair, "instruction"));
                let is_labelled =
                    |[found, at]: &[String; 2]| found == rule && at.starts_with(instruction);
                if !found.iter().any(is_labelled) {
                    wrong.push(format!("{name} on {target}, {engine}: found {found:?}"));
                }
                let found = findings(&manifest(&home, pair, &repaired, target), options);
                if !found.is_empty() {
                    wrong.push(format!("{repaired} on {target}, {engine}: found {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn contents_exclude_undefined() {
    let home = folder("undefined_contents");
    let contents = "[buffers]\ny = { type = \"u32\", count = 4, fill = 1, undefined = true }\n";
    let outcome = wavelift(&["run", &file(&home, "filled.toml", contents)]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.contains("the buffer has contents"),
        "{}",
        outcome.stderr
    );
}
