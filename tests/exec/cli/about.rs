//! `--version`, `completions` and `man`.

use super::{folder, wavelift};

#[test]
fn the_long_version_names_build_engines_and_cpu() {
    let short = wavelift(&["-V"]);
    assert_eq!(short.status, 0);
    assert_eq!(
        short.stdout,
        format!("wavelift {}\n", env!("CARGO_PKG_VERSION"))
    );
    let long = wavelift(&["--version"]);
    assert_eq!((long.status, long.stderr.as_str()), (0, ""));
    let lines: Vec<_> = long.stdout.lines().collect();
    assert_eq!(lines[0], short.stdout.trim_end());
    assert!(lines[1].starts_with("commit:  "), "{lines:?}");
    assert!(
        lines[2].starts_with("engines: ") && lines[2].ends_with("interp"),
        "{lines:?}"
    );
    assert!(lines[3].starts_with("CPU:     "), "{lines:?}");
    assert!(lines[3].contains(std::env::consts::ARCH), "{lines:?}");
    assert_eq!(lines.len(), 4);
    if lines[2].contains("jit") {
        let version = lines[2].split("Cranelift ").nth(1).expect("it is named");
        assert!(version.starts_with("0."), "{lines:?}");
    }
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let out = wavelift(&["completions", shell]);
        assert_eq!((out.status, out.stderr.as_str()), (0, ""), "{shell}");
        for word in ["wavelift", "exec", "disasm", "memcheck"] {
            assert!(out.stdout.contains(word), "{shell}: no {word}");
        }
    }
    let out = wavelift(&["completions", "sh"]);
    assert_eq!(out.status, 2);
    assert!(
        out.stderr
            .contains("[possible values: bash, elvish, fish, powershell, zsh]"),
        "{}",
        out.stderr
    );
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder("man").join("new/man1");
    let path = folder.to_str().expect("the path is text");
    let out = wavelift(&["man", path]);
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    assert_eq!(out.stdout, format!("wrote manual pages to {path}\n"));
    for command in ["run", "diff", "bench", "disasm", "info", "completions"] {
        let page = folder.join(format!("wavelift-{command}.1"));
        let page = std::fs::read_to_string(&page).expect("it was written");
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
        assert!(
            page.contains(&format!("wavelift {command}"))
                || page.contains(&format!("wavelift\\-{command}")),
            "{command}"
        );
    }
    let page = std::fs::read_to_string(folder.join("wavelift.1")).expect("it was written");
    assert!(page.contains("wavelift\\-run(1)"), "{page}");
    let place = super::file(&super::folder("man-file"), "file", "");
    let out = wavelift(&["man", &place]);
    assert_eq!(out.status, 2);
    assert!(
        out.stderr
            .starts_with("error: cannot write manual pages to "),
        "{}",
        out.stderr
    );
}
