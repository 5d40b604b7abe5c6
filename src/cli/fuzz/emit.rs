//! Differences as launch manifests: `wavelift fuzz --emit`.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use fuzz::{Failure, kernel};
use runtime::foreign::Foreign;
use wavelift::Gfx;

use super::super::Status;
use super::super::new_file::{NewFile, Unwritten};

/// Seconds that `wavelift diff` may take for a program of a few instructions.
const LIMIT: &str = "60";

/// The folder that differences are written to.
pub(super) struct Folder {
    path: PathBuf,
}

/// A difference that was written.
pub(super) struct Emitted {
    /// The manifest.
    pub(super) manifest: String,
    /// The command that shows the difference; none if `wavelift diff` finds no difference.
    pub(super) diff: Option<String>,
}

impl Folder {
    /// Makes the folder, if it is not there.
    pub(super) fn create(path: &Path) -> anyhow::Result<Folder> {
        fs::create_dir_all(path)
            .with_context(|| format!("--emit: cannot make the folder {}", path.display()))?;
        let path = path.to_owned();
        Ok(Folder { path })
    }

    /// Writes a difference; `what` is target, kind and seed, `about` what else the manifest says in its
    /// comment. `wrong` are more options of `wavelift diff`, for tests.
    pub(super) fn write(
        &self,
        gfx: Gfx,
        failure: &Failure,
        what: &str,
        about: &[String],
        wrong: &[String],
    ) -> anyhow::Result<Emitted> {
        let launch = failure.launch(gfx)?;
        let name = what.replace(' ', "-");
        let files = [
            (format!("{name}.co"), &launch.code_object),
            (format!("{name}.{}.bin", kernel::STATE), &launch.state),
            (format!("{name}.{}.bin", kernel::ZONE_NAME), &launch.zone),
        ];
        for (file, bytes) in &files {
            self.put(file, bytes)?;
        }
        let [code, state, zone] = files.map(|(name, _)| name);
        let [x, y] = launch.workgroup;
        let size = if y == 1 {
            format!("[{x}]")
        } else {
            format!("[{x}, {y}]")
        };
        let text = format!(
            "[buffers]\n\
             {state_name} = {{ file = \"{state}\" }}    # registers and LDS before the program\n\
             {zone_name} = {{ file = \"{zone}\" }}    # the memory that it accesses\n\
             {result_name} = {{ type = \"u32\", count = {result} }}    # after it: v0 to v39 by lane, scalars, LDS\n\n\
             [[dispatch]]\n\
             code_object = \"{code}\"\n\
             kernel = \"{kernel}\"\n\
             grid = {size}\n\
             workgroup = {size}\n\
             args = [\"@{state_name}\", \"@{zone_name}\", \"@{result_name}\"]\n",
            state_name = kernel::STATE,
            zone_name = kernel::ZONE_NAME,
            result_name = kernel::RESULT,
            result = launch.result,
            kernel = kernel::KERNEL,
        );
        let manifest = format!("{name}.toml");
        self.put(&manifest, text.as_bytes())?;
        let path = self.path.join(&manifest);
        let diff = shown(&path, wrong)?;
        let mut comment = String::new();
        let verdict = match &diff {
            Some(options) => format!("To show it: wavelift diff {manifest}{options}"),
            None => {
                "As a launch it shows no difference: only the command above repeats it.".to_owned()
            }
        };
        for line in about.iter().chain([&verdict]) {
            // Writing to a string does not fail.
            let _ = writeln!(comment, "# {}", Foreign(line));
        }
        self.put(&manifest, format!("{comment}\n{text}").as_bytes())?;
        let manifest = path.display().to_string();
        let diff = diff.map(|options| format!("wavelift diff {}{options}", quoted(&manifest)));
        Ok(Emitted { manifest, diff })
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Unwritten> {
        let path = self.path.join(name);
        let write = || {
            let mut file = NewFile::create(&path)?;
            file.write_all(bytes)?;
            file.commit()
        };
        write().map_err(|error| Unwritten::new(path.display().to_string(), error))
    }
}

/// Options with which `wavelift diff` shows the difference of a manifest.
fn shown(manifest: &Path, wrong: &[String]) -> anyhow::Result<Option<String>> {
    // In a process of its own: where the translator panics, this one continues.
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    for options in [&[][..], &["--emitter", "cranelift"]] {
        let mut command = Command::new(&program);
        command.arg("diff").arg(manifest).args(options).args(wrong);
        command.args(["--timeout", LIMIT]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let status = command.status();
        let status = status.with_context(|| format!("cannot run {}", program.display()))?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        let differs = match code {
            // A panic, or the end by a signal.
            Some(PANICKED) | None => true,
            Some(code) => Status::of(code) == Status::Mismatch,
        };
        if differs {
            let options = options.iter().map(|&option| option.to_owned());
            let options = options.chain(wrong.iter().map(|option| quoted(option)));
            return Ok(Some(options.map(|option| format!(" {option}")).collect()));
        }
    }
    Ok(None)
}

/// The exit status of a panic.
const PANICKED: u8 = 101;

/// A word of a command for the shell.
pub(super) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
