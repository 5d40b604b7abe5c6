//! The commit that `wavelift --version` names, and the shared libraries in the release binary.
//!
//! `cargo install` installs executables only, but `wavelift exec` needs the HSA library. It is a
//! dependency of this package, so Cargo has made it when it compiles the binary, which then takes it
//! in (`src/cli/exec/embedded.rs`): nothing is compiled twice. Other profiles leave it in the
//! profile's folder, where `wavelift exec` finds it. `WAVELIFT_EMBED=0` leaves it out of release
//! binaries, too, for packages that install it as a file; `WAVELIFT_EMBED=1` takes it into any.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=WAVELIFT_EMBED");
    println!("cargo::rustc-check-cfg=cfg(embedded)");
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let release = variable("PROFILE") == "release";
    // Other builds would be recompiled after each commit.
    let commit = release.then(|| commit(&root)).flatten();
    let commit = commit.unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=WAVELIFT_COMMIT={commit}");
    let wanted = std::env::var("WAVELIFT_EMBED").map_or(release, |value| value != "0");
    if wanted
        && variable("CARGO_CFG_TARGET_OS") == "linux"
        && let Some(libraries) = libraries()
    {
        println!("cargo::rustc-cfg=embedded");
        println!("cargo::rustc-env=WAVELIFT_LIBRARIES={libraries}");
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("Cargo sets {name}"))
}

/// The folder in which Cargo makes the libraries of dependencies: PROFILE/deps next to
/// PROFILE/build/wavelift-HASH/out. `None` if the assembler could not read its name.
fn libraries() -> Option<String> {
    let out = PathBuf::from(variable("OUT_DIR"));
    let folder = out.ancestors().nth(3)?.join("deps");
    let folder = folder.to_str()?;
    let unreadable = folder.contains(['"', '\\', '\n']);
    (!unreadable).then(|| folder.to_owned())
}

/// The commit of the sources: git's, else the one that `cargo package` notes.
fn commit(root: &Path) -> Option<String> {
    git_commit(root).or_else(|| packaged_commit(root))
}

fn git_commit(root: &Path) -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(args).output();
        let output = output.ok().filter(|output| output.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(text.trim().to_owned())
    };
    // Not that of a repository which has these sources somewhere.
    let top = Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize();
    if top.ok()? != root.canonicalize().ok()? {
        return None;
    }
    // A commit changes the log of HEAD, if there is one.
    for file in ["HEAD", "logs/HEAD"] {
        let path = root.join(git(&["rev-parse", "--git-path", file])?);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn packaged_commit(root: &Path) -> Option<String> {
    let note = std::fs::read_to_string(root.join(".cargo_vcs_info.json")).ok()?;
    let hash = note.split("\"sha1\"").nth(1)?.split('"').nth(1)?;
    let short = hash.get(..12)?;
    let all_hex = short.bytes().all(|byte| byte.is_ascii_hexdigit());
    all_hex.then(|| short.to_owned())
}
