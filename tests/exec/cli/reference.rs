//! The reference of launch manifests is complete: the page is what the table of keys gives, and the parser takes no other keys.

use wavelift::manifest::{Dtype, keys};

use super::{root, wavelift};

#[test]
fn the_page_is_made_of_the_keys() {
    let path = root().join("docs/manifest.md");
    let text = keys::markdown();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).expect("the page can be written");
        return;
    }
    let page = std::fs::read_to_string(&path).expect("the page is there");
    assert!(
        page == text,
        "docs/manifest.md is out of date; remake it with BLESS=1"
    );
}

#[test]
fn help_prints_the_keys() {
    let help = wavelift(&["help", "manifest"]);
    assert_eq!((help.status, help.stderr.as_str()), (0, ""));
    let printed = wavelift(&["manifest"]);
    assert_eq!(printed.stdout.trim_end(), help.stdout.trim_end());
    for section in keys::SECTIONS {
        assert!(help.stdout.contains(section.title), "{}", section.title);
        for key in section.keys {
            assert!(help.stdout.contains(key.name), "{}", key.name);
            assert!(
                !key.about.is_empty() && !key.value.is_empty(),
                "{}",
                key.name
            );
        }
    }
    let widest = help.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}");
}

/// Arguments are the one place where the parser has its own list of names.
#[test]
fn the_types_of_arguments_are_documented() {
    let names: Vec<_> = keys::ARGUMENT
        .keys
        .iter()
        .flat_map(|key| key.name.split(' '))
        .collect();
    let parsed: Vec<_> = Dtype::ALL
        .iter()
        .map(|dtype| dtype.name())
        .chain(["local", "hex"])
        .collect();
    assert_eq!(names, parsed);
    let types = keys::BUFFER
        .keys
        .iter()
        .find(|key| key.name == "type")
        .expect("it is documented");
    for dtype in Dtype::ALL {
        assert!(types.about.contains(dtype.name()), "{dtype}");
    }
}
