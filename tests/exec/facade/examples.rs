//! The examples of the library, which check their results themselves.

macro_rules! examples {
    ($($name:ident $path:literal)*) => {
        $(
            #[path = $path]
            mod $name;

            #[test]
            fn $name() {
                $name::main().unwrap();
            }
        )*
    };
}
examples! {
    cancel "../../../examples/cancel.rs"
    diff_engines "../../../examples/diff_engines.rs"
    fault "../../../examples/fault.rs"
    own_memory "../../../examples/own_memory.rs"
    saxpy "../../../examples/saxpy.rs"
    stream_events "../../../examples/stream_events.rs"
    struct_argument "../../../examples/struct_argument.rs"
}

/// No example is forgotten.
#[test]
fn all_examples_are_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(folder).unwrap();
    let here = include_str!("examples.rs");
    let mut count = 0;
    for file in files {
        let name = file.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".rs") {
            assert!(here.contains(&format!("/examples/{name}\"")), "{name}");
            count += 1;
        }
    }
    assert_eq!(count, 7);
}
