//! Kernels with races and without, which a table labels: what they compute on both engines.

use std::path::Path;

use toml::{Table, Value};

use super::{engines, file, folder, root, wavelift};

mod barriers;
mod defects;
mod deleted;
mod detector;
mod expected;
mod levels;
mod table;

/// The targets of the code objects.
const TARGETS: [&str; 2] = ["gfx803", "gfx906"];

/// Number `i` of a `mixed` buffer: a number below 4096.
fn mixed(i: u32) -> u32 {
    i.wrapping_mul(2_654_435_761) >> 20
}

/// A kernel of the table with all that a launch needs.
struct Launch {
    /// The kernel's name, without the ending of a pair.
    name: String,
    /// The kernel that is launched.
    kernel: String,
    entry: Table,
    /// What it leaves in buffer `y`, if that is defined.
    expected: Option<Vec<u32>>,
}

/// The entries of the table: `pair` or `intended`.
fn entries(table: &Table, kind: &str) -> Vec<Table> {
    let all = table[kind].as_array().expect("an array of tables");
    let table = |entry: &Value| entry.as_table().expect("a table").clone();
    all.iter().map(table).collect()
}

/// The table of the kernels.
fn table() -> Table {
    let path = root().join("tests/kernels/races/races.toml");
    let text = std::fs::read_to_string(path).expect("the table is there");
    text.parse().expect("the table is TOML")
}

/// The text of a key.
fn text<'t>(entry: &'t Table, key: &str) -> &'t str {
    entry[key].as_str().expect(key)
}

/// The kernels NAME_racy of the pairs, NAME_repaired of the pairs, and the intended ones.
fn launches() -> [Vec<Launch>; 3] {
    let table = table();
    let all = |kind: &str, ending: &str, expected: Option<fn(&str) -> Vec<u32>>| {
        let launch = |entry: Table| {
            let name = text(&entry, "name").to_owned();
            Launch {
                kernel: format!("{name}{ending}"),
                expected: expected.map(|of| of(&name)),
                name,
                entry,
            }
        };
        entries(&table, kind).into_iter().map(launch).collect()
    };
    [
        all("pair", "_racy", None),
        all("pair", "_repaired", Some(expected::pair)),
        all("intended", "", Some(expected::intended)),
    ]
}

/// A table with one key.
fn single(key: &str, value: impl Into<Value>) -> Value {
    Value::Table(Table::from_iter([(key.to_owned(), value.into())]))
}

/// A buffer of u32 with these contents.
fn words(contents: impl IntoIterator<Item = u32>) -> Value {
    let values = contents.into_iter().map(|word| i64::from(word).into());
    let mut buffer = Table::new();
    buffer.insert("type".to_owned(), "u32".into());
    buffer.insert("values".to_owned(), Value::Array(values.collect()));
    buffer.into()
}

/// A buffer as a manifest has it.
fn buffer(of_table: &Value) -> Value {
    let count = |key: &str| {
        let value = of_table.get(key).and_then(Value::as_integer);
        value.map(|n| u32::try_from(n).expect("a number of words"))
    };
    match (count("ramp"), count("mixed")) {
        (Some(n), _) => words(0..n),
        (_, Some(n)) => words((0..n).map(mixed)),
        _ => of_table.clone(),
    }
}

/// The launch manifest of a kernel.
fn manifest(launch: &Launch, target: &str) -> String {
    let entry = &launch.entry;
    let (stem, _) = text(entry, "source")
        .rsplit_once('.')
        .expect("a file's name");
    let code_object = root().join(format!("tests/kernels/races/{stem}.{target}.co"));
    let code_object = code_object.to_str().expect("the path is text");
    let mut first = Table::new();
    first.insert("kernel".to_owned(), launch.kernel.clone().into());
    for key in ["grid", "workgroup", "args"] {
        first.insert(key.to_owned(), entry[key].clone());
    }
    let mut dispatches = vec![Value::Table(first)];
    if let Some(then) = entry.get("then") {
        dispatches.extend(then.as_array().expect("an array of dispatches").clone());
    }
    for dispatch in &mut dispatches {
        let dispatch = dispatch.as_table_mut().expect("a table");
        dispatch.insert("code_object".to_owned(), code_object.into());
    }
    let buffers = entry["buffers"].as_table().expect("a table");
    let buffers = buffers
        .iter()
        .map(|(name, of_table)| (name.clone(), buffer(of_table)));
    let mut manifest = Table::new();
    manifest.insert("buffers".to_owned(), Table::from_iter(buffers).into());
    manifest.insert("dispatch".to_owned(), dispatches.into());
    if let Some(expected) = &launch.expected {
        let y = words(expected.iter().copied());
        manifest.insert("expect".to_owned(), single("y", y));
    }
    manifest.to_string()
}

/// Writes the manifests of kernels into a folder and gives their paths.
fn manifests(folder: &Path, launches: &[Launch], target: &str) -> Vec<String> {
    let write = |launch: &Launch| {
        let name = format!("{}.{target}.toml", launch.kernel);
        file(folder, &name, manifest(launch, target))
    };
    launches.iter().map(write).collect()
}

#[test]
fn the_table_is_complete() {
    let [racy, repaired, intended] = launches();
    assert!(repaired.len() >= 64 && racy.len() == repaired.len());
    assert!(intended.len() >= 25);
    for launch in &racy {
        let (entry, name) = (&launch.entry, &launch.name);
        assert!(["lds", "global"].contains(&text(entry, "space")), "{name}");
        assert!(
            ["waves", "workgroups"].contains(&text(entry, "scope")),
            "{name}"
        );
        let kinds = entry["kinds"].as_array().expect("an array");
        assert!(!kinds.is_empty(), "{name}");
        for kind in kinds {
            let all = ["write-write", "read-write", "atomic-write", "atomic-read"];
            assert!(all.contains(&kind.as_str().expect("a kind")), "{name}");
        }
    }
    for launch in racy.iter().chain(&intended) {
        let why = text(&launch.entry, "why");
        assert!(why.ends_with('.'), "{}: {why}", launch.name);
    }
}

#[test]
fn racy_kernels_end_and_others_are_right_on_both_engines() {
    let launches = launches();
    for engine in engines() {
        for target in TARGETS {
            let folder = folder(&format!("races-{engine}-{target}"));
            let manifests: Vec<String> = launches
                .iter()
                .flat_map(|kernels| manifests(&folder, kernels, target))
                .collect();
            let mut args = vec!["run", "--engine", engine, "--timeout", "300"];
            args.extend(manifests.iter().map(String::as_str));
            let run = wavelift(&args);
            assert_eq!(run.status, 0, "{engine}: {}{}", run.stdout, run.stderr);
        }
    }
}
