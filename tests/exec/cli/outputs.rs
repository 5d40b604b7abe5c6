//! What is written: files take the place of old ones when they are complete, and errors after a run have a status of their own.

use std::path::Path;

use super::{file, folder, root, wavelift};

/// A manifest that writes a buffer to `to`.
fn writes(home: &Path, to: &str) -> String {
    let code_object = root().join("examples/saxpy/saxpy.gfx900.co");
    let text = format!(
        "[buffers]\ny = {{ type = \"u32\", count = 65536, fill = 7 }}\n[[dispatch]]\ncode_object = {code_object:?}\n\
         kernel = \"saxpy\"\ngrid = [1]\nworkgroup = [1]\nargs = [\"@y\", \"@y\", {{ f32 = 0.0 }}, {{ u32 = 0 }}]\n[outputs]\n\
         y = {to:?}\n"
    );
    file(home, "m.toml", text)
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<_> = entries
        .map(|entry| {
            entry
                .expect("it can be read")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
#[cfg(unix)]
fn a_file_is_replaced_when_it_is_complete() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let home = folder("replaced");
    let manifest = writes(&home, "y.bin");
    let old = home.join("real.bin");
    std::fs::write(&old, "old").expect("it can be written");
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o640))
        .expect("they can be set");
    symlink(&old, home.join("y.bin")).expect("a link can be made");
    let run = wavelift(&["run", &manifest, "--engine", "interp"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    // The file that the link names is replaced and keeps its permissions.
    assert_eq!(
        std::fs::read(&old).expect("it is there"),
        7u32.to_le_bytes().repeat(65536)
    );
    let mode = std::fs::metadata(&old)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(names(&home), ["m.toml", "real.bin", "y.bin"]);
}

/// A limit on the size of files stands for a full disk.
#[test]
#[cfg(unix)]
fn a_full_disk_leaves_the_old_file_and_gives_status_4() {
    let home = folder("full");
    let manifest = writes(&home, "y.bin");
    let old = file(&home, "y.bin", "old");
    // Blocks of 1024 or 512 bytes; the signal of the limit is ignored, so that writing fails.
    let command = format!(
        "trap '' XFSZ; ulimit -f 16; exec '{}' run '{manifest}' --engine interp",
        env!("CARGO_BIN_EXE_wavelift")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &command])
        .output()
        .expect("there is a shell");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{message}");
    let wanted = format!("error: {manifest}:10: outputs.y: cannot write {old}: ");
    assert!(message.starts_with(&wanted), "{message}");
    assert_eq!(std::fs::read_to_string(&old).expect("it is there"), "old");
    assert_eq!(names(&home), ["m.toml", "y.bin"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_gives_status_4() {
    for args in [
        &[
            "run",
            "examples/saxpy/saxpy.gfx900.toml",
            "--engine",
            "interp",
        ][..],
        &["info", "examples/saxpy/saxpy.gfx900.co"],
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("Linux has it");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_wavelift"))
            .args(args)
            .current_dir(root())
            .stdout(full)
            .output()
            .expect("the program is built");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{args:?}: {message}");
        assert!(
            message.starts_with("error: cannot write standard output: "),
            "{message}"
        );
    }
}

#[test]
fn what_cannot_be_written_is_reported_before_the_run() {
    let home = folder("unwritable");
    let manifest = writes(&home, "y.bin");
    std::fs::create_dir(home.join("y.bin")).expect("a folder can be made");
    let run = wavelift(&["run", &manifest, "--engine", "interp"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    let place = home.join("y.bin");
    assert_eq!(
        run.stderr,
        format!(
            "error: {manifest}:10: outputs.y: cannot write {}: it is a folder\n",
            place.display()
        )
    );
    let example = "examples/saxpy/saxpy.gfx900.toml";
    for option in ["--junit=none/report.xml", "--json=none/report.json"] {
        let run = wavelift(&["run", example, "--engine", "interp", option]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{option}");
        assert!(
            run.stderr.starts_with("error: cannot write none/report."),
            "{}",
            run.stderr
        );
    }
}

#[test]
#[cfg(unix)]
fn outputs_may_be_devices() {
    let home = folder("device");
    std::os::unix::fs::symlink("/dev/null", home.join("y.bin")).expect("a link can be made");
    let manifest = writes(&home, "y.bin");
    let run = wavelift(&["run", &manifest, "--engine", "interp"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}
