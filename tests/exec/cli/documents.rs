//! The book: its pages' commands do what the pages say, it has all pages, and links lead somewhere.

use std::path::Path;

use documents::{Book, Page, Problem, Session, check_links, list};

use super::{exec, installed, root};

/// Pages whose commands another test runs.
const ELSEWHERE: [(&str, &str); 3] = [
    ("docs/c.md", "capi/tests/interface/programs.rs"),
    ("docs/campaigns.md", "python/tests/test_campaign.py"),
    ("docs/python.md", "python/tests/test_documents.py"),
];

/// Pages whose commands are run here.
const HERE: [&str; 24] = [
    "ARCHITECTURE.md",
    "docs/check.md",
    "docs/dynamic.md",
    "docs/coverage.md",
    "docs/debian.md",
    "docs/debugger.md",
    "docs/debugging.md",
    "docs/disassembly.md",
    "docs/evidence.md",
    "docs/exec.md",
    "docs/findings.md",
    "docs/hip.md",
    "docs/how-it-works.md",
    "docs/introduction.md",
    "docs/manifest.md",
    "docs/matrix.md",
    "docs/opencl.md",
    "docs/profile.md",
    "docs/record.md",
    "docs/rocm.md",
    "docs/rust.md",
    "docs/sandbox.md",
    "docs/shards.md",
    "docs/trace.md",
];

/// The folder of the book, which has links to the folders of the project that its pages refer to.
const BOOK: &str = "book/src";

/// The first page, the only one that lies in the book's folder.
const TITLE: &str = "title.md";

fn page(name: &str) -> Page {
    Page::read(root(), name).unwrap_or_else(|problem| panic!("{problem}"))
}

fn book() -> Book {
    Book::read(root(), BOOK).unwrap_or_else(|problem| panic!("{problem}"))
}

/// Runs the commands of a page. The result is their number.
fn run(name: &str) -> usize {
    let page = page(name);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents");
    let home = folder.join(name.replace('/', "-"));
    let session = Session::new(home, root(), &["examples", "hsa", "tests"]);
    let session = session.unwrap_or_else(|error| panic!("{name}: {error}"));
    let program = Path::new(env!("CARGO_BIN_EXE_wavelift"));
    let mut path = program
        .parent()
        .expect("it is in a folder")
        .as_os_str()
        .to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    // Documentation tests are made of the programs (`src/lib.rs`). Manifests in the reference are
    // fragments, which the parser's table has.
    let session = session
        .variable("PATH", path)
        .elsewhere("rust")
        .elsewhere("toml");
    let number = session.run(&page);
    number.unwrap_or_else(|problems| panic!("{}", list(&problems)))
}

/// Are the compilers of OpenCL C there, with the name that the pages use?
fn opencl() -> bool {
    installed("clang-19", "clang-19 lld-19 rocm-device-libs")
}

/// Are HIP's compiler and the library of `wavelift exec` there?
fn hip() -> bool {
    installed("hipcc", "hipcc libamdhip64-dev") && exec::exec(&["true"]).is_some()
}

#[test]
fn commands_that_need_nothing() {
    for name in [
        "docs/check.md",
        "docs/coverage.md",
        "docs/debugger.md",
        "docs/introduction.md",
        "docs/how-it-works.md",
        "docs/findings.md",
        #[cfg(target_os = "linux")]
        "docs/sandbox.md",
        "docs/shards.md",
        "docs/trace.md",
    ] {
        assert!(run(name) > 0, "{name}");
    }
    // They have no commands, or none that a test may run, and say why.
    for name in [
        "ARCHITECTURE.md",
        "docs/debian.md",
        "docs/manifest.md",
        "docs/rocm.md",
        "docs/rust.md",
    ] {
        assert_eq!(run(name), 0, "{name}");
    }
}

#[test]
fn commands_of_the_opencl_tutorial() {
    if opencl() {
        assert!(run("docs/opencl.md") > 10);
    }
}

#[test]
fn commands_about_profiles() {
    if opencl() {
        assert!(run("docs/profile.md") > 5);
    }
}

#[test]
fn commands_about_debugging() {
    if opencl() {
        assert!(run("docs/debugging.md") > 10);
    }
}

#[test]
fn commands_about_matrix_instructions() {
    assert!(run("docs/matrix.md") > 0);
}

#[test]
fn commands_of_the_hip_tutorial() {
    if hip() {
        assert!(run("docs/hip.md") > 10);
    }
}

#[test]
fn commands_about_dynamic_checks() {
    if hip() {
        assert!(run("docs/dynamic.md") > 3);
    }
}

#[test]
fn commands_about_recorded_launches() {
    if hip() {
        assert!(run("docs/record.md") > 4);
    }
}

#[test]
fn commands_about_rocm_programs() {
    if hip() && installed("rocminfo", "rocminfo") {
        assert!(run("docs/exec.md") > 2);
    }
}

#[test]
fn the_book_has_all_pages_and_tests_run_them() {
    let mut pages: Vec<_> = std::fs::read_dir(root().join("docs"))
        .expect("the folder is there")
        .map(|file| file.expect("it can be listed").file_name())
        .map(|name| format!("docs/{}", name.into_string().expect("the name is text")))
        .filter(|name| name.ends_with(".md"))
        .collect();
    pages.push("ARCHITECTURE.md".to_owned());
    let book = book();
    let problems = book.check_chapters(pages.iter().map(String::as_str));
    assert!(problems.is_empty(), "{}", list(&problems));
    for chapter in book.chapters().filter(|chapter| *chapter != TITLE) {
        let here = HERE.contains(&chapter);
        let elsewhere = ELSEWHERE.iter().find(|(page, _)| *page == chapter);
        assert!(
            here != elsewhere.is_some(),
            "no test runs {chapter}, or two do"
        );
        if let Some((page, test)) = elsewhere {
            let test = std::fs::read_to_string(root().join(test)).expect("the test is there");
            let name = page.trim_start_matches("docs/");
            assert!(test.contains(name), "{page}");
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let book = book();
    let others = ["README.md", "examples/README.md", "CHANGELOG.md"];
    let chapters = book.chapters().filter(|chapter| *chapter != TITLE);
    let mut problems: Vec<Problem> = chapters
        .chain(others)
        .flat_map(|name| check_links(root(), &page(name), &book))
        .collect();
    let folder = root().join(BOOK);
    match Page::read(&folder, TITLE) {
        Ok(title) => problems.extend(check_links(&folder, &title, &book)),
        Err(problem) => problems.push(problem),
    }
    assert!(problems.is_empty(), "{}", list(&problems));
}
