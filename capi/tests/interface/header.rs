//! The header is what cbindgen writes from the sources.

use std::path::Path;

use crate::support::root;

/// Sources in the order of the header.
const SOURCES: [&str; 9] = [
    "version", "handles", "result", "fault", "device", "buffer", "module", "launch", "stream",
];

fn generate(capi: &Path) -> String {
    let config = cbindgen::Config::from_file(capi.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for name in SOURCES {
        builder = builder.with_src(capi.join(format!("src/{name}.rs")));
    }
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_header_is_that_of_the_sources() {
    let capi = root().join("capi");
    let path = root().join("include/wavelift.h");
    let current = generate(&capi);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let first = committed
        .lines()
        .zip(current.lines())
        .position(|(committed, current)| committed != current);
    assert!(
        committed == current,
        "{} differs from the sources, first in line {:?}; BLESS=1 writes it",
        path.display(),
        first.map(|index| index + 1)
    );
}

/// No source with functions of the interface is missing in `SOURCES`.
#[test]
fn the_header_is_complete() {
    let capi = root().join("capi");
    let header = std::fs::read_to_string(root().join("include/wavelift.h")).unwrap();
    let mut count = 0;
    for file in std::fs::read_dir(capi.join("src")).unwrap() {
        let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for rest in source.split("extern \"C\" fn ").skip(1) {
            let name = rest.split('(').next().unwrap();
            assert!(name.starts_with("wavelift_"), "{name}");
            assert!(header.contains(&format!("{name}(")), "{name}");
            count += 1;
        }
    }
    assert!(count >= 50, "{count}");
}
