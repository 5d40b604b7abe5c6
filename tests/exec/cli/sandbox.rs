//! `run --sandbox`, and what manifests of unknown origin may do with and without it.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{file, folder, json, root, wavelift};

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod confined;
#[cfg(target_os = "linux")]
mod pages;

/// A folder with a code object, and beside it what does not belong to its manifests.
struct Place {
    home: PathBuf,
    inside: PathBuf,
}

/// What a manifest may not read.
const SECRET: &[u8] = b"not for guests..";

impl Place {
    fn new(name: &str) -> Place {
        let home = folder(name);
        let inside = home.join("inside");
        std::fs::create_dir_all(inside.join("below")).expect("a folder");
        let object = root().join("examples/saxpy/saxpy.gfx900.co");
        for name in ["saxpy.co", "below/saxpy.co", "k.bin"] {
            std::fs::copy(&object, inside.join(name)).expect("a copy");
        }
        std::fs::copy(&object, home.join("saxpy.co")).expect("a copy");
        file(&home, "secret.bin", SECRET);
        file(&inside, "x.bin", [1; 16]);
        Place { home, inside }
    }

    /// Runs a manifest with this data, code object and output; status, and what it says without folder names.
    fn run(&self, (data, object, output): (&str, &str, &str), more: &[&str]) -> (i32, String) {
        let text = format!(
            "[buffers]\nx = {{ file = {data:?} }}\n[[dispatch]]\ncode_object = {object:?}\nkernel = \"saxpy\"\n\
             grid = [1]\nworkgroup = [1]\nargs = [\"@x\", \"@x\", {{ f32 = 0.0 }}, {{ u32 = 0 }}]\n[outputs]\nx = {output:?}\n"
        );
        let manifest = file(&self.inside, "m.toml", text);
        let run = wavelift(&[&["run", manifest.as_str()], more].concat());
        let inside = format!("{}/", self.inside.display());
        let home = format!("{}/", self.home.display());
        let stderr = run.stderr.replace(&inside, "").replace(&home, "HOME/");
        (run.status, stderr.trim_end().to_owned())
    }

    /// Files in both folders that a run should not have left.
    fn litter(&self) -> Vec<String> {
        let entries = [&self.home, &self.inside]
            .map(|folder| std::fs::read_dir(folder).expect("it is there"));
        let names = entries.into_iter().flatten().map(|entry| {
            let name = entry.expect("it can be read").file_name();
            name.to_string_lossy().into_owned()
        });
        names
            .filter(|name| name.contains(".part") || name.starts_with("out"))
            .collect()
    }
}

#[test]
fn a_confined_manifest_reads_its_folder_only() {
    let place = Place::new("sandbox-reads");
    let good = ("x.bin", "saxpy.co", "out.bin");
    assert_eq!(place.run(good, &["--sandbox"]), (0, String::new()));
    let below = ("./below/../x.bin", "below/saxpy.co", "below/out.bin");
    assert_eq!(place.run(below, &["--sandbox"]), (0, String::new()));

    symlink("../secret.bin", place.inside.join("link.bin")).expect("a link");
    symlink("..", place.inside.join("up")).expect("a link");
    symlink("/dev/zero", place.inside.join("zero.bin")).expect("a link");
    symlink("../saxpy.co", place.inside.join("link.co")).expect("a link");
    let absolute = place.home.join("secret.bin");
    let absolute = absolute.to_str().expect("it is text");
    for data in [
        "../secret.bin",
        absolute,
        "link.bin",
        "up/secret.bin",
        "zero.bin",
        "/dev/zero",
    ] {
        let (status, stderr) = place.run((data, "saxpy.co", "out.bin"), &["--sandbox"]);
        assert_eq!(status, 2, "{data}: {stderr}");
        assert!(
            stderr.starts_with("error: m.toml:2: buffers.x.file: ")
                && stderr.ends_with(" is outside of the manifest's folder"),
            "{data}: {stderr}"
        );
    }
    for object in ["../saxpy.co", "link.co", "up/saxpy.co"] {
        let (status, stderr) = place.run(("x.bin", object, "out.bin"), &["--sandbox"]);
        assert_eq!(status, 2, "{object}: {stderr}");
        assert!(
            stderr.starts_with("error: m.toml:4: dispatch[0].code_object: ")
                && stderr.ends_with(" is outside of the manifest's folder"),
            "{object}: {stderr}"
        );
    }
    // Without the option a manifest is the user's own, and names files wherever they are.
    assert_eq!(
        place.run(("../secret.bin", "../saxpy.co", "out.bin"), &[]),
        (0, String::new())
    );
}

#[test]
fn a_confined_manifest_writes_its_folder_only() {
    let place = Place::new("sandbox-writes");
    symlink("../out.bin", place.inside.join("dangling.bin")).expect("a link");
    symlink("../secret.bin", place.inside.join("link.bin")).expect("a link");
    symlink("..", place.inside.join("up")).expect("a link");
    let absolute = place.home.join("out.bin");
    let absolute = absolute.to_str().expect("it is text");
    let bad = [
        "../out.bin",
        absolute,
        "dangling.bin",
        "link.bin",
        "up/out.bin",
        "below/../../out.bin",
    ];
    for output in bad {
        let (status, stderr) = place.run(("x.bin", "saxpy.co", output), &["--sandbox"]);
        assert_eq!(status, 2, "{output}: {stderr}");
        assert!(
            stderr.starts_with("error: m.toml:10: outputs.x: ")
                && stderr.ends_with(" is outside of the manifest's folder"),
            "{output}: {stderr}"
        );
    }
    // What the run reads as code is not replaced; data may be.
    let (status, stderr) = place.run(("x.bin", "k.bin", "k.bin"), &["--sandbox"]);
    assert_eq!(status, 2);
    assert!(
        stderr.ends_with("k.bin would replace k.bin, which this run reads"),
        "{stderr}"
    );
    assert_eq!(
        place.run(("x.bin", "saxpy.co", "x.bin"), &["--sandbox"]),
        (0, String::new())
    );
    assert_eq!(
        std::fs::read(place.home.join("secret.bin")).expect("it is there"),
        SECRET
    );
    assert_eq!(place.litter(), [""; 0]);
    // The user's own folder is the user's choice; names do not lead out of it.
    let out = place.home.join("results");
    let out = out.to_str().expect("it is text");
    for (output, made) in [
        ("a.bin", "a.bin"),
        ("../b.bin", "b.bin"),
        (absolute, "out.bin"),
    ] {
        let options = ["--sandbox", "--out", out];
        assert_eq!(
            place.run(("x.bin", "saxpy.co", output), &options),
            (0, String::new())
        );
        assert_eq!(
            std::fs::read(Path::new(out).join(made)).expect("it is made"),
            [1; 16]
        );
    }
    assert_eq!(place.litter(), [""; 0]);
}

#[test]
fn pipes_are_not_waited_for_and_endless_repetitions_end() {
    let place = Place::new("sandbox-huge");
    let pipe = place.inside.join("pipe.bin");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("there is mkfifo").success());
    for more in [&[][..], &["--sandbox"]] {
        let (status, stderr) = place.run(("pipe.bin", "saxpy.co", "out.bin"), more);
        assert_eq!(status, 2);
        assert!(stderr.contains("it is no regular file"), "{stderr}");
    }
    let huge = |shape: &str| {
        let text = format!(
            "[buffers]\nx = {{ bytes = 16 }}\n[[dispatch]]\ncode_object = \"saxpy.co\"\nkernel = \"saxpy\"\n{shape}\n\
             args = [\"@x\", \"@x\", {{ f32 = 0.0 }}, {{ u32 = 0 }}]\n"
        );
        let manifest = file(&place.inside, "huge.toml", text);
        let begin = Instant::now();
        let run = wavelift(&["run", &manifest, "--sandbox", "--timeout", "0.3"]);
        assert!(begin.elapsed() < Duration::from_secs(60), "{shape}");
        (run.status, run.stderr)
    };
    let most = u32::MAX;
    let (status, stderr) = huge(&format!("grid = [64]\nworkgroup = [64]\nrepeat = {most}"));
    assert_eq!(status, 3, "{stderr}");
    assert!(stderr.contains("stopped after"), "{stderr}");
}
